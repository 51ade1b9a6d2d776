"""What the claims of Example 1 are about, enclosed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tablebuilder_dp import certified, design
from tablebuilder_dp.support.intervals import Enclosure


def certified_values(found: design.Design) -> dict[str, Enclosure]:
    """Support, ι, δ, variance and the whole pmf of a design, by claim id."""
    noise: dict[str, Any] = {"support": found.support, "gamma": found.gamma}
    exact = {"ex1-support": Fraction(found.support), "ex1-iota": -found.iota}
    return {
        **{name: Enclosure(value, value) for name, value in exact.items()},
        "ex1-delta": certified.delta(found.epsilon, **noise),
        "ex1-variance": certified.variance(**noise),
        **{f"ex1-p{z}": certified.pmf(z, **noise) for z in range(found.support + 1)},
    }
