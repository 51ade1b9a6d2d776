"""The guards themselves: a changed digit, a changed curve, a missing output each turn nbval red."""

import base64
import json
import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

PICTURE = "import base64\nfrom IPython.display import Image\nImage(data=base64.b64decode('{}'), format='png')"


def png(shade: int) -> str:
    """A picture of one grey pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixel = zlib.compress(bytes([0, shade]))
    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", pixel), chunk(b"IEND", b"")]
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def notebook(*, digit: str = "1.25", shade: int = 7, count: int | None = 1, stripped: bool = False) -> str:
    picture: dict[str, Any] = {
        "output_type": "execute_result",
        "data": {"image/png": png(shade), "text/plain": "<IPython.core.display.Image object>"},
        "execution_count": 2,
        "metadata": {},
    }
    stream = {"output_type": "stream", "name": "stdout", "text": f"{digit}\n"}
    cells: list[dict[str, Any]] = [
        {"source": "print(5 / 4)", "execution_count": count, "outputs": [] if stripped else [stream]},
        {"source": PICTURE.format(png(7)), "execution_count": 2, "outputs": [picture]},
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {
        "cells": [
            {"cell_type": "code", "id": f"c{i}", "metadata": {}, **cell} for i, cell in enumerate(cells)
        ],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content)


@pytest.mark.long
def test_a_wrong_digit_curve_or_output_turns_nbval_red(tmp_path: Path) -> None:
    """The verdicts of one strict nbval run over five small notebooks."""
    folder = tmp_path
    cases = {
        "right": notebook(),
        "digit": notebook(digit="1.26"),
        "curve": notebook(shade=8),
        "stripped": notebook(stripped=True),
        "unexecuted": notebook(count=None),
    }
    for name, content in cases.items():
        (folder / f"{name}.ipynb").write_text(content)
    options = [
        "-p",
        "support.nbval_guards",
        "--nbval",
        "--nbval-current-env",
        "--continue-on-collection-errors",
    ]
    options += ["-p", "no:cacheprovider", "-rA", "-q", "-c", "/dev/null", "--rootdir", str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    assert done.returncode == 1, done.stdout + done.stderr
    found: dict[str, str] = {}
    for verdict, name in re.findall(r"^(PASSED|FAILED|ERROR) .*?(\w+)\.ipynb", done.stdout, re.MULTILINE):
        found[name] = verdict if found.get(name, "PASSED") == "PASSED" else found[name]
    assert found == {
        "right": "PASSED",
        "digit": "FAILED",
        "curve": "FAILED",
        "stripped": "FAILED",
        "unexecuted": "ERROR",
    }
