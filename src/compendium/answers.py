"""The pictures of what goes past the paper, each from numbers of the library.

Like those of `figures`, every function returns a `Drawing`; none computes what the library does not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.colors import PowerNorm
from matplotlib.ticker import MaxNLocator, NullLocator, ScalarFormatter

from compendium.drawing import Drawing, canvas, label_end, styled
from compendium.experiment import Experiment
from compendium.figures import DELTA, EPSILON, epsilons, looks
from compendium.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY
from tablebuilder_dp import best_gamma, composition, design, frontier, gap, noise, other_noise, privacy
from tablebuilder_dp import small_counts as small
from tablebuilder_dp.sampling import LookupTable, after_sampling
from tablebuilder_dp.sampling import delta as delta_after_sampling


@styled
def delta_of_gamma(name: str, *, epsilon: float, support: int) -> Drawing:
    """δ as a function of γ at one ε, with its kinks, the paper's choice and the best one."""
    figure, axes = canvas()
    found = best_gamma.best(epsilon, support=support)
    paper = design.proposition_3(epsilon, support=support, slack=0)
    places = {float(found.epsilon / (2 * m - 1)): m for m in range(1, support + 1)}
    low, high = 0.75 * float(paper.gamma), min(1.5 * float(epsilon), 2.6 * float(found.gamma))
    grid = [float(f"{gamma:.6g}") for gamma in np.geomspace(low, high, 300)]
    gammas = sorted({*grid, *(gamma for gamma in places if gamma <= high)})
    deltas = [privacy.delta(epsilon, support=support, gamma=gamma) for gamma in gammas]
    axes.semilogy(gammas, deltas, color=BLUE)
    shown = [(gamma, delta) for gamma, delta in zip(gammas, deltas, strict=True) if gamma in places]
    axes.plot(*zip(*shown, strict=True), "o", color=BLUE, markersize=4)
    step = -(-support // 12)  # the legend names the two kinks that matter; every other label needs room
    for gamma, delta in shown:
        m = places[gamma]
        if m % step == 0 and (m < found.kink or (step == 1 and found.kink < m < support)):
            axes.annotate(f"{m}", (gamma, delta), (1, -13), textcoords="offset points", ha="center")
    axes.plot(
        float(paper.gamma), paper.delta, "s", color=ORANGE, markersize=8, label=f"paper: $m = D = {support}$"
    )
    axes.plot(
        float(found.gamma), found.delta, "*", color=GREEN, markersize=15, label=f"best: $m = {found.kink}$"
    )
    axes.set(xlabel=r"$\gamma$", ylabel=DELTA, title=rf"$D = {support}$, $\varepsilon = {float(epsilon):g}$")
    axes.margins(y=0.12)
    axes.legend(loc="upper center")
    caption = (
        f"δ({float(epsilon):g}) for noise on [−{support}, {support}] as a function of γ. The dots are the "
        "kinks γ = ε/(2m − 1). Between two of them δ rises, then falls (either part may be missing), so the "
        "least δ is at a kink."
    )
    alt = (
        "A curve of δ against γ that falls, then rises, with downward kinks between arches. The paper's "
        f"kink m = {support} has δ = {paper.delta:.4g}, the best one, m = {found.kink}, "
        f"has δ = {found.delta:.4g}."
    )
    marks = [places.get(gamma, "") for gamma in gammas]
    return Drawing(name, figure, caption, alt, {"gamma": gammas, "delta": deltas, "kink": marks})


@styled
def gap_to_the_best(name: str, *, supports: Sequence[int], epsilon_max: float) -> Drawing:
    """How many times the least δ the paper's formula and its grid give, and which kink is the best one."""
    figure, (left, right) = canvas(9.6, 4.0, columns=2)
    levels = epsilons(epsilon_max / 80, epsilon_max, 80)
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    words = []
    for support, colour, dash, _ in looks(supports):
        found = [best_gamma.best(level, support=support) for level in levels]
        least = np.array([one.delta for one in found])
        paper = [design.proposition_3(level, support=support, slack=0).delta for level in levels]
        searched = [design.best_delta_on_grid(level, support=support).delta for level in levels]
        # Twelve decimals, so that a ratio of 1 is 1.
        formula, grid = (np.round(np.array(deltas) / least, 12) for deltas in (paper, searched))
        places = [one.kink for one in found]
        closing = float(gap.closing_epsilon(support=support, digits=8))
        left.plot(levels, formula, dash, color=colour, label=f"$D = {support}$, Proposition 3")
        reached = np.where(grid <= max(formula.max(), 1.05), grid, np.nan)
        left.plot(levels, reached, ":", color=colour, linewidth=1.2, label=f"$D = {support}$, grid")
        right.step(levels, places, dash, where="mid", color=colour)
        right.axhline(support, color=colour, linewidth=0.6)
        right.text(epsilon_max, support, f"$m = D = {support}$", va="bottom", ha="right", color=colour)
        if 0 < closing <= epsilon_max:
            left.plot(closing, 1, "o", color=colour, markersize=6)
            right.plot(closing, support, "o", color=colour, markersize=6)
        data |= {f"formula_D{support}": formula.tolist(), f"grid_D{support}": grid.tolist()}
        data[f"kink_D{support}"] = places
        peak = gap.widest(epsilon_max, support=support)
        where = f"from ε = {closing:.4f} on" if closing else "at every ε"
        words.append(
            f"for D = {support} the formula's δ is up to {peak.ratio:.3f} times the least, at ε = "
            f"{peak.epsilon:.3g}, and the gap is zero {where}"
        )
    highest = max(max(data[f"formula_D{support}"]) for support in supports)
    left.set(xlabel=EPSILON, ylabel=r"$\delta$ / least $\delta$", xlim=(0, epsilon_max))
    left.set_ylim(0.98, highest + 0.05 + (0.08 + 0.12 * len(supports)) * (highest - 1))
    left.legend(loc="upper center", ncols=2, fontsize=8)
    right.set(xlabel=EPSILON, ylabel="$m$ of the best kink", xlim=(0, epsilon_max))
    right.set_ylim(0, max(supports) * 1.12)
    right.yaxis.set_major_locator(MaxNLocator(integer=True))
    caption = (
        "Left: δ of Proposition 3 without slack and the least δ on the paper's grid of γ, both relative to "
        "the least δ over all γ. Right: m of the best kink γ = ε/(2m − 1). Dots mark ε₀, from which on the "
        "paper's m = D is the best choice."
    )
    alt = "Two panels of curves against ε: " + "; ".join(words) + "."
    return Drawing(name, figure, caption, alt, data)


@styled
def better_tables(
    name: str, study: Experiment, tables: Mapping[int, Sequence[LookupTable | None]]
) -> Drawing:
    """Two-sided ε^Q, and the exact δ at ε, of ceilings and of symmetric tables (None: there is none)."""
    figure, (left, right) = canvas(9.6, 4.4, columns=2)
    levels = [float(level) for level in study.epsilons]
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    looked, words = [], []
    for bits, colour, _, marker in looks(study.bits):
        for rule, made in (("ceiling", study.tables[bits]), ("symmetric", tables[bits])):
            growth, excess = [np.nan] * len(levels), [np.nan] * len(levels)
            for place, (table, target) in enumerate(zip(made, study.designs, strict=True)):
                if table:
                    growth[place] = after_sampling(table).epsilon_two_sided / levels[place]
                    excess[place] = max(delta_after_sampling(table, target.epsilon)) / target.delta
            data[f"epsilon_ratio_{rule}_{bits}"], data[f"delta_ratio_{rule}_{bits}"] = growth, excess
            style = {"color": colour, "markersize": 4, "label": rf"$2^{{{bits}}}$, {rule}"}
            open_marks = {"mfc": "none", "markersize": 8}  # wide enough to be seen around a filled one
            looked.append((growth, marker, style | (open_marks if rule == "ceiling" else {})))
            right.semilogy(levels, excess, marker, **looked[-1][2])
            kept = [sum(value <= 1 for value in values) for values in (growth, excess)]
            words.append(f"{rule} 2^{bits} {kept[0]} and {kept[1]}")
    finite = [1.0, *(value for growth, _, _ in looked for value in growth if np.isfinite(value))]
    top = 1.15 * max(finite)
    for growth, marker, style in looked:
        left.plot(levels, [min(value, top) for value in growth], marker, **style)
    ticks = [tick for tick in MaxNLocator(6).tick_values(min(finite), max(finite)) if tick < 0.95 * top]
    left.set_yticks([*ticks, top], [*(f"{tick:g}" for tick in ticks), "∞"])
    left.set(ylabel=r"$\varepsilon^Q / \varepsilon$")
    right.set(ylabel=r"$\delta$ of the table / $\delta$")
    for axes in (left, right):
        axes.axhline(1, color=GREY, linewidth=1)
        axes.set(xlabel=r"$\varepsilon$ of the design")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=len(looked))
    caption = (
        f"Promises after sampling, D = {study.support}; on or below the grey line they are kept. Left: the "
        "two-sided ε^Q; it is infinite where a noise value is lost. Right: the exact δ at the design's ε. "
        "Where a symmetric table lies above the line there, no symmetric table of that KEYSIZE lies lower."
    )
    alt = f"Two scatter plots. Of {len(levels)} designs ε and δ are kept by: {', '.join(words)}."
    return Drawing(name, figure, caption, alt, data)


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
            [
                privacy.delta(epsilon, support=support, gamma=noise.gamma(support=support, variance=variance))
                for variance in variances
            ],
        ),
        "geometric, any rate": (
            [other_noise.measures(other_noise.geometric(support=support, rate=r)).variance for r in rates],
            [other_noise.geometric_delta(epsilon, support=support, rate=rate) for rate in rates],
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


@styled
def composition_curves(
    name: str, *, support: int, gamma: Fraction, cells: Sequence[int], epsilon_max: float
) -> Drawing:
    """δ_k(ε) of some numbers of cells, each with the floor that it cannot fall below."""
    figure, axes = canvas()
    levels = [float(f"{level:.4g}") for level in np.geomspace(epsilon_max / 2000, epsilon_max, 160)]
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    words, lowest = [], 1.0
    for count, colour, dash, _ in looks(cells):
        exact = composition.delta(levels, support=support, gamma=gamma, cells=count)
        deltas = [float(f"{delta:.10g}") for delta in exact]  # what every machine's rounding agrees on
        floor = composition.losses(support=support, gamma=gamma, cells=count).infinite
        axes.loglog(levels, deltas, dash, color=colour)
        axes.axhline(floor, color=colour, linewidth=0.7, linestyle=":")
        label_end(axes, (levels[-1], deltas[-1]), f"$k = {count}$", colour)
        data[f"delta_{count}"] = deltas
        words.append(f"{floor:.2g} for {count}")
        lowest = min(lowest, floor)
    axes.set(xlabel=EPSILON, ylabel=r"$\delta_k(\varepsilon)$")
    axes.set(xlim=(levels[0], levels[-1]), ylim=(lowest / 2, 1.5))
    caption = (
        "δ of k cells with independent noises that contain the same person, exactly. Dotted: "
        "1 − (1 − p(−D))^k, which no ε undercuts."
    )
    alt = (
        "Falling curves of δ against ε on logarithmic scales, higher for more cells; they level off at "
        + ", ".join(words)
        + (" cells." if cells[-1] > 1 else " cell.")
    )
    return Drawing(name, figure, caption, alt, data)


@styled
def most_cells(
    name: str, *, support: int, gamma: Fraction, deltas: Sequence[float], epsilon_max: float
) -> Drawing:
    """The largest number of cells within a budget (ε, δ), as a function of ε for some δ."""
    figure, axes = canvas()
    levels = epsilons(epsilon_max / 20, epsilon_max, 20)
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    words = []
    for delta, colour, _, marker in looks(deltas):
        counts = [composition.most_cells(level, delta, support=support, gamma=gamma) for level in levels]
        axes.step(levels, counts, where="post", color=colour, linewidth=0.8)
        axes.plot(levels, counts, marker, color=colour, markersize=5, clip_on=False)
        label_end(axes, (levels[-1], counts[-1]), rf"$\delta = {delta:.3g}$", colour)
        data[f"cells_{delta:.3g}"] = counts
        words.append(f"from {counts[0]} to {counts[-1]} for δ = {delta:.3g}")
    axes.set_yscale("symlog", linthresh=1, linscale=0.5)
    most = max(int(counts[-1]) for counts in list(data.values())[1:])
    ticks = [0, *(step * 10**power for power in range(len(str(most))) for step in (1, 2, 5))]
    axes.set_yticks([tick for tick in ticks if tick <= most + 1], minor=False)
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set(xlabel=EPSILON, ylabel="largest number of cells $k$")
    axes.set(xlim=(0, epsilon_max), ylim=(0, 1.3 * most + 0.5))
    caption = (
        "The largest number of cells with the same person that keeps a budget (ε, δ). Each mark is proved; "
        "between marks the steps are on the safe side."
    )
    alt = "Rising steps of the number of cells against ε: " + ", ".join(words) + "."
    return Drawing(name, figure, caption, alt, data)


@styled
def small_counts(name: str, *, support: int, variance: float, epsilon: float) -> Drawing:
    """Counts below D: the transition matrix of the rows, δ of each pair both ways, the bias of clamping."""
    figure, (map_axes, pair_axes, bias_axes) = canvas(12.6, 4.2, columns=3)
    rows, clamped = (
        small.noise_table(support=support, variance=variance, way=way) for way in ("rows", "clamped")
    )
    counts, largest = list(range(support + 1)), support + 2
    matrix = small.transition_matrix(rows, largest=largest)
    shown = np.ma.masked_equal(matrix, 0)
    edges = [np.arange(size + 1) - 0.5 for size in matrix.shape]
    image = map_axes.pcolormesh(edges[1], edges[0], shown, cmap="Blues", norm=PowerNorm(0.4, 0, 1))
    map_axes.plot([-0.5, largest + 0.5], [-0.5, largest + 0.5], color=ORANGE, linewidth=0.8)
    map_axes.invert_yaxis()
    map_axes.grid(visible=False)
    map_axes.set(xlabel="published value", ylabel="count", title="rows: who publishes what")
    figure.colorbar(image, ax=map_axes, label="probability", shrink=0.85)
    pairs = {"rows": small.deltas(rows, epsilon), "clamped": small.deltas(clamped, epsilon)}
    level = float(pairs["clamped"].up[-1])
    pair_axes.axhline(level, color=GREY, linewidth=1.2)
    marks = (("rows", "up", BLUE, "^", 7), ("rows", "down", SKY, "v", 7), ("clamped", "down", ORANGE, "o", 4))
    for way, direction, colour, marker, size in marks:
        found = getattr(pairs[way], direction)
        heights = np.where(found > 0, found, np.nan)
        label = f"{way}, {direction}"
        pair_axes.semilogy(counts, heights, marker, color=colour, markersize=size, label=label)
    pair_axes.plot([], [], color=GREY, linewidth=1.2, label="symmetric noise; clamped, up")
    height = rf"$\delta$ at $\varepsilon = {epsilon:g}$"
    pair_axes.set(xlabel="pair $n$, $n + 1$", ylabel=height, title="protection")
    pair_axes.legend(fontsize=8)
    bias = small.clamping_bias(support=support, variance=variance)
    bias_axes.bar(counts, bias, color=ORANGE, width=0.7)
    bias_axes.grid(axis="x", visible=False)
    bias_axes.set(xlabel="count", ylabel="bias", title="clamped: the price")
    for axes in (map_axes, pair_axes, bias_axes):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    map_axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    caption = (
        f"Counts near zero for D = {support}, V = {variance:g}. Left: the unbiased rows; on the line nothing "
        "is added, and an empty cell stays empty. Middle: δ of neighbouring counts, up (the larger count "
        "against the smaller) and down; a mark that is missing is zero. Right: the bias of clamping at zero."
    )
    worst = np.maximum(*pairs["rows"])
    alt = (
        f"A heat map of the transition matrix; δ of the pairs 0 to {support} on a logarithmic scale, where "
        f"the rows are worst at pair {worst.argmax()} with {worst.max():.3g} and the symmetric noise has "
        f"{level:.3g}; bars of the clamping bias that fall from {bias[0]:.3g} to zero."
    )
    data: dict[str, Sequence[Any]] = {"count": counts}
    for way, found in pairs.items():
        data |= {f"delta_{way}_up": found.up.tolist(), f"delta_{way}_down": found.down.tolist()}
    data["bias_clamped"] = bias.tolist()
    data |= {f"p_{z}": rows[:, z + support].tolist() for z in range(-support, support + 1)}
    return Drawing(name, figure, caption, alt, data)
