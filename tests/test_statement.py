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
from test_publish import PEOPLE

from tablebuilder_dp import composition, microdata, privacy, sampling, symmetric
from tablebuilder_dp import perturbation_table as perturbation
from tablebuilder_dp.microdata import statement, words
from tablebuilder_dp.perturbation_table import PerturbationTable

DESIGNS = {way: microdata.design("0.5", "1e-4", small_counts=way) for way in ("rows", "clamped")}
OPTIONS: dict[str, Any] = {
    "by": ["region", "sex"],
    "margins": True,
    "only_positive": False,
    "cells_given": False,
    "categories_given": [],
    "audit": False,
}


def facts(protection: microdata.Protection, **change: Any) -> dict[str, Any]:
    return {"table": "out.csv", **statement.facts(protection, **(OPTIONS | change))}


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
    deltas = [exact_delta(DESIGNS[way].table, n, 0.5) for n in range(27)]
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


def test_several_cells_are_composed_exactly_and_rounded_up() -> None:
    made = DESIGNS["clamped"].made
    assert made is not None
    found = facts(DESIGNS["clamped"], by=["a", "b", "c"])["same_person"]
    assert found["cells_of_this_table"] == 8
    assert [one["cells"] for one in found["together"]] == [1, 2, 8, 10, 100]
    for one in found["together"]:
        delta = composition.delta(one["epsilon"], support=25, gamma=made.gamma, cells=one["cells"])
        assert delta <= one["delta"]
        floor = composition.losses(support=25, gamma=made.gamma, cells=one["cells"]).infinite
        assert 2 * floor <= one["delta"] < 2.01 * floor
        below = composition.delta(one["epsilon"] * 0.99, support=25, gamma=made.gamma, cells=one["cells"])
        assert below > 2 * floor
    assert facts(DESIGNS["clamped"], margins=False)["same_person"]["cells_of_this_table"] == 1


def test_composition_covers_the_table_and_not_only_the_noise() -> None:
    """Two cells by brute force over all pairs of noises of the rounded table."""
    coarse = microdata.design("1", "0.01", keysize=2**8, rule="symmetric", small_counts="clamped")
    weights = np.array(coarse.table.rows[-1].weights) / 2**8
    absent, present = privacy.neighbours(weights)
    pairs = np.outer(absent, absent), np.outer(present, present)
    [two] = [one for one in facts(coarse)["same_person"]["together"] if one["cells"] == 2]
    for p, q in itertools.permutations(pairs):
        assert np.maximum(p - math.exp(two["epsilon"]) * q, 0).sum() <= two["delta"]


def test_two_cells_that_differ_by_one_person_are_no_secret() -> None:
    for protection in DESIGNS.values():
        agree = []
        for n in range(1, 26):
            less, more = (
                {n + k + z: w for z, w in enumerate(protection.table.row(n + k).weights, -25)} for k in (0, 1)
            )
            agree.append(Fraction(sum(w * more.get(y, 0) for y, w in less.items()), 2**64))
        assert statement.one_apart(protection.table) == 1 - min(agree)
    assert facts(DESIGNS["rows"])["two_cells_one_person_apart"]["delta"] == pytest.approx(0.96, abs=1e-3)


@given(st.floats(1e-12, 1e12))
def test_rounding_is_upwards_to_four_digits(value: float) -> None:
    found = statement.up(value)
    assert value <= found <= value * (1 + 1e-3)
    assert len(f"{found:.10g}".replace(".", "").strip("0").split("e")[0].lstrip("-")) <= 4


def test_the_statement_uses_nothing_of_the_records() -> None:
    protection = DESIGNS["rows"]
    few = microdata.perturb(PEOPLE, by=["region", "sex"], protection=protection)
    more = microdata.perturb(
        pa.concat_tables([PEOPLE, PEOPLE.slice(0, 3)]), by=["region", "sex"], protection=protection
    )
    facts_alone = statement.facts(protection, **(OPTIONS | {"margins": False}))
    assert few.statement == more.statement
    assert few.statement == {
        **facts_alone,
        "meaning": words.meaning(facts_alone),
        "not_protected": words.not_protected(facts_alone),
    }


def test_the_digest_tells_tables_apart() -> None:
    assert statement.digest(DESIGNS["rows"].table) != statement.digest(DESIGNS["clamped"].table)
    again = microdata.design("0.5", "1e-4", small_counts="rows")
    assert statement.digest(DESIGNS["rows"].table) == statement.digest(again.table)


def test_a_table_from_elsewhere_is_stated_where_its_delta_is_least() -> None:
    table = perturbation.build(support=2, variance=1, keysize=2**16, way="clamped")
    found = facts(microdata.from_table(table))
    assert found["noise"] == {
        "keysize": 2**16,
        "support": 2,
        "source": None,
        "sha256": statement.digest(table),
    }
    one = found["one_cell"]["others_from_0"]
    assert exact_delta(table, one["worst"][0], one["epsilon"]) <= one["delta"] * (1 + 1e-9)
    assert exact_delta(table, one["worst"][0], 400) == pytest.approx(one["delta"])
    together = found["same_person"]["together"]
    assert [entry["cells"] for entry in together] == [1, 2, 4, 10, 100]
    assert all(entry["epsilon"] == "inf" or entry["delta"] < 1 for entry in together)
    assert "made elsewhere" in words.words(found)


def test_a_table_that_rounds_protects_nothing() -> None:
    """Counts rounded to a multiple of 3: some neighbours are published apart for certain."""
    noises = [0, -1, 1, 0, -1, 1]
    rows = [sampling.LookupTable(2, (2 * (z < 0), 2 * (z < 1), 2)) for z in noises]
    found = facts(microdata.from_table(PerturbationTable(tuple(rows), period=3)))
    assert found["one_cell"]["others_from_1"]["delta"] == 1
    assert {one["epsilon"] for one in found["same_person"]["together"]} == {"inf"}
    assert "A delta of 1 means no protection" in words.words(found)


@pytest.mark.parametrize("protection", [*DESIGNS.values(), microdata.from_table(DESIGNS["rows"].table)])
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
    for one in found["same_person"]["together"]:
        assert f"{one['delta']:g}" in flat
    assert found["noise"]["sha256"] in flat
    assert ("Emptiness." in flat) is protection.keeps_empty
    assert ("Absence, with margins" in flat) is not protection.keeps_empty
    assert ("Small counts." in flat) is (protection.way == "rows")
    assert "The categories of region are those that somebody has: whether" in flat
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_many_cells_of_a_wide_noise_are_not_promised_anything() -> None:
    wide = microdata.design("0.01", "0.0001", small_counts="clamped")
    assert wide.table.support > 500
    [hundred] = [one for one in facts(wide)["same_person"]["together"] if one["cells"] == 100]
    assert hundred == {"cells": 100, "epsilon": "inf", "delta": 1.0}


def test_guarantees_of_a_table_are_sharp() -> None:
    """One unit less of e^ε and the table misses its δ."""
    table = perturbation.build(support=4, variance=2, keysize=256)
    found = perturbation.guarantee(table, first=1)
    deltas = [exact_delta(table, n, found.epsilon) for n in range(1, 6)]
    assert max(deltas) == pytest.approx(found.delta, abs=1e-12)
    assert max(exact_delta(table, n, found.epsilon - 1e-6) for n in range(1, 6)) > found.delta
    assert found.delta == pytest.approx(float(perturbation.alone(table, found.worst)))
    assert found.delta == max(float(perturbation.alone(table, n)) for n in range(1, 6))
    at = perturbation.guarantee(table, first=2, epsilon=Fraction(1, 2))
    assert at.delta == pytest.approx(max(exact_delta(table, n, 0.5) for n in range(2, 6)))
    assert perturbation.guarantee(table, first=9) == perturbation.guarantee(table, first=4)


def test_composition_of_a_table_from_elsewhere_covers_two_cells() -> None:
    """All pairs of noises of every two counts from 1 on, and the theorem is no looser than it must be."""
    table = perturbation.build(support=3, variance=2, keysize=2**16)
    found = facts(microdata.from_table(table))["same_person"]
    assert found["others_from"] == 1
    one, two = (entry for entry in found["together"] if entry["cells"] <= 2)
    single = perturbation.guarantee(table, first=1)
    for entry, k in ((one, 1), (two, 2)):
        bound = composition.bounds(
            single.epsilon, single.delta, cells=k, total=2 * (1 - (1 - single.delta) ** k)
        )
        assert entry["epsilon"] == pytest.approx(bound.optimal, rel=1e-3)
    for n in range(1, 5):
        less, more = (np.array(side) / 2**16 for side in perturbation.outputs(table, n))
        for p, q in itertools.permutations((np.outer(less, less), np.outer(more, more))):
            assert np.maximum(p - math.exp(two["epsilon"]) * q, 0).sum() <= two["delta"]


def test_the_distance_of_the_table_from_the_noise_is_allowed_for() -> None:
    coarse = microdata.design("1", "0.01", keysize=2**8, rule="symmetric", small_counts="clamped")
    assert coarse.made is not None
    away = float(symmetric.distance(coarse.table.rows[-1], gamma=coarse.made.gamma))
    noise: dict[str, Any] = {"support": coarse.made.support, "gamma": coarse.made.gamma}
    for one in facts(coarse)["same_person"]["together"][:3]:
        total = 2 * composition.losses(**noise, cells=one["cells"]).infinite
        epsilon = composition.epsilon(total, **noise, cells=one["cells"])
        expected = min(total + one["cells"] * away * (1 + math.exp(epsilon)), 1)
        assert one["delta"] == pytest.approx(expected, rel=2e-3)


def test_who_the_lines_about_several_cells_are_for() -> None:
    assert [facts(DESIGNS[way])["same_person"]["others_from"] for way in ("rows", "clamped")] == [25, 0]
    rows, clamped = (" ".join(words.words(facts(DESIGNS[way])).split()) for way in ("rows", "clamped"))
    assert "published cells, each with 25 or more others in it, whose keys are independent" in rows
    assert "published cells, whose keys are independent" in clamped
    assert "multiply epsilon by m, and delta by (exp(m epsilon) - 1)/(exp(epsilon) - 1)" in rows
    assert "With 1 to 24 others in the cell delta is up to 0.09452 at epsilon = 0.5" in rows


def test_group_privacy_is_as_stated() -> None:
    """Counts that differ by m: δ at mε is at most δ·(e^(mε) − 1)/(e^ε − 1)."""
    weights = np.array(DESIGNS["clamped"].table.rows[-1].weights) / 2**32
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
        assert ("What is published as 0 is left out." in flat) is only_positive
        assert f"The cells are {found['cells']}." in flat


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
    fine = perturbation.build(support=2, variance=1, keysize=2**40)
    assert microdata.from_table(fine).table == perturbation.requantised(fine, 2**32)


def test_the_meaning_is_told_for_all_cells_that_have_it() -> None:
    rows, clamped = (words.meaning(facts(DESIGNS[way])) for way in ("rows", "clamped"))
    assert rows.startswith("In words, if 25 or more other people are in the cell: whoever sees its count")
    assert clamped.startswith("In words, for every cell: whoever sees its count")
    for text in (rows, clamped):
        assert "a factor of at most 1.649, except with a probability of about 9.913e-05" in text
