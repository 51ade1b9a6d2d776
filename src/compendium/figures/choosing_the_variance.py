"""Notebook 03: the δ and the variance of Proposition 3, Figures 2a and 2b."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from compendium.figures.drawing import (
    DELTA,
    EPSILON,
    Drawing,
    canvas,
    epsilons,
    label_ends,
    looks,
    styled,
)
from compendium.figures.palette import BLUE, GREEN, GREY, ORANGE
from compendium.run.notation import tex
from tablebuilder_dp import design, privacy
from tablebuilder_dp.noise import Noise


@styled
def following(name: str, *, support: int, epsilon_max: float) -> Drawing:
    """Section III-C: δ for three fixed γ, each with its plateau, and for the γ that follows ε."""
    figure, axes = canvas(5.4, 4.0)
    levels = epsilons(epsilon_max / 100, epsilon_max, 100)
    follows = [design.proposition_3(level, support=support, slack=0).delta for level in levels]
    axes.semilogy(levels, follows, color=ORANGE, linewidth=2.4)
    data: dict[str, Sequence[Any]] = {"epsilon": levels, "follows": follows}
    ends = [(follows[-1], r"$\gamma$ follows $\varepsilon$", ORANGE)]
    for share in (20, 40, 60):
        onset = levels[share - 1]
        fixed = design.proposition_3(onset, support=support, slack=0)
        deltas = privacy.delta(fixed, levels)
        axes.semilogy(levels, deltas, color=BLUE, linewidth=1.2)
        axes.plot(onset, fixed.delta, "o", color=BLUE, markersize=5)
        ends.append((fixed.delta, rf"$\gamma = {tex(f'{float(fixed.gamma):.2g}')}$", BLUE))
        data[f"fixed_{share}"] = deltas.tolist()
    label_ends(axes, ends)
    axes.set(xlabel=EPSILON, ylabel=DELTA, title=rf"$D = {support}$", xlim=(0, epsilon_max))
    caption = (
        r"Three fixed values of $\gamma$: each curve is flat from its dot on, where a larger $\varepsilon$ "
        r"buys nothing. If $\gamma$ follows $\varepsilon$, the curve passes through the dots and falls on."
    )
    alt = (
        "Three curves of δ against ε on a logarithmic scale become flat at a dot each; a fourth one falls "
        "without end through all three dots."
    )
    return Drawing(name, figure, caption, alt, data)


@styled
def best_delta(name: str, *, supports: Sequence[int], epsilon_max: float) -> Drawing:
    """Figure 2a: the δ of Proposition 3 in the limit of no slack, beside the best on the paper's grid."""
    figure, axes = canvas(5.4, 4.0)
    levels = epsilons(epsilon_max / 50, epsilon_max, 50)
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    gaps, ends = [], []
    for support, colour, _, _ in looks(supports):
        ours = [design.proposition_3(level, support=support, slack=0).delta for level in levels]
        best = [design.best_delta_on_grid(level, support=support).delta for level in levels]
        axes.semilogy(levels, ours, "-", color=colour)
        axes.semilogy(levels, best, ":", color=colour, marker=".", markersize=4)
        ends.append((ours[-1], f"$D = {support}$", colour))
        data[f"delta_D{support}"], data[f"best_delta_D{support}"] = ours, best
        gaps.append(f"for D = {support} the grid gains at most a factor {max(np.divide(ours, best)):.2f}")
    axes.set(xlabel=EPSILON, ylabel=DELTA, xlim=(0, epsilon_max))
    label_ends(axes, ends)
    axes.set_title("lines: Proposition 3, dots: best on the grid", fontsize=10)
    caption = (
        r"$\delta$ when $\gamma$ follows $\varepsilon$ so that no plateau appears (lines), and the least "
        r"$\delta$ on the grid $\gamma = 0.0001, \dots, 0.3$ (dots)."
    )
    alt = "δ falls steadily with ε on a logarithmic scale, without plateaus; " + "; ".join(gaps) + "."
    return Drawing(name, figure, caption, alt, data)


@styled
def ratio_to_the_grid(name: str, compared: Drawing, *, supports: Sequence[int]) -> Drawing:
    """The lines of Figure 2a divided by its dots: on its own axis the distance can hardly be seen."""
    figure, axes = canvas(5.4, 3.4)
    levels = compared.data["epsilon"]
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    ends, most = [], []
    for support, colour, dash, _ in looks(supports):
        ratio = np.divide(compared.data[f"delta_D{support}"], compared.data[f"best_delta_D{support}"])
        axes.plot(levels, ratio, dash, color=colour)
        ends.append((float(ratio[-1]), f"$D = {support}$", colour))
        most.append(f"at most {max(ratio):.2f} for D = {support}")
        data[f"ratio_D{support}"] = ratio.tolist()
    axes.axhline(1, color=GREY, linewidth=0.8)
    axes.set(xlabel=EPSILON, ylabel="formula's $\\delta$ ÷ grid's $\\delta$", xlim=(0, levels[-1]))
    label_ends(axes, ends)
    caption = (
        r"The $\delta$ of the formula divided by the least $\delta$ on the grid. Above the grey line the "
        "grid has found something better."
    )
    alt = f"The ratio of two values of δ against ε: {', '.join(most)}."
    return Drawing(name, figure, caption, alt, data)


@styled
def over_gamma(name: str, *, epsilon: float, support: int) -> Drawing:
    """Why there is a gap: δ against γ at one ε, with the range of Proposition 3 and the grid's best γ."""
    figure, axes = canvas(5.4, 3.6)
    formula = design.proposition_3(epsilon, support=support, slack=0)
    end, low = float(formula.gamma), float(design.ranges(epsilon, support=support).gamma.low)
    best = design.best_delta_on_grid(epsilon, support=support)
    gammas = [float(f"{gamma:.6g}") for gamma in np.linspace(0.7 * low, 1.5 * max(end, best.gamma), 300)]
    deltas = [privacy.delta(Noise(support, gamma), epsilon) for gamma in gammas]
    axes.semilogy(gammas, deltas, color=BLUE)
    axes.axvspan(low, end, color=ORANGE, alpha=0.25, linewidth=0)
    axes.plot(end, formula.delta, "s", color=ORANGE)
    axes.plot(best.gamma, best.delta, "*", color=GREEN, markersize=13)
    for place, height, text, colour, away in (
        (end, formula.delta, "Proposition 3", ORANGE, (8, 10)),
        (best.gamma, best.delta, "best on the grid", GREEN, (0, -18)),
    ):
        axes.annotate(text, (place, height), away, textcoords="offset points", color=colour)
    axes.margins(y=0.15)
    axes.set(xlabel=r"$\gamma$", ylabel=DELTA, title=rf"$D = {support}$, $\varepsilon = {epsilon:g}$")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    caption = (
        rf"$\delta$ at $\varepsilon = {epsilon:g}$ against $\gamma$. Shaded is the range of Proposition 3, "
        r"in which $\delta = p(-D)$; the square is its upper end, the star the best $\gamma$ of the grid."
    )
    alt = (
        f"A curve of δ against γ. At the end of the shaded range, γ = {end:.4g}, δ is {formula.delta:.4g}; "
        f"the best γ of the grid, {best.gamma:.4g}, has δ = {best.delta:.4g}."
    )
    return Drawing(name, figure, caption, alt, {"gamma": gammas, "delta": deltas})


@styled
def variance_curves(name: str, *, supports: Sequence[int], epsilon_max: float) -> Drawing:
    """Figure 2b: the variance that belongs to the lines of Figure 2a."""
    figure, axes = canvas(5.4, 4.0)
    levels = epsilons(epsilon_max / 50, epsilon_max, 50)
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    ends = []
    for support, colour, dash, _ in looks(supports):
        variances = [design.proposition_3(level, support=support, slack=0).variance for level in levels]
        axes.plot(levels, variances, dash, color=colour)
        ends.append((variances[-1], f"$D = {support}$", colour))
        data[f"variance_D{support}"] = variances
    axes.set(xlabel=EPSILON, ylabel="variance $V$", xlim=(0, epsilon_max), ylim=(0, None))
    label_ends(axes, ends)
    caption = (
        r"The variance of the noise of Figure 2a: stronger privacy (small $\varepsilon$) needs wider noise."
    )
    alt = "The variance falls as ε grows" + (" and is larger for the wider support." if supports[1:] else ".")
    return Drawing(name, figure, caption, alt, data)
