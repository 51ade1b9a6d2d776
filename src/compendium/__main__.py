"""``python -m compendium``: the commands of the workshop, which the Makefile calls."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from tablebuilder_dp.support import stopping

COMMANDS = {
    "reproduce": ("compendium.reproduce", "run the notebooks, render what follows, compare all of it"),
    "verify": ("compendium.ledger.verify", "a computed verdict for each statement of the paper"),
    "mutants": (
        "compendium.ledger.mutants",
        "alter the library's formulas one by one: does the ledger see it?",
    ),
    "report": ("compendium.render.report", "typeset the articles of paper/ from the committed numbers"),
    "site": ("compendium.site.build", "build the web pages, offline"),
}
"""Modules with ``add_options(parser)`` and ``run(options)``; only that of the chosen command is imported."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog.split()[-1]}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command: 0 if all is well, 1 if not, 2 with one sentence on bad input, 130 or 143 if stopped."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = _Parser(prog="python -m compendium", description=__doc__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    for name, (module, summary) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if given[:1] == [name]:
            chosen = importlib.import_module(module)
            chosen.add_options(command)
            command.set_defaults(run=chosen.run)
    options = parser.parse_args(given)
    for name, value in vars(options).items():
        if isinstance(value, list) and ([] in value or (not value and f"--{name}=--" in given)):
            parser.error(f"argument --{name}: expected a value, got '--'")
    try:
        with stopping.stoppable(final=arguments is None):
            return int(options.run(options))
    except KeyboardInterrupt as interrupt:
        print(f"{given[0]}: interrupted; run it again to finish", file=sys.stderr)
        return stopping.status(interrupt)
    except BrokenPipeError:  # the reader has seen enough, as in `… | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, ArithmeticError, OSError) as error:
        print(f"{given[0]}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":  # spawned processes import this module again
    raise SystemExit(main())
