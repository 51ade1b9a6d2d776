"""Notebook 13: other noises, their shapes and their trade-offs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.patheffects import withStroke

from compendium.figures.drawing import (
    DELTA,
    EPSILON,
    Drawing,
    canvas,
    epsilons,
    label_ends,
    looks,
    styled,
)
from compendium.figures.palette import BLUE, GREEN, GREY, ORANGE, SKY
from tablebuilder_dp import noise, privacy
from tablebuilder_dp.beyond import frontier, other_noise
from tablebuilder_dp.noise import Geometric, Noise

_DARK_SKY = "#1F78A8"
"""The sky blue of a line, dark enough for letters."""

_UNIMODAL, _ANY = "least of unimodal noise", "least of any unbiased noise"

_CURVES = {r"bell, any $\gamma$": (0.42, (2, 12)), "geometric, any rate": (0.02, (0, 10))}
"""Where the names of two curves of the trade-off stand: a share of the axis, and points to move by."""

_POINTS = (
    ("s", (9, -3), "left"),
    ("D", (-9, -10), "right"),
    ("*", (0, -18), "center"),
    ("^", (-11, -6), "right"),
    ("v", (9, -10), "left"),
)
"""The marks of the trade-off, and where their names stand."""


def _plain(label: str) -> str:
    """A name without mathematics, for those who hear it and for files of numbers."""
    return label.replace(r"$\varepsilon$", "ε").replace(r"$\gamma$", "γ")


@styled
def trade_off(
    name: str, *, epsilon: float, support: int, points: Mapping[str, tuple[float, float]]
) -> Drawing:
    """δ against variance: the least of unbiased noise, two families, and some noises by (variance, δ)."""
    figure, axes = canvas(6.4, 5.6)
    if len(points) > len(_POINTS):
        raise ValueError(f"a figure must have at most {len(_POINTS)} points, got {len(points)}")
    bound = float(noise.variance_bound(support))
    left = min([bound / 300, *(0.5 * place for place, _ in points.values())])  # no mark is left outside
    variances = [float(f"{value:.6g}") for value in np.geomspace(left, 0.999 * bound, 200)]
    steepest = max(2 * float(epsilon), 1 + math.log(2 / left))  # so that the curve reaches the left edge
    near = epsilon * (1 + np.geomspace(1e-6, 0.3, 40))  # where the curve is steep
    spread = [*np.geomspace(epsilon / 100, steepest, 160), *near]
    rates = sorted({float(epsilon), *(float(f"{rate:.9g}") for rate in spread)})
    curves: dict[str, tuple[Any, Any]] = {
        r"bell, any $\gamma$": (
            variances,
            [privacy.delta(Noise.of_variance(support, variance), epsilon) for variance in variances],
        ),
        "geometric, any rate": (
            [other_noise.measures(Geometric(support, r).pmf).variance for r in rates],
            [privacy.delta(Geometric(support, rate), epsilon) for rate in rates],
        ),
    }
    for label, unimodal in (
        (_UNIMODAL, True),
        (_ANY, False),
    ):
        corners = frontier.vertices(epsilon, support=support, unimodal=unimodal)
        within = [c.variance for c in corners if variances[0] < c.variance < variances[-1]]
        places = sorted({*variances, *within})
        heights = np.interp(places, [c.variance for c in corners], [c.delta for c in corners])
        curves[label] = (places, heights.tolist())
    colours = (ORANGE, GREEN, SKY, BLUE)
    for (label, (x, y)), colour, dash in zip(curves.items(), colours, ("--", "-.", ":", "-"), strict=True):
        axes.loglog(x, y, dash, color=colour)
        if label in _CURVES:
            share, move = _CURVES[label]
            place = variances[0] ** (1 - share) * variances[-1] ** share
            at = int(np.argmin(np.abs(np.array(x) - place)))
            axes.annotate(label, (x[at], y[at]), move, textcoords="offset points", color=colour)
    lowest = min(points.values(), key=lambda point: point[1])[0]
    far = lowest > variances[0] ** 0.4 * bound**0.6  # the lowest mark is where the words would stand
    for height, (word, label), colour in (
        (0.1, ("dotted", _UNIMODAL), _DARK_SKY),
        (0.04, ("solid", _ANY), BLUE),
    ):
        corner: Any = {"transform": axes.transAxes, "ha": "left" if far else "right"}
        words = axes.text(0.01 if far else 0.99, height, f"{word}: {label}", color=colour, **corner)
        words.set_path_effects([withStroke(linewidth=3, foreground="white")])
    for (label, point), (marker, move, side) in zip(points.items(), _POINTS, strict=False):
        axes.plot(*point, marker, color="black", markersize=12 if marker == "*" else 7)
        words = axes.annotate(label.removeprefix("bell, "), point, move, textcoords="offset points", ha=side)
        words.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    axes.set(xlabel="variance $V$", ylabel=rf"$\delta$ at $\varepsilon = {float(epsilon):g}$")
    axes.set(xlim=(variances[0], 1.15 * bound), title=f"$D = {support}$")
    axes.margins(y=0.14)
    caption = (
        rf"What $\delta$ at $\varepsilon = {float(epsilon):g}$ unbiased noise on $[-{support}, {support}]$ "
        "can have at each variance. Below the solid line there is none. Its lowest point is the geometric "
        r"noise of rate $\varepsilon$; from there on more variance costs privacy."
    )
    nearest = "; ".join(
        f"{_plain(label)} at V = {v:.3g} with δ = {d:.2g}" for label, (v, d) in points.items()
    )
    alt = f"Four curves of δ against variance on logarithmic axes that fall and then rise. Points: {nearest}."
    rows = [(label, *pair) for label, (x, y) in curves.items() for pair in zip(x, y, strict=True)]
    rows += [(_plain(label), *point) for label, point in points.items()]
    columns = ("noise", "variance", "delta")
    data: dict[str, Sequence[Any]] = {column: [row[i] for row in rows] for i, column in enumerate(columns)}
    return Drawing(name, figure, caption, alt, data)


@styled
def noise_shapes(name: str, *, epsilon: float, pmfs: Mapping[str, Any]) -> Drawing:
    """Noises side by side: their pmfs, and their δ at every ε up to twice the one they were made for."""
    figure, (top, bottom) = canvas(7.0, 7.2, rows=2)
    levels = epsilons(0, 2 * epsilon, 101)
    rows: list[tuple[Any, ...]] = []
    first, ends = {}, []
    for (label, pmf), colour, dash, _ in looks(list(pmfs.items())):
        z = range(-(len(pmf) // 2), len(pmf) // 2 + 1)
        here, there = privacy.neighbours(pmf)
        deltas = [max(privacy.hockey_stick(here, there, level)) for level in levels]
        top.plot(z, pmf, dash, color=colour, label=label)
        bottom.semilogy(levels, deltas, dash, color=colour)
        ends.append((deltas[-1], label, colour))
        words = _plain(label)
        rows += [(words, "pmf", y, float(mass)) for y, mass in zip(z, pmf, strict=True)]
        rows += [(words, "delta", level, delta) for level, delta in zip(levels, deltas, strict=True)]
        first[words] = deltas[0]
    bottom.axvline(float(epsilon), color=GREY, linewidth=0.8)
    top.set(xlabel="noise $z$", ylabel="$p(z)$", ylim=(0, None))
    top.set_title("the noises", loc="left")
    top.legend(loc="upper right")
    bottom.set(xlabel=EPSILON, ylabel=DELTA, xlim=(0, levels[-1]))
    bottom.set_title(r"their $\delta$ at every $\varepsilon$", loc="left")
    lowest = min(1e-14, 0.5 * min(delta for delta, _, _ in ends))  # beyond it sums are mostly rounding
    bottom.set_ylim(bottom=max(bottom.get_ylim()[0], lowest))
    label_ends(bottom, ends)
    caption = (
        r"Top: the noises. Bottom: their $\delta$ at every $\varepsilon$; the grey line is the $\varepsilon$ "
        r"that they were made for. At $\varepsilon = 0$, $\delta$ is the total variation distance of "
        "neighbouring counts."
    )
    starts = ", ".join(f"{label} {delta:.3g}" for label, delta in first.items())
    alt = f"Pmfs of {len(pmfs)} noises, and their δ against ε on a logarithmic scale, at ε = 0: {starts}."
    columns = ("noise", "quantity", "at", "value")
    data: dict[str, Sequence[Any]] = {column: [row[i] for row in rows] for i, column in enumerate(columns)}
    return Drawing(name, figure, caption, alt, data)
