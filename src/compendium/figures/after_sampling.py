"""Notebook 08: what the ceilings do to each probability."""

from __future__ import annotations

from matplotlib.ticker import MaxNLocator

from compendium.figures.drawing import (
    Drawing,
    canvas,
    styled,
)
from compendium.figures.palette import BLUE, ORANGE
from tablebuilder_dp import certified, sampling
from tablebuilder_dp.noise import Noise


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
        axes.text(value + away, error, f"${error:+.2f}$", color=ORANGE, ha=side, va="center")
    axes.set(xlabel="noise $z$", ylabel=r"$w(z) - p(z)\cdot\mathtt{KEYSIZE}$, in keys", ylim=(-1.15, 1.15))
    axes.set_xlim(-1.3 * table.support - 1, 1.3 * table.support + 1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="x", visible=False)
    caption = (
        "How many keys each noise value gains or loses by rounding the cut points up: always less than one. "
        "The picture is symmetric but for its two ends, in orange, which are exactly one key apart."
    )
    alt = "Bars between −1 and 1, symmetric about zero but for the first and the last."
    return Drawing(name, figure, caption, alt, {"z": z, "keys": errors})
