"""Tables for readers: the same cells in a notebook and in a terminal."""

import pytest

from compendium.run.table import Table


def test_numbers_are_flush_right_and_words_flush_left() -> None:
    table = Table(["D", "it", "δ"], [(9, "misses", "1.2e-3"), (10, "reaches", 0.000912345)])
    assert repr(table).splitlines() == [
        " D  it               δ",
        " 9  misses      1.2e-3",
        "10  reaches  0.0009123",
    ]
    assert table._repr_markdown_().splitlines() == [
        r"| $D$ | it | $\delta$ |",
        "| ---: | --- | ---: |",
        "| 9 | misses | 1.2·10<sup>−3</sup> |",
        "| 10 | reaches | 0.0009123 |",
    ]


def test_a_cell_may_hold_a_bar() -> None:
    assert r"| \|z\| |" in Table(["|z|"], [("1",)])._repr_markdown_()


def test_a_table_without_rows_shows_its_headings() -> None:
    assert repr(Table(["D", "δ"], [])) == "D  δ"


def test_a_row_has_a_cell_for_each_heading() -> None:
    with pytest.raises(ValueError, match="rows must be rows with a cell for each of 2 headings"):
        Table(["D", "δ"], [(1,)])


def test_a_number_may_be_a_fraction_or_missing() -> None:
    assert repr(Table(["p"], [("3/4",), ("–",)])).splitlines() == ["  p", "3/4", "  –"]


def test_every_column_has_a_heading() -> None:
    with pytest.raises(ValueError, match="headings must be words for every column"):
        Table(["D", ""], [])
