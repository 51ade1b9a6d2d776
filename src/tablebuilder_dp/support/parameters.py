"""What may be passed to this library, checked in one place and in one voice.

Every error is one sentence: the argument, what is allowed, what was given. A float means the
decimal that it prints as (0.1 is one tenth), so every parameter is an exact rational inside.
"""

from __future__ import annotations

import operator
import re
import reprlib
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Number = int | float | Fraction | Decimal | str
"""What a real parameter may be given as."""

SUPPORT_MAX = 10**6
KEYSIZE_MAX = 2**64
EPSILON_MAX = 500
EPSILON_MIN = Fraction(1, 10**290)  # so that γ, about ε/(2D), stays above TINY for every support
GAMMA_MAX = 690  # beyond it P(Z != 0) is below 1e-299 and float64 has no room for the tails
VARIANCE_MARGIN = Fraction(1, 10**270)  # V stays this far from its ends, 0 and D(D+1)/3
TINY = Fraction(1, 10**300)  # positive numbers below it are refused: float64 would lose their digits
EXPONENT_MAX = 5000  # 10**EXPONENT_MAX is still quick to write out as an integer

_ONE_OVER_TINY = 10**300
_NUMBERS = (int, float, Decimal, str, np.integer, np.floating)


def shown(value: object) -> str:
    """The offending value, cut to a length that fits a sentence.

    Returns a text of at most 80 characters.
    """
    try:
        text = str(value) if isinstance(value, np.generic) else reprlib.repr(value)
    except ValueError:  # Python refuses to write out integers of thousands of digits
        text = f"a very long {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def finite(value: float) -> float | str:
    """A number for JSON, which has no infinity: that is the text "inf"."""
    return "inf" if value == float("inf") else value


def wrong_value(name: str, allowed: str, value: object) -> ValueError:
    """The error for a value of the right type that is not allowed.

    Returns the error; the caller raises it.
    """
    return ValueError(f"{name} must be {allowed}, got {shown(value)}")


def wrong_type(name: str, allowed: str, value: object) -> TypeError:
    """The error for a value of the wrong type.

    Returns the error; the caller raises it.
    """
    return TypeError(f"{name} must be {allowed}, got {shown(value)} ({type(value).__name__})")


def number(
    value: Any,
    name: str,
    *,
    low: int = 0,
    high: int | None = None,
    includes: str = "",
    allowed: str = "",
) -> Fraction:
    """Read ``value`` as the exact rational that it prints as, and check its range.

    The interval is open; ``includes`` names the ends ("low", "high" or "low high") that belong to
    it. ``allowed`` replaces the description of the interval in the message.

    Returns a Fraction. Raises ValueError outside the interval and TypeError for what is not a number.

    >>> number(0.1, "epsilon")
    Fraction(1, 10)
    >>> number("1e-4", "delta", high=1)
    Fraction(1, 10000)
    >>> number(-1, "epsilon", high=500, includes="high")
    Traceback (most recent call last):
    ...
    ValueError: epsilon must be a number in (0, 500], got -1
    """
    exact = _rational(value, name)
    if exact is not None:
        above = exact >= low if "low" in includes else exact > low
        below = high is None or (exact <= high if "high" in includes else exact < high)
        if above and below:
            if exact.denominator < _ONE_OVER_TINY or exact >= TINY or exact == 0:
                return exact
            allowed = f"at least {float(TINY)}"
    left = "[" if "low" in includes else "("
    right = "]" if "high" in includes else ")"
    end = "inf" if high is None else high
    point = " with a decimal point" if isinstance(value, str) and "," in value else ""
    raise wrong_value(name, allowed or f"a number in {left}{low}, {end}{right}{point}", value)


def _rational(value: Any, name: str) -> Fraction | None:
    """The exact value of a number, or None where it has none that is finite and of sane size."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, _NUMBERS):
        raise wrong_type(name, "a number (int, float, Fraction, Decimal or decimal string)", value)
    if isinstance(value, int | np.integer):
        return Fraction(int(value))
    return _decimal(str(value))


@lru_cache(maxsize=1024)  # the same γ is read again by every function on its way
def _decimal(text: str) -> Fraction | None:
    try:
        decimal = Decimal(text)
    except InvalidOperation:
        return None
    if not decimal.is_finite() or (decimal and abs(decimal.adjusted()) > EXPONENT_MAX):
        return None
    return Fraction(decimal)


def integer(value: Any, name: str, *, low: int, high: int) -> int:
    """Read an integer in [low, high]; NumPy integers are welcome, booleans and floats are not.

    Returns an int. Raises ValueError outside the range and TypeError for what is not an integer.
    """
    allowed = f"an integer from {low} to {high}"
    if isinstance(value, bool | np.bool_):
        raise wrong_type(name, allowed, value)
    try:
        result = operator.index(value)
    except TypeError:
        raise wrong_type(name, allowed, value) from None
    if not low <= result <= high:
        raise wrong_value(name, allowed, value)
    return result


def one_of(value: Any, name: str, allowed: Sequence[str]) -> str:
    """One of some texts; anything else is a ValueError.

    >>> one_of("white", "noise", ["best", "geometric"])
    Traceback (most recent call last):
    ...
    ValueError: noise must be one of best, geometric, got 'white'
    """
    if value not in allowed:
        raise wrong_value(name, f"one of {', '.join(allowed)}", value)
    return str(value)


def support(value: Any) -> int:
    """D, half the width of the noise's support [-D, D].

    >>> support(-3)
    Traceback (most recent call last):
    ...
    ValueError: support must be an integer from 1 to 1000000, got -3
    """
    return integer(value, "support", low=1, high=SUPPORT_MAX)


def keysize(value: Any) -> int:
    """KEYSIZE, the number of cell keys that the lookup table distinguishes."""
    return integer(value, "keysize", low=2, high=KEYSIZE_MAX)


def gamma(value: Any) -> Fraction:
    """γ, the rate of decay of the pmf C·exp(−γz²)."""
    return number(value, "gamma", high=GAMMA_MAX, includes="high")


def epsilon(value: Any) -> Fraction:
    """ε, the bound on the logarithm of the privacy loss."""
    exact = number(value, "epsilon", high=EPSILON_MAX, includes="high")
    if exact < EPSILON_MIN:
        raise wrong_value("epsilon", f"at least {float(EPSILON_MIN)}", value)
    return exact


def delta(value: Any) -> Fraction:
    """δ, the probability by which the bound may be missed."""
    return number(value, "delta", high=1)


def slack(value: Any) -> Fraction:
    """How far γ stays from the end of its range, as a part of that range's length."""
    return number(value, "slack", high=1, includes="low high")


def many(
    values: Any, name: str, read: Callable[[Any], Fraction], *, high: float
) -> tuple[NDArray[np.float64], Any, bool]:
    """Read one number or a non-empty sequence of them: float64 values, the originals, is it one?

    ``read`` is the exact reader of one number in (0, high]. A float64 array that lies well inside
    that range is taken as it is; everything else goes through ``read``, which names the offender.

    Raises ValueError for an empty sequence and for more than one dimension.
    """
    floats = None
    if isinstance(values, np.ndarray) and values.ndim:
        if values.ndim > 1:
            raise wrong_value(name, f"one-dimensional, not of shape {values.shape}", values)
        if type(values) is np.ndarray and values.dtype == np.float64:
            floats = values
    elif isinstance(values, list | tuple):
        floats = np.array(values) if all(type(value) is float for value in values) else None
    else:
        value = values[()] if isinstance(values, np.ndarray) else values
        return np.array([float(read(value))]), [value], True
    if len(values) == 0:
        raise wrong_value(name, "a number or a non-empty sequence of numbers", values)
    if floats is not None and floats.min() > 1e-290 and floats.max() < high:  # false for NaN
        return floats, values, False
    return np.array([float(read(value)) for value in values]), values, False


def integers(values: Any, name: str, *, low: int, high: int) -> NDArray[Any]:
    """Read an array of integers in [low, high], of any integer type and shape.

    Lists of Python integers up to 2^64 are welcome, though NumPy by itself makes floats of some.

    Returns an array of an integer type, of the shape given. Raises ValueError outside the range and TypeError
    for what is not integers.
    """
    allowed = f"integers from {low} to {high}"
    try:
        array = np.asarray(values)
        if array.dtype.kind in "fO" and not isinstance(values, np.ndarray):
            array = np.array(values, dtype=object)
    except ValueError:  # rows of different lengths
        raise wrong_type(name, allowed, values) from None
    if array.dtype.kind == "O" and array.size and all(type(value) is int for value in array.flat):
        for value in (array.min(), array.max()):
            if not low <= value <= high:
                raise wrong_value(name, allowed, value)
        return array.astype(np.uint64)
    if array.dtype.kind not in "iu":
        raise wrong_type(name, allowed, values)
    limits = np.iinfo(array.dtype)
    if array.size and not (low <= limits.min and limits.max <= high):
        for value in (int(array.min()), int(array.max())):
            if not low <= value <= high:
                raise wrong_value(name, allowed, value)
    return array


# --- Numbers as they are typed ---------------------------------------------------------------


def read_integer(text: str, name: str) -> int:
    """A whole number as it was typed."""
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", text):
        raise wrong_value(name, "an integer", text)
    return int(text)


def read_keysize(text: str) -> int:
    """A number of keys, also as a power such as 2^32."""
    power = re.fullmatch(r"([0-9]{1,2})(?:\^|\*\*)([0-9]{1,2})", text)
    return int(power[1]) ** int(power[2]) if power else read_integer(text, "keysize")
