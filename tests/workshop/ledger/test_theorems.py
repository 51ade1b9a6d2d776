"""The theorems of ``proofs/``: named, worded, linked to the ledger both ways, and checked by Coq."""

import dataclasses
import fcntl
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from compendium.ledger import book, claims, theorems, verdicts
from compendium.render import readme
from compendium.run import places
from compendium.run.places import ROOT

REALS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
"""The axioms of Coq's classical reals, and of Coquelicot."""
INTEGERS = ("PrimInt63.", "Uint63.")
"""The machine integers that CoqInterval computes with."""
MAKE, COQ = shutil.which("make") or "make", shutil.which("coqc")
NO_PROOF = r"\b(Admitted|admit|Admit|Axioms?|Parameters?|Conjecture|Abort|give_up|bypass_check|Unset)\b"


def equations(text: str) -> set[int]:
    """The numbers of the equations that a text names; "(13) to (20)" are eight."""
    ranges = re.findall(r"\((\d+)\)(?:(?: to |–)\((\d+)\))?", text)
    return {number for low, high in ranges for number in range(int(low), int(high or low) + 1)}


def sources() -> list[Path]:
    return theorems.files()


def test_every_file_is_listed() -> None:
    assert sorted(sources()) == sorted((ROOT / "proofs").glob("*.v"))


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.stem)
def test_nothing_is_taken_for_granted(path: Path) -> None:
    text = re.sub(r"\(\*.*?\*\)", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert not re.findall(NO_PROOF, text)
    outside = re.sub(r"^Section (\w+)\..*?^End \1\.", "", text, flags=re.MULTILINE | re.DOTALL)
    given = re.findall(r"^\s*(?:Variables?|Hypothes[ie]s|Context)\b", outside, re.MULTILINE)
    assert not given, "outside of a section that would be an axiom"


def test_coq_is_asked_for_nothing_unsafe() -> None:
    given = re.findall(r"-arg (\S+)", (ROOT / "proofs/_CoqProject").read_text(encoding="utf-8"))
    assert given == ["-w", "-ambiguous-paths"]  # a warning less, and nothing else


@pytest.mark.parametrize(
    "word", ["Admitted.", "Axiom a : False.", "Unset Guard Checking.", "Admit Obligations."]
)
def test_what_is_taken_for_granted_is_seen(word: str) -> None:
    assert re.findall(NO_PROOF, word)


def test_theorems_have_words_and_places() -> None:
    for theorem in theorems.load().values():
        assert re.fullmatch(r".{10,}\.", theorem.words), theorem.name
        assert theorem.place, theorem.name
        assert f"Theorem {theorem.name}" in theorem.text


def test_places_name_the_equations_of_their_claims() -> None:
    known = claims.load() | claims.load(claims.OURS)
    compared = 0
    for theorem in theorems.load().values():
        ours = equations(theorem.place)
        theirs = {number for name in theorem.claims for number in equations(known[name].where)}
        if ours and theirs:
            compared += 1
            assert ours & theirs, theorem.name
        comment = re.match(r"Eqs?\. \(\d+\)", theorem.words)
        assert not comment or not ours or equations(comment[0]) <= ours, theorem.name
    assert compared > 10


def test_claims_exist() -> None:
    known = claims.load() | claims.load(claims.OURS)
    assert {name for one in theorems.load().values() for name in one.claims} <= set(known)


def test_ledger_and_theorems_name_each_other() -> None:
    recorded = book.read()
    for entry in (*recorded.paper, *recorded.ours):
        names = [theorem.name for theorem in theorems.proving(entry.claim.id)]
        assert (entry.basis == verdicts.CHECKED) == bool(names), entry.claim.id
        coq = f"Coq theorem{'s' * (len(names) > 1)} {' and '.join(names)}; " if names else ""
        assert entry.evidence.startswith(coq), entry.claim.id
        assert ("Coq" in entry.evidence) == bool(names), entry.claim.id


def test_machine_checked_is_the_highest_evidence() -> None:
    claim = claims.load()["noise-proposition-1"]
    entry = verdicts.settle(claim)
    assert verdicts.BASES[0] == entry.basis == "machine-checked"
    assert re.fullmatch(r"Coq theorem proposition_1; proof, and \d+ cases", entry.evidence)
    assert verdicts.settle(dataclasses.replace(claim, id="unknown to Coq")).basis == verdicts.PROVED


def test_readme_has_the_statements() -> None:
    text = (ROOT / theorems.README).read_text(encoding="utf-8")
    assert readme.between(text, theorems.MARKS, theorems.page()) == text, "make reproduce ACCEPT=1"


def test_statements_come_with_what_they_assume() -> None:
    source = (
        "Section A.\nVariables x : R.\nHypothesis x_pos : 0 < x.\n"
        "(** Words\n    go on. *)\nTheorem a :\n  x = x.\nProof. auto. Qed.\nEnd A.\n"
        "(** No section. *)\nTheorem b : 1 = 1.\nProof. auto. Qed.\n"
    )
    a, b = theorems.stated(source)
    assert a.words == "Words go on."
    assert a.text == "Variables x : R.\nHypothesis x_pos : 0 < x.\nTheorem a :\n  x = x."
    assert b.text == "Theorem b : 1 = 1."


def test_a_theorem_that_is_not_there_is_refused(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "proofs", tmp_path / "proofs")
    with (tmp_path / "proofs/theorems.toml").open("a", encoding="utf-8") as file:
        file.write('[no_such_theorem]\nplace = "II"\nclaims = []\n')
    with pytest.raises(ValueError, match="names no_such_theorem, which no file states"):
        theorems.load(tmp_path)


@pytest.fixture(scope="module")
def compiled() -> Path:
    """The folder with all theorems, checked; without Coq a skip, or a failure if ``REQUIRE_COQ`` is set."""
    if not COQ:
        reason = "proofs left out: there is no Coq (apt-get install coq libcoq-interval libcoq-coquelicot)"
        (pytest.fail if os.environ.get("REQUIRE_COQ") else pytest.skip)(reason)
    places.write(ROOT / "build/proofs.lock", "")
    with (ROOT / "build/proofs.lock").open() as lock:  # another process of the tests may be at it
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([MAKE, "proofs"], cwd=ROOT, check=True, capture_output=True)
    return ROOT / "build/proofs"


def assumptions(compiled: Path, folder: Path, source: str) -> list[set[str]]:
    """The axioms of each ``Print Assumptions`` of a source."""
    (folder / "Assumptions.v").write_text(source, encoding="utf-8")
    command = [str(COQ), "-Q", str(compiled), "TableBuilder", "Assumptions.v"]
    run = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    parts = re.split(r"^(Axioms:|Closed under the global context)$", run.stdout, flags=re.MULTILINE)
    return [set(re.findall(r"^(\S+)", part, re.MULTILINE)) for part in parts[2::2]]


@pytest.mark.long
@pytest.mark.unmeasured
def test_coq_checks_everything_and_assumes_nothing_else(compiled: Path, tmp_path: Path) -> None:
    stated = list(theorems.load().values())
    files = {path.stem: path.read_text(encoding="utf-8") for path in sources()}
    imports = f"From TableBuilder Require {' '.join(files)}.\n"
    asked = "".join(f"Print Assumptions {one.file}.{one.name}.\n" for one in stated)
    found = assumptions(compiled, tmp_path, imports + asked)
    assert len(found) == len(stated)
    for theorem, axioms in zip(stated, found, strict=True):
        by_interval = "Interval" in files[theorem.file]
        others = {one for one in axioms - REALS if not (by_interval and one.startswith(INTEGERS))}
        assert not others, theorem.name


@pytest.mark.unmeasured
@pytest.mark.parametrize("name", ["granted", "granted'"])
def test_an_axiom_is_seen(compiled: Path, tmp_path: Path, name: str) -> None:
    source = f"Axiom {name} : False.\nTheorem a : 0 = 1. destruct {name}. Qed.\nPrint Assumptions a.\n"
    assert assumptions(compiled, tmp_path, source) == [{name}]


def test_without_coq_make_says_so(tmp_path: Path) -> None:
    (tmp_path / "sh").symlink_to("/bin/sh")
    run = subprocess.run(
        [MAKE, "proofs", "BASE=python"], cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert run.returncode == 2
    assert run.stderr.startswith("The proofs are not checked, as there is no Coq: apt-get install coq ")
