"""The keys of any sets of people, of the three kinds, as the library makes them for the cells of a table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tablebuilder_dp.microdata import cell_keys, secret
from tablebuilder_dp.microdata.cell_keys import Keys

KEYSIZE = 2**32
EDITION, CONTENT = "1", b"study"
"""The edition of all cells, and what stands for the digests of input and weights."""


def keys(kind: str, sums: Keys, *, seed: int) -> Keys:
    """A key of [0, 2^32) for each row of sums of record keys; the secret follows from the seed.

    To keys of cells each row is another cell, to the other kinds rows with equal sums are one set of people.

    >>> sums = np.array([[1, 2, 4, 8], [1, 2, 4, 8]], dtype=np.uint64)
    >>> [len(set(keys(kind, sums, seed=1).tolist())) for kind in cell_keys.KINDS]
    [2, 1, 1]
    """
    chosen = cell_keys.kind(kind)
    if chosen == "sums":
        return cell_keys.of_sums(sums, KEYSIZE)
    hidden = secret.Secret(np.random.default_rng(seed).bytes(secret.LENGTH))
    names = pa.array(list(map(str, range(len(sums)))))
    if chosen == "cells":
        long = cell_keys.of_cells(hidden, names, edition=EDITION, digest=CONTENT, weights=CONTENT)
    else:
        long = cell_keys.of_records(hidden, sums, names, edition=EDITION, weights=CONTENT)
    return cell_keys.reduced(long, KEYSIZE)


def record_keys(draws: np.random.Generator, *shape: int) -> Keys:
    """Four keys of [1, 2^32) for each person, as the paper has them."""
    return draws.integers(1, KEYSIZE, size=(*shape, 4), dtype=np.uint64)
