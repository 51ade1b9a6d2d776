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
from decimal import MAX_EMAX, MAX_PREC, Context, Decimal
from fractions import Fraction
from functools import cache, cached_property, partial
from types import ModuleType, SimpleNamespace
from typing import Any

from mpmath import libmp
from mpmath.libmp import finf, fninf, round_ceiling, round_floor
from mpmath.libmp.libmpf import mpf_min_max


class _Context:
    """The precision, which a block can change and which is restored."""

    prec = 53

    @contextmanager
    def workprec(self, bits: int) -> Iterator[None]:
        before, self.prec = self.prec, bits
        try:
            yield
        finally:
            self.prec = before


ctx = _Context()


@cache
def _about_one(bits: int) -> Any:
    """From sixteen units in the last of so many places below one to sixteen above it."""
    return tuple(libmp.from_man_exp((1 << bits) + margin, -bits) for margin in (-16, 16))


class arb:  # noqa: N801 - it takes the place of flint.arb
    """An interval between two numbers of mpmath, with the questions that the library asks of a ball."""

    __slots__ = ("ends",)

    def __init__(self, value: Any) -> None:
        self.ends: Any = self._of(value)

    @classmethod
    def _made(cls, ends: Any) -> "arb":
        made = cls.__new__(cls)
        made.ends = ends
        return made

    @staticmethod
    def _of(value: Any) -> Any:
        if isinstance(value, arb):
            return value.ends
        bits, (above, below) = ctx.prec, value.as_integer_ratio()
        return (
            libmp.from_rational(above, below, bits, round_floor),
            libmp.from_rational(above, below, bits, round_ceiling),
        )

    @classmethod
    def nan(cls) -> "arb":
        return cls._made((fninf, finf))

    @classmethod
    def pos_inf(cls) -> "arb":
        return cls._made((finf, finf))

    def __add__(self, other: Any) -> "arb":
        return self._made(libmp.mpi_add(self.ends, self._of(other), ctx.prec))

    def __sub__(self, other: Any) -> "arb":
        return self._made(libmp.mpi_sub(self.ends, self._of(other), ctx.prec))

    def __rsub__(self, other: Any) -> "arb":
        return self._made(libmp.mpi_sub(self._of(other), self.ends, ctx.prec))

    def __mul__(self, other: Any) -> "arb":
        return self._made(libmp.mpi_mul(self.ends, self._of(other), ctx.prec))

    def __truediv__(self, other: Any) -> "arb":
        divisor = self._of(other)
        holds_zero = libmp.mpf_sign(divisor[0]) <= 0 <= libmp.mpf_sign(divisor[1])
        return arb.nan() if holds_zero else self._made(libmp.mpi_div(self.ends, divisor, ctx.prec))

    def __rtruediv__(self, other: Any) -> "arb":
        return arb(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> "arb":
        return self._made(libmp.mpi_neg(self.ends, ctx.prec))

    def __abs__(self) -> "arb":
        return self._made(libmp.mpi_abs(self.ends, ctx.prec))

    def __pow__(self, power: int) -> "arb":
        return self._made(libmp.mpi_pow_int(self.ends, power, ctx.prec))

    def __float__(self) -> float:
        return float(libmp.to_float(libmp.mpi_mid(self.ends, ctx.prec)))

    def __lt__(self, other: Any) -> bool:
        return bool(libmp.mpf_lt(self.ends[1], self._of(other)[0]))

    def __le__(self, other: Any) -> bool:
        return bool(libmp.mpf_le(self.ends[1], self._of(other)[0]))

    def __gt__(self, other: Any) -> bool:
        return bool(libmp.mpf_gt(self.ends[0], self._of(other)[1]))

    def __ge__(self, other: Any) -> bool:
        return bool(libmp.mpf_ge(self.ends[0], self._of(other)[1]))

    def __eq__(self, other: object) -> bool:
        return len({*self.ends, *self._of(other)}) == 1

    def __ne__(self, other: object) -> bool:
        return bool(self < other or self > other)

    __hash__ = None  # type: ignore[assignment]

    def _widened(self) -> "arb":
        return self._made(libmp.mpi_mul(self.ends, _about_one(ctx.prec), ctx.prec))

    def exp(self) -> "arb":
        if self.ends == (libmp.fzero, libmp.fzero):
            return arb(1)  # exactly, as with balls
        return self._made(libmp.mpi_exp(self.ends, ctx.prec))._widened()

    def log(self) -> "arb":
        return self._made(libmp.mpi_log(self.ends, ctx.prec))._widened() if self > 0 else arb.nan()

    def union(self, other: Any) -> "arb":
        low, high = zip(self.ends, self._of(other), strict=True)
        return self._made((mpf_min_max(low)[0], mpf_min_max(high)[1]))

    def max(self, other: Any) -> "arb":
        ends = zip(self.ends, self._of(other), strict=True)
        return self._made(tuple(mpf_min_max(both)[1] for both in ends))

    def min(self, other: Any) -> "arb":
        return -(-self).max(-arb(other))

    def nonnegative_part(self) -> "arb":
        return self.max(0)

    def lower(self) -> "arb":
        return self._made((self.ends[0], self.ends[0]))

    def is_finite(self) -> bool:
        return not {finf, fninf} & {*self.ends}

    def is_zero(self) -> bool:
        return bool(self == 0)

    def _ends(self) -> tuple[Fraction, Fraction]:
        low, high = (Fraction(*map(int, libmp.to_rational(end))) for end in self.ends)
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


EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX)


class fmpz_poly:  # noqa: N801 - it takes the place of flint.fmpz_poly
    """A polynomial whose coefficients are whole numbers, none of them negative."""

    def __init__(self, coefficients: Sequence[int]) -> None:
        self.coefficients = list(coefficients)

    def __mul__(self, other: "fmpz_poly") -> "fmpz_poly":
        """One product of two long numbers, in which every coefficient has room (Kronecker).

        They are decimal, as Python multiplies such, but no long integers, in nearly linear time.
        """
        left, right = self.coefficients, other.coefficients
        width = len(str(max(left) * max(right) * min(len(left), len(right))))
        first, second = (Decimal("".join(f"{value:0{width}}" for value in side)) for side in (left, right))
        slots = range(0, width * (len(left) + len(right) - 1), width)
        digits = str(EXACT.multiply(first, second)).zfill(slots.stop)
        return fmpz_poly([int(digits[slot : slot + width]) for slot in slots])

    def __floordiv__(self, unit: int) -> "fmpz_poly":
        return fmpz_poly([value // unit for value in self.coefficients])

    def coeffs(self) -> list[int]:
        return self.coefficients

    def length(self) -> int:
        return len(self.coefficients)

    def __getitem__(self, place: int) -> int:
        return self.coefficients[place]

    def __call__(self, value: Any) -> Any:
        """Its value, by Horner's rule."""
        result = value * 0
        for coefficient in reversed(self.coefficients):
            result = result * value + coefficient
        return result

    def truncate(self, length: int) -> "fmpz_poly":
        return fmpz_poly(_trimmed(self.coefficients[:length]))

    def right_shift(self, places: int) -> "fmpz_poly":
        return fmpz_poly(_trimmed(self.coefficients[places:]))


def _trimmed(coefficients: list[int]) -> list[int]:
    """Without zeros at the end."""
    while coefficients and not coefficients[-1]:
        coefficients.pop()
    return coefficients


def install() -> None:
    """Put the stand-ins where the library, which must not be imported yet, will look for python-flint."""
    assert not any(name.startswith("tablebuilder_dp") for name in sys.modules)
    flint: Any = ModuleType("flint")
    flint.arb, flint.fmpz_poly, flint.ctx, flint.fmpq = arb, fmpz_poly, ctx, Fraction
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
