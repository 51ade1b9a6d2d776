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
from tablebuilder_dp import certified, design
from tablebuilder_dp.design import Design
from tablebuilder_dp.noise import Noise

MANY_BARS = 100
"""From this support on bars touch, and a dot shows where each end is."""


@styled
def smallest_support(name: str, noise: Design, *, delta: float) -> Drawing:
    """Step 2: the δ of the guide against the support, and the smallest that reaches the wanted one."""
    figure, axes = canvas(5.4, 3.2)
    last = noise.support + max(4, noise.support // 4)
    supports = sorted({noise.support, *range(1, last + 1, -(-last // 100))})
    tried = [design.proposition_3(noise.epsilon, support=D, slack=noise.slack) for D in supports]
    deltas = [float(certified.pmf(made, made.support, digits=15)) for made in tried]
    axes.semilogy(supports, deltas, "o", color=BLUE, markersize=4)
    axes.axhline(delta, color=ORANGE)
    reached = noise.support, deltas[supports.index(noise.support)]
    axes.plot(*reached, "o", color=ORANGE, markersize=9)
    axes.annotate(
        f"$D^* = {noise.support}$",
        reached,
        (0, -20),
        textcoords="offset points",
        color=ORANGE,
        ha="right" if noise.support > 2 else "left",
    )
    axes.annotate(
        rf"wanted: $\delta = {tex(f'{delta:g}')}$",
        (1, delta),
        (0, 6),
        textcoords="offset points",
        color=ORANGE,
    )
    axes.set(xlabel="support $D$", ylabel=r"$\delta_D(\varepsilon) = p(-D)$")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(y=0.12)
    caption = (
        rf"$\delta_D(\varepsilon)$ for $D = 1, 2, \dots$ falls with every step; the first support at or "
        rf"below the wanted $\delta$ is $D^* = {noise.support}$."
    )
    alt = (
        f"Dots fall steadily on a logarithmic scale as D grows; the one at D = {noise.support} is the first "
        f"below a line at δ = {delta:g}."
    )
    return Drawing(name, figure, caption, alt, {"D": supports, "delta": deltas})


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
