"""A made-up office: censuses of some years, code lists, a secret and the file that describes a release."""

from __future__ import annotations

import json
from pathlib import Path

from tablebuilder_dp import microdata
from tablebuilder_dp.microdata import census

RELEASE = """\
edition = "{edition}"
records = "people-{edition}.csv"
secret = "key.bin"
folder = "tables-{edition}"

[privacy]
epsilon = {epsilon!r}
delta = {delta!r}

[budget]
epsilon = {budget[0]!r}
delta = {budget[1]!r}

[variables]
age = {{codes = "age.csv", missing = true}}
sex = {{codes = "sex.csv", missing = true}}
occupation = {{codes = "occupation.csv", missing = true}}

[[table]]
name = "age by sex"
by = ["age", "sex"]
margins = true

[[table]]
name = "occupation by age"
by = ["occupation", "age"]
margins = true
"""
"""How a release is written down; the places in braces are filled by `release`."""


def opened(folder: Path, *, editions: list[str], records: int, seed: int) -> None:
    """Fill a folder with what an office has: a census for each edition, code lists, a secret from a seed."""
    microdata.make_secret(folder / "key.bin", seed=seed)
    for place, edition in enumerate(editions):
        microdata.write_census(folder / f"people-{edition}.csv", records=records, seed=seed + place)
    for name, listed in {"age": census.AGES, "sex": census.SEXES, "occupation": census.OCCUPATIONS}.items():
        lines = [name, *map(json.dumps, listed)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def release(
    folder: Path, edition: str, *, epsilon: float, delta: float, budget: tuple[float, float]
) -> microdata.Release:
    """Write the release of an edition down, as ``release-EDITION.toml``.

    Returns it as the library reads it.
    """
    file = folder / f"release-{edition}.toml"
    text = RELEASE.format(edition=edition, epsilon=epsilon, delta=delta, budget=budget)
    file.write_text(text, encoding="utf-8")
    return microdata.Release.from_toml(file)


def refusal(release: microdata.Release) -> str:
    """What is said of a release that is not published.

    Raises AssertionError where it is.
    """
    try:
        release.publish()
    except ValueError as error:
        return str(error)
    raise AssertionError(f"edition {release.edition} was published")
