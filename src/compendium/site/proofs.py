"""The proofs for the web site: ``paper/proofs.md``, its theorems, and what refers to them.

Theorems and lemmas share one running number. Each names the functions that rest on it, and their docstrings
name it by its kind and number, such as "Theorem 18". The site makes links of both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from compendium.site import equations

PROOFS = "paper/proofs.md"
CITED = re.compile(r"\b(Theorem|Lemma)\s+(\d+)\b")
"""How a theorem or a lemma is named, here and in docstrings."""

_RESULT = re.compile(
    r"^<a id=\"(?P<label>\w+-\d+)\"></a>\n### (?P<kind>Theorem|Lemma) (?P<number>\d+): (?P<title>.+)\n"
    r"(?P<text>(?:(?!^##|^<a id=\"\w+-\d+\"></a>$).*\n)*)",
    re.MULTILINE,
)
_CODE = re.compile(r"^In code: (.*?)\.\n(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_UNTOUCHED = re.compile(r"(\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|^#[^\n]*$)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Result:
    """A theorem or a lemma: its statement and proof, and the functions that it names."""

    kind: str
    number: int
    title: str
    text: str
    functions: tuple[str, ...]

    @property
    def name(self) -> str:
        """Such as "Theorem 18"."""
        return f"{self.kind} {self.number}"


def results(text: str) -> list[Result]:
    """All theorems and lemmas in order; each must have an anchor, a statement, a proof and functions."""
    statements = []
    for match in _RESULT.finditer(text):
        kind, number, body = match["kind"], match["number"], match["text"]
        code = _CODE.search(body)
        parts = {
            f"the anchor {anchor(label(kind, number))}": match["label"] == label(kind, number),
            "**Statement.**": "**Statement.** " in body,
            "**Proof.** with an end": body.partition("**Proof.** ")[2].count("∎") == 1,
            "a line In code": code is not None,
        }
        missing = [part for part, is_there in parts.items() if not is_there]
        if missing:
            raise ValueError(f"{kind} {number} of {PROOFS} lacks {', '.join(missing)}")
        functions = tuple(re.findall(r"`([\w.]+)`", code[1] if code else ""))
        statements.append(Result(kind, int(number), match["title"], body, functions))
    headings = re.findall(r"^### ", text, re.MULTILINE)
    if len(statements) != len(headings):
        raise ValueError(f"{PROOFS} has {len(headings)} headings, but {len(statements)} theorems and lemmas")
    return statements


def read(root: Path) -> list[Result]:
    """The results of the compendium in ``root``."""
    return results((root / PROOFS).read_text(encoding="utf-8"))


def label(kind: str, number: str) -> str:
    """The anchor of a result.

    >>> label("Theorem", "18")
    'theorem-18'
    """
    return f"{kind.lower()}-{number}"


def page(text: str) -> str:
    """``paper/proofs.md`` with links to other results and to the reference."""
    results(text)
    return equations.linked(targeted(cited(text)))


def anchor(name: str) -> str:
    """An address in Markdown that shows as nothing, on a forge as anywhere else."""
    return f'<a id="{name}"></a>'


def targeted(text: str) -> str:
    r"""Markdown with the site's targets in the place of anchors, which Sphinx does not know.

    >>> targeted('<a id="theorem-18"></a>' + chr(10) + "### Theorem 18")
    '(theorem-18)=\n### Theorem 18'
    """
    return re.sub(r'^<a id="([\w-]+)"></a>$', r"(\1)=", text, flags=re.MULTILINE)


def cited(text: str) -> str:
    """Markdown with links to the results that it names, but for formulas, code and headings.

    >>> cited("By Theorem 18 and `Theorem 18`.")
    'By {ref}`Theorem 18 <theorem-18>` and `Theorem 18`.'
    """
    parts = _UNTOUCHED.split(text)  # what is matched has the odd places
    parts[::2] = [CITED.sub(_as_myst, part) for part in parts[::2]]
    return "".join(parts)


def _as_myst(cited: re.Match[str]) -> str:
    return f"{{ref}}`{cited[1]} {cited[2]} <{label(cited[1], cited[2])}>`"


def as_rst(text: str) -> str:
    """A docstring's text with links to what it cites.

    >>> as_rst("Proof: Theorem 18.")
    'Proof: :ref:`Theorem 18 <theorem-18>`.'
    """
    return CITED.sub(lambda cited: f":ref:`{cited[1]} {cited[2]} <{label(cited[1], cited[2])}>`", text)
