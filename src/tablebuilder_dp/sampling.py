"""Section V: from the pmf to a lookup table, and what the table makes of bias, variance, ε and δ.

The cell key, uniform on [0, KEYSIZE), is compared with the cut points ⌈c(z)·KEYSIZE⌉ of the noise's
cumulative mass function c. The table is a noise of its own with integer weights; its measures after
sampling are exact rationals, or logarithms of such.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, cast

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from tablebuilder_dp import certified, design
from tablebuilder_dp.noise import AnyNoise, check
from tablebuilder_dp.privacy import Delta
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import Ball, Enclosure, to_digits

LIMIT_SUPPORT_MAX, LIMIT_DIGITS_MAX = 10_000, 100
"""What `full_support_limit` serves in some seconds."""

_BUCKET_BITS = 16
_CHUNK = 1 << 16  # keys per step: the working arrays stay in the processor's cache


@dataclass(frozen=True)
class LookupTable:
    """Cut points c^Q(−D), …, c^Q(D): a key k stands for the smallest z with k < c^Q(z)."""

    keysize: int
    cuts: tuple[int, ...]

    def __post_init__(self) -> None:
        size = parameters.keysize(self.keysize)
        if not isinstance(self.cuts, list | tuple):
            raise parameters.wrong_type("cuts", "a sequence of integers", self.cuts)
        cuts = tuple(parameters.integer(cut, "cuts", low=0, high=size) for cut in self.cuts)
        if len(cuts) < 3 or len(cuts) % 2 == 0 or cuts[-1] != size or list(cuts) != sorted(cuts):
            allowed = f"2D + 1 integers that never fall and end at keysize ({size})"
            raise parameters.wrong_value("cuts", allowed, self.cuts)
        object.__setattr__(self, "keysize", size)
        object.__setattr__(self, "cuts", cuts)

    @property
    def support(self) -> int:
        """D."""
        return len(self.cuts) // 2

    @property
    def weights(self) -> tuple[int, ...]:
        """How many keys give each noise value −D, …, D: KEYSIZE·p^Q(z)."""
        return tuple(high - low for low, high in pairwise((0, *self.cuts)))

    @property
    def lost(self) -> tuple[int, ...]:
        """The noise values that no key gives."""
        return tuple(z for z, weight in enumerate(self.weights, -self.support) if weight == 0)

    @property
    def full_support(self) -> bool:
        """Whether every value of [−D, D] can occur."""
        return not self.lost

    @cached_property
    def _buckets(self) -> tuple[int, NDArray[Any], NDArray[np.uint64]]:
        """For sampling: the noise by a key's leading bits, or D + 1 where a cut lies among them."""
        shift = max(0, (self.keysize - 1).bit_length() - _BUCKET_BITS)
        cuts = np.array([cut for cut in self.cuts if cut < self.keysize], dtype=np.uint64)
        starts = np.arange(((self.keysize - 1) >> shift) + 1, dtype=np.uint64) << np.uint64(shift)
        ends = starts | np.uint64((1 << shift) - 1)
        first, last = (np.searchsorted(cuts, keys, side="right") for keys in (starts, ends))
        noise = np.where(first == last, first - self.support, self.support + 1)
        return shift, noise.astype(np.min_scalar_type(-self.support - 2)), cuts


Rule = Callable[[AnyNoise, int], tuple[int, ...]]
"""How probabilities become keys: a function of a noise and KEYSIZE that gives the cut points."""


def ceilings(noise: AnyNoise, keysize: int) -> tuple[int, ...]:
    """The paper's rule: the cut points ⌈KEYSIZE·P(Z ≤ z)⌉, each decided by enclosures.

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> from tablebuilder_dp.noise import Noise
    >>> ceilings(Noise(1, "0.5"), 256)
    (71, 186, 256)
    """
    return certified.cuts(noise, keysize=keysize)


def nearest(noise: AnyNoise, keysize: int) -> tuple[int, ...]:
    """A symmetric rule: KEYSIZE·p(z) keys to the nearest integer for z ≠ 0, and for 0 what remains.

    Each is decided by enclosures. The weights lie within D/KEYSIZE of the noise (Theorem 47).

    Raises ValueError where less than nothing remains for 0, and ArithmeticError where ``MAX_BITS`` bits do
    not decide.

    >>> from tablebuilder_dp.noise import Noise
    >>> nearest(Noise(1, "0.5"), 256)
    (70, 186, 256)
    """
    size = parameters.keysize(keysize)
    half = certified.nearest_weights(check(noise), keysize=size)
    rest = size - 2 * sum(half)
    if rest < 0:
        allowed = f"so large that the nearest integers leave keys for no noise at support {noise.support}"
        raise parameters.wrong_value("keysize", allowed, keysize)
    return tuple(accumulate((*reversed(half), rest, *half)))


def lookup_table(noise: AnyNoise, *, keysize: int, rule: Rule = ceilings) -> LookupTable:
    """The table of a noise for KEYSIZE keys, by the paper's ceilings or by another rule.

    With the ceilings z and −z have as many keys as each other, but −D has one more than D (Theorem 14).
    `beyond.symmetric.rule` makes tables without bias.

    Raises ArithmeticError where the rule does.

    >>> from tablebuilder_dp.noise import Noise
    >>> table = lookup_table(Noise(1, "0.5"), keysize=256)
    >>> table.cuts, table.weights
    ((71, 186, 256), (71, 115, 70))
    """
    size = parameters.keysize(keysize)
    return LookupTable(keysize=size, cuts=_callable(rule)(check(noise), size))


def _callable(rule: Any) -> Rule:
    if not callable(rule):
        allowed = "a function of a noise and a keysize, such as ceilings or what symmetric.rule gives"
        raise parameters.wrong_type("rule", allowed, rule)
    return cast("Rule", rule)


def sample(table: LookupTable, keys: ArrayLike, *, out: NDArray[Any] | None = None) -> Any:
    """The noise values S of cell keys: an int for one key, an array of their shape for many.

    Keys must be integers in [0, KEYSIZE). ``out`` takes the result in place of a new int64 array;
    it may be of any signed integer type that can hold D.

    >>> from tablebuilder_dp.noise import Noise
    >>> table = lookup_table(Noise(1, "0.5"), keysize=256)
    >>> sample(table, 70), sample(table, [0, 71, 255])
    (-1, array([-1,  0,  1]))
    """
    array = parameters.integers(keys, "keys", low=0, high=_checked(table).keysize - 1)
    if out is None:
        out = np.empty(array.shape, dtype=np.int64)
    else:
        _check_out(out, array, table.support)
    _fill(table, array.reshape(-1), out.reshape(-1))
    return int(out) if np.ndim(keys) == 0 else out


def _check_out(out: Any, keys: NDArray[Any], support: int) -> None:
    allowed = (
        f"a writeable C-contiguous array of shape {keys.shape}, apart from the keys, "
        f"of a signed integer type that holds {support}"
    )
    if not isinstance(out, np.ndarray):
        raise parameters.wrong_type("out", allowed, out)
    fits = out.dtype.kind == "i" and int(np.iinfo(out.dtype).max) >= support
    fits &= out.shape == keys.shape and out.flags.c_contiguous and out.flags.writeable
    if not fits or np.may_share_memory(out, keys):
        raise parameters.wrong_value("out", allowed, f"{out.dtype} of shape {out.shape}")


def _fill(table: LookupTable, keys: NDArray[Any], out: NDArray[Any]) -> None:
    """Look up a key's leading bits; the few keys that share them with a cut are searched for."""
    shift, buckets, cuts = table._buckets
    index = np.empty(min(_CHUNK, len(keys)), dtype=np.intp)
    noise = np.empty(len(index), dtype=buckets.dtype)
    for start in range(0, len(keys), _CHUNK):
        chunk = keys[start : start + _CHUNK]
        places, values = index[: len(chunk)], noise[: len(chunk)]
        np.right_shift(chunk, shift, out=places, casting="unsafe")
        buckets.take(places, out=values, mode="clip")
        shared = np.flatnonzero(values > table.support)
        indices = np.searchsorted(cuts, chunk[shared].astype(np.uint64), side="right")
        values[shared] = indices - table.support
        out[start : start + _CHUNK] = values


def distance(noise: AnyNoise, table: LookupTable, *, digits: int = certified.DIGITS) -> Enclosure:
    """The total variation distance ½·Σ |w(z)/KEYSIZE − p(z)| of a table from the noise.

    Raises ArithmeticError where ``MAX_BITS`` bits do not give the digits.

    >>> from tablebuilder_dp.noise import Noise
    >>> distance(Noise(1, "0.5"), LookupTable(10, (3, 7, 10))).digits(6)
    '0.0518628'
    """
    if not isinstance(table, LookupTable) or table.support != check(noise).support:
        raise parameters.wrong_type("table", f"a LookupTable of support {noise.support}", table)

    def compute() -> Ball:
        masses = list(certified.weights(noise, 0, noise.support))
        share = table.keysize / certified.moments(noise, 0)[0]
        both = zip(table.weights, [*masses[:0:-1], *masses], strict=True)
        return sum((abs(mass * share - weight) for weight, mass in both), arb(0)) / (2 * table.keysize)

    return to_digits(digits, compute)


@dataclass(frozen=True)
class AfterSampling:
    """What a lookup table makes of the design.

    ``bias``, ``variance`` and ``delta`` (the paper's δ^Q, the larger of the two end masses) are exact.
    ``epsilon_one_sided`` is the paper's ε^Q, which bounds p^Q(z)/p^Q(z−1) only;
    ``epsilon_two_sided`` bounds the inverse ratios too, as differential privacy demands of a pmf
    that the ceilings have made asymmetric. Both are rounded to the nearest float64. A value lost
    makes the two-sided one infinite, and the one-sided one unless all values above are lost too.
    """

    bias: Fraction
    variance: Fraction
    epsilon_one_sided: float
    epsilon_two_sided: float
    delta: Fraction


def _checked(table: LookupTable) -> LookupTable:
    if not isinstance(table, LookupTable):
        raise parameters.wrong_type("table", "a LookupTable", table)
    return table


def after_sampling(table: LookupTable) -> AfterSampling:
    """B^Q, V^Q, ε^Q and δ^Q of Section V-B.

    For the ceilings B^Q is −D/KEYSIZE (Theorem 14). The two-sided ε^Q and δ^Q are a guarantee (Theorem 15).

    >>> from tablebuilder_dp.noise import Noise
    >>> after = after_sampling(lookup_table(Noise(1, "0.5"), keysize=256))
    >>> after.bias, after.delta, after.epsilon_one_sided
    (Fraction(-1, 256), Fraction(71, 256), 0.482252...)
    """
    weights = _checked(table).weights
    mean, square = (
        Fraction(sum(z**power * w for z, w in enumerate(weights, -table.support)), table.keysize)
        for power in (1, 2)
    )
    rises = [ratio(later, earlier) for earlier, later in pairwise(weights)]
    falls = [ratio(earlier, later) for earlier, later in pairwise(weights)]
    return AfterSampling(
        bias=mean,
        variance=square - mean**2,
        epsilon_one_sided=_logarithm(max(rises)),
        epsilon_two_sided=_logarithm(max(rises + falls)),
        delta=Fraction(max(weights[0], weights[-1]), table.keysize),
    )


def ratio(numerator: int, denominator: int) -> Fraction | float:
    """A ratio of weights, with the paper's 0/0 = 0, and infinity where only the denominator is 0.

    >>> ratio(3, 2), ratio(0, 0), ratio(1, 0)
    (Fraction(3, 2), Fraction(0, 1), inf)
    """
    if denominator:
        return Fraction(numerator, denominator)
    return math.inf if numerator else Fraction(0)


def _logarithm(ratio: Fraction | float) -> float:
    """The logarithm of the largest ratio, at least 0, keeping the digits of ratios near 1."""
    return math.log1p(max(ratio - 1, 0))


def delta(table: LookupTable, epsilon: parameters.Number) -> Delta[float]:
    """The exact δ of the table at any ε: of a count against the next larger one, and the other way round.

    Returns two floats. Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> from tablebuilder_dp.noise import Noise
    >>> delta(lookup_table(Noise(1, "0.5"), keysize=256), "0.5")
    Delta(forward=0.27734375, backward=0.2734375)
    """
    _checked(table)
    level = parameters.number(epsilon, "epsilon", high=parameters.EPSILON_MAX, includes="low high")
    both = certified.of_weights([*table.weights, 0], [0, *table.weights], level, unit=table.keysize)
    return Delta(*map(float, both))


def epsilon(table: LookupTable, delta: parameters.Number | None = None) -> float:
    """The smallest ε at which the table is (ε, δ)-differentially private; δ^Q if no δ is given.

    Infinite where δ is below the mass that one of two neighbouring counts alone can publish: pass the
    exact δ^Q of `after_sampling` (or nothing), as a decimal may lie a hair below it. Rounded up, as a
    guarantee must be.

    >>> from tablebuilder_dp.noise import Noise
    >>> table = lookup_table(Noise(1, "0.5"), keysize=256)
    >>> epsilon(table), epsilon(table, "0.5"), epsilon(table, "0.001")
    (0.4877..., 0.0, inf)
    """
    return logarithm_up(growth(table, delta))


def logarithm_up(ratio: Fraction | float) -> float:
    """ε from e^ε ≥ 1, rounded up as a guarantee must be.

    Returns ``math.inf`` for infinity.

    >>> logarithm_up(Fraction(1)), logarithm_up(Fraction(2))
    (0.0, 0.693147180559945...)
    """
    return (
        math.log(ratio) if ratio in (1, math.inf) else rounded_up(certified.logarithm(Fraction(ratio)).upper)
    )


def rounded_up(exact: Fraction) -> float:
    """The least float64 that is not below an exact number, or the one that prints as it: 0.3 is three tenths.

    >>> rounded_up(Fraction(3, 10)), rounded_up(Fraction(1, 3))
    (0.3, 0.33333333333333337)
    """
    near = float(exact)
    return near if near >= exact or Fraction(repr(near)) == exact else math.nextafter(near, math.inf)


def growth(table: LookupTable, delta: parameters.Number | None = None) -> Fraction | float:
    """e^ε of `epsilon`, exactly.

    Returns a Fraction, or ``math.inf`` where ε is infinite.

    >>> from tablebuilder_dp.noise import Noise
    >>> growth(lookup_table(Noise(1, "0.5"), keysize=256))
    Fraction(57, 35)
    """
    target = after_sampling(_checked(table)).delta if delta is None else parameters.delta(delta)
    earlier, later = [0, *table.weights], [*table.weights, 0]
    return max(smallest_growth(a, b, target * table.keysize) for a, b in ((later, earlier), (earlier, later)))


def smallest_growth(p: Sequence[int], q: Sequence[int], allowed: Fraction) -> Fraction | float:
    """The smallest t = e^ε ≥ 1 with Σ max(0, p − t·q) ≤ allowed, in keys.

    The sum is linear in t between the ratios p/q, so it is solved with the n largest of them for the
    first n whose solution is not below the next ratio. Proof: Theorem 16.

    Returns a Fraction, or ``math.inf`` where no t is large enough.

    >>> smallest_growth([1, 3], [0, 1], Fraction(2))
    Fraction(2, 1)
    """
    spare = allowed - sum(a for a, b in zip(p, q, strict=True) if not b)
    if spare < 0:
        return math.inf
    above = below = 0
    solution = Fraction(1)
    for ratio, a, b in sorted(((Fraction(a, b), a, b) for a, b in zip(p, q, strict=True) if b), reverse=True):
        if ratio <= solution:
            break
        above, below = above + a, below + b
        solution = max(Fraction(1), (above - spare) / below)
    return solution


def full_support_limit(
    *,
    support: int,
    keysize: int,
    slack: parameters.Number = design.PAPER_SLACK,
    digits: int = certified.DIGITS,
) -> Enclosure:
    """The ε up to which the table of Proposition 3 has full support, and beyond which it has not.

    The value that is lost first is D, and the limit is where KEYSIZE·p(D) = 1. Proof: Theorem 14.

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> full_support_limit(support=10, keysize=2**8).digits(12)
    '0.627215473175'
    """
    size = parameters.keysize(keysize)
    half_width = parameters.integer(support, "support", low=1, high=LIMIT_SUPPORT_MAX)
    if size <= 2 * half_width + 1:
        raise parameters.wrong_value("keysize", f"above 2D + 1 = {2 * half_width + 1}", keysize)
    wanted = 10 ** parameters.integer(digits, "digits", low=1, high=LIMIT_DIGITS_MAX)

    def is_lost(level: Fraction) -> bool:
        noise = design.proposition_3(level, support=half_width, slack=slack)
        return certified.edge_reaches(noise, Fraction(1, size))

    low, high = Fraction(0), Fraction(1)
    while not is_lost(high):
        low, high = high, 2 * high
    while (high - low) * wanted > low:
        middle = (low + high) / 2
        low, high = (low, middle) if is_lost(middle) else (middle, high)
    return Enclosure(low, high)
