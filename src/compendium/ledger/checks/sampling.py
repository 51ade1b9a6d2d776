"""Sections V-A and V-B: the lookup table and its measures, for all noises and key sizes."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise, product

from compendium.ledger.checks import examples
from compendium.ledger.checks.examples import cut_of, mass_of
from compendium.ledger.claims import Claim
from compendium.ledger.formulas import Cases, cases, described, enclosed, evaluate
from compendium.ledger.verdicts import Truth
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


# --- Section V-A: sampling --------------------------------------------------------------------


def cmf_outside(claim: Claim) -> Cases:
    """The printed value of c(z) at every z on the named side of the support."""
    tried = []
    for D, x in SHAPES:
        side = range(-D - 4, -D) if claim.at["side"] == "below" else range(D, D + 4)
        for z in side:
            holds = evaluate(claim.printed, c=cumulated(D, x, z))
            tried.append((f"{described(D=D, x=x)}, z = {z}", holds is True))
    return cases(tried)


def scaling(claim: Claim) -> Cases:
    """The printed scaling takes 0 to 0, 1 to KEYSIZE, and Example 1's c(z) to the cut points."""
    tried = []
    for bits in range(1, 33):
        ends = [evaluate(claim.printed, c=c, KEYSIZE=2**bits) for c in (Fraction(0), Fraction(1))]
        tried.append((f"KEYSIZE = 2^{bits}", ends == [0, 2**bits]))
    below = [examples.mass(z) for z in range(-25, 0)]
    for z, (low, high) in enumerate(
        zip(accumulate(p.lower for p in below), accumulate(p.upper for p in below), strict=True), -25
    ):
        cuts = {evaluate(claim.printed, c=c, KEYSIZE=2**32) for c in (low, high)}
        tried.append((f"z = {z}", cuts == {cut_of(examples.table(32))(z)}))
    return cases(tried)


def table_size(claim: Claim) -> Cases:
    """With the printed number of stored cut points, from −D on, every key finds the noise of the rule."""
    tried = []
    for (D, x), keysize in product(SHAPES, (8, 64)):
        stored = [
            math.ceil(cumulated(D, x, z) * keysize) for z in range(-D, -D + int(evaluate(claim.printed, D=D)))
        ]
        known = stored[-1] == keysize and stored.count(keysize) == exact_table(D, x, keysize).cuts.count(
            keysize
        )
        finds = known and all(
            -D + sum(cut <= key for cut in stored) == sampling.sample(exact_table(D, x, keysize), key)
            for key in range(keysize)
        )
        tried.append((f"{described(D=D, x=x)}, KEYSIZE = {keysize}", finds))
    return cases(tried)


def memory(claim: Claim) -> Cases:
    """The bytes that the tables of the paper's examples take, whole bytes for each entry."""
    tried = []
    for D, bits in product((10, 11, 15, 25), (8, 16, 32)):
        size = (2 * D + 1) * -(-(2**bits).bit_length() // 8)
        tried.append((f"D = {D}, KEYSIZE = 2^{bits}", evaluate(claim.printed, size=size) is True))
    return cases(tried)


def rule(claim: Claim) -> Cases:
    """The printed rule fits exactly one z of each key; S = z + 1 is in the support and has mass p^Q."""
    tried = []
    for (D, x), keysize in product(SHAPES, (8, 32)):
        table = exact_table(D, x, keysize)
        cQ = cut_of(table)
        fits = [
            [z + 1 for z in range(-D - 2, D + 2) if evaluate(claim.printed, cQ=cQ, z=z, k=k)]
            for k in range(keysize)
        ]
        unique = all(len(values) == 1 and abs(values[0]) <= D for values in fits)
        shares = all(
            fits.count([z]) == round(mass_of(table)(z) * keysize) for z in range(-D, D + 1)
        )  # as often as the table says
        tried.append((f"{described(D=D, x=x)}, KEYSIZE = {keysize}", unique and shares))
    return cases(tried)


def lost(claim: Claim) -> Cases:
    """The printed condition on neighbouring cut points is the one under which no key gives z."""
    tried = []
    for (D, x), keysize in product(SHAPES, (4, 32)):
        table = exact_table(D, x, keysize)
        given = {sampling.sample(table, key) for key in range(keysize)}
        for z in range(-D, D + 1):
            says = evaluate(claim.printed, cQ=cut_of(table), z=z)
            tried.append((f"{described(D=D, x=x)}, KEYSIZE = {keysize}, z = {z}", says is (z not in given)))
    return cases(tried)


def may_coincide(claim: Claim) -> str:
    """Whether small key sizes make cut points coincide for some designs, while large ones do not."""
    sizes = [[designed_table(D, eps, bits).full_support for bits in (BITS[0], 32)] for D, eps in DESIGNS]
    return "yes" if [False, True] in sizes else "no"


def remedy(claim: Claim) -> Cases:
    """The printed condition on KEYSIZE is the one under which the support is full, for every design."""
    tried = []
    for (D, eps), bits in product(DESIGNS, BITS):
        least = 1 / Fraction(certified.pmf(designed(D, eps), D).upper)
        enough = evaluate(claim.printed, KEYSIZE=2**bits, least=least)
        tried.append(
            (
                f"{described(D=D, eps=eps)}, KEYSIZE = 2^{bits}",
                enough is designed_table(D, eps, bits).full_support,
            )
        )
    return cases(tried)


# --- Section V-B: measures after sampling -----------------------------------------------------


def _draws(D: int, x: Fraction, keysize: int) -> list[int]:
    """The noise of each key, one after the other."""
    return [sampling.sample(exact_table(D, x, keysize), key) for key in range(keysize)]


def sampled_pmf(claim: Claim) -> Cases:
    """The printed p^Q(z) is the share of keys with the noise z; it is no less than 0 and sums to 1."""
    tried = []
    for (D, x), keysize in product(SHAPES, (8, 64)):
        draws, cQ = _draws(D, x, keysize), cut_of(exact_table(D, x, keysize))
        values = {z: evaluate(claim.printed, cQ=cQ, z=z, KEYSIZE=keysize) for z in range(-D, D + 1)}
        shares = all(value == Fraction(draws.count(z), keysize) for z, value in values.items())
        proper = min(values.values()) >= 0 and sum(values.values()) == 1
        tried.append((f"{described(D=D, x=x)}, KEYSIZE = {keysize}", shares and proper))
    return cases(tried)


def finer(claim: Claim) -> Cases:
    """The printed bound on the distance of p^Q(z) from p(z), at every z."""
    tried = []
    for (D, eps), bits in product(DESIGNS[:9], (4, 8, 16, 32)):
        p = mass_of(designed_table(D, eps, bits))
        for z in range(-D, D + 1):
            true = certified.pmf(designed(D, eps), z)
            holds = evaluate(claim.printed, pQ=enclosed(p(z)), p=enclosed(true), KEYSIZE=2**bits)
            tried.append((f"{described(D=D, eps=eps)}, KEYSIZE = 2^{bits}, z = {z}", holds is True))
    return cases(tried)


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
            "a continuous distribution": "no" if all(mass.lower > 0 for mass in true) else "yes",
            "not quantised": "no" if any(on_grid) else "yes",
        },
        numbers={"values": "2D + 1"},
    )


def lower_end_stays(claim: Claim) -> Cases:
    """The printed condition on the lower end of the support, also for tables that lose other values."""
    return cases(
        (name, evaluate(claim.printed, pQ=mass_of(table), D=table.support) is True)
        for name, table in all_tables()
    )


def moment(claim: Claim) -> Cases:
    """A printed bias or variance against the mean or variance of the noise over all keys."""
    tried = []
    for (D, x), keysize in product(SHAPES, (8, 64)):
        draws, table = _draws(D, x, keysize), exact_table(D, x, keysize)
        mean = Fraction(sum(draws), keysize)
        spread = sum((draw - mean) ** 2 for draw in draws) / keysize
        value = evaluate(claim.printed, pQ=mass_of(table), D=D, B_Q=mean)
        true = {"bias": mean, "variance": spread}[claim.at["of"]]
        tried.append((f"{described(D=D, x=x)}, KEYSIZE = {keysize}", value == true))
    return cases(tried)


def closer_bias(claim: Claim) -> Cases:
    """|B^Q| goes the printed way with KEYSIZE; it is D/KEYSIZE exactly."""
    tried = []
    for D, eps in DESIGNS:
        biases = [sampling.after_sampling(designed_table(D, eps, bits)).bias for bits in BITS]
        exact = all(bias == Fraction(-D, 2**bits) for bias, bits in zip(biases, BITS, strict=True))
        falls = all(abs(later) < abs(earlier) for earlier, later in pairwise(biases))
        goes = "decreasing" if falls and exact else "not decreasing"
        tried.append((described(D=D, eps=eps), goes == claim.printed))
    return cases(tried)


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
            goes = "decreasing" if later < earlier else "not decreasing"
            steps.append((f"{described(D=D, eps=eps)}, KEYSIZE = 2^{bits}", goes == claim.printed))
        limits = [Fraction(D * D, 2**bits) + Fraction(D * D, 4**bits) for bits in BITS]
        within = all(gap < limit for gap, limit in zip(gaps, limits, strict=True))
        falls = all(later < earlier for earlier, later in pairwise(limits))
        bounds.append((described(D=D, eps=eps), ("decreasing" if within and falls else "") == claim.printed))
    readings = {
        "the largest possible distance falls": cases(bounds),
        "each larger size is nearer": cases(steps),
    }
    missed = len(readings["each larger size is nearer"].failures)
    return Truth(readings, numbers={"missed": str(missed), "steps": str(len(steps))})


def one_sided(table: LookupTable) -> Fraction:
    """e^(ε^Q): the largest ratio p^Q(z)/p^Q(z − 1) above z = −D."""
    return max(Fraction(later, earlier) for earlier, later in pairwise(table.weights))


def two_sided(table: LookupTable) -> Fraction:
    """The largest ratio of neighbouring masses in either direction."""
    return max(one_sided(table), *(Fraction(a, b) for a, b in pairwise(table.weights)))


def attained(claim: Claim) -> Cases:
    """The largest ratio, for e^ε, itself meets the printed condition at every z, and nothing less does."""
    tried = []
    for name, table in full_tables():
        bound, p = one_sided(table), mass_of(table)
        ratios = [p(z) / p(z - 1) for z in range(-table.support + 1, table.support + 1)]
        holds, smaller = (
            all(evaluate(claim.printed, ratio=ratio, bound=bound * factor) for ratio in ratios)
            for factor in (1, 1 - Fraction(1, 10**12))
        )
        tried.append((name, holds and not smaller))
    return cases(tried)


def guarantee(claim: Claim) -> Truth:
    """The exact δ of the table at the paper's ε^Q, for a count one lower and one higher."""
    tried = []
    for name, table in full_tables():
        forward, backward = divergences(table, one_sided(table))
        ends = max(mass_of(table)(-table.support), mass_of(table)(table.support))
        holds = evaluate(claim.printed, forward=forward, backward=backward, delta_Q=ends)
        tried.append((name, holds is True))
    shown = examples.table(32)
    backward = divergences(shown, one_sided(shown))[1]
    numbers = {
        "backward": f"{float(backward):.9e}",
        "stated": f"{float(mass_of(shown)(-shown.support)):.9e}",
        "two": certified.logarithm(two_sided(shown)).digits(9),
        "one": certified.logarithm(one_sided(shown)).digits(9),
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


def remaining(claim: Claim) -> Cases:
    """The z of [−D, D + 1] whose ratio exceeds e^(ε^Q) are those of the printed condition."""
    tried = []
    for name, table in full_tables():
        bound, p, D = one_sided(table), mass_of(table), table.support
        for z in range(-D, D + 2):
            exceeds = p(z) > bound * p(z - 1)
            tried.append((f"{name}, z = {z}", evaluate(claim.printed, z=z, D=D) is exceeds))
    return cases(tried)


def end_masses(claim: Claim) -> Cases:
    """The printed δ^Q is the exact δ of the table once ε bounds all ratios of both directions."""
    tried = []
    for name, table in full_tables():
        value = evaluate(claim.printed, pQ=mass_of(table), D=table.support)
        tried.append((name, value == max(divergences(table, two_sided(table)))))
    return cases(tried)


def floor(claim: Claim) -> Cases:
    """The printed lower bound of δ^Q, for all tables, also those that lose values."""
    return cases(
        (
            name,
            evaluate(claim.printed, delta_Q=sampling.after_sampling(table).delta, KEYSIZE=table.keysize)
            is True,
        )
        for name, table in all_tables()
    )


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
    return "yes" if below and above else "no"


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
    word = claim.printed
    return Truth(
        {
            name: cases((text, ("closer" if holds else "not closer") == word) for text, holds in tried)
            for name, tried in readings.items()
        },
        numbers=numbers,
    )


def closer_delta(claim: Claim) -> Cases:
    """δ^Q comes down to δ: never below it, within 1/KEYSIZE, and never farther at a larger KEYSIZE."""
    tried = []
    for D, eps in DESIGNS:
        delta = certified.pmf(designed(D, eps), D)
        values = [sampling.after_sampling(designed_table(D, eps, bits)).delta for bits in BITS]
        within = all(
            delta.upper < value < delta.lower + Fraction(1, 2**bits)
            for value, bits in zip(values, BITS, strict=True)
        )
        falls = all(later <= earlier for earlier, later in pairwise(values)) and values[-1] < values[0]
        tried.append((described(D=D, eps=eps), ("closer" if within and falls else "no") == claim.printed))
    return cases(tried)
