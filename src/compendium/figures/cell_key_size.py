"""Notebook 09: ε and δ after sampling, Figures 4 and 5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from compendium.figures.drawing import (
    Drawing,
    canvas,
    looks,
    styled,
)
from compendium.figures.palette import GREY
from compendium.studies.sweep import Experiment


@styled
def epsilon_after_sampling(name: str, experiment: Experiment) -> Drawing:
    """Figure 4: the paper's one-sided ε^Q against ε, and the two-sided one that privacy needs."""
    figure, both = canvas(9.6, 4.0, columns=2)
    data: dict[str, Sequence[Any]] = {"epsilon": [float(level) for level in experiment.epsilons]}
    for axes, side in zip(both, ("one_sided", "two_sided"), strict=True):
        axes.plot([0, data["epsilon"][-1]], [0, data["epsilon"][-1]], color=GREY, linewidth=0.8)
        for bits, colour, _, marker in looks(experiment.bits):
            levels = [getattr(after, f"epsilon_{side}") for after in experiment.after[bits]]
            shown = [value if np.isfinite(value) else None for value in levels]
            axes.plot(
                data["epsilon"], shown, marker, color=colour, markersize=4, label=rf"KEYSIZE $2^{{{bits}}}$"
            )
            data[f"epsilon_{side}_{bits}"] = levels
        axes.set(xlabel=r"$\varepsilon$ of the design", ylabel=r"$\varepsilon^Q$ after sampling")
        axes.set_title(side.replace("_", "-"))
    both[0].legend()
    caption = (
        f"ε after sampling for D = {experiment.support}. Left: the paper's one-sided ε^Q. Right: the "
        "two-sided ε^Q, at which δ^Q is a true guarantee. Above the grey line ε^Q exceeds the ε of the "
        "design; points that are missing are infinite."
    )
    count = len(experiment.epsilons)
    kept = ", ".join(f"{experiment.kept_promises(bits)} of {count} for 2^{bits}" for bits in experiment.bits)
    alt = f"Two scatter plots of ε^Q against ε. The two-sided ε^Q stays at or below ε for {kept}."
    return Drawing(name, figure, caption, alt, data)


@styled
def delta_after_sampling(name: str, experiment: Experiment) -> Drawing:
    """Figure 5: δ^Q against δ."""
    figure, axes = canvas()
    designed = [made.delta for made in experiment.designs]
    data: dict[str, Sequence[Any]] = {
        "epsilon": [float(level) for level in experiment.epsilons],
        "delta": designed,
    }
    axes.loglog(designed, designed, color=GREY, linewidth=0.8)
    for bits, colour, _, marker in looks(experiment.bits):
        deltas = [float(after.delta) for after in experiment.after[bits]]
        axes.loglog(designed, deltas, marker, color=colour, markersize=4, label=rf"KEYSIZE $2^{{{bits}}}$")
        data[f"delta_{bits}"] = deltas
    axes.set(xlabel=r"$\delta$ of the design", ylabel=r"$\delta^Q$ after sampling")
    axes.legend()
    caption = "δ after sampling against δ of the design. No δ^Q can fall below one key, 1/KEYSIZE."
    floors = [
        f"2^{bits} at {2.0**-bits:.2g}"
        for bits in experiment.bits
        if min(data[f"delta_{bits}"]) == 2.0**-bits
    ]
    stop = f"; the mass of a single key is a floor for {', '.join(floors)}" if floors else ""
    alt = f"δ^Q against δ on logarithmic scales; points lie on the diagonal or above it{stop}."
    return Drawing(name, figure, caption, alt, data)
