"""Sections III-C and III-D: the ranges, Proposition 3, the γ grid and the design guide."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.checks import relative_error
from support.strategies import decimals, epsilons, supports

from tablebuilder_dp import certified, design, privacy
from tablebuilder_dp.noise import Noise

slacks = st.builds(lambda k: Fraction(k, 100), st.integers(0, 100))


@given(epsilons, supports, slacks)
def test_proposition_3_reaches_its_delta_at_its_epsilon(
    epsilon: Fraction, support: int, slack: Fraction
) -> None:
    made = design.proposition_3(epsilon, support=support, slack=slack)
    truth = certified.delta(made, epsilon)
    assert relative_error(made.delta, truth) < 1e-12
    assert relative_error(made.delta, certified.pmf(made, -support)) < 1e-12
    assert made.gamma == epsilon / (2 * support - 1) - slack * 2 * epsilon / (4 * support**2 - 1)
    assert made.gamma == epsilon / (2 * support - 1) + made.iota
    assert made.iota <= 0
    assert list(privacy.e_star(made, epsilon)) == [-support]
    assert made.variance == Noise(support, made.gamma).variance


@given(epsilons, supports, slacks)
def test_ranges_hold_every_slack(epsilon: Fraction, support: int, slack: Fraction) -> None:
    made = design.proposition_3(epsilon, support=support, slack=slack)
    found = design.ranges(epsilon, support=support)
    assert found.gamma == (epsilon / (2 * support + 1), epsilon / (2 * support - 1))
    constant = Noise(support, made.gamma).normaliser
    for value, (low, high) in (
        (made.gamma, found.gamma),
        (made.variance, found.variance),
        (made.delta, found.delta),
        (constant, found.normaliser),
    ):
        assert float(low) * (1 - 1e-13) <= value <= float(high) * (1 + 1e-13)


def test_z_star_is_minus_d_on_the_half_open_range_of_gamma() -> None:
    low, high = design.ranges("0.5", support=25).gamma
    hair = Fraction(1, 10**30)
    stars = [privacy.z_star(Noise(25, gamma), "0.5") for gamma in (low, low - hair, high - hair, high)]
    assert stars == [-25, -26, -25, -24]


@settings(max_examples=30)
@given(epsilons, decimals(-12, 0), slacks)
def test_guide_finds_the_smallest_support(epsilon: Fraction, delta: Fraction, slack: Fraction) -> None:
    if epsilon < Fraction(1, 100):
        epsilon *= 100
    found = design.guide(epsilon, delta, slack=slack)
    assert found.delta <= float(delta)
    assert found.epsilon == epsilon
    for support in range(max(1, found.support - 3), found.support):
        smaller = design.proposition_3(epsilon, support=support, slack=slack)
        assert certified.pmf(smaller, support).lower > delta


def test_guide_on_the_papers_example() -> None:
    found = design.guide(0.5, 1e-4)
    assert (found.support, found.slack, found.iota) == (25, Fraction(1, 10), Fraction(-1, 24990))
    assert len(found.pmf) == 51
    assert found.pmf[0] == found.delta


def test_guide_trusts_enclosures_not_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = design.guide(0.5, 1e-4).support
    for wrong in (expected - 3, expected + 3):
        monkeypatch.setattr(design, "_proposed_support", lambda *_, wrong=wrong: wrong)
        assert design.guide(0.5, 1e-4).support == expected


def test_guide_decides_a_target_one_part_in_1e20_from_delta() -> None:
    edge = certified.pmf(Noise(25, design.guide(0.5, 1e-4).gamma), 25, digits=40)
    hair = Fraction(1, 10**24)
    assert design.guide("0.5", edge.upper + hair).support == 25
    assert design.guide("0.5", edge.lower - hair).support == 26


def test_guide_for_strong_privacy() -> None:
    assert design.guide(0.01, 1e-9).support == 2710
    assert design.guide(500, 0.5).support == 1


def test_guide_refuses_what_no_support_reaches() -> None:
    with pytest.raises(
        ValueError, match=r"delta must be reachable at epsilon 1e-06 with a support of at most"
    ):
        design.guide("1e-6", "1e-12")


def test_best_delta_on_grid_is_the_least_of_proposition_2() -> None:
    grid = tuple(Fraction(k, 1000) for k in range(1, 61))
    for epsilon in ("0.1", "0.5", "1.3"):
        found = design.best_delta_on_grid(epsilon, support=11, gammas=grid)
        deltas = [privacy.delta(Noise(11, gamma), epsilon) for gamma in grid]
        assert found.delta == pytest.approx(min(deltas), rel=1e-12)
        assert found.gamma == float(grid[int(np.argmin(deltas))])


def test_best_delta_on_grid_refuses_an_underflow_and_serves_a_wide_support() -> None:
    with pytest.raises(ValueError, match="gammas must be such that delta stays above 1e-300"):
        design.best_delta_on_grid(40, support=100)
    found = design.best_delta_on_grid("0.01", support=2000, gammas=("1e-6", "2.5e-6", "1e-5"))
    assert found.delta == pytest.approx(privacy.delta(Noise(2000, str(found.gamma)), "0.01"), rel=1e-9)


def test_a_design_whose_delta_underflows_is_still_a_design() -> None:
    made = design.guide(500, "1e-290")
    assert made.support == 3
    assert made.variance > 0
    with pytest.raises(ValueError, match="delta is below 1e-300"):
        _ = made.delta


def test_papers_grid_is_never_worse_than_its_own_formula_by_more_than_the_grid() -> None:
    assert len(design.PAPER_GRID) == 3000
    assert (design.PAPER_GRID[0], design.PAPER_GRID[-1]) == (Fraction(1, 10000), Fraction(3, 10))
    best = design.best_delta_on_grid("0.5", support=11)
    heuristic = design.proposition_3("0.5", support=11, slack=0).delta
    assert best.gamma == 0.0294
    assert best.delta < heuristic
