"""Signals that end a run: what it has half written goes, and its exit code names the signal."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

AGAIN = 1.0
"""Seconds after a signal in which more of them change nothing, so that a run can clear up."""


class Stopped(KeyboardInterrupt):
    """An interrupt that knows the number of its signal."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def status(interrupt: KeyboardInterrupt) -> int:
    """The exit code as shells have it: 130 for SIGINT, 143 for SIGTERM.

    >>> status(Stopped(signal.SIGTERM)), status(KeyboardInterrupt())
    (143, 130)
    """
    return 128 + int(getattr(interrupt, "number", signal.SIGINT))


@contextmanager
def stoppable(*, final: bool = False) -> Iterator[Callable[[], None]]:
    """Let SIGINT and SIGTERM, unless they are ignored, raise `Stopped` wherever the run is.

    An interrupt that a library turns into an error of its own is an interrupt again. One that it swallows
    (an import may) is raised anew by the function that this gives. After a ``final`` run the process ends,
    and nothing disturbs the end of one that was stopped.

    Raises `Stopped` at a signal in the main thread; in any other thread signals are left as they are.
    """
    stopped: list[int] = []
    last = -math.inf

    def stop(number: int, _: Any) -> None:
        nonlocal last
        if time.monotonic() - last < AGAIN:
            return
        last = time.monotonic()
        stopped.append(number)
        check()

    def check() -> None:
        if stopped:
            raise Stopped(stopped[0])

    if threading.current_thread() is not threading.main_thread():
        yield check
        return

    heard = [
        number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) != signal.SIG_IGN
    ]
    before = {number: signal.signal(number, stop) for number in heard}
    try:
        yield check
    except Exception:
        check()
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if final and stopped else handler)
