"""Every penalty with every distance."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rprnmf.penalties import DISTANCES, PENALTIES, Graph, Norms
from tests.builders import random_graph, random_triplets

N, K = 8, 3


def triplet_penalty(name, distance, triplets, weight=None, margin="own", sigma=0.7):
    if margin == "own":
        margin = 0.5 if PENALTIES[name].needs_margin else None
    weight = np.ones(len(triplets)) if weight is None else weight
    return PENALTIES[name](triplets, weight, DISTANCES[distance](), sigma, margin)


def numeric_gradient(value, F, step=1e-6):
    gradient = np.empty_like(F)
    for place in np.ndindex(*F.shape):
        up, down = F.copy(), F.copy()
        up[place] += step
        down[place] -= step
        gradient[place] = (value(up) - value(down)) / (2 * step)
    return gradient


def everything():
    """All penalties of the registries, each by a name."""
    rng = np.random.default_rng(0)
    triplets = random_triplets(rng, N, 12)
    weight = rng.random(12) + 0.5
    found = {
        f"{name}-{distance}": triplet_penalty(name, distance, triplets, weight)
        for name in PENALTIES
        for distance in DISTANCES
    }
    found["hinge of the paper"] = triplet_penalty("hinge", "divergence", triplets, margin=None)
    found["graph"] = Graph(sp.csr_array(random_graph(rng, N)))
    found["norms"] = Norms(rng.random(N), rng.random(N))
    return found


@pytest.fixture(params=sorted(everything()))
def penalty(request):
    return everything()[request.param]


@pytest.fixture
def F():
    return np.random.default_rng(7).random((N, K)) + 0.1


def test_split_is_the_gradient_in_two_non_negative_parts(penalty, F):
    parts = penalty.split(F)
    assert (parts.positive >= 0).all()
    assert (parts.negative >= 0).all()
    np.testing.assert_allclose(
        parts.gradient, numeric_gradient(penalty.value, F), rtol=1e-5, atol=1e-6
    )


def test_rows_that_are_not_named_have_no_gradient(penalty, F):
    parts = penalty.split(F)
    others = np.setdiff1d(np.arange(N), penalty.rows)
    assert not parts.positive[others].any()
    assert not parts.negative[others].any()


def test_single_precision(penalty, F):
    parts = penalty.split(F.astype(np.float32))
    assert parts.positive.dtype == np.float32
    np.testing.assert_allclose(parts.gradient, penalty.split(F).gradient, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", PENALTIES)
class TestTripletPenalties:
    def test_two_copies_are_weight_two(self, name, distance, F):
        triplets = random_triplets(np.random.default_rng(1), N, 5)
        twice = np.concatenate((triplets, triplets[:2]))
        heavy = np.array([2.0, 2.0, 1.0, 1.0, 1.0])
        a = triplet_penalty(name, distance, twice)
        b = triplet_penalty(name, distance, triplets, heavy)
        assert a.value(F) == pytest.approx(b.value(F))
        np.testing.assert_allclose(a.split(F).positive, b.split(F).positive)
        np.testing.assert_allclose(a.split(F).negative, b.split(F).negative)

    def test_renaming_the_rows_renames_the_gradient(self, name, distance, F):
        rng = np.random.default_rng(2)
        triplets, order = random_triplets(rng, N, 6), rng.permutation(N)
        place = np.argsort(order)  # row i of F is row place[i] of F[order]
        a = triplet_penalty(name, distance, triplets)
        b = triplet_penalty(name, distance, place[triplets])
        assert a.value(F) == pytest.approx(b.value(F[order]))
        np.testing.assert_allclose(a.split(F).gradient[order], b.split(F[order]).gradient)

    def test_the_unit_of_the_factor_goes_with_sigma(self, name, distance, F):
        triplets = random_triplets(np.random.default_rng(3), N, 6)
        degree = DISTANCES[distance].degree
        a = triplet_penalty(name, distance, triplets, sigma=0.7)
        b = triplet_penalty(name, distance, triplets, sigma=0.7 * 100.0**degree)
        assert a.value(F) == pytest.approx(b.value(100.0 * F))

    def test_a_broken_triplet_costs_more_than_a_kept_one(self, name, distance, F):
        near = np.array([[1.0, 1.0], [1.1, 1.0], [3.0, 3.0]])
        kept = triplet_penalty(name, distance, np.array([[0, 1, 2]]))
        broken = triplet_penalty(name, distance, np.array([[0, 2, 1]]))
        assert kept.value(near) < broken.value(near)
        assert kept.satisfied_rate(near) == 1.0
        assert broken.satisfied_rate(near) == 0.0

    def test_finite_for_any_finite_factor(self, name, distance, F):
        penalty = triplet_penalty(name, distance, random_triplets(np.random.default_rng(4), N, 6))
        for factor in (1e-300, 1e-6, 1e6, 1e9):
            scaled = factor * F
            scaled[0] = 0.0
            parts = penalty.split(scaled)
            assert np.isfinite(penalty.value(scaled))
            assert np.isfinite(parts.positive).all()
            assert np.isfinite(parts.negative).all()

    def test_a_tie_is_not_satisfied(self, name, distance, F):
        penalty = triplet_penalty(name, distance, np.array([[0, 1, 2]]))
        assert penalty.satisfied_rate(np.ones((3, 2))) == 0.0


@pytest.mark.parametrize("name", PENALTIES)
def test_a_penalty_ends_at_its_margin_if_it_says_so(name):
    """Triplets with room to spare are left out of a step by this word alone."""
    F = np.array([[0.0, 0.0], [0.0, 0.0], [2.0, 2.0]]) + 1.0
    penalty = triplet_penalty(name, "euclidean", np.array([[0, 1, 2]]))
    parts = penalty.split(F)
    assert (penalty.value(F) == 0.0) == penalty.ends_at_margin
    assert (parts.positive.any() or parts.negative.any()) != penalty.ends_at_margin


@pytest.mark.parametrize("name", PENALTIES)
class TestPoints:
    """The one function of a penalty, on a grid of distances."""

    near, far = (grid.ravel() for grid in np.meshgrid(*[np.linspace(0.01, 3.01, 31)] * 2))
    far = far + 0.013  # no point on a kink: there one side says one thing, the other another

    def at(self, name, near, far):
        """One row per field of `At`."""
        shape = triplet_penalty(name, "euclidean", np.array([[0, 1, 2]])).shape
        points = [PENALTIES[name].point(a, b, shape) for a, b in zip(near, far, strict=True)]
        return np.array(points).T

    def test_derivatives_are_those_of_the_value(self, name):
        near, far = self.near, self.far
        _, pull, push, near_near, far_far = self.at(name, near, far)
        near_far = -near_near if PENALTIES[name].of_difference else 0.0 * near_near
        assert pull.min() >= 0.0
        assert push.min() >= 0.0
        by_near, by_far = (
            (self.at(name, near + a, far + b) - self.at(name, near - a, far - b)) / 2e-6
            for a, b in ((1e-6, 0.0), (0.0, 1e-6))
        )
        close = {"rtol": 1e-5, "atol": 1e-6}
        if not PENALTIES[name].exact_curvature:
            np.testing.assert_allclose((by_near[0], by_far[0]), (pull, -push), **close)
            assert (near_near >= by_near[1] - 1e-6).all()
            assert (far_far >= -by_far[2] - 1e-4 * far_far.max()).all()
            return
        np.testing.assert_allclose(by_near[:3], (pull, near_near, -near_far), **close)
        np.testing.assert_allclose(by_far[:3], (-push, near_far, -far_far), **close)

    def test_the_curvature_has_no_negative_direction(self, name):
        _, _, _, near_near, far_far = self.at(name, self.near, self.far)
        assert near_near.min() >= 0.0
        assert far_far.min() >= 0.0
        if PENALTIES[name].of_difference:
            np.testing.assert_array_equal(near_near, far_far)

    def test_it_depends_on_the_difference_alone_if_it_says_so(self, name):
        one, other = self.at(name, self.near, self.far), self.at(name, self.near + 1, self.far + 1)
        assert np.allclose(one, other, rtol=1e-9) == PENALTIES[name].of_difference

    def test_its_slope_jumps_unless_it_is_smooth(self, name):
        far = np.linspace(0.0, 3.0, 3001)
        forces = self.at(name, np.full(3001, 1.0), far)[1:3]
        jump = np.abs(np.diff(forces)).max() / max(forces.max(), 1.0)
        assert (jump < 0.1) == PENALTIES[name].smooth


def test_graph_is_the_trace_with_its_laplacian(F):
    S = random_graph(np.random.default_rng(5), N)
    L = np.diag(S.sum(axis=1)) - S
    assert Graph(sp.csr_array(S)).value(F) == pytest.approx(np.trace(F.T @ L @ F))
    assert Graph(sp.csr_array(S + np.eye(N))).value(F) == pytest.approx(np.trace(F.T @ L @ F))
