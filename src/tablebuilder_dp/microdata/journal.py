"""The office's journal: a line for everything that was published, durable before it appears.

If a run dies between the two, the journal has a line too many and never one too few: an account that rests
on it (`account`) overcounts. A line says which counts were published with which noise, in which edition, and
from which input, as a keyed digest: nothing of a record, and nothing that could be compared with a file by
anybody who lacks the secret. Each line has a code under the secret that covers all lines before it, so that
a line that was changed, removed from the middle or written by somebody else is found.
"""

from __future__ import annotations

import hmac
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from tablebuilder_dp.beyond import many_cells
from tablebuilder_dp.microdata import account
from tablebuilder_dp.microdata.account import Budget, Entry
from tablebuilder_dp.microdata.secret import Secret, check_closed
from tablebuilder_dp.noise import AnyNoise, Geometric, Noise
from tablebuilder_dp.support import files

_TEXTS = ("weights", "input", "neighbours", "why")
_START = '{"entry": '


@dataclass(frozen=True)
class Journal:
    """The lines of a file, under a secret."""

    path: Path
    secret: Secret = field(repr=False)

    def entries(self) -> list[Entry]:
        """All entries, in the order in which they were made; none where there is no file yet.

        Raises ValueError where others may open the file, or lines are not as they were written, and OSError
        where it cannot be read.
        """
        if not self.path.exists():
            return []
        check_closed(self.path, "journal")
        return [entry for entry, _ in self._read(self.path.read_bytes())[0]]

    def check(self, entry: Entry) -> None:
        """Refuse, before anything is read, what `enter` would refuse.

        Raises ValueError where it would, and OSError where the file cannot be read.
        """
        files.check(self.path, name="journal")
        account.check(self.entries(), entry)

    def enter(self, entry: Entry) -> list[Entry]:
        """Add an entry, so that it lasts when this returns; one that is there already is not added.

        Whoever else adds one at the same time waits.

        Returns all entries. Raises ValueError for what `account.check` refuses, and OSError where the disk
        does not take it; then the journal is as it was.
        """
        files.check(self.path, name="journal")
        with _locked(self.path) as descriptor:
            check_closed(self.path, "journal")
            content = _all(descriptor)
            known, end = self._read(content)
            entries = [old for old, _ in known]
            line = b""
            if entry not in entries:
                account.check(entries, entry)
                text = json.dumps(_data(entry))
                code = self._code(known[-1][1] if known else "", text)
                mark = self.secret.fingerprint
                line = f'{_START}{text}, "secret": "{mark}", "code": "{code}"}}\n'.encode()
                entries.append(entry)
            if content[:end] and not content[:end].endswith(b"\n"):
                line = b"\n" + line
            _write(descriptor, end, line)  # also if there is nothing new: it must be on the disk
            files.keep(self.path.parent)
        return entries

    def digest(self, of_input: bytes) -> str:
        """What a journal keeps of an input: another keyed digest than the one that keys are made from."""
        return hmac.digest(self.secret.key("journal input"), of_input, "sha256").hex()

    def _code(self, before: str, text: str) -> str:
        return hmac.digest(self.secret.key("journal"), (before + text).encode(), "sha256").hex()

    def _read(self, content: bytes) -> tuple[list[tuple[Entry, str]], int]:
        """All entries with their codes, and where the last of them ends.

        A last line that never was whole does not count; one that lacks its end alone does.
        """
        *lines, last = content.split(b"\n")
        known: list[tuple[Entry, str]] = []
        for number, line in enumerate(lines, 1):
            if (found := self._entry(line, known)) is None:
                raise self._spoilt(number, line)
            known.append(found)
        if found := self._entry(last, known):
            return [*known, found], len(content)
        if not _torn(last):
            raise self._spoilt(len(lines) + 1, last)
        return known, len(content) - len(last)

    def _entry(self, line: bytes, known: list[tuple[Entry, str]]) -> tuple[Entry, str] | None:
        """The entry of a line and its code, if they are as they were written after those before."""
        try:
            data = json.loads(line)
            code = self._code(known[-1][1] if known else "", json.dumps(data["entry"]))
            right = hmac.compare_digest(data["code"].encode(), code.encode())
            if not right or data["secret"] != self.secret.fingerprint:
                return None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        return _entry(data["entry"]), code

    def _spoilt(self, number: int, line: bytes) -> ValueError:
        mark = re.search(rb', "secret": "([0-9a-f]{16})", "code": ', line)
        if mark and mark[1].decode() != self.secret.fingerprint:
            return ValueError(
                f"secret must be the one that wrote the journal {str(self.path)!r}, but it is another"
            )
        return ValueError(
            f"journal must be as it was written with this secret, but line {number} of {str(self.path)!r} is "
            "not: it was changed, or lines are missing before it"
        )


def _torn(line: bytes) -> bool:
    """Whether a line can be the beginning of one of ours, perhaps with zeros where a disk has no more."""
    begun, start = line.rstrip(b"\0"), _START.encode()
    return begun[: len(start)] == start[: len(begun)] and min(begun, default=32) >= 32


def beside(secret_file: str | Path) -> Path:
    """Where a journal is kept if nothing else is said: beside the secret.

    A link to the secret has the journal of the secret itself.

    >>> beside("office/key.bin").name
    'key.bin.journal.jsonl'
    """
    path = Path(secret_file).resolve()
    return path.with_name(f"{path.name}.journal.jsonl")


def _data(entry: Entry) -> dict[str, Any]:
    data: dict[str, Any] = {
        "edition": entry.edition,
        "partitions": [{"by": list(by), "cells": cells} for by, cells in entry.partitions],
    }
    if entry.noise is not None:
        data |= {
            "epsilon": str(entry.epsilon),
            "noise": {
                "family": many_cells.family(entry.noise),
                "support": entry.noise.support,
                "rate": str(max(entry.noise.rates)),
                "distance": str(entry.distance),
            },
        }
    data |= {
        name: value for name in ("weights", "input", "neighbours", "why") if (value := getattr(entry, name))
    }
    if entry.budget is not None:
        budget = entry.budget
        data["budget"] = {
            "epsilon": str(budget.epsilon),
            "delta": str(budget.delta),
            "neighbours": budget.neighbours,
            "designs": budget.designs,
        }
    return data


def _entry(data: dict[str, Any]) -> Entry:
    noise, budget = data.get("noise"), data.get("budget")
    kinds: dict[str, type[AnyNoise]] = {"max-entropy": Noise, "geometric": Geometric}
    return Entry(
        edition=data["edition"],
        partitions=tuple((tuple(part["by"]), part["cells"]) for part in data["partitions"]),
        epsilon=Fraction(data["epsilon"]) if noise else None,
        noise=kinds[noise["family"]](noise["support"], Fraction(noise["rate"])) if noise else None,
        distance=Fraction(noise["distance"]) if noise else Fraction(0),
        budget=Budget(
            Fraction(budget["epsilon"]), Fraction(budget["delta"]), budget["neighbours"], budget["designs"]
        )
        if budget
        else None,
        **{name: data.get(name, "") for name in _TEXTS},
    )


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file, made if it is missing, as a descriptor that nobody else has meanwhile."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with suppress(ImportError):  # a system without it has no such lock
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _all(descriptor: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read()


def _write(descriptor: int, end: int, line: bytes) -> None:
    """Write a line at the end of the whole ones; if that fails, these are all that the file has."""
    try:
        os.ftruncate(descriptor, end)
        os.lseek(descriptor, end, os.SEEK_SET)
        written = 0
        while written < len(line):
            written += os.write(descriptor, line[written:])
        os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            os.ftruncate(descriptor, end)
        raise
