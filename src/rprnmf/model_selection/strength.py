"""How strong should triplets be? Ask triplets, and entries, that the fit has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from rprnmf.checks import axis_names, summable
from rprnmf.losses import get_loss
from rprnmf.metrics import triplet_distances
from rprnmf.model_selection.folds import MaskedKFold, resolved_triplets
from rprnmf.observed import make_view
from rprnmf.progress import Progress
from rprnmf.triplets import Triplets, as_triplets
from rprnmf.triplets.pairs import distinct

STRENGTHS = (0.0001, 0.001, 0.01, 0.1, 1.0, "auto")
SIDES = ("row", "column")
NAMES = ("row_names", "column_names")


@dataclass(frozen=True, eq=False)
class StrengthCurve:
    """What triplets of every strength do for triplets and entries that were held out.

    Attributes
    ----------
    strengths : list
        Weakest first; "auto" is the strongest.
    satisfied : ndarray of shape (n_strengths, n_splits)
        The fraction of the held-out triplets' weight that the factors meet; higher is better.
    losses : ndarray of shape (n_strengths, n_splits)
        Mean loss of a held-out entry; lower is better.
    """

    strengths: list[Any]
    satisfied: np.ndarray
    losses: np.ndarray

    @property
    def satisfied_mean(self) -> np.ndarray:
        """Mean over the folds."""
        return self.satisfied.mean(axis=1)

    @property
    def loss_mean(self) -> np.ndarray:
        """Mean over the folds."""
        return self.losses.mean(axis=1)

    @property
    def best(self) -> Any:
        """The strength that meets most of the held-out triplets."""
        return self.strengths[int(np.argmax(self.satisfied_mean))]

    @property
    def recommended(self) -> Any:
        """The weakest strength whose held-out triplets are within a standard error of the best.

        The error is that of the differences between the two, fold by fold: what a fold has more
        of difficult triplets than another concerns both. A weaker strength costs the data less.
        """
        top = int(np.argmax(self.satisfied_mean))
        lost = self.satisfied[top] - self.satisfied
        error = lost.std(axis=1, ddof=1) / np.sqrt(lost.shape[1])
        good = lost.mean(axis=1) <= error
        return self.strengths[int(np.argmax(good))]

    def __str__(self) -> str:
        lines = ["strength   held-out triplets met   loss of a held-out entry"]
        recommended = self.recommended
        for place, strength in enumerate(self.strengths):
            mark = "  <- recommended" if strength == recommended else ""
            lines.append(
                f"{strength!s:>8}   {self.satisfied_mean[place]:21.3f}   "
                f"{self.loss_mean[place]:24.6g}{mark}"
            )
        return "\n".join(lines)


def choose_strength(
    estimator: Any,
    X: Any,
    strengths: Sequence[Any] = STRENGTHS,
    *,
    row_triplets: Any = None,
    column_triplets: Any = None,
    row_groups: Any = None,
    column_groups: Any = None,
    n_splits: int = 5,
    random_state: Any = None,
    verbose: int = 1,
    **fit_params: Any,
) -> StrengthCurve:
    """Cross-validate the strength of triplets, on triplets and on entries of X.

    Every fold holds out a part of the triplets and a part of the entries, and one model is fitted
    for every strength. Worth its time where triplets are noisy, as answers of people are: to meet
    them all may then be too much.

    Parameters
    ----------
    estimator : RPRNMF
        Is cloned; the strengths of the sides that have triplets are set.
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
    strengths : sequence of float or "auto"
        Weakest first.
    row_triplets, column_triplets : Triplets or array-like, default=None
        At least one of the two. With both, one strength is chosen for both.
    row_groups, column_groups : array-like, default=None
        Triplets of a group are held out together: those of one screen or of one worker.
    n_splits : int, default=5
    random_state : int, RandomState instance or None, default=None
        Of the folds.
    verbose : int, default=1
        0 is silent; 1 shows how far it is: a bar on a terminal where tqdm is installed, else a
        line now and then.
    **fit_params : dict
        Go to ``fit``, e.g. ``row_names`` for triplets by name.

    Returns
    -------
    curve : StrengthCurve
        With ``recommended``, ``best`` and both curves; ``print`` it for a table.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import RPRNMF
    >>> from rprnmf.model_selection import choose_strength
    >>> from rprnmf.triplets import triplets_from_features
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((30, 3)) @ rng.random((3, 20))
    >>> known = triplets_from_features(X, 60, random_state=0)
    >>> model = RPRNMF(3, max_iter=20, tol=0, random_state=0)
    >>> curve = choose_strength(model, X, [0.01, 1.0], row_triplets=known, n_splits=3, verbose=0)
    >>> curve.satisfied.shape
    (2, 3)
    """
    strengths = check_strengths(strengths)
    given = {"row_triplets": row_triplets, "column_triplets": column_triplets}
    names = {key: fit_params.pop(key) for key in NAMES if key in fit_params}
    known = resolved_triplets(X, names | {k: v for k, v in given.items() if v is not None})
    known = {name: triplets for name, triplets in known.items() if triplets.n_triplets}
    if not known:
        raise ValueError("choose_strength needs row_triplets or column_triplets, got none.")
    groups = {
        name: kept_groups(X, names, name, given[name], side_groups)
        for name, side_groups in zip(given, (row_groups, column_groups), strict=True)
        if name in known
    }
    rng = check_random_state(random_state)
    folds = {
        name: list(triplet_folds(triplets, n_splits, groups[name], rng))
        for name, triplets in known.items()
    }
    loss = get_loss(estimator.beta_loss)
    satisfied, losses = np.empty((2, len(strengths), n_splits))
    progress = Progress("choose_strength", len(strengths) * n_splits, silent=not verbose)
    for fold, held_out in enumerate(MaskedKFold(n_splits, rng).split(X, estimator.missing)):
        test = make_view(held_out.X_test, "zero")
        train = {name: parts[fold][0] for name, parts in folds.items()}
        for place, strength in enumerate(strengths):
            model = clone(estimator).set_params(missing=held_out.missing)
            model.set_params(**{f"{name[:-9]}_strength": strength for name in known})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(held_out.X_train, **train, **fit_params)
            Ht = np.ascontiguousarray(model.components_.T)
            factors = {"row_triplets": model.embedding_, "column_triplets": Ht}
            unseen = [(factors[name], parts[fold][1]) for name, parts in folds.items()]
            satisfied[place, fold] = weighted_rate(unseen, model.distance_)
            losses[place, fold] = loss.value(test, model.embedding_, Ht) / max(test.n_observed, 1)
            progress.step()
    return StrengthCurve(strengths, satisfied, losses)


def check_strengths(strengths: Sequence[Any]) -> list[Any]:
    """Positive numbers in rising order, "auto" last."""
    found = list(strengths)
    numbers = [value for value in found if value != "auto"]
    if not found:
        raise ValueError("strengths is empty; give at least one.")
    if any(isinstance(value, str) or not value > 0 for value in numbers):
        raise ValueError(f"strengths must be positive numbers or 'auto', got {found}.")
    return [*sorted(numbers), *(["auto"] if "auto" in found else [])]


def kept_groups(
    X: Any, names: dict[str, Any], name: str, triplets: Any, groups: Any
) -> np.ndarray | None:
    """The number of the group of each triplet that X knows; the others are left out of a fit."""
    if groups is None:
        return None
    known = as_triplets(triplets)
    n = known.n_triplets
    if len(groups) != n:
        raise ValueError(
            f"{name[:-9]}_groups must name one for each of {n} triplets, got {len(groups)}."
        )
    numbered = Triplets(known, weights=np.arange(1, n + 1))
    kept = resolved_triplets(X, names | {name: numbered})[name].weights.astype(np.int64) - 1
    return np.unique(np.asarray(groups)[kept], return_inverse=True)[1]


def triplet_folds(
    triplets: Triplets, n_splits: int, groups: np.ndarray | None, rng: Any
) -> Iterator[tuple[Triplets, Triplets]]:
    """What is fitted on and what is held out, for every fold.

    Groups stay together, else those that say the same.
    """
    group = distinct(*triplets.items.T)[1] if groups is None else groups
    n_groups = int(group.max(initial=-1)) + 1
    if n_groups < n_splits:
        raise ValueError(
            f"n_splits={n_splits} folds need as many triplets, or groups of them; got {n_groups}."
        )
    fold = np.arange(n_groups) % n_splits
    rng.shuffle(fold)
    for number in range(n_splits):
        out = fold[group] == number
        yield triplets.take(~out), triplets.take(out)


def weighted_rate(unseen: list[tuple[np.ndarray, Triplets]], distance: str) -> float:
    """The fraction of the weight of held-out triplets that holds, over the sides that have any."""
    held = [np.less(*triplet_distances(F, triplets, distance)[1:]) for F, triplets in unseen]
    weights = summable(np.concatenate([triplets.weights for _, triplets in unseen]))
    total = float(weights.sum())
    return float(weights[np.concatenate(held)].sum()) / total if total else np.nan


def triplet_scorer(
    triplets: Any, *, side: str = "row", distance: str = "euclidean"
) -> Callable[..., float]:
    """A scorer for scikit-learn's searches: the fraction of given triplets' weight that is met.

    Hold some triplets out (`Triplets.split`), pass the others to ``fit`` and these to the scorer.
    With folds over rows the triplets must be named and have ``absent="drop"``; to search with all
    rows in every fit pass ``cv=[(rows, rows)]``. Rows without names are taken for those of the
    fit if they are as many.

    Parameters
    ----------
    triplets : Triplets or array-like of shape (n_triplets, 3)
    side : {"row", "column"}, default="row"
    distance : {"euclidean", "divergence"}, default="euclidean"

    Returns
    -------
    score : callable
        ``score(estimator, X, y=None)``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from rprnmf import RPRNMF
    >>> from rprnmf.model_selection import triplet_scorer
    >>> from rprnmf.triplets import triplets_from_features
    >>> X = np.random.default_rng(0).random((30, 8))
    >>> train, test = triplets_from_features(X, 80, random_state=0).split(random_state=0)
    >>> rows = np.arange(len(X))
    >>> search = GridSearchCV(
    ...     RPRNMF(3, max_iter=20, tol=0, random_state=0),
    ...     {"row_strength": [0.01, 1.0]},
    ...     scoring=triplet_scorer(test),
    ...     cv=[(rows, rows)],
    ... ).fit(X, row_triplets=train)
    >>> sorted(search.best_params_)
    ['row_strength']
    """
    if side not in SIDES:
        raise ValueError(f"side must be 'row' or 'column', got {side!r}.")
    known = as_triplets(triplets)

    def score(estimator: Any, X: Any, y: Any = None) -> float:
        factor, fitted = estimator.components_.T, estimator.column_names_
        names = axis_names(X)[SIDES.index(side)]
        seen = True
        if side == "row":
            fitted = estimator.row_names_
            seen = len(estimator.embedding_) == np.shape(X)[0]
            if names is not None:
                seen = fitted is not None and list(names) == list(fitted)
            factor = estimator.embedding_ if seen else estimator.transform(X)
        if names is None and seen:
            names = fitted
        return weighted_rate([(factor, known.positions(len(factor), names, side))], distance)

    return score
