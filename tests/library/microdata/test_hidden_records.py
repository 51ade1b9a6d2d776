"""Whatever is wrong with the records, no message shows anything that stands in them.

Every field of every record holds a mark; where one must not (a key, a date), a number that nothing else has.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from support.damaged import (
    MARK,
    NOISE,
    NUMBER,
    PARQUET,
    ROWS,
    calls,
    columns,
    files,
    hidden,
    told,
    without_keys,
)

from tablebuilder_dp import microdata
from tablebuilder_dp.cli import main
from tablebuilder_dp.microdata import formats, records
from tablebuilder_dp.microdata.record_keys import KEYS


def test_no_error_shows_a_record(tmp_path: Path, secret_file: Path) -> None:
    failed = 0
    for name, path in files(tmp_path).items():
        asked = calls(path, secret_file)
        plain = without_keys(path)
        for end in ("csv", "parquet"):
            out = tmp_path / f"out.{end}"
            asked[f"keys {end}"] = lambda out=out, plain=plain: microdata.add_keys(  # type: ignore[misc]
                plain, out, id="id", secret_file=secret_file
            )
            asked[f"wrong id {end}"] = lambda out=out, plain=plain: microdata.add_keys(  # type: ignore[misc]
                plain, out, id="h", secret_file=secret_file
            )
        for what, run in asked.items():
            said = told(run)
            failed += bool(said)
            try:
                hidden(said)
            except AssertionError as error:
                raise AssertionError(f"{name}, {what}: {error}") from None
    assert failed > 200


@pytest.mark.unmeasured
def test_no_command_shows_a_record(
    tmp_path: Path, secret_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nor does a file of records that is given in place of another."""
    found = files(tmp_path)
    (tmp_path / "people.json").write_text(json.dumps([{"id": MARK}] * 3), encoding="utf-8")
    (tmp_path / "people.txt").write_bytes(f"{MARK}é".encode("latin-1"))
    (tmp_path / "bare.csv").write_text(f"{MARK},{MARK},{NUMBER}\n", encoding="utf-8")
    good = tmp_path / "whole.parquet"
    out = ["-o", str(tmp_path / "out.csv")]
    by_g = ["perturb", str(good), "--by", "g", *NOISE, *out]
    others = [tmp_path / name for name in ("people.json", "people.txt", "bare.csv", "whole.parquet")]
    asked = [[*by_g, "--categories", str(path)] for path in others]
    asked += [["perturb", str(good), "--by", "g", "--table", str(path), *out] for path in others]
    asked += [["privacy", "--table", str(path)] for path in others]
    asked += [[*by_g, "--small-counts", "clamped", "--secret-file", str(path)] for path in others]
    whole = ["--epsilon", "1", "--delta", "0.01", "--edition", "1", "--secret-file", str(secret_file), *out]
    asked += [["perturb", str(good), "--by", "g", *whole, "--categories", str(path)] for path in others]
    for path in list(found.values())[:: 1 + len(found) // 60]:
        asked.append(["perturb", str(path), "--by", "g", "h", *whole, "--categories-from-data"])
        asked.append(["perturb", str(path), "--by", "g", *NOISE, *out])
        asked.append(["perturb", str(path), "--by", "h", *NOISE, *out, "--cells", str(path)])
        keys = ["keys", str(without_keys(path)), "--secret-file", str(secret_file), *out]
        asked += [[*keys, "--id", "id"], [*keys, "--id", "g"]]
    failed = 0
    for arguments in asked:
        failed += main.main(arguments) == 2
        hidden(capfd.readouterr().err)
    assert failed > 60


@pytest.mark.parametrize(
    "source", [[{"id": MARK}], {"id": [MARK], "g": [1, 2]}, MARK.encode(), ((MARK, NUMBER),)]
)
def test_what_is_no_table_is_told_by_its_type(source: Any) -> None:
    said = told(lambda: microdata.perturb(source, by=["id"], protection=ROWS))
    hidden(said)
    assert f"records must be a path or a table that Arrow understands, got {type(source).__name__}" in said


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(MARK),
        KeyError(MARK),
        OverflowError(NUMBER),
        UnicodeDecodeError("utf-8", MARK.encode() + b"\xff", 5, 6, "invalid start byte"),
        pa.ArrowInvalid(f"Row #2: {MARK}"),
        OSError(f"damaged at {MARK}"),
        OSError(5, f"damaged at {MARK}"),
    ],
)
def test_what_an_engine_says_is_not_passed_on(error: Exception, tmp_path: Path) -> None:
    def fail() -> None:
        with records.readable(tmp_path / "people.csv"):
            raise error

    said = told(fail)
    hidden(said)
    assert "people.csv" in said


MESSAGES = {
    "too many fields": "line 3 has more or fewer fields than the first",
    "too few fields": "line 3 has more or fewer fields than the first",
    "a quote that stays open": "line 3 has a quote that is not closed, or text after one",
    "not UTF-8": "encoding must be given for a text file that is not in UTF-8, got ",
    "ids that repeat": "id must differ from record to record, but 1 value of 'id' occurs more than once",
    "ids that repeat or lack": "id must be given for every record, but 'id' is missing in 1",
    "ids that repeat (Parquet)": "differ from record to record, but 1 value of 'id' occurs more than once",
    "ids that lack (Parquet)": "id must be given for every record, but 'id' is missing in 2",
    "one empty field too many": "has more or fewer fields than the first",
    "a list (Parquet)": "output must be a .parquet file, as CSV has no such columns",
}


@pytest.mark.parametrize("name", MESSAGES)
def test_what_is_wrong_is_told_all_the_same(name: str, tmp_path: Path, secret_file: Path) -> None:
    path = without_keys(files(tmp_path)[name])
    said = told(lambda: microdata.add_keys(path, tmp_path / "out.csv", id="id", secret_file=secret_file))
    assert MESSAGES[name] in said


def test_what_is_not_listed_is_counted() -> None:
    people = columns(g=["a", "b", None])
    for categories, message in (
        (["a"], "categories of 'g' must list all that occur, but 2 are not in the list, null among them"),
        (["a", "b"], "categories of 'g' must list all that occur, but 1 is not in the list: null"),
        (["b", None], "categories of 'g' must list all that occur, but 1 is not in the list"),
    ):
        with pytest.raises(ValueError) as found:
            microdata.perturb(people, by=["g"], protection=ROWS, categories={"g": categories})
        assert str(found.value) == message
    for margins in (False, True):
        with pytest.raises(ValueError) as found:
            microdata.perturb(
                people,
                by=["g", "h"],
                protection=ROWS,
                margins=margins,
                cells=pa.table({"g": ["a", "b", None, "a"], "h": [MARK, "x", "x", "x"]}),
            )
        assert str(found.value) == "cells must list all that have people, but 2 are not in the list"


def test_keys_that_are_none_are_counted() -> None:
    for margins in (False, True):
        with pytest.raises(ValueError, match="record_keys must be integers .* are not in 2 records"):
            microdata.perturb(
                columns(**{KEYS[1]: [-1, NUMBER, 2**32]}), by=["g"], protection=ROWS, margins=margins
            )


def test_categories_too_large_for_a_table_are_named() -> None:
    for source in (PARQUET["categories above 2^63"],):
        with pytest.raises(
            ValueError, match="by must name columns of integers below 2\\^63, which 'g' is not"
        ):
            microdata.perturb(source, by=["g"], protection=ROWS)


@pytest.mark.parametrize("name", ["a list", "ids in bytes"])
def test_cells_of_types_without_categories_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "cells.parquet"
    formats_of = {"a list": "g", "ids in bytes": "id"}[name]
    pyarrow.parquet.write_table(PARQUET[name], path)
    with pytest.raises(ValueError, match=f"cells must name columns of text, .* got '{formats_of}', which is"):
        microdata.perturb(columns(), by=[formats_of], protection=ROWS, cells=path)


def test_cells_of_another_type_are_refused_in_one_line() -> None:
    with pytest.raises(ValueError) as found:
        microdata.perturb(
            columns(g=[1, 2, 3]),
            by=["g"],
            protection=ROWS,
            cells=pa.table({"g": [MARK]}),
        )
    assert str(found.value) == "cells must have categories of type integer in 'g', got some of type string"


def test_a_failed_copy_shows_nothing(
    tmp_path: Path, secret_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = without_keys(files(tmp_path)["too many fields"])
    path.write_bytes(path.read_bytes().removesuffix(f",{MARK}\n".encode()))

    class Sink:
        def __init__(self, *_: Any, **__: Any) -> None: ...
        def __enter__(self) -> "Sink":
            return self

        def __exit__(self, *_: object) -> None: ...
        def write_batch(self, batch: Any) -> None:
            raise pa.ArrowInvalid(str(batch.to_pylist()))

    monkeypatch.setattr(formats, "sink", Sink)
    said = told(lambda: microdata.add_keys(path, tmp_path / "o.csv", id="id", secret_file=secret_file))
    hidden(said)
    assert "ArrowInvalid" in said
