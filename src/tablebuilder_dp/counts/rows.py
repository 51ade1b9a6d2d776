"""The maximum-entropy noise on [−n, D], for counts n below D whose published value may not be negative.

The paper's problem (largest entropy, mean zero, E[Z²] ≤ V) is solved there by p(z) ∝ exp(−λz − γz²).
`rows` says when V is reached, and computes λ, γ and p for all counts at once in float64;
`counts.certified` encloses them, `small_counts` says what they protect.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tablebuilder_dp.noise import Array, Noise, variance_bound
from tablebuilder_dp.support import parameters

SUPPORT_MAX = 1000
"""A table has (D + 1)(2D + 1) entries: beyond this it is of no use to anybody."""

_ITERATIONS = 100  # about twelve are usual
_CLOSE = 1e-8  # Newton's error is squared by the step that is still taken


@dataclass(frozen=True, init=False)
class OfVariance:
    """The symmetric noise of a variance, exactly: its γ is irrational, and zero where V is D(D+1)/3 or more.

    >>> OfVariance(5, "3")
    OfVariance(support=5, variance=Fraction(3, 1))
    """

    support: int
    variance: Fraction

    def __init__(self, support: int, variance: parameters.Number) -> None:
        """Check D and V, any number from 1e-270 on; a ValueError or TypeError names what is wrong."""
        half_width = parameters.support(support)
        exact = parameters.number(variance, "variance")
        margin = parameters.VARIANCE_MARGIN
        gap = variance_bound(half_width) - exact
        if exact < margin or 0 < gap < margin:
            allowed = f"at least {float(margin)}, and as far below D(D+1)/3 unless it is that or more"
            raise parameters.wrong_value("variance", allowed, variance)
        object.__setattr__(self, "support", half_width)
        object.__setattr__(self, "variance", exact)

    @property
    def is_uniform(self) -> bool:
        """Whether V is D(D+1)/3 or more, where nothing binds and the noise is uniform."""
        return self.variance >= variance_bound(self.support)


Symmetric = Noise | OfVariance
"""The noise of every count from D on, from which the rows of the smaller ones follow."""


def check(noise: Symmetric) -> int:
    """D, if the noise can have a table of all counts."""
    if not isinstance(noise, Noise | OfVariance):
        raise parameters.wrong_type("noise", "a Noise or OfVariance", noise)
    return parameters.integer(noise.support, "support", low=1, high=SUPPORT_MAX)


class Rows(NamedTuple):
    """λ, γ and the noise table of the rows 0, …, D; row 0 is no noise, so its γ is infinite."""

    tilts: Array
    gammas: Array
    table: Array


def rows(noise: Symmetric) -> Rows:
    """The zero-mean noise of largest entropy on [−n, D] with E[Z²] ≤ V, for all counts n at once.

    For 1 ≤ n ≤ D and V > 0 there is exactly one: p(z) ∝ exp(−λz − γz²) with γ ≥ 0 and λ ≥ 0. Let V₀(n) be
    the variance of the zero-mean p ∝ exp(−λz). If V < V₀(n) then V binds: γ > 0 and the variance is V;
    otherwise γ = 0 and the variance is V₀(n). Proof: Theorem 39.

    V₀(n) rises strictly with n: where V binds for n it binds for n + 1. And where it binds, γ rises and
    p(D) falls strictly with n. Proof: Theorem 40.

    *Numbers.* Newton's method on the convex dual ln S(λ, γ) + γV, whose gradient is
    (−E[Z], V − E[Z²]) and whose Hessian is the covariance of (Z, Z²): first in λ with γ = 0, then in
    both where V binds. Probabilities keep about 12 digits, λ and γ as many as that takes.

    Returns λ, γ and the noise of the counts 0, …, D, a row each.

    >>> all_rows = rows(OfVariance(5, 3))
    >>> all_rows.gammas[1:].round(4)
    array([0.    , 0.0647, 0.1369, 0.1584, 0.164 ])
    >>> all_rows.table[3].round(4)
    array([0.    , 0.    , 0.072 , 0.1367, 0.1974, 0.2167, 0.1809, 0.1149, 0.0555, 0.0204, 0.0057])
    """
    support, middle = check(noise), symmetric_gamma(noise)
    # No row reaches more than the variance of the uniform noise.
    bound = noise.variance if isinstance(noise, Noise) else min(noise.variance, variance_bound(support))
    problem = _Problem(support, float(bound))
    tilts, gammas = np.zeros(support + 1), np.zeros(support + 1)
    tilts[1:-1], gammas[1:-1] = _solve(problem, middle)
    gammas[-1] = middle
    table = np.zeros((support + 1, 2 * support + 1))
    table[1:-1] = problem.pmf(tilts[1:-1], gammas[1:-1])
    table[-1] = symmetric_pmf(noise)
    table[0, support] = 1
    gammas[0] = np.inf
    return Rows(tilts, gammas, table)


def symmetric_gamma(noise: Symmetric) -> float:
    """The γ of the symmetric noise, 0 for the uniform one.

    >>> symmetric_gamma(OfVariance(11, 4))
    0.12499...
    """
    check(noise)
    if isinstance(noise, Noise):
        return float(noise.gamma)
    return 0.0 if noise.is_uniform else float(Noise.of_variance(noise.support, noise.variance).gamma)


def symmetric_pmf(noise: Symmetric) -> Array:
    """p(−D), …, p(D) of every count from D on: the paper's noise, or the uniform one where V never binds."""
    check(noise)
    if isinstance(noise, Noise):
        return noise.pmf
    if noise.is_uniform:
        return np.full(2 * noise.support + 1, 1 / (2 * noise.support + 1))
    return Noise.of_variance(noise.support, noise.variance).pmf


class _Problem:
    """The dual problem of the rows 1, …, D − 1."""

    def __init__(self, support: int, variance: float) -> None:
        self.counts = np.arange(1.0, support)
        self.support, self.variance = support, variance
        self.z = np.arange(-support, support + 1.0)
        self.powers = self.z ** np.arange(1.0, 5.0)[:, None]
        self.outside = self.z < -self.counts[:, None]

    def pmf(self, tilts: Array, gammas: Array) -> Array:
        """The noise of each row, exactly zero outside its support."""
        exponents = -tilts[:, None] * self.z - gammas[:, None] * self.powers[1]
        exponents[self.outside] = -np.inf
        exponents -= exponents.max(axis=1, keepdims=True)
        weights: Array = np.exp(exponents)
        weights /= weights.sum(axis=1, keepdims=True)
        return weights

    def moments(self, tilts: Array, gammas: Array) -> tuple[Array, ...]:
        """E[Z], E[Z²], Var Z, Cov(Z, Z²) and Var Z² of each row."""
        first, second, third, fourth = np.einsum("rz,kz->kr", self.pmf(tilts, gammas), self.powers)
        return first, second, second - first**2, third - first * second, fourth - second**2


def _solve(problem: _Problem, middle: float) -> tuple[Array, Array]:
    """λ and γ of the rows 1, …, D − 1; ``middle`` is the γ of the symmetric noise."""
    counts, support = problem.counts, problem.support
    none = np.zeros(len(counts))
    # Newton's first step from λ = 0. The root is at most ln(1 + 1/n), that of D = ∞: it is never far.
    tilts = 6 * (support - counts) / ((support + counts) * (support + counts + 2))
    for _ in range(_ITERATIONS):
        mean, _, spread, _, _ = problem.moments(tilts, none)
        step = mean / spread
        tilts = tilts + step
        if np.all(np.abs(step) <= _CLOSE * tilts):
            break
    binds = problem.moments(tilts, none)[1] > problem.variance
    if not binds.any():
        return tilts, none
    narrow = _Problem(support, problem.variance)
    narrow.counts, narrow.outside = counts[binds], problem.outside[binds]
    gammas = none.copy()
    tilts[binds], gammas[binds] = _newton(narrow, tilts[binds], middle)
    return tilts, gammas


def _newton(problem: _Problem, tilts: Array, middle: float) -> tuple[Array, Array]:
    """Damped Newton steps in (λ, γ) from γ = 0 or from the symmetric noise, whichever is nearer.

    The dual is convex, so a step that is too long shows in the slope along it, which must not turn
    steeply upward; the slope has all its digits where the values of the dual would agree in all.
    """
    none = np.zeros(len(tilts))
    starts = ((tilts, none), (none, none + middle))
    free, even = (np.abs(np.log(problem.moments(*start)[1] / problem.variance)) for start in starts)
    tilts, gammas = (np.where(free <= even, *pair) for pair in zip(*starts, strict=True))
    length = np.ones(len(tilts))
    mean, second, spread, mixed, square = problem.moments(tilts, gammas)
    for _ in range(_ITERATIONS):
        excess = second - problem.variance
        rise = (excess - mean * mixed / spread) / (square - mixed**2 / spread)
        lean = (mean - mixed * rise) / spread
        new = (tilts + length * lean, gammas + length * rise)
        moments = problem.moments(*new)
        slope = -moments[0] * lean - (moments[1] - problem.variance) * rise
        fits = slope <= (mean * lean + excess * rise) / 2
        tilts, gammas = np.where(fits, new[0], tilts), np.where(fits, new[1], gammas)
        small = np.abs(lean) <= _CLOSE * (np.abs(tilts) + gammas)
        small &= np.abs(rise) <= _CLOSE * (np.abs(gammas) + np.abs(tilts) / problem.support)
        if np.all(small):
            break
        kept = (mean, second, spread, mixed, square)
        mean, second, spread, mixed, square = (
            np.where(fits, *pair) for pair in zip(moments, kept, strict=True)
        )
        length = np.where(fits, 1, length / 2)
    return tilts, np.maximum(gammas, 0)
