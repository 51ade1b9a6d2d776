"""Tables of pandas and Polars, in and out, and how results show themselves."""

import html
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tablebuilder_dp import microdata
from tablebuilder_dp.counts import perturbation_table
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.microdata import results
from tablebuilder_dp.microdata.statement import up

SEXES = ["F", "M", "X", None]
REGIONS = ["south", "north", "nowhere"]
PEOPLE = pa.table(
    {
        "region": ["north", "south", "south"] * 40,
        "sex": ["F", "M", None, "M"] * 30,
        "age": pa.array([20, 30, 40] * 40, pa.int64()),
        "person": [f"p{number}" for number in range(120)],
    }
)
NOISE = microdata.design(1, "1e-3", cells=1)


@pytest.fixture
def options(tmp_path: Path) -> dict[str, Any]:
    microdata.make_secret(tmp_path / "key.bin", seed=3)
    lists = {"region": REGIONS, "sex": SEXES, "age": [20, 30, 40]}
    return {"secret_file": tmp_path / "key.bin", "edition": "1", "protection": NOISE, "categories": lists}


def as_pandas(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas()


def as_arrow_backed(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def as_categorical(table: pa.Table) -> pd.DataFrame:
    frame = table.to_pandas()
    frame["region"] = pd.Categorical(frame["region"], REGIONS)
    frame["sex"] = pd.Categorical(frame["sex"], SEXES[:3])
    return frame


def as_polars(table: pa.Table) -> Any:
    return pl.from_arrow(table)


def as_lazy(table: pa.Table) -> Any:
    return as_polars(table).lazy()


def as_enum(table: pa.Table) -> Any:
    return as_polars(table).with_columns(pl.col("region").cast(pl.Enum(REGIONS)))


FRAMES = pytest.mark.parametrize(
    "made", [as_pandas, as_arrow_backed, as_categorical, as_polars, as_lazy, as_enum]
)


@FRAMES
def test_frames_have_the_counts_of_arrow(made: Callable[[pa.Table], Any], options: dict[str, Any]) -> None:
    """Noise by keys of records does not depend on the bytes of the table, so all must be the same."""
    rows = microdata.design_per_cell(1, "1e-2", small_counts="rows")
    keyed = microdata.add_keys(PEOPLE, id="person", secret_file=options["secret_file"])
    again = microdata.add_keys(made(PEOPLE), id="person", secret_file=options["secret_file"])
    assert again["record_key_1"] == keyed["record_key_1"]
    wanted = {**options, "protection": rows, "by": ["region", "sex", "age"], "margins": True, "audit": True}
    expected = microdata.perturb(keyed, keys="records", **wanted).table
    assert microdata.perturb(made(keyed), keys="records", **wanted).table == expected
    cells = microdata.perturb(made(PEOPLE), **{**options, "by": ["region", "sex"], "audit": True}).table
    counted = microdata.perturb(PEOPLE, **{**options, "by": ["region", "sex"], "audit": True}).table
    assert cells["true_count"] == counted["true_count"]
    assert sum(cells["true_count"].to_pylist()) == 120


@FRAMES
def test_a_release_and_given_counts_take_frames_too(
    made: Callable[[pa.Table], Any], tmp_path: Path, options: dict[str, Any]
) -> None:
    text = """
    edition = "1"
    secret = "key.bin"
    [privacy]
    epsilon = 1
    delta = 1e-3
    [variables.region]
    categories = ["south", "north", "nowhere"]
    [[table]]
    name = "regions"
    by = ["region"]
    """
    (tmp_path / "release.toml").write_text(text, encoding="utf-8")
    published = microdata.Release.from_toml(tmp_path / "release.toml").publish(made(PEOPLE))
    assert published.tables["regions"]["region"].to_pylist() == REGIONS
    counts = pa.table({"region": REGIONS, "sex": SEXES[:3], "n": [5, 6, 0], "k": [0.5, 0.2, 0.7]})
    noise = microdata.from_table(perturbation_table.build(OfVariance(3, 2), keysize=2**32))
    names: dict[str, Any] = {"by": ["region", "sex"], "count": "n", "cell_key": "k"}
    applied = microdata.apply(made(counts), noise, **names).table
    assert applied["count"] == microdata.apply(counts, noise, **names).table["count"]


def test_levels_of_a_categorical_are_its_categories(options: dict[str, Any]) -> None:
    rows = microdata.design_per_cell(1, "1e-2", small_counts="rows")
    keyed = microdata.add_keys(as_categorical(PEOPLE), id="person", secret_file=options["secret_file"])
    for frame in (keyed, keyed.to_pandas()):
        made = microdata.perturb(frame, by=["region", "sex"], protection=rows, keys="sums", audit=True)
        assert made.table["region"].to_pylist()[::4] == REGIONS
        assert made.table["sex"].to_pylist()[:4] == SEXES


@pytest.mark.parametrize(
    "form",
    [
        pd.Index,
        pd.Series,
        pd.Categorical,
        lambda values: pd.Series(values, dtype="string"),
        lambda values: np.array(values, dtype=object),
        pl.Series,
        pa.array,
        lambda values: pa.chunked_array([values]),
        tuple,
    ],
)
def test_categories_may_be_columns_of_others(form: Callable[[Any], Any], options: dict[str, Any]) -> None:
    lists = {"sex": [*SEXES[:2], None], "region": REGIONS}
    asked: dict[str, Any] = {**options, "by": ["sex", "region"]}
    expected = microdata.perturb(PEOPLE, **{**asked, "categories": lists}).table
    given = {name: form(values) for name, values in lists.items()}
    if form is pd.Categorical:  # its own order is that of its values
        assert list(given["region"]) == REGIONS
    assert microdata.perturb(PEOPLE, **{**asked, "categories": given}).table == expected


def test_numbers_and_paths_may_be_arrays(options: dict[str, Any]) -> None:
    ages = {**options, "by": ["age"], "categories": {"age": np.array([20, 30, 40])}}
    assert microdata.perturb(PEOPLE, **ages).table["age"].to_pylist() == [20, 30, 40]
    paths = [("north", 20), ("south", 30), ("south", 40)]
    asked = {**options, "by": ["region", "age"], "nested": [["region", "age"]]}
    expected = microdata.perturb(PEOPLE, **{**asked, "categories": {"age": paths}}).table
    for form in (pd.MultiIndex.from_tuples(paths), np.array(paths, dtype=object)):
        assert microdata.perturb(PEOPLE, **{**asked, "categories": {"age": form}}).table == expected


def test_results_become_frames(options: dict[str, Any]) -> None:
    made = microdata.perturb(PEOPLE, **{**options, "by": ["sex"]})
    assert made.to_pandas().equals(made.labelled.to_pandas())
    assert made.to_pandas()["sex"].to_list() == ["F", "M", "X", "(missing)"]
    assert made.to_polars()["count"].to_list() == made.table["count"].to_pylist()
    wide = microdata.perturb(PEOPLE, **{**options, "by": ["sex"]}, missing_label="n/a", crosstab="sex")
    assert wide.to_polars().columns == list(wide.to_pandas()) == ["F", "M", "X", "n/a"]
    release = microdata.PublishedRelease(Path("a"), {"sex": made.table}, made.statement)
    assert list(release.to_pandas()) == list(release.to_polars()) == ["sex"]
    assert release.to_pandas()["sex"].equals(made.table.to_pandas())
    assert release.to_polars()["sex"].equals(results.to_polars(made.table))


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_missing_package_is_named(
    name: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = microdata.perturb(PEOPLE, **{**options, "by": ["sex"]})
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"^{name} must be installed for to_{name}: pip install {name}$"):
        getattr(made, f"to_{name}")()


def test_a_result_shows_its_first_rows_and_its_promise(options: dict[str, Any]) -> None:
    people = PEOPLE.append_column("<b>", PEOPLE["person"])
    lists = {"<b>": PEOPLE["person"].to_pylist()}
    made = microdata.perturb(people, **{**options, "by": ["<b>"], "categories": lists})
    shown = made._repr_html_()
    assert shown.count("<tr>") == results.ROWS + 1
    assert "<caption>120 rows of &lt;b&gt;, count, the first 10</caption>" in shown
    promise = f"The whole table keeps epsilon = 1 and delta = {up(made.statement['whole_table']['delta']):g}."
    assert shown.endswith(f"<p>{promise}</p>")
    assert repr(made) == f"<Published: 120 rows of <b>, count. {promise}>"
    assert "<b>" not in shown
    audit = microdata.perturb(people, **{**options, "by": ["<b>"], "categories": lists, "audit": True})
    assert audit._repr_html_().startswith("<p><strong>Confidential.</strong></p>")
    short = microdata.perturb(PEOPLE, **{**options, "by": ["sex"]})
    assert short._repr_html_().count("<td>(missing)</td>") == 1
    assert "the first" not in short._repr_html_()
    unlisted = {**options, "by": ["sex"], "categories": {}, "categories_from_data": True}
    assert "Nothing is promised without conditions" in repr(microdata.perturb(PEOPLE, **unlisted))
    one = microdata.design_per_cell(1, "1e-2")
    assert "about several" not in repr(
        microdata.perturb(PEOPLE, **{**options, "by": ["sex"], "protection": one})
    )


def test_only_the_first_tables_of_a_release_are_shown(options: dict[str, Any]) -> None:
    made = microdata.perturb(PEOPLE, **{**options, "by": ["sex"]})
    many = {f"table {number}": made.table for number in range(results.TABLES + 2)}
    shown = results.html(many, made.statement)
    assert shown.count("<table>") == results.TABLES
    assert "<p>and 2 more tables</p>" in shown
    assert html.escape("table 0: 4 rows of sex, count") in shown


def test_verbs_say_what_they_return() -> None:
    known = {"pd": pd, "pl": pl}
    for name in microdata.__all__:
        verb = getattr(microdata, name)
        if not isinstance(verb, type):
            assert get_type_hints(verb)["return"] is not Any, name
    for kind in (microdata.Published, microdata.PublishedRelease, microdata.Applied):
        for method in ("to_pandas", "to_polars"):
            assert get_type_hints(getattr(kind, method), localns=known)["return"] is not Any
