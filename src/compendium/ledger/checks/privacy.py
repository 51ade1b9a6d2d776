"""Section III-B: E*, Proposition 2, and what Figure 1 shows.

Most statements are tried on small worlds in which e is replaced by a rational base, so that every
probability, every e^ε and every tie is an exact fraction, and where δ and E* come from a search
through all events.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise, product
from typing import Any

from compendium.ledger.claims import Claim
from compendium.ledger.formulas import (
    GAMMAS,
    SUPPORTS,
    Case,
    Cases,
    agree,
    by_cases,
    cases,
    chains,
    described,
    enclosed,
    evaluate,
    has_sides,
    holds_between,
    less,
    worded,
)
from compendium.ledger.verdicts import Truth
from tablebuilder_dp import certified
from tablebuilder_dp.certified import Enclosed
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support.intervals import Enclosure, enclosure

NEARLY_ZERO = Fraction(1, 10**400)
"""Stands for p = 0 below a fraction bar: the ratio then exceeds every e^ε in question."""


UNIT = Fraction(1, 32)
"""What formulas get for one unit of γ and ε, so that a 1 in them is a change that shows."""


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

    def names(self) -> dict[str, Any]:
        """What a formula about this world may speak of."""
        names: dict[str, Any] = {
            "D": self.D,
            "gamma": self.gamma * UNIT,
            "eps": self.eps * UNIT,
            "C": self.p(0),
        }
        return names | {"p": self.p, "exp": self._exp}

    def evaluate(self, formula: str, **more: Any) -> Any:
        """A printed formula in this world, exactly."""
        return evaluate(formula, **self.names() | more)

    def _exp(self, power: Fraction) -> Fraction:
        """e^power, exactly; what no formula about this world asks for would take for ever, and is refused."""
        whole = power / UNIT
        if whole.denominator > 1 or abs(whole) > 10_000:
            raise ArithmeticError(f"exp({power}) is out of reach in a world of fractions")
        return self.base ** int(whole)

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


@by_cases
def delta_definition(claim: Claim) -> Iterator[Case]:
    """The printed terms, summed over E*, give the largest excess over all events, in both directions."""
    for world in WORLDS:
        terms = world.along(claim.judged, -world.D, world.D + 1)
        yield str(world), (sum(terms[z] for z in world.e_star) == world.delta)


def e_star_definition(claim: Claim) -> Cases:
    """The printed relation describes the smallest worst event."""

    def p(world: World) -> Callable[[Fraction], Fraction]:
        return lambda z: world.p(z) or NEARLY_ZERO

    return _in_worlds((world, world.set_of(claim.judged, p=p(world)) == world.e_star) for world in WORLDS)


@by_cases
def positive_rate(claim: Claim) -> Iterator[Case]:
    """The printed relation for the variance holds exactly where γ > 0."""
    for D, size, sign in product(SUPPORTS[:6], (gamma for gamma in GAMMAS if gamma < 1), (1, -1)):
        masses = [(-z * z * enclosed(sign * size)).exp() for z in range(D + 1)]
        V: Any = 2 * sum(z * z * mass for z, mass in enumerate(masses)) / (2 * sum(masses) - 1)
        yield described(D=D, gamma=sign * size), (evaluate(claim.judged, D=D, V=V) is (sign > 0))
    for D in SUPPORTS:  # γ = 0, the uniform pmf
        V = Fraction(2 * sum(z * z for z in range(D + 1)), 2 * D + 1)
        yield described(D=D, gamma=0), (evaluate(claim.judged, D=D, V=V) is False)


@by_cases
def one_direction(claim: Claim) -> Iterator[Case]:
    """The printed relation between the least δ of x against x′ and that of x′ against x, over all events."""
    for world in WORLDS:
        ways = [_worst_event(world.gains(shift))[0] for shift in (-1, 1)]
        yield (
            str(world),
            has_sides(claim.judged, [1, 2], forward=1, backward=2)
            and holds_between(claim.judged, ways, forward=ways[0], backward=ways[1]),
        )


@by_cases
def zero_over_zero(claim: Claim) -> Iterator[Case]:
    """With the printed value for 0/0, E* stays the same however far the outputs are made to range."""
    for world in WORLDS:
        growth, event = world.base**world.eps, set()
        for z in range(-world.D - 3, world.D + 5):
            above, below = world.p(z), world.p(z - 1)
            ratio = above / (below or NEARLY_ZERO) if above or below else evaluate(claim.judged)
            event |= {z} if ratio > growth else set()
        yield str(world), (event == world.e_star)


@by_cases
def always_member(claim: Claim) -> Iterator[Case]:
    """The printed z is in every E*; its p is not zero, and that of z − 1 is."""
    for world in WORLDS:
        z = int(world.evaluate(claim.judged))
        yield str(world), (z in world.e_star and world.p(z) > 0 and world.p(z - 1) == 0)


@by_cases
def lower_bound(claim: Claim) -> Iterator[Case]:
    """The printed bound: its sides are δ and p(−D) twice, and from the plateau on they are equal.

    A mass function that is not symmetric in its argument tells p(−D) from p(D).
    """
    for world in WORLDS:
        edge = world.p(-world.D)
        sides = [world.delta, edge, edge]
        names = world.names() | {"delta": world.delta, "p": lambda z, world=world: world.p(z) if z < 0 else 2}
        yield str(world), holds_between(claim.judged, sides, **names)
    on_plateau = [world.delta == world.p(-world.D) for world in WORLDS]
    yield "equality occurs, and inequality", len(set(on_plateau)) == 2


def describes_e_star(claim: Claim) -> Cases:
    """The outputs with the printed property are E*, wherever ``when`` (if given) holds."""
    return _in_worlds(
        (world, world.set_of(claim.judged) == world.e_star)
        for world in WORLDS
        if world.evaluate(claim.at.get("when", "0 < eps"))
    )


def same_as_before(claim: Claim) -> Cases:
    """The printed relation holds for the same z as the one on the line above."""
    return _in_worlds(
        (world, world.set_of(claim.judged) == world.set_of(claim.at["above"])) for world in WORLDS
    )


def never_members(claim: Claim) -> Cases:
    """No z with the printed property is in E*, and every other z is in some E*."""
    tried = [(world, not world.set_of(claim.judged) & world.e_star) for world in WORLDS]
    for D in {world.D for world in WORLDS}:
        same = [world for world in WORLDS if world.D == D]
        reached = frozenset().union(*(world.e_star for world in same))
        tried.append((same[0], reached | same[0].set_of(claim.judged) == set(same[0].outputs)))
    return _in_worlds(tried)


def enough_to_check(claim: Claim) -> Cases:
    """All of E* but −D lies in the printed range, and every z of that range is needed for some ε."""
    tried = [(world, world.e_star - {-world.D} <= world.set_of(claim.judged)) for world in WORLDS]
    for D in {world.D for world in WORLDS}:
        same = [world for world in WORLDS if world.D == D]
        reached = frozenset().union(*(world.e_star for world in same)) - {-D}
        tried.append((same[0], reached == same[0].set_of(claim.judged)))
    return _in_worlds(tried)


def describes_f_star(claim: Claim) -> Cases:
    """The outputs with the printed property are E* without −D, wherever ``when`` (if given) holds."""
    return _in_worlds(
        (world, world.set_of(claim.judged) == world.e_star - {-world.D})
        for world in WORLDS
        if world.evaluate(claim.at.get("when", "0 < eps"))
    )


def only_edge(claim: Claim) -> Cases:
    """Under the printed condition E* is {−D}; otherwise it is not, ties aside."""
    return _in_worlds(
        (world, (world.e_star == {-world.D}) is is_met)
        for world, is_met in ((world, world.evaluate(claim.judged)) for world in WORLDS)
        if is_met or world.threshold.denominator > 1
    )


@by_cases
def exactly_when(claim: Claim) -> Iterator[Case]:
    """The printed relations have the sides of ``sides`` in every world, and hold exactly under ``when``."""
    for world in WORLDS:
        holds = [
            holds_between(relation, [world.evaluate(side) for side in sides], **world.names())
            for relation, sides in zip(claim.judged.split(" and "), claim.at["sides"], strict=True)
        ]
        met = bool(world.evaluate(claim.at["when"]))
        yield str(world), holds == [met] * len(holds) and _same_sides(claim, world)


def _same_sides(claim: Claim, world: World) -> bool:
    """Whether the printed sides have the values of ``sides``, whatever the relation."""
    printed = [side for chain, _ in chains(claim.judged) for side in chain]
    true = [side for chain in claim.at["sides"] for side in chain]
    return [world.evaluate(side) for side in printed] == [world.evaluate(side) for side in true]


@by_cases
def first_case(claim: Claim) -> Iterator[Case]:
    """The printed relation speaks of z* in every world, and it holds wherever ``when`` does."""
    for world in WORLDS:
        z_star = math.floor(world.threshold)
        sides = [z_star, 0]
        left, _, right = claim.judged.partition("==")
        speaks = [world.evaluate(left.strip()), world.evaluate(right.strip())] == sides
        met = bool(world.evaluate(claim.at["when"]))
        yield str(world), speaks and (not met or world.evaluate(claim.judged) is True)


@by_cases
def one_of(claim: Claim) -> Iterator[Case]:
    """Of the printed cases (joined by "or") one applies in every world, and for very small ε and γ."""
    parts = claim.judged.split(" or ")
    for world in WORLDS:
        yield str(world), [bool(world.evaluate(part)) for part in parts].count(True) == 1
    hair = Fraction(1, 10**9)
    for eps, gamma in product((hair, 2 * hair, Fraction(1)), repeat=2):
        holds = [bool(evaluate(part, D=2, eps=eps, gamma=gamma)) for part in parts]
        yield described(D=2, eps=eps, gamma=gamma), holds.count(True) == 1


# --- Proposition 2 ----------------------------------------------------------------------------


def closed_form(claim: Claim) -> Cases:
    """The printed δ is the least one that the definition of privacy allows, wherever ``when`` holds."""
    return _in_worlds(
        (world, world.evaluate(claim.judged) == world.delta)
        for world in WORLDS
        if world.evaluate(claim.at["when"])
    )


def few_worlds() -> list[World]:
    """The worlds with the fewest outputs, all of whose events are tried one by one."""
    return [world for world in WORLDS if world.D <= 2]


@by_cases
def guarantee(claim: Claim) -> Iterator[Case]:
    """The printed inequality for all events and both directions, with the least δ: 0.1% less will not do."""
    for world in few_worlds():
        stated = world.evaluate(claim.at["delta"])
        pairs = _events(world, -1) | _events(world, 1)
        kept, enough = (
            all(world.evaluate(claim.judged, P=P, Q=Q, delta=delta) is True for P, Q in pairs)
            for delta in (stated, stated * Fraction(999, 1000))
        )
        yield str(world), (kept and not enough)


def _events(world: World, shift: int) -> set[tuple[Fraction, Fraction]]:
    """The probabilities of every event under two neighbouring counts."""
    pairs = {(Fraction(0), Fraction(0))}
    for z in world.gains(shift):
        pairs |= {(P + world.p(z), Q + world.p(z + shift)) for P, Q in pairs}
    return pairs


@by_cases
def extra_terms(claim: Claim) -> Iterator[Case]:
    """The printed relation for every further term of the second case, z in [−D + 1, z*]."""
    for world in WORLDS:
        growth = world.base**world.eps
        for z in range(-world.D + 1, math.floor(world.threshold) + 1):
            term = world.p(z) - growth * world.p(z - 1)
            sides = [term, term, Fraction(0)]
            yield f"{world}, z = {z}", holds_between(claim.judged, sides, z=z, **world.names())


# --- Figure 1 ---------------------------------------------------------------------------------


@cache
def gamma_of(D: int, V: int) -> Enclosure:
    """γ for a support and a variance, to 40 digits."""
    return certified.gamma(support=D, variance=V, digits=40)


def gamma_value(claim: Claim) -> Truth:
    """γ of a variance, and the variance that the printed γ would have."""
    D, V = claim.at["D"], claim.at["V"]
    printed = abs(Fraction(claim.judged))
    would_be = certified.variance(Noise(D, printed))
    right = certified.pmf(Enclosed(D, gamma_of(D, V)), -D)
    ratio = float(certified.pmf(Noise(D, printed), -D)) / float(right)
    return Truth(
        {"": gamma_of(D, V)},
        origins={f"the γ of D = {other}": gamma_of(other, V) for other in (11, 15) if other != D},
        numbers={"V": would_be.digits(4), "plateau": f"{100 * (ratio - 1):.1f}%"},
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


def wider(claim: Claim) -> str:
    """How δ runs as D grows, for the same γ and ε."""
    words = {
        trend([World(world.base, D, world.gamma, world.eps).delta for D in range(1, 5)])
        for world in WORLDS
        if world.D == 1
    }
    return words.pop() if len(words) == 1 else "not monotone"


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
        {
            "the same γ in both panels": joined(same_gamma, "below", "not below at every ε"),
            "the same V in both panels": joined(same_variance, "below", "not below at every ε"),
        },
        numbers={"rise": f"{100 * float(rise):.2f}%"},
    )


def joined(parts: Sequence[Cases], word: str = "", instead: str = "") -> Cases:
    """Several sets of cases as one, about a word if need be."""
    failures = tuple(name for part in parts for name in part.failures)
    return Cases(sum(part.total for part in parts), failures, word=word, instead=instead)


def trend(values: Sequence[Any]) -> str:
    """How a sequence of enclosed numbers runs."""
    steps = {(less(earlier, later), less(later, earlier)) for earlier, later in pairwise(values)}
    words = {(True, False): "increasing", (False, True): "decreasing"}
    if len(steps) > 1:
        return "not monotone"
    if steps == {(False, False)}:
        return "constant" if len({str(value) for value in values}) == 1 else "not decided"
    return words[steps.pop()]


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


@by_cases
def plateau_condition(claim: Claim) -> Iterator[Case]:
    """Under the printed condition δ is p(−D) and stays so; otherwise it is larger (or ε = γ(2D − 1))."""
    for world in WORLDS:
        height = world.p(-world.D)
        if world.evaluate(claim.judged):
            more = (World(world.base, world.D, world.gamma, world.eps + k).delta for k in (1, 7))
            yield str(world), (world.delta == height and all(delta == height for delta in more))
        elif world.eps != world.gamma * (2 * world.D - 1):
            yield str(world), (world.delta > height)


def with_epsilon(claim: Claim) -> str:
    """How δ runs with ε before, or from, the onset ε = γ(2D − 1) of the plateau."""
    words = set()
    for D, gamma in {(world.D, world.gamma) for world in WORLDS}:
        onset = gamma * (2 * D - 1)
        levels = range(1, onset + 1) if claim.at["side"] == "before" else range(onset + 1, onset + 9)
        values = [World(BASES[0], D, gamma, eps).delta for eps in levels[:: 1 + len(levels) // 40]]
        words |= {trend(values)} if len(values) > 1 else set()
    return words.pop() if len(words) == 1 else "not monotone"


@worded("flat", "not flat", whole=True)
def flat_in_figure(claim: Claim) -> Iterator[Case]:
    """Whether each drawn curve has come to its plateau before the end of the ε axis, and fell until then."""
    D, last = claim.at["D"], Fraction(claim.at["last"])
    for V in (4, 10):
        rate = gamma_of(D, V)
        onset = rate.upper * (2 * D - 1)
        enclosed(0)
        gamma = enclosed(rate)
        edge = (-D * D * gamma).exp() / (2 * sum((-z * z * gamma).exp() for z in range(1, D + 1)) + 1)
        at_end, before = (delta_at(enclosed(eps), D, gamma) for eps in (last, onset * Fraction(99, 100)))
        yield described(D=D, V=V), (agree(at_end, edge) and less(edge, before))


@cache
def order_of_variances(where: str) -> tuple[Case, ...]:
    """At each D and ε whether δ of V = 10 is below that of V = 4: before the plateau of V = 10, or after.

    Both are linear in e^ε between kinks, so the kinks of both and the two ends decide for every ε.
    """
    tried = []
    for D in (11, 15):
        rates = {V: gamma_of(D, V) for V in (4, 10)}
        wide, narrow = ((D, enclosed(rates[V])) for V in (10, 4))
        last = wide[1] * (2 * D - 1)
        before = [enclosed(0), *kinks(*wide, last), *kinks(*narrow, last), last]
        for eps in before if where == "before" else [narrow[1] * (2 * D - 1)]:
            deltas = delta_at(eps, *wide), delta_at(eps, *narrow)
            is_lower = less(*deltas)
            if not is_lower and not less(*reversed(deltas)):
                raise ArithmeticError(f"two curves cannot be told apart at D = {D}")
            tried.append((f"D = {D}, eps = {float(enclosure(eps)):.6g}", is_lower))
    return tuple(tried)


def higher_variance(claim: Claim) -> str:
    """Whether the higher variance has the lower δ: for every ε before its plateau, or where both are flat."""
    answers = {is_lower for _, is_lower in order_of_variances(claim.at["side"])}
    return "changes with ε" if len(answers) > 1 else "lower" if answers.pop() else "higher"
