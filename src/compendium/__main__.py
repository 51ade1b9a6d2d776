"""``python -m compendium``: the main job of ``make reproduce``."""

from compendium.reproduce import main

if __name__ == "__main__":  # spawned processes import this module again
    raise SystemExit(main())
