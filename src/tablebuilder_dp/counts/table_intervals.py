"""Perturbation tables as intervals of a key on [0, 1), in the layouts of tau-argus and SAS.

A line has a count i, a published value j = i + v, its probability p and the upper end of its interval, in
SAS the lower end before it. The largest i stands for "i or more". Every number is read as the exact
decimal that it is written as. `table_files` is the way in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tablebuilder_dp.counts.perturbation_table import PerturbationTable
from tablebuilder_dp.sampling import LookupTable
from tablebuilder_dp.support import parameters

LINES_MAX = 10**7
DECIMALS_MAX = 64
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_DECIMAL = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,99}))?")


@dataclass
class Lines:
    """The lines of a file after its header, counted, so that an error can name the one it is about."""

    path: str
    rest: Iterable[str]
    number: int = 1

    def __iter__(self) -> Iterator[str]:
        for line in self.rest:
            self.number += 1
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


@dataclass
class _Blocks:
    """The blocks of lines read so far: for each count the cut points of its noises, in last decimals."""

    lines: Lines
    cuts: list[dict[int, int]] = field(default_factory=list)
    decimals: int = 0
    binary: bool = True
    end: int = 0
    widest: tuple[int, int] = (0, 0)

    def add(self, line: str, fields: int) -> None:
        parts = [part.strip() for part in line.split(";")]
        if len(parts) != fields:
            raise self.lines.wrong(f"{fields} fields separated by ;", line)
        count, value, noise = (self._integer(parts[place]) for place in (0, 1, 3))
        if not self.cuts or count != len(self.cuts) - 1:
            self._begin(count)
        if value < 0 or value != count + noise:
            raise self.lines.wrong("of a j that is i + v and not negative", line)
        if self.cuts[-1] and noise <= next(reversed(self.cuts[-1])):
            raise self.lines.wrong("of a larger v than the line before", noise)
        self.cuts[-1][noise] = self._interval(parts)
        self.widest = max(self.widest, (abs(noise), self.lines.number))

    def _begin(self, count: int) -> None:
        """Begin the block of a count, the next one; the first may be 0 or 1."""
        if self.cuts:
            self.finish(self.lines.number - 1)
        elif count == 1:
            self.cuts.append({})
        if count != len(self.cuts):
            raise self.lines.wrong("of the same i as the line before or the next, from 0 or 1 on", count)
        self.cuts.append({})
        self.end = 0

    def finish(self, at: int) -> None:
        """Finish a block, whose last line must reach 1."""
        if self.end != 10**self.decimals:
            end = _text(self.end, self.decimals)
            raise self.lines.wrong("of an interval that ends at 1, as the last of its i", end, at=at)

    def _interval(self, parts: list[str]) -> int:
        """The end of a line's interval, which must begin where the last one ended and fit its p.

        A p may be off by half a unit of its own last place, and by one of the ends', for each is rounded.
        """
        start, (self.end, decimals) = self.end, self._decimal(parts[-1])
        self.decimals = self.decimals or decimals
        if decimals != self.decimals or not 1 <= decimals <= DECIMALS_MAX:
            allowed = f"of 1 to {DECIMALS_MAX} decimals in the last field, in all lines as many"
            raise self.lines.wrong(allowed, parts[-1])
        unit = 10**decimals
        if not start <= self.end <= unit:
            raise self.lines.wrong("of an interval that ends between its start and 1", parts[-1])
        lower, power = self._decimal(parts[4]) if len(parts) == 6 else (start, decimals)
        if lower * unit != start * 10**power:
            raise self.lines.wrong("of an interval that starts where the one before ends", parts[4])
        mass, power = self._decimal(parts[2])
        if 2 * abs(mass * unit - (self.end - start) * 10**power) > unit + 2 * 10**power:
            raise self.lines.wrong("of a p that is the length of its interval", parts[2])
        self.binary = self.binary and self.end % 5**decimals == 0
        if not self.binary and unit > parameters.KEYSIZE_MAX:
            raise self.lines.wrong(f"of at most 19 decimals or a multiple of 2^-{decimals}", parts[-1])
        return self.end

    def _integer(self, text: str) -> int:
        if not _INTEGER.fullmatch(text):
            raise self.lines.wrong("of integers i, j and v", text)
        return int(text)

    def _decimal(self, text: str) -> tuple[int, int]:
        """A plain decimal in units of its last place, and the number of its places."""
        match = _DECIMAL.fullmatch(text)
        if not match:
            raise self.lines.wrong("of plain decimals, not negative, such as 0.25", text)
        return int(match[1] + (match[2] or "")), len(match[2] or "")


def read(lines: Lines, fields: int) -> PerturbationTable:
    """The table of the lines after a header with this many fields.

    Raises ValueError, which names the line, where they make no table.

    >>> text = ["0;0;1.0;0;1.0", "1; 0;0.5;-1;0.5", "1;2;0.5;1;1.0"]
    >>> [row.weights for row in read(Lines("a.txt", text), 5).rows]
    [(0, 2, 0), (1, 0, 1)]
    """
    blocks = _Blocks(lines)
    for line in lines:
        blocks.add(line, fields)
    if not blocks.cuts:
        raise lines.wrong("followed by the lines of a table", "nothing")
    blocks.finish(lines.number)
    widest, at = blocks.widest
    support = lines.support(widest, at=at, rows=len(blocks.cuts))
    blocks.cuts[0] = blocks.cuts[0] or {0: 10**blocks.decimals}
    unit, size = (5**blocks.decimals, 2**blocks.decimals) if blocks.binary else (1, 10**blocks.decimals)
    return PerturbationTable(tuple(_row(cuts, support, unit, size) for cuts in blocks.cuts))


def _row(cuts: dict[int, int], support: int, unit: int, keysize: int) -> LookupTable:
    """The lookup table of a block; a noise without a line has no keys."""
    reached, every = 0, []
    for noise in range(-support, support + 1):
        reached = cuts.get(noise, reached)
        every.append(reached // unit)
    return LookupTable(keysize=keysize, cuts=tuple(every))


def written(table: PerturbationTable, *, lower: bool) -> Iterator[str]:
    """The lines of a table, with the lower ends of the intervals or without, in aligned columns.

    Raises ValueError for a table that the layout cannot express.

    >>> table = PerturbationTable((LookupTable(2, (0, 2, 2)), LookupTable(2, (1, 1, 2))))
    >>> print("".join(written(table, lower=False)), end="")
    0;0;1.0; 0;1.0
    1;0;0.5;-1;0.5
    1;2;0.5; 1;1.0
    """
    if table.period != 1 or table.by_key:
        given = "noise that does not rise with the key" if table.by_key else f"period {table.period}"
        raise parameters.wrong_value("table", "of period 1 and noise that rises with the key", given)
    if len(table.rows) * (2 * table.support + 1) > LINES_MAX:
        allowed = f"of at most {LINES_MAX} places (counts times 2D + 1)"
        raise parameters.wrong_value("table", allowed, len(table.rows) * (2 * table.support + 1))
    decimals, cells = _decimals(table), list(_cells(table))
    unit = 10**decimals // table.keysize
    wide = [max(len(str(cell[place])) for cell in cells) for place in range(3)]
    return (
        f"{i:{wide[0]}};{j:{wide[1]}};{_text((end - start) * unit, decimals)};{v:{wide[2]}};"
        f"{_text(start * unit, decimals) + ';' if lower else ''}{_text(end * unit, decimals)}\n"
        for i, j, v, start, end in cells
    )


def _cells(table: PerturbationTable) -> Iterator[tuple[int, int, int, int, int]]:
    """Each count, value and noise with its first key and the one after its last.

    A noise without keys is left out, but for D after all others where nothing else would tell D.
    """
    support, last = table.support, len(table.rows) - 1
    told = any(row.weights[0] or row.weights[-1] for row in table.rows)
    for count, row in enumerate(table.rows):
        start = 0
        for noise, end in enumerate(row.cuts, -support):
            if end > start or (count == last and noise == support and not told):
                yield count, count + noise, noise, start, end
            start = end


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
    if not any(cut % 5**power for row in table.rows for cut in row.cuts):
        raise parameters.wrong_value("keysize", f"{2**power} for cut points as coarse as these", size)
    return power


def _text(cut: int, decimals: int) -> str:
    whole, rest = divmod(cut, 10**decimals)
    return f"{whole}.{rest:0{decimals}d}"
