"""The ledger: verdicts follow what is printed, are as expected, and can fail."""

import inspect
import itertools
import json
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import compendium.checks
from compendium import claims, errata, formulas, ledger, verify
from compendium.claims import Claim
from compendium.ledger import CONFIRMED, CONTRADICTED, DEPENDS, PARTLY, SLIP, Truth
from tablebuilder_dp.intervals import Enclosure, enclosure, exp, iv

ROOT = Path(__file__).resolve().parents[1]
PAPER, OURS = claims.load(), claims.load(claims.OURS)
ALL = PAPER | OURS
each_claim = pytest.mark.parametrize("name", ALL)
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")


@cache
def settled(name: str) -> ledger.Entry:
    return ledger.settle(ALL[name])


def verdict(claim: Claim) -> str:
    return ledger.settle(claim).verdict


# --- The file -------------------------------------------------------------------------------


def test_the_ledger_has_every_kind_of_statement() -> None:
    assert len(PAPER) > 120
    assert {claim.section for claim in PAPER.values()} >= {"Abstract", "I", "II", "IV", "VI"}
    order = ["Abstract", "I", "II", "III-A", "III-B", "III-C", "III-D", "IV", "V-A", "V-B", "V-C", "VI"]
    found = list(dict.fromkeys(claim.section for claim in PAPER.values()))
    assert found == order


@each_claim
def test_a_claim_explains_itself(name: str) -> None:
    entry = settled(name)
    claim = entry.claim
    assert claim.where
    assert claim.says
    assert not claim.says.endswith(".")
    if entry.verdict != CONFIRMED:
        assert entry.because, "a verdict other than confirmed needs a reason"
        assert claim.changes, "and what it changes"
    assert "{" not in entry.because
    assert not re.search(r"\bNaN|None|Fraction\(", entry.because + entry.found)


@each_claim
def test_verdicts_are_as_expected(name: str) -> None:
    expected = verify.expected() | dict.fromkeys(OURS, CONFIRMED)
    assert settled(name).verdict == expected[name]


def test_every_claim_has_an_expected_verdict_and_no_other_has() -> None:
    assert list(verify.expected()) == list(PAPER)


def test_every_check_is_used() -> None:
    used = {claim.check for claim in ALL.values()}
    for module in pkgutil.iter_modules(compendium.checks.__path__):
        for name, function in inspect.getmembers(import_module(f"compendium.checks.{module.name}")):
            if not inspect.isfunction(function) or name.startswith("_"):
                continue
            if function.__module__ == f"compendium.checks.{module.name}":
                takes_claim = list(inspect.signature(function).parameters) == ["claim"]
                assert not takes_claim or f"{module.name}.{name}" in used, name


def test_corrections_name_claims_that_exist() -> None:
    for claim in OURS.values():
        assert set(claim.corrects) <= set(PAPER), claim.id


def test_no_sentence_of_the_paper_is_in_the_ledger() -> None:
    """A long formula apart, no text of the ledger is as long as to be taken over unnoticed."""
    texts = [text for claim in ALL.values() for text in (claim.says, claim.meaning, claim.because)]
    assert all("\\" not in text for text in texts)


# --- Verdicts can change --------------------------------------------------------------------


def corrected(name: str) -> Claim | None:
    """A numeric claim with the true value as print, or None for formulas and words."""
    claim = ALL[name]
    if not NUMBER.fullmatch(claim.printed):
        return None
    answers = list(ledger.find_truth(claim).readings.values())
    if isinstance(answers[0], formulas.Cases | str):
        return None
    return replace(claim, printed=claims.shown(answers[0], claim.printed), correction="")


def altered(printed: str) -> Iterator[str]:
    """The number with another last digit, exponent or sign."""
    mantissa, _, exponent = printed.partition("e")
    last = str((int(mantissa[-1]) + 1) % 10)
    tail = f"e{exponent}" if exponent else ""
    yield mantissa[:-1] + last + tail
    yield f"{mantissa}e{int(exponent or 0) + 1}"
    yield printed[1:] if printed.startswith("-") else f"-{printed}"


NUMERIC = [name for name in ALL if corrected(name)]


@pytest.mark.parametrize("name", NUMERIC)
def test_a_numeric_verdict_changes_with_each_digit_exponent_and_sign(name: str) -> None:
    truth = corrected(name)
    assert truth is not None
    right = verdict(truth)
    assert right in (CONFIRMED, DEPENDS)
    for printed in altered(truth.printed):
        if Fraction(printed) != Fraction(truth.printed):  # a zero has no sign and no exponent
            assert verdict(replace(truth, printed=printed)) != right, printed
    if ALL[name].printed == truth.printed:
        assert settled(name).verdict == right


@pytest.mark.parametrize("name", [name for name in NUMERIC if {"z", "key"} & set(ALL[name].at)])
def test_a_numeric_verdict_changes_with_its_index(name: str) -> None:
    truth = corrected(name)
    assert truth is not None
    [index] = {"z", "key"} & set(truth.at)
    step = 10**6 if index == "key" else 1 if truth.at[index] < 0 else -1
    moved = replace(truth, at={**truth.at, index: truth.at[index] + step})
    assert verdict(moved) != verdict(truth)
