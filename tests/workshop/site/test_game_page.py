"""The page of the differencing game in a browser: the same game as in Python, by mouse and by keys."""

import itertools
import re
from contextlib import AbstractContextManager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from support.browser import Visit, visit
from support.tool_pages import as_read, plain, write_page

from compendium.course.game_widgets import Game
from compendium.studies import game, game_words, guesses
from compendium.studies.game import FIELDS
from tablebuilder_dp import sampling

OFFICES = game.offices()
NAMES = list(OFFICES)
RULES = "DifferencingGame"
FIRST = f"#seed={FIELDS['seed']['default']}&plan={FIELDS['plan']['default']}&office=open"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The fragment in a bare page, with its scripts where the site has them."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Game</title>'
    page = f'<!doctype html><html lang="en"><head>{head}</head><body><h1>Game</h1>{{}}</body></html>'
    return write_page(tmp_path_factory.mktemp("site"), "game", page)


class Opener:
    """Opens the page with some part of the address after #."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser, self.address = browser, address

    def __call__(self, hash: str = "", **options: Any) -> AbstractContextManager[Visit]:
        return visit(self.browser, self.address + hash, **options)


@pytest.fixture(scope="module")
def opened(chromium: Browser, address: str) -> Opener:
    return Opener(chromium, address)


def texts(page: Page, *names: str) -> list[str]:
    return [page.inner_text(f"#game-{name}") for name in names]


# --- What is shown, by the page and by the widget ------------------------------------------------

SHOWN = """() => {
  const at = (name) => document.getElementById("game-" + name);
  const all = (selector, root = document) =>
    [...root.querySelectorAll(selector)].map((found) => found.textContent);
  const card = (root) => ({
    title: all("h3", root)[0],
    label: root.querySelector("svg").getAttribute("aria-label"),
    said: all("p", root),
  });
  const field = ({ min, max, step, value, options, labels }) => ({
    label: labels[0].firstChild.textContent,
    value: Number(value),
    choices: options ? [...options].map((option) => Number(option.value)) : [min, max, step].map(Number),
  });
  const [score, strategy] = all("#game-all > h2");
  return {
    fields: ["seed", "plan", "threshold", "asks", "rounds"].map((name) => field(at(name))),
    fixed: [...all("legend"), score, `${strategy} ${all("#game em")[0]}`],
    offices: all("#game-offices label"),
    buttons: [...document.querySelectorAll("#game button[type=button]")]
      .map((button) => [button.firstChild.textContent, button.disabled]),
    play: all("#game-strategy button")[0],
    title: at("title").textContent,
    numbers: [...at("numbers").children].map((pair) => all("dd, dt", pair)),
    answers: at("answers").textContent,
    status: at("status").textContent,
    cards: [...at("scores").children].map(card),
    outcome: at("outcome").children.length ? [card(at("outcome"))] : [],
  };
}"""


def of_page(page: Page) -> Any:
    return as_read(page.evaluate(SHOWN))


def of_widget(widget: Game) -> Any:
    """What the widget shows, in the shape of `SHOWN`."""
    fields = [getattr(widget, name) for name in ("seed", "plan", "threshold", "asks", "rounds")]
    changing = (widget.shown, widget.status, widget.scores, widget.outcome)
    texts = [part for part in widget.children if hasattr(part, "placeholder") and part not in changing]
    [title], [answers] = (re.findall(p, widget.shown.value) for p in (r"^<b>(.*?)</b>", r"<p>(.*?)</p>$"))
    numbers = re.findall(r"<b style=[^>]*>(.*?)</b><br>(.*?)</div>", widget.shown.value)
    buttons = (widget.next_seed, widget.ask, widget.ask_ten, widget.ill, widget.well)
    found = {
        "fields": [
            {"label": field.description, "value": field.value, "choices": choices(field)} for field in fields
        ],
        "fixed": [text.value for text in texts],
        "offices": [label for label, _ in widget.office.options],
        "buttons": [[button.description, button.disabled] for button in buttons],
        "play": widget.run.description,
        "title": title,
        "numbers": [[name, number] for number, name in numbers],
        "answers": answers,
        "status": widget.status.value,
        "cards": cards(widget.scores.value),
        "outcome": cards(widget.outcome.value),
    }
    return as_read(found)


def choices(field: Any) -> list[float]:
    return list(field.options) if hasattr(field, "options") else [field.min, field.max, field.step]


def cards(html: str) -> list[dict[str, Any]]:
    """The cards in a widget's HTML."""
    found = []
    for card in html.split('<div style="flex: 1')[1:]:
        [title], [label] = re.findall(r"<b>(.*?)</b>", card), re.findall('aria-label="(.*?)"', card)
        found.append({"title": title, "label": label, "said": re.findall(r"<p>(.*?)</p>", card)})
    return found


# --- The rules, as functions --------------------------------------------------------------------


def test_draws_rounds_and_rules_are_those_of_python(opened: Opener) -> None:
    with opened() as visited:
        page = visited.page
        places = list(itertools.product([0, 1204, 2**32 - 1], [0, 5], [0, 1, 9999], [0, 2, 51]))
        found = page.evaluate(f"places => places.map((place) => {RULES}.draw(...place))", places)
        assert found == [int(game.draws(*place)[0]) for place in places]
        for seed, by_hand, (place, office) in itertools.product(
            (3, 4_000_000_000), (False, True), enumerate(OFFICES.values())
        ):
            found = page.evaluate(
                f"""([place, seed, byHand]) => [...Array(300).keys()].map(
                    (number) => {RULES}.deal({RULES}.data.offices[place], number, seed, 4, byHand))""",
                [place, seed, by_hand],
            )
            dealt = game.deal(office, range(300), seed=seed, asks=4, by_hand=by_hand)
            assert [one["others"] for one in found] == dealt.others.tolist()
            assert [one["present"] for one in found] == dealt.present.tolist()
            assert [one["differences"] for one in found] == dealt.differences.tolist()
        for (place, office), threshold, asks in itertools.product(
            enumerate(OFFICES.values()), (0.5, 1, -1.5), (1, 6)
        ):
            found = page.evaluate(
                f"""([place, asks, threshold]) =>
                    {RULES}.play({RULES}.data.offices[place], 77, 500, asks, threshold)""",
                [place, asks, threshold],
            )
            assert found == sum(game.play(office, seed=77, rounds=500, asks=asks, threshold=threshold))


def test_every_noise_is_looked_up_on_the_right_side_of_its_cut(opened: Opener) -> None:
    with opened() as visited:
        for place, office in enumerate(OFFICES.values()):
            row = office.table.rows[-1]
            keys = sorted({key for cut in (0, *row.cuts) for key in (cut - 1, cut) if 0 <= key < row.keysize})
            found = visited.page.evaluate(
                f"([place, keys]) => keys.map((key) => {RULES}.noise({RULES}.data.offices[place], key))",
                [place, keys],
            )
            assert found == sampling.sample(row, keys).tolist()


def test_scores_sentences_and_pictures_are_those_of_python(opened: Opener) -> None:
    cases = [(right, rounds) for rounds in (1, 2, 7, 20, 50) for right in range(rounds + 1)]
    cases += [(k, 1000) for k in (0, 1, 499, 528, 1000)] + [(5284, 10_000), (9999, 10_000), (0, 0)]
    with opened() as visited:
        found = visited.page.evaluate(f"cases => cases.map((one) => {RULES}.score(...one))", cases)
        for one, case in zip(found, cases, strict=True):
            score = game.score(*case)
            assert one["rate"] == score.rate
            assert (one["low"], one["high"]) == pytest.approx((score.low, score.high), abs=1e-10)
        for bound, best, plan in ((0.6225, 0.5284, 20), (1, 1, 1000), (0.5, 0.5, 10_000)):
            shown = visited.page.evaluate(
                f"""([scores, bound, best, plan]) => scores.map(
                    (one) => [{RULES}.sentence(one, bound, plan), {RULES}.bar(one, bound, best)])""",
                [found, bound, best, plan],
            )
            for one, case in zip(shown, cases, strict=True):
                score = game.score(*case)
                assert one[0] == game_words.sentence(score, bound=bound, plan=plan)
                assert one[1] == game_words.bar(score, bound=bound, best=best)


def test_numbers_are_written_as_in_python(opened: Opener) -> None:
    shares = [step / 4000 for step in range(4001)]
    values = [step / 2 for step in range(-12, 13)]
    answers = [[total] + [0] * (count - 1) for count in range(1, 51) for total in range(-60, 61)]
    with opened() as visited:
        everything: dict[str, list[Any]] = {"percent": shares, "signed": values, "mean": answers}
        for name, cases in everything.items():
            found = visited.page.evaluate(f"cases => cases.map({RULES}.{name})", cases)
            assert found == [getattr(game_words, name)(case) for case in cases], name


# --- The game as it is played -------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_page_and_widget_play_the_game_of_python_with_the_same_words(opened: Opener, name: str) -> None:
    office, seed, plan, right = OFFICES[name], 31, 10, 0
    widget = Game(OFFICES, seed=seed, plan=plan)
    widget.office.value = name
    with opened(f"#seed={seed}&plan={plan}&office={name}") as visited:
        page = visited.page
        for number in range(plan):
            assert of_page(page) == of_widget(widget)
            asks = (1, 2, 11)[number % 3]
            dealt = game.deal(office, [number], seed=seed, asks=asks, by_hand=True)
            if asks > 1:
                page.click("#game-ask" if asks == 2 else "#game-ask-ten")
                (widget.ask if asks == 2 else widget.ask_ten).click()
                assert of_page(page) == of_widget(widget)
            others, last = int(dealt.others[0]), int(dealt.differences[0, -1])
            shown = [str(others), str(others + last), game_words.signed(last)]
            assert texts(page, "others", "published", "difference") == shown
            guess, present = bool(game.guess(office, dealt.differences)[0]), bool(dealt.present[0])
            page.click("#game-ill" if guess else "#game-well")
            (widget.ill if guess else widget.well).click()
            right += guess == present
            said = game_words.say(
                "right" if guess == present else "wrong", state="ill" if present else "not ill"
            )
            assert texts(page, "status")[0].startswith(said)
            score = game_words.score(game.score(right, number + 1))
            assert of_page(page)["cards"][NAMES.index(name)]["said"][0] == plain(score)
        assert of_page(page) == of_widget(widget)
        assert page.locator(".game-buttons button:enabled").count() == 0
        page.keyboard.press("i")
        assert of_page(page) == of_widget(widget)
        page.click("#game-next-seed")
        widget.next_seed.click()
        assert of_page(page) == of_widget(widget)


def test_the_last_answer_is_the_last_in_both(opened: Opener) -> None:
    widget = Game(OFFICES)
    widget.office.value = "careless"
    with opened("#office=careless") as visited:
        for _ in range(5):
            visited.page.click("#game-ask-ten")
            widget.ask_ten.click()
        assert of_page(visited.page) == of_widget(widget)
        [said] = texts(visited.page, "status")
        assert said.endswith(game_words.say("no_more", most=50))


def test_a_game_can_be_played_by_keys_alone(opened: Opener) -> None:
    with opened("#seed=5&plan=10&office=open") as visited:
        page = visited.page
        page.keyboard.press("i")  # without the focus in the game, letters are the page's
        assert texts(page, "title") == ["Round 1 of 10, the open office"]
        page.focus("#game-offices input:checked")
        page.keyboard.press("ArrowDown")
        assert texts(page, "title") == ["Round 1 of 10, the careless office"]
        for key in "atT":
            page.keyboard.press(key)
        dealt = game.deal(OFFICES["careless"], range(10), seed=5, asks=22, by_hand=True)
        assert texts(page, "published") == [str(int(dealt.others[0] + dealt.differences[0, -1]))]
        for present in dealt.present:
            page.keyboard.press("i" if present else "n")
        expected = game_words.sentence(game.score(10, 10), bound=OFFICES["careless"].bound(22), plan=10)
        assert plain(expected) in plain(page.inner_text('[data-office="careless"]'))
        assert page.evaluate("document.activeElement.name") == "game-office"
        page.focus("#game-seed")
        page.keyboard.press("a")
        assert texts(page, "answers") == [game_words.say("choose")]


def test_the_end_of_a_plan_does_not_lose_the_focus(opened: Opener) -> None:
    with opened("#seed=5&plan=10&office=open") as visited:
        page = visited.page
        page.focus("#game-ill")
        for _ in range(10):
            page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "game-status"
        assert page.inner_text("#game-status").endswith(game_words.say("all_played", plan=10))


def test_who_looks_elsewhere_and_comes_back_has_still_seen_all_answers(opened: Opener) -> None:
    with opened("#seed=8&plan=20&office=careless") as visited:
        page = visited.page
        page.click("#game-ask-ten")
        page.click('input[value="careful"]')
        page.click('input[value="careless"]')
        page.click("#game-ill")
        promise = game_words.promise(OFFICES["careless"], 11)
        assert plain(promise) in plain(page.inner_text('[data-office="careless"]'))


def test_the_address_names_the_game_and_opens_it_again(opened: Opener) -> None:
    with opened() as visited:
        page = visited.page
        assert page.evaluate("location.hash") == FIRST
        page.fill("#game-seed", "77")
        page.select_option("#game-plan", "50")
        page.click("#game-setup button[type=submit]")
        page.click('input[value="careful"]')
        assert page.evaluate("location.hash") == "#seed=77&plan=50&office=careful"
        shown = texts(page, "title", "others", "published")
        page.reload()
        assert texts(page, "title", "others", "published") == shown
        page.click("#game-next-seed")
        assert page.evaluate("location.hash") == "#seed=78&plan=50&office=careful"
        page.evaluate("location.hash = '#seed=4&plan=10&office=careless'")
        page.wait_for_function("document.getElementById('game-title').textContent.includes('of 10')")
        dealt = game.deal(OFFICES["careless"], [0], seed=4, by_hand=True)
        assert texts(page, "others") == [str(dealt.others[0])]


@pytest.mark.parametrize(
    "hash", ["#seed=-1&plan=7&office=nobody", "#seed=4294967296", "#game", "#seed=%3Cb%3E"]
)
def test_an_address_without_sense_opens_the_first_game(opened: Opener, hash: str) -> None:
    with opened(hash) as visited:
        assert visited.page.evaluate("location.hash") == FIRST


@pytest.mark.parametrize(("name", "asks"), [("open", 1), ("careless", 20), ("careful", 5)])
def test_a_strategy_is_played_as_in_python(opened: Opener, name: str, asks: int) -> None:
    office, widget = OFFICES[name], Game(OFFICES, seed=12)
    widget.office.value, widget.asks.value = name, asks
    with opened(f"#seed=12&office={name}") as visited:
        page = visited.page
        for threshold in (0.5, 2):
            page.fill("#game-threshold", str(threshold))
            page.fill("#game-asks", str(asks))
            assert texts(page, "threshold-shown", "asks-shown") == [game_words.signed(threshold), str(asks)]
            page.click("#game-strategy button")
            widget.threshold.value = threshold
            widget.run.click()
            right = sum(game.play(office, seed=12, rounds=1000, asks=asks, threshold=threshold))
            [outcome] = of_page(page)["outcome"]
            assert [outcome] == of_widget(widget)["outcome"]
            assert outcome["said"][0] == plain(game_words.score(game.score(right, 1000)))
            best = max(office.rate(t, asks) for t in game_words.thresholds())
            for share in (office.rate(threshold, asks), best):
                assert plain(game_words.percent(share)) in outcome["said"][-1]


# --- The page as it is shown --------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone_and_every_field_has_a_name(opened: Opener, scheme: str) -> None:
    with opened("#office=careless", viewport={"width": 360, "height": 740}, color_scheme=scheme) as visited:
        page = visited.page
        for _ in range(5):
            page.click("#game-ask-ten")
        page.fill("#game-asks", "50")
        page.click("#game-strategy button")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.evaluate(
            """[...document.querySelectorAll("#game :is(input, select)")].every((one) =>
                one.labels.length === 1 && one.labels[0].textContent.trim().length > 2)"""
        )


def test_print_has_the_score_without_the_buttons(opened: Opener) -> None:
    with opened() as visited:
        visited.page.emulate_media(media="print")
        assert not visited.page.locator("#game button:visible").count()
        assert visited.page.locator(".game-score svg:visible").count() == 3


def test_without_scripts_the_page_says_what_it_needs(opened: Opener) -> None:
    with opened(java_script_enabled=False) as visited:
        assert "The game needs JavaScript" in visited.page.inner_text("body")
        assert not visited.page.locator("#game-all").is_visible()


def test_the_page_explains_the_trap_with_the_numbers_of_the_library(opened: Opener) -> None:
    with opened() as visited:
        text = plain(visited.page.inner_text("#game"))
        careful = OFFICES["careful"]
        unequal = guesses.unequal(careful.table, careful.least)
        difference = guesses.difference(careful.table, careful.least)
        assert plain(f"a guess is right in {game_words.percent(unequal)} of all rounds") in text
        assert re.search(rf"the rate falls to {plain(game_words.percent(difference))}", text)
