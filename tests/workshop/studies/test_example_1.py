"""Example 1: plain formulas against enclosures."""

import pytest

from compendium.studies import example_1
from tablebuilder_dp import design


@pytest.mark.parametrize("digits", [15, 30, 50])
def test_plain_formulas_are_as_near_as_their_digits(digits: int) -> None:
    errors = example_1.plain_errors(design.guide("0.5", "1e-4"), digits)
    assert len(errors) == 26
    assert 10.0 ** (-digits - 2) < max(errors) < 10.0 ** (1 - digits)
