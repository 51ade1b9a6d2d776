"""What an output may take the place of: an ordinary file that is nobody's input, and nothing else."""

import os
import shutil
import socket
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet
import pytest

from compendium.run import places as compendium_files
from tablebuilder_dp import microdata
from tablebuilder_dp.cli import main
from tablebuilder_dp.counts import perturbation_table, table_files
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.microdata.record_keys import KEYS
from tablebuilder_dp.support import files

ROWS = microdata.design_per_cell("1", "0.01", small_counts="rows")
NOISE = [*["--epsilon", "1", "--delta", "0.01", "--per-cell", "--keys", "sums", "--small-counts", "rows"]]
TABLE = perturbation_table.build(OfVariance(3, 2), keysize=2**8, small_counts="clamped")


class Office(NamedTuple):
    """A folder for outputs and, beside it, all that commands read."""

    out: Path
    records: Path
    parts: Path
    secret: Path
    cells: Path
    categories: Path
    table: Path

    @property
    def inputs(self) -> tuple[Path, ...]:
        return self[1:]


@pytest.fixture(scope="module")
def table_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of two hundred thousand lines, written once."""
    path = tmp_path_factory.mktemp("table") / "table.txt"
    table_files.write(TABLE, path, layout="ons")
    return path


@pytest.fixture
def office(tmp_path: Path, table_file: Path) -> Office:
    made = Office(
        *(
            tmp_path / name
            for name in ("out", "in.csv", "parts", "key.bin", "cells.csv", "lists.json", "table.txt")
        )
    )
    made.out.mkdir()
    made.parts.mkdir()
    people = {"id": [1, 2, 3], "g": ["a", "b", "b"], **{name: [1, 2, 3] for name in KEYS}}
    for part in ("0.parquet", "1.parquet"):
        pyarrow.parquet.write_table(pa.table(people), made.parts / part)
    made.records.write_text(f"id,g,{','.join(KEYS)}\n1,a,1,2,3,4\n2,b,5,6,7,8\n", encoding="utf-8")
    microdata.make_secret(made.secret)
    made.cells.write_text("g\na\nb\nc\n", encoding="utf-8")
    made.categories.write_text('{"g": ["c", "b", "a"]}', encoding="utf-8")
    shutil.copyfile(table_file, made.table)
    return made


def commands(office: Office) -> dict[str, list[str]]:
    """All commands that write, but for the output."""
    plain = office.records.with_name("plain.csv")
    plain.write_text("id,g\n1,a\n2,b\n", encoding="utf-8")
    by_g = ["perturb", str(office.records), "--by", "g"]
    secret = ["--secret-file", str(office.secret)]
    return {
        "example": ["example", "--records", "9"],
        "keys": ["keys", str(plain), "--id", "id", *secret],
        "perturb": [*by_g, "--table", str(office.table), *secret, "--cells", str(office.cells)],
        "listed": [*by_g, *NOISE, "--categories", str(office.categories)],
        "parts": ["perturb", str(office.parts), "--by", "g", *NOISE],
        "table": ["table", "--epsilon", "1", "--support", "2", "--keysize", "16", "--small-counts", "rows"],
    }


WRITERS = ("example", "keys", "perturb", "listed", "parts", "table")


def state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """All that lies below a folder, what it is, and which file."""
    found = {}
    for path in sorted(folder.rglob("*")):
        known = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(known.st_mode) else b""
        found[str(path.relative_to(folder))] = (known.st_mode, known.st_ino, content)
    return found


def refused(capsys: pytest.CaptureFixture[str], office: Office, arguments: list[str], message: str) -> None:
    before = state(office.out.parent)
    assert main.main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
    assert state(office.out.parent) == before


def bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket is short
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root can make a device")


def link(path: Path) -> None:
    target = path.with_name("elsewhere")
    target.write_text("precious", encoding="utf-8")
    path.symlink_to(target)


KINDS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a socket": bind,
    "a device": device,
    "a symbolic link": link,
    "a symbolic link, of nothing": lambda path: path.symlink_to("nowhere"),
    "a folder": Path.mkdir,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("command", "beside"),
    [(command, "") for command in WRITERS]
    + [(command, end) for command in ("perturb", "parts") for end in (".statement.json", ".statement.txt")],
)
def test_only_ordinary_files_are_replaced(
    office: Office, capsys: pytest.CaptureFixture[str], command: str, kind: str, beside: str
) -> None:
    out = office.out / "t.csv"
    call = [*commands(office)[command], "-o", str(out)]
    KINDS[kind](out.with_name(out.name + beside))
    message = f"t.csv{beside}', which is {kind.split(',')[0]}"
    if kind == "a folder" and not beside and command != "table":
        message = "output must be a file whose name ends in .parquet or .csv"
    refused(capsys, office, call, message)


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_and_results_replace_nothing_odd(office: Office, kind: str) -> None:
    path = office.out / "t.csv"
    KINDS[kind](path)
    before = state(office.out)
    writers: list[Callable[[], None]] = [
        lambda: microdata.make_secret(path),
        lambda: compendium_files.write(path, "new"),
        lambda: table_files.write(TABLE, path, layout="sas"),
    ]
    for write in writers:
        with pytest.raises(ValueError):
            write()
    assert state(office.out) == before


def spellings(path: Path, wanted: Path) -> Iterator[Path]:
    """Other names of a file, each as good as the first."""
    wanted.unlink(missing_ok=True)
    os.link(path, wanted)
    yield wanted
    yield wanted.parent / ".." / wanted.parent.name / wanted.name
    aside = wanted.parent.parent / "aside"
    if not aside.exists():
        aside.symlink_to(wanted.parent)
    yield aside / wanted.name


@pytest.mark.parametrize("command", ["keys", "perturb", "listed"])
def test_no_input_is_replaced_whatever_its_name(
    office: Office, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    call, read = commands(office)[command], "must be a file that is not read, got"
    named = [path for path in office.inputs if str(path) in call and path.is_file()]
    if command == "keys":
        named.append(office.records.with_name("plain.csv"))
    assert len(named) > 1
    for path in named:
        for end in ("", ".statement.json", ".statement.txt") if command != "keys" else ("",):
            for other in spellings(path, office.out / f"t.csv{end}"):
                refused(capsys, office, [*call, "-o", str(other).removesuffix(end)], read)
            (office.out / f"t.csv{end}").unlink()


def test_nothing_is_written_into_a_folder_that_is_read(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    (office.parts / ".deep").mkdir()
    call, outside = commands(office)["parts"], "output must be outside the folder that is read, got"
    aside = office.parts.with_name("aside")
    aside.symlink_to(office.parts)
    for folder in (office.parts, aside, office.parts / ".." / "parts"):
        refused(capsys, office, [*call, "-o", str(folder / "new.csv")], outside)
    shutil.rmtree(office.parts / ".deep")
    os.link(office.parts / "0.parquet", office.out / "t.parquet")
    refused(capsys, office, [*call, "-o", str(office.out / "t.parquet")], "a file that is not read")


def test_what_perturb_gives_knows_what_it_was_made_from(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(office.out.parent)
    made = microdata.perturb(
        Path("in.csv"),
        by=["g"],
        protection=microdata.from_table("table.txt"),
        cells="cells.csv",
        secret_file="key.bin",  # noqa: S106
    )
    monkeypatch.chdir("/")
    for path in (office.records, office.table, office.cells, office.secret):
        for end in ("", ".statement.json", ".statement.txt"):
            os.link(path, office.out / f"t.csv{end}")
            before = state(office.out.parent)
            with pytest.raises(ValueError, match="must be a file that is not read"):
                made.write(office.out / "t.csv")
            assert state(office.out.parent) == before
            (office.out / f"t.csv{end}").unlink()
    with pytest.raises(ValueError, match="must be a file that is not read"):
        made.write(office.records)
    assert len(made.write(office.out / "t.csv")) == 3
    parts = microdata.perturb(office.parts, by=["g"], protection=ROWS, keys="sums")
    with pytest.raises(ValueError, match="output must be outside the folder that is read"):
        parts.write(office.parts / "t.csv")
    alone = microdata.perturb(
        pyarrow.parquet.read_table(office.parts / "0.parquet"),
        by=["g"],
        protection=ROWS,
        keys="sums",
    )
    assert alone.inputs == ()
    assert len(alone.write(office.out / "t.csv")) == 3


def test_a_path_as_spark_has_it_is_a_path() -> None:
    assert files.inputs("file:///a/b", "file:/c", None, 5, Path("/d")) == (
        Path("/a/b"),
        Path("/c"),
        Path("/d"),
    )


def test_a_secret_is_never_replaced_even_where_nobody_names_it(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    """A secret that is lost changes every key; no text and no Parquet file looks like one."""
    call = commands(office)
    for path, arguments in (
        (office.secret, [*call["table"], "-o", str(office.secret)]),
        (office.out / "t.csv", [*call["example"], "-o", str(office.out / "t.csv")]),
        (office.out / "t.csv.statement.txt", [*call["listed"], "-o", str(office.out / "t.csv")]),
    ):
        if path != office.secret:
            microdata.make_secret(path)
        refused(capsys, office, arguments, "which is a secret")
        path.unlink()
    text = office.out / "t.csv"
    text.write_text("x" * 30 + "é", encoding="utf-8")
    assert text.stat().st_size == 32
    assert main.main([*call["example"], "-o", str(text)]) == 0


@pytest.mark.unmeasured
@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.parametrize("older", [0o600, 0o640, 0o400, 0o444, 0o666])
def test_what_was_closed_to_others_stays_so(office: Office, command: str, older: int) -> None:
    out = office.out / "t.csv"
    call = [*commands(office)[command], "-o", str(out)]
    paths = [out]
    if command in ("perturb", "listed", "parts"):
        paths += [office.out / f"t.csv.statement.{end}" for end in ("json", "txt")]
    for path in paths:
        path.write_text("older", encoding="utf-8")
        path.chmod(older)
    assert main.main(call) == 0
    for path in paths:
        assert path.read_bytes() != b"older"
        assert stat.S_IMODE(path.stat().st_mode) & ~older == 0
        assert stat.S_IMODE(path.stat().st_mode) == older & (0o600 if command == "keys" else 0o644)


def test_it_is_closed_from_the_first_byte_on(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("older", encoding="utf-8")
    path.chmod(0o440)
    with files.whole(path) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) & ~0o600 & ~0o440 == 0
        temporary.write_text("new", encoding="utf-8")
        path.chmod(0o600)  # meanwhile
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_takes_the_name_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path, target = tmp_path / "a", tmp_path / "b"
    target.write_text("precious", encoding="utf-8")

    def write() -> None:
        with files.whole(path) as temporary:
            temporary.write_text("new", encoding="utf-8")
            path.symlink_to(target)

    with pytest.raises(ValueError, match="which is a symbolic link"):
        write()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a", "b"]
    assert path.is_symlink()


def test_the_umask_is_obeyed_and_never_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It belongs to all threads: one that changes it to read it opens the files of the others."""
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patched, ThreadPoolExecutor(4) as pool:
            patched.delattr(os, "umask")
            list(pool.map(lambda place: compendium_files.write(tmp_path / str(place), "new"), range(99)))
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o640}


def test_a_folder_that_is_missing_or_closed_is_named(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="output must be in a folder that exists, got '.*no/a'"):
        files.check(office.out / "no" / "a")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ValueError, match="output must be in a folder that can be written to, got '.*a'"):
        files.check(office.out / "a")
