"""Worker: cmfrec's CMF, non-negative, explicit ratings, ALS with weighted regularisation.

Without biases and, as its documentation advises beside nonneg=True, without centring.
"""

from __future__ import annotations

import numpy as np
import ratings_protocol
from cmfrec import CMF


def fit(train, n, K, regularisation, single):
    """So many iterations of ALS-WR."""
    model = CMF(
        k=K,
        lambda_=regularisation,
        scale_lam=True,
        nonneg=True,
        user_bias=False,
        item_bias=False,
        center=False,
        niter=n,
        use_float=single,
        precompute_for_predictions=False,
        nthreads=1,
    )
    model.fit(train.astype(np.float32) if single else train)
    return ratings_protocol.inner(model.A_, model.B_)


if __name__ == "__main__":
    ratings_protocol.main(fit, {"K": int, "regularisation": float, "single": bool})
