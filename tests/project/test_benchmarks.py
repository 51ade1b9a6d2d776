"""Benchmarks tell by their exit code whether something wanted is missed."""

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmarks_run", ROOT / "benchmarks/run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_missed_ratio_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    run = load()
    met, missed = (run.faster("work", "rival", [1.0, ratio], 5) for ratio in (7.0, 3.0))
    shown = run.faster("work", "rival", [1.0, 0.5], None)
    assert (met.met, missed.met, shown.met) == (True, False, None)
    assert run.show([met, shown]) == 0
    assert run.show([met, missed, shown]) == 1
    assert "(MISSED)" in capsys.readouterr().out


def test_every_part_is_run_before_make_bench_fails() -> None:
    planned = subprocess.run(["make", "-n", "bench"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    for part in ("run", "microdata", "notebooks"):
        assert f"-m benchmarks.{part} || status=1" in planned.stdout
    assert "exit $status" in planned.stdout
