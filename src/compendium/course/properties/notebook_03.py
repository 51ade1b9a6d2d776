"""Exercises of notebook 03 that have many right answers."""

from __future__ import annotations

from typing import Any

from compendium.course.properties import numbers
from tablebuilder_dp import privacy
from tablebuilder_dp.noise import Noise


def exercise_03_3(answer: Any) -> str:
    """A γ whose δ at D = 20 and ε = 1 is far below that of Proposition 3."""
    values = numbers([answer], 1)
    if values is None or not 1e-6 <= values[0] <= 100:
        return "The answer must be a number between 0.000001 and 100."
    delta = privacy.delta(Noise(20, float(values[0])), 1)
    return "" if delta < 2e-6 else f"With this gamma, delta is {delta:.4g}."
