"""From records to cells: one query counts them and sums their record keys, one row a cell comes back.

A margin is a cell too: its count and its sums are those of its own records. Records whose category is
missing form a cell like any other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tablebuilder_dp.cellkey import BITS
from tablebuilder_dp.microdata.layout import Layout
from tablebuilder_dp.microdata.records import Column, Records, column
from tablebuilder_dp.support import parameters

TYPES: Mapping[str, Any] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "time": pa.timestamp("us"),
}
"""The kinds of columns that have categories, and what they are in the published table."""

PEOPLE_MAX = 2**31
"""This many record keys below 2^32 can be summed without passing 2^63."""

VARIABLES_MAX = 62
"""The most variables of several tables that are counted together."""

UNIT = 10**15
"""Record keys that are decimals in [0, 1) are summed in this part of 1: float64 holds their 15 digits."""

_FEW = 1 << 20  # cells that are summed up much faster than records are counted
_ENOUGH = 1000  # the mean of this many uniform keys is below 3/4 of its value with a chance of 1e-40


class Cells(NamedTuple):
    """Cells by the places of their categories; one past the last category stands for the total.

    ``sums`` has a column for each component of the record keys, if there are any; of keys that are
    ``decimals`` it has the fractions, in parts of ``UNIT``.
    """

    layout: Layout
    categories: tuple[Any, ...]
    places: NDArray[np.int64]
    counts: NDArray[np.int64]
    sums: NDArray[np.uint64]
    decimals: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """How many places each variable has."""
        return tuple(len(known) + self.layout.margins for known in self.categories)


def query(
    view: str,
    by: Sequence[Column],
    keys: Sequence[Column],
    *,
    partitions: Sequence[Sequence[int]],
    small: bool,
) -> str:
    """The one query that touches the records, in SQL that every engine understands.

    A partition is given by the places of its variables in ``by``. If there are several, the records are first
    counted by all variables together where these cells are few (``small``): a margin is then a sum over cells
    in place of records. ``valid`` counts the records whose keys are keys. Sums are texts where keys are
    decimals, as they may pass 2^63.
    """
    variables = [variable.alias for variable in by]
    listed, components = ", ".join(variables), [f"k{place}" for place in range(len(keys))]

    valid = " AND ".join(f"{component} IS NOT NULL" for component in components)
    measures = {
        "people": "COUNT(*)",
        **({"valid": f"COUNT(*) FILTER (WHERE {valid})"} if keys else {}),
        **{f"sum_{component}": f"SUM({component})" for component in components},
    }
    low = _lowest(keys)
    chosen = [
        *variables,
        *(f"{_key(key, low)} AS {name}" for key, name in zip(keys, components, strict=True)),
    ]
    source = f"(SELECT {', '.join(chosen)} FROM {view}) AS keyed"  # noqa: S608 (aliases only)
    grouped = listed
    totals: list[str] = []
    if len(partitions) > 1 or len(partitions[0]) < len(by):
        if small:
            inner = ", ".join(f"{made} AS {name}" for name, made in measures.items())
            source = f"(SELECT {listed}, {inner} FROM {source} GROUP BY {listed}) AS cells"  # noqa: S608
            measures = {name: f"SUM({name})" for name in measures}
        sets = (", ".join(variables[place] for place in partition) for partition in partitions)
        grouped = f"GROUPING SETS ({', '.join(f'({names})' for names in sets)})"
        totals = [f"CAST(GROUPING({alias}) AS BIGINT) AS total_{alias}" for alias in variables]
    types = {f"sum_{name}": _sum_type(key) for key, name in zip(keys, components, strict=True)}
    outer = [f"CAST({made} AS {types.get(name, 'BIGINT')}) AS {name}" for name, made in measures.items()]
    asked = ", ".join([*variables, *totals, *outer])
    return f"SELECT {asked} FROM {source} GROUP BY {grouped}"  # noqa: S608


def _lowest(keys: Sequence[Any]) -> int:
    """The least record key: 1 as in the paper; a single key is used as others do, from 0 on."""
    return 1 if len(keys) > 1 else 0


def _sum_type(key: Column) -> str:
    return "VARCHAR(40)" if key.kind == "number" else "BIGINT"


def _key(key: Column, low: int) -> str:
    """A record key as an integer; what is none, or a text that is no plain decimal, is missing."""
    if key.kind == "number":
        number = f"TRY_CAST({key.alias} AS DOUBLE)"
        units = f"CAST(ROUND({number} * {UNIT}) AS DECIMAL(38, 0))"
        return f"CASE WHEN {number} >= 0 AND {number} < 1 THEN {units} END"
    number = f"TRY_CAST({key.alias} AS BIGINT)"
    plain = "" if key.kind == "integer" else f" AND CAST({number} AS VARCHAR(20)) = {key.alias}"
    return f"CASE WHEN {number} BETWEEN {low} AND {2**BITS - 1}{plain} THEN {number} END"


def count(
    records: Records,
    layouts: Sequence[Layout],
    *,
    keys: Sequence[str] = (),
    keysize: int = 1,
    categories: Mapping[str, Sequence[Any]] | None = None,
) -> list[Cells]:
    """Count the records of each cell that has any, and sum their keys, for all layouts in one pass.

    ``categories`` may name a variable's categories in the order of the table; the others have those that
    occur, sorted, with the missing one last. Lists for other columns of the records are not used.

    Returns the cells of each layout. Raises ValueError for columns that are no keys or categories, records
    that are not UTF-8, keys that would not protect, and categories that are not listed.
    """
    given = categories or {}
    names = list(dict.fromkeys(name for layout in layouts for name in layout.by))
    variables = [with_categories(records, name, "by") for name in names]
    components = [_component(records, name, single=len(keys) == 1) for name in keys]
    unit = UNIT if any(component.kind == "number" for component in components) else 0
    if unknown := sorted(set(given) - {known.name for known in records.columns}):
        raise parameters.wrong_value("categories", "about columns of the records", unknown[0])
    partitions = [
        [tuple(sorted(names.index(layout.by[place]) for place in part)) for part in layout.partitions]
        for layout in layouts
    ]
    asked = list(dict.fromkeys(part for parts in partitions for part in parts))
    small = len(layouts) == 1 or math.prod(len(given.get(name, ())) for name in names) in range(1, _FEW)
    sql = query(records.view, variables, components, partitions=asked, small=small)
    rows = records.query(sql).combine_chunks()
    rows = rows.filter(pc.greater(pc.fill_null(rows["people"], 0), 0))  # no people, yet a grand total
    if keys:
        if unit:
            exact = [int(total or 0) for total in rows["sum_k0"].to_pylist()]
            rows = rows.set_column(rows.column_names.index("sum_k0"), "sum_k0", [list(map(float, exact))])
        _check_keys(rows, list(keys), keysize, any(layout.margins for layout in layouts), unit=unit)
    totals = np.zeros((len(rows), len(names)), dtype=bool)
    if f"total_{variables[0].alias}" in rows.column_names:
        totals = np.stack([rows[f"total_{v.alias}"].to_numpy() > 0 for v in variables], axis=1)
    places, sets = [], []
    for variable, total in zip(variables, totals.T, strict=True):
        values = _values(variable, rows[variable.alias])
        if variable.kind == "text" and not _in_utf8(values):
            raise ValueError(f"records must be in UTF-8, but {variable.name!r} has texts that are not")
        listed = _categories(variable, values.filter(pa.array(~total)), given.get(variable.name))
        place = pc.index_in(values, value_set=listed).fill_null(-1).to_numpy(zero_copy_only=False)
        place = np.where(total, len(listed), place)
        if place.min(initial=0) < 0:
            raise _not_listed(variable.name, pc.unique(values.filter(pa.array(place < 0))))
        places.append(place)
        sets.append(listed)
    if unit:
        sums = [np.array([total % unit for total in exact], dtype=np.uint64)]
    else:
        sums = [rows[f"sum_k{place}"].to_numpy().astype(np.uint64) for place in range(len(keys))]
    everything = np.stack(places, axis=1).astype(np.int64)
    people = rows["people"].to_numpy()
    added = np.stack(sums, axis=1) if keys else np.zeros((len(rows), 0), dtype=np.uint64)
    bits = 1 << np.arange(min(len(names), VARIABLES_MAX))
    made = []
    for layout, parts in zip(layouts, partitions, strict=True):
        masks = [sum(1 << place for place in range(len(names)) if place not in part) for part in parts]
        inside = slice(None) if len(masks) == len(asked) else np.isin(totals @ bits, masks)
        own = [names.index(name) for name in layout.by]
        made.append(
            Cells(
                layout=layout,
                categories=tuple(sets[place] for place in own),
                places=everything[inside][:, own],
                counts=people[inside],
                sums=added[inside],
                decimals=bool(unit),
            )
        )
    return made


_INTEGER = re.compile(r"\s*[-+]?[0-9]{1,99}\s*")
_DECIMAL = re.compile(r"\s*[0-9]*[.,][0-9]*(e-?[0-9]+)?\s*|\s*[0-9]+e-[0-9]+\s*", re.IGNORECASE)


def _component(records: Records, name: str, *, single: bool) -> Column:
    """A column of record keys: integers or, if it is the only one, decimals in [0, 1), as R has them.

    Whether a column of texts has decimals is seen in the first with a point, a comma or a negative exponent.
    Numbers above 1 are integers, as pandas has them where some were missing.
    """
    found = column(records, name, "record_keys")
    if found.kind.startswith("decimal"):
        found = found._replace(kind="number")
    if found.kind not in ("integer", "text", "number"):
        allowed = "integers, or of decimals in [0, 1)" if single else "integers"
        raise ValueError(
            f"record_keys must name columns of {allowed}, got {name!r}, which is of type {found.kind}"
        )
    if found.kind == "text" and single:
        parts = " OR ".join(f"{found.alias} LIKE '%{part}%'" for part in (".", ",", "e-", "E-"))
        asked = f"SELECT {found.alias} AS k FROM {records.view} WHERE {parts} LIMIT 1"  # noqa: S608
        first = records.query(asked)["k"].to_pylist()
        if first and _DECIMAL.fullmatch(first[0]):
            plain = f"CASE WHEN TRANSLATE({found.alias}, '0123456789.,eE+- ', '') = '' THEN {found.alias} END"
            return found._replace(alias=f"TRY_CAST(REPLACE({plain}, ',', '.') AS DOUBLE)", kind="number")
    if found.kind == "number":
        largest = f"SELECT CAST(MAX({found.alias}) AS DOUBLE) AS k FROM {records.view}"  # noqa: S608
        if not single or (records.query(largest)["k"][0].as_py() or 0) > 1:
            whole = (
                f"CASE WHEN {found.alias} = FLOOR({found.alias}) THEN TRY_CAST({found.alias} AS BIGINT) END"
            )
            return found._replace(alias=whole, kind="integer")
    return found


def with_categories(records: Records, name: str, argument: str) -> Column:
    """A column that has categories.

    Raises ValueError for a column of any other type.
    """
    variable = column(records, name, argument)
    if variable.kind not in TYPES:
        raise ValueError(
            f"{argument} must name columns of text, integers, numbers, booleans, dates or times without a "
            f"zone, got {name!r}, "
            f"which is of type {variable.kind}"
        )
    return variable


def _values(variable: Column, values: Any) -> Any:
    try:
        return canonical(values, TYPES[variable.kind])
    except pa.ArrowInvalid:  # an unsigned integer or a part of a microsecond, which the error would show
        allowed = "whole microseconds" if variable.kind == "time" else "integers below 2^63"
        raise ValueError(f"by must name columns of {allowed}, which {variable.name!r} is not") from None


def _in_utf8(texts: Any) -> bool:
    """Whether all texts are; DuckDB has U+FFFD in the place of what is not, and Spark its bytes."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return not pc.any(pc.match_substring(texts, "\ufffd")).as_py()


def _not_listed(name: str, missed: Any) -> ValueError:
    """The error about categories that occur: all that is told of them is their number."""
    many = len(missed) > 1
    null = (", null among them" if many else ": null") if missed.null_count else ""
    told = f"{len(missed)} {'are' if many else 'is'} not in the list{null}"
    return ValueError(f"categories of {name!r} must list all that occur, but {told}")


def _check_keys(rows: Any, keys: Sequence[str], keysize: int, margins: bool, *, unit: int) -> None:
    """Refuse record keys that would not give every cell a key of its own; ``unit`` is 0 for integers."""
    people, valid = (rows[name].to_numpy() for name in ("people", "valid"))
    if people.max(initial=0) >= PEOPLE_MAX:
        raise ValueError(f"records of a cell must be fewer than {PEOPLE_MAX}, got {people.max()}")
    if (valid < people).any():
        wrong = int((people - valid).max() if margins else (people - valid).sum())
        allowed = "decimals in [0, 1)" if unit else f"integers from {_lowest(keys)} to {2**BITS - 1}"
        raise ValueError(
            f"record_keys must be {allowed} for every record, which "
            f"{', '.join(keys)} are not in {wrong} record{'' if wrong == 1 else 's'}"
        )
    everybody = people.max(initial=0) if margins else people.sum()
    if everybody < _ENOUGH:
        return
    means = np.array([rows[f"sum_k{place}"].to_numpy() / people for place in range(len(keys))])
    if (np.average(means, axis=1, weights=people) < 3 / 8 * (unit or keysize)).any():
        room = "[0, 1)" if unit else f"[0, {keysize})"
        raise ValueError(f"record_keys must be spread over all of {room}, which {', '.join(keys)} are not")
    if any(np.array_equal(first, second) for first, second in combinations(means, 2)):
        raise ValueError(f"record_keys must be independent, but two of {', '.join(keys)} are equal")
    if len(people) > 2 and (np.ptp(means, axis=1) <= 1e-9 * means.max(axis=1)).any():
        raise ValueError(f"record_keys must differ between records, but one of {', '.join(keys)} is constant")


def canonical(values: Any, kind: Any) -> Any:
    """Categories as one of TYPES, whatever engine gave them, with one zero and one NaN.

    Returns an Arrow array. Raises pyarrow.ArrowException for values that have no such type.
    """
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    array = array.cast(kind)
    if kind != TYPES["number"]:
        return array
    numbers = array.to_numpy(zero_copy_only=False) + 0.0  # −0 + 0 is 0
    numbers[np.isnan(numbers)] = np.nan
    return pa.array(numbers, mask=np.asarray(array.is_null()))


def typed(values: Sequence[Any], kind: Any) -> Any:
    """Categories that were written by hand, or in JSON, as one of TYPES.

    Returns an Arrow array. Raises pyarrow.ArrowException, TypeError, ValueError or OverflowError for values
    that have no such type.
    """
    if kind in (TYPES["date"], TYPES["time"]):  # also as JSON has them, 2021-08-10 or 2021-08-10T12:30
        read = date if kind == TYPES["date"] else datetime
        values = [read.fromisoformat(one) if isinstance(one, str) else one for one in values]
    return canonical(pa.array(values, type=kind), kind)


def _categories(variable: Column, values: Any, given: Sequence[Any] | None) -> Any:
    if given is None:
        distinct = pc.unique(values)
        if variable.kind == "text" and all(map(_INTEGER.fullmatch, distinct.drop_null().to_pylist())):
            named = [text for text in distinct.to_pylist() if text is not None]
            in_order = sorted(named, key=lambda text: (int(text), text)) + [None] * distinct.null_count
            return pa.array(in_order, distinct.type)
        return distinct.take(pc.sort_indices(distinct))
    if isinstance(given, pa.Array):
        return _listed(variable, given)
    allowed = f"a list of different categories of {variable.name!r} ({variable.kind})"
    if isinstance(given, str) or not isinstance(given, Sequence) or not len(given):
        raise parameters.wrong_value("categories", allowed, given)
    try:
        listed = typed(given, TYPES[variable.kind])
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise parameters.wrong_value("categories", allowed, given) from None
    if len(pc.unique(listed)) < len(listed):
        raise parameters.wrong_value("categories", allowed, given)
    return listed


def _listed(variable: Column, given: Any) -> Any:
    """The categories that a list of cells has."""
    try:
        listed = canonical(given, TYPES[variable.kind])
    except pa.ArrowException:
        allowed = f"categories of type {variable.kind} in {variable.name!r}"
        raise ValueError(f"cells must have {allowed}, got some of type {given.type}") from None
    if len(pc.unique(listed)) < len(listed):
        raise ValueError("cells must be listed once each, but some are listed twice")
    return listed
