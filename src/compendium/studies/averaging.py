"""The averaging attack: one count, asked for again and again as the sum of different parts.

Whoever divides a group by sex, by age, by any other variable, and adds up what is published of the parts,
gets the size of the group with other noise each time, and the mean of many such sums is near the truth
(Asghar and Kaafar 2020, arXiv:1902.06414). That equal cells have equal answers is no help, as no two are
equal.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.fft import next_fast_len

from compendium.studies import kinds
from tablebuilder_dp import sampling
from tablebuilder_dp.noise import AnyNoise
from tablebuilder_dp.sampling import LookupTable
from tablebuilder_dp.support import parameters


def right(noise: AnyNoise, *, partitions: int, parts: int = 2) -> float:
    """How often the rounded mean of m sums of this many parts is the true count, if noises are independent.

    That is P(|ΣZ| < m/2) for m·parts noises, by their characteristic function, in float64.

    >>> from tablebuilder_dp.noise import Noise
    >>> [round(right(Noise(1, "0.5"), partitions=m), 4) for m in (1, 16, 256)]
    [0.3544, 0.9275, 1.0]
    """
    times = parameters.integer(partitions, "partitions", low=1, high=100_000)
    terms = times * parameters.integer(parts, "parts", low=1, high=1000)
    length = next_fast_len(2 * noise.support * terms + 1, real=True)
    masses = np.fft.irfft(np.fft.rfft(noise.pmf, length) ** terms, length)
    middle, reach = terms * noise.support, (times - 1) // 2
    return float(masses[max(0, middle - reach) : middle + reach + 1].sum())


def tried(
    table: LookupTable, kind: str, *, people: int, partitions: Sequence[int], trials: int, seed: int
) -> list[int]:
    """In how many trials the attack was right after some numbers of partitions in two.

    Keys are those of the library. A coin decides on which side of a partition each person is.
    """
    size = parameters.integer(people, "people", low=2, high=100_000)
    count = parameters.integer(trials, "trials", low=1, high=100_000)
    start = parameters.integer(seed, "seed", low=0, high=2**64 - 1)
    numbers = [parameters.integer(m, "partitions", low=1, high=100_000) for m in partitions]
    draws = np.random.default_rng(start)
    hits = np.zeros(len(numbers), dtype=np.int64)
    for trial in range(count):
        record_keys = kinds.record_keys(draws, size)
        yes = draws.integers(2, size=(max(numbers), size), dtype=np.uint64) @ record_keys
        parts = np.concatenate([yes, record_keys.sum(axis=0) - yes])
        keys = kinds.keys(kind, parts, seed=start + trial)
        noise = sampling.sample(table, keys).reshape(2, -1).sum(axis=0)
        hits += [2 * abs(int(noise[:m].sum())) < m for m in numbers]
    return hits.tolist()
