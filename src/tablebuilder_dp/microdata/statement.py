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

from tablebuilder_dp.counts import perturbation_table as perturbation
from tablebuilder_dp.counts.perturbation_table import PerturbationTable
from tablebuilder_dp.microdata.protection import Protection
from tablebuilder_dp.sampling import rounded_up
from tablebuilder_dp.support import parameters


def facts(
    protection: Protection,
    *,
    by: Sequence[str],
    margins: bool,
    only_positive: bool,
    cells_given: bool,
    categories_given: Sequence[str],
    key_columns: int,
    audit: bool,
) -> dict[str, Any]:
    """The statement as it is written in JSON.

    What it promises is the (ε, δ) of one published cell. For several cells it promises nothing: an
    infinite ε and a δ of 1. Their keys are sums of the same record keys, and a total's sum follows from
    those of its parts; two such keys are independent, three need not be (Theorem 13).
    """
    table, made = protection.table, protection.noise
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
            "small_counts": protection.small_counts,
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
        "several_cells": {"epsilon": "inf", "delta": 1.0},
        "cells_with_one_person": 2 ** len(by) if margins else 1,
        "key_columns": key_columns,
        "two_cells_one_person_apart": {"delta": rounded_up(one_apart(table))},
        "perturbs_empty_cells": not protection.keeps_empty,
    }


def digest(table: PerturbationTable) -> str:
    """A SHA-256 by which two people can see that they have the same perturbation table.

    Returns 64 hexadecimal digits.
    """
    content = [table.period, table.keysize, [row.cuts for row in table.rows], table.by_key]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _stated(table: PerturbationTable, first: int, epsilon: Fraction | None) -> dict[str, Any]:
    """(ε, δ) for a person with this many others in the cell, at the design's ε or else where δ is least."""
    guarantee = perturbation.guarantee(table, first=first, epsilon=epsilon)
    return {
        "epsilon": parameters.finite(guarantee.epsilon),
        "delta": guarantee.delta,
        "worst": [guarantee.worst, guarantee.worst + 1],
        "loss_above_epsilon": guarantee.loss_above_epsilon,
    }


def one_apart(table: PerturbationTable) -> Fraction:
    """δ, at every ε, of two published cells that differ by one person alone: the largest for n ≥ 1 others.

    Without the person they are one set of records with one key, so the answers agree. With the person
    they have independent keys and agree only by chance; all other answers happen to this case alone.
    Proof: Theorem 13.

    >>> from tablebuilder_dp.counts.rows import OfVariance
    >>> one_apart(perturbation.build(OfVariance(1, "0.5"), keysize=4))
    Fraction(3, 4)
    """
    pairs = (perturbation.outputs(table, count) for count in table.pairs[1:] or table.pairs)
    agree = min(sum(a * b for a, b in zip(less, more, strict=True)) for less, more in pairs)
    return 1 - Fraction(agree, table.keysize**2)


def up(value: float) -> float:
    """Four digits, rounded up.

    >>> up(0.123401), up(2.0), up(0.0)
    (0.1235, 2.0, 0.0)
    """
    if value == 0 or math.isinf(value):
        return value
    exact = Decimal(repr(value))  # the decimal that it prints as
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 3), rounding=ROUND_CEILING))
