"""Records where they lie, for one query at a time: DuckDB on one machine, or a Spark session.

Both engines see a view, named anew each time, whose columns are named c0, c1, … by their place. No name
that stands in a file ever becomes part of a query, so none can change it. CSV columns are read as text, each
as it stands: what another row holds cannot change how a code such as 007 is read.
"""

from __future__ import annotations

import atexit
import glob
import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager, suppress
from contextvars import ContextVar
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
from tqdm import tqdm

from tablebuilder_dp.microdata import sources
from tablebuilder_dp.support import parameters

KINDS: Mapping[str, str] = {
    **dict.fromkeys(["varchar", "enum", "string"], "text"),
    **dict.fromkeys(["tinyint", "smallint", "integer", "int", "bigint"], "integer"),
    **dict.fromkeys(["utinyint", "usmallint", "uinteger", "ubigint"], "integer"),
    **dict.fromkeys(["float", "double", "decimal"], "number"),
    **dict.fromkeys(["timestamp", "timestamp_ntz", "timestamp_s", "timestamp_ms", "timestamp_ns"], "time"),
    "boolean": "boolean",
    "date": "date",
}
"""What the types of the engines are to us; all others are of no use as categories, ids or keys."""


_FEW_NAMES = 30  # of more columns only those are named that are nearest to what was asked for


class Column(NamedTuple):
    """A column by its own name, the name that queries use for it, and its kind."""

    name: str
    alias: str
    kind: str


class Records(Protocol):
    """Opened records: their columns, the name of their view, and what a query over it gives.

    The names of ``csv`` columns are not shown: a first line without names is a record.
    """

    columns: tuple[Column, ...]
    csv: bool
    view: str

    def query(self, sql: str) -> Any:
        """An Arrow table.

        Raises whatever the engine raises, which `readable` puts into our words.
        """


def _new_view() -> str:
    """A name that no other view has: all threads of a session see each other's."""
    return f"tablebuilder_dp_{secrets.token_hex(8)}"


def column(records: Records, name: str, argument: str) -> Column:
    """The column of a name; ``argument`` is what the caller asked for it by."""
    for field in records.columns:
        if field.name == name:
            return field
    names = [field.name if field.name.isprintable() else repr(field.name) for field in records.columns]
    allowed = f"one of {', '.join(names)}"
    if records.csv:
        allowed = "one of the names in the first line of the CSV file"
    elif len(names) > _FEW_NAMES:
        near = get_close_matches(str(name), names, 3)
        allowed = f"one of the {len(names)} columns" + (f", such as {', '.join(near)}" if near else "")
    if argument == "record_keys":
        allowed += " (the command keys, or add_keys, makes record keys)"
    elif "," in str(name):
        allowed += ", each by itself"
    raise parameters.wrong_value(argument, allowed, name)


def _named(names: Sequence[str], types: list[Any]) -> tuple[Column, ...]:
    first: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if first.setdefault(name, place) < place:
            both = f"columns {first[name]} and {place}"
            raise ValueError(f"records must have columns of different names, got the same in {both}")
    return tuple(
        Column(name, f"c{place}", _kind(str(kind).lower()))
        for place, (name, kind) in enumerate(zip(names, types, strict=True))
    )


def _kind(named: str) -> str:
    """What a type of an engine is to us; a decimal is a number if it has at most ``sources.DIGITS``.

    >>> _kind("varchar"), _kind("decimal(12,2)"), _kind("decimal(38,2)")
    ('text', 'number', 'decimal(38,2)')
    """
    if (digits := re.match(r"decimal\((\d+)", named)) and int(digits[1]) > sources.DIGITS:
        return named
    kind = named.split("(")[0]
    return KINDS.get(kind, kind)


@contextmanager
def opened(
    source: Any, *, spark: Any = None, memory: str | None = None, what: str = "records"
) -> Iterator[Records]:
    """Open a Parquet or text file, a folder of Parquet files, or anything that Arrow understands as a table.

    ``spark`` is a SparkSession to use in place of DuckDB; paths may then be any that it reads.
    ``memory``, such as "2GB", bounds what DuckDB keeps before it goes to disk. ``what`` is what an error
    calls the source.

    Raises ValueError where they cannot be read, TypeError for what is no source, and OSError where the system
    refuses.
    """
    with readable(source, what), ExitStack() as stack:
        if spark is None:
            _duckdb(memory, os.getpid())  # an interrupt while it is imported would make it talk at the end
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tablebuilder-dp-"))
        if spark is not None:
            with closing(_SparkRecords(source, spark, Path(folder))) as records:
                yield records
        else:
            with closing(_DuckRecords(source, memory, Path(folder))) as records:
                yield records


@contextmanager
def readable(source: Any, what: str = "records") -> Iterator[None]:
    """Say what is wrong with records in one sentence of our own: what an engine says may quote them.

    Raises ValueError in place of an engine's error; an OSError, and an error of our own, stays what it is.
    """
    try:
        yield
    except Exception as error:
        raise _in_our_words(error, source, what) from None


_LINE = re.compile(r"\A(?:[A-Z][A-Za-z ]* Error: CSV Error on Line: |CSV parse error: Row #)([0-9]+)")
"""Where an engine names a line, ahead of all that it quotes."""

_KNOWN: Mapping[str, str] = {
    r"Expected Number of Columns|Expected [0-9]+ columns": "{} has more or fewer fields than the first",
    r"unterminated quote": "{} has a quote that is not closed, or text after one",
    r"Maximum line size|straddling object": "{} is too long",
    r"not utf-8|[Ii]nvalid UTF-?8|not valid UTF": "{} is not in UTF-8",
    r"CSV Error on Line|CSV [Pp]arse": "{} cannot be split into fields",
    r"file size is 0 bytes": "the file is empty",
    r"[Mm]agic bytes": "it is not a Parquet file, or only a part of one",
    r"Out of Memory Error": "more memory is needed",
    r"Could not (write|truncate|sync|trim|allocate)": "there is no room for temporary files",
}
"""What engines say, and what of it is passed on: nothing that may come from a record."""


def _in_our_words(error: Exception, source: Any, what: str) -> Exception:
    """An error of ours or of the system as it is, any other by what is known of it and by its type."""
    if type(error) in (ValueError, TypeError):
        return error
    named = [str(sources.path(source))] if sources.is_place(source) else []
    if isinstance(error, OSError) and error.errno is not None:
        return error if error.filename else OSError(error.errno, os.strerror(error.errno), *named)
    text, kind = str(error), type(error).__name__
    match = _LINE.search(text)
    line = f"line {match[1]}" if match else "a line"
    said = next((words.format(line) for known, words in _KNOWN.items() if re.search(known, text)), None)
    if condition := re.fullmatch(r"[A-Z0-9_.]+", str(getattr(error, "getCondition", str)())):  # of Spark
        kind = condition[0]
    elif named and isinstance(error, OSError | pa.ArrowInvalid):
        kind = "the file is damaged"
    return ValueError(": ".join([f"the {what} cannot be read", *map(repr, named), said or kind]))


@cache
def _duckdb(memory: str | None, process: int) -> Any:
    """DuckDB, started once in a process: that takes as long as counting half a million records."""
    import duckdb

    if memory is not None and not re.fullmatch(r"[0-9.]+ ?[KMGT]i?B", str(memory), re.IGNORECASE):
        raise parameters.wrong_value("memory", "a size such as 2GB", memory)
    folder = Path(tempfile.gettempdir(), f"tablebuilder-dp-{secrets.token_hex(8)}")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # known before it is made, as in `files.whole`
    folder.mkdir(0o700)
    settings: dict[str, Any] = {"temp_directory": str(folder)} | ({"memory_limit": memory} if memory else {})
    try:
        return duckdb.connect(config=settings)
    except duckdb.Error:
        raise parameters.wrong_value("memory", "a size such as 2GB", memory) from None


class _DuckRecords:
    def __init__(self, source: Any, memory: str | None, copies: Path) -> None:
        self._connection = _duckdb(memory, os.getpid()).cursor()
        if sys.stderr.isatty():  # in notebooks it would ask for widgets; a setting of this cursor alone
            self._connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
        self.csv = sources.is_csv(source) and not _without_names(source)
        names, relation = self._relation(source, copies)
        self.columns = _named(names, relation.types)
        renamed = ", ".join(f"#{place} AS {field.alias}" for place, field in enumerate(self.columns, 1))
        self.view = _new_view()
        relation.project(renamed).create_view(self.view)  # plain SQL starts sooner than a relation's query

    def _relation(self, source: Any, copies: Path) -> tuple[Sequence[str], Any]:
        if not sources.is_place(source):
            table = sources.arrow_table(source)
            aliases = [f"c{place}" for place in range(table.num_columns)]
            return table.column_names, self._connection.from_arrow(table.rename_columns(aliases))
        files = _copied(sources.files(source), copies)
        paths = [glob.escape(str(path)) for path in files.paths]  # a name with a star in it is one file
        if files.dialect is None:
            return files.names, self._connection.read_parquet(paths)
        return files.names, self._connection.read_csv(
            paths[0],
            header=files.dialect.header,
            columns={f"c{place}": "VARCHAR" for place in range(len(files.names))},
            delimiter=files.dialect.delimiter,
            compression="gzip" if files.dialect.gzipped else "none",
            quotechar='"',
            escapechar='"',
            auto_detect=False,
            strict_mode=True,
            null_padding=False,
            na_values="",
            allow_quoted_nulls=False,
        )

    def query(self, sql: str) -> Any:
        """Ask in another thread: this one shows on a terminal how far it is, and can be interrupted."""
        shown = tqdm(total=100, unit="%", desc="counting", leave=False, disable=not sys.stderr.isatty())
        with ThreadPoolExecutor(1) as pool, shown as bar:
            asked = pool.submit(lambda: self._connection.sql(sql).to_arrow_table())
            try:
                while not wait([asked], 0.2).done:
                    with suppress(Exception):
                        bar.update(max(0, int(self._connection.query_progress()) - bar.n))
            finally:
                while not asked.done():
                    self._connection.interrupt()
                    wait([asked], 0.1)
            return asked.result()

    def close(self) -> None:
        self._connection.execute(f"DROP VIEW {self.view}")
        self._connection.close()


def _without_names(source: Any) -> bool:
    """Whether the names of columns are ours, column_1 and so on, and may be shown."""
    return isinstance(source, sources.Csv) and not source.header


def _copied(files: sources.Files, folder: Path) -> sources.Files:
    """The same files; a text file that is not in UTF-8 as a copy in a folder that nobody else can read."""
    if files.dialect is None or files.dialect.encoding == "utf-8":
        return files
    sources.in_utf8(files.paths[0], files.dialect, folder / "records.csv")
    in_utf8 = files.dialect._replace(encoding="utf-8", gzipped=False)
    return files._replace(paths=(folder / "records.csv",), dialect=in_utf8)


_ASKING: ContextVar[bool] = ContextVar("asking", default=False)


def _not_asking(_: Any) -> bool:
    return not _ASKING.get()


class _SparkRecords:
    def __init__(self, source: Any, spark: Any, copies: Path) -> None:
        from pyspark.logger import PySparkLogger

        for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
            PySparkLogger.getLogger(name).addFilter(_not_asking)  # they log errors, which may quote records
        self.csv, names = sources.is_csv(source) and not _without_names(source), None
        if not sources.is_place(source):
            frame = spark.createDataFrame(_signed(sources.arrow_table(source)))
        elif sources.path(source).exists():
            files = _copied(sources.files(source), copies)
            names = files.names
            frame = _read(spark, files.dialect, [f"file://{path.resolve()}" for path in files.paths])
        else:  # a path that Spark alone can reach
            dialect = _USUAL if sources.is_csv(source) else None
            frame = _read(spark, dialect, [str(sources.origin(source))])
        types = [field.dataType.simpleString() for field in frame.schema]
        self.columns = _named(names or frame.columns, types)
        self._spark = spark
        self.view = _new_view()
        frame.toDF(*(field.alias for field in self.columns)).createTempView(self.view)

    def query(self, sql: str) -> Any:
        before = _ASKING.set(True)
        try:
            return self._spark.sql(sql).toArrow()
        finally:
            _ASKING.reset(before)

    def close(self) -> None:
        self._spark.catalog.dropTempView(self.view)


_NOTHING = "\0tablebuilder-dp: nothing\0"
"""What Spark takes for an empty field without quotes, which then is missing: no text that a file has."""


_USUAL = sources.Dialect(",", "utf-8", header=True, gzipped=False)


def _read(spark: Any, dialect: sources.Dialect | None, paths: list[str]) -> Any:
    """A Spark frame of files; of text files all columns are text, as DuckDB reads them."""
    if wild := next((path for path in paths if set("*?[]{}\\") & set(path)), None):
        raise parameters.wrong_value("records", "a path without * ? [ ] { } for Spark", wild)
    if dialect is None:
        return spark.read.parquet(*paths)
    return spark.read.csv(
        paths, header=dialect.header, sep=dialect.delimiter, multiLine=True,
        escape='"', emptyValue="", nullValue=_NOTHING, mode="FAILFAST",
        ignoreLeadingWhiteSpace=False, ignoreTrailingWhiteSpace=False, unescapedQuoteHandling="RAISE_ERROR",
    )  # fmt: skip


def _signed(table: Any) -> Any:
    """A table for Spark, which has no unsigned integers and no dictionaries."""
    for place, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        kind = pa.int64() if pa.types.is_unsigned_integer(kind) else kind
        table = table.set_column(place, field.name, table.column(place).cast(kind))
    return table
