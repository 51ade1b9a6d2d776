"""How a carry betrays keys that are sums: the key of a total follows, a little, from those of its parts.

Of one sum of record keys, bit i of the total is the XOR of bit i of both parts and of the carry into bit i,
and three times out of four the carry is bit i − 1 of the first part. So the XOR of bit i of all three and bit
i − 1 of the first is 0 three times out of four. A key is the XOR of m independent sums, each of which halves
the surplus: 1/2 + 1/2^(m+1), where independent keys would have 1/2. (Part 3 of Theorem 62.)
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compendium.studies import kinds
from tablebuilder_dp.microdata.cell_keys import Keys
from tablebuilder_dp.support import parameters

BITS = 32


def even(*, bits: int, sums: int) -> Fraction:
    """How often the XOR of the four bits is 0, for the highest bit: all sums of a small world, counted.

    >>> [even(bits=3, sums=m) for m in (1, 2, 4)]
    [Fraction(3, 4), Fraction(5, 8), Fraction(17, 32)]
    """
    width = parameters.integer(bits, "bits", low=2, high=8)
    terms = parameters.integer(sums, "sums", low=1, high=64)
    size = np.uint64(1 << width)
    first, second = np.divmod(np.arange(size * size, dtype=np.uint64), size)
    odd = parities(first, second, (first + second) % size, bits=width)[-1]
    share, found = Fraction(int((odd == 0).sum()), len(odd)), Fraction(1)
    for _ in range(terms):
        found = found * share + (1 - found) * (1 - share)
    return found


def parities(first: Keys, second: Keys, total: Keys, *, bits: int = BITS) -> NDArray[np.int64]:
    """The XOR of bit i of the three keys and of bit i − 1 of the first, for i = 1, …: one row a bit.

    >>> parities(*(np.array([key], dtype=np.uint64) for key in (1, 3, 0)), bits=2)
    array([[0]])
    """
    mixed = first ^ second ^ total ^ first << np.uint64(1)
    places = np.arange(1, bits, dtype=np.uint64).reshape(-1, *(1,) * np.ndim(mixed))
    return (mixed >> places & np.uint64(1)).astype(np.int64)


class Seen(NamedTuple):
    """Lines of two parts and their total, and in how many the XOR of the four bits is 0, bit by bit."""

    lines: int
    even: NDArray[np.int64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of lines for each bit."""
        return self.even / self.lines

    @property
    def surprise(self) -> float:
        """How many standard deviations the share of the highest bit is above one half."""
        return float((2 * self.even[-1] - self.lines) / self.lines**0.5)


def seen(kind: str, *, lines: int, seed: int) -> Seen:
    """The same with the library's keys of one kind: each line counts one woman, one man, and both.

    >>> seen("cells", lines=100, seed=1).lines
    100
    """
    count = parameters.integer(lines, "lines", low=1, high=10**6)
    women, men = kinds.record_keys(np.random.default_rng(seed), 2, count)
    found = kinds.keys(kind, np.concatenate([women, men, women + men]), seed=seed)
    return Seen(count, (parities(*found.reshape(3, -1)) == 0).sum(axis=1))
