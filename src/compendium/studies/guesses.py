"""How often a guess is right whether n or n + 1 people were counted, both being equally likely.

All of it follows from the weights of a perturbation table, without any sampling.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tablebuilder_dp.counts import perturbation_table as perturbation
from tablebuilder_dp.counts.perturbation_table import PerturbationTable


class Verdicts(NamedTuple):
    """For each row n of a table and each noise z = −D, …, D + 1: whether n + z speaks for n + 1 people rather
    than n; and for each row how often that guess is right if both are equally likely.
    """

    speaks: NDArray[np.bool_]
    right: NDArray[np.float64]


def verdicts(table: PerturbationTable) -> Verdicts:
    """The likelihood-ratio guess, the best there is for one published count; right (1 + δ(0))/2 of the time.

    >>> from tablebuilder_dp.counts.rows import OfVariance
    >>> best = verdicts(perturbation.build(OfVariance(2, 1), keysize=256))
    >>> best.speaks[0], float(best.right[0])
    (array([False, False, False,  True,  True,  True]), 0.80078125)
    """
    support = table.support
    speaks, right = np.zeros((len(table.rows), 2 * support + 2), dtype=bool), np.ones(len(table.rows))
    for n in table.pairs:
        less, more = perturbation.outputs(table, n)
        start = max(support - n, 0)
        speaks[n, start:] = [b > a for a, b in zip(less, more, strict=True)]
        right[n] = 0.5 + sum(b - a for a, b in zip(less, more, strict=True) if b > a) / table.keysize / 2
    return Verdicts(speaks, right)


def agreement(table: PerturbationTable, first: int, second: int) -> float:
    """The probability that two cells of these counts with independent keys publish the same value.

    >>> from tablebuilder_dp.counts.rows import OfVariance
    >>> table = perturbation.build(OfVariance(1, "0.5"), keysize=4)
    >>> agreement(table, 3, 3), agreement(table, 3, 6)
    (0.375, 0.0)
    """
    low, high = sorted((first, second))
    lower, upper = (table.row(count).weights for count in (low, high))
    shift = high - low
    return sum(a * b for a, b in zip(lower[shift:], upper, strict=False)) / table.keysize**2


def unequal(table: PerturbationTable, n: int, *, fresh: bool = False) -> float:
    """How often it is right to guess n + 1 people rather than n if the answer is not that of the same n.

    Without the target both are one set of records with one key and one answer; with the target the guess
    fails only if two independent noises happen to agree. With ``fresh`` noise for each edition they are
    independent either way.

    >>> from tablebuilder_dp.counts.rows import OfVariance
    >>> table = perturbation.build(OfVariance(1, "0.5"), keysize=4)
    >>> unequal(table, 3), unequal(table, 3, fresh=True)
    (0.875, 0.5625)
    """
    return ((agreement(table, n, n) if fresh else 1) + 1 - agreement(table, n, n + 1)) / 2


def difference(table: PerturbationTable, n: int) -> float:
    """How often it is right to guess n + 1 people rather than n from a difference of two or more.

    The difference is to a cell of n − 1 people that has a key of its own.

    >>> from tablebuilder_dp.counts.rows import OfVariance
    >>> difference(perturbation.build(OfVariance(1, "0.5"), keysize=4), 3)
    0.6875
    """
    base, without, target = (np.array(table.row(n + more).weights) / table.keysize for more in (-1, 0, 1))
    center = 2 * table.support  # the place where both noises are equal
    missed = (
        np.convolve(target, base[::-1])[:center].sum() + np.convolve(without, base[::-1])[center + 1 :].sum()
    )
    return 1 - float(missed) / 2


def promised(epsilon: float, delta: float) -> float:
    """The most often that a guess can be right, at prior odds of one, if the count is (ε, δ)-private.

    With P and Q the distributions with and without the target, a guess E is right (P(E) + 1 − Q(E))/2 of the
    time. As P(E) ≤ e^ε·Q(E) + δ and 1 − Q(E) ≤ e^ε·(1 − P(E)) + δ, that is (e^ε + δ)/(1 + e^ε) at most.

    >>> promised(0.0, 0.0), promised(0.0, 1.0)
    (0.5, 1.0)
    """
    return (math.exp(epsilon) + delta) / (1 + math.exp(epsilon))
