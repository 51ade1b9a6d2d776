"""Which columns lie within which others: a suggestion that shows nothing of a record."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablebuilder_dp import microdata
from tablebuilder_dp.cli import main
from tablebuilder_dp.microdata import formats

PLACES = pa.table(
    {
        "person": [f"p{row}" for row in range(8)],
        "country": ["here"] * 8,
        "ward": ["w1", "w1", "w2", "w3", "w4", None, None, "w5"],
        "region": ["north", "north", "north", "south", "south", "south", "south", "south"],
        "district": ["d1", "d1", "d1", "d2", "d3", "d3", "d3", "d2"],
        "sex": ["F", "M", "F", "M", "F", "M", "F", "M"],
        "code": pa.array([1, 1, 1, 2, 2, 2, 2, 2]),
    }
)


def test_chains_are_found_and_what_says_nothing_is_left_out() -> None:
    found = microdata.nested_columns(PLACES, PLACES.column_names)
    assert found.hierarchies == (("region", "code", "district", "ward"),)
    assert set(found.within) == {
        *product(["ward"], ["region", "district", "code"]),
        *product(["district"], ["region", "code"]),
        ("code", "region"),
    }
    assert found.categories == {
        "person": 8, "country": 1, "ward": 6, "region": 2, "district": 3, "sex": 2, "code": 2
    }  # fmt: skip
    microdata.Layout(PLACES.column_names, nested=found.hierarchies)


def test_a_category_in_two_places_is_not_within() -> None:
    moved = {**PLACES.to_pydict(), "ward": ["w1", "w1", "w2", "w3", "w4", "w4", None, "w1"]}
    found = microdata.nested_columns(pa.table(moved), ["region", "district", "ward", "sex"])
    assert found.within == (("district", "region"),)
    assert found.hierarchies == (("region", "district"),)


@given(st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", None])] * 3), min_size=1, max_size=12))
def test_within_is_what_loops_over_records_find(rows: list[tuple[Any, ...]]) -> None:
    names = ["x", "y", "z"]
    table = pa.table({name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(names)})
    found = microdata.nested_columns(table, names)
    values = {name: table[name].to_pylist() for name in names}
    useful = [name for name in names if 1 < len(set(values[name])) < len(rows)]
    expected = set()
    for fine, coarse in product(useful, useful):
        pairs = set(zip(values[fine], values[coarse], strict=True))
        if fine != coarse and len(pairs) == len(set(values[fine])):
            same = len(set(values[fine])) == len(set(values[coarse]))
            if not same or coarse < fine:
                expected.add((fine, coarse))
    assert set(found.within) == expected


@pytest.mark.parametrize("name", ["people.parquet", "people.csv"])
def test_the_command_shows_an_option_to_copy_and_nothing_of_a_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    formats.write(PLACES, tmp_path / name)
    call = ["nested", str(tmp_path / name), "--by", "ward", "sex", "district", "region"]
    assert main.main(call) == 0
    said = capsys.readouterr().out
    assert "--nested region district ward" in said
    assert "ward (6) lies within region (2)" in said
    values = {str(value) for column in PLACES.columns for value in column.to_pylist() if len(str(value)) > 1}
    assert not any(value in said for value in values - {"None", "here"})
    assert main.main([*call, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nested"] == [["region", "district", "ward"]]
    assert main.main(["nested", str(tmp_path / name), "--by", "sex", "region"]) == 0
    assert "No column lies within another in these records." in capsys.readouterr().out
    for by, told in (["sex"], "by must be 2 to 40 columns, got ['sex']"), (["sex", "sex"], "each once"):
        assert main.main(["nested", str(tmp_path / name), "--by", *by]) == 2
        assert told in capsys.readouterr().err


def test_no_records_have_no_hierarchies() -> None:
    assert microdata.nested_columns(PLACES.slice(0, 0), ["region", "ward"]).within == ()
