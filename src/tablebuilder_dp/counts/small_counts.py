"""Counts below D, where n + Z could be negative: what two ways out protect, and what they cost.

*Rows*: a count n < D has the maximum-entropy noise on [−n, D] (`rows`). It is unbiased, but an
empty cell stays empty, and this leaves a hole that no unbiased noise can close (`hole_bound`).
*Clamped*: max(0, n + Z) with the symmetric Z keeps the symmetric δ for every count (`deltas`), at a
known bias (`clamping_bias`).

A *noise table* is an array with a row for each count 0, …, D (row D serves every larger count) and a
column for each noise −D, …, D. A *pair* n is the counts n and n + 1: ``backward`` is δ of the larger count
against the smaller, Σ max(0, P(n+1) − e^ε·P(n)) over what is published, ``forward`` the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tablebuilder_dp import privacy
from tablebuilder_dp.counts import rows
from tablebuilder_dp.counts.rows import Symmetric
from tablebuilder_dp.noise import Array
from tablebuilder_dp.privacy import Delta
from tablebuilder_dp.support import parameters

Number = parameters.Number
Mass = TypeVar("Mass")

CHOICES = ("rows", "clamped")


def choice(value: Any) -> str:
    """Read what is done to small counts, "rows" or "clamped"; anything else is a ValueError."""
    if not isinstance(value, str) or value not in CHOICES:
        raise parameters.wrong_value("small_counts", "one of " + ", ".join(CHOICES), value)
    return value


def noise_table(noise: Symmetric, *, small_counts: str = "rows") -> Array:
    """The noise of the counts 0, …, D, one row each, in float64.

    >>> noise_table(rows.OfVariance(1, "0.5"), small_counts="clamped")
    array([[0.  , 0.75, 0.25],
           [0.25, 0.5 , 0.25]])
    """
    if choice(small_counts) == "rows":
        return rows.rows(noise).table
    support, p = rows.check(noise), rows.symmetric_pmf(noise)
    table = np.where(np.arange(2 * support + 1) >= np.arange(support, -1, -1)[:, None], p, 0)
    table[np.arange(support + 1), np.arange(support, -1, -1)] = p.cumsum()[support::-1]
    return table


def published(masses: Sequence[Mass], count: int, nothing: Mass) -> list[Mass]:
    """What belongs to the noises −D, …, D of a count, as what belongs to the values 0, …, n + D.

    >>> published([0, 5, 6, 7, 8], 1, 0), published([4, 5, 6, 7, 8], 3, 0)
    ([5, 6, 7, 8], [0, 4, 5, 6, 7, 8])
    """
    support = len(masses) // 2
    return [nothing] * (count - support) + list(masses[max(support - count, 0) :])


def _support(table: Any) -> int:
    """Read the D of a noise table."""
    allowed = "a noise table: a float64 array with D + 1 rows and 2D + 1 columns"
    if not isinstance(table, np.ndarray) or table.dtype != np.float64:
        raise parameters.wrong_type("table", allowed, table)
    support = len(table) - 1 if table.ndim == 2 else 0
    if support < 1 or table.shape[1] != 2 * support + 1:
        raise parameters.wrong_value("table", allowed, table.shape)
    return support


def transition_matrix(table: Array, *, largest: int) -> Array:
    """P(n → y) for counts n = 0, …, N (``largest``) and published values y = 0, …, N + D.

    >>> transition_matrix(noise_table(rows.OfVariance(1, "0.5")), largest=2)
    array([[1.  , 0.  , 0.  , 0.  ],
           [0.25, 0.5 , 0.25, 0.  ],
           [0.  , 0.25, 0.5 , 0.25]])
    """
    support = _support(table)
    last = parameters.integer(largest, "largest", low=0, high=10_000)
    matrix = np.zeros((last + 1, last + support + 1))
    for count in range(last + 1):
        place = min(count, support)
        masses = published(table[place], place, 0.0)
        matrix[count, count + support + 1 - len(masses) : count + support + 1] = masses
    return matrix


def deltas(table: Array, epsilon: Number) -> Delta[Array]:
    """δ(ε) of the pairs n = 0, …, D in both directions, straight from the definition.

    The last pair stands for every larger one.

    **Rows.** ``backward`` ≥ p(D) of row n + 1 at every ε, and ``forward`` is zero from some ε on if
    0 ≤ n < D: in the end ``backward`` is the worse. For an ε on the plateau of the symmetric noise, where δ
    is its p(D), every pair n < D − 1 with V binding at n + 1 is worse than that. Proof: Theorem 41.

    **Clamped.** For every n ≥ 0 ``backward`` is δ(ε) of the symmetric noise. ``forward`` is too if
    n ≥ min(D, −z*), and otherwise it is the smaller max(0, P(Z ≤ −n) − e^ε·P(Z ≤ −n−1)). Proof: Theorem 42.

    >>> both = deltas(noise_table(rows.OfVariance(5, 3)), 1)
    >>> both.backward.round(4), both.forward.round(4)
    (array([0.512 , 0.0276, 0.0057, 0.0061, 0.0141, 0.0173]),
     array([0.    , 0.    , 0.0374, 0.0219, 0.0185, 0.0173]))
    """
    outcomes = transition_matrix(table, largest=_support(table) + 1)
    both = [privacy.hockey_stick(less, more, epsilon) for less, more in pairwise(outcomes)]
    return Delta(*np.array(both).T)


class Measures(NamedTuple):
    """Bias, variance and entropy (in nats) of the noise of the counts 0, …, D."""

    bias: Array
    variance: Array
    entropy: Array


def measures(table: Array) -> Measures:
    """What each row costs and how much it confuses.

    Returns an array of each, with one number a count.

    >>> measures(noise_table(rows.OfVariance(1, "0.5"), small_counts="clamped")).bias
    array([0.25, 0.  ])
    """
    support = _support(table)
    z = np.arange(-support, support + 1)
    bias = (table * z).sum(axis=1)
    logarithms = np.log(table, out=np.zeros_like(table), where=table > 0)
    variance = (table * (z - bias[:, None]) ** 2).sum(axis=1)
    return Measures(bias, variance, 0 - (table * logarithms).sum(axis=1))  # 0 − 0 is not −0


def clamping_bias(noise: Symmetric) -> Array:
    """E[max(0, n + Z)] − n = Σ_{j>n} (j − n)·p(j) for n = 0, …, D: all terms positive, zero at D.

    At n = 0 it is E[max(0, Z)]. Proof: Theorem 43.

    >>> clamping_bias(rows.OfVariance(1, "0.5"))
    array([0.25, 0.  ])
    """
    tail = rows.symmetric_pmf(noise)[: rows.check(noise)]
    bias: Array = np.append(tail.cumsum().cumsum()[::-1], 0)  # Σ_{j>n} P(Z ≥ j) is the same sum
    return bias


def clamping_variance(noise: Symmetric) -> Array:
    """Var max(0, n + Z) = V − Σ_{j>n} (j² − n²)·p(j) − bias², for n = 0, …, D.

    Summed from the terms that remain: Σ_{z≥−n} z²·p(z) + n²·P(Z < −n) − bias². Proof: Theorem 43.

    >>> clamping_variance(rows.OfVariance(1, "0.5"))
    array([0.1875, 0.5   ])
    """
    half = rows.symmetric_pmf(noise)[rows.check(noise) :]
    squares = np.arange(noise.support + 1.0) ** 2
    inside = (squares * half).cumsum()
    beyond = np.append(half[:0:-1].cumsum()[::-1], 0)
    spread: Array = inside[-1] + inside + squares * beyond - clamping_bias(noise) ** 2
    return spread


def hole_bound(variance: Number) -> Fraction:
    """1/(1 + V): no unbiased noise of variance V or less has a smaller δ between the counts 0 and 1.

    Let a mechanism publish Y(n) ≥ 0 with E[Y(n)] = n and Var Y(1) ≤ V. If it is (ε, δ)-differentially
    private for the counts 0 and 1, then δ ≥ P(Y(1) > 0) ≥ 1/(1 + V), however large ε is. Proof: Theorem 44.

    >>> hole_bound(3)
    Fraction(1, 4)
    """
    return 1 / (1 + parameters.number(variance, "variance"))
