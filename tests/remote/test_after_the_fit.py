"""What a model can do after the fit of a Dask array: lazily, or refused by name."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf import NMF, RPRNMF, top_features, top_items
from rprnmf.triplets import next_queries
from tests.remote.matrices import CUTS, SIDES, M, N, in_blocks, matrix

da = pytest.importorskip("dask.array")

SETTINGS = {"n_components": 3, "max_iter": 5, "tol": 0.0, "random_state": 0, "column_prior": None}


@pytest.fixture(autouse=True)
def one_after_the_other():
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


def models(estimator=NMF, given=None, **more):
    X, _ = matrix("dense")
    data, settings = (X, in_blocks(X, CUTS["5"])), {"row_prior": None, **SETTINGS, **more}
    return [estimator(**settings).fit(each, **(given or {})) for each in data]


def check_equal(lazy, expected):
    assert isinstance(lazy, da.Array)
    found = lazy.compute()
    assert found.dtype == lazy.dtype == expected.dtype
    assert np.allclose(found, expected, rtol=1e-7, atol=1e-12)


def test_inverse_transform_is_lazy():
    one, two = models()
    lazy = two.inverse_transform(two.embedding_)
    assert lazy.chunks == (CUTS["5"], (M,))
    check_equal(lazy, one.inverse_transform(one.embedding_))
    W = one.embedding_.astype(np.float32)
    check_equal(two.inverse_transform(da.from_array(W, (20, 3))), two.inverse_transform(W))
    with pytest.raises(ValueError, match=r"rows of W have 3 entries"):
        two.inverse_transform(two.embedding_[:, :2])


def test_strongest_features_and_items():
    one, two = models()
    for by in ("weight", "lift", "relevance"):
        for tops in (top_features, top_items):
            for first, second in zip(tops(one, 6, by=by), tops(two, 6, by=by), strict=True):
                assert [name for name, _ in first] == [name for name, _ in second]
                numbers = [[number for _, number in top] for top in (first, second)]
                assert np.allclose(*numbers)


def test_questions_and_chances():
    one, two = models(RPRNMF, SIDES["rows"])
    asked = [next_queries(model, 5, random_state=0).items for model in (one, two)]
    assert np.array_equal(*asked)
    other = [[10, 20, 30], [4, 50, 6]]
    assert np.allclose(one.predict_triplets(other), two.predict_triplets(other))
    assert one.score_triplets(other) == two.score_triplets(other)


def test_new_rows_compared_with_those_of_the_fit():
    one, two = models(RPRNMF, SIDES["rows"])
    X = matrix("dense")[0][:2].copy()
    X[1] = 0.0
    known = [[N, 5, 70], [N + 1, 82, 3]]
    assert np.allclose(*(model.transform(X, row_triplets=known) for model in (one, two)))
    with pytest.raises(ValueError, match="row_triplets cannot be given where X is a Dask array"):
        two.transform(in_blocks(X, (1, 1)), row_triplets=known)


def tables(kind):
    """Features of the rows of the fit, of new rows, and of these in blocks."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(N + 20, 2))
    if kind == "array":
        return numbers[:N], numbers[N:], numbers[N:]
    if kind == "sparse":
        numbers[numbers < 0] = 0.0
        table = sp.csr_array(numbers)
        return table[:N], table[N:], table[N:]
    if kind == "dask array":
        return numbers[:N], numbers[N:], da.from_array(numbers[N:], chunks=(6, 1))
    pd = pytest.importorskip("pandas")
    genre = np.array(["Comedy|Drama", "Drama", "Action"], dtype=object)[rng.integers(0, 3, N + 20)]
    frame = pd.DataFrame({"genre": genre, "age": numbers[:, 0]})
    new = frame[N:].reset_index(drop=True)
    if kind == "frame":
        return frame[:N], new, new
    dd = pytest.importorskip("dask.dataframe")
    return frame[:N], new, dd.from_pandas(new, npartitions=2)


@pytest.mark.parametrize("kind", ["array", "sparse", "dask array", "frame", "dask frame"])
def test_features_of_new_rows(kind):
    known, new, lazy = tables(kind)
    one, two = models(row_prior=[known, "mean"])
    X = matrix("dense")[0][:20]
    D = in_blocks(X, (10, 10))
    expected = one.transform(X, row_features=new)
    assert not np.allclose(expected, one.transform(X), rtol=1e-3)
    check_equal(two.transform(D, row_features=lazy), expected)
    check_equal(two.transform(D), one.transform(X))


def test_features_of_new_rows_that_do_not_fit_are_refused():
    known, new, _ = tables("array")
    _, two = models(row_prior=known)
    D = in_blocks(matrix("dense")[0][:20], (10, 10))
    with pytest.raises(ValueError, match="one row for each of 20 rows of X, got 19"):
        two.transform(D, row_features=new[:19])
    with pytest.raises(ValueError, match="one row for each of 20 rows of X, got 19"):
        two.transform(D, row_features=da.from_array(new[:19], chunks=5))
    with pytest.raises(ValueError, match="row_prior has 0 tables of features, got 1"):
        models()[1].transform(D, row_features=new)


def test_what_needs_all_rows_is_refused():
    X, _ = matrix("dense")
    _, two = models()
    y = np.where(np.arange(N) < 10, np.arange(N) % 2, -1)
    with pytest.raises(ValueError, match=r"compares all rows .*embedding_\.compute\(\)"):
        two.predict_labels(y)
    with pytest.raises(ValueError, match=r"compares all rows"):
        models()[0].predict_labels(y, in_blocks(X, CUTS["5"]))
    with pytest.raises(ValueError, match="partial_fit takes one block of rows"):
        NMF(**SETTINGS).partial_fit(in_blocks(X, CUTS["5"]))
    assert two.partial_fit(X[:5]).n_steps_ == 1
    two = models()[1]
    two.embedding_ = two.embedding_.compute()
    assert len(two.predict_labels(y, X)) == N
