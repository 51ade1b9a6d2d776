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
    full, theorem, rule = key_sizes.bounds()
    better = RECORDED["12-better-tables"]
    ceilings = 2 ** int(better["12-second-ceiling-bits"])
    paper = int(RECORDED["17-explorer"]["17-keysize"])
    assert full < int(better["12-second-smallest"]) < ceilings < theorem < rule < paper


def test_full_support_begins_at_its_bound() -> None:
    full, _, _ = key_sizes.bounds()
    assert full == math.ceil(1 / NOISE.delta)
    assert sampling.lookup_table(NOISE, keysize=full).full_support
    assert not sampling.lookup_table(NOISE, keysize=full - 1).full_support


def test_the_bounds_keep_epsilon_and_are_those_of_their_formulas() -> None:
    _, theorem, rule = key_sizes.bounds()
    tau = 0.1 * 0.5 / 51
    formula = (1 + math.exp(-0.5)) / (-math.expm1(-2 * tau) * NOISE.delta)
    assert theorem == pytest.approx(formula, abs=2)
    assert rule == pytest.approx(1 / (math.tanh(tau) * NOISE.delta), abs=2)
    for keysize in (theorem, rule):
        assert symmetric.keeps_epsilon(sampling.lookup_table(NOISE, keysize=keysize), "0.5")


def test_an_enclosure_that_decides_nothing_is_refused() -> None:
    with intervals.precision(64):
        wide = intervals.ball(2).union(intervals.ball(4))
        with pytest.raises(ArithmeticError, match="from 2 to . does not decide"):
            key_sizes.ceiling(wide)


def test_numbers_that_disagree_are_refused() -> None:
    other = RECORDED | {"07-sampling": RECORDED["07-sampling"] | {"07-bits-needed": "13"}}
    with pytest.raises(ValueError, match="disagree about full support"):
        key_sizes.table(other)
