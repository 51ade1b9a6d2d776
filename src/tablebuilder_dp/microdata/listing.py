"""Which cells a table has, the empty ones too, in which order, and how each is described."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tablebuilder_dp.microdata.cells import Cells, canonical, with_categories
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


def complete(cells: Cells, listed: Any = None) -> Cells:
    """All cells of the table, the empty ones too, in its order: those listed, or all combinations.

    With a list, margins are the totals of the cells in it, and a cell with people must be in it.

    Raises ValueError for a cell with people that is not listed, or more combinations than ``CELLS_MAX``.
    """
    size = math.prod(cells.shape)
    if listed is None:
        if size > CELLS_MAX:
            raise ValueError(
                f"by must have at most {CELLS_MAX} combinations of categories, got {size}: take fewer "
                "columns, a list of cells, or only what is published above 0"
            )
        wanted, order = np.arange(size), _index(cells.places, cells.shape)
    else:
        wanted = _listed_places(cells, listed)
        order = _order(cells, wanted)
    counts = np.zeros(len(wanted), dtype=np.int64)
    sums = np.zeros((len(wanted), cells.sums.shape[1]), dtype=np.uint64)
    counts[order], sums[order] = cells.counts, cells.sums
    places = np.stack(np.unravel_index(wanted, cells.shape), axis=1)
    return cells._replace(places=places, counts=counts, sums=sums)


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
            pc.index_in(canonical(listed[name], known.type), value_set=known).to_numpy()
            for name, known in zip(cells.by, cells.categories, strict=True)
        ],
        axis=1,
    ).astype(np.int64)
    wanted = _index(places, cells.shape)
    for variable in range(len(cells.by)) if cells.margins else ():
        places = np.stack(np.unravel_index(wanted, cells.shape), axis=1)
        places[:, variable] = len(cells.categories[variable])
        wanted = np.union1d(wanted, _index(places, cells.shape))
    return np.unique(wanted)


def sorted_cells(cells: Cells) -> Cells:
    """Only the cells with people in them, in the order of the table."""
    order = np.lexsort(cells.places.T[::-1])
    return cells._replace(places=cells.places[order], counts=cells.counts[order], sums=cells.sums[order])


def exposed(cells: Cells) -> int:
    """How many cells with people have just one person fewer than one of their totals."""
    index = _index(cells.places, cells.shape)
    near_total = np.zeros(len(index), dtype=bool)
    for variable, known in enumerate(cells.categories):
        above = cells.places.copy()
        above[:, variable] = len(known)
        total = cells.counts[np.searchsorted(index, _index(above, cells.shape))]
        near_total |= (cells.counts > 0) & (total == cells.counts + 1)
    return int(near_total.sum())


def descriptions(cells: Cells, chosen: NDArray[np.bool_]) -> Any:
    """What each chosen cell is, as a text: its categories by name, in the order of the names.

    Totals are left out, so a cell has one description in every table that has it.

    Returns an Arrow array of texts.
    """
    parts = []
    for name, place in sorted(zip(cells.by, range(len(cells.by)), strict=True)):
        known = cells.categories[place]
        texts = [json.dumps([name, category]) for category in known.cast(pa.string()).to_pylist()]
        parts.append(pa.array([*texts, ""]).take(pa.array(cells.places[chosen, place])))
    return pc.binary_join_element_wise(*parts, "")
