"""Ratings or clicks in, recommendations out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rprnmf.recommend.answers import SIDES, Answers, asked_names
from rprnmf.recommend.click_weight import with_chosen_alpha
from rprnmf.recommend.early_stopping import EARLY_STOPPING_ITERATIONS, best_iteration
from rprnmf.recommend.far import FarRows, n_rated
from rprnmf.recommend.fitting import Task, fit_stacked
from rprnmf.recommend.ids import Ids, id_list
from rprnmf.recommend.in_dask import PRECISION, is_dask
from rprnmf.recommend.interest import Interest, fitted_interest
from rprnmf.recommend.knowledge import Told, known_of, look_alikes, read_triplets, with_facts
from rprnmf.recommend.placing import rated_triplets, settled, taken_in
from rprnmf.recommend.rating_scale import check_further, scale_of
from rprnmf.recommend.ratings import (
    MOST_STARS,
    Ratings,
    grown,
    merged,
    read_ratings,
    repeated_note,
    updated,
)
from rprnmf.recommend.recipes import RECIPES, Recipe
from rprnmf.recommend.results import NewUser
from rprnmf.recommend.stacked import ITEMS, USERS, StackedModel, mean_row, stacked_row
from rprnmf.threads import blas_threads
from rprnmf.triplets import Triplets


class Recommender(Answers, BaseEstimator):
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
    order : {"interest", "rating"}, default="interest"
        Of the lists from ratings. "interest": a model of who rates what, fitted beside the ratings
        as clicks are, counts together with the predicted ratings: as far as it can be trusted,
        ``trust_``. "rating": predicted ratings alone; it saves a quarter of the time of ``fit``.
        Predictions are the same. After a fit with "interest" it may be set to "rating" and back.
    beta_loss : {"frobenius", "kullback-leibler"}, default="frobenius"
        "kullback-leibler" with clicks is Poisson factorisation.
    missing_weight : float or "auto", default="auto"
        For clicks, and for interest: what a pair that did not happen weighs, beside 1 for one
        that did.
    alpha : float or "auto", default="auto"
        For clicks, and for interest: the weight of the L2 terms of both factors. "auto": for clicks
        it is chosen on some that short fits do not see, and told in ``notes_``.
    max_iter : int or "auto", default="auto"
        Iterations after those that choose the pull. More do not predict better. With
        ``early_stopping`` the most that are tried; "auto" is then 200.
    early_stopping : bool, default=False
        Whether to find the number of iterations: a fit that does not see some of the ratings tells
        when these are predicted best. Then all ratings are fitted for so long. It takes twice the
        time, and is worth it where data differ much from films that people rate.
    validation_fraction : float, default=0.1
        How many of the ratings that fit does not see.
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
        One for each start; not in files of `rprnmf.save`, see there.
    n_components_ : int
        Of one start.
    n_iter_ : int
        Iterations of the longest start, after those that choose the pull.
    user_satisfied_rate_, item_satisfied_rate_ : float
        The fraction of the comparisons that hold; NaN without any.
    trust_ : float or None
        What interest counts on lists, in units of its spread; 0 if who rated what seems to be
        chance. None without a model of interest: then lists are by ratings.

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
        "scale": [tuple, list, np.ndarray, None],
        "order": [StrOptions({"interest", "rating"})],
        "beta_loss": [StrOptions({"frobenius", "kullback-leibler"})],
        "missing_weight": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
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
        order="interest",
        beta_loss="frobenius",
        missing_weight="auto",
        alpha="auto",
        max_iter="auto",
        early_stopping=False,
        validation_fraction=0.1,
        unknown="warn",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.kind = kind
        self.n_starts = n_starts
        self.scale = scale
        self.order = order
        self.beta_loss = beta_loss
        self.missing_weight = missing_weight
        self.alpha = alpha
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
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
            of a sparse matrix are positions. A Dask DataFrame, or a Dask array of sparse blocks,
            is fitted where it lies (docs/dask.md).
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
        told = Told((user_triplets, item_triplets), (user_metadata, item_metadata))
        if is_dask(users):
            from rprnmf.recommend.in_blocks import fit_in_blocks

            return fit_in_blocks(self, (users, items, ratings), told)
        data = read_ratings(users, items, ratings)
        data, X, kind, notes = self._seen_as(data)
        scale, offset = scale_of(data, kind, self.scale)
        X.data -= offset
        rated = tuple(np.flatnonzero(np.diff(part.indptr)) for part in (X, sp.csc_array(X)))
        names = data.users.at(rated[USERS]), data.items.at(rated[ITEMS])
        known = known_of(told, names, (data.users, data.items), self.random_state)
        notes += known.notes
        ids, triplets = known.ids, known.triplets
        X = sp.csr_array(X[rated[USERS]][:, rated[ITEMS]], dtype=PRECISION)
        recipe = self._recipe(kind)
        task = Task(
            *(X, known.fitted, known.metadata),
            rated_triplets(known),
            recipe,
            kind == "implicit",
        )
        with blas_threads(self.n_jobs):
            if task.implicit and self.alpha == "auto":
                task, note = with_chosen_alpha(task, self.random_state, self.n_jobs)
                notes.append(note)
            if self.early_stopping:
                task, note = best_iteration(
                    task, self.validation_fraction, self.random_state, self.n_jobs
                )
                notes.append(note)
            model, fitted = fit_stacked(
                task, self.n_starts, self.random_state, self.n_jobs, int(self.verbose)
            )
            X = grown(X, len(ids[USERS]), len(ids[ITEMS]))
            model = settled(model, X, ids, triplets)
            interest = None
            if kind == "explicit" and self.order == "interest":
                clicks = self._weighed(RECIPES["implicit", "frobenius"])
                given = task, X, ids, triplets, clicks
                interest = fitted_interest(*given, self.random_state, self.n_jobs)
        self.kind_, self.scale_, self.notes_, self._offset = kind, scale, notes, offset
        self.estimators_, self.n_components_ = fitted, recipe.n_components
        self.n_iter_ = max(one.n_iter_ for one in fitted)
        self._mean = float(X.data.mean())
        self._keep(model, ids, triplets, X, interest)
        if self.verbose:
            for note in notes:
                print(note)
        return self

    def _seen_as(self, data: Ratings) -> tuple[Ratings, sp.csr_array, str, list[str]]:
        """Ratings or clicks, also as a matrix, their kind, and what is to be said of these."""
        kind, notes = self._kind_of(data)
        if kind == "implicit" and (data.stored or self.kind == "auto"):
            before, data = len(data.notes), data.happened()
            notes += data.notes[before:]
        X, repeated = merged(data, kind)
        if repeated:
            notes.append(repeated_note(repeated, kind))
            warnings.warn(notes[-1], UserWarning, stacklevel=3)
        ends = None if data.values is None else (data.values.min(), data.values.max())
        self._doubt_kind(kind, ends)
        return data, X, kind, notes

    def _kind_of(self, data: Any) -> tuple[str, list[str]]:
        """The kind of the data, and what is said of it; what has a scale is ratings."""
        if self.kind != "auto" or self.scale is not None:
            return ("explicit" if self.kind == "auto" else self.kind), [*data.notes]
        kind = data.kind()
        return kind, [*data.notes, f"the data look {kind}."]

    def _doubt_kind(self, kind: str, ends: Any) -> None:
        """Warn where what looks like counts may be ratings; ``ends`` are the least and the most."""
        if kind == "implicit" and self.kind == "auto" and ends is not None:
            text = "the numbers look like counts; pass kind='explicit' if they are ratings."
            if ends[0] < ends[1] <= MOST_STARS:
                warnings.warn(text, UserWarning, stacklevel=3)

    def _recipe(self, kind: str) -> Recipe:
        recipe = RECIPES[kind, self.beta_loss]
        if kind == "implicit":
            recipe = self._weighed(recipe)
        K, most = self.n_components, self.max_iter
        usual = EARLY_STOPPING_ITERATIONS if self.early_stopping else recipe.max_iter
        return replace(
            recipe,
            n_components=recipe.n_components if K == "auto" else int(K),
            max_iter=usual if most == "auto" else int(most),
        )

    def _weighed(self, recipe: Recipe) -> Recipe:
        """A recipe of clicks with the weights that were asked for."""
        weights = recipe.weights
        if self.missing_weight != "auto":
            weights = replace(weights, missing_weight=float(self.missing_weight))
        if self.alpha != "auto":
            weights = replace(weights, alpha=float(self.alpha))
        return replace(recipe, weights=weights)

    def _keep(
        self,
        model: StackedModel,
        ids: tuple[Ids, Ids],
        triplets: tuple[Triplets, Triplets],
        X: Any,
        interest: Interest | None = None,
        spread: float | None = None,
    ) -> None:
        self._model, self._ids, self._triplets, self._X = model, ids, triplets, X
        self.user_ids_, self.item_ids_ = ids[USERS].names, ids[ITEMS].names
        self.user_factors_, self.item_factors_ = model.factor(USERS), model.factor(ITEMS)
        self._scored = model.scored(USERS), model.scored(ITEMS)
        self._strangers = [model.scored_row(side, mean_row(model, side)) for side in (USERS, ITEMS)]
        if spread is None:
            users = np.repeat(np.arange(len(ids[USERS])), np.diff(X.indptr))
            both = self._scored[USERS][users], self._scored[ITEMS][X.indices]
            fitted = np.einsum("ik,ik->i", *both)
            spread = float(np.sqrt(np.mean((fitted - X.data) ** 2)))
        told = n_rated(X)
        if model.usual is not None:
            told = model.usual.told[ITEMS]
        self._errors = spread / np.sqrt(told + 1.0)  # of an item's mean, about
        self._interest = interest
        self._set_listing()
        for side, name in enumerate(SIDES):
            rate = self._satisfied(side).mean() if triplets[side].n_triplets else np.nan
            setattr(self, f"{name}_satisfied_rate_", float(rate))

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
        if np.ndim(ratings) == 0 and isinstance(ratings, Real):
            ratings = [ratings]  # of one item
        items = asked_names(items, self._ids[ITEMS])
        ratings = list(ratings) if isinstance(ratings, Iterator) else ratings
        if len(id_list(items, "item")) == 0 and (ratings is None or len(ratings) == 0):
            row = sp.csr_array((1, len(self.item_factors_)), dtype=np.float32)
            strange, repeats = "", "no ratings."
        else:
            data = read_ratings(["new"] * len(items), items, ratings)
            row, strange, repeats = self._new_row(data)
        if strange:
            self._told(strange)
        note = " ".join(filter(None, (strange, repeats)))
        known = self._model.metadata[USERS]
        if metadata is not None:
            known = with_facts(known, {_NEW: metadata}, "user")
        with blas_threads(1):  # for one row threads cost more than they save
            model = self._model.with_metadata(USERS, known)
            rows = model.solve(USERS, model.task(USERS, row, [_NEW]))
            of_interest = None
            if self._interest is not None:
                of_interest = self._interest.row_of(row, [_NEW], known)
        if repeats:
            warnings.warn(repeats, UserWarning, stacklevel=2)
        unit = float(self._model.unit_of(np.array([row.nnz]))[0])
        return NewUser(
            stacked_row([part[0] for part in rows]) / unit,
            rows,
            row.indices,
            row.data + self._offset,
            note,
            of_interest,
            self._model.token,
        )

    def _new_row(self, data: Ratings) -> tuple[sp.csr_array, str, str]:
        """The ratings, and what is to be said of strange items and of repeated pairs."""
        places = self._ids[ITEMS].places(data.items.names)
        known = places[data.item] >= 0
        check_further(data, self.kind_, self.scale_, "fold_in")
        n_strange = int((~known).sum())
        strange = f"{n_strange} of {data.n} items are not known and left out." if n_strange else ""
        X, repeated = merged(data.take(known), self.kind_)
        full = sp.coo_array(X)
        values = (full.data - self._offset).astype(np.float32)
        coords = full.coords[0], places[full.coords[1]]
        row = sp.csr_array((values, coords), shape=(1, len(self.item_factors_)))
        return row, strange, repeated_note(repeated, self.kind_)

    def partial_fit(
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
        """Take in new ratings, users and items; the others stay as they are.

        The rows of users and items with new ratings are solved again, by turns, with what
        features were found to say. A new rating of a pair replaces the old one; counts add up.

        Parameters
        ----------
        users, items, ratings : as in ``fit``
        user_triplets, item_triplets : as in ``fit``
            Further comparisons; those of the fit stay. The rows that they name move.
        user_metadata, item_metadata : DataFrame or dict, default=None
            Of new users and items, or in place of what was known; columns as in ``fit``.

        Returns
        -------
        self : Recommender
        """
        if isinstance(getattr(self, "_X", None), FarRows):
            raise ValueError(
                "partial_fit needs all ratings in one place, and the fit was of a Dask collection; "
                "fit again, with the new ratings among the others."
            )
        if not hasattr(self, "_model"):
            return self.fit(
                *(users, items, ratings),
                user_triplets=user_triplets,
                item_triplets=item_triplets,
                user_metadata=user_metadata,
                item_metadata=item_metadata,
            )
        data = read_ratings(users, items, ratings)
        check_further(data, self.kind_, self.scale_, "partial_fit")
        model, old, notes = self._model, self._ids, [*self.notes_]
        ids = list(old)
        for side, given in ((USERS, user_metadata), (ITEMS, item_metadata)):
            if given is not None:
                known = with_facts(model.metadata[side], given, SIDES[side])
                model = model.with_metadata(side, known)
                ids[side] = ids[side].plus(known.ids)
                if n_new := len(ids[side]) - len(old[side]):
                    notes.append(f"partial_fit: metadata tell of {n_new} new {SIDES[side]}s.")
                if alike := look_alikes(known, old[side]):
                    notes.append(alike)
                    warnings.warn(alike, UserWarning, stacklevel=2)
        both = ids[USERS].plus(data.users.names), ids[ITEMS].plus(data.items.names)
        new, repeated = merged(data, self.kind_)
        at = both[USERS].places(data.users.names), both[ITEMS].places(data.items.names)
        entries = sp.coo_array(new)
        values = (entries.data - self._offset).astype(np.float32)
        coords = at[USERS][entries.coords[0]], at[ITEMS][entries.coords[1]]
        fresh = sp.csr_array((values, coords), shape=(len(both[USERS]), len(both[ITEMS])))
        X = updated(self._X, fresh, replace_old=self.kind_ == "explicit")
        told, rows = [], []
        for side, more in ((USERS, user_triplets), (ITEMS, item_triplets)):
            found = read_triplets(more, both[side], model.metadata[side], self.random_state)
            told.append(self._triplets[side] + found)
            strange = np.arange(len(old[side]), len(both[side]))
            rows.append(np.unique(np.concatenate((at[side], strange, found.items.ravel()))))
        triplets = told[USERS], told[ITEMS]
        if repeated:  # before anything changes: a warning may be an error
            notes.append(repeated_note(repeated, self.kind_))
            warnings.warn(notes[-1], UserWarning, stacklevel=2)
        with blas_threads(self.n_jobs):
            model = taken_in(model, X, both, triplets, rows)
            interest = self._interest
            if interest is not None:
                interest = interest.with_ratings(X, both, triplets, rows, model.metadata)
        before = dict(vars(self))
        try:
            self._mean, self.notes_ = float(X.data.mean()), notes
            self._keep(model, both, triplets, X, interest)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self


class _New:
    """The id of someone who has none."""

    def __repr__(self) -> str:
        return "new user"


_NEW = _New()
