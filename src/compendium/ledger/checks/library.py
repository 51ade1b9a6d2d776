"""The library itself: what it computes, by its definition and nothing else.

The ledger judges the paper with the library, so an error there must be seen here. Exponentials come as
fractions from python-flint, so near that no digit that is compared feels it; all else is plain sums over all
outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, wraps
from itertools import pairwise, product
from typing import Any

import numpy as np

from compendium.ledger.claims import Claim, ends
from compendium.ledger.formulas import Cases, cases, described, on_grid
from tablebuilder_dp import cellkey, certified, design, privacy, sampling
from tablebuilder_dp.beyond import best_gamma
from tablebuilder_dp.noise import AnyNoise, Geometric, Noise, polynomial
from tablebuilder_dp.sampling import LookupTable
from tablebuilder_dp.support.intervals import Enclosure, ball, enclosure, exponential, precision

BITS = 640
"""For the fractions in place of exponentials and logarithms."""
FLOAT, ENCLOSED = Fraction(1, 10**11), Fraction(1, 10**25)
"""How near float64 and enclosures must come, as a part of the value."""


def noises() -> tuple[AnyNoise, ...]:
    """Noises of both families, made anew: they remember what they have computed."""
    return (
        *(Noise(D, gamma) for D, gamma in product((1, 2, 5, 11), ("0.004", "0.125", "0.7"))),
        Noise(5, 12),
        *(Geometric(D, rate) for D, rate in product((1, 2, 7), ("0.05", "0.9"))),
    )


def long_noises() -> tuple[Noise, ...]:
    """Noises whose sums end early, are added up in parts, or whose tails float64 does not hold."""
    return Noise(60, "0.5"), Noise(600, "0.01"), Noise(1100, "0.0004")


TABLES = tuple(
    LookupTable(sum(weights), tuple(np.cumsum(weights).tolist()))
    for weights in (
        (5, 9, 7),
        (2, 9, 4),
        (3, 1, 8, 2, 7),
        (9, 2, 8, 1, 3),
        (0, 4, 4),
        (4, 4, 0),
        (1, 5, 0, 5, 2),
        (0, 0, 3),
        (3, 0, 0),
        (9, 5, 2),
        (5, 0, 0),
    )
)
"""Tables without symmetry, so that the two directions differ; some with a value lost."""


def compared(check: Callable[[Claim], Cases]) -> Callable[[Claim], Cases]:
    """Make a check whose answer is a word: what the library gives is "the same" as its definition, or not."""

    @wraps(check)
    def answered(claim: Claim) -> Cases:
        return replace(check(claim), word="the same", instead="different")

    return answered


def exp(exponent: Fraction) -> Fraction:
    """e^x as a fraction."""
    with precision(BITS):
        return enclosure(exponential(exponent)).lower


def log(number: Fraction) -> Fraction:
    """Ln x as a fraction."""
    with precision(BITS):
        return enclosure(ball(number).log()).lower


def is_near(value: Any, truth: Fraction) -> bool:
    """Whether a float64, a fraction, or both ends of an enclosure are the truth but for their last digits."""
    exact = isinstance(value, Enclosure | Fraction)
    found, tolerance = (ends(value), ENCLOSED) if exact else ((Fraction(float(value)),), FLOAT)
    return all(abs(end - truth) <= tolerance * abs(truth) for end in found)


def are_near(values: Iterable[Any], truths: Iterable[Fraction]) -> bool:
    """The same of many."""
    return all(is_near(value, truth) for value, truth in zip(values, truths, strict=True))


@cache
def weights(noise: AnyNoise) -> tuple[Fraction, ...]:
    """e^(−γz²) or e^(−rate·|z|) for z = −D, …, D."""
    rate, gamma = (0, noise.gamma) if isinstance(noise, Noise) else (noise.rate, 0)
    half = [exp(-Fraction(rate * z + gamma * z * z)) for z in range(noise.support + 1)]
    return *half[:0:-1], *half


@cache
def masses(noise: AnyNoise) -> tuple[Fraction, ...]:
    """p(−D), …, p(D)."""
    total = sum(weights(noise))
    return tuple(weight / total for weight in weights(noise))


def variance(noise: AnyNoise) -> Fraction:
    """V."""
    squares = (z * z * weight for z, weight in enumerate(weights(noise), -noise.support))
    return sum(squares, Fraction(0)) / sum(weights(noise))


def two_ways(p: Sequence[Fraction], q: Sequence[Fraction], growth: Fraction) -> tuple[Fraction, Fraction]:
    """Σ max(0, p − e^ε·q) and Σ max(0, q − e^ε·p)."""
    both = list(zip(p, q, strict=True))
    return (
        sum((max(Fraction(0), a - growth * b) for a, b in both), Fraction(0)),
        sum((max(Fraction(0), b - growth * a) for a, b in both), Fraction(0)),
    )


def shifted(p: Sequence[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    """The outputs of a count and of the next larger one."""
    return [*p, Fraction(0)], [Fraction(0), *p]


@cache
def delta(noise: AnyNoise, epsilon: Fraction) -> Fraction:
    """δ(ε) of neighbouring counts, the larger of both directions."""
    return max(two_ways(*shifted(weights(noise)), exp(epsilon))) / sum(weights(noise))


def _about(noise: AnyNoise) -> str:
    rate = {"gamma": noise.gamma} if isinstance(noise, Noise) else {"rate": noise.rate}
    return described(D=noise.support, **rate)


# --- Section III-A -------------------------------------------------------------------------------


@compared
def noise_values(claim: Claim) -> Cases:
    """p, ln p, C, P(Z < 0), V and H of float64 and of enclosures against sums over [−D, D]."""

    def tried(noise: AnyNoise) -> Iterator[tuple[str, bool]]:
        p, z = masses(noise), range(-noise.support, noise.support + 1)
        centre = p[noise.support]
        entropy = -sum((mass * log(mass) for mass in p), Fraction(0))
        yield "p", are_near(noise.pmf, p) and is_near(certified.pmf(noise, 1), p[noise.support + 1])
        yield "ln p", are_near(noise.log_pmf, map(log, p))
        yield "C", is_near(noise.normaliser, centre) and is_near(certified.normaliser(noise), centre)
        yield "P(Z < 0)", is_near(noise.tail, sum(p[: noise.support], Fraction(0)))
        yield "H", is_near(noise.entropy, entropy) and is_near(certified.entropy(noise), entropy)
        losses = [log(later / earlier) for earlier, later in pairwise(p)]
        yield "loss", are_near(map(noise.loss, z[1:]), losses)

    def has_variance(noise: AnyNoise) -> bool:
        return all(is_near(found, variance(noise)) for found in (noise.variance, certified.variance(noise)))

    found = [(f"{_about(noise)}: {name}", holds) for noise in noises() for name, holds in tried(noise)]
    return cases(
        [*found, *((f"{_about(noise)}: V", has_variance(noise)) for noise in (*noises(), *long_noises()))]
    )


@compared
def inverse(claim: Claim) -> Cases:
    """The noise of a variance has that variance, and f is Σ (2z² − 2V)·x^(z²) − V, with its root at e^−γ."""

    def f(x: Fraction, D: int, V: Fraction) -> Fraction:
        return sum((2 * (z * z - V) * x ** (z * z) for z in range(1, D + 1)), Fraction(0)) - V

    def tried(D: int, share: Fraction) -> Iterator[bool]:
        V = share * D * (D + 1) / 3
        for family in (Noise, Geometric):
            yield is_near(float(V), variance(family.of_variance(D, V)))
        root = exp(-Fraction(certified.gamma(support=D, variance=V).lower))
        yield abs(f(root, D, V)) < ENCLOSED * f(Fraction(1), D, V)
        for x in map(Fraction, ("0", "0.25", "0.5", "0.75", "1", "1.125")):
            yield is_near(polynomial(x, support=D, variance=V), f(x, D, V))
            yield is_near(certified.polynomial(x, support=D, variance=V), f(x, D, V))

    grid = product((1, 2, 5, 11), (Fraction(1, 7), Fraction(3, 7), Fraction(4, 7), Fraction(19, 20)))
    return cases((described(D=D, share=share), all(tried(D, share))) for D, share in grid)


# --- Section III-B -------------------------------------------------------------------------------


def levels(noise: AnyNoise) -> list[Fraction]:
    """ε below, at and between all kinks, and on the plateau."""
    rate = noise.gamma if isinstance(noise, Noise) else noise.rate
    steps = 2 * noise.support if isinstance(noise, Noise) else 3
    return [rate * Fraction(part, 2) for part in range(1, min(2 * steps + 2, 40))] + [rate * steps * 2]


@compared
def both_directions(claim: Claim) -> Cases:
    """δ of Proposition 2 and of `hockey_stick` against both sums over all outputs, each in its direction."""

    def of_noise(noise: AnyNoise) -> Iterator[bool]:
        tried = levels(noise)
        truths = [delta(noise, epsilon) for epsilon in tried]
        yield are_near(privacy.delta(noise, tried), truths)
        yield is_near(privacy.delta(noise, tried[0]), truths[0])
        yield are_near((certified.delta(noise, epsilon) for epsilon in tried), truths)
        plateau, edge = privacy.plateau(noise), masses(noise)[0]
        yield is_near(plateau.height, edge) and is_near(delta(noise, plateau.onset), edge)
        yield delta(noise, plateau.onset * Fraction(999, 1000)) > edge * (1 + ENCLOSED)
        neighbours = list(enumerate(zip(*shifted(weights(noise)), strict=True), -noise.support))
        for epsilon in tried:
            bar = exp(epsilon) * (1 + ENCLOSED)
            yield [z for z, (p, q) in neighbours if p > bar * q] == list(privacy.e_star(noise, epsilon))

    def of_long(noise: Noise) -> bool:
        tried = [noise.gamma * part for part in (Fraction(1, 3), Fraction(7, 2), Fraction(9))]
        return are_near(privacy.delta(noise, tried), (delta(noise, epsilon) for epsilon in tried))

    def of_table(table: LookupTable, epsilon: Fraction) -> Iterator[bool]:
        p = [Fraction(weight, table.keysize) for weight in table.weights]
        truths = two_ways(*shifted(p), exp(epsilon))
        in_float = privacy.neighbours([float(mass) for mass in p])
        yield are_near(privacy.hockey_stick(*in_float, epsilon), truths)
        yield are_near(certified.hockey_stick(*shifted(p), epsilon), truths)
        yield are_near(sampling.delta(table, epsilon), truths)

    found = [(_about(noise), all(of_noise(noise))) for noise in noises()]
    found += [(_about(noise), of_long(noise)) for noise in long_noises()]

    def of_others(p: Sequence[Fraction], q: Sequence[Fraction], epsilon: Fraction) -> bool:
        truths = two_ways(p, q, exp(epsilon))
        rounded = privacy.hockey_stick([float(mass) for mass in p], [float(mass) for mass in q], epsilon)
        return are_near(rounded, truths) and are_near(certified.hockey_stick(p, q, epsilon), truths)

    third, fourth = Fraction(1, 3), Fraction(1, 4)
    pair = [third, third, third], [fourth, 3 * fourth, Fraction(0)]
    found += [(f"{p} and {q}", of_others(p, q, Fraction(1, 5))) for p, q in (pair, pair[::-1])]
    some = product(TABLES, map(Fraction, ("0", "0.3", "0.9", "4")))
    return cases(
        [
            *found,
            *((f"{table.weights}, ε = {epsilon}", all(of_table(table, epsilon))) for table, epsilon in some),
        ]
    )


@compared
def smallest_epsilon(claim: Claim) -> Cases:
    """At the ε of a δ the larger sum over all outputs is that δ; none where δ is too large or too small."""

    def of_noise(noise: AnyNoise) -> Iterator[bool]:
        plateau, most = masses(noise)[0], masses(noise)[noise.support]
        for share in map(Fraction, ("0.001", "0.1", "0.5", "0.9", "0.99")):
            target = plateau + share * (most - plateau)
            level = Fraction(privacy.epsilon(noise, target))
            yield abs(delta(noise, level) - target) <= FLOAT * (1 + level) * target * 10
            proved = certified.epsilon(noise, target)
            yield delta(noise, proved.lower) >= target >= delta(noise, proved.upper)
            yield is_near(proved, proved.lower)
        yield list(privacy.epsilon(noise, [plateau * Fraction(1, 2), (1 + most) / 2])) == [math.inf, 0]

    return cases((_about(noise), all(of_noise(noise))) for noise in noises() if noise.support > 1)


@compared
def losses(claim: Claim) -> Cases:
    """The finite losses ln p(z)/p(z−1) lie on the library's lattice, with its masses."""

    def holds(noise: AnyNoise) -> bool:
        lattice, found = privacy.loss_lattice(noise), privacy.loss_masses(noise)
        places = [Fraction(0)] * len(found)
        for earlier, later in pairwise(masses(noise)):
            steps = (lattice.top - log(later / earlier) / lattice.unit) / 2
            if not is_near(1 + steps, Fraction(1 + round(steps))):
                return False
            places[round(steps)] += later
        return are_near(found, places)

    return cases((_about(noise), holds(noise)) for noise in noises())


@compared
def composed(claim: Claim) -> Cases:
    """δ of k cells and the probability of a loss beyond ±ε against sums over all k-tuples of outputs."""

    def holds(noise: AnyNoise, cells: int, epsilon: Fraction) -> bool:
        growth, hair = exp(epsilon), 1 + ENCLOSED
        pairs, whole = list(zip(*shifted(weights(noise)), strict=True))[:-1], sum(weights(noise)) ** cells
        outputs = [tuple(map(math.prod, zip(*some, strict=True))) for some in product(pairs, repeat=cells)]
        excess = sum((max(Fraction(0), p - growth * q) for p, q in outputs), Fraction(0))
        beyond = sum((p for p, q in outputs if p > growth * q * hair or q > growth * p * hair), Fraction(0))
        with precision(256):
            found = enclosure(certified.loss_beyond_ball(noise, epsilon, cells))
        return is_near(certified.delta(noise, epsilon, cells=cells), excess / whole) and is_near(
            found, beyond / whole
        )

    some: list[tuple[AnyNoise, int]] = [(Noise(1, "0.3"), 3), (Noise(2, "0.2"), 2), (Noise(16, 1), 2)]
    some += [(Geometric(2, "0.4"), 2), (Geometric(3, "0.2"), 3)]
    grid = product(some, map(Fraction, ("0", "0.35", "0.8", "1.7", "9")))
    return cases(
        (f"{_about(noise)}, k = {cells}, ε = {epsilon}", holds(noise, cells, epsilon))
        for (noise, cells), epsilon in grid
    )


@compared
def enclosed_rates(claim: Claim) -> Cases:
    """What is enclosed for all γ between two holds for both and for some between, and is hardly wider."""

    def wide(D: int, low: Fraction, high: Fraction) -> Iterator[bool]:
        between = [Noise(D, low + share * (high - low)) for share in (0, Fraction(1, 3), Fraction(5, 7), 1)]
        noise = certified.Enclosed(D, Enclosure(low, high))
        tried = [high * Fraction(part, 2) for part in range(1, 4 * D)]
        with precision(128):
            [total] = map(enclosure, certified.moments(noise, 0))
            deltas = [enclosure(certified.delta_ball(noise, epsilon)) for epsilon in tried]
        yield all(sum(weights(one)) in total for one in between)
        edges = zip(ends(total), (between[-1], between[0]), strict=True)
        yield all(abs(end - sum(weights(one))) < Fraction(1, 10**8) for end, one in edges)
        for epsilon, found in zip(tried, deltas, strict=True):
            yield all(delta(one, epsilon) in found for one in between)

    def narrow(D: int, V: Fraction) -> Iterator[bool]:
        gamma = certified.gamma(support=D, variance=V, digits=60)
        noise, exact = certified.Enclosed(D, gamma), Noise(D, gamma.lower)
        p = masses(exact)
        yield is_near(certified.entropy(noise), -sum((mass * log(mass) for mass in p), Fraction(0)))
        yield is_near(certified.pmf(noise, 1), p[D + 1]) and is_near(certified.variance(noise), V)
        for target in ((p[0] + p[D]) / 2, p[0] + (p[D] - p[0]) / 50):
            proved = certified.epsilon(noise, target, digits=40)
            yield is_near(delta(exact, proved.lower), target)

    ranges = ((2, "0.3", "0.5"), (5, "0.1", "0.11"), (11, "0.02", "0.06"))
    found = [
        (f"D = {D}, γ from {low}", all(wide(D, Fraction(low), Fraction(high)))) for D, low, high in ranges
    ]
    some = ((2, Fraction(1)), (11, Fraction(4)), (11, Fraction(40)))
    return cases([*found, *((described(D=D, V=V), all(narrow(D, V))) for D, V in some)])


# --- Section III-C -------------------------------------------------------------------------------


@compared
def least_delta(claim: Claim) -> Cases:
    """The best γ, its δ and the best of a grid against brute force at every kink, and a hair beside one."""

    def tried(D: int, epsilon: Fraction) -> Iterator[bool]:
        gammas = [epsilon / (2 * m - 1) for m in range(1, D + 1)]
        deltas = [delta(Noise(D, gamma), epsilon) for gamma in gammas]
        chosen, least = best_gamma.best(epsilon, support=D), min(deltas)
        yield chosen.gamma == gammas[deltas.index(least)] and is_near(chosen.delta, least)
        yield are_near(best_gamma.kinks(epsilon, support=D), deltas)
        yield all(delta(Noise(D, chosen.gamma * (1 + side)), epsilon) > least for side in (-FLOAT, FLOAT))
        grid = tuple(epsilon * Fraction(part, 20) for part in range(1, 30))
        all_deltas = [delta(Noise(D, gamma), epsilon) for gamma in grid]
        found = design.best_delta_on_grid(epsilon, support=D, gammas=grid)
        yield is_near(found.delta, min(all_deltas)) and is_near(
            found.gamma, grid[all_deltas.index(min(all_deltas))]
        )
        yield tuple(Fraction(part, 10_000) for part in range(1, 3001)) == design.PAPER_GRID

    return cases(
        (described(D=D, eps=epsilon), all(tried(D, epsilon)))
        for D, epsilon in product((1, 2, 4, 9), map(Fraction, ("0.1", "0.7", "2.5")))
    )


@compared
def smallest_support(claim: Claim) -> Cases:
    """The support of the design guide is the first whose p(−D) is at most δ, support by support."""

    def edge(D: int, epsilon: Fraction, slack: Fraction) -> Fraction:
        low, high = epsilon / (2 * D + 1), epsilon / (2 * D - 1)
        return masses(Noise(D, high - slack * (high - low)))[0]

    def holds(epsilon: Fraction, target: Fraction, slack: Fraction) -> bool:
        found = design.guide(epsilon, target, slack=slack)
        first = next(D for D in range(1, 100) if edge(D, epsilon, slack) <= target)
        return (found.support, found.epsilon, found.slack) == (first, epsilon, slack)

    targets = ("0.3", "0.25", "0.2", "0.1", "0.03", "0.001", "0.0001")
    grid = product(*(map(Fraction, some) for some in (("0.3", "1", "2.5"), targets, ("0", "0.1", "1"))))
    return on_grid("eps delta slack", grid, holds)


@compared
def ranges(claim: Claim) -> Cases:
    """The ends of the ranges of γ, V, C and δ, and the slack and ι of a design between them."""

    def tried(D: int, epsilon: Fraction) -> Iterator[bool]:
        low, high = epsilon / (2 * D + 1), epsilon / (2 * D - 1)
        found, p = design.ranges(epsilon, support=D), [masses(Noise(D, gamma)) for gamma in (low, high)]
        yield found.gamma == (low, high)
        yield are_near(found.variance, (variance(Noise(D, gamma)) for gamma in (high, low)))
        yield are_near(found.normaliser, (one[D] for one in p))
        yield are_near(found.delta, (one[0] for one in reversed(p)))
        for slack in map(Fraction, ("0", "0.1", "0.7", "1")):
            made = design.proposition_3(epsilon, support=D, slack=slack)
            yield made.gamma == high - slack * (high - low)
            yield (made.iota, made.slack) == (made.gamma - high, slack)

    grid = product((1, 2, 10, 25), map(Fraction, ("0.1", "0.5", "2.5")))
    return cases((described(D=D, eps=epsilon), all(tried(D, epsilon))) for D, epsilon in grid)


# --- Section IV ----------------------------------------------------------------------------------


@compared
def keys(claim: Claim) -> Cases:
    """The three readings of a record's keys, and the distance of some keys from uniform, in whole numbers."""
    chosen, modulus = [1, 258, 65537, 2**32 - 1], 2**32 - 5
    powers = [[key**j % modulus for j in (1, 2, 3, 4)] for key in chosen]
    parts = [list(key.to_bytes(4, "little")) for key in chosen]
    some, size = [0, 0, 1, 5, 5, 5, 7, 3], 8
    apart = sum(abs(Fraction(some.count(key), len(some)) - Fraction(1, size)) for key in range(size)) / 2
    random = cellkey.record_keys(1000)
    folded = [key[0] ^ key[1] ^ key[2] ^ key[3] for key in parts]
    records, cells = cellkey.record_keys(40, seed=1), [n * n % 7 for n in range(40)]
    sums = [
        [sum(int(r[j]) for r, c in zip(records, cells, strict=True) if c == cell) for j in range(4)]
        for cell in range(5)
    ]
    xors = [a % modulus ^ b % modulus ^ c % modulus ^ d % modulus for a, b, c, d in sums]
    same = [
        cellkey.cell_keys(records, cells, **some).tolist()
        for some in ({}, {"keysize": 256}, {"keysize": 256, "reduction": "high"})
    ]
    return cases(
        [
            ("cell keys", same == [xors, [key % 256 for key in xors], [key >> 24 for key in xors]]),
            ("folded", cellkey.fold_bytes(chosen).tolist() == folded),
            ("bigN", modulus == cellkey.BIG_N),
            ("from sums", cellkey.from_sums(np.array(sums, dtype=np.uint64)).tolist() == xors),
            ("powers", cellkey.components(chosen, reading="powers").tolist() == powers),
            ("bytes", cellkey.components(chosen, reading="bytes").tolist() == parts),
            ("distance", Fraction(cellkey.measured_distance(some, keysize=size)) == apart),
            (
                "record keys",
                random.shape == (1000, 4) and bool(random.all()) and len(np.unique(random)) > 3990,
            ),
        ]
    )


CUT_OFF = ((2**32 - 2**26 - 1, 2), (2**32 - 2**26 - 1, 4), (15 * 2**28 - 2**20, 4))
"""Moduli whose last keys share their leading bits with fewer others, and how many bits."""


@compared
def key_distances(claim: Claim) -> Cases:
    """The distance of the XOR of four uniform sums from uniform, and its bound, by counting all of them."""

    def apart(counts: Sequence[int]) -> Fraction:
        return (
            sum((abs(Fraction(n, sum(counts)) - Fraction(1, len(counts))) for n in counts), Fraction(0)) / 2
        )

    def reduced(N: int, keysize: int) -> list[int]:
        return [len(range(key, N, keysize)) for key in range(keysize)]

    def four(once: Sequence[int]) -> list[int]:
        """How often each XOR of four keys comes up."""
        twice, both = ([0] * len(once) for _ in range(2))
        for counts, result in ((once, twice), (twice, both)):
            for a, b in product(range(len(once)), repeat=2):
                result[a ^ b] += counts[a] * counts[b]
        return both

    def first(modulus: int) -> Fraction:
        """The distance of a key in [1, 2^32) modulo bigN from uniform; equal counts are taken together."""
        edges = [0, 1, 2**32 % modulus, modulus]
        found = Fraction(0)
        for low, high in pairwise(sorted(edges)):
            count = len(range(low or modulus, 2**32, modulus))
            found += (high - low) * abs(Fraction(count, 2**32 - 1) - Fraction(1, modulus)) / 2
        return found

    def tried(N: int, bits: int) -> Iterator[bool]:
        low, high = N, N * 2 ** (32 - bits)  # the leading bits of one are what the other is
        for modulus, reduction in ((low, "low"), (high, "high")):
            if modulus > 2**32:
                continue
            options: Any = {"modulus": modulus, "keysize": 2**bits, "reduction": reduction}
            yield cellkey.distance_from_uniform(**options) == apart(four(reduced(N, 2**bits)))
            bound = 8 * (first(modulus) + apart(reduced(N, 2**bits))) ** 4
            yield cellkey.distance_bound(**options) == min(bound, Fraction(1))

    def in_parts(modulus: int, bits: int) -> bool:
        """Where the leading bits of the last keys are cut off within one of their values."""
        step = 2 ** (32 - bits)
        counts = [max(0, min(modulus, start + step) - start) for start in range(0, 2**32, step)]
        bound = 8 * (first(modulus) + apart(counts)) ** 4
        return bound == cellkey.distance_bound(modulus=modulus, keysize=2**bits, reduction="high")

    whole = cellkey.distance_bound(keysize=2**32, modulus=2**32 - 5) == cellkey.distance_bound()
    leading = ((f"{bits} leading bits of {size}", in_parts(size, bits)) for size, bits in CUT_OFF)
    grid = (
        (3, 2),
        (3, 8),
        (5, 2),
        (13, 4),
        (11, 4),
        (15, 4),
        (100, 3),
        (1001, 5),
        (2**31 - 1, 4),
        (3 * 2**30 + 1, 4),
    )
    found = ((f"{N} modulo 2^{bits}", all(tried(N, bits))) for N, bits in grid)
    return cases([("all bits", whole), *leading, *found])


# --- Section V -----------------------------------------------------------------------------------


@compared
def of_any_table(claim: Claim) -> Cases:
    """Bias, variance about the mean, ε^Q one way and both ways, and δ^Q, from the weights alone."""

    def steepest(pairs: Iterable[tuple[int, int]]) -> Fraction | float:
        """The largest quotient, with 0/0 = 0."""
        return max(
            (Fraction(a, b) if b else math.inf if a else Fraction(0) for a, b in pairs), default=Fraction(0)
        )

    def is_log(value: float, quotient: Fraction | float) -> bool:
        if quotient == math.inf:
            return value == math.inf
        return is_near(value, log(max(Fraction(quotient), Fraction(1))))

    def tried(table: LookupTable) -> Iterator[bool]:
        p = {z: Fraction(weight, table.keysize) for z, weight in enumerate(table.weights, -table.support)}
        mean, after = sum(z * mass for z, mass in p.items()), sampling.after_sampling(table)
        up, down = (
            steepest(pairs) for pairs in ([*pairwise(table.weights[::-1])], [*pairwise(table.weights)])
        )
        yield after.bias == mean
        yield after.variance == sum((z - mean) ** 2 * mass for z, mass in p.items())
        yield is_log(after.epsilon_one_sided, up)
        yield is_log(after.epsilon_two_sided, max(up, down))
        yield after.delta == max(p[-table.support], p[table.support])
        yield table.lost == tuple(z for z, mass in p.items() if not mass)

    return cases((str(table.weights), all(tried(table))) for table in TABLES)


@compared
def growth_of_any_table(claim: Claim) -> Cases:
    """At the e^ε of a δ the larger sum over all outputs is that δ, or e^ε is 1; or none is enough."""

    def holds(table: LookupTable, target: Fraction) -> bool:
        p = [Fraction(weight, table.keysize) for weight in table.weights]
        given = None if target == max(p[0], p[-1]) else target  # which is what no δ stands for
        found = sampling.growth(table, given)
        if isinstance(found, float):
            return found == math.inf and max(two_ways(*shifted(p), Fraction(10**9))) > target
        if found < 1:
            return False
        reached = max(two_ways(*shifted(p), found))
        level = sampling.epsilon(table, given)
        return (reached == target or (found == 1 and reached < target)) and (
            level == 0 if found == 1 else math.nextafter(level, 0) < log(found) <= level
        )

    ends = {table: Fraction(max(table.weights[0], table.weights[-1]), table.keysize) for table in TABLES}
    grid = [*product(TABLES, (Fraction(k, 24) for k in range(1, 24))), *ends.items()]
    return cases((f"{table.weights}, δ = {target}", holds(table, target)) for table, target in grid)


@compared
def looked_up(claim: Claim) -> Cases:
    """The noise of keys beside every cut, and of many keys at once, by going through the cuts."""

    def holds(noise: AnyNoise, keysize: int) -> bool:
        table = sampling.lookup_table(noise, keysize=keysize)
        near = (cut + step for cut in table.cuts for step in (-2, -1, 0, 1))
        keys = [0, keysize - 1, *(key for key in near if 0 <= key < keysize)]
        wanted = [next(z for z, cut in enumerate(table.cuts, -noise.support) if key < cut) for key in keys]
        many = 70_000 // len(keys) + 1
        found = sampling.sample(table, keys * many).tolist()
        return found == wanted * many and [sampling.sample(table, key) for key in keys] == wanted

    chosen: tuple[AnyNoise, ...] = (Noise(2, "0.3"), Noise(11, "0.02"), Noise(127, "0.0003"))
    grid = product(chosen, (100, 2**8, 2**16, 2**16 + 1, 10**6, 2**32))
    return cases((f"{_about(noise)}, KEYSIZE {keysize}", holds(noise, keysize)) for noise, keysize in grid)


@compared
def lost_support(claim: Claim) -> Cases:
    """Up to the limit of ε KEYSIZE·p(D) is at least 1, and from its upper end on it is less."""

    def holds(D: int, keysize: int, slack: Fraction) -> bool:
        limit = sampling.full_support_limit(support=D, keysize=keysize, slack=slack)

        def edge(epsilon: Fraction) -> Fraction:
            low, high = epsilon / (2 * D + 1), epsilon / (2 * D - 1)
            return masses(Noise(D, high - slack * (high - low)))[0]

        return edge(limit.lower) * keysize >= 1 > edge(limit.upper) * keysize and is_near(limit, limit.lower)

    grid = product((1, 3, 10), (2**6, 1000, 2**16), (Fraction(0), Fraction(1, 10)))
    return on_grid("D KEYSIZE slack", grid, holds)


@compared
def nearest(claim: Claim) -> Cases:
    """The nearest numbers of keys, the rest at 0, and the distance of tables from their noise."""

    def tried(noise: AnyNoise, keysize: int) -> Iterator[bool]:
        p = masses(noise)
        half = [math.floor(keysize * mass + Fraction(1, 2)) for mass in p[noise.support + 1 :]]
        table = sampling.lookup_table(noise, keysize=keysize, rule=sampling.nearest)
        yield table.weights == (*half[::-1], keysize - 2 * sum(half), *half)
        for one in (table, sampling.lookup_table(noise, keysize=keysize)):
            both = zip(one.weights, p, strict=True)
            apart = sum((abs(Fraction(weight, keysize) - mass) for weight, mass in both), Fraction(0))
            yield is_near(sampling.distance(noise, one), apart / 2)

    grid = [pair for pair in product(noises(), (1000, 2**16, 2**32)) if pair[0].support > 1]
    return cases(
        (f"{_about(noise)}, KEYSIZE {keysize}", all(tried(noise, keysize))) for noise, keysize in grid
    )
