"""The pictures of the differencing game: rates for growing numbers of rounds, and what asking again gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import NullFormatter, PercentFormatter, ScalarFormatter

from compendium.figures.drawing import LABEL_GAP, Drawing, canvas, label_ends, styled
from compendium.figures.palette import BLUE, GREEN, ORANGE
from compendium.studies import game
from compendium.studies.game import Office


@styled
def rates(
    name: str, *, offices: Mapping[str, Office], right: Mapping[str, Sequence[bool]], asks: int
) -> Drawing:
    """The rate of one strategy after more and more rounds, its interval, the bound and the best rate."""
    figure, panels = canvas(6.4, 7.6, rows=len(offices))
    data: dict[str, list[Any]] = {
        column: [] for column in ("office", "rounds", "right", "low", "high", "best", "bound")
    }
    words: list[str] = []
    named: list[tuple[Any, list[tuple[float, str, str]]]] = []
    for axes, (title, office) in zip(panels, offices.items(), strict=True):
        flags = right[title]
        total, answers = np.cumsum(flags), asks if office.fresh else 1
        ends = np.unique(
            np.geomspace(min(10, max(1, len(flags) // 2)), len(flags), 40).round().astype(int)
        ).tolist()
        scores = [game.score(int(total[end - 1]), end) for end in ends]
        best, bound = office.best(answers), office.bound(answers)
        low, high, rate = ([getattr(score, part) for score in scores] for part in ("low", "high", "rate"))
        axes.fill_between(ends, low, high, color=BLUE, alpha=0.2, linewidth=0, label="95% interval")
        axes.plot(ends, rate, color=BLUE, label="rate so far")
        axes.axhline(best, color=GREEN, linestyle=":")
        axes.axhline(bound, color=ORANGE, linestyle="--")
        named.append((axes, [(bound, "bound by (ε, δ)", ORANGE), (best, "best possible", GREEN)]))
        several = f", {asks} answers" if answers > 1 else ""
        axes.set(xscale="log", ylabel="right guesses")
        axes.set_title(f"the {title} office{several}", loc="left")
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        for score in scores:
            ends_at = (round(end, 8) for end in (score.low, score.high))  # found by iteration, to 2e-12
            row = (title, score.rounds, score.right, *ends_at, best, bound)
            for column, value in zip(data, row, strict=True):
                data[column].append(value)
        last = scores[-1]
        words.append(
            f"{title}: {last.rate:.3f} after {last.rounds} rounds, interval {last.low:.3f} to "
            f"{last.high:.3f}, best {best:.3f}, bound {bound:.3f}"
        )
    shares = (hits / rounds for hits, rounds in zip(data["right"], data["rounds"], strict=True))
    lowest = min(0.4, min(shares) - 0.05)
    for axes, ends in named:
        axes.set_ylim(lowest, 1.03)
        label_ends(axes, ends, gap=2 * LABEL_GAP)
    panels[-1].set_xlabel("rounds")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    caption = (
        "The best guess, played on: the share of right guesses so far, its 95% interval, the best possible "
        "rate and the bound. An interval holds for a number of rounds that was fixed beforehand, not for one "
        "that is chosen by looking."
    )
    alt = "Rates that settle as rounds are added, with shrinking intervals. " + "; ".join(words) + "."
    return Drawing(name, figure, caption, alt, dict(data))


@styled
def asking(name: str, *, careless: Office, careful: Office, most: int) -> Drawing:
    """The best possible rate and the bound against the number of answers, with and without fresh noise."""
    figure, axes = canvas()
    asks = list(range(1, most + 1))
    data: dict[str, Sequence[Any]] = {"answers": asks}
    points: Any = {"textcoords": "offset points"}
    ends: list[str] = []
    for office, marker in ((careless, "o"), (careful, "s")):
        best, bound = ([getattr(office, part)(k) for k in asks] for part in ("best", "bound"))
        axes.plot(asks, bound, "--", color=ORANGE, label=None if ends else "bound by (ε, δ)")
        axes.plot(
            asks, best, color=GREEN, marker=marker, markersize=3, label=None if ends else "best possible"
        )
        middle = most // 2
        # Below the curve, or above the bound where there is more room.
        crowded = office is careless and best[middle] - careful.bound(1) < 0.08
        place = (asks[middle], bound[middle] if crowded else best[middle])
        axes.annotate(f"the {office.name} office", place, (8, 8 if crowded else -14), **points)
        data |= {f"best_{office.name}": best, f"bound_{office.name}": bound}
        ends.append(
            f"{office.name}: best rate from {best[0]:.3f} to {best[-1]:.3f}, bound to {bound[-1]:.3f}"
        )
    axes.set(xlabel="answers to the same question", ylabel="right guesses", ylim=(0.45, 1.01))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    figure.legend(loc="outside lower center", ncols=2)
    caption = (
        "What asking again gives. Fresh noise averages away; with cell keys and one design the second answer "
        "is the first one again, and nothing grows."
    )
    alt = "Two pairs of curves over the number of answers, one rising, one flat. " + "; ".join(ends) + "."
    return Drawing(name, figure, caption, alt, data)
