"""The carry, cells one person apart and averages: small worlds counted whole, and real keys against them."""

import itertools
from fractions import Fraction
from functools import reduce
from operator import xor
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from compendium.studies import averaging, carry, differencing, kinds
from compendium.studies.differencing import Answers, Unequal
from tablebuilder_dp import design, privacy, sampling
from tablebuilder_dp.beyond import symmetric, tiling
from tablebuilder_dp.microdata import cell_keys
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.sampling import LookupTable

SMALL = LookupTable(4, (1, 3, 4))
MADE = design.guide(1, "1e-2")
TABLE = sampling.lookup_table(MADE, keysize=2**32, rule=symmetric.rule(MADE.epsilon))
LONGEST = 2 * TABLE.support + 1
each_kind = pytest.mark.parametrize("kind", cell_keys.KINDS)
each_scheme = pytest.mark.parametrize("scheme", differencing.SCHEMES)


def likely(hits: int, trials: int, chance: float) -> bool:
    return bool(binomtest(hits, trials, chance).pvalue > 1e-4)


# --- The carry ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("bits", "sums"), [(2, 1), (2, 2), (3, 1), (3, 2), (4, 1)])
def test_the_carry_is_that_of_all_keys_that_there_are(bits: int, sums: int) -> None:
    """All record keys of two people, their sums and their total's, by plain loops over bits."""
    size, found = 2**bits, [0, 0]
    for people in itertools.product(range(size), repeat=2 * sums):
        women, men = people[:sums], people[sums:]
        total = [(w + m) % size for w, m in zip(women, men, strict=True)]
        w, m, t = (reduce(xor, part) for part in (women, men, total))
        top, next_to_it = bits - 1, bits - 2
        found[((w >> top) + (w >> next_to_it) + (m >> top) + (t >> top)) % 2] += 1
    exact = Fraction(found[0], sum(found))
    assert carry.even(bits=bits, sums=sums) == exact == Fraction(1, 2) + Fraction(1, 2 ** (sums + 1))


def test_independent_keys_have_no_carry() -> None:
    keys = np.arange(64, dtype=np.uint64)
    first, second, total = keys % 4, keys // 4 % 4, keys // 16
    assert carry.parities(first, second, total, bits=2).mean() == 0.5


@pytest.mark.parametrize("bits", [2, 5, 8])
def test_the_width_of_a_key_does_not_matter(bits: int) -> None:
    assert carry.even(bits=bits, sums=4) == Fraction(17, 32)


def test_real_sums_show_the_carry_and_other_kinds_do_not() -> None:
    lines = 40_000
    for kind in cell_keys.KINDS:
        found = carry.seen(kind, lines=lines, seed=5)
        assert len(found.even) == carry.BITS - 1
        expected = carry.even(bits=2, sums=4) if kind == "sums" else Fraction(1, 2)
        for bit in (-1, -2, -8):
            assert likely(int(found.even[bit]), lines, float(expected)), (kind, bit)
        assert (found.surprise > 8) == (kind == "sums")
        assert found.shares[-1] == found.even[-1] / lines


# --- Keys ---------------------------------------------------------------------------------------


@each_kind
def test_keys_are_uniform_and_follow_from_the_seed(kind: str) -> None:
    sums = kinds.record_keys(np.random.default_rng(3), 4000)
    keys = kinds.keys(kind, sums, seed=1)
    assert keys.max() < kinds.KEYSIZE
    assert np.bincount((keys >> np.uint64(30)).astype(np.int64)).min() > 850
    assert (keys == kinds.keys(kind, sums, seed=1)).all()
    assert (keys == kinds.keys(kind, sums, seed=2)).all() == (kind == "sums")
    pairs = np.repeat(sums[:500], 2, axis=0)
    pairs[1::2, 0] ^= np.uint64(1)
    assert len(set(kinds.keys(kind, pairs, seed=1).tolist())) > 990


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(ValueError, match="keys must be one of cells, records, sums, got 'rows'"):
        kinds.keys("rows", kinds.record_keys(np.random.default_rng(1), 2), seed=1)


# --- Cells one person apart ---------------------------------------------------------------------


def test_independent_keys_in_a_world_of_four() -> None:
    """All pairs of keys: n people and n + 1, or n people twice."""
    noise = [sampling.sample(SMALL, key) for key in range(4)]
    pairs = list(itertools.product(noise, repeat=2))
    apart = Fraction(sum(a != b + 1 for a, b in pairs), len(pairs))
    same = Fraction(sum(a != b for a, b in pairs), len(pairs))
    assert differencing.unequal(SMALL, "cells", others=3) == Unequal(apart, same)
    for scheme in ("records", "sums"):
        assert differencing.unequal(SMALL, scheme, others=3) == Unequal(apart, Fraction(0))
    tiled = Unequal(tiling.unequal(SMALL, 3), Fraction(0))
    assert differencing.unequal(SMALL, "tiling", others=3) == tiled


def test_no_scheme_with_equal_answers_gets_below_the_bound() -> None:
    bound = Fraction(TABLE.weights[TABLE.support], TABLE.keysize)
    for others in (1, 10, 1000):
        found = [differencing.unequal(TABLE, scheme, others=others) for scheme in differencing.SCHEMES]
        assert all(one.present > bound for one in found)
        assert found[-1].present < found[-2].present
        assert [one.absent > 0 for one in found] == [True, False, False, False]
    assert float(differencing.unequal(TABLE, "tiling", others=10**7).present - bound) < 1e-6


@pytest.mark.parametrize("epsilon", [0, 0.5, 1, 5])
def test_delta_of_two_cells_is_that_of_their_joint_laws(epsilon: float) -> None:
    """The pair of answers in both worlds, for independent noises of cells and for equal sets."""
    p = np.array(SMALL.weights) / SMALL.keysize
    n = [*p, 0.0], [0.0, *p]
    independent = np.outer(n[0], n[1]), np.outer(n[0], n[0])
    equal = np.outer(n[0], n[1]), np.diag(n[0])
    for scheme, (there, not_there) in (("cells", independent), ("records", equal), ("sums", equal)):
        exact = max(privacy.hockey_stick(there.ravel(), not_there.ravel(), epsilon))
        assert differencing.delta(SMALL, scheme, epsilon, others=3) == pytest.approx(exact, abs=1e-12)


@each_scheme
def test_real_answers_differ_as_often_as_counted(scheme: str) -> None:
    trials, others = 1500, 12
    found = differencing.answers(TABLE, scheme, known=others, more=0, trials=trials, seed=8)
    guess, exact = differencing.two_cells(found), differencing.unequal(TABLE, scheme, others=others)
    assert likely(guess.found, trials, float(exact.present))
    assert likely(guess.false, trials, float(exact.absent))
    assert guess.right == pytest.approx((1 + (guess.found - guess.false) / trials) / 2)
    for cell, count in zip(found, (others, others + 1, others), strict=True):
        for z in (-1, 0, 2):
            assert likely(int((cell[:, 0] - count == z).sum()), trials, MADE.pmf[z + MADE.support])


@each_scheme
def test_equal_sets_have_equal_answers_but_for_keys_of_cells(scheme: str) -> None:
    found = differencing.answers(TABLE, scheme, known=3, more=4, trials=50, seed=2)
    assert found.alone.shape == found.present.shape == (50, 5)
    assert (found.alone == found.absent).all() == (scheme != "cells")
    again = differencing.answers(TABLE, scheme, known=3, more=4, trials=50, seed=2)
    assert all((one == other).all() for one, other in zip(found, again, strict=True))


def test_chosen_cells_undo_the_tiling() -> None:
    for known in (5, 400):
        found = differencing.answers(TABLE, "tiling", known=known, more=LONGEST, trials=300, seed=4)
        stated, chosen = tiling.undoing(TABLE, known), differencing.chosen_cells(found)
        assert chosen.false == 0
        assert chosen.answers == stated.answers
        assert binomtest(chosen.found, 300, float(2 * stated.right - 1), alternative="less").pvalue > 1e-4
        assert chosen.right > differencing.two_cells(found).right


def test_chosen_cells_are_no_better_than_two_under_the_kinds_of_keys() -> None:
    for kind in cell_keys.KINDS:
        found = differencing.answers(TABLE, kind, known=20, more=LONGEST, trials=500, seed=6)
        two, chosen = differencing.two_cells(found), differencing.chosen_cells(found)
        assert abs(two.right - chosen.right) < 0.06
        assert (chosen.right > 0.9) == (kind != "cells")


def row(*values: int) -> Any:
    return np.array([values], dtype=np.int64)


def test_bisection_ends_before_a_change() -> None:
    """Six known people or more have a higher answer; the target is asked for with the five before."""
    alone = row(3, 3, 3, 3, 7, 7, 7, 7)
    present = row(0, 0, 0, 7, 0, 0, 0, 0)
    found = differencing.chosen_cells(Answers(alone, present, alone))
    assert found == (1, 1, 0, 6)
    assert differencing.chosen_cells(Answers(alone, row(0, 0, 0, 3, 0, 0, 0, 0), alone)).found == 0
    flat = row(3, 3, 3, 3)
    assert differencing.chosen_cells(Answers(flat, flat, flat)) == (1, 0, 0, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: differencing.unequal(SMALL, "rows", others=1), "scheme must be one of cells, records"),
        (lambda: differencing.unequal(SMALL, "cells", others=0), "others must be"),
        (
            lambda: differencing.answers(TABLE, "cells", known=0, more=1, trials=1, seed=1),
            "known must be",
        ),
        (lambda: carry.even(bits=1, sums=1), "bits must be"),
        (lambda: averaging.right(MADE, partitions=0), "partitions must be"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# --- Averages -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("partitions", "parts"), [(1, 1), (1, 2), (2, 1), (3, 1), (2, 2), (4, 1)])
def test_averages_are_right_as_often_as_counted(partitions: int, parts: int) -> None:
    noise = Noise(2, "0.3")
    exact = sum(
        np.prod([noise.pmf[z + 2] for z in values])
        for values in itertools.product(range(-2, 3), repeat=partitions * parts)
        if abs(Fraction(sum(values), partitions)) < Fraction(1, 2)
    )
    assert averaging.right(noise, partitions=partitions, parts=parts) == pytest.approx(exact, abs=1e-12)


@each_kind
def test_real_keys_are_averaged_out_under_every_kind(kind: str) -> None:
    numbers, trials = [1, 2, 9, 60], 400
    hits = averaging.tried(TABLE, kind, people=30, partitions=numbers, trials=trials, seed=7)
    for m, count in zip(numbers, hits, strict=True):
        assert likely(count, trials, averaging.right(MADE, partitions=m))
    assert hits == averaging.tried(TABLE, kind, people=30, partitions=numbers, trials=trials, seed=7)
