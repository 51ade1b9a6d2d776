"""One claim, and the path from what is printed to the lines of code that decide its verdict."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from inspect import getsourcelines
from pathlib import Path
from textwrap import fill
from types import CodeType, FrameType
from typing import Any

from compendium.ledger import claims, verdicts
from compendium.ledger.claims import Claim
from compendium.ledger.verdicts import Entry
from compendium.run.places import ROOT

DECIDED_IN = (
    "src/compendium/ledger/checks",
    *(f"src/compendium/ledger/{module}.py" for module in ("claims", "formulas", "verdicts")),
    "src/compendium/studies",
    "src/tablebuilder_dp",
)
"""Where a verdict is decided."""


@dataclass(frozen=True)
class Step:
    """A function that took part: how deep below the print it was first called, and where it stands."""

    depth: int
    name: str
    file: str
    first: int
    last: int

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Traced:
    """An entry, the line of its print and the functions that decided it, in the order of their calls."""

    entry: Entry
    printed_at: str
    steps: tuple[Step, ...]


def settle(claim: Claim) -> Traced:
    """Settle a claim and note every function of the project that decides it."""
    verdicts.find_check(claim.check)  # imported before, so that no import is on the path
    _forget()
    steps: dict[CodeType, Step] = {}
    stack: list[bool] = []

    def follow(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            ours = _is_deciding(frame.f_code)
            if ours and frame.f_code not in steps:
                steps[frame.f_code] = _step(frame.f_code, sum(stack))
            stack.append(ours)
        elif event == "return" and stack:
            stack.pop()

    sys.setprofile(follow)
    try:
        entry = verdicts.settle(claim)
    finally:
        sys.setprofile(None)
    return Traced(entry, _place(claim), tuple(steps.values()))


def _forget() -> None:
    """Empty all caches of the project: what an earlier claim has left there would be missing on the path."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("compendium.", "tablebuilder_dp.")):
            for value in list(vars(module).values()):
                getattr(value, "cache_clear", int)()


def _is_deciding(code: CodeType) -> bool:
    if code.co_name.startswith("<"):  # comprehensions and lambdas belong to the function around them
        return False
    path = Path(code.co_filename)
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).as_posix().startswith(DECIDED_IN)


def _step(code: CodeType, depth: int) -> Step:
    lines, first = getsourcelines(code)
    file = Path(code.co_filename).relative_to(ROOT).as_posix()
    return Step(depth, code.co_qualname, file, first, first + len(lines) - 1)


def _place(claim: Claim) -> str:
    """The file and line where a claim has what is printed."""
    for path in (claims.PAPER, claims.OURS):
        lines = path.read_text(encoding="utf-8").splitlines()
        if f'id = "{claim.id}"' in lines:
            start = lines.index(f'id = "{claim.id}"')
            line = next(n for n in range(start, len(lines)) if lines[n].startswith("printed = "))
            return f"paper/{path.name}:{line + 1}"
    raise ValueError(f"claim {claim.id} must stand in paper/{claims.PAPER.name}")


def text(traced: Traced) -> str:
    """All that is known of one claim, for a terminal."""
    entry, claim = traced.entry, traced.entry.claim
    known = {
        "says": claim.says,
        "printed": claim.printed,
        "read as": claim.reading,
        "in the source": ", ".join(f"line {place.line}" for place in claim.places if place.line),
        "verdict": entry.verdict,
        "what is true": entry.truth,
        "how it is known": entry.known,
        "taken to mean": claim.meaning,
        "why": entry.because,
        "what it changes": entry.changes,
        "proof": claim.proof,
    }
    lines = [f"{claim.id}: Section {claim.section}, {claim.where}"]
    lines += [
        fill(f"{name:<16} {value}", 100, initial_indent="  ", subsequent_indent=" " * 19)
        for name, value in known.items()
        if value
    ]
    lines += ["", f"From the print to the verdict:\n  {traced.printed_at}  {claim.printed}"]
    lines += [
        f"  {'  ' * (step.depth + 1)}{step.file}:{step.first}-{step.last}  {step.name}"
        for step in traced.steps
    ]
    return "\n".join(lines)
