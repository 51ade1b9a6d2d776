"""Notebook 14: δ of many cells, and how many a budget allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import NullLocator, ScalarFormatter

from compendium.figures.drawing import (
    EPSILON,
    Drawing,
    canvas,
    epsilons,
    label_end,
    looks,
    styled,
)
from tablebuilder_dp.beyond import composition
from tablebuilder_dp.noise import Noise


@styled
def composition_curves(name: str, noise: Noise, *, cells: Sequence[int], epsilon_max: float) -> Drawing:
    """δ_k(ε) of some numbers of cells, each with the floor that it cannot fall below."""
    figure, axes = canvas()
    levels = [float(f"{level:.4g}") for level in np.geomspace(epsilon_max / 2000, epsilon_max, 160)]
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    words, lowest = [], 1.0
    for count, colour, dash, _ in looks(cells):
        exact = composition.delta(noise, levels, cells=count)
        deltas = [float(f"{delta:.10g}") for delta in exact]  # what every machine's rounding agrees on
        floor = composition.losses(noise, cells=count).infinite
        axes.loglog(levels, deltas, dash, color=colour)
        axes.axhline(floor, color=colour, linewidth=0.7, linestyle=":")
        label_end(axes, (levels[-1], deltas[-1]), f"$k = {count}$", colour)
        data[f"delta_{count}"] = deltas
        words.append(f"{floor:.2g} for {count}")
        lowest = min(lowest, floor)
    axes.set(xlabel=EPSILON, ylabel=r"$\delta_k(\varepsilon)$")
    axes.set(xlim=(levels[0], levels[-1]), ylim=(lowest / 2, 1.5))
    caption = (
        "δ of k cells with independent noises that contain the same person, exactly. Dotted: "
        "1 − (1 − p(−D))^k, which no ε undercuts."
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
    levels = epsilons(epsilon_max / 20, epsilon_max, 20)
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    words = []
    for delta, colour, _, marker in looks(deltas):
        counts = [composition.most_cells(noise, level, delta) for level in levels]
        axes.step(levels, counts, where="post", color=colour, linewidth=0.8)
        axes.plot(levels, counts, marker, color=colour, markersize=5, clip_on=False)
        label_end(axes, (levels[-1], counts[-1]), rf"$\delta = {delta:.3g}$", colour)
        data[f"cells_{delta:.3g}"] = counts
        words.append(f"from {counts[0]} to {counts[-1]} for δ = {delta:.3g}")
    axes.set_yscale("symlog", linthresh=1, linscale=0.5)
    most = max(int(counts[-1]) for counts in list(data.values())[1:])
    ticks = [0, *(step * 10**power for power in range(len(str(most))) for step in (1, 2, 5))]
    axes.set_yticks([tick for tick in ticks if tick <= most + 1], minor=False)
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set(xlabel=EPSILON, ylabel="largest number of cells $k$")
    axes.set(xlim=(0, epsilon_max), ylim=(0, 1.3 * most + 0.5))
    caption = (
        "The largest number of cells with the same person that keeps a budget (ε, δ). Each mark is proved; "
        "between marks the steps are on the safe side."
    )
    alt = "Rising steps of the number of cells against ε: " + ", ".join(words) + "."
    return Drawing(name, figure, caption, alt, data)
