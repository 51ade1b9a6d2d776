"""A pytest plugin that makes nbval strict: ``pytest -p support.nbval_guards --nbval notebooks``.

By itself nbval compares no pictures and silently passes cells that were never executed.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from nbval.plugin import IPyNbFile

# Notebooks that are run as tests leave the committed results alone.
os.environ.setdefault("COMPENDIUM_OUTPUT", str(Path(__file__).resolve().parents[2] / "build" / "nbval"))


LONGEST = ("10-verdict", "test_claims", "17-explorer", "11-best-gamma", "14-many-queries")
"""Files that take longest, and so start first: at the end no process shall wait for another."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))


def pytest_collectstart(collector: Any) -> None:
    if not isinstance(collector, IPyNbFile):
        return
    collector.skip_compare = tuple(kind for kind in collector.skip_compare if kind != "image/png")
    collect = collector.collect

    def collect_executed() -> Iterable[Any]:
        cells = json.loads(collector.path.read_text(encoding="utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]
        if [cell["execution_count"] for cell in code] != list(range(1, len(code) + 1)):
            raise collector.CollectError(f"{collector.path.name} was not executed from top to bottom")
        return list(collect())

    collector.collect = collect_executed
