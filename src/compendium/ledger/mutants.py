"""``python -m compendium mutants``: does the ledger see it when a formula of the library is altered?

Each alteration of the modules with the paper's sections is made in a process of its own, and the claims whose
settling runs through the altered lines are settled again, until one of them differs in anything that
``paper/ledger.json`` has of it, or cannot be settled: then the alteration is seen. So it is where a claim
takes many times as long as it should, or all of the memory. What survives stands in ``paper/mutants.toml``,
with a reason.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.machinery
import importlib.util
import json
import multiprocessing
import pkgutil
import resource
import signal
import sys
import time
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

from tqdm import tqdm

from compendium.ledger import book, claims, trace, verdicts
from compendium.ledger import checks as package
from compendium.ledger.claims import Claim
from compendium.ledger.mutations import Alteration, alterations, altered
from compendium.ledger.verdicts import Entry
from compendium.run.places import ROOT

LIBRARY = "tablebuilder_dp"
MODULES = ("noise", "privacy", "certified", "design", "cellkey", "sampling")
"""The paper's sections, in the order of their imports."""
SURVIVORS = ROOT / "paper" / "mutants.toml"
KINDS = ("equivalent", "elsewhere", "gap")
"""Why one survives: it changes no answer, it is no matter of the ledger, or a check is missing."""

MEMORY = 4 * 2**30
PATIENCE = 2.0, 5.0
"""A claim may take so many seconds of the processor, and so many times as long as it usually does."""


Name = tuple[str, str, str]
"""Module, function and change."""


@dataclass(frozen=True)
class Mutant:
    """An alteration of one of the modules."""

    module: str
    alteration: Alteration

    @property
    def name(self) -> Name:
        """As the list of survivors has it."""
        return self.module, self.alteration.function, self.alteration.change


@dataclass(frozen=True)
class Settled:
    """A claim as it is settled without any alteration, and what that takes."""

    claim: Claim
    record: dict[str, Any]
    seconds: float
    lines: Mapping[str, set[int]]
    """The lines that run, by module."""


@dataclass(frozen=True)
class Survivor:
    """Changes in one function that no claim sees, and why; without changes, all of a function."""

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
    modules = [
        one for one in MODULES if not wanted or any(f"{name}.".startswith(f"{one}.") for name in wanted)
    ]
    found = [Mutant(module, one) for module in modules for one in alterations(source(module))]
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


def named(listed: Iterable[Survivor], made: Sequence[Mutant]) -> dict[Name, Survivor]:
    """The listed survivors by mutant; those that nobody makes any more keep their name."""
    found: dict[Name, Survivor] = {}
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

    before = sys.gettrace()  # of a measurement of coverage, say
    sys.settrace(enter)
    try:
        yield lines
    finally:
        sys.settrace(before)


def _record(claim: Claim) -> dict[str, Any]:
    """The entry of a claim as it is kept."""
    record: dict[str, Any] = json.loads(json.dumps(verdicts.settle(claim).record()))
    return record


def concerned(mutant: Mutant, settled: Sequence[Settled]) -> list[Settled]:
    """The claims that run through the altered lines; what an import sets concerns all of a module."""
    lines = mutant.alteration.lines
    return [
        one
        for one in settled
        if (not one.lines[mutant.module].isdisjoint(lines) if lines else one.lines[mutant.module])
    ]


# --- With one alteration ------------------------------------------------------------------------


def witness(module: str, text: str, settled: Sequence[Settled], *, anew: bool = False) -> str | None:
    """The first claim that sees another text of a module, "time or memory", or None if all are as before.

    The code of its functions is exchanged. What an import sets, also what functions are called with by
    default, needs the whole project imported ``anew``.
    """
    context = multiprocessing.get_context("forkserver")
    checks = (f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__))
    context.set_forkserver_preload([__name__, "scipy.optimize", *checks])
    ours, theirs = context.Pipe(duplex=False)
    wanted = [(one.claim, one.record, one.seconds) for one in settled]
    process = context.Process(target=_look, args=(theirs, module, text, wanted, anew), daemon=True)
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


def _look(
    answer: Connection, module: str, text: str, wanted: Sequence[tuple[Claim, Any, float]], anew: bool
) -> None:
    """In a process of its own: exchange the module and settle the claims until one differs."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    seen_by: str | None = "import"
    try:
        _wait_at_most(1)
        settle = (_imported_anew if anew else _exchanged)(f"{LIBRARY}.{module}", text)
        for claim, record, seconds in wanted:
            seen_by = claim.id
            _wait_at_most(seconds)
            if json.loads(json.dumps(settle(claim).record())) != record:
                break
        else:
            seen_by = None
    except MemoryError:
        return
    except Exception:  # noqa: S110 - what cannot be settled is seen
        pass
    answer.send(seen_by)


def _wait_at_most(usual: float) -> None:
    """Let the system end this process if it computes for too long: no loop can prevent that."""
    least, times = PATIENCE
    signal.setitimer(signal.ITIMER_PROF, least + times * usual)


def _exchanged(name: str, text: str) -> Callable[[Claim], Entry]:
    """Give the functions of a module the code that they have in another text, whoever imported them."""
    module = importlib.import_module(name)
    other: dict[str, Any] = vars(module) | {"__name__": name}
    exec(compile(text, name, "exec"), other)  # noqa: S102 - our own text
    mine, theirs = (dict(_functions(values, name)) for values in (vars(module), other))
    for place, function in mine.items():
        function.__code__ = theirs[place].__code__
    return verdicts.settle


def _functions(values: Mapping[str, Any], module: str, above: str = "") -> Iterator[tuple[str, FunctionType]]:
    """The functions and methods that a module defines, also below a property, a class method or a cache."""
    for name, value in values.items():
        for part in ("fget", "func", "__func__", "__wrapped__"):
            value = getattr(value, part, None) or value
        if getattr(value, "__module__", "") != module:
            continue
        if isinstance(value, FunctionType):
            yield f"{above}{name}", value
        elif isinstance(value, type):
            yield from _functions(vars(value), module, f"{above}{name}.")


def _imported_anew(name: str, text: str) -> Callable[[Claim], Entry]:
    """Import the project anew, with a module of another text."""
    for known in list(sys.modules):
        if known.split(".")[0] in (LIBRARY, "compendium"):
            del sys.modules[known]
    package, _, module = name.rpartition(".")
    spec = importlib.machinery.ModuleSpec(name, None)
    sys.modules[name] = fresh = importlib.util.module_from_spec(spec)
    exec(compile(text, name, "exec"), vars(fresh))  # noqa: S102 - our own text
    setattr(importlib.import_module(package), module, fresh)
    settle: Callable[[Claim], Entry] = importlib.import_module("compendium.ledger.verdicts").settle
    return settle


# --- The command --------------------------------------------------------------------------------


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "modules", nargs="*", metavar="MODULE", help="such as noise or sampling.ratio; else all"
    )
    parser.add_argument("--json", action="store_true", help="print JSON with every mutant and who sees it")


def run(options: argparse.Namespace) -> int:
    """Make the mutants and look who sees them: 0 if exactly those survive that are listed."""
    made, listed = mutants(options.modules), survivors()
    settled = survey([*claims.load().values(), *claims.load(claims.OURS).values()])
    _check_unaltered(settled)
    seen: dict[Name, str | None] = {}
    first: dict[str, str] = {}  # who saw the last one of a function may well see the next one
    texts = {module: source(module) for module in MODULES}
    for one in tqdm(made, unit="mutant", leave=False, disable=not sys.stderr.isatty(), file=sys.stderr):
        function = ".".join(one.name[:2])
        chosen = concerned(one, settled)
        chosen.sort(key=lambda each: each.claim.id != first.get(function))
        text = altered(texts[one.module], one.alteration)
        anew = not one.alteration.lines
        seen[one.name] = witness(one.module, text, chosen, anew=anew) if chosen else None
        first[function] = seen[one.name] or first.get(function, "")
    known = named(listed, mutants())
    problems = [
        f"survives, not listed: {_words(name)}" for name, by in seen.items() if not by and name not in known
    ]
    problems += [
        f"listed, but seen by {by}: {_words(name)}" for name, by in seen.items() if by and name in known
    ]
    if options.json:
        records = [
            dict(zip(("module", "function", "change"), name, strict=True))
            | ({"seen_by": by} if by else {"survives": known[name].kind if name in known else "not listed"})
            for name, by in seen.items()
        ]
        print(json.dumps({"as_listed": not problems, "mutants": records}))
    else:
        print(
            "\n".join([*_table(seen, known), *problems, *([] if problems else ["All survivors are listed."])])
        )
    return 1 if problems else 0


def _check_unaltered(settled: Sequence[Settled]) -> None:
    """The ledger must be the stored one before anything is altered."""
    stored = book.read()
    known = {entry.claim.id: entry.record() for entry in (*stored.paper, *stored.ours)}
    changed = [one.claim.id for one in settled if known.get(one.claim.id, one.record) != one.record]
    if changed:
        raise ValueError(f"{book.LEDGER} has another {', '.join(changed)}: make reproduce ACCEPT=1 first")


def _table(seen: Mapping[Name, str | None], known: Mapping[Name, Survivor]) -> Iterator[str]:
    """How many mutants of each module are seen, and why the others are not."""
    yield f"{'module':<12}{'mutants':>8}{'seen':>8}{''.join(f'{kind:>12}' for kind in KINDS)}"
    for module in MODULES:
        ours = {name: by for name, by in seen.items() if name[0] == module}
        kinds = Counter(known[name].kind for name, by in ours.items() if not by and name in known)
        if ours:
            counts = "".join(f"{kinds[kind]:>12}" for kind in KINDS)
            yield f"{module:<12}{len(ours):>8}{sum(map(bool, ours.values())):>8}{counts}"


def _words(name: Name) -> str:
    module, function, change = name
    return f"{module}.{function}: {change}" if function else f"{module}: {change}"
