"""What comparisons bought, and what more of them would."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.model_selection import TripletLearningCurve, triplet_learning_curve
from rprnmf.plotting.placing import place_legend
from rprnmf.plotting.style import GREY, MET, axes_or_new, check_axes, open_frame


class LearningDisplay:
    """The share of unseen comparisons that are predicted, against the number of known ones.

    It is made from a curve by `from_curve`, or by `from_estimator`, and drawn by `plot`.

    Parameters
    ----------
    curve : TripletLearningCurve
        What `rprnmf.model_selection.triplet_learning_curve` returns.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : Line2D
    interval_ : PolyCollection
        The 95 % interval.
    expected_ : Line2D or None
        What is to be expected of more comparisons.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import RPRNMF
    >>> from rprnmf.plotting import LearningDisplay
    >>> from rprnmf.triplets import triplets_from_features
    >>> X = np.random.default_rng(0).random((30, 5))
    >>> known = triplets_from_features(X[:, :2], 100, random_state=0)
    >>> model = RPRNMF(3, row_prior="data", tol=0.01, random_state=0)
    >>> display = LearningDisplay.from_estimator(
    ...     model, X, known, train_sizes=[0.2, 1.0], n_splits=2, random_state=0, verbose=0
    ... )
    >>> display.curve.train_sizes
    array([10, 50])
    """

    def __init__(self, curve: TripletLearningCurve):
        self.curve = curve

    @classmethod
    def from_curve(cls, curve: TripletLearningCurve, *, ax: Any = None) -> LearningDisplay:
        """Draw a curve that was computed before.

        Parameters
        ----------
        curve : TripletLearningCurve
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : LearningDisplay
        """
        return cls(curve).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, triplets: Any, *, ax: Any = None, **settings: Any
    ) -> LearningDisplay:
        """Compute the curve, which takes some 25 fits, and draw it.

        Parameters
        ----------
        estimator : RPRNMF
            Is cloned.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        triplets : Triplets or array-like of shape (n_triplets, 3)
        ax : matplotlib Axes, default=None
        **settings : dict
            Go to `rprnmf.model_selection.triplet_learning_curve`, e.g. ``train_sizes``.

        Returns
        -------
        display : LearningDisplay
        """
        check_axes(ax)
        return cls(triplet_learning_curve(estimator, X, triplets, **settings)).plot(ax)

    def plot(self, ax: Any = None, *, ahead: float = 2.0) -> LearningDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        ahead : float, default=2.0
            Go on to this many times the comparisons that there are, with what the rule of
            `TripletLearningCurve.predict` expects; 1 or less: do not.

        Returns
        -------
        self : LearningDisplay
        """
        self.ax_ = ax = axes_or_new(ax)
        self.figure_ = ax.figure
        curve = self.curve
        sizes = curve.train_sizes
        label = "predicted, with 95 % interval"
        style = {"color": MET, "marker": "o"}
        self.line_ = ax.plot(sizes, curve.accuracy, label=label, zorder=3, **style)[0]
        self.interval_ = ax.fill_between(
            sizes, curve.low, curve.high, color=MET, alpha=0.2, linewidth=0
        )
        lows = [0.5, *curve.low]
        self.expected_ = None
        if ahead > 1:
            more = np.geomspace(sizes[-1], ahead * sizes[-1], 20)
            _, low, high = curve.predict(more)
            ax.fill_between(more, low, high, color=GREY, alpha=0.15, linewidth=0)
            along = np.concatenate((np.geomspace(sizes[0], sizes[-1], 40), more))
            self.expected_ = ax.plot(along, curve.predict(along)[0], color=GREY, linestyle="--")[0]
            self.expected_.set(label="fitted rule, continued", linewidth=1.0)
            lows += [*low]
        chance = ax.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":", label="chance")
        ax.set(xlabel="comparisons known", ylabel="share of unseen comparisons predicted")
        ax.set_xscale("log")
        plain_ticks(ax, [*sizes.tolist(), round(ahead * sizes[-1])] if ahead > 1 else sizes)
        ax.set_ylim(max(min(lows) - 0.03, 0.0), 1.0)
        open_frame(ax)
        named = [line for line in (self.line_, self.expected_, chance) if line is not None]
        place_legend(
            ax, named, [np.column_stack((sizes, edge)) for edge in (curve.low, curve.high)]
        )
        return self


def plain_ticks(ax: Any, sizes: Any) -> None:
    """Ticks at the sizes themselves, those that are not too close to the one before."""
    kept: list[int] = []
    for size in sizes:
        if not kept or size >= 1.25 * kept[-1]:
            kept.append(int(size))
    ax.set_xticks(kept, [str(size) for size in kept])
    ax.minorticks_off()


def plot_learning(
    curve: Any, X: Any = None, triplets: Any = None, *, ax: Any = None, **settings: Any
) -> Any:
    """Draw the share of unseen comparisons that are predicted, against the number of known ones.

    Parameters
    ----------
    curve : TripletLearningCurve or RPRNMF
        What `rprnmf.model_selection.triplet_learning_curve` returned; or an estimator, with
        ``X`` and ``triplets``, to compute it, which takes some 25 fits.
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features), default=None
    triplets : Triplets or array-like of shape (n_triplets, 3), default=None
    ax : matplotlib Axes, default=None
        Where to draw; None: a new figure.
    **settings : dict
        With an estimator, for `rprnmf.model_selection.triplet_learning_curve`.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import RPRNMF
    >>> from rprnmf.model_selection import triplet_learning_curve
    >>> from rprnmf.plotting import plot_learning
    >>> from rprnmf.triplets import triplets_from_features
    >>> X = np.random.default_rng(0).random((30, 5))
    >>> known = triplets_from_features(X[:, :2], 100, random_state=0)
    >>> model = RPRNMF(3, row_prior="data", tol=0.01, random_state=0)
    >>> curve = triplet_learning_curve(model, X, known, n_splits=2, random_state=0, verbose=0)
    >>> plot_learning(curve).get_xlabel()
    'comparisons known'
    """
    if isinstance(curve, TripletLearningCurve):
        if X is not None or triplets is not None or settings:
            raise TypeError("a curve is drawn as it is: leave out X, triplets and settings.")
        return LearningDisplay.from_curve(curve, ax=ax).ax_
    if X is None or triplets is None:
        raise TypeError(
            "plot_learning needs what triplet_learning_curve returns, or an estimator with X and "
            f"triplets; got {type(curve).__name__}, X={'None' if X is None else 'given'}, "
            f"triplets={'None' if triplets is None else 'given'}."
        )
    return LearningDisplay.from_estimator(curve, X, triplets, ax=ax, **settings).ax_
