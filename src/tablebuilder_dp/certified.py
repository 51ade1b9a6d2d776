"""Every quantity of the paper as an interval that provably contains it.

The formulas are written here a second time, and float64 results enter only as first guesses of a
root that is then proved; the two versions therefore check each other. Arithmetic is mpmath's
intervals, long sums run in integers with explicit floors and ceilings, and the precision rises
until the wanted digits, or the floor, ceiling or comparison in question, are decided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

from tablebuilder_dp import noise, privacy
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import (
    MAX_BITS,
    MAX_DIGITS,
    Enclosure,
    below,
    enclosure,
    exp,
    interval,
    iv,
    log,
    positive_part,
    to_digits,
)

DIGITS = 30
"""Significant digits of an enclosure where nothing else is asked for."""

Rate = parameters.Number | Enclosure
"""γ, given exactly or as the enclosure that `gamma` returns."""


# --- Section III-A: the noise -----------------------------------------------------------------


def _read(support: int, gamma: Rate) -> tuple[int, Fraction | Enclosure]:
    rate = gamma if isinstance(gamma, Enclosure) else parameters.gamma(gamma)
    return parameters.support(support), rate


def _weights(support: int, gamma: Fraction | Enclosure) -> tuple[list[int], list[int], int]:
    """Lower and upper ends of w(0), …, w(D) in units of 2^−bits, where w(z) = exp(−γz²), and bits.

    w(z+1) = w(z)·r(z) and r(z+1) = r(z)·e^−2γ, so a step costs two integer products.
    """
    bits = int(iv.prec)
    rate = interval(gamma)
    ratio, step = enclosure(exp(-rate)), enclosure(exp(-2 * rate))
    low = recurrence(support, math.floor(ratio.lower * 2**bits), math.floor(step.lower * 2**bits), bits, 0)
    up = 2**bits - 1  # added before the shift, it turns the floor into a ceiling
    high = recurrence(support, math.ceil(ratio.upper * 2**bits), math.ceil(step.upper * 2**bits), bits, up)
    return low, high, bits


def recurrence(support: int, ratio: int, step: int, bits: int, up: int) -> list[int]:
    """w(0) = 1, w(1), …, w(D) in units of 2^−bits, where w(z+1) = w(z)·r(z) and r(z+1) = r(z)·step.

    ``ratio`` is r(0). Every product is rounded down if ``up`` is 0, and up if it is 2^bits − 1: so none
    of the weights is above the true one, or none is below it (Lemma 3).

    >>> recurrence(3, 128, 128, 8, 0)
    [256, 128, 32, 4]
    """
    weight = 1 << bits
    weights = [weight]
    for _ in range(support):
        weight, ratio = (weight * ratio + up) >> bits, (ratio * step + up) >> bits
        weights.append(weight)
    return weights


def moment(power: int, support: int, gamma: Fraction | Enclosure) -> Any:
    """Σ z^power·exp(−γz²) over [-D, D] for an even power, as an mpmath interval of the working precision.

    >>> float(enclosure(moment(2, 1, Fraction(1, 2))))  # 2·e^(−1/2)
    1.2130613...
    """
    low, high, bits = _weights(support, gamma)
    ends = (
        Fraction(sum(z**power * weight for z, weight in enumerate(side)) * 2 - 0**power * side[0], 1 << bits)
        for side in (low, high)
    )
    return interval(Enclosure(*ends))


def normaliser(*, support: int, gamma: Rate, digits: int = DIGITS) -> Enclosure:
    """C, the probability of no noise.

    >>> normaliser(support=1, gamma="0.5").digits(20)
    '0.45186276187760604381'
    """
    half_width, rate = _read(support, gamma)
    return to_digits(digits, lambda: 1 / moment(0, half_width, rate))


def pmf(z: int, *, support: int, gamma: Rate, digits: int = DIGITS) -> Enclosure:
    """p(z), the probability of one noise value.

    >>> pmf(-25, support=25, gamma="0.0101").digits(12)
    '0.000102855197663'
    """
    half_width, rate = _read(support, gamma)
    value = parameters.integer(z, "z", low=-half_width, high=half_width)
    return to_digits(digits, lambda: exp(-value * value * interval(rate)) / moment(0, half_width, rate))


def edge_reaches(delta: parameters.Number, *, support: int, gamma: parameters.Number) -> bool:
    """Decide p(D) ≤ δ. For a rational γ > 0 the two are never equal (Lemma 2).

    >>> edge_reaches("1e-4", support=25, gamma="0.0102"), edge_reaches("1e-4", support=25, gamma="0.01")
    (True, False)
    """
    half_width, rate = parameters.support(support), parameters.gamma(gamma)
    bound = parameters.delta(delta)
    return below(bound, lambda: exp(-(half_width**2) * interval(rate)) / moment(0, half_width, rate))


def variance(*, support: int, gamma: Rate, digits: int = DIGITS) -> Enclosure:
    """V(γ).

    >>> variance(support=11, gamma="0.125").digits(12)
    '3.99999910352'
    """
    half_width, rate = _read(support, gamma)
    return to_digits(digits, lambda: moment(2, half_width, rate) / moment(0, half_width, rate))


def entropy(*, support: int, gamma: Rate, digits: int = DIGITS) -> Enclosure:
    """H(Z) = −Σ p ln p, in nats.

    >>> entropy(support=1, gamma="0.5").digits(12)
    '1.06844538848'
    """
    half_width, rate = _read(support, gamma)

    def compute() -> Any:
        total = moment(0, half_width, rate)
        return log(total) + interval(rate) * moment(2, half_width, rate) / total

    return to_digits(digits, compute)


def polynomial(
    x: parameters.Number, *, support: int, variance: parameters.Number, digits: int = DIGITS
) -> Enclosure:
    """f(x) = Σ (2z² − 2V)·x^(z²) − V, whose root in (0, 1) is e^−γ (Theorem 7).

    >>> polynomial("0.5", support=1, variance="0.25").digits(3)
    '0.5'
    """
    half_width = parameters.support(support)
    target = parameters.number(variance, "variance", high=half_width**2, includes="high")
    at = parameters.number(x, "x", high=10**6, includes="low high")

    def compute() -> Any:
        terms = (interval(2 * (z * z - target)) * interval(at) ** (z * z) for z in range(1, half_width + 1))
        return sum(terms, -interval(target))

    return to_digits(digits, compute)


def gamma(*, support: int, variance: parameters.Number, digits: int = DIGITS) -> Enclosure:
    """γ(V), by interval Newton steps: V falls with slope −Var(Z²).

    A step that maps an interval into itself proves that the root lies there (Lemma 4).

    >>> gamma(support=11, variance=4).digits(20)
    '0.12499997198488770574'
    """
    half_width = parameters.support(support)
    guess = Fraction(noise.gamma(support=half_width, variance=variance))
    target = parameters.number(variance, "variance")
    count = parameters.integer(digits, "digits", low=1, high=MAX_DIGITS)
    iv.prec = 4 * count + 2 * half_width.bit_length() + 128
    while iv.prec < MAX_BITS:
        iv.prec *= 2
        with suppress(OverflowError):  # too few bits to keep the slope away from zero
            found = _newton(half_width, target, guess, count)
            if found is not None:
                return found
    raise ArithmeticError(f"no proof of gamma near {float(guess)} to {count} digits")


def _newton(support: int, variance: Fraction, guess: Fraction, digits: int) -> Enclosure | None:
    """Interval Newton steps around a guess, at the working precision; None if one proves nothing."""
    found = Enclosure(guess * (1 - Fraction(1, 10**9)), guess * (1 + Fraction(1, 10**9)))
    while (found.upper - found.lower) * 10**digits > found.lower:
        middle = (found.lower + found.upper) / 2
        total = moment(0, support, found)
        second, fourth = moment(2, support, found) / total, moment(4, support, found) / total
        at_middle = moment(2, support, middle) / moment(0, support, middle)
        step = (at_middle - interval(variance)) / (fourth - second**2)
        narrower = enclosure(interval(middle) + step)
        if not found.lower < narrower.lower <= narrower.upper < found.upper:
            return None
        found = narrower
    return found


# --- Section III-B: its privacy ---------------------------------------------------------------


def delta(epsilon: parameters.Number, *, support: int, gamma: Rate, digits: int = DIGITS) -> Enclosure:
    """δ(ε) from its definition, Σ max(0, p(z) − e^ε·p(z−1)), which has the terms of Theorem 8 only.

    >>> delta("0.5", support=11, gamma=gamma(support=11, variance=4)).digits(15)
    '0.0540072092496073'
    """
    half_width, rate = _read(support, gamma)
    level = parameters.epsilon(epsilon)
    steepest = rate.upper if isinstance(rate, Enclosure) else rate
    # Beyond this z no term is positive; −D always counts, as p(−D−1) = 0.
    last = max(-half_width, math.ceil(Fraction(1, 2) - level / (2 * steepest)) - 1)

    def compute() -> Any:
        slope, growth = interval(rate), exp(interval(level))
        masses = [exp(-z * z * slope) for z in range(-half_width, last + 1)]
        gains = (positive_part(p - growth * q) for q, p in pairwise(masses))
        return sum(gains, masses[0]) / moment(0, half_width, rate)

    return to_digits(digits, compute)


def epsilon(delta: parameters.Number, *, support: int, gamma: Rate, digits: int = DIGITS) -> Enclosure:
    """The smallest ε with δ(ε) ≤ δ, for a δ between the plateau and the total variation distance.

    While z* = z the definition solves to e^ε = (P(Z ≤ z) − δ)/P(Z < z) (Theorem 8). Which z it is can be
    decided for a rational γ (Lemma 2).

    >>> epsilon("0.05", support=11, gamma="0.125").digits(15)
    '0.523268013091232'
    """
    half_width, rate = _read(support, gamma)
    target = parameters.delta(delta)
    middle = Fraction(float(rate)) if isinstance(rate, Enclosure) else rate
    guess = min(privacy.epsilon(target, support=half_width, gamma=middle), parameters.EPSILON_MAX)

    def reach(z: int) -> tuple[Any, Any]:
        """P(Z < z) and P(Z ≤ z), times Σ w."""
        slope = interval(rate)
        less = sum((exp(-y * y * slope) for y in range(-half_width, z)), iv.mpf(0))
        return less, less + exp(-z * z * slope)

    def kink(z: int) -> Any:
        """K(z) = δ(γ(1 − 2z)), which rises with z."""
        less, up_to = reach(z)
        return (up_to - exp((1 - 2 * z) * interval(rate)) * less) / moment(0, half_width, rate)

    def solve(z: int) -> Any:
        less, up_to = reach(z)
        return log((up_to - interval(target) * moment(0, half_width, rate)) / less)

    # Float64 proposes z*; comparisons of δ with K on both sides prove it.
    z = min(max(math.floor(Fraction(1, 2) - Fraction(guess) / (2 * middle)), 1 - half_width), 0)
    while z < 0 and below(target, partial(kink, z + 1)):
        z += 1
    while z > -half_width and not below(target, partial(kink, z)):
        z -= 1
    if z == -half_width or (z == 0 and below(target, lambda: 1 / moment(0, half_width, rate))):
        allowed = "between the plateau p(-D) and the total variation distance p(0)"
        raise parameters.wrong_value("delta", allowed, delta)
    return to_digits(digits, partial(solve, z))


def hockey_stick(
    p: Sequence[Fraction], q: Sequence[Fraction], epsilon: parameters.Number, *, digits: int = DIGITS
) -> tuple[Enclosure, Enclosure]:
    """Both hockey-stick divergences (Lemma 1) of two rational pmfs; one of 0 comes out as exactly 0.

    >>> third = Fraction(1, 3)
    >>> hockey_stick([third, 2 * third], [2 * third, third], 1)
    (Enclosure(lower=Fraction(0, 1), upper=Fraction(0, 1)), Enclosure(lower=Fraction(0, 1), ...
    """
    level = parameters.number(epsilon, "epsilon", high=parameters.EPSILON_MAX, includes="low high")
    first, second = _masses(p, "p"), _masses(q, "q")
    if len(first) != len(second):
        raise parameters.wrong_value("q", f"as long as p ({len(first)})", q)
    return _one_way(first, second, level, digits), _one_way(second, first, level, digits)


def _masses(values: Sequence[Fraction], name: str) -> list[Fraction]:
    allowed = "a sequence of exact probabilities that sum to 1"
    if not isinstance(values, list | tuple) or not all(isinstance(mass, Fraction | int) for mass in values):
        raise parameters.wrong_type(name, allowed, values)
    if sum(values) != 1 or min(values) < 0:
        raise parameters.wrong_value(name, allowed, values)
    return [Fraction(mass) for mass in values]


def _one_way(p: Sequence[Fraction], q: Sequence[Fraction], epsilon: Fraction, digits: int) -> Enclosure:
    exceeding = [
        (a, b)
        for a, b in zip(p, q, strict=True)
        if a > 0 and (b == 0 or (a > b if epsilon == 0 else below(a / b, lambda: exp(interval(epsilon)))))
    ]
    if not exceeding:
        return Enclosure(Fraction(0), Fraction(0))
    ours, theirs = (sum(side, Fraction(0)) for side in zip(*exceeding, strict=True))
    return to_digits(digits, lambda: interval(ours) - exp(interval(epsilon)) * interval(theirs))


# --- Section V: its lookup table --------------------------------------------------------------


def cuts(*, support: int, gamma: parameters.Number, keysize: int) -> tuple[int, ...]:
    """⌈KEYSIZE·P(Z ≤ z)⌉ for z = −D, …, D.

    For a rational γ > 0 no KEYSIZE·P(Z ≤ z) with z < D is an integer, so a sufficient precision exists.
    Proof: Lemma 2.

    >>> cuts(support=1, gamma="0.5", keysize=256)
    (71, 186, 256)
    """
    half_width, rate = parameters.support(support), parameters.gamma(gamma)
    size = parameters.keysize(keysize)
    iv.prec = 64
    while iv.prec < MAX_BITS:
        iv.prec *= 2
        lower, upper = cut_bounds(half_width, rate, size)
        if lower == upper:
            return (*lower, size)
    raise ArithmeticError(
        f"no decision at {MAX_BITS} bits: a cut point of gamma {rate} is too near an integer"
    )


def cut_bounds(support: int, gamma: Fraction, keysize: int) -> tuple[list[int], list[int]]:
    """The cut points c^Q(−D), …, c^Q(D−1) from below and from above, at the working precision."""
    low, high, _ = _weights(support, gamma)
    lower = _ceilings(keysize, low, sum(high) * 2 - high[0])
    return lower, _ceilings(keysize, high, sum(low) * 2 - low[0])


def _ceilings(keysize: int, weights: Sequence[int], total: int) -> list[int]:
    """⌈KEYSIZE·(w(−D) + … + w(z))/total⌉ for z = −D, …, D − 1; all of them lie in [1, KEYSIZE]."""
    reach, found = 0, []
    for weight in (*weights[:0:-1], *weights[:-1]):
        reach += weight
        found.append(min(max(-(-keysize * reach // total), 1), keysize))
    return found


def logarithm(ratio: Fraction, *, digits: int = DIGITS) -> Enclosure:
    """The natural logarithm of an exact ratio: the ε^Q of a lookup table is one.

    >>> logarithm(Fraction(700583, 425760)).digits(15)
    '0.498037038323823'
    """
    exact = parameters.number(ratio, "ratio")
    return to_digits(digits, lambda: log(interval(exact)))
