"""What the paper says (``paper/claims.toml``), and whether a computed value is what it prints."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

from compendium.run.places import ROOT
from tablebuilder_dp.support.intervals import Enclosure

PAPER = ROOT / "paper" / "claims.toml"
"""The statements of the paper."""
OURS = ROOT / "paper" / "corrections.toml"
"""The statements that stand beside those of the paper that fail."""

Value = Enclosure | Fraction | int | str
"""What a claim is compared with: an enclosed or exact number, or a word such as "yes"."""


@dataclass(frozen=True)
class Place:
    """Where the paper says something: section, equation or sentence, and line of its source ARXIV.tex."""

    section: str
    where: str
    line: int


@dataclass(frozen=True)
class Claim:
    """One statement in our words, with what is printed: a number, a formula or a word."""

    id: str
    section: str
    where: str
    says: str
    printed: str
    """What the paper prints: a number with all its digits, a formula in Python's notation, or its words."""
    check: str
    """The function of `compendium.ledger.checks` that finds the truth, as "module.function"."""
    line: int = 0
    """The line of the paper's source; a statement of ours has none."""
    also: tuple[Place, ...] = ()
    """Other places that say the same."""
    reading: str = ""
    """How we read the paper's words, as a formula or a word of our own, where that is what is judged."""
    rivals: tuple[str, ...] = ()
    """Words that could stand in the place of the one that is judged."""
    scale: tuple[str, ...] = ()
    """Words in the order of the quantity that they describe, such as "identical", "close", "far"."""
    limits: tuple[str, ...] = ()
    """Where one word of the scale ends and the next begins."""
    at: Mapping[str, Any] = field(default_factory=dict)
    """The indices and parameters at which the statement is made."""
    meaning: str = ""
    """What a word such as "slightly" is taken to mean."""
    correction: str = ""
    """What should be printed, where a misprint or an omission is suspected."""
    elsewhere: str = ""
    """The function of `compendium.ledger.elsewhere` that asks other statements of the paper about it."""
    otherwise: Mapping[str, Any] = field(default_factory=dict)
    """For a statement that fails: with these parameters in the place of ``at`` it holds."""
    proof: str = ""
    """Why the statement, or its correction, holds for all parameters."""
    because: str = ""
    """Why a statement fails, or on what it depends; numbers of the check stand in braces."""
    changes: str = ""
    """What that means for someone who applies the paper; likewise."""
    severity: str = ""
    """What is at stake where the statement does not simply hold: one of `SEVERITIES`."""
    cause: str = ""
    """The root cause that it shares with others, by its name in ``paper/headlines.toml``."""
    corrects: tuple[str, ...] = ()
    """For a statement of ours: the claims of the paper that it stands beside."""

    @property
    def judged(self) -> str:
        """What is held against the truth: our reading of the print, or the print itself."""
        return self.reading or self.printed

    def judging(self, other: str) -> Claim:
        """The same statement with something else to be judged, and no remedy for it."""
        changed = {"reading": other} if self.reading else {"printed": other}
        return replace(self, **changed, correction="", elsewhere="")  # type: ignore[arg-type]

    @property
    def places(self) -> tuple[Place, ...]:
        """Everywhere that the paper says it."""
        return (Place(self.section, self.where, self.line), *self.also)


SEVERITIES = ("conclusion", "number", "wording")
"""What fails: something that the paper concludes, a number alone, or only how it is put."""
_KINDS = {"line": int, "at": dict, "otherwise": dict} | dict.fromkeys(
    ("also", "rivals", "scale", "limits", "corrects"), list
)


def load(path: Path = PAPER) -> dict[str, Claim]:
    """All claims by their id, in the file's order."""
    file = f"{path.parent.name}/{path.name}"
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))["claim"]
    except (OSError, KeyError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(
            f"the ledger needs a clone of the compendium with a readable {file}: {error}"
        ) from None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"claim in {file} must be a list of tables, each below [[claim]]")
    claims: dict[str, Claim] = {}
    known = {item.name for item in fields(Claim)}
    needed = {
        item.name for item in fields(Claim) if item.default is MISSING and item.default_factory is MISSING
    }
    for entry in entries:
        name = entry.get("id", "without id")
        wrong = sorted(needed - set(entry) | set(entry) - known)
        wrong += [key for key, value in entry.items() if not isinstance(value, _KINDS.get(key, str))]
        if wrong or name in claims:
            raise ValueError(
                f"claim {name} in {file} must have each field once and of the right type: see "
                + ", ".join(wrong or ["id"])
            )
        claims[name] = from_fields(entry)
    return claims


def from_fields(entry: Mapping[str, Any]) -> Claim:
    """A claim of plain data."""
    lists = {name: tuple(entry.get(name, ())) for name in ("rivals", "scale", "limits", "corrects")}
    return Claim(**{**entry, **lists, "also": tuple(Place(**place) for place in entry.get("also", ()))})


def rounds_to(value: Value, printed: str) -> bool:
    """Whether a value, rounded to the printed decimal places, is what was printed.

    A whole number in print stands for itself, not for what rounds to it.

    >>> rounds_to(Enclosure(Fraction("0.12344"), Fraction("0.12346")), "0.123")
    True
    >>> rounds_to("no", "yes")
    False
    """
    if isinstance(value, str):
        return value == printed
    if printed.removeprefix("-").isdigit():
        return set(ends(value)) == {int(printed)}
    return {_rounded(end, printed) for end in ends(value)} == {Decimal(printed)}


def right_digits(value: Enclosure | Fraction, printed: str) -> int:
    """How many of the printed significant digits are right: within half a unit of the last of them.

    >>> right_digits(Fraction("0.12349"), "0.1236"), right_digits(Fraction(1), "2")
    (3, 0)
    """
    decimal = Decimal(printed)
    error = max(abs(end - Fraction(decimal)) for end in ends(value))
    count = len(decimal.as_tuple().digits)
    while count and error > Fraction(10) ** (decimal.adjusted() - count + 1) / 2:
        count -= 1
    return count


def shown(value: Value, printed: str) -> str:
    """A value in the notation and to the decimal places of the printed one."""
    if isinstance(value, str):
        return value
    middle = sum(ends(value), Fraction(0)) / 2
    if "e" in printed:
        with localcontext(prec=100):
            decimal = Decimal(middle.numerator) / middle.denominator
        return f"{decimal:.{len(Decimal(printed).as_tuple().digits) - 1}e}"
    return f"{_rounded(middle, printed):f}"


def ends(value: Enclosure | Fraction | int) -> tuple[Fraction, Fraction]:
    """The two ends of an enclosure; an exact number twice."""
    return (value.lower, value.upper) if isinstance(value, Enclosure) else (Fraction(value), Fraction(value))


def _rounded(value: Fraction, printed: str) -> Decimal:
    place = Decimal((0, (1,), int(Decimal(printed).as_tuple().exponent)))
    with localcontext(prec=100):
        return (Decimal(value.numerator) / value.denominator).quantize(place, ROUND_HALF_UP)


def code(printed: str) -> str:
    """A printed formula in code marks, a number or a word as it is.

    >>> code("0 < delta < 1"), code("0.5")
    ('`0 < delta < 1`', '0.5')
    """
    return printed if re.fullmatch(r"[-\w.]+", printed) else f"`{printed}`"


def statement(claim: Claim) -> str:
    """What a claim says, with the number that is printed; a formula would only repeat the words."""
    return f"{claim.says}: {claim.printed}" if claim.judged[-1:].isdigit() else claim.says
