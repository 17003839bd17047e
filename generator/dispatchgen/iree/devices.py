"""What IREE's drivers tell of their devices: the text of `--dump_devices=<driver>`.

A device is introduced by a line `# --device=<driver>://<path>` and one with its name, `#   <name>`. What follows is the
driver's own, `<property>: <value>` or `- <property>: <value>` a line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dispatchgen.errors import ToolError
from dispatchgen.iree import process

_SECONDS = 60.0
_DEVICE = re.compile(r"^# --device=(?P<uri>\S+)\n#\s+(?P<name>\S.*)$", re.MULTILINE)
_PROPERTY = re.compile(r"^(?:- )?(?P<name>[\w-]+): (?P<value>\S.*)$", re.MULTILINE)
#: Properties that hold the version of the driver, by the name of IREE's driver.
_VERSIONS = {"vulkan": "driver_info", "cuda": "driver-max-cuda-version"}


@dataclass(frozen=True)
class ListedDevice:
    """A device that a driver lists."""

    uri: str  #: Value of `--device=`.
    name: str
    properties: Mapping[str, str]

    @property
    def driver_version(self) -> str | None:
        """Version of the driver below IREE's; None: not told."""
        return self.properties.get(_VERSIONS.get(self.uri.partition("://")[0], ""))


def devices_of(iree_benchmark_module: Path, driver: str) -> tuple[ListedDevice, ...]:
    """The devices of a driver, in its order; none where the driver, or its library, is absent."""
    command = [str(iree_benchmark_module), f"--dump_devices={driver}"]
    try:
        return read_listing(process.run(command, timeout=_SECONDS, check=False).stdout)
    except ToolError:  # it does not end, or cannot be started: running benchmarks tells why
        return ()


def read_listing(text: str) -> tuple[ListedDevice, ...]:
    """The devices in what `--dump_devices` prints."""
    found = []
    for match in _DEVICE.finditer(text):
        following = _DEVICE.search(text, match.end())
        end = following.start() if following else len(text)
        properties = {each["name"]: each["value"].strip() for each in _PROPERTY.finditer(text, match.end(), end)}
        # The line may have more than the name: Vulkan's has its driver too, which is a property.
        found.append(ListedDevice(match["uri"], properties.get("name", match["name"].strip()), properties))
    return tuple(found)


def find(uri: str, listed: tuple[ListedDevice, ...]) -> ListedDevice | None:
    """The device that `--device=<uri>` means: by its path, its number, or the first one of a driver."""
    driver, _, path = uri.partition("://")
    path = path.partition("?")[0]
    if path.isdecimal() and int(path) < len(listed):
        return listed[int(path)]
    if not path:
        return listed[0] if listed else None
    return next((device for device in listed if device.uri == f"{driver}://{path}"), None)
