"""How well recommenders do, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.plotting.style import INK, MET, axes_or_new, open_frame


class EvaluationDisplay:
    """Means and standard errors of one measure, a bar for each recommender.

    It is best made by `from_evaluation`, and drawn by `plot`.

    Parameters
    ----------
    names : list of str
    means, errors : array-like of shape (n_recommenders,)
    measure : str
    less : bool, default=False
        Whether less is better.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : BarContainer

    Examples
    --------
    >>> from rprnmf.plotting import EvaluationDisplay
    >>> display = EvaluationDisplay(["one", "other"], [0.9, 0.8], [0.01, 0.01], "RMSE", less=True)
    >>> display.plot().ax_.get_xlabel()
    'RMSE (less is better)'
    """

    def __init__(
        self, names: list[str], means: Any, errors: Any, measure: str, *, less: bool = False
    ):
        self.names, self.means, self.errors = names, means, errors
        self.measure, self.less = measure, less

    @classmethod
    def from_evaluation(
        cls, evaluation: Any, measure: str | None = None, *, ax: Any = None
    ) -> EvaluationDisplay:
        """Draw one measure of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
            What ``rprnmf.recommend.evaluate`` returned, or the ``evaluation`` of ``tune``.
        measure : str, default=None
            One of its ``measures``; None is the first.
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : EvaluationDisplay
        """
        if not hasattr(evaluation, "summary"):
            raise TypeError(
                "plot_evaluation needs what rprnmf.recommend.evaluate returned, got "
                f"{type(evaluation).__name__}."
            )
        known = evaluation.measures
        name = known[0] if measure is None else measure
        if name not in known:
            raise ValueError(f"measure must be one of {known}, got {measure!r}.")
        rows = evaluation.summary()
        return cls(
            [f"{row['model']}, {row['folds']}" for row in rows],
            [row[name] for row in rows],
            [row[f"{name} ±"] for row in rows],
            name,
            less=evaluation.is_error(name),
        ).plot(ax)

    def plot(self, ax: Any = None) -> EvaluationDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None

        Returns
        -------
        self : EvaluationDisplay
        """
        self.ax_ = ax = axes_or_new(ax, (6.4, 1.0 + 0.35 * len(self.names)))
        self.figure_ = ax.figure
        places = np.arange(len(self.names))[::-1]
        self.bars_ = ax.barh(
            places, self.means, xerr=self.errors, color=MET, ecolor=INK, height=0.6
        )
        ax.set_yticks(places, self.names)
        ax.set_xlabel(f"{self.measure} ({'less' if self.less else 'more'} is better)")
        open_frame(ax)
        return self


def plot_evaluation(evaluation: Any, measure: str | None = None, *, ax: Any = None) -> Any:
    """Draw means and standard errors of one measure, a bar for each recommender.

    Parameters
    ----------
    evaluation : Evaluation
        What ``rprnmf.recommend.evaluate`` returned, or the ``evaluation`` of ``tune``.
    measure : str, default=None
        One of its ``measures``; None is the first.
    ax : matplotlib Axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.plotting import plot_evaluation
    >>> from rprnmf.recommend import Recommender, evaluate
    >>> rng = np.random.default_rng(0)
    >>> users, items = np.nonzero(rng.random((30, 20)) < 0.5)
    >>> ratings = np.round(1 + 4 * (rng.random(30)[users] + rng.random(20)[items]) / 2)
    >>> models = {str(K): Recommender(K, order="rating", random_state=0) for K in (1, 2)}
    >>> found = evaluate(models, users, items, ratings, n_splits=2, random_state=0, verbose=0)
    >>> plot_evaluation(found, "MAE").get_xlabel()
    'MAE (less is better)'
    """
    return EvaluationDisplay.from_evaluation(evaluation, measure, ax=ax).ax_
