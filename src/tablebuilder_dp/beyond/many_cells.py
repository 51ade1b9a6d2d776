"""Past the paper: the noise of least variance that keeps (ε, δ) for k cells.

Two families compete, the paper's and the truncated geometric, each rounded to whole numbers of keys, on a
support that costs at most 1% more variance than the widest; the geometric noise also on one that ends as
early as δ allows, where that has less variance. Which one wins depends on how much is published: the
geometric for few cells, the paper's for many.

What is certified is the promise of the noise that is chosen: its (ε, δ) is proved (`promise`). That a smaller
variance would not do is known in another way. For the geometric noise of unbounded support δ_k falls as the
variance grows, so that one root decides. For the paper's it is not known to fall, and at a fixed support it
does not. So every variance of a grid is tried in float64, in steps of 0.5% from a lower bound that is proved
for any noise whatever; the grid says nothing between its points.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import NoReturn

from tablebuilder_dp import noise, sampling
from tablebuilder_dp.beyond import composition
from tablebuilder_dp.beyond.promise import CELLS_MAX, DIGITS, Promise, promise
from tablebuilder_dp.noise import AnyNoise, Geometric, Noise
from tablebuilder_dp.sampling import LookupTable
from tablebuilder_dp.support import lattice, parameters
from tablebuilder_dp.support.intervals import first_bits
from tablebuilder_dp.support.parameters import Number

FAMILIES = ("best", "max-entropy", "geometric")
"""The better of both, the paper's noise, and the truncated geometric one."""

STEP = 1.005
"""From one variance of the grid to the next."""

MARGIN = 1.01
"""The variance on the support that is chosen may be this many times that on the widest."""

SUPPORT_MAX = 4000
"""The widest support of `fixed_support`: all its variances are tried."""

KEYSIZE = 2**64
"""The number of keys that a cell can have."""

_CUT_OFF = 1e-9  # the part of δ that cutting off a wide support may change
_TRIES = 64  # supports, or sixth digits of γ, that are tried from where float64 says


@dataclass(frozen=True)
class Choice:
    """A noise, its lookup table and what is promised of it.

    ``least`` is the least variance on a wide support, or on the one that was given, to float64. ``rival`` is
    the choice of the other family, where the better of both was wanted and the other is served.
    """

    noise: AnyNoise
    table: LookupTable
    promise: Promise
    least: float
    rival: Choice | None = None

    @property
    def variance(self) -> float:
        """V of the noise."""
        return self.noise.variance


@dataclass(frozen=True)
class _Wanted:
    epsilon: Fraction
    delta: Fraction
    cells: int
    keysize: int

    def refuse(self) -> NoReturn:
        """Too few keys; where there are as many as a cell's key can be, too much was asked of them."""
        if self.keysize >= KEYSIZE:
            allowed = (
                f"so large that whole numbers of keys keep it at epsilon {float(self.epsilon)} for "
                f"cells = {self.cells}"
            )
            raise parameters.wrong_value("delta", allowed, float(self.delta))
        allowed = (
            f"so large that whole numbers of keys keep delta {float(self.delta)} for cells = {self.cells}"
        )
        raise parameters.wrong_value("keysize", allowed, self.keysize)

    def choice(self, made: AnyNoise, least: float) -> Choice | None:
        """The noise with its table, if its promise is kept."""
        table = sampling.lookup_table(made, keysize=self.keysize, rule=sampling.nearest)
        kept = promise(made, table, self.epsilon, cells=self.cells)
        return Choice(made, table, kept, least) if kept.delta <= self.delta else None


def _integers(wanted: _Wanted, support: int) -> float:
    """What whole numbers of keys add to δ, at most (Theorem 47)."""
    return wanted.cells * support / wanted.keysize * (1 + math.exp(wanted.epsilon))


def _wanted(epsilon: Number, delta: Number, cells: int, keysize: int) -> _Wanted:
    level = parameters.epsilon(epsilon)
    count = parameters.integer(cells, "cells", low=1, high=CELLS_MAX)
    wanted = _Wanted(level, parameters.delta(delta), count, parameters.keysize(keysize))
    return wanted if _integers(wanted, 1) < wanted.delta else wanted.refuse()


def family(made: AnyNoise) -> str:
    """The name of the family of a noise.

    >>> family(Geometric(3, 1))
    'geometric'
    """
    return FAMILIES[1] if isinstance(made, Noise) else FAMILIES[2]


def best(
    epsilon: Number, delta: Number, *, cells: int, family: str = "best", keysize: int = KEYSIZE
) -> Choice:
    """The noise of least variance whose promise for k ``cells`` is (ε, δ), with its lookup table.

    The promise is certified, integers included. The variance is at most 1% above the least on a wide
    support. There, no smaller variance of the geometric family keeps δ (Theorem 51), and none of the paper's
    on a grid of 0.5% that starts at a lower bound for any noise, as far as float64 can tell (Theorem 52).
    The support is the smallest that a bisection finds; that none is smaller is not claimed. γ and the rate
    have six digits. Noise that ends early, which no wide support resembles, can have less variance: tried is
    the geometric noise whose finite losses stay below ε, on the smallest support; no other is claimed.

    Raises ValueError where no noise that is not too wide will do, and ArithmeticError where ``MAX_BITS`` bits
    do not decide.

    >>> few, many = (best(1, "1e-6", cells=cells) for cells in (4, 16))
    >>> few.noise, round(few.least, 2), round(few.rival.least, 2)
    (Geometric(support=53, rate=Fraction(248759, 1000000)), 31.83, 71.41)
    >>> many.noise, round(many.least, 2), round(many.rival.least, 2)
    (Noise(support=94, gamma=Fraction(86677, 50000000)), 285.57, 473.13)
    """
    wanted = _wanted(epsilon, delta, cells, keysize)
    if family not in FAMILIES:
        raise parameters.wrong_value("family", "one of " + ", ".join(FAMILIES), family)
    if family != "best":
        return _least(wanted, family)
    choices, refusals = [], []
    for name in FAMILIES[1:]:
        try:
            choices.append(_least(wanted, name))
        except ValueError as refusal:
            refusals.append(refusal)
    if not choices:
        raise refusals[0]
    best, *others = sorted(choices, key=lambda choice: choice.variance)
    return replace(best, rival=others[0] if others else None)


def lower_bound(epsilon: Number, delta: Number, *, cells: int) -> float:
    """A variance below which no noise whatever keeps (ε, δ) for k cells: k(1 − δ)/(2(e^ε − 1 + 2δ)).

    Any independent noises with this variance on average are meant. Proof: Theorem 50.

    >>> lower_bound(1, "1e-6", cells=1), lower_bound("0.01", "1e-6", cells=100)
    (0.29..., 4974...)
    """
    level, share = parameters.epsilon(epsilon), float(parameters.delta(delta))
    count = parameters.integer(cells, "cells", low=1, high=CELLS_MAX)
    return count * (1 - share) / (2 * (math.expm1(level) + 2 * share))


def fixed_support(
    epsilon: Number, delta: Number, *, support: int, cells: int = 1, keysize: int = KEYSIZE
) -> Choice:
    """The paper's noise of least variance on a given support whose promise for k ``cells`` is (ε, δ).

    The promise is certified; that smaller variances fail is float64 on a grid of 0.5%, all of whose points
    are tried, as δ_k is no monotone function of γ here (Theorem 52).

    Raises ValueError where no γ will do, and ArithmeticError where ``MAX_BITS`` bits do not decide.

    >>> found = fixed_support("0.5", "1e-4", support=25)
    >>> float(found.noise.gamma), round(found.variance, 2)
    (0.0143141, 34.92)
    """
    wanted = _wanted(epsilon, delta, cells, keysize)
    half_width = parameters.integer(support, "support", low=1, high=SUPPORT_MAX)
    bound = float(noise.variance_bound(half_width))
    target = float(wanted.delta) - _integers(wanted, half_width)

    def excess(variance: float) -> float:
        made = Noise.of_variance(half_width, min(variance, bound * (1 - 1e-6)))
        return composition.quick_delta(made, wanted.epsilon, cells=wanted.cells) / target - 1

    if target <= 0:
        wanted.refuse()
    found = _first(excess, wanted, bound)
    if found is not None:
        start = _short(float(Noise.of_variance(half_width, found).gamma), ROUND_FLOOR)
        for made in map(partial(Noise, half_width), _sixth_digits(start)):
            choice = wanted.choice(made, found)
            if choice:
                return choice
    allowed = f"so wide that some gamma reaches delta {float(wanted.delta)}"
    raise parameters.wrong_value("support", allowed, support)


@lru_cache(maxsize=64)  # the same noise is often asked for again within one process
def _least(wanted: _Wanted, family: str) -> Choice:
    """The choice of one family: its least variance on a wide support, then the smallest support near it."""
    kind: type[Noise] | type[Geometric]
    if family == "geometric":
        kind, rate = Geometric, _largest_rate(wanted)
        widest, wide = 0.5 / math.sinh(rate / 2) ** 2, math.ceil(MARGIN * _reach(wanted) / rate) + 2
    else:
        kind, widest = Noise, _widest(wanted)
        wide = _wide(wanted, MARGIN * widest)

    def made(support: int) -> AnyNoise:
        rates = kind.of_variance(support, MARGIN * widest).rates
        return kind(support, _short(float(sum(rates)), ROUND_CEILING))

    def fits(support: int) -> bool:
        value = composition.quick_delta(made(support), wanted.epsilon, cells=wanted.cells)
        return value + _integers(wanted, support) <= wanted.delta

    least = math.ceil(math.sqrt(3 * MARGIN * widest + 1))  # where D(D+1)/3 is above the variance
    most = max(least, min(wide, parameters.SUPPORT_MAX))
    if least > parameters.SUPPORT_MAX or (most < wide and not fits(most)):
        allowed = f"so large that a support of at most {parameters.SUPPORT_MAX} is enough"
        raise parameters.wrong_value("epsilon", allowed, float(wanted.epsilon))
    support = bisect_left(range(most), True, lo=least, key=fits)
    for tried in range(support, support + _TRIES):
        choice = wanted.choice(made(tried), widest) if fits(tried) else None
        if choice:
            early = _ending_early(wanted, choice) if family == "geometric" else None
            return early or choice
    return wanted.refuse()


def _ending_early(wanted: _Wanted, wide: Choice) -> Choice | None:
    """Geometric noise whose k finite losses add up to less than ε: δ_k is the chance of an infinite one.

    Its rate is half a per cent below ε/k, which costs 1% of variance: rounding to keys then lifts no loss
    above ε, and the odds of clamped counts have a bound. None if it has no less variance than the choice on
    a ``wide`` support.
    """
    rate = _short(float(wanted.epsilon / wanted.cells) / math.sqrt(MARGIN), ROUND_FLOOR)

    def fits(support: int) -> bool:
        noise = Geometric(support, rate)
        return composition.quick_delta(noise, wanted.epsilon, cells=wanted.cells) <= wanted.delta

    support = bisect_left(range(2 * wide.noise.support), True, lo=1, key=fits)
    noise = Geometric(max(1, support), rate)
    return wanted.choice(noise, wide.least) if noise.variance < wide.variance else None


def _short(value: float, rounding: str) -> Fraction:
    """A number to six significant digits."""
    return Fraction(Context(prec=6, rounding=rounding).create_decimal(Decimal(value)))


def _sixth_digits(start: Fraction) -> Iterator[Fraction]:
    """The number, and some below it by one of its sixth digits each."""
    unit = Fraction(10) ** (math.floor(math.log10(start)) - 5)
    return (start - unit * step for step in range(_TRIES))


# --- the least variance on a wide support, in float64 -----------------------------------------


def _reach(wanted: _Wanted) -> float:
    """−ln of the tail mass that may be cut off: k·(1 + e^ε) times it is a small part of δ (Theorem 52)."""
    return math.log(4 * wanted.cells * (1 + math.exp(wanted.epsilon)) / (_CUT_OFF * float(wanted.delta)))


def _wide(wanted: _Wanted, variance: float) -> int:
    """A support that leaves out nothing of the paper's noise that matters."""
    return math.ceil(math.sqrt(2 * max(variance, 2) * _reach(wanted))) + 2


def _widest(wanted: _Wanted) -> float:
    """The least variance of the paper's noise on supports that leave out nothing that matters."""
    bits = first_bits(DIGITS)
    most = lattice.WIDEST**2 / (8 * bits * MARGIN * wanted.cells)

    def excess(variance: float) -> float:
        support = _wide(wanted, variance)
        # From V = 2 on, γ = 1/(2V) up to a part of e^(−π²/γ)/γ, which float64 does not see.
        made = Noise(support, 0.5 / variance) if variance >= 2 else Noise.of_variance(support, variance)
        return composition.quick_delta(made, wanted.epsilon, cells=wanted.cells) / float(wanted.delta) - 1

    found = _first(excess, wanted, most) if excess(most) <= 0 else None
    if found is None:
        allowed = f"so large that the sum of {wanted.cells} noises fits {lattice.WIDEST} places"
        raise parameters.wrong_value("epsilon", allowed, float(wanted.epsilon))
    return found


def _first(excess: Callable[[float], float], wanted: _Wanted, most: float) -> float | None:
    """The first variance of the grid that keeps δ, moved down to where δ is met; None if none does."""
    variance = before = lower_bound(wanted.epsilon, wanted.delta, cells=wanted.cells)
    while variance < most:
        if excess(variance) <= 0:
            return variance if variance == before else _root(excess, before, variance)
        before, variance = variance, variance * STEP
    return None


def _root(excess: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes its sign."""
    from scipy.optimize import brentq  # here, as its import outlasts most uses of the command line

    return float(brentq(excess, low, high, xtol=1e-9 * low, rtol=1e-9))


def _largest_rate(wanted: _Wanted) -> float:
    """Where δ_k of the geometric noise of unbounded support, which rises with the rate, is δ (Theorem 51)."""
    epsilon, target = float(wanted.epsilon), float(wanted.delta)

    def excess(rate: float) -> float:
        positive, negative = 1 / (1 + math.exp(-rate)), 1 / (1 + math.exp(rate))
        return composition.binomial_delta(positive, negative, rate, epsilon, wanted.cells) / target - 1

    low = high = epsilon / wanted.cells  # where no loss is above ε
    while excess(high) < 0:
        low, high = high, 2 * high
    return _root(excess, low, high)
