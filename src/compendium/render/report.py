"""``make paper``: ``paper/report.typ`` and the numbers become ``paper/report.pdf``.

Typst comes as a Python package with its own fonts, and the date is fixed: the same numbers give the same
bytes on every machine.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typst

from compendium.figures import palette
from compendium.run.parameters import paper_parameters
from compendium.run.places import ROOT, output_root, write

SOURCE = ROOT / "paper" / "report.typ"
PDF = Path("paper/report.pdf")
NUMBERS = ROOT / "paper" / "numbers.json"
LEDGER = ROOT / "paper" / "ledger.json"


def build(numbers: Mapping[str, Any], ledger: Mapping[str, Any]) -> None:
    """Write the report of these numbers and this ledger."""
    try:
        pdf = typst.compile(
            SOURCE,
            root=ROOT,
            ignore_system_fonts=True,
            timestamp=0,
            sys_inputs=inputs(numbers, ledger),
        )
    except typst.TypstError as error:
        raise ValueError(f"paper/{SOURCE.name} cannot be typeset: {error}") from None
    write(output_root() / PDF, pdf)


def inputs(numbers: Mapping[str, Any], ledger: Mapping[str, Any]) -> dict[str, str]:
    """What the template is given."""
    return {
        "numbers": json.dumps(numbers, sort_keys=True),
        "ledger": json.dumps(ledger, sort_keys=True),
        "parameters": json.dumps(paper_parameters()),
        "versions": json.dumps(versions()),
        "accent": palette.BLUE,
    }


def versions() -> dict[str, str]:
    """The locked version of each direct dependency of the library and the notebooks."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {
        name.split(">")[0]
        for name in (*project["dependencies"], *project["optional-dependencies"]["notebooks"])
    }
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    locked = dict(line.split(" ")[0].split("==") for line in lines if "==" in line and line[0].isalpha())
    return {name: locked[name] for name in sorted(wanted)}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command has no options."""


def run(options: argparse.Namespace) -> int:
    """Build the report from the committed numbers and the committed ledger."""
    build(*(json.loads(path.read_text(encoding="utf-8")) for path in (NUMBERS, LEDGER)))
    print(f"{PDF}: {(output_root() / PDF).stat().st_size // 1024} KiB")
    return 0
