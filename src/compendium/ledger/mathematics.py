"""Formulas of the ledger, which are written as programs write them, set as mathematics."""

from __future__ import annotations

import ast
import re

from compendium.run.notation import tex

SYMBOLS = {
    **{name: f"\\{name}" for name in ("gamma", "delta", "iota", "theta")},
    "eps": r"\varepsilon",
    "epsQ": r"\varepsilon^Q",
    "delta_Q": r"\delta^Q",
    "B_Q": "B^Q",
    "cQ": "c^Q",
    "pQ": "p^Q",
    "zstar": "z^*",
    "KEYSIZE": r"\mathtt{KEYSIZE}",
}
SIGNS: dict[type, str] = {
    ast.Lt: "<",
    ast.LtE: r"\le",
    ast.Gt: ">",
    ast.GtE: r"\ge",
    ast.Eq: "=",
    ast.NotEq: r"\ne",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mod: r"\bmod",
    ast.BitXor: r"\oplus",
    ast.And: r"\text{ and }",
    ast.Or: r"\text{ or }",
}
BETWEEN = {"floor": r"\left\lfloor %s \right\rfloor", "ceil": r"\left\lceil %s \right\rceil"}
SUM, FACTOR, POWER = 1, 2, 3
"""How strongly the parts of an expression hold together."""


def latex(formula: str) -> str:
    r"""A formula in LaTeX; nothing for a number, a word or a list.

    >>> print(latex("C*exp(-gamma*D**2) + sum(z**2*p(z) for z in range(1, D + 1))"))
    C e^{-\gamma D^{2}} + \sum_{z=1}^{D} z^{2} p(z)
    >>> print(latex("0 < delta <= 4e-5"), latex("almost identical"), latex("0.5"), sep="|")
    0 < \delta \le 4 \cdot 10^{-5}||

    A fraction with exponents has the size of a displayed one, as they could not be read otherwise.

    >>> print(latex("exp(-x)/2"))
    \displaystyle \frac{e^{-x}}{2}
    """
    try:
        tree = ast.parse(formula, mode="eval").body
        found = _set(tree, formula) if formula.isascii() and set(formula) & set("*/(<>=^+%") else ""
    except (SyntaxError, NotImplementedError):
        return ""
    return rf"\displaystyle {found}" if r"\frac" in found and "e^{" in found else found


def markdown(printed: str) -> str:
    """A formula as mathematics between dollars, a number or a word as it is.

    >>> markdown("2*D + 1"), markdown("0.5")
    ('$2 D + 1$', '0.5')
    """
    formula = latex(printed)
    return f"${formula}$" if formula else printed


def _set(node: ast.expr, text: str, least: int = 0, *, first: bool = True) -> str:
    """One part; in parentheses if it holds together too weakly, or has a sign and is not the first."""
    strength, shown = _strength_and_text(node, text)
    apart = strength < least or (shown.startswith("-") and not first)
    return rf"\left({shown}\right)" if apart else shown


def _strength_and_text(node: ast.expr, text: str) -> tuple[int, str]:
    match node:
        case ast.Constant():
            return POWER, tex(ast.get_source_segment(text, node) or "")
        case ast.Name(id=name):
            return POWER, _name(name)
        case ast.UnaryOp(operand=operand):
            return FACTOR, f"-{_set(operand, text, FACTOR)}"
        case ast.BinOp(left, ast.Mult(), right):
            return FACTOR, _product(_set(left, text, FACTOR), _set(right, text, FACTOR, first=False))
        case ast.BinOp(ast.UnaryOp(operand=left), ast.Div(), right):
            return FACTOR, f"-{_set(ast.BinOp(left, ast.Div(), right), text)}"
        case ast.BinOp(left, ast.Div(), right):
            return FACTOR, rf"\frac{{{_set(left, text)}}}{{{_set(right, text)}}}"
        case ast.BinOp(left, ast.Pow(), right):
            base = _set(left, text, POWER, first=False)
            base = f"({base})" if "^" in base else base  # (B^Q)^2
            return POWER, f"{base}^{{{_set(right, text)}}}"
        case ast.BinOp(left, op, right):
            return SUM, f"{_set(left, text, SUM)} {SIGNS[type(op)]} {_set(right, text, FACTOR, first=False)}"
        case ast.Compare():
            sides = [_set(side, text, SUM) for side in (node.left, *node.comparators)]
            rest = zip(node.ops, sides[1:], strict=True)
            return 0, " ".join([sides[0], *(f"{SIGNS[type(op)]} {side}" for op, side in rest)])
        case ast.BoolOp(op=op, values=values):
            return 0, SIGNS[type(op)].join(_set(value, text) for value in values)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, arguments, text)
    raise NotImplementedError(f"{text!r} is no formula")


def _call(name: str, arguments: list[ast.expr], text: str) -> tuple[int, str]:
    match arguments:
        case [ast.GeneratorExp(term, [ast.comprehension(index, ast.Call(args=[start, stop]))])]:
            ends = f"_{{{_set(index, text)}={_set(start, text)}}}^{{{_last(stop, text)}}}"
            return FACTOR, rf"\sum{ends} {_set(term, text, FACTOR)}"
    shown = [_set(argument, text) for argument in arguments]
    if name == "exp":
        return POWER, f"e^{{{shown[0]}}}"
    if name in BETWEEN:
        return POWER, BETWEEN[name] % shown[0]
    function = {"log": r"\ln", "max": r"\max", "min": r"\min"}.get(name, _name(name))
    return POWER, f"{function}({', '.join(shown)})"


def _last(stop: ast.expr, text: str) -> str:
    """The last number before the end of a range."""
    match stop:
        case ast.BinOp(left, ast.Add(), ast.Constant(value=1)):
            return _set(left, text)
        case ast.Constant(value=int(value)):
            return str(value - 1)
    return f"{_set(stop, text)} - 1"


def _product(first: str, second: str) -> str:
    """Two factors; a point between them where they would run into each other."""
    words = (r"\mathtt", r"\mathrm")
    apart = second[0].isdigit() or first.startswith(words) or second.startswith(words)
    return f"{first} \\cdot {second}" if apart else f"{first} {second}"


def _name(name: str) -> str:
    if name in SYMBOLS or len(name) == 1:
        return SYMBOLS.get(name, name)
    word, index = re.fullmatch(r"(\D+)(\d*)", name).groups()  # type: ignore[union-attr]
    shown = word if len(word) == 1 else rf"\mathrm{{{word.replace('_', chr(92) + ' ')}}}"
    return f"{shown}_{{{index}}}" if index else shown
