"""The made-up census: repeatable, streamed, and of the shape that it promises."""

import csv
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from tablebuilder_dp.microdata import census

SEEN = 400_000
TEXT = {
    "region": census.REGIONS,
    "age": census.AGES,
    "sex": census.SEXES,
    "occupation": census.OCCUPATIONS,
}


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(census, "CHUNK", 1000)
    return 1000


@pytest.fixture(scope="module")
def people() -> dict[str, list[Any]]:
    """Enough records to see a share of 0.05% to within a quarter of it."""
    return people_of(SEEN)


def people_of(records: int, *, seed: int = 1) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = pa.Table.from_batches(census.batches(records, seed=seed)).to_pydict()
    return found


def bands(ages: list[str | None]) -> list[int | None]:
    return [None if age is None else census.AGES.index(age) for age in ages]


def members(columns: dict[str, list[Any]], name: str) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for household, value in zip(columns["household_id"], columns[name], strict=True):
        found.setdefault(household, []).append(value)
    return found


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(
    ending: str, tmp_path: Path, small_chunks: int
) -> None:
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        census.write_census(tmp_path / f"{name}.{ending}", records=2500, seed=seed)
    first, again, other = ((tmp_path / f"{name}.{ending}").read_bytes() for name in "abc")
    assert first == again
    assert first != other


def test_the_people_of_a_seed_stay_the_same_for_good() -> None:
    """The first records of seed 1 as first drawn: a change would alter every census ever made."""
    first = pa.Table.from_batches(census.batches(3, seed=1)).to_pylist()
    assert [tuple(row.values()) for row in first] == [
        (2121937830, 1546650752, "Velmora", "40-44", "F", "office"),
        (1202232652, 3441166699, "Harvendel", "75-79", "F", "office"),
        (1670863653, 3300568662, "Calvoth", "45-49", "F", "office"),
    ]


@pytest.mark.parametrize("records", [1, 999, 1000, 1001, 2000, 2345])
def test_the_first_records_do_not_depend_on_how_many_there_are(records: int, small_chunks: int) -> None:
    longest = people_of(3000)
    assert people_of(records) == {name: values[:records] for name, values in longest.items()}


def test_chunks_are_drawn_independently(small_chunks: int) -> None:
    one, two = (batch.column("age").to_pylist() for batch in census.batches(2000, seed=1))
    assert one != two
    seeds = [people_of(1000, seed=seed)["age"] for seed in (0, 1, 2**32, 2**32 + 1, 2**128)]
    assert len({str(ages) for ages in [one, two, *seeds]}) == 6  # `one` is the census of seed 1


def test_ids_are_unique_of_ten_digits_and_in_no_order(small_chunks: int) -> None:
    columns = people_of(50_000)
    ids = np.array(columns["person_id"])
    assert len(np.unique(ids)) == 50_000
    assert ids.min() >= 10**9
    assert ids.max() < 10**10
    rises = (np.diff(ids) > 0).mean()
    assert 0.45 < rises < 0.55
    assert abs(np.corrcoef(ids, np.arange(50_000))[0, 1]) < 0.02


@pytest.mark.parametrize("factor", [census._PERSON, census._HOUSEHOLD])
def test_scattering_can_be_undone(factor: int) -> None:
    """The inverse shows that no two of the numbers below the largest census meet."""
    numbers = np.array([0, 1, 2, 122_880, 2**31, census.RECORDS_MAX, census.RECORDS_MAX + census.CHUNK])
    inverse = pow(factor, -1, 2**32)
    for number, scattered in zip(numbers.tolist(), census._scattered(numbers, factor).tolist(), strict=True):
        mixed = (scattered - 10**9) * inverse % 2**32
        assert (mixed ^ mixed >> 16) * inverse % 2**32 == number + 1


def test_households_share_a_region_and_stay_in_a_chunk(small_chunks: int) -> None:
    columns = people_of(20_000)
    assert all(len(set(regions)) == 1 for regions in members(columns, "region").values())
    sizes = Counter(columns["household_id"])
    assert set(sizes.values()) == set(range(1, 8))
    chunks = [set(batch.column("household_id").to_pylist()) for batch in census.batches(20_000, seed=1)]
    assert sum(map(len, chunks)) == len(sizes)
    changes = np.count_nonzero(np.diff(columns["household_id"]))
    assert changes + 1 == len(sizes)  # the members of a household follow one another


def test_households_are_plausible(people: dict[str, list[Any]]) -> None:
    homes = members({**people, "age": bands(people["age"])}, "age")
    firsts = [ages[0] for ages in homes.values() if ages[0] is not None]
    assert min(firsts) >= 3
    pairs = [(a, b) for a, b, *_ in (ages for ages in homes.values() if len(ages) > 1) if None not in (a, b)]
    assert all(abs(a - b) <= 2 or b < a - 2 for a, b in pairs)
    assert all(b >= 3 for a, b in pairs if b >= a - 2)
    assert 0.7 < sum(abs(a - b) <= 2 for a, b in pairs) / len(pairs) < 0.95
    younger = [other < ages[0] for ages in homes.values() if None not in ages for other in ages[2:]]
    assert 0.95 < sum(younger) / len(younger) < 1


@pytest.mark.parametrize("name", TEXT)
def test_every_category_occurs_and_no_other(name: str, people: dict[str, list[Any]]) -> None:
    assert set(people[name]) == {*TEXT[name], None}
    assert len(set(TEXT[name])) == {"region": 50, "age": 20, "sex": 2, "occupation": 10}[name]


@pytest.mark.parametrize(
    ("name", "share"), [("region", 0.0005), ("age", 0.003), ("sex", 0.001), ("occupation", 0.01)]
)
def test_shares_of_missing_values(name: str, share: float, people: dict[str, list[Any]]) -> None:
    assert people[name].count(None) / SEEN == pytest.approx(share, rel=0.25)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("region", 0.0003, 0.0007), ("age", 0.0005, 0.0012), ("sex", 0.48, 0.5), ("occupation", 0.0015, 0.003)],
)
def test_the_smallest_category_is_as_small_as_promised(
    name: str, low: float, high: float, people: dict[str, list[Any]]
) -> None:
    counts = Counter(people[name])
    del counts[None]
    assert low < min(counts.values()) / SEEN < high


@pytest.mark.unmeasured
def test_regions_are_listed_by_size_and_the_smallest_cells_hold_few_people(
    people: dict[str, list[Any]],
) -> None:
    sizes = [Counter(people["region"])[region] for region in census.REGIONS]
    assert sizes[:12] == sorted(sizes[:12], reverse=True)
    assert sizes[0] > 400 * sizes[-1]
    cells = Counter(zip(*(people[name] for name in TEXT), strict=True))
    assert all(sum(size == few for size in cells.values()) > 500 for few in (1, 2, 3))


def test_occupations_follow_age(people: dict[str, list[Any]]) -> None:
    by_age: dict[Any, Counter[Any]] = {}
    for age, occupation in zip(people["age"], people["occupation"], strict=True):
        by_age.setdefault(age, Counter())[occupation] += 1
    for age in census.AGES[:3]:
        assert set(by_age[age]) == {"none", None}
    assert by_age["15-19"].most_common(1)[0][0] == "student"
    for age in census.AGES[14:]:
        assert by_age[age]["retired"] > 0.9 * by_age[age].total()


def test_both_formats_hold_the_batches(tmp_path: Path, small_chunks: int) -> None:
    rows = [tuple(row.values()) for row in pa.Table.from_batches(census.batches(2500, seed=3)).to_pylist()]
    assert any(None in row for row in rows)
    for name in ("people.parquet", "people.csv"):
        census.write_census(tmp_path / name, records=2500, seed=3)
    stored = pyarrow.parquet.read_table(tmp_path / "people.parquet")
    assert [tuple(row.values()) for row in stored.to_pylist()] == rows
    text = (tmp_path / "people.csv").read_bytes()
    assert b"\r" not in text
    header, *lines = csv.reader(text.decode().splitlines())
    assert (
        header == ["person_id", "household_id", "region", "age", "sex", "occupation"] == stored.column_names
    )
    assert [(int(a), int(b), *(field or None for field in rest)) for a, b, *rest in lines] == rows


def test_parquet_columns_have_plain_types_and_a_row_group_a_chunk(tmp_path: Path, small_chunks: int) -> None:
    census.write_census(tmp_path / "people.parquet", records=2500)
    stored = pyarrow.parquet.ParquetFile(tmp_path / "people.parquet")
    assert [stored.metadata.row_group(i).num_rows for i in range(3)] == [1000, 1000, 500]
    kinds = {column.name: column.physical_type for column in stored.schema}
    assert kinds == {"person_id": "INT64", "household_id": "INT64"} | dict.fromkeys(TEXT, "BYTE_ARRAY")


def peak(path: Path, chunks: int) -> int:
    """The most that PyArrow and Python hold while so many chunks are written."""
    held: list[int] = []
    tracemalloc.start()  # NumPy reports its arrays to it
    try:
        census.write_census(
            path, records=chunks * census.CHUNK, progress=lambda _: held.append(pa.total_allocated_bytes())
        )
        return max(held) + tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_memory_does_not_grow_with_the_records(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(census, "CHUNK", 20_000)
    peak(tmp_path / f"first.{ending}", 1)
    few, many = (peak(tmp_path / f"{chunks}.{ending}", chunks) for chunks in (2, 20))
    assert many < 1.2 * few + 100_000  # a chunk alone takes 400 000 bytes


def test_progress_counts_the_records_done(tmp_path: Path, small_chunks: int) -> None:
    done: list[int] = []
    census.write_census(tmp_path / "people.csv", records=2500, progress=done.append)
    assert done == [1000, 2000, 2500]


@pytest.mark.parametrize("name", ["people.parquet", "people.csv"])
@pytest.mark.parametrize("older", [None, b"an older census"])
def test_an_interrupted_run_leaves_everything_as_it_was(
    name: str, older: bytes | None, tmp_path: Path, small_chunks: int
) -> None:
    path = tmp_path / name
    if older is not None:
        path.write_bytes(older)

    def interrupt(done: int) -> None:
        assert [file.suffix for file in tmp_path.iterdir() if file != path] == [".part"]
        if done == 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        census.write_census(path, records=5000, progress=interrupt)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == (
        {} if older is None else {name: older}
    )


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"records": 0}, ValueError, "^records must be an integer from 1 to 2000000000, got 0$"),
        ({"records": 2 * 10**9 + 1}, ValueError, "^records must be .*, got 2000000001$"),
        ({"records": 1e6}, TypeError, "^records must be an integer .*float"),
        ({"records": True}, TypeError, "^records must be an integer .*bool"),
        ({"seed": -1}, ValueError, "^seed must be an integer from 0 to .*, got -1$"),
        ({"seed": 2**128 + 1}, ValueError, "^seed must be an integer from 0"),
        ({"seed": "1"}, TypeError, "^seed must be an integer .*str"),
        (
            {"path": "people.txt"},
            ValueError,
            "^output must be a file whose name ends in .parquet or .csv, got '.*people.txt'$",
        ),
        ({"path": "people"}, ValueError, "^output must be a file whose name ends"),
        ({"path": "none/people.csv"}, ValueError, "^output must be in a folder that exists, got "),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(
    change: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"path": "people.csv", "records": 10, "seed": 1} | change
    path = tmp_path / given.pop("path")
    with pytest.raises(error, match=message):
        census.write_census(path, **given)
    assert not list(tmp_path.iterdir())


def test_bad_input_to_batches_is_refused_at_the_call() -> None:
    with pytest.raises(ValueError, match="^records must be an integer from 1"):
        census.batches(0, seed=1)
    with pytest.raises(ValueError, match="^seed must be an integer from 0"):
        census.batches(1, seed=-1)
