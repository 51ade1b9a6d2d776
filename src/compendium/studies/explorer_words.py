"""The explorer's settings and findings in words: as typed, as an address, as commands, as a verdict.

The words are those of ``explorer.toml``. Which of them are said is decided here, and for the page in
`site/static/explorer-page.js`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any
from urllib.parse import quote

from compendium.studies import explorer, phrases
from compendium.studies.explorer import Explored, Settings, say
from tablebuilder_dp.support import parameters


def texts(settings: Settings) -> dict[str, str]:
    """The settings as one would type them.

    `explorer.read` reads them back, except for a number that was given as a Fraction or in more than 40
    characters: that it refuses.

    >>> texts(Settings(delta=1e-5, keysize=1000))["delta"], texts(Settings())["keysize"]
    ('1e-05', '2^32')
    """
    bits = settings.keysize.bit_length() - 1
    return {
        "epsilon": str(settings.epsilon),
        "delta": str(settings.delta),
        "support": "auto" if settings.support is None else str(settings.support),
        "slack": str(settings.slack),
        "keysize": f"2^{bits}" if settings.keysize == 2**bits else str(settings.keysize),
        "rule": settings.rule,
    }


def address(typed: Mapping[str, str]) -> str:
    """What the address of the web site's explorer page ends with to show these settings.

    >>> address(texts(Settings()))
    '#epsilon=0.5&delta=1e-4&support=auto&slack=0.1&keysize=2^32&rule=ceiling'
    """
    return "#" + "&".join(f"{name}={quote(text, safe='^')}" for name, text in typed.items())


def _whole(explored: Explored) -> dict[str, str]:
    """The settings as typed, with D and KEYSIZE written out: some shells read ^ and ** their own way."""
    return texts(explored.settings) | {
        "support": str(explored.support),
        "keysize": str(explored.table.keysize),
    }


def command(explored: Explored) -> str:
    """The command line that prints the same lookup table; no sign in it means anything to a shell.

    >>> command(explorer.explore(Settings(keysize=2**16)))
    'tablebuilder-dp table --epsilon 0.5 --support 25 --slack 0.1 --keysize 65536 --rule ceiling --json'
    """
    return say("command", **_whole(explored))


def file_name(explored: Explored) -> str:
    """What the lookup table is called when it is taken home."""
    return say("file", **_whole(explored))


def python(typed: Mapping[str, str]) -> str:
    """Two lines of Python that print the same lookup table as CSV."""
    return (
        "from compendium.studies.explorer import csv, explore, read\n"
        f"print(csv(explore(read({dict(typed)}))), end='')"
    )


COLUMNS = {
    "best_support": ("$D^*$", ""),
    "support": ("$D$", ""),
    "variance": ("variance of the noise", ".2f"),
    "delta": (r"$\delta$ of the noise", ".3e"),
    "plateau_onset": (r"plateau from $\varepsilon$", ".6f"),
    "lost": ("values lost", ""),
    "bias": ("bias", ".1e"),
    "variance_table": ("variance of the table", ".2f"),
    "delta_table": (r"$\delta$ of the table", ".3e"),
    "epsilon_two_sided": (r"two-sided $\varepsilon^Q$", ".6f"),
}
"""How some of the explorer's numbers are headed in a table, and to how many digits they stand there."""


def side_by_side(
    choices: Mapping[str, Settings], shown: Sequence[str]
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Some of the numbers of several settings, as headings and rows; one that has no answer says why.

    >>> side_by_side({"as wanted": Settings(), "narrow": Settings(support=9)}, ["support", "variance"])[1]
    [('as wanted', 'noise and table', '25', '49.00'), ('narrow', 'neither', '9', '14.87')]
    """
    rows: list[tuple[str, ...]] = []
    for label, settings in choices.items():
        try:
            explored = explorer.explore(settings)
        except (ValueError, ArithmeticError) as error:
            rows.append((label, str(error), *("–" for _ in shown)))
            continue
        numbers = explorer.numbers(explored)
        kept = {"noise": explored.noise_keeps, "table": explored.table_keeps}
        words = " and ".join(what for what, keeps in kept.items() if keeps) or "neither"
        rows.append((label, words, *(_rounded(numbers[name], COLUMNS[name][1]) for name in shown)))
    return [
        "setting",
        r"keeps the wanted $(\varepsilon, \delta)$",
        *(COLUMNS[name][0] for name in shown),
    ], rows


def _rounded(number: str, digits: str) -> str:
    return number if not digits or number in ("∞", "0") else f"{float(number):{digits}}"


def sheet(explored: Explored) -> list[tuple[str, str, str]]:
    """All numbers of the noise and of its table, as rows: what it is, of the noise, of the table.

    >>> sheet(explorer.explore(Settings()))[3]
    ('variance', '49.00216715', '49.00216718')
    """
    numbers = explorer.numbers(explored)
    return [
        (
            row["label"],
            numbers.get(row.get("noise", ""), row.get("noise_is", "")),
            numbers.get(row.get("table", ""), ""),
        )
        for row in explorer.WORDS["rows"]
    ]


def settings(typed: Mapping[str, str], support: int) -> str:
    """What was chosen, in one line, with the D that is used.

    >>> settings(texts(Settings(keysize=2**16)), 25)
    'ε = 0.5, δ = 1e-4, D = 25, as small as possible, slack 0.1, KEYSIZE 2^16, ceiling rule'
    """
    kind = "settings_auto" if typed["support"] == "auto" else "settings"
    return say(kind, **{**typed, "support": support})


def verdict(explored: Explored) -> str:
    """Whether the table keeps the wanted (ε, δ)."""
    typed, numbers = texts(explored.settings), explorer.numbers(explored)
    return say("kept" if explored.table_keeps else "broken", **numbers | typed)


def reasons(explored: Explored) -> str:
    """Why the promise is kept or broken, and what else there is to know about the table."""
    share = explorer.text(Fraction(1, explored.table.keysize))
    numbers = explorer.numbers(explored) | {"share": share}
    return f"{say(_why(explored, numbers), **numbers)} {say(_ratios(explored), **numbers)}"


def _why(explored: Explored, numbers: Mapping[str, str]) -> str:
    if not explored.table_keeps and parameters.delta(explored.settings.delta) * explored.table.keysize < 1:
        return "too_few_keys"
    if not explored.noise_keeps:
        return "by_chance" if explored.table_keeps else "too_small"
    if not explored.table_keeps:
        return "rounding_breaks_symmetric" if explored.settings.rule == "symmetric" else "rounding_breaks"
    if explored.table_keeps_noise:
        return "no_larger"
    return "slightly_larger" if numbers["delta"] == numbers["delta_table"] else "larger"


def _ratios(explored: Explored) -> str:
    if explored.table.lost:
        return "some_lost"
    return "ratios_within" if explored.keeps_epsilon else "ratios_exceed"


def ladder(name: str) -> list[str]:
    """What the slider of a setting writes, from one end to the other.

    >>> ladder("slack")[:3], ladder("delta")[-4:]
    (['0', '0.01', '0.02'], ['5e-2', '0.1', '0.2', '0.5'])
    """
    field: Mapping[str, Any] = explorer.FIELDS[name]
    if "powers" in field:
        first, last = field["powers"]
        rungs = [
            phrases.fill(rung, power=power) for power in range(first, last + 1) for rung in field["rungs"]
        ]
        return [*rungs, *field.get("last_rungs", [])]
    values: dict[Decimal, None] = {}
    for first, last, distance in (map(Decimal, part) for part in field["steps"]):
        values |= dict.fromkeys(first + i * distance for i in range(int((last - first) / distance) + 1))
    return [f"{value.normalize():f}" for value in values]


def nearest(name: str, typed: str) -> int:
    """The place on the ladder of a setting that is nearest to what is typed."""

    def height(text: str) -> float:
        value = parameters.read_keysize(text) if name == "keysize" else float(text)
        return value if name == "slack" else math.log(value)

    heights, here = [height(rung) for rung in ladder(name)], height(typed)
    return min(range(len(heights)), key=lambda place: abs(heights[place] - here))
