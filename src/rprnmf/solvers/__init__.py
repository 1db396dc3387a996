"""Ways to the minimum."""

from __future__ import annotations

from rprnmf.solvers.base import Solver
from rprnmf.solvers.coordinate_descent import CoordinateDescentSolver
from rprnmf.solvers.loop import Settings
from rprnmf.solvers.multiplicative import MultiplicativeSolver
from rprnmf.solvers.paper import PaperSolver
from rprnmf.solvers.result import Result

SOLVERS: dict[str, Solver] = {
    solver.name: solver
    for solver in (CoordinateDescentSolver(), MultiplicativeSolver(), PaperSolver())
}

__all__ = ["SOLVERS", "Result", "Settings", "Solver"]
