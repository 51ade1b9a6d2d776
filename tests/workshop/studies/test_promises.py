"""Which promises tables keep, in worlds that a pencil can check."""

from fractions import Fraction
from itertools import pairwise
from math import e

import pytest

from compendium.studies import promises, sweep
from compendium.studies.promises import Kept
from tablebuilder_dp import design
from tablebuilder_dp.sampling import LookupTable, lookup_table

TINY = design.proposition_3(1, support=2)


def from_weights(*weights: int) -> LookupTable:
    return LookupTable(sum(weights), tuple(sum(weights[: k + 1]) for k in range(len(weights))))


def test_ceilings_of_a_tiny_table_break_every_promise_but_the_support() -> None:
    table = lookup_table(TINY, keysize=32)
    assert table.weights == (3, 8, 11, 8, 2)
    assert promises.kept([TINY], [table]) == Kept(Fraction(-2, 32), 1, 0, 0)


def test_symmetric_weights_keep_epsilon_and_with_one_more_key_delta() -> None:
    # δ = p(2) lies between 1/11 and 1/10.8; a neighbour has at most e times as many keys
    for weights, delta in (((3, 8, 10, 8, 3), 0), ((3, 8, 11, 8, 3), 1), ((1, 2, 5, 2, 1), 1)):
        found = promises.kept([TINY], [from_weights(*weights)])
        assert found == Kept(Fraction(0), 1, 1, delta)
        assert (weights[0] / sum(weights) <= TINY.pmf[0]) == bool(delta)
        assert all(b <= e * a for a, b in pairwise(weights))


def test_a_table_that_is_not_there_keeps_nothing_and_biases_do_not_cancel() -> None:
    tables = [None, from_weights(3, 8, 11, 8, 2), from_weights(2, 8, 11, 8, 3)]
    assert promises.kept([TINY] * 3, tables)[1:] == (2, 0, 0)
    assert abs(promises.kept([TINY] * 3, tables).bias) == Fraction(2, 32)
    assert promises.kept([TINY], [None]) == Kept(Fraction(0), 0, 0, 0)


def test_symmetric_tables_are_those_that_exist() -> None:
    study = sweep.run(support=2, epsilon_step="0.25", steps=4, slack="0.1", bits=(3, 5))
    tables = promises.symmetric_tables(study)
    # ⌈1/(e^ε − 1)⌉ is 4, 2, 1 and 1: five times that many keys are needed, or a multiple of five
    assert [bool(table) for table in tables[3]] == [False, False, True, True]
    assert all(tables[5])
    assert tables[5][-1] == from_weights(3, 8, 10, 8, 3)


def test_a_price_is_in_keys_and_relative() -> None:
    found = promises.price(TINY, from_weights(3, 8, 10, 8, 3))
    expected = [32 * mass for mass in TINY.pmf]
    moved = sum(abs(w - x) for w, x in zip((3, 8, 10, 8, 3), expected, strict=True)) / 2
    assert found.keys == pytest.approx(moved, rel=1e-12)
    assert found.variance == pytest.approx((2 * (8 + 4 * 3) / 32) / TINY.variance - 1, rel=1e-12)
