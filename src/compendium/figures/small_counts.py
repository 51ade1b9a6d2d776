"""Notebook 15: counts near zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import PowerNorm
from matplotlib.ticker import MaxNLocator

from compendium.figures.drawing import (
    Drawing,
    canvas,
    styled,
)
from compendium.figures.palette import BLUE, GREY, ORANGE, SKY
from tablebuilder_dp.counts import small_counts as small
from tablebuilder_dp.counts.rows import OfVariance


@styled
def small_counts(name: str, noise: OfVariance, *, epsilon: float) -> Drawing:
    """Counts below D: the transition matrix of the rows, δ of each pair both ways, the bias of clamping."""
    figure, (map_axes, pair_axes, bias_axes) = canvas(12.6, 4.2, columns=3)
    support, variance = noise.support, float(noise.variance)
    rows, clamped = (small.noise_table(noise, small_counts=choice) for choice in small.CHOICES)
    counts, largest = list(range(support + 1)), support + 2
    matrix = small.transition_matrix(rows, largest=largest)
    shown = np.ma.masked_equal(matrix, 0)
    edges = [np.arange(size + 1) - 0.5 for size in matrix.shape]
    image = map_axes.pcolormesh(edges[1], edges[0], shown, cmap="Blues", norm=PowerNorm(0.4, 0, 1))
    map_axes.plot([-0.5, largest + 0.5], [-0.5, largest + 0.5], color=ORANGE, linewidth=0.8)
    map_axes.invert_yaxis()
    map_axes.grid(visible=False)
    map_axes.set(xlabel="published value", ylabel="count", title="rows: who publishes what")
    figure.colorbar(image, ax=map_axes, label="probability", shrink=0.85)
    pairs = {"rows": small.deltas(rows, epsilon), "clamped": small.deltas(clamped, epsilon)}
    level = float(pairs["clamped"].backward[-1])
    pair_axes.axhline(level, color=GREY, linewidth=1.2)
    marks = (("rows", "up", BLUE, "^", 7), ("rows", "down", SKY, "v", 7), ("clamped", "down", ORANGE, "o", 4))
    for choice, direction, colour, marker, size in marks:
        deltas = pairs[choice].backward if direction == "up" else pairs[choice].forward
        heights = np.where(deltas > 0, deltas, np.nan)
        label = f"{choice}, {direction}"
        pair_axes.semilogy(counts, heights, marker, color=colour, markersize=size, label=label)
    pair_axes.plot([], [], color=GREY, linewidth=1.2, label="symmetric noise; clamped, up")
    height = rf"$\delta$ at $\varepsilon = {epsilon:g}$"
    pair_axes.set(xlabel="pair $n$, $n + 1$", ylabel=height, title="protection")
    pair_axes.legend(fontsize=8)
    bias = small.clamping_bias(noise)
    bias_axes.bar(counts, bias, color=ORANGE, width=0.7)
    bias_axes.grid(axis="x", visible=False)
    bias_axes.set(xlabel="count", ylabel="bias", title="clamped: the price")
    for axes in (map_axes, pair_axes, bias_axes):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    map_axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    caption = (
        f"Counts near zero for D = {support}, V = {variance:g}. Left: the unbiased rows; on the line nothing "
        "is added, and an empty cell stays empty. Middle: δ of neighbouring counts, up (the larger count "
        "against the smaller) and down; a mark that is missing is zero. Right: the bias of clamping at zero."
    )
    worst = np.maximum(*pairs["rows"])
    alt = (
        f"A heat map of the transition matrix; δ of the pairs 0 to {support} on a logarithmic scale, where "
        f"the rows are worst at pair {worst.argmax()} with {worst.max():.3g} and the symmetric noise has "
        f"{level:.3g}; bars of the clamping bias that fall from {bias[0]:.3g} to zero."
    )
    data: dict[str, Sequence[Any]] = {"count": counts}
    for choice, both in pairs.items():
        data |= {f"delta_{choice}_up": both.backward.tolist(), f"delta_{choice}_down": both.forward.tolist()}
    data["bias_clamped"] = bias.tolist()
    data |= {f"p_{z}": rows[:, z + support].tolist() for z in range(-support, support + 1)}
    return Drawing(name, figure, caption, alt, data)
