"""Fits that are killed at every checkpoint, and what must come out of them."""

from __future__ import annotations

import shutil
import warnings

import numpy as np
from sklearn.base import clone

from rprnmf.checkpoints import digest, journal


def outcome(model):
    """All that a fit has set, each as a digest; the seconds of its history apart."""
    found = {name: value for name, value in vars(model).items() if name != "history_"}
    history = {name: model.history_[name] for name in model.history_.dtype.names}
    history.pop("seconds")
    for parameter in model.get_params(deep=False):
        found.pop(parameter)
    return {name: digest(value) for name, value in {**found, **history}.items()}


def quietly(model, X, **given):
    """The fitted model; that it has not converged is no matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, **given)


def copies_of_checkpoints(monkeypatch, folder, model, X, every=0.0, **given):
    """Fit, and copy the checkpoint each time that it is written: a kill may leave any of them."""
    path, copies = folder / "run.ckpt", []
    write = journal.write_arrays

    def write_and_copy(path, *content, **kind):
        write(path, *content, **kind)
        copies.append(folder / f"copy{len(copies)}.ckpt")
        shutil.copy(path, copies[-1])

    with monkeypatch.context() as patch:
        patch.setattr(journal, "write_arrays", write_and_copy)
        quietly(model, X, checkpoint=path, checkpoint_every=every, **given)
    return copies


def check_resumed(monkeypatch, folder, model, X, n_copies=6, **given):
    """From any checkpoint the same call ends as a fit without interruption does."""
    expected = outcome(quietly(clone(model), X, **given))
    whole = clone(model)
    copies = copies_of_checkpoints(monkeypatch, folder, whole, X, **given)
    assert outcome(whole) == expected
    chosen = np.unique(np.linspace(0, len(copies) - 1, n_copies).astype(int))
    for number in chosen:
        again = clone(model)
        quietly(again, X, checkpoint=copies[number], **given)
        assert outcome(again) == expected, f"from checkpoint {number} of {len(copies)}"
    return len(copies)
