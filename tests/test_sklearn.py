"""scikit-learn's own checks, and life among its tools."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn import decomposition
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from rprnmf import GNMF, LCNMF, NMF, RPRNMF, Triplets
from rprnmf.triplets import triplets_from_labels

TIED = "fit ties the rows of a label, transform knows no labels"
EXPECTED = {
    "LCNMF": {
        "check_transformer_general": TIED,
        "check_transformer_data_not_an_array": TIED,
    }
}


def all_checks():
    for estimator in (NMF, GNMF, LCNMF, RPRNMF):
        expected = EXPECTED.get(estimator.__name__, {})
        for model, check in estimator_checks_generator(estimator(max_iter=500)):
            name = getattr(check, "func", check).__name__
            if name not in expected:
                yield pytest.param(model, check, id=f"{estimator.__name__}-{name}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(all_checks()))
def test_scikit_learns_checks(estimator, check):
    try:
        check(estimator)
    except Exception as error:
        if type(error).__name__ == "SkipTest":
            pytest.skip(str(error))
        raise


def matrices():
    rng = np.random.default_rng(0)
    low = rng.random((60, 8)) @ rng.random((8, 40)) + 0.05 * rng.random((60, 40))
    counts = rng.poisson(rng.gamma(0.5, 2, (70, 5)) @ rng.gamma(0.5, 1, (5, 50))).astype(float)
    return {"dense": low, "counts": counts, "sparse": sp.csr_array(counts)}


@pytest.mark.parametrize("max_iter", [20, 200])
@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("name", ["dense", "counts", "sparse"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_drop_in_that_is_not_worse(name, beta_loss, max_iter):
    """From the same start, with the same arguments, on 20 seeds."""
    X = matrices()[name]
    theirs_solver = "cd" if beta_loss == "frobenius" else "mu"
    ratios, ours_gap, theirs_gap = [], [], []
    for seed in range(20):
        settings = {"n_components": 6, "beta_loss": beta_loss, "init": "random"}
        settings |= {"max_iter": max_iter, "random_state": seed}
        ours = NMF(**settings)
        theirs = decomposition.NMF(solver=theirs_solver, **settings)
        W, V = ours.fit_transform(X), theirs.fit_transform(X)
        ratios.append(ours.reconstruction_err_ / theirs.reconstruction_err_)
        ours_gap.append(np.abs(ours.transform(X) - W).max() / W.max())
        theirs_gap.append(np.abs(theirs.transform(X) - V).max() / V.max())
    assert max(ratios) <= 1.01
    assert np.median(ratios) <= 1.0 + 1e-5  # both at the same minimum, to their tolerances
    assert np.median(ours_gap) <= max(np.median(theirs_gap), 1e-3)


@pytest.fixture(scope="module")
def digits():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300]


def test_pipeline_and_set_output(digits):
    pytest.importorskip("pandas")
    X, y = digits
    triplets = triplets_from_labels(y, 50, random_state=0)
    pipeline = make_pipeline(MinMaxScaler(), RPRNMF(5, random_state=0, max_iter=50, tol=0.0))
    pipeline.set_output(transform="pandas")
    W = pipeline.fit_transform(X, rprnmf__row_triplets=triplets)
    assert pipeline[-1].row_satisfied_rate_ == 1.0
    frame = pipeline.transform(X)
    assert list(frame.columns) == [f"rprnmf{k}" for k in range(5)]
    assert frame.shape == W.shape


def test_metadata_routing(digits):
    X, y = digits
    triplets = triplets_from_labels(y, 50, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = RPRNMF(5, random_state=0, max_iter=50, tol=0.0)
        model.set_fit_request(row_triplets=True)
        pipeline = make_pipeline(MinMaxScaler(), model, KMeans(10, n_init=1, random_state=0))
        pipeline.fit(X, row_triplets=triplets)
        assert pipeline[1].row_satisfied_rate_ == 1.0


def score(model, X, y=None):
    return -np.linalg.norm(X - model.inverse_transform(model.transform(X)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_named_triplets_survive_cross_validation(digits):
    pd = pytest.importorskip("pandas")
    X, y = digits
    frame = pd.DataFrame(X, index=[f"image {i}" for i in range(len(X))])
    positions = triplets_from_labels(y, 300, random_state=0).items
    names = Triplets(frame.index.to_numpy()[positions], absent="drop")
    search = GridSearchCV(
        RPRNMF(5, random_state=0, max_iter=30),
        {"n_components": [3, 5]},
        cv=KFold(3),
        scoring=score,
        error_score="raise",
    )
    search.fit(frame, row_triplets=names)
    assert search.best_params_ == {"n_components": 5}
    assert search.best_estimator_.row_satisfied_rate_ > 0.95
    by_number = pd.DataFrame(X)
    search.fit(by_number, row_triplets=Triplets(positions, named=True, absent="drop"))
    assert search.best_estimator_.row_satisfied_rate_ > 0.95


def test_positions_are_refused_in_cross_validation(digits):
    pd = pytest.importorskip("pandas")
    X, y = digits
    triplets = triplets_from_labels(y, 300, random_state=0)
    search = GridSearchCV(RPRNMF(), {"n_components": [3]}, cv=3, scoring=score, error_score="raise")
    with pytest.raises(ValueError, match="only triplets by name keep their meaning"):
        search.fit(X, row_triplets=triplets)
    with pytest.raises(ValueError, match=r"not clear which is meant.*named=True"):
        search.fit(pd.DataFrame(X), row_triplets=triplets)


def test_convergence_warning_as_scikit_learn_gives_it():
    X = np.random.default_rng(0).random((20, 10))
    with pytest.warns(ConvergenceWarning, match="Maximum number of iterations 3 reached"):
        NMF(3, max_iter=3).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NMF(3, max_iter=3, tol=0).fit(X)


def test_scikit_learns_callback_protocol():
    pytest.importorskip("sklearn.callback")
    X = np.random.default_rng(0).random((20, 10))

    class Watch:
        def __init__(self, stop_after=None):
            self.errors, self.stop_after, self.open = [], stop_after, 0

        def setup(self, estimator, context):
            self.open += 1

        def teardown(self, estimator, context):
            self.open -= 1

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, X, fitted_estimator):
            model = fitted_estimator
            W, H = model.embedding_, model.components_
            self.errors.append(np.linalg.norm(X - W @ H))
            return self.stop_after is not None and len(self.errors) >= self.stop_after

    watch = Watch()
    model = NMF(3, max_iter=12, tol=0, random_state=0).set_callbacks(watch).fit(X)
    assert len(watch.errors) == 12
    assert watch.errors[-1] == pytest.approx(model.reconstruction_err_)
    assert watch.open == 0
    short = Watch(stop_after=5)
    assert NMF(3, max_iter=12, tol=0).set_callbacks(short).fit(X).n_iter_ == 5
    assert short.open == 0
    late = Watch()
    with pytest.raises(ValueError, match="Negative"):
        NMF(3).set_callbacks(late).fit(-X)
    assert late.open == 0
