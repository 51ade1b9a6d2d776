"""Tables as Parquet or CSV, by the ending of the file's name: the same table, the same bytes.

In CSV every text is quoted and a missing value is an empty field without quotes, so that an empty text
and a missing one stay different.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from tablebuilder_dp.support import files, parameters


def suffix(path: str | Path, name: str) -> str:
    """``.parquet`` or ``.csv``, the ending of a file's name.

    >>> suffix("people.CSV", "records")
    '.csv'
    >>> suffix("people.xlsx", "records")
    Traceback (most recent call last):
    ...
    ValueError: records must be a file whose name ends in .parquet or .csv, got 'people.xlsx'
    """
    if not isinstance(path, str | Path):
        raise parameters.wrong_type(name, "the path of a file", path)
    files.check_local(path, name)
    kind = Path(path).suffix.lower()
    if kind not in (".parquet", ".csv") or Path(path).is_dir():
        raise parameters.wrong_value(name, "a file whose name ends in .parquet or .csv", str(path))
    return kind


def check_output(path: str | Path, *inputs: Any) -> str:
    """The `suffix` of a file that can be written, so that hours of work are not lost at their end.

    It must be none of the inputs (see `files.check`), of which those that are no paths do not count.

    Raises ValueError where it is one of them or cannot be written.
    """
    kind = suffix(path, "output")
    files.check(Path(path), files.inputs(*inputs))
    return kind


def sink(path: Path, kind: str, schema: Any, *, plain: tuple[str, ...] = ()) -> Any:
    """What takes tables of a schema piece by piece and writes them as Parquet or CSV.

    ``plain`` names columns of random numbers, which no encoding makes smaller.

    Returns a writer of PyArrow. Raises ValueError for columns that CSV does not have.
    """
    if kind == ".csv":
        try:
            return pyarrow.csv.CSVWriter(path, schema)
        except pa.ArrowInvalid as error:
            raise ValueError(f"output must be a .parquet file, as CSV has no such columns: {error}") from None
    return pyarrow.parquet.ParquetWriter(
        path,
        schema,
        use_dictionary=[name for name in schema.names if name not in plain],
        compression={name: "none" if name in plain else "zstd" for name in schema.names},
    )


@contextmanager
def writer(
    path: str | Path,
    schema: Any,
    *,
    plain: tuple[str, ...] = (),
    mode: int = 0o644,
    inputs: tuple[Path, ...] = (),
) -> Iterator[Any]:
    """A `sink` that becomes the file ``path`` at the end, whole or not at all, but none of the inputs.

    Raises ValueError where `files.whole` or `sink` does, and OSError where the file cannot be written.
    """
    kind = suffix(path, "output")
    with (
        files.whole(Path(path), mode=mode, inputs=inputs) as temporary,
        sink(temporary, kind, schema, plain=plain) as opened,
    ):
        yield opened


def write(table: Any, path: str | Path) -> None:
    """Write a whole table.

    Raises what `writer` raises.
    """
    with writer(path, table.schema) as opened:
        opened.write_table(table)
