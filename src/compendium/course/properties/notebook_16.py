"""Exercises of notebook 16 that have many right answers."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from compendium.course.properties import numbers
from tablebuilder_dp import design


def exercise_16_3(answer: Any) -> str:
    """An (ε, δ) with small errors in cells of fifty people, at which the first attack is seldom right."""
    given = numbers(answer, 2)
    if given is None or not (0.01 <= given[0] <= 10 and 1e-12 <= given[1] <= 1e-4):
        return "The answer must be epsilon from 0.01 to 10 and delta from 1e-12 to 0.0001."
    pmf = design.guide(float(given[0]), float(given[1])).pmf
    far = float(pmf[abs(np.arange(len(pmf)) - len(pmf) // 2) > 5].sum())
    right = (1 + float(pmf.max())) / 2
    if far > 0.05:
        return f"A cell of 50 people is far off with probability {far:.4f}."
    return "" if right <= 0.58 else f"The first attack is right with probability {right:.4f}."


def exercise_16_4(answer: Any) -> str:
    """Somebody whom a published table with margins gives away."""
    values = numbers([answer], 1)
    if values is None:
        return "The answer must be the person_id of somebody, an integer."
    people, cells = _small_census()
    if values[0] not in people:
        return "Nobody in this census has that person_id."
    region, age, sex = people[int(values[0])]
    shown = []
    for over in ("", "age", "region", "region, age"):  # a cell may be a margin itself
        place = (None if "region" in over else region, None if "age" in over else age)
        total = cells[*place, None, f"{over}, sex".removeprefix(", ")]
        parts = (cells[*place, other, over] for other in {"F", "M", None} - {sex})
        near = (part for part in parts if part["true_count"] == total["true_count"] - 1 > 0)
        shown += [(part["count"], total["count"]) for part in near]
    if not shown:
        return "No cell has everybody but this person of its total over sex, and somebody."
    return "" if any(part != whole for part, whole in shown) else "Cell and total show the same count."


@cache
def _small_census() -> tuple[dict[int, tuple[Any, ...]], dict[tuple[Any, ...], dict[str, int]]]:
    """Region, age and sex of 20 000 people, and the cells of their table by these, with margins."""
    from pyarrow import parquet  # both here, as they bring a database along

    from tablebuilder_dp import microdata

    by = ["region", "age", "sex"]
    with tempfile.TemporaryDirectory() as folder:
        people, keyed = Path(folder, "people.parquet"), Path(folder, "keyed.parquet")
        secret = Path(folder, "secret")
        microdata.write_census(people, records=20_000, seed=1)
        microdata.make_secret(secret, seed=1)
        microdata.add_keys(people, keyed, id="person_id", secret_file=secret)
        noisy = microdata.design_per_cell("0.5", "1e-4", small_counts="rows")
        made = microdata.perturb(keyed, by=by, protection=noisy, keys="sums", margins=True, audit=True)
        known = parquet.read_table(people).to_pylist()
    cells = {(*map(row.get, by), row["total_over"]): row for row in made.table.to_pylist()}
    return {person["person_id"]: tuple(map(person.get, by)) for person in known}, cells
