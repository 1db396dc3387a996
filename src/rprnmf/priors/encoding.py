"""Columns of a DataFrame -> numbers.

Numbers are brought to mean 0 and variance 1, so that years and prices do not outweigh the rest;
an unknown one is the mean. Categories get a column of zeros and ones per value. So do several
labels in one cell: lists, sets, or text with "|" between them ("Comedy|Drama").
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.checks import is_missing


def is_frame(given: Any) -> bool:
    """Whether it is a DataFrame, without importing pandas."""
    return hasattr(given, "columns") and hasattr(given, "iloc")


class FrameEncoder:
    """Remembers the columns, values, means and scales of one DataFrame."""

    def __init__(self, frame: Any):
        self.columns = [encoder_of(str(name), frame[name]) for name in frame.columns]
        self.keys = list(frame.columns)
        self.names = [name for column in self.columns for name in column.names]

    def __call__(self, frame: Any) -> sp.csr_array:
        """One row of numbers per row."""
        lacking = [key for key in self.keys if not is_frame(frame) or key not in frame.columns]
        if lacking:
            raise ValueError(
                f"features lack the column {lacking[0]!r}; the fit had {self.keys}, as a DataFrame."
            )
        parts = [column(frame[key]) for key, column in zip(self.keys, self.columns, strict=True)]
        return sp.csr_array(sp.hstack(parts))


def encoder_of(name: str, values: Any) -> Any:
    """For one column, by what it holds."""
    kind = np.asarray(values).dtype.kind
    return Numbers(name, values) if kind in "fiu" else Labels(name, values)


class Numbers:
    """A column of numbers."""

    def __init__(self, name: str, values: Any):
        known = np.asarray(values, dtype=np.float64)
        known = known[np.isfinite(known)]
        self.mean = float(known.mean()) if len(known) else 0.0
        self.scale = float(known.std()) if len(known) and known.std() > 0 else 1.0
        self.names = [name]

    def __call__(self, values: Any) -> sp.csr_array:
        numbers = (np.asarray(values, dtype=np.float64) - self.mean) / self.scale
        return sp.csr_array(np.where(np.isfinite(numbers), numbers, 0.0)[:, None])


class Labels:
    """A column of categories, or of several labels in a cell; unknown ones are left out."""

    def __init__(self, name: str, values: Any):
        found = {label for cell in values for label in labels_of(cell)}
        self.place = {label: k for k, label in enumerate(sorted(found, key=str))}
        self.names = [f"{name}={label}" for label in self.place]

    def __call__(self, values: Any) -> sp.csr_array:
        rows, columns = [], []
        n = 0
        for row, cell in enumerate(values):
            n = row + 1
            for label in dict.fromkeys(labels_of(cell)):
                if label in self.place:
                    rows.append(row)
                    columns.append(self.place[label])
        ones = np.ones(len(rows))
        return sp.csr_array((ones, (rows, columns)), shape=(n, len(self.place)))


def labels_of(cell: Any) -> list[Any]:
    """The labels in one cell."""
    if isinstance(cell, (list, tuple, set, frozenset, np.ndarray)):
        return list(cell)
    if is_missing(cell):
        return []
    if isinstance(cell, str):
        return [part for part in cell.split("|") if part]
    return [cell]
