"""Notebook 14: δ of many cells, and how many a budget allows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import NullLocator, ScalarFormatter

from compendium.figures.drawing import (
    EPSILON,
    Drawing,
    canvas,
    epsilons,
    label_ends,
    looks,
    styled,
)
from compendium.run.notation import tex
from compendium.studies.rivals import Costs
from tablebuilder_dp.beyond import composition
from tablebuilder_dp.noise import Noise

_LABELS = {
    "guide_optimal": "guide, optimal theorem",
    "discrete_gaussian": "discrete Gaussian, zCDP",
    "geometric": "geometric, exact",
    "max_entropy": "max-entropy, exact",
}


@styled
def composition_curves(name: str, noise: Noise, *, cells: Sequence[int], epsilon_max: float) -> Drawing:
    """δ_k(ε) of some numbers of cells, each with the floor that it cannot fall below."""
    figure, axes = canvas()
    levels = [float(f"{level:.4g}") for level in np.geomspace(epsilon_max / 2000, epsilon_max, 160)]
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    words, ends, lowest = [], [], 1.0
    for count, colour, dash, _ in looks(cells):
        exact = composition.delta(noise, levels, cells=count)
        deltas = [float(f"{delta:.10g}") for delta in exact]  # what every machine's rounding agrees on
        floor = composition.losses(noise, cells=count).infinite
        axes.loglog(levels, deltas, dash, color=colour)
        axes.axhline(floor, color=colour, linewidth=0.6, alpha=0.7)
        ends.append((deltas[-1], f"$k = {count}$", colour))
        data[f"delta_{count}"] = deltas
        words.append(f"{floor:.2g} for {count}")
        lowest = min(lowest, floor)
    axes.set(xlabel=EPSILON, ylabel=r"$\delta_k(\varepsilon)$")
    axes.set(xlim=(levels[0], levels[-1]), ylim=(lowest / 2, 1.5))
    label_ends(axes, ends)
    caption = (
        r"$\delta$ of $k$ cells with independent noises that contain the same person, exactly. Thin "
        r"lines: the floor $1 - (1 - p(-D))^k$, which no $\varepsilon$ undercuts."
    )
    alt = (
        "Falling curves of δ against ε on logarithmic scales, higher for more cells; they level off at "
        + ", ".join(words)
        + (" cells." if cells[-1] > 1 else " cell.")
    )
    return Drawing(name, figure, caption, alt, data)


@styled
def most_cells(name: str, noise: Noise, *, deltas: Sequence[float], epsilon_max: float) -> Drawing:
    """The largest number of cells within a budget (ε, δ), as a function of ε for some δ."""
    figure, axes = canvas()
    levels = epsilons(epsilon_max / 80, epsilon_max, 80)  # among them 1, 2 and 4 eighths of the end
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    words, ends = [], []
    for delta, colour, dash, _ in looks(deltas):
        counts = [composition.most_cells(noise, level, delta) for level in levels]
        drawn = [count or math.nan for count in counts]  # none at all has no place on this scale
        axes.step(levels, drawn, dash, where="post", color=colour)
        ends.append((max(counts[-1], 1), rf"$\delta = {tex(f'{delta:.3g}')}$", colour))
        data[f"cells_{delta:.3g}"] = counts
        words.append(f"from {counts[0]} to {counts[-1]} for δ = {delta:.3g}")
    axes.set_yscale("log")
    most = max(int(counts[-1]) for counts in list(data.values())[1:])
    ticks = [step * 10**power for power in range(len(str(most))) for step in (1, 2, 5)]
    axes.set_yticks([tick for tick in ticks if tick <= most + 1], minor=False)
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set(xlabel=EPSILON, ylabel="largest number of cells $k$ (log scale)")
    axes.set(xlim=(0, epsilon_max), ylim=(0.8, 1.3 * most + 0.5))
    label_ends(axes, ends)
    caption = (
        r"The largest number of cells with the same person that keeps a budget $(\varepsilon, \delta)$. It "
        rf"is proved at {len(levels)} values of $\varepsilon$; between them the line is a lower bound. Where "
        "the line is missing, not even one cell is known to fit."
    )
    alt = "Rising steps of the number of cells against ε: " + ", ".join(words) + "."
    return Drawing(name, figure, caption, alt, data)


@styled
def costs(name: str, variances: Mapping[int, Costs], *, epsilon: float, delta: float) -> Drawing:
    """The standard deviation that one cell needs so that k cells keep (ε, δ), in several ways."""
    figure, axes = canvas()
    numbers = list(variances)
    data: dict[str, Sequence[Any]] = {"cells": numbers}
    words, ends = [], []
    for (field, label), colour, dash, marker in looks(list(_LABELS.items())):
        spreads = [float(f"{getattr(way, field) ** 0.5:.6g}") for way in variances.values()]
        axes.loglog(numbers, spreads, dash, color=colour, marker=marker, markersize=4, base=2)
        data[field] = spreads
        words.append(f"{label} from {spreads[0]:.3g} to {spreads[-1]:.3g}")
        ends.append((spreads[-1], label, colour))
    axes.yaxis.set_major_formatter(lambda spread, _: f"{spread:g}")
    axes.set_xticks(numbers, list(map(str, numbers)))
    axes.minorticks_off()
    axes.set(xlabel="cells $k$ with the same person", ylabel="standard deviation of the noise")
    label_ends(axes, ends)
    caption = (
        "How wide one cell's noise must be so that $k$ cells with independent noises keep "
        rf"$\varepsilon = {epsilon:g}$ and $\delta = {tex(f'{delta:g}')}$: by the design guide and the "
        "optimal theorem, by the discrete Gaussian and zCDP, and by the least variance of two families with "
        "exact sums."
    )
    alt = f"Rising lines of the standard deviation against the number of cells: {'; '.join(words)}."
    return Drawing(name, figure, caption, alt, data)
