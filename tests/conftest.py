"""What tests share. Hypothesis draws the same examples in every run, so a red test is red for everyone."""

import fcntl
import signal
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import coverage
import pytest
from hypothesis import settings
from support import slow_tables
from support.browser import chromium

__all__ = ["chromium"]  # a fixture of all tests

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("fixed")


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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Leave out the measurement of coverage where a test says so: it can take three times as long with it."""
    stopped: list[coverage.Coverage] = []
    while item.get_closest_marker("unmeasured") and (measuring := coverage.Coverage.current()):
        measuring.stop()  # in a process of xdist there are two, one waiting for the other
        stopped.append(measuring)
    try:
        return (yield)
    finally:
        for measuring in reversed(stopped):
            measuring.start()


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
