"""What a notebook leaves behind: a record of its numbers, and its figures.

A run with the paper's parameters, those of the notebook's tagged cell, writes to ``figures/`` and
``build/results/``; a run with any others writes below ``build/other/``, so that the paper's results are
never overwritten, however a notebook is started.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol

from IPython.display import Image, Markdown, display

from compendium.run.parameters import EVERY_CLAIM, PAPER_RUNS, check_parameters, of, other_run
from compendium.run.places import output_root, write
from tablebuilder_dp.support import parameters as checks
from tablebuilder_dp.support.intervals import Enclosure

LONGEST = 1000
"""No number is recorded in more characters than this."""


class Picture(Protocol):
    """What can be shown and saved, such as a `compendium.figures.drawing.Drawing`."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def caption(self) -> str: ...  # noqa: D102
    @property
    def alt(self) -> str: ...  # noqa: D102
    @property
    def width(self) -> int: ...  # noqa: D102
    @property
    def png(self) -> bytes: ...  # noqa: D102
    def files(self) -> Mapping[str, bytes]: ...  # noqa: D102


class Results:
    """The results of one run of one notebook, kept in a JSON file that grows as they come."""

    def __init__(self, notebook: str, **parameters: Any) -> None:
        check_parameters(notebook, parameters)
        expected = of(notebook)
        if set(parameters) != set(expected):
            raise checks.wrong_value("parameters", "all of " + ", ".join(expected), ", ".join(parameters))
        self.is_paper = parameters == expected
        self._folder = output_root() / (PAPER_RUNS if self.is_paper else other_run(notebook, parameters))
        self._figures = output_root() / "figures" if self.is_paper else self._folder
        self._path = self._folder / f"{notebook}.json"
        self._record: dict[str, Any] = {"figures": [], "numbers": {}, "claims": []}
        self._save()

    def figure(self, picture: Picture) -> None:
        """Save a picture as SVG, PNG and CSV, and show it with its caption."""
        for suffix, content in picture.files().items():
            write(self._figures / f"{picture.name}.{suffix}", content)
        self._record["figures"].append(picture.name)
        self._save()
        display(Image(data=picture.png, format="png", width=picture.width, alt=picture.alt))
        display(Markdown(f"*{picture.caption}*"))

    def number(self, name: str, value: Enclosure | Fraction | int | str | float, digits: int = 15) -> None:
        """Record a number, to fixed significant digits, for ``paper/numbers.json``."""
        text = _fixed(value, digits)
        if len(text) > LONGEST:  # such as rows of a file in the place of their number
            raise checks.wrong_value(name, f"a number of at most {LONGEST} characters", f"{len(text)}")
        self._record["numbers"][name] = text
        self._save()

    def uses(self, *claims: str) -> None:
        """Note claims that the notebook depends on: it is run again when one of them changes.

        ``*`` stands for all.
        """
        self._record["claims"] = sorted({*self._record["claims"], *claims})
        self._save()

    def ledger(self, content: Mapping[str, Any]) -> None:
        """Record the whole ledger, for ``paper/ledger.json``."""
        self._record["ledger"] = dict(content)
        self.uses(EVERY_CLAIM)

    def _save(self) -> None:
        write(self._path, json.dumps(self._record, indent=1, ensure_ascii=False) + "\n")


def _fixed(value: Enclosure | Fraction | int | str | float, digits: int) -> str:
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, Enclosure):
        return value.digits(digits)
    if isinstance(value, Fraction):
        return Enclosure(value, value).digits(digits)
    return f"{value:.{digits}g}"
