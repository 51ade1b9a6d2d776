"""Example 1 of the paper, every printed digit beside the certified one: ``make reproduce``."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from compendium import claims
from tablebuilder_dp import certified, design
from tablebuilder_dp.intervals import Enclosure


def certified_values(found: design.Design) -> dict[str, Enclosure]:
    """What the claims of Example 1 are about, enclosed, by claim id."""
    noise: dict[str, Any] = {"support": found.support, "gamma": found.gamma}
    exact = {"ex1-support": Fraction(found.support), "ex1-iota": -found.iota}
    return {
        **{name: Enclosure(value, value) for name, value in exact.items()},
        "ex1-delta": certified.delta(found.epsilon, **noise),
        "ex1-variance": certified.variance(**noise),
        **{f"ex1-p{z}": certified.pmf(z, **noise) for z in range(found.support + 1)},
    }


def report() -> str:
    """Run the design guide at (0.5, 10^-4) and lay the paper's values beside ours."""
    found = design.guide("0.5", "1e-4")
    values = certified_values(found)
    stated = {name: claim for name, claim in claims.load().items() if name.startswith("ex1-")}
    held = {name: claims.rounds_to(values[name], claim.printed) for name, claim in stated.items()}
    lines = [
        "Example 1: the design guide at epsilon = 0.5, delta = 10^-4",
        "",
        f"  {'':<36} {'paper':<18} {'ours':<18} verdict",
    ]
    for name, claim in stated.items():
        verdict = "agrees" if held[name] else f"differs{_explanation(claim.printed, values)}"
        ours = claims.shown(values[name], claim.printed)
        lines.append(f"  {claim.says:<36} {claim.printed:<18} {ours:<18} {verdict}")
    lines += [
        "",
        f"{sum(held.values())} of {len(held)} printed values agree to every digit; "
        f"D = {found.support} is proved minimal by enclosures at D and D - 1.",
    ]
    return "\n".join(lines)


def _explanation(printed: str, values: dict[str, Enclosure]) -> str:
    """Which other value of the pmf the printed one is, if any."""
    others = [name for name, value in values.items() if claims.rounds_to(value, printed)]
    return f": this is p(±{others[0].removeprefix('ex1-p')})" if others else ""
