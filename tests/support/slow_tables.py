"""The published table by loops over records: slow and obvious, to test the fast one against."""

import hashlib
import hmac
import io
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from cryptography.hazmat.primitives import cmac
from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tablebuilder_dp.counts.perturbation_table import PerturbationTable
from tablebuilder_dp.sampling import LookupTable

BIG_N = 2**32 - 5
SECRET = bytes(range(32))
TOTAL = object()
Row = Mapping[str, Any]
Table = LookupTable | PerturbationTable


def derived(secret: bytes, purpose: str, *fields: bytes) -> bytes:
    """The key for one purpose; with fields, for the purpose and all of them, each behind its length."""
    named = purpose.encode()
    info = b"".join(len(field).to_bytes(8, "big") + field for field in (named, *fields)) if fields else named
    return HKDF(SHA256(), 32, salt=None, info=info).derive(secret)


def keyed_hash(secret: bytes, purpose: str, text: str | bytes, *fields: bytes) -> bytes:
    made = cmac.CMAC(algorithms.AES(derived(secret, purpose, *fields)))
    made.update(text.encode() if isinstance(text, str) else text)
    return made.finalize()


def input_digest(secret: bytes, source: Any) -> bytes:
    """Of a file, of a folder's files in the order of their names, or of a table in memory."""
    content = b""
    if isinstance(source, Path):
        for path in sorted(source.iterdir()) if source.is_dir() else [source]:
            content += len(path.read_bytes()).to_bytes(8, "big") + path.read_bytes()
    else:
        stream = io.BytesIO()
        columns = {name: plain(source[name]) for name in source.column_names}
        with pa.ipc.new_stream(stream, pa.table(columns).schema) as writer:
            writer.write_table(pa.table(columns), max_chunksize=2**16)
        content = stream.getvalue()
    sealed = AESGCM(derived(secret, "input tag")).encrypt(bytes(12), b"", content)  # the tag alone: GMAC
    return hmac.digest(derived(secret, "input digest"), sealed, "sha256")


def plain(column: pa.ChunkedArray) -> pa.Array:
    """A column without dictionaries, its texts all of one kind."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    texts = pa.types.is_string(kind) or pa.types.is_string_view(kind)
    return column.cast(pa.large_string() if texts else kind).combine_chunks()


def weights_digest(table: Table) -> bytes:
    if isinstance(table, LookupTable):
        content: list[Any] = [table.keysize, table.cuts]
    else:
        content = [table.period, table.keysize, [row.cuts for row in table.rows], table.segments]
    return hashlib.sha256(json.dumps(content).encode()).digest()


def record_keys(secret: bytes, id: Any) -> list[int]:
    digest = keyed_hash(secret, "record keys", str(id))
    words = [int.from_bytes(digest[4 * j : 4 * j + 4]) for j in range(4)]
    return [word or BIG_N for word in words]


def cell_key(people: Sequence[Row], keys: Sequence[str], keysize: int) -> int:
    if len(keys) == 1:
        return sum(int(one[keys[0]]) for one in people) % keysize
    found = 0
    for name in keys:
        found ^= sum(int(one[name]) for one in people) % BIG_N
    return found % keysize


def description(cell: Mapping[str, Any]) -> str:
    parts = [json.dumps([name, as_text(cell[name])]) for name in sorted(cell) if cell[name] is not TOTAL]
    return "".join(parts)


def empty_key(secret: bytes, cell: Mapping[str, Any], keysize: int) -> int:
    return int.from_bytes(keyed_hash(secret, "empty cells", description(cell))[:4]) * keysize >> 32


def key_of_cell(
    secret: bytes, cell: Mapping[str, Any], *, edition: str, digest: bytes, weights: bytes
) -> int:
    """64 bits, whoever is in the cell."""
    made = keyed_hash(secret, "cell keys", description(cell), edition.encode(), digest, weights)
    return int.from_bytes(made[:8])


def key_of_set(
    secret: bytes,
    cell: Mapping[str, Any],
    people: Sequence[Row],
    keys: Sequence[str],
    *,
    edition: str,
    weights: bytes,
) -> int:
    """64 bits from who is in the cell; without people, from what it is."""
    fields = (edition.encode(), weights)
    if not people:
        return int.from_bytes(keyed_hash(secret, "empty cells", description(cell), *fields)[:8])
    sums = b"".join(sum(int(one[name]) for one in people).to_bytes(8, "big") for name in keys)
    return int.from_bytes(keyed_hash(secret, "keys of sets", sums, *fields)[:8])


def as_text(category: Any) -> str | None:
    if category is None or isinstance(category, str):
        return category
    return str(category).lower() if isinstance(category, bool) else str(category)


def noise(table: Table, count: int, key: int) -> int:
    if isinstance(table, LookupTable):
        return next(z for z, cut in enumerate(table.cuts, -table.support) if key < cut)
    place = count
    if count >= len(table.rows):
        first = len(table.rows) - table.period
        place = first + (count - first) % table.period
    if table.segments:
        return next(z for end, z in zip(*table.segments[place], strict=True) if key < end)
    return next(z for z, cut in enumerate(table.rows[place].cuts, -table.support) if key < cut)


def categories(people: Sequence[Row], name: str) -> list[Any]:
    found = {one[name] for one in people}
    return sorted(found - {None}) + [None] * (None in found)


def total_over(by: Sequence[str], chosen: Sequence[Any]) -> str:
    names = [name for name, one in zip(by, chosen, strict=True) if one]
    return ", ".join(json.dumps(name) if "," in name or '"' in name or not name else name for name in names)


def all_cells(
    people: Sequence[Row],
    by: Sequence[str],
    margins: bool,
    nested: Sequence[Sequence[str]],
    given: Mapping[str, Sequence[Any]],
) -> Iterator[dict[str, Any]]:
    """All combinations of categories and totals; of a hierarchy its paths, and what these begin with."""
    paths, lists = {}, {name: list(given.get(name) or categories(people, name)) for name in by}
    for names in nested:
        listed = given.get(names[-1]) or [[one[name] for name in names] for one in people]
        paths[tuple(names)] = {
            (*path[:depth], *[TOTAL] * (len(names) - depth))
            for path in map(tuple, listed)
            for depth in (range(len(names) + 1) if margins else [len(names)])
        } | ({(TOTAL,) * len(names)} if margins else set())
        for depth in range(1, len(names)):  # a total with one category below it repeats that category
            finer = {tuple(path)[: depth + 1] for path in listed}
            for path in {one[:-1] for one in finer}:
                if sum(one[:-1] == path for one in finer) == 1:
                    paths[tuple(names)].discard((*path, *[TOTAL] * (len(names) - depth)))
        if names[-1] in given:
            for place, name in enumerate(names):
                lists[name] = list(dict.fromkeys(path[place] for path in listed))
    for chosen in itertools.product(*(lists[name] + [TOTAL] * margins for name in by)):
        cell = dict(zip(by, chosen, strict=True))
        if all(tuple(cell[name] for name in names) in known for names, known in paths.items()):
            yield cell


def published(
    people: Sequence[Row],
    table: Table,
    *,
    by: Sequence[str],
    keys: Sequence[str],
    margins: bool = False,
    nested: Sequence[Sequence[str]] = (),
    only_positive: bool = False,
    clamped: bool = False,
    given: Mapping[str, Sequence[Any]] | None = None,
    secret: bytes = b"",
    kind: str = "sums",
    edition: str = "",
    digest: bytes = b"",
) -> list[dict[str, Any]]:
    """The rows of the published table, with what an audit shows."""
    rows = []
    weights = weights_digest(table)
    for known in all_cells(people, by, margins, nested, given or {}):
        inside = [
            one for one in people if all(want is TOTAL or one[name] == want for name, want in known.items())
        ]
        if kind != "sums":
            if kind == "cells":
                key = key_of_cell(secret, known, edition=edition, digest=digest, weights=weights)
            else:
                key = key_of_set(secret, known, inside, keys, edition=edition, weights=weights)
            key //= 2**64 // table.keysize
        elif inside:
            key = cell_key(inside, keys, table.keysize)
        elif noise(table, 0, 0) == noise(table, 0, table.keysize - 1) == 0:
            key = 0
        else:
            key = empty_key(secret, known, table.keysize)
        count = len(inside) + noise(table, len(inside), key)
        if clamped:
            count = max(count, 0)
        row: dict[str, Any] = {name: None if one is TOTAL else one for name, one in known.items()}
        if margins:
            row["total_over"] = total_over(by, [known[name] is TOTAL for name in by])
        row |= {
            "count": count,
            "true_count": len(inside),
            "cell_key": key,
            "noise": count - len(inside),
        }
        if row["count"] > 0 or not only_positive:
            rows.append(row)
    return rows
