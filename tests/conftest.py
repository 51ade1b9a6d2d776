"""What tests share. Hypothesis draws the same examples in every run, so a red test is red for everyone."""

import fcntl
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import slow_tables
from hypothesis import settings

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


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The web site, built once for all processes that run tests."""
    from compendium import site  # here, as its import takes longer than most tests

    base = tmp_path_factory.getbasetemp()
    folder = base.parent if base.name.startswith("popen-") else base
    with (folder / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "site").exists():
            assert site.build(folder / "site") == []
    return folder / "site"
