"""Canonical JSON; what is said of files that are none is tested with lock files and profiles."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.versioned import canonical_json

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=40,
)


@given(json_values)
def test_canonical_json_is_json(value: object) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert text == canonical_json(json.loads(text))
