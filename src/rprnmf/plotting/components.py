"""What the components are: pictures, or their strongest features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rprnmf.fitted import FittedSide, fitted_side
from rprnmf.plotting.images import check_image_shape
from rprnmf.plotting.style import INK, PALE, axes_or_new, bare, short
from rprnmf.tops import tops_of

MOST = 36  # components that are shown unless asked for others
GAP = 0.12  # between two panels, as a fraction of their width
TITLE = 0.16  # height of the line above a picture, in heights of the picture


class ComponentsDisplay:
    """A panel per component: a picture, or bars of its strongest features.

    It is best made by `from_estimator`, and drawn by `plot`.

    Parameters
    ----------
    components : sequence of int
        Their numbers.
    images : sequence of ndarray of shape (height, width) or (height, width, 3), default=None
        A picture of each.
    tops : sequence of list of (name, number), default=None
        Otherwise, the strongest features of each.
    n_components : int, default=None
        How many the model has; None: as many as are shown.

    Attributes
    ----------
    ax_ : matplotlib Axes
        All panels are drawn in it.
    figure_ : matplotlib Figure
    images_ : list of AxesImage
    bars_ : list of BarContainer
    titles_ : list of Text

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rprnmf import NMF
    >>> from rprnmf.plotting import ComponentsDisplay
    >>> model = NMF(6, random_state=0).fit(load_digits().data[:200])
    >>> display = ComponentsDisplay.from_estimator(model, image_shape=(8, 8))
    >>> len(display.images_), display.titles_[0].get_text()
    (6, '0')
    """

    def __init__(
        self,
        components: Sequence[int],
        *,
        images: Any = None,
        tops: Any = None,
        n_components: int | None = None,
    ):
        self.components = list(components)
        self.images = images
        self.tops = tops
        self.n_components = len(self.components) if n_components is None else n_components

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        image_shape: Any = None,
        n: int = 8,
        by: str = "weight",
        side: str = "column",
        names: Any = None,
        components: Any = None,
        ax: Any = None,
    ) -> ComponentsDisplay:
        """Take the components of a fitted model, and draw them.

        Parameters
        ----------
        model : NMF, GNMF, LCNMF or RPRNMF
            Fitted; scikit-learn's own NMF will do too.
        image_shape : (height, width) or (height, width, 3), default=None
            Draw components as images; their features are the pixels.
        n : int, default=8
            Features for each component, if it is no image.
        by : {"weight", "lift", "relevance"}, default="weight"
            Which features are strong, as in `rprnmf.top_features`.
        side : {"column", "row"}, default="column"
            Features (H), or the items that have most of each component (W).
        names : sequence, default=None
            Of the features; None: those of the model, else positions.
        components : sequence of int, default=None
            Numbers of the components to draw; None: all, or the 36 that make most of the model.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        display : ComponentsDisplay
        """
        entries = fitted_side(model, side, names)
        chosen = check_components(components, entries)
        images = tops = None
        if image_shape is not None:
            shape = check_image_shape(image_shape, entries)
            images = [entries.factor[:, k].reshape(shape) for k in chosen]
        else:
            labels, every = entries.labels(), tops_of(entries, n, by)
            tops = [[(labels[item], number) for item, number in every[k]] for k in chosen]
        K = entries.factor.shape[1]
        return cls(chosen, images=images, tops=tops, n_components=K).plot(ax)

    def plot(self, ax: Any = None, *, n_columns: int | None = None) -> ComponentsDisplay:
        """Draw the panels.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        n_columns : int, default=None
            Panels in a row; None: as fits.

        Returns
        -------
        self : ComponentsDisplay
        """
        count = len(self.components)
        if n_columns is None:
            n_columns = -(-count // max(round(np.sqrt(count / 2.2)), 1))
            n_columns = n_columns if self.tops is None else 4
        n_columns = max(min(n_columns, count), 1)
        n_rows = -(-count // n_columns)
        height = 1.5 * n_rows
        if self.tops is not None:
            height = (0.17 * max(map(len, self.tops), default=0) + 0.35) * n_rows
        self.ax_ = axes_or_new(ax, (2.0 * n_columns if self.tops else 1.2 * n_columns, height))
        self.figure_ = self.ax_.figure
        self.images_: list[Any] = []
        self.bars_: list[Any] = []
        self.titles_: list[Any] = []
        corners = [(k % n_columns, k // n_columns) for k in range(count)]
        draw = self._draw_image if self.tops is None else self._draw_bars
        for place, corner in enumerate(corners):
            draw(place, *corner)
        bare(self.ax_)
        if count < self.n_components:
            self.ax_.set_xlabel(f"{count} of {self.n_components} components")
        return self

    def _draw_image(self, place: int, column: int, row: int) -> None:
        from matplotlib.patches import Rectangle

        image = np.asarray(self.images[place], dtype=np.float64)
        largest = image.max(initial=0.0) or 1.0
        height = image.shape[0] / image.shape[1]
        left, top = column * (1 + GAP), row * height * (1 + TITLE + GAP)
        self.images_.append(
            self.ax_.imshow(
                image / largest,
                cmap="gray_r",
                vmin=0.0,
                vmax=1.0,
                extent=(left, left + 1, top + height, top),
            )
        )
        frame: dict[str, Any] = {"fill": False, "edgecolor": "#c9ced6", "linewidth": 0.6}
        self.ax_.add_patch(Rectangle((left, top), 1, height, **frame))
        self._title(place, left + 0.5, top - 0.02 * height, "center")
        n_columns = column + 1 if row == 0 else None
        if n_columns is not None:
            self.ax_.set_xlim(-0.02, n_columns * (1 + GAP) - GAP + 0.02)
        self.ax_.set_ylim(top + 1.02 * height, -TITLE * height)

    def _draw_bars(self, place: int, column: int, row: int) -> None:
        from matplotlib.transforms import Bbox, TransformedBbox

        deepest = max(map(len, self.tops))
        left, top = column * (1 + GAP), row * (deepest + 2.0)
        tops = self.tops[place]
        numbers = np.array([number for _, number in tops])
        places = top + np.arange(len(tops))
        lengths = numbers / numbers.max(initial=0.0) if len(tops) else numbers
        self.bars_.append(self.ax_.barh(places, lengths, 0.86, left=left, color=PALE))
        corners = Bbox([[left, top - 1], [left + 1 + 0.8 * GAP, top + deepest]])
        panel = TransformedBbox(corners, self.ax_.transData)
        for y, (name, _) in zip(places, tops, strict=True):
            text = self.ax_.text(left + 0.03, y, short(name), va="center", fontsize="small")
            text.set(parse_math=False, color=INK)
            text.set(clip_on=True, clip_path=None, clip_box=panel)
        self._title(place, left, top - 0.6, "left")
        if row == 0:
            self.ax_.set_xlim(0, column * (1 + GAP) + 1)
        self.ax_.set_ylim(top + deepest, -1.8)

    def _title(self, place: int, x: float, y: float, align: str) -> None:
        number = str(self.components[place])
        title = number if self.tops is None else f"component {number}"
        self.titles_.append(
            self.ax_.text(
                x, y, title, ha=align, va="bottom", fontsize="small", color=INK, weight="bold"
            )
        )


def check_components(components: Any, entries: FittedSide) -> list[int]:
    """Numbers of components; by default those that make most of the model."""
    K = entries.factor.shape[1]
    if components is None:
        sums = entries.factor.sum(axis=0, dtype=np.float64)
        if entries.other is not None:
            sums = sums * entries.other.sum(axis=0, dtype=np.float64)
        return sorted(np.argsort(-sums, kind="stable")[:MOST].tolist())
    chosen = np.atleast_1d(components)
    if chosen.dtype.kind not in "iu" or chosen.ndim != 1 or not len(chosen):
        raise TypeError(f"components must be numbers of components, got {components!r}.")
    if chosen.min() < 0 or chosen.max() >= K:
        raise ValueError(f"components must be from 0 to {K - 1}, got {components!r}.")
    return chosen.tolist()


def plot_components(
    model: Any,
    *,
    image_shape: Any = None,
    n: int = 8,
    by: str = "weight",
    side: str = "column",
    names: Any = None,
    components: Any = None,
    ax: Any = None,
) -> Any:
    """Draw what each component is: an image, or bars of its strongest features.

    Every component has a scale of its own, on which its largest number is black, or a full bar.

    Parameters
    ----------
    model : NMF, GNMF, LCNMF or RPRNMF
        Fitted; scikit-learn's own NMF will do too.
    image_shape : (height, width) or (height, width, 3), default=None
        Draw components as images; their features are the pixels.
    n : int, default=8
        Features for each component, if it is no image.
    by : {"weight", "lift", "relevance"}, default="weight"
        Which features are strong, as in `rprnmf.top_features`.
    side : {"column", "row"}, default="column"
        Features (H), or the items that have most of each component (W).
    names : sequence, default=None
        Of the features; None: those of the model, else positions.
    components : sequence of int, default=None
        Numbers of the components to draw; None: all, or the 36 that make most of the model.
    ax : matplotlib Axes, default=None
        Where to draw; None: a new figure. All panels are drawn in it.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import NMF
    >>> from rprnmf.plotting import plot_components
    >>> X = np.array([[4.0, 2, 0], [2, 1, 0], [0, 0, 3]])
    >>> model = NMF(2, random_state=0).fit(X, column_names=["tea", "milk", "soup"])
    >>> [text.get_text() for text in plot_components(model).texts]
    ['tea', 'milk', 'component 0', 'soup', 'component 1']
    """
    return ComponentsDisplay.from_estimator(
        model,
        image_shape=image_shape,
        n=n,
        by=by,
        side=side,
        names=names,
        components=components,
        ax=ax,
    ).ax_
