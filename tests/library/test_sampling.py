"""Section V: cut points, lookup tables, sampling, and what is left after it."""

import math
from bisect import bisect_right
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import decimals, epsilons

from tablebuilder_dp import certified, design, privacy, sampling
from tablebuilder_dp.noise import AnyNoise, Geometric, Noise
from tablebuilder_dp.sampling import LookupTable

small_supports = st.integers(1, 20)
keysizes = st.one_of(st.integers(2, 2**64), st.sampled_from([2**k for k in range(1, 65)]))


def example_1(keysize: int) -> LookupTable:
    made = design.guide("0.5", "1e-4")
    return sampling.lookup_table(made, keysize=keysize)


@st.composite
def tables(draw: st.DrawFn, most: int = 2**64) -> LookupTable:
    size = draw(st.integers(2, most))
    support = draw(small_supports)
    cuts = sorted(draw(st.lists(st.integers(0, size), min_size=2 * support, max_size=2 * support)))
    return LookupTable(keysize=size, cuts=(*cuts, size))


@given(small_supports, decimals(-6, 1), keysizes)
def test_cuts_are_the_ceilings_of_the_scaled_cumulative_pmf(
    support: int, gamma: Fraction, keysize: int
) -> None:
    found = sampling.lookup_table(Noise(support, gamma), keysize=keysize)
    with mpmath.workdps(60 + int(gamma * support**2)):
        weights = [
            mpmath.exp(-mpmath.mpf(gamma.numerator) / gamma.denominator * z * z)
            for z in range(-support, support + 1)
        ]
        total = mpmath.fsum(weights)
        expected = [
            int(mpmath.ceil(keysize * mpmath.fsum(weights[: i + 1]) / total)) for i in range(2 * support)
        ]
    assert found.cuts == (*expected, keysize)
    assert (found.keysize, found.support) == (keysize, support)
    assert sum(found.weights) == keysize
    assert min(found.weights) >= 0


def test_last_cut_is_keysize_where_float64_would_go_past_it() -> None:
    exceeded = 0
    for tenths in range(1, 26):
        made = design.proposition_3(Fraction(tenths, 10), support=10)
        exceeded += math.ceil(np.cumsum(made.pmf)[-1] * 2**32) > 2**32
        table = sampling.lookup_table(made, keysize=2**32)
        assert table.cuts[-1] == 2**32
    assert exceeded > 0


def test_example_2_of_the_paper() -> None:
    table = example_1(2**32)
    assert table.cuts[:3] == (425760, 1126343, 2255949)
    assert table.cuts[-1] == 2**32
    assert sampling.sample(table, 2552) == -25
    assert sampling.sample(table, 1200124) == -23
    assert table.full_support
    assert table.lost == ()
    small = example_1(2**8)
    assert small.cuts[:3] == (1, 1, 1)
    assert not small.full_support
    assert {-24, -23, 25} <= set(small.lost)
    assert -25 not in small.lost


def test_example_3_of_the_paper() -> None:
    after = sampling.after_sampling(example_1(2**32))
    assert after.bias == Fraction(-25, 2**32)
    assert float(after.variance) == pytest.approx(49.002167175291106, rel=1e-15)
    assert after.epsilon_one_sided == pytest.approx(0.498037038323823, abs=5e-16)
    assert after.epsilon_two_sided > after.epsilon_one_sided
    assert after.delta == Fraction(425760, 2**32)


@pytest.mark.parametrize("keysize", [2**8, 2**16])
def test_enumerating_every_key_gives_the_tables_weights(keysize: int) -> None:
    table = example_1(keysize)
    for dtype in (np.uint16, np.int32, np.uint64) if keysize > 256 else (np.uint8, np.int16, np.int64):
        samples = sampling.sample(table, np.arange(keysize).astype(dtype))
        counts = np.bincount(samples + table.support, minlength=2 * table.support + 1)
        assert tuple(counts.tolist()) == table.weights


@given(tables(most=2**12))
def test_enumerating_every_key_of_any_table_gives_its_weights(table: LookupTable) -> None:
    samples = sampling.sample(table, np.arange(table.keysize))
    counts = np.bincount(samples + table.support, minlength=2 * table.support + 1)
    assert tuple(counts.tolist()) == table.weights


@given(tables(), st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30))
def test_a_key_gets_the_value_whose_interval_holds_it(table: LookupTable, numbers: list[int]) -> None:
    beside = [cut + step for cut in table.cuts for step in (-1, 0)]
    keys = [key for key in (*(n % table.keysize for n in numbers), *beside) if 0 <= key < table.keysize]
    samples = sampling.sample(table, np.array(keys, dtype=np.uint64))
    cuts = (0, *table.cuts)
    for key, value in zip(keys, samples.tolist(), strict=True):
        place = value + table.support
        assert cuts[place] <= key < cuts[place + 1]
    assert [sampling.sample(table, key) for key in keys[:3]] == samples[:3].tolist()


def test_many_keys_in_every_shape_and_type() -> None:
    table = example_1(2**32)
    keys = np.random.default_rng(7).integers(0, 2**32, size=(300, 1000), dtype=np.uint32)
    expected = np.searchsorted(np.array(table.cuts[:-1]), keys, side="right") - 25
    for given_keys, wanted in (
        (keys, expected),
        (keys.astype(np.int64), expected),
        (keys.T, expected.T),
        (keys[::3, ::7], expected[::3, ::7]),
        (keys[:0], expected[:0]),
    ):
        samples = sampling.sample(table, given_keys)
        assert samples.dtype == np.int64
        np.testing.assert_array_equal(samples, wanted)
    out = np.empty(keys.shape, dtype=np.int8)
    assert sampling.sample(table, keys, out=out) is out
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("support", [126, 127, 128, 32766, 32767, 32768])
def test_supports_at_the_limits_of_small_integers(support: int) -> None:
    table = sampling.lookup_table(Noise(support, Fraction(5, support**2)), keysize=2**32)
    keys = np.random.default_rng(3).integers(0, 2**32, 200_000, dtype=np.uint32)
    expected = np.searchsorted(np.array(table.cuts[:-1]), keys, side="right") - support
    np.testing.assert_array_equal(sampling.sample(table, keys), expected)


def test_keys_of_64_bits_as_python_integers() -> None:
    table = sampling.lookup_table(Noise(10, 1), keysize=2**64)
    assert sampling.sample(table, [0, 2**63, 2**64 - 1]).tolist() == [-10, 0, 6]
    assert sampling.sample(table, 2**64 - 1) == sampling.sample(table, np.uint64(2**64 - 1)) == 6
    assert max(table.lost) == 10
    with pytest.raises(
        ValueError, match="keys must be integers from 0 to 18446744073709551615, got 18446744073709551616"
    ):
        sampling.sample(table, [0, 2**64])


def test_the_largest_value_of_a_type_is_checked_against_keysize() -> None:
    table = LookupTable(keysize=255, cuts=(100, 200, 255))
    with pytest.raises(ValueError, match="keys must be integers from 0 to 254, got 255"):
        sampling.sample(table, np.array([255], dtype=np.uint8))


def test_out_that_shares_memory_with_the_keys_or_is_read_only_is_refused() -> None:
    table = example_1(2**32)
    buffer = np.arange(10)
    frozen = np.empty(9, dtype=np.int64)
    frozen.flags.writeable = False
    for out in (buffer[1:], frozen):
        with pytest.raises(ValueError, match="^out must be a writeable"):
            sampling.sample(table, buffer[:-1], out=out)


def test_table_of_numpy_integers_is_a_table_of_integers() -> None:
    table = LookupTable(keysize=np.int32(2**30), cuts=(np.int64(2**28), 2**29, 2**30))  # type: ignore[arg-type]
    assert type(table.keysize) is int
    assert sampling.after_sampling(table).delta == Fraction(1, 2)


@pytest.mark.parametrize("table", [None, (1, 2, 3), "table"])
def test_what_is_not_a_table_is_refused(table: Any) -> None:
    with pytest.raises(TypeError, match="^table must be a LookupTable, got "):
        sampling.sample(table, 1)


def test_epsilon_after_sampling_keeps_its_digits_near_zero() -> None:
    table = LookupTable(keysize=3 * 2**40 + 1, cuts=(2**40, 2**41 + 1, 3 * 2**40 + 1))
    truth = certified.logarithm(Fraction(2**40 + 1, 2**40))
    assert sampling.after_sampling(table).epsilon_one_sided == pytest.approx(float(truth), rel=1e-15)


def test_sampling_a_wide_table_searches_where_buckets_hold_many_cuts() -> None:
    table = sampling.lookup_table(Noise(3000, "1e-6"), keysize=2**20)
    keys = np.arange(2**20, dtype=np.uint32)
    expected = np.searchsorted(np.array(table.cuts[:-1]), keys, side="right") - 3000
    np.testing.assert_array_equal(sampling.sample(table, keys), expected)


@pytest.mark.parametrize(
    "keys",
    [
        *[-1, 2**32, [0, 2**32], np.array([-5]), np.array([2**40], dtype=np.uint64), 2**70],
        *[1.0, "5", True, None, 1j, [], [1.5], [True], ["a"], [None], [[1], [2, 3]], np.array([1.0])],
    ],
)
def test_keys_that_are_no_keys_are_refused(keys: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"^keys must be integers from 0 to 4294967295, got "):
        sampling.sample(example_1(2**32), keys)


@pytest.mark.parametrize(
    "out",
    [
        [0, 0],
        np.empty(3, dtype=np.int64),
        np.empty(2, dtype=np.uint8),
        np.empty(2),
        np.empty(4, dtype=np.int64)[::2],
    ],
)
def test_out_that_cannot_take_the_result_is_refused(out: Any) -> None:
    with pytest.raises(
        (ValueError, TypeError), match=r"^out must be a writeable C-contiguous array of shape \(2,\)"
    ):
        sampling.sample(example_1(2**32), [1, 2], out=out)
    wide = sampling.lookup_table(Noise(128, "0.01"), keysize=2**32)
    with pytest.raises(ValueError, match="holds 128"):
        sampling.sample(wide, [1, 2], out=np.empty(2, dtype=np.int8))


@pytest.mark.parametrize("cuts", [5, (1, 2, 5), (3, 2, 4), (1, 4), (4,), (1, 1, 2, 4), (-1, 2, 4)])
def test_cuts_that_make_no_table_are_refused(cuts: tuple[int, ...]) -> None:
    with pytest.raises((ValueError, TypeError), match="^cuts must be"):
        LookupTable(keysize=4, cuts=cuts)


@given(tables())
def test_measures_after_sampling_follow_from_the_weights(table: LookupTable) -> None:
    after = sampling.after_sampling(table)
    p = {z: Fraction(w, table.keysize) for z, w in enumerate(table.weights, -table.support)}
    assert sum(p.values()) == 1
    assert after.bias == sum(z * mass for z, mass in p.items())
    assert after.variance == sum((z - after.bias) ** 2 * mass for z, mass in p.items())
    assert after.delta == max(p[-table.support], p[table.support])
    assert 0 <= after.epsilon_one_sided <= after.epsilon_two_sided
    assert (after.epsilon_two_sided < math.inf) == table.full_support


@given(small_supports, epsilons, st.integers(8, 48))
def test_two_sided_epsilon_is_what_keeps_every_ratio(support: int, epsilon: Fraction, bits: int) -> None:
    made = design.proposition_3(min(epsilon, Fraction(5)), support=support)
    table = sampling.lookup_table(made, keysize=2**bits)
    after = sampling.after_sampling(table)
    assert after.bias == Fraction(-support, 2**bits)  # the ceilings shift every cut up by under one key
    if table.full_support and after.epsilon_two_sided > 0:
        forward, backward = sampling.delta(table, after.epsilon_two_sided * (1 + 1e-12))
        assert max(forward, backward) == float(after.delta)
        below = sampling.delta(table, after.epsilon_two_sided * (1 - 1e-6))
        assert max(below) >= float(after.delta)
        assert below != (forward, backward)


@given(tables(most=2**40), epsilons)
def test_exact_delta_of_a_table_is_the_hockey_stick(table: LookupTable, epsilon: Fraction) -> None:
    masses = np.array(table.weights) / table.keysize
    expected = privacy.hockey_stick(*privacy.neighbours(masses), epsilon)
    assert sampling.delta(table, epsilon) == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_exact_delta_resolves_what_float64_cannot() -> None:
    # 2^63 keys each, one moved: at ε = 0 the two middle weights differ by 2 in 2^64.
    table = LookupTable(keysize=2**64, cuts=(1, 2**63 + 1, 2**64))
    assert table.weights == (1, 2**63, 2**63 - 1)
    assert sampling.delta(table, 0).forward == pytest.approx(0.5, rel=1e-15)
    ratio = Fraction(2**63, 2**63 - 1)
    assert sampling.after_sampling(table).epsilon_two_sided == pytest.approx(math.log(2**63))
    assert float(certified.logarithm(ratio)) == pytest.approx(2.0**-63, rel=1e-12)


def test_lost_values_and_the_papers_zero_over_zero() -> None:
    lost_inside = LookupTable(keysize=8, cuts=(1, 1, 4, 7, 8))
    assert lost_inside.lost == (-1,)
    after = sampling.after_sampling(lost_inside)
    assert (after.epsilon_one_sided, after.epsilon_two_sided) == (math.inf, math.inf)
    falling = LookupTable(keysize=8, cuts=(2, 5, 8, 8, 8))
    after = sampling.after_sampling(falling)
    assert falling.lost == (1, 2)
    assert after.epsilon_one_sided == pytest.approx(math.log(1.5))  # 0/0 = 0 adds nothing
    assert after.epsilon_two_sided == math.inf


@settings(max_examples=10)
@given(st.integers(1, 25))
def test_every_table_of_the_experiment_has_bias_minus_d_over_keysize(tenths: int) -> None:
    made = design.proposition_3(Fraction(tenths, 10), support=10)
    for bits in (8, 16, 32):
        table = sampling.lookup_table(made, keysize=2**bits)
        assert sampling.after_sampling(table).bias == Fraction(-10, 2**bits)


def both_ways(table: LookupTable, growth: Fraction) -> Fraction:
    """The larger of the two divergences at e^ε = growth, exactly."""
    once, shifted = [*table.weights, 0], [0, *table.weights]
    return max(
        sum((max(a - growth * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))
        for p, q in ((once, shifted), (shifted, once))
    ) / Fraction(table.keysize)


@given(tables(most=2**12), st.integers(1, 2**12 - 1))
def test_the_smallest_epsilon_keeps_delta_and_less_does_not(table: LookupTable, share: int) -> None:
    delta = Fraction(share, 2**12)
    growth = sampling.growth(table, delta)
    if growth == math.inf:
        assert both_ways(table, Fraction(10**9)) > delta
    else:
        exact = Fraction(growth)
        assert both_ways(table, exact) <= delta
        assert exact == 1 or both_ways(table, exact) == delta
        assert exact == 1 or both_ways(table, exact * (1 - Fraction(1, 10**9))) > delta
        level = Fraction(sampling.epsilon(table, delta))
        assert exact == 1 or 0 <= level - certified.logarithm(exact).lower < Fraction(1, 10**14)


@given(tables(most=2**12))
def test_the_smallest_epsilon_is_no_larger_than_the_two_sided_one(table: LookupTable) -> None:
    after = sampling.after_sampling(table)
    assert sampling.epsilon(table) <= math.nextafter(after.epsilon_two_sided, math.inf)


def test_epsilon_is_rounded_up() -> None:
    for keysize in (256, 1000, 2**20, 2**32):
        table = example_1(keysize)
        if sampling.growth(table) != math.inf:
            exact = certified.logarithm(Fraction(sampling.growth(table)), digits=40)
            assert 0 < Fraction(sampling.epsilon(table)) - exact.upper < Fraction(1, 10**15)


@pytest.mark.parametrize("function", [sampling.epsilon, sampling.growth])
def test_epsilon_of_what_is_no_table_or_delta_is_refused(function: Any) -> None:
    with pytest.raises(TypeError, match="table must be a LookupTable"):
        function([1, 2])
    with pytest.raises(ValueError, match="delta"):
        function(example_1(256), 2)


@pytest.mark.parametrize("bits", [6, 8, 16, 32])
@pytest.mark.parametrize("slack", ["0", "0.1", "1"])
def test_full_support_ends_where_the_limit_says(bits: int, slack: str) -> None:
    limit = sampling.full_support_limit(support=10, keysize=2**bits, slack=slack)
    assert (limit.upper - limit.lower) * 10**30 <= limit.lower
    for epsilon, expected in ((limit.lower, True), (limit.upper, False)):
        made = design.proposition_3(epsilon, support=10, slack=slack)
        table = sampling.lookup_table(made, keysize=2**bits)
        assert table.full_support is expected


def test_a_key_size_without_room_for_the_support_has_no_limit() -> None:
    with pytest.raises(ValueError, match=r"keysize must be above 2D \+ 1 = 21, got 21"):
        sampling.full_support_limit(support=10, keysize=21)
    with pytest.raises(ValueError, match="digits"):
        sampling.full_support_limit(support=10, keysize=256, digits=0)


# --- nearest integers, and 64-bit keys --------------------------------------------------------

any_noises = st.one_of(
    st.builds(Noise, small_supports, decimals(-6, 1)), st.builds(Geometric, small_supports, decimals(-6, 1))
)


@given(any_noises, keysizes)
def test_nearest_weights_are_symmetric_and_no_other_integer_is_nearer(noise: AnyNoise, keysize: int) -> None:
    with mpmath.workdps(60 + int(noise.exponent(noise.support))):
        scaled = [
            mpmath.exp(-mpmath.mpf(e.numerator) / e.denominator) for e in map(noise.exponent, range(21))
        ]
        total = 1 + 2 * mpmath.fsum(scaled[1 : noise.support + 1])
        half = [int(mpmath.nint(keysize * scaled[z] / total)) for z in range(1, noise.support + 1)]
    if 2 * sum(half) > keysize:
        with pytest.raises(ValueError, match="^keysize must be so large that the nearest"):
            sampling.nearest(noise, keysize)
        return
    table = sampling.lookup_table(noise, keysize=keysize, rule=sampling.nearest)
    assert table.weights == (*reversed(half), keysize - 2 * sum(half), *half)
    assert sampling.distance(noise, table).upper <= Fraction(noise.support, keysize)


def test_nearest_weights_of_a_wide_noise_are_zero_where_it_hardly_reaches() -> None:
    table = sampling.lookup_table(Noise(5000, "0.001"), keysize=2**64, rule=sampling.nearest)
    assert table.weights[:4000] == (0,) * 4000
    assert table.weights == table.weights[::-1]
    assert sampling.distance(Noise(5000, "0.001"), table).upper < Fraction(250, 2**64)


def test_nearest_integers_that_leave_less_than_nothing_for_zero_are_refused() -> None:
    """35 keys for 21 values: 1.67 keys each become 2, which is 40 without 0."""
    with pytest.raises(
        ValueError, match=r"^keysize must be so large that the nearest .* at support 10, got 35"
    ):
        sampling.nearest(Noise(10, "1e-6"), 35)


def test_keys_of_64_bits_find_their_noise_at_every_edge() -> None:
    noise = Geometric(30, "0.7")
    table = sampling.lookup_table(noise, keysize=2**64, rule=sampling.nearest)
    edges = sorted({0, 2**64 - 1} | {cut + step for cut in table.cuts for step in (-1, 0)} - {2**64})
    keys = np.array(edges, dtype=np.uint64)
    expected = [bisect_right(table.cuts, key) - 30 for key in edges]
    assert sampling.sample(table, keys).tolist() == expected
    assert sampling.sample(table, 2**64 - 1) == 30
    assert sampling.sample(table, keys[-1]) == 30
    assert set(expected) == set(range(-30, 31))
    drawn = np.random.default_rng(3).integers(0, 2**64, 10**5, dtype=np.uint64)
    assert abs(float(sampling.sample(table, drawn).var()) / noise.variance - 1) < 0.05
