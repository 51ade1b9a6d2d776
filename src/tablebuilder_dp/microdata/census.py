"""A made-up census to try things on: people in households, with few and with many in a cell.

It is drawn chunk by chunk, so any number of records takes little memory, and every chunk has random
numbers of its own: the same seed gives the same people, however many are asked for. Nobody in it exists,
nor do the regions. The draws use raw bits and integer tables only, so they stay the same from one version
of NumPy to the next; the bytes of a file are the same for one version of PyArrow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.random import PCG64, SeedSequence
from numpy.typing import NDArray

from tablebuilder_dp.microdata import formats
from tablebuilder_dp.support import files, parameters

CHUNK = 122_880
"""Records drawn at once, one row group of Parquet: a household never crosses its end."""

RECORDS_MAX = 2 * 10**9
SEED_MAX = 2**128

REGIONS = (
    *("Velmora", "Tarquenna", "Ostrevell", "Brundamar", "Quillosse", "Harvendel", "Zelkaria", "Pellowyn"),
    *("Drasmère", "Calvoth", "Éspérine", "Ulvanger", "Morvisca", "Threndelow", "Kastovy", "Lirandel"),
    *("Bexomoor", "Ødrevik", "Fanterra", "Gwendrasse", "Ilmatova", "Jorvessa", "Rusklund", "Sombrava"),
    *("Wendolac", "Xantrelle", "Yarvick", "Abrelund", "Coristane", "Dovrelle", "Eskadine", "Fjällvessa"),
    *("Grivonne", "Hollisca", "Întreval", "Kelvossa", "Lundrava", "Müsteren", "Nordivale", "Oakenverre"),
    *("Prunsk", "Ravodice", "São Belvar", "Tolmessy", "Uldrigen", "Vostralle", "Łomirov", "Čermava"),
    *("Pont-Averil", "Imbrelay"),
)
"""Fifty invented names, the region with the most people first."""

AGES = (*(f"{start:02}-{start + 4:02}" for start in range(0, 95, 5)), "95+")
SEXES = ("F", "M")
OCCUPATIONS = (
    *("none", "student", "retired", "office", "service", "craft", "teaching", "health", "farming", "mining"),
)

MISSING = {"region": 0.0005, "age": 0.003, "sex": 0.001, "occupation": 0.01}
"""The share of missing values in each column."""

SCHEMA = pa.schema(
    [("person_id", pa.int64()), ("household_id", pa.int64())]
    + [(name, pa.dictionary(pa.int8(), pa.string())) for name in ("region", "age", "sex", "occupation")]
)

Codes = NDArray[np.int8]
Draws = NDArray[np.uint16]


def write_census(
    path: str | Path, *, records: int, seed: int = 1, progress: Callable[[int], None] | None = None
) -> None:
    """Write this many made-up people to a Parquet or CSV file; a missing value is null, or an empty field.

    ``progress`` is called after each chunk with the number of records done. An interrupted run leaves
    no file, and an older one as it was.

    Raises OSError where the file cannot be written.

    >>> write_census("people.txt", records=1000)
    Traceback (most recent call last):
    ...
    ValueError: output must be a file whose name ends in .parquet or .csv, got 'people.txt'
    """
    chunks = batches(records, seed=seed)
    done = 0
    with formats.writer(path, SCHEMA, plain=("person_id", "household_id")) as writer:
        for batch in chunks:
            writer.write_batch(batch)
            done += batch.num_rows
            if progress is not None:
                progress(done)


def write_categories(path: str | Path) -> Path:
    """Write the categories of the census beside a file of it, as `perturb` takes them, missing ones included.

    Returns the path of the JSON file. Raises OSError where it cannot be written.
    """
    lists = {"region": REGIONS, "age": AGES, "sex": SEXES, "occupation": OCCUPATIONS}
    beside = Path(path).with_suffix(".categories.json")
    with files.whole(beside) as temporary:
        text = json.dumps(
            {name: [*known, None] for name, known in lists.items()}, ensure_ascii=False, indent=1
        )
        temporary.write_text(f"{text}\n", encoding="utf-8")
    return beside


def batches(records: int, *, seed: int = 1) -> Iterator[pa.RecordBatch]:
    """The same people as record batches of ``CHUNK`` rows, the last one cut.

    >>> [batch.num_rows for batch in batches(200_000, seed=1)]
    [122880, 77120]
    >>> next(batches(3, seed=1)).column("region").to_pylist()
    ['Velmora', 'Harvendel', 'Calvoth']
    """
    count = parameters.integer(records, "records", low=1, high=RECORDS_MAX)
    start = parameters.integer(seed, "seed", low=0, high=SEED_MAX)
    return (_chunk(start, i).slice(0, count - i * CHUNK) for i in range(-(-count // CHUNK)))


def _table(*rows: Sequence[float], missing: float = 0) -> Codes:
    """For each row of weights 2^16 codes in these proportions, the one after the last for missing values."""
    weights = np.array(rows)
    shares = weights / weights.sum(axis=1, keepdims=True) * (1 - missing)
    edges = np.rint(np.cumsum(shares, axis=1) * 2**16)
    draws = np.arange(2**16)
    return np.stack([np.searchsorted(row, draws, side="right") for row in edges]).astype(np.int8)


_SIZE = _table([0, 31, 33, 14, 13, 6, 2, 1])
"""How many live in a household."""

_REGION = _table([(rank + 6) ** -2.85 for rank in range(len(REGIONS))], missing=MISSING["region"])

_HEAD = _table(
    [0, 0, 0, 4, 50, 75, 75, 65, 58, 58, 65, 75, 80, 85, 85, 80, 65, 38, 12, 2],
    [0, 0, 0, 2, 35, 60, 55, 45, 42, 50, 75, 95, 105, 105, 100, 75, 40, 15, 3, 0.4],
    [0, 0, 0, 1, 18, 70, 130, 165, 165, 145, 110, 75, 45, 28, 18, 10, 5, 2, 0.5, 0.1],
)
"""The age of the first person in a household of one, of two, of more."""

_YOUNGEST, _PARTNER, _ADULT = -8, -2, 3
_OFFSET = _table(
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0],
    [1, 3, 5, 4, 2, 0, 8, 20, 40, 14, 4, 0, 0, 0],
    [4, 15, 33, 32, 13, 0, 0, 0, 0, 0, 0, 0, 1, 2],
)
"""Bands between the first person and the first, second and any other one, counted from ``_YOUNGEST``:
a partner is within two bands, a child four to eight below, a parent four or five above."""

_PHASE = np.array([0, 0, 0, 1, 2, *[3] * 7, 4, 5, 6, 6, 6, 7, 7, 7], dtype=np.int8)
"""Ages with the same shares of sexes and occupations."""

_SEX = _table(*([f, 1000 - f] for f in (488, 487, 490, 500, 510, 525, 560, 660)), missing=MISSING["sex"])

_OCCUPATION = _table(
    [1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [80, 780, 0, 20, 70, 40, 0, 6, 4, 0],
    [90, 330, 0, 160, 200, 130, 30, 50, 8, 2],
    [110, 15, 5, 300, 190, 170, 85, 105, 16, 4],
    [130, 0, 340, 190, 120, 100, 50, 60, 9, 1],
    [60, 0, 800, 50, 30, 20, 12, 15, 12, 1],
    [25, 0, 955, 7, 4, 3, 2, 1, 3, 0],
    [10, 0, 988, 1, 0, 0, 0, 0, 1, 0],
    missing=MISSING["occupation"],
)

_PERSON, _HOUSEHOLD = 0x9E3779B1, 0x85EBCA6B
"""Odd factors that scatter the two kinds of number."""


def _chunk(seed: int, index: int) -> pa.RecordBatch:
    """Chunk ``index`` of the census: households one after the other, the last one cut at its end."""
    bits = PCG64(SeedSequence(seed, spawn_key=(index,)))
    draws = bits.random_raw(2 * CHUNK).astype("<u8", copy=False).view("<u2").reshape(8, CHUNK)
    size, region, head, offset, unknown, sex, occupation, _ = draws
    sizes, starts = _households(_SIZE[0].take(size))
    heads = _drawn(_HEAD, np.minimum(sizes, 3) - 1, head[: len(sizes)])
    position = np.arange(CHUNK) - np.repeat(starts, sizes)
    age = _ages(np.repeat(heads, sizes), _drawn(_OFFSET, np.minimum(position, 2), offset) + _YOUNGEST)
    phase = _PHASE.take(age)
    numbers = np.arange(index * CHUNK, (index + 1) * CHUNK)
    columns = [
        _scattered(numbers, _PERSON),
        np.repeat(_scattered(numbers[: len(sizes)], _HOUSEHOLD), sizes),
        _text(np.repeat(_REGION[0].take(region[: len(sizes)]), sizes), REGIONS),
        _text(np.where(unknown < round(MISSING["age"] * 2**16), len(AGES), age), AGES),
        _text(_drawn(_SEX, phase, sex), SEXES),
        _text(_drawn(_OCCUPATION, phase, occupation), OCCUPATIONS),
    ]
    return pa.record_batch(columns, schema=SCHEMA)


def _households(sizes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sizes of the first households that together have ``CHUNK`` people, and where each starts."""
    ends = np.cumsum(sizes, dtype=np.int64)
    ends = np.append(ends[ends < CHUNK], CHUNK)
    starts = np.append(0, ends[:-1])
    return ends - starts, starts


def _drawn(table: Codes, rows: NDArray[Any], draws: Draws) -> Codes:
    return table.reshape(-1).take((rows.astype(np.int32) << 16) | draws)


def _ages(head: Codes, offset: Codes) -> Codes:
    """The head's partner and parents are adults, children at least in the lowest band."""
    lowest = np.where(offset >= _PARTNER, np.int8(_ADULT), np.int8(0))
    ages: Codes = np.clip(head + offset, lowest, np.int8(len(AGES) - 1))
    return ages


def _scattered(numbers: NDArray[np.int64], factor: int) -> NDArray[np.int64]:
    """Numbers of ten digits in no order, a different one for each number below 2^32 − 1.

    An odd factor modulo 2^32 has an inverse, and so has the XOR with the upper half.
    """
    mixed = (numbers + 1).astype(np.uint32) * np.uint32(factor)
    mixed ^= mixed >> np.uint32(16)
    mixed *= np.uint32(factor)
    return mixed.astype(np.int64) + 10**9


def _text(codes: Codes, categories: Sequence[str]) -> pa.DictionaryArray:
    indices = pa.array(codes, type=pa.int8(), mask=codes == len(categories))
    return pa.DictionaryArray.from_arrays(indices, pa.array(categories))
