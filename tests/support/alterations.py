"""Other prints of a claim: each changes one thing, and a check must see it."""

import re
from collections.abc import Iterator


def altered_number(printed: str) -> Iterator[str]:
    """The number with another last digit, exponent or sign."""
    mantissa, _, exponent = printed.partition("e")
    tail = f"e{exponent}" if exponent else ""
    yield f"{mantissa[:-1]}{(int(mantissa[-1]) + 1) % 10}{tail}"
    yield f"{mantissa}e{int(exponent or 0) + 1}"
    yield printed[1:] if printed.startswith("-") else f"-{printed}"


def altered_formula(printed: str) -> Iterator[str]:
    """The formula with one relation, sign, number or function changed."""
    for found in re.finditer(r" (<=|>=|<|>|==) ", printed):
        turned = {"<": ">", ">": "<", "<=": ">", ">=": "<", "==": "!="}[found[1]]
        yield f"{printed[: found.start()]} {turned} {printed[found.end() :]}"
    for found in re.finditer(r"(?<=[\w)]) ([-+]) (?=[\w(])", printed):
        yield f"{printed[: found.start()]} {'-' if found[1] == '+' else '+'} {printed[found.end() :]}"
    for found in re.finditer(r"(?<![\w.])\d+(?![\w.])", printed):
        for number in (int(found[0]) + 1, int(found[0]) - 1):
            yield f"{printed[: found.start()]}{number}{printed[found.end() :]}"
    for word, other in {"ceil": "floor", "floor": "ceil", "max": "min", "min": "max"}.items():
        if f"{word}(" in printed:
            yield printed.replace(f"{word}(", f"{other}(")
    if printed.startswith("-"):
        yield printed[1:]
    yield printed.replace("^", "|")
