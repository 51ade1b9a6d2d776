"""Plain text set for a page: exponents, stars, indices and numbers, such as ε^Q, 2^32, E*, δ_D and 1e-5."""

from __future__ import annotations

import re

NUMBER = re.compile(r"[-−+±]?([\d.,/]+([eE][-+]?\d+)?( ?%)?|∞)")
"""A number as a program writes it."""
SET_ALREADY = re.compile(r"(`[^`]*`|\$[^$]*\$)")
EXPONENT = re.compile(r"\^\(((?:[^()]|\([^()]*\))*)\)|\^([−-]?\w+)")
STAR = re.compile(r"(?<=\b[DEFz])\*(?!\*)")
INDEX = re.compile(r"(?<=[δγ])_(\d+|\w)")


def raised(text: str) -> str:
    """Exponents and stars raised and indices lowered, as HTML.

    >>> raised("p^Q = 2^−16·e^(−γ(z−1)²), E*, δ_25(ε)")
    'p<sup>Q</sup> = 2<sup>−16</sup>·e<sup>−γ(z−1)²</sup>, E<sup>∗</sup>, δ<sub>25</sub>(ε)'
    """
    text = EXPONENT.sub(lambda match: f"<sup>{match[1] or match[2]}</sup>", text)
    return INDEX.sub(r"<sub>\1</sub>", STAR.sub("<sup>∗</sup>", text))


def markdown(text: str) -> str:
    """The same in Markdown, which leaves code and mathematics between dollars as they are.

    >>> markdown("$e^x$ and `a^b` but ε^Q")
    '$e^x$ and `a^b` but ε<sup>Q</sup>'
    """
    parts = SET_ALREADY.split(text)
    return "".join(part if place % 2 else raised(part) for place, part in enumerate(parts))


def number(text: str) -> str:
    """A number with its sign and its power of ten as they are printed; anything else as it is.

    >>> number("-2.50e-06"), number("2.50e+00"), number("17"), number("none")
    ('−2.50·10<sup>−6</sup>', '2.50', '17', 'none')
    """
    if not NUMBER.fullmatch(text):
        return text
    digits, _, power = text.replace("-", "−").lower().partition("e")
    power = power.replace("+", "").replace("−0", "−").lstrip("0")
    return f"{digits}·10<sup>{power}</sup>" if power.strip("−") else digits
