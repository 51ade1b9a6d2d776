"""What the ledger amounts to: headlines, root causes and remarks (``paper/headlines.toml``).

A headline's verdict, severity and evidence are those of its claims: the gravest verdict, the gravest
severity, the evidence that reaches least far.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compendium.ledger.claims import SEVERITIES
from compendium.ledger.verdicts import BASES, CONFIRMED, KINDS, Entry
from compendium.run.places import ROOT

FILE = Path("paper/headlines.toml")
AT_STAKE = (*SEVERITIES, "")
"""What can be at stake, the gravest first; nothing, where a headline holds."""


@dataclass(frozen=True)
class Headline:
    """One result, with what its claims have in common."""

    title: str
    verdict: str
    severity: str
    changes: str
    basis: str
    claims: tuple[str, ...]


@dataclass(frozen=True)
class Cause:
    """A root cause, and the claims that do not simply hold because of it."""

    name: str
    title: str
    text: str
    claims: tuple[str, ...]


@dataclass(frozen=True)
class Remark:
    """A remark on notation, which is read and not computed."""

    section: str
    line: int
    text: str


def _listed(kind: str, root: Path = ROOT) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = tomllib.loads((root / FILE).read_text(encoding="utf-8"))[kind]
    return listed


def headlines(entries: Sequence[Entry]) -> list[Headline]:
    """The headlines whose claims are all among the entries, by what is at stake and then by verdict."""
    by_id = {entry.claim.id: entry for entry in entries}
    results = []
    for listed in _listed("headline"):
        if not set(listed["claims"]) <= set(by_id):
            continue
        chosen = [by_id[name] for name in listed["claims"]]
        gravest = min((entry.kind for entry in chosen), key=KINDS.index)
        severities = [
            entry.claim.severity for entry in chosen if entry.claim.severity and entry.verdict != CONFIRMED
        ]
        results.append(
            Headline(
                title=listed["title"],
                verdict=gravest,
                severity=min(severities, key=SEVERITIES.index, default=""),
                changes=listed["changes"],
                basis=max((entry.basis for entry in chosen), key=BASES.index),
                claims=tuple(listed["claims"]),
            )
        )
    return sorted(results, key=lambda one: (AT_STAKE.index(one.severity), KINDS.index(one.verdict)))


def causes(entries: Sequence[Entry]) -> list[Cause]:
    """The root causes, those with the most claims first."""
    found = [
        Cause(
            listed["name"],
            listed["title"],
            listed["text"],
            tuple(
                entry.claim.id
                for entry in entries
                if entry.verdict != CONFIRMED and entry.claim.cause == listed["name"]
            ),
        )
        for listed in _listed("cause")
    ]
    return sorted((cause for cause in found if cause.claims), key=lambda cause: -len(cause.claims))


def remarks() -> list[Remark]:
    """All remarks, in the order of the file."""
    return [Remark(**listed) for listed in _listed("remark")]
