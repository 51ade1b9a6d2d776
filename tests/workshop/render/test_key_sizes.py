"""How large KEYSIZE must be: the page has what is computed, and each bound is the least of its kind."""

from __future__ import annotations

import json
import math

import pytest

from compendium.render import key_sizes, readme
from compendium.run.manifest import NUMBERS
from compendium.run.places import ROOT
from tablebuilder_dp import design, sampling
from tablebuilder_dp.beyond import symmetric
from tablebuilder_dp.support import intervals

PAST = (ROOT / "site/past.md").read_text(encoding="utf-8")
RECORDED = json.loads((ROOT / NUMBERS).read_text(encoding="utf-8"))
NOISE = design.guide("0.5", "1e-4")


def test_the_page_has_the_table_that_is_computed() -> None:
    assert readme.between(PAST, key_sizes.MARKS, key_sizes.table(RECORDED)) == PAST


def test_the_answers_stand_in_their_order() -> None:
    least = key_sizes.bounds()
    better = RECORDED["12-better-tables"]
    between = (int(better["12-second-smallest"]), least.percent, 2 ** int(better["12-second-ceiling-bits"]))
    paper = int(RECORDED["17-explorer"]["17-keysize"])
    answers = [least.support, *between, least.epsilon, least.experiment, paper]
    assert answers == sorted(set(answers))


def test_full_support_begins_at_its_bound() -> None:
    full = key_sizes.bounds().support
    assert full == math.ceil(1 / NOISE.delta)
    assert sampling.lookup_table(NOISE, keysize=full).full_support
    assert not sampling.lookup_table(NOISE, keysize=full - 1).full_support


def test_the_bounds_keep_what_they_say_and_are_those_of_their_formulas() -> None:
    least = key_sizes.bounds()
    tau = 0.1 * 0.5 / 51
    formula = (1 + math.exp(-0.5)) / (-math.expm1(-2 * tau) * NOISE.delta)
    assert least.epsilon == pytest.approx(formula, abs=2)
    assert symmetric.keeps_epsilon(sampling.lookup_table(NOISE, keysize=least.epsilon), "0.5")
    assert least.percent == math.ceil(100 / NOISE.delta)
    table = sampling.lookup_table(NOISE, keysize=least.percent)
    assert sampling.after_sampling(table).delta <= 1.01 * NOISE.delta
    steep = design.proposition_3("2.5", support=10)
    assert least.experiment == key_sizes.theorem_15(steep)


def test_an_enclosure_that_decides_nothing_is_refused() -> None:
    with intervals.precision(64):
        wide = intervals.ball(2).union(intervals.ball(4))
        with pytest.raises(ArithmeticError, match="from 2 to . does not decide"):
            key_sizes.ceiling(wide)


def test_numbers_that_disagree_are_refused() -> None:
    other = RECORDED | {"07-sampling": RECORDED["07-sampling"] | {"07-bits-needed": "13"}}
    with pytest.raises(ValueError, match="disagree about full support"):
        key_sizes.table(other)
