"""The least variance for k cells: known numbers, certified promises, the grid and its lower bound."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import decimals

from tablebuilder_dp import certified, design, sampling
from tablebuilder_dp.beyond import composition, many_cells
from tablebuilder_dp.beyond.many_cells import STEP, Choice, fixed_support, lower_bound
from tablebuilder_dp.beyond.promise import promise
from tablebuilder_dp.noise import Geometric, Noise

KNOWN = {
    1: (17.90, 1.84),
    4: (71.41, 31.83),
    8: (142.78, 127.79),
    16: (285.57, 473.13),
    64: (1142.27, 2193.98),
}
"""By cells, at ε = 1 and δ = 1e-6: the least variance of the paper's noise and of the geometric one."""


def least(epsilon: Any, delta: Any, **options: Any) -> Choice:
    return many_cells.best(epsilon, delta, **options)


def is_kept(choice: Choice, epsilon: Any, delta: Any, cells: int) -> None:
    """The promise, made once more from its parts, and a variance within 1% of the least."""
    table = sampling.lookup_table(choice.noise, keysize=choice.table.keysize, rule=sampling.nearest)
    assert choice.table == table
    assert choice.promise == promise(choice.noise, table, epsilon, cells=cells)
    assert choice.promise.delta <= Fraction(delta)
    assert certified.delta(choice.noise, epsilon, cells=cells).upper < Fraction(delta)
    assert choice.variance <= 1.01 * choice.least * (1 + 1e-9)
    assert choice.variance == choice.noise.variance


@pytest.mark.unmeasured
@pytest.mark.parametrize("cells", KNOWN)
def test_the_known_least_variances(cells: int) -> None:
    best = least(1, "1e-6", cells=cells)
    assert best.rival is not None
    for choice in (best, best.rival):
        expected = KNOWN[cells][isinstance(choice.noise, Geometric)]
        assert choice.least == pytest.approx(expected, abs=0.0051)
        is_kept(choice, 1, "1e-6", cells)
    assert type(best.noise) is not type(best.rival.noise)
    assert isinstance(best.noise, Geometric if cells <= 8 else Noise)
    assert best.variance < best.rival.variance
    assert best.rival.rival is None


def test_eight_cells_are_within_one_percent_from_support_66_on() -> None:
    assert least(1, "1e-6", cells=8, family="max-entropy").noise.support == 66


@settings(max_examples=25)
@pytest.mark.unmeasured
@given(
    decimals(-2, 1, 2), st.sampled_from(["0.3", "1e-2", "1e-5", "1e-9"]), st.integers(1, 40), st.booleans()
)
def test_what_is_chosen_is_kept_and_above_the_lower_bound(
    epsilon: Fraction, delta: str, cells: int, geometric: bool
) -> None:
    choice = least(epsilon, delta, cells=cells, family="geometric" if geometric else "max-entropy")
    is_kept(choice, epsilon, delta, cells)
    assert isinstance(choice.noise, Geometric if geometric else Noise)
    assert lower_bound(epsilon, delta, cells=cells) <= choice.least * (1 + 1e-9)


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("epsilon", "delta", "cells"), [("1", "1e-6", 4), ("0.5", "1e-4", 1), ("2", "1e-3", 20)]
)
def test_variances_of_the_grid_below_the_least_fail_by_enclosures(
    epsilon: str, delta: str, cells: int
) -> None:
    found = least(epsilon, delta, cells=cells, family="max-entropy").least
    variance, tried = lower_bound(epsilon, delta, cells=cells), 0
    while variance < found * (1 - 1e-6):
        noise = Noise.of_variance(math.ceil(12 * math.sqrt(max(variance, 2))), variance)
        assert certified.delta(noise, epsilon, cells=cells, digits=4).lower > Fraction(delta)
        variance, tried = variance * STEP**10, tried + 1
    assert tried > 20
    noise = Noise.of_variance(math.ceil(12 * math.sqrt(found)), found * 1.0001)
    assert certified.delta(noise, epsilon, cells=cells, digits=6).upper < Fraction(delta)


def test_geometric_noise_of_more_variance_is_the_one_of_less_with_more_noise() -> None:
    """The mixture of nothing and the wider noise that makes the wider noise of the narrower one."""
    narrow, wide = Geometric(600, "0.5"), Geometric(600, "0.2")
    less, more = math.exp(-0.5), math.exp(-0.2)
    kept = (1 - more) ** 2 * less / ((1 - less) ** 2 * more)
    mixture = (1 - kept) * wide.pmf
    mixture[600] += kept
    made = np.convolve(narrow.pmf, mixture)[600:1801]
    assert np.abs(made - wide.pmf).max() < 1e-12
    rates = ["0.1", "0.2", "0.3", "0.5"]
    deltas = [composition.delta(Geometric(400, rate), "0.7", cells=6) for rate in rates]
    assert deltas == sorted(deltas)


@given(st.lists(st.integers(1, 50), min_size=2, max_size=9), decimals(-1, 0), st.integers(1, 2))
def test_no_noise_whatever_has_less_variance_than_the_lower_bound(
    weights: list[int], epsilon: Fraction, cells: int
) -> None:
    p = np.array(weights) / sum(weights)
    z = np.arange(len(p))
    variance = float(p @ z**2 - (p @ z) ** 2)
    first, second = np.append(p, 0.0), np.insert(p, 0, 0.0)
    both = [(math.prod(a), math.prod(b)) for a, b in (
        zip(*choice, strict=True) for choice in product(zip(first, second, strict=True), repeat=cells)
    )]  # fmt: skip
    growth = math.exp(epsilon)
    delta = max(sum(max(0, a - growth * b) for a, b in both), sum(max(0, b - growth * a) for a, b in both))
    if delta < 0.999:
        assert lower_bound(epsilon, delta, cells=cells) <= variance * (1 + 1e-9)


def test_the_lower_bound_is_attained_by_a_coin() -> None:
    """Equal masses on 0 and 1: variance 1/4, and total variation distance 1/2 however large ε is."""
    assert lower_bound("1e-12", "0.5", cells=1) == pytest.approx(0.25)


def test_example_1_needs_a_variance_of_34_92() -> None:
    paper = design.guide("0.5", "1e-4")
    found = fixed_support("0.5", "1e-4", support=25)
    assert round(paper.variance, 2) == 49.00
    assert round(found.variance, 2) == 34.92
    assert float(found.noise.rates[1]) == pytest.approx(0.014314, abs=5e-7)
    is_kept(found, "0.5", "1e-4", 1)


def test_a_fixed_support_is_scanned_from_the_bottom() -> None:
    """δ of D = 25 and ε = 0.5 has two minima in γ, so that 5.85e-5 is kept, missed and kept again."""
    level, target = Fraction(1, 2), Fraction("5.85e-5")
    rates = (Fraction(1, 86), Fraction("0.0118"), Fraction("0.0122"))
    kept = [certified.delta(Noise(25, gamma), level).upper < target for gamma in rates]
    assert kept == [True, False, True]
    found = fixed_support(level, target, support=25)
    assert found.noise.rates[1] > rates[-1]
    variance = lower_bound(level, target, cells=1)
    while variance < found.least * (1 - 1e-6):
        assert certified.delta(Noise.of_variance(25, variance), level, digits=6).lower > target
        variance *= STEP


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": 0}, r"^epsilon must be a number in \(0, 500\], got 0"),
        ({"delta": 1}, r"^delta must be a number in \(0, 1\), got 1"),
        ({"cells": 5000}, "^cells must be an integer from 1 to 4096, got 5000"),
        ({"family": "gaussian"}, "^family must be one of best, max-entropy, geometric, got 'gaussian'"),
        ({"family": None}, "^family must be one of best, max-entropy, geometric, got None"),
        ({"keysize": 1}, "^keysize must be an integer from 2 to "),
        (
            {"keysize": 2**16},
            "^keysize must be so large that whole numbers of keys keep delta 1e-06 for cells = 4",
        ),
        (
            {"delta": "1e-30"},
            "^delta must be so large that whole numbers of keys keep it at epsilon 1.0 for cells = 4",
        ),
        (
            {"epsilon": 400},
            "^delta must be so large that whole numbers of keys keep it at epsilon 400.0 for cells = 4",
        ),
        (
            {"epsilon": "1e-6"},
            "^epsilon must be so large that the sum of 4 noises fits 1000000 places, got 1e-06",
        ),
        (
            {"epsilon": "1e-6", "family": "geometric"},
            "^epsilon must be so large that a support of at most 1000000 is enough, got 1e-06",
        ),
    ],
)
def test_what_cannot_be_designed_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        least(**{"epsilon": 1, "delta": "1e-6", "cells": 4} | changed)


@pytest.mark.parametrize(
    ("support", "keysize", "message"),
    [
        (3, 2**64, "^support must be so wide that some gamma reaches delta 0.0001, got 3"),
        (12, 2**64, "^support must be so wide that some gamma reaches delta 0.0001, got 12"),
        (5000, 2**64, "^support must be an integer from 1 to 4000, got 5000"),
        (25, 2**18, "^keysize must be so large that whole numbers of keys keep delta 0.0001 for cells = 1"),
    ],
)
def test_supports_on_which_nothing_will_do_are_refused(support: int, keysize: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fixed_support("0.5", "1e-4", support=support, keysize=keysize)


@pytest.mark.unmeasured
def test_where_one_family_is_too_wide_the_other_stands_alone() -> None:
    alone = least("0.1", "1e-9", cells=4096)
    assert isinstance(alone.noise, Geometric)
    assert alone.rival is None


def test_fewer_keys_cost_variance_or_support() -> None:
    few, many = (least(1, "1e-4", cells=4, keysize=size) for size in (2**26, 2**64))
    assert few.promise.delta <= Fraction("1e-4")
    assert few.table.keysize == 2**26
    assert few.noise.support >= many.noise.support


def test_enclosures_decide_and_float64_only_proposes(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = composition.quick_delta
    monkeypatch.setattr(composition, "quick_delta", lambda *given, **more: 0.97 * honest(*given, **more))
    for family in many_cells.FAMILIES[1:]:
        is_kept(least(1, "1e-6", cells=8, family=family), 1, "1e-6", 8)


@pytest.mark.parametrize(
    ("epsilon", "delta", "cells", "support"),
    [("0.1", "1e-3", 1, 40), ("0.01", "1e-4", 1, 395), ("1", "1e-2", 1, 4), ("0.1", "1e-4", 2, 125)],
)
def test_a_noise_that_ends_early_is_taken_where_it_has_less_variance(
    epsilon: str, delta: str, cells: int, support: int
) -> None:
    """No loss but that of the end is above ε, so the smallest support for it has the least variance."""
    chosen = least(epsilon, delta, cells=cells, family="geometric")
    rate = chosen.noise.rates[0]
    assert (chosen.noise.support, rate < Fraction(epsilon) / cells < rate * Fraction("1.0051")) == (
        support,
        True,
    )
    assert chosen.promise.delta <= Fraction(delta)
    assert chosen.variance < 0.98 * chosen.least
    narrower = Geometric(support - 1, rate)
    table = sampling.lookup_table(narrower, keysize=2**64, rule=sampling.nearest)
    assert promise(narrower, table, epsilon, cells=cells).delta > Fraction(delta)
