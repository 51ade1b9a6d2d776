"""A perturbation table for any count: one lookup table for each count 0, …, D, as offices use it.

The noise of `small_counts` is quantised like the paper's: the cut points of count n are
⌈KEYSIZE·P(Z ≤ z)⌉, each decided by enclosures. Row D serves every larger count. The table is a
mechanism of its own with integer weights, so its (ε, δ) for two neighbouring counts is exact, and so
is that of any table that other software has made.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tablebuilder_dp import certified, sampling
from tablebuilder_dp.counts import certified as certified_counts
from tablebuilder_dp.counts import rows
from tablebuilder_dp.counts.rows import Symmetric
from tablebuilder_dp.counts.small_counts import choice, published
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.privacy import Delta
from tablebuilder_dp.sampling import LookupTable, Rule
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import Enclosure

COUNT_MAX = 2**63 - 1
_DIGITS = (30, 120, 480)


class Segments(NamedTuple):
    """The noise of a row in the order of its keys: each holds from the end before it, or 0, up to its own.

    The last end is KEYSIZE. A noise may come several times, and no order needs an entry for every key.
    """

    ends: tuple[int, ...]
    noise: tuple[int, ...]

    @property
    def joined(self) -> Segments:
        """The same noise for every key in as few segments as possible."""
        kept: list[tuple[int, int]] = []
        start = 0
        for end, noise in zip(self.ends, self.noise, strict=True):
            if end > start:
                if kept and kept[-1][1] == noise:
                    kept.pop()
                kept.append((end, noise))
            start = end
        return Segments(tuple(end for end, _ in kept), tuple(noise for _, noise in kept))

    @property
    def weights(self) -> Counter[int]:
        """How many keys give each noise."""
        found: Counter[int] = Counter()
        for noise, start, end in zip(self.noise, (0, *self.ends), self.ends, strict=False):
            found[noise] += end - start
        return found


@dataclass(frozen=True)
class PerturbationTable:
    """The lookup tables of the counts 0, 1, …: a count and its cell key stand for one noise value.

    Each has the places −D, …, D, with no weight where the published value would be negative. Larger
    counts than there are rows for use the last ``period`` rows in turn; with period 0 they are refused.
    ``segments`` has the order of the noise in each row where it does not always rise with the key, as in
    tables of other software; a row's weights are the same either way.
    """

    rows: tuple[LookupTable, ...]
    period: int = 1
    segments: tuple[Segments, ...] = ()

    def __post_init__(self) -> None:
        tables = isinstance(self.rows, list | tuple) and len(self.rows) > 0
        if not tables or not all(isinstance(row, LookupTable) for row in self.rows):
            raise parameters.wrong_type("rows", "lookup tables, one for each count 0, 1, …", self.rows)
        object.__setattr__(self, "rows", tuple(self.rows))
        parameters.integer(self.period, "period", low=0, high=len(self.rows))
        if len({(row.support, row.keysize) for row in self.rows}) > 1:
            raise parameters.wrong_value("rows", "of one support and one keysize", self.rows)
        if any(sum(row.weights[: max(self.support - n, 0)]) for n, row in enumerate(self.rows)):
            raise parameters.wrong_value(
                "rows", "without weight where count and noise are negative", self.rows
            )
        if self.segments:
            self._check_segments()

    def _check_segments(self) -> None:
        """Refuse what the rows contradict, and keep each order in one form: none if all noise rises."""
        weights = [+Counter(dict(enumerate(row.weights, -self.support))) for row in self.rows]
        good = all(
            len(order.ends) == len(order.noise) and list(order.ends) == sorted(order.ends)
            for order in self.segments
        )
        if not good or [+order.weights for order in self.segments] != weights:
            allowed = "of ends that never fall, each noise for as many keys as rows say"
            raise parameters.wrong_value("segments", allowed, self.segments)
        kept = tuple(order.joined for order in self.segments)
        rises = all(list(order.noise) == sorted(order.noise) for order in kept)
        object.__setattr__(self, "segments", () if rises else kept)

    @classmethod
    def of_segments(
        cls, segments: Iterable[Segments], *, keysize: int, support: int, period: int = 1
    ) -> PerturbationTable:
        """The table whose rows have their noise, from −D to D, in any order.

        >>> orders = [Segments((4,), (0,)), Segments((1, 2, 4), (1, -1, 0))]
        >>> table = PerturbationTable.of_segments(orders, keysize=4, support=1)
        >>> table.rows[1].weights, sample(table, [1, 1, 1, 1], [0, 1, 2, 3])
        ((1, 2, 1), array([ 1, -1,  0,  0]))
        """
        orders = tuple(segments)
        weights, places = (order.weights for order in orders), range(-support, support + 1)
        cuts = (tuple(accumulate(row[noise] for noise in places)) for row in weights)
        return cls(tuple(LookupTable(keysize, row) for row in cuts), period, orders)

    @property
    def support(self) -> int:
        """D."""
        return self.rows[0].support

    @property
    def keysize(self) -> int:
        """KEYSIZE."""
        return self.rows[0].keysize

    def order(self, place: int) -> Segments:
        """The noise of a row in the order of its keys."""
        if self.segments:
            return self.segments[place]
        return Segments(self.rows[place].cuts, tuple(range(-self.support, self.support + 1))).joined

    @cached_property
    def _orders(self) -> list[tuple[NDArray[np.uint64], NDArray[np.int64]]]:
        """For sampling: the inner ends and the noise of each row."""
        return [
            (np.array(order.ends[:-1], dtype=np.uint64), np.array(order.noise, dtype=np.int64))
            for order in self.segments
        ]

    @property
    def largest(self) -> int:
        """The largest count that is served."""
        return COUNT_MAX if self.period else len(self.rows) - 1

    @property
    def pairs(self) -> range:
        """The counts n whose pairs n, n + 1 stand for all pairs of neighbours."""
        return range(len(self.rows) - (self.period == 0))

    def place(self, counts: Any) -> Any:
        """The row of each count, all of which must be served.

        Returns an array of indices of ``rows``, of the shape of ``counts``.
        """
        turn = len(self.rows) - self.period
        return np.where(counts < len(self.rows), counts, turn + (counts - turn) % max(self.period, 1))

    def row(self, count: int) -> LookupTable:
        """The lookup table of a count."""
        return self.rows[int(self.place(parameters.integer(count, "count", low=0, high=self.largest)))]


def build(
    noise: Symmetric, *, keysize: int, small_counts: str = "rows", rule: Rule = sampling.ceilings
) -> PerturbationTable:
    """The table of all counts whose symmetric noise, that of every count from D on, is given.

    ``rule`` makes the row of D and all larger counts from a `Noise`; the other rows are made by ceilings.

    "rows" gives each count below D its own noise, unbiased before rounding (the ceilings move mass to
    the left), and leaves 0 as it is. "clamped" is max(0, n + Z): all keys below the cut of −n give −n.

    Clamping perturbs an empty cell too, and no key for it serves every use. `cellkey.cell_keys` gives
    all of them 0, and any other constant also makes an empty cell's value known: every other value
    then proves that the cell is not empty. With keys of their own, from a secret and the cell's
    description, two descriptions that only one person can fit give equal answers if the person is
    there, and unequal ones with probability 1 − Σ P₀(y)² if not, which proves the absence. So the
    (ε, δ) of all counts is a promise about one published cell.

    Raises ArithmeticError where a cut point is not decided.

    >>> from tablebuilder_dp.counts.rows import OfVariance
    >>> table = build(OfVariance(2, 1), keysize=256)
    >>> [row.weights for row in table.rows]
    [(0, 0, 256, 0, 0), (0, 102, 79, 49, 26), (17, 62, 99, 62, 16)]
    >>> build(OfVariance(2, 1), keysize=256, small_counts="clamped").rows[1].weights
    (0, 79, 99, 62, 16)
    """
    support, size, chosen = rows.check(noise), parameters.keysize(keysize), choice(small_counts)
    if chosen == "rows" or not isinstance(noise, Noise):
        certified_counts.check_depth(noise)
    if isinstance(noise, Noise):
        last = sampling.lookup_table(noise, keysize=size, rule=rule)
    elif rule is not sampling.ceilings:
        raise parameters.wrong_value("rule", "left out for a noise that is given by its variance", rule)
    else:
        last = LookupTable(keysize=size, cuts=_cuts(noise, support, size))
    if chosen == "clamped":
        return clamped(last)
    cuts = [_cuts(noise, count, size) for count in range(support)]
    return PerturbationTable((*(LookupTable(keysize=size, cuts=row) for row in cuts), last))


def clamped(last: LookupTable) -> PerturbationTable:
    """The table that publishes max(0, n + Z), from the lookup table of Z.

    >>> [row.weights for row in clamped(LookupTable(4, (1, 3, 4))).rows]
    [(0, 3, 1), (1, 2, 1)]
    """
    cuts = [(*[0] * places, *last.cuts[places:]) for places in range(last.support, 0, -1)]
    return PerturbationTable((*(LookupTable(keysize=last.keysize, cuts=row) for row in cuts), last))


def _cuts(noise: Symmetric, count: int, keysize: int) -> tuple[int, ...]:
    """⌈KEYSIZE·P(Z ≤ z)⌉ for z = −D, …, D.

    Where one of them is whole, or too near for 480 digits, the table is refused.
    """
    for digits in _DIGITS:
        pmf = certified_counts.solve(noise, count, digits).pmf[:-1]
        unit = 1 << (4 * digits + 64)  # to its parts ends are rounded outwards
        if all(mass.lower == mass.upper for mass in pmf):
            unit = math.lcm(*(mass.lower.denominator for mass in pmf))  # rational: a cut point may be whole
        sides = (
            [math.floor(mass.lower * unit) for mass in pmf],
            [math.ceil(mass.upper * unit) for mass in pmf],
        )
        lower, upper = (
            [min(-(-keysize * reach // unit), keysize) for reach in accumulate(side)] for side in sides
        )
        if lower == upper:
            return (*lower, keysize)
    raise ArithmeticError(
        f"no decision at {digits} digits: a cut point of count {count} is too near an integer"
    )


def sample(table: PerturbationTable, counts: ArrayLike, keys: ArrayLike) -> Any:
    """The noise of each count with its key; counts + noise is what is published, never negative.

    Counts and keys are integers, or arrays of them of one shape; keys lie in [0, KEYSIZE).

    Returns an int for one count, an array of their shape for many.

    >>> from tablebuilder_dp.counts.rows import OfVariance
    >>> table = build(OfVariance(2, 1), keysize=256)
    >>> sample(table, 1, 255), sample(table, [0, 1, 2, 1000], [0, 0, 0, 255])
    (2, array([ 0, -1, -2,  2]))
    """
    size = _checked(table).keysize
    numbers = parameters.integers(counts, "counts", low=0, high=table.largest)
    places = parameters.integers(keys, "keys", low=0, high=size - 1)
    if numbers.shape != places.shape:
        raise parameters.wrong_value("keys", f"of the shape {numbers.shape} of counts", places.shape)
    rows = table.place(numbers.reshape(-1)).astype(np.uint32)
    noise = _sorted_sample(table, rows, places.reshape(-1)).reshape(numbers.shape)
    return int(noise) if np.ndim(counts) == 0 else noise


def _checked(table: Any) -> PerturbationTable:
    if not isinstance(table, PerturbationTable):
        raise parameters.wrong_type("table", "a PerturbationTable", table)
    return table


def _sorted_sample(table: PerturbationTable, rows: NDArray[Any], keys: NDArray[Any]) -> NDArray[np.int64]:
    """Look keys up row by row, each row's together."""
    order = np.argsort(rows, kind="stable")
    ends = np.bincount(rows, minlength=len(table.rows)).cumsum()
    ordered, values = keys[order], np.empty(len(keys), dtype=np.int64)
    start = 0
    for place, end in enumerate(ends.tolist()):
        if end > start:
            _row_sample(table, place, ordered[start:end], values[start:end])
        start = end
    noise = np.empty_like(values)
    noise[order] = values
    return noise


def _row_sample(table: PerturbationTable, place: int, keys: NDArray[Any], out: NDArray[np.int64]) -> None:
    if table.segments:
        ends, noise = table._orders[place]
        noise.take(np.searchsorted(ends, keys.astype(np.uint64), side="right"), out=out)
    else:
        sampling.sample(table.rows[place], keys, out=out)


def outputs(table: PerturbationTable, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many keys publish each value from max(0, n − D) to n + 1 + D: of count n, and of n + 1.

    >>> from tablebuilder_dp.counts.rows import OfVariance
    >>> outputs(build(OfVariance(2, 1), keysize=256), 1)
    ((102, 79, 49, 26, 0), (17, 62, 99, 62, 16))
    """
    first = int(_checked(table).place(parameters.integer(count, "count", low=0, high=table.largest - 1)))
    less, more = (published(table.row(n).weights, n, 0) for n in (first, first + 1))
    start = max(first - table.support, 0)
    return (*less[start:], 0), tuple(more[start:])


def delta(table: PerturbationTable, count: int, epsilon: parameters.Number) -> Delta[Enclosure]:
    """δ(ε) of the counts n and n + 1, in both directions.

    The weights are exact, so a δ of zero is exactly zero and every other is known to 30 digits.

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> from tablebuilder_dp.counts.rows import OfVariance
    >>> both = delta(build(OfVariance(2, 1), keysize=256), 0, 1)
    >>> both.backward.lower, both.forward.upper
    (Fraction(77, 128), Fraction(0, 1))
    """
    level = parameters.number(epsilon, "epsilon", high=parameters.EPSILON_MAX, includes="low high")
    return certified.of_weights(*outputs(table, count), level, unit=table.keysize)


def alone(table: PerturbationTable, count: int) -> Fraction:
    """The least δ that any ε gives to the counts n and n + 1: the mass that one of them alone publishes.

    >>> from tablebuilder_dp.counts.rows import OfVariance
    >>> alone(build(OfVariance(2, 1), keysize=256), 1)
    Fraction(1, 16)
    """
    pairs = list(zip(*outputs(table, count), strict=True))
    masses = (sum(pair[i] for pair in pairs if not pair[1 - i]) for i in (0, 1))
    return Fraction(max(masses), table.keysize)


def growth(table: PerturbationTable, count: int, delta: parameters.Number | None = None) -> Fraction | float:
    """The smallest e^ε ≥ 1 at which n and n + 1 are (ε, δ)-private; `alone` if no δ is given.

    It is exact, or infinite where δ is below `alone`. Proof: Theorem 16.

    >>> from tablebuilder_dp.counts.rows import OfVariance
    >>> table = build(OfVariance(2, 1), keysize=256)
    >>> growth(table, 1), growth(table, 0, "0.6")
    (Fraction(86, 17), inf)
    """
    target = alone(table, count) if delta is None else parameters.delta(delta)
    less, more = outputs(table, count)
    both = ((more, less), (less, more))
    return max(sampling.smallest_growth(p, q, target * table.keysize) for p, q in both)


@lru_cache(maxsize=8)  # a statement asks for several first counts
def _deltas(table: PerturbationTable, epsilon: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Of every pair δ(ε), the larger direction, and the probability that the loss exceeds ε.

    The weights are integers, so e^ε alone is rounded: down, to a multiple of 2^−128, which raises δ.
    """
    growth, _ = certified.growth(epsilon, 128)
    of_pairs = []
    for count in table.pairs:
        less, more = outputs(table, count)
        down, up = (certified.excess(p, q, epsilon) for p, q in ((less, more), (more, less)))
        deltas = ((above.ours << 128) - growth * above.theirs for above in (down, up))
        masses = (down.ours + up.theirs, up.ours + down.theirs)  # of n and of n + 1, the loss of either sign
        of_pairs.append((Fraction(max(deltas), table.keysize << 128), Fraction(max(masses), table.keysize)))
    return of_pairs


class Guarantee(NamedTuple):
    """(ε, δ) of all neighbouring counts from some count on, and the n of the pair with the largest δ.

    ``loss_above_epsilon`` is the probability that the published value multiplies or divides the odds of one
    count against the other by more than e^ε, whichever count is true: the largest of all pairs. It can be
    above δ, which allows a set of values to be likelier by δ, and does not say how likely the set is.
    """

    epsilon: float
    delta: float
    worst: int
    loss_above_epsilon: float


def guarantee(table: PerturbationTable, *, first: int, epsilon: parameters.Number | None = None) -> Guarantee:
    """The (ε, δ) that all counts n ≥ ``first`` and n + 1 have in common, rounded up.

    Without an ε, δ is the least that any ε gives to all of them, and ε the smallest that belongs to it.
    If then some pair is told apart with certainty, they are 0 and 1.

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> from tablebuilder_dp.counts.rows import OfVariance
    >>> table = build(OfVariance(2, 1), keysize=256)
    >>> guarantee(table, first=1, epsilon=1)
    Guarantee(epsilon=1.0, delta=0.2179..., worst=1, loss_above_epsilon=0.3984375)
    """
    pairs = _checked(table).pairs
    if not pairs:
        raise parameters.wrong_value("table", "one of two counts or more", f"{len(table.rows)} row")
    span = pairs[min(parameters.integer(first, "first", low=0, high=COUNT_MAX), len(pairs) - 1) :]
    if table.period > 1:  # their pairs recur
        span = range(min(span.start, len(table.rows) - table.period), span.stop)
    if epsilon is not None:
        return _at(table, span, parameters.epsilon(epsilon))
    counts = sorted({outputs(table, n): n for n in reversed(span)}.values())  # each kind of pair once
    least = {n: alone(table, n) for n in counts}
    count = max(least, key=lambda n: least[n])
    if least[count] == 1:  # some pair is told apart with certainty
        return Guarantee(0.0, 1.0, count, 1.0)
    ratio = max(growth(table, n, least[count]) if least[count] else growth(table, n) for n in counts)
    level = sampling.logarithm_up(ratio)
    at_level = _at(table, span, Fraction(level))
    return at_level._replace(epsilon=level, delta=sampling.rounded_up(least[count]), worst=count)


def _at(table: PerturbationTable, span: range, epsilon: Fraction) -> Guarantee:
    of_pairs = _deltas(table, epsilon)
    worst = max(span, key=lambda n: of_pairs[n][0])
    above = max(of_pairs[n][1] for n in span)
    return Guarantee(
        sampling.rounded_up(epsilon),
        sampling.rounded_up(of_pairs[worst][0]),
        worst,
        sampling.rounded_up(above),
    )


def requantised(table: PerturbationTable, keysize: int) -> PerturbationTable:
    """The table that keys from [0, keysize) realise when key/keysize is compared with cut/KEYSIZE.

    This is exact, whatever the order of the noise: the new ends are ⌈end·keysize/KEYSIZE⌉. Proof: Theorem 45.

    >>> from tablebuilder_dp.counts.rows import OfVariance
    >>> requantised(build(OfVariance(2, 1), keysize=256), 10).rows[2].cuts
    (1, 4, 7, 10, 10)
    """
    size, old = parameters.keysize(keysize), _checked(table).keysize
    if size == old:
        return table
    orders = (table.order(place) for place in range(len(table.rows)))
    segments = (order._replace(ends=tuple(-(-end * size // old) for end in order.ends)) for order in orders)
    return PerturbationTable.of_segments(segments, keysize=size, support=table.support, period=table.period)
