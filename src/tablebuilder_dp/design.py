"""Sections III-C and III-D: choosing γ, the variance and the support for a wanted (ε, δ).

Keeping z* = −D for every ε removes the plateau: γ then lies in [ε/(2D+1), ε/(2D−1)) and δ is
p(−D) alone, which Proposition 3 states. ``slack`` says where in that range: γ = ε/(2D−1) + ι with
ι = −slack·2ε/(4D²−1), so slack 0 is the limit that the paper draws, 1/10 is the choice of its
Example 1, and 1 is the range's lower end. The design guide finds the smallest D for a wanted δ.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tablebuilder_dp import certified, privacy
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support import parameters

PAPER_SLACK = Fraction(1, 10)
"""The slack of all examples and experiments of the paper."""

PAPER_GRID = tuple(Fraction(step, 10_000) for step in range(1, 3001))
"""The γ = 0.0001, 0.0002, …, 0.3 over which the paper minimises δ numerically."""


@dataclass(frozen=True, init=False)
class Design(Noise):
    """A noise that remembers the ε for which it was chosen.

    >>> Design(25, "0.0102", epsilon=0.5)
    Design(support=25, gamma=Fraction(51, 5000), epsilon=Fraction(1, 2))
    """

    epsilon: Fraction

    def __init__(self, support: int, gamma: parameters.Number, *, epsilon: parameters.Number) -> None:
        """Check D, γ and ε; a ValueError or TypeError names what is wrong."""
        super().__init__(support, gamma)
        object.__setattr__(self, "epsilon", parameters.epsilon(epsilon))

    @property
    def iota(self) -> Fraction:
        """ι = γ − ε/(2D−1)."""
        return self.gamma - self.epsilon / (2 * self.support - 1)

    @property
    def slack(self) -> Fraction:
        """Where γ lies in the range of Proposition 3: 0 at its upper end, 1 at its lower one."""
        return -self.iota * (4 * self.support**2 - 1) / (2 * self.epsilon)

    @cached_property
    def delta(self) -> float:
        """δ(ε): for a noise of Proposition 3, p(−D).

        Raises ValueError where it is below ``privacy.DELTA_MIN``.
        """
        return float(privacy.delta(self, self.epsilon))


class Range(NamedTuple):
    """The two ends of a range, smaller one first."""

    low: Fraction | float
    high: Fraction | float


@dataclass(frozen=True)
class Ranges:
    """What γ, V, C and δ may be while z* = −D.

    γ and C reach their lower ends but not their upper ones; V and δ, which fall as γ grows,
    the other way round.
    """

    gamma: Range
    variance: Range
    normaliser: Range
    delta: Range


def proposition_3(
    epsilon: parameters.Number, *, support: int, slack: parameters.Number = PAPER_SLACK
) -> Design:
    """The noise that Proposition 3 gives for ε and D, with its variance and its δ (Theorem 9).

    >>> design = proposition_3("0.5", support=25)
    >>> design.delta, design.variance, design.iota
    (9.91298081598...e-05, 49.0021671489..., Fraction(-1, 24990))
    """
    level, half_width = parameters.epsilon(epsilon), parameters.support(support)
    share = parameters.slack(slack)
    return Design(half_width, _gamma(level, half_width, share), epsilon=level)


def _gamma(epsilon: Fraction, support: int, slack: Fraction) -> Fraction:
    """γ = ε/(2D−1) + ι, written as the mean of its range's ends that it is."""
    return (1 - slack) * epsilon / (2 * support - 1) + slack * epsilon / (2 * support + 1)


def ranges(epsilon: parameters.Number, *, support: int) -> Ranges:
    """The ranges of γ, V, C and δ for which z* = −D (Theorem 9).

    Raises ValueError where a δ is below ``privacy.DELTA_MIN``.

    >>> ranges("0.5", support=25).gamma
    Range(low=Fraction(1, 102), high=Fraction(1, 98))
    """
    low = proposition_3(epsilon, support=support, slack=1)
    high = proposition_3(epsilon, support=support, slack=0)
    return Ranges(
        gamma=Range(low.gamma, high.gamma),
        variance=Range(high.variance, low.variance),
        normaliser=Range(low.normaliser, high.normaliser),
        delta=Range(high.delta, low.delta),
    )


class BestOnGrid(NamedTuple):
    """The smallest δ on a grid of γ, and where it is."""

    gamma: float
    delta: float


def best_delta_on_grid(
    epsilon: parameters.Number,
    *,
    support: int,
    gammas: tuple[parameters.Number, ...] = PAPER_GRID,
) -> BestOnGrid:
    """The least δ(ε) of Proposition 2 over a grid of γ: the paper's numerical optimum.

    Raises ValueError where that δ is below ``privacy.DELTA_MIN``.

    >>> best_delta_on_grid("0.5", support=11)
    BestOnGrid(gamma=0.0294, delta=0.0038536...)
    """
    level, half_width = float(parameters.epsilon(epsilon)), parameters.support(support)
    rates, _, _ = parameters.many(gammas, "gammas", parameters.gamma, high=parameters.GAMMA_MAX)
    z = np.arange(-half_width, 1, dtype=np.float64)
    pieces = []
    for part in np.array_split(rates, -(-len(rates) * len(z) // 10**6)):
        weights = np.exp(-part[:, None] * z**2)
        total = 2 * weights[:, :-1].sum(axis=1) + 1
        # The positive part of p(z) − e^ε·p(z−1) is p(z)·(1 − e^−t) with t = γ(1 − 2z) − ε.
        t = np.maximum(part[:, None] * (1 - 2 * z[1:]) - level, 0)
        pieces.append((weights[:, 0] - (weights[:, 1:] * np.expm1(-t)).sum(axis=1)) / total)
    deltas = np.concatenate(pieces)
    best = int(deltas.argmin())
    if deltas[best] < privacy.DELTA_MIN:
        allowed = f"such that delta stays above {privacy.DELTA_MIN}"
        raise parameters.wrong_value("gammas", allowed, f"delta near 0 at gamma {rates[best]:g}")
    return BestOnGrid(float(rates[best]), float(deltas[best]))


def guide(
    epsilon: parameters.Number, delta: parameters.Number, *, slack: parameters.Number = PAPER_SLACK
) -> Design:
    """The design guide: the smallest support D* whose Proposition 3 noise reaches δ at ε.

    δ_D falls strictly as D grows. A search by bisection therefore finds D*, and enclosures of δ at
    D* and D* − 1 prove it: float64 only proposes. Proof: Theorem 10.

    Raises ValueError where no support up to ``parameters.SUPPORT_MAX`` reaches δ, and ArithmeticError where
    ``MAX_BITS`` bits do not decide.

    >>> guide("0.5", "1e-4").support
    25
    """
    level, target = parameters.epsilon(epsilon), parameters.delta(delta)
    share = parameters.slack(slack)
    half_width = _proposed_support(level, target, share)

    def reaches(support: int) -> bool:
        return certified.edge_reaches(Noise(support, _gamma(level, support, share)), target)

    while not reaches(half_width):
        half_width += 1
    while half_width > 1 and reaches(half_width - 1):
        half_width -= 1
    return proposition_3(level, support=half_width, slack=share)


def _proposed_support(epsilon: Fraction, delta: Fraction, slack: Fraction) -> int:
    """The smallest D with δ_D ≤ δ, as far as float64 can tell."""
    target = math.log(delta.numerator) - math.log(delta.denominator)

    def reaches(support: int) -> bool:
        return bool(Noise(support, _gamma(epsilon, support, slack)).log_pmf[0] <= target)

    high = 1
    while not reaches(high):
        if high == parameters.SUPPORT_MAX:
            allowed = f"reachable at epsilon {float(epsilon)} with a support of at most {high}"
            raise parameters.wrong_value("delta", allowed, float(delta))
        high = min(2 * high, parameters.SUPPORT_MAX)
    return bisect_left(range(high), True, lo=high // 2 + 1, key=reaches)
