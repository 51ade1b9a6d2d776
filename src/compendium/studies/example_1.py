"""What the claims of Example 1 are about, enclosed, and how near plain formulas come to it."""

from __future__ import annotations

from fractions import Fraction

import mpmath
from mpmath import exp, mpf

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


def plain_errors(noise: design.Design, digits: int) -> list[float]:
    """The relative errors of p(0), …, p(D), evaluated as the formulas stand in mpmath with these digits."""
    with mpmath.workdps(digits):
        epsilon, slack = (mpf(exact.numerator) / exact.denominator for exact in (noise.epsilon, noise.slack))
        width = 2 * noise.support
        gamma = epsilon / (width - 1) - slack * 2 * epsilon / (width**2 - 1)
        bell = [exp(-gamma * z**2) for z in range(noise.support + 1)]
        scale = 1 / (1 + 2 * sum(bell[1:]))
        plain = [Fraction(*(scale * height).as_integer_ratio()) for height in bell]
    true = [certified.pmf(noise, z, digits=digits + 10).lower for z in range(noise.support + 1)]
    return [float(abs(near / mass - 1)) for near, mass in zip(plain, true, strict=True)]
