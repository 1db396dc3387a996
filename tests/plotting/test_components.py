"""Components as images, or as bars of what is strongest in them."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn import decomposition

from rprnmf import NMF, top_features, top_items
from rprnmf.plotting import ComponentsDisplay, plot_components
from tests.plotting.fits import ESTIMATORS, X, fitted


@pytest.mark.parametrize("side", ["row", "column"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_bars_are_the_tops(name, side):
    model = fitted(name)
    display = ComponentsDisplay.from_estimator(model, n=4, side=side)
    tops = (top_items if side == "row" else top_features)(model, 4)
    assert len(display.bars_) == 3
    written = [text.get_text() for text in display.ax_.texts]
    expected = []
    for k, (bars, top) in enumerate(zip(display.bars_, tops, strict=True)):
        lengths = [bar.get_width() for bar in bars]
        assert lengths == pytest.approx([number / top[0][1] for _, number in top])
        expected += [*(name for name, _ in top), f"component {k}"]
    assert written == expected


def test_bars_of_a_component_lie_below_each_other_and_beside_those_of_others():
    display = ComponentsDisplay.from_estimator(fitted(K=6), n=3)
    spots = {(bar.get_x(), bar.get_y()) for bars in display.bars_ for bar in bars}
    assert len(spots) == sum(map(len, display.bars_))
    low, high = sorted(display.ax_.get_ylim())
    for bars in display.bars_:
        for bar in bars:
            assert low <= bar.get_y() < bar.get_y() + bar.get_height() <= high
            assert bar.get_x() + bar.get_width() <= display.ax_.get_xlim()[1] + 1e-9


@pytest.mark.parametrize("shape", [(3, 3), (1, 9), (1, 3, 3)])
def test_images_are_the_components(shape):
    model = fitted()
    display = ComponentsDisplay.from_estimator(model, image_shape=shape)
    assert [title.get_text() for title in display.titles_] == ["0", "1", "2"]
    for image, component in zip(display.images_, model.components_, strict=True):
        shown = np.asarray(image.get_array())
        assert shown == pytest.approx((component / component.max()).reshape(shape))
    places = {tuple(image.get_extent()) for image in display.images_}
    assert len(places) == 3
    display.figure_.canvas.draw()


def test_images_of_columns_that_are_items():
    display = ComponentsDisplay.from_estimator(fitted(), image_shape=(7, 2), side="row")
    assert display.images_[0].get_array().shape == (7, 2)


@pytest.mark.parametrize("shape", [(3, 4), 9, (9,), (3, 3, 1), (-3, -3), (3.0, 3.0), (1, 1, 9)])
def test_a_wrong_shape(shape):
    with pytest.raises(ValueError, match=r"image_shape must be .* with 9 numbers in all, one for"):
        plot_components(fitted(), image_shape=shape)


def test_it_draws_on_the_axes_it_is_given():
    left, right = Figure().subplots(1, 2)
    assert plot_components(fitted(), ax=right) is right
    assert plot_components(fitted(), ax=left, image_shape=(3, 3)) is left
    assert (len(left.images), len(right.images)) == (3, 0)


def test_many_components_are_the_strongest():
    rng = np.random.default_rng(0)
    W, H = rng.random((60, 50)), rng.random((50, 60))
    W[:, 7] = 1e-9
    model = NMF(50, init="custom", max_iter=1, tol=0)
    model.fit(X=W @ H, W=W, H=H)
    share = model.embedding_.sum(axis=0) * model.components_.sum(axis=1)
    display = ComponentsDisplay.from_estimator(model, image_shape=(6, 10))
    assert display.components == sorted(np.argsort(-share)[:36].tolist())
    assert display.ax_.get_xlabel() == "36 of 50 components"
    display = ComponentsDisplay.from_estimator(model, image_shape=(6, 10), components=[49, 3])
    assert [title.get_text() for title in display.titles_] == ["49", "3"]


@pytest.mark.parametrize(
    ("components", "error"),
    [([3], ValueError), ([-1], ValueError), ([0.5], TypeError), ([], TypeError), ("a", TypeError)],
)
def test_wrong_components(components, error):
    with pytest.raises(error, match="components must be"):
        plot_components(fitted(), components=components)


def test_one_component_and_dead_ones():
    assert len(ComponentsDisplay.from_estimator(fitted(K=1)).bars_[0]) == 8
    model = NMF(2, init="custom", max_iter=1, tol=0)
    H = np.vstack((np.ones(9), np.zeros(9)))
    model.fit(np.ones((4, 9)), W=np.ones((4, 2)), H=H)
    model.components_[1] = 0.0
    assert [len(bars) for bars in ComponentsDisplay.from_estimator(model).bars_] == [8, 0]
    display = ComponentsDisplay.from_estimator(model, image_shape=(3, 3))
    assert not np.asarray(display.images_[1].get_array()).any()
    model.components_[0] = 0.0
    assert [len(bars) for bars in ComponentsDisplay.from_estimator(model).bars_] == [0, 0]


def test_names_are_text_and_stay_in_their_panel():
    names = ["$a$ and $", *(f"{'very ' * 9}long {k}" for k in range(8))]
    display = ComponentsDisplay.from_estimator(fitted(), names=names, ax=Figure((3, 2)).subplots())
    display.figure_.canvas.draw()
    texts = [text for text in display.ax_.texts if text not in display.titles_]
    for text in texts:
        place = round(text.get_position()[0] / 1.12)
        panel = text.get_clip_box().transformed(display.ax_.transData.inverted())
        assert text.get_clip_on()
        assert panel.x0 == pytest.approx(1.12 * place)
        assert panel.x1 < 1.12 * (place + 1)
    assert "$a$ and $" in {text.get_text() for text in texts}


def test_the_model_may_be_of_scikit_learn():
    model = decomposition.NMF(2, random_state=0, max_iter=2000).fit(X)
    assert len(ComponentsDisplay.from_estimator(model).bars_) == 2
    with pytest.raises(TypeError, match="NMF keeps no embedding_, so there are no rows to show"):
        plot_components(model, side="row")
