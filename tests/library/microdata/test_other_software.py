"""The ONS package cell_key_perturbation on made-up people: the same counts, cell by cell."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cell_key_perturbation.create_perturbed_table import create_perturbed_table

from tablebuilder_dp import microdata

KEYS = 256
PAGE = Path(__file__).resolve().parents[3] / "site/coming-from.md"


@pytest.fixture(scope="module")
def people() -> Any:
    rng = np.random.default_rng(11)
    size = 6000
    return pd.DataFrame(
        {
            "region": rng.choice(["north", "south", "islands"], size, p=[0.8, 0.19, 0.01]),
            "age": rng.choice([10, 20, 30, 40], size, p=[0.6, 0.3, 0.09, 0.01]),
            "sex": rng.choice(["F", "M", "X"], size, p=[0.6, 0.39, 0.01]),
            "record_key": rng.integers(0, KEYS, size),
        }
    )


@pytest.fixture(scope="module")
def ptable() -> Any:
    """All counts from 1 to 750, each with a noise for every key, in no order."""
    rng = np.random.default_rng(12)
    counts = np.repeat(np.arange(1, 751), KEYS)
    noise = np.maximum(rng.integers(-4, 5, len(counts)), -counts)
    return pd.DataFrame({"pcv": counts, "ckey": np.tile(np.arange(KEYS), 750), "pvalue": noise})


def cells(table: Any, *names: str) -> dict[tuple[Any, ...], int]:
    columns = [table[name].tolist() for name in ("region", "age", "sex", *names)]
    return {tuple(row[:3]): int(row[3]) for row in zip(*columns, strict=True)}


def test_ons_has_the_same_counts(people: Any, ptable: Any, tmp_path: Path) -> None:
    theirs = create_perturbed_table(
        data=people,
        ptable=ptable,
        geog=["region"],
        tab_vars=["age", "sex"],
        record_key="record_key",
        threshold=0,
    )
    assert theirs["pre_sdc_count"].max() > 750  # where rows 501 to 750 recur
    assert (theirs["pvalue"] != 0).sum() > 20
    file = tmp_path / "ptable.csv"
    ptable.to_csv(file, index=False)
    protection = microdata.from_table(file)
    ours = microdata.perturb(
        people, by=["region", "age", "sex"], protection=protection, record_keys=["record_key"], audit=True
    ).to_pandas()
    occupied, all_ours = cells(theirs[theirs["pre_sdc_count"] > 0], "count"), cells(ours, "count")
    assert len(occupied) > 25
    assert {cell: all_ours[cell] for cell in occupied} == occupied
    assert {all_ours[cell] for cell in set(all_ours) - set(occupied)} <= {0}
    keys = cells(theirs[theirs["pre_sdc_count"] > 0], "ckey")
    assert {cell: cells(ours, "cell_key")[cell] for cell in occupied} == keys
    applied = microdata.apply(
        theirs, protection, count="pre_sdc_count", cell_key="ckey", by=["region", "age", "sex"]
    )
    assert cells(applied.to_pandas(), "count") == cells(theirs, "count")


def test_the_lines_of_the_page_give_the_same(
    people: Any, ptable: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    ptable.to_csv(tmp_path / "ptable.csv", index=False)
    monkeypatch.chdir(tmp_path)
    known = {"people": people, "ptable": ptable}
    exec("\n".join(blocks), known)  # noqa: S102 (the project's own page)
    theirs = cells(known["theirs"], "count")
    assert cells(known["again"].to_pandas(), "count") == theirs
    ours = cells(known["ours"].to_pandas(), "count")
    assert {cell: ours[cell] for cell in theirs} == theirs
