"""One style for every picture: how it looks, what it says in words, and the numbers in it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from compendium.figures.palette import BLUE, GREEN, ORANGE, PURPLE

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "svg.hashsalt": "tablebuilder-dp",
    "mathtext.fontset": "dejavusans",
}


LABEL_GAP = 0.065
"""What one line of text needs, as a share of the height of usual axes."""


@dataclass(frozen=True)
class Drawing:
    """A picture with its name, its caption, a description for those who cannot see it, its numbers."""

    name: str
    figure: Figure
    caption: str
    alt: str
    data: dict[str, Sequence[Any]] = field(repr=False)

    @property
    def width(self) -> int:
        """On-screen width in pixels."""
        return int(self.figure.get_figwidth() * 100)

    @cached_property
    def png(self) -> bytes:
        """The picture as PNG."""
        return self._saved("png", {"Software": None})

    def files(self) -> dict[str, bytes]:
        """The picture as SVG and PNG and the plotted numbers as CSV, by suffix."""
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(self.data)
        writer.writerows(zip(*(map(_cell, column) for column in self.data.values()), strict=True))
        svg = self._saved("svg", {"Date": None, "Creator": None, "Title": self.alt})
        return {"svg": svg, "png": self.png, "csv": table.getvalue().encode()}

    def _saved(self, kind: str, metadata: dict[str, Any]) -> bytes:
        buffer = io.BytesIO()
        with mpl.rc_context(STYLE):
            self.figure.savefig(buffer, format=kind, dpi=150, metadata=metadata)
        return buffer.getvalue()


def _cell(value: Any) -> str:
    """Twelve digits: what processors with other instructions for exp and sums still agree on."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def styled(draw: Callable[..., Drawing]) -> Callable[..., Drawing]:
    """Draw in the house style, whatever the reader's own settings are."""

    @wraps(draw)
    def wrapper(*args: Any, **kwargs: Any) -> Drawing:
        with mpl.rc_context(STYLE):
            return draw(*args, **kwargs)

    return wrapper


def canvas(width: float = 6.4, height: float = 4.0, *, rows: int = 1, columns: int = 1) -> tuple[Figure, Any]:
    """An empty figure and its axes; panels that stand in rows stay legible on a narrow page."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns)


def label_end(axes: Any, place: tuple[float, float], text: str, colour: str) -> None:
    """Name a curve at its right end, in its own colour."""
    axes.annotate(text, place, (6, 0), textcoords="offset points", color=colour, va="center")


def label_ends(
    axes: Any, ends: Sequence[tuple[float, str, str]], *, gap: float = LABEL_GAP, at: float = 1.015
) -> None:
    """Name curves right of the axes: the height, the text and the colour of each.

    They begin ``at`` this share of the width of the axes. Names that would be nearer to each other than
    ``gap``, a share of the height of the axes, are moved apart.
    """
    axes.autoscale_view()  # limits that follow the data are otherwise found only when it is drawn
    heights = [float(axes.transLimits.transform(axes.transScale.transform((1, y)))[1]) for y, _, _ in ends]
    order = sorted(range(len(ends)), key=heights.__getitem__)
    for below, above in pairwise(order):
        heights[above] = max(heights[above], heights[below] + gap)
    heights[order[-1]] = min(heights[order[-1]], 1.0)
    for above, below in pairwise(reversed(order)):
        heights[below] = min(heights[below], heights[above] - gap)
    for (_, text, colour), height in zip(ends, heights, strict=True):
        axes.text(at, height, text, color=colour, transform=axes.transAxes, va="center")


# --- What several pictures have in common -----------------------------------------------------

COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
DASHES = ("-", "--", "-.", ":")
MARKERS = "os^d"
EPSILON, DELTA = r"privacy loss $\varepsilon$", r"$\delta$"


def looks(items: Sequence[Any]) -> Iterator[tuple[Any, str, str, str]]:
    """Each item with a colour, a dash and a marker of its own."""
    if len(items) > len(COLOURS):
        raise ValueError(f"a figure must have at most {len(COLOURS)} curves, got {len(items)}")
    return zip(items, COLOURS, DASHES, MARKERS, strict=False)


def epsilons(low: float, high: float, count: int) -> list[float]:
    """Evenly spaced ε, rounded to six decimals so that each is the decimal that it prints as."""
    return [round(float(value), 6) for value in np.linspace(low, high, count)]
