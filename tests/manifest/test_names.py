"""Ids, and names in messages."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatchgen.manifest.names import did_you_mean, make_device_id, make_id, make_label, misspelled_driver, show


@pytest.mark.parametrize(
    ("name", "expected"),
    [("mlp", "mlp"), ("a b", "a_b"), ("3d", "_3d"), ("${x}", "__x_"), ("größe", "gr__e"), ("a\nb", "a_b"), ("", "")],
)
def test_make_id(name: str, expected: str) -> None:
    assert make_id(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("local-sync", "local-sync"), ("vulkan://0", "vulkan_0"), ("..", "_.."), ("hip://GPU-1a", "hip_GPU-1a")],
)
def test_make_device_id(name: str, expected: str) -> None:
    assert make_device_id(name) == expected


@given(st.text(min_size=1))
def test_ids_hold_nothing_that_could_be_code(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", make_id(name))
    assert re.fullmatch(r"[A-Za-z0-9_]+", make_label(name))
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", make_device_id(name))
    assert make_id(make_id(name)) == make_id(name)
    assert make_device_id(make_device_id(name)) == make_device_id(name)


@given(st.text())
def test_messages_show_names_on_one_line_without_escapes(name: str) -> None:
    assert show(name).isprintable()
    assert len(show(name)) < 1000


def test_nearest() -> None:
    assert did_you_mean("Modle", ["model", "other"]) == "`model`"
    assert did_you_mean("zzz", ["model", "other"]) == "one of `model`, `other`"
    assert did_you_mean("zzz", []) == "remove it: there is none to refer to"


@pytest.mark.parametrize(
    ("uri", "driver"),
    [
        ("vulcan", "vulkan"),
        ("vulkna://0", "vulkan"),
        ("local_sync", "local-sync"),
        ("localtask", "local-task"),
        ("vulkan://0", None),
        ("hip", None),
        ("our-accelerator", None),
    ],
)
def test_misspelled_drivers(uri: str, driver: str | None) -> None:
    assert misspelled_driver(uri) == driver
