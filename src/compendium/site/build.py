"""``make site``: the web pages of the compendium, built offline into ``build/site/``.

The sources are put together in a temporary folder: the pages of ``site/``, the executed notebooks, what
``paper/`` has to read, and pages that are written from the ledger, the docstrings and ``CITATION.cff``.
Sphinx makes HTML of them, with every warning an error. Only a complete site takes the place of an old one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import jinja2

from compendium.ledger import book, theorems
from compendium.render import errata, readme, references, report
from compendium.run import notebooks
from compendium.run.manifest import NUMBERS
from compendium.run.places import ROOT, write
from compendium.site import contrast, equations, glossary, ledger_page, proofs, reference, tools

OUTPUT = ROOT / "build" / "site"
PARTS = {
    "glossary": "site/glossary.md",
    "explorer": "site/explorer.html",
    "game": "site/game.html",
    "teaching": "paper/teaching.md",
}
"""Pages that the others lead to, and the files that they are made of."""
COPIED = (
    *("notebooks/[0-9]*.ipynb", "notebooks/solutions/[0-9]*.ipynb", "paper/*", "figures/*.png"),
    *("README.md", "CITATION.cff", "LICENSE*"),
)


def build(output: Path = OUTPUT, *, root: Path = ROOT, draft: bool = False) -> list[str]:
    """Build the site of the compendium in ``root``, and return what is wrong with a draft.

    A draft leaves out what is missing, shows notebooks as they are, executed or not, and bears warnings.
    """
    output = output.resolve()
    if output.exists() and not (output / "objects.inv").is_file() and _holds_something(output):
        raise ValueError(f"output must be a new folder, an empty one or an earlier site, got {output}")
    problems = [*missing(root), *unexecuted(root)]
    if problems and not draft:
        raise ValueError(f"the site is not built: {'; '.join(problems)}")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".site-", dir=output.parent) as temporary:
        folder = Path(temporary)
        stage(folder / "source", root)
        problems += run_sphinx(folder, draft=draft)
        _replace(output, folder / "html", folder / "old")
    return problems


def _holds_something(path: Path) -> bool:
    return not path.is_dir() or any(path.iterdir())


def missing(root: Path) -> list[str]:
    """What the site needs and the compendium does not have."""
    exercises = tomllib.loads((root / "paper/exercises.toml").read_text(encoding="utf-8"))
    names = list(json.loads((root / NUMBERS).read_text(encoding="utf-8")))
    with_exercises = {name.partition("-")[0] for name in exercises}
    needed = [*PARTS.values(), *map(str, report.PDFS), *(f"notebooks/{name}.ipynb" for name in names)]
    needed += [f"notebooks/solutions/{name}.ipynb" for name in names if name[:2] in with_exercises]
    return [f"{path} is missing" for path in needed if not (root / path).is_file()]


def unexecuted(root: Path) -> list[str]:
    """The notebooks with a cell that was not run or that failed."""
    problems = []
    for path in sorted((root / "notebooks").rglob("[0-9][0-9]-*.ipynb")):
        cells = [cell for cell in notebooks.read(path)["cells"] if cell["cell_type"] == "code"]
        name = path.relative_to(root).as_posix()
        if any(cell["execution_count"] is None and notebooks.source(cell).strip() for cell in cells):
            problems.append(f"{name} has cells that were not run, which make reproduce does")
        elif any(output["output_type"] == "error" for cell in cells for output in cell["outputs"]):
            problems.append(f"{name} has a cell that failed")
    return problems


def stage(source: Path, root: Path) -> None:
    """Put the sources of all pages together in a new folder."""
    shutil.copytree(root / "site", source)
    copied = {path for pattern in COPIED for path in root.glob(pattern)} - {root / "paper/README.md"}
    for path in sorted(copied):
        write(source / path.relative_to(root), path.read_bytes())
    write(source / "static/tex-svg-full.js", mathjax())
    write(source / "static/palette.css", contrast.css())
    for name, (title, modules) in reference.GROUPS.items():
        write(source / f"api/{name}.md", reference.page(title, modules))
    table = source / "paper/equations.md"
    write(source / equations.HOMES, _read(table))
    write(table, equations.page(_read(table), equations.read_rows(source)))
    write(source / proofs.PROOFS, proofs.page(_read(source / proofs.PROOFS)))
    write(source / references.RELATED, proofs.targeted(proofs.cited(_read(source / references.RELATED))))
    statements = readme.between(
        _read(root / theorems.README), theorems.MARKS, theorems.page(root, ledger_page.link)
    )
    write(source / theorems.README, statements)
    write(source / errata.ERRATA, errata.document(book.read(root), ledger_page.link))
    for path in (*source.glob("*.md"), *source.glob("paper/*.md"), *source.glob("notebooks/**/*.ipynb")):
        write(path, rehomed(_read(path), depth=len(path.relative_to(source).parts) - 1))
    has = {name for name, path in PARTS.items() if (root / path).is_file()}
    if "glossary" in has:
        write(source / "glossary.md", glossary.page(_read(source / "glossary.md")))
    _fill_pages(source, has=has, ledger=ledger_page.load(root))
    for name in tools.DATA:
        if name in has:
            write(source / f"{name}.html", tools.fragment(source / f"{name}.html"))
            write(source / f"{name}.md", tools.page(_read(source / f"{name}.md"), name))
        else:
            (source / f"{name}.md").unlink()


def _fill_pages(source: Path, **about: Any) -> None:
    """Fill in the pages with what is known only now."""
    about |= {
        "references": ledger_page.citation(_read(source / "CITATION.cff")),
        "colours": ledger_page.COLOURS,
        "slug": ledger_page.slug,
        "listed": ledger_page.listed,
        "as_html": ledger_page.as_html,
        "stated": ledger_page.stated,
        "same": errata.SAME,
        "groups": reference.GROUPS,
        "play": notebooks.PLAY,
        "parts": {
            part: [
                path.stem
                for path in sorted(source.glob("notebooks/*.ipynb"))
                if notebooks.part(path.stem) == part
            ]
            for part in notebooks.PARTS
        },
        "solutions": [path.stem for path in sorted(source.glob("notebooks/solutions/*.ipynb"))],
    }
    pages = jinja2.Environment(
        loader=jinja2.FileSystemLoader(source / "pages"),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for path in sorted((source / "pages").glob("*.md")):
        write(source / path.name, pages.get_template(path.name).render(about))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def rehomed(text: str, *, depth: int) -> str:
    """Markdown with links as the site's folders need them: there the files of ``site/`` lie at the top.

    >>> rehomed("[a](../notebooks/00.ipynb)", depth=0), rehomed("[b](../site/glossary.md#c)", depth=1)
    ('[a](notebooks/00.ipynb)', '[b](../glossary.md#c)')
    """
    text = re.sub(r"\n\n(?=```$)", "\n", text, flags=re.MULTILINE)  # the blank line that ends a doctest
    if depth == 0:
        text = re.sub(r'(href|data)="\.\./paper/(?=\w+\.pdf[#"])', r'\1="', text)  # which lie at the top, too
        return re.sub(r"\]\(\.\./(?=\w)", "](", text)
    up = "../" * depth
    return text.replace(f"]({up}site/", f"]({up}")


def mathjax() -> bytes:
    """The one file that typesets formulas, from an installed package."""
    files = metadata.files("sphinx-mathjax-offline") or ()
    return next(file for file in files if file.name == "tex-svg-full.js").read_binary()


def run_sphinx(folder: Path, *, draft: bool = False) -> list[str]:
    """Make ``html`` of ``source`` in a folder; return the warnings of a draft, raise on others."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-d", "doctrees", "source", "html"]
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    run = subprocess.run(  # noqa: S603
        [*command, *([] if draft else ["-W", "--keep-going"])],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "SOURCE_DATE_EPOCH": "0", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    warnings = run.stderr.replace(f"{folder / 'source'}{os.sep}", "").splitlines()
    if run.returncode:
        raise ValueError("the site is not built, as Sphinx complains:\n" + "\n".join(warnings))
    (folder / "html/.buildinfo").unlink()  # it is for builds that go on from earlier ones
    for path in (folder / "html").rglob("*.html"):
        write(path, mended(_read(path)))
    return warnings


def mended(html: str) -> str:
    """A page without what keeps those out who listen to it: parts of the theme and of Sphinx."""
    for original, better in {
        '<aside class="sidebar-drawer"': '<aside aria-label="All pages" class="sidebar-drawer"',
        '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
        ' class="caption" role="heading"': ' class="caption"',  # it names no level
        '<th class="head"><p></p></th>': "<td></td>",
    }.items():
        html = html.replace(original, better)
    html = _DISPLAYED.sub(_wrapping, html)
    html = "".join(part if place % 2 else bound(part) for place, part in enumerate(_CODE.split(html)))
    # The parameters of a long signature are no list of definitions, as which Sphinx marks them.
    for signature in re.findall(r"<dl>\s*<dd>.*?</dl>", html, re.DOTALL):
        lines = signature.replace("<dd>", '<div class="sig-line">')
        html = html.replace(signature, re.sub(r"(</?)d[dl]>", r"\1div>", lines))
    return html


_DISPLAYED = re.compile(r'(<div class="math notranslate nohighlight">)\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)
_CODE = re.compile(r"(<(?:pre|code|script|style)\b.*?</(?:pre|code|script|style)>)", re.DOTALL)


def bound(html: str) -> str:
    r"""HTML in whose text no line ends inside (ε, δ) or D = 10.

    >>> bound("<p>an (ε, δ) with D = 10, or not</p>")
    '<p>an (ε,\xa0δ) with D\xa0=\xa010, or not</p>'
    """
    outside = "(?![^<>]*>)"  # of a tag
    html = re.sub(rf"(\(ε(?:<sup>Q</sup>)?,) (?=δ){outside}", "\\1\xa0", html)
    relation = r"(?<![\w.])([A-Zγδειλ]) (=|≈|≤|≥|&lt;|&gt;) (?=[\d−])"
    return re.sub(relation + outside, "\\1\xa0\\2\xa0", html)


def _wrapping(formula: re.Match[str]) -> str:
    """A displayed formula; several with gaps between become formulas that may stand below each other."""
    parts = pieces(formula[2])
    if len(parts) == 1:
        return formula[0]
    spans = (f'<span class="math">\\(\\displaystyle {part}\\)</span>' for part in parts)
    return f"{formula[1]}{chr(10).join(spans)}</div>"


def pieces(formula: str) -> list[str]:
    r"""The formulas between the gaps of one, where a gap is not inside of anything.

    >>> pieces(r"a = b,\qquad c = d.")
    ['a = b,', 'c = d.']
    >>> pieces(r"\begin{aligned} a \qquad b \end{aligned}")
    ['\\begin{aligned} a \\qquad b \\end{aligned}']
    """
    found, depth = [""], 0
    for part in re.findall(r"\\[a-zA-Z]+|\\.|[{}]|[^\\{}]+", formula, re.DOTALL):
        depth += (part in ("{", r"\begin", r"\left")) - (part in ("}", r"\end", r"\right"))
        if part == r"\qquad" and depth == 0:
            found.append("")
        else:
            found[-1] += part
    return [part.strip() for part in found]


def _replace(output: Path, new: Path, old: Path) -> None:
    """Put the new folder in the place of the old one, which comes back if that fails."""
    if output.exists():
        output.rename(old)
    try:
        new.rename(output)
    except OSError:
        if old.exists():
            old.rename(output)
        raise


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="FOLDER", help="default: build/site")
    parser.add_argument(
        "--draft", action="store_true", help="leave out what is missing, show notebooks that were not run"
    )


def run(options: argparse.Namespace) -> int:
    """Build the pages and say where they are."""
    start = time.monotonic()
    print(f"Building the pages of {len(notebooks.names())} notebooks, the ledger and the reference ...")
    try:
        problems = build(options.output, draft=options.draft)
    except (OSError, ValueError) as error:
        print(f"site: {error}", file=sys.stderr)
        return 1
    for problem in problems:
        print(f"draft: {problem}")
    pages = sum(1 for _ in options.output.rglob("*.html"))
    print(f"{pages} pages in {time.monotonic() - start:.0f} s. Open {options.output / 'index.html'}")
    return 0
