"""The paper's experiment, and what it counts."""

from compendium.studies import sweep


def test_the_experiment_counts_what_is_kept() -> None:
    study = sweep.run(support=3, epsilon_step="0.5", steps=5, slack="0.1", bits=(4, 8))
    for bits in study.bits:
        pairs = list(zip(study.epsilons, study.tables[bits], study.after[bits], strict=True))
        assert study.kept_promises(bits) == sum(after.epsilon_two_sided <= level for level, _, after in pairs)
        full = [level for level, table, _ in pairs if table.full_support]
        assert study.last_full_support(bits) == (full[-1] if full else None)
        errors = study.variance_errors(bits)
        assert len(errors) == 5
        assert max(map(abs, errors)) < 9 / 2**bits * (1 + 1 / 2**bits) / study.designs[-1].variance
