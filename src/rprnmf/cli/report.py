"""What a command found: tables and sentences for a person, one document for a program."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rprnmf.cli.command import Run

NUMBER = re.compile(r"-?[0-9.]+( %)?")


@dataclass(frozen=True)
class Table:
    """A table; cells that are numbers are shown with few digits, at the right.

    Attributes
    ----------
    title : str
    columns : sequence of str
    rows : sequence of sequences
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Report:
    """The result of a command.

    Attributes
    ----------
    document : dict
        For a program.
    parts : sequence of Table or str
        For a person.
    code : int, default=0
        The exit code.
    """

    document: dict[str, Any]
    parts: Sequence[Table | str] = field(default_factory=list)
    code: int = 0


def show(report: Report, state: Run) -> None:
    """Print a report to stdout."""
    if state.json:
        document = plain({**report.document, "notes": state.notes})
        print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print_parts(report.parts)


def plain(value: Any) -> Any:
    """The same in types of JSON; what is no number is null."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):  # arrays, and numpy's numbers
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value)


def print_parts(parts: Sequence[Table | str]) -> None:
    """Tables and sentences: for a terminal, or for a file without colours."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False)
    with console.capture() as capture:
        for number, part in enumerate(parts):
            if isinstance(part, Table):
                if number:
                    console.print()
                if part.title:
                    console.print(Text(printable(part.title), style="bold"))
                console.print(drawn(part))
            else:  # in a file a sentence stays one line
                console.print(Text(printable(part)), soft_wrap=not console.is_terminal)
    text = capture.get()
    if not console.is_terminal:  # tables are filled up with blanks
        text = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    sys.stdout.write(text)


def drawn(table: Table) -> Any:
    """A table of Rich."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    made = RichTable(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
        show_header=any(table.columns),
    )
    for place, name in enumerate(table.columns):
        numbers = bool(name) and all(is_number(row[place]) for row in table.rows)
        made.add_column(
            Text(printable(name)), justify="right" if numbers else "left", overflow="fold"
        )
    for row in table.rows:
        made.add_row(*(Text(cell(value)) for value in row))
    return made


def is_number(value: Any) -> bool:
    """Whether a cell stands at the right."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, str):
        return NUMBER.fullmatch(value) is not None
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def cell(value: Any) -> str:
    """A value as people read it."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return printable(str(value))


def printable(text: str) -> str:
    """Text that cannot steer a terminal: names come from files."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1] for letter in text
    )


def per_cent(share: float | None) -> str | None:
    """A share for a table."""
    if share is None or math.isnan(share):
        return None
    return f"{100 * share:.1f} %"


def counted(n: int, thing: str) -> str:
    """1 row, 2 rows."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}{'es' if thing.endswith('s') else 's'}"
