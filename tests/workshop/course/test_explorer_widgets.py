"""The explorer's widgets and pictures follow the settings; the widgets explain what has no answer.

That they say what the page says is the subject of tests/workshop/site/test_explorer_page.py.
"""

import contextlib
import io
import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import pytest
from matplotlib.figure import Figure

from compendium.course.explorer_widgets import Explorer
from compendium.figures import explorer as pictures
from compendium.studies import explorer, explorer_words
from compendium.studies.explorer import Settings, explore, say
from tablebuilder_dp.cli import main
from tablebuilder_dp.cli.answers import PROGRAM

FEW = Settings(epsilon="1", delta="0.01", keysize=2**8)
"""A small design, quick to draw."""
SOME = [Settings(), FEW, Settings(support=7, slack="0", keysize=1000, rule="symmetric")]
EXTREME = [
    Settings(epsilon="20", support=1000, keysize=2),
    Settings(epsilon="20", delta="1e-30", rule="symmetric"),
    Settings(epsilon="0.01", delta="0.5", slack="1"),
    Settings(epsilon="0.2", delta="1e-30", keysize=2**64),
]


@pytest.fixture
def desk() -> Explorer:
    return Explorer(FEW)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the pictures that are drawn, in order."""
    names: list[str] = []

    def live(draw: Callable[..., None], _: Any) -> bytes:
        names.append(draw.__name__)
        return b"picture"

    monkeypatch.setattr(pictures, "live", live)
    return names


def problems(desk: Explorer) -> dict[str, str]:
    return {name: message.value for name, message in desk.messages.items() if message.value}


def shown(desk: Explorer) -> list[tuple[str, ...]]:
    """The numbers that stand in the table, row by row."""
    rows = desk.numbers.value.split("<tr>")[2:]
    return [tuple(re.findall(r"<td[^>]*>(.*?)</td>", row)) for row in rows]


@pytest.mark.parametrize(
    ("name", "text", "changed"),
    [
        ("epsilon", "0.7", {"epsilon": "0.7"}),
        ("delta", "2e-3", {"delta": "2e-3"}),
        ("support", "9", {"support": 9}),
        ("slack", " 0.25 ", {"slack": "0.25"}),
        ("keysize", "2^12", {"keysize": 2**12}),
        ("keysize", "1000", {"keysize": 1000}),
    ],
)
def test_typing_changes_what_is_shown(
    desk: Explorer, drawn: list[str], name: str, text: str, changed: dict[str, Any]
) -> None:
    before = desk.numbers.value, desk.lines.value
    desk.fields[name].text.value = text
    assert desk.settings == replace(FEW, **changed)
    assert desk.explored == explore(desk.settings)
    assert desk.fields[name].text.value == text
    assert desk.numbers.value != before[0]
    assert desk.lines.value != before[1]
    assert "curve_axes" in drawn


@pytest.mark.parametrize("name", ["epsilon", "delta", "support", "slack", "keysize"])
def test_a_slider_writes_its_text(drawn: list[str], name: str) -> None:
    desk = Explorer(replace(FEW, epsilon="2", slack="0.5"))
    field = desk.fields[name]
    for place in (0, field.slider.max // 2, field.slider.max):
        field.slider.value = place
        assert field.text.value == explorer_words.ladder(name)[place]
        assert desk.settings == explorer.read(desk.typed)
        assert problems(desk) == {}
        assert field.slider.value == place


def test_a_slider_goes_near_what_is_typed_and_leaves_it(desk: Explorer, drawn: list[str]) -> None:
    field = desk.fields["epsilon"]
    field.text.value = "0.8374"
    assert explorer_words.ladder("epsilon")[field.slider.value] == "0.84"
    assert field.text.value == desk.typed["epsilon"] == "0.8374"


def test_the_rule_changes_the_table(desk: Explorer, drawn: list[str]) -> None:
    assert desk.explored.after.bias < 0
    desk.rule.label = explorer.FIELDS["rule"]["choices"]["symmetric"]
    assert desk.settings.rule == "symmetric"
    assert desk.explored.after.bias == 0
    assert shown(desk)[4] == ("bias", "0", "0")


def test_a_support_can_be_chosen_and_given_back(desk: Explorer, drawn: list[str]) -> None:
    best, field = desk.explored.best_support, desk.fields["support"]
    assert (desk.auto.value, field.text.value) == (True, str(best))
    field.slider.value += 3
    assert (desk.explored.support, desk.typed["support"], desk.auto.value) == (best + 3, str(best + 3), False)
    desk.fields["epsilon"].text.value = "0.9"
    assert desk.explored.support == best + 3
    desk.auto.value = True
    assert desk.typed["support"] == "auto"
    assert desk.explored.support == desk.explored.best_support == int(field.text.value)
    desk.auto.value = False
    assert desk.typed["support"] == str(desk.explored.best_support)
    field.text.value = "auto"
    assert (desk.typed["support"], desk.auto.value) == ("auto", True)


@pytest.mark.parametrize("settings", SOME)
def test_numbers_are_those_of_the_explorer(drawn: list[str], settings: Settings) -> None:
    desk = Explorer(settings)
    numbers = explorer.numbers(explore(settings))
    rows = explorer.WORDS["rows"]
    for (_, noise, table), row in zip(shown(desk), rows, strict=True):
        assert noise == (numbers[row["noise"]] if "noise" in row else row.get("noise_is", ""))
        assert table == (numbers[row["table"]] if "table" in row else "")
    named = {row[column] for row in rows for column in ("noise", "table", "head") if column in row}
    assert named == set(numbers) - {"keysize"}


def test_each_number_is_explained_when_asked_for(desk: Explorer, drawn: list[str]) -> None:
    assert "<small>" not in desk.numbers.value
    desk.explain.value = True
    assert desk.numbers.value.count("<small>") == len(explorer.WORDS["rows"])
    more = "With a smaller <var>D</var>"
    assert more in desk.numbers.value
    desk.fields["delta"].text.value = "0.5"
    assert desk.explored.best_support == 1
    assert more not in desk.numbers.value


def test_the_papers_example_comes_back(desk: Explorer, drawn: list[str]) -> None:
    desk.fields["support"].text.value = "x"
    desk.rule.value = "symmetric"
    desk.example.click()
    assert desk.settings == Settings()
    assert (problems(desk), desk.rule.value, desk.fields["keysize"].text.value) == ({}, "ceiling", "2^32")


@pytest.mark.parametrize(
    ("name", "text"),
    [("epsilon", "0,5"), ("delta", "2"), ("slack", ""), ("support", "all"), ("keysize", "2^")],
)
def test_a_bad_text_is_explained_beside_its_field_and_the_last_answer_stays(
    desk: Explorer, drawn: list[str], name: str, text: str
) -> None:
    desk.fields["epsilon"].text.value = "0.9"
    outputs = (desk.why, desk.noise, desk.curve, desk.numbers)
    before, settings, lines = [output.value for output in outputs], desk.settings, desk.lines.value
    verdict, typed = desk.verdict.value, dict(desk.typed)
    assert desk.stale.value == ""
    good = desk.typed[name]
    desk.fields[name].text.value = text
    with pytest.raises(explorer.RefusalError) as refused:
        explorer.read({name: text})
    assert problems(desk) == {name: f"<b>{escape(str(refused.value))}</b>"}
    assert [output.value for output in outputs] == before
    assert desk.settings == settings
    assert desk.fields[name].text.value == text
    last = explorer_words.settings(typed, desk.explored.support)
    assert desk.stale.value == escape(say("stale", settings=last))
    assert (desk.verdict.value, desk.lines.value) == (f"<b>{say('no_answer')}</b>", "")
    desk.fields[name].text.value = good
    assert problems(desk) == {}
    assert (desk.stale.value, desk.lines.value, desk.verdict.value) == ("", lines, verdict)


def test_each_bad_field_is_explained(desk: Explorer) -> None:
    desk.fields["epsilon"].text.value = "one"
    desk.fields["delta"].text.value = "two"
    assert list(problems(desk)) == ["epsilon", "delta"]
    desk.fields["epsilon"].text.value = "1"
    assert list(problems(desk)) == ["delta"]


def test_settings_that_have_no_answer_together_are_explained(desk: Explorer, drawn: list[str]) -> None:
    desk.fields["keysize"].text.value = "4"
    desk.rule.value = "symmetric"
    assert set(problems(desk)) == {"keysize", "rule"}
    assert "KEYSIZE must be a multiple of" in problems(desk)["keysize"]
    assert desk.settings.rule == "ceiling"
    assert desk.lines.value == ""
    desk.rule.value = "ceiling"
    assert desk.stale.value == ""
    assert say("download") in desk.lines.value
    desk.fields["epsilon"].text.value = "0.01"
    desk.fields["delta"].text.value = "1e-30"
    assert set(problems(desk)) == {"epsilon", "delta"}


def test_a_search_that_grows_too_large_is_explained_at_the_rule(
    desk: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def give_up(_: Settings) -> None:
        raise ArithmeticError("the nearest table was not found")

    monkeypatch.setattr(explorer, "explore", give_up)
    desk.rule.value = "symmetric"
    assert problems(desk) == {"rule": "<b>the nearest table was not found</b>"}


def test_what_has_no_numbers_is_not_shown(desk: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(_: explorer.Explored) -> None:
        raise ArithmeticError("no decision")

    monkeypatch.setattr(explorer, "numbers", give_up)
    desk.fields["epsilon"].text.value = "0.9"
    assert problems(desk) == {"rule": "<b>no decision</b>"}
    assert desk.settings == FEW


def test_what_is_typed_cannot_become_part_of_the_page(desk: Explorer) -> None:
    desk.fields["epsilon"].text.value = "<img src=x>"
    outputs = (desk.verdict, desk.stale, desk.why, desk.noise, desk.curve, desk.numbers, desk.lines)
    assert "<img src" not in "".join([*problems(desk).values(), *(output.value for output in outputs)])


def test_only_pictures_that_change_are_drawn(drawn: list[str]) -> None:
    desk = Explorer(FEW)
    assert drawn == ["noise_axes", "curve_axes"]
    drawn.clear()
    desk.fields["delta"].text.value = "0.0101"  # the same D*, another cross
    assert desk.explored.support == explore(FEW).support
    assert drawn == ["curve_axes"]
    drawn.clear()
    desk.fields["epsilon"].text.value = "1.0"
    assert drawn == []
    desk.fields["support"].text.value = str(desk.explored.support)
    assert drawn == []
    desk.fields["keysize"].text.value = "2^9"
    assert drawn == ["noise_axes", "curve_axes"]


def test_pictures_are_png_with_a_description(desk: Explorer) -> None:
    for picture in (desk.noise, desk.curve):
        size = 'width="440" style="max-width: 100%"'
        assert re.search(f'<img alt="[^"]{{40,}}" {size} src="data:image/png;base64,iVBOR', picture.value)
    numbers = explorer.numbers(desk.explored)
    assert escape(say("pmf_described", **numbers)) in desk.noise.value
    assert say("plateau", **numbers) in desk.curve.value


@pytest.mark.parametrize("settings", SOME)
def test_the_table_can_be_taken_home_and_made_again(drawn: list[str], settings: Settings) -> None:
    desk, found = Explorer(settings), explore(settings)
    link = re.search(r"<a download='([^']+)' href='data:text/csv;charset=utf-8,([^']+)'", desk.lines.value)
    assert link is not None
    assert link[1] == explorer_words.file_name(found)
    assert unquote(link[2]) == explorer.csv(found)
    assert not re.search(r"\s", link[2])  # a browser would drop it
    line = explorer_words.command(found)
    assert re.fullmatch(r"[a-z0-9 .-]+", line)  # nothing that a shell would read as a sign
    program, *arguments = shlex.split(line)
    assert program == PROGRAM
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main.main(arguments) == 0
    assert json.loads(printed.getvalue())["cuts"] == list(found.table.cuts)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(explorer_words.python(explorer_words.texts(settings)), {})  # noqa: S102
    assert printed.getvalue() == explorer.csv(found)
    typed = parse_qs(explorer_words.address(explorer_words.texts(settings)).removeprefix("#"))
    assert explorer.read({name: value for name, [value] in typed.items()}) == settings


def test_a_notebook_keeps_one_short_line(desk: Explorer) -> None:
    bundle = desk._repr_mimebundle_(include=None, exclude=None)
    line = "Explorer(epsilon=1, delta=0.01, support=auto, slack=0.1, keysize=2^8, rule=ceiling)"
    assert bundle["text/plain"] == repr(desk) == line
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == desk.box.model_id


def test_nothing_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPENDIUM_OUTPUT", str(tmp_path))
    desk = Explorer(FEW)
    desk.fields["epsilon"].text.value = "0.9"
    desk.auto.value = False
    assert list(tmp_path.iterdir()) == []


@pytest.mark.unmeasured
@pytest.mark.parametrize("settings", EXTREME)
def test_extreme_settings_can_be_shown(settings: Settings) -> None:
    desk = Explorer(settings)  # warnings of the drawing are errors
    assert problems(desk) == {}
    assert desk.settings == settings


def test_side_by_side_says_what_keeps_the_promise() -> None:
    choices = {
        "both": Settings(),
        "noise alone": Settings(keysize=2**8),
        "table alone": Settings(delta="9.5e-5", support=25, keysize=2**15, rule="symmetric"),
        "none": Settings(support=20),
    }
    _, rows = explorer_words.side_by_side(choices, ["support"])
    assert [row[1] for row in rows] == ["noise and table", "noise", "table", "neither"]


def test_texts_are_read_back() -> None:
    for settings in (*SOME, *EXTREME, Settings(epsilon=1, delta=1e-5, slack=0.1)):
        found = explore(explorer.read(explorer_words.texts(settings)))
        assert replace(found, settings=settings) == explore(settings)
    for number in (Fraction(1, 3), "0." + "3" * 40):
        with pytest.raises(explorer.RefusalError, match="^ε must be a number from"):
            explorer.read(explorer_words.texts(Settings(epsilon=number)))


def test_settings_without_an_answer_have_their_row() -> None:
    choices = {"few": replace(FEW, keysize=4, rule="symmetric"), "fine": FEW}
    headings, rows = explorer_words.side_by_side(choices, ["support", "lost"])
    assert headings == ["setting", r"keeps the wanted $(\varepsilon, \delta)$", "$D$", "values lost"]
    assert [row[0] for row in rows] == ["few", "fine"]
    assert rows[0][2:] == ("–", "–")
    assert rows[0][1].startswith("For a symmetric table")


def lines(axes: Any) -> dict[str, tuple[list[float], list[float]]]:
    """The places of what is drawn, by its name in the legend."""
    named = (line for line in axes.lines if not line.get_label().startswith("_"))
    return {line.get_label(): tuple(map(list, line.get_data())) for line in named}  # type: ignore[misc]


@pytest.mark.parametrize("settings", [*SOME, Settings(keysize=2**8)])
def test_dots_are_the_table_bars_the_noise_and_crosses_what_is_lost(settings: Settings) -> None:
    axes: Any = Figure().subplots()
    found = explore(settings)
    pictures.noise_axes(axes, found)
    bars = axes.patches[0].get_data()
    assert axes.patches[0].get_label() == "noise"
    assert list(bars.values) == found.pmf.tolist()
    assert [float(edge) for edge in bars.edges] == [z - 0.5 for z in range(-found.support, found.support + 2)]
    weights = dict(enumerate(found.table.weights, -found.support))
    lost = [z for z, weight in weights.items() if not weight]
    expected = {"lookup table": {z: w / found.table.keysize for z, w in weights.items() if w}}
    if lost:
        expected[say("lost")] = dict.fromkeys(lost, 0.0)
    assert {label: dict(zip(*places, strict=True)) for label, places in lines(axes).items()} == expected


@pytest.mark.parametrize("settings", [*SOME, Settings(keysize=2**8)])
def test_curves_lines_and_marks_are_where_they_belong(settings: Settings) -> None:
    axes: Any = Figure().subplots()
    found = explore(settings)
    pictures.curve_axes(axes, found)
    curve, wanted = explorer.curve(found), (float(settings.epsilon), float(settings.delta))
    assert lines(axes) == {
        "noise": (curve.epsilon.tolist(), curve.noise.tolist()),
        "lookup table": (curve.epsilon.tolist(), curve.table.tolist()),
        "plateau begins": ([float(found.plateau_onset)], [float(found.delta)]),
        say("wanted"): ([wanted[0]], [wanted[1]]),
    }
    across = [line for line in axes.lines if line.get_label().startswith("_")]
    assert [line.get_xdata()[0] for line in across if line.get_ydata() == [0, 1]] == [wanted[0]]
    assert [line.get_ydata()[0] for line in across if line.get_xdata() == [0, 1]] == [wanted[1]]


def test_descriptions_name_the_right_numbers() -> None:
    made = {"one": explore(Settings()), "other": explore(Settings(keysize=2**8))}
    alt = pictures.tables("x", made).alt
    assert f"other, values that no key gives: {explorer.ranges(made['other'].table.lost)}." in alt
    assert "one, values that no key gives: none;" in alt
    alt = pictures.curves("x", made).alt
    for title, delta in (("one", "9.91e-05"), ("other", f"{float(made['other'].delta_table):.2e}")):
        words = f"{title}: the noise's δ stays at 9.91e-05 from ε = {float(made[title].plateau_onset):.4g} on"
        assert f"{words}, the table's δ at the wanted ε is {delta}" in alt


def test_drawn_tables_are_the_tables() -> None:
    made = {"one": explore(FEW), "other": explore(Settings(support=3))}
    data = pictures.tables("x", made).data
    for title, found in made.items():
        rows = [row for row in zip(*data.values(), strict=True) if row[0] == title]
        assert [row[1] for row in rows] == list(range(-found.support, found.support + 1))
        assert [row[2] for row in rows] == found.pmf.tolist()
        assert [row[3] for row in rows] == list(found.table.weights)


def test_drawn_curves_are_the_curves() -> None:
    made = {"one": explore(FEW), "other": explore(replace(FEW, keysize=2**20))}
    drawing = pictures.curves("x", made)
    for title, found in made.items():
        rows = [row[1:] for row in zip(*drawing.data.values(), strict=True) if row[0] == title]
        for column, line in zip(zip(*rows, strict=True), explorer.curve(found), strict=True):
            assert column == pytest.approx(line.tolist(), rel=1e-8)
        at_epsilon = [row for row in rows if row[0] == float(found.design.epsilon)]
        assert at_epsilon[0][2] == pytest.approx(float(found.delta_table), rel=1e-8)
    assert len({axes.get_ylim() for axes in drawing.figure.axes}) == 1


@pytest.mark.parametrize(
    ("settings", "lost", "plateau"),
    [(Settings(), False, True), (Settings(keysize=2**8), True, True), (EXTREME[0], True, False)],
)
def test_legends_name_only_what_is_there(settings: Settings, lost: bool, plateau: bool) -> None:
    one, other = Figure().subplots(1, 2)
    pictures.noise_axes(one, explore(settings))
    assert (say("lost") in one.get_legend_handles_labels()[1]) == lost
    pictures.curve_axes(other, explore(settings))
    assert ("plateau begins" in other.get_legend_handles_labels()[1]) == plateau


def test_reactions_move_one_setting_and_follow_the_explorer() -> None:
    found = pictures.react(FEW)
    assert list(dict.fromkeys(one.moved for one in found)) == list(pictures.MOVED)
    for one in found[::17]:
        value: Any = int(one.value) if one.moved == "keysize" else one.value
        made = explore(replace(FEW, rule=one.rule, **{one.moved: value}))
        assert (one.best_support, one.variance) == (made.best_support, float(made.variance))
        assert one.epsilon_two_sided == made.after.epsilon_two_sided
    drawing = pictures.reactions("x", FEW)
    assert list(drawing.data) == list(pictures.Reaction._fields)
    assert list(drawing.data["value"]) == [one.value for one in found]


@pytest.mark.unmeasured
@pytest.mark.parametrize("settings", [Settings(epsilon="20", delta="0.5"), Settings(epsilon="0.03")])
def test_reactions_stay_within_the_limits(settings: Settings) -> None:
    drawing = pictures.reactions("x", settings)
    assert drawing.png
    rules = zip(drawing.data["rule"], drawing.data["best_support"], strict=True)
    assert max(support for rule, support in rules if rule == "symmetric") <= pictures.WIDEST


def test_same_settings_same_bytes() -> None:
    once, again = (pictures.tables("x", {"one": explore(FEW)}).files() for _ in range(2))
    assert once == again
    assert pictures.live(pictures.curve_axes, explore(FEW)) == pictures.live(
        pictures.curve_axes, explore(FEW)
    )
