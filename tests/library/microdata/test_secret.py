"""The secret and keyed hashes under it."""

import os
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import slow_tables

from tablebuilder_dp.microdata import secret

KEY = bytes(range(32))
# RFC 4493 has AES-128-CMAC of 0, 16, 40 and 64 bytes of this text under this key.
RFC_KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
RFC_TEXT = bytes.fromhex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
RFC = {
    0: "bb1d6929e95937287fa37d129b756746",
    16: "070a16b46b4d4144f79bdd9dd04a287c",
    40: "dfa66747de9ae63030ca32611497c827",
    64: "51f0bebf7e3b9d92fc49741779363cfe",
}


def test_hashes_are_those_of_the_standard() -> None:
    found = secret.cmac(RFC_KEY, pa.array([RFC_TEXT[:size] for size in RFC], pa.binary()))
    assert [row.tobytes().hex() for row in found] == list(RFC.values())


@given(st.lists(st.text(max_size=70), max_size=20), st.integers(0, 5))
def test_many_at_once_are_each_alone(texts: list[str], skipped: int) -> None:
    hidden = secret.Secret(KEY)
    array = pa.array(texts, pa.string())[skipped:]
    found = secret.hashes(hidden, "a purpose", array)
    assert found.shape == (len(array), 4)
    for row, text in zip(found, texts[skipped:], strict=True):
        assert row.astype(">u4").tobytes() == slow_tables.keyed_hash(KEY, "a purpose", text)


def test_purposes_and_secrets_have_hashes_of_their_own() -> None:
    texts = pa.array(["1"])
    found = {
        tuple(secret.hashes(secret.Secret(key), purpose, texts)[0].tolist())
        for key in (KEY, bytes(32))
        for purpose in ("record keys", "empty cells")
    }
    assert len(found) == 4


def test_a_secret_is_random_closed_and_never_replaced(tmp_path: Path) -> None:
    path, other = tmp_path / "key.bin", tmp_path / "other.bin"
    old = os.umask(0)
    try:
        secret.make(path)
    finally:
        os.umask(old)
    secret.make(other)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    content = path.read_bytes()
    assert len(content) == 32
    assert content != other.read_bytes()
    with pytest.raises(ValueError, match="secret file must not exist yet"):
        secret.make(path)
    assert path.read_bytes() == content
    assert sorted(tmp_path.iterdir()) == [path, other]


def test_a_seed_makes_a_secret_again(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        secret.make(tmp_path / name, seed=seed)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() != (tmp_path / "c").read_bytes()


def test_a_secret_does_not_show() -> None:
    hidden = secret.Secret(KEY)
    assert KEY.hex() not in f"{hidden!r} {hidden} {vars(hidden).keys()}"
    assert repr(KEY)[2:10] not in repr(hidden)


def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.bin"
    secret.make(path)
    assert isinstance(secret.read(path), secret.Secret)
    path.chmod(0o640)
    with pytest.raises(ValueError, match=r"secret file must be closed to others \(chmod 600\).*mode 640"):
        secret.read(path)


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"x" * 33])
def test_a_file_that_is_no_secret_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key.bin"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(ValueError, match=f"secret file must hold 32 bytes, .* with {len(content)}"):
        secret.read(path)
    with pytest.raises(ValueError, match=f"secret must be 32 bytes, got {len(content)} bytes"):
        secret.Secret(content)
    with pytest.raises(ValueError, match="secret must be 32 bytes, got str"):
        secret.Secret("x" * 32)  # type: ignore[arg-type]


def test_a_failed_write_leaves_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(OSError, match="No space left"):
        secret.make(tmp_path / "key.bin")
    assert not list(tmp_path.iterdir())


def test_hashes_look_uniform() -> None:
    """Each of the 128 bits is set in about half of many hashes."""
    found = secret.hashes(secret.Secret(KEY), "p", pa.array(np.arange(4096)).cast(pa.string()))
    bits = np.unpackbits(found.astype(">u4").view(np.uint8), axis=1).sum(axis=0).astype(int)
    assert abs(bits - 2048).max() < 5 * 32
