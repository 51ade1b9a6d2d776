"""Keys of cells and of sets of people: against slow code of their own, as random numbers, and as refused."""

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from support import slow_tables
from support.people import PEOPLE, TABLES, keyed, people

from tablebuilder_dp import microdata, sampling
from tablebuilder_dp.counts import perturbation_table
from tablebuilder_dp.counts.perturbation_table import PerturbationTable
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.microdata import cell_keys, cells, formats, records, secret, sources
from tablebuilder_dp.microdata.protection import largest
from tablebuilder_dp.microdata.record_keys import KEYS
from tablebuilder_dp.noise import AnyNoise, Geometric, Noise

Keys = NDArray[np.uint64]
SECRET = secret.Secret(slow_tables.SECRET)


def protected(noise: AnyNoise, *, way: str = "signed", cells: int | None = 64) -> microdata.Protection:
    """A small noise with a table of 2^64 keys, as a design gives it."""
    table = sampling.lookup_table(noise, keysize=2**64, rule=sampling.nearest)
    return microdata.Protection(table, noise, Fraction(1), Fraction(1, 2), cells, way)


NOISE, OTHER = Geometric(3, "0.5"), Noise(3, "0.2")
PROTECTIONS: dict[str, microdata.Protection] = {
    "signed": protected(NOISE),
    "clamped": protected(NOISE, way="clamped"),
    **{f"one cell, {way}": protected(OTHER, way=way, cells=None) for way in ("signed", "clamped")},
    **{
        f"table, {way}": microdata.Protection(table, OTHER, Fraction(1), Fraction(1, 2), None, way)
        for way, table in TABLES.items()
    },
}
ELSEWHERE = microdata.from_table(TABLES["clamped"])
EDITION = "2026, first"


# --- Against slow code ------------------------------------------------------------------------


@st.composite
def lists(draw: st.DrawFn, table: pa.Table, by: list[str], nested: list[list[str]]) -> dict[str, list[Any]]:
    """Categories in any order, of a hierarchy its paths, for some of the variables."""
    given_lists: dict[str, list[Any]] = {}
    within = {name for names in nested for name in names}
    for names in [*nested, *([name] for name in by if name not in within)]:
        found = list(dict.fromkeys(zip(*(table[name].to_pylist() for name in names), strict=True)))
        if not found or draw(st.booleans()):
            continue
        if draw(st.booleans()):  # also paths that nobody is on
            found = list(itertools.product(*map(dict.fromkeys, zip(*found, strict=True))))
        paths = [list(path) for path in draw(st.permutations(found))]
        given_lists[names[-1]] = paths if len(names) > 1 else [path[0] for path in paths]
    return given_lists


def stored(table: pa.Table, by: list[str], form: str, folder: Path) -> tuple[Any, pa.Table]:
    """The records in memory or in files, and what is read from there: CSV has texts only."""
    if form == "memory":
        return table, table
    if form == "folder":
        for place in range(3):
            formats.write(table.slice(place * 4, 4), folder / f"{place}.parquet")
        return folder, table
    path = folder / f"records.{form}"
    formats.write(table, path)
    if form == "parquet":
        return path, table
    texts = {
        name: table[name].cast(pa.string()) if name in by else table[name] for name in table.column_names
    }
    return path, pa.table(texts)


@given(st.data(), people())
def test_every_kind_of_key_agrees_with_loops_over_records(
    secret_file: Path,
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    found: tuple[pa.Table, list[str]],
) -> None:
    table, by = found
    kind = data.draw(st.sampled_from(cell_keys.KINDS))
    suited = {
        name: protection
        for name, protection in {**PROTECTIONS, "elsewhere": ELSEWHERE}.items()
        if (protection.noise is not None if kind == "cells" else protection.cells is None)
        and (kind != "sums" or isinstance(protection.table, PerturbationTable))
    }
    protection = suited[data.draw(st.sampled_from(sorted(suited)))]
    form = data.draw(st.sampled_from(["memory", "parquet", "csv", "folder"]))
    source, read = stored(table, by, form, tmp_path_factory.mktemp("records"))
    nested = [data.draw(st.permutations(by))[:2]] if len(by) > 1 and data.draw(st.booleans()) else []
    given_lists = data.draw(lists(read, by, nested))
    options: dict[str, Any] = {
        "by": by,
        "nested": nested,
        "margins": data.draw(st.booleans()),
        "only_positive": data.draw(st.booleans()),
    }
    made = microdata.perturb(
        source,
        protection=protection,
        keys=kind,
        edition=None if kind == "sums" else EDITION,
        secret_file=secret_file,
        categories=given_lists,
        categories_from_data=True,
        audit=True,
        **options,
    )
    expected = slow_tables.published(
        read.to_pylist(),
        protection.table,
        keys=KEYS,
        given=given_lists,
        secret=slow_tables.SECRET,
        kind=kind,
        edition=EDITION,
        digest=slow_tables.input_digest(slow_tables.SECRET, source),
        clamped=protection.small_counts == "clamped",
        **options,
    )
    assert made.table.to_pylist() == expected


# --- What a key depends on --------------------------------------------------------------------

LISTS: dict[str, list[Any]] = {"region": ["N", "S", None], "sex": ["F", "M", None], "age": [1, 2, 3]}


def keys_by_cell(secret_file: Path, source: Any = PEOPLE, **change: Any) -> dict[frozenset[Any], int]:
    """The key of each cell by what the cell is, of a table by region and sex with margins."""
    options: dict[str, Any] = {"by": ["region", "sex"], "margins": True, "categories": LISTS}
    options |= {"protection": PROTECTIONS["signed"], "edition": EDITION, "secret_file": secret_file, **change}
    made = microdata.perturb(source, **{"audit": True, **options})
    found = {}
    for row in made.table.to_pylist():
        totals = row.get("total_over", "").split(", ")
        cell = frozenset((name, row[name]) for name in options["by"] if name not in totals)
        found[cell] = row["cell_key"]
    assert len(found) == len(made.table)
    assert len(set(found.values())) == len(found)
    return found


@pytest.mark.parametrize(
    "change",
    [
        {"edition": "2026, second"},
        {"edition": EDITION + " "},
        {"source": PEOPLE.slice(1)},
        {"source": PEOPLE.take([1, 0, *range(2, 10)])},
        {"source": PEOPLE.set_column(2, "age", pa.array([1, 1, 2, 2, 1, 3, 3, 3, 3, 2], pa.int8()))},
        {"source": PEOPLE.drop_columns([KEYS[0]])},
        {"protection": protected(OTHER)},
        {"protection": protected(Geometric(3, "0.500000001"))},
    ],
    ids=["edition", "a space", "fewer", "order", "another column", "fewer columns", "noise", "weights"],
)
def test_what_makes_all_keys_new(secret_file: Path, change: dict[str, Any]) -> None:
    before, after = keys_by_cell(secret_file), keys_by_cell(secret_file, **change)
    assert before.keys() == after.keys()
    assert not set(before.values()) & set(after.values())


def test_another_secret_makes_all_keys_new(secret_file: Path, tmp_path: Path) -> None:
    secret.make(tmp_path / "key.bin", seed=1)
    assert not set(keys_by_cell(secret_file).values()) & set(keys_by_cell(tmp_path / "key.bin").values())


@pytest.mark.parametrize(
    "change",
    [
        {"by": ["sex", "region"]},
        {"by": ["age", "sex", "region"]},
        {"by": ["region", "age"]},
        {"by": ["region"], "margins": False},
        {"neighbours": "replace"},
        {"protection": protected(NOISE, way="clamped")},
        {"protection": protected(NOISE, cells=4)},
        {"protection": protected(NOISE, cells=None)},
        {"categories": {name: found[::-1] for name, found in LISTS.items()}},
        {"categories": {}, "categories_from_data": True},
        {
            "nested": [["region", "sex"]],
            "categories": {"sex": [list(p) for p in itertools.product("NS", "FM")]},
        },
        {"source": "stream"},
    ],
    ids=lambda change: " and ".join(change),
)
def test_what_leaves_the_key_of_a_cell_alone(secret_file: Path, change: dict[str, Any]) -> None:
    """A total is the same in every table of the same edition, records and noise."""
    if "source" in change:
        change = {"source": PEOPLE.to_reader()}
    if "nested" in change:
        known = PEOPLE.filter(pa.array([True, True, True, False, True, True, False, False, True, False]))
        before, after = keys_by_cell(secret_file, known), keys_by_cell(secret_file, known, **change)
    else:
        before, after = keys_by_cell(secret_file), keys_by_cell(secret_file, **change)
    shared = before.keys() & after.keys()
    assert len(shared) >= 3
    assert {cell: before[cell] for cell in shared} == {cell: after[cell] for cell in shared}


def test_streams_of_other_records_have_other_keys(secret_file: Path) -> None:
    whole, fewer = (keys_by_cell(secret_file, table.to_reader()) for table in (PEOPLE, PEOPLE.slice(1)))
    assert not set(whole.values()) & set(fewer.values())


def digest(source: Any) -> bytes:
    with cell_keys.input_digest(SECRET, source) as found:
        return found.result()


def test_every_byte_of_the_input_counts_and_its_name_does_not(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    data = b"sex,age\nF,1\nM,2\n"
    path.write_bytes(data)
    found = {digest(path)}
    assert found == {slow_tables.input_digest(slow_tables.SECRET, path)}
    (tmp_path / "b.csv").write_bytes(data)
    assert {digest(tmp_path / "b.csv"), digest(f"file:{path}")} == found
    for place, bit in itertools.product(range(8, len(data)), range(7)):
        changed = bytearray(data)
        changed[place] ^= 1 << bit
        path.write_bytes(changed)
        found.add(digest(path))
    for end in (b"", b"\n", b"F", bytes(8)):
        path.write_bytes(data[:-1] + end * 2)
        found.add(digest(path))
    assert len(found) == 1 + 7 * (len(data) - 8) + 4
    hidden = secret.Secret(bytes(32))
    path.write_bytes(data)
    with cell_keys.input_digest(hidden, path) as other:
        assert other.result() not in found


def test_files_of_a_folder_are_told_apart(tmp_path: Path) -> None:
    """The same bytes in other files: split elsewhere, in another order, or with an empty one more."""
    found = set()
    parts = [[PEOPLE], [PEOPLE.slice(0, 4), PEOPLE.slice(4)], [PEOPLE.slice(4), PEOPLE.slice(0, 4)]]
    parts += [
        [PEOPLE.slice(0, 5), PEOPLE.slice(5)],
        [PEOPLE, PEOPLE.slice(0, 0)],
        [PEOPLE.slice(0, 0), PEOPLE],
    ]
    for number, tables in enumerate(parts):
        folder = tmp_path / str(number)
        folder.mkdir()
        for place, table in enumerate(tables):
            formats.write(table, folder / f"{place}.parquet")
        assert digest(folder) == slow_tables.input_digest(slow_tables.SECRET, folder)
        found.add(digest(folder))
        (folder / "_SUCCESS").touch()
        assert digest(folder) in found  # not read, so not a part of it
    assert len(found) == len(parts)


def test_no_two_lists_of_fields_are_encoded_alike() -> None:
    fields = [(b"ab", b"c"), (b"a", b"bc"), (b"abc", b""), (b"", b"abc"), (b"abc",), (b"a", b"b", b"c")]
    assert len({secret.encoded(*each) for each in fields}) == len(fields)
    assert len({SECRET.key("p", *each) for each in fields}) == len(fields)
    texts = pa.array(["x"])
    parts = [("ab", b"c", b"d"), ("a", b"bc", b"d"), ("ab", b"cd", b""), ("abc", b"", b"d")]
    found = {
        int(cell_keys.of_cells(SECRET, texts, edition=edition, digest=digest, weights=weights)[0])
        for edition, digest, weights in parts
    }
    assert len(found) == len(parts)


def test_an_empty_cell_and_a_set_of_people_never_share_a_key() -> None:
    """Also if the text of the one has the bytes of the other."""
    text = "x" * 32
    sums = np.frombuffer(text.encode(), dtype=">u8").astype(np.uint64)[None]
    options: dict[str, Any] = {"edition": "1", "weights": b"w"}
    [empty] = cell_keys.of_records(SECRET, np.zeros((1, 4), np.uint64), pa.array([text]), **options)
    [people_key] = cell_keys.of_records(SECRET, sums, pa.array([text]), **options)
    [cell] = cell_keys.of_cells(SECRET, pa.array([text]), edition="1", digest=b"", weights=b"w")
    assert len({empty, people_key, cell}) == 3


# --- Real keys as random numbers --------------------------------------------------------------

LINES = 100_000
STANDARD_ERRORS = 5


def lines() -> pa.Table:
    """Two women and a man in each of many lines; the total of a line is the third cell of it."""
    line = np.repeat(np.arange(LINES), 3)
    return keyed({"line": line, "sex": np.tile(["F", "F", "M"], LINES)}, seed=8)


@pytest.fixture(scope="module", params=["cells", "records", "sums"])
def line_keys(request: pytest.FixtureRequest, secret_file: Path) -> tuple[str, list[Keys]]:
    """The kind, and the leading 32 bits of the keys of women, men and everybody in each line."""
    return request.param, list(keys_of_lines(request.param, secret_file))


def keys_of_lines(kind: str, secret_file: Path) -> Iterator[Keys]:
    protection = PROTECTIONS["one cell, signed" if kind != "sums" else "table, rows"]
    made = microdata.perturb(
        lines(),
        by=["line", "sex"],
        margins=True,
        protection=protection,
        keys=kind,
        edition=None if kind == "sums" else "1",
        secret_file=secret_file,
        categories={"line": range(LINES), "sex": ["F", "M"]},
        audit=True,
    ).table
    for sex, over in (("F", ""), ("M", ""), (None, "sex")):
        chosen = np.array(
            [
                s == sex and t == over
                for s, t in zip(made["sex"].to_pylist(), made["total_over"].to_pylist(), strict=True)
            ]
        )
        yield made["cell_key"].to_numpy()[chosen] >> np.uint64(0 if kind == "sums" else 32)


def biases(keys: list[Keys], bits: list[int]) -> NDArray[np.float64]:
    """For every choice of some bits of some keys, by how many standard errors their XOR is not fair.

    The Walsh–Hadamard transform of how often each pattern occurs has Σ(−1)^parity of all choices at once.
    """
    pattern = np.zeros(len(keys[0]), dtype=np.int64)
    for key, bit in itertools.product(keys, bits):
        pattern = 2 * pattern + (key >> np.uint64(bit) & np.uint64(1)).astype(np.int64)
    size = len(keys) * len(bits)
    sums = np.bincount(pattern, minlength=2**size).astype(np.float64).reshape((2,) * size)
    for axis in range(size):
        even, odd = np.split(sums, 2, axis=axis)
        sums = np.concatenate([even + odd, even - odd], axis=axis)
    found: NDArray[np.float64] = sums.reshape(-1)[1:] / np.sqrt(len(pattern))
    return found


@pytest.mark.parametrize("bits", [[31, 30, 29], [31, 15, 0], [2, 1, 0]])
def test_parities_of_a_cell_its_complement_and_their_total(
    line_keys: tuple[str, list[Keys]], bits: list[int]
) -> None:
    """All XORs of up to nine bits are fair, but for sums, whose carries tie the three keys together."""
    kind, keys = line_keys
    assert {len(key) for key in keys} == {LINES}
    fair = np.abs(biases(keys, bits)).max() < STANDARD_ERRORS
    assert fair == (kind != "sums")


def test_keys_are_uniform(line_keys: tuple[str, list[Keys]]) -> None:
    kind, keys = line_keys
    for key, byte in itertools.product(keys, range(4)):
        counted = np.bincount((key >> np.uint64(8 * byte) & np.uint64(255)).astype(np.int64), minlength=256)
        assert stats.chisquare(counted).pvalue > 1e-6, (kind, byte)


def noises(
    secret_file: Path, source: pa.Table, noise: AnyNoise, edition: str, kind: str
) -> NDArray[np.int64]:
    """The noise of each line."""
    protection = protected(noise, cells=None)
    options: dict[str, Any] = {"by": ["line"], "categories": {"line": range(LINES)}, "audit": True}
    made = microdata.perturb(
        source, protection=protection, keys=kind, edition=edition, secret_file=secret_file, **options
    )
    found: NDArray[np.int64] = made.table["noise"].to_numpy()
    return found


@pytest.mark.unmeasured
@pytest.mark.parametrize("kind", ["cells", "records"])
def test_noises_of_two_designs_editions_and_inputs_are_independent(secret_file: Path, kind: str) -> None:
    """By a chi-square test of all pairs of noises of the same cells."""
    one: AnyNoise = Geometric(1, "0.5")
    two: AnyNoise = Noise(2, "0.3")
    everybody = lines()
    fewer = everybody.filter(pa.array(np.arange(3 * LINES) % 3 > 0))
    found = {
        "first": (noises(secret_file, everybody, one, "1", kind), one),
        "edition": (noises(secret_file, everybody, one, "2", kind), one),
        "design": (noises(secret_file, everybody, two, "1", kind), two),
        "records": (noises(secret_file, fewer, one, "1", kind), one),
    }
    again = noises(secret_file, everybody, one, "1", kind)
    assert np.array_equal(found["first"][0], again)
    for (first, p), (second, q) in itertools.combinations(found.values(), 2):
        joint = np.zeros((2 * p.support + 1, 2 * q.support + 1))
        np.add.at(joint, (first + p.support, second + q.support), 1)
        masses = [np.array(largest(protected(noise).table).weights) / 2**64 for noise in (p, q)]
        assert stats.chisquare(joint.reshape(-1), LINES * np.outer(*masses).reshape(-1)).pvalue > 1e-6
        assert abs(np.corrcoef(first, second)[0, 1]) < STANDARD_ERRORS / np.sqrt(LINES)


def test_sums_know_no_edition() -> None:
    options: dict[str, Any] = {"by": ["region", "sex"], "protection": PROTECTIONS["table, rows"]}
    made = microdata.perturb(PEOPLE, keys="sums", **options)
    assert made.edition is None
    assert "edition" not in made.statement
    with pytest.raises(ValueError, match="^edition must be left out for keys that are sums, got '1'$"):
        microdata.perturb(PEOPLE, keys="sums", edition="1", **options)


def test_the_leading_bits_are_taken() -> None:
    keys = np.array([0, 1, 2**32, 2**63, 2**64 - 1], dtype=np.uint64)
    assert cell_keys.reduced(keys, 2**64).tolist() == keys.tolist()
    assert cell_keys.reduced(keys, 2**32).tolist() == [0, 0, 1, 2**31, 2**32 - 1]
    assert cell_keys.reduced(keys, 2).tolist() == [0, 0, 0, 1, 1]
    assert cell_keys.reduced(keys, 1).tolist() == [0] * 5
    for keysize in (3, 10**6, 2**63 + 1):
        with pytest.raises(
            ValueError, match=f"keysize must be a power of 2 for keys of cells or records, got {keysize}"
        ):
            cell_keys.reduced(keys, keysize)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=20), st.integers(0, 64))
def test_reduced_keys_are_shares_of_all_keys(keys: list[int], bits: int) -> None:
    found = cell_keys.reduced(np.array(keys, dtype=np.uint64), 2**bits)
    assert found.tolist() == [key * 2**bits // 2**64 for key in keys]


# --- What is refused --------------------------------------------------------------------------


def at_work() -> list[str]:
    """The threads that still read or count."""
    return [one.name for one in threading.enumerate() if one.name.startswith("ThreadPoolExecutor")]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no edition": ({"edition": None}, "edition must be given for keys of cells"),
    "an empty edition": ({"edition": ""}, "edition must be given for keys of cells"),
    "a number": ({"edition": 2026}, "edition must be a text such as '2026', got 2026 (int)"),
    "no UTF-8": (
        {"edition": "\udcff"},
        "edition must be a text that can be printed on one line, got '\\udcff'",
    ),
    "no secret": ({"secret_file": None}, "secret_file must be given for keys of cells"),
    "no secret for records": (
        {"keys": "records", "protection": ELSEWHERE, "secret_file": None},
        "secret_file must be given for keys of records",
    ),
    "no edition for records": (
        {"keys": "records", "protection": ELSEWHERE, "edition": None},
        "edition must be given for keys of records",
    ),
    "record keys": (
        {"record_keys": KEYS},
        f"record_keys must be left out for keys of cells, which need none, got {KEYS!r}",
    ),
    "one record key": (
        {"keys": "records", "protection": ELSEWHERE, "record_keys": KEYS[:1]},
        f"record_keys must be four different columns, got {KEYS[:1]!r}",
    ),
    "a table from elsewhere": (
        {"keys": "cells", "protection": ELSEWHERE},
        "keys must be records or sums for a table from elsewhere, got 'cells'",
    ),
    "records for a whole table": (
        {"keys": "records"},
        "keys must be cells for a promise about a whole table, got 'records'",
    ),
    "sums for a whole table": (
        {"keys": "sums"},
        "keys must be cells for a promise about a whole table, got 'sums'",
    ),
    "short record keys": (
        {
            "source": pa.table({"sex": ["F", "M"] * 500, **dict.fromkeys(KEYS, range(1, 1001))}),
            "by": ["sex"],
            "categories": {},
            "keys": "records",
            "protection": microdata.from_table(
                perturbation_table.build(OfVariance(3, 2), keysize=256, small_counts="clamped")
            ),
        },
        "record_keys must be spread over all of [0, 4294967296), which "
        "record_key_1, record_key_2, record_key_3, record_key_4 are not",
    ),
    "no kind": ({"keys": "sum"}, "keys must be one of cells, records, sums, got 'sum'"),
    "too few cells": (
        {"protection": protected(NOISE, cells=3), "margins": True},
        "protection must be designed for at least 4 cells, which one person can change in this table, got 3",
    ),
    "too few cells to replace": (
        {"protection": protected(NOISE, cells=5), "margins": True, "neighbours": "replace"},
        "protection must be designed for at least 6 cells, which one person can change in this table, got 5",
    ),
    "no such neighbours": (
        {"neighbours": "both"},
        "neighbours must be one of add-or-remove, replace, got 'both'",
    ),
    "no categories": (
        {"categories": None},
        "categories must list those of region, sex, as no promise holds for lists that come from the "
        "records; to do without a promise, take categories from the data",
    ),
    "a list of null": (
        {"categories": {**LISTS, "sex": None}},
        "categories must be a list of different categories of 'sex', got None",
    ),
    "a number for a list": (
        {"categories": {**LISTS, "sex": 2}, "neighbours": "replace"},
        "categories must be a list of different categories of 'sex', got 2",
    ),
    "a text for a list": (
        {"categories": {**LISTS, "sex": "FM"}},
        "categories must be a list of different categories of 'sex', got 'FM'",
    ),
    "an empty list": (
        {"categories": {**LISTS, "sex": []}},
        "categories must be a list of different categories of 'sex', got []",
    ),
    "lists without names": (
        {"categories": ["F", "M"]},
        "categories must be lists by the names of columns, got ['F', 'M'] (list)",
    ),
    "a coarser list": (
        {"nested": [["region", "sex"]]},
        "categories must be without 'region', which follows from the paths of 'sex', got "
        "['age', 'region', 'sex']",
    ),
    "no paths": (
        {"nested": [["region", "sex"]], "categories": {"sex": ["F", "M"]}},
        "categories must be different paths (region, sex) for 'sex', such as ['a', 'b'], got ['F', 'M']",
    ),
    "a path twice": (
        {"nested": [["region", "sex"]], "categories": {"sex": [["N", "F"], ["N", "F"]]}},
        "categories must be different paths (region, sex) for 'sex', such as ['a', 'b'], got "
        "[['N', 'F'], ['N', 'F']]",
    ),
    "paths that are not listed": (
        {
            "nested": [["region", "sex"]],
            "categories": {"sex": [["N", "F"], ["S", "M"], ["S", None], [None, "M"]]},
        },
        "categories of 'sex' must list all paths that occur, but 4 are not in the list",
    ),
    "paths that are not listed, though only positive ones are wanted": (
        {
            "nested": [["region", "age"]],
            "by": ["region", "age"],
            "categories": {"age": [["N", 1], ["N", 2], ["S", 1], ["S", 3], [None, 3]]},
            "protection": PROTECTIONS["table, rows"],
            "only_positive": True,
        },
        "categories of 'age' must list all paths that occur, but 1 is not in the list",
    ),
    "a place that only Spark reads": (
        {"source": "hdfs://there/people.parquet", "spark": object()},
        "records must be files that this machine can read, as keys of cells need their bytes, got "
        "'hdfs://there/people.parquet'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_belong_together_is_refused_in_one_sentence(
    secret_file: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, message = REFUSED[name]
    if "spark" in change:
        opened = records.opened
        monkeypatch.setattr(records, "opened", lambda _source, **_: opened(PEOPLE))
    options: dict[str, Any] = {"source": PEOPLE, "by": ["region", "sex"], "categories": LISTS}
    options |= {"protection": PROTECTIONS["signed"], "edition": EDITION, "secret_file": secret_file}
    options |= change
    with pytest.raises((ValueError, TypeError)) as refused:
        microdata.perturb(options.pop("source"), **options)
    assert str(refused.value) == message
    assert at_work() == []


def longer(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"N,F\n")


def touched(path: Path) -> None:
    os.utime(path, ns=(1, 1))


@pytest.mark.parametrize("change", [longer, touched])
def test_a_file_that_changes_while_it_is_read_is_refused(
    secret_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    path = tmp_path / "records.csv"
    formats.write(PEOPLE, path)
    count = cells.count

    def changing(*arguments: Any, **options: Any) -> Any:
        found = count(*arguments, **options)
        change(path)
        return found

    options: dict[str, Any] = {"by": ["region"], "protection": PROTECTIONS["signed"], "categories": LISTS}
    options |= {"edition": "1", "secret_file": secret_file}
    assert len(microdata.perturb(path, **options).table) == 3
    monkeypatch.setattr(cells, "count", changing)
    with pytest.raises(
        ValueError, match="^records must stay as they are while they are read, but a file was changed$"
    ):
        microdata.perturb(path, **options)
    assert [file.name for file in tmp_path.iterdir()] == ["records.csv"]


def test_nothing_more_is_read_after_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "records.csv"
    path.write_bytes(b"a\n" + bytes(1 << 26))
    monkeypatch.setattr(sources, "files", lambda source: sources.Files((source,), ()))
    read: list[int] = []

    class Tag:
        tag = b""

        def authenticate_additional_data(self, part: bytes) -> None:
            read.append(len(part))
            stopped.wait(10)

        def finalize(self) -> bytes:
            return b""

    stopped = threading.Event()
    monkeypatch.setattr(Cipher, "encryptor", lambda _: Tag())

    def interrupted() -> None:
        with cell_keys.input_digest(SECRET, path):
            while not read:
                pass
            threading.Timer(0.05, stopped.set).start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert sum(read) < 1 << 26
    assert at_work() == []
