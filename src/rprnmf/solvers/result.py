"""The outcome of one run of a solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rprnmf.objective import Objective

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


@dataclass
class Result:
    """The outcome of one run."""

    W: np.ndarray
    Ht: np.ndarray
    converged: bool = False
    stopped: bool = False  # by a callback, or by Ctrl-C
    interrupted: bool = False  # by Ctrl-C
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
