"""Labels of rows that lie in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.checks import check_labels, label_codes
from rprnmf.remote import Remote, is_chunked, rows_beside
from rprnmf.tying import RemoteTying


def tied_blocks(view: Any, y: Any) -> RemoteTying | None:
    """What labels tie; given here they are dealt out once, in blocks they stay there.

    Parameters
    ----------
    view : RemoteView
    y : array-like, dask array or None
        The label of each row.
    """
    if y is None:
        return None
    pool = view.pool
    if not is_chunked(y):
        known = check_labels(y, view.shape[0], "row")
        assert known is not None
        codes = np.where(known < len(known), label_codes(y), -1)
        cuts = np.split(codes, pool.bounds[1:-1])
        return RemoteTying(pool, pool.scatter(cuts), [np.unique(cut) for cut in cuts])
    found = pool.map(codes_of_block, rows_beside(pool, y, "y"), pool.first)
    numbers: dict[Any, int] = {}
    of_blocks = []
    for labels in pool.each(labels_of_block, found):
        of_blocks.append(np.array([numbers.setdefault(each, len(numbers)) for each in labels], int))
    codes_here: Remote = pool.map(numbered, found, pool.scatter(of_blocks))
    return RemoteTying(pool, codes_here, of_blocks)


def codes_of_block(y: Any, first: int) -> tuple[np.ndarray, list[Any]]:
    """The labels of a block numbered, and what stands for each number."""
    y = np.asarray(y)
    try:
        codes = label_codes(y, "row labels")
    except ValueError as error:
        raise ValueError(f"in the block of rows from {first} on: {error}") from None
    _, places = np.unique(codes[codes >= 0], return_index=True)
    return codes, y[codes >= 0][places].tolist()


def labels_of_block(found: tuple[np.ndarray, list[Any]]) -> list[Any]:
    """What the numbers stand for."""
    return found[1]


def numbered(found: tuple[np.ndarray, list[Any]], numbers: np.ndarray) -> np.ndarray:
    """The same with the numbers of all blocks."""
    codes = found[0]
    return np.append(numbers, -1)[codes]
