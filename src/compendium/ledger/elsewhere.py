"""What other statements of the paper say or use, for the difference between a slip and a contradiction.

Each function gets a claim and a form of it, the printed or the corrected one, and says whether the other
statements agree with that form.
"""

from __future__ import annotations

from fractions import Fraction

from compendium.ledger import claims, source
from compendium.ledger.claims import Claim
from compendium.ledger.formulas import enclosed, evaluate
from tablebuilder_dp.support.intervals import enclosure

LEVEL, SUPPORT, IOTA = Fraction(1, 2), 25, Fraction(-1, 24990)
"""The ε, D* and ι of Example 1, which the paper prints."""


def example_1(claim: Claim, form: str) -> bool:
    """Whether the form, at the parameters of Example 1, gives the numbers that the example prints."""
    printed = claims.load()
    of = claim.at.get("of", "gamma" if claim.id == "des-prop3-holds" else "p")
    names = {"eps": enclosed(LEVEL), "D": SUPPORT, "iota": IOTA}
    if of in ("V", "delta"):
        value = evaluate(form, **names)
        return claims.rounds_to(
            enclosure(value), printed["ex1-variance" if of == "V" else "ex1-delta"].printed
        )
    if of == "gamma":
        form = (
            form.join(("exp(-(", ")*z**2)"))
            + "/(2*sum(exp(-("
            + form
            + ")*y**2) for y in range(1, D + 1)) + 1)"
        )
    return all(
        claims.rounds_to(enclosure(evaluate(form, z=z, **names)), printed[f"ex1-p{z}"].printed)
        for z in (0, 1, 2, 24, 25)
    )


def example_1_target(claim: Claim, form: str) -> bool:
    """Whether the δ from which Example 1 starts is one that the form allows."""
    return evaluate(form, delta=Fraction(1, 10**4)) is True


def other_claim(claim: Claim, form: str) -> bool:
    """Whether the form is what another claim of the same check, at another line of the paper, prints."""
    other = claims.load()[claim.at["other"]]
    return other.check == claim.check and other.line != claim.line and other.printed == form


def contents(claim: Claim, form: str) -> bool:
    """Whether the equations that the sentence speaks of are numbered in the section of the form."""
    return all(f"Section {source.section_of(n).partition('-')[0]}" == form for n in claim.at["equations"])


def symmetric_example(claim: Claim, form: str) -> bool:
    """Whether the form is the example in which the paper says that P(−z) = P(z)."""
    return claims.load()["ex1-symmetry"].where == form
