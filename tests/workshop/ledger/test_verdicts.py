"""The ledger's rules: how a verdict is worded, and what a damaged file gets."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from compendium.ledger import claims, elsewhere, formulas, verdicts
from compendium.ledger.claims import Claim
from compendium.ledger.verdicts import Truth
from tablebuilder_dp.support.intervals import Enclosure, ball, enclosure

PAPER = claims.load()


# --- The wording of verdicts ----------------------------------------------------------------


def judged(monkeypatch: pytest.MonkeyPatch, answer: object, printed: str, **fields: Any) -> verdicts.Entry:
    monkeypatch.setattr(verdicts, "find_check", lambda name: lambda claim: answer)
    return verdicts.settle(Claim("id", "V", "here", "says", printed, "a.check", **fields))


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [
        ("a == b", "confirmed"),
        ("a <= b", "contradicted"),
        ("a >= b", "contradicted"),
        ("a < c", "confirmed"),
        ("b <= d", "confirmed"),
    ],
)
def test_a_weak_relation_of_what_is_always_equal_says_less_than_holds(
    monkeypatch: pytest.MonkeyPatch, printed: str, verdict: str
) -> None:
    def check(claim: Claim) -> formulas.Cases:
        return formulas.on_grid(
            "a", [(1,), (2,)], lambda a: formulas.evaluate(claim.judged, a=a, b=a, c=a + 1, d=2)
        )

    monkeypatch.setattr(verdicts, "find_check", lambda name: check)
    entry = verdicts.settle(Claim("id", "V", "here", "says", printed, "a.check"))
    assert entry.verdict == verdict
    assert (verdicts.TOO_WEAK in entry.found) is (verdict == "contradicted")


THIRD = Enclosure(Fraction(10**30 // 3, 10**30), Fraction(10**30 // 3 + 1, 10**30))
NEARLY = "0.33333333333333337"
"""A third, but for the last digit."""


@pytest.mark.parametrize(
    ("answer", "printed", "expected"),
    [
        (THIRD, "0.333", "confirmed"),
        (THIRD, "0.334", "contradicted"),
        (THIRD, "0.33333333333334", "contradicted"),
        (THIRD, "0.333333333333333332", "confirmed to 17 digits"),
        (THIRD, "0.3333333333333335", "confirmed to 15 digits"),
        (THIRD, "0.33333333333333337", "confirmed to 16 digits"),
        (THIRD, "0.3333333333333339", "contradicted"),
        (THIRD, "0.333333333333334", "contradicted"),
        (THIRD, "0.4", "contradicted"),
        (Fraction("0.0499989"), "0.0498", "contradicted"),
        (Fraction("0.0499989"), "0.0500", "confirmed"),
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
        (formulas.Cases(3, ("here",)), "yes", "contradicted"),
        (formulas.Cases(3, (), word="flat", instead="steep"), "flat", "confirmed"),
        (formulas.Cases(3, (), word="flat", instead="steep"), "steep", "contradicted"),
        (formulas.Cases(3, ("here",), word="flat", instead="steep"), "steep", "confirmed"),
        (Truth({"one": 1, "other": 2}), "1", "depends"),
        (Truth({"one": 1, "other": 2}), "3", "contradicted"),
        (Truth({"one": 1, "other": 1}), "1", "confirmed"),
        (Truth({"one": THIRD, "other": 2}), NEARLY, "contradicted"),
        (Truth({"one": THIRD, "other": Fraction(NEARLY)}), NEARLY, "confirmed to 16 digits"),
        (Truth({"one": THIRD, "other": Fraction("0.3333333333333330")}), NEARLY, "confirmed to 15 digits"),
        (Truth({"": 2}, slips={"p(11)": 1}), "1", "slip"),
        (Truth({"": 2}, slips={"p(11)": 3}), "1", "contradicted"),
    ],
)
def test_verdicts(monkeypatch: pytest.MonkeyPatch, answer: object, printed: str, expected: str) -> None:
    assert judged(monkeypatch, answer, printed).verdict == expected


@pytest.mark.parametrize(
    ("truth", "printed", "correction", "agreeing", "expected"),
    [
        ("0 < d < 1", "1 < d < 1", "0 < d < 1", "0 < d < 1", "slip"),
        ("0 < d < 1", "1 < d < 1", "0 < d < 1", "1 < d < 1", "contradicted"),
        ("0 < d < 1", "1 < d < 1", "0 < d < 1", "", "contradicted"),
        ("0 < d < 1", "1 < d < 1", "2 < d < 1", "2 < d < 1", "contradicted"),
        ("0 < d < 1", "1 < c < 1", "0 < d < 1", "0 < d < 1", "contradicted"),
        ("0 <= d < 1", "0 < d < 1", "0 <= d < 1", "", "omitted boundary"),
        ("0 <= d < 1", "0 < d < 1", "0 <= d < 1", "0 <= d < 1", "slip"),
        ("ceil(t) - 1 <= d", "floor(t) <= d", "ceil(t) - 1 <= d", "", "omitted boundary"),
        ("1/24990*z", "4e-5*z", "1/24990*z", "", "display rounding"),
        ("1/20000*z", "4e-5*z", "1/20000*z", "", "contradicted"),
        ("Section V", "Section IV", "Section V", "Section V", "slip"),
    ],
)
def test_what_a_correction_makes_of_a_print(
    monkeypatch: pytest.MonkeyPatch, truth: str, printed: str, correction: str, agreeing: str, expected: str
) -> None:
    """One small change, and other statements that agree with it and not with the print, make a slip."""
    monkeypatch.setattr(elsewhere, "asked", lambda claim, form: form == agreeing, raising=False)
    entry = judged(monkeypatch, truth, printed, correction=correction, elsewhere="asked" if agreeing else "")
    assert entry.verdict == expected
    assert entry.correction == ("" if expected == "contradicted" else correction)


SCALE = {"scale": ("same", "close", "far"), "limits": ("0", "0.01")}


@pytest.mark.parametrize(
    ("value", "word", "expected", "found"),
    [
        (
            "0.00961",
            "close",
            "confirmed",
            "0.961%, where “close” needs a limit of 0.961% or more and ours is 1%",
        ),
        ("0.01", "close", "confirmed", "1%, where “close” needs a limit of 1% or more and ours is 1%"),
        (
            "0.0101",
            "close",
            "contradicted",
            "1.01%, where “close” needs a limit of 1.01% or more and ours is 1%",
        ),
        ("0", "close", "contradicted", "0%, where “close” needs a limit of 0% or more and ours is 1%"),
        (
            "-0.1",
            "close",
            "contradicted",
            "−10%, where for “close” any limit from 0 on would do and ours is 1%",
        ),
        ("0", "same", "confirmed", "0%, where “same” needs a limit of 0% or more and ours is 0%"),
        ("0.5", "far", "confirmed", "50%, where “far” needs a limit below 50% and ours is 1%"),
        ("33.2", "far", "confirmed", "3320%, where “far” needs a limit below 3320% and ours is 1%"),
        ("0.5", "elsewhere", "contradicted", "50%"),
    ],
)
def test_a_word_on_a_scale_says_where_its_verdict_turns(
    monkeypatch: pytest.MonkeyPatch, value: str, word: str, expected: str, found: str
) -> None:
    entry = judged(monkeypatch, verdicts.Level(Fraction(value), "%"), word, **SCALE)
    assert (entry.verdict, entry.found) == (expected, found)


def test_a_word_that_would_fit_others_too_is_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    for until, expected in (("0.02", "confirmed"), ("0.01", "contradicted"), ("0.005", "contradicted")):
        level = verdicts.Level(Fraction("0.004"), "%", until=Fraction(until))
        assert judged(monkeypatch, level, "close", **SCALE).verdict == expected


def test_a_limit_within_the_enclosure_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    around = Enclosure(Fraction("0.0099"), Fraction("0.0101"))
    with pytest.raises(ValueError, match="a limit lies between"):
        judged(monkeypatch, verdicts.Level(around), "close", **SCALE)


@pytest.mark.parametrize(
    ("answer", "proof", "basis"),
    [
        (THIRD, "", "decided exactly"),
        (formulas.Cases(3, ()), "", "tried on a grid"),
        (formulas.Cases(3, (), whole=True), "", "decided exactly"),
        (formulas.Cases(3, ("here",)), "", "decided exactly"),
        (formulas.Cases(3, ()), "Because.", "proved for all parameters"),
    ],
)
def test_how_far_the_evidence_reaches(
    monkeypatch: pytest.MonkeyPatch, answer: object, proof: str, basis: str
) -> None:
    assert judged(monkeypatch, answer, "0.333", proof=proof).basis == basis


def test_notes_carry_computed_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Truth({"": 2}, numbers={"two": "2.5e-06"}, origins={"a sum": 3, "a product": 1})
    entry = judged(monkeypatch, answer, "1", because="It is {two}.", changes="Take {two}.")
    assert (entry.because, entry.changes, entry.origin) == ("It is 2.5e-6.", "Take 2.5e-6.", "a product")
    assert judged(monkeypatch, answer, "2", because="It is {two}.").because == ""


@pytest.mark.parametrize(
    ("answer", "proof", "evidence", "known"),
    [
        (THIRD, "", "enclosure", "decided exactly, by an enclosure"),
        (25, "", "exact arithmetic", "decided exactly, by exact arithmetic"),
        (
            25,
            "Because.",
            "proof and exact arithmetic",
            "proved for all parameters, and checked by exact arithmetic",
        ),
        ("25", "", "a grid", "tried on a grid"),
        ("yes", "", "a grid", "decided exactly, on a grid"),
        ("yes", "Because.", "proof, and a grid", "proved for all parameters, and checked on a grid"),
        (formulas.Cases(3, ()), "", "3 cases", "tried on a grid, in 3 cases"),
        (
            formulas.Cases(1, ()),
            "Because.",
            "proof, and 1 case",
            "decided exactly, in 1 case and with a proof",
        ),
    ],
)
def test_evidence_says_what_stands_behind(
    monkeypatch: pytest.MonkeyPatch, answer: object, proof: str, evidence: str, known: str
) -> None:
    entry = judged(monkeypatch, answer, "0.333" if answer is THIRD else "25", proof=proof)
    assert (entry.evidence, entry.known) == (evidence, known)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("noise-degree", "printed", "D**"),
        ("noise-degree", "printed", "support**2"),
        ("noise-f-at-0", "at", {}),
        ("ex1-p0", "printed", "0.05x"),
        ("noise-sparsity", "because", "It is {nothing}."),
    ],
)
def test_a_claim_that_cannot_be_settled_is_named(name: str, field: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"claim {name} cannot be settled"):
        verdicts.settle(replace(PAPER[name], **{field: value}))  # type: ignore[arg-type]


def test_an_unknown_check_is_refused() -> None:
    for name in ("nowhere.check", "noise.nothing", "noise"):
        with pytest.raises(ValueError, match="check must be a function of compendium.ledger.checks"):
            verdicts.find_check(name)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "claim"),
        ("[[claim]\n", "readable"),
        ('[[claim]]\nid = "a"\n', "claim a .* check, printed, says, section, where"),
        ('[[claim]]\nwhere = "a"\n', "without id"),
        ("claim = 3\n", "list of tables"),
        ('claim = ["a"]\n', "list of tables"),
        ('[claim]\nid = "a"\n', "list of tables"),
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
    path.write_text(entry.replace('printed = "a"', "printed = 3"))
    with pytest.raises(ValueError, match="right type: see printed"):
        claims.load(path)
    path.write_bytes(b"\xff")
    with pytest.raises(ValueError, match="readable .*claims.toml"):
        claims.load(path)
    path.write_text(entry + entry)
    with pytest.raises(ValueError, match="id"):
        claims.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="claims.toml"):
        claims.load(tmp_path / "claims.toml")


# --- Formulas -------------------------------------------------------------------------------


def test_formulas_are_evaluated_exactly() -> None:
    assert formulas.evaluate("D*(D + 1)/3", D=4) == Fraction(20, 3)
    assert formulas.evaluate("0.1 + 0.2") == Fraction(3, 10)
    assert formulas.evaluate("sum(z**2 for z in range(1, D + 1))", D=3) == 14
    assert formulas.evaluate("2**-3") == Fraction(1, 8)
    half, whole = (
        formulas.evaluate(text, gamma=formulas.enclosed(1)) for text in ("exp(gamma)/2*2", "exp(gamma)")
    )
    assert formulas.agree(half, whole)
    with pytest.raises(ArithmeticError, match="undecided"):
        formulas.evaluate("gamma < 1", gamma=ball(Enclosure(Fraction(1, 2), Fraction(2))))
    for undecided in ("gamma == 1", "floor(gamma) == 1", "0 < gamma <= 1", "max(gamma, 1) > 1"):
        with pytest.raises(ArithmeticError, match="undecided"):
            formulas.evaluate(undecided, gamma=ball(Enclosure(Fraction(1, 2), Fraction(2))))
    assert formulas.evaluate("max(gamma, 3) == 3", gamma=ball(Enclosure(Fraction(1, 2), Fraction(2))))
    assert formulas.evaluate("(gamma - gamma)**2 < 9", gamma=ball(Enclosure(Fraction(1, 2), Fraction(2))))
    with pytest.raises(NameError):
        formulas.evaluate("open(D)", D=1)


def test_comparisons_are_certain() -> None:
    wide = ball(Enclosure(Fraction(1), Fraction(2)))
    assert formulas.less(0, wide)
    assert not formulas.less(Fraction(3, 2), wide)
    assert not formulas.agree(wide, wide)
    assert formulas.less(Fraction(1, 3), Fraction(1, 2))
    assert enclosure(formulas.enclosed(Fraction(1, 3))).lower <= Fraction(1, 3)


def test_cases_tell_where_a_statement_fails() -> None:
    with pytest.raises(ArithmeticError, match="no case was tried"):
        formulas.cases([])
    assert str(formulas.Cases(1, ())) == "holds"
    assert str(formulas.Cases(1, ("here",))) == "fails: here"
    assert str(formulas.Cases(3, ("here", "there"))) == "fails in 2 of the 3 cases tried, first at here"
