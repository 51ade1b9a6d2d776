"""The ledger: verdicts follow what is printed, are as expected, and can fail."""

import inspect
import json
import pkgutil
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import compendium.checks
from compendium import claims, errata, formulas, ledger, manifest, verify
from compendium.claims import Claim
from compendium.ledger import CONFIRMED, DEPENDS, Truth
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
        assert entry.changes, "and what it changes"
    assert "{" not in entry.because + entry.changes
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
    steps = (2 * 10**6,) if index == "key" else (1, 10) if truth.at[index] < 0 else (-1,)
    moved = (replace(truth, at={**truth.at, index: truth.at[index] + step}) for step in steps)
    assert any(verdict(claim) != verdict(truth) for claim in moved)


FORMULAS = [name for name in ALL if name not in NUMERIC and re.search(r"[-+*/<>=(^]", ALL[name].printed)]
WORDS = [name for name in ALL if name not in NUMERIC and name not in FORMULAS]


def altered_formula(printed: str) -> Iterator[str]:
    """The formula with one number, sign, relation or function changed."""
    for found in re.finditer(r"(?<![\w.])\d+(?![\w.])", printed):
        for number in (int(found[0]) + 1, int(found[0]) - 1):
            yield f"{printed[: found.start()]}{number}{printed[found.end() :]}"
    for found in re.finditer(r"(?<=[\w)]) ([-+]) (?=[\w(])", printed):
        yield f"{printed[: found.start()]} {'-' if found[1] == '+' else '+'} {printed[found.end() :]}"
    for found in re.finditer(r" (<=|>=|<|>|==) ", printed):
        turned = {"<": ">", ">": "<", "<=": ">", ">=": "<", "==": "!="}[found[1]]
        yield f"{printed[: found.start()]} {turned} {printed[found.end() :]}"
    for word, other in {"ceil": "floor", "floor": "ceil", "max": "min", "min": "max"}.items():
        if f"{word}(" in printed:
            yield printed.replace(f"{word}(", f"{other}(")
    if printed.startswith("-"):
        yield printed[1:]
    yield printed.replace("^", "|")


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_can_be_altered_into_a_false_one(name: str) -> None:
    """What is found must change: the verdict or, for a claim that fails already, where it fails."""
    claim = ALL[name]
    as_printed = settled(name)
    for printed in altered_formula(claim.printed):
        with suppress(ZeroDivisionError):
            entry = ledger.settle(replace(claim, printed=printed, correction=""))
            if entry.verdict != as_printed.verdict or entry.found != as_printed.found:
                return
    pytest.fail(f"{name} stays {as_printed.verdict} whatever is printed")


@pytest.mark.parametrize("name", WORDS)
def test_a_word_can_be_wrong(name: str) -> None:
    claim = ALL[name]
    others = {"yes": "no", "increasing": "decreasing", "decreasing": "increasing"}
    other = "10**9" if NUMBER.fullmatch(claim.printed) else others.get(claim.printed, "otherwise")
    found = settled(name).verdict
    turned = verdict(replace(claim, printed=other))
    assert turned != found or (found == DEPENDS and claim.printed == "yes")


# --- The wording of verdicts ----------------------------------------------------------------


def judged(monkeypatch: pytest.MonkeyPatch, answer: object, printed: str, **fields: str) -> ledger.Entry:
    monkeypatch.setattr(ledger, "find_check", lambda name: lambda claim: answer)
    return ledger.settle(Claim("id", "V", "here", "says", printed, "a.check", **fields))  # type: ignore[arg-type]


THIRD = Enclosure(Fraction("0.3333333333333"), Fraction("0.3333333333334"))


@pytest.mark.parametrize(
    ("answer", "printed", "expected"),
    [
        (THIRD, "0.333", "confirmed"),
        (THIRD, "0.334", "confirmed to 2 digits"),
        (THIRD, "0.3338", "confirmed to 3 digits"),
        (THIRD, "0.4", "contradicted"),
        (THIRD, "0.35", "confirmed to 1 digit"),
        (THIRD, "3.33e-1", "confirmed"),
        (THIRD, "-0.333", "contradicted"),
        (Fraction(1, 4), "0.25", "confirmed"),
        (Fraction(1, 4), "0", "contradicted"),
        (25, "25", "confirmed"),
        (25, "24", "contradicted"),
        (Enclosure(25 - Fraction(1, 10**20), 25 + Fraction(1, 10**20)), "25", "contradicted"),
        ("yes", "yes", "confirmed"),
        ("no", "yes", "contradicted"),
        (formulas.Cases(3, ()), "yes", "confirmed"),
        (formulas.Cases(3, ()), "no", "contradicted"),
        (formulas.Cases(3, ("here",)), "yes", "contradicted"),
        (formulas.Cases(3, ("here",)), "no", "confirmed"),
        (Truth({"one": 1, "other": 2}), "1", "depends"),
        (Truth({"one": 1, "other": 2}), "3", "contradicted"),
        (Truth({"one": 1, "other": 1}), "1", "confirmed"),
        (Truth({"one": THIRD, "other": 2}), "0.334", "contradicted"),
        (Truth({"": 2}, slips={"p(11)": 1}), "1", "slip"),
        (Truth({"": 2}, slips={"p(11)": 3}), "1", "contradicted"),
    ],
)
def test_verdicts(monkeypatch: pytest.MonkeyPatch, answer: object, printed: str, expected: str) -> None:
    assert judged(monkeypatch, answer, printed).verdict == expected


def test_a_slip_needs_a_correction_that_holds_and_resembles_the_print(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert judged(monkeypatch, "0 < d < 1", "1 < d < 1", correction="0 < d < 1").verdict == "slip"
    assert judged(monkeypatch, "0 < d < 1", "1 < d < 1", correction="2 < d < 1").verdict == "contradicted"
    assert judged(monkeypatch, "0 < d < 1", "otherwise", correction="0 < d < 1").verdict == "contradicted"


def test_notes_carry_computed_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Truth({"": 2}, numbers={"two": "2.5e-06"}, origins={"a sum": 3, "a product": 1})
    entry = judged(monkeypatch, answer, "1", because="It is {two}.", changes="Take {two}.")
    assert (entry.because, entry.changes, entry.origin) == ("It is 2.5e-6.", "Take 2.5e-6.", "a product")
    assert judged(monkeypatch, answer, "2", because="It is {two}.").because == ""


@pytest.mark.parametrize(
    ("answer", "proof", "evidence"),
    [
        (THIRD, "", "enclosure"),
        (25, "", "exact arithmetic"),
        (25, "Because.", "proof and exact arithmetic"),
        (formulas.Cases(3, ()), "", "3 cases"),
        (formulas.Cases(1, ()), "Because.", "proof, and 1 case"),
    ],
)
def test_evidence_says_what_stands_behind(
    monkeypatch: pytest.MonkeyPatch, answer: object, proof: str, evidence: str
) -> None:
    assert judged(monkeypatch, answer, "0.333" if answer is THIRD else "25", proof=proof).evidence == evidence


def test_an_unknown_check_is_refused() -> None:
    for name in ("nowhere.check", "noise.nothing", "noise"):
        with pytest.raises(ValueError, match="check must be a function of compendium.checks"):
            ledger.find_check(name)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "claim"),
        ("[[claim]\n", "readable"),
        ('[[claim]]\nid = "a"\n', "claim a .* check, printed, says, section, where"),
        ('[[claim]]\nwhere = "a"\n', "without id"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(content)
    with pytest.raises(ValueError, match=words):
        claims.load(path)


def test_a_claim_with_an_unknown_field_or_twice_the_same_id_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    entry = "[[claim]]\n" + "".join(
        f'{name} = "a"\n' for name in ("id", "section", "where", "says", "printed", "check")
    )
    path.write_text(entry)
    assert list(claims.load(path)) == ["a"]
    path.write_text(entry + 'verdict = "confirmed"\n')
    with pytest.raises(ValueError, match="verdict"):
        claims.load(path)
    path.write_text(entry + entry)
    with pytest.raises(ValueError, match="id"):
        claims.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="claims.toml"):
        claims.load(tmp_path / "claims.toml")


# --- What is written from the ledger --------------------------------------------------------


def test_errata_readme_and_numbers_are_those_of_the_ledger() -> None:
    entries, ours = ([settled(name) for name in stated] for stated in (PAPER, OURS))
    assert errata.document(entries, ours) == (ROOT / "paper/errata.md").read_text(encoding="utf-8")
    numbers = json.loads((ROOT / "paper/numbers.json").read_text(encoding="utf-8"))["10-verdict"]
    for entry in (*entries, *ours):
        assert numbers[f"verdict:{entry.claim.id}"] == entry.verdict
        assert numbers[f"true:{entry.claim.id}"] == verify.truth(entry)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert manifest.with_glance(readme, numbers) == readme
    assert verify.glance(numbers) in readme
    assert f"{len(PAPER)} statements" in readme
    parts = ", ".join(f"{count} {kind}" for kind, count in verify.counts(entries).items() if count)
    assert f"Claims of the paper: {len(PAPER)} checked, {parts}" in readme


def test_errata_explain_every_statement_that_does_not_simply_hold() -> None:
    text = (ROOT / "paper/errata.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"Ledger: `([\w-]+)`", text))
    assert listed == {name for name, known in verify.expected().items() if known != CONFIRMED}
    assert set(OURS) == set(re.findall(r"ledger: `([\w-]+)`", text))
    assert not re.search(r"\bNone\b|\{|Fraction", text)


# --- Formulas -------------------------------------------------------------------------------


def test_formulas_are_evaluated_exactly() -> None:
    assert formulas.evaluate("D*(D + 1)/3", D=4) == Fraction(20, 3)
    assert formulas.evaluate("0.1 + 0.2") == Fraction(3, 10)
    assert formulas.evaluate("sum(z**2 for z in range(1, D + 1))", D=3) == 14
    assert formulas.evaluate("2**-3") == Fraction(1, 8)
    enclosed = formulas.evaluate("exp(gamma)/2", gamma=formulas.enclosed(1))
    assert formulas.agree(enclosed * 2, exp(iv.mpf(1)))
    assert formulas.evaluate("gamma < 1", gamma=exp(iv.mpf(0))) is None  # an interval around 1
    with pytest.raises(NameError):
        formulas.evaluate("open(D)", D=1)


def test_comparisons_are_certain() -> None:
    wide = iv.mpf([1, 2])
    assert formulas.less(0, wide)
    assert not formulas.less(Fraction(3, 2), wide)
    assert not formulas.agree(wide, wide)
    assert formulas.less(Fraction(1, 3), Fraction(1, 2))
    assert enclosure(formulas.enclosed(Fraction(1, 3))).lower <= Fraction(1, 3)


def test_cases_tell_where_a_statement_fails() -> None:
    assert str(formulas.Cases(1, ())) == "holds"
    assert str(formulas.Cases(1, ("here",))) == "fails: here"
    assert str(formulas.Cases(3, ("here", "there"))) == "fails in 2 of 3 cases tried, first at here"
