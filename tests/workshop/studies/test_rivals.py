"""What many cells cost: every way keeps what it was asked for, and better theorems cost less."""

import math
from fractions import Fraction

import pytest

from compendium.studies import rivals
from tablebuilder_dp import certified
from tablebuilder_dp.beyond import composition

ONE, SMALL = Fraction(1), Fraction("1e-6")


@pytest.mark.parametrize("theorem", composition.Bounds._fields)
@pytest.mark.parametrize("cells", [2, 16])
def test_each_guide_keeps_the_promise_with_room_to_spare(theorem: str, cells: int) -> None:
    made = rivals.guided(ONE, SMALL, cells=cells, theorem=theorem)
    assert certified.delta(made, ONE, cells=cells, digits=6).upper <= SMALL
    bounds = composition.bounds(made.epsilon, made.delta, cells=cells, total=SMALL)
    assert getattr(bounds, theorem) == pytest.approx(1, rel=1e-5) or getattr(bounds, theorem) < 1


def test_sixteen_cells_side_by_side() -> None:
    found = rivals.costs(1, "1e-6", cells=16)
    assert found.max_entropy < found.geometric < found.guide_optimal
    assert found.max_entropy < found.discrete_gaussian < found.guide_optimal
    assert found.guide_optimal < min(found.guide_basic, found.guide_advanced)
    assert found.max_entropy == pytest.approx(285.57, rel=0.0101)
    assert found.geometric == pytest.approx(473.13, rel=0.0101)


def test_one_cell_needs_no_theorem() -> None:
    basic, optimal = (rivals.guided(ONE, SMALL, cells=1, theorem=name) for name in ("basic", "optimal"))
    assert basic.support <= optimal.support
    assert basic.epsilon == pytest.approx(1, rel=1e-5)


def test_the_gaussian_spends_all_of_epsilon() -> None:
    for cells in (1, 10):
        rho = cells / (2 * rivals.gaussian(ONE, SMALL, cells=cells))
        assert rho + 2 * math.sqrt(rho * math.log(1e6)) == pytest.approx(1)
