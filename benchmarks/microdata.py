"""From keyed records to a perturbed table, against cell-key-perturbation of the ONS: ``make bench``.

``python -m benchmarks.microdata --records 1e6`` leaves out all that has more records; the whole of it
makes 10^8 and takes a while, in a ``--folder`` that has room for them.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
from benchmarks import one_process
from benchmarks.one_process import BY, KEY
from benchmarks.run import Row, best, faster, seconds, show
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.cmac import CMAC

from tablebuilder_dp import microdata
from tablebuilder_dp.microdata import census, record_keys, secret

RIVAL = "cell-key-perturbation"
MILLION = 10**6
AUSTRALIA = 25 * MILLION
LIMIT = 2 * 2**30
SPILL = "1GB"
"""What DuckDB may keep in memory. Python, Arrow and the engine's own needs come on top: some 300 MB."""

most_disk = 0


def in_process(folder: Path, *arguments: str | Path, limit: int | None = None) -> dict[str, Any] | None:
    """What a work takes in a fresh process, or None if it fails.

    The limit is on the data that the process may ask for, RLIMIT_DATA: it is hard, as the kernel refuses
    more, and counts all but files that are mapped to be read, which RLIMIT_AS counts too although they
    need no memory. Arrow then uses the system's allocator, since its own reserves 1 GiB at once.
    """
    global most_disk
    environment = {**os.environ, "TMPDIR": str(folder)}
    if limit is not None:
        environment["ARROW_DEFAULT_MEMORY_POOL"] = "system"

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (limit or -1, limit or -1))

    process = subprocess.Popen(  # noqa: S603 (our own file)
        [sys.executable, one_process.__file__, *map(str, arguments)],
        stdout=subprocess.PIPE,
        env=environment,
        preexec_fn=limited if limit else None,
    )
    while process.poll() is None:
        most_disk = max(most_disk, sum(sizes(folder)))
        time.sleep(0.05)
    found: dict[str, Any] | None = None if process.returncode else json.loads(process.communicate()[0])
    return found


def sizes(folder: Path) -> Iterator[int]:
    """The sizes of all files, some of which may vanish meanwhile."""
    for path in folder.rglob("*"):
        try:
            yield path.stat().st_blocks * 512
        except FileNotFoundError:
            continue


def less(work: str, rival: str, ours: int, theirs: int, wanted: bool = True) -> Row:
    """A row that compares two sizes of memory."""
    first, second = (f"{size / 2**20:.0f} MiB" for size in (ours, theirs))
    met = theirs >= ours if wanted else None
    return Row(work, rival, first, second, theirs / ours, "at least 1" if wanted else "shown", met)


def agree(made: Any, theirs: Any) -> None:
    """Refuse results that differ; where a category is missing theirs lose the cell key, so those may."""
    columns = (["true_count", "cell_key", "noise", "count"], ["pre_sdc_count", "ckey", "pvalue", "count"])
    found = []
    for table, measures in zip((made, theirs), columns, strict=True):
        rows = zip(*(table.column(name).to_pylist() for name in BY + measures), strict=True)
        found.append(sorted(row for row in rows if row[len(BY)] and None not in row))
    if found[0] != found[1] or not found[0]:
        raise AssertionError(f"{RIVAL} and microdata.perturb disagree")


def ons_table(folder: Path) -> Path:
    """A random table for counts 1 to 750 and 256 keys, never below 0."""
    counts, keys = (one.reshape(-1) for one in np.mgrid[1:751, 0:256])
    noise = np.maximum(np.random.default_rng(1).integers(-5, 6, counts.size), -counts)
    path = folder / "table.csv"
    pd.DataFrame({"pcv": counts, "ckey": keys, "pvalue": noise}).to_csv(path, index=False)
    return path


def integers() -> Any:
    """Records with 50 × 20 × 2 × 10 categories, all numbers, and one key of 0 to 255."""
    draw = np.random.default_rng(2).integers
    columns = {name: draw(0, n, MILLION) for name, n in zip(BY, (50, 20, 2, 10), strict=True)}
    return pa.table({**columns, KEY: draw(0, 256, MILLION)})


def texts(hidden: secret.Secret) -> Any:
    """People of the made-up census without missing values, as plain text, with four keys."""
    table = pa.Table.from_batches(census.batches(MILLION * 11 // 10)).drop_null().slice(0, MILLION)
    for place, name in enumerate(BY, 2):
        table = table.set_column(place, name, table.column(name).cast(pa.string()))
    made = record_keys.of_ids(table["person_id"].combine_chunks(), hidden)
    for name, column in zip(record_keys.KEYS, made, strict=True):
        table = table.append_column(name, column)
    return table


def a_million(folder: Path, hidden: secret.Secret) -> list[Row]:
    """10^6 records to a table of 20,000 cells: the same keys, the same noise, the same result."""
    csv = ons_table(folder)
    ptable, protection = pd.read_csv(csv), microdata.from_table(csv)

    def ours(source: Any, **options: Any) -> Any:
        return microdata.perturb(source, by=BY, protection=protection, record_keys=[KEY], **options).table

    def compared(path: Path, table: Any) -> tuple[list[float], list[float]]:
        pyarrow.parquet.write_table(table, path, row_group_size=census.CHUNK)
        frame = table.to_pandas()
        agree(ours(table, audit=True), pa.table(one_process.create(frame, ptable)))
        return best(lambda: ours(table), lambda: one_process.create(frame, ptable), rounds=20), best(
            lambda: ours(path),
            lambda: one_process.create(pd.read_parquet(path, columns=[*BY, KEY]), ptable),
            rounds=20,
        )

    numbers, words = folder / "numbers.parquet", folder / "words.parquet"
    held, stored = compared(numbers, integers())
    held_words, stored_words = compared(words, texts(hidden))
    design = microdata.design_per_cell("0.5", "1e-4", small_counts="rows")
    [margins] = best(
        lambda: microdata.perturb(words, by=BY, protection=design, keys="sums", margins=True), rounds=5
    )
    work = "10^6 records"
    return [
        faster(f"{work}, numbers, in memory", RIVAL, held, 5),
        faster(f"{work}, numbers, Parquet", RIVAL, stored, None),
        faster(f"{work}, text, in memory", RIVAL, held_words, None),
        faster(f"{work}, text, Parquet", RIVAL, stored_words, None),
        faster("… with four keys and margins", f"{RIVAL}, without", [margins, stored_words[1]], None),
        *both(folder, numbers, csv, f"{work}, numbers", wanted=True)[1:],
        *both(folder, words, csv, f"{work}, text", wanted=True)[1:],
    ]


def both(folder: Path, file: Path, csv: Path, work: str, *, wanted: bool) -> list[Row]:
    """Time and memory of both on a Parquet file, each in a process of its own; the results must agree."""
    outputs = [folder / "ours.parquet", folder / "theirs.parquet"]
    least = []
    for path in outputs:
        runs = [run for _ in range(2) if (run := in_process(folder, path.stem, file, csv, path))]
        least.append({name: min(run[name] for run in runs) for name in ("seconds", "start", "peak") if runs})
    ours, theirs = least
    if not theirs:
        return [Row(work, f"{RIVAL} FAILED", seconds(ours["seconds"]), "", math.inf, "shown", None)]
    agree(*map(pyarrow.parquet.read_table, outputs))
    above = [one["peak"] - one["start"] for one in least]
    return [
        faster(work, RIVAL, [ours["seconds"], theirs["seconds"]], None),
        less(f"{work}: peak memory", RIVAL, ours["peak"], theirs["peak"], wanted),
        less(f"{work}: … above imports", RIVAL, above[0], above[1], wanted),
    ]


def australia(folder: Path, key_file: Path) -> list[Row]:
    """A census of Australia, 25·10^6 records in a Parquet file, each side in a process of its own."""
    people, keyed = folder / "people.parquet", folder / "keyed.parquet"
    microdata.write_census(people, records=AUSTRALIA)
    microdata.add_keys(people, keyed, id="person_id", secret_file=key_file)
    rows = whole_table(people, keyed, key_file, pd.read_csv(folder / "table.csv"))
    people.unlink()
    rows += both(folder, keyed, folder / "table.csv", "25·10^6 records", wanted=False)
    keyed.unlink()
    return rows


def whole_table(people: Path, keyed: Path, key_file: Path, ptable: Any) -> list[Row]:
    """A table of three variables with margins and a promise, against the bare query and against the rival."""
    by, lists = BY[:3], json.loads(microdata.write_categories(people).read_text("utf-8"))
    design = microdata.design(1, "1e-6", cells=microdata.Layout(by, margins=True).cells_changed())
    options = {"protection": design, "secret_file": key_file, "edition": "2026", "categories": lists}
    columns = ", ".join(by)
    cube = f"SELECT {columns}, COUNT(*) FROM '{people}' GROUP BY CUBE ({columns})"  # noqa: S608 (our own)
    times = best(
        lambda: microdata.perturb(people, by=by, margins=True, **options),
        lambda: duckdb.execute(cube).fetchall(),
        rounds=5,
    )
    rival = best(lambda: one_process.create(pd.read_parquet(keyed, columns=[*by, KEY]), ptable, by), rounds=1)
    work = "25·10^6 records, 3 variables and margins"
    return [
        faster(work, "the bare CUBE of DuckDB", times, 2 / 3),
        faster(work, f"{RIVAL}, without margins", [times[0], *rival], 5),
    ]


def variables(sizes: list[int], records: int, path: Path) -> dict[str, list[int]]:
    """Records of as many variables, each with its number of categories, in a Parquet file; their lists."""
    drawn = ", ".join(f"hash(i * 16 + {place}) % {size} AS v{place}" for place, size in enumerate(sizes))
    made = f"SELECT {drawn} FROM range({records}) AS r(i)"  # noqa: S608 (our own)
    duckdb.execute(f"COPY ({made}) TO '{path}' (FORMAT parquet)")
    return {f"v{place}": list(range(size)) for place, size in enumerate(sizes)}


def released(people: Path, lists: dict[str, Any], tables: list[list[str]], key_file: Path) -> list[float]:
    """The seconds of publishing tables with all margins, and of the bare query with their grouping sets."""
    text = "edition = '2026'\n[privacy]\nepsilon = 1\ndelta = 1e-6\n"
    for name in dict.fromkeys(name for by in tables for name in by):
        listed = [category for category in lists[name] if category is not None]
        missing = str(None in lists[name]).lower()
        text += f"[variables.{name}]\ncategories = {json.dumps(listed)}\nmissing = {missing}\n"
    text += "".join(f"[[table]]\nname = '{'-'.join(by)}'\nby = {by}\nmargins = true\n" for by in tables)
    file = people.with_name("release.toml")
    file.write_text(text, encoding="utf-8")
    release = microdata.Release.from_toml(file)
    sets = ", ".join(f"({', '.join(part)})" for part in release.partitions)
    names = ", ".join(dict.fromkeys(name for by in tables for name in by))
    bare = f"SELECT {names}, COUNT(*) FROM '{people}' GROUP BY GROUPING SETS ({sets})"  # noqa: S608 (our own)

    engine: Any = duckdb.connect()

    def publish() -> None:
        for made in (people.with_name("tables"), people.with_name("journal")):
            shutil.rmtree(made) if made.is_dir() else made.unlink(missing_ok=True)
        placed = replace(
            release, secret=key_file, folder=people.with_name("tables"), journal=people.with_name("journal")
        )
        placed.publish(people)

    publish()
    return best(publish, lambda: engine.sql(bare).to_arrow_table(), rounds=3)


def releases(folder: Path, key_file: Path) -> list[Row]:
    """Releases of several tables with all margins, statement and journal, against the bare query."""
    people, rows = folder / "release.parquet", []
    microdata.write_census(people, records=AUSTRALIA)
    lists = json.loads(microdata.write_categories(people).read_text("utf-8"))
    three = [["region", "age", "sex"], ["region", "age", "occupation"], ["age", "sex", "occupation"]]
    work, bare = "25·10^6 records, 3 tables of 3 variables", "the bare GROUPING SETS of DuckDB"
    rows.append(faster(f"{work} that share some", bare, released(people, lists, three, key_file), 2 / 3))
    lists = variables([50, 20, 2, 10, 8, 5, 30, 4, 3], AUSTRALIA, people)
    nine = [["v0", "v1", "v2"], ["v3", "v4", "v5"], ["v6", "v7", "v8"]]
    rows.append(faster(f"{work}, all different", bare, released(people, lists, nine, key_file), 2 / 3))
    lists = variables([4, 4, 4, 3, 3, 3, 2, 2], MILLION, people)
    times = released(people, lists, [list(lists)], key_file)
    rows.append(faster("10^6 records, 8 variables, all margins", bare, times, None))
    people.unlink()
    return rows


def growth(folder: Path, key_file: Path, most: float) -> list[Row]:
    """The commands on 10^6, 10^7 and 10^8 records, all under a hard limit of 2 GiB of memory."""
    people, keyed, output = (folder / f"{name}.parquet" for name in ("people", "keyed", "output"))
    memory, noise = ["--memory", SPILL], ["--epsilon", "0.5", "--delta", "1e-4"]
    noise += ["--secret-file", str(key_file), "--categories", str(folder / "people.categories.json")]
    commands: dict[str, list[str | Path]] = {
        "example": ["-o", people],
        "keys": [people, "--id", "person_id", "--secret-file", key_file, "-o", keyed, *memory],
        "perturb": [people, "--by", *BY, "--margins", *noise, "-o", output, *memory],
    }
    rows: list[Row] = []
    before: dict[str, float] = {}
    for power in (6, 7, 8):
        if 10**power > most:
            break
        for name, arguments in commands.items():
            size = ["--records", str(10**power)] if name == "example" else []
            size += ["--edition", f"10^{power}"] if name == "perturb" else []
            took = in_process(folder, "command", name, *size, *arguments, limit=LIMIT)
            work = f"{name}, 10^{power} records"
            if took is None:
                rows.append(Row(work, "2 GiB of memory", "FAILED", "", 0, "to end", False))
                return rows
            total, each = took["seconds"], took["seconds"] / 10 ** (power - 6)
            print(
                f"  {work}: {total:.1f} s, {each:.3f} s a million, {took['peak'] / 2**20:.0f} MiB", flush=True
            )
            if name in before:
                rows.append(
                    faster(work, f"itself at 10^{power - 1}, times 10", [total, 10 * before[name]], 0.5)
                )
            rows.append(less(f"{work}: peak memory", "the limit", took["peak"], LIMIT))
            before[name] = total
    return rows


def key_generation(hidden: secret.Secret) -> list[Row]:
    """Keys of 10^6 ids against Python's keyed hashes in a loop."""
    ids = pa.concat_arrays([batch.column(0) for batch in census.batches(MILLION)])
    listed, key = ids.to_pylist(), hidden.key(record_keys.PURPOSE)
    plain = CMAC(AES(key))
    plain.update(str(listed[-1]).encode())
    last = b"".join(column[-1].as_py().to_bytes(4) for column in record_keys.of_ids(ids, hidden))
    if last != plain.finalize():
        raise AssertionError("record keys are not the CMAC of cryptography")
    times = best(
        lambda: record_keys.of_ids(ids, hidden),
        lambda: [hashlib.blake2b(b"%d" % one, key=key, digest_size=16).digest() for one in listed],
        lambda: [hmac.digest(key, b"%d" % one, "sha256")[:16] for one in listed],
        rounds=5,
    )
    return [
        faster("keys of 10^6 ids", "hashlib.blake2b in a loop", times[:2], 5),
        faster("keys of 10^6 ids", "hmac.digest, sha256, in a loop", times[::2], None),
    ]


def main() -> int:
    """Measure everything and print one table; 1 if something wanted is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=float, default=1e8, metavar="N", help="the most (default: 1e8)")
    parser.add_argument("--folder", type=Path, metavar="FOLDER", help="for temporary files, up to 10 GB")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        key_file = folder / "key.bin"
        microdata.make_secret(key_file)
        hidden = secret.read(key_file)
        parts: dict[Callable[..., list[Row]], tuple[Any, ...]] = {
            key_generation: (hidden,),
            a_million: (folder, hidden),
            australia: (folder, key_file),
            releases: (folder, key_file),
            growth: (folder, key_file, options.records),
        }
        if options.records < AUSTRALIA:
            del parts[australia], parts[releases]
        rows: list[Row] = []
        for part, arguments in parts.items():
            print(f"measuring: {part.__doc__}", flush=True)
            rows += part(*arguments)
    status = show(rows)
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"\nmost disk used: {most_disk / 1e9:.1f} GB; {os.cpu_count()} processors, load {load}")
    return status


if __name__ == "__main__":
    raise SystemExit(main())
