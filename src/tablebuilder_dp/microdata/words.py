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
    parts += ["What several counts give away together", *_together(facts)]
    parts += ["What is not protected", *(f"- {one}" for one in not_protected(facts))]
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
        "A cell's key comes from the keys of the records in it, so the same set of people has the same noise "
        "wherever it appears. Margins have a noise of their own: parts need not add up to their total. All "
        "that is said here holds if the record keys are uniformly random, independent and secret."
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
        f"The noise was designed for epsilon = {noise['epsilon']:g} and delta = {noise['delta']:g} (slack "
        f"{noise['slack']:g}). Its variance is {noise['variance']:.6g}. Keys were shared out by the "
        f"{noise['rule']} rule. {small}"
    )


def _epsilon(value: float | str) -> str:
    return str(value) if isinstance(value, str) else f"{up(value):g}"


def _one_cell(facts: Facts) -> list[str]:
    lines = ["  others in the cell  epsilon    delta       worst pair of counts"]
    for name, one in facts["one_cell"].items():
        others, pair = f"{_first(name)} or more", " and ".join(map(str, one["worst"]))
        lines.append(f"  {others:<19} {_epsilon(one['epsilon']):<10} {up(one['delta']):<11.4g} {pair}")
    return ["\n".join(lines), meaning(facts)]


def _first(name: str) -> int:
    return int(name.removeprefix("others_from_"))


def meaning(facts: Facts) -> str:
    """What the (ε, δ) means, for all cells that have it."""
    cells = facts["one_cell"]
    one = cells[max(cells, key=_first)]
    enough = facts["noise"].get("delta", one["delta"])  # what was asked for
    alike = [name for name in cells if cells[name]["epsilon"] == one["epsilon"]]
    first = min(_first(name) for name in alike if cells[name]["delta"] <= enough)
    one = cells[f"others_from_{first}"]
    if one["delta"] >= 1:
        return "A delta of 1 means no protection: the worst pair of counts is told apart with certainty."
    factor = "inf" if one["epsilon"] == "inf" else f"{up(math.exp(one['epsilon'])):g}"
    where = f"if {first} or more other people are in the cell" if first else "for every cell"
    return (
        f"In words, {where}: whoever sees its count and knows everything about all others finds the odds "
        "that a certain person is in the cell changed by "
        f"a factor of at most {factor}, except with a probability of about {up(one['delta']):g}. This holds "
        "in both directions, after rounding to keys. A delta near 1 means that the worst pair of counts is "
        "told apart almost surely."
    )


def _together(facts: Facts) -> list[str]:
    same = facts["same_person"]
    lines = ["  cells      epsilon    delta"]
    for one in same["together"]:
        lines.append(f"  {one['cells']:<10d} {_epsilon(one['epsilon']):<10} {one['delta']:g}")
    scope = f"each with {same['others_from']} or more others in it, " if same["others_from"] else ""
    own = f"{same['cells_of_this_table']} cell{'s' if same['cells_of_this_table'] > 1 else ''}"
    text = (
        f"The lines are about a person who is in so many published cells, {scope}whose keys are independent. "
        f"In this table everybody is in {own}; with margins the keys are independent if, among the other "
        "records, every combination of agreeing and disagreeing with the person in the columns occurs. A "
        "person who moves from one cell to another counts in both. Other tables from the same records add "
        "their cells; the same cell asked again adds nothing."
    )
    return ["\n".join(lines), text]


def not_protected(facts: Facts) -> list[str]:
    """What the reader must not rely on, a sentence or two each."""
    cells, noise = facts["one_cell"], facts["noise"]
    if facts["perturbs_empty_cells"]:
        empty = (
            "Absence, with margins or over several tables. Empty cells have keys from their description. Two "
            "descriptions that only one person can fit have equal answers if the person is there, and may "
            "have unequal ones if not, which proves the absence. Where each set of people that a person "
            "can join is published once, the promise is kept."
        )
    else:
        hole = cells["others_from_0"]
        known = f" Between 0 and 1 delta is {up(hole['delta']):g}." if hole["worst"][0] == 0 else ""
        empty = f"Emptiness. A count above 0 proves that somebody is in the cell.{known}"
    found = [empty]
    small = cells.get("others_from_1")
    if noise.get("small_counts") == "rows" and small["delta"] > noise["delta"]:
        found.append(
            f"Small counts. With 1 to {noise['support'] - 1} others in the cell delta is up to "
            f"{up(small['delta']):g} at epsilon = {small['epsilon']:g}, more than was asked for. Clamping "
            "small counts, which was not done here, would protect them like all others."
        )
    found.append(
        "Differences. Two published cells that differ by one person alone give that person away: delta is "
        f"{up(facts['two_cells_one_person_apart']['delta']):g} at every epsilon. Do not publish cells that "
        "differ by few records, in one table or between tables."
    )
    unlisted = [name for name in facts["by"] if name not in facts["categories_given"]]
    if unlisted:
        found.append(
            f"Occurrence. The categories of {', '.join(unlisted)} are those that somebody has: whether one "
            "appears at all is not covered by epsilon and delta."
        )
    found.append(
        "Households and other groups. For m people at once multiply epsilon by m, and delta by "
        "(exp(m epsilon) - 1)/(exp(epsilon) - 1)."
    )
    found.append("Keys. Whoever has the secret, the record keys or the cell keys can take the noise away.")
    return found
