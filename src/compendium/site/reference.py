"""The reference of the library for the web site, from docstrings, with their equations and links to proofs.

This module names the pages, and is the Sphinx extension that makes reStructuredText of our docstrings, finds
what a name in backticks refers to, and gives the pictures of notebooks their descriptions.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import indent
from typing import Any

from compendium.run import notebooks
from compendium.site import equations, proofs
from compendium.site.equations import Equation
from tablebuilder_dp import microdata

PACKAGE = "tablebuilder_dp"
LONG = 105
"""Types and values with more characters are not written out."""

GROUPS = {
    "noise": ("Section III-A: the noise", ["noise"]),
    "privacy": ("Section III-B: the privacy of one count", ["privacy"]),
    "design": ("Sections III-C and III-D: the design", ["design"]),
    "cellkey": ("Section IV: cell keys", ["cellkey"]),
    "sampling": ("Section V: sampling", ["sampling"]),
    "certified": ("Certified values", ["certified"]),
    "best-gamma": ("Past the paper: the best γ", ["beyond.best_gamma", "beyond.gap"]),
    "better-tables": ("Past the paper: better lookup tables", ["beyond.symmetric", "beyond.chain"]),
    "other-noise": ("Past the paper: other noise", ["beyond.other_noise", "beyond.frontier"]),
    "many-queries": (
        "Past the paper: many counts",
        ["beyond.composition", "beyond.promise", "beyond.many_cells"],
    ),
    "equal-answers": ("Past the paper: equal answers for equal sets", ["beyond.tiling"]),
    "small-counts": (
        "Tables for any count",
        [f"counts.{part}" for part in ("small_counts", "rows", "certified", "perturbation_table")],
    ),
    "table-files": ("Tables of other software", ["counts.table_files", "counts.table_intervals"]),
    "microdata": ("From microdata to a published table", ["microdata"]),
    "microdata-parts": (
        "The parts of microdata",
        [
            f"microdata.{part}"
            for part in (
                *("layout", "secret", "cell_keys", "record_keys", "sources", "records", "cells", "listing"),
                *("publish", "given", "protection", "forms", "statement", "words", "results", "release"),
                *("release_file", "plan", "account", "journal", "census", "formats", "nesting"),
            )
        ],
    ),
    "foundations": (
        "What all modules share",
        [f"support.{part}" for part in ("parameters", "intervals", "lattice", "files", "stopping")],
    ),
}
"""The pages of the reference, from the paper's sections to what all stand on: title and modules."""


def page(title: str, modules: Sequence[str]) -> str:
    """A page of the reference, with a heading for each module if there are several."""
    lines = [f"# {title}", ""]
    for module in modules:
        if len(modules) > 1:
            lines += [f"## `{module}`", ""]
        lines += ["```{eval-rst}", f".. automodule:: {PACKAGE}.{module}", "   :members:"]
        if module.startswith("microdata."):  # what the package exports is described there
            lines.append(f"   :exclude-members: {', '.join(microdata.__all__)}")
        lines += ["```", ""]
    return "\n".join(lines)


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx what to do with docstrings, names and pictures."""
    source = Path(app.srcdir)
    numbered = equations.by_function(equations.read_rows(source))
    paths = sorted(source.glob("notebooks/**/*.ipynb"))
    descriptions = dict(pair for path in paths for pair in pictures(notebooks.read(path)))

    def rewrite(_app: Any, _what: str, name: str, _object: Any, _options: Any, lines: list[str]) -> None:
        lines[:] = as_rst(lines, numbered.get(name.removeprefix(f"{PACKAGE}."), []))

    def tidy(_app: Any, doctree: Any) -> None:
        for image in doctree.findall(lambda node: node.tagname == "image"):
            image.setdefault("alt", descriptions.get(Path(image["uri"]).stem, ""))
        for value in doctree.findall(lambda node: node.tagname == "desc_annotation"):
            if len(value.astext()) > LONG or "<function" in value.astext():
                value.clear()

    app.connect("autodoc-process-docstring", rewrite)
    app.connect("autodoc-process-signature", plain)
    app.connect("autodoc-skip-member", skip)
    app.connect("missing-reference", find)
    app.connect("doctree-read", tidy)
    return {"parallel_read_safe": True}


def plain(_app: Any, _what: str, _name: str, _object: Any, _options: Any, *parts: str | None) -> Any:
    """A signature and what it returns, with the names of types as the code has them.

    What a field begins with is no code where a factory makes it, and is left out.

    >>> plain(None, "", "", None, None, "(x: dict = <factory>)", "tuple[TypeAliasForwardRef('Array'), int]")
    ('(x: dict)', 'tuple[Array, int]')
    """
    parts = tuple(part and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", part) for part in parts)
    return tuple(part and re.sub(r" ?= ?<factory>", "", part) for part in parts)


def skip(_app: Any, _what: str, _name: str, member: Any, _skipped: bool, _options: Any) -> bool | None:
    """Leave out the fields of named tuples, which the signature has; of others Sphinx knows what to do."""
    return True if "Alias for field number" in (getattr(member, "__doc__", "") or "") else None


def exported(name: str) -> str:
    """The name under which `microdata` exports something from one of its modules.

    >>> exported("microdata.protection.design"), exported("microdata.secret.read")
    ('microdata.design', 'microdata.secret.read')
    """
    first, _, rest = name.partition(".")
    inner = rest.partition(".")[2]
    return f"{first}.{inner}" if first == "microdata" and inner.split(".")[0] in microdata.__all__ else name


def find(app: Any, env: Any, node: Any, shown: Any) -> Any:
    """What `certified.delta` refers to where only other names are near: that of the package."""
    if node.get("refdomain") != "py":
        return None
    for part in ("", ".beyond", ".counts", ".microdata", ".support", ".support.parameters"):
        name = f"{PACKAGE}{part}.{exported(node['reftarget'])}"
        target = env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, shown)
        if target:
            return target
    return None


def as_rst(lines: Sequence[str], equations: Sequence[Equation] = ()) -> list[str]:
    r"""A docstring of ours as reStructuredText, with equations after its first paragraph.

    >>> print(*as_rst(["|z| of `Chain`s.", "", ">>> 1 | 2", "3"]), sep=" / ")
    \|z\| of `Chain`\ s. /  / >>> 1 | 2 / 3
    """
    paragraphs = "\n".join(lines).split("\n\n")
    paragraphs = [text if text.lstrip().startswith(">>>") else _escaped(text) for text in paragraphs]
    if equations:
        block = ".. container:: equations\n\n" + indent("\n".join(map(_block, equations)), "   ")
        paragraphs.insert(1, block)
    return "\n\n".join(paragraphs).split("\n")


def _escaped(text: str) -> str:
    """Text without what only looks like markup, bars around z and names in the plural, and with its links."""
    return proofs.as_rst(re.sub(r"(`\w+`)(?=\w)", r"\1\\ ", text.replace("|", r"\|")))


def _block(equation: Equation) -> str:
    name = f":ref:`{equation.name} <eq-{equation.number}>`{', corrected' if equation.ours else ''}"
    formula = indent(equation.ours or equation.printed, "   ")
    return ".. container:: equation named\n\n" + indent(f"{name}\n\n.. math::\n\n{formula}\n", "   ")


def pictures(notebook: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The SHA-256, by which pages name a picture, and the description of each picture of a notebook."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", {}):
                content = base64.b64decode("".join(output["data"]["image/png"]))
                about = output["metadata"].get("image/png", {})
                yield hashlib.sha256(content).hexdigest(), about.get("alt", "")
