"""What the differencing game says of rounds and scores.

The words are those of ``game.toml``. Which of them are said is decided here, and for the page in
`site/static/game-rules.js` and `game.js`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from compendium.studies import phrases
from compendium.studies.game import FIELDS, WORDS, Office, Rounds, Score

MOST_ASKS: int = FIELDS["asks"]["high"]


def say(name: str, /, **values: object) -> str:
    """A sentence of the game, with values in its places."""
    return phrases.fill((WORDS["say"] | WORDS["notebook"])[name], **values)


def thresholds() -> list[float]:
    """Every t that can be chosen."""
    low, high, step = (FIELDS["threshold"][end] for end in ("low", "high", "step"))
    return [low + step * i for i in range(round((high - low) / step) + 1)]


def digits(value: float) -> float:
    """Twelve digits, on which all machines and the page agree."""
    return float(f"{value:.12g}")


def percent(share: float) -> str:
    r"""A share to a tenth of a per cent, ties upwards.

    >>> percent(0.0625)
    '6.3%'
    """
    return f"{math.floor(1000 * share + 0.5) / 10:.1f}%"


def signed(value: float) -> str:
    """A number with its sign.

    >>> signed(2), signed(-0.5), signed(0)
    ('+2', '−0.5', '0')
    """
    return f"{value:+g}".replace("-", "−") if value else "0"


def mean(differences: Sequence[int]) -> str:
    """The mean to hundredths, ties away from 0.

    >>> mean([1, 0, 0, 0, 0, 0, 0, 0]), mean([-1, 0, 0])
    ('+0.13', '−0.33')
    """
    total, count = sum(differences), len(differences)
    size = (200 * abs(total) + count) // (2 * count)
    return signed(math.copysign(size / 100, total))


# --- A round ------------------------------------------------------------------------------------


class Shown:
    """A round as it is shown: its title, its three numbers and what was asked; or that all are played."""

    def __init__(self, office: Office, dealt: Rounds, *, number: int, plan: int) -> None:
        self.office, self.others = office, int(dealt.others[0])
        self.differences: list[int] = dealt.differences[0].tolist()
        self.number, self.plan, self.asked = number, plan, len(self.differences)

    @property
    def over(self) -> bool:
        """Whether all rounds are played."""
        return self.number > self.plan

    @property
    def published(self) -> int:
        """The last answer."""
        return self.others + self.differences[-1]

    def title(self) -> str:
        """Which round it is."""
        values = {"office": self.office.name, "number": self.number, "plan": self.plan}
        return say("over" if self.over else "round", **values)

    def numbers(self) -> dict[str, str]:
        """What the attacker knows, what is published, and the difference, by their names."""
        values = (str(self.others), str(self.published), signed(self.differences[-1]))
        names = (say("others"), say("published"), say("difference"))
        return {name: say("none") if self.over else value for name, value in zip(names, values, strict=True)}

    def answers(self) -> str:
        """What was asked, and what it gave."""
        if self.over:
            return say("choose")
        if self.asked == 1:
            return say("asked_once")
        if not self.office.fresh:
            return say("asked_same", asked=self.asked)
        listed = " ".join(map(signed, self.differences))
        return say("asked_fresh", asked=self.asked, differences=listed, mean=mean(self.differences))

    def after_asking(self) -> str:
        """What is said of the last answer."""
        kind = "answer_fresh" if self.office.fresh else "answer_same"
        said = say(kind, asked=self.asked, published=self.published)
        return said if self.asked < MOST_ASKS else f"{said} {say('no_more', most=MOST_ASKS)}"

    def after_guessing(self, *, right: bool, present: bool) -> str:
        """What is said of a guess in the round before this one."""
        said = say("right" if right else "wrong", state=say("ill" if present else "well"))
        if self.over:
            return f"{said} {say('all_played', plan=self.plan)}"
        return f"{said} {say('now', number=self.number, others=self.others, published=self.published)}"


# --- A score ------------------------------------------------------------------------------------


def score(result: Score) -> str:
    """A rate with its interval."""
    shares = {"rate": percent(result.rate), "low": percent(result.low), "high": percent(result.high)}
    return say("score", right=result.right, rounds=result.rounds, **shares)


def sentence(result: Score, *, bound: float, plan: int) -> str:
    """What a score says about the bound, in plain words.

    >>> from compendium.studies.game import score
    >>> sentence(score(12, 20), bound=0.6225, plan=20)
    'The interval contains one half: ... After 20 rounds the interval still contains the bound of ...'
    """
    if not result.rounds:
        return say("nothing_played")
    coin = "better" if result.low > 0.5 else "worse" if result.high < 0.5 else "coin"
    side = "below" if result.high < bound else "above" if result.low > bound else "contains"
    kinds = ["partly"] * (result.rounds < plan) + [coin, "nothing" if bound == 1 else side]
    return " ".join(say(kind, rounds=result.rounds, plan=plan, bound=percent(bound)) for kind in kinds)


def delta(office: Office, asks: int) -> str:
    """δ of this many answers together, to three digits."""
    return f"{office.delta(asks):.3g}"


def promise(office: Office, asks: int) -> str:
    """What an office promises, or can promise, for this many answers."""
    shown = delta(office, asks)
    kind = "promise_none" if shown == "1" else "promise_fresh" if office.fresh else "promise_same"
    return say(kind, asks=asks, pair=say("pair", epsilon=f"{office.epsilon:g}", delta=shown))


def exactly(office: Office, threshold: float, asks: int) -> str:
    """How often a rule is right, and how often the best one is."""
    answers = asks if office.fresh else 1
    rates = {t: digits(office.rate(t, answers)) for t in thresholds()}
    best = max(rates, key=lambda t: rates[t])
    shown = {"rate": percent(rates[threshold]), "best": signed(best), "best_rate": percent(rates[best])}
    said = say("exactly", **shown)
    return said if answers == asks else f"{said} {say('all_same')}"


def bar(result: Score, *, bound: float, best: float) -> str:
    """A score on a line from 0 to 100%, beside the best possible rate and the bound, as SVG."""
    shares = {"low": result.low, "high": result.high, "rate": result.rate, "best": best, "bound": bound}
    values = {f"{name}_share": percent(share) for name, share in shares.items()}
    label = say("line_score" if result.rounds else "line", **values)
    values |= {name: f"{10 + 300 * share:.1f}" for name, share in shares.items()}
    values |= {f"{name}_anchor": "end" if shares[name] > 0.7 else "middle" for name in ("best", "bound")}
    return say("bar", **values, label=label, shown=int(result.rounds > 0))
