"""The paper's figures and the pictures that explain them, each from numbers of the library.

Every function returns a `Drawing`; none of them computes anything that the library does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.ticker import NullLocator

from compendium.drawing import Drawing, canvas, styled
from compendium.experiment import Experiment
from compendium.ledger import KINDS, Entry
from compendium.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY
from tablebuilder_dp import certified, design, noise, privacy, sampling

COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
DASHES = ("-", "--", "-.", ":")
MARKERS = "os^d"
EPSILON, DELTA = r"privacy loss $\varepsilon$", r"$\delta$"


def looks(items: Sequence[Any]) -> Iterator[tuple[Any, str, str, str]]:
    """Each item with a colour, a dash and a marker of its own."""
    if len(items) > len(COLOURS):
        raise ValueError(f"a figure must have at most {len(COLOURS)} curves, got {len(items)}")
    return zip(items, COLOURS, DASHES, MARKERS, strict=False)


def epsilons(low: float, high: float, count: int) -> list[float]:
    """Evenly spaced ε, rounded to six decimals so that each is the decimal that it prints as."""
    return [round(float(value), 6) for value in np.linspace(low, high, count)]


@styled
def delta_curves(name: str, *, support: int, variances: Sequence[float], epsilon_max: float) -> Drawing:
    """Figures 1a and 1b: δ(ε) of Proposition 2 for some variances, with the plateaus marked."""
    figure, axes = canvas()
    levels = epsilons(epsilon_max / 300, epsilon_max, 300)
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    words = []
    for variance, colour, dash, _ in looks(variances):
        gamma = noise.gamma(support=support, variance=variance)
        deltas = privacy.delta(levels, support=support, gamma=gamma)
        edge = privacy.plateau(support=support, gamma=gamma)
        axes.semilogy(
            levels, deltas, dash, color=colour, label=rf"$V = {variance:g}$, $\gamma = {gamma:.4f}$"
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


@styled
def best_delta(name: str, *, supports: Sequence[int], epsilon_max: float) -> Drawing:
    """Figure 2a: the δ of Proposition 3 in the limit of no slack, beside the best on the paper's grid."""
    figure, axes = canvas()
    levels = epsilons(epsilon_max / 50, epsilon_max, 50)
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    gaps = []
    for support, colour, _, _ in looks(supports):
        ours = [design.proposition_3(level, support=support, slack=0).delta for level in levels]
        best = [design.best_delta_on_grid(level, support=support).delta for level in levels]
        axes.semilogy(levels, ours, "-", color=colour, label=f"$D = {support}$, Proposition 3")
        axes.semilogy(
            levels, best, ":", color=colour, marker=".", markersize=4, label=f"$D = {support}$, best on grid"
        )
        data[f"delta_D{support}"], data[f"best_delta_D{support}"] = ours, best
        gaps.append(f"for D = {support} the grid gains at most a factor {max(np.divide(ours, best)):.2f}")
    axes.set(xlabel=EPSILON, ylabel=DELTA, xlim=(0, epsilon_max))
    axes.legend()
    caption = (
        "δ when γ follows ε so that no plateau appears (lines), and the least δ on the grid "
        "γ = 0.0001, …, 0.3 (dots). The wider support has the smaller δ."
    )
    alt = "δ falls steadily with ε on a logarithmic scale, without plateaus; " + "; ".join(gaps) + "."
    return Drawing(name, figure, caption, alt, data)


@styled
def variance_curves(name: str, *, supports: Sequence[int], epsilon_max: float) -> Drawing:
    """Figure 2b: the variance that belongs to the lines of Figure 2a."""
    figure, axes = canvas()
    levels = epsilons(epsilon_max / 50, epsilon_max, 50)
    data: dict[str, Sequence[Any]] = {"epsilon": levels}
    for support, colour, dash, _ in looks(supports):
        variances = [design.proposition_3(level, support=support, slack=0).variance for level in levels]
        axes.plot(levels, variances, dash, color=colour, label=f"$D = {support}$")
        data[f"variance_D{support}"] = variances
    axes.set(xlabel=EPSILON, ylabel="variance $V$", xlim=(0, epsilon_max), ylim=(0, None))
    axes.legend()
    caption = "The variance of the noise of Figure 2a: stronger privacy (small ε) needs wider noise."
    alt = "The variance falls as ε grows and is larger for the wider support."
    return Drawing(name, figure, caption, alt, data)


@styled
def pmf_bars(name: str, *, support: int, gamma: Fraction, title: str) -> Drawing:
    """Figure 3: the pmf of a design."""
    figure, axes = canvas()
    z = list(range(-support, support + 1))
    masses = noise.pmf(support=support, gamma=gamma)
    axes.bar(z, masses, color=BLUE, width=0.8)
    axes.set(xlabel="noise $z$", ylabel="$p(z)$", title=title)
    axes.grid(axis="x", visible=False)
    caption = (
        f"The noise on [−{support}, {support}]: p(0) = {masses[support]:.4f}, p(±{support}) = "
        f"{masses[0]:.3g}."
    )
    alt = f"A bell-shaped bar chart, symmetric about zero, from −{support} to {support}, highest at 0."
    return Drawing(name, figure, caption, alt, {"z": z, "p": masses.tolist()})


@styled
def epsilon_after_sampling(name: str, experiment: Experiment) -> Drawing:
    """Figure 4: the paper's one-sided ε^Q against ε, and the two-sided one that privacy needs."""
    figure, both = canvas(9.6, 4.0, columns=2)
    data: dict[str, Sequence[Any]] = {"epsilon": [float(level) for level in experiment.epsilons]}
    for axes, side in zip(both, ("one_sided", "two_sided"), strict=True):
        axes.plot([0, data["epsilon"][-1]], [0, data["epsilon"][-1]], color=GREY, linewidth=0.8)
        for bits, colour, _, marker in looks(experiment.bits):
            found = [getattr(after, f"epsilon_{side}") for after in experiment.after[bits]]
            shown = [value if np.isfinite(value) else None for value in found]
            axes.plot(
                data["epsilon"], shown, marker, color=colour, markersize=4, label=rf"KEYSIZE $2^{{{bits}}}$"
            )
            data[f"epsilon_{side}_{bits}"] = found
        axes.set(xlabel=r"$\varepsilon$ of the design", ylabel=r"$\varepsilon^Q$ after sampling")
        axes.set_title(side.replace("_", "-"))
    both[0].legend()
    caption = (
        f"ε after sampling for D = {experiment.support}. Left: the paper's one-sided ε^Q. Right: the "
        "two-sided ε^Q, at which δ^Q is a true guarantee. Above the grey line ε^Q exceeds the ε of the "
        "design; points that are missing are infinite."
    )
    count = len(experiment.epsilons)
    kept = ", ".join(f"{experiment.kept_promises(bits)} of {count} for 2^{bits}" for bits in experiment.bits)
    alt = f"Two scatter plots of ε^Q against ε. The two-sided ε^Q stays at or below ε for {kept}."
    return Drawing(name, figure, caption, alt, data)


@styled
def delta_after_sampling(name: str, experiment: Experiment) -> Drawing:
    """Figure 5: δ^Q against δ."""
    figure, axes = canvas()
    designed = [made.delta for made in experiment.designs]
    data: dict[str, Sequence[Any]] = {
        "epsilon": [float(level) for level in experiment.epsilons],
        "delta": designed,
    }
    axes.loglog(designed, designed, color=GREY, linewidth=0.8)
    for bits, colour, _, marker in looks(experiment.bits):
        found = [float(after.delta) for after in experiment.after[bits]]
        axes.loglog(designed, found, marker, color=colour, markersize=4, label=rf"KEYSIZE $2^{{{bits}}}$")
        data[f"delta_{bits}"] = found
    axes.set(xlabel=r"$\delta$ of the design", ylabel=r"$\delta^Q$ after sampling")
    axes.legend()
    caption = "δ after sampling against δ of the design. No δ^Q can fall below one key, 1/KEYSIZE."
    floors = [
        f"2^{bits} at {2.0**-bits:.2g}"
        for bits in experiment.bits
        if min(data[f"delta_{bits}"]) == 2.0**-bits
    ]
    stop = f"; the mass of a single key is a floor for {', '.join(floors)}" if floors else ""
    alt = f"δ^Q against δ on logarithmic scales; points lie on the diagonal or above it{stop}."
    return Drawing(name, figure, caption, alt, data)


@styled
def variance_of_gamma(name: str, *, support: int, variance: float) -> Drawing:
    """Proposition 1: V(γ) falls from the uniform pmf's variance to 0, so each V below has one γ."""
    figure, axes = canvas()
    rate = noise.gamma(support=support, variance=variance)
    gammas = [float(f"{value:.6g}") for value in np.geomspace(rate / 300, min(rate * 100, 690), 200)]
    variances = [noise.variance(support=support, gamma=gamma) for gamma in gammas]
    bound = float(noise.variance_bound(support))
    axes.semilogx(gammas, variances, color=BLUE)
    axes.axhline(bound, color=GREY, linestyle="--", linewidth=1)
    axes.text(gammas[0], bound, " D(D+1)/3: the uniform pmf", va="bottom", color=GREY)
    axes.plot(rate, variance, "o", color=ORANGE)
    axes.annotate(
        rf"$V = {variance:g}$, $\gamma = {rate:.4g}$", (rate, variance), (8, 8), textcoords="offset points"
    )
    axes.set(xlabel=r"$\gamma$", ylabel=r"$V(\gamma)$", ylim=(0, bound * 1.12), title=f"$D = {support}$")
    caption = (
        "V(γ) falls strictly, from D(D+1)/3 at γ = 0 to 0: every variance below the bound has "
        "exactly one γ > 0."
    )
    alt = (
        f"A decreasing S-shaped curve of V against γ that starts at {bound:.4g} and ends at 0, "
        f"with V = {variance:g} marked."
    )
    return Drawing(name, figure, caption, alt, {"gamma": gammas, "variance": variances})


@styled
def cut_points(name: str, tables: Sequence[sampling.LookupTable], *, gamma: Fraction) -> Drawing:
    """Section V-A: the cumulative pmf near its lower end, and what the cut points make of it."""
    figure, axes = canvas()
    support = tables[0].support
    z = list(range(-support, min(-support + 12, support) + 1))
    cumulative = noise.pmf(support=support, gamma=gamma).cumsum()[: len(z)]
    axes.semilogy(z, cumulative, color=GREY, label="$c(z)$")
    data: dict[str, Sequence[Any]] = {"z": z, "c": cumulative.tolist()}
    for table, colour, _, marker in looks(tables):
        bits = table.keysize.bit_length() - 1
        heights = [cut / table.keysize for cut in table.cuts[: len(z)]]
        axes.semilogy(
            z, heights, marker, color=colour, markersize=5, label=rf"cut points, KEYSIZE $2^{{{bits}}}$"
        )
        data[f"cut_{bits}"] = list(table.cuts[: len(z)])
    axes.set(xlabel="noise $z$", ylabel=r"$P(Z \leq z)$")
    axes.legend()
    axes.xaxis.set_minor_locator(NullLocator())
    caption = (
        "The lower end of the cumulative pmf and its cut points: where two markers share a "
        "height, a noise value is lost."
    )
    lost = "; ".join(f"KEYSIZE {table.keysize} loses {len(table.lost)} noise values" for table in tables)
    alt = f"Cut points above the curve of the cumulative pmf near its lower end; {lost}."
    return Drawing(name, figure, caption, alt, data)


@styled
def key_counts(name: str, *, keys: Any, keysize: int, bins: int = 64) -> Drawing:
    """Section IV: how evenly the cell keys of a population fall."""
    figure, axes = canvas()
    counts = np.bincount(
        (np.asarray(keys) * np.uint64(bins) // np.uint64(keysize)).astype(int), minlength=bins
    )
    expected = len(keys) / bins
    axes.bar(range(bins), counts, color=BLUE, width=0.85)
    axes.axhline(expected, color=ORANGE)
    spread = 2 * expected**0.5
    axes.axhspan(expected - spread, expected + spread, color=ORANGE, alpha=0.2, linewidth=0)
    axes.set(xlabel=f"cell key, in {bins} equal intervals", ylabel="cells")
    axes.grid(axis="x", visible=False)
    caption = f"The keys of {len(keys)} cells; the band holds about 95 % of the bars if keys are uniform."
    inside = int(((counts >= expected - spread) & (counts <= expected + spread)).sum())
    alt = f"A bar chart of {bins} bars; {inside} of them lie within two standard deviations of uniform."
    return Drawing(name, figure, caption, alt, {"interval": list(range(bins)), "cells": counts.tolist()})


@styled
def weight_errors(name: str, table: sampling.LookupTable, *, gamma: Fraction) -> Drawing:
    """Section V-B: what the ceilings do to each probability, in keys."""
    figure, axes = canvas()
    z = list(range(-table.support, table.support + 1))
    exact = [certified.pmf(value, support=table.support, gamma=gamma).lower * table.keysize for value in z]
    errors = [float(weight - mass) for weight, mass in zip(table.weights, exact, strict=True)]
    axes.bar(z, errors, color=[BLUE if error >= 0 else ORANGE for error in errors], width=0.8)
    axes.set(xlabel="noise $z$", ylabel=r"KEYSIZE $\cdot\,(p^Q(z) - p(z))$, in keys")
    axes.grid(axis="x", visible=False)
    caption = (
        "How many keys each noise value gains or loses by rounding the cut points up: always less than one. "
        "Only the two ends differ, where −D has one key more than D."
    )
    alt = "Bars between −1 and 1, symmetric about zero but for the first and the last."
    return Drawing(name, figure, caption, alt, {"z": z, "keys": errors})


@styled
def verdicts(name: str, entries: Sequence[Entry]) -> Drawing:
    """The ledger at a glance: how many verdicts of each kind, section by section."""
    sections = list(dict.fromkeys(entry.claim.section for entry in entries))
    figure, axes = canvas(height=0.9 + 0.32 * len(sections))
    left = np.zeros(len(sections))
    data: dict[str, Sequence[Any]] = {"section": sections}
    colours = (GREEN, SKY, BLUE, PURPLE, ORANGE)
    for kind, colour, hatch in zip(reversed(KINDS), colours, ("", "..", "//", "xx", "\\\\"), strict=True):
        found = [entry.claim.section for entry in entries if entry.kind == kind]
        widths = [found.count(section) for section in sections]
        bars = axes.barh(
            sections,
            widths,
            left=left,
            color=colour,
            label=kind,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.5,
        )
        axes.bar_label(
            bars,
            labels=[str(width) if width else "" for width in widths],
            label_type="center",
            fontsize=8,
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
        )
        left += widths
        data[kind] = widths
    for place, width in enumerate(left):
        axes.annotate(
            f"{width:.0f}", (width, place), (4, 0), textcoords="offset points", va="center", fontsize=8
        )
    axes.invert_yaxis()
    axes.set(xlabel="claims", ylabel="section")
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside upper center", ncols=len(KINDS), fontsize=8, columnspacing=1, handlelength=1.5)
    caption = "What becomes of the paper's claims, section by section; at the end of each bar their number."
    total = ", ".join(f"{sum(int(n) for n in data[kind])} {kind}" for kind in reversed(KINDS))
    return Drawing(name, figure, caption, f"Stacked bars of the verdicts by section; in all {total}.", data)
