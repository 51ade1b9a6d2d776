"""The noise that a published table gets: designed for an (ε, δ), or read from a perturbation table."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
from numpy.typing import NDArray

from tablebuilder_dp import certified, sampling
from tablebuilder_dp import design as design_guide
from tablebuilder_dp.beyond import many_cells, symmetric
from tablebuilder_dp.beyond.many_cells import Choice
from tablebuilder_dp.cellkey import BITS
from tablebuilder_dp.counts import perturbation_table as perturbation
from tablebuilder_dp.counts import table_files
from tablebuilder_dp.counts.perturbation_table import PerturbationTable
from tablebuilder_dp.microdata import sources
from tablebuilder_dp.noise import AnyNoise
from tablebuilder_dp.sampling import LookupTable
from tablebuilder_dp.support import parameters

SMALL_COUNTS = ("signed", "clamped", "rows")
"""What becomes of counts that noise makes negative. The first is the default: it has no bias, so that sums
of cells have none either, and every reader can clamp it, whereas nobody can undo a clamped count."""

Table = LookupTable | PerturbationTable


@dataclass(frozen=True)
class Protection:
    """Noise as cell keys are looked up in it, and what it was made for.

    ``epsilon`` and ``delta`` are what was asked for: of everything that is published if ``cells``, the most
    counts that one person changes, is given, and of one cell otherwise. Of a table from elsewhere there is
    only ``source``, a file's name, and ``file``; ``as_written`` is that table, if ``table`` serves another
    KEYSIZE. ``rivals`` has the variance that each family of noise needs.
    """

    table: Table
    noise: AnyNoise | None = None
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    cells: int | None = None
    small_counts: str | None = None
    slack: Fraction | None = None
    rule: str | None = None
    rivals: dict[str, float] = field(default_factory=dict, compare=False)
    source: str | None = None
    file: Path | None = field(default=None, repr=False, compare=False)
    as_written: PerturbationTable | None = field(default=None, repr=False, compare=False)

    @property
    def for_decimals(self) -> Protection:
        """The same for keys that are decimals in [0, 1), looked up in the table as it was written.

        A decimal is often the very end of an interval, and ⌊key·KEYSIZE⌋ is on the right side of all ends
        for the KEYSIZE that they are multiples of.
        """
        return replace(self, table=self.as_written or self.table, as_written=None)

    @property
    def for_bits(self) -> Protection:
        """The same for keys of so many bits, of which a table has all or the leading ones."""
        size = self.table.keysize
        if not isinstance(self.table, PerturbationTable) or not size & (size - 1):
            return self
        return replace(self, table=perturbation.requantised(self.table, 2**BITS), as_written=None)

    @property
    def keeps_empty(self) -> bool:
        """Whether empty cells get no noise."""
        row = self.table.rows[0] if isinstance(self.table, PerturbationTable) else self.table
        return row.weights[row.support] == row.keysize

    @property
    def digest(self) -> str:
        """A SHA-256 by which two people can see that they have the same weights: 64 hexadecimal digits."""
        table = self.table
        if isinstance(table, PerturbationTable):
            cuts = [row.cuts for row in table.rows]
            content: list[Any] = [table.period, table.keysize, cuts, table.segments]
        else:
            content = [table.keysize, table.cuts]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def published(self, counts: NDArray[np.int64], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """What is published of each count, by the key of its cell.

        Raises ValueError for a count that the table does not serve.
        """
        values: NDArray[np.int64]
        if isinstance(self.table, PerturbationTable):
            if above := int((counts > self.table.largest).sum()):
                raise ValueError(
                    f"protection must serve every count, but its table ends at {self.table.largest}, which "
                    f"{above} of the cells exceed"
                )
            values = counts + perturbation.sample(self.table, counts, keys)
        else:
            values = counts + sampling.sample(self.table, keys)
        return np.maximum(values, 0) if self.small_counts == "clamped" else values


def design(
    epsilon: parameters.Number,
    delta: parameters.Number,
    *,
    cells: int,
    noise: str = "best",
    small_counts: str = SMALL_COUNTS[0],
) -> Protection:
    """The noise of the least variance found for which a whole table keeps (ε, δ): that of `many_cells.best`.

    ``cells`` is the number of counts that one person changes, as `Layout.cells_changed` has it, in all
    tables that share the noise and the edition (Theorem 58); ``noise`` is one of `many_cells.FAMILIES`.
    Negative counts are published as they are ("signed") or as 0 ("clamped").

    Raises ValueError for an (ε, δ) that no noise up to the widest support keeps, and ArithmeticError where an
    enclosure does not decide.

    >>> protection = design(1, "1e-6", cells=8, small_counts="clamped")
    >>> protection.noise.support < 200, protection.table.keysize == 2**64
    (True, True)
    """
    if small_counts not in SMALL_COUNTS[:2]:
        allowed = f"one of {', '.join(SMALL_COUNTS[:2])} for a whole table"
        raise parameters.wrong_value("small_counts", allowed, small_counts)
    chosen = many_cells.best(epsilon, delta, cells=cells, family=noise)
    return of_choice(chosen, parameters.delta(delta), cells=cells, small_counts=small_counts)


def of_choice(chosen: Choice, delta: Fraction, *, cells: int, small_counts: str) -> Protection:
    """The noise that was chosen for a δ and as many counts that one person changes."""
    return Protection(
        chosen.table,
        noise=chosen.noise,
        epsilon=chosen.promise.epsilon,
        delta=delta,
        cells=cells,
        small_counts=small_counts,
        rivals={
            many_cells.family(choice.noise): choice.variance for choice in (chosen, chosen.rival) if choice
        },
    )


def design_per_cell(
    epsilon: parameters.Number,
    delta: parameters.Number,
    *,
    slack: parameters.Number = design_guide.PAPER_SLACK,
    keysize: int = 2**BITS,
    rule: str = "ceiling",
    small_counts: str = SMALL_COUNTS[0],
) -> Protection:
    """The paper's design guide: (ε, δ) of one cell; refused if rounding to keys breaks it.

    With "rows" only counts from D on have this (ε, δ).

    Raises ValueError where rounding to keys breaks (ε, δ), and ArithmeticError where a cut point is
    not decided.

    >>> protection = design_per_cell("0.5", "1e-4")
    >>> protection.table.support, protection.keeps_empty
    (25, False)
    """
    target, size = parameters.delta(delta), parameters.keysize(keysize)
    if size & (size - 1) or size > 2**BITS:
        raise parameters.wrong_value("keysize", "a power of 2 up to 2^32", keysize)
    if small_counts not in SMALL_COUNTS:
        raise parameters.wrong_value("small_counts", f"one of {', '.join(SMALL_COUNTS)}", small_counts)
    noise = design_guide.guide(epsilon, target, slack=slack)
    chosen = symmetric.rule(noise.epsilon, name=rule)
    if small_counts == "signed":
        table: Table = sampling.lookup_table(noise, keysize=size, rule=chosen)
    else:
        table = perturbation.build(noise, keysize=size, small_counts=small_counts, rule=chosen)
    weights = largest(table).weights
    both = certified.of_weights([*weights, 0], [0, *weights], noise.epsilon, unit=size)
    kept = max(ends.upper for ends in both)
    if kept > target:
        raise ValueError(
            f"keysize must be so large that rounding keeps epsilon {float(noise.epsilon)} and delta "
            f"{float(target)}, got {size}, which has delta {float(kept):.3g}: rule symmetric may need fewer "
            "keys"
        )
    return Protection(
        table,
        noise=noise,
        epsilon=noise.epsilon,
        delta=target,
        small_counts=small_counts,
        slack=noise.slack,
        rule=rule,
    )


def largest(table: Table) -> LookupTable:
    """The lookup table of large counts."""
    return table.rows[-1] if isinstance(table, PerturbationTable) else table


def from_table(table: Any) -> Protection:
    """A perturbation table from elsewhere: a file in one of the layouts of `table_files`, or a table.

    The table may be one in memory, with the columns of such a file.

    Cell keys have up to 32 bits, or are decimals in [0, 1). A table of decimals or of more keys is served by
    all 2^32: a key is compared as key/2^32 with the ends of the intervals, as the file means it. Of an ONS
    table keys are the file's own, to which sums of record keys are reduced.

    Raises ValueError for a malformed table, TypeError for what is none, and OSError for a file that cannot be
    opened.
    """
    source = file = None
    if not isinstance(table, PerturbationTable | str | Path):
        text, columns = io.BytesIO(), sources.arrow_table(table)
        index = [name for name in columns.column_names if name.startswith("__index_level_")]  # of pandas
        pyarrow.csv.write_csv(columns.drop_columns(index), text)
        table = table_files.read_lines("the table", iter(text.getvalue().decode().splitlines()))
    if not isinstance(table, PerturbationTable):
        file, source, table = Path(table).resolve(), Path(table).name, table_files.read(table)
    size, numbered = (
        table.keysize,
        table.period != 1,
    )  # ends of intervals, in files of period 1, have no number
    if numbered or (not size & (size - 1) and size <= 2**BITS):
        return Protection(table, source=source, file=file)
    served = perturbation.requantised(table, 2**BITS)
    return Protection(served, source=source, file=file, as_written=table)
