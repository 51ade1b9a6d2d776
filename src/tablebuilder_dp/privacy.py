"""Section III-B: the (ε, δ) of one noisy count.

Neighbouring tables differ by one in a count, so δ(ε) compares the noise with itself shifted by
one. Proposition 2 gives it in closed form from E*, the noise values whose privacy loss exceeds ε.
Here are E*, F*, z*, that closed form for any number of ε at once, its plateau and its inverse,
and the hockey-stick divergence of any two pmfs, which needs no formula at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from tablebuilder_dp.noise import AnyNoise, Array, Geometric, Noise, check
from tablebuilder_dp.support import lattice, parameters
from tablebuilder_dp.support.lattice import Lattice

Numbers = parameters.Number | Sequence[parameters.Number] | Array

DELTA_MIN = 1e-300
"""Below this δ float64 runs out of room; `certified.delta` does not."""


def z_star(noise: Noise, epsilon: parameters.Number) -> int:
    """z* = ⌊1/2 − ε/(2γ)⌋, decided in rational arithmetic.

    Returns an integer, which may be below −D.

    >>> noise = Noise(11, "0.125")
    >>> z_star(noise, "0.5"), z_star(noise, "0.125")
    (-2, 0)
    """
    if not isinstance(noise, Noise):
        raise parameters.wrong_type("noise", "a Noise", noise)
    return math.floor(Fraction(1, 2) - parameters.epsilon(epsilon) / (2 * noise.gamma))


def e_star(noise: AnyNoise, epsilon: parameters.Number) -> range:
    """E*: the z in [−D, D+1] with p(z)/p(z−1) > e^ε, an interval that starts at −D.

    Where 1/2 − ε/(2γ) is an integer, z* itself has ratio exactly e^ε and is not in E*; its term
    in Proposition 2 is zero, so δ does not notice. Proof: Theorem 8.

    >>> e_star(Noise(11, "0.125"), "0.5"), e_star(Geometric(11, "0.5"), "0.5")
    (range(-11, -1), range(-11, -10))
    """
    level = parameters.epsilon(epsilon)
    slope, curvature = check(noise).rates
    if curvature:
        last = math.ceil(Fraction(1, 2) - level / (2 * curvature)) - 1
    else:
        last = 0 if slope > level else -noise.support
    return range(-noise.support, max(-noise.support, last) + 1)


def f_star(noise: AnyNoise, epsilon: parameters.Number) -> range:
    """F* = E* without −D: the values that add to δ beyond the unavoidable p(−D).

    Returns a range, which is empty from the plateau on.

    >>> len(f_star(Noise(11, "0.125"), 3))
    0
    """
    return e_star(noise, epsilon)[1:]


@dataclass(frozen=True)
class Plateau:
    """From ε = ``onset`` on, γ(2D − 1) for the paper's noise, δ stays at ``height`` = p(−D)."""

    onset: Fraction
    height: float


def plateau(noise: AnyNoise) -> Plateau:
    """Where the first case of Proposition 2 begins and the δ at which it stays (Theorem 8).

    Raises ValueError where that δ is below ``DELTA_MIN``.

    >>> plateau(Noise(11, "0.125"))
    Plateau(onset=Fraction(21, 8), height=5.38488...e-08)
    """
    height = float(check(noise).pmf[0])
    _check_representable(height, noise)
    return Plateau(onset=noise.loss(1 - noise.support), height=height)


def delta(noise: AnyNoise, epsilon: Numbers) -> Any:
    """δ(ε) by Proposition 2: a float for one ε, an array for a sequence of them.

    δ is piecewise linear in e^ε with a kink wherever z* moves, at ε_z = γ(1 − 2z). Between kinks
    δ(ε) = K(z*) + (1 − e^−t)·B(z*) with t = ε_z* − ε ≥ 0, K(z) = δ(ε_z) and B(z) = e^(ε_z)·P(Z < z).
    K and B are prefix sums of positive numbers, so nothing cancels, and the cost is O(D + number
    of ε). (Near a kink at a large ε, δ hangs on the last digits of ε; those few are done exactly.)
    Proof: Theorem 8.

    Raises ValueError where a δ is below ``DELTA_MIN``.

    >>> noise = Noise(11, "0.125")
    >>> delta(noise, "0.5")
    0.054007226...
    >>> delta(noise, [0.5, 1]).round(7)
    array([0.0540072, 0.0072488])
    >>> delta(Geometric(25, "0.5"), ["0.5", "0.25"])
    array([9.12729...e-07, 1.37...e-01])
    """
    check(noise)
    values, given, single = parameters.many(
        epsilon, "epsilon", parameters.epsilon, high=parameters.EPSILON_MAX
    )
    if isinstance(noise, Geometric):
        result = _geometric_delta(noise, given)
    else:
        result = _max_entropy_delta(noise, values, given)
    _check_representable(float(result.min()), noise)
    return float(result[0]) if single else result


def _max_entropy_delta(noise: Noise, values: Array, given: Any) -> Array:
    support, slope = noise.support, float(noise.gamma)
    onsets, heights, slopes = _kinks(support, slope)
    # z* + D; rounding may put it on the other side of a kink, where the formula gives the same.
    index = np.maximum(values * (-0.5 / slope) + (support + 0.5), 0).astype(np.intp)
    result: Array = values - onsets[index]  # −t; on the plateau it is positive, but B(−D) = 0
    np.expm1(result, out=result)
    result *= slopes[index]
    np.subtract(heights[index], result, out=result)
    # Rounding ε or γ moves t by about 4e-16·ε. Where δ would feel that, t is computed exactly; as
    # B/K stays below (1 + e^ε)/(1 − e^−2γ), most noises have no such place.
    edge = slope * (2 * support - 1)
    if edge > 100 or edge * (1 + math.exp(edge)) > -250 * math.expm1(-2 * slope):
        sensitive = onsets * slopes > 250 * heights
        sensitive[:-1] |= sensitive[1:]  # rounding may have missed the true z* by one
        plateau = (index == 0) & (values > edge * (1 + 1e-14))
        for i in np.flatnonzero(sensitive[index] & ~plateau):
            exact = parameters.epsilon(given[int(i)])
            z = max(-support, z_star(noise, exact))
            t = float(max(noise.gamma * (1 - 2 * z) - exact, Fraction(0)))
            result[i] = heights[z + support] - math.expm1(-t) * slopes[z + support]
    return result


def _geometric_delta(noise: Geometric, given: Any) -> Array:
    """Up to rate ε only −D counts, beyond it all of [−D, 0], with ratios e^rate (Theorem 31)."""
    half = float(noise.pmf[noise.support : -1].sum())
    above = (max(noise.loss(0) - parameters.epsilon(level), Fraction(0)) for level in given)
    return np.array([float(noise.pmf[0]) - math.expm1(-float(t)) * half for t in above])


def _kinks(support: int, gamma: float) -> tuple[Array, Array, Array]:
    """ε_z, K(z) and B(z) of `delta` for z = −D, …, 0."""
    z = np.arange(-support, 1.0)
    weights = np.exp(z * z * -gamma)
    below = _prefix_sums(weights)
    total = 2 * below.item(-1) - 1
    # B(z) = p(z)·P(Z < z)/p(z−1); where p(z−1) underflows, that last ratio is 1.
    slopes = np.empty(support + 1)
    slopes[0] = 0
    if weights[0] > 0:
        np.divide(below[:-1], weights[:-1], out=slopes[1:])
    else:
        slopes[1:] = 1
        np.divide(below[:-1], weights[:-1], out=slopes[1:], where=weights[:-1] > 0)
    slopes *= weights
    rises = np.empty(support + 1)
    rises[0] = weights[0]
    np.multiply(slopes[:-1], -math.expm1(-2 * gamma), out=rises[1:])
    return gamma - 2 * gamma * z, _prefix_sums(rises) / total, slopes / total


def _prefix_sums(values: Array) -> Array:
    """Cumulative sums in two levels: 10^6 terms gather the rounding of about 2000."""
    block = 1024
    if len(values) <= block:
        return values.cumsum()
    padded = np.zeros(-(-len(values) // block) * block)
    padded[: len(values)] = values
    within = padded.reshape(-1, block).cumsum(axis=1)
    within[1:] += within[:-1, -1].cumsum()[:, None]
    return within.ravel()[: len(values)]


def _check_representable(delta: float, noise: AnyNoise) -> None:
    if delta < DELTA_MIN:
        name, rate = ("gamma", noise.rates[1]) if isinstance(noise, Noise) else ("rate", noise.rates[0])
        raise ValueError(
            f"delta is below {DELTA_MIN} for support {noise.support} and {name} {float(rate)}, "
            "beyond float64; certified.delta encloses it"
        )


def epsilon(noise: AnyNoise, delta: Numbers) -> Any:
    """The smallest ε ≥ 0 at which the noise is (ε, δ)-differentially private.

    Zero where δ is at least p(0), the total variation distance; infinity where δ is below the
    plateau (to within 1e-14 of it, so that a plateau's own height is no longer below it). The
    formulas are those of Theorem 8.

    Returns a float for one δ, an array for a sequence of them.

    >>> noise = Noise(11, "0.125")
    >>> epsilon(noise, "0.05"), epsilon(noise, "1e-9")
    (0.523268..., inf)
    """
    values, _, single = parameters.many(delta, "delta", parameters.delta, high=1)
    lowest = check(noise).pmf[0]
    # Below the first kink, where the general formula would lose digits: δ = p(0) − (e^ε − 1)·P(Z < 0).
    near_zero = np.log1p(np.maximum(noise.normaliser - values, 0) / noise.tail)
    if isinstance(noise, Geometric):
        result = np.minimum(near_zero, float(noise.rate))
    else:
        result, lowest = _max_entropy_epsilon(noise, values, near_zero)
    result = np.where(values < lowest * (1 - 1e-14), math.inf, result)
    return float(result[0]) if single else result


def _max_entropy_epsilon(noise: Noise, values: Array, near_zero: Array) -> tuple[Array, float]:
    """ε from the kinks on both sides of it, and the plateau."""
    onsets, heights, slopes = _kinks(noise.support, float(noise.gamma))
    # The last kink at or below δ; K(−D) = K(−D+1) is the plateau, where ε starts to fall.
    index = np.maximum(np.searchsorted(heights, values, side="right") - 1, 1)
    share = np.clip((values - heights[index]) / slopes[index], 0, 1)
    with np.errstate(divide="ignore"):
        result = onsets[index] + np.log1p(-share)
    return np.where(values >= heights[-1], near_zero, result), float(heights[0])


def loss_lattice(noise: AnyNoise, cells: int = 1) -> Lattice:
    """Where the finite privacy losses of k cells lie; infinite is the loss of the noise −D alone
    (Theorem 35).

    >>> loss_lattice(Noise(25, "0.0102"), 10), loss_lattice(Geometric(25, "0.5"), 10)
    (Lattice(unit=Fraction(51, 5000), top=490), Lattice(unit=Fraction(1, 2), top=10))
    """
    count = parameters.integer(cells, "cells", low=1, high=lattice.MOST)
    steps = 1 if isinstance(check(noise), Geometric) else 2 * noise.support - 1
    return Lattice(noise.loss(0), count * steps)


def loss_masses(noise: AnyNoise) -> Array:
    """The probabilities of the finite losses of one cell, of the largest loss first.

    >>> loss_masses(Geometric(1, "0.5")).round(6)
    array([0.451863, 0.274069])
    """
    if isinstance(check(noise), Geometric):
        return np.array([noise.pmf[1 : noise.support + 1].sum(), noise.tail])
    return noise.pmf[1:]


Value = TypeVar("Value")


class Delta(NamedTuple, Generic[Value]):
    """δ at one ε in both directions: of a first pmf against a second, and of the second against the first.

    Where the two belong to neighbouring counts, the first is that of n and the second that of n + 1. A
    value is a float, an array with one number a pair of counts, or an `Enclosure`.
    """

    forward: Value
    backward: Value


def hockey_stick(p: ArrayLike, q: ArrayLike, epsilon: parameters.Number) -> Delta[float]:
    """Σ max(0, p − e^ε·q) and Σ max(0, q − e^ε·p), straight from the definition.

    ``p[i]`` and ``q[i]`` are the probabilities of the same outcome; ε may be 0 (total variation).
    A mechanism is (ε, δ)-differentially private for the two inputs if and only if δ is at least the
    larger of the two. Proof: Lemma 1.

    >>> hockey_stick([0.5, 0.5, 0], [0, 0.5, 0.5], 1)
    Delta(forward=0.5, backward=0.5)
    """
    first, second = _probabilities(p, "p"), _probabilities(q, "q")
    if len(first) != len(second):
        raise parameters.wrong_value("q", f"as long as p ({len(first)})", second)
    level = float(parameters.number(epsilon, "epsilon", high=parameters.EPSILON_MAX, includes="low high"))
    return Delta(_one_way(first, second, level), _one_way(second, first, level))


def neighbours(pmf: ArrayLike) -> tuple[Array, Array]:
    """A noise pmf beside itself shifted by one: the outputs of two neighbouring counts.

    >>> neighbours([0.25, 0.5, 0.25])
    (array([0.25, 0.5 , 0.25, 0.  ]), array([0.  , 0.25, 0.5 , 0.25]))
    """
    masses = _probabilities(pmf, "pmf")
    return np.append(masses, 0.0), np.concatenate([[0.0], masses])


def _one_way(p: Array, q: Array, epsilon: float) -> float:
    alone = p[(p > 0) & (q == 0)]
    both = (p > 0) & (q > 0)
    excess = epsilon + np.log(q[both]) - np.log(p[both])
    return math.fsum(alone) + math.fsum(-p[both] * np.expm1(np.minimum(excess, 0)))


def _probabilities(values: ArrayLike, name: str) -> Array:
    allowed = "a sequence of probabilities that sum to 1"
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise parameters.wrong_type(name, allowed, values)
    array = array.astype(np.float64)
    if array.ndim != 1 or not array.size or not np.all(np.isfinite(array)) or array.min() < 0:
        raise parameters.wrong_value(name, allowed, values)
    if abs(math.fsum(array) - 1) > 1e-9:
        raise parameters.wrong_value(name, allowed, values)
    return array
