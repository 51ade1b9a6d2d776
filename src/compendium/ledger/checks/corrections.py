"""The statements that stand beside those of the paper that fail (``paper/corrections.toml``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise, product
from typing import NamedTuple

from compendium.ledger.checks import examples
from compendium.ledger.claims import Claim
from compendium.ledger.formulas import Cases, agree, cases, enclosed, evaluate, less, on_grid
from tablebuilder_dp import certified, design, privacy, sampling
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.sampling import LookupTable
from tablebuilder_dp.support.intervals import Ball, Enclosure, enclosure


class Sampled(NamedTuple):
    """A design, its lookup table and what the table makes of it."""

    made: design.Design
    table: sampling.LookupTable
    after: sampling.AfterSampling


@cache
def sampled(epsilon: str, support: int, slack: str, keysize: int) -> Sampled:
    """The table of one design by Proposition 3."""
    made = design.proposition_3(epsilon, support=support, slack=slack)
    table = sampling.lookup_table(made, keysize=keysize)
    return Sampled(made, table, sampling.after_sampling(table))


GRID = tuple(
    product(("0.1", "0.5", "1", "2.5"), (1, 2, 5, 10, 25), ("0", "0.1", "1"), (100, 2**8, 2**16, 2**32))
)
"""ε, D, slack and KEYSIZE of the tables on which our statements are tried."""


HAIR = Fraction(1, 10**12)


def on_tables(holds: Callable[[Sampled], bool], *, full_support: bool = False) -> Cases:
    """Try a statement on the tables of the grid, or on those with full support."""
    points = [point for point in GRID if not full_support or sampled(*point).table.full_support]
    return on_grid("eps D slack KEYSIZE", points, lambda *point: holds(sampled(*point)))


def _excess(table: sampling.LookupTable, growth: Fraction) -> Fraction:
    """The larger of the two exact δ at e^ε = growth."""

    def keys(p: list[int], q: list[int]) -> Fraction:
        return sum((max(a - growth * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))

    once, shifted = [*table.weights, 0], [0, *table.weights]
    return max(keys(once, shifted), keys(shifted, once)) / table.keysize


def _ratios(table: sampling.LookupTable) -> list[Fraction]:
    """p^Q(z)/p^Q(z−1) for z = −D+1, …, D, with full support."""
    return [Fraction(later, earlier) for earlier, later in pairwise(table.weights)]


def guarantee(claim: Claim) -> Cases:
    """With the printed e^ε neither direction exceeds δ^Q, exactly; with less, some ratio exceeds e^ε.

    Also for mirrored tables, in which the steepest step is a rise.
    """

    def keeps(weights: Sequence[int], delta: Fraction) -> bool:
        table = LookupTable(sum(weights), tuple(accumulate(weights)))
        ratios = _ratios(table)
        up, down = max(ratios), max(1 / ratio for ratio in ratios)
        growth = Fraction(evaluate(claim.judged, up=up, down=down))
        least = max(up, down) > growth * (1 - HAIR)
        return least and _excess(table, growth) <= delta

    return on_tables(
        lambda case: all(
            keeps(weights, case.after.delta) for weights in (case.table.weights, case.table.weights[::-1])
        ),
        full_support=True,
    )


def smallest_epsilon(claim: Claim) -> Cases:
    """At `sampling.epsilon` both directions keep δ^Q, and at a hair less one of them does not."""

    def holds(case: Sampled) -> bool:
        level = Fraction(sampling.epsilon(case.table))
        kept = _excess(case.table, enclosure(enclosed(level).exp()).lower) <= case.after.delta
        less_growth = enclosure(enclosed(level * (1 - HAIR)).exp()).upper
        return kept and (level == 0 or _excess(case.table, less_growth) > case.after.delta)

    return replace(on_tables(holds, full_support=True), word="smallest", instead="not the smallest")


def bias(claim: Claim) -> Cases:
    """The printed bias of the ceiling rule, exactly, at full support or not."""
    return on_tables(
        lambda case: (
            case.after.bias == evaluate(claim.judged, D=case.table.support, KEYSIZE=case.table.keysize)
        )
    )


def mirrored_weights(claim: Claim) -> Cases:
    """How many keys z has more than −z: none, but for the outermost pair the printed number."""

    def holds(case: Sampled) -> bool:
        weights = case.table.weights
        gaps = [b - a for a, b in zip(weights[::-1], weights, strict=True)][: case.table.support]
        return gaps == [evaluate(claim.judged), *[0] * (case.table.support - 1)]

    return on_tables(holds)


def full_support(claim: Claim) -> Cases:
    """The printed condition on KEYSIZE and p(D) against the tables, also on both sides of 1/p(D)."""

    def holds(epsilon: str, D: int, slack: str, keysize: int | None) -> bool:
        edge = edge_of(epsilon, D, slack)
        nearest = math.floor(1 / edge.upper)
        sizes = [keysize] if keysize else [nearest, nearest + 1]
        return all(
            evaluate(claim.judged, KEYSIZE=size, p=enclosed(edge))
            is sampled(epsilon, D, slack, size).table.full_support
            for size in sizes
        )

    near = ((*point[:3], None) for point in GRID[::4])
    return cases(
        (
            f"eps = {point[0]}, D = {point[1]}, slack = {point[2]}, KEYSIZE {point[3] or 'near 1/p(D)'}",
            holds(*point),
        )
        for point in (*GRID, *near)
    )


def edge_of(epsilon: str, D: int, slack: str) -> Enclosure:
    """p(D) of a design by Proposition 3."""
    made = design.proposition_3(epsilon, support=D, slack=slack)
    return certified.pmf(made, D)


def full_support_limit(claim: Claim) -> Enclosure:
    """The ε at which full support is lost."""
    return sampling.full_support_limit(support=claim.at["D"], keysize=2 ** claim.at["bits"])


def delta_after_sampling(claim: Claim) -> Cases:
    """The printed δ^Q, and that it exceeds δ."""

    def holds(case: Sampled) -> bool:
        edge = certified.pmf(Noise(case.table.support, case.made.gamma), case.table.support)
        ends = {
            evaluate(claim.judged, KEYSIZE=case.table.keysize, delta=end) for end in (edge.lower, edge.upper)
        }
        return ends == {case.after.delta} and case.after.delta > edge.upper

    return on_tables(holds)


def delta_floor(claim: Claim) -> Cases:
    """With full support δ^Q is never below the printed value, and the least such KEYSIZE has it."""

    def holds(epsilon: str, D: int, slack: str, keysize: int) -> bool:
        least = math.floor(1 / edge_of(epsilon, D, slack).upper) + 1
        deltas = {size: sampled(epsilon, D, slack, size).after.delta for size in (least, max(least, keysize))}
        bounds = {size: evaluate(claim.judged, KEYSIZE=size) for size in deltas}
        return deltas[least] == bounds[least] and all(deltas[size] >= bounds[size] for size in deltas)

    return on_grid("eps D slack KEYSIZE", GRID, holds)


def variance_error(claim: Claim) -> Cases:
    """The printed V^Q − V, with θ(z) = c^Q(z) − KEYSIZE·c(z), from the weights and the enclosed masses.

    Each θ is between 0 and 1, so that the printed sum is below D²/KEYSIZE in size.
    """

    def holds(case: Sampled) -> bool:
        D, K, noise = case.table.support, case.table.keysize, Noise(case.table.support, case.made.gamma)
        above = list(accumulate(enclosed(certified.pmf(noise, z, digits=60)) for z in range(D, 0, -1)))[::-1]
        theta = [
            enclosed(cut) - K * (1 - tail) for cut, tail in zip(case.table.cuts[D:-1], above, strict=True)
        ]
        if not all(less(0, value) and less(value, 1) for value in theta):
            return False
        printed = evaluate(
            claim.judged, theta=lambda z: theta[_index(z, D)], D=enclosed(D), KEYSIZE=enclosed(K)
        )
        mean = Fraction(sum(z * w for z, w in enumerate(case.table.weights, -D)), K)
        after = Fraction(sum(z * z * w for z, w in enumerate(case.table.weights, -D)), K) - mean**2
        return agree(printed, enclosed(after) - enclosed(certified.variance(noise, digits=60)))

    return on_tables(holds)


def _index(z: Ball, D: int) -> int:
    """A whole number of [0, D − 1]; nothing is said of others."""
    whole = z.floor().unique_fmpz()
    place = -1 if whole is None else int(whole)
    if not 0 <= place < D:
        raise LookupError(f"{place} is outside [0, {D - 1}]")
    return place


def sufficient_keysize(claim: Claim) -> Cases:
    """With as many keys as the printed bound says, the two-sided ε^Q is at most ε, decided by enclosures.

    It makes e^ε of the worst ratio of numbers of keys off by one: with x = KEYSIZE·δ that is
    (x·e^(γ(2D−1)) + 1)/(x − 1).
    """

    def keeps(epsilon: str, D: int, slack: str) -> bool:
        level = enclosed(Fraction(epsilon))
        edge = enclosed(edge_of(epsilon, D, slack))
        needed = evaluate(claim.judged, s=enclosed(Fraction(slack)), eps=level, D=D, delta=edge)
        steepest = design.proposition_3(epsilon, support=D, slack=slack).gamma * (2 * D - 1)
        worst = (needed * edge * enclosed(steepest).exp() + 1) / (needed * edge - 1)
        if not agree(worst, level.exp()):
            return False
        table = sampled(epsilon, D, slack, max(math.ceil(enclosure(needed).upper), 2)).table
        ratios = _ratios(table)
        return less(enclosed(max(*ratios, *(1 / ratio for ratio in ratios))), level.exp())

    designs = sorted({(epsilon, D, slack) for epsilon, D, slack, _ in GRID if slack != "0"})
    return on_grid("eps D slack", designs, keeps)


def limit_attained(claim: Claim) -> Cases:
    """At the printed γ F* is empty, and at a hair more it is not."""
    grid = product((1, 2, 5, 11, 25), (Fraction(k, 4) for k in range(1, 12)))

    def holds(D: int, eps: Fraction) -> bool:
        gamma = evaluate(claim.judged, eps=eps, D=D)
        sizes = [len(privacy.f_star(Noise(D, gamma * factor), eps)) for factor in (1, 1 + HAIR)]
        return sizes == [0, 1]

    return on_grid("D eps", grid, holds)


# --- Example 3's drop from ε to ε^Q, part by part ---------------------------------------------


def drop(claim: Claim) -> Enclosure | Fraction:
    """A part of Example 3's ε − ε^Q: of the slack, of the ceilings, of looking one way only, or all."""
    example = sampled("0.5", 25, "0.1", 2**32)
    steepest = example.made.gamma * (2 * example.table.support - 1)
    ratios = _ratios(example.table)
    up, down = max(ratios), max(1 / ratio for ratio in ratios)
    slack = example.made.epsilon - steepest
    if claim.at["part"] == "slack":
        return slack
    forward, both = (certified.logarithm(ratio, digits=40) for ratio in (up, max(up, down)))
    return {
        "ceilings": Enclosure(steepest - forward.upper, steepest - forward.lower),
        "direction": Enclosure(both.lower - forward.upper, both.upper - forward.lower),
        "all": Enclosure(example.made.epsilon - forward.upper, example.made.epsilon - forward.lower),
        "share": Enclosure(
            slack / (example.made.epsilon - forward.lower), slack / (example.made.epsilon - forward.upper)
        ),
    }[claim.at["part"]]


def sizes_above(claim: Claim) -> str:
    """The b for which 2^b keys, with full support, make Example 1's ε^Q exceed ε."""
    return ", ".join(map(str, examples.sizes_above(both=claim.at["both"])))


def example_3_epsilon(claim: Claim) -> Enclosure:
    """Example 3's true ε for its δ^Q: two-sided, or the smallest."""
    example = sampled("0.5", 25, "0.1", 2**32)
    if claim.at["which"] == "two-sided":
        ratios = _ratios(example.table)
        return certified.logarithm(max(*ratios, *(1 / ratio for ratio in ratios)))
    return certified.logarithm(Fraction(sampling.growth(example.table)))
