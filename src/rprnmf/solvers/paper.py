"""`paper`: the authors' published program, step by step, for reproduction.

For k = 1 .. K: the whole column W[:, k], then the whole row H[k, :] with the new column;
products, distances and penalties are refreshed before each half step. What the program
does and the article does not say:

* RPR-NMF, Euclidean: X is divided by max(X) - min(X), the start is not, and W is
  multiplied by that range at the end.
* RPR-NMF, Divergence: where a denominator with its penalty is negative the penalty is
  dropped; a sweep after which the objective is higher is undone and both strengths are
  halved, otherwise they grow by 1 %. Only accepted sweeps count.
* Denominators are at least eps; without a mask exact zeros of a dense X become eps. The
  zeros of a sparse X stay, for it is never made dense. That changes entries by about eps;
  but the logarithms of a divergence triplet can tell 0 from eps, so with such triplets and
  zeros in X, dense and sparse runs drift apart with the sweeps.

The program runs a fixed number of sweeps: ``max_iter`` of them, ``tol`` is not used.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rprnmf.losses import get_loss
from rprnmf.objective import Objective, Point, Problem, SideTerms
from rprnmf.observed import BaseView
from rprnmf.solvers import paper_gnmf_divergence
from rprnmf.solvers.base import Solver
from rprnmf.solvers.column_sums import make_column_sums
from rprnmf.solvers.loop import Settings, Step, alternate
from rprnmf.solvers.result import Result
from rprnmf.split import Split

#: the penalty and the distance that the program has for the row problem of a loss
PROGRAM_PENALTIES = {
    "quadratic": ("exponential", "euclidean"),
    "divergence": ("hinge", "divergence"),
}
WEAKEST = 1e-6  # strength of one triplet at which the program gives up
# Beyond it an exponential penalty continues as its tangent: exp(709) and, in float32, exp(88)
# overflow, and the sums over triplets need room.
LARGEST_EXPONENT = {np.dtype(np.float64): 300.0, np.dtype(np.float32): 60.0}


class PaperSolver(Solver):
    """The authors' program: for the losses, penalties and distances that it has.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.objective import Problem
    >>> from rprnmf.observed import make_view
    >>> from rprnmf.solvers import SOLVERS, Settings
    >>> X = np.outer([1.0, 2.0, 3.0], [1.0, 4.0])
    >>> start = [np.ones((3, 1)), np.ones((2, 1))]
    >>> result = SOLVERS["paper"].solve(Problem(make_view(X)), start, Settings(max_iter=20))
    >>> np.allclose(result.W @ result.Ht.T, X)
    True
    """

    name = "paper"
    automatic = False
    uses_tol = False
    takes_blocks = False
    default_init = "uniform"

    def default_penalty(self, beta_loss):
        row_problem = get_loss(beta_loss).row_problem or ""
        return PROGRAM_PENALTIES.get(row_problem, super().default_penalty(beta_loss))

    def check(self, problem: Problem) -> None:
        self.check_row_problem(problem, list(PROGRAM_PENALTIES))
        penalised = any(len(side.triplets) > 0 for side in problem.sides)
        has = self.default_penalty(problem.beta_loss)
        if penalised and (problem.penalty, problem.distance) != has:
            raise ValueError(
                f"solver='paper' with beta_loss={problem.beta_loss!r} has penalty={has[0]!r} and "
                f"distance={has[1]!r} only, got penalty={problem.penalty!r} and "
                f"distance={problem.distance!r}; use another solver for other combinations."
            )
        if problem.view.weighted:
            raise ValueError(
                "solver='paper' has no entry_weights and no missing_weight; use another solver, "
                "or entry_weights=None and missing_weight=0."
            )
        if problem.program == "rprnmf" and any(side.graph is not None for side in problem.sides):
            raise ValueError(
                "solver='paper' has no graphs inside RPRNMF; use another solver, or GNMF."
            )
        if problem.only_rows:
            raise ValueError(
                "solver='paper' always changes H; use another solver with update_H=False."
            )
        if any(side.l1 is not None or side.l2 is not None for side in problem.sides):
            raise ValueError(
                "solver='paper' has no L1 or L2 terms; use another solver, or alpha_W=0."
            )
        if any(side.prior is not None for side in problem.sides):
            raise ValueError(
                "solver='paper' has no priors; use another solver, or row_prior=None and "
                "column_prior=None."
            )

    def solve(self, problem: Problem, start: list[np.ndarray], settings: Settings) -> Result:
        self.check(problem)
        problem, settings = replace(problem, margin=None), replace(settings, tol=0.0)
        graphs = any(side.graph is not None for side in problem.sides)
        loss = get_loss(problem.beta_loss)
        if graphs and loss.row_problem == "divergence":
            return paper_gnmf_divergence.solve(problem, start, settings)
        view, unit = prepare(problem)
        program = Program(replace(problem, view=view), start[0].shape[1])
        result = Result(*program.start(start.pop(0), start.pop()))
        alternate(program, result, loss, settings, unit)
        result.W = result.W * unit
        if program.gave_up:
            warnings.warn(
                "solver='paper' stopped: no sweep lowers the objective although the strength "
                f"of a triplet was halved to less than {WEAKEST}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return result

    def fold_in(self, problem, Ht, known, settings):
        """By the library's own penalty and an automatic strength: the program has no new rows.

        The distance is that of the fit, so that all rows are judged by the same one.
        """
        rows = replace(problem.rows, strength=1.0, automatic=True)
        problem = replace(problem, penalty=super().default_penalty("")[0], rows=rows)
        return super().fold_in(problem, Ht, known, settings)


def prepare(problem: Problem) -> tuple[BaseView, float]:
    """X as the program sees it, and what it was divided by."""
    view, unit = problem.view, 1.0
    quadratic = get_loss(problem.beta_loss).row_problem == "quadratic"
    if problem.program == "rprnmf" and quadratic:
        low, high = view.extremes()
        unit = (high - low) or high or 1.0
        view = view.scaled(1.0 / unit)
    return view.without_zeros(float(np.finfo(view.dtype).eps)), unit


class ProgramUnits:
    """What strengths and distances count in: the program knows no units."""

    def __init__(self, dtype: np.dtype):
        self.eps = float(np.finfo(dtype).eps)
        self.cap = LARGEST_EXPONENT[np.dtype(dtype)]

    def strength_unit(self, view: BaseView) -> float:
        return 1.0

    def sigma(self, side: int, degree: int, named: BaseView) -> float:
        return 1.0

    def floor(self, side: int) -> float:
        return self.eps

    def graph_unit(self, side: int) -> float:
        return 1.0


class LivingSide:
    """The terms of one factor, with distances that follow every change of a column."""

    def __init__(self, terms: SideTerms, F: np.ndarray):
        self.terms = terms
        self.penalised = bool(terms.terms)  # whether triplets or a graph act here
        if terms.triplets is not None:
            self.near, self.far = terms.triplets.near_far(F)

    def split(self, f: np.ndarray) -> Split:
        """Parts of the penalties' gradient in one column f of shape (n_rows, 1)."""
        terms, triplets = self.terms, self.terms.triplets
        parts = Split(np.zeros_like(f), np.zeros_like(f))
        if triplets is not None:
            triplets.add_split(f, *triplets.edges_at(self.near, self.far), parts)
            parts = parts.times(terms.triplet_weight)
        if terms.graph is not None:
            parts = parts.plus(terms.graph.split(f).times(terms.graph_weight))
        return parts

    def moved(self, old: np.ndarray, new: np.ndarray) -> None:
        """One column changed: the distances follow."""
        triplets = self.terms.triplets
        if triplets is not None:
            near, far = triplets.of_triplets(triplets.apart(new) - triplets.apart(old))
            self.near += near
            self.far += far


class Program:
    """One iteration of the program: a sweep, for RPR-NMF Divergence an accepted one."""

    def __init__(self, problem: Problem, n_components: int):
        dtype = problem.view.dtype
        self.objective = Objective(problem, n_components, ProgramUnits(dtype))
        row_problem = str(self.objective.loss.row_problem)
        self.divergence = row_problem == "divergence"
        self.sums = make_column_sums(problem.view, row_problem)
        self.eps = dtype.type(np.finfo(dtype).eps)
        rows = self.objective.terms[0]
        self.rows_free = not rows.terms and rows.tying is None  # the data alone act on W
        self.counts = tuple(max(len(side.triplets), 1) for side in problem.sides)
        self.adaptive = (
            self.divergence
            and problem.program == "rprnmf"
            and any(strength > 0 for strength in self.objective.strengths)
        )
        self.last: float | None = None
        self.gave_up = False

    def state(self) -> dict[str, Any]:
        """All that later iterations depend on, beside the factors."""
        strengths = list(self.objective.strengths)
        return {"strengths": strengths, "last": self.last, "gave_up": self.gave_up}

    def restore(self, state: dict[str, Any], W: np.ndarray, Ht: np.ndarray) -> None:
        """Go on from a state."""
        rows, columns = state["strengths"]
        self.objective = self.objective.at_strengths((rows, columns))
        self.last, self.gave_up = state["last"], state["gave_up"]

    def start(self, W: np.ndarray, Ht: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The start is used as it is; tied rows begin at their mean."""
        for factor, terms in zip((W, Ht), self.objective.terms, strict=True):
            if terms.tying is not None:
                factor[:] = terms.tying.mean(factor)
        return W, Ht

    def __call__(self, W: np.ndarray, Ht: np.ndarray) -> Step | None:
        while True:
            done = self.sweep(W.copy(), Ht.copy())
            if not self.adaptive:
                return done
            accepted = self.last is None or done.values.objective <= self.last
            growth = 1.01 if accepted else 0.5
            rows, columns = self.objective.strengths
            self.objective = self.objective.at_strengths((growth * rows, growth * columns))
            if accepted:
                self.last = done.values.objective
                return done
            each = zip(self.objective.strengths, self.counts, strict=True)
            if max(strength / count for strength, count in each) < WEAKEST:
                self.gave_up = True
                return None

    def sweep(self, W: np.ndarray, Ht: np.ndarray) -> Step:
        """All columns of W and rows of H, one after the other, in place."""
        self.sums.begin(W, Ht)
        rows, columns = (
            LivingSide(terms, F) for terms, F in zip(self.objective.terms, (W, Ht), strict=True)
        )
        for k in range(W.shape[1]):
            if self.rows_free:
                parts = self.sums.columns_after(k, self.eps)
            else:
                self.change(rows, W, k, *self.sums.rows(k))
                parts = self.sums.columns(k)
            self.change(columns, Ht, k, *parts)
        return Step.at(self.objective, Point(self.objective, W, Ht))

    def change(self, side: LivingSide, F: np.ndarray, k: int, above, below) -> None:
        """The multiplicative update of one column."""
        old = np.ascontiguousarray(F[:, k : k + 1])
        tying = side.terms.tying
        if tying is not None:
            above, below = tying.sum(above), tying.sum(below)
        if not side.penalised:
            F[:, k] = old[:, 0] * above / np.maximum(below, self.eps)
            return
        parts = side.split(old)
        if self.divergence:
            with_penalty = below + parts.gradient[:, 0]
            below = np.where(with_penalty < 0, below, with_penalty)
        else:  # the program's gradients lack the factor 2 of the squared loss
            above = above + 0.5 * parts.negative[:, 0]
            below = below + 0.5 * parts.positive[:, 0]
        new = (old[:, 0] * above / np.maximum(below, self.eps)).astype(F.dtype)
        F[:, k] = new
        side.moved(old, new[:, None])
