"""Exercises of notebook 15 that have many right answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from compendium.course.properties import numbers
from tablebuilder_dp.counts import small_counts


def exercise_15_4(answer: Any) -> str:
    """The unbiased noise for one person that gives away the least about the empty cell."""
    p, z = numbers(answer, 7), np.arange(-1, 6)
    if p is None:
        return "The answer must be seven numbers, the probabilities of the noises -1, 0, ..., 5."
    if p.min() < 0 or abs(p.sum() - 1) > 1e-9:
        return f"Probabilities are not negative and sum to 1: least {p.min():.6g}, sum {p.sum():.9g}."
    if abs(p @ z) > 1e-9:
        return f"The mean is {p @ z:.6g} and not 0."
    if p @ z**2 > 3 + 1e-9:
        return f"The variance is {p @ z**2:.6g}, above 3."
    above, least = 1 - float(p[0]), float(small_counts.hole_bound(3))
    return "" if above <= least + 1e-6 else f"P(Y > 0) is {above:.6g}, and some other noise has less."
