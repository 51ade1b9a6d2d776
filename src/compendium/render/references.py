"""The sources of ``paper/references.bib`` for ``paper/related.md``, each with what was read of it.

The field ``verified`` of an entry says how far it was checked: a kind of ``READ``, and where. It is "no" for
what is listed from memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from compendium.run.places import ROOT

REFERENCES = "paper/references.bib"
RELATED = "paper/related.md"
SOURCES = ("<!-- the sources", "<!-- end of the sources -->")
DAGGER = "†"
READ = {
    "whole": "**Verified:** read whole ({where}).",
    "part": "**Verified:** read in part ({where}).",
    "abstract": "**Verified:** abstract read ({where}).",
    "documentation": "**Verified:** documentation read ({where}).",
    "record": f"**Record verified** ({{where}}); contents not read{DAGGER}.",
    "no": f"**Not verified here:** listed from memory{DAGGER}.",
}
"""What is said of a source by how far it was checked."""
PLACES = ("journal", "booktitle", "series", "publisher", "institution", "howpublished")

_ENTRY = re.compile(r"^@(?P<kind>\w+)\{(?P<key>\w+),\n(?P<fields>(?:  \w+ = \{.*\},\n)+)\}$", re.MULTILINE)
_CITED = re.compile(rf"\[(?P<words>[^\]]+)\]\(#source-(?P<key>\w+)\)(?P<dagger>{DAGGER}?)")


@dataclass(frozen=True)
class Source:
    """An entry of the bibliography: its key and its fields as they are written."""

    key: str
    fields: Mapping[str, str]

    @property
    def checked(self) -> tuple[str, str]:
        """The kind of check, and where."""
        kind, _, where = self.fields.get("verified", "").partition(": ")
        if kind not in READ or (kind != "no") != bool(where):
            raise ValueError(f"verified must be a kind of {', '.join(READ)} and a place, at {self.key}")
        return kind, where

    @property
    def unread(self) -> bool:
        """Whether nothing of it was read but its record, or not even that."""
        return self.checked[0] in {"record", "no"}

    @property
    def authors(self) -> str:
        """Such as "Jordan Awan and Salil Vadhan"."""
        names = re.split(r" and ", self.fields["author"])
        turned = [_plain(" ".join(reversed(name.split(", ")))) for name in names]
        if turned[-1] == "others":
            return f"{', '.join(turned[:-1])} and others"
        return " and ".join(filter(None, [", ".join(turned[:-1]), turned[-1]]))

    def words(self, title: str = "{}") -> str:
        """Authors, title, where it was published, and when."""
        named = title.format(self.fields["title"])
        parts = [self.authors, named, *self._homes(), self.fields.get("year", "")]
        return _plain(", ".join(filter(None, parts)))

    @property
    def markdown(self) -> str:
        """The whole entry with its mark, as a paragraph that can be linked to."""
        kind, where = self.checked
        words = self.words("*{}*")
        if "url" in self.fields:
            words += f", <{self.fields['url']}>"
        return f'<a id="source-{self.key}"></a>\n{words}. {READ[kind].format(where=where)}'

    def _homes(self) -> list[str]:
        """Where it was published: a journal with its number, a series with its volume, a number of arXiv."""
        of = self.fields.get
        number = of("volume", "") + (
            f"({of('number')})" if "volume" in self.fields and "number" in self.fields else ""
        )
        names = [self.fields[name] for name in PLACES if name in self.fields]
        if names and number:
            names[-1] += f" {number}"
        return [*names, *([f"arXiv {of('eprint')}"] if "eprint" in self.fields else [])]


def _plain(text: str) -> str:
    return re.sub(r"[{}]", "", text).replace("--", "–")


def sources(text: str) -> list[Source]:
    """All entries of a bibliography, which must have one field a line."""
    found = [
        Source(entry["key"], dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry["fields"], re.MULTILINE)))
        for entry in _ENTRY.finditer(text)
    ]
    if len(found) != len(re.findall(r"^@", text, re.MULTILINE)) or len({one.key for one in found}) < len(
        found
    ):
        raise ValueError(f"{REFERENCES} has an entry of another form, or two with one key")
    return found


def read(root: Path = ROOT) -> list[Source]:
    """The sources of the compendium in ``root``."""
    return sources((root / REFERENCES).read_text(encoding="utf-8"))


def listed(found: Iterable[Source]) -> str:
    """The sources as Markdown, by their authors."""
    ordered = sorted(
        found, key=lambda one: (_plain(one.fields["author"]).lower(), one.fields.get("year", ""))
    )
    return "\n\n".join(one.markdown for one in ordered)


def cited(text: str) -> dict[str, set[bool]]:
    """The keys that a page links to, and whether with a dagger.

    >>> cited("[Baker](#source-baker)† says it, and [Arb](#source-arb).")
    {'baker': {True}, 'arb': {False}}
    """
    found: dict[str, set[bool]] = {}
    for citation in _CITED.finditer(text):
        found.setdefault(citation["key"], set()).add(bool(citation["dagger"]))
    return found
