"""A statement in plain words, from its facts alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from textwrap import fill
from typing import Any

from tablebuilder_dp.microdata.account import counted
from tablebuilder_dp.microdata.layout import Layout
from tablebuilder_dp.microdata.statement import up

Facts = Mapping[str, Any]
_WIDTH = 100
_DIFFER = {"add-or-remove": "whether one record is there", "replace": "the values of one record"}
_ODDS = {
    "add-or-remove": "the odds that the person is in the records",
    "replace": "the odds between any two records that the person may have",
}
_TRUE = {"add-or-remove": "whether the person is there or not", "replace": "whichever of the two is true"}
_ASSUMING = ("cells", "given")
"""The keys whose statement says in a part of its own what it rests on."""


class _Lines(str):
    """Lines that stay as they are: the title, a table."""

    __slots__ = ()


def words(facts: Facts) -> str:
    """The statement as people read it, and may publish it beside the table."""
    several = "tables" in facts
    title = f"Statement about {'edition ' + facts['edition'] if several else facts['table']}"
    parts: list[str] = [_Lines(f"{title}\n{'=' * len(title)}")]
    if facts.get("confidential"):
        parts.append("CONFIDENTIAL: the table holds true counts, cell keys and noise. Do not publish it.")
    parts += ["What was done", *_done(facts)]
    if "one_cell" in facts:
        parts += ["What one published count gives away", *_one_cell(facts)]
    parts += [f"What {'all tables together give' if several else 'the whole table gives'} away"]
    parts += [whole_table(facts)]
    if several:
        parts += ["What all editions together give away", all_editions(facts)]
    if facts["keys"] in _ASSUMING:
        parts += ["What this rests on", *(f"- {point}" for point in assumptions(facts))]
    parts += ["What is not protected", *(f"- {point}" for point in not_protected(facts))]
    return "\n\n".join(map(_wrapped, parts)) + "\n"


def in_words(facts: Facts) -> dict[str, Any]:
    """What of the words stands in the JSON statement too."""
    one = {"meaning": meaning(facts)} if "one_cell" in facts else {}
    rests = {"rests_on": assumptions(facts)} if facts["keys"] in _ASSUMING else {}
    told = {"whole_table_in_words": whole_table(facts)}
    if "tables" in facts:
        told = {"all_tables_in_words": whole_table(facts), "all_editions_in_words": all_editions(facts)}
    return {**one, **told, **rests, "not_protected": not_protected(facts)}


def in_short(facts: Facts) -> str:
    """What is promised, in a line."""
    whole = facts.get("all_tables", facts.get("whole_table", {}))
    if whole.get("epsilon", "inf") != "inf":
        what = "All tables together keep" if "tables" in facts else "The whole table keeps"
        return f"{what} {_pair(whole)}."
    if "one_cell" not in facts:
        return "Nothing is promised without conditions, as categories were taken from the records."
    every = facts["one_cell"]["others_from_0"]
    return f"One published count keeps {_pair(every)}; nothing is promised about several."


def _wrapped(part: str) -> str:
    if isinstance(part, _Lines):
        return part
    return fill(part, _WIDTH, subsequent_indent="  " if part.startswith("- ") else "", break_on_hyphens=False)


def _done(facts: Facts) -> list[str]:
    noise, tables = facts["noise"], facts.get("tables", [facts])
    shown = " What is published as 0 or less is left out." if facts["only_positive"] else ""
    own = " Margins have a noise of their own: parts need not add up to their total."
    listed = [f"- {row['name']} ({row['file']}): {_counted(row)}" for row in facts.get("tables", [])]
    start = "Records were counted in one pass for these tables:"
    if facts["keys"] == "given":
        columns = facts["columns"]
        start = (
            f"Counts were given with the keys of their cells (columns {columns['count']} and "
            f"{columns['cell_key']}), in a table that was made elsewhere."
        )
    elif not listed:
        start = f"Records were counted {_counted(facts)} The cells are {facts['cells']}.{shown}"
    each = (
        f"Each count got a noise, a whole number from -{noise['support']} to {noise['support']}, "
        f"looked up by the key of its cell in a table for {_power(noise['keysize'])} keys. {_keys(facts)}"
        f"{own if any(table.get('margins') for table in tables) else ''}"
    )
    whole = f"The cells are {facts['cells']}. {each}"
    parts = [start, *listed, whole] if listed else [f"{start} {each}"]
    return [
        *parts,
        *_left_out(facts),
        *([_labels(facts)] if "labels" in facts else []),  # a table from elsewhere has its own
        _origin(facts),
        f"SHA-256 of the weights of the noise: {noise['sha256']}.",
    ]


def _left_out(facts: Facts) -> list[str]:
    """Which counts are left out, and that it costs nothing and protects nobody further."""
    if (limit := facts["suppress_below"]) is None:
        return []
    return [
        f"Counts that came out below {limit} with their noise are left out and marked as "
        "suppressed. This looks at published counts alone, never at true ones: it is post-processing, which "
        "changes neither epsilon nor delta. A count that is left out may be one of more people, a count that "
        "is shown one of fewer."
    ]


def _labels(facts: Facts) -> str:
    """What totals and missing categories are called in the files."""
    labels = facts["labels"]
    missing = f"a missing category is called {labels['missing']}"
    if any(table["margins"] for table in facts.get("tables", [facts])):
        return f"A variable that a count sums over is called {labels['total']}; {missing}."
    return f"{missing[0].upper()}{missing[1:]}."


def _counted(table: Facts) -> str:
    """What a table is counted by."""
    margins = ", with all margins" if table["margins"] else ""
    nested = "".join(f" {' > '.join(names)} is a hierarchy." for names in table["nested"])
    across = f" The categories of {table['crosstab']} are columns." if table["crosstab"] is not None else ""
    return f"by {', '.join(table['by'])}{margins}.{nested}{across}"


def _power(number: int) -> str:
    """A power of two as people read it.

    >>> _power(2**64), _power(1000)
    ('2^64', '1000')
    """
    return str(number) if number & (number - 1) else f"2^{number.bit_length() - 1}"


def _keys(facts: Facts) -> str:
    if facts["keys"] == "cells":
        return (
            f"A cell's key is a keyed hash of the edition ({facts['edition']}), of all bytes of the input, "
            "of the weights of the noise and of what the cell is: the noises of different cells are "
            "independent, and the same cell has the same noise in every table that is made from the same "
            "bytes in this edition with this noise."
        )
    if facts["keys"] == "records":
        return (
            f"A cell's key is a keyed hash of the edition ({facts['edition']}), of the weights of the noise "
            "and of the keys of the people in it: one set of people has one noise, and different sets have "
            "independent noises. All that is said here takes the record keys to be uniformly random, "
            "independent and secret, every person to be one record, and the cipher to hold "
            f"({facts['cipher']})."
        )
    if facts["keys"] == "given":
        return "How the keys were made is not known here."
    return (
        "A cell's key comes from the sums of the keys of the records in it, so one set of people has one "
        "noise in every table made with this perturbation table. All that is said here takes the record "
        "keys to be uniformly random, independent and secret, and every person to be one record."
    )


def _origin(facts: Facts) -> str:
    noise, most = facts["noise"], facts.get("cells_per_person", 1)
    if "epsilon" not in noise:
        name = noise["source"] or "a table in memory"
        return f"The noise is that of {name}, made elsewhere; its privacy was computed from its numbers."
    kept = f"{noise['of']} keeps"
    if most > max(1, facts.get("cells_changed", 1)):
        kept = f"this table and others, with up to {most} counts that one person changes, together keep"
    guide = ""
    if "rule" in noise:
        guide = (
            f", by the paper's guide (slack {noise['slack']:g}, keys shared out by the {noise['rule']} rule)"
        )
    rivals = [
        f"; the best {family} noise that was found has the variance {variance:.6g}"
        for family, variance in noise.get("variances", {}).items()
        if family != noise["family"]
    ]
    return (
        f"The noise was designed so that {kept} epsilon = {noise['epsilon']:g} and delta = {noise['delta']:g}"
        f"{guide}. It is {noise['family']} noise of variance {noise['variance']:.6g} and standard deviation "
        f"{math.sqrt(noise['variance']):.4g}{''.join(rivals)}. {_bias(facts)}"
    )


def _bias(facts: Facts) -> str:
    """What becomes of small counts, and how right they are on average."""
    noise, limit = facts["noise"], facts["suppress_below"]
    if limit is not None and noise["small_counts"] == "signed":
        return f"As counts below {limit} are left out, those near it are too large on average."
    if noise["small_counts"] == "clamped":
        return (
            "What would be negative is published as 0, so counts near 0 are too large on average, an empty "
            f"cell by {noise['bias_at_0']:.4g}."
        )
    if noise["small_counts"] == "rows":
        return (
            f"Counts below {noise['support']} have a noise of their own that never makes them negative and "
            "has mean zero but for rounding to keys; empty cells stay 0."
        )
    if facts["only_positive"]:
        return "As counts of 0 or less are left out, those near 0 are too large on average, and so are sums."
    rounding = " but for rounding to keys" if noise.get("rule") == "ceiling" else ""
    return (
        f"Counts are published as they come, also below 0: they have no bias{rounding}, and neither have "
        "their sums."
    )


def _epsilon(value: float | str) -> str:
    return str(value) if isinstance(value, str) else f"{up(value):g}"


def _factor(epsilon: float | str) -> str:
    return "inf" if isinstance(epsilon, str) else f"{up(math.exp(epsilon)):g}"


def _one_cell(facts: Facts) -> list[str]:
    lines = ["  others in the cell  epsilon    delta       worst pair of counts"]
    for name, promise in facts["one_cell"].items():
        others, pair = f"{_first(name)} or more", " and ".join(map(str, promise["worst"]))
        if facts["noise"].get("small_counts") == "signed" and not _pools(facts):
            pair = "all alike"
        lines.append(
            f"  {others:<19} {_epsilon(promise['epsilon']):<10} {up(promise['delta']):<11.4g} {pair}"
        )
    return [_Lines("\n".join(lines)), meaning(facts)]


def _pools(facts: Facts) -> bool:
    """Whether different answers are published as one: left out, or missing."""
    return bool(facts["only_positive"]) or facts["suppress_below"] is not None


def _first(name: str) -> int:
    return int(name.removeprefix("others_from_"))


def _enough(facts: Facts) -> float:
    """The δ that was asked for, or that of the largest counts: theirs may be a hair above by rounding up."""
    cells = facts["one_cell"]
    kept = float(cells[max(cells, key=_first)]["delta"])
    return max(kept, float(facts["noise"].get("delta", kept)))


def meaning(facts: Facts) -> str:
    """What the (ε, δ) of one cell means, for all cells that have it."""
    cells, enough = facts["one_cell"], _enough(facts)
    level = cells[max(cells, key=_first)]["epsilon"]
    alike = [name for name in cells if cells[name]["epsilon"] == level]
    first = min(_first(name) for name in alike if cells[name]["delta"] <= enough)
    promise = cells[f"others_from_{first}"]
    if promise["delta"] >= 1:
        return "A delta of 1 means no protection: the worst pair of counts is told apart with certainty."
    where = f"if {first} or more other people are in the cell" if first else "for every cell"
    large = " Where delta is large, the worst pair of counts is often told apart."
    return (
        f"In words, {where}: somebody who knows everything about all others sees the count of this one cell. "
        "The odds that a given person is in the cell then rise or fall by a factor of more than "
        f"{_factor(promise['epsilon'])}, which is exp(epsilon), with a probability of at most "
        f"{up(promise['loss_above_epsilon']):g}, whether the person is there or not."
        f"{_above_delta(promise)} All this is computed from the table of the noise, after rounding to keys."
        f"{large if max(one['delta'] for one in cells.values()) > enough else ''}"
    )


def _above_delta(promise: Facts, moreover: str = "") -> str:
    """Why odds may change by more than e^ε more often than δ, where they do."""
    if up(promise["loss_above_epsilon"]) <= up(promise["delta"]):
        return ""
    return (
        " This probability is larger than delta because it counts such results in full; delta counts only "
        f"the part of their probability that exceeds exp(epsilon) times the other.{moreover}"
    )


def shortfall(facts: Facts) -> str:
    """One line for the office where less is promised than the (ε, δ) that was asked for.

    Returns an empty text in all other cases.
    """
    noise = facts["noise"]
    if "given_categories" in facts:
        return (
            "No epsilon and delta are promised for the whole table, as categories were taken from the "
            "records: list them with --categories."
        )
    if "one_cell" not in facts:
        return ""
    cells, enough = facts["one_cell"], _enough(facts)
    less = {_first(name): promise["delta"] for name, promise in cells.items() if promise["delta"] > enough}
    if not less or "delta" not in noise:
        return ""
    given = " and ".join(f"{up(delta):g} with {first} or more others" for first, delta in less.items())
    return (
        f"Small counts get less protection than was asked for: at epsilon = {noise['epsilon']:g} delta is "
        f"{given} in the cell, not {noise['delta']:g}. With --small-counts signed or clamped every count "
        "would get it."
    )


def whole_table(facts: Facts) -> str:
    """What is promised about everything in the table together, or why nothing is."""
    if facts["keys"] != "cells":
        return _several_cells(facts)
    promise, start = facts["all_tables"] if "tables" in facts else facts["whole_table"], ""
    if "given_categories" in facts:
        promise = facts["given_categories"]
        start = (
            "Neither epsilon nor delta is promised without conditions: the categories of "
            f"{', '.join(_unlisted(facts))} are those that somebody has, and that one appears at all can "
            "tell who is there. If it was known beforehand which categories appear, the following holds. "
        )
    if promise["delta"] >= 1:
        return f"{start}Nothing: delta is 1."
    margins = " and all its margins" if facts.get("margins") else ""
    changed, neighbours = max(1, facts["cells_changed"]), facts["neighbours"]
    counts = f"1 count of {_these(facts)}, by one"
    if changed > 1:
        counts = f"{changed} counts of {_these(facts)}, each by one"
    return (
        f"{start}Whoever knows everything about everybody else, and sees {_these(facts)}{margins}, learns at "
        f"most epsilon = {_epsilon(promise['epsilon'])} and delta = {up(promise['delta']):g} about one "
        f"person. That is to say: for any two sets of records that differ only in {_DIFFER[neighbours]}, the "
        f"probability of any set of results is at most {_factor(promise['epsilon'])} times as large with the "
        "one as with the other, plus delta; this factor is exp(epsilon), rounded up. Such records differ in "
        f"at most {counts}.{_room(facts)} The promise holds for every person and whatever the counts are, 0 "
        f"included. {_odds(facts, promise)}"
    )


def _these(facts: Facts) -> str:
    return "these tables" if "tables" in facts else "this table"


def all_editions(facts: Facts) -> str:
    """What is promised about all editions in the journal together, and on what condition."""
    so_far = facts["all_editions"]
    if so_far["epsilon"] == "inf":
        return f"Nothing is promised for all editions together. {' '.join(so_far['why'])}"
    names, budget, sum_of = so_far["editions"], so_far["budget"], so_far["added_up"]
    person = (
        "about a person with at most one record in each edition, for whoever sees all of them and knows "
        "everything about everybody else"
    )
    several = so_far["publications"] > 1
    told = "Nothing was published before this, as far as the office's journal knows."
    if several:
        where = f"{len(names)} editions ({', '.join(map(str, names))})" if len(names) > 1 else "one edition"
        told = (
            f"With this one the office's journal has {so_far['publications']} publications in {where}, in "
            f"which one person changes at most {counted(so_far['cells_per_person'])}."
        )
    if budget is None:
        if not several:
            return told
        return (
            f"{told} Together they keep {_pair(so_far)} {person}, if later tables and noises did not depend "
            "on what was published before. If they did, nothing is promised, as no budget was fixed: "
            f"added up, it is {_pair(sum_of)}."
        )
    kept = (
        f"{told} A budget was fixed beforehand: everything that this journal holds, or ever will, keeps "
        f"{_pair(budget)} {person}"
    )
    if budget["designs"] == "fixed":
        spent = f"at this epsilon, delta is {up(so_far['delta']):g} up to and with this one"
        return f"{kept}, as long as tables and noises do not depend on what was published before; {spent}."
    return (
        f"{kept}, even if later tables and noises depend on what was published before. To ensure this, the "
        "epsilon and delta of all editions are added up (basic composition); with this one the sums are "
        f"{_pair(sum_of)}."
    )


def _pair(promise: Facts) -> str:
    return f"epsilon = {_epsilon(promise['epsilon'])} and delta = {up(promise['delta']):g}"


def _room(facts: Facts) -> str:
    """Where ε is a multiple of one count's, or where ε and δ leave room for other tables."""
    designed, changed = facts["cells_per_person"], max(1, facts["cells_changed"])
    if facts["noise"]["small_counts"] == "rows" and changed > 1:
        return (
            f" As small counts have noises of other shapes, {changed} times the epsilon of one count is "
            "taken (basic composition)."
        )
    if designed > changed:
        return f" This epsilon and delta have room for {designed - changed} more, in other tables."
    return ""


def _odds(facts: Facts, promise: Facts) -> str:
    """How often the odds change by more than e^ε."""
    if promise["loss_above_epsilon"] >= 1:
        return "How often odds change by more than this factor is not bounded."
    neighbours, small = facts["neighbours"], facts["noise"]["small_counts"]
    alone = (
        f", from {_these(facts)} alone" if facts["cells_per_person"] > max(1, facts["cells_changed"]) else ""
    )
    exact = small == "signed" and neighbours == "add-or-remove" and not _pools(facts)
    return (
        f"In terms of odds{alone}: {_ODDS[neighbours]} rise or fall by a factor of more than "
        f"{_factor(promise['epsilon'])} with a probability of at most "
        f"{up(promise['loss_above_epsilon']):g}, {_TRUE[neighbours]}."
        f"{_above_delta(promise, '' if exact else ' Moreover, it is a bound, which need not be sharp.')}"
    )


def _several_cells(facts: Facts) -> str:
    if facts["keys"] == "given":
        return (
            "Neither epsilon nor delta is promised for more than one published count, in this table or "
            "together with others, as it is not known how the keys of different cells depend on each other. "
            "Where equal sets of people have equal keys, two cells that differ by one person give the person "
            "away; where keys are sums of one column of record keys, the counts of the parts give away the "
            "noise of their total."
        )
    cells = Layout(facts["by"], facts["margins"], facts["nested"]).cells_changed()
    why = f" In this table everybody is counted in {cells} cell{'s' if cells > 1 else ''}."
    if facts["keys"] == "sums" and cells > 1 and facts["key_columns"] == 1:
        why += (
            " There is one column of record keys, so the key of a total is the sum of the keys of its parts, "
            "and the counts of the parts give away the noise of the total: for more than one cell epsilon is "
            "inf."
        )
    elif facts["keys"] == "sums" and cells > 1:
        why += (
            " The keys of a total and of its parts come from sums of the same record keys. Two of them are "
            "independent if they belong to different sets of people; three need not be, and two parts with "
            "their total can tell more about a person than two independent counts."
        )
    elif facts["keys"] == "records":
        why += (
            " Equal sets of people have equal noise, so two cells that differ by one person give the person "
            "away."
        )
    if facts["keys"] == "sums":
        why += (
            " A cell that is published again with the noise of another design keeps its key: its two noises "
            "rise and fall together, and the two counts can tell more than either."
        )
    return (
        "Neither epsilon nor delta is promised for more than one published count, in this table or together "
        f"with others.{why}"
    )


def _unlisted(facts: Facts) -> list[str]:
    if facts["cells"] == "those of a given list" or "tables" in facts:
        return []
    return [name for name in facts["by"] if name not in facts["categories_given"]]


def assumptions(facts: Facts) -> list[str]:
    """What the promise takes for granted, a sentence or two each."""
    if facts["keys"] == "given":
        return _of_given(facts)
    chosen = (
        "The table, the noise, epsilon and delta were chosen without looking at the records; some of the "
        "categories were not."
        if "given_categories" in facts
        else "The categories of the records are among those listed. The lists, the "
        f"{'tables' if 'tables' in facts else 'table'}, the noise, epsilon and delta were chosen without "
        "looking at the records."
    )
    budget = (facts.get("all_editions") or {}).get("budget")
    over_time = "The budget was fixed without looking at the records or at what was published before."
    return [
        *([over_time] if budget else []),
        "Every person is one row of the records. Nobody was left out by a filter: those to whom a variable "
        "does not apply have a category of their own.",
        chosen,
        f"The secret is known to nobody outside, and the cipher holds ({facts['cipher']}): nobody can then "
        "tell the keys from independent, uniformly random numbers. In this sense the promise is "
        "computational.",
        "Refusals, warnings, audits and the time that the work took are the office's own: the promise is "
        "about what is published.",
    ]


def _of_given(facts: Facts) -> list[str]:
    empty = ", those of empty cells too" if facts["perturbs_empty_cells"] else ""
    return [
        f"The key of every cell is uniformly random, whoever is in the cell, and secret{empty}. This is the "
        "office's assumption: the tool has seen the keys, not how they were made.",
        "The counts are true counts of people, to which no other noise or rounding was applied, and every "
        "person adds at most one to a count.",
        "The perturbation table was chosen without looking at the records.",
    ]


def not_protected(facts: Facts) -> list[str]:
    """What the reader must not rely on, a sentence or two each."""
    if facts["keys"] == "cells":
        points = [*_small(facts), *_other_tables(facts), *_occurrence(facts)]
    else:
        points = [*_small(facts), *_differences(facts), *_occurrence(facts)]
    whose = "the" if facts["keys"] == "cells" else "one cell's"
    both = ", for one cell as for the whole table" if facts["keys"] == "cells" and "one_cell" in facts else ""
    points.append(
        "Households and other groups. Epsilon and delta are about one person. For m people multiply "
        f"{whose} epsilon by m and {whose} delta by (exp(m epsilon) - 1)/(exp(epsilon) - 1), or by m where "
        f"epsilon is 0{both}."
    )
    known = {"cells": "the secret or the cell keys", "given": "the record keys or the cell keys"}
    has = known.get(facts["keys"], "the secret, the record keys or the cell keys")
    return [*points, f"Keys. Whoever has {has} can take the noise away."]


def _small(facts: Facts) -> list[str]:
    """What is the matter with small counts, and with empty cells."""
    points, cells, noise = [], facts.get("one_cell", {}), facts["noise"]
    if not facts["perturbs_empty_cells"]:
        hole = cells["others_from_0"]
        known = f" Between 0 and 1 delta is {up(hole['delta']):g}." if hole["worst"][0] == 0 else ""
        points.append(f"Emptiness. A count above 0 proves that somebody is in the cell.{known}")
    elif facts["keys"] == "given":
        points.append(
            "Emptiness, if empty cells have keys that others know, such as 0, the sum of no record keys: "
            "their noise is then known too, and any other count proves that somebody is in the cell."
        )
    elif facts["keys"] != "cells":
        points.append(
            "Absence, with margins or over several tables. Empty cells have keys from their description. Two "
            "descriptions that only one person can fit have equal answers if the person is there, and may "
            "have unequal ones if not, which proves the absence."
        )
    small = cells.get("others_from_1")
    if noise.get("small_counts") == "rows" and small["delta"] > _enough(facts):
        points.append(
            f"Small counts. With 1 to {noise['support'] - 1} others in the cell delta is up to "
            f"{up(small['delta']):g} at epsilon = {small['epsilon']:g}, more than was asked for. Signed or "
            "clamped counts, which these are not, would protect them like all others."
        )
    return points


def _other_tables(facts: Facts) -> list[str]:
    most = facts["cells_per_person"]
    odds = f" The odds are those of {_these(facts)} alone." if most > facts["cells_changed"] else ""
    return [
        "Other tables. More tables from the same bytes in this edition with this noise keep epsilon and "
        f"delta as long as all of them together have at most {most} different "
        f"count{'s' if most > 1 else ''} that one person can change; {_these(facts)} "
        f"{'have' if 'tables' in facts else 'has'} {facts['cells_changed']}.{odds} What is published in "
        "another edition or with another noise has an epsilon and a delta of its own, to be added to these.",
        "Another file in the same edition. Records that were changed, or only put into another order or file "
        "format, need another edition: published twice under one, tables that agree or differ would tell "
        "whether the two files are the same, which can depend on one person.",
    ]


def _differences(facts: Facts) -> list[str]:
    apart = facts["two_cells_one_person_apart"]
    given = ", where equal sets of people have equal keys" if facts["keys"] == "given" else ""
    return [
        f"Differences. Two published cells that differ by one person alone give that person away{given}: "
        f"delta is {up(apart['delta']):g} at every epsilon, and no scheme that gives equal sets equal noise, "
        f"of this distribution, can have less than {-up(-apart['at_least']):g}. Do not publish cells "
        "that differ by few records, in one table or between tables."
    ]


def _occurrence(facts: Facts) -> list[str]:
    if facts["keys"] == "given":
        return [
            "Occurrence. Which cells the table has is as it was given: whether one appears at all is not "
            "covered by epsilon and delta."
        ]
    if not (unlisted := _unlisted(facts)):
        return []
    return [
        f"Occurrence. The categories of {', '.join(unlisted)} are those that somebody has: whether one "
        "appears at all is not covered by epsilon and delta."
    ]
