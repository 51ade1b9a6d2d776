"""Did this machine reproduce everything? Numbers and bytes against the committed ones.

``paper/numbers.json`` holds every recorded number and ``paper/ledger.json`` every entry of the ledger,
``manifest.json`` the SHA-256 of every figure, executed notebook and rendered document. Numbers are printed
digits and must agree on every machine; bytes agree under the same lock, Python version and processor family.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compendium.run.notebooks import is_solution
from compendium.run.parameters import PAPER_RUNS
from compendium.run.places import ROOT, output_root, write

NUMBERS = Path("paper/numbers.json")
MANIFEST = Path("manifest.json")
REPRODUCED = "This machine reproduced every number and every byte."


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def record(name: str) -> dict[str, Any]:
    """What a run left; solutions, which have no parameters, leave nothing but themselves."""
    if is_solution(name):
        return {"figures": [], "numbers": {}, "claims": []}
    path = output_root() / PAPER_RUNS / f"{name}.json"
    return dict(json.loads(path.read_text(encoding="utf-8")))


def files(name: str, record: Mapping[str, Any]) -> list[Path]:
    """Figures and executed notebook, relative to the output root."""
    figures = [
        Path(f"figures/{figure}.{kind}") for figure in record["figures"] for kind in ("svg", "png", "csv")
    ]
    return [*figures, Path(f"notebooks/{name}.ipynb")]


def committed(path: Path) -> dict[str, Any]:
    """The content of a committed JSON file; nothing if there is none yet."""
    file = ROOT / path
    try:
        return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None


def commit(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file as the new reference."""
    write(output_root() / path, json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


Groups = Mapping[str, Mapping[str, Any]]
"""Values by name, in groups: those that each notebook records, and the entries of the ledger."""


def compare(results: Groups, known: Groups, files: Mapping[str, str], *, complete: bool) -> int:
    """Print which values differ from the known ones and which files from the manifest; 1 if a value does."""
    changed = changes(results, known)
    _print_part("Numbers", sum(map(len, results.values())), changed)
    listed = committed(MANIFEST)
    other = [path for path, value in files.items() if listed.get(path) != value]
    other += [f"{path} (missing)" for path in listed if complete and path not in files]
    _print_part("Files", len(files), other)
    if changed:
        print("Numbers differ from the committed ones: that should not happen on any machine.")
    elif other:
        print(
            "All numbers agree. Bytes may differ with another Python, processor or system: fonts, rounding."
        )
    else:
        print(REPRODUCED)
    return 1 if changed else 0


def changes(results: Groups, known: Groups) -> list[str]:
    """One line for each value that is not the known one."""
    lines = []
    for group, values in results.items():
        committed = known.get(group, {})
        for name in sorted({*values, *committed}):
            ours, theirs = values.get(name, "missing"), committed.get(name, "nothing")
            if ours != theirs and isinstance(ours, Mapping) and isinstance(theirs, Mapping):
                fields = [key for key in sorted({*ours, *theirs}) if ours.get(key) != theirs.get(key)]
                ours, theirs = (
                    ", ".join(f"{key} {side.get(key, 'missing')}" for key in fields)
                    for side in (ours, theirs)
                )
            if ours != theirs:
                lines.append(f"{group}: {name} is {ours}, committed {theirs}")
    return lines


def _print_part(what: str, count: int, problems: Sequence[str]) -> None:
    print(f"{what}: {count - len(problems)} of {count} as committed")
    for problem in problems:
        print(f"  other: {problem}")
