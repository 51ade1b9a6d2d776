"""From records to a published table: cells, their keys, their noise."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tablebuilder_dp.beyond.promise import CELLS_MAX
from tablebuilder_dp.cellkey import BITS
from tablebuilder_dp.microdata import (
    account,
    cell_keys,
    formats,
    forms,
    listing,
    records,
    results,
    secret,
    sources,
    statement,
    words,
)
from tablebuilder_dp.microdata import cells as counting
from tablebuilder_dp.microdata.account import Entry
from tablebuilder_dp.microdata.forms import Form
from tablebuilder_dp.microdata.journal import Journal, beside
from tablebuilder_dp.microdata.layout import NEIGHBOURS, Layout, neighbour
from tablebuilder_dp.microdata.protection import Protection
from tablebuilder_dp.microdata.record_keys import FINGERPRINT, KEYS
from tablebuilder_dp.support import files, parameters

_UNIQUE = 20  # so many categories, or fewer, name nobody
AUDIT = ("true_count", "cell_key", "noise")
"""What is never published: shown on request, for the office's own checks."""


@dataclass(frozen=True, repr=False)
class Published(results.Result):
    """A published table and what is promised about it.

    The table has the columns of ``by``, with margins ``total_over`` (the variables that a row sums over,
    whose own columns are then empty), and ``count``; if small counts are left out, also ``suppressed``.
    `labelled` is the same with labels for totals and missing categories, and `crosstab` has the categories of
    a variable as columns, which `write` writes if the variable is ``across``.

    ``exposed`` is for the office alone: how many cells have one person fewer than a total that is published
    too, and so may give this person away. ``inputs`` are the files and folders that it was made from, which
    `write` never replaces.

    `write` enters it in the ``journal`` first. Whoever publishes it in another way must call `record` before.
    """

    table: pa.Table
    protection: Protection
    layout: Layout
    keys: str
    edition: str | None
    neighbours: str
    cells_changed: int
    only_positive: bool
    cells_given: bool
    categories_given: tuple[str, ...]
    key_columns: int
    audit: bool
    exposed: int
    form: Form = forms.USUAL
    across: str | None = None
    categories: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    inputs: tuple[Path, ...] = field(default=(), repr=False, compare=False)
    journal: Journal | None = field(default=None, repr=False, compare=False)
    entry: Entry | None = field(default=None, repr=False, compare=False)

    @cached_property
    def statement(self) -> dict[str, Any]:
        """The guarantee, as it is written beside the table: `statement.facts` and some of its words."""
        facts = statement.facts(
            self.protection,
            self.layout,
            keys=self.keys,
            edition=self.edition,
            neighbours=self.neighbours,
            cells_changed=self.cells_changed,
            only_positive=self.only_positive,
            cells_given=self.cells_given,
            categories_given=self.categories_given,
            key_columns=self.key_columns,
            audit=self.audit,
            form=self.form,
            crosstab=self.across,
        )
        if self.journal is not None:
            facts["secret_fingerprint"] = self.journal.secret.fingerprint
        return {**facts, **words.in_words(facts)}

    @cached_property
    def labelled(self) -> pa.Table:
        """The table with labels for totals and missing categories, an Arrow table, a row a cell."""
        return forms.labelled(self.table, self.layout, self.form)

    def crosstab(self, column: str) -> pa.Table:
        """The table with a column of counts for each category of one of its variables.

        Returns an Arrow table. Raises ValueError for a column that is none of the variables, categories that
        are called like another column, or a table with an audit, whose columns would be lost.
        """
        _check_across(column, self.audit)
        return forms.crosstab(self.table, self.layout, self.categories, column, self.form)

    @property
    def shown(self) -> pa.Table:
        """The table as files and other libraries have it: labelled, or as the crosstab that was asked for."""
        return self.labelled if self.across is None else self.crosstab(self.across)

    def record(self) -> None:
        """Enter the table in the journal of the secret; without a secret there is none.

        Raises ValueError for an edition that has tables from other records, or a budget that would be
        exceeded, and OSError where the journal cannot be written.
        """
        if self.journal is not None and self.entry is not None:
            self.journal.enter(self.entry)

    def write(self, path: str | Path) -> list[Path]:
        """Write the table and, beside it, the statement as JSON and in plain words.

        The journal has its entry before any of them appears.

        Returns the paths of the three files. Raises ValueError where `check_outputs` or `record` does, and
        OSError where one cannot be written.
        """
        return write_beside(
            path, self.shown, self.statement, audit=self.audit, inputs=self.inputs, before=self.record
        )


def write_beside(
    path: str | Path,
    table: pa.Table,
    facts: Mapping[str, Any],
    *,
    audit: bool,
    inputs: Sequence[Path],
    before: Callable[[], None] = lambda: None,
) -> list[Path]:
    """Write a table and its statement; an ``audit`` is closed to others.

    ``before`` is called when all is written, before any of the files takes its name.

    Returns the paths of the three files. Raises ValueError where `check_outputs` or ``before`` does, and
    OSError where one cannot be written.
    """
    kind, (target, *beside) = check_outputs(path, *inputs)
    _check_statement(beside[0], facts)
    told = {"table": target.name, **facts}
    as_json = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
    new: dict[str, Any] = {"mode": 0o600 if audit else 0o644, "inputs": tuple(inputs)}
    with ExitStack() as opened:  # all are written before the first takes its name; the table is the last
        temporary = opened.enter_context(files.whole(target, **new))
        with formats.sink(temporary, kind, table.schema) as sink:
            sink.write_table(table)
        for name, text in zip(beside, (as_json, words.words(told)), strict=True):
            opened.enter_context(files.whole(name, **new)).write_text(text, encoding="utf-8")
        before()
    return [target, *beside]


def _check_statement(file: Path, facts: Mapping[str, Any]) -> None:
    """Refuse to replace a table of the same edition whose noise came from another secret."""
    names = ("edition", "secret_fingerprint")
    try:
        before = json.loads(file.read_text(encoding="utf-8"))
        known = [before[name] for name in names]
    except (OSError, ValueError, LookupError, TypeError):
        return  # there is none, or it is of something else
    edition, made_by = (facts.get(name) for name in names)
    if known[0] == edition and made_by is not None and known[1] != made_by:
        raise ValueError(
            f"secret_file must be the secret of the statement {str(file)!r}, which has this edition, but it "
            "is another: one edition has one noise"
        )


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
    nested: Sequence[Sequence[str]] = (),
    keys: str | None = None,
    edition: str | None = None,
    secret_file: str | Path | None = None,
    neighbours: str = NEIGHBOURS[0],
    categories: Mapping[str, Sequence[Any]] | None = None,
    categories_from_data: bool = False,
    cells: Any = None,
    only_positive: bool = False,
    record_keys: Sequence[str] | None = None,
    audit: bool = False,
    total_label: str = forms.TOTAL,
    missing_label: str = forms.MISSING,
    suppress_below: int | None = None,
    crosstab: str | None = None,
    journal: str | Path | None = None,
    spark: Any = None,
    memory: str | None = None,
) -> Published:
    """Count the records by some columns and perturb each count.

    ``source`` is a file, a folder of Parquet files or a table in memory (see `records.opened`). ``nested``
    has hierarchies of columns, coarse to fine. All combinations of the categories are listed, unless
    ``only_positive`` leaves out what is published as 0 or less. ``categories`` gives the categories of each
    variable, of a hierarchy the paths of its finest one; ``cells``, a file or table with the columns of
    ``by``, lists the cells that can have people in them, and no others are published.

    ``keys`` is one of `cell_keys.KINDS`: "cells" for a design, "sums" for a table from elsewhere, if nothing
    else is asked for. Keys of cells and of records need ``edition`` and ``secret_file``; keys of cells also
    need lists of all categories. With ``categories_from_data`` missing lists are taken from the records, and
    nothing is promised without conditions. ``neighbours`` is one of `layout.NEIGHBOURS`, what is to be
    hidden: whether a record is there, or which values it has. Keys of records and sums need ``record_keys``,
    the columns of the four components of the record keys, or for sums a single column, taken as other
    software does. ``journal`` is a file, by default beside the secret.

    ``total_label`` and ``missing_label`` are what files have in place of a category that is summed over or
    missing; no category may be called so. What would be published below ``suppress_below`` is left out and
    marked in a column ``suppressed``. With ``crosstab``, a variable, files have a column of counts for each
    of its categories.

    Returns the table and what is promised about it; `Published.write` writes them. Raises ValueError for
    records, keys or cells that cannot be read or do not fit each other, a count that the table does not
    serve, a missing secret or list, or a budget of the journal that would be exceeded, and OSError for a file
    that cannot be opened.
    """
    if not isinstance(protection, Protection):
        raise parameters.wrong_type("protection", "what design or from_table gives", protection)
    layout, form = Layout(by, margins, nested), Form(total_label, missing_label, suppress_below)
    chosen = _kind(keys, protection)
    names = _record_keys(chosen, record_keys)
    hidden = _secret(chosen, edition, secret_file)
    if len(names) > 1:
        protection = protection.for_bits
    if hidden is None and not protection.keeps_empty:
        raise ValueError(
            "secret_file must be given, as this noise perturbs empty cells too, with keys from the secret"
        )
    if hidden is None and journal is not None:
        raise parameters.wrong_value("journal", "left out where there is no secret", str(journal))
    check_names(layout, [*form.columns, *(AUDIT if audit else []), *names])
    book = None if hidden is None else Journal(Path(journal or beside(secret_file or "")).absolute(), hidden)
    inputs = files.inputs(
        sources.origin(source), sources.origin(cells), secret_file, protection.file, book and book.path
    )
    listed = None if cells is None else listing.read(cells, layout.by, memory=memory)
    lists, paths = listing.without_paths(layout, categories or {})
    if listed is not None:
        if lists:
            raise parameters.wrong_value("categories", "left out where cells are listed", sorted(lists))
        lists = {name: pc.unique(listed[name]) for name in layout.by}
        paths = listing.paths_of(layout, listed)
    form.check(layout, lists)
    if crosstab is not None:
        _check_across(crosstab, audit)
        forms.check_crosstab(crosstab, layout, lists, form)
    if (
        chosen == "cells"
        and not categories_from_data
        and (missing := [n for n in layout.by if n not in lists])
    ):
        raise ValueError(
            f"categories must list those of {', '.join(missing)}, as no promise holds for lists that come "
            "from the records; to do without a promise, take categories from the data"
        )
    changed = layout.cells_changed(neighbours, categories=lists)
    if chosen == "cells" and changed > CELLS_MAX:
        allowed = f"variables of which one person changes at most {CELLS_MAX} counts"
        raise parameters.wrong_value("by", allowed, changed)
    if protection.cells is not None and protection.cells < changed:
        allowed = f"for at least {changed} cells, which one person can change in this table"
        raise parameters.wrong_value("protection", f"designed {allowed}", protection.cells)
    parts = zip(layout.partitions, listing.sizes(layout, lists, paths), strict=True)
    entry = account.entry(
        protection,
        (([layout.by[place] for place in part], size) for part, size in parts),
        edition=edition,
        neighbours=neighbour(neighbours),
        why=_why_nothing(chosen, protection, listed is None and set(layout.by) - set(lists)),
    )
    if book is not None:
        book.check(entry)
    if not sources.is_place(source):
        source = sources.arrow_table(source)  # once, as a stream can be read only once
    with ExitStack() as reading:
        opened = reading.enter_context(records.opened(source, spark=spark, memory=memory))
        if names and hidden is not None:
            _check_secret(opened, hidden)
        digest = None
        if chosen == "cells" and hidden is not None:
            digest = reading.enter_context(cell_keys.input_digest(hidden, source))
        keysize = protection.table.keysize if chosen == "sums" else 2**BITS
        known = {name: listed for name, listed in sources.levels(source).items() if name in layout.by}
        (counted,) = counting.count(opened, [layout], keys=names, keysize=keysize, categories=known | lists)
        found = dict(zip(layout.by, counted.categories, strict=True))
        form.check(layout, found)
        if crosstab is not None:
            forms.check_crosstab(crosstab, layout, found, form)
        listing.check_paths(counted, paths)
        counted = listing.without_repeats(counted, paths)
        if only_positive and protection.keeps_empty and listed is None:
            counted = listing.sorted_cells(counted)
        else:
            counted = listing.complete(counted, listed, paths)
        made_from = digest.result() if digest else b""
    if counted.decimals:
        protection = protection.for_decimals
        entry = replace(entry, weights=protection.digest)
    _warn_of_names(counted, set(layout.by) - set(lists))
    values = keys_of(chosen, counted, protection, hidden, edition=edition or "", digest=made_from)
    made = perturbed(counted, values, protection, only_positive=only_positive, audit=audit)
    if book is not None and made_from:
        entry = replace(entry, input=book.digest(made_from))
    return Published(
        table=forms.suppressed(made, form),
        protection=protection,
        layout=layout,
        keys=chosen,
        edition=edition,
        neighbours=neighbours,
        cells_changed=changed,
        only_positive=only_positive,
        cells_given=listed is not None,
        categories_given=tuple(sorted(set(lists) & set(layout.by))),
        key_columns=len(names),
        audit=audit,
        exposed=listing.exposed(counted) if margins and chosen != "cells" else 0,
        form=form,
        across=crosstab,
        categories=found,
        inputs=inputs,
        journal=book,
        entry=entry,
    )


def _check_across(column: str, audit: bool) -> None:
    if audit:
        raise parameters.wrong_value("crosstab", "left out with an audit, which has a row a cell", column)


def _warn_of_names(counted: counting.Cells, from_data: set[str]) -> None:
    """Warn of a variable that has nearly as many categories as there are people: it may name them."""
    people = int(counted.counts.max(initial=0)) if counted.layout.margins else int(counted.counts.sum())
    for name, known in zip(counted.layout.by, counted.categories, strict=True):
        if name in from_data and len(known) > max(_UNIQUE, people // 3):
            warnings.warn(
                f"inside the office: {name!r} has {len(known)} categories for {people} people, so the table "
                "may be a list of names or numbers of single people",
                stacklevel=3,
            )


def check_names(layout: Layout, others: Sequence[str] = ()) -> None:
    """Refuse variables that are called like another column of the published table.

    Raises ValueError for the first of them.
    """
    reserved = ["count", *(["total_over"] if layout.margins else []), *others]
    if clash := sorted(set(layout.by) & set(reserved)):
        raise parameters.wrong_value("by", f"without the names {', '.join(reserved)}", clash[0])


def perturbed(
    counted: counting.Cells,
    keys: NDArray[np.uint64],
    protection: Protection,
    *,
    only_positive: bool = False,
    audit: bool = False,
) -> pa.Table:
    """What is published of some cells by their keys, as an Arrow table.

    Raises ValueError for a count that the protection does not serve.
    """
    published = protection.published(counted.counts, keys)
    columns = _category_columns(counted)
    columns["count"] = pa.array(published)
    if audit:
        shown = (counted.counts, _shown(counted, keys, protection), published - counted.counts)
        columns |= dict(zip(AUDIT, map(pa.array, shown), strict=True))
    made = pa.table(columns)
    return made.filter(pa.array(published > 0)) if only_positive else made


def _shown(counted: counting.Cells, keys: NDArray[np.uint64], protection: Protection) -> NDArray[Any]:
    """The keys as an audit has them: decimals where the records' keys are, which `given.apply` reads back."""
    if not counted.decimals:
        return keys
    keysize = protection.table.keysize
    drawn = [-(-key * counting.UNIT // keysize) for key in keys.tolist()]  # of empty cells, from the secret
    return np.where(counted.counts > 0, counted.sums[:, 0], np.array(drawn, dtype=np.uint64)) / counting.UNIT


def _why_nothing(keys: str, protection: Protection, unlisted: Any) -> str:
    """Why nothing is promised about several cells of a table, as the account says it; else nothing."""
    if keys != "cells":
        return (
            f"With keys of {keys}, one published count is promised an epsilon and a delta, several are not."
        )
    if unlisted:
        return "Categories that were taken from the records have no epsilon and delta."
    if protection.small_counts == "rows":
        return "Rows of their own for small counts are not part of an account."
    return ""


def _kind(keys: str | None, protection: Protection) -> str:
    """The kind of keys, which must fit the protection."""
    chosen = cell_keys.kind(("sums" if protection.noise is None else "cells") if keys is None else keys)
    if chosen == "cells" and protection.noise is None:
        raise parameters.wrong_value("keys", "records or sums for a table from elsewhere", chosen)
    if chosen != "cells" and protection.cells is not None:
        raise parameters.wrong_value("keys", "cells for a promise about a whole table", chosen)
    return chosen


def _record_keys(kind: str, names: Sequence[str] | None) -> list[str]:
    """The columns of record keys: none for keys of cells, four for keys of records, four or one for sums."""
    if kind == "cells":
        if names is not None:
            raise parameters.wrong_value("record_keys", "left out for keys of cells, which need none", names)
        return []
    columns = list(KEYS if names is None else names)
    if len(columns) not in ((4,) if kind == "records" else (1, 4)) or len(set(columns)) < len(columns):
        allowed = "four different columns" + (", or one" if kind == "sums" else "")
        raise parameters.wrong_value("record_keys", allowed, names)
    return columns


def check_edition(edition: Any) -> None:
    """Refuse what would not be a name in a statement.

    Raises TypeError for what is no text, and ValueError for one that cannot be printed on a line.
    """
    if not isinstance(edition, str):
        raise parameters.wrong_type("edition", "a text such as '2026'", edition)
    if not edition or not edition.isprintable():
        raise parameters.wrong_value("edition", "a text that can be printed on one line", edition)


def _secret(kind: str, edition: str | None, file: str | Path | None) -> secret.Secret | None:
    """The secret, which must be there with an edition, but for sums."""
    if kind == "sums":
        if edition is not None:
            raise parameters.wrong_value("edition", "left out for keys that are sums", edition)
    else:
        for name, value in (("edition", edition), ("secret_file", file)):
            if value is None or value == "":
                raise ValueError(f"{name} must be given for keys of {kind}")
        check_edition(edition)
    return None if file is None else secret.read(file)


def _check_secret(opened: records.Records, hidden: secret.Secret) -> None:
    """Refuse another secret than the one that made the record keys, where the records name it."""
    marks = [field.alias for field in opened.columns if field.name == FINGERPRINT]
    for alias in marks:
        made_by = opened.query(f"SELECT DISTINCT {alias} AS mark FROM {opened.view} LIMIT 2")  # noqa: S608
        if {*made_by["mark"].to_pylist()} - {hidden.fingerprint}:
            raise ValueError("secret_file must be the secret that made the record keys, but it is another")


def keys_of(
    kind: str,
    counted: counting.Cells,
    protection: Protection,
    hidden: secret.Secret | None,
    *,
    edition: str,
    digest: bytes,
) -> NDArray[np.uint64]:
    """The keys of cells, of one of `cell_keys.KINDS`.

    For sums the secret may be missing where empty cells get no noise.
    """
    keysize, weights = protection.table.keysize, bytes.fromhex(protection.digest)
    if kind == "sums":
        if counted.decimals:
            keys = cell_keys.of_decimals(counted.sums[:, 0], keysize)
        else:
            keys = cell_keys.of_sums(counted.sums, keysize)
        empty = counted.counts == 0
        if not protection.keeps_empty and hidden is not None:
            keys[empty] = cell_keys.of_empty_cells(hidden, listing.descriptions(counted, empty), keysize)
        return keys
    assert hidden is not None  # noqa: S101 (for mypy: `_secret` refused)
    described = listing.descriptions(counted)
    if kind == "records":
        keys = cell_keys.of_records(hidden, counted.sums, described, edition=edition, weights=weights)
    else:
        keys = cell_keys.of_cells(hidden, described, edition=edition, digest=digest, weights=weights)
    return cell_keys.reduced(keys, keysize)


def _category_columns(counted: counting.Cells) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    totals = counted.places == [len(known) for known in counted.categories]
    for place, (name, known) in enumerate(zip(counted.layout.by, counted.categories, strict=True)):
        columns[name] = known.take(pa.array(counted.places[:, place], mask=totals[:, place]))
    if counted.layout.margins:
        by = counted.layout.by
        bits = 1 << np.arange(len(by))
        names = [
            forms.joined([name for name, bit in zip(by, bits, strict=True) if bit & mask])
            for mask in range(2 * bits[-1])
        ]
        columns["total_over"] = pa.array(names, pa.string()).take(pa.array(totals @ bits))
    return columns
