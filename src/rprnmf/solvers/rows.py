"""One factor's rows by coordinate descent, the other factor fixed."""

from __future__ import annotations

import numpy as np

from rprnmf.objective import Look, Objective
from rprnmf.observed import Masked
from rprnmf.solvers.incidence import Incidence
from rprnmf.solvers.row_data import Data, DivergenceData, FullData, MaskedData, Units
from rprnmf.threads import available_threads, map_blocks, row_blocks

# Below this share of the sum of squares of X the loss that comes with a step has too few
# digits left, and is summed anew.
DIGITS = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-2}


class RowDescent:
    """Lowers the objective in the rows of one factor.

    Parameters
    ----------
    objective : Objective
    index : int
        0: the rows of W, 1: the columns of H.
    n_rows : int or None
        Rows of the factor, if it has more than X: the others are there to be compared with.
    inert : bool
        Whether rows with holes have inertia (`row_data.py`): for steps that are followed by
        others, where B moves too.
    """

    def __init__(
        self, objective: Objective, index: int, n_rows: int | None = None, inert: bool = True
    ):
        self.view = objective.views[index]
        self.terms = objective.terms[index]
        self.divergence = objective.loss.size_order == 1
        self.inert = inert
        seen = self.view.row_counts / self.view.shape[1]
        self.incidence = Incidence(self.terms, n_rows or self.view.shape[0], seen)
        self.n_threads = available_threads(self.view.n_jobs)
        units = Units(self.terms, self.view)
        if units.tying is not None and self.incidence.linked.any():
            raise ValueError("labels cannot be combined with triplets or a graph on one side.")
        kind = (
            DivergenceData
            if self.divergence
            else MaskedData
            if isinstance(self.view, Masked)
            else FullData
        )
        self.units = units
        self.data: Data = kind(objective.loss, self.view, units, objective.scale.weights(index))
        # coupled rows are visited in an order that depends on the data, not on their numbers,
        # so that renaming the rows renames the result (but where their sums are the same)
        sums = self.view.times(np.ones((self.view.shape[1], 1), self.view.dtype))[:, 0]
        self.linked = np.flatnonzero(self.incidence.linked[: units.n])
        self.linked = self.linked[np.argsort(sums[self.linked], kind="stable")]
        self.free = np.flatnonzero(~self.incidence.linked[: units.n])
        self.blocks: dict[int, list[tuple[int, int]]] = {}

    def __call__(
        self,
        F: np.ndarray,
        B: np.ndarray,
        m: np.ndarray | str | None = None,
        look: Look | None = None,
        linked: bool = True,
        free: bool = True,
        every: bool = True,
        sweeps: int | None = None,
        share: float | None = None,
        guarded: bool = True,
        own: bool = False,
    ) -> tuple[np.ndarray, float]:
        """A new factor, lower in objective + sum_k m_k size_k^order (`scale.py`), and its loss.

        Parameters
        ----------
        F : ndarray of shape (n_rows, K)
        B : ndarray of shape (n_columns, K)
        m : ndarray of shape (K,), "keep" or None
            "keep": such that the columns of F about keep their sizes.
        look : Look or None
            The terms at F, if they are at hand.
        linked, free : bool
            Whether to change the rows that feel triplets or a graph, and the others.
        every : bool
            False: triplets that are met with room to spare are left out, and rows that have no
            others go with the free ones. The caller looks whether the objective rose.
        sweeps : int or None
            At most this many over each row; None is as many as one product with X pays for.
        share : float or None
            A row stops when a sweep brings less than this share of its first; None: 0.1, and
            0.01 where much is missing.
        guarded : bool
            False: the caller looks whether the objective rose, rows need not (divergence).
        own : bool
            Whether F itself may become the new factor.
        """
        units = self.units
        K = F.shape[1]
        F = units.take(F, own)
        self.data.prepare(F, B)
        inertia = self.data.entry_curvature(B) if self.inert else np.zeros(K)
        self.data.inertia = inertia.astype(F.dtype)
        if isinstance(m, str):
            m = self.data.keep(F, B)
        self.data.m = np.zeros(K) if m is None else np.asarray(m, dtype=np.float64)
        self.data.no_m = np.zeros(K)
        sweeps = self.data.sweeps(K) if sweeps is None else sweeps
        share = self.data.share if share is None else share
        settings = sweeps, F.dtype.type(share), guarded
        total = 0.0
        coupled, alone = self.linked, self.free
        if linked and len(coupled):
            coupling, feels = self.incidence.coupling(F, look, every)
            now = feels[coupled]
            if not now.all():
                alone = np.concatenate((alone, coupled[~now]))
                coupled = coupled[now]
        if free and len(alone):
            parts = map_blocks(
                lambda start, stop: self.data.run(alone[start:stop], F, *settings),
                self.blocks_of(alone, K),
                self.n_threads,
            )
            total += sum(parts)
        if linked and len(coupled):
            total += self.data.run_coupled(coupled, F, coupling, *settings)
        self.data.release()
        return units.spread(F), self.data.loss(total)

    def blocks_of(self, rows: np.ndarray, K: int) -> list[tuple[int, int]]:
        """The rows in parts of about the same work."""
        usual = rows is self.free
        if usual and K in self.blocks:
            return self.blocks[K]
        blocks = row_blocks(np.concatenate(([0], np.cumsum(self.data.cost(K)[rows]))))
        if usual:
            self.blocks[K] = blocks
        return blocks

    def exact_loss(self, loss: float) -> bool:
        """Whether a loss that came with a step has digits enough."""
        if self.divergence:
            return True
        return loss > DIGITS[np.dtype(self.view.dtype)] * self.view.squares
