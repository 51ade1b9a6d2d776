"""The ledger: verdicts follow what is printed, are as expected, and can fail."""

import inspect
import json
import pkgutil
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
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
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
NUMBERS = json.loads((ROOT / "paper/numbers.json").read_text(encoding="utf-8"))["10-verdict"]


def verdict(claim: Claim) -> str:
    return ledger.settle(claim).verdict


# --- The file -------------------------------------------------------------------------------


def test_the_ledger_goes_through_the_paper() -> None:
    assert len(PAPER) > 200
    order = ["Abstract", "I", "II", "III-A", "III-B", "III-C", "III-D", "IV", "V-A", "V-B", "V-C", "VI"]
    assert list(dict.fromkeys(claim.section for claim in PAPER.values())) == order


def test_every_claim_has_an_expected_verdict_and_no_other_has() -> None:
    assert list(verify.expected()) == list(PAPER)


def test_every_check_is_used() -> None:
    used = {claim.check for claim in ALL.values()}
    for module in pkgutil.iter_modules(compendium.checks.__path__):
        for name, function in inspect.getmembers(import_module(f"compendium.checks.{module.name}")):
            if inspect.isfunction(function) and function.__module__ == f"compendium.checks.{module.name}":
                is_check = list(inspect.signature(function).parameters) == ["claim"] and name[0] != "_"
                assert not is_check or f"{module.name}.{name}" in used, name


def test_corrections_name_claims_that_exist() -> None:
    for claim in OURS.values():
        assert set(claim.corrects) <= set(PAPER), claim.id


# --- Each claim -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_a_claim_is_as_expected_explained_recorded_and_can_fail(name: str) -> None:
    """All in one test, so that each claim is settled once."""
    entry = ledger.settle(ALL[name])
    assert entry.verdict == (verify.expected() | dict.fromkeys(OURS, CONFIRMED))[name]
    check_explanation(entry)
    recorded = {part: NUMBERS[f"{part}:{name}"] for part in ("verdict", "true", "because", "evidence")}
    assert recorded == {
        "verdict": entry.verdict,
        "true": verify.truth(entry),
        "because": entry.because,
        "evidence": entry.evidence,
    }
    answer = next(iter(ledger.find_truth(entry.claim).readings.values()))
    if NUMBER.fullmatch(entry.claim.printed) and not isinstance(answer, formulas.Cases | str):
        check_number(replace(entry.claim, printed=claims.shown(answer, entry.claim.printed), correction=""))
    elif re.search(r"[-+*/<>=(^]", entry.claim.printed):
        check_formula(entry)
    else:
        check_word(entry)


def check_explanation(entry: ledger.Entry) -> None:
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


def altered_number(printed: str) -> Iterator[str]:
    mantissa, _, exponent = printed.partition("e")
    tail = f"e{exponent}" if exponent else ""
    yield f"{mantissa[:-1]}{(int(mantissa[-1]) + 1) % 10}{tail}"
    yield f"{mantissa}e{int(exponent or 0) + 1}"
    yield printed[1:] if printed.startswith("-") else f"-{printed}"


def check_formula(entry: ledger.Entry) -> None:
    """Some small change makes it another statement: the verdict changes or, if it fails, where."""
    for printed in altered_formula(entry.claim.printed):
        with suppress(ValueError):  # no number, nothing decided, or no formula
            other = ledger.settle(replace(entry.claim, printed=printed, correction=""))
            if (other.verdict, other.found) != (entry.verdict, entry.found):
                return
    pytest.fail(f"{entry.claim.id} stays {entry.verdict} whatever is printed")


def altered_formula(printed: str) -> Iterator[str]:
    """The formula with one relation, sign, number or function changed."""
    for found in re.finditer(r" (<=|>=|<|>|==) ", printed):
        turned = {"<": ">", ">": "<", "<=": ">", ">=": "<", "==": "!="}[found[1]]
        yield f"{printed[: found.start()]} {turned} {printed[found.end() :]}"
    for found in re.finditer(r"(?<=[\w)]) ([-+]) (?=[\w(])", printed):
        yield f"{printed[: found.start()]} {'-' if found[1] == '+' else '+'} {printed[found.end() :]}"
    for found in re.finditer(r"(?<![\w.])\d+(?![\w.])", printed):
        for number in (int(found[0]) + 1, int(found[0]) - 1):
            yield f"{printed[: found.start()]}{number}{printed[found.end() :]}"
    for word, other in {"ceil": "floor", "floor": "ceil", "max": "min", "min": "max"}.items():
        if f"{word}(" in printed:
            yield printed.replace(f"{word}(", f"{other}(")
    if printed.startswith("-"):
        yield printed[1:]
    yield printed.replace("^", "|")


def check_word(entry: ledger.Entry) -> None:
    """The opposite word has another verdict under some reading."""
    others = {"yes": "no", "increasing": "decreasing", "decreasing": "increasing"}
    printed = entry.claim.printed
    opposite = "10**9" if NUMBER.fullmatch(printed) else others.get(printed, "otherwise")
    other = entry.correction or opposite
    turned = ledger.settle(replace(entry.claim, printed=other, correction=""))
    assert [one.verdict for one in turned.readings] != [one.verdict for one in entry.readings]


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
        (THIRD, "0.33399", "contradicted"),
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
        (Truth({"one": THIRD, "other": Fraction("0.334")}), "0.334", "confirmed to 2 digits"),
        (Truth({"one": Fraction("0.33334"), "other": Fraction("0.333")}), "0.3333", "confirmed to 3 digits"),
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
        ("yes", "", "a grid"),
        ("yes", "Because.", "proof, and a grid"),
        (formulas.Cases(3, ()), "", "3 cases"),
        (formulas.Cases(1, ()), "Because.", "proof, and 1 case"),
    ],
)
def test_evidence_says_what_stands_behind(
    monkeypatch: pytest.MonkeyPatch, answer: object, proof: str, evidence: str
) -> None:
    assert judged(monkeypatch, answer, "0.333" if answer is THIRD else "25", proof=proof).evidence == evidence


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
        ledger.settle(replace(PAPER[name], **{field: value}))  # type: ignore[arg-type]


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


# --- What is written from the ledger --------------------------------------------------------


def test_errata_and_readme_are_those_of_the_ledger() -> None:
    """Of a confirmed claim the errata have nothing but its count, so only the others are settled here."""
    known = verify.expected()
    confirmed = ledger.settle(PAPER["guide-epsilon-domain"])
    entries = [
        confirmed if known[name] == CONFIRMED else ledger.settle(claim) for name, claim in PAPER.items()
    ]
    ours = [ledger.settle(claim) for claim in OURS.values()]
    assert errata.document(entries, ours) == (ROOT / "paper/errata.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert manifest.with_glance(readme, NUMBERS) == readme
    assert verify.glance(NUMBERS) in readme
    assert f"{len(PAPER)} statements" in readme
    counts = verify.counts(entries)
    assert {f"count:{kind}": str(count) for kind, count in counts.items()}.items() <= NUMBERS.items()
    parts = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
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
    with pytest.raises(ArithmeticError, match="undecided"):
        formulas.evaluate("gamma < 1", gamma=exp(iv.mpf(0)))  # an interval around 1
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
    with pytest.raises(ArithmeticError, match="no case was tried"):
        formulas.cases([])
    assert str(formulas.Cases(1, ())) == "holds"
    assert str(formulas.Cases(1, ("here",))) == "fails: here"
    assert str(formulas.Cases(3, ("here", "there"))) == "fails in 2 of 3 cases tried, first at here"
