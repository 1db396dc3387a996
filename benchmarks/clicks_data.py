"""Clicks: which films people liked, and how well a list of recommendations finds the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.datasets import fetch_movielens_1m, fetch_movielens_100k

FETCHERS = {"1m": fetch_movielens_1m, "100k": fetch_movielens_100k}
LIKED = 4  # ratings from this on are clicks
BLOCK = 500  # people at a time


class Clicks(NamedTuple):
    """Clicks that are known, and those held out."""

    train: sp.csr_array
    test: sp.csr_array


def movielens(name: str = "1m") -> sp.csr_array:
    """The clicks of MovieLens 1M ("1m") or 100K ("100k"), people by films."""
    X = sp.coo_array(FETCHERS[name](download_if_missing=False).data)
    liked = X.data >= LIKED
    places = tuple(index[liked] for index in X.coords)
    return sp.csr_array((np.ones(liked.sum(), np.float32), places), shape=X.shape)


def split(X: sp.csr_array, seed: int, share: float = 0.2) -> Clicks:
    """Some of the clicks held out at random."""
    X = sp.coo_array(X)
    out = np.random.default_rng(seed).random(X.nnz) < share
    train, test = (
        sp.csr_array((X.data[part], tuple(index[part] for index in X.coords)), shape=X.shape)
        for part in (~out, out)
    )
    return Clicks(train, test)


def measured(clicks: Clicks, scores: Callable[[slice], np.ndarray]) -> tuple[float, float]:
    """NDCG@10 and recall@20, means over the people with held-out clicks.

    ``scores(rows)`` gives one score per film for some people. Films that they clicked in the
    training part are left out. Recall is the number of held-out clicks among the first 20, over as
    many as there could be.
    """
    gains = 1.0 / np.log2(np.arange(2, 12))
    ideal = np.concatenate(([0.0], np.cumsum(gains)))
    ndcg, recall = [], []
    for first in range(0, clicks.train.shape[0], BLOCK):
        rows = slice(first, min(first + BLOCK, clicks.train.shape[0]))
        score = np.array(scores(rows), dtype=np.float64)
        score[clicks.train[rows].nonzero()] = -np.inf
        held = clicks.test[rows].toarray() > 0
        best = np.argpartition(-score, 20, axis=1)[:, :20]
        order = np.argsort(-np.take_along_axis(score, best, 1), axis=1, kind="stable")
        hits = np.take_along_axis(held, np.take_along_axis(best, order, 1), 1)
        count = held.sum(axis=1)
        asked = count > 0
        found = (hits[:, :10] * gains).sum(axis=1)[asked]
        ndcg.append(found / ideal[np.minimum(count[asked], 10)])
        recall.append(hits[asked].sum(axis=1) / np.minimum(count[asked], 20))
    return float(np.concatenate(ndcg).mean()), float(np.concatenate(recall).mean())


def of_factors(W: np.ndarray, H: np.ndarray) -> Callable[[slice], np.ndarray]:
    """The scores W H."""
    return lambda rows: W[rows] @ H


def popularity(train: sp.csr_array) -> Callable[[slice], np.ndarray]:
    """Every film by its number of clicks."""
    counts = np.asarray(train.sum(axis=0)).ravel()
    return lambda rows: np.tile(counts, (rows.stop - rows.start, 1))


def ease(train: sp.csr_array, ridge: float) -> Callable[[slice], np.ndarray]:
    """EASE (Steck, 2019): scores X B, B the ridge regression of films on films, zero diagonal."""
    gram: Any = (train.T @ train).toarray().astype(np.float64)
    gram[np.diag_indices_from(gram)] += ridge
    P = np.linalg.inv(gram)
    B = -P / np.diag(P)
    B[np.diag_indices_from(B)] = 0.0
    return lambda rows: train[rows] @ B
