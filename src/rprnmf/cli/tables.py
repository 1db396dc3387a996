"""Tables of text: labels, metadata, links, rankings, answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

DELIMITERS = (",", "\t", ";", "|")  # of equally many the first


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
    """A table of text with a header: CSV, or with tabs, semicolons or bars between cells.

    Parameters
    ----------
    path : str
        ``-`` is standard input.
    """
    from rprnmf.inputs.matrix import Options
    from rprnmf.inputs.source import open_source
    from rprnmf.inputs.text import all_rows, take_sample

    with open_source(path, 0, 1) as source:
        delimiter = delimiter_of(source.head)
        sample = take_sample(source, Options(delimiter=delimiter))
        rows = list(all_rows(source, sample))
        line, header = rows[0][0], [cell.strip() for cell in rows[0][1]]
        for name in header:
            if header.count(name) > 1:
                raise source.fail(f"the column {name!r} occurs twice; expected it once.", line)
        for line, row in rows[1:]:
            if len(row) != len(header):
                raise source.fail(f"has {len(row)} cells, the header has {len(header)}.", line)
    columns = {name: [row[k] for _, row in rows[1:]] for k, name in enumerate(header)}
    return TextTable(source.name, columns)


def delimiter_of(head: bytes) -> str:
    """What separates the names of columns: they are in the first line.

    Later lines are not asked: texts have commas and blanks, tags have bars.
    """
    line = head.lstrip(b"\xef\xbb\xbf\r\n").split(b"\n", 1)[0].decode("latin-1")
    return max(DELIMITERS, key=line.count)
