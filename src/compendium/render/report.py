"""``make paper``: ``paper/*.typ`` and the numbers become ``paper/report.pdf`` and ``paper/beyond.pdf``.

Typst comes as a Python package with its own fonts, and the date is fixed: the same numbers give the same
bytes on every machine.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typst
import yaml

from compendium.figures import palette
from compendium.run.parameters import paper_parameters
from compendium.run.places import ROOT, output_root, write

ARTICLES = ("report", "beyond")
PDFS = tuple(Path(f"paper/{name}.pdf") for name in ARTICLES)
NUMBERS = ROOT / "paper" / "numbers.json"
LEDGER = ROOT / "paper" / "ledger.json"


def build(numbers: Mapping[str, Any], ledger: Mapping[str, Any]) -> None:
    """Write the articles of these numbers and this ledger: all of them, or none."""
    given = inputs(numbers, ledger)
    made = [typeset(name, given) for name in ARTICLES]
    for path, pdf in zip(PDFS, made, strict=True):
        write(output_root() / path, pdf)


def typeset(name: str, given: Mapping[str, str], **options: Any) -> Any:
    """One article: a PDF, or what the options of Typst say."""
    try:
        return typst.compile(
            source(name),
            root=ROOT,
            ignore_system_fonts=True,
            timestamp=0,
            sys_inputs=dict(given),
            **options,
        )
    except typst.TypstError as error:
        raise ValueError(f"paper/{name}.typ cannot be typeset: {error}") from None


def source(name: str) -> Path:
    """The file that an article is written in."""
    return ROOT / "paper" / f"{name}.typ"


def inputs(numbers: Mapping[str, Any], ledger: Mapping[str, Any]) -> dict[str, str]:
    """What the articles are given."""
    given = {
        "numbers": numbers,
        "ledger": ledger,
        "parameters": paper_parameters(),
        "versions": versions(),
        "about": about(),
        "theorems": theorems(),
    }
    return {name: json.dumps(value, sort_keys=True) for name, value in given.items()} | {
        "accent": palette.BLUE
    }


def citation() -> dict[str, Any]:
    """What ``CITATION.cff`` says of the compendium and, first of its references, of the paper."""
    return dict(yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8")))


def title() -> str:
    """The title of the replication article."""
    return f"[Re] {citation()['references'][0]['title']}"


def about() -> dict[str, Any]:
    """Title, authors and keywords."""
    known = citation()
    return {
        "title": title(),
        "authors": ", ".join(author["name"] for author in known["authors"]),
        "keywords": known["keywords"],
    }


def theorems() -> dict[str, tuple[str, str]]:
    """Kind and name of each result of ``paper/proofs.md`` by its number."""
    text = (ROOT / "paper/proofs.md").read_text(encoding="utf-8")
    found = re.findall(r"^### (Theorem|Lemma) (\d+): (.*)$", text, re.MULTILINE)
    plain = ((kind, number, re.sub(r"<sup>(.*?)</sup>", r"^\1", name)) for kind, number, name in found)
    return {number: (kind, name) for kind, number, name in plain}


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
    """Build the articles from the committed numbers and the committed ledger."""
    build(*(json.loads(path.read_text(encoding="utf-8")) for path in (NUMBERS, LEDGER)))
    for path in PDFS:
        print(f"{path}: {(output_root() / path).stat().st_size // 1024} KiB")
    return 0
