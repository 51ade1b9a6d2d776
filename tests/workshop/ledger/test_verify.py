"""The ledger on the command line: table, JSON, Markdown, filters and exit codes."""

import json
import re
import sys
from pathlib import Path

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
    assert sum(answer["counts"].values()) == 5


def test_table_is_for_reading(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *QUICK)
    assert code == 0
    assert "mech-variance-constraint" in out
    assert "5 claims: 5 confirmed" in out
    assert "All verdicts are as expected." in out
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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--section", "VII"], ["--section", "III-A", "'VII'"]),
        (["--verdict", "true"], ["--verdict", "contradicted", "'true'"]),
        (["--verdict", ""], ["--verdict"]),
        ([*QUICK, "--accept"], ["--accept", "--section"]),
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


def test_an_unexpected_verdict_is_named_and_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    changed = tmp_path / "verdicts.toml"
    known = dict.fromkeys(book.chosen(claims.load(), ["II"]), "confirmed")
    known["mech-variance-constraint"] = "slip"
    changed.write_text("".join(f'{name} = "{verdict}"\n' for name, verdict in known.items()))
    monkeypatch.setattr(book, "EXPECTED", changed)
    code, out, _ = run(capsys, *QUICK)
    assert code == 1
    assert "unexpected: mech-variance-constraint: confirmed, expected slip" in out
    changed.write_text("not = = toml")
    code, out, err = run(capsys, *QUICK)
    assert (code, out) == (2, "")
    assert "verdicts.toml" in err


def test_accept_keeps_the_verdicts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(book, "EXPECTED", tmp_path / "verdicts.toml")
    entries = [verdicts.settle(claims.load()["mech-zero-bias"])]
    book.accept(entries)
    assert book.expected() == {"mech-zero-bias": "confirmed"}
    assert book.unexpected(entries, entries) == []


def test_a_correction_must_be_confirmed() -> None:
    slip = verdicts.settle(claims.load()["guide-delta-domain"])
    assert book.unexpected([], [slip]) == ["guide-delta-domain: slip, expected confirmed"]


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
    """A ledger of two claims and one statement of ours, with its expected verdicts in a file."""
    paper, ours = claims.load(), claims.load(claims.OURS)
    stated = {
        claims.PAPER: {name: paper[name] for name in ("ex1-support", "guide-delta-domain")},
        claims.OURS: {name: ours[name] for name in ("fix-drop-slack",)},
    }
    monkeypatch.setattr(claims, "load", lambda path=claims.PAPER: stated[path])
    monkeypatch.setattr(book, "EXPECTED", tmp_path / "verdicts.toml")
    (tmp_path / "verdicts.toml").write_text('ex1-support = "confirmed"\nguide-delta-domain = "slip"\n')
    return tmp_path / "verdicts.toml"


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
    longest = max(len(line) for line in out.splitlines()[:-3])
    assert 0.7 * width < longest <= width
    assert "should be 0 < delta < 1" in " ".join(out.split())
    assert "1 statement of ours: 1 confirmed" in out


def test_a_missing_claim_is_noticed_and_accept_keeps_what_is_there(
    capsys: pytest.CaptureFixture[str], small: Path
) -> None:
    small.write_text(small.read_text() + 'ex1-p0 = "confirmed"\n')
    code, out, err = run(capsys, "--markdown")
    assert code == 1
    assert err == "unexpected: ex1-p0: missing, expected confirmed\n"
    assert "how it is known" in out
    assert run(capsys, "--accept")[0] == 0
    assert book.expected() == {"ex1-support": "confirmed", "guide-delta-domain": "slip"}


def test_the_glance_has_the_counts_and_what_is_contradicted() -> None:
    stated = claims.load()
    entries = [verdicts.settle(stated[name]) for name in ("ex1-support", "exp-variance-16")]
    shown = readme.glance(book.Book(tuple(entries), (), ()))
    assert "| 2 | 1 | 0 | 0 | 0 | 1 |" in shown
    assert shown.endswith(f": 1e-10.* {entries[1].because}")
