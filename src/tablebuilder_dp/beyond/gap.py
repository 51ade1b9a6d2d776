"""Where the heuristic of Section III-C is optimal: its gap to the best γ closes at some ε₀(D), for good.

The paper takes γ = ε/(2D − 1), the last of the kinks among which `best_gamma` finds the best γ. For
D ≤ 3 that is the best choice at every ε; for each D ≥ 4 it is the best one if and only if ε is at least some
ε₀(D) > 0. `closing_epsilon` encloses ε₀; `widest` says how wide the gap is before. δ_m is δ at the kink m.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from flint import arb

from tablebuilder_dp import certified
from tablebuilder_dp.beyond import best_gamma
from tablebuilder_dp.certified import Enclosed
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import MAX_DIGITS, Ball, Enclosure, ball, below, exponential, precision

PROVED_FROM = 16
"""From this support on one argument covers all; `closing_proof` covers the smaller ones."""

PROOF_MAX = 40
"""The largest support of `closing_proof`, which takes about four seconds there."""


def closing_epsilon(*, support: int, digits: int = 30) -> Enclosure:
    """ε₀(D): the paper's m = D gives the least δ if and only if ε ≥ ε₀; it is 0 for D ≤ 3.

    For D ≥ 4, ε₀ is the only zero of R = ln(δ_(D−1)/δ_D), it is irrational, and ln(D/3) < ε₀ < 2·ln D. Below
    it δ_(D−1) < δ_D; from it on no kink is better than D. Proof: Lemma 21 and Theorem 22, for 4 ≤ D < 16
    with `closing_proof`.

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> closing_epsilon(support=11).digits(12), closing_epsilon(support=3).digits(1)
    ('2.35677838968', '0')
    """
    half_width = parameters.integer(support, "support", low=1, high=best_gamma.KINKS_MAX)
    wanted = 10 ** parameters.integer(digits, "digits", low=1, high=MAX_DIGITS // 4)
    if half_width <= 3:
        return Enclosure(Fraction(0), Fraction(0))
    if half_width < PROVED_FROM:
        _, low, high, _ = closing_proof(support=half_width)
    else:
        low, high = _bracket(half_width)
    while (high - low) * wanted > low:
        middle = (low + high) / 2
        at = Enclosure(middle, middle)
        is_gap = below(Fraction(1), partial(_ratio, at, half_width, half_width - 1))
        low, high = (middle, high) if is_gap else (low, middle)
    return Enclosure(low, high)


class Proof(NamedTuple):
    """A cover of [start, end] by intervals of ε: up to ``turn`` there is a gap, then it closes for good."""

    start: Fraction
    turn: Fraction
    end: Fraction
    intervals: int


def closing_proof(*, support: int) -> Proof:
    """Prove for one D from 4 to 40, by intervals of ε, that R has one zero and what lies on its two sides.

    The intervals cover [ln(D/3), 2·ln D]. Each is halved until one of two things holds for all of its ε.
    Either R < 0: a gap. Or δ_m > δ_D for all m ≤ D − 2, and R' > 0 or R > 0: here R can go through zero
    upwards only, and no gap is left once it has. All intervals of the first kind must come before those of
    the second. Proof: Theorem 23 (that this is enough).

    Returns the cover. Raises ArithmeticError where intervals of a millionth prove nothing.

    >>> proof = closing_proof(support=4)
    >>> [round(float(end), 3) for end in proof[:3]]
    [0.288, 0.482, 2.773]
    """
    return _proof(parameters.integer(support, "support", low=4, high=PROOF_MAX))


@lru_cache(maxsize=64)  # the same proof serves any number of digits
def _proof(support: int) -> Proof:
    start, end = _bracket(support)
    todo, kinds, turn = [(start, end)], [True], start
    while todo:
        low, high = todo.pop()
        with precision(64):
            is_gap = _is_gap(Enclosure(low, high), support)
        if is_gap is None and high - low > Fraction(1, 10**6):
            todo += [((low + high) / 2, high), (low, (low + high) / 2)]
        elif is_gap is None or is_gap > kinds[-1]:
            raise ArithmeticError(f"no proof that the gap closes once for support {support}")
        else:
            kinds.append(is_gap)
            turn = high if is_gap else turn
    return Proof(start, turn, end, len(kinds) - 1)


def _bracket(support: int) -> tuple[Fraction, Fraction]:
    """Rational ends just outside ln(D/3) and 2·ln D."""
    low, high = (certified.logarithm(Fraction(support, over), digits=6) for over in (3, 1))
    return low.lower, 2 * high.upper


def _is_gap(level: Enclosure, support: int) -> bool | None:
    """Which of the two things of `closing_proof` holds for all ε of an interval; None if neither is seen."""
    last = _ratio(level, support, support - 1)
    if last < 1:
        return True
    closes = all(_ratio(level, support, m) > 1 for m in range(1, support - 1))
    return False if closes and (last > 1 or _slope(level, support) > 0) else None


def _noise(level: Enclosure, support: int, m: int) -> Enclosed:
    """The noises of the kink m for all ε of a range."""
    return Enclosed(support, _times(level, Fraction(1, 2 * m - 1)))


def _times(level: Enclosure, factor: Fraction) -> Enclosure:
    return Enclosure(*sorted((level.lower * factor, level.upper * factor)))


def _ratio(level: Enclosure, support: int, m: int) -> Ball:
    """δ_m/δ_D of `closing_epsilon` for all ε of a range, at the working precision."""
    width = 2 * m - 1
    power = Fraction(support**2, 2 * support - 1) - Fraction(m**2, width)
    steps = (Fraction(-j * (2 * m + j), width) for j in range(1, support - m + 1))
    beyond = sum((exponential(_times(level, step)) for step in steps), arb(0))
    share = 1 - (exponential(level) - 1) * beyond
    ours, theirs = (certified.moments(_noise(level, support, place), 0)[0] for place in (m, support))
    return exponential(_times(level, power)) * share * theirs / ours


def _slope(level: Enclosure, support: int) -> Ball:
    """R' of `closing_epsilon` for all ε of a range, at the working precision."""
    wide, narrow = 2 * support - 1, 2 * support - 3
    power = Fraction(support**2, wide) - Fraction((support - 1) ** 2, narrow)
    h = Fraction(2, narrow)
    near, far = exponential(_times(level, -h)), exponential(_times(level, -1 - h))
    spreads = []
    for m, width in ((support - 1, narrow), (support, wide)):
        total, second = certified.moments(_noise(level, support, m), 0, 2)
        spreads.append(second / total / width)
    return ball(power) + (ball(h) * near - ball(1 + h) * far) / (1 - near + far) + spreads[0] - spreads[1]


class Widest(NamedTuple):
    """The largest quotient of the paper's δ and the least one, and the ε where it is found."""

    ratio: float
    epsilon: float


def widest(epsilon_max: parameters.Number, *, support: int) -> Widest:
    """How many times the least δ the paper's m = D gives at most, for ε up to ``epsilon_max``.

    It is the largest δ_D/δ_m of all m, and 1 at every ε if D ≤ 3 (Theorem 22). Each quotient is smooth in
    ε, so each is maximised by itself: on 80 values of ε, then between the neighbours of the highest. Float64,
    without a proof that no quotient has a second, higher hump between two of the 80.

    Returns the largest quotient and its ε. Raises ValueError where a δ is below ``privacy.DELTA_MIN``.

    >>> widest(4, support=11)
    Widest(ratio=1.361815..., epsilon=1.242...)
    """
    from scipy.optimize import minimize_scalar  # here, as its import outlasts most uses of the command line

    top = float(parameters.epsilon(epsilon_max))
    half_width = parameters.integer(support, "support", low=1, high=best_gamma.KINKS_MAX)
    if half_width <= 3:
        return Widest(1.0, top)

    def share(level: float, m: int) -> float:
        """δ_m/δ_D."""
        deltas = best_gamma.kinks(level, support=half_width)
        return float(deltas[m - 1] / deltas[-1])

    levels = np.linspace(0, min(top, 2 * math.log(half_width)), 81)  # by (5) the gap is zero beyond
    deltas = np.array([best_gamma.kinks(float(level), support=half_width) for level in levels[1:]])
    peaks = []
    for m, peak in enumerate((deltas[:, :-1] / deltas[:, -1:]).argmin(axis=0) + 1, 1):
        ends = max(levels[peak - 1], levels[1] / 80), levels[min(peak + 1, 80)]
        inside = minimize_scalar(share, bounds=ends, args=(m,), options={"xatol": 1e-9}).x
        peaks += [Widest(1 / share(float(level), m), float(level)) for level in (inside, levels[peak])]
    return max(peaks)
