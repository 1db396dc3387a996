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
        self.take([encoder_of(str(name), frame[name]) for name in frame.columns], frame.columns)

    @classmethod
    def of_columns(cls, columns: list[Any], keys: Any) -> FrameEncoder:
        """From the encoders of the columns."""
        found = cls.__new__(cls)
        found.take(columns, keys)
        return found

    def take(self, columns: list[Any], keys: Any) -> None:
        """Remember the columns."""
        self.columns, self.keys = columns, list(keys)
        self.names = [name for column in columns for name in column.names]

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
    return Numbers(name, values) if are_numbers(values) else Labels(name, labels_in(values))


def are_numbers(values: Any) -> bool:
    """Whether a column holds numbers."""
    return np.asarray(values).dtype.kind in "fiu"


def labels_in(values: Any) -> set[Any]:
    """All labels of a column."""
    return {label for cell in values for label in labels_of(cell)}


class Numbers:
    """A column of numbers."""

    def __init__(self, name: str, values: Any):
        known = known_numbers(values)
        self.mean = float(known.mean()) if len(known) else 0.0
        self.scale = float(known.std()) if len(known) and known.std() > 0 else 1.0
        self.names = [name]

    @classmethod
    def of_moments(cls, name: str, mean: float, scale: float) -> Numbers:
        """From the mean and the standard deviation of all known numbers."""
        found = cls.__new__(cls)
        found.mean, found.scale, found.names = mean, scale or 1.0, [name]
        return found

    def __call__(self, values: Any) -> sp.csr_array:
        numbers = (np.asarray(values, dtype=np.float64) - self.mean) / self.scale
        return sp.csr_array(np.where(np.isfinite(numbers), numbers, 0.0)[:, None])


def known_numbers(values: Any) -> np.ndarray:
    """Those that are finite."""
    known = np.asarray(values, dtype=np.float64)
    return known[np.isfinite(known)]


class Labels:
    """A column of categories, or of several labels in a cell; unknown ones are left out."""

    def __init__(self, name: str, found: set[Any]):
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
