"""Plain text set for a page: exponents, stars, indices and numbers, such as ε^Q, 2^32, E*, δ_D and 1e-5."""

from __future__ import annotations

import re

NUMBER = re.compile(r"[-−+±]?([\d.,/]+([eE][-+]?\d+)?( ?%)?|∞)")
"""A number as a program writes it."""
SET_ALREADY = re.compile(r"(`[^`]*`|\$[^$]*\$)")
EXPONENT = re.compile(r"\^\(((?:[^()]|\([^()]*\))*)\)|\^([−-]?\w+)")
STAR = re.compile(r"(?<=\b[DEFz])\*(?!\*)")
POWER = re.compile(r"(?<![\w.])(-?\d[\d.]*)[eE]([-+]?\d+)\b")
GREEK = {"gamma": "γ", "eps": "ε", "delta": "δ", "iota": "ι"}
NAME = re.compile(rf"(?<![\w-])(-?)({'|'.join(GREEK)})('?)(?= = )")
"""The letters as the cases of the ledger name them."""
NEGATIVE = re.compile(r"(?<= = )-(?=\d)")
ERROR = re.compile(r"(?<![\w./-])e(8|16|32|K)\b")
"""The errors with 2^8, 2^16 and 2^32 keys, as the ledger names them."""
INDEX = re.compile(r"(?:(?<=[δγΣ])|(?<=\bA))_(\d+|\w)")

SYMBOL = (
    r"(?:\[[−+\d.Dz, ]*D[−+\d.Dz, ]*\]|e\^(?:ε|\([^()]*\))|[εδγι](?:\^Q|_\w+)?|(?<![\w-])[pcwBV]\^Q"
    r"|(?<![\w-])[pcw](?=\([−±+\w]*\))|(?<![\w-])[DEFz]\*|(?<![\w-])\d*D(?![\w-])"
    r"|(?<!Section )(?<!Sections )(?<![\w-])V(?![\w-])|\b\d+\^\d+|\bKEYSIZE\b)"
)
"""What makes a piece of text a formula: the paper's letters, with what belongs to them."""
BRACKET = r"\([−+±\d.εδγιDVz,^Q ·/]+\)"
UNIT = rf"(?:{SYMBOL}(?:{BRACKET})?|\d+(?:\.\d+)?(?![\w^])|{BRACKET})"
FORMULA = re.compile(rf"[−+]?{UNIT}(?:\s?[=<>≤≥≈+−·/]\s?[−+]?{UNIT})*")
LEFT = re.compile(r"[²⌊⌋^]|\w\0|\0[\w(]")
"""What is left over where a formula was not seen whole."""
SIGNS = {
    **{"ε": r"\varepsilon", "δ": r"\delta", "γ": r"\gamma", "ι": r"\iota", "KEYSIZE": r"\mathtt{KEYSIZE}"},
    **{"−": "-", "·": r"\cdot", "≤": r"\le", "≥": r"\ge", "±": r"\pm", "≈": r"\approx"},
}


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


def prose(text: str) -> str:
    """Markdown whose numbers are set, too: powers of ten, and the errors e8, e16 and e32 with their indices.

    >>> prose("-1.51e-5, 1e-10 and 2.65e5 but `1e-5`")
    '−1.51·10<sup>−5</sup>, 10<sup>−10</sup> and 2.65·10<sup>5</sup> but `1e-5`'
    >>> prose("e32 < eK")
    'e<sub>32</sub> < e<sub>K</sub>'
    """
    parts = SET_ALREADY.split(text)
    return "".join(part if place % 2 else powers(raised(part)) for place, part in enumerate(parts))


def powers(html: str) -> str:
    """Numbers such as 1e-5 with their power of ten, e16 with its index and Greek letters, as HTML.

    >>> powers("first at eps = 0.7, -iota = 1e-5")
    'first at ε = 0.7, −ι = 10<sup>−5</sup>'
    >>> powers("gamma' = -0.125")
    'γ′ = −0.125'
    """
    html = POWER.sub(lambda match: _power(match[1], match[2]), html)
    html = NAME.sub(_letter, html.replace("&#39;", "'"))
    html = NEGATIVE.sub("−", html)
    return ERROR.sub(r"e<sub>\1</sub>", html)


def _letter(name: re.Match[str]) -> str:
    return name[1].replace("-", "−") + GREEK[name[2]] + name[3].replace("'", "′")


def _power(digits: str, power: str) -> str:
    digits, power = (part.replace("-", "−") for part in (digits, str(int(power))))
    factor = "" if digits == "1" else "−" if digits == "−1" else f"{digits}·"
    return f"{factor}10<sup>{power}</sup>"


def number(text: str) -> str:
    """A number with its sign and its power of ten as they are printed; anything else as it is.

    >>> number("-2.50e-06"), number("2.50e+00"), number("17"), number("+0"), number("none")
    ('−2.50·10<sup>−6</sup>', '2.50', '17', '0', 'none')
    """
    if text == "+0":
        return "0"
    if not NUMBER.fullmatch(text):
        return text
    digits, _, power = text.replace("-", "−").lower().partition("e")
    power = power.replace("+", "").replace("−0", "−").lstrip("0")
    return f"{digits}·10<sup>{power}</sup>" if power.strip("−") else digits


def tex(text: str) -> str:
    r"""The same number set by TeX, without the dollars.

    >>> print(tex("-2.50e-06"), tex("1e-06"), tex("0.5"))
    -2.50 \cdot 10^{-6} 10^{-6} 0.5
    """
    digits, _, power = text.lower().partition("e")
    factor = "" if digits == "1" else rf"{digits} \cdot "
    return f"{factor}10^{{{int(power)}}}" if power else digits


def formulas(text: str) -> str:
    r"""Text with its formulas set by TeX between dollars; as it is where one of them was not seen whole.

    >>> print(formulas("With ι < 0 the pair (ε^Q, δ^Q) needs 2^32 keys"))
    With $\iota < 0$ the pair $(\varepsilon^{Q}, \delta^{Q})$ needs $2^{32}$ keys
    >>> print(formulas("γ = ε/(2D−1) − ι of Section V"), formulas("E[Z²] ≤ V"))
    $\gamma = \varepsilon/(2D-1) - \iota$ of Section V E[Z²] ≤ V
    """
    parts = SET_ALREADY.split(text)
    made = "".join(part if place % 2 else FORMULA.sub(_formula, part) for place, part in enumerate(parts))
    return text if LEFT.search("\0".join(SET_ALREADY.split(made)[::2])) else made


def _formula(found: re.Match[str]) -> str:
    if not re.search(SYMBOL, found[0]):
        return found[0]
    text = re.sub(r"([\^_])\(([^()]*)\)", r"\1{\2}", found[0].replace("*", "^*"))
    text = re.sub(r"([\^_])(\w+)", r"\1{\2}", text)
    signs = rf"({'|'.join(map(re.escape, SIGNS))})(?=([A-Za-z]?))"
    return f"${re.sub(signs, lambda sign: SIGNS[sign[1]] + ' ' * bool(sign[2]), text)}$"
