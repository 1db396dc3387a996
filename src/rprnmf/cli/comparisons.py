"""Files of comparisons: read as names or as positions."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.files import INPUT, STDIN, real_file
from rprnmf.cli.options import several
from rprnmf.cli.report import counted

SUFFIXES = (".csv", ".parquet", ".pq")

triplet_reading = several(
    click.option(
        "--positions",
        is_flag=True,
        help="Comparisons are positions, counted from 0, though X has names.",
    ),
    click.option(
        "--drop-unknown", is_flag=True, help="Leave out comparisons of names that X lacks."
    ),
)
triplet_options = several(
    click.option("--row-triplets", type=INPUT, metavar="FILE", help="Comparisons of rows."),
    click.option("--column-triplets", type=INPUT, metavar="FILE", help="Comparisons of columns."),
    triplet_reading,
)


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
                reason += "; --drop-unknown leaves such ones out, --positions counts from 0"
            shown = "standard input" if path == STDIN else path
            raise TripletFileError(shown, error.line, reason) from None


def triplets_of(path: str, n: int, names: Any, given: Any) -> Any:
    """The triplets of a file about n rows (columns) with or without names.

    Parameters
    ----------
    path : str
    n : int
    names : sequence or None
        What the rows are called.
    given : namespace
        With the options of `triplet_reading`.
    """
    if names is None or given.positions:
        found = read_triplets(path, positions=True)
        if given.drop_unknown:
            found = kept(path, found, (found.items < n).all(axis=1), given.run)
        return found.positions(n).with_names(names)
    if not given.drop_unknown:
        return read_triplets(path, names)
    from rprnmf.triplets import Triplets

    known = {str(name): name for name in names}
    found = read_triplets(path)
    inside = [all(str(item) in known for item in row) for row in found.items.tolist()]
    found = kept(path, found, inside, given.run)
    items = [[known[str(item)] for item in row] for row in found.items.tolist()]
    return Triplets(items, weights=found.weights, named=True) if items else found


def kept(path: str, triplets: Any, inside: Any, run: Any) -> Any:
    """Some of the triplets; a note says how many are not."""
    import numpy as np

    inside = np.asarray(inside, dtype=bool)
    left = int((~inside).sum())
    if left:
        run.note(f"{path}: {left} of {counted(len(inside), 'comparison')} name what X lacks.")
    return triplets.take(inside)


def describe(triplets: Any) -> dict[str, Any]:
    """What there is, for a document."""
    codes, items = triplets.codes()
    return {"triplets": len(codes), "items": len(items), "weight": triplets.weights.sum()}
