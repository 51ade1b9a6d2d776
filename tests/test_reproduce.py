"""``make reproduce``: what is run, what is kept, what is said, and what a killed run leaves."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import papermill
import psutil
import pytest

from compendium import figures, files, manifest, notebooks, report, reproduce, runs, verify
from compendium.results import Results

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


def start(output: Path, *arguments: str, hears: Any = signal.SIG_DFL) -> subprocess.Popen[str]:
    """``python -m compendium`` as a user starts it, from another folder; ``hears`` is what SIGINT does."""
    return subprocess.Popen(
        [sys.executable, "-m", "compendium", *arguments],
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


@pytest.mark.usefixtures("here")
def test_a_run_gives_the_committed_bytes_and_a_rerun_does_nothing(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reproduce.main(["04"]) == 0
    shown = capsys.readouterr().out
    assert "Notebooks: 1 run, 0 unchanged" in shown
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


@pytest.mark.usefixtures("here")
def test_a_solution_is_run_and_compared_like_a_notebook(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reproduce.main([f"solutions/{NAME}"]) == 0
    assert "This machine reproduced every number and every byte." in capsys.readouterr().out
    made = f"notebooks/solutions/{NAME}.ipynb"
    assert manifest.digest(output / made) == json.loads((ROOT / "manifest.json").read_text())[made]
    assert reproduce.main([f"solutions/{NAME}"]) == 0
    assert "Notebooks: 0 run, 1 unchanged" in capsys.readouterr().out
    (output / made).write_text("{}")
    assert reproduce.main([f"solutions/{NAME}"]) == 0
    assert "Notebooks: 1 run, 0 unchanged" in capsys.readouterr().out


def test_every_notebook_and_every_solution_is_run() -> None:
    numbered = [path.stem for path in notebooks.paths()]
    assert reproduce.select([]) == [*numbered, *(f"solutions/{name}" for name in numbered)]
    assert reproduce.select(["04"]) == [NAME]
    assert reproduce.select(["solutions"]) == [f"solutions/{name}" for name in numbered]


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


def record(output: Path, numbers: dict[str, str]) -> None:
    """The traces of a run of one notebook with one figure."""
    content = {"figures": ["figure-3"], "documents": [], "numbers": numbers}
    files.write(output / runs.PAPER_RUNS / f"{NAME}.json", json.dumps(content))
    for path in (
        "figures/figure-3.svg",
        "figures/figure-3.png",
        "figures/figure-3.csv",
        f"notebooks/{NAME}.ipynb",
    ):
        files.write(output / path, path)


def test_summary_names_what_differs(
    output: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record(output, {"x": "1.5"})
    monkeypatch.setattr(manifest, "ROOT", output)
    assert manifest.conclude([NAME], accept=False) == 1
    assert f"other: {NAME}: x is 1.5, committed nothing" in capsys.readouterr().out
    assert manifest.conclude([NAME], accept=True) == 0
    assert "reproduced every number and every byte" in capsys.readouterr().out
    files.write(output / "figures/figure-3.png", "another picture")
    assert manifest.conclude([NAME], accept=False) == 0
    shown = capsys.readouterr().out
    assert "Files: 3 of 4 as committed\n  other: figures/figure-3.png" in shown
    assert "All numbers agree. Bytes may differ" in shown


def test_summary_misses_what_is_no_longer_produced(
    output: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(manifest, "ROOT", output)
    record(output, {"x": "1.5", "y": "2"})
    manifest.conclude([NAME], accept=True)
    record(output, {"x": "1.5"})
    assert manifest.conclude([NAME], accept=False) == 1
    assert f"{NAME}: y is missing, committed 2" in capsys.readouterr().out
    known = json.loads((output / "manifest.json").read_text())
    files.write(output / "manifest.json", json.dumps(known | {"figures/old.png": "0"}))
    manifest.conclude([NAME], accept=True)
    assert "figures/old.png" in json.loads(
        (output / "manifest.json").read_text()
    )  # another notebook's, perhaps
    monkeypatch.setattr(notebooks, "names", lambda: [NAME])
    monkeypatch.setattr(manifest, "LEDGER", NAME)
    monkeypatch.setattr(verify, "glance", lambda numbers: f"x is {numbers['x']}")
    monkeypatch.setattr(report, "build", lambda numbers: files.write(output / report.PDF, str(numbers)))
    files.write(output / "README.md", "<!-- the ledger at a glance: --> old <!-- end of the ledger -->")
    manifest.conclude([NAME], accept=False)
    assert "other: figures/old.png (missing)" in capsys.readouterr().out
    manifest.conclude([NAME], accept=True)
    assert "figures/old.png" not in json.loads((output / "manifest.json").read_text())
    assert "paper/report.pdf" in json.loads((output / "manifest.json").read_text())
    assert "\n\nx is 1.5\n\n<!-- end" in (output / "README.md").read_text()


def test_a_report_that_does_not_fit_the_numbers_is_named(
    output: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record(output, {"x": "1.5"})
    monkeypatch.setattr(notebooks, "names", lambda: [NAME])
    monkeypatch.setattr(reproduce, "run_all", lambda tasks: [])
    assert reproduce.main([NAME]) == 1
    assert capsys.readouterr().err.startswith("reproduce: paper/report.typ cannot be typeset: ")


@pytest.mark.parametrize("name", ["noise.py", "requirements.lock", "claims.toml", "parameters.toml"])
def test_a_changed_source_makes_every_notebook_stale(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    before = reproduce.inputs(NAME)
    assert reproduce.inputs(NAME) == before
    original = Path.read_bytes
    monkeypatch.setattr(
        Path, "read_bytes", lambda self: original(self) + (b"#" if self.name == name else b"")
    )
    assert reproduce.inputs(NAME) != before


def test_a_changed_cell_makes_its_notebook_stale_but_new_outputs_do_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = reproduce.inputs(NAME)
    content = notebooks.read(ROOT / "notebooks" / f"{NAME}.ipynb")
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path)
    code = next(cell for cell in content["cells"] if cell["cell_type"] == "code")
    code["outputs"] = []
    (tmp_path / f"{NAME}.ipynb").write_text(json.dumps(content))
    assert reproduce.inputs(NAME) == before
    code["source"] = "epsilon = 0.6"
    (tmp_path / f"{NAME}.ipynb").write_text(json.dumps(content))
    assert reproduce.inputs(NAME) != before


@pytest.mark.parametrize("state", ["{", "[1]", "3", '{"04-design-guide": 3}', '{"04-design-guide": {}}'])
def test_a_damaged_state_file_is_no_obstacle(output: Path, state: str) -> None:
    record(output, {})
    files.write(output / reproduce.STATE, state)
    assert not reproduce.is_current(NAME, reproduce.load_state())


def test_a_missing_or_damaged_output_makes_a_notebook_stale(output: Path) -> None:
    record(output, {})
    reproduce.remember(reproduce.Outcome(NAME, 1.0, ""), {})
    assert reproduce.is_current(NAME, reproduce.load_state())
    (output / "figures" / "figure-3.csv").unlink()
    assert not reproduce.is_current(NAME, reproduce.load_state())
    record(output, {})
    for damaged in ("{", "{}", "[]"):
        files.write(output / runs.PAPER_RUNS / f"{NAME}.json", damaged)
        assert not reproduce.is_current(NAME, reproduce.load_state())


def test_a_failed_run_is_not_remembered(output: Path) -> None:
    reproduce.remember(reproduce.Outcome(NAME, 1.0, "cell 1: ValueError"), {})
    reproduce.remember(reproduce.Outcome(NAME, 1.0, ""), {"epsilon": 2})
    assert not (output / reproduce.STATE).exists()


def test_two_runs_at_once_are_refused(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with reproduce.only_run():
        assert reproduce.main(["04"]) == 2
    assert capsys.readouterr().err == "reproduce: another run is under way; wait for it to end\n"


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
    assert reproduce.execute(NAME, {}).problem == ""
    assert (output / "notebooks" / f"{NAME}.ipynb").is_file()
    answers[:] = [content, taken, taken]
    assert reproduce.execute(NAME, {}).problem == f"RuntimeError: {taken}"
    answers[:] = [content, RuntimeError("something else")]
    assert reproduce.execute(NAME, {}).problem == "RuntimeError: something else"


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
    files.write(folder / f"{NAME}.ipynb", json.dumps(content))
    monkeypatch.setattr(notebooks, "FOLDER", folder)
    assert reproduce.main(["--force"]) == 1
    assert f"{NAME} failed at cell 2: DeadKernelError" in capsys.readouterr().err


@pytest.mark.usefixtures("here")
def test_a_folder_that_cannot_be_written_is_a_failure_of_the_notebook(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files.write(output / "build" / "run", "a file where a folder should be")
    assert reproduce.main(["04"]) == 1
    assert f"{NAME} failed at FileExistsError" in capsys.readouterr().err


def test_normalised_keeps_no_trace_of_the_run() -> None:
    stream = {"output_type": "stream", "name": "stdout", "text": "a\nb"}
    cell = {
        "cell_type": "code",
        "source": "x",
        "execution_count": 1,
        "id": "random",
        "metadata": {"papermill": 1},
    }
    kept = json.loads(
        notebooks.normalised({"cells": [{**cell, "outputs": [stream, {**stream, "text": ["c"]}]}]})
    )
    assert kept["cells"] == [
        {
            "cell_type": "code",
            "execution_count": 1,
            "id": "cell-00",
            "metadata": {},
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["a\n", "bc"]}],
            "source": ["x"],
        }
    ]
    assert kept["metadata"]["language_info"] == {"name": "python"}


def test_normalised_leaves_the_text_of_a_widget_in_its_place() -> None:
    data = {notebooks.WIDGET: {"model_id": "random"}, "text/plain": "Explorer()"}
    output = {"output_type": "display_data", "metadata": {}, "data": data}
    cell = {"cell_type": "code", "source": "x", "execution_count": 1, "metadata": {}, "outputs": [output]}
    kept = json.loads(notebooks.normalised({"cells": [cell]}))
    assert kept["cells"][0]["outputs"] == [{**output, "data": {"text/plain": ["Explorer()"]}}]


def test_results_want_every_parameter(output: Path) -> None:
    with pytest.raises(ValueError, match="^parameters must be all of epsilon, delta, slack, got 'epsilon'"):
        Results(NAME, epsilon=0.5)
    with pytest.raises(ValueError, match="^notebook must be one of 00-start-here"):
        Results("99", epsilon=0.5)
    assert Results(NAME, epsilon=0.5, delta=1e-4, slack=0.1).is_paper
    assert not Results(NAME, epsilon=0.5, delta=1e-4, slack=0.2).is_paper
    folders = {runs.other_run(NAME, {"epsilon": value}) for value in (1, 2, 3)}
    assert len(folders) == 3


def test_numbers_are_recorded_to_fixed_digits(output: Path) -> None:
    results = Results(NAME, epsilon=0.5, delta=1e-4, slack=0.1)
    results.number("third", Fraction(1, 3), 5)
    results.number("float", 2 / 3, 4)
    results.number("word", "yes")
    results.number("count", 7)
    kept = json.loads((output / runs.PAPER_RUNS / f"{NAME}.json").read_text())["numbers"]
    assert kept == {"third": "0.33333", "float": "0.6667", "word": "yes", "count": "7"}


def test_too_many_curves_are_refused() -> None:
    with pytest.raises(ValueError, match="a figure must have at most 4 curves, got 5"):
        figures.looks([1, 2, 3, 4, 5])


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
