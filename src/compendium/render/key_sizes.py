"""How large KEYSIZE must be, for Example 1: the answers that stand apart elsewhere, in their order.

Numbers that a notebook recorded are taken from there. The two bounds that hold before a table is built are
enclosed here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from tablebuilder_dp import certified, design
from tablebuilder_dp.support import intervals
from tablebuilder_dp.support.intervals import Ball

MARKS = ("<!-- key sizes", "<!-- end of key sizes -->")
BITS = 128


def bounds() -> tuple[int, int, int]:
    """The least KEYSIZE with full support, and for ε in both directions by Theorem 15 and by notebook 9."""
    noise = design.guide("0.5", "1e-4")
    level = Fraction(noise.epsilon)
    with intervals.precision(BITS):
        delta = intervals.ball(certified.pmf(noise, -noise.support, digits=30))
        tau = intervals.ball(Fraction(noise.slack) * level / (2 * noise.support + 1))
        theorem = (1 + (-intervals.ball(level)).exp()) / ((1 - (-2 * tau).exp()) * delta)
        return ceiling(1 / delta), ceiling(theorem), ceiling(1 / (tau.tanh() * delta))


def ceiling(value: Ball) -> int:
    """The one whole number that all of an enclosure rounds up to."""
    ends = intervals.enclosure(value)
    least, most = math.ceil(ends.lower), math.ceil(ends.upper)
    if least != most:
        raise ArithmeticError(f"an enclosure from {least} to {most} does not decide the ceiling")
    return least


def table(numbers: Mapping[str, Mapping[str, str]]) -> str:
    """The answers as a Markdown table, the weakest demand first."""
    full, theorem, rule = bounds()
    better, ceilings = numbers["12-better-tables"], int(numbers["12-better-tables"]["12-second-ceiling-bits"])
    symmetric, paper = int(better["12-second-smallest"]), int(numbers["17-explorer"]["17-keysize"])
    if 2 ** int(numbers["07-sampling"]["07-bits-needed"]) != _power(full):
        raise ValueError("notebook 7 and the enclosure disagree about full support")
    rows = (
        ("every noise value has a key", "KEYSIZE·δ ≥ 1", *_sizes(full), _link("09", "cell-key-size")),
        (
            "a symmetric table keeps ε in both directions, and δ",
            "decided exactly, [Theorem 27](../paper/proofs.md#theorem-27-the-key-sizes-that-keep-ε-and-δ)",
            *_sizes(symmetric),
            _link("12", "better-tables"),
        ),
        (
            "the paper's ceilings keep ε in both directions",
            "looked up, power by power",
            "–",
            _raised(2**ceilings),
            _link("12", "better-tables"),
        ),
        (
            "the same, known before the table is built",
            "a bound, [Theorem 15](../paper/proofs.md#theorem-15-what-a-lookup-table-promises)",
            *_sizes(theorem),
            "–",
        ),
        (
            "the same, by the shorter rule of notebook 9",
            "a coarser bound",
            *_sizes(rule),
            _link("09", "cell-key-size"),
        ),
        (
            "the paper's advice, for its whole experiment",
            "tried on its grid of ε",
            "–",
            _raised(paper),
            _link("09", "cell-key-size"),
        ),
    )
    heads = ("what is asked", "how it is known", "least KEYSIZE", "power of two", "notebook")
    lines = [f"| {' | '.join(heads)} |", "|---|---|---:|---:|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _sizes(least: int) -> tuple[str, str]:
    return f"{least:,}".replace(",", " "), _raised(_power(least))


def _power(least: int) -> int:
    """The first power of two that is not smaller."""
    return 1 << (least - 1).bit_length()


def _raised(power: int) -> str:
    return f"2<sup>{power.bit_length() - 1}</sup>"


def _link(number: str, slug: str) -> str:
    return f"[{int(number)}](../notebooks/{number}-{slug}.ipynb)"
