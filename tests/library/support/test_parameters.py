"""One voice for bad input: every argument of every public function, and every way to get it wrong."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tablebuilder_dp import cellkey, certified, design, noise, privacy, sampling
from tablebuilder_dp.beyond import best_gamma, composition, symmetric
from tablebuilder_dp.counts import perturbation_table, rows, small_counts
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.intervals import Enclosure

NOT_NUMBERS: list[Any] = [math.nan, math.inf, -math.inf, True, None, 1j, "", "five", "nan", "0x10", "1/0"]
NOT_NUMBERS += [Decimal("NaN"), Decimal("-Infinity"), [], {}, b"1", "1e999999999", "1e-999999999", object()]
NOT_POSITIVE: list[Any] = [
    "1e-301",
    -1,
    -0.5,
    0,
    0.0,
    "-1e-9",
    Fraction(-1, 3),
    np.float64(-2.0),
    np.int64(0),
]
NOT_INTEGERS: list[Any] = [
    1.0,
    2.5,
    math.nan,
    math.inf,
    True,
    None,
    1j,
    "3",
    "",
    [],
    Decimal(3),
    Fraction(3),
    np.float64(3),
]

NUMBER = NOT_NUMBERS + NOT_POSITIVE
BAD: dict[str, list[Any]] = {
    "epsilon": [*NUMBER, 500.1, 10**30, 10**5000, "1e-299"],
    "gamma": [*NUMBER, 691, 10**30],
    "variance": [*NUMBER, 10**30],
    "rate": [*NUMBER, 501, 10**30],
    "delta": [*NUMBER, 1, 1.5],
    "slack": [*NOT_NUMBERS, -0.1, 1.1],
    "x": [*NOT_NUMBERS, -1, 10**7],
    "ratio": NUMBER,
    "support": [*NOT_INTEGERS, 0, -3, 10**6 + 1, 10**30, 10**5000],
    "keysize": [*NOT_INTEGERS, 0, 1, -2, 2**64 + 1],
    "records": [*NOT_INTEGERS, 0, -1, 10**10],
    "seed": [1.5, "1", -1, True, 2**129, []],
    "z": [*NOT_INTEGERS, 4, -4],
    "noise": [None, 3, "x", {"support": 3, "gamma": "0.5"}, noise.Noise, [noise.Noise(3, "0.5")]],
    "count": [*NOT_INTEGERS, 0, -1, 10**9],
}
NOISE: dict[str, Any] = {"noise": noise.Noise(3, "0.5")}
CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (noise.Noise, {"support": 3, "gamma": "0.5"}),
    (noise.Geometric, {"support": 3, "rate": "0.5"}),
    (noise.Noise.of_variance, {"support": 3, "variance": 2}),
    (noise.Geometric.of_variance, {"support": 3, "variance": 2}),
    (noise.variance_bound, {"support": 3}),
    (noise.polynomial, {"x": "0.5", "support": 3, "variance": 2}),
    (privacy.z_star, {"epsilon": 1, **NOISE}),
    *((getattr(privacy, name), {"epsilon": 1, **NOISE}) for name in ("e_star", "f_star", "delta")),
    (privacy.plateau, NOISE),
    (privacy.epsilon, {"delta": "0.01", **NOISE}),
    (design.proposition_3, {"epsilon": 1, "support": 3, "slack": "0.1"}),
    (design.ranges, {"epsilon": 1, "support": 3}),
    (design.best_delta_on_grid, {"epsilon": 1, "support": 3}),
    (design.guide, {"epsilon": 1, "delta": "0.01", "slack": "0.1"}),
    *((getattr(certified, name), NOISE) for name in ("normaliser", "variance", "entropy")),
    (certified.pmf, {"z": 1, **NOISE}),
    (certified.polynomial, {"x": "0.5", "support": 3, "variance": 2}),
    (certified.gamma, {"support": 3, "variance": 2}),
    (certified.delta, {"epsilon": 1, **NOISE}),
    (certified.epsilon, {"delta": "0.1", **NOISE}),
    (certified.edge_reaches, {"delta": "0.1", **NOISE}),
    (certified.cuts, {**NOISE, "keysize": 256}),
    (certified.logarithm, {"ratio": Fraction(3, 2)}),
    (sampling.lookup_table, {**NOISE, "keysize": 256}),
    (cellkey.record_keys, {"records": 2, "seed": 1}),
    (Enclosure(Fraction(1), Fraction(1)).digits, {"count": 3}),
]


@pytest.mark.parametrize(("function", "arguments"), CALLS, ids=lambda part: getattr(part, "__qualname__", ""))
def test_every_argument_refuses_every_bad_value(
    function: Callable[..., Any], arguments: dict[str, Any]
) -> None:
    function(**arguments)
    for name in arguments:
        for bad in BAD[name]:
            if (
                isinstance(bad, list)
                and name in ("epsilon", "delta")
                and function in (privacy.delta, privacy.epsilon)
            ):
                continue  # sequences are welcome there; test_sequences_are_checked_too has their own errors
            if name == "seed" and bad is None:
                continue
            with pytest.raises((ValueError, TypeError)) as caught:
                function(**{**arguments, name: bad})
            message = str(caught.value)
            assert message.startswith(f"{name} must be "), (name, bad, message)
            assert ", got " in message
            assert "\n" not in message
            assert len(message) < 250


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: small_counts.clamping_bias(NO), "noise must be a Noise or OfVariance"),
    (lambda: small_counts.clamping_variance(NO), "noise must be a Noise or OfVariance"),
    (lambda: rows.symmetric_gamma(NO), "noise must be a Noise or OfVariance"),
    (lambda: rows.symmetric_pmf(NO), "noise must be a Noise or OfVariance"),
    (lambda: rows.rows(NO), "noise must be a Noise or OfVariance"),
    (lambda: privacy.loss_masses(NO), "noise must be a Noise or Geometric"),
    (lambda: privacy.loss_lattice(NO), "noise must be a Noise or Geometric"),
    (lambda: composition.delta(NO, 1, cells=2), "noise must be a Noise or Geometric"),
    (lambda: composition.most_cells(NO, 1, "0.1"), "noise must be a Noise or Geometric"),
    (lambda: symmetric.key_sizes(NO, 1), "noise must be a Noise or Geometric"),
    (lambda: best_gamma.kink(noise.Noise(3, "0.1")), "chosen must be a Design"),  # type: ignore[arg-type]
    (lambda: sampling.after_sampling(NO), "table must be a LookupTable"),
    (lambda: sampling.delta(NO, 1), "table must be a LookupTable"),
    (lambda: sampling.epsilon(NO), "table must be a LookupTable"),
    (lambda: certified.Enclosed(3, NO), "gamma must be an Enclosure"),
    (
        lambda: certified.Enclosed(3, Enclosure(Fraction(2), Fraction(1))),
        "gamma must be an Enclosure with",
    ),
    (lambda: certified.of_weights([1], [1, 0], Fraction(1), unit=1), r"q must be as long as p \(1\)"),
    (lambda: certified.hockey_stick([True], [True], 0), "p must be a sequence of exact"),  # type: ignore[list-item]
    (lambda: sampling.lookup_table(NOISE["noise"], keysize=8, rule=NO), "rule must be a function of a noise"),
    (
        lambda: perturbation_table.build(rows.OfVariance(3, 2), keysize=256, rule=symmetric.rule(1)),
        "rule must be left out for a noise that is given by its variance",
    ),
    (
        lambda: noise.Geometric.of_variance(3, "1e-250"),
        "variance must be so large that the rate is",
    ),
]
NO: Any = {"support": 3, "gamma": "0.5"}


@pytest.mark.parametrize(("call", "sentence"), WRONG)
def test_what_is_no_noise_table_or_rule_is_refused_in_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{sentence}"):
        call()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([], "epsilon must be a number or a non-empty sequence of numbers, got []"),
        (
            np.array([]),
            "epsilon must be a number or a non-empty sequence of numbers, got array([], dtype=float64)",
        ),
        ([1, -2, 3], "epsilon must be a number in (0, 500], got -2"),
        (np.array([1.0, math.nan]), "epsilon must be a number in (0, 500], got nan"),
        (np.array([1.0, 600.0]), "epsilon must be a number in (0, 500], got 600.0"),
        (np.array([1, 0]), "epsilon must be a number in (0, 500], got 0"),
        (np.array([[1.0]]), "epsilon must be one-dimensional, not of shape (1, 1), got array([[1.]])"),
        (
            np.array([1j]),
            "epsilon must be a number (int, float, Fraction, Decimal or decimal string), got 1j (complex128)",
        ),
        (
            np.array([True]),
            "epsilon must be a number (int, float, Fraction, Decimal or decimal string), got True (bool)",
        ),
        ([[1]], "epsilon must be a number (int, float, Fraction, Decimal or decimal string), got [1] (list)"),
        (
            object,
            "epsilon must be a number (int, float, Fraction, Decimal or decimal string), "
            "got <class 'object'> (type)",
        ),
        (
            np.ma.array([1.0, math.nan], mask=[False, True]),
            "epsilon must be a number (int, float, Fraction, Decimal or decimal string), "
            "got masked (MaskedConstant)",
        ),
        ([1.0, 1e-305], "epsilon must be at least 1e-300, got 1e-305"),
        ("abc", "epsilon must be a number in (0, 500], got 'abc'"),
    ],
)
def test_sequences_are_checked_too(bad: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        privacy.delta(Noise(3, "0.5"), bad)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "value",
    [
        0.1,
        "0.1",
        " 0.1 ",
        "1e-1",
        Decimal("0.1"),
        Fraction(1, 10),
        np.float64(0.1),
        np.float32(0.1),
        np.float16(0.1),
    ],
)
def test_one_tenth_is_one_tenth_however_it_is_written(value: Any) -> None:
    assert parameters.epsilon(value) == Fraction(1, 10)


def test_integers_of_every_kind_are_read() -> None:
    assert parameters.support(np.uint8(5)) == 5
    assert parameters.epsilon(np.int16(5)) == 5
    assert parameters.epsilon(5) == 5


def test_a_zero_dimensional_array_is_one_number() -> None:
    assert isinstance(privacy.delta(Noise(3, "0.5"), np.array(1.0)), float)


def test_a_long_value_is_cut_and_a_broken_one_still_named() -> None:
    with pytest.raises(ValueError, match=r"^support must be .*\.\.\.") as caught:
        parameters.support(10**300)
    assert len(str(caught.value)) < 200

    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(TypeError, match=r"^support must be an integer .* got <.*Broken.*> \(Broken\)"):
        parameters.support(Broken())
