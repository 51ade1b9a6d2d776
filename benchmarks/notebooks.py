"""``make reproduce`` against merely starting as many kernels with the same imports: ``make bench``."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from compendium.run import execution, notebooks


def start_kernel(path: str) -> None:
    """Run a notebook that only imports."""
    import papermill

    papermill.execute_notebook(
        path,
        f"{path}.out.ipynb",
        kernel_name="python3",
        progress_bar=False,
        extra_arguments=["--IPKernelApp.log_level=50"],
    )


def imports_of(path: Path) -> str:
    """The import lines of a notebook, as one cell."""
    cells = [notebooks.source(cell) for cell in notebooks.read(path)["cells"] if cell["cell_type"] == "code"]
    return "\n".join(re.findall(r"^(?:from .*|import .*)$", "\n".join(cells), re.MULTILINE))


def start_kernels(folder: Path) -> float:
    """Seconds to start one kernel per notebook with that notebook's imports, in as many processes."""
    stubs = []
    for path in notebooks.paths():
        stub = notebooks.read(path)
        cell: dict[str, Any] = {
            "cell_type": "code",
            "id": "imports",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        stub["cells"] = [{**cell, "source": imports_of(path)}]
        stubs.append(str(folder / path.name))
        Path(stubs[-1]).write_text(json.dumps(stub))
    start = time.perf_counter()
    workers = min(len(stubs), os.cpu_count() or 1, 8)
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(start_kernel, stubs))
    return time.perf_counter() - start


def main() -> int:
    """Measure both in one run and print the ratio; 1 if it is above what is wanted."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COMPENDIUM_OUTPUT"] = folder
        starting = start_kernels(Path(folder))
        start = time.perf_counter()
        problems = [
            outcome
            for outcome in execution.run_all({path.stem: {} for path in notebooks.paths()})
            if outcome.problem
        ]
        running = time.perf_counter() - start
    if problems:
        raise AssertionError(problems)
    verdict = "met" if running <= 2 * starting else "MISSED"
    print(
        f"\nall notebooks: {running:.1f} s, starting as many kernels with the same imports: {starting:.1f} s"
    )
    print(f"ratio {running / starting:.2f}   wanted: at most 2 ({verdict})")
    return 0 if running <= 2 * starting else 1


if __name__ == "__main__":
    raise SystemExit(main())
