"""All tables of a release appear together, with what was promised of them, and the journal knows first."""

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import slow_tables
from support import small_worlds as worlds

from tablebuilder_dp import microdata
from tablebuilder_dp.cli import main
from tablebuilder_dp.microdata import publish, release_file
from tablebuilder_dp.microdata.account import Account, Budget

TOML = """
edition = "2026"
records = "people.parquet"
secret = "key.bin"

[privacy]
epsilon = 1
delta = 1e-3
{privacy}

[variables.sex]
categories = ["F", "M"]
missing = true
[variables.age]
categories = [3, 1, 2]
[variables.geo]
hierarchy = ["region", "district"]
codes = "geo.csv"

[[table]]
name = "age by sex"
by = ["age", "sex"]
margins = true

[[table]]
name = "districts"
by = ["geo", "sex"]
margins = true
output = "districts.parquet"

[[table]]
name = "regions"
by = ["region"]
"""
CODES = "region,district\nNorth,Aby\nNorth,Lund\nSouth,Aby\n"
PATHS = [("North", "Aby"), ("North", "Lund"), ("South", "Aby")]
FILES = ["age-by-sex.csv", "districts.parquet", "regions.csv", "statement.json", "statement.txt"]


def people(size: int = 300, seed: int = 1) -> pa.Table:
    draw = np.random.default_rng(seed)
    paths = [PATHS[place] for place in draw.integers(0, 3, size)]
    return pa.table(
        {
            "sex": [("F", "M", None)[place] for place in draw.integers(0, 3, size)],
            "age": pa.array(draw.integers(1, 4, size), pa.int8()),
            "region": [region for region, _ in paths],
            "district": [district for _, district in paths],
        }
    )


@pytest.fixture
def office(tmp_path: Path) -> Path:
    (tmp_path / "release.toml").write_text(TOML.format(privacy=""), encoding="utf-8")
    (tmp_path / "geo.csv").write_text(CODES, encoding="utf-8")
    (tmp_path / "key.bin").write_bytes(slow_tables.SECRET)
    (tmp_path / "key.bin").chmod(0o600)
    pyarrow.parquet.write_table(people(), tmp_path / "people.parquet")
    return tmp_path


def label(layout: microdata.Layout, row: dict[str, Any], name: str) -> Any:
    """What a file has in a column of a row of texts."""
    if name not in layout.by or row[name] is not None:
        return row[name]
    return "(total)" if name in row.get("total_over", "").split(", ") else "(missing)"


def release(office: Path, **change: Any) -> microdata.Release:
    return replace(microdata.Release.from_toml(office / "release.toml"), **change)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- What is published ------------------------------------------------------------------------


def test_everything_is_where_it_should_be(office: Path) -> None:
    made = release(office).publish()
    folder = office / "release-2026"
    assert names(folder) == FILES
    assert [path.name for path in made.files] == [FILES[0], *FILES[1:3], *FILES[3:]]
    assert names(office) == sorted(
        ["geo.csv", "key.bin", "key.bin.journal.jsonl", "people.parquet", "release-2026", "release.toml"]
    )
    stated = json.loads((folder / "statement.json").read_text("utf-8"))
    assert stated == made.statement
    assert stated["all_tables"]["epsilon"] == 1
    assert stated["all_tables"]["delta"] <= 1e-3
    assert stated["cells_changed"] == stated["cells_per_person"] == 8
    for row in stated["tables"]:
        assert row["sha256"] == hashlib.sha256((folder / row["file"]).read_bytes()).hexdigest()
    assert (folder / "statement.txt").read_text("utf-8") == made.text
    assert pyarrow.parquet.read_table(folder / "districts.parquet") == made.tables["districts"]
    read = pyarrow.csv.read_csv(folder / "age-by-sex.csv")
    assert read["count"].to_pylist() == made.tables["age by sex"]["count"].to_pylist()


def test_a_table_is_what_perturb_makes_of_it(office: Path) -> None:
    """Cells are described alike everywhere, so a shared cell has one answer in all tables."""
    chosen = release(office)
    made = chosen.publish()
    protection = microdata.design(1, "1e-3", cells=chosen.cells_changed)
    alone = microdata.perturb(
        office / "people.parquet",
        by=["sex", "age"],
        margins=True,
        protection=protection,
        edition="2026",
        secret_file=office / "key.bin",
        categories={"sex": ["F", "M", None], "age": [1, 2, 3]},
    )
    answers = [
        {(row["sex"], row["age"], frozenset(row["total_over"].split(", "))): row["count"] for row in rows}
        for rows in (alone.labelled.to_pylist(), made.tables["age by sex"].to_pylist())
    ]
    assert answers[0] == answers[1]
    totals = {name: made.tables[name].to_pylist() for name in ("age by sex", "districts")}
    both = [
        [row["count"] for row in rows if len(row["total_over"].split(", ")) == 2] for rows in totals.values()
    ]
    assert both[0][-1:] == [row["count"] for row in totals["districts"] if row["total_over"].count(",") == 2]
    regions = {row["region"]: row["count"] for row in made.tables["regions"].to_pylist()}
    again = {
        row["region"]: row["count"] for row in totals["districts"] if row["total_over"] == "district, sex"
    }
    assert again == {"North": regions["North"]}  # the one district of South stands for it
    alone.write(office / "again.csv")
    assert len(chosen.history().entries) == 2
    assert chosen.history().cells == 8  # nothing that was not there before


categories = st.sampled_from([["x"], ["x", "y"], ["y", None, "x"]])


@st.composite
def releases(draw: st.DrawFn) -> tuple[pa.Table, microdata.Release]:
    lists: dict[str, Any] = {name: draw(categories) for name in "abc"}
    paths: Any = draw(st.lists(st.tuples(*[st.sampled_from(["x", "y", None])] * 2), min_size=1, unique=True))
    size = draw(st.integers(0, 8))
    columns = {
        name: draw(st.lists(st.sampled_from(lists[name]), min_size=size, max_size=size)) for name in "abc"
    }
    taken = draw(st.lists(st.sampled_from(paths), min_size=size, max_size=size))
    columns |= {"p": [path[0] for path in taken], "q": [path[1] for path in taken]}
    variables = [release_file.Variable(name, (name,), tuple((one,) for one in lists[name])) for name in "abc"]
    variables.append(release_file.Variable("h", ("p", "q"), tuple(paths)))
    tables = []
    for place in range(draw(st.integers(1, 3))):
        by = draw(st.lists(st.sampled_from(["a", "b", "c", "h", "p"]), min_size=1, max_size=3, unique=True))
        by = [name for name in by if not (name == "p" and "h" in by)]
        flat = [column for name in by for column in (("p", "q") if name == "h" else (name,))]
        nested = [("p", "q")] if "h" in by else []
        layout = microdata.Layout(flat, draw(st.booleans()), nested)
        tables.append(release_file.Table(str(place), layout, f"{place}.parquet"))
    made = microdata.Release(
        "2026",
        Fraction(1),
        Fraction(1, 100),
        tuple(tables),
        tuple(variables),
        noise="geometric",
        small_counts=draw(st.sampled_from(["signed", "clamped"])),
    )
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()}), made


@given(releases())
def test_releases_are_what_loops_over_records_give(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[pa.Table, microdata.Release]
) -> None:
    records, chosen = drawn
    folder = tmp_path_factory.mktemp("r")
    (folder / "key.bin").write_bytes(slow_tables.SECRET)
    (folder / "key.bin").chmod(0o600)
    made = replace(chosen, secret=folder / "key.bin", folder=folder / "out").publish(records)
    noise = microdata.design(1, "0.01", cells=chosen.cells_changed, noise="geometric")
    for table in chosen.tables:
        given_lists, _ = chosen.lists(table.layout)
        if table.layout.nested:
            given_lists = {**given_lists, "q": [list(path) for path in chosen.variables[3].paths]}
            given_lists.pop("p")
        expected = slow_tables.published(
            records.to_pylist(),
            noise.table,
            by=table.layout.by,
            keys=[],
            margins=table.layout.margins,
            nested=table.layout.nested,
            given=given_lists,
            secret=slow_tables.SECRET,
            kind="cells",
            edition="2026",
            digest=slow_tables.input_digest(slow_tables.SECRET, records),
            clamped=chosen.small_counts == "clamped",
        )
        names = made.tables[table.name].column_names
        shown = [{name: label(table.layout, row, name) for name in names} for row in expected]
        assert made.tables[table.name].to_pylist() == shown


# --- A small world ----------------------------------------------------------------------------

WEIGHTS = (1, 2, 1)
GROWTHS = [Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4), Fraction(30)]


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_two_editions_of_two_tables_give_away_what_the_account_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, neighbours: str
) -> None:
    """The real code says which answers share a key; all noises of all different keys are counted."""
    seen: list[tuple[Any, Any]] = []
    real = publish.perturbed

    def watched(counted: Any, keys: Any, protection: Any, **options: Any) -> Any:
        seen.append((counted.counts, keys))
        return real(counted, keys, protection, **options)

    monkeypatch.setattr(publish, "perturbed", watched)
    microdata.make_secret(tmp_path / "key.bin", seed=1)
    variables = tuple(release_file.Variable(name, (name,), (("x",), ("y",))) for name in "ab")
    tables = tuple(
        release_file.Table(name, microdata.Layout([name], margins=True), f"{name}.csv") for name in "ab"
    )

    def published(world: dict[str, list[str]], place: int) -> dict[int, int]:
        """The true counts of both editions by their keys, whichever tables they stand in."""
        found: dict[int, int] = {}
        for edition in ("1", "2"):
            seen.clear()
            chosen = microdata.Release(
                *(edition, Fraction(1), Fraction(1, 10), tables, variables, neighbours),
                secret=tmp_path / "key.bin",
                folder=tmp_path / f"{place}-{edition}",
                journal=tmp_path / f"{place}.jsonl",
            )
            chosen.publish(pa.table(world))
            found |= {int(key): int(n) for counts, keys in seen for n, key in zip(counts, keys, strict=True)}
        account = Account(tuple(chosen._journal().entries()), neighbours)
        assert account.cells == {"add-or-remove": 6, "replace": 8}[neighbours]
        return found

    other = {"a": ["x", "y", "y"], "b": ["x", "x", "x"]} if neighbours == "replace" else {}
    other = other or {"a": ["x", "y"], "b": ["x", "x"]}
    first = list(published({"a": ["x", "y", "x"], "b": ["x", "x", "y"]}, 0).values())
    second = list(published(other, 1).values())
    assert len(first) == len(second) == 10  # x, y of both variables and one total, in two editions
    changed = [n - m for n, m in zip(first, second, strict=True) if n != m]
    assert sorted(map(abs, changed)) == [1] * (6 if neighbours == "add-or-remove" else 8)
    noises = np.array(list(product((-1, 0, 1), repeat=10)))
    ways = np.array([2, 4, 2])[noises + 1].prod(axis=1) // 2**10
    laws = [worlds.Law(counted(np.array(world) + noises, ways), 4**10) for world in (first, second)]
    for growth in GROWTHS:
        expected = worlds.composed(WEIGHTS, growth, rise=len(changed))
        assert worlds.hockey_stick(laws[0], laws[1], growth) == expected
        assert worlds.hockey_stick(laws[1], laws[0], growth) == expected


def counted(answers: Any, ways: Any) -> dict[tuple[int, ...], int]:
    return {tuple(row): int(way) for row, way in zip(answers.tolist(), ways, strict=True)}


# --- Again, at once, and not at all -----------------------------------------------------------


def state(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_again_changes_nothing(office: Path) -> None:
    first = release(office).publish()
    before = state(office)
    again = release(office).publish()
    assert (again.statement, again.tables) == (first.statement, first.tables)
    assert state(office) == before


def test_a_later_edition_does_not_change_what_an_earlier_one_said(office: Path) -> None:
    release(office).publish()
    later = release(office, edition="2027", folder=office / "later").publish()
    assert later.statement["all_editions"]["editions"] == ["2026", "2027"]
    assert later.statement["all_editions"]["cells_per_person"] == 16
    before = state(office)
    release(office).publish()
    assert state(office) == before


def test_other_records_need_another_edition(office: Path) -> None:
    release(office).publish()
    before = state(office)
    for other in (people(299), people().slice(0, 300).take(list(range(299, -1, -1)))):
        with pytest.raises(ValueError, match=r"edition must be a new one for other records, got '2026'"):
            release(office, folder=office / "other").publish(other)
    assert state(office) == before
    release(office, folder=office / "other", edition="2026-b").publish(people(299))
    assert release(office).history().cells == 16


def test_a_folder_with_something_else_is_never_touched(office: Path) -> None:
    (office / "release-2026").mkdir()
    (office / "release-2026" / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"folder must be a new folder, got .* which has other files in it"):
        release(office, records=office / "nobody-reads-this.parquet").publish()
    (office / "release-2026" / "mine.txt").unlink()
    for name in FILES:
        (office / "release-2026" / name).write_text("mine")
    before = state(office)
    with pytest.raises(ValueError, match=r"folder must be a new one, got .* which has other content"):
        release(office).publish()
    assert state(office) == before  # nothing was published, and nothing is counted
    with pytest.raises(ValueError, match="folder must be a new folder, got .* which is a file"):
        release(office, folder=office / "geo.csv").publish()
    (office / "parts").mkdir()
    pyarrow.parquet.write_table(people(), office / "parts" / "0.parquet")
    for place in (office / "parts", office / "parts" / "out"):
        with pytest.raises(ValueError, match="folder must be outside the folder that is read"):
            release(office, records=office / "parts", folder=place).publish()


def test_a_budget_is_refused_before_anything_is_read(office: Path) -> None:
    budget = Budget(Fraction(2), Fraction(1, 10))
    release(office, budget=budget).publish()
    release(office, budget=budget, edition="2027", folder=office / "b").publish()
    before = state(office)
    unread = {"records": office / "nobody-reads-this.parquet", "edition": "2028", "folder": office / "c"}
    with pytest.raises(ValueError, match="budget must not be exceeded .* epsilon would add up to 3 and"):
        release(office, budget=budget, **unread).publish()
    with pytest.raises(ValueError, match="budget must not be exceeded"):
        release(office, **unread).publish()
    assert state(office) == before
    release(office, budget=budget).publish()  # what is there may be made again
    protection = microdata.design(1, "1e-3", cells=1)
    with pytest.raises(ValueError, match="budget must not be exceeded"):
        microdata.perturb(
            office / "nobody-reads-this.parquet",
            by=["sex"],
            protection=protection,
            edition="2028",
            secret_file=office / "key.bin",
            categories={"sex": ["F", "M", None]},
        )


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    ready = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        ready.wait()
        try:
            return call()
        except ValueError as error:
            return str(error)

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_two_at_once_agree(office: Path) -> None:
    found = at_once(*[release(office).publish] * 3)
    assert found[0].statement == found[1].statement == found[2].statement
    assert len(release(office).history().entries) == 1
    assert names(office / "release-2026") == FILES


def test_of_two_files_at_once_one_is_published(office: Path) -> None:
    folders = [office / "a", office / "b"]
    found = at_once(
        *(
            lambda place=place: release(office, folder=folders[place]).publish(people(300, place))
            for place in (0, 1)
        )
    )
    refused = [isinstance(one, str) for one in found]
    assert sorted(refused) == [False, True]
    assert [folder.exists() for folder in folders] == [not one for one in refused]
    assert len(release(office).history().entries) == 1


def test_of_two_that_exceed_the_budget_together_one_is_published(office: Path) -> None:
    budget = Budget(Fraction(1), Fraction(1, 10))
    found = at_once(
        *(
            release(office, budget=budget, edition=year, folder=office / year).publish
            for year in ("2026", "2027", "2028")
        )
    )
    assert sorted(isinstance(one, str) for one in found) == [False, True, True]
    assert len([year for year in ("2026", "2027", "2028") if (office / year).exists()]) == 1
    assert not release(office).history().over_budget


def test_editions_that_are_published_at_once_know_of_each_other(office: Path) -> None:
    found = at_once(
        *(release(office, edition=year, folder=office / year).publish for year in ("2026", "2027", "2028"))
    )
    known = sorted(len(one.statement["all_editions"]["editions"]) for one in found)
    assert known == [1, 2, 3]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_whenever_it_dies_journal_and_tables_agree(office: Path) -> None:
    """Killed before every use of a file, and with no room at every size: see `support.crashes`."""
    done = subprocess.run(
        [sys.executable, "-m", "support.crashes", str(office)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    killed, again, full = (
        [line for line in lines if line["trouble"] == what] for what in ("killed", "again", "no room")
    )
    whole = killed[-1]["files"]
    assert sorted(whole) == FILES
    for line in lines:
        if line["files"] is not None:
            assert line["files"] == whole  # all files, as they should be
            assert line["entries"] == 1  # and an entry
    assert {line["code"] for line in killed[:-1]} == {77}
    assert {(line["code"], line["entries"]) for line in again} == {(0, 1)}  # never counted twice
    assert any(line["entries"] == 0 for line in killed)
    assert any(line["entries"] == 1 and line["files"] is None for line in killed)  # a line too many
    assert len(killed) > 20
    assert {line["left"] for line in full} == {0}
    assert full[-1]["files"] == whole
    assert len(full) > 3


# --- The command ------------------------------------------------------------------------------


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main.main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def test_the_command_publishes_and_remembers(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = office / "release.toml"
    assert said(capsys, "release", "history", file) == (0, "Nothing has been published yet.\n", "")
    code, out, err = said(capsys, "release", "publish", file)
    assert (code, err) == (0, "")
    assert out.startswith("Statement about edition 2026\n")
    assert out.endswith(f"{office / 'release-2026' / 'statement.txt'}\n")
    code, out, _ = said(capsys, "release", "publish", file, "--json")
    data = json.loads(out)
    assert data["all_tables"]["epsilon"] == 1
    assert [Path(path).name for path in data["output"]] == [FILES[0], *FILES[1:]]
    code, out, _ = said(capsys, "release", "history", file, "--json")
    data = json.loads(out)
    assert [row["edition"] for row in data["editions"]] == ["2026"]
    assert (data["epsilon"], data["cells_per_person"]) == (1, 8)
    assert said(capsys, "release", "history", file)[1].startswith("  edition")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["history", "--html", "x"], "argument --html: not allowed with history"),
        (["publish", "--html", "x"], "argument --html: not allowed with publish"),
        (["plan", "--spark", "local"], "argument --spark: not allowed with plan"),
        (["history", "--memory", "1GB"], "argument --memory: not allowed with history"),
    ],
)
def test_options_of_other_actions_are_refused(
    office: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = said(capsys, "release", arguments[0], office / "release.toml", *arguments[1:])
    assert (code, out, err) == (2, "", f"tablebuilder-dp: {message}\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("records = ", "#"), "release must have 'records', a file with one row a person"),
        (("secret = ", "#"), "release must have 'secret', the file that tablebuilder-dp secret writes"),
        (('"people.parquet"', '"no.parquet"'), "no.parquet: No such file"),
        (('"key.bin"', '"no.bin"'), "no.bin: No such file"),
        (("[variables.age]", "[variables.old]"), "table.by must be variables of the release"),
        (("categories = [3, 1, 2]", "categories = [3, 1]"), "categories of 'age' must list all that occur"),
        (("[variables.age]\n", "[variables.count]\ncategories = [1]\n[variables.age]\n"), None),
        (
            ('edition = "2026"', 'edition = "2026"\nfolder = "no/where"'),
            "folder must be in a folder that exists",
        ),
        (
            ('edition = "2026"', 'edition = "2026"\njournal = "no/x"'),
            "journal must be in a folder that exists",
        ),
        (
            ("records = ", "x = " + "[" * 3000 + "]" * 3000 + "\nrecords = "),
            "release must be a TOML file, got",
        ),
        (
            ("[variables.age]", '[variables.region]\ncategories = ["N"]\n[variables.age]'),
            "variables must be of",
        ),
        (
            ('codes = "geo.csv"', 'codes = "people.parquet"\nmissing = true'),
            "variables.geo.codes must be a code list",
        ),
        (('codes = "geo.csv"', 'codes = "a.json"'), "a.json: No such file"),
        (('"key.bin"', '"key\\u0000.bin"'), "secret must be a text that can be printed on one line"),
        (
            ('edition = "2026"', 'edition = "2026"\nfolder = "j"\njournal = "j"'),
            "folder must be other than the journal",
        ),
        (("{privacy}", 'small_counts = "rows"'), "small_counts must be one of signed, clamped, got 'rows'"),
    ],
)
def test_what_cannot_be_published_is_one_sentence(
    office: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], message: str | None
) -> None:
    text = TOML.replace(*change, 1).replace("{privacy}", "")
    (office / "release.toml").write_text(text, encoding="utf-8")
    before = state(office)
    code, out, err = said(capsys, "release", "publish", office / "release.toml")
    if message is None:
        assert code == 0
        return
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert state(office) == before


def test_a_statement_knows_what_else_its_edition_has(office: Path) -> None:
    first = release(office).publish()
    assert "Nothing was published before this" in first.text
    tighter = release(office, epsilon=Fraction(1, 2), folder=office / "tighter").publish()
    assert tighter.statement["all_editions"]["publications"] == 2
    assert "has 2 publications in one edition" in " ".join(tighter.text.split())
    assert "Together they keep epsilon = 1." in " ".join(tighter.text.split())


def test_a_statement_knows_of_what_adds_nothing_to_it(office: Path) -> None:
    """A part of the edition again, with its noise: no new counts, and yet not the first publication."""
    both = release(office)
    both.publish()
    part = replace(both, tables=both.tables[:1], folder=office / "part")
    made = microdata.design(1, "1e-3", cells=both.cells_changed)
    again = microdata.perturb(
        office / "people.parquet",
        by=["age", "sex"],
        margins=True,
        protection=made,
        edition="2026",
        secret_file=office / "key.bin",
        categories={"sex": ["F", "M", None], "age": [1, 2, 3]},
    )
    again.record()
    assert [step.cells for step in both.history().steps] == [8, 0]
    stated = part.publish()
    assert stated.statement["all_editions"]["publications"] == 3
    assert "Nothing was published before" not in " ".join(stated.text.split())


def test_a_total_alone_counts_as_published(office: Path) -> None:
    """Of records that are replaced no one changes it."""
    one = release_file.Variable("one", ("age",), ((1,), (2,), (3,)))
    total = release_file.Table("total", microdata.Layout(["age"]), "t.csv")
    first = microdata.Release(
        "1",
        Fraction(1),
        Fraction(1, 1000),
        (total,),
        (release_file.Variable("one", ("age",), ((1,),)),),
        "replace",
        secret=office / "key.bin",
        folder=office / "first",
    )
    first.publish(pa.table({"age": [1, 1]}))
    assert [step.cells for step in first.history().steps] == [0]
    later = replace(first, edition="2", variables=(one,), folder=office / "later")
    told = " ".join(later.publish(people()).text.split())
    assert "has 2 publications in 2 editions (1, 2)" in told


def test_a_budget_has_one_relation_of_neighbours(office: Path) -> None:
    budget = Budget(Fraction(9), Fraction(1, 2))
    release(office, budget=budget).publish()
    other = release(office, neighbours="replace", edition="2027", folder=office / "other")
    with pytest.raises(ValueError, match="neighbours must be add-or-remove, as in the budget of the journal"):
        other.publish()
    assert other.history().neighbours == "add-or-remove"


def test_a_budget_cannot_be_fixed_afterwards(office: Path) -> None:
    release(office).publish()
    late = release(office, budget=Budget(Fraction(9), Fraction(1, 2)), edition="2027", folder=office / "late")
    wanted = "budget must be left out, as the journal begins without one: it is fixed before anything is"
    for attempt in (late.plan, late.publish):
        with pytest.raises(ValueError, match=wanted):
            attempt()


def test_a_plan_says_what_the_journal_would_refuse(office: Path) -> None:
    """Without a journal, and for what has been published already, there is nothing to refuse."""
    budget = Budget(Fraction(3, 2), Fraction(1, 2))
    first = release(office, budget=budget)
    first.plan()
    first.publish()
    first.plan()
    second = replace(first, edition="2027", folder=office / "second")
    with pytest.raises(ValueError, match="budget must not be exceeded .* but epsilon would add up to 2"):
        second.plan()
    replace(second, epsilon=Fraction(1, 2)).plan()


def test_a_link_to_the_secret_has_the_same_journal(office: Path) -> None:
    (office / "elsewhere").mkdir()
    (office / "elsewhere" / "link").symlink_to("../key.bin")
    release(office, secret=office / "elsewhere" / "link").publish()
    assert len(release(office).history().entries) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edition": ""}, "edition must be a text that can be printed on one line, got ''"),
        ({"edition": "a\nb"}, "edition must be a text that can be printed on one line"),
        ({"edition": 2026}, "edition must be a text such as '2026', got 2026"),
        ({"neighbours": "swap"}, "neighbours must be one of add-or-remove, replace, got 'swap'"),
        ({"noise": "white"}, "noise must be one of best, max-entropy, geometric, got 'white'"),
        ({"small_counts": "rows"}, "small_counts must be one of signed, clamped, got 'rows'"),
    ],
)
def test_a_release_in_python_is_checked(office: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        release(office, **change)


def test_a_folder_may_be_a_text(office: Path) -> None:
    assert release(office, folder=str(office / "text")).publish().folder == office / "text"


def test_the_page_for_offices_can_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its commands, with the file that it shows."""
    page = Path(__file__).parents[3].joinpath("site", "offices.md").read_text("utf-8").replace("\\\n", "")
    monkeypatch.chdir(tmp_path)
    text = page.split("```toml\n")[1].split("```")[0]
    Path("release.toml").write_text(text, encoding="utf-8")
    commands = re.findall(r"^tablebuilder-dp (.*?)(?: +#.*)?$", page, re.M)
    assert [command.split()[0] for command in commands] == ["example", "secret", *["release"] * 3, "perturb"]
    for command in commands:
        asked = command.replace("1000000", "2000").replace("--edition 2026", "--edition 2027").split()
        assert main.main(asked) == 0, (command, capsys.readouterr().err)
    assert names(tmp_path / "tables-2026") == sorted(
        ["age-by-sex.csv", "regions-by-sex.csv", "statement.json", "statement.txt"]
    )
    assert len(Path("key.bin.journal.jsonl").read_text("utf-8").splitlines()) == 2


def test_results_show_themselves(office: Path) -> None:
    made = release(office).publish()
    shown = made._repr_html_()
    assert shown.count("<table>") == len(made.tables)
    assert shown.count("<tr>") <= 11 * len(made.tables)
    promise = made.statement["all_tables"]
    assert f"<p>All tables together keep epsilon = {promise['epsilon']:g} and delta = " in shown
    assert len(repr(made)) < 250
    assert f"{len(made.tables)} tables in " in repr(made)
    assert repr(made).endswith(f"{shown.rpartition('<p>')[2].removesuffix('</p>')}>")
    assert release(office).history()._repr_html_().startswith("<pre>  edition")
