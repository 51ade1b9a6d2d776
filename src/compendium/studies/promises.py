"""Which promises of a design its lookup tables keep: by the paper's ceilings, and with symmetric weights."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from compendium.studies.sweep import Experiment
from tablebuilder_dp import certified, sampling
from tablebuilder_dp.beyond import symmetric
from tablebuilder_dp.design import Design
from tablebuilder_dp.sampling import LookupTable


def symmetric_tables(study: Experiment) -> dict[int, list[LookupTable | None]]:
    """The symmetric table nearest to each design, by bits of a key; None where there is none."""
    return {
        bits: [
            sampling.lookup_table(made, keysize=2**bits, rule=symmetric.rule(made.epsilon))
            if symmetric.has_table(made.epsilon, support=study.support, keysize=2**bits)
            else None
            for made in study.designs
        ]
        for bits in study.bits
    }


class Kept(NamedTuple):
    """The bias that is largest in size, and how many tables keep the support, ε both ways, and δ too."""

    bias: Fraction
    support: int
    epsilon: int
    delta: int


def kept(designs: Sequence[Design], tables: Sequence[LookupTable | None]) -> Kept:
    """What the tables of some designs keep; a table that does not exist keeps nothing."""
    biases, full, epsilons, deltas = [Fraction(0)], 0, 0, 0
    for made, table in zip(designs, tables, strict=True):
        if table:
            after = sampling.after_sampling(table)
            biases.append(after.bias)
            full += table.full_support
            keeps_epsilon = symmetric.keeps_epsilon(table, made.epsilon)
            epsilons += keeps_epsilon
            # Where ε is kept, the exact δ is that of an end.
            end = certified.delta(made, made.epsilon, digits=40).lower
            deltas += keeps_epsilon and after.delta <= end
    return Kept(max(biases, key=abs), full, epsilons, deltas)


class Price(NamedTuple):
    """How far a table is from its design: total variation in keys, and the relative error of the variance."""

    keys: float
    variance: float


def price(made: Design, table: LookupTable) -> Price:
    """What the rounding to whole keys costs."""
    spread = float(sampling.after_sampling(table).variance)
    return Price(table.keysize * float(sampling.distance(made, table)), spread / made.variance - 1)
