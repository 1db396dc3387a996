"""The columns of X under the divergence, where the rows of X lie elsewhere.

In one place the coordinates of a column of H are lowered one after the other, and each needs two
sums over the entries of the column. Columns do not depend on each other. So here one component of
all columns is lowered at once: the blocks give its two sums for every column, the columns move
here, and the blocks are told by how much. That is a round for every component and sweep, and the
same steps as in one place.

Columns that triplets or a graph couple must follow one another. Those that have none in common may
go together: they are taken in as few groups as keep the order among neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.kernels.coupling import Coupling
from rprnmf.kernels.divided_rows import (
    Places,
    begin_rows,
    changes,
    couplings,
    finish_rows,
    move_rows,
    settle_rows,
    slopes_of_rows,
)
from rprnmf.kernels.kl_rows import HALVINGS
from rprnmf.kernels.workspace import SQUARES, Effort, RowTerms
from rprnmf.objective import Objective, SideTerms
from rprnmf.observed import BaseView, Entries
from rprnmf.remote import Remote
from rprnmf.solvers.row_problems import DivergenceProblem, RowProblem
from rprnmf.threads import available_threads, map_blocks, row_blocks


class RemoteDivergenceProblem(DivergenceProblem):
    """The divergence of columns whose entries lie in several places."""

    view: Any
    at_once = True

    def __init__(self, objective: Objective, index: int):
        RowProblem.__init__(self, objective, index)  # there are no entries here
        self.share = 0.1
        self.neighbours = neighbours(objective.terms[index], self.units.n)
        tying = self.units.tying
        groups = None if tying is None else tying.groups
        self.entries = self.view.pool.map(entries_of, self.view.views, groups)

    def at(self, F, B, pull):
        if self.view.complete:
            sums = np.broadcast_to(B.sum(axis=0), (self.view.shape[0], F.shape[1]))
        else:
            sums = self.view.ones_times(B)
        return B, np.array(self.units.sum(sums), order="C")

    def run(self, rows, F, data, terms, effort, coupling=None):
        effort = effort._replace(guarded=effort.guarded or coupling is not None)
        groups = [rows] if coupling is None else self.in_groups(rows)
        return sum(Pass(self, group, F, data, terms, coupling).run(effort) for group in groups)

    def in_groups(self, rows: np.ndarray) -> list[np.ndarray]:
        """Coupled rows in groups without neighbours, which keep the order among these."""
        level: dict[int, int] = {}
        for i in rows.tolist():
            found = (level.get(j, -1) for j in self.neighbours[i])
            level[i] = 1 + max(found, default=-1)
        levels = np.array([level[i] for i in rows.tolist()], dtype=np.int64)
        return [rows[levels == number] for number in range(levels.max(initial=-1) + 1)]

    def total_loss(self, total, pulled=0.0):
        if self.units.tying is not None or self.view.weighted:
            return None
        return max(total, 0.0)

    def cost(self, K):
        return np.full(self.units.n, 1.0)


def neighbours(terms: SideTerms, n: int) -> list[set[int]]:
    """Of each row those that it has a triplet or an edge in common with."""
    found: list[set[int]] = [set() for _ in range(n)]
    if terms.triplets is not None:
        for items in zip(terms.triplets.q, terms.triplets.r, terms.triplets.s, strict=True):
            for i in items:
                found[i].update(int(j) for j in items if j != i)
    if terms.graph is not None:
        for i, j in zip(*terms.graph.attract[:2], strict=True):
            found[i].add(int(j))
            found[j].add(int(i))
    return found


class Outcome(NamedTuple):
    """What a step brought, per row: sums over its entries."""

    gain: np.ndarray  # of x log(y / y before)
    size: np.ndarray  # of its absolute values
    loss: np.ndarray  # of y - x + x log(x / y), where x is not zero
    stored: np.ndarray  # of y there
    zeros: np.ndarray  # of the model at zeros that are stored


class Pass:
    """One step in some rows.

    Parameters
    ----------
    problem : RemoteDivergenceProblem
    rows : ndarray
        Of F, which is changed in place.
    F : ndarray
    data : tuple
        The other factor, and its sums over what each row observes.
    terms : RowTerms
    coupling : Coupling or None
    """

    def __init__(
        self,
        problem: RemoteDivergenceProblem,
        rows: np.ndarray,
        F: np.ndarray,
        data: Any,
        terms: RowTerms,
        coupling: Coupling | None,
    ):
        self.view, self.pool = problem.view, problem.view.pool
        self.rows, self.F, self.terms, self.coupling = rows, F, terms, coupling
        self.least = F.dtype.type(self.view.floor)
        self.old = F[rows]
        self.f = self.old.copy()
        self.sums = data[1][rows]
        self.place: Remote = self.pool.map(
            begin, problem.entries, rows, self.f, data[0], (self.least, self.view.n_jobs)
        )
        phi, sizes = self.pool.total(begun, self.place)
        self.empty = (sizes == 0) & (len(terms.pull) == 0) & (coupling is None)
        self.squared = terms.l2[rows] > 0
        self.quadratic = self.squared | (coupling is not None)
        self.couple()
        self.add_l2()
        own = self.sums + terms.l1[rows, None]
        linear = np.maximum(own + terms.members[rows, None] * terms.m1, 0.5 * own)
        if len(terms.pull):
            linear = linear - 2.0 * terms.pull[rows]
        self.linear = linear.astype(F.dtype)
        self.active = (self.f > 0) | (phi > self.linear + self.side)

    def couple(self) -> None:
        """The model of what couples the rows."""
        n, K = self.f.shape
        self.side, self.up = np.zeros((n, K)), np.zeros((n, K))
        self.squares = np.zeros((n, SQUARES, K), self.f.dtype)
        self.along = np.zeros((n, SQUARES))
        if self.coupling is not None:
            into = self.side, self.up, self.squares, np.zeros(n, dtype=np.int64)
            couplings(self.rows, self.F, self.coupling, into)

    def add_l2(self) -> None:
        """Slope and curvature of the L2 terms."""
        l2 = self.terms.l2[self.rows, None]
        self.square = l2 * np.maximum(1.0 + self.terms.m2[1], 0.5)
        self.side += np.where(self.quadratic[:, None], 2.0 * self.square * self.f, 0.0)
        self.up += np.where(self.quadratic[:, None], 2.0 * self.square, 0.0)

    def run(self, effort: Effort) -> float:
        """The rows are lowered; the divergence that they then have."""
        if len(self.rows) == 0:
            return 0.0
        self.descend(effort)
        outcome = self.finish(np.zeros(len(self.rows), dtype=bool))
        if effort.guarded:
            outcome = self.guard(outcome)
        self.f[self.empty] = 0
        if self.coupling is not None:
            settle_rows(self.rows, self.F, self.coupling, self.f)
        self.F[self.rows] = self.f
        return self.loss(outcome)

    def descend(self, effort: Effort) -> None:
        """Sweeps over the components, each of all rows at once."""
        f, dtype = self.f, self.f.dtype
        l2 = (2.0 * self.terms.l2[self.rows]).astype(dtype)
        holed = self.terms.holed[self.rows]
        alive = ~self.empty
        first = np.zeros(len(f), dtype)
        moved, last = np.zeros(len(f), dtype), 0
        for sweep in range(effort.sweeps):
            gained = np.zeros(len(f), dtype)
            for k in range(f.shape[1]):
                busy = alive & self.active[:, k]
                if not busy.any():
                    continue
                p, bend = self.pool.total(moved_and_slopes, self.place, last, moved, k, busy)
                slow = np.maximum(holed * self.terms.inertia[k] - l2, 0)
                new, ask = self.best(k, p, bend, slow)
                d = np.where(busy, new - f[:, k], 0).astype(dtype)
                d[~(np.abs(d) < np.finfo(dtype).max)] = 0  # a slope that overflowed
                gained += np.abs(d * np.where(busy, ask, 0))
                f[:, k] = np.where(d != 0, new, f[:, k])
                self.side[:, k] += d * self.up[:, k]
                self.along += d[:, None] * self.squares[:, :, k]
                moved, last = d, k
            if sweep == 0:
                first = dtype.type(effort.share) * gained
            alive &= gained > first
            if not alive.any():
                break
        self.place = self.pool.map(move, self.place, last, moved)

    def best(
        self, k: int, p: np.ndarray, bend: np.ndarray, slow: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where component k goes, and the slope there was in it."""
        dtype, old, linear = self.f.dtype, self.f[:, k], self.linear[:, k]
        squares = self.squares[:, :, k]
        also = self.side[:, k] + np.einsum("nr,nr->n", squares, self.along)
        bent = self.up[:, k] + np.einsum("nr,nr->n", squares, squares)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slope = linear + also.astype(dtype) - p
            curve = bend + bent.astype(dtype) + slow
            far = np.maximum(old - slope / curve, 0)
            one = np.where(curve > 0, far, np.where(slope > 0, 0, old))
            ask = linear - p
            far = np.maximum(old - (p / linear) * ask / (bend + slow), 0)
            two = np.where((bend > 0) & (linear > 0), far, np.where(ask > 0, 0, old))
        chosen = self.quadratic
        return np.where(chosen, one, two).astype(dtype), np.where(chosen, slope, ask)

    def finish(self, again: np.ndarray) -> Outcome:
        """What the step brought."""
        return Outcome(*self.pool.total(finished, self.place, self.f, again).T)

    def guard(self, outcome: Outcome) -> Outcome:
        """Take back as much of the steps as it takes for no row's sum to rise."""
        step = self.f.astype(np.float64) - self.old
        length = np.ones(len(self.rows))
        left = ~self.empty
        for halving in range(HALVINGS + 1):
            left &= ~self.kept(outcome)
            if not left.any():
                break
            length[left] = length[left] * 0.5 if halving + 1 < HALVINGS else 0.0
            self.f[left] = self.old[left] + length[left, None] * step[left]
            outcome = self.finish(left)
        return outcome

    def kept(self, outcome: Outcome) -> np.ndarray:
        """Which rows' sums did not rise, but for rounding."""
        d = self.f.astype(np.float64) - self.old
        rise = np.einsum("nk,nk->n", d, self.linear.astype(np.float64))
        bent = d * self.square * (2.0 * self.old + d)
        rise += np.where(self.squared, bent.sum(axis=1), 0.0) - outcome.gain
        sure = outcome.size * 8 * np.finfo(self.f.dtype).eps
        if self.coupling is not None:
            found = np.zeros(len(self.rows))
            changes(self.rows, self.F, self.coupling, self.f, found)
            rise, sure = rise + found, np.zeros(len(self.rows))
        return rise <= sure

    def loss(self, outcome: Outcome) -> float:
        """The divergence of the rows."""
        total = outcome.loss.copy()
        if self.view.zeros_implied:
            everywhere = np.einsum("nk,nk->n", self.sums.astype(np.float64), self.f)
            total += np.maximum(everywhere - outcome.stored, 0.0)
        else:
            total += outcome.zeros
        return float(total[~self.empty].sum())


def entries_of(view: BaseView, groups: np.ndarray | None) -> Entries:
    """The entries of a block by columns; those of columns with a common label in one row."""
    entries = view.T.weighted_nonzeros()
    if groups is None:
        return entries
    n = len(groups)
    members = sp.csr_array((np.ones(n), (groups, np.arange(n))), shape=(groups.max() + 1, n))
    total = sp.csr_array((members @ entries.matrix()).astype(view.dtype, copy=False))
    total.sort_indices()
    return Entries(total, view.n_jobs)


class Begun:
    """What a block keeps of a pass."""

    def __init__(self, entries: Entries, rows: np.ndarray, f: np.ndarray, B: np.ndarray, of: Any):
        self.least, n_jobs = of
        y = np.ones(len(entries.data), f.dtype)
        self.at = Places(entries.arrays, rows, np.ascontiguousarray(B), y)
        self.f, self.n_threads = f.copy(), available_threads(n_jobs)
        cost = np.concatenate(([0], np.cumsum(entries.row_counts[rows] + 1)))
        self.blocks = row_blocks(cost * 10)
        self.phi, self.sizes = np.zeros(f.shape, f.dtype), np.zeros(len(f), dtype=np.int64)
        self.map(begin_rows, self.f, self.least, self.phi, self.sizes)
        self.before = y.copy()

    def map(self, kernel: Any, *arguments: Any, whole: tuple[Any, ...] = ()) -> None:
        """Run a kernel on some rows at a time, and as much of arrays that have one row for each.

        ``whole`` are handed over as they are.
        """

        def work(start: int, stop: int) -> None:
            at = self.at._replace(rows=self.at.rows[start:stop])
            rows = slice(start, stop)
            kernel(at, *(a[rows] if isinstance(a, np.ndarray) else a for a in arguments), *whole)

        map_blocks(work, self.blocks, self.n_threads)


def begin(entries: Entries, rows: np.ndarray, f: np.ndarray, B: np.ndarray, of: Any) -> Begun:
    """A block begins a pass."""
    return Begun(entries, rows, f, B, of)


def begun(here: Begun) -> tuple[np.ndarray, np.ndarray]:
    """What it tells at the begin."""
    return here.phi, here.sizes


def move(here: Begun, k: int, moved: np.ndarray) -> Begun:
    """Component k moved."""
    if moved.any():
        here.f[:, k] += moved
        here.map(move_rows, here.f, k, moved, here.least)
    return here


def moved_and_slopes(
    here: Begun, last: int, moved: np.ndarray, k: int, busy: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One component moved; the two sums of the next."""
    move(here, last, moved)
    slope, bend = np.zeros((2, len(busy)), here.f.dtype)
    here.map(slopes_of_rows, k, busy, slope, bend)
    return slope, bend


def finished(here: Begun, f: np.ndarray, again: np.ndarray) -> np.ndarray:
    """What a step brought."""
    here.f[:] = f
    sums = np.zeros((len(f), len(Outcome._fields)))
    here.map(finish_rows, here.f, again, sums, whole=(here.before, here.least))
    return sums
