"""The paper's printed values, and when ours agree with them."""

from fractions import Fraction

import pytest

from compendium.ledger import claims
from compendium.studies import example_1
from tablebuilder_dp import design
from tablebuilder_dp.support.intervals import Enclosure

EXAMPLE_1 = [f"ex1-{part}" for part in ("support", "delta", "variance", "iota")]
EXAMPLE_1 += [f"ex1-p{z}" for z in (0, 1, 2, 12, 24, 25)]


@pytest.fixture(scope="module")
def values() -> dict[str, Enclosure]:
    return example_1.certified_values(design.guide("0.5", "1e-4"))


@pytest.mark.parametrize("name", EXAMPLE_1)
def test_example_1_agrees_but_for_one_slip_and_every_digit_counts(
    values: dict[str, Enclosure], name: str
) -> None:
    printed = claims.load()[name].printed
    assert claims.rounds_to(values[name], printed) == (name != "ex1-p12")
    mantissa, *exponent = printed.split("e")
    changed = "e".join([mantissa[:-1] + str((int(mantissa[-1]) + 1) % 10), *exponent])
    assert not claims.rounds_to(values[name], changed)


def test_the_slip_is_the_neighbouring_value(values: dict[str, Enclosure]) -> None:
    assert claims.rounds_to(values["ex1-p11"], claims.load()["ex1-p12"].printed)


@pytest.mark.parametrize(
    ("low", "high", "printed", "expected"),
    [
        ("0.12349", "0.12351", "0.1235", True),
        ("0.12344", "0.12346", "0.1234", False),
        ("49.0021", "49.0022", "49.00", True),
        ("49.0049", "49.0051", "49.00", False),
        ("9.9129e-5", "9.9130e-5", "9.91e-5", True),
        ("25", "25", "25", True),
    ],
)
def test_rounds_to_wants_both_ends_to_round_to_the_print(
    low: str, high: str, printed: str, expected: bool
) -> None:
    assert claims.rounds_to(Enclosure(Fraction(low), Fraction(high)), printed) is expected


@pytest.mark.parametrize(
    ("value", "printed", "expected"),
    [
        (Fraction(1, 3), "0.12", "0.33"),
        (Fraction(-1, 3), "-1.2e-3", "-3.3e-1"),
        (25, "24", "25"),
        ("no", "yes", "no"),
        (Enclosure(Fraction(1, 3), Fraction(1, 3)), "0.1", "0.3"),
    ],
)
def test_values_are_shown_like_the_print(value: claims.Value, printed: str, expected: str) -> None:
    assert claims.shown(value, printed) == expected


def test_every_claim_has_all_its_fields_and_its_own_id() -> None:
    stated = claims.load()
    assert len(stated) > 40
    assert all(claim.where and claim.says and claim.printed for claim in stated.values())
