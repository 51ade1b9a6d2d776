"""What tests of the workshop share."""

import sys
from typing import Any

import pytest
from matplotlib.figure import Figure


@pytest.fixture(autouse=True)
def unmeasured_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write SVG without coverage, which doubles the time: PNG beside it runs the same lines of ours."""
    save = Figure.savefig

    def saved(*arguments: Any, **options: Any) -> None:
        measuring = sys.gettrace()
        sys.settrace(None if options["format"] == "svg" else measuring)
        try:
            save(*arguments, **options)
        finally:
            sys.settrace(measuring)

    monkeypatch.setattr(Figure, "savefig", saved)
