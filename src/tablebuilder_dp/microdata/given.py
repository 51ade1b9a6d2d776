"""Tables that were counted elsewhere: counts and cell keys are given, the noise is looked up.

Cell keys are integers below the KEYSIZE of the perturbation table, as the ONS has them, or decimals in
[0, 1), as R and tau-argus have them. A decimal is read to 15 digits, as decimals of records are, so that
0.9999999999999999 in place of 0.3 + 0.7 is 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tablebuilder_dp.counts.perturbation_table import PerturbationTable
from tablebuilder_dp.microdata import cell_keys, forms, results, sources, statement, words
from tablebuilder_dp.microdata.cells import UNIT, with_categories
from tablebuilder_dp.microdata.protection import Protection
from tablebuilder_dp.microdata.publish import AUDIT, write_beside
from tablebuilder_dp.microdata.records import column, opened
from tablebuilder_dp.support import files, parameters

_MOST = 10**15  # a count that float64 holds, and to which noise can be added
_UNLIKELY = 1e-12  # what happens to uniform keys with such a chance does not happen
_WHOLE = re.compile(r"(0|[1-9][0-9]*)(\.0)?")
_ROUND = re.compile(r"([1-9])(?:\.([0-9]{1,15}))?e\+?([0-9]{1,2})", re.IGNORECASE)  # R's 1e+05
_DECIMAL = re.compile(r"[0-9]*[.,][0-9]+(e-?[0-9]+)?|[0-9]+e-[0-9]+", re.IGNORECASE)


@dataclass(frozen=True, repr=False)
class Applied(results.Result):
    """A table that was counted elsewhere, with perturbed counts, and what is promised about it.

    It has the columns that describe the cells, and ``count``; if small counts are left out, also
    ``suppressed``.
    """

    table: pa.Table
    protection: Protection
    by: tuple[str, ...]
    count: str
    cell_key: str
    audit: bool
    form: forms.Form = forms.USUAL
    inputs: tuple[Path, ...] = field(default=(), compare=False)

    @cached_property
    def statement(self) -> dict[str, Any]:
        """The guarantee, as it is written beside the table: `statement.of_given` and some of its words."""
        facts = statement.of_given(
            self.protection,
            by=self.by,
            count=self.count,
            cell_key=self.cell_key,
            audit=self.audit,
            form=self.form,
        )
        return {**facts, **words.in_words(facts)}

    def write(self, path: str | Path) -> list[Path]:
        """Write the table and, beside it, the statement as JSON and in plain words.

        Returns the paths of the three files. Raises ValueError for a place that cannot be taken, and OSError
        where a file cannot be written.
        """
        return write_beside(path, self.table, self.statement, audit=self.audit, inputs=self.inputs)


class _Given(NamedTuple):
    """A column that was asked for, the argument that it was asked for by, and how its rows are named."""

    argument: str
    name: str
    values: Any
    row: str
    first: int

    def refuse(self, wrong: NDArray[np.bool_], told: str) -> None:
        """Refuse the rows that are wrong: their number is told, and which is the first."""
        if many := int(wrong.sum()):
            cells = f"{many} cell{'' if many == 1 else 's'}"
            where = f"{cells}, first in {self.row} {int(np.argmax(wrong)) + self.first}"
            raise ValueError(f"{self.argument} must be {told}, which {self.name!r} is not in {where}")


def apply(
    source: Any,
    protection: Protection,
    *,
    by: Sequence[str],
    count: str,
    cell_key: str,
    audit: bool = False,
    suppress_below: int | None = None,
    memory: str | None = None,
) -> Applied:
    """Perturb counts that were made elsewhere, by the keys that their cells have.

    ``source`` is a file or a table in memory with a row a cell; ``count`` and ``cell_key`` are its columns of
    true counts and of keys. ``by`` names the columns that describe the cells; no others are published, as
    they may give the true counts away. The noise is that of a table from elsewhere, or of a design for one
    cell. With an ``audit`` the true counts, the keys and the noise stand beside. What would be published
    below ``suppress_below`` is left out and marked in a column ``suppressed``.

    Returns the table and what is promised about it; `Applied.write` writes them. Raises ValueError for counts
    or keys that are missing, that are none or that the table does not serve, for keys that are not spread as
    random ones are, and for a cell that is listed twice; TypeError for what is no table, and OSError for a
    file that cannot be opened.
    """
    if not isinstance(protection, Protection):
        raise parameters.wrong_type("protection", "what from_table or design_per_cell gives", protection)
    if protection.cells is not None:
        allowed = "a table from elsewhere or a design for one cell, as given keys promise no more"
        raise parameters.wrong_value("protection", allowed, f"a design for {protection.cells} cells")
    inputs = files.inputs(sources.origin(source), protection.file)
    if count == cell_key:
        raise parameters.wrong_value("cell_key", "another column than count", cell_key)
    form = forms.Form(suppress_below=suppress_below)
    asked = {"count": count, "cell_key": cell_key}
    taken = {*asked.values(), "count", *form.columns, *(AUDIT if audit else ())}
    if isinstance(by, str) or not by or len(set(by)) < len(by) or taken & set(by):
        allowed = f"one or more columns, each once, without {', '.join(sorted(taken))}"
        raise parameters.wrong_value("by", allowed, by)
    if not sources.is_place(source):
        source = sources.arrow_table(source)
    with opened(source, memory=memory, what="counts") as records:
        for argument, name in asked.items():
            column(records, name, argument)
        for name in by:
            with_categories(records, name, "by")
        names = [known.name for known in records.columns]
        table = source
        if sources.is_place(source):
            aliases = ", ".join(known.alias for known in records.columns)
            table = records.query(f"SELECT {aliases} FROM {records.view}").rename_columns(names)  # noqa: S608
    row, first = _rows(source, table)
    counts, keys = (_Given(what, name, _plain(table[name]), row, first) for what, name in asked.items())
    numbers = _counts(counts, protection)
    known, decimal = _keys(keys, protection.table.keysize)
    places = known
    if decimal:
        protection = protection.for_decimals
        places = cell_keys.of_decimals(known, protection.table.keysize)
    _check_spread(keys, places, numbers, protection)
    described = pa.table({name: _plain(table[name]) for name in by})
    if described.group_by(list(by)).aggregate([]).num_rows < len(described):
        raise ValueError(f"by must name columns that tell the cells apart, which {', '.join(by)} do not")
    published = protection.published(numbers, places)
    columns = {name: table[name] for name in by} | {"count": pa.array(published)}
    if audit:
        shown = (numbers, known / UNIT if decimal else known, published - numbers)
        columns |= dict(zip(AUDIT, map(pa.array, shown), strict=True))
    made = forms.suppressed(pa.table(columns), form)
    return Applied(made, protection, tuple(by), count, cell_key, audit, form, inputs)


def _rows(source: Any, table: pa.Table) -> tuple[str, int]:
    """What a row is called, and the number of the first: lines of a text file where each row is one."""
    if not sources.is_csv(source):
        return "row", 1
    broken = (pc.any(pc.match_substring_regex(values, "[\r\n]")).as_py() for values in table.columns)
    if any(broken):
        return "row", 1
    return "line", 2 if not isinstance(source, sources.Csv) or source.header else 1


def _plain(values: Any) -> Any:
    """A column as one Arrow array of numbers or texts."""
    array = values.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = _plain(pa.chunked_array([array.dictionary])).take(array.indices)
    if pa.types.is_decimal(array.type):
        array = array.cast(pa.float64())
    if pa.types.is_floating(array.type):
        array = pa.array(array.to_numpy(zero_copy_only=False).astype(np.float64), from_pandas=True)
    if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type):
        array = array.cast(pa.string())
    return array


def _missing(given: _Given) -> None:
    missing = np.asarray(given.values.is_null())
    given.refuse(missing, "given for every cell")


def _counts(given: _Given, protection: Protection) -> NDArray[np.int64]:
    """The true counts, all of which the table serves."""
    kind, told = given.values.type, f"a whole number from 0 to {_MOST}"
    _missing(given)
    if pa.types.is_string(kind):
        read = [_whole(text) for text in given.values.to_pylist()]
    elif pa.types.is_integer(kind):
        read = given.values.to_pylist()
    elif pa.types.is_floating(kind):
        read = [int(value) if value.is_integer() else None for value in given.values.to_pylist()]
    else:
        raise parameters.wrong_value("count", "a column of whole numbers", f"{given.name!r} of type {kind}")
    wrong = np.array([number is None or not 0 <= number <= _MOST for number in read], dtype=bool)
    given.refuse(wrong, told)
    numbers = np.array(read, dtype=np.int64)
    if isinstance(protection.table, PerturbationTable):
        most = protection.table.largest
        given.refuse(numbers > most, f"at most {most}, where the perturbation table ends")
    return numbers


def _whole(text: str) -> int | None:
    """A whole number as text, also as R writes round ones; anything else is None.

    >>> [_whole(text) for text in ("12", "12.0", "1e+05", "1.2E3", "1.000", "012", "-1", "1.25e1")]
    [12, 12, 100000, 1200, None, None, None, None]
    """
    if found := _WHOLE.fullmatch(text):
        return int(found[1])
    if (found := _ROUND.fullmatch(text)) and len(found[2] or "") <= int(found[3]):
        digits: str = found[1] + (found[2] or "")
        return int(digits.ljust(1 + int(found[3]), "0"))
    return None


def _keys(given: _Given, keysize: int) -> tuple[NDArray[np.uint64], bool]:
    """The keys, each in [0, KEYSIZE), or decimals in parts of ``UNIT``, and whether they are that."""
    kind, told = given.values.type, f"a whole number from 0 to {keysize - 1}, or a decimal in [0, 1)"
    _missing(given)
    read: list[Any] = given.values.to_pylist()
    if pa.types.is_string(kind):
        texts: list[str] = [text.strip() for text in read]
        decimal = any(map(_DECIMAL.fullmatch, texts)) and not all(map(_WHOLE.fullmatch, texts))
        read = [_decimal(text) for text in texts] if decimal else [_whole(text) for text in texts]
    elif pa.types.is_floating(kind):
        decimal = not all(value.is_integer() for value in read)
        read = read if decimal else list(map(int, read))
    elif pa.types.is_integer(kind):
        decimal = False
    else:
        raise parameters.wrong_value("cell_key", "a column of numbers", f"{given.name!r} of type {kind}")
    above = 1 if decimal else keysize
    given.refuse(np.array([key is None or not 0 <= key < above for key in read], dtype=bool), told)
    if decimal:
        read = [round(key * UNIT) % UNIT for key in read]
    return np.array(read, dtype=np.uint64), decimal


def _decimal(text: str) -> float | None:
    """A decimal with a point or a comma, or 0."""
    if not _DECIMAL.fullmatch(text) and not _WHOLE.fullmatch(text):
        return None
    return float(text.replace(",", "."))


def _check_spread(
    given: _Given, keys: NDArray[np.uint64], counts: NDArray[np.int64], protection: Protection
) -> None:
    """Refuse keys that no uniform ones can be: all small, or one key for cells that differ."""
    keysize, people = protection.table.keysize, counts > 0
    different, sizes = np.unique(keys[people]), np.unique(counts[people])
    if len(different) and ((int(different[-1]) + 1) / keysize) ** len(different) < _UNLIKELY:
        raise ValueError(
            f"cell_key must be spread over all of [0, {keysize}), or of [0, 1), which {given.name!r} is not: "
            "is this the table that the keys were made for?"
        )
    if len(different) == 1 and float(keysize) ** (1 - len(sizes)) < _UNLIKELY:
        raise ValueError(f"cell_key must differ between cells, but {given.name!r} is the same in all of them")
    empty = keys[~people]
    if not protection.keeps_empty and len(empty) > 1 and len(np.unique(empty)) == 1:
        raise ValueError(
            "cell_key must be random for empty cells too, as this noise perturbs them, but "
            f"{given.name!r} is the same in all {len(empty)} of them"
        )
