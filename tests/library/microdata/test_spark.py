"""One query, two engines: Spark publishes the bytes that DuckDB does.

PySpark needs Java 17 or newer. Where one of them is missing these tests are left out, and pytest says so;
with REQUIRE_SPARK=1 in the environment that is a failure.
"""

import importlib
import logging
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from support.damaged import CSV, MARK, NOISE, PARQUET, calls, files, hidden, told
from support.people import PEOPLE, TABLES, keyed, people

from tablebuilder_dp import microdata
from tablebuilder_dp.cli import main
from tablebuilder_dp.microdata import formats, records
from tablebuilder_dp.microdata.record_keys import KEYS

SparkContext: Any = None
SparkSession: Any = None
PySparkLogger: Any = None
with suppress(ImportError):
    SparkContext = importlib.import_module("pyspark").SparkContext
    SparkSession = importlib.import_module("pyspark.sql").SparkSession
    PySparkLogger = importlib.import_module("pyspark.logger").PySparkLogger

WHOLE_TABLE = microdata.design("1", "1e-6", cells=6)
HAS_JAVA = bool(os.environ.get("JAVA_HOME") or shutil.which("java"))
if os.environ.get("REQUIRE_SPARK") and not (SparkSession and HAS_JAVA):
    raise RuntimeError("REQUIRE_SPARK is set, but PySpark or Java is missing")
BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
"""Java for short work: it compiles quickly, not well, which halves the time of small queries."""
pytestmark = [
    pytest.mark.skipif(SparkSession is None, reason="Spark left out: pip install 'tablebuilder-dp[spark]'"),
    pytest.mark.skipif(not HAS_JAVA, reason="Spark left out: it needs Java 17 or newer"),
    pytest.mark.filterwarnings("default"),  # Spark's own
]


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Start Java, once for all sessions, with its errors going to a file: what Spark logs stands there."""
    path, own = tmp_path_factory.mktemp("spark") / "log.txt", os.dup(2)
    with path.open("wb") as file, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", f"--driver-java-options '{BRIEF}' pyspark-shell")
        os.dup2(file.fileno(), 2)
        try:
            SparkContext._ensure_initialized()
        finally:
            os.dup2(own, 2)
            os.close(own)
    yield path
    end_session()


def end_session() -> None:
    """Stop the session that is there, if one is; Java stays for the next."""
    if session := SparkSession.getActiveSession():
        session.stop()


@pytest.fixture
def spark(log: Path) -> Any:
    """The session of all tests, started anew only where a test has ended it."""
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.log.level", "OFF")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )


def both(source: Any, spark: Any, **options: Any) -> list[pa.Table]:
    return [microdata.perturb(source, spark=engine, **options).table for engine in (None, spark)]


@given(people())
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
def test_engines_agree_on_files_with_odd_names_and_values(
    spark: Any, secret_file: Path, tmp_path_factory: pytest.TempPathFactory, found: tuple[pa.Table, list[str]]
) -> None:
    table, by = found
    if len({name.lower() for name in table.column_names}) < table.num_columns:
        return  # Spark does not tell such names apart
    folder = tmp_path_factory.mktemp("engines")
    formats.write(table, folder / "a.parquet")
    formats.write(table, folder / "a.csv")
    for name in ("a.parquet", "a.csv"):
        one, other = both(
            folder / name,
            spark,
            by=by,
            protection=microdata.from_table(TABLES["clamped"]),
            secret_file=secret_file,
            margins=True,
            audit=True,
        )
        assert one == other
        assert one.schema == other.schema


@pytest.mark.parametrize("margins", [False, True])
def test_bytes_are_the_same_whatever_the_order_parts_and_threads(
    spark: Any, tmp_path: Path, secret_file: Path, margins: bool
) -> None:
    drawn = np.random.default_rng(2)
    size = 5000
    table = keyed(
        {
            "region": pa.array(["N", "S", "É", None]).take(pa.array(drawn.integers(0, 4, size))),
            "age": pa.array(drawn.integers(0, 9, size), mask=drawn.random(size) < 0.02),
        }
    )
    protection = microdata.design_per_cell("0.5", "1e-2")
    options: dict[str, Any] = {"by": ["region", "age"], "margins": margins, "keys": "sums"}
    options |= {"protection": protection, "secret_file": secret_file}
    sources: list[tuple[Any, Any]] = []
    for name, parts in (("one", 1), ("many", 7)):
        folder = tmp_path / name
        folder.mkdir()
        mixed = table.take(drawn.permutation(size))
        for part in range(parts):
            formats.write(
                mixed.slice(part * size // parts, (part + 1) * size // parts - part * size // parts),
                folder / f"{part}.parquet",
            )
        sources += [(folder, None), (folder, spark)]
    written = set()
    for place, (source, engine) in enumerate(sources):
        out = tmp_path / f"out{place}"
        out.mkdir()
        microdata.perturb(source, spark=engine, **options).write(out / "t.parquet")
        written.add(tuple(sorted((path.name, path.read_bytes()) for path in out.iterdir())))
    assert len(written) == 1


@pytest.mark.parametrize("kind", ["cells", "records"])
def test_keys_of_cells_and_records_are_alike(
    spark: Any, tmp_path: Path, secret_file: Path, kind: str
) -> None:
    """The same bytes of a whole table from a file of either kind, a folder and memory, hierarchies too."""
    drawn = np.random.default_rng(3)
    table = keyed(
        {
            "region": pa.array(["N", "S", "É", None]).take(pa.array(drawn.integers(0, 4, 500))),
            "district": pa.array(drawn.integers(0, 3, 500)).cast(pa.string()),
            "sex": pa.array(["F", "M"]).take(pa.array(drawn.integers(0, 2, 500))),
        }
    )
    formats.write(table, tmp_path / "a.parquet")
    formats.write(table, tmp_path / "a.csv")
    (tmp_path / "folder").mkdir()
    for place in range(2):
        formats.write(table.slice(250 * place, 250), tmp_path / "folder" / f"{place}.parquet")
    paths = [[region, str(district)] for region in ("S", None, "N", "É", "W") for district in range(3)]
    options: dict[str, Any] = {
        "by": ["district", "sex", "region"],
        "nested": [["region", "district"]],
        "margins": True,
        "keys": kind,
        "edition": "2026",
        "secret_file": secret_file,
        "categories": {"sex": ["M", "F"], "district": paths},
        "protection": WHOLE_TABLE if kind == "cells" else microdata.design_per_cell("1", "0.01"),
    }
    noises = set()
    for place, source in enumerate((table, *(tmp_path / name for name in ("a.parquet", "a.csv", "folder")))):
        written = []
        options["journal"] = tmp_path / f"{place}.jsonl"  # one edition for all, which no journal allows
        for engine in (None, spark):
            microdata.perturb(source, spark=engine, **options).write(tmp_path / "out.parquet")
            written.append([path.read_bytes() for path in sorted(tmp_path.glob("out*"))])
        assert written[0] == written[1]
        assert len(written[0]) == 3
        noises.add(written[0][0])
    assert len(noises) == (4 if kind == "cells" else 1)  # other bytes, other noise; equal sets, equal noise


def test_releases_are_alike(spark: Any, tmp_path: Path, secret_file: Path) -> None:
    """The same bytes of all tables and of the statement, from Parquet and from CSV."""
    drawn = np.random.default_rng(4)
    table = pa.table(
        {
            name: pa.array(["x", "y", None]).take(pa.array(drawn.integers(0, 3, 400)))
            for name in ("a", "b", "c")
        }
    )
    text = "edition = '1'\n[privacy]\nepsilon = 1\ndelta = 0.001\n"
    text += "".join(f"[variables.{name}]\ncategories = ['y', 'x']\nmissing = true\n" for name in "abc")
    text += "".join(
        f"[[table]]\nname = '{''.join(by)}'\nby = {by}\nmargins = true\n"
        for by in (["a", "b"], ["c", "b"], ["a"])
    )
    (tmp_path / "release.toml").write_text(text, encoding="utf-8")
    release = microdata.Release.from_toml(tmp_path / "release.toml")
    for end in ("parquet", "csv"):
        formats.write(table, tmp_path / f"r.{end}")
        found = []
        for name, engine in (("duckdb", None), ("spark", spark)):
            chosen = replace(
                release,
                secret=secret_file,
                journal=tmp_path / f"{end}.jsonl",
                folder=tmp_path / f"{end}-{name}",
            )
            made = chosen.publish(tmp_path / f"r.{end}", spark=engine)
            found.append({path.name: path.read_bytes() for path in made.files})
        assert found[0] == found[1]
        assert len(found[0]) == 5
        assert len(chosen.history().entries) == 1


def test_tables_in_memory_and_errors_are_alike(spark: Any) -> None:
    protection = microdata.from_table(TABLES["rows"])
    one, other = both(PEOPLE, spark, by=["region", "age"], protection=protection, margins=True)
    assert one == other
    for engine in (None, spark):
        with pytest.raises(ValueError, match="by must be one of region, sex, age, .* got 'area'"):
            microdata.perturb(PEOPLE, by=["area"], protection=protection, spark=engine)
        broken = PEOPLE.set_column(3, KEYS[0], pa.array([None, *range(1, 10)], pa.int64()))
        with pytest.raises(ValueError, match="record_keys must be integers from 1 to 4294967295"):
            microdata.perturb(broken, by=["sex"], protection=protection, spark=engine)
        with pytest.raises(ValueError, match="the records cannot be read: "):
            microdata.perturb("no-such-folder/x.parquet", by=["sex"], protection=protection, spark=spark)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'x,k1,k2,k3,k4\r\n"a, b",1,2,3,4\r\n\xc3\xa9,5,6,7,8\r\n', ""),
        (b'\xef\xbb\xbfx,k1,k2,k3,k4\n"",1,2,3,4\n,5,6,7,8\n"a ""b""",5,6,7,8', ""),
        (b"x,k1,k2,k3,k4\n 7,1,2,3,4\n007,5,6,7,8\n", ""),
        (
            b"x,k1,k2,k3,k4\n\xe9,1,2,3,4\n",
            "the records cannot be read|encoding must be given for a text file that is not in UTF-8",
        ),
        (b'x,k1,k2,k3,k4\n"a"b,1,2,3,4\n', "the records cannot be read"),
        (
            b"x,x,k2,k3,k4\n1,2,3,4,5\n",
            "columns of different names, got the same in columns 1 and 2",
        ),
        (b"x,k1,k2,k3,k4\na,1,2,3\n", "the records cannot be read|record_keys must be integers"),
    ],
)
def test_csv_is_read_alike(spark: Any, tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    options: dict[str, Any] = {
        "by": ["x"],
        "protection": microdata.from_table(TABLES["rows"]),
        "record_keys": ["k1", "k2", "k3", "k4"],
    }
    if not message:
        one, other = both(path, spark, **options)
        assert one == other
        assert len(one) > 1
    for engine in (None, spark) if message else ():
        with pytest.raises(ValueError, match=message):
            microdata.perturb(path, spark=engine, **options)


def test_no_error_shows_a_record(
    spark: Any, secret_file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = {**files(tmp_path), "in memory": PARQUET["categories above 2^63"]}
    chosen = [*CSV, *(f"{name} (Parquet)" for name in PARQUET), "in memory"]
    damaged = [name for name in found if name.startswith("damaged")][::15]
    failed = 0
    for name in [*chosen, *damaged]:
        asked = calls(found[name], secret_file, spark=spark)
        for what in ("by g", "categories", "cells", *(["whole"] if "Parquet" in name else [])):
            said = told(asked[what]) + capfd.readouterr().err
            failed += bool(said)
            try:
                hidden(said)
            except AssertionError as error:
                raise AssertionError(f"{name}, {what}: {error}") from None
    assert failed > 60


def test_errors_are_not_logged_either(spark: Any, capfd: pytest.CaptureFixture[str]) -> None:
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    seen: list[str] = []
    logger.handlers[:] = [logging.StreamHandler(SimpleNamespace(write=seen.append, flush=lambda: None))]
    wrong = f"SELECT CAST('{MARK}' AS INT)"

    def ask() -> None:
        with records.opened(PEOPLE, spark=spark) as found:
            found.query(wrong)

    hidden(said := told(ask))
    assert "the records cannot be read: CAST_INVALID_INPUT" in said
    assert seen == []
    with pytest.raises(Exception, match=MARK):
        spark.sql(wrong).toArrow()
    assert MARK in "".join(seen)


def test_sparks_own_log_shows_no_record(
    spark: Any, secret_file: Path, log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of a session that the command starts and ends itself; that of a caller logs what the caller wants."""
    found = files(tmp_path)
    names = ("too many fields", "text after a quote", "ids that are not UTF-8 (Parquet)")
    spark.sparkContext.setLogLevel("WARN")
    told(calls(found[names[0]], secret_file, spark=spark)["by g"])
    assert MARK in log.read_text()
    end_session()
    before = log.stat().st_size
    call = ["--by", "g", *NOISE, "-o", str(tmp_path / "o.csv")]
    codes = [main.main(["perturb", str(found[name]), *call, "--spark", "local[1]"]) for name in names]
    assert codes[:2] == [2, 2]
    assert SparkSession.getActiveSession() is None
    hidden(capfd.readouterr().err)
    hidden(log.read_bytes()[before:].decode())


def test_folders_are_read_alike(spark: Any, tmp_path: Path) -> None:
    for name, region in (
        ("a.parquet", "N"),
        ("b.PARQUET", "S"),
        ("_x.parquet", "hidden"),
        (".y.parquet", "hidden"),
    ):
        formats.write(keyed({"region": [region]}), tmp_path / name)
    one, other = both(tmp_path, spark, by=["region"], protection=microdata.from_table(TABLES["rows"]))
    assert one == other
    assert one["region"].to_pylist() == ["N", "S"]
    (tmp_path / "p[1].parquet").write_bytes((tmp_path / "a.parquet").read_bytes())
    with pytest.raises(ValueError, match="records must be a path without .* for Spark"):
        microdata.perturb(
            tmp_path / "p[1].parquet",
            by=["region"],
            protection=microdata.from_table(TABLES["rows"]),
            spark=spark,
        )


def test_views_of_the_session_are_left_alone(spark: Any) -> None:
    spark.range(3).createOrReplaceTempView("records")
    microdata.perturb(PEOPLE, by=["sex"], protection=microdata.from_table(TABLES["rows"]), spark=spark)
    assert [view.name for view in spark.catalog.listTables()] == ["records"]
    spark.catalog.dropTempView("records")


def test_calls_at_the_same_time_read_their_own_records(spark: Any, tmp_path: Path) -> None:
    protection = microdata.from_table(TABLES["rows"])
    sources = []
    for place, (end, names) in enumerate([("parquet", "NSW"), ("csv", "abcde")]):
        drawn = np.random.default_rng(place).integers(0, len(names), 3000)
        sources.append(tmp_path / f"{place}.{end}")
        formats.write(keyed({"x": pa.array(list(names)).take(pa.array(drawn))}, seed=place), sources[-1])
    options: dict[str, Any] = {"by": ["x"], "protection": protection, "audit": True}
    alone = [microdata.perturb(source, **options).table for source in sources]
    with ThreadPoolExecutor(6) as pool:
        found = pool.map(
            lambda place: microdata.perturb(sources[place % 2], spark=spark, **options).table, range(24)
        )
        assert list(found) == alone * 12
    assert spark.catalog.listTables() == []


def test_the_command_takes_a_master(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    formats.write(PEOPLE, tmp_path / "k.parquet")
    call = ["perturb", str(tmp_path / "k.parquet"), "--by", "sex", *NOISE]
    assert main.main([*call, "-o", str(tmp_path / "a.csv")]) == 0
    assert main.main([*call, "-o", str(tmp_path / "b.csv"), "--spark", "local[2]"]) == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
