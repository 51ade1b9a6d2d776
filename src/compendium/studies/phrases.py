"""The words of the explorer and of the game: sentences with places that Python and a page fill alike.

``explorer.toml`` and ``game.toml`` beside this file have every label, range and sentence. The widgets read
them here, the site's build puts them into the pages, and `site/static/words.js` fills places as `fill` does.
"""

from __future__ import annotations

import re
import tomllib
from html import escape
from pathlib import Path
from typing import Any

PLACE = re.compile(r"\{(\w+)(?::([^|}]*)\|([^}]*))?\}")
SYMBOL = re.compile(r"(?<![A-Za-z])([εδγ]|[CDkz](?![A-Za-z])|KEYSIZE)")


def read(name: str) -> dict[str, Any]:
    """Everything in the TOML file of this name."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


def fill(template: str, /, **values: object) -> str:
    """Put values into the places of a sentence; one with two forms takes the first for 1, else the second.

    >>> fill("{right} of {rounds} {rounds:round|rounds}", right=1, rounds=1), fill("{n:one|many}", n="20")
    ('1 of 1 round', 'many')
    """

    def put(place: re.Match[str]) -> str:
        name, singular, plural = place.groups()
        value = str(values[name])
        return value if singular is None else singular if value == "1" else plural

    return PLACE.sub(put, template)


def html(text: str) -> str:
    """A text for a page or a widget: symbols in italics, exponents and the star of D* raised.

    >>> html("e^ε < D*, 2^16")
    'e<sup><var>ε</var></sup> &lt; <var>D</var><sup>*</sup>, 2^16'
    """
    marked = SYMBOL.sub(r"<var>\1</var>", escape(text, quote=False))
    return re.sub(r"\^(<var>ε</var>|Q)|(?<=<var>D</var>)(\*)", r"<sup>\1\2</sup>", marked)
