"""From keyed records to a published table: cells, their keys, their noise."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tablebuilder_dp import cellkey
from tablebuilder_dp.counts import perturbation_table as perturbation
from tablebuilder_dp.microdata import cells as counting
from tablebuilder_dp.microdata import formats, listing, records, secret, statement, words
from tablebuilder_dp.microdata.protection import Protection
from tablebuilder_dp.microdata.record_keys import KEYS
from tablebuilder_dp.support import files, parameters

AUDIT = ("true_count", "cell_key", "noise")
"""What is never published: shown on request, for the office's own checks."""

EMPTY_CELLS = "empty cells"
"""The purpose for which keys of empty cells are derived from the secret."""


@dataclass(frozen=True)
class Published:
    """A published table and what is promised about it.

    The table has the columns of ``by``, with margins ``total_over`` (the variables that a row sums over,
    whose own columns are then empty), and ``count``. ``exposed`` is for the office alone: how many cells
    have one person fewer than a total that is published too, and so may give this person away. ``inputs``
    are the files and folders that it was made from, which `write` never replaces.
    """

    table: Any
    protection: Protection
    by: tuple[str, ...]
    margins: bool
    only_positive: bool
    cells_given: bool
    categories_given: tuple[str, ...]
    key_columns: int
    audit: bool
    exposed: int
    inputs: tuple[Path, ...] = field(default=(), repr=False, compare=False)

    @cached_property
    def statement(self) -> dict[str, Any]:
        """The guarantee, as it is written beside the table: `statement.facts` and some of its words."""
        facts = statement.facts(
            self.protection,
            by=self.by,
            margins=self.margins,
            only_positive=self.only_positive,
            cells_given=self.cells_given,
            categories_given=self.categories_given,
            key_columns=self.key_columns,
            audit=self.audit,
        )
        return {
            **facts,
            "meaning": words.meaning(facts),
            "several_cells_in_words": words.several_cells(facts),
            "not_protected": words.not_protected(facts),
        }

    def write(self, path: str | Path) -> list[Path]:
        """Write the table and, beside it, the statement as JSON and in plain words.

        Returns the paths of the three files. Raises ValueError where `check_outputs` does, and OSError where
        one cannot be written.
        """
        kind, (target, *beside) = check_outputs(path, *self.inputs)
        facts = {"table": target.name, **self.statement}
        as_json = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
        new: dict[str, Any] = {"mode": 0o600 if self.audit else 0o644, "inputs": self.inputs}
        with ExitStack() as opened:  # all are written before the first takes its name; the table is the last
            temporary = opened.enter_context(files.whole(target, **new))
            with formats.sink(temporary, kind, self.table.schema) as sink:
                sink.write_table(self.table)
            for name, text in zip(beside, (as_json, words.words(facts)), strict=True):
                opened.enter_context(files.whole(name, **new)).write_text(text, encoding="utf-8")
        return [target, *beside]


def check_outputs(path: str | Path, *inputs: Any) -> tuple[str, list[Path]]:
    """The kind of a table that can be written, and its file with those of the statement beside it.

    Raises ValueError for a place that `files.check` refuses.
    """
    kind, table = formats.check_output(path, *inputs), Path(path)
    beside = [table.with_name(f"{table.name}.statement.{end}") for end in ("json", "txt")]
    for file in beside:
        files.check(file, files.inputs(*inputs), name="the statement beside output")
    return kind, [table, *beside]


def perturb(
    source: Any,
    *,
    by: Sequence[str],
    protection: Protection,
    margins: bool = False,
    only_positive: bool = False,
    categories: Mapping[str, Sequence[Any]] | None = None,
    cells: Any = None,
    record_keys: Sequence[str] = KEYS,
    secret_file: str | Path | None = None,
    audit: bool = False,
    spark: Any = None,
    memory: str | None = None,
) -> Published:
    """Count the records by some columns and perturb each count.

    ``source`` is a file, a folder of Parquet files or a table in memory (see `records.opened`).
    ``record_keys`` are the columns of the four components of the record keys; a single column is taken
    as other software does, summed modulo KEYSIZE. All combinations of the categories are listed, unless
    ``only_positive`` leaves out what is published as 0. ``categories`` may give a variable's categories;
    ``cells``, a file or table with the columns of ``by``, lists the cells that can have people in them
    (districts in their regions, say), and no others are published. If the protection perturbs empty
    cells, each has a key from the secret and its description.

    Returns the table and what is promised about it; `Published.write` writes them. Raises ValueError for
    records, keys or cells that cannot be read or do not fit each other, a count that the table does not
    serve, or a missing secret, and OSError for a file that cannot be opened.
    """
    if not isinstance(protection, Protection):
        raise parameters.wrong_type("protection", "what design or from_table gives", protection)
    table, names = protection.table, list(record_keys)
    if len(names) not in (1, 4) or len(set(names)) < len(names):
        raise parameters.wrong_value("record_keys", "four different columns, or one", record_keys)
    if not isinstance(by, list | tuple) or not all(isinstance(name, str) for name in by):
        raise parameters.wrong_type("by", "a list of names of columns", by)
    reserved = ["count", *(["total_over"] if margins else []), *(AUDIT if audit else []), *names]
    if clash := sorted(set(by) & set(reserved)):
        raise parameters.wrong_value("by", f"without the names {', '.join(reserved)}", clash[0])
    inputs = files.inputs(source, cells, secret_file, protection.file)
    listed = None if cells is None else listing.read(cells, by, memory=memory)
    lists = dict(categories or {})
    if listed is not None:
        if lists:
            raise parameters.wrong_value("categories", "left out where cells are listed", sorted(lists))
        lists = {name: pc.unique(listed[name]) for name in by}
    with records.opened(source, spark=spark, memory=memory) as opened:
        counted = counting.count(
            opened,
            by=by,
            keys=names,
            keysize=table.keysize,
            margins=margins,
            categories=lists,
        )
    perturbs_empty = not protection.keeps_empty
    if only_positive and not perturbs_empty and listed is None:
        counted = listing.sorted_cells(counted)
    else:
        counted = listing.complete(counted, listed)
    keys = _cell_keys(counted.sums, table.keysize)
    empty = counted.counts == 0
    if perturbs_empty and empty.any():
        keys[empty] = _keys_of_empty_cells(counted, empty, table.keysize, secret_file)
    if above := int((counted.counts > table.largest).sum()):
        raise ValueError(
            f"protection must serve every count, but its table ends at {table.largest}, which {above} of the "
            "cells exceed"
        )
    noise = perturbation.sample(table, counted.counts, keys)
    published = counted.counts + noise
    columns = _category_columns(counted)
    columns["count"] = pa.array(published)
    if audit:
        columns |= dict(zip(AUDIT, map(pa.array, (counted.counts, keys, noise)), strict=True))
    made = pa.table(columns)
    if only_positive:
        made = made.filter(pa.array(published > 0))
    return Published(
        table=made,
        protection=protection,
        by=tuple(by),
        margins=margins,
        only_positive=only_positive,
        cells_given=listed is not None,
        categories_given=tuple(sorted(lists)),
        key_columns=len(names),
        audit=audit,
        exposed=listing.exposed(counted) if margins else 0,
        inputs=inputs,
    )


def _cell_keys(sums: NDArray[np.uint64], keysize: int) -> NDArray[np.uint64]:
    if sums.shape[1] == 1:
        return sums[:, 0] % np.uint64(keysize)
    return cellkey.from_sums(sums, keysize=keysize)


def _keys_of_empty_cells(
    counted: counting.Cells, empty: NDArray[np.bool_], keysize: int, secret_file: str | Path | None
) -> NDArray[np.uint64]:
    if secret_file is None:
        raise ValueError(
            "secret_file must be given, as this noise perturbs empty cells too, with keys from the secret"
        )
    hashed = secret.hashes(secret.read(secret_file), EMPTY_CELLS, listing.descriptions(counted, empty))
    return hashed[:, 0].astype(np.uint64) * np.uint64(keysize) >> np.uint64(cellkey.BITS)


def _category_columns(counted: counting.Cells) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    totals = counted.places == [len(known) for known in counted.categories]
    for place, (name, known) in enumerate(zip(counted.by, counted.categories, strict=True)):
        columns[name] = known.take(pa.array(counted.places[:, place], mask=totals[:, place]))
    if counted.margins:
        bits = 1 << np.arange(len(counted.by))
        names = [
            _joined([name for name, bit in zip(counted.by, bits, strict=True) if bit & mask])
            for mask in range(2 * bits[-1])
        ]
        columns["total_over"] = pa.array(names, pa.string()).take(pa.array(totals @ bits))
    return columns


def _joined(names: list[str]) -> str:
    """Names with commas between them; one that has a comma or a quote is quoted as in JSON."""
    return ", ".join(json.dumps(name) if set(name) & set(',"') or not name else name for name in names)
