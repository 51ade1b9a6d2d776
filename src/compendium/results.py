"""What a notebook leaves behind: its numbers, its figures and its comparison with the paper.

A run with the paper's parameters (``paper/parameters.toml``) writes to ``figures/`` and
``build/numbers/``; a run with any others writes below ``build/other/``, so that the paper's results
are never overwritten, however a notebook is started.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from IPython.display import Image, Markdown, display

from compendium import claims, errata, ledger, verify
from compendium.drawing import Drawing
from compendium.files import output_root, write
from compendium.ledger import Entry
from compendium.runs import PAPER_RUNS, check_parameters, other_run, paper_parameters
from tablebuilder_dp import parameters as checks
from tablebuilder_dp.intervals import Enclosure

if TYPE_CHECKING:  # its import of dp_accounting takes as long as a kernel's start
    from compendium.witnesses import Witness


class Comparison(NamedTuple):
    """The paper's values beside ours, and the ids of the claims that are not simply confirmed."""

    table: str
    differing: tuple[str, ...]

    def __repr__(self) -> str:
        return self.table

    def _repr_markdown_(self) -> str:
        return self.table


class Results:
    """The results of one run of one notebook, kept in a JSON file that grows as they come."""

    def __init__(self, notebook: str, **parameters: Any) -> None:
        check_parameters(notebook, parameters)
        expected = paper_parameters()[notebook]
        if set(parameters) != set(expected):
            raise checks.wrong_value("parameters", "all of " + ", ".join(expected), ", ".join(parameters))
        self.is_paper = parameters == expected
        self._folder = output_root() / (PAPER_RUNS if self.is_paper else other_run(notebook, parameters))
        self._figures = output_root() / "figures" if self.is_paper else self._folder
        self._path = self._folder / f"{notebook}.json"
        self._record: dict[str, Any] = {"figures": [], "documents": [], "numbers": {}}
        self._save()

    def figure(self, drawing: Drawing) -> None:
        """Save a drawing as SVG, PNG and CSV, and show it with its caption."""
        for suffix, content in drawing.files().items():
            write(self._figures / f"{drawing.name}.{suffix}", content)
        self._record["figures"].append(drawing.name)
        self._save()
        display(Image(data=drawing.png, format="png", width=drawing.width, alt=drawing.alt))
        display(Markdown(f"*{drawing.caption}*"))

    def compare(self, values: Mapping[str, claims.Value], *, always: bool = False) -> Comparison:
        """Lay the paper's claims beside the values found, and record the values.

        With other parameters than the paper's there is nothing to compare, unless the values are ``always``
        those of the paper's own.
        """
        if not (self.is_paper or always):
            return Comparison("*These are not the paper's parameters: there is nothing to compare.*", ())
        stated = claims.load()
        lines = ["| | paper | ours | verdict |", "|---|---|---|---|"]
        differing = []
        for name, value in values.items():
            claim = stated[name]
            verdict = ledger.settle(claim).verdict
            if verdict == ledger.CONFIRMED and not claims.rounds_to(value, claim.printed):
                raise AssertionError(f"{name} is confirmed by the ledger, but here it is {value}")
            mark = "" if verdict == ledger.CONFIRMED else "**"
            ours = claims.shown(value, claim.printed)
            lines.append(f"| {claim.says} | {claim.printed} | {ours} | {mark}{verdict}{mark} |")
            self.number(name, value)
            if mark:
                differing.append(name)
        return Comparison("\n".join(lines), tuple(differing))

    def keep(
        self, entries: Sequence[Entry], corrections: Sequence[Entry], witnesses: Sequence[Witness]
    ) -> None:
        """Record the whole ledger and, with the paper's parameters, write the errata."""
        numbers = self._record["numbers"]
        for kind, count in verify.counts(entries).items():
            numbers[f"count:{kind}"] = str(count)
        for entry in (*entries, *corrections):
            parts = {"verdict": entry.verdict, "printed": entry.claim.printed, "true": verify.truth(entry)}
            parts |= {"because": entry.because, "evidence": entry.evidence}
            numbers |= {f"{part}:{entry.claim.id}": text for part, text in parts.items()}
        for witness in witnesses:
            for route, agreement in witness.agreement.items():
                numbers[f"witness:{witness.quantity}:{route}"] = agreement
        if self.is_paper:
            write(output_root() / errata.ERRATA, errata.document(entries, corrections))
            self._record["documents"].append(errata.ERRATA.as_posix())
        self._save()

    def number(self, name: str, value: claims.Value | float, digits: int = 15) -> None:
        """Record a number, to fixed significant digits, for ``paper/numbers.json``."""
        self._record["numbers"][name] = _fixed(value, digits)
        self._save()

    def _save(self) -> None:
        write(self._path, json.dumps(self._record, indent=1, ensure_ascii=False) + "\n")


def _fixed(value: claims.Value | float, digits: int) -> str:
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, Enclosure):
        return value.digits(digits)
    if isinstance(value, Fraction):
        return Enclosure(value, value).digits(digits)
    return f"{value:.{digits}g}"
