"""What noise on [−D, D] can do at ε if its pmf is free: the least δ and the least support.

The least δ is that of the truncated geometric pmf e^(−ε|z|), and of no other, so it is the price
list for every other choice, maximum entropy included. Every δ counts both directions. What a
given variance allows is in `frontier`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tablebuilder_dp import parameters, privacy
from tablebuilder_dp.intervals import Enclosure, exp, interval, log, to_digits, until

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
    half_width = parameters.support(support)
    slope = float(parameters.number(rate, "rate", high=parameters.EPSILON_MAX, includes="high"))
    weights = np.exp(-slope * np.abs(np.arange(-half_width, half_width + 1)))
    return np.asarray(weights / weights.sum())


def geometric_delta(epsilon: parameters.Number, *, support: int, rate: parameters.Number) -> float:
    """δ(ε) of `geometric` noise of any rate, to about 13 digits.

    All ratios of neighbours are e^rate. Up to rate ε only −D counts, δ = p(D). Beyond it the whole
    left half does: δ = p(D) + (1 − e^(ε−rate))·P(0 ≤ Z < D), by symmetry.

    >>> geometric_delta("0.5", support=25, rate="0.5"), geometric_delta("0.5", support=25, rate=1)
    (9.12729478...e-07, 0.28764...)
    """
    excess = parameters.epsilon(epsilon) - parameters.number(rate, "rate")
    masses = geometric(support=support, rate=rate)
    half = float(masses[len(masses) // 2 : -1].sum())
    return float(masses[-1]) - math.expm1(float(min(excess, Fraction(0)))) * half


def least_delta(epsilon: parameters.Number, *, support: int, digits: int = DIGITS) -> Enclosure:
    """The least δ at ε of any pmf on [−D, D]: (q − 1)/(q^(D+1) + q^D − 2) with q = e^ε.

    Proof. Privacy of the event {Z ≤ y} says P(Z ≤ y) ≤ q·P(Z ≤ y−1) + δ. From y = −D upwards,
    P(Z ≤ 0) ≤ δ·(1 + q + … + q^D). In the other direction P(Z ≥ 1) ≤ δ·(1 + … + q^(D−1)). The sum of
    the left sides is 1. For e^(−ε|z|) all steps are equalities, as only −D (or D) counts. And
    it is the only minimiser: equality in the sum forces equality in each step, so that p(y) =
    P(Z ≤ y) − P(Z ≤ y−1) = δ·q^(D+y) for y ≤ 0 and likewise p(y) = δ·q^(D−y) for y ≥ 1.

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

    This is `least_delta` ≤ δ solved for D. Equality would make q = e^ε a root of the polynomial
    δ·(x^(D+1) + x^D − 2) − x + 1 with rational coefficients; as q is transcendental for a rational
    ε > 0 (Lindemann), it never happens, and enclosures decide the ceiling.

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

    By the theorem of `frontier.vertices` the least δ at variance V falls along the segments that
    join the geometric noises on [−b, b], b = 0, …, D. With b + 1 = `least_support` it passes the
    wanted δ between b and b + 1, whatever D is. Relative to their edges, the masses of the two
    have sums N and qN + 2, and sums weighted with z² of M and qM + 2(b+1)²; since δ = 1/N and
    V = M/N, the segment is V = V_b + (δ_b − δ)·2((b+1)² − V_b)/(q − 1 + 2δ_b).

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
    is r^D over `least_delta`. (The sum grows by (D+1)²·r^(D+1) from D to D + 1 on both sides.)

    >>> geometric_variance("0.5", support=25).digits(12)
    '7.8...'
    """
    level, half_width = parameters.epsilon(epsilon), parameters.support(support)
    return to_digits(digits, lambda: _geometric_variance(interval(level), half_width))


def _geometric_variance(level: Any, support: int) -> Any:
    r, last, d = exp(-level), exp(-support * level), support
    inside = 1 + r - last * ((d + 1) ** 2 - (2 * d * d + 2 * d - 1) * r + d * d * r * r)
    return 2 * r * inside / (1 - r) ** 3 * _edge(level, support) / last
