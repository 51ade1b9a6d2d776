"""Every small change of every claim, and whether the ledger sees it."""

import random
import tomllib
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

from compendium.ledger import claims, verdicts
from compendium.ledger.alterations import NUMBER, Alteration, alterations
from compendium.ledger.claims import Claim
from compendium.ledger.formulas import (
    Cases,
    agree,
    chains,
    evaluate,
    noting_equal_sides,
    one_failure_is_enough,
)
from compendium.ledger.verdicts import CONFIRMED, CONTRADICTED, DEPENDS, Entry, Level
from compendium.run.places import ROOT

SCORE = "alterations of the prints"
"""Under this name a test reports how many alterations were seen; the last lines of a run add them up."""
EQUIVALENTS = ROOT / "paper" / "equivalents.toml"


class Outcome(NamedTuple):
    """What became of one alteration: "seen", "refused" or "unseen"."""

    alteration: Alteration
    fate: str


def right_form(entry: Entry) -> Claim:
    """The claim in the form that holds, if it has one: corrected, with its true value or other parameters."""
    claim = entry.claim
    if entry.correction and claim.correction:
        return claim.judging(entry.correction)
    if claim.otherwise:
        return replace(claim, at={**claim.at, **claim.otherwise})
    if NUMBER.fullmatch(claim.judged):
        answer = next(iter(verdicts.find_truth(claim).readings.values()))
        if not isinstance(answer, Cases | Level | str):
            return claim.judging(claims.shown(answer, claim.judged))
    if entry.verdict in (CONTRADICTED, DEPENDS) and not (claim.scale or claim.rivals):
        turned = (a.printed for a in alterations(claim.judged) if a.kind == "relation turned")
        return next(
            (form for form in map(claim.judging, turned) if verdicts.settle(form).verdict == CONFIRMED), claim
        )
    return claim


def of_claim(claim: Claim) -> list[Alteration]:
    """Every other print: of a word its rivals and the other words of its scale."""
    rivals = [*claim.rivals, *(word for word in claim.scale if word != claim.judged)]
    if rivals:
        return [Alteration("word", rival) for rival in rivals]
    return alterations(claim.judged)


def outcomes(entry: Entry) -> Iterator[Outcome]:
    """Alter the form of a claim that holds in every way, and see whether its verdict changes."""
    claim = right_form(entry)
    before = entry if claim == entry.claim else verdicts.settle(claim)
    quick = one_failure_is_enough if before.verdict == CONFIRMED else nullcontext
    for alteration in of_claim(claim):
        try:
            with quick():
                after = verdicts.settle(claim.judging(alteration.printed))
        except ValueError:
            yield Outcome(alteration, "refused")
            continue
        yield Outcome(alteration, "unseen" if same(before, after) else "seen")
    for moved in other_indices(claim):
        yield Outcome(
            Alteration("index", str(dict(moved.at))),
            "unseen" if same(before, verdicts.settle(moved)) else "seen",
        )


def same(before: Entry, after: Entry) -> bool:
    """Whether an alteration left the verdict as it is; where it depends, the verdict of each reading."""
    if before.verdict in (DEPENDS, CONTRADICTED):
        return [(one.verdict, one.found) for one in before.readings] == [
            (one.verdict, one.found) for one in after.readings
        ]
    return before.verdict == after.verdict


def other_indices(claim: Claim) -> Iterator[Claim]:
    """The same print at other indices: the neighbouring z, or a key far away."""
    if NUMBER.fullmatch(claim.judged):
        for index in {"z", "key"} & set(claim.at):
            step = 2 * 10**6 if index == "key" else 1 if claim.at[index] < 0 else -1
            yield replace(claim, at={**claim.at, index: claim.at[index] + step})


def equivalents() -> dict[tuple[str, str], dict[str, str]]:
    """The alterations that say the same as the print, by claim and altered form, each with its reason."""
    listed = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8"))["equivalent"]
    return {(entry["claim"], entry["altered"]): entry for entry in listed}


def is_equivalent(claim: Claim, altered: str, listed: dict[str, str]) -> bool:
    """Compute the reason for which an alteration says the same as the print, on the claim's whole domain.

    *never equal*: one relation is made strict or weak, and its two sides are equal in no case;
    *same value*: both forms, or all their sides, have the same value wherever they are evaluated;
    *same truth*: both forms hold or fail together at every point of the domain.
    """
    reason = listed["reason"]
    if reason == "never equal":
        with noting_equal_sides() as noted:
            verdicts.settle(claim)
        changed = [
            (place, ours)
            for place, (ours, theirs) in enumerate(
                zip(_relations(claim.judged), _relations(altered), strict=True)
            )
            if ours != theirs
        ]
        return len(changed) == 1 and noted[claim.judged, *changed[0]] == {False}
    as_printed = listed.get("as", "{}")
    forms = [as_printed.format(form) for form in (claim.judged, altered)]
    draw = random.Random(7)  # noqa: S311 - points to try, no keys
    tried = 0
    while tried < 400:
        names = _point(draw)
        if not evaluate(listed.get("domain", "0 < eps"), **names):
            continue
        tried += 1
        values = [
            [evaluate(side, **names) for chain, _ in chains(form) for side in chain]
            if reason == "same value"
            else [evaluate(form, **names)]
            for form in forms
        ]
        if not all(agree(first, second) for first, second in zip(*values, strict=True)):
            return False
    return True


def _relations(formula: str) -> list[str]:
    return [sign for _, signs in chains(formula) for sign in signs]


def _point(draw: random.Random) -> dict[str, Any]:
    """Values for all names of formulas, of which many are equal to each other or whole."""
    support, quarter = draw.randint(1, 7), Fraction(1, 4)
    eps, gamma, x = (draw.choice((quarter, Fraction(1, 10))) * draw.randint(1, 40) for _ in range(3))
    masses: dict[int, Fraction] = {}
    names: dict[str, Any] = {
        "D": support,
        "z": draw.randint(-9, 9),
        "n": draw.randint(0, support),
        "C": x,
        "V": x,
    }
    names |= {
        "eps": eps,
        "gamma": gamma,
        "iota": -eps / 99,
        "growth": 1 + x / 10,
        "KEYSIZE": draw.randint(2, 99),
    }
    names["r"] = draw.choice((-1, 0, 1, 2, 2**32 - 1, 2**32))
    cuts = list(accumulate(draw.randint(0, 2) for _ in range(25)))
    names["cQ"] = lambda z: cuts[int(z) + 12]
    base = Fraction(draw.randint(2, 5), draw.randint(2, 5))
    names["exp"] = lambda power: masses.setdefault(hash(power), base + draw.randint(1, 10**6))
    names["p"] = lambda z: masses.setdefault(int(z), base + draw.randint(1, 10**6))
    return names
