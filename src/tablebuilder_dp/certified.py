"""Every quantity of the paper as an interval that provably contains it.

The formulas are written here a second time, and float64 results enter only as first guesses of a
root that is then proved; the two versions therefore check each other. Arithmetic is Arb's balls
(`support.intervals`), and the precision rises until the wanted digits, or the floor, ceiling or
comparison in question, are decided. Every noise is welcome, also one whose γ is enclosed (`Enclosed`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial, reduce
from itertools import accumulate, islice, takewhile
from typing import NamedTuple

from flint import arb, ctx

from tablebuilder_dp import privacy
from tablebuilder_dp.noise import AnyNoise, Noise, check
from tablebuilder_dp.privacy import Delta
from tablebuilder_dp.support import lattice, parameters
from tablebuilder_dp.support.intervals import (
    MAX_BITS,
    MAX_DIGITS,
    Ball,
    Enclosure,
    ball,
    below,
    enclosure,
    exponential,
    first_bits,
    precision,
    to_digits,
)

DIGITS = 30
"""Significant digits of an enclosure where nothing else is asked for."""

_BLOCK = 256  # terms between two looks at what is left of a sum
_CANDIDATES = 64  # for the last value of E* of an enclosed γ


@dataclass(frozen=True)
class Enclosed:
    """The paper's noise with a γ that is known as an interval, such as that of `gamma`."""

    support: int
    gamma: Enclosure

    def __post_init__(self) -> None:
        if not isinstance(self.gamma, Enclosure):
            raise parameters.wrong_type("gamma", "an Enclosure", self.gamma)
        if self.gamma.lower > self.gamma.upper:
            raise parameters.wrong_value("gamma", "an Enclosure with its ends in order", self.gamma)
        Noise(self.support, self.gamma.lower)  # which refuses a wrong support or end

    @property
    def ends(self) -> tuple[Noise, Noise]:
        """The noises of the smallest and of the largest γ."""
        return Noise(self.support, self.gamma.lower), Noise(self.support, self.gamma.upper)

    @property
    def middle(self) -> Noise:
        """The noise of a γ in the middle, to float64."""
        return Noise(self.support, Fraction(float(self.gamma)))


AnyEnclosed = AnyNoise | Enclosed
"""What the functions here are asked about."""


# --- Section III-A: the noise -----------------------------------------------------------------


def weights(noise: AnyNoise, first: int, last: int) -> Iterator[Ball]:
    """p(z)/p(0) for z = first, …, last as balls of the working precision; the ends have one sign.

    w(z+1) = w(z)·r(z) and r(z+1) = r(z)·e^−2γ, so a step costs two products.

    >>> [round(float(weight), 4) for weight in weights(Noise(3, "0.5"), -3, 0)]
    [0.0111, 0.1353, 0.6065, 1.0]
    """
    weight, ratio = exponential(-noise.exponent(first)), exponential(noise.loss(first + 1))
    step = exponential(-2 * noise.rates[1])
    for _ in range(first, last + 1):
        yield weight
        weight *= ratio
        ratio *= step


def moments(noise: AnyEnclosed, *powers: int) -> list[Ball]:
    """Σ |z|^power·p(z)/p(0) over [−D, D], as balls of the working precision.

    Where the terms fall by a factor q < 1 a step, which itself falls, what is left of a sum is at most
    the last term times q/(1 − q); the sum ends where that is too small to matter. Of an enclosed γ the
    two ends are enough, as every sum falls with γ. Proof: Lemma 3.

    >>> [round(float(total), 4) for total in moments(Noise(1, "0.5"), 0, 2)]  # 1 + 2·e^(−1/2), 2·e^(−1/2)
    [2.2131, 1.2131]
    """
    return _over_ends(noise, lambda end: _moments(end, powers))


def _over_ends(noise: AnyEnclosed, compute: Callable[[AnyNoise], list[Ball]]) -> list[Ball]:
    """What is monotone in γ, of an exact noise or of both ends of an enclosed one."""
    if not isinstance(noise, Enclosed):
        return compute(check(noise))
    return [at_lower.union(at_upper) for at_lower, at_upper in zip(*map(compute, noise.ends), strict=True)]


def _moments(noise: AnyNoise, powers: Sequence[int]) -> list[Ball]:
    sums = [arb(0**power) for power in powers]
    small = arb(2) ** -ctx.prec
    terms = enumerate(weights(noise, 1, noise.support), 1)
    while block := list(islice(terms, _BLOCK)):
        for place, power in enumerate(powers):
            sums[place] += 2 * sum((weight * z**power for z, weight in block), arb(0))
        z, weight = block[-1]
        if z < noise.support and weight < small:
            rests = [2 * _rest(noise, z, weight * z**power, power) for power in powers]
            if all(rest < total * small for rest, total in zip(rests, sums, strict=True)):
                return [total + arb(0).union(rest) for rest, total in zip(rests, sums, strict=True)]
    return sums


def _rest(noise: AnyNoise, z: int, term: Ball, power: int) -> Ball:
    """More than the terms after z add up to, or no number where they do not fall yet."""
    fall = exponential(noise.loss(z + 1)) * ball(Fraction(z + 1, z) ** power)
    return term * fall / (1 - fall) if fall < 1 else arb.nan()


def normaliser(noise: AnyEnclosed, *, digits: int = DIGITS) -> Enclosure:
    """C, the probability of no noise, to a relative width of 10^−digits.

    Raises ArithmeticError where ``MAX_BITS`` bits do not give the digits.

    >>> normaliser(Noise(1, "0.5")).digits(20)
    '0.45186276187760604381'
    """
    return to_digits(digits, lambda: 1 / moments(noise, 0)[0])


def pmf(noise: AnyEnclosed, z: int, *, digits: int = DIGITS) -> Enclosure:
    """p(z), the probability of one noise value.

    Raises ArithmeticError where ``MAX_BITS`` bits do not give the digits.

    >>> pmf(Noise(25, "0.0101"), -25).digits(12)
    '0.000102855197663'
    """
    support = noise.support if isinstance(noise, Enclosed) else check(noise).support
    value = parameters.integer(z, "z", low=-support, high=support)
    return to_digits(digits, partial(_mass, noise, value))


def _mass(noise: AnyEnclosed, z: int) -> Ball:
    weight, total = _over_ends(noise, lambda end: [exponential(-end.exponent(z)), *_moments(end, [0])])
    return weight / total


def edge_reaches(noise: AnyNoise, delta: parameters.Number) -> bool:
    """Decide p(D) ≤ δ. For a rational γ > 0 the two are never equal (Lemma 2).

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> edge_reaches(Noise(25, "0.0102"), "1e-4"), edge_reaches(Noise(25, "0.01"), "1e-4")
    (True, False)
    """
    return below(parameters.delta(delta), partial(_mass, noise, check(noise).support))


def variance(noise: AnyEnclosed, *, digits: int = DIGITS) -> Enclosure:
    """V, the variance.

    Raises ArithmeticError where ``MAX_BITS`` bits do not give the digits.

    >>> variance(Noise(11, "0.125")).digits(12)
    '3.99999910352'
    """
    return to_digits(digits, partial(_variance, noise))


def _variance(noise: AnyEnclosed) -> Ball:
    total, second = moments(noise, 0, 2)
    return second / total


def entropy(noise: AnyEnclosed, *, digits: int = DIGITS) -> Enclosure:
    """H(Z) = −Σ p ln p, in nats.

    Raises ArithmeticError where ``MAX_BITS`` bits do not give the digits.

    >>> entropy(Noise(1, "0.5")).digits(12)
    '1.06844538848'
    """
    slope, curvature = (0, noise.gamma) if isinstance(noise, Enclosed) else check(noise).rates

    def compute() -> Ball:
        total, first, second = moments(noise, 0, 1, 2)
        return total.log() + (ball(slope) * first + ball(curvature) * second) / total

    return to_digits(digits, compute)


def polynomial(
    x: parameters.Number, *, support: int, variance: parameters.Number, digits: int = DIGITS
) -> Enclosure:
    """f(x) = Σ (2z² − 2V)·x^(z²) − V, whose root in (0, 1) is e^−γ (Theorem 7).

    Raises ArithmeticError where ``MAX_BITS`` bits do not give the digits.

    >>> polynomial("0.5", support=1, variance="0.25").digits(3)
    '0.5'
    """
    half_width = parameters.support(support)
    target = parameters.number(variance, "variance", high=half_width**2, includes="high")
    at = parameters.number(x, "x", high=10**6, includes="low high")

    def compute() -> Ball:
        power = ratio = ball(at)  # x^(z²) and x^(2z−1)
        square, spread = ratio * ratio, ball(target)
        value = -spread
        for z in range(1, half_width + 1):
            value += 2 * (z * z - spread) * power
            ratio *= square
            power *= ratio
        return value

    return to_digits(digits, compute)


def gamma(*, support: int, variance: parameters.Number, digits: int = DIGITS) -> Enclosure:
    """γ(V), by interval Newton steps: V falls with slope −Var(Z²).

    A step that maps an interval into itself proves that the root lies there (Lemma 4). Raises
    ArithmeticError where ``MAX_BITS`` bits prove nothing.

    >>> gamma(support=11, variance=4).digits(20)
    '0.12499997198488770574'
    """
    guess = Noise.of_variance(support, variance)
    target = parameters.number(variance, "variance")
    count = parameters.integer(digits, "digits", low=1, high=MAX_DIGITS)
    bits = 4 * count + 2 * guess.support.bit_length() + 128
    while bits <= MAX_BITS:
        with precision(bits):
            root = _newton(guess, target, count)
        if root is not None:
            return root
        bits *= 2
    raise ArithmeticError(f"no proof of gamma near {float(guess.gamma)} to {count} digits")


def _newton(guess: Noise, variance: Fraction, digits: int) -> Enclosure | None:
    """Interval Newton steps around a guess, at the working precision; None if one proves nothing."""
    margin = Fraction(1, 10**9)
    box = Enclosed(guess.support, Enclosure(guess.gamma * (1 - margin), guess.gamma * (1 + margin)))
    while (box.gamma.upper - box.gamma.lower) * 10**digits > box.gamma.lower:
        middle = Noise(box.support, (box.gamma.lower + box.gamma.upper) / 2)
        total, second, fourth = moments(box, 0, 2, 4)
        slope = fourth / total - (second / total) ** 2
        moved = ball(middle.gamma) + (_variance(middle) - ball(variance)) / slope
        if not moved.is_finite():  # too few bits to keep the slope away from zero
            return None
        narrower = enclosure(moved)
        if not box.gamma.lower < narrower.lower <= narrower.upper < box.gamma.upper:
            return None
        box = Enclosed(box.support, narrower)
    return box.gamma


# --- Section III-B: its privacy ---------------------------------------------------------------


def delta(
    noise: AnyEnclosed, epsilon: parameters.Number, *, cells: int = 1, digits: int = DIGITS
) -> Enclosure:
    """δ(ε) of one count, or δ_k(ε) of k ``cells`` with independent noises, to a relative width of 10^−digits.

    Of one count it is (w(z) − (e^ε − 1)·Σ_{y<z} w(y))/Σ w with the last z of E* (Theorem 8). Of several
    cells, integers at most 2^bits·p are convolved, every product rounded down, so no mass is too large. With
    the true mass 1 − (1 − p(−D))^k at infinity, δ comes out too small. With all that the finite masses leave
    at infinity it is too large, as no mass counts for more than there (Theorem 36). For several cells ε may
    be 0. The time grows with the standard deviation of the sum of all noises: 4096 cells take about a second
    for ten digits.

    Raises ValueError for more cells than ``lattice.WIDEST`` places serve, and ArithmeticError where
    ``MAX_BITS`` bits do not give the digits.

    >>> delta(Enclosed(11, gamma(support=11, variance=4)), "0.5").digits(15)
    '0.0540072092496073'
    >>> delta(Noise(25, "0.0102"), 2, cells=10).digits(15)
    '0.000971563443333922'
    """
    count = parameters.integer(cells, "cells", low=1, high=lattice.MOST)
    if count == 1:
        return to_digits(digits, partial(delta_ball, noise, parameters.epsilon(epsilon)))
    if isinstance(noise, Enclosed):
        raise parameters.wrong_type("noise", "one of an exact gamma for several cells", noise)
    level = parameters.number(epsilon, "epsilon", high=parameters.EPSILON_MAX, includes="low high")
    check_width(noise, count, digits)
    return to_digits(digits, partial(composed_delta_ball, noise, level, count))


def check_width(noise: AnyNoise, cells: int, digits: int) -> None:
    """Refuse sums whose masses above 2^−bits, some standard deviations to both sides, are too many.

    Raises ValueError, which names the cells.
    """
    bits = first_bits(digits)
    if isinstance(check(noise), Noise) and 8 * bits * cells * noise.variance > lattice.WIDEST**2:
        most = int(lattice.WIDEST**2 / (8 * bits * noise.variance))
        allowed = f"at most {most} for variance {noise.variance:.6g} and {digits} digits"
        raise parameters.wrong_value("cells", allowed, cells)


def delta_ball(noise: AnyEnclosed, epsilon: Fraction) -> Ball:
    """δ(ε) of one count as a ball; of an enclosed γ, for every z that may be the last of E*.

    >>> with precision(64):
    ...     round(float(delta_ball(Noise(11, "0.125"), Fraction(1, 2))), 6)
    0.054007
    """
    ends = noise.ends if isinstance(noise, Enclosed) else (check(noise),)
    lasts = [privacy.e_star(end, epsilon)[-1] for end in ends]
    if max(lasts) - min(lasts) > _CANDIDATES:  # γ is enclosed too widely to say anything
        return arb.nan()
    (total,) = moments(noise, 0)
    growth = exponential(epsilon) - 1
    reaches = (_reach(noise, last) for last in range(min(lasts), max(lasts) + 1))
    values = ((weight - growth * less) / total for less, weight in reaches)
    return reduce(lambda hull, value: hull.union(value), values)


def _reach(noise: AnyEnclosed, z: int) -> list[Ball]:
    """Σ_{y<z} w(y) and w(z), for z ≤ 0."""

    def compute(end: AnyNoise) -> list[Ball]:
        less = last = arb(0)
        for weight in weights(end, -end.support, z):
            less += last
            last = weight
        return [less, last]

    return _over_ends(noise, compute)


def composed_delta_ball(noise: AnyNoise, epsilon: Fraction, cells: int) -> Ball:
    """δ_k(ε) of k cells as a ball of the working precision.

    >>> with precision(128):
    ...     round(float(composed_delta_ball(Noise(25, "0.0102"), Fraction(2), 10)), 9)
    0.000971563
    """
    unit, spread = 1 << int(ctx.prec), privacy.loss_lattice(noise, cells)
    last, rest = spread.place(epsilon)
    if last < 0:
        return _infinite(noise, cells)
    lower = composed_masses(noise, cells, int(ctx.prec))
    infinite = _infinite(noise, cells).union(1 - arb(sum(lower.masses)) / unit)
    place = max(-1, min(last - lower.first, len(lower.masses) - 1))  # the last loss that is kept and counts
    rest += 2 * spread.unit * (last - lower.first - place)
    gain = lattice.enclosed_excess(lower.masses, last=place, rest=ball(rest), step=ball(2 * spread.unit))
    return infinite + gain / unit


def loss_beyond_ball(noise: AnyNoise, epsilon: Fraction, cells: int) -> Ball:
    """P(|L| > ε) of the privacy loss L of k cells as a ball of the working precision; infinite losses count.

    It lies between the masses beyond ±ε and what the masses within leave, all rounded down (Theorem 48).

    >>> with precision(128):
    ...     round(float(loss_beyond_ball(Noise(25, "0.0102"), Fraction(2), 10)), 6)
    0.000982
    """
    unit, spread = 1 << int(ctx.prec), privacy.loss_lattice(noise, cells)
    lower = composed_masses(noise, cells, int(ctx.prec))
    steps = epsilon / spread.unit
    begin = max(math.ceil((spread.top - steps) / 2) - lower.first, 0)
    end = max(math.floor((spread.top + steps) / 2) + 1 - lower.first, begin)
    within = sum(lower.masses[begin:end])
    beyond = _infinite(noise, cells) + arb(sum(lower.masses) - within) / unit
    return beyond.union(1 - arb(within) / unit)


def _infinite(noise: AnyNoise, cells: int) -> Ball:
    """1 − (1 − p(−D))^k, the probability of an infinite loss."""
    return 1 - (1 - _mass(noise, noise.support)) ** cells


@lru_cache(maxsize=2)  # some promises about one noise share the convolution, which takes most of the time
def composed_masses(noise: AnyNoise, cells: int, bits: int) -> lattice.Window:
    """The masses of the finite losses of k cells in units of 2^−bits, rounded down (Theorem 36).

    The working precision must be ``bits``.
    """
    (total,) = moments(noise, 0)
    first, masses = _finite_masses(noise, total, exponential(-noise.exponent(noise.support)))
    low = [math.floor(enclosure(mass / total).lower * (1 << bits)) for mass in masses]
    return lattice.power_from_below(lattice.Window(first, low), cells, bits=bits)


def _finite_masses(noise: AnyNoise, total: Ball, edge: Ball) -> tuple[int, list[Ball]]:
    """The weights of the finite losses of one cell, of the largest loss first, and the place of the first.

    Weights below 2^−bits, which would be rounded to zero, are left out.
    """
    if not isinstance(noise, Noise):
        positive = (total - 1) / 2
        return 0, [positive + 1 - edge, positive]
    small = arb(2) ** -ctx.prec
    half = list(takewhile(lambda weight: not weight < small, weights(noise, 0, noise.support)))
    if len(half) > noise.support:
        return 0, [*half[-2::-1], *half[1:]]
    return noise.support - len(half), [*half[:0:-1], *half]


def epsilon(noise: AnyEnclosed, delta: parameters.Number, *, digits: int = DIGITS) -> Enclosure:
    """The smallest ε with δ(ε) ≤ δ, for a δ between the plateau and the total variation distance.

    While the last z of E* stays the same, the definition solves to e^ε = (P(Z ≤ z) − δ)/P(Z < z)
    (Theorem 8). Which z it is can be decided for a rational γ (Lemma 2).

    Raises ValueError for any other δ, and ArithmeticError where ``MAX_BITS`` bits do not give the digits.

    >>> epsilon(Noise(11, "0.125"), "0.05").digits(15)
    '0.523268013091232'
    """
    target = parameters.delta(delta)
    middle = noise.middle if isinstance(noise, Enclosed) else check(noise)
    guess = min(privacy.epsilon(middle, target), parameters.EPSILON_MAX)

    def kink(z: int) -> Ball:
        """K(z), δ at the loss of z, which rises with z."""
        less, weight = _reach(noise, z)
        (growth,) = _over_ends(noise, lambda end: [exponential(end.loss(z))])
        return (weight - (growth - 1) * less) / moments(noise, 0)[0]

    def solve(z: int) -> Ball:
        less, weight = _reach(noise, z)
        return ((less + weight - ball(target) * moments(noise, 0)[0]) / less).log()

    first = 1 - noise.support if middle.rates[1] else 0  # of the z that can be the last of E* but for −D
    # Float64 proposes the last z of E*; comparisons of δ with K on both sides prove it.
    z = min(max(privacy.e_star(middle, max(Fraction(guess), parameters.EPSILON_MIN))[-1], first), 0)
    while z < 0 and below(target, partial(kink, z + 1)):
        z += 1
    while z >= first and not below(target, partial(kink, z)):
        z -= 1
    if z < first or (z == 0 and below(target, lambda: 1 / moments(noise, 0)[0])):
        allowed = "between the plateau p(-D) and the total variation distance p(0)"
        raise parameters.wrong_value("delta", allowed, delta)
    return to_digits(digits, partial(solve, z))


class Excess(NamedTuple):
    """The sums of p and of q over all values with p > e^ε·q: δ is the first less e^ε times the second.

    The first is also the probability under p that the privacy loss exceeds ε.
    """

    ours: int
    theirs: int

    def ball(self, epsilon: Fraction) -> Ball:
        """δ in the unit of the sums, as a ball of the working precision."""
        return self.ours - exponential(epsilon) * self.theirs


def excess(p: Sequence[int], q: Sequence[int], epsilon: Fraction) -> Excess:
    """The sums over the values with p > e^ε·q of two pmfs, given in whole parts of one unit; ε may be 0.

    e^ε is irrational for a rational ε > 0 (Lemma 2), so that p = e^ε·q needs p = q = 0, and a sufficient
    precision exists. Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> excess([5, 3, 2], [1, 3, 6], Fraction(1))
    Excess(ours=5, theirs=1)
    """
    bits = 192
    while bits <= MAX_BITS:
        low, high = growth(epsilon, bits)
        above = [(a, b) for a, b in zip(p, q, strict=True) if a << bits > low * b]
        if low == high or all(a << bits > high * b for a, b in above):
            return Excess(sum(a for a, _ in above), sum(b for _, b in above))
        bits *= 2
    raise ArithmeticError(f"no decision at {MAX_BITS} bits: a ratio is too near e^{epsilon}")


@lru_cache(maxsize=256)
def growth(epsilon: Fraction, bits: int) -> tuple[int, int]:
    """e^ε between two integers in units of 2^−bits; e^500 has 722 bits before the point."""
    with precision(bits + 800):  # e^500 has 722 bits before the point
        ends = enclosure(exponential(epsilon))
    return math.floor(ends.lower * 2**bits), math.ceil(ends.upper * 2**bits)


def hockey_stick(
    p: Sequence[Fraction], q: Sequence[Fraction], epsilon: parameters.Number, *, digits: int = DIGITS
) -> Delta[Enclosure]:
    """Both hockey-stick divergences (Lemma 1) of two rational pmfs; one of 0 comes out as exactly 0.

    Raises ArithmeticError where ``MAX_BITS`` bits do not give the digits.

    >>> third = Fraction(1, 3)
    >>> hockey_stick([third, 2 * third], [2 * third, third], 1)
    Delta(forward=Enclosure(lower=Fraction(0, 1), upper=Fraction(0, 1)), backward=Enclosure(...
    """
    level = parameters.number(epsilon, "epsilon", high=parameters.EPSILON_MAX, includes="low high")
    first, second = _masses(p, "p"), _masses(q, "q")
    unit = math.lcm(*(mass.denominator for mass in (*first, *second)))
    p_whole, q_whole = ([int(mass * unit) for mass in side] for side in (first, second))
    return of_weights(p_whole, q_whole, level, unit=unit, digits=digits)


def of_weights(
    p: Sequence[int], q: Sequence[int], epsilon: Fraction, *, unit: int, digits: int = DIGITS
) -> Delta[Enclosure]:
    """`hockey_stick` of two pmfs that are given in whole parts of 1/unit.

    Raises ArithmeticError where ``MAX_BITS`` bits do not give the digits.

    >>> both = of_weights([71, 115, 70, 0], [0, 71, 115, 70], Fraction(1, 2), unit=256)
    >>> both.forward.lower, both.backward.lower
    (Fraction(71, 256), Fraction(35, 128))
    """
    if len(p) != len(q):
        raise parameters.wrong_value("q", f"as long as p ({len(p)})", q)
    return Delta(*(_enclosed(excess(*both, epsilon), epsilon, unit, digits) for both in ((p, q), (q, p))))


def _enclosed(above: Excess, epsilon: Fraction, unit: int, digits: int) -> Enclosure:
    if above.theirs == 0:
        return Enclosure(Fraction(above.ours, unit), Fraction(above.ours, unit))
    return to_digits(digits, lambda: above.ball(epsilon) / unit)


def _masses(values: Sequence[Fraction], name: str) -> list[Fraction]:
    allowed = "a sequence of exact probabilities that sum to 1"
    exact = isinstance(values, list | tuple) and all(type(mass) in (Fraction, int) for mass in values)
    if not exact:
        raise parameters.wrong_type(name, allowed, values)
    if sum(values) != 1 or min(values) < 0:
        raise parameters.wrong_value(name, allowed, values)
    return [Fraction(mass) for mass in values]


# --- Section V: its lookup table --------------------------------------------------------------


def cuts(noise: AnyNoise, *, keysize: int) -> tuple[int, ...]:
    """⌈KEYSIZE·P(Z ≤ z)⌉ for z = −D, …, D.

    For a rational γ > 0 no KEYSIZE·P(Z ≤ z) with z < D is an integer (Lemma 2), so a sufficient precision
    exists, and P(Z ≤ z) = 1 − P(Z ≤ −z−1) gives one half of the cuts from the other (Theorem 14). Raises
    ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> cuts(Noise(1, "0.5"), keysize=256)
    (71, 186, 256)
    """
    size = parameters.keysize(keysize)
    floors = _decided(check(noise), lambda: accumulate(_shares(noise, size, -noise.support, -1)))
    return (*(floor + 1 for floor in floors), *(size - floor for floor in reversed(floors)), size)


def nearest_weights(noise: AnyNoise, *, keysize: int) -> list[int]:
    """KEYSIZE·p(z) to the nearest integer for z = 1, …, D; none is half-way between two (Lemma 2).

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> nearest_weights(Noise(2, "0.5"), keysize=256)
    [63, 14]
    """
    size = parameters.keysize(keysize)

    def halves() -> Iterator[Ball]:
        half = ball(Fraction(1, 2))
        shares = _shares(noise, size, 1, noise.support)
        return (share + half for share in takewhile(lambda share: not share < half, shares))

    weights = _decided(check(noise), halves)
    return weights + [0] * (noise.support - len(weights))


def _shares(noise: AnyNoise, keysize: int, first: int, last: int) -> Iterator[Ball]:
    """KEYSIZE·p(z) for z = first, …, last."""
    share = keysize / moments(noise, 0)[0]
    return (weight * share for weight in weights(noise, first, last))


def _decided(noise: AnyNoise, compute: Callable[[], Iterator[Ball]]) -> list[int]:
    """The floors of numbers of which none is an integer, at rising precision until all are decided."""
    bits = 128
    while bits <= MAX_BITS:
        with precision(bits):
            floors = _floors(compute())
        if floors is not None:
            return floors
        bits *= 2
    raise ArithmeticError(f"no decision at {MAX_BITS} bits: a number of keys of {noise} is too near an edge")


def _floors(values: Iterable[Ball]) -> list[int] | None:
    """Their floors at the working precision; None if one is not decided."""
    floors = []
    for value in values:
        floor = value.floor().unique_fmpz()
        if floor is None:
            return None
        floors.append(int(floor))
    return floors


def logarithm(ratio: Fraction, *, digits: int = DIGITS) -> Enclosure:
    """The natural logarithm of an exact ratio: the ε^Q of a lookup table is one.

    Raises ArithmeticError where ``MAX_BITS`` bits do not give the digits.

    >>> logarithm(Fraction(700583, 425760)).digits(15)
    '0.498037038323823'
    """
    exact = parameters.number(ratio, "ratio")
    return to_digits(digits, lambda: ball(exact).log())
