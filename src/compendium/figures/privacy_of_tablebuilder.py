"""Notebook 02: δ(ε) of Proposition 2, Figures 1a and 1b."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compendium.figures.drawing import (
    DELTA,
    EPSILON,
    Drawing,
    canvas,
    epsilons,
    looks,
    styled,
)
from tablebuilder_dp import privacy
from tablebuilder_dp.noise import Noise


@styled
def delta_curves(name: str, *, support: int, variances: Sequence[float], epsilon_max: float) -> Drawing:
    """Figures 1a and 1b: δ(ε) of Proposition 2 for some variances, with the plateaus marked."""
    figure, axes = canvas()
    levels = epsilons(epsilon_max / 300, epsilon_max, 300)
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    words = []
    for variance, colour, dash, _ in looks(variances):
        noise = Noise.of_variance(support, variance)
        deltas = privacy.delta(noise, levels)
        edge = privacy.plateau(noise)
        axes.semilogy(
            levels,
            deltas,
            dash,
            color=colour,
            label=rf"$V = {variance:g}$, $\gamma = {float(noise.gamma):.4f}$",
        )
        if edge.onset <= epsilon_max:
            axes.plot(float(edge.onset), edge.height, "o", color=colour, markersize=5)
        data[f"delta_V{variance:g}"] = deltas.tolist()
        flat = f"it is flat at {edge.height:.2g} from ε = {float(edge.onset):.2f} on"
        words.append(
            f"for V = {variance:g} {flat if edge.onset < epsilon_max else 'it falls to the right edge'}"
        )
    axes.set(xlabel=EPSILON, ylabel=DELTA, title=rf"$D = {support}$", xlim=(0, epsilon_max))
    axes.legend()
    caption = (
        f"δ as a function of ε for noise on [−{support}, {support}]. Each dot marks the onset of a plateau, "
        "ε = γ(2D − 1): beyond it δ is p(−D), however large ε becomes."
    )
    alt = f"Curves of δ against ε on a logarithmic scale for D = {support}: " + "; ".join(words) + "."
    return Drawing(name, figure, caption, alt, data)
