"""Settings of a recommender, chosen on a part of the training ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from rprnmf.recommend.evaluation import ERRORS, Evaluation, evaluate
from rprnmf.recommend.ratings import read_ratings

#: what is tried unless one says what: numbers of components, and for clicks the weights too
GRIDS: dict[str, dict[str, Sequence[Any]]] = {
    "explicit": {"n_components": (10, 20, 40, 60)},
    "implicit": {
        "n_components": (64, 128),
        "missing_weight": (0.1, 0.2),
        "alpha": (0.05, 0.08, 0.12),
    },
}
OF_RATINGS, OF_LISTS = ("RMSE", "MAE", "F1"), ("precision", "recall", "NDCG", "coverage")


@dataclass(frozen=True, eq=False)
class Tuning:
    """Settings that were tried; ``print`` shows them.

    Attributes
    ----------
    settings : list of dict
        Parameters for ``set_params``.
    measure : str
    evaluation : Evaluation
        Whose models are numbered as the settings.
    """

    settings: list[dict[str, Any]]
    measure: str
    evaluation: Evaluation

    @property
    def means(self) -> np.ndarray:
        """The measure of each setting, over its folds."""
        found = {row["model"]: row[self.measure] for row in self.evaluation.summary()}
        return np.array([found[str(place)] for place in range(len(self.settings))])

    @property
    def best(self) -> dict[str, Any]:
        """The settings to fit with: ``model.set_params(**tuning.best)``."""
        sign = 1.0 if self.measure in ERRORS else -1.0
        means = sign * self.means
        return self.settings[int(np.argmin(np.where(np.isnan(means), np.inf, means)))]

    def __str__(self) -> str:
        lines = [f"{self.measure:>12}   settings"]
        for mean, setting in zip(self.means, self.settings, strict=True):
            told = ", ".join(f"{name}={value!r}" for name, value in setting.items())
            lines.append(f"{mean:12.4f}   {told}{'   <- best' if setting is self.best else ''}")
        return "\n".join(lines)


def tune(
    model: Any,
    users: Any,
    items: Any = None,
    ratings: Any = None,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    measure: str | None = None,
    n_splits: int = 5,
    random_state: Any = None,
    verbose: int = 1,
    **fit_params: Any,
) -> Tuning:
    """Try settings of a recommender on folds of the training ratings.

    Parameters
    ----------
    model : Recommender
        Is cloned.
    users, items, ratings : as in `Recommender.fit`
        Training data only: what is to judge the result must not be among them.
    grid : dict of str to sequence, default=None
        Parameters and the values to try. None: numbers of components, and for clicks the weights
        of what did not happen and of the L2 terms.
    measure : str, default=None
        One of `evaluate`. None: "RMSE" for ratings, "NDCG@10" for clicks.
    n_splits : int, default=5
    random_state : int, RandomState instance or None, default=None
        Of the folds.
    verbose : int, default=1
        0: no progress bar.
    **fit_params
        Metadata and comparisons, for ``fit``.

    Returns
    -------
    tuning : Tuning
        ``model.set_params(**tuning.best)`` takes the best settings.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.recommend import Recommender, tune
    >>> rng = np.random.default_rng(0)
    >>> users, items = np.nonzero(rng.random((40, 30)) < 0.5)
    >>> ratings = np.round(1 + 4 * (rng.random(40)[users] + rng.random(30)[items]) / 2)
    >>> model, grid = Recommender(random_state=0), {"n_components": [1, 2]}
    >>> found = tune(model, users, items, ratings, grid=grid, n_splits=2, verbose=0)
    >>> sorted(found.best)
    ['n_components']
    """
    data = read_ratings(users, items, ratings)
    kind = data.seen(model.kind, model.scale)
    values = GRIDS[kind] if grid is None else grid
    settings = list(ParameterGrid({name: list(several) for name, several in values.items()}))
    length = fit_params.get("n", 10)
    known = [*(OF_RATINGS if kind == "explicit" else ()), *(f"{one}@{length}" for one in OF_LISTS)]
    name = ("RMSE" if kind == "explicit" else f"NDCG@{length}") if measure is None else measure
    if name not in known:
        raise ValueError(f"measure must be one of {', '.join(known)}, got {measure!r}.")
    models = {str(k): clone(model).set_params(**one) for k, one in enumerate(settings)}
    found = evaluate(
        models,
        data,
        n_splits=n_splits,
        random_state=random_state,
        verbose=verbose,
        **fit_params,
    )
    return Tuning(settings, name, found)
