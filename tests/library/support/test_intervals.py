"""Balls, enclosures and the precision: they contain the truth, in many threads, whatever was asked before."""

import random
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Context, Decimal
from fractions import Fraction

import mpmath
import pytest
from flint import ctx
from hypothesis import given
from hypothesis import strategies as st

from tablebuilder_dp import certified, design, sampling
from tablebuilder_dp.beyond import best_gamma, gap, symmetric
from tablebuilder_dp.certified import Enclosed
from tablebuilder_dp.counts import certified as certified_counts
from tablebuilder_dp.counts import perturbation_table
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
    with pytest.raises(ArithmeticError, match=r"a value beyond 2\^±3000000"):
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


BOUNDED: dict[str, tuple[Callable[[], object], str]] = {
    "rows of a steep noise": (
        lambda: certified_counts.row(Noise(300, 690), 300),
        r"noise must be one with p\(D\)/p\(0\) above 1e-2000",
    ),
    "pairs of a steep noise": (
        lambda: certified_counts.delta(Noise(1000, 690), 5, 1),
        r"noise must be one with p\(D\)/p\(0\) above 1e-2000",
    ),
    "a table of a steep noise": (
        lambda: perturbation_table.build(OfVariance(1000, "1e-200"), keysize=256),
        r"noise must be one with p\(D\)/p\(0\) above 1e-2000",
    ),
    "a wide enclosure": (
        lambda: certified.delta(Enclosed(10**6, Enclosure(Fraction(1, 10**6), Fraction(1, 10**3))), 1),
        "gamma enclosed too widely",
    ),
    "a wide symmetric table": (
        lambda: symmetric.cuts(Noise(10**6, "1e-7"), 1, 2**64),
        "support must be an integer from 1 to 1000",
    ),
    "a table of least delta": (
        lambda: symmetric.least_delta_table("0.1", support=10**6, keysize=2**64),
        "support must be an integer from 1 to 1000",
    ),
    "key sizes of a tiny delta": (
        lambda: symmetric.key_sizes(Noise(100, 1), 200),
        r"epsilon must be such that a keysize of at most 2\^64 keeps",
    ),
    "a limit of a wide support": (
        lambda: sampling.full_support_limit(support=10**6, keysize=2**64),
        "support must be an integer from 1 to 10000",
    ),
    "a tiny epsilon": (lambda: best_gamma.best("1e-280", support=4000), "epsilon must be at least 1e-30"),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_what_would_take_long_or_fill_the_memory_is_refused_in_a_sentence(name: str) -> None:
    ask, sentence = BOUNDED[name]
    with pytest.raises((ValueError, ArithmeticError), match=sentence) as refused:
        ask()
    assert "\n" not in str(refused.value)


@pytest.mark.unmeasured
def test_extreme_arguments_that_are_accepted_are_answered() -> None:
    assert float(certified.delta(Noise(1000, 690), 1, cells=2, digits=5)) == 1
    assert best_gamma.kink(best_gamma.best(500, support=2920)) == 2920
    assert certified.pmf(Noise(1000, 1), 1000).digits(5) == "1.8598E-434295"


@given(st.integers(1, 12), st.integers(1, 10**30), st.integers(1, 10**30), st.integers(0, 3))
def test_digits_of_long_fractions_are_those_of_short_ones(
    places: int, numerator: int, denominator: int, tens: int
) -> None:
    short = Fraction(numerator, denominator)
    long = (
        short * Fraction(1, 2**70000) * 2**70000 * Fraction(10**21000, 10**21000 + 1)
    )  # the same to 20999 digits
    exact = Decimal(intervals._rounded(short, places))
    assert intervals._rounded(long / 10**tens, places) in (
        exact.scaleb(-tens),
        exact.scaleb(-tens).next_minus(Context(prec=places)),  # a hair below a number half-way between two
    )


def test_an_enclosure_shows_itself_however_long() -> None:
    third = Fraction(1, 3)
    assert repr(Enclosure(third, third)) == "Enclosure(lower=Fraction(1, 3), upper=Fraction(1, 3))"
    long = Enclosure(Fraction(1, 10**5000 + 1) + 1, Fraction(2))
    assert repr(long) == "Enclosure(lower=1.0, upper=2.0, rounded)"
