"""Notebook 19: cells one person apart, tiles of counts, what averages find out, what a carry gives away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from matplotlib.ticker import MaxNLocator, PercentFormatter, ScalarFormatter

from compendium.figures.drawing import LABEL_GAP, Drawing, canvas, label_end, label_ends, looks, styled
from compendium.figures.palette import BLUE, GREY, ORANGE
from compendium.studies import differencing
from compendium.studies.carry import Seen
from tablebuilder_dp.sampling import LookupTable


@styled
def carry_by_bit(name: str, seen: Mapping[str, Seen], *, exact: Fraction) -> Drawing:
    """For each bit of a key, how often a total's bit can be foretold from its parts, by kind of keys."""
    figure, axes = canvas(7.0, 4.2)
    data: dict[str, Sequence[Any]] = {"bit": list(range(1, 1 + len(next(iter(seen.values())).even)))}
    lines = min(one.lines for one in seen.values())
    chance = 1.96 * 0.5 / lines**0.5
    axes.axhspan(0.5 - chance, 0.5 + chance, color=GREY, alpha=0.15, linewidth=0)
    axes.axhline(float(exact), color="black", linewidth=0.8, linestyle="--")
    for (kind, found), colour, _, marker in looks(list(seen.items())):
        data[kind] = found.shares.tolist()
        axes.plot(data["bit"], data[kind], marker, color=colour, markersize=5, label=f"keys: {kind}")
    words = f"proved for sums\nmodulo $2^{{32}}$:\n{exact}"
    label_end(axes, (len(data["bit"]) + 1, float(exact)), words, "black")
    axes.set(xlabel="bit of the key (31 is the highest)", ylabel="share of lines with XOR 0")
    axes.set_xlim(0, len(data["bit"]) + 1)
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, -0.05), min(high + 0.25 * (high - low), 1.3))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.legend(ncols=len(seen), loc="upper center")
    caption = (
        f"Lines of one woman, one man and both, {lines} in all: how often the XOR of a bit of the three keys "
        "and of the next lower bit of the first is 0. Grey: where 95% of the shares lie if keys are "
        "independent. The modulus, a prime as the paper asks, is not $2^{32}$ but $2^{32} - 5$: a sum that "
        "passes it comes out larger by 5, in binary 101, than modulo $2^{32}$, and that blurs bits 2 to 5."
    )
    tops = ", ".join(f"{kind} {found.shares[-1]:.4f}" for kind, found in seen.items())
    alt = (
        f"Shares of lines for each of {len(data['bit'])} bits, a series of marks for each kind of keys, with "
        f"a band around one half and a line at {float(exact):.5f}; the highest bit has {tops}."
    )
    return Drawing(name, figure, caption, alt, data)


@styled
def tiled_counts(name: str, answers: Sequence[int]) -> Drawing:
    """What each count from 0 on is published as, if all counts of a tile have one answer."""
    figure, axes = canvas(7.0, 4.0)
    counts = range(len(answers))
    axes.plot(counts, counts, color=GREY, linewidth=0.8)
    starts = [n for n in counts if n == 0 or answers[n] != answers[n - 1]]
    for first, end in zip(starts, [*starts[1:], len(answers)], strict=True):
        axes.hlines(answers[first], first - 0.5, end - 0.5, color=BLUE, linewidth=4)
    jump = starts[len(starts) // 2]
    if jump:
        low, high = answers[jump - 1], answers[jump]
        axes.plot([jump - 0.5] * 2, [low, high], ":", color=ORANGE)
        axes.annotate(
            "one person more\nchanges the answer\nonly where a tile ends",
            (jump - 0.5, (low + high) / 2),
            (12, -4),
            textcoords="offset points",
            color=ORANGE,
            va="top",
        )
    axes.text(
        0.05,
        0.93,
        "each line: a tile of counts\nwith one answer",
        color=BLUE,
        transform=axes.transAxes,
        va="top",
    )
    axes.set(xlabel="true count", ylabel="published count")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    caption = (
        "Tiles of counts: all counts under one line are published as one of them, the mark, where the line "
        "meets the diagonal. The first and the last tile reach beyond the picture, and their marks may lie "
        "there."
    )
    alt = (
        f"A staircase of {len(starts)} steps along the diagonal: the published count against the true counts "
        f"from 0 to {len(answers) - 1}."
    )
    data: dict[str, Sequence[Any]] = {"count": list(counts), "published": list(answers)}
    return Drawing(name, figure, caption, alt, data)


@styled
def unequal_answers(name: str, table: LookupTable, *, others: Sequence[int]) -> Drawing:
    """How often one person more changes the answer, where equal sets have equal answers."""
    figure, axes = canvas(7.0, 4.2)
    bound = table.weights[table.support] / table.keysize
    data: dict[str, Sequence[Any]] = {"others": list(others), "bound": [bound] * len(others)}
    labels = {"sums": "keys that are sums, or of records", differencing.TILING: "tiling by the least hash"}
    words = []
    for (scheme, label), colour, dash, _ in looks(list(labels.items())):
        shares = [float(differencing.unequal(table, scheme, others=n).present) for n in others]
        axes.loglog(others, shares, dash, color=colour)
        middle, move = len(others) // 3, (6, 6)
        if scheme == differencing.TILING and shares[middle] > 0.6:  # right of the bound's name
            middle, move = 2 * middle, (6, -14)
        axes.annotate(label, (others[middle], shares[middle]), move, textcoords="offset points", color=colour)
        data[scheme] = shares
        words.append(f"{label} from {shares[0]:.3g} to {shares[-1]:.3g}")
    axes.axhline(bound, color="black", linewidth=0.8, linestyle=":")
    axes.annotate(
        f"$p(0) = {bound:.3g}$: no such scheme has less",
        (others[0], bound),
        (4, 4),
        textcoords="offset points",
    )
    axes.set(xlabel="other people in the cell", ylabel="probability of unequal answers")
    axes.set(xlim=(others[0], others[-1]), ylim=(bound / 2, 1.6))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    ticks = [tick for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1) if tick >= bound / 2]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    caption = (
        "How often a cell and the same cell with one person more have unequal answers, exactly, where equal "
        "sets of people have equal answers. It is the $\\delta$ of the two cells at every $\\varepsilon$, as "
        "unequal answers prove that the person is there."
    )
    alt = (
        "Probability of unequal answers against the number of others on logarithmic scales: "
        f"{'; '.join(words)}; and a lower bound of {bound:.3g}."
    )
    return Drawing(name, figure, caption, alt, data)


@styled
def averages(
    name: str, *, partitions: Sequence[int], shares: Mapping[str, Sequence[float]], groups: int
) -> Drawing:
    """How often the mean of m sums of two parts is the true count, by the number m of divisions.

    ``shares`` has "exact" for the noise of one cell, "designed" for that of the divisions, and between
    them what came of trials with this many ``groups``, by kind of keys.
    """
    figure, axes = canvas(7.6, 4.4)
    exact, designed = shares["exact"], shares["designed"]
    tried = {kind: found for kind, found in shares.items() if kind not in ("exact", "designed")}
    axes.plot(partitions, exact, color="black", linewidth=1, marker=".", markersize=3)
    for (kind, found), colour, _, marker in looks(list(tried.items())):
        axes.plot(
            partitions,
            found,
            marker,
            color=colour,
            markersize=6,
            fillstyle="none",
            label=f"tried, keys: {kind}",
        )
    axes.plot(partitions, designed, "-.", color=GREY, marker=".")
    axes.set_xscale("log", base=2)
    axes.set_xticks(partitions, list(map(str, partitions)))
    axes.minorticks_off()
    axes.set(xlabel="divisions $m$, each of two cells", ylabel="the count is found exactly")
    axes.set_ylim(-0.03, 1.03)
    ends = [
        (exact[-1], "noise for\none cell", "black"),
        (designed[-1], "noise planned for\nthe divisions", GREY),
    ]
    label_ends(axes, ends, gap=2 * LABEL_GAP)
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    figure.legend(loc="outside lower center", ncols=len(tried))
    caption = (
        "How often an average finds a count exactly, if the group is divided in two again and again. Line: "
        "noise that was designed for one cell, computed; marks: tried with each kind of keys. Grey: noise "
        "that was designed for as many cells with one person in them as there are divisions. Each mark is a "
        f"share of {groups} groups: near one half it may be off by {100 / groups**0.5:.0f} points."
    )
    alt = (
        "Share of exact counts against the number of divisions. Noise for one cell rises from "
        f"{exact[0]:.3g} to {exact[-1]:.3g}, with marks of the kinds of keys near the line; noise for all "
        f"cells goes from {designed[0]:.3g} to {designed[-1]:.3g}."
    )
    data: dict[str, Sequence[Any]] = {"divisions": partitions, **shares}
    return Drawing(name, figure, caption, alt, data)
