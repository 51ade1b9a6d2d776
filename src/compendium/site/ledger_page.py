"""The ledger for the web site: every statement with its verdict, as the templates of ``site/pages`` need it.

Nothing is settled anew: the entries are those of ``paper/ledger.json``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from markupsafe import Markup, escape

from compendium.figures import palette
from compendium.ledger import book, claims
from compendium.ledger.claims import Claim
from compendium.ledger.headlines import Headline, headlines
from compendium.ledger.mathematics import latex
from compendium.ledger.theorems import Theorem, proving
from compendium.ledger.verdicts import KINDS, Entry
from compendium.render import errata
from compendium.run.manifest import NUMBERS
from compendium.run.notation import POWER, powers, raised

OURS = "ours"
"""In the place of a verdict: a statement of ours, which is always confirmed."""
COLOURS = {**{kind: palette.VERDICTS[kind] for kind in KINDS}, OURS: "grey"}

TREATED = {
    "I": "00",
    "II": "00",
    "III-A": "01",
    "III-B": "02",
    "III-C": "03",
    "III-D": "04",
    "IV": "06",
    "V-A": "07",
    "V-B": "08",
    "V-C": "09",
}
"""The notebook about each section of the paper."""
ANSWERED = {
    "best-gamma": "11",
    "example": "11",
    "gap": "11",
    "symmetric": "12",
    "keysize": "12",
    "least-delta": "13",
    "composition": "14",
    "margins": "14",
    "two-designs": "14",
    "clamped-bias": "15",
    "hole": "15",
}
"""The notebook about each question that the paper leaves open, by the beginning of ``past-…``."""


@dataclass(frozen=True)
class Line:
    """One statement of the ledger and all that a page shows of it."""

    entry: Entry
    kind: str
    notebook: str
    see: tuple[str, ...]
    """Statements that stand beside this one."""

    @property
    def claim(self) -> Claim:
        """What is stated."""
        return self.entry.claim

    @property
    def theorems(self) -> list[Theorem]:
        """The theorems that Coq has checked for it."""
        return proving(self.claim.id)

    @property
    def statement(self) -> str:
        """What is stated, with the number that is printed."""
        return claims.statement(self.claim)

    @property
    def slug(self) -> str:
        """The kind of the verdict for addresses and style sheets."""
        return slug(self.kind)

    @property
    def place(self) -> str:
        """Everywhere in the paper, such as "Section V-C, Figure 4, line 367"."""
        return "; ".join(map(errata.placed, self.claim.places))


def slug(kind: str) -> str:
    """A kind of verdict without spaces.

    >>> slug("confirmed to k digits")
    'confirmed-to-k-digits'
    """
    return kind.replace(" ", "-")


@dataclass(frozen=True)
class Ledger:
    """All lines, those of the paper and ours."""

    paper: tuple[Line, ...]
    ours: tuple[Line, ...]

    def sections(self) -> dict[str, list[Line]]:
        """The paper's lines by section, in its order."""
        by_section: dict[str, list[Line]] = {}
        for line in self.paper:
            by_section.setdefault(line.claim.section, []).append(line)
        return by_section

    def counts(self) -> dict[str, int]:
        """How many lines of the paper have each kind of verdict, those to be seen first in front."""
        tally = Counter(line.kind for line in self.paper)
        return {kind: tally[kind] for kind in KINDS}

    @property
    def headlines(self) -> list[Headline]:
        """What the paper's lines amount to, gravest first."""
        return headlines([line.entry for line in self.paper])

    def hanging(self) -> list[Line]:
        """The lines of the paper whose verdict hangs on a limit of ours."""
        return [line for line in self.paper if line.entry.hangs]

    def of(self, kind: str) -> list[Line]:
        """The lines of the paper with one kind of verdict."""
        return [line for line in self.paper if line.kind == kind]


def load(root: Path) -> Ledger:
    """The ledger as recorded, below the root of the compendium."""
    recorded = book.read(root)
    stated = [
        name for path in (claims.PAPER, claims.OURS) for name in claims.load(root / "paper" / path.name)
    ]
    settled = {entry.claim.id for entry in (*recorded.paper, *recorded.ours)}
    if missing := [name for name in stated if name not in settled]:
        raise ValueError(f"{book.LEDGER} has no verdict of {', '.join(missing)}: make reproduce first")
    numbers = json.loads((root / NUMBERS).read_text(encoding="utf-8"))
    beside: dict[str, tuple[str, ...]] = {entry.claim.id: entry.claim.corrects for entry in recorded.ours}
    for entry in recorded.ours:
        for other in entry.claim.corrects:
            beside[other] = (*beside.get(other, ()), entry.claim.id)

    def line(entry: Entry, kind: str) -> Line:
        return Line(entry, kind, notebook(entry.claim, numbers), beside.get(entry.claim.id, ()))

    paper = tuple(line(entry, entry.kind) for entry in recorded.paper)
    return Ledger(paper, tuple(line(entry, OURS) for entry in recorded.ours))


def link(claim: str) -> str:
    """A link to a statement from a page that is not at the top; Markdown knows no addresses of raw HTML."""
    return f'<a href="../ledger.html#claim-{claim}"><code>{claim}</code></a>'


def notebook(claim: Claim, numbers: Mapping[str, Mapping[str, str]]) -> str:
    """The name of the notebook that treats a claim: that which records its value, or that of its section."""
    for name, recorded in numbers.items():
        if claim.id in recorded:
            return name
    number = TREATED.get(claim.section, "")
    for beginning, answer in ANSWERED.items():
        if claim.id.startswith(f"past-{beginning}"):
            number = answer
    return next((name for name in numbers if number and name.startswith(number)), "")


def citation(cff: str) -> list[dict[str, Any]]:
    """The paper and the compendium from ``CITATION.cff``: authors, title, version, and BibTeX."""
    about = yaml.safe_load(cff)
    return [_reference(entry) for entry in (*about["references"], about)]


def _reference(entry: Mapping[str, Any]) -> dict[str, Any]:
    authors = [
        f"{person['family-names']}, {person['given-names']}" if "family-names" in person else person["name"]
        for person in entry["authors"]
    ]
    names = [name if "," in name else f"{{{name}}}" for name in authors]
    fields = {"author": " and ".join(names), "title": f"{{{entry['title']}}}"}
    fields |= {key: str(entry[key]) for key in ("version", "year", "doi", "journal") if key in entry}
    kind = {"article": "article", "software": "software"}[entry["type"]]
    entry_type = kind
    if kind == "article" and "journal" not in fields:
        entry_type = "misc"
        fields |= {"howpublished": entry["status"].capitalize(), "note": entry["notes"].partition(". ")[0]}
    if "license" in entry:
        fields["note"] = f"Licences: {', '.join(entry['license'])}"
    name, word = authors[0].partition(",")[0].removeprefix("The "), entry["title"].split()[-1]
    key = re.sub(r"\W+", "-", f"{name} {word}".lower())
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return {
        "authors": authors,
        "title": entry["title"],
        "kind": kind,
        "version": entry.get("version", ""),
        "bibtex": f"@{entry_type}{{{key},\n{lines}\n}}",
    }


def listed(words: Sequence[str]) -> str:
    """Words in a sentence.

    >>> listed(["V-A", "V-B", "V-C"]), listed(["I"])
    ('V-A, V-B and V-C', 'I')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def stated(text: str) -> Markup:
    """What is printed, or how it is read: a formula for MathJax, a number or a word as HTML."""
    if formula := latex(text):
        return Markup('<span class="math notranslate nohighlight">\\({}\\)</span>').format(formula)
    return as_html(text)


def as_html(text: str) -> Markup:
    """Text as HTML in which no line ends inside a number such as 1.5·10⁻⁵ and powers are raised.

    >>> print(as_html("p^Q < 1.5e-5 = 2^−16·e^(γz²)"))
    p<sup>Q</sup> &lt; <span class="number">1.5·10<sup>−5</sup></span> = 2<sup>−16</sup>·e<sup>γz²</sup>
    """
    html = re.sub(POWER, lambda match: f'<span class="number">{powers(match[0])}</span>', str(escape(text)))
    html = powers(raised(html))
    return Markup(html)  # noqa: S704 (it was escaped)
