"""The history of a fit as lines."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn import decomposition
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from rprnmf import NMF, RPRNMF
from rprnmf.plotting import HistoryDisplay, plot_history
from tests.plotting.fits import ESTIMATORS, ROWS, X, fitted, legend


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_lines_are_the_history(name):
    model = fitted(name)
    display = HistoryDisplay.from_estimator(model)
    for key, column in (
        ("objective", "objective"),
        ("loss", "loss"),
        ("row", "row_satisfied_rate"),
        ("column", "column_satisfied_rate"),
    ):
        if key in display.lines_:
            x, y = display.lines_[key].get_data()
            assert np.array_equal(y, model.history_[column])
            assert np.array_equal(x, np.arange(1, model.n_iter_ + 1))
    assert {"row", "column"} <= set(display.lines_) or name != "RPRNMF"
    assert (display.share_ax_ is None) == (name != "RPRNMF")


def test_a_loss_that_is_the_objective_is_drawn_once():
    display = HistoryDisplay.from_estimator(fitted("NMF"))
    assert list(display.lines_) == ["objective"]
    assert legend(display.ax_) == ["objective (the loss alone)"]


def test_shares_have_their_own_axis():
    display = HistoryDisplay.from_estimator(fitted())
    low, high = display.share_ax_.get_ylim()
    assert low <= 0 < 1 <= high
    met = 100 * fitted().history_["row_satisfied_rate"][-1]
    assert f"row comparisons met: {met:.1f} %" in legend(display.share_ax_)


def test_the_legend_covers_no_line():
    model = NMF(3, max_iter=100, tol=0, random_state=0).fit(X)
    display = HistoryDisplay.from_estimator(model)
    display.figure_.canvas.draw()
    box = display.ax_.get_legend().get_window_extent()
    line = display.lines_["objective"]
    assert not any(
        box.contains(*pixel) for pixel in line.get_transform().transform(line.get_xydata())
    )


def test_wide_ranges_are_logarithmic():
    history = np.zeros(3, dtype=fitted().history_.dtype)
    history["objective"] = history["loss"] = [1000.0, 10.0, 1.0]
    assert HistoryDisplay(history).plot().ax_.get_yscale() == "log"
    history["loss"][-1] = 0.0  # has no logarithm
    assert HistoryDisplay(history).plot().ax_.get_yscale() == "linear"
    history["objective"] = history["loss"] = [3.0, 2.0, 1.0]
    assert HistoryDisplay(history).plot().ax_.get_yscale() == "linear"


def test_one_iteration_is_a_point():
    model = RPRNMF(2, max_iter=1, tol=0, random_state=0).fit(X, row_triplets=ROWS[:3])
    display = HistoryDisplay.from_estimator(model)
    assert {line.get_marker() for line in display.lines_.values()} == {"o"}


def test_it_draws_on_the_axes_it_is_given():
    ax = Figure().subplots()
    assert plot_history(fitted(), ax=ax) is ax
    assert ax.get_xlabel() == "iteration"


def test_what_has_no_history():
    with pytest.raises(NotFittedError):
        plot_history(NMF(2))
    with pytest.raises(TypeError, match="NMF keeps no history_"):
        plot_history(decomposition.NMF(2, random_state=0, max_iter=2000).fit(X))
    with pytest.raises(TypeError, match=r"got a Pipeline: pass its last step, pipe\[-1\]"):
        plot_history(make_pipeline(NMF(2, random_state=0, max_iter=5, tol=0)).fit(X))
    with pytest.raises(TypeError, match="a fitted NMF, GNMF, LCNMF or RPRNMF is needed, got list"):
        plot_history([])
