"""Exercises with many right answers, one module a notebook: each function says what is wrong with one.

The name of a function is the name of its exercise; it returns an empty text for a right answer. A sentence
names what the answer lacks, not a right one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def numbers(answer: Any, count: int) -> NDArray[np.float64] | None:
    """An answer as this many numbers below 1e100, or None if it is anything else.

    >>> numbers((1, 2.5), 2), numbers("no", 2), numbers([1, float("nan")], 2)
    (array([1. , 2.5]), None, None)
    """
    try:
        given = np.asarray(answer)
        if given.dtype.kind not in "fiuO" or given.shape != (count,):
            return None
        values = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return values if (abs(values) < 1e100).all() else None  # NaN is not below
