"""One source of words: each is used where the source says, and neither widgets nor pages have others."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from compendium.run.places import ROOT
from compendium.studies import explorer, game, phrases

STATIC = ROOT / "site/static"
SOURCES = {
    "explorer": ("studies/explorer", "studies/explorer_words", "course/explorer_widgets", "figures/explorer"),
    "game": ("studies/game", "studies/game_words", "course/game_widgets"),
}
WORDS = {"explorer": explorer.WORDS, "game": game.WORDS}
each_tool = pytest.mark.parametrize("tool", WORDS)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def python(tool: str) -> str:
    return "".join(read(ROOT / f"src/compendium/{name}.py") for name in SOURCES[tool])


def scripts(tool: str) -> str:
    """The page's scripts; those that draw name their words after the picture."""
    code = "".join(read(path) for path in sorted(STATIC.glob(f"{tool}*.js")))
    drawn = [f'"{name}_{part}"' for name in ("pmf", "curve", "ratios") for part in ("title", "x", "y")]
    return code + "".join(drawn) if "${name}_title" in code else code


def template(tool: str) -> str:
    return read(ROOT / f"site/{tool}.html")


def named(code: str) -> set[str]:
    """Every name in quotes: sentences are asked for by such a name."""
    return set(re.findall(r'["\']([a-z][a-z_]*)["\']', code))


def attributes(html: str, table: str) -> set[str]:
    """What a template takes from a table of the words."""
    filled = " ".join(re.findall(r"\{\{.*?\}\}|\{%.*?%\}", html))
    return set(re.findall(rf"\b{table}\.(\w+)", filled))


@each_tool
def test_every_sentence_is_used_where_the_source_says(tool: str) -> None:
    source, page = WORDS[tool], named(scripts(tool)) | attributes(template(tool), "say")
    notebook = named(python(tool))
    assert set(source["say"]) - page == set()
    assert set(source["say"]) - notebook == set()
    assert set(source["page"]) - (named(scripts(tool)) | attributes(template(tool), "page")) == set()
    assert set(source["notebook"]) - notebook == set()
    assert (source["page"].keys() | source["say"].keys()) & source["notebook"].keys() == set()
    assert source["page"].keys() & source["say"].keys() == set()


@each_tool
def test_every_sentence_that_is_asked_for_exists(tool: str) -> None:
    source = WORDS[tool]
    for code, tables in ((python(tool), ("say", "notebook")), (scripts(tool), ("say", "page"))):
        known = {name for table in tables for name in source[table]}
        asked = [named(call) for call in re.findall(r"\bsay\(([^,()]*(?:\([^()]*\))?[^,()]*)[,)]", code)]
        assert len(asked) > 10
        assert set().union(*asked) <= known
    for table in ("say", "page"):
        assert not set(source[table]) & set(dir(dict))  # a template would take the method
        assert attributes(template(tool), table) <= source[table].keys()


@each_tool
def test_what_a_field_or_a_row_has_is_used(tool: str) -> None:
    """Each part of a field or row by its name: as a key in Python, as an attribute in the page."""
    parts = {part for field in WORDS[tool]["fields"].values() for part in field}
    parts |= {part for row in WORDS[tool].get("rows", []) for part in row}
    everything = python(tool) + read(ROOT / "src/compendium/site/tools.py")
    page = template(tool) + scripts(tool)
    unused = {part for part in parts if part not in named(everything) and f".{part}" not in page}
    assert unused - {"low", "high"} == set()  # they fill places
    assert set(WORDS[tool]) <= named(everything) | {"fields", "say", "page", "notebook"} | attributes(
        page, "words"
    )


def sentences(found: Any) -> list[str]:
    if isinstance(found, dict):
        return [text for value in found.values() for text in sentences(value)]
    if isinstance(found, list):
        return [text for value in found for text in sentences(value)]
    return [found] if isinstance(found, str) else []


@each_tool
def test_every_brace_is_a_place(tool: str) -> None:
    for text in sentences(WORDS[tool]):
        assert not re.search(r"[{}]", phrases.PLACE.sub("", text)), text


@each_tool
def test_plain_english(tool: str) -> None:
    for text in sentences(WORDS[tool]):
        assert not re.search(r"\bso (many|much)\b|exactly if|  |\bthat that\b", text), text
        assert text == text.strip(), text


PROSE = re.compile(r"[A-Za-z’']{2,},? [a-z]{2,},? [a-z]{2,}")
"""Three words in a row."""


@each_tool
def test_scripts_have_no_sentences_of_their_own(tool: str) -> None:
    left_out = (
        r"/\*.*?\*/|//[^\n]*|RangeError\([^)]*\)|<path[^`\n]*"  # errors of ours, and places in pictures
    )
    code = re.sub(left_out, "", scripts(tool), flags=re.DOTALL)
    strings = re.findall(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`', code)
    assert len(strings) > 20
    assert [text for text in strings if PROSE.search(re.sub(r"\$\{[^}]*\}|<[^>]*>", "", text))] == []


@each_tool
def test_widgets_have_no_sentences_of_their_own(tool: str) -> None:
    tree = ast.parse(read(ROOT / f"src/compendium/course/{tool}_widgets.py"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docs = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)}
    texts = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert [
        text for text in texts - docs if PROSE.search(re.sub("<[^>]*>", "", text)) and ":" not in text
    ] == []


@each_tool
def test_labels_of_the_page_come_from_the_source(tool: str) -> None:
    """Paragraphs of prose are the page's own; what names a control, a number or a picture is not."""
    html = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", template(tool), flags=re.DOTALL)
    tags = "label|legend|button|option|th|td|dt|dd|figcaption|h2|h3|small|span|output"
    found = re.findall(rf"<({tags})\b[^>]*>(.*?)</\1>", html, flags=re.DOTALL)
    assert len(found) > 5
    for tag, inner in found:
        own = re.sub(r"<kbd>.*?</kbd>|<sup>.*?</sup>|<[^>]*>", "", inner).strip()
        assert not re.search(r"[A-Za-z]{2}", own), (tag, own)
    styles = read(STATIC / f"{tool}.css")
    assert not re.search(r'content: "[A-Za-z]', styles)
