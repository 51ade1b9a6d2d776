"""The least δ, support and variance of any noise on [−D, D]."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.checks import relative_error
from support.strategies import decimals, epsilons, proportions, supports

from compendium.figures import other_noise as pictures
from tablebuilder_dp import certified, noise, privacy
from tablebuilder_dp.beyond import other_noise
from tablebuilder_dp.noise import Geometric
from tablebuilder_dp.support.intervals import Enclosure


@st.composite
def rational_pmfs(draw: st.DrawFn) -> list[Fraction]:
    """Any pmf on [−D, D] with rational masses, skew ones and ones with holes included."""
    support = draw(st.integers(1, 6))
    sizes = st.lists(st.integers(0, 10**6), min_size=2 * support + 1, max_size=2 * support + 1)
    weights = draw(sizes.filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


def larger_delta(masses: list[Fraction], epsilon: Fraction) -> Enclosure:
    both = certified.hockey_stick([*masses, Fraction(0)], [Fraction(0), *masses], epsilon)
    return max(both, key=lambda side: side.upper)


def nearly_geometric(epsilon: Fraction, support: int) -> list[Fraction]:
    """The geometric noise with masses rounded to multiples of 1e-15 of the largest."""
    weights = [Fraction(round(10**15 * math.exp(-epsilon * abs(z)))) for z in range(-support, support + 1)]
    return [weight / sum(weights) for weight in weights]


@given(epsilons, supports)
def test_the_geometric_noise_reaches_the_least_delta(epsilon: Fraction, support: int) -> None:
    assume(epsilon * support < 600)
    least = other_noise.least_delta(epsilon, support=support)
    assert relative_error(privacy.delta(Geometric(support, epsilon), epsilon), least) < 1e-12
    assert relative_error(float(Geometric(support, epsilon).pmf[0]), least) < 1e-12


@given(decimals(-2, 0), decimals(-2, 0), st.integers(1, 30))
def test_delta_of_geometric_noise_of_any_rate_is_its_definition(
    epsilon: Fraction, rate: Fraction, support: int
) -> None:
    assume(abs(epsilon - rate) > Fraction(1, 1000))  # so that the definition can be summed in float64
    here, there = privacy.neighbours(Geometric(support, rate).pmf)
    defined = max(privacy.hockey_stick(here, there, epsilon))
    found = privacy.delta(Geometric(support, rate), epsilon)
    assert found == pytest.approx(defined, rel=1e-11)
    assert found >= float(other_noise.least_delta(epsilon, support=support))


@settings(max_examples=60)
@given(rational_pmfs(), decimals(-2, 0))
def test_no_pmf_beats_the_least_delta(masses: list[Fraction], epsilon: Fraction) -> None:
    least = other_noise.least_delta(epsilon, support=len(masses) // 2)
    assert larger_delta(masses, epsilon).lower > least.upper


@settings(max_examples=40)
@given(decimals(-2, 0), st.integers(1, 8), st.data())
def test_moving_mass_away_from_the_geometric_noise_raises_delta(
    epsilon: Fraction, support: int, data: st.DataObject
) -> None:
    masses = nearly_geometric(epsilon, support)
    giver, taker = data.draw(
        st.lists(st.sampled_from(range(2 * support + 1)), min_size=2, max_size=2, unique=True)
    )
    step = masses[giver] / data.draw(st.integers(2, 10**6))
    masses[giver] -= step
    masses[taker] += step
    assert larger_delta(masses, epsilon).lower > other_noise.least_delta(epsilon, support=support).upper


@given(decimals(-2, 1), decimals(-12, 0))
def test_least_support_is_the_first_whose_least_delta_suffices(epsilon: Fraction, delta: Fraction) -> None:
    found = other_noise.least_support(epsilon, delta)
    assert other_noise.least_delta(epsilon, support=found).upper < delta
    if found > 1:
        assert other_noise.least_delta(epsilon, support=found - 1).lower > delta


def test_least_support_decides_a_target_one_part_in_1e40_from_a_least_delta() -> None:
    edge = other_noise.least_delta("0.5", support=25, digits=60)
    hair = edge.lower / 10**40
    assert other_noise.least_support("0.5", edge.upper + hair) == 25
    assert other_noise.least_support("0.5", edge.lower - hair) == 26
    assert other_noise.least_support("0.5", "1e-4") == 16
    # mpmath, 50 digits: log(((q - 1)*10**12 + 2)/(q + 1))/e = 13122365.377… for e = 1e-6, q = exp(e)
    assert other_noise.least_support("1e-6", "1e-12") == 13_122_366


@pytest.mark.parametrize(("epsilon", "delta"), [("1e-38", "1e-38"), ("1e-40", "1e-60"), ("1e-290", "1e-300")])
def test_tiny_parameters_are_decided_by_more_bits(epsilon: str, delta: str) -> None:
    level, target = Fraction(epsilon), Fraction(delta)
    found = other_noise.least_support(epsilon, delta)
    # for ε → 0 the support is about ln(ε/(2δ) + 1)/ε
    assert float(found * level) == pytest.approx(math.log1p(float(level / (2 * target))), rel=1e-6)
    variance = other_noise.least_variance(epsilon, delta)
    uniform, geometric = Fraction(found * (found + 1), 3), 2 / level**2
    assert 0 < variance.lower < min(uniform, geometric)
    if found * level > 20:
        assert float(variance.lower / geometric) == pytest.approx(1, rel=1e-4)


@given(supports, proportions)
def test_geometric_noise_is_found_by_its_variance(support: int, share: Fraction) -> None:
    variance = share * noise.variance_bound(support)
    rate = float(Geometric.of_variance(support, variance).rate)
    masses = Geometric(support, rate).pmf
    assert other_noise.measures(masses).variance == pytest.approx(float(variance), rel=1e-11)


def test_rates_at_the_ends_of_the_range() -> None:
    # cosh t − 1 = 1/V if nothing is cut off
    assert float(Geometric.of_variance(25, "1e-200").rate) == pytest.approx(math.log(2e200))
    wide = float(Geometric.of_variance(10**6, 10**9).rate)
    assert wide == pytest.approx(math.sqrt(2e-9), rel=1e-9)
    for support in (1, 28):  # rounding leaves nothing to solve; it even turns the sign for 28
        nearly = noise.variance_bound(support) * (1 - Fraction(1, 10**30))
        assert 0 < float(Geometric.of_variance(support, nearly).rate) < 1e-29
    for gap in (
        "1e-3",
        "1e-8",
        "1e-12",
        "1e-20",
    ):  # V = U − t·Cov(Z², |Z|) to first order, of the uniform noise
        support, z = 1000, np.arange(-1000.0, 1001)
        slope = float(np.mean(z**2 * np.abs(z)) - np.mean(z**2) * np.mean(np.abs(z)))
        bound = noise.variance_bound(support)
        rate = float(Geometric.of_variance(support, bound - Fraction(gap)).rate)
        assert rate == pytest.approx(float(gap) / slope, rel=1e-6)


@given(epsilons, supports)
def test_variance_of_the_geometric_noise_in_closed_form(epsilon: Fraction, support: int) -> None:
    pmf = Geometric(support, epsilon).pmf
    closed = certified.variance(Geometric(support, epsilon))
    assert relative_error(other_noise.measures(pmf).variance, closed) < 1e-12


@settings(max_examples=60)
@given(rational_pmfs(), decimals(-2, 0))
def test_no_pmf_has_less_than_the_least_variance_for_its_delta(
    masses: list[Fraction], epsilon: Fraction
) -> None:
    delta = larger_delta(masses, epsilon).upper
    assume(delta < 1)
    support = len(masses) // 2
    second = sum(z * z * mass for z, mass in zip(range(-support, support + 1), masses, strict=True))
    assert other_noise.least_variance(epsilon, delta, digits=12).lower <= second


def test_biased_noise_can_have_less_than_the_least_variance_of_unbiased_noise() -> None:
    masses = [Fraction(0), Fraction(1, 2), Fraction(1, 2)]
    assert larger_delta(masses, Fraction(1, 2)).lower == Fraction(1, 2)
    assert other_noise.measures([0, 0.5, 0.5]).variance == 0.25
    assert other_noise.least_variance("0.5", "0.5").digits(4) == "0.3775"


@given(decimals(-2, 0), st.integers(1, 20))
def test_least_variance_at_the_delta_of_a_geometric_noise_is_its_variance(
    epsilon: Fraction, support: int
) -> None:
    delta = other_noise.least_delta(epsilon, support=support, digits=50)
    found = other_noise.least_variance(epsilon, delta.upper)
    assert relative_error(float(certified.variance(Geometric(support, epsilon))), found) < 1e-12


@given(rational_pmfs())
def test_measures_agree_with_the_definitions(masses: list[Fraction]) -> None:
    found = other_noise.measures([float(mass) for mass in masses])
    support = len(masses) // 2
    z = range(-support, support + 1)
    mean = sum(y * mass for y, mass in zip(z, masses, strict=True))
    variance = sum((y - mean) ** 2 * mass for y, mass in zip(z, masses, strict=True))
    assert found.variance == pytest.approx(float(variance), rel=1e-9, abs=1e-12)
    assert found.entropy == pytest.approx(-sum(float(m) * math.log(m) for m in masses if m), abs=1e-12)
    assert found.unchanged == float(masses[support])


def test_entropy_skips_values_without_mass() -> None:
    assert other_noise.measures([0.0, 1.0, 0.0]) == (0.0, 0.0, 1.0)
    assert np.all(Geometric(2, 500).pmf == [0, math.exp(-500), 1, math.exp(-500), 0])


def test_bad_input_is_refused_in_one_sentence() -> None:
    with pytest.raises(ValueError, match="pmf must be of odd length 2D \\+ 1, got array"):
        other_noise.measures([0.5, 0.5])
    with pytest.raises(ValueError, match="pmf must be a sequence of probabilities that sum to 1"):
        other_noise.measures([0.5, 0.6, 0.5])
    with pytest.raises(ValueError, match="support must be an integer from 1 to 1000000, got 0"):
        other_noise.least_delta(1, support=0)
    with pytest.raises(ValueError, match=r"rate must be a number in \(0, 500\], got 0"):
        Geometric(3, 0)
    for wrong in (0, 501):
        with pytest.raises(ValueError, match=rf"rate must be a number in \(0, 500\], got {wrong}"):
            privacy.delta(Geometric(3, wrong), 1)
    with pytest.raises(ValueError, match="delta is below 1e-300 for support 3 and rate 500.0, beyond"):
        privacy.delta(Geometric(3, 500), 500)
    for bad in (0, 4, 5):
        with pytest.raises(ValueError, match=r"variance must be a number in \(0, D\(D\+1\)/3 = 4\) for"):
            float(Geometric.of_variance(3, bad).rate)
    with pytest.raises(ValueError, match=r"delta must be a number in \(0, 1\), got 1"):
        other_noise.least_support(1, 1)
    with pytest.raises(ValueError, match=r"epsilon must be a number in \(0, 500\], got -1"):
        other_noise.least_variance(-1, "0.1")


def test_a_picture_refuses_more_noises_than_it_can_tell_apart() -> None:
    pmfs = {str(i): [0.25, 0.5, 0.25] for i in range(7)}
    with pytest.raises(ValueError, match="a figure must have at most 4 curves, got 7"):
        pictures.noise_shapes("x", epsilon=0.5, pmfs=pmfs)
    with pytest.raises(ValueError, match="a figure must have at most 5 points, got 8"):
        pictures.trade_off("x", epsilon=0.5, support=2, points={str(i): (1.0, 0.1) for i in range(8)})
