"""Sections V-A and V-B: the lookup table and its measures, for all noises and key sizes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise, product

from compendium.ledger.checks import examples
from compendium.ledger.checks.examples import cut_of, mass_of
from compendium.ledger.checks.noise import inside
from compendium.ledger.checks.privacy import trend
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
    worded,
)
from compendium.ledger.verdicts import Level, Truth
from tablebuilder_dp import certified, design, sampling
from tablebuilder_dp.sampling import LookupTable

SHAPES = tuple(product((1, 2, 3), (Fraction(1, 10), Fraction(2, 3), Fraction(19, 20))))
"""Supports and x = e^−γ: with a rational x all masses are rational, and no cut point needs rounding."""
DESIGNS = tuple(product((1, 2, 4, 11, 25), (Fraction(1, 8), Fraction(1, 2), Fraction(7, 4))))
BITS = (4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32)


@cache
def masses(D: int, x: Fraction) -> tuple[Fraction, ...]:
    """p(−D), …, p(D) for a rational e^−γ, exactly."""
    weights = [x ** (z * z) for z in range(-D, D + 1)]
    return tuple(weight / sum(weights) for weight in weights)


def cumulated(D: int, x: Fraction, z: int) -> Fraction:
    """c(z) = P(Z ≤ z), for every integer z."""
    return sum((p for y, p in enumerate(masses(D, x), -D) if y <= z), Fraction(0))


@cache
def exact_table(D: int, x: Fraction, keysize: int) -> LookupTable:
    """The lookup table of a rational pmf."""
    return LookupTable(keysize, tuple(math.ceil(c * keysize) for c in accumulate(masses(D, x))))


@cache
def designed(D: int, eps: Fraction) -> design.Design:
    """A noise of Proposition 3 with the slack of the paper's examples."""
    return design.proposition_3(eps, support=D)


@cache
def designed_table(D: int, eps: Fraction, bits: int) -> LookupTable:
    """Its lookup table."""
    return sampling.lookup_table(designed(D, eps), keysize=2**bits)


def all_tables() -> list[tuple[str, LookupTable]]:
    """The tables of all designs at all key sizes, with a name each."""
    return [
        (f"{described(D=D, eps=eps)}, KEYSIZE = 2^{bits}", designed_table(D, eps, bits))
        for (D, eps), bits in product(DESIGNS, BITS)
    ]


def full_tables() -> list[tuple[str, LookupTable]]:
    """Those that keep the whole support, as Section V-B assumes, with those of Example 3."""
    return [
        (name, table)
        for name, table in (("Example 3", examples.table(32)), *all_tables())
        if table.full_support
    ]


def mirrored(tables: Iterable[tuple[str, LookupTable]]) -> list[tuple[str, LookupTable]]:
    """Tables and their mirror images: the ceilings favour −D, floors would favour D."""
    both = []
    for name, table in tables:
        cuts = tuple(accumulate(reversed(table.weights)))
        both += [(name, table), (f"{name}, mirrored", LookupTable(table.keysize, cuts))]
    return both


# --- Section V-A: sampling --------------------------------------------------------------------


@by_cases
def cmf_outside(claim: Claim) -> Iterator[Case]:
    """The printed value of c(z) at every z on the named side of the support."""
    for D, x in SHAPES:
        side = range(-D - 4, -D) if claim.at["side"] == "below" else range(D, D + 4)
        for z in side:
            holds = evaluate(claim.judged, c=cumulated(D, x, z))
            yield f"{described(D=D, x=x)}, z = {z}", (holds is True)


@by_cases
def scaling(claim: Claim) -> Iterator[Case]:
    """The printed scaling takes 0 to 0, 1 to KEYSIZE, and Example 1's c(z) to the cut points."""
    for bits in range(1, 33):
        ends = [evaluate(claim.judged, c=c, KEYSIZE=2**bits) for c in (Fraction(0), Fraction(1))]
        yield f"KEYSIZE = 2^{bits}", (ends == [0, 2**bits])
    below = [examples.mass(z) for z in range(-25, 0)]
    for z, (low, high) in enumerate(
        zip(accumulate(p.lower for p in below), accumulate(p.upper for p in below), strict=True), -25
    ):
        cuts = {evaluate(claim.judged, c=c, KEYSIZE=2**32) for c in (low, high)}
        yield f"z = {z}", (cuts == {cut_of(examples.table(32))(z)})


@by_cases
def table_size(claim: Claim) -> Iterator[Case]:
    """With the printed number of stored cut points, from −D on, every key finds the noise of the rule."""
    for (D, x), keysize in product(SHAPES, (8, 64)):
        entries = evaluate(claim.judged, D=D)
        if entries.denominator > 1:
            raise ArithmeticError(f"{entries} is not a number of entries")
        stored = [math.ceil(cumulated(D, x, z) * keysize) for z in range(-D, -D + int(entries))]
        known = stored[-1] == keysize and stored.count(keysize) == exact_table(D, x, keysize).cuts.count(
            keysize
        )
        finds = known and all(
            -D + sum(cut <= key for cut in stored) == sampling.sample(exact_table(D, x, keysize), key)
            for key in range(keysize)
        )
        yield f"{described(D=D, x=x)}, KEYSIZE = {keysize}", (finds)


def memory(claim: Claim) -> Level:
    """The most bytes that a table of the paper's examples takes, whole bytes for each entry."""
    shapes = product((10, 11, 15, 25), (8, 16, 32))
    most = max((2 * D + 1) * -(-(2**bits).bit_length() // 8) for D, bits in shapes)
    return Level(Fraction(most), whole=True)


@by_cases
def rule(claim: Claim) -> Iterator[Case]:
    """The printed rule fits exactly one z of each key; S = z + 1 is in the support and has mass p^Q."""
    for (D, x), keysize in product(SHAPES, (8, 32)):
        table = exact_table(D, x, keysize)
        cQ = cut_of(table)
        fits = [
            [z + 1 for z in range(-D - 2, D + 2) if evaluate(claim.judged, cQ=cQ, z=z, k=k)]
            for k in range(keysize)
        ]
        unique = all(len(values) == 1 and abs(values[0]) <= D for values in fits)
        shares = all(
            fits.count([z]) == round(mass_of(table)(z) * keysize) for z in range(-D, D + 1)
        )  # as often as the table says
        yield f"{described(D=D, x=x)}, KEYSIZE = {keysize}", (unique and shares)


@by_cases
def lost(claim: Claim) -> Iterator[Case]:
    """The printed condition on neighbouring cut points is the one under which no key gives z."""
    for (D, x), keysize in product(SHAPES, (4, 32)):
        table = exact_table(D, x, keysize)
        given = {sampling.sample(table, key) for key in range(keysize)}
        for z in range(-D, D + 1):
            says = evaluate(claim.judged, cQ=cut_of(table), z=z)
            yield f"{described(D=D, x=x)}, KEYSIZE = {keysize}, z = {z}", (says is (z not in given))


def may_coincide(claim: Claim) -> str:
    """Whether cut points coincide for all, some or none of the designs at small key sizes."""
    coincide = {
        not designed_table(D, eps, bits).full_support for (D, eps), bits in product(DESIGNS, BITS[:3])
    }
    return "may" if len(coincide) == 2 else "must" if coincide == {True} else "never"


@by_cases
def remedy(claim: Claim) -> Iterator[Case]:
    """The printed condition on KEYSIZE is the one under which the support is full, for every design."""
    for D, eps in DESIGNS:
        edge = certified.pmf(designed(D, eps), D)
        near = math.floor(1 / edge.upper)
        for keysize in (*(2**bits for bits in BITS), max(near, 2), near + 1):
            table = sampling.lookup_table(designed(D, eps), keysize=keysize)
            enough = evaluate(claim.judged, KEYSIZE=enclosed(keysize), least=1 / enclosed(edge))
            yield f"{described(D=D, eps=eps)}, KEYSIZE = {keysize}", enough is table.full_support


# --- Section V-B: measures after sampling -----------------------------------------------------


def _draws(D: int, x: Fraction, keysize: int) -> list[int]:
    """The noise of each key, one after the other."""
    return [sampling.sample(exact_table(D, x, keysize), key) for key in range(keysize)]


@by_cases
def sampled_pmf(claim: Claim) -> Iterator[Case]:
    """The printed p^Q(z) is the share of keys with the noise z; it is no less than 0 and sums to 1."""
    for (D, x), keysize in product(SHAPES, (8, 64)):
        draws, cQ = _draws(D, x, keysize), cut_of(exact_table(D, x, keysize))
        values = {z: evaluate(claim.judged, cQ=cQ, z=z, KEYSIZE=keysize) for z in range(-D, D + 1)}
        shares = all(value == Fraction(draws.count(z), keysize) for z, value in values.items())
        proper = min(values.values()) >= 0 and sum(values.values()) == 1
        yield f"{described(D=D, x=x)}, KEYSIZE = {keysize}", (shares and proper)


def finer(claim: Claim) -> str:
    """How the step of p^Q, and with it the largest possible distance from p, runs with KEYSIZE.

    Every p^Q(z) is a multiple of 1/KEYSIZE within 1/KEYSIZE of p(z), and some distance is above half of that.
    """
    steps = []
    for bits in (4, 8, 16, 32):
        distances = []
        for D, eps in DESIGNS[:9]:
            p = mass_of(designed_table(D, eps, bits))
            for z in range(-D, D + 1):
                true = certified.pmf(designed(D, eps), z)
                distances.append(max(abs(p(z) - true.lower), abs(p(z) - true.upper)))
        if not Fraction(1, 2 ** (bits + 1)) < max(distances) < Fraction(1, 2**bits):
            return "not within one step"
        steps.append(Fraction(1, 2**bits))
    return {"decreasing": "finer", "increasing": "coarser"}.get(trend(steps), "neither")


def continuous(claim: Claim) -> Truth:
    """A continuous distribution has no masses; one that is not quantised has masses off the grid of keys."""
    D, eps = DESIGNS[0]
    true = [certified.pmf(designed(D, eps), z) for z in range(-D, D + 1)]
    on_grid = [
        math.floor(mass.lower * 2**bits) != math.floor(mass.upper * 2**bits)
        for mass in true
        for bits in (8, 32)
    ]
    return Truth(
        {
            "a continuous distribution": "discrete" if all(mass.lower > 0 for mass in true) else "continuous",
            "not quantised": "discrete" if any(on_grid) else "continuous",
        },
        numbers={"values": "2D + 1"},
    )


def _lower_end(printed: str, table: LookupTable) -> bool:
    """Whether the printed relation is one between p^Q(−D), 0 and p^Q(−D − 1), and holds."""
    asked: list[int] = []

    def mass(z: Fraction) -> Fraction:
        asked.append(int(z))
        return mass_of(table)(z)

    D = table.support
    sides = [mass_of(table)(-D), Fraction(0), Fraction(0)]
    return holds_between(printed, sides, pQ=mass, D=D) and asked == [-D, -D - 1]


def lower_end_stays(claim: Claim) -> Cases:
    """The printed condition on the lower end of the support, also for tables that lose other values."""
    return cases((name, _lower_end(claim.judged, table)) for name, table in all_tables())


@by_cases
def moment(claim: Claim) -> Iterator[Case]:
    """A printed bias or variance against the mean or variance of the noise over all keys."""
    for (D, x), keysize in product(SHAPES, (8, 64)):
        draws, table = _draws(D, x, keysize), exact_table(D, x, keysize)
        mean = Fraction(sum(draws), keysize)
        spread = sum((draw - mean) ** 2 for draw in draws) / keysize
        value = evaluate(claim.judged, pQ=inside(D, mass_of(table)), D=D, B_Q=mean)
        true = {"bias": mean, "variance": spread}[claim.at["of"]]
        yield f"{described(D=D, x=x)}, KEYSIZE = {keysize}", (value == true)


def closer_bias(claim: Claim) -> str:
    """How |B^Q| runs with KEYSIZE."""
    words = set()
    for D, eps in DESIGNS:
        sums = [
            sum(z * weight for z, weight in enumerate(designed_table(D, eps, bits).weights, -D))
            for bits in BITS
        ]
        words.add(trend([abs(Fraction(total, 2**bits)) for total, bits in zip(sums, BITS, strict=True)]))
    return words.pop() if len(words) == 1 else "not monotone"


def closer_variance(claim: Claim) -> Truth:
    """|V^Q − V| goes the printed way with KEYSIZE: at each step, or as far as its bound is concerned."""
    steps, bounds = [], []
    for D, eps in DESIGNS:
        V = certified.variance(designed(D, eps))
        gaps = []
        for bits in BITS:
            after = sampling.after_sampling(designed_table(D, eps, bits)).variance
            gaps.append(max(abs(after - V.lower), abs(after - V.upper)))
        for bits, (earlier, later) in zip(BITS[1:], pairwise(gaps), strict=True):
            steps.append((f"{described(D=D, eps=eps)}, KEYSIZE = 2^{bits}", later < earlier))
        limits = [Fraction(D * D, 2**bits) + Fraction(D * D, 4**bits) for bits in BITS]
        within = all(gap < limit for gap, limit in zip(gaps, limits, strict=True))
        falls = all(later < earlier for earlier, later in pairwise(limits))
        bounds.append((described(D=D, eps=eps), within and falls))
    readings = {
        "the largest possible distance falls": cases(bounds, word="decreasing", instead="not decreasing"),
        "each larger size is nearer": cases(steps, word="decreasing", instead="not decreasing"),
    }
    missed = len(readings["each larger size is nearer"].failures)
    return Truth(readings, numbers={"missed": str(missed), "steps": str(len(steps))})


def one_sided(table: LookupTable) -> Fraction:
    """e^(ε^Q): the largest ratio p^Q(z)/p^Q(z − 1) above z = −D."""
    return max(Fraction(later, earlier) for earlier, later in pairwise(table.weights))


def two_sided(table: LookupTable) -> Fraction:
    """The largest ratio of neighbouring masses in either direction."""
    return max(one_sided(table), *(Fraction(a, b) for a, b in pairwise(table.weights)))


@by_cases
def attained(claim: Claim) -> Iterator[Case]:
    """The largest ratio, for e^ε, itself meets the printed condition at every z, and nothing less does."""
    for name, table in full_tables():
        bound, p = one_sided(table), mass_of(table)
        ratios = [p(z) / p(z - 1) for z in range(-table.support + 1, table.support + 1)]
        holds, smaller = (
            all(evaluate(claim.judged, ratio=ratio, bound=bound * factor) for ratio in ratios)
            for factor in (1, 1 - Fraction(1, 10**12))
        )
        yield name, (holds and not smaller)


def guarantee(claim: Claim) -> Truth:
    """The exact δ of the table at the paper's ε^Q, for a count one lower and one higher."""
    tried = []
    bound = {"one-sided": one_sided, "two-sided": two_sided}[claim.at["level"]]
    speaks = has_sides(claim.judged, [1, 3], [2, 3], forward=1, backward=2, delta_Q=3)
    for name, table in full_tables():
        forward, backward = divergences(table, bound(table))
        ends = max(mass_of(table)(-table.support), mass_of(table)(table.support))
        holds = all(
            holds_between(
                claim.judged,
                [forward, delta],
                [backward, delta],
                forward=forward,
                backward=backward,
                delta_Q=delta,
            )
            for delta in (ends, 2 * ends)  # what holds for one δ holds for every larger one
        )
        tried.append((name, speaks and holds))
    shown = examples.table(32)
    backward = divergences(shown, one_sided(shown))[1]
    numbers = {
        "backward": f"{float(backward):.9e}",
        "stated": f"{float(mass_of(shown)(-shown.support)):.9e}",
        "two": certified.logarithm(two_sided(shown)).digits(9),
        "one": certified.logarithm(one_sided(shown)).digits(9),
        "eps": str(float(examples.EPSILON)),
    }
    return Truth({"": cases(tried)}, numbers=numbers)


def divergences(table: LookupTable, growth: Fraction) -> tuple[Fraction, Fraction]:
    """Both hockey-stick divergences of the table and its shift by one, at e^ε = ``growth``, exactly."""
    p = [Fraction(weight, table.keysize) for weight in table.weights]
    first, second = [*p, Fraction(0)], [Fraction(0), *p]
    zero = Fraction(0)
    return (
        sum((max(zero, a - growth * b) for a, b in zip(first, second, strict=True)), zero),
        sum((max(zero, b - growth * a) for a, b in zip(first, second, strict=True)), zero),
    )


@by_cases
def remaining(claim: Claim) -> Iterator[Case]:
    """The z of [−D, D + 1] whose ratio exceeds e^(ε^Q) are those of the printed condition."""
    for name, table in full_tables():
        bound, p, D = one_sided(table), mass_of(table), table.support
        for z in range(-D, D + 2):
            exceeds = p(z) > bound * p(z - 1)
            yield f"{name}, z = {z}", (evaluate(claim.judged, z=z, D=D) is exceeds)


@by_cases
def end_masses(claim: Claim) -> Iterator[Case]:
    """The printed δ^Q is the exact δ of the table once ε bounds all ratios of both directions."""
    for name, table in mirrored(full_tables()):
        value = evaluate(claim.judged, pQ=inside(table.support, mass_of(table)), D=table.support)
        yield name, (value == max(divergences(table, two_sided(table))))


@by_cases
def floor(claim: Claim) -> Iterator[Case]:
    """The printed lower bound of δ^Q, for all tables, also those that lose values; some table attains it."""
    attained = set()
    for name, table in all_tables():
        ends = Fraction(max(table.weights[0], table.weights[-1]), table.keysize)
        sides = [ends, Fraction(1, table.keysize)]
        yield name, holds_between(claim.judged, sides, delta_Q=ends, KEYSIZE=table.keysize)
        attained.add(ends * table.keysize == 1)
    yield "some table attains it", True in attained


def least_end(claim: Claim) -> Truth:
    """The fewest keys that the named end of the support has in any table."""
    place = {"-D": 0, "D": -1}[claim.at["end"]]
    tables = [designed_table(D, eps, bits) for (D, eps), bits in product(DESIGNS[:9], range(3, 24))]
    return Truth(
        {
            "while the support is full, as assumed": min(t.weights[place] for t in tables if t.full_support),
            "whether or not the support is full": min(t.weights[place] for t in tables),
        }
    )


def both_ways(claim: Claim) -> str:
    """Whether ε^Q is below ε for some tables and above it for others."""
    below = above = 0
    for (D, eps), bits in product(DESIGNS, BITS):
        table = designed_table(D, eps, bits)
        if table.full_support:
            after = certified.logarithm(one_sided(table))
            below += after.upper < eps
            above += after.lower > eps
    if below and above:
        return "lower or higher"
    return "lower" if below else "higher"


def closer_epsilon(claim: Claim) -> Truth:
    """ε^Q for growing KEYSIZE against ε, and against γ(2D − 1), the noise's own ε before sampling."""
    steps, limit, own = [], [], []
    for D, eps in DESIGNS:
        made = designed(D, eps)
        onset = made.gamma * (2 * D - 1)
        edge = certified.pmf(made, D).lower
        gaps = []
        for bits in BITS:
            if 2**bits * edge < 2:
                continue
            name = f"{described(D=D, eps=eps)}, KEYSIZE = 2^{bits}"
            after = certified.logarithm(one_sided(designed_table(D, eps, bits)))
            gaps.append(max(abs(after.lower - eps), abs(after.upper - eps)))
            # Each weight is within 1 of KEYSIZE·p(z), so no logarithm of a ratio moves by more than this.
            reach = 4 / (2**bits * edge)
            own.append((name, abs(after.lower - onset) <= reach and abs(after.upper - onset) <= reach))
            if len(gaps) > 1:
                steps.append((name, gaps[-1] < gaps[-2]))
        if gaps:
            limit.append((described(D=D, eps=eps), gaps[-1] < (eps - onset) / 2))
    readings = {
        "to the noise's own ε, γ(2D − 1)": own,
        "to the design's ε, without end": limit,
        "to the design's ε, at each larger size": steps,
    }
    shown = examples.example()
    numbers = {
        "onset": f"{float(shown.gamma * (2 * shown.support - 1)):.6f}",
        "eps": f"{float(shown.epsilon)}",
    }
    return Truth(
        {name: cases(tried, word="closer", instead="not closer") for name, tried in readings.items()},
        numbers=numbers,
    )


@worded("closer", "not closer")
def closer_delta(claim: Claim) -> Iterator[Case]:
    """δ^Q comes down to δ: never below it, within 1/KEYSIZE, and never farther at a larger KEYSIZE."""
    for D, eps in DESIGNS:
        delta = certified.pmf(designed(D, eps), D)
        values = [sampling.after_sampling(designed_table(D, eps, bits)).delta for bits in BITS]
        within = all(
            delta.upper < value < delta.lower + Fraction(1, 2**bits)
            for value, bits in zip(values, BITS, strict=True)
        )
        falls = all(later <= earlier for earlier, later in pairwise(values)) and values[-1] < values[0]
        yield described(D=D, eps=eps), within and falls
