"""Publish a release and die at every step on the way, or run out of room at every size.

Run as a program with a folder that holds ``release.toml`` and its files. Each try is a fork of this process,
so that everything is imported, and the noise designed, before the first. In one half of the tries the process
ends, as if it was killed, just before its n-th use of a file of the folder; in the other no file can grow
beyond n bytes. What is found afterwards is printed as JSON, a line a try: the exit code, how many lines the
journal has, and the files of the published folder by their SHA-256, if it is there.
"""

import hashlib
import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from tablebuilder_dp import microdata

KILLED = 77


def die_at(number: int, folder: str) -> Callable[[], None]:
    """End the process before its n-th use of a file in the folder."""

    def install() -> None:
        left = number

        def watch(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal left
            if not event.startswith(("open", "os.", "shutil.")):
                return
            if any(str(argument).startswith(folder) for argument in arguments):
                left -= 1
                if left < 0:
                    os._exit(KILLED)

        sys.addaudithook(watch)

    return install


def no_room_beyond(size: int) -> Callable[[], None]:
    """Let no file grow beyond a number of bytes."""

    def install() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return install


def tried(folder: Path, trouble: Callable[[], None]) -> int:
    """The exit code of a publication in a process of its own: 1 if it was refused."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    trouble()
    try:
        microdata.Release.from_toml(folder / "release.toml").publish()
    except (OSError, ValueError):
        os._exit(1)
    os._exit(0)


def state(folder: Path) -> dict[str, Any]:
    release = microdata.Release.from_toml(folder / "release.toml")
    published = folder / "release-2026"
    left = [path.name for path in folder.iterdir() if path.name.endswith(".part")]
    return {
        "entries": len(release.history().entries),
        "left": len(left),
        "files": {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(published.iterdir())
        }
        if published.exists()
        else None,
    }


def cleared(folder: Path) -> None:
    """As it was before anything was published."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
    (folder / "key.bin.journal.jsonl").unlink(missing_ok=True)


def tries(folder: Path) -> Iterator[dict[str, Any]]:
    for number in count():
        cleared(folder)
        code = tried(folder, die_at(number, str(folder)))
        yield {"trouble": "killed", "at": number, "code": code, **state(folder)}
        again = tried(folder, lambda: None)  # whoever comes after finds nothing in the way
        yield {"trouble": "again", "at": number, "code": again, **state(folder)}
        if code == 0:
            break
    for size in range(0, 12_000, 400):
        cleared(folder)
        code = tried(folder, no_room_beyond(size))
        yield {"trouble": "no room", "at": size, "code": code, **state(folder)}
        if code == 0:
            break


if __name__ == "__main__":
    office = Path(sys.argv[1])
    made = microdata.Release.from_toml(office / "release.toml").plan().choice  # kept for all tries
    microdata.Release.plan = lambda self: microdata.Plan(self, made)  # type: ignore[method-assign]
    for line in tries(office):
        print(json.dumps(line), flush=True)
