"""Verdicts of comparisons, as people read them: a sign and words, so that no colour tells anything alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dispatchgen.comparison.schema import Verdict
from dispatchgen.comparison.text import WORDS


class Shown(NamedTuple):
    """How a verdict is shown."""

    sign: str
    words: str


#: By how much they call for attention.
_SIGNS: Mapping[Verdict, str] = {
    "failed": "✕",
    "slower": "▲",
    "gone": "\N{MINUS SIGN}",
    "faster": "▼",
    "fixed": "✓",
    "failing": "✕",
    "new": "+",
    "noisy": "~",
    "same": "=",
}
#: All verdicts, what calls for attention first.
SHOWN: Mapping[Verdict, Shown] = {verdict: Shown(sign, WORDS[verdict]) for verdict, sign in _SIGNS.items()}
#: Verdicts that do not call for attention.
CALM: frozenset[Verdict] = frozenset(("failing", "new", "noisy", "same"))
