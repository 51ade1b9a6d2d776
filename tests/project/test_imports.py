"""Who may import whom: the direction in which a change can be felt."""

import ast
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "src"
LIBRARY, WORKSHOP = "tablebuilder_dp", "compendium"
SECTIONS = ("noise", "privacy", "certified", "design", "cellkey", "sampling")

BELOW: dict[str, set[str]] = {
    f"{LIBRARY}.support": set(),
    LIBRARY: {f"{LIBRARY}.support"},
    f"{LIBRARY}.beyond": {LIBRARY, f"{LIBRARY}.support"},
    f"{LIBRARY}.counts": {LIBRARY, f"{LIBRARY}.support"},
    f"{LIBRARY}.microdata": {LIBRARY, *(f"{LIBRARY}.{one}" for one in ("support", "beyond", "counts"))},
    f"{LIBRARY}.cli": {
        LIBRARY,
        *(f"{LIBRARY}.{one}" for one in ("support", "beyond", "counts", "microdata")),
    },
    f"{WORKSHOP}.run": set(),
    f"{WORKSHOP}.studies": set(),
    f"{WORKSHOP}.ledger": {f"{WORKSHOP}.{one}" for one in ("run", "studies")},
    f"{WORKSHOP}.figures": {f"{WORKSHOP}.{one}" for one in ("run", "studies", "ledger")},
    f"{WORKSHOP}.course": {f"{WORKSHOP}.{one}" for one in ("run", "studies", "figures")},
    f"{WORKSHOP}.render": {f"{WORKSHOP}.{one}" for one in ("run", "ledger", "figures")},
    f"{WORKSHOP}.site": {f"{WORKSHOP}.{one}" for one in ("run", "studies", "ledger", "figures", "render")},
    WORKSHOP: {f"{WORKSHOP}.{one}" for one in ("run", "ledger", "render")},
}
"""What each package may import of the project; the workshop also all of the library but its commands."""

OTHERS: dict[str, set[str]] = {
    f"{LIBRARY}.support": {"flint", "numpy"},
    LIBRARY: {"flint", "numpy", "scipy"},
    f"{LIBRARY}.beyond": {"flint", "numpy", "scipy"},
    f"{LIBRARY}.counts": {"flint", "numpy"},
    f"{LIBRARY}.microdata": {
        *("cryptography", "duckdb", "numpy", "pandas", "polars", "pyarrow", "pyspark", "tqdm")
    },
    f"{LIBRARY}.cli": {"pyspark", "tqdm"},
}
"""The packages of others that each part of the library may import: engines and ciphers have their place."""

ONLY: dict[str, set[str]] = {
    "matplotlib": {f"{WORKSHOP}.figures"},
    "sphinx": {f"{WORKSHOP}.site"},
    "docutils": {f"{WORKSHOP}.site"},
    "jinja2": {f"{WORKSHOP}.site"},
    "typst": {f"{WORKSHOP}.render"},
    "papermill": {f"{WORKSHOP}.run"},
    "ipywidgets": {f"{WORKSHOP}.course"},
    "dp_accounting": {f"{WORKSHOP}.ledger", f"{WORKSHOP}.course"},
    "duckdb": {f"{LIBRARY}.microdata"},
    "cryptography": {f"{LIBRARY}.microdata"},
    "pandas": {f"{LIBRARY}.microdata"},
    "polars": {f"{LIBRARY}.microdata"},
    "pyspark": {f"{LIBRARY}.microdata", f"{LIBRARY}.cli"},
}
"""Packages of others that have one place in the project."""

INSIDE: dict[str, set[str]] = {
    f"{WORKSHOP}.ledger.checks": {"claims", "formulas", "source", "verdicts", "checks"},
    f"{WORKSHOP}.course.properties": {"properties"},
}
"""What some folders may import of their own package."""


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        parts = path.relative_to(SOURCES).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def package(module: str) -> str:
    """The package of a module, as it is listed above."""
    first_two = ".".join(module.split(".")[:2])
    return first_two if first_two in BELOW else module.split(".")[0]


def imported(path: Path) -> set[str]:
    """What a file imports, wherever in it: modules of the project, and top-level names of others."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"{path} imports relatively"
            assert node.level == 0, f"{path} imports relatively"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else node.module for name in names}
    return found


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module: str) -> None:
    own = package(module)
    allowed = BELOW[own] | {own}
    if own.startswith(WORKSHOP):
        allowed |= {one for one in BELOW if one.startswith(LIBRARY) and not one.endswith(".cli")}
    if module in (WORKSHOP, LIBRARY):
        allowed = set()
    if module == f"{WORKSHOP}.__main__":  # spawned processes import it again
        allowed = {f"{LIBRARY}.support"}
    if module == f"{LIBRARY}.__main__":
        allowed = {f"{LIBRARY}.cli"}
    for name in imported(MODULES[module]) & set(MODULES):
        assert package(name) in allowed, f"{module} may not import {name}"


def test_the_papers_sections_stand_in_one_order() -> None:
    rank = {f"{LIBRARY}.{name}": place for place, name in enumerate(SECTIONS)}
    assert {module for module in MODULES if module.count(".") == 1 and package(module) == LIBRARY} == {
        *rank,
        f"{LIBRARY}.__main__",
    }
    for module, place in rank.items():
        for name in imported(MODULES[module]) & set(rank):
            assert rank[name] < place, f"{module} may not import {name}"


@pytest.mark.parametrize("module", [name for name in MODULES if package(name) in OTHERS])
def test_the_library_imports_few_others(module: str) -> None:
    tops = {name.split(".")[0] for name in imported(MODULES[module])} - {LIBRARY}
    assert tops - sys.stdlib_module_names <= OTHERS[package(module)], module


@pytest.mark.parametrize("module", MODULES)
def test_others_have_their_place(module: str) -> None:
    for name in {name.split(".")[0] for name in imported(MODULES[module])} & set(ONLY):
        assert package(module) in ONLY[name], f"{module} may not import {name}"


@pytest.mark.parametrize("folder", INSIDE)
def test_some_folders_import_less_of_their_own_package(folder: str) -> None:
    own = folder.rpartition(".")[0]
    for module in (one for one in MODULES if one.startswith(f"{folder}.")):
        for name in imported(MODULES[module]) & set(MODULES):
            if name.startswith(f"{own}."):
                assert name.split(".")[2] in INSIDE[folder], f"{module} may not import {name}"
            assert not (folder.endswith("properties") and name.startswith(f"{WORKSHOP}.figures"))


def test_the_library_knows_nothing_of_the_workshop() -> None:
    for module, path in MODULES.items():
        if module.split(".")[0] == LIBRARY:
            assert WORKSHOP not in {name.split(".")[0] for name in imported(path)}, module


@pytest.mark.parametrize(
    "folder", sorted({path.parent for path in MODULES.values()}), ids=lambda path: path.name
)
def test_every_folder_says_what_lives_in_it(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "**May import:**" in text or "may import" in text
    assert "**Read first:**" in text
    for path in folder.glob("[a-z]*.py"):
        if folder.name not in ("figures", "properties", "checks"):  # named by a rule that is given there
            assert f"`{path.stem}" in text or f"{path.stem}`" in text or f"/{path.stem}." in text, path
