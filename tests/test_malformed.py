"""A sparse matrix whose index arrays lie gets one clear error, never a crash."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf import LCNMF, NMF

RNG = np.random.default_rng(0)
DENSE = np.where(RNG.random((6, 4)) < 0.6, RNG.random((6, 4)), 0.0)
DENSE[:, 0] = 1.0


def put(array, place, value):
    array[place] = value


DAMAGES = {
    "index too large": (lambda X: put(X.indices, 2, 99), r"indices\[2\] = 99 is not in 0 to"),
    "index too large by one": (
        lambda X: put(X.indices, 0, max(X.shape)),
        r"indices\[0\] = 6 is not in 0 to",
    ),
    "negative index": (lambda X: put(X.indices, 1, -1), r"indices\[1\] = -1 is not in 0 to"),
    "falling indptr": (lambda X: put(X.indptr, 2, 0), r"indptr falls from \d+ to 0 at 2"),
    "indptr that starts late": (lambda X: put(X.indptr, 0, 1), "indptr starts at 1, not at 0"),
    "indptr that ends late": (lambda X: put(X.indptr, -1, 10**6), "indptr ends at 1000000, but"),
    "short indptr": (lambda X: setattr(X, "indptr", X.indptr[:-1]), r"indptr has \d entries, not"),
    "short indices": (lambda X: setattr(X, "indices", X.indices[:-3]), "stored values, but"),
    "short data": (lambda X: setattr(X, "data", X.data[:-3]), "stored values, but"),
}


def damaged(kind, damage):
    X = kind(DENSE)
    X = X.copy()
    damage(X)
    return X


@pytest.mark.parametrize("name", sorted(DAMAGES))
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_compressed(kind, name):
    damage, message = DAMAGES[name]
    for model in (NMF(2), NMF(2, missing="zero"), LCNMF(2, beta_loss="kullback-leibler")):
        wanted = f"malformed sparse matrix.*{message}.*{type(model).__name__}"
        with pytest.raises(ValueError, match=wanted):
            model.fit(damaged(kind, damage))
        assert not hasattr(model, "components_")


def test_coordinates():
    X = sp.coo_array(DENSE)
    X.row[3] = 6
    with pytest.raises(ValueError, match=r"row\[3\] = 6 is not in 0 to 5"):
        NMF(2).fit(X)
    X = sp.coo_array(DENSE)
    X.col[0] = -1
    with pytest.raises(ValueError, match=r"col\[0\] = -1 is not in 0 to 3"):
        NMF(2).fit(X)


def test_one_dimension():
    with pytest.raises(ValueError, match=r"(?i)[12]d "):
        NMF(2).fit(sp.coo_array(DENSE[0]))


def test_blocks():
    X = sp.bsr_array(DENSE, blocksize=(2, 2))
    NMF(2, max_iter=2, tol=0).fit(X)
    X.indices[0] = 2
    with pytest.raises(ValueError, match=r"indices\[0\] = 2 is not in 0 to 1"):
        NMF(2).fit(X)


def test_transform_too():
    model = NMF(2, max_iter=3, tol=0).fit(DENSE)
    with pytest.raises(ValueError, match="malformed sparse matrix"):
        model.transform(damaged(sp.csr_array, DAMAGES["index too large"][0]))


@pytest.mark.parametrize("missing", [None, "zero"])
def test_room_that_nothing_fills_is_no_data(missing):
    """scipy allows longer arrays than are used; what is in the rest is of no meaning."""
    exact, roomy = sp.csr_array(DENSE), sp.csr_array(DENSE)
    roomy.data = np.concatenate((exact.data, [-1.0, np.nan]))
    roomy.indices = np.concatenate((exact.indices, [77, -5])).astype(exact.indices.dtype)
    model = NMF(2, max_iter=5, tol=0, missing=missing, init="random", random_state=0)
    np.testing.assert_array_equal(model.fit_transform(roomy), model.fit_transform(exact))
    assert len(roomy.data) == len(exact.data) + 2
