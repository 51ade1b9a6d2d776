"""Where records may come from: Parquet, CSV as it is written in Europe too, a table in memory."""

from __future__ import annotations

import codecs
import csv
import gzip
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import pyarrow as pa
import pyarrow.parquet

from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.files import ADDRESS

DIGITS = 15
"""A decimal of this many digits is a number, as float64 holds all of them."""

TEXTS = (".csv", ".tsv", ".tab", ".txt")
"""Endings of text files with fields, each also with .gz behind it."""

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
"""What can be found between fields; any other character must be given."""

_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""How a file begins whose encoding is known by that."""


@dataclass(frozen=True)
class Csv:
    """A text file with fields, if how it is written cannot be found in it.

    The ``delimiter`` is found in the first two lines, the ``encoding`` by a mark at the beginning, else it is
    UTF-8. Without a ``header`` the columns are called column_1, column_2 and so on.
    """

    path: str | Path
    delimiter: str | None = None
    encoding: str | None = None
    header: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | Path):
            raise parameters.wrong_type("records", "the path of a file", self.path)
        if self.delimiter is not None and (
            not isinstance(self.delimiter, str)
            or len(self.delimiter) != 1
            or not self.delimiter.isascii()
            or self.delimiter in '"\r\n'
        ):
            raise parameters.wrong_value("delimiter", "one character, such as ;", self.delimiter)
        if self.encoding is not None:
            try:
                "a".encode(self.encoding)  # a codec for texts
            except (LookupError, TypeError):
                allowed = "one that Python knows, such as cp1252 or utf-16"
                raise parameters.wrong_value("encoding", allowed, self.encoding) from None


class Dialect(NamedTuple):
    """How a text file is written: between fields, in which encoding, with names in the first line or not."""

    delimiter: str
    encoding: str
    header: bool
    gzipped: bool

    @property
    def usual(self) -> bool:
        """Whether it is the usual one."""
        return (self.delimiter, self.encoding, self.header) == (",", "utf-8", True)


class Files(NamedTuple):
    """Files of one kind and the names of their columns; a text file has a dialect."""

    paths: tuple[Path, ...]
    names: tuple[str, ...]
    dialect: Dialect | None = None


def is_place(source: Any) -> bool:
    """Whether a source is a file or folder, and no table in memory."""
    return isinstance(source, str | Path | Csv)


def path(source: str | Path | Csv) -> Path:
    """Where a file or folder is."""
    return Path(str(source.path if isinstance(source, Csv) else source).removeprefix("file:"))


def origin(source: Any) -> Any:
    """A source, or where it is: what no output may replace."""
    return source.path if isinstance(source, Csv) else source


def is_csv(source: Any) -> bool:
    """Whether a source is a text file with fields, by its name.

    >>> is_csv("people.csv"), is_csv("people.TSV.gz"), is_csv("people.parquet")
    (True, True, False)
    """
    return isinstance(source, Csv) or (
        is_place(source) and str(source).lower().removesuffix(".gz").endswith(TEXTS)
    )


def refuse_address(source: Any) -> None:
    """Refuse an address such as s3://…, which is no file of this machine.

    Only its beginning is told, as the rest may have a password.

    Raises ValueError, with the ways to do it.
    """
    if address := ADDRESS.match(str(origin(source))) if is_place(source) else None:
        raise ValueError(
            f"records must be a file of this machine or a table in memory, got an address, {address[1]}//…: "
            "download it, or read it in Python (duckdb, pyarrow.dataset, pandas.read_sql) and give the "
            "table; with Spark, any path that it reads may be given"
        )


def files(source: str | Path | Csv) -> Files:
    """What is to be read for a path: one file, or all Parquet files of a folder, of one schema.

    Raises ValueError for any other file or folder, and OSError where it cannot be opened.
    """
    refuse_address(source)
    place = path(source)
    place.stat()  # a file that is missing is named by the system
    if is_csv(source) and not place.is_dir():
        if place.suffix.lower() == ".parquet":
            allowed = "a text file where delimiter, encoding or header are given"
            raise parameters.wrong_value("records", allowed, str(place))
        found = _dialect(source if isinstance(source, Csv) else Csv(place))
        return Files((place,), _names(place, found), found)
    if not place.is_dir():
        if place.suffix.lower() != ".parquet":
            allowed = f"a file whose name ends in .parquet, {', '.join(TEXTS)} or one of these with .gz"
            raise parameters.wrong_value("records", allowed, str(place))
        return Files((place,), tuple(pyarrow.parquet.read_schema(place).names))
    visible = sorted(entry for entry in place.iterdir() if entry.name[0] not in "._")  # _SUCCESS and the like
    paths = [entry for entry in visible if entry.suffix.lower() == ".parquet"]
    if not paths or any(entry.is_dir() for entry in visible):
        allowed = "a folder with .parquet files in it and no other folders"
        raise parameters.wrong_value("records", allowed, str(place))
    schema = pyarrow.parquet.read_schema(paths[0])
    for other in paths[1:]:
        if not schema.equals(pyarrow.parquet.read_schema(other)):
            allowed = f"files of one schema, that of {paths[0].name}"
            raise parameters.wrong_value("records", allowed, str(other))
    return Files(tuple(paths), tuple(schema.names))


def arrow_table(source: Any) -> Any:
    """A table as an Arrow table: Arrow, pandas, Polars, Spark, DuckDB, a dataset, or one yet to be computed.

    Of any other source only its type is told, and of an error of other software only its kind, as its words
    may quote a record. A decimal of few digits loses the room for more.

    Raises TypeError for what Arrow does not understand, and ValueError for what cannot be computed, or a
    column of a type that only other software knows.
    """
    for compute in ("toArrow", "collect", "to_arrow_table", "to_table"):  # of Spark, Polars, DuckDB, Arrow
        if not isinstance(source, type) and callable(getattr(source, compute, None)):
            try:
                source = getattr(source, compute)()
            except Exception as error:
                kind = type(error).__name__
                raise ValueError(f"the records cannot be read: what was given ended with {kind}") from None
            break
    try:
        table = pa.table(source)
    except Exception:
        kind = type(source).__name__
        mixed = f", as {_mixed(source)!r} does not have values of one type" if _mixed(source) else ""
        raise TypeError(
            f"records must be a path or a table that Arrow understands, got {kind}{mixed}"
        ) from None
    for place, field in enumerate(table.schema):
        if isinstance(field.type, pa.BaseExtensionType):
            allowed = f"of types that files have, and {field.name!r} is not: make it a text or a date"
            raise parameters.wrong_value("records", allowed, str(field.type).partition("<")[0])
        if pa.types.is_decimal(field.type) and field.type.precision > DIGITS >= field.type.scale:
            with suppress(pa.ArrowInvalid):
                few = table.column(place).cast(pa.decimal128(DIGITS, field.type.scale))
                table = table.set_column(place, field.name, few)
    return table


def _mixed(frame: Any) -> str | None:
    """The first column of a pandas frame that Arrow cannot have, if there is one."""
    for name in getattr(frame, "columns", ()):
        try:
            pa.array(frame[name])
        except Exception:
            return str(name)
    return None


def levels(source: Any) -> dict[str, list[Any]]:
    """The levels that columns of an Arrow table were given, in their order; a missing one is the last.

    A dictionary has levels if it is ordered, as of a Polars Enum, or if it was a pandas Categorical. Any
    other holds what was met in some records, in that order.
    """
    if not isinstance(source, pa.Table):
        return {}
    known = (source.schema.pandas_metadata or {}).get("columns", ())
    given = {one["name"] for one in known if one["pandas_type"] == "categorical"}
    found = {}
    for field, column in zip(source.schema, source.columns, strict=True):
        if pa.types.is_dictionary(field.type) and (field.type.ordered or field.name in given):
            parts = [part.dictionary.to_pylist() for part in column.chunks]
            listed = list(dict.fromkeys(level for part in parts for level in part))
            found[field.name] = listed + [None] * bool(column.null_count)
    return found


def opened_text(place: Path, dialect: Dialect) -> IO[str]:
    """A text file, decoded, its ends of lines as they are."""
    raw = gzip.open(place) if dialect.gzipped else place.open("rb")  # noqa: SIM115 (closed with the text)
    encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    return TextIOWrapper(cast("IO[bytes]", raw), encoding=encoding, newline="")


def in_utf8(place: Path, dialect: Dialect, copy: Path) -> None:
    """Copy a text file as UTF-8.

    Raises ValueError where it is not in its encoding.
    """
    with opened_text(place, dialect) as file, copy.open("w", encoding="utf-8", newline="") as new:
        try:
            while part := file.read(1 << 20):
                new.write(part)
        except UnicodeError:
            raise _encoding(place, dialect.encoding) from None


def _dialect(given: Csv) -> Dialect:
    place, gzipped = path(given), str(given.path).lower().endswith(".gz")
    with gzip.open(place) if gzipped else place.open("rb") as file:
        start = file.read(3)
    marked = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    encoding = codecs.lookup(given.encoding or marked or "utf-8").name  # one name for all its aliases
    if marked and given.encoding and not encoding.startswith(told := marked.removesuffix("-sig")):
        allowed = f"left out, or that of the mark at the beginning of {str(place)!r}, {told}"
        raise parameters.wrong_value("encoding", allowed, given.encoding)
    if encoding in ("utf-8-sig", "ascii"):
        encoding = "utf-8"
    written = Dialect(given.delimiter or "", encoding, given.header, gzipped)
    if given.delimiter is not None:
        return written
    found = []
    for delimiter in _DELIMITERS:
        try:
            lines = list(islice(_lines(place, written._replace(delimiter=delimiter)), 2))
        except csv.Error:
            continue  # such as text after a quote, which ends at another delimiter
        if lines and len(lines[0]) > 1 and len(lines[0]) == len(lines[-1]):
            found.append(delimiter)
    if len(found) > 1:
        several = " or ".join(_DELIMITERS[one] for one in found)
        raise ValueError(
            f"delimiter must be given, as the first lines of {str(place)!r} can be split at {several}"
        )
    return written._replace(delimiter=found[0] if found else ",")


def _lines(place: Path, dialect: Dialect) -> Iterator[list[str]]:
    with opened_text(place, dialect) as file:
        try:
            yield from csv.reader(file, delimiter=dialect.delimiter, strict=True)
        except UnicodeError:
            raise _encoding(place, dialect.encoding) from None


def _encoding(place: Path, encoding: str) -> ValueError:
    tried = encoding.upper() if encoding.startswith("utf") else encoding
    return ValueError(
        f"encoding must be given for a text file that is not in {tried}, got {str(place)!r}: "
        "in Western Europe it is often cp1252 or iso8859-15, in Central Europe cp1250"
    )


def _names(place: Path, dialect: Dialect) -> tuple[str, ...]:
    """The names in the first line of a text file, or made up by their place.

    Raises ValueError where there are none.
    """
    try:
        first = next(_lines(place, dialect), [])
    except csv.Error as error:
        raise ValueError(
            f"records must be a CSV file in {dialect.encoding.upper()}, got {str(place)!r}: {error}"
        ) from None
    if not first:
        raise parameters.wrong_value("records", "a CSV file with a line of names", str(place))
    return tuple(first if dialect.header else (f"column_{number}" for number in range(1, len(first) + 1)))
