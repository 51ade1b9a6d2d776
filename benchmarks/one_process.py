"""One work in a process of its own, for benchmarks/microdata.py: what it takes, as a line of JSON.

``ours FILE TABLE OUTPUT`` and ``theirs FILE TABLE OUTPUT`` perturb the keyed records of a Parquet file with
an ONS table and write the result; ``command …`` is ``tablebuilder-dp …``. Needs Linux.
"""

from __future__ import annotations

import importlib
import io
import json
import re
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

BY = ["region", "age", "sex", "occupation"]
KEY = "record_key_1"
IMPORTS = {
    "ours": ["tablebuilder_dp.microdata", "duckdb"],
    "theirs": ["cell_key_perturbation.create_perturbed_table", "pyarrow.parquet"],
    "command": ["tablebuilder_dp.cli"],
}


def peak() -> int:
    """The most memory this process has had, in bytes; ru_maxrss would count that of its parent too."""
    return 1024 * int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0])


def create(data: Any, ptable: Any, by: list[str] = BY) -> Any:
    """The rival's table of all counts, without what it prints."""
    from cell_key_perturbation.create_perturbed_table import create_perturbed_table

    with redirect_stdout(io.StringIO()):
        return create_perturbed_table(data, ptable, by[:1], by[1:], KEY, threshold=0)


def main(work: str, *arguments: str) -> None:
    """Do one work; ``start`` is the memory that its imports alone take."""
    for name in IMPORTS[work]:
        importlib.import_module(name)
    start, clock = peak(), time.perf_counter()
    if work == "command":
        from tablebuilder_dp.cli import main

        with redirect_stdout(io.StringIO()):
            status = main.main(arguments)
        seconds = time.perf_counter() - clock
        if status:
            sys.exit(status)
    elif work == "ours":
        from tablebuilder_dp import microdata
        from tablebuilder_dp.microdata import formats

        file, table, output = arguments
        protection, clock = microdata.from_table(table), time.perf_counter()
        made = microdata.perturb(file, by=BY, protection=protection, record_keys=[KEY], audit=True)
        seconds = time.perf_counter() - clock
        formats.write(made.table, output)
    else:
        import pandas as pd

        file, table, output = arguments
        ptable, clock = pd.read_csv(table), time.perf_counter()
        theirs = create(pd.read_parquet(file, columns=[*BY, KEY]), ptable)
        seconds = time.perf_counter() - clock
        theirs.to_parquet(output)
    print(json.dumps({"seconds": seconds, "start": start, "peak": peak()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
