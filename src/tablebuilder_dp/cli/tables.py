"""The privacy of a perturbation table in a file, for the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tablebuilder_dp.counts import perturbation_table, table_files
from tablebuilder_dp.counts.perturbation_table import PerturbationTable
from tablebuilder_dp.support import parameters


def privacy_of_table(path: str, levels: Sequence[str]) -> tuple[dict[str, Any], str]:
    """What ``privacy --table`` answers, as data and as text: (ε, δ) of all counts and from some on.

    Raises ValueError for a malformed file, and OSError for one that cannot be opened.
    """
    table = table_files.read(path)
    last = len(table.rows) - 1
    starts = {"from_0": 0, "from_1": 1, "from_largest": max(table.pairs, default=last)}
    guarantees = {name: perturbation_table.guarantee(table, first=first) for name, first in starts.items()}
    answer: dict[str, Any] = {
        "table": path,
        "keysize": table.keysize,
        "support": table.support,
        "counts": len(table.rows),
        "guarantee": {
            name: {**guarantee._asdict(), "epsilon": parameters.finite(guarantee.epsilon)}
            for name, guarantee in guarantees.items()
        },
        "profile": [_profile_of_table(table, level, starts) for level in levels],
    }
    ways = {0: "larger ones refused", 1: f"larger ones as {last}"}
    text = [
        f"Perturbation table {path}: {table.keysize} keys, noise on [-{table.support}, {table.support}]",
        f"  counts 0 to {last}, {ways.get(table.period, f'larger ones as the last {table.period} in turn')}",
        "",
        f"  {'others in cell':<16} {'least delta':<22} {'from epsilon':<22} worst pair",
        *(
            f"  {where:<16} {guarantee.delta!r:<22} {guarantee.epsilon!r:<22} "
            f"{guarantee.worst} and {guarantee.worst + 1}"
            for where, guarantee in zip(_from(starts["from_largest"]), guarantees.values(), strict=True)
        ),
        *_profile_lines(answer["profile"], _from(starts["from_largest"])),
        "",
        *_in_words(guarantees["from_0"]),
    ]
    return answer, "\n".join(text)


def _profile_of_table(table: PerturbationTable, level: str, starts: dict[str, int]) -> dict[str, Any]:
    """δ at one ε, for all counts and from some counts on."""
    guarantees = {
        name: perturbation_table.guarantee(table, first=first, epsilon=level)
        for name, first in starts.items()
    }
    everywhere = guarantees["from_0"]
    deltas = {f"delta_{name}": guarantee.delta for name, guarantee in guarantees.items()}
    return {
        "epsilon": everywhere.epsilon,
        "delta": everywhere.delta,
        **deltas,
        "worst": everywhere.worst,
    }


def _from(last: int) -> list[str]:
    return ["any number", "1 or more", f"{last} or more"]


def _profile_lines(profile: list[dict[str, Any]], names: list[str]) -> list[str]:
    if not profile:
        return []
    heads = " ".join(f"{f'delta, {name}':<22}" for name in names)
    rows = (
        f"  {row['epsilon']:<9g} {row['delta_from_0']!r:<22} {row['delta_from_1']!r:<22} "
        f"{row['delta_from_largest']!r:<22} {row['worst']} and {row['worst'] + 1}"
        for row in profile
    )
    return ["", f"  {'epsilon':<9} {heads} worst pair", *rows]


def _in_words(everywhere: perturbation_table.Guarantee) -> list[str]:
    """What the numbers for all counts mean."""
    pair = f"{everywhere.worst} and {everywhere.worst + 1}"
    if everywhere.delta == 1:
        verdict = (
            f"Here it is 1 for the counts {pair}: their published values tell them apart with certainty."
        )
    elif everywhere.delta == 0:
        verdict = f"Here it is 0 from epsilon {everywhere.epsilon!r} on: no value excludes a count."
    else:
        verdict = f"Here no epsilon makes it less than {everywhere.delta!r}, because of the counts {pair}."
    return [
        "One person more or less moves a count by one. Any set of published values is at most e^epsilon",
        "times as likely for one of two such counts as for the other, plus delta. A delta of 0 is full",
        "protection at that epsilon, a delta of 1 means no protection.",
        verdict,
    ]
