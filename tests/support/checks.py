"""How far float64 is from the truth."""

from fractions import Fraction

from tablebuilder_dp.support.intervals import Enclosure


def relative_error(value: float, truth: Enclosure) -> float:
    """The relative distance of a float from the middle of a (much narrower) enclosure."""
    middle = (truth.lower + truth.upper) / 2
    return abs(float((Fraction(value) - middle) / middle))
