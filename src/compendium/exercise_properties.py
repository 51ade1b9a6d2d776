"""Exercises with many right answers: each function says what is wrong with one, or nothing.

The name of a function is the name of its exercise. A sentence names what the answer lacks, not a right one.
"""

from __future__ import annotations

import tempfile
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tablebuilder_dp import (
    asymmetric,
    certified,
    composition,
    design,
    noise,
    parameters,
    privacy,
    sampling,
    small_counts,
    symmetric,
)


def numbers(answer: Any, count: int) -> NDArray[np.float64] | None:
    """An answer as so many numbers below 1e100, or None if it is anything else.

    >>> numbers((1, 2.5), 2), numbers("no", 2), numbers([1, float("nan")], 2)
    (array([1. , 2.5]), None, None)
    """
    try:
        given = np.asarray(answer)
        if given.dtype.kind not in "fiuO" or given.shape != (count,):
            return None
        values = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return values if (abs(values) < 1e100).all() else None  # NaN is not below


def exercise_01_4(answer: Any) -> str:
    """The noise of largest entropy on {-1, ..., 3} with mean 0 and E[Z²] ≤ 1."""
    p = numbers(answer, 5)
    if p is None:
        return "The answer must be five numbers, the probabilities of -1, 0, 1, 2 and 3."
    if p.min() < 0 or abs(p.sum() - 1) > 1e-6:
        return f"The least probability is {p.min():.6g} and all of them sum to {p.sum():.7g}: that is no pmf."
    z = np.arange(-1, 4)
    if abs(p @ z) > 1e-6:
        return f"The mean is {p @ z:.6g} and not 0."
    if p @ z**2 > 1 + 1e-6:
        return f"E[Z²] is {p @ z**2:.6g}, above 1."
    missing = _entropy(asymmetric.rows(support=3, variance=1).table[1]) - _entropy(p)
    if missing < 1e-5:
        return ""
    return f"This noise keeps the constraints, but another one has {missing:.2g} more entropy."


def _entropy(p: NDArray[np.float64]) -> float:
    return -float((p[p > 0] * np.log(p[p > 0])).sum())


def exercise_02_3(answer: Any) -> str:
    """Three probabilities, not symmetric, whose two directions agree at ε = 1."""
    p = numbers(answer, 3)
    if p is None:
        return "The answer must be three numbers, the probabilities of -1, 0 and 1."
    if p.min() < 0.05 or abs(p.sum() - 1) > 1e-9:
        return f"They must be at least 0.05 and sum to 1; the least is {p.min():.4g}, the sum {p.sum():.10g}."
    if p[1] < p.max():
        return "The largest of the three must stand in the middle."
    if abs(p[0] - p[2]) < 0.05:
        return f"The two ends must differ by at least 0.05; they differ by {abs(p[0] - p[2]):.4g}."
    ways = privacy.hockey_stick(*privacy.neighbours(p), 1)
    if abs(ways.forward - ways.backward) < 1e-6:
        return ""
    return f"The two directions differ: forward {ways.forward:.7f}, backward {ways.backward:.7f}."


def exercise_03_3(answer: Any) -> str:
    """A γ whose δ at D = 20 and ε = 1 is far below that of Proposition 3."""
    found = numbers([answer], 1)
    if found is None or not 1e-6 <= found[0] <= 100:
        return "The answer must be a number between 0.000001 and 100."
    delta = privacy.delta(1, support=20, gamma=float(found[0]))
    return "" if delta < 2e-6 else f"With this gamma, delta is {delta:.4g}."


def exercise_10_3(answer: Any) -> str:
    """ε and δ for which the printed sign of ι leads to a noise that is not (ε, δ)-differentially private."""
    found = numbers(answer, 2)
    if found is None or not (0.1 <= found[0] <= 1 and 1e-9 <= found[1] <= 0.5):
        return "The answer must be two numbers, an epsilon from 0.1 to 1 and a delta from 1e-9 to 0.5."
    epsilon, wanted = parameters.epsilon(float(found[0])), parameters.delta(float(found[1]))
    for support in count(1):
        gamma = epsilon / (2 * support - 1) + 2 * epsilon / (10 * (4 * support**2 - 1))
        if privacy.plateau(support=support, gamma=gamma).height <= wanted:
            break
    if certified.delta(epsilon, support=support, gamma=gamma).lower > wanted:
        return ""
    return f"The search stops at D = {support}, and the noise that it finds there keeps what was wanted."


def exercise_10_4(answer: Any) -> str:
    """An ε at which 2^32 keys have a larger variance error than 2^8 keys, for D = 10 and slack 1/10."""
    found = numbers([answer], 1)
    if found is None or not 0.1 <= found[0] <= 2.5:
        return "The answer must be a number from 0.1 to 2.5."
    gamma = design.proposition_3(float(found[0]), support=10).gamma
    true = certified.variance(support=10, gamma=gamma).lower
    tables = (sampling.lookup_table(support=10, gamma=gamma, keysize=2**bits) for bits in (8, 32))
    small, large = (abs(sampling.after_sampling(table).variance - true) for table in tables)
    if large > small:
        return ""
    return f"There the error is {float(small):.1e} with 2^8 keys and {float(large):.1e} with 2^32."


def exercise_12_3(answer: Any) -> str:
    """A design and two key sizes, of which the larger cannot keep δ although the smaller can."""
    if not isinstance(answer, tuple | list) or len(answer) != 4:
        return "The answer must be four numbers: epsilon, support, the smaller and the larger key size."
    epsilon, support, *sizes = answer
    try:
        made = design.proposition_3(epsilon, support=parameters.integer(support, "support", low=1, high=1000))
        known: dict[str, Any] = {"support": made.support, "gamma": made.gamma}
        small, large = (symmetric.keeps_delta(epsilon, **known, keysize=size) for size in sizes)
    except (TypeError, ValueError, ArithmeticError) as error:
        return f"{error}."
    if made.support == 10:
        return "D = 10 stands in the notebook; take another support."
    if sizes[0] >= sizes[1]:
        return "The smaller key size comes first."
    if not small:
        return "No symmetric table with the smaller key size keeps epsilon and delta."
    return "With the larger key size some symmetric table keeps epsilon and delta, too." if large else ""


def exercise_13_4(answer: Any) -> str:
    """A noise that never rises with |z|, with the bell's support and variance and a quarter of its δ."""
    p = numbers(answer, 51)
    if p is None:
        return "The answer must be 51 numbers, the probabilities of -25, ..., 25."
    if p.min() < 0 or abs(p.sum() - 1) > 1e-9:
        return f"Probabilities are not negative and sum to 1: least {p.min():.6g}, sum {p.sum():.9g}."
    if abs(p - p[::-1]).max() > 1e-12:
        return "The noise is not symmetric."
    if (p[26:] > p[25:-1] + 1e-15).any():
        return "Somewhere the probability rises with |z|."
    variance = float(p @ np.arange(-25, 26) ** 2)
    if abs(variance - 49) > 0.01:
        return f"The variance is {variance:.4f}, farther than 0.01 from 49."
    delta = max(privacy.hockey_stick(*privacy.neighbours(p / p.sum()), "0.5"))
    bell = float(privacy.delta("0.5", support=25, gamma=noise.gamma(support=25, variance=49)))
    return "" if 4 * delta <= bell else f"Its delta is {delta:.4e}, that of the bell is {bell:.4e}."


def exercise_14_3(answer: Any) -> str:
    """A grid for dp_accounting on which its upper bound for ten cells of Example 1 is exact."""
    from dp_accounting.pld import privacy_loss_distribution as pld  # here, as no other exercise needs it

    width = numbers([answer], 1)
    if width is None or not 0.005 <= width[0] <= 1:
        return "The answer must be a number from 0.005 to 1."
    made = design.guide("0.5", "1e-4")
    grid = {"value_discretization_interval": float(width[0]), "use_connect_dots": True}
    one = pld.from_discrete_gaussian_mechanism((2 * float(made.gamma)) ** -0.5, truncation_bound=25, **grid)
    exact = float(composition.delta(1, support=25, gamma=made.gamma, cells=10))
    off = float(one.self_compose(10).get_delta_for_epsilon(1.0)) / exact - 1
    return "" if abs(off) <= 1e-7 else f"The upper bound is too high by {off:.1e} of the exact delta."


def exercise_15_4(answer: Any) -> str:
    """The unbiased noise for one person that gives away the least about the empty cell."""
    p, z = numbers(answer, 7), np.arange(-1, 6)
    if p is None:
        return "The answer must be seven numbers, the probabilities of the noises -1, 0, ..., 5."
    if p.min() < 0 or abs(p.sum() - 1) > 1e-9:
        return f"Probabilities are not negative and sum to 1: least {p.min():.6g}, sum {p.sum():.9g}."
    if abs(p @ z) > 1e-9:
        return f"The mean is {p @ z:.6g} and not 0."
    if p @ z**2 > 3 + 1e-9:
        return f"The variance is {p @ z**2:.6g}, above 3."
    above, least = 1 - float(p[0]), float(small_counts.hole_bound(3))
    return "" if above <= least + 1e-6 else f"P(Y > 0) is {above:.6g}, and some other noise has less."


def exercise_16_3(answer: Any) -> str:
    """An (ε, δ) with small errors in cells of fifty people, at which the first attack is seldom right."""
    given = numbers(answer, 2)
    if given is None or not (0.01 <= given[0] <= 10 and 1e-12 <= given[1] <= 1e-4):
        return "The answer must be epsilon from 0.01 to 10 and delta from 1e-12 to 0.0001."
    pmf = design.guide(float(given[0]), float(given[1])).pmf
    far = float(pmf[abs(np.arange(len(pmf)) - len(pmf) // 2) > 5].sum())
    right = (1 + float(pmf.max())) / 2
    if far > 0.05:
        return f"A cell of 50 people is far off with probability {far:.4f}."
    return "" if right <= 0.58 else f"The first attack is right with probability {right:.4f}."


def exercise_16_4(answer: Any) -> str:
    """Somebody whom a published table with margins gives away."""
    found = numbers([answer], 1)
    if found is None:
        return "The answer must be the person_id of somebody, an integer."
    people, cells = _small_census()
    if found[0] not in people:
        return "Nobody in this census has that person_id."
    region, age, sex = people[int(found[0])]
    shown = []
    for over in ("", "age", "region", "region, age"):  # a cell may be a margin itself
        place = (None if "region" in over else region, None if "age" in over else age)
        total = cells[*place, None, f"{over}, sex".removeprefix(", ")]
        parts = (cells[*place, other, over] for other in {"F", "M", None} - {sex})
        near = (part for part in parts if part["true_count"] == total["true_count"] - 1 > 0)
        shown += [(part["count"], total["count"]) for part in near]
    if not shown:
        return "No cell has everybody but this person of its total over sex, and somebody."
    return "" if any(one != whole for one, whole in shown) else "Cell and total show the same count."


@cache
def _small_census() -> tuple[dict[int, tuple[Any, ...]], dict[tuple[Any, ...], dict[str, int]]]:
    """Region, age and sex of 20 000 people, and the cells of their table by these, with margins."""
    from pyarrow import parquet  # both here, as they bring a database along

    from tablebuilder_dp import microdata

    by = ["region", "age", "sex"]
    with tempfile.TemporaryDirectory() as folder:
        people, keyed = Path(folder, "people.parquet"), Path(folder, "keyed.parquet")
        secret = Path(folder, "secret")
        microdata.write_census(people, records=20_000, seed=1)
        microdata.make_secret(secret, seed=1)
        microdata.add_keys(people, keyed, id="person_id", secret_file=secret)
        noisy = microdata.design("0.5", "1e-4")
        made = microdata.perturb(keyed, by=by, protection=noisy, margins=True, audit=True)
        known = parquet.read_table(people).to_pylist()
    cells = {(*map(row.get, by), row["total_over"]): row for row in made.table.to_pylist()}
    return {one["person_id"]: tuple(map(one.get, by)) for one in known}, cells
