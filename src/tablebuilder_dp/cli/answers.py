"""What the commands have in common: their answers, and how they are added to the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

PROGRAM = "tablebuilder-dp"


class Answer(NamedTuple):
    """What a command returns: the JSON object, the text for people and the exit code."""

    data: dict[str, Any]
    text: str
    status: int = 0


Register = Callable[[str, Callable[[argparse.Namespace], Answer], str], argparse.ArgumentParser]
"""Adds a command by its name, function and summary; its options are added to the parser returned."""
