"""From the labels of a few rows to all: values of any kind, and better than chance by far."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.semi_supervised import LabelSpreading

from rprnmf import GNMF, LCNMF, NMF, RPRNMF
from rprnmf.labels import walk_columns
from rprnmf.triplets import triplets_from_labels

DIGITS, CLASSES = load_digits(return_X_y=True)
DIGITS, CLASSES = DIGITS[:600], CLASSES[:600]


def few(each, seed=0):
    rng = np.random.default_rng(seed)
    part = np.full(len(CLASSES), -1)
    for label in range(10):
        part[rng.permutation(np.flatnonzero(label == CLASSES))[:each]] = label
    return part


@pytest.mark.parametrize("each", [2, 4])
def test_more_are_found_than_by_spreading_over_neighbours(each):
    found, theirs = [], []
    for seed in range(3):
        y = few(each, seed)
        model = RPRNMF(10, row_graph="cosine", random_state=0, max_iter=60, tol=0)
        model.fit(DIGITS, row_triplets=triplets_from_labels(y, 40, random_state=0))
        spread = LabelSpreading(kernel="knn", n_neighbors=7, max_iter=200).fit(DIGITS, y)
        found.append(np.mean(model.predict_labels(y, DIGITS)[y < 0] == CLASSES[y < 0]))
        theirs.append(np.mean(spread.transduction_[y < 0] == CLASSES[y < 0]))
    assert np.mean(found) > max(np.mean(theirs), 0.8)


@pytest.mark.parametrize("kind", [NMF, GNMF, LCNMF, RPRNMF])
def test_every_estimator_has_it(kind):
    y = few(4)
    model = kind(10, random_state=0, max_iter=40, tol=0).fit(DIGITS)
    found = model.predict_labels(y)
    assert (found[y >= 0] == y[y >= 0]).all()
    assert np.mean(found == CLASSES) > 0.5


def test_labels_of_any_kind_say_the_same():
    numbers = few(3)
    model = NMF(10, random_state=0, max_iter=40, tol=0).fit(DIGITS)
    expected = model.predict_labels(numbers)
    names = [None if y < 0 else f"digit {y}" for y in numbers]
    kinds = [
        names,
        np.array(names, dtype=object),
        pd.Series(names),
        pd.Series(names, dtype="category"),
    ]
    for kind in kinds:
        assert model.predict_labels(kind).tolist() == [f"digit {y}" for y in expected]
    floats = np.where(numbers < 0, np.nan, numbers)
    assert (model.predict_labels(floats) == expected).all()
    assert model.predict_labels(numbers.tolist()).dtype.kind == "i"


def test_sparse_data_and_unit_of_x_make_no_difference():
    y = few(3)
    model = NMF(10, random_state=0, max_iter=40, tol=0).fit(DIGITS)
    dense = model.predict_labels(y, DIGITS)
    assert (model.predict_labels(y, sp.csr_array(DIGITS)) == dense).all()
    assert np.mean(model.predict_labels(y, 1000 * DIGITS) == dense) > 0.99


def test_walks_are_those_of_the_inverse():
    rng = np.random.default_rng(0)
    S = rng.random((9, 9)) * (rng.random((9, 9)) < 0.5)
    S = S + S.T
    np.fill_diagonal(S, 0.0)
    root = np.diag(1 / np.sqrt(S.sum(axis=1)))
    exact = np.linalg.inv(np.eye(9) - 0.99 * root @ S @ root)
    columns, means = walk_columns(sp.csr_array(S), np.array([2, 5]))
    np.testing.assert_allclose(columns, exact[:, [2, 5]], rtol=1e-4)
    np.testing.assert_allclose(means, exact.mean(axis=1), rtol=1e-4)


def test_what_does_not_fit_is_refused():
    model = NMF(3, max_iter=5, tol=0).fit(DIGITS[:30])
    with pytest.raises(ValueError, match="one label for each of 30 rows, got 3"):
        model.predict_labels([1, 2, 3])
    with pytest.raises(ValueError, match="at least one row, got none"):
        model.predict_labels([-1] * 30)
    with pytest.raises(ValueError, match="expecting 64 features"):
        model.predict_labels([1] * 30, DIGITS[:30, :9])
    with pytest.raises(ValueError, match="with 30 rows; got 20"):
        model.predict_labels([1] * 30, DIGITS[:20])
