"""What tests share. Hypothesis draws the same examples in every run, so a red test is red for everyone."""

import fcntl
import gc
import itertools
import signal
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import coverage
import pytest
from hypothesis import settings
from support import alterations, slow_tables
from support.browser import chromium

__all__ = ["chromium"]  # a fixture of all tests

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # as in compendium.run.execution
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("fixed")
MEASURED = 8
"""This many examples of a property are run with coverage: later ones seldom reach another line."""


@pytest.fixture(scope="session")
def secret_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a known secret."""
    path = tmp_path_factory.mktemp("secret") / "key.bin"
    path.write_bytes(slow_tables.SECRET)
    path.chmod(0o600)
    return path


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Interrupts as a terminal has them: what runs in the background of a script ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


PAGES, ENGINE = {"chromium", "built"}, {"spark", "log"}
"""Fixtures that take long to make: the site and its browser, and Java."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what takes long first, with Java in one of two processes and the browser in the other.

    xdist gives the first half of the tests to one process and the second to the other; who is done first
    takes over from the end of what the other has left, and that shall be short tests.
    """
    groups: dict[str, list[pytest.Item]] = {"engine": [], "long": [], "pages": [], "others": []}
    for item in items:
        used = set(getattr(item, "fixturenames", ()))
        alone = "long" if item.get_closest_marker("long") else "others"
        groups["pages" if used & PAGES else "engine" if used & ENGINE else alone].append(item)
    first = [*groups["engine"], *groups["long"]]
    room = max(0, len(items) // 2 - len(first))
    items[:] = [*first, *groups["others"][:room], *groups["pages"], *groups["others"][room:]]


def pytest_collection_finish() -> None:
    """Spare the search for garbage what stays to the end: modules and thousands of tests."""
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()


class Pause:
    """Coverage left out for the rest of a test: with it Python can take three times as long."""

    def __init__(self) -> None:
        self.stopped: list[coverage.Coverage] = []

    def begin(self) -> None:
        while measuring := coverage.Coverage.current():
            measuring.stop()  # in a process of xdist there are two, one waiting for the other
            self.stopped.append(measuring)

    def end(self) -> None:
        for measuring in reversed(self.stopped):
            measuring.start()


def after_some_examples(test: Callable[..., None], pause: Pause) -> Callable[..., None]:
    """A test of Hypothesis that begins a pause when it has been called a few times."""
    calls = itertools.count()

    @wraps(test)  # as which Hypothesis knows it and draws its examples
    def measured_at_first(*arguments: Any, **named: Any) -> None:
        if next(calls) == MEASURED:
            pause.begin()
        return test(*arguments, **named)

    return measured_at_first


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Measure coverage, but not where a test says so, nor beside a browser, nor in later examples."""
    pause, patch = Pause(), pytest.MonkeyPatch()
    drawn = getattr(getattr(item, "obj", None), "hypothesis", None)
    if item.get_closest_marker("unmeasured") or "chromium" in getattr(item, "fixturenames", ()):
        pause.begin()
    elif drawn:
        patch.setattr(drawn, "inner_test", after_some_examples(drawn.inner_test, pause))
    try:
        return (yield)
    finally:
        patch.undo()
        pause.end()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The web site, built once for all processes that run tests."""
    from compendium.site import build  # here, as its import takes longer than most tests

    base = tmp_path_factory.getbasetemp()
    folder = base.parent if base.name.startswith("popen-") else base
    with (folder / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "site").exists():
            assert build.build(folder / "site") == []
    return folder / "site"


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of its own for everything that the workshop writes."""
    monkeypatch.setenv("COMPENDIUM_OUTPUT", str(tmp_path))
    return tmp_path


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what became of the alterations of the prints, if any were tried: none may be unseen."""
    score: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", ()):
        score.update(dict(report.user_properties).get(alterations.SCORE, {}))
    if score:
        parts = ", ".join(f"{count} {fate}" for fate, count in score.most_common())
        terminalreporter.write_line(f"{alterations.SCORE}: {score.total()}: {parts}")
