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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tablebuilder_dp import noise
from tablebuilder_dp.support import parameters

Array = NDArray[np.float64]
Numbers = parameters.Number | Sequence[parameters.Number] | Array

DELTA_MIN = 1e-300
"""Below this δ float64 runs out of room; `certified.delta` does not."""


def z_star(epsilon: parameters.Number, *, gamma: parameters.Number) -> int:
    """z* = ⌊1/2 − ε/(2γ)⌋, decided in rational arithmetic.

    >>> z_star("0.5", gamma="0.125"), z_star("0.125", gamma="0.125")
    (-2, 0)
    """
    return math.floor(_threshold(epsilon, gamma))


def _threshold(epsilon: parameters.Number, gamma: parameters.Number) -> Fraction:
    return Fraction(1, 2) - parameters.epsilon(epsilon) / (2 * parameters.gamma(gamma))


def e_star(epsilon: parameters.Number, *, support: int, gamma: parameters.Number) -> range:
    """E*: the z in [−D, D+1] with p(z)/p(z−1) > e^ε, an interval that starts at −D.

    Where 1/2 − ε/(2γ) is an integer, z* itself has ratio exactly e^ε and is not in E*; its term
    in Proposition 2 is zero, so δ does not notice. Proof: Theorem 8.

    >>> e_star("0.5", support=11, gamma="0.125")
    range(-11, -1)
    """
    half_width = parameters.support(support)
    last = math.ceil(_threshold(epsilon, gamma)) - 1
    return range(-half_width, max(-half_width, last) + 1)


def f_star(epsilon: parameters.Number, *, support: int, gamma: parameters.Number) -> range:
    """F* = E* without −D: the values that add to δ beyond the unavoidable p(−D).

    >>> len(f_star(3, support=11, gamma="0.125"))
    0
    """
    return e_star(epsilon, support=support, gamma=gamma)[1:]


@dataclass(frozen=True)
class Plateau:
    """From ε = ``onset`` = γ(2D − 1) on, δ stays at ``height`` = p(−D)."""

    onset: Fraction
    height: float


def plateau(*, support: int, gamma: parameters.Number) -> Plateau:
    """Where the first case of Proposition 2 begins and the δ at which it stays (Theorem 8).

    >>> plateau(support=11, gamma="0.125")
    Plateau(onset=Fraction(21, 8), height=5.38488...e-08)
    """
    half_width, rate = parameters.support(support), parameters.gamma(gamma)
    height = float(noise.pmf(support=half_width, gamma=rate)[0])
    _check_representable(height, half_width, rate)
    return Plateau(onset=rate * (2 * half_width - 1), height=height)


def delta(epsilon: Numbers, *, support: int, gamma: parameters.Number) -> Any:
    """δ(ε) by Proposition 2: a float for one ε, an array for a sequence of them.

    δ is piecewise linear in e^ε with a kink wherever z* moves, at ε_z = γ(1 − 2z). Between kinks
    δ(ε) = K(z*) + (1 − e^−t)·B(z*) with t = ε_z* − ε ≥ 0, K(z) = δ(ε_z) and B(z) = e^(ε_z)·P(Z < z).
    K and B are prefix sums of positive numbers, so nothing cancels, and the cost is O(D + number
    of ε). (Near a kink at a large ε, δ hangs on the last digits of ε; those few are done exactly.)
    Proof: Theorem 8.

    >>> delta("0.5", support=11, gamma="0.125")
    0.054007226...
    >>> delta([0.5, 1], support=11, gamma="0.125").round(7)
    array([0.0540072, 0.0072488])
    """
    half_width, rate = parameters.support(support), parameters.gamma(gamma)
    values, given, single = parameters.many(
        epsilon, "epsilon", parameters.epsilon, high=parameters.EPSILON_MAX
    )
    slope = float(rate)
    onsets, heights, slopes = _kinks(half_width, slope)
    # z* + D; rounding may put it on the other side of a kink, where the formula gives the same.
    index = np.maximum(values * (-0.5 / slope) + (half_width + 0.5), 0).astype(np.intp)
    result = values - onsets[index]  # −t; on the plateau it is positive, but B(−D) = 0
    np.expm1(result, out=result)
    result *= slopes[index]
    np.subtract(heights[index], result, out=result)
    # Rounding ε or γ moves t by about 4e-16·ε. Where δ would feel that, t is computed exactly; as
    # B/K stays below (1 + e^ε)/(1 − e^−2γ), most noises have no such place.
    edge = slope * (2 * half_width - 1)
    if edge > 100 or edge * (1 + math.exp(edge)) > -250 * math.expm1(-2 * slope):
        sensitive = onsets * slopes > 250 * heights
        sensitive[:-1] |= sensitive[1:]  # rounding may have missed the true z* by one
        plateau = (index == 0) & (values > edge * (1 + 1e-14))
        for i in np.flatnonzero(sensitive[index] & ~plateau):
            exact = parameters.epsilon(given[int(i)])
            z = max(-half_width, z_star(exact, gamma=rate))
            t = float(max(rate * (1 - 2 * z) - exact, Fraction(0)))
            result[i] = heights[z + half_width] - math.expm1(-t) * slopes[z + half_width]
    if heights[0] < DELTA_MIN:
        _check_representable(float(result.min()), half_width, rate)
    return float(result[0]) if single else result


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


def _check_representable(delta: float, support: int, gamma: Fraction) -> None:
    if delta < DELTA_MIN:
        raise ValueError(
            f"delta is below {DELTA_MIN} for support {support} and gamma {float(gamma)}, beyond float64; "
            "certified.delta encloses it"
        )


def epsilon(delta: Numbers, *, support: int, gamma: parameters.Number) -> Any:
    """The smallest ε ≥ 0 at which the noise is (ε, δ)-differentially private.

    Zero where δ is at least p(0), the total variation distance; infinity where δ is below the
    plateau (to within 1e-14 of it, so that a plateau's own height is no longer below it). The
    formulas are those of Theorem 8.

    >>> epsilon("0.05", support=11, gamma="0.125")
    0.523268...
    >>> epsilon("1e-9", support=11, gamma="0.125")
    inf
    """
    half_width, rate = parameters.support(support), parameters.gamma(gamma)
    values, _, single = parameters.many(delta, "delta", parameters.delta, high=1)
    onsets, heights, slopes = _kinks(half_width, float(rate))
    # The last kink at or below δ; K(−D) = K(−D+1) is the plateau, where ε starts to fall.
    index = np.maximum(np.searchsorted(heights, values, side="right") - 1, 1)
    share = np.clip((values - heights[index]) / slopes[index], 0, 1)
    with np.errstate(divide="ignore"):
        result = onsets[index] + np.log1p(-share)
    # Below ε = γ, where that difference would lose digits: δ = p(0) − (e^ε − 1)·P(Z < 0).
    centre = noise.normaliser(support=half_width, gamma=rate)
    near_zero = np.log1p(np.maximum(centre - values, 0) / noise.tail(support=half_width, gamma=rate))
    result = np.where(values >= heights[-1], near_zero, result)
    result = np.where(values < heights[0] * (1 - 1e-14), math.inf, result)
    return float(result[0]) if single else result


class Divergence(NamedTuple):
    """Hockey-stick divergences of p from q and of q from p, at one ε."""

    forward: float
    backward: float


def hockey_stick(p: ArrayLike, q: ArrayLike, epsilon: parameters.Number) -> Divergence:
    """Σ max(0, p − e^ε·q) and Σ max(0, q − e^ε·p), straight from the definition.

    ``p[i]`` and ``q[i]`` are the probabilities of the same outcome; ε may be 0 (total variation).
    A mechanism is (ε, δ)-differentially private for the two inputs if and only if δ is at least the
    larger of the two. Proof: Lemma 1.

    >>> hockey_stick([0.5, 0.5, 0], [0, 0.5, 0.5], 1)
    Divergence(forward=0.5, backward=0.5)
    """
    first, second = _probabilities(p, "p"), _probabilities(q, "q")
    if len(first) != len(second):
        raise parameters.wrong_value("q", f"as long as p ({len(first)})", second)
    level = float(parameters.number(epsilon, "epsilon", high=parameters.EPSILON_MAX, includes="low high"))
    return Divergence(_one_way(first, second, level), _one_way(second, first, level))


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
