"""The web site, without a browser: pages, links, descriptions, colours, and no requests to the network."""

from __future__ import annotations

import dataclasses
import filecmp
import importlib
import inspect
import json
import pkgutil
import re
import shutil
import tomllib
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from docutils import nodes  # type: ignore[import-untyped]
from pygments.styles import get_style_by_name  # type: ignore[import-untyped]

import tablebuilder_dp
from compendium.__main__ import main
from compendium.figures import palette
from compendium.ledger import claims, theorems
from compendium.ledger.verdicts import KINDS
from compendium.run import notebooks
from compendium.run.places import ROOT
from compendium.site import build, contrast, equations, ledger_page, reference
from tablebuilder_dp import certified, design, microdata


class Page(HTMLParser):
    """What a page refers to, and what can be referred to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[tuple[str, str]] = []
        self.images: list[dict[str, str | None]] = []
        self.headings: list[int] = []
        self.scripts = ""
        self.language = ""
        self._tag = ""
        self._article = 0
        self.html = path.read_text(encoding="utf-8")
        self.feed(self.html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._tag = tag
        self._article += tag == "article"
        self.ids += filter(None, [given.get("id")])
        self.links += [(tag, str(given[name])) for name in ("href", "src", "data") if given.get(name)]
        if tag == "img":
            self.images.append(given)
        if tag == "html":
            self.language = str(given.get("lang"))
        if self._article and re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_endtag(self, tag: str) -> None:
        self._article -= tag == "article"

    def handle_data(self, data: str) -> None:
        if self._tag == "script":
            self.scripts += data


@pytest.fixture(scope="session")
def pages(built: Path) -> dict[str, Page]:
    return {path.relative_to(built).as_posix(): Page(path) for path in sorted(built.rglob("*.html"))}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A compendium of its own to spoil, where only the notebooks and the small texts are copies."""
    root = tmp_path / "tree"
    root.mkdir()
    for name in ("site", "figures", "proofs", "README.md", "CITATION.cff", "LICENSE", "LICENSE-TEXT"):
        (root / name).symlink_to(ROOT / name)
    for name in ("notebooks", "paper"):
        shutil.copytree(ROOT / name, root / name)
    return root


@pytest.fixture
def old_site(tmp_path: Path) -> Path:
    output = tmp_path / "old"
    output.mkdir()
    (output / "objects.inv").write_text("of an earlier site", encoding="utf-8")
    return output


def quick_sphinx(folder: Path, *, draft: bool = False) -> list[str]:
    """In the place of Sphinx, for tests of what is around it."""
    (folder / "html").mkdir()
    shutil.copy(folder / "source/index.md", folder / "html/objects.inv")
    return ["a warning"] if draft else []


# --- what the pages have ----------------------------------------------------------------------


def test_every_notebook_solution_and_part_has_a_page(pages: dict[str, Page]) -> None:
    wanted = {f"notebooks/{name}.html" for name in notebooks.names()}
    top = ("index", "ledger", "explorer", "game", "glossary", "report", "rerun", "cite")
    wanted |= {f"{name}.html" for name in top}
    wanted |= {f"paper/{name}.html" for name in ("errata", "equations", "related", "teaching")}
    assert wanted <= set(pages)


def test_every_page_is_found_from_the_front_page(pages: dict[str, Page]) -> None:
    linked = {target.partition("#")[0] for _, target in pages["index.html"].links}
    for page in ("api.html", "solutions.html"):
        linked |= {target.partition("#")[0] for _, target in pages[page].links}
    assert set(pages) - linked <= {"index.html", "search.html", "genindex.html", "py-modindex.html"}


@pytest.mark.unmeasured
def test_every_link_inside_the_site_leads_somewhere(pages: dict[str, Page], built: Path) -> None:
    broken = []
    for name, page in pages.items():
        for _, target in page.links:
            parts = urlsplit(target)
            if parts.scheme:
                continue
            path = (built / name).parent / unquote(parts.path) if parts.path else built / name
            there = path.resolve().relative_to(built.resolve()).as_posix()
            known = pages[there].ids if there in pages else [parts.fragment]  # of a PDF: how it opens
            if not path.is_file() or (parts.fragment and unquote(parts.fragment) not in known):
                broken.append(f"{name}: {target}")
    assert [link for link in broken if not link.endswith(": #")] == []  # "#" is the top of a page


def test_nothing_is_asked_of_the_network(pages: dict[str, Page], built: Path) -> None:
    for name, page in pages.items():
        outside = [(tag, target) for tag, target in page.links if urlsplit(target).scheme not in ("", "data")]
        assert {tag for tag, _ in outside} <= {"a"}, name
        assert not re.search(r"\bfetch\(|XMLHttpRequest|import\(", page.scripts), name
    for path in built.rglob("*.css"):
        found = re.findall(
            r"url\(\s*['\"]?(?!data:|['\"])[^)]*|@import[^;]*", path.read_text(encoding="utf-8")
        )
        assert [target for target in found if "//" in target] == [], path.name


def test_formulas_need_one_local_file_and_no_menu(pages: dict[str, Page], built: Path) -> None:
    page = pages["notebooks/04-design-guide.html"]
    assert "_static/tex-svg-full.js" in page.html
    assert '"enableMenu": false' in page.scripts
    assert (built / "_static/tex-svg-full.js").read_bytes() == build.mathjax()


def test_every_picture_is_described_as_in_its_notebook(pages: dict[str, Page]) -> None:
    images = {name: [str(image.get("alt")) for image in page.images] for name, page in pages.items()}
    assert sum(map(len, images.values())) > 20
    assert [name for name, found in images.items() if "" in found or "None" in found] == []
    for path in (*notebooks.paths(), *notebooks.solutions()):
        page = path.relative_to(ROOT).with_suffix(".html").as_posix()
        described = {alt for _, alt in reference.pictures(notebooks.read(path))}
        assert described <= set(images[page]), page


def test_pages_name_their_language_and_their_headings_go_step_by_step(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        assert page.language == "en", name
        assert 'href="#furo-main-content"' in page.html, name
        if name not in ("search.html", "genindex.html", "py-modindex.html"):
            assert page.headings[0] == 1, name
            assert page.headings.count(1) == 1, name
            assert [pair for pair in pairwise(page.headings) if pair[1] > pair[0] + 1] == [], name


def test_no_part_of_a_page_is_closed_to_listeners(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        assert 'role="heading"' not in page.html, name
        assert not re.search(r"<dl>\s*<dd>|<th[^>]*><p></p></th>|<aside class", page.html), name


def test_no_star_of_a_symbol_becomes_emphasis(built: Path) -> None:
    """Two raised asterisks in a line of Markdown would: what is between them turns italic."""
    for path in built.rglob("*.html"):
        assert not re.search(r"<su[pb]>\s*</?em>", path.read_text(encoding="utf-8")), path.name


def test_no_page_names_a_folder_of_this_machine(built: Path) -> None:
    for path in (*built.rglob("*.html"), built / "searchindex.js"):
        text = path.read_text(encoding="utf-8")
        assert [word for word in (str(ROOT), str(built.parent)) if word in text] == []


@pytest.mark.unmeasured
def test_the_same_sources_give_the_same_bytes(built: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    build.build(again)
    names = sorted(path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(again).as_posix() for path in again.rglob("*") if path.is_file())
    assert filecmp.cmpfiles(built, again, names, shallow=False)[0] == names


# --- the ledger -------------------------------------------------------------------------------


def test_every_claim_has_an_address_a_link_to_it_and_its_recorded_verdict(pages: dict[str, Page]) -> None:
    page, ledger = pages["ledger.html"], ledger_page.load(ROOT)
    assert [line.claim.id for line in ledger.paper] == list(claims.load())
    assert [line.claim.id for line in ledger.ours] == list(claims.load(claims.OURS))
    found = r'<article class="claim" id="claim-([^"]+)"(.*?)</article>'
    articles = dict(re.findall(found, page.html, re.DOTALL))
    for line in (*ledger.paper, *ledger.ours):
        article = articles.pop(line.claim.id)
        assert f'data-section="{line.claim.section}" data-kind="{line.slug}"' in article
        assert f'href="#claim-{line.claim.id}"' in article
        assert f">{'ours, ' if line in ledger.ours else ''}{line.entry.verdict}</span>" in article
    assert articles == {}


def test_claims_and_the_theorems_that_coq_has_checked_lead_to_each_other(pages: dict[str, Page]) -> None:
    page, ledger = pages["proofs/README.html"], pages["ledger.html"]
    for theorem in theorems.load().values():
        assert theorem.address in page.ids
        for claim in theorem.claims:
            assert ("a", f"proofs/README.html#{theorem.address}") in ledger.links
            assert ("a", f"../ledger.html#claim-{claim}") in page.links
    assert "all_events_are_the_hockey_stick_sum" in page.html


def test_the_ledger_counts_as_notebook_10_does() -> None:
    recorded = json.loads((ROOT / "paper/ledger.json").read_text(encoding="utf-8"))
    assert ledger_page.load(ROOT).counts() == {kind: recorded["counts"][kind] for kind in KINDS}


def test_the_front_page_has_the_counts_of_the_ledger(pages: dict[str, Page]) -> None:
    ledger = ledger_page.load(ROOT)
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", pages["index.html"].html))
    assert f"Of {len(ledger.paper)} statements" in text
    for kind, count in ledger.counts().items():
        assert f"{count} {kind}" in text
    shown = [line for line in ledger.headlines if line.severity == "conclusion"]
    places = [pages["index.html"].html.index(f'href="ledger.html#claim-{line.claims[0]}"') for line in shown]
    assert len(places) == 6
    assert places == sorted(places)


def test_claims_lead_to_the_notebook_that_treats_them() -> None:
    lines = {line.claim.id: line for line in (*ledger_page.load(ROOT).paper, *ledger_page.load(ROOT).ours)}
    assert lines["ex1-p12"].notebook == "05-high-precision"  # it records the value
    assert lines["priv-E-ratio"].notebook == "02-privacy-of-tablebuilder"  # by its section
    assert lines["past-hole"].notebook == "15-small-counts"
    assert lines["abs-identical"].notebook == ""
    past = {line.notebook for name, line in lines.items() if name.startswith("past-")}
    assert past <= set(notebooks.names())


def test_a_claim_has_what_it_changes_and_what_stands_beside_it() -> None:
    lines = {line.claim.id: line for line in ledger_page.load(ROOT).paper}
    assert "8 digits" in lines["exp-variance-32"].entry.changes
    assert lines["exp-variance-32"].see == ("fix-variance",)
    assert all(bool(line.entry.changes) == (line.kind != "confirmed") for line in lines.values())


def test_a_claim_without_recorded_verdict_is_refused(tree: Path) -> None:
    with (tree / "paper/claims.toml").open("a", encoding="utf-8") as file:
        file.write(
            '[[claim]]\nid = "new"\nsection = "I"\nwhere = "x"\nsays = "y"\nprinted = "1"\ncheck = "a.b"\n'
        )
    with pytest.raises(ValueError, match="no verdict of new"):
        ledger_page.load(tree)


def test_both_works_are_cited_as_the_citation_file_has_them(pages: dict[str, Page]) -> None:
    paper, compendium = ledger_page.citation((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert paper["authors"] == ["Sadeghi, Parastoo", "Chien, Chien-Hung"]
    assert compendium["version"] in compendium["bibtex"]
    assert paper["bibtex"].startswith("@misc{sadeghi-privacy,")  # an article would need a journal and a year
    assert "note = {Undated source (ARXIV.tex), not before May 2022}" in paper["bibtex"]
    for work in (paper, compendium):
        assert work["title"] in re.sub("<[^>]+>", "", pages["cite.html"].html)


# --- equations and reference ------------------------------------------------------------------


def equation_rows() -> list[equations.Row]:
    formulas = tomllib.loads((ROOT / "site/equations.toml").read_text(encoding="utf-8"))
    return equations.rows(formulas, (ROOT / "paper/equations.md").read_text(encoding="utf-8"))


def test_all_equations_are_there_once_with_homes_that_exist(pages: dict[str, Page]) -> None:
    rows = equation_rows()
    assert [equation.number for row in rows for equation in row.equations] == list(range(1, 48))
    page = pages["paper/equations.html"]
    assert {f"eq-{number}" for number in range(1, 48)} <= set(page.ids)
    for name in equations.by_function(rows):
        assert pkgutil.resolve_name(f"tablebuilder_dp.{name}") is not None


def test_an_equation_without_a_line_is_refused() -> None:
    formulas = {"first": {"II": 1}, "1": {"printed": "a"}, "2": {"printed": "b"}}
    with pytest.raises(ValueError, match="no line for the equations 2"):
        equations.rows(formulas, "| 1 | a | `b.c` |")


def test_printed_numbers_in_the_formulas_are_those_of_the_claims() -> None:
    printed = {claim.printed for claim in claims.load().values()}
    formulas = {equation.number: equation.printed for row in equation_rows() for equation in row.equations}
    for number in (35, 41, 47):
        assert set(re.findall(r"0\.0\d{10,}", formulas[number])) <= printed
    ours = {equation.number: equation.ours for row in equation_rows() for equation in row.equations}[35]
    found = {int(z): float(p) for z, p in re.findall(r"Z=(\d+)\) .approx (0\.\d{15})", ours)}
    made = design.guide("0.5", "1e-4")
    assert found == {z: float(certified.pmf(made, z).digits(14)) for z in (11, 12)}
    assert {"425760", "1126343", "2255949"} <= printed & set(re.findall(r"\d{6,}", formulas[41]))


def test_formulas_that_do_not_hold_have_ours_beside_them() -> None:
    verdicts = {line.claim.id: line.kind for line in ledger_page.load(ROOT).paper}
    for row in equation_rows():
        for equation in row.equations:
            assert bool(equation.ours) == bool(equation.claim)
            assert not equation.claim or verdicts[equation.claim] not in ("confirmed", "depends")
    kinds = ("slip", "omitted boundary", "display rounding")
    slips = {line.claim.where for kind in kinds for line in ledger_page.load(ROOT).of(kind)}
    numbers = {int(number) for where in slips for number in re.findall(r"^eq\. \((\d+)\)", where)}
    equations = [equation for row in equation_rows() for equation in row.equations]
    assert numbers <= {equation.number for equation in equations if equation.ours}


def test_functions_show_their_equations(pages: dict[str, Page]) -> None:
    html = pages["api/privacy.html"].html
    part = html[html.index('id="tablebuilder_dp.privacy.delta"') :]
    assert "Eq. (21), Proposition 2" in part[: part.index("hockey_stick")]
    html = pages["api/certified.html"].html
    assert "Eq. (6)" in html[html.index('id="tablebuilder_dp.certified.pmf"') :]


def test_every_public_function_of_the_library_is_described(pages: dict[str, Page]) -> None:
    ids = {name for page in pages.values() for name in page.ids}
    names = [info.name for info in pkgutil.walk_packages(tablebuilder_dp.__path__, "tablebuilder_dp.")]
    for name in names:
        if name.split(".")[1] in ("__main__", "cli"):
            continue
        for member, value in vars(importlib.import_module(name)).items():
            is_described = inspect.isfunction(value) or inspect.isclass(value)
            if is_described and value.__module__ == name and not member.startswith("_") and value.__doc__:
                exported = f"tablebuilder_dp.microdata.{member}"
                assert f"{name}.{member}" in ids or exported in ids, f"{name}.{member}"
    assert {f"tablebuilder_dp.microdata.{name}" for name in microdata.__all__} <= ids


def test_the_reference_has_every_module_of_the_library_once() -> None:
    listed = [f"tablebuilder_dp.{module}" for _, group in reference.GROUPS.values() for module in group]
    known = [info.name for info in pkgutil.walk_packages(tablebuilder_dp.__path__, "tablebuilder_dp.")]
    packages = {f"tablebuilder_dp.{name}" for name in ("beyond", "counts", "support", "cli", "__main__")}
    wanted = {name for name in known if name not in packages and not name.startswith("tablebuilder_dp.cli")}
    assert sorted(listed) == sorted(wanted)


def test_docstrings_become_markup_with_their_equations() -> None:
    equation = equations.Equation(7, "a\n+ b", ours="c", claim="x", proposition="Proposition 1")
    lines = reference.as_rst(["One.", "", "Two.", ""], [equation])
    text = "\n".join(lines)
    assert (
        text.index("One.")
        < text.index(":ref:`Eq. (7), Proposition 1 <eq-7>`, corrected")
        < text.index("Two.")
    )
    assert re.search(r"\.\. math::\n\n +c\n", text)


def test_the_extension_describes_pictures_and_shortens_constants(tree: Path) -> None:
    source = tree.parent / "source"
    build.stage(source, tree)
    connected: dict[str, Any] = {}
    app = SimpleNamespace(srcdir=source, connect=connected.__setitem__)
    reference.setup(app)
    picture, alt = next(reference.pictures(notebooks.read(ROOT / "notebooks/00-start-here.ipynb")))
    image, values = nodes.image(uri=f"a/{picture}.png"), ["x" * 300, "{'low': <function _low>}", "'low'"]
    signs = [nodes.inline("", value) for value in values]
    for sign in signs:
        sign.tagname = "desc_annotation"
    connected["doctree-read"](app, nodes.section("", image, *signs))
    assert image["alt"] == alt != ""
    assert [sign.astext() for sign in signs] == ["", "", "'low'"]
    lines, name = ["V."], "tablebuilder_dp.noise.Family.variance"
    connected["autodoc-process-docstring"](app, "function", name, None, None, lines)
    assert any("eq-24" in line for line in lines)


def test_fields_of_named_tuples_are_left_out_and_names_of_the_package_found() -> None:
    field = inspect.getattr_static(tablebuilder_dp.privacy.Delta, "forward")
    assert reference.skip(None, "class", "forward", field, False, None)
    assert reference.skip(None, "module", "f", reference.skip, False, None) is None
    known = {"tablebuilder_dp.certified.delta": "found"}
    domain = SimpleNamespace(resolve_xref=lambda *given: known.get(given[4]))
    app, env = SimpleNamespace(builder=None), SimpleNamespace(domains={"py": domain})
    node = {"refdomain": "py", "reftarget": "certified.delta", "refdoc": "a"}
    assert reference.find(app, env, node, None) == "found"
    assert reference.find(app, env, node | {"reftarget": "no"}, None) is None
    assert reference.find(app, env, node | {"refdomain": "std"}, None) is None


# --- colours ----------------------------------------------------------------------------------


def test_colours_of_text_can_be_read_on_every_background() -> None:
    for colour in contrast.COLOURS.values():
        for dark, backgrounds in ((False, contrast.LIGHT), (True, contrast.DARK)):
            text = contrast.partner(colour, dark=dark)
            assert min(contrast.contrast(text, background) for background in backgrounds) >= 4.5


def test_colours_of_the_figures_are_those_of_the_site(built: Path) -> None:
    css = (built / "_static/palette.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"--(\w+): (#\w+);", css[: css.index("@media")]))
    assert light == {name: getattr(palette, name.upper()) for name in contrast.COLOURS}
    assert css.count("--orange-text") == 3


@pytest.mark.parametrize("style", ["light", "dark"])
def test_colours_of_code_can_be_read(style: str) -> None:
    backgrounds = contrast.LIGHT if style == "light" else contrast.DARK
    conf = (ROOT / "site/conf.py").read_text(encoding="utf-8")
    name = f"a11y-high-contrast-{style}"
    assert f'"{name}"' in conf
    for token, about in get_style_by_name(name):
        if about["color"]:
            behind = [f"#{about['bgcolor']}"] if about["bgcolor"] else backgrounds
            assert min(contrast.contrast(about["color"], one) for one in behind) >= 4.5, token


def test_backgrounds_are_those_of_the_theme(built: Path) -> None:
    css = (built / "_static/styles/furo.css").read_text(encoding="utf-8")
    for place, which in enumerate(("primary", "secondary", "hover")):
        found = set(re.findall(rf"--color-background-{which}:(#\w+)", css.replace(":#fff;", ":#ffffff;")))
        assert found == {contrast.LIGHT[place], contrast.DARK[place]}


# --- how it is built --------------------------------------------------------------------------


def test_a_notebook_that_was_not_run_is_refused_and_the_old_site_stays(
    tree: Path, old_site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tree / "notebooks/04-design-guide.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cell = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    cell["execution_count"], cell["outputs"] = None, []
    path.write_text(json.dumps(notebook), encoding="utf-8")
    build_site = build.build
    monkeypatch.setattr(build, "build", lambda output, *, draft: build_site(output, root=tree, draft=draft))
    assert main(["site", "--output", str(old_site)]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "notebooks/04-design-guide.ipynb has cells that were not run" in said
    assert (old_site / "objects.inv").read_text(encoding="utf-8") == "of an earlier site"


def test_a_cell_that_failed_is_refused_and_an_empty_one_is_not(tree: Path) -> None:
    path = tree / "notebooks/05-high-precision.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"].append(
        {"cell_type": "code", "source": [], "execution_count": None, "outputs": [], "metadata": {}}
    )
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert build.unexecuted(tree) == []
    notebook["cells"][-1] |= {"source": ["1/0"], "execution_count": 9, "outputs": [{"output_type": "error"}]}
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert build.unexecuted(tree) == ["notebooks/05-high-precision.ipynb has a cell that failed"]


def test_nothing_is_missing() -> None:
    assert build.missing(ROOT) == []


def test_what_is_missing_is_named_and_left_out_of_a_draft(
    tree: Path, old_site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "run_sphinx", quick_sphinx)
    (tree / "paper/teaching.md").unlink()
    with pytest.raises(ValueError, match="the site is not built: paper/teaching.md is missing$"):
        build.build(old_site, root=tree)
    assert build.build(old_site, root=tree, draft=True) == ["paper/teaching.md is missing", "a warning"]
    text = (old_site / "objects.inv").read_text(encoding="utf-8")
    assert "glossary\n" in text
    assert "teaching" not in text


def test_a_missing_fragment_takes_its_page_along(tree: Path) -> None:
    (tree / "site").unlink()
    shutil.copytree(ROOT / "site", tree / "site")
    (tree / "site/game.html").unlink()
    build.stage(tree.parent / "source", tree)
    assert not (tree.parent / "source/game.md").exists()
    assert (tree.parent / "source/explorer.md").exists()


def test_a_warning_of_sphinx_is_refused_in_its_words(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source/conf.py").write_text("", encoding="utf-8")
    (tmp_path / "source/index.rst").write_text("Title\n=====\n\n:doc:`nowhere`\n", encoding="utf-8")
    with pytest.raises(
        ValueError, match="as Sphinx complains:\nindex.rst:4: WARNING: unknown document: 'nowhere'"
    ):
        build.run_sphinx(tmp_path)
    shutil.rmtree(tmp_path / "html")
    assert len(build.run_sphinx(tmp_path, draft=True)) == 1


def test_the_old_site_comes_back_if_the_new_one_cannot_take_its_place(
    tree: Path, old_site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "run_sphinx", lambda folder, draft: [])  # it makes no folder html
    with pytest.raises(FileNotFoundError):
        build.build(old_site, root=tree, draft=True)
    assert (old_site / "objects.inv").read_text(encoding="utf-8") == "of an earlier site"
    assert sorted(path.name for path in old_site.parent.iterdir()) == ["old", "tree"]


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    for output in (tmp_path, tmp_path / "thesis.txt"):
        with pytest.raises(ValueError, match="output must be a new folder, an empty one or an earlier site"):
            build.build(output)


def test_the_command_says_where_to_look(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "run_sphinx", quick_sphinx)
    monkeypatch.setattr(build, "unexecuted", lambda root: [])
    assert main(["site", "--draft", "--output", str(tmp_path / "new")]) == 0
    said = capsys.readouterr().out
    assert "draft: a warning\n" in said
    assert said.endswith(f"Open {tmp_path / 'new' / 'index.html'}\n")


def test_links_between_files_hold_in_the_folders_of_the_site() -> None:
    assert build.rehomed("[a](../paper/errata.md) [b](notebooks/x.ipynb)", depth=0) == (
        "[a](paper/errata.md) [b](notebooks/x.ipynb)"
    )
    assert build.rehomed("[a](../../site/glossary.md)", depth=2) == "[a](../../glossary.md)"


def test_lines_of_the_ledger_say_where_they_are_from() -> None:
    line = ledger_page.load(ROOT).paper[0]
    assert line.place == "Abstract, text, line 17; Section I, contribution (1), line 24"
    other = dataclasses.replace(
        line,
        entry=dataclasses.replace(line.entry, claim=dataclasses.replace(line.claim, section="V-C", also=())),
    )
    assert other.place == "Section V-C, text, line 17"
