"""One random call from a seed: estimator, parameters, data and what is known.

Estimators are those of the package; the values of a parameter are read from its constraints, so
that a new option is drawn without a line here.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

import rprnmf
from rprnmf.losses import LOSSES, get_loss
from tests.builders import (
    LAYOUTS,
    lay_out,
    observed_mask,
    random_graph,
    random_mask,
    random_matrix,
    random_triplets,
)

ESTIMATORS = [
    kind
    for kind in (getattr(rprnmf, name) for name in rprnmf.__all__)  # the names are lazy
    if inspect.isclass(kind) and issubclass(kind, BaseEstimator)
]
SIZES = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0)
BETAS = (-1.0, 0, 0.5, 1, 1.5, 2, 2.5, 3)
EXTREME_SIZES = (1e-320, 1e-300, 1e-160, 1e-38, 1e30, 1e100, 1e160, 1e300)


@dataclass
class Call:
    """A call of `fit`, and what an oracle needs to know about it."""

    seed: int
    model: BaseEstimator
    X: Any
    arguments: dict[str, Any] = field(default_factory=dict)
    values: np.ndarray | None = None  # X as a dense array, whatever its layout
    mask: np.ndarray | None = None  # what of it is observed
    extreme: bool = False  # whether its entries are huge or tiny
    broken: str | None = None  # why it must fail

    def __str__(self) -> str:
        defaults = type(self.model)().get_params()
        changed = ", ".join(
            f"{name}={value if np.isscalar(value) or value is None else '...'}"
            for name, value in self.model.get_params().items()
            if not (np.isscalar(value) and value == defaults[name]) and value is not defaults[name]
        )
        kind = type(self.model).__name__
        shape = getattr(self.X, "shape", None)
        said = f"{kind}({changed}) on {type(self.X).__name__} {shape}"
        said += f" with {sorted(self.arguments)}"
        return said + (f", broken: {self.broken}" if self.broken else "")


def draw_call(seed: int, extreme: float = 0.0) -> Call:
    """The call that belongs to a seed; ``extreme`` is the share with huge or tiny entries."""
    rng = np.random.default_rng(seed)
    kind = ESTIMATORS[rng.integers(len(ESTIMATORS))]
    n, m = rng.integers(1, 5, 2) if rng.random() < 0.05 else rng.integers(5, 18, 2)
    hard = bool(rng.random() < extreme)
    values, mask = draw_values(rng, n, m, EXTREME_SIZES if hard else SIZES)
    losses = draw_loss(rng)
    beta = get_loss(losses["beta_loss"]).beta
    if beta is not None and beta <= 0 and rng.random() < 0.9:
        values = without_zeros(rng, values)
    layout = str(rng.choice(LAYOUTS))
    X, missing = lay_out(values, mask, layout)
    parameters = {
        name: draw_parameter(rng, constraints)
        for name, constraints in kind._parameter_constraints.items()
    }
    parameters |= losses | usual(rng, seed, missing)
    for side, size in (("row", n), ("column", m)):
        if f"{side}_graph" in parameters:
            parameters[f"{side}_graph"] = draw_graph(rng, size)
    model = kind(**{k: v for k, v in parameters.items() if v is not inspect.Parameter.empty})
    call = Call(seed, model, other_form(rng, X), draw_knowledge(rng, kind, n, m), extreme=hard)
    call.values, call.mask = values, observed_mask(mask, layout)
    if rng.random() < 0.15:
        call.arguments["entry_weights"] = draw_weights(rng, X)
    if model.init == "custom" or (kept := rng.random() < 0.05):
        K = model.n_components if isinstance(model.n_components, int) else m
        call.arguments |= {"W": rng.random((n, K)), "H": rng.random((K, m))}
        if model.init != "custom" and kept:
            call.arguments["update_H"] = False
    return call


def draw_values(
    rng: np.random.Generator, n: int, m: int, sizes: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Entries, and which of them are observed where some are not."""
    values = random_matrix(rng, n, m, zeros=rng.choice([0.0, 0.2, 0.8]))
    mask = random_mask(rng, n, m, share=rng.uniform(0.3, 1.0))
    form = rng.choice(["as it is", "whole numbers", "rank one", "constant", "empty lines"])
    if form == "whole numbers":
        values = np.round(values)
    elif form == "rank one":
        values = np.outer(rng.random(n), rng.random(m))
    elif form == "constant" and rng.random() < 0.3:
        values = np.ones((n, m))
    elif form == "empty lines" and n > 2 and m > 2:
        values[0] = values[:, 1] = 0.0
        mask[1] = mask[:, 0] = False
    values = values * sizes[rng.integers(len(sizes))]
    dtype = np.float32 if rng.random() < 0.25 else np.float64
    with np.errstate(over="ignore", under="ignore"):
        values = values.astype(dtype)
    if not np.isfinite(values).all():
        values = np.minimum(values, np.finfo(dtype).max)
    return values, mask


def without_zeros(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    """Zeros replaced by small numbers."""
    least = values[values > 0].min(initial=values.max(initial=0.0) or 1.0)
    return np.where(values == 0, least * values.dtype.type(rng.uniform(0.1, 1.0)), values)


def draw_loss(rng: np.random.Generator) -> dict[str, Any]:
    """A loss by name or by number, mostly with the solver that takes it."""
    names = sorted(LOSSES)
    form = rng.choice(["name", "name", "usual number", "any number"])
    loss: Any = names[rng.integers(len(names))]
    if form == "usual number":
        loss = BETAS[rng.integers(len(BETAS))]
    elif form == "any number":
        loss = float(rng.uniform(-2.0, 4.0))
    drawn = {"beta_loss": loss}
    if get_loss(loss).row_problem is None and rng.random() < 0.9:
        drawn["solver"] = "mu"
    return drawn


def draw_parameter(rng: np.random.Generator, constraints: list) -> Any:
    """A value that the constraints allow; `empty`, the default, if none can be drawn."""
    options: list[Any] = [inspect.Parameter.empty]
    for constraint in constraints:
        if isinstance(constraint, StrOptions):
            options += sorted(constraint.options)
        elif constraint is None:
            options.append(None)
        elif constraint == "boolean":
            options += [True, False]
        elif isinstance(constraint, Interval):
            low, high = constraint.left, constraint.right
            if constraint.type is Integral:
                drawn: Any = int(rng.integers(1, 7))
            else:
                drawn = (
                    float(rng.uniform(low, high))
                    if high is not None and low is not None
                    else (float(10.0 ** rng.uniform(-3, 2)))
                )
            options.append(drawn)
    return options[rng.integers(len(options))]


def usual(rng: np.random.Generator, seed: int, missing: str | None) -> dict[str, Any]:
    """Parameters that must fit the data, or that would only cost time."""
    chosen: dict[str, Any] = {
        "missing": missing,
        "missing_weight": 0.0,
        "random_state": seed,
        "max_iter": int(rng.integers(1, 16)),
        "tol": float(rng.choice([0.0, 1e-4])),
        "n_init": int(rng.choice([1, 1, 1, 2])),
        "n_jobs": [None, 1, 2][rng.integers(3)],
        "callback": None,
        "verbose": 0,
        "shuffle": False,
    }
    if rng.random() < 0.9:
        chosen["n_components"] = int(rng.integers(1, 7))
    if rng.random() < 0.6:
        chosen["alpha_W"] = 0.0
    if missing is not None and rng.random() < 0.2:
        chosen["missing_weight"] = float(10.0 ** rng.uniform(-3, 1))
    if missing is not None and rng.random() < 0.9:
        chosen["init"] = None if rng.random() < 0.5 else "random"
    return chosen


def draw_weights(rng: np.random.Generator, X: Any) -> Any:
    """A weight for each entry, some of them 0."""
    size = len(X.data) if sp.issparse(X) else X.shape
    weights = rng.gamma(1.0, 10.0 ** rng.uniform(-2, 2), size)
    weights[rng.random(size) < 0.1] = 0.0
    if sp.issparse(X):
        return sp.csr_array((weights, X.indices.copy(), X.indptr.copy()), shape=X.shape)
    return weights


def draw_graph(rng: np.random.Generator, size: int) -> Any:
    """Weights, dense or sparse, or neighbours, or nothing."""
    form = rng.choice(["none", "none", "knn", "dense", "sparse"])
    if form == "none":
        return None
    if form == "knn":
        return "knn"
    weights = random_graph(rng, size)
    return weights if form == "dense" else sp.csr_array(weights)


def draw_knowledge(rng: np.random.Generator, kind: type, n: int, m: int) -> dict[str, Any]:
    """What `fit` takes beside X: triplets, labels."""
    takes = inspect.signature(kind.fit).parameters
    known: dict[str, Any] = {}
    for name, size in (("row_triplets", n), ("column_triplets", m)):
        if name in takes and size >= 3 and rng.random() < 0.7:
            triplets = random_triplets(rng, size, int(rng.integers(1, 2 * size)))
            weights = rng.integers(1, 4, len(triplets)) if rng.random() < 0.3 else None
            forms = [triplets, triplets.tolist(), rprnmf.Triplets(triplets, weights=weights)]
            known[name] = forms[2 if weights is not None else rng.integers(3)]
    if "column_labels" in takes:
        for name, size in (("y", n), ("column_labels", m)):
            if rng.random() < 0.7:
                known[name] = rng.integers(-1, 4, size)
    return known


def other_form(rng: np.random.Generator, X: Any) -> Any:
    """The same matrix as another container that a user may pass."""
    if sp.issparse(X):
        form = rng.choice(["csr", "csc", "coo", "matrix", "read-only", "long"])
        if form in ("csc", "coo"):
            return X.asformat(form)
        if form == "matrix":
            return sp.csr_matrix(X)
        if form == "read-only":
            for part in (X.data, X.indices, X.indptr):
                part.flags.writeable = False
        if form == "long":
            X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        return X
    form = rng.choice(["array", "Fortran", "view", "read-only", "list"])
    if form == "Fortran":
        return np.asfortranarray(X)
    if form == "view":
        return np.repeat(X, 2, axis=0)[::2]
    if form == "read-only":
        X.flags.writeable = False
    if form == "list" and X.dtype == np.float64:
        return X.tolist()
    return X
