"""Renaming symbols in the text of executables."""

from __future__ import annotations

from dispatchgen.iree.symbols import rename_symbols

_TEXT = "hal.executable private @e { export @x  func @x { call @{called}() } func @{called} }"


def test_what_is_called_like_the_executable_keeps_its_name() -> None:
    for called in ("e", "e_0", "f"):
        text = _TEXT.replace("{called}", called)
        expected = f"hal.executable private @new {{ export @y  func @y {{ call @{called}() }} func @{called} }}"
        assert rename_symbols(text, "e", "new", {"x": "y"}) == expected


def test_an_export_may_be_called_like_the_executable() -> None:
    text = "hal.executable private @e { export @e  func @e }"
    assert rename_symbols(text, "e", "new", {"e": "odd name"}) == (
        'hal.executable private @new { export @"odd name"  func @"odd name" }'
    )
