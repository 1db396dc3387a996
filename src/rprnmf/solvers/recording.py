"""One solve in the journal of a fit: how far it is, and how to go on from there.

A step that remembers anything but the factors says so: ``state()`` gives all that its later
iterations depend on, as nested dicts, lists, numbers and arrays that it does not change
afterwards, and ``restore(state, W, Ht)`` brings it there. A plain function of the factors needs
neither.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from rprnmf.array_file import FileFormatError
from rprnmf.checkpoints import Journal
from rprnmf.remote import RemoteArray
from rprnmf.solvers.result import HISTORY, Result

#: the rows of a factor may lie elsewhere
ARRAYS = (np.ndarray, RemoteArray)


class Recording:
    """Keeps one solve in a journal.

    Parameters
    ----------
    journal : Journal
    step : callable
        One iteration.
    result : Result
        With the start factors; after `resume` with those of the journal.

    Attributes
    ----------
    active : bool
        Whether there is anything to keep: without a checkpoint nothing costs time.
    finished : bool
        Whether the journal has the end of this solve.
    steady : int
        Iterations since a strength last changed.
    seconds : float
        That it took before this process.
    """

    def __init__(self, journal: Journal, step: Any, result: Result):
        self.journal, self.step, self.result = journal, step, result
        self.entry = journal.begin("solve")
        self.active = self.entry is not None
        self.finished, self.steady, self.seconds = False, 0, 0.0
        if self.entry is not None and self.entry.values is not None:
            self._resume(self.entry.values)
            self.finished = self.entry.finished

    def keep(self, steady: int) -> None:
        """After an iteration that is not the last."""
        if self.entry is not None:
            self.entry.values = self._snapshot(steady)
            self.journal.write_if_due()

    def finish(self, steady: int) -> None:
        """After the last iteration."""
        if self.entry is not None:
            self.entry.finish(self._snapshot(steady)())
            self.journal.write_if_due()

    def _snapshot(self, steady: int) -> Any:
        """A function that gives the values of now whenever it is called: most are never written."""
        result, n_iter = self.result, self.result.n_iter
        lines = result.history  # a list that only grows; `result` may get another
        W, Ht, converged, stopped = result.W, result.Ht, result.converged, result.stopped
        state = self.step.state() if hasattr(self.step, "state") else None

        def values() -> dict[str, Any]:
            history = np.array(lines[:n_iter], dtype=np.float64)
            return {
                "W": W,
                "Ht": Ht,
                "converged": converged,
                "stopped": stopped,
                "history": history.reshape(-1, len(HISTORY.names or ())),
                "steady": steady,
                "step": state,
            }

        return values

    def _resume(self, values: Any) -> None:
        result = self.result
        try:
            W, Ht = like(values["W"], result.W), like(values["Ht"], result.Ht)
            rows = np.asarray(values["history"], dtype=np.float64)
            history = [tuple(row) for row in rows.reshape(-1, len(HISTORY.names or ())).tolist()]
            converged, stopped = bool(values["converged"]), bool(values["stopped"])
            if values["step"] is not None:
                check_form(values["step"], self.step.state())
                self.step.restore(values["step"], W, Ht)
            self.steady = int(values["steady"])
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise FileFormatError(
                f"checkpoint: {self.journal.path} does not hold what this fit needs ({error!r})."
            ) from error
        result.W, result.Ht, result.history = W, Ht, history
        result.converged, result.stopped = converged, stopped
        self.seconds = history[-1][-1] if history else 0.0


def check_form(found: Any, fresh: Any, name: str = "step") -> None:
    """A state must have the form of that of a new step; what is None there may be a number.

    Parts that come into being later are numbers, or arrays that ``restore`` itself must check.
    """
    if isinstance(fresh, dict) and isinstance(found, dict) and fresh.keys() <= found.keys():
        for key, value in found.items():
            check_form(value, fresh.get(key), f"{name}.{key}")
    elif isinstance(fresh, ARRAYS):
        like(found, fresh)
    elif isinstance(fresh, (list, tuple)) and isinstance(found, (list, tuple)):
        for one, other in zip(found, fresh, strict=True):
            check_form(one, other, name)
    elif fresh is None:
        arrays = isinstance(found, tuple) and all(isinstance(each, ARRAYS) for each in found)
        if not (found is None or isinstance(found, Real) or arrays):
            raise ValueError(f"{name} cannot be a {type(found).__name__}")
    elif not (isinstance(fresh, Real) and isinstance(found, Real)):
        raise ValueError(f"{name} cannot be a {type(found).__name__}")


def like(found: Any, expected: Any) -> Any:
    """A copy of an array that must be of the same kind as another: compiled code trusts it."""
    if not isinstance(found, ARRAYS) or (found.shape, found.dtype) != (
        expected.shape,
        expected.dtype,
    ):
        raise ValueError(
            f"expected an array of {expected.dtype} with the shape {expected.shape}, got "
            f"{type(found).__name__} {getattr(found, 'dtype', '')} {np.shape(found)}"
        )
    return found.copy(order="K")
