"""Section IV: record keys, cell keys and how uniform they are."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np

from compendium.ledger.checks import examples
from compendium.ledger.claims import Claim
from compendium.ledger.formulas import (
    Case,
    Cases,
    by_cases,
    cases,
    described,
    enclosed,
    evaluate,
    has_sides,
    holds_between,
    less,
)
from compendium.ledger.verdicts import INFINITE, Level, Truth
from tablebuilder_dp import cellkey, design, sampling
from tablebuilder_dp.support.intervals import enclosure

NEAR, MERSENNE = 2**32 - 5, 2**31 - 1
"""Two large primes that one might take: the largest below 2^32 and the largest below 2^31."""
PRIMES = {"bigN = 2^32 − 5": NEAR, "bigN = 2^31 − 1": MERSENNE}
SIZES = (2**8, 2**16, 2**32)


def record_range(claim: Claim) -> Cases:
    """The printed range of record keys holds the positive integers of at most 32 bits, and ours lie in it."""
    edge = (-1, 0, 1, 2**31, 2**32 - 1, 2**32, 2**33)
    tried = [
        (f"r = {r}", bool(evaluate(claim.judged, r=r)) is (r > 0 and r.bit_length() <= 32)) for r in edge
    ]
    ours = cellkey.record_keys(5000, seed=7)
    tried += [(f"r = {r}", bool(evaluate(claim.judged, r=int(r)))) for r in (ours.min(), ours.max())]
    return cases(tried)


def folded_size(claim: Claim) -> int:
    """How many cell keys the byte-by-byte folding can give."""
    return len(np.unique(cellkey.fold_bytes(np.arange(1, 2**16))))


@by_cases
def table_entries(claim: Claim) -> Iterator[Case]:
    """The entries of a lookup table at every key size, against the printed number."""
    for D, bits in product((1, 4, 11, 25), (8, 16, 24, 32)):
        made = design.proposition_3("0.5", support=D)
        table = sampling.lookup_table(made, keysize=2**bits)
        yield f"D = {D}, KEYSIZE = 2^{bits}", (len(table.cuts) == evaluate(claim.judged, D=D))


def larger_needed(claim: Claim) -> Level:
    """By how much δ^Q exceeds δ at the large key size, and from which limit on the small one would do too.

    A table that loses a value, or whose ratios exceed e^ε in a direction, keeps nothing at any limit.
    """

    def excess(bits: int) -> Any:
        lookup, edge = examples.table(bits), enclosed(examples.edge_mass(examples.example()))
        if not lookup.full_support:
            return INFINITE
        ratios = [Fraction(b, a) for a, b in pairwise(lookup.weights)]
        if not less(enclosed(max(*ratios, *(1 / r for r in ratios))), enclosed(examples.EPSILON).exp()):
            return INFINITE
        return enclosure(enclosed(Fraction(max(lookup.weights[0], lookup.weights[-1]), 2**bits)) / edge - 1)

    return Level(excess(claim.at["large"]), "%", until=excess(claim.at["small"]), whole=True)


def largest_size(claim: Claim) -> Truth:
    """How many keys the XOR of four sums below bigN can give.

    Four numbers below N reach exactly the numbers of N − 1's bit length; small N confirm it.
    """
    for small in range(3, 20):
        pairs = {a ^ b for a, b in product(range(small), repeat=2)}
        if {a ^ b for a, b in product(pairs, repeat=2)} != set(range(2 ** (small - 1).bit_length())):
            raise ArithmeticError(f"the XOR of four numbers below {small} is not a whole range of bits")
    return Truth({name: 2 ** (modulus - 1).bit_length() for name, modulus in PRIMES.items()})


def running_sum(claim: Claim) -> Truth:
    """The printed condition for a running sum, reduced after each record, in words of 32 and 64 bits."""
    tops = [(modulus - 1, r) for modulus in PRIMES.values() for r in (1, 2**31, 2**32 - 1)]
    return Truth(
        {
            f"in {bits}-bit words": cases(
                (
                    f"s = {s}, r = {r}",
                    holds_between(claim.judged, [Fraction(s + r), Fraction(2**bits)], s=s, r=r, WORD=2**bits),
                )
                for s, r in tops
            )
            for bits in (64, 32)
        },
        numbers={"records": f"{(2**64 - 1) // (2**32 - 1):,}"},
    )


def prime_modulus(claim: Claim) -> Truth:
    """The distance of the keys from uniform: for one large prime, and for the worse of two."""
    primes = {name: modulus for name, modulus in PRIMES.items() if _is_prime(modulus)}
    distances = {name: cellkey.distance_from_uniform(modulus=modulus) for name, modulus in primes.items()}
    return Truth(
        {
            "the largest prime of 32 bits": Level(Fraction(distances["bigN = 2^32 − 5"]), whole=True),
            "any large prime": Level(Fraction(max(distances.values())), whole=True),
        },
        numbers={
            "near": f"{float(distances['bigN = 2^32 − 5']):.1e}",
            "mersenne": f"{float(distances['bigN = 2^31 − 1']):.2g}",
            "composite": f"{float(cellkey.distance_from_uniform(modulus=2**32 - 6)):.1e}",
            "power": f"{float(cellkey.distance_from_uniform(modulus=2**32)):.2g}",
        },
    )


def _is_prime(number: int) -> bool:
    return number % 2 == 1 and all(number % factor for factor in range(3, int(number**0.5) + 2, 2))


def uniform(claim: Claim) -> Truth:
    """How far keys are from uniform: exactly so for no odd prime, as bigN^4 is no multiple of a power of 2.

    The bound on the distance is the largest over all key sizes, for every cell with a record in it.
    """
    bounds = [
        cellkey.distance_bound(keysize=size, modulus=NEAR, reduction=reduction)
        for size, reduction in product(SIZES, cellkey.REDUCTIONS)
    ]
    return Truth(
        {
            "exactly": cases(
                (
                    (f"KEYSIZE {size}, {name}", modulus**4 % size == 0)
                    for size in SIZES
                    for name, modulus in PRIMES.items()
                ),
                whole=True,
                word=claim.scale[0],
                instead=claim.scale[-1],
            ),
            "for all practical purposes": Level(Fraction(max(bounds)), whole=True),
        },
        numbers={"distance": f"{float(max(bounds)):.1e}"},
    )


def other_sizes(claim: Claim) -> str:
    """Whether every power of 2 up to 2^32 can be the key size: near-uniform keys, one noise value each."""
    noise = examples.example()
    works = all(
        cellkey.distance_bound(keysize=2**bits) <= cellkey.HARMLESS
        and sum(sampling.lookup_table(noise, keysize=2**bits).weights) == 2**bits
        for bits in range(1, 33)
    )
    return "possible" if works else "not possible"


def key_range(claim: Claim) -> Truth:
    """The printed range against keys of equations 36 and 37 as they stand, which reduce nothing.

    Two of the cells have the smallest and the largest key; the range must hold no other number.
    """
    ends = [[1, 1, 1, 1], [2**31, 2**31 - 1, 1, 1]]
    records = np.concatenate([cellkey.record_keys(98, seed=3), np.array(ends, dtype=np.uint32)])
    keys = cellkey.cell_keys(records, np.arange(100)).tolist()
    readings = {}
    for size in reversed(SIZES):
        tried = [(f"key {k}", evaluate(claim.judged, k=k, KEYSIZE=size) is True) for k in keys]
        tried += [(f"key {k}", evaluate(claim.judged, k=k, KEYSIZE=size) is False) for k in (-1, 2**32)]
        readings[f"KEYSIZE = 2^{size.bit_length() - 1}"] = cases(tried)
    return Truth(readings)


def superscript(claim: Claim) -> Truth:
    """The printed condition on how many keys a cell of one record can reach, for each sense of j.

    Four independent keys take every residue, so they reach all numbers of 32 bits. Powers of one key
    depend on its residue alone, so at most bigN keys arise. Four bytes XOR to one byte.
    """
    one_byte = int(np.bitwise_xor.reduce(cellkey.components([2**32 - 1 - 255], reading="bytes")[0]))
    reached = {
        "four independent keys a record": 2 ** (NEAR - 1).bit_length(),
        "powers of one key": NEAR,
        "bytes of one key": 2 ** one_byte.bit_length(),
    }
    bytes_of = {n: 2 ** (255 * n).bit_length() for n in (25,)}
    speaks = has_sides(claim.judged, [1, 2], reached=1, KEYSIZE=2)
    return Truth(
        {
            name: cases(
                [
                    (
                        "one record",
                        speaks and evaluate(claim.judged, reached=count, KEYSIZE=2**32) is True,
                    )
                ]
            )
            for name, count in reached.items()
        },
        numbers={"cell": f"{bytes_of[25]:,}", "records": f"{-(-(2**31) // 255):,}"},
    )


def components(claim: Claim) -> Truth:
    """The printed XOR of four components gives the cell key back, for each sense of the components."""
    records, cells = cellkey.record_keys(300, seed=5), np.arange(300) % 100
    keys = cellkey.cell_keys(records, cells)
    sums = [
        [sum(int(key) for key in records[cells == cell, j]) % cellkey.BIG_N for cell in range(100)]
        for j in range(4)
    ]
    senses = {
        "the four sums of equation 36": [np.array(column, dtype=np.uint64) for column in sums],
        "the four bytes of the cell key": [keys >> np.uint64(8 * j) & np.uint64(255) for j in range(4)],
    }
    readings = {}
    for name, parts in senses.items():
        combined = evaluate(claim.judged, **{f"CellKey{j}": part for j, part in enumerate(parts, 1)})
        readings[name] = cases(
            (f"cell {cell}", bool(same)) for cell, same in enumerate(np.asarray(combined) == keys)
        )
    return Truth(readings)


def consistent(claim: Claim) -> str:
    """Whether the same records, asked for in any order and beside any other cells, get the same noise."""
    records, table = cellkey.record_keys(60, seed=11), examples.table(32)
    cell = records[:20]
    asked = [cellkey.cell_keys(cell, np.zeros(20, dtype=int))[0]]
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(60)
        asked.append(cellkey.cell_keys(records[order], (order >= 20).astype(int))[0])
    noises = {int(sampling.sample(table, int(key))) for key in asked}
    return "the same" if len(set(map(int, asked))) == len(noises) == 1 else "different"


def repeated_requests(claim: Claim) -> Cases:
    """With fresh noise each time, the chance that the mean of m answers rounds to the true count tends to 1.

    Of an odd number of answers, as an even one can leave the mean half-way between two counts.
    """
    made = design.proposition_3("0.5", support=5)
    weights = np.array(sampling.lookup_table(made, keysize=2**16).weights, dtype=object)
    sums, chances = weights, []
    for requests in range(1, 244):
        if requests in (1, 3, 9, 27, 81, 243):
            middle = len(sums) // 2
            hits = (count for total, count in enumerate(sums, -middle) if 2 * abs(total) < requests)
            chances.append((requests, Fraction(int(sum(hits)), int(sums.sum()))))
        sums = np.convolve(sums, weights)
    steps = [(described(requests=m), later > earlier) for (_, earlier), (m, later) in pairwise(chances)]
    return cases([*steps, ("243 answers", chances[-1][1] > Fraction(99, 100))], word="reveal", instead="hide")
