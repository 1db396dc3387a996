"""What `set_fit_request` and its like have set: which metadata scikit-learn routes to a model."""

from __future__ import annotations

from typing import Any

ATTRIBUTE = "_metadata_request"
Requests = dict[str, dict[str, Any]]


def requests_of(model: Any) -> Requests | None:
    """By method and parameter: True, False, None, or another name; None if nothing was set."""
    if ATTRIBUTE not in vars(model):
        return None
    found = getattr(model, ATTRIBUTE)
    methods = _methods(model)
    return {method: dict(getattr(found, method).requests) for method in methods}


def set_requests(model: Any, requests: Any) -> None:
    """Set them again."""
    if requests is None:
        return
    known = _methods(model)
    if not isinstance(requests, dict) or not set(requests) <= set(known):
        raise ValueError(f"metadata are requested by {', '.join(known)} alone.")
    routing = model._get_metadata_request()
    for method, wanted in requests.items():
        request = getattr(routing, method)
        if not isinstance(wanted, dict) or not set(wanted) <= set(request.requests):
            raise ValueError(f"{method} has no such metadata: {str(wanted)[:60]}.")
        for name, alias in wanted.items():
            if not (alias is None or isinstance(alias, bool | str)):
                raise ValueError(f"the request of {name} must be a name, True, False or None.")
            request.add_request(param=name, alias=alias)
    setattr(model, ATTRIBUTE, routing)


def _methods(model: Any) -> list[str]:
    """Those that take metadata."""
    return sorted(type(model)()._get_metadata_request()._serialize())
