"""``python -m compendium``: the main job of ``make reproduce``."""

from compendium.example_1 import report

print(report())
