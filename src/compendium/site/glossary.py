"""The glossary for the web site: Sphinx's, with entries in its index, in the place of a list in Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ENTRY = re.compile(
    r"^- (?:<a id=\"(?P<anchor>[\w-]+)\"></a>)?\*\*(?P<name>.+?)\.\*\* (?P<sentence>.+(?:\n  \S.*)*)"
    r"\n\n  (?P<line>.+)$",
    re.MULTILINE,
)
_LIST = re.compile(rf"(?:{re.sub(r'[?]P<[a-z]+>', '?:', _ENTRY.pattern)}\n*)+", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """One entry: its anchor if it is linked, its name, its sentence, the line with symbol, code and place."""

    anchor: str
    name: str
    sentence: str
    line: str


def entries(text: str) -> list[Entry]:
    """All entries of ``site/glossary.md``, or of a part of it, in order."""
    return [
        Entry(
            match["anchor"] or "",
            match["name"].replace(r"\*", "*"),
            " ".join(match["sentence"].split()),
            match["line"],
        )
        for match in _ENTRY.finditer(text)
    ]


def page(text: str) -> str:
    r"""The page with Sphinx's glossaries, whose terms have the addresses that the list's anchors name.

    >>> print(page("- <a id=\"term-z-star-z\"></a>**z star (z\\*).** A place.\n\n  *Symbol* $z^*$\n"))
    ```{glossary}
    z star (z*)
      A place.
    <BLANKLINE>
      *Symbol* $z^*$
    ```
    <BLANKLINE>
    """
    return _LIST.sub(lambda part: _directive(entries(part[0])), text)


def _directive(listed: list[Entry]) -> str:
    terms = "\n\n".join(f"{one.name}\n  {one.sentence}\n\n  {one.line}" for one in listed)
    return f"```{{glossary}}\n{terms}\n```\n\n"
