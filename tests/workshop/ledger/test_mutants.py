"""Alterations of the library's formulas: what is altered, who sees it, and that the list is true."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from compendium.__main__ import main
from compendium.ledger import claims, mutants
from compendium.ledger.claims import Claim
from compendium.ledger.mutants import KINDS, MODULES, Mutant, Settled, Survivor, witness
from compendium.ledger.mutations import alterations, altered

STATED = claims.load() | claims.load(claims.OURS)


def library(check: str) -> Claim:
    """A statement of ours about the library."""
    return Claim(f"library-{check}", "", "", "The library is right", "the same", f"library.{check}")


# --- Alterations ------------------------------------------------------------------------------


def changes(expression: str) -> set[str]:
    """What an expression becomes."""
    source = f"def f(a, b, c):\n    return {expression}"
    return {altered(source, one).partition("return ")[2] for one in alterations(source)}


@pytest.mark.parametrize(
    ("expression", "others"),
    [
        ("a + b", {"a - b", "a", "b"}),
        ("a - b", {"a + b", "a", "-b"}),
        ("a * b", {"a / b", "a", "b"}),
        ("a / b", {"a * b", "a"}),
        ("a ** b", {"a * b", "a"}),
        ("a << b", {"a >> b", "a"}),
        ("-a", {"a"}),
        ("abs(a)", {"a"}),
        ("a + 1", {"a - 1", "a", "1", "a + 2"}),
        ("a * 2", {"a / 2", "a", "2", "a * 3"}),
        ("a[1:]", {"a[2:]", "a[0:]"}),
        ("range(3)", {"range(4)", "range(2)"}),
        ("a < 0.5", {"a <= 0.5", "a > 0.5", "a < 1.0", "a < 0.25"}),
        ("a == b", {"a != b"}),
        ("a is None", {"a is not None"}),
        ("0 <= a < b", {"0 < a < b", "0 >= a < b", "0 <= a <= b", "0 <= a > b", "1 <= a < b", "-1 <= a < b"}),
        ("a and b", {"a or b", "a", "b"}),
        ("not a", {"a"}),
        ("max(a, b)", {"min(a, b)"}),
        ("math.floor(a)", {"math.ceil(a)"}),
        ("f(a, b, c)", {"f(b, a, c)", "f(a, c, b)"}),
        ("(a, b)", {"(b, a)", "(a, a)", "(b, b)"}),
        ("a if b else c", {"a", "c"}),
        ("[a for a in b if c]", {"[a for a in b if True]"}),
        ("sorted(a, reverse=True)", {"sorted(a, reverse=False)"}),
    ],
)
def test_each_kind_of_alteration(expression: str, others: set[str]) -> None:
    assert changes(expression) == others


def test_statements_are_altered_too() -> None:
    source = "def f(a):\n    if a:\n        a += 2\n    while a:\n        a -= 1\n    return a"
    assert [one.change for one in alterations(source)] == [
        "if a → if True",
        "if a → if False",
        "a += 2 → a -= 2",
        "a += 2 → pass",
        "a += 2 → a += 3",
        "a += 2 → a += 1",
        "while a → while False",
        "a -= 1 → a += 1",
        "a -= 1 → pass",
        "a -= 1 → a -= 2",
        "a -= 1 → a -= 0",
    ]


def test_what_is_no_formula_is_left_alone() -> None:
    source = '''
"""A text of 1 + 1 words."""
import math
_BLOCK = 2 * 128
SUPPORT_MAX, DELTA_MIN = 10**6, 1e-300
Number = int | float

@lru_cache(maxsize=2)
def f(a: int | None) -> int | None:
    """Half of 2."""
    level = parameters.number(a, "a", high=10 + 2)
    if a < 0 or a > 5:
        text = f"at most {2 + 3}"
        raise ValueError(f"a must be {a + 1}")
    raise ValueError(1 + 1)

def _check_width(a):
    return a + 1
'''
    assert alterations(source) == []


def test_equal_changes_are_counted_and_lines_are_those_of_the_statement() -> None:
    source = "x = 2\ndef f(a, b=3):\n  c = -a\n  def g():\n    return -a\n  return (-a,\n    -a)"
    found = [(one.function, one.change, one.lines) for one in alterations(source) if "a → " in one.change]
    assert found == [
        ("f", "-a → a", range(3, 4)),
        ("f.g", "-a → a", range(5, 6)),
        ("f", "-a → a (2)", range(6, 8)),
        ("f", "-a → a (3)", range(6, 8)),
    ]
    assert {one.change: (one.function, one.lines) for one in alterations(source)[:1]} == {
        "x = 2 → x = 3": ("", range(0))
    }


# --- The list ---------------------------------------------------------------------------------


def test_the_list_names_only_what_is_made_and_says_why() -> None:
    made, listed = mutants.mutants(), mutants.survivors()
    names = Counter(one.name for one in made)
    assert set(names.values()) == {1}
    assert set(mutants.named(listed, made)) <= set(names)
    assert all(entry.kind in KINDS and entry.module in MODULES and entry.because for entry in listed)
    explicit = Counter((entry.module, entry.function, change) for entry in listed for change in entry.changes)
    assert set(explicit.values()) <= {1}


def test_a_stale_entry_is_found() -> None:
    made = mutants.mutants(["sampling.ratio"])
    stale = [
        Survivor("sampling", "ratio", "gap", "why", ("a → b",)),
        Survivor("sampling", "gone", "gap", "why"),
    ]
    assert not {one.name for one in made} & set(mutants.named(stale, made))


def test_a_module_or_function_is_chosen_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert {one.module for one in mutants.mutants(["noise", "sampling.ratio"])} == {"noise", "sampling"}
    assert {one.name[1] for one in mutants.mutants(["sampling.ratio"])} == {"ratio"}
    assert main(["mutants", "beyond"]) == 2
    assert "MODULE must be one of noise" in capsys.readouterr().err


# --- Who sees what ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def settled() -> dict[str, Settled]:
    return {}


def look(
    mutant: Mutant | tuple[str, str], names: Sequence[str | Claim], known: dict[str, Settled]
) -> str | None:
    """Which of some claims sees a mutant, or a module with a text of our own."""
    chosen = [one if isinstance(one, Claim) else STATED[one] for one in names]
    known |= {one.claim.id: one for one in mutants.survey(c for c in chosen if c.id not in known)}
    wanted = [known[claim.id] for claim in chosen]
    if isinstance(mutant, tuple):
        return witness(*mutant, wanted)
    text = altered(mutants.source(mutant.module), mutant.alteration)
    reached = [one for one in wanted if one in mutants.concerned(mutant, wanted)]
    return witness(mutant.module, text, reached, anew=not mutant.alteration.lines)


def made(name: str, change: str) -> Mutant:
    [found] = [one for one in mutants.mutants([name]) if one.alteration.change == change]
    return found


SEEN = [
    ("sampling.LookupTable.weights", "high - low → high", "ex3-fraction-24"),
    ("sampling.after_sampling", "z ** power * w → z ** power", "ex3-variance"),
    ("sampling.smallest_growth", "zip(p, q, strict=True) → zip(q, p, strict=True)", "fix-ex3-smallest"),
    ("sampling.full_support_limit.is_lost", "Fraction(1, size) → Fraction(2, size)", "fix-limit-16"),
    ("design._gamma", "2 * support - 1 → 2 * support + 1", "ex1-iota"),
    ("design.", "range(1, 3001) → range(1, 3002)", None),
    ("privacy.e_star", "if curvature → if False", "fix-limit-attained"),
    ("noise.Family.loss", "z - 1 → z + 1", "ex1-iota"),
    ("noise._variance", "2 * float((squares * half).sum()) → 2", "fig1-gamma-V10"),
    ("noise.variance_bound", "half_width * (half_width + 1) → half_width", "fig1-gamma-V10"),
    ("cellkey.distance_from_uniform", "2 ** BITS → 2 * BITS", "key-prime"),
    ("certified.weights", "-noise.exponent(first) → noise.exponent(first)", "ex1-variance"),
    ("certified.cuts", "floor + 1 → floor", "ex2-small-equal"),
    ("noise.polynomial", "if 2 * at <= 1 → if 2 * at < 1", None),
]
"""Mutants, and a claim that sees each; no claim at all runs through the last one."""


@pytest.mark.parametrize(("name", "change", "claim"), SEEN)
def test_who_sees_a_mutant(name: str, change: str, claim: str | None, settled: dict[str, Settled]) -> None:
    assert look(made(name, change), [claim or "ex1-iota"], settled) == claim


def test_an_import_anew_sees_what_an_exchange_sees(settled: dict[str, Settled]) -> None:
    mutant = made("noise.Family.loss", "z - 1 → z + 1")
    assert look(mutant, ["ex1-iota"], settled) == "ex1-iota"
    text = altered(mutants.source("noise"), mutant.alteration)
    assert witness("noise", text, [settled["ex1-iota"]], anew=True) == "ex1-iota"
    assert witness("noise", mutants.source("noise"), [settled["ex1-iota"]], anew=True) is None


def test_no_loop_and_no_hunger_goes_on_for_ever(settled: dict[str, Settled]) -> None:
    start = "    def exponent(self, z: int) -> Fraction:\n"
    for hungry in ("        while True: pass\n", "        bytearray(2**40)\n"):
        text = mutants.source("noise").replace(start, start + hungry)
        assert look(("noise", text), ["ex1-p0"], settled) == "time or memory"


ONE_WAY = "_one_way(second, first, level) → _one_way(first, second, level)"


def test_known_alterations_are_seen_by_statements_about_the_library(settled: dict[str, Settled]) -> None:
    table, directions = library("of_any_table"), library("both_directions")
    for name, change, claim in (
        ("sampling.after_sampling", "rises + falls → rises", table),
        ("sampling.after_sampling", "square - mean ** 2 → square", table),
        (
            "privacy.hockey_stick",
            "_one_way(second, first, level) → _one_way(first, second, level)",
            directions,
        ),
    ):
        assert look(made(name, change), [claim], settled) == claim.id
    least = library("least_delta")
    text = mutants.source("beyond.best_gamma")
    worse = text.replace("share = beyond[:, -1]", "share = 1.3 * beyond[:, -1]")
    assert worse != text
    assert look(("beyond.best_gamma", text), [least], settled) is None
    assert look(("beyond.best_gamma", worse), [least], settled) == least.id


FAILING = {
    "noise_values": ("noise.Family.entropy", "2 * float(self._half.sum()) → 3 * float(self._half.sum())"),
    "inverse": ("noise.polynomial", "coefficients * rises → coefficients"),
    "smallest_epsilon": ("privacy._max_entropy_epsilon", "onsets[index] + np.log1p(-share) → onsets[index]"),
    "losses": ("privacy.loss_masses", "noise.support + 1 → noise.support"),
    "composed": ("certified.loss_beyond_ball", "1 << int(ctx.prec) → 1"),
    "enclosed_rates": ("certified.entropy", "(0, noise.gamma) → (1, noise.gamma)"),
    "smallest_support": (
        "design._proposed_support.reaches",
        "_gamma(epsilon, support, slack) → _gamma(epsilon, slack, support)",
    ),
    "ranges": ("design.Design.slack", "4 * self.support ** 2 - 1 → 4 * self.support ** 2"),
    "keys": ("cellkey._powers", "columns[-1] * columns[0] → columns[-1]"),
    "key_distances": ("cellkey.distance_bound", "times + 1 → 1"),
    "looked_up": ("sampling.LookupTable._buckets", "first == last → first != last"),
    "growth_of_any_table": ("sampling.smallest_growth", "if spare < 0 → if False"),
    "lost_support": ("sampling.full_support_limit", "Enclosure(low, high) → Enclosure(high, low)"),
    "nearest": ("sampling.nearest", "size - 2 * sum(half) → size"),
}
"""Statements about the library that are not tried above, and a mutant that each sees."""


@pytest.mark.parametrize("check", FAILING)
def test_every_statement_about_the_library_can_fail(check: str, settled: dict[str, Settled]) -> None:
    claim = library(check)
    assert look(made(*FAILING[check]), [claim], settled) == claim.id
    assert settled[claim.id].record["verdict"] == "confirmed"


# --- The command ------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["mutants", "sampling.ratio", *arguments])
    return code, capsys.readouterr().out


@pytest.fixture
def few_claims(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A ledger of one claim, and a list of our own."""
    monkeypatch.setattr(claims, "load", lambda *_: {"fix-bias": STATED["fix-bias"]})
    listed = tmp_path / "mutants.toml"
    monkeypatch.setattr(mutants.survivors, "__defaults__", (listed,))
    listed.write_text("survives = []")
    return listed


def test_the_command_wants_all_survivors_listed_and_no_other(
    capsys: pytest.CaptureFixture[str], few_claims: Path
) -> None:
    code, out = run(capsys)
    assert code == 1
    assert "survives, not listed: sampling.ratio: Fraction(0) → Fraction(1)" in out
    code, out = run(capsys, "--json")
    answer = json.loads(out)
    assert (code, answer["as_listed"]) == (1, False)
    left = [one["change"] for one in answer["mutants"] if "survives" in one]
    assert 0 < len(left) < len(answer["mutants"])
    entry = '[[survives]]\nmodule = "sampling"\nfunction = "ratio"\nkind = "gap"\nbecause = "why"\n'
    few_claims.write_text(entry + f"changes = {json.dumps(left, ensure_ascii=False)}\n")
    code, out = run(capsys)
    assert (code, out.splitlines()[-1]) == (0, "All survivors are listed.")
    few_claims.write_text(entry)
    code, out = run(capsys)
    assert code == 1
    assert "listed, but seen by fix-bias: sampling.ratio: " in out


def test_another_ledger_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, few_claims: Path
) -> None:
    other = STATED["ex1-iota"]
    monkeypatch.setattr(claims, "load", lambda *_: {"fix-bias": Claim(**{**vars(other), "id": "fix-bias"})})
    assert main(["mutants", "sampling.ratio"]) == 2
    assert "make reproduce ACCEPT=1 first" in capsys.readouterr().err
