"""Notebooks 00 and 04: the pmf of a design, Figure 3."""

from __future__ import annotations

from compendium.figures.drawing import (
    Drawing,
    canvas,
    styled,
)
from compendium.figures.palette import BLUE
from tablebuilder_dp.noise import Noise


@styled
def pmf_bars(name: str, noise: Noise, *, title: str) -> Drawing:
    """Figure 3: the pmf of a design."""
    figure, axes = canvas()
    support, masses = noise.support, noise.pmf
    z = list(range(-support, support + 1))
    axes.bar(z, masses, color=BLUE, width=0.8)
    axes.set(xlabel="noise $z$", ylabel="$p(z)$", title=title)
    axes.grid(axis="x", visible=False)
    caption = (
        f"The noise on [−{support}, {support}]: p(0) = {masses[support]:.4f}, p(±{support}) = "
        f"{masses[0]:.3g}."
    )
    alt = f"A bell-shaped bar chart, symmetric about zero, from −{support} to {support}, highest at 0."
    return Drawing(name, figure, caption, alt, {"z": z, "p": masses.tolist()})
