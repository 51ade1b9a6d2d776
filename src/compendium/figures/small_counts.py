"""Notebook 15: counts near zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import PowerNorm
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from compendium.figures.drawing import (
    Drawing,
    canvas,
    styled,
)
from compendium.figures.palette import BLUE, GREEN, GREY, ORANGE
from tablebuilder_dp.counts import small_counts as small
from tablebuilder_dp.counts.rows import OfVariance

ANNOTATED = 6
"""Up to this support there is room for numbers in the pictures."""


@styled
def who_publishes_what(name: str, noise: OfVariance) -> Drawing:
    """The transition matrix of the rows: with which probability each count is published as each value."""
    figure, axes = canvas(6.4, 4.6)
    support, largest = noise.support, noise.support + 1
    annotated = support <= ANNOTATED
    rows = small.noise_table(noise)
    matrix = small.transition_matrix(rows, largest=largest)
    edges = [np.arange(size + 1) - 0.5 for size in matrix.shape]
    shown = np.ma.masked_equal(matrix, 0)
    axes.pcolormesh(edges[1], edges[0], shown, cmap="Blues", norm=PowerNorm(0.5, 0, 1))
    for count in range(largest + 1):
        frame = Rectangle((count - 0.5, count - 0.5), 1, 1, fill=False, edgecolor=ORANGE, linewidth=1.5)
        axes.add_patch(frame)
    for (count, value), mass in np.ndenumerate(matrix):
        if annotated and mass >= 0.005:
            colour = "white" if mass > 0.4 else "black"
            axes.text(value, count, f"{mass:.2f}", ha="center", va="center", fontsize=10, color=colour)
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.set(xlabel="published value", ylabel="true count")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    caption = (
        rf"The rows for $D = {support}$, $V = {float(noise.variance):g}$: with which probability each count "
        "is published as each value. In the orange frames nothing is added. An empty cell stays empty."
        + (" Shaded cells without a number are below 0.005." if annotated else "")
    )
    alt = (
        f"A map of probabilities, true counts 0 to {largest} against published values from 0 on; the count 0 "
        "is always published as 0, larger counts are spread more and more widely and evenly."
    )
    data: dict[str, Sequence[Any]] = {"count": list(range(support + 1))}
    data |= {f"p_{z}": rows[:, z + support].tolist() for z in range(-support, support + 1)}
    return Drawing(name, figure, caption, alt, data)


@styled
def protection(name: str, noise: OfVariance, *, epsilon: float) -> Drawing:
    """δ of each pair of neighbouring counts in both directions, with rows and with clamped counts."""
    figure, axes = canvas(6.4, 4.4)
    support = noise.support
    counts = list(range(support + 1))
    pairs = {
        choice: small.deltas(small.noise_table(noise, small_counts=choice), epsilon)
        for choice in small.CHOICES
    }
    level = float(pairs["clamped"].backward[-1])
    axes.axhline(level, color=GREY, linewidth=1.2)
    marks = (
        ("rows", "up", BLUE, "^", 8, (9, 3)),
        ("rows", "down", GREEN, "v", 8, (9, -10)),
        ("clamped", "down", ORANGE, "o", 5, (-24, -17)),
    )
    for choice, direction, colour, marker, size, move in marks:
        deltas = pairs[choice].backward if direction == "up" else pairs[choice].forward
        heights = np.where(deltas > 0, deltas, np.nan)
        axes.semilogy(counts, heights, marker, color=colour, markersize=size)
        first = int(np.argmax(deltas > 0))
        place = (counts[first], deltas[first])
        axes.annotate(f"{choice}, {direction}", place, move, textcoords="offset points", color=colour)
    axes.annotate(
        "clamped, up: same as for large counts", (0, level), (-8, 5), textcoords="offset points", color=GREY
    )
    axes.set(xlabel="$n$ (pair $n$, $n + 1$)", ylabel=rf"$\delta$ at $\varepsilon = {epsilon:g}$")
    axes.margins(0.1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    caption = (
        rf"$\delta$ of neighbouring counts at $\varepsilon = {epsilon:g}$: up is the larger count against "
        "the smaller, down the other direction. The grey line is the symmetric noise of large counts. A "
        "mark that is missing is zero."
    )
    worst = np.maximum(*pairs["rows"])
    alt = (
        f"δ of the pairs 0 to {support} on a logarithmic scale; the rows are worst at pair {worst.argmax()} "
        f"with {worst.max():.3g}, the symmetric noise has {level:.3g}, and clamped counts never have more."
    )
    data: dict[str, Sequence[Any]] = {"count": counts}
    for choice, both in pairs.items():
        data |= {f"delta_{choice}_up": both.backward.tolist(), f"delta_{choice}_down": both.forward.tolist()}
    return Drawing(name, figure, caption, alt, data)


@styled
def bias_of_clamping(name: str, noise: OfVariance) -> Drawing:
    """How many people clamping adds to a count on average."""
    figure, axes = canvas()
    counts, bias = list(range(noise.support + 1)), small.clamping_bias(noise)
    bars = axes.bar(counts, bias, color=ORANGE, width=0.7)
    if noise.support <= ANNOTATED:
        axes.bar_label(bars, fmt="%.3f", padding=2)
        axes.margins(y=0.1)
    axes.grid(axis="x", visible=False)
    axes.set(xlabel="true count", ylabel="bias of the published count")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    caption = (
        rf"The bias of clamping for $D = {noise.support}$, $V = {float(noise.variance):g}$: what is added to "
        "a count on average. From $D$ on it is zero."
    )
    alt = f"Bars of the clamping bias, which falls from {bias[0]:.3g} at the count 0 to zero at {counts[-1]}."
    return Drawing(name, figure, caption, alt, {"count": counts, "bias_clamped": bias.tolist()})
