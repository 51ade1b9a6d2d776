"""Real tables: from microdata to a release and what may be promised about it.

`make_secret` writes the office's secret. A `Release` is read from a file (`release_file`), planned (`plan`)
and published, and its account is kept (`journal`, `account`). Records come from files, with `Csv` from those
that do not say how they are written, or are tables in memory (`sources`). `perturb` counts and perturbs one
table (`layout`, `records`, `cells`, `cell_keys`, `publish`) with a noise that `design`, `design_per_cell` or
`from_table` provides (`protection`); `apply` perturbs a table that was counted elsewhere and has its cell
keys (`given`). Results have a form (`forms`), state their guarantee (`statement`, `words`) and show
themselves in notebooks (`results`). `nested_columns` suggests hierarchies (`nesting`). `add_keys` gives every
record its keys, for noise that follows the people (`record_keys`). `write_census` makes up a census to try it
all on (`census`). The mathematics is that of the modules above; DuckDB, Arrow, Spark and ciphers are used
here alone.
"""

from tablebuilder_dp.microdata.account import Account
from tablebuilder_dp.microdata.census import write_categories, write_census
from tablebuilder_dp.microdata.given import Applied, apply
from tablebuilder_dp.microdata.layout import Layout
from tablebuilder_dp.microdata.listing import read_hierarchy
from tablebuilder_dp.microdata.nesting import Nesting, nested_columns
from tablebuilder_dp.microdata.plan import Plan
from tablebuilder_dp.microdata.protection import Protection, design, design_per_cell, from_table
from tablebuilder_dp.microdata.publish import Published, perturb
from tablebuilder_dp.microdata.record_keys import add_keys
from tablebuilder_dp.microdata.release import PublishedRelease, Release
from tablebuilder_dp.microdata.secret import make as make_secret
from tablebuilder_dp.microdata.sources import Csv

__all__ = [
    "Account",
    "Applied",
    "Csv",
    "Layout",
    "Nesting",
    "Plan",
    "Protection",
    "Published",
    "PublishedRelease",
    "Release",
    "add_keys",
    "apply",
    "design",
    "design_per_cell",
    "from_table",
    "make_secret",
    "nested_columns",
    "perturb",
    "read_hierarchy",
    "write_categories",
    "write_census",
]
