"""What (ε, δ) for k cells together costs: the same promise by several theorems and by several noises."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from tablebuilder_dp import design
from tablebuilder_dp.beyond import composition, many_cells
from tablebuilder_dp.design import Design
from tablebuilder_dp.support import parameters

SHARES = (0.5, 0.1, 0.3, 0.7, 0.9, 0.97)
"""Parts of δ that the single cells may have together, where a theorem wants the rest for itself."""


class Costs(NamedTuple):
    """The variance that each way needs for the same (ε, δ) of k cells."""

    guide_basic: float
    guide_advanced: float
    guide_optimal: float
    discrete_gaussian: float
    max_entropy: float
    geometric: float


def costs(epsilon: parameters.Number, delta: parameters.Number, *, cells: int) -> Costs:
    """The variances side by side: the paper's guide by three theorems, a Gaussian by zCDP, both families.

    >>> [round(variance, 1) for variance in costs(1, "1e-6", cells=4)]
    [362.4, 2737.3, 362.4, 114.5, 72.1, 32.1]
    """
    level, target = parameters.epsilon(epsilon), parameters.delta(delta)
    basic, advanced, optimal = (
        guided(level, target, cells=cells, theorem=name).variance for name in composition.Bounds._fields
    )
    paper, geometric = (
        many_cells.best(level, target, cells=cells, family=name).variance for name in many_cells.FAMILIES[1:]
    )
    return Costs(basic, advanced, optimal, gaussian(level, target, cells=cells), paper, geometric)


def gaussian(epsilon: Fraction, delta: Fraction, *, cells: int) -> float:
    """σ² of the discrete Gaussian on all integers, which is ρ-zCDP for k cells with ρ = k/(2σ²).

    That gives ε = ρ + 2·sqrt(ρ·ln(1/δ)) (Bun and Steinke 2016; Canonne, Kamath and Steinke 2020); the
    variance of the noise is at most σ².

    >>> round(gaussian(Fraction(1), Fraction("1e-6"), cells=1), 2)
    28.62
    """
    room = -math.log(delta)
    return cells / (2 * (math.sqrt(room + epsilon) - math.sqrt(room)) ** 2)


def guided(epsilon: Fraction, delta: Fraction, *, cells: int, theorem: str) -> Design:
    """The paper's guide for each cell, with the (ε₁, δ₁) of least variance that a theorem lets k cells have.

    ``theorem`` is "basic", "advanced" or "optimal", as in `composition.bounds`.

    >>> guided(Fraction(1), Fraction("1e-6"), cells=4, theorem="basic").support
    91
    """
    return min(_guides(epsilon, delta, cells, theorem), key=lambda made: made.variance)


def _guides(epsilon: Fraction, delta: Fraction, cells: int, theorem: str) -> Iterator[Design]:
    for share in {"basic": (1.0,), "advanced": SHARES, "optimal": (1.0, *SHARES)}[theorem]:
        edge = share * float(delta) / cells
        low, high = 0.0, float(epsilon)
        while high - low > 1e-6 * high:
            middle = (low + high) / 2
            kept = getattr(composition.bounds(middle, edge, cells=cells, total=delta), theorem) <= epsilon
            low, high = (middle, high) if kept else (low, middle)
        yield design.guide(low, edge)
