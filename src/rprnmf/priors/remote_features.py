"""Features where X lies in blocks of rows: those of the rows lie with these.

Tables that are given here are dealt out once. Dask arrays and DataFrames are brought to the blocks
of X; what their columns hold, means, deviations and labels, is found in three rounds of sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.observed import column_means
from rprnmf.priors.encoding import (
    FrameEncoder,
    Labels,
    Numbers,
    are_numbers,
    is_frame,
    known_numbers,
    labels_in,
)
from rprnmf.priors.features import DataPart, GivenPart, Part
from rprnmf.priors.remote_data import column_features, row_features
from rprnmf.remote import Remote, RemoteArray, as_dask, is_lazy, rows_beside


class RemotePart(Part):
    """Features of rows that lie in blocks.

    Parameters
    ----------
    ended : Part
        What there is after the fit; its features, if it has none yet, are a Dask array then.
    phi : RemoteArray
    """

    def __init__(self, ended: Any, phi: RemoteArray):
        self.ended, self.phi = ended, phi
        self.names, self.wants = ended.names, ended.wants

    def new(self, view, matrix, tables):
        return self.ended.new(view, matrix, tables)

    def here(self):
        if not hasattr(self.ended, "phi"):
            self.ended.phi = as_dask(self.phi)
        return self.ended


def features_in_blocks(given: Any, view: Any, side: str) -> RemotePart:
    """Features of the rows of X."""
    if isinstance(given, str):
        part = DataPart.__new__(DataPart)
        part.by_mask, part.fill = view.incomplete, column_means(view)
        part.map, phi = row_features(view, part.by_mask, part.fill)
        part.names = [f"data{number}" for number in range(phi.shape[1])]
        return RemotePart(part, phi)
    if is_lazy(given):
        return table_in_blocks(given, view, side)
    known = GivenPart(given, view.shape[0], side)
    return RemotePart(known, view.with_rows(known.phi))


def features_here(given: Any, view: Any, side: str) -> GivenPart:
    """Features of the columns of X, which are here."""
    if not isinstance(given, str):
        return GivenPart(given.compute() if is_lazy(given) else given, view.shape[0], side)
    part = GivenPart.__new__(GivenPart)
    part.encoder, part.side, part.unit = None, side, 1.0
    part.phi = column_features(view.T, view.incomplete)
    part.names = [f"data{number}" for number in range(part.phi.shape[1])]
    return part


def table_in_blocks(given: Any, view: Any, side: str) -> RemotePart:
    """Features that a user knows, as a Dask array or DataFrame."""
    pool = view.pool
    blocks = rows_beside(pool, given, f"{side}_prior")
    part = GivenPart.__new__(GivenPart)
    part.side = side
    part.encoder = frame_encoder(blocks, list(given.columns)) if is_frame(given) else None
    width = given.shape[1] if part.encoder is None else len(part.encoder.names)
    part.names = part.names_of(width)
    found = pool.map(table_of_block, blocks, part, pool.rows, pool.first)
    table = RemoteArray.of(found, (width,), np.float64)
    center = table.mean(axis=0)
    spread = float(np.einsum("ij,ij->", table, table)) / len(table) - float(center @ center)
    part.unit = np.sqrt(spread) if spread > 0 else 1.0
    return RemotePart(part, table / part.unit)


def table_of_block(block: Any, part: GivenPart, n: int, first: int) -> np.ndarray:
    """The numbers of a block."""
    try:
        found = part.table(block, n)
    except ValueError as error:
        raise ValueError(f"in the block of rows from {first} on: {error}") from None
    return found.toarray() if sp.issparse(found) else np.asarray(found)


def frame_encoder(frames: Remote, keys: list[Any]) -> FrameEncoder:
    """What `FrameEncoder` finds in all blocks."""
    pool = frames.pool
    numeric = np.all(pool.each(kinds_of_block, frames, keys), axis=0)
    labels, sums = pool.total(contents_of_block, frames, keys, numeric)
    counts = np.maximum(sums[0], 1.0)
    means = sums[1] / counts
    names = [key for key, is_number in zip(keys, numeric, strict=True) if is_number]
    squares = pool.total(squares_of_block, frames, names, means)
    scales = np.sqrt(squares / counts)
    numbers, sets = iter(zip(means.tolist(), scales.tolist(), strict=True)), iter(labels)
    columns: list[Any] = [
        Numbers.of_moments(str(key), *next(numbers)) if is_number else Labels(str(key), next(sets))
        for key, is_number in zip(keys, numeric, strict=True)
    ]
    return FrameEncoder.of_columns(columns, keys)


def kinds_of_block(frame: Any, keys: list[Any]) -> list[bool]:
    """Whether columns hold numbers."""
    return [are_numbers(frame[key]) for key in keys]


def contents_of_block(frame: Any, keys: list[Any], numeric: np.ndarray) -> tuple[Any, np.ndarray]:
    """The labels of each column of labels; of each column of numbers how many, and their sum."""
    pairs = list(zip(keys, numeric, strict=True))
    labels = tuple(labels_in(frame[key]) for key, is_number in pairs if not is_number)
    numbers = [known_numbers(frame[key]) for key, is_number in pairs if is_number]
    sums = [(float(len(known)), known.sum()) for known in numbers]
    return labels, np.array(sums, dtype=np.float64).reshape(-1, 2).T


def squares_of_block(frame: Any, names: list[Any], means: np.ndarray) -> np.ndarray:
    """Of numbers, about the mean of all."""
    pairs = zip(names, means, strict=True)
    return np.array([((known_numbers(frame[key]) - mean) ** 2).sum() for key, mean in pairs])
