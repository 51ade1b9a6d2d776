"""``paper/errata.md``: every statement that does not hold as printed, written from the ledger."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from compendium.ledger.book import Book
from compendium.ledger.claims import code
from compendium.ledger.verdicts import CONTRADICTED, DEPENDS, PARTLY, SLIP, Entry

ERRATA = Path("paper/errata.md")

HEAD = """# Errata

To *On the connection between the ABS perturbation methodology and differential privacy* by P. Sadeghi and
C.-H. Chien. The ledger (`make verify`) writes this page from [`claims.toml`](claims.toml) and
[`corrections.toml`](corrections.toml), and computes its numbers. It has {total} statements of the paper; the
{confirmed} that are not listed here hold as they stand. So does the paper's main line: the noise, its (ε, δ)
in closed form, the design, and the need for large cell keys. What follows is what a reader who applies the
paper should know beside it. A line *as checked* has the statement in the notation of a program: `eps` and
`delta` for ε and δ, `epsQ`, `deltaQ` or `delta_Q` for ε^Q, δ^Q, `forward` and `backward` for the two
directions of the comparison, `e8`, `e16`, `e32` for the errors with 2^8, 2^16 and 2^32 keys.
"""

PARTS = {
    CONTRADICTED: ("What does not hold", "These statements fail as they stand."),
    SLIP: ("Slips", "Misprints: wrong as printed, right with the correction."),
    DEPENDS: (
        "What depends on the reading",
        "Right under one reading and wrong under another; both are computed.",
    ),
    PARTLY: (
        "Last digits",
        "Right to all the digits that a 64-bit number holds for certain, but not to the last printed one.",
    ),
}


def document(book: Book, link: Callable[[str], str] | None = None) -> str:
    """The whole page; ``link`` makes links to the ledger, and gives each statement an address of its own."""
    wrong = [entry for entry in book.paper if entry.kind in PARTS]
    blocks = [HEAD.format(confirmed=len(book.paper) - len(wrong), total=len(book.paper))]
    for kind, (title, explanation) in PARTS.items():
        chosen = [entry for entry in wrong if entry.kind == kind]
        if chosen:
            blocks += [f"## {title}\n\n{explanation}\n", *(item(entry, link) for entry in chosen)]
    blocks.append(
        "## Corrected statements\n\nOurs, checked in the same way: formulas are proved, numbers enclosed. "
        "Those named `past-…` answer\nquestions that the paper leaves open.\n"
    )
    blocks += (_correction(entry, link) for entry in book.ours)
    return "\n".join(blocks)


def item(entry: Entry, link: Callable[[str], str] | None = None) -> str:
    """One statement: what is printed, what is true, how that is known, and what it changes."""
    claim = entry.claim
    shown = "" if claim.printed == "yes" else code(claim.printed)
    points = {"As checked" if shown.startswith("`") else "Printed": shown}
    points["It should be"] = code(entry.correction) if entry.correction else ""
    if len(entry.readings) > 1:
        readings = (
            f"\n  - *{reading.name}*: {reading.verdict} ({reading.found})" for reading in entry.readings
        )
        points["By reading"] = "".join(readings)
    elif entry.found != entry.correction:
        is_statement = entry.found.startswith(("holds", "fails"))
        points["Checked" if is_statement else "What is true"] = _sentence(entry.found)
    points["Why"] = entry.because
    points["What was printed"] = _sentence(entry.origin) if entry.origin else ""
    points["Taken to mean"] = _sentence(claim.meaning) if claim.meaning else ""
    points["Proof of the correction" if entry.correction else "Proof"] = claim.proof
    points["What it changes"] = entry.changes
    place = claim.section if claim.section == "Abstract" else f"Section {claim.section}"
    address = [f"(errata-{claim.id})="] if link else []
    lines = [
        *address,
        f"### {claim.says}\n",
        f"*{place}, {claim.where}. Ledger: {_named(claim.id, link)}.*\n",
    ]
    lines += [f"- **{name}.** {text}".replace(".** \n", ".**\n") for name, text in points.items() if text]
    return "\n".join(lines) + "\n"


def _named(name: str, link: Callable[[str], str] | None) -> str:
    return link(name) if link else f"`{name}`"


def _correction(entry: Entry, link: Callable[[str], str] | None) -> str:
    claim = entry.claim
    stated = claim.says if claim.printed == "yes" else f"{claim.says}: {code(claim.printed)}"
    place = f"{claim.section}, {claim.where}; {entry.evidence}; ledger: {_named(claim.id, link)}"
    lines = [f"- **{stated}.** *{place}.*"]
    if claim.proof:
        lines.append(f"  Proof: {claim.proof}")
    return "\n".join(lines) + "\n"


def _sentence(text: str) -> str:
    """With a full stop and a capital, unless it starts with a symbol."""
    word = re.match(r"[a-z]{2,}\b", text)
    return f"{text[0].upper() if word else text[0]}{text[1:].removesuffix('.')}."
