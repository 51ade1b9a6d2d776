"""What a whole 2×2 table with margins gives away, counted in worlds of a few keys (Theorems 54 to 62)."""

from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache, partial, reduce
from itertools import permutations, product
from math import prod
from operator import xor
from typing import Any

import numpy as np
import pytest
from support import small_worlds as worlds
from support.small_worlds import (
    CELLS,
    INNER,
    Cell,
    Integers,
    Keys,
    Law,
    Publish,
    World,
    clamped,
    counts,
    moved,
    signed,
)

from tablebuilder_dp import microdata, sampling
from tablebuilder_dp.counts import perturbation_table
from tablebuilder_dp.microdata import statement
from tablebuilder_dp.microdata.layout import NEIGHBOURS
from tablebuilder_dp.microdata.protection import largest
from tablebuilder_dp.noise import AnyNoise, Geometric, Noise
from tablebuilder_dp.sampling import LookupTable

pytestmark = pytest.mark.unmeasured

NORTH_WEST, NORTH_EAST, SOUTH_WEST, SOUTH_EAST = INNER
GROWTHS = [Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4), Fraction(100)]
SYMMETRIC = [(1, 2, 1), (1, 1, 1)]
MakeKeys = Callable[[World], Keys]
FIRST = 0
"""The person whose presence is to be hidden."""

WORLDS: list[World] = [
    (NORTH_WEST,),  # without the person all counts are 0
    (NORTH_EAST, NORTH_EAST),
    (SOUTH_WEST, NORTH_WEST, NORTH_EAST, SOUTH_WEST, SOUTH_EAST),
]

by_cells = lru_cache(worlds.by_cells)


def at(*cells: Cell) -> list[int]:
    return [CELLS.index(cell) for cell in cells]


def changes(before: World, after: World) -> tuple[int, int]:
    """How many counts rise and fall, each by one."""
    difference = counts(after) - counts(before)
    assert set(difference) <= {-1, 0, 1}
    return int((difference == 1).sum()), int((difference == -1).sum())


def laws(
    before: World, after: World, keys: MakeKeys, publish: Publish, cells: Sequence[int] = ()
) -> list[Law]:
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
def test_a_replacement_changes_two_counts_where_cells_differ(place: Cell, changed: int) -> None:
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
def test_nested_variables_have_fewer_partitions(
    nested: list[list[int]], partitions: int, replaced: int
) -> None:
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
def test_composition_is_that_of_all_noises_counted(weights: tuple[int, ...], rise: int, fall: int) -> None:
    keys = worlds.independent(rise + fall, sum(weights))
    low = worlds.law([0] * rise + [1] * fall, keys, signed(*weights))
    high = worlds.law([1] * rise + [0] * fall, keys, signed(*weights))
    for growth in GROWTHS:
        expected = worlds.hockey_stick(low, high, growth)
        assert worlds.composed(weights, growth, rise=rise, fall=fall) == expected


@pytest.mark.parametrize("components", [1, 2])
def test_sums_are_those_of_all_record_keys(components: int) -> None:
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
def test_the_whole_table_has_the_delta_of_its_changed_cells(
    world: World, place: Cell | None, weights: tuple[int, ...]
) -> None:
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
def test_clamping_keeps_the_promise(world: World, place: Cell | None) -> None:
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

    def publish(true: Integers, keys: Integers) -> Integers:
        drawn: Integers = np.stack([noise[keys[:, place]] for place, noise in enumerate(designs)], axis=1)
        return true + drawn

    two = worlds.independent(2, 8)
    one = Keys(np.repeat(np.arange(8)[:, None], 2, axis=1), np.ones(8, dtype=np.int64))
    apart, together = (
        worlds.least_delta(
            worlds.law([5, 5], keys, publish), worlds.law([6, 6], keys, publish), growth=Fraction(8)
        )
        for keys in (two, one)
    )
    assert apart == Fraction(11, 32)
    assert together == Fraction(3, 8)


# --- sums: what was once promised and is false ------------------------------------------------


@pytest.mark.parametrize(("components", "delta"), [(4, Fraction(67, 128)), (1, Fraction(9, 16))])
def test_sums_of_women_men_and_their_total(components: int, delta: Fraction) -> None:
    world: World = (NORTH_WEST, NORTH_WEST, NORTH_EAST)
    keys = partial(worlds.by_sums, keysize=4, components=components)
    cells = at((0, 0), (0, 1), (0, None))
    first, second = laws(world, moved(world, FIRST, None), keys, signed(1, 2, 1), cells)
    assert worlds.least_delta(first, second, Fraction(4)) == delta
    assert delta > worlds.composed((1, 2, 1), Fraction(4), rise=2) == Fraction(7, 16)


@pytest.mark.parametrize(("components", "delta"), [(4, Fraction(397, 512)), (1, Fraction(51, 64))])
def test_sums_break_the_promise_of_a_whole_table(components: int, delta: Fraction) -> None:
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
def test_one_cell_keeps_its_delta(keys: Callable[..., Keys], world: World, cell: Cell) -> None:
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
def test_cells_one_person_apart(
    weights: tuple[int, ...], publish: Callable[..., Publish], others: int
) -> None:
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
def test_no_keys_at_all_get_below_the_bound(weights: tuple[int, ...]) -> None:
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


# --- What the library publishes, and what it says about it --------------------------------------

LOG_2 = "0.6931471805599453094172321214581765680755001343602552"
BEFORE: World = (NORTH_WEST, NORTH_WEST, SOUTH_EAST)
NEIGHBOUR = {"add-or-remove": None, "replace": SOUTH_EAST}
SMALL_WORLDS: list[World] = [(NORTH_WEST,), BEFORE]
OWN: list[AnyNoise] = [Geometric(1, LOG_2), Noise(1, LOG_2)]
"""Noises whose four keys are their own: 1, 2, 1, but for a part in 10^50."""

OTHERS: list[tuple[AnyNoise, int]] = [
    (Geometric(1, "0.75"), 4),
    (Noise(1, "0.6"), 16),
    (Geometric(1, "1.5"), 8),
    (Geometric(2, "0.7"), 16),
]


def growth_below(epsilon: Fraction) -> Fraction:
    """A hair less than e^ε, so that a divergence is not smaller than at ε."""
    exact = Context(prec=30).divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    return Fraction(Context(prec=30).exp(exact)) * (1 - Fraction(1, 10**25))


def protected(noise: AnyNoise, keysize: int, epsilon: Fraction, **options: Any) -> microdata.Protection:
    table = sampling.lookup_table(noise, keysize=keysize, rule=sampling.nearest)
    return microdata.Protection(
        **{"table": table, "noise": noise, "epsilon": epsilon, "delta": Fraction(1, 2), **options}
    )


def real(protection: microdata.Protection) -> Publish:
    """The library in the place of `signed` and `clamped`."""

    def publish(true: Integers, keys: Integers) -> Integers:
        every = np.broadcast_to(true, keys.shape).reshape(-1)
        return protection.published(every, keys.astype(np.uint64).reshape(-1)).reshape(keys.shape)

    return publish


def each_noise(table: LookupTable) -> Keys:
    """For each cell one key of each noise, and how many keys there are: every assignment, in fewer rows."""
    noises = sampling.sample(table, np.arange(table.keysize, dtype=np.uint64))
    first, numbers = (
        np.asarray(found) for found in np.unique(noises, return_index=True, return_counts=True)[1:]
    )
    places = worlds.independent(len(CELLS), len(first)).rows
    return Keys(first[places], numbers[places].prod(axis=1))


def stated(
    protection: microdata.Protection, neighbours: str, *, only_positive: bool = False
) -> dict[str, Any]:
    layout = microdata.Layout(["north", "west"], margins=True)
    lists = {"north": [0, 1], "west": [0, 1]}
    found = statement.facts(
        protection,
        layout,
        keys="cells",
        edition="1",
        neighbours=neighbours,
        cells_changed=layout.cells_changed(neighbours, categories=lists),
        only_positive=only_positive,
        cells_given=False,
        categories_given=sorted(lists),
        key_columns=0,
        audit=False,
    )
    return dict(found["whole_table"])


def published_laws(
    protection: microdata.Protection, keys: Keys, world: World, neighbours: str
) -> tuple[Law, Law]:
    first, second = laws(world, moved(world, FIRST, NEIGHBOUR[neighbours]), lambda _: keys, real(protection))
    return first, second


def test_every_assignment_of_keys_is_that_of_every_noise() -> None:
    protection = protected(OWN[0], 4, Fraction(1), small_counts="clamped")
    assert isinstance(protection.table, LookupTable)
    rows = by_cells(BEFORE, 4)
    assert len(rows.rows) == 4**9
    one, other = (
        worlds.law(counts(BEFORE), keys, real(protection)) for keys in (rows, each_noise(protection.table))
    )
    assert one == other


@pytest.mark.parametrize(
    ("noise", "epsilon"), [(OWN[0], Fraction(1, 2)), (OWN[1], Fraction(1)), (OWN[0], Fraction(5, 2))]
)
@pytest.mark.parametrize("way", ["signed", "clamped"])
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_the_statement_has_the_delta_of_every_assignment_of_keys(
    noise: AnyNoise, way: str, neighbours: str, epsilon: Fraction
) -> None:
    """Where the integers are the noise, what is stated is exact, and clamping has no more."""
    cells = {"add-or-remove": 4, "replace": 6}[neighbours]
    protection = protected(noise, 4, epsilon, cells=cells, small_counts=way)
    said, growth = stated(protection, neighbours), growth_below(epsilon)
    for world in SMALL_WORLDS:
        first, second = published_laws(
            protection, each_noise(sampling.LookupTable(4, (1, 3, 4))), world, neighbours
        )
        delta, loss = worlds.least_delta(first, second, growth), worlds.loss_above(first, second, growth)
        assert delta <= Fraction(said["delta"])
        assert loss <= Fraction(said["loss_above_epsilon"])
        if way == "signed":
            assert delta == worlds.composed((1, 2, 1), growth, rise=cells)
            assert said["delta"] == pytest.approx(float(delta), rel=1e-5)
        if way == "signed" and neighbours == "add-or-remove":
            assert said["loss_above_epsilon"] == pytest.approx(float(loss), rel=1e-5)
    assert said["epsilon"] == float(epsilon)


@pytest.mark.parametrize("noise", OWN)
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_what_is_stated_holds_where_only_positive_counts_are_shown(noise: AnyNoise, neighbours: str) -> None:
    """To leave out 0 and what is below it pools them, as clamping does."""
    cells = {"add-or-remove": 4, "replace": 6}[neighbours]
    keys = each_noise(sampling.LookupTable(4, (1, 3, 4)))
    for epsilon in (Fraction(1, 2), Fraction(1), Fraction(5, 2)):
        hidden, growth = (
            protected(noise, 4, epsilon, cells=cells, small_counts="clamped"),
            growth_below(epsilon),
        )
        whole = protected(noise, 4, epsilon, cells=cells, small_counts="signed")
        said = stated(whole, neighbours, only_positive=True)
        for world in SMALL_WORLDS:
            first, second = published_laws(hidden, keys, world, neighbours)
            assert worlds.least_delta(first, second, growth) <= Fraction(said["delta"])
            assert worlds.loss_above(first, second, growth) <= Fraction(said["loss_above_epsilon"])


@pytest.mark.parametrize(("noise", "keysize"), OTHERS)
@pytest.mark.parametrize("way", ["signed", "clamped"])
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_integers_that_are_not_the_noise_keep_what_is_stated(
    noise: AnyNoise, keysize: int, way: str, neighbours: str
) -> None:
    if noise.support > 1 and neighbours == "replace":
        return  # too many answers to count
    for epsilon in (Fraction(1), Fraction(4)):
        cells = {"add-or-remove": 4, "replace": 6}[neighbours]
        protection = protected(noise, keysize, epsilon, cells=cells, small_counts=way)
        said, growth = stated(protection, neighbours), growth_below(epsilon)
        assert isinstance(protection.table, LookupTable)
        weights = protection.table.weights
        exact = worlds.composed(weights, growth, rise=cells)
        assert exact <= Fraction(said["delta"])
        if noise.support > 1:
            continue
        for world in SMALL_WORLDS[int(epsilon > 1) :]:
            first, second = published_laws(protection, each_noise(protection.table), world, neighbours)
            delta = worlds.least_delta(first, second, growth)
            assert delta <= exact
            if way == "signed":
                assert delta == exact
            assert worlds.loss_above(first, second, growth) <= Fraction(said["loss_above_epsilon"])


def test_the_term_of_the_integers_is_needed() -> None:
    """Four keys for a noise with fewer in its ends: δ of the noise alone would be too small."""
    noise, growth = Geometric(1, "0.75"), growth_below(Fraction(4))
    few, many = (
        sampling.lookup_table(noise, keysize=size, rule=sampling.nearest).weights for size in (4, 2**32)
    )
    exact, designed = (worlds.composed(weights, growth, rise=4) for weights in (few, many))
    protection = protected(noise, 4, Fraction(4), cells=4, small_counts="signed")
    assert designed < exact < Fraction(stated(protection, "add-or-remove")["delta"])


@pytest.mark.parametrize("way", ["signed", "clamped", "rows"])
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_a_design_of_one_cell_keeps_what_is_stated_of_the_whole_table(way: str, neighbours: str) -> None:
    """Also rows, whose noises are not symmetric: δ at k·ε is that of basic composition."""
    epsilon, noise = Fraction(1, 2), Noise(1, LOG_2)
    options: dict[str, Any] = {"small_counts": way, "slack": Fraction(1, 5), "rule": "ceiling"}
    if way != "signed":
        options["table"] = perturbation_table.build(noise, keysize=4, small_counts=way, rule=sampling.nearest)
    protection = protected(noise, 4, epsilon, **options)
    said = stated(protection, neighbours)
    cells = {"add-or-remove": 4, "replace": 6}[neighbours]
    level = cells * epsilon if way == "rows" else epsilon
    assert said["epsilon"] == float(level)
    growth = growth_below(level)
    rows = by_cells(BEFORE, 4)
    for world in SMALL_WORLDS:
        first, second = published_laws(protection, rows, world, neighbours)
        assert worlds.least_delta(first, second, growth) <= Fraction(said["delta"])
        assert worlds.loss_above(first, second, growth) <= Fraction(said["loss_above_epsilon"])
    assert said["delta"] < 1


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(5, 2)])
@pytest.mark.parametrize(("noise", "keysize"), [(OWN[0], 4), (OWN[1], 4), *OTHERS[:2]])
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_what_is_left_out_gives_no_more_away_than_is_stated(
    noise: AnyNoise, keysize: int, epsilon: Fraction, neighbours: str
) -> None:
    """All that is 0 or less looks alike, as if it were clamped."""
    cells = {"add-or-remove": 4, "replace": 6}[neighbours]
    protection = protected(noise, keysize, epsilon, cells=cells, small_counts="signed")
    publish, growth = real(protection), growth_below(epsilon)
    said, rows = stated(protection, neighbours, only_positive=True), each_noise(largest(protection.table))
    for world in SMALL_WORLDS:
        first, second = laws(
            world,
            moved(world, FIRST, NEIGHBOUR[neighbours]),
            lambda _: rows,
            lambda true, keys: np.maximum(publish(true, keys), 0),
        )
        assert worlds.least_delta(first, second, growth) <= Fraction(said["delta"])
        assert worlds.loss_above(first, second, growth) <= Fraction(said["loss_above_epsilon"])


def test_a_design_for_more_cells_states_their_delta_and_the_odds_of_this_table() -> None:
    epsilon = Fraction(5, 2)
    few, many = (
        stated(protected(OWN[0], 4, epsilon, cells=cells, small_counts="signed"), "add-or-remove")
        for cells in (4, 9)
    )
    assert many["delta"] == pytest.approx(float(worlds.composed((1, 2, 1), growth_below(epsilon), rise=9)))
    assert many["delta"] > few["delta"]
    assert many["loss_above_epsilon"] == few["loss_above_epsilon"]
