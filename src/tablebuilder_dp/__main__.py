"""``python -m tablebuilder_dp``: the command line without its installed name."""

from tablebuilder_dp.cli.main import main

raise SystemExit(main())
