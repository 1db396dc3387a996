"""Worker: tensorly's non-negative CP decomposition by HALS, of a dense matrix."""

from __future__ import annotations

import numpy as np
import protocol
from tensorly.cp_tensor import CPTensor
from tensorly.decomposition import non_negative_parafac_hals


def fit(X, W, H, n):
    """So many iterations of HALS from a start."""
    K = W.shape[1]
    start = CPTensor((np.ones(K), [W.copy(), H.T.copy()]))
    done = non_negative_parafac_hals(X, K, n_iter_max=n, init=start, tol=0)
    return done.factors[0] * done.weights, done.factors[1].T


if __name__ == "__main__":
    protocol.main(fit)
