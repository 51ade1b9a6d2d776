"""The committed notebooks and figures: in order, honest, and drawn from right numbers."""

import contextlib
import csv
import io
import itertools
import json
import re
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import papermill
import pytest
from support import in_process
from support.checks import relative_error

from compendium.ledger import book, claims, verdicts
from compendium.run import manifest, notebooks
from compendium.run.notation import tex
from compendium.run.parameters import other_run, paper_parameters
from compendium.run.table import Table, set_cell
from tablebuilder_dp import certified, design
from tablebuilder_dp.certified import Enclosed
from tablebuilder_dp.noise import Noise

ROOT = Path(__file__).resolve().parents[3]
PATHS = notebooks.paths()
FIGURES = ["figure-1a", "figure-1b", "figure-2a", "figure-2b", "figure-3", "figure-4", "figure-5"]
FIGURES += ["11-delta-of-gamma", "11-gap", "12-by-hand", "12-better-tables", "13-trade-off", "13-shapes"]
FIGURES += [
    "14-composition",
    "14-costs",
    "15-rows",
    "15-protection",
    "15-bias",
    "16-utility",
    "16-attacks",
]
FIGURES += ["17-tables", "17-curves", "17-reactions"]
FIGURES += ["18-rates", "18-asking"]
FIGURES += ["19-tiles", "19-unequal", "19-averages", "19-carry"]
HALF_A_UNIT = 5e-12
"""How far the twelve digits of a CSV file may be from the number, relatively."""
each_notebook = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in notebooks.read(path)["cells"] if cell["cell_type"] == kind]


def prose(path: Path) -> str:
    return "\n\n".join(map(notebooks.source, cells(path, "markdown")))


def lesson(path: Path, kind: str) -> list[str]:
    """The cells of a kind before the exercises, which have room of their own."""
    every = notebooks.read(path)["cells"]
    [start] = [i for i, cell in enumerate(every) if notebooks.source(cell).startswith("## Exercises")]
    return [notebooks.source(cell) for cell in every[:start] if cell["cell_type"] == kind]


def columns(name: str) -> dict[str, list[str]]:
    with (ROOT / "figures" / f"{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {key: [row[key] for row in rows] for key in rows[0]}


def test_every_notebook_of_the_paper_is_there() -> None:
    assert [path.stem for path in PATHS] == list(paper_parameters())


def test_the_map_has_every_notebook_in_its_part_and_under_its_title() -> None:
    [text] = [text for text in map(notebooks.source, cells(PATHS[0], "markdown")) if "## The map" in text]
    found, part = [], ""
    for line in text.splitlines():
        if heading := re.fullmatch(r"\*\*(.+)\*\*", line):
            part = heading[1]
        elif row := re.match(r"\| (\d+) \| (?:\[([^\]]+)\]\(([\w-]+)\.ipynb\)|Start here) \|", line):
            found.append((part, row[3] or PATHS[0].stem, f"# {row[1]} · {row[2] or 'Start here'}"))
    titles = {path.stem: notebooks.source(cells(path, "markdown")[0]).splitlines()[0] for path in PATHS}
    assert sorted(name for _, name, _ in found) == sorted(titles)
    assert found == [(notebooks.part(name), name, titles[name]) for _, name, _ in found]


@each_notebook
def test_parameters_cell_holds_the_papers_parameters(path: Path) -> None:
    [cell] = [cell for cell in cells(path, "code") if "parameters" in cell["metadata"].get("tags", [])]
    found: dict[str, Any] = {}
    exec(notebooks.source(cell), found)  # noqa: S102
    assert {name: found[name] for name in found if not name.startswith("__")} == paper_parameters()[path.stem]


@each_notebook
def test_papermill_can_explain_every_parameter(path: Path) -> None:
    """As ``papermill --help-notebook`` shows them: a type and a few words for each."""
    known = papermill.inspect_notebook(path)
    assert set(known) == set(paper_parameters()[path.stem])
    for name, parameter in known.items():
        assert parameter["inferred_type_name"] != "None", name
        assert len(parameter["help"].split()) >= 3, name


@each_notebook
def test_notebook_was_executed_in_order_without_errors_or_warnings(path: Path) -> None:
    code = cells(path, "code")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    for output in (output for cell in code for output in cell["outputs"]):
        assert output["output_type"] != "error"
        assert output.get("name") != "stderr"
        text = json.dumps({key: value for key, value in output.get("data", {}).items() if key != "image/png"})
        text += "".join(output.get("text", ""))
        assert not re.search(r"Warning|Traceback|/(?:home|root|work|tmp)/|0x[0-9a-f]{8}", text)


@each_notebook
def test_prose_leads_and_no_function_is_defined(path: Path) -> None:
    assert not re.search(r"^\s*(def|class) ", "\n".join(map(notebooks.source, cells(path, "code"))), re.M)
    lines = "\n".join(lesson(path, "markdown")).splitlines()
    words = " ".join(line for line in lines if not line.startswith("|")).split()
    code = [
        line
        for cell in cells(path, "code")
        if notebooks.HIDDEN not in cell["metadata"].get("tags", [])
        for line in notebooks.source(cell).splitlines()
    ]
    assert len(words) > max(600, 12 * len(code))


@each_notebook
def test_pictures_have_a_description(path: Path) -> None:
    for output in (output for cell in cells(path, "code") for output in cell["outputs"]):
        if "image/png" in output.get("data", {}):
            assert len(output["metadata"]["image/png"]["alt"]) > 40


@each_notebook
def test_prose_types_no_number_that_a_run_should_compute(path: Path) -> None:
    """Long decimals in prose are the paper's own: its printed values or its grid of γ."""
    text = re.sub(r"`[^`]*`", "", prose(path))
    printed = {claim.printed for claim in claims.load().values()} | {"0.0001", "0.0002", "0.0500"}
    assert set(re.findall(r"(?<![\w.])\d+\.\d{3,}", text)) <= printed


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_there_in_three_forms(name: str) -> None:
    for suffix in ("svg", "png", "csv"):
        path = ROOT / "figures" / f"{name}.{suffix}"
        assert path.stat().st_size > 100
        assert (
            manifest.digest(path)
            == json.loads((ROOT / "manifest.json").read_text())[f"figures/{name}.{suffix}"]
        )


@pytest.mark.parametrize("name", FIGURES)
def test_pictures_are_sharp(name: str) -> None:
    width, height = struct.unpack(">II", (ROOT / "figures" / f"{name}.png").read_bytes()[16:24])
    assert min(width, height) >= 600


@pytest.mark.parametrize(("name", "support"), [("figure-1a", 11), ("figure-1b", 15)])
def test_figure_1_plots_the_certified_delta(name: str, support: int) -> None:
    data = columns(name)
    for variance in (4, 10):
        gamma = certified.gamma(support=support, variance=variance, digits=40)
        for row in (0, 60, 149, 299):
            truth = certified.delta(Enclosed(support, gamma), data["epsilon"][row])
            assert relative_error(float(data[f"delta_V{variance}"][row]), truth) <= HALF_A_UNIT


@pytest.mark.parametrize("support", [11, 15])
def test_figure_2_plots_the_certified_limit_and_no_worse_a_minimum(support: int) -> None:
    delta, best = columns("figure-2a"), columns("figure-2b")
    for row in (0, 9, 24, 49):
        gamma = Fraction(delta["epsilon"][row]) / (2 * support - 1)
        truth = certified.pmf(Noise(support, gamma), support)
        assert relative_error(float(delta[f"delta_D{support}"][row]), truth) <= HALF_A_UNIT
        variance = certified.variance(Noise(support, gamma))
        assert relative_error(float(best[f"variance_D{support}"][row]), variance) <= HALF_A_UNIT
        least = min(
            float(certified.delta(Noise(support, gamma), delta["epsilon"][row], digits=14))
            for gamma in design.PAPER_GRID[::50]
        )
        assert float(delta[f"best_delta_D{support}"][row]) <= least * (1 + HALF_A_UNIT)


def test_figure_3_plots_the_certified_pmf() -> None:
    data = columns("figure-3")
    gamma = design.guide("0.5", "1e-4").gamma
    assert data["z"] == [str(z) for z in range(-25, 26)]
    for z in (-25, -12, 0, 11):
        truth = certified.pmf(Noise(25, gamma), z)
        assert relative_error(float(data["p"][z + 25]), truth) <= HALF_A_UNIT


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_figures_4_and_5_plot_the_certified_tables(bits: int) -> None:
    epsilons, deltas = columns("figure-4"), columns("figure-5")
    assert epsilons["epsilon"] == [f"{k / 10:.15g}" for k in range(1, 26)]
    for row in range(25):
        gamma = design.proposition_3(Fraction(row + 1, 10), support=10).gamma
        cuts = (0, *certified.cuts(Noise(10, gamma), keysize=2**bits))
        weights = [high - low for low, high in itertools.pairwise(cuts)]
        expected = max(weights[0], weights[-1]) / 2**bits
        assert float(deltas[f"delta_{bits}"][row]) == pytest.approx(expected, rel=HALF_A_UNIT)
        if 0 in weights:
            assert epsilons[f"epsilon_two_sided_{bits}"][row] == "inf"
        else:
            ratios = [Fraction(b, a) for a, b in itertools.pairwise(weights)]
            one = certified.logarithm(max(ratios))
            two = certified.logarithm(max(*ratios, *(1 / ratio for ratio in ratios)))
            assert relative_error(float(epsilons[f"epsilon_one_sided_{bits}"][row]), one) <= HALF_A_UNIT
            assert relative_error(float(epsilons[f"epsilon_two_sided_{bits}"][row]), two) <= HALF_A_UNIT


def test_committed_numbers_and_notebooks_are_those_of_the_manifest() -> None:
    listed = json.loads((ROOT / "manifest.json").read_text())
    for path in PATHS:
        assert listed[f"notebooks/{path.name}"] == manifest.digest(path)
    assert set(json.loads((ROOT / "paper/numbers.json").read_text())) == {path.stem for path in PATHS}


def test_numbers_in_words_are_those_of_the_runs() -> None:
    """The few results that prose and pages name in words or powers of two."""
    numbers = json.loads((ROOT / "paper/numbers.json").read_text(encoding="utf-8"))
    tables, other = numbers["12-better-tables"], numbers["13-other-noise"]
    bits = tables["12-experiment-bits"], int(tables["12-second-power"]).bit_length() - 1
    code = cells(ROOT / "notebooks/12-better-tables.ipynb", "code")
    outputs = [output.get("data", {}) for cell in code for output in cell["outputs"]]
    closing = "\n".join("".join(data.get("text/markdown", "")) for data in outputs)
    ceilings = tables["12-second-ceiling-bits"]
    assert f"| Example 1 | $2^{{{ceilings}}}$ | $2^{{{bits[1]}}}$ |" in closing
    assert re.search(rf"\| all 25 designs \| \$2\^\{{\d+\}}\$ \| \$2\^\{{{bits[0]}\}}\$ \|", closing)
    text = prose(ROOT / "notebooks/13-other-noise.ipynb")
    saved = 1 - int(other["13-least-support"]) / int(other["13-paper-support"])
    spared = 1 - float(other["13-least-variance"]) / float(numbers["04-design-guide"]["ex1-variance"])
    assert r"two orders of magnitude in $\delta$" in text
    assert 10**1.5 < float(other["13-cost"]) < 10**2.5
    assert "a third of the support and five sixths of the variance" in text
    assert (round(3 * saved), round(6 * spared)) == (1, 5)
    assert "a factor of about five" in text
    assert round(float(other["13-cost-at-variance-falling"])) == 5
    support = numbers["11-best-gamma"]["11-guide-support"]
    page = (ROOT / "site/past.md").read_text(encoding="utf-8")
    assert f"needs D = {support} instead of {other['13-paper-support']}" in page


def test_notebooks_show_the_verdicts_of_the_ledger() -> None:
    known = {entry.claim.id: entry.verdict for entry in book.read().paper}
    by_text = {(set_cell(claim.says), set_cell(claim.printed)): claim.id for claim in claims.load().values()}
    seen = set()
    for path in (path for path in PATHS if path.stem != book.NOTEBOOK):
        for output in (output for cell in cells(path, "code") for output in cell["outputs"]):
            lines = "".join(output.get("data", {}).get("text/markdown", "")).splitlines()
            if lines[:1] != ["| what | paper | ours | verdict |"]:
                continue
            for says, printed, verdict in re.findall(
                r"^\| (.+) \| (.+) \| .+ \| \*{0,2}([\w ]+)\*{0,2} \|$", "\n".join(lines[2:]), re.MULTILINE
            ):
                assert known[by_text[says, printed]] == verdict
                seen.add(by_text[says, printed])
    assert len(seen) > 40


OTHER: dict[str, dict[str, Any]] = {
    "00-start-here": {"epsilon": 1.5, "delta": 1e-6},
    "01-max-entropy-noise": {"support": 3, "variance": 1.0},
    "02-privacy-of-tablebuilder": {"supports": [4, 7], "variances": [2.0, 5.0], "epsilon_max": 2.0},
    "03-choosing-the-variance": {"supports": [5, 8], "epsilon_max": 1.5},
    "04-design-guide": {"epsilon": 2, "delta": 1e-3, "slack": 0.5},
    "05-high-precision": {"digits": 30},
    "06-cell-keys": {"records": 3000, "cells": 1000, "key_bits": 12, "seed": 3},
    "07-sampling": {"epsilon": 1.0, "delta": 1e-2, "key_bits": 16, "small_key_bits": 6, "keys": [0, 65535]},
    "08-after-sampling": {"epsilon": 1.0, "delta": 1e-3, "slack": 0.0, "key_bits": 12},
    "09-cell-key-size": {"support": 4, "epsilon_step": 0.5, "steps": 6, "key_bits": [6, 12]},
    "10-verdict": {"sections": ["II", "VI"]},
    "11-best-gamma": {"supports": [4, 7], "epsilon_max": 3.0, "epsilon": 1.5, "delta": 1e-6},
    "12-better-tables": {
        "support": 4,
        "epsilon_step": 0.5,
        "steps": 6,
        "key_bits": [6, 12],
        "epsilon": 1.0,
        "delta": 1e-3,
    },
    "13-other-noise": {"epsilon": 1.5, "delta": 1e-3, "slack": 0.5},
    "14-many-queries": {"epsilon": 1.0, "delta": 1e-3, "slack": 0.5, "cells": [1, 5, 40]},
    "15-small-counts": {"support": 3, "variance": 1.0, "epsilon": 0.5, "key_bits": 12},
    "16-a-census-table": {
        "records": 5000,
        "seed": 3,
        "epsilon": 2.0,
        "delta": 0.01,
        "key_bits": 16,
        "variables": ["region", "sex"],
        "rounds": 2,
    },
    "17-explorer": {
        "epsilon": 1.5,
        "delta": 1e-3,
        "slack": 0.5,
        "key_bits": 16,
        "few_key_bits": 6,
        "rule": "symmetric",
    },
    "18-differencing-game": {
        "epsilon": 1.0,
        "delta": 1e-3,
        "support": 5,
        "variance": 2.0,
        "asks": 3,
        "rounds": 300,
        "seed": 7,
    },
    "19-combined-cells": {
        "epsilon": 1.0,
        "delta": 1e-3,
        "lines": 2000,
        "others": 20,
        "trials": 100,
        "groups": 20,
        "partitions": [2, 9],
        "seed": 3,
    },
    "20-a-release": {"epsilon": 1.0, "delta": 1e-3, "seed": 3},
}


EXTREME: dict[str, dict[str, Any]] = {
    "01-max-entropy-noise": {"support": 1, "variance": 0.001},
    "04-design-guide": {"epsilon": 2.0, "delta": 0.3, "slack": 1.0},
    "07-sampling": {"epsilon": 2.0, "delta": 0.3, "slack": 1.0, "small_key_bits": 1, "keys": [-1]},
    "08-after-sampling": {"key_bits": 1},
    "09-cell-key-size": {"support": 1, "steps": 1, "slack": 0.0, "key_bits": [4]},
    "11-best-gamma": {"supports": [1, 3], "epsilon_max": 2.0, "epsilon": 2.0, "delta": 0.3},
    "12-better-tables": {"support": 1, "steps": 1, "slack": 0.0, "key_bits": [3]},
    "13-other-noise": {"epsilon": 2.0, "delta": 0.3, "slack": 1.0},
    "14-many-queries": {"epsilon": 2.0, "delta": 0.3, "slack": 1.0, "cells": [2]},
    "15-small-counts": {"support": 1, "variance": 0.5, "epsilon": 2.0, "key_bits": 4},
    "16-a-census-table": {"records": 1000, "epsilon": 2.0, "delta": 0.3, "variables": ["sex"], "rounds": 1},
    "17-explorer": {"epsilon": 20.0, "delta": 0.3, "slack": 0.0, "key_bits": 3, "few_key_bits": 1},
    "18-differencing-game": {
        "epsilon": 2.0,
        "delta": 0.3,
        "support": 1,
        "variance": 0.5,
        "asks": 1,
        "rounds": 1,
    },
    "19-combined-cells": {
        "epsilon": 2.0,
        "delta": 0.3,
        "lines": 1,
        "others": 2,
        "trials": 1,
        "groups": 1,
        "partitions": [1],
    },
    "20-a-release": {"epsilon": 0.1, "delta": 1e-9, "seed": 0},
}


ALWAYS = (
    "00-start-here",
    "02-privacy-of-tablebuilder",
    "04-design-guide",
    "05-high-precision",
    "07-sampling",
    "08-after-sampling",
    "09-cell-key-size",
    "10-verdict",
    "17-explorer",
)
"""Notebooks that compute the paper's own example whatever their parameters."""


GIVEN = [
    pytest.param(name, given, id=f"{kind}-{name}")
    for kind, settings in (("other", OTHER), ("extreme", EXTREME))
    for name, given in settings.items()
]


def test_every_notebook_has_other_parameters() -> None:
    assert list(OTHER) == [path.stem for path in PATHS]


@pytest.mark.long
@pytest.mark.unmeasured
@pytest.mark.parametrize(("name", "given"), GIVEN)
def test_notebooks_run_with_other_parameters(output: Path, name: str, given: dict[str, Any]) -> None:
    executed = in_process.run(notebooks.FOLDER / f"{name}.ipynb", given)
    assert not (output / "figures").exists()
    folder = other_run(name, paper_parameters()[name] | given)
    assert [path.parent for path in output.rglob(f"{name}.json")] == [output / folder]
    outputs = [cell["outputs"] for cell in executed["cells"] if cell["cell_type"] == "code"]
    seen = json.dumps(outputs, ensure_ascii=False)
    assert "confirmed" not in seen or name in ALWAYS
    assert "Warning" not in seen


@pytest.mark.unmeasured
@pytest.mark.usefixtures("output")
@pytest.mark.parametrize("name", ["04-design-guide", "18-differencing-game"])
def test_cells_run_in_this_process_show_what_they_show_in_a_kernel(name: str) -> None:
    """Streams, pictures, values and widgets: the very bytes of the committed notebook."""
    path = notebooks.FOLDER / f"{name}.ipynb"
    assert notebooks.normalised(in_process.run(path, {})) == path.read_text(encoding="utf-8")


PLAIN = ROOT / "notebooks/05-high-precision.ipynb"


def plain_cells() -> list[dict[str, Any]]:
    """The cells of notebook 05 that compute Example 1 in mpmath, and that lay it beside the paper's."""
    plain = [cell for cell in cells(PLAIN, "code") if "with mpmath.workdps(50):" in notebooks.source(cell)]
    return plain[:2]


def plain_rows(table_source: str) -> list[list[str]]:
    """The rows of the table that the two cells make outside of a notebook."""
    names: dict[str, Any] = {"Table": Table}
    exec(notebooks.source(plain_cells()[0]), names)  # noqa: S102
    exec(table_source.replace("\nTable(", "\nmade = Table("), names)  # noqa: S102
    found: list[list[str]] = names["made"].rows
    return found


def test_example_1_is_first_computed_in_plain_mpmath() -> None:
    first, table = plain_cells()
    assert "mpmath" in prose(PLAIN)
    imported = re.findall(r"^(?:import|from) (\w+)", notebooks.source(first), re.MULTILINE)
    assert set(imported) == {"mpmath"}
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        exec(notebooks.source(first), {})  # noqa: S102
    assert stream.getvalue().splitlines() == stream_lines(first)
    rows = plain_rows(notebooks.source(table))
    [output] = table["outputs"]
    shown = "".join(output["data"]["text/markdown"])
    assert all(f"| {' | '.join(map(set_cell, row))} |" in shown for row in rows)
    stated = {
        claim.printed: name for name, claim in claims.load().items() if claim.check.startswith("examples.")
    }
    assert len(rows) == 10
    for _, printed, _, verdict in rows:
        settled = verdicts.settle(claims.load()[stated[printed]])
        assert (verdict == "confirmed") == (settled.verdict == "confirmed"), printed
        assert verdict in ("confirmed", "**not this value**")


@pytest.mark.parametrize(
    ("name", "printed", "altered"),
    [
        ("$D^*$", "25", "24"),
        (r"$\delta$", "9.91e-5", "9.92e-5"),
        ("$V$", "49.00", "49.01"),
        (r"$-\iota$", "4e-5", "5e-5"),
        ("$p(0)$", "0.056895481243871", "0.056895481243872"),
        (r"$p(\pm 25)$", "0.000099129808160", "0.000099129808161"),
        (r"$p(\pm 25)$", "0.000099129808160", "0.00009912980816"),
    ],
)
def test_a_verdict_of_plain_mpmath_follows_what_is_printed(name: str, printed: str, altered: str) -> None:
    table = notebooks.source(plain_cells()[1])
    before, after = (
        next(row[3] for row in plain_rows(text) if row[0] == name)
        for text in (table, table.replace(f'"{printed}"', f'"{altered}"'))
    )
    assert before == "confirmed"
    assert after == ("confirmed" if Fraction(altered) == Fraction(printed) else "**not this value**")


@pytest.mark.parametrize("name", notebooks.names())
def test_every_line_of_a_notebook_fits_the_page(name: str) -> None:
    for cell in cells(notebooks.FOLDER / f"{name}.ipynb", "code"):
        assert max(map(len, notebooks.source(cell).splitlines())) <= 88
        assert max(map(len, stream_lines(cell)), default=0) <= 84


@each_notebook
def test_what_only_feeds_the_regression_is_folded_away(path: Path) -> None:
    """Records, asserts and the workshop's imports stand in cells whose code is hidden."""
    for cell in cells(path, "code"):
        if notebooks.HIDDEN not in cell["metadata"].get("tags", []):
            plumbing = r"^\s*(assert |results = |results\.(number|uses|ledger)\()"
            assert not re.search(plumbing, notebooks.source(cell), re.M), notebooks.source(cell)


def stream_lines(cell: dict[str, Any]) -> list[str]:
    streams = (output["text"] for output in cell["outputs"] if output["output_type"] == "stream")
    return "".join("".join(text) for text in streams).splitlines()


GUIDES: dict[str, dict[str, Any]] = {
    "small delta": {"epsilon": 1.0, "delta": 1e-6},
    "small epsilon": {"epsilon": 0.1, "delta": 1e-3},
    "large epsilon": {"epsilon": 2.0, "delta": 1e-9},
    "no slack": {"epsilon": 0.5, "delta": 1e-4, "slack": 0.0},
    "D = 1": {"epsilon": 2.0, "delta": 0.3, "slack": 1.0},
}
EXAMPLE = "## The paper's example"


def shown(notebook: dict[str, Any]) -> dict[str, list[str]]:
    """What a reader sees under each heading of an executed notebook: prose and printed outputs."""
    found: dict[str, list[str]] = {"": []}
    for cell in json.loads(notebooks.normalised(notebook))["cells"]:
        text = notebooks.source(cell)
        if cell["cell_type"] == "markdown":
            if text.startswith("## "):
                found[text.splitlines()[0]] = []
            found[[*found][-1]].append(text)
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            seen = output.get("text") or data.get("text/markdown") or data.get("text/plain", "")
            found[[*found][-1]].append(typed("".join(seen)))
    return found


def typed(text: str) -> str:
    """Numbers as a program writes them: 1.5e-05 for what a table sets as a power of ten."""
    powers = re.sub(r"·10<sup>(−?)(\d+)</sup>", lambda found: f"e{found[1] or '+'}{found[2]:0>2}", text)
    return powers.replace("−", "-")


@pytest.mark.unmeasured
@pytest.mark.usefixtures("output")
@pytest.mark.parametrize("settings", GUIDES.values(), ids=GUIDES)
def test_the_design_guide_says_nothing_false_of_other_parameters(settings: dict[str, Any]) -> None:
    path = ROOT / "notebooks/04-design-guide.ipynb"
    found, paper = shown(in_process.run(path, settings)), shown(notebooks.read(path))
    assert list(found) == list(paper)
    assert found[EXAMPLE] == paper[EXAMPLE]
    for heading in ("## What it means for a statistical office", "## Exercises"):
        assert found[heading] == paper[heading]
    rest = "\n".join(text for heading in list(found)[: list(found).index(EXAMPLE)] for text in found[heading])
    assert "nothing to compare" not in rest
    check_guide(rest, **{"slack": 0.1, **settings})


OF_THE_PAPER = {
    "05-high-precision": "## Example 1 in plain mpmath",
    "07-sampling": "## The paper's Example 2, digit by digit",
    "08-after-sampling": "## The paper's Example 3, digit by digit",
    "09-cell-key-size": "## The paper's sentences",
}


@pytest.mark.unmeasured
@pytest.mark.usefixtures("output")
@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_what_is_said_of_the_papers_values_follows_no_parameter(name: str) -> None:
    path = notebooks.FOLDER / f"{name}.ipynb"
    found, paper = shown(in_process.run(path, OTHER[name])), shown(notebooks.read(path))
    assert list(found) == list(paper)
    assert found[OF_THE_PAPER[name]] == paper[OF_THE_PAPER[name]]
    assert any("| verdict |" in text for text in paper[OF_THE_PAPER[name]])
    outside = [texts for heading, texts in found.items() if heading != OF_THE_PAPER[name]]
    assert outside != [texts for heading, texts in paper.items() if heading != OF_THE_PAPER[name]]


def check_guide(text: str, *, epsilon: float, delta: float, slack: float) -> None:
    """Every number that the guide prints, from the paper's formulas in mpmath."""

    def gamma(support: int, share: float = slack) -> mpmath.mpf:
        rate, length = mpmath.mpf(str(epsilon)), mpmath.mpf(str(share)) * 2
        return rate / (2 * support - 1) - length * rate / (4 * support**2 - 1)

    def edge(support: int, share: float = slack) -> mpmath.mpf:
        bell = [mpmath.exp(-gamma(support, share) * z * z) for z in range(support + 1)]
        return bell[-1] / (2 * mpmath.fsum(bell) - 1)

    with mpmath.workdps(40):
        wanted = mpmath.mpf(str(delta))
        best = next(support for support in itertools.count(1) if edge(support) <= wanted)
        assert re.findall(r"D\* = (\d+)", text) == [str(best)]
        rows = re.findall(r"^\| (\d+) \| (\S+) \| (reaches|misses) \|$", text, re.MULTILINE)
        assert [int(row[0]) for row in rows] == list(range(max(1, best - 2), best + 2))
        assert re.findall(r"\| \$\\delta = (\S+(?: \S+)*)\$ \|", text) == [tex(f"{delta:g}")]
        for number, value, word in rows:
            assert mpmath.mpf(value) == mpmath.mpf(mpmath.nstr(edge(int(number)), 7))
            assert (word == "reaches") == (edge(int(number)) <= wanted)
        onset = gamma(best) * (2 * best - 1)
        [(starts, asked)] = re.findall(r"stops falling at epsilon = (\S+); wanted: (\S+)", text)
        assert abs(mpmath.mpf(starts) - onset) < 1e-6
        assert float(asked) == epsilon
        assert f"the ratio exceeds e^epsilon at the edge alone: E* = [{-best}]" in text
        assert (onset < epsilon) == (slack > 0)
        below = text[text.index(r"| slack $s$ | $\delta$ | variance |") :]
        slacks = re.findall(r"^\| ([\d.]+) \| (\S+) \| ([\d.]+) \|$", below, re.MULTILINE)
        assert [float(share) for share, _, _ in slacks] == sorted({0, slack, 1})
        for share, value, _ in slacks:
            assert abs(mpmath.mpf(value) / edge(best, float(share)) - 1) < 1e-5
        for column in (1, 2):  # slack 0 has the smallest of both
            numbers = [float(row[column]) for row in slacks]
            assert numbers == sorted(numbers)


def test_the_design_guide_of_the_paper_is_checked_in_the_same_way() -> None:
    found = shown(notebooks.read(ROOT / "notebooks/04-design-guide.ipynb"))
    rest = "\n".join(text for heading in list(found)[: list(found).index(EXAMPLE)] for text in found[heading])
    check_guide(rest, epsilon=0.5, delta=1e-4, slack=0.1)
    for right, wrong in (("D* = 25", "D* = 24"), ("misses", "reaches"), ("E* = [-25]", "E* = [-25, -24]")):
        with pytest.raises(AssertionError):
            check_guide(rest.replace(right, wrong), epsilon=0.5, delta=1e-4, slack=0.1)


def test_the_prose_of_the_design_guide_names_no_number_of_the_example_outside_its_section() -> None:
    texts = prose(ROOT / "notebooks/04-design-guide.ipynb").partition(EXAMPLE)
    assert not re.search(r"0\.5\b|10⁻⁴|10\^\{-4\}|\b25\b|\b49\b|D\^\* = [2-9]", texts[0])
    assert all(number in texts[2] for number in ("0.5", "10^{-4}"))


def test_sentences_about_the_papers_results_say_so() -> None:
    """Prose that names the paper's figures, examples or values is conditional on its parameters."""
    for path in PATHS:
        for paragraph in prose(path).split("\n\n"):
            if re.search(r"\b(is|are) (its|the paper's) Figure|printed values? (is|are) ", paragraph):
                assert re.search(r"[Ff]or the paper's parameters|with its parameters", paragraph), (
                    path.stem,
                    paragraph,
                )


def test_noise_of_figures_is_that_of_the_paper() -> None:
    # γ ≈ 0.125 and γ ≈ 0.0498 of Figure 1, for both supports
    for support in (11, 15):
        assert round(float(Noise.of_variance(support, 4).gamma), 3) == 0.125
        assert round(float(Noise.of_variance(support, 10).gamma), 3) == 0.05
