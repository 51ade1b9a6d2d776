"""What the paper prints (``paper/claims.toml``), and when an enclosure rounds to it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from pathlib import Path

from tablebuilder_dp.intervals import Enclosure

PAPER = Path(__file__).resolve().parents[2] / "paper"


@dataclass(frozen=True)
class Claim:
    """One statement of the paper in our words, with the printed value as a string."""

    id: str
    where: str
    says: str
    printed: str


def load(path: Path = PAPER / "claims.toml") -> dict[str, Claim]:
    """All claims by their id, in the file's order."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["claim"]
    return {entry["id"]: Claim(**entry) for entry in entries}


def rounds_to(value: Enclosure, printed: str) -> bool:
    """Whether the enclosed value, rounded to the printed decimal places, is what was printed.

    >>> rounds_to(Enclosure(Fraction("0.12344"), Fraction("0.12346")), "0.123")
    True
    """
    return {_rounded(end, printed) for end in (value.lower, value.upper)} == {Decimal(printed)}


def shown(value: Enclosure, printed: str) -> str:
    """The enclosed value in the notation and to the decimal places of the printed one."""
    rounded = _rounded((value.lower + value.upper) / 2, printed)
    return f"{rounded:e}" if "e" in printed else f"{rounded:f}"


def _rounded(value: Fraction, printed: str) -> Decimal:
    with localcontext(prec=100):
        decimal = Decimal(value.numerator) / value.denominator
        return decimal.quantize(Decimal((0, (1,), int(Decimal(printed).as_tuple().exponent))), ROUND_HALF_UP)
