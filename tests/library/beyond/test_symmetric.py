"""Symmetric tables: where they exist, how small δ^Q and KEYSIZE can be, and which table is the nearest."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.solver import least_distance
from support.strategies import decimals

from tablebuilder_dp import certified, design, sampling
from tablebuilder_dp.beyond import chain, symmetric
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.sampling import LookupTable

epsilons = st.builds(lambda k: Fraction(k, 100), st.integers(5, 400))
slacks = st.builds(lambda k: Fraction(k, 10), st.integers(0, 10))
keysizes = st.one_of(st.integers(2, 5000), st.integers(2, 64).map(lambda bits: 2**bits))


def growth(epsilon: Fraction) -> Any:
    """e^ε to 60 digits, by other means than the library's."""
    with mpmath.workdps(60):
        return mpmath.e ** (mpmath.mpf(epsilon.numerator) / epsilon.denominator)


def rows(support: int, keysize: int, epsilon: Fraction) -> Iterator[tuple[int, ...]]:
    """Every symmetric table that keeps ε, as w(0), …, w(D), by exhaustive search."""
    factor = growth(epsilon)

    def extend(inner: tuple[int, ...], left: int) -> Iterator[tuple[int, ...]]:
        if len(inner) == support + 1:
            if left == 0:
                yield inner
            return
        for weight in range(1, left // 2 + 1):
            if max(weight, inner[-1]) <= factor * min(weight, inner[-1]):
                yield from extend((*inner, weight), left - 2 * weight)

    for middle in range(1, keysize + 1):
        yield from extend((middle,), keysize - middle)


def scaled(support: int, gamma: Fraction, keysize: int) -> list[Fraction]:
    """KEYSIZE·p(0), …, KEYSIZE·p(D)."""
    masses = [certified.pmf(Noise(support, gamma), z, digits=60) for z in range(support + 1)]
    return [keysize * (mass.lower + mass.upper) / 2 for mass in masses]


def whole(values: list[Fraction]) -> Fraction:
    """The sum over [−D, D] of a symmetric function."""
    return 2 * sum(values, Fraction(0)) - values[0]


@settings(max_examples=120)
@given(st.integers(1, 3), st.integers(3, 40), epsilons, slacks)
def test_exhaustive_search_agrees(support: int, keysize: int, epsilon: Fraction, slack: Fraction) -> None:
    made = design.proposition_3(epsilon, support=support, slack=slack)
    every = list(rows(support, keysize, epsilon))
    assert symmetric.has_table(epsilon, support=support, keysize=keysize) is bool(every)
    exact = scaled(support, made.gamma, keysize)
    kept = symmetric.keeps_delta(made, epsilon, keysize=keysize)
    assert kept is any(row[-1] <= exact[-1] for row in every)
    if not every:
        with pytest.raises(ValueError, match="keysize must be a multiple of"):
            sampling.lookup_table(made, keysize=keysize, rule=symmetric.rule(epsilon))
        return
    least = symmetric.least_delta_table(epsilon, support=support, keysize=keysize).weights
    assert least[support:] in every
    assert least[0] == min(row[-1] for row in every)
    # The wanted table, straight from its definition; equal distances differ by far less than 1e-15 here.
    allowed = [row for row in every if row[-1] <= max(least[0], math.floor(exact[-1]))]
    away = {row: whole([abs(w - x) for w, x in zip(row, exact, strict=True)]) for row in allowed}
    near = [row for row in allowed if away[row] - min(away.values()) < Fraction(1, 10**15)]
    rounded = [math.floor(x + Fraction(1, 2)) for x in exact]
    squares = {row: whole([Fraction(w - n) ** 2 for w, n in zip(row, rounded, strict=True)]) for row in near}
    best = min(near, key=lambda row: (squares[row], -row[0], row[1:]))
    found = sampling.lookup_table(made, keysize=keysize, rule=symmetric.rule(epsilon))
    assert found.weights[support:] == best
    assert found.weights == found.weights[::-1]


@settings(max_examples=150)
@given(st.integers(1, 20), epsilons, slacks, keysizes)
def test_every_promise_is_kept(support: int, epsilon: Fraction, slack: Fraction, keysize: int) -> None:
    made = design.proposition_3(epsilon, support=support, slack=slack)
    if not symmetric.has_table(epsilon, support=support, keysize=keysize):
        return
    table = sampling.lookup_table(made, keysize=keysize, rule=symmetric.rule(epsilon))
    after = sampling.after_sampling(table)
    assert (table.keysize, table.support, table.full_support) == (keysize, support, True)
    assert after.bias == 0
    assert table.weights == table.weights[::-1]
    factor = growth(epsilon)
    assert all(max(pair) <= factor * min(pair) for pair in pairwise(table.weights))
    assert symmetric.keeps_epsilon(table, epsilon)
    assert sampling.delta(table, epsilon) == (float(after.delta), float(after.delta))
    delta = certified.delta(made, epsilon)
    kept = symmetric.keeps_delta(made, epsilon, keysize=keysize)
    assert (after.delta <= delta.lower) is kept
    if not kept:
        least = symmetric.least_delta_table(epsilon, support=support, keysize=keysize)
        assert after.delta == sampling.after_sampling(least).delta


@settings(max_examples=25)
@given(st.integers(2, 12), epsilons, slacks, st.integers(100, 20_000))
def test_an_integer_programming_solver_finds_no_nearer_table(
    support: int, epsilon: Fraction, slack: Fraction, keysize: int
) -> None:
    made = design.proposition_3(epsilon, support=support, slack=slack)
    if symmetric.has_table(epsilon, support=support, keysize=keysize):
        table = sampling.lookup_table(made, keysize=keysize, rule=symmetric.rule(epsilon))
        away = 2 * keysize * float(sampling.distance(made, table))
        exact = scaled(support, made.gamma, keysize)
        least = symmetric.least_delta_table(epsilon, support=support, keysize=keysize).weights[0]
        highest = [keysize] * support + [max(least, math.floor(exact[-1]))]
        found = least_distance(exact, keys=keysize, epsilon=epsilon, least=1, highest=highest)
        assert away == pytest.approx(found, abs=1e-5)


@given(st.lists(st.integers(1, 500), min_size=2, max_size=8), decimals(-3, 0))
def test_distance_is_half_the_absolute_differences(weights: list[int], gamma: Fraction) -> None:
    table = symmetric._table(weights)
    pmf = Noise(table.support, gamma).pmf
    expected = np.abs(np.array(table.weights) / table.keysize - pmf).sum() / 2
    assert float(sampling.distance(Noise(table.support, gamma), table)) == pytest.approx(
        expected, rel=1e-9, abs=1e-14
    )


@settings(max_examples=60)
@given(st.integers(1, 4), epsilons, slacks)
def test_key_sizes_are_those_that_counting_finds(support: int, epsilon: Fraction, slack: Fraction) -> None:
    made = design.proposition_3(epsilon, support=support, slack=slack)
    if made.gamma == epsilon:
        with pytest.raises(ValueError, match="epsilon must be above .*, the only finite loss of the noise"):
            symmetric.key_sizes(made, epsilon)
        return
    found = symmetric.key_sizes(made, epsilon)
    if found.all_from > 2000:
        return
    end = 2 * found.all_from + 2
    good = {size for size in range(2, end) if symmetric.keeps_delta(made, epsilon, keysize=size)}
    assert found.smallest == min(good)
    assert found.power_of_two == next(size for size in (2**k for k in range(1, 64)) if size in good)
    assert good >= set(range(found.all_from, end))
    assert found.all_from - 1 not in good


def test_a_larger_keysize_may_be_worse() -> None:
    made = design.proposition_3("0.1", support=10)
    found = symmetric.key_sizes(made, "0.1")
    kept = [
        symmetric.keeps_delta(made, "0.1", keysize=size)
        for size in (found.smallest - 1, found.smallest, 512, found.all_from - 1, found.all_from)
    ]
    assert kept == [False, True, False, False, True]


def test_example_1_needs_15_bits() -> None:
    made = design.guide("0.5", "1e-4")
    found = symmetric.key_sizes(made, "0.5")
    # t₀ = ⌈1/(√e − 1)⌉ = 2 and ⌈2/δ⌉ with the certified δ; T(2) is far above
    assert found == (math.ceil(2 / certified.delta(made, "0.5").lower), 2**15, 20176)
    for size in found:
        table = sampling.lookup_table(made, keysize=size, rule=symmetric.rule("0.5"))
        assert symmetric.keeps_epsilon(table, "0.5")
        assert sampling.after_sampling(table).delta < made.delta


@pytest.mark.parametrize(("bits", "ceilings"), [(8, 0), (16, 8)])
def test_the_papers_experiment_keeps_all_its_promises(bits: int, ceilings: int) -> None:
    kept = 0
    for tenths in range(1, 26):
        made = design.proposition_3(Fraction(tenths, 10), support=10)
        ceiling = sampling.lookup_table(made, keysize=2**bits)
        kept += symmetric.keeps_epsilon(ceiling, made.epsilon)
        table = sampling.lookup_table(made, keysize=2**bits, rule=symmetric.rule(made.epsilon))
        assert symmetric.keeps_epsilon(table, made.epsilon)
        assert sampling.after_sampling(table).epsilon_two_sided <= made.epsilon
    assert kept == ceilings


@pytest.mark.unmeasured
@given(st.integers(1, 12), epsilons, st.integers(1, 10), st.integers(0, 1000))
def test_rounding_down_is_enough_from_its_bound_on(
    support: int, epsilon: Fraction, tenths: int, more: int
) -> None:
    made = design.proposition_3(epsilon, support=support, slack=Fraction(tenths, 10))
    room = float(epsilon - made.gamma * (2 * support - 1))
    centre, rise = float(made.pmf[support]), math.expm1(epsilon - made.gamma)
    edge = -1 / (made.delta * math.expm1(-room))
    keysize = math.ceil(max(edge, (2 * support + math.exp(epsilon)) / (centre * rise)) * (1 + 1e-9)) + more
    weights = [math.floor(value) for value in scaled(support, made.gamma, keysize)]
    weights[0] = keysize - 2 * sum(weights[1:])
    table = symmetric._table(weights)
    assert symmetric.keeps_epsilon(table, epsilon)
    assert table.weights[0] <= keysize * made.delta
    nearest = sampling.lookup_table(made, keysize=keysize, rule=symmetric.rule(epsilon))
    first, second = (sampling.distance(made, one) for one in (nearest, table))
    assert first.lower <= second.upper
    assert second.upper * keysize < 2 * support


def test_a_table_of_the_solver_that_breaks_a_promise_is_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    for weights in ([20, 10], [16, 12], [18, 12]):
        monkeypatch.setattr(chain, "nearest", lambda *_, weights=weights, **__: weights)
        with pytest.raises(ArithmeticError, match="the search broke its own constraints"):
            sampling.lookup_table(Noise(1, "0.4"), keysize=40, rule=symmetric.rule("0.5"))


@pytest.mark.parametrize(
    ("keysize", "message"),
    [
        (256, "a multiple of 201 or at least 2010 for a symmetric table of epsilon 0.1, got 256"),
        (1, "an integer from 2 to 18446744073709551616, got 1"),
    ],
)
def test_a_keysize_without_a_table_is_refused(keysize: int, message: str) -> None:
    with pytest.raises(ValueError, match=f"^keysize must be {message}$"):
        symmetric.least_delta_table("0.1", support=100, keysize=keysize)
    with pytest.raises(ValueError, match=f"^keysize must be {message}$"):
        sampling.lookup_table(Noise(100, "0.0001"), keysize=keysize, rule=symmetric.rule("0.1"))


@pytest.mark.parametrize("wrong", [{"noise": 3}, {"epsilon": 0}, {"keysize": 0}])
def test_what_is_no_parameter_is_refused(wrong: dict[str, Any]) -> None:
    given: dict[str, Any] = {"noise": Noise(3, "0.05"), "epsilon": "0.5", "keysize": 100} | wrong
    [name] = wrong
    for function in (symmetric.cuts, symmetric.keeps_delta):
        with pytest.raises((TypeError, ValueError), match=f"^{name} must be "):
            function(**given)
    with pytest.raises(ValueError, match="^rule must be one of ceiling, symmetric, got 'other'$"):
        symmetric.rule("0.5", name="other")


def test_a_design_that_breaks_epsilon_itself_is_refused() -> None:
    message = "^epsilon must be at least 0.55, the largest finite loss of the noise, got '0.5'$"
    with pytest.raises(ValueError, match=message):
        sampling.lookup_table(Noise(3, "0.11"), keysize=100, rule=symmetric.rule("0.5"))
    with pytest.raises(ValueError, match="^epsilon must be at least 0.55"):
        symmetric.key_sizes(Noise(3, "0.11"), "0.5")


def test_designs_for_which_no_keysize_is_found_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="^epsilon must be such that a keysize of at most 2"):
        symmetric.key_sizes(Noise(100, "0.005"), 1)  # δ is about e^−50
    monkeypatch.setattr(symmetric, "ENDS_MAX", 10)
    with pytest.raises(ValueError, match="^epsilon must be such that 10 end weights from 100 on"):
        symmetric.key_sizes(Noise(2, "0.001"), "0.01")


@pytest.mark.parametrize("table", [None, (1, 2, 3)])
def test_what_is_no_table_is_refused(table: Any) -> None:
    with pytest.raises(TypeError, match="^table must be a LookupTable, got "):
        symmetric.keeps_epsilon(table, 1)
    with pytest.raises(TypeError, match="^table must be a LookupTable of support 3, got "):
        sampling.distance(Noise(3, 1), table)


def test_a_table_that_lost_a_value_keeps_no_epsilon() -> None:
    assert not symmetric.keeps_epsilon(LookupTable(4, (1, 1, 4)), 500)
    assert symmetric.keeps_epsilon(LookupTable(3, (1, 2, 3)), "1e-200")


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("support", "epsilon", "slack", "keysize"),
    [(43, "0.22", 0, 4537), (57, "0.3", "0.1", 27144), (60, "0.133", 0, 7440), (150, "0.4", 0, 2**16)],
)
def test_wide_supports_with_few_keys_have_their_nearest_table_too(
    support: int, epsilon: str, slack: Any, keysize: int
) -> None:
    made = design.proposition_3(epsilon, support=support, slack=slack)
    table = sampling.lookup_table(made, keysize=keysize, rule=symmetric.rule(epsilon))
    assert symmetric.keeps_epsilon(table, epsilon)
    assert table.weights == table.weights[::-1]


@pytest.mark.unmeasured
def test_the_table_of_the_least_delta_serves_wide_supports() -> None:
    table = symmetric.least_delta_table("0.05", support=400, keysize=2**40)
    assert symmetric.keeps_epsilon(table, "0.05")
    assert table.keysize == 2**40
