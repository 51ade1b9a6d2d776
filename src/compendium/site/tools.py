"""The explorer's and the game's pages: their HTML with the words and numbers of `compendium.studies` in it.

What a page says stands in the studies' TOML files, which the notebooks' widgets read too. Labels go into the
HTML here; the whole goes with it as JSON, from which the page's scripts take what they say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from compendium.studies import explorer, explorer_words, game, game_words, guesses, phrases


def fragment(path: Path) -> str:
    """The HTML of the page in a file that is named as its tool, filled in."""
    pages = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    pages.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    pages.filters |= {
        "fill": lambda text, values: phrases.fill(text, **values),
        "html": lambda text: Markup(phrases.html(text)),  # noqa: S704
        "groups": _groups,
    }
    data = DATA[path.stem]()
    return pages.from_string(path.read_text(encoding="utf-8")).render(data, words=data)


def page(text: str, name: str) -> str:
    r"""The tool's page: under the heading of its Markdown stands the tool in the place of where to find it.

    >>> page("# Explorer\n\nOn the web pages.\n", "explorer")
    '# Explorer\n\n```{raw} html\n:file: explorer.html\n```\n'
    """
    return f"{text.splitlines()[0]}\n\n```{{raw}} html\n:file: {name}.html\n```\n"


def _groups(fields: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, Any]]]]:
    """The fields of each group, with their names."""
    return [
        (group, list(members)) for group, members in groupby(fields.items(), lambda item: item[1]["group"])
    ]


def explorer_data() -> dict[str, Any]:
    """The explorer's words, with its ladders and with its explanations as HTML."""
    empty = {"noise": "", "noise_is": "", "table": "", "head": ""}
    rows = [empty | row | {"explain": phrases.html(row["explain"])} for row in explorer.WORDS["rows"]]
    ladders = {name: explorer_words.ladder(name) for name in explorer.FIELDS if name != "rule"}
    return explorer.WORDS | {"rows": rows, "ladders": ladders}


def game_data() -> dict[str, Any]:
    """The game's words, with its offices and with the two rates that the page explains."""
    offices, thresholds = game.offices(), game_words.thresholds()
    careful = offices[game.CAREFUL]
    about = {
        "thresholds": thresholds,
        "unequal": game_words.percent(guesses.unequal(careful.table, careful.least)),
        "difference": game_words.percent(guesses.difference(careful.table, careful.least)),
        "offices": [_office(office, thresholds) for office in offices.values()],
    }
    return game.WORDS | about


def _office(office: game.Office, thresholds: Sequence[float]) -> dict[str, Any]:
    """What the page needs to play an office's rounds and to judge them."""
    asks = range(1, game_words.MOST_ASKS + 1 if office.fresh else 2)
    return {
        "name": office.name,
        "fresh": office.fresh,
        "support": office.table.support,
        "least": office.least,
        "epsilon": f"{office.epsilon:g}",
        "deltas": [game_words.delta(office, k) for k in asks],
        "bounds": [game_words.digits(office.bound(k)) for k in asks],
        "best": [game_words.digits(office.best(k)) for k in asks],
        "rates": [[game_words.digits(office.rate(t, k)) for t in thresholds] for k in asks],
        "cuts": office.table.rows[-1].cuts,
    }


DATA = {"explorer": explorer_data, "game": game_data}
"""The words and numbers of each page."""
