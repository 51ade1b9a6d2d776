"""Which columns of some records lie within which others, as a suggestion for the office.

Whether one column lies within another is for the code lists to say: records can only suggest it. Nothing of
a record is shown, but names of columns and numbers of categories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from shlex import join
from typing import Any

import numpy as np

from tablebuilder_dp.microdata.cells import with_categories
from tablebuilder_dp.microdata.layout import Layout
from tablebuilder_dp.microdata.records import opened
from tablebuilder_dp.support import parameters

COLUMNS_MAX = 40
"""The most columns that are compared with each other."""


@dataclass(frozen=True)
class Nesting:
    """How many categories each column has, and which lie within others, each pair from fine to coarse.

    ``hierarchies`` has the longest chains of them, coarse to fine, each column in one at most.
    """

    categories: dict[str, int]
    within: tuple[tuple[str, str], ...]
    hierarchies: tuple[tuple[str, ...], ...]

    @property
    def data(self) -> dict[str, Any]:
        """What was found, as it is written in JSON."""
        return {
            "categories": self.categories,
            "within": [list(pair) for pair in self.within],
            "nested": [list(names) for names in self.hierarchies],
        }

    @property
    def text(self) -> str:
        """What was found, as people read it."""
        if not self.within:
            return "No column lies within another in these records."
        number = {name: f"{name} ({count})" for name, count in self.categories.items()}
        return "\n".join(
            [
                "Inside the office: in these records every category of the first column, missing included, "
                "occurs with one of the second (in brackets: how many there are).",
                *(f"  {number[fine]} lies within {number[coarse]}" for fine, coarse in self.within),
                "Records can only suggest this. If the code lists say so too:",
                *(f"  --nested {join(names)}" for names in self.hierarchies),
            ]
        )


def nested_columns(source: Any, by: Sequence[str], *, memory: str | None = None) -> Nesting:
    """Find out which columns of some records lie within which others.

    A column lies within another if each of its categories, missing included, occurs with one category of the
    other. Columns of one category, and those in which every record has its own, are left out, as both would
    say nothing. Of two that name the same groups the first is taken for the coarse one.

    Returns what was found. Raises ValueError for columns that have no categories or are too many, and
    whatever `records.opened` raises.
    """
    names = Layout(by).by
    if not 2 <= len(names) <= COLUMNS_MAX:
        raise parameters.wrong_value("by", f"2 to {COLUMNS_MAX} columns", list(names))
    with opened(source, memory=memory) as records:
        columns = [with_categories(records, name, "by").alias for name in names]
        sets = [(place,) for place in range(len(names))] + list(combinations(range(len(names)), 2))
        grouped = ", ".join(f"({', '.join(columns[place] for place in group)})" for group in sets)
        marks = ", ".join(f"GROUPING({alias}) AS g{place}" for place, alias in enumerate(columns))
        inner = f"SELECT {marks}, COUNT(*) AS people FROM {records.view} GROUP BY GROUPING SETS ({grouped})"  # noqa: S608 (aliases)
        asked = ", ".join(f"g{place}" for place in range(len(names)))
        found = records.query(
            f"SELECT {asked}, COUNT(*) AS n, MAX(people) AS most FROM ({inner}) AS sets GROUP BY {asked}"  # noqa: S608
        )
    kept = np.stack([found[f"g{place}"].to_numpy() == 0 for place in range(len(names))], axis=1)
    groups = [tuple(int(place) for place in np.flatnonzero(row)) for row in kept]
    size = dict(zip(groups, found["n"].to_pylist(), strict=True))
    most = dict(zip(groups, found["most"].to_pylist(), strict=True))
    useful = [place for place in range(len(names)) if size.get((place,), 0) > 1 and most[place,] > 1]
    within = {
        (fine, coarse)
        for fine in useful
        for coarse in useful
        if fine != coarse
        and size[min(fine, coarse), max(fine, coarse)] == size[fine,]
        and (size[coarse,] < size[fine,] or coarse < fine)
    }
    ordered = sorted(within, key=lambda pair: pair[::-1])
    return Nesting(
        {name: size.get((place,), 0) for place, name in enumerate(names)},
        tuple((names[fine], names[coarse]) for fine, coarse in ordered),
        tuple(tuple(names[place] for place in chain) for chain in _chains(within, useful)),
    )


def _chains(within: set[tuple[int, int]], places: Sequence[int]) -> list[tuple[int, ...]]:
    """The longest chains, coarse to fine, each place in one at most.

    >>> _chains({(1, 0), (2, 0), (2, 1), (4, 3)}, range(5))
    [(0, 1, 2), (3, 4)]
    """
    left, made = list(places), list[tuple[int, ...]]()
    while len(longest := _longest(within, left)) > 1:
        made.append(longest)
        left = [place for place in left if place not in longest]
    return made


def _longest(within: set[tuple[int, int]], places: Sequence[int]) -> tuple[int, ...]:
    @cache
    def down_to(fine: int) -> tuple[int, ...]:
        above = (down_to(coarse) for coarse in places if (fine, coarse) in within)
        return (*max(above, key=len, default=()), fine)

    return max(map(down_to, places), key=len, default=())
