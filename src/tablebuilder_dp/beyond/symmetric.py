"""Lookup tables that keep the design's promises: a symmetric alternative to the ceilings of Section V.

A table is symmetric if w(−z) = w(z) keys give the noise z, so its bias is zero. Here it also has every
value of [−D, D], w(z) ≥ 1, and every ratio of neighbouring weights within e^ε in both directions, so
that at ε it has δ^Q = w(D)/KEYSIZE exactly. This module proves for which KEYSIZE such tables exist, how
small their δ^Q can be and from which KEYSIZE on it need not exceed the design's δ, and it finds the
table nearest to the designed noise. All of it is decided in integers: with ρ = e^ε and
f(x) = ⌊ρx⌋, "within e^ε" means w(z) ≤ f(w(z±1)), and ρx is irrational, so enclosures decide f.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from tablebuilder_dp import certified, sampling
from tablebuilder_dp.beyond import chain
from tablebuilder_dp.noise import AnyNoise, check
from tablebuilder_dp.sampling import LookupTable, Rule
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import MAX_DIGITS
from tablebuilder_dp.support.parameters import Number

RULES = ("ceiling", "symmetric")
"""The names of the rules by which probabilities become keys: the paper's ceilings, and ours."""

ENDS_MAX = 10**5
"""The most end weights that are tried in search of a KEYSIZE."""


SUPPORT_MAX = 1000
"""The widest support for which tables are searched, in some seconds."""


def _support(value: int) -> int:
    return parameters.integer(value, "support", low=1, high=SUPPORT_MAX)


def keeps_epsilon(table: LookupTable, epsilon: Number) -> bool:
    """Whether every ratio of neighbouring weights is at most e^ε in both directions, and no value is lost.

    The exact test of the two-sided promise: if it holds, δ at ε is the larger end weight over KEYSIZE
    (Theorem 15).

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> keeps_epsilon(LookupTable(10, (3, 7, 10)), "0.3"), keeps_epsilon(LookupTable(10, (3, 7, 10)), "0.2")
    (True, False)
    """
    level = parameters.epsilon(epsilon)
    if not isinstance(table, LookupTable):
        raise parameters.wrong_type("table", "a LookupTable", table)
    return table.full_support and all(max(w) <= chain.reach(min(w), level) for w in pairwise(table.weights))


def _table(weights: Sequence[int]) -> LookupTable:
    cuts = tuple(accumulate((*weights[:0:-1], *weights)))
    return LookupTable(keysize=cuts[-1], cuts=cuts)


def has_table(epsilon: Number, *, support: int, keysize: int) -> bool:
    """Whether a symmetric table exists: KEYSIZE ≥ (2D+1)·t₀ or KEYSIZE a multiple of 2D+1, t₀ = ⌈1/(ρ−1)⌉.

    Proof: Theorem 25.

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> [has_table("0.1", support=10, keysize=size) for size in (200, 189, 210, 256)]
    [False, True, True, True]
    """
    level, size = parameters.epsilon(epsilon), parameters.keysize(keysize)
    values = 2 * parameters.support(support) + 1
    return size % values == 0 or size >= values * chain.least_growing(level)


def _least_weight(epsilon: Fraction, z: int, keys: int, *, low: int, high: int) -> int:
    """The smallest w(z) whose steepest rise reaches ``keys``, which are left for w(−z), …, w(z)."""
    while low < high:
        middle = (low + high) // 2
        most = chain.total(chain.steepest(middle, z, epsilon, most=keys))
        low, high = (low, middle) if most >= keys else (middle + 1, high)
    return low


def _least_end(epsilon: Fraction, support: int, keysize: int) -> int:
    """t(KEYSIZE), the least w(D) of a symmetric table, where there is one."""
    if not has_table(epsilon, support=support, keysize=keysize):
        values, least = 2 * support + 1, (2 * support + 1) * chain.least_growing(epsilon)
        allowed = (
            f"a multiple of {values} or at least {least} for a symmetric table of epsilon {float(epsilon)}"
        )
        raise parameters.wrong_value("keysize", allowed, keysize)
    return _least_weight(epsilon, support, keysize, low=1, high=keysize)


def least_delta_table(epsilon: Number, *, support: int, keysize: int) -> LookupTable:
    """A symmetric table that keeps ε with the least δ^Q that any such table has.

    The steepest rise from an end weight t to the centre has T(t) keys. The end weight t(KEYSIZE), the least
    t with T(t) ≥ KEYSIZE, is the least of all. Proof: Theorem 26.

    Raises ValueError where there is no such table, and ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> least_delta_table("0.5", support=2, keysize=64).weights
    (9, 13, 20, 13, 9)
    >>> least_delta_table("0.1", support=10, keysize=200)
    Traceback (most recent call last):
    ...
    ValueError: keysize must be a multiple of 21 or at least 210 for a symmetric table ..., got 200
    """
    level, half_width = parameters.epsilon(epsilon), _support(support)
    size = parameters.keysize(keysize)
    weights = [_least_end(level, half_width, size)]  # w(D), w(D−1), …
    left = size - 2 * weights[0]
    for z in range(half_width - 1, 0, -1):
        highest = chain.reach(weights[-1], level)
        weights.append(_least_weight(level, z, left, low=weights[-1], high=highest))
        left -= 2 * weights[-1]
    return _table([left, *reversed(weights)])


def _read(noise: AnyNoise, epsilon: Number) -> Fraction:
    """ε, which the noise must keep within its support: that makes p(D) its δ."""
    _support(check(noise).support)
    level, steepest = parameters.epsilon(epsilon), noise.loss(1 - noise.support)
    if steepest > level:
        allowed = f"at least {float(steepest)}, the largest finite loss of the noise"
        raise parameters.wrong_value("epsilon", allowed, epsilon)
    return level


_mass = lru_cache(maxsize=4096)(certified.pmf)


def _whole(scaled: Callable[[Fraction], Fraction], noise: AnyNoise, z: int) -> int:
    """⌊scaled(p(z))⌋, where scaled(p(z)) is monotone and irrational."""
    digits = certified.DIGITS
    while digits <= MAX_DIGITS:
        mass = _mass(noise, z, digits=digits)
        low, high = math.floor(scaled(mass.lower)), math.floor(scaled(mass.upper))
        if low == high:
            return low
        digits *= 2
    raise ArithmeticError(f"no decision at {MAX_DIGITS} digits: a mass of {noise} is too near a whole number")


class KeySizes(NamedTuple):
    """The KEYSIZE at which ε and δ can be kept: the smallest, the first power of two, and all from one on."""

    smallest: int
    power_of_two: int
    all_from: int


def key_sizes(noise: AnyNoise, epsilon: Number) -> KeySizes:
    """The KEYSIZE for which some symmetric table keeps ε in both directions and has δ^Q ≤ δ = p(D).

    They are those with T(⌊KEYSIZE·δ⌋) ≥ KEYSIZE, T as in `least_delta_table`, and fill the intervals
    [⌈t/δ⌉, T(t)], t ≥ t₀. Between intervals there may be gaps: a larger KEYSIZE can be worse. If there is no
    gap after each t in [a, 2a), there is none after any t ≥ a, so finitely many t decide. A KEYSIZE exists
    if the noise keeps ε, which is demanded, unless its losses of −D+1, …, 0 are all ε. Proof: Theorem 27.

    Raises ValueError where no KEYSIZE up to 2^64 will do, or ``ENDS_MAX`` end weights do not decide.

    >>> from tablebuilder_dp.noise import Noise
    >>> key_sizes(Noise(25, "0.0102"), "0.5")
    KeySizes(smallest=20598, power_of_two=32768, all_from=20598)
    """
    level, half_width = _read(noise, epsilon), noise.support
    if noise.loss(0) == level:
        allowed = f"above {float(level)}, the only finite loss of the noise, or no keysize will do"
        raise parameters.wrong_value("epsilon", allowed, epsilon)

    if certified.edge_reaches(noise, Fraction(1, parameters.KEYSIZE_MAX)):  # δ < 2^−64
        allowed = "such that a keysize of at most 2^64 keeps epsilon and delta"
        raise parameters.wrong_value("epsilon", allowed, epsilon)

    def first(end: int) -> int:
        """⌈end/δ⌉."""
        return _whole(lambda delta: end / delta, noise, half_width) + 1

    end = after_gap = begin = chain.least_growing(level)
    smallest = power = 0
    while end < 2 * after_gap or not power:
        start = first(end)
        if start > parameters.KEYSIZE_MAX:
            allowed = "such that a keysize of at most 2^64 keeps epsilon and delta"
            raise parameters.wrong_value("epsilon", allowed, epsilon)
        if end > begin + ENDS_MAX:
            allowed = f"such that {ENDS_MAX} end weights from {begin} on decide"
            raise parameters.wrong_value("epsilon", allowed, epsilon)
        reached = chain.total(chain.steepest(end, half_width, level, most=4 * parameters.KEYSIZE_MAX))
        doubled = 1 << (start - 1).bit_length()  # the first power of two from the start on
        smallest = smallest or (start if start <= reached else 0)
        power = power or (doubled if doubled <= reached else 0)
        end += 1
        if reached + 1 < first(end):
            after_gap = end
    return KeySizes(smallest, power, first(after_gap))


def keeps_delta(noise: AnyNoise, epsilon: Number, *, keysize: int) -> bool:
    """Whether some symmetric table of this KEYSIZE keeps ε and has δ^Q ≤ δ: T(⌊KEYSIZE·δ⌋) ≥ KEYSIZE.

    Proof: Theorem 27.

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> from tablebuilder_dp.noise import Noise
    >>> [keeps_delta(Noise(25, "0.0102"), "0.5", keysize=size) for size in (2**14, 2**15)]
    [False, True]
    """
    level, size = _read(noise, epsilon), parameters.keysize(keysize)
    end = _whole(lambda delta: delta * size, noise, noise.support)
    return end > 0 and chain.total(chain.steepest(end, noise.support, level, most=size)) >= size


def rule(epsilon: Number, *, name: str = "symmetric") -> Rule:
    """The rule of a name, for `sampling.lookup_table`; the symmetric one keeps ε in both directions.

    Raises ValueError for any other name than those of ``RULES``.

    >>> from tablebuilder_dp.noise import Noise
    >>> sampling.lookup_table(Noise(2, "0.15"), keysize=64, rule=rule("0.5")).weights
    (9, 14, 18, 14, 9)
    """
    parameters.epsilon(epsilon)
    if name not in RULES:
        raise parameters.wrong_value("rule", "one of " + ", ".join(RULES), name)
    return sampling.ceilings if name == "ceiling" else lambda noise, keysize: cuts(noise, epsilon, keysize)


def cuts(noise: AnyNoise, epsilon: Number, keysize: int) -> tuple[int, ...]:
    """The cut points of the symmetric table nearest to the noise among those that keep ε, and δ if any can.

    The noise must keep ε itself, γ(2D − 1) ≤ ε, so that δ = p(D). Let t be the least end weight of
    `least_delta_table`. Allowed are the symmetric tables with all ratios within e^ε in both directions
    and w(D) ≤ max(t, ⌊KEYSIZE·δ⌋): δ^Q ≤ δ wherever a symmetric table can have it, and else the least
    that it can be. Among these the table has the least total variation distance from the noise; of
    equally near ones it has the least Σ (w(z) − n(z))², n(z) being KEYSIZE·p(z) to the nearest integer,
    and of those it has the largest w(0), then the smallest w(1), w(2), ….

    `chain.nearest` proves it, with KEYSIZE·p(z) rounded down to 2^−64 keys: no other allowed table is nearer
    by more than (D + 1)·2^−63 keys (Theorem 29). Where the noise's own masses are within a key or two of
    each other, the nearest table may give a value more keys than one nearer to zero has. A search that grows
    too large, as for some D in the hundreds, is refused.

    Raises ValueError where no symmetric table exists, and ArithmeticError where the search is refused.

    >>> from tablebuilder_dp.noise import Noise
    >>> cuts(Noise(2, "0.15"), "0.5", 64)
    (9, 23, 41, 55, 64)
    """
    level, half_width, size = _read(noise, epsilon), noise.support, parameters.keysize(keysize)
    end, least = _least_end(level, half_width, size), chain.least_growing(level)
    if end < least:  # all weights are equal
        return _table([end] * (half_width + 1)).cuts
    exact = [_whole(lambda p: p * size * chain.SCALE, noise, z) for z in range(half_width + 1)]
    end = max(end, exact[-1] // chain.SCALE)
    highest = chain.steepest(end, half_width, level, most=size)
    weights = chain.nearest(exact, keys=size, epsilon=level, least=least, highest=highest)
    table = _table(weights)
    if table.keysize != size or weights[-1] > end or not keeps_epsilon(table, level):
        raise ArithmeticError(f"the search broke its own constraints: {weights}")
    return table.cuts
