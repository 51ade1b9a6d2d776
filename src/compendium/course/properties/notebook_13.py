"""Exercises of notebook 13 that have many right answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from compendium.course.properties import numbers
from tablebuilder_dp import privacy
from tablebuilder_dp.noise import Noise


def exercise_13_4(answer: Any) -> str:
    """A noise that never rises with |z|, with the bell's support and variance and a quarter of its δ."""
    p = numbers(answer, 51)
    if p is None:
        return "The answer must be 51 numbers, the probabilities of -25, ..., 25."
    if p.min() < 0 or abs(p.sum() - 1) > 1e-9:
        return f"Probabilities are not negative and sum to 1: least {p.min():.6g}, sum {p.sum():.9g}."
    if abs(p - p[::-1]).max() > 1e-12:
        return "The noise is not symmetric."
    if (p[26:] > p[25:-1] + 1e-15).any():
        return "Somewhere the probability rises with |z|."
    variance = float(p @ np.arange(-25, 26) ** 2)
    if abs(variance - 49) > 0.01:
        return f"The variance is {variance:.4f}, farther than 0.01 from 49."
    delta = max(privacy.hockey_stick(*privacy.neighbours(p / p.sum()), "0.5"))
    bell = float(privacy.delta(Noise.of_variance(25, 49), "0.5"))
    return "" if 4 * delta <= bell else f"Its delta is {delta:.4e}, that of the bell is {bell:.4e}."
