"""What the default settings promise: triplets met, the data fitted, no tuning."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans

from rprnmf import LCNMF, NMF, RPRNMF
from rprnmf.datasets import fetch_orl, make_chains
from rprnmf.losses import LOSSES
from rprnmf.metrics import (
    clustering_accuracy,
    mean_divergence,
    mean_squared_loss,
    satisfied_rate,
)
from rprnmf.model_selection import MaskedKFold, choose_rank
from rprnmf.triplets import triplets_from_labels
from tests.builders import needs_data, random_matrix, random_triplets

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def chains(F, n_triplets, rng):
    """5-chains that hold in F (one point per row): seven points, six rising distances."""
    found = []
    while len(found) < n_triplets:
        p = rng.choice(len(F), 7, replace=False)
        steps = ((F[p[1:]] - F[p[:-1]]) ** 2).sum(axis=1)
        if (np.diff(steps) > 0).all():
            found += [(p[i + 1], p[i], p[i + 2]) for i in range(5)]
    return np.array(found[:n_triplets])


def synthetic(seed, n=100, m=100, K=20, n_triplets=30):
    """The paper's synthetic experiment: uniform factors, X scaled to [0, 1]."""
    rng = np.random.default_rng(seed)
    W, H = rng.random((n, K)), rng.random((K, m))
    X = W @ H
    X = (X - X.min()) / (X.max() - X.min())
    return X, chains(W, n_triplets, rng), chains(H.T, n_triplets, rng)


@pytest.mark.parametrize("n_triplets", [10, 50])
@pytest.mark.parametrize(
    ("beta_loss", "measure", "most"),
    [
        ("frobenius", mean_squared_loss, 1.0e-4),
        ("kullback-leibler", mean_divergence, 1.2e-4),
    ],
)
def test_synthetic_experiment_with_default_settings(beta_loss, measure, most, n_triplets):
    errors = []
    for seed in range(3):
        X, _, triplets = synthetic(seed, n_triplets=n_triplets)
        model = RPRNMF(20, beta_loss=beta_loss, random_state=seed)
        model.fit(X, column_triplets=triplets)
        assert model.column_satisfied_rate_ == 1.0
        assert len(model.column_unmet_) == 0
        errors.append(measure(X, model.embedding_, model.components_))
    assert np.mean(errors) <= most


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("sides", ["rows", "both"])
def test_other_sides_and_sizes(beta_loss, sides):
    X, rows, columns = synthetic(1, n=60, m=80, K=12, n_triplets=20)
    knowledge = {"row_triplets": rows}
    if sides == "both":
        knowledge["column_triplets"] = columns
    model = RPRNMF(12, beta_loss=beta_loss, random_state=0).fit(X, **knowledge)
    assert model.row_satisfied_rate_ == 1.0
    assert sides == "rows" or model.column_satisfied_rate_ == 1.0
    assert mean_squared_loss(X, model.embedding_, model.components_) < 2e-4


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_at_no_strength_the_rate_is_that_of_plain_nmf(beta_loss):
    """Were the scale free, even a strength of 1e-6 would "meet" all of them."""
    rates, free = [], []
    for seed in range(3):
        X, _, triplets = synthetic(seed, n=60, m=60, K=12, n_triplets=30)
        settings = {"n_components": 12, "beta_loss": beta_loss, "random_state": seed}
        weak = RPRNMF(column_strength=1e-6, **settings).fit(X, column_triplets=triplets)
        plain = NMF(**settings).fit(X)
        # distances depend on where the scale lives: measured where the scale rule puts it
        sizes = LOSSES[beta_loss].column_sizes(plain.embedding_)
        rates.append(weak.column_satisfied_rate_)
        free.append(satisfied_rate(plain.components_.T * sizes, triplets))
    assert np.mean(rates) == pytest.approx(np.mean(free), abs=0.07)
    assert np.mean(rates) < 0.9


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_impossible_triplets_stay_bounded_and_are_listed(beta_loss):
    rng = np.random.default_rng(0)
    X = random_matrix(rng, 30, 20)
    triplets = random_triplets(rng, 30, 25)
    opposite = triplets[:, [0, 2, 1]]
    cycle = np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0]])  # 01 < 02 < 21 < 10
    plain = NMF(4, beta_loss=beta_loss, random_state=0).fit(X)
    both = np.concatenate((triplets, opposite))
    flooded = random_triplets(rng, 30, 10 * X.size)
    for given, most in ((both, 0.5), (cycle, 2 / 3), (flooded, 0.95)):
        model = RPRNMF(4, beta_loss=beta_loss, random_state=0).fit(X, row_triplets=given)
        assert np.isfinite(model.embedding_).all()
        assert model.row_satisfied_rate_ <= most + 1e-9
        assert model.row_satisfied_rate_ > 0.3
        assert model.reconstruction_err_ < 3 * plain.reconstruction_err_
        assert len(model.row_unmet_) == round((1 - model.row_satisfied_rate_) * len(given))
        assert satisfied_rate(model.embedding_, model.row_unmet_) == 0.0


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_a_contradiction_does_not_spoil_the_rest(beta_loss):
    """Two opposite triplets cost next to nothing, and the others are met as before."""
    rng = np.random.default_rng(0)
    X = rng.random((40, 6)) @ rng.random((6, 30))
    triplets = random_triplets(rng, 40, 20)
    pair = np.array([[0, 1, 2], [0, 2, 1]])

    def fit(given):
        return RPRNMF(6, beta_loss=beta_loss, random_state=0).fit(X, row_triplets=given)

    alone, with_pair = fit(triplets), fit(np.concatenate((triplets, pair)))
    assert alone.row_satisfied_rate_ == 1.0
    assert len(with_pair.row_unmet_) <= 1 + 1
    assert with_pair.reconstruction_err_ < 1.6 * alone.reconstruction_err_
    assert fit(pair).history_["row_strength"].max() < 0.01


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_a_large_row_does_not_spoil_the_others(beta_loss):
    rng = np.random.default_rng(0)
    X = rng.random((40, 6)) @ rng.random((6, 30))
    triplets = 1 + random_triplets(rng, 39, 20)
    errors = []
    for factor in (1.0, 1000.0):
        scaled = X.copy()
        scaled[0] *= factor
        model = RPRNMF(6, beta_loss=beta_loss, random_state=0).fit(scaled, row_triplets=triplets)
        assert model.row_satisfied_rate_ == 1.0
        errors.append(np.linalg.norm((scaled - model.embedding_ @ model.components_)[1:]))
    assert errors[1] < 3 * errors[0]


def test_new_rows_of_which_nothing_is_seen():
    X, rows, _ = synthetic(0, n=60, m=40, K=8, n_triplets=20)
    model = RPRNMF(8, missing="nan", random_state=0).fit(X, row_triplets=rows)
    triplets = [[60, 61, 62], [60, 3, 4]]
    W = model.transform(np.full((3, 40), np.nan), row_triplets=triplets)
    assert satisfied_rate(np.concatenate((model.embedding_, W)), triplets) == 1.0


def test_rank_choice_with_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.random.default_rng(0).random((12, 8)), index=list("abcdefghijkl"))
    curve = choose_rank(RPRNMF(max_iter=5), frame, [1, 2], row_triplets=[["a", "b", "c"]])
    assert curve.scores.shape == (2, 5)


@pytest.mark.parametrize("init", [None, "random"])
@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_the_unit_of_X_changes_no_rate_and_no_cluster(beta_loss, init):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    triplets = triplets_from_labels(y, 100, random_state=0)
    found = []
    for factor in (1e-6, 1.0, 1e6):
        model = RPRNMF(8, beta_loss=beta_loss, init=init, random_state=0, max_iter=60, tol=0.0)
        W = model.fit_transform(factor * X, row_triplets=triplets)
        labels = KMeans(8, n_init=3, random_state=0).fit_predict(W / W.max())
        found.append((model.row_satisfied_rate_, labels))
    for rate, labels in found[1:]:
        assert rate == found[0][0]
        assert clustering_accuracy(labels, found[0][1]) == 1.0


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_threads_change_nothing_that_matters(beta_loss):
    X, rows, columns = synthetic(0, n=200, m=120, K=6)
    knowledge = {"row_triplets": rows, "column_triplets": columns}

    def fit(n_jobs, **settings):
        model = RPRNMF(6, beta_loss=beta_loss, random_state=0, n_jobs=n_jobs, **settings)
        return model.fit(X, **knowledge)

    first, again = fit(2, max_iter=20, tol=0.0), fit(2, max_iter=20, tol=0.0)
    np.testing.assert_array_equal(first.embedding_, again.embedding_)
    one = fit(1, max_iter=20, tol=0.0)
    for ours, theirs in (
        (one.embedding_, first.embedding_),
        (one.components_, first.components_),
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-9 * theirs.max(), rtol=0)
    ends = [fit(n_jobs).history_["objective"][-1] for n_jobs in (1, 2)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)


def test_new_rows_follow_their_triplets():
    rng = np.random.default_rng(0)
    X, rows, _ = synthetic(0, n=60, m=40, K=8, n_triplets=20)
    model = RPRNMF(8, random_state=0).fit(X, row_triplets=rows)
    new = X[:5] * rng.uniform(0.8, 1.2, size=(5, 40))
    q = 60 + rng.integers(5, size=12)
    others = np.array([rng.choice(60, 2, replace=False) for _ in q])
    triplets = np.column_stack((q, others))
    alone = np.concatenate((model.embedding_, model.transform(new)))
    W = model.transform(new, row_triplets=triplets)
    together = np.concatenate((model.embedding_, W))
    assert satisfied_rate(alone, triplets) < 0.9
    assert satisfied_rate(together, triplets) > satisfied_rate(alone, triplets)
    assert mean_squared_loss(new, W, model.components_) < new.var()
    untouched = np.setdiff1d(np.arange(5), q - 60)
    np.testing.assert_allclose(W[untouched], model.transform(new)[untouched], rtol=1e-6)


def test_new_rows_by_name():
    pd = pytest.importorskip("pandas")
    X, rows, _ = synthetic(0, n=60, m=40, K=8, n_triplets=20)
    frame = pd.DataFrame(X, index=[f"old {i}" for i in range(60)])
    model = RPRNMF(8, random_state=0).fit(frame, row_triplets=frame.index.to_numpy()[rows])
    new = pd.DataFrame(X[:3], index=["new 0", "new 1", "new 2"], columns=frame.columns)
    by_name = model.transform(new, row_triplets=[["new 0", "old 7", "old 9"]])
    by_position = model.transform(new, row_triplets=[[60, 7, 9]])
    np.testing.assert_allclose(by_name, by_position)


@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_components_that_stay(solver):
    X, rows, _ = synthetic(0, n=60, m=40, K=8, n_triplets=20)
    H = NMF(8, random_state=0, max_iter=50, tol=0.0).fit(X).components_
    for model, knowledge in (
        (NMF(solver=solver), {}),
        (RPRNMF(solver=solver), {"row_triplets": rows}),
        (LCNMF(solver=solver), {"y": np.arange(60) // 2}),
    ):
        model.set_params(max_iter=100).fit(X, H=H, update_H=False, **knowledge)
        np.testing.assert_array_equal(model.components_, H)
        assert (np.diff(model.history_["objective"])[-20:] <= 0).all()
        assert mean_squared_loss(X, model.embedding_, H) < X.var()
    rate = satisfied_rate(NMF().fit(X, H=H, update_H=False).embedding_, rows)
    free = RPRNMF().fit(X, H=H, update_H=False, row_triplets=rows)
    assert free.row_satisfied_rate_ > rate


@pytest.mark.parametrize("distance", ["euclidean", "divergence"])
@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_given_components_may_have_any_scale(beta_loss, distance):
    X, rows, _ = synthetic(0, n=60, m=40, K=8, n_triplets=20)
    H = NMF(8, random_state=0, max_iter=50, tol=0.0).fit(X).components_
    one, other = (
        RPRNMF(beta_loss=beta_loss, distance=distance, row_strength=0.1).fit(
            X, H=unit * H, update_H=False, row_triplets=rows
        )
        for unit in (1.0, 128.0)  # a power of two: rounding is the same
    )
    np.testing.assert_allclose(one.embedding_, 128.0 * other.embedding_, rtol=1e-12)


@pytest.mark.parametrize("layout", ["dense", "nan", "zero", "sparse-zero", "sparse"])
def test_folds_of_entries(layout):
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    X = random_matrix(rng, 12, 9)
    missing = {"dense": None, "nan": "nan", "zero": "zero", "sparse-zero": "zero", "sparse": None}
    data = sp.csr_array(X) if layout.startswith("sparse") else X.copy()
    if layout == "nan":
        data[rng.random(X.shape) < 0.3] = np.nan
    total = np.zeros(X.shape)
    for fold in MaskedKFold(4, random_state=0).split(data, missing[layout]):
        test = sp.coo_array(fold.X_test)
        total[test.coords] += 1
        np.testing.assert_array_equal(test.data, X[test.coords])
        train = fold.X_train
        held = train.toarray()[test.coords] if sp.issparse(train) else train[test.coords]
        assert (np.isnan(held) if fold.missing == "nan" else held == 0).all()
        NMF(2, missing=fold.missing, max_iter=3, tol=0.0).fit(train)
    assert set(np.unique(total)) <= {0.0, 1.0}
    if layout != "sparse":
        expected = {"dense": X.size, "nan": np.sum(~np.isnan(data)) if layout == "nan" else 0}
        assert total.sum() == expected.get(layout, np.count_nonzero(X))


def test_the_rank_is_found():
    rng = np.random.default_rng(1)
    X = rng.random((60, 4)) @ rng.random((4, 40)) + 0.02 * rng.random((60, 40))
    curve = choose_rank(NMF(random_state=0), X, [1, 2, 3, 4, 6, 8], n_splits=3, random_state=0)
    assert curve.recommended == 4
    assert curve.scores.shape == (6, 3)
    assert curve.mean[3] < 0.5 * curve.mean[1]


@pytest.mark.parametrize("side", ["row", "column"])
@pytest.mark.parametrize("seed", [0, 2, 5])
def test_components_that_die_in_the_first_steps_come_back(side, seed):
    """Uniform starts have nearly parallel columns: some components die, and the fit with them."""
    made = make_chains(*(60, 60, 12), n_row_triplets=15, n_column_triplets=15, random_state=seed)
    rng = np.random.default_rng(seed)
    start = {"W": rng.random((60, 12)), "H": rng.random((12, 60))}
    known = {f"{side}_triplets": made[f"{side}_triplets"]}
    settings = {"n_components": 12, "max_iter": 300, "tol": 0, "random_state": seed}
    uniform = RPRNMF(init="custom", **settings)
    uniform.fit_transform(made.data, **known, **start)
    assert (np.linalg.norm(uniform.components_, axis=1) > 0).all()
    assert (np.linalg.norm(uniform.embedding_, axis=0) > 0).all()
    usual = RPRNMF(**settings).fit(made.data, **known)
    assert uniform.reconstruction_err_ < 2.0 * usual.reconstruction_err_
    assert (np.diff(uniform.history_["loss"])[:3] < 0).all()


@needs_data("orl_32x32.npz")
def test_orl_faces():
    """Ten people, random starts: no worse clusters than plain NMF by the paper's rules."""
    faces = fetch_orl()
    chosen = faces.target < 10
    X, y = faces.data[chosen], faces.target[chosen]
    scores = {"paper": [], "ours": []}
    for seed in range(10):
        triplets = triplets_from_labels(y, random_state=seed)
        plain = NMF(10, solver="paper", max_iter=300, random_state=seed).fit(X)
        ours = RPRNMF(10, init="random", random_state=seed).fit(X, row_triplets=triplets)
        assert ours.row_satisfied_rate_ == 1.0
        for name, model in (("paper", plain), ("ours", ours)):
            found = KMeans(10, n_init=10, random_state=seed).fit_predict(model.embedding_)
            scores[name].append(clustering_accuracy(y, found))
    assert np.median(scores["ours"]) >= np.median(scores["paper"])


def few_ratings(seed):
    """Ratings of rank 4, most of them missing; some columns have none or one."""
    rng = np.random.default_rng(seed)
    n, m = 300, 150
    X = 1.0 + rng.gamma(1.0, 1.0, (n, 4)) @ rng.gamma(0.5, 1.0, (4, m))
    share = np.where(np.arange(m) < 20, 0.004, 0.15)
    X[rng.random((n, m)) > share] = np.nan
    return rng, X


@pytest.mark.parametrize("sides", ["rows", "columns", "both"])
@pytest.mark.parametrize("init", [None, "custom"])
@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_with_l2_terms_triplets_cost_little(beta_loss, sides, init):
    rng, X = few_ratings(0)
    n, m = X.shape
    known = {
        "row_triplets": random_triplets(rng, n, 60),
        "column_triplets": random_triplets(rng, m, 60),
    }
    known = {k: t for k, t in known.items() if sides in (f"{k.split('_')[0]}s", "both")}
    common = {"missing": "nan", "alpha_W": 0.3, "alpha_power": 0.7, "random_state": 0}
    common["beta_loss"] = beta_loss
    start = {"W": rng.random((n, 6)), "H": rng.random((6, m))} if init else {}
    plain = RPRNMF(6, init=init, **common).fit(X, **start)
    model = RPRNMF(6, init=init, **common).fit(X, **start, **known)
    rates = [getattr(model, f"{k.split('_')[0]}_satisfied_rate_") for k in known]
    assert rates == [1.0] * len(known)
    assert model.reconstruction_err_ < 1.3 * plain.reconstruction_err_


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 0.3])
@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_columns_without_data_stay_within_reach(beta_loss, alpha):
    rng, X = few_ratings(1)
    triplets = random_triplets(rng, X.shape[1], 100)
    model = RPRNMF(6, beta_loss=beta_loss, missing="nan", alpha_W=alpha, alpha_power=0.7)
    model.set_params(random_state=0).fit(X, column_triplets=triplets)
    sizes = np.linalg.norm(model.components_, axis=0)
    bare = np.isnan(X).all(axis=0)
    assert bare.sum() >= 3
    assert sizes[bare].max() < 5 * sizes[~bare].max()


@pytest.mark.parametrize("layout", ["masked", "holes"])
@pytest.mark.parametrize("with_triplets", [False, True])
@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_rows_with_few_entries_stay_within_reach(beta_loss, with_triplets, layout):
    """Nothing keeps a column with one rating from fitting it by what nobody else has: without
    inertia predictions came out as large as 1e5 times any rating."""
    rng = np.random.default_rng(0)
    n, m = 300, 200
    X = 1.0 + 4.0 * rng.random((n, 3)) @ rng.dirichlet(np.ones(3), m).T
    liking = np.exp(-np.arange(m) / 15.0) * rng.gamma(1.0, 0.6, (n, 1))
    X[rng.random((n, m)) > liking] = np.nan
    assert (np.sum(~np.isnan(X), axis=0) == 1).sum() >= 5
    known = {"column_triplets": random_triplets(rng, m, 100)} if with_triplets else {}
    model = RPRNMF(8, beta_loss=beta_loss, missing="nan", random_state=0)
    W = model.fit_transform(X if layout == "masked" else sp.csr_array(X), **known)
    assert (W @ model.components_).max() < 10 * np.nanmax(X)
    assert not known or model.column_satisfied_rate_ == 1.0


def test_by_the_authors_rules_a_pair_far_apart_changes_places():
    """Why RPR-NMF fails with 100 components: pulled by exp(100 / 6), both ends of a pair take the
    place of the other in every sweep. A report of the experiments says so."""
    rng = np.random.default_rng(0)
    X, W, H = rng.random((20, 30)), rng.random((20, 100)), rng.random((100, 30))
    seen = []
    model = RPRNMF(100, solver="paper", init="custom", max_iter=3, row_strength=1.0)
    model.set_params(callback=lambda state: seen.append(state.W[0] - state.W[1]))
    model.fit_transform(X, row_triplets=[[0, 1, 2]], W=W.copy(), H=H)
    for before, after in zip([W[0] - W[1], *seen], seen, strict=False):
        cosine = before @ after / np.linalg.norm(before) / np.linalg.norm(after)
        assert cosine < -0.9


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_triplets_in_the_divergence_hold_for_the_metric_too(seed):
    """Zeros are where a distance with logarithms depends on what they count as."""
    made = make_chains(60, 60, 12, n_column_triplets=30, random_state=seed)
    model = RPRNMF(12, beta_loss="kullback-leibler", distance="divergence", random_state=0)
    model.fit(made.data, column_triplets=made.column_triplets)
    assert (model.components_ == 0).mean() > 0.05
    assert model.column_satisfied_rate_ == 1.0
    for unit in (1e-6, 1.0, 1e6):
        rate = satisfied_rate(unit * model.components_.T, made.column_triplets, "divergence")
        assert rate == 1.0


@pytest.mark.parametrize("l1_ratio", [0.0, 0.2, 0.5, 0.9])
def test_at_no_strength_l2_terms_give_what_nmf_gives(l1_ratio):
    """The scale rule does not keep components that the terms let vanish."""
    rng = np.random.default_rng(3)
    X = random_matrix(rng, 40, 30)
    options = {"alpha_W": 0.02, "l1_ratio": l1_ratio, "random_state": 0, "max_iter": 500}
    plain = NMF(6, tol=1e-6, **options).fit(X)
    model = RPRNMF(6, tol=1e-6, row_strength=1e-12, **options)
    model.fit(X, row_triplets=random_triplets(rng, 40, 30))
    ends = [each.history_["objective"][-1] for each in (model, plain)]
    assert ends[0] < 1.02 * ends[1]


@pytest.mark.parametrize("sides", ["rows", "columns", "both"])
@pytest.mark.parametrize("alpha", [0.0, 1e-3])
def test_the_unit_of_X_does_not_matter_to_new_rows(sides, alpha):
    rng = np.random.default_rng(4)
    X = random_matrix(rng, 60, 30)
    new = random_matrix(rng, 10, 30)
    known = {"row_triplets": random_triplets(rng, 60, 30)}
    known["column_triplets"] = random_triplets(rng, 30, 20)
    known = {k: t for k, t in known.items() if sides in (f"{k.split('_')[0]}s", "both")}
    triplets = np.column_stack((np.arange(60, 70), rng.permutation(60)[:10], np.arange(10)))
    triplets = triplets[triplets[:, 1] != triplets[:, 2]]
    found = []
    for unit in (1e-3, 1.0, 1e3):
        model = RPRNMF(5, alpha_W=alpha * unit, random_state=0).fit(unit * X, **known)
        W = model.transform(unit * new, row_triplets=triplets)
        every = np.concatenate((model.embedding_, W))
        found.append(satisfied_rate(every, triplets))
    assert found == [1.0, 1.0, 1.0]
