"""Exercises with many right answers say what an answer lacks; and answers of 11 to 16 in another way."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from compendium.course import exercises
from tablebuilder_dp.beyond import frontier, other_noise
from tablebuilder_dp.counts import rows
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.noise import Noise

Z = np.abs(np.arange(-25, 26))
BELL = Noise.of_variance(25, 49).pmf
TWO_HUMPS = frontier.optimum("0.5", support=25, variance=49).pmf
LEFT = np.concatenate([BELL[1:], BELL[:1]])
BEST = rows.rows(OfVariance(3, 1)).table[1][2:]
FLATTER = np.array([0.25, 0.5, 0.25, 0, 0])
BALANCED = (1 - math.e * 0.1) / 2
FLAT = other_noise.Chain(0, 9, 25, True).pmf("0.5", support=25)


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("01-4", BEST, "right."),
        ("01-4", (0.2,) * 5, "not yet. The mean is 1 and not 0."),
        ("01-4", (0.5, 0.6, -0.2, 0.05, 0.05), "not yet. The least probability is -0.2"),
        ("01-4", (0.5, 0.25, 0, 0.25, 0), "not yet. E[Z²] is 1.5, above 1."),
        ("01-4", 0.97 * BEST + 0.03 * FLATTER, "not yet. This noise keeps the constraints"),
        ("02-3", (0.02, 0.58, 0.4), "not yet. They must be at least 0.05"),
        ("02-3", (0.5, 0.4, 0.1), "not yet. The largest of the three must stand in the middle."),
        ("02-3", (0.1, 0.6, 0.3), "not yet. The two directions differ"),
        ("02-3", (0.1, 0.9 - BALANCED, BALANCED), "right."),
        ("03-3", 0.0285, "right."),
        ("03-3", 1 / 39, "not yet. With this gamma, delta is 3.174e-06."),
        ("03-3", 0.03, "not yet. With this gamma, delta is 2.332e-06."),
        ("10-3", (0.5, 9.48e-5), "right."),
        ("10-3", (0.5, 9.5e-5), "not yet. The search stops at D = 25"),
        ("10-4", 0.1054129586476, "right."),
        ("10-4", 0.5, "not yet. There the error is"),
        ("12-3", ("0.3", 5, 57, 112), "right."),
        ("12-3", (0.3, 5, 112, 57), "not yet. The smaller key size comes first."),
        ("12-3", (0.3, 5, 56, 112), "not yet. No symmetric table with the smaller"),
        ("12-3", (0.3, 5, 57, 113), "not yet. With the larger key size some"),
        ("12-3", (0.3, 5, 57, 57), "not yet. The smaller key size comes first."),
        ("12-3", (0.1, 10, 297, 562), "not yet. D = 10 stands in the notebook; take another support."),
        ("12-3", (1, 2, 11, 32), "not yet. D = 2 stands in the notebook; take another support."),
        ("12-3", (0.1, 0, 297, 563), "not yet. support must be an integer from 1 to 1000, got 0."),
        ("13-4", LEFT, "not yet. The noise is not symmetric."),
        ("13-4", TWO_HUMPS, "not yet. Somewhere the probability rises"),
        ("13-4", FLAT, "not yet. The variance is 44.9"),
        ("13-4", BELL, "not yet. Its delta is 9.9104e-05, that of the bell is 9.9104e-05."),
        ("13-4", frontier.optimum("0.5", support=25, variance="49.005", unimodal=True).pmf, "right."),
        ("14-3", 0.00508203281312525, "right."),
        ("14-3", 0.01, "not yet. The upper bound is too high by 1.9e-03"),
        ("15-4", (0.5, 0, 0, 0.5, 0, 0, 0), "not yet. The mean is 0.5 and not 0."),
        ("15-4", (5 / 6, 0, 0, 0, 0, 0, 1 / 6), "not yet. The variance is 5, above 3."),
        ("15-4", (0.5, 0, 0.5, 0, 0, 0, 0), "not yet. P(Y > 0) is 0.5, and"),
        ("15-4", (0.5, 0.5, 0.5, 0, 0, 0, -0.5), "not yet. Probabilities are not negative"),
        ("16-3", (1.5, 1e-4), "right."),
        ("16-3", (0.5, 1e-4), "not yet. A cell of 50 people is far off with probability 0.4324."),
        ("16-3", (2, 1e-4), "not yet. The first attack is right with probability 0.6024."),
        ("16-3", (1.3, 1e-4), "not yet. A cell of 50 people is far off with probability 0.0527."),
        ("16-3", (1.6, 1e-4), "not yet. The first attack is right with probability 0.5861."),
        ("16-4", 3133120637, "right."),
        ("16-4", 1538108038, "right."),  # by a margin: all ages of a region
        ("16-4", 5, "not yet. Nobody in this census"),
        ("16-4", 2121937830, "not yet. No cell has everybody but this person"),
        ("16-4", 3780197153, "not yet. Cell and total show the same count."),
    ],
)
def test_properties_say_what_is_lacking(name: str, answer: Any, said: str) -> None:
    verdict = exercises.verdict(name, answer)
    assert verdict == said if said.endswith(".") else verdict.startswith(said), verdict


def keeps_both(keysize: int) -> bool:
    """Whether some symmetric table with D = 2 keeps ε = 1/2 and δ, by trying all of them."""
    grow, end = math.exp(0.5), Noise(2, Fraction(1, 6)).pmf[-1]
    tries = itertools.product(range(1, int(keysize * end) + 1), range(1, keysize // 2))
    rows = ((a, b, keysize - 2 * a - 2 * b) for a, b in tries)
    return any(c > 0 and max(a, b) <= grow * min(a, b) and max(b, c) <= grow * min(b, c) for a, b, c in rows)


def by_drawing(*, first: bool) -> int:
    """How often the coin of 16-2 is guessed, in per cent: from all three editions or from two."""
    rng, z = np.random.default_rng(1), np.arange(-2, 3)
    a, b, c = rng.choice(z, size=(3, 500_000), p=[0.1, 0.2, 0.4, 0.2, 0.1])
    coin = rng.integers(2, size=500_000)
    third = np.where(coin, 2 + c, 1 + b)
    return round(100 * float(np.mean(((third - a > 1) if first else (third != 1 + b)) == coin)))


OTHER_WAYS: dict[str, Callable[[], Any]] = {
    "11-1": lambda: min(range(1, 21), key=lambda m: (140 - m * m) / (2 * m - 1) - (20 - m)),
    "12-1": lambda: sum(k % 21 == 0 or k >= 105 for k in range(2, 201)),
    "12-2": lambda: (1, next(k for k in itertools.count(5) if keeps_both(k))),
    "13-1": lambda: sum(2 ** (3 - abs(z)) for z in range(-3, 4)),
    "13-2": lambda: [sum(2 ** (d - abs(z)) for z in range(-d, d + 1)) for d in range(5)],
    "13-3": lambda: sum(z * z * 2 ** (4 - abs(z)) for z in range(-4, 5)),
    "14-1": lambda: next(k for k in itertools.count(1) if 1 - 0.9999 ** (k + 1) > 0.05),
    "14-4": lambda: (
        max(t for t in range(1000) if 1000 - 2 * t > 201),
        min(1000 - t for t in range(1000) if 1000 - 2 * t > 201),
    ),
    "15-1": lambda: 1000 * (1 * 2 + 2 * 1) // 10,
    "16-1": lambda: 7 * math.sqrt(99 + 1),
    "16-2": lambda: (by_drawing(first=False), by_drawing(first=True)),
}


@pytest.mark.parametrize("name", OTHER_WAYS)
def test_another_way_leads_to_the_same_answer(name: str) -> None:
    assert exercises.verdict(name, OTHER_WAYS[name]()) == "right."
