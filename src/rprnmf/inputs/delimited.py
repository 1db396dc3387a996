"""Text with delimiters, .csv and its like: a table, ratings in long form, or texts."""

from __future__ import annotations

from rprnmf.inputs.layout import find_layout
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.ratings import read_ratings
from rprnmf.inputs.source import Source
from rprnmf.inputs.table import read_table
from rprnmf.inputs.text import take_sample
from rprnmf.inputs.texts import read_column


def read_delimited(source: Source, options: Options, kind: str | None = None) -> Matrix:
    """Read a text file with delimiters.

    Parameters
    ----------
    source : Source
    options : Options
    kind : {"table", "ratings", "texts"} or None
        What its columns are; None: look.
    """
    sample = take_sample(source, options)
    layout = find_layout(sample.rows, sample.decimal, options, kind, source.fail)
    if layout.kind == "ratings":
        return read_ratings(source, sample, layout)
    if layout.kind == "texts":
        return read_column(source, sample, layout, options)
    return read_table(source, sample, layout)
