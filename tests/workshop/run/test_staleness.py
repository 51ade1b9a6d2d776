"""A notebook is run again if and only if something that it depends on has changed."""

import json
import shutil
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from pathlib import Path

import pytest

from compendium.run import execution, notebooks, parameters, places, staleness

ROOT = Path(__file__).resolve().parents[3]
NAMES = notebooks.names()
Touched = Callable[..., set[str]]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of all that notebooks depend on, and records of what they are about."""
    for folder in ("src", "paper", "proofs", "notebooks"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "*.pdf")
        )
    shutil.copy(ROOT / "requirements.lock", tmp_path)
    monkeypatch.setattr(staleness, "ROOT", tmp_path)
    monkeypatch.setattr(staleness, "SOURCES", tmp_path / "src")
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path / "notebooks")
    monkeypatch.setenv("COMPENDIUM_OUTPUT", str(tmp_path))
    about = {"00-start-here": ["*"], "04-design-guide": ["ex1-support", "ex1-p12"], "10-verdict": ["*"]}
    for name in parameters.paper_parameters():
        record = {"figures": [], "numbers": {}, "claims": about.get(name, [])}
        places.write(tmp_path / parameters.PAPER_RUNS / f"{name}.json", json.dumps(record))
    return tmp_path


def digests() -> dict[str, str]:
    return {name: staleness.inputs(name) for name in NAMES}


@pytest.fixture
def touched(tree: Path) -> Touched:
    """The notebooks that are stale when a text in a file becomes another, or when a line is added."""
    before = cache(
        digests
    )  # once for all changes of a test: each is taken back, which shall make no difference

    def change(file: str, old: str = "", new: str = "") -> set[str]:
        path, known = tree / file, before()
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1) if old else text + "\n# changed\n", encoding="utf-8")
        found = digests()
        path.write_text(text, encoding="utf-8")
        return {name for name in NAMES if found[name] != known[name]}

    return change


def numbers(stale: set[str]) -> set[str]:
    return {name[:2] for name in stale if "/" not in name}


@pytest.mark.unmeasured
def test_what_no_notebook_uses_reruns_nothing(touched: Touched) -> None:
    for file in (
        "src/compendium/site/contrast.py",
        "src/compendium/site/build.py",
        "src/compendium/render/report.py",
        "src/compendium/reproduce.py",
        "src/tablebuilder_dp/cli/main.py",
    ):
        assert touched(file) == set(), file


def test_what_every_notebook_stands_on_reruns_all(touched: Touched) -> None:
    assert touched("requirements.lock") == set(NAMES)
    assert touched("src/tablebuilder_dp/__init__.py") == set(NAMES)


@pytest.mark.unmeasured
def test_files_written_anew_with_what_they_had_rerun_nothing(tree: Path) -> None:
    before = digests()
    for path in [path for path in tree.rglob("*") if path.is_file()]:
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
    assert digests() == before


@pytest.mark.unmeasured
def test_a_module_reruns_those_that_import_it_directly_or_not(touched: Touched) -> None:
    assert numbers(touched("src/compendium/figures/cell_keys.py")) == {"06"}
    assert numbers(touched("src/tablebuilder_dp/beyond/gap.py")) == {"11"}
    assert "01" in numbers(touched("src/tablebuilder_dp/noise.py"))
    assert "02" in numbers(touched("src/tablebuilder_dp/noise.py"))  # by way of privacy
    stale = touched("src/tablebuilder_dp/beyond/composition.py")
    by_many_cells = {"04", "10", "11"}
    assert numbers(stale) == by_many_cells | {"14", "16", "18", "19", "20"}  # 16 by way of microdata
    assert "solutions/14-many-queries" in stale
    for tool, number in {"explorer": "17", "game": "18"}.items():
        assert numbers(touched(f"src/compendium/studies/{tool}.toml")) == {number}


@pytest.mark.unmeasured
def test_a_claim_reruns_the_notebooks_that_are_about_it(touched: Touched) -> None:
    stale = touched("paper/claims.toml", 'printed = "0.016632589297126"', 'printed = "0.016632589297127"')
    assert stale == {"00-start-here", "04-design-guide", "10-verdict"}
    stale = touched("paper/claims.toml", 'id = "key-range"', 'id = "key-ranges"')
    assert stale == {"00-start-here", "10-verdict"}
    assert touched("paper/corrections.toml", 'id = "past-hole"', 'id = "past-holes"') == {
        "00-start-here",
        "10-verdict",
    }
    assert touched("proofs/theorems.toml", '"ex1-support", ', "") == {"00-start-here", "10-verdict"}


@pytest.mark.unmeasured
def test_a_check_reruns_the_notebooks_whose_claims_it_decides(touched: Touched) -> None:
    assert numbers(touched("src/compendium/ledger/checks/examples.py")) == {"00", "04", "10"}
    assert numbers(touched("src/compendium/ledger/checks/summary.py")) == {"00", "10"}


@pytest.mark.unmeasured
def test_an_exercise_reruns_its_own_notebook_and_solution(touched: Touched) -> None:
    own = {"12-better-tables", "solutions/12-better-tables"}
    hint = "That is the number of ill dentists, women and men together."
    assert touched("paper/exercises.toml", hint, "No.") == {"00-start-here", "solutions/00-start-here"}
    assert touched("src/compendium/course/properties/notebook_12.py") == own


def test_a_changed_cell_makes_its_notebook_stale_but_new_outputs_do_not(tree: Path) -> None:
    name = "04-design-guide"
    before, path = staleness.inputs(name), tree / f"notebooks/{name}.ipynb"
    content = notebooks.read(path)
    code = next(cell for cell in content["cells"] if cell["cell_type"] == "code")
    code["outputs"] = []
    path.write_text(json.dumps(content))
    assert staleness.inputs(name) == before
    code["source"] = "epsilon = 0.6"
    path.write_text(json.dumps(content))
    assert staleness.inputs(name) != before


def test_a_file_that_changes_during_a_run_is_not_taken_for_what_ran(tree: Path) -> None:
    name = "13-other-noise"
    places.write(tree / f"notebooks/{name}.ipynb", (ROOT / f"notebooks/{name}.ipynb").read_bytes())
    before = staleness.everything(name)
    staleness.remember(name, 1.0, before)
    assert staleness.is_current(name, staleness.load_state())
    (tree / staleness.STATE).unlink()
    with (tree / "src/tablebuilder_dp/noise.py").open("a") as file:
        file.write("raise RuntimeError\n")
    staleness.remember(name, 1.0, before)
    assert not staleness.is_current(name, staleness.load_state())


@pytest.mark.unmeasured
def test_what_makes_the_kept_outputs_reruns_all(touched: Touched) -> None:
    for file in ("execution", "notebooks"):
        assert touched(f"src/compendium/run/{file}.py") == set(NAMES), file


def test_a_notebook_that_reads_claims_says_which() -> None:
    for path in notebooks.paths():
        cells = notebooks.read(path)["cells"]
        code = "\n".join(notebooks.source(cell) for cell in cells if cell["cell_type"] == "code")
        if "claims.load(" in code or "verdicts.settle" in code:
            noted = ("results.uses(", "results.ledger(", "compare(results")
            assert any(text in code for text in noted), path.name


def test_a_failed_run_and_one_with_other_parameters_are_not_remembered(
    output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(name: str, given: dict[str, object]) -> execution.Outcome:
        return execution.Outcome(name, 1.0, "" if given else "cell 1: ValueError")

    class Pool:
        def __init__(self, *_: object, **__: object) -> None: ...
        def __enter__(self) -> "Pool":
            return self

        def __exit__(self, *_: object) -> None: ...
        def submit(self, _: object, name: str, given: dict[str, object]) -> Future[execution.Outcome]:
            future: Future[execution.Outcome] = Future()
            future.set_result(run(name, given))
            return future

    monkeypatch.setattr(execution, "ProcessPoolExecutor", Pool)
    execution.run_all({"04-design-guide": {}})
    execution.run_all({"04-design-guide": {"epsilon": 2}})
    assert not (output / staleness.STATE).exists()
