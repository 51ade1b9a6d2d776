"""The ledger on the command line: table, JSON, Markdown, filters and exit codes."""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from compendium.__main__ import main
from compendium.ledger import book, claims, verdicts, verify
from compendium.render import readme
from compendium.run.places import ROOT

QUICK = ["--section", "II"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        code = main(["verify", *arguments])
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_json_has_the_claims_and_says_whether_they_are_as_expected(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, *QUICK, "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["as_expected"] is True
    assert answer["unexpected"] == []
    assert {claim["section"] for claim in answer["claims"]} == {"II"}
    assert {"id", "where", "says", "printed", "verdict", "found", "evidence", "check"} <= set(
        answer["claims"][0]
    )
    assert sum(answer["counts"].values()) == sum(answer["bases"].values()) == 4


def test_table_is_for_reading(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *QUICK)
    assert code == 0
    assert "mech-variance-constraint" in out
    assert "4 claims: 3 confirmed, 1 depends" in out
    assert "known: 2 machine-checked, 1 proved for all parameters, 1 tried on a grid" in out
    assert "All verdicts, values and evidence are as stored." in out
    assert "\x1b[" not in out


def test_colour_only_where_there_is_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [verdicts.settle(claims.load()["mech-zero-bias"])]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    assert "\x1b[32mconfirmed" in verify.table(entries)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in verify.table(entries)


def test_markdown_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *QUICK, "--markdown")
    lines = out.splitlines()
    assert code == 0
    assert lines[0].startswith("| claim | where |")
    assert {line.replace("\\|", "").count("|") for line in lines} == {8}


def test_filters(capsys: pytest.CaptureFixture[str]) -> None:
    stated = claims.load()
    assert {claim.section for claim in book.chosen(stated, ["v"]).values()} == {"V-A", "V-B", "V-C"}
    assert {claim.section for claim in book.chosen(stated, ["I", "III-D"]).values()} == {"I", "III-D"}
    code, out, _ = run(capsys, *QUICK, "--verdict", "slip", "--json")
    assert code == 0
    assert json.loads(out)["claims"] == []
    code, out, _ = run(capsys, "--section", "VI", "--limits", "--json")
    assert code == 0
    assert [claim["id"] for claim in json.loads(out)["claims"]] == ["con-achieved"]
    with pytest.raises(ValueError, match="--json alone"):
        verify.run(_options("ex1-p12", "--limits"))


def _options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    verify.add_options(parser)
    return parser.parse_args(arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--section", "VII"], ["section must be one of", "III-A", "'VII'"]),
        (["--verdict", "true"], ["--verdict", "contradicted", "'true'"]),
        (["--verdict", ""], ["--verdict"]),
        ([*QUICK, "--json", "--markdown"], ["--json", "--markdown"]),
        (["ex1-p99"], ["claim", "'ex1-p99'"]),
        (["--section=--"], ["--section", "'--'"]),
        (["ex1-p12", "--markdown"], ["--json", "claims"]),
    ],
)
def test_bad_options_get_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert all(word in err for word in words)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("verdict", "slip", "mech-variance-constraint: verdict is depends, stored slip"),
        ("found", "holds", "mech-variance-constraint: found is V up to"),
        ("evidence", "a guess", "mech-variance-constraint: evidence is"),
        (
            "basis",
            "decided exactly",
            "mech-variance-constraint: basis is tried on a grid, stored",
        ),
    ],
)
def test_whatever_is_not_as_stored_is_named_and_fails(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    field: str,
    value: str,
    said: str,
) -> None:
    content = json.loads((ROOT / book.LEDGER).read_text(encoding="utf-8"))
    [entry] = [entry for entry in content["claims"] if entry["id"] == "mech-variance-constraint"]
    entry[field] = value
    store(monkeypatch, tmp_path, content)
    code, out, _ = run(capsys, *QUICK)
    assert code == 1
    assert f"unexpected: {said}" in out


def store(monkeypatch: pytest.MonkeyPatch, root: Path, content: dict[str, Any]) -> None:
    """Let another ledger be the stored one."""
    (root / "paper").mkdir()
    (root / book.LEDGER).write_text(json.dumps(content), encoding="utf-8")
    read = book.read
    monkeypatch.setattr(book, "read", lambda: read(root))


def test_a_ledger_that_cannot_be_read_is_refused_before_the_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store(monkeypatch, tmp_path, {})
    code, out, err = run(capsys, *QUICK)
    assert (code, out) == (2, "")
    assert "ledger.json" in err


def test_a_correction_must_be_confirmed() -> None:
    slip = verdicts.settle(claims.load()["guide-delta-domain"])
    assert book.unexpected([], [slip]) == ["guide-delta-domain: ours, but slip"]


def test_one_claim_is_shown_whole_with_the_code_that_decides_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "ex1-p12")
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    assert "printed 0.016632589297126" in said
    assert "verdict slip" in said
    assert "what is printed is p(±11)" in said
    stated = (claims.PAPER).read_text(encoding="utf-8").splitlines()
    [line] = [n for n, text in enumerate(stated, 1) if text == 'printed = "0.016632589297126"']
    assert f"paper/claims.toml:{line} 0.016632589297126" in said
    assert "src/compendium/ledger/checks/examples.py:" in out
    assert "src/tablebuilder_dp/certified.py:" in out
    for file, first, name in re.findall(
        r"(src/\S+\.py):(\d+)-\d+  (?:\w+\.|<locals>\.)*(\w+)$", out, re.MULTILINE
    ):
        source = (ROOT / file).read_text(encoding="utf-8").splitlines()
        assert any(f"def {name}(" in text for text in source[int(first) - 1 : int(first) + 3]), (file, name)


def test_one_claim_as_json_has_its_path(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "ex1-p12", "fix-drop-slack", "--json")
    answer = json.loads(out)
    assert (code, answer["as_expected"]) == (0, True)
    assert [entry["id"] for entry in answer["claims"]] == ["ex1-p12", "fix-drop-slack"]
    assert {"depth", "name", "file", "first", "last"} == set(answer["claims"][0]["path"][0])
    assert answer["claims"][0]["printed_at"].startswith("paper/claims.toml:")


def test_the_path_has_what_compares_and_does_not_hang_on_earlier_claims(
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = []
    for names in (["ex1-p12"], ["ex1-p0", "ex1-p12"]):
        answer = json.loads(run(capsys, *names, "--json")[1])
        paths.append([(step["name"], step["file"]) for step in answer["claims"][-1]["path"]])
    assert paths[0] == paths[1]
    assert ("rounds_to", "src/compendium/ledger/claims.py") in paths[0]
    assert ("pmf", "src/tablebuilder_dp/certified.py") in paths[0]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A ledger of two claims and one statement of ours, as it is stored."""
    paper, ours = claims.load(), claims.load(claims.OURS)
    stated = {
        claims.PAPER: {name: paper[name] for name in ("ex1-support", "guide-delta-domain")},
        claims.OURS: {name: ours[name] for name in ("fix-drop-slack",)},
    }
    monkeypatch.setattr(claims, "load", lambda path=claims.PAPER: stated[path])
    settled = {path: tuple(map(verdicts.settle, part.values())) for path, part in stated.items()}
    store(monkeypatch, tmp_path, book.Book(settled[claims.PAPER], settled[claims.OURS], ()).content())
    return tmp_path / book.LEDGER


@pytest.mark.usefixtures("small")
def test_a_filter_by_verdict_shows_less_and_counts_all(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--verdict", "Slip", "--json")
    answer = json.loads(out)
    assert code == 0
    assert [claim["id"] for claim in answer["claims"]] == ["guide-delta-domain"]
    assert (answer["counts"]["confirmed"], answer["counts"]["slip"]) == (1, 1)
    assert [claim["verdict"] for claim in answer["corrections"]] == ["confirmed"]


@pytest.mark.parametrize("width", [60, 150])
@pytest.mark.usefixtures("small")
def test_the_table_fits_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, _ = run(capsys)
    assert code == 0
    longest = max(len(line) for line in out.splitlines()[:-4])
    assert 0.7 * width < longest <= width
    assert "should be 0 < delta < 1" in " ".join(out.split())
    assert "1 statement of ours: 1 confirmed" in out


def test_a_claim_that_is_stored_and_missing_is_noticed(
    capsys: pytest.CaptureFixture[str], small: Path
) -> None:
    content = json.loads(small.read_text(encoding="utf-8"))
    content["claims"].append(content["claims"][0] | {"id": "ex1-p0"})
    small.write_text(json.dumps(content), encoding="utf-8")
    code, out, err = run(capsys, "--markdown")
    assert code == 1
    assert err == "unexpected: ex1-p0: missing\n"
    assert "how it is known" in out


def test_the_glance_has_what_touches_a_conclusion_gravest_first_and_then_the_counts() -> None:
    shown = readme.glance(book.read())
    first, *bullets, last = [line for line in shown.splitlines() if line]
    assert first.startswith("Of 251 statements of the paper 199 hold as printed.")
    assert [bullet.split(":")[0] for bullet in bullets] == [
        "- **contradicted**",
        "- **slip**",
        "- **depends**",
    ]
    assert "(ε<sup>Q</sup>, δ<sup>Q</sup>)-differentially private" in bullets[0]
    assert "Proposition 3 and the design guide" in bullets[1]
    assert "In all, 52 statements do not hold as printed: they fail (3), are slips (9), " in last
    assert "depend on how they are read (33)," in last
    assert "or err in a last digit (2). [The errata]" in last


def test_the_glance_of_a_part_names_what_is_in_it() -> None:
    stated = claims.load()
    entries = [
        verdicts.settle(stated[name]) for name in ("ex1-support", "exp-variance-16", "guide-delta-domain")
    ]
    shown = readme.glance(book.Book(tuple(entries), (), ()))
    assert shown.startswith("Of 3 statements of the paper 1 hold as printed.")
    assert "2 statements do not hold as printed: they fail (1) or are slips (1). [The errata]" in shown
