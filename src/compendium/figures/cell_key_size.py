"""Notebook 09: ε and δ after sampling, Figures 4 and 5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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


@styled
def epsilon_after_sampling(name: str, experiment: Experiment) -> Drawing:
    """Figure 4: the paper's one-sided ε^Q against ε, and the two-sided one that privacy needs."""
    figure, both = canvas(5.4, 7.0, rows=2)
    data: dict[str, Sequence[Any]] = {"epsilon": [float(level) for level in experiment.epsilons]}
    for axes, side in zip(both, ("one_sided", "two_sided"), strict=True):
        axes.plot([0, data["epsilon"][-1]], [0, data["epsilon"][-1]], color=GREY, linewidth=0.8)
        named: list[tuple[int, bool]] = []
        for (bits, colour, _, marker), size in zip(looks(experiment.bits), SIZES, strict=False):
            levels = [getattr(after, f"epsilon_{side}") for after in experiment.after[bits]]
            shown = [value if np.isfinite(value) else None for value in levels]
            axes.plot(data["epsilon"], shown, marker, color=colour, markersize=size, fillstyle="none")
            if finite := [place for place, value in enumerate(levels) if np.isfinite(value)]:
                last = data["epsilon"][finite[-1]], levels[finite[-1]]
                above = last[1] > last[0]  # beside the diagonal, not on it
                away = 13 * named.count((finite[-1], above))
                named.append((finite[-1], above))
                axes.annotate(
                    f"$2^{{{bits}}}$",
                    last,
                    (-4, 8 + away) if above else (14, -16 - away),
                    textcoords="offset points",
                    color=colour,
                    ha="center",
                )
            data[f"epsilon_{side}_{bits}"] = levels
        axes.set_ylabel(r"$\varepsilon^Q$ after sampling")
    top = max(axes.get_ylim()[1] for axes in both)
    for axes, title in zip(both, ("one-sided, as in the paper", "two-sided"), strict=True):
        axes.set(title=title, ylim=(0, top), xlim=(0, 1.08 * data["epsilon"][-1]))
    both[1].set_xlabel(r"$\varepsilon$ of the design")
    caption = (
        rf"$\varepsilon$ after sampling for $D = {experiment.support}$. Above: the paper's one-sided "
        r"$\varepsilon^Q$. Below: the two-sided $\varepsilon^Q$, at which $\delta^Q$ is a true guarantee. "
        r"Over the grey line $\varepsilon^Q$ exceeds the $\varepsilon$ of the design; missing points are "
        r"infinite. At its last point each series has the name of its $\mathtt{KEYSIZE}$."
    )
    count = len(experiment.epsilons)
    kept = ", ".join(f"{experiment.kept_promises(bits)} of {count} for 2^{bits}" for bits in experiment.bits)
    alt = f"Two scatter plots of ε^Q against ε. The two-sided ε^Q stays at or below ε for {kept}."
    return Drawing(name, figure, caption, alt, data)


@styled
def delta_after_sampling(name: str, experiment: Experiment) -> Drawing:
    """Figure 5: δ^Q against δ."""
    figure, axes = canvas(5.4, 4.0)
    designed = [made.delta for made in experiment.designs]
    data: dict[str, Sequence[Any]] = {
        "epsilon": [float(level) for level in experiment.epsilons],
        "delta": designed,
    }
    axes.loglog(designed, designed, color=GREY, linewidth=0.8)
    ends = []
    for (bits, colour, _, marker), size in zip(looks(experiment.bits), SIZES, strict=False):
        deltas = [float(after.delta) for after in experiment.after[bits]]
        axes.loglog(designed, deltas, marker, color=colour, markersize=size, fillstyle="none")
        ends.append((deltas[-1], rf"$2^{{{bits}}}$ keys", colour))
        data[f"delta_{bits}"] = deltas
    span = max(designed[0] / designed[-1], 10)
    axes.set(xlabel=r"$\delta$ of the design", ylabel=r"$\delta^Q$ after sampling")
    axes.set_xlim(designed[-1] / span**0.25, designed[0] * span**0.05)
    label_ends(axes, ends, at=0.02)
    caption = (
        r"$\delta^Q$ after sampling against $\delta$ of the design. On the grey line they are equal; no "
        r"$\delta^Q$ can fall below the mass of one key, $1/\mathtt{KEYSIZE}$."
    )
    floors = [
        f"2^{bits} at {2.0**-bits:.2g}"
        for bits in experiment.bits
        if min(data[f"delta_{bits}"]) == 2.0**-bits
    ]
    stop = f"; the mass of a single key is a floor for {', '.join(floors)}" if floors else ""
    alt = f"δ^Q against δ on logarithmic scales; points lie on the diagonal or above it{stop}."
    return Drawing(name, figure, caption, alt, data)
