"""Did this machine reproduce everything? Numbers and bytes against the committed ones.

``paper/numbers.json`` holds every recorded number, ``manifest.json`` the SHA-256 of every figure and
executed notebook. Numbers are printed digits and must agree on every machine; bytes agree under the
same lock, Python version and processor family.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compendium import notebooks
from compendium.files import ROOT, output_root, write
from compendium.runs import PAPER_RUNS

NUMBERS = Path("paper/numbers.json")
MANIFEST = Path("manifest.json")


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def conclude(names: Sequence[str], *, accept: bool) -> int:
    """Compare the results of notebooks with the committed ones and print the closing summary."""
    records = {name: _record(name) for name in names}
    numbers = {name: record["numbers"] for name, record in records.items()}
    files = {
        path.as_posix(): digest(output_root() / path)
        for name in names
        for path in _files(name, records[name])
    }
    complete = list(names) == [path.stem for path in notebooks.paths()]
    if accept:
        old_numbers, old_files = ({}, {}) if complete else (_load(NUMBERS), _load(MANIFEST))
        write(output_root() / NUMBERS, _json(old_numbers | numbers))
        write(output_root() / MANIFEST, _json(old_files | files))
    known_numbers, known_files = _load(NUMBERS), _load(MANIFEST)
    agreeing, differing = (
        sorted({claim for record in records.values() for claim in record[kind]})
        for kind in ("agreeing", "differing")
    )
    print(f"Printed values of the paper: {len(agreeing)} agree, {len(differing)} differ", end="")
    print(f" ({', '.join(differing)})" if differing else "")
    changed = []
    for name, found in numbers.items():
        known = known_numbers.get(name, {})
        for key in sorted({*found, *known}):
            if found.get(key) != known.get(key):
                changed.append(
                    f"{name}: {key} is {found.get(key, 'missing')}, committed {known.get(key, 'nothing')}"
                )
    _print_part("Numbers", sum(map(len, numbers.values())), changed)
    other = [path for path, found in files.items() if known_files.get(path) != found]
    other += [f"{path} (missing)" for path in known_files if complete and path not in files]
    _print_part("Files", len(files), other)
    if changed:
        print("Numbers differ from the committed ones: that should not happen on any machine.")
    elif other:
        print(
            "All numbers agree. Bytes may differ with another Python, processor or system: fonts, rounding."
        )
    else:
        print("This machine reproduced every number and every byte.")
    return 1 if changed else 0


def _print_part(what: str, count: int, problems: Sequence[str]) -> None:
    print(f"{what}: {count - len(problems)} of {count} as committed")
    for problem in problems:
        print(f"  other: {problem}")


def _files(name: str, record: dict[str, Any]) -> list[Path]:
    """Figures and executed notebook, relative to the root."""
    figures = [
        Path(f"figures/{figure}.{kind}") for figure in record["figures"] for kind in ("svg", "png", "csv")
    ]
    return [*figures, Path(f"notebooks/{name}.ipynb")]


def _record(name: str) -> dict[str, Any]:
    path = output_root() / PAPER_RUNS / f"{name}.json"
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _load(path: Path) -> dict[str, Any]:
    file = ROOT / path
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
