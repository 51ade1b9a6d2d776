"""Section III-C: the range of γ with z* = −D, Proposition 3, and what Figure 2 shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise, product
from typing import Any, NamedTuple

from compendium.ledger.checks.privacy import UNIT, World, delta_at, trend
from compendium.ledger.claims import Claim
from compendium.ledger.formulas import (
    EPSILONS,
    GAMMAS,
    SUPPORTS,
    Case,
    Cases,
    by_cases,
    cases,
    described,
    enclosed,
    evaluate,
    holds_between,
    less,
    worded,
)
from compendium.ledger.verdicts import Level, Truth
from tablebuilder_dp import certified, design
from tablebuilder_dp.beyond import best_gamma
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support.intervals import Enclosure

NEAR_RANGE = tuple(
    World(Fraction(1001, 1000), D, 20 * (2 * D - 1) + shift, 20 * (4 * D * D - 1))
    for D in (1, 2, 3)
    for shift in (-15, -1, 0, 1, 10, 20, 36, 39, 40, 41, 55)
)
"""Worlds whose γ runs through the range of (23), both of its ends, and beyond: it is 40 units long."""

HAIR = Fraction(1, 10**6)
RATIONAL = tuple(
    (D, eps, eps * share)
    for D, eps in product(SUPPORTS, EPSILONS[::3])
    for share in (
        Fraction(1, 2 * D + 1),
        Fraction(1, 2 * D - 1),
        *(Fraction(k, 5 * (4 * D * D - 1)) for k in range(10 * D - 7, 10 * D + 8, 2)),
        *(Fraction(1, k) for k in (1, 2, 5, 9, 100)),
        *(Fraction(1, 2 * D + end) * (1 + side * HAIR) for end in (-1, 1) for side in (-1, 1)),
    )
)
"""D, ε and γ at both ends of that range, close to them and far away."""


def _is_edge(D: int, eps: Fraction, gamma: Fraction) -> bool:
    """Whether z* = −D."""
    return math.floor(Fraction(1, 2) - eps / (2 * gamma)) == -D


def _quantity(name: str, D: int, gamma: Any) -> Any:
    """V, C or δ = Ce^(−γD²) as an interval."""
    weights = [(-z * z * gamma).exp() for z in range(D + 1)]
    total = 2 * sum(weights) - 1
    if name == "V":
        return 2 * sum(z * z * weight for z, weight in enumerate(weights)) / total
    return (weights[D] if name == "delta" else 1) / total


def _iotas(D: int, eps: Fraction) -> list[Fraction]:
    """Values of ι through its domain, at its ends and outside."""
    length = 2 * eps / (4 * D * D - 1)
    return [
        length * share / 10
        for share in (-20, -11, -10 - HAIR, -10, -10 + HAIR, -9, -5, -1, -HAIR, 0, HAIR, 1, 5)
    ]


# --- the range of γ ---------------------------------------------------------------------------


def floor_bounds(claim: Claim) -> Cases:
    """The printed bounds hold for the floor of u, and for no other whole number in its place."""

    def of_u(value: Fraction, *, u: Fraction, whole: int) -> int:
        if value != u:
            raise LookupError("the bounds are about the floor of u")
        return whole

    return cases(
        (
            f"u = {u}, {whole} for its floor",
            evaluate(claim.judged, u=u, floor=partial(of_u, u=u, whole=whole)) is (whole == math.floor(u)),
        )
        for u in (Fraction(k, 6) for k in range(-14, 15))
        for whole in range(math.floor(u) - 2, math.floor(u) + 3)
    )


def edge_range(claim: Claim) -> Cases:
    """The printed relation holds exactly where z* = −D."""
    return cases(
        (
            described(D=D, eps=eps, gamma=gamma),
            evaluate(claim.judged, D=D, eps=eps, gamma=gamma) is _is_edge(D, eps, gamma),
        )
        for D, eps, gamma in RATIONAL
    )


def iota_domain(claim: Claim) -> Cases:
    """The printed domain of ι is where γ = ε/(2D − 1) + ι gives z* = −D."""
    return cases(
        (
            described(D=D, eps=eps, iota=iota),
            evaluate(claim.judged, D=D, eps=eps, iota=iota) is _is_edge(D, eps, eps / (2 * D - 1) + iota),
        )
        for D, eps in product(SUPPORTS, EPSILONS[::3])
        for iota in _iotas(D, eps)
        if eps / (2 * D - 1) + iota > 0
    )


def identity(claim: Claim) -> Cases:
    """The printed identity for the length of the range of γ, with its sign: both sides, exactly."""
    return cases(
        (described(D=D, eps=eps), holds_between(claim.judged, [length, length], D=D, eps=eps))
        for D, eps in product(SUPPORTS, EPSILONS)
        for length in [-(eps / (2 * D - 1) - eps / (2 * D + 1))]
    )


@by_cases
def affine(claim: Claim) -> Iterator[Case]:
    """The printed f is the straight line Σ z²x^(z²) − V·Σ x^(z²) in V; for D > 1 it is none in x."""
    for D, x in product((1, 2, 3, 7), (Fraction(1, 3), Fraction(4, 5), Fraction(1))):
        powers = {z: x ** (z * z) for z in range(-D, D + 1)}
        start, slope = sum(z * z * power for z, power in powers.items()), -sum(powers.values())
        is_line = all(evaluate(claim.judged, D=D, V=V, x=x) == start + slope * V for V in (1, 2, 7))
        first, second, third = (evaluate(claim.judged, D=D, V=1, x=x + Fraction(k, 9)) for k in (0, 1, 2))
        yield described(D=D, x=x), (is_line and (second - first == third - second) is (D == 1))


def direction(claim: Claim) -> str:
    """How V, C or δ = Ce^(−γD²) runs with γ, or with x = e^−γ."""
    words = set()
    for D in SUPPORTS:
        values = []
        for gamma in GAMMAS if claim.at["with"] == "gamma" else GAMMAS[::-1]:
            values.append(_quantity(claim.at["of"], D, enclosed(gamma)))
        words.add(trend(values))
    return words.pop() if len(words) == 1 else "not monotone"


@by_cases
def range_of(claim: Claim) -> Iterator[Case]:
    """The printed range of V, C or δ holds exactly for the γ of (23): tried at both ends and beyond."""
    for world in NEAR_RANGE:
        values = {
            "V": sum(z * z * mass for z, mass in world.masses.items()),
            "C": world.p(0),
            "delta": world.p(-world.D),
        }
        inside = _is_edge(world.D, Fraction(world.eps), Fraction(world.gamma))
        yield str(world), (world.evaluate(claim.judged, **values) is inside)


def variance_formula(claim: Claim) -> Cases:
    """The printed V(γ) is the second moment of the noise."""
    return cases(
        (
            str(world),
            world.evaluate(claim.judged) == sum(z * z * mass for z, mass in world.masses.items()),
        )
        for world in NEAR_RANGE
    )


def delta_at_edge(claim: Claim) -> Cases:
    """The printed δ is the least that the definition allows wherever z* = −D."""
    return cases(
        (str(world), world.evaluate(claim.judged) == world.delta)
        for world in NEAR_RANGE
        if _is_edge(world.D, Fraction(world.eps), Fraction(world.gamma))
    )


@by_cases
def limit_from_above(claim: Claim) -> Iterator[Case]:
    """V or δ at γ = ε/(2D − 1) + ι comes down to the printed limit as ι rises to 0."""
    for D, eps in product((1, 2, 4, 11), EPSILONS):
        limit = evaluate(claim.judged, D=D, eps=enclosed(eps))
        distances = []
        for power in (1, 10, 20, 30):
            rate = enclosed(eps / (2 * D - 1) - 2 * eps / (4 * D * D - 1) / 10**power)
            distances.append(_quantity(claim.at["of"], D, rate) / limit - 1)
        falls = all(less(later * 10**8, earlier) for earlier, later in pairwise(distances))
        yield described(D=D, eps=eps), (falls and less(enclosed(0), distances[-1]))


def limit_of_rate(claim: Claim) -> Cases:
    """γ = ε/(2D − 1) + ι is below the printed limit by just −ι, for ι as small as one likes."""
    return cases(
        (
            described(D=D, eps=eps, iota=iota),
            evaluate(claim.judged, D=D, eps=eps) - (eps / (2 * D - 1) + iota) == -iota,
        )
        for D, eps in product(SUPPORTS, EPSILONS)
        for iota in (-2 * eps / (4 * D * D - 1) / 10**power for power in (0, 1, 10, 30))
    )


@by_cases
def limit_attained(claim: Claim) -> Iterator[Case]:
    """The printed V or δ is what γ = ε/(2D − 1) itself has: the variance, or the least δ by definition."""
    for world in NEAR_RANGE:
        if world.gamma * (2 * world.D - 1) == world.eps:
            second = sum(z * z * mass for z, mass in world.masses.items())
            true = second if claim.at["of"] == "V" else world.delta
            yield str(world), (world.evaluate(claim.judged) == true)


@by_cases
def first_case_best(claim: Claim) -> Iterator[Case]:
    """The printed δ is below that of every γ with z* ≤ −D, and is what γ = ε/(2D − 1) itself has."""
    for world in NEAR_RANGE:
        bound = world.evaluate(claim.judged)
        if world.gamma * (2 * world.D - 1) <= world.eps:
            is_end = world.gamma * (2 * world.D - 1) == world.eps
            yield str(world), (bound == world.delta if is_end else bound < world.delta)


def without_plateau(claim: Claim) -> Truth:
    """Whether δ falls with ε once z* = −D: for a fixed share of ι's domain, and for any γ in the range."""
    shares, vanishes, free = [], [], []
    for D in (1, 2, 4, 11):
        for share in (Fraction(0), Fraction(1, 10), Fraction(1)):
            values = [_edge_mass(D, _rate(D, eps, share)) for eps in EPSILONS]
            shares.append((f"D = {D}, share {share}", trend(values) == "decreasing"))
        top = 200 + 50 * D  # at the range's lower end, where δ is largest
        vanishes.append(
            (f"D = {D}", less(_edge_mass(D, Fraction(top, 2 * D + 1)), enclosed(Fraction(1, 10**12))))
        )
        gamma = Fraction(1, 2 * D)
        levels = [gamma * (2 * D + Fraction(k, 4)) for k in (-2, 0, 2)]  # one γ in the range of all three
        kept = all(_is_edge(D, eps, gamma) for eps in levels)
        values = [delta_at(enclosed(eps), D, enclosed(gamma)) for eps in levels]
        free.append((f"D = {D}, gamma = {gamma}", not kept or trend(values) == "decreasing"))
    return Truth(
        {
            name: cases(tried, word="no plateau", instead="a plateau")
            for name, tried in (
                ("ι a fixed share of its domain, as in all examples: δ falls strictly", shares),
                ("any γ in the range: δ still tends to 0", vanishes),
                ("any γ in the range: δ falls strictly", free),
            )
        }
    )


def _rate(D: int, eps: Fraction, share: Fraction) -> Fraction:
    """γ = ε/(2D − 1) + ι, with −ι the given share of its largest value."""
    return eps / (2 * D - 1) - share * 2 * eps / (4 * D * D - 1)


def _edge_mass(D: int, gamma: Fraction) -> Any:
    """p(−D) as an interval."""
    return _quantity("delta", D, enclosed(gamma))


# --- Proposition 3 ----------------------------------------------------------------------------


def _designs() -> list[tuple[World, int]]:
    """The noise that z* = −D asks for, with its ι, throughout ι's domain."""
    pairs = []
    for world in NEAR_RANGE:
        iota = world.gamma - world.eps // (2 * world.D - 1)
        if -40 <= iota < 0:
            pairs.append((world, iota))
    return pairs


def proposition_3_pmf(claim: Claim) -> Cases:
    """The printed pmf is the noise of γ = ε/(2D − 1) + ι, which lies in the range (23)."""
    return cases(
        (
            f"{world}, -iota = {-iota}/40 of its largest value",
            all(
                world.evaluate(claim.judged, z=z, iota=iota * UNIT) == mass
                for z, mass in world.masses.items()
            ),
        )
        for world, iota in _designs()
    )


def proposition_3_value(claim: Claim) -> Truth:
    """The printed V or δ of that noise: its variance, or the least δ that the definition allows."""
    tried = []
    for world, iota in _designs():
        second = sum(z * z * mass for z, mass in world.masses.items())
        true = second if claim.at["of"] == "V" else world.delta
        tried.append(
            (
                f"{world}, -iota = {-iota}/40 of its largest value",
                world.evaluate(claim.judged, iota=iota * UNIT) == true,
            )
        )
    return Truth({"": cases(tried)}, numbers=_example_signs())


def proposition_3_holds(claim: Claim) -> Truth:
    """The noise with the printed γ has z* = −D and δ(ε) = p(−D), by the definition of privacy."""
    tried = []
    for world, iota in _designs():
        gamma = world.evaluate(claim.judged, iota=iota * UNIT) / UNIT
        if gamma.denominator > 1:
            raise ArithmeticError(f"γ = {gamma} units is out of reach in a world of fractions")
        noise = World(world.base, world.D, int(gamma), world.eps)
        edge = _is_edge(noise.D, Fraction(noise.eps), Fraction(noise.gamma))
        tried.append(
            (f"{world}, -iota = {-iota}/40 of its largest value", edge and noise.delta == noise.p(-noise.D))
        )
    return Truth({"": cases(tried)}, numbers=_example_signs())


@cache
def _example_signs() -> dict[str, str]:
    """Example 1 with either sign of ι: p(−D), V and the true δ."""
    numbers: dict[str, str] = {}
    for name, sign in (("minus", 1), ("plus", -1)):
        gamma = Fraction(1, 98) + sign * Fraction(1, 24990)
        noise = Noise(25, gamma)
        numbers |= {
            f"{name}_edge": certified.pmf(noise, -25).digits(4),
            f"{name}_delta": certified.delta(noise, "0.5").digits(4),
            f"{name}_V": certified.variance(noise).digits(4),
        }
    level, wanted = Fraction(3), Fraction(1, 10**6)
    for D in range(1, 100):  # the search with the printed sign
        noise = Noise(D, level / (2 * D - 1) + 2 * level / (10 * (4 * D * D - 1)))
        if certified.pmf(noise, -D).upper <= wanted:
            break
    return numbers | {"literal_D": str(D), "literal_delta": certified.delta(noise, level).digits(4)}


@worded("not the least δ", "the least δ")
def beaten(claim: Claim) -> Iterator[Case]:
    """For ε ≤ ln(D/3) a γ slightly above the range has a smaller δ than the range's best, its upper end."""
    for D, share in product((4, 5, 7, 11, 15, 25, 40), (Fraction(1, 10), Fraction(1, 2), Fraction(1))):
        eps = share * Fraction(math.log(D / 3))  # float64, a hair off: the bound is not sharp
        end = eps / (2 * D - 1)
        best, above = (
            delta_at(enclosed(eps), D, enclosed(end * factor)) for factor in (1, Fraction(1001, 1000))
        )
        yield described(D=D, eps=eps), (less(above, best))


# --- Figure 2 ---------------------------------------------------------------------------------


def limit_curve(D: int, eps: Fraction) -> Any:
    """The δ of (29) as an interval."""
    return _edge_mass(D, eps / (2 * D - 1))


def wider(claim: Claim) -> str:
    """How the δ of (29) runs as D grows, for every ε of a wide grid."""
    words = {trend([limit_curve(D, eps) for D in (1, 2, 3, 4, 7, 11, 15, 16, 25)]) for eps in EPSILONS}
    return words.pop() if len(words) == 1 else "not monotone"


def falls_with_epsilon(claim: Claim) -> str:
    """How the V of (28) or the δ of (29) runs as ε grows, for the supports of the figure."""
    levels = [Fraction(k, 10) for k in range(1, 26)]
    words = set()
    for D in (11, 15):
        if claim.at["of"] == "V":
            words.add(trend([_quantity("V", D, enclosed(eps / (2 * D - 1))) for eps in levels]))
        else:
            words.add(trend([limit_curve(D, eps) for eps in levels]))
    return words.pop() if len(words) == 1 else "not monotone"


class Gap(NamedTuple):
    """The δ of (29) beside the grid's best, at one ε."""

    eps: Fraction
    formula: Enclosure
    grid: Enclosure

    @property
    def ratio(self) -> float:
        """How many times the grid's δ the formula's is."""
        return float(self.formula) / float(self.grid)


LEVELS = tuple(Fraction(k, 20) for k in range(1, 51))
"""ε = 0.05, 0.10, …, 2.5."""


GRID = tuple(float(gamma) for gamma in design.PAPER_GRID)


@cache
def gaps(D: int, levels: tuple[Fraction, ...] = LEVELS) -> tuple[Gap, ...]:
    """Figure 2a: float64 proposes the grid's best γ, and both δ are then enclosed."""
    rows = []
    for eps in levels:
        best = Fraction(str(design.best_delta_on_grid(eps, support=D, gammas=GRID).gamma))
        formula = certified.pmf(Noise(D, eps / (2 * D - 1)), -D)
        rows.append(Gap(eps, formula, certified.delta(Noise(D, best), eps)))
    return tuple(rows)


def _ratio(above: Enclosure, below: Enclosure) -> Enclosure:
    return Enclosure(above.lower / below.upper, above.upper / below.lower)


def _most(rows: Iterable[Gap]) -> Enclosure:
    """The largest multiple of the grid's δ that the formula's is."""
    return max((_ratio(gap.formula, gap.grid) for gap in rows), key=lambda ratio: ratio.lower)


def _largest(D: int) -> dict[str, str]:
    worst, least = max(gaps(D), key=lambda gap: gap.ratio), min(gaps(D), key=lambda gap: gap.ratio)
    return {
        f"most{D}": f"{worst.ratio:.2f}",
        f"at{D}": f"{float(worst.eps):.2f}",
        f"least{D}": f"{least.ratio:.4f}",
        f"least_at{D}": f"{float(least.eps):.2f}",
    }


def gap_is_small(claim: Claim) -> Truth:
    """Each threshold of ``within`` as a reading of "small", for the supports of the figure."""
    return Truth(
        {
            name: Level(_most([*gaps(11), *gaps(15)]), limits=("1", limit))
            for name, limit in claim.at["within"].items()
        },
        numbers=_largest(11) | _largest(15),
    )


def gap_closes(claim: Claim) -> Level:
    """The smallest multiple of the grid's δ that the formula's is, over both supports of the figure."""
    ratios = (_ratio(gap.formula, gap.grid) for D in (11, 15) for gap in gaps(D))
    return Level(min(ratios, key=lambda ratio: ratio.upper))


def grid_is_best(claim: Claim) -> Truth:
    """Whether some γ off the grid has a smaller δ: the best of all is one of the kinks ε/(2m − 1)."""
    excess: dict[int, list[Enclosure]] = {}
    numbers: dict[str, str] = {"levels": str(len(LEVELS))}
    for D in (11, 15):
        best = [certified.delta(best_gamma.best(gap.eps, support=D), gap.eps) for gap in gaps(D)]
        ratios = [_ratio(gap.grid, least) for gap, least in zip(gaps(D), best, strict=True)]
        excess[D] = [Enclosure(ratio.lower - 1, ratio.upper - 1) for ratio in ratios]
        numbers |= _largest(D) | {
            f"better{D}": str(sum(gap.formula.upper < gap.grid.lower for gap in gaps(D))),
            f"cost{D}": f"{100 * max(float(value) for value in excess[D]):.2f}%",
            f"bound{D}": f"{100 * math.expm1(D * D * 1e-4):.1f}%",
        }
    both = [*excess[11], *excess[15]]
    numbers |= {"missed": str(sum(value.lower > 0 for value in both)), "pairs": str(len(both))}
    most = max(both, key=lambda value: value.lower)
    return Truth(
        {
            "no γ at all does better": Level(most, "%", limits=("0",)),
            "to within what a picture shows": Level(most, "%", limits=(claim.at["within"],)),
        },
        numbers=numbers,
    )


def good_strategy(claim: Claim) -> Truth:
    """The factor of ``within`` for the supports of the figure, and for wider ones."""
    wide = {D: gaps(D, (Fraction(claim.at["eps"]),)) for D in claim.at["wider"]}
    return Truth(
        {
            "D = 11 and 15, as drawn": Level(_most([*gaps(11), *gaps(15)])),
            "wider supports": Level(_most([gap for rows in wide.values() for gap in rows])),
        },
        numbers=_largest(11)
        | _largest(15)
        | {f"wide{D}": f"{rows[0].ratio:.2f}" for D, rows in wide.items()},
    )
