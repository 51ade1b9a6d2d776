"""The computed parts of the README and of the teacher's page: verdicts, closing summary, running times."""

from __future__ import annotations

from collections.abc import Mapping

from compendium.ledger.book import Book, counts
from compendium.ledger.claims import SEVERITIES
from compendium.ledger.headlines import headlines
from compendium.ledger.verdicts import BOUNDARY, CONFIRMED, CONTRADICTED, DEPENDS, PARTLY, ROUNDED, SLIP
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


OTHERWISE = {
    CONTRADICTED: "fail",
    SLIP: "are slips",
    DEPENDS: "depend on how they are read",
    BOUNDARY: "leave out a boundary",
    ROUNDED: "round on display",
    PARTLY: "err in a last digit",
}
"""What statements do that do not simply hold."""


def glance(book: Book) -> str:
    """The verdict in a few lines of Markdown: what holds, what touches a conclusion, what else there is."""
    tally = counts(book.paper)
    total, whole = len(book.paper), tally[CONFIRMED]
    gravest = [one for one in headlines(book.paper) if one.severity == SEVERITIES[0]]
    rows = [
        f"- **{kind}**: {prose('; '.join(one.title for one in gravest if one.verdict == kind))}"
        for kind in dict.fromkeys(one.verdict for one in gravest)
    ]
    others = [f"{does} ({tally[kind]})" for kind, does in OTHERWISE.items() if tally[kind]]
    listed = " or ".join([", ".join(others[:-1]), others[-1]]) if len(others) > 1 else "".join(others)
    return "\n".join(
        [
            f"Of {total} statements of the paper {whole} hold as printed. Main results that do not, where a "
            "conclusion is at stake, gravest first:",
            "",
            *rows,
            "",
            f"In all, {total - whole} statements do not hold as printed: they {listed}. [The errata]"
            "(paper/errata.md) say what is true instead, how that is known, and what it changes.",
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
