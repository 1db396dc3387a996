"""What each component is made of: the features and the items that have most of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rprnmf.checks import check_count
from rprnmf.fitted import FittedSide, fitted_side
from rprnmf.remote import lies_in_blocks


class Sums(NamedTuple):
    """Of a factor, and of what it is multiplied by."""

    own: np.ndarray
    other: np.ndarray


def weight(F: np.ndarray, sums: Sums) -> np.ndarray:
    """The entry of the factor."""
    return F


def lift(F: np.ndarray, sums: Sums) -> np.ndarray:
    """How many times larger a share is in the component than in the whole model."""
    share, overall = shares(F, sums)
    return np.divide(share, overall, out=np.zeros_like(share), where=overall > 0)


def relevance(F: np.ndarray, sums: Sums) -> np.ndarray:
    """Large in the component, and larger than elsewhere.

    The order is that of the relevance of Sievert and Shirley (2014) with a lambda of 1/3:
    log(share) / 3 + 2 log(lift) / 3.
    """
    return shares(F, sums)[0] * lift(F, sums) ** 2


MEASURES: dict[str, Callable[[np.ndarray, Sums], np.ndarray]] = {
    "weight": weight,
    "lift": lift,
    "relevance": relevance,
}


def shares(F: np.ndarray, sums: Sums) -> tuple[np.ndarray, np.ndarray]:
    """The share of every row in each component, and in the whole model."""
    share = np.divide(F, sums.own, out=np.zeros_like(F), where=sums.own > 0)
    parts = sums.other * sums.own
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
    return _tops(
        fitted_side(model, "row", names, in_blocks=True), n, by, "item" if as_frame else None
    )


def tops_of(side: FittedSide, n: int, by: str) -> list[list[tuple[int, float]]]:
    """Positions of the strongest rows of a factor, with their numbers, for each component."""
    check_count(n, "n")
    if by not in MEASURES:
        raise ValueError(f"by must be one of {', '.join(MEASURES)}; got {by!r}.")
    F: Any = side.factor
    if by == "weight":
        unit, sums = None, Sums(*np.ones((2, F.shape[1])))
    else:
        unit, own = unit_and_sums(F)
        other = np.ones(F.shape[1]) if side.other is None else unit_and_sums(side.other)[1]
        sums = Sums(own, other)
    if not lies_in_blocks(F):
        return tops_of_rows(F, n, by, unit, sums)
    import dask

    blocks = [
        dask.delayed(tops_of_rows)(F.blocks[b], n, by, unit, sums) for b in range(len(F.chunks[0]))
    ]
    firsts = np.cumsum([0, *F.chunks[0]]).tolist()
    found: list[list[tuple[int, float]]] = [[] for _ in range(F.shape[1])]
    for first, tops in zip(firsts, dask.compute(*blocks), strict=False):
        for component, top in zip(found, tops, strict=True):
            component += [(first + item, number) for item, number in top]
    return [sorted(component, key=lambda top: -top[1])[:n] for component in found]


def tops_of_rows(
    F: np.ndarray, n: int, by: str, unit: float | None, sums: Sums
) -> list[list[tuple[int, float]]]:
    """The same of some rows, with the sums of all."""
    if unit is not None:
        F = F.astype(np.float64) / unit
    found = []
    for column in MEASURES[by](F, sums).T:
        order = np.argsort(-column, kind="stable")[:n]
        found.append([(int(item), float(column[item])) for item in order if column[item] > 0])
    return found


def unit_and_sums(F: Any) -> tuple[float, np.ndarray]:
    """A unit in which sums and products do not overflow, and the sums of the columns in it.

    Shares do not depend on it.
    """
    F = F.astype(np.float64)
    unit = (float(F.max()) if F.shape[0] else 0.0) or 1.0
    return unit, np.asarray((F / unit).sum(axis=0))


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
