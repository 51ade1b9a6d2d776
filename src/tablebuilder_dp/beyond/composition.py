"""Past the paper: the (ε, δ) of many noisy counts that contain the same person.

The privacy loss of one count lies on a lattice: it is γ(1 − 2z) for z in [−D+1, D] and infinite for
z = −D. Losses of different cells add, so k cells have an exact δ_k(ε), a finite sum without any grid.
This module holds that sum, its inverse, its enclosure, the largest k for a wanted (ε, δ), and what the
known composition theorems would say from one cell's (ε, δ) alone.

All of it is about *independent* noises: each of the k cells counts at least D people, and its noise is
independent of the noise of every other published cell, with or without the person. Keys that are sums of
record keys do not give that. Two of them are independent, but a total and its parts are not, so that a
table with margins can give away more than δ_k: women, men and their total do, in the smallest of worlds
(`past-margins` of the ledger). Nor is k the number of answers for one cell under two designs: one key
then gives two noises that rise and fall together (`past-two-designs`).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from tablebuilder_dp import noise, privacy
from tablebuilder_dp.beyond import lattice
from tablebuilder_dp.certified import DIGITS
from tablebuilder_dp.privacy import Array, Numbers
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import Enclosure, below, enclosure, exp, interval, iv, to_digits

LATTICE_MAX = 100_000
"""The most finite losses, k(2D − 1) + 1, that are convolved: about a second in float64."""


class Losses(NamedTuple):
    """The privacy loss of k cells: finite values, their probabilities, the probability of infinity."""

    loss: Array
    probability: Array
    infinite: float


class Bounds(NamedTuple):
    """The ε of k cells by three theorems; the last is never above the others."""

    basic: float
    advanced: float
    optimal: float


def losses(*, support: int, gamma: parameters.Number, cells: int) -> Losses:
    """The distribution of the privacy loss L = ln P(answers)/Q(answers) under P, for k cells.

    P has the counts n_i (the person is absent) and Q the counts n_i + 1 (present), so the answer n_i + z_i
    has the ratio p(z_i)/p(z_i − 1): e^(γ(1 − 2z)) inside, infinite at −D. Thus L = γ(k − 2T), T = Σ z_i,
    unless some z_i is −D, which has probability 1 − (1 − p(−D))^k. On [−D+1, D]^k T has the k-fold
    convolution A_k of p. From prior odds of one, e^L are the posterior odds of "absent" when that is true;
    those of a true "present" have the same law. Losses fall from kγ(2D − 1) in steps of 2γ.
    Proof: Theorem 35.

    >>> losses(support=1, gamma="0.5", cells=2).probability.round(6)
    array([0.20418 , 0.247683, 0.075114])
    """
    half_width, rate, count = _read(support, gamma, cells)
    top = count * (2 * half_width - 1)
    values = float(rate) * np.arange(top, -top - 1, -2, dtype=np.float64)
    return Losses(values, _masses(half_width, rate, count), _floor(half_width, rate, count))


def delta(epsilon: Numbers, *, support: int, gamma: parameters.Number, cells: int) -> Any:
    """δ_k(ε) = 1 − (1 − p(−D))^k + Σ_t A_k(t)·max(0, 1 − e^(ε − γ(k − 2t))), for ε in [0, 500].

    It is exact, the same whether counts rise or fall, and it grows with k. It also holds if each cell is
    chosen after the answers before it, and with cells without the person in between, if all noises are
    independent; equal distributions alone are not enough. Proof: Theorem 35. At ε = 0 it is the total
    variation distance. One ε gives a float, a sequence an array.

    >>> delta(2, support=25, gamma="0.0102", cells=10)
    0.00097156344333...
    """
    half_width, rate, count = _read(support, gamma, cells)
    _, given, single = parameters.many(epsilon, "epsilon", _level, high=parameters.EPSILON_MAX)
    result = np.array([_delta(_level(one), half_width, rate, count) for one in given])
    if result.min() < privacy.DELTA_MIN:
        raise ValueError(f"delta is below {privacy.DELTA_MIN}; certified_delta reaches 1e-4000")
    return float(result[0]) if single else result


def epsilon(delta: Numbers, *, support: int, gamma: parameters.Number, cells: int) -> Any:
    """The smallest ε ≥ 0 at which k cells together are (ε, δ)-differentially private, in float64.

    Infinite where δ is below 1 − (1 − p(−D))^k (to within 1e-14 of it), zero from δ_k(0) on. Not
    certified: `certified_delta` at the ε found, rounded up, is the proof.

    >>> epsilon("1e-3", support=25, gamma="0.0102", cells=10)
    1.6485...
    >>> epsilon("1e-5", support=25, gamma="0.0102", cells=10)
    inf
    """
    half_width, rate, count = _read(support, gamma, cells)
    values, _, single = parameters.many(delta, "delta", parameters.delta, high=1)
    masses, floor = _masses(half_width, rate, count), _floor(half_width, rate, count)
    found = [lattice.inverse(float(value), masses, infinite=floor, gamma=float(rate)) for value in values]
    return found[0] if single else np.array(found)


def certified_delta(
    epsilon: parameters.Number, *, support: int, gamma: parameters.Number, cells: int, digits: int = DIGITS
) -> Enclosure:
    """An interval that contains δ_k(ε), of relative width 10^−digits.

    Integers at most 2^bits·p(z) are convolved, every product rounded down, so no mass is too large. With
    the true mass 1 − (1 − p(−D))^k at infinity, δ comes out too small. With all that the finite masses
    leave at infinity it is too large, as no mass counts for more than there. Proof: Theorem 36.

    >>> certified_delta(2, support=25, gamma="0.0102", cells=10).digits(15)
    '0.000971563443333922'
    """
    half_width, rate, count = _read(support, gamma, cells)
    return to_digits(digits, partial(_enclosed, _level(epsilon), half_width, rate, count))


def most_cells(
    epsilon: parameters.Number, delta: parameters.Number, *, support: int, gamma: parameters.Number
) -> int:
    """The largest k for which k cells together are (ε, δ)-differentially private; 0 if one is too many.

    As δ_k grows with k, δ_k ≤ δ < δ_{k+1} settles it; float64 proposes k and enclosures decide both, as
    δ_k(ε) is never equal to a rational δ. Proof: Theorem 37.

    >>> most_cells(2, "1e-3", support=25, gamma="0.0102")
    10
    """
    half_width, rate, level = parameters.support(support), parameters.gamma(gamma), _level(epsilon)
    target, limit = parameters.delta(delta), _most(half_width)

    def exceeds(cells: int) -> bool:  # as far as float64 can tell
        return _floor(half_width, rate, cells) > target or _delta(level, half_width, rate, cells) > target

    def fits(cells: int) -> bool:
        return below(target, partial(_enclosed, level, half_width, rate, cells))

    high = 1
    while not exceeds(high):
        if high == limit:
            allowed = f"so small that fewer than {limit} cells keep it, the most for support {half_width}"
            raise parameters.wrong_value("delta", allowed, delta)
        high = min(2 * high, limit)
    found = bisect_left(range(high), True, lo=high // 2 + 1, key=exceeds) - 1
    while found and not fits(found):
        found -= 1
    while fits(found + 1):
        found += 1
    return found


def bounds(
    epsilon: parameters.Number, delta: parameters.Number, *, cells: int, total: parameters.Number
) -> Bounds:
    """The ε that k cells keep at δ = ``total`` if each is only known to be (ε, δ)-private, in float64.

    *Basic composition*: kε at 1 − (1 − δ)^k. *Advanced* (Dwork, Rothblum and Vadhan 2010):
    ε·sqrt(2k·ln(1/δ')) + kε(e^ε − 1) at kδ + δ'. *Optimal* (Kairouz, Oh and Viswanath 2015): the exact
    composition of the worst (ε, δ)-private mechanism, whose loss is infinite with probability δ, else ±ε
    with odds e^ε to 1; nothing smaller follows from (ε, δ). Infinite where kδ (advanced) or
    1 − (1 − δ)^k (the others) uses up ``total``.

    >>> bounds("0.5", "1e-4", cells=100, total="0.02")
    Bounds(basic=50.0, advanced=47.61..., optimal=22.54...)
    """
    one, edge = float(parameters.epsilon(epsilon)), float(parameters.delta(delta))
    count = parameters.integer(cells, "cells", low=1, high=LATTICE_MAX)
    budget = float(parameters.number(total, "total", high=1))
    floor, spare = -math.expm1(count * math.log1p(-edge)), budget - count * edge
    basic = count * one if floor <= budget else math.inf
    root = math.sqrt(-2 * count * math.log(spare)) if spare > 0 else math.inf
    worst = lattice.power((1 - edge) / (1 + math.exp(-one)) * np.array([1, math.exp(-one)]), count)
    advanced = one * root + count * one * math.expm1(one)
    return Bounds(basic, advanced, lattice.inverse(budget, worst, infinite=floor, gamma=one))


def _level(value: Any) -> Fraction:
    """ε, which here may be 0."""
    return parameters.number(value, "epsilon", high=parameters.EPSILON_MAX, includes="low high")


def _most(support: int) -> int:
    return max(1, (LATTICE_MAX - 1) // (2 * support - 1))


def _read(support: Any, gamma: Any, cells: Any) -> tuple[int, Fraction, int]:
    half_width, rate = parameters.support(support), parameters.gamma(gamma)
    count = parameters.integer(cells, "cells", low=1, high=LATTICE_MAX)
    if count > _most(half_width):
        raise parameters.wrong_value("cells", f"at most {_most(half_width)} for support {half_width}", cells)
    return half_width, rate, count


def _floor(support: int, gamma: Fraction, cells: int) -> float:
    """1 − (1 − p(−D))^k, below which δ_k never falls."""
    return -math.expm1(cells * math.log1p(-float(noise.pmf(support=support, gamma=gamma)[0])))


@lru_cache(maxsize=8)  # a curve, its inverse and a table ask for the same convolution
def _masses(support: int, gamma: Fraction, cells: int) -> Array:
    """A_k from t = k(1 − D), where the loss is largest, to t = kD."""
    masses = lattice.power(noise.pmf(support=support, gamma=gamma)[1:], cells)
    masses.flags.writeable = False
    return masses


def _place(epsilon: Fraction, support: int, gamma: Fraction, cells: int) -> tuple[int, Fraction]:
    """The index of the last loss that is at least ε, and how far above ε it is: exactly."""
    top = cells * (2 * support - 1)
    last = max(-1, math.floor((top - epsilon / gamma) / 2))
    return last, gamma * (top - 2 * last) - epsilon


def _delta(epsilon: Fraction, support: int, gamma: Fraction, cells: int) -> float:
    """δ_k(ε) from the two halves of the cells: the last and largest convolution is not needed."""
    last, rest = _place(epsilon, support, gamma, cells)
    first = _masses(support, gamma, cells // 2) if cells > 1 else np.ones(1)
    second, step = _masses(support, gamma, cells - cells // 2), 2 * float(gamma)
    excess = lattice.excess_of_sum(first, second, last=last, rest=float(rest), step=step)
    return _floor(support, gamma, cells) + excess


def _enclosed(epsilon: Fraction, support: int, gamma: Fraction, cells: int) -> Any:
    """δ_k(ε) at the working precision."""
    unit, rate = 1 << int(iv.prec), interval(gamma)
    weights = [exp(-z * z * rate) for z in range(support + 1)]
    total = 2 * sum(weights[1:], iv.mpf(0)) + 1
    inside = (1 - weights[-1] / total) ** cells
    last, rest = _place(epsilon, support, gamma, cells)
    if last < 0:
        return 1 - inside
    low = [math.floor(enclosure(weight / total).lower * unit) for weight in weights]
    lower = lattice.power_from_below([*low[-2::-1], *low[1:]], cells, bits=int(iv.prec))
    infinite = iv.mpf([(1 - inside).a, (1 - iv.mpf(sum(lower)) / unit).b])
    gain = lattice.enclosed_excess(lower, last=last, rest=interval(rest), step=2 * rate)
    return infinite + gain / unit
