"""Past the paper: what may be promised for k cells whose noises come from uniform keys.

The design is a noise; what is used is a lookup table of whole numbers of keys, whose noise is a little
different. So the promise has two parts: the exact δ_k of the designed noise, enclosed, and the most that the
integers can add, from the total variation distance between the two. Everything is rounded up. The keys of
different cells are independent and uniform; a person changes at most k counts, each by one. `together` is the
same for counts that do not all have one noise, as in the editions of several years.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import NamedTuple

from flint import fmpz_poly

from tablebuilder_dp import certified, privacy, sampling
from tablebuilder_dp.noise import AnyNoise, check
from tablebuilder_dp.sampling import LookupTable
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import (
    MAX_BITS,
    Ball,
    enclosure,
    exponential,
    first_bits,
    precision,
    to_digits,
)

CELLS_MAX = 4096
"""The most cells for which a promise is made: about a second for the paper's noise."""

DIGITS = 6
"""The digits to which a promise is sharp."""

_GRID = 1 << 18  # the places on which the losses of different noises meet
_BITS = 192  # of their masses
_THRESHOLDS = [1 << bits for bits in range(0, 64, 8)]  # weights below which integers may distort a loss
_HALVINGS = 10  # how near to ε the bound for clamped answers looks


class Promise(NamedTuple):
    """The (ε, δ) of k cells, and a bound on the probability that odds change by more than e^ε."""

    epsilon: Fraction
    delta: Fraction
    loss_above_epsilon: Fraction


def promise(
    noise: AnyNoise, table: LookupTable, epsilon: parameters.Number, *, cells: int, clamped: bool = False
) -> Promise:
    """What holds for at most k ``cells`` with the noises of a table that was made from a noise.

    δ is that of the designed noise, δ_k(ε), plus k·TV·(1 + e^ε), where TV is the distance between the
    integers and the design (Theorem 47). It holds whichever of the counts rise and which fall, also if fewer
    than k change, and also if answers are clamped to max(0, n + z) or otherwise processed.

    ``loss_above_epsilon`` bounds the probability, whichever of two neighbouring databases is true, that the
    answers multiply or divide the odds between the two by more than e^ε. For answers n + z it is nearly exact
    if k counts change, and if fewer do, the probability is at most four times as large (Theorem 48). Clamped
    answers, or only positive ones, pool a tail and pass e^ε more often; with ``clamped`` a general bound
    covers whatever is made of the answers, for any number of counts up to k (Theorem 49).

    Returns exact numbers, rounded up. Raises ValueError for sums of noises that are too wide to enclose, and
    ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> from tablebuilder_dp.noise import Geometric
    >>> noise = Geometric(120, "0.12")
    >>> table = sampling.lookup_table(noise, keysize=2**64, rule=sampling.nearest)
    >>> [float(bound) for bound in promise(noise, table, 1, cells=8)]
    [1.0, 2.67226...e-07, 2.67226...e-07]
    """
    level = parameters.epsilon(epsilon)
    count = parameters.integer(cells, "cells", low=1, high=CELLS_MAX)
    certified.check_width(check(noise), count, DIGITS)
    away = count * sampling.distance(noise, table, digits=DIGITS).upper
    delta = _delta(noise, level, count, away)
    beyond = _pooled(noise, level, count, away) if clamped else _beyond(noise, table, level, count, away)
    return Promise(level, delta, beyond)


class Part(NamedTuple):
    """Counts with one noise: how many of them one person changes, and how far the integers are from it.

    ``distance`` is at least the total variation distance of one lookup table from the noise.
    """

    noise: AnyNoise
    cells: int
    distance: Fraction


def together(parts: Sequence[Part], epsilon: parameters.Number) -> Fraction:
    """An upper bound on the δ at ε of counts with several independent noises.

    For one noise it is the δ of `promise`. Otherwise the losses of each noise are rounded up to a common
    grid and their masses down, so that the bound errs on the side of less protection (Theorem 66).

    Returns an exact number of at most 1. Raises ValueError for sums of noises that are too wide to enclose,
    and ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> from tablebuilder_dp.noise import Geometric, Noise
    >>> one, other = Part(Geometric(120, "0.12"), 8, Fraction(0)), Part(Noise(94, "0.0017"), 16, Fraction(0))
    >>> [float(together(parts, 2)) for parts in ([one], [one, other], [one, one])]
    [2.6722...e-07, 3.8081...e-07, 5.3445...e-07]
    """
    level = parameters.epsilon(epsilon)
    merged: dict[AnyNoise, int] = {}
    for part in parts:
        merged[part.noise] = merged.get(part.noise, 0) + part.cells
    merged = {noise: cells for noise, cells in merged.items() if cells}
    for noise, cells in merged.items():
        certified.check_width(check(noise), cells, DIGITS)
    away = sum((part.cells * part.distance for part in parts), Fraction(0))
    bound = _together(merged, level, away)
    if level > 1 and 100 * _integers(level, away) > bound:  # which grows with ε, while δ falls
        return min(bound, together(parts, level / 2))
    return bound


def _together(merged: Mapping[AnyNoise, int], level: Fraction, away: Fraction) -> Fraction:
    if len(merged) < 2:
        return max(
            (_delta(noise, level, cells, away) for noise, cells in merged.items()), default=Fraction(0)
        )
    step, top, masses = _mixed(tuple(merged.items()))
    above = masses.truncate(max(0, math.floor((top - level) / step) + 1))  # those of losses of at least ε
    with precision(_BITS):
        gain = enclosure(int(above(1)) - exponential(level - top) * above(exponential(step))).upper
    return min(_integers(level, away) + 1 - (int(masses(1)) - gain) / (1 << _BITS), Fraction(1))


@lru_cache(maxsize=2)
def _mixed(parts: tuple[tuple[AnyNoise, int], ...]) -> tuple[Fraction, Fraction, fmpz_poly]:
    """The law of the loss of several noises on a common grid, losses rounded up and masses down.

    The grid has the losses of the first noise; those of the others are at most one step too large.

    Returns the step of the grid, the largest loss, and the masses in units of 2^−``_BITS`` as coefficients,
    of the largest loss first. What they lack of 1 counts as an infinite loss.
    """
    laws = []
    for noise, cells in parts:
        with precision(_BITS):
            window = certified.composed_masses(noise, cells, _BITS)
        unit, top = privacy.loss_lattice(noise, cells)
        laws.append((2 * unit, unit * (top - 2 * window.first), window.masses))
    width = sum((between * len(masses) for between, _, masses in laws), Fraction(0))
    step = laws[0][0] / max(1, math.floor(_GRID * laws[0][0] / width))
    product = fmpz_poly([1 << _BITS])
    for between, _, masses in laws:
        share = between / step
        gathered = [0] * (share.numerator * len(masses) // share.denominator + 1)
        for place, mass in enumerate(masses):
            gathered[share.numerator * place // share.denominator] += mass
        product = product * fmpz_poly(gathered) // (1 << _BITS)
    return step, sum((highest for _, highest, _ in laws), Fraction(0)), product


def _delta(noise: AnyNoise, epsilon: Fraction, cells: int, away: Fraction) -> Fraction:
    """δ_k(ε) and what the integers add."""
    return _sum_above(_integers(epsilon, away), partial(certified.composed_delta_ball, noise, epsilon, cells))


def _integers(epsilon: Fraction, away: Fraction) -> Fraction:
    """What whole numbers of keys add to δ, at most, if they are this far from the design (Theorem 47)."""
    bits = first_bits(DIGITS)
    return away * (1 + Fraction(certified.growth(epsilon, bits)[1], 1 << bits))


def _sum_above(known: Fraction, compute: Callable[[], Ball]) -> Fraction:
    """An upper bound, of at most 1, on a known number and a computed one together, sharp to ``DIGITS``."""
    bits = first_bits(DIGITS)
    while bits <= MAX_BITS:
        with precision(bits):
            ends = enclosure(compute())
        if (ends.upper - ends.lower) * 10**DIGITS <= max(ends.lower, Fraction(0)) + known:
            return min(ends.upper + known, Fraction(1))
        bits *= 2
    raise ArithmeticError(f"no decision at {MAX_BITS} bits: a probability is too small")


def _beyond(noise: AnyNoise, table: LookupTable, epsilon: Fraction, cells: int, away: Fraction) -> Fraction:
    """P(|L| > ε) for answers n + z.

    Where no weight near z is below a threshold, the loss of the integers is within η of the designed one. The
    rest has the mass β; the least bound of some thresholds is taken (Theorem 48).
    """
    weights, errors = table.weights, _relative_errors(noise, table)
    bounds = [Fraction(1)]
    for threshold in _THRESHOLDS:
        few = [weight < threshold for weight in weights]
        near = zip(weights, few, [*few[1:], False], [False, *few[:-1]], strict=True)
        rest = Fraction(sum(weight for weight, *flags in near if any(flags)), table.keysize)
        wide = [error for error, small in zip(errors, few, strict=True) if not small]
        within = epsilon - 2 * cells * max(wide, default=epsilon)
        if within >= 0 and cells * rest + away < min(bounds):
            law = partial(certified.loss_beyond_ball, noise, within, cells)
            bounds.append(_sum_above(cells * rest + away, law))
    return min(bounds)


def _relative_errors(noise: AnyNoise, table: LookupTable) -> list[Fraction]:
    """At least |ln(w(z)/(KEYSIZE·p(z)))| for z = −D, …, D; 0 where there is no key, as nobody looks there."""
    with precision(128):
        half = list(certified.weights(noise, 0, noise.support))
        share = table.keysize / certified.moments(noise, 0)[0]
        both = zip(table.weights, [*half[:0:-1], *half], strict=True)
        return [enclosure(abs((w / (share * mass)).log())).upper if w else Fraction(0) for w, mass in both]


def _pooled(noise: AnyNoise, epsilon: Fraction, cells: int, away: Fraction) -> Fraction:
    """P(|L| > ε) for whatever is made of the answers, by the best of some ε' = ε − gap (Theorem 49)."""

    def bound(gap: Fraction) -> Fraction:
        delta = _delta(noise, epsilon - gap, cells, away)
        factor = to_digits(DIGITS, lambda: (1 + exponential(-epsilon)) / (1 - exponential(-gap)))
        return delta * factor.upper

    return min(Fraction(1), *(bound(epsilon / 2**halving) for halving in range(1, _HALVINGS + 1)))
