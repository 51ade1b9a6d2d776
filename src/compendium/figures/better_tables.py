"""Notebook 12: what two rules for lookup tables keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from compendium.figures.drawing import (
    Drawing,
    canvas,
    looks,
    styled,
)
from compendium.figures.palette import GREY
from compendium.studies.sweep import Experiment
from tablebuilder_dp.sampling import LookupTable, after_sampling
from tablebuilder_dp.sampling import delta as delta_after_sampling


@styled
def better_tables(
    name: str, study: Experiment, tables: Mapping[int, Sequence[LookupTable | None]]
) -> Drawing:
    """Two-sided ε^Q, and the exact δ at ε, of ceilings and of symmetric tables (None: there is none)."""
    figure, (left, right) = canvas(9.6, 4.4, columns=2)
    levels = [float(level) for level in study.epsilons]
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    looked, words = [], []
    for bits, colour, _, marker in looks(study.bits):
        for rule, made in (("ceiling", study.tables[bits]), ("symmetric", tables[bits])):
            growth, excess = [np.nan] * len(levels), [np.nan] * len(levels)
            for place, (table, target) in enumerate(zip(made, study.designs, strict=True)):
                if table:
                    growth[place] = after_sampling(table).epsilon_two_sided / levels[place]
                    excess[place] = max(delta_after_sampling(table, target.epsilon)) / target.delta
            data[f"epsilon_ratio_{rule}_{bits}"], data[f"delta_ratio_{rule}_{bits}"] = growth, excess
            style = {"color": colour, "markersize": 4, "label": rf"$2^{{{bits}}}$, {rule}"}
            open_marks = {"mfc": "none", "markersize": 8}  # wide enough to be seen around a filled one
            looked.append((growth, marker, style | (open_marks if rule == "ceiling" else {})))
            right.semilogy(levels, excess, marker, **looked[-1][2])
            kept = [sum(value <= 1 for value in values) for values in (growth, excess)]
            words.append(f"{rule} 2^{bits} {kept[0]} and {kept[1]}")
    finite = [1.0, *(value for growth, _, _ in looked for value in growth if np.isfinite(value))]
    top = 1.15 * max(finite)
    for growth, marker, style in looked:
        left.plot(levels, [min(value, top) for value in growth], marker, **style)
    ticks = [tick for tick in MaxNLocator(6).tick_values(min(finite), max(finite)) if tick < 0.95 * top]
    left.set_yticks([*ticks, top], [*(f"{tick:g}" for tick in ticks), "∞"])
    left.set(ylabel=r"$\varepsilon^Q / \varepsilon$")
    right.set(ylabel=r"$\delta$ of the table / $\delta$")
    for axes in (left, right):
        axes.axhline(1, color=GREY, linewidth=1)
        axes.set(xlabel=r"$\varepsilon$ of the design")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=len(looked))
    caption = (
        f"Promises after sampling, D = {study.support}; on or below the grey line they are kept. Left: the "
        "two-sided ε^Q; it is infinite where a noise value is lost. Right: the exact δ at the design's ε. "
        "Where a symmetric table lies above the line there, no symmetric table of that KEYSIZE lies lower."
    )
    alt = f"Two scatter plots. Of {len(levels)} designs ε and δ are kept by: {', '.join(words)}."
    return Drawing(name, figure, caption, alt, data)
