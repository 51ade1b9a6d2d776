"""What all editions amount to: counts that one person changes, sums, bounds and budgets."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablebuilder_dp import certified
from tablebuilder_dp.beyond import many_cells
from tablebuilder_dp.beyond.promise import Part, together
from tablebuilder_dp.microdata import account
from tablebuilder_dp.microdata.account import Account, Budget, Entry
from tablebuilder_dp.noise import AnyNoise, Geometric, Noise

WIDE, OTHER = Geometric(60, "0.25"), Noise(60, "0.004")
SEX, AGE, BOTH, TOTAL = (("sex",), 2), (("age",), 3), (("age", "sex"), 6), ((), 1)


def entry(edition: str, *partitions: Any, noise: AnyNoise = WIDE, **change: Any) -> Entry:
    known = {"epsilon": Fraction(1), "noise": noise, "weights": repr(noise), "input": edition, **change}
    return Entry(edition, tuple(partitions), **known)


# --- Counts -----------------------------------------------------------------------------------


def test_what_was_published_before_adds_nothing() -> None:
    found = Account((entry("1", BOTH, SEX), entry("1", SEX, AGE), entry("1", SEX), entry("2", SEX)))
    assert [step.cells for step in found.steps] == [2, 1, 0, 1]
    assert found.cells == 4


def test_another_noise_is_another_answer() -> None:
    found = Account((entry("1", SEX), entry("1", SEX, noise=OTHER)))
    assert [step.cells for step in found.steps] == [1, 1]


def test_a_replacement_changes_two_counts_but_none_of_a_single_cell() -> None:
    found = Account((entry("1", BOTH, TOTAL), entry("2", SEX, (("one",), 1))), "replace")
    assert [step.cells for step in found.steps] == [2, 2]
    twice = Account((entry("1", (("x",), 1)), entry("1", (("x",), 1), budget=None, why="")), "replace")
    assert twice.cells == 2  # two lists of one category each may be of two categories


partitions = st.sets(st.frozensets(st.sampled_from("abc")), min_size=1, max_size=4)
published = st.lists(st.tuples(st.sampled_from("12"), st.sampled_from([WIDE, OTHER]), partitions), max_size=5)


@given(published, st.sampled_from(["add-or-remove", "replace"]))
def test_counts_are_those_of_different_cells(made: Any, neighbours: str) -> None:
    """Against one record in a set of all that is published, cell by cell."""
    entries, cells = [], []
    for edition, noise, parts in made:
        listed = [(tuple(sorted(part)), 2 ** len(part)) for part in parts]
        entries.append(entry(edition, *listed, noise=noise))
        cells += [(edition, repr(noise), part) for part in parts]
    if neighbours == "add-or-remove":
        expected = len(set(cells))
    else:
        expected = 2 * len({cell for cell in cells if cell[2]})
    assert Account(tuple(entries), neighbours).cells == expected


# --- Sums and bounds --------------------------------------------------------------------------


def exact_delta(parts: list[Part], epsilon: float, *, digits: int = 60) -> Any:
    """δ of some counts that rise by one, from all outcomes, in mpmath."""
    import mpmath

    with mpmath.workdps(digits):
        laws = []
        for part in parts:
            exponents = [
                part.noise.exponent(abs(z)) for z in range(-part.noise.support, part.noise.support + 1)
            ]
            weights = [mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) for x in exponents]
            total = mpmath.fsum(weights)
            laws += [[weight / total for weight in weights]] * part.cells
        growth, delta = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(0)
        for outcome in itertools.product(*(range(len(law) + 1) for law in laws)):
            before = mpmath.fprod(law[y] if y < len(law) else 0 for law, y in zip(laws, outcome, strict=True))
            after = mpmath.fprod(law[y - 1] if y else 0 for law, y in zip(laws, outcome, strict=True))
            delta += max(before - growth * after, 0)
        return Fraction(str(delta))


@pytest.mark.parametrize("epsilon", [0.25, 1, 2.5])
@pytest.mark.parametrize(
    "parts",
    [
        [(Geometric(2, "0.5"), 1), (Noise(3, "0.1"), 1)],
        [(Geometric(3, "0.3"), 2), (Noise(2, "0.2"), 1)],
        [(Geometric(2, "0.5"), 1), (Geometric(2, "0.7"), 2)],
        [(Noise(2, "0.1"), 1), (Noise(1, "0.3"), 1), (Geometric(1, "0.9"), 1)],
    ],
    ids=str,
)
def test_different_noises_are_bounded_from_all_outcomes(parts: Any, epsilon: float) -> None:
    given = [Part(noise, cells, Fraction(0)) for noise, cells in parts]
    exact, bound = exact_delta(given, epsilon), together(given, epsilon)
    assert exact - Fraction(1, 10**50) <= bound <= exact * Fraction("1.001")


@given(st.integers(1, 40), st.integers(1, 40), st.fractions(Fraction(1, 4), 4))
def test_one_noise_in_two_parts_is_one_noise(first: int, second: int, epsilon: Fraction) -> None:
    small = Fraction(1, 10**12)
    both = together([Part(OTHER, first, small), Part(OTHER, second, small)], epsilon)
    assert both == together([Part(OTHER, first + second, small)], epsilon)
    delta = certified.delta(OTHER, epsilon, cells=first + second)
    added = (first + second) * small * (1 + Fraction(math.exp(epsilon)))
    assert delta.lower < both
    assert abs(both - delta.upper - added) <= Fraction(1, 10**5) * both


def test_noises_that_hardly_differ_cost_hardly_more() -> None:
    near = Noise(60, "0.00400000001")
    apart = together([Part(OTHER, 20, Fraction(0)), Part(near, 20, Fraction(0))], 2)
    alone = together([Part(OTHER, 40, Fraction(0))], 2)
    assert apart == pytest.approx(float(alone), rel=1e-4)


@settings(max_examples=10)
@given(published.filter(bool), st.fractions(Fraction(1, 4), 4))
def test_all_together_is_no_more_than_added_up(made: Any, epsilon: Fraction) -> None:
    entries = tuple(
        entry(edition, *((tuple(sorted(part)), 2) for part in parts), noise=noise, epsilon=epsilon)
        for edition, noise, parts in made
    )
    found = Account(entries)
    (added, sum_of_delta), (together_epsilon, delta) = found.added_up, found.composed
    assert together_epsilon <= added * Fraction("1.001")
    assert delta == sum_of_delta
    assert found.delta(together_epsilon) <= delta


def test_years_cost_less_than_their_sum() -> None:
    made = many_cells.best(1, "1e-6", cells=64)
    years = tuple(
        entry(str(year), *(((str(k),), 2) for k in range(64)), noise=made.noise) for year in range(5)
    )
    epsilon, delta = Account(years).composed
    assert epsilon < 3
    assert certified.delta(made.noise, epsilon, cells=320).upper <= delta


def test_what_cannot_be_enclosed_is_added_up() -> None:
    years = tuple(entry(str(year), SEX, epsilon=Fraction(1)) for year in range(501))
    assert Account(years).composed == Account(years).added_up
    assert "epsilon = 501" in Account(years).text


@pytest.mark.parametrize("epsilon", [1, 20, 45, 400])
def test_a_larger_epsilon_never_costs_more(epsilon: int) -> None:
    """Although what integers may add grows with it."""
    parts = [Part(OTHER, 4, Fraction(1, 10**12)), Part(WIDE, 4, Fraction(1, 10**12))]
    for chosen in (parts, parts[:1]):
        assert together(chosen, epsilon) <= together(chosen, 1) * Fraction("1.02")
        assert together(chosen, epsilon) < Fraction(1, 10)


def test_the_account_is_data_and_text() -> None:
    found = Account((entry("2026", SEX, TOTAL), entry("2027", SEX, noise=OTHER)))
    data = found.data
    assert [row["edition"] for row in data["editions"]] == ["2026", "2027"]
    assert data["cells_per_person"] == 3
    assert Fraction(repr(data["epsilon"])) >= found.composed[0]  # a float is the decimal that it prints as
    assert Fraction(repr(data["delta"])) >= found.composed[1]
    assert data["added_up"]["epsilon"] == 2
    assert (data["budget"], data["room"]) == (None, None)
    assert "One person changes at most 3 counts in all editions (add-or-remove)." in found.text
    assert max(map(len, found.text.splitlines())) <= 84
    assert found._repr_html_().startswith("<pre>  edition")
    assert Account(()).text == "Nothing has been published yet."


def test_what_promises_one_cell_promises_nothing_for_all() -> None:
    found = Account((entry("1", SEX), Entry("2", (SEX,), why="With keys of sums, one.")))
    assert (found.data["epsilon"], found.data["delta"]) == ("inf", 1.0)
    assert "With keys of sums, one." in found.text


# --- Budgets ----------------------------------------------------------------------------------

TENTH = Fraction("0.1")


def budgeted(edition: str, budget: Budget, **change: Any) -> Entry:
    return entry(edition, SEX, TOTAL, epsilon=TENTH, budget=budget, **change)


def step_delta() -> Fraction:
    return Account((entry("1", SEX, TOTAL, epsilon=TENTH),)).steps[0].delta


@pytest.mark.parametrize("least", [Fraction(0), Fraction(1, 10**30)])
def test_the_edge_of_epsilon_is_exact(least: Fraction) -> None:
    """Three tenths are three times a tenth, which they are not in float64."""
    budget = Budget(3 * TENTH - least, Fraction(1, 2))
    entries = [budgeted("1", budget), budgeted("2", budget)]
    if least:
        with pytest.raises(ValueError, match=r"budget must not be exceeded .* epsilon would add up to 0.3 "):
            account.check(entries, budgeted("3", budget))
    else:
        account.check(entries, budgeted("3", budget))
        with pytest.raises(ValueError, match="epsilon would add up to 0.4"):
            account.check([*entries, budgeted("3", budget)], budgeted("4", budget))


@pytest.mark.parametrize("least", [Fraction(0), Fraction(1, 10**40)])
def test_the_edge_of_delta_is_exact(least: Fraction) -> None:
    budget = Budget(Fraction(9), 2 * step_delta() - least)
    entries = [budgeted("1", budget)]
    if least:
        with pytest.raises(ValueError, match="and delta to"):
            account.check(entries, budgeted("2", budget))
    else:
        account.check(entries, budgeted("2", budget))


def test_fixed_designs_are_bounded_together() -> None:
    four = [Part(WIDE, 8, Fraction(0))]
    edge = together(four, 1)
    for delta, fits in ((edge, True), (edge - Fraction(1, 10**30), False)):
        budget = Budget(Fraction(1), delta, designs="fixed")
        entries = [budgeted(str(year), budget) for year in range(3)]
        if fits:
            account.check(entries, budgeted("3", budget))
        else:
            with pytest.raises(ValueError, match="delta would be .* at epsilon 1: take a smaller"):
                account.check(entries, budgeted("3", budget))


@pytest.mark.parametrize("designs", account.DESIGNS)
def test_room_is_what_can_still_be_published(designs: str) -> None:
    delta = 20 * step_delta() if designs == "adaptive" else together([Part(WIDE, 15, Fraction(0))], "0.72")
    budget = Budget(Fraction("0.72"), delta, designs=designs)
    entries: list[Entry] = []
    for year in itertools.count():
        room = Account((*entries,)).room()
        if entries and not room:
            break
        account.check(entries, budgeted(str(year), budget))
        entries.append(budgeted(str(year), budget))
        if room is not None:
            assert Account((*entries,)).room() == room - 1
    assert len(entries) == 7
    with pytest.raises(ValueError, match="budget must not be exceeded"):
        account.check(entries, budgeted("one more", budget))


def test_what_is_published_again_costs_nothing() -> None:
    budget = Budget(TENTH, Fraction(1, 2))
    account.check([budgeted("1", budget)], budgeted("1", budget, input=""))
    with pytest.raises(ValueError, match="budget must not be exceeded"):
        account.check([budgeted("1", budget)], budgeted("2", budget))


def test_a_budget_stays_what_it_was_also_for_those_who_name_none() -> None:
    budget = Budget(2 * TENTH, Fraction(1, 2))
    first = budgeted("1", budget)
    for other in (replace(budget, epsilon=Fraction(9)), replace(budget, designs="fixed")):
        with pytest.raises(
            ValueError, match=r"budget must be that of the journal \(epsilon 0.2, delta 0.5, "
        ):
            account.check([first], budgeted("2", other))
    plain = entry("2", SEX, TOTAL, epsilon=TENTH)
    account.check([first], plain)
    with pytest.raises(ValueError, match="budget must not be exceeded"):
        account.check([first, plain], entry("3", SEX, epsilon=TENTH))


def test_nothing_without_a_promise_fits_a_budget() -> None:
    budget = Budget(Fraction(9), Fraction(1, 2))
    with pytest.raises(ValueError, match="something is published that promises nothing for several cells"):
        account.check([budgeted("1", budget)], Entry("2", (SEX,), why="Sums."))


def test_an_edition_has_one_input() -> None:
    with pytest.raises(ValueError, match="edition must be a new one for other records, got '1', in which"):
        account.check([entry("1", SEX)], entry("1", AGE, input="another"))
    account.check([entry("1", SEX)], entry("1", AGE, input="1"))
    account.check([entry("1", SEX)], entry("2", AGE, input="another"))


def test_what_is_refused_says_what_is_left() -> None:
    budget = Budget(2 * TENTH, Fraction(1, 2))
    entries = [budgeted("1", budget), budgeted("2", budget)]
    with pytest.raises(ValueError, match="epsilon would add up to 0.3 and .*: nothing of epsilon is left$"):
        account.check(entries, budgeted("3", budget))
    wide = Budget(Fraction(5, 2) * TENTH, Fraction(1, 2))
    with pytest.raises(ValueError, match="add up to 0.3 and .*: take a smaller epsilon or delta$"):
        account.check([budgeted("1", wide), budgeted("2", wide)], budgeted("3", wide))
