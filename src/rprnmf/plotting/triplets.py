"""Which items gather the comparisons that are not met."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.checks import check_count
from rprnmf.fitted import SIDES, fitted_side
from rprnmf.plotting.style import MET, UNMET, axes_or_new, note, open_frame, short


class TripletsDisplay:
    """A bar per item: its comparisons, met and unmet.

    It is best made by `from_estimator`, and drawn by `plot`.

    Parameters
    ----------
    names : sequence of length n_items
    met, unmet : ndarray of int of shape (n_items,)
        The comparisons that each item takes part in, as q, r or s.
    n_met, n_unmet : int, default=0
        How many comparisons there are.
    side : {"row", "column"}, default="row"
    hint : str, default=""
        A sentence to show where there are no comparisons.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : dict of str to BarContainer
        "met" and "unmet".

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import NMF
    >>> from rprnmf.plotting import TripletsDisplay
    >>> model = NMF(2, random_state=0).fit(np.random.default_rng(0).random((6, 5)))
    >>> display = TripletsDisplay.from_estimator(model, [[0, 1, 2], [0, 2, 1]])
    >>> display.met, display.unmet
    (array([1, 1, 1, 0, 0, 0]), array([1, 1, 1, 0, 0, 0]))
    """

    def __init__(
        self,
        names: Any,
        met: Any,
        unmet: Any,
        *,
        n_met: int = 0,
        n_unmet: int = 0,
        side: str = "row",
        hint: str = "",
    ):
        self.names = names
        self.met, self.unmet = np.asarray(met), np.asarray(unmet)
        self.n_met, self.n_unmet = n_met, n_unmet
        self.side = side
        self.hint = hint

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        triplets: Any = "fit",
        *,
        side: str = "row",
        names: Any = None,
        n: int = 20,
        ax: Any = None,
    ) -> TripletsDisplay:
        """Count the comparisons of a fitted model, and draw them.

        Parameters
        ----------
        model : NMF, GNMF, LCNMF or RPRNMF
            Fitted.
        triplets : "fit", Triplets or array-like of shape (n_triplets, 3), default="fit"
            The comparisons of the fit, or others between the same items.
        side : {"row", "column"}, default="row"
        names : sequence of length n_items, default=None
            None: those of the model, else positions.
        n : int, default=20
            At most so many items.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        display : TripletsDisplay
        """
        items = fitted_side(model, side, names)
        known, met = items.comparisons(triplets)
        size = len(items.factor)
        counts = [np.bincount(known.items[kind].ravel(), minlength=size) for kind in (met, ~met)]
        other = SIDES[1 - SIDES.index(side)]
        there = getattr(model, f"{other}_triplets_", None)
        hint = f"no comparisons of {side}s"
        if there is not None and there.n_triplets:
            hint += f"; there are {there.n_triplets} of {other}s: side={other!r}"
        display = cls(
            items.labels(),
            *counts,
            n_met=int(met.sum()),
            n_unmet=int((~met).sum()),
            side=side,
            hint=hint,
        )
        return display.plot(ax, n=n)

    def plot(self, ax: Any = None, *, n: int = 20) -> TripletsDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        n : int, default=20
            At most so many items: those with most unmet comparisons first, then those with most
            comparisons.

        Returns
        -------
        self : TripletsDisplay
        """
        check_count(n, "n")
        total = self.met + self.unmet
        order = np.lexsort((-total, -self.unmet))
        order = order[total[order] > 0]
        shown = order[:n]
        self.ax_ = ax = axes_or_new(ax, (6.4, max(1.2 + 0.2 * len(shown), 2.4)))
        self.figure_ = ax.figure
        self.bars_ = {}
        if not len(shown):
            note(ax, self.hint)
            return self
        places = np.arange(len(shown))
        parts = {
            "unmet": (self.unmet, np.zeros_like(total), UNMET, self.n_unmet),
            "met": (self.met, self.unmet, MET, self.n_met),
        }
        for kind, (counts, start, color, count) in parts.items():
            self.bars_[kind] = ax.barh(
                places, counts[shown], left=start[shown], color=color, label=f"{kind}: {count}"
            )
        ax.set_yticks(places, [short(self.names[item]) for item in shown])
        for label in ax.get_yticklabels():
            label.set_parse_math(False)  # a name may have a $
        ax.invert_yaxis()
        ax.grid(visible=False, axis="y")
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)
        ax.xaxis.get_major_locator().set_params(integer=True)
        part = f", {len(shown)} of {len(order)} {self.side}s" if len(shown) < len(order) else ""
        ax.set(xlabel=f"comparisons that the {self.side} takes part in{part}")
        open_frame(ax)
        ax.set_xlim(0, 1.28 * total[shown].max())  # the legend stands beside the bars
        ax.legend(loc="lower right", fontsize="small")
        return self


def plot_triplets(
    model: Any,
    triplets: Any = "fit",
    *,
    side: str = "row",
    names: Any = None,
    n: int = 20,
    ax: Any = None,
) -> Any:
    """Draw which items gather the comparisons that are not met.

    Parameters
    ----------
    model : NMF, GNMF, LCNMF or RPRNMF
        Fitted.
    triplets : "fit", Triplets or array-like of shape (n_triplets, 3), default="fit"
        The comparisons of the fit, or others between the same items.
    side : {"row", "column"}, default="row"
    names : sequence of length n_items, default=None
        None: those of the model, else positions.
    n : int, default=20
        At most so many items: those with most unmet comparisons first, then those with most
        comparisons.
    ax : matplotlib Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import NMF
    >>> from rprnmf.plotting import plot_triplets
    >>> model = NMF(2, random_state=0).fit(np.random.default_rng(0).random((6, 5)))
    >>> ax = plot_triplets(model, [[0, 1, 2], [0, 2, 1]])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['unmet: 1', 'met: 1']
    """
    return TripletsDisplay.from_estimator(model, triplets, side=side, names=names, n=n, ax=ax).ax_
