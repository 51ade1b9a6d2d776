"""Text files as Europe writes them, on the command line."""

import json
from pathlib import Path

import pytest

from tablebuilder_dp import microdata
from tablebuilder_dp.cli.main import main

ROWS = "Zürich;klein;1\nGenève;groß;2\nZürich;groß;3\n"


@pytest.fixture
def office(tmp_path: Path) -> Path:
    microdata.make_secret(tmp_path / "key.bin", seed=1)
    (tmp_path / "lists.json").write_text(
        json.dumps({"column_1": ["Zürich", "Genève"], "column_2": ["klein", "groß"]}), encoding="utf-8"
    )
    (tmp_path / "people.txt").write_bytes(ROWS.encode("cp1252"))
    return tmp_path


def perturb(office: Path, *options: str) -> int:
    asked = ["perturb", str(office / "people.txt"), "--by", "column_1", "column_2"]
    asked += ["--epsilon", "1", "--delta", "1e-3", "--secret-file", str(office / "key.bin"), "--edition", "1"]
    asked += ["--categories", str(office / "lists.json"), "-o", str(office / "out.csv"), "--audit"]
    return main([*asked, *options])


def test_how_a_file_is_written_can_be_given(office: Path) -> None:
    assert perturb(office, "--encoding", "cp1252", "--delimiter", ";", "--no-header") == 0
    lines = (office / "out.csv").read_text("utf-8").splitlines()
    assert lines[0].startswith('"column_1","column_2","count","true_count"')
    assert [line.split(",")[:2] + line.split(",")[3:4] for line in lines[1:]] == [
        ['"Zürich"', '"klein"', "1"],
        ['"Zürich"', '"groß"', "1"],
        ['"Genève"', '"klein"', "0"],
        ['"Genève"', '"groß"', "1"],
    ]


def test_an_encoding_is_asked_for_and_nothing_is_written(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert perturb(office, "--no-header") == 2
    assert "encoding must be given for a text file that is not in UTF-8" in capsys.readouterr().err
    assert not (office / "out.csv").exists()


def test_tabs_have_a_name(office: Path) -> None:
    (office / "people.txt").write_text(ROWS.replace(";", "\t"), encoding="utf-8")
    assert perturb(office, "--delimiter", "tab", "--no-header") == 0


def test_an_id_may_have_several_columns(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (office / "people.csv").write_text("household,person\n1,1\n1,2\n2,1\n", encoding="utf-8")
    asked = ["keys", str(office / "people.csv"), "--secret-file", str(office / "key.bin")]
    assert main([*asked, "--id", "household", "person", "-o", str(office / "keyed.csv")]) == 0
    assert main([*asked, "--id", "household", "-o", str(office / "other.csv")]) == 2
    assert "id must differ from record to record" in capsys.readouterr().err


def test_ids_that_look_alike_are_told_on_the_terminal(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (office / "people.csv").write_text("id,x\na,1\na ,2\n", encoding="utf-8")
    asked = ["keys", str(office / "people.csv"), "--secret-file", str(office / "key.bin"), "--id", "id"]
    assert main([*asked, "-o", str(office / "keyed.csv")]) == 0
    told = capsys.readouterr().err
    assert told.startswith("tablebuilder-dp: inside the office: 1 of the ids in 'id' differ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epsilon", "0,5"], "epsilon must be a number in (0, 500] with a decimal point, got '0,5'"),
        (["--delimiter", ";;"], "delimiter must be one character, such as ;, got ';;'"),
    ],
)
def test_what_is_typed_wrongly_is_told(
    office: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert perturb(office, "--no-header", "--encoding", "cp1252", *options) == 2
    assert message in capsys.readouterr().err


def test_a_column_among_many_is_looked_for_by_its_name(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table({f"variable_{number}": ["a"] for number in range(3000)})
    pyarrow.parquet.write_table(table, office / "people.parquet")
    asked = ["perturb", str(office / "people.parquet"), "--epsilon", "1", "--delta", "1e-3", "--edition", "1"]
    asked += ["--secret-file", str(office / "key.bin"), "--categories-from-data", "-o", str(office / "o.csv")]
    assert main([*asked, "--by", "varable_17"]) == 2
    told = capsys.readouterr().err
    assert "by must be one of the 3000 columns, such as variable_17" in told
    assert len(told) < 200
    assert main([*asked, "--by", "variable_1,variable_2"]) == 2
    assert "each by itself, got 'variable_1,variable_2'" in capsys.readouterr().err
