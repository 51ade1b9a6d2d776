"""Notebook 07: keys as a ruler, and the cut points of a lookup table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from matplotlib.ticker import NullLocator

from compendium.figures.drawing import (
    Drawing,
    canvas,
    label_ends,
    looks,
    styled,
)
from compendium.figures.palette import GREY, ORANGE
from tablebuilder_dp import sampling
from tablebuilder_dp.noise import Noise

KEYS_APART = 64
"""Up to this many keys are drawn one by one."""
LIGHT_BLUE, LIGHT_SKY = "#73b3d5", "#a3d6f3"
"""Blue and sky, light enough to be written on."""
ROOM = 0.025
"""The share of the ruler that a piece must have to be named."""


@styled
def ruler(name: str, noise: Noise, *, keysize: int) -> Drawing:
    """Section V-A: probabilities cut a line at any place, a table cuts it between keys only."""
    table = sampling.lookup_table(noise, keysize=keysize)
    figure, axes = canvas(5.4, 3.0)
    exact = [mass * keysize for mass in accumulate(noise.pmf.tolist())]
    values = list(range(-noise.support, noise.support + 1))
    for level, marks in ((1.0, exact), (0.0, table.cuts)):
        for place, (low, high) in enumerate(pairwise((0, *marks))):
            colour = LIGHT_SKY if place % 2 else LIGHT_BLUE
            axes.barh(level, high - low, left=low, height=0.5, color=colour)
            if high - low > ROOM * keysize:
                axes.text(
                    (low + high) / 2,
                    level,
                    f"{values[place]}".replace("-", "−"),
                    ha="center",
                    va="center",
                    fontsize=10 if high - low > 2 * ROOM * keysize else 7,
                    bbox={"facecolor": colour, "edgecolor": "none", "pad": 0.5}
                    if high - low > 2 * ROOM * keysize
                    else None,
                )
    for above, below in zip(exact[:-1], table.cuts[:-1], strict=True):
        axes.plot([above, below], [0.75, 0.25], color=GREY, linewidth=0.8)
    if keysize <= KEYS_APART:
        axes.vlines(range(1, keysize), -0.25, 0.25, color="white", linewidth=0.7)
    lost = ", ".join(map(str, table.lost)).replace("-", "−")
    said = f"no key gives {lost}" if lost else "every noise value has a key"
    axes.text(keysize / 2, 0.5, "rounded up", color=GREY, ha="center", va="center")
    axes.text(0, 1.38, r"cut at $c(z) \cdot \mathtt{KEYSIZE}$", va="center")
    axes.text(0, -0.4, "cut at $c^Q(z)$", va="center")
    axes.text(keysize, -0.4, said, color=ORANGE if lost else GREY, ha="right", va="center")
    axes.set(xlim=(0, keysize), ylim=(-0.6, 1.55), yticks=[], xlabel=f"keys, {keysize} in all")
    axes.set_xticks(range(0, keysize + 1, max(1, keysize // 8)))
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    caption = (
        r"The ruler of keys. Above, it is cut at $c(z) \cdot \mathtt{KEYSIZE}$, so that the pieces are as "
        r"long as the probabilities of the noise values that stand in them. Below, each cut has moved up to "
        r"the next whole key, to $c^Q(z)$."
    )
    alt = (
        f"A line of {keysize} keys in two versions, cut into pieces for the noise values from "
        f"−{noise.support} to {noise.support}. Above the pieces are as long as the probabilities, below "
        f"each cut has moved to the right onto a whole key; {said}."
    )
    data: dict[str, Sequence[Any]] = {"z": values, "exact": exact, "cut": list(table.cuts)}
    return Drawing(name, figure, caption, alt, data)


@styled
def cut_points(name: str, tables: Sequence[sampling.LookupTable], noise: Noise) -> Drawing:
    """Section V-A: the cumulative pmf near its lower end, and what the cut points make of it."""
    figure, axes = canvas(5.4, 4.0)
    support = tables[0].support
    z = list(range(-support, min(-support + 12, support) + 1))
    cumulative = noise.pmf.cumsum()[: len(z)]
    axes.semilogy(z, cumulative, color=GREY)
    axes.annotate(
        "$c(z)$", (z[-1], cumulative[-1]), (6, 0), textcoords="offset points", color=GREY, va="center"
    )
    data: dict[str, Sequence[Any]] = {"z": z, "c": cumulative.tolist()}
    ends = []
    for table, colour, _, marker in looks(tables):
        bits = table.keysize.bit_length() - 1
        heights = [cut / table.keysize for cut in table.cuts[: len(z)]]
        axes.semilogy(z, heights, marker, color=colour, markersize=5)
        ends.append((heights[0], rf"$2^{{{bits}}}$ keys", colour))
        data[f"cut_{bits}"] = list(table.cuts[: len(z)])
    wide = 0.1 * (z[-1] - z[0])
    axes.set(xlabel="noise $z$", ylabel=r"$c^Q(z)\,/\,\mathtt{KEYSIZE}$")
    axes.set_xlim(z[0] - 2.5 * wide, z[-1] + wide)
    label_ends(axes, ends, at=0.01)
    axes.set_xticks(z[::2] if len(z) >= 8 else z)
    axes.xaxis.set_minor_locator(NullLocator())
    drawn = "the cumulative pmf" if z[-1] == support else "the lower end of the cumulative pmf"
    caption = (
        f"{drawn.capitalize()} and its cut points: where two neighbouring markers share a height, a noise "
        "value is lost."
    )
    losses = "; ".join(f"with KEYSIZE {table.keysize} it is {len(table.lost)}" for table in tables)
    alt = f"Cut points above the curve of {drawn}. How many noise values are lost: {losses}."
    return Drawing(name, figure, caption, alt, data)
