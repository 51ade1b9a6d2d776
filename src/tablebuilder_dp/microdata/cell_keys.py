"""The key of a cell, from which its noise follows: three kinds, and what each is good for.

*cells*: a keyed hash of the edition, of the input's bytes, of the noise's weights and of what the cell is.
For any fixed records the keys of different cells are independent and uniform, so a whole table with its
margins can be promised an (ε, δ) (Theorem 54). The same cell has the same noise wherever it appears in an
edition; other records get fresh noise, so that nothing can be subtracted.

*records*: a keyed hash of the edition, of the weights and of the four sums of the cell's record keys, so that
equal sets of people have equal noise, whatever is asked for. Keys of different sets are independent, but two
cells one person apart give the person away, as in every scheme of this kind (Theorem 61).

*sums*: the paper's equations (36) and (37), and the single column of keys of other software: the keys of a
total and of its parts are tied to each other (Theorem 62). For experiments, and to make others' tables again.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tablebuilder_dp import cellkey
from tablebuilder_dp.microdata import secret, sources
from tablebuilder_dp.support import parameters

KINDS = ("cells", "records", "sums")
BITS = 64
"""The bits of a key of the first two kinds."""

CIPHER = "AES-256-CMAC, under keys that HKDF-SHA256 derives from the secret"

Keys = NDArray[np.uint64]


def kind(value: Any) -> str:
    """Read the kind of keys, one of ``KINDS``; anything else is a ValueError."""
    if value not in KINDS:
        raise parameters.wrong_value("keys", "one of " + ", ".join(KINDS), value)
    return str(value)


def of_cells(
    hidden: secret.Secret, descriptions: Any, *, edition: str, digest: bytes, weights: bytes
) -> Keys:
    """64 bits for each description, from the edition and the digests of input and weights too.

    Edition and digests go into the key of the hash, in an encoding that no others share. For fixed records
    the keys are independent and uniform, as far as a cipher can be (Theorem 54).
    """
    return _first_64(secret.hashes(hidden, "cell keys", descriptions, edition.encode(), digest, weights))


def of_records(hidden: secret.Secret, sums: Keys, descriptions: Any, *, edition: str, weights: bytes) -> Keys:
    """64 bits for each set of people, from the four sums of their record keys.

    An empty cell has a key from what it is.

    A record key is never 0, so that the sums of an empty cell are those of no other. One cell is protected,
    two that are one person apart are not (Theorem 61).
    """
    people = pa.array(list(map(bytes, sums.astype(">u8"))), pa.binary())
    keys = _first_64(secret.hashes(hidden, "keys of sets", people, edition.encode(), weights))
    empty = ~sums.any(axis=1)
    described = secret.hashes(
        hidden, "empty cells", descriptions.filter(pa.array(empty)), edition.encode(), weights
    )
    keys[empty] = _first_64(described)
    return keys


def of_sums(sums: Keys, keysize: int) -> Keys:
    """The paper's XOR of four sums, or one column's sum modulo KEYSIZE as other software has it.

    One cell is protected; several are not, as their keys depend on each other (Theorem 62).
    """
    if sums.shape[1] == 1:
        return sums[:, 0] % np.uint64(keysize)
    return cellkey.from_sums(sums, keysize=keysize)


def of_empty_cells(hidden: secret.Secret, descriptions: Any, keysize: int) -> Keys:
    """Beside `of_sums`: a cell without people has a key from what it is."""
    hashed = secret.hashes(hidden, "empty cells", descriptions)
    return hashed[:, 0].astype(np.uint64) * np.uint64(keysize) >> np.uint64(cellkey.BITS)


def _first_64(words: NDArray[np.uint32]) -> Keys:
    keys: Keys = words[:, 0].astype(np.uint64) << np.uint64(32) | words[:, 1]
    return keys


def reduced(keys: Keys, keysize: int) -> Keys:
    """The leading bits of 64-bit keys: a key of [0, KEYSIZE), which must be a power of two.

    >>> reduced(np.array([2**63], dtype=np.uint64), 4)
    array([2], dtype=uint64)
    """
    bits = keysize.bit_length() - 1
    if keysize != 1 << bits:
        raise parameters.wrong_value("keysize", "a power of 2 for keys of cells or records", keysize)
    return keys >> np.uint64(BITS - bits) if bits else np.zeros_like(keys)


@contextmanager
def input_digest(hidden: secret.Secret, source: Any) -> Iterator[Future[bytes]]:
    """A keyed digest of all bytes of the input, taken beside what is done meanwhile: HMAC-SHA256.

    Of files it is that of their bytes, in the order of their names; of a table in memory, of its Arrow
    bytes. A future has it. Two inputs with one digest are as unlikely as Theorem 55 says. What is left to be
    read when the block ends with an error is not read.

    Raises ValueError for a place that only Spark can read, and where a file changes meanwhile.
    """
    code = hmac.new(hidden.key("input digest"), digestmod=hashlib.sha256)
    stopped = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        paths = _paths(source)
        before = [path.stat() for path in paths]
        read = _digest_files if paths else _digest_table
        try:
            yield pool.submit(read, code, paths or source, stopped)
        finally:
            stopped.set()
    after = (path.stat() for path in paths)
    if any(
        (a.st_size, a.st_mtime_ns) != (b.st_size, b.st_mtime_ns) for a, b in zip(before, after, strict=True)
    ):
        raise ValueError("records must stay as they are while they are read, but a file was changed")


def _paths(source: Any) -> Sequence[Path]:
    if not isinstance(source, str | Path):
        return ()
    path = Path(str(source).removeprefix("file:"))
    if not path.exists():
        allowed = "files that this machine can read, as keys of cells need their bytes"
        raise parameters.wrong_value("records", allowed, str(source))
    return sources.files(path).paths


def _digest_files(code: Any, paths: Sequence[Path], stopped: threading.Event) -> bytes:
    for path in paths:
        code.update(path.stat().st_size.to_bytes(8))
        with path.open("rb", buffering=0) as file:
            while (part := file.read(1 << 22)) and not stopped.is_set():
                code.update(part)
    return bytes(code.digest())


def _digest_table(code: Any, source: Any, _: threading.Event) -> bytes:
    table = sources.arrow_table(source)
    with pa.PythonFile(_Sink(code), mode="w") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(code.digest())


class _Sink(io.RawIOBase):
    """A file whose bytes go into a digest."""

    def __init__(self, code: Any) -> None:
        self._code = code

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self._code.update(part)
        return len(part)
