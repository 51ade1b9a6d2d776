"""Exercises of notebook 01 that have many right answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compendium.course.properties import numbers
from tablebuilder_dp.counts import rows
from tablebuilder_dp.counts.rows import OfVariance


def exercise_01_4(answer: Any) -> str:
    """The noise of largest entropy on {-1, ..., 3} with mean 0 and E[Z²] ≤ 1."""
    p = numbers(answer, 5)
    if p is None:
        return "The answer must be five numbers, the probabilities of -1, 0, 1, 2 and 3."
    if p.min() < 0 or abs(p.sum() - 1) > 1e-6:
        return f"The least probability is {p.min():.6g} and all of them sum to {p.sum():.7g}: that is no pmf."
    z = np.arange(-1, 4)
    if abs(p @ z) > 1e-6:
        return f"The mean is {p @ z:.6g} and not 0."
    if p @ z**2 > 1 + 1e-6:
        return f"E[Z²] is {p @ z**2:.6g}, above 1."
    missing = _entropy(rows.rows(OfVariance(3, 1)).table[1]) - _entropy(p)
    if missing < 1e-5:
        return ""
    return f"This noise keeps the constraints, but another one has {missing:.2g} more entropy."


def _entropy(p: NDArray[np.float64]) -> float:
    return -float((p[p > 0] * np.log(p[p > 0])).sum())
