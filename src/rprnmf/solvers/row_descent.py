"""One factor's rows by coordinate descent, the other factor fixed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels.workspace import Effort
from rprnmf.objective import Look, Objective, SideTerms
from rprnmf.solvers.incidence import Incidence
from rprnmf.solvers.row_problems import NEW_ROW_PROBLEMS, ROW_PROBLEMS, Pulls, RowProblem
from rprnmf.threads import available_threads, map_blocks, row_blocks


class Visit(NamedTuple):
    """Which rows a step changes, and how far it goes in each.

    Parameters
    ----------
    linked, free : bool
        Whether to change the rows that feel triplets or a graph, and the others.
    every : bool
        False: triplets that keep their margin with room to spare are left out, and rows that
        have no others are treated as free. The caller checks that the objective does not rise.
    guarded : bool
        False: rows need not check that the objective does not rise, for the caller does
        (divergence).
    sweeps : int or None
        At most this many over each row; None: as many as cost about one product with X.
    share : float or None
        A row stops when a sweep gains less than this fraction of what its first gained; None:
        0.1, and 0.01 where much is missing.
    keeps_sizes : bool
        Whether to use the multiplier with which columns keep their sizes, about.
    """

    linked: bool = True
    free: bool = True
    every: bool = True
    guarded: bool = True
    sweeps: int | None = None
    share: float | None = None
    keeps_sizes: bool = False


GUARDED = Visit()
CHECKED = Visit(every=False, guarded=False)  # the caller checks that the objective does not rise


class RowDescent:
    """Lowers the objective in the rows of one factor.

    Parameters
    ----------
    objective : Objective
    index : int
        0: the rows of W, 1: the columns of H.
    n_rows : int or None
        Rows of the factor, if it has more than X: triplets compare with the others.
    new_rows : bool
        Whether B stays as it is, as for `transform`. In a fit B moves too and more steps follow:
        there rows with holes have inertia (`row_problems.py`).
    """

    def __init__(
        self, objective: Objective, index: int, n_rows: int | None = None, new_rows: bool = False
    ):
        view, terms = objective.views[index], objective.terms[index]
        self.new_rows = new_rows
        self.incidence = Incidence(terms, n_rows or view.shape[0], view.row_shares)
        self.n_threads = available_threads(view.n_jobs)
        problems = NEW_ROW_PROBLEMS if new_rows else ROW_PROBLEMS
        self.problem: RowProblem = problems[objective.loss.row_problem or ""](objective, index)
        linked = self.incidence.linked
        if terms.tying is not None and linked.any():
            raise ValueError("labels cannot be combined with triplets or a graph on one side.")
        # coupled rows are visited in an order that depends on the data, not on their numbers,
        # so that renaming the rows renames the result (except for rows with equal sums)
        n = self.problem.units.n
        self.linked = np.flatnonzero(linked[:n])
        if len(self.linked):
            order = np.argsort(view.row_sums()[self.linked], kind="stable")
            self.linked = self.linked[order]
        self.free = np.flatnonzero(~linked[:n])
        self.blocks: dict[int, list[tuple[int, int]]] = {}

    def __call__(
        self,
        F: np.ndarray,
        B: np.ndarray,
        terms: SideTerms,
        m: np.ndarray | None = None,
        look: Look | None = None,
        visit: Visit = GUARDED,
    ) -> tuple[np.ndarray, float | None]:
        """A new factor, lower in objective + sum_k m_k size_k^order (`scale.py`), and its loss.

        Parameters
        ----------
        F : ndarray of shape (n_rows, K)
        B : ndarray of shape (n_columns, K)
        terms : SideTerms
            With the strengths to use.
        m : ndarray of shape (K,) or None
            None: zeros, or what ``visit.keeps_sizes`` asks for.
        look : Look or None
            The terms at F, if they are at hand.
        visit : Visit

        Returns
        -------
        new : ndarray of shape (n_rows, K)
        loss : float or None
            None where the step does not compute it.
        """
        new, total, pulled = self.lower(F, B, terms, m, look, visit)
        return new, self.problem.total_loss(total, pulled)

    def lower(
        self,
        F: np.ndarray,
        B: np.ndarray,
        terms: SideTerms,
        m: np.ndarray | None,
        look: Look | None,
        visit: Visit,
        pulls: Pulls | None = None,
    ) -> tuple[np.ndarray, float, float]:
        """A new factor, and two sums that give its loss (`RowProblem.total_loss`).

        ``pulls`` are those of ``terms``, if they are at hand.
        """
        problem, K = self.problem, F.shape[1]
        new = problem.units.take(F)
        if pulls is None:
            pulls = Pulls.of(terms, F, problem.units)
        data = problem.at(new, B, pulls.pull)
        if m is None and visit.keeps_sizes:
            m = problem.keeping_multiplier(new, B, data)
        inertia = np.zeros(K) if self.new_rows else problem.entry_curvature(B)
        m = np.zeros(K) if m is None else np.asarray(m, dtype=np.float64)
        row_terms = problem.terms(m, inertia.astype(F.dtype), pulls)
        effort = Effort(
            problem.sweeps(K) if visit.sweeps is None else visit.sweeps,
            F.dtype.type(problem.share if visit.share is None else visit.share),
            visit.guarded,
        )
        coupled, alone = self.linked, self.free
        coupling = None
        if visit.linked and len(coupled):
            coupling, feels = self.incidence.coupling(terms, look or Look(terms, F), visit.every)
            feeling = feels[coupled]
            if not feeling.all():
                alone = np.concatenate((alone, coupled[~feeling]))
                coupled = coupled[feeling]
        total = 0.0
        if visit.free and len(alone):

            def run(start: int, stop: int) -> float:
                return problem.run(alone[start:stop], new, data, row_terms, effort)

            total += sum(map_blocks(run, self.blocks_of(alone, K), self.n_threads))
        if coupling is not None and len(coupled):
            total += problem.run(coupled, new, data, row_terms, effort, coupling)
        pull = pulls.pull
        pulled = float(np.einsum("ik,ik->", pull, new[: len(pull)], dtype=np.float64))
        return problem.units.give(new), total, pulled

    def blocks_of(self, rows: np.ndarray, K: int) -> list[tuple[int, int]]:
        """The rows in parts of about the same work."""
        if self.problem.at_once:
            return [(0, len(rows))]
        usual = rows is self.free
        if usual and K in self.blocks:
            return self.blocks[K]
        blocks = row_blocks(np.concatenate(([0], np.cumsum(self.problem.cost(K)[rows]))))
        if usual:
            self.blocks[K] = blocks
        return blocks
