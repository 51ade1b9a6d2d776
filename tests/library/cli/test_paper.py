"""The command line, in this process and as a user starts it."""

import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tablebuilder_dp import certified, design, privacy, sampling
from tablebuilder_dp.beyond import best_gamma, composition, many_cells, symmetric
from tablebuilder_dp.certified import Enclosed
from tablebuilder_dp.cli import main
from tablebuilder_dp.counts import perturbation_table, table_files
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.noise import Geometric, Noise

DESIGN = ["design", "--epsilon", "0.5", "--delta", "1e-4"]
PRIVACY = ["privacy", "--support", "11", "--variance", "4", "--epsilon", "0.5", "1", "2"]
TABLE = ["table", "--epsilon", "0.5", "--support", "25", "--keysize", "2^32"]
SIDES = ("one_sided", "two_sided", "smallest")
SAMPLE = ["sample", "--epsilon", "0.5", "--support", "25", "--keysize", "2^32", "2552", "1200124"]


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tablebuilder_dp", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main.main([*arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def text(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main.main(list(arguments)) == 0
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
        truth = certified.delta(Enclosed(11, gamma), row["epsilon"])
        assert row["delta"] == pytest.approx(float(truth), rel=1e-13)
    by_gamma = answer(capsys, "privacy", "--support", "11", "--gamma", "0.125", "--epsilon", "0.5")
    assert by_gamma["gamma"] == 0.125
    assert by_gamma["profile"] == [{"epsilon": 0.5, "delta": privacy.delta(Noise(11, "0.125"), "0.5")}]


def test_design_with_free_gamma(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, *DESIGN, "--free-gamma")
    expected = best_gamma.guide("0.5", "1e-4")
    assert list(found) == ["support", "epsilon", "delta_target", "delta", "gamma", "kink", "variance", "pmf"]
    assert (found["support"], found["kink"], found["delta"]) == (24, 20, expected.delta)
    assert found["variance"] == expected.variance < design.guide("0.5", "1e-4").variance
    assert "kink               20\n" in text(capsys, *DESIGN, "--free-gamma")
    with pytest.raises(SystemExit) as stopped:
        main.main([*DESIGN, "--free-gamma", "--slack", "0.1"])
    assert stopped.value.code == 2
    assert "not allowed with argument" in capsys.readouterr().err


def test_design_for_many_cells(capsys: pytest.CaptureFixture[str]) -> None:
    call = ["design", "--epsilon", "1", "--delta", "1e-6", "--cells"]
    found = answer(capsys, *call, "16")
    made = many_cells.best(1, "1e-6", cells=16)
    assert (found["noise"], found["support"], found["variance"]) == ("max-entropy", 94, made.variance)
    assert found["rate"] == float(made.noise.rates[1])
    assert made.promise.delta <= found["delta"] <= found["delta_target"] == 1e-6
    assert found["standard_deviation"] == math.sqrt(found["variance"])
    assert list(found["variances"]) == ["max-entropy", "geometric"]
    said = text(capsys, *call, "16")
    assert said.startswith("Noise of the least variance found for epsilon 1, delta 1e-6 of 16 cells")
    assert "geometric noise would need a variance of 477.86" in said
    alone = answer(capsys, *call, "4", "--noise", "max-entropy")
    assert list(alone["variances"]) == ["max-entropy"]
    assert alone["variance"] > answer(capsys, *call, "4")["variance"]
    assert "of one cell: geometric" in text(capsys, *call, "1")


def test_privacy_of_many_cells(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, *PRIVACY, "--cells", "10")
    noise = Noise(11, found["gamma"])
    assert found["cells"] == 10
    for row in found["profile"]:
        assert row["delta"] == composition.delta(noise, row["epsilon"], cells=10)
    assert "10 cells with one person in them, of independent noises" in text(
        capsys, *PRIVACY, "--cells", "10"
    )
    assert main.main([*PRIVACY, "--cells", "0"]) == 2
    assert capsys.readouterr().err == "tablebuilder-dp: cells must be an integer from 1 to 100000, got 0\n"


def test_privacy_of_geometric_noise(capsys: pytest.CaptureFixture[str]) -> None:
    call = ["privacy", "--support", "60", "--rate", "0.25", "--epsilon", "0.5", "1"]
    noise = Geometric(60, "0.25")
    alone, eight = answer(capsys, *call), answer(capsys, *call, "--cells", "8")
    assert (alone["rate"], alone["variance"]) == (0.25, noise.variance)
    assert [row["delta"] for row in alone["profile"]] == privacy.delta(noise, ["0.5", 1]).tolist()
    assert [row["delta"] for row in eight["profile"]] == composition.delta(
        noise, ["0.5", 1], cells=8
    ).tolist()
    assert "  rate               0.25\n" in text(capsys, *call)


def test_symmetric_rule(capsys: pytest.CaptureFixture[str]) -> None:
    small = [*TABLE[:-1], "2^16"]
    ceiling, fair = (answer(capsys, *small, "--rule", rule) for rule in ("ceiling", "symmetric"))
    assert (fair["rule"], fair["bias"], fair["full_support"]) == ("symmetric", 0, True)
    assert fair["epsilon_two_sided"] <= 0.5 < ceiling["epsilon_two_sided"]
    assert fair["delta"] <= design.proposition_3("0.5", support=25).delta < ceiling["delta"]
    assert "[-25, 25], symmetric rule" in text(capsys, *small, "--rule", "symmetric")
    made = design.proposition_3("0.5", support=25)
    table = sampling.lookup_table(made, keysize=2**16, rule=symmetric.rule("0.5"))
    assert tuple(fair["cuts"]) == table.cuts
    drawn = answer(capsys, "sample", *small[1:], "--rule", "symmetric", "0", "65535")
    assert drawn["samples"] == [-25, 25]
    assert main.main([*TABLE[:-1], "70", "--rule", "symmetric"]) == 2
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


@pytest.fixture
def table_file(tmp_path: Path) -> str:
    """A small table with an empty cell that stays empty."""
    path = tmp_path / "table.txt"
    table_files.write(perturbation_table.build(OfVariance(2, 1), keysize=256), path, layout="sas")
    return str(path)


def test_privacy_of_a_table_as_json(capsys: pytest.CaptureFixture[str], table_file: str) -> None:
    found = answer(capsys, "privacy", "--table", table_file, "--epsilon", "0.5", "2")
    assert list(found) == ["table", "keysize", "support", "counts", "guarantee", "profile"]
    assert (found["table"], found["keysize"], found["support"], found["counts"]) == (table_file, 256, 2, 3)
    table, starts = table_files.read(table_file), {"from_0": 0, "from_1": 1, "from_largest": 2}
    for name, first in starts.items():
        assert found["guarantee"][name] == perturbation_table.guarantee(table, first=first)._asdict()
    assert list(found["guarantee"]) == list(starts)
    for row, epsilon in zip(found["profile"], ("0.5", "2"), strict=True):
        truth = {
            name: perturbation_table.guarantee(table, first=first, epsilon=epsilon)
            for name, first in starts.items()
        }
        assert row == {
            "epsilon": float(epsilon),
            "delta": truth["from_0"].delta,
            **{f"delta_{name}": one.delta for name, one in truth.items()},
            "worst": truth["from_0"].worst,
        }
    assert found["profile"][0]["delta_from_1"] > found["profile"][0]["delta_from_largest"]
    assert answer(capsys, "privacy", "--table", table_file)["profile"] == []


def test_privacy_of_a_table_for_people(
    capsys: pytest.CaptureFixture[str], table_file: str, tmp_path: Path
) -> None:
    shown = text(capsys, "privacy", "--table", table_file)
    assert shown.startswith(f"Perturbation table {table_file}: 256 keys, noise on [-2, 2]\n")
    assert "counts 0 to 2, larger ones as 2\n" in shown
    assert "  any number       0.6015625              0.0                    0 and 1\n" in shown
    assert "  2 or more        0.06640625 " in shown
    assert "delta, any" not in shown
    assert "no epsilon makes it less than 0.6015625, because of the counts 0 and 1." in shown
    shown = text(capsys, "privacy", "--table", table_file, "--epsilon", "1")
    assert (
        "  epsilon   delta, any number      delta, 1 or more       delta, 2 or more       worst pair\n"
        in shown
    )
    assert "  1         0.6015625              0.2179" in shown
    rounding = tmp_path / "rounding.csv"
    cells = [f"{n},{key},{3 * round(n / 3) - n}\n" for n in range(1, 7) for key in (0, 1)]
    rounding.write_text("pcv,ckey,pvalue\n" + "".join(cells))
    shown = text(capsys, "privacy", "--table", str(rounding))
    assert "counts 0 to 6, larger ones refused\n" in shown
    assert (
        "Here it is 1 for the counts 1 and 2: their published values tell them apart with certainty." in shown
    )
    coin = sampling.LookupTable(2, (0, 1, 2))
    even = perturbation_table.PerturbationTable((coin, sampling.LookupTable(2, (1, 2, 2))), period=0)
    table_files.write(even, tmp_path / "even.csv", layout="ons")
    shown = text(capsys, "privacy", "--table", str(tmp_path / "even.csv"))
    assert "Here it is 0 from epsilon 0.0 on: no value excludes a count." in shown
    table_files.write(perturbation_table.build(Noise(1, 1), keysize=2), rounding, layout="ons")
    assert "larger ones as the last 250 in turn" in text(capsys, "privacy", "--table", str(rounding))


def test_privacy_of_tables_as_other_software_writes_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """tau-argus' ptab_freq.txt up to count 1, and the same shuffled as ptable's modify_cnt_ptable() does."""
    plain, mixed = tmp_path / "plain.txt", tmp_path / "mixed.txt"
    plain.write_text(
        "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.73446954;-1;0.73446954\n1;3;0.13672019;2;0.87118973\n"
        "1;4;0.07279631;3;0.94398604\n1;5;0.03742956;4;0.9814156\n1;6;0.0185844;5;1\n"
    )
    mixed.write_text(
        '"i";"j";"p";"v";"p_ij_ub"\n0;0;1;0;1\n1;5;0.03742956;4;0.03742956\n1;0;0.73446954;-1;0.7718991\n'
        "1;4;0.07279631;3;0.84469541\n1;3;0.13672019;2;0.9814156\n1;6;1.85844e-02;5;1\n"
    )
    found = [answer(capsys, "privacy", "--table", str(path), "--epsilon", "1") for path in (plain, mixed)]
    assert {**found[0], "table": ""} == {**found[1], "table": ""}
    assert (found[0]["keysize"], found[0]["support"], found[0]["counts"]) == (10**8, 5, 2)
    alone = 0.73446954 + 0.13672019  # of the counts 1 and 2 only 1 is published as 0 or 3
    assert found[0]["profile"][0]["delta"] == pytest.approx(alone, rel=1e-12)
    plain.write_text("i;j;p;v;p_int_ub;type\n0;0;1;0;1;even\n")
    assert main.main(["privacy", "--table", str(plain)]) == 2
    assert "must be of a table for counts" in capsys.readouterr().err


@pytest.mark.parametrize("rule", ["ceiling", "symmetric"])
@pytest.mark.parametrize("way", ["rows", "clamped"])
def test_a_table_of_all_counts_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, way: str, rule: str
) -> None:
    path, asked = tmp_path / "table.txt", ["table", "--epsilon", "1", "--support", "5", "--keysize", "2^6"]
    asked += ["--rule", rule]
    before = answer(capsys, *asked)
    found = answer(capsys, *asked, "--small-counts", way, "-o", str(path))
    assert found == {**before, "output": str(path), "layout": "tau-argus", "small_counts": way}
    table = table_files.read(path)
    assert table.rows[-1].cuts == tuple(found["cuts"])
    noise, chosen = design.proposition_3("1", support=5), symmetric.rule("1", name=rule)
    assert table == perturbation_table.build(noise, keysize=2**6, small_counts=way, rule=chosen)
    assert path.read_text().startswith("i;j;p;v;p_int_ub\n")
    for layout in ("sas", "ons"):
        other = tmp_path / layout
        asked_too = [*asked, "--small-counts", way, "--output", str(other), "--layout", layout]
        assert f"The table of all counts is in {other}; its privacy: " in text(capsys, *asked_too)
        again = table_files.read(other)
        assert [again.row(n) for n in range(9)] == [table.row(n) for n in range(9)]
    assert other.read_text().startswith('"pcv"')


def test_what_the_system_refuses_is_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    gone, small = str(tmp_path / "gone" / "a.txt"), ["table", "--epsilon", "1", "--support", "2"]
    save = [*small, "--keysize", "16", "--small-counts", "rows", "-o"]
    for arguments, message in (
        (["privacy", "--table", gone], f"{gone}: No such file or directory"),
        (["privacy", "--table", str(tmp_path)], f"{tmp_path}: Is a directory"),
        ([*save, gone], f"output must be in a folder that exists, got '{gone}'"),
        (
            [*save, str(tmp_path)],
            f"output must be a new or an ordinary file, got '{tmp_path}', which is a folder",
        ),
    ):
        assert main.main(arguments) == 2
        assert capsys.readouterr() == ("", f"tablebuilder-dp: {message}\n")


BAD = {
    "the following arguments are required: --support, --epsilon": ["privacy", "--gamma", "1"],
    "argument --support: not allowed with argument --table": ["privacy", "--table", "a", "--support", "3"],
    "argument --variance: not allowed with argument --table": ["privacy", "--table", "a", "--variance", "3"],
    "argument --gamma: not allowed with argument --table": ["privacy", "--table", "a", "--gamma", "3"],
    "argument --cells: not allowed with argument --table": ["privacy", "--table", "a", "--cells", "1"],
    "the following arguments are required: --output": [*TABLE, "--small-counts", "rows"],
    "the following arguments are required: --small-counts": [*TABLE, "-o", "a.txt"],
    "keysize must be a power of 2 or of 10 for this layout (see perturbation_table.requantised), got 24": [
        *["table", "--epsilon", "1", "--support", "2", "--keysize", "24"],
        *["--small-counts", "rows", "-o", "no-such-file.txt"],
    ],
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
    "argument --noise: not allowed without --cells": [*DESIGN, "--noise", "best"],
    "argument --slack: not allowed with argument --cells": [*DESIGN, "--cells", "2", "--slack", "0.1"],
    "cells must be an integer from 1 to 4096, got 0": [*DESIGN, "--cells", "0"],
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
    "argument --rate: not allowed with argument --gamma": [*PRIVACY[:3], "--gamma", "1", "--rate", "1"],
    "argument --rate: not allowed with argument --table": ["privacy", "--table", "a", "--rate", "3"],
    "one of the arguments --variance --gamma --rate is required": [
        "privacy",
        "--support",
        "3",
        "--epsilon",
        "1",
    ],
    "unrecognized arguments: --colour": [*DESIGN, "--colour"],
    "the following arguments are required: COMMAND": [],
}


@pytest.mark.parametrize(("message", "arguments"), BAD.items(), ids=BAD)
def test_bad_input_is_one_sentence_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], message: str, arguments: list[str]
) -> None:
    try:
        code = main.main(arguments)
    except SystemExit as stop:
        code = int(str(stop.code))
    out, err = capsys.readouterr()
    assert (code, out, err) == (2, "", f"tablebuilder-dp: {message}\n")


def test_a_real_process_prints_what_the_function_prints(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (DESIGN, PRIVACY, TABLE, SAMPLE):
        for extra in ([], ["--json"]):
            main.main([*arguments, *extra])
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
    assert main.main(SAMPLE) == 0
    assert duplicated == [99]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_answer_that_cannot_be_printed_is_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tablebuilder_dp", "design", "--epsilon", "1", "--delta", "1e-3"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    said = "tablebuilder-dp: the answer cannot be printed: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)
