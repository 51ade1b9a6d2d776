"""The file in which an office writes a release down: variables with their code lists, tables, ε and δ.

What is missing, unknown or wrong in it is refused in one sentence that names the place.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tablebuilder_dp.beyond.many_cells import FAMILIES
from tablebuilder_dp.microdata import listing
from tablebuilder_dp.microdata.account import DESIGNS, Budget
from tablebuilder_dp.microdata.forms import Form
from tablebuilder_dp.microdata.layout import NEIGHBOURS, Layout, neighbour
from tablebuilder_dp.microdata.protection import SMALL_COUNTS
from tablebuilder_dp.microdata.sources import Csv, refuse_address
from tablebuilder_dp.support import parameters

STATEMENT = ("statement.json", "statement.txt")
"""The files of the statement in the folder of a release."""

_FORM = {"total_label", "missing_label", "suppress_below"}
_TOP = {
    "edition",
    "records",
    "secret",
    "journal",
    "folder",
    "privacy",
    "budget",
    "variables",
    "table",
} | _FORM
_RECORDS = {"file", "delimiter", "encoding", "header"}
_PRIVACY = {"epsilon", "delta", "neighbours", "noise", "small_counts"}
_BUDGET = {"epsilon", "delta", "designs"}
_VARIABLE = {"categories", "hierarchy", "codes", "missing"}
_TABLE = {"name", "by", "margins", "output", "crosstab"}


@dataclass(frozen=True)
class Variable:
    """A column with its categories, or a hierarchy of columns, coarse to fine, with its paths."""

    name: str
    columns: tuple[str, ...]
    paths: tuple[tuple[Any, ...], ...]

    def listed(self, depth: int) -> list[Any]:
        """The categories of its first column, or the paths of its first ``depth`` columns, each once."""
        paths = dict.fromkeys(path[:depth] for path in self.paths)
        return [path[0] for path in paths] if depth == 1 else [list(path) for path in paths]


@dataclass(frozen=True)
class Table:
    """One table of a release: its name, what it is counted by, and its file in the release's folder.

    The categories of ``crosstab``, one of its columns, are columns of the file.
    """

    name: str
    layout: Layout
    output: str
    crosstab: str | None = None


def read(path: str | Path) -> dict[str, Any]:
    """What a `Release` has, from a file; other files that it names lie beside it.

    Raises ValueError for what is missing, unknown or wrong in it, and OSError for a file that cannot be
    opened.
    """
    file = Path(path)
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"release must be a TOML file, got {str(path)!r}: {error}") from None
    _known(content, _TOP, "release")
    privacy = _section(content, "privacy", _PRIVACY)
    variables = tuple(
        _variable(name, entry, file.parent)
        for name, entry in _mapping(_wanted(content, "variables", "release"), "variables").items()
    )
    columns = [column for variable in variables for column in variable.columns]
    if len(set(columns)) < len(columns):
        raise parameters.wrong_value("variables", "of different columns, each in one variable", columns)
    entries = _wanted(content, "table", "release")
    if not isinstance(entries, list) or not entries:
        raise parameters.wrong_value("table", "one or more sections [[table]]", entries)
    edition = _text(_wanted(content, "edition", "release"), "edition")
    neighbours = neighbour(privacy.get("neighbours", NEIGHBOURS[0]))
    codes = [file.parent / entry["codes"] for entry in content["variables"].values() if "codes" in entry]
    return {
        "edition": edition,
        "epsilon": parameters.epsilon(_wanted(privacy, "epsilon", "privacy")),
        "delta": parameters.delta(_wanted(privacy, "delta", "privacy")),
        "tables": tuple(_table(entry, variables) for entry in entries),
        "variables": variables,
        "neighbours": neighbours,
        "noise": parameters.one_of(privacy.get("noise", FAMILIES[0]), "noise", FAMILIES),
        "small_counts": parameters.one_of(
            privacy.get("small_counts", SMALL_COUNTS[0]), "small_counts", SMALL_COUNTS[:2]
        ),
        "budget": _budget(content, neighbours),
        "folder": _place(content, "folder", file) or file.with_name(_plain(f"{file.stem}-{edition}")),
        **{name: _place(content, name, file) for name in ("secret", "journal")},
        "records": _records(content, file),
        "form": Form(**{name: content[name] for name in _FORM & set(content)}),
        "inputs": (file, *codes),
    }


def _wanted(section: Mapping[str, Any], name: str, where: str) -> Any:
    if name not in section:
        raise ValueError(f"{where} must have {name!r}, got {', '.join(section) or 'nothing'}")
    return section[name]


def _known(section: Mapping[str, Any], names: set[str], where: str) -> None:
    if unknown := sorted(set(section) - names):
        raise parameters.wrong_value(where, f"made of {', '.join(sorted(names))}", unknown[0])


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not value:
        raise parameters.wrong_value(name, f"a section [{name}] with entries", value)
    return value


def _section(content: Mapping[str, Any], name: str, known: set[str]) -> Mapping[str, Any]:
    section = _mapping(_wanted(content, name, "release"), name)
    _known(section, known, name)
    return section


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise parameters.wrong_type(name, "a text", value)
    if not value or not value.isprintable():
        raise parameters.wrong_value(name, "a text that can be printed on one line", value)
    return value


def _place(content: Mapping[str, Any], name: str, file: Path) -> Path | None:
    """A path that the file names, relative to the file."""
    return file.parent / _text(content[name], name) if name in content else None


def _records(content: Mapping[str, Any], file: Path) -> Path | Csv | None:
    """The file of the records, or a section with how a text file is written."""
    given = content.get("records")
    if not isinstance(given, dict):
        refuse_address(given)
        return _place(content, "records", file)
    section = _section(content, "records", _RECORDS)
    path = _text(_wanted(section, "file", "records"), "records.file")
    refuse_address(path)
    header = _flag(section, "header", "records", default=True)
    return Csv(file.parent / path, section.get("delimiter"), section.get("encoding"), header=header)


def _plain(text: str) -> str:
    """A text as the name of a file: what is neither a letter nor a digit becomes a hyphen.

    >>> _plain("Age by sex, 2026/27")
    'Age-by-sex-2026-27'
    """
    return re.sub(r"[^\w.]+", "-", text).strip("-.")


def _budget(content: Mapping[str, Any], neighbours: str) -> Budget | None:
    if "budget" not in content:
        return None
    section = _section(content, "budget", _BUDGET)
    return Budget(
        parameters.number(
            _wanted(section, "epsilon", "budget"), "budget.epsilon", high=parameters.EPSILON_MAX
        ),
        parameters.number(_wanted(section, "delta", "budget"), "budget.delta", high=1),
        neighbours,
        parameters.one_of(section.get("designs", DESIGNS[0]), "budget.designs", DESIGNS),
    )


def _variable(name: str, entry: Any, folder: Path) -> Variable:
    where = f"variables.{name}"
    _known(_mapping(entry, where), _VARIABLE, where)
    columns = entry.get("hierarchy", [name])
    if not _are_names(columns):
        raise parameters.wrong_value(f"{where}.hierarchy", "different columns, coarse to fine", columns)
    if ("categories" in entry) == ("codes" in entry):
        raise ValueError(f"{where} must have either 'categories' or 'codes', got {', '.join(entry)}")
    listed = entry.get("categories")
    if "codes" in entry:
        listed = _codes(folder / _text(entry["codes"], f"{where}.codes"), columns, where)
    if not isinstance(listed, list) or not listed:
        raise parameters.wrong_value(f"{where}.categories", "a list of categories", listed)
    paths = [tuple(path) if isinstance(path, list) else (path,) for path in listed]
    if _flag(entry, "missing", where):
        paths.append((None,) * len(columns))
    allowed = f"different paths of {len(columns)} categories" if len(columns) > 1 else "different categories"
    if any(
        len(path) != len(columns) or any(isinstance(part, list | dict) for part in path) for path in paths
    ):
        raise parameters.wrong_value(f"{where}.categories", allowed, paths[:3])
    if len({tuple((type(part), part) for part in path) for path in paths}) < len(paths):
        raise parameters.wrong_value(f"{where}.categories", allowed, paths[:3])
    return Variable(name, tuple(columns), tuple(paths))


def _codes(file: Path, columns: list[str], where: str) -> Any:
    """A code list from a file: a table with these columns, lists as JSON, or a hierarchy of tau-argus."""
    try:
        if file.suffix.lower() == ".hrc":
            return listing.read_hierarchy(file)
        if file.suffix.lower() == ".json":
            lists = json.loads(file.read_text(encoding="utf-8"))
            return lists[columns[-1]] if isinstance(lists, dict) and columns[-1] in lists else None
        rows = listing.read(file, columns).to_pylist()
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}.codes must be a code list, got {str(file)!r}: {error}") from None
    return [[row[column] for column in columns] for row in rows]


def _are_names(names: Any) -> bool:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return False
    return 0 < len(set(names)) == len(names)


def _flag(entry: Mapping[str, Any], name: str, where: str, *, default: bool = False) -> bool:
    value = entry.get(name, default)
    if not isinstance(value, bool):
        raise parameters.wrong_type(f"{where}.{name}", "true or false", value)
    return value


def _table(entry: Any, variables: Sequence[Variable]) -> Table:
    """A table; a column of a hierarchy brings the coarser ones along, a hierarchy's name all its columns."""
    _known(_mapping(entry, "table"), _TABLE, "table")
    name = _text(_wanted(entry, "name", "table"), "table.name")
    by = _wanted(entry, "by", "table")
    if not isinstance(by, list) or not by or not all(isinstance(part, str) for part in by):
        raise parameters.wrong_value("table.by", "a list of variables or columns", by)
    columns: list[str] = []
    nested: list[tuple[str, ...]] = []
    for part in by:
        path = _path(part, variables)
        if set(path) & set(columns):
            raise parameters.wrong_value("table.by", "different variables", by)
        columns += path
        nested += [path] * (len(path) > 1)
    layout = Layout(columns, _flag(entry, "margins", "table"), nested)
    across = _text(entry["crosstab"], "table.crosstab") if "crosstab" in entry else None
    return Table(name, layout, _output(entry.get("output", f"{_plain(name)}.csv")), across)


def _output(value: Any) -> str:
    name = _text(value, "table.output")
    if Path(name).name != name or not name.lower().endswith((".csv", ".parquet")) or name.startswith("."):
        allowed = "the name of a .csv or .parquet file in the folder of the release"
        raise parameters.wrong_value("table.output", allowed, name)
    return name


def _path(name: str, variables: Sequence[Variable]) -> tuple[str, ...]:
    for variable in variables:
        if name == variable.name:
            return variable.columns
        if name in variable.columns:
            return variable.columns[: variable.columns.index(name) + 1]
    names = ", ".join(variable.name for variable in variables)
    raise parameters.wrong_value("table.by", f"variables of the release ({names})", name)
