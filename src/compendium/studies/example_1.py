"""What the claims of Example 1 are about, enclosed."""

from __future__ import annotations

from fractions import Fraction

from tablebuilder_dp import certified, design
from tablebuilder_dp.support.intervals import Enclosure


def certified_values(noise: design.Design) -> dict[str, Enclosure]:
    """Support, ι, δ, variance and the whole pmf of a design, by claim id."""
    exact = {"ex1-support": Fraction(noise.support), "ex1-iota": -noise.iota}
    return {
        **{name: Enclosure(value, value) for name, value in exact.items()},
        "ex1-delta": certified.delta(noise, noise.epsilon),
        "ex1-variance": certified.variance(noise),
        **{f"ex1-p{z}": certified.pmf(noise, z) for z in range(noise.support + 1)},
    }
