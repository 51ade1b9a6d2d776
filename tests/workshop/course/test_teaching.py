"""The page for teachers and the glossary: times and marks add up, names exist, numbers are computed."""

import doctest
import importlib.util
import math
import re
import subprocess
import sys
import typing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from compendium.course import exercises
from compendium.run import notebooks
from compendium.site import glossary
from tablebuilder_dp.cli import main
from tablebuilder_dp.cli.answers import PROGRAM

ROOT = Path(__file__).resolve().parents[3]
PATH = ROOT / "paper/teaching.md"
TEACHING = PATH.read_text(encoding="utf-8")
PROSE = re.sub(r"```.*?```", "", TEACHING, flags=re.DOTALL)
GLOSSARY = (ROOT / "site/glossary.md").read_text(encoding="utf-8")
LINK = re.compile(r"\]\(([^)#]+)\)")
NO_CLAIM = re.compile(  # where a number of two or more digits may stand that nothing has to compute
    r"\d+ (?:minutes|marks)"
    r"|\b\d\d-\d\b|\*\*\d\d,|notebook \d\d|\(\d\d\)"  # exercises, stations, notebooks, equations
    r"|10(?:⁻|\^\{)|2\^\{\d\d\}|\\tfrac\d\d|\(32, 24, 16, …\)"  # powers, fractions, key_bits
    r"|1204|1203|43-year-old|group with 30 others|50, 60, 80 per cent|50 per cent|2: 200 per cent"  # given
    r"|100 other people|published value 100\?|What after 98\?|count is 100|it is 101|value 98"  # question 1
    r"|twelve of them are 240 rounds"  # see CLAIMS
)
CLAIMS = {  # what the prose says, and how the page's own code computes it
    r"belief of 50 per cent becomes at most (\d+) per": "round(100 / (1 + exp(-0.5)))",
    r"0\.5 gives (\d+) per cent": "round(100 / (1 + exp(-0.5)))",
    r"probability one in ([\d ]+)\.": "round(1 / example.delta)",
    r"a δ about (\d+) times that of variance 4": "round(much / little)",
    r"the paper's example, \$D = (\d+)\$": "example.support",
    r'"Half" is nearly right: (\d+)\.': 'design.guide(1, "1e-4").support',
    r"goes far too high: (\d+)\.": 'design.guide("0.5", "1e-8").support',
    r"with (\d+) keys \d+ of \d+ values": "few.keysize",
    r"keys (\d+) of \d+ values": "len(few.lost)",
    r"keys \d+ of (\d+) values": "len(few.cuts)",
    r"differ by the target alone, (\d+) per cent": "round(100 * (1 + apart) / 2)",
    r"they come in (\d+) per cent of the cases": "round(100 * apart)",
    r"twelve of them are (\d+) rounds": "12 * 20",
    r"table with (\d+) keys keeps ε and δ": "sizes.smallest",
    r"none with (\d+) does": "sizes.all_from - 1",
    r"from (\d+) on every size": "sizes.all_from",
    r"In (\d+) of the 25 designs": "above",
    r"\$D\^\* = (\d+)\$, standard": "made.support",
    r"w\(-11\)/w\(-12\) = (\d+)/": "table.weights[1]",
    r"w\(-11\)/w\(-12\) = \d+/(\d+)": "table.weights[0]",
    r"w\(11\)/w\(12\) = (\d+)/": "table.weights[-2]",
    r"w\(11\)/w\(12\) = \d+/(\d+)": "table.weights[-1]",
    r"the forward δ is (\d+) keys": "round(2**16 * forward)",
    r"the (\d+) keys of the end": "table.weights[-1]",
    r"0\.959962\$ is (\d+)\.": "bisect_left("
    "range(2000), apart, lo=1, key=lambda k: composition.delta(example, 0, cells=k))",
}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


ENTRIES = glossary.entries(GLOSSARY)
NAMES = [entry.name for entry in ENTRIES]
SYMBOLS = r"""\varepsilon; \delta; D; V; C; \gamma; \iota; s; n; N; Z; S; E; z^*; E^*; F^*; D^*; f(x);
 M(x); q(x); p(z); c(z); w(z); H(Z); x'; [a, b]; p_Z(Z = z); \mathcal{X}; \mathcal{Y};
 \mathcal{Z}; \mathbb{E}; \mathbb{P}; \oplus; \lceil; \lfloor; \tfrac{D(D+1)}{3};
 \delta_{\gamma,D}(\varepsilon); \delta_D(\varepsilon); \gamma(\varepsilon); V(\varepsilon);
 C(\varepsilon); \mathtt{Rkey}_i^j; \mathtt{CellKey}; \mathtt{CellKey}^j; \mathtt{bigN};
 \mathtt{KEYSIZE}; c^Q(z); p^Q(z); B^Q; V^Q; \varepsilon^Q; \delta^Q; \tfrac{V^Q - V}{V};
 \lambda; \delta_k(\varepsilon)"""
WORDS = """differential privacy, epsilon (ε), delta (δ), neighbouring tables, plateau,
 hockey-stick divergence, total variation distance, two-sided, maximum entropy, design guide, slack (s),
 record key, cell key, KEYSIZE, lookup table, lost support, symmetric table, composition, rows, clamped,
 differencing attack, statement, verdict, confirmed, confirmed to k digits, contradicted, depends,
 slip, enclosure, certified, ptable, cellKey, tau-argus"""


def timetables() -> list[list[tuple[int, int]]]:
    """Start and length of each part, for each table that begins with `from` and `minutes`."""
    found = re.findall(r"^\| from \| minutes \|.*\n\|[-|]+\n((?:\|.*\n)+)", TEACHING, re.MULTILINE)
    return [
        [(int(start), int(length)) for start, length in re.findall(r"^\| (\d+) \| (\d+) \|", table, re.M)]
        for table in found
    ]


def test_the_lecture_takes_50_minutes_and_the_lab_120() -> None:
    tables = timetables()
    assert [sum(length for _, length in table) for table in tables] == [50, 120]
    for table in tables:
        clock = 0
        for start, length in table:
            assert start == clock
            clock += length


def test_every_part_of_the_lecture_is_described_under_its_minute() -> None:
    described = [int(minute) for minute in re.findall(r"^### (\d+) · ", TEACHING, re.MULTILINE)]
    assert described == [start for start, _ in timetables()[0]]


def test_the_marks_of_the_exam_add_up() -> None:
    questions = re.findall(r"^### Question \d, \w+ \((\d+) marks, (\d+) minutes\)", TEACHING, re.MULTILINE)
    schemes = re.findall(r"^\| part \| marks \| for \|\n\|[-|]+\n((?:\|.*\n)+)", TEACHING, re.MULTILINE)
    marks, minutes = ([int(question[place]) for question in questions] for place in (0, 1))
    assert f"Three questions, {sum(minutes)} minutes, {sum(marks)} marks." in TEACHING
    assert len(schemes) == len(marks) == 3
    for total, scheme in zip(marks, schemes, strict=True):
        given = re.findall(r"^\| \w \| (\d+) \| (.*) \|$", scheme, re.MULTILINE)
        assert sum(int(one) for one, _ in given) == total
        for one, reasons in given:  # each part says what its marks are for
            assert sum(map(int, re.findall(r"\((\d)\)", reasons))) == int(one)


def test_homework_names_exercises_that_exist_and_adds_up_to_ten_marks() -> None:
    rows = re.findall(r"^\| `(\d\d-\d)` \| (\d+) \|", TEACHING, re.MULTILINE)
    assert sum(int(marks) for _, marks in rows) == 10
    texts = {path.stem[:2]: path.read_text(encoding="utf-8") for path in notebooks.paths()}
    for name in sorted(set(re.findall(r"\b(\d\d-\d)\b", TEACHING))):
        assert name in exercises.load()
        assert name in texts[name[:2]]


@pytest.mark.parametrize(
    ("text", "folder"), [(TEACHING, "paper"), (GLOSSARY, "site")], ids=["teaching", "glossary"]
)
def test_every_linked_file_exists(text: str, folder: str) -> None:
    links = set(LINK.findall(text))
    assert len(links) > 10
    assert [link for link in sorted(links) if not (ROOT / folder / link).is_file()] == []


def test_commands_and_places_that_are_named_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"`make (\w+)", TEACHING))
    assert targets >= {"lab", "site"}
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    assert notebooks.solutions()


class Computed(doctest.DocTestRunner):
    """Runs examples and keeps all numbers in what they take and in what they give."""

    def __init__(self) -> None:
        super().__init__(optionflags=FLAGS)
        self.numbers: set[float] = set()
        self.names: dict[str, Any] = {}

    def report_success(self, out: Any, test: Any, example: doctest.Example, got: str) -> None:
        self.numbers |= set(map(float, re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", example.source + got)))


@pytest.fixture(scope="module")
def computed() -> Computed:
    runner = Computed()
    page = doctest.DocTestParser().get_doctest(TEACHING, {}, "teaching.md", str(PATH), 0)
    runner.run(page, clear_globs=False)
    runner.names = page.globs
    return runner


def test_every_line_of_code_gives_what_the_page_says(computed: Computed) -> None:
    result = computed.summarize(verbose=False)
    assert result.failed == 0
    assert result.attempted > 50


def test_every_decimal_in_the_prose_is_a_computed_number(computed: Computed) -> None:
    """Rounded to what is shown, or up; a share may be written as per cent."""
    small = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
    pattern = r"(\d+)\.(\d+)(?: ?(?:·|\\cdot) ?10(?:⁻([⁰¹²³⁴⁵⁶⁷⁸⁹]+)|\^\{-(\d+)\}))?(\s+per\s+cent)?"
    found = list(re.finditer(pattern, PROSE))
    assert len(found) > 40
    unknown = []
    for match in found:
        whole, places, raised, latex, share = match.groups()
        unit = 10.0 ** -(len(places) + int((raised or latex or "0").translate(small)) + 2 * bool(share))
        shown = int(whole + places)
        if not any(shown in (round(value / unit), math.ceil(value / unit)) for value in computed.numbers):
            unknown.append(match.group())
    assert unknown == []


def test_every_integer_in_the_prose_is_a_computed_number(computed: Computed) -> None:
    """Of two or more digits, outside tables, headings, links and code; a share may be written as per cent."""
    text = re.sub(r"^(?:\||#).*$|\[[^\]]*\]\([^)]*\)|`[^`]*`", "", PROSE, flags=re.MULTILINE)
    text = NO_CLAIM.sub("", " ".join(text.split()))
    found = re.findall(r"(?<![\d.])(\d{1,3}(?: \d{3})+|\d{2,})(?![\d]|\.\d)( per cent)?", text)
    assert len(found) > 40
    shares = {round(100 * value) for value in computed.numbers if value < 1}
    unknown = [
        number + share
        for number, share in found
        if int(number.replace(" ", "")) not in (shares if share else computed.numbers)
    ]
    assert unknown == []


@pytest.mark.parametrize("pattern", CLAIMS)
def test_an_integer_in_the_prose_is_the_one_that_its_code_gives(pattern: str, computed: Computed) -> None:
    said = re.findall(pattern, " ".join(PROSE.split()))
    assert [int(number.replace(" ", "")) for number in said] == [eval(CLAIMS[pattern], computed.names)]  # noqa: S307


def test_the_errata_have_what_the_lecture_says_where_it_says_so() -> None:
    errata = (ROOT / "paper/errata.md").read_text(encoding="utf-8")
    assert "looks one way only: the errata have it under *What does not hold*" in " ".join(TEACHING.split())
    failed = errata.partition("## What does not hold")[2].partition("\n## ")[0]
    assert "Ledger: `post-guarantee`" in failed


def test_every_entry_of_the_glossary_was_understood() -> None:
    assert len(NAMES) == len(set(NAMES)) == len(re.findall(r"first met\*", GLOSSARY, re.IGNORECASE))
    assert set(" ".join(WORDS.split()).split(", ")) <= set(NAMES)


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_an_entry_is_one_sentence_with_names_that_exist(entry: glossary.Entry) -> None:
    assert re.fullmatch(r"[A-Z$\\].*\.", entry.sentence)
    assert not re.search(r"[.?!] [A-Z]", entry.sentence)
    assert re.search(r"\*[Ff]irst met\*", entry.line)
    for name in re.findall(r"`([^`]+)`", entry.line):
        resolve(name)
    for name in re.findall(r"`(\w+\.[^`]+)`", entry.sentence):
        resolve(name)


def home(module: str) -> str:
    """The package of the library in which a module stands."""
    for package in ("", "beyond.", "counts.", "support."):
        if importlib.util.find_spec(f"tablebuilder_dp.{package}{module}"):
            return f"tablebuilder_dp.{package}"
    return "tablebuilder_dp."


def resolve(name: str) -> Any:
    """The object of a name such as ``design.guide(...).support``, by the types that functions state."""
    if name.startswith(PROGRAM):
        with pytest.raises(SystemExit) as ended:
            main.main([*name.split()[1:], "--help"])
        assert ended.value.code == 0
        return None
    package = "" if name.startswith("compendium.") else home(name.split(".")[0])
    first, *rest = f"{package}{name}".replace("(...)", "()").split(".")
    found: Any = importlib.import_module(first)
    for part in rest:
        word, called = part.removesuffix("()"), part.endswith("()")
        if isinstance(found, ModuleType) and not hasattr(found, word):
            importlib.import_module(f"{found.__name__}.{word}")
        if isinstance(found, type) and word in typing.get_type_hints(found):
            found = typing.get_type_hints(found)[word]
        else:
            found = getattr(found, word)
        if called and not isinstance(found, type):
            found = typing.get_type_hints(found)["return"]
    return found


@pytest.mark.parametrize("name", ["design.guyde", "design.guide(...).supporte", "tablebuilder-dp dezign"])
def test_a_wrong_name_is_noticed(name: str) -> None:
    with pytest.raises((AttributeError, ImportError, AssertionError)):
        resolve(name)


@pytest.mark.parametrize("symbol", " ".join(SYMBOLS.split()).split("; "))
def test_every_symbol_of_the_paper_has_an_entry(symbol: str) -> None:
    """As what a formula begins with or is equal to, not as a letter inside."""
    formulas = [formula for entry in ENTRIES for formula in re.findall(r"\$([^$]+)\$", entry.line)]
    heads = [head for formula in formulas for head in re.split(r", | = | \\in | \\subset ", formula)]
    opens = symbol in (r"\lceil", r"\lfloor", r"\mathbb{E}", r"\mathbb{P}")
    assert symbol in formulas + heads or (opens and any(head.startswith(symbol) for head in heads))


def test_sphinx_builds_the_glossary_without_a_warning(tmp_path: Path) -> None:
    """With nearly empty pages in place of the notebooks; links to entries must find them."""
    text = glossary.page(GLOSSARY).replace(".ipynb", ".md").replace("](../", "](")  # as the site's build does
    settings = {
        "extensions": ["myst_parser"],
        "myst_enable_extensions": ["dollarmath"],
        "myst_heading_anchors": 2,
        "root_doc": "glossary",
    }
    (tmp_path / "conf.py").write_text(f"globals().update({settings})\n", encoding="utf-8")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "glossary.md").write_text(text, encoding="utf-8")
    for link in {*LINK.findall(text), "past.md"}:
        (tmp_path / link).write_text(
            "---\norphan: true\n---\n\n# A page\n\n## How large must KEYSIZE be?\n", encoding="utf-8"
        )
    options = ["-W", "--keep-going", "-q", "-b", "dummy"]
    command = [sys.executable, "-m", "sphinx", *options, str(tmp_path), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# --- the way through --------------------------------------------------------------------------


def test_there_is_one_reading_order() -> None:
    """Notebook 0, the page for students, the folder's README and the page for teachers say the same."""
    page = (ROOT / "site/students.md").read_text(encoding="utf-8")
    _, first, second = re.split(r"^## (?:First|Second) reading$", page, flags=re.MULTILINE)
    listed = [[int(number) for number in re.findall(r"\[(\d+)\]\(", part)] for part in (first, second)]
    assert [sorted(part) for part in listed] == listed
    everything = {int(path.name[:2]) for path in notebooks.paths()}
    assert sorted([*listed[0], *listed[1]]) == sorted(everything - set(notebooks.PARTS[notebooks.PLAY]))
    map_of_notebooks = (ROOT / "notebooks/00-start-here.ipynb").read_text(encoding="utf-8")
    said = re.search(
        r"On a first reading take (\d+) to (\d+), then (\d+) to (\d+), and (\d+)", map_of_notebooks
    )
    assert said is not None
    a, b, c, d, e = map(int, said.groups())
    assert listed[0] == [*range(a, b + 1), *range(c, d + 1), e]
    for other in (TEACHING, (ROOT / "notebooks/README.md").read_text(encoding="utf-8")):
        assert "(../site/students.md)" in other
