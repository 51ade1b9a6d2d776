"""The ledger as a whole: which claims, how many verdicts of each kind, what was expected, what is recorded.

``paper/ledger.json`` holds every entry whole, as notebook 10 has settled it. The errata, the report, the
README and the web site are rendered from it; nothing is read back from what they say.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from compendium.ledger.claims import Claim
from compendium.ledger.verdicts import CONFIRMED, KINDS, Entry
from compendium.run.places import ROOT, write

LEDGER = Path("paper/ledger.json")
NOTEBOOK = "10-verdict"
"""The notebook that settles and records the ledger."""
EXPECTED = ROOT / "paper" / "verdicts.toml"
"""The verdicts that are known, apart from the claims: a change is seen."""


@dataclass(frozen=True)
class Witness:
    """One quantity: to how many digits, or in how many entries, each route agrees with the enclosure."""

    quantity: str
    agreement: Mapping[str, str]


@dataclass(frozen=True)
class Book:
    """All entries, those of the paper and ours, and the witnesses."""

    paper: tuple[Entry, ...]
    ours: tuple[Entry, ...]
    witnesses: tuple[Witness, ...]

    def content(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "counts": counts(self.paper),
            "claims": [entry.record() for entry in self.paper],
            "corrections": [entry.record() for entry in self.ours],
            "witnesses": [asdict(witness) for witness in self.witnesses],
        }


def of(content: Mapping[str, Any]) -> Book:
    """The book of some content, as `Book.content` gives it."""
    paper, ours = (tuple(map(Entry.of, content[part])) for part in ("claims", "corrections"))
    return Book(paper, ours, tuple(Witness(**witness) for witness in content["witnesses"]))


def read(root: Path = ROOT) -> Book:
    """The book that is committed."""
    try:
        return of(json.loads((root / LEDGER).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{LEDGER} cannot be read, make reproduce first: {error}") from None


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


def counts(entries: Iterable[Entry]) -> dict[str, int]:
    """How many verdicts there are of each kind, the confirmed ones first."""
    tally = Counter(entry.kind for entry in entries)
    return {kind: tally[kind] for kind in reversed(KINDS)}


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
    verdicts = {entry.claim.id: entry.verdict for entry in entries}
    wanted = {name: known.get(name, "nothing") for name in verdicts}
    if complete:
        wanted |= known
    ours = {entry.claim.id: entry.verdict for entry in corrections}
    return [
        f"{name}: {(verdicts | ours).get(name, 'missing')}, expected {verdict}"
        for name, verdict in (wanted | dict.fromkeys(ours, CONFIRMED)).items()
        if (verdicts | ours).get(name) != verdict
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
