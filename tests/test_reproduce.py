"""``make reproduce``: what is run, what is kept, what is said, and what a killed run leaves."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compendium import files, manifest, notebooks, reproduce, runs

ROOT = Path(__file__).resolve().parents[1]
NAME = "04-design-guide"


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("COMPENDIUM_OUTPUT", str(tmp_path))
    return tmp_path


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run notebooks from this process: starting others takes longer than the notebooks."""

    def run_all(tasks: dict[str, Any]) -> list[reproduce.Outcome]:
        outcomes = [reproduce.execute(name, given) for name, given in tasks.items()]
        for outcome in outcomes:
            reproduce.remember(outcome, tasks[outcome.name])
        return outcomes

    monkeypatch.setattr(reproduce, "run_all", run_all)


def start(output: Path, *arguments: str) -> subprocess.Popen[str]:
    """``python -m compendium`` as a user starts it, from another folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "compendium", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=output,
        env={**os.environ, "COMPENDIUM_OUTPUT": str(output), "PYTHONPATH": str(ROOT / "src")},
        start_new_session=True,
    )


def produced(output: Path) -> dict[str, str]:
    """All result files below a folder with their digests."""
    found = [path for folder in ("figures", "notebooks") for path in (output / folder).glob("*")]
    return {path.relative_to(output).as_posix(): manifest.digest(path) for path in found}


@pytest.mark.usefixtures("here")
def test_a_run_gives_the_committed_bytes_and_a_rerun_does_nothing(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reproduce.main(["04"]) == 0
    shown = capsys.readouterr().out
    assert "Notebooks: 1 run, 0 unchanged" in shown
    assert "9 agree, 1 differ (ex1-p12)" in shown
    assert "This machine reproduced every number and every byte." in shown
    committed = json.loads((ROOT / "manifest.json").read_text())
    assert produced(output)
    assert produced(output).items() <= committed.items()
    dates = {path: path.stat().st_mtime_ns for path in output.rglob("*") if path.is_file()}
    assert reproduce.main(["04"]) == 0
    assert "Notebooks: 0 run, 1 unchanged" in capsys.readouterr().out
    assert dates == {path: path.stat().st_mtime_ns for path in output.rglob("*") if path.is_file()}
    (output / "figures" / "figure-3.png").write_bytes(b"changed")
    assert reproduce.main(["04"]) == 0
    assert "Notebooks: 1 run, 0 unchanged" in capsys.readouterr().out
    assert produced(output).items() <= committed.items()


def test_a_killed_run_leaves_whole_files_and_the_next_one_finishes(output: Path) -> None:
    process = start(output, "03", "04", "08")
    deadline = time.monotonic() + 120
    while not list((output / "figures").glob("*.png")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    committed = json.loads((ROOT / "manifest.json").read_text())
    for path, digest in produced(output).items():
        assert committed[path] == digest, path
    out, err = (finished := start(output, "03", "04", "08")).communicate()
    assert finished.returncode == 0, err
    assert "done   08-after-sampling" in out
    assert "This machine reproduced every number and every byte." in out
    assert not list(output.rglob("*.part"))


@pytest.mark.usefixtures("here")
def test_a_failing_notebook_is_named_and_the_others_are_kept(
    output: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = output / "source"
    folder.mkdir()
    good = ROOT / "notebooks" / f"{NAME}.ipynb"
    shutil.copy(good, folder)
    broken = notebooks.read(good)
    cell = {
        **broken["cells"][0],
        "cell_type": "code",
        "source": "1 / 0",
        "outputs": [],
        "execution_count": None,
    }
    (folder / "03-choosing-the-variance.ipynb").write_text(json.dumps({**broken, "cells": [cell]}))
    monkeypatch.setattr(notebooks, "FOLDER", folder)
    assert reproduce.main(["--force"]) == 1
    out, err = capsys.readouterr()
    assert err == "03-choosing-the-variance failed at cell 1: ZeroDivisionError: division by zero\n"
    assert (output / "notebooks" / f"{NAME}.ipynb").is_file()
    assert "Notebooks: 2 run" in out


@pytest.mark.usefixtures("here")
def test_other_parameters_go_to_build_and_a_bad_value_gets_the_librarys_sentence(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reproduce.main(["04", "--set", "epsilon=2", "delta=1e-3"]) == 0
    folder = runs.other_run(NAME, {"epsilon": 2, "delta": 1e-3, "slack": 0.1})
    assert f"{NAME}: results in {folder}" in capsys.readouterr().out
    assert {path.name for path in (output / folder).iterdir()} == {
        f"{NAME}.ipynb",
        f"{NAME}.json",
        *(f"figure-3.{suffix}" for suffix in ("svg", "png", "csv")),
    }
    assert not (output / "figures").exists()
    assert reproduce.main(["04", "--set", "epsilon=-1"]) == 1
    assert "ValueError: epsilon must be a number in (0, 500], got -1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["99"], "notebook must be one of 00-start-here"),
        (["04", "--set", "epsilonn=1"], f"epsilonn must be a parameter of {NAME} (epsilon, delta, slack)"),
        (["04", "--set", "epsilon=abc"], "epsilon must be a number, got 'abc' (str)"),
        (["04", "--set", "epsilon=true"], "epsilon must be a number, got True (bool)"),
        (["04", "--set", "epsilon"], "parameter must be written NAME=VALUE, got 'epsilon'"),
        (["02", "--set", "supports=[]"], "supports must be a list, got [] (list)"),
        (["02", "--set", "supports=[1.5]"], "supports must be an integer, got 1.5 (float)"),
        (["09", "--set", "support=1.0"], "support must be an integer, got 1.0 (float)"),
    ],
)
def test_bad_arguments_are_named_before_a_kernel_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    monkeypatch.setattr(reproduce, "run_all", lambda _: pytest.fail("a kernel was started"))
    assert reproduce.main(arguments) == 2
    assert capsys.readouterr().err.startswith(f"reproduce: {message}")


def test_summary_names_what_differs(
    output: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = {"figures": ["figure-3"], "agreeing": ["a"], "differing": [], "numbers": {"x": "1.5"}}
    files.write(output / runs.PAPER_RUNS / f"{NAME}.json", json.dumps(record))
    for path in (
        "figures/figure-3.svg",
        "figures/figure-3.png",
        "figures/figure-3.csv",
        f"notebooks/{NAME}.ipynb",
    ):
        files.write(output / path, path)
    monkeypatch.setattr(manifest, "ROOT", output)
    assert manifest.conclude([NAME], accept=False) == 1
    shown = capsys.readouterr().out
    assert f"other: {NAME}: x is 1.5, committed nothing" in shown
    assert manifest.conclude([NAME], accept=True) == 0
    assert "reproduced every number and every byte" in capsys.readouterr().out
    files.write(output / "figures/figure-3.png", "another picture")
    assert manifest.conclude([NAME], accept=False) == 0
    shown = capsys.readouterr().out
    assert "Files: 3 of 4 as committed\n  other: figures/figure-3.png" in shown
    assert "All numbers agree. Bytes may differ" in shown


def test_a_changed_source_makes_every_notebook_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    before = reproduce.inputs(NAME)
    assert reproduce.inputs(NAME) == before
    original = Path.read_bytes
    monkeypatch.setattr(
        Path, "read_bytes", lambda self: original(self) + (b"#" if self.name == "noise.py" else b"")
    )
    assert reproduce.inputs(NAME) != before


def test_a_broken_state_file_is_no_obstacle(output: Path) -> None:
    files.write(output / reproduce.STATE, "{")
    assert reproduce.load_state() == {}


def test_write_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "deep" / "file.txt"
    files.write(path, "old")

    def fail(*_: Any) -> Iterator[None]:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        files.write(path, "new")
    assert [file.name for file in path.parent.iterdir()] == ["file.txt"]
    assert path.read_text() == "old"


def test_leftovers_of_a_killed_run_are_removed(output: Path) -> None:
    (output / "figures").mkdir()
    leftover = output / "figures" / ".abc.part"
    leftover.write_text("half")
    reproduce.remove_leftovers()
    assert not leftover.exists()
