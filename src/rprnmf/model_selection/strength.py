"""How strong should triplets be? Ask triplets that the fit has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from rprnmf.model_selection.answers import NAMES, hold_out_answers
from rprnmf.model_selection.path import follow, iterations, plain_start, pose
from rprnmf.model_selection.recommend import Score, first_good
from rprnmf.progress import Progress

STRENGTHS = (0.0001, 0.001, 0.01, 0.1, 1.0, "auto")
# Standard errors that make a strength clearly better than "auto". Several strengths are compared:
# one of them is better by a single error by chance often enough.
CLEARLY = 2.0
SHARE = 4.0  # whole fits that all folds together may cost; one more, and the start, come before


@dataclass(frozen=True, eq=False)
class StrengthCurve:
    """What triplets of every strength do for triplets that were held out, and for X.

    Attributes
    ----------
    strengths : list
        Weakest first, then "auto".
    satisfied : ndarray of shape (n_strengths, n_splits)
        The fraction of the held-out triplets' weight that the factors meet; higher is better.
    losses : ndarray of shape (n_strengths, n_splits)
        Mean loss of an entry of X, all of which the fits have seen; lower is better. It tells
        what a strength costs the data, not how well unseen entries are predicted.
    met : ndarray of shape (n_strengths, n_triplets) or None
        Whether each triplet was met by the fit that it was held out of: 1 or 0; rows first.
    auto : float or None
        What "auto" came to in a fit with all triplets; the larger one, if two sides have any.
    """

    strengths: list[Any]
    satisfied: np.ndarray
    losses: np.ndarray
    met: np.ndarray | None = None
    auto: float | None = None

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
        """The strength to fit with.

        The weakest that meets held-out triplets within a standard error of the best: a weaker
        strength costs the data less. Where "auto", the default of the estimator, is among the
        strengths, it is kept unless that one is better by more than two standard errors. The
        error is that of the differences between two strengths, by folds and by triplets: what is
        difficult concerns both.
        """
        default = self.strengths.index("auto") if "auto" in self.strengths else None
        met = np.empty((len(self.strengths), 0)) if self.met is None else self.met
        scores = [Score(*pair) for pair in zip(self.satisfied, met, strict=True)]
        return self.strengths[first_good(scores, default, CLEARLY)]

    def __str__(self) -> str:
        lines = ["strength   held-out triplets met   loss of an entry"]
        recommended = self.recommended
        for place, strength in enumerate(self.strengths):
            mark = "  <- recommended" if strength == recommended else ""
            if strength == "auto" and self.auto is not None:
                mark = f"  ({self.auto:.2g}){mark}"
            lines.append(
                f"{strength!s:>8}   {self.satisfied_mean[place]:21.3f}   "
                f"{self.loss_mean[place]:16.6g}{mark}"
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
    """Cross-validate the strength of triplets, on triplets that are held out.

    One whole fit comes first, with all triplets. Then every fold goes without its part of the
    triplets from the weakest strength to the strongest, each starting where the one before ended,
    in so few iterations that all takes less time than ten whole fits. All entries of X are seen in
    every fold. Worth its time where triplets are noisy, as answers of people are: to meet them
    all may then be too much.

    With a prior ("row_prior='data'", say) "auto" has been chosen by held-out triplets already;
    the curve then shows what other strengths would do.

    Parameters
    ----------
    estimator : RPRNMF
        Is cloned; the strengths of the sides that have triplets are set.
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
    strengths : sequence of float or "auto"
        Numbers are used as they are. "auto" is the strength at which a fit with all triplets ends.
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

    See Also
    --------
    choose_settings : Chooses prior, graph and strength together.

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
    names = {key: fit_params.pop(key) for key in NAMES if key in fit_params}
    answers = hold_out_answers(
        *(X, (row_triplets, column_triplets), (row_groups, column_groups)),
        *(names, n_splits, random_state),
    )
    n_points = len(strengths) * n_splits
    progress = Progress("choose_strength", 1 + n_points, silent=not verbose)
    whole = clone(estimator).set_params(**answers.parameters(strengths[-1]))
    posed = pose(whole, X, answers, fit_params)
    progress.step()
    start = plain_start(posed)
    n_iter = iterations(posed.model.n_iter_, SHARE, n_points)
    satisfied, losses = np.empty((2, len(strengths), n_splits))
    met = np.empty((len(strengths), answers.n_triplets))
    for fold in range(n_splits):
        for place, factors in follow(posed, start, answers, fold, strengths, n_iter):
            score = answers.score(factors, fold, posed.problem.distance)
            satisfied[place, fold], met[place, score.places] = score.rate, score.met
            losses[place, fold] = posed.loss(factors)
            progress.step()
    auto = max(posed.resolved("auto")) if strengths[-1] == "auto" else None
    return StrengthCurve(strengths, satisfied, losses, met, auto)


def check_strengths(strengths: Sequence[Any]) -> list[Any]:
    """Positive numbers in rising order, "auto" last."""
    found = list(strengths)
    numbers = [value for value in found if value != "auto"]
    if not found:
        raise ValueError("strengths is empty; give at least one.")
    if any(isinstance(value, str) or not value > 0 for value in numbers):
        raise ValueError(f"strengths must be positive numbers or 'auto', got {found}.")
    return [*sorted(numbers), *(["auto"] if "auto" in found else [])]
