"""The paper's values beside those of a notebook."""

import json
from pathlib import Path

import pytest

from compendium.ledger import claims
from compendium.ledger.comparison import compare
from compendium.run.parameters import paper_parameters
from compendium.run.results import Results
from tablebuilder_dp import certified, design

NAME = "04-design-guide"


def test_values_are_compared_and_recorded_with_their_claims(output: Path) -> None:
    results = Results(NAME, **paper_parameters()[NAME])
    found = design.guide("0.5", "1e-4")
    values: dict[str, claims.Value] = {
        "ex1-support": found.support,
        "ex1-p12": certified.pmf(found, 12),
        "ex1-iota": -found.iota,
    }
    comparison = compare(results, values)
    assert comparison.differing == ("ex1-p12",)
    row = r"| $p(\pm12)$ | 0.016632589297126 | 0.013165377565781 | **slip** |"
    assert row in comparison._repr_markdown_()
    assert "p(±12)" in repr(comparison)
    record = json.loads((output / f"build/results/{NAME}.json").read_text())
    assert record["numbers"]["ex1-support"] == "25"
    assert record["claims"] == sorted(values)


@pytest.mark.usefixtures("output")
def test_other_parameters_have_nothing_to_compare_unless_the_values_are_the_papers() -> None:
    results = Results(NAME, **paper_parameters()[NAME] | {"epsilon": 2})
    assert compare(results, {"ex1-support": 24}).differing == ()
    assert "nothing to compare" in repr(compare(results, {"ex1-support": 24}))
    always = compare(results, {"ex1-support": 25}, always=True)
    assert "| 25 | 25 | confirmed |" in always._repr_markdown_()


@pytest.mark.usefixtures("output")
def test_words_stand_in_the_place_of_a_value_and_change_no_verdict() -> None:
    results = Results(NAME, **paper_parameters()[NAME])
    made = compare(results, {"ex1-support": 25}, words={"ex1-support": "a quarter of a hundred"})
    assert "| 25 | a quarter of a hundred | confirmed |" in made._repr_markdown_()


@pytest.mark.usefixtures("output")
def test_a_notebook_may_not_contradict_the_ledger() -> None:
    results = Results(NAME, **paper_parameters()[NAME])
    with pytest.raises(AssertionError, match="ex1-support is confirmed by the ledger, but here it is 24"):
        compare(results, {"ex1-support": 24})
