"""Which of several settings to take, by answers that were held out of their fits."""

from __future__ import annotations

import numpy as np


def gain(better: np.ndarray, worse: np.ndarray) -> tuple[float, float]:
    """By how much one setting is better than another, and the standard error of that.

    Both have one score per fold, NaN where they were not tried. The differences are taken fold
    by fold: what a fold has more of difficult triplets than another concerns both.
    """
    difference = (better - worse)[~np.isnan(better - worse)]
    if len(difference) == 0:
        return np.inf, 0.0  # they were never tried together: one was dropped before
    if len(difference) == 1:
        return float(difference[0]), 0.0
    return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))


def first_good(scores: np.ndarray, default: int | None) -> int:
    """The place of the setting to take, those listed first being preferred.

    The first that is within a standard error of the best and, if there is a default, better than
    that by more than a standard error; the default, if none is.

    Parameters
    ----------
    scores : ndarray of shape (n_settings, n_splits)
        Higher is better; NaN where a setting was not tried.
    default : int or None
        The place of the setting that one would take without asking.
    """
    best = int(np.nanargmax(np.nanmean(scores, axis=1)))
    for place, row in enumerate(scores):
        lost, error = gain(scores[best], row)
        if lost <= error and (default is None or clearly_better(row, scores[default])):
            return place
    return best if default is None else default


def clearly_better(better: np.ndarray, worse: np.ndarray) -> bool:
    """Whether a setting is better than another by more than a standard error."""
    difference, error = gain(better, worse)
    return difference > error
