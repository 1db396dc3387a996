"""Worker: cmfrec's CMF on explicit ratings with side information, on one thread.

Inputs: rows, columns, values, shape; U and I, features of all rows and columns (or no columns);
settings of CMF, biased (mean and biases) and lambda_sides (what the factors of U and I are
regularised by, over lambda_). Rows without ratings are part of the fit: their factors are what the
side information says. Outputs: factors with the mean and the biases as further components, so that
their products are the predictions; CPU seconds of the fit.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np
import protocol
import scipy.sparse as sp
from cmfrec import CMF

WHOLE = ("k", "niter", "k_user", "k_item", "k_main")
FLAGS = ("nonneg", "scale_lam", "scale_lam_sideinfo", "center_U", "center_I", "use_float")
NUMBERS = ("w_main", "w_user", "w_item")


def stacked(model, X, sides, biased):
    """Both factors, each with columns for what the other's biases need."""
    A, B = np.array(model.A_, float), np.array(model.B_, float)
    shared = int(model.k) + int(model.k_main)
    A, B = A[:, int(model.k_user) :][:, :shared], B[:, int(model.k_item) :][:, :shared]
    biases = [
        np.array(bias, float).ravel() if np.size(bias) else np.zeros(n)
        for bias, n in zip((model.user_bias_, model.item_bias_), X.shape, strict=True)
    ]
    for factor, side, axis in ((A, "U", 1), (B, "I", 0)):
        if not sides[side]:  # nothing is known of such rows: zero where there are biases
            empty = X.getnnz(axis=axis) == 0
            factor[empty] = 0.0 if biased else factor[~empty].mean(axis=0)
            biases[axis == 0][empty] = 0.0
    W = np.column_stack((A, biases[0] + float(model.glob_mean_), np.ones(len(A))))
    return W, np.column_stack((B, np.ones(len(B)), biases[1]))


def main() -> None:
    """Answer a call of `environments.run`."""
    given = protocol.read()
    places = given["rows"], given["columns"]
    dtype = np.float32 if given.get("use_float", False) else np.float64
    X = sp.coo_matrix((given["values"].astype(dtype), places), shape=tuple(given["shape"]))
    setting: dict = {"use_float": False}
    setting |= {name: int(given[name]) for name in WHOLE if name in given}
    setting |= {name: bool(given[name]) for name in FLAGS if name in given}
    setting |= {name: float(given[name]) for name in NUMBERS if name in given}
    biased = bool(given["biased"])  # with the mean; its documentation advises none beside nonneg
    weight, share = float(given["lambda_"]), float(given.get("lambda_sides", 1.0))
    model = CMF(
        lambda_=np.array([weight] * 4 + [share * weight] * 2),  # biases, A, B, C, D
        user_bias=biased,
        item_bias=biased,
        center=biased,
        use_cg=False,
        precompute_for_predictions=False,
        nthreads=1,
        random_state=0,
        **setting,
    )
    sides = {
        name: np.ascontiguousarray(given[name], dtype=float)
        for name in ("U", "I")
        if given[name].shape[1]
    }
    output = os.dup(1)
    os.dup2(2, 1)
    started = time.process_time()
    model.fit(X, **sides)
    seconds = time.process_time() - started
    os.dup2(output, 1)
    W, Ht = stacked(model, X, {name: name in sides for name in "UI"}, biased)
    np.savez(sys.argv[2], W=W, Ht=Ht, seconds=seconds)


if __name__ == "__main__":
    main()
