"""What noise on [−D, D] can do at ε if its pmf is free: the least δ, support and variance.

The least δ is that of the truncated geometric pmf e^(−ε|z|), and of no other, so it is the price
list for every other choice, maximum entropy included. Every δ counts both directions. What a
given variance allows is in `frontier`, which mixes the `Chain`s defined here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tablebuilder_dp import privacy
from tablebuilder_dp.certified import DIGITS
from tablebuilder_dp.noise import Array
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import Ball, Enclosure, ball, exponential, to_digits, until


class Measures(NamedTuple):
    """What a methodologist weighs beside δ: variance, entropy in nats, P(Z = 0)."""

    variance: float
    entropy: float
    unchanged: float


def measures(pmf: ArrayLike) -> Measures:
    """Variance, entropy and P(Z = 0), the share of counts that stay as they are, of a pmf on [−D, D].

    δ is not among them: where neighbouring masses have ratio e^ε, a float64 pmf does not tell on which
    side they are. Its own formulas give it to all digits.

    >>> measures([0.25, 0.5, 0.25])
    Measures(variance=0.5, entropy=1.0397..., unchanged=0.5)
    """
    masses = privacy.neighbours(pmf)[0][:-1]
    if len(masses) % 2 == 0:
        raise parameters.wrong_value("pmf", "of odd length 2D + 1", masses)
    half_width = len(masses) // 2
    z = np.arange(-half_width, half_width + 1)
    positive = masses[masses > 0]
    return Measures(
        variance=math.fsum((z - math.fsum(z * masses)) ** 2 * masses),
        entropy=-math.fsum(positive * np.log(positive)),
        unchanged=float(masses[half_width]),
    )


@dataclass(frozen=True)
class Chain:
    """A symmetric pmf on inner ≤ |z| ≤ outer that falls by e^ε a step outwards from |z| = hump.

    Inwards it falls as well or, if ``flat``, not at all. (0, 0, D) is the geometric noise on [−D, D],
    (0, 0, 0) is no noise; (0, D, D) is, if flat, the uniform noise.
    """

    inner: int
    hump: int
    outer: int
    flat: bool = False

    @property
    def steps(self) -> list[int]:
        """For |z| = inner, …, outer the power of e^−ε in the mass, relative to the hump."""
        values = range(self.inner, self.outer + 1)
        return [max(z - self.hump, 0) if self.flat else abs(z - self.hump) for z in values]

    def pmf(self, epsilon: parameters.Number, *, support: int) -> Array:
        """p(−D), …, p(D).

        >>> Chain(0, 1, 1, flat=True).pmf(1, support=2).round(3)
        array([0.   , 0.333, 0.333, 0.333, 0.   ])
        """
        half_width = parameters.integer(support, "support", low=self.outer, high=parameters.SUPPORT_MAX)
        half = np.zeros(half_width + 1)
        half[self.inner : self.outer + 1] = np.exp(-float(parameters.epsilon(epsilon)) * np.array(self.steps))
        return np.asarray(np.concatenate([half[:0:-1], half]) / (2 * half.sum() - half[0]))


def least_delta(epsilon: parameters.Number, *, support: int, digits: int = DIGITS) -> Enclosure:
    """The least δ at ε of any pmf on [−D, D]: (q − 1)/(q^(D+1) + q^D − 2) with q = e^ε.

    The truncated geometric noise e^(−ε|z|) has it, and no other. Proof: Theorem 30.

    Raises ArithmeticError where ``MAX_BITS`` bits do not give the digits.

    >>> least_delta("0.5", support=25).digits(12)
    '9.12729478501E-7'
    """
    level, half_width = parameters.epsilon(epsilon), parameters.support(support)
    return to_digits(digits, lambda: _edge(level, half_width))


def _edge(level: Fraction, support: int) -> Ball:
    growth = exponential(level)
    return (growth - 1) / (exponential(support * level) * (growth + 1) - 2)


def least_support(epsilon: parameters.Number, delta: parameters.Number) -> int:
    """The smallest D on which some noise is (ε, δ)-private: ⌈ln(((q − 1)/δ + 2)/(q + 1))/ε⌉.

    This is `least_delta` ≤ δ solved for D. Equality never happens, so enclosures decide the ceiling.
    Proof: Theorem 30.

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> least_support("0.5", "1e-4")
    16
    """
    level, target = parameters.epsilon(epsilon), parameters.delta(delta)

    def compute() -> Ball:
        growth = exponential(level)
        return (((growth - 1) / ball(target) + 2) / (growth + 1)).log() / ball(level)

    return math.ceil(until(lambda ends: math.ceil(ends.lower) == math.ceil(ends.upper), compute).upper)


def least_variance(
    epsilon: parameters.Number, delta: parameters.Number, *, digits: int = DIGITS
) -> Enclosure:
    """The least variance of any unbiased (ε, δ)-private noise of bounded support.

    Biased noise can have less: equal masses on 0 and 1 have V = 1/4 and δ = 1/2 at every ε.

    With b + 1 = `least_support` it is V_b + (δ_b − δ)·2((b+1)² − V_b)/(q − 1 + 2δ_b), on the segment of the
    frontier that joins the geometric noises on [−b, b] and [−b−1, b+1]. Proof: Theorem 34.

    Raises ArithmeticError where ``MAX_BITS`` bits do not give the digits.

    >>> least_variance("0.5", "1e-4").digits(12)
    '7.7...'
    """
    level, target = parameters.epsilon(epsilon), parameters.delta(delta)
    inner = least_support(level, target) - 1

    def compute() -> Ball:
        edge, spread = _edge(level, inner), _geometric_variance(level, inner)
        reach = 2 * ((inner + 1) ** 2 - spread) / (exponential(level) - 1 + 2 * edge)
        return spread + (edge - ball(target)) * reach

    return to_digits(digits, compute)


def _geometric_variance(level: Fraction, support: int) -> Ball:
    """The variance of the noise e^(−ε|z|) on [−D, D] in closed form, for D ≥ 0.

    With r = e^−ε, twice the sum r + 4r² + … + D²r^D =
    r·(1 + r − r^D·((D+1)² − (2D² + 2D − 1)·r + D²·r²))/(1 − r)³ is divided by the sum of all r^|z|, which
    is r^D over `least_delta`. Proof: Theorem 31.
    """
    r, last, d = exponential(-level), exponential(-support * level), support
    inside = 1 + r - last * ((d + 1) ** 2 - (2 * d * d + 2 * d - 1) * r + d * d * r * r)
    return 2 * r * inside / (1 - r) ** 3 * _edge(level, support) / last
