"""The differential privacy of the ABS TableBuilder noise, by the sections of the paper.

`noise` (III-A), `privacy` (III-B), `design` (III-C, III-D), `cellkey` (IV), `sampling` (V), and
`certified`, which encloses all of their quantities in intervals.
"""

from tablebuilder_dp import cellkey, certified, design, noise, privacy, sampling

__all__ = ["cellkey", "certified", "design", "noise", "privacy", "sampling"]
