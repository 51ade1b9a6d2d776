"""``codecheck.yml`` and ``metadata.yaml`` are what would be made now, and keep the rules of their readers."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath
from typing import Any

import pytest
import yaml

from compendium.render import references, report, submission
from compendium.run.places import ROOT

CODECHECK, METADATA = ((ROOT / path).read_text(encoding="utf-8") for path in submission.FILES)
MADE = set(json.loads((ROOT / "manifest.json").read_text(encoding="utf-8"))) - set(map(str, submission.FILES))
NUMBERS, LEDGER = (json.loads(path.read_text(encoding="utf-8")) for path in (report.NUMBERS, report.LEDGER))

TEMPLATE = {
    "title": None,
    "authors": {"name", "orcid", "email", "affiliations"},
    "affiliations": {"code", "name", "address"},
    "keywords": None,
    "code": {"url", "doi", "swh"},
    "data": {"url", "doi"},
    "replication": {"cite", "bib", "url", "doi"},
    "abstract": None,
    "bibliography": None,
    "type": None,
    "domain": None,
    "language": None,
    "review": {"url"},
    "contributors": {"name", "orcid", "role"},
    "dates": {"received", "accepted", "published"},
    "article": {"number", "doi", "url"},
    "journal": {"name", "issn", "volume", "issue"},
}
"""The fields of the template of ReScience C in its order, and what a list of them holds."""
FOR_OTHERS = {
    "authors": {"orcid", "email"},
    "affiliations": {"name", "address"},
    "code": {"url", "doi", "swh"},
    "data": {"url", "doi"},
    "replication": {"url", "doi"},
    "review": {"url"},
    "contributors": {"name", "orcid"},
    "dates": {"received", "accepted", "published"},
    "article": {"number", "doi", "url"},
    "journal": {"volume", "issue"},
}
"""What is empty because nobody here knows it."""


def misconfigured(text: str) -> list[str]:
    """The rules of CODECHECK's specification 1.0, for what an author writes, that a text breaks."""
    if not re.match(r"%YAML 1\.\d\n---\n", text):
        return ["the document does not start with the version of YAML and ---"]
    about = yaml.safe_load(text)
    found = []
    if about.get("version") != "https://codecheck.org.uk/spec/config/1.0/":
        found.append("version is not that of the specification")
    listed = about.get("manifest")
    if not isinstance(listed, list) or not listed:
        return [*found, "there is no manifest"]
    for item in listed:
        path = PurePosixPath(str(item.get("file", "/")))
        if path.is_absolute() or ".." in path.parts or not set(item) <= {"file", "comment"}:
            found.append(f"{item} is no item of a manifest")
    paper = about.get("paper", {})
    if not paper.get("title") or not paper.get("reference"):
        found.append("the paper has no title or no reference")
    if not paper.get("authors") or not all(author.get("name") for author in paper["authors"]):
        found.append("the paper has no author, or one without a name")
    for people in (paper.get("authors") or (), about.get("codechecker", ())):
        for person in people:
            if not re.fullmatch(r"(\d{4}-){3}\d{3}[\dX]", person.get("ORCID", "0000-0000-0000-0000")):
                found.append(f"{person} has no plain ORCID")
    return found


def empty(about: dict[str, Any]) -> dict[str, set[str]]:
    """The fields without a value, by the field that they belong to."""
    found = {
        name: {field for item in value for field, content in item.items() if content is None}
        for name, value in about.items()
        if isinstance(value, list)
    }
    return {name: fields for name, fields in found.items() if fields}


def test_both_are_what_would_be_made_now() -> None:
    assert submission.codecheck(MADE) == CODECHECK
    assert submission.metadata(NUMBERS, LEDGER) == METADATA


def test_the_codecheck_keeps_the_rules() -> None:
    assert misconfigured(CODECHECK) == []
    about = yaml.safe_load(CODECHECK)
    assert all((ROOT / item["file"]).is_file() and item["file"] in MADE for item in about["manifest"])
    assert {path for path in MADE if path.endswith((".png", ".pdf"))} <= {
        item["file"] for item in about["manifest"]
    }
    assert not {"codechecker", "report", "certificate"} & set(about)  # nobody has checked it
    assert submission.UNCHECKED in CODECHECK


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("---\n", ""),
        ("%YAML 1.1\n", ""),
        ("config/1.0/", "config/0.1/"),
        ("manifest:", "list:"),
        ("- file: figures", "- path: figures"),
        ("- file: figures", "- file: /figures"),
        ("  title: ", "  name: "),
        ("  reference: ", "  see: "),
        ("  - name: ", "  - called: "),
        ("  - name: ", "  - ORCID: https://orcid.org/0000-0000-0000-0000\n    name: "),
    ],
)
def test_what_breaks_a_rule_of_codecheck_is_seen(old: str, new: str) -> None:
    assert old in CODECHECK
    assert misconfigured(CODECHECK.replace(old, new, 1)) != []


def test_the_metadata_have_the_fields_of_the_template() -> None:
    about = yaml.safe_load(METADATA)
    assert list(about) == list(TEMPLATE)
    for name, fields in TEMPLATE.items():
        if fields:
            assert {key for item in about[name] for key in item} == fields, name
        else:
            assert isinstance(about[name], str), name
            assert about[name], name
    assert empty(about) == FOR_OTHERS
    assert about["title"].startswith("[Re] ")
    assert about["type"] == "Replication"
    codes = {str(item["code"]) for item in about["affiliations"]}
    named = [author["affiliations"].split(",") for author in about["authors"]]
    assert sum("*" in those for those in named) == 1
    assert all(len(those) > 1 and set(those) <= {*codes, "*"} for those in named)
    assert (ROOT / about["bibliography"]).is_file()
    assert about["replication"][1]["bib"] in {source.key for source in references.read()}
    assert {item["role"] for item in about["contributors"]} == {"editor", "reviewer"}


def test_the_abstract_has_the_numbers_of_the_ledger() -> None:
    abstract = yaml.safe_load(METADATA)["abstract"]
    for count in (len(LEDGER["claims"]), LEDGER["counts"]["confirmed"], LEDGER["counts"]["depends"]):
        assert f" {count} " in abstract
    counts = LEDGER["counts"] | {"confirmed": LEDGER["counts"]["confirmed"] - 1}
    with pytest.raises(Exception, match="counts of confirmed differ"):
        submission.abstract(NUMBERS, LEDGER | {"counts": counts})
