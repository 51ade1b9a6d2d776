"""The paper's experiment, and what it counts."""

from fractions import Fraction

import pytest

from compendium.ledger import claims, verdicts
from compendium.studies import sweep
from tablebuilder_dp import design, sampling


def test_the_experiment_counts_what_is_kept() -> None:
    study = sweep.run(support=3, epsilon_step="0.5", steps=5, slack="0.1", bits=(4, 8))
    for bits in study.bits:
        pairs = list(zip(study.epsilons, study.tables[bits], study.after[bits], strict=True))
        assert study.kept_promises(bits) == sum(after.epsilon_two_sided <= level for level, _, after in pairs)
        full = [level for level, table, _ in pairs if table.full_support]
        assert study.last_full_support(bits) == (full[-1] if full else None)
        assert study.full_support(bits) == len(full)
        assert study.epsilons[: len(full)] == tuple(full)
        held = [max(sampling.delta(table, level)) <= float(after.delta) for level, table, after in pairs]
        assert study.guarantees(bits) == sum(held)
        for (level, _, after), of_epsilon, of_delta in zip(
            pairs, study.epsilon_errors(bits), study.delta_errors(bits), strict=True
        ):
            made = design.proposition_3(level, support=3)
            assert after.epsilon_one_sided == pytest.approx(float(level) * (1 + of_epsilon))
            assert float(after.delta) == pytest.approx(made.delta * (1 + of_delta))
        errors = study.variance_errors(bits)
        assert len(errors) == 5
        assert max(map(abs, errors)) < 9 / 2**bits * (1 + 1 / 2**bits) / study.designs[-1].variance


def test_what_is_found_of_the_paper_agrees_with_the_ledger() -> None:
    values = sweep.found(sweep.of_the_paper())
    assert len(values) == 16
    for name, value in values.items():
        claim = claims.load()[name]
        if verdicts.settle(claim).verdict == verdicts.CONFIRMED:
            assert claims.rounds_to(value, claim.judged), name


def test_words_follow_what_is_found() -> None:
    tables = sweep.run(support=2, epsilon_step="0.5", steps=2, slack=0, bits=(8, 16, 32))
    few = sweep.Experiment(
        tables.support,
        tables.epsilons,
        (8, 16, 32),
        tables.designs,
        {8: tables.tables[32], 16: tables.tables[8], 32: tables.tables[8]},
        {8: tables.after[32], 16: tables.after[8], 32: tables.after[8]},
    )
    usual, other = sweep.found(tables), sweep.found(few)
    assert usual["exp-delta-32"] == "almost identical"
    assert other["exp-delta-32"] == other["exp-delta-16"] == "different"
    assert usual["exp-epsilon-32"] == "≈"
    assert other["exp-epsilon-32"] == "≠"
    assert usual["exp-support-32"] == other["exp-support-32"] == "all"


def test_counts_say_how_often_each_sentence_holds() -> None:
    paper = sweep.of_the_paper()
    counts = sweep.counted(paper)
    assert set(counts) < set(sweep.found(paper))
    assert counts["exp-support-32"] == "25 of 25 full"
    assert counts["exp-epsilon-8"] == f"6 of {paper.full_support(8)} above ε"
    pairs = zip(paper.designs, paper.after[16], strict=True)
    close = sum(after.delta <= Fraction(101, 100) * Fraction(made.delta) for made, after in pairs)
    assert counts["exp-delta-16"] == f"{close} of 25 within 1%"
