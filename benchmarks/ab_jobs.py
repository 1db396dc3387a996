"""The jobs of `ab.py`, each with a fixed number of iterations; runs one of them when told to.

Only public names are used, so that the same file measures both checkouts. A job returns a
number that shows where it ended: equal work ends at the same place.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import MissingError, data_file, load, random_start, without_priors

Job = Callable[[], float]
KL = {"beta_loss": "kullback-leibler"}
FIRST_FITS = (  # loss, layout, dtype, with triplets
    ("frobenius", "dense", "float64", False),
    ("frobenius", "sparse", "float32", False),
    ("frobenius", "dense", "float64", True),
    ("frobenius", "masked", "float64", True),
    ("kullback-leibler", "dense", "float64", False),
    ("kullback-leibler", "masked", "float32", False),
    ("kullback-leibler", "sparse", "float64", True),
    ("kullback-leibler", "dense", "float64", True),
)


def fit(kind: str, X: Any, K: int, iterations: int, knows: Any = None, **settings: Any) -> Job:
    """So many iterations from one start; ends with the objective."""
    import rprnmf

    W, H = random_start(X, K, 0)
    model = getattr(rprnmf, kind)(K, init="custom", tol=0, max_iter=iterations, n_jobs=1)
    model.set_params(**without_priors(model), **settings)
    return lambda: float(model.fit(X, W=W, H=H, **(knows or {})).history_["objective"][-1])


def transform(rows: int, **settings: Any) -> Job:
    """New rows of some 500 non-zeros folded in; ends with the sum of what comes out."""
    from rprnmf import NMF

    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.2, 1, (rows, 20)) @ rng.gamma(0.1, 1, (20, 2000)))
    many = sp.csr_matrix(X.astype(float))
    model = NMF(30, init="random", random_state=0, tol=0, max_iter=50, n_jobs=1, **settings)
    model.set_params(**without_priors(model))
    model.fit(many[:1000]).set_params(tol=1e-4, max_iter=200)
    return lambda: float(model.transform(many).sum())


def faces() -> np.ndarray:
    """Dense data with the shape of a face data set: 40 parts, each in some of 400 images."""
    rng = np.random.default_rng(0)
    parts = rng.random((40, 1024)) * (rng.random((40, 1024)) < 0.2)
    return 60 * rng.random((400, 40)) @ parts + 5 * rng.random((400, 1024))


def counts() -> sp.csr_matrix:
    """Sparse counts: 4000 documents of 60 words each, out of two of 30 topics."""
    rng = np.random.default_rng(0)
    n, m, topics = 4000, 6000, 30
    ranks = np.argsort(rng.random((topics, m)), axis=1)  # a topic is an order of the words
    words = np.minimum(rng.pareto(1.0, (n, 60)) * 5, m - 1).astype(int)
    own = rng.integers(topics, size=(n, 2))[np.arange(n)[:, None], rng.integers(2, size=(n, 60))]
    places = np.repeat(np.arange(n), 60), ranks[own, words].ravel()
    return sp.csr_matrix((np.ones(n * 60), places), shape=(n, m))


def ratings() -> sp.csr_matrix:
    """MovieLens 1M in single precision."""
    data = data_file("movielens_1m.npz")
    rows = data["user_id"].astype(np.int64) - 1
    columns = np.unique(data["movie_id"], return_inverse=True)[1]
    return sp.csr_matrix((data["rating"].astype(np.float32), (rows, columns)))


def triplets(n: int, count: int) -> dict[str, np.ndarray]:
    """Row triplets of three different points."""
    drawn = np.random.default_rng(0).integers(0, n, (2 * count, 3))
    q, r, s = drawn.T
    return {"row_triplets": drawn[(q != r) & (q != s) & (r != s)][:count]}


def strong(X: Any, count: int, iterations: int, **settings: Any) -> Job:
    """RPRNMF with a fixed strength: what an iteration does does not hang on a ramp."""
    known = triplets(X.shape[0], count)
    return fit("RPRNMF", X, 30, iterations, known, row_strength=0.1, **settings)


def paper(X: Any, iterations: int, **settings: Any) -> Job:
    """The authors' rules."""
    known = triplets(X.shape[0], 300)
    return fit("RPRNMF", X, 20, iterations, known, solver="paper", row_strength=1.0, **settings)


MASKED = {"missing": "zero", "alpha_W": 0.05, "alpha_power": 0.7}
JOBS: dict[str, dict[str, Callable[[], Job]]] = {
    "plain": {
        "made faces": lambda: fit("NMF", faces(), 40, 150),
        "ORL": lambda: fit("NMF", load("ORL")[0], 40, 150),
        "ORL, mu": lambda: fit("NMF", load("ORL")[0], 40, 100, solver="mu"),
        "made counts": lambda: fit("NMF", counts(), 30, 50),
        "TDT2": lambda: fit("NMF", load("TDT2")[0], 30, 15),
    },
    "divergence": {
        "made faces": lambda: fit("NMF", faces(), 40, 10, **KL),
        "ORL": lambda: fit("NMF", load("ORL")[0], 40, 10, **KL),
        "made counts": lambda: fit("NMF", counts(), 30, 30, **KL),
        "TDT2": lambda: fit("NMF", load("TDT2")[0], 30, 8, **KL),
        "transform of 8000 sparse rows": lambda: transform(8000, **KL),
        "transform of 4000 sparse rows, masked": lambda: transform(4000, missing="zero", **KL),
    },
    "ratings": {
        "MovieLens 1M": lambda: fit("NMF", ratings(), 20, 15, **MASKED),
        "MovieLens 1M, KL": lambda: fit("NMF", ratings(), 20, 8, missing="zero", **KL),
        "MovieLens 1M, 6000 triplets": lambda: strong(ratings(), 6000, 6, **MASKED),
        "made counts, masked": lambda: fit("NMF", counts(), 30, 30, **MASKED),
    },
    "triplets": {
        "few": lambda: strong(faces(), 400, 200),
        "many": lambda: strong(faces(), 100_000, 60),
        "few, sparse": lambda: strong(counts(), 4000, 80),
        "few, mu": lambda: strong(faces(), 400, 200, solver="mu"),
        "few, KL": lambda: strong(faces(), 400, 8, **KL),
        "few, KL, divergence distance": lambda: strong(
            faces(), 400, 5, distance="divergence", **KL
        ),
        "paper": lambda: paper(faces(), 200),
        "paper, KL": lambda: paper(faces()[:150, :300], 200, **KL),
    },
}


def first_fit(loss: str, layout: str, dtype: str, knows: str) -> float:
    """Seconds of a small fit, the first of this process."""
    from rprnmf import NMF, RPRNMF

    X: Any = np.random.default_rng(0).random((60, 40)).astype(dtype)
    if layout != "dense":
        X[X < 0.7] = 0
        X = sp.csr_matrix(X)
    missing = "zero" if layout == "masked" else None
    settings = {"beta_loss": loss, "missing": missing, "max_iter": 5, "tol": 0, "n_jobs": 1}
    started = time.perf_counter()
    if knows == "True":
        RPRNMF(5, **settings, random_state=0).fit(X, row_triplets=[[0, 1, 2], [3, 4, 5]])
    else:
        NMF(5, **settings, random_state=0).fit(X)
    return time.perf_counter() - started


def serve(line: str, name: str) -> None:
    """Prepare a job, warm it up, then run it once for each line that comes in."""
    try:
        job = JOBS[line][name]()
    except MissingError as error:
        print(json.dumps({"missing": str(error)}), flush=True)
        return
    job()  # compiles, or reads what was compiled
    print(json.dumps({"ready": True}), flush=True)
    for _ in sys.stdin:
        wall, processor = time.perf_counter(), time.process_time()
        end = job()
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        print(json.dumps({"wall": wall, "processor": processor, "end": end}), flush=True)


if __name__ == "__main__":
    from checkouts import check_source

    check_source()
    warnings.simplefilter("ignore")
    if sys.argv[1] == "first_fit":
        print(json.dumps({"wall": first_fit(*sys.argv[2:])}))
    else:
        serve(*sys.argv[1:])
