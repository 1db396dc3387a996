"""Whether the chances of comparisons can be relied on."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from rprnmf.checks import check_count
from rprnmf.plotting.placing import place_legend
from rprnmf.plotting.style import GREY, MET, axes_or_new, open_frame

Z = float(norm.ppf(0.975))  # of a 95 % interval


class ReliabilityDisplay:
    """How often answers come out as expected, against how sure the model was.

    It is best made by `from_estimator`, and drawn by `plot`.

    Parameters
    ----------
    chance, share, low, high : ndarray of shape (n_bins,)
        The mean chance that the model gives to the answer it expects; the share of answers that
        come out so; the 95 % interval of that share.
    counts : ndarray of int of shape (n_bins,)
        Answers in every bin.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : ErrorbarContainer

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.plotting import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_chances(np.linspace(0.05, 0.95, 40), n_bins=4)
    >>> display.counts
    array([10, 10, 10, 10])
    """

    def __init__(self, chance: Any, share: Any, low: Any, high: Any, counts: Any):
        self.chance, self.share = chance, share
        self.low, self.high = low, high
        self.counts = counts

    @classmethod
    def from_estimator(
        cls, model: Any, triplets: Any, *, side: str = "row", n_bins: int = 8, ax: Any = None
    ) -> ReliabilityDisplay:
        """Ask a fitted model for the chances of answers that are known, and draw the curve.

        Parameters
        ----------
        model : RPRNMF
            Fitted with triplets of that side.
        triplets : Triplets or array-like of shape (n_triplets, 3)
            Answers; such that the fit has not seen, or the curve looks better than it is.
        side : {"row", "column"}, default="row"
        n_bins : int, default=8
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : ReliabilityDisplay
        """
        if not hasattr(model, "predict_triplets"):
            raise TypeError(
                "a reliability curve needs chances of comparisons, which RPRNMF predicts; got "
                f"{type(model).__name__}."
            )
        return cls.from_chances(model.predict_triplets(triplets, side), n_bins=n_bins, ax=ax)

    @classmethod
    def from_chances(cls, chances: Any, *, n_bins: int = 8, ax: Any = None) -> ReliabilityDisplay:
        """Draw the curve of chances that were predicted for answers that were given.

        Parameters
        ----------
        chances : array-like of shape (n_triplets,)
            What ``predict_triplets`` returned for triplets that hold.
        n_bins : int, default=8
            Bins with about the same number of answers; fewer if there are few.
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : ReliabilityDisplay
        """
        chances = np.asarray(chances, dtype=np.float64)
        if chances.ndim != 1 or not len(chances):
            raise ValueError(
                f"a reliability curve needs at least one triplet, got the shape {chances.shape}."
            )
        check_count(n_bins, "n_bins")
        right = chances > 0.5
        sure = np.maximum(chances, 1.0 - chances)
        bins = np.array_split(np.argsort(sure, kind="stable"), min(n_bins, len(sure)))
        counts = np.array([len(part) for part in bins])
        share = np.array([right[part].mean() for part in bins])
        mean = np.array([sure[part].mean() for part in bins])
        return cls(mean, share, *wilson(share, counts), counts).plot(ax)

    def plot(self, ax: Any = None) -> ReliabilityDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None

        Returns
        -------
        self : ReliabilityDisplay
        """
        self.ax_ = ax = axes_or_new(ax, (4.8, 4.6))
        self.figure_ = ax.figure
        ideal = ax.plot([0.5, 1], [0.5, 1], color=GREY, linestyle=":", label="as sure as right")[0]
        beside = np.array([self.share - self.low, self.high - self.share])
        self.line_ = ax.errorbar(
            self.chance,
            self.share,
            yerr=np.maximum(beside, 0.0),
            color=MET,
            marker="o",
            elinewidth=0.8,
        )
        self.line_[0].set_label(f"{self.counts.sum()} comparisons, with 95 % intervals")
        least = min(0.5, float(np.min(self.low)))
        ax.set(xlim=(0.49, 1.01), ylim=(max(least - 0.02, -0.02), 1.02))
        ax.set(xlabel="predicted chance of the expected answer", ylabel="share that came out so")
        open_frame(ax)
        bars = np.stack((self.chance, self.low, self.chance, self.high), axis=1).reshape(-1, 2, 2)
        place_legend(ax, [ideal, self.line_[0]], [*bars])
        return self


def wilson(share: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The 95 % interval of a share."""
    middle = (share + Z**2 / (2 * counts)) / (1 + Z**2 / counts)
    root = np.sqrt(share * (1 - share) / counts + Z**2 / (4 * counts**2))
    half = Z * root / (1 + Z**2 / counts)
    return middle - half, middle + half


def plot_reliability(
    model: Any, triplets: Any, *, side: str = "row", n_bins: int = 8, ax: Any = None
) -> Any:
    """Draw whether the chances of ``predict_triplets`` can be relied on.

    Of the comparisons that the model gives a chance of 0.8, four of five should come out so.

    Parameters
    ----------
    model : RPRNMF
        Fitted with triplets of that side.
    triplets : Triplets or array-like of shape (n_triplets, 3)
        Answers; such that the fit has not seen, or the curve looks better than it is.
    side : {"row", "column"}, default="row"
    n_bins : int, default=8
        Bins with about the same number of answers; fewer if there are few.
    ax : matplotlib Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import RPRNMF
    >>> from rprnmf.plotting import plot_reliability
    >>> from rprnmf.triplets import triplets_from_features
    >>> X = np.random.default_rng(0).random((30, 5))
    >>> known, unseen = triplets_from_features(X, 400, random_state=0).split(random_state=0)
    >>> model = RPRNMF(3, row_prior="data", random_state=0).fit(X, row_triplets=known)
    >>> plot_reliability(model, unseen).get_ylabel()
    'share that came out so'
    """
    return ReliabilityDisplay.from_estimator(model, triplets, side=side, n_bins=n_bins, ax=ax).ax_
