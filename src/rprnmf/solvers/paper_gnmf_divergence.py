"""GNMF with the divergence, as its authors' program computes it.

X ~ U V' with a graph on V. Block updates, V then U; each component solves
(strength L + diag(sums)) v = v * ratio sums. The columns of U have length 1 before the
first and after the last iteration, V takes their scale. Beyond that program: a graph on
the other factor does the same there, and on incomplete data the sums run over the
observed entries.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from rprnmf.losses import get_loss
from rprnmf.objective import Problem, Side, Values
from rprnmf.penalties import Graph
from rprnmf.solvers.loop import Settings, Step, alternate
from rprnmf.solvers.result import Result

SMALLEST_SUM, SMALLEST_NORM = 1e-10, 1e-15  # the program's: smaller ones count as these
MOST_MODES = 1500  # rows with edges, up to which all eigenvectors are computed once: n^2 numbers


def solve(problem: Problem, start: list[np.ndarray], settings: Settings) -> Result:
    """Run the program; a graph on the rows alone makes W its V."""
    by_rows = problem.columns.graph is None
    program = GraphDivergence(problem, by_rows)
    result = Result(*program.unit_columns(start.pop(0), start.pop()))
    alternate(program, result, program.loss, settings)
    result.W, result.Ht = program.unit_columns(result.W, result.Ht)
    return result


class GraphDivergence:
    """One iteration: the factor with the graph, then the other."""

    def __init__(self, problem: Problem, by_rows: bool):
        self.view = problem.view
        self.loss = get_loss(problem.beta_loss)
        self.order = (0, 1) if by_rows else (1, 0)
        self.by_rows = by_rows
        self.graphs = tuple(GraphSolve(side) for side in problem.sides)

    def unit_columns(self, W: np.ndarray, Ht: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """U gets columns of length 1, V their scale."""
        U = Ht if self.by_rows else W
        norms = np.maximum(np.linalg.norm(U, axis=0), SMALLEST_NORM).astype(U.dtype)
        return (W * norms, Ht / norms) if self.by_rows else (W / norms, Ht * norms)

    def __call__(self, W: np.ndarray, Ht: np.ndarray) -> Step:
        factors = [W, Ht]
        for index in self.order:
            view = self.view if index == 0 else self.view.T
            F, B = factors[index], factors[1 - index]
            sums = np.maximum(view.ones_times(B), SMALLEST_SUM)
            above = F * view.ratio_times(F, B)
            factors[index] = self.graphs[index](sums, above)
        W, Ht = factors
        penalties = (graph.value(F) for graph, F in zip(self.graphs, factors, strict=True))
        values = Values(self.loss.value(self.view, W, Ht), *penalties)
        strengths = tuple(graph.strength if graph.graph else 0.0 for graph in self.graphs)
        return Step(W, Ht, values, (np.nan, np.nan), (strengths[0], strengths[1]))


class GraphSolve:
    """(strength L + diag(sums_k)) v_k = above_k, for every component k."""

    def __init__(self, side: Side):
        self.graph = None if side.graph is None else Graph(side.graph)
        self.strength = side.graph_strength
        if self.graph is None:
            return
        # rows without an edge need no system: v = above / sums
        self.linked = self.graph.rows
        S = sp.csr_array(side.graph)[self.linked][:, self.linked].astype(np.float64)
        S = S - sp.diags_array(S.diagonal())
        degree = np.asarray(S.sum(axis=1)).ravel()
        self.laplacian = sp.csc_array(self.strength * (sp.diags_array(degree) - S))

    @cached_property
    def modes(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of the Laplacian."""
        return np.linalg.eigh(self.laplacian.toarray())

    def __call__(self, sums: np.ndarray, above: np.ndarray) -> np.ndarray:
        F = above / sums
        if self.graph is None or len(self.linked) == 0:
            return F
        if len(self.linked) <= MOST_MODES and (sums == sums[0]).all():
            # complete data: one number for all rows, and all systems share their eigenvectors
            values, vectors = self.modes
            parts = vectors.T @ above[self.linked].astype(np.float64)
            F[self.linked] = np.maximum(vectors @ (parts / (values[:, None] + sums[0])), 0.0)
            return F
        for k in range(F.shape[1]):
            diagonal = sp.diags_array(sums[self.linked, k].astype(np.float64))
            system = sp.csc_array(self.laplacian + diagonal)
            solution = splu(system, permc_spec="MMD_AT_PLUS_A").solve(
                above[self.linked, k].astype(np.float64)
            )
            # the inverse of such a matrix has no negative entry, rounding apart
            F[self.linked, k] = np.maximum(solution, 0.0)
        return F

    def value(self, F: np.ndarray) -> float:
        """The graph term."""
        return self.strength * self.graph.value(F) if self.graph is not None else 0.0
