"""Signals that end a run: which are heard, how often, and what is left of it afterwards."""

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tablebuilder_dp.support import stopping

BOTH = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    before = {one: signal.getsignal(one) for one in BOTH}
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for one, handler in before.items():
        signal.signal(one, handler)


def stopped_by(*numbers: int, **options: Any) -> int:
    """The exit code of a run that gets signals, and goes on as if none had come."""
    try:
        with stopping.stoppable(**options) as check:
            for number in numbers:
                try:
                    signal.raise_signal(number)
                except KeyboardInterrupt:
                    continue
            check()
    except KeyboardInterrupt as interrupt:
        return stopping.status(interrupt)
    return 0


@pytest.mark.usefixtures("interrupts")
def test_the_exit_code_names_the_first_signal() -> None:
    handlers = list(map(signal.getsignal, BOTH))
    assert stopped_by() == 0
    assert stopped_by(signal.SIGINT) == 130
    assert stopped_by(signal.SIGTERM) == 143
    assert stopped_by(signal.SIGTERM, signal.SIGINT) == 143
    assert list(map(signal.getsignal, BOTH)) == handlers


@pytest.mark.parametrize("number", BOTH)
def test_what_is_ignored_stays_so(number: int) -> None:
    signal.signal(number, signal.SIG_IGN)
    assert stopped_by(number) == 0
    other = next(one for one in BOTH if one != number)
    if signal.getsignal(other) != signal.SIG_IGN:
        assert stopped_by(number, other) == 128 + other
    assert signal.getsignal(number) == signal.SIG_IGN


def test_more_signals_do_not_disturb_what_is_cleared_up(monkeypatch: pytest.MonkeyPatch) -> None:
    for wait, wanted in ((1000.0, 1), (0.0, 3)):
        monkeypatch.setattr(stopping, "AGAIN", wait)
        heard = 0
        with stopping.stoppable():
            for _ in range(3):
                try:
                    os.kill(os.getpid(), signal.SIGTERM)
                except KeyboardInterrupt:
                    heard += 1
        assert heard == wanted


def test_nothing_disturbs_the_end_of_a_process_that_was_stopped() -> None:
    assert stopped_by(final=True) == 0
    assert signal.getsignal(signal.SIGTERM) != signal.SIG_IGN
    assert stopped_by(signal.SIGTERM, final=True) == 143
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN


def test_other_threads_leave_signals_alone() -> None:
    found: list[Any] = []

    def run() -> None:
        with stopping.stoppable() as check:
            check()
            found.append(signal.getsignal(signal.SIGTERM))

    before = signal.getsignal(signal.SIGTERM)
    (thread := threading.Thread(target=run)).start()
    thread.join()
    assert found == [before]
