"""Attacks on published tables, tried: was a certain person counted?

In each trial the attacker knows everybody in a cell but one, the *target*, whom a coin counts or not. The
cell is published by `microdata.perturb`, and the attacker guesses from what is published alone. No two
trials share a set of records and a secret, so their noises are independent.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.stats import binomtest

from compendium.studies import guesses, utility
from tablebuilder_dp import microdata
from tablebuilder_dp.counts.perturbation_table import PerturbationTable
from tablebuilder_dp.microdata import record_keys, secret
from tablebuilder_dp.sampling import LookupTable
from tablebuilder_dp.support import parameters

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

NO_NOISE = "no noise"
KNOWS_THE_OTHERS = "knows all others"
ONE_APART = "one person apart"
TWO_APART = "two people apart"


class Trials(NamedTuple):
    """How many others are in each cell, whether its target is, and what three editions publish of it.

    ``before`` is the cell without the target, ``earlier`` without the target and one person more.
    """

    others: Integers
    present: Flags
    published: Integers
    before: Integers
    earlier: Integers


class Rate(NamedTuple):
    """How often an attack was right, with a 95% interval, and how often it is by the table's weights."""

    attack: str
    way: str
    others: str
    trials: int
    right: int
    exact: float
    low: float
    high: float

    @property
    def chance(self) -> float:
        """The probability of a share as far from the exact one as this, or farther."""
        return float(binomtest(self.right, self.trials, self.exact).pvalue)


def no_noise(keysize: int) -> microdata.Protection:
    """A protection that adds nothing, to compare with."""
    return microdata.from_table(PerturbationTable((LookupTable(keysize, (0, keysize, keysize)),)))


def run(
    people: Any,
    *,
    by: Sequence[str],
    id: str,
    protections: Mapping[str, microdata.Protection],
    rounds: int,
    seed: int,
    keys: Mapping[str, str] | None = None,
) -> dict[str, Trials]:
    """Draw a target in every cell with people, toss the coins and publish the editions, in every way.

    Each round has a secret of its own, so that its noises are new. The targets are the same in every way.
    ``keys`` may name ways with another kind of cell keys than sums.
    """
    start = parameters.integer(seed, "seed", low=0, high=2**64 - 1)
    count = parameters.integer(rounds, "rounds", low=1, high=10_000)
    known, cell = _cells(people, by)
    trials: dict[str, list[Trials]] = {way: [] for way in protections}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(count):
            draws = np.random.default_rng([start, turn])
            file = Path(folder) / f"{turn}.key"
            microdata.make_secret(file, seed=int(draws.integers(2**63)))
            keyed = _keyed(people, by, id, file)
            order = draws.permutation(len(cell))
            occupied, target = _first(cell, order)
            companion = _first(cell, order[~np.isin(order, target)])[1]
            present = draws.integers(2, size=len(target)) > 0
            editions = [np.ones(len(cell), dtype=bool) for _ in range(3)]
            editions[0][target] = present
            editions[1][target] = editions[2][target] = editions[2][companion] = False
            tables = [keyed.filter(pa.array(edition)) for edition in editions]
            others = np.bincount(cell)[occupied] - 1
            for way, protection in protections.items():
                kind = (keys or {}).get(way, "sums")
                edition = partial(
                    microdata.perturb, by=by, protection=protection, categories=known, secret_file=file
                )
                names = [None] * 3 if kind == "sums" else ["1", "2", "3"]
                published = (
                    edition(table, keys=kind, edition=name) for table, name in zip(tables, names, strict=True)
                )
                values = (release.table["count"].to_numpy()[occupied] for release in published)
                trials[way].append(Trials(others, present, *values))
    return {
        way: Trials(*(np.concatenate(part) for part in zip(*each, strict=True)))
        for way, each in trials.items()
    }


def _cells(people: Any, by: Sequence[str]) -> tuple[dict[str, list[Any]], Integers]:
    """The categories of each variable and the cell of each record, in the order of the published table."""
    known, places = {}, []
    for name in by:
        values = people[name].combine_chunks().cast(pa.string())
        distinct = pc.unique(values)
        listed = distinct.take(pc.sort_indices(distinct))
        known[name] = listed.to_pylist()
        places.append(pc.index_in(values, value_set=listed).to_numpy(zero_copy_only=False).astype(np.int64))
    return known, np.ravel_multi_index(tuple(places), tuple(map(len, known.values())))


def _first(cell: Integers, order: Integers) -> tuple[Integers, Integers]:
    """The cells of some records, and of each its record that comes first."""
    occupied, place = np.unique(cell[order], return_index=True)
    return occupied, order[place]


def _keyed(people: Any, by: Sequence[str], id: str, file: Path) -> Any:
    """The columns that are needed, with record keys from a secret."""
    keys = record_keys.of_ids([people[id].combine_chunks()], secret.read(file))
    return pa.table({**{name: people[name] for name in by}, **dict(zip(record_keys.KEYS, keys, strict=True))})


def rates(
    by_way: Mapping[str, Trials],
    protections: Mapping[str, microdata.Protection],
    *,
    support: int,
    keys: Mapping[str, str] | None = None,
) -> list[Rate]:
    """What came of three attacks, for cells with no others, with fewer than D and with D or more.

    *Knows all others* compares the likelihoods of the published count with and without the target. *One
    person apart* also sees the cell without the target, and guesses that the target is counted if the two
    answers differ. *Two people apart* sees the cell without the target and one person more, does not know
    how many the others are, and guesses by a difference of two or more.
    """
    made = []
    for way, trials in by_way.items():
        table = protections[way].table
        if not isinstance(table, PerturbationTable):
            raise ValueError(f"protections must have a perturbation table each, which {way!r} has not")
        kind, place = (keys or {}).get(way, "sums"), table.place(trials.others)
        known = guesses.verdicts(table)
        noise = trials.published - trials.others
        attacks = {
            KNOWS_THE_OTHERS: (known.speaks[place, noise + table.support], known.right[place]),
            ONE_APART: (
                trials.published != trials.before,
                _by_count(partial(guesses.unequal, table, fresh=kind == "cells"), trials.others),
            ),
            TWO_APART: (
                trials.published - trials.earlier > 1,
                _by_count(partial(guesses.difference, table), np.maximum(trials.others, 1)),
            ),
        }
        for attack, (guess, exact) in attacks.items():
            for label, low, high in groups(support):
                chosen = (trials.others >= low) & (trials.others < high)
                if chosen.any() and (attack != TWO_APART or low == support):
                    made.append(_rate((attack, way, label), (guess == trials.present)[chosen], exact[chosen]))
    return made


def _by_count(chance: Callable[[int], float], others: Integers) -> NDArray[np.float64]:
    """A chance that depends on the number of others, for each trial."""
    numbers, place = np.unique(others, return_inverse=True)
    return np.array([chance(n) for n in numbers.tolist()])[place]


def _rate(names: tuple[str, str, str], right: Flags, exact: NDArray[np.float64]) -> Rate:
    tried, hits = len(right), int(right.sum())
    low, high = binomtest(hits, tried).proportion_ci(method="wilson")
    return Rate(*names, tried, hits, float(exact.mean()), float(low), float(high))


def groups(support: int) -> list[tuple[str, float, float]]:
    """Cells by how many others are in them: a name, the least number, and the one that is too many.

    >>> [name for name, _, _ in groups(3)], [name for name, _, _ in groups(1)]
    (['nobody', '1 to 2', '3 or more'], ['nobody', '1 or more'])
    """
    some = [] if support == 1 else [(f"1 to {support - 1}" if support > 2 else "1", 1, support)]
    return [("nobody", 0, 1), *some, (f"{support} or more", support, math.inf)]


class Exposed(NamedTuple):
    """Pairs of a cell and its total over one variable, one person apart; how many have unequal answers."""

    pairs: int
    unequal: int


def exposed(published: microdata.Published) -> Exposed:
    """How often a table with margins is open to the attack *one person apart* all by itself.

    If a total has one person more than one of its parts and the answers differ, then somebody is in the
    other parts: otherwise both would be one set of records with one answer.
    """
    counts, true = utility.arrays(published)
    pairs = unequal = 0
    for axis in range(true.ndim):
        (part, total), (shown, shown_total) = (np.split(array, [-1], axis=axis) for array in (true, counts))
        apart = (total - part == 1) & (part > 0)
        pairs += int(apart.sum())
        unequal += int((apart & (shown != shown_total)).sum())
    return Exposed(pairs, unequal)
