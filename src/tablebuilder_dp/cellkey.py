"""Section IV: record keys, cell keys and how uniform they are.

A cell's key is a function of the records in it, so the same cell always gets the same noise. Each
of four components of the record keys is summed over the cell modulo bigN; the sums are XORed, and
the result is reduced to KEYSIZE. The paper leaves three things open; they are decided here so:

*The superscript j* numbers four independent 32-bit keys of a record. Were it an exponent, or the
number of a byte of one 32-bit key, a cell of a single record would reach only some of the keys
(`components` has all three readings, `measured_distance` shows the difference).

*bigN* is 2^32 − 5, the largest prime below 2^32. What matters is its distance from a power of two,
not that it is prime: it decides how far from uniform the XOR of four sums is, and that distance
adds to δ, at most 1 + e^ε times. `distance_from_uniform` has it exactly for large cells, `distance_bound`
bounds it for every cell; moduli for which it matters are warned about, and refused when they ruin the key.

*KEYSIZE* below 2^32 takes the low bits of the XOR: they stay uniform for every large modulus.
The high bits do not, and folding bytes, the older way to 2^8, is no more uniform than the low bits.
"""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tablebuilder_dp.support import parameters

BIG_N = 2**32 - 5
BITS = 32
"""Record keys, component sums and unreduced cell keys are 32-bit numbers."""

HARMLESS = Fraction(1, 10**9)
"""A distance from uniform that no δ of interest notices."""

Keys = NDArray[np.uint64]


def record_keys(records: int, *, seed: int | None = None) -> NDArray[np.uint32]:
    """Four keys in [1, 2^32) for each record: an array of shape (records, 4).

    Without a seed they come from the operating system's cryptographic source, as keys that protect
    people must. A seed makes them repeatable, for examples and experiments only.

    >>> record_keys(2, seed=1).shape
    (2, 4)
    """
    count = parameters.integer(records, "records", low=1, high=10**8)
    if seed is not None:
        start = parameters.integer(seed, "seed", low=0, high=2**128)
        return np.random.default_rng(start).integers(1, 2**BITS, size=(count, 4), dtype=np.uint32)
    keys = np.frombuffer(bytearray(secrets.token_bytes(16 * count)), dtype=np.uint32)
    while (zeros := np.flatnonzero(keys == 0)).size:
        keys[zeros] = np.frombuffer(secrets.token_bytes(4 * zeros.size), dtype=np.uint32)
    return keys.reshape(count, 4)


def _independent(keys: Keys, modulus: int) -> Keys:
    return keys


def _powers(keys: Keys, modulus: int) -> Keys:
    columns = [keys % np.uint64(modulus)]
    for _ in range(3):
        columns.append(columns[-1] * columns[0] % np.uint64(modulus))
    return np.stack(columns, axis=1)


def _bytes(keys: Keys, modulus: int) -> Keys:
    return np.stack([keys >> np.uint64(8 * j) & np.uint64(255) for j in range(4)], axis=1)


Choices = dict[str, Callable[[Keys, int], Keys]]

READINGS: Choices = {
    "independent": _independent,
    "powers": _powers,
    "bytes": _bytes,
}
"""What the superscript j of a record key can mean; "independent" is ours."""

REDUCTIONS: Choices = {
    "low": lambda keys, bits: keys & np.uint64(2**bits - 1),
    "high": lambda keys, bits: keys >> np.uint64(BITS - bits),
}
"""How a 32-bit key becomes one of ``bits`` bits; "low" is ours."""


def components(record_keys: ArrayLike, *, reading: str = "independent", modulus: int = BIG_N) -> Keys:
    """Rkey_i^j for j = 1, …, 4: an array of shape (records, 4).

    "independent" takes four keys a record as they are; "powers" and "bytes" derive four from one
    key and are for comparison only.

    >>> components([258], reading="bytes")
    array([[2, 1, 0, 0]], dtype=uint64)
    """
    derive = _chosen(READINGS, "reading", reading)
    divisor = parameters.integer(modulus, "modulus", low=2, high=2**BITS)
    keys = _whole(record_keys, "record_keys", low=1, high=2**BITS - 1)
    shape = "(records, 4)" if reading == "independent" else "(records,)"
    if not (keys.ndim == 2 and keys.shape[1] == 4 if reading == "independent" else keys.ndim == 1):
        raise parameters.wrong_value("record_keys", f"of shape {shape}", keys.shape)
    return derive(keys, divisor)


def cell_keys(
    record_keys: ArrayLike,
    cells: ArrayLike,
    *,
    keysize: int = 2**BITS,
    modulus: int = BIG_N,
    reading: str = "independent",
    reduction: str = "low",
) -> Keys:
    """The key of each cell 0, 1, …, where ``cells`` gives the cell of each record.

    An empty cell has key 0, so a lookup table always gives it −D: publish it by a rule of its own.

    Returns an array of integers in [0, KEYSIZE). Raises ValueError for a modulus that ruins the keys, and
    warns of one that may leave them more than ``HARMLESS`` from uniform.

    >>> keys = [[1, 2, 4, 8], [3, 3, 3, 3]]
    >>> cell_keys(keys, [0, 0]), cell_keys(keys, [1, 0])
    (array([13], dtype=uint64), array([ 0, 15], dtype=uint64))
    """
    parts = components(record_keys, reading=reading, modulus=modulus)
    labels = _whole(cells, "cells", low=0, high=10**7)
    if labels.shape != parts.shape[:1]:
        raise parameters.wrong_value("cells", f"one label a record ({len(parts)})", labels.shape)
    sums = np.zeros((int(labels.max()) + 1, 4), dtype=np.uint64)
    np.add.at(sums, labels, parts)  # no overflow: fewer than 2^32 keys below 2^32
    return from_sums(sums, keysize=keysize, modulus=modulus, reduction=reduction)


def from_sums(sums: Keys, *, keysize: int = 2**BITS, modulus: int = BIG_N, reduction: str = "low") -> Keys:
    """The keys of cells from the sums of the four components of their record keys, one row a cell.

    Returns an array of integers in [0, KEYSIZE). Raises ValueError for a modulus that ruins the keys, and
    warns of one that may leave them more than ``HARMLESS`` from uniform.

    >>> from_sums(np.array([[4, 5, 7, 11]], dtype=np.uint64))
    array([13], dtype=uint64)
    """
    reduce = _chosen(REDUCTIONS, "reduction", reduction)
    bits = _key_bits(keysize)
    _check_modulus(modulus, keysize, reduction)
    return reduce(np.bitwise_xor.reduce(sums % np.uint64(modulus), axis=1), bits)


def fold_bytes(keys: ArrayLike) -> Keys:
    """The XOR of the four bytes of 32-bit keys: the older way to KEYSIZE = 2^8 (Thompson et al.).

    It is distributed as the low byte is (Theorem 11).

    Returns an array of the shape of ``keys``.

    >>> fold_bytes([0x01020408])
    array([15], dtype=uint64)
    """
    whole = _whole(keys, "keys", low=0, high=2**BITS - 1)
    folded: Keys = np.bitwise_xor.reduce(_bytes(whole.reshape(-1), 0), axis=1)
    return folded.reshape(whole.shape)


def distance_from_uniform(
    *, keysize: int = 2**BITS, modulus: int = BIG_N, reduction: str = "low"
) -> Fraction:
    """The exact total variation distance of the cell key from uniform, for sums uniform mod bigN.

    With m_ℓ = min(r, 2^(ℓ+1) − r), r = N mod 2^(ℓ+1), P(key) depends on the key's bit length h alone:
    2^k·P − 1 = Σ_{ℓ≥h} 2^(k−1−ℓ)·(m_ℓ/N)⁴ − 2^(k−h)·(m_{h−1}/N)⁴. Folding k-bit pieces gives the
    same distance as taking the low k bits. Proof: Theorem 11 (by the Walsh transform).

    >>> float(distance_from_uniform())
    1.8367...e-36
    >>> float(distance_from_uniform(modulus=2**31 - 1))
    0.5
    >>> float(distance_from_uniform(modulus=2**31 - 1, keysize=2**16, reduction="high"))
    0.5
    """
    bits = _key_bits(keysize)
    divisor = parameters.integer(modulus, "modulus", low=2, high=2**BITS)
    _chosen(REDUCTIONS, "reduction", reduction)
    first = BITS - bits if reduction == "high" else 0
    spectrum: list[Fraction] = []
    for bit in range(first, first + bits):
        rest = divisor % 2 ** (bit + 1)
        spectrum.append(Fraction(min(rest, 2 ** (bit + 1) - rest), divisor) ** 4)
    tail: Fraction = sum((2 ** (bits - 1 - bit) * part for bit, part in enumerate(spectrum)), Fraction(0))
    distance: Fraction = tail
    for length in range(1, bits + 1):
        part = 2 ** (bits - length) * spectrum[length - 1]
        tail -= part
        distance += 2 ** (length - 1) * abs(tail - part)
    return distance / Fraction(2) ** (bits + 1)


def distance_bound(*, keysize: int = 2**BITS, modulus: int = BIG_N, reduction: str = "low") -> Fraction:
    """An upper bound on the distance from uniform that holds for every cell with a record in it.

    It is for four independent keys a record; the other readings have no such bound.

    It is (2t)⁴/2, where t is the distance of one record key modulo bigN from uniform plus that of the
    reduction. Proof: Theorem 12.

    >>> float(distance_bound())
    1.5424...e-34
    >>> float(distance_bound(modulus=3 * 2**30 + 1, keysize=2**8))  # for cells of one record
    0.00617...
    """
    bits = _key_bits(keysize)
    divisor = parameters.integer(modulus, "modulus", low=2, high=2**BITS)
    _chosen(REDUCTIONS, "reduction", reduction)
    times, more = divmod(2**BITS - 1, divisor)  # this many residues come up once more than the others
    distance: Fraction = more * (Fraction(times + 1, 2**BITS - 1) - Fraction(1, divisor))
    if reduction == "low":
        times, more = divmod(divisor, 2**bits)
        distance += more * (Fraction(times + 1, divisor) - Fraction(1, 2**bits))
    else:  # full buckets of leading bits, one that is partly filled, and empty ones
        full, part = divmod(divisor, 2 ** (BITS - bits))
        share = Fraction(1, 2**bits)
        distance += full * (Fraction(2 ** (BITS - bits), divisor) - share)
        distance += max(Fraction(part, divisor) - share, Fraction(0))
    return min(8 * distance**4, Fraction(1))


def measured_distance(keys: ArrayLike, *, keysize: int) -> float:
    """The total variation distance of observed keys from uniform.

    n uniform keys still measure about sqrt(KEYSIZE/(2πn)) when n is well above KEYSIZE.

    >>> measured_distance([0, 0, 1, 1], keysize=4)
    0.5
    """
    size = 2 ** _key_bits(keysize)
    whole = _whole(keys, "keys", low=0, high=size - 1)
    counts = np.unique(whole, return_counts=True)[1]
    return float(np.maximum(counts / whole.size - 1 / size, 0).sum())


def _check_modulus(modulus: int, keysize: int, reduction: str) -> None:
    distance = distance_bound(keysize=keysize, modulus=modulus, reduction=reduction)
    if distance > HARMLESS:
        sentence = (
            f"modulus {modulus} can leave the cell key {float(distance):.3g} from uniform on [0, {keysize}), "
            "which can add 1 + e^epsilon times that to delta"
        )
        if distance >= Fraction(1, 4):
            raise ValueError(f"{sentence}: modulus must be near 2^32, such as {BIG_N}")
        warnings.warn(sentence, UserWarning, stacklevel=3)


def _key_bits(keysize: Any) -> int:
    size = parameters.integer(keysize, "keysize", low=2, high=2**BITS)
    if size & (size - 1):
        raise parameters.wrong_value("keysize", "a power of 2 from 2 to 2^32", keysize)
    return size.bit_length() - 1


def _chosen(choices: Choices, name: str, value: Any) -> Callable[[Keys, int], Keys]:
    if not isinstance(value, str) or value not in choices:
        raise parameters.wrong_value(name, "one of " + ", ".join(choices), value)
    return choices[value]


def _whole(values: ArrayLike, name: str, *, low: int, high: int) -> Keys:
    """A non-empty array of integers in [low, high]."""
    array = parameters.integers(values, name, low=low, high=high)
    if not array.size:
        raise parameters.wrong_value(name, "a non-empty array", values)
    return array.astype(np.uint64)
