"""A map of the items, with the comparisons that hold and those that do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.checks import check_count
from rprnmf.fitted import fitted_side
from rprnmf.plotting.images import check_images
from rprnmf.plotting.lines import Z_POINTS, draw_comparisons
from rprnmf.plotting.placing import place_images, place_names, room_of, spread_out
from rprnmf.plotting.positions import plane
from rprnmf.plotting.style import GREY, axes_or_new, bare

# Items without names are numbered on the map if there are no more than this.
NUMBERED = 50
MARGIN = 0.1  # beside the items, as a fraction of what they take


class MapDisplay:
    """Items in the plane, alike ones close to each other.

    It is best made by `from_estimator`, and drawn by `plot`.

    Parameters
    ----------
    points : ndarray of shape (n_items, 2)
    triplets : ndarray of shape (n_triplets, 3), default=None
        Comparisons (q, r, s), by position.
    met : ndarray of bool of shape (n_triplets,), default=None
        Whether the factor meets each.
    names : sequence of length n_items, default=None
    images : ndarray of shape (n_items, height, width) or (n_items, height, width, 3), default=None
    axis_labels : pair of str, default=("", "")

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    points_ : PathCollection
        The items.
    lines_ : dict of str to pair of LineCollection
        "met" and "unmet": the lines q-r and the lines q-s.
    texts_ : list of Annotation
        The names that found a place.
    images_ : list of AnnotationBbox
        The thumbnails that found a place.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import RPRNMF
    >>> from rprnmf.plotting import MapDisplay
    >>> X = np.random.default_rng(0).random((6, 5))
    >>> model = RPRNMF(3, max_iter=500, random_state=0).fit(X, row_triplets=[[0, 1, 2]])
    >>> display = MapDisplay.from_estimator(model)
    >>> len(display.lines_["met"][0].get_segments()), len(display.texts_)
    (1, 6)
    """

    def __init__(
        self,
        points: Any,
        *,
        triplets: Any = None,
        met: Any = None,
        names: Any = None,
        images: Any = None,
        axis_labels: Any = ("", ""),
    ):
        self.points = np.asarray(points, dtype=np.float64)
        self.triplets = np.zeros((0, 3), np.int64) if triplets is None else np.asarray(triplets)
        self.met = np.ones(len(self.triplets), bool) if met is None else np.asarray(met, bool)
        self.names = names
        self.images = images
        self.axis_labels = axis_labels

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        triplets: Any = "fit",
        *,
        side: str = "row",
        method: Any = "pca",
        names: Any = None,
        images: Any = None,
        ax: Any = None,
        **settings: Any,
    ) -> MapDisplay:
        """Make the map of a fitted model, and draw it.

        Parameters
        ----------
        model : NMF, GNMF, LCNMF or RPRNMF
            Fitted.
        triplets : "fit", None, Triplets or array-like of shape (n_triplets, 3), default="fit"
            Comparisons to draw: those of the fit, none, or others between the same items.
        side : {"row", "column"}, default="row"
            Rows of W, or columns of H.
        method : {"pca", "mds"} or estimator, default="pca"
            How the plane is found. "pca": principal components. "mds": multidimensional scaling
            of the distance that was fitted, slower with thousands of items. An estimator of
            scikit-learn, such as ``TSNE()``, needs ``fit_transform`` and gives two columns.
        names : sequence of length n_items, default=None
            None: those of the model; items without names are numbered if they are 50 or fewer.
        images : array-like of shape (n_items, height, width) or (n_items, height, width, 3), \
default=None
            A picture of every item, drawn as a thumbnail in place of its name.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **settings : dict
            Go to `plot`.

        Returns
        -------
        display : MapDisplay
        """
        items = fitted_side(model, side, names)
        known, met = items.comparisons(triplets)
        if images is not None:
            images = check_images(images, len(items.factor))
        labels = None
        if items.names is not None or len(items.factor) <= NUMBERED:
            labels = items.labels()
        points, axis_labels = plane(items.factor, method, items.distance)
        display = cls(
            points,
            triplets=known.items,
            met=met,
            names=labels,
            images=images,
            axis_labels=axis_labels,
        )
        return display.plot(ax, **settings)

    def plot(
        self,
        ax: Any = None,
        *,
        n_names: int = 40,
        n_lines: int = 100,
        scatter_kwargs: dict[str, Any] | None = None,
    ) -> MapDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        n_names : int, default=40
            At most so many names. Items of unmet comparisons come first, then items far from each
            other; a name that would cover another is left out.
        n_lines : int, default=100
            At most so many comparisons, half of them unmet ones if there are that many. The
            legend counts all.
        scatter_kwargs : dict, default=None
            For ``Axes.scatter``, e.g. ``{"c": y, "cmap": "tab10"}`` to colour the points.

        Returns
        -------
        self : MapDisplay
        """
        check_count(n_names, "n_names", least=0)
        check_count(n_lines, "n_lines", least=0)
        self.ax_ = axes_or_new(ax, (6.4, self._height()))
        self.figure_ = self.ax_.figure
        n = len(self.points)
        style: dict[str, Any] = {"s": float(np.clip(1500 / max(n, 1), 5, 30)), "color": GREY}
        given = scatter_kwargs or {}
        if given.keys() & {"c", "color", "facecolors", "facecolor"}:
            del style["color"]
        style |= {"linewidths": 0, "zorder": Z_POINTS, "rasterized": n > 1000} | given
        self.points_ = self.ax_.scatter(*self.points.T, **style)
        bare(self.ax_)
        self.ax_.spines[:].set(visible=True, color="#c9ced6")
        self.ax_.set(xlabel=self.axis_labels[0], ylabel=self.axis_labels[1])
        self.lines_ = draw_comparisons(self.ax_, self.points, self.triplets, self.met, n_lines)
        self._frame()
        drawn = [part.get_segments() for pair in self.lines_.values() for part in pair]
        lines = np.array([ends for part in drawn for ends in part]).reshape(-1, 2, 2)
        room = room_of(self.ax_, self.points, lines)
        first = self._troubled()[: max(n_names // 2, 1)]
        self.texts_, self.images_ = [], []
        if self.images is not None:
            order = spread_out(self.points, min(n, 400), first)
            self.images_ = place_images(self.ax_, room, order, self.images, self.points)
        elif self.names is not None:
            order = spread_out(self.points, n_names, first)
            self.texts_ = place_names(self.ax_, room, order, self.names, self.points)
        return self

    def _frame(self) -> None:
        """Limits with one unit on both axes, and room for the legend below the items."""
        self.figure_.figure.draw_without_rendering()  # lays out the figure: pixels are final
        size = np.array(self.ax_.get_window_extent().size)
        legend = self.ax_.get_legend()
        below = 0.0 if legend is None else min(legend.get_window_extent().height, 0.5 * size[1])
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        apart = (1 + 2 * MARGIN) * (high - low)
        unit = float(np.max(apart / (size[0], size[1] - below))) or 1.0  # of the data, per pixel
        start = 0.5 * (low + high) - 0.5 * unit * np.array([size[0], size[1] + below])
        end = start + unit * size
        self.ax_.set_xlim(start[0], end[0], auto=True)  # they may follow a later change of size
        self.ax_.set_ylim(start[1], end[1], auto=True)
        self.ax_.set_aspect("equal", adjustable="datalim")

    def _height(self) -> float:
        """Of a new figure, in inches, so that a flat cloud of points leaves no empty space."""
        width, height = np.ptp(self.points, axis=0) if len(self.points) else (1.0, 1.0)
        return float(np.clip(6.4 * height / width if width else 6.4, 2.8, 5.6)) + 0.6

    def _troubled(self) -> list[int]:
        """The items of unmet comparisons, those with most of them first."""
        counts = np.bincount(self.triplets[~self.met].ravel(), minlength=len(self.points))
        order = np.argsort(-counts, kind="stable")
        return order[counts[order] > 0].tolist()


def plot_map(
    model: Any,
    triplets: Any = "fit",
    *,
    side: str = "row",
    method: Any = "pca",
    names: Any = None,
    images: Any = None,
    ax: Any = None,
    **settings: Any,
) -> Any:
    """Draw the items of a fitted model in the plane, and the comparisons between them.

    Colours tell which comparisons the factor meets, with all of its components. The plane shows
    two directions only, so that a line may look longer than another and not be.

    Parameters
    ----------
    model : NMF, GNMF, LCNMF or RPRNMF
        Fitted.
    triplets : "fit", None, Triplets or array-like of shape (n_triplets, 3), default="fit"
        Comparisons to draw: those of the fit, none, or others between the same items.
    side : {"row", "column"}, default="row"
        Rows of W, or columns of H.
    method : {"pca", "mds"} or estimator, default="pca"
        How the plane is found. "pca": principal components. "mds": multidimensional scaling of
        the distance that was fitted, slower with thousands of items. An estimator of
        scikit-learn, such as ``TSNE()``, needs ``fit_transform`` and gives two columns.
    names : sequence of length n_items, default=None
        None: those of the model; items without names are numbered if they are 50 or fewer.
    images : array-like of shape (n_items, height, width) or (n_items, height, width, 3), \
default=None
        A picture of every item, drawn as a thumbnail in place of its name.
    ax : matplotlib Axes, default=None
        Where to draw; None: a new figure.
    **settings : dict
        ``n_names``, ``n_lines`` and ``scatter_kwargs`` of `MapDisplay.plot`.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import RPRNMF
    >>> from rprnmf.plotting import plot_map
    >>> X = np.random.default_rng(0).random((6, 5))
    >>> model = RPRNMF(3, max_iter=500, random_state=0).fit(X, row_triplets=[[0, 1, 2]])
    >>> ax = plot_map(model)
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['met: 1', 'unmet: 0']
    """
    return MapDisplay.from_estimator(
        model,
        triplets,
        side=side,
        method=method,
        names=names,
        images=images,
        ax=ax,
        **settings,
    ).ax_
