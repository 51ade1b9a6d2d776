"""The best γ for a given support: what the heuristic of Section III-C leaves on the table, exactly.

For fixed D and ε the least δ over all γ > 0 is attained at a kink γ = ε/(2m − 1) with an integer m
from 1 to D (`best`); the paper always takes m = D. With γ free the design guide finds smaller supports
(`guide`). Where the paper's choice is the best one is the subject of `gap`.

Below w_a = e^(−γa²), S = w_(−D) + … + w_D, q = e^ε, κ is the least a ≥ 0 with γ(2a + 1) > ε, and k the
smaller of κ and D. Then δ = N/S with N = w_k − (q − 1)·(w_(k+1) + … + w_D) (Lemma 17).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np

from tablebuilder_dp import certified, design, privacy
from tablebuilder_dp.design import Design
from tablebuilder_dp.noise import Array, Noise
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import MAX_DIGITS, Enclosure, ball, below, exponential, precision

KINKS_MAX = 4000
"""The largest support served here: all its kinks are evaluated, in D² steps."""


EPSILON_MIN = Fraction(1, 10**30)
"""The smallest ε for which kinks, which differ by a part of about ε, are told apart in seconds."""


def _support(value: Any) -> int:
    return parameters.integer(value, "support", low=1, high=KINKS_MAX)


def kinks(epsilon: parameters.Number, *, support: int) -> Array:
    """δ(ε) at γ = ε/(2m − 1) for m = 1, …, D, to a relative 1e-12.

    There N = w_D + Σ w_a·(1 − e^(−2γ(a+1−m))) over m ≤ a < D: nothing cancels. Proof: Lemma 17.

    Raises ValueError where a δ is below ``privacy.DELTA_MIN``.

    >>> kinks("0.5", support=3)
    array([0.20412585, 0.08849321, 0.08191264])
    """
    half_width = _support(support)
    return _representable(_log_deltas(parameters.epsilon(epsilon), half_width, range(1, half_width + 1)))


def _log_deltas(epsilon: Fraction, support: int, places: Any) -> Array:
    """The logarithms of δ at the kinks m in ``places``."""
    z = np.arange(support + 1.0)
    logarithms = []
    for m in np.array_split(np.array(places, dtype=np.float64)[:, None], -(-len(places) * support // 10**6)):
        gamma = float(epsilon) / (2 * m - 1)
        total = 2 * np.exp(-gamma * z**2).sum(axis=1) - 1
        beyond = np.exp(-gamma * np.maximum(z**2 - m**2, 0))  # w_a/w_m, which no tail can underflow
        losses = np.expm1(-2 * gamma * np.maximum(z[:-1] + 1 - m, 0))
        share = beyond[:, -1] - (beyond[:, :-1] * losses).sum(axis=1)
        logarithms.append(np.log(share / total) - (gamma * m**2)[:, 0])
    return np.concatenate(logarithms)


def _representable(logarithms: Array) -> Array:
    if logarithms.min() < math.log(privacy.DELTA_MIN):
        raise ValueError(f"delta is below {privacy.DELTA_MIN}, beyond float64; certified.delta encloses it")
    return np.exp(logarithms)


def kink(chosen: Design) -> int:
    """The m of a noise with γ = ε/(2m − 1).

    Raises ValueError where no integer m from 1 to D gives that γ.

    >>> kink(best("0.5", support=11))
    9
    """
    if not isinstance(chosen, Design):
        raise parameters.wrong_type("chosen", "a Design", chosen)
    place = (chosen.epsilon / chosen.gamma + 1) / 2
    if place.denominator != 1 or not 1 <= place <= chosen.support:
        allowed = "epsilon/(2m - 1) with an integer m from 1 to D"
        raise parameters.wrong_value("gamma", allowed, str(chosen.gamma))
    return int(place)


def _at_kink(epsilon: Fraction, support: int, m: int) -> Design:
    return Design(support, epsilon / (2 * m - 1), epsilon=epsilon)


def limit_kink(support: int) -> int:
    """The m of the best kink for all sufficiently small ε: the least m with m² > D(D+1)/3.

    √(D(D+1)/3) is the standard deviation of uniform noise. Proof: Theorem 19 (by ln δ up to ε², D ≤ 4000).

    >>> limit_kink(3), limit_kink(11), limit_kink(25)
    (3, 7, 15)
    """
    half_width = _support(support)
    return math.isqrt(half_width * (half_width + 1) // 3) + 1


def best(epsilon: parameters.Number, *, support: int) -> Design:
    """The design of the γ > 0 with the least δ(ε) on [−D, D], proved.

    It is a kink, γ = ε/(2m − 1) with m from 1 to D: between kinks δ rises, then falls (either part may be
    missing). Which m wins is decided by enclosures, or sooner by `_surely_above`; no two kinks tie at a
    rational ε. Proof: Theorem 18.

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> chosen = best("0.5", support=11)
    >>> chosen.gamma, chosen.delta
    (Fraction(1, 34), 0.00385227983348...)
    """
    half_width, level = _support(support), parameters.epsilon(epsilon)
    if level < EPSILON_MIN:
        raise parameters.wrong_value("epsilon", f"at least {float(EPSILON_MIN)}", epsilon)
    ranked = np.argsort(_log_deltas(level, half_width, range(1, half_width + 1))) + 1
    winner = int(ranked[0])
    for rival in map(int, ranked[1:]):
        bar = _delta(level, half_width, winner, 10).upper
        if not _surely_above(bar, level, half_width, rival) and _beats(rival, winner, level, half_width):
            winner = rival
    return _at_kink(level, half_width, winner)


def _surely_above(bound: Fraction, epsilon: Fraction, support: int, m: int) -> bool:
    """Whether a quick look shows δ_m > bound: S ≤ 2D + 1, and N is at least w_D and w_m·(1 − e^−2γ)."""
    gamma = epsilon / (2 * m - 1)
    with precision(128):
        edge = exponential(-(support**2) * gamma)
        inner = exponential(-m * m * gamma) * (1 - exponential(-2 * gamma))
        least = ball(bound * (2 * support + 1))
        return bool(edge > least or inner > least)


def _beats(rival: int, winner: int, epsilon: Fraction, support: int) -> bool:
    """Decide δ_rival < δ_winner, with as many digits as it takes."""
    digits = 15
    while digits <= MAX_DIGITS:
        ours, theirs = (_delta(epsilon, support, m, digits) for m in (rival, winner))
        if ours.upper < theirs.lower or theirs.upper < ours.lower:
            return ours.upper < theirs.lower
        digits *= 4
    raise ArithmeticError(f"no decision at {MAX_DIGITS} digits between the kinks {rival} and {winner}")


@lru_cache(maxsize=1024)  # the winner so far meets every rival
def _delta(epsilon: Fraction, support: int, m: int, digits: int) -> Enclosure:
    return certified.delta(_at_kink(epsilon, support, m), epsilon, digits=digits)


def guide(epsilon: parameters.Number, delta: parameters.Number) -> Design:
    """The design of the smallest support on which some γ reaches δ at ε, with its best γ: both proved.

    The least δ over γ falls strictly as D grows, so a bisection is right. Float64 proposes D; enclosures
    prove that some kink of D reaches δ and no kink of D − 1 does, and they always decide. Proof: Theorem 20.
    Supports of some thousands take from 2 to 20 seconds.

    Raises ValueError where Proposition 3 needs a support above ``KINKS_MAX``, and ArithmeticError where
    ``MAX_BITS`` bits do not decide.

    >>> chosen = guide("0.5", "1e-4")
    >>> chosen.support, kink(chosen), chosen.delta, chosen.variance
    (24, 20, 7.7045...e-05, 38.945...)
    """
    level, target = parameters.epsilon(epsilon), parameters.delta(delta)
    most = design.guide(level, target, slack=0).support  # its kink m = D is proved to reach δ
    if most > KINKS_MAX:
        allowed = f"such that Proposition 3 reaches it with a support of at most {KINKS_MAX}"
        raise parameters.wrong_value("delta", allowed, delta)
    wanted = math.log(target.numerator) - math.log(target.denominator)

    def ranked(support: int) -> Array:
        return _log_deltas(level, support, range(1, support + 1))

    def reaches(support: int) -> bool:
        order = map(int, np.argsort(ranked(support)) + 1)
        near = (m for m in order if not _surely_above(target, level, support, m))
        noises = (Noise(support, level / (2 * m - 1)) for m in near)
        return any(below(target, partial(certified.delta_ball, noise, level)) for noise in noises)

    half_width = bisect_left(
        range(most), True, lo=1, key=lambda support: bool(ranked(support).min() <= wanted)
    )
    while not reaches(half_width):
        half_width += 1
    while half_width > 1 and reaches(half_width - 1):
        half_width -= 1
    return best(level, support=half_width)
