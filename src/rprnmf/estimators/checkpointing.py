"""The checkpoint of a fit: what it belongs to, and what is said when a fit is interrupted."""

from __future__ import annotations

import os
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from rprnmf.array_file import FileFormatError
from rprnmf.checkpoints import Journal, RemoteJournal, digest
from rprnmf.objective import Problem
from rprnmf.remote import Placed

#: parameters that change what is seen of a fit, or how fast it is, not what comes out
FREE = ("callback", "n_jobs", "random_state", "verbose")
SCALARS = (bool, int, float, str, np.generic, type(None))


class Checkpoint(NamedTuple):
    """What ``fit`` was told of its checkpoint."""

    path: Any = None
    every: Any = None

    def checked(self) -> Checkpoint:
        """With a `Path` and a float, or None."""
        path, every = self
        if every is not None:
            number = isinstance(every, Real) and not isinstance(every, bool)
            if not number or not 0 <= every < np.inf:
                raise ValueError(
                    "checkpoint_every must be a number of seconds, 0 or more, or None; got "
                    f"{every!r}."
                )
            if path is None:
                raise ValueError(
                    f"checkpoint_every={every!r} needs a file: pass checkpoint= as well."
                )
            every = float(every)
        if path is None:
            return Checkpoint(None, every)
        if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
            raise TypeError(f"checkpoint must be the path of a file, or None; got {path!r}.")
        found = Path(os.fspath(path))
        if not found.parent.is_dir():
            raise FileNotFoundError(f"checkpoint={str(found)!r}: there is no such folder.")
        return Checkpoint(found, every)


def open_journal(
    estimator: Any, checkpoint: Checkpoint, problem: Problem, given: dict[str, Any]
) -> tuple[Journal, Any]:
    """The journal of a fit, and its random numbers.

    Parameters
    ----------
    estimator : ComposedNMF
    checkpoint : Checkpoint
        As `Checkpoint.checked` gives it.
    problem : Problem
        With priors, before anything was solved.
    given : dict
        What else the fit was given: X, start factors.
    """
    rng = check_random_state(estimator.random_state)
    make: Any = Journal
    X = given["X"]
    if isinstance(X, Placed):
        make = partial(RemoteJournal, X.pool, X.vault)
    if checkpoint.path is None:
        return make(), rng
    fingerprint = fingerprint_of(estimator, problem, given)
    if rng is not np.random.mtrand._rand:
        seed = estimator.random_state
        fingerprint["random_state"] = text_of(
            seed if isinstance(seed, Integral) else rng.get_state(False)
        )
        return make(checkpoint.path, fingerprint, checkpoint.every), rng
    # nobody gave a seed: where the random numbers began must be kept
    if rng.get_state(legacy=False)["bit_generator"] != "MT19937":
        rng = np.random.RandomState(rng.randint(2**31))
    fingerprint["random_state"] = "None"
    notes = {"random_state": rng.get_state()}
    journal = make(checkpoint.path, fingerprint, checkpoint.every, notes)
    if not journal.new:
        rng = np.random.RandomState()
        try:
            rng.set_state(journal.notes["random_state"])
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(
                f"checkpoint: {checkpoint.path} has no random numbers to go on with ({error!r})."
            ) from error
    return journal, rng


def fingerprint_of(estimator: Any, problem: Problem, given: dict[str, Any]) -> dict[str, str]:
    """All that the outcome of a fit depends on, each in a few letters."""
    import rprnmf  # it is loaded by now; only its version is wanted

    found = {"rprnmf": rprnmf.__version__, "estimator": type(estimator).__name__}
    clean: dict[str, Any] = {}  # what became of parameters that are tables
    for name, side in (("row", problem.rows), ("column", problem.columns)):
        clean[f"{name}_graph"] = side.graph
        clean[f"{name}_prior"] = None if side.prior is None else side.prior.features
    for name, value in estimator.get_params(deep=False).items():
        if name not in FREE:
            found[name] = text_of(value if isinstance(value, SCALARS) else clean.get(name, value))
    found |= {name: text_of(value) for name, value in given.items()}
    for name, side in (("row", problem.rows), ("column", problem.columns)):
        found[f"{name} triplets"] = text_of(side.triplets)
        found[f"{name} weights of triplets"] = text_of(side.weight)
        found[f"{name} labels"] = text_of(side.groups)
    return found


def text_of(value: Any) -> str:
    """A number or a name as it is; a digest of everything else."""
    if isinstance(value, SCALARS):
        return repr(value.item() if isinstance(value, np.generic) else value)
    size = " x ".join(map(str, value.shape)) + " " if hasattr(value, "shape") else ""
    return f"{size}({digest(value)[:12]})"


def interrupted(n_iter: int, path: Path | None) -> KeyboardInterrupt:
    """What is raised after Ctrl-C: what there is, and how to go on."""
    if n_iter:
        text = f"the fit was stopped after {n_iter} iterations, and the model has their factors."
    else:
        text = "the fit was stopped, and the model is as it was."
    if path is None:
        text += " With checkpoint='a file' the same call could go on from there."
    else:
        text += f" The same call goes on from {path}."
    return KeyboardInterrupt(text)
