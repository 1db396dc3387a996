"""A fit whose X lies in blocks: placed, fitted, and begun again where blocks were lost."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from rprnmf.estimators.checkpointing import Checkpoint
from rprnmf.remote import BlocksLostError, Placed, placed

LOSSES = 100  # of workers that one fit bears
IN_A_ROW = 4  # of them without anything that could be saved in between
COMEBACK = 120.0  # seconds to wait for workers, where none is left


class WorkerLostWarning(RuntimeWarning):
    """A worker died, and the fit went back to what was saved last."""


def fit_where_it_lies(
    fit: Callable[..., Any],
    X: Any,
    weights: Any,
    checkpoint: Checkpoint,
    rng: Any,
    missing: str | None,
) -> Any:
    """Fit a Dask array on the scheduler that is active.

    Parameters
    ----------
    fit : callable
        Of the placed array and the checkpoint; it may be called again.
    X : dask array
    weights : dask array or None
        Of its entries.
    checkpoint : Checkpoint
    rng : int, RandomState or None
        Where the random numbers of the fit come from: each attempt must begin at the same.
    missing : str or None
        As for `make_view`.
    """
    state = rng_state(rng)
    here = placed(X, weights, missing)
    vault = here.vault
    in_a_row, n_saves = 0, 0
    try:
        for attempt in range(LOSSES + 1):
            try:
                return fit(here, checkpoint)
            except BlocksLostError as error:
                in_a_row = in_a_row + 1 if vault.n_saves == n_saves else 1
                n_saves = vault.n_saves
                if attempt == LOSSES or in_a_row == IN_A_ROW:
                    raise BlocksLostError(
                        f"{error} Workers were lost {in_a_row} times in a row before the fit came "
                        "to a state that could be saved, so it was given up. Most often a block "
                        "and what is made of it are larger than the memory of a worker: cut X "
                        "into smaller chunks, or give workers more; their logs say why they died."
                    ) from error
                warnings.warn(
                    f"{error} The fit goes on from what was saved last.",
                    WorkerLostWarning,
                    stacklevel=2,
                )
                set_rng_state(rng, state)
                here = again(here, X, weights, missing)
        raise AssertionError("not reached")
    finally:
        here.pool.close()
        if vault is not None:
            vault.close()


def again(before: Placed, X: Any, weights: Any, missing: str | None) -> Placed:
    """X in a new pool, on the workers that are left or came back."""
    before.pool.close()
    began = time.monotonic()
    while True:
        try:
            here = placed(X, weights, missing)
            here.vault = before.vault
            return here
        except BlocksLostError:
            if time.monotonic() - began > COMEBACK:
                raise
            time.sleep(0.5)


def rng_state(rng: Any) -> Any:
    """The state of a generator that is used up by a fit."""
    if rng is None or rng is np.random:
        rng = np.random.mtrand._rand
    return copy.deepcopy(rng.get_state(legacy=False)) if hasattr(rng, "get_state") else None


def set_rng_state(rng: Any, state: Any) -> None:
    """Bring a generator back to a state."""
    if state is not None:
        (np.random.mtrand._rand if rng is None or rng is np.random else rng).set_state(state)
