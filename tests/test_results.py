"""What a notebook leaves: pictures with numbers and words, comparisons, the ledger, the witnesses."""

import csv
import io
import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compendium import answers, claims, errata, experiment, figures, ledger, witnesses
from compendium.drawing import Drawing
from compendium.results import Results
from compendium.runs import paper_parameters
from tablebuilder_dp import certified, design, other_noise, sampling, symmetric
from tablebuilder_dp.intervals import Enclosure

GAMMA = Fraction(1, 8)
GEOMETRIC = other_noise.geometric(support=4, rate=0.5)


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("COMPENDIUM_OUTPUT", str(tmp_path))
    return tmp_path


def small_study() -> experiment.Experiment:
    return experiment.run(support=3, epsilon_step="0.5", steps=5, slack="0.1", bits=(4, 8))


def symmetric_tables(study: experiment.Experiment) -> dict[int, list[sampling.LookupTable | None]]:
    return {
        bits: [
            symmetric.lookup_table(made.epsilon, support=3, gamma=made.gamma, keysize=2**bits)
            if symmetric.has_table(made.epsilon, support=3, keysize=2**bits)
            else None
            for made in study.designs
        ]
        for bits in study.bits
    }


def table(keysize: int) -> sampling.LookupTable:
    return sampling.lookup_table(support=4, gamma=GAMMA, keysize=keysize)


DRAWINGS: dict[str, Callable[[], Drawing]] = {
    "delta_curves": lambda: figures.delta_curves("x", support=5, variances=[2, 4], epsilon_max=3),
    "best_delta": lambda: figures.best_delta("x", supports=[3], epsilon_max=1),
    "variance_curves": lambda: figures.variance_curves("x", supports=[3, 4], epsilon_max=1),
    "pmf_bars": lambda: figures.pmf_bars("x", support=4, gamma=GAMMA, title="a noise"),
    "epsilon_after_sampling": lambda: figures.epsilon_after_sampling("x", small_study()),
    "delta_after_sampling": lambda: figures.delta_after_sampling("x", small_study()),
    "variance_of_gamma": lambda: figures.variance_of_gamma("x", support=4, variance=2),
    "cut_points": lambda: figures.cut_points("x", [table(16), table(256)], gamma=GAMMA),
    "key_counts": lambda: figures.key_counts("x", keys=np.arange(256, dtype=np.uint64), keysize=256, bins=8),
    "weight_errors": lambda: figures.weight_errors("x", table(256), gamma=GAMMA),
    "verdicts": lambda: figures.verdicts("x", [ledger.settle(claims.load()["ex1-p0"])]),
    "delta_of_gamma": lambda: answers.delta_of_gamma("x", epsilon=0.5, support=5),
    "gap_to_the_best": lambda: answers.gap_to_the_best("x", supports=[3, 5], epsilon_max=2),
    "better_tables": lambda: answers.better_tables("x", small_study(), symmetric_tables(small_study())),
    "trade_off": lambda: answers.trade_off("x", epsilon=0.5, support=4, points={"geometric": (1.9, 0.05)}),
    "noise_shapes": lambda: answers.noise_shapes("x", epsilon=0.5, pmfs={"geometric": GEOMETRIC}),
    "composition_curves": lambda: answers.composition_curves(
        "x", support=4, gamma=GAMMA, cells=[1, 5], epsilon_max=10
    ),
    "most_cells": lambda: answers.most_cells("x", support=4, gamma=GAMMA, deltas=[0.1, 0.3], epsilon_max=3),
    "small_counts": lambda: answers.small_counts("x", support=3, variance=1.0, epsilon=0.5),
}


def test_every_figure_is_drawn_here() -> None:
    drawn = {
        name
        for module in (figures, answers)
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and hasattr(value, "__wrapped__")
    }
    assert drawn == set(DRAWINGS)


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_has_pictures_numbers_and_words(name: str) -> None:
    drawing = DRAWINGS[name]()
    content = drawing.files()
    assert content["png"].startswith(b"\x89PNG")
    assert content["svg"].startswith(b"<?xml")
    assert drawing.alt.encode() in content["svg"].replace(b"&gt;", b">")
    rows = list(csv.reader(io.StringIO(content["csv"].decode())))
    assert rows[0] == list(drawing.data)
    assert {len(row) for row in rows} == {len(drawing.data)}
    assert drawing.caption.endswith(".")


def test_numbers_figures_and_comparisons_are_kept(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = Results("04-design-guide", **paper_parameters()["04-design-guide"])
    assert results.is_paper
    found = design.guide("0.5", "1e-4")
    noise: dict[str, Any] = {"support": found.support, "gamma": found.gamma}
    values: dict[str, claims.Value] = {
        "ex1-support": found.support,
        "ex1-p12": certified.pmf(12, **noise),
        "ex1-iota": -found.iota,
    }
    comparison = results.compare(values)
    assert comparison.differing == ("ex1-p12",)
    assert "| p(±12) | 0.016632589297126 | 0.013165377565781 | **slip** |" in comparison.table
    assert comparison._repr_markdown_() == repr(comparison) == comparison.table
    results.number("a", 0.1, 3)
    results.number("b", Enclosure(Fraction(1, 3), Fraction(1, 3)), 4)
    results.number("c", Fraction(1, 3), 2)
    results.figure(DRAWINGS["pmf_bars"]())
    record = json.loads((output / "build/results/04-design-guide.json").read_text())
    assert record["figures"] == ["x"]
    assert record["numbers"].items() >= {"ex1-support": "25", "a": "0.1", "b": "0.3333", "c": "0.33"}.items()
    assert (output / "figures/x.svg").is_file()


@pytest.mark.usefixtures("output")
def test_other_parameters_compare_only_what_is_always_the_papers() -> None:
    results = Results("04-design-guide", **paper_parameters()["04-design-guide"] | {"epsilon": 1.0})
    assert "nothing to compare" in results.compare({"ex1-support": 23}).table
    assert "| 25 | 25 | confirmed |" in results.compare({"ex1-support": 25}, always=True).table
    with pytest.raises(AssertionError, match="ex1-support is confirmed by the ledger, but here it is 23"):
        results.compare({"ex1-support": 23}, always=True)


@pytest.mark.usefixtures("output")
def test_a_notebook_may_not_contradict_the_ledger() -> None:
    results = Results("04-design-guide", **paper_parameters()["04-design-guide"])
    with pytest.raises(AssertionError, match="ex1-support is confirmed by the ledger, but here it is 24"):
        results.compare({"ex1-support": 24})


def test_the_ledger_is_kept_and_the_errata_are_the_papers_only(output: Path) -> None:
    stated = claims.load()
    entries = [ledger.settle(stated[name]) for name in ("ex1-p0", "ex1-p12")]
    ours = [ledger.settle(claims.load(claims.OURS)["fix-drop-slack"])]
    testimony = [witnesses.Witness("D*", {"enclosures": "25, proved"})]
    for sections in (["III-D"], paper_parameters()["10-verdict"]["sections"]):
        results = Results("10-verdict", sections=sections)
        results.keep(entries, ours, testimony)
        assert (output / "paper/errata.md").is_file() is results.is_paper
    record = json.loads((output / "build/results/10-verdict.json").read_text())
    assert record["documents"] == ["paper/errata.md"]
    assert record["numbers"]["verdict:ex1-p12"] == "slip"
    assert record["numbers"]["count:slip"] == "1"
    assert record["numbers"]["verdict:fix-drop-slack"] == "confirmed"
    assert record["numbers"]["witness:D*:enclosures"] == "25, proved"


def test_the_experiment_counts_what_is_kept() -> None:
    study = small_study()
    for bits in study.bits:
        pairs = list(zip(study.epsilons, study.tables[bits], study.after[bits], strict=True))
        assert study.kept_promises(bits) == sum(after.epsilon_two_sided <= level for level, _, after in pairs)
        full = [level for level, table, _ in pairs if table.full_support]
        assert study.last_full_support(bits) == (full[-1] if full else None)
        errors = study.variance_errors(bits)
        assert len(errors) == 5
        assert max(map(abs, errors)) < 9 / 2**bits * (1 + 1 / 2**bits) / study.designs[-1].variance


def test_errata_have_a_block_for_each_kind_of_verdict() -> None:
    stated = claims.load()
    names = ("exp-variance-8", "ex2-cmf-24", "ex1-p12", "guide-delta-domain", "exp-variance-16", "ex1-p0")
    entries = [ledger.settle(stated[name]) for name in names]
    text = errata.document(entries, [ledger.settle(claims.load(claims.OURS)["fix-drop-slack"])])
    assert re.findall(r"^## (.*)", text, re.MULTILINE) == [
        "What does not hold",
        "Slips",
        "What depends on the reading",
        "Last digits",
        "Corrected statements",
    ]
    assert "It has 6 statements of the paper; the\n1 that are not listed" in text
    assert "- **It should be.** 0.013165377565781\n- **What is true.** 0.01316537756578073430." in text
    assert "- **What was printed.** p(±11)." in text
    assert "- **It should be.** `0 < delta < 1`\n- **Checked.** Fails in 6 of 10 cases tried" in text
    assert "- *where the support is full*: confirmed (0.00666887)" in text
    assert errata.item(entries[0]) in text


def test_witnesses_agree() -> None:
    testimony = witnesses.testimony()
    shown = witnesses.markdown(testimony)
    assert shown.count("\n") == len(testimony) + 1
    agreement = {one.quantity.partition(",")[0]: one.agreement for one in testimony}
    for quantity in ("p(z)", "δ(ε)"):
        digits = {route: int(text.split()[0]) for route, text in agreement[quantity].items()}
        assert digits["exact fractions"] == digits["enclosures"] == 30
        assert min(digits.values()) >= 10
    assert {text.partition(",")[0] for text in agreement["D*"].values()} == {"25"}
    for one in testimony[-2:]:
        assert one.agreement["exact fractions"] == "all"
    assert testimony[-1].agreement["closed form, float64"] == "all but some c(D)"


def test_a_wrong_witness_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = witnesses.exponential
    monkeypatch.setattr(witnesses, "exponential", lambda x: exact(x) * (1 + Fraction(1, 10**9)))
    agreement = {one.quantity.partition(",")[0]: one.agreement for one in witnesses.testimony()}
    assert agreement["δ(ε)"]["exact fractions"] == "7 digits"


def test_a_wrong_cut_point_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    pmf = witnesses._brute_pmf
    monkeypatch.setattr(witnesses, "_brute_pmf", lambda *noise: [mass * (1 - 1e-8) for mass in pmf(*noise)])
    assert witnesses.testimony()[-1].agreement["brute force, float64"] == "not all"
