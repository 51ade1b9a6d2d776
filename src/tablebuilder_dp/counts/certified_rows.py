"""The rows of small counts as intervals that provably contain them, and what is decided from these.

λ and γ of a row are enclosed by interval Newton steps in two dimensions around the float64 guess. A
step that maps a box into itself proves that the root lies there, because the map is a gradient (Lemma 4);
the box also proves whether V is reached (Theorem 46). `small_counts` decides from these rows what is
protected, `perturbation_table` the cut points.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from tablebuilder_dp import certified, noise
from tablebuilder_dp.certified import DIGITS
from tablebuilder_dp.counts import asymmetric
from tablebuilder_dp.counts.asymmetric import Target
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import MAX_DIGITS, Enclosure, enclosure, exp, interval, iv

Guess = tuple[Fraction, Fraction]
Box = tuple[Enclosure, Enclosure]

_ZERO, _ONE = (Enclosure(Fraction(value), Fraction(value)) for value in (0, 1))
_SPARE = 12  # more digits than γD² can have before the point, so that p(D) is as narrow as asked


class Row(NamedTuple):
    """The noise of one count: λ, γ, and p(−D), …, p(D) to a relative width of 10^−digits.

    λ and γ are as narrow as the probabilities need. Row 0 has no γ, as exp(−γz²) is a limit there.
    """

    tilt: Enclosure
    gamma: Enclosure | None
    pmf: tuple[Enclosure, ...]


def row(
    count: int,
    *,
    support: int,
    variance: parameters.Number | None = None,
    gamma: parameters.Number | None = None,
    digits: int = DIGITS,
) -> Row:
    """The noise of a count: on [−n, D] for n < D, the symmetric one for every larger count.

    V, or the γ of the symmetric noise, is exact. Where V equals V₀(n) exactly, no precision decides
    whether γ is 0 and the row is refused; this cannot happen when γ is given (Lemma 2). Proof: Theorem 46.

    >>> found = row(3, support=5, variance=3)
    >>> found.tilt.digits(12), found.gamma.digits(12), found.pmf[2].digits(12)
    ('0.0435697547286', '0.136880631700', '0.0720298247652')
    """
    aim = asymmetric.target(support=support, variance=variance, gamma=gamma)
    place = parameters.integer(count, "count", low=0, high=2**63 - 1)
    wanted = parameters.integer(digits, "digits", low=1, high=MAX_DIGITS)
    return solve(min(place, aim.support), aim, wanted)


@lru_cache(maxsize=4096)
def solve(count: int, aim: Target, digits: int) -> Row:
    """`row` of parameters that are already read; it is kept, as neighbouring pairs share rows.

    Interval Newton steps (Lemma 4) enclose λ and γ; Theorem 46 says what that proves.

    >>> solve(0, asymmetric.target(support=1, variance="0.5"), 10).pmf[1]
    Enclosure(lower=Fraction(1, 1), upper=Fraction(1, 1))
    """
    support = aim.support
    if count == 0:
        return Row(_ZERO, None, (*[_ZERO] * support, _ONE, *[_ZERO] * support))
    if count == support and (aim.gamma is not None or aim.is_uniform or support == 1):
        return _known_row(aim, digits)
    guess = _guesses(aim)[count - 1]
    # e^−γ must stay well above 2^−bits, and so must γ itself in row D.
    small = guess[1].denominator.bit_length() - guess[1].numerator.bit_length()
    bits = 4 * digits + 3 * math.ceil(guess[1]) + max(small, 0) + 4 * support.bit_length() + 128
    for factor in (1, 2, 4):
        iv.prec = factor * bits
        box = _bound_box(count, aim, guess, factor * digits) or _free_box(count, aim, guess, factor * digits)
        if box is not None:
            tilt = _ZERO if count == support else box[0]  # zero lies in the box, and by symmetry is the root
            return Row(tilt, box[1], _pmf(count, support, tilt, box[1]))
    raise ArithmeticError(
        f"no proof at {iv.prec} bits whether variance is reached by the row of count {count}: "
        "it is too near that of the zero-mean exponential"
    )


@lru_cache(maxsize=64)
def _guesses(aim: Target) -> list[Guess]:
    """λ and γ of the rows 1, …, D in float64."""
    found = asymmetric.rows(**aim._asdict())
    pairs = zip(found.tilts[1:], found.gammas[1:], strict=True)
    return [(Fraction(tilt), Fraction(rate)) for tilt, rate in pairs]


def _known_row(aim: Target, digits: int) -> Row:
    """Row D where nothing has to be solved: γ is given, or p is rational and cut points may be whole."""
    support = aim.support
    iv.prec = 4 * (digits + _SPARE) + 128
    if aim.is_uniform:
        share = Enclosure(Fraction(1, 2 * support + 1), Fraction(1, 2 * support + 1))
        return Row(_ZERO, _ZERO, (share,) * (2 * support + 1))
    if aim.gamma is not None:
        rate = Enclosure(aim.gamma, aim.gamma)
        return Row(_ZERO, rate, _pmf(support, support, _ZERO, rate))
    variance = Fraction(aim.variance or 0)
    ends, middle = (Enclosure(mass, mass) for mass in (variance / 2, 1 - variance))
    rate = certified.gamma(support=1, variance=variance, digits=min(digits + _SPARE, MAX_DIGITS))
    return Row(_ZERO, rate, (ends, middle, ends))


def _pmf(count: int, support: int, tilt: Enclosure, gamma: Enclosure) -> tuple[Enclosure, ...]:
    lean, rate = interval(tilt), interval(gamma)
    total = _sums(count, support, tilt, gamma)[0]
    masses = (enclosure(exp(-z * lean - z * z * rate) / total) for z in range(-count, support + 1))
    return (*[_ZERO] * (support - count), *masses)


def _sums(count: int, support: int, tilt: Enclosure, gamma: Enclosure) -> list[Any]:
    """Σ z^k·exp(−λz − γz²) over [−n, D] for k = 0, …, 4, at the working precision.

    The weights come from integer recurrences in units of 2^−prec, downward and upward from w(0) = 1.
    """
    lean, rate = interval(tilt), interval(gamma)
    ratios = [enclosure(exp(value)) for value in (lean - rate, -lean - rate, -2 * rate)]
    bits = int(iv.prec)
    unit = 1 << bits
    sides = []
    for end, up in ((math.floor, 0), (math.ceil, unit - 1)):
        fall, rise, step = (end((one.upper if up else one.lower) * unit) for one in ratios)
        below = certified.recurrence(count, fall, step, bits, up)
        sides.append(below[:0:-1] + certified.recurrence(support, rise, step, bits, up))
    sums = []
    for power in range(5):
        factors = [z**power for z in range(-count, support + 1)]
        ends = [
            sum(f * (one if f > 0 else other) for f, one, other in zip(factors, *pair, strict=True))
            for pair in (sides, sides[::-1])
        ]
        sums.append(interval(Enclosure(*(Fraction(end, unit) for end in ends))))
    return sums


def _variance(aim: Target) -> Any:
    if aim.variance is not None:
        return interval(aim.variance)
    rate = Fraction(aim.gamma or 0)
    sums = _sums(aim.support, aim.support, _ZERO, Enclosure(rate, rate))
    return sums[2] / sums[0]


def _bound_box(count: int, aim: Target, guess: Guess, digits: int) -> Box | None:
    """λ and γ > 0 of a row whose variance is V; None if no step proves them."""
    goal = _variance(aim)

    def step(tilt: Enclosure, gamma: Enclosure) -> tuple[Any, Any]:
        lean, rate = _middle(tilt), _middle(gamma)
        total, first, second, *_ = _sums(count, aim.support, lean, rate)
        mean, excess = first / total, second / total - goal
        total, *sums = _sums(count, aim.support, tilt, gamma)
        m1, m2, m3, m4 = (one / total for one in sums)
        spread, mixed, square = m2 - m1**2, m3 - m1 * m2, m4 - m2**2
        rise = (excess - mean * mixed / spread) / (square - mixed**2 / spread)
        return interval(lean) + (mean - mixed * rise) / spread, interval(rate) + rise

    tilt, gamma = guess
    box = (_around(tilt, tilt + gamma), _around(gamma, gamma + tilt / aim.support))
    found = _newton(step, box, aim.support, digits)
    return (found[0], found[1]) if found is not None and found[1].lower > 0 else None


def _free_box(count: int, aim: Target, guess: Guess, digits: int) -> Box | None:
    """λ of a row with γ = 0, if its variance is proved to be at most V."""
    tilt = _free_tilt(count, aim.support, guess[0], digits)
    if tilt is None:
        return None
    sums = _sums(count, aim.support, tilt, _ZERO)
    return (tilt, _ZERO) if enclosure(sums[2] / sums[0] - _variance(aim)).upper <= 0 else None


def _free_tilt(count: int, support: int, guess: Fraction, digits: int) -> Enclosure | None:
    """The λ at which exp(−λz) on [−n, D] has mean zero; None if no step proves it."""

    def step(tilt: Enclosure) -> tuple[Any]:
        lean = _middle(tilt)
        total, first, *_ = _sums(count, support, lean, _ZERO)
        mean = first / total
        total, first, second, *_ = _sums(count, support, tilt, _ZERO)
        return (interval(lean) + mean / (second / total - (first / total) ** 2),)

    found = _newton(step, (_around(guess, guess),), support, digits)
    return None if found is None else found[0]


def _newton(
    step: Callable[..., tuple[Any, ...]], box: tuple[Enclosure, ...], support: int, digits: int
) -> tuple[Enclosure, ...] | None:
    """Interval Newton steps until λz + γz² is known to 10^−digits on all of [−D, D].

    Each box lies inside the one before, on a grid of the working precision, so the steps come to an end.
    """
    width = Fraction(1)
    while width * 10 ** (digits + 1) >= 1:
        try:
            narrower = tuple(map(enclosure, step(*box)))
        except OverflowError:  # a variance not kept away from zero
            return None
        pairs = zip(box, narrower, strict=True)
        if not all(old.lower < new.lower <= new.upper < old.upper for old, new in pairs):
            return None
        box = narrower
        width = sum(((one.upper - one.lower) * support**k for k, one in enumerate(box, 1)), Fraction(0))
    return box


def _around(value: Fraction, scale: Fraction) -> Enclosure:
    return Enclosure(value - scale / 10**9, value + scale / 10**9)


def _middle(box: Enclosure) -> Enclosure:
    middle = (box.lower + box.upper) / 2
    return Enclosure(middle, middle)


def free_variance(count: int, *, support: int, digits: int = DIGITS) -> Enclosure:
    """V₀(n), the variance of the zero-mean p ∝ exp(−λz) on [−n, D]: a larger V is not reached.

    V₀(D) = D(D+1)/3, the bound of Proposition 1 (Theorem 39). λ is enclosed by steps of Lemma 4.

    >>> free_variance(1, support=5).digits(12), free_variance(5, support=5).lower
    ('1.72149137838', Fraction(10, 1))
    """
    bound = noise.variance_bound(parameters.integer(support, "support", low=1, high=asymmetric.SUPPORT_MAX))
    place = parameters.integer(count, "count", low=1, high=support)
    if place == support:
        return Enclosure(bound, bound)
    wanted = parameters.integer(digits, "digits", low=1, high=MAX_DIGITS) + _SPARE
    guess = _guesses(asymmetric.target(support=support, variance=bound))[place - 1][0]
    iv.prec = 4 * wanted + 128
    tilt = _free_tilt(place, support, guess, wanted)
    if tilt is None:
        raise ArithmeticError(f"no proof of the tilt near {float(guess)}")
    sums = _sums(place, support, tilt, _ZERO)
    return enclosure(sums[2] / sums[0])
