"""How large KEYSIZE must be, for Example 1: the answers that stand apart elsewhere, in their order.

Numbers that a notebook recorded are taken from there. Bounds that hold before a table is built are enclosed
here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from tablebuilder_dp import certified, design
from tablebuilder_dp.support import intervals
from tablebuilder_dp.support.intervals import Ball

MARKS = ("<!-- key sizes", "<!-- end of key sizes -->")
BITS = 128


class Bounds(NamedTuple):
    """The least KEYSIZE for each demand that is decided before a table is built."""

    support: int
    """Every noise value has a key."""
    percent: int
    """δ^Q is within one per cent of δ, however the ceiling falls."""
    epsilon: int
    """The ceilings keep ε in both directions, by Theorem 15."""
    experiment: int
    """The same for every noise of the paper's experiment."""


def bounds() -> Bounds:
    """The bounds for Example 1, and the last for the designs of Section V-C."""
    noise = design.guide("0.5", "1e-4")
    grid = [design.proposition_3(Fraction(k, 10), support=10) for k in range(1, 26)]
    with intervals.precision(BITS):
        share = 1 / _end(noise)
        return Bounds(ceiling(share), ceiling(100 * share), theorem_15(noise), max(map(theorem_15, grid)))


def theorem_15(noise: design.Design) -> int:
    """The bound of Theorem 15, from which on the ceilings keep ε in both directions."""
    level = Fraction(noise.epsilon)
    with intervals.precision(BITS):
        tau = intervals.ball(Fraction(noise.slack) * level / (2 * noise.support + 1))
        return ceiling((1 + (-intervals.ball(level)).exp()) / ((1 - (-2 * tau).exp()) * _end(noise)))


def _end(noise: design.Design) -> Ball:
    return intervals.ball(certified.pmf(noise, -noise.support, digits=30))


def ceiling(value: Ball) -> int:
    """The one whole number that all of an enclosure rounds up to."""
    ends = intervals.enclosure(value)
    least, most = math.ceil(ends.lower), math.ceil(ends.upper)
    if least != most:
        raise ArithmeticError(f"an enclosure from {least} to {most} does not decide the ceiling")
    return least


def table(numbers: Mapping[str, Mapping[str, str]]) -> str:
    """The answers as a Markdown table, the weakest demand first."""
    least = bounds()
    if 2 ** int(numbers["07-sampling"]["07-bits-needed"]) != _power(least.support):
        raise ValueError("notebook 7 and the enclosure disagree about full support")
    better, paper = numbers["12-better-tables"], int(numbers["17-explorer"]["17-keysize"])
    bound = "[Theorem 15](../paper/proofs.md#theorem-15-what-a-lookup-table-promises)"
    decided = "[Theorem 27](../paper/proofs.md#theorem-27-the-key-sizes-that-keep-ε-and-δ)"
    nine, twelve = _link("09", "cell-key-size"), _link("12", "better-tables")
    rows = (
        ("every noise value has a key", "KEYSIZE·δ ≥ 1", *_sizes(least.support), nine),
        (
            "a symmetric table keeps ε in both directions, and δ",
            f"decided exactly, {decided}",
            *_sizes(int(better["12-second-smallest"])),
            twelve,
        ),
        (
            "the paper's table surely has δ<sup>Q</sup> within 1% of δ, from here on",
            "KEYSIZE·δ ≥ 100 is enough",
            *_sizes(least.percent),
            nine,
        ),
        (
            "the paper's table keeps ε in both directions",
            "tried, power by power",
            "–",
            _raised(2 ** int(better["12-second-ceiling-bits"])),
            twelve,
        ),
        ("the same, known before it is built", bound, *_sizes(least.epsilon), nine),
        ("the same, for every noise of the paper's experiment", bound, *_sizes(least.experiment), nine),
        ("the paper's advice", "of three sizes that were tried", "–", _raised(paper), nine),
    )
    heads = ("what is asked", "how it is known", "KEYSIZE from", "power of two", "notebook")
    lines = [f"| {' | '.join(heads)} |", "|---|---|---:|---:|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _sizes(least: int) -> tuple[str, str]:
    return f"{least:,}".replace(",", "\N{NARROW NO-BREAK SPACE}"), _raised(_power(least))


def _power(least: int) -> int:
    """The first power of two that is not smaller."""
    return 1 << (least - 1).bit_length()


def _raised(power: int) -> str:
    return f"2<sup>{power.bit_length() - 1}</sup>"


def _link(number: str, slug: str) -> str:
    return f"[{int(number)}](../notebooks/{number}-{slug}.ipynb)"
