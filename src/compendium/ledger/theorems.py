"""The theorems that Coq has checked (``proofs/``): what they say, where in the paper, and for which claims.

``proofs/theorems.toml`` names them. All else is read from the sources: the words are the comment above a
theorem, and its statement is shown with the variables and assumptions of the section that it stands in.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compendium.run.notation import prose
from compendium.run.places import ROOT

FOLDER = "proofs"
README = "proofs/README.md"
MARKS = ("<!-- the statements", "<!-- end of the statements -->")

_STATED = re.compile(
    r"^\(\*\* (?P<words>(?:(?!\*\)).)*?) \*\)\n"
    r"(?P<text>(?:Theorem (?P<theorem>\w+).*?\.(?=\nProof\.)|"
    r"(?:Program )?(?:Definition|Fixpoint|Record) (?P<definition>\w+).*?\.(?=\n)))",
    re.MULTILINE | re.DOTALL,
)
_SECTION = re.compile(r"^Section (\w+)\.$(.*?)^End \1\.$", re.MULTILINE | re.DOTALL)
_GIVEN = re.compile(r"^(?:Variables?|Hypothesis|Context) .*\.$", re.MULTILINE)


@dataclass(frozen=True)
class Stated:
    """A theorem, or a definition that theorems need, as a source file has it."""

    name: str
    words: str
    text: str
    is_theorem: bool


@dataclass(frozen=True)
class Theorem:
    """A theorem, its place in the paper, and the claims of the ledger whose verdict it proves."""

    name: str
    words: str
    text: str
    file: str
    place: str
    claims: tuple[str, ...]

    @property
    def address(self) -> str:
        """Its anchor on the page of all theorems."""
        return f"coq-{self.name.lower().replace('_', '-')}"


def files(root: Path = ROOT) -> list[Path]:
    """The source files in the order in which each rests on those before it."""
    lines = (root / FOLDER / "_CoqProject").read_text(encoding="utf-8").splitlines()
    return [root / FOLDER / line for line in lines if line.endswith(".v")]


def stated(source: str) -> list[Stated]:
    """The theorems and definitions of a source file that have a comment, in order."""
    found = []
    for match in _STATED.finditer(source):
        around = (one[2] for one in _SECTION.finditer(source) if one.start() < match.start() < one.end())
        given = _GIVEN.findall(next(around, ""))
        words = " ".join(match["words"].split())
        name = match["theorem"] or match["definition"]
        found.append(Stated(name, words, "\n".join([*given, match["text"]]), bool(match["theorem"])))
    return found


@cache
def load(root: Path = ROOT) -> Mapping[str, Theorem]:
    """The theorems that are named, in the order of the files."""
    named = tomllib.loads((root / FOLDER / "theorems.toml").read_text(encoding="utf-8"))
    theorems = {}
    for path in files(root):
        for one in stated(path.read_text(encoding="utf-8")):
            if one.is_theorem and one.name in named:
                about = named[one.name]
                theorems[one.name] = Theorem(
                    one.name, one.words, one.text, path.stem, about["place"], tuple(about["claims"])
                )
    if missing := [name for name in named if name not in theorems]:
        raise ValueError(f"{FOLDER}/theorems.toml names {', '.join(missing)}, which no file states in words")
    return theorems


def proving(claim: str, root: Path = ROOT) -> list[Theorem]:
    """The theorems that prove the verdict of a claim."""
    return [theorem for theorem in load(root).values() if claim in theorem.claims]


def page(root: Path = ROOT, link: Callable[[str], str] | None = None) -> str:
    """All statements as Markdown, with the definitions that they need, file by file.

    ``link`` makes links to the ledger, and gives each theorem an address of its own.
    """
    theorems, blocks = load(root), []
    for path in files(root):
        source = path.read_text(encoding="utf-8")
        title = source.partition("(** ")[2].partition(" *)")[0].removesuffix(".")
        blocks.append(f"## {prose(title)} (`{path.name}`)")
        for one in stated(source):
            if not one.is_theorem:
                blocks.append(f"**{one.name}.** {prose(one.words)}\n\n{_coq(one.text)}")
            elif one.name in theorems:
                blocks.append(_shown(theorems[one.name], link))
    return "\n\n".join(blocks)


def _shown(theorem: Theorem, link: Callable[[str], str] | None) -> str:
    known = ", ".join(map(link or "`{}`".format, theorem.claims))
    place = f"*{theorem.place}{'; ledger: ' if known else ''}{known}.*"
    address = f"({theorem.address})=\n" if link else ""
    return f"{address}### {theorem.name}\n\n{prose(theorem.words)} {place}\n\n{_coq(theorem.text)}"


def _coq(text: str) -> str:
    return f"```coq\n{text}\n```"
