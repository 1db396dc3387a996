"""One side of a fitted model: the factor, and what is known of its rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rprnmf.metrics import triplet_distances
from rprnmf.remote import lies_in_blocks
from rprnmf.triplets import Triplets, as_triplets

OF_THE_FIT = "fit"
SIDES = ("row", "column")


class FittedSide(NamedTuple):
    """The rows or the columns of X in a fitted model.

    Attributes
    ----------
    side : {"row", "column"}
    factor : ndarray of shape (n_items, n_components)
        W, or the transpose of H.
    other : ndarray of shape (n_others, n_components) or None
        The factor of the other side; None if the model does not keep it.
    names : ndarray of shape (n_items,) or None
    triplets : Triplets
        Those of the fit, by position.
    distance : str
        What comparisons are measured by.
    """

    side: str
    factor: np.ndarray
    other: np.ndarray | None
    names: np.ndarray | None
    triplets: Triplets
    distance: str

    def labels(self) -> list[Any]:
        """A name for every item: its position, where there are no names."""
        return list(range(len(self.factor))) if self.names is None else self.names.tolist()

    def comparisons(self, triplets: Any = OF_THE_FIT) -> tuple[Triplets, np.ndarray]:
        """Triplets by position, and whether the factor meets each.

        Parameters
        ----------
        triplets : "fit", None, Triplets or array-like of shape (n_triplets, 3)
            "fit": those of the fit; None: none.
        """
        if isinstance(triplets, str):
            if triplets != OF_THE_FIT:
                raise ValueError(
                    f"triplets must be 'fit', None or have one row (q, r, s) per triplet; "
                    f"got {triplets!r}."
                )
            triplets = self.triplets
        known = as_triplets(triplets).positions(len(self.factor), self.names, self.side)
        _, near, far = triplet_distances(self.factor, known, self.distance)
        return known, near < far


def check_model(model: Any) -> None:
    """Refuse what is no fitted factorisation."""
    needed = "a fitted NMF, GNMF, LCNMF or RPRNMF is needed"
    if hasattr(model, "steps"):
        raise TypeError(f"{needed}, got a Pipeline: pass its last step, pipe[-1].")
    if isinstance(model, type) or not hasattr(model, "fit"):
        found = model.__name__ if isinstance(model, type) else type(model).__name__
        raise TypeError(f"{needed}, got {found}.")
    check_is_fitted(model)


def fitted_side(model: Any, side: str, names: Any = None, in_blocks: bool = False) -> FittedSide:
    """The rows or columns of a fitted model.

    Parameters
    ----------
    model : estimator of rprnmf
        Fitted. scikit-learn's NMF has columns only: it does not keep W.
    side : {"row", "column"}
    names : sequence of length n_items, default=None
        Instead of the names that the model knows.
    in_blocks : bool, default=False
        Whether the rows may lie in blocks of a Dask array.
    """
    if side not in SIDES:
        raise ValueError(f"side must be 'row' or 'column', got {side!r}.")
    check_model(model)
    W, H = getattr(model, "embedding_", None), getattr(model, "components_", None)
    factors = [W, None if H is None else np.asarray(H).T]
    index = SIDES.index(side)
    factor = factors[index]
    if factor is None:
        attribute = ("embedding_", "components_")[index]
        raise TypeError(
            f"{type(model).__name__} keeps no {attribute}, so there are no {side}s to show; the "
            "estimators of rprnmf keep both factors."
        )
    if not lies_in_blocks(factor):
        factor = np.asarray(factor)
    elif not in_blocks:
        raise ValueError(
            "W is a Dask array, whose rows are not gathered in silence. Where they fit in memory: "
            "model.embedding_ = model.embedding_.compute()."
        )
    if names is None:
        names = getattr(model, f"{side}_names_", None)
        if names is None and side == "column":
            names = getattr(model, "feature_names_in_", None)
    return FittedSide(
        side,
        factor,
        factors[1 - index],
        _checked(names, len(factor), side),
        getattr(model, f"{side}_triplets_", as_triplets(None)),
        getattr(model, "distance_", "euclidean"),
    )


def _checked(names: Any, n: int, side: str) -> np.ndarray | None:
    if names is None:
        return None
    if isinstance(names, str) or not np.iterable(names):
        raise TypeError(f"names must be a list with one name for each {side}, got {names!r}.")
    found = names.tolist() if isinstance(names, np.ndarray) else list(names)
    if len(found) != n:
        raise ValueError(
            f"names must be a list with one name for each of {n} {side}s, got {len(found)}."
        )
    return np.fromiter(found, dtype=object, count=n)
