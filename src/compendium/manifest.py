"""Did this machine reproduce everything? Numbers and bytes against the committed ones.

``paper/numbers.json`` holds every recorded number, ``manifest.json`` the SHA-256 of every figure,
executed notebook, the errata and the report. Numbers are printed digits and must agree on every machine;
bytes agree under the same lock, Python version and processor family.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compendium import notebooks, report, verify
from compendium.files import ROOT, output_root, write
from compendium.runs import PAPER_RUNS, paper_parameters

NUMBERS = Path("paper/numbers.json")
MANIFEST = Path("manifest.json")
LEDGER = "10-verdict"
"""The notebook that records the verdicts."""


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def conclude(names: Sequence[str], *, accept: bool) -> int:
    """Compare the results of notebooks with the committed ones and print the closing summary.

    When all notebooks were asked for, the report is built from their numbers.
    """
    records = {name: record(name) for name in names}
    numbers = {name: found["numbers"] for name, found in records.items() if name in paper_parameters()}
    complete = list(names) == notebooks.names()
    paths = [path for name in names for path in files(name, records[name])]
    if complete:
        report.build(numbers)
        paths.append(report.PDF)
    found = {path.as_posix(): digest(output_root() / path) for path in paths}
    if accept:
        old_numbers, old_files = ({}, {}) if complete else (_load(NUMBERS), _load(MANIFEST))
        write(output_root() / NUMBERS, _json(old_numbers | numbers))
        write(output_root() / MANIFEST, _json(old_files | found))
        if complete:
            readme = (ROOT / "README.md").read_text(encoding="utf-8")
            write(output_root() / "README.md", with_glance(readme, numbers[LEDGER]))
    if LEDGER in numbers:
        _print_verdicts(numbers[LEDGER])
    changed = _changes(numbers, _load(NUMBERS))
    _print_part("Numbers", sum(map(len, numbers.values())), changed)
    known = _load(MANIFEST)
    other = [path for path, value in found.items() if known.get(path) != value]
    other += [f"{path} (missing)" for path in known if complete and path not in found]
    _print_part("Files", len(found), other)
    if changed:
        print("Numbers differ from the committed ones: that should not happen on any machine.")
    elif other:
        print(
            "All numbers agree. Bytes may differ with another Python, processor or system: fonts, rounding."
        )
    else:
        print("This machine reproduced every number and every byte.")
    return 1 if changed else 0


def with_glance(readme: str, numbers: dict[str, str]) -> str:
    """The README with the ledger at a glance between its two marks."""
    head, start, rest = readme.partition("<!-- the ledger at a glance")
    mark, _, rest = rest.partition("-->")
    _, end, tail = rest.partition("<!-- end of the ledger -->")
    return f"{head}{start}{mark}-->\n\n{verify.glance(numbers)}\n\n{end}{tail}"


def _print_verdicts(numbers: dict[str, str]) -> None:
    counts = {name.removeprefix("count:"): int(n) for name, n in numbers.items() if name.startswith("count:")}
    parts = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    print(f"Claims of the paper: {sum(counts.values())} checked, {parts}")


def _changes(numbers: dict[str, dict[str, str]], known: dict[str, Any]) -> list[str]:
    changed = []
    for name, found in numbers.items():
        committed = known.get(name, {})
        for key in sorted({*found, *committed}):
            if found.get(key) != committed.get(key):
                changed.append(
                    f"{name}: {key} is {found.get(key, 'missing')}, committed {committed.get(key, 'nothing')}"
                )
    return changed


def _print_part(what: str, count: int, problems: Sequence[str]) -> None:
    print(f"{what}: {count - len(problems)} of {count} as committed")
    for problem in problems:
        print(f"  other: {problem}")


def files(name: str, record: dict[str, Any]) -> list[Path]:
    """Figures, documents and executed notebook, relative to the output root."""
    figures = [
        Path(f"figures/{figure}.{kind}") for figure in record["figures"] for kind in ("svg", "png", "csv")
    ]
    return [*figures, *map(Path, record["documents"]), Path(f"notebooks/{name}.ipynb")]


def record(name: str) -> dict[str, Any]:
    """What a run left; solutions, which have no parameters, leave nothing but themselves."""
    if name not in paper_parameters():
        return {"figures": [], "documents": [], "numbers": {}}
    path = output_root() / PAPER_RUNS / f"{name}.json"
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _load(path: Path) -> dict[str, Any]:
    file = ROOT / path
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
