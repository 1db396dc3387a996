"""The models that can be saved: one line each, and what a fit leaves in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rprnmf.estimators import GNMF, LCNMF, NMF, RPRNMF
from rprnmf.estimators.prior import LearnedPrior
from rprnmf.estimators.stream import ATTRIBUTES, Stream
from rprnmf.estimators.teaching import Chances
from rprnmf.penalties import DISTANCES
from rprnmf.persistence import recommenders
from rprnmf.persistence.containers import each, entries, maybe, names, unmet
from rprnmf.persistence.objects import Objects, an
from rprnmf.persistence.schemas import FACTOR, KNOWN, LEARNED, STREAMS, features, positions
from rprnmf.persistence.specs import (
    Sizes,
    Spec,
    check_fields,
    flag,
    floats,
    number,
    one_of,
    records,
    size,
    whole,
)
from rprnmf.recommend.recommender import Recommender
from rprnmf.triplets.posterior import Belief

#: classes whose objects may be part of a model
OBJECTS = Objects(KNOWN | recommenders.KNOWN)
#: of every model, fitted or not, where they are set
ANY: dict[str, Spec] = {
    "_sklearn_output_config": entries(transform=one_of(("default", "pandas", "polars", None))),
}
FITTED: dict[str, Spec] = {
    "embedding_": floats("n", "K", least=0.0, dtypes=FACTOR),
    "components_": floats("K", "m", least=0.0, dtypes=FACTOR),
    "n_components_": size("K"),
    "n_features_in_": size("m"),
    "n_iter_": whole(),
    "converged_": flag,
    "history_": records("objective", "loss", "seconds"),
    "reconstruction_err_": number(0.0),
    "row_names_": maybe(names("n")),
    "column_names_": maybe(names("m")),
    "row_satisfied_rate_": number(0.0, missing=True),
    "column_satisfied_rate_": number(0.0, missing=True),
    "_spread": number(0.0),
    "prior_": each(
        tuple,
        maybe(an(LEARNED, LearnedPrior, n="n", K="K", F="row features")),
        maybe(an(LEARNED, LearnedPrior, n="m", K="K", F="column features")),
    ),
    "_features": each(
        list, features("n", "m", "row features"), features("m", "n", "column features")
    ),
}
#: of a fit that had names, a prior, or missing entries, and of a stream
SOMETIMES: dict[str, Spec] = {
    "n_steps_": whole(),
    "n_samples_seen_": whole(),
    "_stream": an(STREAMS, Stream, m="m", K="K"),
    "_counts": floats("m", least=0.0),
    "_highest": maybe(number(0.0)),
    "feature_names_in_": names("m"),
    "_pull_unit": number(0.0),
    "_pull_of_new_rows": maybe(number(0.0)),
}
GRAPHS: dict[str, Spec] = {
    "graph_strength_": each(tuple, maybe(number(0.0)), maybe(number(0.0))),
}
COMPARED: dict[str, Spec] = {
    "row_triplets_": positions("n"),
    "column_triplets_": positions("m"),
    "row_unmet_": unmet,
    "column_unmet_": unmet,
    "distance_": one_of(DISTANCES),
    "_taught": flag,
    "_chances": each(list, *[maybe(an(LEARNED, Chances))] * 2),
    "_beliefs": entries(
        row=an(LEARNED, Belief, n="n", K="K"), column=an(LEARNED, Belief, n="m", K="K")
    ),
}


def _check_together(found: dict[str, Any]) -> None:
    """What no attribute of an estimator tells alone."""
    if found["embedding_"].dtype != found["components_"].dtype:
        raise ValueError("embedding_ and components_ must be of the same dtype.")
    for prior, part in zip(found["prior_"], found["_features"], strict=True):
        if (prior is None) != (part is None):
            raise ValueError("a prior must have features, and features a prior.")
    if found["prior_"][0] is not None and not {"_pull_unit", "_pull_of_new_rows"} <= set(found):
        raise ValueError("a prior of rows must have _pull_unit and _pull_of_new_rows.")
    if 0 < sum(name in found for name in ATTRIBUTES) < len(ATTRIBUTES):
        raise ValueError(f"a stream must have {', '.join(ATTRIBUTES)}.")
    sums = found["_stream"].sums.numerator if "_stream" in found else found["components_"]
    if sums.dtype != found["components_"].dtype:
        raise ValueError("the sums of a stream must have the dtype of components_.")
    if "feature_names_in_" in found:
        columns = found["feature_names_in_"]
        if columns.dtype != np.dtype(object) or not all(type(name) is str for name in columns):
            raise ValueError("feature_names_in_ must be text.")


class Kept(NamedTuple):
    """What files hold of one class beside its parameters.

    Attributes
    ----------
    fitted : dict
        What every fit leaves, by name.
    sometimes : dict, default={}
        What some fits leave.
    rule : callable, default=_check_together
        Called with all attributes: what none of them tells alone. Raises ValueError.
    left_out : tuple of str, default=()
        Attributes that are not in files.
    complete : callable, default=None
        Called with a model whose attributes were read and checked: sets what follows from them.
    """

    fitted: dict[str, Spec]
    sometimes: dict[str, Spec]
    rule: Callable[[dict[str, Any]], None] = _check_together
    left_out: tuple[str, ...] = ()
    complete: Callable[[Any], None] | None = None


#: the classes, and what a fit leaves in them
MODELS: dict[type, Kept] = {
    NMF: Kept(FITTED, SOMETIMES),
    LCNMF: Kept(FITTED, SOMETIMES),
    GNMF: Kept(FITTED | GRAPHS, SOMETIMES),
    RPRNMF: Kept(FITTED | GRAPHS | COMPARED, SOMETIMES),
    Recommender: Kept(
        recommenders.FITTED,
        recommenders.SOMETIMES,
        recommenders.check_together,
        recommenders.LEFT_OUT,
        recommenders.complete,
    ),
}


def known_attributes(kind: type) -> set[str]:
    """All that a model of this class may have in a file beside its parameters."""
    return {*MODELS[kind].fitted, *MODELS[kind].sometimes, *ANY}


def is_fitted(kind: type, attributes: dict[str, Any]) -> bool:
    """Whether there is something that a fit leaves."""
    return any(name in attributes for name in (*MODELS[kind].fitted, *MODELS[kind].sometimes))


def check_model(model: Any, attributes: dict[str, Any]) -> bool:
    """Raise ValueError if the parts of a model do not fit together; nothing of it runs.

    Parameters
    ----------
    model : estimator
    attributes : dict
        What it has beside its parameters.

    Returns
    -------
    fitted : bool
    """
    kind = type(model)
    kept = MODELS[kind]
    always = {name: spec for name, spec in ANY.items() if name in attributes}
    fitted = {}
    if is_fitted(kind, attributes):
        present = {name: spec for name, spec in kept.sometimes.items() if name in attributes}
        fitted = kept.fitted | present
    sizes: Sizes = {}
    check_fields(attributes, fitted | always, kind.__name__, sizes)
    if fitted:
        kept.rule(attributes)
        model._validate_params()
    return bool(fitted)
