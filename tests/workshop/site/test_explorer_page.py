"""The explorer's page, in Chromium: the library's numbers to the last digit, and what a visitor can do."""

import json
import math
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import furo  # type: ignore[import-untyped]
import pytest
from playwright.sync_api import Browser, Page, expect
from support.browser import Visit, visit
from support.tool_pages import STATIC, as_read, write_page

from compendium.course.explorer_widgets import Explorer
from compendium.figures import explorer as pictures
from compendium.run.places import ROOT
from compendium.studies import explorer, explorer_words, phrases
from compendium.studies.explorer import FIELDS as ALL
from compendium.studies.explorer import RefusalError, say
from tablebuilder_dp.beyond import symmetric
from tablebuilder_dp.cli import main
from tablebuilder_dp.cli.answers import PROGRAM

SEED = 20190617
FIELDS = tuple(name for name in ALL if name != "rule")
PHONE = {"width": 360, "height": 640}
LAPTOP = {"width": 1366, "height": 768}

DEFAULTS = {name: field["default"] for name, field in ALL.items()}
HEADS = [row["head"] for row in explorer.WORDS["rows"] if "head" in row]

WRAPPER = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Explorer</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="_static/furo.css"></head>
<body data-theme="auto"><div class="page"><div class="main"><div class="content">
<div class="article-container"><article><section id="explorer"><h1>Explorer</h1>{}</section></article></div>
</div></div></div></body></html>
"""

GO = """(address) => new Promise((done) => {
  addEventListener("hashchange", () => setTimeout(done), { once: true });
  location.hash = address;
})"""

SHOWN = """() => ({
  stale: document.getElementById("explorer-all").classList.contains("stale"),
  numbers: Object.fromEntries([...document.querySelectorAll(".explorer [data-number]")]
    .map((cell) => [cell.dataset.number, cell.textContent])),
  heads: Object.fromEntries([...document.querySelectorAll(".explorer-head [data-number]")]
    .map((cell) => [cell.dataset.number, cell.textContent])),
  kept: document.getElementById("explorer-verdict").classList.contains("kept"),
  said: ["verdict", "why", "settings", "plateau", "command", "pmf-desc", "curve-desc"]
    .map((name) => document.getElementById(`explorer-${name}`)[name === "why" ? "innerHTML" : "textContent"]),
  sliders: [...document.querySelectorAll("input[type=range]")].map((slider) => Number(slider.value)),
  csv: "noise,keys,cut\\n" + [...document.querySelectorAll("#explorer-cuts tr")]
    .map((row) => [...row.children].map((cell) => cell.textContent).join(",") + "\\n").join(""),
  errors: Object.fromEntries([...document.querySelectorAll(".explorer-error")]
    .filter((error) => error.textContent).map((error) => [error.id, error.textContent])),
})"""

COMPUTED = """(texts) => {
  const found = explorerCore.explore(explorerCore.read(texts).settings);
  const verdicts = [found.noiseKeeps, found.tableKeeps, found.tableKeepsNoise, Boolean(found.keepsEpsilon)];
  return { numbers: found.numbers, csv: explorerCore.csv(found), verdicts };
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The fragment in a page of its own, in the site's style, opened as a file."""
    folder = tmp_path_factory.mktemp("explorer")
    (folder / "_static").mkdir()
    shutil.copy(Path(furo.__file__).parent / "theme/furo/static/styles/furo.css", folder / "_static")
    return write_page(folder, "explorer", WRAPPER)


@pytest.fixture
def visited(chromium: Browser, address: str) -> Iterator[Visit]:
    with visit(chromium, address) as opened:
        yield opened


@pytest.fixture
def page(visited: Visit) -> Page:
    return visited.page


def link(texts: dict[str, str]) -> str:
    return "#" + "&".join(f"{name}={text}" for name, text in texts.items())


def shown(page: Page) -> Any:
    return page.evaluate(SHOWN)


def is_settled(page: Page) -> None:
    """Wait for the next frame, in which changes are computed."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def drawn(generator: random.Random) -> dict[str, str]:
    """Settings as they might be typed, over all that the explorer allows."""
    rule = generator.choice(symmetric.RULES)
    epsilon = min(max(10 ** generator.uniform(-2, 1.31), 0.01), 20)
    delta = 10 ** generator.uniform(generator.choice([-9, -30]), -0.302)
    most = 90 if rule == "symmetric" else generator.choice([60, 1000])
    return {
        "epsilon": f"{epsilon:.{generator.choice([1, 2, 4])}g}",
        "delta": f"{delta:.{generator.choice([1, 2])}g}",
        "slack": generator.choice(["0", "1", "0.1", f"{generator.random():.3f}"]),
        "support": generator.choice(["auto", str(generator.randint(1, most))]),
        "keysize": generator.choice(
            [f"2^{generator.randint(1, 64)}", "2^16", "2^32", str(generator.randint(2, 3000))]
        ),
        "rule": rule,
    }


EDGES: list[dict[str, str]] = [
    {},
    {"rule": "symmetric"},
    {"support": "1000", "epsilon": "20"},
    {"support": "1000", "epsilon": "0.01", "slack": "1", "keysize": "2^64"},
    {"support": "999", "slack": "0", "keysize": "2"},
    {"support": "1", "slack": "0", "keysize": "3", "rule": "symmetric"},
    {"support": "1", "keysize": "256", "delta": "0.28125"},
    {"support": "1", "keysize": "256", "delta": "0.28124"},
    {"support": "150", "rule": "symmetric", "keysize": "2^64"},
    {"epsilon": "0.01", "delta": "1e-3", "keysize": "18446744073709551615"},
    {"epsilon": "0.1", "support": "10", "keysize": "210", "rule": "symmetric"},
    {"epsilon": "0.1", "support": "10", "keysize": "189", "rule": "symmetric"},
]


def said(texts: dict[str, str], found: explorer.Explored) -> list[str]:
    """What Python says of some settings, in the order of `SHOWN`."""
    numbers = explorer.numbers(found)
    return [
        explorer_words.verdict(found),
        phrases.html(explorer_words.reasons(found)),
        explorer_words.settings(texts, found.support),
        say("plateau", **numbers),
        explorer_words.command(found),
        say("pmf_described", **numbers),
        say("curve_described", **numbers, wanted=found.settings.delta),
    ]


def test_a_hundred_settings_give_the_librarys_numbers_and_words(page: Page) -> None:
    generator = random.Random(SEED)  # noqa: S311
    compared: list[tuple[dict[str, str], explorer.Explored]] = []
    refused = too_large = 0
    while len(compared) < len(EDGES) + 100:
        number = len(compared) + refused + too_large
        texts = {**DEFAULTS, **EDGES[number]} if number < len(EDGES) else drawn(generator)
        note = f"seed {SEED}, {link(texts)}"
        page.evaluate(GO, link(texts))
        ours = shown(page)
        if ours["errors"].get("explorer-rule-error", "").startswith(say("search")):
            too_large += 1
            continue
        try:
            found = explorer.explore(explorer.read(texts))
        except RefusalError as refusal:
            errors = {f"explorer-{name}-error": str(refusal) for name in refusal.fields}
            assert (ours["stale"], ours["errors"]) == (True, errors), note
            refused += 1
            continue
        assert not ours["stale"], f"{note}: {ours['errors']}"
        theirs = explorer.numbers(found)
        assert ours["numbers"] == {name: theirs[name] for name in set(theirs) - {"keysize"}}, note
        assert ours["heads"] == {name: theirs[name] for name in HEADS}, note
        assert ours["csv"] == explorer.csv(found), note
        assert ours["kept"] == found.table_keeps, note
        assert ours["said"] == said(texts, found), note
        rungs = texts | {"support": str(found.support)}
        assert ours["sliders"] == [explorer_words.nearest(name, rungs[name]) for name in FIELDS], note
        verdicts = [found.noise_keeps, found.table_keeps, found.table_keeps_noise, found.keeps_epsilon]
        computed = {"numbers": theirs, "csv": ours["csv"], "verdicts": verdicts}
        assert page.evaluate(COMPUTED, texts) == computed, note
        compared.append((texts, found))

    assert 3 <= refused <= 30  # no D* up to 1000, no symmetric table of so few keys
    assert too_large <= 5
    assert {texts["rule"] for texts, _ in compared} == set(symmetric.RULES)
    assert sum(not found.table.full_support for _, found in compared) >= 15
    assert sum(found.support >= 500 for _, found in compared) >= 5
    assert sum(texts["support"] == "auto" for texts, _ in compared) >= 20
    for slack in ("0", "1"):
        assert sum(texts["slack"] == slack for texts, _ in compared) >= 5
    for verdict in ("noise_keeps", "table_keeps", "table_keeps_noise", "keeps_epsilon"):
        assert {getattr(found, verdict) for _, found in compared} == {True, False}, verdict


DESK = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const html = (selector) => all(selector).map((found) => found.innerHTML);
  const at = (name) => document.getElementById(`explorer-${name}`);
  return {
    groups: html("legend"),
    fields: all(".explorer-field:not([role])").map((field) => {
      const [label, text, slider] = field.children;
      const help = field.querySelector(".explorer-help");
      return [label.innerHTML, help.innerHTML, text.value, slider.min, slider.max, slider.value];
    }),
    rule: html("#explorer-rule-label"),
    rules: all("[name=rule]").map((radio) => [radio.labels[0].innerHTML, radio.checked]),
    auto: [at("auto").labels[0].innerHTML, at("auto").checked],
    buttons: [...html("#explorer-example"), at("explain").labels[0].innerHTML, ...html("#explorer-download")],
    errors: html(".explorer-field > .explorer-error"),
    verdict: at("verdict").innerHTML,
    stale: at("stale").hidden ? "" : at("stale").innerHTML,
    why: at("why").innerHTML,
    captions: html(".explorer-plots figcaption b").slice(0, 2),
    described: html(".explorer-plots desc").slice(0, 2),
    columns: html(".explorer-numbers thead th").slice(1),
    rows: all(".explorer-numbers tbody tr").map((row) => [...row.children].map((cell) => cell.innerHTML)),
    shell: at("command").parentElement.innerHTML,
  };
}"""


def of_widget(desk: Explorer) -> Any:
    """What the widget shows, in the shape of `DESK`."""
    groups = [
        part.value for part in desk.box.children[: len(desk.fields) + 4] if hasattr(part, "placeholder")
    ]
    head, *rows = (re.findall(r"<td[^>]*>(.*?)</td>", row) for row in desk.numbers.value.split("<tr>")[1:])
    pictures = [picture.value for picture in (desk.noise, desk.curve)]
    found = {
        "groups": groups,
        "fields": [
            (
                part.text.description,
                part.text.tooltip,
                part.text.value,
                part.slider.min,
                part.slider.max,
                part.slider.value,
            )
            for part in desk.fields.values()
        ],
        "rule": [desk.rule.description],
        "rules": [(label, str(rule == desk.rule.value)) for label, rule in desk.rule.options],
        "auto": (desk.auto.description, desk.auto.value),
        "buttons": [
            desk.example.description,
            desk.explain.description,
            *re.findall("<a .*?</a>", desk.lines.value),
        ],
        "errors": [desk.messages[name].value for name in ALL],
        "verdict": desk.verdict.value,
        "stale": desk.stale.value,
        "why": desk.why.value,
        "captions": [re.findall("<b>(.*?)</b>", picture)[0] for picture in pictures],
        "described": [re.findall('alt="(.*?)"', picture)[0] for picture in pictures],
        "columns": head[1:],
        "rows": rows,
        "shell": desk.lines.value.partition("<br>")[2].partition("</pre>")[0].replace("<pre", " <pre"),
    }
    return as_read(found)


def type_into(desk: Explorer, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        control = desk.rule if name == "rule" else desk.fields[name].text
        control.value = text


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "live", lambda *_: b"")


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("texts", EDGES, ids=link)
def test_widget_and_page_show_the_same(page: Page, texts: dict[str, str]) -> None:
    desk = Explorer()
    type_into(desk, texts)
    page.evaluate(GO, link(desk.typed))
    page.locator("#explorer-explain").check()
    desk.explain.value = True
    assert as_read(page.evaluate(DESK)) == of_widget(desk)


WRONG: list[dict[str, str]] = [
    {"epsilon": "0,5", "delta": "x", "slack": "1e-301", "support": "0", "keysize": "2^65"},
    {"epsilon": "", "delta": "0.51", "slack": "0." + "1" * 39, "support": "D", "keysize": "-4"},
    {"epsilon": "0.01", "delta": "1e-30"},
    {"keysize": "64", "rule": "symmetric"},
]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("texts", WRONG, ids=link)
def test_widget_and_page_refuse_with_the_same_words(page: Page, texts: dict[str, str]) -> None:
    desk = Explorer()
    for name, text in texts.items():  # one by one, as the last that has an answer is shown
        type_into(desk, {name: text})
        page.evaluate(GO, link(desk.typed))
    page.locator("#explorer-explain").check()
    desk.explain.value = True
    ours, theirs = as_read(page.evaluate(DESK)), of_widget(desk)
    assert any(ours["errors"])
    for part in ("buttons", "shell"):  # the page's are disabled, the widget has none
        del ours[part], theirs[part]
    assert ours == theirs
    page.locator("#explorer-example").click()
    desk.example.click()
    assert as_read(page.evaluate(DESK)) == of_widget(desk)


def test_places_are_filled_as_in_python(page: Page) -> None:
    generator = random.Random(SEED)  # noqa: S311
    templates = [*explorer.WORDS["say"].values(), *(row["explain"] for row in explorer.WORDS["rows"])]
    templates += ["{a:|s}", "{a}{b}", "{a:one|many} {b:x|}", "{a} {", "} {a", "no place"]
    cases = []
    for template in templates:
        names = {match[1] for match in phrases.PLACE.finditer(template)}
        for _ in range(5):
            cases.append(
                (template, {name: generator.choice(["1", "0", "2", 1, 20, "ε", "{a}"]) for name in names})
            )
    found = page.evaluate(
        "cases => cases.map(([template, values]) => pageWords.fill(template, values))", cases
    )
    assert found == [phrases.fill(template, **values) for template, values in cases]
    with pytest.raises(Exception, match="no value for rounds"):
        page.evaluate("pageWords.fill('{rounds:round|rounds}', {})")
    with pytest.raises(KeyError):
        phrases.fill("{rounds:round|rounds}")


def test_the_main_numbers_and_pictures_are_seen_at_once(chromium: Browser, address: str) -> None:
    with visit(chromium, address, viewport=LAPTOP) as opened:
        places = ["#explorer-verdict", *(f".explorer-head [data-number={name}]" for name in HEADS)]
        for place in [*places, "#explorer-plot-pmf svg", "#explorer-plot-curve svg"]:
            expect(opened.page.locator(place)).to_be_in_viewport(ratio=1)


AXES = """(svg) => {
  const all = (selector) => [...svg.querySelectorAll(":scope > " + selector)];
  const texts = (anchor) => all(`text[text-anchor=${anchor}]`).map((text) => text.textContent);
  const place = (path, i) => Number(path.getAttribute("d").match(/[-\\d.]+/g)[i]);
  return {
    x: all("path.axis[d$=v4]").map((path, i) => [texts("middle")[i], place(path, 0)]),
    y: all("path.grid").map((path, i) => [texts("end")[i], place(path, 1)]),
  };
}"""
POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


class Axis:
    """A place in a picture as the number that its first and last tick make of it."""

    def __init__(self, ticks: list[tuple[str, float]]) -> None:
        numbers = [
            (power(label) if "10" in label and label[-1] > "9" else float(label), at) for label, at in ticks
        ]
        (self.first, self.start), (last, end) = numbers[0], numbers[-1]
        self.scale = (last - self.first) / (end - self.start)

    def __call__(self, place: float) -> float:
        return self.first + (place - self.start) * self.scale


def power(label: str) -> int:
    """The exponent of a tick such as 10⁻⁴."""
    return int(label.removeprefix("10").translate(POWERS))


def axes(page: Page, name: str) -> tuple[Axis, Axis]:
    found = page.locator(f"#explorer-plot-{name} svg").evaluate(AXES)
    return Axis(found["x"]), Axis(found["y"])


def places(page: Page, selector: str) -> list[float]:
    found = page.locator(selector).get_attribute("d") or ""
    return [float(number) for number in re.findall(r"-?[\d.]+", found)]


def test_the_pictures_show_the_numbers(page: Page) -> None:
    texts = {"epsilon": "1", "support": "6", "keysize": "64", "delta": "0.02"}
    page.evaluate(GO, link(texts))
    found = explorer.explore(explorer.read(texts))
    shares = {z: weight / 64 for z, weight in zip(range(-6, 7), found.table.weights, strict=True) if weight}

    x, y = axes(page, "pmf")
    numbers = places(page, "#explorer-plot-pmf .dots")  # x, y and a 0 of each dot
    dots = {round(x(a), 1): y(b) for a, b in zip(numbers[::3], numbers[1::3], strict=True)}
    assert dots == pytest.approx(shares, abs=1e-3)
    assert dots != pytest.approx(dict(zip(range(-6, 7), found.pmf.tolist(), strict=True)), abs=1e-3)
    area = places(page, "#explorer-plot-pmf .area")  # the first corner, then two for each value
    assert [y(at) for at in area[3:-1:4]] == pytest.approx(found.pmf.tolist(), abs=1e-3)

    x, y = axes(page, "curve")
    assert x(places(page, "#explorer-plot-curve .wanted[d*=V]")[0]) == pytest.approx(1, abs=5e-3)
    wanted = places(page, "#explorer-plot-curve .wanted[d*=H]")[1]
    assert y(wanted) == pytest.approx(math.log10(0.02), abs=0.01)
    start = page.locator("#explorer-plot-curve .start")
    assert x(float(start.get_attribute("cx") or "")) == pytest.approx(float(found.plateau_onset), abs=5e-3)
    assert y(float(start.get_attribute("cy") or "")) == pytest.approx(
        math.log10(float(explorer.text(found.delta))), abs=0.01
    )


@pytest.mark.parametrize("hash_", ["#support=1&keysize=2&delta=0.5", "#epsilon=0.01&support=1&keysize=3"])
def test_a_flat_curve_has_labels_too(page: Page, hash_: str) -> None:
    page.evaluate(GO, hash_)
    assert page.locator("#explorer-plot-curve svg > text[text-anchor=end]").count() >= 2


@pytest.mark.parametrize(
    "texts", [{}, {"keysize": "2^12", "epsilon": "1"}, {"support": "300", "rule": "ceiling"}]
)
def test_curves_are_the_librarys(page: Page, texts: dict[str, str]) -> None:
    theirs = explorer.curve(explorer.explore(explorer.read(texts)))
    ours = page.evaluate(
        "(texts) => explorerCore.curve(explorerCore.explore(explorerCore.read(texts).settings))", texts
    )
    for name, values in theirs._asdict().items():
        assert ours[name] == pytest.approx(values.tolist(), rel=1e-6, abs=1e-300), name


@pytest.mark.parametrize("name", FIELDS)
def test_a_slider_goes_from_one_limit_to_the_other(page: Page, name: str) -> None:
    for key, end in (("Home", "low"), ("End", "high")):
        page.locator(f"#explorer-{name}-slider").press(key)
        is_settled(page)
        reached = page.locator(f"#explorer-{name}").input_value()
        assert explorer.read({name: reached}) == explorer.read({name: ALL[name][end]})


TYPED = {
    "epsilon": [
        "0.01",
        "20",
        "1e-2",
        ".5",
        "5.",
        "+1",
        "2E0",
        "0.009",
        "20.1",
        "-1",
        "",
        "x",
        "1e",
        "0,5",
        "1e999",
        ".",
    ],
    "delta": ["1e-30", "0.5", "5e-1", "0", "0.51", "1e-31", "1e-4000", "--1", "1/3"],
    "slack": ["0", "1", "0.25", "1e-300", "1.01", "-0.01", "one", "1e-301"],
    "support": ["1", "1000", "007", "0", "1001", "2.5", "-3", "", "ten", "1e2"],
    "keysize": [
        "2",
        "2^16",
        "2**16",
        "10^19",
        "18446744073709551616",
        "1",
        "2^65",
        "2^",
        "^2",
        "0x10",
        "65536.0",
        "-4",
    ],
}


@pytest.mark.parametrize("name", FIELDS)
def test_bad_input_is_explained_beside_its_field(page: Page, name: str) -> None:
    page.locator("#explorer-auto").uncheck()
    field, error = page.locator(f"#explorer-{name}"), page.locator(f"#explorer-{name}-error")
    assert f"explorer-{name}-error" in (field.get_attribute("aria-describedby") or "")
    good = "25" if name == "support" else field.input_value()
    seen = set()
    for text in TYPED[name]:
        field.fill(good)
        is_settled(page)
        before = shown(page)
        assert not before["stale"]
        field.fill(text)
        is_settled(page)
        after = shown(page)
        try:
            explorer.read({name: text})
            refusal = ""
        except RefusalError as problem:
            refusal = str(problem)
        assert after["stale"] == bool(refusal), text
        seen.add(bool(refusal))
        if not refusal:
            assert error.text_content() == "", text
            assert field.get_attribute("aria-invalid") is None
            continue
        assert after["errors"] == {f"explorer-{name}-error": refusal}
        assert field.get_attribute("aria-invalid") == "true"
        expect(error).to_be_visible()
        expect(page.locator("#explorer-stale")).to_be_visible()
        expect(page.locator("#explorer-download")).to_be_disabled()
        expect(page.locator("#explorer-link")).to_be_disabled()
        verdict = page.locator("#explorer-verdict")
        expect(verdict).to_have_text(say("no_answer"))
        expect(verdict).to_have_class("explorer-verdict")
        assert verdict.evaluate("(e) => getComputedStyle(e).opacity") == "1"  # it may lie over the controls
        assert float(page.locator(".explorer-numbers").evaluate("(e) => getComputedStyle(e).opacity")) < 1
        assert (after["numbers"], after["csv"]) == (before["numbers"], before["csv"])  # the last good results
    assert seen == {True, False}


def test_a_support_of_ones_own_unticks_the_box(page: Page) -> None:
    box, field = page.locator("#explorer-auto"), page.locator("#explorer-support")
    expect(box).to_be_checked()
    field.fill("30")
    is_settled(page)
    expect(box).not_to_be_checked()
    assert shown(page)["numbers"]["support"] == "30"
    box.check()
    is_settled(page)
    expect(field).to_have_value("25")
    page.locator("#explorer-support-slider").press("ArrowUp")
    is_settled(page)
    expect(box).not_to_be_checked()
    expect(field).to_have_value("26")


def test_a_support_beyond_the_page_is_explained_beside_epsilon_and_delta(page: Page) -> None:
    page.locator("#explorer-epsilon").fill("0.01")
    page.locator("#explorer-delta").fill("1e-30")
    is_settled(page)
    for name in ("epsilon", "delta"):
        expect(page.locator(f"#explorer-{name}-error")).to_have_text(
            say("support_beyond", best=12230, high=1000)
        )
    page.locator("#explorer-auto").uncheck()
    is_settled(page)
    assert not shown(page)["stale"]
    assert shown(page)["numbers"]["best_support"] == "12230"


def test_the_symmetric_rule_says_what_it_refuses(page: Page) -> None:
    page.evaluate(GO, "#keysize=64&rule=symmetric")
    error = page.locator("#explorer-keysize-error")
    expect(error).to_have_text(say("keys_for_symmetric", values=51, least=102))
    expect(page.locator("#explorer-rule-error")).to_have_text(error.text_content() or "")
    page.evaluate(GO, "#epsilon=0.1&support=1000&rule=symmetric")
    expect(page.locator("#explorer-rule-error")).to_contain_text(
        "This command searches further: tablebuilder-dp table --epsilon 0.1 --support 1000 --slack 0.1 "
        "--keysize 4294967296 --rule symmetric --json"
    )


def test_the_command_makes_the_same_table(page: Page, capsys: pytest.CaptureFixture[str]) -> None:
    page.evaluate(GO, "#epsilon=1&slack=0.3&keysize=2^12&rule=symmetric")
    program, *arguments = (page.locator("#explorer-command").text_content() or "").split()
    assert program == PROGRAM
    assert main.main(arguments) == 0
    cuts = json.loads(capsys.readouterr().out)["cuts"]
    assert [int(line.split(",")[2]) for line in shown(page)["csv"].splitlines()[1:]] == cuts


def test_settings_live_in_the_address(chromium: Browser, address: str) -> None:
    texts = {
        "epsilon": "0.25",
        "delta": "1e-5",
        "support": "40",
        "slack": "0.5",
        "keysize": "2^20",
        "rule": "symmetric",
    }
    with visit(chromium, address) as first:
        page = first.page
        assert page.url == address  # untouched until something is changed
        page.locator("#explorer-auto").uncheck()
        for name in FIELDS:
            page.locator(f"#explorer-{name}").fill(texts[name])
        page.locator("input[value=symmetric]").check()
        page.wait_for_url(address + link(texts))
        before = shown(page)
        page.locator("#explorer-epsilon").fill("nothing")
        page.wait_for_timeout(300)
        assert page.url == address + link(texts)  # the last good settings
    with visit(chromium, address + link(texts)) as second:
        assert shown(second.page) == before
        for name in FIELDS:
            expect(second.page.locator(f"#explorer-{name}")).to_have_value(texts[name])
        expect(second.page.locator("#explorer-auto")).not_to_be_checked()
        expect(second.page.locator("input[value=symmetric]")).to_be_checked()
        second.page.evaluate(GO, link({**texts, "support": "auto", "keysize": "2%5E30"}))
        expect(second.page.locator("#explorer-auto")).to_be_checked()
        expect(second.page.locator("#explorer-keysize")).to_have_value("2^30")
        second.page.locator("#explorer-example").click()
        is_settled(second.page)
        assert shown(second.page)["numbers"]["variance"] == "49.00216715"


def test_a_link_that_is_followed_is_not_overwritten(page: Page) -> None:
    """Settings go into the address a moment after they change; a link may come between."""
    page.evaluate(
        """() => new Promise((done) => {
          const later = [];
          const wait = setTimeout;
          window.setTimeout = (act) => later.push(act);
          const field = document.getElementById("explorer-delta");
          field.value = "1e-5";
          field.dispatchEvent(new Event("input", { bubbles: true }));
          requestAnimationFrame(() => wait(() => {
            addEventListener("hashchange", () => wait(done), { once: true });
            location.hash = "#epsilon=2";
            for (const act of later) act(); // before the page has heard of the link
          }));
        })"""
    )
    expect(page.locator("#explorer-epsilon")).to_have_value("2")


def test_a_link_with_mistakes_is_explained(chromium: Browser, address: str) -> None:
    wrong = "#epsilon=-1&delta=%E0%A4%A&support=<b>&slack=1&keysize=2^16&rule=floor&colour=red&keysize"
    with visit(chromium, address + wrong) as opened:
        found = shown(opened.page)
        assert found["stale"]
        assert found["numbers"]["best_support"] == "25"  # of the paper's example, greyed out
        errors = {"epsilon", "delta", "support", "rule", "address", "keysize"}
        assert set(found["errors"]) == {f"explorer-{name}-error" for name in errors}
        assert found["errors"]["explorer-address-error"].endswith("left out: colour.")
        assert found["errors"]["explorer-rule-error"] == ALL["rule"]["refused"]
        expect(opened.page.locator("#explorer-support")).to_have_value("<b>")
    with visit(chromium, address + "#epsilon=1&&colour=red") as opened:
        found = shown(opened.page)
        assert not found["stale"]
        assert found["errors"]["explorer-address-error"].endswith("left out: colour.")
        opened.page.wait_for_timeout(300)
        assert opened.page.url.endswith("colour=red")  # the message is about this address
    with visit(chromium, address + "#explorer-table-title") as opened:  # a place, no settings
        assert not shown(opened.page)["stale"]


def test_the_table_goes_home_as_csv(page: Page, tmp_path: Path) -> None:
    texts = {"keysize": "2^64", "rule": "symmetric", "delta": "1e-6"}
    page.evaluate(GO, link(texts))
    with page.expect_download() as waiting:
        page.locator("#explorer-download").click()
    waiting.value.save_as(tmp_path / "table.csv")
    found = explorer.explore(explorer.read(texts))
    assert (tmp_path / "table.csv").read_bytes() == explorer.csv(found).encode()
    assert waiting.value.suggested_filename == explorer_words.file_name(found)


def test_the_link_is_copied_or_shown(page: Page) -> None:
    clipboard = "(value) => Object.defineProperty(navigator, 'clipboard', { value, configurable: true })"
    page.evaluate(GO, "#epsilon=1")
    page.evaluate("() => { window.copy = { writeText: (text) => { window.copied = text; } }; }")
    page.evaluate(f"() => ({clipboard})(window.copy)")
    page.locator("#explorer-link").click()
    full = page.evaluate("copied")
    assert full == page.url
    assert "#epsilon=1&delta=1e-4&support=auto&slack=0.1&keysize=2^32&rule=ceiling" in full
    expect(page.locator("#explorer-link")).to_have_text("Copied")
    expect(page.locator("#explorer-status")).to_have_text("The link is copied.")
    expect(page.locator("#explorer-link")).to_have_text("Copy link to these settings")
    page.evaluate(f"() => ({clipboard})(undefined)")
    offered = []

    def close(dialog: Any) -> None:
        offered.append(dialog.default_value)
        dialog.dismiss()

    page.on("dialog", close)
    page.locator("#explorer-link").click()
    assert offered == [full]


def test_everything_works_by_keyboard(page: Page) -> None:
    reached: list[str] = []
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
    sliders = [f"explorer-{name}-slider" for name in FIELDS]
    fields = [f"explorer-{name}" for name in FIELDS]
    rest = ["explorer-auto", "explorer-link", "explorer-example", "explorer-download", "explorer-scroll"]
    assert set(sliders + fields + rest) <= set(reached)

    page.locator("#explorer-epsilon-slider").focus()
    page.keyboard.press("ArrowRight")
    is_settled(page)
    expect(page.locator("#explorer-epsilon")).to_have_value("0.51")
    assert page.locator("#explorer-epsilon-slider").get_attribute("aria-valuetext") == "0.51"
    page.locator("#explorer-keysize-slider").focus()
    for _ in range(16):
        page.keyboard.press("ArrowLeft")
    is_settled(page)
    expect(page.locator("#explorer-keysize")).to_have_value("2^16")
    page.locator("#explorer-auto").focus()
    page.keyboard.press("Space")
    is_settled(page)
    page.keyboard.press("Shift+Tab")  # to D's slider
    page.keyboard.press("ArrowUp")
    page.locator("input[value=ceiling]").focus()
    page.keyboard.press("ArrowDown")
    is_settled(page)
    texts = {"epsilon": "0.51", "keysize": "2^16", "support": "26", "rule": "symmetric"}
    found = explorer.explore(explorer.read(texts))
    assert shown(page)["csv"] == explorer.csv(found)
    assert shown(page)["kept"] == found.table_keeps


def test_words_for_those_who_cannot_see(page: Page) -> None:
    page.evaluate(GO, "#epsilon=1&delta=1e-6&keysize=2^16")
    assert page.locator(".explorer svg[role=img]").count() == 3
    for name, described in {
        "pmf": "loses: -22 to -21, 21 to 23.",
        "curve": "0.9957446809 on: the plateau",
        "ratios": "the largest is ∞",
    }.items():
        picture = page.locator(f"#explorer-plot-{name} svg")
        assert picture.get_attribute("aria-labelledby") == f"explorer-{name}-title explorer-{name}-desc"
        assert picture.locator("title").text_content()
        assert described in (picture.locator("desc").text_content() or "")
    unnamed = """() => [...document.querySelectorAll(".explorer input")]
      .filter((input) => !input.labels.length && !input.ariaLabel).length"""
    assert page.evaluate(unnamed) == 0
    expect(page.locator("#explorer-status")).to_contain_text("breaks the promise")
    expect(page.locator("#explorer-curve-clip ~ g text")).to_have_text("plateau")


@pytest.mark.parametrize(
    "texts", [{}, {"support": "1000", "epsilon": "20", "keysize": "2^64"}, {"keysize": "x"}]
)
def test_a_phone_need_not_scroll_sideways(chromium: Browser, address: str, texts: dict[str, str]) -> None:
    with visit(chromium, address + link(texts), viewport=PHONE, color_scheme="dark") as opened:
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        expect(
            opened.page.locator("#explorer-verdict")
        ).to_be_in_viewport()  # while the controls are in sight
        assert opened.page.locator("#explorer-plot-pmf svg").bounding_box()["width"] <= PHONE["width"]  # type: ignore[index]


def test_paper_shows_results_without_controls(page: Page) -> None:
    page.emulate_media(media="print")
    for name in ("form", "link", "download", "explain"):
        expect(page.locator(f"#explorer-{name}")).to_be_hidden()
    for name in ("verdict", "settings", "plot-curve", "cuts", "command"):
        expect(page.locator(f"#explorer-{name}")).to_be_visible()
    for table in page.locator(".explorer table").all():  # a long one goes on over the page
        assert table.evaluate("(e) => getComputedStyle(e).breakInside") == "auto"
    assert len(page.pdf()) > 10_000


def test_without_javascript_there_is_a_pointer(chromium: Browser, address: str) -> None:
    with visit(chromium, address, java_script_enabled=False) as opened:
        expect(opened.page.locator("noscript p")).to_contain_text("notebook 17")
        expect(opened.page.locator("#explorer-all")).to_be_hidden()


def test_explanations_come_when_asked_for(page: Page) -> None:
    words = page.locator(".explorer-numbers small").first
    expect(words).to_be_hidden()
    page.locator("#explorer-explain").check()
    expect(words).to_be_visible()


@pytest.mark.parametrize("rule", symmetric.RULES)
def test_the_usual_settings_take_no_time(page: Page, rule: str) -> None:
    """The best of five, so that a busy machine does not count."""
    times = page.evaluate(
        """(rule) => Array.from({ length: 5 }, () => {
          const start = performance.now();
          const found = explorerCore.explore(explorerCore.read({ rule }).settings);
          explorerPlots.curve(found, explorerCore.curve(found), 400);
          return performance.now() - start;
        })""",
        rule,
    )
    assert min(times) < 100


def test_the_page_asks_for_nothing_but_its_own_files(visited: Visit, address: str) -> None:
    folder = address.rsplit("/", 1)[0]
    names = {url.removeprefix(folder + "/_static/") for url in visited.requests} - {address, "furo.css"}
    assert names == {path.name for path in STATIC.glob("explorer*")} | {"words.js"}
    files = (*STATIC.glob("explorer*.js"), STATIC / "words.js", ROOT / "site/explorer.html")
    source = "".join(path.read_text(encoding="utf-8") for path in files)
    assert not re.search(r"https?:|fetch\(|XMLHttpRequest|\bimport\b", source)
