"""Perturbation tables in files, as other software for cell keys writes and reads them.

"tau-argus" (``i;j;p;v;p_int_ub``), "sas" (``i;j;p;v;p_int_lb;p_int_ub``) and "ptable" (that package's own
``i,j,p,v,p_int_lb,p_int_ub,type``) give each count the intervals of a key on [0, 1), in any order
(`table_intervals`). "ons" (``pcv,ckey,pvalue``) has a line for every count and key.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tablebuilder_dp.counts import table_intervals
from tablebuilder_dp.counts.perturbation_table import PerturbationTable, Segments
from tablebuilder_dp.counts.table_intervals import LINES_MAX, STYLES, Columns, Lines
from tablebuilder_dp.support import files, parameters

LAYOUTS = (*STYLES, "ons")
ONS_LAST, ONS_PERIOD = 750, 250
"""In an ONS table up to 750 a larger count n uses the row of ((n − 1) mod 250) + 501."""

_ONS_HEADER = '"pcv","ckey","pvalue"'
_LONG = 1000  # characters: a longer line is no line of a table, and is not read whole
_ONS = ("pcv", "ckey", "pvalue")
_INTEGER = re.compile("-?[0-9]{1,18}")


def read(path: str | PathLike[str]) -> PerturbationTable:
    """The table in a file, whose layout its header tells.

    Columns may come in any order, between semicolons, tabs or commas, with a column of row names as R and
    pandas write it; those of intervals with or without p_int_lb and ptable's type, and with p_ij and p_ij_ub
    for p and p_int_ub. Names and fields may stand in quotes, and without commas between them decimals may
    have commas. If an
    upper end has at most n decimals, KEYSIZE is 2^n if that makes every end whole (so `write` writes tables
    of 2^n keys), else 10^n. A noise may have several intervals, in any order. The upper ends alone decide; p
    may differ from the length of its interval as rounding makes it, to two decimals or more. Without a line
    for the count 0 an empty cell gets no noise. An ONS table up to 750 serves larger counts by its last 250
    rows, any other refuses them. D is the largest noise that a line has.

    Raises OSError where the file cannot be opened. Raises ValueError, which names the line, where it is
    malformed or of a table for magnitudes, which has another type than all, noise that is not whole, or
    leaps in i: bytes that are not UTF-8 are shown in it, a first line that is no header is not, as the file
    may be anything.
    """
    files.check_local(path, "table")
    with Path(path).open(encoding="utf-8-sig", errors="backslashreplace") as file:
        return read_lines(str(path), iter(partial(file.readline, _LONG), ""))


def read_lines(name: str, text: Iterator[str]) -> PerturbationTable:
    """The table in the lines of a file of this name, as `read` reads it.

    Raises ValueError where `read` does.
    """
    header, lines = next(text, ""), Lines(name, text)
    if columns := table_intervals.columns(header):
        return table_intervals.read(lines, columns)
    if columns := table_intervals.columns(header, {*_ONS}, {*_ONS, ""}):
        return _read_ons(lines, columns)
    allowed = " or ".join([*(style.header for style in STYLES.values()), _ONS_HEADER])
    raise ValueError(f"line 1 of {name} must be a header, one of {allowed}, got none of them")


def write(table: PerturbationTable, path: str | PathLike[str], *, layout: str) -> None:
    """Write a table in one of LAYOUTS, so that `read` gives it back.

    "tau-argus", "sas" and "ptable" need period 1 and a KEYSIZE of 2^n or 10^n, either of which makes n
    decimals. Each run of keys with one noise has a line; a noise without keys has none, but for D in the last
    block if no other line tells D.

    "ons" has pcv 0 only if an empty cell gets noise, and D is read as the largest noise that a key gives.
    It can express period 0 (up to any count but 750) and, up to 750, every period that divides 250: rows
    are repeated up to there, so reading gives 751 rows that serve each count as before.

    Raises ValueError for a table that the layout cannot express, and OSError where the file cannot be
    written.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> orders = [Segments((4,), (0,)), Segments((1, 3, 4), (-1, 0, 1))]
    >>> table = PerturbationTable.of_segments(orders, keysize=4, support=1)
    >>> with TemporaryDirectory() as folder:
    ...     write(table, Path(folder, "table.txt"), layout="sas")
    ...     print(Path(folder, "table.txt").read_text(), read(Path(folder, "table.txt")) == table)
    i;j;p;v;p_int_lb;p_int_ub
    0;0;1.00; 0;0.00;1.00
    1;0;0.25;-1;0.00;0.25
    1;1;0.50; 0;0.25;0.75
    1;2;0.25; 1;0.75;1.00
    True
    """
    if layout not in LAYOUTS:
        raise parameters.wrong_value("layout", "one of " + ", ".join(LAYOUTS), layout)
    if not isinstance(table, PerturbationTable):
        raise parameters.wrong_type("table", "a PerturbationTable", table)
    if layout == "ons":
        header, lines = _ONS_HEADER, _ons_lines(table)
    else:
        header, lines = STYLES[layout].header, table_intervals.written(table, STYLES[layout])
    with files.whole(Path(path)) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        file.write(header + "\n")
        file.writelines(lines)


def _read_ons(lines: Lines, columns: Columns) -> PerturbationTable:
    cells = _cells(lines, columns)
    first, keysize = int(cells[0, 0]), int(cells[-1, 1]) + 1
    noise = cells[:, 2].reshape(-1, keysize)
    if first:
        noise = np.vstack([np.zeros((1, keysize), dtype=np.int64), noise])
    period = ONS_PERIOD if len(noise) == ONS_LAST + 1 else 0
    support = max(1, int(np.abs(noise).max()))
    return PerturbationTable.of_segments(map(_runs, noise), keysize=keysize, support=support, period=period)


def _runs(noise: NDArray[np.int64]) -> Segments:
    """The runs of keys with one noise."""
    last = np.append(np.flatnonzero(np.diff(noise)), len(noise) - 1)
    return Segments(tuple((last + 1).tolist()), tuple(noise[last].tolist()))


def _cells(lines: Lines, columns: Columns) -> NDArray[np.int64]:
    """The numbers of all lines, sorted: every count from 0 or 1 on with every key, once each."""
    numbers, width = array("q"), len(columns.names)
    places = [columns.names.index(name) for name in _ONS]
    for line in lines:
        parts = [table_intervals.bare(part) for part in line.split(columns.separator)]
        if len(parts) != width or not all(_INTEGER.fullmatch(parts[place]) for place in places):
            raise lines.wrong("integers pcv, ckey, pvalue", line)
        numbers.extend(int(parts[place]) for place in places)
    if not numbers:
        raise lines.wrong("followed by the lines of a table", "nothing")
    cells = np.frombuffer(numbers, dtype=np.int64).reshape(-1, 3)
    pcv, ckey, pvalue = cells.T
    _check(lines, (pcv >= 0) & (ckey >= 0), cells, "of pcv and ckey that are not negative")
    _check(lines, pcv + pvalue >= 0, cells, "of a pcv + pvalue that is not negative")
    order = np.lexsort((ckey, pcv))
    again = np.zeros(len(cells), dtype=bool)
    again[order[1:]] = (np.diff(pcv[order]) == 0) & (np.diff(ckey[order]) == 0)
    _check(lines, ~again, cells, "of another pcv and ckey than those before")
    _check_complete(lines, pcv[order], ckey[order])
    widest = int(np.abs(pvalue).argmax())
    lines.support(abs(int(pvalue[widest])), at=widest + 2, rows=int(pcv.max()) + 1)
    return cells[order]


def _check(lines: Lines, good: NDArray[np.bool_], cells: NDArray[np.int64], allowed: str) -> None:
    if not good.all():
        place = int(good.argmin())
        raise lines.wrong(allowed, ",".join(map(str, cells[place].tolist())), at=place + 2)


def _check_complete(lines: Lines, pcv: NDArray[np.int64], ckey: NDArray[np.int64]) -> None:
    """Refuse sorted counts and keys that lack one."""
    first, last, keysize = min(int(pcv[0]), 1), int(pcv[-1]), int(ckey.max()) + 1
    if last < 1 or keysize < 2:
        raise lines.wrong("the last of at least 1 count above 0 and 2 keys", f"pcv {last}, {keysize} keys")
    place = np.arange(len(pcv))
    gaps = np.flatnonzero((pcv != first + place // keysize) | (ckey != place % keysize))
    missing = int(gaps[0]) if len(gaps) else len(pcv)
    if missing < (last - first + 1) * keysize:
        wanted = f"the last of a table with each pcv {first} to {last} and ckey 0 to {keysize - 1}"
        lacks = f"none for {first + missing // keysize},{missing % keysize}"
        raise lines.wrong(wanted, lacks)


def _ons_lines(table: PerturbationTable) -> Iterator[str]:
    served = _ons_rows(table)
    first = int(table.rows[0].weights[table.support] == table.keysize)
    number = (len(served) - first) * table.keysize
    if number > LINES_MAX:
        allowed = f"of at most {LINES_MAX} lines, counts times keys, in the layout ons"
        raise parameters.wrong_value("table", allowed, number)
    return (
        f"{pcv},{ckey},{noise}\n"
        for pcv in range(first, len(served))
        for ckey, noise in enumerate(_by_key(table.order(served[pcv])))
    )


def _ons_rows(table: PerturbationTable) -> Sequence[int]:
    """The place of the row of each count that an ONS table has."""
    rows, period = len(table.rows), table.period
    if period and ONS_PERIOD % period == 0 and rows - period <= ONS_LAST - ONS_PERIOD + 1:
        places: list[int] = table.place(np.arange(ONS_LAST + 1)).tolist()
        return places
    if period == 0 and rows not in (1, ONS_LAST + 1):
        return range(rows)
    allowed = "of a period that divides 250 and begins by count 501, or of none and not 1 or 751 rows"
    raise parameters.wrong_value("table", allowed, f"period {period}, {rows} rows")


def _by_key(order: Segments) -> Any:
    """The noise of each key in a row."""
    return np.repeat(order.noise, np.diff(order.ends, prepend=0)).tolist()
