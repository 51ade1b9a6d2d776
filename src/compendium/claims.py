"""What the paper prints (``paper/claims.toml``), and whether a computed value is what it prints."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from pathlib import Path

from compendium.files import ROOT
from tablebuilder_dp.intervals import Enclosure

Value = Enclosure | Fraction | int | str
"""What a claim is compared with: an enclosed or exact number, or a word such as "yes"."""


@dataclass(frozen=True)
class Claim:
    """One statement of the paper in our words, with the printed value as a string."""

    id: str
    where: str
    says: str
    printed: str


def load(path: Path = ROOT / "paper" / "claims.toml") -> dict[str, Claim]:
    """All claims by their id, in the file's order."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["claim"]
    return {entry["id"]: Claim(**entry) for entry in entries}


def rounds_to(value: Value, printed: str) -> bool:
    """Whether a value, rounded to the printed decimal places, is what was printed.

    >>> rounds_to(Enclosure(Fraction("0.12344"), Fraction("0.12346")), "0.123")
    True
    >>> rounds_to("no", "yes")
    False
    """
    if isinstance(value, str):
        return value == printed
    return {_rounded(end, printed) for end in _ends(value)} == {Decimal(printed)}


def shown(value: Value, printed: str) -> str:
    """A value in the notation and to the decimal places of the printed one."""
    if isinstance(value, str):
        return value
    middle = sum(_ends(value), Fraction(0)) / 2
    if "e" in printed:
        with localcontext(prec=100):
            decimal = Decimal(middle.numerator) / middle.denominator
        return f"{decimal:.{len(Decimal(printed).as_tuple().digits) - 1}e}"
    return f"{_rounded(middle, printed):f}"


def _ends(value: Enclosure | Fraction | int) -> tuple[Fraction, Fraction]:
    return (value.lower, value.upper) if isinstance(value, Enclosure) else (Fraction(value), Fraction(value))


def _rounded(value: Fraction, printed: str) -> Decimal:
    place = Decimal((0, (1,), int(Decimal(printed).as_tuple().exponent)))
    with localcontext(prec=100):
        return (Decimal(value.numerator) / value.denominator).quantize(place, ROUND_HALF_UP)
