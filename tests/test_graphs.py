"""Neighbour graphs by name: what they are made of."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from rprnmf import graphs
from rprnmf.graphs import check_graph, leading_parts


@pytest.fixture(scope="module")
def X():
    return load_digits().data[:300]


def test_rows_have_length_one(X):
    X = X.copy()
    X[3] = 0.0
    lengths = np.linalg.norm(leading_parts(X), axis=1)
    assert lengths[3] == 0
    np.testing.assert_allclose(np.delete(lengths, 3), 1.0)


@pytest.mark.parametrize("transposed", [False, True])
def test_all_ways_to_the_singular_vectors_agree(X, transposed, monkeypatch):
    X = X + 0.1 * np.random.default_rng(0).random(X.shape)  # no two singular values are equal
    X = X.T if transposed else X
    exact = leading_parts(X) @ leading_parts(X).T
    some = leading_parts(sp.csr_array(X))
    np.testing.assert_allclose(some @ some.T, exact, atol=1e-8)
    monkeypatch.setattr(graphs, "SMALL", 0)
    for other in (X, sp.csr_array(X)):
        some = leading_parts(other)
        np.testing.assert_allclose(some @ some.T, exact, atol=1e-6)


def test_graph_does_not_depend_on_the_order_or_the_size_of_rows(X):
    order = np.random.default_rng(0).permutation(len(X))
    graph = check_graph("cosine", X, 5, "row").toarray()
    other = check_graph("cosine", 7.0 * X[order], 5, "row").toarray()
    np.testing.assert_allclose(other, graph[np.ix_(order, order)], atol=1e-8)


def test_light_and_shade_do_not_decide():
    """Three kinds of rows that are told apart by a small part, under much light."""
    rng = np.random.default_rng(0)
    kind, lights = rng.integers(0, 3, 240), rng.random((240, 4))
    across = np.linspace(0, 1, 50)
    shades = np.stack([across, 1 - across, np.sin(np.pi * across), across**2])
    X = 0.05 * rng.random((3, 50))[kind] + lights @ shades + 0.01 * rng.random((240, 50))

    def in_kind(graph):
        i, j = sp.coo_array(graph).coords
        return np.mean(kind[i] == kind[j])

    assert in_kind(graphs.weighted_neighbours(graphs.normalize(X), 5)) < 0.5
    assert in_kind(check_graph("cosine", X, 5, "row")) > 0.7


@pytest.mark.parametrize("shape", [(1, 4), (2, 1), (3, 2), (5, 70)])
def test_small_and_odd_data(shape):
    X = np.random.default_rng(0).random(shape)
    assert np.isfinite(check_graph("cosine", X, 5, "row").toarray()).all()
    assert np.isfinite(check_graph("cosine", np.zeros(shape), 5, "row").toarray()).all()
