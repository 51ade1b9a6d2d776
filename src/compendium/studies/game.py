"""The differencing game: is the dentist among those who are counted? The rules, without pictures or buttons.

The attacker knows how many others of a cell are counted, from elsewhere, and the office publishes the count
with the dentist's answer in it: the published number alone depends on the dentist. So the promise for a round
is the (ε, δ) of one count, or of the composition of as many fresh answers as were asked for. Were the others
known from a second published count only, its noise would be the dentist's gain; unless both counts share
their noise whenever they count the same people, as cell keys make them (`guesses.unequal`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from compendium.studies import guesses, phrases
from tablebuilder_dp import design, sampling
from tablebuilder_dp.beyond import composition, symmetric
from tablebuilder_dp.counts import perturbation_table as perturbation
from tablebuilder_dp.counts.perturbation_table import PerturbationTable
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.sampling import LookupTable
from tablebuilder_dp.support import lattice, parameters

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Words = NDArray[np.uint32]

WORDS = phrases.read("game")
FIELDS = WORDS["fields"]
OPEN, CARELESS, CAREFUL = NAMES = ("open", "careless", "careful")
KEYSIZE = 2**32
COIN, OTHERS, ANSWERS = range(3)
"""What a round draws: the coin, the others, and from then on the keys of its answers."""


@dataclass(frozen=True)
class Office:
    """How an office answers: its perturbation table, the promise at one ε, and the noise if drawn afresh."""

    name: str
    table: PerturbationTable
    epsilon: float
    promised: float
    noise: Noise | None = None

    @property
    def fresh(self) -> bool:
        """Whether the same question gets new noise."""
        return self.noise is not None

    @property
    def least(self) -> int:
        """The fewest others in a round: enough for the noise of large counts."""
        return max(40, self.table.support)

    def delta(self, asks: int = 1) -> float:
        """δ at the office's ε, of all answers to one question together."""
        return self.promised if self.noise is None else _composed(self.noise, self.epsilon, asks)

    def bound(self, asks: int = 1) -> float:
        """What (ε, δ) alone promises: no attacker is right more often, up to the rounding of `best`."""
        return guesses.promised(self.epsilon, self.delta(asks))

    def best(self, asks: int = 1) -> float:
        """How often the best guess from these answers is right: half of 1 + their total variation.

        Fresh answers are composed before they are rounded to keys, which moves the rate by less than
        (2D + 1)/2³³ for each.
        """
        if self.noise is None:
            return float(guesses.verdicts(self.table).right[-1])
        return (1 + _composed(self.noise, 0, asks)) / 2

    def rate(self, threshold: float, asks: int = 1) -> float:
        """How often it is right to guess "counted" from a mean difference of at least t.

        With T the sum of k noises that is right with probability (1 + P(tk − k ≤ T < tk))/2.
        """
        terms = asks if self.fresh else 1
        row = self.table.rows[-1]
        masses = lattice.power(np.array(row.weights) / row.keysize, terms)
        low, high = (
            max(math.ceil(edge * terms) + terms * row.support, 0) for edge in (threshold - 1, threshold)
        )
        return (1 + float(masses[low:high].sum())) / 2


def _composed(noise: Noise, epsilon: float, asks: int) -> float:
    return float(composition.delta(noise, epsilon, cells=asks))


def offices(
    epsilon: parameters.Number = "0.5",
    delta: parameters.Number = "1e-4",
    *,
    support: int = 11,
    variance: parameters.Number = 4,
) -> dict[str, Office]:
    """The three offices: the careful one has the design for (ε, δ), the careless one another noise.

    >>> [(name, round(office.bound(), 4), round(office.best(), 4)) for name, office in offices().items()]
    [('open', 1.0, 1.0), ('careless', 0.6428, 0.5997), ('careful', 0.6225, 0.5284)]
    """
    level, promised = float(parameters.epsilon(epsilon)), float(parameters.delta(delta))
    plain = PerturbationTable((LookupTable(KEYSIZE, (0, KEYSIZE, KEYSIZE)),))
    given = perturbation.guarantee(plain, first=0, epsilon=epsilon).delta
    small = Noise.of_variance(support, variance)
    little = perturbation.build(small, keysize=KEYSIZE, small_counts="clamped")
    noise = design.guide(epsilon, delta)
    careful = perturbation.build(
        noise, keysize=KEYSIZE, small_counts="clamped", rule=symmetric.rule(noise.epsilon)
    )
    if perturbation.guarantee(careful, first=0, epsilon=noise.epsilon).delta > promised:
        raise parameters.wrong_value("delta", f"one that {KEYSIZE} keys can keep", delta)
    trio = (
        Office(OPEN, plain, level, given),
        Office(CARELESS, little, level, math.nan, small),
        Office(CAREFUL, careful, level, promised),
    )
    return {office.name: office for office in trio}


class Rounds(NamedTuple):
    """Rounds of a game: the others, the coin, and what each answer has more than the others."""

    others: Integers
    present: Flags
    differences: Integers


def deal(
    office: Office, numbers: Sequence[int], *, seed: int, asks: int = 1, by_hand: bool = False
) -> Rounds:
    """Some rounds of the game with a seed; those played by hand and by a strategy have coins of their own.

    Each office has its own coins too: what the open one gives away is no help with the others.

    >>> deal(offices()["careful"], range(3), seed=18, asks=2, by_hand=True).differences.tolist()
    [[2, 2], [-1, -1], [2, 2]]
    """
    start = parameters.integer(seed, "seed", low=0, high=FIELDS["seed"]["high"])
    many = parameters.integer(asks, "asks", low=1, high=10_000)
    stream = NAMES.index(office.name) + (0 if by_hand else len(NAMES))
    places = np.asarray(numbers, dtype=np.uint32)
    others = office.least + (draws(start, stream, places, OTHERS).astype(np.int64) * 100 >> 32)
    present = draws(start, stream, places, COIN) >= 2**31
    slots = np.arange(ANSWERS, ANSWERS + many, dtype=np.uint32) if office.fresh else np.full(many, ANSWERS)
    keys = draws(start, stream, places[:, None], slots)
    return Rounds(others, present, present[:, None] + sampling.sample(office.table.rows[-1], keys))


def draws(seed: int, stream: int, number: Any, slot: Any) -> Words:
    """32 bits for each place of a game: the same in the web page, in any order of asking.

    >>> draws(18, 0, [0, 1], 0).tolist()
    [3170036253, 3508346199]
    """
    state = np.full(1, seed, dtype=np.uint32)
    for word in (0, stream, number, slot):
        state = _mixed(state + np.asarray(word, dtype=np.uint32) * np.uint32(0x9E3779B9))
    return state


def _mixed(words: Words) -> Words:
    """A permutation of the 32-bit words that lets every bit of one act on every bit of its image."""
    words = (words ^ words >> np.uint32(16)) * np.uint32(0x21F0AAAD)
    words = (words ^ words >> np.uint32(15)) * np.uint32(0x735A2D97)
    return words ^ words >> np.uint32(15)


def guess(office: Office, differences: Integers, threshold: float | None = None) -> Flags:
    """Guess "counted" from a mean difference of at least t; without t, by the best rule there is.

    That is: more than one half on average, unless an answer can occur in one world only.
    """
    answers = differences if office.fresh else differences[:, :1]
    total, asks = answers.sum(axis=1), answers.shape[1]
    if threshold is not None:
        return np.asarray(total >= threshold * asks)
    support = office.table.support
    proved, excluded = answers.max(axis=1) > support, answers.min(axis=1) == -support
    return np.asarray(proved | (2 * total > asks) & ~excluded)


class Score(NamedTuple):
    """Rounds, those that were right, and the exact 95% interval of Clopper and Pearson for the rate."""

    rounds: int
    right: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        """The share of right guesses; one half where there is none yet."""
        return self.right / self.rounds if self.rounds else 0.5


def score(right: int, rounds: int) -> Score:
    """Right guesses among a number of rounds, with their interval.

    >>> score(15, 20)
    Score(rounds=20, right=15, low=0.5089..., high=0.9134...)
    """
    if not rounds:
        return Score(0, 0, 0.0, 1.0)
    interval = binomtest(right, rounds).proportion_ci(confidence_level=0.95, method="exact")
    return Score(rounds, right, float(interval.low), float(interval.high))


def play(
    office: Office, *, seed: int, rounds: int, asks: int = 1, threshold: float | None = None
) -> list[bool]:
    """Whether the guesses of a strategy were right, round by round.

    >>> all(play(offices()["open"], seed=18, rounds=50))
    True
    """
    dealt = deal(office, range(rounds), seed=seed, asks=asks)
    return [bool(right) for right in guess(office, dealt.differences, threshold) == dealt.present]
