"""What may be said about a published table: its noise, its (ε, δ), and what it does not protect.

All of it follows from the protection and from which cells are listed, never from the records, so a
statement may be published with its table. Every number is rounded to the side of less protection.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from importlib.metadata import version
from typing import Any

from tablebuilder_dp import composition, parameters, symmetric
from tablebuilder_dp import perturbation_table as perturbation
from tablebuilder_dp.microdata.protection import Protection
from tablebuilder_dp.perturbation_table import PerturbationTable
from tablebuilder_dp.sampling import rounded_up

CELLS = (1, 2, 10, 100)
"""For so many cells with the same person (ε, δ) is stated, and for those of the table itself."""


def facts(
    protection: Protection,
    *,
    by: Sequence[str],
    margins: bool,
    only_positive: bool,
    cells_given: bool,
    categories_given: Sequence[str],
    audit: bool,
) -> dict[str, Any]:
    """The statement as it is written in JSON."""
    table, made = protection.table, protection.made
    epsilon = None if made is None else made.epsilon
    noise: dict[str, Any] = {"keysize": table.keysize, "support": table.support}
    if made is not None:
        noise |= {
            "epsilon": float(made.epsilon),
            "delta": float(protection.delta or 0),
            "slack": float(made.slack),
            "gamma": float(made.gamma),
            "variance": made.variance,
            "rule": protection.rule,
            "small_counts": protection.way,
        }
    else:
        noise |= {"source": protection.source}
    return {
        "software": f"tablebuilder-dp {version('tablebuilder-dp')}",
        "confidential": audit,
        "by": list(by),
        "margins": margins,
        "cells": "those of a given list" if cells_given else "all combinations of categories",
        "only_positive": only_positive,
        "categories_given": list(categories_given),
        "noise": {**noise, "sha256": digest(table)},
        "one_cell": {
            f"others_from_{first}": _stated(table, first, epsilon)
            for first in sorted({0, 1, len(table.rows) - max(table.period, 1)})
        },
        "same_person": {
            "cells_of_this_table": 2 ** len(by) if margins else 1,
            "together": _together(protection, by, margins),
            "others_from": _scope(protection),
            "assumes": "independent keys of different cells",
        },
        "two_cells_one_person_apart": {"delta": rounded_up(one_apart(table))},
        "perturbs_empty_cells": not protection.keeps_empty,
    }


def digest(table: PerturbationTable) -> str:
    """A SHA-256 by which two people can see that they have the same perturbation table."""
    content = [table.period, table.keysize, [row.cuts for row in table.rows], table.by_key]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _stated(table: PerturbationTable, first: int, epsilon: Fraction | None) -> dict[str, Any]:
    """(ε, δ) for a person with so many others in the cell, at the design's ε or else where δ is least."""
    found = perturbation.guarantee(table, first=first, epsilon=epsilon)
    return {
        "epsilon": parameters.finite(found.epsilon),
        "delta": found.delta,
        "worst": [found.worst, found.worst + 1],
    }


def one_apart(table: PerturbationTable) -> Fraction:
    """δ, at every ε, of two published cells that differ by one person alone: the largest for n ≥ 1 others.

    Without the person they are one set of records with one key, so the answers agree. With the person
    they have independent keys and agree only by chance; all other answers happen to this case alone.

    >>> one_apart(perturbation.build(support=1, variance="0.5", keysize=4))
    Fraction(3, 4)
    """
    pairs = (perturbation.outputs(table, count) for count in table.pairs[1:] or table.pairs)
    agree = min(sum(a * b for a, b in zip(less, more, strict=True)) for less, more in pairs)
    return 1 - Fraction(agree, table.keysize**2)


def _scope(protection: Protection) -> int:
    """How many others a cell must have for what is said of several cells."""
    if protection.made is None:
        return 1
    return 0 if protection.way == "clamped" else protection.table.support


def _together(protection: Protection, by: Sequence[str], margins: bool) -> list[dict[str, Any]]:
    """(ε, δ) of several cells with the same person in them, for some numbers of cells."""
    numbers = sorted({*CELLS, 2 ** len(by) if margins else 1})
    found = ((k, *_composed(protection, k)) for k in numbers)
    return [
        {"cells": k, "epsilon": parameters.finite(epsilon), "delta": delta} for k, epsilon, delta in found
    ]


def _composed(protection: Protection, cells: int) -> tuple[float, float]:
    """(ε, δ) of so many cells, at twice the δ that no ε undercuts; float64, with room for its errors."""
    made, table = protection.made, protection.table
    if made is None:
        one = perturbation.guarantee(table, first=1)
        total = -2 * math.expm1(cells * math.log1p(-min(one.delta, 0.5)))
        if not 0 < one.epsilon <= parameters.EPSILON_MAX or not 0 < total < 1:
            return math.inf, 1.0
        bound = composition.bounds(one.epsilon, one.delta, cells=cells, total=total).optimal
        return up(bound), up(total)
    if cells * (2 * made.support - 1) >= composition.LATTICE_MAX:
        return math.inf, 1.0
    noise: dict[str, Any] = {"support": made.support, "gamma": made.gamma, "cells": cells}
    total = 2 * composition.losses(**noise).infinite
    if total >= 1:
        return math.inf, 1.0
    epsilon = composition.epsilon(total, **noise)
    # The table is this far from the noise: P and Q of each cell move by that much, Q counts e^ε times.
    away = rounded_up(symmetric.distance(table.rows[-1], gamma=made.gamma, digits=3).upper)
    return up(epsilon), min(up(total + cells * away * (1 + math.exp(epsilon))), 1.0)


def up(value: float) -> float:
    """Four digits, rounded up.

    >>> up(0.123401), up(2.0), up(0.0)
    (0.1235, 2.0, 0.0)
    """
    if value == 0 or math.isinf(value):
        return value
    exact = Decimal(repr(value))  # the decimal that it prints as
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 3), rounding=ROUND_CEILING))
