"""``paper/errata.md``: every statement that does not hold as printed, written from the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from compendium.ledger import CONTRADICTED, DEPENDS, PARTLY, SLIP, Entry
from compendium.verify import code, truth

ERRATA = Path("paper/errata.md")

HEAD = """# Errata

To *On the connection between the ABS perturbation methodology and differential privacy* by P. Sadeghi and
C.-H. Chien. The ledger (`tablebuilder-dp verify`) writes this page from [`claims.toml`](claims.toml) and
[`corrections.toml`](corrections.toml), and computes its numbers. It has {total} statements of the paper; the
{confirmed} that are not listed here hold as they stand. So does the paper's main line: the noise, its (ε, δ)
in closed form, the design, and the need for large cell keys. What follows is what a reader who applies the
paper should know beside it.
"""

PARTS = {
    CONTRADICTED: ("What does not hold", "These statements fail as they stand."),
    SLIP: ("Slips", "Misprints: wrong as printed, right with the correction."),
    DEPENDS: (
        "What depends on the reading",
        "Right under one reading and wrong under another; both are computed.",
    ),
    PARTLY: ("Last digits", "Values whose first digits are right."),
}


def document(entries: Sequence[Entry], corrections: Sequence[Entry]) -> str:
    """The whole page."""
    wrong = [entry for entry in entries if entry.kind in PARTS]
    blocks = [HEAD.format(confirmed=len(entries) - len(wrong), total=len(entries))]
    for kind, (title, explanation) in PARTS.items():
        chosen = [entry for entry in wrong if entry.kind == kind]
        if chosen:
            blocks += [f"## {title}\n\n{explanation}\n", *map(item, chosen)]
    blocks.append("## Corrected statements\n\nEach is proved, and checked in the same way as the paper's.\n")
    blocks += map(_correction, corrections)
    return "\n".join(blocks)


def item(entry: Entry) -> str:
    """One statement: what is printed, what is true, how that is known, and what it changes."""
    claim = entry.claim
    lines = [
        f"### {claim.id}",
        f"*Section {claim.section}, {claim.where}.*\n",
        f"- **The paper says.** {claim.says}: {code(claim.printed)}."
        if claim.printed != "yes"
        else f"- **The paper says.** {claim.says}.",
    ]
    if entry.correction:
        lines.append(f"- **It should be.** {code(entry.correction)}.")
    if len(entry.readings) > 1:
        lines.append("- **What is true.**")
        lines += [f"  - {one.name}: {one.verdict}; {one.found}." for one in entry.readings]
    else:
        lines.append(f"- **What is true.** {truth(entry)}.")
    lines.append(f"- **How we know.** {_sentence(entry.evidence)} {entry.because}".rstrip())
    if claim.meaning:
        lines.append(f"- **Taken to mean.** {claim.meaning}")
    if claim.proof:
        lines.append(f"- **Proof.** {claim.proof}")
    lines.append(f"- **What it changes.** {claim.changes}")
    return "\n".join(lines) + "\n"


def _correction(entry: Entry) -> str:
    claim = entry.claim
    stated = f"{claim.says}: {code(claim.printed)}." if claim.printed != "yes" else f"{claim.says}."
    lines = [f"- **{claim.id}** ({claim.section}, {claim.where}). {stated} *{_sentence(entry.evidence)}*"]
    if claim.proof:
        lines.append(f"  Proof: {claim.proof}")
    return "\n".join(lines) + "\n"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
