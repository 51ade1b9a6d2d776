"""Section III-D, the design guide, and Examples 1, 2 and 3 with Figure 3."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise, product
from typing import Any

import numpy as np

from compendium.ledger import claims
from compendium.ledger.checks.privacy import trend
from compendium.ledger.claims import Claim
from compendium.ledger.formulas import (
    EPSILONS,
    SUPPORTS,
    Case,
    Cases,
    by_cases,
    cases,
    chains,
    described,
    enclosed,
    evaluate,
    holds_between,
    less,
)
from compendium.ledger.verdicts import Level, Truth
from tablebuilder_dp import certified, design, sampling
from tablebuilder_dp.support.intervals import Enclosure, enclosure

EPSILON, DELTA, SLACK = Fraction(1, 2), Fraction(1, 10**4), Fraction(1, 10)
"""What Example 1 starts from: the wanted privacy, and −ι as a share of its range."""

SLACKS = tuple(Fraction(text) for text in ("0.000001", "0.01", "0.1", "0.5", "1"))
TARGETS = tuple(Fraction(text) for text in ("0.3", "0.05", "0.001", "1e-6", "1e-9"))


@cache
def example() -> design.Design:
    """The noise that the guide finds for Example 1, its D* proved by enclosures."""
    return design.guide(EPSILON, DELTA, slack=SLACK)


@cache
def mass(z: int) -> Enclosure:
    """p(z) of Example 1."""
    return certified.pmf(example(), z, digits=40)


@cache
def table(bits: int) -> sampling.LookupTable:
    """The lookup table of Example 2 for KEYSIZE = 2^bits."""
    return sampling.lookup_table(example(), keysize=2**bits)


def cut_of(lookup: sampling.LookupTable) -> Callable[[Any], Fraction]:
    """c^Q as a function, 0 below the support and KEYSIZE above it."""
    D = lookup.support
    return lambda z: Fraction(0 if z < -D else lookup.cuts[min(int(z), D) + D])


def mass_of(lookup: sampling.LookupTable) -> Callable[[Any], Fraction]:
    """p^Q as a function, 0 outside the support: the share of keys that are given the noise z."""
    D, weights = lookup.support, lookup.weights
    return lambda z: Fraction(weights[int(z) + D] if abs(z) <= D else 0, lookup.keysize)


def edge_mass(made: design.Design) -> Enclosure:
    """p(D), which is the δ of a noise of Proposition 3."""
    return certified.pmf(made, made.support)


# --- Section III-D: the guide -----------------------------------------------------------------


def guide_targets(claim: Claim) -> Cases:
    """The printed range of targets δ holds those that some noise reaches and that are no empty promise.

    A count without noise already has δ = 1, so a target of 1 or more asks for nothing.
    """
    edges = [edge_mass(design.proposition_3(EPSILON, support=D)) for D in (1, 25, 120)]
    targets = (Fraction(-1), Fraction(0), *TARGETS, Fraction(99, 100), Fraction(1), Fraction(2))
    return cases(
        (
            f"delta = {float(target):g}",
            bool(evaluate(claim.judged, delta=target))
            is (target < 1 and any(edge.upper <= target for edge in edges)),
        )
        for target in targets
    )


def guide_epsilons(claim: Claim) -> Cases:
    """The printed range of ε is where the guide's γ is positive: where the noise falls with |z|."""
    return cases(
        (
            described(D=D, eps=eps),
            bool(evaluate(claim.judged, eps=eps))
            is (eps / (2 * D - 1) - SLACK * 2 * eps / (4 * D * D - 1) > 0),
        )
        for D, eps in product(SUPPORTS, (*EPSILONS, Fraction(0), *(-eps for eps in EPSILONS)))
    )


def guide_ends(claim: Claim) -> str:
    """Whether the search ends: δ_D is below 1/(2D + 1), and the guide finds a D* within that bound."""
    small = all(
        edge_mass(design.proposition_3(eps, support=D, slack=slack)).upper < Fraction(1, 2 * D + 1)
        for eps, D, slack in product(EPSILONS, SUPPORTS, (SLACK, Fraction(1)))
        if eps * D < 100
    )
    # The smallest D with 1/(2D + 1) ≤ δ, or 1 where no D is needed at all.
    ends = all(
        1 <= design.guide(eps, target).support <= max(1, -(-(1 / target - 1) // 2))
        for eps, target in product(EPSILONS[2:], TARGETS)
    )
    return "ends" if small and ends else "goes on"


def guide_falls(claim: Claim) -> str:
    """How δ_D runs along D = 1, 2, …"""
    words = set()
    for eps, slack in product((EPSILONS[0], EPSILONS[2], EPSILONS[4]), (SLACKS[0], SLACK, SLACKS[-1])):
        edges = [edge_mass(design.proposition_3(eps, support=D, slack=slack)) for D in range(1, 21)]
        words.add(trend([enclosed(edge) for edge in edges]))
    return words.pop() if len(words) == 1 else "not monotone"


@by_cases
def guide_smallest(claim: Claim) -> Iterator[Case]:
    """The printed relation between δ_D, the target and all earlier δ_D, for the guide's own D*."""
    for eps, target in product((Fraction(1, 2), Fraction(1), Fraction(3)), TARGETS):
        made = design.guide(eps, target)
        earlier = [design.proposition_3(eps, support=D) for D in range(1, made.support)]
        before = min((edge_mass(other).lower for other in earlier), default=Fraction(1))
        names = {"reached": enclosed(edge_mass(made)), "target": enclosed(target), "before": enclosed(before)}
        yield described(eps=eps, delta=target), holds_between(claim.judged, list(names.values()), **names)


@by_cases
def guide_reaches(claim: Claim) -> Iterator[Case]:
    """δ(ε) of the guide's noise from its definition, at the wanted ε, against the wanted δ."""
    for eps, target in product(EPSILONS[2:], TARGETS):
        made = design.guide(eps, target)
        reached = certified.delta(made, eps)
        names = {"reached": enclosed(reached), "delta": enclosed(target)}
        yield described(eps=eps, delta=target), holds_between(claim.judged, list(names.values()), **names)


def slack_is_small(claim: Claim) -> Level:
    """The share of its range that −ι takes in Example 1."""
    D = example().support
    return Level(-example().iota / (EPSILON / (2 * D - 1) - EPSILON / (2 * D + 1)), whole=True)


# --- Section III-D: Example 1 -----------------------------------------------------------------


def support(claim: Claim) -> int:
    """D*."""
    return example().support


def smallest_support(claim: Claim) -> Cases:
    """The printed relation between δ at D*, the target and δ at D* − 1."""
    at, before = (
        edge_mass(design.proposition_3(EPSILON, support=D, slack=SLACK))
        for D in (example().support, example().support - 1)
    )
    names = {"reached": enclosed(at), "target": enclosed(DELTA), "before": enclosed(before)}
    holds = holds_between(claim.judged, list(names.values()), **names)
    return cases([(f"D = {example().support}", holds)], whole=True)


def delta(claim: Claim) -> Enclosure:
    """δ(ε) of Example 1's noise, from its definition."""
    return certified.delta(example(), EPSILON)


def variance(claim: Claim) -> Enclosure:
    """V of Example 1's noise."""
    return certified.variance(example())


def iota(claim: Claim) -> Fraction:
    """−ι of Example 1."""
    return -example().iota


def iota_formula(claim: Claim) -> Cases:
    """The printed −ι against a tenth of the width of γ's range, in general or at Example 1's numbers."""
    grid = (
        [(example().support, EPSILON)] if claim.at.get("only") == "Example 1" else product(SUPPORTS, EPSILONS)
    )
    return cases(
        (
            described(D=D, eps=eps),
            evaluate(claim.judged, D=D, eps=eps) == (eps / (2 * D - 1) - eps / (2 * D + 1)) / 10,
        )
        for D, eps in grid
    )


def pmf_formula(claim: Claim) -> Truth:
    """The printed pmf of Example 1 against that of its design, to the 15 decimals that the example gives."""
    shown = (0, 1, 2, 12, 24, 25)
    values = {z: evaluate(claim.judged, z=enclosed(z)) for z in shown}
    place = Fraction(1, 10**15) / 2
    right = {z: _digits_shared(value, z) for z, value in values.items() if less(value, 1)} or {0: 0}
    tried = cases(
        (f"z = {z}", less(abs(value - enclosed(mass(z))), enclosed(place))) for z, value in values.items()
    )
    numbers = {"least": str(min(right.values())), "most": str(max(right.values()))}
    return Truth({"": tried}, numbers=numbers)


def _digits_shared(value: Any, z: int) -> int:
    """How many significant digits a value has in common with p(z)."""
    return claims.right_digits(mass(z), enclosure(value).digits(15))


def one_mass(claim: Claim) -> Truth:
    """p(z) of Example 1; a print that belongs to another z is a slip."""
    z = claim.at["z"]
    others = {f"p(±{y})": mass(y) for y in range(example().support + 1) if y != z}
    slipped = next(
        (name for name, other in others.items() if claims.rounds_to(other, claim.judged)), "another"
    )
    return Truth({"": mass(z)}, slips=others, numbers={"true": mass(z).digits(14), "slipped": slipped})


@by_cases
def symmetric(claim: Claim) -> Iterator[Case]:
    """The printed relation, for the enclosures of p, is one between the masses of −z and of z."""
    for z in range(1, example().support + 1):
        asked: list[int] = []

        def p(y: Fraction, asked: list[int] = asked) -> Any:
            asked.append(int(y))
            return mass(int(y))

        yield f"z = {z}", evaluate(claim.judged, p=p, z=z) is True and sorted(asked) == [-z, z]


def shape(claim: Claim) -> str:
    """How p runs with |z|, on both sides of its peak at 0."""
    sides = {trend([enclosed(mass(sign * z)) for z in range(example().support + 1)]) for sign in (1, -1)}
    return sides.pop() if len(sides) == 1 else "not monotone"


# --- Section V-A: Example 2 -------------------------------------------------------------------


def cumulative(claim: Claim) -> Truth:
    """c(z) of Example 1's noise, and what a running sum in float64 makes of it."""
    z, D = claim.at["z"], example().support
    parts = [mass(y) for y in range(-D, z + 1)]
    ends = (sum(side, Fraction(0)) for side in zip(*map(claims.ends, parts), strict=True))
    exact = 1 if z == D else Enclosure(*ends)  # the whole sum is 1 by the choice of C
    # γ as the example writes it, 0.5/49 − ι, is not the float64 nearest to 127/12495. Each exponential is
    # the float64 nearest to the truth, so that all machines add up the same numbers.
    rate = 0.5 / (2 * D - 1) - 2 * 0.5 / (10 * (4 * D**2 - 1))
    weights = [float(enclosure(enclosed(Fraction(-rate * y**2)).exp())) for y in range(-D, D + 1)]
    sums = list(accumulate(1 / sum(weights) * weight for weight in weights))
    return Truth({"": exact}, origins={"the result of a running sum in float64": Fraction(sums[z + D])})


def cut(claim: Claim) -> int:
    """c^Q(z)."""
    return int(cut_of(table(claim.at["bits"]))(claim.at["z"]))


def cut_relation(claim: Claim) -> Cases:
    """A printed relation among the cut points at ``cuts`` and numbers, evaluated on the exact table.

    Its sides are the cut points, in this order, the key between them, and the value of the last of them.
    """
    lookup = table(claim.at["bits"])
    cut, named = cut_of(lookup), []

    def asked(z: Fraction) -> Fraction:
        named.append(int(z))
        return cut(int(z))

    points = [cut(z) for z in claim.at["cuts"]]
    key = [Fraction(claim.at["key"])] if "key" in claim.at else []
    sides = [points[0], *key, *points[1:], points[-1]]
    holds = holds_between(claim.judged, sides, cQ=asked)
    return cases([(f"KEYSIZE = 2^{claim.at['bits']}", holds and named == list(claim.at["cuts"]))], whole=True)


def scaled(claim: Claim) -> Cases:
    """A printed ⌈c·KEYSIZE⌉ of the c that the paper prints: both sides are the cut point."""
    true = cut_of(table(claim.at["bits"]))(claim.at["z"])
    c = Fraction(claim.at["c"])
    sides = chains(claim.judged)[0][0]
    speaks = evaluate(sides[0], c=c / 3) == -(-c * 2 ** claim.at["bits"] / 3 // 1)
    holds = holds_between(claim.judged, [true, true], c=c)
    return cases([(f"z = {claim.at['z']}", holds and speaks)], whole=True)


def entries(claim: Claim) -> int:
    """How many cut points Example 2 stores."""
    return len(table(32).cuts)


def sampled(claim: Claim) -> int:
    """The noise that a cell key is given."""
    return int(sampling.sample(table(claim.at["bits"]), claim.at["key"]))


def sufficient(claim: Claim) -> str:
    """Whether a key size is sufficient: every value of the support has a key."""
    return "sufficient" if table(claim.at["bits"]).full_support else "not sufficient"


def lost_values(claim: Claim) -> str:
    """How many of the noise values a key gives, by looking up every key."""
    lookup = table(claim.at["bits"])
    given = set(sampling.sample(lookup, np.arange(lookup.keysize)).tolist())
    return "all" if given == set(range(-lookup.support, lookup.support + 1)) else "not all"


# --- Section V-B: Example 3 -------------------------------------------------------------------


def sampled_mass(claim: Claim) -> Fraction:
    """p^Q(z)."""
    return mass_of(table(32))(claim.at["z"])


def sampled_fraction(claim: Claim) -> Cases:
    """A printed fraction of keys against p^Q(z), exactly."""
    z = claim.at["z"]
    return cases([(f"z = {z}", evaluate(claim.judged) == mass_of(table(32))(z))], whole=True)


def symmetry(claim: Claim) -> str:
    """Whether p^Q(−z) = p^Q(z) for all z."""
    p = mass_of(table(32))
    return "kept" if all(p(z) == p(-z) for z in range(1, example().support + 1)) else "lost"


def symmetric_original(claim: Claim) -> str:
    """The example whose numbers are a symmetric pmf: masses that mirror each other and sum to 1."""
    D, lookup = example().support, table(32)
    masses = [mass(z) for z in range(-D, D + 1)]
    low, high = sum(m.lower for m in masses), sum(m.upper for m in masses)
    cumulated = [Fraction(cut, lookup.keysize) for cut in lookup.cuts]
    fits = {
        "Example 1": masses == masses[::-1] and low <= 1 <= high,
        "Example 2": cumulated == cumulated[::-1] and sum(cumulated) == 1,
    }
    return ", ".join(name for name, holds in fits.items() if holds)


def bias(claim: Claim) -> Fraction:
    """B^Q."""
    return sampling.after_sampling(table(32)).bias


def sampled_variance(claim: Claim) -> Fraction:
    """V^Q."""
    return sampling.after_sampling(table(32)).variance


def epsilon_ratio() -> Fraction:
    """e^(ε^Q): the largest p^Q(z)/p^Q(z − 1) above z = −D."""
    return max(Fraction(later, earlier) for earlier, later in pairwise(table(32).weights))


def epsilon(claim: Claim) -> Enclosure:
    """ε^Q as the paper defines it: of rising ratios only."""
    return certified.logarithm(epsilon_ratio())


def sampled_delta(claim: Claim) -> Fraction:
    """δ^Q."""
    return sampling.after_sampling(table(32)).delta


def bias_size(claim: Claim) -> Level:
    """|B^Q|, from the weights."""
    weights = table(32).weights
    return Level(
        abs(Fraction(sum(z * w for z, w in enumerate(weights, -example().support)), table(32).keysize))
    )


def variance_change(claim: Claim) -> Level:
    """|V^Q − V|/V."""
    V = enclosed(variance(claim))
    return Level(enclosure(abs(enclosed(sampled_variance(claim)) / V - 1)), whole=True)


def epsilon_below(claim: Claim) -> Truth:
    """How far ε^Q is below ε, one way and both ways."""
    rises = [Fraction(later, earlier) for earlier, later in pairwise(table(32).weights)]
    largest = {"ratios p^Q(z)/p^Q(z−1)": max(rises), "ratios both ways": max(*rises, *(1 / r for r in rises))}
    return Truth(
        {
            name: Level(enclosure(1 - enclosed(ratio).log() / enclosed(EPSILON)), "%", whole=True)
            for name, ratio in largest.items()
        }
    )


def delta_above(claim: Claim) -> Level:
    """How far δ^Q is above δ."""
    return Level(
        enclosure(enclosed(sampled_delta(claim)) / enclosed(edge_mass(example())) - 1), "%", whole=True
    )


def lower_end(claim: Claim) -> Cases:
    """The printed identity for δ^Q, exactly: of the two ends it is −D's, which has one key more."""
    lookup = table(32)
    pQ, D = mass_of(lookup), lookup.support
    largest = max(pQ(-D), pQ(D))
    holds = holds_between(claim.judged, [largest, largest], delta_Q=largest, pQ=pQ, D=D)
    return cases([("Example 3", holds)], whole=True)


@cache
def levels_by_size() -> dict[int, tuple[Enclosure, Enclosure]]:
    """ε^Q one way and both ways, for each 2^b keys up to 2^32 that give Example 1's noise full support."""
    levels = {}
    for bits in range(1, 33):
        if table(bits).full_support:
            rises = [Fraction(later, earlier) for earlier, later in pairwise(table(bits).weights)]
            forward, both = max(rises), max(*rises, *(1 / rise for rise in rises))
            levels[bits] = certified.logarithm(forward), certified.logarithm(both)
    return levels


def sizes_above(*, both: bool) -> list[int]:
    """The b at which ε^Q, one way or both ways, is certainly above ε; at the others it is certainly below."""
    levels = {bits: pair[both] for bits, pair in levels_by_size().items()}
    if any(level.lower <= EPSILON <= level.upper for level in levels.values()):
        raise ArithmeticError("a table has an ε^Q that cannot be told from ε")
    return [bits for bits, level in levels.items() if level.lower > EPSILON]


def _powers(bits: list[int]) -> str:
    """Powers of two in words; three or more in a row are given by their ends."""
    runs: list[list[int]] = []
    for exponent in bits:
        if runs and runs[-1][-1] == exponent - 1:
            runs[-1].append(exponent)
        else:
            runs.append([exponent])
    parts = []
    for run in runs:
        parts += [f"2^{run[0]} to 2^{run[-1]}"] if len(run) > 2 else [f"2^{exponent}" for exponent in run]
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:]))) or "none of them"


def reason(claim: Claim) -> Truth:
    """ε − ε^Q in two exact parts: the slack ε − γ(2D − 1) of the design, and what quantisation does.

    Whether the slack outlasts quantisation is told for each key size with full support.
    """
    made = example()
    onset = made.gamma * (2 * made.support - 1)  # the noise's own ε before quantisation
    after = epsilon(claim)
    slack = EPSILON - onset
    quantised = Enclosure(onset - after.upper, onset - after.lower)
    share = slack / (EPSILON - (after.lower + after.upper) / 2)
    names = {"from_quantisation": enclosed(quantised), "from_slack": enclosed(slack)}
    holds = holds_between(claim.judged, list(names.values()), **names)
    numbers = {
        "slack": f"{float(slack):.3g}",
        "quantised": f"{float(quantised):.2g}",
        "share": f"{float(100 * share):.2f}",
        "onset": f"{float(onset):.7f}",
        "first": f"2^{min(levels_by_size())}",
        "safe": f"2^{max(sizes_above(both=True), default=min(levels_by_size()) - 1) + 1}",
        "one_over": _powers(sizes_above(both=False)),
        "both_over": _powers(sizes_above(both=True)),
        "sizes": "; ".join(
            f"2^{bits}: {forward.digits(4)}, {both.digits(4)}"
            for bits, (forward, both) in levels_by_size().items()
        ),
    }
    sides = {both: set(sizes_above(both=both)) for both in (False, True)}
    either = all(0 < len(above) < len(levels_by_size()) for above in sides.values())
    return Truth(
        {
            "the larger part": cases([("Example 3", holds)], whole=True),
            "that ε^Q can be on either side of ε": cases(
                [("tables of Example 1's noise", either)], whole=True
            ),
        },
        numbers=numbers,
    )
