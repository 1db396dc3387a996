"""What a fit of a Dask array refuses, before any of it is read."""

from __future__ import annotations

from typing import Any

from rprnmf.priors.remote_data import refuse_many_columns


def refuse_in_blocks(model: Any, X: Any, start: Any, knowledge: dict[str, Any]) -> None:
    """Refuse what needs all rows of X in one place.

    Parameters
    ----------
    model : ComposedNMF
    X : dask array
    start : Start
    knowledge : dict
        What ``fit`` was given beside X.
    """
    if not model._solver.takes_blocks:
        raise ValueError(
            f"solver {model.solver!r} needs X in one place, and X is a Dask array; use "
            "solver='cd' or solver='mu'."
        )
    if model.init == "nndsvdar":
        raise ValueError(
            "init='nndsvdar' is not made for an X that lies in blocks; use 'random', 'nndsvd', "
            "'nndsvda' or 'custom'."
        )
    if not start.update:
        raise ValueError(
            "update_H=False cannot be given where X is a Dask array; a fitted model places new "
            "rows with transform, which is lazy."
        )
    for side in ("row", "column"):
        graph = getattr(model, f"{side}_graph", None)
        if isinstance(graph, str):
            raise ValueError(
                f"{side}_graph={graph!r} compares all {side}s of X, which lies in blocks; pass a "
                "sparse matrix of weights."
            )
    weighed = knowledge.get("entry_weights") is not None or model.missing_weight > 0
    if weighed and knowledge.get("y") is not None:
        raise ValueError(
            "labels of rows cannot be combined with entry_weights or missing_weight where X is a "
            "Dask array; leave one of the two out, or fit with X in one place."
        )
    given = model.column_prior
    asked = given if isinstance(given, (list, tuple)) else [given]
    if model.missing is None and any(isinstance(one, str) and one == "data" for one in asked):
        refuse_many_columns(X.shape[1])
