"""Notebook 08: what the ceilings do to each probability and to the ratios of neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from compendium.figures.drawing import (
    Drawing,
    canvas,
    styled,
)
from compendium.figures.palette import BLUE, GREY, ORANGE
from tablebuilder_dp import certified, sampling
from tablebuilder_dp.noise import Noise


def _ticks(support: int) -> list[int]:
    """Zero, the two ends and what lies evenly between them: an axis that ends where the noise does."""
    step = max(1, round(support / 2.5))
    inner = range(step, support - -(-3 * step // 4) + 1, step)  # the last one keeps clear of the end
    return sorted({0, support, -support, *inner, *(-z for z in inner)})


@styled
def weight_errors(name: str, table: sampling.LookupTable, noise: Noise) -> Drawing:
    """Section V-B: what the ceilings do to each probability, in keys."""
    figure, axes = canvas(5.4, 4.0)
    z = list(range(-table.support, table.support + 1))
    exact = [certified.pmf(noise, value).lower * table.keysize for value in z]
    errors = [float(weight - mass) for weight, mass in zip(table.weights, exact, strict=True)]
    ends = {-table.support, table.support}
    colours = [ORANGE if value in ends else BLUE for value in z]
    axes.bar(z, errors, color=colours, width=0.8)
    axes.axhline(0, color="black", linewidth=0.8)
    for value, away, side in ((-table.support, -0.8, "right"), (table.support, 0.8, "left")):
        error = errors[value + table.support]
        near = min(abs(error), 1 - abs(error)) < 0.005  # two decimals would say 0 or 1
        place = math.copysign(max(abs(error), 0.08), error)  # beside the line at 0, not on it
        said = f"${error:+.{4 if near else 2}f}$"
        axes.text(value + away, place, said, color=ORANGE, ha=side, va="center")
    axes.set(xlabel="noise $z$", ylabel=r"$w(z) - p(z)\cdot\mathtt{KEYSIZE}$, in keys", ylim=(-1.15, 1.15))
    axes.set_xlim(-1.4 * table.support - 1, 1.4 * table.support + 1)
    axes.set_xticks(_ticks(table.support))
    axes.grid(axis="x", visible=False)
    caption = (
        "How many keys each noise value gains or loses by rounding the cut points up: always less than one. "
        "The picture is symmetric but for its two ends, in orange, which are exactly one key apart."
    )
    alt = "Bars between −1 and 1, symmetric about zero but for the first and the last."
    return Drawing(name, figure, caption, alt, {"z": z, "keys": errors})


@styled
def rises_and_falls(name: str, table: sampling.LookupTable, epsilon: float) -> Drawing:
    """Section V-B: the ratios of neighbouring probabilities, in the paper's direction and in the other."""
    figure, both = canvas(5.4, 5.6, rows=2)
    steps = list(range(-table.support + 1, table.support + 1))
    rises = [_logarithm(after, before) for before, after in pairwise(table.weights)]
    falls = [_logarithm(before, after) for before, after in pairwise(table.weights)]
    top = 1.15 * max(epsilon, *(one for one in (*rises, *falls) if math.isfinite(one)))
    for axes, losses, end in ((both[0], rises, 0), (both[1], falls, len(steps) - 1)):
        shown = [max(0.0, one) if math.isfinite(one) else top * (one > 0) for one in losses]
        colours = [ORANGE if place == end else BLUE for place in range(len(steps))]
        axes.bar(steps, shown, color=colours, width=0.8)
        axes.axhline(epsilon, color=GREY, linewidth=1)
        axes.text(0, epsilon, r"$\varepsilon$ of the design", color=GREY, ha="center", va="bottom")
        axes.set(ylim=(0, top), xlim=(-1.06 * table.support - 1, 1.06 * table.support + 1))
        axes.set_xticks(_ticks(table.support))
        axes.grid(axis="x", visible=False)
    most = [f"{max(losses):.2f}".replace("inf", "∞") for losses in (rises, falls)]
    both[0].set(
        title=f"rises, which the paper bounds: at most {most[0]}", ylabel=r"$\ln\,(p^Q(z)\,/\,p^Q(z-1))$"
    )
    both[1].set(title=f"falls: at most {most[1]}", ylabel=r"$\ln\,(p^Q(z-1)\,/\,p^Q(z))$", xlabel="noise $z$")
    caption = (
        f"The rises and the falls of $p^Q$ for {table.keysize} keys, as logarithms; negative ones are not "
        "drawn. In orange the step at the end: above the rise from $-D$, below the fall to $D$, "
        "which has one key fewer to divide by."
    )
    alt = (
        "Two bar charts of the logarithms of ratios of neighbouring probabilities, mirror images but for "
        f"their ends. The largest rise is {most[0]}, the largest fall {most[1]}."
    )
    data: dict[str, Sequence[Any]] = {"z": steps, "rise": rises, "fall": falls}
    return Drawing(name, figure, caption, alt, data)


def _logarithm(above: int, below: int) -> float:
    """ln(above/below), with 0/0 as no loss at all."""
    if not above:
        return -math.inf if below else 0.0
    return math.log(above / below) if below else math.inf
