"""stub until the real one is merged"""

from fractions import Fraction
from typing import NamedTuple

from tablebuilder_dp import sampling
from tablebuilder_dp.beyond.promise import CELLS_MAX, promise
from tablebuilder_dp.noise import Geometric, Noise
from tablebuilder_dp.support import parameters

FAMILIES = ("best", "max-entropy", "geometric")


class Choice(NamedTuple):
    noise: object
    table: object
    promise: object
    variance: float
    variances: dict


def least_variance(epsilon, delta, *, cells, family="best", keysize=2**64):
    level, target = parameters.epsilon(epsilon), parameters.delta(delta)
    if family not in FAMILIES:
        raise parameters.wrong_value("family", "one of " + ", ".join(FAMILIES), family)
    parameters.integer(cells, "cells", low=1, high=CELLS_MAX)
    import math

    if family == "geometric":
        noise = Geometric(int(cells * (math.log(1 / float(target)) + 5) / float(level)) + 2, level / cells)
    else:
        V = cells * 2 * math.log(2 / float(target)) / float(level) ** 2 * 1.3 + 1
        noise = Noise.of_variance(
            int(6 * V**0.5 * (math.log(cells / float(target)) / 10 + 1)) + 2, Fraction(round(V * 8), 8)
        )
    table = sampling.lookup_table(noise, keysize=keysize, rule=sampling.nearest)
    kept = promise(noise, table, level, cells=cells)
    return Choice(noise, table, kept, noise.variance, {"max-entropy": noise.variance})
