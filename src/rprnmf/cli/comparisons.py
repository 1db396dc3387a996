"""Files of comparisons: read as names or as positions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rprnmf.cli.files import STDIN, real_file

SUFFIXES = (".csv", ".parquet", ".pq")


def read_triplets(path: str, names: Any = None, *, positions: bool = False) -> Any:
    """The triplets of a file.

    Parameters
    ----------
    path : str
        ``-`` is CSV from standard input.
    names : sequence, default=None
        The names that may occur; None: any.
    positions : bool, default=False
        The items are positions, whatever the names are.
    """
    from rprnmf.triplets import TripletFileError, Triplets

    with real_file(path, ".csv") as file:
        try:
            if positions:
                return Triplets.read(file, named=False)
            if names is not None:
                return Triplets.read(file, names=names)
            # in CSV all is text: an item is what is written there
            return Triplets.read(file, named=True if file.suffix.lower() == ".csv" else None)
        except TripletFileError as error:
            reason = error.reason.split("; pass named=True")[0]
            if names is not None and "not one of the known names" in reason:
                reason += "; --positions says that triplets are positions, counted from 0"
            shown = "standard input" if path == STDIN else path
            raise TripletFileError(shown, error.line, reason) from None


def triplets_of(path: str | None, n: int, names: Any, *, positions: bool = False) -> Any:
    """The triplets of a file about n rows (columns) with or without names; None: no file."""
    if path is None:
        return None
    if names is None or positions:
        found = read_triplets(path, positions=True)
        return found.positions(n).with_names(names)
    return read_triplets(path, names)


def describe(triplets: Any) -> dict[str, Any]:
    """What there is, for a document."""
    codes, items = triplets.codes()
    return {"triplets": len(codes), "items": len(items), "weight": triplets.weights.sum()}


def listed(triplets: Any, most: int) -> list[list[Any]]:
    """Rows of a table: the first few."""
    return [list(row) for row in triplets.items[:most].tolist()]


def suffix_of(path: Path) -> str:
    """The suffix that triplets are written by."""
    return path.suffix.lower()
