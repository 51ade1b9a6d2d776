"""The proofs and the docstrings that cite them: numbers, functions, links, and no proof in a docstring."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from mdit_py_plugins.anchors.index import slugify

from compendium.run import notebooks
from compendium.run.places import ROOT
from compendium.site import proofs, reference
from compendium.site.proofs import Result

LIBRARY = ROOT / "src/tablebuilder_dp"
TEXT = (ROOT / proofs.PROOFS).read_text(encoding="utf-8")
RESULTS = proofs.results(TEXT)
EXAMPLE = """<a id="theorem-1"></a>
### Theorem 1: a thing

**Statement.** One.

**Proof.** Two. ∎

In code: `noise.pmf`.
"""


def docstrings(source: str, module: str) -> Iterator[tuple[str, str]]:
    """The name of a module, of each of its functions, classes and methods, and its docstring."""

    def walk(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = f"{name}.{child.name}"
                yield inner, ast.get_docstring(child) or ""
                yield from walk(child, inner)

    tree = ast.parse(source)
    yield module, ast.get_docstring(tree) or ""
    yield from walk(tree, module)


def library() -> dict[str, str]:
    """All docstrings of the library, by names such as ``beyond.best_gamma.best``."""
    found: dict[str, str] = {}
    for path in sorted(LIBRARY.rglob("*.py")):
        parts = path.relative_to(LIBRARY).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found |= docstrings(path.read_text(encoding="utf-8"), module)
    return found


def cited(docstring: str) -> set[str]:
    return {f"{kind} {number}" for kind, number in proofs.CITED.findall(docstring)}


def misnamed(texts: dict[str, str], results: list[Result]) -> list[str]:
    """Citations of a theorem that is not there or does not name the function, or any of the module's."""
    names = {result.name: result.functions for result in results}
    return [
        f"{name} cites {one}"
        for name, text in texts.items()
        for one in sorted(cited(text))
        if not any(home == name or home.startswith(f"{name}.") for home in names.get(one, ()))
    ]


def unanswered(texts: dict[str, str], results: list[Result]) -> list[str]:
    """Functions that a theorem names and that do not exist or do not cite it."""
    return [
        f"{result.name} names {name}"
        for result in results
        for name in result.functions
        if result.name not in cited(texts.get(name, ""))
    ]


def proved_in_place(docstring: str) -> bool:
    """Whether a docstring has a proof or a theorem of its own, and not just the number of one."""
    name = r"(?:Theorem|Lemma) \d+"
    numbered = rf"Proof: {name}(?:(?:, | and ){name})*(?=[ .,])"
    rest = re.sub(numbered, "", " ".join(docstring.split()))
    return bool(re.search(rf"\bProof\b|\b(?!{name}\b)(?:Theorem|Lemma)\b", rest))


# --- numbers and names ------------------------------------------------------------------------


def test_one_number_runs_through_theorems_and_lemmas() -> None:
    assert [result.number for result in RESULTS] == list(range(1, len(RESULTS) + 1))
    assert len({result.title for result in RESULTS}) == len(RESULTS)


def test_proofs_cite_results_that_are_there_and_none_that_rests_on_them() -> None:
    names = {result.name for result in RESULTS}
    assert cited(TEXT) <= names
    needs = {
        result.name: cited(result.text.partition("**Proof.**")[2].partition("∎")[0]) - {result.name}
        for result in RESULTS
    }
    settled: set[str] = set()
    while ready := {name for name in names - settled if needs[name] <= settled}:
        settled |= ready
    assert names - settled == set()  # what is left would rest on itself


def test_what_docstrings_cite_names_them() -> None:
    assert misnamed(library(), RESULTS) == []


def test_functions_that_theorems_name_cite_them() -> None:
    assert unanswered(library(), RESULTS) == []


def test_docstrings_leave_proofs_to_the_document() -> None:
    assert [name for name, text in library().items() if proved_in_place(text)] == []


# --- what the checks above would find ---------------------------------------------------------


def test_a_wrong_number_is_found_on_both_sides() -> None:
    results = proofs.results(EXAMPLE)
    assert misnamed({"noise.pmf": "Proof: Theorem 1.", "noise": "(Theorem 1)"}, results) == []
    assert misnamed({"noise.pmf": "Theorem 2"}, results) == ["noise.pmf cites Theorem 2"]
    assert misnamed({"noise.tail": "Theorem\n1"}, results) == ["noise.tail cites Theorem 1"]
    assert misnamed({"noise.pmf": "Lemma 1"}, results) == ["noise.pmf cites Lemma 1"]
    assert unanswered({"noise.pmf": "(Theorem 1)"}, results) == []
    assert unanswered({"noise.pmf": "(Theorem 11)"}, results) == ["Theorem 1 names noise.pmf"]
    assert unanswered({}, results) == ["Theorem 1 names noise.pmf"]


@pytest.mark.parametrize(
    ("docstring", "found"),
    [
        ("Falls. Proof: Theorem 5.", False),
        ("Falls (Theorem 5). Proof: Lemma 1 and\nTheorem 22, for small D. No proof of more.", False),
        ("Proof. The sum is 1.", True),
        ("*Proof.* The sum is 1.", True),
        ("Proof: dδ/dγ has the sign of g.", True),
        ("Proof, by `_highest`: max f = 1.", True),
        ("**Theorem.** There is one.", True),
        ("Theorem: it is a kink.", True),
    ],
)
def test_a_proof_in_a_docstring_is_told_from_its_number(docstring: str, found: bool) -> None:
    assert proved_in_place(docstring) is found


@pytest.mark.parametrize(
    ("part", "other", "lacks"),
    [
        (
            '"theorem-1"',
            '"theorem-2"',
            'Theorem 1 of paper/proofs.md lacks the anchor <a id="theorem-1"></a>',
        ),
        ('<a id="theorem-1"></a>\n', "", "1 headings, but 0 theorems"),
        ("**Statement.**", "Say:", r"lacks \*\*Statement"),
        ("**Proof.**", "Well,", r"lacks \*\*Proof"),
        (" ∎", "", r"lacks \*\*Proof\.\*\* with an end"),
        ("In code:", "See", "lacks a line In code"),
    ],
)
def test_a_result_without_one_of_its_parts_is_refused(part: str, other: str, lacks: str) -> None:
    assert [result.functions for result in proofs.results(EXAMPLE)] == [("noise.pmf",)]
    with pytest.raises(ValueError, match=lacks):
        proofs.results(EXAMPLE.replace(part, other))


def test_links_from_notebooks_lead_to_the_theorem_that_they_name() -> None:
    """GitHub and the site make the same anchors of headings."""
    titles = {result.name: re.sub("<[^>]+>", "", result.title) for result in RESULTS}
    anchors = {name: slugify(f"{name}: {title}") for name, title in titles.items()}
    seen = 0
    for path in (*notebooks.paths(), *notebooks.solutions()):
        up = "../" * len(path.relative_to(ROOT).parts[:-1])
        cells = [cell for cell in notebooks.read(path)["cells"] if cell["cell_type"] == "markdown"]
        for text in map(notebooks.source, cells):
            for name, place, anchor in re.findall(r"\[([^\]]+)\]\(([./]*)paper/proofs\.md#([^)]*)\)", text):
                assert (place, anchor) == (up, anchors[name]), path.name
                seen += 1
    assert seen > 3


# --- the page ---------------------------------------------------------------------------------


def test_names_become_links_outside_of_formulas_and_headings() -> None:
    text = EXAMPLE.replace("Two.", "As in Theorem 1, $\\text{Theorem 1}$ and `Theorem 1`.")
    page = proofs.page(text)
    assert page.count("{ref}`Theorem 1 <theorem-1>`") == 1
    assert "### Theorem 1: a thing\n" in page
    assert "$\\text{Theorem 1}$ and `Theorem 1`" in page
    assert "In code: {py:obj}`noise.pmf`." in page


def test_the_page_and_the_reference_lead_to_each_other(built: Path) -> None:
    page = (built / proofs.PROOFS).with_suffix(".html").read_text(encoding="utf-8")
    pages = [path.read_text(encoding="utf-8") for path in (built / "api").glob("*.html")]
    linked = set(re.findall(r'href="\.\./api/[\w-]+\.html#tablebuilder_dp\.([\w.]+)"', page))
    for result in RESULTS:
        anchor = proofs.label(result.kind, str(result.number))
        assert f'id="{anchor}"' in page, result.name
        public = {name for name in result.functions if not name.rpartition(".")[2].startswith("_")}
        assert set(map(reference.exported, public)) <= linked, result.name
        back = f'href="../paper/proofs.html#{anchor}"'
        assert any(back in html for html in pages), result.name


def test_every_formula_of_the_page_is_typeset(built: Path) -> None:
    page = (built / proofs.PROOFS).with_suffix(".html").read_text(encoding="utf-8")
    article = page[page.index("<article") : page.index("</article>")]
    assert article.count('class="math') > 1000
    assert "$" not in article  # a formula that Markdown did not see
    assert "**" not in article


def test_the_page_is_near_the_equations_in_the_navigation(built: Path) -> None:
    front = (built / "index.html").read_text(encoding="utf-8")
    found = re.findall(r'class="reference internal" href="(paper/[\w-]+\.html|report\.html)"', front)
    assert found[: found.index("report.html")][-2:] == ["paper/equations.html", "paper/proofs.html"]
