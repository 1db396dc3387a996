"""What did answers buy, and what would more of them buy? Ask answers that the fit has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from rprnmf.checks import axis_names, summable
from rprnmf.metrics import triplet_distances
from rprnmf.model_selection.answers import known_answers, triplet_folds
from rprnmf.progress import Progress

RESAMPLES = 500
INTERVAL = (2.5, 97.5)  # per cent


@dataclass(frozen=True, eq=False, repr=False)
class TripletLearningCurve:
    """Accuracy against the number of answers.

    Attributes
    ----------
    train_sizes : ndarray of shape (n_sizes,)
        Answers that were fitted.
    accuracy : ndarray of shape (n_sizes,)
        The share of the weight of answers that were not fitted which the factors meet.
    low, high : ndarray of shape (n_sizes,)
        95 % interval of it: groups of answers are resampled.
    resampled : ndarray of shape (n_resamples, n_sizes)
        The accuracy in every resample.
    """

    train_sizes: np.ndarray
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray
    resampled: np.ndarray

    def predict(self, n_answers: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The accuracy to expect with other numbers of answers, and its 95 % interval.

        The rule: the share of wrong answers is floor + slope / sqrt(number of answers), neither
        negative, by least squares; the interval is that of the resamples. It does not know whether
        the rule goes on to hold, so do not ask for many times the answers that there are.

        Parameters
        ----------
        n_answers : int or array-like of int

        Returns
        -------
        accuracy, low, high : ndarray
        """
        n = np.asarray(n_answers, dtype=np.float64)
        if (n <= 0).any():
            raise ValueError(f"n_answers must be positive, got {n_answers}.")
        floor, slope = rule(self.train_sizes, self.accuracy[None])
        floors, slopes = rule(self.train_sizes, self.resampled)
        each = 1.0 - floors - slopes / np.sqrt(n[..., None])
        low, high = np.percentile(each, INTERVAL, axis=-1)
        return 1.0 - floor[0] - slope[0] / np.sqrt(n), low, high

    def __str__(self) -> str:
        lines = ["answers   unseen ones predicted (95 % interval)"]
        rows = zip(self.train_sizes, self.accuracy, self.low, self.high, strict=True)
        lines += [f"{n:7}   {mean:.3f} ({a:.3f} to {b:.3f})" for n, mean, a, b in rows]
        twice = 2 * int(self.train_sizes[-1])
        mean, a, b = self.predict(twice)
        lines.append(f"{twice:7}   {mean:.3f} ({a:.3f} to {b:.3f}) to be expected")
        return "\n".join(lines)

    __repr__ = __str__


def rule(train_sizes: np.ndarray, accuracy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Floor and slope of the share of wrong answers, for every row of ``accuracy``."""
    x, wrong = 1.0 / np.sqrt(train_sizes), 1.0 - accuracy
    apart = x - x.mean()
    slope = np.maximum(wrong @ apart / max(float(apart @ apart), 1e-300), 0.0)
    floor = wrong.mean(axis=1) - slope * x.mean()
    # without a floor the line goes through the origin
    through = wrong @ x / float(x @ x)
    return np.maximum(floor, 0.0), np.where(floor < 0.0, through, slope)


def triplet_learning_curve(
    estimator: Any,
    X: Any,
    triplets: Any,
    *,
    side: str = "row",
    groups: Any = None,
    train_sizes: Sequence[float] = (0.1, 0.2, 0.4, 0.7, 1.0),
    n_splits: int = 5,
    random_state: Any = None,
    verbose: int = 1,
    **fit_params: Any,
) -> TripletLearningCurve:
    """Accuracy on answers that were held out, against the number of answers that were fitted.

    Cross-validation: every answer is held out once, and models are fitted with growing parts of
    the others. Answers that `next_queries` chose are harder than others: the accuracy is that of
    questions such as were asked.

    Parameters
    ----------
    estimator : RPRNMF
        Is cloned; best with ``row_prior="data"``, whose answers teach.
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
    triplets : Triplets or array-like of shape (n_triplets, 3)
        The answers.
    side : {"row", "column"}, default="row"
    groups : array-like of shape (n_triplets,), default=None
        Answers of a group (a screen, a worker) are held out together, and fitted one group after
        the other; None: those to the same question, whichever way it was answered.
    train_sizes : sequence of float or int, default=(0.1, 0.2, 0.4, 0.7, 1.0)
        Fractions of the answers that are left when a part is held out, or numbers of them.
    n_splits : int, default=5
    random_state : int, RandomState instance or None, default=None
        Of the folds, the parts and the resamples.
    verbose : int, default=1
        0 is silent; 1 shows how far it is.
    **fit_params : dict
        Go to ``fit``, e.g. ``row_names``, or triplets of the other side.

    Returns
    -------
    curve : TripletLearningCurve
        With ``train_sizes``, ``accuracy``, ``low`` and ``high``, ready to plot, and
        ``predict`` for more answers; ``print`` it for a table.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import RPRNMF
    >>> from rprnmf.model_selection import triplet_learning_curve
    >>> from rprnmf.triplets import triplets_from_features
    >>> X = np.random.default_rng(0).random((30, 5))
    >>> known = triplets_from_features(X[:, :2], 200, random_state=0)
    >>> model = RPRNMF(3, row_prior="data", tol=0.01, random_state=0)
    >>> curve = triplet_learning_curve(model, X, known, random_state=0, verbose=0)
    >>> curve.train_sizes
    array([ 16,  32,  64, 112, 160])
    >>> bool(curve.accuracy[-1] > curve.accuracy[0])
    True
    """
    if side not in ("row", "column"):
        raise ValueError(f"side must be 'row' or 'column', got {side!r}.")
    names = axis_names(X, fit_params.get("row_names"), fit_params.get("column_names"))
    index = 0 if side == "row" else 1
    known, group = known_answers(triplets, groups, np.shape(X)[index], names[index], side)
    rng = check_random_state(random_state)
    fold = triplet_folds(group, n_splits, rng)
    sizes = check_sizes(train_sizes, known.n_triplets - np.bincount(fold).max())
    right = np.zeros((len(sizes), known.n_triplets))
    progress = Progress("triplet_learning_curve", len(sizes) * n_splits, silent=not verbose)
    for number in range(n_splits):
        out = np.flatnonzero(fold == number)
        order = in_groups(np.flatnonzero(fold != number), group, rng)
        for place, size in enumerate(sizes):
            train = known.take(order[:size]).with_names(names[index])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = clone(estimator).fit(X, **{f"{side}_triplets": train}, **fit_params)
            F = model.embedding_ if side == "row" else model.components_.T
            _, near, far = triplet_distances(F, known.take(out), model.distance_)
            right[place, out] = near < far
            progress.step()
    weights = summable(known.weights)
    resampled = resample(right, weights, group, rng)
    low, high = np.percentile(resampled, INTERVAL, axis=0)
    accuracy = right @ weights / weights.sum()
    return TripletLearningCurve(np.array(sizes), accuracy, low, high, resampled)


def in_groups(chosen: np.ndarray, group: np.ndarray, rng: Any) -> np.ndarray:
    """Some triplets, group after group in random order."""
    rank = rng.permutation(int(group.max()) + 1)
    chosen = rng.permutation(chosen)
    return chosen[np.argsort(rank[group[chosen]], kind="stable")]


def check_sizes(train_sizes: Sequence[float], most: int) -> list[int]:
    """Numbers of answers, each once, fewest first."""
    sizes = set()
    for given in train_sizes:
        fraction = not isinstance(given, (int, np.integer))
        size = round(given * most) if fraction else int(given)
        if not 1 <= size <= most or (fraction and not 0 < given <= 1):
            raise ValueError(
                "train_sizes must be fractions above 0 and at most 1, or whole numbers from 1 to "
                f"{most}, the answers left when a fold is held out; got {given}."
            )
        sizes.add(size)
    if len(sizes) < 2:
        raise ValueError(f"a curve needs two different train_sizes, got {list(train_sizes)}.")
    return sorted(sizes)


def resample(right: np.ndarray, weights: np.ndarray, group: np.ndarray, rng: Any) -> np.ndarray:
    """The accuracy at every size with groups drawn anew, with replacement."""
    n_groups = int(group.max()) + 1
    of_group = np.array([np.bincount(group, weights * row, n_groups) for row in right])
    size = np.bincount(group, weights, n_groups)
    drawn = rng.multinomial(n_groups, np.full(n_groups, 1.0 / n_groups), RESAMPLES)
    return drawn @ of_group.T / (drawn @ size)[:, None]
