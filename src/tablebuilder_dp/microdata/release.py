"""A release: tables that are published together, under one edition and one (ε, δ), year after year.

`Release.from_toml` reads what an office writes down. `Release.plan` counts how many counts one person changes
in all tables together (a partition that two tables share is counted once, a hierarchy by its paths), designs
the noise for it and says what it costs, without reading a record. `Release.publish` counts all tables in one
pass, enters them in the office's journal and then lets them appear, all or none. `Release.history` is the
account of all editions.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tqdm import tqdm

from tablebuilder_dp.beyond import many_cells
from tablebuilder_dp.beyond.many_cells import FAMILIES, Choice
from tablebuilder_dp.microdata import (
    account,
    cell_keys,
    formats,
    forms,
    listing,
    publish,
    release_file,
    results,
    sources,
    statement,
    words,
)
from tablebuilder_dp.microdata import cells as counting
from tablebuilder_dp.microdata.account import Account, Budget, Entry
from tablebuilder_dp.microdata.forms import Form
from tablebuilder_dp.microdata.journal import Journal, beside
from tablebuilder_dp.microdata.layout import NEIGHBOURS, Layout, neighbour
from tablebuilder_dp.microdata.plan import Plan
from tablebuilder_dp.microdata.protection import SMALL_COUNTS, Protection, of_choice
from tablebuilder_dp.microdata.records import opened
from tablebuilder_dp.microdata.release_file import STATEMENT, Table, Variable
from tablebuilder_dp.microdata.secret import Secret
from tablebuilder_dp.microdata.secret import read as read_secret
from tablebuilder_dp.microdata.sources import Csv
from tablebuilder_dp.support import files, parameters

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True)
class Release:
    """Tables under one edition and one (ε, δ), with the lists of their categories.

    ``folder`` is where the tables appear; ``journal`` is beside the ``secret`` if it is not given. ``inputs``
    are files that were read already, which nothing may replace.
    """

    edition: str
    epsilon: Fraction
    delta: Fraction
    tables: tuple[Table, ...]
    variables: tuple[Variable, ...]
    neighbours: str = NEIGHBOURS[0]
    noise: str = FAMILIES[0]
    small_counts: str = SMALL_COUNTS[0]
    budget: Budget | None = None
    records: Path | Csv | None = None
    secret: Path | None = None
    journal: Path | None = None
    folder: Path | None = None
    form: Form = forms.USUAL
    inputs: tuple[Path, ...] = field(default=(), repr=False)

    @classmethod
    def from_toml(cls, path: str | Path) -> Release:
        """Read a release from a file; the files that it names lie beside it.

        Raises ValueError for what is missing, unknown or wrong in it, and OSError for a file that cannot be
        opened.
        """
        return cls(**release_file.read(path))

    def __post_init__(self) -> None:
        publish.check_edition(self.edition)
        neighbour(self.neighbours)
        parameters.one_of(self.noise, "noise", FAMILIES)
        parameters.one_of(self.small_counts, "small_counts", SMALL_COUNTS[:2])
        for name in ("records", "secret", "journal", "folder"):
            if (given := getattr(self, name)) is not None and not isinstance(given, Csv):
                object.__setattr__(self, name, Path(given))
        for name in ("name", "output"):
            values = [getattr(table, name) for table in self.tables]
            if len({value.casefold() for value in values}) < len(values):
                raise parameters.wrong_value("table", f"of different {name}s", values)
        if (
            len(columns := {name for table in self.tables for name in table.layout.by})
            > counting.VARIABLES_MAX
        ):
            allowed = f"of at most {counting.VARIABLES_MAX} columns in all"
            raise parameters.wrong_value("table", allowed, len(columns))
        for table in self.tables:
            lists, _ = self.lists(table.layout)
            self.form.check(table.layout, lists)
            if table.crosstab is not None:
                forms.check_crosstab(table.crosstab, table.layout, lists, self.form)

    def lists(self, layout: Layout) -> tuple[dict[str, Any], dict[str, Any]]:
        """The categories of each column of a table, and the paths of its hierarchies (`listing`)."""
        given = {}
        for variable in self.variables:
            depth = sum(column in layout.by for column in variable.columns)
            if depth:
                given[variable.columns[depth - 1]] = variable.listed(depth)
        return listing.without_paths(layout, given)

    def sizes(self, table: Table) -> dict[tuple[str, ...], int]:
        """The partitions of a table, by their columns in the order of names, and how many cells each has."""
        by = table.layout.by
        parts = (tuple(sorted(by[place] for place in part)) for part in table.layout.partitions)
        return dict(zip(parts, listing.sizes(table.layout, *self.lists(table.layout)), strict=True))

    def cells(self, table: Table) -> int:
        """How many cells a table has in its file."""
        return sum(listing.sizes(table.layout, *self.lists(table.layout), published=True))

    @cached_property
    def partitions(self) -> dict[tuple[str, ...], int]:
        """The partitions of all tables, each once, by their columns, and how many cells each has."""
        return {by: size for table in self.tables for by, size in self.sizes(table).items()}

    @property
    def cells_changed(self) -> int:
        """The most counts of all tables in which two neighbouring sets of records differ (Theorem 58)."""
        cells = self.partitions.values()
        if self.neighbours == "add-or-remove":
            return len(cells)
        return max(1, 2 * sum(count > 1 for count in cells))

    def plan(self) -> Plan:
        """What the release needs and gives, without looking at a record.

        Raises ValueError for what no noise keeps, and for what the journal, where there is one, would refuse;
        ArithmeticError where an enclosure does not decide.
        """
        chosen = many_cells.best(self.epsilon, self.delta, cells=self.cells_changed, family=self.noise)
        if self.secret is not None and (self.journal or beside(self.secret)).exists():
            self._journal().check(self._entry(self._protection(chosen)))
        return Plan(self, chosen)

    def _protection(self, chosen: Choice) -> Protection:
        return of_choice(chosen, self.delta, cells=self.cells_changed, small_counts=self.small_counts)

    def _entry(self, protection: Protection) -> Entry:
        """What the journal says of the release before its records are read."""
        return account.entry(
            protection,
            self.partitions.items(),
            edition=self.edition,
            neighbours=self.neighbours,
            budget=self.budget,
        )

    def history(self) -> Account:
        """The account of all editions in the journal.

        Raises ValueError for a journal that is not as it was written, and OSError where it cannot be read.
        """
        found = Account(tuple(self._journal().entries()), self.neighbours)
        return replace(found, neighbours=found.budget.neighbours) if found.budget else found

    def _journal(self) -> Journal:
        if self.secret is None:
            raise ValueError("release must have 'secret', the file that tablebuilder-dp secret writes")
        hidden = read_secret(self.secret)
        return Journal((self.journal or beside(self.secret)).absolute(), hidden)

    def publish(
        self, records: Any = None, *, spark: Any = None, memory: str | None = None
    ) -> PublishedRelease:
        """Count the records, perturb all tables and write them to the release's folder with one statement.

        ``records`` takes the place of the file that the release names: a path or a table in memory. The
        budget and the folder are checked before anything is read. The journal has its entry before the folder
        appears, which happens with all files at once; a folder that is there must have the same content.

        Returns what was published. Raises ValueError for what is missing or does not fit, an edition that has
        tables from other records, or a budget that would be exceeded, and OSError where a file cannot be read
        or written.
        """
        source = self.records if records is None else records
        if source is None:
            raise ValueError("release must have 'records', a file with one row a person")
        if self.folder is None:
            raise ValueError("release must have 'folder', where its tables are to appear")
        book = self._journal()
        inputs = files.inputs(sources.origin(source), self.secret, book.path, *self.inputs)
        if self.folder.absolute() == book.path:
            raise parameters.wrong_value("folder", "other than the journal", str(self.folder))
        names = [*(table.output for table in self.tables), *STATEMENT]
        files.check_folder(self.folder, names, inputs, name="folder")
        for table in self.tables:
            publish.check_names(table.layout, self.form.columns)
        protection = self._protection(self.plan().choice)
        entry = self._entry(protection)
        book.check(entry)
        made, digest = self._made(source, protection, book.secret, spark=spark, memory=memory)
        entry = replace(entry, input=book.digest(digest))
        book.check(entry)
        with files.whole_folder(self.folder) as temporary:
            rows = [
                self._written(table, content, temporary)
                for table, content in zip(self.tables, made, strict=True)
            ]
            before = [*book.entries(), entry]
            facts = self._state(temporary, protection, rows, _up_to(before, entry))
            files.settle(temporary, self.folder)
            after = book.enter(entry)
            if _up_to(after, entry) != _up_to(before, entry):  # somebody else has published meanwhile
                facts = self._state(temporary, protection, rows, _up_to(after, entry))
                files.settle(temporary, self.folder)
        named = {table.name: content for table, content in zip(self.tables, made, strict=True)}
        return PublishedRelease(self.folder, named, facts)

    def _made(
        self, source: Any, protection: Protection, hidden: Secret, *, spark: Any, memory: str | None
    ) -> tuple[list[Any], bytes]:
        """The perturbed tables, and the digest of the input that their keys were made from."""
        lists = [self.lists(table.layout) for table in self.tables]
        categories = {name: listed for each, _ in lists for name, listed in each.items()}
        layouts = [table.layout for table in self.tables]
        if not sources.is_place(source):
            source = sources.arrow_table(source)
        with (
            opened(source, spark=spark, memory=memory) as read,
            cell_keys.input_digest(hidden, source) as taken,
        ):
            counted = counting.count(read, layouts, categories=categories)
            for place, (_, paths) in enumerate(lists):
                listing.check_paths(counted[place], paths)
                once = listing.without_repeats(counted[place], paths)
                counted[place] = listing.complete(once, paths=paths)
            digest = taken.result()
        made = []
        told = tqdm(counted, "noise", unit=" tables", leave=False, disable=not sys.stderr.isatty())
        for table, cells in zip(self.tables, told, strict=True):
            keys = publish.keys_of("cells", cells, protection, hidden, edition=self.edition, digest=digest)
            content = forms.suppressed(publish.perturbed(cells, keys, protection), self.form)
            found = dict(zip(cells.layout.by, cells.categories, strict=True))
            self.form.check(cells.layout, found)
            if table.crosstab is None:
                made.append(forms.labelled(content, cells.layout, self.form))
            else:
                made.append(forms.crosstab(content, cells.layout, found, table.crosstab, self.form))
        return made, digest

    def _written(self, table: Table, content: Any, folder: Path) -> dict[str, Any]:
        """Write a table.

        Returns what the statement says of it.
        """
        file = folder / table.output
        formats.write(content, file)
        return {
            "name": table.name,
            "file": table.output,
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            "by": list(table.layout.by),
            "margins": table.layout.margins,
            "nested": [list(names) for names in table.layout.nested],
            "partitions": len(table.layout.partitions),
            "cells": self.cells(table),
            "crosstab": table.crosstab,
        }

    def _state(
        self, folder: Path, protection: Protection, rows: list[dict[str, Any]], entries: list[Entry]
    ) -> dict[str, Any]:
        """Write the statement, as JSON and in plain words."""
        facts = statement.of_release(
            protection,
            rows,
            edition=self.edition,
            neighbours=self.neighbours,
            cells_changed=self.cells_changed,
            history=Account(tuple(entries), self.neighbours),
            form=self.form,
        )
        facts["secret_fingerprint"] = self._journal().secret.fingerprint
        facts |= words.in_words(facts)
        as_json = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
        for name, text in zip(STATEMENT, (as_json, words.words(facts)), strict=True):
            (folder / name).write_text(text, encoding="utf-8")
        return facts


@dataclass(frozen=True, repr=False)
class PublishedRelease:
    """The tables of a release by their names, as they stand in its folder, and what is promised of them."""

    folder: Path
    tables: dict[str, pa.Table]
    statement: dict[str, Any]

    @property
    def text(self) -> str:
        """The statement as people read it."""
        return words.words(self.statement)

    @property
    def files(self) -> list[Path]:
        """What was written."""
        return [
            self.folder / name for name in (*(row["file"] for row in self.statement["tables"]), *STATEMENT)
        ]

    def to_pandas(self) -> dict[str, pd.DataFrame]:
        """The tables by their names, for pandas.

        Raises ImportError where pandas is not installed.
        """
        return {name: results.to_pandas(table) for name, table in self.tables.items()}

    def to_polars(self) -> dict[str, pl.DataFrame]:
        """The tables by their names, for Polars.

        Raises ImportError where Polars is not installed.
        """
        return {name: results.to_polars(table) for name, table in self.tables.items()}

    def __repr__(self) -> str:
        tables = f"{len(self.tables)} table{'' if len(self.tables) == 1 else 's'}"
        short = words.in_short(self.statement)
        return f"<PublishedRelease: {tables} in {str(self.folder)!r}. {short}>"

    def _repr_html_(self) -> str:
        """How a notebook shows it: the first rows of the tables and the promise."""
        return results.html(self.tables, self.statement)


def _up_to(entries: list[Entry], entry: Entry) -> list[Entry]:
    """The entries up to the first one of a publication: later ones do not change its statement."""
    return entries[: entries.index(entry) + 1]
