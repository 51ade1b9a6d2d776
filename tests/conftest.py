"""Hypothesis draws the same examples in every run, so a red test is red for everyone."""

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
