"""What noise on [−D, D] can do at ε if its pmf is free: the least δ, support and variance.

The least δ is that of the truncated geometric pmf e^(−ε|z|), and of no other, so it is the price
list for every other choice, maximum entropy included. Every δ counts both directions. What a
given variance allows is in `frontier`, which mixes the `Chain`s defined here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tablebuilder_dp import noise, privacy
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import Enclosure, exp, interval, log, to_digits, until

Array = NDArray[np.float64]

DIGITS = 30
"""Significant digits of an enclosure where nothing else is asked for."""


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


def geometric(*, support: int, rate: parameters.Number) -> Array:
    """p(−D), …, p(D) of the truncated two-sided geometric noise p(z) ∝ exp(−rate·|z|).

    >>> geometric(support=1, rate="0.5").round(6)
    array([0.274069, 0.451863, 0.274069])
    """
    half_width, slope = parameters.support(support), float(_rate(rate))
    weights = np.exp(-slope * np.abs(np.arange(-half_width, half_width + 1)))
    return np.asarray(weights / weights.sum())


def _rate(value: Any) -> Fraction:
    return parameters.number(value, "rate", high=parameters.EPSILON_MAX, includes="high")


def geometric_rate(*, support: int, variance: parameters.Number) -> float:
    """The rate at which `geometric` noise has variance V in (0, D(D+1)/3), in float64.

    V falls as the rate t grows, between D(D+1)/3 − t·D³/4 and 1/(cosh t − 1) (Theorem 31). Close to
    D(D+1)/3 digits are lost.

    >>> geometric_rate(support=25, variance=49)
    0.1873...
    """
    from scipy.optimize import brentq  # here, as its import outlasts most uses of the command line

    half_width = parameters.support(support)
    bound = noise.variance_bound(half_width)
    allowed = f"a number in (0, D(D+1)/3 = {bound}) for support {half_width}"
    target = parameters.number(variance, "variance", allowed=allowed)
    if target >= bound:
        raise parameters.wrong_value("variance", allowed, variance)
    z, wanted = np.arange(1.0, half_width + 1), float(target)

    def excess(rate: float) -> float:
        weights = 2 * np.exp(-rate * z)
        return float((z * z * weights).sum() - wanted * (1 + weights.sum()))

    low, high = float(4 * (bound - target)) / half_width**3, 2 * math.asinh(math.sqrt(0.5 / wanted))
    if excess(low) <= 0:  # nothing but rounding
        return low
    return float(brentq(excess, low, high * (1 + 1e-9), xtol=1e-300, rtol=1e-14))


def geometric_delta(epsilon: parameters.Number, *, support: int, rate: parameters.Number) -> float:
    """δ(ε) ≥ 1e-300 of `geometric` noise of any rate, to about 13 digits.

    All ratios of neighbours are e^rate. Up to rate ε only −D counts, δ = p(D). Beyond it the whole
    left half does: δ = p(D) + (1 − e^(ε−rate))·P(0 ≤ Z < D). Proof: Theorem 31.

    >>> geometric_delta("0.5", support=25, rate="0.5"), geometric_delta("0.5", support=25, rate=1)
    (9.12729478...e-07, 0.28764...)
    """
    level, slope = parameters.epsilon(epsilon), _rate(rate)
    masses = geometric(support=support, rate=slope)
    half = float(masses[len(masses) // 2 : -1].sum())
    delta = float(masses[-1]) - math.expm1(float(min(level - slope, Fraction(0)))) * half
    if delta < privacy.DELTA_MIN:
        where = f"for support {len(masses) // 2} and rate {float(slope)}"
        raise ValueError(f"delta is below {privacy.DELTA_MIN} {where}, beyond float64")
    return delta


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

    >>> least_delta("0.5", support=25).digits(12)
    '9.12729478501E-7'
    """
    level, half_width = parameters.epsilon(epsilon), parameters.support(support)
    return to_digits(digits, lambda: _edge(interval(level), half_width))


def _edge(level: Any, support: int) -> Any:
    growth = exp(level)
    return (growth - 1) / (exp(support * level) * (growth + 1) - 2)


def least_support(epsilon: parameters.Number, delta: parameters.Number) -> int:
    """The smallest D on which some noise is (ε, δ)-private: ⌈ln(((q − 1)/δ + 2)/(q + 1))/ε⌉.

    This is `least_delta` ≤ δ solved for D. Equality never happens, so enclosures decide the ceiling.
    Proof: Theorem 30.

    >>> least_support("0.5", "1e-4")
    16
    """
    level, target = parameters.epsilon(epsilon), parameters.delta(delta)

    def compute() -> Any:
        growth = exp(interval(level))
        return log(((growth - 1) / interval(target) + 2) / (growth + 1)) / interval(level)

    return math.ceil(until(lambda found: math.ceil(found.lower) == math.ceil(found.upper), compute).upper)


def least_variance(
    epsilon: parameters.Number, delta: parameters.Number, *, digits: int = DIGITS
) -> Enclosure:
    """The least variance of any unbiased (ε, δ)-private noise of bounded support.

    Biased noise can have less: equal masses on 0 and 1 have V = 1/4 and δ = 1/2 at every ε.

    With b + 1 = `least_support` it is V_b + (δ_b − δ)·2((b+1)² − V_b)/(q − 1 + 2δ_b), on the segment of the
    frontier that joins the geometric noises on [−b, b] and [−b−1, b+1]. Proof: Theorem 34.

    >>> least_variance("0.5", "1e-4").digits(12)
    '7.7...'
    """
    level, target = parameters.epsilon(epsilon), parameters.delta(delta)
    inner = least_support(level, target) - 1

    def compute() -> Any:
        edge, spread = _edge(interval(level), inner), _geometric_variance(interval(level), inner)
        reach = 2 * ((inner + 1) ** 2 - spread) / (exp(interval(level)) - 1 + 2 * edge)
        return spread + (edge - interval(target)) * reach

    return to_digits(digits, compute)


def geometric_variance(epsilon: parameters.Number, *, support: int, digits: int = DIGITS) -> Enclosure:
    """The variance of the noise e^(−ε|z|) on [−D, D] in closed form.

    With r = e^−ε, twice the sum r + 4r² + … + D²r^D =
    r·(1 + r − r^D·((D+1)² − (2D² + 2D − 1)·r + D²·r²))/(1 − r)³ is divided by the sum of all r^|z|, which
    is r^D over `least_delta`. Proof: Theorem 31.

    >>> geometric_variance("0.5", support=25).digits(12)
    '7.8...'
    """
    level, half_width = parameters.epsilon(epsilon), parameters.support(support)
    return to_digits(digits, lambda: _geometric_variance(interval(level), half_width))


def _geometric_variance(level: Any, support: int) -> Any:
    r, last, d = exp(-level), exp(-support * level), support
    inside = 1 + r - last * ((d + 1) ** 2 - (2 * d * d + 2 * d - 1) * r + d * d * r * r)
    return 2 * r * inside / (1 - r) ** 3 * _edge(level, support) / last
