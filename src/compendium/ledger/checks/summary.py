"""The abstract, Section I and Section VI: what the paper says of itself, held against its own sections."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from compendium.ledger import source
from compendium.ledger.checks import experiment, noise
from compendium.ledger.claims import Claim, ends
from compendium.ledger.formulas import (
    EPSILONS,
    NOISES,
    SUPPORTS,
    Case,
    agree,
    by_cases,
    cases,
    described,
    enclosed,
    evaluate,
    less,
    worded,
)
from compendium.ledger.verdicts import Answer, Level, Truth
from tablebuilder_dp import certified, design, privacy, sampling
from tablebuilder_dp.beyond import best_gamma
from tablebuilder_dp.certified import Enclosed
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support.intervals import Enclosure, enclosure

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


@by_cases
def closed_form(claim: Claim) -> Iterator[Case]:
    """The printed δ against the definition: the larger of the two divergences of neighbouring counts."""
    for D, gamma, epsilon in closed_form_cases():
        C = 1 / sum(noise.weights(D, gamma))
        z_star = max(-D, privacy.z_star(Noise(D, gamma), epsilon))
        printed = evaluate(claim.judged, C=C, D=D, gamma=enclosed(gamma), eps=enclosed(epsilon), zstar=z_star)
        ways = _definition(D, gamma, epsilon)
        yield described(D=D, gamma=gamma, eps=epsilon), (all(agree(printed, way) for way in ways))


def incorporated(claim: Claim) -> Truth:
    """Whether ε fixes the variance of the entropy problem, and whether (ε, δ) are among its constraints.

    The design's V lies in the range of Proposition 1 and its δ(ε) is p(−D). Were entropy maximised under
    (ε, δ), no γ of the range with at most the wanted δ could have more entropy than the one that is taken.
    """
    fixed, largest = [], []
    for D, epsilon in product(SUPPORTS, EPSILONS):
        made = design.proposition_3(epsilon, support=D)
        V, edge, exact = certified.variance(made), certified.pmf(made, -D), certified.delta(made, epsilon)
        is_inside = V.lower > 0 and V.upper < Fraction(D * (D + 1), 3)
        fixed.append((described(D=D, eps=epsilon), is_inside and agree(enclosed(edge), enclosed(exact))))
    for epsilon, wanted in product(EPSILONS[2:6], (Fraction(1, 100), Fraction(1, 10**4))):
        made = design.guide(epsilon, wanted)
        lower = made.gamma - (made.gamma - epsilon / (2 * made.support + 1)) / 1000
        other = Noise(made.support, lower)
        has_more = certified.entropy(other).lower > certified.entropy(made).upper
        allowed = certified.delta(other, epsilon).upper <= wanted
        largest.append((described(eps=epsilon, delta=wanted), not (has_more and allowed)))
    return Truth(
        {
            "ε and D fix the variance of the entropy problem": cases(
                fixed, word="incorporated", instead="not incorporated"
            ),
            "entropy is maximised under (ε, δ)": cases(
                largest, word="incorporated", instead="not incorporated"
            ),
        }
    )


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
    """The largest multiple of the best δ for the same ε and D that the design's δ is."""
    sets = {"D = 11 and 15, as in Figure 2": FIGURE_2, "D up to 100": claim.at["supports"]}
    most = {D: max(made for made, _, _ in _over_best(D)) for D in {*FIGURE_2, *claim.at["supports"]}}
    return Truth(
        {
            name: Level(Fraction(max(max(pair[:2]) for D in supports for pair in _over_best(D))))
            for name, supports in sets.items()
        },
        numbers={f"D{D}": f"{ratio:.3g}" for D, ratio in most.items()},
    )


def variance_matters(claim: Claim) -> Level:
    """The largest factor that one of the usual variances costs in δ, over all ε, against the design."""
    factors = []
    for D, epsilon in product(FIGURE_2, TENTHS):
        made = certified.delta(design.proposition_3(epsilon, support=D), epsilon)
        for V in claim.at["variances"]:
            other = certified.delta(Enclosed(D, _gamma(D, V)), epsilon, digits=10)
            factors.append(Enclosure(other.lower / made.upper, other.upper / made.lower))
    return Level(max(factors, key=lambda factor: factor.lower))


@cache
def _gamma(D: int, V: int) -> Any:
    return certified.gamma(support=D, variance=V, digits=20)


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
            name: cases(
                ((case, table.full_support) for case, table in chosen.items()),
                whole=True,
                word="full use",
                instead="not full use",
            )
            for name, chosen in (("KEYSIZE 2^32", largest), ("every KEYSIZE studied", tables | every))
        },
        numbers={
            "lost": str(sum(not table.full_support for table in every.values())),
            "total": str(len(every)),
        },
    )


@worded("each key", "not each key")
def each_key(claim: Claim) -> Iterator[Case]:
    """All keys, looked up one by one, give each noise value as often as its quantised mass says."""
    for bits in claim.at["bits"]:
        for point in experiment.points(bits)[:: claim.at["every"]]:
            drawn = sampling.sample(point.table, np.arange(2**bits))
            counts = np.bincount(drawn + experiment.D, minlength=2 * experiment.D + 1)
            yield point.name, (counts.tolist() == list(point.table.weights))


def identical(claim: Claim) -> Truth:
    """The largest distance of (ε^Q, δ^Q) from (ε, δ), one way and both ways; and of the table's δ at ε."""
    bits = claim.at["bits"]
    readings: dict[str, Answer] = {
        side: Level(experiment.deviation(bits, "pair", both=both), "%", whole=True)
        for side, both in experiment.SIDES.items()
    }
    at_epsilon = [
        enclosure(abs(enclosed(max(experiment.true_delta(point))) / enclosed(point.delta) - 1))
        for point in experiment.points(bits)
    ]
    readings["δ of the table at ε, by definition"] = Level(
        max(at_epsilon, key=lambda far: far.lower), "%", whole=True
    )
    return Truth(readings)


def section_of_sampling(claim: Claim) -> str:
    """The section that holds the equations of quantising and sampling, by the contents of the source."""
    sections = {source.section_of(equation).partition("-")[0] for equation in claim.at["equations"]}
    return ", ".join(f"Section {section}" for section in sorted(sections))


def roadmap(claim: Claim) -> str:
    """The sections of the entropy problem, of the noise, of the experiments and of the conclusion."""
    by_title = {section.title: section.name for section in source.contents()}
    named = [
        *(source.section_of(n) for n in claim.at["equations"]),
        *(by_title[title] for title in claim.at["titles"]),
    ]
    return ", ".join(name.partition("-")[0] for name in named)


def achieved(claim: Claim) -> Truth:
    """The designed pair is had for the largest keys and for no smaller ones: closely, or never exceeded."""
    bits = claim.at["bits"]
    others = [experiment.deviation(other, "pair", both=True) for other in experiment.BITS if other != bits]
    kept = [
        (
            point.name,
            not less(point.design.epsilon, point.epsilon(both=True))
            and point.after.delta <= point.delta.lower,
        )
        for point in experiment.points(bits)
    ]
    return Truth(
        {
            "within the limit": Level(
                experiment.deviation(bits, "pair", both=True),
                "%",
                whole=True,
                until=min(others, key=lambda far: ends(far)[0]),
            ),
            "never exceeded": cases(kept, whole=True, word=claim.scale[0], instead=claim.scale[-1]),
        },
        numbers=experiment.extremes(32),
    )
