"""Alterations of Python source: one thing changed at a time, so that one can ask who notices.

Each kind is a small mistake in a formula:

- an operator replaced (+ by −, · by /, << by >>), a sign or an absolute value dropped;
- a term of a sum, a factor of a product, a divisor or an exponent dropped; ``a += b`` dropped;
- a whole number one more or less, also in slices and ranges; any other number doubled or halved; yes for no;
- a comparison turned, made strict or weak, or negated; "and" and "or" exchanged, one side or "not" dropped;
- min and max, floor and ceiling, any and all exchanged;
- an argument or an item exchanged with its neighbour, one of two items taken twice;
- a branch taken always or never, a condition of a comprehension dropped.

Left out is what is no formula: docstrings, messages, annotations, types, decorators (the caches), limits of
what is allowed, and refusals: an ``if`` that only raises, what `parameters` checks, and functions whose name
starts with ``check`` are the business of the library's own tests.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
FUNCTIONS = {
    name: other
    for pair in (("min", "max"), ("floor", "ceil"), ("minimum", "maximum"), ("any", "all"))
    for name, other in (pair, pair[::-1])
}
ORDERED = {"enumerate", "sum", "map", "reduce", "partial", "cast", "to_digits"}
"""Their arguments are of different kinds; those of ``FUNCTIONS`` have no order. Neither are exchanged."""

BRANCHES: dict[type[ast.AST], set[bool]] = {
    ast.If: {True, False},
    ast.While: {False},
    ast.comprehension: {True},
}
"""A loop for ever and a comprehension of nothing say little."""

CONDITIONS = ("test", "ifs")
NO_FORMULA = (ast.Import, ast.ImportFrom, ast.Raise, ast.JoinedStr)
NO_FORMULA_IN = {"annotation", "returns", "decorator_list", "bases", "ctx"}
CHECKS = {"isinstance", "wrong_type", "wrong_value", "warn", "_whole", "_probabilities", "_masses"}
"""What refuses, or decides whether to."""


@dataclass(frozen=True)
class Alteration:
    """One change: what it is called, where it is felt, and its place among all of its file."""

    function: str
    """The function around it, as "Class.method" or "outer.inner"; empty for what a module defines outside."""
    change: str
    """The expression before and after; a number in parentheses counts equal changes in one function."""
    lines: range
    """Those of its statement, one of which must run to feel the change; none for what an import sets."""
    place: int


class _Site(NamedTuple):
    function: str
    lines: range
    above: tuple[ast.AST, ...]
    """From the statement down to the node's parent."""
    field: str
    item: int | None
    new: ast.AST

    def old(self) -> ast.AST:
        value = getattr(self.above[-1], self.field)
        node: ast.AST = value if self.item is None else value[self.item]
        return node

    def put(self, node: ast.AST) -> None:
        if self.item is None:
            setattr(self.above[-1], self.field, node)
        else:
            getattr(self.above[-1], self.field)[self.item] = node


def alterations(source: str) -> list[Alteration]:
    """All alterations of a file, in its order.

    >>> [one.change for one in alterations("def f(x): return x - 1")]
    ['x - 1 → x + 1', 'x - 1 → x', 'x - 1 → -1', 'x - 1 → x - 2']
    """
    found, seen = [], Counter[tuple[str, str]]()
    for place, site in enumerate(_sites(ast.parse(source))):
        before, after = _shown(site)
        if before == after:
            continue
        name = site.function, f"{before} → {after}"
        seen[name] += 1
        change = name[1] if seen[name] == 1 else f"{name[1]} ({seen[name]})"
        found.append(Alteration(site.function, change, site.lines, place))
    return found


def altered(source: str, alteration: Alteration) -> str:
    """The file with one alteration.

    >>> code = "def f(x): return x - 1"
    >>> print(altered(code, alterations(code)[1]))
    def f(x):
        return x
    """
    tree = ast.parse(source)
    site = next(site for place, site in enumerate(_sites(tree)) if place == alteration.place)
    site.put(site.new)
    return ast.unparse(ast.fix_missing_locations(tree))


def _shown(site: _Site) -> tuple[str, str]:
    """The smallest part that says something, before and after; a bare number says nothing."""
    old = site.old()
    above = [node for node in (*site.above, old) if not isinstance(node, ast.Slice | ast.keyword)]
    while _is_bare(above[-1]) and isinstance(above[-2], ast.expr | ast.Assign | ast.AugAssign):
        above.pop()
    is_whole = above[-1] is old
    before = ast.unparse(above[-1])
    site.put(site.new)
    after = ast.unparse(site.new if is_whole else above[-1])
    site.put(old)
    if (
        is_whole
        and isinstance(above[-2], ast.If | ast.While | ast.comprehension)
        and site.field in CONDITIONS
    ):
        word = "while" if isinstance(above[-2], ast.While) else "if"
        return f"{word} {before}", f"{word} {after}"
    return before, after


def _is_bare(node: ast.AST) -> bool:
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def _sites(tree: ast.Module) -> Iterator[_Site]:
    return _below(tree, "", range(0), ())


def _below(node: ast.AST, function: str, lines: range, above: tuple[ast.AST, ...]) -> Iterator[_Site]:
    """What can be changed below a node, without the node itself."""
    for field, value in ast.iter_fields(node):
        if field in NO_FORMULA_IN:
            continue
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or _is_no_formula(child):
                continue
            inside, span, path = function, lines, (*above, node)
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inside, span = f"{function}.{child.name}".removeprefix("."), range(0)
            elif isinstance(child, ast.stmt):
                span, path = _span(child) if function else range(0), (node,)
            for new in _others(child, node, field):
                yield _Site(inside, span, path, field, index if isinstance(value, list) else None, new)
            yield from _below(child, inside, span, path)


def _span(statement: ast.stmt) -> range:
    """The lines that run if the statement does; of a compound one, those of its head."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if body else statement.end_lineno
    return range(statement.lineno, max(statement.lineno, last or 0) + 1)


def _is_no_formula(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(name=name):
            return name.lstrip("_").startswith("check") or name == "__post_init__"
        case ast.If(body=[*_, ast.Raise()], orelse=[]):
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(value=ast.Subscript() | ast.BinOp(op=ast.BitOr())):  # the name of a type
            return True
        case ast.Assign(targets=[target]) if _is_limit(target):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="parameters"))):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in CHECKS
        case ast.keyword(arg="strict"):
            return True
    return isinstance(node, NO_FORMULA)


def _is_limit(target: ast.expr) -> bool:
    """Whether a name is that of what is allowed, or of how much is done at a time."""
    names = [name.id for name in ast.walk(target) if isinstance(name, ast.Name)]
    return all(name.isupper() and (name[0] == "_" or name[-4:] in ("_MIN", "_MAX")) for name in names)


def _others(node: Any, parent: ast.AST, field: str) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    if field in CONDITIONS and isinstance(parent, ast.If | ast.While | ast.comprehension):
        yield from (ast.Constant(taken) for taken in (True, False) if taken in BRANCHES[type(parent)])
    match node:
        case ast.BinOp():
            yield from _calculations(node)
        case ast.AugAssign():
            if type(node.op) in OPERATORS:
                yield _with(node, op=OPERATORS[type(node.op)]())
            yield ast.Pass()
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert()):
            yield node.operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            neutral = _neutral(parent)  # which would be the term or factor dropped, once more
            others = (value + 1, value - 1)
            yield from (ast.Constant(other) for other in others if other != neutral)
        case ast.Constant(value=float() as value):
            yield from (ast.Constant(value * 2), ast.Constant(value / 2))
        case ast.Compare():
            for place, relation in enumerate(node.ops):
                for other in COMPARISONS[type(relation)]:
                    yield _with(node, ops=[*node.ops[:place], other(), *node.ops[place + 1 :]])
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
            for place in range(len(node.values)):
                rest = node.values[:place] + node.values[place + 1 :]
                yield rest[0] if len(rest) == 1 else _with(node, values=rest)
        case ast.IfExp():
            yield from (node.body, node.orelse)
        case ast.Call():
            yield from _calls(node)
        case ast.Tuple(ctx=ast.Load()) | ast.List(ctx=ast.Load()) if not isinstance(parent, ast.Subscript):
            yield from (_with(node, elts=items) for items in _exchanged(node.elts))
            if len(node.elts) == 2 and isinstance(node, ast.Tuple):
                yield from (_with(node, elts=[item, item]) for item in node.elts)


def _calculations(node: ast.BinOp) -> Iterator[ast.AST]:
    if type(node.op) in OPERATORS:
        yield _with(node, op=OPERATORS[type(node.op)]())
    yield node.left
    if isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd | ast.BitOr):
        yield node.right
    elif isinstance(node.op, ast.Sub):
        yield ast.UnaryOp(ast.USub(), node.right)


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    if name in FUNCTIONS:
        other = {"id" if isinstance(node.func, ast.Name) else "attr": FUNCTIONS[name]}
        yield _with(node, func=_with(node.func, **other))
    if name == "abs":
        yield node.args[0]
    if name not in {*FUNCTIONS, *ORDERED}:
        yield from (_with(node, args=arguments) for arguments in _exchanged(node.args))


def _neutral(parent: ast.AST) -> int | None:
    """The number that changes nothing in a sum, product or power."""
    if not isinstance(parent, ast.BinOp):
        return None
    sums, products = (ast.Add, ast.Sub, ast.LShift, ast.RShift), (ast.Mult, ast.Div, ast.Pow)
    return 0 if isinstance(parent.op, sums) else 1 if isinstance(parent.op, products) else None


def _exchanged(items: list[ast.expr]) -> Iterator[list[ast.expr]]:
    """The items with two neighbours exchanged."""
    for place in range(len(items) - 1):
        yield [*items[:place], items[place + 1], items[place], *items[place + 2 :]]


def _with(node: Any, **fields: Any) -> Any:
    """A copy of a node with some fields replaced."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new
