"""The differencing game to play in a notebook: three offices, a score, and a rule that plays by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets

from compendium.course import game_page
from compendium.studies import game
from compendium.studies.game import Office


class Game(widgets.VBox):  # type: ignore[misc]
    """One game with a seed and a plan. Every shown thing is the value of a widget."""

    def __init__(self, offices: Mapping[str, Office], *, seed: int = game_page.SEED, plan: int = 20) -> None:
        self._offices = dict(offices)
        names = [(f"the {name} office {game_page.SAYS[name]}", name) for name in self._offices]
        self.seed = widgets.BoundedIntText(value=seed, min=0, max=2**32 - 1, description="seed")
        self.plan = widgets.Dropdown(options=game_page.PLANS, value=plan, description="rounds")
        self.office = widgets.Dropdown(options=names, layout={"width": "max-content"})
        self.shown, self.result, self.scores, self.outcome = (widgets.HTML() for _ in range(4))
        self.ask, self.ask_ten = _button("Ask again"), _button("Ask ten times")
        self.ill, self.well = _button("Guess ill"), _button("Guess not ill")
        self.threshold = widgets.FloatSlider(
            value=2, min=game_page.THRESHOLDS[0], max=game_page.THRESHOLDS[-1], step=0.5, description="t"
        )
        self.asks = widgets.IntSlider(value=1, min=1, max=game_page.MOST_ASKS, description="answers")
        self.rounds = widgets.Dropdown(options=game_page.ROUNDS, value=1000, description="rounds")
        self.run = _button("Play the rule")
        super().__init__(
            [
                widgets.HBox([self.seed, self.plan]),
                self.office,
                self.shown,
                widgets.HBox([self.ask, self.ask_ten, self.ill, self.well]),
                self.result,
                self.scores,
                widgets.HTML(
                    "A rule: guess ill when the difference, on average over all answers, is at least t."
                ),
                widgets.HBox([self.threshold, self.asks]),
                widgets.HBox([self.rounds, self.run]),
                self.outcome,
            ]
        )
        self.seed.observe(self._start, "value")
        self.plan.observe(self._start, "value")
        self.office.observe(self._choose, "value")
        self.ask.on_click(lambda _: self._ask(1))
        self.ask_ten.on_click(lambda _: self._ask(10))
        self.ill.on_click(lambda _: self._guess(True))
        self.well.on_click(lambda _: self._guess(False))
        self.run.on_click(self._run)
        self._start()

    def __repr__(self) -> str:
        names = ", ".join(self._offices)
        return f"a game against these offices: {names}; seed {self.seed.value}, {self.plan.value} rounds each"

    def _start(self, _: Any = None) -> None:
        self._played: dict[str, list[bool]] = {name: [] for name in self._offices}
        self._asked = dict.fromkeys(self._offices, 1)
        self._most = dict.fromkeys(self._offices, 1)
        self._choose()

    def _choose(self, _: Any = None) -> None:
        self.result.value = self.outcome.value = ""
        self._show()

    def _dealt(self) -> game.Rounds:
        name = self.office.value
        number = len(self._played[name])
        return game.deal(
            self._offices[name], [number], seed=self.seed.value, asks=self._asked[name], by_hand=True
        )

    def _show(self) -> None:
        name = self.office.value
        number, dealt = len(self._played[name]), self._dealt()
        over = number >= self.plan.value
        for button in (self.ask, self.ask_ten, self.ill, self.well):
            button.disabled = over
        differences = dealt.differences[0].tolist()
        others, more = int(dealt.others[0]), ""
        if len(differences) > 1:
            listed, mean = " ".join(f"{z:+d}" for z in differences), sum(differences) / len(differences)
            more = f" ({len(differences)} answers: {listed}; on average {mean:+.2f})"
        self.shown.value = (
            f"All {self.plan.value} rounds of this office are played."
            if over
            else f"<b>Round {number + 1} of {self.plan.value}.</b> Others with the illness: {others}. "
            f"Published: <b>{others + differences[-1]}</b>. Difference: <b>{differences[-1]:+d}</b>{more}."
        )
        cards = "".join(map(self._card, self._offices))
        self.scores.value = f'<div style="display: flex; flex-wrap: wrap; gap: 0 2em">{cards}</div>'

    def _ask(self, times: int) -> None:
        name = self.office.value
        self._asked[name] = min(self._asked[name] + times, game_page.MOST_ASKS)
        self._show()

    def _guess(self, ill: bool) -> None:
        name = self.office.value
        if len(self._played[name]) >= self.plan.value:
            return
        present = bool(self._dealt().present[0])
        self._played[name].append(ill == present)
        if self._offices[name].fresh:
            self._most[name] = max(self._most[name], self._asked[name])
        self._asked[name] = 1
        verdict = "Right" if ill == present else "Wrong"
        self.result.value = f"{verdict}: the dentist was {'ill' if present else 'not ill'}."
        self._show()

    def _card(self, name: str) -> str:
        played = self._played[name]
        found = game.score(sum(played), len(played))
        title = f"The {name} office"
        return game_page.card(title, self._offices[name], found, asks=self._most[name], plan=self.plan.value)

    def _run(self, _: Any = None) -> None:
        office, rounds, threshold = self._offices[self.office.value], self.rounds.value, self.threshold.value
        asks = self.asks.value if office.fresh else 1
        right = game.play(office, seed=self.seed.value, rounds=rounds, asks=asks, threshold=threshold)
        answers = game_page.counted(self.asks.value, "answer")
        title = f"The {office.name} office, t = {threshold:+g}, {answers} a round"
        exact = f"<p>Exactly: {game_page.percent(office.rate(threshold, asks))} with this t.</p>"
        found = game.score(sum(right), rounds)
        self.outcome.value = game_page.card(title, office, found, asks=asks, plan=rounds) + exact


def _button(words: str) -> widgets.Button:
    return widgets.Button(description=words)
