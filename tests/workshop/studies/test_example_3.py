"""Example 3: the measures of its table."""

from compendium.ledger import claims
from compendium.studies import example_3
from tablebuilder_dp import design, sampling


def test_every_value_is_what_the_paper_prints() -> None:
    table = sampling.lookup_table(design.guide("0.5", "1e-4"), keysize=2**32)
    for name, value in example_3.certified_values(table).items():
        assert claims.rounds_to(value, claims.load()[name].judged), name
