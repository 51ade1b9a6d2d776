"""``tablebuilder-dp verify``: the ledger in the terminal, as JSON or as Markdown."""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from compendium import claims, ledger
from compendium.claims import Claim
from compendium.files import ROOT, write
from compendium.ledger import CONFIRMED, CONTRADICTED, DEPENDS, KINDS, PARTLY, SLIP, Entry
from tablebuilder_dp import cli

EXPECTED = ROOT / "paper" / "verdicts.toml"
"""The verdicts that are known, apart from the claims: a change is seen."""

COLOURS = {CONFIRMED: "green", PARTLY: "yellow", DEPENDS: "cyan", SLIP: "magenta", CONTRADICTED: "red"}


def register(command: cli.Register) -> None:
    """Add ``verify`` to the command line of `tablebuilder_dp`, which looks for it by its entry point."""
    parser = command("verify", run, "a computed verdict for everything that the paper says")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument(
        "--section", action="append", metavar="S", help="only this section, such as III or V-C"
    )
    parser.add_argument("--verdict", action="append", metavar="V", help=f"only {', '.join(KINDS)}")
    parser.add_argument("--accept", action="store_true", help="keep the verdicts as the expected ones")


def run(options: argparse.Namespace) -> cli.Answer:
    """Settle the chosen claims and compare the verdicts with the expected ones."""
    from tqdm import tqdm  # here, as the other commands do without it

    paper, ours = chosen(claims.load(), options.section), claims.load(claims.OURS)
    if not options.accept:
        expected()  # if it cannot be read, that is better said before the work than after
    wanted = _kinds(options.verdict)
    if options.accept and (options.section or options.verdict):
        raise ValueError("--accept is for the whole ledger: leave out --section and --verdict")
    if options.json and options.markdown:
        raise ValueError("--json and --markdown exclude each other")
    everything = [*paper.values(), *(() if options.section else ours.values())]
    terminal = sys.stderr.isatty()
    settled = [
        ledger.settle(claim)
        for claim in tqdm(everything, unit="claim", leave=False, disable=not terminal, file=sys.stderr)
    ]
    entries, corrections = settled[: len(paper)], settled[len(paper) :]
    if options.accept:
        accept(entries)
    problems = unexpected(entries, corrections, complete=not options.section)
    shown = [entry for entry in entries if entry.kind in wanted]
    answer = {
        "as_expected": not problems,
        "unexpected": problems,
        "counts": counts(entries),
        "claims": [entry.record() for entry in shown],
        "corrections": [entry.record() for entry in corrections],
    }
    if options.markdown:
        text = markdown(shown)
        print("".join(f"unexpected: {problem}\n" for problem in problems), end="", file=sys.stderr)
    else:
        text = f"{table(shown)}\n{closing(entries, corrections, problems)}"
    return cli.Answer(answer, text, 1 if problems else 0)


def chosen(stated: Mapping[str, Claim], sections: Sequence[str] | None) -> dict[str, Claim]:
    """The claims of some sections; a section includes its subsections."""
    known = list(dict.fromkeys(claim.section for claim in stated.values()))
    for section in sections or ():
        if not any(_is_in(name, section) for name in known):
            raise ValueError(
                f"--section must be one of {', '.join(known)}, or what some start with, got {section!r}"
            )
    return {
        name: claim
        for name, claim in stated.items()
        if not sections or any(_is_in(claim.section, section) for section in sections)
    }


def _is_in(name: str, section: str) -> bool:
    return name.lower() == section.lower() or name.lower().startswith(f"{section.lower()}-")


def _kinds(verdicts: Sequence[str] | None) -> set[str]:
    found = set()
    for verdict in verdicts or ():
        kinds = [kind for kind in KINDS if verdict.lower() == kind]
        kinds = kinds or [kind for kind in KINDS if verdict and kind.startswith(verdict.lower())]
        if not kinds:
            raise ValueError(f"--verdict must be one of {', '.join(KINDS)}, got {verdict!r}")
        found.update(kinds)
    return found or set(KINDS)


def counts(entries: Iterable[Entry]) -> dict[str, int]:
    """How many verdicts there are of each kind, the confirmed ones first."""
    found = Counter(entry.kind for entry in entries)
    return {kind: found[kind] for kind in reversed(KINDS)}


def expected() -> dict[str, str]:
    """The verdicts that are known, by claim."""
    try:
        return dict(tomllib.loads(EXPECTED.read_text(encoding="utf-8")))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"the ledger needs a readable paper/{EXPECTED.name}: {error}") from None


def accept(entries: Iterable[Entry]) -> None:
    """Write the verdicts as the expected ones."""
    lines = ["# The verdicts as they are known; a change of one is a finding or a fault.", ""]
    lines += [f'{entry.claim.id} = "{entry.verdict}"' for entry in entries]
    write(EXPECTED, "\n".join(lines) + "\n")


def unexpected(
    entries: Iterable[Entry], corrections: Iterable[Entry], *, complete: bool = False
) -> list[str]:
    """One line for each verdict that is not the expected one; our own statements must be confirmed.

    Of a complete ledger, no claim with an expected verdict may be missing.
    """
    known = expected()
    found = {entry.claim.id: entry.verdict for entry in entries}
    wanted = {name: known.get(name, "nothing") for name in found}
    if complete:
        wanted |= known
    ours = {entry.claim.id: entry.verdict for entry in corrections}
    return [
        f"{name}: {(found | ours).get(name, 'missing')}, expected {verdict}"
        for name, verdict in (wanted | dict.fromkeys(ours, CONFIRMED)).items()
        if (found | ours).get(name) != verdict
    ]


def closing(entries: Sequence[Entry], corrections: Sequence[Entry], problems: Sequence[str]) -> str:
    """The last lines for a reader: how many of what, and whether that is as expected."""
    parts = ", ".join(f"{count} {kind}" for kind, count in counts(entries).items() if count)
    lines = [f"{len(entries)} claim{'s' if len(entries) != 1 else ''}: {parts}"]
    if corrections:
        confirmed = sum(entry.verdict == CONFIRMED for entry in corrections)
        plural = "s" if len(corrections) != 1 else ""
        lines.append(f"{len(corrections)} statement{plural} of ours: {confirmed} confirmed")
    lines += [f"unexpected: {problem}" for problem in problems] or [
        "All verdicts are as expected. paper/errata.md explains those that are not confirmed."
    ]
    return "\n".join(lines)


def glance(numbers: Mapping[str, str]) -> str:
    """The verdicts at a glance as Markdown, from the recorded numbers of the ledger."""
    stated = claims.load()
    kinds = list(reversed(KINDS))
    lines = [f"| {' | '.join(['claims', *kinds])} |", f"|---{'|---' * len(kinds)}|"]
    lines.append(f"| {' | '.join([str(len(stated)), *(numbers[f'count:{kind}'] for kind in kinds)])} |")
    lines += ["", "What is contradicted:", ""]
    for name, claim in stated.items():
        if numbers[f"verdict:{name}"] == CONTRADICTED:
            lines.append(f"- *{claim.section}: {statement(claim)}.* {numbers[f'because:{name}']}")
    return "\n".join(lines)


def statement(claim: Claim) -> str:
    """What a claim says, with the number that is printed; a formula would only repeat the words."""
    return f"{claim.says}: {claim.printed}" if claim.printed[-1:].isdigit() else claim.says


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
            Text(f"{truth(entry)} ({entry.evidence})"),
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
    said = claim.says if claim.printed == "yes" else f"{claim.says}: {claim.printed}"
    return f"{said} [{claim.meaning.removesuffix('.')}]" if claim.meaning else said


def truth(entry: Entry, mark: Callable[[str], str] = str) -> str:
    """What is true, in one line; ``mark`` sets formulas apart."""
    parts = [entry.found]
    if entry.correction and entry.found.startswith("fails"):
        parts.append(f"should be {mark(entry.correction)}")
    if entry.origin:
        parts.append(f"what is printed is {entry.origin}")
    return "; ".join(parts)


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
            f"{claim.section}, {claim.where}",
            says,
            code(claim.printed),
            verdict,
            truth(entry, code),
            entry.evidence,
        )
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def code(printed: str) -> str:
    """A printed formula in code marks, a number or a word as it is."""
    return printed if re.fullmatch(r"[-\w.]+", printed) else f"`{printed}`"


def main(arguments: Sequence[str] | None = None) -> Any:
    """``python -m compendium.verify``: the same, where the package is not installed."""
    return cli.main(["verify", *(sys.argv[1:] if arguments is None else arguments)], plugins=[register])


if __name__ == "__main__":
    sys.exit(main())
