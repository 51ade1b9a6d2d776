"""The key of a cell, from which its noise follows: three kinds, and what each is good for.

*cells*: a keyed hash of the edition, of the input's bytes, of the noise's weights and of what the cell is.
For any fixed records the keys of different cells are independent and uniform, so a whole table with its
margins can be promised an (ε, δ) (Theorem 54). The same cell has the same noise wherever it appears in an
edition; other records get fresh noise, so that no noise cancels if two answers are subtracted.

*records*: a keyed hash of the edition, of the weights and of the four sums of the cell's record keys, so that
equal sets of people have equal noise, whatever is asked for. Keys of different sets are independent, but two
cells one person apart give the person away, as in every scheme of this kind (Theorem 61).

*sums*: the paper's equations (36) and (37), and the single column of keys of other software: the keys of a
total and of its parts are tied to each other (Theorem 62). For experiments, and to make others' tables again.
"""

from __future__ import annotations

import hmac
import io
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from tablebuilder_dp import cellkey
from tablebuilder_dp.microdata import secret, sources
from tablebuilder_dp.microdata.cells import UNIT
from tablebuilder_dp.support import parameters

KINDS = ("cells", "records", "sums")
BITS = 64
"""The bits of a key of the first two kinds."""

_ROWS = 1 << 16

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

    An empty cell has a key from its description.

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


def of_decimals(fractions: Keys, keysize: int) -> Keys:
    """⌊key·KEYSIZE⌋ of keys in [0, 1), given in parts of `cells.UNIT`: exactly, in whole numbers.

    >>> of_decimals(np.array([25 * 10**13, 10**15 - 1], dtype=np.uint64), 100)
    array([25, 99], dtype=uint64)
    """
    return np.array([key * keysize // UNIT for key in fractions.tolist()], dtype=np.uint64)


def of_empty_cells(hidden: secret.Secret, descriptions: Any, keysize: int) -> Keys:
    """Beside `of_sums`: a cell without people has a key from its description."""
    hashed = secret.hashes(hidden, "empty cells", descriptions)
    if keysize <= 2**cellkey.BITS:
        return hashed[:, 0].astype(np.uint64) * np.uint64(keysize) >> np.uint64(cellkey.BITS)
    return np.array([key * keysize >> BITS for key in _first_64(hashed).tolist()], dtype=np.uint64)


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
    """A keyed digest of all bytes of the input, taken beside what is done meanwhile.

    Of files it is that of their bytes, in the order of their names; of a table in memory, of its Arrow bytes.
    It is the result of a future. Two inputs with one digest are as unlikely as Theorem 55 says. What is left
    to be read when the block ends with an error is not read.

    Raises ValueError for a place that only Spark can read, and where a file changes meanwhile.
    """
    stopped = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        paths = _paths(source)
        before = [path.stat() for path in paths]
        parts = _of_files(source, paths, stopped) if paths else _of_table(source)
        try:
            yield pool.submit(_digest, hidden, parts)
        finally:
            stopped.set()
    after = (path.stat() for path in paths)
    if any(
        (a.st_size, a.st_mtime_ns) != (b.st_size, b.st_mtime_ns) for a, b in zip(before, after, strict=True)
    ):
        raise ValueError("records must stay as they are while they are read, but a file was changed")


def _paths(source: Any) -> Sequence[Path]:
    if not sources.is_place(source):
        return ()
    if not sources.path(source).exists():
        allowed = "files that this machine can read, as keys of cells need their bytes"
        raise parameters.wrong_value("records", allowed, str(sources.origin(source)))
    return sources.files(source).paths


def _digest(hidden: secret.Secret, parts: Iterable[bytes | memoryview]) -> bytes:
    """HMAC-SHA256 of the AES-GMAC of all parts.

    GMAC, many times as fast as SHA-256, is a universal hash: two inputs collide with a probability of their
    blocks over 2^128. Its nonce may be constant, as nobody sees its tag, which goes into the HMAC.
    """
    tag = Cipher(algorithms.AES(hidden.key("input tag")), modes.GCM(bytes(12))).encryptor()
    for part in parts:
        tag.authenticate_additional_data(part)
    tag.finalize()
    return hmac.digest(hidden.key("input digest"), tag.tag, "sha256")


def _of_files(source: Any, paths: Sequence[Path], stopped: threading.Event) -> Iterator[bytes | memoryview]:
    """Each file's size in eight bytes, then its content; before them how it is read, if not as usual.

    The same bytes, read in another way, are other records: they must not share their noise.
    """
    dialect = sources.files(source).dialect
    if dialect is not None and not dialect.usual:
        yield repr(tuple(dialect)).encode()
    room = memoryview(bytearray(1 << 20))
    for path in paths:
        yield path.stat().st_size.to_bytes(8)
        with path.open("rb", buffering=0) as file:
            while (size := file.readinto(room)) and not stopped.is_set():
                yield room[:size]


def _of_table(source: Any) -> Iterator[bytes | memoryview]:
    """The Arrow stream of a table, batch by batch.

    Without what the software that made it says of itself, and whatever pieces and kinds of text it is in.
    """
    table = sources.arrow_table(source)
    table = pa.table([_plain(column) for column in table.columns], [field.name for field in table.schema])
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        for batch in table.to_batches(_ROWS):
            writer.write_batch(batch)
            yield stream.getvalue()
            stream.seek(0)
            stream.truncate()
    yield stream.getvalue()


def _plain(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece, texts of one kind."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_string(kind) or pa.types.is_string_view(kind):
        kind = pa.large_string()
    parts = [
        part.dictionary.cast(kind).take(part.indices)
        if isinstance(part, pa.DictionaryArray)
        else part.cast(kind)
        for part in column.chunks
    ]
    return pa.concat_arrays(parts or [pa.array([], kind)])
