"""The command line, in this process and as a user starts it."""

import io
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tablebuilder_dp import best_gamma, certified, cli, composition, design, privacy, symmetric

DESIGN = ["design", "--epsilon", "0.5", "--delta", "1e-4"]
PRIVACY = ["privacy", "--support", "11", "--variance", "4", "--epsilon", "0.5", "1", "2"]
TABLE = ["table", "--epsilon", "0.5", "--support", "25", "--keysize", "2^32"]
SIDES = ("one_sided", "two_sided", "smallest")
SAMPLE = ["sample", "--epsilon", "0.5", "--support", "25", "--keysize", "2^32", "2552", "1200124"]


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tablebuilder_dp", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert cli.main([*arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def text(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(list(arguments)) == 0
    return capsys.readouterr().out


def test_design_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, *DESIGN)
    assert list(found) == ["support", "epsilon", "delta_target", "delta", "gamma", "iota", "variance", "pmf"]
    expected = design.guide("0.5", "1e-4")
    assert (found["support"], found["epsilon"], found["delta_target"]) == (25, 0.5, 1e-4)
    assert (found["delta"], found["gamma"]) == (expected.delta, float(expected.gamma))
    assert (found["iota"], found["variance"]) == (float(expected.iota), expected.variance)
    assert found["pmf"] == expected.pmf.tolist()


def test_privacy_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, *PRIVACY)
    assert list(found) == ["support", "gamma", "variance", "profile", "cells"]
    assert found["variance"] == pytest.approx(4, rel=1e-14)
    gamma = certified.gamma(support=11, variance=4)
    assert found["gamma"] == pytest.approx(float(gamma), rel=1e-14)
    for row in found["profile"]:
        truth = certified.delta(row["epsilon"], support=11, gamma=gamma)
        assert row["delta"] == pytest.approx(float(truth), rel=1e-13)
    by_gamma = answer(capsys, "privacy", "--support", "11", "--gamma", "0.125", "--epsilon", "0.5")
    assert by_gamma["gamma"] == 0.125
    assert by_gamma["profile"] == [{"epsilon": 0.5, "delta": privacy.delta("0.5", support=11, gamma="0.125")}]


def test_design_with_free_gamma(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, *DESIGN, "--free-gamma")
    expected = best_gamma.guide("0.5", "1e-4")
    assert list(found) == ["support", "epsilon", "delta_target", "delta", "gamma", "kink", "variance", "pmf"]
    assert (found["support"], found["kink"], found["delta"]) == (24, 20, expected.delta)
    assert found["variance"] == expected.variance < design.guide("0.5", "1e-4").variance
    assert "kink               20\n" in text(capsys, *DESIGN, "--free-gamma")
    with pytest.raises(SystemExit) as stopped:
        cli.main([*DESIGN, "--free-gamma", "--slack", "0.1"])
    assert stopped.value.code == 2
    assert "not allowed with argument" in capsys.readouterr().err


def test_privacy_of_many_cells(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, *PRIVACY, "--cells", "10")
    noise = {"support": 11, "gamma": found["gamma"], "cells": 10}
    assert found["cells"] == 10
    for row in found["profile"]:
        assert row["delta"] == composition.delta(row["epsilon"], **noise)
    assert "10 cells that contain the same person" in text(capsys, *PRIVACY, "--cells", "10")
    assert cli.main([*PRIVACY, "--cells", "0"]) == 2
    assert capsys.readouterr().err == "tablebuilder-dp: cells must be an integer from 1 to 100000, got 0\n"


def test_symmetric_rule(capsys: pytest.CaptureFixture[str]) -> None:
    small = [*TABLE[:-1], "2^16"]
    ceiling, fair = (answer(capsys, *small, "--rule", rule) for rule in ("ceiling", "symmetric"))
    assert (fair["rule"], fair["bias"], fair["full_support"]) == ("symmetric", 0, True)
    assert fair["epsilon_two_sided"] <= 0.5 < ceiling["epsilon_two_sided"]
    assert fair["delta"] <= design.proposition_3("0.5", support=25).delta < ceiling["delta"]
    assert "[-25, 25], symmetric rule" in text(capsys, *small, "--rule", "symmetric")
    made = design.proposition_3("0.5", support=25)
    table = symmetric.lookup_table("0.5", support=25, gamma=made.gamma, keysize=2**16)
    assert tuple(fair["cuts"]) == table.cuts
    drawn = answer(capsys, "sample", *small[1:], "--rule", "symmetric", "0", "65535")
    assert drawn["samples"] == [-25, 25]
    assert cli.main([*TABLE[:-1], "70", "--rule", "symmetric"]) == 2
    assert "keysize must be a multiple of 51 or at least 102" in capsys.readouterr().err


def test_table_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, *TABLE)
    names = ["keysize", "support", "cuts", "full_support", "bias", "variance"]
    assert list(found) == [*names, *(f"epsilon_{which}" for which in SIDES), "delta", "rule"]
    assert found["rule"] == "ceiling"
    assert (found["keysize"], found["support"], found["full_support"]) == (2**32, 25, True)
    assert found["cuts"][:3] == [425760, 1126343, 2255949]
    assert found["cuts"][-1] == 2**32
    assert found["bias"] == -25 / 2**32
    assert found["epsilon_one_sided"] == pytest.approx(0.498037038323823, abs=5e-16)
    assert found["epsilon_one_sided"] < found["epsilon_smallest"] < found["epsilon_two_sided"]
    assert found["delta"] == 425760 / 2**32


def test_an_infinite_epsilon_is_the_string_inf(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, *TABLE[:-1], "2^8")
    assert (found["epsilon_one_sided"], found["epsilon_two_sided"], found["full_support"]) == (
        "inf",
        "inf",
        False,
    )


def test_sample_of_64_bit_keys(capsys: pytest.CaptureFixture[str]) -> None:
    keys = ["0", "18446744073709551615"]
    found = answer(capsys, "sample", "--epsilon", "0.5", "--support", "25", "--keysize", "2^64", *keys)
    assert found == {"samples": [-25, 25]}


def test_a_table_whose_design_delta_underflows(capsys: pytest.CaptureFixture[str]) -> None:
    shown = text(capsys, "table", "--epsilon", "10", "--support", "200", "--keysize", "2^32")
    assert "delta              below 1e-300           2.3283064365386963e-10" in shown


def test_output_in_a_poor_encoding() -> None:
    done = run(
        "design", "--epsilon", "0.1", "--delta", "1e-6", env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_sample_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, *SAMPLE) == {"samples": [-25, -23]}


@pytest.mark.parametrize("keysize", ["2^16", "2**16", "65536"])
def test_keysize_may_be_a_power(capsys: pytest.CaptureFixture[str], keysize: str) -> None:
    assert answer(capsys, *TABLE[:-1], keysize)["keysize"] == 65536


def test_slack_is_passed_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, *DESIGN, "--slack", "0")["iota"] == 0
    assert answer(capsys, *DESIGN, "--slack", "1")["gamma"] == pytest.approx(0.5 / 53)


def test_tables_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    shown = text(capsys, *DESIGN)
    assert shown.startswith("Smallest support for epsilon 0.5, delta 1e-4: D = 25\n")
    assert "0.0568954812438709" in shown
    shown = text(capsys, *PRIVACY)
    assert "delta falls until epsilon 2.625 and stays at 5.38489770589489e-08 from there" in shown
    assert "0.0540072092496073" in shown
    shown = text(capsys, "privacy", "--support", "1000", "--variance", "4", "--epsilon", "0.5")
    assert "delta falls until epsilon 249.875, to about 1e-54288" in shown
    shown = text(capsys, *TABLE[:-1], "2^8")
    assert "values lost        none                   -24, -23, -22" in shown
    assert "values lost        none                   none" in text(capsys, *TABLE)
    assert "1200124   -23" in text(capsys, *SAMPLE)


def test_long_tables_show_their_ends(capsys: pytest.CaptureFixture[str]) -> None:
    shown = text(capsys, "design", "--epsilon", "0.1", "--delta", "1e-6").splitlines()
    assert len(shown) < 40
    assert any("more (all with --json)" in line for line in shown)


BAD = {
    "epsilon must be a number in (0, 500], got '-1'": ["design", "--epsilon", "-1", "--delta", "1e-4"],
    "epsilon must be a number in (0, 500], got 'nan'": ["design", "--epsilon", "nan", "--delta", "1e-4"],
    "epsilon must be a number in (0, 500], got '0'": [
        "privacy",
        "--support",
        "3",
        "--gamma",
        "1",
        "--epsilon",
        "0",
    ],
    "delta must be a number in (0, 1), got '1'": ["design", "--epsilon", "1", "--delta", "1"],
    "slack must be a number in [0, 1], got '2'": [*DESIGN, "--slack", "2"],
    "gamma must be a number in (0, 690], got 'inf'": [
        "privacy",
        "--support",
        "3",
        "--gamma",
        "inf",
        "--epsilon",
        "1",
    ],
    "support must be an integer, got '2.5'": [
        "privacy",
        "--support",
        "2.5",
        "--gamma",
        "1",
        "--epsilon",
        "1",
    ],
    "support must be an integer from 1 to 1000000, got 0": [
        "table",
        "--epsilon",
        "1",
        "--support",
        "0",
        "--keysize",
        "8",
    ],
    "keysize must be an integer, got '2^x'": [*TABLE[:-1], "2^x"],
    "keysize must be an integer from 2 to 18446744073709551616, got 36893488147419103232": [
        *TABLE[:-1],
        "2^65",
    ],
    "key must be an integer, got 'abc'": [*SAMPLE, "abc"],
    "keys must be integers from 0 to 4294967295, got 4294967296": [*SAMPLE, "4294967296"],
    "keys must be integers from 0 to 4294967295, got -1": [*SAMPLE, "-1"],
    "the following arguments are required: --delta": ["design", "--epsilon", "1"],
    "argument --gamma: not allowed with argument --variance": [*PRIVACY, "--gamma", "1"],
    "one of the arguments --variance --gamma is required": ["privacy", "--support", "3", "--epsilon", "1"],
    "unrecognized arguments: --colour": [*DESIGN, "--colour"],
    "the following arguments are required: COMMAND": [],
}


@pytest.mark.parametrize(("message", "arguments"), BAD.items(), ids=BAD)
def test_bad_input_is_one_sentence_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], message: str, arguments: list[str]
) -> None:
    try:
        code = cli.main(arguments)
    except SystemExit as stop:
        code = int(str(stop.code))
    out, err = capsys.readouterr()
    assert (code, out, err) == (2, "", f"tablebuilder-dp: {message}\n")


def test_a_real_process_prints_what_the_function_prints(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (DESIGN, PRIVACY, TABLE, SAMPLE):
        for extra in ([], ["--json"]):
            cli.main([*arguments, *extra])
            done = run(*arguments, *extra)
            assert (done.returncode, done.stderr) == (0, "")
            assert done.stdout == capsys.readouterr().out


def test_a_real_process_fails_with_one_sentence() -> None:
    done = run("design", "--epsilon", "-1", "--delta", "1e-4")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "tablebuilder-dp: epsilon must be a number in (0, 500], got '-1'\n"
    done = run("nonsense")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_help_lists_the_commands() -> None:
    done = run("--help")
    assert done.returncode == 0
    for command in ("design", "privacy", "table", "sample"):
        assert command in done.stdout


def test_a_reader_that_stops_early_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = "table --epsilon 0.01 --support 20000 --keysize 2^32 --json"
    command = f"{sys.executable} -m tablebuilder_dp {arguments} | head -c 10"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)  # noqa: S607
    assert (done.stdout, done.stderr) == ('{"keysize"', "")

    class Closed(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

        def fileno(self) -> int:
            return 99

    duplicated: list[int] = []
    monkeypatch.setattr("os.dup2", lambda _, target: duplicated.append(target))
    monkeypatch.setattr(sys, "stdout", Closed())
    assert cli.main(SAMPLE) == 0
    assert duplicated == [99]
