"""The data and the other factor as the kernels of coordinate descent want them.

*Inertia.* A row of X with holes may have next to nothing to say about some components. Solved
exactly, such a row goes as far as it takes to fit its last entry: with few ratings that was seen
to be 1e8 times as far as other rows are, and then to be felt by everything. So a row with holes
takes its step as if one more entry of usual size asked every coordinate to stay where it is. The
minimum is the same, and the objective falls as before, but directions of which the row's entries
hardly speak are left alone, until they do. What L2 terms do to the same end is taken off.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from rprnmf.kernels import descent, masked
from rprnmf.kernels.divergence import divergence_rows
from rprnmf.kernels.room import make_divergence_room, make_room
from rprnmf.losses import Loss
from rprnmf.objective import SideTerms
from rprnmf.observed import BaseView, Entries, FullSparse, Masked

MOST_SWEEPS = 50
NONE = np.zeros(0, dtype=bool)
UNCOUPLED = None, None, None  # in place of a coupling


def power_sums(F: np.ndarray, order: int, weights: np.ndarray | None = None) -> np.ndarray:
    """sum_i F_ik^order, for order 1 or 2; with weights sum_i weights_i F_ik^2."""
    if weights is not None:
        return np.einsum("i,ik,ik->k", weights, F, F, dtype=np.float64)
    if order == 1:
        return F.sum(axis=0, dtype=np.float64)
    return np.einsum("ik,ik->k", F, F, dtype=np.float64)


class Units:
    """What moves as one: a row, or the rows that a label ties together."""

    def __init__(self, terms: SideTerms, view: BaseView):
        self.tying = terms.tying
        self.n = view.shape[0]
        if self.tying is not None:
            self.n = len(self.tying.sizes)
            self.first = np.unique(self.tying.groups, return_index=True)[1]
        norms = terms.norms
        zeros = np.zeros(view.shape[0])
        self.l1 = self.sum(norms.l1 if norms else zeros)
        self.l2 = self.sum(norms.l2 if norms else zeros)
        if self.tying is None:
            self.count = np.ones(self.n)
            self.unit, self.member = np.arange(self.n + 1), np.arange(self.n)
        else:
            self.count = self.tying.sizes.astype(np.float64)
            self.unit = np.concatenate(([0], np.cumsum(self.tying.sizes)))
            self.member = np.argsort(self.tying.groups, kind="stable")

    def sum(self, A: np.ndarray) -> np.ndarray:
        """Sums over the members of each unit."""
        return A if self.tying is None else self.tying.sum(A)[self.first]

    def take(self, F: np.ndarray, own: bool = False) -> np.ndarray:
        """A copy of the factor with one row a unit; the factor itself if it may be changed."""
        if self.tying is None:
            return F if own else np.array(F, order="C")
        return F[self.first]

    def spread(self, F: np.ndarray) -> np.ndarray:
        """The factor with one row a row of X."""
        return F if self.tying is None else F[self.tying.groups]

    def entries(self, entries: Entries) -> Entries:
        """The entries of all members of a unit in one row."""
        return entries if self.tying is None else entries.joined(self.unit, self.member)


class Data(ABC):
    """The view as the kernels want it: arrays that stay, and those made for one step."""

    m: np.ndarray  # a multiplier of the sizes of the columns, set for every step
    no_m: np.ndarray  # zeros, for the multiplier of the other order
    share: float  # a row's sweeps end where one brings less than this part of the first
    holed: np.ndarray  # for every unit 1 if it has holes, else 0
    inertia: np.ndarray  # of every coordinate, set for every step

    def __init__(self, loss: Loss, view: BaseView, units: Units, weights: np.ndarray | None):
        self.loss_itself = loss
        self.view = view
        self.units = units
        self.weights = weights  # of squares, in the sizes of columns: the L2 weights, or None
        # Where much is missing every row has a Gram matrix of its own, which costs as much as a
        # sweep for every entry of the row. Beside it sweeps are cheap, and rows are solved almost
        # to the end: half as many iterations on ratings and on generated data. All layouts of
        # the same data follow one rule.
        self.share = 0.01 if view.gappy else 0.1
        seen = units.sum(view.row_counts.astype(np.float64))
        self.holed = (seen < units.count * view.shape[1]).astype(view.dtype)

    def entry_curvature(self, B: np.ndarray) -> np.ndarray:
        """What an entry of usual size adds to the curvatures that the kernels work with."""
        return power_sums(B, 2) / len(B)

    @property
    def quadratic_m(self) -> np.ndarray:
        """The multiplier of the squares, and that of the squares times their L2 weights."""
        pair = (self.m, self.no_m) if self.weights is None else (self.no_m, self.m)
        return np.stack(pair)

    @abstractmethod
    def prepare(self, F: np.ndarray, B: np.ndarray) -> None:
        """Everything that one step needs of the other factor."""

    @abstractmethod
    def release(self) -> None:
        """Let go of it."""

    def keep(self, F: np.ndarray, B: np.ndarray) -> np.ndarray:
        """The multiplier under which the loss alone would leave the sizes of columns as they are.

        Parameters
        ----------
        F : ndarray of shape (n_units, K)
        B : ndarray of shape (n_columns, K)
        """
        F = self.units.spread(F)
        gradient = self.loss_itself.split(self.view, F, B).gradient
        return self.from_gradient(F, gradient)

    def from_gradient(self, F: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """The same from the gradient of the loss."""
        order = 2 if self.weights is not None else self.loss_itself.size_order
        size = order * power_sums(F, order, self.weights)
        slope = np.einsum("ik,ik->k", F, gradient, dtype=np.float64)
        return np.divide(-slope, size, out=np.zeros_like(slope), where=size > 0)

    @abstractmethod
    def run(self, rows: np.ndarray, F: np.ndarray, sweeps: int, share, guarded: bool) -> float:
        """Change some rows of F; what they add to the sum that `loss` wants."""

    @abstractmethod
    def run_coupled(self, rows, F, coupling, sweeps: int, share, guarded: bool) -> float:
        """The same for rows that feel triplets or a graph."""

    def loss(self, total: float) -> float:
        """The loss, from the sums over all rows."""
        return self.view.squares + total

    def sweeps(self, K: int) -> int:
        """How many sweeps over the rows one product with X pays for (Gillis and Glineur)."""
        view, n = self.view, self.view.shape[0]
        paid = view.n_observed / n if view.gappy else view.n_nonzero / (n * K)
        return min(MOST_SWEEPS, int(1.5 + 0.5 * paid))

    def cost(self, K: int) -> np.ndarray:
        """About the multiply-adds of each row."""
        return np.full(self.units.n, 4.0 * K * K)


class FullData(Data):
    """Complete data, squared error: one product with X, one Gram matrix for all rows."""

    def __init__(self, loss: Loss, view: BaseView, units: Units, weights: np.ndarray | None):
        super().__init__(loss, view, units, weights)
        self.holes = view.holes if isinstance(view, FullSparse) else None
        self.torn = np.zeros(units.n, dtype=bool)
        gaps = np.zeros(view.shape[0] + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
        if self.holes is not None:
            self.torn = units.sum(self.holes.row_counts.astype(np.float64)) > 0
            gaps = self.holes.indptr, self.holes.indices
        self.any_torn = bool(self.torn.any())
        self.gaps = units.unit, units.member, *gaps
        self.l1, self.l2 = units.l1 / units.count, units.l2 / units.count
        self.holed /= units.count.astype(self.holed.dtype)  # its Gram matrices are means

    def prepare(self, F, B):
        self.B, self.P = B, self.view.times(B)
        if self.units.tying is not None:
            self.P = self.units.sum(self.P) / self.units.count.astype(F.dtype)[:, None]
        self.G = B.T @ B
        self.R = F[: self.units.n] @ self.G
        self.R -= self.P

    def release(self):
        del self.B, self.P, self.G, self.R

    def keep(self, F, B):
        if self.units.tying is not None or self.any_torn:
            return super().keep(F, B)
        return self.from_gradient(F, 2 * self.R)

    @property
    def norms(self) -> tuple[np.ndarray, ...]:
        return self.l1, self.l2, self.no_m, self.quadratic_m

    def run(self, rows, F, sweeps, share, guarded):
        torn = self.torn[rows] if self.any_torn else NONE
        room = make_room(F.shape[1], F.dtype)
        total = descent.full_rows(
            *(rows[~torn] if self.any_torn else rows, F, self.R, self.P, self.G, *self.norms),
            *(self.units.count, sweeps, share, room),
        )
        if torn.any():
            total += descent.torn_rows(
                *(rows[torn], F, self.P, self.B, self.G, *self.gaps, *self.norms, self.units.count),
                *(self.holed, self.inertia, sweeps, share, room),
            )
        return total

    def run_coupled(self, rows, F, coupling, sweeps, share, guarded):
        torn = self.torn if self.any_torn else None
        return descent.full_coupled_rows(
            *(rows, F, self.R, self.P, self.G, self.B, torn, *self.gaps, *self.norms),
            *(self.units.count, self.holed, self.inertia, *coupling, sweeps, share),
            make_room(F.shape[1], F.dtype, len(F)),
        )


class MaskedData(Data):
    """Incomplete data, squared error: a Gram matrix a row."""

    def __init__(self, loss: Loss, view: BaseView, units: Units, weights: np.ndarray | None):
        super().__init__(loss, view, units, weights)
        self.entries = units.entries(view.stored())

    def prepare(self, F, B):
        self.arrays = B, self.entries.indptr, self.entries.indices, self.entries.data

    def release(self):
        del self.arrays

    @property
    def norms(self) -> tuple[np.ndarray, ...]:
        return self.units.l1, self.units.l2, self.no_m, self.quadratic_m, self.units.count

    def run(self, rows, F, sweeps, share, guarded):
        return self.run_coupled(rows, F, UNCOUPLED, sweeps, share, guarded)

    def run_coupled(self, rows, F, coupling, sweeps, share, guarded):
        room = make_room(F.shape[1], F.dtype)
        return masked.masked_rows(
            *(rows, F, *self.arrays, *self.norms, self.holed, self.inertia, *coupling),
            *(sweeps, share, room),
        )

    def cost(self, K):
        return K * K * (1.0 * self.entries.row_counts + 4.0)


class DivergenceData(Data):
    """The divergence: the non-zeros one by one, and sums over the rest."""

    def __init__(self, loss: Loss, view: BaseView, units: Units, weights: np.ndarray | None):
        super().__init__(loss, view, units, weights)
        entries = view.entries if isinstance(view, FullSparse) else view.stored()
        self.entries = units.entries(entries)
        self.rest = isinstance(view, FullSparse)  # what is not stored is observed too
        self.share = 0.1
        complete = view.n_observed == view.shape[0] * view.shape[1]
        self.alike = complete and units.tying is None and not isinstance(view, Masked)

    def prepare(self, F, B):
        if self.alike:
            sums = B.sum(axis=0)[None, :]  # one row for all
        else:
            sums = np.array(self.units.sum(self.view.ones_times(B)), order="C")
        entries = self.entries
        self.arrays = B, entries.indptr, entries.indices, entries.data, sums

    def release(self):
        del self.arrays

    @property
    def norms(self) -> tuple[np.ndarray, ...]:
        linear, squares = (self.m, self.no_m) if self.weights is None else (self.no_m, self.m)
        return self.units.l1, self.units.l2, linear, squares, self.units.count

    def run(self, rows, F, sweeps, share, guarded):
        return self.run_coupled(rows, F, UNCOUPLED, sweeps, share, guarded)

    def run_coupled(self, rows, F, coupling, sweeps, share, guarded):
        indptr = self.entries.indptr
        most = int((indptr[rows + 1] - indptr[rows]).max(initial=0))
        room = make_divergence_room(F.shape[1], F.dtype, most)
        guarded = guarded or coupling is not UNCOUPLED
        return divergence_rows(
            *(rows, F, *self.arrays, *self.norms, self.holed, self.inertia, *coupling),
            *(sweeps, share, self.view.floor, guarded, self.rest, room),
        )

    def entry_curvature(self, B):
        return super().entry_curvature(B) / max(self.view.mean, np.finfo(B.dtype).tiny)

    def loss(self, total):
        return max(total, 0.0)

    def sweeps(self, K):
        return 4  # as a rule two are done: a sweep is cheap once the entries are at hand

    def cost(self, K):
        return K * (6.0 * self.entries.row_counts + 4.0)
