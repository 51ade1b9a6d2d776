"""Records that are wrong in every way, with a mark in each field, and what a failure says about them."""

import io
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from tablebuilder_dp import microdata
from tablebuilder_dp.counts import perturbation_table
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.microdata.record_keys import KEYS

MARK, NUMBER = "zebra", 7_654_321
NOISE = [*["--epsilon", "1", "--delta", "0.01", "--per-cell", "--keys", "sums", "--small-counts", "rows"]]
KEYED = f"id,g,h,{','.join(KEYS)}"
WHOLE = microdata.design("1", "0.01", cells=4)
ROWS = microdata.from_table(perturbation_table.build(OfVariance(3, 2), keysize=2**32, small_counts="rows"))


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


def calls(path: Any, secret_file: Path, **engine: Any) -> dict[str, Callable[[], object]]:
    """What may be asked of records, by what is asked."""
    good: dict[str, Any] = {"protection": ROWS, **engine}
    whole: dict[str, Any] = {"protection": WHOLE, "edition": "1", "secret_file": secret_file, **engine}
    return {
        "whole": lambda: microdata.perturb(path, by=["g", "h"], categories_from_data=True, **whole),
        "paths": lambda: microdata.perturb(
            path, by=["g", "h"], nested=[["g", "h"]], categories={"h": [["a", "b"]]}, **whole
        ),
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
