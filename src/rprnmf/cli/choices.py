"""What options may be set to.

The names are those of the registries, which take seconds to load; a test holds the two together.
"""

from __future__ import annotations

ESTIMATORS = ("rprnmf", "nmf", "gnmf", "lcnmf")
LOSSES = ("frobenius", "kullback-leibler", "itakura-saito")
SOLVERS = ("cd", "mu", "paper")
PENALTIES = (
    "auto",
    "exponential",
    "hinge",
    "squared_hinge",
    "logistic",
    "likelihood",
    "ratio",
)
DISTANCES = ("auto", "euclidean", "divergence")
INITS = ("random", "nndsvd", "nndsvda", "nndsvdar")
GRAPHS = ("knn", "cosine")
PRIORS = ("none", "auto", "mean", "data")
RESOLVE_METHODS = ("feedback-arc", "majority", "drop")
MEASURES = ("weight", "lift", "relevance")
FORMATS = (
    "csv",
    "ratings",
    "texts",
    "images",
    "npy",
    "npz",
    "mtx",
    "mat",
    "h5ad",
    "parquet",
    "zarr",
)
EXPERIMENTS = (
    "movie-example",
    "four-points",
    "exp-approximation",
    "synthetic-constraints",
    "synthetic-size",
    "parameters",
    "datasets",
    "orl",
    "pie",
    "movielens",
)
