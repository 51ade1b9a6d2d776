"""``make reproduce``: run the notebooks, gather their records, render what follows from them, compare it all.

The walk: parameters of the tagged cells → `run.execution` → a record of each notebook → `ledger.book` and
numbers → `render` → `run.manifest` → the closing summary.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compendium.ledger import book, theorems
from compendium.ledger.verdicts import KINDS
from compendium.render import errata, key_sizes, readme, references, report, submission
from compendium.run import execution, manifest, notebooks, staleness
from compendium.run.manifest import MANIFEST, NUMBERS
from compendium.run.notebooks import is_solution
from compendium.run.places import ROOT, output_root, write

TIMES = Path("paper/times.json")
"""How many seconds each notebook took where the reference was made: for planning, never compared."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("notebooks", nargs="*", help="numbers or names, such as 04 (default: all)")
    parser.add_argument("--force", action="store_true", help="run also what has not changed")
    parser.add_argument("--accept", action="store_true", help="commit to the results as the new reference")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="other parameters")


def run(options: argparse.Namespace) -> int:
    """Run what was asked for; 0 if everything ran and agrees with what is committed."""
    chosen = execution.select(options.notebooks)
    tasks = execution.other_tasks(chosen, execution.read_parameters(options.set))
    if tasks and (options.force or options.accept):
        raise ValueError("--force and --accept are for the paper's parameters: leave them out with --set")
    with execution.only_run():
        if tasks:
            return execution.run_with(tasks)
        if execution.run_stale(chosen, force=options.force):
            return 1
        try:
            return conclude(chosen, accept=options.accept)
        except ValueError as error:  # an article does not fit the numbers
            print(f"reproduce: {error}", file=sys.stderr)
            return 1


def conclude(names: Sequence[str], *, accept: bool) -> int:
    """Compare the results of notebooks with the committed ones and print the closing summary.

    The errata are rendered when the ledger was settled, the articles when all notebooks were asked for. With
    ``accept`` what was found becomes the new reference, and the README follows.
    """
    records = {name: manifest.record(name) for name in names}
    numbers = {name: record["numbers"] for name, record in records.items() if not is_solution(name)}
    content = records.get(book.NOTEBOOK, {}).get("ledger")
    complete = list(names) == notebooks.names()
    paths = [path for name in names for path in manifest.files(name, records[name])]
    if content:
        write(output_root() / errata.ERRATA, errata.document(book.of(content)))
        paths.append(errata.ERRATA)
    if complete:
        report.build(numbers, content or {})
        paths += report.PDFS
        submission.build(numbers, content or {}, map(Path.as_posix, paths))
        paths += submission.FILES
    files = {path.as_posix(): manifest.digest(output_root() / path) for path in paths}
    results = numbers | ({"ledger": _entries(content)} if content else {})
    if accept:
        _accept(numbers, content, files, complete=complete)
    if content:
        print(_claims(content))
    if accept and complete and content:
        values = sum(map(len, results.values()))
        shown = readme.summary(notebooks=len(names), claims=_claims(content), values=values, files=len(files))
        _fill("README.md", readme.SUMMARY, shown)
        _fill("site/past.md", key_sizes.MARKS, key_sizes.table(numbers))
    known = manifest.committed(NUMBERS) | {"ledger": _entries(manifest.committed(book.LEDGER))}
    return manifest.compare(results, known, files, complete=complete)


def _claims(content: Mapping[str, Any]) -> str:
    counts = {kind: content["counts"][kind] for kind in reversed(KINDS)}
    parts = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    return f"Claims of the paper: {sum(counts.values())} checked, {parts}"


def _entries(content: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of the ledger by the claim, and the witnesses by what they testify to."""
    entries = (entry for part in ("claims", "corrections") for entry in content.get(part, ()))
    return {entry["id"]: entry for entry in entries} | {
        f"witness of {witness['quantity']}": witness["agreement"] for witness in content.get("witnesses", ())
    }


def _accept(
    numbers: Mapping[str, Any], content: Mapping[str, Any] | None, files: Mapping[str, str], *, complete: bool
) -> None:
    """Make what was found the new reference, and the README follow it."""
    old_numbers, old_files = (
        ({}, {}) if complete else (manifest.committed(NUMBERS), manifest.committed(MANIFEST))
    )
    state = staleness.load_state()
    took = {} if complete else manifest.committed(TIMES)
    took |= {name: state[name]["seconds"] for name in numbers if name in state}
    manifest.commit(NUMBERS, {**old_numbers, **numbers})
    manifest.commit(MANIFEST, {**old_files, **files})
    manifest.commit(TIMES, took)
    _fill("paper/teaching.md", readme.TIMES, readme.times(took))
    _fill(references.RELATED, references.SOURCES, references.listed(references.read()))
    _fill(theorems.README, theorems.MARKS, theorems.page())
    if content:
        manifest.commit(book.LEDGER, content)
        _fill("README.md", readme.GLANCE, readme.glance(book.of(content)))


def _fill(file: str, marks: tuple[str, str], content: str) -> None:
    made = output_root() / file
    text = (made if made.is_file() else ROOT / file).read_text(encoding="utf-8")
    write(output_root() / file, readme.between(text, marks, content))
