"""Section III-D, the design guide, and Examples 1, 2 and 3 with Figure 3."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise, product
from typing import Any

import numpy as np

from compendium.ledger import claims
from compendium.ledger.claims import Claim
from compendium.ledger.formulas import (
    EPSILONS,
    SUPPORTS,
    Cases,
    agree,
    cases,
    described,
    enclosed,
    evaluate,
    less,
)
from compendium.ledger.verdicts import Answer, Truth
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
            bool(evaluate(claim.printed, delta=target))
            is (target < 1 and any(edge.upper <= target for edge in edges)),
        )
        for target in targets
    )


def guide_epsilons(claim: Claim) -> Cases:
    """The printed range of ε is where the guide's γ is positive: where the noise falls with |z|."""
    return cases(
        (
            described(D=D, eps=eps),
            bool(evaluate(claim.printed, eps=eps))
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
    return "yes" if small and ends else "no"


def guide_falls(claim: Claim) -> Cases:
    """δ_D along D = 1, 2, …: the printed word says which way it goes."""
    tried = []
    for eps, slack in product((EPSILONS[0], EPSILONS[2], EPSILONS[4]), (SLACKS[0], SLACK, SLACKS[-1])):
        edges = [edge_mass(design.proposition_3(eps, support=D, slack=slack)) for D in range(1, 21)]
        for D, (before, after) in enumerate(pairwise(edges), 1):
            goes = "decreasing" if after.upper < before.lower else "increasing"
            tried.append((described(eps=eps, slack=slack, D=D), goes == claim.printed))
    return cases(tried)


def guide_smallest(claim: Claim) -> Cases:
    """The printed relation between δ_D, the target and all earlier δ_D, for the guide's own D*."""
    tried = []
    for eps, target in product((Fraction(1, 2), Fraction(1), Fraction(3)), TARGETS):
        made = design.guide(eps, target)
        earlier = [design.proposition_3(eps, support=D) for D in range(1, made.support)]
        before = min((edge_mass(other).lower for other in earlier), default=Fraction(1))
        names = {"reached": enclosed(edge_mass(made)), "target": target, "before": enclosed(before)}
        tried.append((described(eps=eps, delta=target), evaluate(claim.printed, **names) is True))
    return cases(tried)


def guide_reaches(claim: Claim) -> Cases:
    """δ(ε) of the guide's noise from its definition, at the wanted ε, against the wanted δ."""
    tried = []
    for eps, target in product(EPSILONS[2:], TARGETS):
        made = design.guide(eps, target)
        reached = certified.delta(made, eps)
        holds = evaluate(claim.printed, reached=enclosed(reached), delta=target)
        tried.append((described(eps=eps, delta=target), holds is True))
    return cases(tried)


def guide_mass(claim: Claim) -> Cases:
    """A printed pmf with ε, D and ι < 0 against Proposition 3's noise, whose γ keeps z* = −D."""
    tried = []
    for D, eps, slack in product((1, 3, 11), (EPSILONS[2], EPSILONS[5]), (SLACK, SLACKS[-1])):
        made = design.proposition_3(eps, support=D, slack=slack)
        for z in (1, -D):
            ours = certified.pmf(made, z, digits=40)
            printed = evaluate(claim.printed, z=enclosed(z), D=D, eps=eps, iota=made.iota)
            tried.append((described(D=D, eps=eps, iota=made.iota, z=z), agree(printed, enclosed(ours))))
    return cases(tried)


def slack_is_small(claim: Claim) -> Cases:
    """The printed condition on −ι holds for Example 1's share of its range and less, and for no more."""
    tried = []
    for D, eps in product((1, 4, 25), EPSILONS):
        for share in (-SLACK, Fraction(0), SLACK / 100, SLACK, SLACK * Fraction(101, 100), Fraction(1)):
            iota = -share * (eps / (2 * D - 1) - eps / (2 * D + 1))
            holds = evaluate(claim.printed, eps=eps, D=D, iota=iota)
            tried.append((described(D=D, eps=eps, iota=iota), holds is (0 < share <= SLACK)))
    return cases(tried)


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
    names = {"reached": enclosed(at), "target": DELTA, "before": enclosed(before)}
    return cases([(f"D = {example().support}", evaluate(claim.printed, **names) is True)])


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
            evaluate(claim.printed, D=D, eps=eps) == (eps / (2 * D - 1) - eps / (2 * D + 1)) / 10,
        )
        for D, eps in grid
    )


def pmf_formula(claim: Claim) -> Truth:
    """The printed pmf of Example 1 against that of its design, to the 15 decimals that the example gives."""
    shown = (0, 1, 2, 12, 24, 25)
    values = {z: evaluate(claim.printed, z=enclosed(z)) for z in shown}
    place = Fraction(1, 10**15) / 2
    right = {z: _digits_shared(values[z], z) for z in shown}
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
        (name for name, other in others.items() if claims.rounds_to(other, claim.printed)), "another"
    )
    return Truth({"": mass(z)}, slips=others, numbers={"true": mass(z).digits(14), "slipped": slipped})


def symmetric(claim: Claim) -> Cases:
    """The printed relation, for the enclosures of p."""
    return cases(
        (f"z = {z}", evaluate(claim.printed, p=lambda y: mass(int(y)), z=z) is True)
        for z in range(1, example().support + 1)
    )


def shape(claim: Claim) -> Cases:
    """Whether p goes the printed way with |z|, on both sides of its peak at 0."""
    goes = {True: "decreasing", False: "increasing"}
    return cases(
        (f"z = {sign * z}", goes[mass(sign * z).upper < mass(sign * (z - 1)).lower] == claim.printed)
        for z, sign in product(range(1, example().support + 1), (1, -1))
    )


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
    """A printed relation among cut points cQ(z) and numbers, evaluated on the exact table.

    The cut points that it names must be neighbours.
    """
    lookup = table(claim.at["bits"])
    named: list[int] = []

    def cut(z: Fraction) -> Fraction:
        named.append(int(z))
        return cut_of(lookup)(int(z))

    holds = evaluate(claim.printed, cQ=cut, KEYSIZE=lookup.keysize)
    gaps = {high - low for low, high in pairwise(sorted(set(named)))}
    return cases([(f"KEYSIZE = 2^{claim.at['bits']}", holds is True and gaps <= {1})])


def scaled(claim: Claim) -> Cases:
    """A printed ⌈c·KEYSIZE⌉: the printed arithmetic is right, and the result is the cut point."""
    left, _, right = claim.printed.partition("==")
    true = cut_of(table(claim.at["bits"]))(claim.at["z"])
    return cases([(side.strip(), evaluate(side.strip()) == true) for side in (left, right)])


def entries(claim: Claim) -> int:
    """How many cut points Example 2 stores."""
    return len(table(32).cuts)


def sampled(claim: Claim) -> int:
    """The noise that a cell key is given."""
    return int(sampling.sample(table(claim.at["bits"]), claim.at["key"]))


def sufficient(claim: Claim) -> str:
    """Whether a key size is sufficient: every value of the support has a key."""
    return "sufficient" if table(claim.at["bits"]).full_support else "not sufficient"


def lost_values(claim: Claim) -> Cases:
    """A printed relation for the number of noise values that no key gives."""
    lookup = table(claim.at["bits"])
    given = set(sampling.sample(lookup, np.arange(lookup.keysize)).tolist())  # by looking up every key
    lost = 2 * lookup.support + 1 - len(given)
    return cases([(f"KEYSIZE = 2^{claim.at['bits']}", evaluate(claim.printed, lost=lost) is True)])


# --- Section V-B: Example 3 -------------------------------------------------------------------


def sampled_mass(claim: Claim) -> Fraction:
    """p^Q(z)."""
    return mass_of(table(32))(claim.at["z"])


def sampled_fraction(claim: Claim) -> Cases:
    """A printed fraction of keys against p^Q(z), exactly."""
    z = claim.at["z"]
    return cases([(f"z = {z}", evaluate(claim.printed) == mass_of(table(32))(z))])


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


def relation(claim: Claim) -> Cases:
    """A printed relation between the measures before and after sampling."""
    after, made = sampling.after_sampling(table(32)), example()
    names = {
        "B_Q": enclosed(after.bias),
        "V_Q": enclosed(after.variance),
        "V": enclosed(variance(claim)),
        "eps": EPSILON,
        "eps_Q": enclosed(epsilon(claim)),
        "delta": enclosed(edge_mass(made)),
        "delta_Q": enclosed(after.delta),
        "within": Fraction(claim.at.get("within", "0")),
    }
    return cases([("Example 3", evaluate(claim.printed, **names) is True)])


def lower_end(claim: Claim) -> Cases:
    """The printed identity for δ^Q, exactly."""
    lookup = table(32)
    names: dict[str, Answer | Callable[[Any], Fraction]] = {"pQ": mass_of(lookup), "D": lookup.support}
    delta_after = sampling.after_sampling(lookup).delta
    return cases([("Example 3", evaluate(claim.printed, delta_Q=delta_after, **names) is True)])


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
    holds = evaluate(claim.printed, from_quantisation=enclosed(quantised), from_slack=enclosed(slack))
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
    return Truth({"": cases([("Example 3", holds is True)])}, numbers=numbers)
