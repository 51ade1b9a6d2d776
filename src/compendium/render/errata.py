"""``paper/errata.md``: every statement that does not hold as printed, written from the ledger."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from compendium.ledger import mathematics
from compendium.ledger.book import Book, bases
from compendium.ledger.claims import Place
from compendium.ledger.headlines import AT_STAKE, causes, headlines, remarks
from compendium.ledger.verdicts import (
    BOUNDARY,
    CONFIRMED,
    CONTRADICTED,
    DEPENDS,
    PARTLY,
    ROUNDED,
    SLIP,
    Entry,
)
from compendium.run.notation import prose

ERRATA = Path("paper/errata.md")
SAME = "the same"
"""What is printed where a statement of ours says all in its words: that two ways give the same."""

HEAD = """# Errata

To *On the connection between the ABS perturbation methodology and differential privacy* by P. Sadeghi and
C.-H. Chien. The ledger (`make verify`) writes this page from [`claims.toml`](claims.toml),
[`corrections.toml`](corrections.toml) and [`headlines.toml`](headlines.toml), and computes its verdicts and
numbers. It has {total} statements of the paper; the {confirmed} that are not listed here hold as they stand.
Of all of them {checked} are machine-checked ([`proofs/`](../proofs/README.md)), {proved} more proved for all
parameters, {exact} decided exactly, and {tried} tried on a grid and no more. Lines are those of the paper's
source, ARXIV.tex, which is not part of this repository.

What must be trusted: for the {checked} Coq, for proofs by hand their reader, for numbers and cases Arb
(through python-flint) and the checks in `src/compendium/ledger/checks`; for everything that we copied and
read the paper rightly and left no statement out, since `claims.toml` has each of them in our words.

Each part begins with what touches a conclusion. *Read as* has our reading of the paper's words: *forward* and
*backward* are the two directions of the comparison, $e_8$, $e_{{16}}$ and $e_{{32}}$ the errors with $2^8$,
$2^{{16}}$ and $2^{{32}}$ keys.
"""

PARTS = {
    CONTRADICTED: ("What does not hold", "These statements fail as they stand."),
    SLIP: (
        "Slips",
        "One symbol, sign, index, digit or word away from a statement that holds, "
        "and other statements of the paper say or use that one.",
    ),
    DEPENDS: (
        "What depends on the reading",
        "Right under one reading and wrong under another; both are computed.",
    ),
    BOUNDARY: (
        "Omitted boundaries",
        "Right but for the cases in which two sides are equal, or one end of a range.",
    ),
    ROUNDED: (
        "Display rounding",
        "Right with the exact number in the place of its rounded display.",
    ),
    PARTLY: (
        "Last digits",
        "Right to all the digits that a 64-bit number holds for certain, but not to the last printed one.",
    ),
}


def document(book: Book, link: Callable[[str], str] | None = None) -> str:
    """The whole page; ``link`` makes links to the ledger, and gives each statement an address of its own."""
    wrong = [entry for entry in book.paper if entry.kind in PARTS]
    checked, proved, exact, tried = bases(book.paper).values()
    blocks = [
        HEAD.format(
            confirmed=len(book.paper) - len(wrong),
            total=len(book.paper),
            checked=checked,
            proved=proved,
            exact=exact,
            tried=tried,
        ),
        summary(book.paper, link),
    ]
    for kind, (title, explanation) in PARTS.items():
        chosen = [entry for entry in wrong if entry.kind == kind]
        chosen.sort(key=lambda entry: AT_STAKE.index(entry.claim.severity))
        if chosen:
            blocks += [f"## {title}\n\n{explanation}\n", *(item(entry, link) for entry in chosen)]
    blocks.append(
        "## Remarks on notation\n\nRead, not computed: they have no verdict.\n\n"
        + "\n".join(f"- *Section {one.section}, line {one.line}.* {prose(one.text)}" for one in remarks())
        + "\n"
    )
    blocks.append(
        "## Corrected statements\n\nOurs, checked in the same way: formulas are proved, numbers enclosed. "
        "Those named `past-…` answer\nquestions that the paper leaves open; those named `library-…` hold "
        "what the ledger computes with against its definitions.\n"
    )
    blocks += (_correction(entry, link) for entry in book.ours)
    return "\n".join(blocks)


STANDS_FOR = (
    "A line stands for several statements: it has the gravest of their verdicts and the weakest of their "
    "evidence."
)


def summary(entries: Sequence[Entry], link: Callable[[str], str] | None = None) -> str:
    """For a reader with fifteen minutes: the headlines, then the causes behind what does not simply hold."""
    headlined, caused = headline_table(entries), cause_list(entries, link)
    return f"## In fifteen minutes\n\n{STANDS_FOR}\n\n{headlined}\n\n## Root causes\n\n{caused}\n"


def headline_table(entries: Sequence[Entry]) -> str:
    """The headlines as a Markdown table: verdict, what is at stake, what it changes, how sure we are."""
    columns = ("what the paper says", "verdict", "at stake", "what it changes", "how we know")
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    for headline in headlines(entries):
        verdict = headline.verdict if headline.verdict == CONFIRMED else f"**{headline.verdict}**"
        cells = (headline.title, verdict, headline.severity or "–", headline.changes, headline.basis)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return prose("\n".join(lines))


def cause_list(entries: Sequence[Entry], link: Callable[[str], str] | None = None) -> str:
    """The causes behind what does not simply hold, as a Markdown list, each with its claims."""
    lines = []
    for cause in causes(entries):
        named = ", ".join(_named(name, link) for name in cause.claims)
        lines.append(f"- **{cause.title}** ({len(cause.claims)}). {prose(cause.text)} *{named}.*")
    return "\n".join(lines)


def item(entry: Entry, link: Callable[[str], str] | None = None) -> str:
    """One statement: what is printed, what is true, how that is known, and what it changes."""
    claim = entry.claim
    points = {"Printed": mathematics.markdown(claim.printed), "Read as": mathematics.markdown(claim.reading)}
    points["It should be"] = mathematics.markdown(entry.correction)
    if len(entry.readings) > 1:
        readings = (
            f"\n  - *{reading.name}*: {reading.verdict} ({mathematics.markdown(reading.found)})"
            for reading in entry.readings
        )
        points["By reading"] = "".join(readings)
    elif entry.found != entry.correction:
        is_statement = entry.found.startswith(("holds", "fails"))
        points["Checked" if is_statement else "What is true"] = _sentence(entry.found)
    points["Why"] = entry.because
    points["What was printed"] = _sentence(entry.origin) if entry.origin else ""
    points["Taken to mean"] = _sentence(claim.meaning) if claim.meaning else ""
    points["Proof of the correction" if entry.correction else "Proof"] = claim.proof
    points["How we know"] = _sentence(f"{entry.basis}: {entry.evidence}")
    points["What it changes"] = entry.changes
    places = "; ".join(map(placed, claim.places))
    address = [f"(errata-{claim.id})="] if link else []
    lines = [
        *address,
        f"### {claim.says}\n",
        f"*{places}. At stake: {claim.severity}. Ledger: {_named(claim.id, link)}.*\n",
    ]
    lines += [f"- **{name}.** {text}".replace(".** \n", ".**\n") for name, text in points.items() if text]
    return prose("\n".join(lines)) + "\n"


def placed(place: Place) -> str:
    """Where in the paper, such as "Section V-C, Figure 4, line 367"."""
    section = place.section if place.section == "Abstract" else f"Section {place.section}"
    return f"{section}, {place.where}" + (f", line {place.line}" if place.line else "")


def _named(name: str, link: Callable[[str], str] | None) -> str:
    return link(name) if link else f"`{name}`"


def _correction(entry: Entry, link: Callable[[str], str] | None) -> str:
    claim = entry.claim
    said_already = claim.printed == SAME
    stated = claim.says if said_already else f"{claim.says}: {mathematics.markdown(claim.printed)}"
    place = f"{claim.section}, {claim.where}; {entry.evidence}; ledger: {_named(claim.id, link)}"
    lines = [f"- **{stated}.** *{place}.*"]
    if claim.proof:
        lines.append(f"  Proof: {claim.proof}")
    return prose("\n".join(lines)) + "\n"


def _sentence(text: str) -> str:
    """With a full stop and a capital, unless it starts with a symbol."""
    word = re.match(r"[a-z]{2,}\b", text)
    return f"{text[0].upper() if word else text[0]}{text[1:].removesuffix('.')}."
