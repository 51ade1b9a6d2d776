"""Exercises of notebook 12 that have many right answers."""

from __future__ import annotations

from typing import Any

from tablebuilder_dp import design
from tablebuilder_dp.beyond import symmetric
from tablebuilder_dp.support import parameters


def exercise_12_3(answer: Any) -> str:
    """A design and two key sizes, of which the larger cannot keep δ although the smaller can."""
    if not isinstance(answer, tuple | list) or len(answer) != 4:
        return "The answer must be four numbers: epsilon, support, the smaller and the larger key size."
    epsilon, support, *sizes = answer
    try:
        made = design.proposition_3(epsilon, support=parameters.integer(support, "support", low=1, high=1000))
        small, large = (symmetric.keeps_delta(made, epsilon, keysize=size) for size in sizes)
    except (TypeError, ValueError, ArithmeticError) as error:
        return f"{error}."
    if made.support in (2, 10):
        return f"D = {made.support} stands in the notebook; take another support."
    if sizes[0] >= sizes[1]:
        return "The smaller key size comes first."
    if not small:
        return "No symmetric table with the smaller key size keeps epsilon and delta."
    return "With the larger key size some symmetric table keeps epsilon and delta, too." if large else ""
