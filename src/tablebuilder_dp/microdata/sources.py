"""Where records may come from: a Parquet or CSV file, a folder of Parquet files, a table in memory."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet

from tablebuilder_dp.microdata import formats
from tablebuilder_dp.support import parameters


class Files(NamedTuple):
    """Files of one kind (``.parquet`` or ``.csv``) and the names of their columns."""

    kind: str
    paths: tuple[Path, ...]
    names: tuple[str, ...]


def files(source: str | Path) -> Files:
    """What is to be read for a path: one file, or all Parquet files of a folder, of one schema.

    Raises ValueError for any other file or folder, and OSError where it cannot be opened.
    """
    path = Path(source)
    path.stat()  # a file that is missing is named by the system
    if not path.is_dir():
        kind = formats.suffix(path, "records")
        names = csv_header(path) if kind == ".csv" else pyarrow.parquet.read_schema(path).names
        return Files(kind, (path,), tuple(names))
    visible = sorted(entry for entry in path.iterdir() if entry.name[0] not in "._")  # _SUCCESS and the like
    paths = [entry for entry in visible if entry.suffix.lower() == ".parquet"]
    if not paths or any(entry.is_dir() for entry in visible):
        allowed = "a folder with .parquet files in it and no other folders"
        raise parameters.wrong_value("records", allowed, str(path))
    schema = pyarrow.parquet.read_schema(paths[0])
    for other in paths[1:]:
        if not schema.equals(pyarrow.parquet.read_schema(other)):
            allowed = f"files of one schema, that of {paths[0].name}"
            raise parameters.wrong_value("records", allowed, str(other))
    return Files(".parquet", tuple(paths), tuple(schema.names))


def is_csv(source: Any) -> bool:
    """Whether a source is a CSV file, by its name."""
    return isinstance(source, str | Path) and str(source).lower().endswith(".csv")


def arrow_table(source: Any) -> Any:
    """A table in memory (Arrow, pandas, Polars, …) as an Arrow table; of any other only its type is told.

    Raises TypeError for what Arrow does not understand.
    """
    try:
        return pa.table(source)
    except Exception:
        kind = type(source).__name__
        raise TypeError(f"records must be a path or a table that Arrow understands, got {kind}") from None


def csv_header(path: Path) -> list[str]:
    """The names in the first line of a CSV file.

    Raises ValueError where there are none or the file is not UTF-8, and OSError where it cannot be opened.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file, strict=True), [])
    except (UnicodeDecodeError, csv.Error) as error:
        why = f": {error}" if isinstance(error, csv.Error) else ""  # the other one shows a byte
        raise ValueError(f"records must be a CSV file in UTF-8, got {str(path)!r}{why}") from None
    if not names:
        raise parameters.wrong_value("records", "a CSV file with a line of names", str(path))
    return names
