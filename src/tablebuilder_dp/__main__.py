"""``python -m tablebuilder_dp``: the command line without its installed name."""

from tablebuilder_dp.cli import main

raise SystemExit(main())
