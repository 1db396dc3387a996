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
  zeros in X, dense and sparse runs part in the course of the sweeps.

The program runs a fixed number of sweeps: ``max_iter`` of them, ``tol`` is not used.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rprnmf.losses import get_loss
from rprnmf.objective import Problem, Values
from rprnmf.observed import BaseView
from rprnmf.penalties import DISTANCES, PENALTIES, Graph, SymmetricDivergence
from rprnmf.penalties.exponential import TripletExponential
from rprnmf.solvers import paper_gnmf_divergence
from rprnmf.solvers.column_sums import make_column_sums
from rprnmf.solvers.loop import Result, Settings, Step, alternate
from rprnmf.split import Split
from rprnmf.tying import Tying

#: the penalty and the distance that the program has for the row problem of a loss
OWN = {"quadratic": ("exponential", "euclidean"), "divergence": ("hinge", "divergence")}
WEAKEST = 1e-6  # strength of one triplet at which the program gives up
LARGEST_EXPONENT = {np.dtype(np.float64): 300.0, np.dtype(np.float32): 60.0}


def own_penalty(beta_loss: str | float) -> tuple[str, str]:
    """The penalty and the distance that the program has for a loss."""
    own = OWN.get(get_loss(beta_loss).row_problem or "")
    if own is None:
        raise ValueError(
            f"Invalid beta_loss parameter: solver 'paper' does not handle beta_loss = "
            f"{beta_loss!r}, for which the authors' program has no update; use solver='mu'."
        )
    return own


def solve(problem: Problem, start: list[np.ndarray], settings: Settings) -> Result:
    """Run the program that ``problem.program`` names from a start [W, Ht], which is used up."""
    check(problem)
    settings = replace(settings, tol=0.0)
    graphs = any(side.graph is not None for side in problem.sides)
    loss = get_loss(problem.beta_loss)
    if graphs and loss.row_problem == "divergence":
        return paper_gnmf_divergence.solve(problem, start, settings)
    view, unit = prepare(problem)
    program = Program(problem, view)
    result = Result(*program.start(start.pop(0), start.pop()))
    alternate(program, result, loss, settings, unit)
    result.W = result.W * unit
    return result


def check(problem: Problem) -> None:
    """Refuse what the authors' program does not have."""
    own = own_penalty(problem.beta_loss)
    if problem.program == "rprnmf":
        if (problem.penalty, problem.distance) != own:
            raise ValueError(
                f"solver='paper' with beta_loss={problem.beta_loss!r} has penalty={own[0]!r} and "
                f"distance={own[1]!r} only, got penalty={problem.penalty!r} and "
                f"distance={problem.distance!r}; use another solver for other combinations."
            )
        if any(side.graph is not None for side in problem.sides):
            raise ValueError(
                "solver='paper' has no graphs inside RPRNMF; use another solver, or GNMF."
            )
    if problem.only_rows:
        raise ValueError("solver='paper' always changes H; use another solver with update_H=False.")
    if any(side.l1 is not None or side.l2 is not None for side in problem.sides):
        raise ValueError("solver='paper' has no L1 or L2 terms; use another solver, or alpha_W=0.")


def prepare(problem: Problem) -> tuple[BaseView, float]:
    """X as the program sees it, and what it was divided by."""
    view, unit = problem.view, 1.0
    quadratic = get_loss(problem.beta_loss).row_problem == "quadratic"
    if problem.program == "rprnmf" and quadratic:
        low, high = view.extremes()
        unit = (high - low) or high or 1.0
        view = view.scaled(1.0 / unit)
    return view.without_zeros(float(np.finfo(view.dtype).eps)), unit


class ProgramSide:
    """What acts on one factor: triplets with living distances, a graph, ties."""

    def __init__(self, problem: Problem, index: int, dtype: np.dtype):
        side = problem.sides[index]
        self.strength = side.strength if len(side.triplets) else 0.0
        self.count = len(side.triplets)
        self.tying = None if side.groups is None else Tying(side.groups)
        self.graph = None if side.graph is None else Graph(side.graph)
        self.graph_strength = side.graph_strength
        self.triplets = None
        if self.count:
            distance = DISTANCES[problem.distance]()
            if isinstance(distance, SymmetricDivergence):
                distance = SymmetricDivergence(float(np.finfo(dtype).eps))
            self.triplets = PENALTIES[problem.penalty](side.triplets, side.weight, distance)
            if isinstance(self.triplets, TripletExponential):
                self.triplets.cap = LARGEST_EXPONENT[np.dtype(dtype)]

    @property
    def penalised(self) -> bool:
        """Whether triplets or a graph act here."""
        return self.triplets is not None or self.graph is not None

    @property
    def free(self) -> bool:
        """Whether the data alone act here."""
        return not self.penalised and self.tying is None

    def begin(self, F: np.ndarray) -> None:
        """Distances anew, at the start of a sweep."""
        if self.triplets is not None:
            self.near, self.far = self.triplets.near_far(F)

    def split(self, f: np.ndarray) -> Split:
        """Parts of the penalties' gradient in one column f of shape (n_rows, 1)."""
        parts = Split(np.zeros_like(f), np.zeros_like(f))
        if self.triplets is not None:
            self.triplets.add_split(f, *self.triplets.edges_at(self.near, self.far), parts)
            parts = parts.times(self.strength)
        if self.graph is not None:
            parts = parts.plus(self.graph.split(f).times(self.graph_strength))
        return parts

    def moved(self, old: np.ndarray, new: np.ndarray) -> None:
        """One column changed: the distances follow."""
        if self.triplets is not None:
            near_old, far_old = self.triplets.near_far(old)
            near_new, far_new = self.triplets.near_far(new)
            self.near += near_new - near_old
            self.far += far_new - far_old

    @property
    def recorded_strength(self) -> float:
        """That of the triplets, without any that of the graph."""
        return self.strength if self.triplets is not None or not self.graph else self.graph_strength

    def value(self, F: np.ndarray) -> float:
        """The penalties with their strengths."""
        total = self.strength * self.triplets.value(F) if self.triplets is not None else 0.0
        if self.graph is not None:
            total += self.graph_strength * self.graph.value(F)
        return total

    def rate(self, F: np.ndarray) -> float:
        """The share of the triplets that hold."""
        return self.triplets.satisfied_rate(F) if self.triplets is not None else np.nan


class Program:
    """One iteration of the program: a sweep, for RPR-NMF Divergence an accepted one."""

    def __init__(self, problem: Problem, view: BaseView):
        self.view = view
        self.loss = get_loss(problem.beta_loss)
        row_problem = str(self.loss.row_problem)  # `check` has refused losses that have none
        self.divergence = row_problem == "divergence"
        self.sums = make_column_sums(view, row_problem)
        self.eps = view.dtype.type(np.finfo(view.dtype).eps)
        self.sides = tuple(ProgramSide(problem, index, view.dtype) for index in (0, 1))
        self.adaptive = (
            self.divergence
            and problem.program == "rprnmf"
            and any(side.strength > 0 for side in self.sides)
        )
        self.last: float | None = None

    def start(self, W: np.ndarray, Ht: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The start is used as it is; tied rows begin at their mean."""
        for factor, side in zip((W, Ht), self.sides, strict=True):
            if side.tying is not None:
                factor[:] = side.tying.mean(factor)
        return W, Ht

    def __call__(self, W: np.ndarray, Ht: np.ndarray) -> Step | None:
        while True:
            done = self.sweep(W.copy(), Ht.copy())
            if not self.adaptive:
                return done
            accepted = self.last is None or done.values.objective <= self.last
            for side in self.sides:
                side.strength *= 1.01 if accepted else 0.5
            if accepted:
                self.last = done.values.objective
                return done
            if max(side.strength / max(side.count, 1) for side in self.sides) < WEAKEST:
                warnings.warn(
                    "solver='paper' stopped: no sweep lowers the objective although the strength "
                    f"of a triplet was halved to less than {WEAKEST}.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
                return None

    def sweep(self, W: np.ndarray, Ht: np.ndarray) -> Step:
        """All columns of W and rows of H, one after the other, in place."""
        self.sums.begin(W, Ht)
        for side, F in zip(self.sides, (W, Ht), strict=True):
            side.begin(F)
        rows, columns = self.sides
        for k in range(W.shape[1]):
            if rows.free:
                parts = self.sums.columns_after(k, self.eps)
            else:
                self.change(rows, W, k, *self.sums.rows(k))
                parts = self.sums.columns(k)
            self.change(columns, Ht, k, *parts)
        values = Values(self.loss.value(self.view, W, Ht), rows.value(W), columns.value(Ht))
        rates = rows.rate(W), columns.rate(Ht)
        return Step(W, Ht, values, rates, (rows.recorded_strength, columns.recorded_strength))

    def change(self, side: ProgramSide, F: np.ndarray, k: int, above, below) -> None:
        """The multiplicative update of one column."""
        old = np.ascontiguousarray(F[:, k : k + 1])
        if side.tying is not None:
            above, below = side.tying.sum(above), side.tying.sum(below)
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
