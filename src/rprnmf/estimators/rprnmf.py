"""NMF with relative comparisons."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rprnmf.checks import summable
from rprnmf.estimators.belief import belief
from rprnmf.estimators.checkpointing import Checkpoint
from rprnmf.estimators.composed import ComposedNMF, Start
from rprnmf.estimators.gnmf import (
    AUTOMATIC,
    GRAPH,
    STRENGTH,
    graph_strength,
    used_strengths,
)
from rprnmf.estimators.registered_names import RegisteredNames
from rprnmf.estimators.report import ReportSide, TripletReport, report
from rprnmf.estimators.teaching import LINKS, chances_of
from rprnmf.graphs import check_graph
from rprnmf.metrics import triplet_distances, unmet
from rprnmf.objective import Side
from rprnmf.penalties import DISTANCES, PENALTIES
from rprnmf.triplets import Triplets, as_triplets
from rprnmf.triplets.pairs import in_contradiction
from rprnmf.triplets.posterior import Belief


def check_side(side: str) -> None:
    """Triplets are of rows or of columns."""
    if side not in ("row", "column"):
        raise ValueError(f"side must be 'row' or 'column', got {side!r}.")


class RPRNMF(ComposedNMF):
    """NMF that respects comparisons "q is closer to r than to s".

    Comparisons between rows of X hold between rows of W, those between columns of X between
    columns of H. The objective is

        loss(X, W H) + row_strength * mean penalty of the row triplets in W
                     + column_strength * mean penalty of the column triplets in H

    over the observed entries of X, plus graph and L1/L2 terms if asked for.

    Parameters
    ----------
    n_components : int, None or "auto", default="auto"
        Number of components K. None: n_features. "auto": that of ``W`` or ``H`` with
        ``init="custom"``, else n_features.
    beta_loss : {"frobenius", "kullback-leibler", "itakura-saito"} or float, default="frobenius"
        What W H is measured by: the squared error (the paper's Euclidean measure; twice
        scikit-learn's), the generalised Kullback-Leibler divergence (its Divergence), or the
        beta-divergence of any number; 2, 1 and 0 are the three names. Solvers other than "mu"
        take the first two only, and with 0 or less X must not contain zeros.
    penalty : {"auto", "exponential", "hinge", "squared_hinge", "logistic", "likelihood", \
"ratio"}, default="auto"
        What a triplet costs. "auto": "squared_hinge", "ratio" beside a prior, and with
        ``solver="paper"`` the paper's own ("exponential" for Frobenius, "hinge" for
        Kullback-Leibler).
    distance : {"auto", "euclidean", "divergence"}, default="auto"
        How far apart two rows of a factor are: squared Euclidean or symmetric divergence.
        "auto": "euclidean", with ``solver="paper"`` and Kullback-Leibler "divergence".
    margin : float, default=0.35
        By how much the far distance should exceed the near one, in units of the mean squared
        distance between the rows (columns) of X; for hinge and logistic penalties. Not used by
        ``solver="paper"``, whose hinge has none.
    row_strength, column_strength : float, "auto" or "obey", default="auto"
        Weight of the triplets' mean penalty. "auto": starts weak and grows, up to 1, until all
        triplets that can be met are met with half of their margin, or growing no longer helps (as
        with contradictory triplets, or a graph that is stronger). A number is used as it is:
        in units of the squared norm of X (Frobenius) or of its sum (Kullback-Leibler), so that
        it does not depend on the unit of X; with "paper" in the paper's own units, where "auto"
        is 1. With a prior on the side, "auto" weighs the triplets by what the data leave
        unexplained, and they teach: answers may be wrong, not all are met, and the fit stops at a
        hundred times ``tol``, for the last digits teach nothing. "obey": as "auto", and then on,
        for up to ``max_iter`` iterations more, until all are met that can be.
    row_prior, column_prior : {"auto", None, "mean", "data"}, array, DataFrame or list, \
default="auto"
        What pulls every row of a factor: nothing (None); the mean row; what its row of X predicts
        ("data": alike rows, or, where entries are missing, which are observed); what features
        predict (one row per row, or column, of X: numbers, sparse, or a DataFrame whose
        categories and labels such as "Comedy|Drama" become columns); or a list of these. The
        predictions are learned with the factors, see ``prior_``. "auto": the mean row where
        more than 5 % of the entries are missing (and 100 are not) and there are no L1/L2 terms, as
        strong as entries that short fits did not see ask for; else nothing.
    row_graph, column_graph : {array-like, sparse matrix}, "knn", "cosine" or None, default=None
        Neighbour graphs as in `GNMF`, beside the triplets.
    graph_strength : float or "auto", default="auto"
        Weight of the graphs. A number is used as it is. "auto": a graph costs three times
        the error of plain NMF, at its factors.
    n_neighbors : int, default=5
        Neighbours of a point in a "knn" or "cosine" graph.
    solver : {"cd", "mu", "paper"}, default="cd"
        "cd": coordinate descent, fast, the objective never rises at the same strengths. "mu":
        block multiplicative updates with a safeguard, which promise the same and are slower.
        "paper": the authors' program step by step, for reproduction; it does ``max_iter``
        sweeps and does not use ``tol``.
    missing : {None, "nan", "zero"}, default=None
        Which entries of X are not observed. None: none, and NaN is an error. "nan": NaN
        (sparse X: stored NaN; entries that are not stored are zeros). "zero": zeros (sparse
        X: entries that are not stored; a stored 0 is an observation).
    missing_weight : float, default=0.0
        What a missing entry weighs, as a zero; needs ``missing``. 0: nothing. Clicks and the like
        tell what someone chose and, weakly, that the rest was not chosen: 0.15 is a start, with
        ``alpha_W=0.09, alpha_power=0.7``. The number of entries of a row, by which L2 terms and
        priors are weighed, is then the sum of their weights, as it is with ``entry_weights``.
    init : {None, "random", "nndsvd", "nndsvda", "nndsvdar", "custom"}, default=None
        Start factors, as in scikit-learn. None: "nndsvda" where it can be used, else
        "random"; with ``solver="paper"`` uniform on [0, 1) as in the paper.
    n_init : int, default=1
        Number of starts; the one with the lowest objective is kept.
    tol : float, default=1e-4
        Stop when, at the pace of the last ten iterations, a hundred more would change the
        objective, and the loss, by less than this fraction.
    max_iter : int, default=200
    shuffle : bool, default=False
        Kept for compatibility with scikit-learn; no solver here depends on the order.
    random_state : int, RandomState instance or None, default=None
    alpha_W : float, default=0.0
        Weight of the L1 and L2 terms of W, as in scikit-learn. With any, incomplete data get no
        prior unless one is asked for. Where triplets or a graph act and both factors
        have L2 terms, a component's two columns cost the same by these; L1 terms do not count in
        that, and where there is much of both the objective may end higher than with L2 terms
        alone. With terms on one factor only, the scale is where the triplets are: on one side,
        that factor carries all of it and the other has columns of size 1; on both, they have
        columns of equal size.
    alpha_H : float or "same", default="same"
        The same for H.
    l1_ratio : float, default=0.0
        Fraction of L1 in them.
    alpha_power : float, default=1.0
        The terms of a row are multiplied by (number of its observed entries) to this power.
    n_jobs : int, default=None
        Number of threads; None is as many as the process may use.
    callback : callable, default=None
        Called after every iteration with an object that has ``iteration``, ``objective``,
        ``loss``, ``reconstruction_err``, ``row_satisfied_rate``, ``column_satisfied_rate``,
        ``W``, ``H`` and ``seconds``; returning True stops the fit.
    verbose : int, default=0
        1: show how far the fit is. On a terminal or in a notebook, with tqdm, that is a bar if
        the fit takes more than two seconds; else a line every 10 iterations. 2: a line for every
        iteration.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        W; of a Dask array a Dask array with the same rows in each block (docs/dask.md).
    components_ : ndarray of shape (n_components, n_features)
        H.
    n_components_ : int
    n_iter_ : int
    reconstruction_err_ : float
        As scikit-learn defines it, over the observed entries.
    converged_ : bool
        Whether ``tol`` stopped the fit, and it did what was asked: with automatic strengths all
        triplets that contradict no others are met, and no kink of a penalty may have stopped it.
    row_satisfied_rate_, column_satisfied_rate_ : float
        The fraction of the triplets that hold; NaN without triplets.
    row_unmet_, column_unmet_ : ndarray of shape (n_unmet, 3)
        The triplets (q, r, s) that do not hold: names, if the rows (columns) of X have names,
        else positions. As positions in any case: ``unmet(model.embedding_, model.row_triplets_)``
        with `rprnmf.metrics.unmet`.
    row_triplets_, column_triplets_ : Triplets
        All that were given and that X knows, always as positions; see also `triplet_report`.
    row_names_, column_names_ : ndarray or None
        The names of the rows and columns of X: those passed to ``fit``, else the labels of a
        DataFrame. Labels 0, 1, 2, ... in order are no names but positions.
    distance_ : str
        The distance that was fitted, where ``distance`` may say "auto".
    graph_strength_ : tuple of (float or None)
        The strengths of the graphs of rows and columns, where the parameters may say "auto".
    history_ : structured ndarray of shape (n_iter_,)
        One row per iteration: objective = loss + row_penalty + column_penalty, the satisfied
        rates, the strengths (of the triplets, else of the graph) and the seconds since the
        start; in the solver's units, which for "paper" are those of the authors' program.
    prior_ : tuple of (LearnedPrior or None)
        For rows and for columns, what features were found to say: ``names``, ``coefficients``,
        ``intercept``, ``means``, ``weights`` and ``top(component)``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if X has column names that are strings.

    References
    ----------
    S. Jiang, K. Li, R. Y. D. Xu, "Relative Pairwise Relationship Constrained Non-negative
    Matrix Factorisation", IEEE TKDE.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import RPRNMF
    >>> X = np.random.default_rng(0).random((6, 5))
    >>> model = RPRNMF(n_components=3, max_iter=500, random_state=0)
    >>> W = model.fit_transform(X, row_triplets=[[0, 1, 2], [3, 4, 5]])
    >>> model.row_satisfied_rate_
    1.0
    """

    _program = "rprnmf"
    _parameter_constraints = {
        **ComposedNMF._parameter_constraints,
        "penalty": [RegisteredNames(PENALTIES, "auto")],
        "distance": [RegisteredNames(DISTANCES, "auto")],
        "margin": [Interval(Real, 0, None, closed="neither")],
        "row_strength": [*STRENGTH, StrOptions({"auto", "obey"})],
        "column_strength": [*STRENGTH, StrOptions({"auto", "obey"})],
        "row_graph": GRAPH,
        "column_graph": GRAPH,
        "graph_strength": AUTOMATIC,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components="auto",
        *,
        beta_loss="frobenius",
        penalty="auto",
        distance="auto",
        margin=0.35,
        row_strength="auto",
        column_strength="auto",
        row_graph=None,
        column_graph=None,
        graph_strength="auto",
        n_neighbors=5,
        row_prior="auto",
        column_prior="auto",
        solver="cd",
        missing=None,
        missing_weight=0.0,
        init=None,
        n_init=1,
        tol=1e-4,
        max_iter=200,
        shuffle=False,
        random_state=None,
        alpha_W=0.0,
        alpha_H="same",
        l1_ratio=0.0,
        alpha_power=1.0,
        n_jobs=None,
        callback=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.beta_loss = beta_loss
        self.penalty = penalty
        self.distance = distance
        self.margin = margin
        self.row_strength = row_strength
        self.column_strength = column_strength
        self.row_graph = row_graph
        self.column_graph = column_graph
        self.graph_strength = graph_strength
        self.n_neighbors = n_neighbors
        self.row_prior = row_prior
        self.column_prior = column_prior
        self.solver = solver
        self.missing = missing
        self.missing_weight = missing_weight
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.alpha_power = alpha_power
        self.n_jobs = n_jobs
        self.callback = callback
        self.verbose = verbose

    def _learns(self, side):
        return len(side.triplets) > 0 and self.penalty in ("auto", *LINKS)

    def _penalty(self):
        penalty, distance = self._solver.default_penalty(self.beta_loss)
        if self._taught:
            penalty = LINKS[0]
        return {
            "penalty": penalty if self.penalty == "auto" else self.penalty,
            "distance": distance if self.distance == "auto" else self.distance,
            "margin": self.margin,
        }

    def _sides(self, X, view, names, knowledge):
        sides = tuple(
            self._side(X, n, name, side, knowledge[f"{side}_triplets"])
            for n, name, side in zip(view.shape, names, ("row", "column"), strict=True)
        )
        asked = self.row_prior, self.column_prior
        given = (
            prior is not None and not (isinstance(prior, str) and prior == "auto")
            for prior in asked
        )
        self._taught = any(
            one and self._learns(side) for one, side in zip(given, sides, strict=True)
        )
        return sides

    def _side(self, X, n, names, side, triplets) -> Side:
        resolved = as_triplets(triplets).positions(n, names, side)
        setattr(self, f"{side}_triplets_", resolved)
        return Side(
            **self._strength(side),
            triplets=resolved.items,
            weight=summable(resolved.weights),
            graph=check_graph(getattr(self, f"{side}_graph"), X, self.n_neighbors, side),
            **graph_strength(self.graph_strength),
        )

    def _keep(self, result, problem):
        W = super()._keep(result, problem)
        self.distance_ = problem.distance
        self.graph_strength_ = used_strengths(problem)
        self._keep_chances(result, problem)
        for side, factor in (("row", result.W), ("column", result.Ht)):
            triplets, names = self._known(side)
            left = Triplets(unmet(factor, triplets, self.distance_))
            setattr(self, f"{side}_unmet_", left.with_names(names).items.copy())
            if triplets.n_triplets:
                rate = (triplets.n_triplets - left.n_triplets) / triplets.n_triplets
                setattr(self, f"{side}_satisfied_rate_", rate)
        if self.converged_ or (self.tol > 0 and not result.stopped):
            self._check_claim(problem)
        return W

    def _keep_chances(self, result, problem) -> None:
        """How the chances of answers go by their distances, and how sure the rows are."""
        self._beliefs: dict[str, Belief] = {}
        self._chances = result.chances or [None, None]
        if result.objective is None:  # `paper`: its penalties are not made for chances
            return
        terms = result.objective.terms
        self._chances = [
            found or chances_of(problem.penalty, one)
            for found, one in zip(self._chances, terms, strict=True)
        ]
        for index, (side, other) in enumerate((("row", result.Ht), ("column", result.W))):
            chances = self._chances[index]
            if terms[index].learning and self.distance_ == "euclidean" and chances is not None:
                self._beliefs[side] = belief(result.objective, index, chances, other)

    def _belief(self, side: str) -> Belief | None:
        """How certain the rows of a factor are; None where answers do not teach."""
        return self._beliefs.get(side)

    def _check_claim(self, problem) -> None:
        """A fit that stopped has not converged if it did not do what was asked; say so."""
        doubts = []
        for side, terms in (("row", problem.rows), ("column", problem.columns)):
            triplets, _ = self._known(side)
            factor = self.embedding_ if side == "row" else self.components_.T
            left = unmet(factor, triplets, self.distance_)
            if terms.automatic and len(left) and not (terms.learning and not terms.obeyed):
                left = left[~in_contradiction(left, triplets.items)]
                if len(left):
                    doubts.append(
                        f"{len(left)} of {triplets.n_triplets} {side} triplets are not met, "
                        f"although they contradict no others. {self._remedy(side)}"
                    )
            kinked = not PENALTIES[problem.penalty].smooth and self.converged_
            if kinked and self.history_[f"{side}_penalty"][-1] > 0:
                doubts.append(
                    f"penalty={problem.penalty!r} has a kink, where steps by rows may stop before "
                    "a minimum; 'squared_hinge' has none."
                )
        if doubts:
            self.converged_ = False
            for doubt in dict.fromkeys(doubts):
                warnings.warn(doubt, ConvergenceWarning, stacklevel=2)

    def _remedy(self, side: str) -> str:
        """What may meet triplets that a fit with automatic strength left unmet."""
        if not self.converged_:
            return f"The fit was still going on: raise max_iter={self.max_iter}."
        strength = self.history_[f"{side}_strength"][-1]
        return (
            "To meet them would have cost half of what the factors explain of X: more components "
            f"may meet them at less, or {side}_strength={10 * strength:.1g} at any price."
        )

    def _known(self, side: str) -> tuple[Triplets, Any]:
        """The triplets of one side as positions, and its names."""
        return getattr(self, f"{side}_triplets_"), getattr(self, f"{side}_names_")

    def _strength(self, side: str) -> dict[str, Any]:
        strength = getattr(self, f"{side}_strength")
        if not isinstance(strength, str):
            return {"strength": float(strength)}
        automatic = self._solver.automatic
        return {"strength": 1.0, "automatic": automatic, "obeyed": strength == "obey"}

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        row_triplets: Any = None,
        column_triplets: Any = None,
        row_names: Any = None,
        column_names: Any = None,
        entry_weights: Any = None,
        W: Any = None,
        H: Any = None,
        update_H: bool = True,
        checkpoint: Any = None,
        checkpoint_every: float | None = None,
    ) -> RPRNMF:
        """Factorise X.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
        y : Ignored
        row_triplets : Triplets, array-like or DataFrame of shape (n_triplets, 3), default=None
            Rows (q, r, s): row q of X is closer to row r than to row s. Integer positions, or
            row names: the labels of a DataFrame, or ``row_names``. In cross-validation rows are
            split away and positions lose their meaning: give names, as
            ``Triplets(names, absent="drop")``.
        column_triplets : Triplets, array-like or DataFrame of shape (n_triplets, 3), default=None
            The same for the columns of X.
        row_names, column_names : sequence of length n_samples, n_features, default=None
            Names of the rows and of the columns of X, for triplets by name where X has no labels,
            as a sparse matrix or an array. They replace the labels of a DataFrame.
        entry_weights : array-like or sparse matrix of shape (n_samples, n_features), default=None
            What each entry of X weighs in the loss: numbers of at least 0; sparse where X is, with
            the same stored places. What stands at missing entries is not used. None: 1.
        W : array-like of shape (n_samples, n_components), default=None
            Start, with ``init="custom"``.
        H : array-like of shape (n_components, n_features), default=None
            Start, with ``init="custom"``; the components, with ``update_H=False``.
        update_H : bool, default=True
            False keeps the components at H and looks for W only.
        checkpoint : path-like, default=None
            File that keeps how far the fit is. After a crash, a kill or Ctrl-C the same call goes
            on from there, and ends in the same result to the last bit. The file stays when the fit
            is done: the same call then gives the model again at once. A file of another fit is
            refused.
        checkpoint_every : float, default=None
            Seconds between two writings of that file: what a crash may cost. 0: after every
            iteration. None: 30, or as many more as it takes to spend 2 % of the time on it.

        Returns
        -------
        self : RPRNMF
        """
        self.fit_transform(
            X,
            row_triplets=row_triplets,
            column_triplets=column_triplets,
            row_names=row_names,
            column_names=column_names,
            entry_weights=entry_weights,
            W=W,
            H=H,
            update_H=update_H,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
        )
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        row_triplets: Any = None,
        column_triplets: Any = None,
        row_names: Any = None,
        column_names: Any = None,
        entry_weights: Any = None,
        W: Any = None,
        H: Any = None,
        update_H: bool = True,
        checkpoint: Any = None,
        checkpoint_every: float | None = None,
    ) -> np.ndarray:
        """Factorise X and return W.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
        y : Ignored
        row_triplets : Triplets, array-like or DataFrame of shape (n_triplets, 3), default=None
            Rows (q, r, s): row q of X is closer to row r than to row s. Integer positions, or
            row names: the labels of a DataFrame, or ``row_names``. In cross-validation rows are
            split away and positions lose their meaning: give names, as
            ``Triplets(names, absent="drop")``.
        column_triplets : Triplets, array-like or DataFrame of shape (n_triplets, 3), default=None
            The same for the columns of X.
        row_names, column_names : sequence of length n_samples, n_features, default=None
            Names of the rows and of the columns of X, for triplets by name where X has no labels,
            as a sparse matrix or an array. They replace the labels of a DataFrame.
        entry_weights : array-like or sparse matrix of shape (n_samples, n_features), default=None
            What each entry of X weighs in the loss: numbers of at least 0; sparse where X is, with
            the same stored places. What stands at missing entries is not used. None: 1.
        W : array-like of shape (n_samples, n_components), default=None
            Start, with ``init="custom"``.
        H : array-like of shape (n_components, n_features), default=None
            Start, with ``init="custom"``; the components, with ``update_H=False``.
        update_H : bool, default=True
            False keeps the components at H and looks for W only.
        checkpoint : path-like, default=None
            File that keeps how far the fit is. After a crash, a kill or Ctrl-C the same call goes
            on from there, and ends in the same result to the last bit. The file stays when the fit
            is done: the same call then gives the model again at once. A file of another fit is
            refused.
        checkpoint_every : float, default=None
            Seconds between two writings of that file: what a crash may cost. 0: after every
            iteration. None: 30, or as many more as it takes to spend 2 % of the time on it.

        Returns
        -------
        W : ndarray of shape (n_samples, n_components)
        """
        return self._fit(
            X,
            Start(W, H, update_H),
            Checkpoint(checkpoint, checkpoint_every),
            row_triplets=row_triplets,
            column_triplets=column_triplets,
            row_names=row_names,
            column_names=column_names,
            entry_weights=entry_weights,
        )

    def predict_triplets(self, triplets: Any, side: str = "row") -> np.ndarray:
        """The chance that each comparison holds.

        With a prior (``row_prior="data"``, say) it is about far / (near + far), with the distances
        q-r and q-s in a unit that makes the answers of the fit likely, and as sharp as answers
        ask for that were held out: with 60 answers or more, chances are calibrated. Otherwise it
        is 1 / (1 + exp((near - far) / margin)), the margin in units of the data.

        Parameters
        ----------
        triplets : Triplets, array-like or DataFrame of shape (n_triplets, 3)
            Between rows (columns) of the fit.
        side : {"row", "column"}, default="row"

        Returns
        -------
        chance : ndarray of shape (n_triplets,)

        Examples
        --------
        >>> import numpy as np
        >>> from rprnmf import RPRNMF
        >>> X = np.random.default_rng(0).random((8, 5))
        >>> known = [[0, 1, 2], [3, 4, 5], [6, 7, 0]]
        >>> model = RPRNMF(3, row_prior="data", random_state=0).fit(X, row_triplets=known)
        >>> model.predict_triplets(known).round() == 1
        array([ True,  True,  True])
        """
        check_is_fitted(self)
        check_side(side)
        chances = self._chances[("row", "column").index(side)]
        if chances is None:
            raise ValueError(f"the fit had no {side} triplets, so nothing is known of chances.")
        factor = self.embedding_ if side == "row" else self.components_.T
        names = getattr(self, f"{side}_names_")
        asked = as_triplets(triplets).positions(len(factor), names, side)
        _, near, far = triplet_distances(factor, asked, self.distance_)
        return chances(near, far)

    def score_triplets(self, triplets: Any, side: str = "row") -> float:
        """The fraction of the triplets' weight that the factors meet.

        Parameters
        ----------
        triplets : Triplets, array-like or DataFrame of shape (n_triplets, 3)
            Between rows (columns) of the fit; best such that the fit has not seen.
        side : {"row", "column"}, default="row"

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        check_side(side)
        factor = self.embedding_ if side == "row" else self.components_.T
        asked = as_triplets(triplets).positions(len(factor), getattr(self, f"{side}_names_"), side)
        if asked.n_triplets == 0:
            raise ValueError("score_triplets needs at least one triplet, got none.")
        _, near, far = triplet_distances(factor, asked, self.distance_)
        return float(np.average(near < far, weights=summable(asked.weights)))

    def transform(  # type: ignore[override]
        self,
        X: Any,
        row_triplets: Any = None,
        row_names: Any = None,
        row_features: Any = None,
        entry_weights: Any = None,
    ) -> np.ndarray:
        """Rows of W for new rows of X, with the components as they are.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Missing entries are marked as in ``fit``.
        row_triplets : Triplets, array-like or DataFrame of shape (n_triplets, 3), default=None
            Comparisons that involve the new rows. Positions count the rows of the training data
            first, then the new ones; names are looked up in both. Rows of the training data stay
            where they are.
        row_names : sequence of length n_samples, default=None
            Names of the new rows, where X has no labels.
        row_features : array, DataFrame or list of these, default=None
            Features of the new rows, where ``row_prior`` is a table of features; Dask's where X
            is a Dask array. Without them rows are not pulled.
        entry_weights : array-like or sparse matrix of shape (n_samples, n_features), default=None
            As in ``fit``.

        Returns
        -------
        W : ndarray of shape (n_samples, n_components)
        """
        triplets = None if row_triplets is None else as_triplets(row_triplets)
        return self._fold_in(X, triplets, row_names, row_features, entry_weights)

    def triplet_report(self) -> TripletReport:
        """What became of the triplets of the fit.

        Returns
        -------
        report : TripletReport
            Columns with one entry per triplet, as attributes and by name (``report.near``,
            ``report["near"]``): its ``side``, the names of ``q``, ``r`` and ``s`` (their
            positions, if X has no names), the distances ``near`` (q-r) and ``far`` (q-s) under
            the distance that was fitted, ``margin`` (far - near), whether it is ``satisfied``,
            and its ``weight``. ``report.frame`` is the same as a DataFrame (needs pandas).
            ``report.text``, which ``print`` shows, says how many are met and which items gather
            the others.

        Examples
        --------
        >>> import numpy as np
        >>> from rprnmf import RPRNMF
        >>> X = np.random.default_rng(0).random((6, 5))
        >>> model = RPRNMF(3, max_iter=500, random_state=0).fit(X, row_triplets=[[0, 1, 2]])
        >>> report = model.triplet_report()
        >>> print(report)
        row triplets: 1 of 1 met (100.0 %)
        >>> report.satisfied
        array([ True])
        """
        check_is_fitted(self)
        sides = [
            ReportSide("row", self.embedding_, *self._known("row")),
            ReportSide("column", self.components_.T, *self._known("column")),
        ]
        return report(sides, self.distance_)
