"""What is said about a published table: computed, never too good, and of nothing but the noise."""

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.people import PEOPLE

from tablebuilder_dp import design, microdata, sampling
from tablebuilder_dp.beyond.many_cells import FAMILIES
from tablebuilder_dp.beyond.promise import promise
from tablebuilder_dp.counts import perturbation_table as perturbation
from tablebuilder_dp.counts.perturbation_table import PerturbationTable
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.microdata import cell_keys, statement, words
from tablebuilder_dp.microdata.layout import NEIGHBOURS
from tablebuilder_dp.microdata.protection import SMALL_COUNTS, largest

DESIGNS = {way: microdata.design_per_cell("0.5", "1e-4", small_counts=way) for way in ("rows", "clamped")}
OPTIONS: dict[str, Any] = {
    "keys": "sums",
    "edition": None,
    "neighbours": "add-or-remove",
    "only_positive": False,
    "cells_given": False,
    "categories_given": [],
    "key_columns": 4,
    "audit": False,
}


def facts(protection: microdata.Protection, *, margins: bool = True, **change: Any) -> dict[str, Any]:
    """What is stated of a table by region and sex."""
    layout, options = microdata.Layout(["region", "sex"], margins), OPTIONS | change
    changed = layout.cells_changed(options["neighbours"])
    return {"table": "out.csv", **statement.facts(protection, layout, cells_changed=changed, **options)}


def table_of(protection: microdata.Protection) -> PerturbationTable:
    assert isinstance(protection.table, PerturbationTable)
    return protection.table


def exact_delta(table: PerturbationTable, count: int, epsilon: float) -> float:
    """δ of two neighbouring counts straight from the weights."""
    published = []
    for n in (count, count + 1):
        weights = enumerate(table.row(n).weights, n - table.support)
        published.append({value: weight / table.keysize for value, weight in weights if weight})
    less, more = published
    return max(
        sum(max(0.0, mass - math.exp(epsilon) * q.get(value, 0)) for value, mass in p.items())
        for p, q in ((less, more), (more, less))
    )


@pytest.mark.parametrize("way", ["rows", "clamped"])
def test_one_cell_has_the_largest_delta_of_all_pairs_of_counts(way: str) -> None:
    found = facts(DESIGNS[way])["one_cell"]
    assert list(found) == ["others_from_0", "others_from_1", "others_from_25"]
    deltas = [exact_delta(table_of(DESIGNS[way]), n, 0.5) for n in range(27)]
    for first in (0, 1, 25):
        stated = found[f"others_from_{first}"]
        assert stated["epsilon"] == 0.5
        assert stated["delta"] == pytest.approx(max(deltas[first:]), rel=1e-9)
        worst = stated["worst"][0]
        assert stated["worst"] == [worst, worst + 1]
        assert deltas[worst] == pytest.approx(max(deltas[first:]), rel=1e-9)


def test_clamping_keeps_what_was_asked_for_and_rows_do_not() -> None:
    assert facts(DESIGNS["clamped"])["one_cell"]["others_from_0"]["delta"] <= 1e-4
    rows = facts(DESIGNS["rows"])["one_cell"]
    assert rows["others_from_0"]["delta"] > rows["others_from_1"]["delta"] > 1e-4
    assert rows["others_from_25"]["delta"] <= 1e-4


def test_two_cells_that_differ_by_one_person_are_no_secret() -> None:
    for protection in DESIGNS.values():
        agree = []
        for n in range(1, 26):
            less, more = (
                {n + k + z: w for z, w in enumerate(table_of(protection).row(n + k).weights, -25)}
                for k in (0, 1)
            )
            agree.append(Fraction(sum(w * more.get(y, 0) for y, w in less.items()), 2**64))
        assert statement.one_apart(table_of(protection))["delta"] == sampling.rounded_up(1 - min(agree))
    assert facts(DESIGNS["rows"])["two_cells_one_person_apart"]["delta"] == pytest.approx(0.96, abs=1e-3)


@given(st.floats(1e-12, 1e12))
def test_rounding_is_upwards_to_four_digits(value: float) -> None:
    found = statement.up(value)
    assert value <= found <= value * (1 + 1e-3)
    assert len(f"{found:.10g}".replace(".", "").strip("0").split("e")[0].lstrip("-")) <= 4


def test_the_statement_uses_nothing_of_the_records() -> None:
    protection = DESIGNS["rows"]
    few, more = (
        microdata.perturb(people, by=["region", "sex"], protection=protection, keys="sums")
        for people in (PEOPLE, pa.concat_tables([PEOPLE, PEOPLE.slice(0, 3)]))
    )
    facts_alone = facts(protection, margins=False)
    assert few.statement == more.statement
    assert {"table": "out.csv", **few.statement} == {
        **facts_alone,
        "meaning": words.meaning(facts_alone),
        "whole_table_in_words": words.whole_table(facts_alone),
        "not_protected": words.not_protected(facts_alone),
    }


def test_the_digest_tells_tables_apart() -> None:
    assert DESIGNS["rows"].digest != DESIGNS["clamped"].digest
    again = microdata.design_per_cell("0.5", "1e-4", small_counts="rows")
    assert DESIGNS["rows"].digest == again.digest


def test_a_table_from_elsewhere_is_stated_where_its_delta_is_least() -> None:
    table = perturbation.build(OfVariance(2, 1), keysize=2**16, small_counts="clamped")
    found = facts(microdata.from_table(table))
    assert found["noise"] == {
        "keysize": 2**16,
        "support": 2,
        "source": None,
        "sha256": microdata.from_table(table).digest,
    }
    one = found["one_cell"]["others_from_0"]
    assert exact_delta(table, one["worst"][0], one["epsilon"]) <= one["delta"] * (1 + 1e-9)
    assert exact_delta(table, one["worst"][0], 400) == pytest.approx(one["delta"])
    assert found["whole_table"] == statement.NOTHING
    assert "made elsewhere" in words.words(found)


def test_a_table_that_rounds_protects_nothing() -> None:
    """Counts rounded to a multiple of 3: some neighbours are published apart for certain."""
    noises = [0, -1, 1, 0, -1, 1]
    rows = [sampling.LookupTable(2, (2 * (z < 0), 2 * (z < 1), 2)) for z in noises]
    found = facts(microdata.from_table(PerturbationTable(tuple(rows), period=3)))
    assert found["one_cell"]["others_from_1"]["delta"] == 1
    assert "A delta of 1 means no protection" in words.words(found)


@pytest.mark.parametrize("protection", [*DESIGNS.values(), microdata.from_table(table_of(DESIGNS["rows"]))])
@pytest.mark.parametrize("audit", [False, True])
def test_words_say_what_the_facts_say(protection: microdata.Protection, audit: bool) -> None:
    found = facts(protection, audit=audit, categories_given=["sex"])
    text = words.words(found)
    flat = " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100
    assert text.startswith("Statement about out.csv\n=====")
    assert ("CONFIDENTIAL" in text) is audit
    for one in found["one_cell"].values():
        assert f"{statement.up(one['delta']):.4g}" in flat
    assert "Neither epsilon nor delta is promised for more than one published count" in flat
    assert found["noise"]["sha256"] in flat
    assert ("Emptiness." in flat) is protection.keeps_empty
    assert ("Absence, with margins" in flat) is not protection.keeps_empty
    assert ("Small counts." in flat) is (protection.small_counts == "rows")
    assert "The categories of region are those that somebody has: whether" in flat
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_guarantees_of_a_table_are_sharp() -> None:
    """One unit less of e^ε and the table misses its δ."""
    table = perturbation.build(OfVariance(4, 2), keysize=256)
    found = perturbation.guarantee(table, first=1)
    deltas = [exact_delta(table, n, found.epsilon) for n in range(1, 6)]
    assert max(deltas) == pytest.approx(found.delta, abs=1e-12)
    assert max(exact_delta(table, n, found.epsilon - 1e-6) for n in range(1, 6)) > found.delta
    assert found.delta == pytest.approx(float(perturbation.alone(table, found.worst)))
    assert found.delta == max(float(perturbation.alone(table, n)) for n in range(1, 6))
    at = perturbation.guarantee(table, first=2, epsilon=Fraction(1, 2))
    assert at.delta == pytest.approx(max(exact_delta(table, n, 0.5) for n in range(2, 6)))
    assert perturbation.guarantee(table, first=9) == perturbation.guarantee(table, first=4)


def test_group_privacy_is_as_stated() -> None:
    """Counts that differ by m: δ at mε is at most δ·(e^(mε) − 1)/(e^ε − 1)."""
    weights = np.array(table_of(DESIGNS["clamped"]).rows[-1].weights) / 2**32
    delta = facts(DESIGNS["clamped"])["one_cell"]["others_from_25"]["delta"]
    for m in (2, 3, 5):
        p, q = np.append(weights, np.zeros(m)), np.append(np.zeros(m), weights)
        exact = max(np.maximum(a - math.exp(m * 0.5) * b, 0).sum() for a, b in ((p, q), (q, p)))
        assert exact <= delta * math.expm1(m * 0.5) / math.expm1(0.5)


def test_what_is_left_out_is_said() -> None:
    for only_positive, from_list in itertools.product([False, True], repeat=2):
        found = facts(DESIGNS["rows"], only_positive=only_positive, cells_given=from_list)
        assert (found["only_positive"], found["cells"]) == (
            only_positive,
            "those of a given list" if from_list else "all combinations of categories",
        )
        flat = " ".join(words.words(found).split())
        assert ("What is published as 0 or less is left out." in flat) is only_positive
        assert f"The cells are {found['cells']}." in flat


def test_leaving_out_what_is_not_positive_pools_it_as_clamping_does() -> None:
    """The odds change by more than e^ε as often as with clamped counts, and sums have a bias."""
    for neighbours, kind in itertools.product(NEIGHBOURS, ("cells", "records")):
        change: dict[str, Any] = {"neighbours": neighbours, "only_positive": True}
        if kind == "records":
            change |= {"keys": kind, "key_columns": 4}
        signed, clamped = (keyed(ONE_CELL[way], **change) for way in ("signed", "clamped"))
        assert signed["whole_table"] == clamped["whole_table"]
        assert signed["one_cell"] == clamped["one_cell"]
        said = flat(signed)
        assert "As counts of 0 or less are left out, those near 0 are too large on average" in said
        assert "all alike" not in said
        assert "they have no bias" not in said
    shown, hidden = (keyed(WHOLE["signed"], only_positive=only)["whole_table"] for only in (False, True))
    assert shown["delta"] == hidden["delta"]
    assert shown["loss_above_epsilon"] < hidden["loss_above_epsilon"]


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_cells_of_one_person_are_counted_by_partitions(neighbours: str) -> None:
    """Where noise follows the people, whatever the neighbours."""
    nested = {"by": ["sex", "region", "district"], "nested": [["region", "district"]]}
    plain = facts(DESIGNS["clamped"], neighbours=neighbours)
    found = {**plain, **nested}
    assert "In this table everybody is counted in 6 cells." in words.whole_table(found)
    assert "In this table everybody is counted in 4 cells." in words.whole_table(plain)


def test_pairs_of_rows_in_turn_all_count() -> None:
    """With period 2 the pairs of rows 1 and 2 recur for ever, so a guarantee from 2 on includes them."""
    calm, wild = sampling.LookupTable(8, (2, 6, 8)), sampling.LookupTable(8, (1, 2, 8))
    zero = sampling.LookupTable(8, (0, 8, 8))
    table = PerturbationTable((zero, calm, wild), period=2)
    assert perturbation.guarantee(table, first=2) == perturbation.guarantee(table, first=1)
    found = perturbation.guarantee(table, first=2, epsilon=1)
    assert found.delta == pytest.approx(max(exact_delta(table, n, 1.0) for n in (2, 3, 4)), rel=1e-9)
    with pytest.raises(ValueError, match="table must be one of two counts or more, got '1 row'"):
        perturbation.guarantee(PerturbationTable((zero,), period=0), first=0)


def test_tables_of_more_keys_than_cell_keys_have_are_served_by_all_of_these() -> None:
    fine = perturbation.build(OfVariance(2, 1), keysize=2**40)
    assert microdata.from_table(fine).table == perturbation.requantised(fine, 2**32)


@pytest.mark.parametrize("protection", [*DESIGNS.values(), microdata.from_table(table_of(DESIGNS["rows"]))])
@pytest.mark.parametrize("margins", [False, True])
@pytest.mark.parametrize("key_columns", [1, 4])
def test_nothing_is_promised_for_several_cells(
    protection: microdata.Protection, margins: bool, key_columns: int
) -> None:
    found = facts(protection, margins=margins, key_columns=key_columns)
    assert found["whole_table"] == statement.NOTHING
    assert found["cells_changed"] == (4 if margins else 1)
    text = " ".join(words.words(found).split())
    assert "Neither epsilon nor delta is promised for more than one published count" in text
    assert ("for more than one cell epsilon is inf" in text) is (margins and key_columns == 1)
    assert ("three need not be" in text) is (margins and key_columns == 4)
    assert "A cell that is published again with the noise of another design keeps its key" in text


def keys_of_a_line(columns: int, lines: int = 200_000) -> list[np.ndarray[Any, np.dtype[np.uint64]]]:
    """The cell keys of women, men and their total, as the library makes them from sums of record keys."""
    source = np.random.default_rng(11)
    women, men = source.integers(0, 2**40, size=(2, lines, columns), dtype=np.uint64)
    return [cell_keys.of_sums(sums, 2**32) for sums in (women, men, women + men)]


def test_keys_of_a_total_and_its_parts_are_not_independent() -> None:
    """Why nothing is promised: the carry of two bits ties three keys together, and one column wholly."""

    def bit(keys: Any, place: int) -> Any:
        return keys >> np.uint64(place) & np.uint64(1)

    women, men, total = keys_of_a_line(4)
    parity = bit(women, 31) ^ bit(women, 30) ^ bit(men, 31) ^ bit(total, 31)
    assert np.mean(parity == 0) == pytest.approx(0.5 + 1 / 32, abs=0.005)
    for one, other in itertools.combinations((women, men, total), 2):
        assert np.mean(bit(one, 31) ^ bit(other, 31)) == pytest.approx(0.5, abs=0.005)
    women, men, total = keys_of_a_line(1)
    assert np.array_equal(total, (women + men) % 2**32)


@pytest.mark.parametrize("way", ["rows", "clamped"])
def test_odds_pass_e_to_the_epsilon_as_often_as_is_said(way: str) -> None:
    """Straight from the weights: whichever of two counts is true, every value with too large a ratio."""
    table, found = table_of(DESIGNS[way]), facts(DESIGNS[way])
    probability = []
    for n in range(26):
        less, more = (np.array(side) / 2**32 for side in perturbation.outputs(table, n))
        far = (less > math.exp(0.5) * more) | (more > math.exp(0.5) * less)
        probability.append(max(less[far].sum(), more[far].sum()))
    for first in (0, 1, 25):
        stated = found["one_cell"][f"others_from_{first}"]
        assert stated["loss_above_epsilon"] == pytest.approx(max(probability[first:]), rel=1e-9)
    said = words.meaning(found)
    if way == "rows":
        assert said.startswith("In words, if 25 or more other people are in the cell: somebody who knows")
        assert "1.649, which is exp(epsilon), with a probability of at most 9.913e-05, whether" in said
        assert "larger than delta" not in said
        assert said.endswith("Where delta is large, the worst pair of counts is often told apart.")
    else:  # 0 pools a tail: far more often than delta
        assert said.startswith("In words, for every cell: somebody who knows")
        assert "1.649, which is exp(epsilon), with a probability of at most 0.001585, whether" in said
        assert "This probability is larger than delta because it counts such results in full" in said
        assert said.endswith("after rounding to keys.")
        assert stated["delta"] < 1e-4 < 0.0015 < found["one_cell"]["others_from_0"]["loss_above_epsilon"]


def test_the_loss_of_a_small_table_is_exact() -> None:
    """Weights 1 2 1 against their shift: at e^ε = 2 no ratio passes but that of the ends; below it all do."""
    table = PerturbationTable((sampling.LookupTable(4, (0, 4, 4)),), period=1)
    assert perturbation.guarantee(table, first=0).loss_above_epsilon == 1  # no noise: told apart for certain
    rows = (sampling.LookupTable(4, (0, 3, 4)), sampling.LookupTable(4, (1, 3, 4)))
    bell = PerturbationTable(rows, period=1)
    assert perturbation.outputs(bell, 1) == ((1, 2, 1, 0), (0, 1, 2, 1))
    just_above, just_below = math.log(2) + 1e-9, math.log(2) - 1e-9
    assert perturbation.guarantee(bell, first=1, epsilon=just_above).loss_above_epsilon == 0.25
    assert perturbation.guarantee(bell, first=1, epsilon=just_below).loss_above_epsilon == 1
    least = perturbation.guarantee(bell, first=1)
    assert (least.delta, least.loss_above_epsilon) == (0.25, 0.25)
    assert least.epsilon == pytest.approx(math.log(2))


def test_what_falls_short_of_what_was_asked_for_is_said_in_one_line() -> None:
    said = words.shortfall(facts(DESIGNS["rows"]))
    assert said == (
        "Small counts get less protection than was asked for: at epsilon = 0.5 delta is 0.5001 with 0 or "
        "more others and 0.09452 with 1 or more others in the cell, not 0.0001. With --small-counts signed "
        "or clamped every count would get it."
    )
    assert words.shortfall(facts(DESIGNS["clamped"])) == ""
    assert words.shortfall(facts(microdata.from_table(table_of(DESIGNS["rows"])))) == ""


def test_groups_are_stated_for_one_cell() -> None:
    text = " ".join(words.words(facts(DESIGNS["rows"])).split())
    assert (
        "For m people multiply one cell's epsilon by m and one cell's delta by (exp(m epsilon) - 1)" in text
    )
    assert "With 1 to 24 others in the cell delta is up to 0.09452 at epsilon = 0.5" in text


@pytest.mark.parametrize("bits", [8, 10, 12])
@pytest.mark.parametrize("way", ["rows", "clamped"])
def test_the_delta_that_a_table_keeps_can_be_asked_for(bits: int, way: str) -> None:
    """Exactly that δ, which as a float is a hair above or below: either it is refused or all is said."""
    for epsilon in ("0.5", "1", "1.5", "2"):
        made = design.guide(epsilon, "0.02")
        last = sampling.lookup_table(made, keysize=2**bits)
        kept = max(sampling.delta(last, epsilon))
        for asked in (kept, math.nextafter(kept, 1), math.nextafter(kept, 0)):
            try:
                found = facts(microdata.design_per_cell(epsilon, asked, keysize=2**bits, small_counts=way))
            except ValueError:  # the table misses it by less than a float can tell
                continue
            assert "with a probability of at most" in words.meaning(found)
            assert bool(words.shortfall(found)) is (way == "rows")


def test_an_epsilon_is_stated_rounded_up() -> None:
    third = "0.33333333333333333333"
    stated = facts(microdata.design_per_cell(third, "1e-3"))["one_cell"]["others_from_0"]["epsilon"]
    assert Fraction(stated) >= Fraction(third)


@pytest.mark.parametrize("asked", ["0.3", "0.6", "0.7", "1.1"])
def test_an_epsilon_that_is_a_short_decimal_is_stated_as_it_is(asked: str) -> None:
    """The float64 of each of them lies below it, or above it, by less than it prints."""
    one = facts(microdata.design_per_cell(asked, "1e-3"))["one_cell"]["others_from_0"]["epsilon"]
    whole = microdata.design(asked, "1e-3", cells=2)
    assert one == statement.up(one) == float(asked)
    assert keyed(whole, "sex")["whole_table"]["epsilon"] == float(asked)


# Keys of cells: the promise of a whole table

ASKED = [("1", "1e-6", 4), ("0.5", "1e-4", 6), ("0.333333333333333333333", "1e-9", 64)]
WHOLE = {way: microdata.design("1", "1e-6", cells=10, small_counts=way) for way in ("signed", "clamped")}
ONE_CELL = {way: microdata.design_per_cell("1", "0.01", small_counts=way) for way in SMALL_COUNTS}
LISTED: dict[str, Any] = {"keys": "cells", "edition": "2026", "key_columns": 0}
KEYED = [*WHOLE.values(), *ONE_CELL.values()]


def keyed(protection: microdata.Protection, by: str = "region sex", **change: Any) -> dict[str, Any]:
    """What is stated of a table with margins and keys of cells, all its categories listed."""
    names = by.split()
    layout = microdata.Layout(names, change.pop("margins", True), change.pop("nested", ()))
    options = {**OPTIONS, **LISTED, "categories_given": names, **change}
    options.setdefault("cells_changed", layout.cells_changed(options["neighbours"]))
    return {"table": "out.csv", **statement.facts(protection, layout, **options)}


def flat(found: dict[str, Any]) -> str:
    """The words in one line; none of theirs has more than 100 columns."""
    text = words.words(found)
    assert max(map(len, text.splitlines())) <= 100
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    return " ".join(text.split())


@pytest.mark.unmeasured
@pytest.mark.parametrize(("epsilon", "delta", "cells"), ASKED)
@pytest.mark.parametrize("way", ["signed", "clamped"])
@pytest.mark.parametrize("noise", FAMILIES)
def test_what_is_stated_is_at_most_what_was_asked_for(
    epsilon: str, delta: str, cells: int, way: str, noise: str
) -> None:
    if noise == "best" and way == "clamped":
        return  # as one of the others
    made = microdata.design(epsilon, delta, cells=cells, small_counts=way, noise=noise)
    found = keyed(made, cells_changed=cells)["whole_table"]
    assert Fraction(epsilon) <= Fraction(found["epsilon"]) <= Fraction(epsilon) * (1 + Fraction(1, 2**52))
    assert 0.5 * float(delta) < found["delta"] <= float(delta)
    exact = promise(made.noise, largest(made.table), epsilon, cells=cells, clamped=way == "clamped")  # type: ignore[arg-type]
    assert Fraction(found["delta"]) >= exact.delta
    assert Fraction(found["loss_above_epsilon"]) >= exact.loss_above_epsilon
    assert found["loss_above_epsilon"] >= found["delta"] * 0.99


def test_the_statement_of_keys_of_cells_in_json() -> None:
    found = keyed(WHOLE["signed"], edition="2026, 1")
    assert {name: found[name] for name in ("keys", "neighbours", "cells_changed", "cells_per_person")} == {
        "keys": "cells",
        "neighbours": "add-or-remove",
        "cells_changed": 4,
        "cells_per_person": 10,
    }
    assert (found["edition"], found["cipher"]) == ("2026, 1", cell_keys.CIPHER)
    assert found["perturbs_empty_cells"] is True
    assert not {"one_cell", "key_columns", "two_cells_one_person_apart", "given_categories"} & set(found)
    noise = found["noise"]
    assert noise["keysize"] == 2**64
    assert (noise["epsilon"], noise["delta"], noise["of"]) == (1.0, 1e-6, "the whole table")
    assert (noise["small_counts"], noise["family"]) == ("signed", "max-entropy")
    assert noise["variance"] == min(noise["variances"].values()) == noise["variances"]["max-entropy"]
    assert set(noise["variances"]) == set(FAMILIES[1:])
    assert not {"bias_at_0", "slack", "rule"} & set(noise)
    assert set(words.in_words(found)) == {"whole_table_in_words", "rests_on", "not_protected"}
    rate = WHOLE["signed"].noise.rates  # type: ignore[union-attr]
    assert noise["rate"] == float(max(rate))


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("way", ["signed", "clamped"])
def test_the_promise_of_a_whole_table_in_words(way: str, neighbours: str) -> None:
    by, nested = "sex region district", [["region", "district"]]
    found = keyed(WHOLE[way], by, nested=nested, neighbours=neighbours)
    said, changed = flat(found), {"add-or-remove": 6, "replace": 10}[neighbours]
    assert (found["cells_changed"], found["cells_per_person"]) == (changed, 10)
    assert found["nested"] == nested
    assert "region > district is a hierarchy." in said
    delta, odds = (
        f"{statement.up(found['whole_table'][name]):g}" for name in ("delta", "loss_above_epsilon")
    )
    room = " This epsilon and delta have room for 4 more, in other tables." if changed < 10 else ""
    alone = ", from this table alone" if changed < 10 else ""
    differ, whose, true = {
        "add-or-remove": (
            "whether one record is there",
            "the odds that the person is in the records",
            "whether the person is there or not",
        ),
        "replace": (
            "the values of one record",
            "the odds between any two records that the person may have",
            "whichever of the two is true",
        ),
    }[neighbours]
    assert (
        "What the whole table gives away Whoever knows everything about everybody else, and sees this table "
        f"and all its margins, learns at most epsilon = 1 and delta = {delta} about one person. That is to "
        f"say: for any two sets of records that differ only in {differ}, the probability of any set of "
        "results is at most 2.719 times as large with the one as with the other, plus delta; this factor is "
        f"exp(epsilon), rounded up. Such records differ in at most {changed} counts of this table, each by "
        f"one.{room} The promise holds for every person and whatever the counts are, 0 included. In terms of "
        f"odds{alone}: {whose} rise or fall by a factor of more than 2.719 with a probability of at most "
        f"{odds}, {true}."
    ) in said
    assert ("larger than delta because it counts such results in full" in said) is (
        float(odds) > float(delta)
    )
    bounded = way == "clamped" or neighbours == "replace"
    assert ("it is a bound, which need not be sharp" in said) is (bounded and float(odds) > float(delta))
    assert "and others, with up to 10 counts that one person changes, together keep" in said or changed == 10
    small = {"signed": "Counts are published as they come, also below 0", "clamped": "an empty cell by "}
    assert [small[one] in said for one in small] == [one == way for one in small]
    assert "at most 10 different counts that one person can change" in said
    assert f"the cipher holds ({cell_keys.CIPHER})" in said
    assert "were chosen without looking at the records." in said
    assert "Whoever has the secret or the cell keys can take the noise away." in said
    assert "For m people multiply the epsilon by m and the delta" in said
    assert words.shortfall(found) == ""
    for absent in ("Emptiness.", "Absence", "Differences.", "Occurrence.", "Small counts.", "record keys"):
        assert absent not in said


def test_one_count_is_in_the_singular() -> None:
    alone = keyed(microdata.design("1", "1e-6", cells=1), "sex", margins=False)
    said = flat(alone)
    assert "and sees this table, learns" in said
    assert "Such records differ in at most 1 count of this table, by one." in said
    assert "Margins have a noise of their own" not in said
    assert "at most 1 different count that" in said


@pytest.mark.parametrize("protection", [microdata.design("1", "1e-6", cells=1), *ONE_CELL.values()])
def test_a_table_that_nobody_can_change_is_stated_too(protection: microdata.Protection) -> None:
    """With a single category a record that is replaced changes no count."""
    found = keyed(protection, "country", neighbours="replace", cells_changed=0)
    assert (found["cells_changed"], found["cells_per_person"]) == (0, 1)
    assert found["whole_table"]["delta"] <= 0.01
    assert "at most 1 different count that" in flat(found)


@pytest.mark.parametrize("noise", FAMILIES[1:])
def test_what_is_left_out_has_the_odds_of_what_is_clamped(noise: str) -> None:
    """Straight from the weights: a count that does not appear is any number of them in one."""
    made = microdata.design("0.5", "1e-4", cells=1, noise=noise)
    table = perturbation.clamped(largest(made.table))
    true = perturbation.guarantee(table, first=0, epsilon="0.5").loss_above_epsilon
    signed, shown = (
        keyed(made, "sex", margins=False, only_positive=only_positive) for only_positive in (False, True)
    )
    assert signed["whole_table"]["loss_above_epsilon"] < true / 2
    assert true <= shown["whole_table"]["loss_above_epsilon"] < 1
    assert signed["whole_table"]["delta"] == shown["whole_table"]["delta"]
    assert "they have no bias" in flat(signed)
    assert "they have no bias" not in flat(shown)
    assert "As counts of 0 or less are left out, those near 0 are too large on average" in flat(shown)


def test_one_signed_count_that_may_be_left_out_has_the_odds_of_a_clamped_one() -> None:
    signed, shown = (keyed(ONE_CELL["signed"], only_positive=shown) for shown in (False, True))
    clamped = keyed(ONE_CELL["clamped"])["one_cell"]["others_from_0"]["loss_above_epsilon"]
    assert signed["one_cell"]["others_from_0"]["loss_above_epsilon"] < clamped
    assert shown["one_cell"]["others_from_0"]["loss_above_epsilon"] == clamped
    assert shown["one_cell"]["others_from_0"]["delta"] == signed["one_cell"]["others_from_0"]["delta"]


def test_other_tables_share_the_delta_but_not_the_odds_nor_another_file() -> None:
    """More counts have other odds, and other bytes other noise, also those of the same records."""
    fewer, all_of_them = flat(keyed(WHOLE["signed"])), flat(keyed(microdata.design("1", "1e-6", cells=4)))
    for said in (fewer, all_of_them):
        assert "tables from the same bytes in this edition with this noise keep epsilon and delta" in said
        assert "in every table that is made from the same bytes in this edition" in said
        assert "or only put into another order or file format, need another edition" in said
    assert "The odds are those of this table alone." in fewer
    assert "The odds are those of this table alone." not in all_of_them


def test_clamping_states_the_bias_of_an_empty_cell() -> None:
    row = largest(WHOLE["clamped"].table)
    mean = sum(max(0, z) * Fraction(w, row.keysize) for z, w in enumerate(row.weights, -row.support))
    stated = keyed(WHOLE["clamped"])["noise"]["bias_at_0"]
    assert Fraction(stated) >= mean
    assert stated == pytest.approx(float(mean))
    signed, clamped = (keyed(WHOLE[way])["whole_table"] for way in ("signed", "clamped"))
    assert signed["delta"] == clamped["delta"]
    assert signed["loss_above_epsilon"] < clamped["loss_above_epsilon"]  # 0 pools a tail


@pytest.mark.parametrize("protection", KEYED)
def test_categories_from_the_records_leave_no_promise_without_conditions(
    protection: microdata.Protection,
) -> None:
    promised, found = keyed(protection), keyed(protection, categories_given=["sex"])
    assert found["whole_table"] == {"epsilon": "inf", "delta": 1.0, "loss_above_epsilon": 1.0}
    assert found["given_categories"] == promised["whole_table"]
    said = flat(found)
    assert "Neither epsilon nor delta is promised without conditions: the categories of region are" in said
    assert "Occurrence. The categories of region are those that somebody has" in said
    assert "The categories of the records are among those listed" not in said
    assert "some of the categories were not" in said
    assert "Neither epsilon nor delta" not in flat(promised)
    listed = keyed(protection, categories_given=["region"], cells_given=True)
    assert listed["whole_table"] == promised["whole_table"]
    assert "Occurrence" not in flat(listed)
    assert words.shortfall(found) == (
        "No epsilon and delta are promised for the whole table, as categories were taken from the "
        "records: list them with --categories."
    )


@pytest.mark.parametrize("way", SMALL_COUNTS)
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_a_design_of_one_cell_states_the_whole_table_beside_it(way: str, neighbours: str) -> None:
    found = keyed(ONE_CELL[way], neighbours=neighbours)
    said, whole, changed = flat(found), found["whole_table"], {"add-or-remove": 4, "replace": 6}[neighbours]
    assert found["cells_per_person"] == found["cells_changed"] == changed
    assert (found["noise"]["of"], found["noise"]["rule"]) == ("one cell", "ceiling")
    assert "variances" not in found["noise"]
    assert "What one published count gives away" in said
    assert "or by m where epsilon is 0, for one cell as for the whole table." in said
    assert (
        f"learns at most epsilon = {whole['epsilon']:g} and delta = {statement.up(whole['delta']):g}" in said
    )
    one = found["one_cell"]["others_from_0"]
    assert one["delta"] < whole["delta"] < 1
    if way == "rows":
        assert whole["epsilon"] == changed * 1.0
        assert whole["delta"] == pytest.approx(1 - (1 - one["delta"]) ** changed)
        assert whole["loss_above_epsilon"] == min(1, changed * one["loss_above_epsilon"])
        assert f"{changed} times the epsilon of one count is taken (basic composition)." in said
        assert ("How often odds change by more" in said) is (whole["loss_above_epsilon"] == 1)
        assert found["perturbs_empty_cells"] is False
        assert "Emptiness." in said
    else:
        exact = promise(
            ONE_CELL[way].noise,  # type: ignore[arg-type]
            largest(ONE_CELL[way].table),
            1,
            cells=changed,
            clamped=way == "clamped" or neighbours == "replace",
        )
        assert whole == {
            "epsilon": 1.0,
            "delta": sampling.rounded_up(exact.delta),
            "loss_above_epsilon": sampling.rounded_up(exact.loss_above_epsilon),
        }


def test_signed_counts_of_one_cell_are_all_alike() -> None:
    found = keyed(ONE_CELL["signed"])
    assert list(found["one_cell"]) == ["others_from_0"]
    row = largest(ONE_CELL["signed"].table)
    less, more = np.array([*row.weights, 0]) / 2**32, np.array([0, *row.weights]) / 2**32
    one = found["one_cell"]["others_from_0"]
    assert one["delta"] == pytest.approx(np.maximum(less - math.e * more, 0).sum())
    far = (less > math.e * more) | (more > math.e * less)
    assert one["loss_above_epsilon"] == pytest.approx(max(less[far].sum(), more[far].sum()))
    assert "0 or more 1 0.006767 all alike" in flat(found)


@pytest.mark.parametrize("protection", [*ONE_CELL.values(), microdata.from_table(table_of(DESIGNS["rows"]))])
def test_keys_of_records_promise_one_cell(protection: microdata.Protection) -> None:
    found = facts(protection, keys="records", edition="2026")
    assert found["whole_table"] == statement.NOTHING
    assert (found["edition"], found["cipher"]) == ("2026", cell_keys.CIPHER)
    assert found["two_cells_one_person_apart"] == statement.one_apart(protection.table)
    said = flat(found)
    assert (
        "Neither epsilon nor delta is promised for more than one published count, in this table or together "
        "with others. In this table everybody is counted in 4 cells. Equal sets of people have equal noise, "
        "so two cells that differ by one person give the person away."
    ) in said
    assert "one set of people has one noise, and different sets have independent noises." in said
    assert f"and the cipher to hold ({cell_keys.CIPHER})." in said
    assert "Differences. Two published cells that differ by one person alone" in said
    assert ("Absence, with margins" in said) is not protection.keeps_empty
    assert "Whoever has the secret, the record keys or the cell keys" in said
    assert "What this rests on" not in said
    apart = found["two_cells_one_person_apart"]
    assert 0 < apart["at_least"] < apart["delta"] < 1
    if protection.noise is not None:
        row = largest(protection.table)
        assert Fraction(apart["at_least"]) <= Fraction(max(row.weights), row.keysize)
        assert apart["at_least"] == pytest.approx(max(row.weights) / row.keysize)


@pytest.mark.parametrize("protection", KEYED)
def test_names_and_editions_may_be_anything(protection: microdata.Protection) -> None:
    """Lines stay short, whatever is in them."""
    name = "line\nbreak " + "x" * 150
    found = keyed(protection, edition="first\nand second " * 9)
    found |= {"by": [name, "sex"], "categories_given": ["sex"], "given_categories": found["whole_table"]}
    assert "first and second" in flat(found)


def test_nothing_promised_is_not_promised_by_accident() -> None:
    """One dictionary for all that promise nothing: who changes what was stated changes no other statement."""
    found = facts(DESIGNS["rows"])
    found["whole_table"]["delta"] = 0.5
    assert facts(DESIGNS["rows"])["whole_table"]["delta"] == 1.0
