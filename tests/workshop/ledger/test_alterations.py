"""The generator of alterations: every kind of small change, each once, and what counts as one change."""

import pytest

from compendium.ledger import claims, elsewhere
from compendium.ledger.alterations import alterations, one_change


def kinds(printed: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for alteration in alterations(printed):
        found.setdefault(alteration.kind, []).append(alteration.printed)
    return found


def test_a_number_has_another_digit_exponent_and_sign() -> None:
    assert kinds("-9.99e-9") == {
        "digit": ["-9.98e-9", "-10.00e-9"],
        "exponent": ["-9.99e-8", "-9.99e-10"],
        "sign": ["9.99e-9"],
    }
    assert kinds("25") == {"digit": ["26", "24"], "exponent": ["25e1", "25e-1"], "sign": ["-25"]}


def test_a_zero_has_no_sign_and_no_exponent() -> None:
    assert kinds("0") == {"digit": ["1", "-1"]}


@pytest.mark.parametrize(
    ("printed", "kind", "expected"),
    [
        ("a < b", "relation turned", ["a > b"]),
        ("a < b", "boundary", ["a <= b"]),
        ("a == b", "relation turned", ["a != b"]),
        ("a == b", "relation weakened", ["a <= b", "a >= b"]),
        ("a >= b", "boundary", ["a > b"]),
        ("a < b <= c", "term dropped", ["b <= c", "a < b"]),
        ("a or b", "connective", ["a and b"]),
        ("a and b", "term dropped", ["b", "a"]),
        ("a + b", "sign", ["a - b"]),
        ("a - b", "term dropped", ["a", "b"]),
        ("-a", "sign", ["a"]),
        ("a*b", "factor dropped", ["a", "b"]),
        ("a/b", "factor dropped", ["a", "b"]),
        ("a**2", "exponent", ["a"]),
        ("a**2", "digit", ["a ** 3", "a ** 1"]),
        ("0.5*a", "digit", ["0.6 * a", "0.4 * a"]),
        ("0.5*a", "digit appended", ["0.51 * a"]),
        ("2*a", "digit appended", ["2.01 * a"]),
        ("4e-5*a", "digit", ["5e-05 * a", "3e-05 * a"]),
        ("floor(a)", "function", ["ceil(a)"]),
        ("max(a, b)", "function", ["min(a, b)"]),
        ("max(a, b)", "term dropped", ["a", "b"]),
        ("abs(a)", "function", ["a"]),
        ("a/b", "symbol", ["b / b", "a / a"]),
        ("f(a)", "index", ["f(a + 1)", "f(a - 1)"]),
        ("a ^ b", "sign", ["a | b"]),
    ],
)
def test_a_formula_has_one_thing_changed(printed: str, kind: str, expected: list[str]) -> None:
    assert kinds(printed)[kind] == expected


def test_what_can_only_be_whole_gets_no_further_digit() -> None:
    for printed in ("a**2", "sum(z for z in range(1, D))", "p(-1)", "4e-5", "a % 3"):
        assert "digit appended" not in kinds(printed), printed


def test_bound_names_are_moved_but_not_renamed() -> None:
    shown = [alteration.printed for alteration in alterations("sum(z for z in range(D))")]
    assert "sum((z + 1 for z in range(D)))" in shown
    assert not any("for D in" in text for text in shown)


def test_no_alteration_is_the_print_itself_and_none_comes_twice() -> None:
    printed = "C*exp(-gamma*D**2) + C*sum(exp(-gamma*z**2) for z in range(-D + 1, 3))"
    shown = [alteration.printed for alteration in alterations(printed)]
    assert len(shown) == len(set(shown)) > 40
    assert not any(text.replace(" ", "") == printed.replace(" ", "") for text in shown)


@pytest.mark.parametrize(
    ("printed", "correction", "kind"),
    [
        ("a - c + 2*(b - c)", "a + c + 2*(b + c)", "sign"),
        ("a - c + 2*(b - c)", "a + c + 2*(b - c)", "sign"),
        ("a - c - b", "a + c + b", ""),
        ("1 < d < 1", "0 < d < 1", "digit"),
        ("a < b", "a <= b", "boundary"),
        ("a < b", "a > b", "relation"),
        ("floor(t) <= b", "ceil(t) - 1 <= b", "boundary"),
        ("floor(t) <= b", "ceil(t) - 2 <= b", ""),
        ("a > b", "z == -D or a > b", "boundary"),
        ("a > b", "a == a or a > b", ""),
        ("c == 2", "c == 1 or c == 2", ""),
        ("4e-5*a", "1/24990*a", "rounding"),
        ("4e-5*a", "1/20000*a", "digit"),
        ("a*b", "a/b", "operation"),
        ("a + 1", "b + 1", "symbol"),
        ("f(a)", "f(a, b)", ""),
        ("sum(a for z in range(3))", "sum(a for z in range(4))", "digit"),
        ("Section IV", "Section V", "word"),
        ("Section IV", "Chapter V", ""),
        ("a", "a", ""),
    ],
)
def test_one_change_is_one_kind_of_change_wherever_it_occurs(
    printed: str, correction: str, kind: str
) -> None:
    assert one_change(printed, correction) == kind


@pytest.mark.parametrize("name", [name for name, claim in claims.load().items() if claim.elsewhere])
def test_other_statements_of_the_paper_agree_with_a_correction_and_not_with_the_print(name: str) -> None:
    claim = claims.load()[name]
    asked = getattr(elsewhere, claim.elsewhere)
    assert asked(claim, claim.correction) is True
    assert asked(claim, claim.judged) is False


def test_a_slip_cannot_be_made_by_asking_oneself() -> None:
    """The statement that agrees must be another claim, at another line, decided by the same check."""
    claim = claims.load()["post-epsilon-attained"]
    other = claims.load()[claim.at["other"]]
    assert (other.check, other.printed) == (claim.check, claim.correction)
    assert other.line != claim.line
    assert {claim.elsewhere for claim in claims.load().values() if claim.elsewhere} == {
        "contents",
        "example_1",
        "example_1_target",
        "other_claim",
        "symmetric_example",
    }
