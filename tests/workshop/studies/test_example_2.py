"""Example 2: its cumulative probabilities and cut points."""

import math
from fractions import Fraction

from compendium.ledger import claims
from compendium.studies import example_2
from tablebuilder_dp import design, sampling
from tablebuilder_dp.noise import Noise


def test_cumulative_probabilities_are_enclosed() -> None:
    noise = Noise(3, Fraction(1, 4))
    bells = [math.exp(-z * z / 4) for z in range(-3, 4)]
    for place, z in enumerate(range(-3, 4), 1):
        exact = example_2.cumulative(noise, z)
        assert 0 <= exact.upper - exact.lower < Fraction(1, 10**45)
        assert math.isclose(float(exact), sum(bells[:place]) / sum(bells))


def test_every_value_is_named_by_a_claim_of_the_paper() -> None:
    noise = design.guide("0.5", "1e-4")
    values = example_2.certified_values(noise, sampling.lookup_table(noise, keysize=2**32))
    assert set(values) <= set(claims.load())
    off = {name for name, value in values.items() if not claims.rounds_to(value, claims.load()[name].judged)}
    assert off == {"ex2-cmf-24", "ex2-cmf-23"}
