"""Ratings or clicks in, recommendations out."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rprnmf.checks import check_count
from rprnmf.metrics import triplet_distances
from rprnmf.recommend.explanation import (
    AskedUser,
    Comparison,
    ComponentPart,
    Explanation,
    RatedPart,
    most_of,
    ratings_behind,
)
from rprnmf.recommend.fitting import (
    Task,
    fit_stacked,
    grown,
    replaced_metadata,
    updated,
    with_cold_rows,
)
from rprnmf.recommend.ids import Ids, id_list
from rprnmf.recommend.knowledge import read_metadata, read_triplets
from rprnmf.recommend.metadata import Metadata
from rprnmf.recommend.rating_scale import check_in_scale, scale_of
from rprnmf.recommend.ratings import Ratings, merged, read_ratings
from rprnmf.recommend.recipes import RECIPES, Recipe
from rprnmf.recommend.results import NewUser, Recommendations
from rprnmf.recommend.row_model import DataWeights
from rprnmf.recommend.stacked import ITEMS, USERS, stacked_row
from rprnmf.recommend.top_n import top_n
from rprnmf.threads import blas_threads
from rprnmf.triplets import Triplets

SIDES = ("user", "item")
ROUNDS = 2  # of users and items in turn, after new ratings


class Recommender(BaseEstimator):
    """Predicts ratings, and finds items that users will like.

    Users and items are rows of two non-negative factors whose products are the predictions. Every
    row is pulled to what is known of it: metadata, and which items were rated by whom. How
    strongly is chosen on ratings that short fits did not see.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        "auto": 40 for ratings, 128 for clicks.
    kind : {"auto", "explicit", "implicit"}, default="auto"
        "explicit": ratings, which say how much a user liked an item. "implicit": clicks, plays or
        counts, of which only their absence is a hint of dislike. "auto": seen from the data, and
        told in ``kind_`` and ``notes_``.
    n_starts : int, default=1
        The mean of so many models, each from a start of its own: better by about .005 of RMSE,
        and still one non-negative model, with ``n_starts`` times the components.
    scale : tuple of (float, float), default=None
        Lowest and highest rating; predictions stay between them. None: those that occur.
    missing_weight : float or "auto", default="auto"
        For clicks: what a pair that did not happen weighs, beside 1 for one that did.
    alpha : float or "auto", default="auto"
        For clicks: the weight of the L2 terms of both factors.
    max_iter : int or "auto", default="auto"
        Iterations after those that choose the pull. More do not predict better.
    unknown : {"warn", "ignore", "error"}, default="warn"
        What to do about users and items that the fit has not seen. Unless it is an error, they
        are predicted from their metadata, or as the mean user or item.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, default=None
        Number of threads; None is as many as the process may use.
    verbose : int, default=0
        1: notes and progress; 2: also a line every 10 iterations.

    Attributes
    ----------
    kind_ : {"explicit", "implicit"}
    scale_ : tuple of (float, float) or None
        None for clicks.
    notes_ : list of str
        What was seen in the data and done about it.
    user_ids_, item_ids_ : list
        Those with ratings first, then those that only the metadata know.
    user_factors_ : ndarray of shape (n_users, n_starts * n_components)
    item_factors_ : ndarray of shape (n_items, n_starts * n_components)
    estimators_ : list of NMF or RPRNMF
        One for each start.
    n_components_ : int
        Of one start.
    user_satisfied_rate_, item_satisfied_rate_ : float
        The fraction of the comparisons that hold; NaN without any.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.recommend import Recommender
    >>> rng = np.random.default_rng(0)
    >>> users, items = rng.integers(0, 50, 1500), rng.integers(0, 30, 1500)
    >>> users, items = np.unique(np.column_stack((users, items)), axis=0).T
    >>> taste, quality = rng.random(50), rng.random(30)
    >>> ratings = np.round(1 + 4 * np.clip(0.3 * taste[users] + 0.7 * quality[items], 0, 1))
    >>> model = Recommender(3, random_state=0).fit(users, items, ratings)
    >>> model.kind_
    'explicit'
    >>> len(model.recommend(7, n=3)) <= 3
    True
    """

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "kind": [StrOptions({"auto", "explicit", "implicit"})],
        "n_starts": [Interval(Integral, 1, None, closed="left")],
        "scale": [tuple, list, None],
        "missing_weight": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "unknown": [StrOptions({"warn", "ignore", "error"})],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components="auto",
        *,
        kind="auto",
        n_starts=1,
        scale=None,
        missing_weight="auto",
        alpha="auto",
        max_iter="auto",
        unknown="warn",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.kind = kind
        self.n_starts = n_starts
        self.scale = scale
        self.missing_weight = missing_weight
        self.alpha = alpha
        self.max_iter = max_iter
        self.unknown = unknown
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        users: Any,
        items: Any = None,
        ratings: Any = None,
        *,
        user_triplets: Any = None,
        item_triplets: Any = None,
        user_metadata: Any = None,
        item_metadata: Any = None,
    ) -> Recommender:
        """Learn from ratings or clicks.

        Parameters
        ----------
        users : array-like of ids, DataFrame, or sparse matrix of shape (n_users, n_items)
            Ids are of any hashable kind. A DataFrame has columns user, item, rating and
            timestamp, or names like these, or in this order; the last two may be absent. The ids
            of a sparse matrix are positions.
        items : array-like of ids, default=None
            With ``users`` as an array: one item per rating.
        ratings : array-like of float, default=None
            None: that it happened is all that is known. Several ratings of a pair become their
            mean, several counts their sum.
        user_triplets, item_triplets : Triplets, array-like of shape (n_triplets, 3) or int, \
default=None
            Comparisons (q, r, s) of ids: q is closer to r than to s. A number: so many are drawn
            from the metadata.
        user_metadata, item_metadata : DataFrame or dict, default=None
            What is known of users and items: a DataFrame with one row per id, which is its index
            or a column; or a dict from ids to dicts of facts, lists of labels or text such as
            "Comedy|Drama". Numbers, categories, labels and titles are understood.

        Returns
        -------
        self : Recommender
        """
        data = read_ratings(users, items, ratings)
        kind = data.kind() if self.kind == "auto" else self.kind
        notes = [f"the data look {kind}."] if self.kind == "auto" else []
        X, repeated = merged(data, kind)
        if repeated:
            how = "mean" if kind == "explicit" else "sum"
            text = f"{repeated} pairs of user and item occur more than once: their {how} is used."
            notes.append(text)
            warnings.warn(text, UserWarning, stacklevel=2)
        scale, offset = scale_of(data, kind, self.scale)
        X.data -= offset
        rated = tuple(np.flatnonzero(np.diff(part.indptr)) for part in (X, sp.csc_array(X)))
        names = data.users.at(rated[USERS]), data.items.at(rated[ITEMS])
        ids = Ids(names[USERS], "user"), Ids(names[ITEMS], "item")
        metadata = read_metadata(user_metadata, "user"), read_metadata(item_metadata, "item")
        triplets = (
            read_triplets(user_triplets, ids[USERS], metadata[USERS], self.random_state),
            read_triplets(item_triplets, ids[ITEMS], metadata[ITEMS], self.random_state),
        )
        X = sp.csr_array(X[rated[USERS]][:, rated[ITEMS]], dtype=np.float32)
        recipe = self._recipe(kind)
        task = Task(X, ids, metadata, triplets, recipe, kind == "implicit")
        with blas_threads(self.n_jobs):
            model, fitted = fit_stacked(
                task, self.n_starts, self.random_state, self.n_jobs, int(self.verbose)
            )
            everyone = []
            for side, given_ids in ((USERS, data.users), (ITEMS, data.items)):
                known = metadata[side]
                whole = ids[side].plus(given_ids.names).plus([] if known is None else known.ids)
                cold = whole.names[len(ids[side]) :]
                if cold:
                    notes.append(f"{len(cold)} {SIDES[side]}s have no ratings.")
                model = with_cold_rows(model, side, cold, X.shape[1 - side])
                everyone.append(whole)
        self.kind_, self.scale_, self.notes_, self._offset = kind, scale, notes, offset
        self.estimators_, self.n_components_ = fitted, recipe.n_components
        self._triplets = triplets
        self._mean = float(X.data.mean())
        self._keep(model, (everyone[0], everyone[1]), X)
        for side, name in enumerate(SIDES):
            setattr(
                self,
                f"{name}_satisfied_rate_",
                self._satisfied(side).mean() if triplets[side].n_triplets else np.nan,
            )
        if self.verbose:
            for note in notes:
                print(note)
        return self

    def _recipe(self, kind: str) -> Recipe:
        recipe = RECIPES[kind]
        weights = recipe.weights
        if kind == "implicit":
            missing, alpha = self.missing_weight, self.alpha
            weights = DataWeights(
                weights.missing_weight if missing == "auto" else float(missing),
                weights.alpha if alpha == "auto" else float(alpha),
                weights.alpha_power,
            )
        K, most = self.n_components, self.max_iter
        return replace(
            recipe,
            n_components=recipe.n_components if K == "auto" else int(K),
            max_iter=recipe.max_iter if most == "auto" else int(most),
            weights=weights,
        )

    def _keep(self, model: Any, ids: tuple[Ids, Ids], X: sp.csr_array) -> None:
        self._model, self._ids = model, ids
        self._X = grown(X, len(ids[USERS]), len(ids[ITEMS]))
        self.user_ids_, self.item_ids_ = ids[USERS].names, ids[ITEMS].names
        self.user_factors_, self.item_factors_ = model.factor(USERS), model.factor(ITEMS)
        self._mean_rows = [self._mean_row(side) for side in (USERS, ITEMS)]
        users = np.repeat(np.arange(len(ids[USERS])), np.diff(self._X.indptr))
        fitted = np.einsum(
            "ik,ik->i", self.user_factors_[users], self.item_factors_[self._X.indices]
        )
        spread = float(np.sqrt(np.mean((fitted - self._X.data) ** 2)))
        count = np.bincount(self._X.indices, minlength=len(ids[ITEMS]))
        self._errors = spread / np.sqrt(count + 1.0)  # of an item's mean, about

    def _mean_row(self, side: int) -> np.ndarray:
        """What nothing is known of."""
        starts = self._model.starts
        features = self._model.features[side]
        centers = []
        for start in starts:
            by = start[side].by_known
            center = np.asarray(features.rows.known.mean(axis=0)).ravel()
            centers.append(np.maximum(center @ by.B + by.b, 0.0))
        return stacked_row(centers)

    def _satisfied(self, side: int) -> np.ndarray:
        factor = (self.user_factors_, self.item_factors_)[side]
        _, near, far = triplet_distances(factor, self._triplets[side], "euclidean")
        return near < far

    def _told(self, text: str, stacklevel: int = 3) -> None:
        """Say that something falls back on what is known."""
        if self.unknown == "error":
            raise KeyError(text)
        if self.unknown == "warn":
            warnings.warn(text, UserWarning, stacklevel=stacklevel)

    def _rows(self, names: list[Any], side: int) -> tuple[np.ndarray, np.ndarray]:
        """The factor rows of some ids, and whether they are known."""
        factor = (self.user_factors_, self.item_factors_)[side]
        places = self._ids[side].places(names)
        known = places >= 0
        rows = factor[places]
        rows[~known] = self._mean_rows[side]
        if not known.all():
            strange = names[int(np.flatnonzero(~known)[0])]
            what = SIDES[side]
            self._told(
                f"{int((~known).sum())} of {len(names)} {what}s are not known ({strange!r}, ...): "
                f"they are taken for the mean {what}.",
                stacklevel=4,
            )
        return rows, known

    def predict(self, users: Any, items: Any) -> np.ndarray:
        """The ratings that users would give items; for clicks, scores.

        Parameters
        ----------
        users : array-like of ids of shape (n_pairs,), one id or a `NewUser`
            One user may go with several items.
        items : array-like of ids of shape (n_pairs,) or one id
            One item may go with several users.

        Returns
        -------
        ratings : ndarray of shape (n_pairs,)
            Never NaN. A user or item that is not known counts as the mean one, see ``unknown``.
        """
        check_is_fitted(self)
        folded = users.factors if isinstance(users, NewUser) else None
        names = [
            [None] if one is None else as_names(one, self._ids[side])
            for side, one in ((USERS, None if folded is not None else users), (ITEMS, items))
        ]
        lengths = {len(part) for part in names} - {1}
        if len(lengths) > 1:
            raise ValueError(
                f"users and items must have one entry per pair each, got {len(names[0])} and "
                f"{len(names[1])}."
            )
        n = lengths.pop() if lengths else 1
        H, known_items = self._rows(names[ITEMS], ITEMS)
        if folded is not None:
            W, known_users = folded[None, :], np.ones(1, dtype=bool)
        else:
            W, known_users = self._rows(names[USERS], USERS)
        found = np.broadcast_to(np.einsum("ik,ik->i", *np.broadcast_arrays(W, H)), (n,)).astype(
            np.float64
        )
        strangers = np.broadcast_to(~known_users & ~known_items, (n,))
        found = np.where(strangers, self._mean, found) if self.kind_ == "explicit" else found
        return self._in_scale(found)

    def _in_scale(self, found: np.ndarray) -> np.ndarray:
        found = found + self._offset
        return found if self.scale_ is None else np.clip(found, *self.scale_)

    def recommend(
        self,
        users: Any,
        n: int = 10,
        *,
        exclude_seen: bool = True,
        filter_items: Any = None,
        among: Any = None,
        caution: float = 2.0,
    ) -> Recommendations | list[Recommendations]:
        """The items that users would like best.

        Parameters
        ----------
        users : id, `NewUser`, or array-like of ids
        n : int, default=10
            Fewer if there are no more.
        exclude_seen : bool, default=True
            Whether to leave out what a user has rated.
        filter_items : array-like of ids, default=None
            Further items to leave out.
        among : array-like of ids, default=None
            Only these items; None: all.
        caution : float, default=2.0
            For ratings: items are ordered by the predicted rating less so many standard errors,
            which are large for items with few ratings. Without it, 0, lists begin with items that
            one person gave five stars. Scores are predictions in any case.

        Returns
        -------
        found : Recommendations, or a list of these
            One for each user; for one id, one.
        """
        check_is_fitted(self)
        n = check_count(n, "n")
        allowed = self._allowed(filter_items, among)
        if isinstance(users, NewUser):
            one = (np.ones(len(users.items)), users.items, np.array([0, len(users.items)]))
            seen = sp.csr_array(one, shape=(1, len(self.item_factors_)))
            W, notes = users.factors[None, :], [users.note]
            single = True
        else:
            single = users in self._ids[USERS] or not is_several(users)
            names = [users] if single else as_names(users, self._ids[USERS])
            W, known = self._rows(names, USERS)
            places = self._ids[USERS].places(names)
            notes = ["" if there else "not known: as the mean user" for there in known]
            seen = None
            if exclude_seen:
                seen = (
                    self._X[places[0] : places[0] + 1]
                    if single and known[0]
                    else self._X[np.maximum(places, 0)]
                )
                if not known.all():
                    seen = sp.csr_array(sp.diags_array(known.astype(seen.dtype)) @ seen)
                    seen.eliminate_zeros()
        W = np.asarray(W, dtype=self.item_factors_.dtype)
        doubt = self._doubts(caution)
        H = self.item_factors_
        if doubt is not None:
            W = np.column_stack((W, np.full(len(W), -1.0, dtype=W.dtype)))
            H = np.column_stack((H, doubt))
        best, scores = top_n(W, H, n, seen if exclude_seen else None, allowed)
        found = []
        for row, values, note in zip(best, scores, notes, strict=True):
            there = row >= 0
            value = values[there].astype(np.float64)
            if doubt is not None:
                value = value + doubt[row[there]]
            names = self._ids[ITEMS].at(row[there])
            found.append(Recommendations(names, self._in_scale(value), note))
        return found[0] if single else found

    def _doubts(self, caution: float) -> np.ndarray | None:
        """What is taken off the rating of every item for the ordering; None: nothing."""
        if isinstance(caution, bool) or not isinstance(caution, Real) or not caution >= 0:
            raise ValueError(f"caution must be a number of at least 0, got {caution!r}.")
        if caution == 0 or self.kind_ == "implicit":
            return None
        return (float(caution) * self._errors).astype(self.item_factors_.dtype)

    def _allowed(self, filter_items: Any, among: Any) -> np.ndarray | None:
        if filter_items is None and among is None:
            return None
        allowed = np.ones(len(self.item_factors_), dtype=bool)
        if among is not None:
            allowed[:] = False
            places = self._ids[ITEMS].places(id_list(among, "item"))
            allowed[places[places >= 0]] = True
        if filter_items is not None:
            places = self._ids[ITEMS].places(id_list(filter_items, "item"))
            allowed[places[places >= 0]] = False
        return allowed

    def similar_items(self, item: Any, n: int = 10) -> Recommendations:
        """The items that are most like an item.

        Parameters
        ----------
        item : id
        n : int, default=10

        Returns
        -------
        found : Recommendations
            With the cosine between the rows of the factor, each apart from their mean row.
        """
        return self._similar(item, n, ITEMS)

    def similar_users(self, user: Any, n: int = 10) -> Recommendations:
        """The users that are most like a user.

        Parameters
        ----------
        user : id
        n : int, default=10

        Returns
        -------
        found : Recommendations
            Users with the cosine between the rows of the factor, each apart from their mean row.
        """
        return self._similar(user, n, USERS)

    def _similar(self, name: Any, n: int, side: int) -> Recommendations:
        check_is_fitted(self)
        n = check_count(n, "n")
        place = self._ids[side].place(name)
        if place < 0:
            raise KeyError(f"{SIDES[side]} {name!r} is not known, neither by ratings nor metadata.")
        factor = (self.user_factors_, self.item_factors_)[side]
        apart = factor - factor.mean(axis=0)
        length = np.sqrt(np.einsum("ik,ik->i", apart, apart))
        unit = apart / np.where(length > 0, length, 1.0)[:, None]
        allowed = np.arange(len(factor)) != place
        best, scores = top_n(unit[place : place + 1], unit, n, None, allowed)
        there = best[0] >= 0
        return Recommendations(self._ids[side].at(best[0][there]), scores[0][there].astype(float))

    def fold_in(self, items: Any, ratings: Any = None, *, metadata: Any = None) -> NewUser:
        """A user who was not in the fit, from a few ratings; nothing is fitted again.

        Parameters
        ----------
        items : array-like of ids
            Those that are not known are left out, with a note.
        ratings : array-like of float, default=None
        metadata : dict, default=None
            Facts about the user, as one entry of ``user_metadata``.

        Returns
        -------
        user : NewUser
            For ``predict``, ``recommend`` and ``explain``.
        """
        check_is_fitted(self)
        if len(id_list(items, "item")) == 0:
            row = sp.csr_array((1, len(self.item_factors_)), dtype=np.float32)
            note = "no ratings."
        else:
            data = read_ratings(["new"] * len(items), items, ratings)
            row, note = self._new_row(data)
        known = self._model.metadata[USERS]
        if metadata is not None and known is not None:
            known = known.plus({_NEW: metadata})
        with blas_threads(self.n_jobs):
            rows = self._model.solve(USERS, row, [_NEW], known)
        if note:
            self._told(note)
        unit = float(self._model.unit_of(np.array([row.nnz]))[0])
        return NewUser(
            stacked_row([part[0] for part in rows]) / unit,
            rows,
            row.indices,
            row.data + self._offset,
            note,
        )

    def _new_row(self, data: Ratings) -> tuple[sp.csr_array, str]:
        places = self._ids[ITEMS].places(data.items.names)
        known = places[data.item] >= 0
        if self.kind_ == "explicit":
            if data.values is None:
                raise ValueError("the fit had ratings: fold_in needs them too, got None.")
            check_in_scale(data.values, self.scale_)
        n_strange = int((~known).sum())
        note = f"{n_strange} of {data.n} items are not known and left out." if n_strange else ""
        X, _ = merged(data.take(known), self.kind_)
        full = sp.coo_array(X)
        values = (full.data - self._offset).astype(np.float32)
        coords = full.coords[0], places[full.coords[1]]
        row = sp.csr_array((values, coords), shape=(1, len(self.item_factors_)))
        return row, note

    def partial_fit(
        self,
        users: Any,
        items: Any = None,
        ratings: Any = None,
        *,
        user_metadata: Any = None,
        item_metadata: Any = None,
    ) -> Recommender:
        """Take in new ratings, users and items; the others stay as they are.

        The rows of users and items with new ratings are solved again, by turns, with what
        features were found to say. A new rating of a pair replaces the old one; counts add up.

        Parameters
        ----------
        users, items, ratings : as in ``fit``
        user_metadata, item_metadata : DataFrame or dict, default=None
            Of new users and items, or in place of what was known; columns as in ``fit``.

        Returns
        -------
        self : Recommender
        """
        if not hasattr(self, "_model"):
            return self.fit(
                users, items, ratings, user_metadata=user_metadata, item_metadata=item_metadata
            )
        data = read_ratings(users, items, ratings)
        if self.kind_ == "explicit":
            if data.values is None:
                raise ValueError("the fit had ratings: partial_fit needs them too, got None.")
            check_in_scale(data.values, self.scale_)
        model, ids = self._model, list(self._ids)
        before = len(ids[USERS]), len(ids[ITEMS])
        for side, given in ((USERS, user_metadata), (ITEMS, item_metadata)):
            if given is not None:
                known = model.metadata[side]
                known = Metadata(given, SIDES[side]) if known is None else known.plus(given)
                model = replaced_metadata(model, side, known)
                ids[side] = ids[side].plus(known.ids)
        ids = [ids[USERS].plus(data.users.names), ids[ITEMS].plus(data.items.names)]
        new, _ = merged(data, self.kind_)
        user_at, item_at = ids[USERS].places(data.users.names), ids[ITEMS].places(data.items.names)
        entries = sp.coo_array(new)
        values = (entries.data - self._offset).astype(np.float32)
        coords = user_at[entries.coords[0]], item_at[entries.coords[1]]
        fresh = sp.csr_array((values, coords), shape=(len(ids[USERS]), len(ids[ITEMS])))
        X = updated(self._X, fresh, replace_old=self.kind_ == "explicit")
        with blas_threads(self.n_jobs):
            for side in (USERS, ITEMS):
                fresh = ids[side].names[before[side] :]
                model = with_cold_rows(model, side, fresh, before[1 - side])
            both = X, sp.csr_array(X.T)
            model = replace(model, n_clicks=np.diff(X.indptr))
            for _ in range(ROUNDS):
                for side, places in ((ITEMS, item_at), (USERS, user_at)):
                    rows = np.unique(places)
                    part = sp.csr_array(both[side][rows])
                    found = model.solve(side, part, ids[side].at(rows))
                    model = model.with_rows(side, rows, found)
        self._keep(model, (ids[USERS], ids[ITEMS]), X)
        return self

    def explain(self, user: Any, item: Any, n: int = 5) -> Explanation:
        """What led to a prediction.

        Parameters
        ----------
        user : id or `NewUser`
        item : id
        n : int, default=5
            So many components, ratings and comparisons at most.

        Returns
        -------
        explanation : Explanation
            ``print`` says it in words.
        """
        check_is_fitted(self)
        asked = self._asked(user)
        j = self._ids[ITEMS].place(item)
        if j < 0:
            raise KeyError(f"item {item!r} is not known, neither by ratings nor by metadata.")
        expected, rated = ratings_behind(self._model, asked, j)
        product = asked.factors * self.item_factors_[j]
        top = np.argsort(-product, kind="stable")[: min(n, int((product > 0).sum()))]
        names = self._ids[ITEMS]
        count = np.bincount(self._X.indices, minlength=len(names))
        usual = count >= max(1.0, float(np.median(count)))
        order = np.argsort(-np.abs(rated), kind="stable")[:n]
        liked = names.at(asked.row.indices[order]), asked.row.data[order] + self._offset
        total = float(product.sum())
        return Explanation(
            asked.name,
            item,
            float(self._in_scale(np.array([total]))[0]),
            expected + self._offset,
            [
                ComponentPart(
                    int(k), float(product[k]), names.at(most_of(self.item_factors_, usual, k, j))
                )
                for k in top
            ],
            [RatedPart(*one) for one in zip(*liked, rated[order].tolist(), strict=True)],
            self._comparisons(asked.place, j)[:n],
            total - expected - float(rated[order].sum()),
            asked.note,
        )

    def _asked(self, user: Any) -> AskedUser:
        """The user of an explanation: known, folded in, or a stranger."""
        n_items, starts = len(self.item_factors_), self._model.starts
        if isinstance(user, NewUser):
            ratings = (user.ratings - self._offset).astype(np.float32)
            parts = ratings, user.items, np.array([0, len(ratings)])
            row = sp.csr_array(parts, shape=(1, n_items))
            rows = [part[0] for part in user.rows]
            return AskedUser("the new user", -1, row, user.factors, rows, user.note)
        i = self._ids[USERS].place(user)
        if i >= 0:
            rows = [start[USERS].F[i] for start in starts]
            row = sp.csr_array(self._X[i : i + 1])
            return AskedUser(user, i, row, self.user_factors_[i], rows, "")
        self._told(f"user {user!r} is not known and taken for the mean user.", stacklevel=4)
        row = sp.csr_array((1, n_items), dtype=np.float32)
        mean = self._mean_rows[USERS]
        rows = [part * np.sqrt(len(starts)) for part in np.split(mean, len(starts))]
        return AskedUser(user, -1, row, mean, rows, "not known: as the mean user")

    def _comparisons(self, i: int, j: int) -> list[Comparison]:
        found = []
        for side, place in ((ITEMS, j), (USERS, i)):
            triplets: Triplets = self._triplets[side]
            if place < 0 or triplets.n_triplets == 0:
                continue
            met = self._satisfied(side)
            for t in np.flatnonzero((triplets.items == place).any(axis=1)):
                q, r, s = self._ids[side].at(triplets.items[t])
                found.append(Comparison(q, r, s, bool(met[t])))
        return found


class _New:
    """The id of someone who has none."""

    def __repr__(self) -> str:
        return "new user"


_NEW = _New()


def is_several(given: Any) -> bool:
    """Whether it is a list of ids, and not one."""
    return isinstance(given, (list, set, frozenset, range, np.ndarray)) or hasattr(
        given, "to_numpy"
    )


def as_names(given: Any, ids: Ids) -> list[Any]:
    """One id or several, as a list."""
    return id_list(given, ids.what) if is_several(given) else [given]
