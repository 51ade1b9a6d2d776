"""Section III-B: E*, Proposition 2, and what Figure 1 shows.

Most statements are tried on small worlds in which e is replaced by a rational base, so that every
probability, every e^ε and every tie is an exact fraction, and where δ and E* come from a search
through all events.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise, product
from typing import Any

from compendium.ledger.claims import Claim
from compendium.ledger.formulas import (
    GAMMAS,
    SUPPORTS,
    Cases,
    agree,
    cases,
    described,
    enclosed,
    evaluate,
    less,
)
from compendium.ledger.verdicts import Truth
from tablebuilder_dp import certified
from tablebuilder_dp.certified import Enclosed
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support.intervals import Enclosure, enclosure

NEARLY_ZERO = Fraction(1, 10**400)
"""Stands for p = 0 below a fraction bar: the ratio then exceeds every e^ε in question."""


@dataclass(frozen=True)
class World:
    """A noise and an ε whose γ and ε are whole multiples of ln(base)."""

    base: Fraction
    D: int
    gamma: int
    eps: int

    def __str__(self) -> str:
        unit = math.log(self.base)
        return f"D = {self.D}, gamma = {self.gamma * unit:.6g}, eps = {self.eps * unit:.6g}"

    @cached_property
    def masses(self) -> dict[int, Fraction]:
        """p(−D), …, p(D)."""
        weights = {z: self.base ** -(self.gamma * z * z) for z in range(-self.D, self.D + 1)}
        total = sum(weights.values())
        return {z: weight / total for z, weight in weights.items()}

    def p(self, z: Fraction | int) -> Fraction:
        """The probability of z, zero outside the support."""
        return self.masses.get(int(z), Fraction(0))

    def gains(self, shift: int = -1) -> dict[int, Fraction]:
        """What each output adds to P[M(x) ∈ E] − e^ε·P[M(x′) ∈ E]; shift −1 has the larger count in x′."""
        growth, low = self.base**self.eps, -self.D - (shift > 0)
        return {z: self.p(z) - growth * self.p(z + shift) for z in range(low, self.D + 1 + (shift < 0))}

    @cached_property
    def delta(self) -> Fraction:
        """The least δ that the definition of privacy allows: over all events, in both directions."""
        return max(_worst_event(self.gains(shift))[0] for shift in (-1, 1))

    @cached_property
    def e_star(self) -> frozenset[int]:
        """The smallest event that is worst."""
        return frozenset(_worst_event(self.gains())[1])

    @property
    def outputs(self) -> range:
        """[−D, D + 1], the outputs of two neighbouring counts."""
        return range(-self.D, self.D + 2)

    @property
    def threshold(self) -> Fraction:
        """1/2 − ε/(2γ)."""
        return Fraction(self.gamma - self.eps, 2 * self.gamma)

    def evaluate(self, formula: str, **more: Any) -> Any:
        """A printed formula in this world, exactly."""
        names: dict[str, Any] = {"D": self.D, "gamma": self.gamma, "eps": self.eps, "C": self.p(0)}
        names |= {"p": self.p, "exp": lambda power: self.base ** int(power)}
        return evaluate(formula, **names | more)

    def along(self, formula: str, low: int, high: int, **more: Any) -> dict[int, Any]:
        """A printed formula for each z of [low, high], read once for all of them."""
        values = self.evaluate(f"[({formula}) for z in range(low, end)]", low=low, end=high + 1, **more)
        return dict(zip(range(low, high + 1), values, strict=True))

    def set_of(self, relation: str, **more: Any) -> frozenset[int]:
        """The outputs z for which a printed relation holds."""
        answers = self.along(relation, -self.D, self.D + 1, **more)
        return frozenset(z for z, holds in answers.items() if holds)


def _worst_event(gains: Mapping[int, Fraction]) -> tuple[Fraction, tuple[int, ...]]:
    """The largest sum over an event, and the smallest event with that sum, from all 2^(2D+2) events."""
    scale = math.lcm(*(gain.denominator for gain in gains.values()))
    events: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    for z, gain in gains.items():
        step = int(gain * scale)
        events += [(total + step, (*event, z)) for total, event in events]
    total, event = max(events, key=lambda candidate: (candidate[0], -len(candidate[1])))
    return Fraction(total, scale), event


BASES = (Fraction(11, 10), Fraction(3, 2), Fraction(4))
WORLDS = (
    *(
        World(BASES[(eps + gamma) % 3], D, gamma, eps)
        for D, gamma in ((1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (3, 3), (4, 3))
        for eps in range(1, gamma * (2 * D + 1) + 2)  # through all kinks and on to the plateau
    ),
    *(  # close to the kinks, to tell a constant from one that is almost right
        World(Fraction(101, 100), D, 60, 60 * (2 * kink - 1) + shift)
        for D in (1, 2, 3)
        for kink in range(1, D + 1)
        for shift in (-1, 0, 1)
    ),
)


def _in_worlds(results: Iterable[tuple[World, bool]]) -> Cases:
    return cases((str(world), holds) for world, holds in results)


# --- the definition and E* -------------------------------------------------------------------


def gammas_per_variance(claim: Claim) -> int:
    """How many γ one variance can have: the sign changes of f, which bound and here give its roots."""
    counts = set()
    for D in range(1, 41):
        for k in range(1, 16):
            V = Fraction(k * D * (D + 1), 3 * 16)
            signs = [-1, *((z * z > V) - (z * z < V) for z in range(1, D + 1))]
            signs = [sign for sign in signs if sign]
            counts.add(sum(earlier != later for earlier, later in pairwise(signs)))
    return max(counts) if len(counts) == 1 else -1


def delta_definition(claim: Claim) -> Cases:
    """The printed terms, summed over E*, give the largest excess over all events, in both directions."""
    tried = []
    for world in WORLDS:
        terms = world.along(claim.printed, -world.D, world.D + 1)
        tried.append((world, sum(terms[z] for z in world.e_star) == world.delta))
    return _in_worlds(tried)


def e_star_definition(claim: Claim) -> Cases:
    """The printed relation describes the smallest worst event."""

    def p(world: World) -> Callable[[Fraction], Fraction]:
        return lambda z: world.p(z) or NEARLY_ZERO

    return _in_worlds((world, world.set_of(claim.printed, p=p(world)) == world.e_star) for world in WORLDS)


def positive_rate(claim: Claim) -> Cases:
    """The printed relation for the variance holds exactly where γ > 0."""
    tried = []
    for D, size, sign in product(SUPPORTS[:6], (gamma for gamma in GAMMAS if gamma < 1), (1, -1)):
        masses = [(-z * z * enclosed(sign * size)).exp() for z in range(D + 1)]
        V: Any = 2 * sum(z * z * mass for z, mass in enumerate(masses)) / (2 * sum(masses) - 1)
        tried.append((described(D=D, gamma=sign * size), evaluate(claim.printed, D=D, V=V) is (sign > 0)))
    for D in SUPPORTS:  # γ = 0, the uniform pmf
        V = Fraction(2 * sum(z * z for z in range(D + 1)), 2 * D + 1)
        tried.append((described(D=D, gamma=0), evaluate(claim.printed, D=D, V=V) is False))
    return cases(tried)


def one_direction(claim: Claim) -> Cases:
    """For noise of the printed shape, x against x′ and x′ against x give the same δ."""
    tried = []
    for world in WORLDS:
        weights = world.along(claim.printed, -world.D, world.D)
        growth = world.base**world.eps
        ways = [
            sum(
                max(weights.get(z, Fraction(0)) - growth * weights.get(z + shift, Fraction(0)), Fraction(0))
                for z in range(-world.D - 1, world.D + 2)
            )
            for shift in (-1, 1)
        ]
        tried.append((world, ways[0] == ways[1]))
    return _in_worlds(tried)


def zero_over_zero(claim: Claim) -> Cases:
    """With the printed value for 0/0, E* stays the same however far the outputs are made to range."""
    tried = []
    for world in WORLDS:
        growth, event = world.base**world.eps, set()
        for z in range(-world.D - 3, world.D + 5):
            above, below = world.p(z), world.p(z - 1)
            ratio = above / (below or NEARLY_ZERO) if above or below else evaluate(claim.printed)
            event |= {z} if ratio > growth else set()
        tried.append((world, event == world.e_star))
    return _in_worlds(tried)


def always_member(claim: Claim) -> Cases:
    """The printed z is in every E*; its p is not zero, and that of z − 1 is."""
    tried = []
    for world in WORLDS:
        z = int(world.evaluate(claim.printed))
        tried.append((world, z in world.e_star and world.p(z) > 0 and world.p(z - 1) == 0))
    return _in_worlds(tried)


def on_every_world(claim: Claim) -> Cases:
    """A printed relation between δ, p, z* and the parameters."""
    return _in_worlds((world, world.evaluate(claim.printed, delta=world.delta) is True) for world in WORLDS)


def describes_e_star(claim: Claim) -> Cases:
    """The outputs with the printed property are E*, wherever ``when`` (if given) holds."""
    return _in_worlds(
        (world, world.set_of(claim.printed) == world.e_star)
        for world in WORLDS
        if world.evaluate(claim.at.get("when", "0 < eps"))
    )


def same_as_before(claim: Claim) -> Cases:
    """The printed relation holds for the same z as the one on the line above."""
    return _in_worlds(
        (world, world.set_of(claim.printed) == world.set_of(claim.at["above"])) for world in WORLDS
    )


def never_members(claim: Claim) -> Cases:
    """No z with the printed property is in E*, and every other z is in some E*."""
    tried = [(world, not world.set_of(claim.printed) & world.e_star) for world in WORLDS]
    for D in {world.D for world in WORLDS}:
        same = [world for world in WORLDS if world.D == D]
        reached = frozenset().union(*(world.e_star for world in same))
        tried.append((same[0], reached | same[0].set_of(claim.printed) == set(same[0].outputs)))
    return _in_worlds(tried)


def enough_to_check(claim: Claim) -> Cases:
    """All of E* but −D lies in the printed range, and every z of that range is needed for some ε."""
    tried = [(world, world.e_star - {-world.D} <= world.set_of(claim.printed)) for world in WORLDS]
    for D in {world.D for world in WORLDS}:
        same = [world for world in WORLDS if world.D == D]
        reached = frozenset().union(*(world.e_star for world in same)) - {-D}
        tried.append((same[0], reached == same[0].set_of(claim.printed)))
    return _in_worlds(tried)


def describes_f_star(claim: Claim) -> Cases:
    """The outputs with the printed property are E* without −D, wherever ``when`` (if given) holds."""
    return _in_worlds(
        (world, world.set_of(claim.printed) == world.e_star - {-world.D})
        for world in WORLDS
        if world.evaluate(claim.at.get("when", "0 < eps"))
    )


def only_edge(claim: Claim) -> Cases:
    """Under the printed condition E* is {−D}; otherwise it is not, ties aside."""
    return _in_worlds(
        (world, (world.e_star == {-world.D}) is is_met)
        for world, is_met in ((world, world.evaluate(claim.printed)) for world in WORLDS)
        if is_met or world.threshold.denominator > 1
    )


def exactly_when(claim: Claim) -> Cases:
    """Each of the printed relations (joined by "and") holds exactly under the condition ``when``."""
    return _in_worlds(
        (world, bool(world.evaluate(relation)) is bool(world.evaluate(claim.at["when"])))
        for relation in claim.printed.split(" and ")
        for world in WORLDS
    )


def whenever(claim: Claim) -> Cases:
    """The printed relation holds wherever ``when`` does."""
    return _in_worlds(
        (world, world.evaluate(claim.printed) is True) for world in WORLDS if world.evaluate(claim.at["when"])
    )


def one_of(claim: Claim) -> Cases:
    """Of the printed cases (joined by "or") exactly one applies in every world."""
    return _in_worlds(
        (world, [bool(world.evaluate(case)) for case in claim.printed.split(" or ")].count(True) == 1)
        for world in WORLDS
    )


# --- Proposition 2 ----------------------------------------------------------------------------


def closed_form(claim: Claim) -> Cases:
    """The printed δ is the least one that the definition of privacy allows, wherever ``when`` holds."""
    return _in_worlds(
        (world, world.evaluate(claim.printed) == world.delta)
        for world in WORLDS
        if world.evaluate(claim.at["when"])
    )


def few_worlds() -> list[World]:
    """The worlds with the fewest outputs, all of whose events are tried one by one."""
    return [world for world in WORLDS if world.D <= 2]


def guarantee(claim: Claim) -> Cases:
    """The printed inequality for all events and both directions, with the least δ: 0.1 % less will not do."""
    tried = []
    for world in few_worlds():
        stated = world.evaluate(claim.at["delta"])
        pairs = _events(world, -1) | _events(world, 1)
        kept, enough = (
            all(world.evaluate(claim.printed, P=P, Q=Q, delta=delta) is True for P, Q in pairs)
            for delta in (stated, stated * Fraction(999, 1000))
        )
        tried.append((world, kept and not enough))
    return _in_worlds(tried)


def _events(world: World, shift: int) -> set[tuple[Fraction, Fraction]]:
    """The probabilities of every event under two neighbouring counts."""
    pairs = {(Fraction(0), Fraction(0))}
    for z in world.gains(shift):
        pairs |= {(P + world.p(z), Q + world.p(z + shift)) for P, Q in pairs}
    return pairs


def extra_terms(claim: Claim) -> Cases:
    """The printed relation for every further term of the second case, z in [−D + 1, z*]."""
    tried = []
    for world in WORLDS:
        if world.threshold >= -world.D + 1:
            terms = world.along(claim.printed, -world.D + 1, math.floor(world.threshold))
            tried.append((world, all(holds is True for holds in terms.values())))
    return _in_worlds(tried)


# --- Figure 1 ---------------------------------------------------------------------------------


@cache
def gamma_of(D: int, V: int) -> Enclosure:
    """γ for a support and a variance, to 40 digits."""
    return certified.gamma(support=D, variance=V, digits=40)


def gamma_value(claim: Claim) -> Truth:
    """γ of a variance, and the variance that the printed γ would have."""
    D, V = claim.at["D"], claim.at["V"]
    printed = abs(Fraction(claim.printed))
    would_be = certified.variance(Noise(D, printed))
    right = certified.pmf(Enclosed(D, gamma_of(D, V)), -D)
    ratio = float(certified.pmf(Noise(D, printed), -D)) / float(right)
    return Truth(
        {"": gamma_of(D, V)},
        origins={f"the γ of D = {other}": gamma_of(other, V) for other in (11, 15) if other != D},
        numbers={"V": would_be.digits(4), "plateau": f"{100 * (ratio - 1):.1f} %"},
    )


def delta_at(eps: Any, D: int, gamma: Any) -> Any:
    """δ(ε) from its definition as an interval, for intervals ε and γ."""
    weights = [(-z * z * gamma).exp() for z in range(-D, 1)]
    growth = eps.exp()
    gains = ((above - growth * below).nonnegative_part() for below, above in pairwise(weights))
    return sum(gains, weights[0]) / (2 * sum(weights) - 1)


def kinks(D: int, gamma: Any, last: Any) -> list[Any]:
    """The ε < last at which δ(ε) has a kink."""
    candidates = (gamma * (1 - 2 * z) for z in range(1 - D, 1))
    return [kink for kink in candidates if less(kink, last)]


def curve_below(first: tuple[int, Any], second: tuple[int, Any], last: Any) -> Cases:
    """Whether one δ curve is below another for every ε of (0, last].

    Both are linear in e^ε between kinks, so the kinks of both and the two ends decide.
    """
    places = [enclosed(0), *kinks(*first, last), *kinks(*second, last), last]
    return cases(
        (f"eps = {float(enclosure(eps)):.6g}", less(delta_at(eps, *first), delta_at(eps, *second)))
        for eps in places
    )


def wider_is_better(claim: Claim) -> Cases:
    """The printed relation between δ at D + 1 and at D, for the same γ and ε."""
    return _in_worlds(
        (
            world,
            world.evaluate(
                claim.printed,
                delta=lambda D, world=world: World(world.base, int(D), world.gamma, world.eps).delta,
            )
            is True,
        )
        for world in WORLDS
        if world.D < 4
    )


def panels(claim: Claim) -> Truth:
    """Whether the curves of Figure 1b are below those of Figure 1a, with the same γ or the same V."""
    enclosed(0)  # sets the working precision
    last = enclosed(Fraction(claim.at["last"]))
    printed = [enclosed(Fraction(text)) for text in claim.at["gammas"]]
    same_gamma = [curve_below((15, gamma), (11, gamma), last) for gamma in printed]
    drawn = {(D, V): (D, enclosed(gamma_of(D, V))) for D in (11, 15) for V in (4, 10)}
    enclosed(0)
    same_variance = [curve_below(drawn[15, V], drawn[11, V], last) for V in (4, 10)]
    at = enclosed(Fraction(3, 10))
    rise = enclosure(delta_at(at, *drawn[15, 10]) / delta_at(at, *drawn[11, 10]) - 1)
    return Truth(
        {"the same γ in both panels": joined(same_gamma), "the same V in both panels": joined(same_variance)},
        numbers={"rise": f"{100 * float(rise):.2f} %"},
    )


def joined(parts: Sequence[Cases]) -> Cases:
    """Several sets of cases as one."""
    return Cases(sum(part.total for part in parts), tuple(name for part in parts for name in part.failures))


def trend(values: Sequence[Any]) -> str:
    """How a sequence of enclosed numbers runs."""
    steps = {(less(earlier, later), less(later, earlier)) for earlier, later in pairwise(values)}
    if steps == {(True, False)}:
        return "increasing"
    return "decreasing" if steps == {(False, True)} else "not monotone"


def gamma_on_delta(claim: Claim) -> str:
    """How δ runs as γ grows, at one ε and D."""
    eps = enclosed(Fraction(claim.at["eps"]))
    return trend([delta_at(eps, claim.at["D"], enclosed(gamma)) for gamma in GAMMAS])


def gamma_with_epsilon(claim: Claim) -> str:
    """Whether the γ of the two in Figure 1 that has the lower δ is the same at every ε."""
    low, high = (enclosed(Fraction(text)) for text in claim.at["gammas"])
    levels = [enclosed(Fraction(k, 10)) for k in range(1, 31)]
    orders = {less(delta_at(eps, claim.at["D"], low), delta_at(eps, claim.at["D"], high)) for eps in levels}
    return "the same at every eps" if len(orders) == 1 else "changes with eps"


def plateau_condition(claim: Claim) -> Cases:
    """Under the printed condition δ is p(−D) and stays so; otherwise it is larger (or ε = γ(2D − 1))."""
    tried = []
    for world in WORLDS:
        height = world.p(-world.D)
        if world.evaluate(claim.printed):
            more = (World(world.base, world.D, world.gamma, world.eps + k).delta for k in (1, 7))
            tried.append((world, world.delta == height and all(delta == height for delta in more)))
        elif world.eps != world.gamma * (2 * world.D - 1):
            tried.append((world, world.delta > height))
    return _in_worlds(tried)


def with_epsilon(claim: Claim) -> Cases:
    """The printed relation between δ at two ε, wherever ``when`` holds."""
    return _in_worlds(
        (
            world,
            world.evaluate(
                claim.printed,
                delta=lambda eps, world=world: World(world.base, world.D, world.gamma, int(eps)).delta,
            )
            is True,
        )
        for world in WORLDS
        if world.evaluate(claim.at["when"])
    )


def flat_in_figure(claim: Claim) -> Cases:
    """Whether each drawn curve has come to its plateau before the end of the ε axis, and fell until then."""
    D, last = claim.at["D"], Fraction(claim.at["last"])
    tried = []
    for V in (4, 10):
        rate = gamma_of(D, V)
        onset = rate.upper * (2 * D - 1)
        enclosed(0)
        gamma = enclosed(rate)
        edge = (-D * D * gamma).exp() / (2 * sum((-z * z * gamma).exp() for z in range(1, D + 1)) + 1)
        at_end, before = (delta_at(enclosed(eps), D, gamma) for eps in (last, onset * Fraction(99, 100)))
        tried.append((described(D=D, V=V), agree(at_end, edge) and less(edge, before)))
    return cases(tried)


def higher_variance_first(claim: Claim) -> Cases:
    """δ of V = 10 against δ of V = 4 for every ε up to the plateau of V = 10, by the printed relation."""
    parts = []
    for D in claim.at["D"]:
        rates = {V: gamma_of(D, V) for V in (4, 10)}
        enclosed(0)
        wide, narrow = ((D, enclosed(rates[V])) for V in (10, 4))
        last = wide[1] * (2 * D - 1)
        places = [enclosed(0), *kinks(*wide, last), *kinks(*narrow, last), last]
        parts.append(
            cases(
                (
                    f"D = {D}, eps = {float(enclosure(eps)):.6g}",
                    evaluate(claim.printed, delta_10=delta_at(eps, *wide), delta_4=delta_at(eps, *narrow))
                    is True,
                )
                for eps in places
            )
        )
    return joined(parts)


def order_at_end(claim: Claim) -> Cases:
    """The printed relation from the plateau of V = 4 on, where both curves are flat."""
    tried = []
    for D in claim.at["D"]:
        rates = {V: gamma_of(D, V) for V in (4, 10)}
        enclosed(0)
        eps = enclosed(rates[4]) * (2 * D - 1)
        deltas = {f"delta_{V}": delta_at(eps, D, enclosed(rates[V])) for V in (4, 10)}
        tried.append((described(D=D), evaluate(claim.printed, **deltas) is True))
    return cases(tried)
