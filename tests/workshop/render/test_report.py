"""The articles: built from the numbers alone, to the same bytes, and never against the ledger."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from compendium.__main__ import main
from compendium.render import report
from compendium.site import proofs

ROOT = Path(__file__).resolve().parents[3]
SOURCES = {name: report.source(name).read_text(encoding="utf-8") for name in report.ARTICLES}
NUMBERS, LEDGER = (
    json.loads((ROOT / f"paper/{name}.json").read_text(encoding="utf-8")) for name in ("numbers", "ledger")
)

NAMES = (
    r"(?:\b|_)(Example|Figure|Proposition|Definition)s? \d+[ab]?((–|, | and )\d+[ab]?)*"
    r"|\b[Ee]qs?\. \(\d+\)(–\(\d+\))?|#(by|theorem)\(\d+\)|float64|SHA-256|Python 3\.11|\b2\^\d+"
)
"""What may carry a digit in the text: names of things."""
CODE = r"\b\d+(\.\d+)?(pt|em|cm|mm|fr)|(columns|colspan|level|digits): ?\d|scale: \d+%|\* \d\b|== 0|, \d+\)"
"""Digits of the layout: lengths, numbers of columns, and to how many digits a number is shown."""
LEAST_POINTS = 7
"""The smallest type in a figure, in print."""


def typed_numbers(source: str) -> list[str]:
    """Digits in the text of an article that are neither formula nor name nor layout."""
    text = re.sub(r"//.*", "", source.split("// --- Text")[1])
    formulas = re.findall(r"\$[^$]*\$", text)
    found = [formula for formula in formulas if re.search(r"\d[.,]\d|\d{3}|\d *%", formula)]
    text = re.sub(r"\$[^$]*\$", "", text)
    found += [string for string in re.findall(r'"[^"\n]*"', text) if re.search(r"\d\.\d|\d *%", string)]
    for pattern in (r'"[^"\n]*"', NAMES, CODE):
        text = re.sub(pattern, "", text)
    return found + re.findall(r".*\d.*", text)


def typeset(name: str, **options: Any) -> Any:
    return report.typeset(name, report.inputs(NUMBERS, LEDGER), **options)


def test_the_same_numbers_give_the_committed_bytes(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report"]) == 0
    shown = capsys.readouterr().out
    for path in report.PDFS:
        assert str(path) in shown
        assert (output / path).read_bytes() == (ROOT / path).read_bytes()


@pytest.mark.parametrize("name", report.ARTICLES)
def test_no_number_is_typed(name: str) -> None:
    assert typed_numbers(SOURCES[name]) == []
    for typed in ("Of 254 statements", "the share is 81%", "up to 0.498", "$ε = 0.498$", '"0.498"'):
        assert typed_numbers(f"{SOURCES[name]}\n{typed}") == [typed]


def swallowed_semicolons(source: str) -> list[str]:
    """Calls and names in the text that a semicolon follows: Typst takes it for the end of the code."""
    found = []
    for start in re.finditer(r"#[a-zA-Z][\w-]*", source):
        end = start.end()
        while end < len(source):
            if source[end] in "([":
                end = closing(source, end) + 1
            elif method := re.match(r"\.[a-zA-Z][\w-]*", source[end:]):
                end += method.end()
            else:
                break
        if source[end : end + 1] == ";":
            found.append(source[start.start() : end + 1])
    return found


def closing(source: str, start: int) -> int:
    """Where the bracket that opens at ``start`` is closed; those in strings do not count."""
    depth, place = 0, start
    while place < len(source):
        if source[place] == '"':
            place = source.index('"', place + 1)
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(source[place], 0)
        if not depth:
            return place
        place += 1
    return place


def test_no_semicolon_is_swallowed() -> None:
    for name, source in SOURCES.items():
        assert swallowed_semicolons(source) == [], name
    for text in ("#total; and", '(#rate("a)b"); a coin', "#f(g(1), [x; y]).first(); z", "#item[one][two]; z"):
        assert len(swallowed_semicolons(text)) == 1, text
    assert swallowed_semicolons(r"#total\; and #f(1), and $#x$; or [#y]; or `#z`;") == []


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("report", r"for the larger one it is 0\.05000, and text"),
        ("beyond", r"\(in theory \d+(\.\d+)?%; a coin is right in half\)"),
    ],
)
def test_the_typeset_sentences_are_whole(name: str, sentence: str) -> None:
    made = typeset(name, format="html")
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", made.decode())))
    assert re.search(sentence, text)
    assert " ;" not in text
    assert " ," not in text


def test_the_report_has_eight_pages_at_most() -> None:
    assert 6 <= len(typeset("report", format="png", ppi=10)) <= 8


@pytest.mark.parametrize("name", report.ARTICLES)
def test_figures_are_legible_in_print(name: str) -> None:
    named = r'drawn\("([\w-]+)"(?:, scale: (\d+)%)?\)|\("(figure-\w+)", \['
    common = (ROOT / "paper/common.typ").read_text(encoding="utf-8")
    [usual] = re.findall(r"#let drawn\(name, scale: (\d+)%\)", common)
    shown = [(one or other, int(scale or usual)) for one, scale, other in re.findall(named, SOURCES[name])]
    assert len(shown) > 5
    for figure, percent in shown:
        picture = (ROOT / f"figures/{figure}.svg").read_text(encoding="utf-8")
        points = [100 * float(size) for size in re.findall(r"scale\(([\d.]+) -", picture)]
        assert min(points) * percent / 100 >= LEAST_POINTS, figure


def test_the_figures_of_the_paper_are_in_order() -> None:
    shown = re.findall(r'"(figure-\w+)"', SOURCES["report"])
    assert shown == sorted(path.stem for path in (ROOT / "figures").glob("figure-*.png"))


def test_theorems_have_the_numbers_and_names_of_the_proofs() -> None:
    results = {
        str(result.number): (result.kind, result.title.replace("<sup>", "^").replace("</sup>", ""))
        for result in proofs.read(ROOT)
    }
    assert report.theorems() == results
    stated = re.findall(r"#theorem\((\d+)\)", SOURCES["beyond"])
    assert len(stated) == len(set(stated)) > 25


def altered(name: str, **changes: str) -> dict[str, Any]:
    """The ledger with other values in one entry."""
    return {
        part: [entry | changes if entry["id"] == name else entry for entry in entries]
        if part in ("claims", "corrections")
        else entries
        for part, entries in LEDGER.items()
    }


@pytest.mark.parametrize("name", ["ex1-p12", "post-guarantee", "fix-bias", "priv-prop2-guarantee"])
def test_a_changed_verdict_is_no_longer_typeset(output: Path, name: str) -> None:
    changed = altered(name, verdict="depends")
    with pytest.raises(ValueError, match=r"paper/report\.typ cannot be typeset: .*"):
        report.build(NUMBERS, changed)
    assert not (output / report.PDFS[0]).exists()


def test_a_changed_answer_is_no_longer_typeset_either(output: Path) -> None:
    given = report.inputs(NUMBERS, altered("past-hole", verdict="contradicted"))
    with pytest.raises(ValueError, match=r"paper/beyond\.typ cannot be typeset: .*past-hole"):
        report.typeset("beyond", given)


def test_a_changed_number_changes_the_report(output: Path) -> None:
    report.build(NUMBERS, altered("fix-drop-share", printed="0.12345"))
    first, second = report.PDFS
    assert (output / first).read_bytes() != (ROOT / first).read_bytes()
    assert (output / second).read_bytes() == (ROOT / second).read_bytes()


def test_unreadable_numbers_get_one_sentence(
    output: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for content in (None, "{", "{}"):
        path = output / "numbers.json"
        if content is not None:
            path.write_text(content)
        monkeypatch.setattr(report, "NUMBERS", path)
        assert main(["report"]) == 2
        assert capsys.readouterr().err.startswith("report: ")
    assert not (output / report.PDFS[0]).exists()
