"""Whatever is wrong with the records, no message shows anything that stands in them.

Every field of every record holds a mark; where one must not (a key, a date), a number that nothing else has.
"""

import io
import json
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from tablebuilder_dp import cli, microdata, perturbation_table
from tablebuilder_dp.microdata import formats, records
from tablebuilder_dp.microdata.record_keys import KEYS

MARK, NUMBER = "zebra", 7_654_321
NOISE = ["--epsilon", "1", "--delta", "0.01"]
KEYED = f"id,g,h,{','.join(KEYS)}"
ROWS = microdata.from_table(perturbation_table.build(support=3, variance=2, keysize=2**32, way="rows"))


def row(place: int, *, mark: str = MARK, key: object = NUMBER) -> str:
    return f"{mark}{place},{mark}g{place},{mark}h{place},{key},{key},{key},{key}"


def lines(*rows: str, before: int = 0) -> bytes:
    plain = (f"{n},a,b,{NUMBER},{NUMBER},{NUMBER},{NUMBER}" for n in range(before))
    return "\n".join([KEYED, *plain, *rows, ""]).encode()


CSV: dict[str, bytes] = {
    "too many fields": lines(row(1), row(2) + f",{MARK}"),
    "one empty field too many": lines(row(1), row(2) + ","),
    "too many fields, late": lines(row(1), row(2) + f",{MARK}", before=50_000),
    "one empty field too many, late": lines(row(1), row(2) + ",", before=50_000),
    "too few fields": lines(row(1), f"{MARK},{MARK}"),
    "one field": lines(row(1), MARK),
    "a quote that stays open": lines(row(1), f'{MARK},"{row(2)}', row(3)),
    "a quote that stays open, late": lines(row(1), f'{MARK},"{row(2)}', row(3), before=50_000),
    "text after a quote": lines(row(1), f'{MARK},"{MARK}"{MARK},{row(2)}'),
    "a quote in a text": lines(f'{MARK}1,{MARK}"x,{MARK},1,2,3,{MARK}', f'{MARK}2,"{MARK}" ,a,1,2,3,4'),
    "not UTF-8": lines(row(1)) + f"{row(2, mark=MARK + 'é')}\n".encode("latin-1"),
    "not UTF-8, late": lines(row(1), before=50_000) + f"{row(2, mark=MARK + 'é')}\n".encode("latin-1"),
    "UTF-16": lines(row(1)).decode().encode("utf-16"),
    "a line that is too long": lines(row(1), row(2, mark=MARK * 600_000)),
    "other line ends": lines(row(1) + "\r" + row(2), row(3) + "\r\n\r" + row(4)),
    "a zero byte": lines(row(1), row(2, mark=MARK + "\0")),
    "ids that repeat": lines(row(1), row(1)),
    "ids that repeat or lack": lines(row(1), row(1), row(1).removeprefix(f"{MARK}1")),
    "no ids": lines(row(1).removeprefix(f"{MARK}1")),
    "texts as keys": lines(row(1), row(2, key=MARK)),
    "keys that overflow": lines(row(1, key=NUMBER * 10**30)),
    "keys whose sums overflow": lines(*(row(1, key=NUMBER * 10**12) for _ in range(3))),
    "negative keys": lines(row(1, key=-NUMBER)),
    "keys with a fraction": lines(row(1, key=f"{NUMBER}.5")),
    "no names": lines(row(1), row(2)).split(b"\n", 1)[1],
    "no names, some twice": lines(f"{MARK},{MARK},{MARK}", row(2)).split(b"\n", 1)[1],
    "a quote in the names": KEYED.replace("h", '"h', 1).encode() + lines(row(1), f'{MARK}",', row(2)),
    "words of the engine": lines(
        f'"{MARK}\nCSV Error on Line: {NUMBER}\nExpected Number of Columns: {NUMBER} Found: {NUMBER}"'
    ),
    "words of another engine": lines(
        f'"CSV parse error: Row #{NUMBER}: Expected {NUMBER} columns", got {MARK}'
    ),
}


def columns(**others: Any) -> pa.Table:
    """Three good records, but for what is given."""
    good = {"id": [f"{MARK}{n}" for n in range(3)], "g": [f"{MARK}g"] * 3, "h": [MARK] * 3}
    keys = {name: [NUMBER, 2 * NUMBER, 3 * NUMBER] for name in KEYS}
    return pa.table({**good, **keys, **others})


PARQUET: dict[str, pa.Table] = {
    "a list": columns(g=[[MARK], [], None]),
    "a struct": columns(h=[{"name": MARK}] * 3),
    "ids in a list": columns(id=[[MARK]] * 3),
    "ids in bytes": columns(id=[MARK.encode() + b"\xff"] * 3),
    "texts that are not UTF-8": columns(
        g=pa.Array.from_buffers(
            pa.string(), 3, pa.array([MARK.encode() + b"\xff"] * 3, pa.binary()).buffers()
        )
    ),
    "ids that are not UTF-8": columns(
        id=pa.Array.from_buffers(
            pa.string(), 3, pa.array([MARK.encode() + bytes([n, 255]) for n in range(3)]).buffers()
        )
    ),
    "categories above 2^63": columns(g=pa.array([2**63 + NUMBER] * 3, pa.uint64())),
    "keys above 2^63": columns(**{KEYS[0]: pa.array([2**63 + NUMBER] * 3, pa.uint64())}),
    "keys whose sums overflow": columns(**{KEYS[0]: [NUMBER * 10**12] * 3}),
    "keys that lack": columns(**{KEYS[2]: [NUMBER, None, NUMBER]}),
    "days far away": columns(g=pa.array([NUMBER * 100] * 3, pa.int32()).cast(pa.date32())),
    "times far away": columns(h=pa.array([NUMBER * 10**11] * 3, pa.timestamp("us"))),
    "ids that repeat": columns(id=[NUMBER, NUMBER, 1]),
    "ids that lack": columns(id=[MARK, None, None]),
}


def damaged(path: Path) -> list[Path]:
    """Copies of a Parquet file with one part of it changed."""
    data, made = path.read_bytes(), []
    for place in range(0, len(data), max(1, len(data) // 25)):
        for number, change in enumerate((b"\0" * 8, b"\xff" * 8, bytes(range(9, 17)))):
            made.append(path.with_name(f"{place}-{number}.parquet"))
            made[-1].write_bytes(data[:place] + change + data[place + len(change) :])
    return made


def files(folder: Path) -> dict[str, Path]:
    """Records of all kinds, most of them wrong."""
    found = {}
    for place, (name, data) in enumerate(CSV.items()):
        found[name] = folder / f"{place}.csv"
        found[name].write_bytes(data)
    for place, (name, table) in enumerate(PARQUET.items()):
        found[f"{name} (Parquet)"] = folder / f"{place}.parquet"
        pyarrow.parquet.write_table(table, folder / f"{place}.parquet", compression="none")
    whole = folder / "whole.parquet"
    pyarrow.parquet.write_table(columns(), whole, compression="none")
    found |= {f"damaged at {path.stem}": path for path in damaged(whole)}
    return found


def without_keys(path: Path) -> Path:
    """The same records for the command that adds keys."""
    made = path.with_name(f"k{path.name}")
    renamed = bytes(path.read_bytes()).replace(b"record_key", b"record_kez")  # of the same length
    made.write_bytes(renamed)
    return made


def hidden(said: str) -> None:
    assert MARK not in said, said
    assert str(NUMBER) not in said, said
    assert "xff" not in said.lower(), said
    assert "xe9" not in said.lower(), said


def told(run: Callable[[], object]) -> str:
    """All that a failure says: its text, its traceback as Python prints it, and what stands on stderr."""
    failure = None
    with redirect_stderr(io.StringIO()) as err:
        try:
            run()
        except (ValueError, TypeError, OSError) as error:
            failure = error
    assert "\n" not in str(failure)
    return "".join([str(failure), *traceback.format_exception(failure)] if failure else []) + err.getvalue()


def calls(path: Any, **engine: Any) -> dict[str, Callable[[], object]]:
    """What may be asked of records, by what is asked."""
    good: dict[str, Any] = {"protection": ROWS, **engine}
    return {
        "by g": lambda: microdata.perturb(path, by=["g"], **good),
        "by g and h": lambda: microdata.perturb(path, by=["g", "h"], margins=True, **good),
        "by id": lambda: microdata.perturb(path, by=["id"], audit=True, **good),
        "one key": lambda: microdata.perturb(path, by=["g"], record_keys=["id"], **good),
        "categories": lambda: microdata.perturb(path, by=["g"], categories={"g": ["a"]}, **good),
        "other categories": lambda: microdata.perturb(path, by=["g"], categories={"g": [1, 2]}, **good),
        "cells": lambda: microdata.perturb(path, by=["g"], cells=pa.table({"g": ["a"]}), **good),
        "cells of one": lambda: microdata.perturb(
            path, by=["g", "h"], cells=pa.table({"g": [f"{MARK}g", "a"], "h": ["a", f"{MARK}"]}), **good
        ),
        "as cells": lambda: microdata.perturb(columns(), by=["g"], cells=path, **good),
    }


def test_no_error_shows_a_record(tmp_path: Path, secret_file: Path) -> None:
    failed = 0
    for name, path in files(tmp_path).items():
        asked = calls(path)
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
    for path in list(found.values())[:: 1 + len(found) // 60]:
        asked.append(["perturb", str(path), "--by", "g", *NOISE, *out])
        asked.append(["perturb", str(path), "--by", "h", *NOISE, *out, "--cells", str(path)])
        keys = ["keys", str(without_keys(path)), "--secret-file", str(secret_file), *out]
        asked += [[*keys, "--id", "id"], [*keys, "--id", "g"]]
    failed = 0
    for arguments in asked:
        failed += cli.main(arguments) == 2
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
    "not UTF-8": "records must be a CSV file in UTF-8, got ",
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
