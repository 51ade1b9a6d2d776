"""The ledger as a whole: what is recorded is what was settled, and it comes back whole."""

import json
from pathlib import Path

import pytest

from compendium.ledger import book, claims, verdicts
from compendium.ledger.book import Book, Witness
from compendium.run.results import Results

NAMES = ("ex1-p0", "ex1-p12", "exp-variance-8", "guide-delta-domain", "post-guarantee")


def small_book() -> Book:
    stated, ours = claims.load(), claims.load(claims.OURS)
    entries = tuple(verdicts.settle(stated[name]) for name in NAMES)
    return Book(entries, (verdicts.settle(ours["fix-drop-slack"]),), (Witness("D*", {"enclosures": "25"}),))


def test_a_book_comes_back_whole() -> None:
    content = small_book().content()
    assert book.of(json.loads(json.dumps(content))).content() == content
    assert content["counts"]["slip"] == 2
    assert content["witnesses"] == [{"quantity": "D*", "agreement": {"enclosures": "25"}}]
    [entry] = [entry for entry in content["claims"] if entry["id"] == "ex1-p12"]
    assert entry["truth"] == "0.01316537756578073430; what is printed is p(±11)"
    assert entry["because"].startswith("The printed value is p(±11)")


def test_every_field_of_an_entry_is_recorded() -> None:
    for entry in small_book().paper:
        back = verdicts.Entry.of(entry.record())
        for name in ("verdict", "found", "evidence", "correction", "origin", "because", "changes", "truth"):
            assert getattr(back, name) == getattr(entry, name), name
        for name in ("id", "section", "where", "says", "printed", "check", "meaning", "proof", "corrects"):
            assert getattr(back.claim, name) == getattr(entry.claim, name), name
        assert dict(back.claim.at) == dict(entry.claim.at)


def test_the_committed_book_is_about_the_stated_claims() -> None:
    recorded = book.read()
    assert [entry.claim.id for entry in recorded.paper] == list(claims.load())
    assert [entry.claim.id for entry in recorded.ours] == list(claims.load(claims.OURS))


def test_an_unreadable_book_gets_one_sentence(tmp_path: Path) -> None:
    for content in (None, "{", "{}", '{"claims": [{}]}'):
        (tmp_path / "paper").mkdir(exist_ok=True)
        if content is not None:
            (tmp_path / book.LEDGER).write_text(content)
        with pytest.raises(ValueError, match=r"^paper/ledger.json cannot be read, make reproduce first: .+$"):
            book.read(tmp_path)


def test_a_notebook_records_the_ledger_and_depends_on_all_of_it(output: Path) -> None:
    results = Results("10-verdict", sections=["III-D"])
    results.ledger(small_book().content())
    [path] = output.glob("build/other/*/10-verdict.json")
    record = json.loads(path.read_text())
    assert record["claims"] == ["*"]
    assert record["ledger"]["counts"]["slip"] == 2
