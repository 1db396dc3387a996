"""The table of settings that were tried, and which of them to take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rprnmf.model_selection.recommend import Score, first_good


@dataclass(frozen=True, eq=False)
class SettingsTable:
    """What settings do for triplets that were held out, and for X.

    Attributes
    ----------
    settings : list of dict
        Parameters for ``set_params``; the first are the estimator as it is with "auto".
    satisfied : ndarray of shape (n_settings, n_splits)
        The fraction of the held-out triplets' weight that the factors meet; higher is better. NaN
        in folds that came after a setting was dropped.
    losses : ndarray of shape (n_settings, n_splits)
        Mean loss of an entry of X, all of which the fits have seen.
    met : ndarray of shape (n_settings, n_triplets)
        Whether each triplet was met by the fit that it was held out of: 1, 0 or NaN; rows first.
    """

    settings: list[dict[str, Any]]
    satisfied: np.ndarray
    losses: np.ndarray
    met: np.ndarray

    @property
    def satisfied_mean(self) -> np.ndarray:
        """Mean over the folds in which a setting was tried."""
        return np.nanmean(self.satisfied, axis=1)

    @property
    def loss_mean(self) -> np.ndarray:
        """Mean over the folds in which a setting was tried."""
        return np.nanmean(self.losses, axis=1)

    @property
    def recommended(self) -> dict[str, Any]:
        """The settings to fit with: ``estimator.set_params(**table.recommended)``.

        The first of the settings that were tried in all folds that is within a standard error of
        the best, if it is better than the estimator as it is by more than a standard error.
        """
        return self.settings[self._place]

    @property
    def _place(self) -> int:
        whole = np.flatnonzero(~np.isnan(self.satisfied).any(axis=1))  # 0 is one of them
        scores = [Score(self.satisfied[at], self.met[at]) for at in whole]
        return int(whole[first_good(scores, 0)])

    def __str__(self) -> str:
        lines = ["held-out triplets met   loss of an entry   settings"]
        tried = np.sum(~np.isnan(self.satisfied), axis=1)
        for place, setting in enumerate(self.settings):
            text = ", ".join(f"{name}={short(value)}" for name, value in setting.items())
            mark = "  <- recommended" if place == self._place else ""
            if tried[place] < self.satisfied.shape[1]:
                mark = f"  (dropped after {tried[place]} folds)"
            lines.append(
                f"{self.satisfied_mean[place]:21.3f}   {self.loss_mean[place]:16.6g}   {text}{mark}"
            )
        return "\n".join(lines)


def short(value: Any) -> str:
    """A value in few letters; tables of features by their shape."""
    shape = np.shape(value)
    return repr(value) if len(shape) == 0 else f"<{' x '.join(map(str, shape))}>"
