"""The explorer's settings and findings in words: as typed, as an address, as commands, as a verdict."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from compendium.studies import explorer
from compendium.studies.explorer import Explored, Settings
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


def command(explored: Explored) -> str:
    """The command line that prints the same lookup table; no sign in it means anything to a shell.

    >>> command(explorer.explore(Settings(keysize=2**16)))
    'tablebuilder-dp table --epsilon 0.5 --support 25 --slack 0.1 --keysize 65536 --rule ceiling --json'
    """
    whole = {"support": str(explored.support), "keysize": str(explored.table.keysize)}
    typed = texts(explored.settings) | whole
    options = (part for name in typed if name != "delta" for part in (f"--{name}", typed[name]))
    return shlex.join(["tablebuilder-dp", "table", *options, "--json"])


def python(typed: Mapping[str, str]) -> str:
    """Two lines of Python that print the same lookup table as CSV."""
    return (
        "from compendium.studies.explorer import csv, explore, read\n"
        f"print(csv(explore(read({dict(typed)}))), end='')"
    )


def side_by_side(choices: Mapping[str, Settings], shown: Sequence[str]) -> str:
    """Some of the numbers of several settings as lines of text; one that has no answer says why.

    >>> print(side_by_side({"as wanted": Settings(), "narrow": Settings(support=9)}, ["support", "variance"]))
    setting    support  variance     keeps the wanted (ε, δ)
    as wanted  25       49.00216715  noise and table
    narrow     9        14.87088176  neither
    """
    rows: list[tuple[str, ...]] = [("setting", *shown, "keeps the wanted (ε, δ)")]
    problems = {}
    for label, settings in choices.items():
        try:
            found = explorer.explore(settings)
        except (ValueError, ArithmeticError) as error:
            problems[label] = str(error)
            continue
        numbers = explorer.numbers(found)
        kept = {"noise": found.noise_keeps, "table": found.table_keeps}
        words = " and ".join(what for what, keeps in kept.items() if keeps) or "neither"
        rows.append((label, *(numbers[name] for name in shown), words))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(
        [*map(str.rstrip, lines), *(f"{label}: {problem}" for label, problem in problems.items())]
    )


def verdict(found: Explored) -> str:
    """In words, what keeps the wanted (ε, δ)."""
    wanted = f"({found.settings.epsilon}, {found.settings.delta})"
    keysize = found.table.keysize
    if found.noise_keeps:
        noise = f"The noise keeps the wanted {wanted}."
    elif found.table_keeps:
        noise = f"The noise of D = {found.support} misses the wanted δ (D* is {found.best_support});"
    else:
        noise = f"The noise does not keep the wanted {wanted}: D must be at least {found.best_support}."
    if found.table_keeps:
        chance = "this table happens to keep it, another KEYSIZE may not."
        table = "The lookup table keeps it." if found.noise_keeps else chance
    elif parameters.delta(found.settings.delta) * keysize < 1:
        table = f"No table of {keysize} keys can keep it: its δ is at least one key's share."
    else:
        table = "The lookup table does not keep it."
    if found.keeps_epsilon:
        ratios = "Neighbouring weights stay within e^ε in both directions."
    elif found.table.lost:
        ratios = "The table has lost values, so no ε bounds its ratios."
    else:
        ratios = "Some neighbouring weights differ by more than e^ε."
    return f"{noise} {table} {ratios}"
