"""Exercises of notebook 14 that have many right answers."""

from __future__ import annotations

from typing import Any

from compendium.course.properties import numbers
from tablebuilder_dp import design
from tablebuilder_dp.beyond import composition


def exercise_14_3(answer: Any) -> str:
    """A grid for dp_accounting on which its upper bound for ten cells of Example 1 is exact."""
    from dp_accounting.pld import privacy_loss_distribution as pld  # here, as no other exercise needs it

    width = numbers([answer], 1)
    if width is None or not 0.005 <= width[0] <= 1:
        return "The answer must be a number from 0.005 to 1."
    made = design.guide("0.5", "1e-4")
    grid = {"value_discretization_interval": float(width[0]), "use_connect_dots": True}
    cell = pld.from_discrete_gaussian_mechanism((2 * float(made.gamma)) ** -0.5, truncation_bound=25, **grid)
    exact = float(composition.delta(made, 1, cells=10))
    off = float(cell.self_compose(10).get_delta_for_epsilon(1.0)) / exact - 1
    return "" if abs(off) <= 1e-7 else f"The upper bound is too high by {off:.1e} of the exact delta."
