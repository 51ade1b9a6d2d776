"""Notebook 12: a table worked by hand, and what two rules for lookup tables keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import exp
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from compendium.figures.drawing import (
    Drawing,
    canvas,
    looks,
    styled,
)
from compendium.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE
from compendium.studies import promises
from compendium.studies.sweep import Experiment
from tablebuilder_dp.beyond import chain, symmetric
from tablebuilder_dp.design import Design
from tablebuilder_dp.sampling import LookupTable, after_sampling, lookup_table
from tablebuilder_dp.sampling import delta as delta_after_sampling


@styled
def by_hand(name: str, made: Design, *, keysize: int, ends: tuple[int, int]) -> Drawing:
    """A small table: the weights of both rules, and the steepest rise from two weights of the end."""
    figure, (weights, rises) = canvas(6.4, 7.2, rows=2)
    support, steepest = made.support, exp(made.epsilon)
    z = list(range(-support, support + 1))
    tables = {
        "ceilings": lookup_table(made, keysize=keysize).weights,
        "symmetric": lookup_table(made, keysize=keysize, rule=symmetric.rule(made.epsilon)).weights,
    }
    top = 1.5 * max(map(max, tables.values()))
    exact = [keysize * float(mass) for mass in made.pmf]
    for (rule, counts), colour, side in zip(tables.items(), (ORANGE, BLUE), (-0.2, 0.2), strict=True):
        bars = weights.bar([place + side for place in z], counts, width=0.36, color=colour)
        weights.bar_label(bars, color="white", padding=-18, fontweight="bold")
        broken = [(a, b) for a, b in pairwise(counts) if max(a, b) > steepest * min(a, b)]
        text = f"{rule}: " + (
            f"{max(broken[-1])} beside {min(broken[-1])} is too steep" if broken else "no step is too steep"
        )
        weights.text(-support - 0.5, (0.95 if side < 0 else 0.87) * top, text, color=colour, va="top")
    weights.hlines(exact, [place - 0.45 for place in z], [place + 0.45 for place in z], color="black")
    weights.text(-support - 0.5, 0.79 * top, rf"lines: ${keysize}\,p(z)$", va="top")
    weights.set(xlabel="noise $z$", ylabel="keys", ylim=(0, top))
    weights.set_title(f"{keysize} keys by two rules", loc="left")
    pyramids = {end: chain.steepest(end, support, made.epsilon, most=10**9) for end in ends}
    for rise, colour in reversed(list(zip(pyramids.values(), (GREEN, PURPLE), strict=True))):
        heights = [*rise[:0:-1], *rise]
        rises.bar(z, heights, width=0.8, color="white", edgecolor=colour, linewidth=1.8)
        text = f"{', '.join(map(str, heights))}:\nat most {chain.total(rise)} keys"
        rises.annotate(text, (0.4, rise[0]), (6, -2), textcoords="offset points", color=colour, va="top")
    rises.set(xlabel="noise $z$", ylabel="keys")
    rises.set_title("as steep as $e^{\\varepsilon}$ allows", loc="left")
    for axes in (weights, rises):
        axes.set_xticks(z)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(axis="x", visible=False)
    caption = (
        rf"A table by hand: $D = {support}$, $\varepsilon = {float(made.epsilon):g}$. Top: how many of the "
        rf"{keysize} keys each noise value has. Bottom: the most keys that a symmetric table can hold if an "
        r"end has a given number and no value has more than $e^{\varepsilon}$ times the keys of a neighbour."
    )
    alt = (
        f"Bars of the keys of each noise value: {', '.join(map(str, tables['ceilings']))} by ceilings and "
        f"{', '.join(map(str, tables['symmetric']))} symmetrically. Below, pyramids of the steepest rises: "
        + "; ".join(f"from {end} at the ends to {rise[0]} in the middle" for end, rise in pyramids.items())
        + "."
    )
    data: dict[str, Sequence[Any]] = {"z": z, "exact": exact, **tables}
    data |= {f"rise_{end}": [*rise[:0:-1], *rise] for end, rise in pyramids.items()}
    return Drawing(name, figure, caption, alt, data)


def _near(ratio: float) -> float:
    """A ratio of floats as it is drawn: on the line where its last digits cannot tell."""
    return 1.0 if abs(ratio - 1) < 1e-12 else ratio


@styled
def better_tables(
    name: str, study: Experiment, tables: Mapping[int, Sequence[LookupTable | None]]
) -> Drawing:
    """Two-sided ε^Q, and the exact δ at ε, of ceilings and of symmetric tables (None: there is none)."""
    figure, (top, bottom) = canvas(6.4, 7.6, rows=2)
    levels = [float(level) for level in study.epsilons]
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    looked, words = [], []
    for bits, colour, _, marker in looks(study.bits):
        for rule, made in (("ceiling", study.tables[bits]), ("symmetric", tables[bits])):
            growth, excess = [np.nan] * len(levels), [np.nan] * len(levels)
            for place, (table, target) in enumerate(zip(made, study.designs, strict=True)):
                if table:
                    growth[place] = _near(after_sampling(table).epsilon_two_sided / levels[place])
                    excess[place] = _near(max(delta_after_sampling(table, target.epsilon)) / target.delta)
            data[f"epsilon_ratio_{rule}_{bits}"], data[f"delta_ratio_{rule}_{bits}"] = growth, excess
            style = {"color": colour, "markersize": 4, "label": rf"$2^{{{bits}}}$, {rule}"}
            open_marks = {"mfc": "none", "markersize": 8}  # wide enough to be seen around a filled one
            looked.append((growth, marker, style | (open_marks if rule == "ceiling" else {})))
            bottom.semilogy(levels, excess, marker, **looked[-1][2])
            kept = promises.kept(study.designs, made)
            words.append(f"{rule} 2^{bits} {kept.epsilon} and {kept.delta}")
    finite = [1.0, *(value for growth, _, _ in looked for value in growth if np.isfinite(value))]
    lost = any(np.isposinf(value) for growth, _, _ in looked for value in growth)
    infinity = 1.15 * max(finite)
    for growth, marker, style in looked:
        top.plot(levels, [min(value, infinity) for value in growth], marker, **style)
    if lost:  # above all numbers there is a place for ∞
        ticks = MaxNLocator(6).tick_values(min(finite), max(finite))
        ticks = [tick for tick in ticks if tick < 0.95 * infinity]
        top.set_yticks([*ticks, infinity], [*(f"{tick:g}" for tick in ticks), "∞"])
    top.set(ylabel=r"$\varepsilon^Q / \varepsilon$")
    top.set_title(r"$\varepsilon$ is kept on or below the line", loc="left")
    bottom.set(ylabel=r"$\delta$ of the table / $\delta$")
    bottom.set_title(r"$\delta$ is kept on or below the line", loc="left")
    for axes in (top, bottom):
        axes.axhline(1, color=GREY, linewidth=1)
        axes.set(xlabel=r"$\varepsilon$ of the design")
    figure.legend(*top.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    caption = (
        rf"Promises after sampling, $D = {study.support}$; on or below the grey line they are kept. Top: the "
        r"two-sided $\varepsilon^Q$, infinite where a noise value is lost. Bottom: the exact $\delta$ at "
        r"the design's $\varepsilon$. Where a symmetric table lies above the line there, no symmetric table "
        r"that has as many keys and keeps $\varepsilon$ lies lower."
    )
    alt = f"Two scatter plots. Of {len(levels)} designs ε, and ε with δ, are kept by: {', '.join(words)}."
    return Drawing(name, figure, caption, alt, data)
