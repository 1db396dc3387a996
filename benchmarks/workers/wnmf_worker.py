"""Worker: wNMF, weighted multiplicative updates of a dense matrix; no regularisation."""

from __future__ import annotations

import numpy as np
import ratings_protocol
from wNMF import wNMF


def fit(train, n, K):
    """So many iterations, with weight 1 for a rating and 0 elsewhere."""
    X = train.toarray()
    weights = (X > 0).astype(float)
    model = wNMF(n_components=K, max_iter=n, tol=1e-300, random_state=0, rescale=False)
    model.fit(X, weights)
    return ratings_protocol.inner(np.asarray(model.U), np.asarray(model.V).T)


if __name__ == "__main__":
    ratings_protocol.main(fit, {"K": int})
