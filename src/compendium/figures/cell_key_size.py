"""Notebook 09: ε and δ after sampling, Figures 4 and 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import NullLocator

from compendium.figures.drawing import (
    Drawing,
    canvas,
    label_ends,
    looks,
    styled,
)
from compendium.figures.palette import GREY
from compendium.studies.sweep import Experiment

SIZES = (8, 5.5, 3, 1.5)
"""Sizes of open markers, so that points at one place stand inside each other."""
AWAY = (-0.5, -0.1, -0.01, 0, 0.01, 0.1, 1, 10)
"""Where the axis of ε^Q/ε − 1 has marks: near 0 it is linear, farther out logarithmic."""


@styled
def epsilon_after_sampling(name: str, experiment: Experiment) -> Drawing:
    """Figure 4: the paper's one-sided ε^Q against ε, and the two-sided one that privacy needs, over ε."""
    figure, both = canvas(5.4, 7.0, rows=2)
    levels = [float(level) for level in experiment.epsilons]
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    sides = (both[0], "one_sided", False), (both[1], "two_sided", True)
    both[0].plot([0, levels[-1]], [0, levels[-1]], color=GREY, linewidth=0.8)
    both[1].axhline(0, color=GREY, linewidth=0.8)
    for axes, side, relative in sides:
        named: list[tuple[int, bool]] = []
        for (bits, colour, _, marker), size in zip(looks(experiment.bits), SIZES, strict=False):
            found = [getattr(after, f"epsilon_{side}") for after in experiment.after[bits]]
            heights = [
                value / level - 1 if relative else value for value, level in zip(found, levels, strict=True)
            ]
            shown = [height if np.isfinite(height) else None for height in heights]
            axes.plot(levels, shown, marker, color=colour, markersize=size, fillstyle="none")
            if finite := [place for place, value in enumerate(found) if np.isfinite(value)]:
                place = finite[-1]
                # Beside the grey line, and not on what is written under the axis.
                above = found[place] > levels[place] or (heights[place] < 0.1 and not relative)
                away = 13 * named.count((place, above))
                named.append((place, above))
                axes.annotate(
                    f"$2^{{{bits}}}$",
                    (levels[place], heights[place]),
                    (-4, 8 + away) if above else (14, -16 - away),
                    textcoords="offset points",
                    color=colour,
                    ha="center",
                )
            data[f"epsilon_{side}_{bits}"] = found
        axes.set_xlim(0, 1.08 * levels[-1])
    both[0].set(title="one-sided, as in the paper", ylabel=r"$\varepsilon^Q$ after sampling")
    both[0].set_ylim(-0.04 * levels[-1], None)
    both[1].set(title="two-sided", ylabel=r"$\varepsilon^Q$ above $\varepsilon$, by")
    both[1].set_xlabel(r"$\varepsilon$ of the design")
    _stretch(both[1])
    caption = (
        rf"$\varepsilon$ after sampling for $D = {experiment.support}$. Upper panel: the paper's one-sided "
        r"$\varepsilon^Q$, drawn also where values are lost, which its definition leaves out. Lower panel: "
        r"how far the two-sided $\varepsilon^Q$, at which $\delta^Q$ is a true guarantee, lies above or "
        r"below $\varepsilon$, on an axis that is stretched near 0; infinite values are missing. In both "
        r"panels a point over the grey line exceeds the design's $\varepsilon$. Each series is labelled at "
        r"its last point."
    )
    count = len(levels)
    kept = ", ".join(f"{experiment.kept_promises(bits)} of {count} for 2^{bits}" for bits in experiment.bits)
    alt = (
        "Two scatter plots: the one-sided ε^Q against ε, and by how much the two-sided one exceeds ε. "
        f"The two-sided ε^Q stays at or below ε for {kept}."
    )
    return Drawing(name, figure, caption, alt, data)


def _stretch(axes: Any) -> None:
    """An axis for ε^Q/ε − 1, in per cent."""
    axes.set_yscale("symlog", linthresh=0.01, linscale=0.8)
    axes.margins(y=0.15)
    axes.autoscale_view()
    low, high = axes.get_ylim()
    marks = [mark for mark in AWAY if low <= mark <= high]
    if len(marks) < 2:
        marks = [low / 2, 0, high / 2]
    axes.set_yticks(marks, [f"{100 * mark:+.3g}%".replace("-", "−") if mark else "0" for mark in marks])
    axes.yaxis.set_minor_locator(NullLocator())


@styled
def keys_at_an_end(name: str, experiment: Experiment, *, sure: Mapping[int, Sequence[bool]]) -> Drawing:
    """All tables on one axis: KEYSIZE·δ, which decides by how much the two-sided ε^Q exceeds ε."""
    figure, axes = canvas(5.4, 3.8)
    levels = [float(level) for level in experiment.epsilons]
    data: dict[str, list[Any]] = {what: [] for what in ("bits", "epsilon", "keys", "excess", "sure")}
    axes.set_xscale("log")
    axes.axhline(0, color=GREY, linewidth=0.8)
    for bits, colour, _, marker in looks(experiment.bits):
        keys = [2.0**bits * made.delta for made in experiment.designs]
        excess = [
            after.epsilon_two_sided / level - 1
            for after, level in zip(experiment.after[bits], levels, strict=True)
        ]
        shown = [place for place, value in enumerate(excess) if np.isfinite(value)]
        for filled in (False, True):
            dots = [(keys[place], excess[place]) for place in shown if sure[bits][place] == filled]
            style = {"markersize": 5, "fillstyle": "full" if filled else "none", "color": colour}
            axes.plot(*zip(*dots, strict=True), marker, **style) if dots else None
        axes.plot([], marker, label=f"$2^{{{bits}}}$ keys", color=colour, fillstyle="none")
        rows = zip([bits] * len(levels), levels, keys, excess, sure[bits], strict=True)
        for column, cells in zip(data.values(), zip(*rows, strict=True), strict=True):
            column += cells
    _stretch(axes)
    axes.plot([], "o", color=GREY, label="filled: the rule is sure")
    axes.legend(loc="upper right")
    axes.set_xlabel(r"keys that an end may expect, $\mathtt{KEYSIZE}\cdot\delta$")
    axes.set_ylabel(r"two-sided $\varepsilon^Q$ above $\varepsilon$, by")
    caption = (
        r"All tables of the experiment, by the keys that an end of the support may expect. Below one key a "
        r"value is lost and $\varepsilon^Q$ is infinite: no point. Filled points are those of which the rule "
        r"is sure; none lies above the grey line."
    )
    alt = (
        "Points for all key sizes against KEYSIZE·δ on a logarithmic axis: the more keys, the closer to ε; "
        f"{sum(data['sure'])} of {len(data['sure'])} are filled, all on the grey line or below."
    )
    return Drawing(name, figure, caption, alt, dict(data))


@styled
def delta_after_sampling(name: str, experiment: Experiment) -> Drawing:
    """Figure 5: δ^Q against δ."""
    figure, axes = canvas(5.4, 4.0)
    designed = [made.delta for made in experiment.designs]
    data: dict[str, Sequence[Any]] = {
        "epsilon": [float(level) for level in experiment.epsilons],
        "delta": designed,
    }
    axes.set(xscale="log", yscale="log")
    axes.axline((designed[0],) * 2, (2 * designed[0],) * 2, color=GREY, linewidth=0.8)
    ends = []
    for (bits, colour, _, marker), size in zip(looks(experiment.bits), SIZES, strict=False):
        deltas = [float(after.delta) for after in experiment.after[bits]]
        axes.plot(designed, deltas, marker, color=colour, markersize=size, fillstyle="none")
        ends.append((deltas[-1], rf"$2^{{{bits}}}$ keys", colour))
        data[f"delta_{bits}"] = deltas
    span = max(designed[0] / designed[-1], 10)
    axes.set(xlabel=r"$\delta$ of the design", ylabel=r"$\delta^Q$ after sampling")
    axes.set_xlim(designed[-1] / span**0.25, designed[0] * span**0.05)
    label_ends(axes, ends, at=0.02)
    caption = (
        r"$\delta^Q$ after sampling against $\delta$ of the design. On the grey line they are equal; no "
        r"$\delta^Q$ can fall below the mass of one key, $1/\mathtt{KEYSIZE}$. "
        r"$\varepsilon$ grows from right to left."
    )
    floors = [
        f"2^{bits} at {2.0**-bits:.2g}"
        for bits in experiment.bits
        if min(data[f"delta_{bits}"]) == 2.0**-bits
    ]
    stop = f"; the mass of a single key is a floor for {', '.join(floors)}" if floors else ""
    alt = f"δ^Q against δ on logarithmic scales; points lie on the diagonal or above it{stop}."
    return Drawing(name, figure, caption, alt, data)
