"""What a kernel records: numbers to fixed digits, figures, and the claims that it depends on."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from compendium.figures import design_guide
from compendium.run import parameters
from compendium.run.parameters import paper_parameters
from compendium.run.results import Results
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support.intervals import Enclosure

NAME = "04-design-guide"


def record(output: Path) -> dict[str, object]:
    return dict(json.loads((output / parameters.PAPER_RUNS / f"{NAME}.json").read_text()))


@pytest.mark.usefixtures("output")
def test_results_want_every_parameter() -> None:
    with pytest.raises(ValueError, match="^parameters must be all of epsilon, delta, slack, got 'epsilon'"):
        Results(NAME, epsilon=0.5)
    with pytest.raises(ValueError, match="^notebook must be one of 00-start-here"):
        Results("99", epsilon=0.5)
    assert Results(NAME, epsilon=0.5, delta=1e-4, slack=0.1).is_paper
    assert not Results(NAME, epsilon=0.5, delta=1e-4, slack=0.2).is_paper
    folders = {parameters.other_run(NAME, {"epsilon": value}) for value in (1, 2, 3)}
    assert len(folders) == 3


def test_numbers_are_recorded_to_fixed_digits(output: Path) -> None:
    results = Results(NAME, **paper_parameters()[NAME])
    results.number("third", Fraction(1, 3), 5)
    results.number("enclosed", Enclosure(Fraction(1, 3), Fraction(1, 3)), 4)
    results.number("float", 2 / 3, 4)
    results.number("word", "yes")
    results.number("count", 7)
    kept = {"third": "0.33333", "enclosed": "0.3333", "float": "0.6667", "word": "yes", "count": "7"}
    assert record(output)["numbers"] == kept


@pytest.mark.usefixtures("output")
def test_what_is_too_long_for_a_number_is_not_recorded() -> None:
    results = Results(NAME, **paper_parameters()[NAME])
    with pytest.raises(ValueError, match="^rows must be a number of at most 1000 characters, got "):
        results.number("rows", "a,b\n" * 300)


def test_figures_and_claims_are_kept(output: Path) -> None:
    results = Results(NAME, **paper_parameters()[NAME])
    results.figure(design_guide.pmf_bars("x", Noise(4, Fraction(1, 8)), title="a noise"))
    results.uses("b", "a")
    results.uses("a")
    assert record(output)["figures"] == ["x"]
    assert record(output)["claims"] == ["a", "b"]
    assert {path.name for path in (output / "figures").iterdir()} == {"x.svg", "x.png", "x.csv"}
