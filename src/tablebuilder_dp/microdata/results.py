"""How results show themselves, and how they become tables of other libraries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tablebuilder_dp.microdata import words

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

ROWS = 10
"""So many rows of a table are shown."""

TABLES = 4
"""So many tables of a release are shown."""


class Result(ABC):
    """A table and the statement about it: shown in short, as a whole only where it is asked for."""

    table: pa.Table

    @property
    def shown(self) -> pa.Table:
        """The table as files and other libraries have it."""
        return self.table

    @cached_property
    @abstractmethod
    def statement(self) -> dict[str, Any]:
        """The guarantee, as it is written beside the table."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {size(self.table)}. {words.in_short(self.statement)}>"

    def _repr_html_(self) -> str:
        """How a notebook shows it: the first rows and the promise."""
        return html({"": self.shown}, self.statement)

    def to_pandas(self) -> pd.DataFrame:
        """The table for pandas.

        Raises ImportError where pandas is not installed.
        """
        return to_pandas(self.shown)

    def to_polars(self) -> pl.DataFrame:
        """The table for Polars.

        Raises ImportError where Polars is not installed.
        """
        return to_polars(self.shown)


def size(table: pa.Table) -> str:
    """How many rows a table has, and which columns.

    >>> size(pa.table({"sex": ["F"], "count": [3]}))
    '1 row of sex, count'
    """
    return f"{len(table)} row{'' if len(table) == 1 else 's'} of {', '.join(table.column_names)}"


def html(tables: Mapping[str, pa.Table], facts: words.Facts) -> str:
    """The first rows of tables by their names, and in one line what is promised about them."""
    shown = [_html(name, table) for name, table in list(tables.items())[:TABLES]]
    if more := len(tables) - TABLES if len(tables) > TABLES else 0:
        shown.append(f"<p>and {more} more table{'' if more == 1 else 's'}</p>")
    warning = "<p><strong>Confidential.</strong></p>" if facts.get("confidential") else ""
    return f"{warning}{''.join(shown)}<p>{escape(words.in_short(facts))}</p>"


def _html(name: str, table: pa.Table) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.column_names)
    rows = [
        "".join(f"<td>{'' if value is None else escape(str(value))}</td>" for value in row.values())
        for row in table.slice(0, ROWS).to_pylist()
    ]
    titled = f"{name}: {size(table)}" if name else size(table)
    more = f", the first {ROWS}" if len(table) > ROWS else ""
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f"<table><caption>{escape(titled + more)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """An Arrow table for pandas.

    Raises ImportError where pandas is not installed.
    """
    _needed("pandas")
    made: pd.DataFrame = table.to_pandas()
    return made


def to_polars(table: pa.Table) -> pl.DataFrame:
    """An Arrow table for Polars.

    Raises ImportError where Polars is not installed.
    """
    made: pl.DataFrame = _needed("polars").from_arrow(table)
    return made


def _needed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{name} must be installed for to_{name}: pip install {name}") from None
