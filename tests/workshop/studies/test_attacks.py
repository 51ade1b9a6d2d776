"""Attacks and errors against enumerations of keys and loops over records."""

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support.people import PEOPLE

from compendium.figures import a_census_table
from compendium.studies import attacks, guesses, utility
from compendium.studies.attacks import Trials
from tablebuilder_dp import microdata, privacy, sampling
from tablebuilder_dp.counts import perturbation_table as perturbation
from tablebuilder_dp.counts import small_counts
from tablebuilder_dp.counts.perturbation_table import PerturbationTable
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.microdata import census

KEYSIZE = 256
WAYS = small_counts.CHOICES
TABLES = {way: perturbation.build(OfVariance(3, 2), keysize=KEYSIZE, small_counts=way) for way in WAYS}
NONE = attacks.no_noise(KEYSIZE)
each_way = pytest.mark.parametrize("way", WAYS)


def people(records: int) -> Any:
    return pa.Table.from_batches(list(census.batches(records, seed=4)))


def values(table: PerturbationTable, count: int) -> Any:
    """What every key publishes of a count."""
    return count + perturbation.sample(table, [count] * table.keysize, range(table.keysize))


def designs() -> dict[str, microdata.Protection]:
    made = {
        way: microdata.design_per_cell(2, 0.01, keysize=2**16, rule="symmetric", small_counts=way)
        for way in WAYS
    }
    return {attacks.NO_NOISE: attacks.no_noise(2**16), **made}


TRIED: dict[str, Any] = {"by": ["region", "sex"], "id": "person_id", "rounds": 4, "seed": 9}


@pytest.fixture(scope="module")
def tried() -> dict[str, Trials]:
    return attacks.run(people(600), protections=designs(), **TRIED)


def test_keys_of_cells_give_every_edition_fresh_noise(tried: dict[str, Trials]) -> None:
    """One person apart, which sums of keys give away almost surely, then says little more than a coin."""
    keys = {"clamped": "cells"}
    protections = {"clamped": designs()["clamped"]}
    fresh = attacks.run(people(600), protections=protections, keys=keys, **TRIED)["clamped"]
    assert (fresh.others == tried["clamped"].others).all()
    absent = ~fresh.present & (fresh.others > 3)
    assert 0.1 < (fresh.published == fresh.before)[absent].mean() < 0.9
    found = attacks.rates({"clamped": fresh}, protections, support=4, keys=keys)
    assert all(rate.chance > 1e-6 for rate in found)
    assert max(rate.exact for rate in found if rate.attack == attacks.ONE_APART) < 0.7


@each_way
def test_fresh_noise_is_right_as_often_as_counted(way: str) -> None:
    table = TABLES[way]
    for n in range(5):
        less, more = (values(table, count).tolist() for count in (n, n + 1))
        right = sum(a == b for a in less for b in less) + sum(a != b for a in less for b in more)
        assert guesses.unequal(table, n, fresh=True) == pytest.approx(right / 2 / KEYSIZE**2)


def test_moments_are_those_of_every_key() -> None:
    for choice in ("signed", "clamped"):
        protection = microdata.design(1, "1e-2", cells=2, small_counts=choice)
        found, table = utility.moments(protection), protection.table
        assert isinstance(table, sampling.LookupTable)
        for n in (0, 3, table.support):
            kept = [
                max(z, -n) if choice == "clamped" else z for z in range(-table.support, table.support + 1)
            ]
            mean = sum(z * w for z, w in zip(kept, table.weights, strict=True)) / 2**64
            square = sum(z * z * w for z, w in zip(kept, table.weights, strict=True)) / 2**64
            assert found.bias[n] == pytest.approx(mean, abs=1e-9)
            assert found.variance[n] == pytest.approx(square - mean**2)


def test_without_noise_the_editions_are_the_true_counts(tried: dict[str, Trials]) -> None:
    plain = tried[attacks.NO_NOISE]
    assert (plain.published == plain.others + plain.present).all()
    assert (plain.before == plain.others).all()
    assert (plain.earlier == np.maximum(plain.others - 1, 0)).all()


def test_trials_are_one_a_cell_and_round_and_coins_are_fair(tried: dict[str, Trials]) -> None:
    plain = tried[attacks.NO_NOISE]
    sizes: dict[Any, int] = defaultdict(int)
    for person in people(600).to_pylist():
        sizes[person["region"], person["sex"]] += 1
    assert sorted(plain.others) == sorted([size - 1 for size in sizes.values()] * 4)
    assert 0.3 < plain.present.mean() < 0.7


@each_way
def test_every_way_has_the_same_targets_and_one_set_of_records_one_answer(
    tried: dict[str, Trials], way: str
) -> None:
    plain, found = tried[attacks.NO_NOISE], tried[way]
    assert (found.others == plain.others).all()
    assert (found.present == plain.present).all()
    assert (found.published == found.before)[~found.present].all()
    assert (found.published != found.before)[found.present].any()
    assert (found.before == found.earlier)[found.others == 0].all()
    assert (found.before != found.earlier)[found.others > 0].any()


def test_a_round_has_new_noise_and_a_seed_repeats_it(tried: dict[str, Trials]) -> None:
    again = attacks.run(
        people(600), by=["region", "sex"], id="person_id", protections=designs(), rounds=2, seed=9
    )["rows"]
    first = tried["rows"]
    half = len(again.others)
    assert all((one == other[:half]).all() for one, other in zip(again, first, strict=True))
    rounds = (first.before - first.others).reshape(4, -1)
    large = rounds[:, first.others[: rounds.shape[1]] > 5]
    assert len(np.unique(large, axis=0)) == 4


@each_way
def test_editions_are_those_of_the_records_that_are_left(way: str, tmp_path: Path) -> None:
    """One round by hand: the same draws, then the library's table of each edition by loops over its rows."""
    known, protection = people(200), designs()[way]
    found = attacks.run(known, by=["sex"], id="person_id", protections={way: protection}, rounds=1, seed=2)
    draws = np.random.default_rng([2, 0])
    file = tmp_path / "secret"
    microdata.make_secret(file, seed=int(draws.integers(2**63)))
    order = draws.permutation(200).tolist()
    sexes = known["sex"].to_pylist()
    cells = sorted({sex for sex in sexes if sex}) + [None] * (None in sexes)
    queues = {sex: [i for i in order if sexes[i] == sex] for sex in cells}
    present = draws.integers(2, size=len(cells)) > 0
    microdata.census.write_census(tmp_path / "people.parquet", records=200, seed=4)
    microdata.add_keys(
        tmp_path / "people.parquet", tmp_path / "keyed.parquet", id="person_id", secret_file=file
    )
    keyed = pa.parquet.read_table(tmp_path / "keyed.parquet")
    for edition in ("published", "before", "earlier"):
        dropped = {
            queues[sex][0]
            for sex, inside in zip(cells, present, strict=True)
            if edition != "published" or not inside
        }
        if edition == "earlier":
            dropped |= {queue[1] for queue in queues.values() if len(queue) > 1}
        left = keyed.take([i for i in range(200) if i not in dropped])
        table = microdata.perturb(
            left, by=["sex"], protection=protection, keys="sums", secret_file=file, categories={"sex": cells}
        ).table
        assert getattr(found[way], edition).tolist() == table["count"].to_pylist()


@each_way
@pytest.mark.parametrize("n", range(6))
def test_the_likelihood_ratio_is_the_best_guess_and_right_as_often_as_stated(way: str, n: int) -> None:
    table = TABLES[way]
    less, more = (values(table, count).tolist() for count in (n, n + 1))
    found = guesses.verdicts(table)
    row, place = int(table.place(n)), table.support - n
    right = sum(not found.speaks[row, y + place] for y in less) + sum(
        found.speaks[row, y + place] for y in more
    )
    assert right / (2 * KEYSIZE) == found.right[row]
    best = sum(max(less.count(y), more.count(y)) for y in set(less) | set(more))
    assert right == best


@each_way
@pytest.mark.parametrize("n", range(7))
def test_exact_rates_of_comparing_editions_are_those_of_all_pairs_of_keys(way: str, n: int) -> None:
    table = TABLES[way]
    target, without = values(table, n + 1), values(table, n)
    agree = (without[:, None] == target[None, :]).mean()
    assert guesses.agreement(table, n, n + 1) == guesses.agreement(table, n + 1, n) == agree
    assert guesses.unequal(table, n) == pytest.approx((1 + (1 - agree)) / 2, abs=1e-15)
    if n:
        base = values(table, n - 1)
        present, absent = (one[:, None] - base[None, :] for one in (target, without))
        right = ((present > 1).mean() + (absent <= 1).mean()) / 2
        assert guesses.difference(table, n) == pytest.approx(right, abs=1e-15)


@each_way
def test_rates_count_what_was_right(way: str) -> None:
    """Every pair of keys once in either world gives the exact rates."""
    table, chosen = TABLES[way], microdata.from_table(TABLES[way])
    for n in (0, 2, 5):
        keys = list(itertools.product(range(KEYSIZE), repeat=2))
        first, second = np.array(keys).T
        before, target = values(table, n)[first], values(table, n + 1)[second]
        base = values(table, max(n - 1, 0))
        trials = Trials(
            others=np.full(2 * len(keys), n),
            present=np.repeat([False, True], len(keys)),
            published=np.concatenate([before, target]),
            before=np.concatenate([before, before]),
            earlier=np.concatenate([base[second], base[first]]),
        )
        found = attacks.rates({way: trials}, {way: chosen}, support=table.support)
        assert len(found) == (3 if n >= table.support else 2)
        for one in found:
            assert one.right / one.trials == pytest.approx(one.exact, abs=1e-12)
            assert one.low < one.exact < one.high
            assert one.chance > 0.99


def test_without_noise_every_attack_is_right(tried: dict[str, Trials]) -> None:
    found = attacks.rates({"x": tried[attacks.NO_NOISE]}, {"x": NONE}, support=4)
    assert {one.attack for one in found} == {attacks.KNOWS_THE_OTHERS, attacks.ONE_APART, attacks.TWO_APART}
    assert all(one.right == one.trials and one.exact == one.chance == 1 for one in found)


def test_measured_rates_fit_the_exact_ones(tried: dict[str, Trials]) -> None:
    for one in attacks.rates(tried, designs(), support=4):
        assert one.chance > 1e-4
        assert one.low <= one.right / one.trials <= one.high


@pytest.mark.parametrize("epsilon", [0, 0.3, 1, 3])
@each_way
def test_no_guess_is_right_more_often_than_promised(way: str, epsilon: float) -> None:
    table = TABLES[way]
    for n in table.pairs:
        delta = float(max(side.upper for side in perturbation.delta(table, n, epsilon)))
        assert guesses.verdicts(table).right[n] <= guesses.promised(epsilon, delta) + 1e-15


def test_the_right_guess_of_a_large_count_is_that_of_total_variation() -> None:
    row = TABLES["rows"].rows[-1]
    here, there = privacy.neighbours(np.array(row.weights) / KEYSIZE)
    expected = (1 + max(privacy.hockey_stick(here, there, 0))) / 2
    assert guesses.verdicts(TABLES["rows"]).right[-1] == pytest.approx(expected, abs=1e-15)
    assert sampling.delta(row, 0)[0] == pytest.approx(2 * expected - 1, abs=1e-15)


# --- Published tables ---------------------------------------------------------------------------


@pytest.fixture(scope="module", params=WAYS)
def published(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> microdata.Published:
    folder = tmp_path_factory.mktemp("census")
    microdata.write_census(folder / "people.parquet", records=800, seed=6)
    microdata.make_secret(folder / "secret", seed=6)
    microdata.add_keys(
        folder / "people.parquet", folder / "keyed.parquet", id="person_id", secret_file=folder / "secret"
    )
    return microdata.perturb(
        folder / "keyed.parquet",
        by=["occupation", "sex", "region"],
        protection=designs()[request.param],
        margins=True,
        audit=True,
        keys="sums",
        secret_file=folder / "secret",
    )


def parts(rows: Sequence[dict[str, Any]], total: dict[str, Any], by: Sequence[str]) -> list[dict[str, Any]]:
    over = total["total_over"].split(", ")
    return [
        row
        for row in rows
        if not row["total_over"] and all(row[name] == total[name] for name in by if name not in over)
    ]


def test_totals_are_compared_with_the_sums_of_their_parts(published: microdata.Published) -> None:
    designed, rows = utility.moments(published.protection), published.table.to_pylist()
    found = utility.totals(published, designed=designed)
    assert [len(one.over) for one in found] == [1, 1, 1, 2, 2, 2, 3]
    last = len(designed.bias) - 1
    for one in found:
        above, expected, squares = [], [], []
        for total in (row for row in rows if row["total_over"] == ", ".join(one.over)):
            below = parts(rows, total, published.layout.by)
            assert len(below) == one.parts
            if sum(row["true_count"] > 0 for row in below) > 1:
                above.append(sum(row["count"] for row in below) - total["count"])
                kinds = [min(row["true_count"], last) for row in below]
                own = min(total["true_count"], last)
                expected.append(sum(designed.bias[kind] for kind in kinds) - designed.bias[own])
                squares.append(sum(designed.variance[kind] for kind in kinds) + designed.variance[own])
        assert one.totals == len(above)
        assert one.mean == pytest.approx(np.mean(above))
        assert one.designed_mean == pytest.approx(np.mean(expected), abs=1e-9)
        assert one.spread == pytest.approx(math.sqrt(np.mean((np.array(above) - expected) ** 2)))
        assert one.designed_spread == pytest.approx(math.sqrt(np.mean(squares)))


def test_exposed_pairs_are_cells_and_totals_one_person_apart(published: microdata.Published) -> None:
    rows, by = published.table.to_pylist(), published.layout.by
    pairs = unequal = 0
    for total in rows:
        for name in total["total_over"].split(", ") if total["total_over"] else ():
            rest = ", ".join(one for one in total["total_over"].split(", ") if one != name)
            for row in rows:
                same = all(row[one] == total[one] for one in by if one != name)
                apart = total["true_count"] - row["true_count"] == 1
                if same and apart and row["total_over"] == rest and row["true_count"]:
                    pairs += 1
                    unequal += row["count"] != total["count"]
    assert pairs > 0
    assert attacks.exposed(published) == (pairs, unequal)


def test_errors_by_size_are_those_of_loops(published: microdata.Published) -> None:
    designed = utility.moments(published.protection)
    counts, true = (one[:-1, :-1, :-1].reshape(-1) for one in utility.arrays(published))
    found = utility.by_size(true, counts, designed=designed, starts=[0, 1, 4, 30, math.inf])
    assert [(one.low, one.high) for one in found] == [(0, 1), (1, 4), (4, 30), (30, math.inf)]
    assert sum(one.cells for one in found) == len(true)
    last = len(designed.bias) - 1
    for one in found:
        inside = [(int(t), int(c - t)) for t, c in zip(true, counts, strict=True) if one.low <= t < one.high]
        errors = [error for _, error in inside]
        assert (one.mean, one.spread) == pytest.approx((np.mean(errors), np.std(errors)))
        assert one.designed_mean == pytest.approx(
            np.mean([designed.bias[min(t, last)] for t, _ in inside]), abs=1e-9
        )
        mixed = np.mean(
            [designed.variance[min(t, last)] + designed.bias[min(t, last)] ** 2 for t, _ in inside]
        )
        assert one.designed_spread == pytest.approx(math.sqrt(mixed - one.designed_mean**2), abs=1e-7)
        assert one.far == pytest.approx(np.mean([abs(error) > t / 10 for t, error in inside]))
        if one.low:
            assert one.relative == pytest.approx(np.mean([abs(error) / t for t, error in inside]))
        else:
            assert math.isnan(one.relative)


def test_utility_wants_an_audit_with_margins() -> None:
    with pytest.raises(ValueError, match="published must have margins, all cells and an audit"):
        utility.arrays(microdata.perturb(PEOPLE, by=["sex"], protection=NONE))


def test_figures_show_rates_and_errors(tried: dict[str, Trials], published: microdata.Published) -> None:
    found = attacks.rates(tried, designs(), support=4)
    for promise in (0.6, 0.9):
        drawing = a_census_table.attack_rates("x", rates=found, promise=promise)
        assert drawing.data["right"] == [one.right for one in found]
        assert len(drawing.alt) > 40
        assert len(drawing.files()["csv"].splitlines()) == len(found) + 1
    designed = {way: utility.moments(designs()[way]) for way in WAYS}
    for shape in (800, 3):
        counts, true = (one.reshape(-1)[:shape] for one in utility.arrays(published))
        cells = dict.fromkeys(WAYS, (true, counts))
        drawing = a_census_table.utility_by_size("x", cells=cells, designed=designed)
        assert sum(drawing.data["cells"]) == 2 * len(true)
        assert len(drawing.files()["png"]) > 1000
