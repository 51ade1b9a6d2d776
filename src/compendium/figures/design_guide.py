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


@styled
def pmf_bars(name: str, noise: Noise, *, title: str) -> Drawing:
    """Figure 3: the pmf of a design."""
    figure, (linear, logarithmic) = canvas(5.4, 5.2, rows=2)
    support, masses = noise.support, noise.pmf
    z = list(range(-support, support + 1))
    colours = [ORANGE, *[BLUE] * (2 * support - 1), ORANGE]
    for axes in (linear, logarithmic):
        axes.bar(z, masses, color=colours, width=0.8)
        axes.set_ylabel("$p(z)$")
        axes.grid(axis="x", visible=False)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    linear.set_title(title)
    logarithmic.set(yscale="log", ylim=(masses[0] / 4, 3 * max(masses)), xlabel="noise $z$")
    logarithmic.set_title("the same, logarithmic", fontsize=10)
    place = (-support, masses[0])
    logarithmic.annotate(
        rf"$p(\pm {support})$",
        place,
        (-3, 52),
        textcoords="offset points",
        color=ORANGE,
        arrowprops={"arrowstyle": "-", "color": ORANGE, "relpos": (0.08, 0)},
    )
    caption = (
        rf"The noise on $[-{support}, {support}]$: $p(0) = {masses[support]:.4f}$ and "
        rf"$p(\pm {support}) = {tex(f'{masses[0]:.2e}')}$."
    )
    alt = (
        f"A bell-shaped bar chart, symmetric about zero, from −{support} to {support}, highest at 0; below "
        "it the same bars on a logarithmic axis, where those at both ends, in orange, can be seen."
    )
    return Drawing(name, figure, caption, alt, {"z": z, "p": masses.tolist()})
