"""`Triplets`, the maker from labels, metrics and ties over random inputs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold

from rprnmf import LCNMF, Triplets
from rprnmf.checks import check_labels
from rprnmf.metrics import (
    clustering_accuracy,
    constraint_satisfied_rate,
    mean_divergence,
    mean_squared_loss,
    normalized_mutual_info,
    recommendation_f1,
    rmse,
    satisfied_rate,
)
from rprnmf.triplets import triplets_from_labels
from rprnmf.tying import Tying

labels_with_two_classes = st.lists(st.integers(-1, 4), min_size=4, max_size=40).filter(
    lambda labels: len(set(labels) - {-1}) >= 2
)
triplet_rows = st.lists(
    st.permutations(range(9)).map(lambda order: order[:3]), min_size=1, max_size=20
)


@given(labels_with_two_classes, st.integers(0, 60), st.integers(0, 10))
def test_triplets_from_labels_hold_in_the_labels(labels, n_triplets, seed):
    labels = np.array(labels)
    q, r, s = triplets_from_labels(labels, n_triplets, random_state=seed).items.T
    assert (labels[q] == labels[r]).all()
    assert (labels[q] != labels[s]).all()
    assert (labels[np.concatenate((q, r, s))] != -1).all()
    assert (q != r).all()
    rows = set(zip(q, r, s, strict=True))
    assert len(rows) == len(q)  # no triplet twice
    sizes = np.array([np.sum(labels == label) for label in labels[labels != -1]])
    possible = int(np.sum((sizes - 1) * (np.sum(labels != -1) - sizes)))
    assert len(q) == min(n_triplets, possible)


@given(labels_with_two_classes, st.integers(2, 4), st.integers(0, 10))
def test_triplets_by_class(labels, per_class, seed):
    labels = np.array(labels)
    triplets = triplets_from_labels(labels, per_class=per_class, random_state=seed)
    q, r, s = triplets.items.T
    assert (labels[q] == labels[r]).all()
    assert (labels[q] != labels[s]).all()
    for label in set(labels) - {-1}:
        size = min(per_class, int(np.sum(labels == label)))
        assert np.sum(labels[q] == label) == size * (size - 1)
    assert triplets == triplets_from_labels(labels, per_class=per_class, random_state=seed)


def test_labels_by_name_and_too_few_classes():
    items = triplets_from_labels(["a", "b", "a", "b"], 3, random_state=0).items
    assert items.shape == (3, 3)
    with pytest.raises(ValueError, match="at least two classes, got 1 class among 3"):
        triplets_from_labels([1, 1, 1, -1], 2)


@given(triplet_rows)
def test_names_resolve_to_the_indices_they_stand_for(rows):
    names = [f"item {i}" for i in range(9)]
    by_name = Triplets([[names[i] for i in row] for row in rows])
    assert by_name.named
    np.testing.assert_array_equal(by_name.positions(9, names).items, np.array(rows))
    kept = [row for row in rows if max(row) < 6]
    dropped = Triplets(by_name, absent="drop").positions(6, names[:6])
    np.testing.assert_array_equal(dropped.items, np.array(kept, dtype=int).reshape(-1, 3))


@given(triplet_rows, st.integers(0, 100))
def test_satisfied_rate_counts(rows, seed):
    F = np.random.default_rng(seed).random((9, 2))
    held = [np.sum((F[q] - F[r]) ** 2) < np.sum((F[q] - F[s]) ** 2) for q, r, s in rows]
    assert satisfied_rate(F, rows) == pytest.approx(np.mean(held))
    opposite = [(q, s, r) for q, r, s in rows]
    assert satisfied_rate(F, rows) + satisfied_rate(F, opposite) == pytest.approx(1.0)


def test_triplets_do_not_look_like_an_array():
    """Cross-validation slices whatever has a length; these must not be sliced."""
    triplets = Triplets([[0, 1, 2], [1, 2, 3]])
    for name in ("__len__", "shape", "__array__", "__getitem__", "__iter__"):
        assert not hasattr(triplets, name)
    from sklearn.utils.validation import _check_method_params

    X = np.zeros((2, 3))
    train, _ = next(KFold(2).split(X))
    assert _check_method_params(X, {"t": triplets}, indices=train)["t"] is triplets


def test_a_copy_cannot_be_changed_either():
    triplets = Triplets([["a", "b", "c"]], weights=[2], absent="drop")
    again = pickle.loads(pickle.dumps(triplets))
    assert again == triplets == Triplets(triplets)
    assert Triplets(triplets).absent == "drop"
    for copy in (again, Triplets(triplets)):
        with pytest.raises(ValueError, match="read-only"):
            copy.weights[0] = 3


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "a", -1, None, float("nan"), "b", "b", -1],
        np.array(["a", "a", -1, None, np.nan, "b", "b", -1], dtype=object),
        [0, 0, -1, -1, -1, 7, 7, -1],
        np.array([0, 0, np.nan, -1, np.nan, 7, 7, -1.0]),
    ],
)
def test_labels_that_are_not_known(labels):
    groups = check_labels(labels, 8, "row")
    assert len(set(groups)) == 6
    assert groups[0] == groups[1] != groups[5] == groups[6]
    items = triplets_from_labels(labels, 8, random_state=0).items
    assert set(items.ravel()) == {0, 1, 5, 6}


class OnlyAnArray:
    """An array-like that has no length."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_labels_without_a_length():
    X = np.random.default_rng(0).random((4, 3))
    for labels in (OnlyAnArray([7, 7, -1, -1]), iter([7, 7, -1, -1])):
        W = LCNMF(2, max_iter=5, tol=0).fit_transform(X, labels)
        np.testing.assert_array_equal(W[0], W[1])
        assert (W[2] != W[3]).any()
    items = triplets_from_labels(OnlyAnArray([0, 0, 1, 1]), 3, random_state=0).items
    assert items.shape == (3, 3)


def test_labels_that_pandas_does_not_know():
    pd = pytest.importorskip("pandas")
    for labels in (pd.array([1, pd.NA, 1], dtype="Int64"), [1, pd.NA, 1], [1, pd.NaT, 1]):
        groups = check_labels(labels, 3, "row")
        assert groups[0] == groups[2] != groups[1]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 0, np.inf, 1], "whole numbers or names, got inf at position 2"),
        (np.array([0, 0, -np.inf, 1]), "got -inf at position 2"),
        ([0, np.float32(0.5), 1, 1], "got 0.5 at position 1"),
        ([[0], [0], [1], [1]], r"one-dimensional.*got \[0\] at position 0"),
        (np.zeros((4, 1)), r"one-dimensional, got shape \(4, 1\)"),
        (3, "a list with one label for each point, got 3"),
    ],
)
def test_what_is_no_label(labels, message):
    with pytest.raises(ValueError, match=f"row labels must be.*{message}"):
        LCNMF(2).fit(np.ones((4, 3)), labels)


def test_a_number_and_its_name_are_two_labels():
    groups = check_labels([1, "1", 1, "1"], 4, "row")
    assert groups[0] == groups[2] != groups[1] == groups[3]


def test_triplets_cannot_be_changed():
    source = np.array([[0, 1, 2]])
    triplets = Triplets(source)
    source[0, 0] = 5
    assert triplets.items[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        triplets.items[0, 0] = 3
    with pytest.raises(AttributeError):
        triplets.items = source


def test_constraint_satisfied_rate_over_sides():
    W, H = np.array([[0.0], [1.0], [3.0]]), np.array([[0.0, 1.0, 3.0]])
    good, bad = [[0, 1, 2]], [[0, 2, 1]]
    assert constraint_satisfied_rate(W, H, good, bad) == 0.5
    assert constraint_satisfied_rate(W, H, good, None) == 1.0
    assert constraint_satisfied_rate(W, H, None, bad) == 0.0
    assert np.isnan(constraint_satisfied_rate(W, H))


def test_losses_over_observed_entries():
    rng = np.random.default_rng(0)
    X, W, H = rng.random((5, 4)) + 0.1, rng.random((5, 2)) + 0.1, rng.random((2, 4)) + 0.1
    Y = W @ H
    assert mean_squared_loss(X, W, H) == pytest.approx(np.mean((X - Y) ** 2))
    assert mean_divergence(X, W, H) == pytest.approx(np.mean(X * np.log(X / Y) - X + Y))
    X[1, 2] = X[3, 0] = np.nan
    seen = ~np.isnan(X)
    assert mean_squared_loss(X, W, H, missing="nan") == pytest.approx(np.mean((X - Y)[seen] ** 2))
    test = np.where(seen, X, 0.0)
    assert rmse(test, W, H) == pytest.approx(np.sqrt(np.mean((X - Y)[seen] ** 2)))


def test_recommendation_f1_is_that_of_scikit_learn():
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(1)
    X = rng.integers(0, 6, size=(6, 7)).astype(float)
    W, H = 2 * rng.random((6, 3)), 2 * rng.random((3, 7))
    thresholds = rng.uniform(1, 4, size=6)
    seen = X > 0
    limit = np.broadcast_to(thresholds[:, None], X.shape)[seen]
    expected = f1_score(X[seen] > limit, (W @ H)[seen] > limit)
    assert recommendation_f1(X, W, H, thresholds) == pytest.approx(expected)


def test_clustering_measures():
    truth = np.repeat(np.arange(4), 10)
    shuffled = (truth + 1) % 4 + 7
    assert clustering_accuracy(truth, shuffled) == 1.0
    assert normalized_mutual_info(truth, shuffled) == pytest.approx(1.0)
    shuffled[:5] = 99  # half a class astray, in a cluster of its own
    assert clustering_accuracy(truth, shuffled) == pytest.approx(35 / 40)
    merged = truth // 2  # entropies 2 bits and 1 bit, 1 bit shared: divided by the larger
    assert normalized_mutual_info(truth, merged) == pytest.approx(0.5)


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=15), st.integers(0, 5))
def test_ties_sum_over_members(labels, seed):
    groups = check_labels(np.array(labels), len(labels), "row")
    A = np.random.default_rng(seed).random((len(labels), 2))
    tied = Tying(groups).sum(A)
    for i, label in enumerate(labels):
        members = [j for j, other in enumerate(labels) if j == i or (other == label != -1)]
        np.testing.assert_allclose(tied[i], A[members].sum(axis=0))
    np.testing.assert_allclose(Tying(groups).mean(tied), tied)
