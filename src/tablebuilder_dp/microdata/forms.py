"""The form in which a table is published: labels, small counts left out, a variable across the columns.

All of it is made from published counts and code lists alone, so nothing here has an ε or a δ.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablebuilder_dp.microdata.layout import Layout
from tablebuilder_dp.support import parameters

TOTAL, MISSING = "(total)", "(missing)"
"""What totals and missing categories are called if nothing else is asked for."""

SUPPRESSED = "suppressed"
"""The column that tells which counts were left out because they were published below a limit."""

LIMIT_MAX = 10**9
"""The largest limit below which counts are left out."""


@dataclass(frozen=True)
class Form:
    """What files have in place of a category that is summed over, or missing, and which counts are left out.

    Counts that are published below ``suppress_below`` are missing, and a column says so.
    """

    total_label: str = TOTAL
    missing_label: str = MISSING
    suppress_below: int | None = None

    def __post_init__(self) -> None:
        for name in ("total_label", "missing_label"):
            label, allowed = getattr(self, name), "a text that can be printed on one line"
            if not isinstance(label, str):
                raise parameters.wrong_type(name, allowed, label)
            if not label.strip() or not label.isprintable():
                raise parameters.wrong_value(name, allowed, label)
        if self.total_label == self.missing_label:
            raise parameters.wrong_value("missing_label", "other than total_label", self.missing_label)
        if self.suppress_below is not None:
            parameters.integer(self.suppress_below, "suppress_below", low=1, high=LIMIT_MAX)

    @property
    def columns(self) -> list[str]:
        """The columns that it adds to a table."""
        return [] if self.suppress_below is None else [SUPPRESSED]

    @property
    def labels(self) -> dict[str, str]:
        """The labels, as the statement has them."""
        return {"total": self.total_label, "missing": self.missing_label}

    def check(self, layout: Layout, categories: Mapping[str, Any]) -> None:
        """Refuse a label that is a category of its column too, where both can stand.

        Raises ValueError for the first of them.
        """
        for name in layout.by:
            texts = _texts(categories.get(name, ()))
            for argument, label, used in (
                ("total_label", self.total_label, layout.margins),
                ("missing_label", self.missing_label, None in texts),
            ):
                if used and label in texts:
                    allowed = f"a text that is no category of {name!r}"
                    raise parameters.wrong_value(argument, allowed, label)


USUAL = Form()


def _texts(categories: Any) -> list[str | None]:
    """Categories as files have them; those of a list that was written by hand as they print."""
    if isinstance(categories, pa.Array | pa.ChunkedArray):
        return list(categories.cast(pa.string()).to_pylist())
    return [None if category is None else str(category) for category in categories]


def suppressed(table: Any, form: Form) -> Any:
    """A published table without the counts below the limit of the form, and with a column that marks them.

    It looks at nothing but published counts, so it changes no ε and no δ (Theorem 57, part 3).

    Returns an Arrow table.
    """
    if form.suppress_below is None:
        return table
    place, counts = table.column_names.index("count"), table["count"]
    small = pc.less(counts, form.suppress_below)
    left = pc.if_else(small, pa.scalar(None, counts.type), counts)
    return table.set_column(place, "count", left).add_column(place + 1, SUPPRESSED, small)


def labelled(table: Any, layout: Layout, form: Form) -> Any:
    """A published table with a label for each total and each missing category.

    A column with one of them becomes a column of texts, all others stay as they are.

    Returns an Arrow table.
    """
    for name in layout.by:
        values, totals = table[name], is_total(table, layout, name)
        missing = pc.and_(pc.is_null(values), pc.invert(totals))
        if not pc.or_(pc.any(totals), pc.any(missing)).as_py():
            continue
        texts = pc.if_else(totals, form.total_label, pc.if_else(missing, form.missing_label, _text(values)))
        table = table.set_column(table.column_names.index(name), name, texts)
    return table


def _text(values: Any) -> Any:
    return values.cast(pa.string())


def check_crosstab(column: str, layout: Layout, categories: Mapping[str, Any], form: Form) -> None:
    """Refuse a crosstab whose columns would not all have names of their own.

    Raises ValueError for a column that is none of the table, or one with a category that is called like
    another column.
    """
    if column not in layout.by:
        raise parameters.wrong_value("crosstab", f"one of {', '.join(layout.by)}", column)
    names = _across(_texts(categories.get(column, ())), layout, form)
    others = [*(name for name in layout.by if name != column), *_over(layout)]
    taken = set(others)
    for name in names:
        if name in taken:
            allowed = "a column whose categories are called like no other column of the table"
            raise ValueError(f"crosstab must be {allowed}, got {column!r} with {name!r}")
        taken.add(name)


def _over(layout: Layout) -> list[str]:
    """The column that names the totals, if a crosstab has it."""
    return ["total_over"] if layout.margins and len(layout.by) > 1 else []


def _across(categories: Sequence[str | None], layout: Layout, form: Form) -> list[str]:
    """The columns of counts of a crosstab, and after them those that mark what is left out."""
    labels = [form.missing_label if text is None else text for text in categories]
    labels += [form.total_label] * layout.margins
    return [*labels, *(f"{label} {added}" for added in form.columns for label in labels)]


def crosstab(table: Any, layout: Layout, categories: Mapping[str, Any], column: str, form: Form) -> Any:
    """A published table with one column of counts for each category of a variable, and for their total.

    ``categories`` has the categories of all variables as Arrow arrays, in their order. A combination that the
    table does not have is missing. Where small counts are left out, each column of counts has one that marks
    them, at the end.

    Returns an Arrow table. Raises ValueError where `check_crosstab` does.
    """
    check_crosstab(column, layout, categories, form)
    places = {}
    for name in layout.by:
        known, totals = categories[name], is_total(table, layout, name).to_numpy(zero_copy_only=False)
        found = pc.index_in(table[name], value_set=known).fill_null(-1).to_numpy()
        places[name] = np.where(totals, len(known), found)
    rest = [name for name in layout.by if name != column]
    rows = np.zeros((len(table), 1), dtype=np.int64)
    if rest:
        rows = np.stack([places[name] for name in rest], axis=1)
    _, first, row = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    row = row.reshape(-1)
    shown = labelled(table, layout, form).take(pa.array(first))
    made = {name: shown[name] for name in rest}
    if _over(layout):
        over = {summed_over(layout, part): summed_over(layout, part, column) for part in layout.partitions}
        made["total_over"] = pa.array([over[text] for text in shown["total_over"].to_pylist()], pa.string())
    names = _across(_texts(categories[column]), layout, form)
    width = len(categories[column]) + layout.margins
    for start, values in enumerate(["count", *form.columns]):
        content = table[values].combine_chunks()
        for place in range(width):
            chosen = np.flatnonzero(places[column] == place)
            origin = np.full(len(first), -1)
            origin[row[chosen]] = chosen
            made[names[start * width + place]] = content.take(pa.array(origin, mask=origin < 0))
    return pa.table(made)


def is_total(table: Any, layout: Layout, name: str) -> Any:
    """Which rows of a published table sum over a variable, as an Arrow array of booleans."""
    if not layout.margins:
        return pa.array(np.zeros(len(table), dtype=bool))
    place = layout.by.index(name)
    over = [summed_over(layout, part) for part in layout.partitions if place not in part]
    return pc.is_in(table["total_over"], value_set=pa.array(over, pa.string()))


def summed_over(layout: Layout, partition: Sequence[int], without: str | None = None) -> str:
    """The variables that a row of a partition sums over, as ``total_over`` has them."""
    return joined(
        [name for place, name in enumerate(layout.by) if place not in partition and name != without]
    )


def joined(names: list[str]) -> str:
    """Names with commas between them; one that has a comma or a quote is quoted as in JSON."""
    return ", ".join(json.dumps(name) if set(name) & set(',"') or not name else name for name in names)
