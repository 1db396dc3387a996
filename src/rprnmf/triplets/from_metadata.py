"""Triplets from what is known about points: categories, tags, ordered values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from rprnmf.checks import label_codes
from rprnmf.triplets.draws import check_count, check_margin, draw
from rprnmf.triplets.triplets import Triplets


def triplets_from_metadata(
    n_triplets: int,
    *,
    categories: Mapping[str, Any] | None = None,
    tags: Mapping[str, Any] | None = None,
    ordered: Mapping[str, Any] | None = None,
    importance: Mapping[str, float] | None = None,
    margin: float = 0.0,
    random_state: Any = None,
) -> Triplets:
    """Comparisons "q has more in common with r than with s".

    What two points have in common is a sum over all that is given: 1 for the same category, the
    number of common tags divided by that of all tags of the two, 1 less the distance of two
    ordered values in units of their range. What is not known of one of the two adds nothing.

    Parameters
    ----------
    n_triplets : int
        How many to draw at random, all different; fewer if no more are found.
    categories : mapping of str to array-like of shape (n_points,), default=None
        For instance gender and occupation; None, NaN or -1 where not known.
    tags : mapping of str to sequence of n_points collections, or 0/1 matrices, default=None
        Several values per point, for instance the genres of a film: collections of names, strings
        with ``|`` between them, or a matrix of shape (n_points, n_tags).
    ordered : mapping of str to array-like of shape (n_points,), default=None
        Numbers whose difference means something, for instance age; NaN where not known.
    importance : mapping of str to float, default=None
        What counts more or less than 1.
    margin : float, default=0
        By how much more q must have in common with r than with s; ties are never taken.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    triplets : Triplets
        By index.

    Examples
    --------
    >>> from rprnmf.triplets import triplets_from_metadata
    >>> films = ["Sci-Fi|Action", "Sci-Fi", "Romance"]
    >>> triplets_from_metadata(2, tags={"genre": films}, random_state=0).items
    array([[0, 1, 2],
           [1, 0, 2]])
    """
    measures = _measures(categories or {}, tags or {}, ordered or {}, importance or {})
    n = measures[0].n
    rng = check_random_state(random_state)

    def gap(q: np.ndarray, r: np.ndarray, s: np.ndarray) -> np.ndarray:
        return sum(part.in_common(q, r) - part.in_common(q, s) for part in measures)

    rounding = 1e-9 * sum(
        abs(part.weight) for part in measures
    )  # a tie stays one in spite of rounding
    least = max(check_margin(margin), rounding)
    return Triplets(draw(n, check_count(n_triplets), gap, least, rng))


class _Category:
    def __init__(self, values: Any, name: str, weight: float):
        self.codes, self.weight = label_codes(values, name), weight
        self.n = len(self.codes)

    def in_common(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        same = (self.codes[a] == self.codes[b]) & (self.codes[a] >= 0)
        return self.weight * same


class _Tags:
    def __init__(self, values: Any, name: str, weight: float):
        self.weight = weight
        self.matrix = _tag_matrix(values, name)
        self.n = self.matrix.shape[0]
        self.counts = np.asarray(self.matrix.sum(axis=1)).ravel().astype(np.float64)

    def in_common(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        common = np.asarray(self.matrix[a].multiply(self.matrix[b]).sum(axis=1)).ravel()
        union = self.counts[a] + self.counts[b] - common
        return self.weight * np.divide(common, union, out=np.zeros(len(a)), where=union > 0)


class _Ordered:
    def __init__(self, values: Any, name: str, weight: float):
        self.values = np.asarray(values, dtype=np.float64)
        if self.values.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got shape {self.values.shape}.")
        self.n, self.weight = len(self.values), weight
        known = self.values[np.isfinite(self.values)]
        self.range = float(np.ptp(known)) or 1.0 if len(known) else 1.0

    def in_common(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        apart = np.abs(self.values[a] - self.values[b]) / self.range
        return self.weight * np.nan_to_num(1.0 - apart, nan=0.0, posinf=0.0, neginf=0.0)


def _tag_matrix(values: Any, name: str) -> sp.csr_array:
    if hasattr(values, "to_numpy") and np.ndim(values) == 2:  # a DataFrame
        values = values.to_numpy()
    if sp.issparse(values) or (isinstance(values, np.ndarray) and values.ndim == 2):
        matrix = sp.csr_array(values)
        if not np.isin(matrix.data, (0, 1)).all():
            raise ValueError(f"{name} must hold 0 and 1 only, got other numbers.")
        return matrix.astype(np.int64)
    number: dict[Any, int] = {}
    rows, columns = [], []
    for row, tags in enumerate(values):
        if not np.iterable(tags):  # None, NaN, NA
            continue
        for tag in dict.fromkeys(tags.split("|") if isinstance(tags, str) else tags):
            if isinstance(tag, str) and not tag.strip():
                continue
            if not isinstance(tag, str) and tag in (0, 1):
                raise ValueError(f"{name}: give a matrix of 0 and 1 as an array, not as lists.")
            rows.append(row)
            columns.append(number.setdefault(tag, len(number)))
    ones = np.ones(len(rows), dtype=np.int64)
    return sp.csr_array((ones, (rows, columns)), shape=(len(values), max(len(number), 1)))


def _measures(categories, tags, ordered, importance) -> list[Any]:
    kinds = ((_Category, categories), (_Tags, tags), (_Ordered, ordered))
    names = [name for _, group in kinds for name in group]
    if not names:
        raise ValueError("give at least one of categories, tags and ordered.")
    if len(set(names)) < len(names):
        raise ValueError("a name occurs in more than one of categories, tags and ordered.")
    unknown = set(importance) - set(names)
    if unknown:
        raise ValueError(f"importance names {min(unknown)!r}, which is not given.")
    found = [
        kind(values, name, float(importance.get(name, 1.0)))
        for kind, group in kinds
        for name, values in group.items()
    ]
    sizes = {name: part.n for name, part in zip(names, found, strict=True)}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise ValueError(
            f"all metadata must speak of the same points, but the lengths are {listed}."
        )
    return found
