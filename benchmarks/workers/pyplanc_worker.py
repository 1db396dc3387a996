"""Worker: pyplanc's alternating non-negative least squares by block principal pivoting."""

from __future__ import annotations

import numpy as np
import protocol
import pyplanc
import scipy.sparse as sp


def fit(X, W, H, n):
    """So many iterations of ANLS-BPP from a start; it wants column-major input."""
    X = sp.csc_matrix(X) if sp.issparse(X) else np.asfortranarray(X)
    start = {"Winit": np.array(W, order="F"), "Hinit": np.array(H.T, order="F")}
    done = pyplanc.nmf(X, W.shape[1], niter=n, algo="anlsbpp", ncores=1, **start)
    return np.asarray(done.W), np.asarray(done.H).T


if __name__ == "__main__":
    protocol.main(fit)
