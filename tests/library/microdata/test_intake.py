"""What offices bring along, in the ways in which it went wrong once: nothing leaks, nothing is misread."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tablebuilder_dp import microdata
from tablebuilder_dp.counts import perturbation_table
from tablebuilder_dp.counts.perturbation_table import PerturbationTable, Segments
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.microdata import cell_keys, secret, statement
from tablebuilder_dp.microdata.record_keys import KEYS

NAME = "Hans Meier"
TABLE = microdata.from_table(perturbation_table.build(OfVariance(3, 2), keysize=2**32))


@pytest.fixture
def whole(tmp_path: Path) -> dict[str, Any]:
    """The options of a table whose categories come from the data."""
    microdata.make_secret(tmp_path / "key.bin", seed=1)
    protection = microdata.design(1, "1e-3", cells=1)
    return {
        "secret_file": tmp_path / "key.bin",
        "edition": "1",
        "protection": protection,
        "categories_from_data": True,
    }


def failing_relation() -> Any:
    return duckdb.sql(f"SELECT CAST('{NAME}' AS INTEGER) AS a")


def failing_frame() -> Any:
    return pl.DataFrame({"a": [NAME]}).lazy().select(pl.col("a").cast(pl.Int32))


@pytest.mark.parametrize("source", [failing_relation, failing_frame])
def test_the_error_of_a_lazy_source_shows_no_record(source: Any, whole: dict[str, Any]) -> None:
    for call in (
        lambda: microdata.perturb(source(), by=["a"], **whole),
        lambda: microdata.add_keys(source(), id="a", secret_file=whole["secret_file"]),
        lambda: microdata.apply(source(), TABLE, by=["a"], count="n", cell_key="k"),
    ):
        with pytest.raises(ValueError, match=r"^the records cannot be read: what was given ended with \w+$"):
            call()


def test_a_category_that_no_record_has_any_more_is_not_published(whole: dict[str, Any]) -> None:
    """A dictionary of Arrow keeps what was filtered out, in the order in which it was met."""
    people = pa.table({"a": pa.array(["z", NAME, "b"]).dictionary_encode()})
    left = people.filter(pc.not_equal(people["a"], NAME))
    frame = pl.DataFrame({"a": ["z", "b"]}, schema={"a": pl.Categorical})
    for source in (left, frame):
        made = microdata.perturb(source, by=["a"], **whole).table
        assert made["a"].to_pylist() == ["b", "z"]
    declared = pl.DataFrame({"a": ["z", "b"]}, schema={"a": pl.Enum(["z", "y", "b"])})
    assert microdata.perturb(declared, by=["a"], **whole).table["a"].to_pylist() == ["z", "y", "b"]


@pytest.mark.parametrize("names", [KEYS[::-1], KEYS[:1]])
def test_another_secret_is_refused_however_its_keys_are_named(
    names: tuple[str, ...], tmp_path: Path, whole: dict[str, Any]
) -> None:
    people = pa.table({"id": [str(n) for n in range(20)], "a": ["x", "y"] * 10})
    keyed = microdata.add_keys(people, id="id", secret_file=whole["secret_file"])
    microdata.make_secret(tmp_path / "other.bin", seed=2)
    options: dict[str, Any] = {"by": ["a"], "protection": TABLE, "record_keys": names}
    assert microdata.perturb(keyed, secret_file=whole["secret_file"], **options)
    with pytest.raises(ValueError, match="^secret_file must be the secret that made the record keys"):
        microdata.perturb(keyed, secret_file=tmp_path / "other.bin", **options)


def test_a_table_of_an_edition_is_not_replaced_by_one_with_another_secret(
    tmp_path: Path, whole: dict[str, Any]
) -> None:
    people, out = pa.table({"a": ["x", "y"]}), tmp_path / "out.csv"
    microdata.perturb(people, by=["a"], **whole).write(out)
    before = out.read_bytes()
    microdata.make_secret(tmp_path / "other.bin", seed=2)
    other = whole | {"secret_file": tmp_path / "other.bin"}
    with pytest.raises(ValueError, match="^secret_file must be the secret of the statement .* but"):
        microdata.perturb(people, by=["a"], **other).write(out)
    assert out.read_bytes() == before
    assert not (tmp_path / "other.bin.journal.jsonl").exists()
    microdata.perturb(people, by=["a"], **other | {"edition": "2"}).write(out)
    told = json.loads(Path(f"{out}.statement.json").read_text("utf-8"))
    assert told["edition"] == "2"


ADDRESS = "postgresql://office:p@ss/w0rd@host/db"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (ADDRESS, "postgresql://…"),
        (f"jdbc:{ADDRESS}", "jdbc:postgresql://…"),
        (microdata.Csv("s3://bucket/people.csv", delimiter=";"), "s3://…"),
        (Path("s3://bucket/people.csv"), "s3://…"),
    ],
)
def test_of_an_address_only_its_beginning_is_told(source: Any, told: str, whole: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="^records must be a file of this machine or a table") as refused:
        microdata.perturb(source, by=["a"], **whole)
    assert f"got an address, {told}: " in str(refused.value)
    assert not {"w0rd", "ss/", "host", "bucket"} & set(str(refused.value).replace("@", " ").split())
    assert "w0rd" not in str(refused.value)


def test_integers_of_text_sort_as_integers_in_one_order(tmp_path: Path, whole: dict[str, Any]) -> None:
    texts = ["10", "007", "7", "-1", "+3", "12345678901234567890", "4294967296", "07"]
    expected = ["-1", "+3", "007", "07", "7", "10", "4294967296", "12345678901234567890"]
    for order in (texts, texts[::-1]):
        (tmp_path / "people.csv").write_text("a,b\n" + "".join(f"{text},x\n" for text in order))
        made = microdata.perturb(tmp_path / "people.csv", by=["a"], **whole).table
        assert made["a"].to_pylist() == expected
        whole["edition"] += "0"


def test_record_keys_as_r_and_pandas_have_them(tmp_path: Path) -> None:
    """R writes the decimal 0 as 0; pandas makes integers floats where one is missing."""
    options: dict[str, Any] = {"by": ["a"], "protection": TABLE, "record_keys": ["k"], "audit": True}
    for zero in ("0", "00", "-0"):
        (tmp_path / "people.csv").write_text(f"a,k\nx,{zero}\nx,0.25\ny,1e-05\n")
        assert len(microdata.perturb(tmp_path / "people.csv", **options).table) == 2
    (tmp_path / "people.csv").write_text("a,k\nx,0\nx,0.25\ny,1e-05\n")
    found = microdata.perturb(tmp_path / "people.csv", **options).table
    assert found["cell_key"].to_pylist() == [0.25, 1e-05]
    keys = [3_000_000_000, 7, 4_000_000_000]
    for given in (pa.array(keys), pa.array(map(float, keys)), pa.array([Decimal(key) for key in keys])):
        found = microdata.perturb(pa.table({"a": ["x", "x", "y"], "k": given}), **options).table
        assert found["cell_key"].to_pylist() == [3_000_000_007, 4_000_000_000]
    four = pd.DataFrame({"a": ["x", "y"], **{key: [5.0, 6.0] for key in KEYS}})
    options["record_keys"] = KEYS
    assert len(microdata.perturb(four, **options).table) == 2
    for wrong in ([5.5, 6.0], [5.0, np.nan]):
        with pytest.raises(ValueError, match="^record_keys must be integers from 1 .* not in 1 record$"):
            microdata.perturb(four.assign(record_key_1=wrong), **options)
    for text in ("0.1_1", "0.5d", "0x1p-1", "0,5"):
        (tmp_path / "people.csv").write_text(f'a,k\nx,0.25\ny,"{text}"\n')
        if text == "0,5":
            assert len(microdata.perturb(tmp_path / "people.csv", **{**options, "record_keys": ["k"]}).table)
            continue
        with pytest.raises(ValueError, match="^record_keys must be decimals in .* not in 1 record$"):
            microdata.perturb(tmp_path / "people.csv", **{**options, "record_keys": ["k"]})


@pytest.mark.parametrize("place", ["s3://bucket/a.csv", "https://host/a.csv"])
def test_addresses_of_other_files_are_refused_too(place: str, whole: dict[str, Any]) -> None:
    told = f"must be a file of this machine, got an address, {place.partition('/')[0]}//…$"
    with pytest.raises(ValueError, match=f"^table {told}"):
        microdata.from_table(place)
    with pytest.raises(ValueError, match=f"^output {told}"):
        microdata.perturb(pa.table({"a": ["x"]}), by=["a"], **whole).write(place)


def test_a_mark_and_another_encoding_are_refused(tmp_path: Path, whole: dict[str, Any]) -> None:
    (tmp_path / "people.csv").write_bytes("a,b\nÅbo,1\n".encode("utf-8-sig"))
    with pytest.raises(ValueError, match="^encoding must be left out, or that of the mark at the beginning"):
        microdata.perturb(microdata.Csv(tmp_path / "people.csv", encoding="cp1252"), by=["b"], **whole)
    given = microdata.Csv(tmp_path / "people.csv", encoding="utf-8")
    assert microdata.perturb(given, by=["a"], **whole).table["a"].to_pylist() == ["Åbo"]


@pytest.mark.parametrize("keysize", [7, 100, 1000])
def test_an_ons_table_whose_noise_rises_has_its_own_keys_too(keysize: int) -> None:
    ends = (keysize // 3, keysize - 2, keysize)
    orders = [Segments((keysize,), (0,)), Segments(ends, (-1, 0, 1))]
    table = PerturbationTable.of_segments(orders, keysize=keysize, support=1, period=0)
    keys = np.random.default_rng(4).integers(0, keysize, 20)
    people = pa.table({"a": [str(n) for n in range(20)], "k": keys})
    protection = microdata.from_table(table)
    made = microdata.perturb(people, by=["a"], protection=protection, record_keys=["k"], audit=True).table
    by_key = dict(zip(people["a"].to_pylist(), keys.tolist(), strict=True))
    for row in made.to_pylist():
        key = by_key[row["a"]]
        assert row["cell_key"] == key
        assert row["noise"] == (-1 if key < ends[0] else 0 if key < ends[1] else 1)


def test_keys_of_four_columns_use_an_ons_table_of_any_size_by_their_leading_bits() -> None:
    orders = [Segments((100,), (0,)), Segments((25, 50, 100), (-1, 0, 1))]
    table = PerturbationTable.of_segments(orders, keysize=100, support=1, period=0)
    keys = np.random.default_rng(6).integers(1, 2**32, (4, 20), dtype=np.uint32)
    people = pa.table({"a": [str(n) for n in range(20)], **dict(zip(KEYS, keys, strict=True))})
    made = microdata.perturb(people, by=["a"], protection=microdata.from_table(table), audit=True)
    for row in made.table.to_pylist():
        share = row["cell_key"] / 2**32
        assert row["noise"] == (-1 if share < 0.25 else 0 if share < 0.5 else 1)
    assert made.statement["noise"]["keysize"] == 2**32


def test_the_odds_of_counts_that_are_left_out_are_bounded_as_such() -> None:
    """That a count is left out tells more than any count."""
    cells = pa.table({"g": [*"abc"], "n": [3, 8, 9], "k": [0.1, 0.5, 0.9]})
    options: dict[str, Any] = {"by": ["g"], "count": "n", "cell_key": "k", "suppress_below": 5}
    found = microdata.apply(cells, TABLE, **options).statement["one_cell"]
    whole = microdata.apply(cells, TABLE, **options | {"suppress_below": None}).statement["one_cell"]
    assert found == statement.one_cell(TABLE.table, None, left_out=True)
    losses = [[one[name]["loss_above_epsilon"] for name in found] for one in (found, whole)]
    assert all(more >= less for more, less in zip(*losses, strict=True))
    assert losses[0] != losses[1]


def test_the_same_records_have_the_same_digest_whoever_holds_them(tmp_path: Path) -> None:
    hidden = secret.Secret(bytes(32))
    table = pa.table({"a": ["x", "y"], "n": [1, 2]})
    frame = table.to_pandas()
    (tmp_path / "people.csv").write_text("a,n\nx,1\n")

    def digest(source: Any) -> bytes:
        with cell_keys.input_digest(hidden, source) as found:
            return found.result()

    noted = table.replace_schema_metadata({"pandas": "another version"})
    assert digest(table) == digest(noted)
    assert digest(frame) == digest(frame.set_index([[5, 6]]).reset_index(drop=True))
    named = [microdata.Csv(tmp_path / "people.csv", encoding=name) for name in ("latin1", "iso-8859-1")]
    assert digest(named[0]) == digest(named[1])
    assert digest(pa.concat_tables([table.slice(0, 1), table.slice(1)])) == digest(table)
    assert digest(pl.from_arrow(table)) == digest(table)
    different = [
        table.rename_columns(["a", "m"]),
        table.select(["n", "a"]),
        table.set_column(0, "a", [["xy", ""]]),
        table.set_column(0, "a", [["x", None]]),
        table.set_column(1, "n", pa.chunked_array([pa.array([1, 2], pa.int32())])),
        table.slice(0, 1),
    ]
    assert len({digest(other) for other in [table, *different]}) == 1 + len(different)


@pytest.mark.parametrize("unit", [10**2, 10**9, 10**10, 10**12, 10**19, 2**32, 2**40, 2**64])
def test_empty_cells_get_every_noise_of_a_table_of_any_keysize(unit: int, whole: dict[str, Any]) -> None:
    ends = (unit // 4, unit // 2, unit)
    orders = [Segments(ends, (0, 1, 2))] * 2
    table = PerturbationTable.of_segments(orders, keysize=unit, support=2)
    made = microdata.perturb(
        pa.table({"a": ["0"], "k": [0.5]}),
        by=["a"],
        categories={"a": [str(n) for n in range(400)]},
        protection=microdata.from_table(table),
        record_keys=["k"],
        secret_file=whole["secret_file"],
        audit=True,
    )
    noise = made.table["noise"].to_pylist()[1:]
    assert [70 < noise.count(value) < 130 for value in (0, 1)] == [True, True]
    assert 160 < noise.count(2) < 240
    again = microdata.apply(
        made.table, made.protection, by=["a"], count="true_count", cell_key="cell_key", audit=True
    )
    assert again.table["noise"].to_pylist()[1:] == noise


def test_a_cell_one_person_below_a_total_two_levels_up_is_counted() -> None:
    """The level between them has one category and so no row of its own."""
    paths = [["N", "N1", "N1a"], ["N", "N2", "N2a"], ["S", "S1", "S1a"]]
    people = [paths[0], *[paths[1]] * 9, *[paths[2]] * 5]
    columns = {name: [path[place] for path in people] for place, name in enumerate(["r", "d", "m"])}
    keys = np.random.default_rng(2).integers(1, 2**32, (4, len(people)))
    records = pa.table({**columns, **dict(zip(KEYS, keys, strict=True))})
    made = microdata.perturb(
        records,
        by=["r", "d", "m"],
        margins=True,
        nested=[["r", "d", "m"]],
        categories={"m": paths},
        protection=TABLE,
    )
    assert made.exposed == 1  # 9 of N2a, 10 of N
    rows = {tuple(row[name] for name in ("r", "d", "m")) for row in made.table.to_pylist()}
    assert len(made.table) == len(rows)
    assert rows == {*map(tuple, paths), ("N", None, None), (None, None, None)}
    cells = pa.table({name: [path[place] for path in paths] for place, name in enumerate(["r", "d", "m"])})
    options: dict[str, Any] = {"by": ["r", "d", "m"], "margins": True, "nested": [["r", "d", "m"]]}
    listed = microdata.perturb(records, **options, cells=cells, protection=TABLE)
    assert listed.table == made.table


@pytest.mark.parametrize("other", ["A 1", "A  1", "A1\t", "A\u200b1", "\u00a0A1", "A1\r"])
def test_ids_that_look_alike_are_told(other: str, whole: dict[str, Any]) -> None:
    with pytest.warns(UserWarning, match="1 of the ids in 'id' differ from another only by spaces"):
        microdata.add_keys(pa.table({"id": ["A1", other, "B"]}), id="id", secret_file=whole["secret_file"])


def test_an_id_of_spaces_is_missing(whole: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="^id must be given for every record, but 'id' is missing in 1$"):
        microdata.add_keys(pa.table({"id": ["A1", " \t"]}), id="id", secret_file=whole["secret_file"])


def test_composite_ids_never_meet(whole: dict[str, Any]) -> None:
    """Each text stands behind its own length, so that no other texts can make the same."""
    rows = [("a", "x:1:y", "z"), ("a", "x", "y:1:z"), ("a:", "x", "z"), ("a", ":x", "z")]
    people = pa.table({name: [row[place] for row in rows] for place, name in enumerate("abc")})
    keyed = microdata.add_keys(people, id=["a", "b", "c"], secret_file=whole["secret_file"])
    assert len(set(keyed[KEYS[0]].to_pylist())) == len(rows)


def test_columns_that_arrow_does_not_have_are_named(whole: dict[str, Any]) -> None:
    months = pd.DataFrame({"a": ["x"], "month": pd.period_range("2020-01", periods=1, freq="M")})
    with pytest.raises(ValueError, match="^records must be of types that files have, and 'month' is not"):
        microdata.perturb(months, by=["a"], **whole)
    mixed = pd.DataFrame({"a": ["x", "y"], "b": [NAME, 5]})
    with pytest.raises(TypeError, match="got DataFrame, as 'b' does not have values of one type$") as told:
        microdata.perturb(mixed, by=["a"], **whole)
    assert NAME not in str(told.value)
    money = pl.DataFrame({"a": [Decimal("1.50"), Decimal("2")]})
    assert microdata.perturb(money, by=["a"], **whole).table["a"].to_pylist() == [1.5, 2.0]


@pytest.mark.parametrize(("people", "warned"), [(60, True), (120, False)])
def test_a_column_with_a_name_for_every_third_person_is_warned_about(
    people: int, warned: bool, whole: dict[str, Any], recwarn: pytest.WarningsRecorder
) -> None:
    microdata.perturb(pa.table({"a": [f"n{n % 30}" for n in range(people)]}), by=["a"], **whole)
    assert [str(one.message).startswith("inside the office: 'a' has 30") for one in recwarn] == [
        True
    ] * warned


def test_a_hierarchy_that_is_not_in_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "codes.hrc").write_bytes("København\n@ Ærø\n".encode("latin-1"))
    with pytest.raises(ValueError, match="^hierarchy must be a text file in UTF-8, got "):
        microdata.read_hierarchy(tmp_path / "codes.hrc")
    (tmp_path / "codes.hrc").write_text("København\n@ Ærø\n", encoding="utf-8")
    assert microdata.read_hierarchy(tmp_path / "codes.hrc") == [["København", "Ærø"]]


def test_a_perturbation_table_in_memory_is_that_of_its_file(tmp_path: Path) -> None:
    text = "i,j,p,v,p_int_ub\n0,0,1,0,1\n1,0,0.25,-1,0.25\n1,1,0.5,0,0.75\n1,2,0.25,1,1\n"
    (tmp_path / "table.csv").write_text(text)
    of_file = microdata.from_table(tmp_path / "table.csv")
    for frame in (pd.read_csv(tmp_path / "table.csv"), pl.read_csv(tmp_path / "table.csv")):
        assert microdata.from_table(frame).table == of_file.table
    with pytest.raises(ValueError, match="^line 1 of the table must be a header, one of"):
        microdata.from_table(pd.DataFrame({"a": [1]}))
    with pytest.raises(TypeError, match="^records must be a path or a table"):
        microdata.from_table(5)
