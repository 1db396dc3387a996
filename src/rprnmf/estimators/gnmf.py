"""NMF with neighbour graphs."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from rprnmf.estimators.checkpointing import Checkpoint
from rprnmf.estimators.composed import ComposedNMF, Start
from rprnmf.graphs import check_graph
from rprnmf.objective import Problem, Side

GRAPH = ["array-like", "sparse matrix", StrOptions({"knn", "cosine"}), None]
STRENGTH = [Interval(Real, 0, None, closed="left")]
AUTOMATIC = [*STRENGTH, StrOptions({"auto"})]
PAPER = 100.0  # what "auto" stands for with solver="paper"


def graph_strength(given: Any) -> dict[str, Any]:
    """The strength of a side's graph as `Side` wants it."""
    if isinstance(given, str):
        return {"graph_strength": PAPER, "graph_automatic": True}
    return {"graph_strength": float(given)}


def used_strengths(problem: Problem) -> tuple[float | None, float | None]:
    """The strengths of the graphs of both sides; None where there is none."""
    rows, columns = (
        None if side.graph is None else float(side.graph_strength) for side in problem.sides
    )
    return rows, columns


class GNMF(ComposedNMF):
    """Graph regularised NMF: what is similar stays close in the factors.

    The objective is loss + row_strength * Tr(W' L W) + column_strength * Tr(H L H'), with the
    Laplacian L = D - S of the graph's weights S. Where that term and the loss would not grow
    alike with X (with the divergence, and with graphs on both sides), "cd" and "mu" multiply it
    by a constant of the data, so that the result does not depend on the unit of X; "paper" does
    not.

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
    row_graph : {array-like, sparse matrix} of shape (n_samples, n_samples), "knn", "cosine" \
or None
        Similarities between the rows of X: symmetric non-negative weights, or "knn" for the
        ``n_neighbors`` nearest neighbours with weight 1, in both directions. "cosine": nearest
        by their angles, the largest parts of the data (light and shade, words that all texts
        have) taken down and closer ones with larger weights; better for pictures and texts.
    column_graph : {array-like, sparse matrix} of shape (n_features, n_features), "knn", \
"cosine" or None
        The same for the columns.
    row_strength, column_strength : float or "auto", default="auto"
        A number is used as it is. "auto": the graph costs three times the error of plain NMF,
        at its factors; with ``solver="paper"`` 100, as in the paper.
    n_neighbors : int, default=5
    row_prior, column_prior : {"auto", None, "mean", "data"}, array, DataFrame or list, \
default="auto"
        What pulls every row of a factor: nothing (None); the mean row; what its row of X predicts
        ("data": alike rows, or, where entries are missing, which are observed); what features
        predict (one row per row, or column, of X: numbers, sparse, or a DataFrame whose
        categories and labels such as "Comedy|Drama" become columns); or a list of these. The
        predictions are learned with the factors, see ``prior_``. "auto": the mean row where
        more than 5 % of the entries are missing (and 100 are not) and there are no L1/L2 terms, as
        strong as entries that short fits did not see ask for; else nothing.
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
        Weight of the L1 and L2 terms of W, as in scikit-learn. Where both factors have L2 terms,
        a component's two columns cost the same by these. With terms on one factor only, the
        scale is where the graph is: on one side, that factor carries all of it and the other
        has columns of size 1; on both, they have columns of equal size.
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
        Whether ``tol`` stopped the fit.
    row_satisfied_rate_, column_satisfied_rate_ : float
        NaN: only `RPRNMF` takes triplets.
    row_names_, column_names_ : ndarray or None
        The labels of a DataFrame.
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
    D. Cai, X. He, J. Han, T. Huang, "Graph Regularized Nonnegative Matrix Factorization for
    Data Representation", IEEE TPAMI 33(8), 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import GNMF
    >>> X = np.random.default_rng(0).random((6, 4))
    >>> GNMF(2, row_graph="knn", n_neighbors=2, max_iter=50, tol=0).fit_transform(X).shape
    (6, 2)
    """

    _program = "gnmf"
    _parameter_constraints = {
        **ComposedNMF._parameter_constraints,
        "row_graph": GRAPH,
        "column_graph": GRAPH,
        "row_strength": AUTOMATIC,
        "column_strength": AUTOMATIC,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components="auto",
        *,
        beta_loss="frobenius",
        row_graph=None,
        column_graph=None,
        row_strength="auto",
        column_strength="auto",
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
        self.row_graph = row_graph
        self.column_graph = column_graph
        self.row_strength = row_strength
        self.column_strength = column_strength
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

    def _sides(self, X, view, names, knowledge):
        row = check_graph(self.row_graph, X, self.n_neighbors, "row")
        column = check_graph(self.column_graph, X, self.n_neighbors, "column")
        return (
            Side(graph=row, **graph_strength(self.row_strength)),
            Side(graph=column, **graph_strength(self.column_strength)),
        )

    def _keep(self, result, problem):
        W = super()._keep(result, problem)
        self.graph_strength_ = used_strengths(problem)
        return W

    def fit(
        self,
        X: Any,
        y: Any = None,
        W: Any = None,
        H: Any = None,
        update_H: bool = True,
        *,
        row_names: Any = None,
        column_names: Any = None,
        entry_weights: Any = None,
        checkpoint: Any = None,
        checkpoint_every: float | None = None,
    ) -> GNMF:
        """Factorise X.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
        y : Ignored
        W : array-like of shape (n_samples, n_components), default=None
            Start, with ``init="custom"``.
        H : array-like of shape (n_components, n_features), default=None
            Start, with ``init="custom"``; the components, with ``update_H=False``.
        update_H : bool, default=True
            False keeps the components at H and looks for W only.
        row_names, column_names : sequence of length n_samples, n_features, default=None
            Names of the rows and of the columns of X, kept as ``row_names_`` and
            ``column_names_``. They replace the labels of a DataFrame.
        entry_weights : array-like or sparse matrix of shape (n_samples, n_features), default=None
            What each entry of X weighs in the loss: numbers of at least 0; sparse where X is, with
            the same stored places. What stands at missing entries is not used. None: 1.
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
        self : GNMF
        """
        names = {"row_names": row_names, "column_names": column_names}
        kept = {"checkpoint": checkpoint, "checkpoint_every": checkpoint_every}
        self.fit_transform(
            X, W=W, H=H, update_H=update_H, entry_weights=entry_weights, **names, **kept
        )
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        W: Any = None,
        H: Any = None,
        update_H: bool = True,
        *,
        row_names: Any = None,
        column_names: Any = None,
        entry_weights: Any = None,
        checkpoint: Any = None,
        checkpoint_every: float | None = None,
    ) -> np.ndarray:
        """Factorise X and return W.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
        y : Ignored
        W : array-like of shape (n_samples, n_components), default=None
            Start, with ``init="custom"``.
        H : array-like of shape (n_components, n_features), default=None
            Start, with ``init="custom"``; the components, with ``update_H=False``.
        update_H : bool, default=True
            False keeps the components at H and looks for W only.
        row_names, column_names : sequence of length n_samples, n_features, default=None
            Names of the rows and of the columns of X, kept as ``row_names_`` and
            ``column_names_``. They replace the labels of a DataFrame.
        entry_weights : array-like or sparse matrix of shape (n_samples, n_features), default=None
            What each entry of X weighs in the loss: numbers of at least 0; sparse where X is, with
            the same stored places. What stands at missing entries is not used. None: 1.
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
        start, kept = Start(W, H, update_H), Checkpoint(checkpoint, checkpoint_every)
        names = {"row_names": row_names, "column_names": column_names}
        return self._fit(X, start, kept, entry_weights=entry_weights, **names)
