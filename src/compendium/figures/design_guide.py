"""Notebooks 00 and 04: the pmf of a design, Figure 3."""

from __future__ import annotations

from matplotlib.ticker import MaxNLocator

from compendium.figures.drawing import (
    Drawing,
    canvas,
    styled,
)
from compendium.figures.palette import BLUE, ORANGE
from compendium.run.notation import tex
from tablebuilder_dp.noise import Noise

MANY_BARS = 100
"""From this support on bars touch, and a dot shows where each end is."""


@styled
def pmf_bars(name: str, noise: Noise, *, title: str) -> Drawing:
    """Figure 3: the pmf of a design."""
    figure, (linear, logarithmic) = canvas(5.4, 5.2, rows=2)
    support, masses = noise.support, noise.pmf
    z = list(range(-support, support + 1))
    colours = [ORANGE, *[BLUE] * (2 * support - 1), ORANGE]
    for axes in (linear, logarithmic):
        axes.bar(z, masses, color=colours, width=0.8 if support < MANY_BARS else 1.0)
        axes.set_ylabel("$p(z)$")
        axes.grid(axis="x", visible=False)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    linear.set_title(title)
    logarithmic.set(yscale="log", ylim=(masses[0] / 4, 3 * max(masses)), xlabel="noise $z$")
    logarithmic.set_title("the same, logarithmic", fontsize=10)
    if support >= MANY_BARS:
        logarithmic.plot([-support, support], masses[[0, -1]], "o", color=ORANGE, markersize=4)
    logarithmic.annotate(
        rf"$p(\pm {support})$",
        (-support, masses[0]),
        (-1.04 * support, 0.88),
        textcoords=("data", "axes fraction"),
        color=ORANGE,
        arrowprops={"arrowstyle": "-", "color": ORANGE, "relpos": (0.08, 0)},
    )
    shown = [f"{mass:.4f}" if mass >= 0.01 else tex(f"{mass:.2e}") for mass in (masses[support], masses[0])]
    caption = (
        rf"The noise on $[-{support}, {support}]$: $p(0) = {shown[0]}$ and $p(\pm {support}) = {shown[1]}$."
    )
    alt = (
        f"A bell-shaped bar chart, symmetric about zero, from −{support} to {support}, highest at 0; below "
        "it the same bars on a logarithmic axis, where those at both ends, in orange, can be seen."
    )
    return Drawing(name, figure, caption, alt, {"z": z, "p": masses.tolist()})
