"""``make reproduce``: run the notebooks, gather their numbers, say what came out.

A notebook is run again only if something that it depends on has changed: its cells, its parameters,
the source of the two packages, what the paper prints, the lock or the Python version. All of that is
judged by content, and every file is written whole, so a killed run loses nothing but time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from compendium import manifest, notebooks
from compendium.files import ROOT, output_root, write
from compendium.runs import PAPER_RUNS, check_parameters, other_run, paper_parameters

STATE = "build/state.json"


class Outcome(NamedTuple):
    """How one notebook ended; ``problem`` is empty if it ended well."""

    name: str
    seconds: float
    problem: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 0 if everything ran and agrees with what is committed."""
    parser = argparse.ArgumentParser(prog="python -m compendium", description=__doc__)
    parser.add_argument("notebooks", nargs="*", help="numbers or names, such as 04 (default: all)")
    parser.add_argument("--force", action="store_true", help="run also what has not changed")
    parser.add_argument("--accept", action="store_true", help="commit to the results as the new reference")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="other parameters")
    options = parser.parse_args(arguments)
    try:
        chosen = select(options.notebooks)
        parameters = read_parameters(options.set)
        for name in chosen if parameters else ():
            check_parameters(name, parameters)
    except (ValueError, TypeError) as error:
        print(f"reproduce: {error}", file=sys.stderr)
        return 2
    if parameters:
        return _run_with(parameters, chosen)
    return _reproduce(chosen, force=options.force, accept=options.accept)


def select(wanted: Iterable[str]) -> list[str]:
    """The names of the notebooks that start with one of the given texts, or all."""
    names = [path.stem for path in notebooks.paths()]
    chosen = []
    for text in wanted:
        found = [name for name in names if name.startswith(text.removesuffix(".ipynb"))]
        if not found:
            raise ValueError(f"notebook must be one of {', '.join(names)}, got {text!r}")
        chosen += found
    return sorted(set(chosen)) or names


def read_parameters(settings: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE texts as a dictionary; values are written as in TOML, texts may lack quotes."""
    parameters = {}
    for setting in settings:
        name, separator, value = setting.partition("=")
        if not separator or not name.isidentifier():
            raise ValueError(f"parameter must be written NAME=VALUE, got {setting!r}")
        try:
            parameters[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            parameters[name] = value
    return parameters


def _run_with(parameters: dict[str, Any], chosen: list[str]) -> int:
    """Run notebooks with other parameters; results go below build/other."""
    outcomes = run_all(dict.fromkeys(chosen, parameters))
    for outcome in outcomes:
        if not outcome.problem:
            folder = other_run(outcome.name, paper_parameters()[outcome.name] | parameters)
            print(f"{outcome.name}: results in {folder}")
    return _report_problems(outcomes)


def _reproduce(chosen: list[str], *, force: bool, accept: bool) -> int:
    remove_leftovers()
    start = time.perf_counter()
    state = load_state()
    stale = [name for name in chosen if force or not _is_current(name, state)]
    outcomes = run_all({name: {} for name in stale})
    elapsed = time.perf_counter() - start
    print(f"\nNotebooks: {len(stale)} run, {len(chosen) - len(stale)} unchanged ({elapsed:.0f} s)")
    if any(outcome.problem for outcome in outcomes):
        return _report_problems(outcomes)
    return manifest.conclude(chosen, accept=accept)


def run_all(tasks: Mapping[str, dict[str, Any]]) -> list[Outcome]:
    """Run notebooks in spawned processes: a bar on a terminal, a line each elsewhere."""
    outcomes: list[Outcome] = []
    if not tasks:
        return outcomes
    workers = min(len(tasks), os.cpu_count() or 1, 8)
    context = multiprocessing.get_context("spawn")
    terminal = sys.stderr.isatty()
    with (
        ProcessPoolExecutor(workers, mp_context=context) as pool,
        tqdm(total=len(tasks), unit="notebook", disable=not terminal) as bar,
    ):
        futures: list[Future[Outcome]] = [pool.submit(execute, name, given) for name, given in tasks.items()]
        try:
            for future in as_completed(futures):
                outcome = future.result()
                outcomes.append(outcome)
                remember(outcome, tasks[outcome.name])
                bar.set_postfix_str(outcome.name, refresh=False)
                bar.update()
                if not terminal:
                    word = "failed" if outcome.problem else "done"
                    print(f"{word:6} {outcome.name} ({outcome.seconds:.1f} s)", flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return outcomes


def execute(name: str, parameters: dict[str, Any]) -> Outcome:
    """Run one notebook with papermill; with the paper's parameters its outputs are kept."""
    import papermill  # here, in the spawned process, as its import takes as long as a kernel's start

    start = time.perf_counter()
    full = paper_parameters()[name] | parameters
    executed = output_root() / (other_run(name, full) if parameters else "build/run") / f"{name}.ipynb"
    executed.parent.mkdir(parents=True, exist_ok=True)
    problem = ""
    try:
        notebook = papermill.execute_notebook(
            notebooks.FOLDER / f"{name}.ipynb",
            executed,
            parameters=parameters,
            kernel_name="python3",
            progress_bar=False,
            extra_arguments=["--IPKernelApp.log_level=50"],
        )
        if not parameters:
            write(output_root() / "notebooks" / f"{name}.ipynb", notebooks.normalised(notebook))
    except papermill.PapermillExecutionError as error:
        problem = f"cell {error.exec_count}: {error.ename}: {error.evalue}"
    except Exception as error:  # a kernel that died, a disk that is full: the others shall go on
        problem = f"{type(error).__name__}: {error}"
    return Outcome(name, time.perf_counter() - start, problem)


def _report_problems(outcomes: list[Outcome]) -> int:
    failed = [outcome for outcome in outcomes if outcome.problem]
    for outcome in failed:
        print(f"{outcome.name} failed at {outcome.problem}", file=sys.stderr)
    return 1 if failed else 0


# --- What has changed -------------------------------------------------------------------------


def inputs(name: str) -> str:
    """A digest of everything that the results of a notebook depend on."""
    digest = hashlib.sha256(f"{sys.version_info[:2]}".encode())
    for cell in notebooks.read(notebooks.FOLDER / f"{name}.ipynb")["cells"]:
        tags = cell["metadata"].get("tags", [])
        digest.update(f"{cell['cell_type']} {tags}\n{notebooks.source(cell)}\0".encode())
    sources = sorted((ROOT / "src").rglob("*.py"))
    for path in [*sources, *(ROOT / "paper").glob("*.toml"), ROOT / "requirements.lock"]:
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def outputs(name: str) -> list[Path]:
    """The files that a run of a notebook with the paper's parameters leaves."""
    record = output_root() / PAPER_RUNS / f"{name}.json"
    found = [record, output_root() / "notebooks" / f"{name}.ipynb"]
    for figure in json.loads(record.read_text(encoding="utf-8"))["figures"]:
        found += [output_root() / "figures" / f"{figure}.{suffix}" for suffix in ("svg", "png", "csv")]
    return found


def load_state() -> dict[str, Any]:
    """What is remembered of earlier runs; nothing if the file is missing or damaged."""
    try:
        return dict(json.loads((output_root() / STATE).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _is_current(name: str, state: Mapping[str, Any]) -> bool:
    known = state.get(name, {})
    if known.get("inputs") != inputs(name):
        return False
    try:
        return bool(known["outputs"] == {path.name: manifest.digest(path) for path in outputs(name)})
    except OSError:
        return False


def remember(outcome: Outcome, parameters: Mapping[str, Any]) -> None:
    """Note what a good run with the paper's parameters was made from and what it made."""
    if outcome.problem or parameters:
        return
    found = {path.name: manifest.digest(path) for path in outputs(outcome.name)}
    state = load_state() | {outcome.name: {"inputs": inputs(outcome.name), "outputs": found}}
    write(output_root() / STATE, json.dumps(state, indent=1, sort_keys=True) + "\n")


def remove_leftovers() -> None:
    """Delete temporary files that a killed run may have left."""
    for folder in ("figures", "notebooks", "paper", "build", PAPER_RUNS):
        for path in (output_root() / folder).glob(".*.part"):
            with suppress(OSError):
                path.unlink()
