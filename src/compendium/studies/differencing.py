"""Cells one person apart, under the three kinds of cell keys and under the tiling that attains the bound.

An attacker knows people who are in the records and wonders about one more, the *target*. Of two cells, known
people and the same people with the target, the guess is "there" if the answers differ. Where cells may be
chosen one after the other, the attacker first finds known people whose answer one more would change.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compendium.studies import kinds
from tablebuilder_dp import sampling
from tablebuilder_dp.beyond import tiling
from tablebuilder_dp.microdata import cell_keys
from tablebuilder_dp.sampling import LookupTable
from tablebuilder_dp.support import parameters

Integers = NDArray[np.int64]

TILING = "tiling"
SCHEMES = (*cell_keys.KINDS, TILING)


def scheme_of(value: str) -> str:
    """Read the name of a scheme, one of ``SCHEMES``; anything else is a ValueError."""
    if value not in SCHEMES:
        raise parameters.wrong_value("scheme", "one of " + ", ".join(SCHEMES), value)
    return value


class Unequal(NamedTuple):
    """How often two cells one person apart have unequal answers, if the target is there and if not."""

    present: Fraction
    absent: Fraction


def unequal(table: LookupTable, scheme: str, *, others: int) -> Unequal:
    """Both probabilities, exactly, for n ≥ 1 others.

    Where equal sets have equal answers, the second is 0, and the first is the least δ of the two answers at
    every ε. Noises of cells are independent either way.

    >>> [float(unequal(LookupTable(4, (1, 3, 4)), one, others=3).present) for one in SCHEMES]
    [0.75, 0.75, 0.75, 0.5625]
    """
    chosen = scheme_of(scheme)
    number = parameters.integer(others, "others", low=1, high=tiling.MOST)
    apart, same = (
        1 - Fraction(sum(a * b for a, b in pairs), table.keysize**2)
        for pairs in (pairwise(table.weights), zip(table.weights, table.weights, strict=True))
    )
    if chosen == TILING:
        return Unequal(tiling.unequal(table, number), Fraction(0))
    return Unequal(apart, same if chosen == "cells" else Fraction(0))


def delta(table: LookupTable, scheme: str, epsilon: parameters.Number, *, others: int) -> float:
    """The least δ of the two answers at ε, for the target's presence, if the attacker knows all others.

    >>> delta(LookupTable(4, (1, 3, 4)), "cells", 1, others=3)
    0.25
    """
    if scheme_of(scheme) == "cells":  # the first cell is the same in both worlds
        return max(map(float, sampling.delta(table, epsilon)))
    return float(unequal(table, scheme, others=others).present)


class Answers(NamedTuple):
    """What is published in each trial of the first b, b + 1, … known people.

    ``alone`` is their own cell; ``present`` and ``absent`` are the cell that would count the target too, if
    the target is there and if not.
    """

    alone: Integers
    present: Integers
    absent: Integers


def answers(table: LookupTable, scheme: str, *, known: int, more: int, trials: int, seed: int) -> Answers:
    """The answers for b, …, b + ``more`` known people, with people of their own in every trial."""
    chosen = scheme_of(scheme)
    first = parameters.integer(known, "known", low=1, high=10_000)
    steps = parameters.integer(more, "more", low=0, high=10_000)
    count = parameters.integer(trials, "trials", low=1, high=100_000)
    start = parameters.integer(seed, "seed", low=0, high=2**64 - 1)
    draws = np.random.default_rng(start)
    if chosen == TILING:
        made = [_tiled(table, first, draws.integers(2**62, size=first + steps + 1)) for _ in range(count)]
        alone, present = (np.array(part, dtype=np.int64) for part in zip(*made, strict=True))
        return Answers(alone, present, alone)
    sums = np.empty((2, count, steps + 1, 4), dtype=np.uint64)
    for trial in range(count):
        people = kinds.record_keys(draws, first + steps + 1)
        sums[0, trial] = people[:-1].cumsum(axis=0)[first - 1 :]
        sums[1, trial] = sums[0, trial] + people[-1]
    cells = np.concatenate([sums, sums[:1]]).reshape(-1, 4)  # the last without the target after all
    noise = sampling.sample(table, kinds.keys(chosen, cells, seed=start)).reshape(3, count, -1)
    sizes = first + np.arange(steps + 1)
    return Answers(sizes + noise[0], sizes + 1 + noise[1], sizes + noise[2])


def _tiled(table: LookupTable, first: int, hashes: Integers) -> tuple[list[int], list[int]]:
    """What the tiling publishes of one trial's people, the target being the last of them."""
    least = np.minimum.accumulate(hashes[:-1])[first - 1 :]
    joined = np.minimum(least, hashes[-1])
    seeds = {int(s) for s in (*least, *joined)}
    marks = {s: tiling.answers(table, len(hashes), tiling.keyed(s.to_bytes(8))) for s in seeds}
    return (
        [marks[int(s)][n] for n, s in enumerate(least, first)],
        [marks[int(s)][n] for n, s in enumerate(joined, first + 1)],
    )


class Guesses(NamedTuple):
    """How often an attacker said "there" of a target who was there, and of one who was not.

    ``answers`` is the most of them that were needed.
    """

    trials: int
    found: int
    false: int
    answers: int

    @property
    def right(self) -> float:
        """The share of right guesses, if being there and not are equally likely."""
        return (self.trials + self.found - self.false) / (2 * self.trials)


def two_cells(published: Answers) -> Guesses:
    """Guess "there" if the answers for the known people and for them with the target differ."""
    found, false = (
        int((cell[:, 0] != published.alone[:, 0]).sum()) for cell in (published.present, published.absent)
    )
    return Guesses(len(published.alone), found, false, 2)


def chosen_cells(published: Answers) -> Guesses:
    """First bisect for known people whose answer one more of them changes, then let the target join them.

    The first and the last cell of known people are asked for, then cells halfway between two with different
    answers, until these are one person apart.
    """
    most = found = false = 0
    for alone, present, absent in zip(*published, strict=True):
        low, high, asked = 0, len(alone) - 1, 3
        while high - low > 1 and alone[low] != alone[high]:
            middle, asked = (low + high) // 2, asked + 1
            low, high = (low, middle) if alone[low] != alone[middle] else (middle, high)
        most = max(most, asked)
        found += int(present[low] != alone[low])
        false += int(absent[low] != alone[low])
    return Guesses(len(published.alone), found, false, most)
