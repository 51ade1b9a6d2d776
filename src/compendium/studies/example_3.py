"""What the claims of Example 3 are about: the exact measures of its lookup table."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from tablebuilder_dp import certified, sampling
from tablebuilder_dp.support.intervals import Enclosure


def certified_values(table: sampling.LookupTable) -> dict[str, Enclosure | Fraction | int]:
    """What Example 3 prints of a table with D = 25 and full support, by claim id."""
    after = sampling.after_sampling(table)
    masses = [Fraction(weight, table.keysize) for weight in table.weights]
    return {
        **{f"ex3-p-{25 - place}": masses[place] for place in range(3)},
        "ex3-c24": table.cuts[-2],
        "ex3-p25": masses[-1],
        "ex3-bias": after.bias,
        "ex3-variance": after.variance,
        "ex3-epsilon": certified.logarithm(max(later / earlier for earlier, later in pairwise(masses))),
        "ex3-delta": after.delta,
    }
