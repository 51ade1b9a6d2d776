"""What a whole 2×2 table with margins gives away, counted in worlds of a few keys (Theorems 54 to 62)."""

from collections import Counter
from fractions import Fraction
from functools import lru_cache, partial, reduce
from itertools import permutations, product
from math import prod
from operator import xor

import numpy as np
import pytest
from support import small_worlds as worlds
from support.small_worlds import CELLS, INNER, Keys, World, clamped, counts, moved, signed

NORTH_WEST, NORTH_EAST, SOUTH_WEST, SOUTH_EAST = INNER
GROWTHS = [Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4), Fraction(100)]
SYMMETRIC = [(1, 2, 1), (1, 1, 1)]
FIRST = 0
"""The person whose presence is to be hidden."""

WORLDS: list[World] = [
    (NORTH_WEST,),  # without the person all counts are 0
    (NORTH_EAST, NORTH_EAST),
    (SOUTH_WEST, NORTH_WEST, NORTH_EAST, SOUTH_WEST, SOUTH_EAST),
]

by_cells = lru_cache(worlds.by_cells)


def at(*cells: worlds.Cell) -> list[int]:
    return [CELLS.index(cell) for cell in cells]


def changes(before: World, after: World) -> tuple[int, int]:
    """How many counts rise and fall, each by one."""
    difference = counts(after) - counts(before)
    assert set(difference) <= {-1, 0, 1}
    return int((difference == 1).sum()), int((difference == -1).sum())


def laws(before, after, keys, publish, cells=()):
    return [worlds.law(counts(world), keys(world), publish, cells) for world in (before, after)]


# --- The references themselves ----------------------------------------------------------------


def test_a_record_is_in_one_cell_of_each_of_four_partitions() -> None:
    for world, place in product(WORLDS, INNER):
        there = moved(world, FIRST, place)
        assert changes(moved(there, FIRST, None), there) == (4, 0)
        assert changes(there, moved(there, FIRST, None)) == (0, 4)


@pytest.mark.parametrize(
    ("place", "changed"), [(NORTH_WEST, 0), (NORTH_EAST, 4), (SOUTH_WEST, 4), (SOUTH_EAST, 6)]
)
def test_a_replacement_changes_two_counts_where_cells_differ(place, changed) -> None:
    world = moved(WORLDS[2], FIRST, NORTH_WEST)
    assert sum(changes(world, moved(world, FIRST, place))) == changed


@pytest.mark.parametrize(
    ("nested", "partitions", "replaced"),
    [
        ([[2], [2, 2]], 6, 10),  # sex, and region with districts
        ([[2], [3], [2]], 8, 14),
        ([[2], [1], [2]], 8, 12),  # one variable has a single category
        ([[2, 2, 2]], 4, 6),
    ],
)
def test_nested_variables_have_fewer_partitions(nested, partitions, replaced) -> None:
    records = worlds.all_records(nested)
    assert {len(worlds.cells_of(record)) for record in records} == {partitions}
    most = 0
    for first, second in product(records, repeat=2):
        changed = len(worlds.cells_of(first) ^ worlds.cells_of(second))
        same = [
            sum(one[:level] == other[:level] for level in range(len(one) + 1))
            for one, other in zip(first, second, strict=True)
        ]
        assert changed == 2 * (partitions - prod(same))
        most = max(most, changed)
    assert most == replaced


def test_divergence_by_hand() -> None:
    first, second = worlds.Law({(0,): 1, (1,): 3}, 4), worlds.Law({(1,): 1, (2,): 1}, 2)
    assert worlds.hockey_stick(first, second, Fraction(1)) == Fraction(1, 4) + Fraction(1, 4)
    assert worlds.hockey_stick(first, second, Fraction(2)) == Fraction(1, 4)
    assert worlds.hockey_stick(second, first, Fraction(2, 3)) == Fraction(1, 2)
    assert worlds.least_delta(first, second, Fraction(2)) == Fraction(1, 2)


@pytest.mark.parametrize("weights", [*SYMMETRIC, (2, 1, 1)])
@pytest.mark.parametrize(("rise", "fall"), [(1, 0), (0, 1), (3, 0), (2, 1)])
def test_composition_is_that_of_all_noises_counted(weights, rise, fall) -> None:
    keys = worlds.independent(rise + fall, sum(weights))
    low = worlds.law([0] * rise + [1] * fall, keys, signed(*weights))
    high = worlds.law([1] * rise + [0] * fall, keys, signed(*weights))
    for growth in GROWTHS:
        expected = worlds.hockey_stick(low, high, growth)
        assert worlds.composed(weights, growth, rise=rise, fall=fall) == expected


@pytest.mark.parametrize("components", [1, 2])
def test_sums_are_those_of_all_record_keys(components) -> None:
    world: World = (NORTH_WEST, NORTH_EAST)
    found: Counter[tuple[int, ...]] = Counter()
    for keys in product(product(range(4), repeat=components), repeat=2):
        choices = []
        for cell in CELLS:
            inside = [keys[number] for number in worlds.people(world, cell)]
            sums = [sum(part) % 4 for part in zip(*inside, strict=True)]
            choices.append([reduce(xor, sums)] if inside else range(4))
        found.update(product(*choices))
    made = worlds.by_sums(world, 4, components=components)
    assert dict(zip(map(tuple, made.rows.tolist()), made.ways.tolist(), strict=True)) == found


# --- cells: the promise of the whole table ----------------------------------------------------


@pytest.mark.parametrize("weights", SYMMETRIC)
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("place", [None, *INNER])
def test_the_whole_table_has_the_delta_of_its_changed_cells(world, place, weights) -> None:
    keys = partial(by_cells, keysize=sum(weights))
    after = moved(world, FIRST, place)
    rise, fall = changes(world, after)
    first, second = laws(world, after, keys, signed(*weights))
    for growth in GROWTHS:
        expected = worlds.composed(weights, growth, rise=rise + fall)
        assert worlds.hockey_stick(first, second, growth) == expected
        assert worlds.hockey_stick(second, first, growth) == expected
        assert expected <= worlds.composed(weights, growth, rise=4 if place is None else 6)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("place", [None, SOUTH_EAST])
def test_clamping_keeps_the_promise(world, place) -> None:
    weights = (1, 2, 1)
    after = moved(world, FIRST, place)
    first, second = laws(world, after, partial(by_cells, keysize=4), clamped(*weights))
    found = [worlds.least_delta(first, second, growth) for growth in GROWTHS]
    stated = [worlds.composed(weights, growth, rise=sum(changes(world, after))) for growth in GROWTHS]
    assert all(delta <= most for delta, most in zip(found, stated, strict=True))
    if min(*counts(world), *counts(after)) >= 1:  # nothing is clamped
        assert found == stated


def test_without_symmetry_the_number_of_cells_is_not_enough() -> None:
    weights, growth = (2, 1, 1), Fraction(3, 2)
    world = moved(WORLDS[2], FIRST, NORTH_WEST)
    for place, (rise, fall) in ((None, (0, 4)), (SOUTH_EAST, (3, 3))):
        after = moved(world, FIRST, place)
        first, second = laws(world, after, partial(by_cells, keysize=4), signed(*weights))
        expected = worlds.composed(weights, growth, rise=rise, fall=fall)
        assert worlds.hockey_stick(first, second, growth) == expected
        assert expected != worlds.composed(weights, growth, rise=rise + fall)


def test_a_key_that_two_cells_share_is_found() -> None:
    def shared(world: World) -> Keys:
        rows, ways = by_cells(world, 4)
        return Keys(np.concatenate([rows[:, :-1], rows[:, :1]], axis=1), ways)  # the total's and the first

    world, growth = WORLDS[2], Fraction(4)
    first, second = laws(world, moved(world, FIRST, None), shared, signed(1, 2, 1))
    assert worlds.least_delta(first, second, growth) > worlds.composed((1, 2, 1), growth, rise=4)


# --- Editions, inputs, designs ----------------------------------------------------------------


def test_two_editions_add_their_cells() -> None:
    """One variable of two categories with its total, published twice."""
    keys = worlds.independent(6, 4)
    before, after = [[*edition, *edition] for edition in ((2, 1, 3), (3, 1, 4))]
    first, second = (worlds.law(true, keys, signed(1, 2, 1)) for true in (before, after))
    for growth in GROWTHS:
        expected = worlds.composed((1, 2, 1), growth, rise=4)
        assert worlds.least_delta(first, second, growth) == expected


def test_one_edition_shows_whether_two_inputs_are_equal() -> None:
    """A file is published again after one person's record was corrected, which changed no count.

    With the person the inputs differ and so do the keys; without, they are equal.
    """
    every = worlds.independent(6, 4)
    twice = worlds.independent(3, 4)
    equal = Keys(np.tile(twice.rows, 2), twice.ways)
    with_person = worlds.law([3, 1, 4] * 2, every, signed(1, 2, 1))
    without = worlds.law([2, 1, 3] * 2, equal, signed(1, 2, 1))
    agree = Fraction(1 + 4 + 1, 16) ** 3
    for growth in GROWTHS:
        delta = worlds.least_delta(with_person, without, growth)
        assert delta >= 1 - agree
        assert delta > worlds.composed((1, 2, 1), growth, rise=4)


def test_two_designs_with_one_key_give_more_away_than_with_two() -> None:
    designs = [np.array(noise) for noise in ((-1, -1, 0, 0, 0, 0, 1, 1), (-2, -1, 0, 0, 0, 0, 1, 2))]

    def publish(true, keys):
        return true + np.stack([noise[keys[:, place]] for place, noise in enumerate(designs)], axis=1)

    two = worlds.independent(2, 8)
    one = Keys(np.repeat(np.arange(8)[:, None], 2, axis=1), np.ones(8, dtype=np.int64))
    apart, together = (
        worlds.least_delta(*(worlds.law([n, n], keys, publish) for n in (5, 6)), growth=Fraction(8))
        for keys in (two, one)
    )
    assert apart == Fraction(11, 32)
    assert together == Fraction(3, 8)


# --- sums: what was once promised and is false ------------------------------------------------


@pytest.mark.parametrize(("components", "delta"), [(4, Fraction(67, 128)), (1, Fraction(9, 16))])
def test_sums_of_women_men_and_their_total(components, delta) -> None:
    world: World = (NORTH_WEST, NORTH_WEST, NORTH_EAST)
    keys = partial(worlds.by_sums, keysize=4, components=components)
    cells = at((0, 0), (0, 1), (0, None))
    first, second = laws(world, moved(world, FIRST, None), keys, signed(1, 2, 1), cells)
    assert worlds.least_delta(first, second, Fraction(4)) == delta
    assert delta > worlds.composed((1, 2, 1), Fraction(4), rise=2) == Fraction(7, 16)


@pytest.mark.parametrize(("components", "delta"), [(4, Fraction(397, 512)), (1, Fraction(51, 64))])
def test_sums_break_the_promise_of_a_whole_table(components, delta) -> None:
    """Two people in one cell, so that the same cells are equal sets with one of them and without."""
    world: World = (NORTH_WEST, NORTH_WEST, NORTH_EAST, SOUTH_WEST)
    keys = partial(worlds.by_sums, keysize=4, components=components)
    for publish in (signed, clamped):
        first, second = laws(world, moved(world, FIRST, None), keys, publish(1, 2, 1))
        assert worlds.least_delta(first, second, Fraction(4)) == delta
    assert delta > worlds.composed((1, 2, 1), Fraction(4), rise=4) == Fraction(187, 256)


@pytest.mark.parametrize("keys", [worlds.by_sums, worlds.by_records])
@pytest.mark.parametrize("world", [(NORTH_WEST,), (NORTH_WEST, NORTH_EAST), (NORTH_WEST,) * 2])
@pytest.mark.parametrize("cell", [(0, 0), (0, None), (None, None)])
def test_one_cell_keeps_its_delta(keys, world, cell) -> None:
    for publish in (signed, clamped):
        first, second = laws(
            world, moved(world, FIRST, None), partial(keys, keysize=4), publish(1, 2, 1), at(cell)
        )
        for growth in GROWTHS:
            delta, stated = (
                worlds.least_delta(first, second, growth),
                worlds.composed((1, 2, 1), growth, rise=1),
            )
            assert delta == stated if publish is signed else delta <= stated


# --- records: equal sets, equal answers -------------------------------------------------------


@pytest.mark.parametrize("weights", SYMMETRIC)
@pytest.mark.parametrize("publish", [signed, clamped])
@pytest.mark.parametrize("others", [1, 2])
def test_cells_one_person_apart(weights, publish, others) -> None:
    """A cell and its margin, which has one person more: δ is the same at every ε, and at least p(0)."""
    world: World = (NORTH_EAST, *[NORTH_WEST] * others)
    keys = partial(worlds.by_records, keysize=sum(weights))
    first, second = laws(world, moved(world, FIRST, None), keys, publish(*weights), at((0, 0), (0, None)))
    size = sum(weights)
    agree = Fraction(sum(a * b for a, b in zip(weights[1:], weights, strict=False)), size**2)
    for growth in GROWTHS:
        assert worlds.hockey_stick(first, second, growth) == 1 - agree
        assert worlds.least_delta(first, second, growth) == 1 - agree
    assert 1 - agree >= Fraction(weights[1], size)


@pytest.mark.parametrize("weights", SYMMETRIC)
def test_no_keys_at_all_get_below_the_bound(weights) -> None:
    """All ways to give the key of one set another set's noise: the answers differ with p(0) at least."""
    noise = worlds.lookup(weights, np.arange(sum(weights)))
    least = min(int((noise != 1 + noise[list(order)]).sum()) for order in permutations(range(len(noise))))
    assert least == weights[1]


def test_two_cells_with_one_person_alone() -> None:
    """Empty, they have a noise each; with the person they are one set."""
    world: World = (NORTH_WEST,)
    keys = partial(worlds.by_records, keysize=4)
    first, second = laws(world, moved(world, FIRST, None), keys, signed(1, 2, 1), at((0, 0), (0, None)))
    for growth in GROWTHS:
        assert worlds.least_delta(first, second, growth) >= 1 - Fraction(1 + 4 + 1, 16)


def test_where_the_same_sets_are_equal_records_protect_as_cells_do() -> None:
    world: World = (NORTH_WEST, NORTH_WEST, NORTH_EAST, SOUTH_WEST)
    first, second = laws(
        world, moved(world, FIRST, None), partial(worlds.by_records, keysize=4), signed(1, 2, 1)
    )
    for growth in GROWTHS:
        expected = worlds.composed((1, 2, 1), growth, rise=4)
        assert worlds.least_delta(first, second, growth) == expected
    alone: World = (NORTH_WEST, NORTH_EAST, SOUTH_WEST, SOUTH_EAST)
    first, second = laws(
        alone, moved(alone, FIRST, None), partial(worlds.by_records, keysize=4), signed(1, 2, 1)
    )
    assert worlds.least_delta(first, second, Fraction(100)) > Fraction(96, 100)
