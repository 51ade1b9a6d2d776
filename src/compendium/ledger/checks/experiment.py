"""Section V-C: the experiment with D = 10, 25 values of ε and three key sizes, Figures 4 and 5."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from typing import Any, NamedTuple

from compendium.ledger.claims import Claim
from compendium.ledger.formulas import (
    EPSILONS,
    SUPPORTS,
    Cases,
    agree,
    cases,
    described,
    enclosed,
    evaluate,
    less,
)
from compendium.ledger.verdicts import Truth
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


def tried(formula: str, bits: int, *, full: bool = False, both: bool = False) -> Iterable[tuple[str, bool]]:
    """A formula at the points of one key size, or only at those with full support."""
    for point in points(bits):
        if point.table.full_support or not full:
            yield point.name, evaluate(formula, **point.names(both=both)) is True


def _formula(claim: Claim) -> str:
    return str(claim.at.get("formula", claim.printed))


def _shown(value: Any) -> str:
    return f"{float(enclosure(value) if isinstance(value, Ball) else value):.3g}".replace("e-0", "e-")


# --- the set-up and the bias ------------------------------------------------------------------


def iota(claim: Claim) -> Cases:
    """The printed −ι lies in Proposition 3's range and, at D = 10, makes the designs used here."""
    return cases(
        (
            described(D=support, eps=epsilon),
            (printed := evaluate(claim.printed, D=support, eps=epsilon)) > 0
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
    """How the errors of the three key sizes compare: at each ε, and the largest over these ε.

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
    outcomes = [
        (described(eps=row[0].design.epsilon), _in_order(claim.printed, error))
        for row, error in zip(rows, errors, strict=True)
    ]
    made = rows[0][0].design
    nearer = ", ".join(name.removeprefix("eps = ") for name, holds in outcomes if not holds)
    return Truth(
        {
            "the largest over these ε": cases([("the largest", _in_order(claim.printed, worst))]),
            "at each of these ε": cases(outcomes),
        },
        numbers={"nearer": nearer, "gap": str(1 - (2 * D - 1) * made.gamma / made.epsilon)}
        | {f"e{bits}": _shown(error) for bits, error in zip(BITS, worst, strict=True)},
    )


def _in_order(formula: str, errors: Sequence[Any]) -> bool:
    return evaluate(formula, **{f"e{bits}": error for bits, error in zip(BITS, errors, strict=True)}) is True


# --- full support -----------------------------------------------------------------------------


def support_count(claim: Claim) -> Cases:
    """For how many of the ε the table has full support."""
    series = points(claim.at["bits"])
    full = sum(point.table.full_support for point in series)
    return cases(
        [(f"{full} of {len(series)} with full support", evaluate(claim.printed, full=full, all=len(series)))]
    )


def last_full_support(claim: Claim) -> Fraction:
    """The last ε before a noise value is lost."""
    last = _run()[0].last_full_support(claim.at["bits"])
    return Fraction(0) if last is None else last


def support_lost(claim: Claim) -> Cases:
    """The printed condition on ε is exactly that for a table without full support."""
    return cases(
        (point.name, evaluate(claim.printed, eps=point.design.epsilon) is not point.table.full_support)
        for point in points(claim.at["bits"])
    )


def full_support(claim: Claim) -> Cases:
    """Full support at every ε."""
    return cases((point.name, point.table.full_support) for point in points(claim.at["bits"]))


def support_needs(claim: Claim) -> Cases:
    """A noise value is lost if and only if KEYSIZE is too small: unless it meets the claim's condition.

    Besides powers of two, the two key sizes on either side of 1/δ are tried.
    """
    outcomes = []
    for point in points(8)[:: claim.at["every"]]:
        edge = math.floor(1 / point.delta.upper)
        for keysize in (*(2**bits for bits in range(4, 33, 4)), max(edge, 2), edge + 1):
            table = sampling.lookup_table(Noise(D, point.design.gamma), keysize=keysize)
            met = evaluate(_formula(claim), KEYSIZE=keysize, delta=enclosed(point.delta))
            outcomes.append(
                (f"{described(eps=point.design.epsilon)}, KEYSIZE {keysize}", met is table.full_support)
            )
    return cases(outcomes)


# --- the variance -----------------------------------------------------------------------------


def _sizes(bits: int, *, full: bool = False) -> list[Enclosure]:
    """|V^Q − V|/V, the smallest first; the enclosures are far apart."""
    errors = (point.error() for point in points(bits) if point.table.full_support or not full)
    return sorted(
        (Enclosure(*sorted(map(abs, (error.lower, error.upper)))) for error in errors),
        key=lambda size: size.lower,
    )


def _power_of_ten(size: Enclosure) -> Fraction:
    """The power of ten that is nearest on a logarithmic scale: 10^k with 10^(2k−1) ≤ x² < 10^(2k+1)."""
    power = round(math.log10(float(size)))
    low, high = (Fraction(10) ** (2 * power + step) for step in (-1, 1))
    if not low <= size.lower**2 <= size.upper**2 < high:
        raise ArithmeticError(f"no power of ten is certainly nearest to {float(size)}")
    return Fraction(10) ** power


def _times(size: Enclosure, printed: str) -> str:
    """How many times what is printed."""
    return f"{float(size) / float(abs(Fraction(printed)) or 1):.3g}".replace("e+0", "e")


def variance_order(claim: Claim) -> Truth:
    """The order of magnitude of the variance error: of the largest, and of the median one."""
    bits = claim.at["bits"]
    sizes = _sizes(bits)
    chosen = {
        "largest": sizes[-1],
        "median": sizes[len(sizes) // 2],
    }
    signed = sum(float(point.error()) for point in points(bits)) / len(sizes)
    numbers = {
        "smallest": _shown(sizes[0]),
        "median": _shown(chosen["median"]),
        "largest": _shown(sizes[-1]),
        "signed": _shown(signed),
        "median_times": _times(chosen["median"], claim.printed),
        "largest_times": _times(sizes[-1], claim.printed),
        "right": str(math.floor(-math.log10(float(sizes[-1])))),
    }
    return Truth({name: _power_of_ten(size) for name, size in chosen.items()}, numbers=numbers)


def variance_largest(claim: Claim) -> Truth:
    """The largest variance error, over all ε and over those with full support."""
    bits = claim.at["bits"]
    readings = {name: _sizes(bits, full=full)[-1] for name, full in RANGES.items()}
    return Truth(
        readings, numbers={"all": _shown(_sizes(bits)[-1]), "full": _shown(_sizes(bits, full=True)[-1])}
    )


# --- Figures 4 and 5 --------------------------------------------------------------------------


def at_each_epsilon(claim: Claim) -> Truth:
    """A formula at each ε of one key size, under the readings that the claim allows."""
    bits, at = claim.at["bits"], claim.at
    chosen = {
        "; ".join(filter(None, (where, side))): (RANGES.get(where, False), SIDES.get(side, False))
        for where, side in product(at.get("where", [""]), at.get("sides", [""]))
    }
    readings = {
        name: cases(tried(_formula(claim), bits, full=full, both=both))
        for name, (full, both) in chosen.items()
    }
    return Truth(readings, numbers=extremes(bits))


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
                numbers[f"{side}_{where}_{word}"] = f"{100 * abs(ratio - 1):.3g} %"
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
        "delta_all": f"{100 * max(excess)[0]:.3g} %",
        "delta_times": f"{1 + max(excess)[0]:.3g}",
        "delta_full": f"{100 * max(value for value, is_full in excess if is_full):.3g} %",
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
    full = [point for point in points(bits) if point.table.full_support]
    ranked = sorted(full, key=lambda point: float(enclosure(point.epsilon())) / float(point.design.epsilon))
    middle = ranked[len(ranked) // 2]
    return Truth(
        {
            "at every ε with full support": cases(tried(claim.printed, bits, full=True)),
            "at the median of these ε": cases(
                [(middle.name, evaluate(claim.printed, **middle.names()) is True)]
            ),
        },
        numbers=extremes(bits)
        | {
            "median": f"{100 - 100 * float(enclosure(middle.epsilon())) / float(middle.design.epsilon):.2g} %"
        },
    )


def jittery(claim: Claim) -> Cases:
    """ε^Q/ε both rises and falls by more than a given step as ε grows, where the support is full."""
    outcomes, step = [], enclosed(Fraction(claim.at["by"]))
    for bits in claim.at["bits"]:
        ratios = [
            point.epsilon() / enclosed(point.design.epsilon)
            for point in points(bits)
            if point.table.full_support
        ]
        for word, swapped in (("rises", False), ("falls", True)):
            steps = ((b, a) if swapped else (a, b) for a, b in pairwise(ratios))
            outcomes.append((f"KEYSIZE 2^{bits}, {word}", any(less(a + step, b) for a, b in steps)))
    return cases(outcomes)


def without_ceiling(claim: Claim) -> Cases:
    """Without the ceiling the largest ratio of neighbouring masses is e^(γ(2D−1)), and γ/ε is fixed."""
    outcomes = []
    share = {point.design.gamma / point.design.epsilon for point in points(8)}
    for point in points(8):
        rate = enclosed(point.design.gamma)
        masses = [(-(z**2) * rate).exp() for z in range(-D, D + 1)]
        top = (rate * (2 * D - 1)).exp()
        ratios = [b / a for a, b in pairwise(masses)]
        smooth = agree(ratios[0], top) and all(less(ratio, top) for ratio in ratios[1:])
        outcomes.append((described(eps=point.design.epsilon), smooth and len(share) == 1))
    return cases(outcomes)


def only_largest_key(claim: Claim) -> Truth:
    """A formula holds at every ε for the largest key size, and for no other."""
    chosen = {side: SIDES.get(side, False) for side in claim.at.get("sides", [""])}
    readings = {
        side: cases(
            (f"KEYSIZE 2^{bits}", _all(_formula(claim), bits, both=both) is (bits == claim.at["bits"]))
            for bits in BITS
        )
        for side, both in chosen.items()
    }
    return Truth(readings, numbers=extremes(16))


def _all(formula: str, bits: int, *, full: bool = False, both: bool = False) -> bool:
    return not cases(tried(formula, bits, full=full, both=both)).failures


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
        readings[name] = cases([("no tolerance fits", low < high)])
        numbers = {"low": f"{float(100 * low):.3g} %", "high": f"{float(100 * high):.3g} %"}
    return Truth(readings, numbers=numbers)


def kept(claim: Claim) -> Truth:
    """The printed ε is a true guarantee of the table: δ by definition, at ε, is δ^Q at most."""
    series = points(claim.at["bits"])
    readings = {
        side: cases(tried(_formula(claim), claim.at["bits"], both=both)) for side, both in SIDES.items()
    }
    true = [(point.name, max(true_delta(point)) <= point.after.delta) for point in series]
    return Truth(readings | {"δ of the table at ε is at most δ^Q": cases(true)})


def true_delta(point: Point) -> tuple[Fraction, Fraction]:
    """Upper ends of the table's δ at the design's ε, for a count one lower and one higher."""
    masses = [Fraction(weight, point.table.keysize) for weight in point.table.weights]
    ways = certified.hockey_stick([*masses, Fraction(0)], [Fraction(0), *masses], point.design.epsilon)
    forward, backward = (way.upper for way in ways)
    return forward, backward
