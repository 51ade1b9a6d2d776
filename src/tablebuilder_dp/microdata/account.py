"""What all editions together give away about one person, from what was published in each.

A person has at most one row in each edition; neighbours differ in all rows of one person. Everything that was
published is then one list of independent answers, of which the person changes some in each edition: for one
noise their numbers add up, for several noises there is a certified bound. That takes the designs for fixed in
advance. Where a later design may depend on what was published before, the (ε, δ) of all publications are
added up, and what holds is the budget that the sum stays within.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cached_property
from html import escape
from textwrap import fill
from typing import Any, NamedTuple

from tablebuilder_dp.beyond import many_cells
from tablebuilder_dp.beyond.promise import DIGITS, Part, together
from tablebuilder_dp.microdata.layout import NEIGHBOURS
from tablebuilder_dp.microdata.protection import Protection, largest
from tablebuilder_dp.noise import AnyNoise, Noise
from tablebuilder_dp.sampling import distance, rounded_up
from tablebuilder_dp.support import parameters

DESIGNS = ("adaptive", "fixed")
"""Whether later designs may depend on what was published before, or all were fixed before the first."""

ROOM = 1000
"""The most further editions that are looked for."""

_WIDTH = 84
_DIGITS = 4  # of the ε of an account


@dataclass(frozen=True)
class Budget:
    """What all editions together may use up, for one relation of neighbours and one of ``DESIGNS``."""

    epsilon: Fraction
    delta: Fraction
    neighbours: str = NEIGHBOURS[0]
    designs: str = DESIGNS[0]

    def __str__(self) -> str:
        return (
            f"epsilon {float(self.epsilon):g}, delta {float(self.delta):g}, {self.neighbours}, designs "
            f"{self.designs}"
        )


@dataclass(frozen=True)
class Entry:
    """What was published at one time.

    ``partitions`` has the columns of each, sorted, and its number of cells. Where nothing is promised about
    several cells there is no ``noise``, and ``why`` says why not. ``distance`` is at least that of the lookup
    table from the noise; ``weights`` and ``input`` are digests.
    """

    edition: str | None
    partitions: tuple[tuple[tuple[str, ...], int], ...]
    epsilon: Fraction | None = None
    noise: AnyNoise | None = None
    distance: Fraction = Fraction(0)
    weights: str = ""
    input: str = ""
    neighbours: str = NEIGHBOURS[0]
    budget: Budget | None = None
    why: str = ""


class Step(NamedTuple):
    """What an entry adds: the counts that one person changes and that were not there before, and their δ."""

    entry: Entry
    cells: int
    epsilon: Fraction
    delta: Fraction

    @property
    def part(self) -> Part:
        """The counts with their noise."""
        assert self.entry.noise is not None  # noqa: S101 (for mypy: other entries have no cells)
        return Part(self.entry.noise, self.cells, self.entry.distance)


@dataclass(frozen=True)
class Account:
    """All entries of a journal, and what they amount to for one relation of neighbours.

    Designs that were fixed in advance are bounded together: for one noise counts add up (Theorem 58), for
    several there is Theorem 66. For those that were not fixed, a budget holds (Theorem 67).
    """

    entries: tuple[Entry, ...]
    neighbours: str = NEIGHBOURS[0]

    @property
    def budget(self) -> Budget | None:
        """The budget that was fixed with the first entry."""
        return self.entries[0].budget if self.entries else None

    @property
    def promises(self) -> bool:
        """Whether anything is promised for all entries together."""
        return all(entry.noise is not None for entry in self.entries)

    @cached_property
    def steps(self) -> list[Step]:
        """What each entry adds; counts that were published before, with the same noise, add nothing."""
        known: dict[tuple[Any, ...], int] = {}
        made = []
        for entry in self.entries:
            cells = 0
            for by, size in entry.partitions if entry.noise is not None else ():
                name = (entry.edition, entry.weights, by)
                before = known.get(name, 0)
                known[name] = before + size if by else 1  # there is one grand total
                cells += self._changed(known[name]) - self._changed(before)
            made.append(self._step(entry, cells))
        return made

    def _changed(self, cells: int) -> int:
        """How many counts of a partition one person changes, if it has this many cells (Theorem 56)."""
        if self.neighbours == "add-or-remove":
            return int(cells > 0)
        return 2 * (cells > 1)

    def _step(self, entry: Entry, cells: int) -> Step:
        if not cells or entry.epsilon is None or entry.noise is None:
            return Step(entry, 0, Fraction(0), Fraction(0))
        delta = together([Part(entry.noise, cells, entry.distance)], entry.epsilon)
        return Step(entry, cells, entry.epsilon, delta)

    @property
    def cells(self) -> int:
        """How many counts one person changes in all editions together, at most."""
        return sum(step.cells for step in self.steps)

    @property
    def added_up(self) -> tuple[Fraction, Fraction]:
        """The sums of all ε and δ (basic composition)."""
        return _added_up(self.steps)

    def delta(self, epsilon: Fraction) -> Fraction:
        """An upper bound on the δ of everything at ε, for designs that were fixed in advance.

        Raises ValueError for an ε beyond those that are served, or more counts than can be enclosed.
        """
        return _delta(self.steps, epsilon)

    @cached_property
    def composed(self) -> tuple[Fraction, Fraction]:
        """An (ε, δ) of everything, for designs that were fixed in advance.

        ε is that of a budget for such designs, or else the least of four digits whose δ is no more than all δ
        added up; where that cannot be enclosed, it is the sum.
        """
        try:
            return self._composed()
        except (ValueError, ArithmeticError):
            return self.added_up

    def _composed(self) -> tuple[Fraction, Fraction]:
        epsilon, delta = self.added_up
        if self.budget and self.budget.designs == "fixed":
            return self.budget.epsilon, self.delta(self.budget.epsilon)
        if sum(step.cells > 0 for step in self.steps) < 2:
            return epsilon, delta
        scale = Fraction(10) ** (Decimal(float(epsilon)).adjusted() + 1 - _DIGITS)
        low, high = 0, int(-(-epsilon // scale))
        if self.delta(high * scale) > delta:  # the bound is not sharp enough
            return epsilon, delta
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.delta(middle * scale) <= delta else (middle, high)
        return high * scale, delta

    @property
    def over_budget(self) -> str:
        """Why the budget is exceeded; an empty text where it is not, or where there is none.

        Sums are compared exactly, a bound by its upper end.
        """
        if self.budget is None:
            return ""
        if not self.promises:
            return "something is published that promises nothing for several cells"
        return _over_budget(self.steps, self.budget)

    def room(self) -> int | None:
        """How many more editions like the newest fit into the budget, up to ``ROOM``.

        Returns None where there is no budget.
        """
        budget = self.budget
        if budget is None or not self.steps:
            return None
        if not self.promises or self.over_budget:
            return 0
        newest = [step for step in self.steps if step.entry.edition == self.steps[-1].entry.edition]

        def exceeds(editions: int) -> bool:
            return bool(_over_budget(self.steps + newest * editions, budget))

        reach = 1
        while reach <= ROOM and not exceeds(reach):
            reach *= 2
        return bisect_left(range(min(reach, ROOM + 1)), True, lo=reach // 2, key=exceeds) - 1

    @property
    def data(self) -> dict[str, Any]:
        """The account as it is written in JSON."""
        (added, sum_of_delta), (epsilon, delta) = self.added_up, self.composed
        nothing = {"epsilon": "inf", "delta": 1.0}
        budget = self.budget
        return {
            "editions": [_row(step) for step in self.steps],
            "neighbours": self.neighbours,
            "cells_per_person": self.cells,
            "publications": len(self.entries),
            **(_stated(epsilon, delta) if self.promises else nothing),
            "added_up": _stated(added, sum_of_delta) if self.promises else nothing,
            "budget": budget
            and {
                "epsilon": float(budget.epsilon),
                "delta": float(budget.delta),
                "neighbours": budget.neighbours,
                "designs": budget.designs,
            },
            "room": self.room(),
        }

    @property
    def text(self) -> str:
        """The account as people read it."""
        return "\n".join(
            line if line.startswith(" ") else fill(line, _WIDTH, subsequent_indent="  ")
            for line in self._lines()
        )

    def _lines(self) -> Iterator[str]:
        if not self.entries:
            yield "Nothing has been published yet."
            return
        data = self.data
        yield f"  {'edition':<20} {'noise':<22} {'counts':>6} {'epsilon':>9} {'delta':>11}"
        for row in data["editions"]:
            line = f"  {str(row['edition'])[:20]:<20} nothing is promised for several cells"
            if "noise" in row:
                noise = f"{row['noise']} [-{row['support']}, {row['support']}]"
                numbers = f"{row['cells_changed']:>6} {row['epsilon']:>9.5g} {row['delta']:>11.4g}"
                line = f"  {str(row['edition'])[:20]:<20} {noise:<22} {numbers}"
            yield line
        yield ""
        if not self.promises:
            yield "Nothing is promised for all editions together."
            yield from sorted({entry.why for entry in self.entries if entry.why})
            return
        yield (f"One person changes at most {counted(self.cells)} in all editions ({self.neighbours}).")
        yield (
            f"All together: epsilon = {data['epsilon']:.6g} and delta = {data['delta']:.4g}, if no design "
            "depended on what was published before."
        )
        added = data["added_up"]
        yield f"Added up: epsilon = {added['epsilon']:.6g} and delta = {added['delta']:.4g}."
        if budget := data["budget"]:
            kept = "its designs may depend on what was published before"
            if budget["designs"] == "fixed":
                kept = "its designs are fixed in advance"
            yield (
                f"Budget: epsilon = {budget['epsilon']:g} and delta = {budget['delta']:g}; {kept}. "
                f"{_more(data['room'])} like the newest would fit."
            )

    def _repr_html_(self) -> str:
        """How a notebook shows the account."""
        return f"<pre>{escape(self.text)}</pre>"


def _over_budget(steps: Sequence[Step], budget: Budget) -> str:
    if budget.designs == "adaptive":
        epsilon, delta = _added_up(steps)
        if epsilon <= budget.epsilon and delta <= budget.delta:
            return ""
        return f"epsilon would add up to {float(epsilon):.6g} and delta to {rounded_up(delta):.6g}"
    try:
        delta = _delta(steps, budget.epsilon)
    except (ValueError, ArithmeticError) as error:
        return f"the delta of everything cannot be enclosed: {error}"
    if delta <= budget.delta:
        return ""
    return f"delta would be {rounded_up(delta):.6g} at epsilon {float(budget.epsilon):g}"


def _added_up(steps: Sequence[Step]) -> tuple[Fraction, Fraction]:
    return sum((s.epsilon for s in steps), Fraction(0)), sum((s.delta for s in steps), Fraction(0))


def _delta(steps: Sequence[Step], epsilon: Fraction) -> Fraction:
    return together([step.part for step in steps if step.cells], epsilon)


def check(entries: Sequence[Entry], entry: Entry) -> None:
    """Refuse an entry whose edition has another input, whose budget is not the one before, or exceeds it.

    Raises ValueError for what is refused.
    """
    for old in entries:
        if old.edition == entry.edition and entry.input and old.input and old.input != entry.input:
            raise ValueError(
                f"edition must be a new one for other records, got {entry.edition!r}, in which tables from "
                "another file were published: name another edition, which adds to epsilon and delta, or take "
                "that file"
            )
    budget = Account((*entries, entry)).budget
    if entry.budget and entry.budget != budget:
        fixed = f"that of the journal ({budget})" if budget else "left out, as the journal begins without one"
        raise ValueError(
            f"budget must be {fixed}: it is fixed before anything is published, got {entry.budget}"
        )
    if budget and entry.neighbours != budget.neighbours:
        allowed = f"{budget.neighbours}, as in the budget of the journal"
        raise parameters.wrong_value("neighbours", allowed, entry.neighbours)
    after = Account((*entries, entry), entry.neighbours)
    if budget and (why := after.over_budget):
        way = _way_out(Account(tuple(entries), entry.neighbours), budget) if after.promises else ""
        raise ValueError(f"budget must not be exceeded ({budget}), but {why}{way}")


def _way_out(before: Account, budget: Budget) -> str:
    """What can be done about an entry that exceeds the budget."""
    if budget.designs == "adaptive":
        amounts = ("epsilon", budget.epsilon), ("delta", budget.delta)
        spent = zip(amounts, before.added_up, strict=True)
        if gone := [name for (name, whole), used in spent if used >= whole]:
            return f": nothing of {' and '.join(gone)} is left"
    return ": take a smaller epsilon or delta"


def entry(
    protection: Protection, partitions: Iterable[tuple[Iterable[str], int]], *, why: str = "", **known: Any
) -> Entry:
    """An entry for counts of some partitions, by their columns, with their numbers of cells.

    ``why`` says why nothing is promised about several of them; ``known`` is what else an `Entry` has.
    """
    named = tuple((tuple(sorted(by)), cells) for by, cells in partitions)
    noise = protection.noise
    if isinstance(noise, Noise):
        noise = Noise(noise.support, noise.gamma)  # a design is one that remembers more
    if why or noise is None or protection.epsilon is None:
        return Entry(partitions=named, why=why, weights=protection.digest, **known)
    away = distance(noise, largest(protection.table), digits=DIGITS).upper
    return Entry(
        partitions=named,
        epsilon=protection.epsilon,
        noise=noise,
        distance=rounded(away),
        weights=protection.digest,
        **known,
    )


def rounded(value: Fraction) -> Fraction:
    """A number in six digits, rounded up, as entries keep it.

    >>> rounded(Fraction(2, 3))
    Fraction(666667, 1000000)
    """
    context = Context(prec=6, rounding=ROUND_CEILING)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def counted(cells: int) -> str:
    """A number of counts, in words.

    >>> counted(1), counted(2)
    ('1 count', '2 counts')
    """
    return f"{cells} count{'' if cells == 1 else 's'}"


def _more(room: int) -> str:
    if room == 1:
        return "1 more edition"
    return f"{room} more editions" if room < ROOM else f"{ROOM} more editions or more"


def _stated(epsilon: Fraction, delta: Fraction) -> dict[str, float]:
    return {"epsilon": rounded_up(epsilon), "delta": rounded_up(delta)}


def _row(step: Step) -> dict[str, Any]:
    entry, noise = step.entry, step.entry.noise
    row: dict[str, Any] = {"edition": entry.edition, "partitions": [list(by) for by, _ in entry.partitions]}
    if noise is None:
        return row
    return {
        **row,
        "noise": many_cells.family(noise),
        "support": noise.support,
        "variance": noise.variance,
        "cells_changed": step.cells,
        **_stated(step.epsilon, step.delta),
    }
