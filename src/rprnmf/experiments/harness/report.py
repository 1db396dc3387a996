"""What a report is made of: sections with text, tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rprnmf.experiments.harness.metric import MEASURES, Metric, number


@dataclass
class Cell:
    """A number with its standard deviation, beside a published one, and whether it is the best.

    ``diverged`` counts the runs that gave no number and are not in it.
    """

    value: float | None
    deviation: float | None = None
    published: float | None = None
    best: bool = False
    digits: int = 3
    diverged: int = 0

    def text(self) -> str:
        """As in a table, without bold and without the published figure."""
        found = "-" if self.value is None else number(self.value, self.digits)
        if self.deviation is not None:
            found += f" ± {number(self.deviation, 2)}"
        return found + (f", {self.diverged} diverged" if self.diverged else "")


@dataclass
class Table:
    """Rows of cells or plain text under a head.

    ``name`` is what the name of its file has after that of its section. A table of one metric by
    one measure says which.
    """

    name: str
    caption: str
    head: Sequence[str]
    rows: list[list[Any]]
    shown: bool = True  # else it is in a file only
    metric: Metric | None = None
    measure: str = ""

    @property
    def label(self) -> str:
        """As in captions and sentences: ACC %, Euclidean."""
        return f"{self.metric.label}, {MEASURES[self.measure]}" if self.metric else ""

    def line(self, first: str) -> dict[str, Cell]:
        """The cells of the row that starts with this text, by their heads; {} if there is none."""
        row = next((row for row in self.rows if row[0] == first), [None] * len(self.head))
        named = zip(self.head, row, strict=True)
        return {name: cell for name, cell in named if isinstance(cell, Cell)}


@dataclass
class Figure:
    """A picture: SVG text and PNG bytes. ``name`` is used as that of a table."""

    name: str
    caption: str
    svg: str
    png: bytes


@dataclass
class Section:
    """The part of the report about one experiment.

    ``headline`` sums it up (default: its first finding); ``notes`` say how it was done. Name and
    title are those of the experiment, and set by whoever runs it.
    """

    text: str
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    headline: str = ""
    notes: list[str] = field(default_factory=list)
    name: str = ""
    title: str = ""

    @property
    def in_short(self) -> str:
        """One sentence for the list of all sections."""
        return self.headline or " ".join(self.findings[:1])

    def file_name(self, part: Table | Figure) -> str:
        """The name of the file of a table or picture, without suffix."""
        return f"{self.name}-{part.name}" if part.name else self.name


@dataclass
class Report:
    """The whole report; ``lacking`` says which data sets were not there, and why."""

    title: str
    sections: list[Section] = field(default_factory=list)
    text: str = ""
    lacking: list[str] = field(default_factory=list)
