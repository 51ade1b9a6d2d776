"""The ledger on the command line: table, JSON, Markdown, filters and exit codes."""

import json
import sys
from importlib import import_module
from pathlib import Path

import pytest

from compendium import claims, ledger, verify
from compendium.files import ROOT

QUICK = ["--section", "II"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = verify.main([*arguments])
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
    entries = [ledger.settle(claims.load()["mech-zero-bias"])]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[32mconfirmed" in verify.table(entries)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in verify.table(entries)


def test_markdown_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *QUICK, "--markdown")
    lines = out.splitlines()
    assert code == 0
    assert lines[0].startswith("| claim | section |")
    assert {line.replace("\\|", "").count("|") for line in lines} == {7}


def test_filters(capsys: pytest.CaptureFixture[str]) -> None:
    stated = claims.load()
    assert {claim.section for claim in verify.chosen(stated, ["v"]).values()} == {"V-A", "V-B", "V-C"}
    assert {claim.section for claim in verify.chosen(stated, ["I", "III-D"]).values()} == {"I", "III-D"}
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
    known = dict.fromkeys(verify.chosen(claims.load(), ["II"]), "confirmed")
    known["mech-variance-constraint"] = "slip"
    changed.write_text("".join(f'{name} = "{verdict}"\n' for name, verdict in known.items()))
    monkeypatch.setattr(verify, "EXPECTED", changed)
    code, out, _ = run(capsys, *QUICK)
    assert code == 1
    assert "unexpected: mech-variance-constraint: confirmed, expected slip" in out
    changed.write_text("not = = toml")
    code, out, err = run(capsys, *QUICK)
    assert (code, out) == (2, "")
    assert "verdicts.toml" in err


def test_accept_keeps_the_verdicts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(verify, "EXPECTED", tmp_path / "verdicts.toml")
    entries = [ledger.settle(claims.load()["mech-zero-bias"])]
    verify.accept(entries)
    assert verify.expected() == {"mech-zero-bias": "confirmed"}
    assert verify.unexpected(entries, entries) == []


def test_a_correction_must_be_confirmed() -> None:
    slip = ledger.settle(claims.load()["guide-delta-domain"])
    assert verify.unexpected([], [slip]) == ["guide-delta-domain: slip, expected confirmed"]


def test_the_command_line_finds_verify_by_its_entry_point() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, function = project["entry-points"]["tablebuilder_dp.commands"]["verify"].split(":")
    assert getattr(import_module(module), function) is verify.register
