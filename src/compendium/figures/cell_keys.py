"""Notebook 06: how evenly cell keys fall."""

from __future__ import annotations

from typing import Any

import numpy as np

from compendium.figures.drawing import (
    Drawing,
    canvas,
    styled,
)
from compendium.figures.palette import BLUE, ORANGE


@styled
def key_counts(name: str, *, keys: Any, keysize: int, bins: int = 64) -> Drawing:
    """Section IV: how evenly the cell keys of a population fall."""
    figure, axes = canvas()
    counts = np.bincount(
        (np.asarray(keys) * np.uint64(bins) // np.uint64(keysize)).astype(int), minlength=bins
    )
    expected = len(keys) / bins
    axes.bar(range(bins), counts, color=BLUE, width=0.85)
    axes.axhline(expected, color=ORANGE)
    spread = 2 * expected**0.5
    axes.axhspan(expected - spread, expected + spread, color=ORANGE, alpha=0.2, linewidth=0)
    axes.set(xlabel=f"cell key, in {bins} equal intervals", ylabel="cells")
    axes.grid(axis="x", visible=False)
    caption = f"The keys of {len(keys)} cells; the band holds about 95 % of the bars if keys are uniform."
    inside = int(((counts >= expected - spread) & (counts <= expected + spread)).sum())
    alt = f"A bar chart of {bins} bars; {inside} of them lie within two standard deviations of uniform."
    return Drawing(name, figure, caption, alt, {"interval": list(range(bins)), "cells": counts.tolist()})
