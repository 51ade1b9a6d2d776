"""The page of the differencing game in a browser: the same game as in Python, by mouse and by keys."""

import itertools
import re
import shutil
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from support.browser import Visit, visit

from compendium.course import game_page
from compendium.studies import game, guesses
from tablebuilder_dp import sampling

SITE = game_page.FILE.parents[1]
OFFICES = game.offices()
NAMES = list(OFFICES)
RULES = "DifferencingGame"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The fragment in a bare page, with its scripts where the site has them."""
    folder: Path = tmp_path_factory.mktemp("site")
    (folder / "_static").mkdir()
    for path in (SITE / "static").glob("game*"):
        shutil.copy(path, folder / "_static")
    fragment = (SITE / "game.html").read_text(encoding="utf-8")
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Game</title>'
    page = f'<!doctype html><html lang="en"><head>{head}</head><body><h1>Game</h1>{fragment}</body></html>'
    (folder / "game.html").write_text(page, encoding="utf-8")
    return (folder / "game.html").as_uri()


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


def plain(text: str) -> str:
    return " ".join(text.replace("\xa0", " ").split())


def signed(value: float) -> str:
    return f"{value:+g}".replace("-", "−") if value else "0"


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
                assert one[0] == game_page.sentence(score, bound=bound, plan=plan)
                assert one[1] == game_page.bar(score, bound=bound, best=best)


# --- The game as it is played -------------------------------------------------------------------


def expect_card(page: Page, name: str, right: int, rounds: int, *, asks: int, plan: int) -> None:
    """The card of an office says what Python says of the same score."""
    office, score = OFFICES[name], game.score(right, rounds)
    card = page.locator(f'[data-office="{name}"]')
    text = plain(card.inner_text())
    words = f"{right} of {game_page.counted(rounds, 'round')} right: {game_page.percent(score.rate)}, "
    words += f"95 % interval {game_page.percent(score.low)} to {game_page.percent(score.high)}."
    assert plain(words) in text
    assert plain(game_page.sentence(score, bound=office.bound(asks), plan=plan)) in text
    assert f"({office.epsilon:g}, {float(f'{office.delta(asks):.3g}'):g})" in text
    label = card.locator("svg").get_attribute("aria-label") or ""
    for share in (score.rate, score.low, score.high, office.best(asks), office.bound(asks)):
        assert game_page.percent(share) in label


@pytest.mark.parametrize("name", NAMES)
def test_a_seeded_game_by_mouse_is_the_game_of_python(opened: Opener, name: str) -> None:
    office, seed, plan, right, most = OFFICES[name], 31, 10, 0, 1
    with opened(f"#seed={seed}&plan={plan}&office={name}") as visited:
        page = visited.page
        for number in range(plan):
            asks = (1, 2, 11)[number % 3]
            dealt = game.deal(office, [number], seed=seed, asks=asks, by_hand=True)
            others, differences = int(dealt.others[0]), dealt.differences[0].tolist()
            assert texts(page, "title") == [f"Round {number + 1} of {plan}, the {name} office"]
            assert texts(page, "others", "published", "difference") == [
                str(others),
                str(others + differences[0]),
                signed(differences[0]),
            ]
            if asks > 1:
                page.click("#game-ask" if asks == 2 else "#game-ask-ten")
                assert texts(page, "published") == [str(others + differences[-1])]
                listed = f"differences {' '.join(map(signed, differences))}; on average"
                [answers] = texts(page, "answers")
                assert listed in answers if office.fresh else "the same number each time" in answers
            guess = bool(game.guess(office, dealt.differences)[0])
            page.click("#game-ill" if guess else "#game-well")
            right += guess == dealt.present[0]
            most = max(most, asks) if office.fresh else 1
            [said] = texts(page, "status")
            verdict = "Right" if guess == dealt.present[0] else "Wrong"
            assert said.startswith(f"{verdict}: the dentist was {'ill' if dealt.present[0] else 'not ill'}.")
            expect_card(page, name, right, number + 1, asks=most, plan=plan)
        assert "all 10 rounds are played" in page.inner_text("#game-title")
        assert page.locator(".game-buttons button:enabled").count() == 0
        page.keyboard.press("i")
        expect_card(page, name, right, plan, asks=most, plan=plan)


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
        expect_card(page, "careless", 10, 10, asks=22, plan=10)
        assert page.evaluate("document.activeElement.name") == "game-office"
        page.focus("#game-seed")
        page.keyboard.press("a")
        assert page.locator("#game-answers").inner_text().startswith("Choose another office")


def test_the_end_of_a_plan_does_not_lose_the_focus(opened: Opener) -> None:
    with opened("#seed=5&plan=10&office=open") as visited:
        page = visited.page
        page.focus("#game-ill")
        for _ in range(10):
            page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "game-status"
        assert "All 10 rounds" in page.inner_text("#game-status")


def test_who_looks_elsewhere_and_comes_back_has_still_seen_all_answers(opened: Opener) -> None:
    with opened("#seed=8&plan=20&office=careless") as visited:
        page = visited.page
        page.click("#game-ask-ten")
        page.click('input[value="careful"]')
        page.click('input[value="careless"]')
        page.click("#game-ill")
        right = int(game.deal(OFFICES["careless"], [0], seed=8, by_hand=True).present[0])
        expect_card(page, "careless", right, 1, asks=11, plan=20)
        for _ in range(6):
            page.keyboard.press("t") if page.locator("#game-ask-ten").is_enabled() else None
        assert "More than 50 are not given." in page.inner_text("#game-status")


def test_the_address_names_the_game_and_opens_it_again(opened: Opener) -> None:
    with opened() as visited:
        page = visited.page
        assert page.evaluate("location.hash") == f"#seed={game_page.SEED}&plan=20&office=open"
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
        assert visited.page.evaluate("location.hash") == f"#seed={game_page.SEED}&plan=20&office=open"


@pytest.mark.parametrize(("name", "asks"), [("open", 1), ("careless", 20), ("careful", 5)])
def test_a_strategy_is_played_as_in_python(opened: Opener, name: str, asks: int) -> None:
    office = OFFICES[name]
    with opened(f"#seed=12&office={name}") as visited:
        page = visited.page
        for threshold in (0.5, 2):
            page.fill("#game-threshold", str(threshold))
            page.fill("#game-asks", str(asks))
            assert texts(page, "threshold-shown", "asks-shown") == [signed(threshold), str(asks)]
            page.click("#game-strategy button")
            score = game.score(
                sum(game.play(office, seed=12, rounds=1000, asks=asks, threshold=threshold)), 1000
            )
            text = plain(page.inner_text("#game-outcome"))
            best = max(office.rate(t, asks) for t in game_page.THRESHOLDS)
            for words in (
                f"{score.right} of 1000 rounds right: {game_page.percent(score.rate)}, 95 % interval "
                f"{game_page.percent(score.low)} to {game_page.percent(score.high)}.",
                game_page.sentence(score, bound=office.bound(asks), plan=1000),
                f"right in {game_page.percent(office.rate(threshold, asks))} of all rounds",
                f"the best t, such as +0.5, in {game_page.percent(best)}.",
            ):
                assert plain(words) in text


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
        assert plain(f"a guess is right in {game_page.percent(unequal)} of all rounds") in text
        assert re.search(rf"the rate falls to {plain(game_page.percent(difference))}", text)
