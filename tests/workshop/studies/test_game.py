"""The differencing game: its rules, its bounds, its scores, and the widget, without a kernel."""

import itertools
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, binomtest, chisquare

from compendium.course import game_widgets
from compendium.figures import differencing_game
from compendium.site import tools
from compendium.studies import game, game_words, guesses
from compendium.studies.game import Office
from tablebuilder_dp import privacy, sampling

OFFICES = game.offices()
each_office = pytest.mark.parametrize("office", OFFICES.values(), ids=list(OFFICES))


def tiny(support: int = 2, variance: str = "0.8") -> Office:
    """A careless office with so little noise that all answers can be enumerated."""
    return game.offices(support=support, variance=variance)[game.CARELESS]


def enumerated(office: Office, asks: int) -> list[tuple[tuple[int, ...], float, float]]:
    """Every list of differences with its probability if the dentist is ill, and if not."""
    row = office.table.rows[-1]
    mass = {z: weight / row.keysize for z, weight in enumerate(row.weights, -row.support)}
    found = []
    for shown in itertools.product(range(-row.support, row.support + 2), repeat=asks):
        ill, well = (np.prod([mass.get(z - more, 0) for z in shown]) for more in (1, 0))
        found.append((shown, float(ill), float(well)))
    return found


# --- What is promised ---------------------------------------------------------------------------


@pytest.mark.unmeasured
@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "2"])
@pytest.mark.parametrize("delta", ["1e-6", "1e-2"])
def test_the_best_rate_never_exceeds_the_bound(epsilon: str, delta: str) -> None:
    for office in game.offices(epsilon, delta, support=4, variance=3).values():
        for asks in (1, 2, 7, 50):
            assert office.best(asks) <= office.bound(asks) + 1e-12
            assert all(office.rate(t, asks) <= office.best(asks) + 1e-7 for t in game_words.thresholds())


@pytest.mark.parametrize("epsilon", ["0.2", "0.5", "1.5"])
def test_the_careful_table_keeps_its_promise_after_rounding(epsilon: str) -> None:
    careful = game.offices(epsilon, "1e-4")[game.CAREFUL]
    assert max(sampling.delta(careful.table.rows[-1], epsilon)) <= careful.delta() == 1e-4


def test_the_open_office_promises_nothing() -> None:
    plain = OFFICES[game.OPEN]
    assert (plain.delta(), plain.bound(), plain.best(), plain.rate(0.5)) == (1, 1, 1, 1)


@each_office
def test_one_answer_is_worth_its_total_variation(office: Office) -> None:
    row = office.table.rows[-1]
    pmf = np.array(row.weights) / row.keysize
    distance = privacy.hockey_stick(*privacy.neighbours(pmf), 0).forward
    assert office.best() == pytest.approx((1 + distance) / 2, abs=1e-8)
    assert office.rate(0.5) == office.rate(1) == pytest.approx(office.best(), abs=1e-8)


def test_asking_again_helps_with_fresh_noise_only() -> None:
    careless, careful = OFFICES[game.CARELESS], OFFICES[game.CAREFUL]
    for part in ("delta", "bound", "best"):
        grown = [getattr(careless, part)(k) for k in (1, 2, 5, 20, 50)]
        assert grown == sorted(set(grown))
        assert {getattr(careful, part)(k) for k in (1, 2, 50)} == {getattr(careful, part)()}
    assert careless.best(50) > 0.95


@pytest.mark.parametrize("asks", [1, 2, 3])
def test_fresh_answers_are_worth_what_an_enumeration_says(asks: int) -> None:
    office = tiny()
    every = enumerated(office, asks)
    rounding = asks * (2 * office.table.support + 1) / 2**33
    best = sum(max(ill, well) for _, ill, well in every) / 2
    assert office.best(asks) == pytest.approx(best, abs=rounding)
    delta = max(
        sum(max(0, a - np.exp(0.5) * b) for a, b in worlds)
        for worlds in ([(ill, well) for _, ill, well in every], [(well, ill) for _, ill, well in every])
    )
    assert office.delta(asks) == pytest.approx(delta, abs=5 * rounding)
    assert office.bound(asks) == guesses.promised(0.5, office.delta(asks))


@pytest.mark.unmeasured
@pytest.mark.parametrize("asks", [1, 2, 3])
@pytest.mark.parametrize("threshold", [None, *game_words.thresholds()])
def test_a_rule_is_right_as_often_as_an_enumeration_says(asks: int, threshold: float | None) -> None:
    office = tiny()
    shown, ill, well = zip(*enumerated(office, asks), strict=True)
    says = game.guess(office, np.array(shown), threshold)
    right = float(np.where(says, ill, well).sum()) / 2
    exact = office.best(asks) if threshold is None else office.rate(threshold, asks)
    assert right == pytest.approx(exact, abs=1e-8)


def test_a_value_of_one_world_beats_the_mean() -> None:
    office = tiny()
    assert game.guess(office, np.array([[3, -1, -1, -1]])).tolist() == [True]
    assert game.guess(office, np.array([[-2, 2, 2, 2]])).tolist() == [False]
    assert office.best(3) > office.rate(0.5, 3) + 1e-4


# --- Rounds -------------------------------------------------------------------------------------


def test_draws_are_those_of_plain_integers() -> None:
    def mixed(word: int) -> int:
        word = (word ^ word >> 16) * 0x21F0AAAD % 2**32
        word = (word ^ word >> 15) * 0x735A2D97 % 2**32
        return word ^ word >> 15

    for seed, stream, number, slot in itertools.product([0, 7, 2**32 - 1], [0, 5], [0, 999_999], [0, 51]):
        state = seed
        for word in (0, stream, number, slot):
            state = mixed((state + word * 0x9E3779B9) % 2**32)
        assert game.draws(seed, stream, number, slot).tolist() == [state]


def test_draws_are_uniform_and_places_have_nothing_to_do_with_each_other() -> None:
    for stream in range(6):
        top = (game.draws(3, stream, np.arange(20_000)[:, None], np.arange(4)) >> np.uint32(28)).astype(int)
        pairs = [top[:, 0] * 16 + top[:, 2], top[:, 2] * 16 + top[:, 3], top[1:, 2] * 16 + top[:-1, 2]]
        for pair in pairs:
            assert chisquare(np.bincount(pair, minlength=256)).pvalue > 1e-3


@each_office
def test_what_is_shown_does_not_depend_on_how_often_or_in_which_order_one_asks(office: Office) -> None:
    many = game.deal(office, range(30), seed=5, asks=10, by_hand=True)
    for number in (29, 0, 12):
        few = game.deal(office, [number], seed=5, asks=3, by_hand=True)
        assert few.others[0] == many.others[number]
        assert few.present[0] == many.present[number]
        assert few.differences[0].tolist() == many.differences[number, :3].tolist()
    assert office.least <= many.others.min() <= many.others.max() < office.least + 100
    assert (np.ptp(many.differences, axis=1) > 0).all() == office.fresh


def test_every_office_and_every_way_of_playing_has_its_own_fair_coins() -> None:
    coins = [
        game.deal(office, range(4000), seed=5, by_hand=by_hand).present
        for office in OFFICES.values()
        for by_hand in (False, True)
    ]
    for one, other in itertools.combinations(coins, 2):
        assert binomtest(int((one == other).sum()), 4000).pvalue > 1e-3
    assert all(binomtest(int(coin.sum()), 4000).pvalue > 1e-3 for coin in coins)
    assert (game.deal(OFFICES["open"], range(9), seed=6).present != coins[0][:9]).any()


@each_office
@pytest.mark.parametrize(("asks", "threshold"), [(1, None), (20, None), (5, 1.0)])
def test_simulated_rates_fit_the_exact_ones(office: Office, asks: int, threshold: float | None) -> None:
    right = sum(sum(game.play(office, seed=s, rounds=2000, asks=asks, threshold=threshold)) for s in range(5))
    exact = office.best(asks) if threshold is None else office.rate(threshold, asks)
    assert binomtest(right, 10_000, exact).pvalue > 1e-3


@pytest.mark.parametrize(("seed", "asks"), [(-1, 1), (2**32, 1), (0, 0)])
def test_what_is_no_game_is_refused(seed: int, asks: int) -> None:
    with pytest.raises(ValueError, match=r"(seed|asks) must be an integer from"):
        game.deal(OFFICES["open"], [0], seed=seed, asks=asks)


# --- Scores -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("right", "rounds"), [(1, 1), (12, 20), (50, 100), (861, 1000), (9999, 10_000)])
def test_the_interval_is_that_of_clopper_and_pearson(right: int, rounds: int) -> None:
    found = game.score(right, rounds)
    assert found.rate == right / rounds
    assert binom.sf(right - 1, rounds, found.low) == pytest.approx(0.025, abs=1e-9)
    if right < rounds:
        assert binom.cdf(right, rounds, found.high) == pytest.approx(0.025, abs=1e-9)
    else:
        assert found.high == 1


def test_no_round_says_nothing() -> None:
    assert game.score(0, 0) == (0, 0, 0, 1)
    assert game_words.sentence(game.score(0, 0), bound=0.6, plan=20) == game_words.say("nothing_played")


@pytest.mark.parametrize(
    ("right", "rounds", "bound", "kinds"),
    [
        (12, 20, 0.6225, "coin contains"),
        (540, 1000, 0.6225, "better below"),
        (900, 1000, 0.6225, "better above"),
        (3, 1000, 0.6225, "worse below"),
        (20, 20, 1, "better nothing"),
        (5, 19, 0.6225, "partly coin below"),
    ],
)
def test_sentences_say_on_which_side_the_interval_lies(
    right: int, rounds: int, bound: float, kinds: str
) -> None:
    plan = max(rounds, 20)
    values = {"rounds": rounds, "plan": plan, "bound": game_words.percent(bound)}
    expected = " ".join(game_words.say(kind, **values) for kind in kinds.split())
    assert game_words.sentence(game.score(right, rounds), bound=bound, plan=plan) == expected


def test_the_bar_puts_everything_in_its_place() -> None:
    found = game.score(15, 20)
    picture = ET.fromstring(game_words.bar(found, bound=0.6225, best=0.5284))  # noqa: S314
    assert all(share in picture.attrib["aria-label"] for share in ("75.0", "50.9", "91.3", "52.8", "62.3"))
    text = game_words.bar(found, bound=0.6225, best=0.5284)
    for share in (found.low, found.high, found.rate, 0.6225, 0.5284):
        assert f"{10 + 300 * share:.1f}" in text
    assert 'opacity="0"' in game_words.bar(game.score(0, 0), bound=1, best=1)


# --- The web page's data ------------------------------------------------------------------------


def test_the_page_has_the_numbers_of_the_library() -> None:
    data = tools.game_data()
    assert [one["name"] for one in data["offices"]] == list(OFFICES) == list(data["does"])
    for one in data["offices"]:
        office = OFFICES[one["name"]]
        assert one["cuts"] == office.table.rows[-1].cuts
        assert one["best"][-1] == pytest.approx(office.best(game_words.MOST_ASKS), rel=1e-11)
        assert one["bounds"][-1] == pytest.approx(office.bound(game_words.MOST_ASKS), rel=1e-11)
        assert one["rates"][0][7] == pytest.approx(office.rate(data["thresholds"][7]), rel=1e-11)


# --- The widget ---------------------------------------------------------------------------------


@pytest.fixture
def widget() -> Any:
    return game_widgets.Game(OFFICES, seed=9, plan=10)


def test_the_widget_shows_the_rounds_of_the_game(widget: Any) -> None:
    widget.office.value = "careless"
    dealt = game.deal(OFFICES["careless"], [0], seed=9, asks=12, by_hand=True)
    others, differences = int(dealt.others[0]), dealt.differences[0].tolist()
    for number in (str(others), str(others + differences[0]), game_words.signed(differences[0])):
        assert f">{number}</b>" in widget.shown.value
    widget.ask.click()
    widget.ask_ten.click()
    assert " ".join(map(game_words.signed, differences)) in widget.shown.value
    assert game_words.say("answer_fresh", asked=12, published=others + differences[-1]) in widget.status.value
    (widget.ill if dealt.present[0] else widget.well).click()
    assert widget.status.value.startswith("Right: the dentist was")
    assert game_words.score(game.score(1, 1)) in widget.scores.value
    assert game_words.promise(OFFICES["careless"], 12) in widget.scores.value
    assert f"bound {game_words.percent(OFFICES['careless'].bound(12))}" in widget.scores.value


def test_a_player_who_looks_and_comes_back_has_still_seen_all_answers(widget: Any) -> None:
    widget.office.value = "careless"
    widget.ask_ten.click()
    widget.office.value = "careful"
    widget.office.value = "careless"
    assert "11 answers" in widget.shown.value
    widget.ill.click()
    assert "for 11 answers" in widget.scores.value
    assert game_words.say("asked_once") in widget.shown.value  # the next round begins with one
    widget.ill.click()
    assert "for 11 answers" in widget.scores.value  # the bound is that of the round with most


def test_a_question_is_answered_fifty_times_at_most(widget: Any) -> None:
    widget.office.value = "careless"
    for _ in range(10):
        widget.ask_ten.click()
    assert f"{game_words.MOST_ASKS} answers" in widget.shown.value
    assert widget.ask.disabled
    assert not widget.ill.disabled


def test_a_wide_noise_is_played_with_counts_that_it_leaves_positive() -> None:
    careful = game.offices("0.2", "1e-4")["careful"]
    assert careful.least == careful.table.support > 40


def test_the_careful_office_answers_the_same_and_promises_the_same(widget: Any) -> None:
    widget.office.value = "careful"
    widget.ask_ten.click()
    assert game_words.say("asked_same", asked=11) in widget.shown.value
    widget.ill.click()
    assert game_words.promise(OFFICES["careful"], 1) in widget.scores.value


def test_the_plan_ends_the_game_and_a_new_seed_begins_another(widget: Any) -> None:
    for _ in range(12):
        widget.well.click()
    assert game_words.say("over", office="open", plan=10) in widget.shown.value
    assert widget.well.disabled
    coins = game.deal(OFFICES["open"], range(10), seed=9, by_hand=True).present
    assert f"{int((~coins).sum())} of 10 rounds right" in widget.scores.value
    widget.seed.value = 10
    assert "Round 1 of 10" in widget.shown.value
    assert not widget.well.disabled
    assert "rounds right" not in widget.scores.value
    assert repr(widget) == "a game against these offices: open, careless, careful; seed 10, 10 rounds each"
    assert widget._repr_mimebundle_()["text/plain"] == repr(widget)


def test_a_rule_plays_its_rounds(widget: Any) -> None:
    widget.office.value, widget.threshold.value, widget.asks.value = "careless", 0.5, 20
    widget.rounds.value = 100
    widget.run.click()
    right = sum(game.play(OFFICES["careless"], seed=9, rounds=100, asks=20, threshold=0.5))
    assert f"{right} of 100 rounds right" in widget.outcome.value
    assert game_words.exactly(OFFICES["careless"], 0.5, 20) in widget.outcome.value


def test_what_is_promised_is_said_of_every_office() -> None:
    said = {name: game_words.promise(office, 3).replace("\xa0", " ") for name, office in OFFICES.items()}
    assert said["open"] == "Promise: none, (ε, δ) = (0.5, 1)."
    assert said["careful"] == "Promise: (ε, δ) = (0.5, 0.0001), however often you ask."
    assert (
        said["careless"]
        == f"What its noise can promise for 3 answers: (ε, δ) = (0.5, {OFFICES['careless'].delta(3):.3g})."
    )


def test_the_best_rule_is_named_beside_a_worse_one() -> None:
    office = OFFICES["careful"]
    said = game_words.exactly(office, -1.5, 5)
    assert game_words.percent(office.rate(-1.5)) in said
    assert f"such as +0.5, in {game_words.percent(office.rate(0.5))}. " in said
    assert said.endswith(game_words.say("all_same"))
    assert not game_words.exactly(OFFICES["careless"], -1.5, 5).endswith(game_words.say("all_same"))


# --- The pictures -------------------------------------------------------------------------------


def test_the_rates_that_are_drawn_are_those_that_were_played() -> None:
    right = {name: game.play(office, seed=2, rounds=200, asks=3) for name, office in OFFICES.items()}
    data = differencing_game.rates("x", offices=OFFICES, right=right, asks=3).data
    for name, rounds, count, low, high, best, bound in zip(*data.values(), strict=True):
        assert (rounds, count, low, high) == pytest.approx(
            game.score(sum(right[name][:rounds]), rounds), abs=1e-8
        )
        assert (best, bound) == (OFFICES[name].best(3), OFFICES[name].bound(3))
    assert {200} == {rounds for rounds in data["rounds"] if rounds >= 200}


def test_the_picture_of_asking_again_has_every_number_of_answers() -> None:
    careless, careful = OFFICES["careless"], OFFICES["careful"]
    data = differencing_game.asking("x", careless=careless, careful=careful, most=6).data
    assert data["answers"] == [1, 2, 3, 4, 5, 6]
    assert data["best_careless"][5] == careless.best(6)
    assert set(data["bound_careful"]) == {careful.bound()}
