"""Tables for readers: rows under headings, set as a table in a notebook and as aligned lines elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from compendium.run import notation
from tablebuilder_dp.support import parameters as checks

NUMBER = re.compile(r"[-−+±]?([\d.,/]+([eE][-+]?\d+)?( ?%)?|∞)|–?")
"""What a column of numbers may hold; a dash or nothing stands for a number that is not there."""

Cell = str | int | float
"""What a cell may hold; a float is shown to four significant digits, anything else as it is."""


class Table:
    """Rows under headings; columns of numbers are flush right.

    >>> Table(["D", "δ"], [(9, 0.0123456), (10, "less")])
     D  δ
     9  0.01235
    10  less
    """

    def __init__(self, headings: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
        if not all(headings):  # whoever listens to a page hears the heading of each cell
            raise checks.wrong_value("headings", "words for every column", headings)
        self.headings = list(headings)
        self.rows = [[_shown(cell) for cell in row] for row in rows]
        for row in self.rows:
            if len(row) != len(self.headings):
                wanted = f"rows with a cell for each of {len(self.headings)} headings"
                raise checks.wrong_value("rows", wanted, f"one with {len(row)}")

    @property
    def _columns(self) -> list[tuple[list[str], bool]]:
        """Each column, its heading first, and whether it holds numbers only."""
        columns = zip(self.headings, *self.rows, strict=True)
        return [(list(column), all(NUMBER.fullmatch(cell) for cell in column[1:])) for column in columns]

    def __repr__(self) -> str:
        padded = []
        for column, numbers in self._columns:
            width = max(map(len, column))
            padded.append([cell.rjust(width) if numbers else cell.ljust(width) for cell in column])
        return "\n".join("  ".join(row).rstrip() for row in zip(*padded, strict=True))

    def _repr_markdown_(self) -> str:
        rule = ["---:" if numbers else "---" for _, numbers in self._columns]
        lines = [self.headings, rule, *self.rows]
        escaped = [[notation.markdown(cell).replace("|", r"\|") for cell in line] for line in lines]
        return "\n".join(f"| {' | '.join(line)} |" for line in escaped)


def _shown(cell: Cell) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
