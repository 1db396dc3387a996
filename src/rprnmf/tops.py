"""What each component is made of: the features and the items that have most of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rprnmf.checks import check_count
from rprnmf.fitted import FittedSide, fitted_side


def weight(F: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """The entry of the factor."""
    return F


def lift(F: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """How many times larger a share is in the component than in the whole model."""
    share, overall = shares(F, mass)
    return np.divide(share, overall, out=np.zeros_like(share), where=overall > 0)


def relevance(F: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Large in the component, and larger than elsewhere.

    The order is that of the relevance of Sievert and Shirley (2014) with a lambda of 1/3:
    log(share) / 3 + 2 log(lift) / 3.
    """
    return shares(F, mass)[0] * lift(F, mass) ** 2


MEASURES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "weight": weight,
    "lift": lift,
    "relevance": relevance,
}


def shares(F: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The share of every row in each component, and in the whole model."""
    sums = F.sum(axis=0)
    share = np.divide(F, sums, out=np.zeros_like(F), where=sums > 0)
    parts = mass * sums
    total = parts.sum()
    return share, (share @ (parts / total if total > 0 else parts))[:, None]


def top_features(
    model: Any, n: int = 10, *, by: str = "weight", names: Any = None, as_frame: bool = False
) -> Any:
    """The strongest features of each component.

    Parameters
    ----------
    model : NMF, GNMF, LCNMF or RPRNMF
        Fitted; scikit-learn's own NMF will do too.
    n : int, default=10
        At most so many for each component. Features that a component does not have are left out.
    by : {"weight", "lift", "relevance"}, default="weight"
        What is strong. "weight": a large entry of H; features that are large everywhere, as
        frequent words, then top every component. "lift": a share in the component that is many
        times the share in the whole model; rare features then come first. "relevance": between
        the two, share * lift^2.
    names : sequence of length n_features, default=None
        Names of the features. None: those that the model knows (``column_names_``, else
        ``feature_names_in_``), else their positions.
    as_frame : bool, default=False
        Return a DataFrame, which needs pandas.

    Returns
    -------
    tops : list of list of (name, number), or DataFrame
        One list per component, the strongest feature first, each with the number that it was
        chosen by. Weights of different components have different units. The DataFrame has one row
        per component and feature, with the columns component, rank (from 1), feature and the name
        of the measure.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import NMF, top_features
    >>> X = np.array([[4.0, 2, 0], [2, 1, 0], [0, 0, 3]])
    >>> model = NMF(2, random_state=0).fit(X, column_names=["tea", "milk", "soup"])
    >>> [[name for name, _ in component] for component in top_features(model, 2)]
    [['tea', 'milk'], ['soup']]
    """
    return _tops(fitted_side(model, "column", names), n, by, "feature" if as_frame else None)


def top_items(
    model: Any, n: int = 10, *, by: str = "weight", names: Any = None, as_frame: bool = False
) -> Any:
    """The items, rows of X, that have most of each component.

    Parameters
    ----------
    model : NMF, GNMF, LCNMF or RPRNMF
        Fitted.
    n : int, default=10
        At most so many for each component. Items that have nothing of a component are left out.
    by : {"weight", "lift", "relevance"}, default="weight"
        What is strong, as in `top_features`: a large entry of W, a share of the component that
        is large beside the item's share in the whole model, or both.
    names : sequence of length n_samples, default=None
        Names of the items. None: ``row_names_``, else their positions.
    as_frame : bool, default=False
        Return a DataFrame, which needs pandas.

    Returns
    -------
    tops : list of list of (name, number), or DataFrame
        As in `top_features`, with the column item.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import NMF, top_items
    >>> X = np.array([[4.0, 2, 0], [2, 1, 0], [0, 0, 3]])
    >>> model = NMF(2, random_state=0).fit(X, row_names=["Ann", "Bob", "Cleo"])
    >>> [[name for name, _ in component] for component in top_items(model)]
    [['Ann', 'Bob'], ['Cleo']]
    """
    return _tops(fitted_side(model, "row", names), n, by, "item" if as_frame else None)


def tops_of(side: FittedSide, n: int, by: str) -> list[list[tuple[int, float]]]:
    """Positions of the strongest rows of a factor, with their numbers, for each component."""
    check_count(n, "n")
    if by not in MEASURES:
        raise ValueError(f"by must be one of {', '.join(MEASURES)}; got {by!r}.")
    F = _unit(side.factor)
    mass = np.ones(F.shape[1]) if side.other is None else _unit(side.other).sum(axis=0)
    measured = side.factor if by == "weight" else MEASURES[by](F, mass)
    found = []
    for column in measured.T:
        order = np.argsort(-column, kind="stable")[:n]
        found.append([(int(item), float(column[item])) for item in order if column[item] > 0])
    return found


def _unit(F: np.ndarray) -> np.ndarray:
    """In a unit in which sums and products do not overflow: shares do not depend on it."""
    F = F.astype(np.float64)
    return F / (F.max(initial=0.0) or 1.0)


def _tops(side: FittedSide, n: int, by: str, frame: str | None) -> Any:
    """With names; as a DataFrame whose column of names is called ``frame``."""
    labels = side.labels()
    tops = [[(labels[item], number) for item, number in top] for top in tops_of(side, n, by)]
    if frame is None:
        return tops
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            'as_frame=True makes a DataFrame, which needs pandas: pip install "rprnmf[data]". '
            "as_frame=False gives the same as lists."
        ) from error
    rows = [
        (component, rank, *entry)
        for component, top in enumerate(tops)
        for rank, entry in enumerate(top, start=1)
    ]
    return pd.DataFrame(rows, columns=["component", "rank", frame, by])
