"""Alternate, record, stop, call back: the same for every solver."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rprnmf.checkpoints import Journal
from rprnmf.losses import Loss
from rprnmf.objective import Objective, Point, Values
from rprnmf.progress import FitProgress, Told
from rprnmf.remote import RemoteArray, as_dask
from rprnmf.solvers.recording import Recording
from rprnmf.solvers.result import Result

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
    progress : FitProgress or None
        Shows how far the fit is.
    journal : Journal
        Keeps what is done, where there is a checkpoint.
    main : bool
        Whether the factors of this solve are those of the fit. Other solves find strengths and
        the like.
    """

    max_iter: int = 200
    tol: float = 1e-4
    callback: Callable[[State], object] | None = None
    progress: FitProgress | None = None
    journal: Journal = field(default_factory=Journal)
    main: bool = True

    def aside(self, max_iter: int, tol: float = 0.0) -> Settings:
        """For a short solve of the same fit that finds strengths and the like."""
        return replace(self, max_iter=max_iter, tol=tol, callback=None, main=False)


def alternate(
    step: Callable[[np.ndarray, np.ndarray], Step | None],
    result: Result,
    loss: Loss,
    settings: Settings,
    unit_of_W: float = 1.0,
) -> Result:
    """Call ``step`` until the objective stands still, ``step`` gives up, or ``max_iter``.

    Ctrl-C stops the main solve of a fit as a callback does: the factors of the last iteration
    stay. Other solves have nothing that is worth keeping.

    Parameters
    ----------
    step : callable
        One iteration; returns None when it cannot go on. What it remembers beside the factors is
        in its ``state()`` (`recording.py`).
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
    recording = Recording(settings.journal, step, result)
    if not recording.finished:
        try:
            _iterate(step, result, recording, loss, settings, unit_of_W)
        except KeyboardInterrupt:
            if not settings.main or not result.history:
                raise
            result.stopped = result.interrupted = True
    if settings.progress is not None and settings.main and not result.interrupted:
        settings.progress.solved()
    return result


def _iterate(
    step: Callable[[np.ndarray, np.ndarray], Step | None],
    result: Result,
    recording: Recording,
    loss: Loss,
    settings: Settings,
    unit_of_W: float,
) -> None:
    steady = recording.steady  # iterations since a strength last changed
    started = time.perf_counter() - recording.seconds
    for iteration in range(result.n_iter + 1, settings.max_iter + 1):
        done = step(result.W, result.Ht)
        if done is None:
            break
        result.W, result.Ht = done.W, done.Ht
        steady = steady + 1 if done.settled else 0
        seconds = time.perf_counter() - started
        values = done.values
        result.history.append((values.objective, *values, *done.rates, *done.strengths, seconds))
        if settings.progress is not None:
            told = Told(iteration, values.objective, values.loss, done.rates, seconds)
            settings.progress.iteration(told, settings.main)
        if settings.callback is not None:
            state = State(
                iteration,
                values.objective,
                values.loss,
                unit_of_W * loss.reconstruction_err(values.loss),
                *done.rates,
                told_rows(unit_of_W * done.W),
                done.Ht.T.copy(),
                seconds,
            )
            if settings.callback(state):
                result.stopped = True
                break
        if settings.tol > 0 and steady > WINDOW and stands_still(result.history, settings.tol):
            result.converged = True
            break
        if recording.active:  # after all that may stop: what was stopped must not go on
            recording.keep(steady)
    recording.finish(steady)


def told_rows(W: Any) -> Any:
    """W as users get it."""
    return as_dask(W) if isinstance(W, RemoteArray) else W


def stands_still(history: list[tuple[float, ...]], tol: float) -> bool:
    """Whether neither the objective nor the loss would still change by the fraction ``tol``.

    The loss is looked at too: where triplets contradict each other their penalty is large and
    constant, and beside it a falling loss would not show.
    """
    before, now = history[-1 - WINDOW], history[-1]
    pace = AHEAD / WINDOW
    objective, loss = (pace * (before[place] - now[place]) for place in (0, 1))
    return objective <= tol * before[0] and abs(loss) <= tol * before[1]
