"""Balls, enclosures and the precision: they contain the truth, in many threads, whatever was asked before."""

import random
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import mpmath
import pytest
from flint import ctx
from hypothesis import given
from hypothesis import strategies as st

from tablebuilder_dp import certified, design, sampling
from tablebuilder_dp.beyond import best_gamma, gap, symmetric
from tablebuilder_dp.counts import certified as certified_counts
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.noise import Geometric, Noise
from tablebuilder_dp.support import intervals
from tablebuilder_dp.support.intervals import Enclosure, ball, below, enclosure, exponential, precision, until


@given(st.fractions(), st.integers(-2000, 2000), st.integers(2, 300))
def test_a_ball_contains_its_number_whole_binary_or_neither(number: Fraction, power: int, bits: int) -> None:
    with precision(bits):
        for value in (number, number.numerator * Fraction(2) ** power, Fraction(number.numerator)):
            found = enclosure(ball(value))
            assert found.lower <= value <= found.upper
            assert (found.upper - found.lower) * 2 ** (bits - 2) <= abs(value)
            wide = enclosure(ball(Enclosure(value, value + 1)))
            assert wide.lower <= value <= value + 1 <= wide.upper


@pytest.mark.unmeasured
def test_exp_and_log_hold_what_mpmath_finds_with_three_times_the_bits() -> None:
    generator = random.Random(2)  # noqa: S311
    for _ in range(2000):
        x = Fraction(generator.uniform(-5, 5))
        with mpmath.workprec(150):
            number = mpmath.mpf(x.numerator) / x.denominator
            truths = [mpmath.exp(number), mpmath.log(abs(number))]
            exact = [Fraction(*map(int, mpmath.libmp.to_rational(truth._mpf_))) for truth in truths]
        with precision(53):
            found = [enclosure(exponential(x)), enclosure(ball(abs(x)).log())]
        for truth, ends in zip(exact, found, strict=True):
            assert truth in ends
            assert (ends.upper - ends.lower) * 2**48 <= max(abs(truth), Fraction(1, 100))


def test_exp_of_a_wide_enclosure_is_that_of_its_ends() -> None:
    with precision(100):
        wide = enclosure(exponential(Enclosure(Fraction(-30), Fraction(1))))
        low, high = enclosure(exponential(Fraction(-30))), enclosure(exponential(Fraction(1)))
    assert wide.lower <= low.lower
    assert high.upper <= wide.upper <= high.upper + Fraction(1, 10**8)


def test_the_precision_is_restored_also_after_an_error() -> None:
    before = ctx.prec
    with precision(777):
        with precision(99):
            assert ctx.prec == 99
        assert ctx.prec == 777
        with pytest.raises(ZeroDivisionError), precision(55):
            raise ZeroDivisionError
        assert ctx.prec == 777
    assert ctx.prec == before
    certified.delta(Noise(25, "0.0102"), "0.5", digits=500)
    assert ctx.prec == before


QUESTIONS: dict[str, Callable[[], object]] = {
    "delta": lambda: certified.delta(Noise(25, "0.0102"), "0.5"),
    "many cells": lambda: certified.delta(Noise(25, "0.0102"), 2, cells=10, digits=40),
    "geometric": lambda: certified.epsilon(Geometric(25, "0.5"), "0.01"),
    "gamma": lambda: certified.gamma(support=11, variance=4, digits=100),
    "cuts": lambda: certified.cuts(Noise(25, "0.0102"), keysize=2**32),
    "guide": lambda: design.guide("0.5", "1e-4"),
    "limit": lambda: sampling.full_support_limit(support=10, keysize=2**8, digits=12),
    "best": lambda: best_gamma.best("0.7", support=15),
    "gap": lambda: gap.closing_epsilon(support=17, digits=10),
    "symmetric": lambda: symmetric.cuts(Noise(3, "0.05"), "0.5", 1000),
    "row": lambda: certified_counts.row(OfVariance(5, 3), 3, digits=60),
    "moments": lambda: moments(),
}


def moments() -> list[Enclosure]:
    with precision(100):
        return [enclosure(one) for one in certified.moments(Noise(5, "0.1"), 0, 2)]


def forget() -> None:
    """Let everything be computed anew."""
    for cached in (best_gamma._delta, certified.growth, certified_counts.solve, symmetric._mass):
        cached.cache_clear()


def test_answers_in_many_threads_are_those_of_one() -> None:
    alone = {name: ask() for name, ask in QUESTIONS.items()}
    forget()
    together = threading.Barrier(6)

    def work(seed: int) -> dict[str, object]:
        together.wait()
        names = random.Random(seed).sample(list(QUESTIONS), len(QUESTIONS))  # noqa: S311
        return {name: QUESTIONS[name]() for name in names}

    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(work, range(6)):
            assert found == alone


def test_an_answer_does_not_depend_on_what_was_asked_before() -> None:
    first = {name: ask() for name, ask in QUESTIONS.items()}
    forget()
    again = {name: QUESTIONS[name]() for name in reversed(QUESTIONS)}
    assert again == first


def test_what_is_not_decided_is_an_error_never_a_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "MAX_BITS", 512)
    with pytest.raises(ArithmeticError, match="an equality"):
        below(Fraction(1), lambda: exponential(Fraction(0)) * ball(Fraction(1, 3)) * 3)
    with pytest.raises(ArithmeticError, match="no decision at"):
        until(lambda _: False, lambda: ball(1))
    with pytest.raises(ArithmeticError, match=r"a value beyond 2\^±1048576"):
        until(lambda _: True, lambda: exponential(Fraction(10**7)))


def test_a_value_below_all_fractions_is_still_compared() -> None:
    assert below(Fraction(1, 10**300), lambda: exponential(Fraction(-(10**12))))


@pytest.mark.unmeasured
def test_the_widest_support_takes_little_memory() -> None:
    """Half a gigabyte is enough; one of these questions once took twenty."""
    script = """
from fractions import Fraction
from tablebuilder_dp import certified
from tablebuilder_dp.noise import Noise
steep, flat = Noise(10**6, Fraction(1, 20)), Noise(10**6, Fraction(1, 10**12))
assert certified.edge_reaches(steep, "0.01")
assert certified.normaliser(flat).digits(5) == "6.6950E-7"
assert certified.delta(flat, "1e-9").digits(5) == "6.6900E-7"
assert certified.polynomial("0.5", support=10**6, variance=4).digits(5) == "-6.9801"
"""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (512 * 2**20, 512 * 2**20))

    subprocess.run([sys.executable, "-c", script], check=True, preexec_fn=limit)
