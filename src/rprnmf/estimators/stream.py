"""`partial_fit`: blocks of rows that arrive one after the other.

The first block is fitted as any X is, but briefly; what later ones say joins the sums of those
before (`solvers/stream.py`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np

from rprnmf.checks import axis_names
from rprnmf.estimators.prediction_range import BEYOND, draw, highest
from rprnmf.estimators.prior import LearnedPrior, prior_of_counts, pull_shape
from rprnmf.estimators.prior_weight import weigh
from rprnmf.estimators.stream_level import moved, trial_errors
from rprnmf.losses import get_loss
from rprnmf.objective import Problem, Side
from rprnmf.observed import BaseView
from rprnmf.priors import Prior
from rprnmf.priors.features import MeanPart
from rprnmf.remote import is_chunked
from rprnmf.solvers import Settings
from rprnmf.solvers.result import HISTORY
from rprnmf.solvers.running_sums import RUNNING_SUMS, RunningSums
from rprnmf.solvers.stream import ROUNDS, ColumnTerms, learn_block
from rprnmf.start import start_factors

FIRST = 6  # iterations of the fit of the first block
#: attributes that only a stream has
ATTRIBUTES = ("n_steps_", "n_samples_seen_", "_stream")


@dataclass
class Stream:
    """What a model keeps of the blocks that it has learned from, beside the components.

    Attributes
    ----------
    sums : RunningSums
    pulled : float
        The sum of the weights with which rows were pulled to their mean.
    column_unit : float
        What multiplies the pull of each column (`estimators/prior.py`).
    errors : ndarray of shape (4,)
        Of entries that were held out (`estimators/stream_level.py`).
    """

    sums: RunningSums
    pulled: float = 0.0
    column_unit: float = 0.0
    errors: np.ndarray = field(default_factory=lambda: np.zeros(4))


def can_stream(model: Any) -> bool:
    """Whether a model has `partial_fit`: its H must be found from sums over its blocks."""
    try:
        row_problem = get_loss(model.beta_loss).row_problem
    except (KeyError, TypeError, ValueError):
        return True  # the check of the parameters says what is wrong
    return model.solver == "cd" and row_problem in RUNNING_SUMS


def start_anew(model: Any, view: BaseView) -> None:
    """After a fit: what is left of a stream goes, and blocks may go on from here."""
    for name in (*ATTRIBUTES, "_counts"):
        model.__dict__.pop(name, None)
    if not view.complete:
        model._counts = view.T.row_counts.astype(np.float64)


@contextmanager
def unchanged_after_errors(model: Any) -> Iterator[None]:
    """Within it an error leaves the model as it was."""
    before = dict(model.__dict__)
    try:
        yield
    except BaseException:
        model.__dict__.clear()
        model.__dict__.update(before)
        raise


def check_stream(model: Any, forget_factor: Any) -> None:
    """Refuse what a stream cannot do."""
    number = isinstance(forget_factor, Real) and not isinstance(forget_factor, bool)
    if forget_factor != "auto" if not number else not 0 <= forget_factor <= 1:
        raise ValueError(
            f"forget_factor must be 'auto' or a number from 0 to 1, got {forget_factor!r}."
        )
    known = isinstance(model.row_prior, str) and model.row_prior in ("auto", "mean")
    if not (model.row_prior is None or known):
        raise ValueError(
            "partial_fit takes row_prior='auto', 'mean' or None: features of rows would have to "
            f"come with every block; got {type(model.row_prior).__name__}."
        )


def learn(model: Any, X: Any, start: Any, entry_weights: Any, forget_factor: Any) -> None:
    """Take in one block."""
    if is_chunked(X):
        raise ValueError(
            "partial_fit takes one block of rows, and X is a Dask array; fit goes over all of its "
            "blocks, or call partial_fit with each of them, computed."
        )
    began = time.perf_counter()
    first = not hasattr(model, "components_")
    matrix, view = model._view(X, entry_weights, reset=first)
    if first:
        begin(model, matrix, view, axis_names(X, None, None), start, entry_weights)
    else:
        dtype = model.components_.dtype
        if view.dtype != dtype:
            matrix, view = model._view(matrix.astype(dtype), entry_weights, reset=False)
        if not hasattr(model, "_stream"):
            go_on(model)
    names = axis_names(X, None, None)[0]
    take_in(model, matrix, view, share_kept(model, view, forget_factor))
    model.row_names_ = names
    model.history_["seconds"] = time.perf_counter() - began


def share_kept(model: Any, view: BaseView, forget_factor: Any) -> float:
    """What the blocks before count for beside a new one.

    "auto": in the end the row at place t counts in proportion to t, however the rows were cut
    into blocks. The first rows were placed by components that knew little.
    """
    if forget_factor != "auto":
        return float(forget_factor)
    return model.n_samples_seen_ / (model.n_samples_seen_ + view.shape[0])


def begin(
    model: Any, matrix: Any, view: BaseView, names: Any, start: Any, entry_weights: Any
) -> None:
    """A short fit of the first block."""
    K = model._checked_rank(view, start, entry_weights)
    problem = model._with_priors(model._problem(matrix, view, names, {}), matrix)
    rng = np.random.mtrand._rand if model.random_state is None else model.random_state
    if model.init is None:
        pair = list(start_factors(view, K, "random", rng))  # an SVD would take most of the time
    else:
        pair = model._start(problem, K, start, rng)[1]
    problem, pair = weigh(model._solver, problem, pair, Settings(model.max_iter, model.tol))
    result = model._solver.solve(problem, pair, Settings(FIRST, model.tol))
    result.stopped = True  # that it took so many iterations is no news
    model._spread = view.spread() / model._size(result.Ht) ** 2
    model.column_names_ = names[1]
    model._keep(result, problem)
    model._highest = highest(problem)
    model.n_steps_ = model.n_samples_seen_ = 0
    sums = sums_of(model).none(view.shape[1], K, view.dtype)
    model._stream = Stream(sums, 0.0, column_unit(model, view.T.row_counts))


def go_on(model: Any) -> None:
    """Blocks after a `fit`: about what its data would have left."""
    W, Ht = model.embedding_, np.ascontiguousarray(model.components_.T)
    counts = getattr(model, "_counts", None)
    if model.prior_[0] is not None and len(model.prior_[0].coefficients):
        raise ValueError("partial_fit cannot go on from a fit whose rows had a prior of features.")
    sums = sums_of(model).of_fit(W, Ht, counts)
    pulled = 0.0 if model.prior_[0] is None else float(model.prior_[0].weights.sum())
    model._stream = Stream(sums, pulled, column_unit(model, sums.counts))
    model.n_steps_, model.n_samples_seen_ = 0, len(W)


def sums_of(model: Any) -> type[RunningSums]:
    """The kind of sums that the loss of a model wants."""
    return RUNNING_SUMS[str(get_loss(model.beta_loss).row_problem)]


def column_unit(model: Any, counts: np.ndarray) -> float:
    """What multiplies the pull of each column, from the fit that was before."""
    found = model.prior_[1]
    return 0.0 if found is None else float(found.weights.mean() / pull_shape(counts).mean())


def take_in(model: Any, matrix: Any, view: BaseView, kept: float) -> None:
    """Learn from a block, the ones before counting ``kept`` times as much as they did."""
    stream: Stream = model._stream
    wanted = sums_of(model)
    if type(stream.sums) is not wanted:
        raise ValueError(
            f"the blocks so far had another beta_loss than {model.beta_loss!r}; partial_fit of a "
            "clone begins anew."
        )
    Ht = np.ascontiguousarray(model.components_.T)
    side = model._with_norms(Side(), view.row_counts, model.alpha_W)
    prior = model._new_row_prior(matrix, view, None)
    problem = Problem(
        *(view, model.beta_loss),
        rows=replace(side, prior=prior),
        only_rows=True,
        spread=model._spread,
        size=model._size(Ht),
    )
    if prior is not None and view.gappy and model.n_steps_ > 0:
        factor, errors = moved(stream.errors + trial_errors(problem, Ht))
        stream = replace(stream, column_unit=factor * stream.column_unit, errors=errors)
        model._stream, model._pull_unit = stream, factor * model._pull_unit
        prior = prior.times(factor)
        problem = replace(problem, rows=replace(side, prior=prior))
    past = stream.sums.times(kept, by_column=not view.complete)
    rounds = ROUNDS if model.n_samples_seen_ else 1  # of the first block H comes from a fit
    done = learn_block(problem, Ht, past, lambda counts: column_terms(model, counts), rounds)
    pulled = kept * stream.pulled
    rows = None
    if prior is not None:
        weights, mean = prior.weights, model.prior_[0].intercept
        total = pulled + float(weights.sum())
        mean = (pulled * mean + weights @ done.W) / total
        pulled = total
        nothing = np.zeros((0, len(mean)))
        means = np.repeat(mean[None], len(weights), axis=0)
        rows = LearnedPrior([], nothing, mean, means, weights, 0.0)
        model._features = [MeanPart(view), model._features[1]]
    model.prior_ = rows, learned_columns(model, done.Ht, done.sums.counts)
    model._stream = replace(stream, sums=done.sums, pulled=pulled)
    model.n_steps_ += 1
    model.n_samples_seen_ += view.shape[0]
    show(model, view, done.W, done.Ht)


def show(model: Any, view: BaseView, W: np.ndarray, Ht: np.ndarray) -> None:
    """Set what a user may look at."""
    if model._highest is not None:
        model._highest = max(model._highest, BEYOND * float(view.largest))
        if model.prior_[0] is not None:
            draw(W, Ht, model.prior_[0].means, model._highest)
    loss = get_loss(model.beta_loss)
    value = loss.value(view, W, Ht)
    # a transposed view: to copy so many columns would take as long as a step
    model.embedding_, model.components_ = W, Ht.T
    model.reconstruction_err_ = loss.reconstruction_err(value)
    model.n_iter_, model.converged_ = ROUNDS, False
    model.history_ = np.zeros(1, dtype=HISTORY)
    model.history_["objective"] = model.history_["loss"] = value
    for name in ("row_satisfied_rate", "column_satisfied_rate"):
        model.history_[name] = np.nan


def column_terms(model: Any, counts: np.ndarray) -> ColumnTerms:
    """The terms of H, where its columns have so many observed entries."""
    alpha = model.alpha_W if model.alpha_H == "same" else model.alpha_H
    side = model._with_norms(Side(), counts, alpha)
    zeros = np.zeros(len(counts))
    l1, l2 = (zeros if norm is None else norm for norm in (side.l1, side.l2))
    return ColumnTerms(l1, l2, prior_of_columns(model, counts))


def prior_of_columns(model: Any, counts: np.ndarray) -> Prior | None:
    """What pulls the columns, or None."""
    features = model._features[1]
    if features is None:
        return None
    size = model._stream.column_unit * float(pull_shape(counts).mean())
    return prior_of_counts(features, counts).times(size)


def learned_columns(model: Any, Ht: np.ndarray, counts: np.ndarray) -> LearnedPrior | None:
    """What the prior of the columns is by now."""
    prior = prior_of_columns(model, counts)
    if prior is None:
        return None
    B, b = prior.coefficients(Ht)
    names = model._features[1].names
    return LearnedPrior(names, B, b, prior.means(Ht), prior.weights, prior.ridge)
