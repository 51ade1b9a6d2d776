"""Notebook 14: δ of many cells, and how many a budget allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from compendium.figures.drawing import (
    EPSILON,
    Drawing,
    canvas,
    label_ends,
    looks,
    styled,
)
from compendium.figures.palette import BLUE, GREY, ORANGE
from compendium.run.notation import tex
from compendium.studies.rivals import Costs
from tablebuilder_dp.beyond import composition
from tablebuilder_dp.noise import Noise

_LABELS = {
    "guide_optimal": "guide, optimal theorem",
    "discrete_gaussian": "discrete Gaussian, zCDP",
    "geometric": "geometric, exact",
    "max_entropy": "max-entropy, exact",
}


@styled
def composition_curves(name: str, noise: Noise, *, cells: Sequence[int], epsilon_max: float) -> Drawing:
    """δ_k(ε) of some numbers of cells, each with the floor that it cannot fall below."""
    figure, axes = canvas()
    levels = [float(f"{level:.4g}") for level in np.geomspace(epsilon_max / 2000, epsilon_max, 160)]
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    words, ends, lowest = [], [], 1.0
    for count, colour, dash, _ in looks(cells):
        exact = composition.delta(noise, levels, cells=count)
        deltas = [float(f"{delta:.10g}") for delta in exact]  # what every machine's rounding agrees on
        floor = composition.losses(noise, cells=count).infinite
        axes.loglog(levels, deltas, dash, color=colour)
        axes.axhline(floor, color=colour, linewidth=0.6, alpha=0.7)
        ends.append((deltas[-1], f"$k = {count}$", colour))
        data[f"delta_{count}"] = deltas
        words.append(f"{floor:.2g} for {count}")
        lowest = min(lowest, floor)
    axes.set(xlabel=EPSILON, ylabel=r"$\delta_k(\varepsilon)$")
    axes.set(xlim=(levels[0], levels[-1]), ylim=(lowest / 2, 1.5))
    label_ends(axes, ends)
    caption = (
        r"$\delta$ of $k$ cells with independent noises that contain the same person, exactly. Thin "
        r"lines: the floor $1 - (1 - p(-D))^k$, which no $\varepsilon$ undercuts."
    )
    alt = (
        "Falling curves of δ against ε on logarithmic scales, higher for more cells; they level off at "
        + ", ".join(words)
        + (" cells." if cells[-1] > 1 else " cell.")
    )
    return Drawing(name, figure, caption, alt, data)


@styled
def summed_losses(name: str, noise: Noise, *, cells: Sequence[int], epsilon: float) -> Drawing:
    """How the losses of k cells add up, and the part of them beyond ε that makes δ."""
    figure, panels = canvas(5.4, 2.2 * len(cells), rows=len(cells))
    found = {count: composition.losses(noise, cells=count) for count in cells}
    spread = max(float(np.sqrt((one.probability * one.loss**2).sum())) for one in found.values())
    reach = max(3.5 * spread, 1.5 * epsilon)
    data: dict[str, list[Any]] = {"cells": [], "loss": [], "probability": []}
    words = []
    for axes, (count, one) in zip(np.atleast_1d(panels), found.items(), strict=True):
        shown = abs(one.loss) <= reach
        losses, masses = one.loss[shown], one.probability[shown]
        order = np.argsort(losses)
        losses, masses = losses[order], masses[order]
        delta = float(composition.delta(noise, epsilon, cells=count))
        counted = masses * np.maximum(0, -np.expm1(epsilon - losses))
        axes.fill_between(losses, masses, step="mid", color=BLUE, alpha=0.4, linewidth=0)
        axes.fill_between(losses, counted, step="mid", color=ORANGE, linewidth=0)
        axes.axvline(epsilon, color=GREY, linewidth=1)
        axes.set(xlim=(-reach, reach), ylim=(0, None), ylabel="probability")
        axes.grid(axis="x", visible=False)
        axes.set_title(f"$k = {count}$", loc="left")
        said = f"infinite: {one.infinite:.2%}\n" rf"$\delta_k = {tex(f'{delta:.1e}')}$"
        axes.text(0.98, 0.95, said, transform=axes.transAxes, ha="right", va="top", color=ORANGE)
        data["cells"] += [count] * len(losses)
        data["loss"] += [float(f"{loss:.9g}") for loss in losses]
        data["probability"] += [float(f"{mass:.9g}") for mass in masses]
        words.append(f"for {count} cells δ is {delta:.2g}")
    np.atleast_1d(panels)[-1].set_xlabel("privacy loss of all answers together")
    caption = (
        r"The losses of $k$ cells add up: their distribution widens and moves to the right. Orange is what "
        rf"lies beyond the grey line at $\varepsilon = {epsilon:g}$, a loss $\ell$ counting "
        r"$1 - e^{\varepsilon - \ell}$ times; with the probability of an infinite loss it makes $\delta_k$."
    )
    alt = f"Bells that become wider and move to the right as cells are added: {', '.join(words)}."
    return Drawing(name, figure, caption, alt, dict(data))


@styled
def costs(name: str, variances: Mapping[int, Costs], *, epsilon: float, delta: float) -> Drawing:
    """The standard deviation that one cell needs so that k cells keep (ε, δ), in several ways."""
    figure, axes = canvas()
    numbers = list(variances)
    data: dict[str, Sequence[Any]] = {"cells": numbers}
    words, ends = [], []
    for (field, label), colour, dash, marker in looks(list(_LABELS.items())):
        spreads = [float(f"{getattr(way, field) ** 0.5:.6g}") for way in variances.values()]
        axes.loglog(numbers, spreads, dash, color=colour, marker=marker, markersize=4, base=2)
        data[field] = spreads
        words.append(f"{label} from {spreads[0]:.3g} to {spreads[-1]:.3g}")
        ends.append((spreads[-1], label, colour))
    axes.yaxis.set_major_formatter(lambda spread, _: f"{spread:g}")
    axes.set_xticks(numbers, list(map(str, numbers)))
    axes.minorticks_off()
    axes.set(xlabel="cells $k$ with the same person", ylabel="standard deviation of the noise")
    label_ends(axes, ends)
    caption = (
        "How wide one cell's noise must be so that $k$ cells with independent noises keep "
        rf"$\varepsilon = {epsilon:g}$ and $\delta = {tex(f'{delta:g}')}$: by the design guide and the "
        "optimal theorem, by the discrete Gaussian and zCDP, and by the least variance of two families with "
        "exact sums."
    )
    alt = f"Rising lines of the standard deviation against the number of cells: {'; '.join(words)}."
    return Drawing(name, figure, caption, alt, data)
