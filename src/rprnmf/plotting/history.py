"""What happened in the iterations of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.fitted import SIDES, check_model
from rprnmf.plotting.placing import place_legend
from rprnmf.plotting.style import GREY, INK, MET, UNMET, axes_or_new, open_frame

# A range of this many times its lower end is drawn on a logarithmic scale.
WIDE = 20.0


class HistoryDisplay:
    """Objective, loss and the share of comparisons met, against iterations.

    It is best made by `from_estimator`, and drawn by `plot`.

    Parameters
    ----------
    history : structured ndarray of shape (n_iter,)
        ``history_`` of a fitted model.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Of objective and loss.
    share_ax_ : matplotlib Axes or None
        Of the shares, at the right; None without comparisons.
    figure_ : matplotlib Figure
    lines_ : dict of str to Line2D
        "objective", "loss" and, with comparisons, "row" and "column".

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import RPRNMF
    >>> from rprnmf.plotting import HistoryDisplay
    >>> X = np.random.default_rng(0).random((6, 5))
    >>> model = RPRNMF(3, max_iter=500, random_state=0).fit(X, row_triplets=[[0, 1, 2]])
    >>> list(HistoryDisplay.from_estimator(model).lines_)
    ['objective', 'loss', 'row']
    """

    def __init__(self, history: np.ndarray):
        self.history = history

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> HistoryDisplay:
        """Draw the history of a fitted model.

        Parameters
        ----------
        model : NMF, GNMF, LCNMF or RPRNMF
            Fitted.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        display : HistoryDisplay
        """
        check_model(model)
        if not hasattr(model, "history_"):
            raise TypeError(f"{type(model).__name__} keeps no history_, which is to be drawn.")
        return cls(model.history_).plot(ax)

    def plot(self, ax: Any = None) -> HistoryDisplay:
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib Axes, default=None

        Returns
        -------
        self : HistoryDisplay
        """
        self.ax_ = ax = axes_or_new(ax)
        self.figure_ = ax.figure
        iterations = np.arange(1, len(self.history) + 1)
        marker = "o" if len(iterations) == 1 else None
        objective, loss = self.history["objective"], self.history["loss"]
        same = np.allclose(objective, loss, rtol=1e-9, atol=0)
        label = "objective (the loss alone)" if same else "objective"
        self.lines_ = {
            "objective": ax.plot(iterations, objective, color=INK, marker=marker, label=label)[0]
        }
        if not same:
            style = {"color": GREY, "linestyle": "--", "marker": marker}
            self.lines_["loss"] = ax.plot(iterations, loss, label="loss", **style)[0]
        if wide(np.concatenate((objective, loss))):
            ax.set_yscale("log")
        ax.set(xlabel="iteration", ylabel="objective" if same else "objective, loss")
        ax.xaxis.get_major_locator().set_params(integer=True)
        open_frame(ax)
        self._draw_shares(iterations, marker)
        place_legend(self.share_ax_ or ax, list(self.lines_.values()))
        return self

    def _draw_shares(self, iterations: np.ndarray, marker: str | None) -> None:
        """On an axis of their own, from 0 to 1."""
        self.share_ax_ = None
        for side, color, style in zip(SIDES, (MET, UNMET), ("-", "-."), strict=True):
            share = self.history[f"{side}_satisfied_rate"]
            if np.isnan(share).all():
                continue
            if self.share_ax_ is None:
                self.share_ax_ = self.ax_.twinx()
                self.share_ax_.set(ylim=(-0.02, 1.02), ylabel="share of comparisons met")
                self.share_ax_.grid(visible=False)
                self.share_ax_.spines["top"].set_visible(False)
            self.lines_[side] = self.share_ax_.plot(
                iterations,
                share,
                color=color,
                linestyle=style,
                marker=marker,
                label=f"{side} comparisons met: {100 * share[-1]:.1f} %",
            )[0]


def wide(values: np.ndarray) -> bool:
    """Whether numbers need a logarithmic scale, and can have one."""
    values = values[np.isfinite(values)]
    return bool(len(values) and values.min() > 0 and values.max() > WIDE * values.min())


def plot_history(model: Any, *, ax: Any = None) -> Any:
    """Draw objective, loss and the share of comparisons met, against iterations.

    While strengths are chosen by the fit ("auto") they grow, and the objective with them.

    Parameters
    ----------
    model : NMF, GNMF, LCNMF or RPRNMF
        Fitted.
    ax : matplotlib Axes, default=None
        Where to draw; None: a new figure. The shares have an axis at its right.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import NMF
    >>> from rprnmf.plotting import plot_history
    >>> model = NMF(3, random_state=0).fit(np.random.default_rng(0).random((6, 5)))
    >>> ax = plot_history(model)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('iteration', 'objective')
    """
    return HistoryDisplay.from_estimator(model, ax=ax).ax_
