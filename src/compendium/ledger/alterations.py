"""Small changes of what is printed: each makes another statement, which a check must tell from the first.

A number has another last digit, exponent or sign. A formula has one relation turned, made strict or weak
(= by ≤ and by ≥ too), or left out; one sign turned; one number moved by a unit of its last digit; one factor
or term left out; one function exchanged for its rival (floor and ceil, max and min); one symbol exchanged for
another or moved by one. A word has the rivals that its claim names.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from compendium.ledger import claims
from compendium.ledger.formulas import evaluate

NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
TURNED = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
LOOSENED: dict[type, type[ast.cmpop]] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
WEAKENED: dict[type, tuple[type[ast.cmpop], ...]] = {ast.Eq: (ast.LtE, ast.GtE)}
RIVALS = {"floor": "ceil", "ceil": "floor", "max": "min", "min": "max"}


class Alteration(NamedTuple):
    """Another print, and what kind of change it is."""

    kind: str
    printed: str


def alterations(printed: str) -> list[Alteration]:
    """All small changes of a printed number or formula, each other print once.

    >>> [altered.printed for altered in alterations("9.91e-5")]
    ['9.92e-5', '9.90e-5', '9.91e-4', '9.91e-6', '-9.91e-5']
    >>> [altered.printed for altered in alterations("D**2")]
    ['D', '(D + 1) ** 2', '(D - 1) ** 2', 'D ** 3', 'D ** 1']
    """
    different: dict[str, Alteration] = {}
    if NUMBER.fullmatch(printed):
        for alteration in _of_number(printed):
            if Fraction(alteration.printed) != Fraction(printed):  # a zero has no sign and no exponent
                different.setdefault(alteration.printed, alteration)
    else:
        for alteration in _of_formula(printed):
            different.setdefault(alteration.printed, alteration)
        different.pop(_text(ast.parse(printed, mode="eval").body), None)
    return list(different.values())


def one_change(printed: str, correction: str) -> str:
    """The kind of the one small change, made wherever it occurs, that leads from a print to another; or "".

    "boundary" decides otherwise only where two sides are equal, or at one end of a range; "rounding" puts an
    exact number in the place of its display.

    >>> one_change("a/(b - c) + c - c", "a/(b + c) + c + c"), one_change("Section IV", "Section V")
    ('sign', 'word')
    >>> one_change("floor(t) <= D", "ceil(t) - 1 <= D"), one_change("4e-5*z", "1/24990*z")
    ('boundary', 'rounding')
    >>> one_change("x", "y + 1")
    ''
    """
    try:
        before, after = (ast.parse(text, mode="eval").body for text in (printed, correction))
    except SyntaxError:
        words = [text.split() for text in (printed, correction)]
        same_length = len(words[0]) == len(words[1])
        return "word" if same_length and sum(a != b for a, b in zip(*words, strict=True)) == 1 else ""
    changes = set(_changes(before, after))
    kind = changes.pop()[0] if len(changes) == 1 else ""
    return "" if kind == "form" else kind


def _changes(old: ast.AST, new: ast.AST) -> Iterator[tuple[str, str]]:
    """The kind of each smallest difference of two formulas, with what distinguishes it from others."""
    match old, new:
        case ast.Constant(value), _ if not any(isinstance(node, ast.Name) for node in ast.walk(new)):
            if (before := _text(old)) != (after := _text(new)):
                exact = Fraction(evaluate(after))
                yield "rounding" if claims.rounds_to(exact, str(value)) else "digit", f"{before} {after}"
        case ast.Name(), ast.Name() if old.id != new.id:
            yield "symbol", f"{old.id} {new.id}"
        case ast.Call(ast.Name("floor"), [inside]), ast.BinOp(
            ast.Call(ast.Name("ceil"), [other]), ast.Sub()
        ) if _text(new) == f"ceil({_text(inside)}) - 1":
            yield "boundary", "whole"
        case _, ast.BoolOp(ast.Or(), [end, rest]) if _text(rest) == _text(old):
            is_end = re.fullmatch(r"z == -?D", _text(end))  # one end of the outputs
            yield "boundary" if is_end else "form", "end"
        case ast.BinOp(left, op, right), ast.BinOp(first, sign, second) if type(op) is not type(sign):
            signs = {type(op), type(sign)} == {ast.Add, ast.Sub}
            yield "sign" if signs else "operation", _text(right)
            yield from (*_changes(left, first), *_changes(right, second))
        case ast.Compare(), ast.Compare() if len(old.ops) == len(new.ops):
            for relation, another in zip(old.ops, new.ops, strict=True):
                if type(relation) is not type(another):
                    is_boundary = LOOSENED.get(type(relation)) is type(another)
                    yield "boundary" if is_boundary else "relation", type(relation).__name__
            sides = zip((old.left, *old.comparators), (new.left, *new.comparators), strict=True)
            for one, other in sides:
                yield from _changes(one, other)
        case _ if type(old) is type(new):
            for (_, before), (_, after) in zip(ast.iter_fields(old), ast.iter_fields(new), strict=True):
                olds, news = (part if isinstance(part, list) else [part] for part in (before, after))
                if len(olds) != len(news):
                    yield "form", ""
                for one, other in zip(olds, news, strict=False):
                    if isinstance(one, ast.AST) and isinstance(other, ast.AST):
                        yield from _changes(one, other)
                    elif one != other:
                        yield "form", ""
        case _:
            yield "form", _text(old)


def _of_number(printed: str) -> Iterator[Alteration]:
    mantissa, _, exponent = printed.partition("e")
    tail = f"e{exponent}" if exponent else ""
    for step in (1, -1):
        yield Alteration("digit", f"{_moved(mantissa, step)}{tail}")
    for step in (1, -1):
        yield Alteration("exponent", f"{mantissa}e{int(exponent or 0) + step}")
    yield Alteration("sign", printed[1:] if printed.startswith("-") else f"-{printed}")


def _moved(number: str, step: int) -> str:
    """A decimal, one unit of its last digit further."""
    value = Decimal(number)
    return f"{value + step * Decimal((0, (1,), int(value.as_tuple().exponent))):f}"


def _of_formula(printed: str) -> Iterator[Alteration]:
    tree = ast.parse(printed, mode="eval").body
    bound = {_text(node.target) for node in ast.walk(tree) if isinstance(node, ast.comprehension)}
    called = {_text(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    symbols = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - bound - called)
    whole = _whole_numbers(tree)
    for place, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Constant) and node not in whole:
            changed = copy.deepcopy(tree)
            text = str(node.value)
            more: ast.AST = ast.parse(f"{text}1" if "." in text else f"{text}.01", mode="eval").body
            yield Alteration("digit appended", _text(_put(changed, place, more)))
        for kind, other in _of_node(node, symbols, bound):
            changed = copy.deepcopy(tree)
            yield Alteration(kind, _text(_put(changed, place, other)))


def _whole_numbers(tree: ast.expr) -> set[ast.AST]:
    """The numbers that are whole by their place: exponents, ends of sums, arguments; and powers of ten."""
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and "e" in str(node.value):
            inside.add(node)
        elif isinstance(node, ast.Call) and _text(node.func) in ("range", "p", "pQ", "cQ", "theta"):
            inside |= {part for argument in node.args for part in ast.walk(argument)}
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow | ast.Mod):
            inside |= set(ast.walk(node.right))
    return inside


def _put(tree: ast.expr, place: int, other: ast.AST) -> Any:
    """The tree with another node at a place, in the order of `ast.walk`."""
    old = list(ast.walk(tree))[place]

    class Exchange(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            return copy.deepcopy(other) if node is old else self.generic_visit(node)

    return Exchange().visit(tree)


def _text(tree: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(tree))


def _of_node(node: ast.AST, symbols: list[str], bound: set[str]) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Compare():
            yield from _of_relations(node)
        case ast.BoolOp():
            other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
            yield "connective", ast.BoolOp(other, node.values)
            for left_out in range(len(node.values)):
                values = [value for place, value in enumerate(node.values) if place != left_out]
                yield "term dropped", values[0] if len(values) == 1 else ast.BoolOp(node.op, values)
        case ast.BinOp(left, op, right):
            signs: dict[type, ast.operator] = {
                ast.Add: ast.Sub(),
                ast.Sub: ast.Add(),
                ast.BitXor: ast.BitOr(),
            }
            if type(op) in signs:
                yield "sign", ast.BinOp(left, signs[type(op)], right)
                yield "term dropped", left
                yield "term dropped", right
            elif isinstance(op, ast.Mult | ast.Div):
                yield "factor dropped", left
                yield "factor dropped", right
            elif isinstance(op, ast.Pow):
                yield "exponent", left
        case ast.UnaryOp(ast.USub(), operand):
            yield "sign", operand
        case ast.Constant(value=int() | float() as value):
            text = str(value) if isinstance(value, int) else repr(value)
            for step in (1, -1):
                digits, _, exponent = text.partition("e")
                moved = _moved(digits, step) + (f"e{exponent}" if exponent else "")
                yield "digit", ast.parse(moved, mode="eval").body
        case ast.Call(ast.Name(name), arguments) if name in RIVALS:
            yield "function", ast.Call(ast.Name(RIVALS[name]), arguments, [])
            if len(arguments) > 1:
                yield from (("term dropped", argument) for argument in arguments)
        case ast.Call(ast.Name("abs"), [argument]):
            yield "function", argument
        case ast.Name(name, ast.Load()) if name in symbols or name in bound:
            for sign in (ast.Add(), ast.Sub()):
                yield "index", ast.BinOp(ast.Name(name), sign, ast.Constant(1))
            yield from (("symbol", ast.Name(other)) for other in symbols if other != name)


def _of_relations(node: ast.Compare) -> Iterator[tuple[str, ast.AST]]:
    for place, op in enumerate(node.ops):
        others = [("relation turned", TURNED.get(type(op))), ("boundary", LOOSENED.get(type(op)))]
        others += [("relation weakened", weaker) for weaker in WEAKENED.get(type(op), ())]
        for kind, other in others:
            if other is not None:
                ops = [*node.ops[:place], other(), *node.ops[place + 1 :]]
                yield kind, ast.Compare(node.left, ops, node.comparators)
    sides = [node.left, *node.comparators]
    if len(sides) > 2:
        yield "term dropped", ast.Compare(sides[1], node.ops[1:], sides[2:])
        yield "term dropped", ast.Compare(sides[0], node.ops[:-1], sides[1:-1])
