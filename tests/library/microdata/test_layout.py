"""Partitions, and how many counts one person changes, against all neighbouring records of small lists."""

import itertools
import math
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablebuilder_dp.microdata.layout import MARGINS_MAX, NEIGHBOURS, Layout, neighbour

Record = tuple[int, ...]
Cell = frozenset[tuple[str, int]]


class Drawn(NamedTuple):
    """A layout, and how many categories each variable has; a nested one has them in each coarser category."""

    layout: Layout
    sizes: dict[str, int]

    @property
    def records(self) -> list[Record]:
        """All records within the lists."""
        return list(itertools.product(*(range(self.sizes[name]) for name in self.layout.by)))

    @property
    def categories(self) -> dict[str, list[int]]:
        return {name: list(range(size)) for name, size in self.sizes.items()}


@st.composite
def layouts(draw: st.DrawFn) -> Drawn:
    """Up to four variables in any order, some of them in hierarchies, with one to three categories each."""
    names = draw(st.permutations("abcd"))[: draw(st.integers(1, 4))]
    shuffled = draw(st.permutations(names))
    nested = []
    while len(shuffled) > 1 and draw(st.booleans()):
        size = draw(st.integers(2, len(shuffled)))
        nested.append(tuple(shuffled[:size]))
        shuffled = shuffled[size:]
    sizes = {name: draw(st.integers(1, 3)) for name in names}
    return Drawn(Layout(list(names), draw(st.booleans()), nested), sizes)


def cells_of(layout: Layout, record: Record) -> set[Cell]:
    """The cells of a table that a record is counted in: every choice of what to sum over, by its description.

    A nested variable is never shown without the coarser ones: its total over them is the cell of its path.
    """
    values = dict(zip(layout.by, record, strict=True))
    if not layout.margins:
        return {frozenset(values.items())}
    found = set()
    for kept in itertools.product([False, True], repeat=len(record)):
        shown = {name for name, keep in zip(layout.by, kept, strict=True) if keep}
        for names in layout.nested:
            deepest = max((place for place, name in enumerate(names) if name in shown), default=-1)
            shown |= set(names[: deepest + 1])
        found.add(frozenset((name, values[name]) for name in shown))
    return found


@given(layouts())
def test_a_record_that_is_added_or_removed_changes_one_count_in_each_partition(drawn: Drawn) -> None:
    layout = drawn.layout
    assert len(set(layout.partitions)) == len(layout.partitions)
    for record in drawn.records:
        found = cells_of(layout, record)
        assert len(found) == layout.cells_changed() == layout.cells_changed("add-or-remove")
        described = {frozenset((layout.by[at], record[at]) for at in places) for places in layout.partitions}
        assert found == described
    assert layout.cells_changed(categories=drawn.categories) == layout.cells_changed()


@given(layouts())
def test_a_record_that_is_replaced_changes_at_most_what_is_said(drawn: Drawn) -> None:
    cells = [cells_of(drawn.layout, record) for record in drawn.records]
    most = max(len(one ^ other) for one, other in itertools.product(cells, repeat=2))
    assert drawn.layout.cells_changed("replace", categories=drawn.categories) == most
    known = {name: found for name, found in drawn.categories.items() if len(found) > 1}
    assert drawn.layout.cells_changed("replace", categories=known) >= most
    assert drawn.layout.cells_changed("replace") >= most


@given(layouts())
def test_axes_and_partitions_have_every_variable(drawn: Drawn) -> None:
    layout = drawn.layout
    places = [place for axis in layout.axes for place in axis]
    assert sorted(places) == list(range(len(layout.by)))
    named = {tuple(layout.by[place] for place in axis) for axis in layout.axes if len(axis) > 1}
    assert named == set(layout.nested)
    assert layout.partitions[0] == tuple(range(len(layout.by)))
    if layout.margins:
        assert layout.partitions[-1] == ()
        assert len(layout.partitions) == math.prod(len(axis) + 1 for axis in layout.axes)
        assert all(list(partition) == sorted(partition) for partition in layout.partitions)


@pytest.mark.parametrize("variables", range(1, 13))
def test_all_margins_of_variables_that_are_not_nested(variables: int) -> None:
    layout = Layout([f"v{place}" for place in range(variables)], margins=True)
    assert layout.cells_changed() == 2**variables
    assert layout.cells_changed("replace") == 2 ** (variables + 1) - 2


def test_a_single_category_is_no_news_where_a_record_is_replaced() -> None:
    layout = Layout(["country", "sex"], margins=True)
    known = {"country": ["A"], "sex": ["F", "M"]}
    assert layout.cells_changed("replace", categories=known) == 4  # by both, and by sex
    assert layout.cells_changed("replace", categories={"country": ["A"], "sex": ["F"]}) == 0
    assert layout.cells_changed("replace", categories={"country": ["A"]}) == 4
    assert layout.cells_changed("add-or-remove", categories=known) == 4  # each total has a noise of its own
    nested = Layout(["country", "region"], margins=True, nested=[["country", "region"]])
    assert nested.cells_changed("replace", categories={"country": ["A"], "region": [1, 2]}) == 2
    assert nested.cells_changed() == 3


def test_layouts_that_say_the_same_are_equal() -> None:
    one = Layout(["a", "b", "c"], True, [["b", "c"]])
    assert one == Layout(("a", "b", "c"), True, (("b", "c"),))
    assert len({one, Layout(("a", "b", "c"), True, (("b", "c"),)), Layout(["a", "b", "c"], True)}) == 2


NESTED = "nested must be two or more columns of the table, from coarse to fine, none in two hierarchies, got "


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"by": "ab"}, "by must be a list of names of columns, got 'ab' (str)"),
        ({"by": [1]}, "by must be a list of names of columns, got [1] (list)"),
        ({"by": []}, "by must be one or more names of columns, each once, got []"),
        ({"by": ["a", "a"]}, "by must be one or more names of columns, each once, got ['a', 'a']"),
        ({"nested": "ab"}, "nested must be a list of lists of columns, got 'ab' (str)"),
        ({"nested": 5}, "nested must be a list of lists of columns, got 5 (int)"),
        ({"nested": ["ab"]}, "nested must be a list of names of columns, got 'ab' (str)"),
        ({"nested": [[]]}, "nested must be one or more names of columns, each once, got []"),
        ({"nested": [["a", "a"]]}, "nested must be one or more names of columns, each once, got ['a', 'a']"),
        ({"nested": [["a"]]}, f"{NESTED}['a']"),
        ({"nested": [["a", "z"]]}, f"{NESTED}['a', 'z']"),
        ({"nested": [["a", "b"], ["b", "c"]]}, f"{NESTED}['a', 'b']"),
        (
            {"by": [f"v{n}" for n in range(MARGINS_MAX + 1)]},
            "by must be at most 12 columns with margins, got ['v0', 'v1', 'v2', 'v3', 'v4', 'v5', ...]",
        ),
    ],
)
def test_what_is_no_layout_is_refused_in_one_sentence(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as refused:
        Layout(**{"by": ["a", "b", "c"], "margins": True, **arguments})
    assert str(refused.value) == message


@pytest.mark.parametrize("value", ["both", "", None, 1, ["replace"]])
def test_neighbours_have_names(value: Any) -> None:
    with pytest.raises(ValueError, match="neighbours must be one of add-or-remove, replace, got "):
        neighbour(value)
    with pytest.raises(ValueError, match="neighbours must be one of add-or-remove, replace, got "):
        Layout(["a"]).cells_changed(value)
    assert [neighbour(name) for name in NEIGHBOURS] == list(NEIGHBOURS)
