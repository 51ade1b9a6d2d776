"""Formulas as the paper prints them, evaluated exactly or in intervals, and compared on many cases.

A claim keeps a printed formula in Python's notation, such as ``D*(D + 1)/3`` or ``eps/(2*D + 1) <= gamma``,
so that the ledger judges what is printed: change a sign there, and the verdict changes.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from itertools import pairwise, product
from types import CodeType
from typing import Any

from tablebuilder_dp.support.intervals import Ball, Enclosure, ball, enclosure, precision

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
    is_enclosed = any(isinstance(value, Ball) for value in names.values())
    with precision(BITS):
        number: Any = (lambda value: ball(Fraction(value))) if is_enclosed else Fraction
        known = {
            "__builtins__": {},
            "_number": number,
            "_compare": _compare,
            "_power": _power,
            "exp": lambda value: enclosed(value).exp(),
            "log": lambda value: enclosed(value).log(),
            "floor": lambda value: _whole(value, Ball.floor, math.floor),
            "ceil": lambda value: _whole(value, Ball.ceil, math.ceil),
            "max": lambda *values: _extreme(values, Ball.max, max),
            "min": lambda *values: _extreme(values, Ball.min, min),
            "range": lambda *ends: map(number, range(*(_whole(end, Ball.floor, int) for end in ends))),
            **{function.__name__: function for function in (abs, sum)},
            **{
                name: number(value) if isinstance(value, int | Fraction) else value
                for name, value in names.items()
            },
        }
        return eval(_compiled(formula), known)  # noqa: S307 - from the project's own file


def _compare(first: Any, relation: str, second: Any) -> bool:
    """Decide a relation; of balls that overlap it is not decided, and refused."""
    certain = {
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
    }
    opposite = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
    for name, answer in ((relation, True), (opposite[relation], False)):
        if certain[name](first, second):
            return answer
    raise ArithmeticError(f"undecided at {BITS} bits: {first} {relation} {second}")


def _power(base: Any, exponent: Any) -> Any:
    """A whole power; python-flint has none of a ball whose middle is zero."""
    if not isinstance(base, Ball):
        return base**exponent
    count = _whole(exponent, Ball.floor, int)
    return math.prod([base] * count, start=ball(1)) if count >= 0 else 1 / _power(base, -count)


def _whole(value: Any, of_ball: Callable[[Ball], Ball], exact: Callable[[Any], int]) -> int:
    """An integer next to an exact or enclosed number."""
    if not isinstance(value, Ball):
        return exact(value)
    integer = of_ball(value).unique_fmpz()
    if integer is None:
        raise ArithmeticError(f"undecided at {BITS} bits: an integer next to {value}")
    return int(integer)


def _extreme(values: Sequence[Any], of_balls: Callable[[Ball, Ball], Ball], exact: Callable[..., Any]) -> Any:
    """The largest or smallest of exact or enclosed numbers."""
    numbers = list(values[0]) if len(values) == 1 else list(values)
    return (
        reduce(of_balls, numbers) if any(isinstance(number, Ball) for number in numbers) else exact(numbers)
    )


@cache
def _compiled(formula: str) -> CodeType:
    tree = _Exact().visit(ast.parse(formula, mode="eval"))
    return compile(ast.fix_missing_locations(tree), "<formula>", "eval")


class _Exact(ast.NodeTransformer):
    """Reads the numbers of a formula exactly, but for exponents, and decides its relations for certain."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.parse(f"_number('{node.value!r}')", mode="eval").body

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if not isinstance(node.op, ast.Pow):
            return self.generic_visit(node)
        exponent = node.right if isinstance(node.right, ast.Constant) else self.visit(node.right)
        return ast.Call(ast.Name("_power", ast.Load()), [self.visit(node.left), exponent], [])

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        sides = [self.visit(side) for side in (node.left, *node.comparators)]
        signs = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
        name: Any = ast.Name("_compare", ast.Load())
        decided: list[ast.expr] = [
            ast.Call(name, [left, ast.Constant(signs[type(relation)]), right], [])
            for relation, (left, right) in zip(node.ops, pairwise(sides), strict=True)
        ]
        return decided[0] if len(decided) == 1 else ast.BoolOp(ast.And(), decided)


def enclosed(value: Fraction | int | Enclosure | Ball) -> Ball:
    """A number as a ball, at the precision of all cases."""
    if isinstance(value, Ball):
        return value
    with precision(BITS):
        return ball(value if isinstance(value, Enclosure) else Fraction(value))


def less(first: Any, second: Any) -> bool:
    """Whether one exact or enclosed number is certainly below another."""
    if not isinstance(first, Ball) and not isinstance(second, Ball):
        return bool(first < second)
    with precision(BITS):
        return bool(enclosed(first) < enclosed(second))


def agree(first: Any, second: Any) -> bool:
    """Whether two exact numbers are equal, or two enclosed ones certainly equal to 25 digits.

    >>> agree(Fraction(1, 3), Fraction(2, 6)), agree(enclosed(1).exp(), enclosed(3))
    (True, False)
    """
    if not isinstance(first, Ball) and not isinstance(second, Ball):
        return bool(first == second)
    with precision(BITS):
        difference, size = enclosure(enclosed(first) - enclosed(second)), enclosure(enclosed(second))
    largest = max(abs(difference.lower), abs(difference.upper))
    return largest <= CLOSE * min(abs(size.lower), abs(size.upper))


def described(**names: Fraction | int | str) -> str:
    """A case in words.

    >>> described(D=11, gamma=Fraction(1, 8))
    'D = 11, gamma = 0.125'
    """
    return ", ".join(f"{name} = {float(value):.6g}" for name, value in names.items())
