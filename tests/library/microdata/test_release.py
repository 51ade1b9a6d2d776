"""A release is planned without a record: what one person changes in all tables, the noise, and its cost."""

import itertools
import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablebuilder_dp import microdata
from tablebuilder_dp.beyond import many_cells
from tablebuilder_dp.cli import main
from tablebuilder_dp.microdata import plan, release_file
from tablebuilder_dp.sampling import LookupTable

TOML = """
edition = "2026"
records = "nobody-reads-this.parquet"
secret = "nor-this.bin"

[privacy]
epsilon = 1.0
delta = 1e-6
{privacy}

[variables.sex]
categories = ["F", "M"]
missing = true
[variables.age]
categories = ["00-19", "20-64", "65+"]
[variables.geo]
hierarchy = ["region", "district"]
codes = "geo.csv"

[[table]]
name = "age by sex"
by = ["age", "sex"]
margins = true
output = "age-by-sex.csv"

[[table]]
name = "districts by sex"
by = ["geo", "sex"]
margins = true
"""
CODES = "region,district\nNorth,Aby\nNorth,Lund\nSouth,Aby\n"


def written(folder: Path, text: str = TOML, **change: str) -> Path:
    (folder / "geo.csv").write_text(CODES, encoding="utf-8")
    file = folder / "release.toml"
    file.write_text(text.format(privacy=change.get("privacy", "")), encoding="utf-8")
    return file


def test_a_plan_has_what_its_json_promises(tmp_path: Path) -> None:
    plan = microdata.Release.from_toml(written(tmp_path)).plan()
    found = plan.data
    best = many_cells.best(1, "1e-6", cells=8)
    assert found["cells_changed"] == found["cells_per_person"] == 8  # sex and the total are in both tables
    assert (found["noise"], found["support"], found["variance"]) == ("geometric", 106, best.variance)
    assert best.promise.delta <= Fraction(found["delta"]) <= Fraction("1e-6")
    assert found["keysize"] == 2**64
    first, second = found["tables"]
    assert first == {
        "name": "age by sex",
        "by": ["age", "sex"],
        "partitions": 4,
        "cells": 4 * 4,
        "standard_error": math.sqrt(best.variance),
    }
    assert (second["by"], second["partitions"]) == (["region", "district", "sex"], 6)
    assert second["cells"] == (3 + 1 + 1) * 4  # of the region with one district only the district
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_what_is_replaced_changes_two_counts_but_not_the_grand_total(tmp_path: Path) -> None:
    plan = microdata.Release.from_toml(written(tmp_path, privacy='neighbours = "replace"')).plan()
    assert plan.data["cells_changed"] == 2 * 7
    assert "at most 14 counts (replace)" in plan.text


names = st.sampled_from(["a", "b", "c", "d"])


@given(
    st.lists(
        st.tuples(st.lists(names, min_size=1, max_size=3, unique=True), st.booleans()), min_size=1, max_size=4
    ),
    st.sets(names),
)
def test_partitions_of_all_tables_count_once(tables: list[tuple[list[str], bool]], single: set[str]) -> None:
    """Against all subsets of variables that some table has, one by one."""
    variables = tuple(
        release_file.Variable(name, (name,), (("x",),) if name in single else (("x",), ("y",)))
        for name in "abcd"
    )
    made = tuple(
        release_file.Table(str(place), microdata.Layout(by, margins), f"{place}.csv")
        for place, (by, margins) in enumerate(tables)
    )
    expected = set()
    for by, margins in tables:
        sizes = range(len(by) + 1) if margins else [len(by)]
        expected |= {part for size in sizes for part in itertools.combinations(sorted(by), size)}
    one, other = (
        microdata.Release("1", Fraction(1), Fraction(1, 10), made, variables, neighbours=neighbours)
        for neighbours in ("add-or-remove", "replace")
    )
    assert set(one.partitions) == expected
    assert one.cells_changed == len(expected)
    assert other.cells_changed == max(1, 2 * sum(bool(set(part) - single) for part in expected))


def test_a_level_of_a_hierarchy_is_a_partition_of_the_whole_one(tmp_path: Path) -> None:
    text = TOML + '\n[[table]]\nname = "regions"\nby = ["region"]\n'
    release = microdata.Release.from_toml(written(tmp_path, text))
    assert release.tables[2].layout.by == ("region",)
    assert release.cells_changed == 8
    text = TOML + '\n[[table]]\nname = "districts by age"\nby = ["district", "age"]\n'
    release = microdata.Release.from_toml(written(tmp_path, text))
    assert release.tables[2].layout.nested == (("region", "district"),)
    assert release.cells_changed == 9


def test_alternatives_are_what_they_would_be(tmp_path: Path) -> None:
    plan = microdata.Release.from_toml(written(tmp_path)).plan()
    rows = plan.data["alternatives"]
    assert len(rows) == 9
    assert [row["epsilon"] for row in rows[::3]] == [0.5, 1, 2]
    looser = many_cells.best("0.5", "1e-3", cells=8)
    assert rows[2] == {"epsilon": 0.5, "delta": 0.001, "standard_error": math.sqrt(looser.variance)}
    assert rows[4]["standard_error"] == plan.data["tables"][0]["standard_error"]
    tight = TOML.replace("delta = 1e-6", "delta = 1e-14")
    assert (
        microdata.Release.from_toml(written(tmp_path, tight)).plan().data["alternatives"][0]["standard_error"]
        is None
    )  # 2^64 keys do not serve a delta of 1e-17


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.integers(1, 200))
def test_off_by_a_tenth_is_counted_key_by_key(half: list[int], count: int) -> None:
    weights = [*half, 3, *reversed(half)]
    table = LookupTable(sum(weights), tuple(itertools.accumulate(weights)))
    drawn = [z for z, weight in enumerate(weights, -len(half)) for _ in range(weight)]
    exact = sum(Fraction(abs(z), count) > Fraction(1, 10) for z in drawn) / len(drawn)
    assert plan.off_by_a_tenth(table, count) == exact


def test_the_command_prints_writes_and_reads_no_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = written(tmp_path), tmp_path / "plan.html"
    assert main.main(["release", "plan", str(file), "--html", str(page)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Edition 2026: epsilon = 1 and delta = 1e-06 for all tables together\n")
    assert said.endswith(f"\n\nWrote {page}\n")
    assert max(map(len, said.splitlines()[:-1])) <= 84
    text = page.read_text("utf-8")
    assert text.count("<svg") == 1
    assert not re.search(r"<script|https?:", text)
    assert "how often a published count is off by more than a tenth" in text
    assert main.main(["release", "plan", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == microdata.Release.from_toml(file).plan().data
    assert sorted(path.name for path in tmp_path.iterdir()) == ["geo.csv", "plan.html", "release.toml"]


def test_a_plan_shows_itself_in_a_notebook(tmp_path: Path) -> None:
    shown = microdata.Release.from_toml(written(tmp_path)).plan()._repr_html_()
    assert shown.startswith("<svg")
    assert "<pre>Edition 2026" in shown


WRONG: dict[str, tuple[tuple[str, str], str]] = {
    "no edition": (('edition = "2026"\n', ""), "release must have 'edition', got records, secret, privacy, "),
    "unknown": (
        ("[privacy]", "[colour]\na = 1\n[privacy]"),
        "release must be made of budget, edition, .* got 'colour'",
    ),
    "half a budget": (
        ("[privacy]", "[budget]\nepsilon = 3\n[privacy]"),
        "budget must have 'delta', got epsilon",
    ),
    "designs": (
        ("[privacy]", '[budget]\nepsilon = 3\ndelta = 1e-5\ndesigns = "free"\n[privacy]'),
        "budget.designs must be one of adaptive, fixed, got 'free'",
    ),
    "path": (
        ('output = "age-by-sex.csv"', 'output = "../age-by-sex.csv"'),
        "table.output must be the name of a .csv or .parquet file in the folder .*, got '../age-by-sex.csv'",
    ),
    "outputs": (
        ('name = "districts by sex"', 'name = "districts by sex"\noutput = "Age-by-sex.csv"'),
        "table must be of different outputs, got",
    ),
    "no epsilon": (("epsilon = 1.0\n", ""), "privacy must have 'epsilon', got delta"),
    "epsilon": (("epsilon = 1.0", "epsilon = -1"), r"epsilon must be a number in \(0, 500\], got -1"),
    "unknown privacy": (
        ("epsilon = 1.0", "epsilon = 1.0\neps = 2"),
        "privacy must be made of delta, .*, got 'eps'",
    ),
    "no toml": (("[privacy]", "[privacy"), "release must be a TOML file, got '.*release.toml': "),
    "variable": (
        ('by = ["age", "sex"]', 'by = ["age", "size"]'),
        r"table.by must be variables of the release \(sex, age, geo\), got 'size'",
    ),
    "twice": (('by = ["geo", "sex"]', 'by = ["geo", "region"]'), "table.by must be different variables, got"),
    "names": (('name = "districts by sex"', 'name = "age by sex"'), "table must be of different names, got"),
    "margins": (
        ("margins = true\noutput", 'margins = "yes"\noutput'),
        r"table.margins must be true or false, got 'yes' \(str\)",
    ),
    "both lists": (
        ('codes = "geo.csv"', 'codes = "geo.csv"\ncategories = [["a", "b"]]'),
        "variables.geo must have either 'categories' or 'codes', got",
    ),
    "repeated": (
        ('categories = ["F", "M"]', 'categories = ["F", "F"]'),
        "variables.sex.categories must be different categories, got",
    ),
    "no paths": (
        ('codes = "geo.csv"', 'categories = ["a"]'),
        "variables.geo.categories must be different paths of 2 categories, got",
    ),
    "empty": (
        ('categories = ["F", "M"]', "categories = []"),
        r"variables.sex.categories must be a list of categories, got \[\]",
    ),
    "neighbours": (
        ("{privacy}", 'neighbours = "some"'),
        "neighbours must be one of add-or-remove, replace, got 'some'",
    ),
    "noise": (
        ("{privacy}", 'noise = "white"'),
        "noise must be one of best, max-entropy, geometric, got 'white'",
    ),
    "no file": (('codes = "geo.csv"', 'codes = "other.csv"'), "other.csv"),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], message: str
) -> None:
    file = written(tmp_path, TOML.replace(*change, 1))
    assert main.main(["release", "plan", str(file)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert re.search(message, err), err


def test_a_page_never_takes_the_place_of_the_release(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path)
    before: Any = file.read_bytes()
    assert main.main(["release", "plan", str(file), "--html", str(file)]) == 2
    assert "html must be a file that is not read" in capsys.readouterr().err
    assert file.read_bytes() == before
