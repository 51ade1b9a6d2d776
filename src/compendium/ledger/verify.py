"""``python -m compendium verify``: the ledger in the terminal, as JSON or as Markdown, or one claim whole."""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence

from tqdm import tqdm

from compendium.ledger import book, claims, trace, verdicts
from compendium.ledger.book import bases, closing, counts
from compendium.ledger.claims import Claim, code
from compendium.ledger.verdicts import (
    BOUNDARY,
    CONFIRMED,
    CONTRADICTED,
    DEPENDS,
    KINDS,
    PARTLY,
    ROUNDED,
    SLIP,
    Entry,
)

COLOURS = {
    CONFIRMED: "green",
    PARTLY: "yellow",
    ROUNDED: "yellow",
    BOUNDARY: "yellow",
    DEPENDS: "cyan",
    SLIP: "magenta",
    CONTRADICTED: "red",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("claims", nargs="*", metavar="CLAIM", help="one claim whole, such as ex1-p12")
    parser.add_argument("--json", action="store_true", help="print JSON with all that is known")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument(
        "--section", action="append", metavar="S", help="only this section, such as III or V-C"
    )
    parser.add_argument("--verdict", action="append", metavar="V", help=f"only {', '.join(KINDS)}")
    parser.add_argument(
        "--limits", action="store_true", help="only verdicts on words that hang on a limit of ours"
    )


def run(options: argparse.Namespace) -> int:
    """Settle the chosen claims and compare all that is found with what is stored: 0 if it is the same."""
    if options.json and options.markdown:
        raise ValueError("--json and --markdown exclude each other")
    if options.claims:
        return _one_by_one(options)
    paper, ours = book.chosen(claims.load(), options.section), claims.load(claims.OURS)
    book.read()  # if it cannot be read, that is better said before the work than after
    wanted = _kinds(options.verdict)
    everything = [*paper.values(), *(() if options.section else ours.values())]
    terminal = sys.stderr.isatty()
    settled = [
        verdicts.settle(claim)
        for claim in tqdm(everything, unit="claim", leave=False, disable=not terminal, file=sys.stderr)
    ]
    entries, corrections = settled[: len(paper)], settled[len(paper) :]
    problems = book.unexpected(entries, corrections, complete=not options.section)
    shown = [entry for entry in entries if entry.kind in wanted and (entry.hangs or not options.limits)]
    if options.json:
        answer = {
            "as_expected": not problems,
            "unexpected": problems,
            "counts": counts(entries),
            "bases": bases(entries),
            "claims": [entry.record() for entry in shown],
            "corrections": [entry.record() for entry in corrections],
        }
        print(json.dumps(answer))
    elif options.markdown:
        print(markdown(shown))
        print("".join(f"unexpected: {problem}\n" for problem in problems), end="", file=sys.stderr)
    else:
        print(f"{table(shown)}\n{closing(entries, corrections)}\n{as_stored(problems)}")
    return 1 if problems else 0


def _one_by_one(options: argparse.Namespace) -> int:
    """Each named claim whole, with the path from its print to the code that decides it."""
    if options.markdown or options.section or options.verdict or options.limits:
        raise ValueError("--json alone goes with the names of claims")
    paper, ours = claims.load(), claims.load(claims.OURS)
    stated = paper | ours
    for name in options.claims:
        if name not in stated:
            files = f"paper/{claims.PAPER.name} or paper/{claims.OURS.name}"
            raise ValueError(f"claim must be one of those in {files}, got {name!r}")
    traced = [trace.settle(stated[name]) for name in options.claims]
    entries = [trail.entry for trail in traced]
    problems = book.unexpected(
        [entry for entry in entries if entry.claim.id in paper],
        [entry for entry in entries if entry.claim.id in ours],
    )
    if options.json:
        records = [
            trail.entry.record()
            | {"printed_at": trail.printed_at, "path": [step.record() for step in trail.steps]}
            for trail in traced
        ]
        print(json.dumps({"as_expected": not problems, "unexpected": problems, "claims": records}))
    else:
        print("\n\n".join(map(trace.text, traced)))
        print("".join(f"unexpected: {problem}\n" for problem in problems), end="", file=sys.stderr)
    return 1 if problems else 0


def as_stored(problems: Sequence[str]) -> str:
    """Whether everything is as it is stored."""
    return "\n".join(f"unexpected: {problem}" for problem in problems) or (
        "All verdicts, values and evidence are as stored. paper/errata.md explains what is not confirmed."
    )


def _kinds(wanted: Sequence[str] | None) -> set[str]:
    chosen = set()
    for verdict in wanted or ():
        kinds = [kind for kind in KINDS if verdict.lower() == kind]
        kinds = kinds or [kind for kind in KINDS if verdict and kind.startswith(verdict.lower())]
        if not kinds:
            raise ValueError(f"--verdict must be one of {', '.join(KINDS)}, got {verdict!r}")
        chosen.update(kinds)
    return chosen or set(KINDS)


def table(entries: Sequence[Entry]) -> str:
    """The ledger for a terminal: as wide as it is, in colour where there is one."""
    from rich import box
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = max(shutil.get_terminal_size((120, 24)).columns, 40)
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=colour, highlight=False)
    rows = [
        (
            entry.claim.id,
            entry.claim.section,
            Text(entry.verdict, style=COLOURS[entry.kind]),
            Text(_said(entry.claim)),
            Text(f"{entry.truth} ({entry.evidence})"),
        )
        for entry in entries
    ]
    if width < 110:  # too narrow for columns of text
        for name, section, verdict, said, true in rows:
            console.print(Text.assemble((name, "bold"), f"  {section}  ", verdict))
            console.print(Padding(said, (0, 0, 0, 4)))
            console.print(Padding(true, (0, 0, 1, 4)))
    else:
        grid = Table(box=box.SIMPLE_HEAD, expand=True, pad_edge=False)
        widths = {"claim": max((len(row[0]) for row in rows), default=5), "section": 8, "verdict": 12}
        for name in ("claim", "section", "verdict", "says", "what is true"):
            grid.add_column(name, width=widths.get(name), overflow="fold")
        for row in rows:
            grid.add_row(*row)
        console.print(grid)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def _said(claim: Claim) -> str:
    """What a claim says and prints, and how its words are taken."""
    said = f"{claim.says}: {claim.printed}"
    said += f" (read as: {claim.reading})" if claim.reading else ""
    return f"{said} [{claim.meaning.removesuffix('.')}]" if claim.meaning else said


def markdown(entries: Iterable[Entry]) -> str:
    """The ledger as a Markdown table."""
    columns = ("claim", "where", "says", "printed", "verdict", "what is true", "how it is known")
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    for entry in entries:
        claim = entry.claim
        says = f"{claim.says}. *{claim.meaning}*" if claim.meaning else claim.says
        verdict = entry.verdict if entry.verdict == CONFIRMED else f"**{entry.verdict}**"
        cells = (
            claim.id,
            "; ".join(f"{place.section}, {place.where}" for place in claim.places),
            says,
            printed_and_read(claim),
            verdict,
            entry.truth_with(code),
            entry.evidence,
        )
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def printed_and_read(claim: Claim) -> str:
    """What is printed and, apart from it, how we read it."""
    return code(claim.printed) + (f", read as {code(claim.reading)}" if claim.reading else "")
