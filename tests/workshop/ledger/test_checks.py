"""The checks of the ledger try what they are said to try, and every alteration of a print is seen."""

import math
import re
from collections import Counter
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path

import mpmath
import pytest
from support.alterations import outcomes

from compendium.ledger import book, claims, formulas, verdicts
from compendium.ledger.checks import beyond, design, experiment, noise, privacy, sampling, summary
from compendium.ledger.verdicts import CONFIRMED, CONTRADICTED
from tablebuilder_dp.support.intervals import Enclosure

ROOT = Path(__file__).resolve().parents[3]
PAPER, OURS = claims.load(), claims.load(claims.OURS)
HALF = Fraction(1, 2)


def verdict(name: str, printed: str) -> str:
    return verdicts.settle(PAPER[name].judging(printed)).verdict


# --- δ(ε) in closed form ---------------------------------------------------------------------


def region(support: int, gamma: Fraction, eps: Fraction) -> str:
    """The part of Proposition 2 that ε is in, from the place of 0.5 − ε/(2γ)."""
    place = math.floor(HALF - eps / (2 * gamma))
    return "the plateau" if place <= -support else "every term" if place == 0 else "some terms"


def is_tie(world: privacy.World) -> bool:
    """Whether a ratio of probabilities is e^ε exactly."""
    return world.threshold.denominator == 1


def test_the_closed_form_is_tried_in_every_region_of_proposition_2() -> None:
    tried = summary.closed_form_cases()
    assert len(set(tried)) == len(tried)
    noises = {(D, gamma) for D, gamma, _ in tried}
    assert {D for D, _ in noises} == {1, 2, 3, 4, 7, 11}
    assert len({gamma for _, gamma in noises}) >= 7
    for support, gamma in noises:
        found = Counter(
            region(support, gamma, eps) for other, rate, eps in tried if (other, rate) == (support, gamma)
        )
        expected = {"the plateau", "every term"} | ({"some terms"} if support > 1 else set())
        assert set(found) == expected, (support, gamma)
        assert found["some terms"] >= 3 * (support - 1)


def test_the_closed_form_is_tried_at_every_kink_and_close_to_both_sides_of_it() -> None:
    tried = set(summary.closed_form_cases())
    for support, gamma in {one[:2] for one in tried}:
        for m in range(1, support + 1):
            kink = gamma * (2 * m - 1)
            levels = [eps for other, rate, eps in tried if (other, rate) == (support, gamma)]
            assert kink in levels
            assert any(0 < kink - eps <= kink / 100 for eps in levels)
            assert any(0 < eps - kink <= kink / 100 for eps in levels)


@pytest.mark.long
@pytest.mark.unmeasured
def test_every_alteration_of_the_closed_form_is_seen() -> None:
    name, printed = "abs-measured", PAPER["abs-measured"].printed
    assert verdict(name, printed) == CONFIRMED
    assert {outcome.fate for outcome in outcomes(verdicts.settle(PAPER[name]))} <= {"seen", "refused"}
    altered = {
        printed.replace("+ C*sum", "- 1000*C*sum"),
        printed.replace("+ C*sum", "+ 0*C*sum"),
        printed.replace("exp(eps)*", ""),
        printed.replace("exp(eps)", "exp(2*eps)"),
        printed.replace("exp(eps)", "exp(-eps)"),
        printed.replace("exp(-gamma*z**2)", "exp(-gamma*z)"),
        printed.replace("gamma*D**2", "gamma*D"),
        printed.partition(" + C*sum")[0],
    } - {printed}
    assert len(altered) == 8
    seen = {formula: verdict(name, formula) for formula in altered}
    assert set(seen.values()) == {CONTRADICTED}, [one for one, found in seen.items() if found == CONFIRMED]


# --- What the grids cover ----------------------------------------------------------------------


def test_the_worlds_are_in_every_region_on_ties_and_off_them_and_on_both_sides_of_every_kink() -> None:
    covered = Counter(
        (
            world.D,
            region(world.D, Fraction(world.gamma), Fraction(world.eps)),
            is_tie(world),
        )
        for world in privacy.WORLDS
    )
    for support in {world.D for world in privacy.WORLDS}:
        parts = ["every term", "the plateau", *(["some terms"] if support > 1 else [])]
        assert all(covered[support, part, tie] for part in parts for tie in (True, False)), support
    fine = {(world.D, world.eps) for world in privacy.WORLDS if world.gamma == 60}
    for support in (1, 2, 3):
        kinks = [60 * (2 * m - 1) for m in range(1, support + 1)]
        assert {(support, kink + side) for kink in kinks for side in (-1, 0, 1)} <= fine


def test_the_range_of_gamma_is_tried_below_at_its_ends_inside_and_above() -> None:
    def place(support: int, eps: Fraction, gamma: Fraction) -> str:
        low, high = eps / (2 * support + 1), eps / (2 * support - 1)
        inside = "inside" if low < gamma < high else "above" if gamma > high else "below"
        return "the lower end" if gamma == low else "the upper end" if gamma == high else inside

    everywhere = {"below", "the lower end", "inside", "the upper end", "above"}
    worlds = [(world.D, Fraction(world.eps), Fraction(world.gamma)) for world in design.NEAR_RANGE]
    for grid in (worlds, design.RATIONAL):
        for support in {point[0] for point in grid}:
            assert {place(*point) for point in grid if point[0] == support} == everywhere, support


def test_tables_are_tried_with_full_support_and_without() -> None:
    kinds = Counter((table.support > 2, table.full_support) for _, table in sampling.all_tables())
    assert all(kinds[wide, full] for wide, full in ((False, True), (True, True), (True, False)))
    assert kinds[True, False] >= 30
    assert kinds[True, True] >= 60


def test_the_experiment_has_both_kinds_of_table_at_small_sizes_and_one_at_the_largest() -> None:
    kinds = {
        bits: {point.table.full_support for point in experiment.points(bits)} for bits in experiment.BITS
    }
    assert kinds == {8: {True, False}, 16: {True, False}, 32: {True}}


def test_variances_are_tried_from_an_eighth_of_the_bound_to_seven() -> None:
    for support, variance in noise.VARIANCES:
        assert 0 < variance < Fraction(support * (support + 1), 3)
    shares = {variance / Fraction(support * (support + 1), 3) for support, variance in noise.VARIANCES}
    assert shares == {Fraction(k, 8) for k in range(1, 8)}


# --- other grids that were too thin -----------------------------------------------------------


@pytest.mark.unmeasured
def test_the_guarantee_of_proposition_2_is_not_looser_than_printed() -> None:
    printed = PAPER["priv-prop2-guarantee"].printed
    assert verdict("priv-prop2-guarantee", printed) == CONFIRMED
    for other in ("exp(9*eps)", "exp(2*eps)", "exp(0*eps)", "2*exp(eps)"):
        altered = printed.replace("exp(eps)", other)
        assert altered != printed
        assert verdict("priv-prop2-guarantee", altered) == CONTRADICTED, other


def test_the_guarantee_is_tried_on_ties_and_between_them_in_every_region() -> None:
    found = Counter(
        (
            world.D,
            region(world.D, Fraction(world.gamma), Fraction(world.eps)),
            is_tie(world),
        )
        for world in privacy.few_worlds()
    )
    assert all(found[1, part, tie] for part in ("every term", "the plateau") for tie in (True, False))
    parts = ("every term", "some terms", "the plateau")
    assert all(found[2, part, tie] for part in parts for tie in (True, False))


def test_sampling_is_tried_on_every_shape_and_on_every_table() -> None:
    shapes = verdicts.find_truth(PAPER["samp-rule"]).readings[""]
    assert isinstance(shapes, formulas.Cases)
    assert shapes.total == 2 * len(sampling.SHAPES)
    attained = verdicts.find_truth(PAPER["post-epsilon-attained"]).readings[""]
    assert isinstance(attained, formulas.Cases)
    assert attained.total == len(sampling.full_tables())


# --- Example 3's margin below ε ---------------------------------------------------------------


def levels_by_size() -> dict[int, tuple[mpmath.mpf, mpmath.mpf]]:
    """ε^Q of Example 1's noise, one way and both ways, for each 2^b keys with full support.

    From the paper's formulas in mpmath, with nothing of the library.
    """
    found = {}
    with mpmath.workdps(60):
        gamma = mpmath.mpf("0.5") / 49 - 2 * mpmath.mpf("0.5") / (10 * (4 * 25**2 - 1))
        bell = [mpmath.exp(-gamma * z**2) for z in range(-25, 26)]
        below = [*accumulate(weight / mpmath.fsum(bell) for weight in bell[:-1])]
        for bits in range(1, 33):
            cuts = [0, *(int(mpmath.ceil(c * 2**bits)) for c in below), 2**bits]
            keys = [high - low for low, high in pairwise(cuts)]
            if all(keys):
                rises = [mpmath.log(mpmath.mpf(b) / a) for a, b in pairwise(keys)]
                found[bits] = max(rises), max(map(abs, rises))
    return found


def test_the_advice_on_key_sizes_is_what_the_tables_show() -> None:
    entry, levels = verdicts.settle(PAPER["ex3-reason"]), levels_by_size()
    one = [bits for bits, (level, _) in levels.items() if level > 0.5]
    two = [bits for bits, (_, level) in levels.items() if level > 0.5]
    assert (one, two) == ([14, 15, 17, 18, 19], [*range(14, 22)])
    assert min(levels) == 14
    assert "the one-sided ε^Q is above ε at 2^14, 2^15 and 2^17 to 2^19, " in entry.changes
    assert "the two-sided at 2^14 to 2^21." in entry.changes
    assert "From 2^22 to 2^32 keys both are below ε." in entry.changes
    for bits, (forward, both) in levels.items():
        row = ", ".join(mpmath.nstr(level, 4, strip_zeros=False) for level in (forward, both))
        assert f"2^{bits}: {row}" in entry.changes
    assert not re.search(r"at every KEYSIZE|luck", entry.changes)
    assert OURS["fix-sizes-one-sided"].printed == ", ".join(map(str, one))
    assert OURS["fix-sizes-two-sided"].printed == ", ".join(map(str, two))


def test_no_page_says_that_the_margin_is_there_at_every_key_size() -> None:
    pages = [*ROOT.glob("paper/*.*"), *ROOT.glob("site/*.md"), *ROOT.glob("notebooks/**/*.ipynb")]
    for path in (*pages, ROOT / "README.md"):
        if path.suffix in (".md", ".toml", ".typ", ".ipynb"):
            text = path.read_text(encoding="utf-8")
            assert "there at every KEYSIZE" not in text, path.name
            assert "luck of the ceilings" not in text, path.name


# --- Printed numbers --------------------------------------------------------------------------


def test_the_printed_gamma_is_that_of_one_support_and_excludes_the_other() -> None:
    """γ ≈ 0.0498 and V = 10 fit together for D = 11; for D = 15 text and caption exclude each other."""
    with mpmath.workdps(40):
        for support, name, expected in (
            (11, "fig1-gamma-V10", CONFIRMED),
            (15, "fig1-gamma-V10-D15", CONTRADICTED),
        ):
            bell = [(z * z, mpmath.exp(-mpmath.mpf("0.0498") * z * z)) for z in range(-support, support + 1)]
            variance = mpmath.fsum(z * mass for z, mass in bell) / mpmath.fsum(mass for _, mass in bell)
            entry = verdicts.settle(PAPER[name])
            assert (entry.verdict, entry.claim.printed) == (expected, "0.0498")
            if expected == CONTRADICTED:
                assert f"it has the variance {mpmath.nstr(variance, 4)}" in entry.because
                assert entry.origin == "the γ of D = 11"
                assert entry.changes


def test_only_digits_beyond_those_of_a_64_bit_number_are_forgiven() -> None:
    partly = [entry.claim.id for entry in book.read().paper if entry.verdict.startswith("confirmed to")]
    assert partly == ["ex2-cmf-24", "ex2-cmf-23"]
    for name in partly:
        [answer] = verdicts.find_truth(PAPER[name]).readings.values()
        assert isinstance(answer, Enclosure)
        error = abs(answer.lower / Fraction(PAPER[name].printed) - 1)
        assert error < Fraction(1, 10**15)


def test_what_counterexamples_are_compared_with_is_computed() -> None:
    """The statements name the δ of independent noises and of each design alone."""
    ours = claims.load(claims.OURS)
    assert (
        f"above the {float(beyond.independent(2))} that two independent noises" in ours["past-margins"].says
    )
    first, second = map(float, beyond.each_design())
    assert f"above the {first} and the {second} that they have alone" in ours["past-two-designs"].says
    assert beyond.women_men_total(4) > beyond.independent(2)
    assert beyond.one_key_two_noises() > max(beyond.each_design())
