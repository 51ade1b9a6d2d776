"""What may be said about a published table: its noise, its (ε, δ), and what it does not protect.

All of it follows from the protection and from which cells are listed, never from the records, so a
statement may be published with its table. Every number is rounded to the side of less protection.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from importlib.metadata import version
from itertools import pairwise
from typing import Any

from tablebuilder_dp import certified
from tablebuilder_dp.beyond.many_cells import family
from tablebuilder_dp.beyond.promise import promise
from tablebuilder_dp.counts import perturbation_table as perturbation
from tablebuilder_dp.counts.perturbation_table import PerturbationTable
from tablebuilder_dp.microdata.account import Account
from tablebuilder_dp.microdata.cell_keys import CIPHER
from tablebuilder_dp.microdata.forms import USUAL, Form
from tablebuilder_dp.microdata.layout import NEIGHBOURS, Layout
from tablebuilder_dp.microdata.protection import Protection, Table, largest
from tablebuilder_dp.sampling import LookupTable, rounded_up
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import exponential, to_digits

NOTHING: dict[str, Any] = {"epsilon": "inf", "delta": 1.0, "loss_above_epsilon": 1.0}
"""What is promised where nothing is."""

_HALVINGS, _DIGITS = 5, 6  # how near to ε a bound on the odds looks, and how sharp its factor is


def facts(
    protection: Protection,
    layout: Layout,
    *,
    keys: str,
    edition: str | None,
    neighbours: str,
    cells_changed: int,
    only_positive: bool,
    cells_given: bool,
    categories_given: Sequence[str],
    key_columns: int,
    audit: bool,
    form: Form = USUAL,
    crosstab: str | None = None,
) -> dict[str, Any]:
    """The statement as it is written in JSON.

    ``whole_table`` is the (ε, δ) of everything in the table (Theorem 57), for which keys of cells are
    needed, and categories that were listed without looking at the records; where they were not (Theorem 59),
    ``given_categories`` has what would hold if they had been known before. ``one_cell`` is that of one
    published count, for a design or a table that is about one.
    """
    noise, keyed_cells = protection.noise, keys == "cells"
    stated: dict[str, Any] = {
        "software": f"tablebuilder-dp {version('tablebuilder-dp')}",
        "confidential": audit,
        "by": list(layout.by),
        "margins": layout.margins,
        "nested": [list(names) for names in layout.nested],
        "cells": "those of a given list" if cells_given else "all combinations of categories",
        "only_positive": only_positive,
        "labels": form.labels,
        "suppress_below": form.suppress_below,
        "crosstab": crosstab,
        "categories_given": list(categories_given),
        "keys": keys,
        "neighbours": neighbours,
        "cells_changed": cells_changed,
        "cells_per_person": protection.cells or max(1, cells_changed),
        "noise": _noise(protection),
    }
    if edition is not None:
        stated |= {"edition": edition, "cipher": CIPHER}
    left_out = form.suppress_below is not None
    pooled = only_positive and isinstance(protection.table, LookupTable)  # all counts of 0 or less look alike
    whole = dict(NOTHING)
    if keyed_cells:
        bounded = pooled or left_out or protection.small_counts == "clamped" or neighbours == "replace"
        whole = _whole_table(protection, cells_changed, bounded=bounded)
        if left_out and protection.small_counts == "rows":
            whole["loss_above_epsilon"] = 1.0  # nothing is known of the odds
    if keyed_cells and not cells_given and set(layout.by) - set(categories_given):
        stated |= {"whole_table": dict(NOTHING), "given_categories": whole}
    else:
        stated["whole_table"] = whole
    if protection.cells is None:
        level = None if noise is None else protection.epsilon
        shown = perturbation.clamped(largest(protection.table)) if pooled else protection.table
        stated["one_cell"] = one_cell(shown, level, left_out=left_out)
    if not keyed_cells:
        stated |= {"key_columns": key_columns, "two_cells_one_person_apart": one_apart(protection.table)}
    return {**stated, "perturbs_empty_cells": not protection.keeps_empty}


def of_given(
    protection: Protection,
    *,
    by: Sequence[str],
    count: str,
    cell_key: str,
    audit: bool,
    form: Form = USUAL,
) -> dict[str, Any]:
    """The statement about counts that were given with the keys of their cells, as it is written in JSON.

    How the keys were made is not known, so nothing is promised about several counts (Theorems 61 and 62).
    ``one_cell`` holds for keys that are uniform.
    """
    level = None if protection.noise is None else protection.epsilon
    return {
        "software": f"tablebuilder-dp {version('tablebuilder-dp')}",
        "confidential": audit,
        "by": list(by),
        "columns": {"count": count, "cell_key": cell_key},
        "cells": "those of the table that was given",
        "only_positive": False,
        "suppress_below": form.suppress_below,
        "keys": "given",
        "neighbours": NEIGHBOURS[0],
        "noise": _noise(protection),
        "whole_table": dict(NOTHING),
        "one_cell": one_cell(protection.table, level, left_out=form.suppress_below is not None),
        "two_cells_one_person_apart": one_apart(protection.table),
        "perturbs_empty_cells": not protection.keeps_empty,
    }


def of_release(
    protection: Protection,
    tables: Sequence[Mapping[str, Any]],
    *,
    edition: str,
    neighbours: str,
    cells_changed: int,
    history: Account,
    form: Form = USUAL,
) -> dict[str, Any]:
    """The one statement of all tables of a release, as it is written in JSON.

    ``all_tables`` is the (ε, δ) of everything in it (Theorem 58), ``all_editions`` that of everything in the
    journal up to it.
    """
    left_out = form.suppress_below is not None
    bounded = left_out or protection.small_counts == "clamped" or neighbours == "replace"
    so_far = {name: value for name, value in history.data.items() if name != "room"}
    names = list(dict.fromkeys(row["edition"] for row in so_far.pop("editions")))
    why = sorted({entry.why for entry in history.entries if entry.why})
    return {
        "software": f"tablebuilder-dp {version('tablebuilder-dp')}",
        "edition": edition,
        "tables": list(tables),
        "cells": "all combinations of categories",
        "labels": form.labels,
        "suppress_below": form.suppress_below,
        "keys": "cells",
        "cipher": CIPHER,
        "neighbours": neighbours,
        "cells_changed": cells_changed,
        "cells_per_person": protection.cells or cells_changed,
        "noise": {**_noise(protection), "of": "everything in this release"},
        "perturbs_empty_cells": not protection.keeps_empty,
        "only_positive": False,
        "all_tables": _whole_table(protection, cells_changed, bounded=bounded),
        "all_editions": {"editions": names, **so_far, **({"why": why} if why else {})},
    }


def _noise(protection: Protection) -> dict[str, Any]:
    table, noise = protection.table, protection.noise
    content: dict[str, Any] = {
        "keysize": table.keysize,
        "support": table.support,
        "sha256": protection.digest,
    }
    if noise is None:
        return {**content, "source": protection.source}
    content |= {
        "family": family(noise),
        "rate": float(max(noise.rates)),
        "variance": noise.variance,
        "epsilon": float(protection.epsilon or 0),
        "delta": float(protection.delta or 0),
        "of": "the whole table" if protection.cells else "one cell",
        "small_counts": protection.small_counts,
    }
    if protection.small_counts == "clamped":
        weights = largest(table).weights
        above = sum(z * weight for z, weight in enumerate(weights, -table.support) if z > 0)
        content["bias_at_0"] = rounded_up(Fraction(above, table.keysize))
    if protection.cells is None:
        return content | {"slack": float(protection.slack or 0), "rule": protection.rule}
    return content | {"variances": dict(protection.rivals)}


def _whole_table(protection: Protection, changed: int, *, bounded: bool) -> dict[str, Any]:
    """(ε, δ) of everything that is published: δ for as many counts as were designed for, odds for this table.

    The odds are nearly exact for signed counts that are all published and of which one person changes a fixed
    number; otherwise they are to be ``bounded``, as results with different losses may be published as one.
    Rows of their own for small counts have no symmetric noise: for them, basic composition.
    """
    noise, level = protection.noise, protection.epsilon
    if noise is None or level is None:
        return dict(NOTHING)
    if isinstance(protection.table, PerturbationTable) and protection.small_counts == "rows":
        single = perturbation.guarantee(protection.table, first=0, epsilon=level)
        all_but = (1 - Fraction(single.delta)) ** changed
        return {
            "epsilon": rounded_up(changed * level),
            "delta": rounded_up(1 - all_but),
            "loss_above_epsilon": rounded_up(min(Fraction(1), changed * Fraction(single.loss_above_epsilon))),
        }
    changed = max(1, changed)  # that of a table that nobody can change is no larger
    cells, table = protection.cells or changed, largest(protection.table)
    here = promise(noise, table, level, cells=changed, clamped=bounded)
    kept = here if cells == changed else promise(noise, table, level, cells=cells, clamped=bounded)
    return {
        "epsilon": rounded_up(level),
        "delta": rounded_up(kept.delta),
        "loss_above_epsilon": rounded_up(here.loss_above_epsilon),
    }


def one_cell(table: Table, epsilon: Fraction | None, *, left_out: bool = False) -> dict[str, Any]:
    """(ε, δ) of one published count, by how many others are in the cell, at ε or else where δ is least.

    Where some counts are ``left_out`` the odds are bounded for whatever is made of the count (Theorem 49).
    """
    if isinstance(table, LookupTable):
        stated = {"others_from_0": _signed(table, Fraction(epsilon or 0))}
    else:
        stated = {
            f"others_from_{first}": _stated(table, first, epsilon)
            for first in sorted({0, 1, len(table.rows) - max(table.period, 1)})
        }
    if left_out:
        for name, one in stated.items():
            one["loss_above_epsilon"] = _of_whatever(table, int(name.removeprefix("others_from_")), one)
    return stated


def _of_whatever(table: Table, first: int, stated: Mapping[str, Any]) -> float:
    """A bound on how often odds change by more than e^ε, for whatever is made of one count (Theorem 49)."""
    if stated["epsilon"] == "inf" or stated["delta"] >= 1:
        return 1.0
    level = Fraction(stated["epsilon"])

    def bound(gap: Fraction) -> Fraction:
        if isinstance(table, LookupTable):
            delta = _signed(table, level - gap)["delta"]
        else:
            delta = perturbation.guarantee(table, first=first, epsilon=level - gap).delta
        factor = to_digits(_DIGITS, lambda: (1 + exponential(-level)) / (1 - exponential(-gap)))
        return Fraction(delta) * factor.upper

    gaps = [level / 2**halving for halving in range(1, _HALVINGS + 1)] if level else []
    return rounded_up(min([Fraction(1), *map(bound, gaps)]))


def _stated(table: PerturbationTable, first: int, epsilon: Fraction | None) -> dict[str, Any]:
    guarantee = perturbation.guarantee(table, first=first, epsilon=epsilon)
    return {
        "epsilon": parameters.finite(guarantee.epsilon),
        "delta": guarantee.delta,
        "worst": [guarantee.worst, guarantee.worst + 1],
        "loss_above_epsilon": guarantee.loss_above_epsilon,
    }


def _signed(table: LookupTable, epsilon: Fraction) -> dict[str, Any]:
    """Of a noise that all counts share, negative ones included: every pair of neighbours is alike."""
    less, more = [*table.weights, 0], [0, *table.weights]
    both = certified.of_weights(less, more, epsilon, unit=table.keysize)
    down, up = (certified.excess(p, q, epsilon) for p, q in ((less, more), (more, less)))
    masses = max(down.ours + up.theirs, up.ours + down.theirs)
    return {
        "epsilon": rounded_up(epsilon),
        "delta": rounded_up(max(ends.upper for ends in both)),
        "worst": [0, 1],
        "loss_above_epsilon": rounded_up(Fraction(masses, table.keysize)),
    }


def one_apart(table: Table) -> dict[str, float]:
    """δ, at every ε, of two published cells that differ by one person alone, if equal sets share their noise.

    ``delta`` is the largest for n ≥ 1 others: without the person the two are one set of records with one key,
    so the answers agree. With the person they have independent keys and agree only by chance; all other
    answers happen to this case alone (Theorem 13). ``at_least`` is what no scheme of this kind can go below
    with the noise of large counts, however its keys depend on each other (Theorem 60).

    >>> one_apart(LookupTable(4, (1, 3, 4)))
    {'delta': 0.75, 'at_least': 0.5}
    """
    if isinstance(table, LookupTable):
        pairs = [((*table.weights, 0), (0, *table.weights))]
    else:
        pairs = [perturbation.outputs(table, n) for n in table.pairs[1:] or table.pairs]
    agree = min(sum(a * b for a, b in zip(less, more, strict=True)) for less, more in pairs)
    weights = largest(table).weights
    apart = sum(max(0, high - low) for low, high in pairwise((0, *weights, 0)))
    return {
        "delta": rounded_up(1 - Fraction(agree, table.keysize**2)),
        "at_least": -rounded_up(-Fraction(apart, table.keysize)),
    }


def up(value: float) -> float:
    """Four digits, rounded up.

    >>> up(0.123401), up(2.0), up(0.0)
    (0.1235, 2.0, 0.0)
    """
    if value == 0 or math.isinf(value):
        return value
    exact = Decimal(repr(value))  # the decimal that it prints as
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 3), rounding=ROUND_CEILING))
