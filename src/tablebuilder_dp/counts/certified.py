"""The noise of small counts as intervals that provably contain it, and what is decided from them.

λ and γ of a row are enclosed by interval Newton steps in two dimensions around the float64 guess. A
step that maps a box into itself proves that the root lies there, because the map is a gradient (Lemma 4);
the box also proves whether V is reached (Theorem 46). From the rows follow δ of each pair of counts in both
directions and the first count from which the rows protect as well as the symmetric noise.
`perturbation_table` takes its cut points from here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from flint import arb

from tablebuilder_dp import certified
from tablebuilder_dp.certified import DIGITS
from tablebuilder_dp.counts import rows
from tablebuilder_dp.counts.rows import OfVariance, Symmetric
from tablebuilder_dp.counts.small_counts import choice, published
from tablebuilder_dp.noise import Noise, variance_bound
from tablebuilder_dp.privacy import Delta
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import (
    MAX_DIGITS,
    Ball,
    Enclosure,
    ball,
    enclosure,
    exponential,
    precision,
)

Guess = tuple[Fraction, Fraction]
Box = tuple[Enclosure, ...]


def _point(value: Fraction | int) -> Enclosure:
    return Enclosure(Fraction(value), Fraction(value))


_ZERO, _ONE = _point(0), _point(1)
_SPARE = 12  # more digits than γD² can have before the point, so that p(D) is as narrow as asked
DEPTH_MAX = 2000
"""Decimal places of p(D)/p(0) up to which rows are enclosed; beyond, their digits would fill the memory."""


class Row(NamedTuple):
    """The noise of one count: λ, γ, and p(−D), …, p(D) to a relative width of 10^−digits.

    λ and γ are as narrow as the probabilities need. Row 0 has no γ, as exp(−γz²) is a limit there.
    """

    tilt: Enclosure
    gamma: Enclosure | None
    pmf: tuple[Enclosure, ...]


def row(noise: Symmetric, count: int, *, digits: int = DIGITS) -> Row:
    """The noise of a count: on [−n, D] for n < D, the symmetric one for every larger count.

    V, or the γ of the symmetric noise, is exact. Proof: Theorem 46.

    Raises ArithmeticError where V equals V₀(n), or nearly so, as no precision then decides whether γ is 0; V
    cannot equal it when γ is given (Lemma 2).

    >>> row_3 = row(OfVariance(5, 3), 3)
    >>> row_3.tilt.digits(12), row_3.gamma.digits(12), row_3.pmf[2].digits(12)
    ('0.0435697547286', '0.136880631700', '0.0720298247652')
    """
    support = check_depth(noise)
    place = parameters.integer(count, "count", low=0, high=2**63 - 1)
    wanted = parameters.integer(digits, "digits", low=1, high=MAX_DIGITS)
    return solve(noise, min(place, support), wanted)


@lru_cache(maxsize=4096)
def solve(noise: Symmetric, count: int, digits: int) -> Row:
    """`row` of parameters that are already read; it is kept, as neighbouring pairs share rows.

    Interval Newton steps (Lemma 4) enclose λ and γ; Theorem 46 says what that proves.

    Raises ArithmeticError where `row` does.

    >>> solve(OfVariance(1, "0.5"), 0, 10).pmf[1]
    Enclosure(lower=Fraction(1, 1), upper=Fraction(1, 1))
    """
    support = noise.support
    if count == 0:
        return Row(_ZERO, None, (*[_ZERO] * support, _ONE, *[_ZERO] * support))
    if count == support and (isinstance(noise, Noise) or noise.is_uniform or support == 1):
        return _known_row(noise, digits)
    guess = _guesses(noise)[count - 1]
    # V must tell a γ that is tiny, as in row D, from zero.
    small = guess[1].denominator.bit_length() - guess[1].numerator.bit_length()
    bits = 4 * digits + max(small, 0) + 4 * support.bit_length() + 128
    for factor in (1, 2, 4):
        with precision(factor * bits):
            box = _bound_box(noise, count, guess, factor * digits)
            box = box or _free_box(noise, count, guess, factor * digits)
            if box is not None:
                tilt = _ZERO if count == support else box[0]  # it is in the box, and by symmetry the root
                return Row(tilt, box[1], _pmf(count, support, tilt, box[1]))
    raise ArithmeticError(
        f"no proof at {4 * bits} bits whether variance is reached by the row of count {count}: "
        "it is too near that of the zero-mean exponential"
    )


@lru_cache(maxsize=64)
def _guesses(noise: Symmetric) -> list[Guess]:
    """λ and γ of the rows 1, …, D in float64."""
    all_rows = rows.rows(noise)
    pairs = zip(all_rows.tilts[1:], all_rows.gammas[1:], strict=True)
    return [(Fraction(tilt), Fraction(rate)) for tilt, rate in pairs]


def _known_row(noise: Symmetric, digits: int) -> Row:
    """Row D where nothing has to be solved: γ is given, or p is rational and cut points may be whole."""
    support = noise.support
    if isinstance(noise, Noise):
        rate = _point(noise.gamma)
        with precision(4 * (digits + _SPARE) + 128):
            return Row(_ZERO, rate, _pmf(support, support, _ZERO, rate))
    if noise.is_uniform:
        return Row(_ZERO, _ZERO, (_point(Fraction(1, 2 * support + 1)),) * (2 * support + 1))
    ends, middle = _point(noise.variance / 2), _point(1 - noise.variance)
    rate = certified.gamma(support=1, variance=noise.variance, digits=min(digits + _SPARE, MAX_DIGITS))
    return Row(_ZERO, rate, (ends, middle, ends))


def _pmf(count: int, support: int, tilt: Enclosure, gamma: Enclosure) -> tuple[Enclosure, ...]:
    masses = list(_weights(count, support, tilt, gamma))
    total = sum(masses, arb(0))
    return (*[_ZERO] * (support - count), *(enclosure(mass / total) for mass in masses))


def _weights(count: int, support: int, tilt: Enclosure, gamma: Enclosure) -> Iterator[Ball]:
    """exp(−λz − γz²) for z = −n, …, D at the working precision, downward and upward from w(0) = 1."""
    lean, rate = ball(tilt), ball(gamma)
    below = list(islice(_one_side((lean - rate).exp(), (-2 * rate).exp()), count))
    yield from reversed(below)
    yield arb(1)
    yield from islice(_one_side((-lean - rate).exp(), (-2 * rate).exp()), support)


def _one_side(ratio: Ball, step: Ball) -> Iterator[Ball]:
    """w(1), w(2), …, where w(z+1) = w(z)·r(z) and r(z+1) = r(z)·step."""
    weight = ratio
    while True:
        yield weight
        ratio *= step
        weight *= ratio


def _sums(count: int, support: int, tilt: Enclosure, gamma: Enclosure) -> list[Ball]:
    """Σ z^k·exp(−λz − γz²) over [−n, D] for k = 0, …, 4, at the working precision."""
    terms, sums = list(_weights(count, support, tilt, gamma)), []
    for _ in range(5):
        sums.append(sum(terms, arb(0)))
        terms = [z * term for z, term in enumerate(terms, -count)]
    return sums


def _variance(noise: Symmetric) -> Ball:
    if isinstance(noise, OfVariance):
        return ball(noise.variance)
    total, second = certified.moments(noise, 0, 2)
    return second / total


def _bound_box(noise: Symmetric, count: int, guess: Guess, digits: int) -> Box | None:
    """λ and γ > 0 of a row whose variance is V; None if no step proves them."""
    goal = _variance(noise)

    def step(tilt: Enclosure, gamma: Enclosure) -> tuple[Ball, ...]:
        lean, rate = _middle(tilt), _middle(gamma)
        total, first, second, *_ = _sums(count, noise.support, lean, rate)
        mean, excess = first / total, second / total - goal
        total, *sums = _sums(count, noise.support, tilt, gamma)
        m1, m2, m3, m4 = (power_sum / total for power_sum in sums)
        spread, mixed, square = m2 - m1 * m1, m3 - m1 * m2, m4 - m2 * m2
        rise = (excess - mean * mixed / spread) / (square - mixed * mixed / spread)
        return ball(lean) + (mean - mixed * rise) / spread, ball(rate) + rise

    tilt, gamma = guess
    box = (_around(tilt, tilt + gamma), _around(gamma, gamma + tilt / noise.support))
    root = _newton(step, box, noise.support, digits)
    return root if root is not None and root[1].lower > 0 else None


def _free_box(noise: Symmetric, count: int, guess: Guess, digits: int) -> Box | None:
    """λ of a row with γ = 0, if its variance is proved to be at most V."""
    tilt = _free_tilt(count, noise.support, guess[0], digits)
    if tilt is None:
        return None
    total, _, second, *_ = _sums(count, noise.support, tilt, _ZERO)
    return (tilt, _ZERO) if second / total <= _variance(noise) else None


def _free_tilt(count: int, support: int, guess: Fraction, digits: int) -> Enclosure | None:
    """The λ at which exp(−λz) on [−n, D] has mean zero; None if no step proves it."""

    def step(tilt: Enclosure) -> tuple[Ball, ...]:
        lean = _middle(tilt)
        total, first, *_ = _sums(count, support, lean, _ZERO)
        mean = first / total
        total, first, second, *_ = _sums(count, support, tilt, _ZERO)
        return (ball(lean) + mean / (second / total - first * first / (total * total)),)

    root = _newton(step, (_around(guess, guess),), support, digits)
    return None if root is None else root[0]


def _newton(step: Callable[..., tuple[Ball, ...]], box: Box, support: int, digits: int) -> Box | None:
    """Interval Newton steps until λz + γz² is known to 10^−digits on all of [−D, D].

    Each box lies inside the one before, on a grid of the working precision, so the steps come to an end.
    """
    width = Fraction(1)
    while width * 10 ** (digits + 1) >= 1:
        moved = step(*box)
        if not all(coordinate.is_finite() for coordinate in moved):  # a variance not kept away from zero
            return None
        narrower = tuple(map(enclosure, moved))
        pairs = zip(box, narrower, strict=True)
        if not all(old.lower < new.lower <= new.upper < old.upper for old, new in pairs):
            return None
        box = narrower
        width = sum(((side.upper - side.lower) * support**k for k, side in enumerate(box, 1)), Fraction(0))
    return box


def _around(value: Fraction, scale: Fraction) -> Enclosure:
    return Enclosure(value - scale / 10**9, value + scale / 10**9)


def _middle(box: Enclosure) -> Enclosure:
    return _point((box.lower + box.upper) / 2)


def free_variance(count: int, *, support: int, digits: int = DIGITS) -> Enclosure:
    """V₀(n), the variance of the zero-mean p ∝ exp(−λz) on [−n, D]: a larger V is not reached.

    V₀(D) = D(D+1)/3, the bound of Proposition 1 (Theorem 39). λ is enclosed by steps of Lemma 4.

    Raises ArithmeticError where no step proves λ.

    >>> free_variance(1, support=5).digits(12), free_variance(5, support=5).lower
    ('1.72149137838', Fraction(10, 1))
    """
    half_width = parameters.integer(support, "support", low=1, high=rows.SUPPORT_MAX)
    place, bound = parameters.integer(count, "count", low=1, high=half_width), variance_bound(half_width)
    if place == half_width:
        return _point(bound)
    wanted = parameters.integer(digits, "digits", low=1, high=MAX_DIGITS) + _SPARE
    guess = _guesses(OfVariance(half_width, bound))[place - 1][0]
    with precision(4 * wanted + 128):
        tilt = _free_tilt(place, half_width, guess, wanted)
        if tilt is None:
            raise ArithmeticError(f"no proof of the tilt near {float(guess)}")
        total, _, second, *_ = _sums(place, half_width, tilt, _ZERO)
        return enclosure(second / total)


def delta(
    noise: Symmetric,
    count: int,
    epsilon: parameters.Number,
    *,
    small_counts: str = "rows",
    digits: int = DIGITS,
) -> Delta[Enclosure]:
    """δ(ε) of the counts n and n + 1 in both directions, to a relative width of 10^−digits.

    Raises ArithmeticError where ε is too near a kink of δ to tell the sides apart.

    >>> both = delta(OfVariance(5, 3), 0, 1)
    >>> both.backward.digits(12), both.forward.upper
    ('0.512015130914', Fraction(0, 1))
    """
    level, chosen = parameters.epsilon(epsilon), choice(small_counts)
    pair = min(parameters.integer(count, "count", low=0, high=2**63 - 2), check_depth(noise))
    wanted = parameters.integer(digits, "digits", low=1, high=MAX_DIGITS)
    # An exact kink adds the error of a large mass, which must not show beside p(D).
    spare = min(_depth(noise, noise.support), DEPTH_MAX)
    for more in (wanted, 2 * wanted, 4 * wanted + spare):
        with precision(4 * more + 168):
            both = [enclosure(alone + rest) for alone, rest in _parts(pair, noise, level, chosen, more + 10)]
        if all((ends.upper - ends.lower) * 10**wanted <= ends.lower for ends in both):
            return Delta(*both)
    raise ArithmeticError(f"no {wanted} digits of delta at count {pair}: epsilon is too near a kink")


def check_depth(noise: Symmetric) -> int:
    """D, if the rows of the noise can be enclosed in little time and memory.

    >>> check_depth(OfVariance(5, 3))
    5
    """
    support = rows.check(noise)
    if _depth(noise, support) > DEPTH_MAX:
        raise parameters.wrong_value("noise", f"one with p(D)/p(0) above 1e-{DEPTH_MAX}", noise)
    return support


def _depth(noise: Symmetric, z: int) -> int:
    """How many decimal places p(z) of the symmetric noise lies below p(0)."""
    return math.ceil(rows.symmetric_gamma(noise) * z * z / math.log(10))


def _parts(
    pair: int, noise: Symmetric, epsilon: Fraction, chosen: str, digits: int
) -> list[tuple[Ball, Ball]]:
    """δ forward and backward: the mass that one count alone can publish, and what the other values add."""
    less, more = (_published(count, noise, chosen, digits) for count in (pair, pair + 1))
    less.append(_ZERO)
    growth = exponential(epsilon)
    parts = []
    for p, q in ((less, more), (more, less)):
        both = list(zip(p, q, strict=True))
        alone = sum((ball(a) for a, b in both if not b.upper), arb(0))
        gains = ((ball(a) - growth * ball(b)).nonnegative_part() for a, b in both if b.upper)
        parts.append((alone, sum(gains, arb(0))))
    return parts


def _published(count: int, noise: Symmetric, chosen: str, digits: int) -> list[Enclosure]:
    """P(n → y) for y = 0, …, n + D, of a count in [0, D + 1]."""
    place = min(count, noise.support) if chosen == "rows" else noise.support
    masses = list(solve(noise, place, digits).pmf)
    if chosen == "clamped":
        first = max(noise.support - count, 0)
        ends = ([getattr(mass, end) for mass in masses[: first + 1]] for end in ("lower", "upper"))
        masses[first] = Enclosure(*(sum(side, Fraction(0)) for side in ends))
    return published(masses, count, _ZERO)


def protected_from(noise: Symmetric, epsilon: parameters.Number) -> int:
    """The smallest count from which on the rows protect every pair as well as the symmetric noise does.

    That is, δ(ε) of the pairs n, n + 1, … in both directions is at most the symmetric δ(ε), decided by
    enclosures; it is D or less, as pairs from D on are symmetric. At pair D − 1 > 0 the value that is
    published by the larger count alone has the symmetric p(D) itself, so only the rest is compared.
    For clamped counts it is 0 (Theorem 42). The comparison is exact: a
    pair may exceed the symmetric δ in its hundredth digit only.

    Raises ArithmeticError where a δ is too near the symmetric one to decide.

    >>> protected_from(OfVariance(5, 3), 1), protected_from(OfVariance(5, 3), 2)
    (5, 4)
    """
    level, first = parameters.epsilon(epsilon), check_depth(noise)
    while first > 0 and _as_symmetric(first - 1, noise, level):
        first -= 1
    return first


def _as_symmetric(pair: int, noise: Symmetric, epsilon: Fraction) -> bool:
    digits = DIGITS + _depth(noise, pair + 1)  # row n lacks −n − 1: it differs by about p(n + 1) from row D
    for factor in (1, 2, 4):
        with precision(4 * factor * digits + 128):
            _, (alone, rest) = _parts(noise.support, noise, epsilon, "rows", factor * digits)
            (down, less), (up, more) = _parts(pair, noise, epsilon, "rows", factor * digits)
            above = arb(0) if 0 < pair == noise.support - 1 else up - alone
            gaps = (above + more - rest, down + less - alone - rest)
            if all(gap <= 0 for gap in gaps):
                return True
            if any(gap > 0 for gap in gaps):
                return False
    raise ArithmeticError(f"undecided whether the pair of count {pair} is protected: delta is too near")
