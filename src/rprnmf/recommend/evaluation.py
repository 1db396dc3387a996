"""How well recommenders do on ratings that they have not seen."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from rprnmf.checks import check_count
from rprnmf.progress import Progress
from rprnmf.recommend.knowledge import with_known_triplets
from rprnmf.recommend.measures import list_measures, paper_f1, rating_measures
from rprnmf.recommend.ratings import Ratings, read_ratings, repeated_note, without_repeats
from rprnmf.recommend.splits import Fold, folds_of

# Measures of which less is better.
ERRORS = ("RMSE", "MAE", "seconds")


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Measures of every recommender on every fold; ``print`` shows their means.

    Attributes
    ----------
    rows : list of dict
        One per recommender and fold: ``model``, ``fold``, ``n_test``, and the measures.
    measures : list of str
    """

    rows: list[dict[str, Any]]
    measures: list[str]

    @property
    def frame(self) -> Any:
        """The rows as a DataFrame (needs pandas)."""
        from pandas import DataFrame

        return DataFrame(self.rows)

    def group(self, row: Mapping[str, Any]) -> tuple[str, str]:
        """The recommender of a row, and the folds that it is one of: "fold 3" -> "folds"."""
        fold = row["fold"]
        kind = fold.rsplit(", part", 1)[0] if ", part" in fold else fold.rsplit(" ", 1)[0] + "s"
        return row["model"], kind

    def summary(self) -> list[dict[str, Any]]:
        """Means over folds of a kind, and their standard errors (``"RMSE ±"``)."""
        groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in self.rows:
            groups.setdefault(self.group(row), []).append(row)
        found = []
        for (model, kind), rows in groups.items():
            one: dict[str, Any] = {"model": model, "folds": kind, "n": len(rows)}
            for name in self.measures:
                values = np.array([row.get(name, np.nan) for row in rows], dtype=float)
                values = values[~np.isnan(values)]  # a fold without likes has no lists
                one[name] = float(values.mean()) if len(values) else np.nan
                spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
                one[f"{name} ±"] = float(spread)
            found.append(one)
        return found

    def __str__(self) -> str:
        rows = self.summary()
        width = max([len(row["model"]) for row in rows] + [5])
        kinds = max([len(row["folds"]) for row in rows] + [5])
        head = f"{'model':{width}}  {'folds':{kinds}}  " + "  ".join(
            f"{name:>12}" for name in self.measures
        )
        lines = [head]
        for row in rows:
            cells = "  ".join(f"{row[name]:12.4f}" for name in self.measures)
            lines.append(f"{row['model']:{width}}  {row['folds']:{kinds}}  {cells}")
        return "\n".join(lines)

    def plot(self, measure: str | None = None, *, ax: Any = None) -> Any:
        """Means and standard errors of one measure, a bar for each recommender.

        Parameters
        ----------
        measure : str, default=None
            One of ``measures``; None is the first.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        from rprnmf.plotting import plot_evaluation

        return plot_evaluation(self, measure, ax=ax)

    def is_error(self, measure: str) -> bool:
        """Whether less of a measure is better."""
        return measure in ERRORS


def evaluate(
    models: Any,
    users: Any,
    items: Any = None,
    ratings: Any = None,
    *,
    split: str = "random",
    n_splits: int = 5,
    n: int = 10,
    test_share: float = 0.2,
    relevant: float | None = None,
    random_state: Any = None,
    verbose: int = 1,
    **fit_params: Any,
) -> Evaluation:
    """Fit recommenders to a part of the ratings and see how well they predict the others.

    Parameters
    ----------
    models : Recommender, or dict of str to Recommender
        Are cloned. Anything with ``fit``, ``predict`` and ``recommend`` will do.
    users, items, ratings : as in `Recommender.fit`
    split : {"random", "time", "cold items", "cold users"}, default="random"
        "random": every rating is held out once. "time": the latest ratings, in ``n_splits``
        periods, each predicted from all before it. "cold items", "cold users": a fifth of the
        items or users keep 0, 1 or 2 to 5 of their ratings; the others are predicted.
    n_splits : int, default=5
    n : int, default=10
        The length of lists.
    test_share : float, default=0.2
        Of "time": the share of the ratings that is predicted.
    relevant : float, default=None
        Items with at least this rating belong on lists. None: 4 of 5, or as far up whatever scale
        it is; with clicks all that were held out.
    random_state : int, RandomState instance or None, default=None
        Of the folds.
    verbose : int, default=1
        0: no progress bar.
    **fit_params
        Metadata and comparisons, for ``fit``. Comparisons of ids that neither a fold nor the
        metadata have are left out there, with a warning.

    Returns
    -------
    evaluation : Evaluation
        With RMSE, MAE and the paper's F1 for ratings, and for all data precision, recall, NDCG
        and coverage of lists.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.recommend import Recommender, evaluate
    >>> rng = np.random.default_rng(0)
    >>> users, items = np.nonzero(rng.random((40, 30)) < 0.5)
    >>> ratings = np.round(1 + 4 * (rng.random(40)[users] + rng.random(30)[items]) / 2)
    >>> model = Recommender(2, random_state=0)
    >>> found = evaluate(model, users, items, ratings, n_splits=3, random_state=0, verbose=0)
    >>> [row["RMSE"] < 0.6 for row in found.rows]
    [True, True, True]
    """
    named = models if isinstance(models, Mapping) else {type(models).__name__: models}
    if not all(hasattr(one, "fit") for one in named.values()):
        raise TypeError(
            f"models must be a recommender, or a dict of names to them; got {models!r}."
        )
    if not named:
        raise ValueError("models is empty: give at least one recommender.")
    n, n_splits = (
        check_count(n, "n"),
        check_count(n_splits, "n_splits", 2 if split == "random" else 1),
    )
    data = read_ratings(users, items, ratings)
    scales = [getattr(one, "scale", None) for one in named.values()]
    kinds = {getattr(one, "kind", "auto") for one in named.values()}
    said = "explicit" if "explicit" in kinds else "auto"  # then errors of ratings are asked for
    kind = data.seen(said, next((one for one in scales if one is not None), None))
    data = data.happened() if kind == "implicit" else data
    data, repeated = without_repeats(data, kind)  # the same pair must not be on both sides
    if repeated:
        warnings.warn(repeated_note(repeated, kind), UserWarning, stacklevel=2)
    folds = list(folds_of(data, split, n_splits, test_share, random_state))
    if not folds:
        raise ValueError(f"split={split!r} finds no ratings to predict among {data.n}.")
    rows = []
    lost: dict[str, str] = {}
    with Progress("evaluate", len(folds) * len(named), silent=not verbose) as progress:
        for fitted, group in grouped(folds):
            for name, model in named.items():
                learner = clone(model)
                if getattr(learner, "kind", None) == "auto":
                    learner.set_params(kind=kind)  # of all data: a fold may look otherwise
                train = data.take(fitted)
                if data.stored and getattr(learner, "kind", None) == "implicit":
                    train = train.happened()  # as a fit of the matrix does
                given, strange = with_known_triplets(fit_params, *train.columns()[:2])
                lost |= strange
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # unknown ids are part of this
                    learner.fit(*train.columns(), **given)
                    for fold in group:
                        measured = measure(learner, kind, train, data.take(fold.test), n, relevant)
                        row = {"model": name, "fold": fold.name, "n_test": int(fold.test.sum())}
                        rows.append({**row, **measured})
                        progress.step()
    for text in lost.values():
        warnings.warn(text, UserWarning, stacklevel=2)
    told = dict.fromkeys(key for row in rows for key in row)
    measures = [key for key in told if key not in ("model", "fold", "n_test")]
    return Evaluation(rows, measures)


def grouped(folds: list[Fold]) -> list[tuple[np.ndarray, list[Fold]]]:
    """Folds with the same training ratings together: one fit serves them all."""
    groups: list[tuple[np.ndarray, list[Fold]]] = []
    for fold in folds:
        if groups and groups[-1][0] is fold.train:
            groups[-1][1].append(fold)
        else:
            groups.append((fold.train, [fold]))
    return groups


def measure(
    model: Any, kind: str, train: Ratings, test: Ratings, n: int, relevant: float | None
) -> dict[str, float]:
    """All measures of a fitted recommender on ratings that it has not seen."""
    users, items, truth = test.columns()
    found: dict[str, float] = {}
    liked = np.ones(test.n, dtype=bool)
    if train.values is not None and truth is not None and kind == "explicit":
        if getattr(model, "kind_", "explicit") == "explicit":
            predicted = model.predict(users, items)
            found |= rating_measures(truth, predicted)
            found["F1"] = paper_f1(train, test, predicted)
        low, high = float(train.values.min()), float(train.values.max())
        liked = truth >= (low + 0.75 * (high - low) if relevant is None else relevant)
    elif truth is not None and relevant is not None:
        liked = truth >= relevant
    wanted: dict[Any, set[Any]] = {}
    for user, item, good in zip(users, items, liked, strict=True):
        if good:
            wanted.setdefault(user, set()).add(item)
    lists = model.recommend(list(wanted), n) if wanted else []
    listable = getattr(model, "item_ids_", None)
    n_items = len(np.unique(train.item)) if listable is None else len(listable)
    return found | list_measures(lists, list(wanted.values()), n, n_items)
