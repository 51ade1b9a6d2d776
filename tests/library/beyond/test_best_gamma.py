"""The best γ: kinks, the exact optimum and the guide with γ free, against brute force."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.checks import relative_error
from support.strategies import decimals, epsilons, gammas, supports

from tablebuilder_dp import certified, design, privacy
from tablebuilder_dp.beyond import best_gamma
from tablebuilder_dp.design import Design
from tablebuilder_dp.noise import Noise

levels = decimals(-3, 1, digits=3)
few = settings(max_examples=25)
LIST: Any = [1]
TWO: Any = 2.0


def kink(epsilon: Any, support: int) -> int:
    return best_gamma.kink(best_gamma.best(epsilon, support=support))


def brute_force(epsilon: Fraction, support: int, gamma: Fraction) -> Fraction:
    """A lower bound on δ from its definition, which knows nothing of kinks."""
    return certified.delta(Noise(support, gamma), epsilon, digits=12).lower


@settings(max_examples=40)
@given(epsilons, supports, st.data())
def test_kinks_have_the_certified_delta(epsilon: Fraction, support: int, data: st.DataObject) -> None:
    found = best_gamma.kinks(epsilon, support=support)
    assert found.shape == (support,)
    m = data.draw(st.integers(1, support))
    truth = certified.delta(Noise(support, epsilon / (2 * m - 1)), epsilon)
    assert relative_error(float(found[m - 1]), truth) < 1e-12


def test_kinks_of_a_wide_support_keep_their_digits() -> None:
    found = best_gamma.kinks("0.01", support=1500)
    for m in (1, 700, 1300, 1500):
        truth = certified.delta(Noise(1500, Fraction(1, 100) / (2 * m - 1)), "0.01")
        assert relative_error(float(found[m - 1]), truth) < 1e-12


@few
@given(levels, st.integers(1, 14), st.lists(gammas, min_size=3, max_size=3), st.data())
def test_no_gamma_is_better_than_the_best(
    epsilon: Fraction, support: int, anywhere: list[Fraction], data: st.DataObject
) -> None:
    found = best_gamma.best(epsilon, support=support)
    least = certified.delta(found, epsilon)
    hair = 1 + data.draw(st.sampled_from([-1, 1])) * Fraction(10) ** -data.draw(st.integers(1, 9))
    rivals = [epsilon / (2 * m - 1) for m in range(1, support + 1)]
    for gamma in [*anywhere, *rivals, *(gamma * hair for gamma in rivals)]:
        assert gamma == found.gamma or brute_force(epsilon, support, gamma) > least.upper
    assert relative_error(found.delta, least) < 1e-12
    assert found.gamma == epsilon / (2 * best_gamma.kink(found) - 1)


@few
@given(levels, st.integers(2, 12), st.data())
def test_between_two_kinks_delta_rises_and_then_falls(
    epsilon: Fraction, support: int, data: st.DataObject
) -> None:
    k = data.draw(st.integers(0, support))
    low = epsilon / (2 * k + 1) if k < support else epsilon / (2 * support - 1) / 100
    high = epsilon / (2 * k - 1) if k else 3 * epsilon
    steps = [low + (high - low) * Fraction(i, 12) for i in range(13)]
    deltas = [brute_force(epsilon, support, gamma) for gamma in steps]
    signs = np.sign(np.diff(np.array(deltas, dtype=object)).astype(float))
    assert (np.diff(signs) <= 0).all()  # never from falling to rising
    assert k < support or signs[0] < 0
    assert k or signs[-1] > 0


@few
@given(levels, st.integers(2, 12), st.data())
def test_kinks_point_down(epsilon: Fraction, support: int, data: st.DataObject) -> None:
    m = data.draw(st.integers(1, support))
    gamma, hair = epsilon / (2 * m - 1), Fraction(1, 10**12)
    left, at, right = (
        certified.delta(Noise(support, gamma * (1 + shift)), epsilon, digits=40).lower
        for shift in (-hair, 0, hair)
    )
    jump = float((left + right - 2 * at) / (gamma * hair))
    mass = certified.pmf(Noise(support, gamma), m - 1)
    assert jump == pytest.approx((2 * m - 1) * float(mass), rel=1e-6)


@few
@given(levels, st.integers(1, 30), gammas)
def test_at_a_fixed_gamma_a_wider_support_has_a_smaller_delta(
    epsilon: Fraction, support: int, gamma: Fraction
) -> None:
    gamma = min(gamma, Fraction(600, (support + 1) ** 2))
    wide, narrow = (certified.delta(Noise(D, gamma), epsilon, digits=500) for D in (support + 1, support))
    assert wide.upper < narrow.lower


@pytest.mark.parametrize("order", [1, -1])
def test_the_winner_is_chosen_by_enclosures_not_by_float64(
    monkeypatch: pytest.MonkeyPatch, order: int
) -> None:
    expected = [kink(level, 20) for level in ("0.01", "0.5", "2", "4")]
    assert expected == sorted(expected)
    assert len(set(expected)) == 4
    monkeypatch.setattr(best_gamma, "_log_deltas", lambda _, support, places: order * np.arange(len(places)))
    assert [kink(level, 20) for level in ("0.01", "0.5", "2", "4")] == expected


@pytest.mark.parametrize("bit", [60, 200])
def test_two_kinks_that_nearly_tie_are_told_apart(bit: int) -> None:
    # ε around the tie of the kinks 8 and 9 at D = 11, found by bisection: 60 or 200 bits of it
    low, high = Fraction(1, 10), Fraction(1, 2)
    for _ in range(bit):
        middle = (low + high) / 2
        ours, theirs = (certified.delta(Noise(11, middle / (2 * m - 1)), middle, digits=90) for m in (8, 9))
        low, high = (middle, high) if ours.upper < theirs.lower else (low, middle)
    assert (
        kink(low, 11),
        kink(high, 11),
    ) == (8, 9)


def test_best_at_the_papers_epsilon() -> None:
    # 0.00385227983348499…: Σ max(0, p(z) − e^ε·p(z−1)) at γ = 1/34 in 50-digit mpmath
    found = best_gamma.best(0.5, support=11)
    assert (best_gamma.kink(found), found.gamma) == (9, Fraction(1, 34))
    assert found.delta == pytest.approx(0.00385227983348499, rel=1e-14)
    assert found.variance == Noise(11, Fraction(1, 34)).variance
    assert privacy.hockey_stick(*privacy.neighbours(found.pmf), 0.5).forward == pytest.approx(found.delta)


@given(levels, st.integers(1, 25))
@few
def test_neither_the_paper_nor_its_grid_beats_the_best(epsilon: Fraction, support: int) -> None:
    found = best_gamma.best(epsilon, support=support).delta * (1 - 1e-12)
    paper = design.proposition_3(epsilon, support=support, slack=0)
    assert paper.delta >= found
    assert best_gamma.kinks(epsilon, support=support)[-1] == pytest.approx(paper.delta, rel=1e-12)
    assert design.best_delta_on_grid(epsilon, support=support, gammas=design.PAPER_GRID[::10]).delta >= found


@pytest.mark.unmeasured
@pytest.mark.parametrize("support", [1, 2, 3, 4, 5, 11, 15, 25, 47, 48, 49, 675])
def test_the_best_kink_for_small_epsilon(support: int) -> None:
    m = best_gamma.limit_kink(support)
    assert 3 * (m - 1) ** 2 <= support * (support + 1) < 3 * m**2
    assert kink("1e-6", support) == m


def expansion(support: int, m: int) -> tuple[Fraction, Fraction]:
    """The factors of ε and ε² in ln δ at the kink m, exactly."""
    rate = Fraction(1, 2 * m - 1)
    total = (-rate * Fraction(support * (support + 1), 3), rate**2 * sum(z**4 for z in range(support + 1)))
    beyond = range(m + 1, support + 1)  # N = w_m − (ε + ε²/2 + …)·Σ w_a
    excess = -rate * m**2 - len(beyond)
    second = rate**2 * m**4 / 2 - Fraction(len(beyond), 2) + rate * sum(a * a for a in beyond)
    return (
        excess - total[0],
        second - excess**2 / 2 - total[1] / (2 * support + 1) + total[0] ** 2 / 2,
    )


def test_where_two_kinks_tie_to_first_order_the_second_order_takes_the_outer_one() -> None:
    squares = {
        support: m
        for support in range(1, best_gamma.KINKS_MAX + 1)
        if 3 * (m := math.isqrt(support * (support + 1) // 3)) ** 2 == support * (support + 1)
    }
    assert squares == {3: 2, 48: 28, 675: 390}
    leads = []
    for support, m in squares.items():
        (one, two), (first, second) = expansion(support, m), expansion(support, m + 1)
        assert one == first
        leads.append(two - second)
        assert best_gamma.limit_kink(support) == m + 1
    assert leads == [Fraction(6, 25), Fraction(58492, 15675), Fraction(31636670, 608399)]


@few
@given(st.integers(1, 30), st.data())
def test_the_expansion_is_that_of_delta(support: int, data: st.DataObject) -> None:
    m, level = data.draw(st.integers(1, support)), Fraction(1, 10**12)
    found = certified.delta(Noise(support, level / (2 * m - 1)), level, digits=50)
    one, two = expansion(support, m)
    rest = certified.logarithm(found.lower * (2 * support + 1), digits=30).lower - one * level
    assert float(rest / level**2) == pytest.approx(float(two), rel=1e-6, abs=1e-6)


@few
@given(epsilons, supports, st.data())
def test_a_quick_look_never_excludes_what_is_not_above(
    epsilon: Fraction, support: int, data: st.DataObject
) -> None:
    m = data.draw(st.integers(1, support))
    delta = certified.delta(Noise(support, epsilon / (2 * m - 1)), epsilon)
    assert not best_gamma._surely_above(delta.upper, epsilon, support, m)
    assert best_gamma._surely_above(delta.lower / 10**9, epsilon, support, m)


@pytest.mark.unmeasured
@few
@given(decimals(-2, 1, digits=3), decimals(-9, 0))
def test_guide_finds_the_smallest_support_of_all(epsilon: Fraction, delta: Fraction) -> None:
    epsilon = max(epsilon, Fraction(2, 5))
    found = best_gamma.guide(epsilon, delta)
    truth = certified.delta(found, epsilon)
    assert truth.upper <= delta
    assert relative_error(found.delta, truth) < 1e-12
    assert found == best_gamma.best(epsilon, support=found.support)
    assert found.support <= design.guide(epsilon, delta, slack=0).support
    smaller = found.support - 1
    for m in range(1, smaller + 1):
        assert brute_force(epsilon, smaller, epsilon / (2 * m - 1)) > delta


@pytest.mark.parametrize("wrong", [21, 27])
def test_guide_trusts_enclosures_not_float64(monkeypatch: pytest.MonkeyPatch, wrong: int) -> None:
    monkeypatch.setattr(best_gamma, "bisect_left", lambda *_, **__: wrong)
    assert best_gamma.guide(0.5, 1e-4).support == 24


def test_guide_decides_a_target_one_part_in_1e20_from_delta() -> None:
    edge = certified.delta(Noise(24, Fraction(1, 78)), "0.5", digits=40)
    hair = Fraction(1, 10**25)
    assert best_gamma.guide("0.5", edge.upper + hair).support == 24
    assert best_gamma.guide("0.5", edge.lower - hair).support == 25


def test_guide_on_the_papers_example() -> None:
    found, paper = best_gamma.guide(0.5, 1e-4), design.guide(0.5, 1e-4)
    assert (found.support, best_gamma.kink(found), paper.support) == (24, 20, 25)
    assert found.delta < paper.delta
    assert found.variance < paper.variance
    assert len(found.pmf) == 49


def test_a_best_noise_whose_delta_underflows_is_still_found() -> None:
    found = best_gamma.guide(500, "1e-290")
    assert (found.support, best_gamma.kink(found)) == (3, 3)
    assert kink(500, 60) == 60
    for compute in (lambda: found.delta, lambda: best_gamma.kinks(500, support=3)):
        with pytest.raises(ValueError, match="delta is below 1e-300"):
            compute()


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: best_gamma.best(0, support=5), ValueError, r"epsilon must be a number in \(0, 500\], got 0"),
        (
            lambda: best_gamma.best(1, support=0),
            ValueError,
            "support must be an integer from 1 to 4000, got 0",
        ),
        (lambda: best_gamma.kinks(LIST, support=5), TypeError, "epsilon must be a number"),
        (lambda: best_gamma.kinks(1, support=TWO), TypeError, "support must be an integer from 1 to 4000"),
        (lambda: best_gamma.limit_kink(4001), ValueError, "support must be an integer from 1 to 4000"),
        (lambda: best_gamma.guide(1, 1), ValueError, r"delta must be a number in \(0, 1\), got 1"),
        (
            lambda: best_gamma.guide("0.001", "1e-6"),
            ValueError,
            "delta must be such that Proposition 3 reaches",
        ),
        (
            lambda: best_gamma.kink(Design(5, Fraction(1, 11), epsilon=1)),
            ValueError,
            r"gamma must be epsilon/\(2m - 1\) with an integer m from 1 to D, got '1/11'",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        call()


def test_parameters_mean_the_decimal_that_they_print_as() -> None:
    assert best_gamma.best(0.1, support=9) == best_gamma.best(Fraction(1, 10), support=9)
    assert best_gamma.guide(0.5, "1e-3") == best_gamma.guide("0.5", Fraction(1, 1000))
    assert math.isclose(best_gamma.best(0.1, support=9).delta, best_gamma.kinks("0.1", support=9).min())
