"""Section III-A: the pmf, its variance and entropy, γ(V), f(x) and Proposition 1."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize
from support.checks import relative_error
from support.strategies import gammas, noises, proportions, supports

from tablebuilder_dp import certified, noise
from tablebuilder_dp.noise import Noise


@given(noises())
def test_every_quantity_lies_within_1e_12_of_its_enclosure(drawn: tuple[int, Fraction]) -> None:
    support, gamma = drawn
    masses = Noise(support, gamma).pmf
    for z in {0, 1, support // 2, support}:
        assert relative_error(masses[support + z], certified.pmf(Noise(support, gamma), z)) < 1e-12
        assert masses[support + z] == masses[support - z]
    for name in ("normaliser", "variance", "entropy"):
        ours = getattr(Noise(support, gamma), name)
        assert relative_error(ours, getattr(certified, name)(Noise(support, gamma))) < 1e-13, name


@given(noises(tail=10**5))
def test_the_pmf_is_a_pmf_with_the_stated_variance_and_entropy(drawn: tuple[int, Fraction]) -> None:
    support, gamma = drawn
    masses = Noise(support, gamma).pmf
    z = np.arange(-support, support + 1)
    assert masses.sum() == pytest.approx(1, abs=1e-14)
    assert masses @ z**2 == pytest.approx(Noise(support, gamma).variance, rel=1e-12)
    logarithms = Noise(support, gamma).log_pmf
    assert -(masses @ logarithms) == pytest.approx(Noise(support, gamma).entropy, rel=1e-12)
    assert np.exp(logarithms) == pytest.approx(masses, rel=1e-11)


def test_log_pmf_reaches_where_probabilities_underflow() -> None:
    assert Noise(1000, 1).pmf[0] == 0
    assert Noise(1000, 1).log_pmf[0] == pytest.approx(-1e6, rel=1e-6)


@given(supports, proportions)
def test_gamma_gives_back_the_variance(support: int, proportion: Fraction) -> None:
    target = proportion * noise.variance_bound(support)
    gamma = float(Noise.of_variance(support, target).gamma)
    back = certified.variance(Noise(support, Fraction(gamma)))
    assert relative_error(float(target), back) <= 1e-13
    assert relative_error(gamma, certified.gamma(support=support, variance=target)) < 2e-14


@pytest.mark.unmeasured
@pytest.mark.parametrize("proportion", ["1e-6", "0.999999"])
@pytest.mark.parametrize("support", [1, 1000, 10**6])
def test_gamma_holds_at_the_ends_of_the_promised_range(support: int, proportion: str) -> None:
    target = Fraction(proportion) * noise.variance_bound(support)
    gamma = float(Noise.of_variance(support, target).gamma)
    back = certified.variance(Noise(support, Fraction(gamma)), digits=18)
    assert relative_error(float(target), back) <= 1e-13


@given(supports, gammas, gammas)
def test_variance_falls_strictly_with_gamma(support: int, first: Fraction, second: Fraction) -> None:
    low, high = sorted([first, second])
    if low < high:
        lower, upper = (certified.variance(Noise(support, gamma)) for gamma in (high, low))
        assert lower.upper < upper.lower < noise.variance_bound(support)


def test_variance_at_its_bound_is_refused_as_the_uniform_pmf() -> None:
    with pytest.raises(ValueError, match=r"D\(D\+1\)/3 = 44.*uniform pmf \(gamma = 0\), got 44"):
        float(Noise.of_variance(11, 44).gamma)


@pytest.mark.parametrize("variance", [44.1, 1e6])
def test_variance_above_its_bound_is_refused_with_the_bound(variance: float) -> None:
    with pytest.raises(ValueError, match=r"variance must be a number in \(0, D\(D\+1\)/3 = 44\)"):
        float(Noise.of_variance(11, variance).gamma)


@pytest.mark.parametrize("support", [1, 3, 10**6])
def test_variance_may_come_within_1e_270_of_its_ends(support: int) -> None:
    margin = Fraction(1, 10**270)
    assert float(Noise.of_variance(support, margin).gamma) == pytest.approx(math.log(2e270))
    least = float(Noise.of_variance(support, noise.variance_bound(support) - margin).gamma)
    assert 1e-299 < least < 1e-268
    for variance in (margin / 2, noise.variance_bound(support) - margin / 2):
        with pytest.raises(ValueError, match="and at least 1e-270 from both ends"):
            float(Noise.of_variance(support, variance).gamma)


@given(supports, proportions)
def test_exp_of_minus_gamma_is_the_root_of_f(support: int, proportion: Fraction) -> None:
    variance = proportion * noise.variance_bound(support)
    rate = certified.gamma(support=support, variance=variance, digits=20)
    low, high = (Fraction(repr(math.exp(-float(rate) * (1 + sign * 1e-9)))) for sign in (1, -1))
    if 0 < low < high < 1:
        assert certified.polynomial(low, support=support, variance=variance).upper < 0
        assert certified.polynomial(high, support=support, variance=variance).lower > 0


@given(supports, proportions, proportions)
def test_f_in_float64_is_the_enclosed_one(support: int, proportion: Fraction, x: Fraction) -> None:
    variance = proportion * noise.variance_bound(support)
    scale = float(certified.polynomial(x, support=support, variance=support**2)) + support**3
    ours = noise.polynomial(x, support=support, variance=variance)
    truth = certified.polynomial(x, support=support, variance=variance)
    assert ours == pytest.approx(float(truth), rel=1e-9, abs=1e-14 * abs(scale))


@given(supports, proportions)
def test_f_at_zero_and_one_is_exact(support: int, proportion: Fraction) -> None:
    variance = proportion * noise.variance_bound(support)
    assert noise.polynomial(0, support=support, variance=variance) == float(-variance)
    at_one = (2 * support + 1) * (noise.variance_bound(support) - variance)
    assert noise.polynomial(1, support=support, variance=variance) == pytest.approx(float(at_one), rel=1e-15)


def test_f_beyond_one_finds_the_root_of_a_variance_above_the_bound() -> None:
    # D = 1, V = 4/5 > 2/3: 2x/(1 + 2x) = 4/5 at x = 2.
    assert noise.polynomial(2, support=1, variance="0.8") == pytest.approx(0, abs=1e-15)
    assert (
        noise.polynomial("1.5", support=1, variance="0.8")
        < 0
        < noise.polynomial(3, support=1, variance="0.8")
    )


def test_f_that_overflows_is_refused() -> None:
    with pytest.raises(ValueError, match=r"x must be small enough for x\^1000000 to fit float64, got 2"):
        noise.polynomial(2, support=1000, variance=4)


@settings(max_examples=5)
@given(proportions)
def test_no_pmf_of_the_same_variance_has_more_entropy(proportion: Fraction) -> None:
    support = 5
    variance = float(proportion * noise.variance_bound(support))
    z = np.arange(-support, support + 1)
    found = minimize(
        lambda p: float((p * np.log(np.maximum(p, 1e-300))).sum()),
        np.full(2 * support + 1, 1 / (2 * support + 1)),
        method="SLSQP",
        bounds=[(0, 1)] * (2 * support + 1),
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1},
            {"type": "eq", "fun": lambda p: p @ z},
            {"type": "ineq", "fun": lambda p: variance - p @ z**2},
        ],
    )
    gamma = float(Noise.of_variance(support, variance).gamma)
    assert -found.fun <= Noise(support, gamma).entropy + 1e-6
