"""Tilings in small worlds, enumerated whole with fractions: their law, their changes, and who undoes them."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import pytest

from tablebuilder_dp import sampling
from tablebuilder_dp.beyond import tiling
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.sampling import LookupTable

Law = dict[Any, Fraction]


def table(*weights: int) -> LookupTable:
    return LookupTable(sum(weights), tuple(itertools.accumulate(weights)))


WORLDS = {
    "D = 1": table(1, 2, 1),
    "D = 1, flat": table(1, 1, 1),
    "D = 2": table(1, 1, 3, 1, 1),
    "D = 2, steep": table(1, 2, 4, 2, 1),
    "D = 2, an end that never happens": table(0, 1, 2, 1, 0),
    "not symmetric": table(1, 2, 3, 1, 0),
}
MOST = 3
each_world = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)


def every(run: Callable[[tiling.Draw], Any]) -> Law:
    """The law of what a function makes of its draws: every outcome of every draw, with its probability."""
    law: Law = defaultdict(Fraction)
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        given = waiting.pop()
        chance = Fraction(1)
        asked: list[int] = []

        def draw(size: int, given: tuple[int, ...] = given, asked: list[int] = asked) -> int:
            asked.append(size)
            return given[len(asked) - 1] if len(asked) <= len(given) else 0

        outcome = run(draw)
        waiting += [
            (*given, *(0,) * (place - len(given)), other)
            for place in range(len(given), len(asked))
            for other in range(1, asked[place])
        ]
        for size in asked:
            chance /= size
        law[outcome] += chance
    return law


def tilings(world: LookupTable, most: int = MOST) -> Law:
    return every(lambda draw: tuple(tiling.answers(world, most, draw)))


def noise(world: LookupTable) -> Law:
    return {
        z: Fraction(weight, world.keysize) for z, weight in enumerate(world.weights, -world.support) if weight
    }


def added(chances: Iterable[tuple[Any, Fraction]]) -> Law:
    found: Law = defaultdict(Fraction)
    for outcome, chance in chances:
        found[outcome] += chance
    return found


def test_every_outcome_is_counted_once() -> None:
    law = every(lambda draw: (draw(2), draw(3)))
    assert law == {pair: Fraction(1, 6) for pair in itertools.product(range(2), range(3))}
    assert every(lambda draw: draw(2) and draw(5)) == {
        0: Fraction(3, 5),
        **dict.fromkeys(range(1, 5), Fraction(1, 10)),
    }


@each_world
def test_each_count_has_the_law_of_the_noise(world: LookupTable) -> None:
    law = tilings(world)
    assert sum(law.values()) == 1
    for n in range(MOST + 1):
        assert added((marks[n] - n, chance) for marks, chance in law.items()) == noise(world)


@each_world
def test_neighbours_differ_as_seldom_as_any_scheme_allows(world: LookupTable) -> None:
    law, seldom = tilings(world), Fraction(world.weights[world.support], world.keysize)
    for n in range(MOST):
        assert sum(chance for marks, chance in law.items() if marks[n] != marks[n + 1]) == seldom
    here, there = [*world.weights, 0], [0, *world.weights]
    assert seldom == Fraction(sum(abs(a - b) for a, b in zip(here, there, strict=True)), 2 * world.keysize)


@each_world
def test_the_tiling_looks_the_same_from_every_count(world: LookupTable) -> None:
    law = tilings(world)
    first, second = (
        added((tuple(mark - n for mark in marks[n : n + 3]), chance) for marks, chance in law.items())
        for n in (0, 1)
    )
    assert first == second


@each_world
def test_a_mark_lies_in_its_tile_and_tiles_follow_each_other(world: LookupTable) -> None:
    for marks in tilings(world):
        assert list(marks) == sorted(marks)
        for n, mark in enumerate(marks):
            if 0 <= mark <= MOST:
                assert marks[mark] == mark
            assert abs(mark - n) <= world.support


def joined(world: LookupTable, others: int) -> Fraction:
    """How often n people and n + 1 have unequal answers: all orders of their hashes, all tilings."""
    law = tilings(world, others + 1)
    pairs = [((a, a), p) for a, p in law.items()]
    kept, changed = (
        sum((chance for (a, b), chance in each if a[others] != b[others + 1]), Fraction(0))
        for each in (pairs, [((a, b), p * q) for (a, p), (b, q) in itertools.product(law.items(), repeat=2)])
    )
    orders = list(itertools.permutations(range(others + 1)))
    return sum((kept if order[-1] else changed for order in orders), Fraction(0)) / len(orders)


@pytest.mark.parametrize("name", ["D = 1", "D = 1, flat", "not symmetric"])
@pytest.mark.parametrize("others", range(3))
def test_one_more_person_changes_answers_as_often_as_stated(name: str, others: int) -> None:
    world = WORLDS[name]
    assert tiling.unequal(world, others) == joined(world, others)


def test_the_numbers_of_example_1() -> None:
    made = sampling.lookup_table(Noise(25, "0.010164"), keysize=2**32, rule=sampling.nearest)
    found = [float(tiling.unequal(made, n)) for n in (0, 10, 100, 1000)]
    assert found == pytest.approx([0.960, 0.139, 0.0658, 0.0578], abs=5e-4)


def asked(
    world: LookupTable, known: int, order: tuple[int, ...], seeds: list[Any], present: bool
) -> tuple[bool, int]:
    """The attack of the theorem, step by step: what it says and how many answers it took.

    The people are numbered in the order in which they are added, the target last; ``order`` has the ranks of
    their hashes and ``seeds`` the tiling of each of them.
    """
    target, questions = len(order) - 1, set()

    def answer(people: tuple[int, ...]) -> int:
        questions.add(people)
        there = [one for one in people if one != target or present]
        return int(seeds[min(there, key=order.__getitem__)][len(there)])

    low, high = known, known + 2 * world.support + 1
    first = {m: tuple(range(m)) for m in range(low, high + 1)}
    if answer(first[low]) != answer(first[high]):
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if answer(first[low]) != answer(first[middle]) else (middle, high)
    return answer(first[low]) != answer((*first[low], target)), len(questions)


def test_bisection_finds_the_target_as_often_as_stated() -> None:
    """Every order of the hashes, with the tilings of some keys."""
    world = WORLDS["D = 1"]
    known, longest = 2, 2 * world.support + 1
    stated = tiling.undoing(world, known)
    orders = list(itertools.permutations(range(known + longest + 1)))
    for key in range(3):
        seeds = [
            tiling.answers(world, known + longest + 1, tiling.keyed(bytes([key, person])))
            for person in range(known + longest + 1)
        ]
        found = [asked(world, known, order, seeds, present=True) for order in orders]
        sure = [said for order, (said, _) in zip(orders, found, strict=True) if 0 in order[:known]]
        assert all(sure)
        assert Fraction(len(sure), len(orders)) == 2 * stated.right - 1
        assert max(count for _, count in found) <= stated.answers
        assert not any(asked(world, known, order, seeds, present=False)[0] for order in orders)


def test_draws_follow_from_the_key_and_are_spread_evenly() -> None:
    draw = tiling.keyed(b"a key")
    found = [draw(3) for _ in range(3000)]
    assert all(900 < found.count(value) < 1100 for value in range(3))
    again = tiling.keyed(b"a key")
    assert found[:50] == [again(3) for _ in range(50)]
    assert found[:50] != [tiling.keyed(b"another")(3) for _ in range(50)]


def test_real_keys_give_every_count_its_noise() -> None:
    world = WORLDS["D = 2, steep"]
    seen = [tiling.answers(world, 6, tiling.keyed(bytes([0, *divmod(i, 256)]))) for i in range(4000)]
    for n in (0, 6):
        for z, chance in noise(world).items():
            share = sum(marks[n] == n + z for marks in seen) / len(seen)
            assert abs(share - chance) < 5 * (chance * (1 - chance) / len(seen)) ** 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tiling.unequal(table(2, 1, 1), 1), "table must be one whose weights do not fall up to 0"),
        (lambda: tiling.undoing(table(1, 1, 2), 1), "table must be one whose weights do not fall up to 0"),
        (lambda: tiling.unequal(WORLDS["D = 1"], -1), "others must be"),
        (lambda: tiling.undoing(WORLDS["D = 1"], 0), "known must be"),
        (lambda: tiling.answers(WORLDS["D = 1"], -1, tiling.keyed(b"")), "most must be"),
    ],
)
def test_bad_input_is_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_anything_but_a_table_is_refused() -> None:
    with pytest.raises(TypeError, match="table must be a LookupTable"):
        tiling.unequal([1, 2, 1], 3)  # type: ignore[arg-type]
