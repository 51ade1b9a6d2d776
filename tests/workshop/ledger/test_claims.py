"""Every claim of the ledger: its verdict is as expected, explained, recorded, and can change.

These tests compute the whole ledger several times over; they run without coverage.
"""

import inspect
import pkgutil
import re
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest
from support.alterations import altered_formula, altered_number

import compendium.ledger.checks
from compendium.ledger import book, claims, formulas, verdicts
from compendium.ledger.claims import Claim
from compendium.ledger.verdicts import CONFIRMED, DEPENDS
from compendium.render import errata, readme

ROOT = Path(__file__).resolve().parents[3]
PAPER, OURS = claims.load(), claims.load(claims.OURS)
ALL = PAPER | OURS
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
RECORDED = {entry.claim.id: entry for entry in (*book.read().paper, *book.read().ours)}


def verdict(claim: Claim) -> str:
    return verdicts.settle(claim).verdict


# --- The file -------------------------------------------------------------------------------


def test_the_ledger_goes_through_the_paper() -> None:
    assert len(PAPER) > 200
    order = ["Abstract", "I", "II", "III-A", "III-B", "III-C", "III-D", "IV", "V-A", "V-B", "V-C", "VI"]
    assert list(dict.fromkeys(claim.section for claim in PAPER.values())) == order


def test_every_claim_has_an_expected_verdict_and_no_other_has() -> None:
    assert list(book.expected()) == list(PAPER)


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


def test_corrections_name_claims_that_exist() -> None:
    for claim in OURS.values():
        assert set(claim.corrects) <= set(PAPER), claim.id


# --- Each claim -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_a_claim_is_as_expected_explained_recorded_and_can_fail(name: str) -> None:
    """All in one test, so that each claim is settled once."""
    entry = verdicts.settle(ALL[name])
    assert entry.verdict == (book.expected() | dict.fromkeys(OURS, CONFIRMED))[name]
    check_explanation(entry)
    assert RECORDED[name].record() == entry.record()
    answer = next(iter(verdicts.find_truth(entry.claim).readings.values()))
    if NUMBER.fullmatch(entry.claim.printed) and not isinstance(answer, formulas.Cases | str):
        check_number(replace(entry.claim, printed=claims.shown(answer, entry.claim.printed), correction=""))
    elif re.search(r"[-+*/<>=(^]", entry.claim.printed):
        check_formula(entry)
    else:
        check_word(entry)


def check_explanation(entry: verdicts.Entry) -> None:
    claim = entry.claim
    assert claim.where
    assert claim.says
    assert not claim.says.endswith(".")
    if entry.verdict != CONFIRMED:
        assert entry.because, "a verdict other than confirmed needs a reason"
        assert entry.changes, "and what it changes"
    assert not re.search(r"[{}]|\bNaN|None|Fraction\(", entry.because + entry.changes + entry.found)


def check_number(truth: Claim) -> None:
    """The true value is confirmed; another last digit, exponent, sign or index is not."""
    right = verdict(truth)
    assert right in (CONFIRMED, DEPENDS)
    for printed in altered_number(truth.printed):
        if Fraction(printed) != Fraction(truth.printed):  # a zero has no sign and no exponent
            assert verdict(replace(truth, printed=printed)) != right, printed
    for index in {"z", "key"} & set(truth.at):
        steps = (2 * 10**6,) if index == "key" else (1, 10) if truth.at[index] < 0 else (-1,)
        moved = (replace(truth, at={**truth.at, index: truth.at[index] + step}) for step in steps)
        assert any(verdict(claim) != right for claim in moved)


def check_formula(entry: verdicts.Entry) -> None:
    """Some small change makes it another statement: the verdict changes or, if it fails, where."""
    for printed in altered_formula(entry.claim.printed):
        with suppress(ValueError):  # no number, nothing decided, or no formula
            other = verdicts.settle(replace(entry.claim, printed=printed, correction=""))
            if (other.verdict, other.found) != (entry.verdict, entry.found):
                return
    pytest.fail(f"{entry.claim.id} stays {entry.verdict} whatever is printed")


def check_word(entry: verdicts.Entry) -> None:
    """The opposite word has another verdict under some reading."""
    others = {"yes": "no", "increasing": "decreasing", "decreasing": "increasing"}
    printed = entry.claim.printed
    opposite = "10**9" if NUMBER.fullmatch(printed) else others.get(printed, "otherwise")
    other = entry.correction or opposite
    turned = verdicts.settle(replace(entry.claim, printed=other, correction=""))
    assert [one.verdict for one in turned.readings] != [one.verdict for one in entry.readings]


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
    assert listed == {name for name, known in book.expected().items() if known != CONFIRMED}
    assert set(OURS) == set(re.findall(r"ledger: `([\w-]+)`", text))
    assert not re.search(r"\bNone\b|\{|Fraction", text)
