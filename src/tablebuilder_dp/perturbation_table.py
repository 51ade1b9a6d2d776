"""A perturbation table for any count: one lookup table for each count 0, …, D, as offices use it.

The noise of `small_counts` is quantised like the paper's: the cut points of count n are
⌈KEYSIZE·P(Z ≤ z)⌉, each decided by enclosures. Row D serves every larger count. The table is a
mechanism of its own with integer weights, so its (ε, δ) for two neighbouring counts is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tablebuilder_dp import asymmetric, certified, certified_rows, parameters, sampling, small_counts
from tablebuilder_dp.asymmetric import Target
from tablebuilder_dp.intervals import Enclosure
from tablebuilder_dp.sampling import LookupTable

COUNT_MAX = 2**63 - 1
_DIGITS = (30, 120, 480)


@dataclass(frozen=True)
class PerturbationTable:
    """The lookup tables of the counts 0, …, D: a count and its cell key stand for one noise value.

    Each has the places −D, …, D, with no weight where the published value would be negative.
    """

    way: str
    rows: tuple[LookupTable, ...]

    def __post_init__(self) -> None:
        small_counts.way_out(self.way)
        tables = isinstance(self.rows, list | tuple) and len(self.rows) > 1
        if not tables or not all(isinstance(row, LookupTable) for row in self.rows):
            raise parameters.wrong_type("rows", "lookup tables, one for each count 0, …, D", self.rows)
        support = len(self.rows) - 1
        if {(row.support, row.keysize) for row in self.rows} != {(support, self.rows[0].keysize)}:
            raise parameters.wrong_value("rows", f"of support {support} and one keysize", self.rows)
        if any(sum(row.weights[: support - count]) for count, row in enumerate(self.rows)):
            raise parameters.wrong_value(
                "rows", "without weight where count and noise are negative", self.rows
            )
        object.__setattr__(self, "rows", tuple(self.rows))

    @property
    def support(self) -> int:
        """D."""
        return len(self.rows) - 1

    @property
    def keysize(self) -> int:
        """KEYSIZE."""
        return self.rows[0].keysize

    def row(self, count: int) -> LookupTable:
        """The lookup table of a count; that of D for every larger one."""
        return self.rows[min(parameters.integer(count, "count", low=0, high=COUNT_MAX), self.support)]


def build(
    *,
    support: int,
    variance: parameters.Number | None = None,
    gamma: parameters.Number | None = None,
    keysize: int,
    way: str = "rows",
) -> PerturbationTable:
    """The table of the noise with a support and a variance, or the γ of its symmetric row.

    "rows" gives each count below D its own noise, unbiased before rounding (the ceilings move mass to
    the left), and leaves 0 as it is. "clamped" is max(0, n + Z): all keys below the cut of −n give −n.

    Clamping perturbs an empty cell too, and no key for it serves every use. `cellkey.cell_keys` gives
    all of them 0, and any other constant also makes an empty cell's value known: every other value
    then proves that the cell is not empty. With keys of their own, from a secret and the cell's
    description, two descriptions that only one person can fit give equal answers if the person is
    there, and unequal ones with probability 1 − Σ P₀(y)² if not, which proves the absence. So one
    (ε, δ) for all counts is the promise of a static table that publishes every cell once.

    >>> table = build(support=2, variance=1, keysize=256)
    >>> [row.weights for row in table.rows]
    [(0, 0, 256, 0, 0), (0, 102, 79, 49, 26), (17, 62, 99, 62, 16)]
    >>> build(support=2, variance=1, keysize=256, way="clamped").rows[1].weights
    (0, 79, 99, 62, 16)
    """
    aim = asymmetric.target(support=support, variance=variance, gamma=gamma)
    size, chosen = parameters.keysize(keysize), small_counts.way_out(way)
    last = _cuts(aim.support, aim, size)
    if chosen == "rows":
        cuts = [*(_cuts(count, aim, size) for count in range(aim.support)), last]
    else:
        skipped = range(aim.support, -1, -1)
        cuts = [(*[0] * places, *last[places:]) for places in skipped]
    return PerturbationTable(chosen, tuple(LookupTable(keysize=size, cuts=row) for row in cuts))


def _cuts(count: int, aim: Target, keysize: int) -> tuple[int, ...]:
    """⌈KEYSIZE·P(Z ≤ z)⌉ for z = −D, …, D.

    With a given γ no such number of row D is whole (`certified.cuts`). Of the other rows that is not
    known; where one is whole, or too near for 480 digits, the table is refused.
    """
    if count == aim.support and aim.gamma is not None:
        return certified.cuts(support=aim.support, gamma=aim.gamma, keysize=keysize)
    for digits in _DIGITS:
        pmf = certified_rows.solve(count, aim, digits).pmf[:-1]
        lower, upper = (
            [math.ceil(keysize * min(reach, Fraction(1))) for reach in accumulate(side)]
            for side in ([one.lower for one in pmf], [one.upper for one in pmf])
        )
        if lower == upper:
            return (*lower, keysize)
    raise ArithmeticError(
        f"no decision at {digits} digits: a cut point of count {count} is too near an integer"
    )


def sample(table: PerturbationTable, counts: ArrayLike, keys: ArrayLike) -> Any:
    """The noise of each count with its key; counts + noise is what is published, never negative.

    Counts and keys are integers, or arrays of them of one shape; keys lie in [0, KEYSIZE).

    >>> table = build(support=2, variance=1, keysize=256)
    >>> sample(table, 1, 255), sample(table, [0, 1, 2, 1000], [0, 0, 0, 255])
    (2, array([ 0, -1, -2,  2]))
    """
    size = _checked(table).keysize
    numbers = parameters.integers(counts, "counts", low=0, high=COUNT_MAX)
    places = parameters.integers(keys, "keys", low=0, high=size - 1)
    if numbers.shape != places.shape:
        raise parameters.wrong_value("keys", f"of the shape {numbers.shape} of counts", places.shape)
    rows = np.minimum(numbers.reshape(-1), table.support).astype(np.uint16)  # small integers sort fastest
    noise = _sorted_sample(table, rows, places.reshape(-1)).reshape(numbers.shape)
    return int(noise) if np.ndim(counts) == 0 else noise


def _checked(table: Any) -> PerturbationTable:
    if not isinstance(table, PerturbationTable):
        raise parameters.wrong_type("table", "a PerturbationTable", table)
    return table


def _sorted_sample(table: PerturbationTable, rows: NDArray[Any], keys: NDArray[Any]) -> NDArray[np.int64]:
    """Look keys up row by row, each row's together."""
    order = np.argsort(rows, kind="stable")
    ends = np.bincount(rows, minlength=table.support + 1).cumsum()
    ordered, found = keys[order], np.empty(len(keys), dtype=np.int64)
    start = 0
    for row, end in zip(table.rows, ends.tolist(), strict=True):
        if end > start:
            sampling.sample(row, ordered[start:end], out=found[start:end])
        start = end
    noise = np.empty_like(found)
    noise[order] = found
    return noise


def outputs(table: PerturbationTable, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many keys publish each value from max(0, n − D) to n + 1 + D: of count n, and of n + 1.

    >>> outputs(build(support=2, variance=1, keysize=256), 1)
    ((102, 79, 49, 26, 0), (17, 62, 99, 62, 16))
    """
    largest = _checked(table).support
    first = min(parameters.integer(count, "count", low=0, high=COUNT_MAX - 1), largest)
    less, more = (small_counts.published(table.row(n).weights, n, 0) for n in (first, first + 1))
    return (*less, 0), tuple(more)


def delta(table: PerturbationTable, count: int, epsilon: parameters.Number) -> tuple[Enclosure, Enclosure]:
    """δ(ε) of the counts n and n + 1: of the larger against the smaller, and the other way round.

    The weights are exact, so a δ of zero is exactly zero and every other is known to 30 digits.

    >>> up, down = delta(build(support=2, variance=1, keysize=256), 0, 1)
    >>> up.lower, down.upper
    (Fraction(77, 128), Fraction(0, 1))
    """
    less, more = ([Fraction(weight, table.keysize) for weight in side] for side in outputs(table, count))
    return certified.hockey_stick(more, less, epsilon)


def alone(table: PerturbationTable, count: int) -> Fraction:
    """The least δ that any ε gives to the counts n and n + 1: the mass that one of them alone publishes.

    >>> alone(build(support=2, variance=1, keysize=256), 1)
    Fraction(1, 16)
    """
    pairs = list(zip(*outputs(table, count), strict=True))
    masses = (sum(one[i] for one in pairs if not one[1 - i]) for i in (0, 1))
    return Fraction(max(masses), table.keysize)


def growth(table: PerturbationTable, count: int, delta: parameters.Number | None = None) -> Fraction | float:
    """The smallest e^ε ≥ 1 at which n and n + 1 are (ε, δ)-private; `alone` if no δ is given.

    It is exact, or infinite where δ is below `alone`.

    >>> table = build(support=2, variance=1, keysize=256)
    >>> growth(table, 1), growth(table, 0, "0.6")
    (Fraction(86, 17), inf)
    """
    target = alone(table, count) if delta is None else parameters.delta(delta)
    less, more = outputs(table, count)
    both = ((more, less), (less, more))
    return max(sampling.smallest_growth(p, q, target * table.keysize) for p, q in both)
