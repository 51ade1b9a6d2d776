"""Counts below D: the rows, what they protect, clamping, and tables for any count."""

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.checks import relative_error
from support.strategies import decimals, noises, proportions

from tablebuilder_dp import certified, noise, privacy, sampling
from tablebuilder_dp.counts import certified as certified_counts
from tablebuilder_dp.counts import perturbation_table as perturbation
from tablebuilder_dp.counts import rows
from tablebuilder_dp.counts import small_counts as small
from tablebuilder_dp.counts.rows import OfVariance, Symmetric
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support.intervals import Enclosure, ball

# D = 5, V = 3, js = 0, default settings: column p of pt_export_TauArgus as written by the R package
# ptable 1.0.0. Rows 1 and 2 are not the optimum: ptable also wants p to rise up to 0 and fall after it.
PTABLE = {
    1: "0.38893783 0.38893782 0.12209348 0.05639415 0.02604806 0.01203143 0.00555723",
    2: "0.22569905 0.22569905 0.22569906 0.13286506 0.08871749 0.05450076 0.03080282 0.01601671",
    3: "0.07202982 0.13671708 0.19735139 0.21665293 0.18088226 0.11485088 0.05545999 0.02036723 0.00568842",
    4: "0.01843920 0.05548388 0.12162104 0.19420816 0.22591402 0.19144140 0.11818040 0.05314618 0.01741067 "
    "0.00415505",
    5: "0.00379186 0.01659093 0.05229263 0.11873037 0.19419346 0.22880150 0.19419346 0.11873037 0.05229263 "
    "0.01659093 0.00379186",
}

PLAIN = sampling.LookupTable(keysize=4, cuts=(1, 3, 4))

supports = st.integers(1, 12)
epsilons = decimals(-2, 1)


@st.composite
def targets(draw: st.DrawFn, tail: int = 600) -> Symmetric:
    """A support with a γ, or with a variance up to a fifth above its bound.

    γD² stays below ``tail``, or V above what belongs to that, as rows near D hardly differ otherwise.
    """
    support = draw(supports)
    if draw(st.booleans()):
        return Noise(support, min(draw(decimals(-4, 1)), Fraction(tail, support**2)))
    share = draw(st.one_of(proportions, st.fractions(0, 1, max_denominator=40), decimals(-9, -2)))
    if tail < 600:
        share = max(share, Fraction(2, tail))
    return OfVariance(support, max(share, Fraction(1, 10**9)) * support * (support + 1) * Fraction(2, 5))


def bound(aim: Symmetric) -> float:
    """V as a float."""
    return float(aim.variance)


def test_rows_are_those_of_ptable_where_it_adds_no_constraint() -> None:
    table = small.noise_table(OfVariance(5, 3))
    ours = small.measures(table)
    for count, text in PTABLE.items():
        theirs = np.array([0.0] * (5 - count) + [float(mass) for mass in text.split()])
        gap = np.abs(table[count] - theirs).max()
        assert bool(gap < 1e-7) is (count >= 3)
        if count < 3:  # ours is more confusing and protects the empty cell better
            assert ours.entropy[count] > -(theirs[theirs > 0] * np.log(theirs[theirs > 0])).sum() + 0.003
    assert table[1, 4] > float(PTABLE[1].split()[0]) + 0.09


@given(targets())
def test_rows_have_mean_zero_and_the_variance_exactly_where_gamma_is_positive(aim: Symmetric) -> None:
    found, limit, support = rows.rows(aim), bound(aim), aim.support
    measures = small.measures(found.table)
    scale = min(limit, limit**0.5, support)
    assert np.abs(measures.bias).max() < 1e-13 * scale
    assert np.all(found.tilts[:-1] >= -1e-15)
    for count in range(1, support + 1):
        if found.gammas[count] > 0:
            assert measures.variance[count] == pytest.approx(limit, rel=1e-12)
        else:
            assert measures.variance[count] <= limit * (1 + 1e-12)
        assert not found.table[count, : support - count].any()
    assert found.table[0].tolist() == [0] * support + [1] + [0] * support
    assert measures.entropy[0] == 0
    assert not np.signbit(measures.entropy).any()


@settings(max_examples=25)
@given(targets())
def test_float64_agrees_with_enclosures(aim: Symmetric) -> None:
    found = rows.rows(aim)
    for count in range(aim.support + 1):
        row = certified_counts.row(aim, count)
        for value, truth in zip(found.table[count], row.pmf, strict=True):
            if truth.upper == 0:
                assert value == 0
            elif truth.lower > Fraction(1, 10**290):
                assert relative_error(value, truth) < 1e-12
                assert (truth.upper - truth.lower) * 10**30 <= truth.lower
        if row.gamma is not None:
            assert float(row.gamma) == pytest.approx(found.gammas[count], rel=1e-9, abs=1e-12)
            assert float(row.tilt) == pytest.approx(found.tilts[count], rel=1e-9, abs=1e-12)


@settings(max_examples=30)
@given(targets(), st.randoms(use_true_random=False))
def test_no_other_noise_with_the_same_moments_has_more_entropy(aim: Symmetric, random: Any) -> None:
    found, support = rows.rows(aim), aim.support
    for count in range(1, support + 1):
        p = found.table[count, support - count :]
        z = np.arange(-count, support + 1.0)
        at = sorted(random.sample(range(len(z)), 3))
        # Three points carry mean-zero directions; those along which E[Z²] does not grow are feasible.
        direction = np.zeros(len(z))
        direction[at] = [z[at[1]] - z[at[2]], z[at[2]] - z[at[0]], z[at[0]] - z[at[1]]]
        direction *= -np.sign((direction * z**2).sum())
        room = p[direction < 0] / -direction[direction < 0]
        other = p + direction * min(room) / 2
        if p.min() > 1e-200 and (
            found.gammas[count] == 0 or (other * z**2).sum() <= bound(aim) * (1 + 1e-12)
        ):
            gains = (direction * np.log(p)).sum()  # −dH along the direction
            assert gains >= -1e-9 * np.abs(direction * np.log(p)).sum()
            assert -(other * np.log(other)).sum() <= -(p * np.log(p)).sum() + 1e-15


@settings(max_examples=25)
@given(st.integers(2, 12), st.data())
def test_the_variance_is_reached_exactly_below_that_of_the_exponential(
    support: int, data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, support - 1))
    limit = certified_counts.free_variance(count, support=support, digits=60)
    assert limit.upper < certified_counts.free_variance(count + 1, support=support).lower
    hair = Fraction(1, 10**40)
    below = certified_counts.row(OfVariance(support, limit.lower - hair), count)
    above = certified_counts.row(OfVariance(support, limit.upper + hair), count)
    assert below.gamma is not None
    assert 0 < below.gamma.lower < 10 * hair
    assert above.gamma == Enclosure(Fraction(0), Fraction(0))


@pytest.mark.parametrize("digits", [3, 50, 200])
@pytest.mark.parametrize("variance", [3, "1e-9", 10 - Fraction(1, 10**270), None])
def test_rows_are_as_narrow_as_asked_and_the_last_is_symmetric(variance: Any, digits: int) -> None:
    aim: Symmetric = Noise(5, "0.164") if variance is None else OfVariance(5, variance)
    rows = [certified_counts.row(aim, count, digits=digits) for count in range(6)]
    for one in itertools.chain.from_iterable(row.pmf for row in rows):
        assert (one.upper - one.lower) * 10**digits <= one.lower
    assert rows[-1].tilt == Enclosure(Fraction(0), Fraction(0))
    assert rows[-1].pmf == rows[-1].pmf[::-1]


def test_a_root_is_proved_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    aim = OfVariance(4, "1.2345")
    off = [(tilt * (1 + Fraction(1, 10**6)), gamma) for tilt, gamma in certified_counts._guesses(aim)]
    monkeypatch.setattr(certified_counts, "_guesses", lambda _: off)
    certified_counts.solve.cache_clear()
    with pytest.raises(ArithmeticError, match="no proof at"):
        certified_counts.solve(aim, 2, 30)
    with pytest.raises(ArithmeticError, match="no proof of the tilt"):
        certified_counts.free_variance(2, support=4)


@pytest.mark.parametrize("variance", [3, 100, "1e4000"])
def test_a_variance_that_no_row_reaches_changes_nothing(variance: Any) -> None:
    found, free = (rows.rows(OfVariance(2, one)) for one in (variance, 2))
    assert np.array_equal(found.table, free.table)
    assert certified_counts.row(OfVariance(2, variance), 1).gamma == Enclosure(Fraction(0), Fraction(0))


def test_a_variance_at_the_very_limit_is_refused() -> None:
    limit = certified_counts.free_variance(2, support=4, digits=400)
    with pytest.raises(ArithmeticError, match="whether variance is reached by the row of count 2"):
        certified_counts.row(OfVariance(4, (limit.lower + limit.upper) / 2), 2)


@settings(max_examples=30)
@given(targets(tail=60))
def test_where_the_variance_binds_gamma_rises_and_the_lone_mass_falls(aim: Symmetric) -> None:
    rows = [certified_counts.row(aim, count, digits=70) for count in range(1, aim.support + 1)]
    binding = [row for row in rows if row.gamma is not None and row.gamma.lower > 0]
    assert binding == rows[len(rows) - len(binding) :]
    for row, later in itertools.pairwise(binding):
        assert row.gamma is not None
        assert later.gamma is not None
        assert row.gamma.upper < later.gamma.lower
        assert later.pmf[-1].upper < row.pmf[-1].lower
        assert row.tilt.lower > 0


@pytest.mark.parametrize("variance", ["8.24", "65.1", "21.5", "1e-200", "2729.9", "1e5"])
def test_newton_survives_a_wide_support(variance: str) -> None:
    found = rows.rows(OfVariance(90, variance))
    measures = small.measures(found.table)
    assert np.abs(measures.bias).max() < 1e-12
    reached = measures.variance[1:][found.gammas[1:] > 0]
    assert reached == pytest.approx(np.full(len(reached), float(variance)), rel=1e-12)


@given(st.lists(st.integers(1, 1000), min_size=2, max_size=9))
def test_no_unbiased_noise_closes_the_hole(weights: list[int]) -> None:
    # Any pmf of Z on 0, 1, …, made unbiased by the weight of −1 that this takes.
    lift = sum(z * weight for z, weight in enumerate(weights))
    total = sum(weights) + lift
    variance = Fraction(lift + sum(z * z * weight for z, weight in enumerate(weights)), total)
    assert 1 - Fraction(lift, total) >= small.hole_bound(variance)


@settings(max_examples=30)
@given(targets(), epsilons)
def test_the_empty_cell_is_a_hole_in_the_rows_for_every_epsilon(aim: Symmetric, epsilon: Fraction) -> None:
    hole = certified_counts.delta(aim, 0, epsilon).backward
    first = certified_counts.row(aim, 1).pmf[aim.support - 1]
    assert hole.lower <= 1 - first.lower
    assert hole.upper >= 1 - first.upper
    assert float(hole) >= 1 / (1 + bound(aim)) - 1e-12


@settings(max_examples=40)
@given(noises(), epsilons)
def test_clamping_keeps_the_symmetric_delta_upward_and_lowers_it_downward(
    pair: tuple[int, Fraction], epsilon: Fraction
) -> None:
    support, gamma = pair
    noise = Noise(support, gamma)
    truth = certified.delta(noise, epsilon)
    found = small.deltas(small.noise_table(noise, small_counts="clamped"), epsilon)
    p = noise.pmf
    first = min(support, -privacy.z_star(noise, epsilon))
    for count in range(support + 1):
        assert relative_error(found.backward[count], truth) < 1e-9
        if count >= first:
            assert relative_error(found.forward[count], truth) < 1e-9
        else:
            reach, less = p[: support - count + 1].sum(), p[: support - count].sum()
            expected = max(0.0, reach - math.exp(epsilon) * less)
            assert found.forward[count] == pytest.approx(expected, rel=1e-9, abs=1e-15 * reach)
            assert found.forward[count] < float(truth)


@given(targets())
def test_bias_and_variance_of_clamping_are_the_closed_forms(aim: Symmetric) -> None:
    support = aim.support
    brute = small.measures(small.noise_table(aim, small_counts="clamped"))
    bias = small.clamping_bias(aim)
    p = rows.symmetric_pmf(aim)[support:]
    for count in range(support + 1):
        terms = math.fsum((j - count) * p[j] for j in range(count + 1, support + 1))
        assert bias[count] == pytest.approx(terms, rel=1e-13)
    assert bias == pytest.approx(brute.bias, rel=1e-9, abs=1e-14)
    assert bias[-1] == 0
    assert small.clamping_variance(aim) == pytest.approx(brute.variance, rel=1e-9)


@settings(max_examples=25)
@given(targets(), epsilons, st.sampled_from(small.CHOICES))
def test_delta_of_every_pair_agrees_with_enclosures(aim: Symmetric, epsilon: Fraction, way: str) -> None:
    found = small.deltas(small.noise_table(aim, small_counts=way), epsilon)
    for count in range(aim.support + 1):
        truth = certified_counts.delta(aim, count, epsilon, small_counts=way)
        for value, one in zip((found.forward[count], found.backward[count]), truth, strict=True):
            assert abs(value - float(one)) <= 1e-9 * float(one) + 1e-14
    beyond = certified_counts.delta(aim, 10**9, epsilon, small_counts=way)
    assert beyond == certified_counts.delta(aim, aim.support, epsilon, small_counts=way)


@settings(max_examples=30)
@given(targets(tail=60), epsilons)
def test_protection_starts_where_no_later_pair_exceeds_the_symmetric_delta(
    aim: Symmetric, epsilon: Fraction
) -> None:
    support = aim.support
    first = certified_counts.protected_from(aim, epsilon)
    found = small.deltas(small.noise_table(aim), epsilon)
    worst = np.maximum(*found) / found.backward[-1]
    assert np.all(worst[first:] <= 1 + 1e-9)
    if first > 0:
        assert worst[first - 1] > 1 - 1e-9
        assert first <= support


@pytest.mark.parametrize("epsilon", ["0.01", 2, 400])
def test_with_support_1_only_symmetric_pairs_are_protected(epsilon: Any) -> None:
    # Count 1 publishes 1 and 2, which an empty cell never does: 0.75 against a symmetric 0.25 at ε = 2.
    assert certified_counts.protected_from(OfVariance(1, "0.5"), epsilon) == 1


@pytest.mark.parametrize(("support", "variance"), [(4, 2), (5, 3)])
def test_protection_is_that_of_float64_where_nothing_is_nearly_equal(support: int, variance: int) -> None:
    # Between ε = 1.2 and 1.5, δ down of pair D − 1 lies within p(D) of the symmetric one.
    table = small.noise_table(OfVariance(support, variance))
    for twentieths in range(1, 60):
        epsilon = Fraction(twentieths, 20)
        down, up = small.deltas(table, epsilon)
        exceeding = np.flatnonzero(np.maximum(up, down) > up[-1] * (1 + 1e-12))
        first = certified_counts.protected_from(OfVariance(support, variance), epsilon)
        assert first == max(exceeding, default=-1) + 1


def test_protection_is_decided_where_rows_differ_in_hundreds_of_digits() -> None:
    assert certified_counts.protected_from(OfVariance(15, "0.01"), 1) == 1
    assert certified_counts.protected_from(Noise(12, 3), 5) == 12


def test_delta_at_an_exact_kink_far_above_the_lone_mass() -> None:
    truth = certified.delta(Noise(2, 160), 480)
    assert truth.digits(12) == "1.12598234742E-278"
    for count, way in ((2, "rows"), (9, "rows"), (1, "clamped"), (2, "clamped")):
        for found in certified_counts.delta(Noise(2, 160), count, 480, small_counts=way):
            assert found.lower <= truth.upper
            assert truth.lower <= found.upper


def test_on_the_plateau_the_rows_protect_from_d_minus_1_on() -> None:
    # The lone mass of pair D − 1 is the symmetric p(D) itself: equal, and still decided.
    onset = privacy.plateau(Noise(25, "0.0101")).onset
    for epsilon in (onset, onset + 1):
        assert certified_counts.protected_from(Noise(25, "0.0101"), epsilon) == 24


def exact_cuts(count: int, support: int, variance: Fraction, keysize: int) -> list[int]:
    """⌈K·P(Z ≤ z)⌉ by mpmath's root finder at 60 digits, which knows nothing of intervals."""
    with mpmath.workdps(60):
        z = range(-count, support + 1)

        def moments(tilt: Any, gamma: Any) -> tuple[Any, Any]:
            w = [mpmath.exp(-tilt * x - gamma * x * x) for x in z]
            return sum(x * m for x, m in zip(z, w, strict=True)) / sum(w), sum(
                x * x * m for x, m in zip(z, w, strict=True)
            ) / sum(w)

        guess = rows.rows(OfVariance(support, variance))
        start = float(guess.tilts[count]), float(guess.gammas[count])
        goal = mpmath.mpf(variance.numerator) / variance.denominator
        if start[1] > 0:
            tilt, gamma = mpmath.findroot(
                lambda t, g: [moments(t, g)[0], moments(t, g)[1] - goal], start, tol=1e-80
            )
        else:
            tilt, gamma = mpmath.findroot(lambda t: moments(t, 0)[0], start[0], tol=1e-100), mpmath.mpf(0)
        weights = [mpmath.exp(-tilt * x - gamma * x * x) for x in z]
        reach = [sum(weights[: i + 1]) / sum(weights) for i in range(len(weights) - 1)]
        return [0] * (support - count) + [int(mpmath.ceil(keysize * one)) for one in reach] + [keysize]


@settings(max_examples=20, deadline=None)
@pytest.mark.unmeasured
@given(st.integers(2, 6), st.integers(1, 30), st.sampled_from([7, 256, 1000, 2**16, 2**32, 2**64]), st.data())
def test_cut_points_are_the_ceilings(support: int, tenths: int, keysize: int, data: st.DataObject) -> None:
    variance = Fraction(tenths, 31) * noise.variance_bound(support)
    table = perturbation.build(OfVariance(support, variance), keysize=keysize)
    count = data.draw(st.integers(1, support))
    assert list(table.rows[count].cuts) == exact_cuts(count, support, variance, keysize)
    assert table.rows[0].weights == (*[0] * support, keysize, *[0] * support)


@pytest.mark.parametrize(("side", "cuts"), [(1, (2, 10, 25, 33, 34)), (-1, (1, 9, 26, 34, 34))])
def test_cut_points_a_hair_from_integers_are_decided(side: int, cuts: tuple[int, ...]) -> None:
    # V = 12/17 has e^−γ = 1/2 and whole cut points 1, 9, 25 and 33; a larger V moves mass to the ends.
    variance = Fraction(12, 17) + side * Fraction(1, 10**90)
    assert perturbation.build(OfVariance(2, variance), keysize=34).rows[-1].cuts == cuts


def test_with_a_given_gamma_row_d_is_the_papers_lookup_table() -> None:
    for way in small.CHOICES:
        table = perturbation.build(Noise(5, "0.164"), keysize=2**16, small_counts=way)
        paper = sampling.lookup_table(Noise(5, "0.164"), keysize=2**16)
        assert table.row(5) == table.row(10**12) == paper
        assert (table.support, table.keysize, len(table.rows)) == (5, 2**16, 6)
    same = perturbation.build(OfVariance(5, Noise(5, "0.164").variance), keysize=2**16)
    assert same.rows == perturbation.build(Noise(5, "0.164"), keysize=2**16).rows


@pytest.mark.parametrize(
    ("aim", "keysize", "cuts"),
    [
        (OfVariance(1, "0.5"), 8, (2, 6, 8)),
        (OfVariance(2, 2), 10, (2, 4, 6, 8, 10)),
        (OfVariance(2, 50), 8, (2, 4, 5, 7, 8)),
    ],
)
def test_whole_cut_points_of_a_rational_noise_are_decided(
    aim: Symmetric, keysize: int, cuts: tuple[int, ...]
) -> None:
    assert perturbation.build(aim, keysize=keysize).rows[-1].cuts == cuts


@pytest.mark.parametrize("way", small.CHOICES)
def test_every_key_of_every_count_gives_exactly_the_weights(way: str) -> None:
    table = perturbation.build(OfVariance(5, 3), keysize=2**16, small_counts=way)
    keys = np.arange(2**16)
    for count in (0, 1, 2, 3, 4, 5, 6, 1000, 2**40):
        found = perturbation.sample(table, np.full(2**16, count), keys)
        assert np.bincount(found + 5, minlength=11).tolist() == list(table.row(count).weights)
        assert (count + found).min() >= 0
        if way == "clamped":
            assert np.array_equal(found, np.maximum(sampling.sample(table.rows[-1], keys), -count))


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 255)), min_size=1, max_size=40),
    st.sampled_from(small.CHOICES),
)
def test_sampling_many_is_sampling_each(cells: list[tuple[int, int]], way: str) -> None:
    table = perturbation.build(OfVariance(4, 2), keysize=256, small_counts=way)
    counts, keys = map(list, zip(*cells, strict=True))
    found = perturbation.sample(table, counts, keys)
    expected = [sampling.sample(table.row(count), key) for count, key in cells]
    assert found.tolist() == expected == [perturbation.sample(table, *cell) for cell in cells]
    shaped = perturbation.sample(table, np.array(counts).reshape(1, -1, 1), np.array(keys).reshape(1, -1, 1))
    assert shaped.tolist() == [[[noise] for noise in expected]]


@settings(max_examples=30)
@given(targets(), st.sampled_from([64, 256, 2**16]), st.sampled_from(small.CHOICES), epsilons, st.data())
def test_privacy_of_a_table_is_that_of_its_weights(
    aim: Symmetric, keysize: int, way: str, epsilon: Fraction, data: st.DataObject
) -> None:
    table = perturbation.build(aim, keysize=keysize, small_counts=way)
    count = data.draw(st.integers(0, aim.support + 2))
    published: list[dict[int, int]] = []
    for n in (count, count + 1):
        weights = enumerate(table.row(n).weights, n - table.support)
        published.append({value: weight for value, weight in weights if weight})
    less, more = published
    assert min(min(less), min(more)) >= 0
    lone, ratios = [], [Fraction(1)]
    for p, q, found in ((more, less, 1), (less, more, 0)):
        terms = [(weight, q.get(value, 0)) for value, weight in p.items()]
        brute = sum(max(0, a - math.exp(epsilon) * b) for a, b in terms) / keysize
        assert float(perturbation.delta(table, count, epsilon)[found]) == pytest.approx(
            brute, rel=1e-9, abs=1e-12
        )
        lone.append(Fraction(sum(a for a, b in terms if not b), keysize))
        ratios += [Fraction(a, b) for a, b in terms if b]
    assert perturbation.alone(table, count) == max(lone)
    growth = Fraction(perturbation.growth(table, count))
    assert 1 <= growth <= max(ratios)
    for factor, enough in ((growth, True), (growth * Fraction(999, 1000), False))[: 1 + (growth > 1)]:
        sums = [
            sum(
                (max(Fraction(0), weight - factor * q.get(value, 0)) for value, weight in p.items()),
                Fraction(0),
            )
            for p, q in ((more, less), (less, more))
        ]
        assert (max(sums) <= max(lone) * keysize) is enough
    assert max(lone) == 0 or perturbation.growth(table, count, max(lone) / 2) == math.inf


def test_a_transition_matrix_moves_each_count_by_its_noise() -> None:
    for way in small.CHOICES:
        table = small.noise_table(OfVariance(3, 2), small_counts=way)
        matrix = small.transition_matrix(table, largest=6)
        assert matrix.shape == (7, 10)
        assert matrix.sum(axis=1) == pytest.approx(np.ones(7))
        for count in range(7):
            for value in range(10):
                z = value - count
                expected = table[min(count, 3), z + 3] if -3 <= z <= 3 else 0
                assert matrix[count, value] == expected
        pairs = [privacy.hockey_stick(matrix[n], matrix[n + 1], "0.7") for n in range(4)]
        for found, expected in zip(small.deltas(table, "0.7"), zip(*pairs, strict=True), strict=True):
            assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: small.noise_table(5), "noise must be a Noise or OfVariance, got 5"),  # type: ignore[arg-type]
        (lambda: OfVariance(5, 0), r"variance must be a number in \(0, inf\), got 0"),
        (lambda: OfVariance(5, "1e-280"), "variance must be at least 1e-270"),
        (
            lambda: OfVariance(5, 10 - Fraction(1, 10**271)),
            r"and as far below D\(D\+1\)/3 unless it is that or more",
        ),
        (
            lambda: certified_counts.protected_from(OfVariance(25, "0.001"), 1),
            r"noise must be one with p\(D\)/p\(0\) above 1e-2000, got OfVariance",
        ),
        (lambda: certified_counts.protected_from(Noise(99, 1), 1), r"noise must be one with p\(D\)/p\(0\)"),
        (lambda: small.measures([[0.0, 1.0, 0.0]]), "table must be a noise table: a float64 array"),  # type: ignore[arg-type]
        (lambda: small.measures(np.ones(3)), r"columns, got \(3,\)"),
        (lambda: small.deltas(np.ones((3, 3)), 1), r"columns, got \(3, 3\)"),
        (lambda: small.transition_matrix(np.ones((1, 1)), largest=2), r"columns, got \(1, 1\)"),
        (lambda: small.noise_table(OfVariance(2000, 1)), "support must be an integer from 1 to 1000"),
        (
            lambda: small.noise_table(OfVariance(5, 1), small_counts="other"),
            "small_counts must be one of rows",
        ),
        (lambda: certified_counts.row(OfVariance(5, 1), -1), "count must be an integer from 0"),
        (lambda: certified_counts.free_variance(6, support=5), "count must be an integer from 1 to 5, got 6"),
        (lambda: certified_counts.delta(OfVariance(5, 1), 1, 0), "epsilon must be a number in"),
        (lambda: small.hole_bound(-1), "variance must be a number in"),
        (lambda: perturbation.build(OfVariance(5, 1), keysize=1), "keysize must be an integer from 2"),
        (lambda: sample_of(-1, 0), "counts must be integers from 0 to 9223372036854775807, got -1"),
        (lambda: sample_of(0, 256), "keys must be integers from 0 to 255, got 256"),
        (lambda: sample_of([1, 2], [3]), r"keys must be of the shape \(2,\) of counts, got \(1,\)"),
        (lambda: sample_of(1.5, 0), "counts must be integers"),
        (lambda: perturbation.sample(None, 1, 1), "table must be a PerturbationTable"),  # type: ignore[arg-type]
        (lambda: perturbation.outputs(PLAIN, 1), "table must be a PerturbationTable"),  # type: ignore[arg-type]
        (lambda: perturbation.delta(PLAIN, 1, 1), "table must be a PerturbationTable"),  # type: ignore[arg-type]
        (lambda: perturbation.alone(PLAIN, 1), "table must be a PerturbationTable"),  # type: ignore[arg-type]
        (lambda: perturbation.growth(PLAIN, 1), "table must be a PerturbationTable"),  # type: ignore[arg-type]
        (
            lambda: perturbation.PerturbationTable(()),
            "rows must be lookup tables, one for each count",
        ),
        (
            lambda: perturbation.PerturbationTable((PLAIN, sampling.LookupTable(8, (2, 6, 8)))),
            "rows must be of one support and one keysize",
        ),
        (lambda: perturbation.PerturbationTable((PLAIN,) * 2), "rows must be without weight where"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def sample_of(counts: Any, keys: Any) -> Any:
    return perturbation.sample(perturbation.build(OfVariance(2, 1), keysize=256), counts, keys)


def test_what_enclosures_cannot_decide_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    aim = OfVariance(4, Fraction(1234567, 10**6))
    certified_counts.solve.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(certified_counts, "_newton", lambda *_: None)
        with pytest.raises(ArithmeticError, match="no proof"):
            certified_counts.row(aim, 2)
        with pytest.raises(ArithmeticError, match="no proof of the tilt"):
            certified_counts.free_variance(2, support=4)
    with monkeypatch.context() as patch:  # boxes so wide that a variance in them may be zero
        patch.setattr(certified_counts, "_around", lambda *_: Enclosure(Fraction(-9), Fraction(9)))
        with pytest.raises(ArithmeticError, match="no proof"):
            certified_counts.row(aim, 2)
    with monkeypatch.context() as patch:
        patch.setattr(certified_counts, "exponential", lambda _: ball(Enclosure(Fraction(1), Fraction(9))))
        with pytest.raises(ArithmeticError, match="no 30 digits of delta at count 2"):
            certified_counts.delta(aim, 2, 1)
        with pytest.raises(ArithmeticError, match="undecided whether the pair of count 3 is protected"):
            certified_counts.protected_from(aim, 1)
    # V = 12/17 has e^−γ = 1/2 on [−2, 2], so all of its cumulative probabilities are rational.
    with pytest.raises(ArithmeticError, match="a cut point of count 2 is too near an integer"):
        perturbation.build(OfVariance(2, Fraction(12, 17)), keysize=34)
    assert perturbation.build(OfVariance(2, Fraction(12, 17)), keysize=33).rows[-1].cuts == (
        1,
        9,
        25,
        33,
        33,
    )
