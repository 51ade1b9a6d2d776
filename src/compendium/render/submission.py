"""``codecheck.yml`` and ``metadata.yaml``: what CODECHECK and ReScience C ask for, from what is there.

``codecheck.yml`` follows version 1.0 of the specification of its configuration file, ``metadata.yaml`` the
template of ReScience C. A field of which nothing is known stays empty; a comment says who is to fill it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import typst
import yaml

from compendium.render import references, report
from compendium.run import notebooks
from compendium.run.places import ROOT, output_root, write

CODECHECK = Path("codecheck.yml")
METADATA = Path("metadata.yaml")
FILES = (CODECHECK, METADATA)
SPECIFICATION = "https://codecheck.org.uk/spec/config/1.0/"
UNCHECKED = """\
# Nobody has checked this compendium yet: codechecker, report and certificate are for the one who does.
"""
UNSUBMITTED = """\
# Not submitted yet. Before that, the authors fill in orcid, email, affiliations and the address of the code;
# review, contributors, dates, article and journal are the editor's.
"""
DOCUMENTS = {
    "paper/errata.md": "Every statement of the paper that does not hold as printed",
    "paper/report.pdf": "The replication article",
    "paper/beyond.pdf": "The companion article: what goes past the paper",
}


def build(numbers: Mapping[str, Any], ledger: Mapping[str, Any], files: Iterable[str]) -> None:
    """Write both files for these numbers, this ledger and the files that a run makes."""
    write(output_root() / CODECHECK, codecheck(files))
    write(output_root() / METADATA, metadata(numbers, ledger))


def codecheck(files: Iterable[str]) -> str:
    """The configuration of a codecheck that makes these files again."""
    listed = [{"file": path, "comment": words} for path in sorted(files) if (words := comment(path))]
    about = {
        "version": SPECIFICATION,
        "manifest": listed,
        "paper": {
            "title": report.title(),
            "authors": [{"name": author["name"]} for author in report.citation()["authors"]],
            "reference": f"Not published. A replication of: {_source().words()}",
        },
    }
    return f"%YAML 1.1\n---\n{UNCHECKED}{_yaml(about)}"


def comment(path: str) -> str:
    """What a file is; nothing for one that a codecheck need not make again: data and copies of a picture."""
    if path in DOCUMENTS:
        return DOCUMENTS[path]
    name = Path(path)
    if name.suffix == ".ipynb" and name.parent.name == "notebooks":
        heading = notebooks.source(notebooks.read(ROOT / path)["cells"][0]).partition("\n")[0]
        return f"Notebook {heading.removeprefix('# ')}"
    if name.suffix != ".png":
        return ""
    kind, _, rest = name.stem.partition("-")
    return f"Figure {rest} of the paper" if kind == "figure" else f"Figure of notebook {kind}"


def metadata(numbers: Mapping[str, Any], ledger: Mapping[str, Any]) -> str:
    """The metadata of the replication article, in the order of the template; a star is the contact author."""
    known = report.citation()
    names = [author["name"] for author in known["authors"]]
    about = {
        "title": report.title(),
        "authors": [{"name": name, "orcid": None, "email": None, "affiliations": "1,*"} for name in names],
        "affiliations": [{"code": 1, "name": None, "address": None}],
        "keywords": ", ".join([*known["keywords"], "rescience c", "python"]),
        "code": [{"url": known.get("repository-code")}, {"doi": known.get("doi")}, {"swh": None}],
        "data": [{"url": None}, {"doi": None}],
        "replication": [
            {"cite": _source().words()},
            {"bib": "paper"},
            {"url": _source().fields.get("url")},
            {"doi": _source().fields.get("doi")},
        ],
        "abstract": abstract(numbers, ledger),
        "bibliography": references.REFERENCES,
        "type": "Replication",
        "domain": "Statistics",
        "language": "Python",
        "review": [{"url": None}],
        "contributors": [
            {"name": None, "orcid": None, "role": role} for role in ("editor", "reviewer", "reviewer")
        ],
        "dates": [{"received": None}, {"accepted": None}, {"published": None}],
        "article": [{"number": None}, {"doi": None}, {"url": None}],
        "journal": [{"name": "ReScience C"}, {"issn": "2430-3658"}, {"volume": None}, {"issue": None}],
    }
    return f"{UNSUBMITTED}{_yaml(about)}"


def abstract(numbers: Mapping[str, Any], ledger: Mapping[str, Any]) -> str:
    """The abstract of the replication article, with its numbers."""
    found = typst.query(
        report.source("report"),
        "<abstract>",
        field="value",
        one=True,
        root=ROOT,
        ignore_system_fonts=True,
        sys_inputs=report.inputs(numbers, ledger),
    )
    return str(json.loads(found))


def _source() -> references.Source:
    return next(source for source in references.read() if source.key == "paper")


def _yaml(about: Mapping[str, Any]) -> str:
    text = yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=115)
    return str(text).replace(": null\n", ":\n")
