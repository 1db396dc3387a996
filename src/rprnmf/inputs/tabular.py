"""Tables whatever they are kept in: text with delimiters, or Parquet."""

from __future__ import annotations

from rprnmf.inputs.delimited import read_delimited
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.parquet import MAGIC, read_parquet
from rprnmf.inputs.source import Source
from rprnmf.inputs.texts import read_folder


def read_table(source: Source, options: Options) -> Matrix:
    """Read a table of numbers."""
    return _read(source, options, "table")


def read_ratings(source: Source, options: Options) -> Matrix:
    """Read ratings in long form."""
    return _read(source, options, "ratings")


def read_texts(source: Source, options: Options) -> Matrix:
    """Read texts, from a folder or from a column."""
    if source.is_folder:
        return read_folder(source, options)
    return _read(source, options, "texts")


def _read(source: Source, options: Options, kind: str) -> Matrix:
    if source.is_folder:
        raise source.fail("is a folder; expected a file.")
    if source.head.startswith(MAGIC):
        return read_parquet(source, options, kind)
    return read_delimited(source, options, kind)
