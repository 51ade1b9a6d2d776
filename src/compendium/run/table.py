"""Tables for readers: rows under headings, set as a table in a notebook and as aligned lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compendium.run import notation
from tablebuilder_dp.support import parameters as checks

Cell = str | int | float
"""What a cell may hold; a float is shown to four significant digits, anything else as it is."""


MISSING = ("", "–")
"""What stands for a number that is not there."""


def set_cell(cell: str) -> str:
    r"""A cell for Markdown.

    >>> set_cell("1e-05"), set_cell("their median: 1e-5")
    ('1·10<sup>−5</sup>', 'their median: 10<sup>−5</sup>')
    >>> print(set_cell("the ratio of p(0) and p(1)"))
    the ratio of $p(0)$ and $p(1)$
    """
    number = notation.number(cell)
    return (notation.prose(notation.formulas(cell)) if number == cell else number).replace("|", r"\|")


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
        return [(list(column), all(map(_is_number, column[1:]))) for column in columns]

    def __repr__(self) -> str:
        padded = []
        for column, numbers in self._columns:
            width = max(map(len, column))
            padded.append([cell.rjust(width) if numbers else cell.ljust(width) for cell in column])
        return "\n".join("  ".join(row).rstrip() for row in zip(*padded, strict=True))

    def _repr_markdown_(self) -> str:
        rule = ["---:" if numbers else "---" for _, numbers in self._columns]
        lines = [self.headings, rule, *self.rows]
        return "\n".join(f"| {' | '.join(map(set_cell, line))} |" for line in lines)


def _is_number(cell: str) -> bool:
    return cell in MISSING or notation.NUMBER.fullmatch(cell) is not None


def _shown(cell: Cell) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
