"""What is promised for k cells: held against every answer of small worlds, counted in whole keys."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import decimals

from tablebuilder_dp import certified, sampling
from tablebuilder_dp.beyond import composition
from tablebuilder_dp.beyond.promise import CELLS_MAX, Promise, _sum_above, promise
from tablebuilder_dp.noise import AnyNoise, Geometric, Noise
from tablebuilder_dp.sampling import LookupTable
from tablebuilder_dp.support.intervals import Enclosure, ball, enclosure, precision

Pair = tuple[int, int]

levels = decimals(-2, 1)
noises = st.one_of(*(st.builds(family, st.integers(1, 3), levels) for family in (Noise, Geometric)))
changes = st.lists(st.tuples(st.integers(0, 4), st.sampled_from([-1, 1])), min_size=1, max_size=3)
moves = st.lists(st.sampled_from([-1, 1]), min_size=1, max_size=3)
keysizes = st.sampled_from([2**4, 2**8, 2**16, 2**64])
rules = st.sampled_from([sampling.nearest, sampling.ceilings])


def made(noise: AnyNoise, keysize: int, rule: sampling.Rule = sampling.nearest) -> LookupTable:
    return sampling.lookup_table(noise, keysize=keysize, rule=rule)


def cell(table: LookupTable, count: int | None, move: int) -> list[Pair]:
    """Keys that give each answer without and with the person; ``count`` is None where answers have signs."""
    answers: dict[int, list[int]] = {}
    for z, weight in enumerate(table.weights, -table.support):
        for side, n in enumerate((count or 0, (count or 0) + move)):
            answer = n + z if count is None else max(0, n + z)
            answers.setdefault(answer, [0, 0])[side] += weight
    return [(ours, theirs) for ours, theirs in answers.values()]


def truth(cells: Sequence[list[Pair]], keysize: int, epsilon: Fraction) -> tuple[mpmath.mpf, mpmath.mpf]:
    """The larger hockey-stick divergence, and the larger probability of a loss beyond ±ε, of all answers."""
    with mpmath.workdps(80):
        growth = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        deltas, beyond = [mpmath.mpf(0)] * 2, [0, 0]
        for answer in product(*cells):
            p, q = (math.prod(pair[side] for pair in answer) for side in (0, 1))
            deltas = [deltas[0] + max(0, p - growth * q), deltas[1] + max(0, q - growth * p)]
            if p > growth * q or q > growth * p:
                beyond = [beyond[0] + p, beyond[1] + q]
        unit = mpmath.mpf(keysize) ** len(cells)
        return max(deltas) / unit, max(beyond) / unit


def holds(found: Promise, cells: Sequence[list[Pair]], keysize: int) -> None:
    for true, bound in zip(truth(cells, keysize, found.epsilon), found[1:], strict=True):
        with mpmath.workdps(80):
            assert true <= mpmath.mpf(bound.numerator) / bound.denominator + mpmath.mpf(10) ** -60


@settings(max_examples=150)
@given(noises, keysizes, rules, levels, moves)
def test_no_answers_of_small_worlds_give_away_more(
    noise: AnyNoise, keysize: int, rule: sampling.Rule, epsilon: Fraction, moves: list[int]
) -> None:
    try:
        table = made(noise, keysize, rule)
    except ValueError:
        return  # too few keys for the nearest integers
    found = promise(noise, table, epsilon, cells=len(moves))
    holds(found, [cell(table, None, move) for move in moves], keysize)


@settings(max_examples=100)
@given(noises, keysizes, levels, changes)
def test_no_clamped_answers_give_away_more(
    noise: AnyNoise, keysize: int, epsilon: Fraction, changes: list[tuple[int, int]]
) -> None:
    try:
        table = made(noise, keysize)
    except ValueError:
        return
    found = promise(noise, table, epsilon, cells=3, clamped=True)  # also for fewer counts than promised for
    cells = [cell(table, max(count, -move), move) for count, move in changes]
    holds(found, cells, keysize)


@pytest.mark.parametrize("noise", [Noise(3, "0.2"), Geometric(3, "0.4")])
@pytest.mark.parametrize("cells", [1, 2, 3])
def test_promises_of_64_bits_are_sharp(noise: AnyNoise, cells: int) -> None:
    table, epsilon = made(noise, 2**64), Fraction("0.5")
    found = promise(noise, table, epsilon, cells=cells)
    delta, beyond = truth([cell(table, None, 1)] * cells, 2**64, epsilon)
    assert float(found.delta) == pytest.approx(float(delta), rel=2e-6, abs=0)
    assert float(found.loss_above_epsilon) == pytest.approx(float(beyond), rel=2e-6, abs=0)
    assert found.delta > certified.delta(noise, epsilon, cells=cells).lower


@settings(max_examples=60)
@given(noises, levels, st.integers(1, 4))
def test_fewer_changes_raise_the_odds_at_most_four_times_as_often(
    noise: AnyNoise, epsilon: Fraction, cells: int
) -> None:
    table = made(noise, 2**64)
    bound = promise(noise, table, epsilon, cells=cells).loss_above_epsilon
    for fewer in range(1, cells):
        assert truth([cell(table, None, 1)] * fewer, 2**64, epsilon)[1] <= 4 * float(bound) * (1 + 1e-9)


def test_integers_cost_what_the_theorem_says_and_few_keys_cost_much() -> None:
    noise, epsilon = Noise(25, "0.0102"), Fraction(1, 2)
    wide, narrow = (promise(noise, made(noise, size), epsilon, cells=16) for size in (2**64, 2**16))
    away = sampling.distance(noise, made(noise, 2**16))
    growth = certified.growth(epsilon, 64)
    expected = float(away) * 16 * (1 + growth[0] / 2**64)
    assert float(narrow.delta - wide.delta) == pytest.approx(expected, rel=1e-4)
    assert wide.delta < narrow.delta
    assert wide.loss_above_epsilon < narrow.loss_above_epsilon <= 1


def test_a_loss_of_exactly_epsilon_may_be_above_it_in_integers() -> None:
    noise = Geometric(16, 1)
    table = made(noise, 2**64)
    above = promise(noise, table, 1, cells=1).loss_above_epsilon
    assert truth([cell(table, None, 1)], 2**64, Fraction(1))[1] > 0.1  # of the designed noise it is p(−D)
    assert above > 0.5
    assert promise(Geometric(16, "0.999999"), made(Geometric(16, "0.999999"), 2**64), 1, cells=1)[2] < 1e-6


def test_clamping_pools_a_tail() -> None:
    """The probability that was once said to be δ: 9.9e-5, where it is 1.58e-3."""
    noise = Noise(25, Fraction(51, 5000) - Fraction(1, 10**5))
    table, epsilon = made(noise, 2**32), Fraction("0.5")
    worst = max(truth([cell(table, n, 1)], 2**32, epsilon)[1] for n in range(27))
    signed, clamped = (promise(noise, table, epsilon, cells=1, clamped=way) for way in (False, True))
    assert signed.delta == clamped.delta
    assert float(signed.loss_above_epsilon) < 1.1e-4
    assert 1e-3 < float(worst) < float(clamped.loss_above_epsilon) < 2e-2


@pytest.mark.unmeasured
def test_many_cells_are_promised_in_time() -> None:
    noise = Noise(2000, "6.84e-6")
    found = promise(noise, made(noise, 2**64), 1, cells=CELLS_MAX)
    truth = certified.delta(noise, 1, cells=CELLS_MAX, digits=9)
    assert truth.upper < found.delta < truth.upper * (1 + Fraction(1, 10**5))


def test_a_value_without_keys_gives_its_neighbours_away() -> None:
    noise, table = Noise(1, 7), LookupTable(2**16, (0, 2**16, 2**16))  # p(1) is below 0.001
    found = promise(noise, table, 8, cells=1)
    assert truth([cell(table, None, 1)], 2**16, Fraction(8)) == (1, 1)
    assert float(certified.delta(noise, 8)) < 0.001
    assert found.delta == found.loss_above_epsilon == 1
    noise = Noise(2, 3)  # KEYSIZE·p(2) is 0.36, so that of 2^16 keys 2 has none, and 1 has 4.5%
    table = made(noise, 2**16)
    found = promise(noise, table, 10, cells=1)
    assert (
        0.04 < truth([cell(table, None, -1)], 2**16, Fraction(10))[1] <= float(found.loss_above_epsilon) < 0.1
    )


def test_the_bound_for_clamped_answers_is_the_best_of_some_epsilons() -> None:
    noise, level = Noise(20, "0.02"), Fraction(1)
    table = made(noise, 2**64)
    deltas = {2.0**-j: promise(noise, table, level - Fraction(1, 2**j), cells=3).delta for j in range(1, 11)}
    bounds = [float(delta) * (1 + math.exp(-1)) / -math.expm1(-gap) for gap, delta in deltas.items()]
    found = promise(noise, table, level, cells=3, clamped=True).loss_above_epsilon
    assert float(found) == pytest.approx(min(bounds), rel=1e-5)


def test_bounds_are_sharp_however_small_they_are() -> None:
    noise = Geometric(200, 1)
    exact = certified.delta(noise, 2, cells=2)
    found = _sum_above(Fraction(0), lambda: certified.composed_delta_ball(noise, Fraction(2), 2))
    assert exact.upper < Fraction(1, 10**80)
    assert exact.lower < found < exact.upper * (1 + Fraction(1, 10**5))


def test_what_no_precision_decides_is_an_error() -> None:
    with pytest.raises(ArithmeticError, match="^no decision at 16384 bits"):
        _sum_above(Fraction(0), lambda: ball(Enclosure(Fraction(0), Fraction(1))))


@pytest.mark.parametrize("noise", [Noise(20, "0.02"), Geometric(20, "0.3")])
def test_few_bits_enclose_the_probability_of_a_loss_beyond_epsilon(noise: AnyNoise) -> None:
    for epsilon in (Fraction("0.5"), Fraction(3), Fraction(40)):
        with precision(300):
            exact = float(certified.loss_beyond_ball(noise, epsilon, 9))
        losses = composition.losses(noise, cells=9)
        beyond = float(losses.probability[np.abs(losses.loss) > float(epsilon)].sum())
        assert exact == pytest.approx(losses.infinite + beyond, rel=1e-9)
        for bits in (12, 16, 24, 48):
            with precision(bits):
                found = enclosure(certified.loss_beyond_ball(noise, epsilon, 9))
            assert exact in found


def test_nothing_is_promised_beyond_certainty() -> None:
    noise = Noise(1, "0.01")
    assert promise(noise, LookupTable(2, (1, 2, 2)), "0.01", cells=9)[1:] == (Fraction(1), Fraction(1))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"noise": None}, "^noise must be a Noise or Geometric, got None"),
        ({"table": None}, "^table must be a LookupTable of support 3, got None"),
        (
            {"table": LookupTable(10, (3, 7, 10))},
            "^table must be a LookupTable of support 3, got Lookup",
        ),
        ({"epsilon": 0}, r"^epsilon must be a number in \(0, 500\], got 0"),
        ({"cells": 0}, "^cells must be an integer from 1 to 4096, got 0"),
        ({"cells": 4097}, "^cells must be an integer from 1 to 4096, got 4097"),
        ({"cells": True}, "^cells must be an integer from 1 to 4096, got True"),
    ],
)
def test_what_cannot_be_promised_is_refused(changed: dict[str, Any], message: str) -> None:
    noise = Noise(3, "0.1")
    given: dict[str, Any] = {"noise": noise, "table": made(noise, 256), "epsilon": 1, "cells": 2} | changed
    with pytest.raises((TypeError, ValueError), match=message):
        promise(**given)


def test_sums_too_wide_to_enclose_are_refused() -> None:
    noise = Noise(10_000, "1e-7")
    with pytest.raises(ValueError, match="^cells must be at most 284 for variance"):
        promise(noise, made(noise, 2**64), 1, cells=4096)
