"""The least δ at ε over all noise on [−D, D] of a given variance, as a number and as a curve.

The optimum mixes two chains (`other_noise.Chain`): pmfs whose neighbouring masses have ratio exactly
e^ε or, where the pmf may not rise with |z| (the wish of Proposition 1), e^ε or 1. Nothing here rests on
a solver: the mixture bounds δ from above, weak duality (Lemma 32) bounds it from below,
and both bounds are intervals. Every δ counts both directions, every noise has mean zero.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import accumulate, repeat
from operator import mul
from typing import NamedTuple, TypeVar

import numpy as np
from flint import arb

from tablebuilder_dp import privacy
from tablebuilder_dp.beyond.other_noise import Chain
from tablebuilder_dp.certified import DIGITS
from tablebuilder_dp.noise import Array, variance_bound
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import MAX_BITS, Ball, Enclosure, ball, exponential, to_digits

Real = TypeVar("Real", float, Ball)

SUPPORT_MAX = 2000
"""The widest support that is served, in up to about five seconds."""


class Part(NamedTuple):
    """A chain and its share in a mixture."""

    chain: Chain
    share: float


@dataclass(frozen=True)
class Optimum:
    """The least δ at a variance, enclosed, and the two chains that reach it when mixed."""

    epsilon: Fraction
    support: int
    variance: Fraction
    delta: Enclosure
    parts: tuple[Part, Part]

    @property
    def pmf(self) -> Array:
        """p(−D), …, p(D) of the mixture."""
        masses = [part.share * part.chain.pmf(self.epsilon, support=self.support) for part in self.parts]
        return np.asarray(masses[0] + masses[1])


def optimum(
    epsilon: parameters.Number,
    *,
    support: int,
    variance: parameters.Number,
    unimodal: bool = False,
    digits: int = DIGITS,
) -> Optimum:
    """The least δ at ε of any unbiased pmf on [−D, D] of variance V in (0, D²).

    ``unimodal`` admits only pmfs that do not rise with |z|, and V in (0, D(D+1)/3). δ is convex in
    p, so two chains on either side of V bound it by the line through them. The search starts from
    two neighbours of `vertices`. `_highest` proves that no pmf lies below the line, or finds a chain
    that does, which then replaces the one on its side of V. (Of the chains that the search can meet, only
    the first and the last have a rational variance, so the side can be decided.) Proof: Lemma 32.

    Returns δ, enclosed, and the two chains. Raises ArithmeticError where ``MAX_BITS`` bits prove nothing.

    >>> optimum("0.5", support=25, variance=49).delta.digits(12)
    '0.0000113789152817'
    >>> optimum("0.5", support=25, variance=49, unimodal=True).parts[0].chain
    Chain(inner=0, hump=9, outer=25, flat=True)
    """
    level = parameters.epsilon(epsilon)
    half_width = parameters.integer(support, "support", low=1, high=SUPPORT_MAX)
    bound = variance_bound(half_width) if unimodal else Fraction(half_width**2)
    allowed = f"a number in (0, {'D(D+1)/3' if unimodal else 'D²'} = {bound}) for support {half_width}"
    target = parameters.number(variance, "variance", allowed=allowed)
    if target >= bound:
        raise parameters.wrong_value("variance", allowed, variance)
    parts: list[Part] = []

    def compute() -> Ball:
        value, parts[:] = _search(level, half_width, target, unimodal)
        return value

    try:
        least = to_digits(digits, compute)
    except ArithmeticError:
        where = f"for epsilon {float(level)}, support {half_width} and variance {parameters.shown(variance)}"
        raise ArithmeticError(f"no proof of the least delta with {MAX_BITS} bits {where}") from None
    return Optimum(level, half_width, target, least, (parts[0], parts[1]))


def _search(level: Fraction, support: int, variance: Fraction, flat: bool) -> tuple[Ball, list[Part]]:
    """A ball around the optimum and the parts of the best mixture found, at the working precision."""
    growth, target = exponential(level), ball(variance)
    powers = _powers(1 / growth, support)
    order = [Chain(0, 0, outer, flat) for outer in range(support + 1)]  # by variance
    order += [Chain(0, hump, support, flat) for hump in range(1, support + 1)]
    order += [] if flat else [Chain(support, support, support)]
    place = bisect_left(order[1:-1], True, key=lambda chain: not _coordinates(chain, powers)[0] <= target)
    left, right = order[place : place + 2]
    for _ in range(4 * support + 16):
        (v0, d0), (v1, d1) = (_coordinates(chain, powers) for chain in (left, right))
        if not (v0 < target and target < v1):
            break  # too near to a corner to know the side: more bits are needed
        slope = (d1 - d0) / (v1 - v0)
        height = d0 + slope * (target - v0)
        top, best, chain = _highest(d0 - slope * v0, slope, growth, support, flat)
        if not best > 1:  # no chain is below the line for certain
            shares = [float(gap / (v1 - v0)) for gap in (v1 - target, target - v0)]
            value = (height / top.max(arb(1))).union(height)
            return value, [Part(left, shares[0]), Part(right, shares[1])]
        below = bool(_coordinates(chain, powers)[0] < target)
        left, right = (chain, right) if below else (left, chain)
    return arb.nan(), []


def _powers(ratio: Real, support: int) -> list[Real]:
    """1, r, r², …, r^D."""
    return list(accumulate(repeat(ratio, support), mul, initial=ratio / ratio))


def _coordinates(chain: Chain, powers: Sequence[Real]) -> tuple[Real, Real]:
    """Variance and δ of a chain, in floats or balls as the powers of e^−ε are.

    Only values whose neighbour has no mass exceed e^ε: −outer and, behind a hole, +inner.
    """
    weights = [powers[step] for step in chain.steps]
    second = sum(2 * z * z * weight for z, weight in enumerate(weights, chain.inner))
    total = 2 * sum(weights[1:]) + weights[0] * (2 if chain.inner else 1)
    return second / total, (weights[-1] + (weights[0] if chain.inner else 0)) / total


def _highest(base: Ball, slope: Ball, growth: Ball, support: int, flat: bool) -> tuple[Ball, Ball, Chain]:
    """Weak duality for the line base + slope·V: max f, f of a chain that is sure to be high, and that chain.

    For c(z) = base + slope·z² let f(0) = c(0) and f(z) = 2c(z) + max(q·f(z−1), f(z−1)/q, −1), or
    2c(z) + max(q·f(z−1), f(z−1)) for pmfs that do not rise with |z|. Then every pmf p on [−D, D] has
    Σ c(z)p(z) ≤ M·δ(p) with M = max(1, f(0), …, f(D)), so δ ≥ (base + slope·V)/M at variance V. The choices
    behind an f(z) > 1 make a chain that lies below the line. Proof: Lemma 32.
    """
    inner = hump = 0
    gain = best = top = base
    chain = Chain(0, 0, 0, flat)
    for z in range(1, support + 1):
        options = [growth * gain, gain] if flat else [growth * gain, gain / growth, arb(-1)]
        choice = max(range(len(options)), key=[option.lower() for option in options].__getitem__)
        hump, inner = z if choice else hump, z if choice == 2 else inner
        gain = 2 * (base + slope * (z * z)) + reduce(arb.max, options)
        top = top.max(gain)
        if gain.lower() > best.lower():
            best, chain = gain, Chain(inner, hump, z, flat)
    return top, best, chain


class Vertex(NamedTuple):
    """A corner of the frontier: a chain with its variance and its δ."""

    chain: Chain
    variance: float
    delta: float


def vertices(epsilon: parameters.Number, *, support: int, unimodal: bool = False) -> tuple[Vertex, ...]:
    """The corners of the least δ as a function of V, from 0 to at least (if unimodal, just) U = D(D+1)/3.

    The frontier V ↦ δ is convex and joins the geometric noises on [−b, b], b = 0, …, D, and after them the
    chains on [−D, D] with hump m = 1, 2, …: two humps, or a flat top if unimodal. (If not, it leaves them
    between U and D², where holes pay.) Proof: Theorem 33.

    Float64, without cancellation, for δ ≥ 1e-300. Variances of neighbours may coincide when ε is large.

    Raises ValueError where a δ is below ``privacy.DELTA_MIN``.

    >>> [vertex.chain.hump for vertex in vertices(1, support=2)]
    [0, 0, 0, 1, 2]
    """
    half_width = parameters.integer(support, "support", low=1, high=SUPPORT_MAX)
    powers = _powers(math.exp(-float(parameters.epsilon(epsilon))), half_width)
    geometric = [Chain(0, 0, outer, unimodal) for outer in range(half_width + 1)]
    corners = [Vertex(chain, *_coordinates(chain, powers)) for chain in geometric]
    if corners[-1].delta < privacy.DELTA_MIN:  # the least of all
        where = f"for epsilon {float(parameters.epsilon(epsilon))} and support {half_width}"
        raise ValueError(f"delta is below {privacy.DELTA_MIN} {where}, beyond float64; optimum encloses it")
    for hump in range(1, half_width + 1):
        if not unimodal and _hole_pays(hump - 1, powers):
            break
        chain = Chain(0, hump, half_width, unimodal)
        corners.append(Vertex(chain, *_coordinates(chain, powers)))
    return tuple(corners)


def _hole_pays(hump: int, powers: Sequence[float]) -> bool:
    """Whether f(k) < −q for some k < m on the line from hump m to hump m + 1; nothing cancels."""
    ratio, edge = powers[1], len(powers) - 1
    mass, second = [1.0], [0.0]  # of q^(|z|−k), and of z² times it, over [−k, k]
    for z in range(1, hump + 1):
        mass.append(ratio * mass[-1] + 2)
        second.append(ratio * second[-1] + 2 * z * z)
    mean = second[-1] / mass[-1]
    beyond = sum(2 * (z * z - mean) * powers[z - hump - 1] for z in range(hump + 1, edge + 1))
    slope = powers[edge - hump - 1] / beyond  # p(D)/(V − W), both over the mass of m + 1
    return any(slope * (mean * m - s) * ratio > 1 for m, s in zip(mass, second, strict=True))
