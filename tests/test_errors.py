"""Bad input: a message that says where and what was expected, and nothing has changed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf import GNMF, LCNMF, NMF, RPRNMF, Triplets
from rprnmf.metrics import mean_squared_loss, satisfied_rate
from rprnmf.triplets import triplets_from_labels

RNG = np.random.default_rng(0)
X = RNG.random((6, 5))


def changed(row, column, value):
    bad = X.copy()
    bad[row, column] = value
    return bad


def graph(i, j, value, both=False):
    S = np.zeros((6, 6))
    S[i, j] = value
    if both:
        S[j, i] = value
    return S


T = [[0, 1, 2]]
CASES = {
    "negative": (NMF(2), changed(3, 4, -2.0), {}, r"Negative values.*X\[3, 4\] = -2.*at least 0"),
    "negative sparse": (
        NMF(2),
        sp.csr_array(changed(3, 4, -2.0)),
        {},
        r"Negative values.*X\[3, 4\] = -2",
    ),
    "infinite": (NMF(2), changed(1, 0, np.inf), {}, r"infinity: X\[1, 0\] = inf.*finite"),
    "infinite under a mask": (
        NMF(2, missing="nan"),
        changed(1, 0, np.inf),
        {},
        r"infinity: X\[1, 0\] = inf",
    ),
    "NaN": (NMF(2), changed(2, 2, np.nan), {}, r"NaN: X\[2, 2\] = nan.*missing='nan'"),
    "NaN under zero": (NMF(2, missing="zero"), changed(2, 2, np.nan), {}, r"NaN: X\[2, 2\]"),
    "nothing observed": (NMF(2, missing="nan"), np.full((3, 3), np.nan), {}, "no observed entry"),
    "out of range": (
        RPRNMF(2),
        X,
        {"row_triplets": [[0, 1, 2], [0, 9, 1]]},
        r"row_triplets\[1\] = \(q=0, r=9, s=1\) is out of range: r=9, but X has 6 rows.*0 to 5",
    ),
    "negative index": (
        RPRNMF(2),
        X,
        {"row_triplets": [[0, -1, 2]]},
        "r=-1 is no position: they count from 0",
    ),
    "column out of range": (
        RPRNMF(2),
        X,
        {"column_triplets": [[0, 1, 5]]},
        r"column_triplets\[0\].*s=5, but X has 5 columns",
    ),
    "repeated": (
        RPRNMF(2),
        X,
        {"row_triplets": [[0, 1, 2], [3, 3, 5]]},
        r"triplets\[1\] = \(q=3, r=3, s=5\) repeats an index",
    ),
    "two columns": (RPRNMF(2), X, {"row_triplets": [[0, 1]]}, r"shape \(n_triplets, 3\).*\(1, 2\)"),
    "flat": (RPRNMF(2), X, {"row_triplets": [0, 1, 2]}, r"shape \(n_triplets, 3\).*\(3,\)"),
    "floats": (RPRNMF(2), X, {"row_triplets": [[0.0, 1.0, 2.0]]}, "floating point"),
    "names without names": (
        RPRNMF(2),
        X,
        {"row_triplets": [["a", "b", "c"]]},
        "X has no row names",
    ),
    "labels of wrong length": (
        LCNMF(2),
        X,
        {"y": [0, 1]},
        r"row labels.*shape \(6,\), got \(2,\)",
    ),
    "column labels of wrong length": (
        LCNMF(2),
        X,
        {"column_labels": [0] * 6},
        r"column labels.*shape \(5,\), got \(6,\)",
    ),
    "labels that are no labels": (LCNMF(2), X, {"y": [0.5] * 6}, "whole numbers.*got 0.5"),
    "asymmetric graph": (
        GNMF(2, row_graph=graph(1, 2, 3.0)),
        X,
        {},
        r"symmetric, but row_graph\[1, 2\] = 3 and row_graph\[2, 1\] = 0",
    ),
    "negative graph": (
        GNMF(2, row_graph=graph(1, 2, -3.0, both=True)),
        X,
        {},
        r"row_graph\[1, 2\] = -3; weights must be at least 0",
    ),
    "graph of wrong shape": (
        GNMF(2, column_graph=graph(1, 2, 1.0, both=True)),
        X,
        {},
        r"column_graph must have the shape \(5, 5\).*got \(6, 6\)",
    ),
    "graph with NaN": (
        RPRNMF(2, row_graph=graph(0, 1, np.nan, both=True)),
        X,
        {},
        "must be finite",
    ),
    "no components": (NMF(0), X, {}, r"'n_components' parameter of NMF must be.*\[1, inf\).*Got 0"),
    "other loss": (NMF(2, beta_loss="euclidean"), X, {}, "'beta_loss' parameter"),
    "loss of no solver": (NMF(2, beta_loss=1.5), X, {}, "solver 'cd' does not handle.*1.5"),
    "other penalty": (RPRNMF(2, penalty="cubic"), X, {}, "'penalty' parameter"),
    "margin": (RPRNMF(2, margin=0.0), X, {}, "'margin' parameter"),
    "strength": (RPRNMF(2, row_strength=-1.0), X, {}, "'row_strength' parameter"),
    "threads": (NMF(2, n_jobs=0), X, {}, "'n_jobs' parameter"),
    "custom without start": (NMF(2, init="custom"), X, {}, "W is None"),
    "start of wrong shape": (
        NMF(2, init="custom"),
        X,
        {"W": np.ones((5, 2)), "H": np.ones((2, 5))},
        r"W must have the shape \(6, 2\), got \(5, 2\)",
    ),
    "negative start": (
        NMF(2, init="custom"),
        X,
        {"W": np.ones((6, 2)), "H": -np.ones((2, 5))},
        r"H\[0, 0\] = -1",
    ),
    "start of another precision": (
        NMF(2, init="custom"),
        X,
        {"W": np.ones((6, 2)), "H": np.ones((2, 5), dtype=np.float32)},
        "H should have the same dtype as X. Got H.dtype = float32 and X.dtype = float64",
    ),
    "zero start": (
        NMF(2, init="custom"),
        X,
        {"W": np.zeros((6, 2)), "H": np.ones((2, 5))},
        "W is all zeros",
    ),
    "SVD start under a mask": (
        NMF(2, init="nndsvd", missing="nan"),
        changed(0, 0, np.nan),
        {},
        "needs a complete matrix, but X has 1 missing",
    ),
    "late error": (
        RPRNMF(2, solver="paper", penalty="logistic"),
        X,
        {"row_triplets": T},
        "solver='paper'",
    ),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_the_message_says_where_and_what(case):
    model, data, arguments, message = CASES[case]
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(data, **arguments)


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_failed_fit_changes_nothing(case):
    model, data, arguments, _ = CASES[case]
    fitted = type(model)(2, max_iter=3, tol=0.0).fit(X)
    fitted.set_params(**model.get_params())
    before = dict(fitted.__dict__)
    copies = {
        name: np.asarray(value).tobytes() for name, value in before.items() if name.endswith("_")
    }
    source = data.copy()
    with pytest.raises((ValueError, TypeError)):
        fitted.fit(data, **arguments)
    assert fitted.__dict__.keys() == before.keys()
    for name, value in copies.items():
        assert np.asarray(getattr(fitted, name)).tobytes() == value
    values = (matrix.data if sp.issparse(matrix) else matrix for matrix in (source, data))
    np.testing.assert_array_equal(*values)


def test_fit_leaves_its_inputs_alone():
    data, W, H = X.copy(), RNG.random((6, 2)), RNG.random((2, 5))
    copies = W.copy(), H.copy()
    for solver in ("mu", "paper"):
        LCNMF(2, solver=solver, init="custom", max_iter=3, tol=0.0).fit(
            data, y=[0, 0, 1, 1, -1, -1], W=W, H=H
        )
    np.testing.assert_array_equal(data, X)
    np.testing.assert_array_equal(W, copies[0])
    np.testing.assert_array_equal(H, copies[1])


def test_unknown_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, index=list("abcdef"))
    with pytest.raises(ValueError, match=r"row_triplets\[1\] speaks of 'z'.*absent='drop'"):
        RPRNMF(2).fit(frame, row_triplets=[["a", "b", "c"], ["a", "z", "c"]])
    twice = pd.DataFrame(X, index=list("abcdea"))
    with pytest.raises(ValueError, match=r"'a' occurs more than once in X \(rows 0 and 5\)"):
        RPRNMF(2).fit(twice, row_triplets=[["a", "b", "c"]])


def test_transform_checks_too():
    model = NMF(2, max_iter=3, tol=0.0).fit(X)
    with pytest.raises(ValueError, match=r"4 features.*expecting 5"):
        model.transform(X[:, :4])
    with pytest.raises(ValueError, match=r"X\[0, 0\] = -1"):
        model.transform(-np.ones((1, 5)))


def test_triplets_by_themselves():
    with pytest.raises(ValueError, match=r"weights\[1\] = -1.0; weights must be positive"):
        Triplets([[0, 1, 2], [1, 2, 3]], weights=[1, -1])
    with pytest.raises(ValueError, match=r"shape \(1,\), got \(2,\)"):
        Triplets(T, weights=[1, 2])
    with pytest.raises(ValueError, match="absent must be"):
        Triplets(T, absent="ignore")
    with pytest.raises(TypeError, match="dtype bool"):
        Triplets(np.zeros((2, 3), dtype=bool))
    with pytest.raises(ValueError, match="repeats an index"):
        Triplets([["a", "b", "a"]])


def test_metrics_and_makers():
    with pytest.raises(ValueError, match="distance must be one of"):
        satisfied_rate(X, T, distance="cosine")
    with pytest.raises(ValueError, match="out of range"):
        satisfied_rate(X, [[0, 1, 6]])
    with pytest.raises(ValueError, match=r"H must have the shape \(2, 5\)"):
        mean_squared_loss(X, np.ones((6, 2)), np.ones((2, 4)))
    with pytest.raises(ValueError, match="per_class must be at least 2"):
        triplets_from_labels([0, 1], per_class=1)
