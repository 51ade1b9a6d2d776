"""What `pip install .` gives: the library and its command, with what they declare and nothing else."""

import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [path] = folder.glob("*.whl")
    return path


def needed(wanted: list[str]) -> set[str]:
    """The distributions that these requirements need, directly or not."""
    found: set[str] = set()
    waiting = [Requirement(text) for text in wanted]
    while waiting:
        one = waiting.pop()
        if (one.marker is None or one.marker.evaluate({"extra": ""})) and one.name not in found:
            found.add(one.name)
            waiting += [Requirement(text) for text in metadata.requires(one.name) or ()]
    return found


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and the packages that it declares, linked from this one: no network."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    [site] = folder.glob("lib/python*/site-packages")
    for name in needed(PROJECT["dependencies"]):
        for file in metadata.files(name) or ():
            top = file.parts[0]
            if top not in ("..", "__pycache__") and not (site / top).exists():
                (site / top).symlink_to(Path(str(file.locate())).parents[len(file.parts) - 1] / top)
    with zipfile.ZipFile(wheel) as content:
        content.extractall(site)
    return folder / "bin" / "python"


def run(python: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), "-I", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_the_wheel_holds_the_library_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"tablebuilder_dp", f"tablebuilder_dp-{PROJECT['version']}.dist-info"}
    modules = {path.relative_to(ROOT / "src").as_posix() for path in ROOT.glob("src/tablebuilder_dp/**/*.py")}
    assert {name for name in names if name.endswith(".py")} == modules
    assert not [name for name in names if name.endswith(".md") and "dist-info" not in name]


@pytest.mark.parametrize("page", ["README.md", "site/library.md", "site/offices.md"])
def test_the_libraries_lines_of_the_documents_run_there(python: Path, tmp_path: Path, page: str) -> None:
    (tmp_path / "page.md").write_text((ROOT / page).read_text(encoding="utf-8"), encoding="utf-8")
    script = (
        "import doctest; found = doctest.testfile('page.md', module_relative=False, encoding='utf-8', "
        "optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE); print(found); "
        "assert found.attempted > 5 and not found.failed"
    )
    done = run(python, "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_command_works_there_and_the_workshop_is_not_there(python: Path, tmp_path: Path) -> None:
    for line in re.findall(
        r"^tablebuilder-dp (.*?)(?: +#.*)?$", (ROOT / "site/library.md").read_text("utf-8"), re.M
    ):
        if line.split()[0] in ("design", "privacy", "table", "sample"):
            done = run(python, "-m", "tablebuilder_dp", *line.split(), "--json", cwd=tmp_path)
            assert (done.returncode, done.stderr) == (0, ""), line
    for module in ("compendium", "IPython", "matplotlib", "papermill"):
        assert "ModuleNotFoundError" in run(python, "-c", f"import {module}", cwd=tmp_path).stderr


def test_the_installed_command_is_that_of_the_library(wheel: Path) -> None:
    content = zipfile.ZipFile(wheel)
    [name] = [name for name in content.namelist() if name.endswith("entry_points.txt")]
    assert content.read(name).decode().split() == [
        "[console_scripts]",
        "tablebuilder-dp",
        "=",
        "tablebuilder_dp.cli.main:main",
    ]


def test_version_citation_changelog_and_wheel_agree(wheel: Path) -> None:
    version = PROJECT["version"]
    assert wheel.name.split("-")[1] == version
    assert re.search(rf"^version: {re.escape(version)}$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert first is not None
    assert first[1] == version
    assert metadata.version("tablebuilder-dp") == version
