"""Past the paper: the (ε, δ) of many noisy counts that contain the same person.

The privacy loss of one count lies on a lattice: for the paper's noise it is γ(1 − 2z) for z in [−D+1, D],
for the geometric noise ± its rate, and it is infinite for z = −D. Losses of different cells add, so k cells
have an exact δ_k(ε), a finite sum without any grid. This module holds that sum, its inverse, the largest k
for a wanted (ε, δ), and what the known composition theorems would say from one cell's (ε, δ) alone.
`certified.delta` encloses the sum.

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
from numpy.typing import NDArray

from tablebuilder_dp import certified, privacy
from tablebuilder_dp.noise import AnyNoise, Array, Geometric, check
from tablebuilder_dp.privacy import Numbers, loss_lattice
from tablebuilder_dp.support import lattice, parameters
from tablebuilder_dp.support.intervals import below

_MANY = 16  # cells from which on few terms of a Fourier series matter


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


def losses(noise: AnyNoise, *, cells: int) -> Losses:
    """The distribution of the privacy loss L = ln P(answers)/Q(answers) under P, for k cells.

    P has the counts n_i (the person is absent) and Q the counts n_i + 1 (present), so the answer n_i + z_i
    has the ratio p(z_i)/p(z_i − 1): e^(γ(1 − 2z)) inside, infinite at −D. Thus L = γ(k − 2T), T = Σ z_i,
    unless some z_i is −D, which has probability 1 − (1 − p(−D))^k. On [−D+1, D]^k T has the k-fold
    convolution A_k of p. From prior odds of one, e^L are the posterior odds of "absent" when that is true;
    those of a true "present" have the same law. Losses fall from kγ(2D − 1) in steps of 2γ.
    Proof: Theorem 35.

    >>> from tablebuilder_dp.noise import Noise
    >>> losses(Noise(1, "0.5"), cells=2).probability.round(6)
    array([0.20418 , 0.247683, 0.075114])
    """
    unit, top = _served(noise, cells)
    values = float(unit) * np.arange(top, -top - 1, -2, dtype=np.float64)
    return Losses(values, _masses(noise, cells), _floor(noise, cells))


def delta(noise: AnyNoise, epsilon: Numbers, *, cells: int) -> Any:
    """δ_k(ε) = 1 − (1 − p(−D))^k + Σ_t A_k(t)·max(0, 1 − e^(ε − γ(k − 2t))), for ε in [0, 500].

    It is exact, the same whether counts rise or fall, and it grows with k. It also holds if each cell is
    chosen after the answers before it, and with cells without the person in between, if all noises are
    independent; equal distributions alone are not enough. Proof: Theorem 35. At ε = 0 it is the total
    variation distance. One ε gives a float, a sequence an array.

    Raises ValueError where a δ is below ``privacy.DELTA_MIN``.

    >>> from tablebuilder_dp.noise import Geometric, Noise
    >>> delta(Noise(25, "0.0102"), 2, cells=10), delta(Geometric(60, "0.25"), 1, cells=8)
    (0.00097156344333..., 0.030764...)
    """
    _served(noise, cells)
    _, given, single = parameters.many(epsilon, "epsilon", _level, high=parameters.EPSILON_MAX)
    result = np.array([_delta(noise, _level(level), cells) for level in given])
    if result.min() < privacy.DELTA_MIN:
        raise ValueError(f"delta is below {privacy.DELTA_MIN}; certified.delta encloses it")
    return float(result[0]) if single else result


def quick_delta(noise: AnyNoise, epsilon: parameters.Number, *, cells: int) -> float:
    """δ_k(ε) to a relative error of about 1e-9: of thousands of cells in less than a millisecond.

    For the paper's noise masses p(z) are tilted to p(z)·e^(θz), with the θ that brings the mean loss to ε, so
    that δ is as accurate, relative to itself, as masses near the centre are. The law of the sum of k tilted
    noises within 12 standard deviations is a Fourier series, of which some dozens of terms matter where cells
    are many, and the sum of each term over all losses above ε is a geometric series (Theorem 53). For the
    geometric noise δ_k is a binomial sum.

    >>> from tablebuilder_dp.noise import Geometric, Noise
    >>> quick_delta(Noise(25, "0.0102"), 2, cells=10), quick_delta(Geometric(60, "0.25"), 1, cells=8)
    (0.0009715634433..., 0.030764...)
    """
    level, count = float(_level(epsilon)), parameters.integer(cells, "cells", low=1, high=lattice.MOST)
    infinite = _floor(check(noise), count)
    if isinstance(noise, Geometric):
        positive = 1 - float(noise.pmf[0]) - noise.tail
        return infinite + binomial_delta(positive, noise.tail, float(noise.rate), level, count)
    gamma, z = float(noise.gamma), np.arange(1 - noise.support, noise.support + 1)
    tilt = min(0.0, gamma - level / count)
    exponents = tilt * z - gamma * z.astype(np.float64) ** 2
    top = float(exponents.max())
    masses = np.exp(exponents - top)
    growth = top + math.log(masses.sum() * noise.normaliser)  # ln of the mean of e^(θZ), but for −D
    masses /= masses.sum()
    mean = float(masses @ z)
    deviation = math.sqrt(count * float(masses @ (z - mean) ** 2))
    places = 2 * min(math.ceil(12 * deviation + 30), count * noise.support)  # an even period of the series
    start = math.floor(count * mean) - places // 2
    edge = (count - level / gamma) / 2  # of the sums whose loss is at least ε
    last = min(math.floor(edge), start + places - 1)
    terms = last + 1 - max(start, count * (1 - noise.support))
    if terms <= 0:
        return infinite
    if count < _MANY:
        transform = np.fft.rfft(np.bincount(z % places, weights=masses, minlength=places)).conj()
    else:
        most = min(places // 2, math.ceil(9 / deviation * places / math.tau))
        transform = _transform(masses, 1 - noise.support, math.tau / places * np.arange(most + 1))
    turns = 1j * math.tau / places * np.arange(len(transform))
    above = edge - last
    gains = math.exp(tilt * above) * _geometric_series(turns + tilt, terms)
    gains -= math.exp((tilt - 2 * gamma) * above) * _geometric_series(turns + tilt - 2 * gamma, terms)
    parts = (transform**count * np.exp(-turns * last) * gains).real
    total = 2 * parts.sum() - parts[0] - (parts[-1] if len(parts) > places // 2 else 0)
    return infinite + math.exp(count * growth - tilt * edge) * max(float(total) / places, 0.0)


def _transform(masses: Array, first: int, turns: NDArray[Any]) -> NDArray[Any]:
    """Σ masses[j]·e^(i·turn·(first + j)) for each turn, with the exponentials of blocks and within them."""
    block = 64
    rows = np.zeros((-(-len(masses) // block), block))
    rows.flat[: len(masses)] = masses
    within = np.exp(1j * np.outer(np.arange(block), turns))
    starts = np.exp(1j * np.outer(first + block * np.arange(len(rows)), turns))
    return np.asarray(((rows @ within) * starts).sum(axis=0))


def _geometric_series(exponents: NDArray[Any], terms: int) -> NDArray[Any]:
    """1 + e^x + … + e^((terms − 1)·x) for each exponent x."""
    steps = np.expm1(exponents)
    whole = steps == 0
    return np.where(whole, terms, np.expm1(terms * exponents) / np.where(whole, 1, steps))


def binomial_delta(positive: float, negative: float, rate: float, epsilon: float, cells: int) -> float:
    """The sum of (1 − e^(ε − L))⁺ over the losses L of k cells, each ± the rate with these probabilities.

    >>> binomial_delta(0.75, 0.25, math.log(3), 0, 1)
    0.5
    """
    lost = np.arange(max(0, math.floor((cells - epsilon / rate) / 2)) + 1)
    logarithms = np.array([-math.lgamma(j + 1) - math.lgamma(cells - j + 1) for j in lost.tolist()])
    logarithms += math.lgamma(cells + 1) + (cells - lost) * math.log(positive) + lost * math.log(negative)
    above = np.maximum(rate * (cells - 2 * lost) - epsilon, 0)
    return float((np.exp(logarithms) * -np.expm1(-above)).sum())


def epsilon(noise: AnyNoise, delta: Numbers, *, cells: int) -> Any:
    """The smallest ε ≥ 0 at which k cells together are (ε, δ)-differentially private, in float64.

    Infinite where δ is below 1 − (1 − p(−D))^k (to within 1e-14 of it), zero from δ_k(0) on. Not
    certified: `certified.delta` at the ε found, rounded up, is the proof.

    Returns a float for one δ, an array for a sequence of them.

    >>> from tablebuilder_dp.noise import Noise
    >>> noise = Noise(25, "0.0102")
    >>> epsilon(noise, "1e-3", cells=10), epsilon(noise, "1e-5", cells=10)
    (1.6485..., inf)
    """
    unit, _ = _served(noise, cells)
    values, _, single = parameters.many(delta, "delta", parameters.delta, high=1)
    masses, floor = _masses(noise, cells), _floor(noise, cells)
    levels = [lattice.inverse(float(value), masses, infinite=floor, unit=float(unit)) for value in values]
    return levels[0] if single else np.array(levels)


def most_cells(noise: AnyNoise, epsilon: parameters.Number, delta: parameters.Number) -> int:
    """The largest k for which k cells together are (ε, δ)-differentially private; 0 if one is too many.

    As δ_k grows with k, δ_k ≤ δ < δ_{k+1} settles it; float64 proposes k and enclosures decide both, as
    δ_k(ε) is never equal to a rational δ. Proof: Theorem 37.

    Raises ValueError where more cells keep δ than are served, and ArithmeticError where ``MAX_BITS`` bits
    do not decide.

    >>> from tablebuilder_dp.noise import Noise
    >>> most_cells(Noise(25, "0.0102"), 2, "1e-3")
    10
    """
    level, target = _level(epsilon), parameters.delta(delta)
    limit = _most(noise)

    def exceeds(cells: int) -> bool:  # as far as float64 can tell
        return _floor(noise, cells) > target or _delta(noise, level, cells) > target

    def fits(cells: int) -> bool:
        return below(target, partial(certified.composed_delta_ball, noise, level, cells))

    high = 1
    while not exceeds(high):
        if high == limit:
            allowed = f"so small that fewer than {limit} cells keep it, the most for support {noise.support}"
            raise parameters.wrong_value("delta", allowed, delta)
        high = min(2 * high, limit)
    cells = bisect_left(range(high), True, lo=high // 2 + 1, key=exceeds) - 1
    while cells and not fits(cells):
        cells -= 1
    while fits(cells + 1):
        cells += 1
    return cells


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
    level, edge = float(parameters.epsilon(epsilon)), float(parameters.delta(delta))
    count = parameters.integer(cells, "cells", low=1, high=lattice.MOST)
    budget = float(parameters.number(total, "total", high=1))
    floor, spare = -math.expm1(count * math.log1p(-edge)), budget - count * edge
    basic = count * level if floor <= budget else math.inf
    root = math.sqrt(-2 * count * math.log(spare)) if spare > 0 else math.inf
    worst = lattice.power((1 - edge) / (1 + math.exp(-level)) * np.array([1, math.exp(-level)]), count)
    advanced = level * root + count * level * math.expm1(level)
    return Bounds(basic, advanced, lattice.inverse(budget, worst, infinite=floor, unit=level))


def _level(value: Any) -> Fraction:
    """ε, which here may be 0."""
    return parameters.number(value, "epsilon", high=parameters.EPSILON_MAX, includes="low high")


def _most(noise: AnyNoise) -> int:
    """The most cells whose losses float64 convolves in about a second."""
    return max(1, (lattice.MOST - 1) // loss_lattice(noise).top)


def _served(noise: AnyNoise, cells: int) -> lattice.Lattice:
    """The lattice of the losses of k cells, if they are not too many."""
    spread = loss_lattice(noise, cells)
    if cells > _most(noise):
        raise parameters.wrong_value("cells", f"at most {_most(noise)} for support {noise.support}", cells)
    return spread


def _floor(noise: AnyNoise, cells: int) -> float:
    """1 − (1 − p(−D))^k, below which δ_k never falls."""
    return -math.expm1(cells * math.log1p(-float(noise.pmf[0])))


@lru_cache(maxsize=8)  # a curve, its inverse and a table ask for the same convolution
def _masses(noise: AnyNoise, cells: int) -> Array:
    """A_k, the masses of the sums of losses, of the largest loss first."""
    masses = lattice.power(privacy.loss_masses(noise), cells)
    masses.flags.writeable = False
    return masses


def _delta(noise: AnyNoise, epsilon: Fraction, cells: int) -> float:
    """δ_k(ε) from the two halves of the cells: the last and largest convolution is not needed."""
    spread = loss_lattice(noise, cells)
    last, rest = spread.place(epsilon)
    first = _masses(noise, cells // 2) if cells > 1 else np.ones(1)
    second, step = _masses(noise, cells - cells // 2), 2 * float(spread.unit)
    excess = lattice.excess_of_sum(first, second, last=last, rest=float(rest), step=step)
    return _floor(noise, cells) + excess
