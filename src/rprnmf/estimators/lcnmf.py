"""NMF with labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import _fit_context

from rprnmf.checks import check_labels
from rprnmf.estimators.checkpointing import Checkpoint
from rprnmf.estimators.composed import ComposedNMF, Start
from rprnmf.estimators.remote_labels import tied_blocks
from rprnmf.objective import Side


class LCNMF(ComposedNMF):
    """Label constrained NMF: points of the same label share one row of their factor.

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
        Weight of the L1 and L2 terms of W, as in scikit-learn.
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

    Notes
    -----
    ``transform`` folds rows in without labels, so on the training data it differs from
    ``fit_transform``, which ties the rows of a label.

    References
    ----------
    H. Liu, Z. Wu, X. Li, D. Cai, T. Huang, "Constrained Nonnegative Matrix Factorization for
    Image Representation", IEEE TPAMI 34(7), 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import LCNMF
    >>> X = np.random.default_rng(0).random((4, 3))
    >>> W = LCNMF(n_components=2, max_iter=500).fit_transform(X, y=[7, 7, -1, -1])
    >>> bool((W[0] == W[1]).all())
    True
    """

    _program = "lcnmf"

    def __init__(
        self,
        n_components="auto",
        *,
        beta_loss="frobenius",
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
        n, m = view.shape
        y = knowledge["y"]
        return (
            Side(groups=tied_blocks(view, y) if view.remote else check_labels(y, n, "row")),
            Side(groups=check_labels(knowledge["column_labels"], m, "column")),
        )

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        column_labels: Any = None,
        row_names: Any = None,
        column_names: Any = None,
        entry_weights: Any = None,
        W: Any = None,
        H: Any = None,
        update_H: bool = True,
        checkpoint: Any = None,
        checkpoint_every: float | None = None,
    ) -> LCNMF:
        """Factorise X.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
        y : array-like or dask array of shape (n_samples,), default=None
            Label of each row of X; -1 where it is not known. None: no row has one.
        column_labels : array-like of shape (n_features,), default=None
            The same for the columns.
        row_names, column_names : sequence of length n_samples, n_features, default=None
            Names of the rows and of the columns of X, kept as ``row_names_`` and
            ``column_names_``. They replace the labels of a DataFrame.
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
        self : LCNMF
        """
        knowledge = {"column_labels": column_labels, "entry_weights": entry_weights}
        names = {"row_names": row_names, "column_names": column_names}
        kept = {"checkpoint": checkpoint, "checkpoint_every": checkpoint_every}
        self.fit_transform(X, y, W=W, H=H, update_H=update_H, **knowledge, **names, **kept)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        column_labels: Any = None,
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
        y : array-like or dask array of shape (n_samples,), default=None
            Label of each row of X; -1 where it is not known. None: no row has one.
        column_labels : array-like of shape (n_features,), default=None
            The same for the columns.
        row_names, column_names : sequence of length n_samples, n_features, default=None
            Names of the rows and of the columns of X, kept as ``row_names_`` and
            ``column_names_``. They replace the labels of a DataFrame.
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
        names = {"row_names": row_names, "column_names": column_names}
        knowledge = {"column_labels": column_labels, "entry_weights": entry_weights}
        start, kept = Start(W, H, update_H), Checkpoint(checkpoint, checkpoint_every)
        return self._fit(X, start, kept, y=y, **knowledge, **names)
