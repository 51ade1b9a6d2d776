"""Notebook 03: the δ and the variance of Proposition 3, Figures 2a and 2b."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from compendium.figures.drawing import (
    DELTA,
    EPSILON,
    Drawing,
    canvas,
    epsilons,
    looks,
    styled,
)
from tablebuilder_dp import design


@styled
def best_delta(name: str, *, supports: Sequence[int], epsilon_max: float) -> Drawing:
    """Figure 2a: the δ of Proposition 3 in the limit of no slack, beside the best on the paper's grid."""
    figure, axes = canvas()
    levels = epsilons(epsilon_max / 50, epsilon_max, 50)
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    gaps = []
    for support, colour, _, _ in looks(supports):
        ours = [design.proposition_3(level, support=support, slack=0).delta for level in levels]
        best = [design.best_delta_on_grid(level, support=support).delta for level in levels]
        axes.semilogy(levels, ours, "-", color=colour, label=f"$D = {support}$, Proposition 3")
        axes.semilogy(
            levels, best, ":", color=colour, marker=".", markersize=4, label=f"$D = {support}$, best on grid"
        )
        data[f"delta_D{support}"], data[f"best_delta_D{support}"] = ours, best
        gaps.append(f"for D = {support} the grid gains at most a factor {max(np.divide(ours, best)):.2f}")
    axes.set(xlabel=EPSILON, ylabel=DELTA, xlim=(0, epsilon_max))
    axes.legend()
    caption = (
        "δ when γ follows ε so that no plateau appears (lines), and the least δ on the grid "
        "γ = 0.0001, …, 0.3 (dots). The wider support has the smaller δ."
    )
    alt = "δ falls steadily with ε on a logarithmic scale, without plateaus; " + "; ".join(gaps) + "."
    return Drawing(name, figure, caption, alt, data)


@styled
def variance_curves(name: str, *, supports: Sequence[int], epsilon_max: float) -> Drawing:
    """Figure 2b: the variance that belongs to the lines of Figure 2a."""
    figure, axes = canvas()
    levels = epsilons(epsilon_max / 50, epsilon_max, 50)
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    for support, colour, dash, _ in looks(supports):
        variances = [design.proposition_3(level, support=support, slack=0).variance for level in levels]
        axes.plot(levels, variances, dash, color=colour, label=f"$D = {support}$")
        data[f"variance_D{support}"] = variances
    axes.set(xlabel=EPSILON, ylabel="variance $V$", xlim=(0, epsilon_max), ylim=(0, None))
    axes.legend()
    caption = "The variance of the noise of Figure 2a: stronger privacy (small ε) needs wider noise."
    alt = "The variance falls as ε grows and is larger for the wider support."
    return Drawing(name, figure, caption, alt, data)
