"""How strong the priors of a stream are: as new rows ask for that H has not seen.

A search on the first block finds what few data want; later the pull must become weaker. A tenth
of the entries of every block is held out, the rows are placed without them at the present level,
at half of it and at twice of it, and when enough entries have spoken the level moves.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rprnmf.estimators.prior_weight import ENOUGH, bend, held_out
from rprnmf.losses import get_loss
from rprnmf.objective import Problem
from rprnmf.solvers.stream import place_rows

POWERS = (-1, 0, 1)  # of 2, by which other levels are tried


def trial_errors(problem: Problem, Ht: np.ndarray) -> np.ndarray:
    """Loss of held-out entries at the levels of `POWERS`, and how many entries they are.

    Parameters
    ----------
    problem : Problem
        Of the rows of a block, with their prior.
    Ht : ndarray of shape (n_columns, n_components)
    """
    train, test = held_out(problem.view)[0]
    prior, loss = problem.rows.prior, get_loss(problem.beta_loss)
    assert prior is not None
    errors = []
    for power in POWERS:
        rows = replace(problem.rows, prior=prior.times(2.0**power))
        W = place_rows(replace(problem, view=train, rows=rows), Ht)
        errors.append(max(loss.value(test, W, Ht), 0.0))
    return np.array([*errors, test.mass])


def moved(errors: np.ndarray) -> tuple[float, np.ndarray]:
    """What the level is multiplied by, and the errors to go on with."""
    if errors[-1] < ENOUGH:
        return 1.0, errors
    found = dict(zip(POWERS, errors, strict=False))
    power = min(POWERS, key=lambda one: (found[one], abs(one)))
    step = power + bend(found, power) if power == 0 else power
    return float(2.0**step), np.zeros(len(errors))
