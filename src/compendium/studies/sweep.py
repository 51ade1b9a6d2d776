"""Section V-C: the paper's experiment, D fixed, ε on a grid, three key sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tablebuilder_dp import certified, design, sampling
from tablebuilder_dp.beyond import symmetric
from tablebuilder_dp.privacy import Delta
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import Enclosure


def delta_in_keys(table: sampling.LookupTable, epsilon: parameters.Number) -> Delta[Enclosure]:
    """δ of a table at ε times KEYSIZE, in both directions, enclosed: 64 bits are too many for a float.

    >>> both = delta_in_keys(sampling.LookupTable(8, (2, 6, 8)), "0.5")
    >>> float(both.forward), float(both.backward)
    (2.7025..., 2.7025...)
    """
    level = parameters.number(epsilon, "epsilon", high=parameters.EPSILON_MAX, includes="low high")
    return certified.of_weights([*table.weights, 0], [0, *table.weights], level, unit=1, digits=40)


def is_guarantee(table: sampling.LookupTable, epsilon: parameters.Number) -> bool:
    """Whether (ε, δ^Q) is a guarantee of the table, decided exactly.

    >>> [is_guarantee(sampling.LookupTable(8, (2, 6, 8)), epsilon) for epsilon in ("0.5", "0.7")]
    [False, True]
    """
    largest = max(table.weights[0], table.weights[-1])
    return all(side.upper <= largest for side in delta_in_keys(table, epsilon))


def hundredths(exact: Fraction) -> str:
    """A number to two decimals, however large it is.

    >>> hundredths(Fraction(2**70) + Fraction(1, 3)), hundredths(Fraction(-1, 8))
    ('1180591620717411303424.33', '-0.12')
    """
    whole, part = divmod(abs(round(100 * exact)), 100)
    return f"{'-' if exact < 0 else ''}{whole}.{part:02d}"


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
        """(V^Q − V)/V for each ε, from enclosures of V: the difference can be below float64's last digit."""
        exact = [certified.variance(made).lower for made in self.designs]
        return [float(after.variance / V - 1) for V, after in zip(exact, self.after[bits], strict=True)]

    def epsilon_errors(self, bits: int) -> list[float]:
        """(ε^Q − ε)/ε for each ε, with the paper's one-sided ε^Q."""
        pairs = zip(self.epsilons, self.after[bits], strict=True)
        return [after.epsilon_one_sided / float(epsilon) - 1 for epsilon, after in pairs]

    def delta_errors(self, bits: int) -> list[float]:
        """(δ^Q − δ)/δ for each ε."""
        pairs = zip(self.designs, self.after[bits], strict=True)
        return [float(after.delta) / made.delta - 1 for made, after in pairs]

    def guarantees(self, bits: int) -> int:
        """For how many ε the pair (ε, δ^Q) of the table is a guarantee."""
        return sum(map(is_guarantee, self.tables[bits], self.epsilons))

    def full_support(self, bits: int) -> int:
        """For how many ε the table has full support: the first ones, as δ falls with ε."""
        return sum(table.full_support for table in self.tables[bits])

    def kept_promises(self, bits: int) -> int:
        """For how many ε the two-sided ε^Q is at most ε."""
        return sum(map(symmetric.keeps_epsilon, self.tables[bits], self.epsilons))

    def last_full_support(self, bits: int) -> Fraction | None:
        """The last ε before the first table that loses a noise value; None if the first one does."""
        count = self.full_support(bits)
        return self.epsilons[count - 1] if count else None


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


def of_the_paper() -> Experiment:
    """The paper's own experiment."""
    return run(support=10, epsilon_step="0.1", steps=25, slack=design.PAPER_SLACK, bits=(8, 16, 32))


CLOSE = 0.01
"""What "close" and "almost identical" are taken to mean: within one per cent."""
SLIGHT = 0.1
"""What "slightly" is taken to mean: by at most a tenth."""


def found(study: Experiment) -> dict[str, Fraction | str]:
    """What is found of the sentences about the paper's experiment, by claim id.

    An order of magnitude is 10^k with 10^k ≤ x < 10^(k+1), of the largest error. What is said of ε is looked
    at where support is full.
    """
    largest = {bits: max(map(abs, study.variance_errors(bits))) for bits in study.bits}
    ratios = {bits: study.epsilon_errors(bits)[: study.full_support(bits)] for bits in study.bits}
    excess = {bits: study.delta_errors(bits) for bits in study.bits}
    values: dict[str, Fraction | str] = {f"exp-bias-{bits}": study.after[bits][0].bias for bits in study.bits}
    values["exp-variance-8"] = Fraction(repr(largest[8]))
    for bits in (16, 32):
        values[f"exp-variance-{bits}"] = Fraction(10) ** math.floor(math.log10(largest[bits]))
    for bits in (8, 16):
        values[f"exp-support-{bits}"] = study.last_full_support(bits) or Fraction(0)
    values["exp-support-32"] = "all" if study.full_support(32) == len(study.epsilons) else "not all"
    values["exp-epsilon-8"] = "higher" if min(ratios[8]) > 0 else "higher or lower"
    values["exp-epsilon-16"] = "close or slightly lower" if max(ratios[16]) <= CLOSE else "higher"
    values["exp-epsilon-16-slightly"] = "slightly lower" if min(ratios[16]) >= -SLIGHT else "much lower"
    values["exp-epsilon-32"] = "≈" if max(map(abs, ratios[32])) <= CLOSE else "≠"
    values["exp-delta-8"] = "higher" if min(excess[8]) > 0 else "higher or lower"
    for bits in (16, 32):
        close = max(map(abs, excess[bits])) <= CLOSE
        values[f"exp-delta-{bits}"] = "almost identical" if close else "different"
    return values


def counted(study: Experiment) -> dict[str, str]:
    """How often the sentences in words hold, by claim id: what is behind a word of `found`."""
    full = {bits: study.full_support(bits) for bits in study.bits}
    ratios = {bits: study.epsilon_errors(bits)[: full[bits]] for bits in study.bits}
    excess = {bits: study.delta_errors(bits) for bits in study.bits}
    every = len(study.epsilons)
    counts = {
        "exp-support-32": (full[32], every, "full"),
        "exp-epsilon-8": (sum(x > 0 for x in ratios[8]), full[8], "above ε"),
        "exp-epsilon-16": (sum(x <= CLOSE for x in ratios[16]), full[16], "at most 1% above ε"),
        "exp-epsilon-16-slightly": (sum(x >= -SLIGHT for x in ratios[16]), full[16], "at most 10% below ε"),
        "exp-epsilon-32": (sum(abs(x) <= CLOSE for x in ratios[32]), full[32], "within 1%"),
        "exp-delta-8": (sum(x > 0 for x in excess[8]), every, "above δ"),
        "exp-delta-16": (sum(abs(x) <= CLOSE for x in excess[16]), every, "within 1%"),
        "exp-delta-32": (sum(abs(x) <= CLOSE for x in excess[32]), every, "within 1%"),
    }
    return {name: f"{count} of {among} {what}" for name, (count, among, what) in counts.items()}
