"""The map shows every item, and which comparisons the factor meets."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.metrics import pairwise_distances

from rprnmf import LCNMF, NMF, RPRNMF
from rprnmf.metrics import unmet
from rprnmf.plotting import MapDisplay, plot_map
from rprnmf.plotting.lines import thinned
from rprnmf.plotting.style import MET, UNMET
from tests.plotting.fits import COLUMNS, ESTIMATORS, ROW_NAMES, ROWS, M, N, X, fitted, legend


def boxes(display):
    """Where names and thumbnails are, in pixels, after a draw."""
    display.figure_.figure.canvas.draw()
    artists = [*display.texts_, *display.images_]
    # of a name the text alone, without its leader
    return [
        artist.get_bbox_patch().get_window_extent()
        if hasattr(artist, "get_bbox_patch")
        else artist.get_window_extent()
        for artist in artists
    ]


def overlaps(found):
    pairs = [(a, b) for place, a in enumerate(found) for b in found[:place]]
    both = [
        (min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)) for a, b in pairs
    ]
    return [pair for pair in both if min(pair) > 2.0]


@pytest.mark.parametrize("side", ["row", "column"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_all_estimators_and_both_sides(name, side):
    model = fitted(name)
    triplets, n = (ROWS, N) if side == "row" else (COLUMNS, M)
    display = MapDisplay.from_estimator(model, triplets, side=side)
    factor = model.embedding_ if side == "row" else model.components_.T
    left = unmet(factor, triplets)
    assert len(display.points_.get_offsets()) == n
    assert (~display.met).sum() == len(left)
    for kind, color in (("met", MET), ("unmet", UNMET)):
        near, far = display.lines_[kind]
        count = int(np.sum(display.met == (kind == "met")))
        assert len(near.get_segments()) == len(far.get_segments()) == count
        assert to_rgb(near.get_color()[0][:3]) == to_rgb(color)
        assert f"{kind}: {count}" in legend(display.ax_)
    named = {text.get_text() for text in display.texts_}
    known = model.row_names_ if side == "row" else model.column_names_
    assert named <= set(known.tolist())
    assert len(named) >= n - 2
    assert overlaps(boxes(display)) == []


def test_lines_go_from_q_to_r_and_to_s():
    model = fitted()
    display = MapDisplay.from_estimator(model, [[4, 7, 1]])
    (kind,) = [kind for kind, pair in display.lines_.items() if len(pair[0].get_segments())]
    near, far = (lines.get_segments()[0] for lines in display.lines_[kind])
    assert near == pytest.approx(display.points[[4, 7]])
    assert far == pytest.approx(display.points[[4, 1]])


def test_the_triplets_of_the_fit_are_drawn_unless_others_are_given():
    model = fitted()
    assert np.array_equal(MapDisplay.from_estimator(model).triplets, ROWS)
    assert MapDisplay.from_estimator(model, None).lines_ == {}
    named = [["item 3", "item 4", "item 5"]]
    assert MapDisplay.from_estimator(model, named).triplets.tolist() == [[3, 4, 5]]
    with pytest.raises(ValueError, match="triplets must be 'fit', None or have one row"):
        plot_map(model, "all")


def test_a_model_without_triplets_has_no_lines_and_no_legend():
    ax = plot_map(fitted("NMF"))
    assert ax.get_legend() is None
    assert [type(part).__name__ for part in ax.collections] == ["PathCollection"]


def test_it_draws_on_the_axes_it_is_given():
    left, right = Figure(figsize=(8, 4)).subplots(1, 2)
    assert plot_map(fitted(), ax=right) is right
    assert not left.has_data()
    part = Figure(figsize=(8, 4)).subfigures(1, 2)[1]
    ax = part.subplots()
    assert plot_map(fitted(), ax=ax) is ax
    with pytest.raises(TypeError, match="ax must be matplotlib Axes or None, got Figure"):
        plot_map(fitted(), ax=Figure())


def test_one_unit_on_both_axes_and_everything_inside():
    for size in ((6, 3), (3, 6)):
        display = MapDisplay.from_estimator(fitted(), ax=Figure(figsize=size).subplots())
        display.figure_.draw_without_rendering()
        ax = display.ax_
        box = ax.get_window_extent()
        across = np.ptp(ax.get_xlim()) / box.width
        up = np.ptp(ax.get_ylim()) / box.height
        assert across == pytest.approx(up, rel=0.01)
        below = ax.get_legend().get_window_extent().y1
        pixels = ax.transData.transform(display.points)
        assert (pixels[:, 1] > below).all()  # the legend covers no item
        assert all(box.contains(*pixel) for pixel in pixels)


def test_the_plane_is_that_of_the_principal_components():
    model = fitted()
    display = MapDisplay.from_estimator(model)
    slow = PCA(2).fit(model.embedding_)
    unit = model.embedding_.max()
    assert np.abs(display.points * unit) == pytest.approx(
        np.abs(slow.transform(model.embedding_)), abs=1e-9
    )
    share = 100 * slow.explained_variance_ratio_[0]
    assert display.ax_.get_xlabel() == f"PC 1 ({share:.0f} %)"


@pytest.mark.parametrize("distance", ["euclidean", "divergence"])
def test_scaling_keeps_the_distances_better(distance):
    model = fitted("RPRNMF", K=4, distance=distance)
    W = model.embedding_ / model.embedding_.max()
    true = pairwise_distances(W)
    if distance == "divergence":
        logs = np.log(np.maximum(W, 2.2e-16 * W.mean()))
        true = np.sqrt(((W[:, None] - W) * (logs[:, None] - logs)).sum(axis=2))

    def stress(method):
        points = MapDisplay.from_estimator(model, method=method).points
        return np.sum((pairwise_distances(points) - true) ** 2)

    assert stress("mds") < stress("pca")


def test_another_method():
    svd = TruncatedSVD(2, random_state=0)
    assert MapDisplay.from_estimator(fitted(), method=svd).points.shape == (N, 2)
    with pytest.raises(ValueError, match=r"TruncatedSVD gives the shape \(14, 1\)"):
        plot_map(fitted(), method=TruncatedSVD(1))
    with pytest.raises(ValueError, match="method must be 'pca', 'mds' or an estimator"):
        plot_map(fitted(), method="tsne")


@pytest.mark.parametrize("method", ["pca", "mds"])
@pytest.mark.parametrize("shape", [(1, 4), (2, 4), (4, 1), (3, 2), (6, 5)])
@pytest.mark.parametrize("K", [1, 2])
def test_few_items_and_few_components(shape, K, method):
    data = np.random.default_rng(0).random(shape) + 0.1
    model = NMF(K, init="random", max_iter=20, tol=0, random_state=0).fit(data)
    for side, n in zip(("row", "column"), shape, strict=True):
        display = MapDisplay.from_estimator(model, side=side, method=method)
        assert np.isfinite(display.points).all()
        assert len(display.texts_) == n
        assert overlaps(boxes(display)) == []


def test_items_at_one_place_keep_their_names_apart():
    model = LCNMF(2, max_iter=20, tol=0, random_state=0).fit(X, np.zeros(N, int))
    display = MapDisplay.from_estimator(model)
    assert np.ptp(display.points, axis=0) == pytest.approx([0, 0])
    assert len(display.texts_) == N
    assert overlaps(boxes(display)) == []


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_the_unit_of_the_data_does_not_matter(size):
    plain, other = (NMF(3, max_iter=20, tol=0, random_state=0).fit(X * k) for k in (1.0, size))
    points = [MapDisplay.from_estimator(model, method="mds").points for model in (plain, other)]
    assert points[1] == pytest.approx(points[0], abs=1e-5)


def test_single_precision_and_missing_entries():
    model = fitted(missing="nan")
    assert len(MapDisplay.from_estimator(model).met) == len(ROWS)
    single = RPRNMF(3, max_iter=20, tol=0, random_state=0)
    single.fit(X.astype(np.float32), row_triplets=ROWS[:5])
    assert MapDisplay.from_estimator(single, method="mds").points.dtype == np.float64


def test_names_may_hold_anything():
    names = ["$5 and $6", "a\nb", "", "$x", "_hidden", "%", "\\frac{", "x" * 200, 3, ("a", 1)]
    names += list("abcd")
    display = MapDisplay.from_estimator(fitted(named=False), names=names)
    display.figure_.canvas.draw()
    written = {text.get_text() for text in display.texts_}
    assert {"$5 and $6", "a b", "\\frac{", "3", "('a', 1)"} <= written
    assert max(map(len, written)) == 24


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["a"], ValueError, "one name for each of 14 rows, got 1"),
        ("names", TypeError, "names must be a list with one name for each row, got 'names'"),
    ],
)
def test_wrong_names(names, error, message):
    with pytest.raises(error, match=message):
        plot_map(fitted(), names=names)


def test_items_of_unmet_comparisons_are_named_first():
    display = MapDisplay.from_estimator(fitted(), n_names=4)
    gathered = np.bincount(display.triplets[~display.met].ravel(), minlength=N)
    most = {ROW_NAMES[k] for k in np.argsort(-gathered, kind="stable")[:2]}
    assert gathered.max() > 0
    assert most <= {text.get_text() for text in display.texts_}
    assert len(display.texts_) <= 4
    assert MapDisplay.from_estimator(fitted(), n_names=0).texts_ == []
    for bad in (-1, 2.5, True):
        with pytest.raises(ValueError, match="n_names must be a whole number from 0"):
            plot_map(fitted(), n_names=bad)


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(0)
    data = rng.gamma(1.0, 1.0, (3000, 4)) @ rng.random((4, 20))
    return NMF(4, max_iter=5, tol=0, random_state=0).fit(data)


def test_thousands_of_items_and_comparisons_are_thinned(large):
    rng = np.random.default_rng(1)
    asked = np.argsort(rng.random((20000, 8)), axis=1)[:, :3] + 8 * rng.integers(
        370, size=(20000, 1)
    )
    display = MapDisplay.from_estimator(large, asked, names=[f"item {k}" for k in range(3000)])
    drawn = {kind: len(pair[0].get_segments()) for kind, pair in display.lines_.items()}
    counts = {"met": int(display.met.sum()), "unmet": int((~display.met).sum())}
    assert sum(drawn.values()) == 100
    assert drawn["unmet"] >= 50
    assert legend(display.ax_)[:2] == [f"{k}: {counts[k]} ({drawn[k]} drawn)" for k in counts]
    assert 10 <= len(display.texts_) <= 40
    assert overlaps(boxes(display)) == []
    assert MapDisplay.from_estimator(large).texts_ == []  # thousands of numbers say nothing


@pytest.mark.parametrize(
    ("n_met", "n_unmet", "n", "expected"),
    [
        (5, 3, 100, (5, 3)),
        (1000, 1000, 100, (50, 50)),
        (1000, 2, 100, (98, 2)),
        (2, 1000, 100, (1, 99)),
        (0, 1000, 100, (0, 100)),
        (1000, 0, 100, (100, 0)),
        (5, 5, 0, (0, 0)),
        (0, 0, 100, (0, 0)),
    ],
)
def test_which_comparisons_are_drawn(n_met, n_unmet, n, expected):
    met = np.arange(n_met + n_unmet) < n_met
    drawn = thinned(met, n)
    assert (len(drawn["met"]), len(drawn["unmet"])) == expected
    assert met[drawn["met"]].all()
    assert not met[drawn["unmet"]].any()
    for places in drawn.values():
        assert len(set(places.tolist())) == len(places)


@pytest.mark.parametrize("tail", [(4, 6), (6, 4, 3), (5, 5, 4)])
def test_thumbnails(tail):
    images = np.random.default_rng(0).random((N, *tail))
    display = MapDisplay.from_estimator(fitted(), images=images)
    assert 3 <= len(display.images_) <= N
    assert display.texts_ == []
    assert overlaps(boxes(display)) == []
    box = display.images_[0].get_window_extent()
    assert box.width / box.height == pytest.approx(tail[1] / tail[0], rel=0.1)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("tail", [(4, 4), (4, 4, 3)])
def test_thumbnails_of_any_numbers(tail, dtype, caplog):
    images = (255 * np.random.default_rng(0).random((N, *tail))).astype(dtype)
    if images.dtype.kind == "f":
        images[0] = np.nan  # as rows of incomplete data are
        images[1, 0] = np.nan
    display = MapDisplay.from_estimator(fitted(), images=images)
    display.figure_.canvas.draw()
    assert len(display.images_) >= 3
    assert caplog.text == ""  # matplotlib complains of colours out of range there


def test_thumbnails_of_thousands(large):
    display = MapDisplay.from_estimator(large, images=np.ones((3000, 8, 8), np.uint8))
    assert 30 <= len(display.images_) <= 400
    assert overlaps(boxes(display)) == []


@pytest.mark.parametrize("shape", [(N, 4), (N - 1, 4, 4), (N, 4, 4, 2), (N, 0, 4), ()])
def test_wrong_images(shape):
    with pytest.raises(ValueError, match=r"images must have the shape \(14, height, width\)"):
        plot_map(fitted(), images=np.zeros(shape))


def test_points_may_have_colours():
    classes = np.arange(N) % 3
    style = {"c": classes, "cmap": "tab10", "s": 9}
    display = MapDisplay.from_estimator(fitted(), scatter_kwargs=style)
    assert np.array_equal(display.points_.get_array(), classes)
    assert display.points_.get_sizes() == [9]


def test_a_display_can_be_drawn_again():
    display = MapDisplay.from_estimator(fitted())
    first = display.ax_
    ax = Figure().subplots()
    assert display.plot(ax).ax_ is ax
    assert ax is not first
    assert legend(ax) == legend(first)
