"""Section V-C: the paper's experiment, D fixed, ε on a grid, three key sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tablebuilder_dp import design, sampling
from tablebuilder_dp.support import parameters


@dataclass(frozen=True)
class Experiment:
    """Designs by ε and, for each number of key bits, their tables and measures after sampling."""

    support: int
    epsilons: tuple[Fraction, ...]
    bits: tuple[int, ...]
    designs: tuple[design.Design, ...]
    tables: dict[int, tuple[sampling.LookupTable, ...]]
    after: dict[int, tuple[sampling.AfterSampling, ...]]

    def variance_errors(self, bits: int) -> list[float]:
        """(V^Q − V)/V for each ε."""
        pairs = zip(self.designs, self.after[bits], strict=True)
        return [float(after.variance) / made.variance - 1 for made, after in pairs]

    def kept_promises(self, bits: int) -> int:
        """For how many ε the two-sided ε^Q is at most ε."""
        pairs = zip(self.epsilons, self.after[bits], strict=True)
        return sum(after.epsilon_two_sided <= epsilon for epsilon, after in pairs)

    def last_full_support(self, bits: int) -> Fraction | None:
        """The last ε before the first table that loses a noise value; None if the first one does."""
        last = None
        for epsilon, table in zip(self.epsilons, self.tables[bits], strict=True):
            if not table.full_support:
                break
            last = epsilon
        return last


def run(
    *,
    support: int,
    epsilon_step: parameters.Number,
    steps: int,
    slack: parameters.Number,
    bits: Sequence[int],
) -> Experiment:
    """Design and quantise the noise for ε = step, 2·step, … and each KEYSIZE = 2^bits."""
    step = parameters.epsilon(epsilon_step)
    count = parameters.integer(steps, "steps", low=1, high=10_000)
    levels = tuple(step * k for k in range(1, count + 1))
    designs = tuple(design.proposition_3(level, support=support, slack=slack) for level in levels)
    tables = {size: tuple(sampling.lookup_table(made, keysize=2**size) for made in designs) for size in bits}
    after = {size: tuple(map(sampling.after_sampling, made)) for size, made in tables.items()}
    return Experiment(support, levels, tuple(bits), designs, tables, after)
