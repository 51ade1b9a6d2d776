"""The command ``tablebuilder-dp``: the library's main answers, as a table or as JSON.

Numbers are handed on as the strings that were typed, so ``--epsilon 0.1`` is one tenth exactly.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import NoReturn

from tablebuilder_dp.cli import microdata, paper
from tablebuilder_dp.cli.answers import PROGRAM, Answer
from tablebuilder_dp.support import stopping

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What the world refuses, and no other input would help."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, like those of the library, with the nearest option's name."""

    def error(self, message: str) -> NoReturn:
        unknown = message.partition("unrecognized arguments: ")[2].split()
        known = [option for action in self._actions for option in action.option_strings]
        near = get_close_matches(unknown[0].partition("=")[0], known, 1, 0.8) if unknown else []
        self.exit(2, f"{PROGRAM}: {message}" + "".join(f" (is {name} meant?)" for name in near) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns the exit code: 0 on success, 2 with one sentence on bad input, 1 where the disk is full or the
    answer cannot be printed, 130 or 143 if it was stopped.
    Raises SystemExit for unknown options and for ``--help``, as argparse does.
    """
    options, unknown = _parser().parse_known_args(arguments)
    if unknown:
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        with (
            stopping.stoppable(final=arguments is None) as options.check,
            warnings.catch_warnings(category=UserWarning, action="always"),
        ):
            warnings.showwarning = _warned
            answer = options.run(options)
    except KeyboardInterrupt as interrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return stopping.status(interrupt)
    except (ValueError, TypeError, ArithmeticError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{PROGRAM}: {_system_error(error)}", file=sys.stderr)
        return 1 if error.errno in FULL else 2
    try:
        print(json.dumps(answer.data, allow_nan=False) if options.json else answer.text, flush=True)
    except BrokenPipeError:  # the reader has seen enough, as in `… | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # what was asked for is done, but cannot be told
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"{PROGRAM}: the answer cannot be printed: {error.strerror}", file=sys.stderr)
        return 1
    return int(answer.status)


def _warned(message: Warning | str, *_: object, **__: object) -> None:
    """Say at once what an office should look at."""
    print(f"{PROGRAM}: {message}", file=sys.stderr)


def _system_error(error: OSError) -> str:
    """What the operating system refused, without its number: "a.txt: No such file or directory"."""
    where = error.filename2 or error.filename
    return f"{where}: {error.strerror}" if where and error.strerror else str(error)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=PROGRAM, description="Design TableBuilder noise and state its (epsilon, delta).")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)

    def command(name: str, run: Callable[[argparse.Namespace], Answer], summary: str) -> _Parser:
        added = commands.add_parser(name, help=summary, description=summary)
        added.set_defaults(run=run, parser=added)
        added.add_argument("--json", action="store_true", help="print JSON with all digits")
        return added

    for group in (paper, microdata):
        group.register(command)
    return parser
