"""Section III-A: the maximum-entropy noise of the TableBuilder with symmetric support.

Among all pmfs on [-D, D] with mean zero and variance at most V the entropy is largest for
p(z) = C·exp(−γz²). This module holds the optimisation problem's solution: p and C (the two
equations after the Lagrangian), V(γ) and its inverse, the sparse polynomial f(x) whose root in
(0, 1) is e^−γ, and the bound of Proposition 1.
The truncated geometric noise, which the paper does not have, stands beside it and answers the same questions.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tablebuilder_dp.support import parameters

Array = NDArray[np.float64]


class Family(ABC):
    """A noise on [−D, D] with p(z) ∝ exp(−a|z| − γz²), of which one of a and γ is zero.

    Its parameters are exact. What is asked of it here is answered in float64; `certified` answers the same
    questions with enclosures.
    """

    support: int

    @property
    @abstractmethod
    def rates(self) -> tuple[Fraction, Fraction]:
        """The rates a and γ."""

    def exponent(self, z: int) -> Fraction:
        """−ln(p(z)/p(0)), exactly.

        >>> Noise(25, "0.01").exponent(-3), Geometric(25, "0.5").exponent(-3)
        (Fraction(9, 100), Fraction(3, 2))
        """
        slope, curvature = self.rates
        return slope * abs(z) + curvature * z**2

    def loss(self, z: int) -> Fraction:
        """ln(p(z)/p(z−1)), the privacy loss of the noise z, exactly; it falls, or stays, as z grows.

        >>> Noise(25, "0.01").loss(-3), Geometric(25, "0.5").loss(-3)
        (Fraction(7, 100), Fraction(1, 2))
        """
        return self.exponent(z - 1) - self.exponent(z)

    @cached_property
    def _exponents(self) -> Array:
        """Those of 1, 2, …, D."""
        z = np.arange(1, self.support + 1, dtype=np.float64)
        slope, curvature = map(float, self.rates)
        return slope * z + curvature * z**2

    @cached_property
    def _half(self) -> Array:
        """p(1)/p(0), …, p(D)/p(0)."""
        return np.exp(-self._exponents)

    @property
    def _total(self) -> float:
        """Σ p(z)/p(0), the reciprocal of C."""
        return 1 + 2 * float(self._half.sum())

    @cached_property
    def pmf(self) -> Array:
        """p(−D), …, p(D); the paper's noise has the largest entropy of all with its variance (Theorem 6).

        A tail value below the range of float64 comes out as 0; `log_pmf` has no such limit.

        >>> Noise(1, "0.5").pmf.round(6)
        array([0.274069, 0.451863, 0.274069])
        """
        half = self._half / self._total
        return _fixed(np.concatenate([half[::-1], [1 / self._total], half]))

    @cached_property
    def log_pmf(self) -> Array:
        """The logarithms ln p(−D), …, ln p(D), for tails that float64 cannot hold as probabilities.

        >>> float(Noise(100, 2).log_pmf[0])
        -20000.24...
        """
        logarithm = math.log1p(2 * float(self._half.sum()))
        half = -self._exponents - logarithm
        return _fixed(np.concatenate([half[::-1], [-logarithm], half]))

    @property
    def normaliser(self) -> float:
        """C, the probability of no noise.

        >>> Noise(1, "0.5").normaliser
        0.45186...
        """
        return 1 / self._total

    @property
    def tail(self) -> float:
        """P(Z < 0), half of what C leaves.

        >>> Noise(1, "0.5").tail
        0.27406...
        """
        return float(self._half.sum()) / self._total

    @cached_property
    def variance(self) -> float:
        """V; for the paper's noise it falls strictly with γ, since dV/dγ = −Var(Z²) (Theorem 5).

        >>> Noise(11, "0.125").variance
        3.99999...
        """
        return _variance(self._half)

    @cached_property
    def entropy(self) -> float:
        """H(Z) in nats, −ln C and the mean of the exponent: −ln C + γV for the paper's noise (Theorem 6).

        >>> Noise(11, "0.125").entropy
        2.11208...
        """
        slope, curvature = map(float, self.rates)
        mean = 2 * float((np.arange(1, self.support + 1) * self._half).sum()) / self._total
        return math.log1p(2 * float(self._half.sum())) + slope * mean + curvature * self.variance


@dataclass(frozen=True, init=False)
class Noise(Family):
    """The paper's noise on [−D, D]: p(z) = C·exp(−γz²), with C = 1/(1 + 2·Σ exp(−γz²)).

    γ may be given as an int, float, Fraction, Decimal or decimal text; it is kept exactly.

    >>> Noise(11, 0.125)
    Noise(support=11, gamma=Fraction(1, 8))
    """

    support: int
    gamma: Fraction

    def __init__(self, support: int, gamma: parameters.Number) -> None:
        """Check D and γ; a ValueError or TypeError names what is wrong."""
        object.__setattr__(self, "support", parameters.support(support))
        object.__setattr__(self, "gamma", parameters.gamma(gamma))

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The pair (0, γ)."""
        return Fraction(0), self.gamma

    @classmethod
    def of_variance(cls, support: int, variance: parameters.Number) -> Noise:
        """The noise with variance V in (0, D(D+1)/3), as Proposition 1 has it; γ is rounded to float64.

        e^−γ is the root of f. V(γ) falls strictly, so a bracket and two Newton steps settle it
        (Theorem 5 has both). In the upper half of the range the unknown is the gap
        D(D+1)/3 − V, which keeps γ accurate where V itself hardly moves any more. `certified.gamma`
        encloses the exact γ.

        >>> float(Noise.of_variance(11, 4).gamma)
        0.12499997198488...
        """
        half_width = parameters.support(support)
        return Noise(half_width, _gamma(half_width, _proper_variance(half_width, variance)))


@dataclass(frozen=True, init=False)
class Geometric(Family):
    """The truncated two-sided geometric noise on [−D, D]: p(z) ∝ exp(−rate·|z|).

    >>> Geometric(1, "0.5").pmf.round(6)
    array([0.274069, 0.451863, 0.274069])
    """

    support: int
    rate: Fraction

    def __init__(self, support: int, rate: parameters.Number) -> None:
        """Check D and the rate; a ValueError or TypeError names what is wrong."""
        object.__setattr__(self, "support", parameters.support(support))
        exact = parameters.number(rate, "rate", high=parameters.EPSILON_MAX, includes="high")
        object.__setattr__(self, "rate", exact)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The pair (rate, 0)."""
        return self.rate, Fraction(0)

    @classmethod
    def of_variance(cls, support: int, variance: parameters.Number) -> Geometric:
        """The noise with variance V in (0, D(D+1)/3); the rate is rounded to float64.

        V falls as the rate t grows, between D(D+1)/3 − t·D³/4 and 1/(cosh t − 1) (Theorem 31).

        >>> float(Geometric.of_variance(25, 49).rate)
        0.1873...
        """
        half_width = parameters.support(support)
        rate = _geometric_rate(half_width, _proper_variance(half_width, variance))
        if rate > parameters.EPSILON_MAX:
            allowed = f"so large that the rate is at most {parameters.EPSILON_MAX}"
            raise parameters.wrong_value("variance", allowed, variance)
        return Geometric(half_width, rate)


AnyNoise = Noise | Geometric
"""What the functions of the other modules take."""


def check(noise: AnyNoise) -> AnyNoise:
    """The noise, if it is one; anything else is a TypeError."""
    if not isinstance(noise, Noise | Geometric):
        raise parameters.wrong_type("noise", "a Noise or Geometric", noise)
    return noise


def _fixed(values: Array) -> Array:
    """The array, which nobody can change: it is kept."""
    values.flags.writeable = False
    return values


def _variance(half: Array) -> float:
    """V from p(1)/p(0), …, p(D)/p(0)."""
    squares = _squares(len(half))
    return 2 * float((squares * half).sum()) / (1 + 2 * float(half.sum()))


def _squares(support: int) -> Array:
    """1, 4, 9, …, D²: exact in float64."""
    return np.arange(1, support + 1, dtype=np.float64) ** 2


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

    Raises ValueError where x^(D²) is beyond float64.

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


def _gamma(support: int, variance: Fraction) -> float:
    """γ(V) of `Noise.of_variance`."""
    bound = variance_bound(support)
    squares = _squares(support)
    missing, target = float(bound - variance), float(variance)

    def excess(rate: float) -> float:
        """ln(V(γ)/V), or the same of the gaps with its sign turned: it falls from + to −."""
        if 2 * variance <= bound:
            return math.log(_variance(np.exp(-rate * squares)) / target)
        return math.log(missing / _gap(rate * squares, float(bound)))

    # V(γ) ≤ 1/(2γ), and 0 ≤ Var(Z²) ≤ D⁴/4 keeps the gap below γD⁴/4.
    low, high = 4 * missing / support**4, min(1 / (2 * target), parameters.GAMMA_MAX + 1)
    rate = math.exp(
        _root(lambda log: excess(math.exp(log)), math.log(low) - 1e-9, math.log(high) + 1e-9, xtol=1e-9)
    )
    for _ in range(2):
        weights = np.exp(-rate * squares)
        total = 1 + 2 * float(weights.sum())
        second = 2 * float((squares * weights).sum()) / total
        fourth = 2 * float((squares**2 * weights).sum()) / total
        in_gap = 2 * variance > bound
        residual = missing - _gap(rate * squares, float(bound)) if in_gap else second - target
        rate += residual / (fourth - second**2)
    return rate


def _root(function: Callable[[float], float], low: float, high: float, **tolerances: float) -> float:
    from scipy.optimize import brentq  # here, as its import outlasts most uses of the command line

    return float(brentq(function, low, high, **tolerances))


def _geometric_rate(support: int, variance: Fraction) -> float:
    """The rate of `Geometric.of_variance`; in the upper half of the range from the gap D(D+1)/3 − V."""
    bound = variance_bound(support)
    z, missing = np.arange(1.0, support + 1), float(bound - variance)

    def excess(rate: float) -> float:
        """ln(V(t)/V), or the same of the gaps with its sign turned: it falls from + to −."""
        if 2 * variance <= bound:
            return math.log(_variance(np.exp(-rate * z)) / float(variance))
        return math.log(missing / _gap(rate * z, float(bound)))

    # V(t) < 1/(cosh t − 1), and the gap is at most t·D³/4.
    low, high = 4 * missing / support**3, 2 * math.asinh(math.sqrt(0.5 / float(variance)))
    return math.exp(
        _root(lambda log: excess(math.exp(log)), math.log(low) - 1e-9, math.log(high) + 1e-9, xtol=1e-15)
    )


def _gap(exponents: Array, bound: float) -> float:
    """D(D+1)/3 − V without cancellation, from Σ (z² − D(D+1)/3) = 0 over [-D, D]."""
    changes = float(((bound - _squares(len(exponents))) * np.expm1(-exponents)).sum())
    return 2 * changes / (1 + 2 * float(np.exp(-exponents).sum()))


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
