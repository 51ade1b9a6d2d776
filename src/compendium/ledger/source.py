"""Where the paper's sections and equations stand in its source, ARXIV.tex (``paper/source.toml``)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

from compendium.run.places import ROOT

CONTENTS = ROOT / "paper" / "source.toml"


@dataclass(frozen=True)
class Section:
    """A section: its lines in the source, and its numbered equations."""

    name: str
    title: str
    lines: tuple[int, int]
    equations: tuple[int, int]


@cache
def contents() -> tuple[Section, ...]:
    """All sections, in order."""
    listed = tomllib.loads(CONTENTS.read_text(encoding="utf-8"))["section"]
    return tuple(
        Section(part["name"], part["title"], tuple(part["lines"]), tuple(part["equations"]))
        for part in listed
    )


def section_of(equation: int) -> str:
    """The section that holds an equation.

    >>> section_of(21), section_of(39)
    ('III-B', 'V-A')
    """
    for section in contents():
        first, last = section.equations
        if first <= equation <= last:
            return section.name
    raise ValueError(f"equation must be one of the paper's, from 1 to 47, got {equation}")
