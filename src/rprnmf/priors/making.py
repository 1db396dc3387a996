"""What a user gives as a prior -> features, by where the rows of X lie."""

from __future__ import annotations

from typing import Any

from rprnmf.observed import BaseView
from rprnmf.priors.features import DataPart, GivenPart, Joined, MeanPart, Part, is_part
from rprnmf.priors.remote_features import features_here, features_in_blocks
from rprnmf.remote import RemoteArray


def make_features(given: Any, view: BaseView, matrix: Any, side: str) -> Part:
    """The features that ``row_prior`` or ``column_prior`` asks for.

    Parameters
    ----------
    given : "mean", "data", array, sparse array, DataFrame, or a list of these
        Where X is a Dask array also Dask arrays and DataFrames.
    view : BaseView
        With the rows that the features are of.
    matrix : {ndarray, sparse array}
        The same data as they were given.
    side : str
        For messages: "row" or "column", or what the rows are.
    """
    if isinstance(given, (list, tuple)) and any(is_part(part) for part in given):
        return Joined([make_features(part, view, matrix, side) for part in given])
    if isinstance(given, str) and given == "mean":
        return MeanPart(view)
    if isinstance(view.row_counts, RemoteArray):
        return features_in_blocks(given, view, side)
    if view.remote:
        return features_here(given, view, side)
    if isinstance(given, str):
        return DataPart(view, matrix)
    return GivenPart(given, view.shape[0], side)
