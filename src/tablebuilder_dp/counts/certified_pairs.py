"""δ of neighbouring counts as intervals that provably contain it, for both ways of `small_counts`.

The rows come from `certified_rows`; from them follow δ of each pair in both directions and the first
count from which the rows protect as well as the symmetric noise.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

from tablebuilder_dp.certified import DIGITS
from tablebuilder_dp.counts import asymmetric, certified_rows, small_counts
from tablebuilder_dp.counts.asymmetric import Target
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import (
    MAX_DIGITS,
    Enclosure,
    enclosure,
    exp,
    interval,
    iv,
    positive_part,
)

Number = parameters.Number

_NOTHING = Enclosure(Fraction(0), Fraction(0))
_DEPTH_MAX = 2000  # decimal places of p(D)/p(0) up to which rows are told apart in seconds


class PairDelta(NamedTuple):
    """δ of one pair in both directions, enclosed."""

    up: Enclosure
    down: Enclosure


def delta(
    epsilon: Number,
    count: int,
    *,
    support: int,
    variance: Number | None = None,
    gamma: Number | None = None,
    way: str = "rows",
    digits: int = DIGITS,
) -> PairDelta:
    """δ(ε) of the counts n and n + 1 in both directions, to a relative width of 10^−digits.

    >>> found = delta(1, 0, support=5, variance=3)
    >>> found.up.digits(12), found.down.upper
    ('0.512015130914', Fraction(0, 1))
    """
    aim = asymmetric.target(support=support, variance=variance, gamma=gamma)
    level, chosen = parameters.epsilon(epsilon), small_counts.way_out(way)
    pair = min(parameters.integer(count, "count", low=0, high=2**63 - 2), aim.support)
    wanted = parameters.integer(digits, "digits", low=1, high=MAX_DIGITS)
    # An exact kink adds the error of a large mass, which must not show beside p(D).
    spare = min(_depth(aim, aim.support), _DEPTH_MAX)
    for precision in (wanted, 2 * wanted, 4 * wanted + spare):
        parts = _parts(pair, aim, level, chosen, precision + 10)
        found = [enclosure(alone + rest) for alone, rest in parts]
        if all((one.upper - one.lower) * 10**wanted <= one.lower for one in found):
            return PairDelta(*found)
    raise ArithmeticError(f"no {wanted} digits of delta at count {pair}: epsilon is too near a kink")


def _depth(aim: Target, z: int) -> int:
    """How many decimal places p(z) of the symmetric noise lies below p(0)."""
    return math.ceil(asymmetric.symmetric_gamma(aim) * z * z / math.log(10))


def _parts(pair: int, aim: Target, epsilon: Fraction, way: str, digits: int) -> list[tuple[Any, Any]]:
    """δ up and down: the mass that one count alone can publish, and what the other values add to it."""
    more, less = (_published(count, aim, way, digits) for count in (pair + 1, pair))
    less.append(_NOTHING)
    iv.prec = 4 * digits + 128
    growth = exp(interval(epsilon))
    found = []
    for p, q in ((more, less), (less, more)):
        masses = [(interval(a), b.upper and interval(b)) for a, b in zip(p, q, strict=True)]
        alone = sum((a for a, b in masses if not b), iv.mpf(0))
        found.append((alone, sum((positive_part(a - growth * b) for a, b in masses if b), iv.mpf(0))))
    return found


def _published(count: int, aim: Target, way: str, digits: int) -> list[Enclosure]:
    """P(n → y) for y = 0, …, n + D, of a count in [0, D + 1]."""
    row = min(count, aim.support) if way == "rows" else aim.support
    masses = list(certified_rows.solve(row, aim, digits).pmf)
    if way == "clamped":
        first = max(aim.support - count, 0)
        ends = ([getattr(one, end) for one in masses[: first + 1]] for end in ("lower", "upper"))
        masses[first] = Enclosure(*(sum(side, Fraction(0)) for side in ends))
    return small_counts.published(masses, count, _NOTHING)


def protected_from(
    epsilon: Number, *, support: int, variance: Number | None = None, gamma: Number | None = None
) -> int:
    """The smallest count from which on the rows protect every pair as well as the symmetric noise does.

    That is, δ(ε) of the pairs n, n + 1, … in both directions is at most the symmetric δ(ε), decided by
    enclosures; it is D or less, as pairs from D on are symmetric. At pair D − 1 > 0 the value that is
    published by the larger count alone has the symmetric p(D) itself, so only the rest is compared.
    For the clamped way it is 0 (Theorem 42). The comparison is exact: a
    pair may exceed the symmetric δ in its hundredth digit only.

    >>> protected_from(1, support=5, variance=3), protected_from(2, support=5, variance=3)
    (5, 4)
    """
    aim = asymmetric.target(support=support, variance=variance, gamma=gamma)
    level = parameters.epsilon(epsilon)
    if _depth(aim, aim.support) > _DEPTH_MAX:
        enough = f"that p(D)/p(0) is above 1e-{_DEPTH_MAX}"
        if aim.gamma is None:
            raise parameters.wrong_value("variance", f"so large {enough}", variance)
        raise parameters.wrong_value("gamma", f"so small {enough}", gamma)
    first = aim.support
    while first > 0 and _as_symmetric(first - 1, aim, level):
        first -= 1
    return first


def _as_symmetric(pair: int, aim: Target, epsilon: Fraction) -> bool:
    digits = DIGITS + _depth(aim, pair + 1)  # row n lacks −n − 1 and so differs by about p(n + 1) from row D
    for factor in (1, 2, 4):
        (alone, rest), _ = _parts(aim.support, aim, epsilon, "rows", factor * digits)
        (up, more), (down, less) = _parts(pair, aim, epsilon, "rows", factor * digits)
        above = iv.mpf(0) if 0 < pair == aim.support - 1 else up - alone
        gaps = [enclosure(gap) for gap in (above + more - rest, down + less - alone - rest)]
        if all(gap.upper <= 0 for gap in gaps):
            return True
        if any(gap.lower > 0 for gap in gaps):
            return False
    raise ArithmeticError(f"undecided whether the pair of count {pair} is protected: delta is too near")
