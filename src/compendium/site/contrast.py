"""The colours of the web site: those of the figures, and partners of them that can be read as text.

Okabe and Ito's colours are made for areas and lines. As text on white, half of them are too faint, and on
a dark page others are. A partner is the same colour, mixed with as much black or white as it takes to reach
the contrast that WCAG 2 (level AA) asks of text. On a dark page figures are turned round, and
areas with them.
"""

from __future__ import annotations

from compendium.figures import palette

COLOURS = {
    "blue": palette.BLUE,
    "orange": palette.ORANGE,
    "green": palette.GREEN,
    "purple": palette.PURPLE,
    "sky": palette.SKY,
    "grey": palette.GREY,
}
READABLE = 4.5
"""The contrast of text and background that is asked for."""
LIGHT = ("#ffffff", "#f8f9fb", "#efeff4", "#f2f2f2")
DARK = ("#131416", "#1a1c1e", "#1e2124", "#2b2b2b")
"""The backgrounds of the pages in light and in dark: page, side, under the mouse, code."""


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours by WCAG 2: from 1 (the same) to 21 (black and white).

    >>> contrast("#000000", "#ffffff"), round(contrast("#0072B2", "#ffffff"), 2)
    (21.0, 5.19)
    """
    low, high = sorted(map(_luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    def linear(share: float) -> float:
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(part / 255) for part in _parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _parts(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def partner(colour: str, *, dark: bool) -> str:
    """The nearest mixture with black, or with white for dark pages, that can be read on all backgrounds.

    >>> partner("#0072B2", dark=False), partner("#E69F00", dark=False)
    ('#0072b2', '#916400')
    """
    end, backgrounds = (255, DARK) if dark else (0, LIGHT)
    for percent in range(101):
        mixed = "#" + bytes(round(part + (end - part) * percent / 100) for part in _parts(colour)).hex()
        if min(contrast(mixed, background) for background in backgrounds) >= READABLE:
            break
    return mixed


FILTER = "invert(.92) hue-rotate(180deg)"
"""What makes a figure, drawn on white, one on dark ground: its lightness is turned round, its hues stay."""


def turned(colour: str) -> str:
    """What the filter makes of a colour: areas of a dark page have the colours of the figures there.

    >>> turned("#ffffff"), turned("#0072B2")
    ('#141414', '#4cace2')
    """
    red, green, blue = (0.92 - 0.84 * part / 255 for part in _parts(colour))
    grey = 2 * (0.213 * red + 0.715 * green + 0.072 * blue)
    return "#" + bytes(round(255 * min(1, max(0, grey - part))) for part in (red, green, blue)).hex()


def css() -> str:
    """``palette.css``: ``--blue`` and so on for areas and lines, ``--blue-text`` for text."""
    light = {f"--{name}": colour for name, colour in COLOURS.items()}
    light |= {f"--{name}-text": partner(colour, dark=False) for name, colour in COLOURS.items()}
    dark = {f"--{name}": turned(colour) for name, colour in COLOURS.items()}
    dark |= {f"--{name}-text": partner(colour, dark=True) for name, colour in COLOURS.items()}
    dark["--figures"] = FILTER
    return (
        f"body {{\n{_lines(light)}}}\n\n"
        "@media not print {\n"
        f"body[data-theme=dark] {{\n{_lines(dark)}}}\n\n"
        f"@media (prefers-color-scheme: dark) {{\nbody:not([data-theme=light]) {{\n{_lines(dark)}}}\n}}\n"
        "}\n"
    )


def _lines(properties: dict[str, str]) -> str:
    return "".join(f"  {name}: {value};\n" for name, value in properties.items())
