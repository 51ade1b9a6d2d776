"""Notebook 10: the ledger at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from compendium.figures import palette
from compendium.figures.drawing import (
    Drawing,
    canvas,
    styled,
)
from compendium.ledger.verdicts import KINDS, Entry

LEGIBLE = 4
"""A bar with fewer claims has no room for their number."""


@styled
def verdicts(name: str, entries: Sequence[Entry]) -> Drawing:
    """The ledger at a glance: how many verdicts of each kind, section by section."""
    sections = list(dict.fromkeys(entry.claim.section for entry in entries))
    figure, axes = canvas(5.4, 1.5 + 0.36 * len(sections))
    left = np.zeros(len(sections))
    data: dict[str, Sequence[Any]] = {"section": sections}
    for kind, hatch in zip(reversed(KINDS), ("", "..", "++", "--", "//", "xx", "\\\\"), strict=True):
        colour = getattr(palette, palette.VERDICTS[kind].upper())
        of_kind = [entry.claim.section for entry in entries if entry.kind == kind]
        widths = [of_kind.count(section) for section in sections]
        bars = axes.barh(
            sections,
            widths,
            left=left,
            color=colour,
            label=kind,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.5,
        )
        axes.bar_label(
            bars,
            labels=[str(width) if width >= LEGIBLE else "" for width in widths],
            label_type="center",
            fontsize=9,
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
        )
        left += widths
        data[kind] = widths
    for place, width in enumerate(left):
        axes.annotate(
            f"{width:.0f}", (width, place), (4, 0), textcoords="offset points", va="center", fontsize=9
        )
    axes.invert_yaxis()
    axes.set(xlabel="claims", ylabel="section")
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside upper center", ncols=2, columnspacing=1, handlelength=1.5)
    caption = "What becomes of the paper's claims, section by section; at the end of each bar their number."
    total = ", ".join(f"{sum(int(n) for n in data[kind])} {kind}" for kind in reversed(KINDS))
    return Drawing(name, figure, caption, f"Stacked bars of the verdicts by section; in all {total}.", data)
