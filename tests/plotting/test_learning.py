"""The learning curve, and whether chances can be relied on."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from rprnmf import NMF, RPRNMF
from rprnmf.model_selection import TripletLearningCurve, triplet_learning_curve
from rprnmf.plotting import LearningDisplay, ReliabilityDisplay, plot_learning, plot_reliability
from rprnmf.plotting.reliability import wilson
from rprnmf.triplets import triplets_from_features
from tests.plotting.fits import COLUMNS, X, fitted, legend

SIZES = np.array([10, 40, 160])
RESAMPLED = np.random.default_rng(0).normal([0.6, 0.7, 0.75], 0.02, (100, 3))
CURVE = TripletLearningCurve(
    SIZES, np.array([0.6, 0.7, 0.75]), *np.percentile(RESAMPLED, (2.5, 97.5), axis=0), RESAMPLED
)


def test_the_line_is_the_curve():
    ax = Figure().subplots()
    display = LearningDisplay.from_curve(CURVE, ax=ax)
    assert display.ax_ is ax
    x, y = display.line_.get_data()
    assert np.array_equal(x, SIZES)
    assert np.array_equal(y, CURVE.accuracy)
    corners = display.interval_.get_paths()[0].vertices
    assert corners[:, 1].min() == pytest.approx(CURVE.low.min())
    assert corners[:, 1].max() == pytest.approx(CURVE.high.max())
    assert [label.get_text() for label in ax.get_xticklabels()] == ["10", "40", "160", "320"]
    assert legend(ax) == ["predicted, with 95 % interval", "fitted rule, continued", "chance"]


def test_what_more_would_buy():
    display = LearningDisplay(CURVE).plot(ahead=3.0)
    x, y = display.expected_.get_data()
    assert x[-1] == pytest.approx(480)
    assert y[-1] == pytest.approx(CURVE.predict(480)[0])
    assert LearningDisplay(CURVE).plot(ahead=1.0).expected_ is None


def test_low_shares_are_seen():
    low = TripletLearningCurve(SIZES, *(np.full(3, k) for k in (0.2, 0.1, 0.3)), RESAMPLED - 0.4)
    assert plot_learning(low).get_ylim()[0] < 0.1


@pytest.mark.parametrize("side", ["row", "column"])
def test_the_curve_is_computed(side):
    data = np.random.default_rng(0).random((20, 20))
    known = triplets_from_features(data[:, :2], 60, random_state=0)
    model = RPRNMF(3, max_iter=20, tol=0, random_state=0)
    settings = {"n_splits": 2, "train_sizes": [0.3, 1.0], "random_state": 0, "verbose": 0}
    ax = plot_learning(model, data, known, side=side, **settings)
    curve = triplet_learning_curve(model, data, known, side=side, **settings)
    assert np.array_equal(ax.lines[0].get_ydata(), curve.accuracy)


def test_what_cannot_be_drawn():
    with pytest.raises(TypeError, match="or an estimator with X and triplets; got RPRNMF, X=None"):
        plot_learning(RPRNMF(3))
    with pytest.raises(TypeError, match="a curve is drawn as it is"):
        plot_learning(CURVE, X)
    with pytest.raises(TypeError, match="ax must be matplotlib Axes or None, got str"):
        plot_learning(RPRNMF(3), X, [[0, 1, 2]], ax="here")  # said before 25 fits


def test_chances_that_are_right_lie_on_the_diagonal():
    rng = np.random.default_rng(0)
    chance = rng.random(40000)
    held = rng.random(40000) < chance
    answered = np.where(held, chance, 1.0 - chance)  # an answer is a triplet that holds
    display = ReliabilityDisplay.from_chances(answered, n_bins=10)
    assert display.share == pytest.approx(display.chance, abs=0.025)
    assert (display.low < display.share).all()
    assert (display.share < display.high).all()
    sure = ReliabilityDisplay.from_chances(np.where(held, 0.99, 0.01), n_bins=4)
    assert (sure.high < sure.chance).all()  # too sure


def test_the_curve_of_a_model():
    model = fitted()
    ax = Figure().subplots()
    display = ReliabilityDisplay.from_estimator(model, COLUMNS, side="column", n_bins=3, ax=ax)
    chance = model.predict_triplets(COLUMNS, "column")
    assert display.ax_ is ax
    assert display.counts.tolist() == [10, 10, 10]
    assert display.share.mean() == pytest.approx(np.mean(chance > 0.5))
    assert legend(ax)[1] == "30 comparisons, with 95 % intervals"
    low, high = ax.get_ylim()
    assert low <= display.low.min()
    assert high >= display.high.max()


@pytest.mark.parametrize("n", [1, 2, 7])
def test_few_answers(n):
    display = ReliabilityDisplay.from_chances(np.full(n, 0.9))
    assert display.counts.sum() == n
    assert display.counts.min() == 1
    display.figure_.canvas.draw()


def test_no_chances():
    with pytest.raises(TypeError, match="which RPRNMF predicts; got NMF"):
        plot_reliability(NMF(2), [[0, 1, 2]])
    with pytest.raises(ValueError, match="needs at least one triplet"):
        plot_reliability(fitted(), [])
    with pytest.raises(ValueError, match="n_bins must be a whole number from 1, got 0"):
        plot_reliability(fitted(), COLUMNS, n_bins=0)


def test_the_interval_is_that_of_wilson():
    low, high = wilson(np.array([0.5, 1.0]), np.array([10, 10]))
    assert low == pytest.approx([0.2366, 0.7225], abs=1e-4)
    assert high == pytest.approx([0.7634, 1.0], abs=1e-4)
