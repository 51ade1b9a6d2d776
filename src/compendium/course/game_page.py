"""What the differencing game says and shows, in the notebook's widget and in the web page alike.

The page has no Python: `script` writes down for it what the library knows. Run this module to write the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from compendium.run.places import ROOT, write
from compendium.studies import guesses
from compendium.studies.game import CAREFUL, CARELESS, OPEN, Office, Score

FILE = ROOT / "site/static/game-data.js"
SEED = 1204
PLANS = (10, 20, 50, 100)
ROUNDS = (100, 1000, 10_000)
MOST_ASKS = 50
THRESHOLDS = tuple(half / 2 for half in range(-6, 9))

SAYS = {
    OPEN: "publishes the true count",
    CARELESS: "adds a little noise, drawn afresh for every request",
    CAREFUL: "adds the noise of a design, by cell key: the same people, the same noise",
}
SENTENCES = {
    "none": "No round played yet.",
    "partly": "{rounds} of {plan} rounds are played; judge when all are, for whoever stops at a lucky moment "
    "fools themselves.",
    "coin": "The interval contains one half: a tossed coin could have done it.",
    "better": "The interval lies above one half: that is better than a coin.",
    "worse": "The interval lies below one half: that is worse than a coin.",
    "nothing": "Nothing is promised here, as the bound is 100 %.",
    "contains": "After {played} the interval still contains the bound of {bound}: being above or "
    "below it could be luck.",
    "below": "The interval lies below the bound of {bound}, as it should.",
    "above": "The interval lies above the bound of {bound}: if the promise holds, at most one game in forty "
    "ends so.",
}
BAR = """<svg class="game-bar" viewBox="0 0 320 82" role="img" aria-label="{label}">
<g fill="currentColor" font-size="13" text-anchor="middle">
<path d="M10 34H310M10 31v6M160 31v6M310 31v6" stroke="currentColor" opacity=".5"/>
<text x="10" y="78" text-anchor="start">0 %</text><text x="160" y="78">a coin: 50 %</text>
<text x="310" y="78" text-anchor="end">100 %</text>
<path d="M{low} 34H{high}" stroke="var(--blue, #0072B2)" stroke-width="7" opacity="{shown}"/>
<circle cx="{rate}" cy="34" r="6" fill="var(--blue, #0072B2)" stroke="#fff" opacity="{shown}"/>
<path d="M{best} 31l-4 -10h8z" fill="var(--green, #009E73)"/>
<text x="{best}" y="14" text-anchor="{best_anchor}">best possible {best_share}</text>
<path d="M{bound} 26v20" stroke="var(--orange, #D55E00)" stroke-width="3"/>
<text x="{bound}" y="60" text-anchor="{bound_anchor}">bound {bound_share}</text>
</g></svg>"""
LABEL = "On a line from 0 to 100 %: {rate}best possible {best_share}, bound {bound_share}."
LABEL_RATE = "rate {rate_share}, interval {low_share} to {high_share}, "


def percent(share: float) -> str:
    r"""A share to a tenth of a per cent, ties upwards.

    >>> percent(0.0625)
    '6.3\xa0%'
    """
    return f"{math.floor(1000 * share + 0.5) / 10:.1f}\N{NO-BREAK SPACE}%"


def counted(number: int, word: str) -> str:
    """A number of things in words.

    >>> counted(1, "round"), counted(20, "round")
    ('1 round', '20 rounds')
    """
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def sentence(found: Score, *, bound: float, plan: int) -> str:
    """What a score says about the bound, in plain words.

    >>> from compendium.studies.game import score
    >>> sentence(score(12, 20), bound=0.6225, plan=20)
    'The interval contains one half: ... After 20 rounds the interval still contains the bound of ...'
    """
    if not found.rounds:
        return SENTENCES["none"]
    coin = "better" if found.low > 0.5 else "worse" if found.high < 0.5 else "coin"
    side = "below" if found.high < bound else "above" if found.low > bound else "contains"
    kinds = ["partly"] * (found.rounds < plan) + [coin, "nothing" if bound == 1 else side]
    words = " ".join(SENTENCES[kind] for kind in kinds)
    played = counted(found.rounds, "round")
    return words.format(rounds=found.rounds, played=played, plan=plan, bound=percent(bound))


def bar(found: Score, *, bound: float, best: float) -> str:
    """A score on a line from 0 to 100 %, beside the best possible rate and the bound, as SVG."""
    shares = {"low": found.low, "high": found.high, "rate": found.rate, "best": best, "bound": bound}
    words = {f"{name}_share": percent(share) for name, share in shares.items()}
    places = {name: f"{10 + 300 * share:.1f}" for name, share in shares.items()}
    anchors = {f"{name}_anchor": "end" if shares[name] > 0.7 else "middle" for name in ("best", "bound")}
    rate = LABEL_RATE.format(**words) if found.rounds else ""
    label = LABEL.format(**words | {"rate": rate})
    return BAR.format(**words, **places, **anchors, label=label, shown=int(found.rounds > 0))


def card(title: str, office: Office, found: Score, *, asks: int, plan: int) -> str:
    """The score against an office in HTML: its picture, and in words what it says."""
    bound, best = office.bound(asks), office.best(asks)
    rate = (
        f"{found.right} of {counted(found.rounds, 'round')} right: {percent(found.rate)}, 95 % interval "
        f"{percent(found.low)} to {percent(found.high)}. "
        if found.rounds
        else ""
    )
    extent = f"for {counted(asks, 'answer')}" if office.fresh else "however often one asks"
    promise = f"(ε, δ) = ({office.epsilon:g}, {office.delta(asks):.3g}) {extent}."
    picture = bar(found, bound=bound, best=best)
    words = f"{rate}{sentence(found, bound=bound, plan=plan)} {promise}"
    style = "flex: 1 1 18em; max-width: 26em; line-height: 1.4"
    return f'<div style="{style}"><b>{title}</b>{picture}<p>{words}</p></div>'


def script(found: Mapping[str, Office]) -> str:
    """What the page needs, as a classic script: tables, bounds, rates, sentences and the picture's frame."""
    described = []
    for office in found.values():
        asks = range(1, MOST_ASKS + 1) if office.fresh else range(1, 2)
        described.append(
            {
                "name": office.name,
                "says": SAYS[office.name],
                "fresh": office.fresh,
                "support": office.table.support,
                "least": office.least,
                "epsilon": office.epsilon,
                "deltas": [_digits(office.delta(k)) for k in asks],
                "bounds": [_digits(office.bound(k)) for k in asks],
                "best": [_digits(office.best(k)) for k in asks],
                "rates": [[_digits(office.rate(t, k)) for t in THRESHOLDS] for k in asks],
                "cuts": office.table.rows[-1].cuts,
            }
        )
    careful = found[CAREFUL]
    data = {
        "seed": SEED,
        "plans": PLANS,
        "rounds": ROUNDS,
        "thresholds": THRESHOLDS,
        "unequal": _digits(guesses.unequal(careful.table, careful.least)),
        "difference": _digits(guesses.difference(careful.table, careful.least)),
        "sentences": SENTENCES,
        "bar": BAR,
        "label": LABEL,
        "label_rate": LABEL_RATE,
        "offices": described,
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"/* Written by python -m compendium.course.game_page. */\nvar GAME_DATA = {text};\n"


def _digits(value: float) -> float:
    """Twelve digits, on which all machines agree."""
    return float(f"{value:.12g}")


if __name__ == "__main__":
    from compendium.studies.game import offices

    write(FILE, script(offices()))
