"""The published table by loops over records: slow and obvious, to test the fast one against."""

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from cryptography.hazmat.primitives import cmac
from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tablebuilder_dp.counts.perturbation_table import PerturbationTable

BIG_N = 2**32 - 5
SECRET = bytes(range(32))
TOTAL = object()
Row = Mapping[str, Any]


def keyed_hash(secret: bytes, purpose: str, text: str) -> bytes:
    key = HKDF(SHA256(), 32, salt=None, info=purpose.encode()).derive(secret)
    made = cmac.CMAC(algorithms.AES(key))
    made.update(text.encode())
    return made.finalize()


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


def empty_key(secret: bytes, cell: Mapping[str, Any], keysize: int) -> int:
    parts = [json.dumps([name, as_text(cell[name])]) for name in sorted(cell) if cell[name] is not TOTAL]
    return int.from_bytes(keyed_hash(secret, "empty cells", "".join(parts))[:4]) * keysize >> 32


def as_text(category: Any) -> str | None:
    if category is None or isinstance(category, str):
        return category
    return str(category).lower() if isinstance(category, bool) else str(category)


def noise(table: PerturbationTable, count: int, key: int) -> int:
    place = count
    if count >= len(table.rows):
        first = len(table.rows) - table.period
        place = first + (count - first) % table.period
    if table.by_key:
        return table.by_key[place][key]
    return next(z for z, cut in enumerate(table.rows[place].cuts, -table.support) if key < cut)


def categories(people: Sequence[Row], name: str) -> list[Any]:
    found = {one[name] for one in people}
    return sorted(found - {None}) + [None] * (None in found)


def total_over(by: Sequence[str], chosen: Sequence[Any]) -> str:
    names = [name for name, one in zip(by, chosen, strict=True) if one]
    return ", ".join(json.dumps(name) if "," in name or '"' in name or not name else name for name in names)


def published(
    people: Sequence[Row],
    table: PerturbationTable,
    *,
    by: Sequence[str],
    keys: Sequence[str],
    margins: bool = False,
    only_positive: bool = False,
    given: Mapping[str, Sequence[Any]] | None = None,
    secret: bytes = b"",
) -> list[dict[str, Any]]:
    """The rows of the published table, with what an audit shows."""
    lists = [list((given or {}).get(name) or categories(people, name)) for name in by]
    rows = []
    for cell in itertools.product(*(one + [TOTAL] * margins for one in lists)):
        inside = [
            one
            for one in people
            if all(want is TOTAL or one[name] == want for name, want in zip(by, cell, strict=True))
        ]
        known = dict(zip(by, cell, strict=True))
        if inside:
            key = cell_key(inside, keys, table.keysize)
        elif noise(table, 0, 0) == noise(table, 0, table.keysize - 1) == 0:
            key = 0
        else:
            key = empty_key(secret, known, table.keysize)
        drawn = noise(table, len(inside), key)
        row: dict[str, Any] = {name: None if one is TOTAL else one for name, one in known.items()}
        if margins:
            row["total_over"] = total_over(by, [known[name] is TOTAL for name in by])
        row |= {"count": len(inside) + drawn, "true_count": len(inside), "cell_key": key, "noise": drawn}
        if row["count"] > 0 or not only_positive:
            rows.append(row)
    return rows
