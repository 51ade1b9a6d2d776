"""The commands of ``tablebuilder-dp`` about records and tables: ``secret``, ``keys``, ``perturb``, …

What they need is imported when they run, so that the other commands start as fast as ever. The choices of
their options therefore stand here once more.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm import tqdm

from tablebuilder_dp import design
from tablebuilder_dp.beyond.many_cells import FAMILIES
from tablebuilder_dp.beyond.promise import CELLS_MAX
from tablebuilder_dp.beyond.symmetric import RULES
from tablebuilder_dp.cli.answers import Answer, Register
from tablebuilder_dp.cli.paper import add_slack
from tablebuilder_dp.support import files, parameters

KEYS = "record_key_1 record_key_2 record_key_3 record_key_4"
KINDS = ("cells", "records", "sums")
NEIGHBOURS = ("add-or-remove", "replace")
FILES = "a .parquet or .csv file (also .tsv, .txt, and .gz of these)"
SMALL_COUNTS = ("signed", "clamped", "rows")
TOTAL, MISSING = "(total)", "(missing)"
PER_CELL = {"slack": str(float(design.PAPER_SLACK)), "keysize": "2^32", "rule": RULES[0]}
"""What a design of one cell takes if nothing else is asked for; nothing else has these options."""


def register(command: Register) -> None:
    """Add the commands."""
    secret = command("secret", _secret, "write a new secret, from which all keys are derived")
    secret.add_argument("-o", "--output", default="key.bin", metavar="FILE", help="default: %(default)s")

    keys = command("keys", _keys, "give every record its keys, by a keyed hash of its id")
    keys.add_argument("records", metavar="RECORDS", help=f"{FILES}, a record a row")
    keys.add_argument(
        "--id",
        required=True,
        nargs="+",
        metavar="COLUMN",
        help="a different integer or text each; several columns, such as household person, are one id",
    )
    keys.add_argument("--secret-file", required=True, metavar="FILE", help="as the command secret writes it")
    _add_output(keys, "the records with their keys, .parquet or .csv")
    _add_text(keys)
    _add_memory(keys)

    nested = command(
        "nested", _nested, "suggest which columns lie within which others, to be checked in the code lists"
    )
    nested.add_argument("records", metavar="RECORDS", help=f"{FILES} or a folder of .parquet files")
    nested.add_argument("--by", required=True, nargs="+", metavar="COLUMN", help="the columns to compare")
    _add_text(nested)
    _add_memory(nested)

    perturb = command(
        "perturb", _perturb, "publish a perturbed table and a statement of its (epsilon, delta)"
    )
    perturb.add_argument(
        "records", metavar="RECORDS", help=f"one row a person: {FILES} or a folder of .parquet files"
    )
    perturb.add_argument("--by", required=True, nargs="+", metavar="COLUMN", help="the table's variables")
    perturb.add_argument("--margins", action="store_true", help="all totals too, each with its own noise")
    perturb.add_argument(
        "--nested",
        nargs="+",
        action="append",
        default=[],
        metavar="COLUMN",
        help="columns of --by that form a hierarchy, coarse to fine, such as region district; may be given "
        "several times",
    )
    noise = perturb.add_argument_group("noise")
    noise.add_argument(
        "--epsilon",
        metavar="E",
        help="privacy loss of the whole table with its margins, above 0; with --delta",
    )
    noise.add_argument("--delta", metavar="D", help="the delta of (epsilon, delta), in (0, 1)")
    noise.add_argument(
        "--noise",
        choices=FAMILIES,
        help=f"the family of the noise; best is the one of less variance (default: {FAMILIES[0]})",
    )
    noise.add_argument(
        "--neighbours",
        choices=NEIGHBOURS,
        default=NEIGHBOURS[0],
        help="what epsilon and delta hide: whether a person's record is there, or which values it has "
        "(default: %(default)s)",
    )
    noise.add_argument(
        "--cells-per-person",
        metavar="K",
        help="design for K counts that one person can change, in all tables of this edition that are to "
        "share epsilon and delta (default: those of this table)",
    )
    noise.add_argument(
        "--small-counts",
        choices=SMALL_COUNTS,
        help="counts that noise makes negative: signed, published as they are, without bias; clamped, "
        "published as 0; rows, with --per-cell only, never negative, but small counts are protected less "
        f"(default: {SMALL_COUNTS[0]})",
    )
    noise.add_argument(
        "--per-cell",
        action="store_true",
        help="epsilon and delta are those of one cell, by the paper's design guide; --slack, --keysize and "
        "--rule belong to it",
    )
    add_slack(noise)
    noise.add_argument(
        "--keysize",
        default=PER_CELL["keysize"],
        metavar="K",
        help="number of keys, a power of 2 (default: %(default)s)",
    )
    noise.add_argument(
        "--rule",
        choices=RULES,
        default=PER_CELL["rule"],
        help="how probabilities become keys (default: %(default)s)",
    )
    noise.add_argument(
        "--table",
        metavar="FILE",
        help="a perturbation table, as tau-argus, SAS, ptable or ONS tools have it, in place of --epsilon "
        "and --delta; needs records with keys",
    )
    cells = perturb.add_argument_group("cells")
    cells.add_argument(
        "--categories",
        metavar="FILE",
        help='the code lists, not taken from the records, as JSON: {"column": [its categories in order, null '
        "for missing]}; for a hierarchy the full paths under its finest column, such as "
        '{"district": [["north", "n1"]]}',
    )
    cells.add_argument(
        "--categories-from-data",
        action="store_true",
        help="take those that occur in the records where --categories has none; nothing is then promised "
        "without conditions",
    )
    cells.add_argument(
        "--cells",
        metavar="FILE",
        help="the cells that can have people, .parquet or .csv with the columns of --by; no others appear",
    )
    cells.add_argument(
        "--only-positive", action="store_true", help="leave out what is published as 0 or less"
    )
    form = perturb.add_argument_group("form of the table")
    form.add_argument(
        "--total-label",
        default=TOTAL,
        metavar="TEXT",
        help="what stands for the category of a variable that a row sums over (default: %(default)s)",
    )
    form.add_argument(
        "--missing-label",
        default=MISSING,
        metavar="TEXT",
        help="what stands for a missing category (default: %(default)s)",
    )
    _add_limit(form)
    form.add_argument(
        "--crosstab",
        metavar="COLUMN",
        help="write a column of counts for each category of this one of --by, in place of a row a cell",
    )
    key = perturb.add_argument_group("keys")
    key.add_argument(
        "--secret-file",
        metavar="FILE",
        help="as the command secret writes it; for keys of cells and records, and for sums where empty cells "
        "get noise",
    )
    key.add_argument(
        "--edition",
        metavar="NAME",
        help="any name, such as 2026; for keys of cells and records. Another edition has fresh noise; "
        "records that were changed need another",
    )
    key.add_argument(
        "--keys",
        choices=KINDS,
        help="cells: independent noises, for a promise about the whole table; records: one noise for one set "
        "of people, and a promise about one cell; sums: the paper's, likewise "
        f"(default: {KINDS[0]}, with --table sums)",
    )
    key.add_argument(
        "--record-keys",
        nargs="+",
        metavar="COLUMN",
        help=f"the four columns of record keys, or one; for records and sums (default: {KEYS})",
    )
    perturb.add_argument(
        "--audit", action="store_true", help="add true counts, cell keys and noise; never to be published"
    )
    key.add_argument(
        "--journal",
        metavar="FILE",
        help="where what is published is entered, and what its budget refuses (default: beside the secret)",
    )
    _add_text(perturb)
    perturb.add_argument("--spark", metavar="MASTER", help="use Spark at this master, such as local[2]")
    _add_memory(perturb)
    _add_output(perturb, "the published table, .parquet or .csv; its statement stands beside it")

    given = command(
        "apply", _apply, "perturb a table that was counted elsewhere, by the cell keys that it has"
    )
    given.add_argument("counts", metavar="COUNTS", help=f"one row a cell: {FILES}")
    given.add_argument(
        "--table",
        required=True,
        metavar="FILE",
        help="a perturbation table, as tau-argus, SAS or ONS tools have it",
    )
    given.add_argument("--count", required=True, metavar="COLUMN", help="the true counts")
    given.add_argument(
        "--cell-key",
        required=True,
        metavar="COLUMN",
        help="whole numbers below the number of keys of the table, or decimals in [0, 1)",
    )
    given.add_argument(
        "--by",
        nargs="+",
        required=True,
        metavar="COLUMN",
        help="what describes the cells and is published with the counts; no other column is",
    )
    _add_limit(given)
    given.add_argument(
        "--audit", action="store_true", help="add true counts, cell keys and noise; never to be published"
    )
    _add_text(given)
    _add_memory(given)
    _add_output(given, "the published table, .parquet or .csv; its statement stands beside it")

    release = command(
        "release", _release, "plan and publish tables that share one (epsilon, delta), and keep the account"
    )
    release.add_argument(
        "action",
        choices=["plan", "publish", "history"],
        help="plan: what the tables would cost, without reading a record; publish: write all of them, with "
        "one statement; history: what all editions in the journal amount to",
    )
    release.add_argument(
        "file", metavar="RELEASE.TOML", help="edition, records, secret, tables, variables, epsilon and delta"
    )
    release.add_argument("--html", metavar="FILE", help="with plan: write it as a page, with a picture")
    release.add_argument(
        "--spark", metavar="MASTER", help="with publish: use Spark at this master, such as local[2]"
    )
    _add_memory(release)

    example = command(
        "example", _example, "make up a census to try the other commands on, with its code lists"
    )
    example.add_argument("--records", required=True, metavar="N", help="how many people")
    example.add_argument("--seed", default="1", metavar="S", help="another seed, other people (default: 1)")
    _add_output(example, "a .parquet or .csv file")


def _add_output(parser: argparse.ArgumentParser, help: str) -> None:
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help=help)


def _add_text(parser: argparse.ArgumentParser) -> None:
    text = parser.add_argument_group("text files", "found in the file if not given")
    text.add_argument("--delimiter", metavar="C", help="between fields, such as ; or tab")
    text.add_argument("--encoding", metavar="NAME", help="such as cp1252; UTF-8 and UTF-16 are found")
    text.add_argument(
        "--no-header", action="store_true", help="no line of names: columns are column_1, column_2, ..."
    )


def _records(options: argparse.Namespace, path: str) -> Any:
    """The path of a file, with how it is written if that is given."""
    from tablebuilder_dp import microdata

    delimiter = {"tab": "\t", "\\t": "\t"}.get(options.delimiter, options.delimiter)
    if delimiter is None and options.encoding is None and not options.no_header:
        return path
    return microdata.Csv(path, delimiter, options.encoding, header=not options.no_header)


def _add_limit(parser: Any) -> None:
    parser.add_argument(
        "--suppress-below",
        metavar="N",
        help="leave out what would be published below N, and mark it in a column suppressed; costs nothing",
    )


def _add_memory(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--memory", metavar="SIZE", help="use disk beyond this, such as 2GB")


@contextmanager
def _bar(options: argparse.Namespace, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """On a terminal a bar of the records done; everywhere a chance to be stopped after each part."""
    hidden = not sys.stderr.isatty()
    with tqdm(total=total, desc=what, unit=" records", unit_scale=True, disable=hidden) as bar:

        def progress(done: int) -> None:
            options.check()
            bar.update(done - bar.n)

        yield progress


def _secret(options: argparse.Namespace) -> Answer:
    from tablebuilder_dp import microdata

    microdata.make_secret(options.output)
    text = f"Wrote a secret to {options.output}. Keep it: without it no noise can be made again."
    return Answer({"output": options.output}, text)


def _keys(options: argparse.Namespace) -> Answer:
    from tablebuilder_dp import microdata

    with _bar(options, "keys") as progress:
        microdata.add_keys(
            _records(options, options.records),
            options.output,
            id=options.id,
            secret_file=options.secret_file,
            memory=options.memory,
            progress=progress,
        )
    return Answer({"output": options.output}, f"Wrote the records with their keys to {options.output}")


def _nested(options: argparse.Namespace) -> Answer:
    from tablebuilder_dp import microdata

    found = microdata.nested_columns(_records(options, options.records), options.by, memory=options.memory)
    return Answer(found.data, found.text)


def _protection(options: argparse.Namespace, layout: Any, categories: dict[str, Any]) -> Any:
    """The noise that is asked for; an option that belongs to another kind of noise is refused."""
    from tablebuilder_dp import microdata
    from tablebuilder_dp.microdata import listing

    asked = [options.epsilon is not None, options.delta is not None]
    if asked != [options.table is None] * 2:
        raise ValueError("either --epsilon and --delta, or --table, must be given")
    whole = {"noise": None, "cells_per_person": None}
    if options.table is not None:
        _refuse(options, {**PER_CELL, **whole, "per_cell": False, "small_counts": None}, "with --table")
        return microdata.from_table(options.table)
    small = {} if options.small_counts is None else {"small_counts": options.small_counts}
    if sys.stderr.isatty():
        print("designing the noise ...", file=sys.stderr)  # a small epsilon takes a minute
    if options.per_cell:
        _refuse(options, whole, "with --per-cell")
        return microdata.design_per_cell(
            options.epsilon,
            options.delta,
            slack=options.slack,
            keysize=parameters.read_keysize(options.keysize),
            rule=options.rule,
            **small,
        )
    _refuse(options, PER_CELL, "without --per-cell")
    if options.keys not in (None, KINDS[0]):
        raise ValueError(
            f"argument --keys {options.keys}: needs --per-cell or --table, as it promises one cell"
        )
    lists, _ = listing.without_paths(layout, categories)
    cells = max(1, layout.cells_changed(options.neighbours, categories=lists))
    if cells > CELLS_MAX:
        allowed = f"variables of which one person changes at most {CELLS_MAX} counts"
        raise parameters.wrong_value("by", allowed, cells)
    if options.cells_per_person is not None:
        wanted = parameters.read_integer(options.cells_per_person, "cells_per_person")
        cells = parameters.integer(wanted, "cells_per_person", low=cells, high=CELLS_MAX)
    return microdata.design(
        options.epsilon, options.delta, cells=cells, noise=options.noise or FAMILIES[0], **small
    )


def _refuse(options: argparse.Namespace, defaults: dict[str, Any], where: str) -> None:
    for name, default in defaults.items():
        if getattr(options, name) != default:
            raise ValueError(f"argument --{name.replace('_', '-')}: not allowed {where}")


def _perturb(options: argparse.Namespace) -> Answer:
    from tablebuilder_dp import microdata
    from tablebuilder_dp.microdata import publish, words

    inputs = (options.records, options.table, options.cells, options.categories, options.secret_file)
    publish.check_outputs(options.output, *inputs)
    categories = _categories(options.categories)
    layout = microdata.Layout(tuple(options.by), options.margins, tuple(map(tuple, options.nested)))
    protection = _protection(options, layout, categories)
    with _session(options.spark) as spark:
        made = microdata.perturb(
            _records(options, options.records),
            by=options.by,
            protection=protection,
            margins=options.margins,
            nested=options.nested,
            keys=options.keys,
            edition=options.edition,
            secret_file=options.secret_file,
            neighbours=options.neighbours,
            categories=categories,
            categories_from_data=options.categories_from_data,
            cells=options.cells,
            only_positive=options.only_positive,
            record_keys=options.record_keys,
            audit=options.audit,
            total_label=options.total_label,
            missing_label=options.missing_label,
            suppress_below=_limit(options.suppress_below),
            crosstab=options.crosstab,
            journal=options.journal,
            spark=spark,
            memory=options.memory,
        )
    facts = {"table": Path(options.output).name, **made.statement}
    options.check()
    written = made.write(options.output)  # last, so that an interrupted run has written nothing
    if shortfall := words.shortfall(facts):
        print(shortfall, file=sys.stderr)
    if made.exposed:
        print(
            f"Inside the office: {made.exposed} cells have one person fewer than a total that is published "
            "too. This person may be given away: see Differences in the statement.",
            file=sys.stderr,
        )
    text = "\n".join([words.words(facts), f"Wrote {', '.join(map(str, written))}"])
    return Answer({**facts, "output": [str(path) for path in written]}, text)


def _limit(typed: str | None) -> int | None:
    return None if typed is None else parameters.read_integer(typed, "suppress_below")


def _apply(options: argparse.Namespace) -> Answer:
    from tablebuilder_dp import microdata
    from tablebuilder_dp.microdata import publish, words

    publish.check_outputs(options.output, options.counts, options.table)
    made = microdata.apply(
        _records(options, options.counts),
        microdata.from_table(options.table),
        count=options.count,
        cell_key=options.cell_key,
        by=options.by,
        audit=options.audit,
        suppress_below=_limit(options.suppress_below),
        memory=options.memory,
    )
    facts = {"table": Path(options.output).name, **made.statement}
    options.check()
    written = [str(path) for path in made.write(options.output)]
    text = "\n".join([words.words(facts), f"Wrote {', '.join(written)}"])
    return Answer({**facts, "output": written}, text)


def _categories(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}
    files.check_local(path, "categories")
    try:
        categories = json.loads(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ValueError(f"categories must be a JSON file in UTF-8, got {path!r}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"categories must be a JSON file, got {path!r}: {error}") from None
    if not isinstance(categories, dict):
        kind = type(categories).__name__
        raise ValueError(f"categories must be a JSON object of lists, got {path!r} with a {kind}")
    return categories


@contextmanager
def _session(master: str | None) -> Iterator[Any]:
    if master is None:
        yield None
        return
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ValueError(
            "spark must be installed for --spark: pip install 'tablebuilder-dp[spark]'"
        ) from None
    shown = "true" if sys.stderr.isatty() else "false"
    builder = SparkSession.builder.master(master).appName("tablebuilder-dp")
    running = SparkSession.getActiveSession()
    try:
        session = running or builder.config("spark.ui.showConsoleProgress", shown).getOrCreate()
    except Exception as error:  # no Java, no such master
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(f"spark must be a master that answers, got {master!r}: {said[0]}") from None
    try:
        if running is None:
            session.sparkContext.setLogLevel("OFF")  # what Spark logs of a failure may quote records
        yield session
    finally:
        if running is None:
            session.stop()


def _release(options: argparse.Namespace) -> Answer:
    from tablebuilder_dp import microdata

    _refuse(
        options,
        {
            **({} if options.action == "plan" else {"html": None}),
            **({} if options.action == "publish" else {"spark": None, "memory": None}),
        },
        f"with {options.action}",
    )
    release = microdata.Release.from_toml(options.file)
    if options.action == "plan":
        return _plan(release, options.html)
    if options.action == "history":
        account = release.history()
        return Answer(account.data, account.text)
    if sys.stderr.isatty():
        print("designing the noise ...", file=sys.stderr)
    with _session(options.spark) as spark:
        made = release.publish(spark=spark, memory=options.memory)
    written = [str(path) for path in made.files]
    return Answer(
        {**made.statement, "output": written}, "\n".join([made.text, f"Wrote {', '.join(written)}"])
    )


def _plan(release: Any, page: str | None) -> Answer:
    from tablebuilder_dp.support import files

    if page is not None:
        files.check(Path(page), release.inputs, name="html")
    plan = release.plan()
    data, text = plan.data, plan.text
    if page is not None:
        with files.whole(Path(page), inputs=release.inputs) as temporary:
            temporary.write_text(plan.html, encoding="utf-8")
        data, text = {**data, "html": page}, f"{text}\n\nWrote {page}"
    return Answer(data, text)


def _example(options: argparse.Namespace) -> Answer:
    from tablebuilder_dp import microdata

    records = parameters.read_integer(options.records, "records")
    with _bar(options, "people", records) as progress:
        microdata.write_census(
            options.output,
            records=records,
            seed=parameters.read_integer(options.seed, "seed"),
            progress=progress,
        )
    lists = microdata.write_categories(options.output)
    data = {"output": options.output, "categories": str(lists), "records": records, "seed": int(options.seed)}
    text = f"Wrote {records} made-up people to {options.output} and the lists of their categories to {lists}"
    return Answer(data, text)
