"""Section V-C: the experiment with D = 10, 25 values of ε and three key sizes, Figures 4 and 5."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from typing import Any, NamedTuple

from compendium.ledger.claims import Claim, ends
from compendium.ledger.formulas import (
    EPSILONS,
    SUPPORTS,
    Case,
    Cases,
    agree,
    by_cases,
    cases,
    described,
    enclosed,
    evaluate,
    holds_between,
    less,
    worded,
)
from compendium.ledger.verdicts import INFINITE, Level, Truth
from compendium.studies import sweep
from tablebuilder_dp import certified, design, sampling
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support.intervals import Ball, Enclosure, enclosure

D = 10
BITS = (8, 16, 32)

RANGES = {"at every ε": False, "where the support is full": True}
SIDES = {"ratios p^Q(z)/p^Q(z−1)": False, "ratios both ways": True}
"""Over which ε a statement is made, and which ratios ε^Q bounds: both directions are the true guarantee."""


class Point(NamedTuple):
    """One design and what a table of one key size makes of it."""

    design: design.Design
    table: sampling.LookupTable
    after: sampling.AfterSampling
    variance: Enclosure
    delta: Enclosure

    @property
    def name(self) -> str:
        """The point in words."""
        bits = self.table.keysize.bit_length() - 1
        return f"{described(eps=self.design.epsilon)}, KEYSIZE 2^{bits}"

    def epsilon(self, *, both: bool = False) -> Any:
        """ε^Q as an interval, with 0/0 = 0 and x/0 = ∞ as the paper's footnote has it."""
        steps = list(pairwise(self.table.weights))
        steps += [(second, first) for first, second in steps] if both else []
        steps = [step for step in steps if step != (0, 0)]
        if not all(first for first, _ in steps):
            return Ball.pos_inf()
        return enclosed(max(Fraction(second, first) for first, second in steps)).log()

    def error(self) -> Enclosure:
        """(V^Q − V)/V."""
        low, high = sorted(
            self.after.variance / end - 1 for end in (self.variance.lower, self.variance.upper)
        )
        return Enclosure(low, high)

    def names(self, *, both: bool = False) -> dict[str, Any]:
        """What the formulas of the claims may speak of."""
        return {
            "D": D,
            "KEYSIZE": self.table.keysize,
            "eps": self.design.epsilon,
            "epsQ": self.epsilon(both=both),
            "delta": enclosed(self.delta),
            "deltaQ": self.after.delta,
        }


@cache
def points(bits: int) -> tuple[Point, ...]:
    """The 25 points of one key size."""
    ran, exact = _run()
    return tuple(
        Point(*parts) for parts in zip(ran.designs, ran.tables[bits], ran.after[bits], *exact, strict=True)
    )


@cache
def _run() -> tuple[sweep.Experiment, tuple[tuple[Enclosure, ...], tuple[Enclosure, ...]]]:
    ran = sweep.run(support=D, epsilon_step=Fraction(1, 10), steps=25, slack=design.PAPER_SLACK, bits=BITS)
    variances = tuple(certified.variance(made) for made in ran.designs)
    return ran, (variances, tuple(certified.pmf(made, -D) for made in ran.designs))


MEASURES: dict[str, Callable[[Point], Any]] = {
    "bias": lambda point: abs(enclosed(point.after.bias)),
    "variance": lambda point: abs(enclosed(point.error())),
    "epsilon": lambda point: abs(point.epsilon() / enclosed(point.design.epsilon) - 1),
    "delta": lambda point: abs(enclosed(point.after.delta) / enclosed(point.delta) - 1),
}
"""How far a table is from its design, as intervals: by size for the bias, else in proportion."""


def _shown(value: Any) -> str:
    return f"{float(enclosure(value) if isinstance(value, Ball) else value):.3g}".replace("e-0", "e-")


# --- the set-up and the bias ------------------------------------------------------------------


def iota(claim: Claim) -> Cases:
    """The printed −ι lies in Proposition 3's range and, at D = 10, makes the designs used here."""
    return cases(
        (
            described(D=support, eps=epsilon),
            (printed := evaluate(claim.judged, D=support, eps=epsilon)) > 0
            and printed <= 2 * epsilon / (4 * support**2 - 1)
            and printed == -design.proposition_3(epsilon, support=support).iota,
        )
        for support, epsilon in product(
            (D, *SUPPORTS), (*EPSILONS, *(point.design.epsilon for point in points(8)))
        )
    )


def bias(claim: Claim) -> Truth:
    """B^Q, which must be one number for all ε."""
    values = {point.after.bias: point.name for point in points(claim.at["bits"])}
    return Truth({"" if len(values) == 1 else name: value for value, name in values.items()})


def compared(claim: Claim) -> Truth:
    """The order of the errors of the three key sizes: at each ε, and of the largest over these ε.

    Where one of the errors can be infinite, only the ε at which all three tables have full support count.
    """
    measure, full = MEASURES[claim.at["measure"]], claim.at.get("full", False)
    rows = [
        row
        for row in zip(*map(points, BITS), strict=True)
        if not full or all(point.table.full_support for point in row)
    ]
    errors = [[measure(point) for point in row] for row in rows]
    worst = [max(column, key=lambda error: error.mid()) for column in zip(*errors, strict=True)]
    orders = [_order(error) for error in errors]
    usual = _order(worst)
    nearer = (
        f"{float(row[0].design.epsilon):g}" for row, order in zip(rows, orders, strict=True) if order != usual
    )
    made = rows[0][0].design
    return Truth(
        {
            "the largest over these ε": usual,
            "at each of these ε": usual if set(orders) == {usual} else "not the same at each",
        },
        numbers={"nearer": ", ".join(nearer), "gap": str(1 - (2 * D - 1) * made.gamma / made.epsilon)}
        | {f"e{bits}": _shown(error) for bits, error in zip(BITS, worst, strict=True)},
    )


def _order(errors: Sequence[Any]) -> str:
    """Three errors in their order, the smallest first."""
    ranked = sorted(zip(BITS, errors, strict=True), key=lambda pair: pair[1].mid())
    if not all(less(a, b) for (_, a), (_, b) in pairwise(ranked)):
        raise ArithmeticError("two errors cannot be told apart")
    return " < ".join(f"e{bits}" for bits, _ in ranked)


def effect(claim: Claim) -> Level:
    """How many times the bias of one key size that of the next larger one is, at the least."""
    sizes = [MEASURES["bias"](points(bits)[0]) for bits in BITS]
    return Level(
        min((enclosure(a / b) for a, b in pairwise(sizes)), key=lambda ratio: ratio.lower), whole=True
    )


# --- full support -----------------------------------------------------------------------------


def support_count(claim: Claim) -> str:
    """For how many of the ε the table has full support."""
    full = {point.table.full_support for point in points(claim.at["bits"])}
    return "not all" if len(full) == 2 else "all" if full == {True} else "none"


def last_full_support(claim: Claim) -> Fraction:
    """The last ε before a noise value is lost."""
    last = _run()[0].last_full_support(claim.at["bits"])
    return Fraction(0) if last is None else last


def support_lost(claim: Claim) -> Cases:
    """The printed condition on ε is exactly that for a table without full support."""
    return cases(
        (
            (point.name, evaluate(claim.judged, eps=point.design.epsilon) is not point.table.full_support)
            for point in points(claim.at["bits"])
        ),
        whole=True,
    )


@by_cases
def support_needs(claim: Claim) -> Iterator[Case]:
    """A noise value is lost if and only if KEYSIZE is too small: unless it meets the claim's condition.

    Besides powers of two, the two key sizes on either side of 1/δ are tried.
    """
    for point in points(8)[:: claim.at["every"]]:
        edge = math.floor(1 / point.delta.upper)
        for keysize in (*(2**bits for bits in range(4, 33, 4)), max(edge, 2), edge + 1):
            table = sampling.lookup_table(Noise(D, point.design.gamma), keysize=keysize)
            met = evaluate(claim.judged, KEYSIZE=keysize, delta=enclosed(point.delta))
            yield f"{described(eps=point.design.epsilon)}, KEYSIZE {keysize}", (met is table.full_support)


# --- the variance -----------------------------------------------------------------------------


def _sizes(bits: int, *, full: bool = False) -> list[Enclosure]:
    """|V^Q − V|/V, the smallest first; the enclosures are far apart."""
    errors = (point.error() for point in points(bits) if point.table.full_support or not full)
    return sorted(
        (Enclosure(*sorted(map(abs, (error.lower, error.upper)))) for error in errors),
        key=lambda size: size.lower,
    )


def order_of_magnitude(size: Enclosure) -> Fraction:
    """The power of ten of a number in scientific notation: 10^k with 10^k ≤ x < 10^(k+1)."""
    power = math.floor(math.log10(float(size)))
    if not Fraction(10) ** power <= size.lower <= size.upper < Fraction(10) ** (power + 1):
        raise ArithmeticError(f"the order of magnitude of {float(size)} is not certain")
    return Fraction(10) ** power


def _times(size: Enclosure, printed: str) -> str:
    """How many times what is printed."""
    return f"{float(size) / float(abs(Fraction(printed)) or 1):.3g}".replace("e+0", "e")


def variance_order(claim: Claim) -> Truth:
    """The order of magnitude of the variance error: the largest, the median, and the mean with sign."""
    bits = claim.at["bits"]
    sizes = _sizes(bits)
    errors = [point.error() for point in points(bits)]
    mean = [
        sum((getattr(error, end) for error in errors), Fraction(0)) / len(errors)
        for end in ("lower", "upper")
    ]
    chosen = {
        "the largest of the 25": sizes[-1],
        "their median": sizes[len(sizes) // 2],
        "the size of their mean with sign": Enclosure(*sorted(map(abs, mean))),
    }
    signed = float(mean[0])
    numbers = {
        "smallest": _shown(sizes[0]),
        "median": _shown(chosen["their median"]),
        "largest": _shown(sizes[-1]),
        "signed": _shown(signed),
        "median_times": _times(chosen["their median"], claim.judged),
        "largest_times": _times(sizes[-1], claim.judged),
        "right": str(math.floor(-math.log10(float(sizes[-1])))),
    }
    return Truth({name: order_of_magnitude(size) for name, size in chosen.items()}, numbers=numbers)


def variance_largest(claim: Claim) -> Truth:
    """The largest variance error, over all ε and over those with full support."""
    bits = claim.at["bits"]
    readings = {name: _sizes(bits, full=full)[-1] for name, full in RANGES.items()}
    return Truth(
        readings, numbers={"all": _shown(_sizes(bits)[-1]), "full": _shown(_sizes(bits, full=True)[-1])}
    )


# --- Figures 4 and 5 --------------------------------------------------------------------------


def _readings(claim: Claim) -> dict[str, tuple[bool, bool]]:
    """The readings that the claim allows: over which ε, and which ratios."""
    return {
        "; ".join(filter(None, (where, side))): (RANGES.get(where, False), SIDES.get(side, False))
        for where, side in product(claim.at.get("where", [""]), claim.at.get("sides", [""]))
    }


def deviation(bits: int, of: str, *, full: bool = False, both: bool = False) -> Enclosure | Fraction:
    """The largest distance of ε^Q, δ^Q or either from the design, in proportion; ε^Q "above" it is signed."""
    values: list[Any] = []
    for point in points(bits):
        if full and not point.table.full_support:
            continue
        after = point.epsilon(both=both)
        if of != "delta" and not after.is_finite():
            return INFINITE
        if of != "delta":
            change = after / enclosed(point.design.epsilon) - 1
            values.append(change if of == "above" else abs(change))
        if of in ("delta", "pair"):
            values.append(abs(enclosed(point.after.delta) / enclosed(point.delta) - 1))
    return max(map(enclosure, values), key=lambda value: value.lower)


def close(claim: Claim) -> Truth:
    """How far ε^Q or δ^Q gets from ε or δ, under the readings that the claim allows."""
    bits, of = claim.at["bits"], claim.at["of"]
    readings = {
        name: Level(deviation(bits, of, full=full, both=both), "%", whole=True)
        for name, (full, both) in _readings(claim).items()
    }
    if claim.at.get("axis"):
        readings["on a linear axis"] = Level(_on_axis(bits), "%", whole=True)
    return Truth(readings, numbers=extremes(bits))


def _on_axis(bits: int) -> Enclosure:
    """The largest δ^Q − δ, as a share of an axis that ends at the largest δ."""
    end = max(point.delta.lower for point in points(bits))
    most = max(points(bits), key=lambda point: point.after.delta - point.delta.upper)
    return Enclosure((most.after.delta - most.delta.upper) / end, (most.after.delta - most.delta.lower) / end)


def side(claim: Claim) -> Truth:
    """Whether ε^Q or δ^Q is higher or lower than ε or δ at every ε, under the claim's readings."""
    readings = {}
    for name, (full, both) in _readings(claim).items():
        signs = set()
        for point in points(claim.at["bits"]):
            if full and not point.table.full_support:
                continue
            names = point.names(both=both)
            after, before = (enclosed(names[f"{claim.at['of']}{end}"]) for end in ("Q", ""))
            is_higher = not after.is_finite() or less(before, after)
            if not is_higher and not less(after, before):
                raise ArithmeticError(f"neither higher nor lower: {point.name}")
            signs.add(is_higher)
        readings[name] = "higher or lower" if len(signs) > 1 else "higher" if signs == {True} else "lower"
    return Truth(readings, numbers=extremes(claim.at["bits"]))


def extremes(bits: int) -> dict[str, str]:
    """How far ε^Q and δ^Q get from ε and δ, for the notes."""
    numbers = {}
    for side, both in (("one", False), ("two", True)):
        for where, full in (("all", False), ("full", True)):
            ratios = [
                (float(enclosure(value)) / float(point.design.epsilon), point)
                for point in points(bits)
                if (point.table.full_support or not full) and (value := point.epsilon(both=both)).is_finite()
            ]
            for word, (ratio, point) in (("low", min(ratios)), ("high", max(ratios))):
                numbers[f"{side}_{where}_{word}"] = f"{100 * abs(ratio - 1):.3g}%"
                numbers[f"{side}_{where}_{word}_at"] = f"{float(point.design.epsilon):g}"
            numbers[f"{side}_{where}_over"] = str(sum(ratio > 1 for ratio, _ in ratios))
            numbers[f"{side}_{where}_under_1"] = ", ".join(
                f"{float(point.design.epsilon):g}" for ratio, point in ratios if ratio < 1
            )
    excess = [
        (float(point.after.delta) / float(point.delta) - 1, point.table.full_support)
        for point in points(bits)
    ]
    lowest = min(
        (point for point in points(bits) if point.epsilon().is_finite()),
        key=lambda point: float(enclosure(point.epsilon())) / float(point.design.epsilon),
    )
    return numbers | {
        "lost": ", ".join(map(str, lowest.table.lost)),
        "full": str(sum(is_full for _, is_full in excess)),
        "delta_all": f"{100 * max(excess)[0]:.3g}%",
        "delta_times": f"{1 + max(excess)[0]:.3g}",
        "delta_full": f"{100 * max(value for value, is_full in excess if is_full):.3g}%",
        "delta_from": next(
            (
                f"{float(point.design.epsilon):g}"
                for point, (value, _) in zip(points(bits), excess, strict=True)
                if value > 0.01
            ),
            "none",
        ),
    }


def slightly_lower(claim: Claim) -> Truth:
    """How far ε^Q lies below ε: at every ε with full support, and at the median one."""
    bits = claim.at["bits"]
    below = sorted(
        (
            enclosure(1 - point.epsilon() / enclosed(point.design.epsilon))
            for point in points(bits)
            if point.table.full_support
        ),
        key=lambda value: value.lower,
    )
    middle = below[len(below) // 2]
    return Truth(
        {
            "at every ε with full support": Level(below[-1], "%", whole=True),
            "at the median of these ε": Level(middle, "%", whole=True),
        },
        numbers=extremes(bits) | {"median": f"{100 * float(middle):.2g}%"},
    )


def jitter(claim: Claim) -> Level:
    """The largest rise and the largest fall of ε^Q/ε from one ε to the next: the smaller of the two.

    Where the support is full; the smallest of these over the key sizes of the claim.
    """
    steps = []
    for bits in claim.at["bits"]:
        ratios = [
            point.epsilon() / enclosed(point.design.epsilon)
            for point in points(bits)
            if point.table.full_support
        ]
        changes = [enclosure(b - a) for a, b in pairwise(ratios)]
        rise = max(changes, key=lambda change: change.lower)
        fall = min(changes, key=lambda change: change.upper)
        steps += [rise, Enclosure(-fall.upper, -fall.lower)]
    return Level(min(steps, key=lambda step: step.lower), "%", whole=True)


@worded("proportional", "not proportional")
def without_ceiling(claim: Claim) -> Iterator[Case]:
    """Without the ceiling the largest ratio of neighbouring masses is e^(γ(2D−1)), and γ/ε is fixed."""
    share = {point.design.gamma / point.design.epsilon for point in points(8)}
    for point in points(8):
        rate = enclosed(point.design.gamma)
        masses = [(-(z**2) * rate).exp() for z in range(-D, D + 1)]
        top = (rate * (2 * D - 1)).exp()
        ratios = [b / a for a, b in pairwise(masses)]
        smooth = agree(ratios[0], top) and all(less(ratio, top) for ratio in ratios[1:])
        yield described(eps=point.design.epsilon), (smooth and len(share) == 1)


def only_largest_key(claim: Claim) -> Truth:
    """How close the largest key size stays over the whole range, and from which limit on another does too."""
    of, bits = claim.at["of"], claim.at["bits"]
    return Truth(
        {
            name: Level(
                deviation(bits, of, both=both),
                "%",
                whole=True,
                until=min(
                    (deviation(other, of, both=both) for other in BITS if other != bits),
                    key=lambda value: ends(value)[0],
                ),
            )
            for name, (_, both) in _readings(claim).items()
        },
        numbers=extremes(16),
    )


def caption_and_text(claim: Claim) -> Truth:
    """The text finds δ^Q close for 2^16 and 2^32, the caption over the whole range for 2^32 alone.

    With the largest excess (δ^Q − δ)/δ of each key size, a tolerance that makes both right must lie
    above those that are called close and below those that are not.
    """

    def excess(bits: int, *, full: bool) -> Fraction:
        chosen = (point for point in points(bits) if point.table.full_support or not full)
        return max(point.after.delta / point.delta.lower - 1 for point in chosen)

    readings, numbers = {}, {}
    for name, full in (("both about every ε", False), ("the text about the ε with full support", True)):
        low = max(excess(16, full=full), excess(32, full=False))
        high = min(excess(8, full=full), excess(16, full=False))
        readings[name] = "together" if low < high else "apart"
        numbers = {"low": f"{float(100 * low):.3g}%", "high": f"{float(100 * high):.3g}%"}
    return Truth(readings, numbers=numbers)


def kept(claim: Claim) -> Truth:
    """The printed ε is a true guarantee of the table: δ by definition, at ε, is δ^Q at most."""
    series = points(claim.at["bits"])
    readings = {
        name: cases(
            (
                (point.name, holds_between(claim.judged, [eps, after], eps=eps, epsQ=after))
                for point in series
                for eps, after in [(enclosed(point.design.epsilon), point.epsilon(both=both))]
            ),
            whole=True,
        )
        for name, both in SIDES.items()
    }
    true = [(point.name, max(true_delta(point)) <= point.after.delta) for point in series]
    return Truth(readings | {"δ of the table at ε is at most δ^Q": cases(true, whole=True)})


def true_delta(point: Point) -> tuple[Fraction, Fraction]:
    """Upper ends of the table's δ at the design's ε, for a count one lower and one higher."""
    masses = [Fraction(weight, point.table.keysize) for weight in point.table.weights]
    ways = certified.hockey_stick([*masses, Fraction(0)], [Fraction(0), *masses], point.design.epsilon)
    forward, backward = (way.upper for way in ways)
    return forward, backward
