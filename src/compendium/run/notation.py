"""Plain text with exponents, stars and indices, set for a page: the ledger writes ε^Q, 2^32, E* and δ_D."""

from __future__ import annotations

import re

SET_ALREADY = re.compile(r"(`[^`]*`|\$[^$]*\$)")
EXPONENT = re.compile(r"\^\(([^()]*)\)|\^([−-]?\w+)")
STAR = re.compile(r"(?<=\b[DEFz])\*(?!\*)")
INDEX = re.compile(r"(?<=[δγ])_(\w)")


def raised(text: str) -> str:
    """Exponents and stars raised and indices lowered, as HTML.

    >>> raised("p^Q = 2^−16·e^(γz²), E*, δ_D(ε)")
    'p<sup>Q</sup> = 2<sup>−16</sup>·e<sup>γz²</sup>, E<sup>*</sup>, δ<sub>D</sub>(ε)'
    """
    text = EXPONENT.sub(lambda match: f"<sup>{match[1] or match[2]}</sup>", text)
    return INDEX.sub(r"<sub>\1</sub>", STAR.sub("<sup>*</sup>", text))


def markdown(text: str) -> str:
    """The same in Markdown, which leaves code and mathematics between dollars as they are.

    >>> markdown("$e^x$ and `a^b` but ε^Q")
    '$e^x$ and `a^b` but ε<sup>Q</sup>'
    """
    parts = SET_ALREADY.split(text)
    return "".join(part if place % 2 else raised(part) for place, part in enumerate(parts))
