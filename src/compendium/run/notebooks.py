"""Notebooks as files: which there are, and what of an executed one is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compendium.run.places import ROOT

FOLDER = ROOT / "notebooks"
HIDDEN = "hide-input"
"""The tag of cells whose code is folded away: it prepares, lays out or checks what a reader sees."""
WIDGET = "application/vnd.jupyter.widget-view+json"


def paths() -> list[Path]:
    """All notebooks in reading order, without the solutions of their exercises."""
    return sorted(FOLDER.glob("[0-9][0-9]-*.ipynb"))


PLAY = "To play with"
"""The part without an order: the explorer and the game, as notebooks and as pages."""
PARTS = {
    "Part I: the paper, section by section": range(11),
    "Part II: past the paper": (*range(11, 17), 19, 20),
    PLAY: (17, 18),
}
"""The parts of the course and the numbers of their notebooks, as the map and the pages show them."""


def part(name: str) -> str:
    """The part that a notebook belongs to."""
    return next(part for part, numbers in PARTS.items() if int(name[:2]) in numbers)


def solutions() -> list[Path]:
    """The solutions, named as the notebooks whose exercises they solve."""
    return sorted((FOLDER / "solutions").glob("[0-9][0-9]-*.ipynb"))


def names() -> list[str]:
    """What can be run: notebooks, such as 04-design-guide, and solutions/04-design-guide."""
    return [path.relative_to(FOLDER).with_suffix("").as_posix() for path in (*paths(), *solutions())]


def is_solution(name: str) -> bool:
    """Whether a name is that of a solution, which has no parameters and records nothing."""
    return name.startswith("solutions/")


def read(path: Path) -> dict[str, Any]:
    """A notebook as the JSON object that it is."""
    return dict(json.loads(path.read_text(encoding="utf-8")))


def source(cell: Mapping[str, Any]) -> str:
    """The text of a cell, which files hold as one string or as a list of lines."""
    return "".join(cell["source"])


def normalised(notebook: Mapping[str, Any]) -> str:
    """An executed notebook without what changes from run to run or from machine to machine."""
    kept = {
        "cells": [_normalised_cell(cell, number) for number, cell in enumerate(notebook["cells"])],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(kept, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _normalised_cell(cell: Mapping[str, Any], number: int) -> dict[str, Any]:
    tags = cell["metadata"].get("tags", [])
    metadata: dict[str, Any] = {"tags": tags} if tags else {}
    if HIDDEN in tags:  # what the site reads from a tag, JupyterLab has in a field of its own
        metadata |= {"jupyter": {"source_hidden": True}}
    kept = {
        "cell_type": cell["cell_type"],
        "id": f"cell-{number:02d}",
        "metadata": metadata,
        "source": _lines(source(cell)),
    }
    if cell["cell_type"] == "code":
        kept |= {"execution_count": cell["execution_count"], "outputs": _normalised_outputs(cell["outputs"])}
    return kept


def _normalised_outputs(outputs: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Outputs with texts as lines; consecutive pieces of a stream are joined, as timing cuts them.

    Widgets live only as long as their kernel and have random names: their text stays in their place.
    """
    joined: list[dict[str, Any]] = []
    for output in map(dict, outputs):
        if output["output_type"] == "stream":
            if joined and joined[-1].get("name") == output["name"]:
                output["text"] = "".join(joined.pop()["text"]) + "".join(output["text"])
            output["text"] = _lines("".join(output["text"]))
        elif "data" in output:
            output["data"] = {
                kind: _lines("".join(content)) if kind.startswith("text/") else content
                for kind, content in output["data"].items()
                if kind != WIDGET
            }
        joined.append(output)
    return joined


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
