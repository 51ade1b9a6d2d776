"""The form of what is published: labels, and small counts that are left out."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from support.people import PEOPLE

from tablebuilder_dp import microdata
from tablebuilder_dp.cli import main
from tablebuilder_dp.microdata import forms, statement
from tablebuilder_dp.sampling import LookupTable

LISTS: dict[str, Any] = {"region": ["N", "S", None], "age": [1, 2, 3]}
NOISE = microdata.design(1, "1e-3", cells=4)


def published(secret_file: Path, **options: Any) -> microdata.Published:
    asked = {"by": ["region", "age"], "margins": True, "categories": LISTS, "protection": NOISE, **options}
    return microdata.perturb(PEOPLE, secret_file=secret_file, edition="2026", **asked)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# --- Labels -----------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [{}, {"total_label": "Total", "missing_label": "not stated"}])
def test_a_total_and_a_missing_category_differ_in_a_file(
    secret_file: Path, tmp_path: Path, labels: dict[str, str]
) -> None:
    made = published(secret_file, journal=tmp_path / "journal", **labels)
    total, missing = labels.get("total_label", "(total)"), labels.get("missing_label", "(missing)")
    made.write(tmp_path / "out.csv")
    typed, found = made.table.to_pylist(), rows_of(tmp_path / "out.csv")
    assert len(found) == len(typed) == 16
    for row, plain in zip(found, typed, strict=True):
        over = plain["total_over"].split(", ")
        for name in ("region", "age"):
            wanted = total if name in over else missing if plain[name] is None else str(plain[name])
            assert row[name] == wanted
        assert row["count"] == str(plain["count"])
    assert made.table.schema.field("age").type == pa.int64()
    assert made.table["age"].null_count == 4
    made.write(tmp_path / "out.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet") == made.labelled
    assert made.statement["labels"] == {"total": total, "missing": missing}
    told = " ".join((tmp_path / "out.csv.statement.txt").read_text("utf-8").split())
    assert (
        f"A variable that a count sums over is called {total}; a missing category is called {missing}."
        in told
    )


def test_a_column_without_a_label_keeps_its_type(secret_file: Path, tmp_path: Path) -> None:
    made = published(secret_file, margins=False, journal=tmp_path / "journal")
    assert made.labelled.schema.field("age").type == pa.int64()
    assert made.labelled["region"].to_pylist()[-3:] == ["(missing)"] * 3
    assert "sums over" not in "".join((made.write(tmp_path / "out.csv")[2]).read_text("utf-8"))


def test_names_with_commas_keep_their_totals_apart(secret_file: Path) -> None:
    table = pa.table({"a": ["x"], "b": ["y"], "a, b": ["z"]})
    made = microdata.perturb(
        table,
        by=["a", "b", "a, b"],
        margins=True,
        protection=microdata.design(1, "1e-3", cells=8),
        categories={"a": ["x"], "b": ["y"], "a, b": ["z"]},
        secret_file=secret_file,
        edition="2026",
    )
    shown = {tuple(row[name] for name in table.column_names) for row in made.labelled.to_pylist()}
    assert len(shown) == len(made.table) == 8
    assert ("(total)", "(total)", "z") in shown


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"total_label": "N"}, "total_label must be a text that is no category of 'region', got 'N'"),
        ({"total_label": "3"}, "total_label must be a text that is no category of 'age', got '3'"),
        ({"missing_label": "S"}, "missing_label must be a text that is no category of 'region', got 'S'"),
        ({"missing_label": "(total)"}, "missing_label must be other than total_label, got '(total)'"),
        ({"total_label": " "}, "total_label must be a text that can be printed on one line, got ' '"),
        ({"missing_label": "a\nb"}, r"missing_label must be a text .*, got 'a\\nb'"),
    ],
)
def test_labels_that_would_mislead_are_refused(secret_file: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told.replace("(", r"\(").replace(")", r"\)")):
        published(secret_file, **options)
    with pytest.raises(TypeError, match="total_label must be a text .*, got None"):
        published(secret_file, total_label=None)


def test_labels_are_compared_with_what_occurs(secret_file: Path) -> None:
    found: dict[str, Any] = {"categories": None, "categories_from_data": True, "by": ["region"]}
    with pytest.raises(ValueError, match="total_label must be .* no category of 'region', got 'S'"):
        published(secret_file, total_label="S", **found)
    odd = pa.table({"region": ["(total)", "(missing)"]})
    one = microdata.design(1, "1e-3", cells=1)
    made = microdata.perturb(
        odd,
        by=["region"],
        protection=one,
        categories={"region": ["(total)", "(missing)"]},
        secret_file=secret_file,
        edition="2026",
    )
    assert made.labelled == made.table  # neither label is used


TOML = """
edition = "2026"
records = "people.parquet"
secret = "key.bin"
{form}
[privacy]
epsilon = 1
delta = 1e-3
[variables.region]
categories = ["N", "S"]
missing = true
[variables.age]
categories = [1, 2, 3]
[[table]]
name = "ages"
by = ["region", "age"]
margins = true
{table}
"""


def release(folder: Path, form: str = "", table: str = "") -> microdata.Release:
    if not (folder / "key.bin").exists():
        microdata.make_secret(folder / "key.bin", seed=1)
        pyarrow.parquet.write_table(PEOPLE, folder / "people.parquet")
    (folder / "release.toml").write_text(TOML.format(form=form, table=table), encoding="utf-8")
    return microdata.Release.from_toml(folder / "release.toml")


def test_a_release_has_labels(tmp_path: Path) -> None:
    made = release(tmp_path, 'total_label = "Total"').publish()
    rows = rows_of(tmp_path / "release-2026" / "ages.csv")
    assert rows[-1]["region"] == rows[-1]["age"] == "Total"
    assert [row["age"] for row in rows] == made.tables["ages"]["age"].to_pylist()
    assert {row["region"] for row in rows} == {"N", "S", "(missing)", "Total"}
    assert made.statement["labels"] == {"total": "Total", "missing": "(missing)"}
    assert "is called Total; a missing category is called (missing)." in " ".join(made.text.split())
    with pytest.raises(ValueError, match="total_label must be .* no category of 'region', got 'N'"):
        release(tmp_path, 'total_label = "N"')


def command(folder: Path, *options: str) -> int:
    (folder / "lists.json").write_text(json.dumps(LISTS), encoding="utf-8")
    if not (folder / "key.bin").exists():
        microdata.make_secret(folder / "key.bin", seed=1)
        pyarrow.parquet.write_table(PEOPLE, folder / "people.parquet")
    files = {name: str(folder / name) for name in ("people.parquet", "key.bin", "lists.json", "out.csv")}
    asked = ["--by", "region", "age", "--margins", "--epsilon", "1", "--delta", "1e-3", "--edition", "2026"]
    asked += ["--secret-file", files["key.bin"], "--categories", files["lists.json"]]
    return main.main(["perturb", files["people.parquet"], *asked, "-o", files["out.csv"], *options])


def test_the_command_takes_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(tmp_path, "--total-label", "All", "--missing-label", "?") == 0
    rows = rows_of(tmp_path / "out.csv")
    assert {row["region"] for row in rows} == {"N", "S", "?", "All"}
    capsys.readouterr()
    assert command(tmp_path, "--total-label", "N") == 2
    assert "total_label must be a text that is no category of 'region', got 'N'" in capsys.readouterr().err
    assert forms.USUAL.labels == {"total": "(total)", "missing": "(missing)"}


# --- Small published counts -------------------------------------------------------------------


@pytest.mark.parametrize("only_positive", [False, True])
def test_published_counts_below_the_limit_are_left_out(secret_file: Path, only_positive: bool) -> None:
    options: dict[str, Any] = {"only_positive": only_positive, "audit": True}
    plain = published(secret_file, **options)
    made = published(secret_file, suppress_below=4, **options)
    assert made.table.column_names[:5] == ["region", "age", "total_over", "count", "suppressed"]
    assert made.table.drop_columns(["count", "suppressed"]) == plain.table.drop_columns(["count"])
    counts = plain.table["count"].to_pylist()
    assert made.table["suppressed"].to_pylist() == [count < 4 for count in counts]
    assert made.table["count"].to_pylist() == [None if count < 4 else count for count in counts]
    true = plain.table["true_count"].to_pylist()  # by which other cells would be left out
    assert [count < 4 for count in counts] != [count < 4 for count in true]


def test_leaving_counts_out_costs_nothing_and_odds_are_bounded(secret_file: Path, tmp_path: Path) -> None:
    plain = published(secret_file)
    made = published(secret_file, suppress_below=10, journal=tmp_path / "journal")
    assert made.entry == plain.entry
    for name in ("epsilon", "delta"):
        assert made.statement["whole_table"][name] == plain.statement["whole_table"][name]
    clamped = published(secret_file, protection=microdata.design(1, "1e-3", cells=4, small_counts="clamped"))
    odds = [made.statement["whole_table"]["loss_above_epsilon"] for made in (plain, made, clamped)]
    assert odds[0] < odds[1] == odds[2]
    assert (made.statement["suppress_below"], plain.statement["suppress_below"]) == (10, None)
    told = " ".join(made.write(tmp_path / "out.csv")[2].read_text("utf-8").split())
    assert "Counts that came out below 10 with their noise are left out" in told
    assert "it is post-processing, which changes neither epsilon nor delta" in told
    assert "it is a bound, which need not be sharp" in told
    assert "no bias" not in told
    found = rows_of(tmp_path / "out.csv")
    assert {row["suppressed"] for row in found if row["count"] == ""} == {"true"}
    assert {row["suppressed"] for row in found if row["count"]} <= {"false"}


@pytest.mark.parametrize("way", ["signed", "clamped", "rows"])
def test_the_odds_of_one_cell_hold_for_every_limit(way: str) -> None:
    """Answers below a limit are one answer: how often it changes the odds by more than e^ε is bounded."""
    protection = microdata.design_per_cell(1, "1e-3", keysize=2**16, small_counts=way)
    stated = statement.one_cell(protection.table, protection.epsilon, left_out=True)
    sharp = statement.one_cell(protection.table, protection.epsilon)
    assert [one["delta"] for one in stated.values()] == [one["delta"] for one in sharp.values()]
    table = protection.table
    support, rows = table.support, [table] if isinstance(table, LookupTable) else table.rows
    for limit in (1, 4, 9):
        for n in range(40):
            laws = []
            for count in (n, n + 1):
                law = dict.fromkeys(range(-support, 42 + support), 0)
                row = rows[min(count, len(rows) - 1)]
                for noise, weight in enumerate(row.weights, -row.support):
                    law[max(count + noise, limit - 1)] += weight
                laws.append(np.array([law[key] for key in sorted(law)]) / table.keysize)
            with np.errstate(divide="ignore", invalid="ignore"):
                losses = np.abs(np.log(laws[0] / laws[1]))
            beyond = max(float(law[losses > 1].sum()) for law in laws)
            bound = min(
                one["loss_above_epsilon"]
                for name, one in stated.items()
                if n >= int(name.removeprefix("others_from_"))
            )
            assert beyond <= bound


def test_limits_that_are_none_are_refused(secret_file: Path) -> None:
    with pytest.raises(ValueError, match="suppress_below must be an integer from 1 to 1000000000, got 0"):
        published(secret_file, suppress_below=0)
    with pytest.raises(TypeError, match=r"suppress_below must be an integer .*, got 2.5 \(float\)"):
        published(secret_file, suppress_below=2.5)
    table = pa.table({"suppressed": ["yes"]})
    with pytest.raises(ValueError, match="by must be without the names .*suppressed, got 'suppressed'"):
        microdata.perturb(
            table,
            by=["suppressed"],
            categories={"suppressed": ["yes"]},
            protection=NOISE,
            suppress_below=3,
            secret_file=secret_file,
            edition="2026",
        )


def test_a_release_and_the_command_leave_small_counts_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = release(tmp_path, "suppress_below = 5").publish()
    rows = rows_of(tmp_path / "release-2026" / "ages.csv")
    assert made.statement["suppress_below"] == 5
    assert "true" in {row["suppressed"] for row in rows}
    assert all(row["count"] == "" if row["suppressed"] == "true" else int(row["count"]) >= 5 for row in rows)
    assert "Counts that came out below 5" in " ".join(made.text.split())
    assert command(tmp_path, "--suppress-below", "5", "--edition", "2027") == 0
    assert {row["suppressed"] for row in rows_of(tmp_path / "out.csv")} == {"true", "false"}
    capsys.readouterr()
    assert command(tmp_path, "--suppress-below", "few") == 2
    assert "suppress_below must be an integer, got 'few'" in capsys.readouterr().err


# --- Crosstabs --------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["region", "age"])
@pytest.mark.parametrize("limit", [None, 4])
@pytest.mark.parametrize("margins", [False, True])
@pytest.mark.parametrize("only_positive", [False, True])
def test_a_crosstab_has_every_count_once(
    secret_file: Path, column: str, limit: int | None, margins: bool, only_positive: bool
) -> None:
    made = published(secret_file, margins=margins, only_positive=only_positive, suppress_below=limit)
    across, (other,) = made.crosstab(column), {"region", "age"} - {column}
    categories = [{None: "(missing)"}.get(one, str(one)) for one in LISTS[column]] + ["(total)"] * margins
    marks = [f"{name} suppressed" for name in categories] if limit else []
    over = ["total_over"] if margins else []
    assert across.column_names == [other, *over, *categories, *marks]
    long = {(row[other], row[column]): row for row in map(texts, made.labelled.to_pylist())}
    wide = [texts(row) for row in across.to_pylist()]
    assert len(wide) == len({row[other] for row in wide}) == len({rest for rest, _ in long})
    for row in wide:
        for category in categories:
            cell = long.pop((row[other], category), {"count": None, "suppressed": None})
            assert row[category] == cell["count"]
            assert not limit or row[f"{category} suppressed"] == cell["suppressed"]
        if margins:
            assert row["total_over"] == (other if row[other] == "(total)" else "")
    assert not long
    order = [{None: "(missing)"}.get(one, str(one)) for one in LISTS[other]] + ["(total)"] * margins
    assert [row[other] for row in wide] == [one for one in order if one in {row[other] for row in wide}]


def texts(row: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) if name in ("region", "age") else value for name, value in row.items()}


def test_a_crosstab_of_the_only_variable_is_one_row(secret_file: Path) -> None:
    made = published(secret_file, by=["region"], categories={"region": LISTS["region"]})
    assert made.crosstab("region").to_pylist() == [
        dict(zip(["N", "S", "(missing)", "(total)"], made.table["count"].to_pylist(), strict=True))
    ]


def test_a_crosstab_of_a_hierarchy_leaves_out_what_is_no_cell(secret_file: Path) -> None:
    paths = [["N", 1], ["N", 2], ["S", 1], ["S", 3], [None, 1]]
    made = published(secret_file, nested=[["region", "age"]], categories={"age": paths})
    rows = {row["region"]: row for row in made.crosstab("age").to_pylist()}
    assert (rows["N"]["3"], rows["S"]["2"], rows["(total)"]["1"]) == (None, None, None)
    cells = {(row["region"], row["age"]): row["count"] for row in made.labelled.to_pylist()}
    assert rows["S"]["3"] == cells["S", "3"]
    assert rows["(total)"]["(total)"] == cells["(total)", "(total)"]


def test_names_that_clash_in_a_crosstab_are_refused(secret_file: Path) -> None:
    with pytest.raises(ValueError, match="crosstab must be one of region, age, got 'sex'"):
        published(secret_file, crosstab="sex")
    with pytest.raises(ValueError, match="crosstab must be left out with an audit"):
        published(secret_file, crosstab="age", audit=True)
    with pytest.raises(ValueError, match="crosstab must be left out with an audit"):
        published(secret_file, audit=True).crosstab("age")
    lists = {**LISTS, "region": ["N", "S", None, "age"]}
    with pytest.raises(ValueError, match="crosstab must be a column whose .*, got 'region' with 'age'"):
        published(secret_file, categories=lists, crosstab="region")
    lists["region"][-1] = "total_over"
    with pytest.raises(ValueError, match="crosstab must be a column whose .* with 'total_over'"):
        published(secret_file, categories=lists).crosstab("region")
    lists["region"][-1] = "N suppressed"
    with pytest.raises(ValueError, match="crosstab must be a column whose .* with 'N suppressed'"):
        published(secret_file, categories=lists, suppress_below=2).crosstab("region")


def test_crosstabs_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = release(tmp_path, table='crosstab = "age"').publish()
    rows = rows_of(tmp_path / "release-2026" / "ages.csv")
    assert list(rows[0]) == ["region", "total_over", "1", "2", "3", "(total)"]
    assert [row["region"] for row in rows] == ["N", "S", "(missing)", "(total)"]
    assert (made.statement["tables"][0]["crosstab"], made.statement["tables"][0]["cells"]) == ("age", 16)
    assert "The categories of age are columns." in " ".join(made.text.split())
    assert command(tmp_path, "--crosstab", "age", "--total-label", "All") == 0
    again = rows_of(tmp_path / "out.csv")
    assert [row["All"] for row in again] == [row["(total)"] for row in rows]
    capsys.readouterr()
    assert command(tmp_path, "--crosstab", "sex") == 2
    assert "crosstab must be one of region, age, got 'sex'" in capsys.readouterr().err
    with pytest.raises(ValueError, match="crosstab must be one of region, age, got 'sex'"):
        release(tmp_path, table='crosstab = "sex"')
