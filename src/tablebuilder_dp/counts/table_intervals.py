"""Perturbation tables as intervals of a key on [0, 1), in the layouts of tau-argus, SAS and ptable.

A line has a count i, a published value j = i + v, its probability p and the upper end of its interval, often
the lower end before it. A noise may have several intervals, in any order. The largest i stands for "i or
more". Every number is read as the exact decimal that it is written as. `table_files` is the way in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from tablebuilder_dp.counts.perturbation_table import PerturbationTable, Segments
from tablebuilder_dp.support import parameters

LINES_MAX = 10**7
DECIMALS_MAX = 64
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_DECIMAL = re.compile(r"(?=[.0-9])([0-9]{0,3})(?:\.([0-9]{1,99}))?(?:[eE]([-+]?[0-9]{1,3}))?")
_FRACTION = re.compile(r"-?[0-9]*\.[0-9]+")
_FOR_COUNTS = "of a table for counts (type all, whole i, j and v, each i the next), not for magnitudes"
_ALIASES = {"p_ij": "p", "p_ij_ub": "p_int_ub"}
_NEEDED = {"i", "j", "p", "v", "p_int_ub"}
_ALLOWED = _NEEDED | {"p_int_lb", "type", ""}  # R writes a column of row names, which has no name


@dataclass
class Lines:
    """The lines of a file after its header, counted, so that an error can name the one it is about."""

    path: str
    rest: Iterable[str]
    number: int = 1

    def __iter__(self) -> Iterator[str]:
        blank = 0
        for line in self.rest:
            if not line.strip():
                blank += 1  # blank lines may stand at the end
                continue
            self.number += 1 + blank
            if blank:
                raise self.wrong("the first after the last, as a line before it is blank", line)
            if self.number > LINES_MAX + 1:
                raise self.wrong(f"the last, as a table has at most {LINES_MAX} lines", line)
            yield line

    def wrong(self, allowed: str, value: object, *, at: int | None = None) -> ValueError:
        """The error about a line, the current one unless ``at`` says which.

        Returns the error; the caller raises it.
        """
        given = value.rstrip("\n") if isinstance(value, str) else value
        return parameters.wrong_value(f"line {at or self.number} of {self.path}", allowed, given)

    def support(self, widest: int, *, at: int, rows: int) -> int:
        """D, at least 1: the largest |noise|, which a line has, unless its table would be too large.

        Raises ValueError where it would.
        """
        most = (LINES_MAX // rows - 1) // 2
        if widest > most:
            raise self.wrong(f"of noise from -{most} to {most} in a table of {rows} counts", widest, at=at)
        return max(widest, 1)


class Columns(NamedTuple):
    """What a header tells of the lines after it."""

    separator: str
    names: tuple[str, ...]


def columns(header: str, needed: Set[str] = _NEEDED, allowed: Set[str] = _ALLOWED) -> Columns | None:
    """The columns of a table, by default of intervals, in any order, or None for another header.

    >>> columns('"i";"j";"p_ij";"v";"p_ij_ub"')
    Columns(separator=';', names=('i', 'j', 'p', 'v', 'p_int_ub'))
    """
    separator = next((known for known in ";\t" if known in header), ",")
    read = (bare(name).lower() for name in header.split(separator))
    names = tuple(_ALIASES.get(name, name) for name in read)
    known = len(set(names)) == len(names) and needed <= set(names) <= allowed
    return Columns(separator, names) if known else None


def bare(text: str) -> str:
    """A field without spaces and quotes around it."""
    return text.strip().strip('"').strip()


class _Decimal(NamedTuple):
    """A decimal as it is written, which has so many places and is that multiple of the last one."""

    text: str
    multiple: int
    places: int

    @property
    def value(self) -> Fraction:
        return Fraction(self.multiple, 10**self.places)


class _Interval(NamedTuple):
    """What a line says; ``at`` is its number."""

    at: int
    noise: int
    mass: _Decimal
    lower: _Decimal | None
    upper: _Decimal


@dataclass
class _Reader:
    """The lines read so far, a block for each count."""

    lines: Lines
    columns: Columns
    blocks: list[list[_Interval]] = field(default_factory=list)

    def add(self, line: str) -> None:
        parts = [bare(part) for part in line.split(self.columns.separator)]
        if len(parts) != len(self.columns.names):
            wanted = f"{len(self.columns.names)} fields separated by {self.columns.separator}"
            raise self.lines.wrong(wanted, line)
        cell = dict(zip(self.columns.names, parts, strict=True))
        if cell.get("type", "all") != "all":
            raise self.lines.wrong(_FOR_COUNTS, line)
        count, value, noise = (self._integer(cell[name]) for name in "ijv")
        if not self.blocks or count != len(self.blocks) - 1:
            self._begin(count)
        if value < 0 or value != count + noise:
            raise self.lines.wrong("of a j that is i + v and not negative", line)
        lower = self._decimal(cell["p_int_lb"]) if "p_int_lb" in cell else None
        mass, upper = self._decimal(cell["p"]), self._decimal(cell["p_int_ub"])
        if upper.places > DECIMALS_MAX:
            raise self.lines.wrong(f"of at most {DECIMALS_MAX} decimals in p_int_ub", upper.text)
        self.blocks[-1].append(_Interval(self.lines.number, noise, mass, lower, upper))

    def _begin(self, count: int) -> None:
        """Begin the block of a count, the next one; the first may be 0 or 1."""
        if not self.blocks and count == 1:
            self.blocks.append([])
        if count != len(self.blocks):
            leaps = count > len(self.blocks) and "type" in self.columns.names
            allowed = "of the same i as the line before or the next, from 0 or 1 on"
            raise self.lines.wrong(_FOR_COUNTS if leaps else allowed, count)
        self.blocks.append([])

    def _integer(self, text: str) -> int:
        if not _INTEGER.fullmatch(text):
            allowed = _FOR_COUNTS if _FRACTION.fullmatch(text) else "of integers i, j and v"
            raise self.lines.wrong(allowed, text)
        return int(text)

    def _decimal(self, text: str) -> _Decimal:
        match = _DECIMAL.fullmatch(text if self.columns.separator == "," else text.replace(",", "."))
        if not match:
            raise self.lines.wrong("of decimals, not negative, such as 0.25 or 2.5e-01", text)
        digits, places = match[1] + (match[2] or ""), len(match[2] or "") - int(match[3] or 0)
        return _Decimal(text, int(digits) * 10 ** max(-places, 0), max(places, 0))

    def table(self) -> PerturbationTable:
        """The table of all lines."""
        intervals = [interval for block in self.blocks for interval in block]
        if not intervals:
            raise self.lines.wrong("followed by the lines of a table", "nothing")
        widest = max(intervals, key=lambda interval: abs(interval.noise))
        support = self.lines.support(abs(widest.noise), at=widest.at, rows=len(self.blocks))
        decimals = max(1, *(interval.upper.places for interval in intervals))
        segments = [self._segments(block, decimals) for block in self.blocks]
        unit, size = 5**decimals, 2**decimals
        if any(end % unit for segment in segments for end in segment.ends):
            unit, size = 1, 10**decimals
        whole = (Segments(tuple(end // unit for end in ends), noise) for ends, noise in segments)
        return PerturbationTable.of_segments(whole, keysize=size, support=support)

    def _segments(self, block: list[_Interval], decimals: int) -> Segments:
        """The intervals of a count, in units of the last decimal; without lines it gets no noise."""
        unit, end = 10**decimals, 0
        ends = []
        for interval in block:
            start, end = end, interval.upper.multiple * 10 ** (decimals - interval.upper.places)
            self._check(interval, Fraction(start, unit), Fraction(end, unit), unit)
            ends.append(end)
        if block and end != unit:
            allowed = "of an interval that ends at 1, as the last of its i"
            raise self.lines.wrong(allowed, block[-1].upper.text, at=block[-1].at)
        return Segments(tuple(ends), tuple(one.noise for one in block)) if block else Segments((unit,), (0,))

    def _check(self, interval: _Interval, start: Fraction, end: Fraction, unit: int) -> None:
        """Refuse an interval that does not go on where the last one ended, or does not fit its p.

        A p may be off by half of its own last place, but no more than two decimals would be, and by one unit
        of the ends, for each is rounded.
        """
        at, lower, mass, upper = interval.at, interval.lower, interval.mass, interval.upper
        if not start <= end <= 1:
            raise self.lines.wrong("of an interval that ends between its start and 1", upper.text, at=at)
        if unit > parameters.KEYSIZE_MAX and end.denominator & (end.denominator - 1):
            decimals = len(str(unit)) - 1
            allowed = f"of at most 19 decimals or a multiple of 2^-{decimals}"
            raise self.lines.wrong(allowed, upper.text, at=at)
        if lower and 2 * abs(lower.value - start) > Fraction(1, unit):
            raise self.lines.wrong("of an interval that starts where the one before ends", lower.text, at=at)
        rounded = Fraction(1, 2 * 10 ** max(mass.places, 2)) + Fraction(1, unit)
        if abs(mass.value - (end - start)) > rounded:
            raise self.lines.wrong("of a p that is the length of its interval", mass.text, at=at)


def read(lines: Lines, columns: Columns) -> PerturbationTable:
    """The table of the lines after a header with these columns.

    Raises ValueError, which names the line, where they make no table.

    >>> text = ["0;0;1;0;1", "1; 2;5e-1;1;0.5", "1;0;0.5;-1;1"]
    >>> table = read(Lines("a.txt", text), Columns(";", ("i", "j", "p", "v", "p_int_ub")))
    >>> [row.weights for row in table.rows], table.order(1)
    ([(0, 2, 0), (1, 0, 1)], Segments(ends=(1, 2), noise=(1, -1)))
    """
    reader = _Reader(lines, columns)
    for line in lines:
        reader.add(line)
    return reader.table()


class Style(NamedTuple):
    """How a layout writes its lines: with the lower ends or without, and what ends each line."""

    header: str
    separator: str = ";"
    lower: bool = True
    aligned: bool = True
    end: str = ""


STYLES = {
    "tau-argus": Style("i;j;p;v;p_int_ub", lower=False),
    "sas": Style("i;j;p;v;p_int_lb;p_int_ub"),
    "ptable": Style("i,j,p,v,p_int_lb,p_int_ub,type", separator=",", aligned=False, end=",all"),
}


def written(table: PerturbationTable, style: Style) -> Iterator[str]:
    """The lines of a table.

    Raises ValueError for a table that the layout cannot express.

    >>> orders = [Segments((2,), (0,)), Segments((1, 2), (1, -1))]
    >>> table = PerturbationTable.of_segments(orders, keysize=2, support=1)
    >>> print("".join(written(table, STYLES["tau-argus"])), end="")
    0;0;1.0; 0;1.0
    1;2;0.5; 1;0.5
    1;0;0.5;-1;1.0
    """
    if table.period != 1:
        raise parameters.wrong_value("table", "of period 1 for this layout", f"period {table.period}")
    decimals, cells = _decimals(table), list(_cells(table))
    size = max(len(table.rows) * (2 * table.support + 1), len(cells))
    if size > LINES_MAX:
        allowed = f"of at most {LINES_MAX} lines and places (counts times 2D + 1)"
        raise parameters.wrong_value("table", allowed, size)
    unit = 10**decimals // table.keysize
    wide = [max(len(str(cell[place])) for cell in cells) if style.aligned else 1 for place in range(3)]

    def line(i: int, j: int, v: int, start: int, end: int) -> str:
        mass, *ends = (_text(keys * unit, decimals) for keys in (end - start, start, end))
        parts = [f"{i:{wide[0]}}", f"{j:{wide[1]}}", mass, f"{v:{wide[2]}}", *ends[not style.lower :]]
        return style.separator.join(parts) + style.end + "\n"

    return (line(*cell) for cell in cells)


def _cells(table: PerturbationTable) -> Iterator[tuple[int, int, int, int, int]]:
    """Each count, value and noise with its first key and the one after its last.

    A noise without keys is left out, but for D after all others where nothing else would tell D.
    """
    for count in range(len(table.rows)):
        start = 0
        for end, noise in zip(*table.order(count), strict=True):
            yield count, count + noise, noise, start, end
            start = end
    if not any(row.weights[0] or row.weights[-1] for row in table.rows):
        yield count, count + table.support, table.support, start, start


def _decimals(table: PerturbationTable) -> int:
    """How many decimals write every cut point so that `read` finds the same KEYSIZE."""
    size = table.keysize
    power = size.bit_length() - 1
    if size == 2**power:
        return power
    power = len(str(size)) - 1
    if size != 10**power:
        allowed = "a power of 2 or of 10 for this layout (see perturbation_table.requantised)"
        raise parameters.wrong_value("keysize", allowed, size)
    if not any(end % 5**power for place in range(len(table.rows)) for end in table.order(place).ends):
        raise parameters.wrong_value("keysize", f"{2**power} for cut points as coarse as these", size)
    return power


def _text(cut: int, decimals: int) -> str:
    whole, rest = divmod(cut, 10**decimals)
    return f"{whole}.{rest:0{decimals}d}"
