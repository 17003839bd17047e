"""The first line of a dump, which says what it was dumped from."""

from __future__ import annotations

import pytest

from dispatchgen.extract.origin import Origin, origin_line, read_origin
from rendered import LOCKS

_SHA256 = "0123456789abcdef" * 4


def test_what_is_written_is_read() -> None:
    (dispatch, _) = LOCKS["b"].backends["gpu"].dispatches
    line = origin_line(dispatch.model_copy(update={"name": "matmul_2", "content": _SHA256}))
    assert line == f"// dispatchgen: dispatch matmul_2, content {_SHA256}\n"
    assert read_origin(f"{line}hal.executable ...") == Origin("matmul_2", _SHA256)
    assert read_origin(line.replace("\n", "\r\n")) == Origin("matmul_2", _SHA256), "editors may end lines like that"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hal.executable ...",
        f"// dispatchgen: dispatch matmul_2, content {_SHA256}",
        f"// dispatchgen: dispatch matmul_2, content {_SHA256[1:]}\n",
        f"\n// dispatchgen: dispatch matmul_2, content {_SHA256}\n",
        f'// dispatchgen: object: {{"sha256":"{_SHA256}"}}\n',
    ],
)
def test_other_text_tells_nothing(text: str) -> None:
    assert read_origin(text) is None
