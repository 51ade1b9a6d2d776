"""The parameters of a notebook stand once, in its tagged cell."""

import json
from pathlib import Path

import pytest

from compendium.run import notebooks, parameters


def notebook(folder: Path, source: str) -> Path:
    path = folder / "04-x.ipynb"
    cell = {"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": source}
    path.write_text(json.dumps({"cells": [cell]}))
    return path


def test_every_notebook_declares_its_parameters() -> None:
    found = parameters.paper_parameters()
    assert list(found) == [path.stem for path in notebooks.paths()]
    assert found["04-design-guide"] == {"epsilon": 0.5, "delta": 1e-4, "slack": 0.1}
    assert all(found.values())


def test_values_may_be_annotated_and_explained(tmp_path: Path) -> None:
    path = notebook(tmp_path, "epsilon: float = 0.5  # wanted privacy loss\nbits = [8, 16]\nname = 'a'\n")
    assert parameters.declared(path) == {"epsilon": 0.5, "bits": [8, 16], "name": "a"}


@pytest.mark.parametrize(
    "line",
    [
        "import math",
        "x = 1 / 2",
        "x, y = 1, 2",
        "x: int",
        "x = (1, 2)",
        "x = []",
        "x = [[1]]",
        "x = 1\nx = 2",
    ],
)
def test_anything_but_plain_values_is_refused(tmp_path: Path, line: str) -> None:
    wanted = (
        r"^the cell tagged parameters of 04-x\.ipynb must give plain values .* to names, once each, got '.*'$"
    )
    with pytest.raises(ValueError, match=wanted):
        parameters.declared(notebook(tmp_path, line))


def test_a_cell_that_is_no_python_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^the cell tagged parameters of 04-x\.ipynb cannot be read: .*$"):
        parameters.declared(notebook(tmp_path, "epsilon = ("))


def test_one_bad_notebook_does_not_stop_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    notebook(tmp_path, "epsilon = (")
    other = notebook(tmp_path, "x = 1").rename(tmp_path / "05-y.ipynb")
    notebook(tmp_path, "epsilon = (")
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path)
    assert parameters.of(other.stem) == {"x": 1}
    parameters.check_parameters("05-y", {"x": 2})


def test_a_solution_has_none() -> None:
    assert parameters.declared(notebooks.solutions()[0]) == {}
