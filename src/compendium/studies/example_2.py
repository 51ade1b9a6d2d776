"""What the claims of Example 2 are about: cumulative probabilities, enclosed, and cut points."""

from __future__ import annotations

from fractions import Fraction

from tablebuilder_dp import certified, sampling
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support.intervals import Enclosure

KEYS = (2552, 1200124)
"""The cell keys that the paper follows through the table."""


def cumulative(noise: Noise, z: int, *, digits: int = 50) -> Enclosure:
    """P(Z ≤ z), enclosed: the sums of the lower and of the upper ends."""
    masses = [certified.pmf(noise, value, digits=digits) for value in range(-noise.support, z + 1)]
    return Enclosure(
        sum((mass.lower for mass in masses), Fraction(0)), sum((mass.upper for mass in masses), Fraction(0))
    )


def certified_values(noise: Noise, table: sampling.LookupTable) -> dict[str, Enclosure | int]:
    """What Example 2 prints of a noise with D = 25 and its table, by claim id."""
    return {
        **{f"ex2-cmf-{-z}": cumulative(noise, z) for z in (-25, -24, -23)},
        "ex2-c-26": 0,
        **{f"ex2-c-{25 - place}": table.cuts[place] for place in range(3)},
        "ex2-c25": table.cuts[-1],
        "ex2-size": len(table.cuts),
        **{f"ex2-sample-{key}": sampling.sample(table, key) for key in KEYS},
    }
