"""Records as offices have them: text files as Europe writes them, tables in memory, addresses."""

import gzip
import re
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

from tablebuilder_dp import microdata
from tablebuilder_dp.microdata import cell_keys, secret
from tablebuilder_dp.microdata.records import opened
from tablebuilder_dp.microdata.sources import Csv

ROWS = [["Zürich", "1"], ["Łódź", "2"], ["a;b,c\td|e", "1"], ['say "so"', ""]]
NAMES = ["Ort", "Größe"]
TABLE = "i;j;p;v;p_int_ub\n0;0;1.00;0;1.00\n1;0;0.25;-1;0.25\n1;1;0.50;0;0.75\n1;2;0.25;1;1.00\n"


def text(delimiter: str, *, header: bool = True) -> str:
    lines = [NAMES, *ROWS] if header else ROWS
    quoted = [['"' + field.replace('"', '""') + '"' if field else "" for field in line] for line in lines]
    return "".join(delimiter.join(line) + "\r\n" for line in quoted)


def read(source: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
    with opened(source) as records:
        chosen = ", ".join(column.alias for column in records.columns)
        rows = records.query(f"SELECT {chosen} FROM {records.view}").to_pylist()  # noqa: S608
        return [column.name for column in records.columns], [tuple(row.values()) for row in rows]


EXPECTED = [tuple(field or None for field in row) for row in ROWS]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", [".csv", ".txt", ".csv.gz", ".TSV"])
def test_what_a_file_says_of_itself_is_found(tmp_path: Path, delimiter: str, encoding: str, end: str) -> None:
    path = tmp_path / f"people{end}"
    content = text(delimiter).encode(encoding)
    path.write_bytes(gzip.compress(content) if end.endswith(".gz") else content)
    assert read(path) == (NAMES, EXPECTED)
    assert read(str(path)) == (NAMES, EXPECTED)


@pytest.mark.parametrize("encoding", ["cp1250", "iso8859-2", "utf-16-le"])
def test_an_encoding_without_a_mark_is_given(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(text(";").encode(encoding))
    assert read(Csv(path, encoding=encoding)) == (NAMES, EXPECTED)
    if encoding != "utf-16-le":  # which is UTF-8 with zeros in it
        with pytest.raises(
            ValueError, match="^encoding must be given for a text file that is not in UTF-8, "
        ):
            read(path)


def test_a_byte_deep_in_a_file_is_told_like_one_at_its_head(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 300_000 + "3,é\n".encode("cp1252"))
    with pytest.raises(ValueError, match=r"not in UTF-8"):
        read(path)
    assert read(Csv(path, encoding="cp1252"))[1][-1] == ("3", "é")
    path.write_bytes(b"a,b\n" + b"1,2\n" * 300_000 + b"3,\x81\n")
    with pytest.raises(ValueError, match="^encoding must be given for a text file that is not in cp1252"):
        read(Csv(path, encoding="cp1252"))


def test_a_file_without_names_has_columns_by_their_place(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(text(";", header=False), encoding="utf-8")
    assert read(Csv(path, header=False)) == (["column_1", "column_2"], EXPECTED)


def test_one_column_needs_no_delimiter_and_two_possible_ones_are_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n1\n2\n", encoding="utf-8")
    assert read(path) == (["age"], [("1",), ("2",)])
    path.write_text("a,b;c\n1,5;2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="^delimiter must be given, as the first lines of .* comma or semi"):
        read(path)
    assert read(Csv(path, delimiter=";")) == (["a,b", "c"], [("1,5", "2")])
    path.write_text("id;wage\n1;2,5\n2;3,5\n", encoding="utf-8")
    assert read(path) == (["id", "wage"], [("1", "2,5"), ("2", "3,5")])
    path.write_text("id,name|alias\n1,x\n", encoding="utf-8")
    assert read(path)[0] == ["id", "name|alias"]


def test_how_a_file_is_read_is_part_of_what_its_noise_follows(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    hidden = secret.Secret(bytes(32))
    made = []
    for source in (path, str(path), Csv(path), Csv(path, header=False), Csv(path, encoding="latin-1")):
        with cell_keys.input_digest(hidden, source) as digest:
            made.append(digest.result())
    assert made[0] == made[1] == made[2]
    assert len(set(made)) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delimiter": ";;"}, "delimiter must be one character, such as ;, got ';;'"),
        ({"delimiter": '"'}, "delimiter must be one character"),
        (
            {"encoding": "utf-99"},
            "encoding must be one that Python knows, such as cp1252 or utf-16, got 'utf-9",
        ),
        ({"path": 5}, "records must be the path of a file, got 5"),
    ],
)
def test_bad_ways_to_read_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        Csv(**{"path": "people.csv", **change})


@pytest.mark.parametrize(
    "address",
    ["s3://bucket/people.parquet", "postgresql://me:password@host/census", "https://x.org/a.csv?k=1"],
)
def test_an_address_is_refused_with_the_way_to_do_it(address: str) -> None:
    with pytest.raises(ValueError, match="^records must be a file of this machine .* download it") as told:
        read(address)
    assert "password" not in str(told.value)
    assert "?" not in str(told.value)
    assert address.partition("://")[0] + "://" in str(told.value)


def test_tables_in_memory_of_every_kind(tmp_path: Path) -> None:
    table = pa.table({"x": ["a", "b", None], "n": [1, 2, 3]})
    pyarrow.parquet.write_table(table, tmp_path / "people.parquet")
    expected = (["x", "n"], [("a", 1), ("b", 2), (None, 3)])
    relation = duckdb.connect().read_parquet(str(tmp_path / "people.parquet"))
    for source in (table, pyarrow.dataset.dataset(tmp_path / "people.parquet"), relation, table.to_reader()):
        assert read(source) == expected
    with pytest.raises(
        TypeError, match="^records must be a path or a table that Arrow understands, got type$"
    ):
        read(dict)


def test_keys_for_a_table_in_memory_are_those_of_the_file(tmp_path: Path) -> None:
    microdata.make_secret(tmp_path / "key.bin", seed=1)
    table = pa.table({"household": ["1", "1", "11"], "person": ["1", "11", "1"]})
    pyarrow.parquet.write_table(table, tmp_path / "people.parquet")
    options: dict[str, Any] = {"id": ["household", "person"], "secret_file": tmp_path / "key.bin"}
    made = microdata.add_keys(table, **options)
    assert microdata.add_keys(tmp_path / "people.parquet", tmp_path / "keyed.parquet", **options) is None
    assert pyarrow.parquet.read_table(tmp_path / "keyed.parquet").to_pylist() == made.to_pylist()
    assert len({row["record_key_1"] for row in made.to_pylist()}) == 3  # "1" and "11" are told apart
    with pytest.raises(
        ValueError, match="^id must differ .* but 1 value of 'household' occurs more than once"
    ):
        microdata.add_keys(table, id="household", secret_file=tmp_path / "key.bin")
    with pytest.raises(ValueError, match="^id must be one or more columns, each once"):
        microdata.add_keys(table, id=[], secret_file=tmp_path / "key.bin")


def test_another_secret_than_that_of_the_keys_is_refused(tmp_path: Path) -> None:
    for name, seed in (("key.bin", 1), ("other.bin", 2)):
        microdata.make_secret(tmp_path / name, seed=seed)
    people = pa.table({"id": range(100), "x": [str(place % 3) for place in range(100)]})
    protection = microdata.design_per_cell(1, "1e-3", small_counts="clamped")
    options: dict[str, Any] = {"by": ["x"], "protection": protection, "edition": None, "keys": "sums"}
    for end in (".csv", ".parquet"):
        keyed = tmp_path / f"keyed{end}"
        microdata.add_keys(people, keyed, id="id", secret_file=tmp_path / "key.bin")
        microdata.perturb(keyed, secret_file=tmp_path / "key.bin", **options)
        with pytest.raises(
            ValueError, match="^secret_file must be the secret that made the record keys, but"
        ):
            microdata.perturb(keyed, secret_file=tmp_path / "other.bin", **options)
        with pytest.raises(OSError, match="No such file"):
            microdata.perturb(keyed, secret_file=tmp_path / "none.bin", **options)


def test_decimals_and_times_are_categories(tmp_path: Path) -> None:
    microdata.make_secret(tmp_path / "key.bin", seed=1)
    day = datetime(2021, 8, 10, 12, 30)
    table = pa.table(
        {
            "t": pa.array([day, None], pa.timestamp("ns")),
            "d": pa.array([Decimal("1.50"), Decimal(-2)], pa.decimal128(10, 2)),
            "long": pa.array([Decimal("1.50"), Decimal(10**15)], pa.decimal128(30, 2)),
            "wide": pa.array([Decimal("1.50"), Decimal(-2)], pa.decimal128(38, 2)),
            "zone": pa.array([day, None], pa.timestamp("us", tz="UTC")),
        }
    )
    options: dict[str, Any] = {"protection": microdata.design(1, "1e-3", cells=1), "edition": "1"}
    options |= {"secret_file": tmp_path / "key.bin", "audit": True}
    made = microdata.perturb(
        table, by=["t"], categories={"t": [None, "2021-08-10T12:30", day.max]}, **options
    )
    assert made.table["t"].to_pylist() == [None, day, datetime.max]
    assert made.table["true_count"].to_pylist() == [1, 1, 0]
    for name in ("d", "wide"):  # Polars gives all decimals 38 digits
        made = microdata.perturb(table, by=[name], categories={name: [-2, 0, 1.5]}, **options)
        assert made.table["true_count"].to_pylist() == [1, 0, 1]
    for name, kind in (("long", r"decimal\(30,2\)"), ("zone", "timestamp with time zone")):
        with pytest.raises(
            ValueError, match=f"^by must name columns of .* got '{name}', which is of type {kind}$"
        ):
            microdata.perturb(table, by=[name], categories_from_data=True, **options)


def test_levels_and_their_order_are_kept_but_promise_nothing_by_themselves(tmp_path: Path) -> None:
    microdata.make_secret(tmp_path / "key.bin", seed=1)
    sizes = pa.DictionaryArray.from_arrays([0, 2, None], ["small", "medium", "large"], ordered=True)
    table = pa.table({"size": sizes})
    options: dict[str, Any] = {"by": ["size"], "protection": microdata.design(1, "1e-3", cells=1)}
    options |= {"edition": "1", "secret_file": tmp_path / "key.bin", "audit": True}
    made = microdata.perturb(table, categories_from_data=True, **options)
    assert made.table["size"].to_pylist() == ["small", "medium", "large", None]
    assert made.table["true_count"].to_pylist() == [1, 0, 1, 1]
    assert made.statement["whole_table"]["epsilon"] == "inf"  # levels may be what occurs
    with pytest.raises(ValueError, match="^categories must list those of size"):
        microdata.perturb(table, **options)


def test_integers_of_a_text_file_are_sorted_as_integers(tmp_path: Path) -> None:
    microdata.make_secret(tmp_path / "key.bin", seed=1)
    path = tmp_path / "people.csv"
    path.write_text("age,code\n10,b10\n9,b9\n-1,b1\n,\n", encoding="utf-8")
    options: dict[str, Any] = {"protection": microdata.design(1, "1e-3", cells=1), "edition": "1"}
    options |= {"secret_file": tmp_path / "key.bin", "categories_from_data": True}
    found = {by: microdata.perturb(path, by=[by], **options).table[by].to_pylist() for by in ("age", "code")}
    assert found == {"age": ["-1", "9", "10", None], "code": ["b1", "b10", "b9", None]}


DECIMALS = pytest.mark.parametrize("written", ["{}", "{:.15f}", "{:e}", "comma"])


@DECIMALS
def test_decimal_record_keys_give_what_the_table_means(tmp_path: Path, written: str) -> None:
    """As R's and tau-argus' users have them: a cell's key is the fraction of the sum, looked up in [0, 1)."""
    file = tmp_path / "table.txt"
    file.write_text(TABLE)
    drawn = np.random.default_rng(7).random(400).round(9)
    where = [str(place % 37) for place in range(400)]
    path = tmp_path / "people.csv"
    form = "{:.9f}" if written == "comma" else written
    texts = [form.format(key) for key in drawn]
    if written == "comma":
        texts = [text.replace(".", ",") for text in texts]
    lines = [f"{cell};{text}" for cell, text in zip(where, texts, strict=True)]
    path.write_text("\n".join(["cell;rkey", *lines]) + "\n", encoding="utf-8")
    options: dict[str, Any] = {"by": ["cell"], "record_keys": ["rkey"], "audit": True}
    options["protection"] = microdata.from_table(file)
    made = microdata.perturb(path, **options).table.to_pylist()
    in_memory = microdata.perturb(pa.table({"cell": where, "rkey": drawn}), **options).table.to_pylist()
    assert [row["count"] for row in made] == [row["count"] for row in in_memory] or written == "{:e}"
    for row in made:
        keys = [
            Fraction(text.replace(",", "."))
            for cell, text in zip(where, texts, strict=True)
            if cell == row["cell"]
        ]
        key = sum(keys) % 1
        assert row["noise"] == (-1 if key < Fraction(1, 4) else 0 if key < Fraction(3, 4) else 1)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([0.5, 1.0], "record_keys must be decimals in [0, 1) for every record, which k are not in 1 record"),
        ([0.5, float("nan")], "which k are not in 1 record"),
        ([0.5, None], "which k are not in 1 record"),
        ([0.5, -0.1], "which k are not in 1 record"),
        ([0.1] * 2000, "record_keys must be spread over all of [0, 1), which k are not"),
    ],
)
def test_decimals_that_are_no_keys_are_refused(tmp_path: Path, keys: list[Any], message: str) -> None:
    file = tmp_path / "table.txt"
    file.write_text(TABLE)
    table = pa.table({"x": ["a"] * len(keys), "k": keys})
    protection = microdata.from_table(file)
    with pytest.raises(ValueError, match=re.escape(message)):
        microdata.perturb(table, by=["x"], protection=protection, record_keys=["k"])


def test_names_of_people_and_ids_that_look_alike_are_warned_about(tmp_path: Path) -> None:
    microdata.make_secret(tmp_path / "key.bin", seed=1)
    people = pa.table({"name": [f"n{place}" for place in range(30)]})
    options: dict[str, Any] = {"by": ["name"], "protection": microdata.design(1, "1e-3", cells=1)}
    options |= {"edition": "1", "secret_file": tmp_path / "key.bin", "categories_from_data": True}
    with pytest.warns(UserWarning, match="inside the office: 'name' has 30 categories for 30 people"):
        microdata.perturb(people, **options)
    ids = pa.table({"id": ["é", "e\u0301", "b ", "b", "c"]})
    with pytest.warns(
        UserWarning, match="inside the office: 2 of the ids in 'id' differ from another only by"
    ):
        microdata.add_keys(ids, id="id", secret_file=tmp_path / "key.bin")


def test_a_statement_says_which_secret_made_the_noise(tmp_path: Path) -> None:
    found: list[str] = []
    for seed in (1, 1, 2):
        file = tmp_path / f"key-{len(found)}.bin"
        microdata.make_secret(file, seed=seed)
        options: dict[str, Any] = {
            "by": ["x"],
            "edition": "1",
            "secret_file": file,
            "categories": {"x": ["a"]},
        }
        protection = microdata.design(1, "1e-3", cells=1)
        made = microdata.perturb(pa.table({"x": ["a"]}), protection=protection, **options)
        found.append(made.statement["secret_fingerprint"])
    assert found[0] == found[1] != found[2]
    assert re.fullmatch("[0-9a-f]{16}", found[0])


def test_a_release_names_how_its_records_are_written(tmp_path: Path) -> None:
    microdata.make_secret(tmp_path / "key.bin", seed=1)
    (tmp_path / "people.txt").write_bytes("größe;x\nklein;1\ngroß;2\n".encode("cp1252"))
    text = """
        edition = "1"
        secret = "key.bin"
        folder = "out"
        [records]
        file = "people.txt"
        encoding = "cp1252"
        [privacy]
        epsilon = 1
        delta = 1e-3
        [variables]
        "größe" = {categories = ["klein", "groß"]}
        [[table]]
        name = "t"
        by = ["größe"]
    """
    file = tmp_path / "release.toml"
    file.write_text(text, encoding="utf-8")
    made = microdata.Release.from_toml(file).publish()
    assert made.tables["t"]["größe"].to_pylist() == ["klein", "groß"]
    assert re.fullmatch("[0-9a-f]{16}", made.statement["secret_fingerprint"])
    for wrong, message in {
        'encoding = "cp1252"': "encoding must be given for a text file that is not in UTF-8",
        'file = "people.txt"': "records must have 'file', got encoding",
    }.items():
        file.write_text(text.replace(wrong, "").replace('"1"', '"2"'), encoding="utf-8")
        with pytest.raises(ValueError, match=f"^{message}"):
            microdata.Release.from_toml(file).publish()
    file.write_text(text.replace("[records]", "").replace("file =", "records =").replace("encoding", "#"))
    file.write_text(file.read_text().replace('"people.txt"', '"s3://b/people.parquet"'), encoding="utf-8")
    with pytest.raises(ValueError, match="^records must be a file of this machine .* got an address, s3://…"):
        microdata.Release.from_toml(file)
