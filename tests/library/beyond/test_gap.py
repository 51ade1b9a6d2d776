"""Where the paper's γ is the best one: ε₀(D), its proof, and every inequality of that proof."""

import math
from collections import Counter
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import decimals

from compendium.ledger.checks import beyond
from tablebuilder_dp import certified
from tablebuilder_dp.beyond import best_gamma, gap
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support.intervals import Enclosure, enclosure, precision

levels = decimals(-2, 1, digits=4)


@cache
def closing(support: int) -> Enclosure:
    return gap.closing_epsilon(support=support)


def product(one: Counter[int], other: Counter[int]) -> Counter[int]:
    found: Counter[int] = Counter()
    for i, a in one.items():
        for j, b in other.items():
            found[i + j] += a * b
    return found


def difference(support: int, m: int) -> list[int]:
    """The coefficients of N_m·S_D − N_D·S_m in powers of e^(−ε/((2m−1)(2D−1)))."""
    ours, theirs = 2 * support - 1, 2 * m - 1  # γ of each kink in these units of ε

    def total(rate: int) -> Counter[int]:
        return Counter({a * a * rate: 1 + (a > 0) for a in range(support + 1)})

    excess = Counter({m * m * ours: 1})
    for a in range(m + 1, support + 1):  # −(e^ε − 1)·w_a
        excess[a * a * ours - ours * theirs] -= 1
        excess[a * a * ours] += 1
    found = product(excess, total(theirs))
    found.subtract(product(Counter({support**2 * theirs: 1}), total(ours)))
    first = min(power for power, factor in found.items() if factor)
    return [found[power] for power in range(first, max(found) + 1)]


@pytest.mark.parametrize(("support", "m"), [(2, 1), (3, 1), (3, 2)])
def test_supports_up_to_three_have_no_gap_by_a_polynomial_without_sign(support: int, m: int) -> None:
    coefficients = difference(support, m)
    assert sum(coefficients) == 0  # δ_m = δ_D at ε = 0
    once = twice = 0
    for coefficient in coefficients:  # those of the quotient by (1 − x)², which never fall below zero
        once += coefficient
        twice += once
        assert twice >= 0
    assert once == 0
    shown = {power: factor for power, factor in enumerate(coefficients) if factor}
    if (support, m) == (2, 1):
        assert shown == {0: 1, 1: 1, 6: -1, 7: -2, 9: 1}
    if (support, m) == (3, 2):
        assert shown == {0: 1, 3: 2, 7: -1, 10: -1, 13: -2, 22: -2, 25: 1, 28: 2}
    if (support, m) == (3, 1):
        falling, rising = (10, 11, 14, 35, 36, 39), (0, 1, 4, 15, 16, 40, 41)
        assert tuple(shown) == tuple(sorted(falling + rising))
        assert [shown[power] for power in falling] == [-1, -2, -2, -1, -2, -2]
        assert [shown[power] for power in rising] == [1, 2, 1, 1, 2, 1, 2]
    assert closing(support) == Enclosure(Fraction(0), Fraction(0))


@pytest.mark.unmeasured
@settings(max_examples=50)
@given(st.integers(1, 30), levels)
def test_the_papers_kink_wins_exactly_from_closing_epsilon_on(support: int, epsilon: Fraction) -> None:
    epsilon = min(epsilon, Fraction(6))
    kink = best_gamma.kink(best_gamma.best(epsilon, support=support))
    assert (kink == support) is (epsilon >= closing(support).upper)


@pytest.mark.unmeasured
@pytest.mark.parametrize("support", [4, 5, 10, 15, 16, 30, 60])
def test_a_hairs_breadth_decides_at_closing_epsilon(support: int) -> None:
    found = gap.closing_epsilon(support=support, digits=40)
    assert found.upper - found.lower <= found.lower / 10**40
    assert best_gamma.kink(best_gamma.best(found.lower, support=support)) == support - 1
    assert best_gamma.kink(best_gamma.best(found.upper, support=support)) == support
    ours, theirs = (
        certified.delta(Noise(support, found.upper / (2 * m - 1)), found.upper, digits=50)
        for m in (support - 1, support)
    )
    assert 0 < ours.lower / theirs.upper - 1 < Fraction(1, 10**38)


@pytest.mark.unmeasured
@pytest.mark.parametrize("support", range(4, 17))
def test_intervals_prove_that_the_gap_closes_once(support: int) -> None:
    proof = gap.closing_proof(support=support)
    assert certified.logarithm(Fraction(support, 3)).lower >= proof.start
    assert 2 * certified.logarithm(Fraction(support)).upper <= proof.end
    assert proof.start < proof.turn < closing(support).lower
    assert best_gamma.kink(best_gamma.best(proof.turn, support=support)) < support
    assert best_gamma.kink(best_gamma.best(proof.end, support=support)) == support
    assert proof.intervals > 10


@settings(max_examples=40)
@given(st.integers(2, 40), levels, st.data())
def test_ratio_encloses_the_quotient_and_exceeds_its_bound(
    support: int, epsilon: Fraction, data: st.DataObject
) -> None:
    m = data.draw(st.integers(1, support - 1))
    ours, theirs = (certified.delta(Noise(support, epsilon / (2 * k - 1)), epsilon) for k in (m, support))
    with precision(200):
        found = enclosure(gap._ratio(Enclosure(epsilon, epsilon), support, m))
    assert found.lower <= ours.upper / theirs.lower
    assert found.upper >= ours.lower / theirs.upper
    assert found.upper - found.lower < found.lower / 10**30
    power = Fraction(support - m, 2) * (1 - Fraction(1, (2 * m - 1) * (2 * support - 1)))
    assert power == Fraction(support**2, 2 * support - 1) - Fraction(m**2, 2 * m - 1)
    bound = math.exp(epsilon * power) * -math.expm1(-2 * epsilon / (2 * m - 1))
    assert found.upper > bound * (1 - 1e-12)


@settings(max_examples=40)
@given(st.integers(2, 30), levels)
def test_wide_intervals_hold_all_that_is_inside(support: int, epsilon: Fraction) -> None:
    hair = Fraction(1, 10**12)
    wide = Enclosure(epsilon * Fraction(99, 100), epsilon * Fraction(101, 100))
    with precision(128):
        low, high = (
            enclosure(gap._ratio(Enclosure(at, at), support, support - 1))
            for at in (epsilon * (1 - hair), epsilon * (1 + hair))
        )
        around = enclosure(gap._ratio(wide, support, support - 1))
        slope = enclosure(gap._slope(Enclosure(epsilon, epsilon), support))
        slopes = enclosure(gap._slope(wide, support))
    assert around.lower < low.lower < around.upper
    quotient = (high.lower / low.lower - 1) / (2 * hair * epsilon)
    assert float(slope) == pytest.approx(float(quotient), rel=1e-6, abs=1e-6)
    assert slopes.lower < quotient < slopes.upper


@pytest.mark.parametrize("support", [*range(16, 60), 100, 1000, 10**4, 10**6])
def test_the_inequalities_of_the_proof_for_wide_supports(support: int) -> None:
    p, s, t = 2 * support - 1, support - 0.5, support / 3
    level = math.log(p / 2)
    assert 1 <= level <= p - 4
    assert (p - 2) * level - level**2 / (p - 4) >= p - 4
    assert 0.5 * (1 - 1 / (p * (p - 2))) > 1 / (2 * level)

    def g(epsilon: float) -> float:
        h = 2 / (p - 2)
        return (math.exp(-epsilon / 2) + 2 * h * epsilon * math.sinh(epsilon / 2)) * math.sqrt(p / (p - 2))

    assert g(level) == pytest.approx((1 + math.log(s)) / math.sqrt(s - 1))
    assert g(level) < 0.983
    assert g(math.log(t)) < 1.04 * (1 + 0.4 * math.log(t)) / math.sqrt(t) < 0.8
    factor = support ** (-1 / (p * (p - 2)))
    assert factor > 0.8
    assert 4 * support * math.log(support) * factor > 2 * support - 3 + 4 * math.log(support)


def test_one_argument_covers_supports_from_sixteen_on() -> None:
    def end(support: int) -> float:
        """G of step (4) at q = P/2."""
        return (1 + math.log(support - 0.5)) / math.sqrt(support - 1.5)

    assert gap.PROVED_FROM == 16
    assert end(gap.PROVED_FROM) < 0.983
    assert 0.9999 < end(gap.PROVED_FROM - 1) < 1 < end(gap.PROVED_FROM - 2)


@settings(max_examples=40)
@given(st.integers(4, 40), levels)
def test_step_three_has_the_slope_of_delta_right_of_the_last_kink(support: int, epsilon: Fraction) -> None:
    p, hair = 2 * support - 1, Fraction(1, 10**12)
    gamma = epsilon / p
    here, right = (
        certified.delta(Noise(support, gamma * (1 + step)), epsilon, digits=40).lower for step in (0, hair)
    )
    variance = float(certified.variance(Noise(support, gamma)))
    last = certified.pmf(Noise(support, gamma), support)  # w_k/S = q·p(D), so δ' = g·q·p(D)
    slope = float((right - here) / (hair * gamma)) / float(last)
    assert slope == pytest.approx(variance - support**2 + p * math.exp(epsilon), rel=1e-6, abs=1e-5)
    if epsilon <= math.log(support / 3):
        assert slope < 0


@pytest.mark.parametrize("support", [11, 16, 25, 100, 1000])
def test_closing_epsilon_lies_between_its_bounds(support: int) -> None:
    found = gap.closing_epsilon(support=support, digits=8)
    assert certified.logarithm(support - Fraction(1, 2)).upper < found.lower
    assert found.upper < 2 * certified.logarithm(Fraction(support)).lower


@pytest.mark.parametrize("name", ["_ratio", "_slope"])
def test_a_gap_that_did_not_close_would_be_seen(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    true = getattr(gap, name)
    monkeypatch.setattr(gap, name, lambda *about: -true(*about) if name == "_slope" else 2 - true(*about))
    gap._proof.cache_clear()
    with pytest.raises(ArithmeticError, match="no proof that the gap closes once for support 6"):
        gap.closing_proof(support=6)


@pytest.mark.unmeasured
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_another_kink_that_stayed_better_would_be_seen(monkeypatch: pytest.MonkeyPatch, m: int) -> None:
    true = gap._ratio
    monkeypatch.setattr(
        gap, "_ratio", lambda level, support, k: true(level, support, k) / (10**6 if k == m else 1)
    )
    gap._proof.cache_clear()
    with pytest.raises(ArithmeticError, match="no proof that the gap closes once for support 6"):
        gap.closing_proof(support=6)


def test_a_gap_that_opened_again_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def comes_and_goes(level: Enclosure, support: int) -> bool | None:
        return None if level.upper - level.lower > Fraction(1, 4) else math.floor(2 * level.lower) % 2 == 1

    monkeypatch.setattr(gap, "_is_gap", comes_and_goes)
    gap._proof.cache_clear()
    with pytest.raises(ArithmeticError, match="no proof that the gap closes once for support 6"):
        gap.closing_proof(support=6)


def test_bad_input_is_refused_in_one_sentence() -> None:
    with pytest.raises(ValueError, match="support must be an integer from 1 to 4000, got 0"):
        gap.closing_epsilon(support=0)
    for wrong in (3, 41):
        with pytest.raises(ValueError, match=f"support must be an integer from 4 to 40, got {wrong}"):
            gap.closing_proof(support=wrong)
    with pytest.raises(ValueError, match="support must be an integer from 1 to 4000, got 0"):
        gap.widest(4, support=0)
    with pytest.raises(ValueError, match=r"epsilon must be a number in \(0, 500\], got 0"):
        gap.widest(0, support=11)
    with pytest.raises(ValueError, match="digits must be an integer from 1 to 250, got 0"):
        gap.closing_epsilon(support=5, digits=0)


@pytest.mark.parametrize(
    ("support", "ratio", "epsilon"), [(11, 1.361815292, 1.24256), (15, 1.497074313, 0.83243)]
)
def test_the_gap_is_widest_between_the_points_of_a_grid(support: int, ratio: float, epsilon: float) -> None:
    # recipe: δ_D over the least δ_m on 400,000 values of ε in (0, 4], from best_gamma.kinks
    found = gap.widest(4, support=support)
    assert found.ratio == pytest.approx(ratio, rel=1e-9)
    assert found.epsilon == pytest.approx(epsilon, rel=1e-5)
    assert gap.widest(500, support=support) == pytest.approx(found, rel=1e-6)


@settings(max_examples=30)
@given(st.integers(1, 40), levels, st.integers(1, 200))
def test_no_epsilon_has_a_wider_gap(support: int, top: Fraction, part: int) -> None:
    most = gap.widest(top, support=support)
    assert 0 < most.epsilon <= float(top)
    for level in (top * Fraction(part, 200), Fraction(most.epsilon)):
        deltas = best_gamma.kinks(level, support=support)
        assert deltas[-1] / deltas.min() <= most.ratio * (1 + 1e-11)
    assert support > 3 or most.ratio == 1


def test_the_ledger_would_see_a_choice_that_is_best_only_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def comes_and_goes(level: Fraction, support: int) -> list[Enclosure]:
        last = Fraction(1 if math.floor(level) % 2 else 3)
        return [Enclosure(Fraction(2), Fraction(2))] * (support - 1) + [Enclosure(last, last)]

    monkeypatch.setattr(beyond, "_kinks", comes_and_goes)
    with pytest.raises(ArithmeticError, match=r"m = D is best at epsilon 1.2, but not at 8.0"):
        beyond._gap_closes.__wrapped__(7)
