"""Which counts a table publishes: its variables, their totals, and how many of the counts one person changes.

A *partition* divides everybody into cells by some of the variables. A table without margins is one
partition; a table of d variables with all margins has 2^d. A nested variable (district within region) is
always described by its full path, so that a district's total over regions is no partition of its own: a
hierarchy of h variables has h + 1 levels in place of 2^h.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from tablebuilder_dp.support import parameters

MARGINS_MAX = 12
"""The most variables of a table with margins: each further one doubles the partitions."""

NEIGHBOURS = ("add-or-remove", "replace")
"""How two sets of records can differ by one person: one record more or less, or one with other values."""


@dataclass(frozen=True)
class Layout:
    """The variables of a table, whether it has all margins, and which variables lie within others.

    ``nested`` has the hierarchies, each a list of variables from coarse to fine.

    >>> Layout(["sex", "region", "district"], margins=True, nested=[["region", "district"]]).partitions
    ((0, 1, 2), (0, 1), (0,), (1, 2), (1,), ())
    """

    by: Sequence[str]
    margins: bool = False
    nested: Sequence[Sequence[str]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", _names(self.by, "by"))
        if self.margins and len(self.by) > MARGINS_MAX:
            raise parameters.wrong_value("by", f"at most {MARGINS_MAX} columns with margins", list(self.by))
        if isinstance(self.nested, str) or not isinstance(self.nested, Sequence):
            raise parameters.wrong_type("nested", "a list of lists of columns", self.nested)
        nested = tuple(_names(names, "nested") for names in self.nested)
        within = [name for names in nested for name in names]
        for names in nested:
            if len(names) < 2 or not set(names) <= set(self.by) or len(set(within)) < len(within):
                allowed = "two or more columns of the table, from coarse to fine, none in two hierarchies"
                raise parameters.wrong_value("nested", allowed, list(names))
        object.__setattr__(self, "nested", nested)

    @property
    def axes(self) -> tuple[tuple[int, ...], ...]:
        """The places of the variables that belong together: of each hierarchy, or of one variable alone."""
        place = {name: index for index, name in enumerate(self.by)}
        hierarchies = {names[0]: names for names in self.nested}
        finer = {name for names in self.nested for name in names[1:]}
        return tuple(
            tuple(place[part] for part in hierarchies.get(name, (name,)))
            for name in self.by
            if name not in finer
        )

    @property
    def partitions(self) -> tuple[tuple[int, ...], ...]:
        """The places of the variables of each partition, that of the most variables first."""
        if not self.margins:
            return (tuple(range(len(self.by))),)
        levels = ([axis[:depth] for depth in range(len(axis), -1, -1)] for axis in self.axes)
        return tuple(tuple(sorted(sum(chosen, ()))) for chosen in product(*levels))

    def cells_changed(
        self, neighbours: str = NEIGHBOURS[0], *, categories: Mapping[str, Sequence[Any]] | None = None
    ) -> int:
        """The most counts in which two neighbouring sets of records differ, each by one (Theorem 56).

        A record that is added or removed changes one count in each partition. A record that is replaced
        changes at most two in each partition of two or more cells, and none in the others, such as the
        grand total; a variable whose ``categories`` are not given is taken to have two or more.

        >>> Layout(["region", "age", "sex"], margins=True).cells_changed()
        8
        >>> Layout(["region", "age", "sex"], margins=True).cells_changed("replace")
        14
        """
        if neighbour(neighbours) == "add-or-remove":
            return len(self.partitions)
        known = categories or {}
        several = {place for place, name in enumerate(self.by) if len(known.get(name, "ab")) > 1}
        return 2 * sum(not several.isdisjoint(partition) for partition in self.partitions)


def neighbour(value: Any) -> str:
    """Read how neighbours differ, one of ``NEIGHBOURS``; anything else is a ValueError."""
    if value not in NEIGHBOURS:
        raise parameters.wrong_value("neighbours", "one of " + ", ".join(NEIGHBOURS), value)
    return str(value)


def _names(names: Any, argument: str) -> tuple[str, ...]:
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise parameters.wrong_type(argument, "a list of names of columns", names)
    if not names or len(set(names)) < len(names):
        raise parameters.wrong_value(argument, "one or more names of columns, each once", list(names))
    return tuple(names)
