"""The noise that a published table gets: designed for an (ε, δ), or read from a perturbation table."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from tablebuilder_dp import design as design_guide
from tablebuilder_dp.beyond import symmetric
from tablebuilder_dp.cellkey import BITS
from tablebuilder_dp.counts import perturbation_table as perturbation
from tablebuilder_dp.counts import table_files
from tablebuilder_dp.counts.perturbation_table import PerturbationTable
from tablebuilder_dp.design import Design
from tablebuilder_dp.support import parameters


@dataclass(frozen=True)
class Protection:
    """A perturbation table as cell keys are looked up in it, and what it was made from.

    ``noise``, ``delta`` (the δ asked for), ``rule`` and ``small_counts`` are None for a table from
    elsewhere, ``source``, a file's name, and ``file`` are None for a design.
    """

    table: PerturbationTable
    noise: Design | None = None
    delta: Fraction | None = None
    rule: str | None = None
    small_counts: str | None = None
    source: str | None = None
    file: Path | None = field(default=None, repr=False, compare=False)

    @property
    def keeps_empty(self) -> bool:
        """Whether empty cells get no noise."""
        return self.table.rows[0].weights[self.table.support] == self.table.keysize


def design(
    epsilon: parameters.Number,
    delta: parameters.Number,
    *,
    slack: parameters.Number = design_guide.PAPER_SLACK,
    keysize: int = 2**BITS,
    rule: str = "ceiling",
    small_counts: str = "rows",
) -> Protection:
    """The design guide's noise as a table for any count; refused if rounding to keys breaks (ε, δ).

    The (ε, δ) is that of counts from D on, and with small counts "clamped" that of all counts.

    Raises ValueError where rounding to keys breaks (ε, δ), and ArithmeticError where a cut point is
    not decided.

    >>> protection = design("0.5", "1e-4", small_counts="clamped")
    >>> protection.table.support, protection.keeps_empty
    (25, False)
    """
    target, size = parameters.delta(delta), parameters.keysize(keysize)
    if size & (size - 1) or size > 2**BITS:
        raise parameters.wrong_value("keysize", "a power of 2 up to 2^32", keysize)
    noise = design_guide.guide(epsilon, target, slack=slack)
    table = perturbation.build(
        noise, keysize=size, small_counts=small_counts, rule=symmetric.rule(noise.epsilon, name=rule)
    )
    kept = max(ends.upper for ends in perturbation.delta(table, noise.support, noise.epsilon))
    if kept > target:
        raise ValueError(
            f"keysize must be so large that rounding keeps epsilon {float(noise.epsilon)} and delta "
            f"{float(target)}, got {size}, which has delta {float(kept):.3g}: rule symmetric may need fewer "
            "keys"
        )
    return Protection(table, noise=noise, delta=target, rule=rule, small_counts=small_counts)


def from_table(table: PerturbationTable | str | Path) -> Protection:
    """A perturbation table from elsewhere: a file in one of the layouts of `table_files`, or a table.

    Cell keys have up to 32 bits. A table of decimals or of more keys is served by all 2^32: a key is
    compared as key/2^32 with the cut points, as the file means it.

    Raises ValueError for a malformed file, and OSError for one that cannot be opened.
    """
    source = file = None
    if not isinstance(table, PerturbationTable):
        file, source, table = Path(table).resolve(), Path(table).name, table_files.read(table)
    size = table.keysize
    if not table.by_key and (size & (size - 1) or size > 2**BITS):
        table = perturbation.requantised(table, 2**BITS)
    return Protection(table, source=source, file=file)
