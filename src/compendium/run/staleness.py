"""What a notebook depends on, and whether any of it has changed since its last run.

A notebook depends on its own cells, on every module of the project that it imports, directly or not, with the
TOML file of the same name beside it if there is one, on the claims that it is about and the modules that
check them, on its own exercises, on the lock and on the Python version. All of that is judged by content.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from compendium.run import manifest, notebooks
from compendium.run.parameters import EVERY_CLAIM, PAPER_RUNS
from compendium.run.places import ROOT, output_root, write

STATE = "build/state.json"
SOURCES = ROOT / "src"
CHECKS, PROPERTIES = "compendium.ledger.checks", "compendium.course.properties"


def inputs(name: str) -> str:
    """A digest of everything that the results of a notebook depend on."""
    digest = hashlib.sha256(f"{sys.version_info[:2]}".encode())
    digest.update(_cells(name))
    claims = _claims(manifest.record(name).get("claims", []))
    exercises = _entries(ROOT / "paper" / "exercises.toml", Path(name).name[:2])
    digest.update(json.dumps([claims, exercises], sort_keys=True, default=str).encode())
    made_by = [SOURCES / "compendium/run" / file for file in ("execution.py", "notebooks.py")]
    for path in sorted({*dependencies(name, claims), *made_by, ROOT / "requirements.lock"}):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def everything(name: str) -> str:
    """A digest of all that a notebook could depend on: if it changes during a run, no one knows what ran."""
    digest = hashlib.sha256(_cells(name))
    for path in sorted(
        (
            *SOURCES.rglob("*.py"),
            *SOURCES.rglob("*.toml"),
            *(ROOT / "paper").glob("*.toml"),
            *(ROOT / "proofs").glob("*.toml"),
            ROOT / "requirements.lock",
        )
    ):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _cells(name: str) -> bytes:
    """What a notebook says and does, without its outputs."""
    cells = notebooks.read(notebooks.FOLDER / f"{name}.ipynb")["cells"]
    parts = ((cell["cell_type"], cell["metadata"].get("tags", []), notebooks.source(cell)) for cell in cells)
    return json.dumps(list(parts)).encode()


def dependencies(name: str, claims: Mapping[str, Any]) -> list[Path]:
    """The source files that a notebook with these claims uses, in the order of their names."""
    cells = notebooks.read(notebooks.FOLDER / f"{name}.ipynb")["cells"]
    code = "\n".join(notebooks.source(cell) for cell in cells if cell["cell_type"] == "code")
    wanted = {*imported(code), f"{PROPERTIES}.notebook_{Path(name).name[:2]}"}
    wanted |= {
        f"{CHECKS}.{claim['check'].partition('.')[0]}" for claim in claims.values() if "check" in claim
    }
    return sorted(closure(wanted))


def closure(modules: Iterable[str]) -> set[Path]:
    """The files of modules of the project, of the packages around them and of all that these import."""
    files: set[Path] = set()
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        parts = waiting.pop().split(".")
        for name in {".".join(parts[:length]) for length in range(1, len(parts) + 1)} - seen:
            seen.add(name)
            path = _file(name)
            if path is not None and path not in files:
                files |= {file for file in (path, path.with_suffix(".toml")) if file.is_file()}
                waiting += imported(path.read_text(encoding="utf-8"))
    return files


def _file(module: str) -> Path | None:
    path = f"{SOURCES}/{module.replace('.', '/')}"  # a text, as most names are of no module: asked very often
    return next((Path(file) for file in (f"{path}.py", f"{path}/__init__.py") if os.path.isfile(file)), None)


@cache
def imported(code: str) -> frozenset[str]:
    """The names that some code imports, wherever in it; some may be of functions, not of modules."""
    return frozenset(_imported(ast.parse(code)))


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:  # none is relative: a test
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _claims(names: Iterable[str]) -> dict[str, Any]:
    """What the files of the ledger say of the named claims, or of all."""
    wanted = set(names)
    if not wanted:
        return {}
    claims: dict[str, Any] = {}
    for file in ("claims", "corrections"):
        for claim in _toml(ROOT / "paper" / f"{file}.toml")["claim"]:
            if claim["id"] in wanted or EVERY_CLAIM in wanted:
                claims[claim["id"]] = claim
    if EVERY_CLAIM in wanted:
        claims |= {file: _toml(ROOT / "paper" / f"{file}.toml") for file in ("headlines", "source")}
        claims["theorems"] = _toml(ROOT / "proofs" / "theorems.toml")
    return claims


def _entries(file: Path, number: str) -> dict[str, Any]:
    """The exercises of one notebook."""
    return {name: entry for name, entry in _toml(file).items() if name.startswith(number)}


def _toml(file: Path) -> Mapping[str, Any]:
    return _parsed(file.read_text(encoding="utf-8"))


@lru_cache(maxsize=20)
def _parsed(text: str) -> Mapping[str, Any]:
    """TOML is slow to parse, and all notebooks ask for the same files."""
    return tomllib.loads(text)


# --- What is remembered -----------------------------------------------------------------------


def outputs(name: str) -> list[Path]:
    """The files that a run of a notebook with the paper's parameters leaves."""
    path = output_root() / PAPER_RUNS / f"{name}.json"
    left = [output_root() / file for file in manifest.files(name, manifest.record(name))]
    return left if notebooks.is_solution(name) else [path, *left]


def load_state() -> dict[str, Any]:
    """What is remembered of earlier runs; nothing if the file is missing or damaged."""
    try:
        return dict(json.loads((output_root() / STATE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def is_current(name: str, state: Mapping[str, Any]) -> bool:
    """Whether nothing that a notebook depends on, nor anything that it left, has changed."""
    try:
        known = state[name]
        digests = {path.name: manifest.digest(path) for path in outputs(name)}
        return bool(known["inputs"] == inputs(name) and known["outputs"] == digests)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # something is missing or damaged
        return False


def remember(name: str, seconds: float, before: str | None = None) -> None:
    """Note what a good run with the paper's parameters was made from, what it made and how long it took.

    Nothing is noted if `everything` is no longer what it was ``before`` the run.
    """
    if before is not None and everything(name) != before:
        return
    digests = {path.name: manifest.digest(path) for path in outputs(name)}
    known = {"inputs": inputs(name), "outputs": digests, "seconds": round(seconds, 1)}
    state = load_state() | {name: known}
    write(output_root() / STATE, json.dumps(state, indent=1, sort_keys=True) + "\n")
