"""The ground: lock, environment, licences, citation and the maps that name code."""

import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = ["requirements.lock", "requirements-spark.lock", "benchmarks/requirements.lock"]


def direct_dependencies() -> set[str]:
    extras = {name: wanted for name, wanted in PROJECT["optional-dependencies"].items() if name != "spark"}
    wanted = [*PROJECT["dependencies"], *(name for extra in extras.values() for name in extra)]
    return {re.split(r"[<>=!~\[; ]", name)[0] for name in wanted}


def locked(path: str) -> dict[str, str]:
    return dict(
        re.findall(r"^([a-z0-9._-]+)==([^ ;]+)", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    )


def test_environment_has_the_direct_dependencies_at_the_versions_of_the_lock() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    *conda, from_pip = environment["dependencies"]
    *packages, project = from_pip["pip"]  # packages that conda channels lack, then the project itself
    assert project == "-e ."
    pinned = dict(item.split("=") for item in conda if re.fullmatch(r"[\w-]+=[\w.]+", item))
    pinned |= dict(item.split("==") for item in packages)
    versions = locked("requirements.lock")
    assert pinned == {name: versions[name] for name in direct_dependencies()}


@pytest.mark.parametrize("path", LOCKS)
def test_lock_is_hashed_and_names_no_address(path: str) -> None:
    content = (ROOT / path).read_text(encoding="utf-8")
    entries = re.split(r"^(?=[a-z])", content, flags=re.MULTILINE)
    assert len(entries) > 10
    assert all("--hash=sha256:" in entry for entry in entries if entry)
    assert not re.search(r"://|--index|--extra|--find-links|@ ", content)
    assert path == "requirements-spark.lock" or {"hatchling", "uv"} <= set(locked(path))


def test_spark_comes_on_top_of_the_lock() -> None:
    """`make test` adds PySpark to the environment; nothing that is there changes."""
    spark, versions = locked("requirements-spark.lock"), locked("requirements.lock")
    assert set(spark) - set(versions) == {"pyspark", "py4j"}
    assert all(spark[name] == versions[name] for name in set(spark) & set(versions))


def test_benchmarks_measure_the_library_with_the_locked_numerics() -> None:
    ours, theirs = locked("requirements.lock"), locked("benchmarks/requirements.lock")
    for name in ("numpy", "scipy", "python-flint", "duckdb", "pyarrow", "cryptography"):
        assert theirs[name] == ours[name]


def test_every_equation_has_a_home_that_exists() -> None:
    text = (ROOT / "paper/equations.md").read_text("utf-8")
    covered: list[int] = []
    for numbers, home in re.findall(r"^\| ([0-9–, ]+) \|.*\| (.*) \|$", text, re.MULTILINE):
        for part in numbers.split(","):
            first, _, last = part.strip().partition("–")
            covered += range(int(first), int(last or first) + 1)
        assert re.search(r"`\w+\.[\w.]+`", home), numbers
    assert covered == list(range(1, 48))
    for home in re.findall(r"`([\w.]+\.\w+)`", text):
        assert pkgutil.resolve_name(f"tablebuilder_dp.{home}") is not None


def test_the_mathematics_imports_no_database_and_no_cipher() -> None:
    script = "import sys, tablebuilder_dp.cli.main; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert not {"duckdb", "pyarrow", "cryptography", "pyspark", "pandas"} & set(shown.split())


def test_citation_names_the_paper_and_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"]
    [paper] = citation["references"]
    assert [author["family-names"] for author in paper["authors"]] == ["Sadeghi", "Chien"]


def test_make_help_lists_what_the_readme_promises() -> None:
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S607
    listed = set(re.findall(r"^make (\w+)", shown, re.MULTILINE))
    assert {"setup", "reproduce", "test", "lab", "bench", "clean", "help"} <= listed
    promised = re.findall(r"make (\w+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert set(promised) <= listed


def test_own_environment_creates_nothing() -> None:
    for target in ("test", "reproduce"):
        planned = subprocess.run(
            ["make", "-n", target, "PYTHON=python"],  # noqa: S607
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert "python -m" in planned
        assert "venv" not in planned
