"""The fit of a recommender where the ratings lie in blocks of users.

The steps are those of `fitting.py` and `placing.py`. The estimator fits the Dask array; then the
rows of users with few ratings are solved where they lie. Here are the rows of items, and those of
users without ratings or that comparisons name.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from rprnmf.observed import Reading, make_remote_view
from rprnmf.priors.remote_data import row_features
from rprnmf.recommend.block_mask import item_mask, part_of
from rprnmf.recommend.clicks import Clicks
from rprnmf.recommend.far import Blocks, FarRows, Ratings
from rprnmf.recommend.features import RowFeatures, SideFeatures
from rprnmf.recommend.fitting import Prepared, Task, fit_one
from rprnmf.recommend.in_dask import (
    Matrix,
    as_array,
    matrix_in_blocks,
    read_blocks,
    scale_of_blocks,
)
from rprnmf.recommend.knowledge import Known, Told, known_of
from rprnmf.recommend.leaning import lean_sums, looked_at, share_of_sums, without_own_row
from rprnmf.recommend.placing import placed, rated_triplets, resolved
from rprnmf.recommend.ratings import repeated_note
from rprnmf.recommend.row_model import RowModel, known_prior
from rprnmf.recommend.stacked import ITEMS, USERS, StackedModel, stacked_row
from rprnmf.recommend.usual import Usual
from rprnmf.remote import Placed, Remote, RemoteArray, as_dask, rows_beside
from rprnmf.remote import placed as placed_in_pool
from rprnmf.threads import blas_threads


def fit_in_blocks(model: Any, given: tuple[Any, Any, Any], told: Told) -> Any:
    """Fit a `Recommender` to a Dask DataFrame, or a Dask array of sparse blocks."""
    if model.early_stopping:
        raise ValueError(
            "early_stopping=True holds ratings out, which needs them in one place; pass max_iter, "
            "or fit users.compute()."
        )
    data = read_blocks(*given)
    kind, notes = model._kind_of(data)
    scale, offset = scale_of_blocks(data, kind, model.scale)
    matrix = matrix_in_blocks(data, kind, scale, offset)
    if matrix.repeated:
        notes.append(repeated_note(matrix.repeated, kind))
        warnings.warn(notes[-1], UserWarning, stacklevel=3)
    model._doubt_kind(kind, None if data.stats is None else (data.stats.low, data.stats.high))
    names = data.users.at(matrix.rated[USERS]), data.items.at(matrix.rated[ITEMS])
    known = known_of(told, names, (data.users, data.items), model.random_state)
    notes += known.notes
    if kind == "explicit" and model.order == "interest":
        notes.append(
            "order='interest' needs the ratings in one place: lists are in the order of predicted "
            "ratings."
        )
        warnings.warn(notes[-1], UserWarning, stacklevel=3)
    recipe, implicit = model._recipe(kind), kind == "implicit"
    if implicit and model.alpha == "auto":
        usual = recipe.weights.alpha
        notes.append(f"alpha = {usual:g}, the usual: to choose it needs the clicks in one place.")
    task = Task(matrix.X, known.fitted, known.metadata, rated_triplets(known), recipe, implicit)
    with blas_threads(model.n_jobs):
        fit = BlockFit(task, matrix, model.n_jobs)
        try:
            found = fit.run(model, known)
        finally:
            fit.here.pool.close()
    stacked, fitted, spread = found
    model.kind_, model.scale_, model.notes_, model._offset = kind, scale, notes, offset
    model.estimators_, model.n_components_ = fitted, recipe.n_components
    model.n_iter_ = max(one.n_iter_ for one in fitted)
    model._mean = fit.overall
    cold = len(known.ids[USERS]) - len(known.fitted[USERS])
    n_items = len(known.ids[ITEMS])
    counts = padded(fit.counts[ITEMS], n_items)
    X = Ratings(fit.wide(n_items), cold, counts)
    model._keep(stacked, known.ids, known.triplets, X, spread=spread)
    if model.verbose:
        for note in notes:
            print(note)
    return model


class BlockFit:
    """A task whose ratings are a Dask array.

    Parameters
    ----------
    task : Task
    ratings : Matrix
        Those of the task.
    n_jobs : int or None
    """

    def __init__(self, task: Task, ratings: Matrix, n_jobs: Any):
        self.task, self.n_jobs = task, n_jobs
        X, self.blocks = ratings.X, ratings.blocks
        self.clicks, matrix, weights = self.weighed(X)
        self.matrix, self.weights = matrix, weights
        self.here: Placed = placed_in_pool(matrix, weights)
        pool = self.pool = self.here.pool
        self.X: Remote = self.here.blocks if weights is None else pool.place(X)
        reading = Reading("zero", task.recipe.weights.missing_weight, "Recommender")
        self.view = make_remote_view(self.here, reading, n_jobs)
        users = pool.each(sums_of_users, self.X)
        of_items, sums_of_items = pool.total(sums_of_columns, self.X)
        self.counts = np.concatenate([one for one, _ in users]), of_items
        self.sums = np.concatenate([two for _, two in users]), sums_of_items
        self.overall = float(self.sums[ITEMS].sum() / of_items.sum())
        self.features = self.side(USERS), self.side(ITEMS)

    def weighed(self, X: Any) -> tuple[Clicks | None, Any, Any]:
        """How clicks are weighed, the matrix that is fitted, and the weights of its entries."""
        if not self.task.implicit:
            return None, X, None
        import dask

        blocks = self.blocks
        found = dask.compute(*[dask.delayed(different_counts)(block) for block in blocks])
        values, times = (np.concatenate(each) for each in zip(*found, strict=True))
        beta_loss = self.task.recipe.weights.beta_loss
        clicks = Clicks.of_counts(values, times, X.shape[0], beta_loss)
        both = [dask.delayed(weighed_block, nout=2)(block, clicks) for block in blocks]
        both = list(dask.persist(*both))
        sizes, m, dtype = list(X.chunks[0]), X.shape[1], X.dtype
        matrix, weights = (
            as_array([dask.delayed(item)(pair, k) for pair in both], sizes, m, dtype)
            for k in (0, 1)
        )
        return clicks, matrix, None if clicks.poisson else weights

    def side(self, side: int) -> SideFeatures:
        """The features of users or items."""
        task = self.task
        stub: Any = SimpleNamespace(shape=(len(task.ids[side]), 0), remote=False, row_counts=None)
        none = sp.csr_array((0, 0))
        found = SideFeatures(task.metadata[side], task.ids[side].names, stub, none, False)
        if task.recipe.by_data:
            if not self.view.incomplete:
                raise ValueError(
                    "next to all pairs of user and item have a rating; fit them in one place, "
                    "with users.compute()."
                )
            n_columns = len(self.counts[1 - side])
            if side == USERS:
                features, phi = row_features(self.view, True, np.zeros(n_columns))
                part = part_of(features, as_dask(phi), n_columns)
            else:
                mask = item_mask(self.pool, self.X, self.counts)
                part = part_of(mask, mask.phi, n_columns)
            found.parts.append(part)
            found.names = [name for part in found.parts for name in part.names]
        known = found.parts[0].phi if found.n_known else np.zeros((stub.shape[0], 0))
        found.rows = RowFeatures(known, None)
        return found

    def run(self, model: Any, known: Known) -> tuple[StackedModel, list[Any], float]:
        """The model of all starts, the estimators, and the error of an entry."""
        given = Prepared(self.matrix, self.weights, [], self.features, self.clicks)
        rng = check_random_state(model.random_state)
        starts, fitted = [], []
        for _ in range(model.n_starts):
            seed = int(rng.randint(np.iinfo(np.int32).max))
            one = fit_one(
                self.task, given, seed, None, n_jobs=self.n_jobs, verbose=int(model.verbose)
            )
            starts.append(self.start(one))
            fitted.append(one)
        usual = None if self.task.implicit else self.usual(starts[0])
        shape = len(self.counts[USERS]), len(self.counts[ITEMS])
        told = self.task.metadata, shape, self.task.recipe.weights, self.clicks
        stacked = StackedModel(starts, self.features, *told, self.counts[USERS], usual, self.n_jobs)
        stacked = self.settled(stacked, known)
        spread = self.spread(stacked)
        return self.kept(stacked), fitted, spread

    def start(self, fitted: Any) -> tuple[RowModel, RowModel]:
        """The rows of one start."""
        W = rows_beside(self.pool, fitted.embedding_, "W")
        F = RemoteArray.of(W, fitted.embedding_.shape[1:], fitted.embedding_.dtype)
        H = np.ascontiguousarray(fitted.components_.T)
        users = RowModel.of(F, self.far_features(), self.view, fitted.prior_[USERS])  # type: ignore
        items = RowModel.of(H, self.features[ITEMS], self.view.T, fitted.prior_[ITEMS])
        return replace(users, F=FarRows(F, np.zeros((0, F.shape[1]), F.dtype))), items  # type: ignore

    def far_features(self) -> Any:
        """What is known of users, laid where their rows lie."""
        rows = self.view.with_rows(self.features[USERS].rows.known)
        return SimpleNamespace(rows=RowFeatures(rows, None))

    def usual(self, start: tuple[RowModel, RowModel]) -> Usual:
        """Mean ratings, and how much rows without ratings lean on them."""
        pool, (users, items) = self.pool, start
        F: Any = users.F
        prior = known_prior(self.far_features(), self.view)
        rows = looked_at(len(F))
        part = sp.csr_array(sp.vstack(pool.each(rows_within, self.X, pool.first, rows)))
        sides = self.counts[ITEMS], self.sums[ITEMS]
        far = lean_sums(without_own_row(prior, F.blocks, rows), items.F, part, sides, self.overall)
        prior = known_prior(self.features[ITEMS], self.view.T)
        rows = looked_at(len(items.F))
        at = without_own_row(prior, items.F, rows), rows, self.overall
        near = pool.total(lean_sums_of_block, self.X, F.blocks, *at)
        most = share_of_sums(*far), share_of_sums(*near)
        none = np.zeros((0, 3), dtype=np.int64)
        return Usual.of_sums(self.overall, self.counts, self.sums, most, (none, none))

    def settled(self, model: StackedModel, known: Known) -> StackedModel:
        """As `placing.settled`."""
        sizes = tuple(map(len, known.ids))
        counts, sums = (
            tuple(padded(each, n) for each, n in zip(both, sizes, strict=True))
            for both in (self.counts, self.sums)
        )
        usual = model.usual
        if usual is not None:
            named = known.triplets[USERS].items, known.triplets[ITEMS].items
            usual = Usual.of_sums(self.overall, counts, sums, usual.most, named)  # type: ignore
        model = replace(model, n_clicks=counts[USERS], usual=usual)
        few = resolved(model, ITEMS, counts[ITEMS])
        X = self.columns(few, sizes)
        model = placed(model, ITEMS, X, few, known.ids[ITEMS], known.triplets[ITEMS])
        few = resolved(model, USERS, counts[USERS])
        model = self.place_users(model, few[few < len(self.counts[USERS])], known)
        here = few[(few >= len(self.counts[USERS])) | np.isin(few, known.triplets[USERS].items)]
        X = self.rows(here, sizes)
        return placed(model, USERS, X, here, known.ids[USERS], known.triplets[USERS])

    def place_users(self, model: StackedModel, few: np.ndarray, known: Known) -> StackedModel:
        """Users with few ratings, solved where they lie."""
        if not len(few):
            return model
        bounds = self.pool.bounds
        parts = []
        for first, stop in pairwise(bounds):
            rows = few[(few >= first) & (few < stop)]
            ids = known.fitted[USERS].at(rows)
            facts = model.metadata[USERS]
            own = None if facts is None else facts.only(ids)
            parts.append((rows - first, ids, own, of_block(model, slice(first, stop))))
        given = self.pool.scatter(parts)
        light = without_users(model)
        n_items = len(model.starts[0][ITEMS].F)
        found = self.pool.map(solved_block, self.X, given, light, n_items)
        starts = []
        for k, (users, items) in enumerate(model.starts):
            far: Any = users.F
            F = self.pool.map(with_solved, far.blocks, given, found, k)
            blocks = RemoteArray.of(F, far.blocks.width, far.dtype)
            starts.append((replace(users, F=FarRows(blocks, far.more)), items))  # type: ignore
        return replace(model, starts=starts)

    def columns(self, items: np.ndarray, sizes: tuple[int, ...]) -> sp.csr_array:
        """The ratings of some items, here, among rows for all items."""
        fitted = items[items < len(self.counts[ITEMS])]
        parts = self.pool.total(entries_of_columns, self.X, self.pool.first, fitted) or []
        return among(parts, (sizes[ITEMS], sizes[USERS]))

    def rows(self, users: np.ndarray, sizes: tuple[int, ...]) -> sp.csr_array:
        """The ratings of some users, here, among rows for all users."""
        fitted = users[users < len(self.counts[USERS])]
        parts = self.pool.total(entries_of_rows, self.X, self.pool.first, fitted) or []
        return among(parts, (sizes[USERS], sizes[ITEMS]))

    def spread(self, model: StackedModel) -> float:
        """The root of the mean squared error of the ratings that were fitted."""
        bounds = self.pool.bounds
        parts = [of_block(model, slice(*ends)) for ends in pairwise(bounds)]
        blocks = [start[USERS].F.blocks for start in model.starts]  # type: ignore[attr-defined]
        H = model.scored(ITEMS)
        light, own = without_users(model), self.pool.scatter(parts)
        error = self.pool.total(squared_error_of_block, self.X, own, light, H, *blocks)
        return float(np.sqrt(error / self.counts[ITEMS].sum()))

    def kept(self, model: StackedModel) -> StackedModel:
        """The model when the pool is gone: rows as Dask arrays, and no more than answers need."""
        starts = []
        for users, items in model.starts:
            far: Any = users.F
            starts.append((replace(users, F=FarRows(as_dask(far.blocks), far.more)), items))  # type: ignore
        for side, features in enumerate(self.features):
            taught: Any = features.parts[features.n_known :]
            for part in taught:
                part.phi = np.zeros((0, len(part.names)))
                if side == ITEMS:  # new items are not placed
                    part.map = None
        return replace(model, starts=starts)

    def wide(self, n_items: int) -> Any:
        """The ratings, with columns for items without ratings."""
        import dask

        X: Any = self.task.X
        blocks = self.blocks
        if n_items > X.shape[1]:
            blocks = list(dask.persist(*[dask.delayed(widened)(one, n_items) for one in blocks]))
        return Blocks(blocks, X.chunks[0], n_items, X.dtype)


def padded(values: np.ndarray, n: int) -> np.ndarray:
    """With zeros for the last of n."""
    return np.concatenate((values, np.zeros(n - len(values), dtype=values.dtype)))


def among(parts: list[Any], shape: tuple[int, int]) -> sp.csr_array:
    """A matrix of entries."""
    rows, columns, values = zip(*parts, strict=True) if parts else ([[]], [[]], [[]])
    at = np.concatenate(rows).astype(np.int64), np.concatenate(columns).astype(np.int64)
    data = np.concatenate(values)
    data = data if len(data) else np.zeros(0, np.float32)
    found = sp.csr_array((data, at), shape=shape)
    found.sort_indices()
    return found


def of_block(model: StackedModel, rows: slice) -> tuple[Any, Any]:
    """What the model knows of the users of a block: their numbers of clicks, and mean ratings."""
    usual = model.usual
    if usual is not None:
        means, told = ((both[USERS][rows], both[ITEMS]) for both in (usual.means, usual.told))
        usual = replace(usual, means=means, told=told)
    return model.n_clicks[rows], usual


def without_users(model: StackedModel) -> StackedModel:
    """The model as workers are told it: without what it knows of single users."""
    starts = [
        (replace(users, F=np.zeros((1, users.F.shape[1]), users.F.dtype)), items)
        for users, items in model.starts
    ]
    features = copy.copy(model.features[USERS])
    features.parts = [copy.copy(part) for part in features.parts]
    parts: Any = features.parts
    for part in parts:
        part.phi = np.zeros((0, len(part.names)))
    features.rows = RowFeatures(None, None)
    both: Any = features, None
    facts = None, None
    nobody = np.zeros(0, dtype=model.n_clicks.dtype)
    return replace(
        model, starts=starts, features=both, metadata=facts, n_clicks=nobody, usual=None, n_jobs=1
    )


def whole(light: StackedModel, own: tuple[Any, Any], facts: Any = None) -> StackedModel:
    """The model for the users of a block."""
    return replace(light, n_clicks=own[0], usual=own[1], metadata=(facts, None))


def solved_block(
    X: sp.csr_array, given: tuple[Any, ...], light: StackedModel, n_items: int
) -> list[np.ndarray]:
    """Some rows of a block in every start."""
    rows, ids, facts, own = given
    if not len(rows):
        return []
    model = whole(light, own, facts)
    return model.solve(USERS, model.task(USERS, widened(X[rows], n_items), ids, rows))


def with_solved(
    F: np.ndarray, given: tuple[Any, ...], found: list[np.ndarray], start: int
) -> np.ndarray:
    """The rows of a start with those that were solved."""
    if not found:
        return F
    changed = F.copy()
    changed[given[0]] = found[start]
    return changed


def squared_error_of_block(
    X: sp.csr_array, own: tuple[Any, Any], light: StackedModel, H: np.ndarray, *blocks: np.ndarray
) -> float:
    """The squared error of the ratings of a block."""
    model = whole(light, own)
    W = stacked_row(list(blocks)) / model.unit_of(own[0])[:, None]
    W = W.astype(blocks[0].dtype)
    if own[1] is not None:
        W = own[1].beside(USERS, W)
    users = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    fitted = np.einsum("ik,ik->i", W[users], H[X.indices])
    return float(np.sum((fitted - X.data).astype(np.float64) ** 2))


def lean_sums_of_block(
    X: sp.csr_array, W: np.ndarray, placed: np.ndarray, items: np.ndarray, overall: float
) -> tuple[float, float]:
    """The sums of `lean_sums` over the ratings of some items in a block."""
    counts, sums = sums_of_users(X)
    part = sp.csr_array(sp.csc_array(X)[:, items].T)
    return lean_sums(placed, W, part, (counts, sums), overall)


def sums_of_users(X: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The number of ratings of each user of a block, and their sum."""
    users = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.diff(X.indptr), np.bincount(users, weights=X.data, minlength=X.shape[0])


def sums_of_columns(X: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The same of items."""
    m = X.shape[1]
    return np.bincount(X.indices, minlength=m), np.bincount(X.indices, X.data, minlength=m)


def rows_within(X: sp.csr_array, first: int, rows: np.ndarray) -> sp.csr_array:
    """Those of some rows that are in a block."""
    return X[rows[(rows >= first) & (rows < first + X.shape[0])] - first]


Entries = list[tuple[np.ndarray, np.ndarray, np.ndarray]]


def entries_of_columns(X: sp.csr_array, first: int, items: np.ndarray) -> Entries:
    """The ratings of some items: item, user and value."""
    found = sp.coo_array(X[:, items])
    user, item = found.coords
    return [(items[item], user.astype(np.int64) + first, found.data)]


def entries_of_rows(X: sp.csr_array, first: int, users: np.ndarray) -> Entries:
    """The ratings of some users: user, item and value."""
    here = users[(users >= first) & (users < first + X.shape[0])]
    found = sp.coo_array(X[here - first])
    user, item = found.coords
    return [(here[user], item, found.data)]


def different_counts(X: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The counts of a block, each once, and how often they occur."""
    return np.unique(X.data, return_counts=True)


def weighed_block(X: sp.csr_array, clicks: Clicks) -> tuple[sp.csr_array, Any]:
    """Values and weights of the clicks of a block."""
    n_clicks = np.diff(X.indptr)
    return clicks.weighed(X, np.repeat(clicks.busy(n_clicks), n_clicks))


def item(pair: tuple[Any, Any], place: int) -> Any:
    """One of two."""
    return pair[place]


def widened(X: sp.csr_array, n_items: int) -> sp.csr_array:
    """With columns for more items."""
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n_items))
