"""Notebook 01: the variance as a function of γ, Proposition 1."""

from __future__ import annotations

import numpy as np

from compendium.figures.drawing import (
    Drawing,
    canvas,
    styled,
)
from compendium.figures.palette import BLUE, GREY, ORANGE
from tablebuilder_dp import noise
from tablebuilder_dp.noise import Noise


@styled
def variance_of_gamma(name: str, *, support: int, variance: float) -> Drawing:
    """Proposition 1: V(γ) falls from the uniform pmf's variance to 0, so each V below has one γ."""
    figure, axes = canvas()
    rate = float(Noise.of_variance(support, variance).gamma)
    gammas = [float(f"{value:.6g}") for value in np.geomspace(rate / 300, min(rate * 100, 690), 200)]
    variances = [Noise(support, gamma).variance for gamma in gammas]
    bound = float(noise.variance_bound(support))
    axes.semilogx(gammas, variances, color=BLUE)
    axes.axhline(bound, color=GREY, linestyle="--", linewidth=1)
    axes.text(gammas[0], bound, " D(D+1)/3: the uniform pmf", va="bottom", color=GREY)
    axes.plot(rate, variance, "o", color=ORANGE)
    axes.annotate(
        rf"$V = {variance:g}$, $\gamma = {rate:.4g}$", (rate, variance), (8, 8), textcoords="offset points"
    )
    axes.set(xlabel=r"$\gamma$", ylabel=r"$V(\gamma)$", ylim=(0, bound * 1.12), title=f"$D = {support}$")
    caption = (
        "V(γ) falls strictly, from D(D+1)/3 at γ = 0 to 0: every variance below the bound has "
        "exactly one γ > 0."
    )
    alt = (
        f"A decreasing S-shaped curve of V against γ that starts at {bound:.4g} and ends at 0, "
        f"with V = {variance:g} marked."
    )
    return Drawing(name, figure, caption, alt, {"gamma": gammas, "variance": variances})
