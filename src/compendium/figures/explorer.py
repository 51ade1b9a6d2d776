"""The pictures of the explorer: a noise and its lookup table, their (ε, δ) curves, what each setting moves.

The first two are drawn into axes, so that a figure for print and a widget that redraws at every touch show
the same. Every number comes from `compendium.studies.explorer`.
"""

from __future__ import annotations

import io
import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from compendium.figures.drawing import STYLE, Drawing, styled
from compendium.figures.palette import BLUE, GREEN, GREY, ORANGE
from compendium.studies import explorer
from compendium.studies.explorer import Explored, Settings, say
from tablebuilder_dp import design
from tablebuilder_dp.beyond import symmetric

DECADES = 6
"""A curve that falls further below the wanted δ than this many decades leaves its picture."""

HIGHEST = 1.5
"""Ratios ε^Q/ε above this are not drawn to scale."""

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

WIDEST = 100
"""The symmetric rule's search can take seconds beyond this support, too long for a picture of many."""

MOVED = {
    "epsilon": (r"wanted $\varepsilon$", r"a smaller $\varepsilon$ costs support"),
    "delta": (r"wanted $\delta$", r"so does a smaller $\delta$, but less"),
    "slack": ("slack $s$", r"slack sets some of $\varepsilon$ aside"),
    "keysize": ("KEYSIZE", r"few keys can break $\varepsilon$"),
}
LOOKS = dict(zip(symmetric.RULES, ((ORANGE, 5, "none"), (GREEN, 2, GREEN)), strict=True))


def noise_axes(axes: Any, explored: Explored) -> None:
    """Draw p(z) as bars, p^Q(z) as dots, and a cross at each value that no key gives."""
    support, table = explored.support, explored.table
    edges = np.arange(-support, support + 2) - 0.5
    axes.stairs(explored.pmf, edges, fill=True, color=BLUE, alpha=0.45, label=say("noise"))
    given = [(z, weight / table.keysize) for z, weight in enumerate(table.weights, -support) if weight]
    size = 4 if support <= 40 else 2
    axes.plot(*zip(*given, strict=True), "o", color=ORANGE, markersize=size, label=say("table"))
    if table.lost:
        marks: Any = {"color": "black", "markersize": size + 1, "clip_on": False}
        axes.plot(table.lost, [0] * len(table.lost), "x", **marks, label=say("lost"))
    axes.set(xlabel=say("pmf_x"), ylabel=say("pmf_y"), ylim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="x", visible=False)


def curve_axes(axes: Any, explored: Explored) -> None:
    """Draw δ(ε) of the noise with the start of its plateau, that of the table, and the wanted (ε, δ)."""
    epsilon, delta = float(explored.design.epsilon), float(explored.settings.delta)
    curve = explorer.curve(explored)
    axes.set_yscale("log", nonpositive="mask")
    axes.plot(curve.epsilon, curve.noise, color=BLUE, label=say("noise"))
    axes.plot(curve.epsilon, curve.table, "--", color=ORANGE, label=say("table"))
    height = float(explored.delta)
    if height:  # what float64 cannot hold is below every picture
        onset = float(explored.plateau_onset)
        ring: Any = {"markersize": 9, "markerfacecolor": "none", "markeredgewidth": 1.5}
        axes.plot(onset, height, "o", color=BLUE, **ring, label=say("plateau_begins"))
    axes.axvline(epsilon, color=GREY, linewidth=0.8)
    axes.axhline(delta, color=GREY, linewidth=0.8)
    axes.plot(epsilon, delta, "+", color="black", markersize=12, label=say("wanted"))
    shown = np.concatenate([curve.noise, curve.table, [delta]])
    low, high = shown[shown >= delta * 10.0**-DECADES].min() / 2, 2 * shown.max()
    axes.set(xlabel=say("curve_x"), ylabel=say("curve_y"), xlim=(0, curve.epsilon[-1]), ylim=(low, high))
    _plain_decades(axes.yaxis)


def _plain_decades(axis: Any) -> None:
    """Label a logarithmic axis without formulas, as setting them would be most of a redraw."""
    low, high = axis.get_view_interval()
    decades = high > 50 * low
    axis.set_major_locator(LogLocator(subs=(1,) if decades else (1, 2, 5), numticks=7))
    axis.set_major_formatter(FuncFormatter(lambda value, _: power(value) if decades else short(value)))
    axis.set_minor_locator(NullLocator())


def power(value: float) -> str:
    """A power of ten in plain characters.

    >>> power(0.01), power(1.0)
    ('10⁻²', '10⁰')
    """
    return f"10{str(round(math.log10(value))).translate(RAISED)}"


def short(value: float) -> str:
    """A number to two digits, small ones with a power of ten in plain characters.

    >>> short(0.5), short(1.0), short(1e-05), short(2.5e-10)
    ('0.5', '1', '10⁻⁵', '2.5·10⁻¹⁰')
    """
    if value >= 0.01 or value == 0:
        return f"{value:.2g}"
    digits, exponent = f"{value:.1e}".split("e")
    raised = power(float(f"1e{exponent}"))
    return raised if digits == "1.0" else f"{digits.removesuffix('.0')}·{raised}"


def live(draw: Callable[[Any, Explored], None], explored: Explored) -> bytes:
    """One picture for a widget as PNG: with fixed margins, as finding the best takes longer than drawing."""
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.8, 3.5))
        axes = figure.subplots(gridspec_kw={"left": 0.14, "right": 0.97, "bottom": 0.14, "top": 0.85})
        draw(axes, explored)
        axes.legend(loc="lower left", bbox_to_anchor=(-0.16, 1), ncols=2, fontsize=9, borderpad=0)
        figure.savefig(buffer, format="png", dpi=140, metadata={"Software": None})
    return buffer.getvalue()


def _stacked(count: int, **sharing: Any) -> tuple[Figure, Any]:
    """A figure of panels one below the other, so that none shrinks on a narrow page."""
    figure = Figure(figsize=(6.4, 0.6 + 2.4 * count), layout="constrained")
    return figure, figure.subplots(count, 1, squeeze=False, sharex=True, **sharing)[:, 0]


def _title(text: str) -> str:
    """A title with its D and its powers of two set as mathematics."""
    return re.sub(r"(D = \d+)", r"$\1$", re.sub(r"2\^(\d+)", r"$2^{\1}$", text))


def _legend(figure: Figure, panels: Sequence[Any]) -> None:
    """One legend below all panels."""
    entries = [zip(*axes.get_legend_handles_labels(), strict=True) for axes in panels]
    known = {text: handle for handle, text in itertools.chain(*entries)}
    figure.legend(known.values(), known, loc="outside lower center", ncols=len(known))


@styled
def tables(name: str, designs: Mapping[str, Explored]) -> Drawing:
    """The noise and the lookup table of several settings, one below the other."""
    figure, panels = _stacked(len(designs))
    data: dict[str, list[Any]] = {"setting": [], "z": [], "p": [], "keys": []}
    words = []
    for axes, (title, explored) in zip(panels, designs.items(), strict=True):
        noise_axes(axes, explored)
        axes.set_title(_title(title))
        axes.label_outer()
        z = range(-explored.support, explored.support + 1)
        columns = ([title] * len(z), z, explored.pmf.tolist(), explored.table.weights)
        for values, column in zip(columns, data.values(), strict=True):
            column.extend(values)
        words.append(f"{title}, values that no key gives: {explorer.ranges(explored.table.lost)}")
    _legend(figure, panels)
    caption = (
        "Bars are the designed noise, dots the share of keys that a lookup table gives to each value. A "
        "cross marks a value that no key gives."
    )
    alt = f"Bell-shaped bars with the dots of a lookup table. {'; '.join(words)}."
    return Drawing(name, figure, caption, alt, dict(data))


@styled
def curves(name: str, designs: Mapping[str, Explored]) -> Drawing:
    """The (ε, δ) curves of several settings, one below the other and to one scale."""
    figure, panels = _stacked(len(designs), sharey=True)
    data: dict[str, list[Any]] = {"setting": [], "epsilon": [], "delta_noise": [], "delta_table": []}
    words = []
    limits = []
    for axes, (title, explored) in zip(panels, designs.items(), strict=True):
        curve_axes(axes, explored)
        limits.append(axes.get_ylim())
        axes.set_title(_title(title))
        lines = explorer.curve(explored)
        # Differences of nearly equal numbers have fewer digits than the numbers.
        columns: list[list[Any]] = [[float(f"{y:.9g}") for y in line] for line in lines]
        for values, column in zip(([title] * len(columns[0]), *columns), data.values(), strict=True):
            column.extend(values)
        words.append(
            f"{title}: the noise's δ stays at {float(explored.delta):.2e} from ε = "
            f"{float(explored.plateau_onset):.4g} on, the table's δ at the wanted ε is "
            f"{float(explored.delta_table):.2e}"
        )
    lows, highs = zip(*limits, strict=True)
    for axes in panels:
        axes.set_ylim(min(lows), max(highs))
        _plain_decades(axes.yaxis)
        axes.label_outer()
    _legend(figure, panels)
    caption = (
        r"$\delta$ of the noise and of its lookup table at every $\varepsilon$, the larger of both "
        "directions. The cross is what was wanted: a promise is kept where the curve passes below the cross "
        "or through it."
    )
    alt = f"Curves of δ that fall with ε down to a plateau. {'; '.join(words)}."
    return Drawing(name, figure, caption, alt, dict(data))


class Reaction(NamedTuple):
    """What comes out at one value of the setting that is moved."""

    moved: str
    value: str
    rule: str
    epsilon: float
    best_support: int
    variance: float
    variance_table: float
    epsilon_two_sided: float


def react(settings: Settings) -> list[Reaction]:
    """Move one setting after the other while the rest stays and D is D*, under both rules.

    >>> points = [point for point in react(Settings(epsilon="3", delta="0.1")) if point.moved == "epsilon"]
    >>> [(point.value, point.rule, point.best_support) for point in (points[0], points[-1])]
    [('0.75', 'ceiling', 3), ('12', 'symmetric', 1)]
    """
    epsilon, delta = float(settings.epsilon), float(settings.delta)
    choices: dict[str, Sequence[Any]] = {
        "epsilon": [f"{epsilon * factor:.3g}" for factor in np.geomspace(0.25, 4, 25)],
        "delta": [f"{delta * 10.0**power:.3g}" for power in np.arange(-6, 3.1, 0.5)],
        "slack": [f"{step / 20:g}" for step in range(21)],
        "keysize": [2**bits for bits in range(6, 41)],
    }
    points = []
    for moved, rule in itertools.product(choices, symmetric.RULES):
        for value in choices[moved]:
            with suppress(ValueError, ArithmeticError):  # beyond the limits, or the rule has no such table
                here = replace(settings, **{"support": None, "rule": rule, moved: value})
                best = design.guide(here.epsilon, here.delta, slack=here.slack)
                if rule == "ceiling" or best.support <= WIDEST:
                    explored = explorer.explore(here)
                    made = (float(explored.design.epsilon), explored.best_support, float(explored.variance))
                    after = (float(explored.after.variance), explored.after.epsilon_two_sided)
                    points.append(Reaction(moved, str(value), rule, *made, *after))
    return points


@styled
def reactions(name: str, settings: Settings) -> Drawing:
    """What D* does when ε or δ moves, and what the two-sided ε^Q does when the slack or KEYSIZE moves."""
    points = react(settings)
    figure = Figure(figsize=(6.4, 9.6), layout="constrained")
    panels = figure.subplots(4, 1)
    for axes in panels[:2]:
        axes.set_ylabel("smallest support $D^*$")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    for axes in panels[2:]:
        axes.set_ylabel(r"$\varepsilon^Q/\varepsilon$, two-sided")
    words = []
    for axes, (moved, (title, said)) in zip(panels, MOVED.items(), strict=True):
        here = [point for point in points if point.moved == moved]
        axes.axvline(float(getattr(settings, moved)), color=GREY, linewidth=0.8, zorder=0)
        axes.set_xlabel(title)
        axes.set_title(said, loc="left")
        first, *_, last = (point for point in here if point.rule == symmetric.RULES[0])
        if axes in panels[:2]:
            _supports(axes, [point for point in here if point.rule == symmetric.RULES[0]])
            moves = f"D* goes from {first.best_support} to {last.best_support}"
        else:
            _ratios(axes, here)
            moves = f"ε^Q goes from {first.epsilon_two_sided:.4g} to {last.epsilon_two_sided:.4g} by ceilings"
        words.append(f"as {moved} goes from {first.value} to {last.value}, {moves}")
    below = [point for point in points if point.moved in ("slack", "keysize")]
    drawn = [ratio for point in below if (ratio := point.epsilon_two_sided / point.epsilon) <= HIGHEST]
    for axes in panels[2:]:
        axes.set_ylim(0.95 * min([1, *drawn]), 1.05 * max([1, *drawn]))
    _legend(figure, panels[2:])
    caption = (
        "In each panel one setting moves; a grey upright line marks the chosen value. $D$ is $D^*$ "
        r"throughout. In the lower two a mark on or below the line at 1 is a table that keeps $\varepsilon$ "
        "in both directions; a cross at the top stands for a value beyond the picture, in most cases because "
        "no key gives some noise value; where a dot is missing, there is no symmetric table."
    )
    alt = f"Four small plots of D* and of ε after sampling: {'; '.join(words)}."
    data: dict[str, Sequence[Any]] = {
        part: [getattr(point, part) for point in points] for part in Reaction._fields
    }
    return Drawing(name, figure, caption, alt, data)


def _supports(axes: Any, points: Sequence[Reaction]) -> None:
    """Draw how D* follows one setting."""
    places = [float(point.value) for point in points]
    axes.plot(places, [point.best_support for point in points], ".-", color=BLUE, markersize=4)
    axes.set_ylim(0, None)
    axes.set_xscale("log")
    _plain_decades(axes.xaxis)


def _ratios(axes: Any, points: Sequence[Reaction]) -> None:
    """Draw how the ε^Q of each rule follows one setting, as a share of ε."""
    axes.axhline(1, color=GREY, linewidth=0.8)
    for rule, (colour, size, face) in LOOKS.items():
        here = [point for point in points if point.rule == rule]
        places = [float(point.value) for point in here]
        ratios = [point.epsilon_two_sided / point.epsilon for point in here]
        marks: Any = {"color": colour, "markersize": size, "markerfacecolor": face}
        axes.plot(places, ratios, "o", **marks, label=f"{rule} table")
        beyond = [place for place, ratio in zip(places, ratios, strict=True) if ratio > HIGHEST]
        if beyond:
            heights, top = [1] * len(beyond), axes.get_xaxis_transform()
            axes.plot(beyond, heights, "x", color=colour, markersize=5, transform=top, clip_on=False)
    if points[0].moved == "keysize":
        axes.set_xscale("log", base=2)
        axes.set_xticks([2**bits for bits in range(8, 41, 8)])
