"""Notebook 07: cut points of a lookup table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.ticker import NullLocator

from compendium.figures.drawing import (
    Drawing,
    canvas,
    looks,
    styled,
)
from compendium.figures.palette import GREY
from tablebuilder_dp import sampling
from tablebuilder_dp.noise import Noise


@styled
def cut_points(name: str, tables: Sequence[sampling.LookupTable], noise: Noise) -> Drawing:
    """Section V-A: the cumulative pmf near its lower end, and what the cut points make of it."""
    figure, axes = canvas()
    support = tables[0].support
    z = list(range(-support, min(-support + 12, support) + 1))
    cumulative = noise.pmf.cumsum()[: len(z)]
    axes.semilogy(z, cumulative, color=GREY, label="$c(z)$")
    data: dict[str, Sequence[Any]] = {"z": z, "c": cumulative.tolist()}
    for table, colour, _, marker in looks(tables):
        bits = table.keysize.bit_length() - 1
        heights = [cut / table.keysize for cut in table.cuts[: len(z)]]
        axes.semilogy(
            z, heights, marker, color=colour, markersize=5, label=rf"cut points, KEYSIZE $2^{{{bits}}}$"
        )
        data[f"cut_{bits}"] = list(table.cuts[: len(z)])
    axes.set(xlabel="noise $z$", ylabel=r"$P(Z \leq z)$")
    axes.legend()
    axes.xaxis.set_minor_locator(NullLocator())
    caption = (
        "The lower end of the cumulative pmf and its cut points: where two markers share a "
        "height, a noise value is lost."
    )
    lost = "; ".join(f"KEYSIZE {table.keysize} loses {len(table.lost)} noise values" for table in tables)
    alt = f"Cut points above the curve of the cumulative pmf near its lower end; {lost}."
    return Drawing(name, figure, caption, alt, data)
