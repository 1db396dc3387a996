"""Answers in a file, one line each, added as they come.

A line is JSON with the fields q, r, s, answer, expected and kind: r and s in the order that was
shown, ``answer`` one of the two, or null. A line is on disk before the next question is asked; one
that was cut off when a program was killed is left out.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rprnmf.triplets.files import TripletFileError

KINDS = ("chosen", "random", "repeat")
FIELDS = ("q", "r", "s", "answer", "expected", "kind")


class Answer(NamedTuple):
    """One call of a judge, by position.

    Attributes
    ----------
    q, r, s : int
        As shown.
    answer : int or None
        r or s, which is nearer to q; None: the judge did not know.
    expected : int or None
        What the model had expected; None if there was none yet.
    kind : {"chosen", "random", "repeat"}
    """

    q: int
    r: int
    s: int
    answer: int | None
    expected: int | None
    kind: str

    @property
    def question(self) -> tuple[int, int, int]:
        """The same whichever way round r and s were shown."""
        return self.q, min(self.r, self.s), max(self.r, self.s)


class AnswerFile:
    """Reads the answers that there are, and adds others.

    Parameters
    ----------
    path : path-like or None
        None: nothing is kept.
    names : list
        What the positions are called.
    """

    def __init__(self, path: Any, names: list[Any]):
        self.path = None if path is None else Path(path)
        self.names = [plain(name) for name in names]
        self.place = {str(name): k for k, name in enumerate(self.names)}
        self.place |= {name: k for k, name in enumerate(self.names)}

    def read(self) -> list[Answer]:
        """All answers so far; the file is made if there is none, for later is too late to fail."""
        if self.path is None:
            return []
        with self.path.open("ab+") as file:
            file.seek(0)
            content = file.read()
            whole = content.rfind(b"\n") + 1
            if whole < len(content) and is_json(content[whole:]):  # saved by hand, without an end
                file.write(b"\n")
                content += b"\n"
                whole = len(content)
            elif whole < len(content):  # cut off by a kill
                file.truncate(whole)
        lines = content[:whole].decode("utf-8", errors="replace").split("\n")[:-1]
        return [self._parse(line, k + 1) for k, line in enumerate(lines) if line.strip()]

    def add(self, given: Answer) -> None:
        """One more."""
        if self.path is None:
            return
        cells = [None if k is None else self.names[k] for k in given[:-1]]
        line = json.dumps(dict(zip(FIELDS, [*cells, given.kind], strict=True)), ensure_ascii=False)
        with self.path.open("ab") as file:
            file.write(line.encode("utf-8", errors="replace") + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _parse(self, line: str, number: int) -> Answer:
        try:
            cells = json.loads(line)
        except json.JSONDecodeError as error:
            raise TripletFileError(self.path, number, f"this is not JSON ({error})") from None
        lacking = [name for name in FIELDS if not isinstance(cells, dict) or name not in cells]
        if lacking:
            raise TripletFileError(
                self.path, number, f"the field {lacking[0]!r} is missing; expected {FIELDS}"
            )
        found: dict[str, Any] = {"kind": cells["kind"]}
        for field in FIELDS[:-1]:
            name = cells[field]
            if name is None and field in ("answer", "expected"):
                found[field] = None
            elif isinstance(name, (str, int)) and name in self.place:
                found[field] = self.place[name]
            else:
                raise TripletFileError(
                    self.path, number, f"{field} is {name!r}, which X does not know"
                )
        given = Answer(**found)
        if len({given.q, given.r, given.s}) < 3:
            raise TripletFileError(self.path, number, "q, r and s must be three different items")
        if given.answer not in (given.r, given.s, None) or given.kind not in KINDS:
            raise TripletFileError(
                self.path,
                number,
                f"answer must be r, s or null, and kind one of {KINDS}; found "
                f"{cells['answer']!r} and {cells['kind']!r}",
            )
        return given


def is_json(line: bytes) -> bool:
    """Whether a line is whole."""
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def plain(name: Any) -> Any:
    """As JSON has it: a whole number, or text."""
    name = name.item() if isinstance(name, np.generic) else name
    return name if isinstance(name, (int, str)) else str(name)
