"""Sums over all entries of a model of which only some rows exist at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rprnmf.observed.base import BaseView, Values, Weights

BLOCK = 1 << 21  # entries of the model that are alive at once


class Block(NamedTuple):
    """Some rows of X and of the model, both dense."""

    rows: slice
    x: np.ndarray
    y: np.ndarray
    holes: tuple[np.ndarray, np.ndarray] | None = None  # places that are not observed

    def observed(self, values: np.ndarray) -> np.ndarray:
        """One value per entry, with 0 where nothing is observed."""
        if self.holes is not None:
            values[self.holes] = 0.0
        return values


class BlockedView(BaseView):
    """A view of which (almost) all entries are observed."""

    @abstractmethod
    def model_blocks(self, F: np.ndarray, G: np.ndarray) -> Iterator[Block]:
        """All rows, some at a time."""

    def row_slices(self) -> Iterator[slice]:
        """The rows of each block."""
        step = max(1, BLOCK // self.shape[1])
        for start in range(0, self.shape[0], step):
            yield slice(start, min(start + step, self.shape[0]))

    def entrywise_sum(self, function: Values, F: np.ndarray, G: np.ndarray) -> float:
        total = 0.0
        for block in self.model_blocks(F, G):
            values = block.observed(function(block.x, block.y))
            total += float(values.sum(dtype=np.float64))
        return total

    def entrywise_times(
        self, function: Weights, F: np.ndarray, G: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        outs: tuple[np.ndarray, ...] = ()
        for block in self.model_blocks(F, G):
            weights = function(block.x, block.y)
            outs = outs or tuple(np.empty_like(F) for _ in weights)
            for out, w in zip(outs, weights, strict=True):
                out[block.rows] = block.observed(w) @ G
        return outs
