"""The one error of all readers."""

from __future__ import annotations

import importlib
from typing import Any


class InputError(ValueError):
    """A file that cannot be read as a matrix: which, where and why.

    Parameters
    ----------
    path : path-like
        As it was given; "stdin" for the standard input.
    reason : str
        What was expected and what was found.
    line : int, default=None
        Counted from 1.
    column : int or str, default=None
        Counted from 1, or a name.

    Examples
    --------
    >>> from rprnmf.inputs import InputError
    >>> print(InputError("X.csv", "expected a number, found 'abc'.", line=7, column="age"))
    X.csv, line 7, column 'age': expected a number, found 'abc'.
    """

    def __init__(
        self, path: Any, reason: str, line: int | None = None, column: int | str | None = None
    ):
        self.path, self.reason, self.line, self.column = str(path), reason, line, column
        where = str(path)
        if line is not None:
            where += f", line {line}"
        if column is not None:
            where += f", column {column!r}"
        super().__init__(f"{where}: {reason}")

    def __reduce__(self) -> tuple:
        return type(self), (self.path, self.reason, self.line, self.column)


def need(module: str, path: Any, package: str, extra: str) -> Any:
    """Import what one format needs; the error says what to install.

    Parameters
    ----------
    module : str
        What to import.
    path : path-like
        The file that needs it.
    package : str
        Its name where packages are installed from.
    extra : str
        The extra of this package that has it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f'{path}: to read or write it {package} is needed: pip install "rprnmf[{extra}]".'
        ) from error
