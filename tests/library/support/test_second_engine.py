"""What is committed does not hang on Arb: mpmath's intervals give the same digits and the same ledger."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compendium.run import notebooks
from compendium.run.places import ROOT
from tablebuilder_dp import certified
from tablebuilder_dp.noise import Noise

NAMES = [path.stem for path in notebooks.paths() if path.parent.name == "notebooks"]


@pytest.mark.long
@pytest.mark.unmeasured
def test_both_engines_agree_on_every_committed_digit(tmp_path: Path) -> None:
    places = os.pathsep.join(str(ROOT / part) for part in ("src", "tests"))
    subprocess.run(
        [sys.executable, "-m", "support.second_engine", *NAMES],
        env={**os.environ, "PYTHONPATH": places, "COMPENDIUM_OUTPUT": str(tmp_path)},
        check=True,
    )
    committed = json.loads((ROOT / "paper/numbers.json").read_text(encoding="utf-8"))
    records = {
        name: json.loads((tmp_path / f"build/results/{name}.json").read_text(encoding="utf-8"))
        for name in NAMES
    }
    assert {name: record["numbers"] for name, record in records.items()} == committed
    ledger = json.loads((ROOT / "paper/ledger.json").read_text(encoding="utf-8"))
    assert records["10-verdict"]["ledger"] == ledger


def test_the_second_engine_is_in_the_place_of_the_first() -> None:
    script = """
import sys
from fractions import Fraction
from support import second_engine
second_engine.install()
from tablebuilder_dp import certified
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support import intervals
assert intervals.Ball is second_engine.arb
assert not hasattr(sys.modules["flint"], "__file__")
found = intervals.until(lambda _: True, lambda: intervals.exponential(Fraction(1)))
assert found.upper - found.lower > Fraction(30, 2**128)  # the widening of sixteen units at each end
print(certified.delta(Noise(11, "0.125"), "0.5").digits(25))
"""
    places = os.pathsep.join(str(ROOT / part) for part in ("src", "tests"))
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": places},
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout.strip() == certified.delta(Noise(11, "0.125"), "0.5").digits(25)
