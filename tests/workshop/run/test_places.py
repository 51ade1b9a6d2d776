"""Files of the workshop are written whole or not at all."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compendium.run import places


def test_write_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "deep" / "file.txt"
    places.write(path, "old")

    def fail(*_: Any) -> Iterator[None]:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        places.write(path, "new")
    assert [file.name for file in path.parent.iterdir()] == ["file.txt"]
    assert path.read_text() == "old"
