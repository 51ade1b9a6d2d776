"""An opponent for the search of nearest rows: the same problem as an integer program for HiGHS."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp


def least_distance(
    targets: Sequence[Fraction], *, keys: int, epsilon: Fraction, least: int, highest: Sequence[int]
) -> float:
    """The least Σ |w(z) − targets(z)| over a symmetric table, with w(0), …, w(D) as in `chain.nearest`.

    The variables are these weights and bounds of their deviations.
    """
    count = len(targets)
    middle = np.array([float(target) for target in targets])
    twice = np.array([1.0] + [2.0] * (count - 1))
    unit, ratio = np.eye(count), float(np.exp(float(epsilon)))
    idle: Any = np.zeros((count - 1, count))
    inner, outer = unit[:-1], unit[1:]
    found = milp(
        np.concatenate([0 * twice, twice]),
        constraints=[
            LinearConstraint(np.concatenate([twice, 0 * twice]), keys, keys),
            LinearConstraint(np.hstack([unit, -unit]), -np.inf, middle),
            LinearConstraint(np.hstack([-unit, -unit]), -np.inf, -middle),
            LinearConstraint(np.hstack([inner - ratio * outer, idle]), -np.inf, 0),
            LinearConstraint(np.hstack([outer - ratio * inner, idle]), -np.inf, 0),
        ],
        integrality=np.concatenate([np.ones(count), np.zeros(count)]),
        bounds=Bounds(np.array([least] * count + [0] * count), np.array([*highest] + [np.inf] * count)),
        options={"mip_rel_gap": 0},
    )
    assert found.success
    return float(found.fun)
