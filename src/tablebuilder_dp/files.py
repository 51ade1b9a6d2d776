"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def _umask() -> int:
    """What the user wants to be closed to others; it can only be read by setting it."""
    found = os.umask(0o077)
    os.umask(found)
    return found


@contextmanager
def whole(path: Path, *, mode: int = 0o644) -> Iterator[Path]:
    """A temporary name beside ``path`` to write to; it takes the place of ``path`` at the end.

    If anything goes wrong before, an interrupt included, the temporary file is deleted and an older
    ``path`` stays as it was.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"output must be in a folder that exists, got {str(path)!r}")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:  # the name is known before the file is made, so no interrupt can leave one behind
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield temporary
        temporary.chmod(mode & ~_umask())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from None
        raise
