"""The least δ at a given variance: chains, their mixtures and the proof that nothing is better."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from support.checks import relative_error
from support.strategies import decimals, proportions

from tablebuilder_dp import certified, noise, privacy
from tablebuilder_dp.beyond import frontier, other_noise
from tablebuilder_dp.noise import Geometric
from tablebuilder_dp.support.intervals import ball, enclosure, precision

levels = decimals(-2, 0)
widths = st.integers(1, 9)
modes = st.booleans()


def at(share: Fraction, support: int, unimodal: bool) -> Fraction:
    """The variance at a share of its range."""
    return share * (noise.variance_bound(support) if unimodal else support**2)


def solved(epsilon: float, support: int, variance: float, unimodal: bool) -> float:
    """The optimum as HiGHS sees it, over p(0), …, p(D), r(1), …, r(D), s(1), …, s(D)."""
    growth, count = np.exp(epsilon), support + 1
    one, zero = np.eye(support), np.zeros((support, support))
    nearer, farther = np.eye(support, count), np.eye(support, count, 1)
    rows = [
        np.hstack([nearer - growth * farther, -one, zero]),  # p(z−1) − q·p(z) ≤ r(z)
        np.hstack([farther - growth * nearer, zero, -one]),  # p(z) − q·p(z−1) ≤ s(z)
    ]
    if unimodal:
        rows.append(np.hstack([farther - nearer, zero, zero]))
    both = np.array([1.0] + [2.0] * support)
    z = np.arange(count)
    sums = np.hstack([np.vstack([both, both * z**2]), np.zeros((2, 2 * support))])
    cost = np.concatenate([np.zeros(support), np.ones(2 * support + 1)])
    found = linprog(
        cost,
        np.vstack(rows),
        np.zeros(sum(map(len, rows))),
        sums,
        [1, variance],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0
    return float(found.fun)


@settings(max_examples=60)
@given(levels, widths, proportions, modes)
def test_optimum_is_that_of_a_solver(
    epsilon: Fraction, support: int, share: Fraction, unimodal: bool
) -> None:
    variance = at(share, support, unimodal)
    found = frontier.optimum(epsilon, support=support, variance=variance, unimodal=unimodal)
    expected = solved(float(epsilon), support, float(variance), unimodal)
    assert float(found.delta) == pytest.approx(expected, rel=1e-6, abs=1e-8)


@settings(max_examples=60)
@given(levels, st.lists(st.integers(0, 10**6), min_size=3, max_size=13).filter(lambda w: len(w) % 2), modes)
def test_no_pmf_of_the_same_variance_has_a_smaller_delta(
    epsilon: Fraction, weights: list[int], unimodal: bool
) -> None:
    support = len(weights) // 2
    if unimodal:  # skew, but falling on both sides
        falling = sorted(weights, reverse=True)
        weights = [*falling[1::2][::-1], *falling[::2]]
    assume(any(weights))
    masses = [Fraction(weight, sum(weights)) for weight in weights]
    second = sum(z * z * mass for z, mass in zip(range(-support, support + 1), masses, strict=True))
    assume(0 < second < at(Fraction(1), support, unimodal))
    both = certified.hockey_stick([*masses, Fraction(0)], [Fraction(0), *masses], epsilon)
    least = frontier.optimum(epsilon, support=support, variance=second, unimodal=unimodal)
    assert max(side.upper for side in both) >= least.delta.lower


@settings(max_examples=60)
@given(levels, st.integers(1, 30), proportions, modes)
def test_the_mixture_reaches_the_optimum(
    epsilon: Fraction, support: int, share: Fraction, unimodal: bool
) -> None:
    variance = at(share, support, unimodal)
    found = frontier.optimum(epsilon, support=support, variance=variance, unimodal=unimodal)
    assert (found.delta.upper - found.delta.lower) * 10**30 <= found.delta.lower
    here, there = privacy.neighbours(found.pmf)
    reached = max(privacy.hockey_stick(here, there, epsilon))
    assert found.pmf.sum() == pytest.approx(1, rel=1e-12)
    assert other_noise.measures(found.pmf).variance == pytest.approx(float(variance), rel=1e-11)
    # a ratio of exactly e^ε may be rounded up, so every value may add 1e-16 of its mass
    assert relative_error(reached, found.delta) < 1e-11 + 1e-15 / float(found.delta)
    assert sum(part.share for part in found.parts) == pytest.approx(1, rel=1e-12)
    if unimodal:
        assert np.all(np.diff(found.pmf[support:]) <= 1e-15)


@settings(max_examples=40)
@given(levels, st.integers(1, 25), st.lists(proportions, min_size=3, max_size=3, unique=True), modes)
def test_least_delta_is_convex_in_the_variance(
    epsilon: Fraction, support: int, shares: list[Fraction], unimodal: bool
) -> None:
    low, middle, high = (at(share, support, unimodal) for share in sorted(shares))
    ends = [
        frontier.optimum(epsilon, support=support, variance=v, unimodal=unimodal).delta for v in (low, high)
    ]
    here = frontier.optimum(epsilon, support=support, variance=middle, unimodal=unimodal).delta
    chord = (ends[0].upper * (high - middle) + ends[1].upper * (middle - low)) / (high - low)
    assert here.lower <= chord
    assert here.lower >= other_noise.least_delta(epsilon, support=support).lower * (1 - Fraction(1, 10**29))


@settings(max_examples=30)
@given(levels, st.integers(1, 25), modes, st.data())
def test_vertices_are_the_corners_of_the_frontier(
    epsilon: Fraction, support: int, unimodal: bool, data: st.DataObject
) -> None:
    found = frontier.vertices(epsilon, support=support, unimodal=unimodal)
    variances, deltas = (np.array([vertex[i] for vertex in found]) for i in (1, 2))
    slopes = np.diff(deltas) / np.diff(variances)
    assert np.all(np.diff(variances) > 0)
    assert np.all(np.diff(slopes) > -1e-9 * np.abs(slopes[1:]))
    assert variances[-1] >= support * (support + 1) / 3 * (1 - 1e-12)
    place = data.draw(st.integers(0, len(found) - 2))
    variance = Fraction(float(variances[place] + variances[place + 1])) / 2
    least = frontier.optimum(epsilon, support=support, variance=variance, unimodal=unimodal)
    assert relative_error(float(deltas[place] + deltas[place + 1]) / 2, least.delta) < 1e-10
    assert [part.chain for part in least.parts] == [vertex.chain for vertex in found[place : place + 2]]


@settings(max_examples=40)
@given(levels, st.integers(1, 20))
def test_below_the_geometric_variance_narrower_geometric_noises_are_best(
    epsilon: Fraction, support: int
) -> None:
    corners = frontier.vertices(epsilon, support=support)[: support + 1]
    for outer, corner in enumerate(corners):
        assert corner.chain == other_noise.Chain(0, 0, outer)
        if outer:
            assert relative_error(corner.delta, other_noise.least_delta(epsilon, support=outer)) < 1e-12
            assert relative_error(corner.variance, certified.variance(Geometric(outer, epsilon))) < 1e-12


@settings(max_examples=40)
@given(decimals(-1, 0), decimals(-8, 0), st.integers(0, 3))
def test_least_variance_inverts_the_frontier_of_every_support(
    epsilon: Fraction, delta: Fraction, more: int
) -> None:
    support = other_noise.least_support(epsilon, delta) + more
    assume(support <= 60)
    variance = other_noise.least_variance(epsilon, delta).lower
    back = frontier.optimum(epsilon, support=support, variance=variance, digits=15)
    assert relative_error(float(delta), back.delta) < 1e-12


def test_unimodal_frontier_ends_with_the_uniform_noise() -> None:
    last = frontier.vertices("0.5", support=25, unimodal=True)[-1]
    assert last.chain.pmf("0.5", support=25) == pytest.approx([1 / 51] * 51, rel=1e-12)
    assert last[1:] == pytest.approx((650 / 3, 1 / 51), rel=1e-12)


def test_holes_pay_near_the_largest_variance() -> None:
    inner = frontier.optimum("0.5", support=25, variance=600).parts
    assert [part.chain for part in inner] == [other_noise.Chain(23, 25, 25), other_noise.Chain(24, 25, 25)]
    assert max(vertex.variance for vertex in frontier.vertices("0.5", support=25)) < 600
    single = other_noise.Chain(3, 3, 3).pmf(1, support=3)
    assert other_noise.measures(single) == pytest.approx((9, np.log(2), 0))


@pytest.mark.parametrize(("epsilon", "support"), [("0.5", 15), ("0.05", 7), ("1.3", 12)])
def test_two_humps_are_best_up_to_the_last_corner_and_not_beyond(epsilon: str, support: int) -> None:
    found = frontier.vertices(epsilon, support=support)
    ratio = np.exp(-float(epsilon))
    more = other_noise.Chain(0, found[-1].chain.hump + 1, support)
    beyond = frontier.Vertex(more, *frontier._coordinates(more, [ratio**k for k in range(support + 1)]))
    for left, right in itertools.pairwise((*found, beyond)):
        variance = Fraction((left.variance + right.variance) / 2)
        least = frontier.optimum(epsilon, support=support, variance=variance, digits=15)
        optimal = relative_error((left.delta + right.delta) / 2, least.delta) < 1e-11
        assert optimal is (right is not beyond)
        assert any(part.chain.inner for part in least.parts) is (right is beyond)


@pytest.mark.parametrize("support", range(1, 9))
def test_a_variance_next_to_a_corner_is_decided_by_more_digits(support: int) -> None:
    corner = certified.variance(Geometric(support, "0.5"), digits=70)
    for side, hump in ((corner.lower, 0), (corner.upper, 1)):
        found = frontier.optimum("0.5", support=support, variance=side)
        assert found.parts[1].chain == other_noise.Chain(0, hump, support)
        assert min(part.share for part in found.parts) > 0
        assert float(found.delta) == float(other_noise.least_delta("0.5", support=support))


@pytest.mark.parametrize("unimodal", [False, True])
def test_the_ends_of_the_range_are_served(unimodal: bool) -> None:
    for support in (1, 2, 40):
        tiny = frontier.optimum(1, support=support, variance="1e-200", unimodal=unimodal)
        assert float(tiny.delta) == 1
        full = at(Fraction(1), support, unimodal) - Fraction(1, 10**20)
        edge = frontier.optimum(1, support=support, variance=full, unimodal=unimodal).delta
        assert float(edge) == pytest.approx(1 / (2 * support + 1) if unimodal else 1)
    strong = frontier.optimum(500, support=300, variance=3)
    assert strong.delta.upper < Fraction(1, 10**64_000)


def test_the_papers_example() -> None:
    # recipe: HiGHS on p(z)/p_best(z) with tolerances 1e-10, V = 49, agrees with both to 1e-9 relative
    any_noise, falling = (
        frontier.optimum("0.5", support=25, variance=49, unimodal=flag) for flag in (False, True)
    )
    assert any_noise.delta.digits(8) == "0.000011378915"
    assert falling.delta.digits(8) == "0.000019343599"
    assert any_noise.pmf[25] < any_noise.pmf[26] < any_noise.pmf[31]
    assert falling.pmf[25] == falling.pmf[34] > falling.pmf[35]


def test_bad_input_is_refused_in_one_sentence() -> None:
    good: dict[str, Any] = {"support": 5, "variance": 2}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"variance": 0}, r"variance must be a number in \(0, D² = 25\) for support 5, got 0"),
        ({"variance": 25}, r"variance must be a number in \(0, D² = 25\) for support 5, got 25"),
        ({"variance": 10, "unimodal": True}, r"variance must be a number in \(0, D\(D\+1\)/3 = 10\) for"),
        ({"support": 2001}, "support must be an integer from 1 to 2000, got 2001"),
        ({"digits": 0}, "digits must be an integer from 1 to 1000, got 0"),
    ]
    for change, message in cases:
        with pytest.raises(ValueError, match=message):
            frontier.optimum(1, **good | change)
    with pytest.raises(ValueError, match="support must be an integer from 1 to 2000, got 0"):
        frontier.vertices(1, support=0)
    with pytest.raises(ValueError, match="support must be an integer from 4 to 1000000, got 3"):
        other_noise.Chain(0, 0, 4).pmf(1, support=3)
    with pytest.raises(TypeError, match="variance must be a number"):
        frontier.optimum(1, support=5, variance=None)  # type: ignore[arg-type]


def test_a_search_that_stops_too_early_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lower bound is then too far from its upper one."""
    highest = frontier._highest

    def lazy(*line: Any) -> Any:
        top, best, chain = highest(*line)
        return top, 0 * best, chain

    monkeypatch.setattr(frontier, "_highest", lazy)
    sentence = "no proof of the least delta with 16384 bits for epsilon 0.5, support 25 and variance 600"
    with pytest.raises(ArithmeticError, match=sentence):
        frontier.optimum("0.5", support=25, variance=600)


lines = st.builds(Fraction, st.integers(-300, 300), st.integers(1, 97))


def highest(base: Fraction, slope: Fraction, growth: Fraction, support: int, flat: bool) -> Fraction:
    """The largest f of `_highest` in a world where e^ε is rational."""
    values = [base]
    for z in range(1, support + 1):
        before = values[-1]
        most = max(growth * before, before) if flat else max(growth * before, before / growth, Fraction(-1))
        values.append(2 * (base + slope * z * z) + most)
    return max(values)


@settings(max_examples=100)
@given(lines, lines, proportions, st.integers(1, 15), modes)
def test_the_lower_bound_is_sound_at_low_precision(
    base: Fraction, slope: Fraction, share: Fraction, support: int, flat: bool
) -> None:
    truth = highest(base, slope, 1 + 3 * share, support, flat)
    with precision(24):
        line = ball(base), ball(slope), ball(1 + 3 * share)
        top, best, _ = frontier._highest(*line, support, flat)
    assert enclosure(best).lower <= truth <= enclosure(top).upper


@settings(max_examples=60)
@given(proportions, st.integers(1, 14), st.data())
def test_holes_do_not_pay_below_the_variance_of_uniform_noise(
    share: Fraction, support: int, data: st.DataObject
) -> None:
    """The steps of the proof, in a world where e^ε is rational."""
    growth = 1 / share
    m, bound = data.draw(st.integers(0, support)), noise.variance_bound(support)
    masses = {z: growth ** -abs(abs(z) - m) for z in range(-support, support + 1)}
    variance = sum(z * z * mass for z, mass in masses.items()) / sum(masses.values())
    if m * m >= bound:
        assert variance >= bound
        return
    inner = sum(masses[z] for z in range(-m, m + 1))
    mean = sum(z * z * masses[z] for z in range(-m, m + 1)) / inner
    slope = masses[support] / sum(masses.values()) / (variance - mean)
    for k in range(m):
        reach = range(-k, k + 1)
        assert slope * sum((z * z - mean) * growth ** (abs(z) - k) for z in reach) > -1


@pytest.mark.parametrize(("epsilon", "support"), [(40, 2), (35, 4), (500, 1), (40, 7)])
def test_corners_of_a_large_epsilon_do_not_cancel(epsilon: int, support: int) -> None:
    found = frontier.vertices(epsilon, support=support)
    assert [vertex.chain.hump for vertex in found] == [0] * (support + 1) + list(range(1, support + 1))
    assert all(vertex.delta > 0 for vertex in found)
    assert found[-1].variance == pytest.approx(support**2)


def test_corners_that_float64_cannot_hold_are_refused() -> None:
    for unimodal in (False, True):
        with pytest.raises(ValueError, match="delta is below 1e-300 for epsilon 8.0 and support 100, beyond"):
            frontier.vertices(8, support=100, unimodal=unimodal)
    assert frontier.vertices(8, support=86)[86].delta > 1e-300


def test_steps_of_a_chain() -> None:
    assert other_noise.Chain(1, 2, 4).steps == [1, 0, 1, 2]
    assert other_noise.Chain(0, 2, 4, flat=True).steps == [0, 0, 0, 1, 2]
    for chain in itertools.starmap(other_noise.Chain, [(0, 0, 3), (0, 2, 3), (2, 2, 3)]):
        assert chain.pmf(1, support=5).sum() == pytest.approx(1)
