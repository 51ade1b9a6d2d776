"""The report: built from the numbers alone, to the same bytes, and never against the ledger."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
import typst

from compendium.__main__ import main
from compendium.render import report

ROOT = Path(__file__).resolve().parents[3]
SOURCE = (ROOT / "paper/report.typ").read_text(encoding="utf-8")
NUMBERS, LEDGER = (
    json.loads((ROOT / f"paper/{name}.json").read_text(encoding="utf-8")) for name in ("numbers", "ledger")
)

NAMES = (
    r"\b(Example|Figure|Proposition|Definition)s? \d+[ab]?((–|, | and )\d+[ab]?)*"
    r"|\b[Ee]qs?\. \(\d+\)(–\(\d+\))?|float64|SHA-256|Python 3\.11|\b2\^\d+"
)
"""What may carry a digit in the text: names of things."""
CODE = r"\b\d+(\.\d+)?(pt|em|cm|mm|fr|%)|(columns|colspan|level|digits): ?\d|\* \d\b|== 0|, \d+\)"
"""Digits of the layout: lengths, numbers of columns, and to how many digits a number is shown."""


def typed_numbers(source: str) -> list[str]:
    """Digits in the text of the report that are neither formula nor name nor layout."""
    text = re.sub(r"//.*", "", source.split("// --- Text")[1])
    formulas = re.findall(r"\$[^$]*\$", text)
    found = [formula for formula in formulas if re.search(r"\d[.,]\d|\d{3}|\d *%", formula)]
    text = re.sub(r"\$[^$]*\$", "", text)
    found += [string for string in re.findall(r'"[^"\n]*"', text) if re.search(r"\d\.\d|\d %", string)]
    for pattern in (r'"[^"\n]*"', NAMES, CODE):
        text = re.sub(pattern, "", text)
    return found + re.findall(r".*\d.*", text)


def test_the_same_numbers_give_the_committed_bytes(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report"]) == 0
    assert "paper/report.pdf" in capsys.readouterr().out
    assert (output / report.PDF).read_bytes() == (ROOT / report.PDF).read_bytes()


def test_no_number_is_typed() -> None:
    assert typed_numbers(SOURCE) == []
    for typed in ("Of 254 statements", "the share is 81 %", "up to 0.498", "$ε = 0.498$", '"0.498"'):
        assert typed_numbers(f"{SOURCE}\n{typed}") == [typed]


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
    assert swallowed_semicolons(SOURCE) == []
    for text in ("#total; and", '(#rate("a)b"); a coin', "#f(g(1), [x; y]).first(); z", "#item[one][two]; z"):
        assert len(swallowed_semicolons(text)) == 1, text
    assert swallowed_semicolons(r"#total\; and #f(1), and $#x$; or [#y]; or `#z`;") == []


def test_the_typeset_sentences_are_whole() -> None:
    made = typst.compile(
        report.SOURCE,
        root=ROOT,
        format="html",
        ignore_system_fonts=True,
        timestamp=0,
        sys_inputs=report.inputs(NUMBERS, LEDGER),
    )
    assert isinstance(made, bytes)
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", made.decode())))
    assert re.search(r"\(in theory \d+(\.\d+)? %; a coin is right in half\)", text)
    assert re.search(r"0\.05000; printed is the \S+ of \S+ = 11\.", text)
    assert " ;" not in text
    assert " ," not in text


def test_it_is_a_short_article() -> None:
    pages = typst.compile(
        report.SOURCE, root=ROOT, format="png", ppi=10, sys_inputs=report.inputs(NUMBERS, LEDGER)
    )
    assert 6 <= len(pages) <= 12


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
    assert not (output / report.PDF).exists()


def test_a_changed_number_changes_the_report(output: Path) -> None:
    report.build(NUMBERS, altered("fix-drop-share", printed="0.12345"))
    assert (output / report.PDF).read_bytes() != (ROOT / report.PDF).read_bytes()


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
    assert not (output / report.PDF).exists()
