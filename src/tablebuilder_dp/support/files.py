"""Files are written whole or not at all, and take the place of ordinary files only."""

from __future__ import annotations

import errno
import os
import secrets
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
    if not path.parent.is_dir():
        raise _refused(name, "in a folder that exists", path)
    if not os.access(path.parent, os.W_OK):
        raise _refused(name, "in a folder that can be written to", path)
    try:
        older = path.lstat()
    except FileNotFoundError:
        older = None
    if older and not stat.S_ISREG(older.st_mode):
        kind = _KINDS.get(stat.S_IFMT(older.st_mode), "a device")
        raise _refused(name, "a new or an ordinary file", path, f", which is {kind}")
    folder = path.parent.resolve()
    for source in filter(Path.exists, inputs):
        if source.is_dir() and any(map(source.samefile, (folder, *folder.parents))):
            raise _refused(name, "outside the folder that is read", path)
        read = source.iterdir() if source.is_dir() else [source]
        if older and any(os.path.samestat(older, file.stat()) for file in read if file.exists()):
            raise _refused(name, "a file that is not read", path)
    if older and older.st_size == SECRET_LENGTH:
        try:
            path.read_bytes().decode()
        except UnicodeDecodeError:
            raise _refused(name, "a new or an ordinary file", path, ", which is a secret") from None
    return older


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
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from None
        raise
