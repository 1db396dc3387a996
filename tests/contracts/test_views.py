"""What solvers ask of a view, in every layout of the same data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf.observed import make_view
from tests.builders import LAYOUTS, random_view


@pytest.fixture(params=LAYOUTS)
def case(request):
    rng = np.random.default_rng(0)
    view, X, mask = random_view(rng, request.param)
    return view, X, mask, rng.random((9, 3)), rng.random((7, 3))


def test_a_column_of_the_model_times_a_factor(case):
    view, _, mask, F, G = case
    expected = (mask * (F @ G.T)) @ G
    for k in range(3):
        np.testing.assert_allclose(view.model_times_column(F, G, k), expected[:, k], rtol=1e-12)


def test_one_gram_matrix_serves_every_row_without_holes(case):
    view, _, _, F, G = case
    whole = np.ones(len(F), dtype=bool)
    if view.holes is not None:
        whole[view.holes.row_counts > 0] = False
    same = np.isclose(view.model_times(F, G), F @ (G.T @ G)).all(axis=1)
    assert same[whole].all() == view.one_gram


def test_nonzeros_lists_every_observed_value_that_is_not_zero(case):
    view, X, mask, _, _ = case
    listed = view.nonzeros()
    np.testing.assert_array_equal(listed.matrix().toarray(), np.where(mask, X, 0.0))
    n_rest = view.n_observed - len(listed.data)
    assert (n_rest > 0) == view.zeros_implied  # these data have zeros


def test_a_complete_matrix_is_handed_out_as_it_came():
    X = np.array([[1.0, 0.0], [2.0, 3.0]])
    assert make_view(X).complete_matrix() is X
    assert (make_view(sp.csr_array(X)).complete_matrix() != sp.csr_array(X)).nnz == 0
    X[0, 1] = np.nan
    for data in (X, sp.csr_array(X)):
        view = make_view(data, "nan")
        assert view.complete_matrix() is None
        assert not view.complete
    assert (view.holes.row_counts == [1, 0]).all()


def test_zeros_that_take_memory_can_be_replaced():
    X = np.array([[1.0, 0.0], [2.0, 3.0]])
    np.testing.assert_array_equal(
        make_view(X).without_zeros(0.5).complete_matrix(), [[1, 0.5], [2, 3]]
    )
    view = make_view(sp.csr_array(X))
    assert view.without_zeros(0.5) is view
