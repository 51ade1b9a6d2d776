"""The library on another engine: mpmath's intervals and Python's integers in the place of Arb and FLINT.

Run as a program, this puts stand-ins for what the library takes from python-flint in its place, runs the code
of notebooks in this process, which record their numbers: ``python -m support.second_engine NOTEBOOK…``.
Formulas are the library's; all arithmetic behind an enclosure is not. mpmath states no error bound for exp
and log, so these are widened by sixteen units in the last place, many times what has ever been seen.
"""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cache, cached_property, partial
from types import ModuleType, SimpleNamespace
from typing import Any

from mpmath.ctx_iv import MPIntervalContext
from mpmath.libmp import from_man_exp, from_rational, round_ceiling, round_floor, to_rational

iv: Any = MPIntervalContext()


def _rational(value: Any) -> Fraction:
    return Fraction(*map(int, to_rational(value)))


@cache
def _about_one(bits: int) -> Any:
    """From sixteen units in the last of so many places below one to sixteen above it."""
    margin = iv.mpf(2) ** (4 - bits)
    return iv.mpf([1 - margin.b, 1 + margin.b])


class arb:  # noqa: N801 - it takes the place of flint.arb
    """An interval with the questions that the library asks of a ball."""

    def __init__(self, value: Any) -> None:
        if isinstance(value, Fraction):
            ends = (
                from_rational(value.numerator, value.denominator, iv.prec, way)
                for way in (round_floor, round_ceiling)
            )
            value = iv.make_mpf(tuple(ends))
        elif isinstance(value, int):
            ends = (from_man_exp(value, 0, iv.prec, way) for way in (round_floor, round_ceiling))
            value = iv.make_mpf(tuple(ends))
        self.value: Any = value.value if isinstance(value, arb) else value

    @classmethod
    def nan(cls) -> "arb":
        return cls(iv.mpf(["-inf", "inf"]))

    @classmethod
    def pos_inf(cls) -> "arb":
        return cls(iv.mpf("inf"))

    @staticmethod
    def _of(other: Any) -> Any:
        return other.value if isinstance(other, arb) else arb(other).value

    def __add__(self, other: Any) -> "arb":
        return arb(self.value + self._of(other))

    def __sub__(self, other: Any) -> "arb":
        return arb(self.value - self._of(other))

    def __rsub__(self, other: Any) -> "arb":
        return arb(self._of(other) - self.value)

    def __mul__(self, other: Any) -> "arb":
        return arb(self.value * self._of(other))

    def __truediv__(self, other: Any) -> "arb":
        divisor = self._of(other)
        return arb.nan() if divisor.a <= 0 <= divisor.b else arb(self.value / divisor)

    def __rtruediv__(self, other: Any) -> "arb":
        return arb(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> "arb":
        return arb(-self.value)

    def __abs__(self) -> "arb":
        return arb(abs(self.value))

    def __pow__(self, power: int) -> "arb":
        return arb(self.value**power)

    def __float__(self) -> float:
        return float(self.value.mid)

    def __lt__(self, other: Any) -> bool:
        return bool(self.value.b < self._of(other).a)

    def __le__(self, other: Any) -> bool:
        return bool(self.value.b <= self._of(other).a)

    def __gt__(self, other: Any) -> bool:
        return bool(self.value.a > self._of(other).b)

    def __ge__(self, other: Any) -> bool:
        return bool(self.value.a >= self._of(other).b)

    def __eq__(self, other: object) -> bool:
        second = self._of(other)
        return bool(self.value.a == self.value.b == second.a == second.b)

    def __ne__(self, other: object) -> bool:
        return bool(self < other or self > other)

    __hash__ = None  # type: ignore[assignment]

    def _widened(self) -> "arb":
        return arb(self.value * _about_one(iv.prec))

    def exp(self) -> "arb":
        return arb(iv.exp(self.value))._widened()

    def log(self) -> "arb":
        return arb(iv.log(self.value))._widened() if self > 0 else arb.nan()

    def union(self, other: Any) -> "arb":
        second = self._of(other)
        return arb(iv.mpf([min(self.value.a, second.a), max(self.value.b, second.b)]))

    def max(self, other: Any) -> "arb":
        second = self._of(other)
        return arb(iv.mpf([max(self.value.a, second.a), max(self.value.b, second.b)]))

    def min(self, other: Any) -> "arb":
        return -(-self).max(-arb(other))

    def nonnegative_part(self) -> "arb":
        return self.max(0)

    def lower(self) -> "arb":
        return arb(self.value.a)

    def is_finite(self) -> bool:
        return all(end not in (iv.mpf("inf"), iv.mpf("-inf")) for end in (self.value.a, self.value.b))

    def is_zero(self) -> bool:
        return bool(self == 0)

    def _ends(self) -> tuple[Fraction, Fraction]:
        low, high = (_rational(end) for end in self.value._mpi_)
        return low, high

    def _floors(self) -> "SimpleNamespace":
        low, high = (math.floor(end) for end in self._ends())
        return SimpleNamespace(unique_fmpz=lambda: low if low == high else None)

    floor = _floors

    def ceil(self) -> "SimpleNamespace":
        low, high = (math.ceil(end) for end in self._ends())
        return SimpleNamespace(unique_fmpz=lambda: low if low == high else None)

    def mid(self) -> "_Exact":
        low, high = self._ends()
        return _Exact((low + high) / 2)

    def rad(self) -> "_Exact":
        low, high = self._ends()
        return _Exact((high - low) / 2)


class _Exact:
    """A middle or a radius: a whole number times a power of two."""

    def __init__(self, value: Fraction) -> None:
        self.value = value

    def man_exp(self) -> tuple[int, int]:
        return self.value.numerator, 1 - self.value.denominator.bit_length()

    def __lt__(self, other: "_Exact") -> bool:
        return self.value < other.value

    def __gt__(self, other: "_Exact") -> bool:
        return self.value > other.value


class fmpz_poly:  # noqa: N801 - it takes the place of flint.fmpz_poly
    """A polynomial whose coefficients are whole numbers, none of them negative."""

    def __init__(self, coefficients: Sequence[int]) -> None:
        self.coefficients = list(coefficients)

    def __mul__(self, other: "fmpz_poly") -> "fmpz_poly":
        """One product of two long integers, in which every coefficient has room (Kronecker)."""
        left, right = self.coefficients, other.coefficients
        room = max(left).bit_length() + max(right).bit_length() + min(len(left), len(right)).bit_length()
        width = room // 8 + 1
        first, second = (
            int.from_bytes(b"".join(value.to_bytes(width, "little") for value in side), "little")
            for side in (left, right)
        )
        product = (first * second).to_bytes(width * (len(left) + len(right) - 1), "little")
        slots = range(0, len(product), width)
        return fmpz_poly([int.from_bytes(product[slot : slot + width], "little") for slot in slots])

    def __floordiv__(self, unit: int) -> "fmpz_poly":
        return fmpz_poly([value // unit for value in self.coefficients])

    def coeffs(self) -> list[int]:
        return self.coefficients

    def length(self) -> int:
        return len(self.coefficients)

    def __getitem__(self, place: int) -> int:
        return self.coefficients[place]

    def right_shift(self, places: int) -> "fmpz_poly":
        kept = self.coefficients[places:]
        while kept and not kept[-1]:
            kept.pop()
        return fmpz_poly(kept)


class _Context:
    """The precision, which a block can change and which is restored."""

    @property
    def prec(self) -> int:
        return int(iv.prec)

    @contextmanager
    def workprec(self, bits: int) -> Iterator[None]:
        before, iv.prec = iv.prec, bits
        try:
            yield
        finally:
            iv.prec = before


def install() -> None:
    """Put the stand-ins where the library, which must not be imported yet, will look for python-flint."""
    assert not any(name.startswith("tablebuilder_dp") for name in sys.modules)
    flint: Any = ModuleType("flint")
    flint.arb, flint.fmpz_poly, flint.ctx, flint.fmpq = arb, fmpz_poly, _Context(), Fraction
    sys.modules["flint"] = flint


class _Undrawn:
    """A picture that is drawn when a notebook asks for its numbers."""

    def __init__(self, draw: Callable[[], Any]) -> None:
        self._draw = draw

    @cached_property
    def _drawing(self) -> Any:
        return self._draw()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._drawing, name)


def main(*names: str) -> None:
    """Run notebooks; their records go where the environment says, and pictures are drawn for numbers only."""
    install()
    from compendium.figures import drawing
    from compendium.run.places import ROOT
    from compendium.run.results import Results
    from support import in_process

    def postponed(draw: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given, **named: _Undrawn(partial(draw, *given, **named))

    drawing.styled = postponed
    Results.figure = lambda self, picture: None  # type: ignore[method-assign]
    for name in names:
        in_process.run(ROOT / "notebooks" / f"{name}.ipynb", {})


if __name__ == "__main__":
    main(*sys.argv[1:])
