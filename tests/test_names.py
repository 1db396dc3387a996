"""Names that a user gives come back, on sparse data and behind a vectorizer too."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from rprnmf import GNMF, LCNMF, NMF, RPRNMF, Triplets
from rprnmf.metrics import constraint_satisfied_rate, satisfied_rate, triplet_distances, unmet
from rprnmf.model_selection import choose_rank, choose_strength, triplet_scorer
from rprnmf.triplets import next_queries

RNG = np.random.default_rng(0)
WORDS = ["bird", "cat", "dog", "fish", "leaf", "root", "stone", "tree"]
TEXTS = [" ".join(RNG.choice(WORDS, 12)) for _ in range(24)]
TITLES = [f"text {i}" for i in range(24)]
COUNTS = CountVectorizer().fit_transform(TEXTS)
ROWS = np.array([RNG.permutation(24)[:3] for _ in range(40)])
BY_TITLE = Triplets(np.array(TITLES, dtype=object)[ROWS], absent="drop")
CONTRADICTION = [["cat", "dog", "stone"], ["cat", "stone", "dog"]]
MODEL = RPRNMF(3, max_iter=20, tol=0, random_state=0)


def fitted(X=COUNTS, **changes):
    given = {"row_triplets": BY_TITLE, "column_triplets": CONTRADICTION}
    given |= {"row_names": TITLES, "column_names": WORDS} | changes
    return sklearn.clone(MODEL).fit(X, **given)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, lambda X: X.toarray()])
def test_names_are_given_to_what_has_none(kind):
    model = fitted(kind(COUNTS))
    columns = np.array([[WORDS.index(word) for word in row] for row in CONTRADICTION])
    same = sklearn.clone(MODEL).fit(kind(COUNTS), row_triplets=ROWS, column_triplets=columns)
    np.testing.assert_array_equal(model.embedding_, same.embedding_)
    np.testing.assert_array_equal(model.row_triplets_.items, ROWS)
    assert model.column_unmet_.tolist() in ([CONTRADICTION[0]], [CONTRADICTION[1]])
    left = np.array(TITLES, dtype=object)[same.row_unmet_]
    np.testing.assert_array_equal(model.row_unmet_, left)
    assert 0 < len(left) == round((1 - model.row_satisfied_rate_) * 40)
    model.row_unmet_[0] = "changed"  # a plain array, as any other result


@pytest.mark.parametrize("kind", [NMF, GNMF, LCNMF, RPRNMF])
def test_every_estimator_keeps_names(kind):
    names = {"row_names": TITLES, "column_names": WORDS}
    model = kind(3, max_iter=2, tol=0, random_state=0)
    for fitted_model in (model.fit(COUNTS, **names), model):
        assert fitted_model.row_names_.tolist() == TITLES
        assert fitted_model.column_names_.tolist() == WORDS
        model.fit_transform(COUNTS, **names)
    with pytest.raises(ValueError, match="24 of them, got 3"):
        model.fit(COUNTS, row_names=TITLES[:3])


def test_names_of_a_frame_come_back():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(COUNTS.toarray(), index=TITLES, columns=WORDS)
    model = fitted(frame, row_names=None, column_names=None)
    np.testing.assert_array_equal(model.row_unmet_, fitted().row_unmet_)
    assert model.row_names_.tolist() == TITLES
    assert type(pickle.loads(pickle.dumps(model)).row_names_) is np.ndarray  # without pandas too
    other = [f"other {i}" for i in range(24)]
    renamed = fitted(frame, row_names=other, row_triplets=[["other 0", "other 1", "other 2"]])
    assert renamed.row_triplets_.items.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    "labels",
    [range(24), ["same"] * 24, [None, *TITLES[1:]], np.arange(24) / 2, [True] * 24],
    ids=["positions", "not different", "missing", "fractions", "truth"],
)
def test_labels_that_are_no_names(labels):
    """The fit works, and results are positions."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(COUNTS.toarray(), index=labels)
    model = sklearn.clone(MODEL).fit(frame, row_triplets=ROWS)
    plain = sklearn.clone(MODEL).fit(COUNTS.toarray(), row_triplets=ROWS)
    np.testing.assert_array_equal(model.row_unmet_, plain.row_unmet_)
    assert model.row_unmet_.dtype == np.int64
    assert not next_queries(model, 3).named


@pytest.mark.parametrize(
    "labels", [10 * np.arange(24), [("text", i) for i in range(24)]], ids=["integers", "tuples"]
)
def test_labels_that_are_unusual_names(labels):
    pd = pytest.importorskip("pandas")
    index = (
        pd.Index(labels) if isinstance(labels, np.ndarray) else pd.MultiIndex.from_tuples(labels)
    )
    frame = pd.DataFrame(COUNTS.toarray(), index=index)
    items = np.empty((1, 3), dtype=object)
    for place, row in enumerate((1, 2, 3)):
        items[0, place] = labels[row]
    known = Triplets(items, named=True)
    model = sklearn.clone(MODEL).fit(frame, row_triplets=known + known.take([0]))
    assert model.row_triplets_.items[0].tolist() == [1, 2, 3]
    asked = next_queries(model, 4, items=list(labels[:5]), random_state=0)
    assert asked.named
    assert set(asked.items.ravel()) <= {labels[i] for i in range(5)}


def test_questions_speak_of_names():
    model = fitted()
    asked = next_queries(model, 5, random_state=0)
    assert asked.named
    assert set(asked.items.ravel()) <= set(TITLES)
    again = model.fit(
        COUNTS, row_triplets=BY_TITLE + Triplets(asked, absent="drop"), row_names=TITLES
    )
    assert again.row_triplets_.n_triplets == 45
    four = WORDS[:4]
    some = next_queries(fitted(), 30, side="column", items=four, asked=[["bird", "cat", "dog"]])
    assert set(some.items.ravel()) == set(four)
    assert some.n_triplets == 11  # four words make twelve questions
    few = [["bird", "cat", "dog"], ["leaf", "root", "tree"]]
    found = next_queries(fitted(), 5, side="column", candidates=few, items=[4, 5, 7])
    assert set(found.items.ravel()) == {"leaf", "root", "tree"}
    with pytest.raises(ValueError, match="'mouse', which is not a column name"):
        next_queries(fitted(), 5, side="column", items=["mouse", "cat", "dog"])
    with pytest.raises(ValueError, match="items must be positions from 0 to 7, got 4 to 9"):
        next_queries(fitted(), 5, side="column", items=[4, 5, 9])


def test_a_report_speaks_of_names():
    report = fitted().triplet_report()
    assert report["q"].tolist() == [*BY_TITLE.items[:, 0], "cat", "cat"]
    assert "cat (1)" in str(report)


def test_measures_by_name():
    model = fitted()
    W, Ht = model.embedding_, model.components_.T
    assert satisfied_rate(W, BY_TITLE, names=model.row_names_) == model.row_satisfied_rate_
    np.testing.assert_array_equal(unmet(W, BY_TITLE, names=TITLES), model.row_unmet_)
    np.testing.assert_array_equal(triplet_distances(W, BY_TITLE, names=TITLES)[0], ROWS)
    both = constraint_satisfied_rate(
        *(W, Ht.T, BY_TITLE, CONTRADICTION), row_names=TITLES, column_names=WORDS
    )
    assert both == pytest.approx((model.row_satisfied_rate_ + 0.5) / 2)
    with pytest.raises(ValueError, match="given by name: pass names="):
        satisfied_rate(W, BY_TITLE)


def test_new_rows_have_names_too():
    model = fitted()
    new = COUNTS[:2]
    by_name = model.transform(new, [["new a", "text 1", "text 2"]], row_names=["new a", "new b"])
    np.testing.assert_array_equal(by_name, model.transform(new, [[24, 1, 2]]))
    with pytest.raises(ValueError, match="'text 1' occurs in the training data and in the new"):
        model.transform(new, [["text 1", "text 2", "text 3"]], row_names=["text 1", "text 9"])
    with pytest.raises(ValueError, match="the new rows have no names"):
        model.transform(new, [["new a", "text 1", "text 2"]])
    nameless = sklearn.clone(MODEL).fit(COUNTS)
    with pytest.raises(ValueError, match="the training rows have no names"):
        nameless.transform(new, [["a", "b", "c"]], row_names=["a", "b"])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"row_names": TITLES[:3]}, ValueError, "row_names .* 24 of them, got 3.$"),
        ({"column_names": WORDS * 2}, ValueError, "column_names .* 8 of them, got 16. .Cross-val"),
        ({"row_names": "text"}, TypeError, "one name for each row of X, got 'text'"),
        ({"column_names": 8}, TypeError, "one name for each column of X, got 8"),
        ({"row_names": ["twice"] * 24}, ValueError, "'twice' occurs more than once"),
        ({"row_names": None}, ValueError, "pass X as a DataFrame or row_names= to fit"),
        ({"column_names": None}, ValueError, r"column_names=vectorizer.get_feature_names_out\(\)"),
    ],
)
def test_wrong_names_are_said(given, error, message):
    with pytest.raises(error, match=message):
        fitted(**given)


def pipeline(*last, **settings):
    return make_pipeline(CountVectorizer(), RPRNMF(3, max_iter=20, tol=0, **settings), *last)


def test_behind_a_vectorizer():
    pipe = pipeline(random_state=0)
    with pytest.raises(ValueError, match="in a Pipeline as rprnmf__column_names="):
        pipe.fit(TEXTS, rprnmf__column_triplets=CONTRADICTION)
    pipe.fit(
        TEXTS,
        rprnmf__row_names=TITLES,
        rprnmf__row_triplets=BY_TITLE,
        rprnmf__column_names=pipe[0].fit(TEXTS).get_feature_names_out(),
        rprnmf__column_triplets=CONTRADICTION,
    )
    np.testing.assert_array_equal(pipe[-1].row_unmet_, fitted().row_unmet_)
    np.testing.assert_array_equal(pipe[-1].column_unmet_, fitted().column_unmet_)


def error_of_the_fit(model, X, y=None):
    return -model[1].reconstruction_err_


def test_cross_validation_takes_names_apart_with_the_rows():
    search = GridSearchCV(
        pipeline(random_state=0),
        {"rprnmf__n_components": [3]},
        cv=KFold(3),
        scoring=error_of_the_fit,
        error_score="raise",
    )
    search.fit(TEXTS, rprnmf__row_names=TITLES, rprnmf__row_triplets=BY_TITLE)
    for fold, (kept, _) in enumerate(KFold(3).split(TEXTS)):
        inside = BY_TITLE.subset([TITLES[i] for i in kept])
        alone = pipeline(random_state=0).fit(
            [TEXTS[i] for i in kept],
            rprnmf__row_names=[TITLES[i] for i in kept],
            rprnmf__row_triplets=inside,
        )
        score = search.cv_results_[f"split{fold}_test_score"][0]
        assert score == pytest.approx(-alone[1].reconstruction_err_, rel=1e-12)


@pytest.mark.parametrize("last", [[], [KMeans(2, n_init=1, random_state=0)]], ids=["end", "middle"])
def test_a_request_for_fit_is_enough(last):
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = pipeline(*last, random_state=0)
        pipe[1].set_fit_request(row_triplets=True, row_names=True)
        pipe.fit(TEXTS, row_triplets=BY_TITLE, row_names=TITLES)
        expected = pipe[1].embedding_.copy()
        assert pipe[1].row_triplets_.n_triplets == 40
        pipe.fit_transform(TEXTS, row_triplets=BY_TITLE, row_names=TITLES)
        np.testing.assert_array_equal(pipe[1].embedding_, expected)
        search = GridSearchCV(
            pipe,
            {"rprnmf__n_components": [3]},
            cv=KFold(3),
            scoring=error_of_the_fit,
            error_score="raise",
        )
        search.fit(TEXTS, row_triplets=BY_TITLE, row_names=TITLES)
        np.testing.assert_array_equal(search.best_estimator_[1].embedding_, expected)


def test_requests_that_are_set_stay():
    with sklearn.config_context(enable_metadata_routing=True):
        model = RPRNMF().set_fit_request(row_triplets="answers")
        assert model.get_metadata_routing().transform.requests["row_triplets"] == "answers"
        model.set_transform_request(row_triplets=False)
        assert model.get_metadata_routing().transform.requests["row_triplets"] is False
        assert model.get_metadata_routing().fit.requests["row_triplets"] == "answers"
        model = RPRNMF().set_transform_request(row_triplets=True)
        assert model.get_metadata_routing().fit.requests["row_triplets"] is True
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="row_names"):
            make_pipeline(RPRNMF(2)).fit(COUNTS, row_names=TITLES)


def test_choosing_by_name():
    settings = {"n_splits": 3, "random_state": 0}
    by_name = {"row_triplets": BY_TITLE, "row_names": TITLES}
    curves = [
        choose_strength(MODEL, COUNTS, [0.1, 1.0], **settings, **given, verbose=0)
        for given in (by_name, {"row_triplets": ROWS})
    ]
    np.testing.assert_array_equal(curves[0].satisfied, curves[1].satisfied)
    ranks = [
        choose_rank(MODEL, COUNTS, [1, 2], **settings, **given)
        for given in (by_name, {"row_triplets": ROWS})
    ]
    np.testing.assert_array_equal(ranks[0].scores, ranks[1].scores)
    model = fitted()
    assert triplet_scorer(BY_TITLE)(model, COUNTS) == model.row_satisfied_rate_
    assert triplet_scorer(CONTRADICTION, side="column")(model, COUNTS) == 0.5


@pytest.mark.parametrize("estimator", [NMF, GNMF, LCNMF])
def test_only_rprnmf_has_triplets(estimator):
    model = estimator(2, max_iter=2, tol=0).fit(COUNTS)
    for name in ("row_triplets_", "column_triplets_", "row_unmet_", "column_unmet_", "distance_"):
        assert not hasattr(model, name)
        assert hasattr(fitted(), name)
    assert np.isnan([model.row_satisfied_rate_, model.column_satisfied_rate_]).all()


def test_whole_numbers_as_names_of_a_side_without_triplets():
    X = np.random.default_rng(0).random((6, 3))
    model = RPRNMF(2, random_state=0).fit(
        X, row_names=[7, 8, 9, 10, 11, 13], column_names=[5, 3, 9], row_triplets=None
    )
    assert model.row_names_.tolist() == [7, 8, 9, 10, 11, 13]
    known = Triplets([[5, 3, 9]], named=True)
    model.fit(X, row_names=[7, 8, 9, 10, 11, 13], column_names=[5, 3, 9], column_triplets=known)
    assert model.column_satisfied_rate_ == 1.0
