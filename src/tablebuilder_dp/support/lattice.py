"""Privacy losses that lie on a lattice: their convolution powers, their δ(ε) and its inverse.

Masses belong to the losses u·top, u(top − 2), …, −u·top, largest loss first; losses of independent
answers add, so their masses convolve. Repeated squaring needs about 2·log2(k) products. A product adds
positive numbers only, so float64 keeps small masses as accurate, relative to themselves, as large ones,
which a fast Fourier transform would not; in integers, every product is rounded down.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeVar

import numpy as np
from flint import arb, fmpz_poly
from numpy.typing import NDArray

from tablebuilder_dp.support.intervals import Ball

Array = NDArray[np.float64]
Masses = TypeVar("Masses")

MOST = 100_000
"""The most cells, and the most places of a convolution in float64: about a second."""

WIDEST = 1_000_000
"""The most places of a convolution in integers: some seconds."""


class Lattice(NamedTuple):
    """Where the finite losses of k cells lie: unit·top, unit·(top − 2), …, −unit·top."""

    unit: Fraction
    top: int

    def place(self, epsilon: Fraction) -> tuple[int, Fraction]:
        """The index of the last loss that is at least ε, and how far above ε it is: exactly.

        Returns the index −1 where every loss is below ε.

        >>> Lattice(Fraction(1, 2), 3).place(Fraction(1, 4))
        (1, Fraction(1, 4))
        """
        last = max(-1, math.floor((self.top - epsilon / self.unit) / 2))
        return last, self.unit * (self.top - 2 * last) - epsilon


def power(masses: Array, terms: int) -> Array:
    """The k-fold convolution in float64: the pmf of a sum of k independent terms.

    >>> power(np.array([0.25, 0.5, 0.25]), 2)
    array([0.0625, 0.25  , 0.375 , 0.25  , 0.0625])
    """
    return _repeated(masses, terms, np.convolve)


class Window(NamedTuple):
    """Masses in units of 2^−bits from the index ``first`` on; all others are taken for zero."""

    first: int
    masses: list[int]


def power_from_below(start: Window, terms: int, *, bits: int) -> Window:
    """The k-fold convolution of masses in units of 2^−bits, no value above the true one (Lemma 3).

    What all values lack together need not be estimated: the true ones sum to (Σ masses)^k. What rounds to
    zero at both ends is left out, so that the window grows with the standard deviation of the sum and not
    with its range.

    >>> power_from_below(Window(5, [64, 128, 64]), 2, bits=8)
    Window(first=10, masses=[16, 64, 96, 64, 16])
    >>> power_from_below(Window(0, [1, 254, 1]), 2, bits=8)
    Window(first=1, masses=[1, 252, 1])
    """
    unit = 1 << bits

    def multiply(left: tuple[int, fmpz_poly], right: tuple[int, fmpz_poly]) -> tuple[int, fmpz_poly]:
        first, product = left[0] + right[0], left[1] * right[1] // unit
        zeros = next((place for place in range(product.length()) if product[place]), 0)
        return first + zeros, product.right_shift(zeros)

    first, product = _repeated((start.first, fmpz_poly(start.masses)), terms, multiply)
    return Window(first, [int(value) for value in product.coeffs()])


def excess(masses: Array, *, last: int, rest: float, step: float) -> float:
    """Σ mass·(1 − e^−x), where x = rest, rest + step, … from index ``last`` down to 0. Nothing cancels.

    With x the distance of a loss above ε this is δ(ε), but for the mass at infinity. An empty sum, for
    ``last`` = −1, is 0.

    >>> excess(np.array([0.25, 0.75]), last=1, rest=0, step=1)
    0.15803...
    """
    return float((masses[: last + 1][::-1] * -np.expm1(-rest - step * np.arange(last + 1))).sum())


def excess_of_sum(first: Array, second: Array, *, last: int, rest: float, step: float) -> float:
    """`excess` of the convolution of two arrays of masses, without forming it.

    The convolution would cost n² products; this costs n. It is Σ_i first_i·g(last − i) with
    g(s) = Σ_{j ≤ s} second_j·(1 − e^(−rest − step·(s−j))) = (1 − e^−rest)·C(s) + e^−rest·K(s), where
    C(s) = Σ_{j ≤ s} second_j, B(s) = Σ_{j ≤ s} second_j·e^(−step·(s−j)) and
    K(s) = (1 − e^−step)·(B(0) + … + B(s − 1)): all terms are positive again. Proof: Lemma 38.

    >>> excess_of_sum(np.array([0.5, 0.5]), np.array([0.5, 0.5]), last=1, rest=0, step=1)
    0.15803...
    """
    if last < 0:
        return 0.0
    masses = np.zeros(last + 1)
    masses[: len(second)] = second[: last + 1]
    discounted, width = masses.copy(), 1
    while width <= last:  # B over the last 1, 2, 4, … masses
        discounted[width:] += math.exp(-step * width) * discounted[:-width]
        width *= 2
    rises = np.zeros(last + 1)
    rises[1:] = discounted[:-1].cumsum()
    gains = -math.expm1(-rest) * masses.cumsum() - math.exp(-rest) * math.expm1(-step) * rises
    places = min(len(first), last + 1)
    return float((first[:places] * gains[::-1][:places]).sum())


def enclosed_excess(masses: Sequence[int], *, last: int, rest: Ball, step: Ball) -> Ball:
    """`excess` of exact integer masses as a ball, where ``rest`` and ``step`` are balls.

    >>> float(enclosed_excess([1, 3], last=1, rest=arb(0), step=arb(1)))
    0.63212...
    """
    ratio, discounted = (-step).exp(), arb(0)
    for mass in masses[: last + 1]:
        discounted = discounted * ratio + mass
    return sum(masses[: last + 1]) - (-rest).exp() * discounted


def inverse(delta: float, masses: Array, *, infinite: float, unit: float) -> float:
    """The smallest ε ≥ 0 with δ(ε) ≤ δ, where ``infinite`` is the probability of an infinite loss.

    Infinity where δ is below that (to within 1e-14 of it). At a loss ε_i of the lattice δ(ε_i) is a sum
    that grows with i, so bisection finds the two losses around ε, of which the lower may be replaced by
    0. Down to the lower one, ε_i − s, δ(ε) = δ(ε_i) + (1 − e^(ε − ε_i))·B with
    B = Σ_{j ≤ i} mass_j·e^(−2u(i−j)), u being the ``unit``. So
    ε − (ε_i − s) = ln(1 + e^s·(δ(ε_i − s) − δ)/B), which keeps the digits of a small ε and, as the logarithm
    of a sum of exponentials, does not overflow. Proof: Lemma 38.

    >>> inverse(0.25, np.array([0.5, 0.25]), infinite=0.125, unit=1.0)
    0.71231...
    """
    if delta < infinite * (1 - 1e-14):
        return math.inf
    top, step, target = len(masses) - 1, 2 * unit, max(delta, infinite)

    def at(index: int) -> float:
        return infinite + excess(masses, last=index, rest=0, step=step)

    last = bisect_right(range((top - 1) // 2 + 1), target, key=at) - 1  # of the positive losses
    kink = unit * (top - 2 * last)
    width = min(step, kink)
    slope = float((masses[: last + 1][::-1] * np.exp(-step * np.arange(last + 1))).sum())
    missing = at(last) - math.expm1(-width) * slope - target
    if missing <= 0:
        return kink - width
    return min(kink - width + float(np.logaddexp(0, width + math.log(missing / slope))), kink)


def _repeated(single: Masses, terms: int, multiply: Callable[[Masses, Masses], Masses]) -> Masses:
    result = single
    for bit in f"{terms:b}"[1:]:
        result = multiply(result, result)
        if bit == "1":
            result = multiply(result, single)
    return result
