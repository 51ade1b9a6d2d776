"""The paper's equations for the web site.

``site/equations.toml`` has the formulas, ``paper/equations.md`` says in which functions they live.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compendium.site.ledger_page import link
from tablebuilder_dp import certified

HOMES = "paper/homes.txt"
"""Where ``paper/equations.md`` lies among the sources of the site, as its own place is that of the page."""


@dataclass(frozen=True)
class Equation:
    """A numbered formula of the paper; ``ours`` is what holds where the print does not."""

    number: int
    printed: str
    ours: str = ""
    claim: str = ""
    proposition: str = ""

    @property
    def name(self) -> str:
        """Such as "Eq. (21), Proposition 2"."""
        return ", ".join(filter(None, [f"Eq. ({self.number})", self.proposition]))


@dataclass(frozen=True)
class Row:
    """A line of ``paper/equations.md``: some equations, what they say, and the functions they live in."""

    section: str
    equations: tuple[Equation, ...]
    says: str
    home: str

    @property
    def title(self) -> str:
        """Such as "(15) to (18): E* ends below 1/2 − ε/(2γ)"."""
        first, last = self.equations[0].number, self.equations[-1].number
        more = "" if first == last else f" {'and' if last == first + 1 else 'to'} ({last})"
        return f"({first}){more}: {self.says}"


def rows(formulas: dict[str, Any], text: str) -> list[Row]:
    """The equations of a TOML table by the lines of ``paper/equations.md``; each must have one."""
    first = {number: section for section, number in formulas["first"].items()}
    left = {name: formula for name, formula in formulas.items() if name != "first"}
    table = []
    for numbers, says, home in re.findall(r"^\| (\d[\d, –]*) \| (.*) \| (.*) \|$", text, re.MULTILINE):
        ends = [int(number) for number in re.findall(r"\d+", numbers)]
        proposition = "".join(re.findall(r"Proposition \d", says))
        equations = tuple(
            Equation(number, **left.pop(str(number)), proposition=proposition)
            for number in range(ends[0], ends[-1] + 1)
        )
        section = first[max(number for number in first if number <= ends[0])]
        table.append(Row(section, equations, says, home))
    if left:
        raise ValueError(f"paper/equations.md has no line for the equations {', '.join(left)}")
    return table


def read_rows(source: Path) -> list[Row]:
    """The rows from the folder of the site's sources."""
    formulas = tomllib.loads((source / "equations.toml").read_text(encoding="utf-8"))
    return rows(formulas, (source / HOMES).read_text(encoding="utf-8"))


def by_function(table: Sequence[Row]) -> dict[str, list[Equation]]:
    """The equations of each function; those of `certified` have the equations of their namesakes."""
    homes: dict[str, list[Equation]] = {}
    for row in table:
        for name in re.findall(r"`([\w.]+)`", row.home):
            homes.setdefault(name, []).extend(row.equations)
    for name, equations in list(homes.items()):
        module, *_, function = name.split(".")
        if module in ("noise", "privacy") and hasattr(certified, function):
            homes.setdefault(f"certified.{function}", equations)
    return homes


def page(text: str, table: Sequence[Row]) -> str:
    """``paper/equations.md`` with its formulas typeset in place of the table, and its names as links."""
    head, tail = re.split(r"(?:^\|.*\n)+", text, maxsplit=1, flags=re.MULTILINE)
    blocks, section = [linked(head)], ""
    for row in table:
        if row.section != section:
            section = row.section
            blocks.append(f"## {section}\n")
        blocks.append(f"### {row.title}\n\nIn the library: {linked(row.home)}.\n")
        blocks += map(_block, row.equations)
    return "\n".join([*blocks, linked(tail)])


def linked(text: str) -> str:
    """Names of the library in backticks as links to the reference."""
    return re.sub(r"`(\w+\.[\w.]+)`", r"{py:obj}`\1`", text)


def _block(equation: Equation) -> str:
    shown = [("equation", f"({equation.number})", equation.printed)]
    if equation.ours:
        shown.append(("equation named", f"What holds: {link(equation.claim)}", equation.ours))
    blocks = (
        f":::{{container}} {kind}\n{name}\n\n```{{math}}\n{formula}\n```\n:::\n"
        for kind, name, formula in shown
    )
    return f"(eq-{equation.number})=\n" + "\n".join(blocks)
