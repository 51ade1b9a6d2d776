"""What the noise of a published table costs: errors of cells by size, and parts beside their totals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import inf, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tablebuilder_dp.counts import small_counts
from tablebuilder_dp.counts.perturbation_table import PerturbationTable
from tablebuilder_dp.counts.small_counts import Measures
from tablebuilder_dp.microdata import Protection, Published

Integers = NDArray[np.int64]


class Size(NamedTuple):
    """Cells with true counts from ``low`` to below ``high``, and the mean and spread of their errors.

    Both are given as they are and as designed; ``far`` is the share of cells that are off by more than a
    tenth (if the true count is 0, by anything), ``relative`` the mean of |error| over the true count.
    """

    low: int
    high: float
    cells: int
    mean: float
    spread: float
    designed_mean: float
    designed_spread: float
    far: float
    relative: float


class Total(NamedTuple):
    """Totals over some variables, each beside the sum of its published parts.

    ``mean`` is how much the sum is too large, on average, and ``spread`` how far (root mean square) it is
    from what the bias of small counts explains; both also as designed.
    """

    over: tuple[str, ...]
    parts: int
    totals: int
    mean: float
    spread: float
    designed_mean: float
    designed_spread: float


def moments(protection: Protection) -> Measures:
    """Bias, variance and entropy that a protection gives to the counts 0, …, D, by its weights."""
    table, clamped = protection.table, protection.small_counts == "clamped"
    z = np.arange(-table.support, table.support + 1)
    masses = np.zeros((table.support + 1, len(z)))
    for count in range(table.support + 1):
        row = table.row(count) if isinstance(table, PerturbationTable) else table
        kept = np.maximum(z, -count) if clamped else z
        np.add.at(masses[count], kept + table.support, np.array(row.weights) / table.keysize)
    measures = small_counts.measures(masses)
    return measures._replace(bias=measures.bias.round(12) + 0.0)  # that of symmetric noise is zero


def quoted(text: str) -> str:
    r"""A statement as a notebook quotes it: Markdown, each paragraph on one line.

    >>> print(quoted("one\ntwo\n\n- three\n- four"))
    > one two
    > - three
    > - four
    """
    parts = text.replace("\n- ", "\n\n- ").split("\n\n")
    lines = [" ".join(part.split()) for part in parts if part.strip()]
    return "\n>\n".join(f"> {line}" for line in lines).replace("\n>\n> - ", "\n> - ")


def edges(support: int) -> list[float]:
    """Where classes of sizes begin: at 0, 1, D/5, D, 4D, 40D; and infinity.

    >>> edges(25), edges(1)
    ([0, 1, 5, 25, 100, 1000, inf], [0, 1, 4, 40, inf])
    """
    return [*sorted({0, 1, max(support // 5, 1), support, 4 * support, 40 * support}), inf]


def by_size(
    true: Integers, published: Integers, *, designed: Measures, starts: Sequence[float]
) -> list[Size]:
    """The errors of cells, class by class; classes without cells are left out.

    >>> measures = Measures(np.array([0.5, 0.0]), np.array([0.25, 1.0]), np.zeros(2))
    >>> by_size(np.array([0, 0, 20]), np.array([0, 1, 23]), designed=measures, starts=[0, 1, inf])[1]
    Size(low=1, high=inf, cells=1, mean=3.0, spread=0.0, designed_mean=0.0, designed_spread=1.0, far=1.0,
         relative=0.15)
    """
    sizes = []
    error, row = published - true, np.minimum(true, len(designed.bias) - 1)
    for low, high in pairwise(starts):
        chosen = (true >= low) & (true < high)
        if chosen.any():
            bias, here = designed.bias[row[chosen]], error[chosen]
            spread = sqrt((designed.variance[row[chosen]] + bias**2).mean() - bias.mean() ** 2)
            far = float((10 * abs(here) > true[chosen]).mean())
            measured = float(here.mean()), float(here.std()), _rounded(bias.mean()), spread
            relative = float((abs(here) / true[chosen]).mean()) if low > 0 else nan
            sizes.append(Size(int(low), high, len(here), *measured, far, relative))
    return sizes


def totals(published: Published, *, designed: Measures) -> list[Total]:
    """Every kind of total of a table with margins, over one variable first and over all of them last.

    Unless cells have keys of their own, only totals with two or more parts that are not empty count: any
    other is one of its parts, with the same noise. As keys are independent, two at a time, variances add up.
    """
    counts, true = arrays(published)
    lengths = [length - 1 for length in true.shape]
    row = np.minimum(true, len(designed.bias) - 1)
    bias, variance = designed.bias[row], designed.variance[row]
    kinds = []
    for size in range(1, len(lengths) + 1):
        for axes in combinations(range(len(lengths)), size):
            chosen = _sums(true > 0, axes) > (-1 if published.keys == "cells" else 1)
            if chosen.any():
                above = (_sums(counts, axes) - _total(counts, axes))[chosen]
                expected = (_sums(bias, axes) - _total(bias, axes))[chosen]
                squares = (_sums(variance, axes) + _total(variance, axes))[chosen]
                kinds.append(
                    Total(
                        over=tuple(published.layout.by[axis] for axis in axes),
                        parts=int(np.prod([lengths[axis] for axis in axes])),
                        totals=int(chosen.sum()),
                        mean=float(above.mean()),
                        spread=sqrt(((above - expected) ** 2).mean()),
                        designed_mean=_rounded(expected.mean()),
                        designed_spread=sqrt(squares.mean()),
                    )
                )
    return kinds


def _rounded(value: Any) -> float:
    """Twelve decimals, so that a mean of zero is zero."""
    return round(float(value), 12) + 0.0


def arrays(published: Published) -> tuple[Integers, Integers]:
    """Published and true counts with an axis for each variable, the last place of each being the total."""
    if not (published.layout.margins and published.audit) or published.only_positive:
        raise ValueError("published must have margins, all cells and an audit")
    over = np.array(published.table["total_over"].to_pylist())
    # As many rows are totals over all variables but one as that one has categories.
    others = (
        ", ".join(other for other in published.layout.by if other != name) for name in published.layout.by
    )
    shape = [int((over == label).sum()) + 1 for label in others]
    counts, true = (published.table[name].to_numpy().reshape(shape) for name in ("count", "true_count"))
    return counts, true


def _sums(values: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    """Sums of the cells proper over some variables."""
    return np.asarray(values[(slice(-1),) * values.ndim].sum(axis=axes))


def _total(values: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    """The totals over the same variables."""
    return np.asarray(values[tuple(-1 if axis in axes else slice(-1) for axis in range(values.ndim))])
