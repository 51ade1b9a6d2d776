"""The survey of notebook 20: nothing of it is lost or changed on the way to the extract."""

from collections import Counter
from pathlib import Path

from pyarrow import csv

from compendium.studies import survey


def test_the_extract_has_everybody_once_in_the_listed_categories(tmp_path: Path) -> None:
    whole = survey.read()
    rows = csv.read_csv(survey.extract(whole, tmp_path)).to_pylist()
    assert len(rows) == whole.num_rows == len(set(whole["SEQN"].to_pylist()))
    for name, listed in survey.CODES.items():
        assert {row[name] for row in rows} <= {*listed, ""}
        lines = (tmp_path / f"{name}.csv").read_text("utf-8").splitlines()
        assert lines == [name, *(f'"{one}"' for one in listed)]


def test_answers_are_what_respondents_said() -> None:
    whole = survey.read()
    said = Counter(whole["DoctorToldYouHaveDiabetes"].to_pylist())
    assert set(said) == {*survey.ANSWERS, ""}
    assert set(whole["CoveredByHealthInsurance"].to_pylist()) == {"1.0", "0.0", ""}


def test_ages_are_in_their_groups(tmp_path: Path) -> None:
    whole = survey.read()
    ages = [float(age) for age in whole["AgeInYearsAtScreening"].to_pylist()]
    groups = csv.read_csv(survey.extract(whole, tmp_path))["age"].to_pylist()
    for age, group in zip(ages, groups, strict=True):
        first, _, last = group.replace(" or more", " to 89").partition(" to ")
        assert int(first) <= age <= int(last)
