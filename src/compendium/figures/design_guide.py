"""Notebooks 00 and 04: the pmf of a design, Figure 3."""

from __future__ import annotations

from compendium.figures.drawing import (
    Drawing,
    canvas,
    styled,
)
from compendium.figures.palette import BLUE, ORANGE
from tablebuilder_dp.noise import Noise


@styled
def pmf_bars(name: str, noise: Noise, *, title: str) -> Drawing:
    """Figure 3: the pmf of a design."""
    figure, axes = canvas()
    support, masses = noise.support, noise.pmf
    z = list(range(-support, support + 1))
    colours = [ORANGE, *[BLUE] * (2 * support)]
    axes.bar(z, masses, color=colours, width=0.8)
    axes.set(xlabel="noise $z$", ylabel="$p(z)$", title=title, ylim=(0, 1.75 * max(masses)))
    axes.grid(axis="x", visible=False)
    inset = axes.inset_axes((0.1, 0.62, 0.85, 0.31))
    inset.bar(z, masses, color=colours, width=0.8)
    inset.set(yscale="log", ylim=(masses[0] / 4, 2 * max(masses)), xticks=[])
    inset.tick_params(labelsize=8)
    inset.set_title("the same, logarithmic", fontsize=8, pad=2)
    inset.annotate(
        f"$p(-{support})$",
        (-support, masses[0]),
        (8, 22),
        textcoords="offset points",
        color=ORANGE,
        ha="center",
        fontsize=9,
    )
    digits, exponent = f"{masses[0]:.2e}".split("e")
    caption = (
        rf"The noise on $[-{support}, {support}]$: $p(0) = {masses[support]:.4f}$ and "
        rf"$p(\pm {support}) = {digits} \cdot 10^{{{int(exponent)}}}$."
    )
    alt = (
        f"A bell-shaped bar chart, symmetric about zero, from −{support} to {support}, highest at 0; above "
        "it the same bars on a logarithmic axis, where those at both ends can be seen."
    )
    return Drawing(name, figure, caption, alt, {"z": z, "p": masses.tolist()})
