"""``make reproduce``: what is run, what is kept, what is said, and what a killed run leaves."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import papermill
import psutil
import pytest

from compendium import reproduce
from compendium.__main__ import main
from compendium.ledger import book, theorems
from compendium.render import readme, references, report, submission
from compendium.run import execution, manifest, notebooks, parameters, places, staleness
from compendium.run.manifest import NUMBERS

ROOT = Path(__file__).resolve().parents[3]
NAME = "04-design-guide"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run notebooks from this process: starting others takes longer than the notebooks."""

    def run_all(tasks: dict[str, Any]) -> list[execution.Outcome]:
        outcomes = [execution.execute(name, given) for name, given in tasks.items()]
        for outcome in outcomes:
            if not outcome.problem and not tasks[outcome.name]:
                staleness.remember(outcome.name, outcome.seconds)
        return outcomes

    monkeypatch.setattr(execution, "run_all", run_all)


def start(output: Path, *arguments: str, hears: Any = signal.SIG_DFL) -> subprocess.Popen[str]:
    """``python -m compendium reproduce`` from another folder; ``hears`` is what SIGINT does."""
    return subprocess.Popen(
        [sys.executable, "-m", "compendium", "reproduce", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=output,
        env={**os.environ, "COMPENDIUM_OUTPUT": str(output), "PYTHONPATH": str(ROOT / "src")},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, hears) and None,
    )


def produced(output: Path) -> dict[str, str]:
    """All result files below a folder with their digests."""
    found = [path for folder in ("figures", "notebooks") for path in (output / folder).glob("*")]
    return {path.relative_to(output).as_posix(): manifest.digest(path) for path in found}


@pytest.mark.long
@pytest.mark.usefixtures("here")
def test_a_run_gives_the_committed_bytes_and_a_rerun_does_nothing(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "04"]) == 0
    shown = capsys.readouterr().out
    assert "Notebooks: 1 run, 0 unchanged" in shown
    assert "This machine reproduced every number and every byte." in shown
    committed = json.loads((ROOT / "manifest.json").read_text())
    assert produced(output)
    assert produced(output).items() <= committed.items()
    dates = {path: path.stat().st_mtime_ns for path in output.rglob("*") if path.is_file()}
    assert main(["reproduce", "04"]) == 0
    assert "Notebooks: 0 run, 1 unchanged" in capsys.readouterr().out
    assert dates == {path: path.stat().st_mtime_ns for path in output.rglob("*") if path.is_file()}
    (output / "figures" / "figure-3.png").write_bytes(b"changed")
    assert main(["reproduce", "04"]) == 0
    assert "Notebooks: 1 run, 0 unchanged" in capsys.readouterr().out
    assert produced(output).items() <= committed.items()


@pytest.mark.usefixtures("here")
def test_a_solution_is_run_and_compared_like_a_notebook(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", f"solutions/{NAME}"]) == 0
    assert "This machine reproduced every number and every byte." in capsys.readouterr().out
    made = f"notebooks/solutions/{NAME}.ipynb"
    assert manifest.digest(output / made) == json.loads((ROOT / "manifest.json").read_text())[made]
    assert main(["reproduce", f"solutions/{NAME}"]) == 0
    assert "Notebooks: 0 run, 1 unchanged" in capsys.readouterr().out
    (output / made).write_text("{}")
    assert main(["reproduce", f"solutions/{NAME}"]) == 0
    assert "Notebooks: 1 run, 0 unchanged" in capsys.readouterr().out


def test_every_notebook_and_every_solution_is_run() -> None:
    numbered = [path.stem for path in notebooks.paths()]
    assert execution.select([]) == [*numbered, *(f"solutions/{name}" for name in numbered)]
    assert execution.select(["04"]) == [NAME]
    assert execution.select(["solutions"]) == [f"solutions/{name}" for name in numbered]


@pytest.mark.long
def test_a_killed_run_leaves_whole_files_and_the_next_one_finishes(output: Path) -> None:
    process = start(output, "04", "08")
    deadline = time.monotonic() + 120
    while not list((output / "figures").glob("*.png")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    committed = json.loads((ROOT / "manifest.json").read_text())
    for path, digest in produced(output).items():
        assert committed[path] == digest, path
    out, err = (finished := start(output, "04", "08")).communicate()
    assert finished.returncode == 0, err
    assert "done   0" in out
    assert "This machine reproduced every number and every byte." in out
    assert not list(output.rglob("*.part"))


@pytest.mark.long
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
    assert main(["reproduce", "--force"]) == 1
    out, err = capsys.readouterr()
    assert err == "03-choosing-the-variance failed at cell 1: ZeroDivisionError: division by zero\n"
    assert (output / "notebooks" / f"{NAME}.ipynb").is_file()
    assert "Notebooks: 2 run" in out


@pytest.mark.long
@pytest.mark.usefixtures("here")
def test_other_parameters_go_to_build_and_a_bad_value_gets_the_librarys_sentence(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "04", "--set", "epsilon=2", "delta=1e-3"]) == 0
    folder = parameters.other_run(NAME, {"epsilon": 2, "delta": 1e-3, "slack": 0.1})
    assert f"{NAME}: results in {folder}" in capsys.readouterr().out
    assert {path.name for path in (output / folder).iterdir()} == {
        f"{NAME}.ipynb",
        f"{NAME}.json",
        *(f"{name}.{kind}" for name in ("figure-3", "04-smallest-support") for kind in ("svg", "png", "csv")),
    }
    assert not (output / "figures").exists()
    assert main(["reproduce", "04", "--set", "epsilon=-1"]) == 1
    assert "ValueError: epsilon must be a number in (0, 500], got -1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["99"], "notebook must be one of 00-start-here"),
        (["04", "--set", "epsilonn=1"], f"epsilonn must be a parameter of {NAME} (epsilon, delta, slack)"),
        (["04", "--set", "epsilon=abc"], "epsilon must be a number, got 'abc' (str)"),
        (["04", "--set", "epsilon=true"], "epsilon must be a number, got True (bool)"),
        (["04", "--set", "epsilon"], "parameter must be written NAME=VALUE, once each, got 'epsilon'"),
        (
            ["04", "--set", "epsilon=1", "epsilon=2"],
            "parameter must be written NAME=VALUE, once each, got 'epsilon=2'",
        ),
        (["04", "--set", "epsilon=1\nx=2"], "parameter must be written NAME=VALUE, once each"),
        (
            ["04", "--set", "epsilon=0.5"],
            f"parameters must differ from the paper's, which {NAME} has without --set",
        ),
        (["04", "--set", "epsilon=1", "--force"], "--force and --accept are for the paper's parameters"),
        (["02", "--set", "supports=[]"], "supports must be a list with at least one entry, got []"),
        (["02", "--set", "supports=[1.5]"], "supports must be an integer, got 1.5 (float)"),
        (["09", "--set", "support=1.0"], "support must be an integer, got 1.0 (float)"),
    ],
)
def test_bad_arguments_are_named_before_a_kernel_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    monkeypatch.setattr(execution, "run_all", lambda _: pytest.fail("a kernel was started"))
    assert main(["reproduce", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"reproduce: {message}")


def record(output: Path, numbers: dict[str, str]) -> None:
    """The traces of a run of one notebook with one figure."""
    content = {"figures": ["figure-3"], "numbers": numbers, "claims": []}
    places.write(output / parameters.PAPER_RUNS / f"{NAME}.json", json.dumps(content))
    for path in (
        "figures/figure-3.svg",
        "figures/figure-3.png",
        "figures/figure-3.csv",
        f"notebooks/{NAME}.ipynb",
    ):
        places.write(output / path, path)


@pytest.fixture
def fresh(output: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compendium with nothing committed but the pages that have computed lines."""
    for module in (manifest, reproduce):
        monkeypatch.setattr(module, "ROOT", output)
    for file, marks in {
        "README.md": (readme.GLANCE, readme.SUMMARY),
        "paper/teaching.md": (readme.TIMES,),
        "paper/related.md": (references.SOURCES,),
        theorems.README: (theorems.MARKS,),
    }.items():
        places.write(output / file, "\n".join(f"{start}: --> old {end}" for start, end in marks))
    return output


def test_summary_names_what_differs(fresh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(fresh, {"x": "1.5"})
    assert reproduce.conclude([NAME], accept=False) == 1
    assert f"other: {NAME}: x is 1.5, committed nothing" in capsys.readouterr().out
    assert reproduce.conclude([NAME], accept=True) == 0
    assert "reproduced every number and every byte" in capsys.readouterr().out
    places.write(fresh / "figures/figure-3.png", "another picture")
    assert reproduce.conclude([NAME], accept=False) == 0
    shown = capsys.readouterr().out
    assert "Files: 3 of 4 as committed\n  other: figures/figure-3.png" in shown
    assert "All numbers agree. Bytes may differ" in shown


def test_summary_misses_what_is_no_longer_produced(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record(fresh, {"x": "1.5", "y": "2"})
    reproduce.conclude([NAME], accept=True)
    record(fresh, {"x": "1.5"})
    assert reproduce.conclude([NAME], accept=False) == 1
    assert f"{NAME}: y is missing, committed 2" in capsys.readouterr().out
    known = json.loads((fresh / "manifest.json").read_text())
    places.write(fresh / "manifest.json", json.dumps(known | {"figures/old.png": "0"}))
    reproduce.conclude([NAME], accept=True)
    assert "figures/old.png" in json.loads(
        (fresh / "manifest.json").read_text()
    )  # another notebook's, perhaps
    monkeypatch.setattr(notebooks, "names", lambda: [NAME])
    for path in (*report.PDFS, *submission.FILES):
        places.write(fresh / path, "made")
    for module in (report, submission):
        monkeypatch.setattr(module, "build", lambda *made: None)
    reproduce.conclude([NAME], accept=False)
    assert "other: figures/old.png (missing)" in capsys.readouterr().out
    reproduce.conclude([NAME], accept=True)
    assert "figures/old.png" not in json.loads((fresh / "manifest.json").read_text())
    assert {"paper/report.pdf", "paper/beyond.pdf", "codecheck.yml", "metadata.yaml"} <= set(
        json.loads((fresh / "manifest.json").read_text())
    )


def test_the_ledger_is_rendered_and_an_entry_that_differs_is_named_by_its_field(
    fresh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads((ROOT / book.LEDGER).read_text(encoding="utf-8"))
    left = {"figures": [], "numbers": {}, "claims": ["*"], "ledger": content}
    places.write(fresh / parameters.PAPER_RUNS / f"{book.NOTEBOOK}.json", json.dumps(left))
    places.write(fresh / f"notebooks/{book.NOTEBOOK}.ipynb", "{}")
    assert reproduce.conclude([book.NOTEBOOK], accept=True) == 0
    assert "Claims of the paper: " in capsys.readouterr().out
    assert (fresh / "paper/errata.md").read_bytes() == (ROOT / "paper/errata.md").read_bytes()
    assert "of the paper 199 hold as printed. Main results that do not, " in (fresh / "README.md").read_text()
    assert json.loads((fresh / book.LEDGER).read_text()) == content
    content["claims"][0]["verdict"] = "slip"
    places.write(fresh / parameters.PAPER_RUNS / f"{book.NOTEBOOK}.json", json.dumps(left))
    assert reproduce.conclude([book.NOTEBOOK], accept=False) == 1
    name, verdict = content["claims"][0]["id"], "confirmed"
    assert f"other: ledger: {name} is verdict slip, committed verdict {verdict}" in capsys.readouterr().out


def test_the_readme_shows_the_summary_of_what_is_committed() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    recorded = {name: manifest.committed(path) for name, path in {"n": NUMBERS, "l": book.LEDGER}.items()}
    values = sum(map(len, recorded["n"].values())) + len(reproduce._entries(recorded["l"]))
    shown = readme.summary(
        notebooks=len(notebooks.names()),
        claims=reproduce._claims(recorded["l"]),
        values=values,
        files=len(manifest.committed(manifest.MANIFEST)),
    )
    assert readme.between(text, readme.SUMMARY, shown) == text


def test_running_times_are_kept_and_shown_and_never_compared(
    fresh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seconds in (3.2, 700.0):
        record(fresh, {"x": "1.5"})
        staleness.remember(NAME, seconds)
        assert reproduce.conclude([NAME], accept=True) == 0
        assert "reproduced every number and every byte" in capsys.readouterr().out
        assert json.loads((fresh / reproduce.TIMES).read_text()) == {NAME: seconds}
        assert (
            f"| [{NAME}](../notebooks/{NAME}.ipynb) | {round(seconds)} |"
            in (fresh / "paper/teaching.md").read_text()
        )


def test_a_report_that_does_not_fit_the_numbers_is_named(
    output: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record(output, {"x": "1.5"})
    monkeypatch.setattr(notebooks, "names", lambda: [NAME])
    monkeypatch.setattr(execution, "run_all", lambda tasks: [])
    assert main(["reproduce", NAME]) == 1
    assert capsys.readouterr().err.startswith("reproduce: paper/report.typ cannot be typeset: ")


@pytest.mark.parametrize("state", ["{", "[1]", "3", '{"04-design-guide": 3}', '{"04-design-guide": {}}'])
def test_a_damaged_state_file_is_no_obstacle(output: Path, state: str) -> None:
    record(output, {})
    places.write(output / staleness.STATE, state)
    assert not staleness.is_current(NAME, staleness.load_state())


def test_a_missing_or_damaged_output_makes_a_notebook_stale(output: Path) -> None:
    record(output, {})
    staleness.remember(NAME, 1.0)
    assert staleness.is_current(NAME, staleness.load_state())
    (output / "figures" / "figure-3.csv").unlink()
    assert not staleness.is_current(NAME, staleness.load_state())
    record(output, {})
    for damaged in ("{", "{}", "[]"):
        places.write(output / parameters.PAPER_RUNS / f"{NAME}.json", damaged)
        assert not staleness.is_current(NAME, staleness.load_state())


def test_two_runs_at_once_are_refused(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with execution.only_run():
        assert main(["reproduce", "04"]) == 2
    assert capsys.readouterr().err == "reproduce: another run is under way; wait for it to end\n"


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "hears"),
    [(signal.SIGTERM, signal.SIG_IGN), (signal.SIGTERM, signal.SIG_DFL), (signal.SIGINT, signal.SIG_DFL)],
)
def test_a_terminated_run_takes_its_workers_along(output: Path, number: int, hears: Any) -> None:
    process = start(output, "03", "04", "08", "09", hears=hears)
    deadline = time.monotonic() + 60
    while (
        len(family := psutil.Process(process.pid).children(recursive=True)) < 4
        and time.monotonic() < deadline
    ):
        time.sleep(0.05)
    process.send_signal(number)
    err = process.communicate(timeout=30)[1]
    assert process.returncode == 128 + number
    assert err.endswith("reproduce: interrupted; run it again to finish\n"), err
    _, alive = psutil.wait_procs(family, timeout=15)
    assert alive == []


def test_a_kernel_that_found_its_port_taken_is_started_again(
    output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = notebooks.read(ROOT / "notebooks" / f"{NAME}.ipynb")
    answers: list[Any] = []

    def run(*_: Any, **__: Any) -> Any:
        answer = answers.pop()
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(papermill, "execute_notebook", run)
    taken = RuntimeError("Kernel died before replying to kernel_info")
    answers[:] = [content, taken]
    assert execution.execute(NAME, {}).problem == ""
    assert (output / "notebooks" / f"{NAME}.ipynb").is_file()
    answers[:] = [content, taken, taken]
    assert execution.execute(NAME, {}).problem == f"RuntimeError: {taken}"
    answers[:] = [content, RuntimeError("something else")]
    assert execution.execute(NAME, {}).problem == "RuntimeError: something else"


@pytest.mark.usefixtures("here")
def test_a_kernel_that_dies_names_its_cell(
    output: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = output / "source"
    content = notebooks.read(ROOT / "notebooks" / f"{NAME}.ipynb")
    cell: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    content["cells"] = [
        {**cell, "id": "a", "source": "1"},
        {**cell, "id": "b", "source": "import os; os._exit(3)"},
    ]
    places.write(folder / f"{NAME}.ipynb", json.dumps(content))
    monkeypatch.setattr(notebooks, "FOLDER", folder)
    assert main(["reproduce", "--force"]) == 1
    assert f"{NAME} failed at cell 2: DeadKernelError" in capsys.readouterr().err


@pytest.mark.usefixtures("here")
def test_a_folder_that_cannot_be_written_is_a_failure_of_the_notebook(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places.write(output / "build" / "run", "a file where a folder should be")
    assert main(["reproduce", "04"]) == 1
    assert f"{NAME} failed at FileExistsError" in capsys.readouterr().err


def test_leftovers_of_a_killed_run_are_removed(output: Path) -> None:
    (output / "figures").mkdir()
    leftover = output / "figures" / ".abc.part"
    leftover.write_text("half")
    execution.remove_leftovers()
    assert not leftover.exists()
