"""The differential privacy of the ABS TableBuilder noise, by the sections of the paper.

`noise` (III-A), `privacy` (III-B), `design` (III-C, III-D), `cellkey` (IV), `sampling` (V), and
`certified`, which encloses all of their quantities in intervals.

Past the paper: `best_gamma` and `gap` (the best γ, and where the paper's is the best), `symmetric` and
`chain` (lookup tables that keep their promises), `other_noise` and `frontier` (the least δ of any noise,
without and with a given variance), `composition` and `lattice` (many cells with the same person), and
`small_counts` with `asymmetric`, `certified_rows`, `certified_pairs` and `perturbation_table` (counts
below D, and tables for any count), `table_files` (tables of other software).

`microdata`, imported on its own, goes from records to a published table.
"""

from tablebuilder_dp import (
    best_gamma,
    cellkey,
    certified,
    composition,
    design,
    noise,
    other_noise,
    perturbation_table,
    privacy,
    sampling,
    small_counts,
    symmetric,
    table_files,
)

__all__ = [
    "best_gamma",
    "cellkey",
    "certified",
    "composition",
    "design",
    "noise",
    "other_noise",
    "perturbation_table",
    "privacy",
    "sampling",
    "small_counts",
    "symmetric",
    "table_files",
]
