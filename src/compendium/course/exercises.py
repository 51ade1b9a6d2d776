"""Exercises that check themselves: they tell right from wrong and never show the answer.

``paper/exercises.toml`` names each exercise's kind of answer and holds the answer sealed, as a hash from
which it cannot be read, with hints for mistakes that are often made. Where many answers are right, a
function of `properties` judges the answer instead. The solutions in ``notebooks/solutions`` give
their answers to the same checks.
"""

from __future__ import annotations

import hashlib
import importlib
import textwrap
import tomllib
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache
from itertools import islice
from numbers import Integral, Real
from typing import Any

import numpy as np

from compendium.run.places import ROOT
from tablebuilder_dp.support import parameters

FILE = ROOT / "paper/exercises.toml"
WIDTH = 84
"""This many characters of a line fit the page."""


@cache
def load() -> dict[str, dict[str, Any]]:
    """All exercises by name: notebook number and place, such as "04-1"."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def check(name: str, answer: object) -> None:
    """Say whether an answer is right; ``...`` stands for none yet.

    >>> check("04-1", ...)
    Exercise 04-1: no answer yet. Wanted: ...
    """
    print(textwrap.fill(f"Exercise {name}: {verdict(name, answer)}", WIDTH, break_on_hyphens=False))


def verdict(name: str, answer: object) -> str:
    """What `check` prints of an answer."""
    exercise = _exercise(name)
    if answer is ...:
        return f"no answer yet. Wanted: {form(exercise)}."
    try:
        given = canonical(exercise, answer)
    except (TypeError, ValueError, OverflowError):
        return f"that is not {form(exercise)}: {parameters.shown(answer)}."
    if exercise["kind"] == "property":
        problem = judge(name)(answer)
        return f"not yet. {problem}" if problem else "right."
    if _hash(name, given) == exercise["sealed"]:
        return "right."
    hint = exercise.get("hints", {}).get(_hash(name, given), "")
    if not hint and exercise["sealed"] in (_hash(name, near) for near in _nearly(exercise, given)):
        hint = "Nearly: only the last of the wanted digits is off. Round at the very end."
    return f"not yet. {hint}".strip()


def judge(name: str) -> Callable[[Any], str]:
    """The function that says what is wrong with an answer, for an exercise with many right ones."""
    module = importlib.import_module(f"compendium.course.properties.notebook_{name[:2]}")
    function: Callable[[Any], str] = getattr(module, f"exercise_{name.replace('-', '_')}")
    return function


def seal(name: str, answer: object) -> str:
    """An answer as ``paper/exercises.toml`` keeps it, right or for a hint."""
    return _hash(name, canonical(_exercise(name), answer))


def form(exercise: dict[str, Any]) -> str:
    """The kind of answer that an exercise wants, in words."""
    match exercise["kind"]:
        case "integer":
            return "an integer"
        case "integers":
            return f"{exercise['count']} integers in order, such as ({', '.join('0' * exercise['count'])})"
        case "number":
            return f"a number, right to {exercise['digits']} significant digits"
        case "letter":
            return f'one of the letters {", ".join(exercise["letters"])}, such as "{exercise["letters"][0]}"'
        case _:
            return str(exercise["wanted"])


def canonical(exercise: dict[str, Any], answer: Any) -> str:
    """An answer in the one way of writing that its hash is made of.

    >>> canonical({"kind": "number", "digits": 3}, 0.12345), canonical({"kind": "integer"}, 25.0)
    ('1.23e-01', '25')
    """
    match exercise["kind"]:
        case "integer":
            return str(_integer(answer))
        case "integers":
            if isinstance(answer, set | frozenset | dict):  # their order means nothing
                raise TypeError
            values = list(islice(answer, exercise["count"] + 1))
            if len(values) != exercise["count"]:
                raise ValueError
            return " ".join(str(_integer(value)) for value in values)
        case "number":
            single = hasattr(answer, "__float__") and not getattr(answer, "shape", ())
            if isinstance(answer, bool | np.bool_ | complex) or not single:
                raise TypeError
            value = float(answer)
            if not abs(value) < 1e300:  # nor is infinity or NaN
                raise ValueError
            return f"{value + 0.0:.{exercise['digits'] - 1}e}"  # -0.0 becomes 0.0
        case "letter":
            if not isinstance(answer, str) or answer.lower() not in exercise["letters"]:
                raise ValueError
            return answer.lower()
        case _:
            return ""


def _nearly(exercise: dict[str, Any], given: str) -> list[str]:
    """The numbers on both sides of a given one, as far away as its last digit."""
    if exercise["kind"] != "number" or exercise["digits"] < 3:  # few digits differ by more than rounding
        return []
    value = Decimal(given)
    unit = Decimal(1).scaleb(value.adjusted() - exercise["digits"] + 1)
    return [canonical(exercise, float(value + step)) for step in (-unit, unit)]


def _integer(value: Any) -> int:
    whole = isinstance(value, Integral) or (isinstance(value, Real) and float(value).is_integer())
    if isinstance(value, bool) or not whole:
        raise TypeError
    return int(value)


def _hash(name: str, text: str) -> str:
    return hashlib.sha256(f"{name}:{text}".encode()).hexdigest()[:16]


def _exercise(name: str) -> dict[str, Any]:
    if name not in load():
        raise ValueError(f"exercise must be one of {', '.join(load())}, got {name!r}")
    return load()[name]


def names(notebook: str) -> Sequence[str]:
    """The exercises of a notebook, in order."""
    return [name for name in load() if name.startswith(notebook[:2])]
