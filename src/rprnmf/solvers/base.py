"""What a solver says of itself: its defaults and units, what it can do, and what it refuses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from rprnmf.losses import Loss, get_loss
from rprnmf.objective import Problem
from rprnmf.observed import BaseView
from rprnmf.penalties import PENALTIES
from rprnmf.solvers.fold_in import fold_in
from rprnmf.solvers.loop import Settings
from rprnmf.solvers.result import Result


class Solver(ABC):
    """A way to the minimum.

    Attributes
    ----------
    name : str
        The value of the estimators' parameter ``solver``.
    automatic : bool
        Whether it can choose strengths; if not, a strength of "auto" is 1.
    uses_tol : bool
        Whether ``tol`` stops it.
    default_init : str or None
        The start factors with ``init=None``; None: as scikit-learn chooses them.
    needs_nonzero_start : bool
        Whether what is zero in the start stays zero.
    takes_blocks : bool
        Whether the rows of X and of W may lie elsewhere, in blocks.
    """

    name: ClassVar[str]
    automatic: ClassVar[bool] = True
    uses_tol: ClassVar[bool] = True
    default_init: ClassVar[str | None] = None
    needs_nonzero_start: ClassVar[bool] = False
    takes_blocks: ClassVar[bool] = True

    def default_penalty(self, beta_loss: str | float) -> tuple[str, str]:
        """The penalty and the distance that "auto" stands for."""
        return "squared_hinge", "euclidean"

    @abstractmethod
    def check(self, problem: Problem) -> None:
        """Raise an error that names both parts where it cannot solve a problem."""

    @abstractmethod
    def solve(self, problem: Problem, start: list[np.ndarray], settings: Settings) -> Result:
        """Minimise the objective from a start [W, Ht], which is emptied."""

    def fold_in(
        self, problem: Problem, Ht: np.ndarray, known: Any, settings: Settings
    ) -> np.ndarray:
        """Rows for new rows of X, the components fixed: see `fold_in.py`."""
        return fold_in(problem, Ht, known, settings.max_iter, settings.tol)

    def check_margin(self, problem: Problem) -> None:
        """Penalties that need a margin must have one."""
        penalised = any(len(side.triplets) > 0 for side in problem.sides)
        if penalised and PENALTIES[problem.penalty].needs_margin and problem.margin is None:
            raise ValueError(
                f"solver={self.name!r} needs a margin for penalty={problem.penalty!r}, got None."
            )

    def check_row_problem(self, problem: Problem, known: list[str]) -> None:
        """The loss must pose one of these row problems."""
        loss = get_loss(problem.beta_loss)
        if loss.row_problem not in known:
            raise ValueError(
                f"Invalid beta_loss parameter: solver {self.name!r} does not handle beta_loss = "
                f"{problem.beta_loss!r}: it needs a loss whose row problem is one of "
                f"{', '.join(map(repr, known))}, and this loss has none of these; use solver='mu'."
            )
        if not poses_its_row_problem(problem.view, loss):
            raise ValueError(
                f"solver {self.name!r} cannot trust beta_loss = {problem.beta_loss!r}: it says "
                f"that its row problem is {loss.row_problem!r}, but its value is another; use "
                "solver='mu'."
            )


def poses_its_row_problem(view: BaseView, loss: Loss) -> bool:
    """Whether the value of a loss is the one for which its row problem is solved.

    Looked at on a few rows: a multiple of the squared error, say, has the same gradient but for a
    factor, and steps that take it for the squared error itself would go astray in silence.
    """
    part = view.take(np.arange(min(view.shape[0], 4)))
    if part.n_observed == 0:
        return True
    unit = np.sqrt(part.mean or 1.0)
    F, G = (
        (unit * (1.0 + np.arange(2 * n).reshape(n, 2) % 3)).astype(part.dtype) for n in part.shape
    )
    values = {"quadratic": part.squared_error, "divergence": part.divergence}
    exact = values[str(loss.row_problem)](F, G)
    return bool(np.isclose(loss.value(part, F, G), exact, rtol=1e-3))
