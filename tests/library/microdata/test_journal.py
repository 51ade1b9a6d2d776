"""The journal has a line for everything that appears, before it appears, and keeps what it has."""

import errno
import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablebuilder_dp.microdata import secret
from tablebuilder_dp.microdata.account import Budget, Entry
from tablebuilder_dp.microdata.journal import Journal, beside
from tablebuilder_dp.noise import Geometric, Noise
from tablebuilder_dp.support import files

SECRET = secret.Secret(bytes(range(32)))
ENTRY = Entry(
    "2026",
    ((("age", "sex"), 6), ((), 1)),
    epsilon=Fraction(1, 10),
    noise=Geometric(9, "0.5"),
    distance=Fraction(1, 10**19),
    weights="ab",
    input="cd",
)
OTHERS = (
    Entry("2027", ((("sex",), 2),), Fraction(1), Noise(9, "0.1"), weights="x", input="e"),
    Entry(None, ((("sex",), 2),), why="Sums."),
    Entry('a "strange"\nedition \u00e9', ((("\u00e9\n",), 1),), why="Sums."),
)


@pytest.fixture
def book(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.jsonl", SECRET)


def test_entries_come_back_as_they_were(book: Journal) -> None:
    assert book.entries() == []
    for place, entry in enumerate((ENTRY, *OTHERS)):
        assert book.enter(entry) == [ENTRY, *OTHERS][: place + 1]
    assert book.entries() == [ENTRY, *OTHERS]
    assert book.path.stat().st_mode & 0o777 == 0o600
    before = book.path.read_bytes()
    assert book.enter(ENTRY) == [ENTRY, *OTHERS]  # what is there is not written again
    assert book.path.read_bytes() == before
    assert before.count(b"\n") == 4
    book.path.write_bytes(before[:-1])  # as some editors leave it
    assert book.entries() == [ENTRY, *OTHERS]
    other = Entry("2030", (((), 1),), why="x")
    assert book.enter(other) == [ENTRY, *OTHERS, other]
    assert book.path.read_bytes().startswith(before)
    assert len(book.entries()) == 5


@pytest.mark.parametrize("content", [b"my only password", b'{"entry": {}}\r{"entry": {}}\r', b"{}", b"\n"])
def test_a_file_that_is_no_journal_stays_as_it_is(book: Journal, content: bytes) -> None:
    book.path.write_bytes(content)
    book.path.chmod(0o600)
    for use in (book.entries, lambda: book.enter(ENTRY), lambda: book.check(ENTRY)):
        with pytest.raises(
            ValueError, match="journal must be as it was written with this secret, but line 1"
        ):
            use()
    assert book.path.read_bytes() == content


@pytest.mark.parametrize("rest", [b"", b"\0\0\0", b'{"en', b'{"entry": {"edition": "20\0\0'])
def test_what_a_crash_leaves_is_written_over(book: Journal, rest: bytes) -> None:
    book.enter(ENTRY)
    before = book.path.read_bytes()
    book.path.write_bytes(before + rest)
    assert book.entries() == [ENTRY]
    book.enter(ENTRY)
    assert book.path.read_bytes() == before


def test_a_budget_comes_back(book: Journal) -> None:
    budget = Budget(Fraction(3), Fraction(1, 10**5), "replace", "fixed")
    entry = Entry("1", (((), 1),), Fraction(1), Geometric(9, "0.5"), neighbours="replace", budget=budget)
    book.enter(entry)
    assert book.entries()[0].budget == budget


def test_every_changed_byte_is_found(book: Journal) -> None:
    for entry in (ENTRY, *OTHERS):
        book.enter(entry)
    whole = book.path.read_bytes()
    for place in range(len(whole) - 1):  # but for the last end of a line, which may be missing
        spoilt = bytearray(whole)
        spoilt[place] ^= 1
        book.path.write_bytes(spoilt)
        with pytest.raises(
            ValueError,
            match="journal must be as it was written with this secret, but line|secret must be the one that",
        ):
            book.entries()


def test_a_line_that_is_taken_out_is_found(book: Journal) -> None:
    for entry in (ENTRY, *OTHERS):
        book.enter(entry)
    lines = book.path.read_bytes().splitlines(keepends=True)
    for place in range(len(lines) - 1):
        book.path.write_bytes(b"".join(lines[:place] + lines[place + 1 :]))
        with pytest.raises(ValueError, match=f"but line {place + 1} of"):
            book.entries()
    book.path.write_bytes(b"".join([lines[1], lines[0]]))
    with pytest.raises(ValueError, match="but line 1 of"):
        book.entries()


def test_another_secret_is_found(book: Journal) -> None:
    book.enter(ENTRY)
    with pytest.raises(
        ValueError, match="^secret must be the one that wrote the journal .*, but it is another$"
    ):
        Journal(book.path, secret.Secret(bytes(32))).enter(OTHERS[0])


@given(st.integers(0, 400))
def test_a_line_that_was_never_whole_does_not_count(
    tmp_path_factory: pytest.TempPathFactory, size: int
) -> None:
    book = Journal(tmp_path_factory.mktemp("j") / "journal.jsonl", SECRET)
    book.enter(ENTRY)
    first = book.path.read_bytes()
    book.enter(OTHERS[0])
    whole = book.path.read_bytes()
    cut = whole[: len(first) + min(size, len(whole) - len(first) - 2)]
    book.path.write_bytes(cut)
    assert book.entries() == [ENTRY]
    assert book.enter(OTHERS[0]) == [ENTRY, OTHERS[0]]
    assert book.path.read_bytes() == whole


@pytest.mark.parametrize("fails", ["write", "fsync"])
def test_a_full_disk_leaves_the_journal_as_it_was(
    book: Journal, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    book.enter(ENTRY)
    before, real = book.path.read_bytes(), os.write
    asked = 0

    def full(descriptor: int, content: bytes = b"") -> int:
        nonlocal asked
        asked += 1
        if fails == "fsync" or asked > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, content[:10])  # some of it still fits

    with monkeypatch.context() as broken:
        broken.setattr(os, fails, full)
        with pytest.raises(OSError, match="No space left"):
            book.enter(OTHERS[0])
    assert asked >= 1
    assert book.path.read_bytes() == before
    assert book.enter(OTHERS[0]) == [ENTRY, OTHERS[0]]


def test_an_entry_lasts_before_anybody_is_told(book: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is on the disk, and so is the name of the file, when `enter` returns."""
    kept: list[Any] = []
    real = os.fsync

    def keep(descriptor: int) -> None:
        kept.append(os.fstat(descriptor))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", keep)
    book.enter(ENTRY)
    sizes = {one.st_ino: one.st_size for one in kept}
    assert sizes[book.path.stat().st_ino] == book.path.stat().st_size
    assert book.path.parent.stat().st_ino in sizes


def test_many_can_enter_at_once(book: Journal) -> None:
    entries = [Entry(str(place), (((), 1),), why="x") for place in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(book.enter, entries + entries))
    found = book.entries()
    assert sorted(entry.edition or "" for entry in found) == sorted(entry.edition or "" for entry in entries)


def test_a_journal_is_closed_to_others(book: Journal) -> None:
    book.enter(ENTRY)
    book.path.chmod(0o640)
    for use in (book.entries, lambda: book.enter(OTHERS[0]), lambda: book.check(OTHERS[0])):
        with pytest.raises(
            ValueError, match=r"journal must be closed to others \(chmod 600\), got .* mode 640"
        ):
            use()


def test_a_journal_is_an_ordinary_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("elsewhere")
    (tmp_path / "folder").mkdir()
    for name, what in (("link", "a symbolic link"), ("folder", "a folder")):
        with pytest.raises(
            ValueError, match=f"journal must be a new or an ordinary file, .* which is {what}"
        ):
            Journal(tmp_path / name, SECRET).check(ENTRY)
    with pytest.raises(ValueError, match="journal must be in a folder that exists"):
        Journal(tmp_path / "no" / "journal", SECRET).check(ENTRY)


def test_the_digest_of_an_input_is_neither_it_nor_that_of_its_keys(book: Journal) -> None:
    found = {book.digest(b"input"), book.digest(b"other")}
    found |= {Journal(book.path, secret.Secret(bytes(32))).digest(b"input"), b"input".hex()}
    assert len(found) == 4


def test_the_journal_lies_beside_the_secret(tmp_path: Path) -> None:
    assert beside(tmp_path / "key.bin") == tmp_path / "key.bin.journal.jsonl"
    (tmp_path / "link").symlink_to("key.bin")
    assert beside(tmp_path / "link") == tmp_path / "key.bin.journal.jsonl"


def test_a_journal_says_nothing_that_is_secret(book: Journal) -> None:
    book.enter(ENTRY)
    text = book.path.read_text("utf-8")
    assert bytes(range(32)).hex() not in text
    assert repr(book).count("Secret") == 0
    assert set(json.loads(text)["entry"]) == {
        *("edition", "partitions", "epsilon", "noise", "weights", "input", "neighbours"),
    }


def test_a_folder_appears_with_all_its_files(tmp_path: Path) -> None:
    target = tmp_path / "made"
    with suppress(KeyboardInterrupt), files.whole_folder(target) as temporary:
        (temporary / "a").write_text("a")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    with files.whole_folder(target) as temporary:
        (temporary / "a").write_text("a")
        assert not target.exists()
        files.settle(temporary, target)
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    with (
        pytest.raises(ValueError, match="folder must be a new one, got .* which has other content"),
        files.whole_folder(target) as temporary,
    ):
        (temporary / "a").write_text("b")
    with files.whole_folder(target) as temporary:
        (temporary / "a").write_text("b")
        with pytest.raises(ValueError, match="folder must be a new one, got .* which has other content"):
            files.settle(temporary, target)
        (temporary / "a").write_text("a")
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    assert (target / "a").read_text() == "a"


def test_a_folder_that_another_makes_at_the_last_moment_must_be_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, rename = tmp_path / "made", Path.rename

    def late(mine: Path, place: Path) -> Path:
        place.mkdir()
        (place / "a").write_text(theirs)
        return rename(mine, place)

    monkeypatch.setattr(Path, "rename", late)
    theirs = "a"
    with files.whole_folder(target) as temporary:
        (temporary / "a").write_text("a")
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    shutil.rmtree(target)
    theirs = "b"
    with (
        pytest.raises(ValueError, match="folder must be a new one, got .* which has other content"),
        files.whole_folder(target) as temporary,
    ):
        (temporary / "a").write_text("a")
    assert (target / "a").read_text() == "b"
