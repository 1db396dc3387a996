"""`solver="paper"` against the loops of `loops.py` over random problems."""

from __future__ import annotations

import numpy as np
import pytest

from rprnmf import GNMF, LCNMF, NMF, RPRNMF
from tests.builders import (
    LAYOUTS,
    lay_out,
    observed_mask,
    random_graph,
    random_mask,
    random_matrix,
    random_triplets,
)
from tests.oracles import loops

SWEEPS = 6
N, M, K = 9, 8, 3


def problem(seed, layout, size=1.0):
    rng = np.random.default_rng(seed)
    X, mask = random_matrix(rng, N, M, size=size), random_mask(rng, N, M)
    data, missing = lay_out(X, mask, layout)
    return (
        rng,
        X,
        observed_mask(mask, layout),
        data,
        missing,
        rng.random((N, K)),
        rng.random((K, M)),
    )


def paper(estimator, data, missing, W, H, **arguments):
    estimator.set_params(solver="paper", init="custom", missing=missing, max_iter=SWEEPS)
    estimator.fit(data, W=W, H=H, **arguments)
    return estimator.embedding_, estimator.components_


def assert_same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-9 * b.max())


@pytest.mark.parametrize("sides", [(5, 6), (5, 0), (0, 6), (0, 0)])
@pytest.mark.parametrize("strength", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rpr_euclidean(layout, strength, sides):
    rng, X, mask, data, missing, W, H = problem(1, layout)
    rows, columns = random_triplets(rng, N, sides[0]), random_triplets(rng, M, sides[1])
    model = RPRNMF(row_strength=strength, column_strength=2 * strength)
    ours = paper(model, data, missing, W, H, row_triplets=rows, column_triplets=columns)
    assert_same(
        ours,
        loops.rpr_euclidean(X, mask, W, H, rows, columns, strength, 2 * strength, SWEEPS),
    )


@pytest.mark.parametrize("sides", [(5, 6), (5, 0), (0, 6), (0, 0)])
@pytest.mark.parametrize("strength", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rpr_divergence(layout, strength, sides):
    rng, X, mask, data, missing, W, H = problem(2, layout)
    rows, columns = random_triplets(rng, N, sides[0]), random_triplets(rng, M, sides[1])
    model = RPRNMF(
        beta_loss="kullback-leibler", row_strength=strength, column_strength=2 * strength
    )
    ours = paper(model, data, missing, W, H, row_triplets=rows, column_triplets=columns)
    assert_same(
        ours,
        loops.rpr_divergence(X, mask, W, H, rows, columns, strength, 2 * strength, SWEEPS),
    )


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_nmf_and_lcnmf(layout, beta_loss):
    rng, X, mask, data, missing, W, H = problem(3, layout)
    sums = loops.sums_euclidean if beta_loss == "frobenius" else loops.sums_divergence
    alone = np.arange(N), np.arange(M)
    assert_same(
        paper(NMF(beta_loss=beta_loss), data, missing, W, H),
        loops.lcnmf(X, mask, W, H, *alone, sums, SWEEPS),
    )
    y, column_labels = rng.integers(-1, 3, size=N), rng.integers(-1, 2, size=M)
    groups = tuple(
        np.where(labels >= 0, labels, 10 + np.arange(len(labels))) for labels in (y, column_labels)
    )
    assert_same(
        paper(LCNMF(beta_loss=beta_loss), data, missing, W, H, y=y, column_labels=column_labels),
        loops.lcnmf(X, mask, W, H, *groups, sums, SWEEPS),
    )


@pytest.mark.parametrize("strength", [0.1, 100.0])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_gnmf_euclidean(layout, strength):
    rng, X, mask, data, missing, W, H = problem(4, layout)
    graphs = random_graph(rng, N), random_graph(rng, M)
    model = GNMF(
        row_graph=graphs[0],
        column_graph=graphs[1],
        row_strength=strength,
        column_strength=2 * strength,
    )
    assert_same(
        paper(model, data, missing, W, H),
        loops.gnmf_euclidean(X, mask, W, H, *graphs, strength, 2 * strength, SWEEPS),
    )


@pytest.mark.parametrize("strength", [0.1, 100.0])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_gnmf_divergence(layout, strength):
    """A graph on either side alone is the same program on X and on its transpose."""
    rng, X, mask, data, missing, W, H = problem(5, layout)
    graph = random_graph(rng, M)
    model = GNMF(beta_loss="kullback-leibler", column_graph=graph, column_strength=strength)
    expected = loops.gnmf_divergence(X, mask, W, H, graph, strength, SWEEPS)
    assert_same(paper(model, data, missing, W, H), expected)
    turned = GNMF(beta_loss="kullback-leibler", row_graph=graph, row_strength=strength)
    Wt, Ht = paper(turned, data.T, missing, H.T, W.T)
    assert_same((Ht.T, Wt.T), expected)


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_other_units_of_X(size):
    rng, X, mask, data, missing, W, H = problem(6, "nan", size)
    rows, columns = random_triplets(rng, N, 4), random_triplets(rng, M, 4)
    triplets = {"row_triplets": rows, "column_triplets": columns}
    assert_same(
        paper(RPRNMF(), data, missing, W, H, **triplets),
        loops.rpr_euclidean(X, mask, W, H, rows, columns, 1.0, 1.0, SWEEPS),
    )


@pytest.mark.parametrize("size", [1e-8, 1e8])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_start_far_from_the_size_of_X(layout, size):
    """Nearly all of the model goes within the first sweep."""
    if layout == "sparse" and size < 1:
        pytest.skip("eps in place of a dense zero is no small part of such an X")
    _, X, mask, data, missing, W, H = problem(8, layout, size)
    alone = np.arange(N), np.arange(M)
    assert_same(
        paper(NMF(), data, missing, W, H),
        loops.lcnmf(X, mask, W, H, *alone, loops.sums_euclidean, SWEEPS),
    )


@pytest.mark.parametrize("layout", ["dense", "nan"])
def test_a_row_of_exact_zeros(layout):
    """All digits of the model of such a row cancel within the first sweep."""
    rng, X, mask, data, missing, W, H = problem(7, layout)
    X[2] = 0.0
    X[:, 3] = 0.0
    data, missing = lay_out(X, mask, layout)
    columns = random_triplets(rng, M, 4)
    ours = paper(RPRNMF(beta_loss="kullback-leibler"), data, missing, W, H, column_triplets=columns)
    theirs = loops.rpr_divergence(X, mask, W, H, [], columns, 1.0, 1.0, SWEEPS)
    assert_same(ours, theirs)
