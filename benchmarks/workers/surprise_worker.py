"""Worker: NMF and SVD++ of Surprise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import ratings_protocol
from surprise import NMF, Dataset, Reader, SVDpp


def fit(train, n, K, regularisation, biased, svdpp):
    """So many epochs, from rating triples; SVD++ has its default regularisation."""
    frame = pd.DataFrame({"user": train.row, "item": train.col, "rating": train.data})
    data = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
    if svdpp:
        model = SVDpp(n_factors=K, n_epochs=n, random_state=0, cache_ratings=True)
    else:
        model = NMF(K, n, biased, regularisation, regularisation, random_state=0)
    model.fit(data)

    def predict(rows, columns):
        pairs = zip(rows.tolist(), columns.tolist(), strict=True)
        return np.array([model.predict(row, column).est for row, column in pairs])

    return predict


if __name__ == "__main__":
    numbers = {"K": int, "regularisation": float, "biased": bool, "svdpp": bool}
    ratings_protocol.main(fit, numbers)
