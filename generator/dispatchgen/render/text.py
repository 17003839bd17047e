"""Text that users wrote, in any build file: what ends a line, and what no command can be given."""

from __future__ import annotations

import unicodedata


def control_character(text: str) -> str | None:
    """The first control character, separator of lines or half of a surrogate pair; None: there is none."""
    return next((char for char in text if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}), None)


def control_refusal(text: str) -> str | None:
    """Why no build system can carry `text` with such a character to a program; None: it has none."""
    found = control_character(text)
    return None if found is None else f"it holds the control character {found!r}, which cannot be passed to a command"


def line_comment(text: str) -> str:
    """`text` for a comment: what would end the line is shown as an escape."""
    return "".join(char if control_character(char) is None else repr(char)[1:-1] for char in text)
