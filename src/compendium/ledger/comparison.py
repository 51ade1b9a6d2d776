"""The paper's values beside those that a notebook has found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from compendium.ledger import claims, verdicts
from compendium.run.results import Results
from compendium.run.table import Table

NOTHING = "*These are not the paper's parameters: there is nothing to compare.*"


class Comparison(NamedTuple):
    """The paper's values beside ours, and the ids of the claims that are not simply confirmed."""

    table: Table | None
    differing: tuple[str, ...]

    def __repr__(self) -> str:
        return repr(self.table) if self.table else NOTHING

    def _repr_markdown_(self) -> str:
        return self.table._repr_markdown_() if self.table else NOTHING


def compare(
    results: Results,
    values: Mapping[str, claims.Value],
    *,
    words: Mapping[str, str] | None = None,
    always: bool = False,
) -> Comparison:
    """Lay the paper's claims beside the values found, and record the values.

    A value that says little is shown by its ``words``, if there are any: "11 of 25" for "not all".

    With other parameters than the paper's there is nothing to compare, unless the values are ``always``
    those of the paper's own.
    """
    if not (results.is_paper or always):
        return Comparison(None, ())
    stated = claims.load()
    rows, differing = [], []
    for name, value in values.items():
        claim = stated[name]
        verdict = verdicts.settle(claim).verdict
        if verdict == verdicts.CONFIRMED and not claims.rounds_to(value, claim.judged):
            raise AssertionError(f"{name} is confirmed by the ledger, but here it is {value}")
        mark = "" if verdict == verdicts.CONFIRMED else "**"
        ours = (words or {}).get(name) or claims.shown(value, claim.judged)
        rows.append((claim.says, claim.printed, ours, f"{mark}{verdict}{mark}"))
        results.number(name, value)
        if mark:
            differing.append(name)
    results.uses(*values)
    return Comparison(Table(["what", "paper", "ours", "verdict"], rows), tuple(differing))
