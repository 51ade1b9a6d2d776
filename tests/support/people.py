"""Records to publish: drawn by Hypothesis, and ten people who are always the same."""

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from tablebuilder_dp.counts import perturbation_table as perturbation
from tablebuilder_dp.counts.rows import OfVariance
from tablebuilder_dp.microdata.record_keys import KEYS

TABLES = {
    way: perturbation.build(OfVariance(3, 2), keysize=2**32, small_counts=way) for way in ("rows", "clamped")
}

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufffd"), max_size=4)
names = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6
) | st.sampled_from(
    [
        'x"; DROP TABLE records; --',
        "a,b",
        "A",
        "a",
        "c0",
        "people",
        "SELECT",
        "naïve",
        "'",
        "`",
        "group by",
        "k0",
    ]
)
RESERVED = {*KEYS, "count", "total_over", "true_count", "cell_key", "noise"}
columns = st.one_of(
    st.just((pa.string(), texts)),
    st.just((pa.string(), st.sampled_from(["", "a", "b"]))),
    st.just((pa.int64(), st.integers(-2, 2))),
    st.just((pa.uint8(), st.integers(0, 3))),
    st.just((pa.bool_(), st.booleans())),
    st.just((pa.date32(), st.dates())),
)


@st.composite
def people(draw: st.DrawFn) -> tuple[pa.Table, list[str]]:
    """A few records with keys, and the variables of a table about them."""
    by = draw(st.lists(names.filter(lambda name: name not in RESERVED), min_size=1, max_size=3, unique=True))
    size = draw(st.integers(0, 12))
    made: dict[str, Any] = {}
    for name in by:
        kind, values = draw(columns)
        made[name] = pa.array(draw(st.lists(st.none() | values, min_size=size, max_size=size)), kind)
    key = st.integers(1, 2**32 - 1)
    for name in KEYS:
        made[name] = pa.array(draw(st.lists(key, min_size=size, max_size=size)), pa.uint32())
    return pa.table(made), by


def keyed(columns: dict[str, Any], *, seed: int = 1) -> pa.Table:
    """Columns with four random record keys."""
    size = len(next(iter(columns.values())))
    drawn = np.random.default_rng(seed).integers(1, 2**32, (4, size), dtype=np.uint32)
    return pa.table({**columns, **{name: pa.array(drawn[j]) for j, name in enumerate(KEYS)}})


PEOPLE = keyed(
    {
        "region": ["N", "N", "N", "N", "S", "S", "S", "S", "S", None],
        "sex": ["F", "F", "M", None, "F", "M", "M", "M", "M", "F"],
        "age": pa.array([1, 1, 2, 2, 1, 3, 3, 3, 3, 1], pa.int8()),
    }
)
