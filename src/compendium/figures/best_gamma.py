"""Notebook 11: δ as a function of γ, and how far the paper is from the best."""

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
    looks,
    styled,
)
from compendium.figures.palette import BLUE, GREEN, ORANGE
from tablebuilder_dp import design, privacy
from tablebuilder_dp.beyond import best_gamma, gap
from tablebuilder_dp.noise import Noise


@styled
def delta_of_gamma(name: str, *, epsilon: float, support: int) -> Drawing:
    """δ as a function of γ at one ε, with its kinks, the paper's choice and the best one."""
    figure, axes = canvas()
    best = best_gamma.best(epsilon, support=support)
    kink = best_gamma.kink(best)
    paper = design.proposition_3(epsilon, support=support, slack=0)
    places = {float(best.epsilon / (2 * m - 1)): m for m in range(1, support + 1)}
    low, high = 0.75 * float(paper.gamma), min(1.5 * float(epsilon), 2.6 * float(best.gamma))
    grid = [float(f"{gamma:.6g}") for gamma in np.geomspace(low, high, 300)]
    gammas = sorted({*grid, *(gamma for gamma in places if gamma <= high)})
    deltas = [privacy.delta(Noise(support, gamma), epsilon) for gamma in gammas]
    axes.semilogy(gammas, deltas, color=BLUE)
    shown = [(gamma, delta) for gamma, delta in zip(gammas, deltas, strict=True) if gamma in places]
    axes.plot(*zip(*shown, strict=True), "o", color=BLUE, markersize=4)
    step = -(-support // 12)  # the two kinks that matter have names; every other label needs room
    for gamma, delta in shown:
        m = places[gamma]
        if m % step == 0 and (m < kink or (step == 1 and kink < m < support)):
            axes.annotate(f"{m}", (gamma, delta), (1, -13), textcoords="offset points", ha="center")
    for made, marker, size, colour, text in (
        (paper, "s", 8, ORANGE, f"paper: $m = D = {support}$"),
        (best, "*", 15, GREEN, f"best: $m = {kink}$"),
    ):
        if made is paper and kink == support:  # one point with one name
            continue
        text += "$ = D$" if kink == support else ""
        axes.plot(float(made.gamma), made.delta, marker, color=colour, markersize=size)
        away = (0, -20) if made is best else (8, 26)
        axes.annotate(text, (float(made.gamma), made.delta), away, textcoords="offset points", color=colour)
    axes.set(xlabel=r"$\gamma$", ylabel=DELTA, title=rf"$D = {support}$, $\varepsilon = {float(epsilon):g}$")
    axes.margins(y=0.15)
    caption = (
        rf"$\delta$ at $\varepsilon = {float(epsilon):g}$ for noise on $[-{support}, {support}]$ against "
        r"$\gamma$. The dots are the kinks $\gamma = \varepsilon/(2m-1)$, some with their $m$. Between two "
        r"of them $\delta$ rises, then falls (either part may be missing), so the least is at a kink."
    )
    alt = (
        "A curve of δ against γ that falls, then rises, with downward kinks between arches. The paper's "
        f"kink m = {support} has δ = {paper.delta:.4g}, the best one, m = {kink}, "
        f"has δ = {best.delta:.4g}."
    )
    marks = [places.get(gamma, "") for gamma in gammas]
    return Drawing(name, figure, caption, alt, {"gamma": gammas, "delta": deltas, "kink": marks})


@styled
def gap_to_the_best(name: str, *, supports: Sequence[int], epsilon_max: float) -> Drawing:
    """How many times the least δ the paper's formula and its grid give, and which kink is the best one."""
    figure, (gaps, kinks) = canvas(6.4, 7.0, rows=2)
    levels = epsilons(epsilon_max / 80, epsilon_max, 80)
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    words, dots = [], False
    for support, colour, dash, _ in looks(supports):
        best_designs = [best_gamma.best(level, support=support) for level in levels]
        least = np.array([best.delta for best in best_designs])
        paper = [design.proposition_3(level, support=support, slack=0).delta for level in levels]
        searched = [design.best_delta_on_grid(level, support=support).delta for level in levels]
        # Twelve decimals, so that a ratio of 1 is 1.
        formula, grid = (np.round(np.array(deltas) / least, 12) for deltas in (paper, searched))
        places = [best_gamma.kink(best) for best in best_designs]
        closing = float(gap.closing_epsilon(support=support, digits=8))
        peak = gap.widest(epsilon_max, support=support)
        gaps.plot(levels, formula, dash, color=colour)
        if peak.ratio > 1:
            above = {"textcoords": "offset points", "ha": "center", "color": colour}
            gaps.annotate(f"$D = {support}$", (peak.epsilon, peak.ratio), (0, 5), **above)
        reached = np.where(grid <= max(formula.max(), 1.05), grid, np.nan)
        gaps.plot(levels, reached, ":", color=colour)
        kinks.step(levels, places, dash, where="mid", color=colour)
        kinks.axhline(support, color=colour, linewidth=0.6)
        kinks.text(epsilon_max, support, f"$m = D = {support}$", va="bottom", ha="right", color=colour)
        if 0 < closing <= epsilon_max:
            gaps.plot(closing, 1, "o", color=colour, markersize=6)
            kinks.plot(closing, support, "o", color=colour, markersize=6)
            dots = True
        data |= {f"formula_D{support}": formula.tolist(), f"grid_D{support}": grid.tolist()}
        data[f"kink_D{support}"] = places
        where = f"from ε = {closing:.4f} on" if closing else "at every ε"
        words.append(
            f"for D = {support} the formula's δ is up to {peak.ratio:.3f} times the least, at ε = "
            f"{peak.epsilon:.3g}, and the gap is zero {where}"
        )
    highest = max(max(data[f"formula_D{support}"]) for support in supports)
    gaps.set(xlabel=EPSILON, ylabel=r"$\delta$ / least $\delta$", xlim=(0, epsilon_max))
    gaps.set_ylim(0.98, highest + 0.05 + 0.1 * (highest - 1))
    gaps.set_title(r"how far from the best (dotted: the least on the paper's grid of $\gamma$)", loc="left")
    kinks.set(xlabel=EPSILON, ylabel="$m$ of the best kink", xlim=(0, epsilon_max))
    kinks.set_title("which kink is the best", loc="left")
    kinks.set_ylim(0, max(supports) * 1.12)
    kinks.yaxis.set_major_locator(MaxNLocator(integer=True))
    caption = (
        r"Top: $\delta$ of Proposition 3 without slack (lines) and the least $\delta$ on the paper's grid of "
        r"$\gamma$ (dotted), both relative to the least $\delta$ over all $\gamma$; grid values beyond the "
        r"picture are left out. Bottom: $m$ of the best kink $\gamma = \varepsilon/(2m-1)$."
    )
    if dots:
        caption += (
            r" Filled circles mark $\varepsilon_0$, from which on the paper's $m = D$ is the best choice."
        )
    alt = "Two panels of curves against ε: " + "; ".join(words) + "."
    return Drawing(name, figure, caption, alt, data)
