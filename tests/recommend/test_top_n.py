"""The largest of each row, against a sort."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf.recommend import top_n as module
from rprnmf.recommend.top_n import top_n


def slow(W, Ht, n, seen, allowed):
    scores = W @ Ht.T
    if seen is not None:
        scores[seen.toarray() != 0] = -np.inf
    if allowed is not None:
        scores[:, ~allowed] = -np.inf
    order = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    values = np.take_along_axis(scores, order, axis=1)
    return np.where(np.isinf(values), -1, order), values


@pytest.mark.parametrize("few", [0, 128])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 5, 40, 99])
def test_as_by_sorting(monkeypatch, n, dtype, few):
    monkeypatch.setattr(module, "FEW", few)
    monkeypatch.setattr(module, "BLOCK", 100)
    rng = np.random.default_rng(n)
    W, Ht = rng.integers(0, 4, (13, 3)).astype(dtype), rng.integers(0, 4, (40, 3)).astype(dtype)
    seen = sp.csr_array((rng.random((13, 40)) < 0.4).astype(dtype))
    allowed = rng.random(40) < 0.7
    for args in ((None, None), (seen, None), (None, allowed), (seen, allowed)):
        items, scores = top_n(W, Ht, n, *args)
        expected = slow(W, Ht, n, *args)
        assert np.array_equal(scores, expected[1])
        if few:  # of equal scores the first comes first; a partition may choose others
            assert np.array_equal(items, expected[0])
        assert np.array_equal(items < 0, expected[0] < 0)
