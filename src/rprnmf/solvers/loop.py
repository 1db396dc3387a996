"""Alternate, record, stop, call back: the same for every solver."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rprnmf.losses import Loss
from rprnmf.objective import Objective, Point, Values

HISTORY = np.dtype(
    [
        (name, np.float64)
        for name in (
            "objective",
            "loss",
            "row_penalty",
            "column_penalty",
            "row_satisfied_rate",
            "column_satisfied_rate",
            "row_strength",
            "column_strength",
            "seconds",
        )
    ]
)
# The pace of the last ten iterations, carried on for a hundred: one slow iteration must not stop
# a fit, and steps that are small but steady add up.
WINDOW, AHEAD = 10, 100


@dataclass
class Step:
    """Where one iteration ended."""

    W: np.ndarray
    Ht: np.ndarray
    values: Values
    rates: tuple[float, float]
    strengths: tuple[float, float]
    settled: bool = True  # whether the strengths were those of the step before

    @classmethod
    def at(cls, objective: Objective, point: Point, settled: bool = True) -> Step:
        """The step that ended at a point, recorded with the strengths of an objective."""
        rows, columns = objective.terms
        return cls(
            *point.factors,
            point.values(objective),
            (point.looks[0].rate, point.looks[1].rate),
            (rows.recorded_strength, columns.recorded_strength),
            settled,
        )


@dataclass(frozen=True)
class State:
    """What a callback is told after every iteration; W and H are copies."""

    iteration: int
    objective: float
    loss: float
    reconstruction_err: float
    row_satisfied_rate: float
    column_satisfied_rate: float
    W: np.ndarray
    H: np.ndarray
    seconds: float


@dataclass
class Settings:
    """When to stop, and what to report meanwhile.

    Parameters
    ----------
    max_iter : int
    tol : float
        Stop when, at the pace of the last ten iterations, a hundred more would change the
        objective, and the loss, by less than this fraction; 0: only ``max_iter`` stops.
    callback : callable or None
        Called with a `State`; returning True stops.
    verbose : int
        Print a line every 10 iterations, every iteration if above 1.
    """

    max_iter: int = 200
    tol: float = 1e-4
    callback: Callable[[State], object] | None = None
    verbose: int = 0


@dataclass
class Result:
    """The outcome of one run."""

    W: np.ndarray
    Ht: np.ndarray
    converged: bool = False
    stopped: bool = False
    history: list[tuple[float, ...]] = field(default_factory=list)
    objective: Objective | None = None  # as it was at the end: strengths and margins may change
    chances: Any = (
        None  # of answers on both sides, where triplets taught (`estimators/teaching.py`)
    )

    @property
    def n_iter(self) -> int:
        """Iterations that were done."""
        return len(self.history)

    def history_array(self) -> np.ndarray:
        """The history as one structured array, one row per iteration."""
        return np.array(self.history, dtype=HISTORY)


def alternate(
    step: Callable[[np.ndarray, np.ndarray], Step | None],
    result: Result,
    loss: Loss,
    settings: Settings,
    unit_of_W: float = 1.0,
) -> Result:
    """Call ``step`` until the objective stands still, ``step`` gives up, or ``max_iter``.

    Parameters
    ----------
    step : callable
        One iteration; returns None when it cannot go on.
    result : Result
        With the start factors. No other name should hold them: they may be as large as X.
    loss : Loss
    settings : Settings
    unit_of_W : float
        What the solver divided X by; callbacks see W in X's own unit.

    Returns
    -------
    result : Result
        The same, with all that happened.
    """
    steady = 0  # iterations since a strength last changed
    started = time.perf_counter()
    for iteration in range(1, settings.max_iter + 1):
        done = step(result.W, result.Ht)
        if done is None:
            break
        result.W, result.Ht = done.W, done.Ht
        steady = steady + 1 if done.settled else 0
        seconds = time.perf_counter() - started
        values = done.values
        result.history.append((values.objective, *values, *done.rates, *done.strengths, seconds))
        if settings.verbose > 1 or (settings.verbose and iteration % 10 == 0):
            print(_line(iteration, done, seconds))
        if settings.callback is not None:
            state = State(
                iteration,
                values.objective,
                values.loss,
                unit_of_W * loss.reconstruction_err(values.loss),
                *done.rates,
                unit_of_W * done.W,
                done.Ht.T.copy(),
                seconds,
            )
            if settings.callback(state):
                result.stopped = True
                break
        if settings.tol > 0 and steady > WINDOW and stands_still(result.history, settings.tol):
            result.converged = True
            break
    return result


def stands_still(history: list[tuple[float, ...]], tol: float) -> bool:
    """Whether neither the objective nor the loss would still change by the fraction ``tol``.

    The loss is looked at too: where triplets contradict each other their penalty is large and
    constant, and beside it a falling loss would not show.
    """
    before, now = history[-1 - WINDOW], history[-1]
    pace = AHEAD / WINDOW
    objective, loss = (pace * (before[place] - now[place]) for place in (0, 1))
    return objective <= tol * before[0] and abs(loss) <= tol * before[1]


def _line(iteration: int, done: Step, seconds: float) -> str:
    text = f"iteration {iteration:4d}  objective {done.values.objective:.6g}"
    text += f"  loss {done.values.loss:.6g}"
    for name, rate in zip(("row", "column"), done.rates, strict=True):
        if not np.isnan(rate):
            text += f"  {name} triplets met {100 * rate:.1f} %"
    return f"{text}  {seconds:.1f} s"
