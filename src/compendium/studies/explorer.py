"""One design and its lookup table, seen at once: what the explorer's widgets and its page show.

A methodologist chooses ε, δ, D, slack, KEYSIZE and the rounding rule; out come the smallest support, the
noise, its plateau, the lookup table and what the table keeps of the promise. Every number is an exact
rational or an enclosure, so its ten digits are right, and `site/static/explorer-core.js`, which computes
the same in a browser, must write the same texts. What can be chosen stands in ``explorer.toml``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from compendium.studies import phrases
from tablebuilder_dp import certified, design, privacy, sampling
from tablebuilder_dp.beyond import chain, symmetric
from tablebuilder_dp.certified import Excess
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import Ball, Enclosure, below, exponential, to_digits

DIGITS = 10
"""Significant digits of every number that is not a whole one."""

WORDS = phrases.read("explorer")
FIELDS = WORDS["fields"]
LIMITS = {name: (FIELDS[name]["low"], FIELDS[name]["high"]) for name in ("epsilon", "delta", "slack")}
"""The smallest and the largest number that each setting may be."""

NUMBER = re.compile(r"[+-]?(?=\.?[0-9])[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]{1,3})?")
"""What may be typed as a decimal number, here and on the page."""

SUPPORT_MAX = int(FIELDS["support"]["high"])
STEPS = 150
"""A curve has this many steps of ε/100."""


def say(name: str, /, **values: object) -> str:
    """A sentence of the explorer, with values in its places."""
    return phrases.fill((WORDS["say"] | WORDS["notebook"])[name], **values)


class RefusalError(ValueError):
    """Settings that have no answer: a sentence, and the fields to change."""

    def __init__(self, sentence: str, *fields: str) -> None:
        super().__init__(sentence)
        self.fields = fields


@dataclass(frozen=True)
class Settings:
    """What can be chosen. Decimals are exact, as text or as floats; a support of None means D*.

    >>> Settings(epsilon="-1")
    Traceback (most recent call last):
    ...
    ValueError: epsilon must be a number from 0.01 to 20, got '-1'
    """

    epsilon: parameters.Number = FIELDS["epsilon"]["default"]
    delta: parameters.Number = FIELDS["delta"]["default"]
    slack: parameters.Number = FIELDS["slack"]["default"]
    support: int | None = None
    keysize: int = parameters.read_keysize(FIELDS["keysize"]["default"])
    rule: str = FIELDS["rule"]["default"]

    def __post_init__(self) -> None:
        for name, (low, high) in LIMITS.items():
            value, allowed = getattr(self, name), f"a number from {low} to {high}"
            exact = parameters.number(value, name, includes="low", allowed=allowed)
            if not Fraction(low) <= exact <= Fraction(high):
                raise parameters.wrong_value(name, allowed, value)
        if self.support is not None:
            parameters.integer(self.support, "support", low=1, high=SUPPORT_MAX)
        parameters.keysize(self.keysize)
        if self.rule not in symmetric.RULES:
            raise parameters.wrong_value("rule", " or ".join(symmetric.RULES), self.rule)


def read(texts: Mapping[str, str]) -> Settings:
    """The settings as they are typed, or as the page's address has them; what is missing is the default.

    What the page refuses is refused here too, so that every address made here opens there.

    >>> read({"epsilon": "1", "support": "auto", "keysize": "2^16"})
    Settings(epsilon='1', delta='1e-4', slack='0.1', support=None, keysize=65536, rule='ceiling')
    """
    names = [field.name for field in fields(Settings)]
    for name in texts:
        if name not in names:
            raise parameters.wrong_value("a setting", f"one of {', '.join(names)}", name)
    return Settings(**{name: _read(name, text.strip()) for name, text in texts.items()})


def _read(name: str, typed: str) -> Any:
    """One setting as it is typed."""
    try:
        value: Any = typed
        if name == "support":
            value = None if typed == "auto" else parameters.read_integer(typed, name)
        elif name == "keysize":
            value = parameters.read_keysize(typed)
        elif name in LIMITS and not (NUMBER.fullmatch(typed) and len(typed) <= WORDS["characters"]):
            raise ValueError(typed)
        Settings(**{name: value})
    except ValueError:
        sentence = phrases.fill(FIELDS[name]["refused"], **FIELDS[name])
        hint = _hint(typed) if name in LIMITS else ""
        raise RefusalError(f"{sentence} {hint}".strip(), name) from None
    return value


def _hint(typed: str) -> str:
    """How to write a number that was not understood."""
    if len(typed) > WORDS["characters"]:
        return say("too_long", **WORDS)
    if "," in typed:
        return say("comma")
    if not NUMBER.fullmatch(typed):
        return say("write_like")
    return say("too_tiny", **WORDS) if 0 < Fraction(typed) < Fraction(WORDS["tiny"]) else ""


@dataclass(frozen=True)
class Explored:
    """A design by Proposition 3, its lookup table, and how the two stand to the wanted (ε, δ).

    ``delta`` and ``variance`` are the noise's own; ``delta_table`` is the table's δ at ε, the larger of
    both directions. ``noise_keeps`` and ``table_keeps`` say whether these two are within the wanted δ,
    ``table_keeps_noise`` whether the table's is within the noise's.
    """

    settings: Settings
    best_support: int
    design: design.Design
    table: sampling.LookupTable
    after: sampling.AfterSampling
    variance: Enclosure
    delta: Enclosure
    delta_table: Enclosure
    noise_keeps: bool
    table_keeps: bool
    table_keeps_noise: bool

    @property
    def support(self) -> int:
        """D."""
        return self.design.support

    @property
    def gamma(self) -> Fraction:
        """γ, exactly."""
        return self.design.gamma

    @property
    def plateau_onset(self) -> Fraction:
        """γ(2D − 1): from this ε on the noise's δ stays at p(D), which is ``delta``."""
        return self.gamma * (2 * self.support - 1)

    @property
    def pmf(self) -> NDArray[np.float64]:
        """p(−D), …, p(D)."""
        return self.design.pmf

    @property
    def keeps_epsilon(self) -> bool:
        """Whether the two-sided ε^Q is at most ε."""
        return symmetric.keeps_epsilon(self.table, self.design.epsilon)


def explore(settings: Settings) -> Explored:
    """Everything that follows from the settings.

    Settings that have no answer raise a RefusalError; the symmetric rule's search for the nearest table,
    where it grows too large, raises an ArithmeticError.

    >>> explored = explore(Settings())
    >>> explored.support, explored.table_keeps, explored.after.epsilon_two_sided
    (25, True, 0.498039...)
    """
    target = parameters.delta(settings.delta)
    best = design.guide(settings.epsilon, target, slack=settings.slack)
    if settings.support is None and best.support > SUPPORT_MAX:
        raise RefusalError(say("support_beyond", best=best.support, high=SUPPORT_MAX), "epsilon", "delta")
    support = settings.support or best.support
    made = design.proposition_3(settings.epsilon, support=support, slack=settings.slack)
    table = _table(settings, made)
    excess = _excess(table, made.epsilon)
    # Without e^ε it is a fraction, which may lie half-way between two texts, where no enclosure decides.
    whole = Fraction(excess.ours, table.keysize)
    exact = Enclosure(whole, whole) if excess.theirs == 0 else None

    def delta_table() -> Ball:
        return excess.ball(made.epsilon) / table.keysize

    def beyond_noise() -> Ball:
        return delta_table() - certified.delta_ball(made, made.epsilon)

    return Explored(
        settings=settings,
        best_support=best.support,
        design=made,
        table=table,
        after=sampling.after_sampling(table),
        variance=certified.variance(made),
        delta=certified.delta(made, made.epsilon),
        delta_table=exact or to_digits(certified.DIGITS, delta_table),
        noise_keeps=certified.edge_reaches(made, target),
        table_keeps=not _above(excess, target * table.keysize, made.epsilon),
        table_keeps_noise=below(Fraction(0), beyond_noise),
    )


def _table(settings: Settings, made: design.Design) -> sampling.LookupTable:
    if settings.rule == "symmetric" and not symmetric.has_table(
        made.epsilon, support=made.support, keysize=settings.keysize
    ):
        values = 2 * made.support + 1
        least = values * chain.least_growing(made.epsilon)
        raise RefusalError(say("keys_for_symmetric", values=values, least=least), "keysize", "rule")
    rule = symmetric.rule(made.epsilon, name=settings.rule)
    try:
        return sampling.lookup_table(made, keysize=settings.keysize, rule=rule)
    except ArithmeticError as error:
        raise ArithmeticError(say("search")) from error


def _above(excess: Excess, bound: Fraction, epsilon: Fraction) -> bool:
    """Decide ours − e^ε·theirs > bound; e^ε is irrational, so only theirs = 0 allows equality."""
    if excess.theirs == 0:
        return excess.ours > bound
    ratio = (excess.ours - bound) / excess.theirs
    return below(ratio, lambda: exponential(epsilon)) == (excess.theirs > 0)


def _excess(table: sampling.LookupTable, epsilon: Fraction) -> Excess:
    """The keys ours − e^ε·theirs by which one count's outcomes exceed a neighbour's, the larger direction."""
    smaller, larger = (*table.weights, 0), (0, *table.weights)
    forward, backward = (certified.excess(*both, epsilon) for both in ((smaller, larger), (larger, smaller)))
    difference = Excess(backward.ours - forward.ours, backward.theirs - forward.theirs)
    return backward if _above(difference, Fraction(0), epsilon) else forward


def numbers(explored: Explored) -> dict[str, str]:
    """Every number that the explorer shows, as text.

    >>> numbers(explore(Settings(keysize=2**16)))["epsilon_two_sided"]
    '0.6061358036'
    """
    table, after = explored.table, explored.after
    pairs = list(pairwise(table.weights))
    rises = max(sampling.ratio(later, earlier) for earlier, later in pairs)
    falls = max(sampling.ratio(earlier, later) for earlier, later in pairs)
    return {
        "best_support": str(explored.best_support),
        "support": str(explored.support),
        "gamma": text(explored.gamma),
        "variance": text(explored.variance),
        "delta": text(explored.delta),
        "plateau_onset": text(explored.plateau_onset),
        "keysize": str(table.keysize),
        "lost": str(len(table.lost)),
        "lost_values": ranges(table.lost),
        "bias": text(after.bias),
        "variance_table": text(after.variance),
        "delta_q": text(after.delta),
        "delta_table": text(explored.delta_table),
        "epsilon_one_sided": _logarithm(rises),
        "epsilon_two_sided": _logarithm(max(rises, falls)),
        "epsilon_smallest": _logarithm(sampling.growth(table)),
    }


def _logarithm(ratio: Fraction | float) -> str:
    if ratio == math.inf:
        return "∞"
    return "0" if ratio <= 1 else text(certified.logarithm(Fraction(ratio)))


def text(value: Fraction | Enclosure) -> str:
    """A number with ten digits, rounded half to even: plain from 1e-4 to 1e6, else with an exponent.

    >>> text(Fraction(1, 8)), text(Fraction(-2, 3 * 10**5)), text(Fraction(0))
    ('0.1250000000', '-6.666666667e-06', '0')
    """
    if value == Fraction(0):
        return "0"
    with localcontext(prec=DIGITS):
        if isinstance(value, Enclosure):
            rounded = Decimal(value.digits(DIGITS))
        else:
            rounded = Decimal(value.numerator) / value.denominator
    power = rounded.adjusted()
    return f"{rounded:.{DIGITS - 1 - power}f}" if -4 <= power < 6 else _scientific(rounded)


def _scientific(value: Decimal) -> str:
    mantissa, power = f"{value:.{DIGITS - 1}e}".split("e")
    return f"{mantissa}e{int(power):+03d}"


def ranges(values: Iterable[int]) -> str:
    """Rising whole numbers, those in a row as one range.

    >>> ranges([-9, -8, -7, 4, 9]), ranges([])
    ('-9 to -7, 4, 9', 'none')
    """
    runs: list[list[int]] = []
    for value in values:
        if runs and runs[-1][1] == value - 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    return ", ".join(str(low) if low == high else f"{low} to {high}" for low, high in runs) or "none"


class Curve(NamedTuple):
    """δ of the noise and of its table, the larger of both directions, for ε from 0 to 3/2 of the wanted."""

    epsilon: NDArray[np.float64]
    noise: NDArray[np.float64]
    table: NDArray[np.float64]


def curve(explored: Explored) -> Curve:
    """The (ε, δ) curves for a picture, in float64, where nothing below 1e-300 is right.

    >>> curve(explore(Settings())).noise[[0, 50, 100, 150]].round(7)
    array([5.68955e-02, 2.62580e-03, 9.91000e-05, 9.91000e-05])
    """
    levels = np.arange(STEPS + 1) * float(explored.design.epsilon) / 100
    weights = np.array(explored.table.weights, dtype=np.float64) / explored.table.keysize
    sides = (privacy.neighbours(explored.pmf), privacy.neighbours(weights))
    deltas = ([max(privacy.hockey_stick(*side, float(level))) for level in levels] for side in sides)
    return Curve(levels, *map(np.array, deltas))


def csv(explored: Explored) -> str:
    """The lookup table as CSV: the noise, how many keys give it, and the cut that its keys stay below.

    >>> csv(explore(Settings(support=1, keysize=256))).splitlines()
    ['noise,keys,cut', '-1,72,72', '0,113,185', '1,71,256']
    """
    table = explored.table
    rows = zip(range(-table.support, table.support + 1), table.weights, table.cuts, strict=True)
    return "".join(f"{','.join(map(str, row))}\n" for row in (("noise", "keys", "cut"), *rows))
