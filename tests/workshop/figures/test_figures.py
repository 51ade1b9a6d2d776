"""Every picture is drawn, with its numbers and its words, by the module of its notebook."""

import csv
import importlib
import io
import pkgutil
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from compendium import figures
from compendium.figures import (
    a_release,
    after_sampling,
    best_gamma,
    better_tables,
    cell_key_size,
    cell_keys,
    choosing_the_variance,
    combined_cells,
    design_guide,
    drawing,
    high_precision,
    many_queries,
    max_entropy_noise,
    other_noise,
    privacy_of_tablebuilder,
    sampling,
    small_counts,
    verdict,
)
from compendium.figures.drawing import Drawing
from compendium.ledger import claims, verdicts
from compendium.run import notebooks
from compendium.run.places import ROOT
from compendium.studies import carry, promises, rivals, sweep
from tablebuilder_dp import design
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.noise import Geometric, Noise
from tablebuilder_dp.sampling import LookupTable, lookup_table

NOISE = Noise(4, Fraction(1, 8))
GEOMETRIC = Geometric(4, 0.5).pmf
HAND_MADE = design.proposition_3(1, support=2)
ELSEWHERE = {"a_census_table", "explorer", "differencing_game"}
"""Modules whose pictures are tested with the studies that they show."""


def small_study() -> sweep.Experiment:
    return sweep.run(support=3, epsilon_step="0.5", steps=5, slack="0.1", bits=(4, 8))


def table(keysize: int) -> LookupTable:
    return lookup_table(NOISE, keysize=keysize)


DRAWINGS: dict[str, Callable[[], Drawing]] = {
    "delta_curves": lambda: privacy_of_tablebuilder.delta_curves(
        "x", support=5, variances=[2, 4], epsilon_max=3
    ),
    "following": lambda: choosing_the_variance.following("x", support=3, epsilon_max=1),
    "best_delta": lambda: choosing_the_variance.best_delta("x", supports=[3], epsilon_max=1),
    "ratio_to_the_grid": lambda: choosing_the_variance.ratio_to_the_grid(
        "x", choosing_the_variance.best_delta("y", supports=[3], epsilon_max=1), supports=[3]
    ),
    "variance_curves": lambda: choosing_the_variance.variance_curves("x", supports=[3, 4], epsilon_max=1),
    "pmf_bars": lambda: design_guide.pmf_bars("x", NOISE, title="a noise"),
    "errors_by_digits": lambda: high_precision.errors_by_digits(
        "x", design.proposition_3(1, support=4), digits=[15, 20], decimals=12
    ),
    "epsilon_after_sampling": lambda: cell_key_size.epsilon_after_sampling("x", small_study()),
    "delta_after_sampling": lambda: cell_key_size.delta_after_sampling("x", small_study()),
    "bells": lambda: max_entropy_noise.bells("x", support=4),
    "shifted_bells": lambda: privacy_of_tablebuilder.shifted_bells("x", NOISE, 1),
    "variance_of_gamma": lambda: max_entropy_noise.variance_of_gamma("x", support=4, variance=2),
    "ruler": lambda: sampling.ruler("x", NOISE, keysize=32),
    "cut_points": lambda: sampling.cut_points("x", [table(16), table(256)], NOISE),
    "key_counts": lambda: cell_keys.key_counts(
        "x", keys=np.arange(256, dtype=np.uint64), empty=9, keysize=256
    ),
    "differences": lambda: cell_keys.differences("x", found=[0, 1, 1, 3, -4], table=table(256)),
    "weight_errors": lambda: after_sampling.weight_errors("x", table(256), NOISE),
    "rises_and_falls": lambda: after_sampling.rises_and_falls("x", table(256), 1.0),
    "verdicts": lambda: verdict.verdicts("x", [verdicts.settle(claims.load()["ex1-p0"])]),
    "delta_of_gamma": lambda: best_gamma.delta_of_gamma("x", epsilon=0.5, support=5),
    "gap_to_the_best": lambda: best_gamma.gap_to_the_best("x", supports=[3, 5], epsilon_max=2),
    "by_hand": lambda: better_tables.by_hand("x", HAND_MADE, keysize=32, ends=(2, 3)),
    "better_tables": lambda: better_tables.better_tables(
        "x", small_study(), promises.symmetric_tables(small_study())
    ),
    "trade_off": lambda: other_noise.trade_off(
        "x", epsilon=0.5, support=4, points={"geometric": (1.9, 0.05)}
    ),
    "noise_shapes": lambda: other_noise.noise_shapes("x", epsilon=0.5, pmfs={"geometric": GEOMETRIC}),
    "composition_curves": lambda: many_queries.composition_curves("x", NOISE, cells=[1, 5], epsilon_max=10),
    "costs": lambda: many_queries.costs(
        "x", {k: rivals.costs(1, "1e-2", cells=k) for k in (1, 2)}, epsilon=1, delta=0.01
    ),
    "summed_losses": lambda: many_queries.summed_losses("x", NOISE, cells=(1, 3), epsilon=0.5),
    "who_publishes_what": lambda: small_counts.who_publishes_what("x", OfVariance(3, 1)),
    "protection": lambda: small_counts.protection("x", OfVariance(3, 1), epsilon=0.5),
    "bias_of_clamping": lambda: small_counts.bias_of_clamping("x", OfVariance(3, 1)),
    "carry_by_bit": lambda: combined_cells.carry_by_bit(
        "x", {"sums": carry.seen("sums", lines=50, seed=1)}, exact=Fraction(17, 32)
    ),
    "tiled_counts": lambda: combined_cells.tiled_counts("x", [1, 1, 1, 4, 4, 6]),
    "unequal_answers": lambda: combined_cells.unequal_answers("x", table(256), others=[1, 5, 20]),
    "averages": lambda: combined_cells.averages(
        "x",
        partitions=[1, 4],
        shares={"exact": [0.1, 0.2], "sums": [0.0, 0.3], "designed": [0.1, 0.1]},
        groups=100,
    ),
    "over_gamma": lambda: choosing_the_variance.over_gamma("x", epsilon=0.5, support=4),
    "smallest_support": lambda: design_guide.smallest_support("x", design.guide("0.5", "0.1"), delta=0.1),
    "keys_at_an_end": lambda: cell_key_size.keys_at_an_end(
        "x", small_study(), sure={4: [False] * 5, 8: [False] * 4 + [True]}
    ),
    "published": lambda: a_release.published("x", ["0 to 9", "80 or more"], [3, 12], [-1, 15], error=4.0),
}


def modules() -> list[str]:
    return [
        one.name for one in pkgutil.iter_modules(figures.__path__) if one.name not in ("drawing", "palette")
    ]


def test_a_module_is_named_as_the_notebook_that_it_draws_for() -> None:
    slugs = {path.stem[3:].replace("-", "_") for path in notebooks.paths()}
    assert set(modules()) <= slugs
    for path in notebooks.paths():
        code = "\n".join(
            notebooks.source(cell) for cell in notebooks.read(path)["cells"] if cell["cell_type"] == "code"
        )
        slug = path.stem[3:].replace("-", "_")
        assert slug not in modules() or f"{slug} as pictures" in code, path.name


def test_every_figure_is_drawn_here() -> None:
    drawn = {
        name
        for module in set(modules()) - ELSEWHERE
        for name, value in vars(importlib.import_module(f"compendium.figures.{module}")).items()
        if getattr(value, "__module__", "") == f"compendium.figures.{module}"
        and hasattr(value, "__wrapped__")
    }
    assert drawn == set(DRAWINGS)


@pytest.fixture
def unmeasured_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write SVG without coverage, which doubles the time: PNG beside it runs the same lines of ours."""
    save = Figure.savefig

    def saved(*arguments: Any, **options: Any) -> None:
        measuring = sys.gettrace()
        sys.settrace(None if options["format"] == "svg" else measuring)
        try:
            save(*arguments, **options)
        finally:
            sys.settrace(measuring)

    monkeypatch.setattr(Figure, "savefig", saved)


@pytest.mark.usefixtures("unmeasured_svg")
@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_has_pictures_numbers_and_words(name: str) -> None:
    made = DRAWINGS[name]()
    content = made.files()
    assert content["png"].startswith(b"\x89PNG")
    assert content["svg"].startswith(b"<?xml")
    assert made.alt.encode() in content["svg"].replace(b"&gt;", b">")
    rows = list(csv.reader(io.StringIO(content["csv"].decode())))
    assert rows[0] == list(made.data)
    assert {len(row) for row in rows} == {len(made.data)}
    assert made.caption.endswith(".")


def test_names_at_the_ends_of_curves_keep_apart_and_in_order() -> None:
    _, axes = drawing.canvas()
    axes.semilogy([1, 2], [1, 100])
    drawing.label_ends(axes, [(100, "top", "black"), (1, "low", "black"), (99, "near", "black")], gap=0.1)
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert heights["top"] == pytest.approx(heights["near"] + 0.1)
    assert 0 < heights["low"] < 0.2 < heights["near"] < heights["top"] <= 1
    assert all(text.get_position()[0] > 1 for text in axes.texts)


def test_too_many_curves_are_refused() -> None:
    with pytest.raises(ValueError, match="a figure must have at most 4 curves, got 5"):
        drawing.looks([1, 2, 3, 4, 5])


def test_the_axis_of_the_noise_has_its_ends_and_zero() -> None:
    for support in (1, 2, 7, 25):
        [axes] = after_sampling.weight_errors("x", *_narrow(support)).figure.axes
        ticks = axes.get_xticks().tolist()
        assert {-support, 0, support} <= set(ticks)
        assert max(map(abs, ticks)) == support


def _narrow(support: int) -> tuple[LookupTable, Noise]:
    noise = Noise(support, Fraction(1, 8))
    return lookup_table(noise, keysize=256), noise


def test_a_lost_end_is_drawn_as_an_infinite_fall() -> None:
    made = after_sampling.rises_and_falls("x", LookupTable(4, (1, 4, 4)), 1.0)
    assert made.data["fall"][-1] == float("inf")
    assert "the largest fall ∞" in made.alt


def test_differences_of_a_person_who_is_there_are_those_of_independent_keys() -> None:
    small = LookupTable(4, (1, 3, 4))
    made = cell_keys.differences("x", found=[1, 0], table=small)
    expected = dict(zip(made.data["difference"], made.data["expected"], strict=True))
    assert expected == {-3: 0, -2: 0, -1: 1 / 16, 0: 4 / 16, 1: 6 / 16, 2: 4 / 16, 3: 1 / 16}
    assert sum(made.data["absent"]) == 1


def test_keys_outside_two_standard_deviations_of_a_uniform_share_are_counted() -> None:
    """Of 496 keys in 16 intervals each gets 31 on average, with a standard deviation of 5.39, not 5.57."""
    for most, told in ((41, "no bar ends outside"), (42, "bars that end outside, in orange: 1")):
        counts = np.array([most, *[31] * 15])
        counts[1 : most - 30] -= 1
        keys = np.repeat(np.arange(16), counts)
        made = cell_keys.key_counts("x", keys=keys, empty=0, keysize=16)
        assert made.data["cells"] == counts.tolist()
        assert told in made.caption


def test_few_keys_are_not_compared_with_uniform_ones() -> None:
    for keys, keysize in (([3, 200], 256), ([0] * 500 + [1] * 500, 2)):
        made = cell_keys.key_counts("x", keys=np.array(keys), empty=5, keysize=keysize)
        assert "too few to be compared" in made.caption
        assert len(made.figure.axes[0].lines) == 0


def test_the_readme_names_every_figure() -> None:
    folder = ROOT / "figures"
    text = (folder / "README.md").read_text(encoding="utf-8")
    named = {name for row in text.splitlines() if row.startswith("| `") for name in row.split("`")[1:-1:2]}
    assert named == {path.stem for path in folder.glob("*.svg")}
