"""Related work: every source is cited and marked, every theorem is judged once."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from compendium.render import readme, references, report
from compendium.run.places import ROOT
from compendium.site import proofs
from tablebuilder_dp.beyond import other_noise

RELATED = (ROOT / references.RELATED).read_text(encoding="utf-8")
PAGE = RELATED[: RELATED.index(references.SOURCES[0])]
REPORT = "".join(report.source(name).read_text(encoding="utf-8") for name in report.ARTICLES)
SOURCES = {source.key: source for source in references.read()}
STATUS = ("Known before", "Known in part", "Not found")
RANGE = re.compile(r"(?:Theorem|Lemma) (\d+)(?: to (?:Theorem|Lemma) (\d+))?")


def uncited(page: str, report: str, keys: set[str]) -> set[str]:
    """Keys that neither the page nor an article cites."""
    return {key for key in keys - set(references.cited(page)) if not re.search(rf"@{key}\b", report)}


def misdaggered(page: str) -> list[str]:
    """Citations with a dagger although the source was read, or without one although it was not."""
    return [key for key, daggers in references.cited(page).items() if daggers != {SOURCES[key].unread}]


def judged(page: str) -> list[tuple[str, int]]:
    """The status of each theorem and lemma, in the order of the page."""
    found = []
    for status in STATUS:
        part = re.split(r"^##", page.partition(f"\n### {status}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
        for names in re.findall(r"^- \*\*(.*?)\.\*\*", part, re.MULTILINE | re.DOTALL):
            for first, last in RANGE.findall(names):
                found += [(status, number) for number in range(int(first), int(last or first) + 1)]
    return found


# --- the page ---------------------------------------------------------------------------------


def test_every_source_is_cited_and_every_citation_has_a_source() -> None:
    assert len(SOURCES) > 60
    assert uncited(PAGE, REPORT, set(SOURCES)) == set()
    assert set(references.cited(PAGE)) <= set(SOURCES)
    assert len(re.findall(r"#source-", PAGE)) == len(re.findall(r"\]\(#source-\w+\)", PAGE))


def test_the_articles_cite_only_what_is_there() -> None:
    labels = set(re.findall(r"<([\w-]+)>", REPORT))
    assert set(re.findall(r"(?<![\w/])@([a-z]\w*)", REPORT)) - labels <= set(SOURCES)


def test_sources_that_were_not_read_have_a_dagger_and_no_others() -> None:
    assert misdaggered(PAGE) == []


def test_the_list_of_sources_is_that_of_the_bibliography_with_its_marks() -> None:
    assert readme.between(RELATED, references.SOURCES, references.listed(SOURCES.values())) == RELATED
    shown = RELATED[len(PAGE) :]
    for key, source in SOURCES.items():
        entry = shown.partition(f'<a id="source-{key}"></a>\n')[2].partition("\n\n")[0]
        assert ("**Verified:** " in entry) is not source.unread, key
        assert (references.DAGGER in entry) is source.unread, key


def test_every_theorem_is_judged_once_and_by_its_name() -> None:
    results = proofs.read(ROOT)
    assert sorted(number for _, number in judged(PAGE)) == [result.number for result in results]
    named = {f"{kind} {number}" for kind, number in proofs.CITED.findall(PAGE)}
    assert named <= {result.name for result in results}


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.5, 0.01), (1.0, 1e-3), (0.2, 0.05), (2.0, 0.3), (0.5, 1e-4)]
)
def test_the_noise_of_least_variance_uses_up_its_privacy_at_every_step(epsilon: float, delta: float) -> None:
    """So it is the canonical one: P(Z ≤ y) = e^ε P(Z ≤ y − 1) + δ from the middle down to the end."""
    q = math.exp(epsilon)
    tails = [(1 - delta) / (1 + q)]  # P(Z ≤ −1) of a symmetric noise, as P(Z ≤ 0) = 1 − P(Z ≤ −1)
    while tails[-1] > delta:
        tails.append((tails[-1] - delta) / q)
    square = 2 * sum((2 * k - 1) * tail for k, tail in enumerate(tails, start=1))
    least = other_noise.least_variance(epsilon, delta)
    assert square == pytest.approx(float((least.lower + least.upper) / 2), rel=1e-12)
    assert len(tails) == other_noise.least_support(epsilon, delta)


# --- what the checks above would find ---------------------------------------------------------


def test_a_source_without_a_citation_or_with_the_wrong_dagger_is_found() -> None:
    assert uncited("[a](#source-arb)", "@moore and @arbor", {"arb", "moore", "baker"}) == {"baker"}
    assert misdaggered("[a](#source-arb)† and [b](#source-baker)†") == ["arb"]
    assert misdaggered("[b](#source-baker) and [b](#source-baker)†") == ["baker"]


def test_ranges_of_theorems_are_counted_out() -> None:
    page = "\n### Known before\n\n- **Lemma 1, Theorem 3 to Lemma 5.** By Theorem 9.\n"
    page += "\n### Not found\n\n- **Theorem 2.** x\n"
    assert judged(page) == [("Known before", n) for n in (1, 3, 4, 5)] + [("Not found", 2)]


@pytest.mark.parametrize("mark", ["", "abstract", "no: there", "seen: there"])
def test_a_mark_of_another_kind_is_refused(mark: str) -> None:
    source = references.Source("x", {"verified": mark} if mark else {})
    with pytest.raises(ValueError, match="verified must be a kind of whole, .* and a place, at x"):
        _ = source.checked


@pytest.mark.parametrize(
    "text",
    [
        "@misc{a,\n  title = {T},\n}\n\n@misc{a,\n  title = {U},\n}\n",
        "@misc{a, title = {T}}\n",
        "@misc{a,\n  title = {T\n  U},\n}\n",
    ],
    ids=["twice", "one line", "a long field"],
)
def test_a_bibliography_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"references\.bib has an entry of another form, or two with one key"
    ):
        references.sources(text)


def test_an_entry_has_its_authors_its_place_and_its_mark() -> None:
    [source] = references.sources(
        "@article{key,\n  author = {Doe, Jane and {The Team}},\n  title = {A {B} c},\n  journal = {J},\n"
        "  volume = {3},\n  number = {1--2},\n  year = {2020},\n  eprint = {1.2},\n"
        "  url = {https://x.y},\n  verified = {record: z},\n}\n"
    )
    assert source.markdown == (
        '<a id="source-key"></a>\n'
        "Jane Doe and The Team, *A B c*, J 3(1–2), arXiv 1.2, 2020, <https://x.y>. "
        "**Record verified** (z); contents not read†."
    )


def test_the_page_leads_to_theorems_and_sources(built: Path) -> None:
    html = (built / references.RELATED).with_suffix(".html").read_text(encoding="utf-8")
    for key in SOURCES:
        assert f'id="source-{key}"' in html, key
    for key in references.cited(PAGE):
        assert f'href="#source-{key}"' in html, key
    assert 'href="proofs.html#theorem-34"' in html
    front = (built / "index.html").read_text(encoding="utf-8")
    assert 'href="paper/related.html"' in front
