"""The pictures of the census table: what its noise costs, and what attackers get from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import numpy as np
from matplotlib.ticker import PercentFormatter, ScalarFormatter

from compendium.figures.drawing import Drawing, canvas, styled
from compendium.figures.palette import BLUE, GREEN, GREY, ORANGE
from compendium.studies import utility
from compendium.studies.attacks import NO_NOISE, Rate
from tablebuilder_dp.counts.small_counts import Measures

LOOKS = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (GREEN, "D", ":"))
"""Colour, mark and line of one way after the other."""


@styled
def utility_by_size(
    name: str, *, cells: Mapping[str, tuple[Any, Any]], designed: Mapping[str, Measures]
) -> Drawing:
    """Errors by true count, mean and standard deviation, beside the designed ones; and who is far off."""
    figure, (errors, far) = canvas(6.4, 7.4, rows=2)
    data: dict[str, list[Any]] = {}
    words = []
    far_off: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for (way, (true, published)), look, shift in zip(cells.items(), LOOKS, (0.94, 1.06), strict=False):
        colour, marker, dash = look
        classes = utility.by_size(true, published, designed=designed[way], starts=_powers_of_two(true))
        grid = np.unique(np.append(0, np.geomspace(1, max(true.max(), 2), 200).astype(int)))
        row = np.minimum(grid, len(designed[way].bias) - 1)
        bias, spread = designed[way].bias[row], np.sqrt(designed[way].variance[row])
        errors.fill_between(grid, bias - spread, bias + spread, color=colour, alpha=0.1, linewidth=0)
        for edge in (bias - spread, bias + spread):
            errors.plot(grid, edge, dash, color=colour, linewidth=0.5)
        errors.plot(grid, bias, dash, color=colour, linewidth=1)
        middles = [_middle(size, true) * (shift if size.low else 1) for size in classes]
        means, spreads = ([getattr(size, part) for size in classes] for part in ("mean", "spread"))
        marks: Any = {"color": colour, "markersize": 4, "label": way}
        errors.errorbar(middles, means, spreads, fmt=marker, linewidth=1.2, **marks)
        far_off.setdefault(tuple((_middle(size, true), size.far) for size in classes if size.low), []).append(
            way
        )
        for size in classes:
            for column, value in {"way": way, **size._asdict()}.items():
                data.setdefault(column, []).append(value)
        words.append(f"{way}, mean error {means[0]:.2f} in the first class and {means[-1]:.2f} in the last")
    for shares, ways in far_off.items():  # clamping brings no count of one or more within a tenth
        names = " and ".join(ways)
        far.plot(*zip(*shares, strict=True), "o-", color=GREY, markersize=4, label=names)
    for axes in (errors, far):
        axes.set_xscale("symlog", linthresh=1, linscale=0.5)
        axes.set_xlim(left=-0.2 if axes is errors else 0.8)
        axes.set_xlabel("true count")
        axes.xaxis.set_major_formatter(ScalarFormatter())
    errors.legend(loc="upper right", ncols=2)
    errors.set(ylabel="published − true count")
    errors.set_title("error: mean ± standard deviation", loc="left")
    errors.set_ylim(top=errors.get_ylim()[1] + 0.15 * np.ptp(errors.get_ylim()))  # room for the names
    far.set(ylabel="share of cells", ylim=(-0.03, 1.03))
    alike = f", {names} alike" if len(far_off) == 1 else ""
    far.set_title(f"cells off by more than a tenth{alike}", loc="left")
    if not alike:
        far.legend(loc="upper right")
    far.yaxis.set_major_formatter(PercentFormatter(1))
    caption = (
        "Top: the errors of the cells, by classes of true counts (powers of two; the last classes are taken "
        "together until they have 30 cells). Marks and bars are what came out, lines and bands what was "
        "designed. Bottom: the share of cells whose published count is off by more than a tenth, the same "
        "for both: a negative count and the 0 in its place are both too far from a true count of 1 or more."
    )
    alt = (
        "Mean errors with bars of one standard deviation beside the designed bands, and the share of cells "
        "that are far off, both against the true count: " + "; ".join(words) + "."
    )
    return Drawing(name, figure, caption, alt, dict(data))


def _powers_of_two(true: Any) -> list[float]:
    """Where classes of counts begin, the last of them with 30 cells or more if there are that many."""
    starts: list[float] = [0, *(2**power for power in range(int(true.max()).bit_length()))]
    while len(starts) > 2 and (true >= starts[-1]).sum() < 30:
        starts.pop()
    return [*starts, inf]


def _middle(size: utility.Size, true: Any) -> float:
    """Where a class is drawn: at the mean of its counts."""
    return float(true[(true >= size.low) & (true < size.high)].mean())


@styled
def attack_rates(name: str, *, rates: Sequence[Rate], promise: float) -> Drawing:
    """How often each attack was right, with its interval, beside the exact rate and the promise."""
    lines = list(dict.fromkeys((rate.attack, rate.others) for rate in rates))
    height: dict[tuple[str, str], float] = {}
    headings: dict[str, float] = {}
    level = -0.3
    for attack, others in lines:
        if attack not in headings:
            level += 1.3
            headings[attack] = level
        level += 0.9
        height[attack, others] = level
    figure, axes = canvas(6.4, 1.4 + 0.4 * level)
    axes.axvline(promise, color=GREY, linewidth=1)
    side, name_side = (" ", "left") if promise < 0.75 else ("", "right")
    words = f"{side}promise of one count "
    axes.text(promise, headings[lines[0][0]], words, color=GREY, va="center", ha=name_side)
    ways = list(dict.fromkeys(rate.way for rate in rates if rate.way != NO_NOISE))
    offsets = {NO_NOISE: 0.0, **dict(zip(ways, np.linspace(-0.22, 0.22, len(ways)), strict=True))}
    shown = set()
    for rate in rates:
        y, share = height[rate.attack, rate.others] + offsets[rate.way], rate.right / rate.trials
        label = None if rate.way in shown else rate.way
        shown.add(rate.way)
        if rate.way == NO_NOISE:
            axes.plot(share, y, "x", color="black", markersize=7, label=label, clip_on=False, zorder=3)
            continue
        colour, marker, _ = LOOKS[ways.index(rate.way)]
        axes.plot([rate.low, rate.high], [y, y], color=colour, linewidth=1.6)
        axes.plot(share, y, marker, color=colour, markersize=5, label=label)
        axes.plot([rate.exact] * 2, [y - 0.14, y + 0.14], color="black", linewidth=1.2)
    axes.plot([], [], "|", color="black", markersize=9, label="exact, by the table's weights")
    names = [*headings, *(_cells_with(others) for _, others in height)]
    axes.set_yticks([*headings.values(), *height.values()], names)
    for text in axes.get_yticklabels()[: len(headings)]:
        text.set_fontweight("bold")
    axes.tick_params(axis="y", length=0)
    lowest = min(0.48, *(rate.low for rate in rates))
    axes.set(xlabel="right guesses", xlim=(lowest - 0.02, 1.0), ylim=(level + 0.6, 0.4))
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    caption = (
        "How often an attacker guesses right whether a person was counted (a coin is right half the time): "
        "attacks by the number of other people in the cell, with 95% intervals. The grey line is what is "
        "promised for one count, which is all that the first attack sees; the other two see two counts. "
        "Without noise every guess is right."
    )
    shares = "; ".join(
        f"{rate.attack}, {rate.way}, others {rate.others}: {rate.right / rate.trials:.2f}"
        for rate in rates
        if rate.way != NO_NOISE
    )
    alt = f"Shares of right guesses with intervals, and a line at the promised {promise:.2f}: {shares}."
    data: dict[str, Sequence[Any]] = {part: [getattr(rate, part) for rate in rates] for part in Rate._fields}
    return Drawing(name, figure, caption, alt, data)


def _cells_with(others: str) -> str:
    return {"nobody": "nobody else", "1": "1 other"}.get(others, f"{others} others")
