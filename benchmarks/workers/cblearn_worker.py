"""Worker: ordinal embeddings of cblearn (STE, SOE, CKL), from answers alone.

All by its scipy backend with default settings. Inputs: triplets, n_objects, dimensions, seed.
Outputs, for each method and dimension: METHOD_DIMENSION, the embedding, and the seconds of its fit.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from cblearn.embedding import CKL, SOE, STE

METHODS = {"STE": STE, "SOE": SOE, "CKL": CKL}


def fit(method, triplets, n_objects, dimension, seed):
    """The embedding, and the seconds that it took."""
    model = METHODS[method](n_components=dimension, backend="scipy", random_state=seed)
    started = time.perf_counter()
    model.fit(triplets, n_objects=n_objects)
    return model.embedding_, time.perf_counter() - started


def main() -> None:
    """Answer a call of `environments.run`."""
    warnings.simplefilter("ignore")  # that it stopped at max_iter
    with np.load(sys.argv[1]) as given:
        triplets, n_objects, seed = given["triplets"], int(given["n_objects"]), int(given["seed"])
        dimensions = given["dimensions"].tolist()
    answer = {}
    fit("STE", triplets[:10], n_objects, 2, seed)  # warm-up
    for method in METHODS:
        for dimension in dimensions:
            embedding, seconds = fit(method, triplets, n_objects, dimension, seed)
            answer[f"{method}_{dimension}"] = embedding
            answer[f"{method}_{dimension}_seconds"] = seconds
    np.savez(sys.argv[2], **answer)


if __name__ == "__main__":
    main()
