"""The explorer's numbers are the library's, its texts are rounded rightly, its refusals are sentences."""

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.strategies import decimals

from compendium.studies import explorer, explorer_words
from compendium.studies.explorer import RefusalError, Settings
from tablebuilder_dp import certified, design, privacy, sampling
from tablebuilder_dp.beyond import symmetric
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import Enclosure

choices = st.builds(
    Settings,
    epsilon=decimals(-2, 1, 3).filter(lambda value: Fraction("0.05") <= value <= 20),
    delta=decimals(-12, -1, 2),
    slack=st.builds(lambda k: Fraction(k, 10), st.integers(0, 10)),
    support=st.none() | st.integers(1, 40),
    keysize=st.integers(2, 5000) | st.integers(1, 64).map(lambda bits: 2**bits),
    rule=st.sampled_from(symmetric.RULES),
)


def explored(choice: Settings) -> explorer.Explored:
    """What the settings give, where they give something."""
    try:
        return explorer.explore(choice)
    except ValueError as error:
        refusal = str(error)
    assume(not re.match("For a symmetric table|This ε and δ need", refusal))
    raise AssertionError(refusal)


@pytest.mark.unmeasured
@settings(max_examples=60)
@given(choices)
def test_everything_is_what_the_library_says(choice: Settings) -> None:
    found = explored(choice)
    best = design.guide(choice.epsilon, choice.delta, slack=choice.slack)
    assert found.best_support == best.support
    assert found.support == (choice.support or best.support)
    made = design.proposition_3(choice.epsilon, support=found.support, slack=choice.slack)
    assert found.gamma == made.gamma
    assert found.plateau_onset == privacy.plateau(made).onset
    rule = symmetric.rule(choice.epsilon) if choice.rule == "symmetric" else sampling.ceilings
    table = sampling.lookup_table(made, keysize=choice.keysize, rule=rule)
    assert found.table == table
    assert found.after == sampling.after_sampling(table)
    assert found.keeps_epsilon == symmetric.keeps_epsilon(table, choice.epsilon)
    assert (found.pmf == made.pmf).all()

    shown = explorer.numbers(found)
    after = found.after
    floats = {
        "gamma": float(made.gamma),
        "variance": made.variance,
        "delta": made.delta,
        "plateau_onset": float(found.plateau_onset),
        "bias": float(after.bias),
        "variance_table": float(after.variance),
        "delta_q": float(after.delta),
        "delta_table": max(sampling.delta(table, choice.epsilon)),
        "epsilon_one_sided": after.epsilon_one_sided,
        "epsilon_two_sided": after.epsilon_two_sided,
        "epsilon_smallest": sampling.epsilon(table),
    }
    for name, value in floats.items():
        assert float(shown[name].replace("∞", "inf")) == pytest.approx(value, rel=1e-9, abs=0), name
    integers = {name: shown[name] for name in shown if name not in floats}
    assert integers == {
        "best_support": str(best.support),
        "support": str(found.support),
        "keysize": str(choice.keysize),
        "lost": str(len(table.lost)),
        "lost_values": explorer.ranges(table.lost),
    }


@pytest.mark.unmeasured
@settings(max_examples=60)
@given(choices)
def test_verdicts_are_decided(choice: Settings) -> None:
    found = explored(choice)
    target = parameters.delta(choice.delta)
    masses = [Fraction(weight, found.table.keysize) for weight in found.table.weights]
    ways = certified.hockey_stick([*masses, Fraction(0)], [Fraction(0), *masses], choice.epsilon, digits=60)
    truth = max(ways, key=lambda way: way.upper)
    assert truth.lower <= found.delta_table.upper
    assert found.delta_table.lower <= truth.upper
    assert found.noise_keeps == (found.support >= found.best_support)
    if target not in truth:
        assert found.table_keeps == (truth.upper < target)
    assert found.table_keeps_noise == (truth.upper < found.delta.lower)
    if choice.rule == "symmetric":
        assert found.keeps_epsilon
        assert found.after.bias == 0
    if found.table_keeps_noise and found.noise_keeps:
        assert found.table_keeps


def test_a_delta_that_is_just_reached_is_kept() -> None:
    """72 of 256 keys give −1, and no ratio exceeds e^ε: the table's δ is 72/256 = 0.28125 exactly."""
    kept, broken = (
        explorer.explore(Settings(support=1, keysize=256, delta=delta)) for delta in ("0.28125", "0.28124")
    )
    assert kept.table.weights[0] == 72
    assert kept.table_keeps
    assert not broken.table_keeps
    assert kept.noise_keeps is broken.noise_keeps is True  # its δ is 0.2808…
    assert not kept.table_keeps_noise


def test_a_delta_half_way_between_two_texts_is_rounded_to_even() -> None:
    """No ratio exceeds e^ε, so the table's δ is a share of 10^11 keys: eleven digits, of which ten stay."""
    found = explorer.explore(Settings(epsilon="0.3", support=1, keysize=10**11, delta="0.4"))
    assert found.table.weights[0] == 30092113655
    assert explorer.numbers(found)["delta_table"] == "0.3009211366"
    assert Fraction(30092113655, 10**11) in found.delta_table


def test_the_larger_direction_counts() -> None:
    """The ceilings leave D fewer keys than −D, and so the step down to it is the steeper one."""
    found = explorer.explore(Settings(keysize=2**16))
    forward, backward = sampling.delta(found.table, "0.5")
    assert forward != backward
    assert float(found.delta_table) == max(forward, backward)


def test_the_papers_example() -> None:
    shown = explorer.numbers(explorer.explore(Settings()))
    assert shown["best_support"] == "25"
    assert shown["variance"] == "49.00216715"
    assert shown["delta"] == "9.912980816e-05"
    assert shown["epsilon_one_sided"] == "0.4980370383"
    assert shown["epsilon_two_sided"] == "0.4980393871"
    assert shown["lost_values"] == "none"


def test_a_lost_value_makes_epsilon_infinite() -> None:
    found = explorer.explore(Settings(epsilon=1, delta="1e-6", keysize=2**16))
    shown = explorer.numbers(found)
    assert shown["lost_values"] == "-22 to -21, 21 to 23"
    assert shown["lost"] == "5"
    assert shown["epsilon_two_sided"] == "∞"
    assert not found.table_keeps
    assert found.noise_keeps


def test_tails_beyond_float64_are_shown() -> None:
    found = explorer.explore(Settings(epsilon=20, support=1000))
    assert explorer.numbers(found)["delta"].endswith("e-4346")
    assert (explorer.curve(found).noise[100:] < privacy.DELTA_MIN).all()


@given(st.floats(min_value=-1e30, max_value=1e30).filter(lambda value: abs(value) > 1e-30 or value == 0))
def test_a_text_is_the_exact_number_to_ten_digits(value: float) -> None:
    """Python rounds the exact value of a float half to even, too."""
    text = explorer.text(Fraction(value))
    if value == 0:
        assert text == "0"
        return
    assert Decimal(text) == Decimal(f"{value:.9e}")
    assert ("e" in text) == (not -4 <= Decimal(f"{value:.9e}").adjusted() < 6)
    assert len(re.sub(r"^-?0\.0*|e.*|\D", "", text)) == 10


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1e-4", "0.0001000000000"),
        ("0.000099999999994", "9.999999999e-05"),
        ("0.000099999999996", "0.0001000000000"),
        ("999999.99995", "1.000000000e+06"),
        ("999999.99994", "999999.9999"),
        ("123456.78965", "123456.7896"),
        ("-12", "-12.00000000"),
        ("1e-120", "1.000000000e-120"),
    ],
)
def test_one_way_of_writing(value: str, text: str) -> None:
    assert explorer.text(Fraction(value)) == text
    assert explorer.text(Enclosure(Fraction(value), Fraction(value))) == text


def test_the_csv_is_the_table() -> None:
    found = explorer.explore(Settings(keysize=2**16))
    head, *lines = explorer.csv(found).splitlines()
    rows = [tuple(map(int, line.split(","))) for line in lines]
    assert head == "noise,keys,cut"
    assert [row[0] for row in rows] == list(range(-25, 26))
    assert tuple(row[1] for row in rows) == found.table.weights
    assert tuple(row[2] for row in rows) == found.table.cuts
    assert explorer.csv(found).endswith("25,6,65536\n")


def test_curves_are_those_of_the_library() -> None:
    found = explorer.explore(Settings(epsilon=1, keysize=2**14))
    curve = explorer.curve(found)
    assert curve.epsilon[0] == 0
    assert curve.epsilon[100] == 1
    assert curve.epsilon[-1] == 1.5
    assert curve.noise[1:] == pytest.approx(privacy.delta(found.design, curve.epsilon[1:]), rel=1e-9)
    for i in (0, 50, 100, 150):
        expected = max(sampling.delta(found.table, float(curve.epsilon[i])))
        assert curve.table[i] == pytest.approx(expected, rel=1e-9)
    for side in (curve.noise, curve.table):
        assert (np.diff(side) <= 1e-15).all()
        assert len(side) == len(curve.epsilon)
    after = curve.epsilon >= float(found.plateau_onset)
    assert curve.noise[after] == pytest.approx(float(found.delta), rel=1e-9)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epsilon": "0"}, "epsilon must be a number from 0.01 to 20, got '0'"),
        ({"epsilon": "20.0001"}, "epsilon must be a number from 0.01 to 20, got '20.0001'"),
        ({"epsilon": math.nan}, "epsilon must be a number from 0.01 to 20, got nan"),
        ({"epsilon": True}, r"epsilon must be a number .*, got True \(bool\)"),
        ({"delta": "0.51"}, "delta must be a number from 1e-30 to 0.5, got '0.51'"),
        ({"delta": 1e-31}, "delta must be a number from 1e-30 to 0.5, got 1e-31"),
        ({"slack": "-0.1"}, "slack must be a number from 0 to 1, got '-0.1'"),
        ({"slack": 1.01}, "slack must be a number from 0 to 1, got 1.01"),
        ({"support": 0}, "support must be an integer from 1 to 1000, got 0"),
        ({"support": 1001}, "support must be an integer from 1 to 1000, got 1001"),
        ({"support": 2.5}, r"support must be an integer from 1 to 1000, got 2.5 \(float\)"),
        ({"keysize": 1}, "keysize must be an integer from 2 to 18446744073709551616, got 1"),
        ({"keysize": 2**64 + 1}, "keysize must be an integer from 2 to 18446744073709551616, got 1844"),
        ({"rule": "floor"}, "rule must be ceiling or symmetric, got 'floor'"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{message}"):
        Settings(**wrong)


def test_settings_without_an_answer_are_refused() -> None:
    with pytest.raises(
        RefusalError, match=r"^This ε and δ need D\* = 12230, above the explorer's limit of 1000:"
    ) as refused:
        explorer.explore(Settings(epsilon="0.01", delta="1e-30"))
    assert refused.value.fields == ("epsilon", "delta")
    assert explorer.explore(Settings(epsilon="0.01", delta="1e-30", support=10)).best_support == 12230
    with pytest.raises(
        RefusalError, match=r"KEYSIZE must be a multiple of 51, or at least 102\.$"
    ) as refused:
        explorer.explore(Settings(keysize=64, rule="symmetric"))
    assert refused.value.fields == ("keysize", "rule")


def test_a_search_too_large_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablebuilder_dp.beyond.chain.STATES_MAX", 10)
    with pytest.raises(ArithmeticError, match="^The search for the nearest symmetric table grows too large"):
        explorer.explore(Settings(rule="symmetric"))


def test_settings_are_read_as_typed() -> None:
    typed = {"epsilon": "0.1", "delta": "1e-4", "slack": "0", "keysize": "2^16", "rule": "symmetric"}
    assert explorer.read(typed | {"support": "12"}) == Settings("0.1", "1e-4", "0", 12, 2**16, "symmetric")
    assert explorer.read({"support": "auto"}) == explorer.read({}) == Settings()
    for wrong in ("1.5", "", "0", "1001", "-3", "1_0", "１", "D"):
        with pytest.raises(RefusalError, match="^D must be a whole number from 1 to 1000\\.$"):
            explorer.read({"support": wrong})
    for wrong in ("2^", "1_0", "１６", "2^１"):
        with pytest.raises(RefusalError, match="^KEYSIZE must be a whole number from 2 to 2\\^64, such as"):
            explorer.read({"keysize": wrong})
    with pytest.raises(ValueError, match="^a setting must be one of epsilon, delta, .*, got 'gamma'"):
        explorer.read({"gamma": "1"})


@pytest.mark.parametrize("text", ["0.5", ".5", "0.", "+0.5", "5e-1", "5E-1", " 0.5 ", "-0", "0." + "5" * 38])
def test_a_decimal_may_be_typed_in_many_ways(text: str) -> None:
    assert explorer.read({"slack": text}).slack == text.strip()


@pytest.mark.parametrize("name", explorer.LIMITS)
@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "e1",
        ".e1",
        "+",
        "0_1",
        "٠.٥",
        "０.1",
        "1/5",
        "0,1",
        "0x1",
        "1 e-1",
        "1e-0001",
        "nan",
        "0." + "1" * 39,
    ],
)
def test_what_the_page_does_not_read_is_refused(name: str, text: str) -> None:
    with pytest.raises(
        RefusalError, match=f"^.* must be a number from {' to '.join(explorer.LIMITS[name])}\\. "
    ) as refused:
        explorer.read({name: text})
    assert refused.value.fields == (name,)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("0,5", "Write a point, not a comma."),
        ("½", "Write it like 0.5 or 1e-4."),
        ("1e−1", "Write it like 0.5 or 1e-4."),
        ("10%", "Write it like 0.5 or 1e-4."),
        ("0." + "1" * 39, "It may have at most 40 characters."),
        ("1e-301", "Unless it is 0, it must be at least 1e-300."),
        ("2", ""),
    ],
)
def test_a_number_that_is_not_understood_gets_a_hint(text: str, hint: str) -> None:
    words = f"The slack must be a number from 0 to 1. {hint}".strip()
    with pytest.raises(RefusalError, match=f"^{re.escape(words)}$"):
        explorer.read({"slack": text})


WHY = {  # the settings, and what is said of the promise and of the ratios
    "larger ratios_within": Settings(),
    "slightly_larger ratios_within": Settings(keysize=2**64),
    "no_larger ratios_within": Settings(rule="symmetric"),
    "by_chance ratios_within": Settings(delta="9.5e-5", support=25, keysize=2**15, rule="symmetric"),
    "too_small ratios_within": Settings(support=20),
    "rounding_breaks ratios_exceed": Settings(keysize=2**16),
    "rounding_breaks_symmetric ratios_within": Settings(keysize=2**14, rule="symmetric"),
    "too_few_keys some_lost": Settings(epsilon="3", delta="1e-30", keysize=2**64),
    "larger ratios_exceed": Settings(keysize=2**20),
}


@pytest.mark.parametrize("kinds", WHY)
def test_the_reasons_are_those_of_the_settings(kinds: str) -> None:
    found = explorer.explore(WHY[kinds])
    share = explorer.text(Fraction(1, found.table.keysize))
    values = explorer.numbers(found) | {"share": share}
    expected = " ".join(explorer.say(kind, **values) for kind in kinds.split())
    assert explorer_words.reasons(found) == expected


@pytest.mark.parametrize("kept", [True, False])
def test_the_verdict_says_whether_the_table_keeps_the_promise(kept: bool) -> None:
    found = explorer.explore(Settings(keysize=2**32 if kept else 2**8))
    delta = explorer.text(found.delta_table)
    words = ("✓ The table keeps", "within") if kept else ("✗ The table breaks", "above")
    expected = f"{words[0]} the promise: its δ at ε = 0.5 is {delta}, {words[1]} the wanted 1e-4."
    assert explorer_words.verdict(found) == expected


def test_the_choices_are_those_of_the_library() -> None:
    fields = explorer.FIELDS
    assert tuple(fields["rule"]["choices"]) == symmetric.RULES
    assert explorer.read({name: field["default"] for name, field in fields.items()}) == Settings()
    for name in fields.keys() - {"rule"}:
        rungs = explorer_words.ladder(name)
        for place, rung in enumerate(rungs):
            explorer.read({name: rung})
            assert explorer_words.nearest(name, rung) == place
        ends = [explorer.read({name: text}) for text in (rungs[0], rungs[-1])]
        assert ends == [explorer.read({name: fields[name][end]}) for end in ("low", "high")]
        with pytest.raises(RefusalError):
            explorer.read({name: f"{fields[name]['high']}1"})


@pytest.mark.parametrize(
    ("name", "text", "rung"),
    [
        ("epsilon", "0.1374", "0.14"),
        ("epsilon", "12.7", "13"),
        ("delta", "3.3e-5", "5e-5"),
        ("support", "304", "300"),
        ("slack", "0.123", "0.12"),
        ("keysize", "1000", "2^10"),
        ("keysize", "2**16", "2^16"),
    ],
)
def test_a_slider_stands_at_the_nearest_rung(name: str, text: str, rung: str) -> None:
    assert explorer_words.ladder(name)[explorer_words.nearest(name, text)] == rung
