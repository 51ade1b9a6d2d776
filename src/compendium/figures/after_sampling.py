"""Notebook 08: what the ceilings do to each probability."""

from __future__ import annotations

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
    figure, axes = canvas()
    z = list(range(-table.support, table.support + 1))
    exact = [certified.pmf(noise, value).lower * table.keysize for value in z]
    errors = [float(weight - mass) for weight, mass in zip(table.weights, exact, strict=True)]
    axes.bar(z, errors, color=[BLUE if error >= 0 else ORANGE for error in errors], width=0.8)
    axes.set(xlabel="noise $z$", ylabel=r"KEYSIZE $\cdot\,(p^Q(z) - p(z))$, in keys")
    axes.grid(axis="x", visible=False)
    caption = (
        "How many keys each noise value gains or loses by rounding the cut points up: always less than one. "
        "Only the two ends differ, where −D has one key more than D."
    )
    alt = "Bars between −1 and 1, symmetric about zero but for the first and the last."
    return Drawing(name, figure, caption, alt, {"z": z, "keys": errors})
