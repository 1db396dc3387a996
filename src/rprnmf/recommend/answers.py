"""What a fitted recommender answers: predictions, lists, what is alike, and why."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, KeysView, ValuesView
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from rprnmf.checks import check_count
from rprnmf.metrics import triplet_distances
from rprnmf.recommend.explanation import (
    AskedUser,
    Comparison,
    ComponentPart,
    Explanation,
    Listed,
    RatedPart,
    most_of,
    ratings_behind,
)
from rprnmf.recommend.far import FarRows, n_rated, similar_rows
from rprnmf.recommend.ids import Ids, id_list
from rprnmf.recommend.interest import Interest, clicks_of
from rprnmf.recommend.listing import Listing, by_rating
from rprnmf.recommend.results import NewUser, Recommendations
from rprnmf.recommend.stacked import ITEMS, USERS, StackedModel, mean_row
from rprnmf.recommend.top_n import top_n
from rprnmf.triplets import Triplets

SIDES = ("user", "item")


class Answers:
    """The methods of `Recommender` that leave it as it is."""

    unknown: str
    order: str
    kind_: str
    scale_: tuple[float, float] | None
    user_factors_: np.ndarray
    item_factors_: np.ndarray
    _model: StackedModel
    _ids: tuple[Ids, Ids]
    _triplets: tuple[Triplets, Triplets]
    _X: sp.csr_array
    _scored: tuple[np.ndarray, np.ndarray]
    _strangers: list[np.ndarray]
    _errors: np.ndarray
    _interest: Interest | None
    _offset: float
    _mean: float

    def _set_listing(self) -> None:
        """What orders lists follows from the models."""
        self._listing: Listing | None = None
        self.trust_: float | None = None
        if self._interest is not None:
            usual = self._model.usual
            told = n_rated(self._X) if usual is None else usual.told[ITEMS]
            error = float(np.mean(self._errors * np.sqrt(told + 1.0)))  # see `_keep`
            self._listing = Listing(self._interest, self._scored[ITEMS], self._errors, error)
            self.trust_ = self._listing.trust

    def _by_interest(self) -> Listing | None:
        """What orders lists; None: the predictions alone."""
        return None if self.order == "rating" else self._listing

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
        places = self._ids[side].places(names)
        known = places >= 0
        rows = self._scored[side][places]
        rows[~known] = self._strangers[side]
        for place, name in enumerate(names):
            if isinstance(name, NewUser):
                rows[place], known[place] = self._scored_user(name), True
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
        folded = self._scored_user(users) if isinstance(users, NewUser) else None
        names = [
            [None] if folded is not None else asked_names(users, self._ids[USERS]),
            asked_names(items, self._ids[ITEMS]),
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

    def _scored_user(self, user: NewUser) -> np.ndarray:
        if user.token != self._model.token:
            raise ValueError("the new user was folded into another fit: fold in again.")
        ratings = user.ratings - self._offset
        return self._model.scored_row(USERS, user.factors, ratings)

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
            For ratings: so many standard errors, which are large for items with few ratings, are
            taken off the predicted rating before it counts for the order. Without it, 0, lists by
            ratings alone begin with items that one person gave five stars. Scores are predictions
            in any case.

        Returns
        -------
        found : Recommendations, or a list of these
            One for each user; for one id, one.
        """
        check_is_fitted(self)
        n = check_count(n, "n")
        allowed, strange = self._allowed(filter_items, among)
        names = [users] if isinstance(users, NewUser) else asked_names(users, self._ids[USERS])
        single = len(names) == 1 and (names[0] is users or users in self._ids[USERS])
        W, known = self._rows(names, USERS)
        notes = ["; ".join(filter(None, (one, *strange))) for one in self._notes(names, known)]
        seen = self._seen(names) if exclude_seen else None
        H = self._scored[ITEMS]
        W = np.asarray(W, dtype=H.dtype)
        doubt = self._doubts(caution)
        listing = self._by_interest()
        if listing is None:
            lists = by_rating(W, H, doubt, n, seen, allowed)
        else:
            interest = self._interest_rows(listing, names)
            lists = listing.lists(interest, W, float(caution), n, seen, allowed)
        ids = self._ids[ITEMS]
        found = [
            Recommendations(ids.at(places), self._in_scale(values), note)
            for (places, values), note in zip(lists, notes, strict=True)
        ]
        return found[0] if single else found

    def _interest_rows(self, listing: Listing, names: list[Any]) -> np.ndarray:
        """The rows of users in the model of interest; strangers have the mean row."""
        places = self._ids[USERS].places(names)
        rows = listing.users[places]
        rows[places < 0] = listing.stranger
        for place, name in enumerate(names):
            if isinstance(name, NewUser):
                if name.interest is None or len(name.interest) != rows.shape[1]:
                    raise ValueError("the new user was folded into another fit: fold in again.")
                rows[place] = name.interest
        return rows

    def _notes(self, users: list[Any], known: np.ndarray) -> list[str]:
        """What lists rest on where that is not the ratings of the user."""
        places = self._ids[USERS].places(users)
        n_rated = self._model.n_clicks
        facts = self._model.metadata[USERS]
        notes = []
        for user, place, there in zip(users, places, known, strict=True):
            if isinstance(user, NewUser):
                notes.append(user.note)
            elif not there:
                notes.append("not known: as the mean user")
            elif n_rated[place] == 0:
                told = "by metadata" if facts is not None and user in facts else "as the mean user"
                notes.append(f"no ratings: {told}")
            else:
                notes.append("")
        return notes

    def _seen(self, users: list[Any]) -> sp.csr_array:
        """What users have rated, one row each."""
        places = self._ids[USERS].places(users)
        if (places >= 0).all():
            return self._X[places[0] : places[0] + 1] if len(places) == 1 else self._X[places]
        X = self._X[places]
        rows = [
            user.items if isinstance(user, NewUser) else X.indices[X.indptr[k] : X.indptr[k + 1]]
            for k, user in enumerate(users)
        ]
        rows = [
            row if isinstance(user, NewUser) or place >= 0 else row[:0]
            for row, user, place in zip(rows, users, places, strict=True)
        ]
        indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
        indices = np.concatenate(rows)
        return sp.csr_array(
            (np.ones(len(indices), np.float32), indices, indptr),
            shape=(len(rows), X.shape[1]),
        )

    def _doubts(self, caution: float) -> np.ndarray | None:
        """What is taken off the rating of every item for the ordering; None: nothing."""
        good = isinstance(caution, Real) and not isinstance(caution, bool)
        if not good or not 0 <= caution < np.inf:
            raise ValueError(f"caution must be a finite number of at least 0, got {caution!r}.")
        if caution == 0 or self.kind_ == "implicit":
            return None
        return (float(caution) * self._errors).astype(self.item_factors_.dtype)

    def _allowed(self, filter_items: Any, among: Any) -> tuple[np.ndarray | None, list[str]]:
        """Which items may be listed, None for all; and what is to be said of ids."""
        if filter_items is None and among is None:
            return None, []
        allowed = np.full(len(self.item_factors_), among is None)
        notes = []
        for given, what in ((among, "among"), (filter_items, "filter_items")):
            if given is None:
                continue
            places = self._ids[ITEMS].places(id_list(given, what))
            allowed[places[places >= 0]] = what == "among"
            if n_strange := int((places < 0).sum()):
                notes.append(f"{n_strange} of {len(places)} items of {what} are not known")
        return allowed, notes

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
        if isinstance(name, NewUser):
            raise TypeError("similar_users takes the id of a user of the fit, not a new user.")
        place = self._ids[side].place(name)
        if place < 0:
            raise KeyError(f"{SIDES[side]} {name!r} is not known, neither by ratings nor metadata.")
        factor = (self.user_factors_, self.item_factors_)[side]
        if side == USERS and isinstance(self._X, FarRows):
            best, scores = similar_rows(factor, place, n)
            return Recommendations(self._ids[side].at(best), scores.astype(float))
        apart = factor - factor.mean(axis=0)
        length = np.sqrt(np.einsum("ik,ik->i", apart, apart))
        unit = apart / np.where(length > 0, length, 1.0)[:, None]
        allowed = np.arange(len(factor)) != place
        best, scores = top_n(unit[place : place + 1], unit, n, None, allowed)
        there = best[0] >= 0
        return Recommendations(self._ids[side].at(best[0][there]), scores[0][there].astype(float))

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
        n = check_count(n, "n")
        asked = self._asked(user)
        j = self._ids[ITEMS].place(item)
        if j < 0:
            raise KeyError(f"item {item!r} is not known, neither by ratings nor by metadata.")
        other, K = self._scored[ITEMS][j], self.item_factors_.shape[1]
        both = (asked.scored * other).astype(np.float64)
        product, usual = both[:K], float(both[K:].sum())  # the last columns are of mean ratings
        expected, rated = ratings_behind(self._model, asked, j)
        left = 1.0 - self._model.lean(asked.row, asked.place, j)
        expected, rated = left * expected + usual, left * rated
        top = np.argsort(-product, kind="stable")[: min(n, int((product > 0).sum()))]
        names = self._ids[ITEMS]
        count = n_rated(self._X)
        often = count >= max(1.0, float(np.median(count)))
        order = np.argsort(-np.abs(rated), kind="stable")[:n]
        liked = names.at(asked.row.indices[order]), asked.row.data[order] + self._offset
        total = float(both.sum())
        return Explanation(
            asked.name,
            item,
            float(self._in_scale(np.array([total]))[0]),
            expected + self._offset,
            [
                ComponentPart(
                    int(k), float(product[k]), names.at(most_of(self.item_factors_, often, k, j))
                )
                for k in top
            ],
            [RatedPart(*one) for one in zip(*liked, rated[order].tolist(), strict=True)],
            self._comparisons(asked.place, j)[:n],
            total - expected - float(rated[order].sum()),
            asked.note,
            usual,
            self._offset,
            self._listed(asked, user, j, n),
        )

    def _listed(self, asked: AskedUser, user: Any, j: int, n: int) -> Listed | None:
        """Where the item stands on the list of a user, and what makes the interest."""
        listing = self._by_interest()
        if listing is None:
            return None
        row = self._interest_rows(listing, [user])[0]
        place = listing.place(row, asked.scored, j)
        clicks = clicks_of(asked.row)
        of_interest = asked._replace(row=clicks, scored=row, rows=[row])
        if asked.place >= 0:
            model = listing.interest.model
            of_interest = of_interest._replace(rows=[model.starts[0][USERS].F[asked.place]])
        _, parts = ratings_behind(listing.interest.model, of_interest, j)
        top = np.argsort(-parts, kind="stable")[: min(n, int((parts > 0).sum()))]
        return Listed(*place, self._ids[ITEMS].at(clicks.indices[top]))

    def _asked(self, user: Any) -> AskedUser:
        """The user of an explanation: known, folded in, or a stranger."""
        n_items, starts = len(self.item_factors_), self._model.starts
        if isinstance(user, NewUser):
            ratings = (user.ratings - self._offset).astype(np.float32)
            parts = ratings, user.items, np.array([0, len(ratings)])
            row = sp.csr_array(parts, shape=(1, n_items))
            rows = [part[0] for part in user.rows]
            return AskedUser("the new user", -1, row, self._scored_user(user), rows, user.note)
        i = self._ids[USERS].place(user)
        if i >= 0:
            rows = [start[USERS].F[i] for start in starts]
            row = sp.csr_array(self._X[i : i + 1])
            return AskedUser(user, i, row, self._scored[USERS][i], rows, "")
        self._told(f"user {user!r} is not known and taken for the mean user.", stacklevel=4)
        row = sp.csr_array((1, n_items), dtype=np.float32)
        mean = mean_row(self._model, USERS)
        rows = [part * np.sqrt(len(starts)) for part in np.split(mean, len(starts))]
        return AskedUser(user, -1, row, self._strangers[USERS], rows, "not known: as the mean user")

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


def is_several(given: Any) -> bool:
    """Whether it is a list of ids, and not one."""
    several = (list, set, frozenset, range, np.ndarray, Iterator, KeysView, ValuesView)
    return isinstance(given, several) or hasattr(given, "to_numpy")


def asked_names(given: Any, ids: Ids) -> list[Any]:
    """One id or several, as a list; None is none."""
    if given is None:
        raise TypeError(f"{ids.what}s is None: pass an id, or a list of ids.")
    return as_names(given, ids)


def as_names(given: Any, ids: Ids) -> list[Any]:
    """One id or several, as a list. A tuple is an id, unless its entries are."""
    if given in ids:
        return [given]
    if isinstance(given, tuple) and given and all(one in ids for one in given):
        return list(given)
    return id_list(given, ids.what) if is_several(given) else [given]
