"""Non-negative matrix factorisation that respects relative comparisons."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rprnmf.estimators import GNMF, LCNMF, NMF, RPRNMF
    from rprnmf.persistence import load, save
    from rprnmf.tops import top_features, top_items
    from rprnmf.triplets import Triplets

__version__ = "0.1.0"

__all__ = [
    "GNMF",
    "LCNMF",
    "NMF",
    "RPRNMF",
    "Triplets",
    "__version__",
    "load",
    "save",
    "top_features",
    "top_items",
]

# Names are looked up when they are first used: the command line starts without numba and
# scikit-learn, which take seconds to load.
_HOME = {
    "GNMF": "estimators",
    "LCNMF": "estimators",
    "NMF": "estimators",
    "RPRNMF": "estimators",
    "Triplets": "triplets",
    "load": "persistence",
    "save": "persistence",
    "top_features": "tops",
    "top_items": "tops",
}
_ROOMS = (
    "datasets",
    "estimators",
    "experiments",
    "inputs",
    "metrics",
    "model_selection",
    "persistence",
    "plotting",
    "recommend",
    "triplets",
)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        found = getattr(import_module(f"rprnmf.{_HOME[name]}"), name)
        globals()[name] = found
        return found
    if name in _ROOMS:
        return import_module(f"rprnmf.{name}")
    raise AttributeError(f"module 'rprnmf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_ROOMS})
