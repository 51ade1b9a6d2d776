"""The office's secret, and keyed hashes of texts under it, many at a time.

A hash is AES-CMAC (NIST SP 800-38B) under a key that HKDF derives from the secret for one purpose, so
that what is known of one use tells nothing of another. A text gets the same hash wherever and whenever
it is asked for, and without the secret nobody can tell the hashes from fresh random numbers.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from tablebuilder_dp.support import parameters
from tablebuilder_dp.support.files import SECRET_LENGTH

LENGTH = SECRET_LENGTH
_BLOCK = 16

Bytes = NDArray[np.uint8]


class Secret:
    """32 bytes that do not show when printed; any other number of them is a ValueError."""

    def __init__(self, content: bytes) -> None:
        if not isinstance(content, bytes) or len(content) != LENGTH:
            size = f"{len(content)} bytes" if isinstance(content, bytes) else type(content).__name__
            raise ValueError(f"secret must be {LENGTH} bytes, got {size}")
        self._content = content

    def key(self, purpose: str, *fields: bytes) -> bytes:
        """The AES-256 key for one purpose, and for some fields if there are any."""
        info = encoded(purpose.encode(), *fields) if fields else purpose.encode()
        return HKDF(SHA256(), LENGTH, salt=None, info=info).derive(self._content)

    @property
    def fingerprint(self) -> str:
        """What tells this secret from another and says nothing else about it."""
        return self.key("fingerprint")[:8].hex()


def encoded(*fields: bytes) -> bytes:
    """Fields one after the other, each behind its length in eight bytes: no two lists give the same bytes.

    >>> encoded(b"ab", b"") == (2).to_bytes(8) + b"ab" + (0).to_bytes(8)
    True
    """
    return b"".join(len(field).to_bytes(8) + field for field in fields)


def make(path: str | Path, *, seed: int | None = None) -> None:
    """Write a new secret that its owner alone may read; a file that exists is never replaced.

    It comes from the operating system's cryptographic source. A seed makes it repeatable, for examples
    and tests only: such a secret protects nobody.

    Raises ValueError where the file exists, and OSError where it cannot be written.
    """
    target = Path(path)
    if seed is None:
        content = secrets.token_bytes(LENGTH)
    else:
        content = np.random.default_rng(parameters.integer(seed, "seed", low=0, high=2**128)).bytes(LENGTH)
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise ValueError(
            f"secret file must not exist yet, as a new secret changes every key, got {str(target)!r}"
        ) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def read(path: str | Path) -> Secret:
    """Read a secret file: 32 bytes, and on POSIX systems closed to everybody but its owner.

    Raises ValueError for any other file, and OSError where it cannot be read.
    """
    target = Path(path)
    check_closed(target, "secret file")
    content = target.read_bytes()
    if len(content) != LENGTH:
        raise ValueError(
            f"secret file must hold {LENGTH} bytes, as tablebuilder-dp secret writes them, "
            f"got {str(target)!r} with {len(content)}"
        )
    return Secret(content)


def check_closed(path: Path, name: str) -> None:
    """Refuse a file that others may open, on POSIX systems.

    Raises ValueError where they may, and OSError where there is none.
    """
    mode = path.stat().st_mode & 0o777
    if os.name == "posix" and mode & 0o077:
        raise ValueError(f"{name} must be closed to others (chmod 600), got {str(path)!r} with mode {mode:o}")


def hashes(secret: Secret, purpose: str, texts: Any, *fields: bytes) -> NDArray[np.uint32]:
    """128 bits for each text of an Arrow array, as four 32-bit numbers.

    The key is that for the purpose and the fields. What it means for a promise that a cipher takes the place
    of random functions is Theorem 55.

    Returns an array of shape (texts, 4).

    >>> secret = Secret(bytes(32))
    >>> hashes(secret, "doctest", pa.array(["a", "b", "a"]))[:, 0]
    array([1954677277, 2810477821, 1954677277], dtype=uint32)
    """
    codes = cmac(secret.key(purpose, *fields), texts)
    return codes.view(">u4").astype(np.uint32)


def cmac(key: bytes, texts: Any) -> Bytes:
    """AES-CMAC of each text (or binary value) of an Arrow array without missing values: 16 bytes a row.

    All texts advance together, one block of 16 bytes at a time, so that the cipher is called once for
    each block of the longest text and not once for each text.
    """
    array = texts.cast(pa.large_binary())
    _, ends, content = array.buffers()
    offsets = np.frombuffer(ends, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    first, end = int(offsets[0]), int(offsets[-1])
    data = np.zeros(end - first + _BLOCK, dtype=np.uint8)  # with room for the last block
    if end > first:
        data[:-_BLOCK] = np.frombuffer(content, dtype=np.uint8)[first:end]
    starts, lengths = offsets[:-1] - first, np.diff(offsets)
    blocks = np.maximum(1, -(-lengths // _BLOCK))
    windows = np.lib.stride_tricks.sliding_window_view(data, _BLOCK)
    encrypt = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update  # noqa: S305 (inside CMAC)
    ending = _endings(encrypt(bytes(_BLOCK)))
    state = np.zeros((len(array), 2), dtype=np.uint64)
    for block in range(int(blocks.max(initial=0))):
        active: Any = slice(None) if (blocks > block).all() else np.flatnonzero(blocks > block)
        left = lengths[active] - block * _BLOCK
        mixed = windows[starts[active] + block * _BLOCK].view(np.uint64)
        mixed &= _KEPT[np.minimum(left, _BLOCK)]
        mixed ^= ending[np.clip(left, 0, _BLOCK + 1)]
        mixed ^= state[active]
        state[active] = np.frombuffer(
            encrypt(mixed.view(np.uint8).reshape(-1).data), dtype=np.uint64
        ).reshape(-1, 2)
    return state.view(np.uint8)


def _rows(rows: list[bytes]) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join(rows), dtype=np.uint64).reshape(-1, 2)


_KEPT = _rows([b"\xff" * size + bytes(_BLOCK - size) for size in range(_BLOCK + 1)])
"""By what is left of a text: the part of a block that belongs to it."""


def _endings(zero: bytes) -> NDArray[np.uint64]:
    """By what is left of a text, 0 to 16 bytes or more: what CMAC adds to its last block.

    A block that is not full gets the bit that ends the text and L·x² in GF(2^128), a full one L·x.
    """
    subkeys, value = [], int.from_bytes(zero)
    for _ in range(2):
        value = (value << 1) & (2**128 - 1) ^ (0x87 if value >> 127 else 0)
        subkeys.append(value)
    ended = [subkeys[1] ^ (0x80 << 8 * (_BLOCK - 1 - size)) for size in range(_BLOCK)]
    return _rows([ending.to_bytes(_BLOCK) for ending in (*ended, subkeys[0], 0)])
