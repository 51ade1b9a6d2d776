"""Tables that were counted elsewhere: the same noise as for the records, and nothing else gets in or out."""

import gzip
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from tablebuilder_dp import microdata
from tablebuilder_dp.cli import main
from tablebuilder_dp.counts import perturbation_table, table_files
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.microdata import formats, words
from tablebuilder_dp.microdata.publish import AUDIT

DECIMALS = "i;j;p;v;p_int_ub\n0;0;1.00;0;1.00\n1;0;0.25;-1;0.25\n1;1;0.50;0;0.75\n1;2;0.25;1;1.00\n"
MARK = "m4rk"
SECRET = 7654321


@pytest.fixture(scope="module", params=["decimals", "256 keys", "2^32 keys", "by key"])
def protection(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Tables in the layouts of tau-argus and the ONS, of 256 keys and of 2^32, and of noise in no order."""
    file = tmp_path_factory.mktemp("table") / "table.txt"
    if request.param == "decimals":
        file.write_text(DECIMALS)
    elif request.param == "by key":
        noise = [0, 1, -1, 0, 0, -1, 1, 0]
        rows = [f"{count},{key},{value}" for count in range(1, 751) for key, value in enumerate(noise)]
        file.write_text("\n".join(["pcv,ckey,pvalue", *rows]) + "\n")
    else:
        keysize = 256 if request.param == "256 keys" else 2**32
        made = perturbation_table.build(OfVariance(3, 2), keysize=keysize)
        if keysize > 256:
            return microdata.from_table(made)
        table_files.write(made, file, layout="ons")
    return microdata.from_table(file)


def records(decimal: bool, size: int = 2000) -> pa.Table:
    rng = np.random.default_rng(3)
    keys = rng.random(size).round(9) if decimal else rng.integers(0, 2**32, size)
    places = rng.choice(300, size)
    return pa.table({"region": [f"r{p % 7}" for p in places], "street": [str(p) for p in places], "k": keys})


@pytest.mark.parametrize("decimal", [True, False])
def test_counts_with_their_keys_get_the_noise_of_the_records(protection: Any, decimal: bool) -> None:
    made = microdata.perturb(
        records(decimal),
        by=["region", "street"],
        protection=protection,
        record_keys=["k"],
        only_positive=True,
        audit=True,
    ).table
    cells = made.select(["region", "street", "true_count", "cell_key"])
    names: dict[str, Any] = {"by": ["region", "street"], "count": "true_count", "cell_key": "cell_key"}
    again = microdata.apply(cells, protection, **names)
    assert again.table == made.select(["region", "street", "count"])
    assert again.table["count"] != made["true_count"]
    assert len(again.table) > 200
    assert microdata.apply(cells, protection, **names, audit=True).table == made


def test_decimal_keys_are_those_of_r_and_tau_argus(tmp_path: Path) -> None:
    """The fraction of a sum in float64, off by rounding, is looked up as the exact one is."""
    (tmp_path / "table.txt").write_text(DECIMALS)
    protection = microdata.from_table(tmp_path / "table.txt")
    people = records(decimal=True)
    frame: dict[str, list[float]] = {}
    for street, key in zip(people["street"].to_pylist(), people["k"].to_pylist(), strict=True):
        frame.setdefault(street, []).append(key)
    sums = {street: float(sum(keys)) % 1 for street, keys in frame.items()}
    cells = pa.table(
        {
            "street": list(frame),
            "n": [len(keys) for keys in frame.values()],
            "ckey": pa.array(sums.values()),
        }
    )
    made = microdata.apply(cells, protection, by=["street"], count="n", cell_key="ckey").table
    from_people = microdata.perturb(people, by=["street"], protection=protection, record_keys=["k"]).table
    assert sorted(made.to_pylist(), key=str) == sorted(from_people.to_pylist(), key=str)
    below = pa.table({"g": [*"abc"], "n": [5, 5, 5], "c": np.nextafter([1.0, 0.25, 0.75], 0)})
    audit = microdata.apply(below, protection, by=["g"], count="n", cell_key="c", audit=True).table
    assert audit["noise"].to_pylist() == [-1, 0, 1]  # 1 − 2^−53 is 0, and 0.25 is no longer below 0.25


def test_a_decimal_key_at_the_end_of_an_interval_has_the_next_noise(tmp_path: Path) -> None:
    """Ends and keys often have the same digits; an end in 2^32 parts is on the wrong side of such a key."""
    ends = {"0.00000003": -1, "0.29000000": 0, "0.57000001": 2, "0.99999999": 1, "1.00000000": 3}
    starts = [Fraction(), *map(Fraction, ends)]
    lines = [
        f"1;{1 + noise};{float(Fraction(end) - start):.8f};{noise};{end}"
        for start, (end, noise) in zip(starts, ends.items(), strict=False)
    ]
    (tmp_path / "table.txt").write_text("i;j;p;v;p_int_ub\n0;0;1;0;1\n" + "\n".join(lines) + "\n")
    protection = microdata.from_table(tmp_path / "table.txt")
    keys = [Fraction(end) + off * Fraction(1, 10**8) for end in list(ends)[:-1] for off in (-1, 0)]
    noise = [next(value for end, value in ends.items() if key < Fraction(end)) for key in keys]
    cells = pa.table({"g": range(len(keys)), "n": [1] * len(keys), "k": list(map(float, keys))})
    made = microdata.apply(cells, protection, by=["g"], count="n", cell_key="k", audit=True)
    assert made.table["noise"].to_pylist() == noise
    assert made.table["cell_key"].to_pylist() == list(map(float, keys))
    assert made.statement["noise"]["keysize"] == 10**8
    people = microdata.perturb(cells, by=["g"], protection=protection, record_keys=["k"], audit=True).table
    assert people["noise"].to_pylist() == noise
    assert people.select(["true_count", "cell_key", "noise"]) == made.table.select(list(AUDIT))


def written(table: pa.Table, how: str, folder: Path) -> Any:
    """A table as a file or in memory, in the way of an office."""
    columns = {name: table[name].to_pylist() for name in table.column_names}
    texts = [[str(value) for value in row] for row in zip(*columns.values(), strict=True)]
    path = folder / "counts.csv"
    if how == "arrow":
        return table
    if how == "dictionary":
        kept = {name: table[name].dictionary_encode() for name in table.column_names}
        return pa.table(kept)
    if how == "parquet":
        pyarrow.parquet.write_table(table, folder / "counts.parquet")
        return folder / "counts.parquet"
    if how == "ours":
        formats.write(table, path)
        return str(path)
    if how == "comma":
        lines = [";".join(value.replace(".", ",") for value in row) for row in [list(columns), *texts]]
        path.write_bytes("\r\n".join(lines).encode("cp1252"))
        return microdata.Csv(path, encoding="cp1252")
    lines = ["\t".join(row) for row in texts]
    path = folder / "counts.tsv.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode("utf-16")))
    return microdata.Csv(path, header=False)


@pytest.mark.parametrize("how", ["dictionary", "parquet", "ours", "comma", "bare"])
@pytest.mark.parametrize("decimal", [True, False])
def test_files_of_all_kinds_and_tables_give_the_same(tmp_path: Path, how: str, decimal: bool) -> None:
    rng = np.random.default_rng(5)
    keys = rng.random(40) if decimal else rng.integers(0, 2**32, 40)
    table = pa.table({"ort": [f"Ö{n}" for n in range(40)], "n": [0, *range(1, 40)], "k": keys})
    protection = microdata.from_table(perturbation_table.build(OfVariance(3, 2), keysize=2**32))
    place, count, key = ["column_1", "column_2", "column_3"] if how == "bare" else ["ort", "n", "k"]
    expected = microdata.apply(table, protection, by=["ort"], count="n", cell_key="k").table
    source = written(table, how, tmp_path)
    found = microdata.apply(source, protection, by=[place], count=count, cell_key=key).table
    assert found["count"] == expected["count"]
    assert found.columns[0].cast(pa.string()) == expected["ort"].cast(pa.string())
    assert found.num_columns == 2


def test_numbers_as_r_and_pandas_write_them() -> None:
    protection = microdata.from_table(perturbation_table.build(OfVariance(3, 2), keysize=2**32))
    numbers = [100000, 12, 0, 1]
    keys = [3_000_000_000, 4_000_000_000, 5, 2_000_000_000]
    names: dict[str, Any] = {"by": ["g"], "count": "n", "cell_key": "k"}
    usual = microdata.apply(pa.table({"g": [*"abcd"], "n": numbers, "k": keys}), protection, **names)
    for form in (["1e+05", "12", "0", "1"], ["100000.0", "12.0", "0.0", "1.0"]):
        for places in (
            [float(key) for key in keys],
            [str(key) for key in keys],
            ["3e+09", "4e9", "5", "2e9"],
        ):
            table = pa.table({"g": [*"abcd"], "n": form, "k": places})
            assert microdata.apply(table, protection, **names).table == usual.table
    small = pa.table({"g": [*"abcd"], "n": numbers, "k": ["1e-05", "0", " ,5", "0.25"]})
    assert len(microdata.apply(small, protection, **names).table) == 4


NO_COUNT = "count must be a whole number from 0 to 1000000000000000, which 'n' is not in "
NO_KEY = "cell_key must be a whole number from 0 to 4294967295, or a decimal in [0, 1), which 'k' is not in "


@pytest.mark.parametrize(
    ("counts", "keys", "message"),
    [
        ([1, None, None], [1, 2, 3], "count must be given for every cell, which 'n' is not in 2 cells"),
        ([1.0, 2.0, np.nan], [1, 2, 3], "count must be given for every cell, which 'n' is not in 1 cell, "),
        ([1, SECRET, -SECRET], [1, 2, 3], NO_COUNT + "1 cell, first in row 3"),
        ([0.5, 1, 2], [1, 2, 3], NO_COUNT + "1 cell, first in row 1"),
        ([1, np.inf, 2], [1, 2, 3], NO_COUNT + "1 cell, first in row 2"),
        (["1", MARK, ""], [1, 2, 3], NO_COUNT + "2 cells, first in row 2"),
        (["1", "1.000", "2"], [1, 2, 3], NO_COUNT + "1 cell, first in row 2"),
        ([True, False, True], [1, 2, 3], "count must be a column of whole numbers, got \"'n' of type bool"),
        ([1, 2, 3], [1, None, 3], "cell_key must be given for every cell, which 'k' is not in 1 cell, first"),
        ([1, 2, 3], [1, 2, 2**32], NO_KEY + "1 cell, first in row 3"),
        ([1, 2, 3], [1, -SECRET, 2], NO_KEY + "1 cell, first in row 2"),
        ([1, 2, 3], [0.5, 1.0, 0.2], NO_KEY + "1 cell, first in row 2"),
        ([1, 2, 3], [0.5, -0.1, 1.5], NO_KEY + "2 cells, first in row 2"),
        ([1, 2, 3], ["0.5", MARK, "0,2"], NO_KEY + "1 cell, first in row 2"),
        ([1, 2, 3], ["5", "0.5", "1.5"], NO_KEY + "2 cells, first in row 1"),
        ([1, 2, 3], [b"1", b"2", b"3"], "cell_key must be a column of numbers, got \"'k' of type binary"),
        ([1, 2, 3], [1, 2, 255], "cell_key must be spread over all of [0, 4294967296), or of [0, 1), "),
        ([1, 2, 3], [SECRET * 500] * 3, "cell_key must differ between cells, but 'k' is the same in all"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_counted_and_not_shown(counts: Any, keys: Any, message: str) -> None:
    protection = microdata.from_table(perturbation_table.build(OfVariance(3, 2), keysize=2**32))
    table = pa.table({"g": range(len(counts)), "n": pa.array(counts), "k": pa.array(keys)})
    with pytest.raises(ValueError, match=re.escape(message)) as told:
        microdata.apply(table, protection, by=["g"], count="n", cell_key="k")
    assert MARK not in str(told.value)
    assert str(SECRET) not in str(told.value)


def test_a_line_is_named_where_a_row_is_one(tmp_path: Path) -> None:
    protection = microdata.from_table(perturbation_table.build(OfVariance(3, 2), keysize=2**32))
    path = tmp_path / "counts.csv"
    for header, line in ((True, "line 3"), (False, "line 2")):
        first = "g,n,k\n" if header else ""
        place, count, key = [*"gnk"] if header else ["column_1", "column_2", "column_3"]
        for group, where in (("b", line), ('"b\nb"', "row 2")):
            path.write_text(f"{first}a,1,0.5\n{group},x,0.25\n", encoding="utf-8")
            with pytest.raises(ValueError, match=f"in 1 cell, first in {where}$"):
                microdata.apply(
                    microdata.Csv(path, header=header), protection, by=[place], count=count, cell_key=key
                )


def test_a_count_past_the_end_of_the_table_is_refused(tmp_path: Path) -> None:
    made = perturbation_table.PerturbationTable(
        perturbation_table.build(OfVariance(3, 2), keysize=2**32).rows, period=0
    )
    table = pa.table({"g": [*"abc"], "n": [3, 4, 1000], "k": [0.1, 0.5, 0.9]})
    told = "^count must be at most 3, where the perturbation table ends, which 'n' is not in 2 cells, first"
    with pytest.raises(ValueError, match=told):
        microdata.apply(table, microdata.from_table(made), by=["g"], count="n", cell_key="k")


def test_only_the_columns_that_describe_the_cells_are_published() -> None:
    """A column of another tool may have the true count under any name: none goes out by itself."""
    protection = microdata.from_table(perturbation_table.build(OfVariance(3, 2), keysize=2**32))
    table = pa.table({"g": ["a", "b"], "n": [1, 2], "k": [0.5, 0.25], "pert": [1, 0], "o": [" 1", "2.00"]})
    options: dict[str, Any] = {"count": "n", "cell_key": "k"}
    assert microdata.apply(table, protection, by=["g"], **options).table.column_names == ["g", "count"]
    for by in (["n"], ["k"], ["count"], [], ["g", "g"], "g"):
        with pytest.raises(ValueError, match="^by must be "):
            microdata.apply(table.append_column("count", [[1, 2]]), protection, by=by, **options)
    options["by"] = ["g"]
    with pytest.raises(ValueError, match="^cell_key must be another column than count, got 'n'"):
        microdata.apply(table, protection, **options | {"cell_key": "n"})
    with pytest.raises(ValueError, match="^cell_key must be one of g, n, k, pert, o, got 'ck'"):
        microdata.apply(table, protection, **options | {"cell_key": "ck"})


def test_a_cell_is_published_once() -> None:
    """A cell that is listed twice, with two keys, would have two noises."""
    protection = microdata.from_table(perturbation_table.build(OfVariance(3, 2), keysize=2**32))
    names: dict[str, Any] = {"count": "n", "cell_key": "k"}
    table = pa.table({"g": ["a", None, "a"], "h": [1, 1, 1], "n": [5, 5, 5], "k": [0.1, 0.9, 0.6]})
    for cells in (table, table.set_column(0, "g", table["g"].dictionary_encode())):
        with pytest.raises(ValueError, match="^by must name columns that tell the cells apart, which g, h"):
            microdata.apply(cells, protection, by=["g", "h"], **names)
    different = table.set_column(1, "h", [[1, 1, 2]])
    assert len(microdata.apply(different, protection, by=["g", "h"], **names).table) == 3


def test_small_published_counts_are_left_out_and_marked(tmp_path: Path) -> None:
    protection = microdata.from_table(perturbation_table.build(OfVariance(3, 2), keysize=2**32))
    cells = pa.table({"g": [str(n) for n in range(30)], "n": range(30), "k": [n / 30 for n in range(30)]})
    names: dict[str, Any] = {"by": ["g"], "count": "n", "cell_key": "k"}
    whole = microdata.apply(cells, protection, **names).table["count"].to_pylist()
    made = microdata.apply(cells, protection, **names, suppress_below=10)
    assert made.table["count"].to_pylist() == [None if count < 10 else count for count in whole]
    assert made.table["suppressed"].to_pylist() == [count < 10 for count in whole]
    assert made.statement["suppress_below"] == 10
    assert "below 10" in " ".join(words.words({"table": "t.csv", **made.statement}).split())
    with pytest.raises(ValueError, match="^suppress_below must be an integer from 1"):
        microdata.apply(cells, protection, **names, suppress_below=0)


def test_a_promise_about_a_whole_table_and_known_keys_of_empty_cells_are_refused() -> None:
    table = pa.table({"g": [*"abc"], "n": [0, 0, 2], "k": [0.0, 0.0, 0.5]})
    whole = microdata.design(1, "1e-3", cells=1)
    with pytest.raises(
        ValueError, match="^protection must be a table from elsewhere or a design for one cell"
    ):
        microdata.apply(table, whole, by=["g"], count="n", cell_key="k")
    with pytest.raises(TypeError, match="^protection must be what from_table or design_per_cell gives"):
        microdata.apply(table, "table.csv", by=["g"], count="n", cell_key="k")  # type: ignore[arg-type]
    signed = microdata.design_per_cell(1, "1e-2")
    with pytest.raises(
        ValueError, match="^cell_key must be random for empty cells too, .* in all 2 of them$"
    ):
        microdata.apply(table, signed, by=["g"], count="n", cell_key="k")
    rows = microdata.design_per_cell(1, "1e-2", small_counts="rows")
    assert microdata.apply(table, rows, by=["g"], count="n", cell_key="k").table["count"].to_pylist()[:2] == [
        0,
        0,
    ]


@pytest.mark.parametrize("small", ["signed", "clamped", "rows", None])
def test_the_statement_promises_one_cell_and_says_what_it_assumes(small: str | None) -> None:
    if small is None:
        noise = microdata.from_table(perturbation_table.build(OfVariance(3, 2), keysize=2**32))
    else:
        noise = microdata.design_per_cell(1, "1e-2", small_counts=small)
    table = pa.table({"g": ["a", "b"], "n": [1, 2], "k": [0.5, 0.25]})
    made = microdata.apply(table, noise, by=["g"], count="n", cell_key="k")
    facts = made.statement
    assert facts["whole_table"] == {"epsilon": "inf", "delta": 1.0, "loss_above_epsilon": 1.0}
    alone = microdata.perturb(
        pa.table({"g": ["a"], "k": [0.5]}),
        by=["g"],
        protection=microdata.design_per_cell(1, "1e-2", small_counts="rows"),
        keys="sums",
        record_keys=["k"],
    ).statement
    if small == "rows":
        assert facts["one_cell"] == alone["one_cell"]
    assert set(facts["one_cell"]) >= {"others_from_0"}
    json.dumps(facts, allow_nan=False)
    text = " ".join(words.words({"table": "t.csv", **facts}).split())
    assert "Neither epsilon nor delta is promised for more than one published count" in text
    assert "This is the office's assumption: the tool has seen the keys, not how they were made." in text
    assert ("those of empty cells too" in text) == (small in ("signed", "clamped"))
    assert "Nobody was left out" not in text
    assert words.in_short(facts).endswith("nothing is promised about several.")


def test_the_command_writes_what_the_function_makes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.txt"
    table.write_text(DECIMALS)
    counts = tmp_path / "counts.txt"
    counts.write_bytes("Köln|3|0.1|9\nBonn|0|0.2|9\nUlm|4|0.9|9\n".encode("cp1252"))
    out = tmp_path / "out.csv"
    call = ["apply", str(counts), "--table", str(table), "--count", "column_2", "--cell-key", "column_3"]
    call += ["--delimiter", "|", "--encoding", "cp1252", "--no-header", "--by", "column_1", "-o", str(out)]
    assert main.main(call) == 0
    said = capsys.readouterr().out
    assert out.read_text("utf-8") == '"column_1","count"\n"Köln",2\n"Bonn",0\n"Ulm",5\n'
    assert Path(f"{out}.statement.txt").read_text("utf-8") in said
    facts = json.loads(Path(f"{out}.statement.json").read_text("utf-8"))
    assert (facts["table"], facts["keys"], facts["noise"]["source"]) == ("out.csv", "given", "table.txt")
    assert main.main([*call, "--json", "--audit"]) == 0
    assert json.loads(capsys.readouterr().out)["confidential"] is True
    assert out.stat().st_mode & 0o777 == 0o600
    assert out.read_text("utf-8").startswith(
        '"column_1","count","true_count","cell_key","noise"\n"Köln",2,3,'
    )
    before = out.read_bytes()
    for wrong, told in (
        ("column_9", "count must be one of column_1, column_2, column_3, column_4, got"),
        ("column_1", "by must be one or more columns, each once, without column_1,"),
    ):
        bad = [wrong if part == "column_2" else part for part in call]
        assert main.main(bad) == 2
        err = capsys.readouterr().err
        assert err.startswith(f"tablebuilder-dp: {told}")
        assert "Köln" not in err
    for place in (counts, table):
        assert main.main([*call[:-1], str(place)]) == 2
        capsys.readouterr()
    assert out.read_bytes() == before
    assert counts.read_bytes().count(b"|") == 9
