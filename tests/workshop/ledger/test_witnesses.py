"""Independent calculations testify to the main numbers, and a wrong one is seen."""

from fractions import Fraction

import pytest

from compendium.ledger import witnesses


def test_witnesses_agree() -> None:
    testimony = witnesses.testimony()
    shown = witnesses.table(testimony)
    assert len(shown.rows) == len(testimony)
    assert shown.headings == ["quantity", *witnesses.ROUTES]
    agreement = {one.quantity.partition(",")[0]: one.agreement for one in testimony}
    for quantity in ("p(z)", "δ(ε)"):
        digits = {route: int(text.split()[0]) for route, text in agreement[quantity].items()}
        assert digits["exact fractions"] == digits["enclosures"] == 30
        assert min(digits.values()) >= 10
    assert {text.partition(",")[0] for text in agreement["D*"].values()} == {"25"}
    for one in testimony[-2:]:
        assert one.agreement["exact fractions"] == "all"
    assert testimony[-1].agreement["closed form, float64"] == "all but some c^Q(D)"


def test_a_wrong_witness_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = witnesses.exponential
    monkeypatch.setattr(witnesses, "exponential", lambda x: exact(x) * (1 + Fraction(1, 10**9)))
    agreement = {one.quantity.partition(",")[0]: one.agreement for one in witnesses.testimony()}
    assert agreement["δ(ε)"]["exact fractions"] == "7 digits"


def test_a_wrong_cut_point_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    pmf = witnesses._brute_pmf
    monkeypatch.setattr(witnesses, "_brute_pmf", lambda *noise: [mass * (1 - 1e-8) for mass in pmf(*noise)])
    assert witnesses.testimony()[-1].agreement["brute force, float64"] == "not all"
