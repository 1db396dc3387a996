"""How firmly the prior of a side holds its rows, beside the answers that teach it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rprnmf.estimators.teaching import Chances
from rprnmf.objective import Objective
from rprnmf.penalties import PENALTIES
from rprnmf.remote import RemoteArray, as_dask
from rprnmf.triplets.posterior import Belief


def belief(objective: Objective, index: int, chances: Chances, other: np.ndarray) -> Belief:
    """What is known of the rows before the answers, in units of one answer.

    A row is what its features predict plus what is its own, and both have a variance: in the
    objective the own part costs ``weights`` times its square, the coefficients ``ridge`` times
    theirs, where an answer costs ``triplet_weight / n`` times the logarithm of its chance. The
    loss costs about its curvature times the square of the model's change.

    Parameters
    ----------
    objective : Objective
    index : {0, 1}
        The side, whose triplets teach.
    chances : Chances
        Of the answers.
    other : ndarray of shape (n_columns, n_components)
        The factor of the other side.
    """
    terms, view = objective.terms[index], objective.views[index]
    assert terms.triplets is not None
    assert terms.prior is not None
    answer = terms.triplet_weight / len(terms.triplets.q)
    features = terms.prior.features
    squares = features.multiply(features) if sp.issparse(features) else features * features
    lengths = squares.sum(axis=1)
    if not isinstance(lengths, RemoteArray):
        lengths = np.asarray(lengths).ravel()
    explained = lengths / terms.prior.ridge
    own = 1.0 / np.maximum(terms.prior.weights, 1e-300)
    precision = 2.0 * terms.prior_weight / answer / (own + explained)
    if isinstance(precision, RemoteArray):
        precision = as_dask(precision)
    other = other.astype(np.float64, copy=False)
    observed = view.n_observed / max(view.shape[0] * view.shape[1], 1)
    data = 2.0 * observed * objective.loss.curvature(view) / answer * (other.T @ other)
    floor = PENALTIES[chances.penalty].floor
    least = None if floor is None else floor * chances.unit
    return Belief(chances.unit, precision, data, least)
