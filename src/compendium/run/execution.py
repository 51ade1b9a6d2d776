"""Run notebooks with papermill: those that are asked for and not current, each in a process of its own.

Every file is written whole, so a killed run loses nothing but time.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from compendium.run import notebooks, staleness
from compendium.run.parameters import PAPER_RUNS, check_parameters, declared, other_run, paper_parameters
from compendium.run.places import output_root, write

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FIRST = "10-verdict"
"""The notebook that takes longest, and so starts first."""


class Outcome(NamedTuple):
    """How one notebook ended; ``problem`` is empty if it ended well."""

    name: str
    seconds: float
    problem: str


def select(wanted: Iterable[str]) -> list[str]:
    """The names of the notebooks that start with one of the given texts, or all."""
    names = notebooks.names()
    chosen = []
    for text in wanted:
        matches = [name for name in names if name.startswith(text.removesuffix(".ipynb"))]
        if not matches:
            raise ValueError(f"notebook must be one of {', '.join(names)}, got {text!r}")
        chosen += matches
    return sorted(set(chosen)) or names


def read_parameters(settings: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE texts as a dictionary; values are written as in TOML, texts may lack quotes."""
    parameters: dict[str, Any] = {}
    for setting in settings:
        name, separator, value = setting.partition("=")
        if not separator or not name.isidentifier() or "\n" in value or name in parameters:
            raise ValueError(f"parameter must be written NAME=VALUE, once each, got {setting!r}")
        try:
            parameters[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            parameters[name] = value
    return parameters


def other_tasks(chosen: Sequence[str], parameters: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What to run with other parameters than the paper's, by notebook."""
    tasks = {}
    for name in chosen if parameters else ():
        check_parameters(name, parameters)
        paper = paper_parameters()[name]
        tasks[name] = {key: value for key, value in parameters.items() if value != paper[key]}
        if not tasks[name]:
            raise ValueError(f"parameters must differ from the paper's, which {name} has without --set")
    return tasks


def run_with(tasks: Mapping[str, dict[str, Any]]) -> int:
    """Run notebooks with other parameters, whose results go below build/other; 0 if all ended well."""
    outcomes = run_all(tasks)
    for outcome in outcomes:
        if not outcome.problem:
            folder = other_run(outcome.name, paper_parameters()[outcome.name] | tasks[outcome.name])
            print(f"{outcome.name}: results in {folder}")
    return report_problems(outcomes)


def run_stale(chosen: Sequence[str], *, force: bool = False) -> int:
    """Run those notebooks whose results are not current, or all; 0 if all ended well."""
    remove_leftovers()
    start = time.perf_counter()
    state = staleness.load_state()
    stale = [name for name in chosen if force or not staleness.is_current(name, state)]
    outcomes = run_all({name: {} for name in stale})
    elapsed = time.perf_counter() - start
    print(f"\nNotebooks: {len(stale)} run, {len(chosen) - len(stale)} unchanged ({elapsed:.0f} s)")
    return report_problems(outcomes)


def run_all(tasks: Mapping[str, dict[str, Any]]) -> list[Outcome]:
    """Run notebooks in spawned processes: a bar on a terminal, a line each elsewhere."""
    outcomes: list[Outcome] = []
    if not tasks:
        return outcomes
    before = {name: staleness.everything(name) for name in tasks}
    workers = min(len(tasks), os.cpu_count() or 1, 8)
    context = multiprocessing.get_context("spawn")
    terminal = sys.stderr.isatty()
    with (
        ProcessPoolExecutor(workers, mp_context=context, initializer=_live_with_parent) as pool,
        tqdm(total=len(tasks), unit="notebook", disable=not terminal) as bar,
    ):
        futures: list[Future[Outcome]] = [
            pool.submit(execute, name, tasks[name])
            for name in sorted(tasks, key=lambda name: (name != FIRST, name))
        ]
        try:
            for future in as_completed(futures):
                outcome = future.result()
                outcomes.append(outcome)
                if not outcome.problem and not tasks[outcome.name]:
                    staleness.remember(outcome.name, outcome.seconds, before[outcome.name])
                bar.set_postfix_str(outcome.name, refresh=False)
                bar.update()
                if not terminal:
                    word = "failed" if outcome.problem else "done"
                    print(f"{word:6} {outcome.name} ({outcome.seconds:.1f} s)", flush=True)
        except BaseException:
            for child in multiprocessing.active_children():
                child.terminate()
            raise
    return outcomes


def _live_with_parent() -> None:
    """In a worker: leave interrupts to the parent, and end when it ends, however that happens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def execute(name: str, parameters: dict[str, Any]) -> Outcome:
    """Run one notebook with papermill; with the paper's parameters its outputs are kept."""
    # A grammar of web addresses that papermill's imports would build, for a second, and that nobody asks for.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    import papermill  # here, in the spawned process, as its import takes as long as a kernel's start

    start = time.perf_counter()
    full = declared(notebooks.FOLDER / f"{name}.ipynb") | parameters
    executed = output_root() / (other_run(name, full) if parameters else "build/run") / f"{name}.ipynb"
    problem = ""
    try:
        executed.parent.mkdir(parents=True, exist_ok=True)
        executed.unlink(missing_ok=True)
        run = partial(
            papermill.execute_notebook,
            notebooks.FOLDER / f"{name}.ipynb",
            executed,
            parameters=parameters,
            kernel_name="python3",
            progress_bar=False,
            extra_arguments=["--IPKernelApp.log_level=50"],
        )
        try:
            notebook = run()
        except RuntimeError as error:
            # Of kernels that start together, two may be given the same port: the one that lost starts again.
            if "before replying to kernel_info" not in str(error):
                raise
            notebook = run()
        if not parameters:
            write(output_root() / "notebooks" / f"{name}.ipynb", notebooks.normalised(notebook))
    except papermill.PapermillExecutionError as error:
        cell = error.exec_count - bool(parameters)  # papermill adds a cell for parameters
        problem = f"cell {cell}: {error.ename}: {error.evalue}"
    except Exception as error:  # a kernel that died, a disk that is full: the others shall go on
        problem = f"{_running_cell(executed, parameters)}{type(error).__name__}: {error}"
    return Outcome(name, time.perf_counter() - start, problem)


def _running_cell(executed: Path, parameters: Mapping[str, Any]) -> str:
    """The cell at which papermill's last copy of a notebook stopped, if there is one."""
    with suppress(OSError, ValueError, KeyError):
        code = [cell for cell in notebooks.read(executed)["cells"] if cell["cell_type"] == "code"]
        started = sum(cell["metadata"]["papermill"]["start_time"] is not None for cell in code)
        return f"cell {started - bool(parameters)}: "
    return ""


def report_problems(outcomes: list[Outcome]) -> int:
    """Name the notebooks that failed; 1 if there are any."""
    failed = [outcome for outcome in outcomes if outcome.problem]
    for outcome in failed:
        print(f"{outcome.name} failed at {outcome.problem}", file=sys.stderr)
    return 1 if failed else 0


def remove_leftovers() -> None:
    """Delete temporary files that a killed run may have left."""
    for folder in ("figures", "notebooks", "notebooks/solutions", "paper", "build", PAPER_RUNS):
        for path in (output_root() / folder).glob(".*.part"):
            with suppress(OSError):
                path.unlink()


@contextmanager
def only_run() -> Iterator[None]:
    """Hold the lock of the output folder, where the system has such locks."""
    path = output_root() / "build" / "lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ValueError("another run is under way; wait for it to end") from None
        yield
