"""Many cells with the same person: the exact sum against brute force, enclosures and known theorems."""

import itertools
import math
from collections import defaultdict
from fractions import Fraction
from random import Random
from statistics import NormalDist

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.checks import relative_error
from support.strategies import decimals, epsilons, near_kinks, noises

from tablebuilder_dp import certified, design, privacy
from tablebuilder_dp.beyond import composition
from tablebuilder_dp.noise import Geometric, Noise
from tablebuilder_dp.support import lattice
from tablebuilder_dp.support.intervals import enclosure, precision

small = st.tuples(st.integers(1, 3), decimals(-3, 1))
"""(support, gamma) with so few noise values that all answers of a few cells can be listed."""

EXAMPLE = design.guide("0.5", "1e-4")


def brute_force(epsilon: float, *, support: int, gamma: float, moves: list[int]) -> tuple[float, float]:
    """Both hockey-stick divergences of all answers, where cell i's count differs by moves[i]."""
    pmf = Noise(support, gamma).pmf.tolist()
    masses = defaultdict(float, zip(range(-support, support + 1), pmf, strict=True))
    forward, backward = [], []
    for answers in itertools.product(range(-support - 1, support + 2), repeat=len(moves)):
        p = math.prod(masses[y] for y in answers)
        q = math.prod(masses[y - move] for y, move in zip(answers, moves, strict=True))
        forward.append(max(0, p - math.exp(epsilon) * q))
        backward.append(max(0, q - math.exp(epsilon) * p))
    return math.fsum(forward), math.fsum(backward)


@settings(max_examples=40)
@given(small, decimals(-2, 1), st.lists(st.sampled_from([-1, 1]), min_size=1, max_size=4))
def test_delta_is_that_of_all_answers_whichever_counts_rise_or_fall(
    made: tuple[int, Fraction], epsilon: Fraction, moves: list[int]
) -> None:
    support, gamma = made
    found = composition.delta(Noise(support, gamma), epsilon, cells=len(moves))
    for divergence in brute_force(float(epsilon), support=support, gamma=float(gamma), moves=moves):
        assert found == pytest.approx(divergence, rel=1e-10, abs=1e-14)


@given(near_kinks())
def test_one_cell_has_the_delta_of_proposition_2(case: tuple[int, Fraction, Fraction]) -> None:
    support, gamma, epsilon = case
    expected = privacy.delta(Noise(support, gamma), epsilon)
    found = composition.delta(Noise(support, gamma), epsilon, cells=1)
    assert found == pytest.approx(expected, rel=1e-12)


@settings(max_examples=60)
@given(noises(), epsilons, st.integers(1, 40))
def test_float_agrees_with_the_enclosure(made: tuple[int, Fraction], epsilon: Fraction, cells: int) -> None:
    support, gamma = made
    cells = min(cells, 1 + 600 // support)
    truth = certified.delta(Noise(support, gamma), epsilon, cells=cells, digits=15)
    found = composition.delta(Noise(support, gamma), epsilon, cells=cells)
    assert relative_error(found, truth) < 1e-12


@settings(max_examples=60)
@given(noises(), st.integers(2, 6), st.integers(0, 300), st.sampled_from([0, 1, -1]), st.integers(-40, -3))
def test_float_agrees_with_the_enclosure_on_and_next_to_a_loss_of_the_lattice(
    made: tuple[int, Fraction], cells: int, steps: int, side: int, exponent: int
) -> None:
    support, gamma = min(made[0], 25), made[1]
    top = cells * (2 * support - 1)
    loss = gamma * (top - 2 * min(steps, (top - 1) // 2))
    epsilon = min(loss * (1 + side * Fraction(10) ** exponent), Fraction(500))
    truth = certified.delta(Noise(support, gamma), epsilon, cells=cells, digits=15)
    found = composition.delta(Noise(support, gamma), epsilon, cells=cells)
    assert relative_error(found, truth) < 1e-12


def chosen_on_the_way(
    growth: float, pmf: list[float], moves: dict[tuple[int, ...], int], answers: tuple[int, ...], cells: int
) -> float:
    """The divergence of answers to cells of which each is chosen by the answers before it.

    ``moves`` says for each history whether the person raises the next count, lowers it or is not in it.
    """
    if cells == 0:
        return max(0.0, 1 - growth)
    reach, move = len(pmf) // 2, moves[answers]
    total = 0.0
    for z, p in zip(range(-reach, reach + 1), pmf, strict=True):
        q = pmf[z - move + reach] if abs(z - move) <= reach else 0.0
        total += p * chosen_on_the_way(growth * q / p, pmf, moves, (*answers, z), cells - 1)
    return total


@settings(max_examples=40)
@given(st.integers(1, 2), decimals(-2, 1), st.integers(1, 3), decimals(-2, 1), st.randoms(), st.booleans())
def test_cells_chosen_on_the_way_cost_no_more_and_cells_without_the_person_nothing(
    support: int, gamma: Fraction, cells: int, epsilon: Fraction, random: Random, skips: bool
) -> None:
    pmf = Noise(support, gamma).pmf.tolist()
    choices = (-1, 0, 1) if skips else (-1, 1)
    moves: defaultdict[tuple[int, ...], int] = defaultdict(lambda: random.choice(choices))
    spent = chosen_on_the_way(math.exp(epsilon), pmf, moves, (), cells)
    bound = composition.delta(Noise(support, gamma), epsilon, cells=cells)
    assert spent <= bound * (1 + 1e-12)
    if not skips:
        assert spent == pytest.approx(bound, rel=1e-10, abs=1e-15)


def test_other_software_bounds_delta_from_both_sides() -> None:
    from dp_accounting.pld import privacy_loss_distribution as pld

    for above in (True, False):
        one = pld.from_discrete_gaussian_mechanism(
            sigma=math.sqrt(1 / (2 * float(EXAMPLE.gamma))),
            truncation_bound=EXAMPLE.support,
            value_discretization_interval=1e-2,
            pessimistic_estimate=above,
            use_connect_dots=above,
        )
        other = one.self_compose(10)
        for epsilon in (0.5, 1.0, 1.7):
            exact = composition.delta(EXAMPLE, epsilon, cells=10)
            found = other.get_delta_for_epsilon(epsilon)
            assert found == pytest.approx(exact, rel=0.2)
            assert found > exact if above else found < exact


@settings(max_examples=40)
@given(noises(), epsilons)
def test_the_enclosure_of_one_cell_meets_the_definition(
    made: tuple[int, Fraction], epsilon: Fraction
) -> None:
    support, gamma = made
    ours = certified.delta(Noise(support, gamma), epsilon, cells=1)
    other = certified.delta(Noise(support, gamma), epsilon)
    assert ours.lower <= other.upper
    assert other.lower <= ours.upper


@settings(max_examples=40)
@given(
    st.integers(1, 9), st.one_of(decimals(-2, 1), st.integers(50, 690)), decimals(-2, 1), st.integers(1, 40)
)
def test_an_enclosure_of_few_bits_still_contains_delta(
    support: int, gamma: Fraction, epsilon: Fraction, cells: int
) -> None:
    truth = certified.delta(Noise(support, gamma), epsilon, cells=cells)
    for bits in (12, 24, 48):
        with precision(bits):
            found = enclosure(certified.composed_delta_ball(Noise(support, gamma), epsilon, cells))
        assert found.lower <= truth.lower
        assert truth.upper <= found.upper
        assert found.upper - found.lower < Fraction(1000 * cells, 2**bits)


@settings(max_examples=30)
@given(st.integers(1, 6), decimals(-2, 1), decimals(-3, 1), st.integers(2, 30), st.integers(3, 12))
def test_windows_change_digits_not_truth(
    support: int, gamma: Fraction, epsilon: Fraction, cells: int, digits: int
) -> None:
    """Masses that round to zero at few bits are left out at both ends, and the loss ε may lie beyond them."""
    rough = certified.delta(Noise(support, gamma), epsilon, cells=cells, digits=digits)
    fine = certified.delta(Noise(support, gamma), epsilon, cells=cells, digits=80)
    assert rough.lower <= fine.lower <= fine.upper <= rough.upper
    assert (rough.upper - rough.lower) * 10**digits <= rough.lower


@pytest.mark.parametrize("noise", [Noise(3, "0.2"), Geometric(3, "0.4")], ids=["paper", "geometric"])
@pytest.mark.unmeasured
@pytest.mark.parametrize("cells", [2, 3, 4])
def test_delta_of_few_cells_is_that_of_all_outcomes(noise: Noise | Geometric, cells: int) -> None:
    """Every combination of noises, by the definition: Σ max(0, P − e^ε·Q), in 50 digits."""
    with mpmath.workdps(50):
        weights = {z: mpmath.exp(-mpmath.mpf(str(float(noise.exponent(z))))) for z in range(-3, 4)}
        total = mpmath.fsum(weights.values())
        for epsilon in ("0", "0.05", "0.3", "0.8", "1.6", "3", "7"):
            truth = mpmath.mpf(0)
            for drawn in itertools.product(range(-3, 4), repeat=cells):
                ours = mpmath.fprod(weights[z] for z in drawn)
                theirs = mpmath.fprod(weights.get(z - 1, mpmath.mpf(0)) for z in drawn)
                truth += max(ours - mpmath.exp(mpmath.mpf(epsilon)) * theirs, mpmath.mpf(0))
            truth /= total**cells
            found = certified.delta(noise, epsilon, cells=cells, digits=20)
            assert abs(mpmath.mpf(found.digits(18)) / truth - 1) < mpmath.mpf(10) ** -15
            assert composition.delta(noise, epsilon, cells=cells) == pytest.approx(float(truth), rel=1e-12)


def test_four_thousand_cells_are_certified() -> None:
    """The paper's noise of variance 73 000 and the geometric of rate 1/250, 4096 cells each.

    With 4096 cells the sum of the losses is nearly normal with mean μ = k·γ and variance 2μ, so that
    δ is near Φ(μ/s − ε/s) − e^ε·Φ(−μ/s − ε/s), s² = 2μ, as for Gaussian noise.
    """
    noise = Noise(2061, "0.0000068387")
    found = certified.delta(noise, 1, cells=4096, digits=6)
    mean = 4096 * float(noise.gamma)
    spread = math.sqrt(2 * mean)
    normal = NormalDist().cdf
    near = normal((mean - 1) / spread) - math.exp(1) * normal(-(mean + 1) / spread)
    assert float(found) == pytest.approx(near, rel=2e-3)
    assert (found.upper - found.lower) * 10**6 <= found.lower
    wide = certified.delta(Geometric(10**5, "0.004"), 1, cells=4096, digits=6)
    expected = composition.delta(Geometric(10**5, "0.004"), 1, cells=4096)
    assert float(wide) == pytest.approx(expected, rel=1e-6)


def test_more_cells_than_a_window_can_hold_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"cells must be at most \d+ for variance .* and 30 digits, got 4096"
    ):
        certified.delta(Noise(10**5, "1e-9"), 1, cells=4096)


def test_delta_of_ten_cells_of_example_1() -> None:
    # 9.91817733355716869e-4: an exact k-fold convolution on the lattice γ(1 − 2z), made with other software.
    found = certified.delta(EXAMPLE, 2, cells=10)
    assert found.digits(18) == "0.000991817733355716869"
    assert composition.delta(EXAMPLE, 2, cells=10) == pytest.approx(9.91817733355716869e-4, rel=1e-14)


@pytest.mark.unmeasured
def test_a_thousand_cells_keep_thirteen_digits() -> None:
    for epsilon in (5, 20):
        truth = certified.delta(EXAMPLE, epsilon, cells=1000, digits=14)
        found = composition.delta(EXAMPLE, epsilon, cells=1000)
        assert relative_error(found, truth) < 2e-13


@settings(max_examples=30)
@given(noises(tail=300), epsilons, st.integers(1, 12))
def test_delta_grows_with_cells_and_falls_with_epsilon_to_its_floor(
    made: tuple[int, Fraction], epsilon: Fraction, cells: int
) -> None:
    support, gamma = made
    here = composition.delta(Noise(support, gamma), epsilon, cells=cells)
    assert composition.delta(Noise(support, gamma), epsilon, cells=cells + 1) >= here
    assert composition.delta(Noise(support, gamma), 2 * epsilon, cells=cells) <= here * (1 + 1e-13)
    edge = certified.pmf(Noise(support, gamma), support, digits=20).lower
    floor = float(1 - (1 - edge) ** cells)
    top = cells * gamma * (2 * support - 1)
    if top <= 500:
        assert composition.delta(Noise(support, gamma), top, cells=cells) == pytest.approx(floor, rel=1e-12)
    assert here >= floor * (1 - 1e-12)


@settings(max_examples=40)
@given(noises(tail=300), st.integers(1, 9))
def test_losses_are_a_distribution_whose_other_world_is_its_mirror_image(
    made: tuple[int, Fraction], cells: int
) -> None:
    # P(L = ℓ)·e^−ℓ = Q(L = ℓ), and by the reflection z → 1 − z this is P(L = −ℓ).
    support, gamma = made
    found = composition.losses(Noise(support, gamma), cells=cells)
    assert found.infinite + found.probability.sum() == pytest.approx(1, rel=1e-12)
    assert len(found.loss) == len(found.probability) == cells * (2 * support - 1) + 1
    held = (found.probability > 1e-290) & (found.probability[::-1] > 1e-290)
    shifted = np.log(found.probability[held]) - found.loss[held]
    assert np.allclose(shifted, np.log(found.probability[::-1][held]), rtol=1e-12, atol=1e-11)
    assert not found.probability.flags.writeable


@settings(max_examples=40)
@given(noises(tail=300), st.integers(1, 9), st.floats(0.0, 1.2))
def test_epsilon_inverts_delta(made: tuple[int, Fraction], cells: int, share: float) -> None:
    support, gamma = made
    top = float(cells * gamma * (2 * support - 1))
    level = round(min(top * share, 500.0), 9)
    target = composition.delta(Noise(support, gamma), level, cells=cells)
    if not 0 < target < 1:
        return
    found = composition.epsilon(Noise(support, gamma), target, cells=cells)
    assert found <= min(level, top) * (1 + 1e-9) + 1e-9
    again = composition.delta(Noise(support, gamma), found, cells=cells)
    assert again == pytest.approx(target, rel=1e-9)


@given(noises(), st.floats(1e-6, 0.999))
def test_epsilon_of_one_cell_is_that_of_one_count(made: tuple[int, Fraction], delta: float) -> None:
    support, gamma = made
    expected = privacy.epsilon(Noise(support, gamma), delta)
    found = composition.epsilon(Noise(support, gamma), delta, cells=1)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_epsilon_is_infinite_below_the_floor_and_zero_from_the_total_variation_distance_on() -> None:
    gamma = Fraction(1, 5)
    for cells in (1, 2, 7):
        floor = composition.losses(Noise(3, gamma), cells=cells).infinite
        whole = composition.delta(Noise(3, gamma), 0, cells=cells)
        targets = [floor * 0.999, floor, whole, (1 + whole) / 2]
        found = composition.epsilon(Noise(3, gamma), targets, cells=cells)
        assert found[0] == math.inf
        assert found[1] == pytest.approx(cells * 5 * gamma)
        assert found[2] == pytest.approx(0, abs=1e-14)
        assert found[3] == 0


@pytest.mark.parametrize(("support", "gamma", "cells"), [(3, "0.2", 7), (5, "0.5", 100), (25, "0.0102", 10)])
def test_delta_within_1e_14_of_the_floor_counts_as_the_floor(support: int, gamma: str, cells: int) -> None:
    floor = composition.losses(Noise(support, gamma), cells=cells).infinite
    shares = (1 - 1e-12, 1 - 5e-15, 1, 1 + 1e-12)
    targets = [floor * share for share in shares]
    below, *rest = composition.epsilon(Noise(support, gamma), targets, cells=cells).tolist()
    assert below == math.inf
    assert all(0 < found <= cells * Fraction(gamma) * (2 * support - 1) * (1 + 1e-15) for found in rest)
    assert rest[0] == rest[1] >= rest[2]


def test_epsilon_of_losses_in_the_hundreds() -> None:
    # Two cells, loss ±ε each: δ = floor + (1 − floor)·(1 − e^(x − 2ε)) but for e^−ε, below float64.
    for one, edge in ((500, "0.1"), (400, "1e-5"), (690, "0.1")):
        inside = (1 - float(edge)) ** 2
        if one <= 500:
            found = composition.bounds(one, edge, cells=2, total="0.5").optimal
            assert found == pytest.approx(2 * one + math.log(0.5 / inside), rel=1e-14)
        found = composition.epsilon(Noise(1, one), "0.5", cells=2)
        assert found == pytest.approx(2 * one + math.log(0.5), rel=1e-14)


@settings(max_examples=60)
@given(st.integers(1, 4), st.integers(20, 690), st.sampled_from([1, 2, 3, 5, 21]), st.data())
def test_epsilon_of_a_steep_noise_is_found_beside_every_kink(
    support: int, gamma: int, cells: int, data: st.DataObject
) -> None:
    found = composition.losses(Noise(support, gamma), cells=cells)
    last = data.draw(st.integers(0, (len(found.loss) - 2) // 2))
    kink = found.infinite + lattice.excess(found.probability, last=last, rest=0, step=2.0 * gamma)
    for target in (kink, np.nextafter(kink, 0), np.nextafter(kink, 1), 1 - 2.0**-53):
        if 1e-299 < target < 1:
            level = composition.epsilon(Noise(support, gamma), float(target), cells=cells)
            assert 0 <= level <= found.loss[0] or target < found.infinite
            if level <= 500:
                again = composition.delta(Noise(support, gamma), float(level), cells=cells)
                assert again <= target * (1 + 1e-12)
                assert level == 0 or again == pytest.approx(target, rel=1e-12)


@settings(max_examples=25)
@given(st.integers(1, 6), decimals(-2, 1), decimals(-2, 1), decimals(-3, 0))
def test_most_cells_is_the_last_within_the_budget(
    support: int, gamma: Fraction, epsilon: Fraction, delta: Fraction
) -> None:
    found = composition.most_cells(Noise(support, gamma), epsilon, delta)
    if found:
        assert certified.delta(Noise(support, gamma), epsilon, cells=found).upper < delta
    over = certified.delta(Noise(support, gamma), epsilon, cells=found + 1)
    assert over.lower > delta


def test_most_cells_trusts_enclosures_not_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = (2, Fraction(1, 1000))
    assert composition.most_cells(EXAMPLE, *budget) == 10
    honest = composition._delta
    for factor in (2.0, 0.5):
        monkeypatch.setattr(composition, "_delta", lambda *a, factor=factor: factor * honest(*a))
        assert composition.most_cells(EXAMPLE, *budget) == 10


def test_most_cells_decides_a_budget_one_part_in_1e25_from_delta() -> None:
    edge = certified.delta(EXAMPLE, 2, cells=10, digits=40)
    hair = Fraction(1, 10**28)
    assert composition.most_cells(EXAMPLE, 2, edge.upper + hair) == 10
    assert composition.most_cells(EXAMPLE, 2, edge.lower - hair) == 9


def test_a_budget_below_one_cells_delta_leaves_none() -> None:
    assert composition.most_cells(EXAMPLE, "0.5", "1e-5") == 0


@settings(max_examples=40)
@given(decimals(-2, 1), st.integers(1, 25), st.integers(1, 60))
def test_known_theorems_bound_the_exact_epsilon_in_their_order(
    epsilon: Fraction, support: int, cells: int
) -> None:
    made = design.proposition_3(epsilon, support=support)
    total = min(2 * cells * made.delta, 0.9)
    found = composition.bounds(epsilon, made.delta, cells=cells, total=total)
    exact = composition.epsilon(made, total, cells=cells)
    slack = 1 + 1e-9
    assert exact <= found.optimal * slack + 1e-12
    assert found.optimal <= min(found.basic, found.advanced) * slack + 1e-12


@settings(max_examples=30)
@given(decimals(-1, 1), decimals(-4, -1), st.integers(1, 8))
def test_the_optimal_bound_is_that_of_the_closed_form(epsilon: Fraction, delta: Fraction, cells: int) -> None:
    # Kairouz, Oh and Viswanath: 1 − (1−δ)^k·(1−δ_i) at (k − 2i)ε, with
    # δ_i = Σ_{l<i} C(k,l)·(e^((k−l)ε) − e^((k−2i+l)ε))/(1 + e^ε)^k.
    one = float(epsilon)
    for i in range((cells + 1) // 2):
        terms = (
            math.comb(cells, j) * (math.exp((cells - j) * one) - math.exp((cells - 2 * i + j) * one))
            for j in range(i)
        )
        inner = sum(terms) / (1 + math.exp(one)) ** cells
        total = 1 - (1 - float(delta)) ** cells * (1 - inner)
        found = composition.bounds(epsilon, delta, cells=cells, total=total * (1 + 1e-12))
        assert found.optimal == pytest.approx((cells - 2 * i) * one, rel=1e-6)


def test_basic_and_advanced_composition_are_their_formulas() -> None:
    # 0.1·sqrt(2·100·ln 10^5) + 100·0.1·(e^0.1 − 1) at δ = 100·10^−6 + 10^−5, with mpmath at 20 digits
    found = composition.bounds("0.1", "1e-6", cells=100, total="1.1e-4")
    assert found.basic == pytest.approx(10, rel=1e-15)
    assert found.advanced == pytest.approx(5.8502350929445574557, rel=1e-13)


def test_bounds_are_infinite_where_the_deltas_use_up_the_total() -> None:
    assert composition.bounds(1, "0.01", cells=10, total="0.05") == (math.inf, math.inf, math.inf)
    basic, advanced, optimal = composition.bounds(1, "0.01", cells=10, total="0.098")
    assert (basic, advanced) == (10, math.inf)
    assert optimal < 10


@settings(max_examples=50)
@given(st.lists(st.integers(0, 200), min_size=1, max_size=6), st.integers(1, 9), st.integers(1, 12))
def test_integer_powers_are_the_exact_ones_rounded_down(masses: list[int], terms: int, bits: int) -> None:
    exact = [Fraction(1)]
    for _ in range(terms):
        longer = [Fraction(0)] * (len(exact) + len(masses) - 1)
        for (i, a), (j, b) in itertools.product(enumerate(exact), enumerate(masses)):
            longer[i + j] += a * Fraction(b, 2**bits)
        exact = longer
    first, kept = lattice.power_from_below(lattice.Window(0, masses), terms, bits=bits)
    found = [0] * first + kept + [0] * (len(exact) - first - len(kept))
    assert all(value <= truth * 2**bits for value, truth in zip(found, exact, strict=True))
    if terms == 2:
        assert found == [math.floor(truth * 2**bits) for truth in exact]
    assert lattice.power(np.array(masses, dtype=float), terms) == pytest.approx(
        [float(truth * 2 ** (bits * terms)) for truth in exact], rel=1e-13
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: composition.delta(Noise(25, "0.01"), 1, cells=0),
            "cells must be an integer from 1 to",
        ),
        (
            lambda: composition.delta(Noise(25, "0.01"), 1, cells=2041),
            "cells must be at most 2040 for",
        ),
        (
            lambda: composition.delta(Noise(2, 1), -1, cells=2),
            r"epsilon must be a number in \[0, 500\]",
        ),
        (
            lambda: composition.delta(Noise(2, 1), [], cells=2),
            "epsilon must be a number or a non-empty",
        ),
        (
            lambda: composition.delta(Noise(40, 1), 500, cells=2),
            "delta is below 1e-300; certified.delta encloses it",
        ),
        (lambda: composition.epsilon(Noise(2, 1), 0, cells=2), r"delta must be a number in \(0, 1\)"),
        (lambda: composition.losses(Noise(0, 1), cells=2), "support must be an integer from 1 to"),
        (lambda: certified.delta(Noise(2, 0), 1, cells=2), "gamma must be a number in"),
        (
            lambda: composition.most_cells(Noise(49999, "1e-8"), 1, "0.5"),
            "delta must be so small that fewer than 1 cells keep it, the most for support 49999, got",
        ),
        (lambda: composition.bounds(1, "0.1", cells=2, total=1), r"total must be a number in \(0, 1\)"),
        (lambda: composition.bounds(0, "0.1", cells=2, total="0.5"), "epsilon must be a number in"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


def test_a_delta_too_small_for_enclosures_is_named() -> None:
    assert certified.delta(Noise(60, 4), 500, cells=1).digits(5) == "1.3926E-6254"
    with pytest.raises(ArithmeticError, match=r"a value beyond 2\^±3000000"):
        certified.delta(Noise(10**5, "0.0025"), 500, cells=1)


def test_one_cell_of_any_support_is_served() -> None:
    found = composition.delta(Noise(60_000, "1e-7"), "0.01", cells=1)
    assert found == pytest.approx(privacy.delta(Noise(60_000, "1e-7"), "0.01"), rel=1e-12)


def test_a_float_means_the_decimal_that_it_prints_as() -> None:
    several = composition.delta(Noise(4, 0.1), [0.1, 0.3], cells=3)
    exact = [composition.delta(Noise(4, "0.1"), e, cells=3) for e in ("0.1", "0.3")]
    assert several.tolist() == exact


@pytest.mark.parametrize("cells", [1, 3, 15, 16, 200])
@pytest.mark.parametrize("epsilon", ["0", "0.001", "0.1", "1", "6"])
@pytest.mark.parametrize("variance", [0.05, 1, 30, 700])
@pytest.mark.parametrize("reach", [7, 25])  # standard deviations: at 25 nothing of δ is infinite loss
def test_quick_delta_agrees_with_the_enclosure_however_small(
    cells: int, epsilon: str, variance: float, reach: int
) -> None:
    support = 8 + math.ceil(reach * math.sqrt(variance))
    for noise in (Noise.of_variance(support, variance), Geometric.of_variance(support, variance)):
        if epsilon == "0" and cells == 1:
            continue
        exact = float(certified.delta(noise, epsilon, cells=cells, digits=12))
        assert composition.quick_delta(noise, epsilon, cells=cells) == pytest.approx(exact, rel=1e-8, abs=0)


@settings(max_examples=60)
@given(noises(), epsilons, st.integers(1, 60))
def test_quick_delta_agrees_on_supports_that_cut_much_off(
    made: tuple[int, Fraction], epsilon: Fraction, cells: int
) -> None:
    noise = Noise(*made)
    exact = float(certified.delta(noise, epsilon, cells=cells, digits=12))
    assert composition.quick_delta(noise, epsilon, cells=cells) == pytest.approx(exact, rel=1e-7, abs=0)


def test_quick_delta_serves_more_cells_than_convolutions_do() -> None:
    noise = Noise(1628, "6.77176e-6")
    exact = float(certified.delta(noise, 1, cells=4096, digits=9))
    assert composition.quick_delta(noise, 1, cells=4096) == pytest.approx(exact, rel=1e-8, abs=0)
    with pytest.raises(ValueError, match="^cells must be an integer from 1 to 100000, got 0"):
        composition.quick_delta(noise, 1, cells=0)
