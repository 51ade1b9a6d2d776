"""Formulas of the ledger as mathematics: the same signs, in the places that they have in a program."""

import re

import pytest

from compendium.ledger import book, claims
from compendium.ledger.mathematics import latex, markdown


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("a*(b + c)", r"a \left(b + c\right)"),
        ("a - (b - c)", r"a - \left(b - c\right)"),
        ("a*(-b)", r"a \left(-b\right)"),
        ("-2*a*b + a", "-2 a b + a"),
        ("-a/b*c", r"-\frac{a}{b} c"),
        ("(a + b)/c", r"\frac{a + b}{c}"),
        ("(a/b)**2", r"\left(\frac{a}{b}\right)^{2}"),
        ("a**(b + 1)", "a^{b + 1}"),
        ("B_Q**2", "(B^Q)^{2}"),
        ("exp(-gamma*z**2)", r"e^{-\gamma z^{2}}"),
        ("floor(u) <= u", r"\left\lfloor u \right\rfloor \le u"),
        ("ceil(c*KEYSIZE) == 1", r"\left\lceil c \cdot \mathtt{KEYSIZE} \right\rceil = 1"),
        ("max(pQ(-D), cQ(D)) > 0", r"\max(p^Q(-D), c^Q(D)) > 0"),
        ("2*sum(p(z) for z in range(1, 26))", r"2 \sum_{z=1}^{25} p(z)"),
        ("sum(z - 1 for z in range(n, D))", r"\sum_{z=n}^{D - 1} \left(z - 1\right)"),
        ("a < b or c % d == 0", r"a < b\text{ or }c \bmod d = 0"),
        ("CellKey1 ^ CellKey2", r"\mathrm{CellKey}_{1} \oplus \mathrm{CellKey}_{2}"),
        ("x < 4e-5", r"x < 4 \cdot 10^{-5}"),
        ("from_slack > e32", r"\mathrm{from\ slack} > e_{32}"),
    ],
)
def test_a_formula_is_set(formula: str, expected: str) -> None:
    assert latex(formula) == expected
    assert markdown(formula) == f"${expected}$"


@pytest.mark.parametrize(
    "words", ["almost identical", "memory-efficient", "1, 2, 3", "0.5", "-3", "ε^Q > ε", "eq. (12)"]
)
def test_numbers_and_words_stay_as_they_are(words: str) -> None:
    assert latex(words) == ""
    assert markdown(words) == words


def test_no_formula_of_the_ledger_is_left_in_the_notation_of_a_program() -> None:
    recorded = book.read()
    texts = {
        text
        for entry in (*recorded.paper, *recorded.ours)
        for text in (entry.claim.printed, entry.claim.reading, entry.correction)
    }
    formulas = {text for text in texts if re.search(r"\*|exp\(|sum\(|>=|<=|==", text)}
    assert len(formulas) > 100
    for formula in formulas:
        shown = latex(formula)
        assert shown, formula
        assert shown.count("{") == shown.count("}")
        assert shown.count(r"\left") == shown.count(r"\right")
        assert not re.search(r"(?<!\^)\*|exp\(|sum\(|>=|<=|==|\beps\b|_Q", shown), shown
    assert claims.load()["priv-prop2-case1"].printed in formulas
