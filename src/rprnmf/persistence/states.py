"""Models and triplets as headers and arrays, and back."""

from __future__ import annotations

import warnings
from typing import Any

from rprnmf.estimators.sklearn_callbacks import TEARDOWN
from rprnmf.persistence.models import MODELS, OBJECTS, check_model, known_attributes
from rprnmf.persistence.objects import Objects
from rprnmf.persistence.pool import Pool, fields
from rprnmf.persistence.reading import Reader
from rprnmf.persistence.requests import ATTRIBUTE, requests_of, set_requests
from rprnmf.persistence.schemas import TRIPLETS
from rprnmf.persistence.writing import Writer
from rprnmf.triplets import Triplets

STATE = 1  # the version of what a model consists of
CALLBACKS = "_skl_callbacks"  # of scikit-learn's set_callbacks
COMMON = ("class", "state", "written")  # parts of every header


def model_parts(model: Any, pool: Pool) -> dict[str, Any]:
    """The parameters and attributes of a model as nodes, after the checks that `load` makes."""
    parameters = model.get_params(deep=False)
    known = known_attributes(type(model))
    out = (*MODELS[type(model)].left_out, ATTRIBUTE, *TEARDOWN)
    attributes = {
        name: value
        for name, value in vars(model).items()
        if name not in parameters and name not in out
    }
    lost = [name for name in attributes if name not in known and name != CALLBACKS]
    lost += [name for name, value in parameters.items() if callable(value)]
    lost += ["the callbacks of set_callbacks"] if attributes.get(CALLBACKS) else []
    kept = {name: value for name, value in attributes.items() if name in known}
    check_model(model, kept)
    writer, plain = Writer(pool, OBJECTS), Writer(pool)
    found = {
        "parameters": {
            name: plain.node(None if callable(value) else value, name)
            for name, value in parameters.items()
        },
        "attributes": {name: writer.node(value, name) for name, value in kept.items()},
        "requests": requests_of(model),
    }
    if lost:
        warnings.warn(
            f"{', '.join(lost)} of {type(model).__name__} cannot be saved and will be missing "
            "when the file is loaded: functions and attributes that a fit did not set are left "
            "out.",
            UserWarning,
            stacklevel=3,
        )
    return found


def triplets_parts(triplets: Triplets, pool: Pool) -> dict[str, Any]:
    """Triplets as a node."""
    return {"value": Writer(pool, OBJECTS).node(triplets, "Triplets")}


def built(header: dict[str, Any], pool: Pool) -> Any:
    """What a header describes; ValueError, TypeError or OverflowError if it is not in order."""
    state, name = header.get("state"), header.get("class")
    if type(state) is not int or state != STATE:
        raise ValueError(
            f"the version of its content is {str(state)[:20]}, this rprnmf reads {STATE}; a newer "
            "rprnmf may read it."
        )
    kinds = {kind.__name__: kind for kind in (*MODELS, Triplets)}
    if not isinstance(name, str) or name not in kinds:
        raise ValueError(f"models of the class {str(name)[:40]!r} are not known.")
    kind = kinds[name]
    found = _triplets(header, pool) if kind is Triplets else _model(kind, header, pool)
    pool.check_empty()
    return found


def _triplets(header: dict[str, Any], pool: Pool) -> Triplets:
    *_, node = fields(header, (*COMMON, "value"), "a file of triplets")
    value = Reader(pool, Objects(TRIPLETS)).value(node)
    if type(value) is not Triplets:
        raise ValueError("a file of triplets must hold triplets.")
    return value


def _model(kind: Any, header: dict[str, Any], pool: Pool) -> Any:
    names = (*COMMON, "parameters", "attributes", "requests")
    *_, parameters, attributes, requests = fields(header, names, "a model")
    _check_names(parameters, kind._get_param_names(), "parameters")
    _check_names(attributes, known_attributes(kind), "attributes")
    plain, reader = Reader(pool), Reader(pool, OBJECTS)
    model = kind(**{name: plain.value(node) for name, node in parameters.items()})
    found = {name: reader.value(node) for name, node in attributes.items()}
    fitted = check_model(model, found)
    vars(model).update(found)
    complete = MODELS[kind].complete
    if fitted and complete is not None:
        complete(model)
    set_requests(model, requests)
    return model


def _check_names(found: Any, known: Any, what: str) -> None:
    if not isinstance(found, dict):
        raise ValueError(f"its {what} must be an object.")
    unknown = sorted(set(found) - set(known))
    if unknown:
        raise ValueError(f"its {what} must be among those of the class, got {str(unknown)[:80]}.")
