"""Real tables: from microdata to a published table and what may be promised about one of its counts.

Four verbs. `make_secret` writes the office's secret. `add_keys` gives every record its keys (`record_keys`).
`perturb` counts and perturbs (`records`, `cells`, `publish`) with a noise that `design` or `from_table`
provides (`protection`); its result states its guarantee (`statement`, `words`). `write_census` makes up a
census to try it all on (`census`). The mathematics is that of the modules above; only here are DuckDB,
Arrow, Spark and ciphers used.
"""

from tablebuilder_dp.microdata.census import write_census
from tablebuilder_dp.microdata.protection import Protection, design, from_table
from tablebuilder_dp.microdata.publish import Published, perturb
from tablebuilder_dp.microdata.record_keys import add_keys
from tablebuilder_dp.microdata.secret import make as make_secret

__all__ = [
    "Protection",
    "Published",
    "add_keys",
    "design",
    "from_table",
    "make_secret",
    "perturb",
    "write_census",
]
