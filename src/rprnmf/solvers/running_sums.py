"""What the blocks of a stream leave behind: sums from which H can be found without them.

With W given the squared error is a quadratic function of every column of H, and the sums X'W and
W'W over all blocks are all there is to know (online matrix factorisation, Mairal et al. 2010).
Where entries are missing every column has a W'W of its own.

The divergence leaves  B h - A log h  for every entry h of H, with B the sum of W and A what the
entries of X owe to the component, at the H of their time: never less than the divergence itself,
and equal to it there. That is what one more row of X would add with the value A and the model h.
So a step on H has the block's rows, and K rows more for all that went before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from rprnmf.kernels.csr import Stored
from rprnmf.kernels.frobenius_rows import GramData, full_rows
from rprnmf.kernels.kl_rows import KLData, kl_rows
from rprnmf.kernels.summed_rows import BlockData, PastSums, summed_rows
from rprnmf.kernels.workspace import Effort, RowTerms, make_kl_workspace, make_workspace
from rprnmf.observed import BaseView, Entries, Weighted
from rprnmf.solvers.row_problems import power_sums
from rprnmf.threads import available_threads, map_blocks, row_blocks

#: arrays of `RowTerms` with an entry for each row
BY_ROW = ("l1", "l2", "members", "holed")


@dataclass
class RunningSums:
    """Sums over blocks; those of earlier blocks may count less.

    Attributes
    ----------
    numerator : ndarray of shape (n_columns, K)
        X'W; for the divergence A.
    curvature : ndarray
        W'W, of shape (K, K) or, where columns differ, (n_columns, K, K); for the divergence the
        sum of W, of shape (K,) or (n_columns, K).
    counts : ndarray of shape (n_columns,)
        Observed entries of each column.
    """

    numerator: np.ndarray
    curvature: np.ndarray
    counts: np.ndarray

    #: axes of the curvature that belong to components
    own_axes = 2

    @classmethod
    def none(cls, n_columns: int, K: int, dtype: Any) -> RunningSums:
        """Of no block."""
        zeros = np.zeros((n_columns, K), dtype), np.zeros((K,) * cls.own_axes, dtype)
        return cls(*zeros, np.zeros(n_columns))

    @classmethod
    def of_fit(cls, W: np.ndarray, Ht: np.ndarray, counts: np.ndarray | None) -> RunningSums:
        """About those of data that are not at hand, from the factors that were fitted to them.

        The sums are those for which H is the minimum. Columns with fewer observed entries,
        ``counts``, have the same W'W but for a factor.
        """
        # the rows of W may lie in blocks
        curvature = np.asarray(W.T @ W if cls.own_axes == 2 else W.sum(axis=0))
        if counts is not None:
            shares = (counts / len(W)).astype(W.dtype)
            curvature = np.multiply.outer(shares, curvature)
        else:
            counts = np.full(len(Ht), float(len(W)))
        return cls(cls.fixed_point(Ht, curvature), curvature, counts.astype(np.float64))

    @staticmethod
    def fixed_point(Ht: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        """The numerator for which H is the minimum."""
        if curvature.ndim == 2:
            return Ht @ curvature
        return np.einsum("jk,jkl->jl", Ht, curvature)

    def times(self, factor: float, by_column: bool) -> RunningSums:
        """A copy that counts so many times; ``by_column``: with a curvature for every column."""
        factor = self.numerator.dtype.type(factor)
        curvature = factor * self.curvature
        if by_column and curvature.ndim == self.own_axes:
            curvature = np.repeat(curvature[None], len(self.counts), axis=0)
        return replace(
            self,
            numerator=factor * self.numerator,
            curvature=curvature,
            counts=float(factor) * self.counts,
        )

    def entry_curvature(self, view: BaseView, W: np.ndarray) -> np.ndarray:
        """What one entry of usual size adds to the curvature of each coordinate, about."""
        return power_sums(W, 2) / len(W) * view.entry_weight

    def step(
        self, block: Block, W: np.ndarray, Ht: np.ndarray, terms: RowTerms, add: bool
    ) -> np.ndarray:
        """The columns of H, lower in the sum over the past and the block."""
        raise NotImplementedError


class Block:
    """One block of rows, while H is found for it and for the sums of those before.

    Parameters
    ----------
    view : BaseView
    effort : Effort
        How far a step goes in a column.
    """

    def __init__(self, view: BaseView, effort: Effort):
        self.view, self.columns, self.effort = view, view.T, effort
        self.counts = self.columns.row_counts.astype(np.float64)
        self.n_threads = available_threads(view.n_jobs)
        self.seen = np.flatnonzero(self.counts > 0)
        if view.zeros_implied:
            self.seen = np.flatnonzero(self.columns.nonzeros().row_counts > 0)
        self._joined: tuple[np.ndarray, Entries] | None = None

    def joined(self, numerator: np.ndarray) -> tuple[np.ndarray, Entries]:
        """The columns that have entries, and for these the numerator beside the entries."""
        if self._joined is None:
            entries = self.columns.weighted_nonzeros()
            has = entries.row_counts > 0
            past = sp.csr_array(np.where(has[:, None], numerator, 0))
            both = sp.csr_array(sp.hstack([entries.matrix(), past], format="csr"))
            self._joined = np.flatnonzero(has), Entries(both, 1)
        return self._joined

    def map(self, run: Any, cost: np.ndarray) -> None:
        """``run`` over ranges of columns of about the same cost."""
        map_blocks(run, row_blocks(np.concatenate(([0], np.cumsum(cost)))), self.n_threads)


class QuadraticSums(RunningSums):
    """Of the squared error."""

    def step(self, block, W, Ht, terms, add):
        F, P = np.array(Ht, order="C"), block.columns.times(W)
        run = self._by_column if self.curvature.ndim == 3 else self._together
        run(block, W, F, P, terms, add)
        if add:
            self.counts = self.counts + block.counts
        return F

    def _together(self, block, W, F, P, terms, add):
        """One Gram matrix for all columns.

        Before the last step on a block the columns that have entries there are enough.
        """
        G = self.curvature + W.T @ W
        rows = np.arange(len(F)) if add else block.seen
        every = len(rows) == len(F)
        part = F if every else F[rows]
        P = P if every else P[rows]
        P += self.numerator if every else self.numerator[rows]
        if add:
            self.numerator, self.curvature = P, G
        if len(terms.pull):
            P = P + (terms.pull if every else terms.pull[rows])
        if not every:
            chosen = {name: getattr(terms, name)[rows] for name in BY_ROW}
            terms = terms._replace(**chosen)
        R = part @ G
        R -= P
        data = GramData(R, P, G)

        def run(start: int, stop: int) -> None:
            space = make_workspace(F.shape[1], F.dtype)
            full_rows(np.arange(start, stop), part, data, terms, block.effort, space)

        block.map(run, np.full(len(part), 4.0 * G.size))
        if not every:
            F[rows] = part

    def _by_column(self, block, W, F, P, terms, add):
        """A Gram matrix for every column; with ``add`` the sums are changed in place."""
        columns, K = block.columns, F.shape[1]
        entries, excess, rest = entry_excess(columns)
        data = BlockData(P, (F.dtype.type(rest) * (W.T @ W)), W, entries, excess)
        past = PastSums(self.numerator, self.curvature)

        def run(start: int, stop: int) -> None:
            space = make_workspace(K, F.dtype)
            summed_rows(np.arange(start, stop), F, data, past, terms, block.effort, space, add)

        block.map(run, K * K * (np.diff(entries.indptr) + 4.0))


def entry_excess(view: BaseView) -> tuple[Stored, np.ndarray, float]:
    """Entries, what each weighs beyond the others, and what those weigh that are not listed."""
    if view.weighted:
        weighted = cast(Weighted, view)
        return weighted.excess.arrays, weighted.excess.data, weighted.rest
    if view.holes is not None:
        return view.holes.arrays, -np.ones_like(view.holes.data), 1.0
    if view.complete:
        nothing = sp.csr_array(view.shape, dtype=view.dtype)
        return Entries(nothing, 1).arrays, nothing.data, 1.0
    entries = view.stored()
    return entries.arrays, np.ones_like(entries.data), 0.0


class DivergenceSums(RunningSums):
    """Of the divergence."""

    own_axes = 1

    @staticmethod
    def fixed_point(Ht, curvature):
        return Ht * curvature

    def entry_curvature(self, view, W):
        return super().entry_curvature(view, W) / max(view.mean, np.finfo(W.dtype).tiny)

    def step(self, block, W, Ht, terms, add):
        columns, K = block.columns, Ht.shape[1]
        seen, both = block.joined(self.numerator)
        sums = self.curvature + self._sums(columns, W)
        F = self._alone(sums, Ht, terms)
        F[seen] = Ht[seen]
        data = KLData(
            np.concatenate((W, np.eye(K, dtype=W.dtype))),
            both.arrays,
            sums.reshape(-1, K),
            np.array([block.view.floor]),
            columns.zeros_implied,
        )

        def run(start: int, stop: int) -> None:
            rows = seen[start:stop]
            most = int(both.row_counts[rows].max(initial=0))
            space = make_kl_workspace(K, F.dtype, most, True)
            kl_rows(rows, F, data, None, terms, None, block.effort, space)

        block.map(run, K * (6.0 * both.row_counts[seen] + 4.0))
        if add:
            self.numerator = self.numerator + F * columns.ratio_times(F, W)
            self.curvature = sums
            self.counts = self.counts + block.counts
        return F

    def _sums(self, columns: BaseView, W: np.ndarray) -> np.ndarray:
        """Sums of W over the entries of each column, or of all."""
        if self.curvature.ndim == 1:
            return W.sum(axis=0)
        return columns.ones_times(W)

    def _alone(self, sums: np.ndarray, Ht: np.ndarray, terms: RowTerms) -> np.ndarray:
        """Columns of which the block has no entry: every coordinate has its minimum by itself.

        It is where  2 l2 h^2 + linear h = A.
        """
        if not (terms.l2.any() or len(terms.pull)):
            linear = np.broadcast_to(sums + terms.l1.astype(sums.dtype)[:, None], Ht.shape)
            return np.divide(self.numerator, linear, out=Ht.copy(), where=linear > 0)
        A, l2 = self.numerator.astype(np.float64), terms.l2[:, None]
        linear = np.broadcast_to(sums, Ht.shape) + terms.l1[:, None]
        if len(terms.pull):
            linear = linear - 2.0 * terms.pull
        root = np.sqrt(linear**2 + 8.0 * l2 * A)
        # whichever of the two forms of the root has no difference of equal numbers
        below = linear > 0
        over = np.where(below, 2.0 * A, root - linear)
        under = np.where(below, linear + root, 4.0 * l2)
        found = np.divide(over, under, out=Ht.astype(np.float64), where=under > 0)
        return np.ascontiguousarray(found, dtype=Ht.dtype)


#: by the row problem of the loss
RUNNING_SUMS: dict[str, type[RunningSums]] = {
    "quadratic": QuadraticSums,
    "divergence": DivergenceSums,
}
