"""Record keys from record ids: a record keeps its keys whatever happens to the others.

The four 32-bit components of a record's key are the keyed hash of its id (`secret.hashes`). Ids are
integers or texts; an integer is hashed as its decimal, so that Parquet and CSV agree.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from tablebuilder_dp import cellkey
from tablebuilder_dp.microdata import formats, secret, sources
from tablebuilder_dp.microdata.records import column, opened, readable
from tablebuilder_dp.support import files, parameters

KEYS = ("record_key_1", "record_key_2", "record_key_3", "record_key_4")
FINGERPRINT = "record_key_secret"
"""The column that says which secret made the keys."""

PURPOSE = "record keys"
_ROWS = 1 << 16  # a batch that stays in the processor's cache


def of_ids(ids: Sequence[Any], hidden: secret.Secret) -> list[Any]:
    """The four columns of record keys of Arrow arrays of ids, each an Arrow array of 32-bit numbers.

    Of several ids the texts are joined, each behind its length. A component of 0, which is no record key,
    becomes bigN: as sums are taken modulo bigN, it is the same.

    Raises ValueError where an id is missing.
    """
    if any(part.null_count for part in ids):
        raise ValueError("id must be given for every record, but some are missing")
    texts = [part.cast(pa.string()) for part in ids]
    if len(texts) > 1:
        lengths = (pc.binary_length(text).cast(pa.string()) for text in texts)
        parts = [part for pair in zip(lengths, texts, strict=True) for part in pair]
        texts = [pc.binary_join_element_wise(*parts, ":")]
    words = secret.hashes(hidden, PURPOSE, texts[0])
    words[words == 0] = cellkey.BIG_N
    return [pa.array(np.ascontiguousarray(words[:, j])) for j in range(4)]


@overload
def add_keys(
    source: Any,
    output: None = None,
    *,
    id: str | Sequence[str],
    secret_file: str | Path,
    memory: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> pa.Table: ...


@overload
def add_keys(
    source: Any,
    output: str | Path,
    *,
    id: str | Sequence[str],
    secret_file: str | Path,
    memory: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> None: ...


def add_keys(
    source: Any,
    output: str | Path | None = None,
    *,
    id: str | Sequence[str],
    secret_file: str | Path,
    memory: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> pa.Table | None:
    """Give records their keys in four more columns, in the same order, and say in a fifth by which secret.

    ``source`` is a file or a table in memory. ``id`` is a column, or several that together differ from record
    to record. The ``output``, a file of any size, is closed to others, as the keys can undo the noise;
    without one the records come back as an Arrow table. Duplicate or missing ids are refused before anything
    is written. ``progress`` is told how many records are done.

    Raises ValueError for records, ids or a secret that cannot be used, and OSError for a file that cannot be
    read or written.
    """
    names = [id] if isinstance(id, str) else list(id)
    hidden = secret.read(secret_file)
    place = sources.origin(source)
    if output is not None:
        formats.check_output(output, place, secret_file)
    if not sources.is_place(source):
        source = sources.arrow_table(source)
    check_ids(source, id=names, memory=memory)
    with readable(source):
        schema, batches = _batches(source)
    places = [schema.get_field_index(name) for name in names]
    added = (*KEYS, FINGERPRINT)
    if taken := sorted(set(added) & set(schema.names)):
        raise parameters.wrong_value("records", f"without the columns {', '.join(added)}", taken[0])
    for name in KEYS:
        schema = schema.append(pa.field(name, pa.uint32()))
    schema = schema.append(pa.field(FINGERPRINT, pa.string()))

    def keyed() -> Iterator[Any]:
        done = 0
        for batch in _readable(batches, source):
            with readable(None):
                keys = of_ids([batch.column(place) for place in places], hidden)
                mark = pa.array([hidden.fingerprint] * len(batch), pa.string())
                yield pa.record_batch([*batch.columns, *keys, mark], schema=schema)
            done += len(batch)
            if progress is not None:
                progress(done)

    if output is None:
        return pa.Table.from_batches(keyed(), schema)
    inputs = files.inputs(place, secret_file)
    with formats.writer(output, schema, plain=KEYS, mode=0o600, inputs=inputs) as opened_file:
        for batch in keyed():
            with readable(None):  # an error of the writer may quote the batch
                opened_file.write_batch(batch)
    return None


def check_ids(source: Any, *, id: Sequence[str], memory: str | None = None) -> None:
    """Refuse ids that are missing, empty or not unique, and columns that cannot hold ids.

    Raises ValueError for these, and whatever `records.opened` raises.
    """
    if not id or len(set(id)) < len(id):
        raise parameters.wrong_value("id", "one or more columns, each once", list(id))
    with opened(source, memory=memory) as records:
        columns = [column(records, name, "id") for name in id]
        for found in columns:
            if found.kind not in ("text", "integer"):
                raise ValueError(
                    f"id must be a column of integers or text, got {found.name!r} of type {found.kind}"
                )
        grouped = ", ".join(found.alias for found in columns)
        missing = " OR ".join(
            f"{found.alias} IS NULL" + (f" OR {_bare(found.alias)} = ''" if found.kind == "text" else "")
            for found in columns
        )
        alike = ", ".join(
            f"nfc_normalize({_bare(found.alias)})" if found.kind == "text" else found.alias
            for found in columns
        )
        [wrong] = records.query(
            f"WITH ids AS (SELECT {missing} AS missing, COUNT(*) AS times "  # noqa: S608 (aliases)
            f"FROM {records.view} GROUP BY {grouped}) SELECT "
            "CAST(SUM(times) FILTER (WHERE missing) AS BIGINT) AS missing, "
            "COUNT(*) FILTER (WHERE times > 1 AND NOT missing) AS repeated, "
            "COUNT(*) AS different FROM ids"
        ).to_pylist()
        [same] = records.query(
            f"SELECT COUNT(*) AS times FROM (SELECT 1 FROM {records.view} GROUP BY {alike}) AS alike"  # noqa: S608
        )["times"].to_pylist()
    named = " with ".join(map(repr, id))
    if wrong["missing"]:
        raise ValueError(f"id must be given for every record, but {named} is missing in {wrong['missing']}")
    if many := wrong["repeated"]:
        told = f"1 value of {named} occurs" if many == 1 else f"{many} values of {named} occur"
        raise ValueError(f"id must differ from record to record, but {told} more than once")
    if many := wrong["different"] - same:
        warnings.warn(
            f"inside the office: {many} of the ids in {named} differ from another only by spaces or by the "
            "Unicode form of their letters; if they mean the same person, this person is counted twice",
            stacklevel=3,
        )


def _bare(alias: str) -> str:
    """A text without what cannot be seen: spaces of all kinds, and signs of no width."""
    return f"regexp_replace({alias}, '[\\s\\p{{Z}}\\p{{Cc}}\\p{{Cf}}]', '', 'g')"


def _readable(batches: Iterator[Any], source: Any) -> Iterator[Any]:
    with readable(source):
        yield from batches


def _batches(source: Any) -> tuple[Any, Iterator[Any]]:
    """The schema of a source and its records, some at a time; of a text file all columns are text."""
    if not sources.is_place(source):
        return source.schema, iter(source.to_batches(_ROWS))
    found = sources.files(source)
    if found.dialect is None:
        if len(found.paths) > 1 or sources.path(source).is_dir():
            raise parameters.wrong_value("records", "one file", str(sources.origin(source)))
        file = pyarrow.parquet.ParquetFile(found.paths[0], pre_buffer=False)  # or it keeps all that it read
        return file.schema_arrow, file.iter_batches(_ROWS)
    reader = pyarrow.csv.open_csv(
        pa.input_stream(str(found.paths[0]), compression="gzip" if found.dialect.gzipped else None),
        read_options=pyarrow.csv.ReadOptions(
            encoding=found.dialect.encoding,
            column_names=None if found.dialect.header else found.names,
        ),
        parse_options=pyarrow.csv.ParseOptions(delimiter=found.dialect.delimiter, newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(found.names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    return reader.schema, iter(reader)
