"""Notebook 06: what a differencing attacker sees, and how evenly cell keys fall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from compendium.figures.drawing import (
    Drawing,
    canvas,
    styled,
)
from compendium.figures.palette import BLUE, GREY, ORANGE
from tablebuilder_dp.sampling import LookupTable

FEWEST_BARS = 8
"""With fewer, nothing is said of how many should end near their average."""


@styled
def key_counts(name: str, *, keys: Any, empty: int, keysize: int) -> Drawing:
    """Section IV: how evenly the keys of the occupied cells fall, and where those of the empty ones lie.

    The intervals are 32, or fewer if there are few keys: at least 16 occupied cells for each.
    """
    figure, axes = canvas(5.4, 4.0)
    bins = min(32, keysize, 1 << max(0, (len(keys) // 16).bit_length() - 1))
    places = (np.asarray(keys) * np.uint64(bins) // np.uint64(keysize)).astype(int)
    counts = np.bincount(places, minlength=bins)
    expected = len(keys) / bins
    spread = 2 * (expected * (1 - 1 / bins)) ** 0.5
    many = bins >= FEWEST_BARS
    inside = abs(counts - expected) <= (spread if many else np.inf)
    middles = (np.arange(bins) + 0.5) / bins
    axes.bar(middles, counts, width=0.85 / bins, color=[BLUE if fits else ORANGE for fits in inside])
    top = max(counts[0] + empty, counts.max())
    if empty:
        hatched: Any = {"color": "none", "edgecolor": GREY, "hatch": "////"}
        axes.bar(middles[:1], [empty], bottom=counts[:1], width=0.85 / bins, **hatched)
        said = f"empty cells, which all have key 0: {empty}"
        axes.text(0.05, 0.98, said, color=GREY, transform=axes.transAxes, va="top")
    axes.set(xlabel="cell key / KEYSIZE", ylabel="cells", xlim=(-0.02, 1.02))
    axes.set_ylim(0, max(1.12 * top, 1.3 * (expected + spread)))
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.grid(axis="x", visible=False)
    strays = bins - int(inside.sum())
    if many:
        for edge in (expected - spread, expected + spread):
            axes.plot([0, 1.02], [edge, edge], color="black", linewidth=1, linestyle=(0, (4, 2)))
        said = "about 95% of the bars should end in between"
        axes.text(0.5, expected + spread + 0.03 * top, said, ha="center")
        outside = f"bars that end outside, in orange: {strays}" if strays else "no bar ends outside"
        compared = (
            "The dashed lines lie two standard deviations from what uniform keys would give on average; "
            f"{outside}."
        )
    else:
        compared = "They are too few to be compared with uniform keys."
    caption = (
        f"The keys of the occupied cells, {len(keys)} in all, counted in {bins} equal intervals. {compared}"
    )
    above = f" On top of the first stands a hatched bar for the empty cells, {empty} in all." if empty else ""
    near = f" Within two standard deviations of uniform lie {bins - strays} of {bins} bars." if many else ""
    alt = f"A bar chart of the keys.{near}{above}"
    return Drawing(name, figure, caption, alt, {"interval": list(range(bins)), "cells": counts.tolist()})


@styled
def differences(name: str, *, found: Any, table: LookupTable) -> Drawing:
    """Section IV: the published difference of two cells, if the person is in the first of them and if not.

    ``found`` are the differences where the person is there; the line is what independent keys lead to.
    """
    figure, both = canvas(5.4, 5.2, rows=2)
    reach = 2 * table.support + 1
    places = np.arange(-reach, reach + 1)
    seen = np.asarray(found)
    shares = np.bincount(seen + reach, minlength=len(places)) / len(seen)
    weights = np.array([float(weight) for weight in table.weights]) / table.keysize
    expected = np.zeros(len(places))
    expected[2:] = np.convolve(weights, weights[::-1])  # one more person, and two independent noises
    absent = (places == 0).astype(float)
    both[0].bar(places, absent, width=1.0, color=ORANGE)
    both[0].text(0.03 * reach, 0.5, "  always 0", color=ORANGE, va="center")
    both[1].bar(places, shares, width=0.9, color=[ORANGE if z == 0 else BLUE for z in places])
    both[1].step(places, expected, where="mid", color="black", linewidth=1)
    for axes, title in zip(both, ("the person is not in the cell", "the person is in the cell"), strict=True):
        axes.set(title=title, ylabel="share of the cells", xlim=(-reach, reach), ylim=(0, None))
        axes.grid(axis="x", visible=False)
    both[1].set_xlabel("difference of the two published counts")
    hidden = float(shares[reach])
    caption = (
        "The published difference of a cell with and without one person. If the person does not belong to "
        "it, the difference is always 0; otherwise it spreads out, and is 0 (orange) in "
        f"{100 * hidden:.1f}% of {len(seen)} cells. The line is what independent keys lead to."
    )
    alt = (
        "Two bar charts of the difference of two published counts. If the person is not in the cell there is "
        f"a single bar at 0, if they are the bars form a wide bell, of which 0 has {100 * hidden:.1f}%."
    )
    data: dict[str, Sequence[Any]] = {
        "difference": places.tolist(),
        "absent": absent.tolist(),
        "present": shares.tolist(),
        "expected": expected.tolist(),
    }
    return Drawing(name, figure, caption, alt, data)
