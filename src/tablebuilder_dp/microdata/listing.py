"""Which cells a table has, the empty ones too, in which order, and how each is described."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tablebuilder_dp.microdata.cells import Cells, canonical, typed, with_categories
from tablebuilder_dp.microdata.layout import Layout
from tablebuilder_dp.microdata.records import opened
from tablebuilder_dp.support import parameters

CELLS_MAX = 10_000_000
"""The most cells of a table that lists all combinations of its categories."""


def read(source: Any, by: Sequence[str], *, memory: str | None = None) -> Any:
    """A file or table that lists the cells of a table, each once, as an Arrow table of the variables.

    Raises ValueError for a cell that is listed twice, or more than ``CELLS_MAX``, and whatever
    `records.opened` raises.
    """
    with opened(source, memory=memory, what="listed cells") as records:
        variables = [with_categories(records, name, "cells") for name in by]
        chosen = ", ".join(variable.alias for variable in variables)
        asked = f"SELECT {chosen} FROM {records.view}"  # noqa: S608 (aliases)
        listed = records.query(asked).rename_columns(list(by))
    if len(listed) > CELLS_MAX:
        raise parameters.wrong_value("cells", f"a list of at most {CELLS_MAX} cells", len(listed))
    if listed.group_by(list(by)).aggregate([]).num_rows < len(listed):
        raise ValueError("cells must be listed once each, but some are listed twice")
    return listed


def read_hierarchy(path: str | Path) -> list[list[str]]:
    """The paths of a hierarchy, coarse to fine, from a file as tau-argus has it: .hrc, a code a line.

    Each @ before a code is a level further down. A branch that ends early repeats its last code, so that all
    paths have one length.

    Raises ValueError, which names the line, for a code that is empty, listed twice, or two levels below the
    one before, and for a file that is not in UTF-8; OSError where it cannot be opened.
    """
    try:
        content = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise parameters.wrong_value("hierarchy", "a text file in UTF-8", str(path)) from None
    branch: list[str] = []
    leaves: list[list[str]] = []
    seen: set[str] = set()
    for number, line in enumerate(content.splitlines(), 1):
        code = line.strip().lstrip("@").strip()
        depth = len(line.strip()) - len(line.strip().lstrip("@"))
        if not line.strip():
            continue
        if not code or code in seen or depth > len(branch):
            allowed = "a new code, at most one level (@) below the line before"
            raise parameters.wrong_value(f"line {number} of {path}", allowed, line.strip())
        seen.add(code)
        if leaves and depth == len(branch) and leaves[-1] == branch:
            leaves.pop()  # the code before has codes below it
        branch = [*branch[:depth], code]
        leaves.append(branch)
    if not leaves:
        raise parameters.wrong_value(str(path), "a hierarchy with a code a line", "nothing")
    levels = max(map(len, leaves))
    return [leaf + leaf[-1:] * (levels - len(leaf)) for leaf in leaves]


def without_paths(layout: Layout, categories: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The categories of each variable alone, and of each hierarchy its paths, one column a variable.

    Lists may be those of NumPy, pandas, Polars or Arrow. Of a hierarchy the finest variable is listed, by
    full paths: [["North", "Aby"], ["North", "Lund"], …].

    Raises ValueError for what is no list, lists that are no paths, or that a coarser variable has of its own.

    >>> layout = Layout(["region", "district"], nested=[["region", "district"]])
    >>> without_paths(layout, {"district": [["N", 1], ["N", 2], ["S", 1]]})
    ({'district': [1, 2], 'region': ['N', 'S']}, {'district': [['N', 'N', 'S'], [1, 2, 1]]})
    """
    if not isinstance(categories, Mapping):
        raise parameters.wrong_type("categories", "lists by the names of columns", categories)
    lists, paths = {name: _plain(listed) for name, listed in categories.items()}, {}
    for name in set(layout.by) & set(lists):
        if not _is_list(lists[name]):
            allowed = f"a list of different categories of {name!r}"
            raise parameters.wrong_value("categories", allowed, lists[name])
    for names in layout.nested:
        for coarser in names[:-1]:
            if coarser in categories:
                allowed = f"without {coarser!r}, which follows from the paths of {names[-1]!r}"
                raise parameters.wrong_value("categories", allowed, sorted(categories))
        if (listed := lists.get(names[-1])) is None:
            continue
        allowed = f"different paths ({', '.join(names)}) for {names[-1]!r}, such as {[*'ab', *names][:2]}"
        rows = list(listed)
        if any(not isinstance(row, list | tuple) or len(row) != len(names) for row in rows):
            raise parameters.wrong_value("categories", allowed, listed)
        columns = [list(column) for column in zip(*rows, strict=True)]
        if len({json.dumps(row, default=str) for row in rows}) < len(rows):
            raise parameters.wrong_value("categories", allowed, listed)
        paths[names[-1]] = columns
        lists |= {name: _different(column) for name, column in zip(names, columns, strict=True)}
    return lists, paths


def sizes(
    layout: Layout, lists: Mapping[str, Any], paths: Mapping[str, Any], *, published: bool = False
) -> list[int]:
    """How many cells each partition has, by its lists and paths; of what is not listed two categories.

    Only ``published`` are those of which `without_repeats` leaves something.

    >>> layout = Layout(["sex", "region", "district"], True, [["region", "district"]])
    >>> lists, paths = without_paths(layout, {"sex": [*"FMX"], "district": [["N", 1], ["N", 2], ["S", 1]]})
    >>> sizes(layout, lists, paths)
    [9, 6, 3, 3, 2, 1]
    >>> sizes(layout, lists, paths, published=True)
    [9, 3, 3, 3, 1, 1]
    """
    made = []
    for partition in layout.partitions:
        cells = 1
        for axis in layout.axes:
            names = [layout.by[place] for place in axis if place in partition]
            if names and (columns := paths.get(layout.by[axis[-1]])) is not None:
                shown = set(zip(*columns[: len(names)], strict=True))
                if published and len(names) < len(axis):
                    finer = Counter(path[:-1] for path in set(zip(*columns[: len(names) + 1], strict=True)))
                    shown = {path for path in shown if finer[path] > 1}
                cells *= len(shown)
            elif names:
                cells *= math.prod(len(lists.get(name, "ab")) for name in names)
        made.append(cells)
    return made


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence | pa.Array) and not isinstance(value, str | bytes) and len(value) > 0


def _plain(values: Any) -> Any:
    """Categories that NumPy, pandas, Polars or Arrow hold, as a list; what pandas takes for missing is None.

    >>> _plain(np.array(["a", "b"])), _plain(pa.chunked_array([[1], [None]])), _plain("ab")
    (['a', 'b'], [1, None], 'ab')
    """
    for name in ("to_pylist", "to_list", "tolist"):
        if callable(convert := getattr(values, name, None)):
            listed = convert()
            if not isinstance(listed, list):
                return values
            if type(values).__module__.partition(".")[0] == "pandas":
                listed = [None if _is_missing(value) else value for value in listed]
            return listed
    return values


def _is_missing(value: Any) -> bool:
    return type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and math.isnan(value))


def _different(values: list[Any]) -> list[Any]:
    return list({json.dumps(value, default=str): value for value in values}.values())


def complete(cells: Cells, listed: Any = None, paths: Mapping[str, Any] | None = None) -> Cells:
    """All cells of the table, the empty ones too, in its order: those listed, or all combinations.

    With a list, margins are the totals of the cells in it. Combinations of a hierarchy are its ``paths``, or
    else those that occur. A cell with people must be one of them all.

    Raises ValueError for a cell with people that is not listed, or more combinations than ``CELLS_MAX``.
    """
    if listed is None:
        axes = [
            _along(cells, axis, (paths or {}).get(cells.layout.by[axis[-1]])) for axis in cells.layout.axes
        ]
        size = math.prod(map(len, axes))
        if size > CELLS_MAX:
            raise ValueError(
                f"by must have at most {CELLS_MAX} combinations of categories, got {size}: take fewer "
                "columns, a list of cells, or only what is published above 0"
            )
        wanted = _product(cells, axes)
    else:
        wanted = _listed_places(cells, listed)
    places = np.stack(np.unravel_index(wanted, cells.shape), axis=1)
    kept = _once(cells, places, paths or {})
    places, wanted = places[kept], wanted[kept]
    order = _order(cells, wanted)
    counts = np.zeros(len(wanted), dtype=np.int64)
    sums = np.zeros((len(wanted), cells.sums.shape[1]), dtype=np.uint64)
    counts[order], sums[order] = cells.counts, cells.sums
    return cells._replace(places=places, counts=counts, sums=sums)


def check_paths(cells: Cells, paths: Mapping[str, Any]) -> None:
    """Refuse people on a path of a hierarchy that is not listed; only the number of such paths is told.

    Raises ValueError where there are any.
    """
    for axis in cells.layout.axes:
        name = cells.layout.by[axis[-1]]
        if name not in paths:
            continue
        totals = [len(cells.categories[place]) for place in axis]
        shape = tuple(total + 1 for total in totals)
        whole = (cells.places[:, axis] < totals).all(axis=1)
        known = _index(_along(cells, axis, paths[name]), shape)
        if missed := len(np.setdiff1d(_index(cells.places[whole][:, axis], shape), known)):
            told = f"{missed} {'is' if missed == 1 else 'are'} not in the list"
            raise ValueError(f"categories of {name!r} must list all paths that occur, but {told}")


def without_repeats(cells: Cells, paths: Mapping[str, Any]) -> Cells:
    """Without the totals over a hierarchy's finer variables that repeat a single finer cell.

    Whoever has a category with one category below it has that one, too: it is one set of people, and a second
    count of it would have another noise. That is seen in the lists, or where there are none in the records.
    """
    kept = _once(cells, cells.places, paths)
    return cells._replace(places=cells.places[kept], counts=cells.counts[kept], sums=cells.sums[kept])


def paths_of(layout: Layout, listed: Any) -> dict[str, Any]:
    """The paths of each hierarchy in a list of cells, as `without_paths` gives those of code lists."""
    rows = {names: listed.select(list(names)).group_by(list(names)).aggregate([]) for names in layout.nested}
    return {names[-1]: [found[name].to_pylist() for name in names] for names, found in rows.items()}


def _once(cells: Cells, places: NDArray[np.int64], paths: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Which places are not those of a total that repeats a finer cell."""
    kept = np.ones(len(places), dtype=bool)
    for axis in cells.layout.axes if cells.layout.margins else ():
        shape = tuple(len(cells.categories[place]) + 1 for place in axis)
        repeated = _repeated(cells, axis, paths.get(cells.layout.by[axis[-1]]))
        kept &= ~np.isin(_index(places[:, axis], shape), _index(repeated, shape))
    return kept


def _paths(cells: Cells, axis: tuple[int, ...], paths: Any) -> NDArray[np.int64]:
    """The paths of a hierarchy by the places of their categories."""
    known = [cells.categories[place] for place in axis]
    columns = (typed(column, kind.type) for column, kind in zip(paths, known, strict=True))
    return np.stack(list(map(_places, columns, known)), axis=1)


def _repeated(cells: Cells, axis: tuple[int, ...], paths: Any) -> NDArray[np.int64]:
    """The places of the totals within a hierarchy with one category below them, by its paths or those met."""
    totals = [len(cells.categories[place]) for place in axis]
    found = [np.empty((0, len(axis)), dtype=np.int64)]
    met = cells.places[:, axis]
    whole = met[(met < totals).all(axis=1)] if paths is None else _paths(cells, axis, paths)
    for depth in range(1, len(axis)):
        finer = np.unique(whole[:, : depth + 1], axis=0)
        coarse, times = np.unique(finer[:, :depth], axis=0, return_counts=True)
        alone = coarse[times == 1]
        found.append(np.hstack([alone, np.tile(totals[depth:], (len(alone), 1))]))
    return np.concatenate(found)


def _along(cells: Cells, axis: tuple[int, ...], paths: Any) -> NDArray[np.int64]:
    """The places that one variable, or the variables of one hierarchy, can have, totals included."""
    known = [cells.categories[place] for place in axis]
    totals = np.array([len(kind) for kind in known])
    if len(axis) == 1:
        chosen = np.arange(totals[0])[:, None]
    elif paths is None:
        chosen = cells.places[:, axis]
        chosen = chosen[(chosen < totals).all(axis=1)]
    else:
        chosen = _paths(cells, axis, paths)
    levels = [chosen]
    for depth in range(len(axis) - 1, -1, -1) if cells.layout.margins else ():
        levels.append(np.where(np.arange(len(axis)) < depth, chosen, totals))
    if cells.layout.margins:
        levels.append(totals[None, :])  # also if there is nobody
    return np.unique(np.concatenate(levels), axis=0)


def _places(values: Any, known: Any) -> NDArray[np.int64]:
    place: NDArray[np.int64] = pc.index_in(values, value_set=known).to_numpy().astype(np.int64)
    return place


def _product(cells: Cells, axes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The numbers of all combinations of the places along the axes, in rising order."""
    _index(cells.places[:0], cells.shape)  # which refuses numbers that would not fit
    strides = [math.prod(cells.shape[place + 1 :]) for place in range(len(cells.shape))]
    parts = (
        places @ np.array([strides[place] for place in axis], dtype=np.int64)
        for places, axis in zip(axes, cells.layout.axes, strict=True)
    )
    return np.sort(reduce(lambda left, right: np.add.outer(left, right).reshape(-1), parts))


def _order(cells: Cells, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the cells with people stand among those wanted, which must have them all."""
    index = _index(cells.places, cells.shape)
    order: NDArray[np.int64] = np.searchsorted(wanted, index)
    if (outside := wanted[np.minimum(order, len(wanted) - 1)] != index).any():
        totals = (cells.places == [len(known) for known in cells.categories]).any(axis=1)
        number = int((outside & ~totals).sum())
        told = f"{number} {'is' if number == 1 else 'are'} not in the list"
        raise ValueError(f"cells must list all that have people, but {told}")
    return order


def _index(places: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Places as one number each, in the order of the table."""
    if math.prod(shape) > np.iinfo(np.int64).max:
        raise parameters.wrong_value("by", "columns of fewer categories", " × ".join(map(str, shape)))
    index: NDArray[np.int64] = np.ravel_multi_index(tuple(places.T), shape).astype(np.int64)
    return index


def _listed_places(cells: Cells, listed: Any) -> NDArray[np.int64]:
    """The cells of a list and, with margins, all of their totals, as numbers in rising order."""
    places = np.stack(
        [
            _places(canonical(listed[name], known.type), known)
            for name, known in zip(cells.layout.by, cells.categories, strict=True)
        ],
        axis=1,
    )
    totals = [len(known) for known in cells.categories]
    wanted = [_index(places, cells.shape)]
    for partition in cells.layout.partitions if cells.layout.margins else ():
        kept = np.isin(np.arange(len(totals)), partition)
        wanted.append(_index(np.where(kept, places, totals), cells.shape))
    return np.unique(np.concatenate(wanted))


def sorted_cells(cells: Cells) -> Cells:
    """Only the cells with people in them, in the order of the table."""
    order = np.lexsort(cells.places.T[::-1])
    return cells._replace(places=cells.places[order], counts=cells.counts[order], sums=cells.sums[order])


def exposed(cells: Cells) -> int:
    """How many cells with people have just one person fewer than one of their totals."""
    index = _index(cells.places, cells.shape)
    near_total = np.zeros(len(index), dtype=bool)
    totals = np.array([len(known) for known in cells.categories])
    for summed in (list(axis[depth:]) for axis in cells.layout.axes for depth in range(len(axis))):
        above = cells.places.copy()
        above[:, summed] = totals[summed]
        wanted = _index(above, cells.shape)
        place = np.minimum(np.searchsorted(index, wanted), len(index) - 1)
        one_more = (index[place] == wanted) & (cells.counts[place] == cells.counts + 1)
        near_total |= (cells.counts > 0) & one_more
    return int(near_total.sum())


def descriptions(cells: Cells, chosen: Any = slice(None)) -> Any:
    """What each chosen cell is, as a text: its categories by name, in the order of the names.

    Each is a JSON array, so two cells never have the same text. Totals are left out, so a cell has one
    description in every table that has it.

    Returns an Arrow array of texts.
    """
    parts = []
    for place, name in sorted(enumerate(cells.layout.by), key=lambda pair: pair[1]):
        known = cells.categories[place]
        texts = [json.dumps([name, category]) for category in known.cast(pa.string()).to_pylist()]
        parts.append(pa.array([*texts, ""]).take(pa.array(cells.places[chosen, place])))
    return pc.binary_join_element_wise(*parts, "")
