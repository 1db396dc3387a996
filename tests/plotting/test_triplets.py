"""Bars of comparisons, per item."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from rprnmf import RPRNMF
from rprnmf.metrics import unmet
from rprnmf.plotting import TripletsDisplay, plot_triplets
from rprnmf.plotting.style import MET, UNMET
from tests.plotting.fits import COLUMNS, ESTIMATORS, ROW_NAMES, ROWS, M, N, X, fitted, legend


@pytest.mark.parametrize("side", ["row", "column"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_bars_count_comparisons(name, side):
    model = fitted(name)
    triplets, n = (ROWS, N) if side == "row" else (COLUMNS, M)
    display = TripletsDisplay.from_estimator(model, triplets, side=side, n=100)
    left = unmet(model.embedding_ if side == "row" else model.components_.T, triplets)
    bad = np.bincount(left.ravel(), minlength=n)
    every = np.bincount(triplets.ravel(), minlength=n)
    names = (model.row_names_ if side == "row" else model.column_names_).tolist()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert sorted(labels) == sorted(names)
    for place, label in enumerate(labels):
        item = names.index(label)
        assert display.bars_["unmet"][place].get_width() == bad[item]
        assert display.bars_["met"][place].get_width() == every[item] - bad[item]
        assert display.bars_["met"][place].get_x() == bad[item]
    order = [bad[names.index(label)] for label in labels]
    assert order == sorted(order, reverse=True)
    assert legend(display.ax_) == [f"unmet: {len(left)}", f"met: {len(triplets) - len(left)}"]
    assert to_hex(display.bars_["met"][0].get_facecolor()) == MET
    assert to_hex(display.bars_["unmet"][0].get_facecolor()) == UNMET


def test_a_few_of_many():
    display = TripletsDisplay.from_estimator(fitted(), n=3)
    assert len(display.bars_["met"]) == 3
    assert display.ax_.get_xlabel().endswith(f", 3 of {N} rows")
    low, high = display.ax_.get_ylim()
    assert low > high  # the worst at the top
    with pytest.raises(ValueError, match="n must be a whole number from 1, got 0"):
        plot_triplets(fitted(), n=0)


def test_items_without_comparisons_have_no_bar():
    display = TripletsDisplay.from_estimator(fitted(), [[0, 1, 2]])
    labels = {label.get_text() for label in display.ax_.get_yticklabels()}
    assert labels == set(ROW_NAMES[:3])


def test_all_met():
    model = RPRNMF(4, max_iter=300, random_state=0).fit(X, row_triplets=[[0, 1, 2]])
    display = TripletsDisplay.from_estimator(model)
    assert legend(display.ax_) == ["unmet: 0", "met: 1"]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["0", "1", "2"]


def test_no_triplets_is_said():
    ax = plot_triplets(fitted("NMF"))
    assert [text.get_text() for text in ax.texts] == ["no comparisons of rows"]
    model = RPRNMF(3, max_iter=20, tol=0).fit(X, column_triplets=COLUMNS)
    (text,) = plot_triplets(model).texts
    assert text.get_text() == "no comparisons of rows; there are 30 of columns: side='column'"


def test_it_draws_on_the_axes_it_is_given():
    ax = Figure().subplots()
    assert plot_triplets(fitted(), ax=ax, names=["$5 and $6"] * N) is ax
    ax.figure.canvas.draw()
    assert ax.get_yticklabels()[0].get_text() == "$5 and $6"
