"""The explorer's and the game's pages on their own, and what a reader sees of some HTML."""

import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

from compendium.run.places import ROOT
from compendium.site import tools

STATIC = ROOT / "site/static"


def write_page(folder: Path, name: str, wrapper: str) -> str:
    """Write a tool's page into a folder, with its scripts where the site has them; its address."""
    (folder / "_static").mkdir(exist_ok=True)
    for path in (*STATIC.glob(f"{name}*"), STATIC / "words.js"):
        shutil.copy(path, folder / "_static")
    page = folder / f"{name}.html"
    page.write_text(wrapper.replace("{}", tools.fragment(ROOT / f"site/{name}.html")), encoding="utf-8")
    return page.as_uri()


def plain(html: str) -> str:
    """What a reader sees of some HTML, with single spaces and with ^ for what is raised, but for a star."""
    spaced = re.sub(r"<sup>(?!\*)", "^", re.sub("<br>|<p>", " ", html))
    return " ".join(unescape(re.sub(r"<[^>]+>", "", spaced)).split())


def as_read(found: Any) -> Any:
    """Dictionaries and lists of HTML and numbers, as a reader sees them."""
    if isinstance(found, dict):
        return {key: as_read(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [as_read(value) for value in found]
    return plain(f"{found:g}" if isinstance(found, float) else str(found))
