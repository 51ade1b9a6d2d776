"""The parameters of a run, and where its results go.

This module imports nothing heavy, so that starting a run costs no more than the run.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from typing import Any

from compendium.files import ROOT
from tablebuilder_dp import parameters as checks

PARAMETERS = ROOT / "paper" / "parameters.toml"
PAPER_RUNS = "build/results"
"""Where runs with the paper's parameters leave their records, below the output root."""


def paper_parameters() -> dict[str, dict[str, Any]]:
    """The paper's parameters of every notebook, by the notebook's name."""
    return tomllib.loads(PARAMETERS.read_text(encoding="utf-8"))


def check_parameters(notebook: str, given: Mapping[str, Any]) -> None:
    """Refuse names that the notebook does not have and values of another type."""
    known = paper_parameters()
    if notebook not in known:
        raise checks.wrong_value("notebook", "one of " + ", ".join(known), notebook)
    for name, value in given.items():
        if name not in known[notebook]:
            allowed = ", ".join(known[notebook]) or "none"
            raise ValueError(f"{name} must be a parameter of {notebook} ({allowed})")
        _check_type(name, value, known[notebook][name])


def _check_type(name: str, value: Any, example: Any) -> None:
    """A parameter is of its example's type; an integer may stand for a float, a list may be longer."""
    wanted = {bool: "true or false", int: "an integer", float: "a number", str: "a text", list: "a list"}
    kind = type(example)
    fits = type(value) in (int, float) if kind is float else type(value) is kind
    if not fits or (kind is list and not value):
        raise checks.wrong_type(name, wanted[kind], value)
    if kind is list:
        for item in value:
            _check_type(name, item, example[0])


def other_run(notebook: str, parameters: Mapping[str, Any]) -> str:
    """The folder of a run with other parameters than the paper's, below the output root."""
    settings = json.dumps(dict(parameters), sort_keys=True)
    return f"build/other/{notebook}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}"
