"""The commands secret, keys, perturb and example as users meet them, and as they fail.

What fails says so in one sentence and exit code 2, what is stopped in one word and 130 (SIGINT) or 143
(SIGTERM); either way nothing new lies in the folder and what lay there before is as it was.
"""

import contextlib
import errno
import fcntl
import json
import os
import pty
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from fractions import Fraction
from inspect import signature
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from tablebuilder_dp import microdata
from tablebuilder_dp.beyond.many_cells import FAMILIES
from tablebuilder_dp.cli import main
from tablebuilder_dp.cli import microdata as commands_of_microdata
from tablebuilder_dp.counts import perturbation_table, table_files
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.microdata import cell_keys, formats, forms, journal, layout, protection, records
from tablebuilder_dp.microdata.record_keys import FINGERPRINT, KEYS
from tablebuilder_dp.support import parameters

SIZE = 3217
NOISE = [*["--epsilon", "1", "--delta", "0.01", "--per-cell", "--keys", "sums", "--small-counts", "rows"]]
ASKED = ["--epsilon", "1", "--delta", "1e-6", "--edition", "2026"]
STATEMENTS = (".statement.json", ".statement.txt")
NOTICE = "Inside the office: "
SHORTFALL = "Small counts get less protection than was asked for: "
NO_PROMISE = (
    "No epsilon and delta are promised for the whole table, as categories were taken from the records: "
)
NOBODY = 65534


class Office(NamedTuple):
    """A folder with a census, as Parquet and CSV, with and without keys, its code lists, and the secret."""

    folder: Path
    secret: Path
    key_texts: frozenset[str]

    def __truediv__(self, name: str) -> str:
        return str(self.folder / name)

    @property
    def lists(self) -> dict[str, list[str | None]]:
        """The categories of the census."""
        return dict(json.loads(Path(self / "people.categories.json").read_text("utf-8")))

    def whole(self, *without: str) -> list[str]:
        """What a promise about a whole table needs, and nothing else."""
        both = {"--secret-file": str(self.secret), "--categories": self / "people.categories.json"}
        return [*ASKED, *(part for name in both if name not in without for part in (name, both[name]))]


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    folder = tmp_path_factory.mktemp("office")
    microdata.make_secret(folder / "key.bin", seed=7)
    for source in ("parquet", "csv"):
        people = folder / f"people.{source}"
        microdata.write_census(people, records=SIZE, seed=3)
        microdata.write_categories(people)
        for end in ("parquet", "csv"):
            out = folder / f"keyed-{source}.{end}"
            microdata.add_keys(people, out, id="person_id", secret_file=folder / "key.bin")
    table = perturbation_table.build(OfVariance(3, 2), keysize=256, small_counts="rows")
    table_files.write(table, folder / "table.txt", layout=table_files.LAYOUTS[0])
    keyed = pyarrow.parquet.read_table(folder / "keyed-parquet.parquet", columns=list(KEYS))
    texts = (str(key) for column in keyed.columns for key in column.to_pylist())
    return Office(folder, folder / "key.bin", frozenset(texts))


@pytest.fixture(autouse=True)
def fresh_journal(office: Office) -> None:
    """All tests share a secret, but not what was published with it before."""
    journal.beside(office.secret).unlink(missing_ok=True)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a command in this process."""
    capsys.readouterr()
    try:
        code = main.main(list(arguments))
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    return code, *capsys.readouterr()


def good(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints that succeeds; on stderr there may be notices for the office."""
    code, out, err = run(capsys, *arguments)
    assert code == 0, err
    assert re.fullmatch(f"(({SHORTFALL}|{NO_PROMISE}).*\\n)?({NOTICE}.*\\n)?", err), err
    assert NOTICE not in out
    return out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one sentence of a command that fails."""
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, ""), err
    assert err.count("\n") == 1, err
    assert err.startswith("tablebuilder-dp: ")
    return err.removeprefix("tablebuilder-dp: ").rstrip("\n")


def read(path: str | Path) -> list[dict[str, Any]]:
    """A published table, from either kind of file."""
    if str(path).endswith(".parquet"):
        return list(pyarrow.parquet.read_table(path).to_pylist())
    options = pyarrow.csv.ConvertOptions(
        column_types={"cell_key": pa.uint64()},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    return list(pyarrow.csv.read_csv(path, convert_options=options).to_pylist())


def content(folder: Path) -> dict[str, bytes]:
    """All files below a folder, hidden ones too."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def written(folder: Path, name: str, columns: dict[str, Any] | pa.Table) -> str:
    pyarrow.parquet.write_table(pa.table(columns), folder / name)
    return str(folder / name)


def keyed(columns: dict[str, Any]) -> pa.Table:
    size = len(next(iter(columns.values())))
    drawn = np.random.default_rng(1).integers(1, 2**32, (4, size), dtype=np.uint32)
    return pa.table({**columns, **{name: pa.array(drawn[j]) for j, name in enumerate(KEYS)}})


# As it is meant to be used


def test_from_nothing_to_a_published_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people, secret, out = (str(tmp_path / n) for n in ("p.parquet", "s.bin", "out.csv"))
    said = good(capsys, "example", "--records", "2000", "--seed", "5", "-o", people)
    lists = tmp_path / "p.categories.json"
    assert said == f"Wrote 2000 made-up people to {people} and the lists of their categories to {lists}\n"
    said = good(capsys, "secret", "-o", secret)
    assert said.startswith(f"Wrote a secret to {secret}. Keep it")
    call = ["perturb", people, "--by", "region", "sex", "--margins", "--epsilon", "1", "--delta", "1e-6"]
    call += ["--secret-file", secret, "--edition", "2026", "--categories", str(lists), "-o"]
    said = good(capsys, *call, out)
    assert "learns at most epsilon = 1 and delta = " in " ".join(said.split())
    assert said.endswith(f"Wrote {out}, {out}.statement.json, {out}.statement.txt\n")
    assert Path(f"{out}.statement.txt").read_text("utf-8") in said
    before = content(tmp_path)
    assert good(capsys, *call, out) == said
    assert content(tmp_path) == before  # the same inputs, the same bytes
    assert sorted(before) == sorted(
        [
            *("p.parquet", "p.categories.json", "s.bin", "s.bin.journal.jsonl", "out.csv"),
            *("out.csv" + end for end in STATEMENTS),
        ]
    )


def test_json_says_the_same(office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(*arguments: str) -> dict[str, Any]:
        return dict(json.loads(good(capsys, *arguments, "--json")))

    people, secret, out = (str(tmp_path / name) for name in ("p.csv", "s.bin", "out.parquet"))
    assert answer("example", "--records", "10", "-o", people) == {
        "output": people,
        "categories": str(tmp_path / "p.categories.json"),
        "records": 10,
        "seed": 1,
    }
    assert answer("secret", "-o", secret) == {"output": secret}
    key = str(tmp_path / "k.csv")
    assert answer("keys", people, "--id", "person_id", "--secret-file", secret, "-o", key) == {"output": key}
    found = answer("perturb", office / "people.csv", "--by", "sex", *office.whole(), "-o", out)
    assert found["whole_table"]["delta"] <= 1e-6
    assert found.pop("output") == [out, *(out + end for end in STATEMENTS)]
    assert found == json.loads(Path(f"{out}.statement.json").read_text("utf-8"))
    assert found["by"] == ["sex"]


def test_parquet_and_csv_publish_the_same_table(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables, files = [], []
    for end in ("parquet", "csv"):
        for source in ("parquet", "csv"):
            for step in ("parquet", "csv"):
                out = str(tmp_path / f"out.{end}")
                call = ["perturb", office / f"keyed-{source}.{step}", "--by", "age", "region", "--margins"]
                good(capsys, *call, *NOISE, "-o", out)
                tables.append(read(out))
                files.append((end, Path(out).read_bytes()))
    assert len(tables[0]) > 500
    assert all(table == tables[0] for table in tables)
    assert len(set(files)) == 2  # one content for each kind of file


def test_keys_are_added_to_what_is_there(office: Office) -> None:
    people = pyarrow.parquet.read_table(office / "people.parquet")
    for name in ("keyed-parquet.parquet", "keyed-csv.parquet"):
        found = pyarrow.parquet.read_table(office / name)
        assert found.column_names == [*people.column_names, *KEYS, FINGERPRINT]
        rows = found.drop_columns([*KEYS, FINGERPRINT]).to_pylist()
        same = [{key: str(row[key]) if key.endswith("_id") else row[key] for key in row} for row in rows]
        expected = people.to_pylist()
        assert same == [
            {key: str(row[key]) if key.endswith("_id") else row[key] for key in row} for row in expected
        ]
    one, other = (pyarrow.parquet.read_table(office / f"keyed-{n}.parquet") for n in ("parquet", "csv"))
    assert one.select(list(KEYS)) == other.select(list(KEYS))


def test_a_row_has_its_place_whatever_the_order_and_a_drop_changes_only_its_cells(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pyarrow.parquet.read_table(office / "keyed-parquet.parquet")
    mixed = table.take(np.random.default_rng(1).permutation(SIZE))
    found = {}
    for name, source in {"whole": table, "mixed": mixed, "fewer": table.slice(1)}.items():
        path = written(tmp_path, f"{name}.parquet", source)
        out = str(tmp_path / f"{name}.csv")
        good(capsys, "perturb", path, "--by", "sex", "age", "--margins", "--audit", *NOISE, "-o", out)
        found[name] = read(out)
    assert (tmp_path / "mixed.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    first = table.slice(0, 1).to_pylist()[0]
    changed = [a for a, b in zip(found["whole"], found["fewer"], strict=True) if a != b]
    cells = [(row["sex"], row["age"]) for row in changed]
    total = "(total)"
    assert cells == [
        (first["sex"], first["age"]),
        (first["sex"], total),
        (total, first["age"]),
        (total, total),
    ]


HOSTILE = ['x"; DROP TABLE records; --', "a,b", "c0", "naïve ' name", "line\nbreak", "SELECT"]


def test_columns_keep_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = keyed({name: ["a", "b", "b", None] for name in HOSTILE} | {"id": [1, 2, 3, 4]})
    formats.write(table, tmp_path / "k.csv")
    formats.write(table, tmp_path / "k.parquet")
    microdata.make_secret(tmp_path / "key.bin")
    (tmp_path / "lists.json").write_text(json.dumps({name: ["a", "b", None] for name in HOSTILE}))
    for end in ("csv", "parquet"):
        out = str(tmp_path / f"out.{end}")
        records = str(tmp_path / f"k.{end}")
        whole = [*ASKED, "--secret-file", str(tmp_path / "key.bin"), "--journal", f"{out}.journal"]
        whole += ["--categories", str(tmp_path / "lists.json")]
        good(capsys, "perturb", records, "--by", *HOSTILE[:3], "--margins", *whole, "-o", out)
        assert list(read(out)[0]) == [*HOSTILE[:3], "total_over", "count"]
        good(capsys, "perturb", records, "--by", *HOSTILE[3:], *whole, "-o", out)
        assert list(read(out)[0]) == [*HOSTILE[3:], "count"]
        said = refused(capsys, "perturb", records, "--by", "no", *NOISE, "-o", out)
        listed = "x.*'line\\\\nbreak'" if end == "parquet" else "the names in the first line of the CSV file"
        assert re.match(f"by must be one of {listed}", said)
        assert said.endswith("got 'no'")
        plain = tmp_path / f"plain.{end}"
        formats.write(table.drop_columns(list(KEYS)), plain)
        keys = ["--secret-file", str(tmp_path / "key.bin"), "-o", str(tmp_path / f"again.{end}")]
        good(capsys, "keys", str(plain), "--id", "id", *keys)
        assert list(read(tmp_path / f"again.{end}")[0]) == [*HOSTILE, "id", *KEYS, FINGERPRINT]


def expected(
    office: Office, protection: microdata.Protection | None = None, **options: Any
) -> microdata.Published:
    noise = protection or microdata.design_per_cell("1", "0.01", small_counts="rows")
    chosen = {"by": ["sex", "occupation"], "keys": "sums", **options}
    return microdata.perturb(office / "keyed-parquet.parquet", protection=noise, **chosen)


@pytest.mark.parametrize(
    ("arguments", "options", "design"),
    [
        (["--margins"], {"margins": True}, {}),
        (["--only-positive"], {"only_positive": True}, {}),
        (["--audit"], {"audit": True}, {}),
        (["--memory", "500MB"], {}, {}),
        (["--record-keys", KEYS[3], *KEYS[:3]], {"record_keys": [KEYS[3], *KEYS[:3]]}, {}),
        (["--record-keys", KEYS[1]], {"record_keys": [KEYS[1]]}, {}),
        (["--keysize", "65536"], {}, {"keysize": 2**16}),
        (["--rule", "symmetric", "--keysize", "2^12"], {}, {"rule": "symmetric", "keysize": 2**12}),
        (["--slack", "0.2"], {}, {"slack": "0.2"}),
        (["--small-counts", "clamped"], {"secret_file": "key.bin"}, {"small_counts": "clamped"}),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_every_option_is_passed_on(
    office: Office,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    options: dict[str, Any],
    design: dict[str, Any],
) -> None:
    out = str(tmp_path / "out.parquet")
    if "secret_file" in options:
        options = {**options, "secret_file": office.secret}
        arguments = [*arguments, "--secret-file", str(office.secret)]
    call = ["perturb", office / "keyed-parquet.parquet", "--by", "sex", "occupation", *NOISE, "-o", out]
    good(capsys, *call, *arguments)
    made = expected(
        office, microdata.design_per_cell("1", "0.01", **{"small_counts": "rows", **design}), **options
    )
    assert pyarrow.parquet.read_table(out) == made.labelled
    stated = json.loads(Path(f"{out}.statement.json").read_text("utf-8"))
    assert stated == {"table": "out.parquet", **made.statement}
    if arguments[0] != "--memory" and "record_key_1" not in arguments:  # the order of keys is nothing
        assert (made.table, made.statement) != (expected(office).table, expected(office).statement)


def whole_table(
    office: Office, source: str | Path, design: dict[str, Any] | None = None, **options: Any
) -> microdata.Published:
    """What the library publishes in the place of a command with `Office.whole`."""
    chosen: dict[str, Any] = {"edition": "2026", "secret_file": office.secret, "categories": office.lists}
    chosen |= {"by": ["sex", "occupation"], **options}
    if "protection" not in chosen:
        layout = microdata.Layout(chosen["by"], chosen.get("margins", False), chosen.get("nested", ()))
        changed = layout.cells_changed(chosen.get("neighbours", "add-or-remove"))
        chosen["protection"] = microdata.design("1", "1e-6", **{"cells": changed, **(design or {})})
    return microdata.perturb(source, **chosen)


CLAMPED = microdata.design_per_cell("1", "1e-6", small_counts="clamped")
SIGNED = microdata.design_per_cell("1", "1e-6", slack="0.2", keysize=2**30, rule="symmetric")
WHOLE_OPTIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "--margins": ({"margins": True}, {}),
    "--noise max-entropy": ({}, {"noise": "max-entropy"}),
    "--noise geometric --margins": ({"margins": True}, {"noise": "geometric"}),
    "--neighbours replace": ({"neighbours": "replace"}, {}),
    "--neighbours replace --margins": ({"neighbours": "replace", "margins": True}, {}),
    "--cells-per-person 12": ({}, {"cells": 12}),
    "--small-counts clamped": ({}, {"small_counts": "clamped"}),
    "--edition other": ({"edition": "other"}, {}),
    "--only-positive": ({"only_positive": True}, {}),
    "--audit": ({"audit": True}, {}),
    "--per-cell --small-counts clamped": ({"protection": CLAMPED}, {}),
    "--per-cell --keys cells --slack 0.2 --rule symmetric --keysize 2^30": ({"protection": SIGNED}, {}),
    "--per-cell --keys records --small-counts clamped": ({"protection": CLAMPED, "keys": "records"}, {}),
    f"--per-cell --keys records --small-counts clamped --record-keys {' '.join(KEYS[::-1])}": (
        {"protection": CLAMPED, "keys": "records", "record_keys": KEYS[::-1]},
        {},
    ),
}


@pytest.mark.parametrize("arguments", WHOLE_OPTIONS)
def test_every_option_of_a_whole_table_is_passed_on(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: str
) -> None:
    options, design = WHOLE_OPTIONS[arguments]
    records, out = office / "keyed-parquet.parquet", str(tmp_path / "out.parquet")
    good(
        capsys,
        *["perturb", records, "--by", "sex", "occupation", *office.whole(), "-o", out, *arguments.split()],
    )
    made, plain = whole_table(office, records, design, **options), whole_table(office, records)
    assert pyarrow.parquet.read_table(out) == made.labelled
    assert json.loads(Path(f"{out}.statement.json").read_text("utf-8")) == {
        "table": "out.parquet",
        **made.statement,
    }
    assert (made.table, made.statement) != (plain.table, plain.statement)


def test_hierarchies_are_passed_on(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two of them, one with its paths listed; the other's are taken from the records, which is said."""
    rows = pyarrow.parquet.read_table(office / "people.parquet").to_pylist()
    paths = sorted({(row["sex"], row["age"]) for row in rows}, key=str)
    (tmp_path / "lists.json").write_text(json.dumps({"age": paths}), encoding="utf-8")
    by, out = ["age", "occupation", "sex", "region"], tmp_path / "out.parquet"
    call = ["perturb", office / "people.parquet", "--by", *by, "--nested", "sex", "age", "--margins"]
    call += ["--nested", "region", "occupation", *office.whole("--categories"), "--categories-from-data"]
    code, _, err = run(capsys, *call, "--categories", str(tmp_path / "lists.json"), "-o", str(out))
    assert (code, err) == (0, NO_PROMISE + "list them with --categories.\n")
    nested = [["sex", "age"], ["region", "occupation"]]
    made = whole_table(
        office,
        office / "people.parquet",
        by=by,
        nested=nested,
        margins=True,
        categories={"age": paths},
        categories_from_data=True,
    )
    assert pyarrow.parquet.read_table(out) == made.labelled
    stated = json.loads(Path(f"{out}.statement.json").read_text("utf-8"))
    assert (stated["nested"], stated["cells_changed"]) == (nested, 9)
    assert stated["categories_given"] == ["age", "sex"]
    assert stated["whole_table"]["epsilon"] == "inf"
    assert stated["given_categories"]["delta"] <= 1e-6


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_categories_from_the_records_are_no_promise(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: list[str]
) -> None:
    out = str(tmp_path / "out.csv")
    call = [
        "perturb",
        office / "people.csv",
        "--by",
        "sex",
        "region",
        *office.whole("--categories"),
        "-o",
        out,
    ]
    code, said, err = run(capsys, *call, "--categories-from-data", *form)
    assert (code, err) == (0, NO_PROMISE + "list them with --categories.\n")
    stated = json.loads(Path(f"{out}.statement.json").read_text("utf-8"))
    assert stated["whole_table"] == {"epsilon": "inf", "delta": 1.0, "loss_above_epsilon": 1.0}
    assert stated["categories_given"] == []
    assert "is promised without conditions: the categories of sex, region" in " ".join(said.split())
    good(capsys, *call, "--categories-from-data", "--categories", office / "people.categories.json")
    stated = json.loads(Path(f"{out}.statement.json").read_text("utf-8"))
    assert stated["whole_table"]["delta"] <= 1e-6  # all were listed after all


def test_a_list_of_cells_is_enough(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [(sex, region) for sex in ("F", "M", None) for region in office.lists["region"]]
    listed = pa.table({"sex": [sex for sex, _ in cells], "region": [region for _, region in cells]})
    formats.write(listed, tmp_path / "cells.csv")
    call = ["perturb", office / "people.csv", "--by", "sex", "region", *office.whole("--categories")]
    good(capsys, *call, "--cells", str(tmp_path / "cells.csv"), "--audit", "-o", str(tmp_path / "out.csv"))
    stated = json.loads((tmp_path / "out.csv.statement.json").read_text("utf-8"))
    assert stated["whole_table"]["delta"] <= 1e-6
    found = read(tmp_path / "out.csv")
    assert [(row["sex"], row["region"]) for row in found] == [
        tuple("(missing)" if part is None else part for part in cell) for cell in cells
    ]
    assert sum(row["true_count"] for row in found) == SIZE


def test_the_choices_are_those_of_the_library() -> None:
    assert commands_of_microdata.KINDS == cell_keys.KINDS
    assert commands_of_microdata.NEIGHBOURS == layout.NEIGHBOURS
    assert commands_of_microdata.SMALL_COUNTS == protection.SMALL_COUNTS
    assert commands_of_microdata.KEYS.split() == list(KEYS)
    assert (commands_of_microdata.TOTAL, commands_of_microdata.MISSING) == (forms.TOTAL, forms.MISSING)
    defaults = {name: one.default for name, one in signature(microdata.design_per_cell).parameters.items()}
    given = commands_of_microdata.PER_CELL
    assert {"slack": Fraction(given["slack"]), "rule": given["rule"]} == {
        name: defaults[name] for name in ("slack", "rule")
    }
    assert parameters.read_keysize(given["keysize"]) == defaults["keysize"]
    asked = signature(microdata.design).parameters
    assert (asked["noise"].default, asked["small_counts"].default) == (
        FAMILIES[0],
        protection.SMALL_COUNTS[0],
    )


def test_the_lists_of_an_example_hold_all_its_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a.people.csv"
    good(capsys, "example", "--records", "5000", "--seed", "4", "-o", str(out))
    assert sorted(content(tmp_path)) == ["a.people.categories.json", "a.people.csv"]
    lists = json.loads((tmp_path / "a.people.categories.json").read_text("utf-8"))
    assert list(lists) == ["region", "age", "sex", "occupation"]
    rows = read(out)
    for name, known in lists.items():
        assert len(known) == len(set(known)) > 2
        assert known[-1] is None
        assert {row[name] for row in rows} <= set(known)


def test_the_same_inputs_give_the_same_bytes_wherever_they_lie(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for place in ("one", "two"):
        folder = tmp_path / place
        folder.mkdir()
        for name in ("people.parquet", "people.categories.json", "key.bin"):
            shutil.copy(office / name, folder / f"{place}-{name}")
        call = [
            "perturb",
            str(folder / f"{place}-people.parquet"),
            "--by",
            "region",
            "sex",
            "--margins",
            *ASKED,
        ]
        call += ["--secret-file", str(folder / f"{place}-key.bin")]
        call += ["--categories", str(folder / f"{place}-people.categories.json")]
        good(capsys, *call, "-o", str(folder / "out.csv"))
        found.append({name: data for name, data in content(folder).items() if name.startswith("out")})
    assert found[0] == found[1]
    assert len(found[0]) == 3


def test_given_categories_are_listed_in_their_order(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lists = {"sex": [None, "X", "M", "F"]}
    (tmp_path / "lists.json").write_text(json.dumps(lists), encoding="utf-8")
    out = str(tmp_path / "out.parquet")
    call = ["perturb", office / "people.parquet", "--by", "sex", *office.whole("--categories"), "-o", out]
    good(capsys, *call, "--categories", str(tmp_path / "lists.json"))
    assert [row["sex"] for row in read(out)] == [one or "(missing)" for one in lists["sex"]]
    assert json.loads(Path(f"{out}.statement.json").read_text("utf-8"))["categories_given"] == ["sex"]


@pytest.mark.parametrize("layout", table_files.LAYOUTS)
def test_a_table_in_place_of_a_design(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str], layout: str
) -> None:
    table = perturbation_table.build(OfVariance(3, 2), keysize=256, small_counts="rows")
    file, out = str(tmp_path / "table.txt"), str(tmp_path / "out.parquet")
    table_files.write(table, file, layout=layout)
    call = [
        "perturb",
        office / "keyed-parquet.parquet",
        "--by",
        "sex",
        "occupation",
        "--table",
        file,
        "-o",
        out,
    ]
    said = good(capsys, *call)
    assert "The noise is that of table.txt, made elsewhere" in " ".join(said.split())
    protection = microdata.from_table(table)
    theirs, ours = expected(office, protection).labelled, expected(office).labelled
    assert pyarrow.parquet.read_table(out) == theirs != ours


def test_folders_of_parquet_files_are_records(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pyarrow.parquet.read_table(office / "keyed-parquet.parquet")
    (tmp_path / "parts").mkdir()
    for place in range(4):
        written(tmp_path / "parts", f"{place}.parquet", table.slice(place * 1000, 1000))
    out = str(tmp_path / "out.parquet")
    call = ["perturb", str(tmp_path / "parts"), "--by", "sex", "occupation", "-o", out]
    good(capsys, *call, *NOISE)
    assert pyarrow.parquet.read_table(out) == expected(office).labelled
    good(capsys, *call, *office.whole(), "--audit")
    made = whole_table(office, tmp_path / "parts", by=["sex", "occupation"], audit=True)
    assert pyarrow.parquet.read_table(out) == made.labelled
    assert sum(made.table["true_count"].to_pylist()) == SIZE


# What must not show


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))


@pytest.mark.unmeasured
@pytest.mark.parametrize("end", ["parquet", "csv"])
@pytest.mark.parametrize("way", ["sums, rows", "sums, clamped", "records", "cells", "cells, clamped"])
def test_nothing_hidden_shows(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str], end: str, way: str
) -> None:
    """Neither the secret nor a key, and without --audit no cell key and not how many records there are."""
    hidden = office.secret.read_bytes()
    audited, out = tmp_path / f"audit.{end}", tmp_path / f"out.{end}"
    kind, *small = way.split(", ")
    noise = office.whole()
    if kind == "sums":
        place = noise.index("--edition")
        noise = [*noise[:place], *noise[place + 2 :]]
    call = ["perturb", office / f"keyed-parquet.{end}", "--by", "region", "sex", "--margins", *noise]
    call += ["--keys", kind, *(["--per-cell"] if kind != "cells" else [])]
    call += ["--small-counts", *small] if small else []
    good(capsys, *call, "--audit", "-o", str(audited))
    cell_keys = {str(row["cell_key"]) for row in read(audited)} - {"0"}
    assert len(cell_keys) > 50
    for form in ([], ["--json"]):
        said = good(capsys, *call, *form, "-o", str(out))
        rows = read(out)
        assert list(rows[0]) == ["region", "sex", "total_over", "count"]
        shown = said + "".join(Path(f"{out}{last}").read_text("utf-8") for last in STATEMENTS)
        assert not numbers(shown) & (office.key_texts | cell_keys | {str(SIZE)})
        assert not {str(row["count"]) for row in rows} & (office.key_texts | cell_keys)
        assert not [word for word in ("CONFIDENTIAL", NOTICE) if word in shown]
        whole = said.encode() + b"".join(content(tmp_path).values())
        assert not [one for one in (hidden, hidden.hex().encode(), hidden[:8]) if one in whole]


def test_an_audit_says_that_it_is_confidential(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.csv"
    call = ["perturb", office / "people.csv", "--by", "sex", "--audit", *office.whole(), "-o", str(out)]
    said = good(capsys, *call)
    assert list(read(out)[0]) == ["sex", "count", "true_count", "cell_key", "noise"]
    assert sum(row["true_count"] for row in read(out)) == SIZE
    for text in (said, Path(f"{out}.statement.txt").read_text("utf-8")):
        assert "CONFIDENTIAL: the table holds true counts, cell keys and noise. Do not publish it." in text
    assert json.loads(Path(f"{out}.statement.json").read_text("utf-8"))["confidential"] is True


def test_other_commands_do_not_show_the_secret_or_keys(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path / "new.bin"
    said = good(capsys, "secret", "-o", str(secret))
    assert secret.stat().st_mode & 0o777 == 0o600
    call = ["--id", "person_id", "--secret-file", str(office.secret), "-o", str(tmp_path / "k.parquet")]
    said += good(capsys, "keys", office / "people.csv", *call)
    said += good(capsys, "keys", office / "people.csv", "--json", *call)
    assert not numbers(said) & office.key_texts
    for hidden in (secret.read_bytes(), office.secret.read_bytes()):
        assert hidden.hex() not in said
        assert repr(hidden)[2:-1] not in said


def test_what_others_may_not_read_stays_closed(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = os.umask(0o077)
    try:
        call = ["--id", "person_id", "--secret-file", str(office.secret), "-o", str(tmp_path / "k.csv")]
        good(capsys, "keys", office / "people.csv", *call)
        assert os.umask(0o077) == 0o077
    finally:
        os.umask(before)
    assert (tmp_path / "k.csv").stat().st_mode & 0o777 == 0o600


# Wrong use

HEAD, MANY = f"id,g,{','.join(KEYS)}\n", "".join(f"{n},a,1,2,3,4\n" for n in range(9999))
BAD_FILES: dict[str, tuple[bytes, str]] = {
    "many.csv": (
        f"{HEAD}1,a,1,2,3,4\n2,b,1,2,3,4,5\n".encode(),
        "line 3 has more or fewer fields than",
    ),
    "few.csv": (
        f"{HEAD}1,a,1,2,3,4\n2,b,1,777777\n".encode(),
        "line 3 has more or fewer fields than",
    ),
    "quote.csv": (
        f'{HEAD}1,"a,1,2,3,777777\n2,b,1,2,3,4\n'.encode(),
        "line 2 has a quote that is not closed",
    ),
    "after.csv": (
        f'{HEAD}1,"a"b,1,2,3,777777\n'.encode(),
        "line 2 has a quote that is not closed",
    ),
    "head.csv": (b'id,"g\n1,2\n', "records must be a CSV file in UTF-8, got .*head.csv': unexpected end"),
    "latin.csv": (
        f"{HEAD}1,é,1,2,3,4\n".encode("latin-1"),
        "encoding must be given for a text file that is not in UT",
    ),
    "late.csv": (
        f"{HEAD}{MANY}x,é,1,2,3,4\n".encode("latin-1"),
        "cannot be read: .*late.csv': (a line|line 10001) is not in UTF-8",
    ),
    "empty.csv": (b"", "records must be a CSV file with a line of names"),
    "twice.csv": (
        b"id,g,id\n1,2,3\n",
        "columns of different names, got the same in columns 1 and 3",
    ),
    "empty.parquet": (b"", "the file is empty"),
    "text.parquet": (b"id,g\n1,2\n", "it is not a Parquet file, or only a part of one"),
    "cut.parquet": (b"", "it is not a Parquet file, or only a part of one"),
    "twice.parquet": (b"", "columns of different names, got the same in columns 1 and 2"),
}


@pytest.mark.parametrize("name", BAD_FILES)
@pytest.mark.parametrize("command", ["keys", "perturb"])
def test_records_that_cannot_be_read_are_named(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, name: str
) -> None:
    data, message = BAD_FILES[name]
    source = tmp_path / name
    source.write_bytes(data)
    if name == "cut.parquet":
        source.write_bytes(Path(office / "keyed-parquet.parquet").read_bytes()[:-50])
    if name == "twice.parquet":
        table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["id", "id"])
        pyarrow.parquet.write_table(table, source)
    before = content(tmp_path)
    own = {
        "keys": ["--id", "id", "--secret-file", str(office.secret)],
        "perturb": ["--by", "g", *office.whole("--categories"), "--categories-from-data"],
    }
    said = refused(capsys, command, str(source), *own[command], "-o", str(tmp_path / "out.csv"))
    assert re.search(message, said), said
    assert "records" in said
    assert "777777" not in said  # a record of the file
    assert name in said or "twice" in name
    assert content(tmp_path) == before


def test_damage_in_a_column_that_is_only_copied_is_named(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The engine that checks the ids does not read it; the one that copies records does."""
    source = Path(
        written(tmp_path, "damaged.parquet", {"id": range(9999), "x": [str(n) * 9 for n in range(9999)]})
    )
    place = pyarrow.parquet.ParquetFile(source).metadata.row_group(0).column(1)
    data = bytearray(source.read_bytes())
    start = place.dictionary_page_offset + 60
    data[start : start + 9000] = bytes(255 - byte for byte in data[start : start + 9000])
    source.write_bytes(data)
    rows = "".join(f"{n},a\n" for n in range(99_999))
    late = tmp_path / "late.csv"
    late.write_bytes(f"id,x\n{rows}y,é\n".encode("latin-1"))
    before = content(tmp_path)
    for path in (source, late):
        call = ["--id", "id", "--secret-file", str(office.secret), "-o", str(tmp_path / "out.parquet")]
        said = refused(capsys, "keys", str(path), *call)
        assert said.startswith(f"the records cannot be read: '{path}': ")
    assert content(tmp_path) == before


@pytest.mark.parametrize(
    "data",
    [
        f"\ufeff{HEAD}1,a,1,2,3,4\n2,b,5,6,7,8\n",
        f"{HEAD}1,a,1,2,3,4\r\n2,b,5,6,7,8".replace("4\n", "4\r\n").replace(HEAD, HEAD[:-1] + "\r\n"),
        f'{HEAD}1,"a",1,2,3,4\n\n"2",b,5,6,7,"8"\n',
    ],
    ids=["byte order mark", "CRLF, no last line end", "blank line, quotes"],
)
def test_csv_in_other_dress_is_read_as_it_is_meant(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str], data: str
) -> None:
    (tmp_path / "k.csv").write_bytes(data.encode())
    good(
        capsys,
        *["perturb", str(tmp_path / "k.csv"), "--by", "g", "--audit", *NOISE, "-o", str(tmp_path / "o.csv")],
    )
    assert [(row["g"], row["cell_key"]) for row in read(tmp_path / "o.csv")] == [
        ("a", 1 ^ 2 ^ 3 ^ 4),
        ("b", 5 ^ 6 ^ 7 ^ 8),
    ]
    (tmp_path / "p.csv").write_bytes(data.replace("record_key", "k").encode())
    call = ["--id", "id", "--secret-file", str(office.secret), "-o", str(tmp_path / "again.csv")]
    good(capsys, "keys", str(tmp_path / "p.csv"), *call)
    assert [(str(row["id"]), row["g"]) for row in read(tmp_path / "again.csv")] == [("1", "a"), ("2", "b")]


def test_nobody_is_no_error(office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.csv").write_text("id,g\n", encoding="utf-8")
    call = ["--id", "id", "--secret-file", str(office.secret), "-o", str(tmp_path / "k.csv")]
    good(capsys, "keys", str(tmp_path / "p.csv"), *call)
    out = tmp_path / "out.csv"
    good(capsys, "perturb", str(tmp_path / "k.csv"), "--by", "g", *NOISE, "-o", str(out))
    assert out.read_text("utf-8") == '"g","count"\n'
    (tmp_path / "lists.json").write_text('{"g": ["a", "b"]}', encoding="utf-8")
    call = ["perturb", str(tmp_path / "p.csv"), "--by", "g", "--margins", "--audit", "-o", str(out)]
    good(capsys, *call, *office.whole("--categories"), "--categories", str(tmp_path / "lists.json"))
    assert [(row["g"], row["true_count"]) for row in read(out)] == [("a", 0), ("b", 0), ("(total)", 0)]


WRONG = """
secret -o {office}/key.bin => secret file must not exist yet, .* got '.*key.bin'
secret -o {out}/no/key.bin => no/key.bin: No such file or directory
keys {people} --id person_id {o} => arguments are required: --secret-file
keys {people} {secret} {o} => arguments are required: --id
keys {people} --id person_id {secret} => arguments are required: -o/--output
keys {people} --id name {secret} {o} => id must be one of person_id, .* got 'name'
keys {people} --id sex {secret} {o} => but 'sex' is missing in 3
keys {people} --id household_id {secret} {o} => id must differ .* values of 'household_id' occur more
keys {keyed} --id person_id {secret} {o} => records must be without the columns record_key_1
keys {out}/no.parquet --id i {secret} {o} => no.parquet: No such file or directory
keys {out}/no.csv --id i {secret} {o} => no.csv: No such file or directory
keys {office} --id i {secret} {o} => records must be files of one schema
keys {office}/key.bin --id i {secret} {o} => records must be a file whose name ends in .parquet
keys {people} --id person_id --secret-file {out}/no {o} => no: No such file or directory
keys {people} --id person_id --secret-file {people} {o} => secret file must be closed to others
keys {people} --id person_id {secret} -o {people} => output must be a file that is not read
keys {people} --id person_id {secret} -o {out}/o.txt => output must be a file whose name ends in
keys {people} --id person_id {secret} -o {out}/no/o.csv => output must be in a folder that exists
keys {people} --id person_id {secret} {o} --memory much => memory must be a size .* got 'much'
perturb {keyed} {noise} {o} => arguments are required: --by
{sex} {noise} {o} --memory -1 => memory must be a size such as 2GB, got '-1'
{sex} {noise} {o} --memory 1.1.1GB => memory must be a size such as 2GB, got '1.1.1GB'
{sex} {noise} {o} --memory 1KB => cannot be read: '.*': more memory is needed
{sex} {o} => either --epsilon and --delta, or --table, must be given
{sex} {o} --epsilon 1 => either --epsilon and --delta, or --table, must be given
{sex} {o} --delta 0.1 => either --epsilon and --delta, or --table, must be given
{sex} {o} {noise} --table {out}/t => either --epsilon and --delta, or --table, must be given
{sex} {o} --epsilon 1 --table {out}/t => either --epsilon and --delta, or --table, must be given
{sex} {o} --table {out}/t => t: No such file or directory
{sex} {o} --table {office}/people.csv => line 1 of .*people.csv must be a header, one of
{sex} {o} --table {out}/t --keysize 2^16 => argument --keysize: not allowed with --table
{sex} {o} --table {out}/t --rule symmetric => argument --rule: not allowed with --table
{sex} {o} --table {out}/t --slack 0.2 => argument --slack: not allowed with --table
{sex} {o} --table {out}/t --small-counts clamped => argument --small-counts: not allowed with --table
{sex} {o} --epsilon 0 --delta 0.1 => epsilon must be .*, got '0'
{sex} {o} --epsilon x --delta 0.1 => epsilon must be .*, got 'x'
{sex} {o} --epsilon 1 --delta 1 => delta must be .*, got '1'
{sex} {o} {noise} --keysize 1000 => keysize must be a power of 2.*, got 1000
{sex} {o} {noise} --keysize many => keysize must be an integer, got 'many'
{sex} {o} {noise} --keysize 2^33 => 8589934592
{sex} {o} {noise} --keysize 2^4 => keysize must be so large that rounding keeps epsilon 1.0
{sex} {o} {noise} --slack 2 => slack must be .*, got '2'
{sex} {o} {noise} --rule best => argument --rule: invalid choice: 'best'
{sex} {o} {noise} --small-counts none => argument --small-counts: invalid choice: 'none'
{sex} planet {o} {noise} => by must be one of person_id, .* got 'planet'
{sex} sex {o} {noise} => by must be one or more names of columns, each once
{sex} {o} {noise} --record-keys age => record_keys must be integers from 0 .* age are not in [0-9]+ records
{sex} {o} {noise} --record-keys age sex => record_keys must be four .*columns, or one
{sex} {o} {noise} --record-keys a b c d => record_keys must be one of person_id, .* got 'a'
{sex} age region {o} {noise} --small-counts clamped => secret_file must be given
{sex} {noise} -o {out}/o.xlsx => output must be a file whose name ends in .parquet or .csv
{sex} {noise} -o {out}/no/o.csv => output must be in a folder that exists, got '.*o.csv'
{sex} {o} {noise} --categories {out}/no.json => no.json: No such file or directory
{sex} {o} {noise} --categories {people} => categories must be a JSON file in UTF-8, got '.*people.parquet'
perturb {people} --by sex {o} {noise} => record_keys must be one of .* got 'record_key_1'
perturb {out} --by sex {o} {noise} => output must be outside the folder that is read, got .*o.csv
perturb {out}/no.csv --by sex {o} {noise} => no.csv: No such file or directory
{all} --keys records => argument --keys records: needs --per-cell or --table, as it promises one cell
{all} --keys sums => argument --keys sums: needs --per-cell or --table, as it promises one cell
{all} --keys sum => argument --keys: invalid choice: 'sum'
{all} --slack 0.2 => argument --slack: not allowed without --per-cell
{all} --rule symmetric => argument --rule: not allowed without --per-cell
{all} --keysize 2^16 => argument --keysize: not allowed without --per-cell
{all} --small-counts rows => small_counts must be one of signed, clamped for a whole table, got 'rows'
{all} --per-cell --noise best => argument --noise: not allowed with --per-cell
{all} --per-cell --cells-per-person 9 => argument --cells-per-person: not allowed with --per-cell
{all} --noise laplace => argument --noise: invalid choice: 'laplace'
{all} --neighbours all => argument --neighbours: invalid choice: 'all'
{all} --cells-per-person 1 => cells_per_person must be an integer from 2 to 4096, got 1
{all} --cells-per-person 4097 => cells_per_person must be an integer from 2 to 4096, got 4097
{all} --cells-per-person few => cells_per_person must be an integer, got 'few'
{all} --record-keys a b c d => record_keys must be left out for keys of cells, which need none, got
{all} --per-cell --keys cells --record-keys a b c d => record_keys must be left out for keys of cells
{all} --edition "" => edition must be given for keys of cells
{all} --epsilon 0 => epsilon must be a number in \\(0, 500\\], got '0'
{all} --delta 1 => delta must be .*, got '1'
{all} --delta 1e-30 => delta must be so large that whole numbers of keys keep it at epsilon 1.0 for cells = 2
{all} --by sex sex => by must be one or more names of columns, each once
{all} --by sex planet => categories must list those of planet, as no promise holds
{all} --nested sex => nested must be two or more columns of the table
{all} --nested sex age => nested must be two or more columns of the table
{all} --by sex age --nested sex age => categories must be without 'sex', which follows from the paths
{all} --table {out}/t => either --epsilon and --delta, or --table, must be given
{all} --spark local --categories {out}/no.json => no.json: No such file or directory
{plain} {asked} {secret} {lists} {o} => edition must be given for keys of cells
{plain} {asked} --edition 1 {lists} {o} => secret_file must be given for keys of cells
{plain} {asked} --edition 1 {secret} {o} => categories must list those of sex, as no promise holds for lists
{plain} {asked} --per-cell {secret} {lists} {o} => edition must be given for keys of cells
{plain} {asked} --per-cell --edition 1 {secret} {o} => categories must list those of sex
{plain} {asked} --per-cell --keys records --edition 1 {secret} {o} => must be one of .* got 'record_key_1'
{sex} {asked} --per-cell --keys records {secret} {o} => edition must be given for keys of records
{sex} {asked} --per-cell --keys records --edition 1 {o} => secret_file must be given for keys of records
{sex} {o} --table {table} --keys cells => keys must be records or sums for a table from elsewhere
{sex} {o} --table {table} --noise best => argument --noise: not allowed with --table
{sex} {o} --table {table} --cells-per-person 9 => argument --cells-per-person: not allowed with --table
{sex} {o} --table {table} --per-cell => argument --per-cell: not allowed with --table
example {o} => arguments are required: --records
example --records 0 {o} => records must be an integer from 1 .* got 0
example --records 1e6 {o} => records must be an integer, got '1e6'
example --records 9 --seed -1 {o} => seed must be an integer from 0 .* got -1
example --records 9 -o {out} => output must be a file whose name ends in .parquet or .csv
"""


@pytest.mark.parametrize("line", WRONG.strip().splitlines())
def test_wrong_use_is_one_sentence_and_leaves_nothing(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    before = content(office.folder)
    keyed = office / "keyed-parquet.parquet"
    template, message = line.split(" => ")
    whole = shlex.join(office.whole())
    call = template.format(
        office=office.folder,
        out=tmp_path,
        o=f"-o {tmp_path / 'o.csv'}",
        people=office / "people.parquet",
        keyed=keyed,
        sex=f"perturb {keyed} --by sex",
        noise=shlex.join(NOISE),
        secret=f"--secret-file {office.secret}",
        plain=f"perturb {office / 'people.parquet'} --by sex",
        asked="--epsilon 1 --delta 1e-6",
        lists=f"--categories {office / 'people.categories.json'}",
        all=f"perturb {office / 'people.parquet'} --margins {whole} -o {tmp_path / 'o.csv'} --by sex",
        table=office / "table.txt",
    )
    said = refused(capsys, *shlex.split(call))
    assert re.search(message, said), said
    assert content(tmp_path) == {}
    assert content(office.folder) == before


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("{'sex': ['F']}", "categories must be a JSON file, got '.*lists.json': Expecting property name"),
        ("[" * 100_000, "categories must be a JSON file, got '.*lists.json': maximum recursion depth"),
        ('["F", "M"]', "categories must be a JSON object of lists, got '.*lists.json' with a list"),
        (
            '{"height": [], "sex": ["F", "M", null]}',
            "categories must be about columns of the records, got 'height'",
        ),
        ('{"sex": "FM"}', "categories must be a list of different categories of 'sex', got 'FM'"),
        ('{"sex": null}', "categories must be a list of different categories of 'sex', got None"),
        ('{"sex": 2}', "categories must be a list of different categories of 'sex', got 2"),
        ('{"sex": []}', r"categories must be a list of different categories of 'sex', got \[\]"),
        ('{"sex": ["F"]}', "categories of 'sex' must list all that occur, but 2 are"),
        ('{"age": ["0-4"]}', "categories must list those of sex, as no promise holds for lists"),
        (
            '{"sex": ["F", "M"]}',
            "categories of 'sex' must list all that occur, but 1 is .*: null",
        ),
        ('{"sex": ["F", "F", "M", null]}', "categories must be a list of different categories of 'sex'"),
        ('{"sex": [1]}', r"categories must be a list of different categories of 'sex' \(text\), got \[1\]"),
    ],
)
def test_bad_lists_of_categories_are_one_sentence(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str], data: str, message: str
) -> None:
    (tmp_path / "lists.json").write_text(data, encoding="utf-8")
    call = ["perturb", office / "people.parquet", "--by", "sex", "--neighbours", "replace"]
    call += [*office.whole("--categories"), "-o", str(tmp_path / "o.csv")]
    said = refused(capsys, *call, "--categories", str(tmp_path / "lists.json"))
    assert re.search(message, said), said
    assert list(content(tmp_path)) == ["lists.json"]


def test_columns_that_csv_cannot_hold_are_refused(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "p.parquet", {"id": [1], "list": [[1, 2]]})
    call = ["keys", path, "--id", "id", "--secret-file", str(office.secret), "-o"]
    said = refused(capsys, *call, str(tmp_path / "k.csv"))
    assert said.startswith("output must be a .parquet file, as CSV has no such columns: ")
    assert list(content(tmp_path)) == ["p.parquet"]
    good(capsys, *call, str(tmp_path / "k.parquet"))


def test_spark_that_is_missing_or_does_not_answer_is_one_sentence(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ["perturb", office / "keyed-parquet.parquet", "--by", "sex", *NOISE, "-o", str(tmp_path / "o.csv")]
    call += ["--spark", "local[2]"]
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    said = refused(capsys, *call)
    assert said == "spark must be installed for --spark: pip install 'tablebuilder-dp[spark]'"

    class Builder:
        def __getattr__(self, name: str) -> Callable[..., "Builder"]:
            if name == "getOrCreate":
                raise RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited.\nand more\n")
            return lambda *_: self

    fake: Any = ModuleType("pyspark.sql")
    fake.SparkSession = SimpleNamespace(builder=Builder(), getActiveSession=lambda: None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", fake)
    said = refused(capsys, *call)
    assert said == (
        "spark must be a master that answers, got 'local[2]': "
        "[JAVA_GATEWAY_EXITED] Java gateway process exited."
    )
    assert content(tmp_path) == {}


# Stopped, killed, without room


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small files that take long: five million ids, and seven variables with all their margins."""
    folder = tmp_path_factory.mktemp("slow")
    microdata.make_secret(folder / "key.bin", seed=7)
    formats_of_ids: dict[str, Any] = {
        "use_dictionary": False,
        "column_encoding": {"id": "DELTA_BINARY_PACKED"},
    }
    pyarrow.parquet.write_table(
        pa.table({"id": np.arange(5_000_000)}), folder / "ids.parquet", **formats_of_ids
    )
    drawn = np.random.default_rng(1)
    columns = {f"v{place}": drawn.integers(0, 50, 20_000) for place in range(7)}
    written(folder, "cube.parquet", keyed(columns))
    return folder


def commands(slow: Path, out: Path) -> dict[str, list[str]]:
    keys = ["keys", str(slow / "ids.parquet"), "--id", "id", "--secret-file", str(slow / "key.bin")]
    cube = ["perturb", str(slow / "cube.parquet"), "--by", *(f"v{place}" for place in range(7))]
    table = ["table", "--epsilon", "1", "--support", "5", "--keysize", "13000"]
    return {
        "example": ["example", "--records", "50000000", "-o", str(out / "out.parquet")],
        "example csv": ["example", "--records", "50000000", "-o", str(out / "out.csv")],
        "keys": [*keys, "-o", str(out / "out.parquet")],
        "keys csv": [*keys, "-o", str(out / "out.csv")],
        "perturb": [*cube, "--margins", "--only-positive", *NOISE, "-o", str(out / "out.csv")],
        "perturb whole": [
            *cube[:7],
            "--margins",
            "--categories-from-data",
            *ASKED,
            "--secret-file",
            str(slow / "key.bin"),
            "-o",
            str(out / "out.csv"),
        ],
        "table": [*table, "--small-counts", "rows", "--layout", "ons", "-o", str(out / "out.csv")],
    }


@contextlib.contextmanager
def started(
    folder: Path, *arguments: str, hears: Any = signal.SIG_DFL, **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """A command as a user starts it, with a folder of its own for temporary files.

    ``hears`` is what an interrupt does to it; in the background of a script it is ignored.
    """
    (folder / "tmp").mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "tablebuilder_dp", *arguments],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        preexec_fn=lambda: signal.signal(signal.SIGINT, hears) and None,
        **{"stderr": subprocess.PIPE, **options},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def seen(process: subprocess.Popen[bytes], folder: Path, pattern: str) -> None:
    """Wait until a file shows that the work has begun."""
    while not list(folder.glob(pattern)):
        assert process.poll() is None, "it ended before it could be stopped"
        time.sleep(0.01)


def works(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until it has computed for so long: on a busy machine time alone says nothing."""
    one = psutil.Process(process.pid)
    end = sum(one.cpu_times()[:2]) + seconds
    while sum(one.cpu_times()[:2]) < end:
        assert process.poll() is None, "it ended before it could be stopped"
        time.sleep(0.01)


def older(folder: Path) -> dict[str, bytes]:
    """Good files of an earlier run under the names of the next."""
    out = folder / "out"
    out.mkdir()
    for name in ("out.parquet", "out.csv", *("out.csv" + end for end in STATEMENTS)):
        (out / name).write_bytes(b"an older good " + name.encode())
    return content(out)


BEGUN = {"writing": "out/.out.*.part", "asking": "tmp/tablebuilder-dp-*"}


@pytest.mark.parametrize(
    ("name", "phase", "number"),
    [
        ("example", "writing", signal.SIGINT),
        ("example csv", "writing", signal.SIGTERM),
        ("keys", "writing", signal.SIGTERM),
        ("keys csv", "writing", signal.SIGINT),
        ("keys", "asking", signal.SIGINT),
        ("perturb", "asking", signal.SIGINT),
        ("perturb", "asking", signal.SIGTERM),
        ("perturb whole", "asking", signal.SIGINT),
        ("perturb whole", "asking", signal.SIGTERM),
    ],
)
def test_a_stopped_run_leaves_everything_as_it_was(
    slow: Path, tmp_path: Path, name: str, phase: str, number: int
) -> None:
    before = older(tmp_path)
    with started(tmp_path, *commands(slow, tmp_path / "out")[name]) as process:
        seen(process, tmp_path, BEGUN[phase])
        if phase == "asking":
            works(process, 0.3)  # into the query; wherever the signal arrives, the end is the same
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
    # Python may end itself with SIGINT after all is said; shells call both 130
    assert process.returncode == 128 + number or process.returncode == -number == -signal.SIGINT
    assert (out, err) == (b"", b"tablebuilder-dp: interrupted\n")
    assert content(tmp_path / "out") == before
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "phase"),
    [("example csv", "writing"), ("keys", "writing"), ("keys", "asking"), ("table", "writing")],
)
def test_a_run_in_the_background_of_a_script_is_ended_too(
    slow: Path, tmp_path: Path, name: str, phase: str
) -> None:
    before = older(tmp_path)
    call = commands(slow, tmp_path / "out")[name]
    with started(tmp_path, *call, hears=signal.SIG_IGN) as process:
        seen(process, tmp_path, BEGUN[phase])
        process.send_signal(signal.SIGINT)
        works(process, 0.05)
        for _ in range(3):  # a script and its shell may both send it
            process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (143, b"", b"tablebuilder-dp: interrupted\n")
    assert content(tmp_path / "out") == before
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_killed_run_does_not_disturb_the_next(
    office: Office, slow: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = older(tmp_path)
    for name in ("example", "keys csv"):
        with started(tmp_path, *commands(slow, tmp_path / "out")[name]) as process:
            seen(process, tmp_path, f"out/.out.{'csv' if 'csv' in name else 'parquet'}.*.part")
            process.kill()
            process.communicate()
        assert process.returncode == -signal.SIGKILL
    left = content(tmp_path / "out")
    assert {file: data for file, data in left.items() if not file.endswith(".part")} == before
    assert len(left) == len(before) + 2
    for end in ("csv", "parquet"):
        out = str(tmp_path / "out" / f"out.{end}")
        call = ["keys", office / "people.parquet", "--id", "person_id", "--secret-file", str(office.secret)]
        good(capsys, *call, "-o", out)
        assert Path(out).read_bytes() == Path(office / f"keyed-parquet.{end}").read_bytes()


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_that_a_library_turns_into_its_own_error_is_an_interrupt(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = [signal.SIGINT, signal.SIGTERM]

    def query(*_: Any) -> None:
        try:
            signal.raise_signal(numbers.pop())
        except KeyboardInterrupt:
            raise RuntimeError("Query interrupted") from None

    handlers = list(map(signal.getsignal, (signal.SIGINT, signal.SIGTERM)))
    monkeypatch.setattr(records._DuckRecords, "query", query)
    call = [
        "perturb",
        office / "people.parquet",
        "--by",
        "sex",
        *office.whole(),
        "-o",
        str(tmp_path / "o.csv"),
    ]
    while numbers:
        status = 128 + numbers[-1]
        assert run(capsys, *call) == (status, "", "tablebuilder-dp: interrupted\n")
    assert list(map(signal.getsignal, (signal.SIGINT, signal.SIGTERM))) == handlers
    assert content(tmp_path) == {}


@pytest.mark.parametrize("command", ["example", "keys", "perturb"])
def test_an_interrupt_that_a_library_swallows_is_heard_before_anything_takes_its_name(
    office: Office,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    """Arrow's writers lose one that arrives while they open a file."""

    def swallowing(run: Callable[..., Any]) -> Callable[..., Any]:
        def swallowed(*arguments: Any, **options: Any) -> Any:
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
            return run(*arguments, **options)

        return swallowed

    if command == "perturb":
        monkeypatch.setattr(records._DuckRecords, "query", swallowing(records._DuckRecords.query))
    else:
        monkeypatch.setattr(formats, "sink", swallowing(formats.sink))
    own = {
        "example": ["--records", "99"],
        "keys": [office / "people.csv", "--id", "person_id", "--secret-file", str(office.secret)],
        "perturb": [office / "people.parquet", "--by", "sex", *office.whole()],
    }
    found = run(capsys, command, *own[command], "-o", str(tmp_path / "o.csv"))
    assert found == (143, "", "tablebuilder-dp: interrupted\n")
    assert content(tmp_path) == {}


def test_an_interrupt_ends_the_query_too(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    def interrupted_at_first(*arguments: Any) -> Any:
        events.append("wait")
        if len(events) == 1:
            raise KeyboardInterrupt
        return wait(*arguments)

    with records.opened(office / "people.parquet") as found:
        connection: Any = vars(found)["_connection"]

        def interrupt() -> None:
            events.append("interrupt")
            connection.interrupt()

        passed = {name: getattr(connection, name) for name in ("sql", "execute", "close")}
        monkeypatch.setattr(found, "_connection", SimpleNamespace(interrupt=interrupt, **passed))
        monkeypatch.setattr(records, "wait", interrupted_at_first)
        with pytest.raises(KeyboardInterrupt):
            found.query("SELECT COUNT(*) FROM range(3000000000) AS numbers(n) WHERE n % 7 = 3")
    assert events[:3] == ["wait", "interrupt", "wait"]


SCRIPT = """
import contextlib, io, json, os, resource, signal, sys
from tablebuilder_dp.cli import main
task = json.loads(sys.argv[1])
with contextlib.redirect_stdout(io.StringIO()):
    for call in task["before"]:
        assert main.main(call) == 0
if task["limit"] is not None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (task["limit"], task["limit"]))
if task["user"] is not None:
    os.setuid(task["user"])
for call in task["calls"]:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main.main(call)
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


def elsewhere(
    calls: Sequence[Sequence[str]],
    *,
    before: Sequence[Sequence[str]] = (),
    limit: int | None = None,
    user: int | None = None,
) -> list[tuple[int, str, str]]:
    """Commands in a process of their own, with a limit for the size of files or as another user."""
    task = json.dumps({"calls": calls, "before": before, "limit": limit, "user": user})
    with tempfile.TemporaryDirectory() as folder:  # another user cannot clear up after root
        env = {**os.environ, "TMPDIR": folder}
        made = subprocess.run(
            [sys.executable, "-c", SCRIPT, task], capture_output=True, text=True, check=False, env=env
        )
    assert made.returncode == 0
    assert re.fullmatch(f"({SHORTFALL}.*\\n)*", made.stderr), made.stderr
    return [tuple(json.loads(line)) for line in made.stdout.splitlines()]


def test_a_full_disk_leaves_everything_as_it_was(office: Office, slow: Path, tmp_path: Path) -> None:
    """A limit for the size of files stands in for the disk: the system refuses to write on."""
    before = older(tmp_path)
    out = tmp_path / "out"
    keys = ["keys", office / "people.parquet", "--id", "person_id", "--secret-file", str(office.secret), "-o"]
    by = ["perturb", office / "people.parquet", "--by", "region", "age", "--audit", *office.whole(), "-o"]
    refusals = {
        "out.csv": [["example", "--records", "9999", "-o"], keys, by],
        "out.parquet": [["example", "--records", "99999", "-o"], keys, by],
    }
    calls = [[*call, str(out / name)] for name, each in refusals.items() for call in each]
    full = os.strerror(errno.EFBIG)
    for (code, shown, err), call in zip(elsewhere(calls, limit=5000), calls, strict=True):
        assert (code, shown, err) == (1, "", f"tablebuilder-dp: {call[-1]}: {full}\n")
    [(code, shown, err)] = elsewhere([[*by, str(out / "out.csv")]], limit=500)  # not even a statement fits
    assert (code, shown) == (1, "")
    assert re.fullmatch(rf"tablebuilder-dp: {out}/out\.csv(\.statement\.\w+)?: {full}\n", err), err
    [(code, shown, err)] = elsewhere([["secret", "-o", str(out / "key.bin")]], limit=8)
    assert (code, shown) == (1, "")
    assert err.count("\n") == 1
    assert full in err
    spilled = ["keys", str(slow / "ids.parquet"), "--id", "id", "--secret-file", str(slow / "key.bin")]
    spilled += ["--memory", "60MB", "-o", str(out / "out.csv")]
    [(code, shown, err)] = elsewhere([spilled], limit=8000)
    assert (code, shown, err.count("\n")) == (2, "", 1)
    assert "ids.parquet': there is no room for temporary files" in err
    assert content(out) == before


def test_a_read_only_folder_is_named_before_the_work(office: Office) -> None:
    """For root no folder is read-only, so somebody else tries it, with all that is needed imported before."""
    other = NOBODY if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others
        folder, closed = Path(name), Path(name, "closed")
        folder.chmod(0o755)
        closed.mkdir()
        (closed / "out.csv").write_bytes(b"older")
        closed.chmod(0o555)
        for file in ("people.csv", "people.categories.json", "key.bin"):
            shutil.copy(office / file, folder)
        if other is not None:
            os.chown(folder / "key.bin", other, -1)
        keys = ["keys", str(folder / "people.csv"), "--id", "person_id"]
        keys += ["--secret-file", str(folder / "key.bin")]
        by = ["perturb", str(folder / "people.csv"), "--by", "sex", *ASKED]
        by += [
            "--secret-file",
            str(folder / "key.bin"),
            "--categories",
            str(folder / "people.categories.json"),
        ]
        calls = [keys, by, ["example", "--records", "99"]]
        *found, secret = elsewhere(
            [
                *([*call, "-o", str(closed / "out.csv")] for call in calls),
                ["secret", "-o", str(closed / "k")],
            ],
            before=[[*call, "-o", str(folder / "made.csv")] for call in calls],
            user=other,
        )
        for code, shown, err in found:
            assert (code, shown) == (2, "")
            wanted = "tablebuilder-dp: output must be in a folder that can be written to, got '.*out.csv'\n"
            assert re.fullmatch(wanted, err), err
        assert secret == (2, "", f"tablebuilder-dp: {closed / 'k'}: {os.strerror(errno.EACCES)}\n")
        assert content(closed) == {"out.csv": b"older"}


# Progress


def on_a_terminal(folder: Path, *arguments: str, until: bytes = b"") -> tuple[int, str]:
    """The exit code and what a terminal gets on stderr; with ``until`` Ctrl-C once that is shown."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    shown = b""
    with started(folder, *arguments, stderr=theirs) as process:
        os.close(theirs)
        with contextlib.suppress(OSError):  # the other end is closed
            while piece := os.read(ours, 4096):
                shown += piece
                if until and re.search(until, shown):
                    process.send_signal(signal.SIGINT)
                    until = b""
        process.communicate()
    os.close(ours)
    return process.returncode, shown.decode()


def test_a_terminal_shows_how_far_the_work_is(office: Office, tmp_path: Path) -> None:
    people, key = str(tmp_path / "p.csv"), str(tmp_path / "k.csv")
    code, shown = on_a_terminal(tmp_path, "example", "--records", "200000", "-o", people)
    assert code == 0
    assert re.search(r"people: 100%\|.*200k/200k", shown)
    call = ["keys", people, "--id", "person_id", "--secret-file", str(office.secret), "-o", key]
    code, shown = on_a_terminal(tmp_path, *call)
    assert code == 0
    assert re.search(r"counting:   0%\|", shown)
    assert "keys: 200k records" in shown
    call = ["perturb", people, "--by", "sex", *office.whole(), "-o", str(tmp_path / "out.csv")]
    code, shown = on_a_terminal(tmp_path, *call)
    assert code == 0
    assert shown.startswith("designing the noise ...")
    assert re.search(r"counting:   0%\|", shown)


def test_the_bar_moves_and_control_c_ends_the_query(slow: Path, tmp_path: Path) -> None:
    before = older(tmp_path)
    code, shown = on_a_terminal(
        tmp_path, *commands(slow, tmp_path / "out")["keys"], until=rb"counting: +[1-9]"
    )
    assert code == 130
    assert shown.endswith("tablebuilder-dp: interrupted\r\n")
    assert "Traceback" not in shown
    assert content(tmp_path / "out") == before
    assert list((tmp_path / "tmp").iterdir()) == []


def test_without_a_terminal_nothing_is_shown(office: Office, tmp_path: Path) -> None:
    out = str(tmp_path / "p.parquet")
    with started(tmp_path, "example", "--records", "200000", "-o", out) as process:
        shown, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    lists = tmp_path / "p.categories.json"
    said = f"Wrote 200000 made-up people to {out} and the lists of their categories to {lists}\n"
    assert shown == said.encode()


def test_less_than_was_asked_for_is_said_aloud(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["perturb", office / "keyed-csv.csv", "--by", "sex", "--epsilon", "1", "--delta", "1e-3"]
    call += ["--per-cell", "--keys", "sums", "--secret-file", str(office.secret), "--small-counts"]
    for form in ([], ["--json"]):
        code, _, said = run(capsys, *call, "rows", *form, "-o", str(tmp_path / "rows.csv"))
        assert (code, said.count("\n")) == (0, 1)
        assert said.startswith(SHORTFALL + "at epsilon = 1 delta is 0.5")
        assert "not 0.001. With --small-counts signed or clamped every count would get it." in said
        for other in ("signed", "clamped"):
            assert run(capsys, *call, other, *form, "-o", str(tmp_path / "other.csv"))[::2] == (0, "")


def test_one_column_of_keys_with_margins_promises_nothing_beyond_one_cell(
    office: Office, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.csv"
    call = [
        "perturb",
        office / "keyed-csv.csv",
        "--by",
        "sex",
        *NOISE,
        "--record-keys",
        KEYS[1],
        "-o",
        str(out),
    ]
    for margins in ([], ["--margins"]):
        said = " ".join(good(capsys, *call, *margins).split())
        stated = json.loads(Path(f"{out}.statement.json").read_text("utf-8"))
        assert stated["whole_table"] == {"epsilon": "inf", "delta": 1.0, "loss_above_epsilon": 1.0}
        assert stated["key_columns"] == 1
        assert ("for more than one cell epsilon is inf" in said) is bool(margins)
        assert "Neither epsilon nor delta is promised for more than one published count" in said
