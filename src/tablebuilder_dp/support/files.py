"""Files are written whole or not at all, and take the place of ordinary files only."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECRET_LENGTH = 32
"""The bytes of a secret: a file of this many that are not text is taken for one."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


ADDRESS = re.compile(r"(?!file:)((?:[A-Za-z][A-Za-z0-9+.-]+:)+)/")
"""How an address begins that is no file of this machine."""


def check_local(place: Any, name: str) -> None:
    """Refuse an address such as s3://…; only its beginning is told, as the rest may have a password.

    Raises ValueError for one.
    """
    if address := ADDRESS.match(str(place)):
        raise ValueError(f"{name} must be a file of this machine, got an address, {address[1]}//…")


def inputs(*given: Any) -> tuple[Path, ...]:
    """The paths among the things given, made absolute: they stay right when the current folder changes."""
    paths = (str(value).removeprefix("file:") for value in given if isinstance(value, str | Path))
    return tuple(Path(path).resolve() for path in paths)


def check(path: Path, inputs: Iterable[Path] = (), *, name: str = "output") -> os.stat_result | None:
    """What is known of the file that a new one is to replace, if there is one; all else is refused.

    That is whatever is no ordinary file, a secret, one of the inputs under any name, and a place in a folder
    that is an input.

    Returns the `os.stat_result` of that file, or None where there is none. Raises ValueError for what is
    refused, and OSError where the system does not say what is there.
    """
    older = _older(path, name)
    if older and not stat.S_ISREG(older.st_mode):
        kind = _KINDS.get(stat.S_IFMT(older.st_mode), "a device")
        raise _refused(name, "a new or an ordinary file", path, f", which is {kind}")
    for source in filter(Path.exists, inputs):
        _check_outside(path, source, name)
        read = source.iterdir() if source.is_dir() else [source]
        if older and any(os.path.samestat(older, file.stat()) for file in read if file.exists()):
            raise _refused(name, "a file that is not read", path)
    if older and older.st_size == SECRET_LENGTH:
        try:
            path.read_bytes().decode()
        except UnicodeDecodeError:
            raise _refused(name, "a new or an ordinary file", path, ", which is a secret") from None
    return older


def _older(path: Path, name: str) -> os.stat_result | None:
    """What has the name of a new file or folder already; the folder around it must take one."""
    if not path.parent.is_dir():
        raise _refused(name, "in a folder that exists", path)
    if not os.access(path.parent, os.W_OK):
        raise _refused(name, "in a folder that can be written to", path)
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def _check_outside(path: Path, source: Path, name: str) -> None:
    folder = path.parent.resolve()
    if source.is_dir() and any(map(source.samefile, (folder, *folder.parents))):
        raise _refused(name, "outside the folder that is read", path)


def _refused(name: str, allowed: str, path: Path, what: str = "") -> ValueError:
    return ValueError(f"{name} must be {allowed}, got {str(path)!r}{what}")


@contextmanager
def whole(path: Path, *, mode: int = 0o644, inputs: Iterable[Path] = ()) -> Iterator[Path]:
    """A temporary name beside ``path`` to write to; it takes the place of ``path`` at the end.

    If anything goes wrong before, an interrupt included, the temporary file is deleted and an older
    ``path`` stays as it was. What `check` refuses is never replaced, and what the older file's mode keeps
    from others the new one's does too.

    Raises ValueError for what `check` refuses, and OSError, with the name of ``path``, where there is no room
    for the file.
    """
    older = check(path, inputs)
    kept = older.st_mode | 0o600 if older else 0o777
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:  # the name is known before the file is made, so no interrupt can leave one behind
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode & kept))
        yield temporary
        if older := check(path, inputs):
            temporary.chmod(stat.S_IMODE(temporary.stat().st_mode) & older.st_mode)
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        _name_if_full(error, path)
        raise


def _name_if_full(error: BaseException, path: Path) -> None:
    """Name the file for which there is no room, where the system does not."""
    if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None


def check_folder(path: Path, names: Iterable[str], inputs: Iterable[Path] = (), *, name: str) -> None:
    """Refuse a place for a new folder with files of these names, so that no work is lost at its end.

    A folder that is there must have just these files: `settle` compares them. Nothing is ever replaced.

    Raises ValueError for what is refused, and OSError where the system does not say what is there.
    """
    older = _older(path, name)
    for source in filter(Path.exists, inputs):
        _check_outside(path / "file" if older else path, source, name)
    if older is None:
        return
    if not stat.S_ISDIR(older.st_mode):
        kind = _KINDS.get(stat.S_IFMT(older.st_mode), "a file")
        raise _refused(name, "a new folder", path, f", which is {kind}")
    if {file.name for file in path.iterdir()} not in (set(), set(names)):
        raise _refused(name, "a new folder", path, ", which has other files in it")


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside ``path``; it takes the name ``path`` at the end, with all files or none.

    If anything goes wrong before, an interrupt included, it is deleted. A folder that has the name already
    stays as it is, and must have the same files.

    Raises ValueError where it has not, and OSError, with the name of ``path``, where there is no room.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        temporary.mkdir()
        yield temporary
        try:
            temporary.rename(path)  # takes the place of nothing or of an empty folder
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            _check_same(temporary, path)  # that was there, perhaps since a moment
        keep(path.parent)
    except BaseException as error:
        _name_if_full(error, path)
        raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def settle(temporary: Path, path: Path) -> None:
    """Put the files of a `whole_folder` on the disk for good; a folder of its name must have the same.

    Raises ValueError where that one differs, and OSError where there is no room.
    """
    for file in (*temporary.iterdir(), temporary):
        keep(file)
    if path.is_dir() and any(path.iterdir()):
        _check_same(temporary, path)


def _check_same(temporary: Path, path: Path) -> None:
    if _content(path) != _content(temporary):
        raise _refused("folder", "a new one", path, ", which has other content")


def _content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def keep(path: Path) -> None:
    """Wait until a file, or the names in a folder, would survive the end of the power.

    Raises OSError where the disk does not take it.
    """
    if os.name != "posix" and path.is_dir():
        return  # other systems cannot open one
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
