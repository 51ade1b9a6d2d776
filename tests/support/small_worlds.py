"""Worlds so small that everything can be counted: a 2×2 table with its margins, all keys, all answers.

Nothing here comes from the library. A law is what is published and by how many of all equally likely
assignments of keys; all numbers are integers or fractions. The three kinds of keys are ideal: a random
function is one of all functions. Who publishes is a parameter (`Publish`), so that the library can be
put in the place of `signed` and `clamped`, and its keys in the place of those counted here.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Cell = tuple[int | None, int | None]
World = tuple[Cell | None, ...]
"""Where each person is, or None for one who is not among the records."""

CELLS: list[Cell] = list(product((0, 1, None), (0, 1, None)))
"""The nine cells of the table, the margins with None for a variable that is summed over."""

INNER: list[Cell] = [cell for cell in CELLS if None not in cell]

Publish = Callable[[Integers, Integers], Integers]
"""From the counts of all cells and many rows of keys, a key a cell, to as many rows of what is published."""


class Keys(NamedTuple):
    """Rows of keys, one a cell, and the number of ways in which each row comes about."""

    rows: Integers
    ways: Integers


class Law(NamedTuple):
    """By what is published: the number of ways, out of all, in which it comes about."""

    ways: dict[tuple[int, ...], int]
    total: int


# --- Records ----------------------------------------------------------------------------------


def people(world: World, cell: Cell) -> frozenset[int]:
    """The numbers of the people in a cell."""
    return frozenset(
        number
        for number, place in enumerate(world)
        if place is not None and all(want in (None, has) for want, has in zip(cell, place, strict=True))
    )


def counts(world: World) -> Integers:
    """The true counts, in the order of `CELLS`."""
    return np.array([len(people(world, cell)) for cell in CELLS])


def moved(world: World, number: int, place: Cell | None) -> World:
    """The neighbour in which one person is elsewhere, or nowhere."""
    return (*world[:number], place, *world[number + 1 :])


Path = tuple[int, ...]
"""A nested variable's categories from the coarsest level on."""


def all_records(nested: Sequence[Sequence[int]]) -> list[tuple[Path, ...]]:
    """Every record of some variables, given by the number of categories at each of their levels."""
    return list(product(*(list(product(*map(range, sizes))) for sizes in nested)))


def cells_of(record: Sequence[Path]) -> set[tuple[Path, ...]]:
    """The cells with all margins that a record is in, each described by its paths."""
    levels = product(*(range(len(path) + 1) for path in record))
    return {tuple(path[:level] for path, level in zip(record, chosen, strict=True)) for chosen in levels}


# --- Keys -------------------------------------------------------------------------------------


def independent(cells: int, keysize: int) -> Keys:
    """A key of its own for each of some cells: every assignment once."""
    rows = np.indices((keysize,) * cells).reshape(cells, -1).T
    return Keys(rows, np.ones(len(rows), dtype=np.int64))


def by_cells(world: World, keysize: int) -> Keys:
    """`cells`: a key of its own for each description."""
    return independent(len(CELLS), keysize)


def by_records(world: World, keysize: int) -> Keys:
    """`records`: a key for each set of people, and for each cell without people one of its own."""
    names = [people(world, cell) or cell for cell in CELLS]
    known = list(dict.fromkeys(names))
    each = independent(len(known), keysize)
    return Keys(each.rows[:, [known.index(name) for name in names]], each.ways)


def by_sums(world: World, keysize: int, *, components: int = 4) -> Keys:
    """`sums`: the XOR of sums, modulo the key size, of the record keys; a key of its own without people.

    All record keys of one component are counted. Components are independent of each other, so their
    rows of keys are XORed in all ways, one component after the other.
    """
    if keysize & (keysize - 1):
        raise ValueError("XOR needs a key size that is a power of two")
    inside = [people(world, cell) for cell in CELLS]
    has = np.array([[number in them for them in inside] for number in range(len(world))], dtype=np.int64)
    shape = (keysize,) * len(CELLS)
    sums = independent(len(world), keysize).rows @ has % keysize
    places, times = np.unique(np.ravel_multi_index(tuple(sums.T), shape), return_counts=True)
    ways = np.zeros(keysize ** len(CELLS), dtype=np.int64)
    ways[0] = 1
    rows = np.arange(len(ways))
    for _ in range(components):  # keys of powers of two stand side by side in a place: XOR acts on each
        ways = sum(number * ways[rows ^ place] for place, number in zip(places, times, strict=True))
    for cell, them in enumerate(inside):
        if not them:
            ways = ways.reshape(shape).sum(axis=cell, keepdims=True).repeat(keysize, axis=cell).reshape(-1)
    found = np.flatnonzero(ways)
    return Keys(np.stack(np.unravel_index(found, shape), axis=1), ways[found])


# --- What is published ------------------------------------------------------------------------


def lookup(weights: Sequence[int], keys: Integers) -> Integers:
    """The noise of each key: the weights say how many keys have −D, −D + 1, …, D."""
    support = len(weights) // 2
    return np.repeat(np.arange(-support, support + 1), weights)[keys]


def signed(*weights: int) -> Publish:
    """Count plus noise, whatever its sign."""
    return lambda true, keys: true + lookup(weights, keys)


def clamped(*weights: int) -> Publish:
    """Count plus noise, or 0 where that is negative."""
    return lambda true, keys: np.maximum(0, true + lookup(weights, keys))


def law(true: Sequence[int] | Integers, keys: Keys, publish: Publish, cells: Sequence[int] = ()) -> Law:
    """The law of everything published, or of some of the cells by their places."""
    answers = publish(np.asarray(true), keys.rows)
    if cells:
        answers = answers[:, list(cells)]
    low = answers.min(axis=0)
    shape = tuple(answers.max(axis=0) - low + 1)
    found, back = np.unique(np.ravel_multi_index(tuple((answers - low).T), shape), return_inverse=True)
    ways = np.zeros(len(found), dtype=np.int64)
    np.add.at(ways, back, keys.ways)
    rows = (np.stack(np.unravel_index(found, shape), axis=1) + low).tolist()
    return Law(dict(zip(map(tuple, rows), ways.tolist(), strict=True)), int(keys.ways.sum()))


# --- Privacy ----------------------------------------------------------------------------------


def hockey_stick(first: Law, second: Law, growth: Fraction) -> Fraction:
    """Σ (P − e^ε·Q)^+ for a rational e^ε."""
    above = growth.numerator * first.total
    level = growth.denominator * second.total
    gain = sum(
        max(0, ways * level - above * second.ways.get(answer, 0)) for answer, ways in first.ways.items()
    )
    return Fraction(gain, first.total * level)


def least_delta(first: Law, second: Law, growth: Fraction) -> Fraction:
    """δ of two neighbours, in the worse of both directions."""
    return max(hockey_stick(first, second, growth), hockey_stick(second, first, growth))


def loss_above(first: Law, second: Law, growth: Fraction) -> Fraction:
    """The larger of P(|L| > ε) and Q(|L| > ε), counted."""
    far, scale, level = [0, 0], growth.denominator, growth.numerator
    for answer in {*first.ways, *second.ways}:
        p, q = first.ways.get(answer, 0) * second.total, second.ways.get(answer, 0) * first.total
        if scale * p > level * q or scale * q > level * p:
            far[0], far[1] = far[0] + p, far[1] + q
    return Fraction(max(far), first.total * second.total)


def composed(weights: Sequence[int], growth: Fraction, *, rise: int, fall: int = 0) -> Fraction:
    """Σ (P − e^ε·Q)^+ of independent noises on counts of which some rise and some fall from P to Q.

    By the losses: pairs (p, q) of masses are multiplied out, cell after cell.
    """
    size = sum(weights)
    up = list(zip([*weights, 0], [0, *weights], strict=True))
    down = [(q, p) for p, q in up]
    pairs = {(1, 1): 1}
    for steps in [up] * rise + [down] * fall:
        more: dict[tuple[int, int], int] = {}
        for (p, q), times in pairs.items():
            for mass, other in steps:
                both = (p * mass, q * other)
                more[both] = more.get(both, 0) + times
        pairs = more
    scale, level = growth.denominator, growth.numerator
    gain = sum(times * max(0, scale * p - level * q) for (p, q), times in pairs.items())
    ways: int = size ** (rise + fall)
    return Fraction(gain, scale * ways)
