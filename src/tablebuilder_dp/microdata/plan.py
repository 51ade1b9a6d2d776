"""The plan of a release: the noise that its tables would get, and what that means for their counts.

No record is read for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from tablebuilder_dp.beyond import many_cells
from tablebuilder_dp.beyond.many_cells import Choice
from tablebuilder_dp.microdata.account import counted
from tablebuilder_dp.sampling import LookupTable, rounded_up

if TYPE_CHECKING:
    from tablebuilder_dp.microdata.release import Release

COUNTS = (10, 100, 1000)
"""For counts of this size a plan tells how often they are off by more than a tenth."""

FACTORS = (Fraction(1, 2), Fraction(1), Fraction(2))
"""What a plan multiplies ε by, and δ by the cubes of ten, to show what tighter and looser ones would give."""


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
                    "cells": release.cells(table),
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
            f"  one person changes at most {counted(data['cells_changed'])} ({data['neighbours']})",
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
