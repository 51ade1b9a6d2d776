"""Sections II and III-A: the maximum-entropy noise and Proposition 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from typing import Any

from compendium.ledger.claims import Claim
from compendium.ledger.formulas import (
    EPSILONS,
    GAMMAS,
    NOISES,
    SUPPORTS,
    Case,
    Cases,
    agree,
    cases,
    described,
    enclosed,
    evaluate,
    has_sides,
    less,
    on_grid,
    worded,
)
from compendium.ledger.verdicts import Truth
from tablebuilder_dp import certified
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support.intervals import enclosure

VARIANCES = tuple((D, Fraction(k * D * (D + 1), 3 * 8)) for D in SUPPORTS for k in range(1, 8))
"""Supports with variances at eighths of Proposition 1's bound."""


@cache
def weights(D: int, gamma: Fraction) -> tuple[Any, ...]:
    """e^(−γz²) for z = −D, …, D, as intervals."""
    half = [(-(z**2) * enclosed(gamma)).exp() for z in range(D + 1)]
    return (*half[:0:-1], *half)


@cache
def second_moment(D: int, gamma: Fraction) -> Any:
    """E[Z²], by adding up all 2D + 1 terms."""
    masses = weights(D, gamma)
    return sum(z * z * mass for z, mass in zip(range(-D, D + 1), masses, strict=True)) / sum(masses)


def entropy(masses: Iterable[Any]) -> Any:
    """−Σ p ln p in nats, as an interval."""
    return -sum(mass * mass.log() for mass in masses)


def sensitivity(claim: Claim) -> int:
    """The largest change of a count when one element of a data set changes, over all small data sets."""
    largest = 0
    for size in range(1, 6):
        for data in product((0, 1), repeat=size):
            for place in range(size):
                changed = sum(data) - data[place] + (1 - data[place])
                largest = max(largest, abs(changed - sum(data)), data[place])  # altered, or removed
    return largest


def kind_of_privacy(claim: Claim) -> str:
    """Which of the definition's two kinds the least δ has at every ε: 0, or above 0 and at most 1."""
    kinds = set()
    for (D, gamma), eps in product(NOISES[::4], EPSILONS):
        delta = certified.delta(Noise(D, gamma), eps, digits=5)
        kinds.add(
            "approximate" if 0 < delta.lower <= delta.upper <= 1 else "pure" if delta.upper == 0 else "none"
        )
    return " or ".join(sorted(kinds))


def neighbours_kept(claim: Claim) -> Truth:
    """Whether a count of D and its neighbour D − 1 have the δ of Proposition 2, and outputs of at least 0.

    Exactly, with a rational e^−γ and e^ε: the δ of the pair by summing over its outputs, against that of two
    counts far from 0.
    """

    def outputs(D: int, x: Fraction, n: int) -> dict[int, Fraction]:
        total = sum(x ** (z * z) for z in range(-D, D + 1))
        return {n + z: x ** (z * z) / total for z in range(-D, D + 1)}

    def delta(growth: Fraction, pair: Sequence[dict[int, Fraction]]) -> Fraction:
        zero = Fraction(0)
        return max(
            sum((max(zero, p - growth * b.get(y, zero)) for y, p in a.items()), zero)
            for a, b in (pair, pair[::-1])
        )

    tried: dict[str, list[Case]] = {"outputs may be negative": [], "outputs are not negative": []}
    for D, x, growth in product((1, 2, 3), (Fraction(1, 3), Fraction(9, 10)), (Fraction(5, 4), Fraction(3))):
        pair, far = ([outputs(D, x, n) for n in (m, m - 1)] for m in (D, 9 * D))
        name = described(D=D, x=x, growth=growth)
        tried["outputs may be negative"].append((name, delta(growth, pair) == delta(growth, far)))
        tried["outputs are not negative"].append((name, min(map(min, pair)) >= 0))
    return Truth({name: cases(each, word="closed", instead="not closed") for name, each in tried.items()})


def non_negative(claim: Claim) -> Cases:
    """The least output is n − D."""
    grid = ((D, n) for D in SUPPORTS for n in range(2 * D + 2))
    return on_grid("D n", grid, lambda D, n: evaluate(claim.judged, n=n, D=D) is (n - D >= 0))


def inside(D: int, mass: Callable[[int], Any]) -> Callable[[Fraction], Any]:
    """A mass function on [−D, D] alone: nothing is printed of other values, and none is asked for there."""

    def asked(z: Fraction) -> Any:
        if abs(z) > D:
            raise LookupError(f"{z} is outside [-{D}, {D}]")
        return mass(int(z))

    return asked


def zero_bias(claim: Claim) -> Cases:
    """The printed mean of the noise, exactly: e^−γ is a rational number here, and so is every mass."""

    def holds(D: int, x: Fraction) -> bool:
        lopsided = sum(z * (z + D) ** 2 for z in range(-D, D + 1))
        speaks = has_sides(claim.judged, [lopsided, 0], D=D, p=inside(D, lambda z: (z + D) ** 2))
        return speaks and evaluate(claim.judged, D=D, p=inside(D, lambda z: x ** (z * z))) is True

    return on_grid("D x", product(SUPPORTS, (Fraction(1, 9), Fraction(1, 2), Fraction(9, 10))), holds)


def maximum_entropy(claim: Claim) -> Cases:
    """The printed shape is the maximum: no bias, less entropy in every direction that keeps the variance,
    and more in one that raises it, so that the bound on the variance is what holds it back.

    Third differences leave Σp, Σzp and Σz²p as they are; a second difference raises Σz²p only.
    """

    def holds(D: int, gamma: Fraction) -> bool:
        shape = [evaluate(claim.judged, z=z, D=D, gamma=enclosed(gamma)) for z in range(-D, D + 1)]
        masses = [mass / sum(shape) for mass in shape]
        top = entropy(masses)

        def moved(start: int, factors: tuple[int, ...], sign: int) -> Any:
            places = range(start, start + len(factors))
            step = sign * min((masses[place] for place in places), key=lambda mass: mass.mid()) / 10**6
            return entropy(
                mass + factors[place - start] * step if place in places else mass
                for place, mass in enumerate(masses)
            )

        thirds = product({0, D - 1, 2 * D - 3}, (1, -1))
        return (
            all(enclosure(shape[D - z]) == enclosure(shape[D + z]) for z in range(1, D + 1))
            and all(less(moved(start, (1, -3, 3, -1), sign), top) for start, sign in thirds)
            and less(top, moved(D - 1, (1, -2, 1), 1))
        )

    # D = 1 has no such direction, and far tails drown in the precision.
    grid = ((D, gamma) for D, gamma in NOISES if 2 <= D <= 15 and D * D * gamma < 60)
    return on_grid("D gamma", grid, holds)


def normaliser(claim: Claim) -> Cases:
    """The printed C against 1/Σ e^(−γz²)."""
    return on_grid(
        "D gamma",
        NOISES,
        lambda D, gamma: agree(
            evaluate(claim.judged, D=D, gamma=enclosed(gamma)) * sum(weights(D, gamma)), enclosed(1)
        ),
    )


def variance(claim: Claim) -> Cases:
    """The printed V(γ) against E[Z²]."""

    def holds(D: int, gamma: Fraction) -> bool:
        C = 1 / sum(weights(D, gamma))
        return agree(evaluate(claim.judged, C=C, D=D, gamma=enclosed(gamma)), second_moment(D, gamma))

    return on_grid("D gamma", NOISES, holds)


def tight_constraint(claim: Claim) -> Truth:
    """A larger V allows more entropy, so the optimum uses all of it, up to the uniform variance.

    Beyond, where γ is negative, more variance is less entropy: the bound is not used up.
    """

    def measures(D: int, gamma: Fraction) -> tuple[Any, Any]:
        V = second_moment(D, gamma)
        return V, sum(weights(D, gamma)).log() + enclosed(gamma) * V

    def grows(rates: Sequence[Fraction]) -> Cases:
        """Whether both V and the entropy grow as γ falls from one rate to the next."""
        steps = ((D, low, high) for D in SUPPORTS for low, high in pairwise(rates))
        tried = []
        for D, low, high in steps:
            wide, narrow = measures(D, low), measures(D, high)
            more = less(narrow[0], wide[0]) and less(narrow[1], wide[1])
            tried.append((described(D=D, **{"gamma": low, "gamma'": high}), more))
        return cases(tried, word="equality", instead="less")

    negative = [-gamma for gamma in reversed(GAMMAS) if gamma < 1]
    low, high = Fraction(-1), Fraction(0)  # γ of D = 10 and V = 40, by bisection: V falls with γ
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if less(40, measures(10, middle)[0]) else (low, middle)
    return Truth(
        {"V up to D(D + 1)/3": grows(GAMMAS), "every V": grows([*negative, *GAMMAS])},
        numbers={
            "equal": enclosure(measures(10, high)[1]).digits(5),
            "uniform": enclosure(enclosed(21).log()).digits(5),
        },
    )


def polynomial(claim: Claim) -> Cases:
    """The printed f(x) is (V(x) − V)·Σ x^(z²), exactly: its positive roots are the x with variance V."""

    def holds(D: int, V: Fraction, x: Fraction) -> bool:
        powers = {z: x ** (z * z) for z in range(-D, D + 1)}
        expected = sum((z * z - V) * power for z, power in powers.items())
        return bool(evaluate(claim.judged, D=D, V=V, x=x) == expected)

    grid = ((D, V, Fraction(k, 10)) for D, V in VARIANCES for k in (1, 5, 9, 15) if D <= 15)
    return on_grid("D V x", grid, holds)


def coefficients(D: int, V: Fraction) -> dict[int, Fraction]:
    """The nonzero coefficients of f by their degree."""
    terms = {z * z: 2 * z * z - 2 * V for z in range(1, D + 1)} | {0: -V}
    return {degree: value for degree, value in terms.items() if value}


def degree(claim: Claim) -> Cases:
    """The printed degree of f."""
    return on_grid("D V", VARIANCES, lambda D, V: max(coefficients(D, V)) == evaluate(claim.judged, D=D))


def sparsity(claim: Claim) -> Truth:
    """Nonzero coefficients at square degrees only, and at each of them."""
    grid = [*VARIANCES, *((D, Fraction(V)) for D in SUPPORTS for V in range(1, -(-D * (D + 1) // 3)))]

    def among(D: int, V: Fraction, *, every: bool) -> bool:
        degrees, squares = set(coefficients(D, V)), {z * z for z in range(D + 1)}
        return degrees == squares if every else degrees <= squares

    return Truth(
        {
            name: cases(
                ((described(D=D, V=V), among(D, V, every=every)) for D, V in grid),
                word="squares",
                instead="other degrees",
            )
            for name, every in (("at squares only", False), ("at every square", True))
        }
    )


def polynomial_at(claim: Claim) -> Cases:
    """The printed value of f at the x of the claim."""
    x = Fraction(claim.at["x"])

    def holds(D: int, V: Fraction) -> bool:
        total = sum(value * x**power for power, value in coefficients(D, V).items())
        return bool(evaluate(claim.judged, D=D, V=V) == total)

    return on_grid("D V", VARIANCES, holds)


@worded("between 0 and 1", "elsewhere")
def root_between(claim: Claim) -> Iterator[Case]:
    """f(1) > 0 gives f a root in (0, 1): f is negative at one such x and positive at a larger one."""

    def at(D: int, V: Fraction, gamma: float) -> Any:
        rate = enclosed(Fraction(gamma))
        return sum(enclosed(value) * (-power * rate).exp() for power, value in coefficients(D, V).items())

    for D, V in VARIANCES:
        gamma = float(Noise.of_variance(D, V).gamma)
        yield described(D=D, V=V), less(at(D, V, 2 * gamma), 0) and less(0, at(D, V, gamma / 2))


def peak_at_zero(claim: Claim) -> Cases:
    """p(0) is the largest mass exactly under the printed condition on γ."""

    def holds(D: int, gamma: Fraction) -> bool:
        masses = weights(D, gamma)
        peaked = all(less(mass, masses[D]) for place, mass in enumerate(masses) if place != D)
        return evaluate(claim.judged, gamma=gamma) is peaked

    signed = (*GAMMAS, Fraction(0), *(-gamma for gamma in GAMMAS))
    return on_grid("D gamma", product(SUPPORTS, signed), holds)


def proposition_1(claim: Claim) -> Cases:
    """The printed range of V is that of the γ > 0, for which the pmf falls with |z|.

    It must leave out the γ < 0, the uniform pmf (γ = 0) and the point mass at 0 (V = 0).
    """

    def variance_of(D: int, gamma: Fraction | None) -> Any:
        if gamma is None:
            return Fraction(0)
        return (
            Fraction(2 * sum(z * z for z in range(D + 1)), 2 * D + 1)
            if gamma == 0
            else second_moment(D, gamma)
        )

    rates = (*GAMMAS, None, Fraction(0), *(-gamma for gamma in GAMMAS if gamma < 1))
    return cases(
        (
            f"D = {D}, " + ("V = 0" if gamma is None else described(gamma=gamma)),
            evaluate(claim.judged, D=D, V=variance_of(D, gamma)) is (gamma is not None and gamma > 0),
        )
        for D, gamma in product(SUPPORTS, rates)
    )


def uniform_bias(claim: Claim) -> int:
    """The bias of the uniform pmf, times 2D + 1: one number for all D."""
    sums = {sum(range(-D, D + 1)) for D in range(1, 200)}
    return sums.pop() if len(sums) == 1 else -1


def uniform_variance(claim: Claim) -> Cases:
    """The printed variance of the uniform pmf, from Σ z²."""
    return on_grid(
        "D",
        ((D,) for D in range(1, 200)),
        lambda D: evaluate(claim.judged, D=D) == Fraction(2 * sum(z * z for z in range(D + 1)), 2 * D + 1),
    )


def uniform_entropy(claim: Claim) -> Cases:
    """The printed entropy of the uniform pmf; no noise of the family has more."""

    def holds(D: int, gamma: Fraction) -> bool:
        top = evaluate(claim.judged, D=enclosed(D))
        masses = weights(D, gamma)
        size = 2 * D + 1
        ours = entropy([mass / sum(masses) for mass in masses])
        return agree(top, entropy([enclosed(Fraction(1, size))] * size)) and less(ours, top)

    return on_grid("D gamma", NOISES, holds)
