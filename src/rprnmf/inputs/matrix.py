"""What a reader is told, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Column = str | int  # a name, or a position counted from 0


@dataclass(frozen=True)
class Options:
    """What a reader would otherwise find out by itself, or not do.

    Parameters
    ----------
    header : bool, default=None
        Whether the first line of a text file has the names of columns. None: look.
    index : column or False, default=None
        The column with the names of rows, by name or by position from 0; False: there is none.
        None: look.
    delimiter : str, default=None
        What separates cells: "," ";" "|" "::" a tab or a blank. None: look.
    decimal : {".", ","}, default=None
        What separates whole and decimal digits. None: look.
    encoding : str, default=None
        Of text files. None: UTF-8, or else Latin-1, which the note then says.
    names : bool, default=True
        False: leave all names out, for instance because some occur twice.
    drop : tuple of columns, default=()
        Columns of a table to leave out, by name or position.
    user, item, rating : column, default=None
        The columns of ratings in long form. None: look.
    text : column, default=None
        The column of texts in a table. None: look.
    min_df, max_df : int or float, default=None
        In how many documents a word must and may be, as in scikit-learn's CountVectorizer. None:
        from 20 documents on in at least 2, and in at most half of them.
    variable : str, default=None
        Which array of a .npz or .mat file, or which layer of an .h5ad file.
    image_size : tuple (height, width), default=None
        Images are brought to this size. None: all must have one size.
    transpose : bool, default=False
        True: rows become columns.

    Examples
    --------
    >>> from rprnmf.inputs import Options
    >>> Options(delimiter=";", index="name").delimiter
    ';'
    """

    header: bool | None = None
    index: Column | bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    names: bool = True
    drop: tuple[Column, ...] = ()
    user: Column | None = None
    item: Column | None = None
    rating: Column | None = None
    text: Column | None = None
    min_df: float | None = None
    max_df: float | None = None
    variable: str | None = None
    image_size: tuple[int, int] | None = None
    transpose: bool = False

    def __post_init__(self) -> None:
        if self.index is True:
            raise ValueError("index must be a column, False or None, got True.")
        if self.delimiter is not None and self.delimiter not in DELIMITERS:
            expected = ", ".join(repr(delimiter) for delimiter in DELIMITERS)
            raise ValueError(f"delimiter must be one of {expected}, got {self.delimiter!r}.")
        if self.decimal not in (None, ".", ",") or self.decimal == self.delimiter == ",":
            raise ValueError(
                f"decimal must be '.' or ',' and not the delimiter, got {self.decimal!r}."
            )
        if self.image_size is not None and (
            len(self.image_size) != 2 or not all(1 <= side <= 10_000 for side in self.image_size)
        ):
            raise ValueError(
                f"image_size must be (height, width) in pixels, 1 to 10000, got {self.image_size}."
            )


DELIMITERS = (",", "\t", ";", "|", "::", " ")


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix from a file, with the names of its rows and columns.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_rows, n_columns)
        Float numbers, at least 0, sparse if the file is.
    row_names, column_names : ndarray or None
        One name per row (column): int64 if all are whole numbers, else objects.
    missing : {None, "nan", "zero"}
        What the file suggests for ``missing`` of an estimator: "zero" if what is not stored is
        not known, as in ratings, "nan" if entries are NaN.
    format : str
        A name of `FORMATS`.
    note : str
        One sentence: what was understood.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.inputs import Matrix
    >>> Matrix(np.eye(2), None, None, None, "npy", "X.npy: 2 x 2 numbers").X.shape
    (2, 2)
    """

    X: Any
    row_names: np.ndarray | None
    column_names: np.ndarray | None
    missing: str | None
    format: str
    note: str
