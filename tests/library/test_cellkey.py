"""Section IV: record keys, cell keys, and their distance from uniform."""

import itertools
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablebuilder_dp import cellkey


def exact_distance(reduced: np.ndarray[Any, Any], size: int) -> Fraction:
    """Total variation distance of the XOR of four draws from a small list, by counting all of them."""
    counts = [0] * size
    for value in reduced.tolist():
        counts[value] += 1
    pairs = [0] * size
    for a, b in itertools.product(range(size), repeat=2):
        pairs[a ^ b] += counts[a] * counts[b]
    fours = [0] * size
    for a, b in itertools.product(range(size), repeat=2):
        fours[a ^ b] += pairs[a] * pairs[b]
    total = sum(fours)
    return sum((abs(Fraction(n, total) - Fraction(1, size)) for n in fours), Fraction(0)) / 2


def test_record_keys_are_32_bit_and_never_zero() -> None:
    keys = cellkey.record_keys(50_000)
    assert keys.shape == (50_000, 4)
    assert keys.dtype == np.uint32
    assert keys.min() >= 1
    assert keys.max() > 2**32 - 2**20
    assert cellkey.measured_distance(keys >> np.uint32(28), keysize=16) < 0.01


def test_record_keys_repeat_with_a_seed_and_differ_without() -> None:
    np.testing.assert_array_equal(cellkey.record_keys(5, seed=1), cellkey.record_keys(5, seed=1))
    assert not np.array_equal(cellkey.record_keys(5, seed=1), cellkey.record_keys(5, seed=2))
    assert not np.array_equal(cellkey.record_keys(5), cellkey.record_keys(5))


def test_a_zero_from_the_cryptographic_source_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = iter([bytes(16), bytes(4 * 3) + b"\1\0\0\0", b"\7\0\0\0" * 3])
    monkeypatch.setattr("secrets.token_bytes", lambda count: next(draws)[:count])
    assert cellkey.record_keys(1).tolist() == [[7, 7, 7, 1]]


@given(st.lists(st.tuples(*[st.integers(1, 2**32 - 1)] * 4), min_size=1, max_size=30), st.randoms())
def test_cell_key_is_the_xor_of_the_component_sums(rows: list[tuple[int, ...]], random: Any) -> None:
    cells = [random.randrange(4) for _ in rows]
    found = cellkey.cell_keys(rows, cells)
    for cell in range(max(cells) + 1):
        sums = [
            sum(r[j] for r, c in zip(rows, cells, strict=True) if c == cell) % (2**32 - 5) for j in range(4)
        ]
        assert found[cell] == sums[0] ^ sums[1] ^ sums[2] ^ sums[3]
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = cellkey.cell_keys([rows[i] for i in order], [cells[i] for i in order])
    np.testing.assert_array_equal(shuffled, found)


def test_reductions_take_low_or_high_bits() -> None:
    keys = [[0xABCD1234, 1, 1, 1]]
    key = 0xABCD1234 ^ 1
    assert cellkey.cell_keys(keys, [0], keysize=2**16).tolist() == [key & 0xFFFF]
    assert cellkey.cell_keys(keys, [0], keysize=2**16, reduction="high").tolist() == [key >> 16]
    assert cellkey.cell_keys(keys, [0], keysize=2**32, reduction="high").tolist() == [key]
    assert cellkey.fold_bytes([key]).tolist() == [0xAB ^ 0xCD ^ 0x12 ^ 0x35]
    assert cellkey.fold_bytes([[key], [0]]).shape == (2, 1)


def test_readings_of_the_superscript() -> None:
    assert cellkey.components([[1, 2, 3, 4]]).tolist() == [[1, 2, 3, 4]]
    assert cellkey.components([0x01020304], reading="bytes").tolist() == [[4, 3, 2, 1]]
    base = 2**32 - 2  # above bigN, so that even the first power is reduced
    expected = [[pow(base, j, 2**32 - 5) for j in (1, 2, 3, 4)]]
    assert cellkey.components([base], reading="powers").tolist() == expected


@settings(max_examples=15)
@given(st.integers(2, 64), st.integers(1, 6))
def test_distance_of_low_bits_is_exact(modulus: int, bits: int) -> None:
    values = np.arange(modulus) % 2**bits
    expected = exact_distance(values, 2**bits)
    assert cellkey.distance_from_uniform(modulus=modulus, keysize=2**bits) == expected


@pytest.mark.parametrize("modulus", [2**32 - 5, 2**31 - 1, 3 * 2**30 + 1, 2**32, 2**31 + 11])
def test_distance_of_high_bits_is_exact(modulus: int) -> None:
    top = np.arange(16)
    counts = np.clip(modulus - top * 2**28, 0, 2**28)
    spectrum = np.array(
        [(counts * (-1.0) ** np.array([(s & t).bit_count() for t in range(16)])).sum() for s in range(16)]
    )
    masses = [
        sum((spectrum[s] / modulus) ** 4 * (-1) ** (s & t).bit_count() for s in range(16)) / 16
        for t in range(16)
    ]
    expected = sum(abs(mass - 1 / 16) for mass in masses) / 2
    found = cellkey.distance_from_uniform(modulus=modulus, keysize=16, reduction="high")
    assert float(found) == pytest.approx(expected, abs=1e-15)


def test_folding_bytes_is_as_uniform_as_the_low_byte() -> None:
    # Sums uniform on [0, 2^32 − 5): a folded byte has 2^24 preimages, less those of the five missing sums.
    counts = [2**24] * 256
    for missing in range(2**32 - 5, 2**32):
        counts[int(cellkey.fold_bytes([missing])[0])] -= 1
    spectrum = [sum(n * (-1) ** (s & v).bit_count() for v, n in enumerate(counts)) for s in range(256)]
    masses = [
        sum(Fraction(g, 2**32 - 5) ** 4 * (-1) ** (s & v).bit_count() for s, g in enumerate(spectrum)) / 256
        for v in range(256)
    ]
    distance = sum(abs(mass - Fraction(1, 256)) for mass in masses) / 2
    assert distance == cellkey.distance_from_uniform(keysize=2**8)


@pytest.mark.parametrize("modulus", [2**32 - 5, 2**32, 2**31 - 1, 3 * 2**30 + 1, 1_000_003])
@pytest.mark.parametrize("keysize", [2**8, 2**16, 2**32])
@pytest.mark.parametrize("reduction", ["low", "high"])
def test_bound_covers_the_exact_distance(modulus: int, keysize: int, reduction: str) -> None:
    exact = cellkey.distance_from_uniform(modulus=modulus, keysize=keysize, reduction=reduction)
    assert 0 <= exact <= cellkey.distance_bound(modulus=modulus, keysize=keysize, reduction=reduction) <= 1


@pytest.mark.parametrize("keysize", [2**8, 2**16, 2**32])
def test_our_choices_leave_the_key_uniform_for_every_purpose(keysize: int) -> None:
    assert cellkey.distance_bound(keysize=keysize) < Fraction(1, 10**33)


def test_cells_of_one_record_show_why_the_components_are_independent() -> None:
    """All 2^16 − 1 records of a 16-bit world, each alone in its cell, under the two other readings."""
    records = np.arange(1, 2**16)
    cells = np.arange(len(records))
    powers = cellkey.cell_keys(records, cells, keysize=2**16, modulus=2**16 - 15, reading="powers")
    assert 0.36 < cellkey.measured_distance(powers, keysize=2**16) < 0.4  # a random map leaves 1/e out
    in_bytes = cellkey.cell_keys(records, cells, keysize=2**16, reading="bytes")
    assert cellkey.measured_distance(in_bytes, keysize=2**16) == pytest.approx(1 - 2**-8, abs=1e-4)


def test_measured_distance_of_many_real_cells_is_that_of_uniform_keys() -> None:
    keys = cellkey.record_keys(400_000, seed=5)
    found = cellkey.cell_keys(keys, np.arange(400_000) // 2, keysize=2**8)
    expected = (2**8 / (2 * np.pi * 200_000)) ** 0.5
    assert cellkey.measured_distance(found, keysize=2**8) == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize(
    ("modulus", "keysize", "reduction"),
    [
        (2**31 - 1, 2**32, "low"),
        (2**31 - 1, 2**16, "high"),
        (2**16 - 15, 2**32, "low"),
        (2**31 + 11, 2**32, "low"),
    ],
)
def test_a_modulus_that_ruins_the_key_is_refused(modulus: int, keysize: int, reduction: str) -> None:
    with pytest.raises(ValueError, match=rf"^modulus {modulus} can leave .* must be near 2\^32"):
        cellkey.cell_keys([[1, 2, 3, 4]], [0], modulus=modulus, keysize=keysize, reduction=reduction)


def test_the_line_between_warning_and_refusal_is_a_quarter() -> None:
    bound = cellkey.distance_bound(modulus=3_200_000_000)
    assert Fraction(1, 4) < bound < Fraction(1, 2)
    with pytest.raises(ValueError, match="must be near"):
        cellkey.cell_keys([[1, 2, 3, 4]], [0], modulus=3_200_000_000)


def test_a_modulus_that_harms_the_key_is_warned_about() -> None:
    with pytest.warns(UserWarning, match=r"modulus 3221225473 can leave the cell key 0\.241 from uniform"):
        cellkey.cell_keys([[1, 2, 3, 4]], [0], modulus=3 * 2**30 + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cellkey.cell_keys([[1, 2, 3, 4]], [0], modulus=2**31 - 1, keysize=2**16)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"record_keys": [[1, 2, 3]]}, r"record_keys must be of shape \(records, 4\), got \(1, 3\)"),
        ({"record_keys": [1, 2, 3, 4]}, r"record_keys must be of shape \(records, 4\)"),
        ({"record_keys": [[1, 2, 3, 4]], "reading": "bytes"}, r"record_keys must be of shape \(records,\)"),
        (
            {"record_keys": [[0, 2, 3, 4]]},
            "record_keys must be integers from 1 to 4294967295, got 0",
        ),
        ({"record_keys": [[1, 2, 3, 2**32]]}, "record_keys must be "),
        ({"record_keys": [[1.0, 2, 3, 4]]}, "record_keys must be "),
        ({"record_keys": []}, "record_keys must be "),
        ({"record_keys": None}, "record_keys must be "),
        ({"cells": [0, 1]}, r"cells must be one label a record \(1\), got \(2,\)"),
        ({"cells": [-1]}, "cells must be integers from 0"),
        ({"cells": ["a"]}, "cells must be integers from 0"),
        ({"keysize": 3}, r"keysize must be a power of 2 from 2 to 2\^32, got 3"),
        ({"keysize": 2**33}, "keysize must be an integer from 2 to 4294967296"),
        ({"modulus": 1}, "modulus must be an integer from 2 to 4294967296, got 1"),
        ({"modulus": 7.0}, "modulus must be an integer from 2 to 4294967296, got 7.0"),
        ({"reading": "letters"}, "reading must be one of independent, powers, bytes, got 'letters'"),
        ({"reading": None}, "reading must be one of"),
        ({"reduction": "middle"}, "reduction must be one of low, high, got 'middle'"),
    ],
)
def test_bad_arguments_are_named(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"record_keys": [[1, 2, 3, 4]], "cells": [0], **change}
    with pytest.raises((ValueError, TypeError), match=f"^{message}"):
        cellkey.cell_keys(**arguments)
