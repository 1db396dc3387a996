"""Matrices whose entries have weights: how much each counts in the loss."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from rprnmf.observed import blocks
from rprnmf.observed.base import Entrywise
from rprnmf.observed.blocks import Block, row_slices
from rprnmf.observed.entries import Entries
from rprnmf.observed.stored import SparseView


class Weighted(SparseView):
    """Stored entries with a weight each; all others are zeros of one common weight.

    A loss is the sum over the stored entries of weight * distance(x, y), and over the others of
    ``rest`` * distance(0, y). Sums over everything come from column sums and Gram matrices, to
    which a stored entry adds what its weight exceeds ``rest`` by: nothing of size n x m exists.
    Weights of 1 with a rest of 0 are `Masked`, with a rest of 1 `FullSparse`.

    Parameters
    ----------
    entries : Entries
        The values x.
    weights : Entries
        Their weights, at the same places; not negative.
    rest : float
        The weight of each entry that is not stored.
    weak_zeros : bool
        Whether entries that are not stored are missing.
    """

    one_gram = False
    weighted = True

    def __init__(self, entries: Entries, weights: Entries, rest: float, weak_zeros: bool = False):
        n, m = entries.shape
        n_stored = len(entries.data)
        n_observed = int(np.count_nonzero(weights.data)) + (rest > 0) * (n * m - n_stored)
        super().__init__(entries, n_observed)
        self.weights, self.rest, self.weak_zeros = weights, float(rest), weak_zeros

    def _with(self, entries: Entries, weights: Entries) -> Weighted:
        return Weighted(entries, weights, self.rest, self.weak_zeros)

    def _transposed(self) -> Weighted:
        return self._with(self.entries.T, self.weights.T)

    @cached_property
    def products(self) -> Entries:
        """Weight times value, at the stored entries."""
        return self.entries.replaced(self.weights.data * self.entries.data)

    @cached_property
    def excess(self) -> Entries:
        """What the weights exceed the rest by, at the stored entries."""
        return self.entries.replaced(self.weights.data - self.dtype.type(self.rest))

    @property
    def complete(self) -> bool:
        return False  # every row has its own Gram matrix and sums

    @property
    def incomplete(self) -> bool:
        return self.gappy or (self.weak_zeros and few(len(self.entries.data), self.shape))

    @cached_property
    def mass(self) -> float:
        n, m = self.shape
        weights = self.weights.data
        return float(weights.sum(dtype=np.float64)) + self.rest * (n * m - len(weights))

    @cached_property
    def total(self) -> float:
        return float(self.products.data.sum(dtype=np.float64))

    @cached_property
    def squares(self) -> float:
        return float(np.dot(self.products.data.astype(np.float64), self.entries.data))

    @property
    def all_ones(self) -> bool:
        """Whether every entry is observed and weighs as much as any other."""
        return self.rest == 1.0 and bool(np.all(self.weights.data == 1.0))

    @cached_property
    def entry_weight(self) -> float:
        if self.extent is not None:
            return self.extent.entry_weight
        return mean_weight(*self.stored_weights(), self.rest)

    def stored_weights(self) -> tuple[float, int]:
        """The sum of the weights that are not zero, and how many these are."""
        weights = self.weights.data[self.weights.data > 0]
        return float(weights.sum(dtype=np.float64)), len(weights)

    def _row_sums(self, values: np.ndarray) -> np.ndarray:
        """Sums over the stored entries of each row: the same digits whatever rows come with it."""
        n = self.shape[0]
        rows = np.repeat(np.arange(n), self.entries.row_counts)
        return np.bincount(rows, weights=values, minlength=n)

    @cached_property
    def row_counts(self) -> np.ndarray:
        others = self.shape[1] - self.entries.row_counts
        return self._row_sums(self.weights.data) + self.rest * others

    @property
    def row_observed(self) -> np.ndarray:
        others = (self.rest > 0) * (self.shape[1] - self.entries.row_counts)
        return self._row_sums(self.weights.data > 0) + others

    def times(self, G: np.ndarray) -> np.ndarray:
        return self.products.times(G)

    def ones_times(self, G: np.ndarray) -> np.ndarray:
        out = self.excess.times(G)
        if self.rest > 0:
            out += G.dtype.type(self.rest) * G.sum(axis=0)
            np.maximum(out, 0, out=out)  # rounding, where a weight is below the rest
        return out

    def model_times(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        out = self._excess_model(F, G).times(G)
        if self.rest > 0:
            out += F.dtype.type(self.rest) * (F @ (G.T @ G))
            np.maximum(out, 0, out=out)
        return out

    def model_times_column(self, F: np.ndarray, G: np.ndarray, k: int) -> np.ndarray:
        column = np.ascontiguousarray(G[:, k : k + 1])
        out = self._excess_model(F, G).times(column)[:, 0]
        return out + F.dtype.type(self.rest) * (F @ (G.T @ G[:, k]))

    def _excess_model(self, F: np.ndarray, G: np.ndarray) -> Entries:
        return self.entries.replaced(self.excess.data * self.entries.model(F, G))

    def ratio_times(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        return self.products.ratio_times(F, G, self.floor)

    def squared_error(self, F: np.ndarray, G: np.ndarray) -> float:
        y = self.entries.model(F, G).astype(np.float64, copy=False)
        error = float(np.dot(self.weights.data, (self.entries.data - y) ** 2))
        if self.rest == 0:
            return error
        F, G = F.astype(np.float64, copy=False), G.astype(np.float64, copy=False)
        everywhere = float(np.sum((F.T @ F) * (G.T @ G)))
        return error + self.rest * max(everywhere - float(np.dot(y, y)), 0.0)

    def divergence(self, F: np.ndarray, G: np.ndarray) -> float:
        y = self.entries.model(F, G).astype(np.float64, copy=False)
        x = self.entries.data.astype(np.float64, copy=False)
        logs = np.divide(x, np.maximum(y, self.floor))
        np.log(logs, out=logs, where=x > 0)
        stored = float(np.dot(self.weights.data, x * logs - x + y))
        if self.rest == 0:
            return stored
        totals = F.sum(axis=0, dtype=np.float64), G.sum(axis=0, dtype=np.float64)
        return stored + self.rest * max(float(np.dot(*totals)) - float(y.sum()), 0.0)

    def power_sum(self, power: float) -> float:
        there = self.entries.data > 0
        powers = self.entries.data[there].astype(np.float64) ** power
        return float(np.dot(self.weights.data[there], powers))

    def _blocks(self, F: np.ndarray, G: np.ndarray) -> Iterator[tuple[Block, np.ndarray]]:
        """The model, some rows at a time, and the weights of the stored entries there."""
        for rows in row_slices(self.shape, blocks.CACHED):
            places, values = self.entries.places(rows)
            yield Block(rows, F[rows] @ G.T, places, values, None), self.weights.places(rows)[1]

    def entrywise_sum(self, function: Entrywise, F: np.ndarray, G: np.ndarray) -> float:
        if self.rest == 0:
            values = function.at(self.entries.data, self.entries.model(F, G))
            return float(np.dot(self.weights.data, values))
        total = 0.0
        for block, weights in self._blocks(F, G):
            at = weights * function.at(block.x, block.y[block.places])
            others = self.rest * function.at_zero(block.y)
            total += float(block.filled(others, at).sum(dtype=np.float64))
        return total

    def entrywise_times(
        self, function: Entrywise, F: np.ndarray, G: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if self.rest == 0:
            at = function.at(self.entries.data, self.entries.model(F, G))
            first, second = (self.entries.replaced(self.weights.data * v).times(G) for v in at)
            return first, second
        outs, rest = (np.empty_like(F), np.empty_like(F)), F.dtype.type(self.rest)
        for block, weights in self._blocks(F, G):
            at = function.at(block.x, block.y[block.places])
            zero = function.at_zero(block.y)
            for out, values, others in zip(outs, at, zero, strict=True):
                others = np.zeros_like(block.y) if others is None else rest * others
                out[block.rows] = block.filled(others, weights * values) @ G
        return outs

    def stored(self) -> Entries:
        return self.entries

    def weighted_nonzeros(self) -> Entries:
        return self.products

    def parted(self, rows: np.ndarray, out: np.ndarray) -> tuple[Weighted, Weighted]:
        """The view with some stored entries taken out, and these alone.

        What is taken out becomes missing if the rest is, and else has no weight.
        """
        entries, weights = self.entries, self.weights
        test = Weighted(entries.only(rows, out), weights.only(rows, out), 0.0)
        if self.rest == 0 or self.weak_zeros:
            return self._with(entries.only(rows, ~out), weights.only(rows, ~out)), test
        left = np.where(out, self.dtype.type(0), self.weights.data)
        return self._with(self.entries, self.weights.replaced(left)), test

    def scaled(self, factor: float) -> Weighted:
        return self._with(
            self.entries.replaced(self.entries.data * self.dtype.type(factor)), self.weights
        )

    def take(self, rows: np.ndarray) -> Weighted:
        return self._with(self.entries.take(rows), self.weights.take(rows))

    def column_moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first, second = np.zeros(self.shape[1]), np.zeros(self.shape[1])
        weights, x = self.weights.data.astype(np.float64), self.entries.data
        np.add.at(first, self.entries.indices, weights * x)
        np.add.at(second, self.entries.indices, weights * x * x)
        return self.T.row_counts, first, second


def mean_weight(total: float, count: int, rest: float) -> float:
    """The mean of weights that are not zero; where there are none, that of all other entries."""
    return total / count if count else rest or 1.0


def few(n_stored: int, shape: tuple[int, int]) -> bool:
    """Whether so many entries are not stored that much is missing."""
    return n_stored < 0.95 * shape[0] * shape[1]
