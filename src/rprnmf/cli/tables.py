"""Tables of text: labels, metadata, links, rankings, answers."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rprnmf.cli.files import STDIN, real_file


@dataclass(frozen=True)
class TextTable:
    """The columns of a file, as text.

    Attributes
    ----------
    path : str
        For messages.
    columns : dict of str to list of str
    """

    path: str
    columns: dict[str, list[str]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def column(self, name: str) -> list[str]:
        """One column."""
        if name not in self.columns:
            found = ", ".join(map(repr, self.columns))
            raise ValueError(f"{self.path}: there is no column {name!r}; found {found}.")
        return self.columns[name]

    def names(self, wanted: str | None, others: Sequence[str]) -> list[str] | None:
        """What the rows are called: the column that is asked for, else the first that is left.

        Parameters
        ----------
        wanted : str or None
            The name of a column.
        others : sequence of str
            Columns with another meaning.
        """
        if wanted is not None:
            return self.column(wanted)
        left = [name for name in self.columns if name not in others]
        return self.columns[left[0]] if left else None


def read_table(path: str) -> TextTable:
    """A CSV file with a header, or a file that ends in .tsv with tabs.

    Parameters
    ----------
    path : str
        ``-`` is standard input.
    """
    shown = "standard input" if path == STDIN else path
    with real_file(path, ".csv") as file:
        delimiter = "\t" if file.suffix.lower() in (".tsv", ".tab") else ","
        try:
            with open(file, newline="", encoding="utf-8-sig") as stream:
                reader = csv.reader(stream, delimiter=delimiter, strict=True)
                rows = [(reader.line_num, row) for row in reader if row]
        except UnicodeDecodeError as error:
            raise ValueError(f"{shown} is not UTF-8 text ({error.reason}).") from None
        except csv.Error as error:
            raise ValueError(f"{shown}, line {reader.line_num}: {error}.") from None
    if not rows:
        raise ValueError(f"{shown} is empty; expected a header and one row per item.")
    header = [cell.strip() for cell in rows[0][1]]
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise ValueError(f"{shown}, line {rows[0][0]}: the column {twice[0]!r} occurs twice.")
    for line, row in rows[1:]:
        if len(row) != len(header):
            raise ValueError(
                f"{shown}, line {line}: has {len(row)} cells, the header has {len(header)}."
            )
    cells: list[Any] = [row for _, row in rows[1:]]
    return TextTable(shown, {name: [row[k] for row in cells] for k, name in enumerate(header)})
