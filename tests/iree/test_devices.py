"""What IREE's drivers tell of their devices."""

from __future__ import annotations

import pytest

from dispatchgen.iree.devices import devices_of, find, read_listing
from support import IreeTools

#: In the form of IREE's runtime, with the properties of each driver that are read.
_LISTING = """\
# ============================================================================
# Enumerated devices for driver 'cuda'
# ============================================================================

# ===----------------------------------------------------------------------===
# --device=cuda://GPU-00000000-1111-2222-3333-444444444444
#   NVIDIA Made-up
# ===----------------------------------------------------------------------===

- gpu-compute-capability: 9.0
- driver-max-cuda-version: 12.4

# ===----------------------------------------------------------------------===
# --device=cuda://GPU-55555555-6666-7777-8888-999999999999
#   NVIDIA Other
# ===----------------------------------------------------------------------===

- driver-max-cuda-version: 12.4
"""


def test_listing() -> None:
    first, second = read_listing(_LISTING)
    assert (first.name, first.driver_version) == ("NVIDIA Made-up", "12.4")
    assert first.properties["gpu-compute-capability"] == "9.0"
    assert second.name == "NVIDIA Other"
    assert "gpu-compute-capability" not in second.properties


def test_nothing_is_listed() -> None:
    assert read_listing("") == ()
    assert read_listing(_LISTING.partition("# ===--")[0]) == ()


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("cuda", "NVIDIA Made-up"),
        ("cuda://", "NVIDIA Made-up"),
        ("cuda://1", "NVIDIA Other"),
        ("cuda://7", None),
        ("cuda://GPU-55555555-6666-7777-8888-999999999999", "NVIDIA Other"),
        ("cuda://GPU-55555555-6666-7777-8888-999999999999?a=b", "NVIDIA Other"),
        ("cuda://GPU-0", None),
    ],
)
def test_find(uri: str, expected: str | None) -> None:
    found = find(uri, read_listing(_LISTING))
    assert (found.name if found else None) == expected


def test_devices_of_this_machine(iree_tools: IreeTools) -> None:
    (device,) = devices_of(iree_tools.benchmark_module, "local-sync")
    assert device.uri.startswith("local-sync://")
    assert device.name
    assert devices_of(iree_tools.benchmark_module, "no-such-driver") == ()


@pytest.mark.lavapipe
def test_vulkan(iree_tools: IreeTools) -> None:
    device = devices_of(iree_tools.benchmark_module, "vulkan")[0]
    assert device.name.startswith("llvmpipe")
    assert device.driver_version is not None
    assert "Mesa" in device.driver_version
