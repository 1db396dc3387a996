"""Texts: a folder of text files, or a column of a table. Counts of words, sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.inputs.folder import files_in
from rprnmf.inputs.layout import Layout
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.names import as_names
from rprnmf.inputs.source import Source
from rprnmf.inputs.text import FALLBACK, Sample, all_rows, with_fallback

SUFFIXES = (".txt", ".text", ".md", ".rst", "")
MANY = 20  # documents, from which on rare and common words are left out
LEAST, MOST = 2, 0.5  # documents that a word must be in, and share of them that it may be in


def read_folder(source: Source, options: Options) -> Matrix:
    """Read a folder of text files, one row per file."""
    paths = files_in(source, SUFFIXES, "text")
    texts, latin = [], 0
    for path in paths:
        with source.guard("a folder of texts"):
            data = path.read_bytes()
        try:
            texts.append(data.decode(options.encoding or "utf-8-sig"))
        except UnicodeDecodeError:
            texts.append(data.decode(FALLBACK))
            latin += 1
        except LookupError:
            raise source.fail(f"there is no encoding {options.encoding!r}.") from None
    names = [path.relative_to(source.path).as_posix() for path in paths]
    note = f"{latin} files read as Latin-1 since they are not UTF-8" if latin else ""
    return count_words(source, texts, names, options, note)


def read_column(source: Source, sample: Sample, layout: Layout, options: Options) -> Matrix:
    """Read a column of texts from a text file, one row per text."""
    return with_fallback(
        source, sample.encoding, lambda name: _column(source, sample, layout, options, name)
    )


def _column(
    source: Source, sample: Sample, layout: Layout, options: Options, encoding: str
) -> Matrix:
    texts: list[str] = []
    names: list[str] = []
    for n, (line, row) in enumerate(all_rows(source, sample, encoding)):
        if n < layout.first:
            continue
        if len(row) != layout.n_cells:
            raise source.fail(f"has {len(row)} cells, expected {layout.n_cells}.", line)
        texts.append(row[layout.roles[0]])
        if layout.index is not None:
            names.append(row[layout.index].strip())
    note = "read as Latin-1 since it is not UTF-8" if encoding == FALLBACK else ""
    return count_words(source, texts, names if layout.index is not None else None, options, note)


def count_words(
    source: Source,
    texts: Sequence[str],
    names: Sequence[Any] | None,
    options: Options,
    remark: str = "",
) -> Matrix:
    """How often each word is in each text.

    A word has two letters or digits at least; capital letters are small ones.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    many = len(texts) >= MANY
    least = options.min_df if options.min_df is not None else (LEAST if many else 1)
    most = options.max_df if options.max_df is not None else (MOST if many else 1.0)
    try:
        counter = CountVectorizer(min_df=least, max_df=most, dtype=np.float64)
        X = sp.csr_array(counter.fit_transform(texts))
    except ValueError as error:
        raise source.fail(f"has no words to count in {len(texts)} texts ({error}).") from None
    note = f"{source.title}: {X.shape[0]} texts x {X.shape[1]} words, {X.nnz} counts"
    if many and options.min_df is None and options.max_df is None:
        note += f", words in at least {LEAST} texts and at most half of them"
    if remark:
        note += f", {remark}"
    words = np.array(counter.get_feature_names_out(), dtype=object)
    rows = None if names is None else as_names(names)
    return Matrix(X, rows, words, None, "texts", note + ".")
