"""How many components? Ask entries that the fit has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from rprnmf.checks import check_matrix
from rprnmf.losses import get_loss
from rprnmf.model_selection.folds import MaskedKFold, resolved_triplets
from rprnmf.observed import make_view
from rprnmf.progress import Progress


@dataclass(frozen=True)
class RankCurve:
    """Held-out loss for every number of components.

    Attributes
    ----------
    ranks : ndarray of shape (n_ranks,)
    scores : ndarray of shape (n_ranks, n_splits)
        Mean loss of a held-out entry; lower is better.
    """

    ranks: np.ndarray
    scores: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Mean over the folds."""
        return self.scores.mean(axis=1)

    @property
    def standard_error(self) -> np.ndarray:
        """Of that mean."""
        return self.scores.std(axis=1, ddof=1) / np.sqrt(self.scores.shape[1])

    @property
    def best(self) -> int:
        """The rank with the lowest mean."""
        return int(self.ranks[np.argmin(self.mean)])

    @property
    def recommended(self) -> int:
        """The smallest rank within one standard error of the best."""
        lowest = np.argmin(self.mean)
        limit = self.mean[lowest] + self.standard_error[lowest]
        return int(min(self.ranks[self.mean <= limit]))


def choose_rank(
    estimator: Any,
    X: Any,
    ranks: Sequence[int],
    *,
    n_splits: int = 5,
    random_state: Any = None,
    verbose: int = 0,
    **fit_params: Any,
) -> RankCurve:
    """The held-out loss as a function of the number of components.

    Parameters
    ----------
    estimator : NMF, GNMF, LCNMF or RPRNMF
        Is cloned; its ``n_components`` is not used.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    ranks : sequence of int
    n_splits : int, default=5
    random_state : int, RandomState instance or None, default=None
        Of the folds.
    verbose : int, default=0
        1 shows how far it is: a bar on a terminal where tqdm is installed, else a line now and
        then.
    **fit_params : dict
        Go to ``fit``, e.g. ``row_triplets`` and ``row_names``.

    Returns
    -------
    curve : RankCurve
        With ``mean``, ``best`` and ``recommended``.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import NMF
    >>> from rprnmf.model_selection import choose_rank
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((30, 3)) @ rng.random((3, 20)) + 0.01 * rng.random((30, 20))
    >>> choose_rank(NMF(tol=0, random_state=0), X, [1, 2, 3], random_state=0).recommended
    3
    """
    ranks = list(ranks)
    if not ranks:
        raise ValueError("ranks is empty; give at least one number of components.")
    fit_params = resolved_triplets(X, fit_params)
    n_entries = make_view(check_matrix(X, estimator.missing, "choose_rank"), estimator.missing)
    if n_entries.n_observed < n_splits:
        raise ValueError(
            f"n_splits={n_splits} folds need as many observed entries, X has "
            f"{n_entries.n_observed}."
        )
    if estimator.init not in (None, "random"):
        raise ValueError(
            f"choose_rank holds entries out, and init={estimator.init!r} needs complete data or a "
            "fixed rank; use init=None or 'random'."
        )
    loss = get_loss(estimator.beta_loss)
    scores = np.empty((len(ranks), n_splits))
    progress = Progress("choose_rank", len(ranks) * n_splits, silent=not verbose)
    folds = MaskedKFold(n_splits, random_state).split(X, estimator.missing)
    for number, held_out in enumerate(folds):
        test = make_view(held_out.X_test, "zero")
        for place, rank in enumerate(ranks):
            model = clone(estimator).set_params(n_components=rank, missing=held_out.missing)
            model.fit(held_out.X_train, **fit_params)
            Ht = np.ascontiguousarray(model.components_.T)
            scores[place, number] = loss.value(test, model.embedding_, Ht) / test.n_observed
            progress.step()
    return RankCurve(np.array(ranks), scores)
