"""Formulas as the paper prints them, evaluated exactly or in intervals, and compared on many cases.

A claim keeps a printed formula in Python's notation, such as ``D*(D + 1)/3`` or ``eps/(2*D + 1) <= gamma``,
so that the ledger judges what is printed: change a sign there, and the verdict changes.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial, reduce, wraps
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


Case = tuple[str, bool]
"""A case in words, and whether the statement holds there."""
_ENOUGH: ContextVar[bool] = ContextVar("one failure is enough", default=False)


@contextmanager
def one_failure_is_enough() -> Iterator[None]:
    """Within the block cases are tried up to the first that fails: enough to see that a statement fails."""
    token = _ENOUGH.set(True)
    try:
        yield
    finally:
        _ENOUGH.reset(token)


@dataclass(frozen=True)
class Cases:
    """How many cases were tried, which of them fail, and whether these are all the cases that there are."""

    total: int
    failures: tuple[str, ...]
    whole: bool = False
    word: str = ""
    """What is true where all cases hold, in the word that a claim may print; ``instead`` where one fails."""
    instead: str = ""

    def __post_init__(self) -> None:
        if not self.total:
            raise ArithmeticError("no case was tried: nothing is decided")

    def __str__(self) -> str:
        if self.total == 1:
            return f"fails: {self.failures[0]}" if self.failures else "holds"
        tried = "there are" if self.whole else "tried"
        if not self.failures:
            return f"holds in all {self.total} cases {tried}"
        return f"fails in {len(self.failures)} of the {self.total} cases {tried}, first at {self.failures[0]}"


def cases(tried: Iterable[Case], *, whole: bool = False, word: str = "", instead: str = "") -> Cases:
    """Gather cases; they are the ``whole`` domain of a statement, or some of it.

    If they are about a word, ``word`` is what is true where all hold, and ``instead`` where one fails.

    >>> print(cases((f"D = {D}", D < 3) for D in (1, 2, 3)))
    fails in 1 of the 3 cases tried, first at D = 3
    """
    total, failures = 0, []
    for name, holds in tried:
        total += 1
        if not holds:
            failures.append(name)
            if _ENOUGH.get():
                break
    return Cases(total, tuple(failures), whole, word, instead)


def by_cases(check: Callable[[Any], Iterable[Case]]) -> Callable[[Any], Cases]:
    """Make a check of a generator of cases."""

    @wraps(check)
    def gathered(claim: Any) -> Cases:
        return cases(check(claim))

    return gathered


def worded(
    word: str, instead: str, *, whole: bool = False
) -> Callable[[Callable[[Any], Iterable[Case]]], Callable[[Any], Cases]]:
    """Make a check about a word of a generator of cases."""

    def decorated(check: Callable[[Any], Iterable[Case]]) -> Callable[[Any], Cases]:
        @wraps(check)
        def gathered(claim: Any) -> Cases:
            return cases(check(claim), whole=whole, word=word, instead=instead)

        return gathered

    return decorated


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
            "_compare": partial(_compare, formula),
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


def holds_between(formula: str, *sides: Sequence[Any], **names: Any) -> bool:
    """Whether a printed chain of relations is one between just these true sides, and holds.

    A weaker statement, with a side left out or moved, is another statement, even where it is true as well.
    Several chains are joined by "and".

    >>> holds_between("z <= D < z + 9", [1, 2, 10], z=1, D=2), holds_between("z <= D", [1, 2, 10], z=1, D=2)
    (True, False)
    """
    if not has_sides(formula, *sides, **names):
        return False
    with precision(BITS):
        return all(
            _compare(formula, first, sign, second, place)
            for place, (sign, (first, second)) in enumerate(
                relation
                for (_, relations), true in zip(chains(formula), sides, strict=True)
                for relation in zip(relations, pairwise(true), strict=True)
            )
        )


def has_sides(formula: str, *sides: Sequence[Any], **names: Any) -> bool:
    """Whether these are the sides of a printed chain of relations, or of several; they need not hold."""
    printed = [chain for chain, _ in chains(formula)]
    if [len(chain) for chain in printed] != [len(true) for true in sides]:
        return False
    return all(
        agree(evaluate(side, **names), value)
        for chain, true in zip(printed, sides, strict=True)
        for side, value in zip(chain, true, strict=True)
    )


@cache
def chains(formula: str) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """The sides and the relations of each chain of a formula."""
    tree = ast.parse(formula, mode="eval").body
    parts = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]
    return tuple(
        (
            tuple(ast.unparse(side) for side in (part.left, *part.comparators)),
            tuple(SIGNS[type(relation)] for relation in part.ops),
        )
        if isinstance(part, ast.Compare)
        else ((ast.unparse(part),), ())
        for part in parts
    )


SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


Equalities = dict[tuple[str, int, str], set[bool]]
"""By formula, place in it and sign of each inequality: whether its two sides were equal, in all cases."""
_EQUALITIES: ContextVar[Equalities | None] = ContextVar("equal sides", default=None)


@contextmanager
def noting_equal_sides() -> Iterator[Equalities]:
    """Note for each inequality that is decided in the block whether its sides are equal."""
    around = _EQUALITIES.get()
    noted: Equalities = {} if around is None else around
    token = _EQUALITIES.set(noted)
    try:
        yield noted
    finally:
        _EQUALITIES.reset(token)


def says_less(formula: str, noted: Equalities) -> bool:
    """Whether a formula has ≤ or ≥ between sides that were equal in every case, where = would say more."""
    return any(
        of == formula and sign in ("<=", ">=") and equal == {True} for (of, _, sign), equal in noted.items()
    )


def _compare(formula: str, first: Any, relation: str, second: Any, place: int) -> bool:
    """Decide a relation of a formula; of balls that overlap it is not decided, and refused."""
    if (noted := _EQUALITIES.get()) is not None and relation not in ("==", "!="):
        noted.setdefault((formula, place, relation), set()).add(not (first < second or first > second))
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

    relations = 0

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.parse(f"_number('{node.value!r}')", mode="eval").body

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if not isinstance(node.op, ast.Pow):
            return self.generic_visit(node)
        exponent = node.right if isinstance(node.right, ast.Constant) else self.visit(node.right)
        return ast.Call(ast.Name("_power", ast.Load()), [self.visit(node.left), exponent], [])

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        sides = [self.visit(side) for side in (node.left, *node.comparators)]
        name: Any = ast.Name("_compare", ast.Load())
        first, self.relations = self.relations, self.relations + len(node.ops)
        decided: list[ast.expr] = [
            ast.Call(name, [left, ast.Constant(SIGNS[type(relation)]), right, ast.Constant(place)], [])
            for place, (relation, (left, right)) in enumerate(
                zip(node.ops, pairwise(sides), strict=True), start=first
            )
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
