"""Intervals that contain the truth, and the arithmetic that keeps them honest.

mpmath computes with intervals of a working precision; this module reads them as rational
enclosures, repairs mpmath's rounding of exp and log, and raises the precision until the wanted
digits, or the comparison in question, are decided. The working precision is one for the process,
so these functions are not for use in several threads at once.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from mpmath.ctx_iv import MPIntervalContext
from mpmath.libmp import from_man_exp, from_rational, round_ceiling, round_floor, to_rational

from tablebuilder_dp.support import parameters

MAX_DIGITS = 1000
MAX_BITS = 1 << 14

iv: Any = MPIntervalContext()
"""mpmath's intervals at the working precision ``iv.prec``, in bits."""


@dataclass(frozen=True)
class Enclosure:
    """A closed interval with rational ends that contains the true value."""

    lower: Fraction
    upper: Fraction

    def __contains__(self, value: Fraction | int | float) -> bool:
        return self.lower <= Fraction(value) <= self.upper

    def __float__(self) -> float:
        return float((self.lower + self.upper) / 2)

    def digits(self, count: int) -> str:
        """The value, correctly rounded to ``count`` significant digits.

        >>> Enclosure(Fraction("0.12344"), Fraction("0.12345")).digits(3)
        '0.123'
        """
        with localcontext(prec=parameters.integer(count, "count", low=1, high=MAX_DIGITS)):
            low, high = (Decimal(end.numerator) / end.denominator for end in (self.lower, self.upper))
        if low != high:
            raise parameters.wrong_value("count", "as few digits as the enclosure decides", count)
        return str(low)


def interval(value: Fraction | Enclosure) -> Any:
    """An mpmath interval of the working precision around an exact or enclosed number."""
    low, high = (value.lower, value.upper) if isinstance(value, Enclosure) else (value, value)
    return iv.make_mpf((_rounded(low, round_floor), _rounded(high, round_ceiling)))


def _rounded(value: Fraction, rounding: str) -> Any:
    """A raw mpmath number of the working precision.

    A power of two below the line goes into the exponent: mpmath would strip its zeros eight at a time.
    """
    if value.denominator.bit_count() == 1:
        return from_man_exp(value.numerator, 1 - value.denominator.bit_length(), iv.prec, rounding)
    return from_rational(value.numerator, value.denominator, iv.prec, rounding)


def enclosure(value: Any) -> Enclosure:
    """The exact ends of an mpmath interval."""
    low, high = (Fraction(*map(int, to_rational(end))) for end in value._mpi_)
    return Enclosure(low, high)


def _widened(value: Any) -> Any:
    """The interval with sixteen ulps more at each end.

    mpmath rounds outwards from a value that is already rounded, and so its exp misses the true value
    by a sliver of an ulp about once in 5000 calls; log works in the same way.
    """
    margin = iv.mpf(2) ** (4 - iv.prec)
    return value * iv.mpf([1 - margin.b, 1 + margin.b])


def exp(value: Any) -> Any:
    """e^x for every x of an interval."""
    return _widened(iv.exp(value))


def log(value: Any) -> Any:
    """The natural logarithm of every x of an interval."""
    if not value.a > 0:  # `until` tries again with more bits
        raise OverflowError("the logarithm of an interval that reaches down to zero")
    return _widened(iv.log(value))


def positive_part(value: Any) -> Any:
    """max(0, x) for every x of an interval."""
    zero = iv.mpf(0)
    return iv.mpf([max(value.a, zero), max(value.b, zero)])


def until(decided: Callable[[Enclosure], bool], compute: Callable[[], Any]) -> Enclosure:
    """Run ``compute`` at rising precision until its enclosure settles the question."""
    bits = 128
    while bits <= MAX_BITS:
        iv.prec = bits
        with suppress(OverflowError):  # an interval that reaches to infinity: more bits may help
            found = enclosure(compute())
            if decided(found):
                return found
        bits *= 2
    raise ArithmeticError(
        f"no decision at {MAX_BITS} bits: an equality, or gamma enclosed too widely, or a value too small"
    )


def to_digits(digits: int, compute: Callable[[], Any]) -> Enclosure:
    """Enclose to a relative width of 10^−digits."""
    scale = 10 ** parameters.integer(digits, "digits", low=1, high=MAX_DIGITS)
    return until(
        lambda found: (found.upper - found.lower) * scale <= min(abs(found.lower), abs(found.upper)),
        compute,
    )


def below(bound: Fraction, compute: Callable[[], Any]) -> bool:
    """Decide whether a computed quantity is below ``bound``; the two must not be equal."""
    return until(lambda found: bound not in found, compute).upper < bound
