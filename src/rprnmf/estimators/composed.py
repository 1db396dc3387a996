"""What the four estimators share: estimator = loss x penalties x tying x solver."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from rprnmf.checkpoints import Entry
from rprnmf.checks import (
    axis_names,
    check_entry_weights,
    check_matrix,
    check_range_of_values,
    check_start,
    label_codes,
    summable,
)
from rprnmf.estimators.checkpointing import Checkpoint, interrupted, open_journal
from rprnmf.estimators.graph_strength import with_graph_strengths
from rprnmf.estimators.prediction_range import draw, highest, keep_in_range
from rprnmf.estimators.prior import (
    NEW_ROWS,
    LearnedPrior,
    learned,
    prior_of,
    pull_shape,
    tables_of_new_rows,
)
from rprnmf.estimators.prior_weight import FEWEST, weigh
from rprnmf.estimators.registered_names import RegisteredNames
from rprnmf.estimators.remote_fit import fit_where_it_lies
from rprnmf.estimators.remote_refusals import refuse_in_blocks
from rprnmf.estimators.remote_transform import inverse_blocks, transform_blocks
from rprnmf.estimators.sklearn_callbacks import (
    TEARDOWN,
    CallbackSupportMixin,
    with_sklearn_callbacks,
)
from rprnmf.estimators.teaching import obey, teach
from rprnmf.kernels import notices_to
from rprnmf.labels import spread_labels
from rprnmf.losses import LOSSES, get_loss
from rprnmf.objective import Objective, Problem, Side
from rprnmf.observed import BaseView, Reading, make_remote_view, make_view
from rprnmf.priors import Prior, make_features
from rprnmf.progress import FitProgress
from rprnmf.remote import Placed, dask_array, gathered, is_chunked, lies_in_blocks
from rprnmf.solvers import SOLVERS, Result, Settings, Solver
from rprnmf.solvers.fold_in import Known, flat_rows
from rprnmf.solvers.loop import told_rows
from rprnmf.start import Pair, start_factors
from rprnmf.threads import blas_threads
from rprnmf.triplets import Triplets

Names = tuple[Any, Any]
PRIOR = [None, StrOptions({"auto", "mean", "data"}), "array-like", "sparse matrix"]
# A model whose mean is below this fraction of that of X explains nothing.
COLLAPSED = 1e-3
# Below this fraction the factors are on their way to zero, and new rows would overflow.
NOTHING = 1e-30


def entry_sum(view: BaseView) -> float:
    """About the number that a sum over all entries is larger than an entry by."""
    return max(view.mass, view.n_observed)


class Start(NamedTuple):
    """What ``fit`` was told of where to start."""

    W: Any
    H: Any
    update: bool  # whether H changes

    def named(self) -> dict[str, Any]:
        """By the names of ``fit``."""
        W, H = (None if F is None else np.asarray(F) for F in (self.W, self.H))
        return {"W": W, "H": H, "update_H": self.update}


@contextmanager
def shown(progress: FitProgress) -> Iterator[FitProgress]:
    """Within it progress is shown; where that is a bar it also says when loops are compiled."""
    with progress, notices_to(progress.compiling) if progress.bars else nullcontext():
        yield progress


class ComposedNMF(
    CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """The common part; a subclass says what is known about the factors (`_sides`)."""

    _program = "nmf"
    _highest: float | None = None  # that a prediction may be; None: any number

    _parameter_constraints: dict = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            None,
            StrOptions({"auto"}),
        ],
        "init": [StrOptions({"random", "nndsvd", "nndsvda", "nndsvdar", "custom"}), None],
        "solver": [RegisteredNames(SOLVERS)],
        "beta_loss": [RegisteredNames(LOSSES), Interval(Real, None, None, closed="neither")],
        "missing": [StrOptions({"nan", "zero"}), None],
        "missing_weight": [Interval(Real, 0, None, closed="left")],
        "row_prior": PRIOR,
        "column_prior": PRIOR,
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "alpha_W": [Interval(Real, 0, None, closed="left")],
        "alpha_H": [Interval(Real, 0, None, closed="left"), StrOptions({"same"})],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "alpha_power": [Interval(Real, 0, 1, closed="both")],
        "n_jobs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
        "callback": [callable, None],
        "verbose": ["verbose"],
    }

    @property
    def _solver(self) -> Solver:
        return SOLVERS[self.solver]

    def _sides(
        self, X: Any, view: BaseView, names: Names, knowledge: dict[str, Any]
    ) -> tuple[Side, Side]:
        """What is known about the rows of W and about the columns of H."""
        return Side(), Side()

    def _penalty(self) -> dict[str, Any]:
        """The problem's penalty, distance and margin, if it has any."""
        return {}

    def _fit(
        self,
        X: Any,
        start: Start,
        checkpoint: Checkpoint,
        **knowledge: Any,
    ) -> np.ndarray:
        """Fit, set the attributes, return W; after an error nothing has changed.

        Ctrl-C is no error: the attributes are set from the factors of the last iteration, and
        then `KeyboardInterrupt` is raised all the same. A script, a loop over fits or a grid
        search must not go on as if this fit had ended; a notebook shows what there is.
        """
        before = dict(self.__dict__)
        checkpoint, X = checkpoint.checked(), dask_array(X)
        try:
            with blas_threads(self.n_jobs):
                fit = partial(self._fit_checked, given=start, knowledge=knowledge)
                if is_chunked(X):
                    refuse_in_blocks(self, X, start, knowledge)
                    at = X, knowledge.get("entry_weights"), checkpoint
                    W, stopped = fit_where_it_lies(fit, *at, self.random_state, self.missing)
                else:
                    W, stopped = fit(X, checkpoint)
        except BaseException as error:
            kept = {name: self.__dict__[name] for name in TEARDOWN if name in self.__dict__}
            self.__dict__.clear()
            self.__dict__.update(before, **kept)
            if type(error) is KeyboardInterrupt:
                raise interrupted(0, checkpoint.path) from None
            raise
        if stopped:
            raise interrupted(self.n_iter_, checkpoint.path)
        return W

    def _fit_checked(
        self, X: Any, checkpoint: Checkpoint, given: Start, knowledge: dict[str, Any]
    ) -> tuple[np.ndarray, bool]:
        """W, and whether Ctrl-C stopped the fit."""
        matrix, view = self._view(X, knowledge.get("entry_weights"), reset=True)
        K = self._checked_rank(view, given, knowledge.get("entry_weights"))
        names = axis_names(X, knowledge.get("row_names"), knowledge.get("column_names"))
        problem = self._problem(matrix, view, names, knowledge)
        if any(side.constrained for side in problem.sides):
            # squared distances, and in double precision their squares and a graph's unit
            fourth = 4.0, get_loss(self.beta_loss).curvature_power
            check_range_of_values(view.largest, entry_sum(view), (2.0,), view.dtype)
            check_range_of_values(view.largest, entry_sum(view), fourth, np.float64)
        if view.remote:  # features take rounds
            self._solver.check(problem)
        problem = self._with_priors(problem, matrix)
        callback = with_sklearn_callbacks(self, X, self.callback)
        known = {"X": matrix, **given.named()}
        weights = knowledge.get("entry_weights")
        if weights is not None:
            kept = matrix.weights if view.remote else weights
            kept = kept if view.remote or sp.issparse(kept) else np.asarray(kept)
            known["entry_weights"] = kept
        journal, rng = open_journal(self, checkpoint, problem, known)
        n_starts = 1 if self.init == "custom" or not given.update else self.n_init
        with journal, self._progress(problem, n_starts) as progress:
            settings = Settings(self.max_iter, self.tol, callback, progress, journal)
            starts = (self._start(problem, K, given, rng) for _ in range(n_starts))
            problem, best = self._best(starts, settings)
        self._highest = highest(problem)
        keep_in_range(problem, best, self._highest)
        self.row_names_, self.column_names_ = names
        named = np.unique(problem.rows.triplets)
        spread = problem.spread or (view.take(named) if len(named) else view).spread()
        if problem.spread is None:
            spread /= self._size(best.Ht) ** 2
        self._spread = spread  # what a distance of 1 is in W; later rows are placed by the same
        return self._keep(best, problem), best.interrupted

    def _progress(self, problem: Problem, n_starts: int) -> Any:
        """Within it the progress of the fit is shown, if that is asked for."""
        if not self.verbose:
            return nullcontext()
        obeyed = any(side.learning and side.obeyed for side in problem.sides)
        n_solves = n_starts * (1 + obeyed)
        return shown(FitProgress(type(self).__name__, self.max_iter, n_solves, self.verbose))

    def _best(
        self, starts: Iterator[tuple[Problem, list[np.ndarray]]], settings: Settings
    ) -> tuple[Problem, Result]:
        """The problem with all strengths chosen, and the best of its solutions."""
        best: Result | None = None
        kept: Entry | None = None  # of the best
        weighted: Problem | None = None
        try:
            for posed, start in starts:
                if weighted is None:  # further starts are compared at the same strengths
                    weighted, start = weigh(self._solver, posed, start, settings)
                    weighted = with_graph_strengths(self._solver, weighted, start, settings)
                entry = settings.journal.begin("start")
                if entry is not None and entry.finished:  # another one was better
                    continue
                with settings.journal.inside(entry):
                    result = self._solve(weighted, start, settings)
                goal = partial(self._final_objective, problem=weighted)
                better = best is None or goal(result) < goal(best)
                worse = kept if better else entry
                if worse is not None and not result.interrupted:
                    worse.finish()  # its factors need not be kept
                if best is None or better:
                    best, kept = result, entry
                best.interrupted = result.interrupted
                if result.stopped:
                    break
        except KeyboardInterrupt:
            if best is None:
                raise
            best.interrupted = True
        assert best is not None
        assert weighted is not None
        return weighted, best

    def _size(self, Ht: np.ndarray) -> float:
        """Mean size of the components; where it is 1, distances in W are those of the data."""
        sizes = get_loss(self.beta_loss).column_sizes(Ht).astype(np.float64)
        return float(np.sqrt(np.mean(sizes**2))) or 1.0

    def _with_components(
        self, problem: Problem, K: int, given: Start
    ) -> tuple[Problem, list[np.ndarray]]:
        """The problem with H given, and its start."""
        view, H = problem.view, given.H
        if given.W is not None:
            warnings.warn(
                "When update_H=False, the provided initial W is not used.",
                RuntimeWarning,
                stacklevel=2,
            )
        if H is None:
            raise ValueError("update_H=False keeps given components, but H is None.")
        H = check_start(H, (K, view.shape[1]), "H", view.dtype)
        Ht = np.ascontiguousarray(H.T)
        size = self._size(Ht)
        rows = replace(problem, only_rows=True, spread=view.spread() / size**2, size=size)
        return rows, [flat_rows(problem, Ht), Ht]

    def _view(self, X: Any, entry_weights: Any, reset: bool) -> tuple[Any, BaseView]:
        """X checked, and its observed view."""
        if isinstance(X, Placed):
            return X, self._remote_view(X, reset)
        matrix = check_matrix(X, self.missing, type(self).__name__)
        validate_data(self, X, reset=reset, skip_check_array=True)
        self._check_missing_weight()
        weights = None
        if entry_weights is not None:
            weights = check_entry_weights(entry_weights, X, matrix)
        view = make_view(matrix, self.missing, self.n_jobs, weights, self.missing_weight)
        self._check_view(view, reset)
        return matrix, view

    def _check_missing_weight(self) -> None:
        if self.missing_weight > 0 and self.missing is None:
            raise ValueError(
                f"missing_weight={self.missing_weight:g} weighs missing entries, but missing=None "
                "says that there are none; pass missing='zero' or missing='nan'."
            )

    def _remote_view(self, X: Placed, reset: bool) -> BaseView:
        """The view of an X that lies in blocks."""
        validate_data(self, X, reset=reset, skip_check_array=True)
        self._check_missing_weight()
        reading = Reading(self.missing, self.missing_weight, type(self).__name__)
        view = make_remote_view(X, reading, self.n_jobs)
        self._check_view(view, reset)
        return view

    def _check_view(self, view: BaseView, reset: bool) -> None:
        """Refuse data that the loss cannot measure, or whose sums leave the range of numbers."""
        loss = get_loss(self.beta_loss)
        loss.check(view)
        check_range_of_values(view.largest, entry_sum(view), loss.powers, view.dtype, tiny=reset)

    def _checked_rank(self, view: BaseView, given: Start, entry_weights: Any) -> int:
        """The number of components, of data that say something."""
        if view.n_observed == 0:
            also = "" if entry_weights is None else " or have no weight"
            raise ValueError(
                f"X has no observed entry: all of its {view.shape[0]} x {view.shape[1]} entries "
                f"are missing under missing={self.missing!r}{also}."
            )
        if any(prior is not None for prior in self._priors(view)):  # the variance of X
            check_range_of_values(view.largest, entry_sum(view), (2.0,), np.float64)
        return self._rank(view, given)

    def _rank(self, view: BaseView, given: Start) -> int:
        W, H, update_H = given
        if self.n_components not in (None, "auto"):
            return int(self.n_components)
        if self.n_components == "auto" and (self.init == "custom" or not update_H):
            if np.ndim(H) == 2:
                return int(np.shape(H)[0])
            if np.ndim(W) == 2:
                return int(np.shape(W)[1])
        return view.shape[1]

    def _problem(
        self, matrix: Any, view: BaseView, names: Names, knowledge: dict[str, Any]
    ) -> Problem:
        rows, columns = self._sides(matrix, view, names, knowledge)
        alpha_H = self.alpha_W if self.alpha_H == "same" else self.alpha_H
        return Problem(
            view,
            self.beta_loss,
            rows=self._with_norms(rows, view.row_counts, self.alpha_W),
            columns=self._with_norms(columns, view.T.row_counts, alpha_H),
            program=self._program,
            **self._penalty(),
        )

    def _priors(self, view: BaseView) -> list[Any]:
        """What is asked for as the priors of both sides."""
        without_norms = self.alpha_W == 0 and self.alpha_H in (0, "same")
        enough = view.incomplete and view.n_observed >= FEWEST
        regularised = enough and without_norms and self._solver.automatic
        automatic = "mean" if regularised else None
        return [
            automatic if isinstance(given, str) and given == "auto" else given
            for given in (self.row_prior, self.column_prior)
        ]

    def _with_priors(self, problem: Problem, matrix: Any) -> Problem:
        """The problem with the priors of both sides; `weigh` finds how strong they are."""
        asked = self.row_prior, self.column_prior
        self._features: list[Any] = [None, None]
        sides = list(problem.sides)
        for index, given in enumerate(self._priors(problem.view)):
            if given is None:
                continue
            view = problem.view if index == 0 else problem.view.T
            side = ("row", "column")[index]
            found = make_features(given, view, matrix if index == 0 else matrix.T, side)
            self._features[index] = found
            known = sides[index]
            learning = given is asked[index] and self._learns(known)
            sides[index] = replace(known, prior=prior_of(found, view, learning), learning=learning)
        return replace(problem, rows=sides[0], columns=sides[1])

    def _learns(self, side: Side) -> bool:
        """Whether the triplets of a side teach by way of its prior."""
        return False

    def _with_norms(self, side: Side, counts: np.ndarray, alpha: float) -> Side:
        """L1 and L2 terms as scikit-learn weighs them, by the numbers of observed entries."""
        if alpha == 0:
            return side
        weight = get_loss(self.beta_loss).times_sklearn * alpha
        counts = counts.astype(np.float64) ** self.alpha_power
        l1 = weight * self.l1_ratio * counts
        return replace(side, l1=l1, l2=0.5 * weight * (1.0 - self.l1_ratio) * counts)

    def _start(
        self, problem: Problem, K: int, given: Start, rng: Any
    ) -> tuple[Problem, list[np.ndarray]]:
        """The problem, and factors to start from."""
        if not given.update:
            return self._with_components(problem, K, given)
        return problem, [*self._start_factors(problem.view, K, given, rng)]

    def _start_factors(self, view: BaseView, K: int, given: Start, rng: Any) -> Pair:
        (n, m), W, H = view.shape, given.W, given.H
        if self.init == "custom":
            W = check_start(W, (n, K), "W", view.dtype)
            H = check_start(H, (K, m), "H", view.dtype)
            # copies, which the solver may overwrite
            return view.with_rows(np.ascontiguousarray(W)), np.ascontiguousarray(H.T)
        if W is not None or H is not None:
            warnings.warn(
                "When init!='custom', provided W or H are ignored. Set init='custom' to use them "
                f"as initialization; got init={self.init!r}.",
                RuntimeWarning,
                stacklevel=2,
            )
        init = self._solver.default_init if self.init is None else self.init
        start = start_factors(view, K, init, rng)
        if self._solver.needs_nonzero_start and self.init == "nndsvd":
            warnings.warn(
                "The multiplicative update ('mu') solver cannot update zeros present in the "
                "initialization, and so leads to poorer results when used jointly with "
                "init='nndsvd'. You may try init='nndsvda' or init='nndsvdar' instead.",
                UserWarning,
                stacklevel=2,
            )
        return start

    def _solve(self, problem: Problem, start: list[Any], settings: Settings) -> Result:
        if not any(side.learning for side in problem.sides):
            return self._solver.solve(problem, start, settings)
        result = teach(self._solver, problem, start, settings)
        if any(side.learning and side.obeyed for side in problem.sides) and not result.stopped:
            result = obey(self._solver, problem, result, settings)
        return result

    @staticmethod
    def _final_objective(result: Result, problem: Problem) -> float:
        """The objective where a run ended, at strengths that all starts have in common.

        Triplets that teach have strengths and units that each start chose for itself.
        """
        if any(side.learning for side in problem.sides):
            return float(result.history[-1][0])
        objective = Objective(problem, result.W.shape[1])
        return objective.values(*objective.scale.apply(result.W, result.Ht)).objective

    def _keep(self, result: Result, problem: Problem) -> np.ndarray:
        """Set what a user may look at."""
        history = result.history_array()
        if np.dot(result.W.mean(axis=0), result.Ht.mean(axis=0)) < NOTHING * problem.view.mean:
            result.W[:] = 0.0
            result.Ht[:] = 0.0
        loss = get_loss(self.beta_loss)
        with np.errstate(over="ignore", invalid="ignore"):
            error = loss.reconstruction_err(loss.value(problem.view, result.W, result.Ht))
        if not np.isfinite(error):  # `paper` does not scale X as the other solvers do
            raise ValueError(
                f"solver {self.solver!r} left the range of {result.W.dtype} numbers: the largest "
                f"entry of X is {problem.view.largest:g}. Divide X by it, or use another solver."
            )
        self.embedding_ = told_rows(result.W)
        self.components_ = np.ascontiguousarray(result.Ht.T)
        self.n_components_ = result.W.shape[1]
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self.history_ = history
        self.reconstruction_err_ = error
        self._keep_priors(result)
        self._check_collapse(problem, result.W)
        self.row_satisfied_rate_ = self.column_satisfied_rate_ = np.nan  # there are no triplets
        endless = not self._solver.uses_tol or self.tol == 0 or result.stopped
        if not result.converged and not endless:
            warnings.warn(
                f"Maximum number of iterations {self.max_iter} reached. Increase it to improve "
                "convergence.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self.embedding_.copy()  # normalising it in place must not reach embedding_

    def _check_collapse(self, problem: Problem, W: Any) -> None:
        """Factors that explain nothing are no success."""
        sides = W.mean(axis=0), self.components_.mean(axis=1)
        mean = float(np.dot(*sides))
        if mean < COLLAPSED * problem.view.mean:
            self.converged_ = False
            terms = [side for side in problem.sides if side.l1 is not None or side.constrained]
            why = "Weaken alpha_W, alpha_H or the strengths." if terms else "Try another init."
            warnings.warn(
                f"The factors are all but zero: their model has the mean {mean:.3g}, X has "
                f"{problem.view.mean:.3g}. {why}",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _keep_priors(self, result: Result) -> None:
        """What the features of both sides were found to say."""
        self.prior_: tuple[LearnedPrior | None, LearnedPrior | None] = (None, None)
        self._features = [part if part is None else part.here() for part in self._features]
        if result.objective is not None and any(part is not None for part in self._features):
            both = zip(self._features, result.objective.terms, (result.W, result.Ht), strict=True)
            rows, columns = (
                None if features is None else learned(features, terms, F)
                for features, terms, F in both
            )
            self.prior_ = rows, columns
            self._pull_of_new_rows = None  # by their numbers of entries
            if rows is not None:
                mean = float(np.mean(rows.weights))
                shape = pull_shape(result.objective.problem.view.row_counts)
                self._pull_unit = mean / float(np.mean(shape))
                if result.objective.terms[0].learning:
                    self._pull_of_new_rows = NEW_ROWS * mean

    def _new_row_prior(self, matrix: Any, view: BaseView, row_features: Any) -> Prior | None:
        """The pull on new rows; None if there is none, or what it needs was not given."""
        features, found = self._features[0], self.prior_[0]
        tables = tables_of_new_rows(features, row_features)
        if tables is None:
            return None
        assert found is not None
        phi = features.new(view, matrix, tables)
        weights = self._pull_unit * pull_shape(view.row_counts)
        if self._pull_of_new_rows is not None:
            # rows without any entry are what their features say
            weights = np.where(view.row_counts == 0, weights, self._pull_of_new_rows)
        return Prior(phi, weights, 0.0, (found.coefficients, found.intercept))

    def transform(self, X: Any, row_features: Any = None, entry_weights: Any = None) -> np.ndarray:
        """Rows of W for new rows of X, with the components as they are.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Missing entries are marked as in ``fit``.
        row_features : array, DataFrame or list of these, default=None
            Features of the new rows, where ``row_prior`` is a table of features; Dask's where X
            is a Dask array. Without them rows are not pulled.
        entry_weights : array-like or sparse matrix of shape (n_samples, n_features), default=None
            As in ``fit``.

        Returns
        -------
        W : ndarray of shape (n_samples, n_components)
        """
        return self._fold_in(X, row_features=row_features, entry_weights=entry_weights)

    def _fold_in(
        self,
        X: Any,
        triplets: Triplets | None = None,
        row_names: Any = None,
        row_features: Any = None,
        entry_weights: Any = None,
    ) -> np.ndarray:
        check_is_fitted(self)
        X = dask_array(X)
        if is_chunked(X):
            return transform_blocks(self, X, entry_weights, row_features, triplets)
        with blas_threads(self.n_jobs):
            matrix, view = self._view(X, entry_weights, reset=False)
            side, known = Side(), None
            if triplets is not None:
                names = axis_names(X, row_names)[0]
                side, known = self._new_row_triplets(names, view.shape[0], triplets)
            side = self._with_norms(side, view.row_counts, self.alpha_W)
            side = replace(side, prior=self._new_row_prior(matrix, view, row_features))
            Ht = np.ascontiguousarray(self.components_.T, dtype=view.dtype)
            problem = Problem(
                *(view, self.beta_loss),
                rows=side,
                only_rows=True,
                spread=self._spread,
                size=self._size(Ht),
                **self._penalty(),
            )
            settings = Settings(self.max_iter, self.tol)
            W = self._solver.fold_in(problem, Ht, known, settings)
            if self._highest is not None and side.prior is not None and triplets is None:
                draw(W, Ht, side.prior.means(W), self._highest)
            return W

    def get_metadata_routing(self):
        """Which parameters this estimator asks for where scikit-learn routes metadata.

        ``fit`` and ``transform`` both take ``entry_weights``, and in `RPRNMF` ``row_triplets`` and
        ``row_names``. A request that is set for one of the two counts for both, unless the other
        has its own: a Pipeline calls ``fit_transform``, for which scikit-learn wants the two to
        agree.

        Returns
        -------
        routing : MetadataRequest
        """
        routing = super().get_metadata_routing()
        fit, transform = routing.fit, routing.transform
        for name in fit.requests.keys() & transform.requests.keys():
            for unset, other in ((transform, fit), (fit, transform)):
                if unset.requests[name] is None and other.requests[name] is not None:
                    unset.add_request(param=name, alias=other.requests[name])
        return routing

    def _new_row_triplets(self, new_names: Any, n: int, triplets: Triplets) -> tuple[Side, Any]:
        """Triplets over training rows and new rows, the new ones numbered first."""
        names = None
        if triplets.named and triplets.n_triplets:
            if self.row_names_ is None or new_names is None:
                where = "training rows" if self.row_names_ is None else "new rows"
                raise ValueError(
                    f"row_triplets are given by name ({triplets.items[0, 0]!r}, ...), but the "
                    f"{where} have no names; pass X as a DataFrame or row_names= to fit and to "
                    "transform, or give the triplets as positions."
                )
            names = [*self.row_names_, *new_names]
            both = set(self.row_names_) & set(new_names)
            if both:
                raise ValueError(
                    f"the row name {min(both, key=str)!r} occurs in the training data and in the "
                    "new rows; rename the new rows, or give the triplets as positions."
                )
        n_known = len(self.embedding_)
        resolved = triplets.positions(n_known + n, names, "row")
        items = np.where(resolved.items < n_known, resolved.items + n, resolved.items - n_known)
        known = self.embedding_
        if lies_in_blocks(known):  # the rows that are named come here
            named = np.unique(items[items >= n])
            items = np.where(items < n, items, n + np.searchsorted(named, items))
            known = Known(gathered(known, named - n), np.asarray(known.mean(axis=0)))
        side = Side(**self._strength("row"), triplets=items, weight=summable(resolved.weights))
        return side, known

    def _strength(self, side: str) -> dict[str, Any]:
        return {}

    def predict_labels(self, y: Any, X: Any = None) -> np.ndarray:
        """The labels of all rows of the fit, from those of a few.

        Rows are alike that are close in W, or can be reached from each other by way of close
        rows; with X, also those that are so in X. Comparisons made from the same labels
        (`rprnmf.triplets.triplets_from_labels`) and a graph beside them (``row_graph="cosine"``)
        help W to keep classes together.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The labels of the rows that the model was fitted on; -1, None and NaN: not known.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The data of the fit. Predictions are better with them.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Those that are known as they are.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_digits
        >>> from rprnmf import NMF
        >>> X, digit = load_digits(return_X_y=True)
        >>> y = np.where(np.arange(len(digit)) < 100, digit, -1)  # the first hundred are known
        >>> found = NMF(10, random_state=0).fit(X).predict_labels(y, X)
        >>> float(np.mean(found == digit)) > 0.9
        True
        """
        check_is_fitted(self)
        if lies_in_blocks(self.embedding_) or is_chunked(X):
            raise ValueError(
                "predict_labels compares all rows with each other, and they lie in blocks. Where "
                "they fit in memory: model.embedding_ = model.embedding_.compute(), and X as an "
                "array."
            )
        n = len(self.embedding_)
        points = [self.embedding_]
        if X is not None:
            points.insert(0, check_matrix(X, self.missing, type(self).__name__))
            validate_data(self, X, reset=False, skip_check_array=True)
        if points[0].shape[0] != n:
            raise ValueError(
                f"X must be the data of the fit, with {n} rows; got {points[0].shape[0]}."
            )
        codes = label_codes(y, "y")
        if len(codes) != n:
            raise ValueError(f"y must have one label for each of {n} rows, got {len(codes)}.")
        labels = np.asarray(y)  # the values of labels; codes are numbered as they appear
        _, first = np.unique(codes[codes >= 0], return_index=True)
        found = labels.copy()
        found[codes < 0] = labels[codes >= 0][first][spread_labels(points, codes)[codes < 0]]
        return found

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The model W H for given rows of W.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_components)
            Rows of W.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            Of a Dask array a Dask array with the same rows in each block.
        """
        check_is_fitted(self)
        if is_chunked(X):
            return inverse_blocks(self, X)
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
        if X.shape[1] != len(self.components_):
            raise ValueError(
                f"X has {X.shape[1]} columns, but rows of W have {len(self.components_)} entries."
            )
        return X @ self.components_

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "nan"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
