"""Notebook 06: how evenly cell keys fall."""

from __future__ import annotations

from typing import Any

import numpy as np

from compendium.figures.drawing import (
    Drawing,
    canvas,
    styled,
)
from compendium.figures.palette import BLUE, GREY, ORANGE


@styled
def key_counts(name: str, *, keys: Any, empty: int, keysize: int, bins: int = 32) -> Drawing:
    """Section IV: how evenly the keys of the occupied cells fall, and where those of the empty ones lie."""
    figure, axes = canvas(5.4, 4.0)
    places = (np.asarray(keys) * np.uint64(bins) // np.uint64(keysize)).astype(int)
    counts = np.bincount(places, minlength=bins)
    expected = len(keys) / bins
    spread = 2 * expected**0.5
    inside = abs(counts - expected) <= spread
    middles = (np.arange(bins) + 0.5) / bins
    axes.bar(middles, counts, width=0.85 / bins, color=[BLUE if fits else ORANGE for fits in inside])
    axes.bar(
        middles[:1], [empty], bottom=counts[:1], width=0.85 / bins, color="none", edgecolor=GREY, hatch="////"
    )
    for edge in (expected - spread, expected + spread):
        axes.plot([0, 1.02], [edge, edge], color="black", linewidth=1, linestyle=(0, (4, 2)))
    top = max(counts[0] + empty, counts.max())
    axes.text(0.5, expected + spread + 0.03 * top, "about 95 % of uniform bars end in between", ha="center")
    if empty:
        axes.text(0.9 / bins, counts[0] + 0.85 * empty, f" {empty} empty cells: all have key 0", color=GREY)
    axes.set(xlabel="cell key / KEYSIZE", ylabel="cells", xlim=(-0.02, 1.02))
    axes.set_ylim(0, max(1.05 * top, 1.3 * (expected + spread)))
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.grid(axis="x", visible=False)
    caption = (
        f"The keys of {len(keys)} occupied cells, counted in {bins} equal intervals. The dashed lines "
        "lie two standard deviations from what uniform keys would give on average; bars outside are orange."
    )
    above = f" On top of the first stands a hatched bar for {empty} empty cells." if empty else ""
    alt = (
        f"A bar chart of {bins} bars; {int(inside.sum())} of them lie within two standard deviations of "
        f"uniform.{above}"
    )
    return Drawing(name, figure, caption, alt, {"interval": list(range(bins)), "cells": counts.tolist()})
