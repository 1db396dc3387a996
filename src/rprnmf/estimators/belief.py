"""How firmly the prior of a side holds its rows, beside the answers that teach it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rprnmf.objective import SideTerms
from rprnmf.triplets.posterior import Belief


def belief(terms: SideTerms, unit: float) -> Belief:
    """What is known of the rows before the answers, in units of one answer.

    A row is what its features predict plus what is its own, and both have a variance: in the
    objective the own part costs ``weights`` times its square, the coefficients ``ridge`` times
    theirs, where an answer costs ``triplet_weight / n`` times the logarithm of its chance.

    Parameters
    ----------
    terms : SideTerms
        Of a side whose triplets teach.
    unit : float
        Of the differences of distances.
    """
    assert terms.triplets is not None
    assert terms.prior is not None
    answer = terms.triplet_weight / len(terms.triplets.q)
    prior = terms.prior
    features = prior.features
    squares = features.multiply(features) if sp.issparse(features) else features * features
    explained = np.asarray(squares.sum(axis=1)).ravel() / prior.ridge
    own = 1.0 / np.maximum(prior.weights, 1e-300)
    return Belief(unit, 2.0 * terms.prior_weight / answer / (own + explained))
