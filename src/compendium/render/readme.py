"""The computed parts of the README and of the teacher's page: verdicts, closing summary, running times."""

from __future__ import annotations

from collections.abc import Mapping

from compendium.ledger.book import Book, counts
from compendium.ledger.claims import SEVERITIES, statement
from compendium.ledger.verdicts import CONFIRMED, CONTRADICTED
from compendium.run.manifest import REPRODUCED
from compendium.run.notation import prose

GLANCE = ("<!-- the ledger at a glance", "<!-- end of the ledger -->")
SUMMARY = ("<!-- the closing summary", "<!-- end of the summary -->")
TIMES = ("<!-- running times", "<!-- end of running times -->")


def between(text: str, marks: tuple[str, str], content: str) -> str:
    r"""The text with other content between two marks, of which the first is a comment that may go on.

    >>> between("a <!-- x: --> old <!-- y --> b", ("<!-- x", "<!-- y -->"), "new")
    'a <!-- x: -->\n\nnew\n\n<!-- y --> b'
    """
    head, start, rest = text.partition(marks[0])
    comment, _, rest = rest.partition("-->")
    _, end, tail = rest.partition(marks[1])
    if not (start and end):
        raise ValueError(f"the marks {marks[0]} --> and {marks[1]} must stand in the text, in this order")
    return f"{head}{start}{comment}-->\n\n{content}\n\n{end}{tail}"


def glance(book: Book) -> str:
    """The verdict in a few lines of Markdown: what holds, what fails, what is between."""
    tally = counts(book.paper)
    others = {kind: count for kind, count in tally.items() if kind not in (CONFIRMED, CONTRADICTED)}
    between = ", ".join(f"{count} {kind}" for kind, count in others.items() if count)
    wrong = [entry for entry in book.paper if entry.kind == CONTRADICTED]
    wrong.sort(key=lambda entry: SEVERITIES.index(entry.claim.severity))
    return "\n".join(
        [
            f"Of {len(book.paper)} statements of the paper {tally[CONFIRMED]} hold as printed; "
            f"{len(wrong)} fail, gravest first:",
            "",
            *(f"- {prose(statement(entry.claim))} (Section {entry.claim.section})" for entry in wrong),
            "",
            f"Between them are: {between}. [The errata](paper/errata.md) have the truth of each, how it is "
            "known, and what it changes.",
        ]
    )


def summary(*, notebooks: int, claims: str, values: int, files: int) -> str:
    """What `make reproduce` prints at the end where everything is as committed, as a block of code."""
    return "\n".join(
        [
            "```",
            f"Notebooks: {notebooks} run, 0 unchanged",
            claims,
            f"Numbers: {values} of {values} as committed",
            f"Files: {files} of {files} as committed",
            REPRODUCED,
            "```",
        ]
    )


def times(seconds: Mapping[str, float]) -> str:
    """How long each notebook took, as a Markdown table."""
    lines = ["| notebook | seconds |", "|---|---|"]
    lines += [
        f"| [{name}](../notebooks/{name}.ipynb) | {max(1, round(seconds[name]))} |"
        for name in sorted(seconds)
    ]
    return "\n".join(lines)
