"""Section III-A: the maximum-entropy noise of the TableBuilder with symmetric support.

Among all pmfs on [-D, D] with mean zero and variance at most V the entropy is largest for
p(z) = C·exp(−γz²). This module holds the optimisation problem's solution: p and C (the two
equations after the Lagrangian), V(γ) and its inverse, the sparse polynomial f(x) whose root in
(0, 1) is e^−γ, and the bound of Proposition 1.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tablebuilder_dp.support import parameters

Array = NDArray[np.float64]


def _squares(support: int) -> Array:
    """1, 4, 9, …, D²: exact in float64."""
    return np.arange(1, support + 1, dtype=np.float64) ** 2


def _total(gamma: float, squares: Array) -> float:
    """Σ exp(−γz²) over [-D, D], the reciprocal of C."""
    return 1 + 2 * float(np.exp(-gamma * squares).sum())


def _read(support: Any, gamma: Any) -> tuple[float, Array]:
    return float(parameters.gamma(gamma)), _squares(parameters.support(support))


def pmf(*, support: int, gamma: parameters.Number) -> Array:
    """p(−D), …, p(D) of the noise, p(z) = C·exp(−γz²), the one of largest entropy (Theorem 6).

    A tail value below the range of float64 comes out as 0; `log_pmf` has no such limit.

    >>> pmf(support=1, gamma="0.5").round(6)
    array([0.274069, 0.451863, 0.274069])
    """
    rate, squares = _read(support, gamma)
    total = _total(rate, squares)
    half = np.exp(-rate * squares) / total
    return np.concatenate([half[::-1], [1 / total], half])


def log_pmf(*, support: int, gamma: parameters.Number) -> Array:
    """The logarithms ln p(−D), …, ln p(D), for tails that float64 cannot hold as probabilities.

    >>> float(log_pmf(support=100, gamma=2)[0])
    -20000.24...
    """
    rate, squares = _read(support, gamma)
    logarithm = math.log1p(2 * float(np.exp(-rate * squares).sum()))
    half = -rate * squares - logarithm
    return np.concatenate([half[::-1], [-logarithm], half])


def normaliser(*, support: int, gamma: parameters.Number) -> float:
    """C, the probability of no noise: 1 / (1 + 2·Σ exp(−γz²)).

    >>> normaliser(support=1, gamma="0.5")
    0.45186...
    """
    return 1 / _total(*_read(support, gamma))


def tail(*, support: int, gamma: parameters.Number) -> float:
    """P(Z < 0), half of what C leaves.

    >>> tail(support=1, gamma="0.5")
    0.27406...
    """
    rate, squares = _read(support, gamma)
    return float(np.exp(-rate * squares).sum()) / _total(rate, squares)


def variance(*, support: int, gamma: parameters.Number) -> float:
    """V(γ) = 2C·Σ z²exp(−γz²), strictly decreasing since dV/dγ = −Var(Z²) (Theorem 5).

    >>> variance(support=11, gamma="0.125")
    3.99999...
    """
    rate, squares = _read(support, gamma)
    return _variance(rate, squares)


def _variance(gamma: float, squares: Array) -> float:
    weights = np.exp(-gamma * squares)
    return 2 * float((squares * weights).sum()) / (1 + 2 * float(weights.sum()))


def entropy(*, support: int, gamma: parameters.Number) -> float:
    """H(Z) in nats: −ln C + γV, the largest that this variance allows (Theorem 6).

    >>> entropy(support=11, gamma="0.125")
    2.11208...
    """
    rate, squares = _read(support, gamma)
    weights = float(np.exp(-rate * squares).sum())
    return math.log1p(2 * weights) + rate * _variance(rate, squares)


def variance_bound(support: int) -> Fraction:
    """D(D+1)/3, the variance of the uniform pmf: Proposition 1 asks for less.

    >>> variance_bound(11)
    Fraction(44, 1)
    """
    half_width = parameters.support(support)
    return Fraction(half_width * (half_width + 1), 3)


def polynomial(x: parameters.Number, *, support: int, variance: parameters.Number) -> float:
    """f(x) = Σ (2z² − 2V)·x^(z²) − V, of degree D², whose only positive root is e^−γ.

    The root lies below 1 if and only if f(1) = (2D+1)(D(D+1)/3 − V) > 0; f(0) = −V. Both values
    are exact here. Proof: Theorem 7.

    >>> polynomial(0, support=11, variance=4), polynomial(1, support=11, variance=4)
    (-4.0, 920.0)
    """
    half_width = parameters.support(support)
    target = parameters.number(variance, "variance", high=half_width**2, includes="high")
    at = parameters.number(x, "x", high=10**6, includes="low high")
    at_one = float((2 * half_width + 1) * (variance_bound(half_width) - target))
    squares = _squares(half_width)
    coefficients = 2 * (squares - float(target))
    with np.errstate(over="ignore", invalid="ignore"):
        if 2 * at <= 1:
            value = float((coefficients * float(at) ** squares).sum()) - float(target)
        else:  # the terms cancel near x = 1, but those of f(x) − f(1) do not
            rises = np.expm1(squares * math.log1p(float(at - 1)))
            value = at_one + float((coefficients * rises).sum())
    if not math.isfinite(value):
        raise parameters.wrong_value("x", f"small enough for x^{half_width**2} to fit float64", x)
    return value


def gamma(*, support: int, variance: parameters.Number) -> float:
    """γ(V): the γ > 0 at which the noise has variance V, so that e^−γ is the root of f.

    Proposition 1 needs 0 < V < D(D+1)/3. V(γ) falls strictly, so a bracket and two Newton steps
    settle it (Theorem 5 has both). In the upper half of the range the unknown is the gap
    D(D+1)/3 − V, which keeps γ accurate where V itself hardly moves any more.

    >>> gamma(support=11, variance=4)
    0.12499997198488...
    """
    from scipy.optimize import brentq  # here, as its import outlasts most uses of the command line

    half_width = parameters.support(support)
    target = _proper_variance(half_width, variance)
    bound = variance_bound(half_width)
    squares = _squares(half_width)
    missing = float(bound - target)

    def excess(rate: float) -> float:
        """ln(V(γ)/V), or the same of the gaps with its sign turned: it falls from + to −."""
        if 2 * target <= bound:
            return math.log(_variance(rate, squares) / float(target))
        return math.log(missing / _gap(rate, squares, float(bound)))

    # V(γ) ≤ 1/(2γ), and 0 ≤ Var(Z²) ≤ D⁴/4 keeps the gap below γD⁴/4.
    low = 4 * missing / half_width**4
    high = min(1 / (2 * float(target)), parameters.GAMMA_MAX + 1)
    rate = math.exp(
        brentq(
            lambda logarithm: excess(math.exp(logarithm)),
            math.log(low) - 1e-9,
            math.log(high) + 1e-9,
            xtol=1e-9,
        )
    )
    for _ in range(2):
        weights = np.exp(-rate * squares)
        total = 1 + 2 * float(weights.sum())
        second = 2 * float((squares * weights).sum()) / total
        fourth = 2 * float((squares**2 * weights).sum()) / total
        if 2 * target <= bound:
            residual = second - float(target)
        else:
            residual = missing - _gap(rate, squares, float(bound))
        rate += residual / (fourth - second**2)
    return rate


def _gap(gamma: float, squares: Array, bound: float) -> float:
    """D(D+1)/3 − V(γ) without cancellation, from Σ (z² − D(D+1)/3) = 0 over [-D, D]."""
    changes = float(((bound - squares) * np.expm1(-gamma * squares)).sum())
    return 2 * changes / _total(gamma, squares)


def _proper_variance(support: int, variance: parameters.Number) -> Fraction:
    """V as Proposition 1 wants it, or the reason why it is not."""
    bound = variance_bound(support)
    allowed = f"a number in (0, D(D+1)/3 = {bound}) for support {support}"
    target = parameters.number(variance, "variance", allowed=allowed)
    if target == bound:
        reason = f"{allowed}; D(D+1)/3 itself is the variance of the uniform pmf (gamma = 0)"
        raise parameters.wrong_value("variance", reason, variance)
    margin = parameters.VARIANCE_MARGIN
    if not margin <= target <= bound - margin:
        reason = allowed if target > bound else f"{allowed}, and at least {float(margin)} from both ends"
        raise parameters.wrong_value("variance", reason, variance)
    return target
