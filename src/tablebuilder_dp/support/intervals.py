"""Numbers that are known up to a proved error, and the precision that settles a question about them.

Arb, through python-flint, computes with balls: a middle and a radius that is sure to cover every error
of rounding. This module reads balls as rational enclosures and raises the precision until the wanted
digits, or the comparison in question, are decided. The precision is one for the process: `precision`
sets it for a block under a lock and restores it, so that many threads may ask at once and no answer
depends on what was asked before.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from flint import arb, ctx, fmpq

from tablebuilder_dp.support import parameters

MAX_DIGITS = 1000
MAX_BITS = 1 << 14

Ball = arb
"""A real number with its error bound; ``<`` and ``>`` between balls are true only if they are certain.

Squares are written ``x * x``: python-flint has no ``x**2`` of a ball whose middle is zero.
"""

EXPONENT_MAX = 3_000_000
"""Balls beyond 2^±this, about 10^±900000, are not written out as fractions: they would fill the memory."""

_SMALLEST, _LARGEST = arb(2) ** -EXPONENT_MAX, arb(2) ** EXPONENT_MAX
_UNDECIDED = (
    f"no decision at {MAX_BITS} bits: an equality, or gamma enclosed too widely, or a value too small"
)
_one_at_a_time = threading.RLock()


@dataclass(frozen=True, repr=False)
class Enclosure:
    """A closed interval with rational ends that contains the true value.

    Where a function takes ``digits``, the interval is no wider than 10^−digits of the value.
    """

    lower: Fraction
    upper: Fraction

    def __contains__(self, value: Fraction | int | float) -> bool:
        return self.lower <= Fraction(value) <= self.upper

    def __float__(self) -> float:
        return float((self.lower + self.upper) / 2)

    def __repr__(self) -> str:
        try:
            return f"Enclosure(lower={self.lower!r}, upper={self.upper!r})"
        except ValueError:  # Python refuses to write out integers of thousands of digits
            return f"Enclosure(lower={float(self.lower)!r}, upper={float(self.upper)!r}, rounded)"

    def digits(self, count: int) -> str:
        """The value, correctly rounded to ``count`` significant digits.

        Returns a text. Raises ValueError where the enclosure is too wide to decide the last digit.

        >>> Enclosure(Fraction("0.12344"), Fraction("0.12345")).digits(3)
        '0.123'
        """
        places = parameters.integer(count, "count", low=1, high=MAX_DIGITS)
        low, high = (_rounded(end, places) for end in (self.lower, self.upper))
        if low != high:
            raise parameters.wrong_value("count", "as few digits as the enclosure decides", count)
        return str(low)


def _rounded(value: Fraction, places: int) -> Decimal:
    """The number to some significant digits, half to even; of long fractions by balls, as that is faster."""
    with localcontext(prec=places):
        if value.denominator.bit_length() < 1 << 16:
            return Decimal(value.numerator) / value.denominator
        size = value.numerator.bit_length() - value.denominator.bit_length()
        shift = places - math.floor(size * math.log10(2))
        while True:
            with precision(4 * places + 128):
                nearest = (ball(value) * arb(10) ** shift + arb(1) / 2).floor().unique_fmpz()
            if nearest is None:  # half-way between two
                return Decimal(value.numerator) / value.denominator
            if 10 ** (places - 1) <= abs(int(nearest)) <= 10**places:
                return +Decimal(int(nearest)).scaleb(-shift)
            shift += 1 if abs(int(nearest)) < 10 ** (places - 1) else -1


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Let balls have this many bits in a block; every other thread that asks for such a block waits.

    All that computes with balls runs inside one; outside, balls have whatever precision is in force.
    """
    with _one_at_a_time, ctx.workprec(bits):
        yield


def ball(value: Fraction | int | Enclosure) -> Ball:
    """A ball of the working precision around an exact or enclosed number."""
    if isinstance(value, Enclosure):
        return ball(value.lower).union(ball(value.upper))
    return arb(fmpq(value.numerator, value.denominator))


def enclosure(value: Ball) -> Enclosure:
    """The exact ends of a ball.

    >>> enclosure(ball(Fraction(1, 4)))
    Enclosure(lower=Fraction(1, 4), upper=Fraction(1, 4))
    """
    middle, radius = _exact(value.mid()), _exact(value.rad())
    return Enclosure(middle - radius, middle + radius)


def _exact(value: Ball) -> Fraction:
    mantissa, exponent = (int(part) for part in value.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def exponential(value: Fraction | int | Enclosure) -> Ball:
    """e^x of an exact or enclosed number; of an enclosure by its ends, since balls of wide ones lose much."""
    if isinstance(value, Enclosure):
        return exponential(value.lower).union(exponential(value.upper))
    return ball(value).exp()


def until(decided: Callable[[Enclosure], bool], compute: Callable[[], Ball], *, bits: int = 128) -> Enclosure:
    """Run ``compute`` at rising precision until its enclosure settles the question.

    Returns that enclosure. Raises ArithmeticError where ``MAX_BITS`` bits do not settle it, or the value is
    beyond 2^±EXPONENT_MAX.
    """
    for value in _computed(compute, bits):
        if abs(value) > _LARGEST or (abs(value) < _SMALLEST and abs(value) > 0):
            raise ArithmeticError(f"no decision: a value beyond 2^±{EXPONENT_MAX}")
        if abs(value) > _SMALLEST or value.is_zero():
            ends = enclosure(value)
            if decided(ends):
                return ends
    raise ArithmeticError(_UNDECIDED)


def _computed(compute: Callable[[], Ball], bits: int) -> Iterator[Ball]:
    """What ``compute`` gives at rising precision, where it is finite: else more bits may help."""
    while bits <= MAX_BITS:
        with precision(bits):
            value = compute()
        if value.is_finite():
            yield value
        bits *= 2


def to_digits(digits: int, compute: Callable[[], Ball]) -> Enclosure:
    """Enclose to a relative width of 10^−digits.

    Returns the enclosure, without any width for a ball that is exactly 0. Raises ArithmeticError where
    `until` does.
    """
    wanted = parameters.integer(digits, "digits", low=1, high=MAX_DIGITS)
    scale = 10**wanted
    return until(
        lambda ends: (ends.upper - ends.lower) * scale <= min(abs(ends.lower), abs(ends.upper)),
        compute,
        bits=first_bits(wanted),
    )


def first_bits(digits: int) -> int:
    """The precision at which `to_digits` begins.

    >>> first_bits(30)
    184
    """
    return 64 + 4 * digits


def below(bound: Fraction, compute: Callable[[], Ball]) -> bool:
    """Decide whether a computed quantity is below ``bound``; the two must not be equal.

    Returns True or False. Raises ArithmeticError where ``MAX_BITS`` bits do not decide.
    """
    for difference in _computed(lambda: compute() - ball(bound), 128):
        if difference < 0 or difference > 0:
            return bool(difference < 0)
    raise ArithmeticError(_UNDECIDED)
