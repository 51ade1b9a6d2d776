"""Exercises of notebook 10 that have many right answers."""

from __future__ import annotations

from itertools import count
from typing import Any

from compendium.course.properties import numbers
from tablebuilder_dp import certified, design, privacy, sampling
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support import parameters


def exercise_10_3(answer: Any) -> str:
    """ε and δ for which the printed sign of ι leads to a noise that is not (ε, δ)-differentially private."""
    values = numbers(answer, 2)
    if values is None or not (0.1 <= values[0] <= 1 and 1e-9 <= values[1] <= 0.5):
        return "The answer must be two numbers, an epsilon from 0.1 to 1 and a delta from 1e-9 to 0.5."
    epsilon, wanted = parameters.epsilon(float(values[0])), parameters.delta(float(values[1]))
    for support in count(1):
        gamma = epsilon / (2 * support - 1) + 2 * epsilon / (10 * (4 * support**2 - 1))
        if privacy.plateau(Noise(support, gamma)).height <= wanted:
            break
    if certified.delta(Noise(support, gamma), epsilon).lower > wanted:
        return ""
    return f"The search stops at D = {support}, and the noise that it finds there keeps what was wanted."


def exercise_10_4(answer: Any) -> str:
    """An ε at which 2^32 keys have a larger variance error than 2^8 keys, for D = 10 and slack 1/10."""
    values = numbers([answer], 1)
    if values is None or not 0.1 <= values[0] <= 2.5:
        return "The answer must be a number from 0.1 to 2.5."
    gamma = design.proposition_3(float(values[0]), support=10).gamma
    true = certified.variance(Noise(10, gamma)).lower
    tables = (sampling.lookup_table(Noise(10, gamma), keysize=2**bits) for bits in (8, 32))
    small, large = (abs(sampling.after_sampling(table).variance - true) for table in tables)
    if large > small:
        return ""
    return f"There the error is {float(small):.1e} with 2^8 keys and {float(large):.1e} with 2^32."
