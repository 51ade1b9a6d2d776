"""Record keys: a record keeps its keys, and every record has its own."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import slow_tables

from tablebuilder_dp.cellkey import BIG_N
from tablebuilder_dp.microdata import add_keys, make_secret, record_keys, secret
from tablebuilder_dp.microdata.record_keys import FINGERPRINT, KEYS

HIDDEN = secret.Secret(bytes(32))


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    make_secret(tmp_path / "key.bin", seed=7)
    return tmp_path / "key.bin"


def written(folder: Path, name: str, columns: dict[str, Any]) -> Path:
    pyarrow.parquet.write_table(pa.table(columns), folder / name)
    return folder / name


def keys_by_id(path: Path, id: str = "id") -> dict[str, tuple[int, ...]]:
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    else:
        rows = pyarrow.parquet.read_table(path).to_pylist()
    return {str(row[id]): tuple(int(row[name]) for name in KEYS) for row in rows}


def keyed(source: Path, secret_file: Path, name: str = "keyed.parquet") -> dict[str, tuple[int, ...]]:
    add_keys(source, source.parent / name, id="id", secret_file=secret_file)
    return keys_by_id(source.parent / name)


def test_keys_are_the_keyed_hash_of_the_id(tmp_path: Path, secret_file: Path) -> None:
    ids = [1, 22, 10**17, -5]
    found = keyed(written(tmp_path, "a.parquet", {"id": ids}), secret_file)
    content = secret_file.read_bytes()
    assert found == {str(id): tuple(slow_tables.record_keys(content, id)) for id in ids}


def test_a_record_keeps_its_keys_whatever_happens_to_the_others(tmp_path: Path, secret_file: Path) -> None:
    ids = [f"person {n}" for n in range(500)]
    whole = keyed(written(tmp_path, "a.parquet", {"id": ids}), secret_file)
    mixed = np.random.default_rng(1).permutation(ids)[:200].tolist()
    fewer = keyed(written(tmp_path, "b.parquet", {"x": range(201), "id": [*mixed, "new"]}), secret_file)
    assert {id: fewer[id] for id in mixed} == {id: whole[id] for id in mixed}
    assert len({key for keys in whole.values() for key in keys}) == 2000


def test_csv_and_parquet_integers_and_texts_agree(tmp_path: Path, secret_file: Path) -> None:
    """In CSV an id is the text that stands there: 007 is not 7, whatever the other ids are."""
    parquet = keyed(written(tmp_path, "a.parquet", {"id": pa.array([7, 8], pa.int8())}), secret_file)
    (tmp_path / "a.csv").write_text("id,name\n7,x\n8,\n", encoding="utf-8")
    assert keyed(tmp_path / "a.csv", secret_file, "keyed.csv") == parquet
    assert keyed(tmp_path / "a.csv", secret_file) == parquet
    (tmp_path / "b.csv").write_text("name,id\nx,7\ny,007\n", encoding="utf-8")
    more = keyed(tmp_path / "b.csv", secret_file, "keyed.csv")
    assert more["7"] == parquet["7"] != more["007"]
    (tmp_path / "c.csv").write_text("name,id\ny,007\nz,abc\n", encoding="utf-8")
    assert keyed(tmp_path / "c.csv", secret_file, "keyed.csv")["007"] == more["007"]


def test_other_columns_and_the_order_are_kept(tmp_path: Path, secret_file: Path) -> None:
    columns = {
        "when": pa.array([3, 1, 2], pa.timestamp("us")),
        "id": pa.array(["c", "a", "b"]).dictionary_encode(),
        "list": [[1], [], None],
        'naïve, "name"': [1.5, None, float("inf")],
    }
    source = written(tmp_path, "a.parquet", columns)
    keyed(source, secret_file)
    table = pyarrow.parquet.read_table(tmp_path / "keyed.parquet")
    assert table.column_names == [*columns, *KEYS, FINGERPRINT]
    assert table.drop_columns([*KEYS, FINGERPRINT]) == pyarrow.parquet.read_table(source)
    assert {table.schema.field(name).type for name in KEYS} == {pa.uint32()}


def test_an_empty_text_and_a_missing_one_stay_different_in_csv(tmp_path: Path, secret_file: Path) -> None:
    (tmp_path / "a.csv").write_text('id,x\n1,""\n2,\n3,"a\nb"\n', encoding="utf-8")
    keyed(tmp_path / "a.csv", secret_file, "keyed.csv")
    lines = (tmp_path / "keyed.csv").read_text("utf-8").splitlines()
    assert lines[1].startswith('"1","",')
    assert lines[2].startswith('"2",,')
    assert lines[3:5] == ['"3","a', 'b",' + lines[4].removeprefix('b",')]


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.text(min_size=1), unique_by=str, max_size=8))
def test_a_hash_of_zero_becomes_a_key_with_the_same_sums(ids: list[Any]) -> None:
    texts = pa.array([str(id) for id in ids], pa.string())
    for column in record_keys.of_ids([texts], HIDDEN):
        numbers = column.to_numpy()
        assert ((numbers >= 1) & (numbers <= 2**32 - 1)).all()


def test_zero_is_no_record_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret, "hashes", lambda *_: np.array([[0, 1, 2, 3]], dtype=np.uint32))
    found = [column.to_pylist() for column in record_keys.of_ids([pa.array(["a"])], HIDDEN)]
    assert found == [[BIG_N], [1], [2], [3]]
    with pytest.raises(ValueError, match="id must be given for every record"):
        record_keys.of_ids([pa.array(["a", None])], HIDDEN)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"id": [1, 2, 1]},
            "id must differ from record to record, but 1 value of 'id' occurs more than once",
        ),
        ({"id": ["x", "x", "y", "y", "z"]}, "but 2 values of 'id' occur more than once"),
        ({"id": [1, None]}, "id must be given for every record, but 'id' is missing in 1"),
        ({"id": pa.array([None, None], pa.string())}, "but 'id' is missing in 2"),
        ({"id": ["a", "", None]}, "but 'id' is missing in 2"),
        ({"id": ["a", ""]}, "id must be given for every record, but 'id' is missing in 1"),
        ({"id": [1.0, 2.0]}, "id must be a column of integers or text, got 'id' of type number"),
        ({"id": [True, False]}, "got 'id' of type boolean"),
        ({"no": [1]}, "id must be one of no, got 'id'"),
        ({"id": [1], "record_key_2": [1]}, "records must be without the columns .* got 'record_key_2'"),
    ],
)
def test_ids_that_cannot_serve_are_refused_and_nothing_is_written(
    tmp_path: Path, secret_file: Path, columns: dict[str, Any], message: str
) -> None:
    source = written(tmp_path, "a.parquet", columns)
    with pytest.raises(ValueError, match=message):
        add_keys(source, tmp_path / "keyed.parquet", id="id", secret_file=secret_file)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "key.bin"]


def test_output_must_be_another_file(tmp_path: Path, secret_file: Path) -> None:
    source = written(tmp_path, "a.parquet", {"id": [1]})
    with pytest.raises(ValueError, match="output must be a file that is not read"):
        add_keys(source, source, id="id", secret_file=secret_file)
    with pytest.raises(ValueError, match="output must be a file whose name ends in .parquet or .csv"):
        add_keys(source, tmp_path / "a.xlsx", id="id", secret_file=secret_file)


def test_progress_is_told_and_a_failure_leaves_the_older_file(tmp_path: Path, secret_file: Path) -> None:
    source = written(tmp_path, "a.parquet", {"id": range(150_000)})
    told: list[int] = []
    options: dict[str, Any] = {"id": "id", "secret_file": secret_file}
    add_keys(source, tmp_path / "keyed.parquet", progress=told.append, **options)
    assert told[-1] == 150_000
    assert len(told) > 1
    before = (tmp_path / "keyed.parquet").read_bytes()

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        add_keys(source, tmp_path / "keyed.parquet", progress=stop, **options)
    assert (tmp_path / "keyed.parquet").read_bytes() == before
    assert not list(tmp_path.glob(".*"))
