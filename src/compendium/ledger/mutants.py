"""``python -m compendium mutants``: does the ledger see it when a formula of the library is altered?

Each alteration of the modules with the paper's sections is made in a process of its own, and the claims whose
settling runs through the altered lines are settled again, until one of them differs in anything that
``paper/ledger.json`` has of it, or cannot be settled: then the alteration is seen. So it is where a claim takes
many times as long as it should, or all of the memory. What survives stands in ``paper/mutants.toml``, with a reason.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import importlib.util
import json
import multiprocessing
import resource
import signal
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tqdm import tqdm

from compendium.ledger import book, claims, trace, verdicts
from compendium.ledger.alterations import Alteration, altered, alterations
from compendium.ledger.claims import Claim
from compendium.run.places import ROOT

LIBRARY = "tablebuilder_dp"
MODULES = ("noise", "privacy", "certified", "design", "cellkey", "sampling")
"""The paper's sections, in the order of their imports."""
SURVIVORS = ROOT / "paper" / "mutants.toml"
KINDS = ("equivalent", "elsewhere", "gap")
"""Why an alteration survives: it changes nothing, only the library's own tests run it, or a check is missing."""

MEMORY = 4 * 2**30
PATIENCE = 2.0, 10.0
"""A claim may take so many seconds of the processor, and so many times as long as it usually does."""


@dataclass(frozen=True)
class Mutant:
    """An alteration of one of the modules."""

    module: str
    alteration: Alteration

    @property
    def name(self) -> tuple[str, str, str]:
        """Module, function and change, as the list of survivors has them."""
        return self.module, self.alteration.function, self.alteration.change


@dataclass(frozen=True)
class Settled:
    """A claim as it is settled without any alteration, and what that takes."""

    claim: Claim
    record: dict[str, Any]
    seconds: float
    lines: Mapping[str, Collection[int]]
    """The lines that run, by module."""


@dataclass(frozen=True)
class Survivor:
    """Changes in one function that nobody sees, and why; without changes, all of a function that never runs."""

    module: str
    function: str
    kind: str
    because: str
    changes: tuple[str, ...] = ()


# --- The mutants and the list -------------------------------------------------------------------


def source(module: str) -> str:
    """The text of a module of the library."""
    return (ROOT / "src" / LIBRARY / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")


def mutants(wanted: Sequence[str] = ()) -> list[Mutant]:
    """All mutants, or those of some modules and functions, such as "noise" or "sampling.ratio"."""
    found = [Mutant(module, one) for module in MODULES for one in alterations(source(module))]
    chosen = [one for one in found if not wanted or any(_is_in(one, name) for name in wanted)]
    for name in wanted:
        if not any(_is_in(one, name) for one in chosen):
            allowed = f"one of {', '.join(MODULES)}, or a function of one such as sampling.ratio"
            raise ValueError(f"MODULE must be {allowed}, got {name!r}")
    return chosen


def _is_in(mutant: Mutant, name: str) -> bool:
    return f"{mutant.module}.{mutant.alteration.function}.".startswith(f"{name}.")


def survivors(path: Path = SURVIVORS) -> list[Survivor]:
    """The list of what the ledger does not see."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))["survives"]
        return [Survivor(**entry | {"changes": tuple(entry.get("changes", ()))}) for entry in entries]
    except (OSError, KeyError, TypeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"the list needs a readable paper/{path.name}: {error}") from None


def named(listed: Iterable[Survivor], made: Sequence[Mutant]) -> dict[tuple[str, str, str], Survivor]:
    """The listed survivors by mutant; those that nobody makes any more keep their name."""
    found = {}
    for entry in listed:
        place = entry.module, entry.function
        changes = entry.changes or [one.alteration.change for one in made if one.name[:2] == place] or ["*"]
        found |= {(*place, change): entry for change in changes}
    return found


# --- Without alterations ------------------------------------------------------------------------


def survey(stated: Iterable[Claim]) -> list[Settled]:
    """Settle claims, each with empty caches, and note which lines of the six modules run."""
    files = {str(ROOT / "src" / LIBRARY / f"{module}.py"): module for module in MODULES}
    settled = []
    for claim in stated:
        verdicts.find_check(claim.check)
        trace._forget()
        begin = time.process_time()
        with _followed(files) as lines:
            record = _record(claim)
        settled.append(Settled(claim, record, time.process_time() - begin, lines))
    return sorted(settled, key=lambda one: one.seconds)


@contextlib.contextmanager
def _followed(files: Mapping[str, str]) -> Iterator[dict[str, set[int]]]:
    """The lines that run in some files; a function that has run whole is followed no longer."""
    lines: dict[str, set[int]] = {module: set() for module in files.values()}
    open_lines: dict[CodeType, set[int]] = {}

    def enter(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in files:
            return None
        if code not in open_lines:
            open_lines[code] = {line for *_, line in code.co_lines() if line}
            step(frame, event, None)
        return step if open_lines[code] else None

    def step(frame: FrameType, _: str, __: Any) -> Any:
        lines[files[frame.f_code.co_filename]].add(frame.f_lineno)
        open_lines[frame.f_code].discard(frame.f_lineno)
        return step if open_lines[frame.f_code] else None

    sys.settrace(enter)
    try:
        yield lines
    finally:
        sys.settrace(None)


def _record(claim: Claim) -> dict[str, Any]:
    """The entry of a claim as it is kept."""
    record: dict[str, Any] = json.loads(json.dumps(verdicts.settle(claim).record()))
    return record


def concerned(mutant: Mutant, settled: Sequence[Settled]) -> list[Settled]:
    """The claims that run through the altered lines; what stands outside functions concerns all of a module."""
    lines = mutant.alteration.lines
    return [
        one
        for one in settled
        if (not one.lines[mutant.module].isdisjoint(lines) if lines else one.lines[mutant.module])
    ]


# --- With one alteration ------------------------------------------------------------------------


def witness(module: str, text: str, settled: Sequence[Settled]) -> str | None:
    """The first claim that sees a module with another text, "time or memory", or None if all are as before."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["compendium.ledger.mutants", "numpy", "scipy.optimize", "flint"])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_look, args=(theirs, module, text, settled), daemon=True)
    process.start()
    theirs.close()
    try:
        seen_by: str | None = ours.recv()
    except EOFError:
        seen_by = "time or memory"
    finally:
        ours.close()
        process.join()
    return seen_by


def _look(answer: Connection, module: str, text: str, settled: Sequence[Settled]) -> None:
    """In a process of its own: exchange the module and settle the claims until one differs."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.stderr = None
    claim = "import"
    try:
        _wait_at_most(0)
        fresh = _exchange(module, text)
        for one in settled:
            claim = one.claim.id
            _wait_at_most(one.seconds)
            if json.loads(json.dumps(fresh.settle(one.claim).record())) != one.record:
                break
        else:
            claim = ""
    except MemoryError:
        return
    except Exception:  # noqa: S110 - what cannot be settled is seen
        pass
    answer.send(claim or None)


def _wait_at_most(usual: float) -> None:
    """Let the system end this process if it computes for too long: no loop can prevent that."""
    least, times = PATIENCE
    signal.setitimer(signal.ITIMER_PROF, least + times * usual)


def _exchange(module: str, text: str) -> Any:
    """Import the project anew, with one module of another text; its `verdicts`."""
    for name in list(sys.modules):
        if name.split(".")[0] in (LIBRARY, "compendium"):
            del sys.modules[name]
    name = f"{LIBRARY}.{module}"
    spec = importlib.util.find_spec(name)
    assert spec is not None  # noqa: S101 - the text was read from there
    sys.modules[name] = fresh = importlib.util.module_from_spec(spec)
    exec(compile(ast.parse(text), spec.origin or name, "exec"), vars(fresh))  # noqa: S102 - our own text
    setattr(importlib.import_module(name.rpartition(".")[0]), name.rpartition(".")[2], fresh)
    return importlib.import_module("compendium.ledger.verdicts")


# --- The command --------------------------------------------------------------------------------


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="such as noise or sampling.ratio; else all")
    parser.add_argument("--json", action="store_true", help="print JSON with every mutant and who sees it")


def run(options: argparse.Namespace) -> int:
    """Make the mutants and look who sees them: 0 if exactly those survive that are listed."""
    made, listed = mutants(options.modules), survivors()
    settled = survey([*claims.load().values(), *claims.load(claims.OURS).values()])
    _check_unaltered(settled)
    seen: dict[tuple[str, str, str], str | None] = {}
    first: dict[str, str] = {}  # who saw the last one of a function may well see the next one
    texts = {module: source(module) for module in MODULES}
    for one in tqdm(made, unit="mutant", leave=False, disable=not sys.stderr.isatty(), file=sys.stderr):
        function = ".".join(one.name[:2])
        chosen = concerned(one, settled)
        chosen.sort(key=lambda each: each.claim.id != first.get(function))
        text = altered(texts[one.module], one.alteration)
        seen[one.name] = witness(one.module, text, chosen) if chosen else None
        first[function] = seen[one.name] or first.get(function, "")
    known = named(listed, mutants())
    problems = [f"survives, not listed: {_words(name)}" for name, by in seen.items() if not by and name not in known]
    problems += [f"listed, but seen by {by}: {_words(name)}" for name, by in seen.items() if by and name in known]
    if options.json:
        records = [
            dict(zip(("module", "function", "change"), name, strict=True))
            | ({"seen_by": by} if by else {"survives": known[name].kind if name in known else "not listed"})
            for name, by in seen.items()
        ]
        print(json.dumps({"as_listed": not problems, "mutants": records}))
    else:
        print("\n".join([*_table(seen, known), *problems, *([] if problems else ["All survivors are listed."])]))
    return 1 if problems else 0


def _check_unaltered(settled: Sequence[Settled]) -> None:
    """The ledger must be the stored one before anything is altered."""
    stored = book.read()
    known = {entry.claim.id: entry.record() for entry in (*stored.paper, *stored.ours)}
    changed = [one.claim.id for one in settled if known.get(one.claim.id, one.record) != one.record]
    if changed:
        raise ValueError(f"{book.LEDGER} has another {', '.join(changed)}: make reproduce ACCEPT=1 first")


def _table(
    seen: Mapping[tuple[str, str, str], str | None], known: Mapping[tuple[str, str, str], Survivor]
) -> Iterator[str]:
    """How many mutants of each module are seen, and why the others are not."""
    yield f"{'module':<12}{'mutants':>8}{'seen':>8}{''.join(f'{kind:>12}' for kind in KINDS)}"
    for module in MODULES:
        ours = {name: by for name, by in seen.items() if name[0] == module}
        kinds = Counter(known[name].kind for name, by in ours.items() if not by and name in known)
        if ours:
            counts = "".join(f"{kinds[kind]:>12}" for kind in KINDS)
            yield f"{module:<12}{len(ours):>8}{sum(map(bool, ours.values())):>8}{counts}"


def _words(name: tuple[str, str, str]) -> str:
    module, function, change = name
    return f"{module}.{function}: {change}" if function else f"{module}: {change}"
