"""Worker: nimfa's least-squares NMF by projected gradients (Lsnmf)."""

from __future__ import annotations

import warnings

import numpy as np
import protocol

warnings.simplefilter("ignore")


def fit(X, W, H, n):
    """So many iterations of Lsnmf from a start."""
    import nimfa

    model = nimfa.Lsnmf(
        X, seed=None, W=W.copy(), H=H.copy(), rank=W.shape[1], max_iter=n, min_residuals=1e-30
    )
    done = model()
    factors = done.basis(), done.coef()
    return tuple(np.asarray(F.todense() if hasattr(F, "todense") else F) for F in factors)


if __name__ == "__main__":
    protocol.main(fit)
