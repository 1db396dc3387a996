"""Ways to the minimum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rprnmf.objective import Problem
from rprnmf.solvers import coordinate_descent, multiplicative, paper
from rprnmf.solvers.loop import Result, Settings

Solver = Callable[[Problem, list[np.ndarray], Settings], Result]

SOLVERS: dict[str, Solver] = {
    "cd": coordinate_descent.solve,
    "mu": multiplicative.solve,
    "paper": paper.solve,
}

__all__ = ["SOLVERS", "Result", "Settings", "Solver"]
