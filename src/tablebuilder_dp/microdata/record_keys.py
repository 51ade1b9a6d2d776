"""Record keys from record ids: a record keeps its keys whatever happens to the others.

The four 32-bit components of a record's key are the keyed hash of its id (`secret.hashes`). Ids are
integers or texts; an integer is hashed as its decimal, so that Parquet and CSV agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from tablebuilder_dp import cellkey
from tablebuilder_dp.microdata import formats, secret
from tablebuilder_dp.microdata.records import column, opened, readable
from tablebuilder_dp.microdata.sources import csv_header
from tablebuilder_dp.support import files, parameters

KEYS = ("record_key_1", "record_key_2", "record_key_3", "record_key_4")
PURPOSE = "record keys"
_ROWS = 1 << 16  # a batch that stays in the processor's cache


def of_ids(ids: Any, hidden: secret.Secret) -> list[Any]:
    """The four columns of record keys of an Arrow array of ids, each an Arrow array of 32-bit numbers.

    A component of 0, which is no record key, becomes bigN: as sums are taken modulo bigN, it is the same.

    Raises ValueError where an id is missing.
    """
    if ids.null_count:
        raise ValueError("id must be given for every record, but some are missing")
    words = secret.hashes(hidden, PURPOSE, ids.cast(pa.string()))
    words[words == 0] = cellkey.BIG_N
    return [pa.array(np.ascontiguousarray(words[:, j])) for j in range(4)]


def add_keys(
    source: str | Path,
    output: str | Path,
    *,
    id: str,
    secret_file: str | Path,
    memory: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Copy records with their keys in four more columns, in the same order and any size.

    The copy is closed to others, as the keys can undo the noise. Duplicate or missing ids are refused before
    anything is written. ``progress`` is told how many records are done.

    Raises ValueError for records, ids or a secret that cannot be used, and OSError for a file that cannot be
    read or written.
    """
    hidden = secret.read(secret_file)
    formats.check_output(output, source, secret_file)
    path = Path(source)
    formats.suffix(path, "records")
    check_ids(path, id=id, memory=memory)
    with readable(path):
        schema, batches = _batches(path)
    place, done = schema.get_field_index(id), 0
    if taken := sorted(set(KEYS) & set(schema.names)):
        raise parameters.wrong_value("records", f"without the columns {', '.join(KEYS)}", taken[0])
    for name in KEYS:
        schema = schema.append(pa.field(name, pa.uint32()))
    inputs = files.inputs(source, secret_file)
    with formats.writer(output, schema, plain=KEYS, mode=0o600, inputs=inputs) as opened_file:
        for batch in _readable(batches, path):
            with readable(None):
                keys = of_ids(batch.column(place), hidden)
                opened_file.write_batch(pa.record_batch([*batch.columns, *keys], schema=schema))
            done += len(batch)
            if progress is not None:
                progress(done)


def check_ids(source: Any, *, id: str, memory: str | None = None) -> None:
    """Refuse ids that are missing, empty or not unique, and columns that cannot hold ids.

    Raises ValueError for these, and whatever `records.opened` raises.
    """
    with opened(source, memory=memory) as records:
        id_column = column(records, id, "id")
        if id_column.kind not in ("text", "integer"):
            raise ValueError(f"id must be a column of integers or text, got {id!r} of type {id_column.kind}")
        name = id_column.alias
        empty = f" OR {name} = ''" if id_column.kind == "text" else ""
        [wrong] = records.query(
            f"WITH ids AS (SELECT {name} IS NULL{empty} AS missing, COUNT(*) AS times "  # noqa: S608 (aliases)
            f"FROM {records.view} GROUP BY {name}) SELECT "
            "CAST(SUM(times) FILTER (WHERE missing) AS BIGINT) AS missing, "
            "COUNT(*) FILTER (WHERE times > 1 AND NOT missing) AS repeated FROM ids"
        ).to_pylist()
    if wrong["missing"]:
        raise ValueError(f"id must be given for every record, but {id!r} is missing in {wrong['missing']}")
    if many := wrong["repeated"]:
        told = f"1 value of {id!r} occurs" if many == 1 else f"{many} values of {id!r} occur"
        raise ValueError(f"id must differ from record to record, but {told} more than once")


def _readable(batches: Iterator[Any], path: Path) -> Iterator[Any]:
    with readable(path):
        yield from batches


def _batches(path: Path) -> tuple[Any, Iterator[Any]]:
    """The schema of a file and its records, some at a time; of a CSV file all columns are text."""
    if formats.suffix(path, "records") == ".parquet":
        file = pyarrow.parquet.ParquetFile(path, pre_buffer=False)  # or it keeps all that it has read
        return file.schema_arrow, file.iter_batches(_ROWS)
    names = csv_header(path)
    reader = pyarrow.csv.open_csv(
        path,
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    return reader.schema, iter(reader)
