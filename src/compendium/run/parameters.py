"""The parameters of a run: what a notebook declares in its cell tagged "parameters", and what is given.

Starting a run must cost no more than the run, so this module imports nothing heavy.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

from compendium.run import notebooks
from tablebuilder_dp.support import parameters as checks

PAPER_RUNS = "build/results"
"""Where runs with the paper's parameters leave their records, below the output root."""
EVERY_CLAIM = "*"
"""In a record: the notebook depends on the whole ledger."""


def declared(path: Path) -> dict[str, Any]:
    """The parameters of a notebook with their values, from its tagged cell; a solution has none."""
    return deepcopy(_declared(path.read_text(encoding="utf-8"), path.name))


@lru_cache(maxsize=100)
def _declared(text: str, name: str) -> dict[str, Any]:
    """The same from a notebook's text, so that a file is parsed once however often it is asked for."""
    values: dict[str, Any] = {}
    for cell in json.loads(text)["cells"]:
        if "parameters" in cell["metadata"].get("tags", []):
            try:
                lines = ast.parse(notebooks.source(cell)).body
            except SyntaxError as error:
                raise ValueError(f"the cell tagged parameters of {name} cannot be read: {error}") from None
            for line in lines:
                parameter, value = _assigned(line)
                if parameter is None or not _is_plain(value) or parameter in values:
                    raise ValueError(
                        f"the cell tagged parameters of {name} must give plain values (a number, a text, "
                        f"true or false, a list of these) to names, once each, got {ast.unparse(line)!r}"
                    )
                values[parameter] = value
    return values


def _assigned(line: ast.stmt) -> tuple[str | None, Any]:
    """The name and the value of an assignment; no name where it is none, or not of a literal."""
    match line:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            pass
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            pass
        case _:
            return None, None
    try:
        return name, ast.literal_eval(value)
    except (ValueError, TypeError):
        return None, None


def _is_plain(value: Any) -> bool:
    if type(value) is list:
        return bool(value) and all(_is_plain(item) and type(item) is not list for item in value)
    return type(value) in (bool, int, float, str)


def paper_parameters() -> dict[str, dict[str, Any]]:
    """The paper's parameters of every notebook, by the notebook's name."""
    return {path.stem: declared(path) for path in notebooks.paths()}


def of(notebook: str) -> dict[str, Any]:
    """The paper's parameters of one notebook."""
    paths = {path.stem: path for path in notebooks.paths()}
    if notebook not in paths:
        raise checks.wrong_value("notebook", "one of " + ", ".join(paths), notebook)
    return declared(paths[notebook])


def check_parameters(notebook: str, given: Mapping[str, Any]) -> None:
    """Refuse names that the notebook does not have and values of another type."""
    known = of(notebook)
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"{name} must be a parameter of {notebook} ({', '.join(known) or 'none'})")
        _check_type(name, value, known[name])


def _check_type(name: str, value: Any, example: Any) -> None:
    """A parameter is of its example's type; an integer may stand for a float, a list may be longer."""
    wanted = {bool: "true or false", int: "an integer", float: "a number", str: "a text", list: "a list"}
    kind = type(example)
    fits = type(value) in (int, float) if kind is float else type(value) is kind
    if not fits:
        raise checks.wrong_type(name, wanted[kind], value)
    if kind is list and not value:
        raise checks.wrong_value(name, "a list with at least one entry", value)
    if kind is list:
        for item in value:
            _check_type(name, item, example[0])


def between(low: float, high: float, *, most: int | None = None, **given: Any) -> None:
    """Refuse parameters outside of [low, high]; of a list every entry, more than ``most``, and one twice.

    They are integers if both ends are.

    >>> between(1, 64, key_bits=[8, 16]); between(0.01, 100, epsilon_max=2.5)
    >>> between(1, 64, key_bits=[8, 8], most=4)
    Traceback (most recent call last):
    ...
    ValueError: key_bits must be a list of at most 4 different integers from 1 to 64, got [8, 8]
    """
    for name, value in given.items():
        items = value if isinstance(value, list) else [value]
        kind = "integer" if isinstance(low, int) and isinstance(high, int) else "number"
        several = len(set(items)) < len(items) or (most is not None and len(items) > most)
        if several or not all(low <= item <= high for item in items):
            first, last = (end if isinstance(end, int) else f"{end:.6g}" for end in (low, high))
            ends = f"from {first} to {last}"
            one = f"{'an' if kind == 'integer' else 'a'} {kind} {ends}"
            count = f"at most {most} " if most else ""
            allowed = f"a list of {count}different {kind}s {ends}" if isinstance(value, list) else one
            raise checks.wrong_value(name, allowed, value)


def other_run(notebook: str, parameters: Mapping[str, Any]) -> str:
    """The folder of a run with other parameters than the paper's, below the output root."""
    settings = json.dumps(dict(parameters), sort_keys=True)
    return f"build/other/{notebook}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}"
