"""Independent witnesses: the main quantities by routes that share no code, and how far they agree.

The reference is the enclosure of `certified`. The routes: the closed forms in float64; brute force in
float64 from the definitions; exact fractions, where exponentials are sums of their series and neither
mpmath nor floating point is involved; and dp_accounting, software of another house.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dp_accounting.pld.privacy_loss_mechanism import DiscreteGaussianPrivacyLoss

from compendium.ledger.book import Witness
from compendium.run.table import Table
from tablebuilder_dp import certified, design, privacy
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support.intervals import Enclosure

ENCLOSURES, CLOSED, BRUTE, FRACTIONS, OTHER = ROUTES = (
    "enclosures",
    "closed form, float64",
    "brute force, float64",
    "exact fractions",
    "dp_accounting",
)
KEYSIZE = 2**32
STEPS = (30, 13, 10, 7, 4, 1)
"""Digits are counted in steps: the last digit of a float64 calculation may differ between machines."""

LEVELS = tuple(Fraction(k, 4) for k in range(1, 13))
"""The ε at which δ is compared."""


def testimony() -> list[Witness]:
    """The witnesses for the pmf, D* and cut points of the paper's examples, for δ(ε) of a noise of its
    Figure 1, and for all cut points of its experiment.
    """
    example = design.guide("0.5", "1e-4")
    support, gamma = example.support, example.gamma
    grid = [design.proposition_3(Fraction(k, 10), support=10).gamma for k in range(1, 26)]
    return [
        Witness(
            f"p(z), {2 * support + 1} values",
            _digits(
                [certified.pmf(Noise(support, gamma), z) for z in _values(support)],
                _pmfs(support, gamma),
            ),
        ),
        Witness(
            f"δ(ε), {len(LEVELS)} values",
            _digits(
                [certified.delta(Noise(11, Fraction(1, 8)), level) for level in LEVELS],
                _deltas(11, Fraction(1, 8)),
            ),
        ),
        Witness("D*", {ENCLOSURES: f"{support}, proved", **_supports(Fraction(1, 2), Fraction(1, 10**4))}),
        Witness(f"cut points, Example 2, {2 * support + 1} values", _equal_cuts(support, [gamma])),
        Witness(f"cut points, experiment, {21 * len(grid)} values", _equal_cuts(10, grid)),
    ]


def table(witnesses: Sequence[Witness]) -> Table:
    """How far the routes agree, for a reader."""
    rows = [(witness.quantity, *(witness.agreement[route] for route in ROUTES)) for witness in witnesses]
    return Table(["quantity", *ROUTES], rows)


def _digits(truth: Sequence[Enclosure], routes: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """To how many digits the worst value of each route is right, as far as the enclosures tell."""

    def digits(values: Iterable[Any]) -> str:
        worst = max(
            max(abs(Fraction(value) - exact.lower), abs(Fraction(value) - exact.upper)) / exact.lower
            for value, exact in zip(values, truth, strict=True)
        )
        return next((f"{count} digits" for count in STEPS if worst < Fraction(1, 10**count)), "none")

    enclosed = digits((exact.lower + exact.upper) / 2 for exact in truth)
    return {ENCLOSURES: enclosed, **{name: digits(values) for name, values in routes.items()}}


def _equal_cuts(support: int, gammas: Sequence[Fraction]) -> dict[str, str]:
    """Whether each route has the proved cut points of 2^32 keys, and if not, where it fails.

    How many it misses would depend on the machine's last digits, so that is not said.
    """
    wrong: dict[str, set[int]] = {route: set() for route in ROUTES}
    for gamma in gammas:
        truth = certified.cuts(Noise(support, gamma), keysize=KEYSIZE)
        for route, values in _cuts(support, gamma).items():
            wrong[route] |= {z for z in _values(support) if values[z + support] != truth[z + support]}
    words = {
        route: "all" if not places else "all but some c^Q(D)" if places == {support} else "not all"
        for route, places in wrong.items()
    }
    return words | {ENCLOSURES: "all, proved"}


# --- The quantities by each route -------------------------------------------------------------


def _pmfs(support: int, gamma: Fraction) -> dict[str, Sequence[Any]]:
    loss = _dp_accounting(support, gamma)
    return {
        CLOSED: Noise(support, gamma).pmf.tolist(),
        BRUTE: _brute_pmf(support, gamma),
        FRACTIONS: _exact_pmf(support, gamma),
        OTHER: [loss.noise_cdf(z) - loss.noise_cdf(z - 1) for z in _values(support)],
    }


def _deltas(support: int, gamma: Fraction) -> dict[str, Sequence[Any]]:
    brute, exact = _brute_pmf(support, gamma), _exact_pmf(support, gamma)
    loss = _dp_accounting(support, gamma)
    return {
        CLOSED: privacy.delta(Noise(support, gamma), list(LEVELS)).tolist(),
        BRUTE: [_excess(brute, math.exp(level)) for level in LEVELS],
        FRACTIONS: [_excess(exact, exponential(level)) for level in LEVELS],
        OTHER: [loss.get_delta_for_epsilon(float(level)) for level in LEVELS],
    }


def _cuts(support: int, gamma: Fraction) -> dict[str, Sequence[int]]:
    def ceilings(reach: Callable[[int], Any]) -> list[int]:
        return [math.ceil(reach(place) * KEYSIZE) for place in range(2 * support + 1)]

    closed = Noise(support, gamma).pmf.cumsum()
    brute, exact = _brute_pmf(support, gamma), _exact_pmf(support, gamma)
    loss = _dp_accounting(support, gamma)
    return {
        CLOSED: ceilings(lambda place: closed[place]),
        BRUTE: ceilings(lambda place: sum(brute[: place + 1])),
        FRACTIONS: ceilings(lambda place: sum(exact[: place + 1])),
        OTHER: ceilings(lambda place: loss.noise_cdf(place - support)),
    }


def _supports(epsilon: Fraction, delta: Fraction) -> dict[str, str]:
    """The first D = 1, 2, … whose δ is small enough."""

    def first(reached: Callable[[int, Fraction], Any]) -> str:
        support = 1
        while reached(support, design.proposition_3(epsilon, support=support).gamma) > delta:
            support += 1
        return str(support)

    level = float(epsilon)
    return {
        CLOSED: first(lambda support, gamma: privacy.plateau(Noise(support, gamma)).height),
        BRUTE: first(lambda support, gamma: _excess(_brute_pmf(support, gamma), math.exp(level))),
        FRACTIONS: first(lambda support, gamma: _excess(_exact_pmf(support, gamma), exponential(epsilon))),
        OTHER: first(lambda support, gamma: _dp_accounting(support, gamma).get_delta_for_epsilon(level)),
    }


# --- The routes -------------------------------------------------------------------------------


def _values(support: int) -> range:
    return range(-support, support + 1)


def _brute_pmf(support: int, gamma: Fraction) -> list[float]:
    weights = [math.exp(-float(gamma) * z * z) for z in _values(support)]
    return [weight / sum(weights) for weight in weights]


def _exact_pmf(support: int, gamma: Fraction) -> list[Fraction]:
    weights = [1 / exponential(gamma * z * z) for z in range(support + 1)]
    masses = [weight / (2 * sum(weights) - 1) for weight in weights]
    return [*masses[:0:-1], *masses]


def exponential(x: Fraction) -> Fraction:
    """e^x for 0 ≤ x ≤ 16 to 40 digits, as a sum of its series in exact fractions.

    >>> float(exponential(Fraction(1)))
    2.718281828459045
    """
    scale = 10**60
    total = term = scale
    count = 1
    while term:
        term = term * x.numerator // (x.denominator * count)  # what is cut off stays below 10^−60 a term
        total, count = total + term, count + 1
    return Fraction(total, scale)


def _excess(pmf: Sequence[Any], growth: Any) -> Any:
    """Σ max(0, p(z) − e^ε·p(z−1)) over all outputs of two neighbouring counts."""
    return sum(max(a - growth * b, 0) for a, b in zip([*pmf, 0], [0, *pmf], strict=True))


def _dp_accounting(support: int, gamma: Fraction) -> Any:
    """The truncated discrete Gaussian of dp_accounting, whose σ is 1/sqrt(2γ)."""
    return DiscreteGaussianPrivacyLoss(
        math.sqrt(1 / (2 * float(gamma))), sensitivity=1, truncation_bound=support
    )
