"""The ledger: for every claim a verdict that is computed, never typed.

A claim names a check of `compendium.ledger.checks`. The check finds the truth without looking at what is
printed (or, for a formula, evaluates what is printed against the truth case by case); this module
compares the two and words the verdict:

*confirmed*: the printed number is the correct rounding of a certified value, or the statement holds;
*confirmed to k digits*: right to all the digits that a 64-bit number holds for certain, but not to the last;
*contradicted*: a number that is neither, or a statement that fails;
*depends*: right under one reading and wrong under another;
*slip*: wrong as printed, and right with the correction that is named.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from difflib import SequenceMatcher
from fractions import Fraction
from typing import Any

from compendium.ledger import claims
from compendium.ledger.claims import Claim
from compendium.ledger.formulas import BITS, Cases
from tablebuilder_dp.support.intervals import Enclosure, precision

CONFIRMED, CONTRADICTED, DEPENDS, SLIP = "confirmed", "contradicted", "depends", "slip"
PARTLY = "confirmed to k digits"
KINDS = (CONTRADICTED, SLIP, DEPENDS, PARTLY, CONFIRMED)
"""The kinds of verdict, those that a reader should see first in front."""

Answer = claims.Value | Cases
"""What a check finds: a number, a word, or how a statement fares on many cases."""


@dataclass(frozen=True)
class Truth:
    """The answer of a check that has more to say than one value."""

    readings: Mapping[str, Answer]
    """The answer under each reading of the statement; one reading is named ""."""
    slips: Mapping[str, Answer] = field(default_factory=dict)
    """What else may have been printed: if the print fits one of these, it is a slip."""
    origins: Mapping[str, Answer] = field(default_factory=dict)
    """Calculations that may have led to the print: the first that fits is reported."""
    numbers: Mapping[str, str] = field(default_factory=dict)
    """Numbers for the notes of the claim, where they stand in braces."""


@dataclass(frozen=True)
class Reading:
    """One reading of a claim: its verdict and what is true under it."""

    name: str
    verdict: str
    found: str


@dataclass(frozen=True)
class Entry:
    """A claim with its verdict, and how it is known."""

    claim: Claim
    verdict: str
    found: str
    readings: tuple[Reading, ...]
    evidence: str
    correction: str
    origin: str
    because: str
    changes: str

    @property
    def kind(self) -> str:
        """The verdict without its number of digits."""
        return PARTLY if self.verdict.startswith("confirmed to") else self.verdict

    @property
    def truth(self) -> str:
        """What is true, in one line."""
        return self.truth_with(str)

    def truth_with(self, mark: Callable[[str], str]) -> str:
        """What is true, in one line in which ``mark`` sets formulas apart."""
        parts = [self.found]
        if self.correction and self.found.startswith("fails"):
            parts.append(f"should be {mark(self.correction)}")
        if self.origin:
            parts.append(f"what is printed is {self.origin}")
        return "; ".join(parts)

    def record(self) -> dict[str, Any]:
        """All that is known, as plain data."""
        claim = self.claim
        record = {"id": claim.id, "section": claim.section, "where": claim.where, "says": claim.says}
        record |= {"printed": claim.printed, "verdict": self.verdict, "found": self.found}
        optional = {
            "readings": [asdict(reading) for reading in self.readings if reading.name],
            "correction": self.correction,
            "origin": self.origin,
            "truth": self.truth,
            "meaning": claim.meaning,
            "because": self.because,
            "changes": self.changes,
            "evidence": self.evidence,
            "proof": claim.proof,
            "check": claim.check,
            "at": dict(claim.at),
            "corrects": list(claim.corrects),
        }
        return record | {name: value for name, value in optional.items() if value}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Entry:
        """The entry of a record; its claim has the notes with their numbers filled in."""
        texts = {name: record.get(name, "") for name in ("meaning", "proof", "because", "changes")}
        must = {name: record[name] for name in ("id", "section", "where", "says", "printed", "check")}
        claim = Claim(**must, **texts, at=record.get("at", {}), corrects=tuple(record.get("corrects", ())))
        return cls(
            claim=claim,
            verdict=record["verdict"],
            found=record["found"],
            readings=tuple(Reading(**reading) for reading in record.get("readings", ())),
            evidence=record.get("evidence", ""),
            correction=record.get("correction", ""),
            origin=record.get("origin", ""),
            because=record.get("because", ""),
            changes=record.get("changes", ""),
        )


def settle(claim: Claim) -> Entry:
    """Run the check of one claim and word its verdict."""
    try:
        return _settle(claim)
    except (ArithmeticError, SyntaxError, NameError, LookupError, ValueError) as error:
        raise ValueError(f"claim {claim.id} cannot be settled: {type(error).__name__}: {error}") from error


def _settle(claim: Claim) -> Entry:
    truth = find_truth(claim)
    readings = tuple(
        Reading(name, _compare(answer, claim.printed), _found(answer, claim.printed))
        for name, answer in truth.readings.items()
    )
    verdict = _combined(readings)
    correction = origin = ""
    if verdict not in (CONFIRMED, DEPENDS):
        slipped = next(_fitting(truth.slips, claim.printed), "")
        correction = _shown(truth, claim.printed) if slipped else _correction(claim)
        origin = slipped or next(_fitting(truth.origins, claim.printed), "")
        verdict = SLIP if correction else verdict
    outcome = "; ".join(
        f"{reading.name}: {reading.found}" if reading.name else reading.found for reading in readings
    )
    evidence = _evidence(truth, claim)
    because, changes = (
        re.sub(r"e-0(\d)", r"e-\1", text.format(**truth.numbers)) if verdict != CONFIRMED else ""
        for text in (claim.because, claim.changes)
    )
    return Entry(claim, verdict, outcome, readings, evidence, correction, origin, because, changes)


def settle_all(stated: Mapping[str, Claim] | None = None) -> list[Entry]:
    """The whole ledger, in the order of the paper."""
    return [settle(claim) for claim in (claims.load() if stated is None else stated).values()]


def find_check(name: str) -> Callable[[Claim], Answer | Truth]:
    """The function that a claim's ``check`` names."""
    module, _, function = name.partition(".")
    try:
        check: Callable[[Claim], Answer | Truth] = getattr(
            importlib.import_module(f"compendium.ledger.checks.{module}"), function
        )
    except (ImportError, AttributeError):
        raise ValueError(f"check must be a function of compendium.ledger.checks, got {name!r}") from None
    return check


def find_truth(claim: Claim) -> Truth:
    """What the check of a claim finds, under each reading."""
    with precision(BITS):
        answer = find_check(claim.check)(claim)
    return answer if isinstance(answer, Truth) else Truth({"": answer})


def _compare(answer: Answer, printed: str) -> str:
    """The verdict on one reading."""
    if isinstance(answer, Cases):
        return CONFIRMED if bool(answer.failures) == (printed == "no") else CONTRADICTED
    if claims.rounds_to(answer, printed):
        return CONFIRMED
    if isinstance(answer, Enclosure | Fraction):  # a whole number or a word is right or wrong
        right, count = claims.right_digits(answer, printed), len(Decimal(printed).as_tuple().digits)
        if sys.float_info.dig <= right < count:  # what is wrong, the machine of its author could not hold
            return f"confirmed to {right} digits"
    return CONTRADICTED


def _combined(readings: tuple[Reading, ...]) -> str:
    verdicts = {reading.verdict for reading in readings}
    if len(verdicts) == 1:
        return verdicts.pop()
    if CONTRADICTED not in verdicts:  # the fewest digits that are right under every reading
        return min(verdicts - {CONFIRMED}, key=lambda verdict: int(verdict.split()[2]))
    return DEPENDS if CONFIRMED in verdicts else CONTRADICTED


def _fitting(answers: Mapping[str, Answer], printed: str) -> Iterator[str]:
    """The names of the answers that are what is printed."""
    return (name for name, answer in answers.items() if _compare(answer, printed) == CONFIRMED)


def _shown(truth: Truth, printed: str) -> str:
    """The true value of the first reading, in the notation of the print."""
    answer = next(iter(truth.readings.values()))
    return str(answer) if isinstance(answer, Cases) else claims.shown(answer, printed)


def _correction(claim: Claim) -> str:
    """The claim's own correction, if the statement holds with it; a misprint is a small change."""
    likeness = SequenceMatcher(a=claim.printed, b=claim.correction).ratio()
    if not claim.correction or likeness < 0.5:
        return ""
    corrected = settle(replace(claim, printed=claim.correction, correction=""))
    return claim.correction if corrected.verdict == CONFIRMED else ""


def _found(answer: Answer, printed: str) -> str:
    """The truth for the reader: five digits more than printed."""
    if isinstance(answer, str | int | Cases):
        return str(answer)
    more = len(Decimal(printed).as_tuple().digits) + 5
    digits = Decimal(Enclosure(*claims.ends(answer)).digits(more))
    return f"{digits:e}" if "e" in printed else f"{digits:f}"


def _evidence(truth: Truth, claim: Claim) -> str:
    """How the verdict is known."""
    answers = truth.readings.values()
    proved = bool(claim.proof)
    if any(isinstance(answer, Cases) for answer in answers):
        total = sum(answer.total for answer in answers if isinstance(answer, Cases))
        return f"{'proof, and ' if proved else ''}{total} case{'s' if total > 1 else ''}"
    if any(isinstance(answer, str) for answer in answers):
        return "proof, and a grid" if proved else "a grid"
    if any(isinstance(answer, Enclosure) for answer in answers):
        return "enclosure"
    return "proof and exact arithmetic" if proved else "exact arithmetic"
