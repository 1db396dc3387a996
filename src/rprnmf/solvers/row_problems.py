"""The rows of one factor while the other is fixed: the problems that coordinate descent solves.

*Inertia.* A row of X with holes may have next to nothing to say about some components. Solved
exactly, such a row goes as far as it takes to fit its last entry: with few ratings rows were seen
1e8 times as far out as others, and all other rows then suffered. So a row with holes takes its
step as if one more entry of usual size asked every coordinate to stay where it is. The minimum is
the same, and the objective falls as before, but the row hardly moves in directions of which its
entries say next to nothing. L2 terms have the same effect; what they do already is subtracted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.kernels.coupling import Coupling
from rprnmf.kernels.frobenius_rows import GramData, Holes, coupled_rows, full_rows, torn_rows
from rprnmf.kernels.kl_newton import kl_newton_rows
from rprnmf.kernels.kl_rows import KLData, kl_rows
from rprnmf.kernels.masked_rows import MaskedData, masked_rows
from rprnmf.kernels.packed_rows import GivenSums, pack_grams, packed_rows, packed_weighted_rows
from rprnmf.kernels.weighted_rows import EntryWeights, weighted_rows
from rprnmf.kernels.workspace import (
    Effort,
    RowTerms,
    make_kl_workspace,
    make_newton_workspace,
    make_residual_workspace,
    make_workspace,
)
from rprnmf.losses import Loss
from rprnmf.objective import Objective, SideTerms
from rprnmf.observed import BaseView, Entries, Weighted
from rprnmf.observed.base import TINY
from rprnmf.observed.summed import SummedRows
from rprnmf.threads import available_threads, map_blocks, row_blocks

MOST_SWEEPS = 50  # over one row in one step, however cheap sweeps are
GRAMS_AT_ONCE = 1 << 23  # numbers of Gram matrices that are here at a time: 64 MB
FEW_ZEROS = 0.7  # from this fraction of non-zeros on, rows are read without gathering
RESIDUAL_SWEEPS = 3  # the same where rows keep residuals and sweeps are not cheap
# A step computes the loss as a small difference of large numbers. Below this fraction of the sum
# of squares of X too few digits are left, and the loss is summed anew.
DIGITS = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-2}


def power_sums(F: np.ndarray, order: int, weights: np.ndarray | None = None) -> np.ndarray:
    """sum_i F_ik^order, for order 1 or 2; with weights sum_i weights_i F_ik^2."""
    if weights is not None:
        return np.einsum("i,ik,ik->k", weights, F, F, dtype=np.float64)
    if order == 1:
        return F.sum(axis=0, dtype=np.float64)
    return np.einsum("ik,ik->k", F, F, dtype=np.float64)


def size_multiplier(
    F: np.ndarray, gradient: np.ndarray, order: int, weights: np.ndarray | None
) -> np.ndarray:
    """The multiplier under which a gradient leaves the sizes of columns as they are."""
    size = order * power_sums(F, order, weights)
    slope = np.einsum("ik,ik->k", F, gradient, dtype=np.float64)
    return np.divide(-slope, size, out=np.zeros_like(slope), where=size > 0)


def quadratic_loss(view: BaseView, total: float, pulled: float) -> float | None:
    """The squared error from what rows add; None where too few digits would be left."""
    loss = view.squares + total + 2.0 * pulled
    return loss if loss > DIGITS[np.dtype(view.dtype)] * view.squares else None


def loss_of_sums(view: BaseView, loss: Loss, total: float, pulled: float) -> float | None:
    """The loss from what rows add that lie in several places."""
    if loss.row_problem == "quadratic":
        return quadratic_loss(view, total, pulled)
    return None if view.weighted else max(total, 0.0)


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
        return A if self.tying is None else self.tying.total(A)

    def take(self, F: np.ndarray) -> np.ndarray:
        """A copy of the factor with one row per unit."""
        return np.array(F, order="C") if self.tying is None else F[self.first]

    def give(self, F: np.ndarray) -> np.ndarray:
        """The factor with one row per row of X."""
        return F if self.tying is None else F[self.tying.groups]


class Pulls(NamedTuple):
    """The prior of each unit: weight * (f - mean)^2, with pull = weight * mean."""

    weight: np.ndarray | float
    pull: np.ndarray  # no rows where there is no prior

    @classmethod
    def of(cls, terms: SideTerms, F: np.ndarray, units: Units) -> Pulls:
        """At a factor."""
        if terms.prior is None:
            return cls(0.0, np.zeros((0, F.shape[1]), F.dtype))
        times = terms.prior_weight
        pull = units.sum(times * terms.prior.pull(F)).astype(F.dtype)
        return cls(units.sum(times * terms.prior.weights), pull)


class RowProblem(ABC):
    """The rows of one factor: what stays the same from step to step.

    A step is asked for in three calls: ``data = at(F, B, pull)``, ``terms(m, inertia, pulls)``,
    ``run``.

    Parameters
    ----------
    objective : Objective
    index : int
        0: the rows of W, 1: the columns of H.
    """

    #: whether `run` wants all rows in one call: it divides the work itself
    at_once = False

    def __init__(self, objective: Objective, index: int):
        self.view = view = objective.views[index]
        self.units = units = Units(objective.terms[index], view)
        self.loss = objective.loss
        #: weights of the squares of a column's entries in its size: L2 weights, or None
        self.size_weights = objective.scale.weights(index)
        # Where much is missing every row has its own Gram matrix, to which each entry of the row
        # adds the cost of a sweep. Sweeps are cheap beside it, and rows are solved almost to the
        # end, which halved the number of iterations on ratings and on generated data. The rule is
        # the same for all layouts of the same data.
        self.share = 0.01 if view.gappy else 0.1
        seen = units.sum(view.row_shares)
        # a row without any entry is placed by its terms alone, at once
        holed = (seen > 0) & (seen < units.count)
        self.holed = holed.astype(view.dtype)

    @abstractmethod
    def at(self, F: np.ndarray, B: np.ndarray, pull: np.ndarray) -> Any:
        """What the kernels need of X and of the other factor; F has one row per unit."""

    @abstractmethod
    def run(
        self,
        rows: np.ndarray,
        F: np.ndarray,
        data: Any,
        terms: RowTerms,
        effort: Effort,
        coupling: Coupling | None = None,
    ) -> float:
        """Change some rows of F; returns what they add to the sum that `total_loss` takes."""

    @abstractmethod
    def total_loss(self, total: float, pulled: float = 0.0) -> float | None:
        """The loss, from the sum over all rows; None where it would have too few digits.

        ``pulled`` is the sum of pull and factor, entry by entry.
        """

    @abstractmethod
    def cost(self, K: int) -> np.ndarray:
        """About the multiply-adds of each row."""

    def sweeps(self, K: int) -> int:
        """How many sweeps over the rows cost about one product with X (Gillis and Glineur)."""
        of = self.view.extent or self.view
        n = of.shape[0]
        paid = of.n_observed / n if self.view.gappy else of.n_nonzero / (n * K)
        return min(MOST_SWEEPS, int(1.5 + 0.5 * paid))

    def entry_curvature(self, B: np.ndarray) -> np.ndarray:
        """What one entry of usual size adds to the curvature of each coordinate, about."""
        return power_sums(B, 2) / len(B)

    def terms(self, m: np.ndarray, inertia: np.ndarray, pulls: Pulls) -> RowTerms:
        """The terms of the rows, with a multiplier per component for the sizes of the columns."""
        units, none = self.units, np.zeros(len(m))
        pair = (m, none) if self.size_weights is None else (none, m)
        norms = units.l1, units.l2 + pulls.weight, none, np.stack(pair)
        return RowTerms(*norms, units.count, self.holed, inertia, pulls.pull)

    def keeping_multiplier(self, F: np.ndarray, B: np.ndarray, data: Any) -> np.ndarray:
        """The multiplier under which the loss alone would leave the sizes of columns as they are.

        Parameters
        ----------
        F : ndarray of shape (n_units, K)
        B : ndarray of shape (n_columns, K)
        data : as `at` gives it
        """
        F = self.units.give(F)
        return self.multiplier(F, self.loss.split(self.view, F, B).gradient)

    def multiplier(self, F: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """The same from the gradient of the loss."""
        order = 2 if self.size_weights is not None else self.loss.size_order
        return size_multiplier(F, gradient, order, self.size_weights)


class GramProblem(RowProblem):
    """Squared error, complete data: one product with X, one Gram matrix for all rows."""

    def __init__(self, objective: Objective, index: int):
        super().__init__(objective, index)
        units, view = self.units, self.view
        self.torn: np.ndarray | None = None
        # kept from step to step: the system takes a while to hand out so much memory
        self.R: np.ndarray | None = None
        self.prior = objective.terms[index].prior is not None
        if view.holes is not None:
            self.torn = units.sum(view.holes.row_counts.astype(np.float64)) > 0
        self.holed /= units.count.astype(self.holed.dtype)  # its Gram matrices are means

    def at(self, F, B, pull):
        return self.with_products(F, self.view.times(B), B.T @ B, pull, B)

    def with_products(self, F, P, G, pull, B=None):
        """The same with X B and B'B at hand."""
        if self.units.tying is not None:
            P = self.units.sum(P) / self.units.count.astype(F.dtype)[:, None]
        if len(pull):
            P = P + pull / self.units.count.astype(F.dtype)[:, None]
        if self.R is None or self.R.shape != P.shape:
            self.R = np.empty(P.shape, F.dtype)
        R = np.matmul(F[: self.units.n], G, out=self.R)
        R -= P
        holes, units = self.view.holes, self.units
        if holes is None or self.torn is None:
            return GramData(R, P, G), None
        gaps = self.torn, B, units.unit, units.member, holes.indptr, holes.indices
        return GramData(R, P, G), Holes(*gaps)

    def terms(self, m, inertia, pulls):
        terms, count = super().terms(m, inertia, pulls), self.units.count
        return terms._replace(l1=terms.l1 / count, l2=terms.l2 / count)

    def keeping_multiplier(self, F, B, data):
        if self.units.tying is not None or self.torn is not None or self.prior:
            return super().keeping_multiplier(F, B, data)
        return self.multiplier(F, 2 * data[0].R)

    def run(self, rows, F, data, terms, effort, coupling=None):
        data, holes = data
        if coupling is not None:
            space = make_workspace(F.shape[1], F.dtype, len(F))
            return coupled_rows(rows, F, data, holes, terms, coupling, effort, space)
        space = make_workspace(F.shape[1], F.dtype)
        if holes is None:
            return full_rows(rows, F, data, terms, effort, space)
        torn = holes.torn[rows]
        total = full_rows(rows[~torn], F, data, terms, effort, space)
        return total + torn_rows(rows[torn], F, data, holes, terms, effort, space)

    def total_loss(self, total, pulled=0.0):
        return quadratic_loss(self.view, total, pulled)

    def cost(self, K):
        return np.full(self.units.n, 4.0 * K * K)


class MaskedProblem(RowProblem):
    """Squared error, incomplete data: one Gram matrix per row."""

    def __init__(self, objective: Objective, index: int):
        super().__init__(objective, index)
        self.entries = self.joined(self.view.stored())

    def joined(self, entries: Entries) -> Entries:
        """The entries of tied rows in one row."""
        if self.units.tying is None:
            return entries
        return entries.joined(self.units.unit, self.units.member)

    def at(self, F, B, pull):
        return MaskedData(B, self.entries.arrays), None

    def run(self, rows, F, data, terms, effort, coupling=None):
        space = make_workspace(F.shape[1], F.dtype)
        return masked_rows(rows, F, *data, terms, coupling, effort, space)

    total_loss = GramProblem.total_loss

    def cost(self, K):
        return K * K * (1.0 * self.entries.row_counts + 4.0)


class SummedProblem(MaskedProblem):
    """The same where the sums over tied rows are given."""

    view: Any

    def joined(self, entries):
        return entries

    def at(self, F, B, pull):
        none = np.zeros((B.shape[1], B.shape[1]), B.dtype)
        weights = EntryWeights(self.view.counts.data, none, none)
        return MaskedData(B, self.entries.arrays), weights


class WeightedProblem(MaskedProblem):
    """The same where entries have weights; rows without triplets and graphs keep residuals."""

    view: Weighted

    def __init__(self, objective: Objective, index: int):
        super().__init__(objective, index)
        self.share = 0.1
        self.entries = self.joined(self.view.products)
        self.excess = self.joined(self.view.excess).data

    def at(self, F, B, pull):
        common = B.dtype.type(self.view.rest) * (B.T @ B)
        along = F[: self.units.n] @ common
        return MaskedData(B, self.entries.arrays), EntryWeights(self.excess, common, along)

    def run(self, rows, F, data, terms, effort, coupling=None):
        if coupling is not None:
            return super().run(rows, F, data, terms, effort, coupling)
        most = int(self.entries.row_counts[rows].max(initial=0))
        space = make_residual_workspace(F.shape[1], F.dtype, most)
        return weighted_rows(rows, F, *data, terms, effort, space)

    def entry_curvature(self, B):
        return self.view.entry_weight * super().entry_curvature(B)

    def sweeps(self, K):
        return RESIDUAL_SWEEPS

    def cost(self, K):
        return K * (8.0 * self.entries.row_counts + 2.0 * K)


class DivergenceProblem(RowProblem):
    """The divergence: the non-zeros one by one, and sums over the rest."""

    def __init__(self, objective: Objective, index: int):
        super().__init__(objective, index)
        self.share = 0.1
        self.entries, tying = self.view.weighted_nonzeros(), self.units.tying
        self.alike = tying is None and self.view.complete and self.view.one_gram
        if tying is not None:
            # tied rows have one model: what they observe in a column may be added up
            total = tying.total(self.entries.matrix())
            total.sort_indices()
            self.entries = Entries(total, self.view.n_jobs)
        self.floors = np.array([self.view.floor])
        view = self.view
        # Where few of the entries of complete rows are zero, it is faster to look at all of them
        # than to gather the others.
        self.whole = tying is None and view.complete and not view.zeros_implied
        of = view.extent or view
        self.whole &= of.n_nonzero >= FEW_ZEROS * of.n_observed

    def at(self, F, B, pull):
        if self.alike:
            sums = B.sum(axis=0)[None, :]  # one row for all
        else:
            sums = np.array(self.units.sum(self.view.ones_times(B)), order="C")
        return self.data(B, sums)

    def data(self, B, sums):
        """For the kernels."""
        columns = np.ascontiguousarray(B.T) if self.whole else None
        implied = self.view.zeros_implied
        return KLData(B, self.entries.arrays, sums, self.floors, implied), columns

    def terms(self, m, inertia, pulls):
        terms, none = super().terms(m, inertia, pulls), np.zeros(len(m))
        if self.size_weights is None:  # here the sizes are sums, not sums of squares
            return terms._replace(m1=m, m2=np.stack((none, none)))
        return terms

    def run(self, rows, F, data, terms, effort, coupling=None):
        most = self.most_entries(rows)
        space = make_kl_workspace(F.shape[1], F.dtype, most, not self.whole)
        effort = effort._replace(guarded=effort.guarded or coupling is not None)
        return kl_rows(rows, F, *data, terms, coupling, effort, space)

    def most_entries(self, rows: np.ndarray) -> int:
        """Of one of these rows."""
        indptr = self.entries.indptr
        return int((indptr[rows + 1] - indptr[rows]).max(initial=0))

    def entry_curvature(self, B):
        usual = super().entry_curvature(B) * self.view.entry_weight
        return usual / max(self.view.mean, np.finfo(B.dtype).tiny)

    def total_loss(self, total, pulled=0.0):
        if self.units.tying is not None or self.view.weighted:
            return None
        return max(total, 0.0)

    def sweeps(self, K):
        return 4  # mostly two are done; a sweep is cheap once the entries are gathered

    def cost(self, K):
        return K * (6.0 * self.entries.row_counts + 4.0)


def row_totals(view: BaseView) -> np.ndarray:
    """Sums of the rows of X: the same digits for a row, whatever rows come with it."""
    ones = np.ones((view.shape[1], 1), dtype=view.dtype)
    return view.weighted_nonzeros().times(ones)[:, 0].astype(np.float64)


def observed_sums(view: BaseView, B: np.ndarray) -> np.ndarray:
    """Sums of B over the observed columns of each row, or one row for all.

    A row has the same digits, whatever rows come with it.
    """
    m = view.shape[1]
    columns = np.arange(m, dtype=np.int32)
    row = sp.csr_array((np.zeros(m, B.dtype), columns, np.array([0, m])), shape=(1, m))
    everywhere = Entries(row, n_jobs=1).ones_times(B)
    if view.complete:
        return everywhere
    sums = np.array(view.ones_times(B), order="C")
    if not view.weighted:
        sums[view.row_counts == m] = everywhere
    return sums


class NewRowsDivergence(DivergenceProblem):
    """The same for new rows, each solved to the end, whatever rows come with it."""

    def __init__(self, objective: Objective, index: int):
        super().__init__(objective, index)
        view = self.view
        means = row_totals(view) / np.maximum(view.row_counts, 1)
        self.floors = TINY[np.dtype(view.dtype)] * np.where(means > 0, means, 1.0)
        self.whole = False  # the zeros of other rows are no reason to sum in another order

    def at(self, F, B, pull):
        return self.data(B, observed_sums(self.view, B))

    def run(self, rows, F, data, terms, effort, coupling=None):
        if coupling is not None:
            return super().run(rows, F, data, terms, effort, coupling)
        most = self.most_entries(rows)
        space = make_kl_workspace(F.shape[1], F.dtype, most, True)
        scratch = make_newton_workspace(F.shape[1], F.dtype, most)
        kl_newton_rows(rows, F, data[0], terms, effort, space, scratch)
        return 0.0

    def total_loss(self, total, pulled=0.0):
        return None


class RemoteGramProblem(GramProblem):
    """The columns of complete data whose rows lie elsewhere: the blocks sum X'W and W'W."""

    view: Any

    def at(self, F, B, pull):
        P, self.G = self.view.pool.total(products, self.view.views, B)
        return self.with_products(F, P, self.G, pull)

    def entry_curvature(self, B):
        return np.diag(self.G).astype(np.float64) / len(B)

    def keeping_multiplier(self, F, B, data):
        if self.units.tying is not None or self.prior:
            return super().keeping_multiplier(F, B, data)
        return self.multiplier(F, 2 * data[0].R)


def products(view: BaseView, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """X'W and W'W of a block."""
    return view.T.times(W), W.T @ W


class RemoteMaskedProblem(RowProblem):
    """The columns of incomplete data whose rows lie elsewhere: each has its own Gram matrix.

    These are summed over the blocks for some columns at a time, so that they do not fill the
    memory here.
    """

    view: Any
    at_once = True

    def at(self, F, B, pull):
        return B

    def run(self, rows, F, data, terms, effort, coupling=None):
        W, K = data, F.shape[1]
        step = max(1, 2 * GRAMS_AT_ONCE // (K * (K + 1)))
        if coupling is not None:
            step = len(rows)
        total = 0.0
        for first in range(0, len(rows), step):
            some = rows[first : first + step]
            total += self.lower(some, F, self.sums(some, W), terms, effort, coupling)
        return total

    def sums(self, units: np.ndarray, W: Any) -> GivenSums:
        """The Gram matrices and right sides of some units."""
        tying = self.units
        members = [tying.member[tying.unit[u] : tying.unit[u + 1]] for u in units]
        columns = np.concatenate(members) if len(members) else units
        belongs = np.repeat(np.arange(len(units)), [len(part) for part in members])
        found = self.view.pool.total(gram_sums, self.view.views, W, columns, belongs, len(units))
        return GivenSums(*found)

    def lower(self, rows, F, sums, terms, effort, coupling):
        """Lower these rows, whose sums are in the same order."""
        K = F.shape[1]
        if coupling is not None:
            space = make_workspace(K, F.dtype)
            return packed_rows(rows, (0, len(rows)), F, sums, terms, coupling, effort, space)

        def work(start: int, stop: int) -> float:
            space = make_workspace(K, F.dtype)
            return packed_rows(rows, (start, stop), F, sums, terms, None, effort, space)

        return self.in_parts(work, len(rows), K)

    def in_parts(self, work: Callable[[int, int], float], n: int, K: int) -> float:
        """The sum of ``work(start, stop)`` over parts of n rows, on threads."""
        blocks = row_blocks(np.arange(n + 1) * (20 * K * K))
        return sum(map_blocks(work, blocks, available_threads(self.view.n_jobs)))

    total_loss = GramProblem.total_loss

    def cost(self, K):
        return np.full(self.units.n, 4.0 * K * K)


class RemoteWeightedProblem(RemoteMaskedProblem):
    """The same where entries have weights: the steps of `WeightedProblem`, from Gram matrices."""

    def __init__(self, objective: Objective, index: int):
        super().__init__(objective, index)
        self.share = 0.1

    def lower(self, rows, F, sums, terms, effort, coupling):
        if coupling is not None:
            return super().lower(rows, F, sums, terms, effort, coupling)
        K = F.shape[1]

        def work(start: int, stop: int) -> float:
            space, Q = make_residual_workspace(K, F.dtype, 0), np.empty((K, K), F.dtype)
            return packed_weighted_rows(rows, (start, stop), F, sums, terms, effort, space, Q)

        return self.in_parts(work, len(rows), K)

    def entry_curvature(self, B):
        return self.view.entry_weight * super().entry_curvature(B)

    def sweeps(self, K):
        return RESIDUAL_SWEEPS


def gram_sums(
    view: BaseView, W: np.ndarray, columns: np.ndarray, belongs: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of a block: packed Gram matrices and right sides of units of columns, and their counts."""
    K, entries = W.shape[1], view.T.weighted_nonzeros() if view.weighted else view.T.stored()
    weights = weights_of(view.T, W) if view.weighted else None
    packed, right = np.zeros((n, K * (K + 1) // 2), W.dtype), np.zeros((n, K), W.dtype)
    counts = np.zeros(n, dtype=np.int64)
    np.add.at(counts, belongs, entries.row_counts[columns])
    cuts = np.flatnonzero(np.diff(belongs, prepend=-1))  # threads must not share a unit
    cost = np.concatenate(([0], np.cumsum(entries.row_counts[columns] + 1))) * float(K * K)
    blocks = row_blocks(np.append(cost[cuts], cost[-1]))
    edges = np.append(cuts, len(columns))

    def work(start: int, stop: int) -> None:
        some = slice(edges[start], edges[stop])
        Q, p = np.zeros((K, K), W.dtype), np.zeros(K, W.dtype)
        out = Q, p, packed, right
        pack_grams(columns[some], belongs[some], MaskedData(W, entries.arrays), weights, out)

    map_blocks(work, blocks, available_threads(view.n_jobs))
    return packed, right, counts


def weights_of(view: Any, W: np.ndarray) -> EntryWeights:
    """What entries of columns weigh, and what all rows of a block have in common."""
    common = W.dtype.type(view.rest) * (W.T @ W)
    return EntryWeights(view.excess.data, common, W[:0])


def quadratic_problem(objective: Objective, index: int) -> RowProblem:
    """The squared error, by what the view has."""
    view: Any = objective.views[index]
    if view.remote:
        if view.weighted:
            return RemoteWeightedProblem(objective, index)
        return (RemoteGramProblem if view.one_gram else RemoteMaskedProblem)(objective, index)
    if view.weighted:
        return WeightedProblem(objective, index)
    if isinstance(view, SummedRows) and not view.one_gram:
        return SummedProblem(objective, index)
    return (GramProblem if view.one_gram else MaskedProblem)(objective, index)


def divergence_problem(objective: Objective, index: int) -> RowProblem:
    """The divergence, by where the rows of X lie."""
    if objective.views[index].remote:
        from rprnmf.solvers.remote_divergence import RemoteDivergenceProblem

        return RemoteDivergenceProblem(objective, index)
    return DivergenceProblem(objective, index)


#: the problems that coordinate descent can solve, by what a loss says of its rows
ROW_PROBLEMS: dict[str, Any] = {
    "quadratic": quadratic_problem,
    "divergence": divergence_problem,
}
#: the same for new rows, with the other factor given
NEW_ROW_PROBLEMS = {**ROW_PROBLEMS, "divergence": NewRowsDivergence}
