"""Example 1 beside the paper's digits: the main job until notebooks take over."""

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from compendium import claims, example_1
from tablebuilder_dp.intervals import Enclosure

ROOT = Path(__file__).resolve().parents[1]


def test_report_finds_the_misprint_and_what_it_is() -> None:
    lines = example_1.report().splitlines()
    [wrong] = [line for line in lines if "differs" in line]
    assert wrong.split()[:3] == ["p(±12)", "0.016632589297126", "0.013165377565781"]
    assert wrong.endswith("differs: this is p(±11)")
    assert lines[-1].startswith("9 of 10 printed values agree to every digit")


@pytest.mark.parametrize("name", list(claims.load()))
def test_a_changed_last_digit_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    stated = claims.load()
    before = example_1.report().count("agrees")
    printed = stated[name].printed
    mantissa, *exponent = printed.split("e")
    changed = "e".join([mantissa[:-1] + str((int(mantissa[-1]) + 1) % 10), *exponent])
    monkeypatch.setattr(claims, "load", lambda: {**stated, name: replace(stated[name], printed=changed)})
    assert example_1.report().count("agrees") == before - (name != "ex1-p12")


def test_a_value_that_is_nothing_known_is_not_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    stated = claims.load()
    changed = replace(stated["ex1-p12"], printed="0.016632589297999")
    monkeypatch.setattr(claims, "load", lambda: {**stated, "ex1-p12": changed})
    assert "differs\n" in example_1.report()


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


def test_make_reproduce_prints_what_the_readme_shows() -> None:
    command = [sys.executable, "-m", "compendium"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout in (ROOT / "README.md").read_text(encoding="utf-8")
