"""Hierarchies as tau-argus writes them: a code a line, depth by leading @."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from tablebuilder_dp import microdata

AGES = "A1\n@1\nA2\n@2\n@3\n4\n"
"""Two groups of ages, and one age without a group."""

DEEP = "North\n@N1\n@@N11\n@@N12\n@N2\nSouth\n@S1\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "codes.hrc"
    path.write_text(text, encoding="utf-8")
    return path


def test_paths_run_from_coarse_to_fine_and_have_one_length(tmp_path: Path) -> None:
    assert microdata.read_hierarchy(written(tmp_path, AGES)) == [
        ["A1", "1"],
        ["A2", "2"],
        ["A2", "3"],
        ["4", "4"],
    ]
    assert microdata.read_hierarchy(written(tmp_path, DEEP)) == [
        ["North", "N1", "N11"],
        ["North", "N1", "N12"],
        ["North", "N2", "N2"],
        ["South", "S1", "S1"],
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A\n@@B\n", "line 2 of .* must be a new code, at most one level .* got '@@B'"),
        ("@A\n", "line 1 of .* must be a new code"),
        ("A\n@1\nB\n@1\n", "line 4 of .* must be a new code"),
        ("A\n@\n", "line 2 of .* must be a new code"),
        ("\n", "must be a hierarchy with a code a line, got 'nothing'"),
    ],
)
def test_what_is_no_hierarchy_is_refused_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        microdata.read_hierarchy(written(tmp_path, text))


def test_a_release_takes_its_paths_from_the_file(tmp_path: Path) -> None:
    microdata.make_secret(tmp_path / "key.bin", seed=1)
    written(tmp_path, AGES)
    (tmp_path / "release.toml").write_text(
        """
        edition = "1"
        secret = "key.bin"
        folder = "out"
        [privacy]
        epsilon = 1
        delta = 1e-3
        [variables]
        ages = {hierarchy = ["group", "age"], codes = "codes.hrc"}
        [[table]]
        name = "t"
        by = ["ages"]
        margins = true
        """,
        encoding="utf-8",
    )
    release = microdata.Release.from_toml(tmp_path / "release.toml")
    assert release.cells_changed == 3  # by age, by group, all: not the four of two crossed columns
    above = dict(path[::-1] for path in microdata.read_hierarchy(tmp_path / "codes.hrc"))
    ages = ["1", "2", "2", "3", "4"]
    people = pa.table({"group": [above[age] for age in ages], "age": ages})
    made = release.publish(people).tables["t"].to_pylist()
    rows = [(row["group"], row["age"]) for row in made]
    groups = Counter(group for group, age in rows if age != "(total)")
    assert ("A2", "(total)") in rows
    assert (
        {group for group, age in rows if age == "(total)"}
        == {"(total)", "A2"}
        == {"(total)"} | {group for group, ages in groups.items() if ages > 1}
    )
    assert len(rows) == len(set(rows)) == 4 + 1 + 1  # of a group with one age only the age
    assert release.plan().data["tables"][0]["cells"] == len(rows)
    text = (tmp_path / "release.toml").read_text().replace('["group", "age"]', '["age"]')
    (tmp_path / "release.toml").write_text(text)
    with pytest.raises(ValueError, match="variables.ages.categories must be different categories, got"):
        microdata.Release.from_toml(tmp_path / "release.toml")
