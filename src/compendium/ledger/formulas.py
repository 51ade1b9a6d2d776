"""Formulas as the paper prints them, evaluated exactly or in intervals, and compared on many cases.

A claim keeps a printed formula in Python's notation, such as ``D*(D + 1)/3`` or ``eps/(2*D + 1) <= gamma``,
so that the ledger judges what is printed: change a sign there, and the verdict changes.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from types import CodeType
from typing import Any

from tablebuilder_dp.support.intervals import enclosure, exp, interval, iv, log

BITS = 192
CLOSE = Fraction(1, 10**25)
"""Two quantities with e^x in them count as equal when they agree to 25 digits for certain."""

SUPPORTS = (1, 2, 3, 4, 7, 11, 15, 25)
GAMMAS = tuple(Fraction(text) for text in ("0.0003", "0.004", "0.0498", "0.125", "0.7", "2", "9"))
EPSILONS = tuple(Fraction(text) for text in ("0.01", "0.125", "0.5", "1", "1.75", "3", "8"))
NOISES = tuple(product(SUPPORTS, GAMMAS))
"""The wide grid on which statements about all noises are tried."""


@dataclass(frozen=True)
class Cases:
    """How many cases were tried, and which of them fail."""

    total: int
    failures: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.total:
            raise ArithmeticError("no case was tried: nothing is decided")

    def __str__(self) -> str:
        if self.total == 1:
            return f"fails: {self.failures[0]}" if self.failures else "holds"
        if not self.failures:
            return f"holds in all {self.total} cases tried"
        return f"fails in {len(self.failures)} of {self.total} cases tried, first at {self.failures[0]}"


def cases(tried: Iterable[tuple[str, bool]]) -> Cases:
    """Gather cases from pairs of a description and whether the statement holds there.

    >>> print(cases((f"D = {D}", D < 3) for D in (1, 2, 3)))
    fails in 1 of 3 cases tried, first at D = 3
    """
    results = list(tried)
    return Cases(len(results), tuple(name for name, holds in results if not holds))


def on_grid(names: str, grid: Iterable[tuple[Any, ...]], holds: Callable[..., bool]) -> Cases:
    """Gather the cases of a grid; ``names`` are those of its columns, for the descriptions.

    >>> print(on_grid("D x", [(1, 2), (2, 4)], lambda D, x: x == 2 * D))
    holds in all 2 cases tried
    """
    columns = names.split()
    return cases((described(**dict(zip(columns, point, strict=True))), holds(*point)) for point in grid)


def evaluate(formula: str, **names: Any) -> Any:
    """The value of a printed formula: exact, or enclosed if one of the names is an interval.

    All numbers are read exactly. `exp`, `log`, `floor`, `ceil`, `sum`, `range`, `max`, `min` and `abs`
    are known. A comparison of intervals that overlap is not decided, and refused.

    >>> evaluate("floor(0.5 - eps/(2*gamma))", eps=Fraction(1, 2), gamma=Fraction(1, 8))
    -2
    """
    iv.prec = BITS
    is_enclosed = any(isinstance(value, iv.mpf) for value in names.values())
    number: Any = (lambda value: interval(Fraction(value))) if is_enclosed else Fraction
    known = {
        "__builtins__": {},
        "_number": number,
        "exp": exp,
        "log": log,
        "floor": math.floor,
        "ceil": math.ceil,
        "range": lambda *ends: map(
            number, range(*(int(enclosure(iv.mpf(end)).lower) if is_enclosed else int(end) for end in ends))
        ),
        **{function.__name__: function for function in (abs, max, min, sum)},
        **{
            name: number(value) if isinstance(value, int | Fraction) else value
            for name, value in names.items()
        },
    }
    try:
        return eval(_compiled(formula), known)  # noqa: S307 - from the project's own file
    except ValueError as error:  # what mpmath says of intervals that overlap
        raise ArithmeticError(f"undecided at {BITS} bits: {formula}") from error


@cache
def _compiled(formula: str) -> CodeType:
    tree = _Exact().visit(ast.parse(formula, mode="eval"))
    return compile(ast.fix_missing_locations(tree), "<formula>", "eval")


class _Exact(ast.NodeTransformer):
    """Reads the numbers of a formula exactly, but for exponents, which stay whole numbers."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.parse(f"_number('{node.value!r}')", mode="eval").body

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
            node.left = self.visit(node.left)
            return node
        return self.generic_visit(node)


def enclosed(value: Fraction | int) -> Any:
    """A number as an interval, at the precision of all cases."""
    iv.prec = BITS
    return interval(Fraction(value))


def less(first: Any, second: Any) -> bool:
    """Whether one exact or enclosed number is certainly below another."""
    if not isinstance(first, iv.mpf) and not isinstance(second, iv.mpf):
        return bool(first < second)
    low, high = (value if isinstance(value, iv.mpf) else enclosed(value) for value in (first, second))
    return enclosure(high - low).lower > 0


def agree(first: Any, second: Any) -> bool:
    """Whether two exact numbers are equal, or two enclosed ones certainly equal to 25 digits.

    >>> agree(Fraction(1, 3), Fraction(2, 6)), agree(**{"first": exp(iv.mpf(1)), "second": iv.mpf(3)})
    (True, False)
    """
    if not isinstance(first, iv.mpf) and not isinstance(second, iv.mpf):
        return bool(first == second)
    difference, size = enclosure(iv.mpf(first) - second), enclosure(iv.mpf(second))
    largest = max(abs(difference.lower), abs(difference.upper))
    return largest <= CLOSE * min(abs(size.lower), abs(size.upper))


def described(**names: Fraction | int | str) -> str:
    """A case in words.

    >>> described(D=11, gamma=Fraction(1, 8))
    'D = 11, gamma = 0.125'
    """
    return ", ".join(f"{name} = {float(value):.6g}" for name, value in names.items())
