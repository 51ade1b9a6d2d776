"""Exercises of notebook 02 that have many right answers."""

from __future__ import annotations

from typing import Any

from compendium.course.properties import numbers
from tablebuilder_dp import privacy


def exercise_02_3(answer: Any) -> str:
    """Three probabilities, not symmetric, whose two directions agree at ε = 1."""
    p = numbers(answer, 3)
    if p is None:
        return "The answer must be three numbers, the probabilities of -1, 0 and 1."
    if p.min() < 0.05 or abs(p.sum() - 1) > 1e-9:
        return f"They must be at least 0.05 and sum to 1; the least is {p.min():.4g}, the sum {p.sum():.10g}."
    if p[1] < p.max():
        return "The largest of the three must stand in the middle."
    if abs(p[0] - p[2]) < 0.05:
        return f"The two ends must differ by at least 0.05; they differ by {abs(p[0] - p[2]):.4g}."
    ways = privacy.hockey_stick(*privacy.neighbours(p), 1)
    if abs(ways.forward - ways.backward) < 1e-6:
        return ""
    return f"The two directions differ: forward {ways.forward:.7f}, backward {ways.backward:.7f}."
