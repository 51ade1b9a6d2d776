"""The ledger: for every claim a verdict that is computed, never typed.

A claim names a check of `compendium.ledger.checks`. The check finds the truth without looking at what is
printed (or, for a formula, evaluates what is printed against the truth case by case); this module
compares the two and words the verdict:

*confirmed*: the printed number is the correct rounding of a certified value, or the statement holds;
*confirmed to k digits*: right to all the digits that a 64-bit number holds for certain, but not to the last;
*contradicted*: a number that is neither, or a statement that fails;
*depends*: right under one reading and wrong under another;
*slip*: one symbol, sign, index, digit or word away from a statement that holds, and other statements of the
paper say or use that one, not what is printed;
*omitted boundary*: right but for the cases in which two sides are equal, or one end of a range;
*display rounding*: right with the exact number in the place of its rounded display.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from compendium.ledger import claims, elsewhere, theorems
from compendium.ledger.alterations import one_change
from compendium.ledger.claims import Claim
from compendium.ledger.formulas import BITS, Cases, noting_equal_sides, says_less
from tablebuilder_dp.support.intervals import Enclosure, precision

CONFIRMED, CONTRADICTED, DEPENDS, SLIP = "confirmed", "contradicted", "depends", "slip"
BOUNDARY, ROUNDED = "omitted boundary", "display rounding"
PARTLY = "confirmed to k digits"
KINDS = (CONTRADICTED, SLIP, DEPENDS, BOUNDARY, ROUNDED, PARTLY, CONFIRMED)
"""The kinds of verdict, those that a reader should see first in front."""

MEANINGS = {
    CONTRADICTED: "wrong as it stands",
    SLIP: "one symbol, sign, index, digit or word away from what holds",
    DEPENDS: "right under one reading, wrong under another",
    BOUNDARY: "right except at an edge that is not mentioned",
    ROUNDED: "right once the exact number replaces the rounded one that is shown",
    PARTLY: "right to the digits that a 64-bit number is sure to hold, wrong after them",
    CONFIRMED: "right as printed",
}
"""What each kind says of a statement, in a few words."""

CHECKED = "machine-checked"
PROVED, EXACT, TRIED = "proved for all parameters", "decided exactly", "tried on a grid"
BASES = (CHECKED, PROVED, EXACT, TRIED)
"""How far the evidence reaches: a theorem that Coq has checked, a proof, a finite calculation that settles
it, or some cases of many."""


INFINITE = Fraction(10) ** 300
"""Stands for a quantity without bound."""

TOO_WEAK = "≤ or ≥ where both sides are always equal"
"""Why a statement fails that is true and says less than what holds."""


@dataclass(frozen=True)
class Level:
    """A quantity that a word such as "almost identical" describes; the claim has the scale of words."""

    value: Enclosure | Fraction
    unit: str = ""
    """"%" for what is shown in per cent."""
    until: Enclosure | Fraction | None = None
    """From this limit on the word is too wide: it would describe what it should be told from."""
    limits: tuple[str, ...] = ()
    """The limits under one reading, where they are not the claim's."""
    whole: bool = False
    """Whether it is taken over all that the statement is about, and not over a grid."""

    def shown(self) -> str:
        """To three digits."""
        return shown_level(self.value, self.unit)


def shown_level(value: Enclosure | Fraction, unit: str) -> str:
    """A number to three digits, or in per cent."""
    if claims.ends(value)[0] >= INFINITE:
        return "∞"
    scaled = (claims.ends(value)[0] + claims.ends(value)[1]) / 2 * (100 if unit else 1)
    if 1000 <= scaled < 10**6:
        text = f"{float(f'{float(scaled):.3g}'):.0f}"
    else:
        text = re.sub(r"e([-+])0*", r"e\1", f"{float(scaled):.3g}").replace("e+", "e")
    return f"{text}%" if unit else text


Answer = claims.Value | Cases | Level
"""What a check finds: a number, a word, how a statement fares on many cases, or how much of something."""


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
    basis: str

    @property
    def kind(self) -> str:
        """The verdict without its number of digits."""
        return PARTLY if self.verdict.startswith("confirmed to") else self.verdict

    @property
    def hangs(self) -> bool:
        """Whether the verdict is on a word, such as "slightly", and so hangs on a limit of ours."""
        return bool(self.claim.limits)

    @property
    def known(self) -> str:
        """How it is known, in words: how far the evidence reaches, and what it is."""
        means = re.sub(r"^proof,? and ", "", self.evidence)
        way = {"a grid": "on a grid", "enclosure": "by an enclosure"}.get(means, f"by {means}")
        way = f"in {means}" if means[0].isdigit() else way
        if self.basis == PROVED:
            return f"{PROVED}, and checked {way}"
        if self.basis == TRIED:
            return TRIED if way == "on a grid" else f"{TRIED}, {way}"
        return f"{self.basis}, {way}{' and with a proof' if means != self.evidence else ''}"

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
        record: dict[str, Any] = {"id": claim.id, "section": claim.section, "where": claim.where}
        record |= {"says": claim.says, "printed": claim.printed}
        record |= {"verdict": self.verdict, "found": self.found, "basis": self.basis}
        optional = {
            "readings": [asdict(reading) for reading in self.readings if reading.name],
            "correction": self.correction,
            "origin": self.origin,
            "truth": self.truth,
            "meaning": claim.meaning,
            "because": self.because,
            "changes": self.changes,
            "evidence": self.evidence,
            "line": claim.line,
            "also": [asdict(place) for place in claim.also],
            "reading": claim.reading,
            "rivals": list(claim.rivals),
            "scale": list(claim.scale),
            "limits": list(claim.limits),
            "severity": claim.severity if self.verdict != CONFIRMED else "",
            "cause": claim.cause if self.verdict != CONFIRMED else "",
            "proof": claim.proof,
            "check": claim.check,
            "at": dict(claim.at),
            "corrects": list(claim.corrects),
        }
        return record | {name: value for name, value in optional.items() if value}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Entry:
        """The entry of a record; its claim has the notes with their numbers filled in."""
        of_claim = {item.name for item in fields(Claim)} - {"correction"}
        return cls(
            claim=claims.from_fields({name: value for name, value in record.items() if name in of_claim}),
            readings=tuple(Reading(**reading) for reading in record.get("readings", ())),
            verdict=record["verdict"],
            found=record["found"],
            basis=record["basis"],
            **{
                name: record.get(name, "")
                for name in ("evidence", "correction", "origin", "because", "changes")
            },
        )


def settle(claim: Claim) -> Entry:
    """Run the check of one claim and word its verdict."""
    try:
        return _settle(claim)
    except (ArithmeticError, SyntaxError, NameError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"claim {claim.id} cannot be settled: {type(error).__name__}: {error}") from error


def _settle(claim: Claim) -> Entry:
    truth = find_truth(claim)
    readings = tuple(
        Reading(name, _compare(answer, claim), _found(answer, claim))
        for name, answer in truth.readings.items()
    )
    verdict = _combined(readings)
    correction = origin = ""
    if verdict not in (CONFIRMED, DEPENDS):
        slipped = next(_fitting(truth.slips, claim), "")
        origin = slipped or next(_fitting(truth.origins, claim), "")
        if slipped:
            remedied, correction = SLIP, claims.shown(_number(truth), claim.printed)
        else:
            remedied, correction = _remedy(claim)
        verdict = remedied or verdict
    outcome = "; ".join(
        f"{reading.name}: {reading.found}" if reading.name else reading.found for reading in readings
    )
    because, changes = (
        re.sub(r"e-0(\d)", r"e-\1", text.format(**truth.numbers)) if verdict != CONFIRMED else ""
        for text in (claim.because, claim.changes)
    )
    return Entry(
        claim,
        verdict,
        outcome,
        readings,
        _evidence(truth, claim),
        correction,
        origin,
        because,
        changes,
        _basis(truth, claim),
    )


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
    with precision(BITS), noting_equal_sides() as noted:
        answer = find_check(claim.check)(claim)
    truth = answer if isinstance(answer, Truth) else Truth({"": answer})
    if says_less(claim.judged, noted):
        return replace(
            truth, readings={name: _without_holding(found) for name, found in truth.readings.items()}
        )
    return truth


def _without_holding(answer: Answer) -> Answer:
    """An answer in which no statement holds: one that says less than what is true fails in every case."""
    if isinstance(answer, Cases) and not answer.word and not answer.failures:
        return replace(answer, failures=(TOO_WEAK,) * answer.total)
    return answer


def _compare(answer: Answer, claim: Claim) -> str:
    """The verdict on one reading."""
    judged = claim.judged
    if isinstance(answer, Cases):
        if answer.word:
            return (
                CONFIRMED if judged == (answer.instead if answer.failures else answer.word) else CONTRADICTED
            )
        return CONTRADICTED if answer.failures else CONFIRMED
    if isinstance(answer, Level):
        return CONFIRMED if _word(answer, claim) == judged else CONTRADICTED
    if claims.rounds_to(answer, judged):
        return CONFIRMED
    if isinstance(answer, Enclosure | Fraction):  # a whole number or a word is right or wrong
        right, count = claims.right_digits(answer, judged), len(Decimal(judged).as_tuple().digits)
        if sys.float_info.dig <= right < count:  # what is wrong, the machine of its author could not hold
            return f"confirmed to {right} digits"
    return CONTRADICTED


def _word(level: Level, claim: Claim) -> str:
    """The word of the scale that a quantity has: the first whose limit it does not exceed."""
    low, high = claims.ends(level.value)
    limits = [Fraction(limit) for limit in level.limits or claim.limits]
    if len(limits) != len(claim.scale) - 1:
        raise ValueError(f"limits must be one fewer than the words of the scale, got {len(limits)}")
    places = {sum(end > limit for limit in limits) for end in (low, high)}
    if len(places) > 1:
        raise ArithmeticError(f"a limit lies between {float(low)} and {float(high)}")
    place = places.pop()
    if level.until is not None and place < len(limits) and limits[place] >= claims.ends(level.until)[0]:
        place = len(limits)
    return claim.scale[place]


def _combined(readings: tuple[Reading, ...]) -> str:
    verdicts = {reading.verdict for reading in readings}
    if len(verdicts) == 1:
        return verdicts.pop()
    if CONTRADICTED not in verdicts:  # the fewest digits that are right under every reading
        return min(verdicts - {CONFIRMED}, key=lambda verdict: int(verdict.split()[2]))
    return DEPENDS if CONFIRMED in verdicts else CONTRADICTED


def _fitting(answers: Mapping[str, Answer], claim: Claim) -> Iterator[str]:
    """The names of the answers that are what is printed."""
    return (name for name, answer in answers.items() if _compare(answer, claim) == CONFIRMED)


def _number(truth: Truth) -> claims.Value:
    """The true value of the first reading."""
    answer = next(iter(truth.readings.values()))
    if isinstance(answer, Cases | Level):
        raise ValueError("only a number or a word can belong to another index")
    return answer


def _remedy(claim: Claim) -> tuple[str, str]:
    """The verdict and the correction, if the claim's own correction is one small change and holds.

    It is a slip if other statements of the paper agree with the correction and not with the print.
    """
    kind = one_change(claim.judged, claim.correction) if claim.correction else ""
    if not kind or settle(claim.judging(claim.correction)).verdict != CONFIRMED:
        return "", ""
    if claim.elsewhere and _elsewhere(claim, claim.correction) and not _elsewhere(claim, claim.judged):
        return SLIP, claim.correction
    remedies = {"boundary": BOUNDARY, "rounding": ROUNDED}
    return remedies.get(kind, ""), claim.correction if kind in remedies else ""


def _elsewhere(claim: Claim, form: str) -> bool:
    """Whether the other statements of the paper that the claim names agree with a form of it."""
    asked = getattr(elsewhere, claim.elsewhere)
    with precision(BITS):
        return bool(asked(claim, form))


def _found(answer: Answer, claim: Claim) -> str:
    """The truth for the reader: five digits more than printed; of a word, where its verdict turns."""
    if isinstance(answer, Level):
        return _turning(answer, claim)
    if isinstance(answer, str | int | Cases):
        return str(answer)
    more = len(Decimal(claim.judged).as_tuple().digits) + 5
    digits = Decimal(Enclosure(*claims.ends(answer)).digits(more))
    return f"{digits:e}" if "e" in claim.judged else f"{digits:f}"


def _turning(level: Level, claim: Claim) -> str:
    """The quantity, and for which limits the word holds, beside the limit that is ours."""
    if claim.judged not in claim.scale:
        return level.shown()
    place = claim.scale.index(claim.judged)
    limits = level.limits or claim.limits
    last = place == len(limits)
    limit = Fraction(limits[place - last])
    ours = str(limit) if limit >= 1000 and limit.denominator == 1 else shown_level(limit, level.unit)
    side = f"a limit below {level.shown()}" if last else f"a limit of {level.shown()} or more"
    if level.until is not None:
        side = f"a limit from {level.shown()} to {shown_level(level.until, level.unit)}"
    if not last and level.shown().startswith(("-", "∞")):
        side = "no limit would do" if level.shown() == "∞" else "any limit from 0 on would do"
        return f"{level.shown().replace('-', '−')}, where for “{claim.judged}” {side} and ours is {ours}"
    return f"{level.shown()}, where “{claim.judged}” needs {side} and ours is {ours}"


def _evidence(truth: Truth, claim: Claim) -> str:
    """How the verdict is known: by which theorems of Coq, and how else."""
    names = [theorem.name for theorem in theorems.proving(claim.id)]
    coq = f"Coq theorem{'s' * (len(names) > 1)} {' and '.join(names)}; " if names else ""
    return f"{coq}{_computed(truth, claim)}"


def _computed(truth: Truth, claim: Claim) -> str:
    answers = truth.readings.values()
    proved = bool(claim.proof)
    if any(isinstance(answer, Cases) for answer in answers):
        total = sum(answer.total for answer in answers if isinstance(answer, Cases))
        return f"{'proof, and ' if proved else ''}{total} case{'s' if total > 1 else ''}"
    if any(isinstance(answer, str) for answer in answers):
        return "proof, and a grid" if proved else "a grid"
    if any(isinstance(answer, Enclosure) for answer in answers):
        return "enclosure"
    if any(isinstance(answer, Level) for answer in answers):
        return "proof, and enclosures" if proved else "enclosures"
    return "proof and exact arithmetic" if proved else "exact arithmetic"


def _basis(truth: Truth, claim: Claim) -> str:
    """How far the evidence reaches.

    Nothing is above a theorem that a machine has checked. A statement about given numbers is decided by
    calculation. One about all parameters that holds is settled by a proof alone; one that fails, by one case.
    """
    if theorems.proving(claim.id):
        return CHECKED
    open_ended = [answer for answer in truth.readings.values() if not _is_decided(answer, claim)]
    if not open_ended:
        return EXACT
    if claim.proof:
        return PROVED
    return TRIED if any(_compare(answer, claim) != CONTRADICTED for answer in open_ended) else EXACT


def _is_decided(answer: Answer, claim: Claim) -> bool:
    """Whether an answer is about all that a statement is about: given numbers, or every case there is."""
    if isinstance(answer, Cases):
        return answer.whole or answer.total == 1
    if isinstance(answer, Level):
        return answer.whole
    if isinstance(answer, str | int):
        return bool(claim.at.get("whole")) or (isinstance(answer, int) and not claim.proof)
    return True
