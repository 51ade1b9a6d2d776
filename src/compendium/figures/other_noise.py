"""Notebook 13: other noises, their shapes and their trade-offs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from compendium.figures.drawing import (
    DELTA,
    EPSILON,
    Drawing,
    canvas,
    epsilons,
    styled,
)
from compendium.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY
from tablebuilder_dp import noise, privacy
from tablebuilder_dp.beyond import frontier, other_noise
from tablebuilder_dp.noise import Geometric, Noise


@styled
def trade_off(
    name: str, *, epsilon: float, support: int, points: Mapping[str, tuple[float, float]]
) -> Drawing:
    """δ against variance: the least of unbiased noise, two families, and some noises by (variance, δ)."""
    figure, axes = canvas(6.4, 5.4)
    markers = "sD*oP^v"
    if len(points) > len(markers):
        raise ValueError(f"a figure must have at most {len(markers)} points, got {len(points)}")
    bound = float(noise.variance_bound(support))
    variances = [float(f"{value:.6g}") for value in np.geomspace(bound / 300, 0.999 * bound, 200)]
    steepest = max(2 * float(epsilon), 1 + math.log(600 / bound))  # so that the curve reaches the left edge
    near = epsilon * (1 + np.geomspace(1e-6, 0.3, 40))  # where the curve is steep
    spread = [*np.geomspace(epsilon / 100, steepest, 160), *near]
    rates = sorted({float(epsilon), *(float(f"{rate:.9g}") for rate in spread)})
    curves: dict[str, tuple[Any, Any]] = {
        "maximum entropy, any γ": (
            variances,
            [privacy.delta(Noise.of_variance(support, variance), epsilon) for variance in variances],
        ),
        "geometric, any rate": (
            [other_noise.measures(Geometric(support, r).pmf).variance for r in rates],
            [privacy.delta(Geometric(support, rate), epsilon) for rate in rates],
        ),
    }
    for label, unimodal in (
        ("least of all that fall with |z|", True),
        ("least of all unbiased noise", False),
    ):
        corners = frontier.vertices(epsilon, support=support, unimodal=unimodal)
        within = [c.variance for c in corners if variances[0] < c.variance < variances[-1]]
        places = sorted({*variances, *within})
        heights = np.interp(places, [c.variance for c in corners], [c.delta for c in corners])
        curves[label] = (places, heights.tolist())
    colours = (ORANGE, GREEN, SKY, BLUE)
    for (label, (x, y)), colour, dash in zip(curves.items(), colours, ("--", "-.", ":", "-"), strict=True):
        axes.loglog(x, y, dash, color=colour, label=label)
    for (label, point), marker in zip(points.items(), markers, strict=False):
        axes.plot(*point, marker, color="black", markersize=10 if marker == "*" else 7, label=label)
    axes.set(xlabel="variance $V$", ylabel=rf"$\delta$ at $\varepsilon = {float(epsilon):g}$")
    axes.set(xlim=(variances[0], 1.15 * bound), title=f"$D = {support}$")
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    caption = (
        f"What δ({float(epsilon):g}) unbiased noise on [−{support}, {support}] can have at each variance. "
        "Below the solid line there is none. Its lowest point is the geometric noise of rate ε; from there "
        "on more variance costs privacy."
    )
    nearest = "; ".join(f"{label} at V = {v:.3g} with δ = {d:.2g}" for label, (v, d) in points.items())
    alt = f"Four curves of δ against variance on logarithmic axes that fall and then rise. Points: {nearest}."
    rows = [(label, *pair) for label, (x, y) in curves.items() for pair in zip(x, y, strict=True)]
    rows += [(label, *point) for label, point in points.items()]
    columns = ("noise", "variance", "delta")
    data: dict[str, Sequence[Any]] = {column: [row[i] for row in rows] for i, column in enumerate(columns)}
    return Drawing(name, figure, caption, alt, data)


@styled
def noise_shapes(name: str, *, epsilon: float, pmfs: Mapping[str, Any]) -> Drawing:
    """Noises side by side: their pmfs, and their δ at every ε up to twice the one they were made for."""
    figure, (left, right) = canvas(9.6, 4.4, columns=2)
    levels = epsilons(0, 2 * epsilon, 101)
    rows: list[tuple[Any, ...]] = []
    first = {}
    colours, dashes = (ORANGE, BLUE, GREEN, SKY, PURPLE, GREY), ("--", "-", "-.", "--", ":", "-")
    if len(pmfs) > len(colours):
        raise ValueError(f"a figure must have at most {len(colours)} noises, got {len(pmfs)}")
    for (label, pmf), colour, dash in zip(pmfs.items(), colours, dashes, strict=False):
        z = range(-(len(pmf) // 2), len(pmf) // 2 + 1)
        here, there = privacy.neighbours(pmf)
        deltas = [max(privacy.hockey_stick(here, there, level)) for level in levels]
        left.plot(z, pmf, dash, color=colour, label=label)
        right.semilogy(levels, deltas, dash, color=colour)
        rows += [(label, "pmf", y, float(mass)) for y, mass in zip(z, pmf, strict=True)]
        rows += [(label, "delta", level, delta) for level, delta in zip(levels, deltas, strict=True)]
        first[label] = deltas[0]
    right.axvline(float(epsilon), color=GREY, linewidth=0.8)
    left.set(xlabel="noise $z$", ylabel="$p(z)$", ylim=(0, None))
    right.set(xlabel=EPSILON, ylabel=DELTA, xlim=(0, levels[-1]))
    right.set_ylim(bottom=max(right.get_ylim()[0], 1e-14))  # beyond it float64 sums are mostly rounding
    figure.legend(loc="outside lower center", ncols=min(3, len(pmfs)))
    caption = (
        "Left: the noises. Right: their δ at every ε; the grey line is the ε that they were made for. "
        "At ε = 0, δ is the total variation distance of neighbouring counts."
    )
    words = ", ".join(f"{label} {delta:.3g}" for label, delta in first.items())
    alt = f"Pmfs of {len(pmfs)} noises, and their δ against ε on a logarithmic scale, at ε = 0: {words}."
    columns = ("noise", "quantity", "at", "value")
    data: dict[str, Sequence[Any]] = {column: [row[i] for row in rows] for i, column in enumerate(columns)}
    return Drawing(name, figure, caption, alt, data)
