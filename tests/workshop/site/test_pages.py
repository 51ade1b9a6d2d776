"""Every page of the site in a real Chromium: it loads, is quiet, asks nobody, and all can read it.

The site is built anew, and pages are opened as files, without a server. axe-core judges contrast, names and
structure, contrast in light and in dark. The explorer, the game and JupyterLab have tests of their own.
"""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize
from support import browser

DESKTOP = ViewportSize(width=1280, height=900)
PHONE = ViewportSize(width=360, height=740)
ROOT = Path(__file__).resolve().parents[3]
LEDGER = json.loads((ROOT / "paper/ledger.json").read_text(encoding="utf-8"))
KINDS: dict[str, int] = LEDGER["counts"]


UNTYPESET = r"""() => {
  const math = Array.from(document.querySelectorAll(".math"));
  const bare = math.filter((it) => !it.querySelector("mjx-container"));
  const wrong = Array.from(document.querySelectorAll("mjx-merror, [data-mjx-error]"));
  const article = document.querySelector("article");
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  const left = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const hidden = node.parentElement.closest("pre, code, script, style, mjx-container");
    if (!hidden && /\\[({[a-zA-Z]|\$[^$]+\$/.test(node.data)) left.push(node.data);
  }
  return [...bare, ...wrong].map((it) => it.textContent).concat(left);
}"""
"""Formulas without a picture, with an error, and what looks like TeX in the text."""


WIDTH = "() => Math.max(...[...document.querySelectorAll('html, .content')].map((part) => part.scrollWidth))"
"""The theme lets its content scroll sideways and hides what the page itself has too much."""

CUT = """() => [...document.querySelectorAll("article *")].filter((part) => {
  const hides = ["auto", "scroll", "hidden"].includes(getComputedStyle(part).overflowX);
  const shown = part.clientWidth && !part.closest("mjx-container, .visually-hidden, .stacked thead");
  const scrolls = innerWidth < 700 && part.tabIndex === 0 && part.matches(".math");
  return hides && shown && !scrolls && part.scrollWidth > part.clientWidth + 1;
}).map((part) => `${part.tagName} cut: ${part.textContent.trim().slice(0, 60)}`)"""
"""Boxes with more in them than they show; on a phone formulas may scroll, if keys reach them."""

WIDE = """() => [...document.querySelectorAll("article div.math")].filter((part) => {
  const boxes = [part, ...part.querySelectorAll("mjx-container")];
  return boxes.some((box) => box.clientWidth && box.scrollWidth > box.clientWidth + 1);
}).map((part) => `formula too wide: ${part.textContent.trim().slice(0, 60)}`)"""
"""Formulas that only scrolling shows whole."""

SMALL = """() => {
  const tables = [...document.querySelectorAll("article .table-wrapper table")];
  const pictures = [...document.querySelectorAll("article .math > mjx-container > svg")];
  const share = (picture) => {
    const shown = picture.getBoundingClientRect().width;
    const { width } = picture.style;
    picture.style.width = "";
    const whole = picture.getBoundingClientRect().width;
    picture.style.width = width;
    return whole ? shown / whole : 1;
  };
  return [
    ...tables.filter((table) => parseFloat(getComputedStyle(table).fontSize) < 12),
    ...pictures.filter((picture) => share(picture) < 0.69),
  ].map((part) => `${part.tagName} too small: ${part.parentElement.textContent.trim().slice(0, 60)}`);
}"""
"""Tables and formulas that were shrunk until they cannot be read."""


TALL = """() => [...document.querySelectorAll("article .table-wrapper table:not(.stacked) tbody tr")]
  .filter((row) => row.offsetHeight > 150)
  .map((row) => `a row as tall as half the screen: ${row.textContent.trim().slice(0, 60)}`)"""
"""Rows whose columns have become so narrow that a sentence stands one word a line."""


def pages(built: Path) -> list[Path]:
    return sorted(built.rglob("*.html"))


def formulas(page: Page) -> list[str]:
    """Formulas that were not typeset, or wrongly, once MathJax is done."""
    page.evaluate("() => window.MathJax && MathJax.startup.promise")
    return list(page.evaluate(UNTYPESET))


SHORTEN = r"""() => {
  for (const picture of document.querySelectorAll("mjx-container > svg")) picture.replaceChildren();
  for (const words of document.querySelectorAll("mjx-assistive-mml")) words.textContent = "x";
  for (const code of document.querySelectorAll(".highlight pre")) code.textContent = code.textContent;
  for (const list of document.querySelectorAll(".sidebar-drawer ul")) list.remove();
}"""
"""Take out curves, coloured words and links, which are many and alike on all pages: one page is enough.

A formula stays as an empty picture of its size and a letter to be read out, so that all around it is judged.
"""


REPRESENTATIVES = r"""(judged) => {
  const surfaces = new Map([[null, ""]]);
  const surface = (element) => {
    if (!surfaces.has(element)) {
      const style = getComputedStyle(element);
      const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter];
      if (style.position !== "static") own.push(style.position, element.tagName, element.className);
      surfaces.set(element, [...own, surface(element.parentElement)].join());
    }
    return surfaces.get(element);
  };
  const known = new Set(judged);
  const found = new Map();
  for (const element of document.body.querySelectorAll("*")) {
    element.removeAttribute("data-judged");
    const texts = [...element.childNodes].filter((it) => it.nodeType === Node.TEXT_NODE && it.data.trim());
    if (!texts.length || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const look = [style.color, style.fontSize, style.fontWeight, style.textShadow, surface(element)].join();
    if (known.has(look)) continue;
    const other = found.get(look);
    if (!other || element.childElementCount < other.childElementCount) found.set(look, element);
  }
  for (const element of found.values()) element.setAttribute("data-judged", "");
  return [...found.keys()];
}"""
"""Mark one text of each new look: its colour, size and weight, all that is behind it, what it is placed in.

axe-core looks through all layers at each text, which takes half a minute where there are thousands.
"""


AXE = Axe().axe_script


class Judge:
    """axe-core on the page that is open; ``looks`` are those of texts that it has judged on others."""

    def __init__(self, page: Page, looks: list[str]) -> None:
        self.page, self.looks = page, looks
        if "04-design-guide" not in page.url:
            page.evaluate(SHORTEN)
        page.evaluate(AXE)
        rules = [
            {"id": "color-contrast", "selector": "[data-judged]"},
            {"id": "empty-table-header", "selector": "th:not(:has(math))"},  # a formula is not nothing
        ]
        page.evaluate("(rules) => axe.configure({ rules })", rules)

    def _faults(self, **options: object) -> list[str]:
        """What is wrong, with the first place of each."""
        options |= {"resultTypes": ["violations"], "preload": False}
        run = "(options) => axe.run(options).then((found) => found.violations)"
        return [
            f"{rule['id']} at {rule['nodes'][0]['target']} ({len(rule['nodes'])} places)"
            for rule in self.page.evaluate(run, options)
        ]

    def _mark(self) -> list[str]:
        """Mark what is to be judged for its contrast in the colours that are shown now."""
        new: list[str] = self.page.evaluate(REPRESENTATIVES, self.looks)
        self.looks += new
        return new

    def everything(self) -> list[str]:
        """Structure, names and contrast."""
        self._mark()
        return self._faults()

    def contrast(self) -> list[str]:
        """Contrast alone."""
        return self._faults(runOnly=["color-contrast"]) if self._mark() else []


@pytest.fixture(scope="session")
def looks() -> list[str]:
    """The looks of texts whose contrast was judged in this process: one text of each is enough."""
    return []


@pytest.mark.parametrize("part", range(4))
def test_every_page_is_quiet_complete_and_readable(
    chromium: Browser, built: Path, looks: list[str], part: int
) -> None:
    problems: dict[str, list[str]] = {}
    every = pages(built)
    assert len(every) > 60
    with browser.visit(chromium, "about:blank") as opened:  # one window, as each costs a second
        page = opened.page
        for path in every[part::4]:
            page.set_viewport_size(PHONE)
            page.emulate_media(color_scheme="light")
            page.goto(path.as_uri())
            found = [f"formula not typeset: {text!r}" for text in formulas(page)]
            width = page.evaluate(WIDTH)
            found += [f"{width} px wide on a phone"] if width > PHONE["width"] else []
            found += [f"on a phone: {part}" for look in (CUT, SMALL, TALL) for part in page.evaluate(look)]
            if path.parent.name == "notebooks":
                found += [f"on a phone: {part}" for part in page.evaluate(WIDE)]
            page.set_viewport_size(DESKTOP)
            found += page.evaluate(CUT)
            judge = Judge(page, looks)
            found += judge.everything()
            page.emulate_media(color_scheme="dark")
            found += [f"dark: {fault}" for fault in judge.contrast()]
            found += [*opened.console, *opened.errors]
            opened.console.clear()
            opened.errors.clear()
            if found:
                problems[path.relative_to(built).as_posix()] = found
    assert problems == {}
    assert len(looks) > 50


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_text_that_cannot_be_read_is_found_among_all_others(
    chromium: Browser, built: Path, scheme: Literal["light", "dark"]
) -> None:
    with browser.visit(chromium, (built / "ledger.html").as_uri(), color_scheme=scheme) as opened:
        judge = Judge(opened.page, [])
        assert judge.contrast() == []
        opened.page.locator(".claim-place").nth(100).evaluate("(it) => { it.style.color = '#777777'; }")
        [fault] = judge.contrast()
        assert fault.startswith("color-contrast at")


def test_areas_have_the_colours_of_the_figures_in_the_dark_too(chromium: Browser, built: Path) -> None:
    with browser.visit(chromium, (built / "index.html").as_uri(), viewport=DESKTOP) as opened:
        for scheme in ("light", "dark"):
            opened.page.emulate_media(color_scheme=scheme)
            chart = Image.open(io.BytesIO(opened.page.locator("figure img").screenshot())).convert("RGB")
            counted = np.unique(np.asarray(chart).reshape(-1, 3), axis=0, return_counts=True)
            drawn = [colour for colour, count in zip(*counted, strict=True) if count > 20]
            for kind in (kind for kind, count in KINDS.items() if count):
                tile = opened.page.locator(".glance li").filter(has_text=re.compile(rf"\d\s+{kind}$"))
                area = tile.evaluate("(it) => getComputedStyle(it).borderTopColor")
                wanted = np.array([int(part) for part in re.findall(r"\d+", area)])
                assert min(np.abs(colour - wanted).max() for colour in drawn) <= 3, (scheme, kind)


LEFTS = "(all) => all.map((it) => it.getBoundingClientRect().x)"


NAMES = "(all) => all.map((it) => it.querySelector('.column')?.textContent ?? '')"


@pytest.mark.parametrize("name", ["paper/errata", "notebooks/10-verdict", "notebooks/08-after-sampling"])
def test_a_wide_table_is_stacked_on_a_phone_and_stays_a_table(
    chromium: Browser, built: Path, name: str
) -> None:
    with browser.visit(chromium, (built / f"{name}.html").as_uri(), viewport=PHONE) as opened:
        formulas(opened.page)
        opened.page.wait_for_selector("article table.stacked")
        opened.page.evaluate("() => dispatchEvent(new Event('resize'))")  # headings are not named twice
        opened.page.locator("article table.stacked").first.evaluate("(it) => { it.dataset.chosen = 1; }")
        table = opened.page.locator("table[data-chosen]")
        cells = table.get_by_role("row").nth(1).get_by_role("cell")
        lefts = set(cells.evaluate_all(LEFTS))
        assert len(lefts) == 1
        headings = [f"{text.strip()}: " for text in table.get_by_role("columnheader").all_text_contents()]
        assert [text.strip() + " " for text in cells.evaluate_all(NAMES)][1:] == headings[1:]
        opened.page.set_viewport_size(DESKTOP)
        opened.page.wait_for_selector("table[data-chosen]:not(.stacked)")
        assert cells.locator(".column").count() == 0
        lefts = set(cells.evaluate_all(LEFTS))
        assert len(lefts) == len(headings)


def test_a_link_to_an_entry_ends_at_the_entry_on_a_phone(chromium: Browser, built: Path) -> None:
    """Tables above it become cards, formulas get their heights: it must not be pushed away."""
    target = f"{(built / 'paper/errata.html').as_uri()}#errata-des-prop3-variance"
    with browser.visit(chromium, target, viewport=PHONE) as opened:
        formulas(opened.page)
        opened.page.wait_for_timeout(300)
        top = opened.page.evaluate("() => document.querySelector(location.hash).getBoundingClientRect().top")
        assert 0 <= top < PHONE["height"] / 2


def test_the_menu_of_a_phone_opens_and_leads_on(chromium: Browser, built: Path) -> None:
    with browser.visit(chromium, (built / "index.html").as_uri(), viewport=PHONE) as opened:
        opened.page.locator("label.nav-overlay-icon").click()
        opened.page.locator(".sidebar-drawer").get_by_role("link", name="The ledger").click()
        assert opened.page.get_by_role("heading", level=1).inner_text().startswith("The ledger")


def test_the_search_finds_without_a_server(chromium: Browser, built: Path) -> None:
    with browser.visit(chromium, f"{(built / 'search.html').as_uri()}?q=plateau") as opened:
        opened.page.wait_for_selector("#search-results li a", timeout=20_000)


# --- The ledger -------------------------------------------------------------------------------


@pytest.fixture
def ledger(chromium: Browser, built: Path) -> Iterator[Page]:
    """All of it: without its verdict=all the page opens at what does not simply hold."""
    everything = f"{(built / 'ledger.html').as_uri()}?verdict=all"
    with browser.visit(chromium, everything, viewport=DESKTOP) as opened:
        yield opened.page


def shown(page: Page, kind: str = "") -> list[str]:
    """The ids of the paper's claims that one sees."""
    wanted = f'[data-kind="{kind}"]' if kind else ':not([data-kind="ours"])'
    claims = page.locator(f"article.claim{wanted}:visible")
    return [str(name) for name in claims.evaluate_all("found => found.map((claim) => claim.id)")]


def address(page: Page) -> str:
    return page.url.partition("ledger.html")[2]


@pytest.mark.parametrize("kind", [kind for kind, count in KINDS.items() if count])
def test_the_ledger_shows_one_kind_of_verdict(ledger: Page, kind: str) -> None:
    slug = kind.replace(" ", "-")
    assert len(shown(ledger)) == sum(KINDS.values())
    ledger.locator(f'input[name=verdict][value="{slug}"]').check()
    assert len(shown(ledger)) == len(shown(ledger, slug)) == KINDS[kind]
    assert ledger.locator("#filter-count").inner_text().startswith(f"{KINDS[kind]} of {sum(KINDS.values())}")
    assert address(ledger) == f"?verdict={slug}"


def test_the_ledger_filters_by_section_word_and_verdict_at_once(ledger: Page, chromium: Browser) -> None:
    ledger.locator("select[name=section]").select_option("V-C")
    in_section = shown(ledger)
    assert 0 < len(in_section) < sum(KINDS.values())
    ledger.locator("#filter-q").fill("variance")
    in_both = shown(ledger)
    assert set(in_both) < set(in_section)
    for name in in_both:
        assert "variance" in ledger.locator(f"id={name}").inner_text().lower()
    ledger.locator("input[name=verdict][value=contradicted]").check()
    assert set(shown(ledger)) == {f"claim-{name}" for name in contradicted("variance")}
    with browser.visit(chromium, ledger.url) as again:  # the address is the filter
        assert shown(again.page) == shown(ledger)
        assert again.page.locator("#filter-q").input_value() == "variance"
    ledger.get_by_role("button", name=re.compile("clear", re.I)).click()
    assert len(shown(ledger)) == sum(KINDS.values())
    assert address(ledger) == "?verdict=all"


def test_the_ledger_opens_at_what_does_not_simply_hold(chromium: Browser, built: Path) -> None:
    with browser.visit(chromium, (built / "ledger.html").as_uri()) as opened:
        assert len(shown(opened.page)) == sum(KINDS.values()) - KINDS["confirmed"] > 0
        assert shown(opened.page, "confirmed") == []


def test_the_ledger_shows_what_hangs_on_a_limit_of_ours(ledger: Page, chromium: Browser) -> None:
    hanging = {f"claim-{claim['id']}" for claim in LEDGER["claims"] if claim.get("limits")}
    count = ledger.locator("input[name=limit] + .count")
    assert count.inner_text() == f"{len(hanging)} of {len(hanging)}"
    ledger.locator("input[name=verdict][value=slip]").check()
    shown_now, _, whole = count.inner_text().partition(" of ")
    assert int(shown_now) < int(whole) == len(hanging)
    ledger.locator("input[name=verdict][value=slip]").uncheck()
    ledger.get_by_label("hangs on a limit of ours").check()
    assert set(shown(ledger)) == hanging
    assert address(ledger) == "?limit=ours"
    with browser.visit(chromium, ledger.url) as again:
        assert set(shown(again.page)) == hanging
        assert again.page.get_by_role("link", name=f"{len(hanging)} verdicts hang on a limit").count() == 1
        again.page.locator("input[name=verdict][value=confirmed]").check()
        assert 0 < len(shown(again.page)) < len(hanging)


def contradicted(word: str) -> list[str]:
    """From the records: the claims of V-C that are contradicted and speak of something."""
    names = [entry["id"] for entry in LEDGER["claims"] if entry["verdict"] == "contradicted"]
    return [name for name in names if word in name]


def test_the_ledger_works_by_keyboard(ledger: Page) -> None:
    ledger.keyboard.press("/")
    ledger.keyboard.type("nothing has these words")
    assert shown(ledger) == []
    assert ledger.locator("#filter-count").inner_text().startswith("0 of")
    ledger.keyboard.press("Tab")
    assert ledger.evaluate("() => document.activeElement.closest('form') !== null")


def test_a_link_to_a_claim_shows_it_whatever_the_filter(ledger: Page, chromium: Browser) -> None:
    name = shown(ledger, "confirmed")[100]
    link = ledger.locator(f"id={name}").locator(f'a[href="#{name}"]').first
    assert link.is_visible()
    for anchor in (name, name.removeprefix("claim-")):
        page = f"{ledger.url.partition('?')[0]}?verdict=slip#{anchor}"
        with browser.visit(chromium, page) as opened:
            claim = opened.page.locator(f"id={name}")
            assert claim.is_visible()
            assert 0 <= claim.bounding_box()["y"] < 700  # type: ignore[index]


def test_the_ledger_prints_what_is_filtered_without_its_controls(ledger: Page) -> None:
    ledger.locator("input[name=verdict][value=slip]").check()
    ledger.emulate_media(media="print")
    assert ledger.locator("#filter").locator("input, select, button").filter(visible=True).count() == 0
    assert ledger.locator("#filter-count").inner_text().startswith(f"{KINDS['slip']} of")
    assert len(shown(ledger)) == KINDS["slip"]
    assert ledger.locator("article.claim:visible").first.inner_text().lower().count("slip") >= 1


def test_the_ledger_lists_everything_without_scripts(chromium: Browser, built: Path) -> None:
    with browser.visit(chromium, (built / "ledger.html").as_uri(), java_script_enabled=False) as opened:
        assert opened.page.locator('article.claim:not([data-kind="ours"]):visible').count() == sum(
            KINDS.values()
        )
        assert not opened.page.locator("#filter").is_visible()
