"""The differencing game to play in a notebook: three offices, a score, and a rule that plays by itself.

The words and the ranges are those of ``game.toml`` in `compendium.studies`, as on the game's page.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import ipywidgets as widgets

from compendium.studies import game, game_words
from compendium.studies.game import FIELDS, WORDS, Office
from compendium.studies.game_words import MOST_ASKS, say

SEED: int = FIELDS["seed"]["default"]
PLAN: int = FIELDS["plan"]["default"]


class Game(widgets.VBox):  # type: ignore[misc]
    """One game with a seed and a plan. Every shown thing is the value of a widget."""

    def __init__(self, offices: Mapping[str, Office], *, seed: int = SEED, plan: int = PLAN) -> None:
        self._offices = dict(offices)
        choices = [(f"{say('office', office=name)} {WORDS['does'][name]}", name) for name in offices]
        self.seed = _field(widgets.BoundedIntText, "seed", value=seed)
        self.plan = _field(widgets.Dropdown, "plan", value=plan)
        self.next_seed = _button("next_seed")
        self.office = widgets.RadioButtons(options=choices, layout={"width": "max-content"})
        self.shown, self.status, self.scores, self.outcome = (widgets.HTML() for _ in range(4))
        self.ask, self.ask_ten = _button("ask"), _button("ask_ten")
        self.ill, self.well = _button("guess_ill"), _button("guess_well")
        self.threshold = _field(widgets.FloatSlider, "threshold", readout_format="+")
        self.asks = _field(widgets.IntSlider, "asks")
        self.rounds = _field(widgets.Dropdown, "rounds")
        self.run = _button("play")
        super().__init__(
            [
                widgets.HBox([self.seed, self.plan, self.next_seed]),
                widgets.HTML(_bold(say("offices"))),
                self.office,
                self.shown,
                widgets.HBox([self.ask, self.ask_ten, self.ill, self.well]),
                self.status,
                widgets.HTML(_bold(say("scores"))),
                self.scores,
                widgets.HTML(f"{_bold(say('strategy'))}{_paragraph(say('rule'))}"),
                widgets.HBox([self.threshold, self.asks]),
                widgets.HBox([self.rounds, self.run]),
                self.outcome,
            ]
        )
        self.seed.observe(self._start, "value")
        self.plan.observe(self._start, "value")
        self.next_seed.on_click(self._next)
        self.office.observe(self._choose, "value")
        self.ask.on_click(lambda _: self._ask(1))
        self.ask_ten.on_click(lambda _: self._ask(10))
        self.ill.on_click(lambda _: self._guess(True))
        self.well.on_click(lambda _: self._guess(False))
        self.run.on_click(self._run)
        self._start()

    def __repr__(self) -> str:
        names = ", ".join(self._offices)
        return say("described", offices=names, seed=self.seed.value, plan=self.plan.value)

    def _start(self, _: Any = None) -> None:
        self._played: dict[str, list[bool]] = {name: [] for name in self._offices}
        self._asked = dict.fromkeys(self._offices, 1)
        self._most = dict.fromkeys(self._offices, 1)
        self._choose()

    def _next(self, _: Any = None) -> None:
        self.seed.value = (self.seed.value + 1) % (FIELDS["seed"]["high"] + 1)

    def _choose(self, _: Any = None) -> None:
        self.status.value = self.outcome.value = ""
        self._show()

    def _dealt(self) -> game.Rounds:
        name = self.office.value
        number = len(self._played[name])
        return game.deal(
            self._offices[name], [number], seed=self.seed.value, asks=self._asked[name], by_hand=True
        )

    def _round(self) -> game_words.Shown:
        name = self.office.value
        number = len(self._played[name]) + 1
        return game_words.Shown(self._offices[name], self._dealt(), number=number, plan=self.plan.value)

    def _show(self) -> None:
        shown = self._round()
        self.ask.disabled = self.ask_ten.disabled = shown.over or shown.asked >= MOST_ASKS
        self.ill.disabled = self.well.disabled = shown.over
        numbers = "".join(
            f"<div><b style='font-size: 1.6em'>{number}</b><br>{name}</div>"
            for name, number in shown.numbers().items()
        )
        self.shown.value = f"{_bold(shown.title())}{_side_by_side(numbers)}{_paragraph(shown.answers())}"
        self.scores.value = _side_by_side("".join(map(self._card, self._offices)))

    def _ask(self, times: int) -> None:
        name = self.office.value
        self._asked[name] = min(self._asked[name] + times, MOST_ASKS)
        self._show()
        self.status.value = escape(self._round().after_asking())

    def _guess(self, ill: bool) -> None:
        name = self.office.value
        if len(self._played[name]) >= self.plan.value:
            return
        present = bool(self._dealt().present[0])
        self._played[name].append(ill == present)
        if self._offices[name].fresh:
            self._most[name] = max(self._most[name], self._asked[name])
        self._asked[name] = 1
        self._show()
        self.status.value = escape(self._round().after_guessing(right=ill == present, present=present))

    def _card(self, name: str) -> str:
        played, asks, office = self._played[name], self._most[name], self._offices[name]
        score = game.score(sum(played), len(played))
        title = say("office", office=name)
        return _card(title, office, score, game_words.promise(office, asks), asks=asks, plan=self.plan.value)

    def _run(self, _: Any = None) -> None:
        office, rounds, threshold = self._offices[self.office.value], self.rounds.value, self.threshold.value
        asks = self.asks.value if office.fresh else 1
        right = game.play(office, seed=self.seed.value, rounds=rounds, asks=asks, threshold=threshold)
        shown = {"office": office.name, "threshold": game_words.signed(threshold), "asks": self.asks.value}
        exactly = game_words.exactly(office, threshold, self.asks.value)
        score = game.score(sum(right), rounds)
        self.outcome.value = _card(
            say("strategy_title", **shown), office, score, exactly, asks=asks, plan=rounds
        )


def _field(kind: Any, name: str, **options: Any) -> Any:
    """A control with the label, the range and the default of a field, unless told otherwise."""
    field = FIELDS[name]
    names = {"default": "value", "low": "min", "high": "max", "step": "step", "choices": "options"}
    known = {names[key]: value for key, value in field.items() if key in names}
    style = {"description_width": "max-content"}
    return kind(description=field["label"], style=style, **known | options)


def _button(name: str) -> widgets.Button:
    return widgets.Button(description=say(name))


def _bold(text: str) -> str:
    return f"<b>{escape(text)}</b>"


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _side_by_side(parts: str) -> str:
    return f'<div style="display: flex; flex-wrap: wrap; gap: 0 2em">{parts}</div>'


def _card(title: str, office: Office, score: game.Score, last: str, *, asks: int, plan: int) -> str:
    """The score against an office: its picture, and in words what it says."""
    bound = office.bound(asks)
    said = [game_words.score(score)] * (score.rounds > 0)
    said += [game_words.sentence(score, bound=bound, plan=plan), last]
    picture = game_words.bar(score, bound=bound, best=office.best(asks))
    style = "flex: 1 1 18em; max-width: 26em; line-height: 1.4"
    return f'<div style="{style}">{_bold(title)}{picture}{"".join(map(_paragraph, said))}</div>'
