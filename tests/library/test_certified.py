"""Enclosures contain the truth, are as narrow as asked, and decide what they are asked."""

import math
from fractions import Fraction
from itertools import accumulate
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import epsilons, noises

from tablebuilder_dp import certified, noise, privacy
from tablebuilder_dp.certified import Enclosed
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support.intervals import Enclosure, precision

Drawn = tuple[int, Fraction]


def exact(value: mpmath.mpf) -> Fraction:
    return Fraction(*map(int, mpmath.libmp.to_rational(value._mpf_)))


def mp(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.unmeasured
@given(noises(), epsilons)
def test_enclosures_contain_the_value_at_twice_their_digits(drawn: Drawn, epsilon: Fraction) -> None:
    support, gamma = drawn
    with mpmath.workdps(400):
        weights = {z: mpmath.exp(-mp(gamma) * z * z) for z in range(-support, support + 1)}
        total = mpmath.fsum(weights.values())
        masses = {z: weight / total for z, weight in weights.items()}
        growth = mpmath.exp(mp(epsilon))
        excess = [p - growth * masses.get(z - 1, 0) for z, p in masses.items()]
        truths = {
            "normaliser": 1 / total,
            "variance": mpmath.fsum(z * z * p for z, p in masses.items()),
            "entropy": mpmath.fsum(-p * mpmath.log(p) for p in masses.values()),
        }
        delta = mpmath.fsum(max(term, mpmath.mpf(0)) for term in excess)
        for name, truth in truths.items():
            assert_encloses(getattr(certified, name)(Noise(support, gamma)), exact(truth))
        assert_encloses(certified.delta(Noise(support, gamma), epsilon), exact(delta))
        assert_encloses(certified.pmf(Noise(support, gamma), -support), exact(masses[support]))


def assert_encloses(found: Enclosure, truth: Fraction) -> None:
    assert found.lower < truth < found.upper
    assert (found.upper - found.lower) * 10**30 <= abs(truth) * 2


def test_digits_asked_for_are_delivered() -> None:
    for digits in (1, 50, 300):
        found = certified.normaliser(Noise(25, "0.01"), digits=digits)
        assert (found.upper - found.lower) * 10**digits <= found.lower
    long = certified.normaliser(Noise(25, "0.01"), digits=300)
    assert certified.normaliser(Noise(25, "0.01"), digits=50).digits(40) == long.digits(40)


@pytest.mark.unmeasured
@given(st.integers(1, 40), st.integers(1, 999_999))
def test_gamma_of_an_enclosed_root(support: int, millionths: int) -> None:
    variance = Fraction(millionths, 10**6) * noise.variance_bound(support)
    found = certified.gamma(support=support, variance=variance)
    assert (found.upper - found.lower) * 10**30 <= found.lower
    assert certified.variance(Noise(support, found.lower), digits=400).lower > variance
    assert certified.variance(Noise(support, found.upper), digits=400).upper < variance


def test_gamma_refuses_a_guess_that_it_cannot_prove(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "_gamma", lambda *_: 0.12500)
    with pytest.raises(ArithmeticError, match="no proof of gamma near 0.125"):
        certified.gamma(support=11, variance=4)


def test_delta_of_an_enclosed_gamma() -> None:
    gamma = certified.gamma(support=11, variance=4, digits=40)
    assert certified.delta(Enclosed(11, gamma), "0.5").digits(17) == "0.054007209249607274"
    assert certified.pmf(Enclosed(11, gamma), 3).digits(5) == "0.064759"
    wide = Enclosure(Fraction("0.1249"), Fraction("0.1251"))
    with pytest.raises(
        ArithmeticError, match="no decision at 16384 bits: an equality, or gamma enclosed too widely"
    ):
        certified.delta(Enclosed(11, wide), "0.5")
    assert certified.delta(Enclosed(11, wide), "0.5", digits=1).lower < Fraction("0.054")


@settings(max_examples=50)
@given(noises(tail=200), st.integers(1, 99))
def test_epsilon_solves_delta(drawn: Drawn, place: int) -> None:
    support, gamma = drawn
    low = privacy.plateau(Noise(support, gamma)).height
    high = privacy.delta(Noise(support, gamma), "1e-4")
    target = Fraction(low * (high / low) ** (place / 100))
    if low * 1.001 < target < high * 0.999:
        found = certified.epsilon(Noise(support, gamma), target)
        assert certified.delta(Noise(support, gamma), found.lower, digits=60).lower >= target
        assert certified.delta(Noise(support, gamma), found.upper, digits=60).upper <= target


def test_epsilon_of_an_enclosed_gamma() -> None:
    gamma = certified.gamma(support=11, variance=4, digits=40)
    found = certified.epsilon(Enclosed(11, gamma), "0.05")
    assert float(found) == pytest.approx(privacy.epsilon(Noise(11, float(gamma)), "0.05"), rel=1e-13)


@pytest.mark.parametrize("delta", ["1e-9", "0.5"])
def test_epsilon_outside_the_range_of_delta_is_refused(delta: str) -> None:
    with pytest.raises(
        ValueError, match=r"delta must be between the plateau p\(-D\) and the total variation"
    ):
        certified.epsilon(Noise(11, "0.125"), delta)


@pytest.mark.parametrize("guess", [0.05, 0.37, 0.62, 1.9, 400.0])
def test_epsilon_needs_no_good_guess(monkeypatch: pytest.MonkeyPatch, guess: float) -> None:
    expected = certified.epsilon(Noise(11, "0.125"), "0.05")
    monkeypatch.setattr(privacy, "epsilon", lambda *_, **__: guess)
    assert certified.epsilon(Noise(11, "0.125"), "0.05") == expected


@pytest.mark.parametrize(
    ("delta", "support", "gamma"),
    [
        (1.9215543644909432e-194, 11, Fraction(600, 121)),
        (3.134074307915898e-37, 1, Fraction(44169, 500)),
        (Fraction(1, 10**4), 1, Fraction(1, 2)),
    ],
)
def test_epsilon_at_the_edge_of_a_kink_or_of_the_range(delta: float, support: int, gamma: Fraction) -> None:
    edge = certified.pmf(Noise(support, gamma), support)
    if edge.upper < Fraction(delta):
        found = certified.epsilon(Noise(support, gamma), Fraction(delta))
        assert certified.delta(Noise(support, gamma), found.upper, digits=60).upper <= Fraction(delta)
    else:
        with pytest.raises(ValueError, match="delta must be between the plateau"):
            certified.epsilon(Noise(support, gamma), Fraction(delta))


@pytest.mark.parametrize("variance", ["1e-100", "1e-200", "1e-270", "43." + "9" * 100, "43." + "9" * 269])
def test_gamma_is_proved_in_its_whole_range(variance: str) -> None:
    found = certified.gamma(support=11, variance=variance, digits=10)
    assert certified.variance(Noise(11, found.lower), digits=400).lower > Fraction(variance)
    assert certified.variance(Noise(11, found.upper), digits=400).upper < Fraction(variance)


def test_delta_of_an_enclosure_that_straddles_a_kink_holds_both_ends() -> None:
    # ε = 3γ is a kink; the enclosure of γ reaches to both sides of it.
    wide = Enclosure(Fraction("0.0999999"), Fraction("0.1000001"))
    found = certified.delta(Enclosed(3, wide), "0.3", digits=3)
    for gamma in (wide.lower, Fraction(1, 10), wide.upper):
        inner = certified.delta(Noise(3, gamma), "0.3")
        assert found.lower <= inner.lower
        assert inner.upper <= found.upper


def test_floors_of_few_bits_are_right_or_not_decided() -> None:
    truth = [cut - 1 for cut in certified.cuts(Noise(5, "0.1"), keysize=10**6)[:5]]
    decided = []
    for bits in (8, 12, 20, 40, 80):
        with precision(bits):
            floors = certified._floors(accumulate(certified._shares(Noise(5, "0.1"), 10**6, -5, -1)))
        assert floors in (None, truth)
        decided.append(floors is not None)
    assert decided[0] is False
    assert decided[-1] is True


@pytest.mark.parametrize(("support", "gamma"), [(1000, 1), (100, 690), (10_000, 1)])
def test_cuts_of_a_steep_noise_are_decided_at_once(support: int, gamma: int) -> None:
    for keysize in (2, 2**64):
        found = certified.cuts(Noise(support, gamma), keysize=keysize)
        assert (found[0], found[-1]) == (1, keysize)


@pytest.mark.parametrize(
    "p", [[0.5, 0.5], [Fraction(1, 2)], "ab", None, [Fraction(3, 2), Fraction(-1, 2)], [1, 0, 0]]
)
def test_hockey_stick_refuses_what_is_not_an_exact_pmf(p: Any) -> None:
    with pytest.raises(
        (ValueError, TypeError), match="^(p must be a sequence of exact|q must be as long as p)"
    ):
        certified.hockey_stick(p, [Fraction(1, 2), Fraction(1, 2)], 1)


def test_edge_reaches_decides_hair_thin_margins() -> None:
    edge = certified.pmf(Noise(25, "0.0101"), 25, digits=200)
    assert certified.edge_reaches(Noise(25, "0.0101"), edge.upper)
    assert not certified.edge_reaches(Noise(25, "0.0101"), edge.lower)


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=8), st.lists(st.integers(0, 50), min_size=1, max_size=8)
)
def test_hockey_stick_of_rational_pmfs(first: list[int], second: list[int]) -> None:
    size = max(len(first), len(second))
    p, q = ([*side, *[0] * (size - len(side))] for side in (first, second))
    p[0] += 1
    q[0] += 1
    ours, theirs = ([Fraction(n, sum(side)) for n in side] for side in (p, q))
    for epsilon in (0, "0.3", 2):
        found = certified.hockey_stick(ours, theirs, epsilon)
        expected = privacy.hockey_stick([float(x) for x in ours], [float(x) for x in theirs], epsilon)
        assert [float(value) for value in found] == pytest.approx(list(expected), abs=1e-14)


def test_cuts_raise_the_precision_until_every_ceiling_is_decided() -> None:
    # p(±1) = e^−γ/(1 + 2e^−γ) is within 1e-48 of 1/4 when γ is ln 2 to 48 digits.
    with mpmath.workdps(60):
        near = Fraction(mpmath.nstr(mpmath.log(2), 48))
    above, below = (
        certified.cuts(Noise(1, near + step), keysize=2**32)
        for step in (-Fraction(1, 10**40), Fraction(1, 10**40))
    )
    assert below[0] == 2**30
    assert above[0] == 2**30 + 1


def test_logarithm_keeps_its_digits_near_one() -> None:
    found = certified.logarithm(1 + Fraction(1, 10**50))
    assert found.digits(20) == "1.0000000000000000000E-50"
    assert certified.logarithm(Fraction(1)) == Enclosure(Fraction(0), Fraction(0))


def test_digits_are_correctly_rounded_or_refused() -> None:
    value = Enclosure(Fraction(1999, 2000), Fraction(19991, 20000))
    assert value.digits(2) == "1.0"
    with pytest.raises(ValueError, match="count must be as few digits as the enclosure decides, got 5"):
        value.digits(5)
    assert float(value) == pytest.approx(0.999525)
    assert Fraction(1999, 2000) in value
    assert 1 not in value


def test_polynomial_is_exact_where_it_is_rational() -> None:
    found = certified.polynomial(Fraction(1, 2), support=2, variance=1)
    assert Fraction(6, 16) - 1 in found  # f(x) = 0·x + 6x⁴ − 1
    with pytest.raises(ArithmeticError):
        certified.polynomial(2, support=1, variance="0.8")  # a root: no digits to find


def test_a_float_means_its_decimal_here_too() -> None:
    assert certified.normaliser(Noise(3, 0.1)) == certified.normaliser(Noise(3, Fraction(1, 10)))


def test_wide_supports_are_enclosed_too() -> None:
    found = certified.normaliser(Noise(20_000, "1e-6"), digits=15)
    assert float(found) == pytest.approx(math.sqrt(1e-6 / math.pi), rel=1e-12)


@pytest.mark.parametrize("digits", [0, -1, 1.5, True, None, 10**6, "30"])
def test_digits_out_of_range_are_refused(digits: Any) -> None:
    calls: list[Any] = [
        lambda: certified.normaliser(Noise(3, 1), digits=digits),
        lambda: certified.gamma(support=3, variance=1, digits=digits),
    ]
    for call in calls:
        with pytest.raises((ValueError, TypeError), match="^digits must be an integer from 1 to 1000, got "):
            call()
