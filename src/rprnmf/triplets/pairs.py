"""The pairs of points that triplets compare.

A triplet (q, r, s) says that the pair q-r is closer than the pair q-s. Everything that asks
whether triplets agree with each other looks at these pairs: they are the nodes of a directed
graph with an edge from q-r to q-s for every triplet. A distance that meets all triplets exists
if and only if the graph has no cycle: any order of the pairs is that of some distances between 1
and 2, and such distances are a metric.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components


class Pairs(NamedTuple):
    """The different pairs, and the two of every triplet."""

    first: np.ndarray  # the smaller point of each pair
    second: np.ndarray  # the larger one
    near: np.ndarray  # the pair q-r of each triplet
    far: np.ndarray  # the pair q-s

    @property
    def n(self) -> int:
        """How many different pairs there are."""
        return len(self.first)

    def strong_components(self) -> np.ndarray:
        """For every pair the number of its strongly connected component of the graph.

        Pairs of one component can be reached from each other: they lie on cycles.
        """
        ones = np.ones(len(self.near), dtype=np.int32)
        edges = sp.csr_array((ones, (self.near, self.far)), shape=(self.n, self.n))
        return connected_components(edges, directed=True, connection="strong")[1]


def numbered_pairs(triplets: np.ndarray) -> Pairs:
    """The pairs of triplets by index, numbered by their points in rising order.

    Parameters
    ----------
    triplets : ndarray of shape (n_triplets, 3)
    """
    q, r, s = triplets.T
    i, j = np.concatenate((q, q)), np.concatenate((r, s))
    low, high = np.minimum(i, j), np.maximum(i, j)
    first, place = distinct(low, high)
    half = len(triplets)
    return Pairs(low[first], high[first], place[:half].copy(), place[half:].copy())


def in_contradiction(chosen: np.ndarray, triplets: np.ndarray) -> np.ndarray:
    """Which of some triplets lie on a cycle of all: no distance meets all of a cycle.

    Parameters
    ----------
    chosen : ndarray of shape (n_chosen, 3)
        Some of the triplets.
    triplets : ndarray of shape (n_triplets, 3)
    """
    both = numbered_pairs(np.concatenate((chosen, triplets)))
    component = both.strong_components()
    return (component[both.near] == component[both.far])[: len(chosen)]


def questions(triplets: np.ndarray) -> np.ndarray:
    """The number 2 k + a of every triplet: k for the question that it answers, a for the answer.

    (q, r, s) and (q, s, r) are the two answers to one question.

    Parameters
    ----------
    triplets : ndarray of shape (n_triplets, 3)
    """
    q, r, s = triplets.T
    return 2 * distinct(q, np.minimum(r, s), np.maximum(r, s))[1] + (r > s)


def distinct(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first place of every different row, and the number of each row among them.

    Rows are numbered in rising order. Takes linear time, unlike `numpy.unique`, where numbers are
    not much larger than there are rows.

    Parameters
    ----------
    *columns : ndarray of shape (n_rows,)
        Not negative.
    """
    columns = tuple(map(narrow, columns))
    order = np.arange(len(columns[0]), dtype=np.int32)
    for column in columns[::-1]:
        order = order[rising(column[order])]
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for column in columns:
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return order[new], number


def rising(keys: np.ndarray) -> np.ndarray:
    """The stable order of numbers that are not negative: they are counted, not compared.

    A sparse matrix with an entry in row ``keys[t]`` and column t for every t is brought to rows
    by counting.
    """
    size, n = len(keys), int(keys.max(initial=0)) + 1
    if n > 4 * size + 1000:
        return np.argsort(keys, kind="stable")
    ones = np.ones(size, dtype=np.int8)
    places = np.arange(size, dtype=np.int32)
    return sp.csr_array((ones, (keys, places)), shape=(n, size)).indices


def narrow(column: np.ndarray) -> np.ndarray:
    """The same in four bytes each if they fit: more of them are in the cache at once."""
    return column.astype(np.int32) if column.max(initial=0) < 2**31 else column
