"""What a fit says of itself: a minimum where it claims one, and a warning where it does not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from rprnmf import NMF, RPRNMF
from rprnmf.triplets import triplets_from_labels
from rprnmf.triplets.pairs import in_contradiction
from tests.builders import random_triplets

DIGITS = load_digits().data[:400]


@pytest.mark.filterwarnings("ignore:The factors are all but zero")
@pytest.mark.parametrize("alpha", [3.0, 10.0])
def test_l1_terms_leave_nothing_where_the_other_factor_is_zero(alpha):
    model = NMF(10, alpha_W=alpha, l1_ratio=1.0, random_state=0, tol=0.0).fit(DIGITS)
    W, H = model.embedding_, model.components_
    dead = ~(W.any(axis=0) & H.any(axis=1))
    assert dead.any()
    assert not W[:, dead].any()
    assert not H[dead].any()
    assert not model.transform(DIGITS[:20])[:, dead].any()
    assert model.history_["objective"][-1] <= np.sum(DIGITS**2) * (1 + 1e-12)  # W = H = 0


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_new_rows_stay_small_where_the_components_are_next_to_nothing(beta_loss):
    X = np.random.default_rng(0).random((30, 12))
    model = NMF(3, beta_loss=beta_loss, alpha_W=0.1, alpha_H=0.0, random_state=0, tol=0.0).fit(X)
    model.components_ = model.components_ * 1e-14
    new = model.transform(X)
    again = model.set_params(max_iter=2000, tol=1e-9).transform(X)
    assert new.max() <= 10 * max(again.max(), 1e-6)


def answers(n, count, noise, seed=0):
    rng = np.random.default_rng(seed)
    F = rng.random((n, 3))
    found = random_triplets(rng, n, count)
    q, r, s = F[found.T]
    wrong = np.sum((q - r) ** 2, axis=1) > np.sum((q - s) ** 2, axis=1)
    wrong ^= rng.random(count) < noise
    found[wrong] = found[wrong][:, [0, 2, 1]]
    return found


@pytest.mark.parametrize("solver", ["cd", "mu"])
@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("seed", range(3))
def test_a_fit_that_leaves_consistent_triplets_unmet_does_not_claim_to_have_converged(
    solver, beta_loss, seed
):
    X = np.random.default_rng(seed).random((40, 30))
    known = answers(40, 600, 0.0, seed)
    model = RPRNMF(2, solver=solver, beta_loss=beta_loss, random_state=seed, max_iter=3000)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(X, row_triplets=known)
    unmet = model.row_unmet_
    assert not in_contradiction(unmet, known).any()  # taken from a true factor
    said = any("contradict no others" in str(one.message) for one in told)
    if model.converged_:
        assert len(unmet) == 0
    assert said == (len(unmet) > 0 and model.n_iter_ < 3000)


def test_contradictions_are_no_reason_to_doubt():
    X = np.random.default_rng(0).random((12, 10))
    round_trip = [[0, 1, 2], [0, 2, 1], [3, 4, 5]]
    model = RPRNMF(4, random_state=0, max_iter=3000).fit(X, row_triplets=round_trip)
    assert model.converged_
    assert len(model.row_unmet_) == 1


def test_which_triplets_lie_on_a_cycle():
    cycle = np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0], [3, 4, 5]])
    assert in_contradiction(cycle, cycle).tolist() == [True, True, True, False]
    assert in_contradiction(cycle[3:], cycle).tolist() == [False]


def test_a_penalty_with_a_kink_is_not_claimed_to_be_minimised():
    X = np.random.default_rng(1).random((40, 30))
    model = RPRNMF(4, penalty="hinge", row_strength=0.1, random_state=0, max_iter=3000)
    with pytest.warns(ConvergenceWarning, match="kink"):
        model.fit(X, row_triplets=random_triplets(np.random.default_rng(2), 40, 60))
    assert not model.converged_


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("strength", ["auto", 1e-3, 1e3])
def test_models_of_the_program_fold_rows_in_by_the_librarys_own_units(beta_loss, strength):
    X, y = DIGITS[:80] / 16.0, load_digits().target[:80]
    model = RPRNMF(
        6, solver="paper", beta_loss=beta_loss, row_strength=strength, random_state=0, max_iter=30
    )
    model.fit(X[:60], row_triplets=triplets_from_labels(y[:60], 30, random_state=0))
    near = [[60 + new, new, (new + 7) % 60] for new in range(20)]
    plain, placed = model.transform(X[60:]), model.transform(X[60:], row_triplets=near)
    rows = np.concatenate((model.embedding_, placed))
    assert np.isfinite(placed).all()
    from rprnmf.metrics import satisfied_rate

    before = np.concatenate((model.embedding_, plain))
    rate = satisfied_rate(rows, near, model.distance_)
    assert rate == 1.0 > satisfied_rate(before, near, model.distance_)


def test_factors_that_collapse_are_no_success():
    with pytest.warns(ConvergenceWarning, match="The factors are all but zero"):
        model = NMF(10, alpha_W=10.0, l1_ratio=1.0, random_state=0).fit(DIGITS)
    assert not model.converged_


@pytest.mark.filterwarnings("ignore:The factors are all but zero")
def test_new_rows_of_collapsed_factors_are_finite():
    X = np.random.default_rng(0).random((17, 7))
    model = NMF(5, alpha_W=10.0, l1_ratio=1.0, solver="mu", random_state=0, tol=0.0)
    model.set_params(max_iter=400).fit(X)
    assert model.components_.max() == 0.0
    assert np.isfinite(model.transform(X)).all()
