"""Section III-B: E*, F*, z*, Proposition 2, its plateau and inverse, and the hockey stick."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.checks import relative_error
from support.strategies import epsilons, near_kinks, noises

from tablebuilder_dp import certified, privacy
from tablebuilder_dp.noise import Noise

Drawn = tuple[int, Fraction]


@given(noises(), epsilons)
def test_closed_form_brute_force_and_enclosure_agree(drawn: Drawn, epsilon: Fraction) -> None:
    support, gamma = drawn
    truth = certified.delta(Noise(support, gamma), epsilon)
    assert relative_error(privacy.delta(Noise(support, gamma), epsilon), truth) < 1e-12
    pair = privacy.neighbours(Noise(support, gamma).pmf)
    forward, backward = privacy.hockey_stick(*pair, epsilon)
    assert forward == pytest.approx(float(truth), rel=1e-9, abs=1e-14)
    assert backward == pytest.approx(forward, rel=1e-12)


@given(near_kinks())
def test_delta_holds_on_kinks_and_beside_them(drawn: tuple[int, Fraction, Fraction]) -> None:
    support, gamma, epsilon = drawn
    truth = certified.delta(Noise(support, gamma), epsilon)
    assert relative_error(privacy.delta(Noise(support, gamma), epsilon), truth) < 1e-12


@pytest.mark.unmeasured
@pytest.mark.parametrize("ratio", ["1e-3", "0.3", "0.999", "1", "1.001", "3"])
@pytest.mark.parametrize(
    ("support", "gamma"), [(1, 690), (2, 170), (5, 27), (26, 1), (827, "0.001"), (26000, "1e-6")]
)
def test_delta_keeps_its_digits_down_to_1e_300(support: int, gamma: str, ratio: str) -> None:
    rate = Fraction(gamma)
    epsilon = min(Fraction(ratio) * rate * (2 * support - 1), Fraction(500))
    truth = certified.delta(Noise(support, rate), epsilon, digits=20)
    assert relative_error(privacy.delta(Noise(support, rate), epsilon), truth) < 1e-12
    if Fraction(ratio) >= 1 and epsilon < 500:
        assert Fraction(1, 10**300) < truth.upper < Fraction(1, 10**285)


@pytest.mark.parametrize("epsilon", ["0.001", "0.01"])
def test_delta_holds_for_a_wide_support(epsilon: str) -> None:
    support, gamma = 10**5, Fraction("2e-9")
    truth = certified.delta(Noise(support, gamma), epsilon, digits=20)
    assert relative_error(privacy.delta(Noise(support, gamma), epsilon), truth) < 1e-12


def test_delta_below_float64_is_refused_not_rounded_to_zero() -> None:
    for call in (
        lambda: privacy.delta(Noise(20, 2), 500),
        lambda: privacy.delta(Noise(20, 2), [0.1, 500]),
        lambda: privacy.plateau(Noise(20, 2)),
    ):
        with pytest.raises(ValueError, match=r"delta is below 1e-300 for support 20 and gamma 2.0"):
            call()
    assert privacy.delta(Noise(20, 2), 0.1) > 0.5


def test_delta_beside_kinks_at_large_epsilon() -> None:
    """Where δ hangs on the last digits of ε: every kink of steep noises, and a hair to either side."""
    for support, gamma in (
        (2, "1.37"),
        (3, "2.113"),
        (4, "7.012"),
        (5, "0.9917"),
        (2, "84.1647"),
        (6, "3.3331"),
    ):
        rate = Fraction(gamma)
        for z in range(-support, 1):
            for hair in (0, "1e-22", "-1e-22", "1e-16", "-1e-16", "3e-17", "-3e-22", "1e-9", "-1e-9"):
                epsilon = rate * (1 - 2 * z) * (1 + Fraction(hair))
                if epsilon < 500:
                    truth = certified.delta(Noise(support, rate), epsilon)
                    found = privacy.delta(Noise(support, rate), [epsilon, Fraction(1)])[0]
                    assert relative_error(found, truth) < 2e-13, (support, gamma, z, hair)


def test_delta_just_below_the_onset_of_the_plateau() -> None:
    truth = certified.delta(Noise(4, 7.012), 49.083999999999996)
    assert relative_error(privacy.delta(Noise(4, 7.012), 49.083999999999996), truth) < 1e-12


@pytest.mark.parametrize(("epsilon", "support", "gamma"), [(300, 2, 200), ("0.5", 1000, 1), (40, 30, 2)])
def test_delta_of_noises_whose_tails_underflow(epsilon: str, support: int, gamma: int) -> None:
    truth = certified.delta(Noise(support, gamma), epsilon)
    assert relative_error(privacy.delta(Noise(support, gamma), epsilon), truth) < 1e-12


def test_prefix_sums_of_a_million_terms_keep_their_digits() -> None:
    sums = privacy._prefix_sums(np.full(10**6, 0.1))
    exact = Fraction(0.1) * 10**6
    assert abs(Fraction(float(sums[-1])) / exact - 1) < Fraction(1, 10**13)
    assert abs(Fraction(float(np.full(10**6, 0.1).cumsum()[-1])) / exact - 1) > Fraction(1, 10**13)


@given(noises(), epsilons)
def test_epsilon_of_a_delta_below_gamma_keeps_its_digits(drawn: Drawn, share: Fraction) -> None:
    support, gamma = drawn
    small = min(gamma, Fraction(1)) * share / 10
    delta = privacy.delta(Noise(support, gamma), small)
    if small < gamma and float(certified.normaliser(Noise(support, gamma))) - delta > 1e-3 * delta:
        truth = certified.epsilon(Noise(support, gamma), delta)
        assert relative_error(privacy.epsilon(Noise(support, gamma), delta), truth) < 1e-12


@pytest.mark.parametrize("support", range(1, 60))
def test_epsilon_of_a_plateaus_own_height_is_finite(support: int) -> None:
    gamma = Fraction(1, 100)
    edge = privacy.plateau(Noise(support, gamma))
    assert privacy.epsilon(Noise(support, gamma), edge.height) == pytest.approx(float(edge.onset), rel=1e-6)


def test_array_of_epsilon_equals_one_at_a_time() -> None:
    levels = np.linspace(0.01, 3, 500)
    together = privacy.delta(Noise(25, "0.01"), levels)
    assert together.tolist() == [privacy.delta(Noise(25, "0.01"), level) for level in levels.tolist()]
    mixed: list[Any] = [Fraction(1, 3), Decimal("0.5"), "1.5", 2, np.float64(0.1)]
    assert privacy.delta(Noise(25, "0.01"), mixed).tolist() == [
        privacy.delta(Noise(25, "0.01"), level) for level in mixed
    ]


def test_a_float_epsilon_means_the_decimal_that_it_prints_as() -> None:
    # ε = 29.9 lies on a kink of γ = 5.98 (29.9 = 5·5.98) where δ turns by e^29.9 within one ulp.
    truth = certified.delta(Noise(4, "5.98"), "29.9")
    assert relative_error(privacy.delta(Noise(4, 5.98), 29.9), truth) < 1e-12
    assert relative_error(privacy.delta(Noise(4, 5.98), np.array([1.0, 29.9]))[1], truth) < 1e-12


@given(noises(), epsilons)
def test_e_star_is_where_the_ratio_exceeds_e_to_the_epsilon(drawn: Drawn, epsilon: Fraction) -> None:
    support, gamma = drawn
    found = privacy.e_star(Noise(support, gamma), epsilon)
    exceeding = [z for z in range(-support + 1, support + 1) if gamma * (1 - 2 * z) > epsilon]
    assert list(found) == [-support, *exceeding]
    assert list(privacy.f_star(Noise(support, gamma), epsilon)) == exceeding
    star = math.floor(Fraction(1, 2) - epsilon / (2 * gamma))
    assert privacy.z_star(Noise(support, gamma), epsilon) == star


def test_z_star_at_integer_thresholds() -> None:
    assert privacy.z_star(Noise(3, "0.3"), "0.3") == 0  # ε = γ: the threshold is 0 exactly
    assert list(privacy.e_star(Noise(3, "0.3"), "0.3")) == [-3, -2, -1]
    assert privacy.z_star(Noise(3, "0.3"), "0.9") == -1
    assert privacy.z_star(Noise(3, 0.1), 0.3) == -1  # 0.3/0.1 in float64 would miss the integer
    assert list(privacy.e_star(Noise(3, 0.1), 0.3)) == [-3, -2]


@given(noises())
def test_plateau_begins_where_delta_stops_falling(drawn: Drawn) -> None:
    support, gamma = drawn
    edge = privacy.plateau(Noise(support, gamma))
    assert edge.onset == gamma * (2 * support - 1)
    assert relative_error(edge.height, certified.pmf(Noise(support, gamma), -support)) < 1e-12
    if support > 1 and edge.onset < 400:
        after = certified.delta(Noise(support, gamma), edge.onset * Fraction(11, 10))
        at = certified.delta(Noise(support, gamma), edge.onset)
        before = certified.delta(Noise(support, gamma), edge.onset * Fraction(99, 100))
        assert before.lower > at.upper
        assert float(at) == pytest.approx(float(after), rel=1e-14)


@given(noises(), epsilons)
def test_epsilon_of_delta_of_epsilon(drawn: Drawn, epsilon: Fraction) -> None:
    support, gamma = drawn
    delta = privacy.delta(Noise(support, gamma), epsilon)
    found = privacy.epsilon(Noise(support, gamma), delta)
    if found < math.inf:
        assert privacy.delta(Noise(support, gamma), max(found, 1e-9)) == pytest.approx(delta, rel=1e-9)
        assert found <= float(epsilon) * (1 + 1e-9) + 1e-12 or epsilon >= gamma * (2 * support - 1)
    assert privacy.epsilon(Noise(support, gamma), delta * 0.999 if delta > 2e-300 else 2e-300) >= found


@given(noises(tail=200), st.floats(0.01, 0.99))
def test_epsilon_of_delta_lies_in_its_enclosure(drawn: Drawn, place: float) -> None:
    support, gamma = drawn
    low = privacy.plateau(Noise(support, gamma)).height
    high = privacy.delta(Noise(support, gamma), "1e-4")
    delta = low * (high / low) ** place
    if low * 1.001 < delta < high * 0.999:
        truth = certified.epsilon(Noise(support, gamma), delta)
        assert privacy.epsilon(Noise(support, gamma), delta) == pytest.approx(float(truth), rel=1e-9)


def test_epsilon_at_the_two_ends() -> None:
    height = privacy.plateau(Noise(11, "0.125")).height
    assert privacy.epsilon(Noise(11, "0.125"), height * (1 - 1e-9)) == math.inf
    assert privacy.epsilon(Noise(11, "0.125"), height * (1 + 1e-9)) == pytest.approx(2.625, rel=1e-6)
    variation = privacy.hockey_stick(*privacy.neighbours(Noise(11, "0.125").pmf), 0).forward
    assert privacy.epsilon(Noise(11, "0.125"), variation + 1e-12) == 0
    assert privacy.epsilon(Noise(11, "0.125"), variation - 1e-9) == pytest.approx(0, abs=1e-7)
    assert privacy.epsilon(Noise(11, "0.125"), [0.9, 0.05]).tolist() == [
        0,
        privacy.epsilon(Noise(11, "0.125"), 0.05),
    ]


def test_delta_agrees_with_an_independent_accountant() -> None:
    # dp_accounting 0.6.0: DiscreteGaussianPrivacyLoss(sigma=sqrt(1/(2γ)), truncation_bound=11), γ of V = 4.
    gamma = float(Noise.of_variance(11, 4).gamma)
    expected = {0.5: 0.054007209249607274, 1: 0.00724877797992120589, 2: 1.07611818837372555e-5}
    for epsilon, delta in expected.items():
        assert privacy.delta(Noise(11, gamma), epsilon) == pytest.approx(delta, rel=1e-13)


def test_hockey_stick_counts_outcomes_of_one_side_alone_and_both_directions() -> None:
    p, q = [0.1, 0.9, 0.0], [0.0, 0.3, 0.7]
    forward, backward = privacy.hockey_stick(p, q, math.log(2))
    assert forward == pytest.approx(0.1 + 0.9 - 2 * 0.3)
    assert backward == pytest.approx(0.7)
    assert privacy.hockey_stick(p, p, 0) == (0, 0)
    assert privacy.hockey_stick(p, q, 500).backward == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.5, 0.6], "p must be a sequence of probabilities that sum to 1"),
        ([-0.5, 1.5], "p must be a sequence"),
        ([math.nan, 1], "p must be a sequence"),
        ([], "p must be a sequence"),
        ([[0.5], [0.5]], "p must be a sequence"),
        (["a", "b"], "p must be a sequence"),
        ([1j, 1], "p must be a sequence"),
        ([True, False], "p must be a sequence"),
        ([1.0], r"q must be as long as p \(1\)"),
    ],
)
def test_hockey_stick_refuses_what_is_not_a_pmf(p: list[float], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        privacy.hockey_stick(p, [0.5, 0.5], 1)
