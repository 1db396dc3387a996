"""Worker: NMF of cornac."""

from __future__ import annotations

import numpy as np
import ratings_protocol
from cornac.data import Dataset
from cornac.models import NMF


def fit(train, n, K, regularisation, biased):
    """So many epochs on one thread, from rating triples."""
    triples = zip(train.row.tolist(), train.col.tolist(), train.data.tolist(), strict=True)
    data = Dataset.from_uir(list(triples), seed=0)
    weights = {"lambda_u": regularisation, "lambda_v": regularisation}
    model = NMF(k=K, max_iter=n, use_bias=biased, num_threads=1, seed=0, **weights).fit(data)
    users, items = (
        np.array([index.get(name, -1) for name in range(size)])
        for index, size in zip((data.uid_map, data.iid_map), train.shape, strict=True)
    )

    def predict(rows, columns):
        rows, columns = users[rows], items[columns]
        known = (rows >= 0) & (columns >= 0)
        guess = np.full(len(rows), data.global_mean)
        score = ratings_protocol.inner(model.u_factors, model.i_factors)
        guess[known] = score(rows[known], columns[known])
        if biased:
            guess[known] += model.global_mean + model.u_biases[rows[known]]
            guess[known] += model.i_biases[columns[known]]
        return guess

    return predict


if __name__ == "__main__":
    ratings_protocol.main(fit, {"K": int, "regularisation": float, "biased": bool})
