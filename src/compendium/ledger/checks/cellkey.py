"""Section IV: record keys, cell keys and how uniform they are."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from compendium.ledger.checks import examples
from compendium.ledger.claims import Claim
from compendium.ledger.formulas import Cases, cases, described, evaluate
from compendium.ledger.verdicts import Truth
from tablebuilder_dp import cellkey, design, sampling

NEAR, MERSENNE = 2**32 - 5, 2**31 - 1
"""Two large primes that one might take: the largest below 2^32 and the largest below 2^31."""
PRIMES = {"bigN = 2^32 − 5": NEAR, "bigN = 2^31 − 1": MERSENNE}
SIZES = (2**8, 2**16, 2**32)


def record_range(claim: Claim) -> Cases:
    """The printed range of record keys holds the positive integers of at most 32 bits, and ours lie in it."""
    edge = (-1, 0, 1, 2**31, 2**32 - 1, 2**32, 2**33)
    tried = [
        (f"r = {r}", bool(evaluate(claim.printed, r=r)) is (r > 0 and r.bit_length() <= 32)) for r in edge
    ]
    ours = cellkey.record_keys(5000, seed=7)
    tried += [(f"r = {r}", bool(evaluate(claim.printed, r=int(r)))) for r in (ours.min(), ours.max())]
    return cases(tried)


def record_size(claim: Claim) -> int:
    """The size of a record key, as KEYSIZE is that of a cell key: the power of two that it stays below."""
    return int(np.iinfo(cellkey.record_keys(1, seed=1).dtype).max) + 1


def folded_size(claim: Claim) -> int:
    """How many cell keys the byte-by-byte folding can give."""
    return len(np.unique(cellkey.fold_bytes(np.arange(1, 2**16))))


def table_entries(claim: Claim) -> Cases:
    """The entries of a lookup table at every key size, against the printed number."""
    tried = []
    for D, bits in product((1, 4, 11, 25), (8, 16, 24, 32)):
        made = design.proposition_3("0.5", support=D)
        table = sampling.lookup_table(made, keysize=2**bits)
        tried.append((f"D = {D}, KEYSIZE = 2^{bits}", len(table.cuts) == evaluate(claim.printed, D=D)))
    return cases(tried)


def larger_needed(claim: Claim) -> Cases:
    """For Example 1's noise the printed condition holds at the large key size and fails at the small one."""
    tried = []
    for bits, expected in ((claim.at["small"], False), (claim.at["large"], True)):
        table = examples.table(bits)
        after, delta = sampling.after_sampling(table), examples.example().delta
        holds = evaluate(
            claim.printed,
            lost=len(table.lost),
            eps=examples.EPSILON,
            eps_Q=Fraction(min(after.epsilon_two_sided, 10**6)),
            delta=Fraction(delta),
            delta_Q=after.delta,
        )
        tried.append((f"KEYSIZE = 2^{bits}", bool(holds) is expected))
    return cases(tried)


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
                (f"s = {s}, r = {r}", evaluate(claim.printed, s=s, r=r, WORD=2**bits) is True)
                for s, r in tops
            )
            for bits in (64, 32)
        },
        numbers={"records": f"{(2**64 - 1) // (2**32 - 1):,}"},
    )


def prime_modulus(claim: Claim) -> Truth:
    """The printed bound on the distance from uniform: for one large prime, and for each of two."""
    primes = {name: modulus for name, modulus in PRIMES.items() if _is_prime(modulus)}
    distances = {name: cellkey.distance_from_uniform(modulus=modulus) for name, modulus in primes.items()}
    holds = {name: evaluate(claim.printed, distance=far) is True for name, far in distances.items()}
    return Truth(
        {
            "the largest prime of 32 bits": cases(list(holds.items())[:1]),
            "any large prime": cases(holds.items()),
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


def uniform(claim: Claim) -> Cases:
    """The printed bound on the distance from uniform, for every cell with a record in it."""
    return cases(
        (
            f"KEYSIZE = {size}, {reduction} bits",
            evaluate(
                claim.printed,
                distance=cellkey.distance_bound(keysize=size, modulus=NEAR, reduction=reduction),
            )
            is True,
        )
        for size, reduction in product(SIZES, cellkey.REDUCTIONS)
    )


def other_sizes(claim: Claim) -> str:
    """Whether every power of 2 up to 2^32 can be the key size: near-uniform keys, one noise value each."""
    noise = examples.example()
    works = all(
        cellkey.distance_bound(keysize=2**bits) <= cellkey.HARMLESS
        and sum(sampling.lookup_table(noise, keysize=2**bits).weights) == 2**bits
        for bits in range(1, 33)
    )
    return "yes" if works else "no"


def key_range(claim: Claim) -> Truth:
    """The printed range against keys of equations 36 and 37 as they stand, which reduce nothing.

    Two of the cells have the smallest and the largest key; the range must hold no other number.
    """
    ends = [[1, 1, 1, 1], [2**31, 2**31 - 1, 1, 1]]
    records = np.concatenate([cellkey.record_keys(98, seed=3), np.array(ends, dtype=np.uint32)])
    keys = cellkey.cell_keys(records, np.arange(100)).tolist()
    readings = {}
    for size in reversed(SIZES):
        tried = [(f"key {k}", evaluate(claim.printed, k=k, KEYSIZE=size) is True) for k in keys]
        tried += [(f"key {k}", evaluate(claim.printed, k=k, KEYSIZE=size) is False) for k in (-1, 2**32)]
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
    return Truth(
        {
            name: cases([("one record", evaluate(claim.printed, reached=count, KEYSIZE=2**32) is True)])
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
        combined = evaluate(claim.printed, **{f"CellKey{j}": part for j, part in enumerate(parts, 1)})
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
    return "yes" if len(set(map(int, asked))) == len(noises) == 1 else "no"


def repeated_requests(claim: Claim) -> Cases:
    """With fresh noise each time, the mean of m answers rounds to the true count ever more likely."""
    made = design.proposition_3("0.5", support=5)
    weights = sampling.lookup_table(made, keysize=2**16).weights
    sums, chances = np.array(weights, dtype=object), []
    for requests in (1, 2, 4, 8, 16, 32, 64):
        if requests > 1:
            sums = np.convolve(sums, sums)
        middle = len(sums) // 2
        hits = (count for total, count in enumerate(sums, -middle) if 2 * abs(total) < requests)
        chances.append((requests, Fraction(int(sum(hits)), int(sums.sum()))))
    return cases(
        (described(requests=m), later > earlier)
        for (_, earlier), (m, later) in pairwise(chances)
        if m > 2  # two answers bring ties, which count as misses
    )
