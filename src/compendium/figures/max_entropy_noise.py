"""Notebook 01: bells for several γ, and the variance as a function of γ, Proposition 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from compendium.figures.drawing import (
    Drawing,
    canvas,
    label_ends,
    looks,
    styled,
)
from compendium.figures.palette import BLUE, GREY, ORANGE
from compendium.run.notation import tex
from tablebuilder_dp import noise
from tablebuilder_dp.noise import Noise

SHARES = (10, 50, 80, 99)
"""Variances of the bells, in per cent of D(D+1)/3."""


@styled
def bells(name: str, *, support: int) -> Drawing:
    """The same formula for four γ: from a sharp peak to a pmf that is nearly uniform."""
    figure, axes = canvas(5.4, 4.0)
    z = list(range(-support, support + 1))
    data: dict[str, Sequence[Any]] = {"z": z}
    bound = noise.variance_bound(support)
    ends = []
    for share, colour, dash, marker in looks(SHARES):
        bell = Noise.of_variance(support, bound * share / 100)
        axes.plot(z, bell.pmf, dash, color=colour, marker=marker if support <= 20 else None, markersize=4)
        ends.append((float(bell.pmf[-1]), rf"$\gamma = {tex(f'{float(bell.gamma):.2g}')}$, {share}%", colour))
        data[f"p_{share}"] = bell.pmf.tolist()
    axes.set(xlabel="noise $z$", ylabel="$p(z)$", title=f"$D = {support}$")
    axes.set_ylim(-0.025 * max(data[f"p_{SHARES[0]}"]), None)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(-1.05 * support, 1.05 * support)
    label_ends(axes, ends)
    caption = (
        r"One formula, four values of $\gamma$. The percentages are the variances as shares of "
        r"$D(D+1)/3$, that of the uniform pmf."
    )
    alt = (
        f"Four symmetric bells on −{support} to {support}, from a sharp peak with a tenth of the largest "
        "variance to a line that is almost flat."
    )
    return Drawing(name, figure, caption, alt, data)


@styled
def variance_of_gamma(name: str, *, support: int, variance: float) -> Drawing:
    """Proposition 1: V(γ) falls from the uniform pmf's variance to 0, so each V below has one γ."""
    figure, axes = canvas(5.4, 4.0)
    bound = float(noise.variance_bound(support))
    rate, flat, sharp = (
        float(Noise.of_variance(support, value).gamma) for value in (variance, 0.999 * bound, 0.001 * bound)
    )
    high = variance > 0.9 * bound  # above the point its name would stand on the dashed line
    span = np.geomspace(min(rate / (100 if high else 3), flat), min(max(3 * rate, sharp), 690), 200)
    gammas = [float(f"{value:.6g}") for value in span]
    variances = [Noise(support, gamma).variance for gamma in gammas]
    axes.semilogx(gammas, variances, color=BLUE)
    axes.axhline(bound, color=GREY, linestyle="--", linewidth=1)
    axes.annotate(
        "$D(D+1)/3$: the uniform pmf", (gammas[0], bound), (4, 5), textcoords="offset points", color=GREY
    )
    axes.plot(rate, variance, "o", color=ORANGE)
    axes.annotate(
        rf"$V = {tex(f'{variance:g}')}$, $\gamma = {tex(f'{rate:.4g}')}$",
        (rate, variance),
        (0, -16) if high else (8, 8),
        textcoords="offset points",
        ha="left" if not high else "right" if variance < 0.99 * bound else "center",
    )
    axes.set(xlabel=r"$\gamma$", ylabel=r"$V(\gamma)$", ylim=(0, bound * 1.16), title=f"$D = {support}$")
    caption = (
        r"$V(\gamma)$ falls strictly, from $D(D+1)/3$, its limit at $\gamma = 0$, to 0: every variance below "
        r"the bound has exactly one $\gamma > 0$."
    )
    alt = (
        f"A decreasing S-shaped curve of V against γ, from {variances[0]:.4g} to {variances[-1]:.2g}, with "
        f"V = {variance:g} marked."
    )
    return Drawing(name, figure, caption, alt, {"gamma": gammas, "variance": variances})
