"""Every claim of the ledger: its verdict is as expected, explained, recorded, and can change.

These tests compute the whole ledger several times over; they run without coverage.
"""

import inspect
import pkgutil
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from support import alterations

import compendium.ledger.checks
from compendium.ledger import book, claims, headlines, source, verdicts
from compendium.ledger.claims import SEVERITIES
from compendium.ledger.verdicts import CONFIRMED, CONTRADICTED
from compendium.render import errata, readme

ROOT = Path(__file__).resolve().parents[3]
PAPER, OURS = claims.load(), claims.load(claims.OURS)
ALL = PAPER | OURS
RECORDED = {entry.claim.id: entry for entry in (*book.read().paper, *book.read().ours)}
EQUIVALENT = alterations.equivalents()


# --- The file -------------------------------------------------------------------------------


def test_the_ledger_goes_through_the_paper() -> None:
    assert len(PAPER) > 200
    assert list(dict.fromkeys(claim.section for claim in PAPER.values())) == [
        section.name for section in source.contents()
    ]


@pytest.mark.parametrize("name", PAPER)
def test_a_claim_stands_in_its_section_and_at_its_equation(name: str) -> None:
    sections = {section.name: section for section in source.contents()}
    for place in PAPER[name].places:
        first, last = sections[place.section].lines
        assert first <= place.line <= last
        for number in re.findall(r"^eqs?\. \((\d+)\)", place.where):
            assert source.section_of(int(number)) == place.section


def test_no_two_claims_are_the_same() -> None:
    same = Counter((claim.check, claim.judged, str(claim.at), claim.scale) for claim in PAPER.values())
    assert [key for key, count in same.items() if count > 1] == []


def test_every_check_is_used() -> None:
    used = {claim.check for claim in ALL.values()}
    for module in pkgutil.iter_modules(compendium.ledger.checks.__path__):
        for name, function in inspect.getmembers(import_module(f"compendium.ledger.checks.{module.name}")):
            if (
                inspect.isfunction(function)
                and function.__module__ == f"compendium.ledger.checks.{module.name}"
            ):
                is_check = list(inspect.signature(function).parameters) == ["claim"] and name[0] != "_"
                assert not is_check or f"{module.name}.{name}" in used, name


def test_no_check_reads_the_ledger() -> None:
    """A check may use the file's types, but neither its claims nor what was found of them."""
    for path in (ROOT / "src/compendium/ledger/checks").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"claims\.load|import load|ledger\.json|book\.", text), path.name
        assert not re.search(r"claim\.(says|printed|section|where|meaning|because)\b", text), path.name


def test_corrections_name_claims_that_exist() -> None:
    for claim in OURS.values():
        assert set(claim.corrects) <= set(PAPER), claim.id


def test_headlines_and_causes_name_what_exists() -> None:
    entries = book.read().paper
    assert 10 <= len(headlines.headlines(entries)) <= 15
    listed = [name for cause in headlines.causes(entries) for name in cause.claims]
    assert sorted(listed) == sorted(entry.claim.id for entry in entries if entry.verdict != CONFIRMED)
    lines = {section.name: section.lines for section in source.contents()}
    for remark in headlines.remarks():
        assert lines[remark.section][0] <= remark.line <= lines[remark.section][1]


# --- Each claim -----------------------------------------------------------------------------


@cache
def settled(name: str) -> verdicts.Entry:
    return verdicts.settle(ALL[name])


@pytest.mark.parametrize("name", ALL)
def test_a_claim_is_as_recorded_explained_and_can_fail(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    """All in one test, so that each claim is settled once."""
    entry = settled(name)
    assert RECORDED[name].record() == entry.record()
    assert name in PAPER or entry.verdict == CONFIRMED
    check_explanation(entry)
    if entry.verdict == CONTRADICTED:
        right = verdicts.settle(alterations.right_form(entry))
        assert right.verdict != CONTRADICTED or entry.claim.scale, (
            "a check that never says yes decides nothing"
        )
    unseen, score = [], Counter[str]()
    for outcome in alterations.outcomes(entry):
        listed = (name, outcome.alteration.printed) in EQUIVALENT
        fate = "equivalent" if listed else outcome.fate
        score[fate] += 1
        unseen += [outcome] if (outcome.fate == "unseen") is not listed else []
    record_property(alterations.SCORE, dict(score))
    assert unseen == []


def check_explanation(entry: verdicts.Entry) -> None:
    claim = entry.claim
    assert claim.where
    assert claim.says
    assert not claim.says.endswith(".")
    if entry.verdict != CONFIRMED:
        assert entry.because, "a verdict other than confirmed needs a reason"
        assert entry.changes, "and what it changes"
        assert claim.severity in SEVERITIES
        assert claim.cause
    assert not re.search(r"[{}]|\bNaN|None|Fraction\(", entry.because + entry.changes + entry.found)


@pytest.mark.parametrize(("name", "altered"), EQUIVALENT)
def test_an_alteration_that_says_the_same_has_a_reason_that_is_computed(name: str, altered: str) -> None:
    right = alterations.right_form(settled(name))
    assert alterations.is_equivalent(right, altered, EQUIVALENT[name, altered])


# --- What is written from the ledger --------------------------------------------------------


def test_errata_and_readme_are_those_of_the_ledger() -> None:
    """Of the one that is recorded, whose entries are those that are computed: each claim's test says so."""
    whole = book.Book(
        tuple(RECORDED[name] for name in PAPER), tuple(RECORDED[name] for name in OURS), witnesses=()
    )
    assert errata.document(whole) == (ROOT / "paper/errata.md").read_text(encoding="utf-8")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.between(text, readme.GLANCE, readme.glance(whole)) == text
    assert f"{len(PAPER)} statements" in text
    parts = ", ".join(f"{count} {kind}" for kind, count in book.counts(whole.paper).items() if count)
    assert f"Claims of the paper: {len(PAPER)} checked, {parts}" in text


def test_errata_explain_every_statement_that_does_not_simply_hold() -> None:
    text = (ROOT / "paper/errata.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"Ledger: `([\w-]+)`", text))
    assert listed == {name for name in PAPER if RECORDED[name].verdict != CONFIRMED}
    assert set(OURS) == set(re.findall(r"ledger: `([\w-]+)`", text))
    assert not re.search(r"\bNone\b|\{|Fraction", re.sub(r"\$[^$]*\$", "", text))
