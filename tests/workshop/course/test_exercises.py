"""The exercises: they judge rightly, survive nonsense, hide their answers, and all have a solution."""

import ast
import importlib
import itertools
import math
import pkgutil
import re
import tomllib
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compendium.course import exercises, properties
from compendium.run import notebooks
from tablebuilder_dp import certified, design, privacy
from tablebuilder_dp.noise import Noise
from tablebuilder_dp.support.intervals import Enclosure

NAMES = list(exercises.load())
PROPERTIES = [name for name in NAMES if exercises.load()[name]["kind"] == "property"]
NOTEBOOKS = notebooks.paths()
SOLUTIONS = notebooks.solutions()
CHECK = re.compile(r'^exercises\.check\("(\d\d-\d)", ', re.M)
LEVELS = ["easy", "medium", "hard"]
NAN, INF = float("nan"), float("inf")
NONSENSE: list[Any] = [None, "", "nonsense", "12345", b"1", [], {}, (), set(), object(), len, True, 1j]
NONSENSE += [NAN, INF, -INF, 10**400, Decimal("NaN"), np.array([]), np.array([1.5]), np.zeros((2, 2))]
NONSENSE += [[None] * n for n in range(1, 8)] + [[NAN] * n for n in range(1, 8)] + [["a"] * 5, [[1], [2, 3]]]
NONSENSE += [np.bool_(True), np.complex128(0.25 + 2j)]
NONSENSE += [[10**400] * n for n in range(1, 8)] + [{1: 2}, [True, False], np.array(["a", "b"]), [INF] * 51]

each_exercise = pytest.mark.parametrize("name", NAMES)
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
each_solution = pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)


def function(name: str) -> str:
    return f"exercise_{name.replace('-', '_')}"


# --- What a check says ------------------------------------------------------------------------


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """One exercise of each kind, with a hint."""
    made: dict[str, dict[str, Any]] = {
        "99-1": {"kind": "integer"},
        "99-2": {"kind": "integers", "count": 2},
        "99-3": {"kind": "number", "digits": 3},
        "99-4": {"kind": "letter", "letters": ["a", "b", "c"]},
    }
    monkeypatch.setattr(exercises, "load", lambda: made)
    for name, right, wrong in (
        ("99-1", 25, 24),
        ("99-2", (3, -4), (-4, 3)),
        ("99-3", 0.1234, 0.5),
        ("99-4", "b", "c"),
    ):
        made[name] |= {
            "sealed": exercises.seal(name, right),
            "hints": {exercises.seal(name, wrong): "Think."},
        }
    return made


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("99-1", 25),
        ("99-1", 25.0),
        ("99-1", np.int64(25)),
        ("99-1", Fraction(50, 2)),
        ("99-2", [3, -4]),
        ("99-2", np.array([3, -4])),
        ("99-2", (3.0, -4)),
        ("99-3", 0.1234),
        ("99-3", 0.123),
        ("99-3", 0.12349),
        ("99-3", np.float32(0.1234)),
        ("99-3", Fraction(1234, 10_000)),
        ("99-3", Decimal("0.1234")),
        ("99-3", Enclosure(Fraction("0.1231"), Fraction("0.1234"))),
        ("99-4", "b"),
        ("99-4", "B"),
    ],
)
def test_one_answer_in_many_writings_is_right(
    made_up: dict[str, dict[str, Any]], name: str, answer: object
) -> None:
    assert exercises.verdict(name, answer) == "right."


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("99-1", 26, "not yet."),
        ("99-1", 24, "not yet. Think."),
        ("99-1", 25.5, "that is not an integer: 25.5."),
        ("99-3", np.complex128(0.1234 + 2j), "that is not a number, right to 3 significant digits"),
        ("99-1", "25", "that is not an integer: '25'."),
        ("99-2", (3, 4), "not yet."),
        ("99-2", (-4, 3), "not yet. Think."),
        ("99-2", {3, -4}, "that is not 2 integers in order, such as (0, 0): {"),
        ("99-2", (3, -4, 0), "that is not 2 integers in order, such as (0, 0): (3, -4, 0)."),
        ("99-2", itertools.count(3), "that is not 2 integers in order, such as (0, 0): count("),
        ("99-3", 0.13, "not yet."),
        ("99-3", 0.5, "not yet. Think."),
        ("99-3", 0.124, "not yet. Nearly: "),
        ("99-3", 0.1224, "not yet. Nearly: "),
        ("99-3", -0.1234, "not yet."),
        ("99-3", 0, "not yet."),
        ("99-3", 1.79e299, "not yet."),
        ("99-3", 1e301, "that is not a number, right to 3 significant digits: 1e+301."),
        ("99-3", NAN, "that is not a number, right to 3 significant digits: nan."),
        ("99-3", "0.1234", "that is not a number, right to 3 significant digits: '0.1234'."),
        ("99-4", "a", "not yet."),
        ("99-4", "c", "not yet. Think."),
        ("99-4", "d", "that is not one of the letters a, b, c, such as \"a\": 'd'."),
        ("99-1", ..., "no answer yet. Wanted: an integer."),
        ("99-3", ..., "no answer yet. Wanted: a number, right to 3 significant digits."),
    ],
)
def test_other_answers_are_told_what_they_are(
    made_up: dict[str, dict[str, Any]], name: str, answer: object, said: str
) -> None:
    verdict = exercises.verdict(name, answer)
    assert verdict == said if said[-1] == "." else verdict.startswith(said)


def test_a_digit_near_ten_has_neighbours_too(made_up: dict[str, dict[str, Any]]) -> None:
    for right, near in ((0.999, 1.0), (1.0, 0.999), (0.0999, 0.1), (-1.0, -0.999)):
        made_up["99-3"]["sealed"] = exercises.seal("99-3", right)
        assert exercises.verdict("99-3", right) == "right."
        # 1.00 has its own last digit ten times as far away as 0.999 has
        assert exercises.verdict("99-3", near).startswith(
            "not yet. Nearly" if abs(near) < abs(right) else "not yet."
        )


def test_a_check_prints_the_name_and_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    exercises.check("00-2", 0.3)
    assert (
        capsys.readouterr().out
        == "Exercise 00-2: not yet. It is the odds that are multiplied, not the probability.\n"
    )


def test_an_unknown_name_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"exercise must be one of 00-1, .*, got '04-99'"):
        exercises.check("04-99", 1)


@each_exercise
def test_nonsense_is_answered_in_a_sentence(name: str) -> None:
    for answer in NONSENSE:
        said = exercises.verdict(name, answer)
        assert re.fullmatch(r"(that is not .+|not yet)\.|not yet\. \S.+\.", said, re.S), said
        assert len(said) < 300


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_refuse_nonsense_in_a_sentence(name: str) -> None:
    for answer in NONSENSE:
        assert re.fullmatch(r"\S.+\.", exercises.judge(name)(answer), re.S), answer


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_survive_numbers_of_any_size(name: str) -> None:
    judge = exercises.judge(name)
    for value in (-1, 0, 1e-300, 0.5, 1, 7, 1e12, 1e99, 1e308, -1e308, 2**64, Fraction(1, 3), Decimal("0.1")):
        for answer in (value, *([value] * n for n in (1, 2, 3, 5, 7, 51))):
            assert re.fullmatch(r"|\S.+\.", judge(answer), re.S)


# --- Answers found in another way than in the solutions ---------------------------------------


def walk(epsilon: Any, delta: float, slack: Any = "0.1") -> design.Design:
    """The design guide as the paper words it: D = 1, 2, 3, ... until δ is reached."""
    every = (design.proposition_3(epsilon, support=support, slack=slack) for support in itertools.count(1))
    return next(made for made in every if made.delta <= delta)


def right_guess(pairs: int) -> float:
    """By drawing: half a million sums of differences, guessed by which side of the middle they lie on."""
    pmf, rng = walk("0.5", 1e-4).pmf, np.random.default_rng(1)
    draws = rng.choice(np.arange(-25, 26), size=(500_000, 2 * pairs), p=pmf).sum(axis=1)
    return float(np.mean(2 * draws < pairs))


def test_the_chance_of_a_right_guess_is_that_of_a_simulation() -> None:
    assert exercises.verdict("00-4", 0.5348) == "right."
    assert right_guess(3) == pytest.approx(0.5348, abs=0.002)


def edge(support: int, epsilon: float) -> float:
    bells = [math.exp(-epsilon / (2 * support - 1) * z * z) for z in range(-support, support + 1)]
    return bells[0] / math.fsum(bells)


def centre(iota: float) -> str:
    return f"{1 / math.fsum(math.exp(-(0.5 / 49 - iota) * z * z) for z in range(-25, 26)):.15f}"


ENCLOSURES = [(0.12345612, 0.12345689), (0.19998, 0.20001), (0.1249, 0.1251)]


def most_digits(low: float, high: float) -> int:
    return max(n for n in range(1, 9) if f"{low:.{n - 1}e}" == f"{high:.{n - 1}e}")


def slightly_larger_gamma_helps(epsilon: float) -> bool:
    end, more = (privacy.delta(Noise(20, epsilon / 39 * k), epsilon) for k in (1, 1 + 1e-6))
    return bool(more < end)


OTHER_WAYS: dict[str, Callable[[], Any]] = {
    "00-1": lambda: 1204 - 1187 - 581 + 569,
    "00-2": lambda: 0.1 * 3 / (0.1 * 3 + 0.9),
    "00-3": lambda: next(
        n for n in itertools.count(1) if Fraction(49, n) / Fraction(1, 4) <= Fraction(1, 100)
    ),
    "01-1": lambda: certified.gamma(support=1, variance="0.5"),
    "01-2": lambda: -15 * (1 / 15) * math.log(1 / 15),
    "01-3": lambda: max(range(1000, 1300), key=lambda k: Noise(5, k / 10_000).pmf[7]) / 10_000,
    "02-1": lambda: sum(z == -6 or (1 - 2 * z) > 7 for z in range(-6, 8)),
    "02-2": lambda: certified.pmf(Noise(7, "0.08"), 7),
    "03-1": lambda: 1.5 - 0.95,
    "03-2": lambda: (math.log(edge(11, 1.0001)) - math.log(edge(11, 0.9999))) / 0.0002,
    "03-4": lambda: next(k for k in range(2200, 2400) if not slightly_larger_gamma_helps(k / 1000)) / 1000,
    "04-1": lambda: walk("0.25", 1e-4).support,
    "04-2": lambda: walk("0.5", 1e-10).support,
    "04-3": lambda: next(k for k in range(100, 200) if walk("0.5", 1e-4, k / 1000).support > 25) / 1000,
    "04-4": lambda: next(k for k in range(700, 800) if walk(k / 1000, 1e-4).variance <= 25) / 1000,
    "05-1": lambda: [most_digits(*ends) for ends in ENCLOSURES],
    "05-2": lambda: [len(str(2**bits * 25 - 1)) for bits in (32, 64)],
    "05-3": lambda: next(n for n in range(1, 20) if centre(round(1 / 24990, n + 4)) == "0.056895481243871"),
}


@pytest.mark.parametrize("name", OTHER_WAYS)
def test_another_way_leads_to_the_same_answer(name: str) -> None:
    assert exercises.verdict(name, OTHER_WAYS[name]()) == "right."


# --- What paper/exercises.toml holds ----------------------------------------------------------


@each_exercise
def test_an_exercise_has_all_its_fields_and_a_hint(name: str) -> None:
    exercise = exercises.load()[name]
    fields = {"integer": set(), "integers": {"count"}, "number": {"digits"}, "letter": {"letters"}}
    if exercise["kind"] == "property":
        assert set(exercise) == {"kind", "wanted"}
        assert callable(exercises.judge(name))
        assert not exercise["wanted"].endswith(".")
    else:
        assert set(exercise) == {"kind", "sealed", "hints"} | fields[exercise["kind"]]
        assert exercise["hints"]
        assert exercise["sealed"] not in exercise["hints"]
        assert all(re.fullmatch(r"[0-9a-f]{16}", seal) for seal in [exercise["sealed"], *exercise["hints"]])
        assert all(re.fullmatch(r".{10,}[.?]", hint) for hint in exercise["hints"].values())


def test_exercises_are_sorted_and_every_property_belongs_to_one() -> None:
    assert sorted(NAMES) == NAMES
    modules = (
        importlib.import_module(f"{properties.__name__}.{one.name}")
        for one in pkgutil.iter_modules(properties.__path__)
    )
    defined = {name for module in modules for name in vars(module) if name.startswith("exercise_")}
    assert defined == {function(name) for name in PROPERTIES}


@pytest.mark.parametrize("name", PROPERTIES)
def test_the_example_of_a_wanted_answer_is_not_right(name: str) -> None:
    for example in re.findall(r"such as (\(.*\)|\[.*\]|[\d.]+)", exercises.load()[name]["wanted"]):
        assert exercises.verdict(name, ast.literal_eval(example)) != "right."


# --- The notebooks ----------------------------------------------------------------------------


def printed(cell: dict[str, Any]) -> str:
    return "".join("".join(output.get("text", "")) for output in cell["outputs"])


def asked(path: Path) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Name, level and text of each exercise of a notebook, and the cell that checks it."""
    cells = notebooks.read(path)["cells"]
    for cell, following in itertools.pairwise(cells):
        text = notebooks.source(cell)
        found = re.match(r"\*\*Exercise (\d\d-\d) \((\w+)\)\.\*\* ", text)
        if found and cell["cell_type"] == "markdown":
            yield found[1], found[2], text, following


@each_notebook
def test_a_notebook_ends_with_exercises_from_easy_to_hard(path: Path) -> None:
    found = list(asked(path))
    names = [name for name, *_ in found]
    assert len(names) >= 3
    assert names == [f"{path.stem[:2]}-{k}" for k in range(1, len(names) + 1)]
    assert names == list(exercises.names(path.stem))
    levels = [LEVELS.index(level) for _, level, *_ in found]
    assert levels == sorted(levels)
    assert levels[0] == 0
    assert levels[-1] == 2


@each_notebook
def test_exercises_begin_with_a_link_to_their_solutions_and_nothing_follows_them(path: Path) -> None:
    cells = notebooks.read(path)["cells"]
    [start] = [k for k, cell in enumerate(cells) if notebooks.source(cell).startswith("## Exercises")]
    assert f"(solutions/{path.name})" in notebooks.source(cells[start])
    assert (notebooks.FOLDER / "solutions" / path.name).is_file()
    assert len(cells) == start + 1 + 2 * len(exercises.names(path.stem))


@each_notebook
def test_every_exercise_has_a_cell_that_checks_it_and_no_answer_yet(path: Path) -> None:
    for place, (name, _, _, cell) in enumerate(asked(path), 1):
        lines = notebooks.source(cell).splitlines()
        if place == 1:
            assert lines[:2] == ["from compendium.course import exercises", ""]
            lines = lines[2:]
        assert re.fullmatch(rf"answer_{place} = \.\.\.  # .+", lines[0])
        assert lines[1:] == [f'exercises.check("{name}", answer_{place})']
        assert printed(cell).replace("\n", " ").strip() == f"Exercise {name}: {exercises.verdict(name, ...)}"


@each_notebook
def test_no_exercise_gives_its_answer_away(path: Path) -> None:
    """Neither a number of its text nor several of them in a row are the answer."""
    for name, _, text, cell in asked(path):
        exercise = exercises.load()[name]
        words = re.sub(r"\d\d-\d|answer_\d", "", text + notebooks.source(cell)).replace("−", "-")
        values = [float(word) for word in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", words)]
        length = exercise.get("count", 1) if exercise["kind"] != "property" else 1
        for k in range(len(values) - length + 1):
            given = values[k] if exercise["kind"] != "integers" else values[k : k + length]
            assert exercises.verdict(name, given) != "right.", (name, given)


# --- The solutions ----------------------------------------------------------------------------


def test_every_notebook_has_its_solutions() -> None:
    assert [path.name for path in SOLUTIONS] == [path.name for path in NOTEBOOKS]


@each_solution
def test_solutions_answer_all_exercises_rightly_and_in_order(path: Path) -> None:
    cells = notebooks.read(path)["cells"]
    wanted = [(name, level) for name, level, *_ in asked(notebooks.FOLDER / path.name)]
    headings = re.findall(r"^## Exercise (\d\d-\d) \((\w+)\)$", "\n".join(map(notebooks.source, cells)), re.M)
    assert headings == wanted
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    checked = [name for cell in code for name in CHECK.findall(notebooks.source(cell))]
    said = re.findall(r"^Exercise (\d\d-\d): (.*)$", "\n".join(map(printed, code)), re.M)
    assert checked == [name for name, _ in wanted]
    assert said == [(name, "right.") for name in checked]


@each_solution
def test_solutions_link_back_and_run_quietly(path: Path) -> None:
    cells = notebooks.read(path)["cells"]
    first = notebooks.source(notebooks.read(notebooks.FOLDER / path.name)["cells"][0])
    title = first.splitlines()[0].removeprefix("# ")
    assert notebooks.source(cells[0]).splitlines()[0] == f"# Solutions to {title}"
    assert f"(../{path.name})" in notebooks.source(cells[0])
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    for output in (output for cell in code for output in cell["outputs"]):
        assert output["output_type"] != "error"
        assert output.get("name") != "stderr"


def _listings(path: Path) -> list[str]:
    texts = [
        notebooks.source(cell) for cell in notebooks.read(path)["cells"] if cell["cell_type"] == "markdown"
    ]
    return [lines for text in texts for lines in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)]


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if _listings(path)], ids=lambda path: path.stem)
def test_lines_to_copy_run_beside_what_the_notebook_imports(path: Path) -> None:
    code = [notebooks.source(cell) for cell in notebooks.read(path)["cells"] if cell["cell_type"] == "code"]
    lines = [line for source in code for line in ast.parse(source).body]
    imports = [ast.unparse(line) for line in lines if isinstance(line, ast.Import | ast.ImportFrom)]
    for listing in _listings(path):
        exec("\n".join([*imports, listing]), {})  # noqa: S102


@each_solution
def test_solutions_define_nothing_and_type_no_number_that_code_should_print(path: Path) -> None:
    cells = notebooks.read(path)["cells"]
    code = "\n".join(notebooks.source(cell) for cell in cells if cell["cell_type"] == "code")
    assert not re.search(r"^\s*(def|class) ", code, re.M)
    prose = "\n".join(notebooks.source(cell) for cell in cells if cell["cell_type"] == "markdown")
    assert not re.findall(r"(?<![\w.])\d+\.\d{3,}", re.sub(r"`[^`]*`", "", prose))


def test_the_file_itself_holds_no_answer() -> None:
    """Nothing but kinds, forms, seals and sentences: what is not read is not there."""
    raw = tomllib.loads(exercises.FILE.read_text(encoding="utf-8"))
    known = {"kind", "sealed", "hints", "count", "digits", "letters", "wanted"}
    assert {field for exercise in raw.values() for field in exercise} <= known
