"""Where results live, and how they are written: whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from tablebuilder_dp.support.files import whole

ROOT = Path(__file__).resolve().parents[3]


def output_root() -> Path:
    """The folder that results are written below: the project's, or ``COMPENDIUM_OUTPUT`` if set."""
    return Path(os.environ.get("COMPENDIUM_OUTPUT") or ROOT)


def write(path: Path, content: bytes | str) -> None:
    """Write a file under a temporary name and rename it, so that no reader sees half of it.

    A file that already has this content is left alone, and so keeps its date.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as temporary:
        temporary.write_bytes(data)
