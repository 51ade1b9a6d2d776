"""Equal answers for equal sets of people, which change as seldom as any can when one person joins.

If the answer for a cell depends on its set of people alone, two cells one person apart have δ ≥ p(0) at every
ε. The scheme here attains that. Tiles of consecutive integers cover all counts, each with a mark
in it, and every count of a tile is published as the mark. The mark lies k above the first integer of its tile
and j below the last, with independent k and j, P(k ≥ z) = p(z)/p(0) and P(j ≥ z) = p(−z)/p(0) for z ≥ 0.
Seen from any count n, the mark has the law of n + Z, and a tile ends at n with probability p(0) (Theorem 63).

A set has the tiles that follow from the least keyed hash of its people, so that few people change them when
they join (Theorem 64). The scheme is here to be studied, and no promise rests on it: whoever may choose cells
after seeing answers learns where a tile ends and puts somebody there (Theorem 65).
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count as numbers
from itertools import pairwise
from typing import NamedTuple

from tablebuilder_dp import sampling
from tablebuilder_dp.sampling import LookupTable
from tablebuilder_dp.support import parameters

Draw = Callable[[int], int]
"""Gives an integer of [0, size), each as likely as the others, whenever it is asked."""

MOST = 10_000_000
"""The largest count that is answered: the tiles up to it are made one after the other."""


class Tile(NamedTuple):
    """The last count of a tile and the mark that all of its counts are published as."""

    last: int
    mark: int


def _halves(table: LookupTable) -> tuple[list[int], list[int]]:
    """The weights of 0, 1, …, D and of 0, −1, …, −D."""
    if not isinstance(table, LookupTable):
        raise parameters.wrong_type("table", "a LookupTable", table)
    halves = list(table.weights[table.support :]), list(table.weights[table.support :: -1])
    if any(outer > inner for half in halves for inner, outer in pairwise(half)):
        allowed = "one whose weights do not fall up to 0 and do not rise from 0 on"
        raise parameters.wrong_value("table", allowed, table.weights)
    return halves


def _reach(weights: list[int], level: int) -> int:
    """The largest z with w(z) > level, for weights that never rise: at least z for w(z) levels of w(0)."""
    return len(weights) - 1 - bisect_right(weights[::-1], level)


def tiles(table: LookupTable, draw: Draw) -> Iterator[Tile]:
    """The tiles of all counts from 0 on, in order.

    The first is the tile of the count 0, whose mark has the law of the noise; the others follow one after the
    other. This is the stationary tiling exactly, from 0 on: no start is forgotten or approximated
    (Theorem 63). Raises ValueError for weights that fall before 0 or rise after it.

    >>> from itertools import islice
    >>> list(islice(tiles(LookupTable(4, (1, 3, 4)), lambda size: size - 1), 3))
    [Tile(last=1, mark=1), Tile(last=2, mark=2), Tile(last=3, mark=3)]
    """
    above, below = _halves(table)
    mark = sampling.sample(table, draw(table.keysize))
    last = mark + _reach(below, draw(below[max(0, -mark)]))  # at least 0
    yield Tile(last, mark)
    while True:
        mark = last + 1 + _reach(above, draw(above[0]))
        last = mark + _reach(below, draw(below[0]))
        yield Tile(last, mark)


def answers(table: LookupTable, most: int, draw: Draw) -> list[int]:
    """What the counts 0, 1, …, ``most`` are published as: about p(0)·most tiles are made.

    >>> answers(LookupTable(4, (1, 3, 4)), 3, keyed(b"a secret, and the least hash"))
    [-1, 1, 1, 3]
    """
    end = parameters.integer(most, "most", low=0, high=MOST)
    made, found = tiles(table, draw), list[int]()
    while len(found) <= end:
        tile = next(made)
        found += [tile.mark] * (tile.last + 1 - len(found))
    return found[: end + 1]


def keyed(key: bytes) -> Draw:
    """Draws that follow from a key: the first, the second and so on are always the same.

    Each comes from 512 bits of a keyed hash of its number: for uniform bits, no integer of [0, size) is more
    than 2^−512 likelier than another.

    >>> draw = keyed(b"key")
    >>> draw(10), draw(10), keyed(b"key")(10)
    (9, 8, 9)
    """
    places = numbers()

    def draw(size: int) -> int:
        digest = hashlib.blake2b(next(places).to_bytes(8), key=hashlib.sha512(key).digest()).digest()
        return int.from_bytes(digest) * size >> 512

    return draw


def unequal(table: LookupTable, others: int) -> Fraction:
    """How often a cell of n others and the cell with one person more have unequal answers, exactly.

    With probability n/(n + 1) the least hash is not the person's, both counts have the same tiles, and
    answers differ with probability p(0); otherwise they are independent. Proof: Theorem 64.

    >>> unequal(LookupTable(4, (1, 3, 4)), 3)
    Fraction(9, 16)
    """
    number = parameters.integer(others, "others", low=0, high=MOST)
    (center, *_), _ = _halves(table)
    agree = Fraction(sum(a * b for a, b in pairwise(table.weights)), table.keysize**2)
    return (number * Fraction(center, table.keysize) + 1 - agree) / (number + 1)


class Undoing(NamedTuple):
    """What an attacker who chooses cells after seeing answers needs, and how often that is surely right."""

    answers: int
    right: Fraction


def undoing(table: LookupTable, known: int) -> Undoing:
    """The attack that finds the end of a tile by bisection and puts the target there.

    It needs 2D + 1 more people than the ``known`` b. It never says that somebody is there who is not, and it
    finds somebody who is there with a probability of at least b/(b + 2D + 2). Proof: Theorem 65.

    >>> undoing(LookupTable(4, (1, 3, 4)), 96)
    Undoing(answers=5, right=Fraction(49, 50))
    """
    number = parameters.integer(known, "known", low=1, high=MOST)
    longest = sum(map(len, _halves(table))) - 1
    found = Fraction(number, number + longest + 1)
    return Undoing(3 + (longest - 1).bit_length(), (1 + found) / 2)
