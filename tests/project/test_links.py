"""The documents as a forge shows them: every link leads somewhere, and no markup of the site shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mdit_py_plugins.anchors.index import slugify

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("benchmarks", "figures", "notebooks", "paper", "proofs", "site", "src", "tests")
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", *(f"{folder}/**/*.md" for folder in FOLDERS))
    for path in ROOT.glob(pattern)
    if "pages" not in path.parts  # templates of the web site
)
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:href|data)=\"([^\"]+)\"")
MARKUP = re.compile(r"^(?:\([\w-]+\)=$|:::|```\{|% ).*|(?<!`)\{[a-z:]+\}`", re.MULTILINE)
"""Targets, directives, comments and roles of MyST, which a forge shows as they are written."""
CARET = re.compile(r"(?:ε|δ|[pcBV]|\be|\d)\^[−\w(]|\d[ \u00a0\u202f]%")
OUTSIDE = re.compile(r"```.*?```|\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", re.DOTALL)


def anchors(path: Path) -> set[str]:
    """The addresses in a document: its headings and its anchors."""
    text = path.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {slugify(re.sub(r"<[^>]+>|[`*]", "", heading)) for heading in headings} | set(
        re.findall(r'<a id="([^"]+)"', text)
    )


def dead(path: Path, text: str) -> list[str]:
    """Links of a document that lead nowhere."""
    found = []
    for one, other in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        file, _, anchor = (one or other).partition("#")
        if re.match(r"\w+:|<", file):
            continue
        target = path.parent / file if file else path
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            found.append(one or other)
    return found


def raw(text: str) -> list[str]:
    """Powers with a caret and per cent signs that stand apart, outside of code and formulas."""
    return CARET.findall(OUTSIDE.sub("", text))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_documents_read_cleanly_without_the_site(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert dead(path, text) == []
    assert MARKUP.findall(text) == []
    assert raw(text) == []


WIDE = 84
"""What a line of code on the web pages holds."""


def test_code_on_the_pages_has_lines_that_fit() -> None:
    for path in (ROOT / "site").glob("*.md"):
        for block in re.findall(r"```\w*\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            assert [line for line in block.splitlines() if len(line) > WIDE] == [], path.name


def test_dead_links_and_raw_carets_are_found() -> None:
    page = ROOT / "site/report.md"
    assert dead(page, '[a](../paper/none.pdf) <a href="report.pdf"> [b](../README.md)') == [
        "../paper/none.pdf",
        "report.pdf",
    ]
    assert dead(page, "[a](rerun.md#nowhere) [b](rerun.md#your-own-environment)") == ["rerun.md#nowhere"]
    assert raw("ε^Q and `ε^Q`, $e^x$, e^ε, 5% and 5 %") == ["ε^Q", "e^ε", "5 %"]
    assert len(MARKUP.findall("(a-b)=\n:::{b}\n% c\n```{d}\n```\n`{no}` {ref}`e <f>`\n")) == 5
