"""A release: tables that are published together, under one edition and one (ε, δ), planned before any record.

`Release.from_toml` reads what an office writes down: variables with their code lists, tables, ε and δ.
`Release.plan` counts how many counts one person changes in all tables together (a partition that two tables
share is counted once, a hierarchy by its paths), designs the noise for it, and says what it costs. No record
is read.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from tablebuilder_dp.beyond import many_cells
from tablebuilder_dp.beyond.many_cells import FAMILIES, Choice
from tablebuilder_dp.microdata import listing
from tablebuilder_dp.microdata.layout import NEIGHBOURS, Layout, neighbour
from tablebuilder_dp.sampling import LookupTable, rounded_up
from tablebuilder_dp.support import parameters

COUNTS = (10, 100, 1000)
"""For counts of this size a plan tells how often they are off by more than a tenth."""

FACTORS = (Fraction(1, 2), Fraction(1), Fraction(2))
"""What a plan multiplies ε by, and δ by the cubes of ten, to show what tighter and looser ones would give."""

_TOP = {"edition", "records", "secret", "privacy", "variables", "table"}
_PRIVACY = {"epsilon", "delta", "neighbours", "noise"}
_VARIABLE = {"categories", "hierarchy", "codes", "missing"}
_TABLE = {"name", "by", "margins", "output"}


@dataclass(frozen=True)
class Variable:
    """A column with its categories, or a hierarchy of columns, coarse to fine, with its paths."""

    name: str
    columns: tuple[str, ...]
    paths: tuple[tuple[Any, ...], ...]

    def sizes(self, depth: int) -> int:
        """How many cells its first ``depth`` columns have."""
        return len({path[:depth] for path in self.paths})


@dataclass(frozen=True)
class Table:
    """One table of a release: its name, what it is counted by, and the file that it goes to."""

    name: str
    layout: Layout
    output: str | None = None


@dataclass(frozen=True)
class Release:
    """Tables under one edition and one (ε, δ), with the lists of their categories."""

    edition: str
    epsilon: Fraction
    delta: Fraction
    tables: tuple[Table, ...]
    variables: tuple[Variable, ...]
    neighbours: str = NEIGHBOURS[0]
    noise: str = FAMILIES[0]

    @classmethod
    def from_toml(cls, path: str | Path) -> Release:
        """Read a release from a file; code lists that it names lie beside it.

        Raises ValueError for what is missing, unknown or wrong in it, and OSError for a file that cannot be
        opened.
        """
        file = Path(path)
        try:
            content = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"release must be a TOML file, got {str(path)!r}: {error}") from None
        _known(content, _TOP, "release")
        privacy = _section(content, "privacy", _PRIVACY)
        variables = tuple(
            _variable(name, entry, file.parent)
            for name, entry in _mapping(_wanted(content, "variables", "release"), "variables").items()
        )
        entries = _wanted(content, "table", "release")
        if not isinstance(entries, list) or not entries:
            raise parameters.wrong_value("table", "one or more sections [[table]]", entries)
        return cls(
            edition=_text(_wanted(content, "edition", "release"), "edition"),
            epsilon=parameters.epsilon(_wanted(privacy, "epsilon", "privacy")),
            delta=parameters.delta(_wanted(privacy, "delta", "privacy")),
            tables=tuple(_table(entry, variables) for entry in entries),
            variables=variables,
            neighbours=neighbour(privacy.get("neighbours", NEIGHBOURS[0])),
            noise=_family(privacy.get("noise", FAMILIES[0])),
        )

    def __post_init__(self) -> None:
        names = [table.name for table in self.tables]
        if len(set(names)) < len(names):
            raise parameters.wrong_value("table", "of different names", names)

    @property
    def partitions(self) -> dict[frozenset[str], int]:
        """The partitions of all tables, each once, by their columns, and how many cells each has."""
        return {
            frozenset(table.layout.by[place] for place in partition): self._cells(table.layout, partition)
            for table in self.tables
            for partition in table.layout.partitions
        }

    def _cells(self, layout: Layout, partition: Sequence[int]) -> int:
        chosen = {layout.by[place] for place in partition}
        depths = (sum(column in chosen for column in variable.columns) for variable in self.variables)
        return math.prod(
            variable.sizes(depth) for variable, depth in zip(self.variables, depths, strict=True) if depth
        )

    @property
    def cells_changed(self) -> int:
        """The most counts of all tables in which two neighbouring sets of records differ (Theorem 58)."""
        cells = self.partitions.values()
        if self.neighbours == "add-or-remove":
            return len(cells)
        return max(1, 2 * sum(count > 1 for count in cells))

    def plan(self) -> Plan:
        """What the release needs and gives, without looking at a record.

        Raises ValueError for what no noise keeps, and ArithmeticError where an enclosure does not decide.
        """
        chosen = many_cells.best(self.epsilon, self.delta, cells=self.cells_changed, family=self.noise)
        return Plan(self, chosen)


@dataclass(frozen=True)
class Plan:
    """A release, the noise that it would get, and what that means for its counts."""

    release: Release
    choice: Choice = field(repr=False)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The plan as it is written in JSON."""
        release, choice = self.release, self.choice
        spread = math.sqrt(choice.variance)
        return {
            "edition": release.edition,
            "neighbours": release.neighbours,
            "cells_per_person": release.cells_changed,
            "cells_changed": release.cells_changed,
            "epsilon": rounded_up(release.epsilon),
            "delta_target": float(release.delta),
            "delta": rounded_up(choice.promise.delta),
            "noise": many_cells.family(choice.noise),
            "support": choice.noise.support,
            "rate": float(max(choice.noise.rates)),
            "variance": choice.variance,
            "keysize": choice.table.keysize,
            "off_by_a_tenth": {str(count): off_by_a_tenth(choice.table, count) for count in COUNTS},
            "tables": [
                {
                    "name": table.name,
                    "by": list(table.layout.by),
                    "partitions": len(table.layout.partitions),
                    "cells": sum(release._cells(table.layout, part) for part in table.layout.partitions),
                    "standard_error": spread,
                }
                for table in release.tables
            ],
            "alternatives": [self._alternative(factor, power) for factor in FACTORS for power in (-3, 0, 3)],
        }

    def _alternative(self, factor: Fraction, power: int) -> dict[str, Any]:
        """What another (ε, δ) would give; nothing where it cannot be had."""
        release = self.release
        epsilon, delta = release.epsilon * factor, release.delta * Fraction(10) ** power
        asked = {"epsilon": float(epsilon), "delta": float(delta)}
        if factor == 1 and power == 0:
            return {**asked, "standard_error": math.sqrt(self.choice.variance)}
        try:
            made = many_cells.best(epsilon, delta, cells=release.cells_changed, family=release.noise)
        except ValueError:
            return {**asked, "standard_error": None}
        return {**asked, "standard_error": math.sqrt(made.variance)}

    @property
    def text(self) -> str:
        """The plan as people read it."""
        data = self.data
        lines = [
            f"Edition {data['edition']}: epsilon = {data['epsilon']:g} and delta = "
            f"{data['delta_target']:g} for all tables together",
            f"  one person changes at most {data['cells_changed']} "
            f"count{'s' if data['cells_changed'] > 1 else ''} ({data['neighbours']})",
            f"  noise: {data['noise']}, on [-{data['support']}, {data['support']}], standard error "
            f"{math.sqrt(data['variance']):.4g}; delta is {data['delta']:.4g}",
            "",
            f"  {'table':<28} {'partitions':>10} {'cells':>9}",
            *(
                f"  {table['name'][:28]:<28} {table['partitions']:>10} {table['cells']:>9}"
                for table in data["tables"]
            ),
            "",
            "  how often a published count is off by more than a tenth",
            *(
                f"  {f'a count of {count}':<28} {share:>10.2%}"
                for count, share in data["off_by_a_tenth"].items()
            ),
            "",
            "  standard error of a count with another epsilon and delta",
            *self._alternatives(),
        ]
        return "\n".join(lines)

    @property
    def html(self) -> str:
        """The plan as a page of its own, with a picture of how often a count is off by more than a tenth."""
        title = f"Plan of edition {self.release.edition}"
        return _PAGE.format(title=escape(title), picture=_picture(self.choice.table), text=escape(self.text))

    def _repr_html_(self) -> str:
        """How a notebook shows the plan."""
        return f"{_picture(self.choice.table)}<pre>{escape(self.text)}</pre>"

    def _alternatives(self) -> Iterable[str]:
        rows = self.data["alternatives"]
        deltas = list(dict.fromkeys(row["delta"] for row in rows))
        yield "  " + " " * 14 + "".join(f"{f'delta = {delta:g}':>18}" for delta in deltas)
        for level in dict.fromkeys(row["epsilon"] for row in rows):
            shown = (row["standard_error"] for row in rows if row["epsilon"] == level)
            cells = "".join(f"{'-' if value is None else f'{value:.4g}':>18}" for value in shown)
            yield f"  {f'epsilon = {level:g}':<14}{cells}"


_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }}
pre {{ overflow-x: auto; font-size: 13px }}
svg {{ max-width: 100%; height: auto }}
</style>
<h1>{title}</h1>
{picture}
<pre>{text}</pre>
</html>
"""


def _picture(table: LookupTable) -> str:
    """An SVG: the share of counts that are off by more than a tenth, against the count."""
    left, right, top, bottom = 70, 660, 20, 260
    counts = [round(10 ** (step / 10)) for step in range(51)]

    def place(count: int) -> float:
        return left + (right - left) * math.log10(count) / 5

    def height(share: float) -> float:
        return bottom - (bottom - top) * share

    line = " ".join(f"{place(n):.1f},{height(off_by_a_tenth(table, n)):.1f}" for n in sorted(set(counts)))
    ticks = "".join(
        f'<text x="{place(10**power):.1f}" y="{bottom + 22}" text-anchor="middle">{10**power}</text>'
        for power in range(6)
    )
    shares = "".join(
        f'<text x="{left - 8}" y="{height(share / 100) + 5:.1f}" text-anchor="end">{share}%</text>'
        f'<path d="M{left} {height(share / 100):.1f}H{right}" stroke="currentColor" stroke-opacity="0.15"/>'
        for share in (0, 25, 50, 75, 100)
    )
    marks = "".join(
        f'<circle cx="{place(n):.1f}" cy="{height(off_by_a_tenth(table, n)):.1f}" r="4" fill="#0072B2"/>'
        for n in COUNTS
    )
    told = ", ".join(f"{off_by_a_tenth(table, n):.1%} of counts of {n}" for n in COUNTS)
    return (
        f'<svg viewBox="0 0 700 320" role="img" aria-label="Off by more than a tenth: {told}" '
        'font-family="sans-serif" font-size="14" fill="currentColor">'
        f'{shares}{ticks}<polyline points="{line}" fill="none" stroke="#0072B2" stroke-width="2"/>{marks}'
        f'<text x="{(left + right) / 2}" y="{bottom + 48}" text-anchor="middle">true count</text>'
        f'<text x="{left}" y="{top - 6}">published counts that are off by more than a tenth</text></svg>'
    )


def off_by_a_tenth(table: LookupTable, count: int) -> float:
    """The probability that a published count is off by more than a tenth of itself, from the weights.

    >>> off_by_a_tenth(LookupTable(4, (1, 3, 4)), 9), off_by_a_tenth(LookupTable(4, (1, 3, 4)), 10)
    (0.5, 0.0)
    """
    weights = enumerate(table.weights, -table.support)
    far = sum(weight for noise, weight in weights if 10 * abs(noise) > count)
    return far / table.keysize


def _wanted(section: Mapping[str, Any], name: str, where: str) -> Any:
    if name not in section:
        raise ValueError(f"{where} must have {name!r}, got {', '.join(section) or 'nothing'}")
    return section[name]


def _known(section: Mapping[str, Any], names: set[str], where: str) -> None:
    if unknown := sorted(set(section) - names):
        raise parameters.wrong_value(where, f"made of {', '.join(sorted(names))}", unknown[0])


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not value:
        raise parameters.wrong_value(name, f"a section [{name}] with entries", value)
    return value


def _section(content: Mapping[str, Any], name: str, known: set[str]) -> Mapping[str, Any]:
    section = _mapping(_wanted(content, name, "release"), name)
    _known(section, known, name)
    return section


def _family(value: Any) -> str:
    if value not in FAMILIES:
        raise parameters.wrong_value("noise", f"one of {', '.join(FAMILIES)}", value)
    return str(value)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise parameters.wrong_type(name, "a text", value)
    return value


def _variable(name: str, entry: Any, folder: Path) -> Variable:
    where = f"variables.{name}"
    _known(_mapping(entry, where), _VARIABLE, where)
    columns = tuple(entry.get("hierarchy", [name]))
    if not all(isinstance(column, str) for column in columns) or len(set(columns)) < len(columns):
        raise parameters.wrong_value(f"{where}.hierarchy", "different columns, coarse to fine", list(columns))
    if ("categories" in entry) == ("codes" in entry):
        raise ValueError(f"{where} must have either 'categories' or 'codes', got {', '.join(entry)}")
    if "codes" in entry:
        file = folder / _text(entry["codes"], f"{where}.codes")
        rows = listing.read(file, columns).to_pylist()
        paths = [tuple(row[column] for column in columns) for row in rows]
    else:
        listed = entry["categories"]
        if not isinstance(listed, list) or not listed:
            raise parameters.wrong_value(f"{where}.categories", "a list of categories", listed)
        paths = [tuple(path) if isinstance(path, list) else (path,) for path in listed]
    if entry.get("missing", False):
        paths.append((None,) * len(columns))
    if any(len(path) != len(columns) for path in paths) or len(set(paths)) < len(paths):
        allowed = (
            f"different paths of {len(columns)} categories" if len(columns) > 1 else "different categories"
        )
        raise parameters.wrong_value(f"{where}.categories", allowed, paths[:3])
    return Variable(name, columns, tuple(paths))


def _table(entry: Any, variables: Sequence[Variable]) -> Table:
    """A table; a column of a hierarchy brings the coarser ones along, a hierarchy's name all its columns."""
    _known(_mapping(entry, "table"), _TABLE, "table")
    name = _text(_wanted(entry, "name", "table"), "table.name")
    by = _wanted(entry, "by", "table")
    if not isinstance(by, list) or not by or not all(isinstance(part, str) for part in by):
        raise parameters.wrong_value("table.by", "a list of variables or columns", by)
    margins = entry.get("margins", False)
    if not isinstance(margins, bool):
        raise parameters.wrong_type("table.margins", "true or false", margins)
    columns: list[str] = []
    nested: list[tuple[str, ...]] = []
    for part in by:
        path = _path(part, variables)
        if set(path) & set(columns):
            raise parameters.wrong_value("table.by", "different variables", by)
        columns += path
        nested += [path] * (len(path) > 1)
    return Table(name, Layout(columns, margins, nested), entry.get("output"))


def _path(name: str, variables: Sequence[Variable]) -> tuple[str, ...]:
    for variable in variables:
        if name == variable.name:
            return variable.columns
        if name in variable.columns:
            return variable.columns[: variable.columns.index(name) + 1]
    names = ", ".join(variable.name for variable in variables)
    raise parameters.wrong_value("table.by", f"variables of the release ({names})", name)
