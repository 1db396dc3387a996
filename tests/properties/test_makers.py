"""Triplets hold in what they were made from, name three items each, and depend on the seed only."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from rprnmf import LCNMF, Triplets
from rprnmf.datasets import fetch_pie
from rprnmf.metrics import satisfied_rate
from rprnmf.triplets import (
    triplets_from_chains,
    triplets_from_distances,
    triplets_from_features,
    triplets_from_labels,
    triplets_from_links,
    triplets_from_metadata,
    triplets_from_rankings,
    triplets_from_survey,
    triplets_to_labels,
)
from tests.builders import needs_data

SEEDS = range(5)


def points(seed, n=30, m=4):
    return np.random.default_rng(seed).random((n, m))


def made(seed):
    """Every maker that draws, by name: the triplets, and whether they are true."""
    rng = np.random.default_rng(seed)
    X = points(seed)
    D = np.abs(rng.normal(size=(30, 30)))
    D[rng.random(D.shape) < 0.1] = np.nan
    labels = np.arange(30) % 6
    must, cannot = [[0, 1], [1, 2], [5, 6]], [[1, 5], [2, 9], [6, 9]]
    age, job = rng.integers(10, 70, 30), rng.integers(0, 3, 30)
    genres = [["a", "b", "c"][: 1 + i % 3] if i % 4 else None for i in range(30)]

    def shared(a, b):
        tags = [set(genres[i] or ()) for i in (a, b)]
        union = len(tags[0] | tags[1])
        both = len(tags[0] & tags[1]) / union if union else 0.0
        return 2.0 * (job[a] == job[b]) + both + 1.0 - abs(age[a] - age[b]) / np.ptp(age)

    def linked(q, r, s):
        return [q, r] in must or [r, q] in must, [q, s] in cannot or [s, q] in cannot

    def means(c):
        return X[labels == c].mean(axis=0)

    def alike(q, r, s):
        if labels[q] == labels[r]:
            return labels[q] != labels[s]
        own = means(labels[q])
        near, far = (np.linalg.norm(own - means(labels[t])) for t in (r, s))
        return near < far and len({labels[t] for t in (q, r, s)}) == 3

    def closer(q, r, s):
        return np.linalg.norm(X[q] - X[r]) < np.linalg.norm(X[q] - X[s])

    seeded = {"random_state": seed}
    return {
        "features": (triplets_from_features(X, 200, **seeded), closer),
        "sparse features": (triplets_from_features(sp.csr_array(X), 200, **seeded), closer),
        "distances": (
            triplets_from_distances(D, 200, **seeded),
            lambda q, r, s: D[q, r] < D[q, s],
        ),
        "metadata": (
            triplets_from_metadata(
                200,
                categories={"job": job},
                tags={"genre": genres},
                ordered={"age": age},
                importance={"job": 2.0},
                **seeded,
            ),
            lambda q, r, s: shared(q, r) > shared(q, s),
        ),
        "classes": (triplets_from_labels(labels, per_class=4, features=X, **seeded), alike),
        "links": (triplets_from_links(must, cannot, **seeded), lambda *t: all(linked(*t))),
        "chains": (triplets_from_chains(X, 23, **seeded), closer),
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_triplets_are_true_distinct_and_repeatable(seed):
    again = made(seed)
    for name, (triplets, true) in made(seed).items():
        assert triplets.n_triplets > 0, name
        for q, r, s in triplets.items.tolist():
            assert len({q, r, s}) == 3, name
            assert true(q, r, s), (name, q, r, s)
        assert triplets.deduplicate().n_triplets == triplets.n_triplets or name == "chains"
        assert triplets == again[name][0], name


def test_a_margin_leaves_out_close_calls():
    X = points(0, 60)
    mean = np.mean([np.linalg.norm(X[i] - X[j]) for i in range(60) for j in range(i)])
    q, r, s = triplets_from_features(X, 300, margin=0.4, random_state=0).items.T
    gap = np.linalg.norm(X[q] - X[s], axis=1) - np.linalg.norm(X[q] - X[r], axis=1)
    assert len(gap) == 300
    assert gap.min() > 0.35 * mean  # the mean is taken from a sample


def test_too_many_triplets_are_as_many_as_there_are():
    X = np.arange(4.0)[:, None] ** 2
    assert triplets_from_features(X, 1000, random_state=0).n_triplets == 12


def test_chains_have_seven_points_and_rising_distances():
    F = points(3, 40)
    items = triplets_from_chains(F, 12, random_state=1).items
    for start, length in ((0, 5), (5, 5), (10, 2)):
        chain = items[start : start + length]
        path = [chain[0, 1], *chain[:, 0], chain[-1, 2]]
        assert len(set(path)) == length + 2
        apart = [np.linalg.norm(F[a] - F[b]) for a, b in itertools.pairwise(path)]
        assert (np.diff(apart) > 0).all()
        np.testing.assert_array_equal(chain[:, 2], path[2:])
    assert satisfied_rate(F, items) == 1.0


def test_faces_protocols_count_as_in_the_paper():
    labels = np.repeat(np.arange(10), 6)
    X = points(5, 60, 8)
    assert triplets_from_labels(labels, random_state=0).n_triplets == 2 * 10
    known = triplets_from_labels(labels, per_class=4, features=X, random_state=0)
    q, r, _ = known.items.T
    assert known.n_triplets == 12 * 10
    np.testing.assert_array_equal(np.bincount(labels[q]), np.full(10, 12))
    assert np.sum(labels[q] == labels[r]) == 8 * 10
    assert len(np.unique(known.items)) <= 4 * 10


def test_labels_from_faces_triplets_leave_lcnmf_without_a_difference():
    """Triplets between classes chain all classes into one: LCNMF meets none, as published."""
    labels = np.repeat(np.arange(12), 5)
    X = points(6, 60, 8)
    known = triplets_from_labels(labels, per_class=4, features=X, random_state=0)
    y = triplets_to_labels(known, 60)
    model = LCNMF(4, max_iter=20, tol=0, random_state=0).fit(X, y)
    assert satisfied_rate(model.embedding_, known) < 0.02


@needs_data("pie_pose27_32x32.npz")
def test_labels_from_triplets_of_pie_leave_lcnmf_without_a_difference():
    """On the faces themselves: the paper's Table 3 has LCNMF's CSR near 0."""
    faces = fetch_pie()
    X, labels = faces.data, faces.target
    known = triplets_from_labels(labels, per_class=4, features=X, random_state=0)
    assert known.n_triplets == 12 * 68
    y = triplets_to_labels(known, len(X))
    model = LCNMF(20, max_iter=3, tol=0, random_state=0).fit(X, y)
    assert satisfied_rate(model.embedding_, known) < 0.05


def test_rankings_and_surveys():
    ranked = triplets_from_rankings({0: [1, 2, 3], 2: [3, 0]}, steps=-1)
    assert ranked.items.tolist() == [[0, 1, 2], [0, 1, 3], [0, 2, 3], [2, 3, 0]]
    some = triplets_from_rankings({0: range(1, 50)}, 20, steps=-1, random_state=0)
    assert some == triplets_from_rankings({0: range(1, 50)}, 20, steps=-1, random_state=0)
    assert some.n_triplets == some.deduplicate().n_triplets == 20
    votes = triplets_from_survey([0, 0, 0, 0], [1, 1, 2, 1], [2, 2, 1, 2], ["a", "b", "c", "a"])
    assert dict(zip(map(tuple, votes.items.tolist()), votes.weights, strict=True)) == {
        (0, 1, 2): 2.0,
        (0, 2, 1): 1.0,
    }
    everyone = triplets_from_survey(["x"] * 3, ["y"] * 3, ["z"] * 3)
    assert everyone == Triplets([["x", "y", "z"]], weights=[3])


def test_who_answered():
    same = ["x"] * 3, ["y"] * 3, ["z"] * 3
    assert triplets_from_survey(*same, [None, None, None]).weights.tolist() == [3.0]
    assert triplets_from_survey(*same, ["1", 1, 1]).weights.tolist() == [2.0]
    assert triplets_from_survey([], [], [], []).n_triplets == 0


def test_far_away_points_are_compared_exactly():
    X = np.random.default_rng(0).random((30, 1)) + 1e8
    for given in (X, sp.csr_array(X)):
        q, r, s = triplets_from_features(given, 500, random_state=0).items.T
        assert (np.abs(X[q] - X[r]) < np.abs(X[q] - X[s])).all()


def test_ties_are_not_taken():
    known = triplets_from_metadata(
        50, ordered={"a": [0, 1, 3, 10], "b": [0, 2, 0, 10]}, random_state=0
    )
    assert not {(0, 1, 2), (0, 2, 1)} & {tuple(row) for row in known.items.tolist()}


def test_tags_come_in_many_forms():
    matrix = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]])
    names = ["a|c", "a", "b", "", None]
    found = [
        triplets_from_metadata(50, tags={"g": given}, random_state=0)
        for given in (
            matrix,
            sp.csr_array(matrix),
            pd.DataFrame(matrix, columns=list("abc")),
            names,
            pd.Series(["a|c", "a", "b", "", pd.NA]),
            [["a", "c"], ["a"], ["b"], [], None],
        )
    ]
    assert found[0].n_triplets == 6
    assert all(known == found[0] for known in found)
    for wrong in (0.9 * matrix, matrix.tolist()):
        with pytest.raises(ValueError, match="0 and 1"):
            triplets_from_metadata(5, tags={"g": wrong})


def test_rare_triplets_are_found():
    X = np.zeros((20_000, 1))
    X[7] = 1e6
    known = triplets_from_features(X, 5, margin=30, random_state=0)
    assert known.n_triplets == 5
    assert (known.items[:, 2] == 7).all()


def test_millions_of_points():
    from rprnmf.triplets import from_labels

    codes = np.arange(4_000_000) % 2
    q, r, s = from_labels._at_random(codes, 1000, np.random.RandomState(0)).T
    assert len(q) == 1000
    assert (codes[q] == codes[r]).all()
    assert (codes[q] != codes[s]).all()
    assert (q != r).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: triplets_from_links([[0, 1]], [[1, 0]]), r"cannot_link has \(1, 0\)"),
        (lambda: triplets_from_links([[0, 0]], [[1, 0]]), "two different points"),
        (lambda: triplets_from_rankings({0: [1, 1]}), "names an item twice"),
        (lambda: triplets_from_rankings({0: [1, 0]}), "contains 0 itself"),
        (lambda: triplets_from_features([[1.0], [2.0]], 3), "at least three points, got 2"),
        (lambda: triplets_from_distances(np.ones((3, 4)), 3), "square"),
        (lambda: triplets_from_features(np.ones((4, 1)), -1), "at least 0"),
        (lambda: triplets_from_features(np.ones((4, 1)), 2, margin=-1), "margin must be"),
        (lambda: triplets_from_chains(np.ones((4, 2)), 3), "needs 7 points"),
        (lambda: triplets_from_chains(np.ones((10, 2)), 5), "no chain of 5 rising distances"),
        (lambda: triplets_from_chains(points(0), 5, length=0), "between 1 and 7, got 0"),
        (lambda: triplets_from_survey([1], [None], [3]), "winner must name an item"),
        (lambda: triplets_from_survey(["a"] * 2, ["b", np.nan], ["c"] * 2), "found nan at 1"),
        (lambda: triplets_from_rankings({"a": ["b", np.nan, "c"]}), "s=nan is missing"),
        (lambda: triplets_from_metadata(3), "at least one of"),
        (
            lambda: triplets_from_metadata(3, categories={"a": [1, 2]}, ordered={"b": [1, 2, 3]}),
            "a 2, b 3",
        ),
        (
            lambda: triplets_from_metadata(3, categories={"a": [1, 2, 3]}, importance={"c": 1}),
            "importance names 'c'",
        ),
        (lambda: triplets_from_survey([1], [2], [3, 4]), "one length"),
        (lambda: triplets_from_labels([0, 0, 1, 1], features=np.ones((4, 1))), "need three"),
        (lambda: triplets_from_labels([0, 1, 2], 3, features=np.ones((3, 1))), "n_triplets must"),
    ],
)
def test_what_cannot_be_made_is_said(make, message):
    with pytest.raises(ValueError, match=message):
        make()
