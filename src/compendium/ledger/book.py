"""The ledger as a whole: which claims, how many verdicts of each kind, what was expected, what is recorded.

``paper/ledger.json`` holds every entry whole, as notebook 10 has settled it. The errata, the report, the
README and the web site are rendered from it; nothing is read back from what they say.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from compendium.ledger.claims import Claim
from compendium.ledger.headlines import causes, headlines, remarks
from compendium.ledger.verdicts import BASES, CONFIRMED, KINDS, Entry
from compendium.run.places import ROOT

LEDGER = Path("paper/ledger.json")
NOTEBOOK = "10-verdict"
"""The notebook that settles and records the ledger."""


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
            "bases": bases(self.paper),
            "headlines": [asdict(headline) for headline in headlines(self.paper)],
            "causes": [asdict(cause) for cause in causes(self.paper)],
            "remarks": [asdict(remark) for remark in remarks()],
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
                f"section must be one of {', '.join(known)}, or what some start with, got {section!r}"
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


COMPARED = ("verdict", "found", "basis", "evidence", "readings", "correction", "origin", "because", "changes")
"""What is computed of an entry, and compared with what is stored."""


def unexpected(
    entries: Iterable[Entry], corrections: Iterable[Entry], *, complete: bool = False
) -> list[str]:
    """One line for each entry that is not as it is stored; our own statements must be confirmed besides.

    Of a complete ledger, no stored claim may be missing.
    """
    stored = {entry.claim.id: entry.record() for part in (read().paper, read().ours) for entry in part}
    settled, ours = list(entries), list(corrections)
    lines = []
    for entry in (*settled, *ours):
        found, known = entry.record(), stored.pop(entry.claim.id, {"verdict": "nothing"})
        changed = [name for name in COMPARED if found.get(name) != known.get(name)]
        lines += [
            f"{entry.claim.id}: {name} is {found.get(name, 'nothing')}, stored {known.get(name, 'nothing')}"
            for name in changed[:1]
        ]
    lines += [f"{entry.claim.id}: ours, but {entry.verdict}" for entry in ours if entry.verdict != CONFIRMED]
    if complete:
        lines += [f"{name}: missing" for name in stored]
    return lines


def closing(entries: Sequence[Entry], corrections: Sequence[Entry]) -> str:
    """The last lines for a reader: how many of what, and how that is known."""
    lines = [f"{len(entries)} claim{'s' if len(entries) != 1 else ''}: {_parts(counts(entries))}"]
    lines.append(f"known: {_parts(bases(entries))}")
    if corrections:
        confirmed = sum(entry.verdict == CONFIRMED for entry in corrections)
        plural = "s" if len(corrections) != 1 else ""
        lines.append(f"{len(corrections)} statement{plural} of ours: {confirmed} confirmed")
    return "\n".join(lines)


def _parts(tally: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in tally.items() if count)


def bases(entries: Iterable[Entry]) -> dict[str, int]:
    """How many entries are checked by a machine, proved, decided exactly, or tried on a grid."""
    tally = Counter(entry.basis for entry in entries)
    return {basis: tally[basis] for basis in BASES}
