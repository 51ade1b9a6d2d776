"""Published tables against loops over records, for every option, with names and values as they come."""

import itertools
import json
import os
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import slow_tables
from support.people import PEOPLE, TABLES, keyed, people

from tablebuilder_dp import microdata, sampling
from tablebuilder_dp.counts import perturbation_table as perturbation
from tablebuilder_dp.counts.perturbation_table import PerturbationTable, Segments
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.microdata import cells, formats, listing, records
from tablebuilder_dp.microdata.record_keys import KEYS

SMALL = {
    way: perturbation.build(OfVariance(3, 2), keysize=2**16, small_counts=way) for way in ("rows", "clamped")
}


def expected(table: pa.Table, noise: PerturbationTable, **options: Any) -> list[dict[str, Any]]:
    return slow_tables.published(
        table.to_pylist(), noise, secret=slow_tables.SECRET, **{"keys": KEYS, **options}
    )


@given(people(), st.sampled_from(["rows", "clamped"]), st.booleans(), st.booleans())
@settings(deadline=None)
def test_every_option_agrees_with_loops_over_records(
    secret_file: Path, found: tuple[pa.Table, list[str]], way: str, margins: bool, only_positive: bool
) -> None:
    table, by = found
    options: dict[str, Any] = {"by": by, "margins": margins, "only_positive": only_positive}
    made = microdata.perturb(
        table, protection=microdata.from_table(TABLES[way]), secret_file=secret_file, audit=True, **options
    )
    assert made.table.to_pylist() == expected(table, TABLES[way], **options)
    plain = microdata.perturb(
        table, protection=microdata.from_table(TABLES[way]), secret_file=secret_file, **options
    )
    assert plain.table == made.table.drop_columns(["true_count", "cell_key", "noise"])


@given(people(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_files_and_the_order_of_records_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, found: tuple[pa.Table, list[str]], mixer: random.Random
) -> None:
    table, by = found
    folder = tmp_path_factory.mktemp("records")
    order = list(range(len(table)))
    mixer.shuffle(order)
    mixed = table.take(pa.array(order, pa.int64()))
    pyarrow.parquet.write_table(mixed, folder / "a.parquet", row_group_size=3)
    options: dict[str, Any] = {"by": by, "margins": True, "protection": microdata.from_table(TABLES["rows"])}
    made = microdata.perturb(table, **options).table
    assert microdata.perturb(folder / "a.parquet", **options).table == made
    parts = folder / "parts"
    parts.mkdir()
    for place in range(3):
        pyarrow.parquet.write_table(mixed.slice(place * 4, 4), parts / f"{place}.parquet")
    assert microdata.perturb(parts, **options).table == made
    formats.write(mixed, folder / "a.csv")
    texts = {
        name: table[name].cast(pa.string()) if name in by else table[name] for name in table.column_names
    }
    assert (
        microdata.perturb(folder / "a.csv", **options).table
        == microdata.perturb(pa.table(texts), **options).table
    )


ROWS = microdata.from_table(TABLES["rows"])


def test_a_total_is_the_same_wherever_it_appears() -> None:
    by_region = microdata.perturb(
        PEOPLE, by=["region", "sex"], protection=ROWS, margins=True
    ).table.to_pylist()
    by_age = microdata.perturb(PEOPLE, by=["age", "region"], protection=ROWS, margins=True).table.to_pylist()
    alone = microdata.perturb(PEOPLE, by=["region"], protection=ROWS).table.to_pylist()
    for region in ("N", "S", None):
        first = [r["count"] for r in by_region if r["region"] == region and r["total_over"] == "sex"]
        second = [r["count"] for r in by_age if r["region"] == region and r["total_over"] == "age"]
        third = [r["count"] for r in alone if r["region"] == region]
        assert first == second == third
        assert len(first) == 1
    assert by_region[-1]["total_over"] == "region, sex"
    assert by_region[-1]["count"] == by_age[-1]["count"]


def test_records_without_a_category_are_a_cell_with_a_key_of_its_own() -> None:
    made = microdata.perturb(PEOPLE, by=["region"], protection=ROWS, audit=True).table.to_pylist()
    [row] = [row for row in made if row["region"] is None]
    assert row["true_count"] == 1
    last = PEOPLE.slice(9).to_pylist()[0]
    assert row["cell_key"] == last[KEYS[0]] ^ last[KEYS[1]] ^ last[KEYS[2]] ^ last[KEYS[3]]


def test_given_categories_set_the_order_and_list_what_nobody_has(secret_file: Path) -> None:
    given_lists: dict[str, Any] = {"region": [None, "W", "S", "N"], "age": [3, 2, 1]}
    options: dict[str, Any] = {"by": ["region", "age"], "margins": True}
    for way in ("rows", "clamped"):
        made = microdata.perturb(
            PEOPLE,
            protection=microdata.from_table(TABLES[way]),
            categories=given_lists,
            secret_file=secret_file,
            audit=True,
            **options,
        )
        assert made.table.to_pylist() == expected(PEOPLE, TABLES[way], given=given_lists, **options)
        assert made.categories_given == ("age", "region")
        assert not made.cells_given


HIERARCHY = keyed({"region": ["N", "N", "S", "S", "S"], "district": [1, 2, 3, 3, None]}, seed=4)
DISTRICTS = {"region": ["S", "S", "S", "N", "N"], "district": [3, 4, None, 2, 1]}


@pytest.mark.parametrize("form", ["memory", "csv", "parquet"])
@pytest.mark.parametrize("way", ["rows", "clamped"])
def test_only_listed_cells_and_their_totals_are_published(
    tmp_path: Path, secret_file: Path, way: str, form: str
) -> None:
    """District 4 has nobody but can have; district 1 in region S cannot be."""
    listed: Any = pa.table(DISTRICTS)
    if form != "memory":
        formats.write(listed, tmp_path / f"cells.{form}")
        listed = tmp_path / f"cells.{form}"
    options: dict[str, Any] = {"by": ["region", "district"], "margins": True}
    made = microdata.perturb(
        HIERARCHY,
        protection=microdata.from_table(TABLES[way]),
        cells=listed,
        secret_file=secret_file,
        audit=True,
        **options,
    )
    lists = {"region": ["S", "N"], "district": [3, 4, None, 2, 1]}
    everything = expected(HIERARCHY, TABLES[way], given=lists, **options)
    allowed = set(zip(*DISTRICTS.values(), strict=True))
    assert made.table.to_pylist() == [
        row for row in everything if row["total_over"] or (row["region"], row["district"]) in allowed
    ]
    assert made.categories_given == ("district", "region")
    assert made.statement["cells"] == "those of a given list"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"region": ["N", "N"], "district": [1, 1]}, "cells must be listed once each"),
        ({"region": ["N"]}, "cells must be one of region, got 'district'"),
        (
            {"region": ["N", "N", "S", "S", "N"], "district": [1, 2, 3, 4, None]},
            "cells must list all that have people, but 1 is not in the list",
        ),
        (
            {"region": ["N", "S"], "district": ["one", "two"]},
            "cells must have categories of type integer in 'district'",
        ),
        (
            {"region": ["N", "N"], "district": [1, 2]},
            "categories of 'region' must list all that occur, but 1 is",
        ),
    ],
)
def test_lists_of_cells_that_do_not_fit_are_refused(cells: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        microdata.perturb(HIERARCHY, by=["region", "district"], protection=ROWS, cells=pa.table(cells))
    with pytest.raises(ValueError, match="categories must be left out where cells are listed"):
        microdata.perturb(
            HIERARCHY,
            by=["region", "district"],
            protection=ROWS,
            cells=pa.table(DISTRICTS),
            categories={"region": ["N", "S"]},
        )


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    drawn = np.random.default_rng(9)
    table = keyed({"x": drawn.integers(0, 50, 300_000), "y": drawn.choice(["a", "b"], 300_000)})
    pyarrow.parquet.write_table(table, tmp_path / "k.parquet", row_group_size=10_000)
    connect, found = duckdb.connect, []
    for threads in (1, 2, 5):
        records._duckdb.cache_clear()
        monkeypatch.setattr(
            duckdb, "connect", lambda config, n=threads: connect(config={**config, "threads": n})
        )
        found.append(
            microdata.perturb(tmp_path / "k.parquet", by=["x", "y"], protection=ROWS, margins=True).table
        )
        [[used]] = records._duckdb(None, os.getpid()).sql("SELECT current_setting('threads')").fetchall()
        assert used == threads
    records._duckdb.cache_clear()
    assert found[0] == found[1] == found[2]


def test_an_empty_cell_has_one_key_in_every_table(secret_file: Path) -> None:
    """Its description does not depend on the order of the columns, on margins or on the file's types."""
    clamped = microdata.from_table(TABLES["clamped"])
    options: dict[str, Any] = {"protection": clamped, "secret_file": secret_file, "audit": True}
    listed: dict[str, Any] = {"region": ["W", "N", "S", None]}
    one = microdata.perturb(PEOPLE, by=["region", "age"], margins=True, categories=listed, **options)
    other = microdata.perturb(PEOPLE, by=["age", "region"], categories=listed, **options)
    as_text = PEOPLE.set_column(2, "age", PEOPLE["age"].cast(pa.string()))
    text = microdata.perturb(as_text, by=["age", "region"], categories=listed, **options)
    alone = microdata.perturb(PEOPLE, by=["region"], categories=listed, **options)

    def keys(made: microdata.Published) -> dict[Any, int]:
        rows = made.table.to_pylist()
        inner = [row for row in rows if not row.get("total_over")]
        return {(row["region"], str(row["age"])): row["cell_key"] for row in inner if not row["true_count"]}

    assert keys(one) == keys(other) == keys(text)
    assert len(set(keys(one).values())) == len(keys(one)) == 7
    [margin] = [r for r in one.table.to_pylist() if r["region"] == "W" and r["total_over"] == "age"]
    assert margin["cell_key"] == alone.table.to_pylist()[0]["cell_key"]


@pytest.mark.filterwarnings("ignore:inside the office")
@pytest.mark.parametrize("way", ["rows", "clamped"])
def test_every_key_of_2_to_the_16_gives_the_weights_of_the_table(way: str, secret_file: Path) -> None:
    """65536 cells of one record each, whose keys are 0, 1, …, 65535."""
    size = 2**16
    key = np.arange(size, dtype=np.int64)
    drawn = np.random.default_rng(1).integers(1, 2**32, (3, size))
    last = np.bitwise_xor.reduce(drawn, axis=0) ^ key
    assert (last > 0).all()
    columns = zip(KEYS, [*drawn, last], strict=True)
    table = pa.table({"cell": pa.array(key), **{name: pa.array(one) for name, one in columns}})
    made = microdata.perturb(
        table,
        by=["cell"],
        protection=microdata.from_table(SMALL[way]),
        secret_file=secret_file,
        audit=True,
    ).table
    assert made["cell_key"].to_pylist() == key.tolist()
    row = SMALL[way].row(1)
    weights = {z: weight for z, weight in enumerate(row.weights, -row.support) if weight}
    assert Counter(made["noise"].to_pylist()) == weights
    assert made["noise"].to_numpy().tolist() == sampling.sample(row, key).tolist()


def test_one_record_key_is_summed_as_other_software_does() -> None:
    """ONS: the sum of keys from 0 to 255 modulo 256 chooses the line of the count in the table."""
    mixer = random.Random(5)  # noqa: S311
    shuffled = tuple(
        tuple(mixer.choice([-1, 0, 1]) if count else 0 for _ in range(256)) for count in range(751)
    )
    segments = (Segments(tuple(range(1, 257)), noises) for noises in shuffled)
    table = PerturbationTable.of_segments(segments, keysize=256, support=1, period=250)
    drawn = np.random.default_rng(3)
    people = pa.table({"x": drawn.choice([0, 1], 2000, p=[0.9, 0.1]), "key": drawn.integers(0, 256, 2000)})
    made = microdata.perturb(
        people,
        by=["x"],
        protection=microdata.from_table(table),
        record_keys=["key"],
        margins=True,
        audit=True,
    ).table.to_pylist()
    options: dict[str, Any] = {"by": ["x"], "keys": ["key"], "margins": True}
    assert made == slow_tables.published(people.to_pylist(), table, **options)
    assert made[0]["true_count"] > 750
    above = ((made[0]["true_count"] - 1) % 250) + 501
    assert made[0]["noise"] == shuffled[above][made[0]["cell_key"]]


def test_a_count_that_the_table_cannot_serve_is_refused() -> None:
    table = PerturbationTable(TABLES["rows"].rows, period=0)
    people = keyed({"x": [1] * 4})
    with pytest.raises(
        ValueError, match="serve every count, but its table ends at 3, which 1 of the cells exceed"
    ):
        microdata.perturb(people, by=["x"], protection=microdata.from_table(table))


@given(people(), st.booleans())
def test_cells_one_person_below_a_total_are_counted(
    found: tuple[pa.Table, list[str]], only_positive: bool
) -> None:
    table, by = found
    made = microdata.perturb(table, by=by, protection=ROWS, margins=True, only_positive=only_positive)
    patterns = {slow_tables.total_over(by, one): one for one in itertools.product([0, 1], repeat=len(by))}
    rows = expected(table, TABLES["rows"], by=by, margins=True)
    counts = {(patterns[row["total_over"]], *(row[name] for name in by)): row["true_count"] for row in rows}
    apart = 0
    for (pattern, *cell), size in counts.items():
        totals = []
        for place in (place for place, one in enumerate(pattern) if not one):
            above = (*pattern[:place], 1, *pattern[place + 1 :])
            wider = [None if one else value for one, value in zip(above, cell, strict=True)]
            totals.append(counts[above, *wider])
        apart += size > 0 and size + 1 in totals
    assert made.exposed == apart


def test_dropping_a_record_changes_only_its_cells() -> None:
    options: dict[str, Any] = {"by": ["region", "sex"], "protection": ROWS, "margins": True, "audit": True}
    whole = microdata.perturb(PEOPLE, **options).table.to_pylist()
    fewer = microdata.perturb(PEOPLE.slice(1), **options).table.to_pylist()
    changed = [a for a, b in zip(whole, fewer, strict=True) if a != b]
    assert [(row["region"], row["sex"]) for row in changed] == [
        ("N", "F"),
        ("N", None),
        (None, "F"),
        (None, None),
    ]


def test_hostile_names_never_reach_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    run = records._DuckRecords.query

    def query(self: Any, sql: str) -> Any:
        asked.append(sql.replace(self.view, "view"))
        return run(self, sql)

    monkeypatch.setattr(records._DuckRecords, "query", query)
    evil = 'a" FROM records; DROP TABLE x; --'
    plain = microdata.perturb(PEOPLE, by=["region"], protection=ROWS).table["count"]
    renamed = PEOPLE.rename_columns([evil, *PEOPLE.column_names[1:]])
    made = microdata.perturb(renamed, by=[evil], protection=ROWS).table
    assert made.column_names == [evil, "count"]
    assert made["count"] == plain
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"by": ["area"]}, "by must be one of region, sex, age, record_key_1, .* got 'area'"),
        ({"by": []}, "by must be one or more names of columns, each once"),
        ({"by": "region"}, "by must be a list of names of columns, got 'region'"),
        ({"by": ["sex", "sex"]}, "by must be one or more names of columns, each once"),
        (
            {"by": ["region"], "record_keys": ["age"] * 2},
            "record_keys must be four different columns, or one",
        ),
        ({"record_keys": ["a", "b", "c", "d"]}, "record_keys must be one of region, .* got 'a'"),
        ({"categories": {"height": [1]}}, "categories must be about columns of the records, got 'height'"),
        ({"categories": {"region": ["N"]}}, "categories of 'region' must list all that occur, but 2 are"),
        ({"categories": {"region": ["N", "N"]}}, "categories must be a list of different categories"),
        ({"categories": {"region": "NS"}}, "categories must be a list of different categories of 'region'"),
        ({"categories": {"region": [1, 2]}}, r"different categories of 'region' \(text\)"),
        ({"memory": "much"}, "memory must be a size such as 2GB, got 'much'"),
        ({"source": 5}, "records must be a path or a table that Arrow understands, got int"),
        ({"source": __file__}, "records must be a file whose name ends in .parquet, .csv, .tsv, .tab, .txt"),
        ({"source": "no-such-file.parquet"}, "No such file or directory: 'no-such-file.parquet'"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], message: str) -> None:
    options = {"source": PEOPLE, "by": ["region"], "protection": ROWS, **change}
    with pytest.raises((ValueError, TypeError, OSError), match=message):
        microdata.perturb(options.pop("source"), **options)


@pytest.mark.parametrize("key", [0, None, -1, 2**32])
def test_records_without_a_proper_key_are_refused(key: int | None) -> None:
    keys = pa.array([*([7] * 9), key], pa.int64())
    broken = PEOPLE.set_column(PEOPLE.schema.get_field_index(KEYS[2]), KEYS[2], keys)
    with pytest.raises(
        ValueError, match="record_keys must be integers from 1 to 4294967295 for every record"
    ):
        microdata.perturb(broken, by=["region"], protection=ROWS)


@pytest.mark.parametrize("text", ["1.5", "", "x", "007", " 7", "1e3", "4294967296"])
def test_texts_that_are_no_keys_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keyed.csv"
    path.write_text(f"region,{','.join(KEYS)}\nN,1,2,3,4\nS,1,2,{text},4\n", encoding="utf-8")
    with pytest.raises(ValueError, match="record_keys must be integers"):
        microdata.perturb(path, by=["region"], protection=ROWS)


def test_keys_that_are_too_short_for_the_table_are_refused() -> None:
    """Keys below 256 would give all cells of one record the same end of the table."""
    drawn = np.random.default_rng(1).integers(1, 256, (4, 1000))
    short = pa.table({"x": [1] * 1000, **{name: drawn[j] for j, name in enumerate(KEYS)}})
    with pytest.raises(ValueError, match=r"record_keys must be spread over all of \[0, 4294967296\)"):
        microdata.perturb(short, by=["x"], protection=ROWS)
    made = microdata.perturb(short.slice(0, 999), by=["x"], protection=ROWS)  # too few to be sure
    assert len(made.table) == 1
    one_short = short.set_column(1, KEYS[0], pa.array(np.random.default_rng(2).integers(1, 2**32, 1000)))
    with pytest.raises(ValueError, match="record_keys must be spread"):
        microdata.perturb(one_short, by=["x"], protection=ROWS, margins=True)


def test_keys_that_are_equal_or_constant_are_refused() -> None:
    """The XOR of equal sums is 0: every cell would get the same end of the table."""
    drawn = np.random.default_rng(1)
    table = keyed({"x": drawn.integers(0, 9, 1000)})
    assert len(microdata.perturb(table, by=["x"], protection=ROWS).table) == 9
    twice = table.set_column(3, KEYS[2], table[KEYS[0]])
    with pytest.raises(ValueError, match="record_keys must be independent, but two of .* are equal"):
        microdata.perturb(twice, by=["x"], protection=ROWS)
    constant = table.set_column(2, KEYS[1], pa.array([3 * 10**9] * 1000))
    with pytest.raises(
        ValueError, match="record_keys must differ between records, but one of .* is constant"
    ):
        microdata.perturb(constant, by=["x"], protection=ROWS, margins=True)
    with pytest.raises(ValueError, match="record_keys must be four different columns, or one"):
        microdata.perturb(table, by=["x"], protection=ROWS, record_keys=[KEYS[0]] * 4)


def test_record_keys_are_no_categories() -> None:
    with pytest.raises(
        ValueError, match="by must be without the names count, record_key_1, .* got 'record_key_2'"
    ):
        microdata.perturb(PEOPLE, by=[KEYS[1]], protection=ROWS)


def test_a_name_with_a_star_is_one_file(tmp_path: Path) -> None:
    for name, region in (("p1", "decoy"), ("p[1]", "N"), ("p*", "S")):
        for end in ("parquet", "csv"):
            formats.write(keyed({"region": [region]}), tmp_path / f"{name}.{end}")
    for name, region in (("p[1]", "N"), ("p*", "S")):
        for end in ("parquet", "csv"):
            made = microdata.perturb(tmp_path / f"{name}.{end}", by=["region"], protection=ROWS).table
            assert made["region"].to_pylist() == [region]


def test_a_folder_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    formats.write(keyed({"x": [1, 2]}), tmp_path / "a.parquet")
    formats.write(keyed({"x": [3]}), tmp_path / "b.PARQUET")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".b.parquet.crc").write_text("")
    options: dict[str, Any] = {"by": ["x"], "protection": ROWS}
    assert microdata.perturb(tmp_path, **options).table["x"].to_pylist() == [1, 2, 3]
    formats.write(keyed({"x": ["007"]}), tmp_path / "c.parquet")
    with pytest.raises(
        ValueError, match="records must be files of one schema, that of a.parquet, got .*c.parquet"
    ):
        microdata.perturb(tmp_path, **options)
    (tmp_path / "c.parquet").unlink()
    (tmp_path / "more").mkdir()
    with pytest.raises(
        ValueError, match="records must be a folder with .parquet files in it and no other folders"
    ):
        microdata.perturb(tmp_path, **options)


def test_days_may_be_given_as_in_json() -> None:
    table = keyed({"day": pa.array([1, 2, None], pa.date32())})
    made = microdata.perturb(
        table, by=["day"], protection=ROWS, categories={"day": [None, "1970-01-03", "1970-01-02"]}, audit=True
    ).table
    assert made["true_count"].to_pylist() == [1, 1, 1]
    assert [str(day) for day in made["day"].to_pylist()] == ["None", "1970-01-03", "1970-01-02"]
    with pytest.raises(ValueError, match="categories must be a list of different categories of 'day'"):
        microdata.perturb(table, by=["day"], protection=ROWS, categories={"day": ["tomorrow"]})


def test_a_failed_statement_leaves_the_older_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("older")
    (tmp_path / "t.csv.statement.txt").mkdir()
    made = microdata.perturb(PEOPLE, by=["sex"], protection=ROWS)
    with pytest.raises(ValueError, match="statement beside output must .*statement.txt', which is a folder"):
        made.write(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "t.csv.statement.txt"]


def test_what_holds_true_counts_is_closed_to_others(tmp_path: Path) -> None:
    for audit, mode in ((True, 0o600), (False, 0o644)):
        made = microdata.perturb(PEOPLE, by=["sex"], protection=ROWS, audit=audit)
        paths = made.write(tmp_path / f"{mode}.csv")
        assert {path.stat().st_mode & 0o077 for path in paths} <= {mode & 0o077, mode & 0o077 & ~0o022}


def test_a_category_of_a_type_without_categories_is_refused() -> None:
    table = keyed({"x": [[1], [2]]})
    with pytest.raises(
        ValueError, match="by must name columns of text, integers, .* got 'x', which is of type"
    ):
        microdata.perturb(table, by=["x"], protection=ROWS)


def test_numbers_with_two_zeros_and_nan_are_one_category_each() -> None:
    table = keyed({"x": [0.0, -0.0, float("nan"), float("-nan"), None, 1.5]})
    made = microdata.perturb(table, by=["x"], protection=ROWS, audit=True).table
    assert made["true_count"].to_pylist() == [2, 1, 2, 1]
    assert str(made["x"].to_pylist()) == "[0.0, 1.5, nan, None]"


def test_a_name_of_the_output_is_refused_as_a_variable() -> None:
    table = PEOPLE.rename_columns(["count", *PEOPLE.column_names[1:]])
    with pytest.raises(ValueError, match="by must be without the names count, .* got 'count'"):
        microdata.perturb(table, by=["count"], protection=ROWS)


@pytest.mark.filterwarnings("ignore:inside the office")
def test_too_many_cells_are_refused_unless_only_the_positive_are_wanted() -> None:
    size = 400
    table = keyed({name: pa.array(range(size)) for name in "abc"})
    with pytest.raises(ValueError, match="by must have at most 10000000 combinations .* got 64000000"):
        microdata.perturb(table, by=list("abc"), protection=ROWS)
    made = microdata.perturb(table, by=list("abc"), protection=ROWS, only_positive=True).table
    assert 0 < len(made) < size
    assert min(made["count"].to_pylist()) > 0


@pytest.mark.parametrize("by", [["region"], ["region", "sex"]])
def test_clamping_asks_for_the_secret_even_if_no_cell_is_empty(by: list[str]) -> None:
    clamped = microdata.from_table(TABLES["clamped"])
    with pytest.raises(ValueError, match="secret_file must be given, as this noise perturbs empty cells too"):
        microdata.perturb(PEOPLE, by=by, protection=clamped)


def test_an_empty_file_gives_an_empty_table(tmp_path: Path) -> None:
    path = tmp_path / "nobody.csv"
    path.write_text(f"region,{','.join(KEYS)}\n", encoding="utf-8")
    assert len(microdata.perturb(path, by=["region"], protection=ROWS).table) == 0
    made = microdata.perturb(path, by=["region"], protection=ROWS, margins=True).table
    assert made.to_pylist() == [{"region": None, "total_over": "region", "count": 0}]


def test_a_table_of_decimals_is_served_by_all_keys() -> None:
    """ptable writes cut points to 8 decimals: a key is compared as key/2^32 with them."""
    row = sampling.LookupTable(10**8, (20_000_000, 70_000_001, 10**8))
    zero = sampling.LookupTable(10**8, (0, 10**8, 10**8))
    found = microdata.from_table(PerturbationTable((zero, row)))
    assert isinstance(found.table, PerturbationTable)
    assert found.table.keysize == 2**32
    cut = found.table.rows[1].cuts[1]
    assert (cut - 1) * 10**8 < 70_000_001 * 2**32 <= cut * 10**8


def test_shuffled_intervals_are_served_by_all_keys_as_their_file_says() -> None:
    """ptable's modify_cnt_ptable splits and shuffles: the noise is that of the first end above key/2^32."""
    ends, noises = (20_000_000, 23_742_956, 43_742_956, 10**8), (-1, 4, -1, 3)
    orders = [Segments((10**8,), (0,)), Segments(ends, noises)]
    table = PerturbationTable.of_segments(orders, keysize=10**8, support=5)
    found = microdata.from_table(table)
    assert isinstance(found.table, PerturbationTable)
    assert found.table.keysize == 2**32
    for end in ends:
        for key in range(-(-end * 2**32 // 10**8) - 2, min(-(-end * 2**32 // 10**8) + 2, 2**32)):
            meant = next(z for cut, z in zip(ends, noises, strict=True) if key * 10**8 < cut * 2**32)
            value = found.published(np.array([1]), np.array([key], dtype=np.uint64))
            assert value.tolist() == [1 + meant] == [1 + slow_tables.noise(found.table, 1, key)]
    rising = microdata.from_table(PerturbationTable(table.rows))
    assert rising.digest != found.digest
    assert bytes.fromhex(found.digest) == slow_tables.weights_digest(found.table)


def test_an_ons_table_of_any_keysize_keeps_its_own_keys() -> None:
    """Its software reduces sums of record keys to the keys of the file."""
    orders = [Segments((100,), (0,)), Segments((50, 100), (1, -1))]
    ons = PerturbationTable.of_segments(orders, keysize=100, support=1, period=0)
    assert microdata.from_table(ons).table is ons
    decimals = PerturbationTable.of_segments(orders, keysize=100, support=1)
    assert microdata.from_table(decimals).table.keysize == 2**32


def test_a_design_that_rounding_breaks_is_refused() -> None:
    with pytest.raises(
        ValueError, match="keysize must be so large that rounding keeps epsilon 0.5 and delta"
    ):
        microdata.design_per_cell("0.5", "1e-4", keysize=2**8)
    fair = microdata.design_per_cell("0.5", "1e-4", keysize=2**15, rule="symmetric")
    assert isinstance(fair.table, sampling.LookupTable)
    assert max(sampling.delta(fair.table, "0.5")) <= 1e-4
    with pytest.raises(ValueError, match="rule must be one of ceiling, symmetric, got 'best'"):
        microdata.design_per_cell("0.5", "1e-4", rule="best")


def test_the_query_reads_the_records_once() -> None:
    columns = [records.Column("x", "c0", "text"), records.Column("y", "c1", "integer")]
    keys = [records.Column(name, f"c{j}", "integer") for j, name in enumerate(KEYS, 2)]
    for partitions in ([(0, 1)], [(0, 1), (0,), ()], [(0,)]):
        for small in (False, True):
            asked = cells.query("people_1", columns, keys, partitions=partitions, small=small)
            assert asked.count("people_1") == 1


def test_the_written_table_has_its_statement_beside_it(tmp_path: Path) -> None:
    made = microdata.perturb(PEOPLE, by=["region", "age"], protection=ROWS, margins=True)
    for name in ("out.parquet", "out.csv"):
        assert [path.name for path in made.write(tmp_path / name)] == [
            name,
            f"{name}.statement.json",
            f"{name}.statement.txt",
        ]
        assert json.loads((tmp_path / f"{name}.statement.json").read_text("utf-8")) == {
            "table": name,
            **made.statement,
        }
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet") == made.labelled
    assert pyarrow.csv.read_csv(tmp_path / "out.csv").column_names == ["region", "age", "total_over", "count"]
    first = (tmp_path / "out.parquet").read_bytes(), (tmp_path / "out.csv").read_bytes()
    for name in ("out.parquet", "out.csv"):
        microdata.perturb(
            PEOPLE.take(list(range(9, -1, -1))), by=["region", "age"], protection=ROWS, margins=True
        ).write(tmp_path / name)
    assert first == ((tmp_path / "out.parquet").read_bytes(), (tmp_path / "out.csv").read_bytes())


def test_calls_at_the_same_time_read_their_own_records() -> None:
    drawn = np.random.default_rng(11)
    tables = [keyed({"x": drawn.integers(0, 5 + place, 20_000)}, seed=place) for place in range(6)]
    options: dict[str, Any] = {"by": ["x"], "protection": ROWS, "audit": True}
    alone = [microdata.perturb(table, **options).table for table in tables]
    with ThreadPoolExecutor(6) as pool:
        for _ in range(5):
            found = list(pool.map(lambda table: microdata.perturb(table, **options).table, tables))
            assert found == alone
    left = records._duckdb(None, os.getpid()).sql("SELECT view_name FROM duckdb_views() WHERE NOT internal")
    assert left.fetchall() == []


def test_limits_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    many = keyed({f"v{place}": [1, 2] for place in range(13)})
    names = [f"v{place}" for place in range(13)]
    with pytest.raises(ValueError, match="by must be at most 12 columns with margins"):
        microdata.perturb(many, by=names, protection=ROWS, margins=True)
    assert len(microdata.perturb(many, by=names, protection=ROWS, only_positive=True).table) <= 2
    monkeypatch.setattr(cells, "PEOPLE_MAX", 5)
    with pytest.raises(ValueError, match="records of a cell must be fewer than 5, got 5"):
        microdata.perturb(PEOPLE, by=["region"], protection=ROWS)
    monkeypatch.setattr(listing, "CELLS_MAX", 4)
    with pytest.raises(ValueError, match="cells must be a list of at most 4 cells, got 5"):
        microdata.perturb(HIERARCHY, by=["region", "district"], protection=ROWS, cells=pa.table(DISTRICTS))


@pytest.mark.filterwarnings("ignore:inside the office")
def test_more_combinations_than_numbers_are_refused_with_margins() -> None:
    size = 7000
    table = keyed({name: pa.array(range(size)) for name in "abcde"})
    with pytest.raises(ValueError, match="by must be columns of fewer categories, got '7001 × 7001"):
        microdata.perturb(table, by=list("abcde"), protection=ROWS, margins=True, only_positive=True)


@pytest.mark.parametrize("protection", [None, TABLES["rows"], "rows"])
def test_a_protection_is_what_design_or_from_table_gives(protection: Any) -> None:
    with pytest.raises(TypeError, match="protection must be what design or from_table gives"):
        microdata.perturb(PEOPLE, by=["sex"], protection=protection)


def test_numbers_in_lists_have_one_zero() -> None:
    table = keyed({"x": [0.0, 1.5, None]})
    listed = pa.table({"x": pa.array([-0.0, None, 1.5])})
    made = microdata.perturb(table, by=["x"], protection=ROWS, cells=listed, audit=True).table
    assert made["true_count"].to_pylist() == [1, 1, 1]
    assert str(made["x"].to_pylist()) == "[0.0, None, 1.5]"
