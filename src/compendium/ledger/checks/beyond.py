"""Past the paper: our answers to what it leaves open, checked on routes of their own.

Where it can be done the answer is compared with brute force in exact worlds, in which e^ε is a rational
number called ``growth``; the library's own proofs are not used there.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, reduce
from itertools import pairwise, product
from operator import sub, xor
from typing import Any

from compendium.ledger.claims import Claim
from compendium.ledger.formulas import Cases, enclosed, evaluate, on_grid
from tablebuilder_dp import certified, design, sampling
from tablebuilder_dp.beyond import symmetric
from tablebuilder_dp.counts import certified as certified_counts
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support.intervals import Enclosure, enclosure

EXAMPLE_1 = (Fraction(1, 2), Fraction(1, 10**4))
"""The (ε, δ) of Example 1."""


@cache
def _delta(epsilon: Fraction, support: int, gamma: Fraction) -> Enclosure:
    return certified.delta(Noise(support, gamma), epsilon, digits=32)


def _kinks(epsilon: Fraction, support: int) -> list[Enclosure]:
    """δ at γ = ε/(2m − 1) for m = 1, …, D."""
    return [_delta(epsilon, support, epsilon / (2 * m - 1)) for m in range(1, support + 1)]


def _least(deltas: Sequence[Enclosure]) -> Enclosure:
    return Enclosure(min(delta.lower for delta in deltas), min(delta.upper for delta in deltas))


# --- The best γ -------------------------------------------------------------------------------


def best_gamma(claim: Claim) -> Cases:
    """No γ of a fine grid has a smaller δ than the best of the printed ones."""
    shares = [Fraction(10 * k, 373) for k in range(1, 112, 2)]  # of ε; none is a kink, as 373 is prime

    def holds(D: int, eps: Fraction) -> bool:
        printed = [evaluate(claim.judged, eps=eps, m=m) for m in range(1, D + 1)]
        best = _least([_delta(eps, D, gamma) for gamma in printed])
        return all(best.upper < _delta(eps, D, eps * share).lower for share in shares)

    return on_grid("D eps", product((1, 2, 4, 9), map(Fraction, ("0.1", "0.7", "2.5"))), holds)


@cache
def _free_gamma() -> tuple[int, int, Enclosure]:
    """Example 1 with γ free: the smallest support, its m and its δ."""
    level, target = EXAMPLE_1
    for support in range(1, 100):
        deltas = _kinks(level, support)
        if any(delta.upper <= target for delta in deltas):
            m = min(range(support), key=lambda place: deltas[place].lower) + 1
            return support, m, deltas[m - 1]
        if not all(delta.lower > target for delta in deltas):
            break
    raise ArithmeticError("a delta is too near the target to tell")


def example_1_free(claim: Claim) -> Enclosure | int:
    """What Example 1 becomes when γ is free: support, δ or variance."""
    support, m, delta = _free_gamma()
    if claim.at["which"] == "variance":
        return certified.variance(Noise(support, EXAMPLE_1[0] / (2 * m - 1)))
    return support if claim.at["which"] == "support" else delta


def _edge(support: int, share: Fraction) -> Enclosure:
    """δ_D(ε) of Example 1's ε, with −ι this share of its range: p(D) of the noise."""
    level = EXAMPLE_1[0]
    gamma = level / (2 * support - 1) - share * 2 * level / (4 * support**2 - 1)
    weights = [(-z * z * enclosed(gamma)).exp() for z in range(support + 1)]
    return enclosure(weights[-1] / (2 * sum(weights) - 1))


def supports_by_slack(claim: Claim) -> str:
    """The smallest D that reaches Example 1's δ, for several shares of ι's range."""
    found = []
    for share in (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1)):
        support = next(D for D in range(1, 100) if _edge(D, share).upper <= EXAMPLE_1[1])
        if not all(_edge(D, share).lower > EXAMPLE_1[1] for D in range(1, support)):
            raise ArithmeticError("a smaller support cannot be ruled out")
        found.append(str(support))
    return ", ".join(found)


def largest_slack(claim: Claim) -> Enclosure:
    """The share of ι's range at which δ_25 is Example 1's δ, by bisection between enclosures."""
    low, high = Fraction(0), Fraction(1)
    while (high - low) * 10**20 > 1:
        middle = (low + high) / 2
        edge = _edge(25, middle)
        if edge.upper <= EXAMPLE_1[1]:
            low = middle
        elif edge.lower > EXAMPLE_1[1]:
            high = middle
        else:
            break
    return Enclosure(low, high)


def smaller_variance(claim: Claim) -> Enclosure:
    """The variance of a γ at D = 25 whose δ, by definition and in both directions, is at most Example 1's."""
    gamma, (level, wanted) = Fraction(claim.at["gamma"]), EXAMPLE_1
    weights = [(-z * z * enclosed(gamma)).exp() for z in range(-25, 26)]
    masses, zero = [weight / sum(weights) for weight in weights], enclosed(0)
    growth, pair = enclosed(level).exp(), ([*masses, zero], [zero, *masses])
    for first, second in (pair, pair[::-1]):
        excess = sum(((p - growth * q).nonnegative_part() for p, q in zip(first, second, strict=True)), zero)
        if not enclosure(excess).upper <= wanted:
            raise ArithmeticError("this γ does not reach the wanted δ")
    return enclosure(sum((z * z * mass for z, mass in enumerate(masses, -25)), zero))


@cache
def _gap_closes(support: int) -> Enclosure:
    """The ε at which m = D becomes best: a grid up to 8 has one change, and bisection narrows it down."""

    def is_best(level: Fraction) -> bool:
        *others, last = _kinks(level, support)
        rival = _least(others)
        if rival.lower <= last.upper and last.lower <= rival.upper:
            raise ArithmeticError(f"undecided at epsilon {float(level)}")
        return last.upper < rival.lower

    grid = {level: is_best(level) for level in (Fraction(2 * k, 5) for k in range(1, 21))}
    low = max(level for level, best in grid.items() if not best)
    high = min(level for level, best in grid.items() if best)
    if low > high:
        raise ArithmeticError(f"m = D is best at epsilon {float(high)}, but not at {float(low)}")
    while (high - low) * 10**25 > 1:
        middle = (low + high) / 2
        low, high = (low, middle) if is_best(middle) else (middle, high)
    return Enclosure(low, high)


def gap_closes(claim: Claim) -> Enclosure:
    """From which ε on, and below which no more, the paper's choice m = D is best."""
    return _gap_closes(claim.at["D"])


# --- Better tables ----------------------------------------------------------------------------


def _chains(growth: Fraction, support: int, keysize: int) -> Iterator[tuple[int, ...]]:
    """All symmetric weights w(D), …, w(0) of that total, each ratio of neighbours at most ``growth``."""

    def extend(chain: tuple[int, ...], left: int) -> Iterator[tuple[int, ...]]:
        outer = chain[-1]
        low, high = math.ceil(outer / growth), math.floor(outer * growth)
        if len(chain) == support:
            if low <= left <= high:
                yield (*chain, left)
            return
        for weight in range(low, min(high, left // 2) + 1):
            yield from extend((*chain, weight), left - 2 * weight)

    for edge in range(1, keysize // 2):
        yield from extend((edge,), keysize - 2 * edge)


def symmetric_exists(claim: Claim) -> Cases:
    """A symmetric table exists exactly under the printed condition: brute force in exact worlds."""
    small = product(
        (Fraction(6, 5), Fraction(4, 3), Fraction(17, 10), Fraction(7, 2)), (1, 2, 3), range(5, 45)
    )
    worlds = [*small, *((Fraction(201, 200), 1, keysize) for keysize in range(595, 606))]

    def holds(growth: Fraction, D: int, keysize: int) -> bool:
        exists = next(_chains(growth, D, keysize), None) is not None
        return exists == bool(evaluate(claim.judged, growth=growth, D=D, KEYSIZE=keysize))

    return on_grid("growth D KEYSIZE", worlds, holds)


@cache
def _floors(epsilon: Fraction) -> Callable[[int], int]:
    """X → ⌊e^ε·x⌋ for whole x, from an enclosure of e^ε."""
    growth = enclosure(enclosed(epsilon).exp())

    def floor(x: int) -> int:
        low, high = math.floor(growth.lower * x), math.floor(growth.upper * x)
        if low != high:
            raise ArithmeticError(f"undecided: e^{epsilon} times {x}")
        return low

    return floor


def symmetric_kept(claim: Claim) -> int:
    """At how many ε of Section V-C the symmetric table has no bias, full support and ε both ways."""
    kept = 0
    for tenths in range(1, 26):
        made = design.proposition_3(Fraction(tenths, 10), support=10)
        floor, keys = _floors(made.epsilon), 2 ** claim.at["bits"]
        table = sampling.lookup_table(made, keysize=keys, rule=symmetric.rule(made.epsilon))
        w = table.weights
        within = all(a <= floor(b) and b <= floor(a) for a, b in pairwise(w))
        kept += sum(w) == keys and w == w[::-1] and min(w) > 0 and within
    return kept


@cache
def _smallest_keysize() -> int:
    """Size by size: the largest allowed end weight, and the most keys that can be stacked upon it."""
    made = design.guide(*EXAMPLE_1)
    delta = certified.delta(made, made.epsilon, digits=40)
    floor = _floors(made.epsilon)
    for keys in range(2 * made.support + 1, 10**6):
        end = weight = math.floor(keys * delta.lower)
        if end != math.floor(keys * delta.upper):
            raise ArithmeticError(f"undecided at KEYSIZE {keys}")
        most = 2 * end
        for z in range(made.support - 1, -1, -1):
            weight = floor(weight)
            most += 2 * weight if z else weight
        if end and most >= keys:
            return keys
    raise ArithmeticError("no KEYSIZE below a million")


def smallest_keysize(claim: Claim) -> int:
    """The smallest KEYSIZE at which a symmetric table keeps ε and δ of Example 1."""
    return _smallest_keysize()


# --- Other noise ------------------------------------------------------------------------------


def _both_ways(pmf: Sequence[Fraction], growth: Fraction) -> Fraction:
    """The exact δ of a noise, counting both directions."""
    once, shifted = [*pmf, Fraction(0)], [Fraction(0), *pmf]
    return max(
        sum((max(a - growth * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))
        for p, q in ((once, shifted), (shifted, once))
    )


def least_delta(claim: Claim) -> Cases:
    """The truncated geometric attains the printed δ, and no other of many noises gets below it."""
    draw = random.Random(20220501)  # noqa: S311 - cases to try, no keys

    def holds(growth: Fraction, D: int) -> bool:
        printed = evaluate(claim.judged, growth=growth, D=D)
        geometric = [growth ** -abs(z) for z in range(-D, D + 1)]
        others = [
            [mass * Fraction(draw.randint(900, 1100), 1000) ** draw.choice((1, 9)) for mass in geometric]
            for _ in range(40)
        ]
        deltas = [_both_ways([m / sum(masses) for m in masses], growth) for masses in (geometric, *others)]
        return bool(deltas[0] == printed and min(deltas[1:]) > printed)

    return on_grid("growth D", product((Fraction(11, 10), Fraction(5, 3), Fraction(4)), (1, 2, 5, 12)), holds)


# --- Many cells -------------------------------------------------------------------------------


@cache
def _composed(epsilon: Fraction, cells: int) -> Enclosure:
    """δ of this many cells with Example 1's noise, cell after cell and term by term, in intervals."""
    made = design.guide(*EXAMPLE_1)
    D, gamma = made.support, enclosed(made.gamma)
    weights = [(-z * z * gamma).exp() for z in range(-D, D + 1)]
    pmf = [weight / sum(weights) for weight in weights]
    sums = {0: enclosed(1)}  # of noise values above −D
    for _ in range(cells):
        grown: dict[int, Any] = {}
        for (t, mass), z in product(sums.items(), range(1 - D, D + 1)):
            grown[t + z] = grown.get(t + z, 0) + mass * pmf[z + D]
        sums = grown
    delta = 1 - (1 - pmf[0]) ** cells
    for t, mass in sums.items():
        delta += mass * (1 - (enclosed(epsilon) - gamma * (cells - 2 * t)).exp()).nonnegative_part()
    return enclosure(delta)


def composed(claim: Claim) -> Enclosure:
    """δ of some cells that contain the same person, at the ε of the claim."""
    return _composed(Fraction(claim.at["eps"]), claim.at["cells"])


def _exact_delta(noises: Iterable[tuple[int, ...]], moved: Sequence[int], growth: int = 4) -> Fraction:
    """δ of counts with these noises, all equally likely, if one person moves some of the counts by one."""
    times = Counter(noises)
    shifts = (moved, [-step for step in moved])
    excess = (
        sum(max(times[noise] - growth * times[tuple(map(sub, noise, shift))], 0) for noise in list(times))
        for shift in shifts
    )
    return Fraction(max(excess), times.total())


BY_KEY = (-1, 0, 0, 1)
"""The noise of each key in a world of four keys."""


def women_men_total(components: int) -> Fraction:
    """δ of three counts for one woman, at e^ε = 4 in a world of four keys: every sum of record keys counts.

    A key is the XOR of this many sums modulo 4, and the sums of the total are those of its parts added up.
    """
    pairs = product(product(range(4), repeat=2), repeat=components)
    sums = (zip(*((w, m, (w + m) % 4) for w, m in pair), strict=True) for pair in pairs)
    noises = (tuple(BY_KEY[reduce(xor, part)] for part in parts) for parts in sums)
    return _exact_delta(noises, (1, 0, 1))


def independent(cells: int) -> Fraction:
    """The same for cells that all contain her and have independent keys."""
    return _exact_delta(product(BY_KEY, repeat=cells), [1] * cells)


DESIGNS = (-1, -1, 0, 0, 0, 0, 1, 1), (-2, -1, 0, 0, 0, 0, 1, 2)
"""The noise of each key in a world of eight keys, for two designs."""


def each_design() -> list[Fraction]:
    """δ of one cell at e^ε = 4 under each of the two designs."""
    return [_exact_delta(zip(design, strict=True), [1]) for design in DESIGNS]


def one_key_two_noises() -> Fraction:
    """δ of one cell at e^ε = 4 if it is published with both designs: the same key gives two noises."""
    return _exact_delta(zip(*DESIGNS, strict=True), (1, 1))


def margins(claim: Claim) -> Fraction:
    """Women, men and their total."""
    return women_men_total(claim.at["components"])


def two_designs(claim: Claim) -> Fraction:
    """One cell under two designs."""
    return one_key_two_noises()


# --- Small counts -----------------------------------------------------------------------------


def clamped_bias(claim: Claim) -> Cases:
    """The printed bias is the mean of max(0, n + Z) − n in exact worlds, where e^−γ is rational."""

    def holds(base: Fraction, D: int, n: int) -> bool:
        weights = {z: base ** (z * z) for z in range(-D, D + 1)}
        total = sum(weights.values())
        mean = sum((max(0, n + z) * weight for z, weight in weights.items()), Fraction(0)) / total
        return bool(mean - n == evaluate(claim.judged, n=n, D=D, p=lambda j: weights[int(j)] / total))

    return on_grid(
        "base D n", product((Fraction(1, 3), Fraction(9, 10)), (1, 4, 9), (0, 1, 3, 8, 9, 20)), holds
    )


def hole(claim: Claim) -> Cases:
    """Rows never have a smaller δ between 0 and 1 than printed, and a noise with two values just that."""

    def holds(D: int, V: int) -> bool:
        printed = evaluate(claim.judged, V=V)
        zero = certified_counts.row(OfVariance(D, V), 1).pmf[D - 1]  # the probability of publishing 0
        rare = Fraction(1, 1 + V)  # of publishing 1 + V, and else 0: unbiased, of variance V
        fits = rare * (1 + V) == 1 and rare * (1 + V) ** 2 - 1 == V
        return bool(fits and rare == printed and 1 - zero.upper >= printed)

    return on_grid("D V", product((3, 5, 11, 25), (1, 2, 3, 7)), holds)
