"""Notebook 02: two shifted bells with E*, and δ(ε) of Proposition 2, Figures 1a and 1b."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import exp
from string import ascii_lowercase
from typing import Any

from compendium.figures.drawing import (
    DELTA,
    EPSILON,
    LABEL_GAP,
    Drawing,
    canvas,
    epsilons,
    label_ends,
    looks,
    styled,
)
from compendium.figures.palette import BLUE, GREY, ORANGE
from compendium.run.notation import tex
from tablebuilder_dp import privacy
from tablebuilder_dp.noise import Noise


@styled
def shifted_bells(name: str, noise: Noise, epsilon: Fraction | float) -> Drawing:
    """The noise beside its copy moved by one: where it rises above e^ε times the copy, and by how much."""
    figure, axes = canvas(5.4, 4.0)
    level = float(epsilon)
    first, second = privacy.neighbours(noise.pmf)
    z = list(range(-noise.support, noise.support + 2))
    raised = [exp(level) * mass for mass in second]
    inside = list(privacy.e_star(noise, epsilon))
    excess = [first[value + noise.support] - raised[value + noise.support] for value in inside]
    axes.bar(z, first, color=BLUE, width=0.8, alpha=0.35)
    edges = [value - 0.5 for value in (*z, z[-1] + 1)]
    axes.stairs(raised, edges, baseline=None, color=GREY, linestyle="--", linewidth=1.8)
    bottom = [raised[value + noise.support] for value in inside]
    axes.bar(inside, excess, bottom=bottom, color=ORANGE, width=0.8)
    axes.axvspan(inside[0] - 0.5, inside[-1] + 0.5, color=ORANGE, alpha=0.12, zorder=0)
    peak = max(first)
    axes.text(inside[0] - 0.4, 1.38 * peak, "$E^*$", color=ORANGE, fontsize=13)
    axes.annotate(
        rf"$\delta = {sum(excess):.4f}$," "\nthe orange parts",
        (inside[-1], bottom[-1] + excess[-1] / 2),
        (inside[0] - 0.4, 1.15 * peak),
        color=ORANGE,
        arrowprops={"arrowstyle": "-", "color": ORANGE},
    )
    for height, text, colour in (
        (1.4, r"dashed: $e^{\varepsilon}\,p(z-1)$", GREY),
        (1.25, "bars: $p(z)$", BLUE),
    ):
        axes.text(-0.35, height * peak, text, color=colour, ha="left", bbox={"color": "white", "pad": 1})
    axes.set(xlabel="noise $z$", ylabel="probability", ylim=(0, 1.55 * peak))
    axes.set_title(rf"$D = {noise.support}$, $\gamma = {float(noise.gamma):g}$, $\varepsilon = {level:g}$")
    axes.grid(axis="x", visible=False)
    caption = (
        r"The noise and $e^{\varepsilon}$ times its copy, shifted by one. $E^*$ holds the values at which "
        r"the bar rises above the dashed line; $\delta$ is all that lies above it."
    )
    alt = (
        f"Bars of the noise from −{noise.support} to {noise.support} under a dashed step line, its copy "
        f"shifted by one and raised; only the {len(inside)} bars furthest to the left rise above the line."
    )
    data = {"z": z, "p": first.tolist(), "raised": raised}
    return Drawing(name, figure, caption, alt, data)


@styled
def delta_curves(name: str, *, support: int, variances: Sequence[float], epsilon_max: float) -> Drawing:
    """Figures 1a and 1b: δ(ε) of Proposition 2 for some variances, with the plateaus marked."""
    figure, axes = canvas(5.4, 4.0)
    levels = epsilons(epsilon_max / 300, epsilon_max, 300)
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    words, ends, outside = [], [], []
    for variance, colour, dash, _ in looks(variances):
        noise = Noise.of_variance(support, variance)
        deltas = privacy.delta(noise, levels)
        edge = privacy.plateau(noise)
        axes.semilogy(levels, deltas, dash, color=colour)
        rate = float(noise.gamma)
        gamma = f"{rate:.4f}" if rate >= 0.001 else tex(f"{rate:.3g}")
        name_of = f"$V = {variance:g}$" "\n" rf"$\gamma = {gamma}$"
        ends.append((float(deltas[-1]), name_of, colour))
        if edge.onset <= epsilon_max:
            axes.plot(float(edge.onset), edge.height, "o", color=colour, markersize=5)
        else:
            outside.append(rf"for $V = {variance:g}$ at $\varepsilon = {float(edge.onset):.4g}$")
        data[f"delta_V{variance:g}"] = deltas.tolist()
        flat = f"it is flat at {edge.height:.2g} from ε = {float(edge.onset):.2f} on"
        words.append(
            f"for V = {variance:g} {flat if edge.onset < epsilon_max else 'it falls to the right edge'}"
        )
    axes.set(xlabel=EPSILON, ylabel=DELTA, title=rf"$D = {support}$", xlim=(0, epsilon_max))
    label_ends(axes, ends, gap=2 * LABEL_GAP)
    caption = (
        rf"$\delta$ as a function of $\varepsilon$ for noise on $[-{support}, {support}]$. From "
        r"$\varepsilon = \gamma(2D-1)$ on, the onset of its plateau, each curve stays at $\delta = p(-D)$, "
        r"however large $\varepsilon$ becomes."
    )
    caption += " Dots mark the onsets." if len(outside) < len(variances) else ""
    caption += f" (Outside the picture the plateau begins {' and '.join(outside)}.)" if outside else ""
    alt = f"Curves of δ against ε on a logarithmic scale for D = {support}: " + "; ".join(words) + "."
    return Drawing(name, figure, caption, alt, data)


def figure_1(supports: Sequence[int], variances: Sequence[float], epsilon_max: float) -> Iterator[Drawing]:
    """Figures 1a, 1b and so on, one for each support."""
    for letter, support in zip(ascii_lowercase, supports, strict=False):
        yield delta_curves(f"figure-1{letter}", support=support, variances=variances, epsilon_max=epsilon_max)
