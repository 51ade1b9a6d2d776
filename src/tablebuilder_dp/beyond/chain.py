"""Integer weights in a row whose neighbours stay within a factor e^ε of each other.

The weights w(0), …, w(D) are one half of a symmetric lookup table, w(D) its end; 2·Σ w(z) − w(0) is the
table's total. Here are f(x) = ⌊e^ε·x⌋, the largest neighbour that x allows, which enclosures decide
since e^ε·x is irrational, the steepest row from a given end, and the row of a given total that is
nearest to given targets, with a proof that it is. `symmetric` makes lookup tables of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise, takewhile
from typing import Any, NamedTuple

import numpy as np

from tablebuilder_dp import certified
from tablebuilder_dp.support.intervals import MAX_BITS, exponential, until

SCALE = 1 << 64
"""Targets are given in units of 1/SCALE of a key."""

STATES_MAX = 10**7
"""A search with more states, which would take many seconds, is refused."""

_FIRST = 1 << 160  # above every sum of squares of weights: they only break ties of the distance
_NEVER = 1 << 320

Loss = Callable[[int, int], int]


def reach(weight: int, epsilon: Fraction) -> int:
    """⌊e^ε·weight⌋ for a weight ≥ 1 and a rational ε ≠ 0, which may be negative.

    It is f(weight) of Lemma 24 if ε > 0; e^ε·weight is irrational (Lemma 2).

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> reach(10, Fraction(1, 10)), reach(9, Fraction(1, 10))
    (11, 9)
    """
    bits = 128
    while bits <= MAX_BITS:
        low, high = (weight * end >> bits for end in certified.growth(epsilon, bits))
        if low == high:
            return low
        bits *= 2
    raise ArithmeticError(
        f"no decision at {MAX_BITS} bits: e^{epsilon} times {weight} is too near an integer"
    )


@lru_cache(maxsize=256)
def least_growing(epsilon: Fraction) -> int:
    """t₀ = ⌈1/(e^ε − 1)⌉, the smallest t with f(t) ≥ t + 1 (Lemma 24); decided by Lemma 2.

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> least_growing(Fraction(1, 10))
    10
    """
    ends = until(
        lambda ends: math.floor(ends.lower) == math.floor(ends.upper),
        lambda: 1 / (exponential(epsilon) - 1),
    )
    return math.floor(ends.lower) + 1  # 1/(e^ε − 1) is irrational


def steepest(end: int, steps: int, epsilon: Fraction, *, most: int) -> list[int]:
    """w(0), …, w(steps) that rise inwards from w(steps) = end as fast as f lets them, none above most.

    No row with that end has more keys (Lemma 24).

    Raises ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> steepest(2, 4, Fraction(1, 2), most=100)
    [9, 6, 4, 3, 2]
    """
    rises = accumulate(range(steps), lambda weight, _: min(reach(weight, epsilon), most), initial=end)
    return list(rises)[::-1]


def total(weights: Sequence[int]) -> int:
    """The keys of the symmetric table with w(0), …, w(D).

    >>> total([9, 6, 4])
    29
    """
    return 2 * sum(weights) - weights[0]


class _Problem(NamedTuple):
    """Targets in parts of a key and to the nearest key, the total, ε, and bounds of the weights."""

    targets: Sequence[int]
    rounded: Sequence[int]
    keys: int
    epsilon: Fraction
    least: int
    highest: Sequence[int]


def nearest(
    targets: Sequence[int], *, keys: int, epsilon: Fraction, least: int, highest: Sequence[int]
) -> list[int]:
    """The row of total ``keys`` with least ≤ w(z) ≤ highest(z) that is nearest to targets(z)/SCALE.

    Nearest means: least Σ |w(z) − targets(z)/SCALE| over the whole table, then least Σ (w(z) − n(z))²,
    n(z) being the targets rounded to integers, then the largest w(0), then the smallest w(1), w(2), ….
    Both sums together are one integer cost Σ c_z(w(z)), each c_z convex.

    A price for every key changes the cost of all rows of this total alike. Dynamic programming over
    z = D, …, 0 (the state is w(z) and the keys so far) finds the best row near the separately cheapest
    weights m(z): each weight within B of them, each partial sum within R. Any other row must move so many
    keys away from m and back that it loses more, once B and R are large enough; they are doubled until
    this is so. Proof: Theorem 28.

    Raises ArithmeticError where ``STATES_MAX`` states prove nothing.

    >>> ends = {"least": 2, "highest": [64, 64, 9]}
    >>> nearest([18 * SCALE, 15 * SCALE, 9 * SCALE], keys=64, epsilon=Fraction(1, 2), **ends)
    [18, 14, 9]
    """
    rounded = [(2 * target + SCALE) // (2 * SCALE) for target in targets]
    problem = _Problem(targets, rounded, keys, epsilon, least, highest)
    price = _price(problem)
    centre = _cheapest(problem, price)
    loss, missing = _losses(problem, price, centre), keys - total(centre)
    window, drift = 2, 4
    while len(targets) * (2 * window + 1) * (2 * drift + 1) <= STATES_MAX:
        row = _within(problem, centre, loss, window, drift)
        lost = sum(map(loss, range(len(row)), row)) if row else _NEVER
        drifts = lost >= _least_drifting(centre, loss, drift, missing)
        if not drifts and lost < _least_outside(centre, loss, window, missing):
            return row
        if drifts:  # first, as it is the cheaper one
            drift *= 2
        if not row or not drifts:
            window *= 2
    raise ArithmeticError(f"no proof within {STATES_MAX} states that a table of {keys} keys is the nearest")


def _losses(problem: _Problem, price: int, centre: Sequence[int]) -> Loss:
    """ℓ_z(w): what the weight w costs at z beyond the centre's, for both sides of the table."""

    def cost(z: int, weight: int) -> int:
        distance = abs(weight * SCALE - problem.targets[z])
        return distance * _FIRST + (weight - problem.rounded[z]) ** 2 - price * weight

    def loss(z: int, weight: int) -> int:
        inside = problem.least <= weight <= problem.highest[z]
        return (2 if z else 1) * (cost(z, weight) - cost(z, centre[z])) if inside else _NEVER

    return loss


def _cheapest(problem: _Problem, price: int) -> list[int]:
    """For each z the smallest weight of least cost when a key earns the price.

    The step from w to w + 1 costs −F below the target's floor, (1 − 2·its fraction)·F on it and F above,
    F = SCALE·_FIRST, and 2(w − n) + 1 for the square: wanted is the first w whose step costs the price.
    """
    full, weights = SCALE * _FIRST, []
    for target, middle, most in zip(problem.targets, problem.rounded, problem.highest, strict=True):
        floor, part = divmod(target, SCALE)
        weight = middle + (price + full) // 2
        if weight >= floor:
            on_floor = full - 2 * part * _FIRST + 2 * (floor - middle) + 1
            weight = floor if on_floor >= price else max(floor + 1, middle + (price - full) // 2)
        weights.append(min(max(weight, problem.least), most))
    return weights


def _price(problem: _Problem) -> int:
    """The largest price, of those that can matter, at which the cheapest weights do not exceed the total."""
    high = SCALE * _FIRST + 4 * problem.keys
    low = -high
    while low < high:
        middle = (low + high + 1) // 2
        exceeds = total(_cheapest(problem, middle)) > problem.keys
        low, high = (low, middle - 1) if exceeds else (middle, high)
    return low


def _within(problem: _Problem, centre: Sequence[int], loss: Loss, window: int, drift: int) -> list[int]:
    """The row of least loss within the window; an empty list if there is none."""
    last, width, sums = len(centre) - 1, 2 * window + 1, 2 * drift + 1
    steps = range(-min(window, drift), min(window, drift) + 1)
    costs = np.full((width, sums), _NEVER, dtype=object)  # by w(z) and the partial sum, less the centre's
    for step in steps:
        costs[step + window, step + drift] = loss(last, centre[last] + step)

    def beside(weight: int, z: int) -> tuple[int, int]:
        """The first place of the window at z that may stand beside ``weight``, and the last plus one."""
        start = centre[z] - window
        ends = (reach(weight, sign * problem.epsilon) + 1 - start for sign in (-1, 1))
        low, high = (min(max(end, 0), width) for end in ends)
        return low, high

    choices = []
    for z in range(last - 1, 0, -1):
        inner = np.full((width, sums), _NEVER, dtype=object)
        chosen = np.zeros((width, sums), dtype=np.intp)
        best: dict[tuple[int, int], Any] = {}
        for step in steps:
            paid = loss(z, centre[z] + step)
            low, high = beside(centre[z] + step, z + 1) if paid < _NEVER else (0, 0)
            if low == high:
                continue
            if (low, high) not in best:
                best[low, high] = costs[low:high].min(axis=0), costs[low:high].argmin(axis=0) + low
            least, where = best[low, high]
            to, source = (slice(max(shift, 0), sums + min(shift, 0)) for shift in (step, -step))
            inner[step + window, to] = least[source] + paid
            chosen[step + window, to] = where[source]
        costs = inner
        choices.append(chosen)

    lost, row, place = _NEVER, [], (0, 0)
    for column in range(sums):  # the largest w(0) first
        middle = problem.keys - 2 * (sum(centre[1:]) + column - drift)
        paid = loss(0, middle)
        low, high = beside(middle, 1) if paid < _NEVER else (0, 0)
        if low < high and costs[low:high, column].min() + paid < lost:
            lost, row = costs[low:high, column].min() + paid, [middle]
            place = low + int(costs[low:high, column].argmin()), column
    for z in range(1, len(centre)) if row else ():
        row.append(centre[z] + place[0] - window)
        if z < last:
            place = int(choices[-z][place]), place[1] - (place[0] - window)
    return row


def _least_outside(centre: Sequence[int], loss: Loss, window: int, missing: int) -> int:
    """What a row that has ``missing`` keys more than the centre loses if a weight is outside the window."""
    losses = []
    for side in (-1, 1):
        back = _least_moving(centre, loss, -side, 2 * (window + 1) - side * missing)
        losses += [loss(z, centre[z] + side * (window + 1)) + back for z in range(1, len(centre))]
    return min(losses)


def _least_drifting(centre: Sequence[int], loss: Loss, drift: int, missing: int) -> int:
    """What such a row loses at least if one of its partial sums strays by more than ``drift``."""
    keys = 2 * (drift + 1)
    return min(
        _least_moving(centre, loss, side, keys) + _least_moving(centre, loss, -side, keys - side * missing)
        for side in (-1, 1)
    )


def _least_moving(centre: Sequence[int], loss: Loss, sign: int, keys: int) -> int:
    """What a row loses at least that moves this many keys up (or down) from the centre's weights.

    A step at z ≠ 0 moves two keys, one on each side; halves of losses are avoided by counting twice.
    """
    marginal: list[int] = []
    for z in range(len(centre)):
        steps = range(max(keys if z == 0 else -(-keys // 2), 0) + 1)
        losses = takewhile(lambda lost: lost < _NEVER, (loss(z, centre[z] + sign * step) for step in steps))
        for less, more in pairwise(losses):
            marginal += [2 * (more - less)] if z == 0 else [more - less] * 2
    return sum(sorted(marginal)[: max(keys, 0)]) // 2 if len(marginal) >= keys else _NEVER
