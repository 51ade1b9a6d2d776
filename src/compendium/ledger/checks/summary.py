"""The abstract, Section I and Section VI: what the paper says of itself, held against its own sections."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from compendium.ledger.checks import experiment, noise
from compendium.ledger.claims import Claim, load
from compendium.ledger.formulas import (
    EPSILONS,
    NOISES,
    SUPPORTS,
    Cases,
    agree,
    cases,
    described,
    enclosed,
    evaluate,
)
from compendium.ledger.verdicts import Truth
from tablebuilder_dp import certified, design, privacy, sampling
from tablebuilder_dp.beyond import best_gamma
from tablebuilder_dp.certified import Enclosed
from tablebuilder_dp.noise import Noise

FIGURE_2 = (11, 15)
SMALL = tuple((D, gamma) for D, gamma in NOISES if D <= 11)
TENTHS = tuple(Fraction(k, 10) for k in range(1, 26))


@cache
def closed_form_cases() -> tuple[tuple[int, Fraction, Fraction], ...]:
    """D, γ and ε in every region of Proposition 2: below, at, above and between all kinks γ(2m − 1).

    A δ that is smaller than the terms which cancel at a kink by more than e^60 would drown in the precision.
    """
    hair = Fraction(1, 1000)
    return tuple(
        (D, gamma, gamma * share)
        for D, gamma in SMALL
        if gamma * (2 * D - 1) <= 60
        for m in range(1, D + 1)
        for share in (*((2 * m - 1) * (1 + side * hair) for side in (-1, 0, 1)), Fraction(2 * m))
    )


@cache
def _definition(D: int, gamma: Fraction, epsilon: Fraction) -> tuple[Any, Any]:
    """The two divergences of neighbouring counts, as intervals."""
    weights = noise.weights(D, gamma)
    masses, zero = [weight / sum(weights) for weight in weights], enclosed(0)
    growth, pair = enclosed(epsilon).exp(), ([*masses, zero], [zero, *masses])
    forward, backward = (
        sum((p - growth * q).nonnegative_part() for p, q in zip(*pmfs, strict=True))
        for pmfs in (pair, pair[::-1])
    )
    return forward, backward


def closed_form(claim: Claim) -> Cases:
    """The printed δ against the definition: the larger of the two divergences of neighbouring counts."""
    tried = []
    for D, gamma, epsilon in closed_form_cases():
        C = 1 / sum(noise.weights(D, gamma))
        z_star = max(-D, privacy.z_star(Noise(D, gamma), epsilon))
        printed = evaluate(
            claim.printed, C=C, D=D, gamma=enclosed(gamma), eps=enclosed(epsilon), zstar=z_star
        )
        ways = _definition(D, gamma, epsilon)
        tried.append((described(D=D, gamma=gamma, eps=epsilon), all(agree(printed, way) for way in ways)))
    return cases(tried)


def incorporated(claim: Claim) -> Cases:
    """The design's variance lies in the printed range, which ends at the uniform one, and δ(ε) = p(−D)."""
    tried = []
    for D, epsilon in product(SUPPORTS, EPSILONS):
        made = design.proposition_3(epsilon, support=D)
        V = certified.variance(made)
        edge = certified.pmf(made, -D)
        exact = certified.delta(made, epsilon)
        uniform = Fraction(2 * sum(z * z for z in range(D + 1)), 2 * D + 1)
        ends = [evaluate(claim.printed, D=D, V=end) for end in (Fraction(0), uniform)]
        inside = evaluate(claim.printed, D=D, V=enclosed(V)) is True and ends == [False, False]
        tried.append((described(D=D, eps=epsilon), inside and agree(enclosed(edge), enclosed(exact))))
    return cases(tried)


@cache
def _over_best(D: int) -> list[tuple[float, float, Fraction]]:
    """δ of the design, at slack 1/10 and in its limit, over the least δ of any γ, for each ε.

    The least δ is that of a kink of notebook 11; float64 is right to 1e-12 here, and no ratio is as near
    to 2 as that.
    """
    ratios = []
    for epsilon in TENTHS:
        least = float(best_gamma.kinks(epsilon, support=D).min())
        made, limit = (design.proposition_3(epsilon, support=D, slack=slack) for slack in ("0.1", 0))
        ratios.append((made.delta / least, limit.delta / least, epsilon))
    return ratios


def good_delta(claim: Claim) -> Truth:
    """δ of the design is less than the stated multiple of the best δ for the same ε and D."""
    bound = float(Fraction(claim.at["times"]))
    sets = {"D = 11 and 15, as in Figure 2": FIGURE_2, "D up to 100": claim.at["supports"]}
    readings, numbers = {}, {}
    for name, supports in sets.items():
        readings[name] = cases(
            (
                (described(D=D, eps=epsilon), max(made, limit) < bound)
                for D in supports
                for made, limit, epsilon in _over_best(D)
            ),
        )
    for D in {*FIGURE_2, *claim.at["supports"]}:
        numbers[f"D{D}"] = f"{max(made for made, _, _ in _over_best(D)):.3g}"
    return Truth(readings, numbers=numbers)


def variance_matters(claim: Claim) -> Cases:
    """The worst δ among some usual variances over that of the design, at the same ε and D."""
    tried = []
    for D, epsilon in product(FIGURE_2, TENTHS[9::5]):
        made = certified.delta(design.proposition_3(epsilon, support=D), epsilon)
        others = (
            certified.delta(Enclosed(D, _gamma(D, V)), epsilon, digits=10) for V in claim.at["variances"]
        )
        worst = max(other.lower for other in others)
        tried.append(
            (
                described(D=D, eps=epsilon),
                evaluate(claim.printed, worst=enclosed(worst), delta=enclosed(made)) is True,
            )
        )
    return cases(tried)


@cache
def _gamma(D: int, V: int) -> Any:
    return certified.gamma(support=D, variance=V, digits=20)


def bytes_needed(claim: Claim) -> Truth:
    """The bytes of a lookup table: all entries, or all but the last, which is KEYSIZE itself."""
    tables = [point.table for bits in experiment.BITS for point in experiment.points(bits)[:1]]
    tables.append(_example_1())
    readings, numbers = {}, {}
    for name, short, stored in (("all 2D + 1 entries", "all", None), ("without the last entry", "less", -1)):
        sizes = {}
        for table in tables:
            entries = table.cuts[:stored]
            width = -(-max(entries).bit_length() // 8)
            sizes[f"D = {table.support}, KEYSIZE {table.keysize}"] = len(entries) * width
        readings[name] = cases(((case, size <= claim.at["bytes"]) for case, size in sizes.items()))
        numbers[short] = str(sizes[f"D = 25, KEYSIZE {2**32}"])
    return Truth(readings, numbers=numbers)


@cache
def _example_1() -> sampling.LookupTable:
    made = design.guide("0.5", "1e-4")
    return sampling.lookup_table(made, keysize=2**32)


def full_use(claim: Claim) -> Truth:
    """Every value of the noise is given by some key: for the largest keys, and for all sizes studied."""
    tables = {f"Example 1, KEYSIZE {2**32}": _example_1()}
    every = {point.name: point.table for bits in experiment.BITS for point in experiment.points(bits)}
    largest = tables | {point.name: point.table for point in experiment.points(32)}
    return Truth(
        {
            "KEYSIZE 2^32": cases(((name, table.full_support) for name, table in largest.items())),
            "every KEYSIZE studied": cases(
                ((name, table.full_support) for name, table in (tables | every).items())
            ),
        },
        numbers={
            "lost": str(sum(not table.full_support for table in every.values())),
            "total": str(len(every)),
        },
    )


def each_key(claim: Claim) -> Cases:
    """All keys, looked up one by one, give each noise value as often as its quantised mass says."""
    tried = []
    for bits in claim.at["bits"]:
        for point in experiment.points(bits)[:: claim.at["every"]]:
            drawn = sampling.sample(point.table, np.arange(2**bits))
            counts = np.bincount(drawn + experiment.D, minlength=2 * experiment.D + 1)
            tried.append((point.name, counts.tolist() == list(point.table.weights)))
    return cases(tried)


def identical(claim: Claim) -> Truth:
    """ε^Q and δ^Q beside ε and δ, and the table's δ at ε by definition, for the printed tolerance."""
    bits = claim.at["bits"]
    readings = {
        side: cases(experiment.tried(claim.printed, bits, both=both))
        for side, both in experiment.SIDES.items()
    }
    tried = []
    for point in experiment.points(bits):
        names = point.names() | {"epsQ": point.design.epsilon, "deltaQ": max(experiment.true_delta(point))}
        tried.append((point.name, evaluate(claim.printed, **names) is True))
    return Truth(readings | {"δ of the table at ε, by definition": cases(tried)})


def section_of_sampling(claim: Claim) -> str:
    """The section of the ledger's claims about the lookup table of Example 2, without its subsection."""
    sections = {other.section.partition("-")[0] for other in load().values() if other.check == "examples.cut"}
    return ", ".join(f"Section {section}" for section in sorted(sections))


def achieved(claim: Claim) -> Truth:
    """The designed pair is had for the largest keys and for no smaller ones: closely, or never exceeded."""
    readings = {}
    for name, formula in (("within 1 %", claim.at["close"]), ("never exceeded", claim.at["within"])):
        readings[name] = cases(
            (
                (
                    f"KEYSIZE 2^{bits}",
                    (not cases(experiment.tried(formula, bits, both=True)).failures)
                    is (bits == claim.at["bits"]),
                )
                for bits in experiment.BITS
            ),
        )
    return Truth(readings, numbers=experiment.extremes(32))
