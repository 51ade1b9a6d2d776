"""Rows of integer weights within a factor e^ε: the floors, the bound of equal weights, the nearest row."""

from fractions import Fraction
from itertools import accumulate, pairwise, product

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.solver import least_distance
from support.strategies import decimals

from tablebuilder_dp.beyond import chain


@given(st.integers(1, 2**70), decimals(-30, 3), st.booleans())
def test_reach_is_the_floor(weight: int, epsilon: Fraction, negative: bool) -> None:
    exponent = min(epsilon, Fraction(500)) * (-1 if negative else 1)
    with mpmath.workdps(300):
        product = mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator) * weight
        assert chain.reach(weight, exponent) == int(mpmath.floor(product))


@given(decimals(-40, 2))
def test_below_the_least_growing_weight_nothing_grows(epsilon: Fraction) -> None:
    least = chain.least_growing(epsilon)
    assert chain.reach(least, epsilon) >= least + 1
    assert least == 1 or chain.reach(least - 1, epsilon) == least - 1


def test_an_undecided_floor_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "MAX_BITS", 128)
    with pytest.raises(ArithmeticError, match="no decision at 128 bits"):
        chain.reach(1, Fraction(-1, 10**100))


@given(st.integers(1, 1000), st.integers(1, 30), decimals(-3, 1))
def test_no_row_with_the_same_end_is_steeper(end: int, steps: int, epsilon: Fraction) -> None:
    row = chain.steepest(end, steps, epsilon, most=10**400)
    assert (len(row), row[-1]) == (steps + 1, end)
    assert all(inner == chain.reach(outer, epsilon) for inner, outer in pairwise(row))
    bounded = chain.steepest(end, steps, epsilon, most=2000)
    assert bounded == [min(weight, 2000) for weight in row]


@pytest.mark.unmeasured
@settings(max_examples=150)
@given(
    st.lists(
        st.integers(0, 12 * 2**64) | st.integers(0, 24).map(lambda k: k * 2**63), min_size=2, max_size=4
    ),
    st.integers(5, 60),
    st.integers(20, 300),
    st.integers(1, 3),
    st.integers(3, 14),
)
def test_far_targets_and_tight_bounds_find_the_best_row(
    targets: list[int], keys: int, percent: int, least: int, most: int
) -> None:
    """Targets of any shape and total: the nearest row is the best of all rows, or there is none."""
    epsilon = Fraction(percent, 100)
    rows: list[tuple[int, ...]] = [(weight,) for weight in range(least, most + 1)]
    for _ in targets[1:]:
        rows = [(*row, weight) for row in rows for weight in range(least, most + 1)
                if max(row[-1], weight) <= chain.reach(min(row[-1], weight), epsilon)]  # fmt: skip
    rows = [row for row in rows if chain.total(row) == keys]
    rounded = [(2 * target + 2**64) // 2**65 for target in targets]

    def rank(row: tuple[int, ...]) -> tuple[object, ...]:
        away = [abs(weight * 2**64 - target) for weight, target in zip(row, targets, strict=True)]
        squares = [(weight - middle) ** 2 for weight, middle in zip(row, rounded, strict=True)]
        return chain.total(away), chain.total(squares), -row[0], row[1:]

    highest = [most] * len(targets)
    if rows:
        found = chain.nearest(targets, keys=keys, epsilon=epsilon, least=least, highest=highest)
        assert tuple(found) == min(rows, key=rank)


@st.composite
def rough(draw: st.DrawFn) -> tuple[list[Fraction], list[int], Fraction, int]:
    """Targets up and down without order, a row that keeps ε, ε, and the largest weight."""
    most, epsilon = draw(st.integers(20, 60)), Fraction(draw(st.integers(50, 200)), 100)
    row = [draw(st.integers(3, most))]
    for _ in range(draw(st.integers(4, 8))):
        low, high = (chain.reach(row[-1], sign * epsilon) for sign in (-1, 1))
        row.append(draw(st.integers(max(low + 1, 3), min(high, most))))
    targets = [Fraction(draw(st.integers(0, 16 * most)), 16) for _ in row]
    return targets, row, epsilon, most


@settings(max_examples=80)
@given(rough())
def test_windows_grow_until_the_proof_holds(
    problem: tuple[list[Fraction], list[int], Fraction, int],
) -> None:
    targets, row, epsilon, most = problem
    keys, highest = chain.total(row), [most] * len(row)
    scaled = [int(target * chain.SCALE) for target in targets]
    found = chain.nearest(scaled, keys=keys, epsilon=epsilon, least=3, highest=highest)
    away = [abs(weight - target) for weight, target in zip(found, targets, strict=True)]
    best = least_distance(targets, keys=keys, epsilon=epsilon, least=3, highest=highest)
    assert float(2 * sum(away) - away[0]) == pytest.approx(best, abs=1e-5)
    assert chain.total(found) == keys


@pytest.mark.unmeasured
@settings(max_examples=60)
@given(rough(), st.integers(0, 3), st.integers(0, 5), st.integers(-9, 9))
def test_rows_outside_the_windows_lose_at_least_the_bounds(
    problem: tuple[list[Fraction], list[int], Fraction, int], window: int, drift: int, more: int
) -> None:
    """All rows of four weights around the centre, of every total that is met: no bound exceeds its loss."""
    targets, _, epsilon, most = problem
    scaled = [int(target * chain.SCALE) for target in targets[:4]]
    rounded = [(2 * target + chain.SCALE) // (2 * chain.SCALE) for target in scaled]
    keys = max(chain.total(rounded) + more, 22)
    given_ = chain._Problem(scaled, rounded, keys, epsilon, 3, [most] * 4)
    price = chain._price(given_)
    centre = chain._cheapest(given_, price)
    loss, missing = chain._losses(given_, price, centre), keys - chain.total(centre)
    outside = chain._least_outside(centre, loss, window, missing)
    drifting = chain._least_drifting(centre, loss, drift, missing)
    steps = range(-7, 8)
    for inner in product(steps, repeat=3):
        weights = [centre[z] + step for z, step in enumerate(inner, 1)]
        row = [keys - 2 * sum(weights), *weights]
        if min(row) < 3 or max(row) > most:
            continue
        lost = sum(loss(z, weight) for z, weight in enumerate(row))
        if max(map(abs, inner)) > window:
            assert lost >= outside
        if max(map(abs, [*accumulate(inner[::-1]), *inner])) > drift:
            assert lost >= drifting


def test_of_equally_near_rows_the_one_with_the_largest_centre_is_taken() -> None:
    targets = [int(target * chain.SCALE) for target in (8.5, 12.5, 4)]
    found = chain.nearest(targets, keys=28, epsilon=Fraction(3, 2), least=1, highest=[12] * 3)
    assert found == [8, 8, 2]  # as near as [4, 9, 3], with the same squares


def test_a_search_that_would_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "STATES_MAX", 100)
    with pytest.raises(ArithmeticError, match="no proof within 100 states"):
        chain.nearest([2**64] * 9, keys=300, epsilon=Fraction(1), least=1, highest=[50] * 9)
