"""Notebook 20: what a release publishes, beside what only the office knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from compendium.figures.drawing import Drawing, canvas, styled
from compendium.figures.palette import BLUE, ORANGE


@styled
def published(
    name: str, groups: Sequence[str], true: Sequence[int], noisy: Sequence[int], *, error: float
) -> Drawing:
    """Published counts by group with two standard errors on both sides, and the true counts."""
    figure, axes = canvas(6.4, 4.2)
    places = range(len(groups))
    axes.errorbar(places, noisy, 2 * error, fmt="o", color=BLUE, capsize=3)
    axes.scatter(places, true, marker="_", s=260, color=ORANGE, zorder=3)
    peak = int(np.argmax(true))
    beside: Any = {"textcoords": "offset points", "va": "center"}
    axes.annotate("true", (peak, true[peak]), xytext=(14, 0), color=ORANGE, ha="left", **beside)
    said = "published,\n± 2 standard errors"
    axes.annotate(said, (peak, noisy[peak]), xytext=(-16, 4), color=BLUE, ha="right", **beside)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xticks(places, [group.replace(" to ", "–").replace("80 or more", "80+") for group in groups])
    axes.set(xlabel="age", ylabel="respondents told that they have diabetes")
    axes.grid(axis="x", visible=False)
    caption = (
        "How many respondents of each age were told that they have diabetes: as published, with two standard "
        "errors on both sides, and as counted, which an office would keep to itself."
    )
    pairs = (
        f"{group}: {public} for {count}" for group, public, count in zip(groups, noisy, true, strict=True)
    )
    alt = f"Published and true counts by age group. {'; '.join(pairs)}."
    return Drawing(name, figure, caption, alt, {"group": groups, "true": true, "published": noisy})
