"""Which of several settings to take, by answers that were held out of their fits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Score(NamedTuple):
    """How one setting did: the rate in every fold, and whether each answer was met.

    NaN where it was not tried.
    """

    rates: np.ndarray
    met: np.ndarray


def gain(better: Score, worse: Score) -> tuple[float, float]:
    """By how much one setting is better than another, and the standard error of that.

    Differences are taken fold by fold, and answer by answer: what is difficult concerns both. The
    error is the larger of the two that follow. That of the folds knows that answers of a group go
    together, but a few folds may be alike by chance; that of the answers is steadier.
    """
    difference = better.rates - worse.rates
    return float(np.nanmean(difference)), max(
        error_of_mean(difference), error_of_mean(better.met - worse.met)
    )


def error_of_mean(values: np.ndarray) -> float:
    """The standard error of the mean of the values that are known."""
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else 0.0


def first_good(scores: list[Score], default: int | None, errors: float = 1.0) -> int:
    """The place of the setting to take, those listed first being preferred.

    The first that is within a standard error of the best and, if there is a default, better than
    that by more than so many standard errors; the default, if none is.

    Parameters
    ----------
    scores : list of Score
        All of the same folds.
    default : int or None
        The place of the setting that one would take without asking.
    errors : float
        Standard errors by which a setting must be better than the default.
    """
    best = int(np.argmax([np.nanmean(score.rates) for score in scores]))
    for place, score in enumerate(scores):
        lost, error = gain(scores[best], score)
        if lost <= error and (default is None or clearly_better(score, scores[default], errors)):
            return place
    return best if default is None else default


def clearly_better(better: Score, worse: Score, errors: float) -> bool:
    """Whether a setting is better than another by more than so many standard errors."""
    difference, error = gain(better, worse)
    return difference > errors * error
