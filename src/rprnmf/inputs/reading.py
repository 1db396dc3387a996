"""`read_matrix`: any file that people have to a matrix with names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rprnmf.inputs.formats import FORMATS, detect
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.source import Source, open_source


def read_matrix(
    path: Any,
    *,
    format: str | None = None,  # noqa: A002 - the word that people use
    options: Options | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Matrix:
    """Read a non-negative matrix from a file or a folder, with the names of rows and columns.

    What a file is shows from its content and its suffix; the note of the result says what was
    understood, and ``format`` and ``options`` overrule it. Sparse files stay sparse. Gzip is
    unpacked on the way. Nothing that is read can run code.

    Parameters
    ----------
    path : path-like
        A file, a folder of texts or images, or "-" for the standard input.
    format : str, default=None
        A name of `FORMATS`. None: look.
    options : Options, default=None
        What else not to guess.
    n_jobs : int, default=None
        Threads that read. None: as many as the process may use.
    verbose : int, default=0
        1: show a bar.

    Returns
    -------
    matrix : Matrix
        ``X``, ``row_names``, ``column_names``, ``missing`` (what the file suggests for that
        parameter of an estimator), ``format``, ``note``.

    Raises
    ------
    InputError
        If the file cannot be read as a matrix of numbers that are at least 0: it says where, what
        was expected and what was found.
    ImportError
        If a format needs a package that is not installed: it says which.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from rprnmf.inputs import read_matrix
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "films.csv"
    ...     _ = path.write_text("user,film,rating\\nAnn,Alien,5\\nBob,Alien,3\\nBob,Brazil,4\\n")
    ...     films = read_matrix(path)
    >>> films.note
    'films.csv: ratings in long form, 2 users x 2 items, 3 entries.'
    >>> films.X.toarray().tolist(), films.column_names.tolist(), films.missing
    ([[5.0, 0.0], [3.0, 4.0]], ['Alien', 'Brazil'], 'zero')
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}.")
    with open_source(path, verbose, n_jobs) as source:
        return read_source(source, format or detect(source), options or Options())


def read_source(source: Source, name: str | None, options: Options) -> Matrix:
    """A matrix in the format of this name; None: text with delimiters."""
    if name is None:
        from rprnmf.inputs.delimited import read_delimited

        return _finish(source, read_delimited(source, options), options)
    return _finish(source, FORMATS[name].load()(source, options), options)


def _finish(source: Source, matrix: Matrix, options: Options) -> Matrix:
    """Names once or not at all, and rows as columns if that was asked for."""
    from rprnmf.inputs.names import first_repeated

    rows, columns = matrix.row_names, matrix.column_names
    if not options.names:
        rows = columns = None
    for side, names in (("row", rows), ("column", columns)):
        repeated = first_repeated(names)
        if repeated is not None:
            name, one, other = repeated
            raise source.fail(
                f"the {side} name {name!r} occurs twice, at {side}s {one + 1} and {other + 1}; "
                "expected every name once, or the option names=False to leave them out."
            )
    X = matrix.X
    if options.transpose:
        X, rows, columns = X.T, columns, rows
        X = X.tocsr() if hasattr(X, "tocsr") else X.copy()
    return replace(matrix, X=X, row_names=rows, column_names=columns)
