"""A statement in plain words, from its facts alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from textwrap import fill
from typing import Any

from tablebuilder_dp.microdata.statement import up

Facts = Mapping[str, Any]
_WIDTH = 100


def words(facts: Facts) -> str:
    """The statement as people read it, and may publish it beside the table."""
    title = f"Statement about {facts['table']}"
    parts = [f"{title}\n{'=' * len(title)}"]
    if facts["confidential"]:
        parts.append("CONFIDENTIAL: the table holds true counts, cell keys and noise. Do not publish it.")
    parts += ["What was done", *_done(facts), "What one published count gives away", *_one_cell(facts)]
    parts += ["What several counts give away together", several_cells(facts)]
    parts += ["What is not protected", *(f"- {point}" for point in not_protected(facts))]
    return "\n\n".join(map(_wrapped, parts)) + "\n"


def _wrapped(part: str) -> str:
    if "\n" in part:  # a table, or the title with its line
        return part
    return fill(part, _WIDTH, subsequent_indent="  " if part.startswith("- ") else "", break_on_hyphens=False)


def _done(facts: Facts) -> list[str]:
    noise = facts["noise"]
    margins = ", with all margins" if facts["margins"] else ""
    shown = " What is published as 0 is left out." if facts["only_positive"] else ""
    counted = (
        f"Records were counted by {', '.join(facts['by'])}{margins}. The cells are {facts['cells']}.{shown} "
        f"Each count got a noise, a whole number from -{noise['support']} to {noise['support']}, found in a "
        f"table for {noise['keysize']} cell keys. "
        "A cell's key comes from the keys of the records in it, so one set of people has one noise "
        "in every table made with this perturbation table. Margins have a noise of their own: parts need not "
        "add up to their total. All "
        "that is said here takes the record keys to be uniformly random, independent and secret, and every "
        "person to be one record."
    )
    return [counted, _origin(noise), f"SHA-256 of the perturbation table: {noise['sha256']}."]


def _origin(noise: Facts) -> str:
    if "epsilon" not in noise:
        name = noise["source"] or "a table in memory"
        return f"The noise is that of {name}, made elsewhere; its privacy was computed from its numbers."
    if noise["small_counts"] == "clamped":
        small = "What would be negative is published as 0, so counts near 0 are too large on average."
    else:
        small = (
            f"Counts below {noise['support']} have a noise of their own that never makes them negative and "
            "has mean zero but for rounding to keys; empty cells stay 0."
        )
    return (
        f"The noise was designed for epsilon = {noise['epsilon']:g} and delta = {noise['delta']:g} of one "
        f"cell (slack {noise['slack']:g}). Its variance is {noise['variance']:.6g}. Keys were shared out by "
        f"the {noise['rule']} rule. {small}"
    )


def _epsilon(value: float | str) -> str:
    return str(value) if isinstance(value, str) else f"{up(value):g}"


def _one_cell(facts: Facts) -> list[str]:
    lines = ["  others in the cell  epsilon    delta       worst pair of counts"]
    for name, promise in facts["one_cell"].items():
        others, pair = f"{_first(name)} or more", " and ".join(map(str, promise["worst"]))
        lines.append(
            f"  {others:<19} {_epsilon(promise['epsilon']):<10} {up(promise['delta']):<11.4g} {pair}"
        )
    return ["\n".join(lines), meaning(facts)]


def _first(name: str) -> int:
    return int(name.removeprefix("others_from_"))


def _enough(facts: Facts) -> float:
    """The δ that was asked for, or that of the largest counts: theirs may be a hair above by rounding up."""
    cells = facts["one_cell"]
    kept = float(cells[max(cells, key=_first)]["delta"])
    return max(kept, float(facts["noise"].get("delta", kept)))


def meaning(facts: Facts) -> str:
    """What the (ε, δ) means, for all cells that have it."""
    cells, enough = facts["one_cell"], _enough(facts)
    level = cells[max(cells, key=_first)]["epsilon"]
    alike = [name for name in cells if cells[name]["epsilon"] == level]
    first = min(_first(name) for name in alike if cells[name]["delta"] <= enough)
    promise = cells[f"others_from_{first}"]
    if promise["delta"] >= 1:
        return "A delta of 1 means no protection: the worst pair of counts is told apart with certainty."
    factor = "inf" if promise["epsilon"] == "inf" else f"{up(math.exp(promise['epsilon'])):g}"
    where = f"if {first} or more other people are in the cell" if first else "for every cell"
    return (
        f"In words, {where}: somebody who knows everything about all others sees the count of this one cell. "
        "The odds that a certain person is in the cell then rise or fall by a factor of more than "
        f"{factor} with a probability of at most {up(promise['loss_above_epsilon']):g}, whether the person "
        "is there or not. This is computed from the table of the noise, after rounding to keys. A delta near "
        "1 means that the worst pair of counts is told apart almost surely."
    )


def shortfall(facts: Facts) -> str:
    """One line for the office where small counts get less than the (ε, δ) that was asked for.

    Returns an empty text in all other cases.
    """
    noise, cells, enough = facts["noise"], facts["one_cell"], _enough(facts)
    less = {_first(name): promise["delta"] for name, promise in cells.items() if promise["delta"] > enough}
    if not less or "delta" not in noise:
        return ""
    given = " and ".join(f"{up(delta):g} with {first} or more others" for first, delta in less.items())
    return (
        f"Small counts get less protection than was asked for: at epsilon = {noise['epsilon']:g} delta is "
        f"{given} in the cell, not {noise['delta']:g}. With --small-counts clamped every count would get it."
    )


def several_cells(facts: Facts) -> str:
    """What is promised about more than one cell: nothing, and why."""
    cells = facts["cells_with_one_person"]
    why = f" In this table everybody is counted in {cells} cell{'s' if cells > 1 else ''}."
    if cells > 1 and facts["key_columns"] == 1:
        why += (
            " There is one column of record keys, so the key of a total is the sum of the keys of its parts, "
            "and the counts of the parts betray the noise of the total: for more than one cell epsilon is "
            "inf."
        )
    elif cells > 1:
        why += (
            " The keys of a total and of its parts come from sums of the same record keys. Two of them are "
            "independent if they belong to different sets of people; three need not be, and two parts with "
            "their total can tell more about a person than two independent counts."
        )
    return (
        "Neither epsilon nor delta is promised for more than one published count, in this table or together "
        f"with others.{why} A cell that is published again with the noise of another design keeps its key: "
        "its two noises rise and fall together, and the two counts can tell more than either."
    )


def not_protected(facts: Facts) -> list[str]:
    """What the reader must not rely on, a sentence or two each."""
    cells, noise = facts["one_cell"], facts["noise"]
    if facts["perturbs_empty_cells"]:
        empty = (
            "Absence, with margins or over several tables. Empty cells have keys from their description. Two "
            "descriptions that only one person can fit have equal answers if the person is there, and may "
            "have unequal ones if not, which proves the absence."
        )
    else:
        hole = cells["others_from_0"]
        known = f" Between 0 and 1 delta is {up(hole['delta']):g}." if hole["worst"][0] == 0 else ""
        empty = f"Emptiness. A count above 0 proves that somebody is in the cell.{known}"
    points = [empty]
    small = cells.get("others_from_1")
    if noise.get("small_counts") == "rows" and small["delta"] > _enough(facts):
        points.append(
            f"Small counts. With 1 to {noise['support'] - 1} others in the cell delta is up to "
            f"{up(small['delta']):g} at epsilon = {small['epsilon']:g}, more than was asked for. Clamping "
            "small counts, which was not done here, would protect them like all others."
        )
    points.append(
        "Differences. Two published cells that differ by one person alone give that person away: delta is "
        f"{up(facts['two_cells_one_person_apart']['delta']):g} at every epsilon. Do not publish cells that "
        "differ by few records, in one table or between tables."
    )
    unlisted = [name for name in facts["by"] if name not in facts["categories_given"]]
    if unlisted:
        points.append(
            f"Occurrence. The categories of {', '.join(unlisted)} are those that somebody has: whether one "
            "appears at all is not covered by epsilon and delta."
        )
    points.append(
        "Households and other groups. For m people of one cell multiply its epsilon by m, and its delta by "
        "(exp(m epsilon) - 1)/(exp(epsilon) - 1), or by m where epsilon is 0."
    )
    points.append("Keys. Whoever has the secret, the record keys or the cell keys can take the noise away.")
    return points
