"""What must hold of every call, whatever was drawn."""

from __future__ import annotations

import inspect
import pickle
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from rprnmf.graphs import check_graph
from rprnmf.triplets import as_triplets
from tests.fuzz.draw import Call
from tests.oracles.objective import BETAS, distance, model_floor, slow_loss, slow_objective

SIDES = ("row", "column")
DESCENT = ("cd", "mu")  # solvers that promise that the objective does not rise
REFUSALS = (ValueError, TypeError)


class Broken(AssertionError):  # noqa: N818
    """A promise that does not hold."""


def ensure(holds: Any, promise: str) -> None:
    """Plain `assert` is rewritten by pytest alone."""
    if not holds:
        raise Broken(promise)


def check_call(call: Call) -> str:
    """Run a call and check all promises: "fitted", or "refused: " and the message."""
    before = frozen([call.X, call.arguments, call.model.get_params()])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model = clone(call.model).fit(call.X, **call.arguments)
        except REFUSALS as error:
            ensure(len(str(error)) > 15, f"a message that says something, not {error!r}")
            ensure(frozen([call.X, call.arguments, call.model.get_params()]) == before, "no change")
            return f"refused: {error}"
        new = model.transform(call.X)
    numeric = [str(w.message) for w in said if "encountered in" in str(w.message)]
    ensure(not numeric, f"no warning of numpy, but {numeric[:1]}")
    ensure(frozen([call.X, call.arguments, call.model.get_params()]) == before, "inputs as before")
    check_factors(call, model, new)
    check_history(call, model)
    check_rates(call, model)
    check_objective(call, model)
    check_repeats(call, model, new)
    check_new_rows(call, model)
    return "fitted"


def check_broken(call: Call) -> str:
    """A call that must fail, on an estimator that was fitted before, which it leaves alone."""
    fitted = type(call.model)(2, max_iter=2, tol=0.0, random_state=0)
    fitted.fit(np.random.default_rng(0).random((6, 5)))
    fitted.set_params(**call.model.get_params())
    before = frozen(vars(fitted))
    inputs = frozen([call.X, call.arguments])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted.fit(call.X, **call.arguments)
        except REFUSALS as error:
            ensure(len(str(error)) > 15, f"a message that says something, not {error!r}")
        else:
            raise Broken("an error")
    ensure(frozen(vars(fitted)) == before, "the estimator as it was before the failed fit")
    ensure(frozen([call.X, call.arguments]) == inputs, "inputs as before")
    return f"broken: {call.broken}"


def check_factors(call: Call, model: Any, new: np.ndarray) -> None:
    """Shapes, signs, finite numbers."""
    n, m = call.values.shape
    K = model.n_components_
    for name, factor, shape in (
        ("embedding_", model.embedding_, (n, K)),
        ("components_", model.components_, (K, m)),
        ("transform", new, (n, K)),
    ):
        ensure(factor.shape == shape, f"{name} of shape {shape}, not {factor.shape}")
        ensure(np.isfinite(factor).all(), f"{name} finite")
        ensure((factor >= 0).all(), f"{name} at least 0")
    ensure(np.isfinite(model.reconstruction_err_), "reconstruction_err_ finite")


def check_history(call: Call, model: Any) -> None:
    """Finite, and never rising where the strengths are as before."""
    history = model.history_
    ensure(len(history) == model.n_iter_, "one record for each iteration")
    ensure(np.isfinite(history["objective"]).all(), "a finite objective")
    if model.solver not in DESCENT:
        return
    steady = np.ones(len(history) - 1, dtype=bool)
    for side in SIDES:
        strength = np.nan_to_num(history[f"{side}_strength"])
        steady &= np.diff(strength) == 0
    slack = rounding(call) * np.abs(history["objective"][:-1])
    rise = (np.diff(history["objective"]) - slack)[steady].max(initial=-np.inf)
    ensure(rise <= 0, f"no rise of the objective, but {rise:g} of {history['objective'][0]:g}")


def rounding(call: Call) -> float:
    """What counts as equal, relative."""
    return 1e-5 if call.values.dtype == np.float32 else 1e-12


def check_rates(call: Call, model: Any) -> None:
    """The satisfied rates, counted one by one; a tie may fall to either side."""
    name = resolved(model).distance
    for side, factor in zip(SIDES, (model.embedding_, model.components_.T), strict=True):
        rate = getattr(model, f"{side}_satisfied_rate_", np.nan)
        items = as_triplets(call.arguments.get(f"{side}_triplets")).items
        if len(items) == 0:
            ensure(np.isnan(rate), f"no {side} rate without triplets")
            continue
        F = factor.astype(np.float64)
        floor = float(np.finfo(float).eps * F.mean()) or np.finfo(float).eps
        apart = [[distance(name, F[q], F[other], floor) for other in (r, s)] for q, r, s in items]
        near, far = np.array(apart).T
        tied = np.abs(near - far) <= 1e3 * np.finfo(factor.dtype).eps * (near + far)
        least, most = np.mean((near < far) & ~tied), np.mean((near < far) | tied)
        ensure(least - 1e-12 <= rate <= most + 1e-12, f"{side} rate {rate} in {least} to {most}")


def resolved(model: Any) -> SimpleNamespace:
    """The parameters with what "auto" stands for."""
    given = {name: value for name, value in vars(model).items() if not name.endswith("_")}
    paper = given["solver"] == "paper"
    own = "euclidean" if not paper or given["beta_loss"] == "frobenius" else "divergence"
    if given.get("penalty", "auto") == "auto":
        given["penalty"] = "squared_hinge"
    if given.get("distance", "auto") == "auto":
        given["distance"] = own
    return SimpleNamespace(**given)


def check_objective(call: Call, model: Any) -> None:
    """The last recorded objective, against sums written out."""
    settings = resolved(model)
    out_of_scope = settings.solver not in DESCENT or "update_H" in call.arguments
    # weighted losses are written out in tests/oracles/weights.py
    out_of_scope |= settings.missing_weight > 0 or "entry_weights" in call.arguments
    out_of_scope |= call.extreme  # plain sums would overflow, or be nothing but rounding
    out_of_scope |= getattr(model, "_taught", False)  # the margin is learned, and not recorded
    highest = model._highest  # rows are drawn back after the fit where they predict more than this
    if highest is not None and (model.embedding_ @ model.components_).max() > 0.999 * highest:
        return
    if out_of_scope or not call.values[call.mask].any():
        return
    last = model.history_[-1]
    knowledge, graphs = {}, []
    for side in SIDES:
        triplets = as_triplets(call.arguments.get(f"{side}_triplets"))
        if len(triplets.items):
            # a weight of 3 is a triplet three times
            knowledge[f"{side}_triplets"] = np.repeat(
                triplets.items, triplets.weights.astype(int), axis=0
            )
        given = getattr(settings, f"{side}_graph", None)
        S = check_graph(given, call_matrix(call), getattr(settings, "n_neighbors", 5), side)
        strength = getattr(model, "graph_strength_", (0.0, 0.0))[SIDES.index(side)]
        graphs.append(None if S is None else strength * S.toarray())
    settings.graph_strength = 1.0
    strengths = last["row_strength"], last["column_strength"]
    W, H = model.embedding_.astype(np.float64), model.components_.astype(np.float64)
    X = np.where(call.mask, call.values, 0.0).astype(np.float64)
    with np.errstate(all="ignore"):
        slow = slow_objective(settings, X, call.mask, W, H, knowledge, graphs, strengths)
        for prior, F in zip(model.prior_, (W, H.T), strict=True):
            if prior is not None:
                apart = prior.weights @ np.sum((F - prior.means) ** 2, axis=1)
                slow += apart + prior.ridge * np.sum(prior.coefficients**2)
    if not np.isfinite(slow):
        return  # points that are all equal have no scale, and sums may overflow: nothing to say
    seen, single = X[call.mask], call.values.dtype == np.float32
    beta = float(BETAS.get(settings.beta_loss, settings.beta_loss))
    lowest = (W @ H)[call.mask][seen > 0].min(initial=np.inf)
    if beta != 2 and single and lowest < 10 * model_floor(beta, single) * seen.mean():
        return  # the model's floor is higher in single precision, and the oracle has one floor
    unit = slow_loss(settings.beta_loss).unit(seen)
    slack = (2e-3 if single else 1e-6) * abs(slow) + (1e-5 if single else 1e-12) * unit
    recorded = last["objective"]
    ensure(abs(recorded - slow) <= slack, f"the objective {slow:.12g}, recorded is {recorded:.12g}")


def call_matrix(call: Call) -> Any:
    """X as the estimator sees it."""
    return sp.csr_array(call.X) if sp.issparse(call.X) else np.asarray(call.X)


def check_repeats(call: Call, model: Any, new: np.ndarray) -> None:
    """The same seed, and a pickle, give the same to the last digit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = clone(call.model).fit(call.X, **call.arguments)
        loaded = pickle.loads(pickle.dumps(model))
        moved = loaded.transform(call.X)
    names = [name for name in vars(model) if name.endswith("_") and name != "history_"]
    for what, other in (("a second fit", again), ("a pickle", loaded)):
        for name in names:
            same = frozen(getattr(other, name)) == frozen(getattr(model, name))
            ensure(same, f"{name} of {what} equal")
    ensure(np.array_equal(moved, new), "transform of a pickle equal")


def check_new_rows(call: Call, model: Any) -> None:
    """Rows folded in with comparisons to the training rows."""
    n = len(call.values)
    if "row_triplets" not in inspect.signature(model.transform).parameters or n < 2:
        return
    known = [[n, 0, 1], [n + 1, n, 0]]
    before = frozen(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            new = model.transform(call.X, row_triplets=known)
        except REFUSALS as error:
            ensure(len(str(error)) > 15, f"a message that says something, not {error!r}")
            new = model.embedding_
    ensure(new.shape == model.embedding_.shape, "a row of transform for each row of X")
    ensure(np.isfinite(new).all() and (new >= 0).all(), "transform with triplets sound")
    ensure(frozen(vars(model)) == before, "a model that transform leaves as it was")


def frozen(value: Any) -> Any:
    """Something that is equal as long as nothing of the value has changed."""
    if isinstance(value, dict):
        return {key: frozen(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [frozen(item) for item in value]
    if sp.issparse(value):
        parts = (getattr(value, name, None) for name in ("data", "indices", "indptr", "coords"))
        return [value.shape, value.format, *(frozen(part) for part in parts)]
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if hasattr(value, "items") and hasattr(value, "weights"):
        return frozen([value.items, value.weights])
    return repr(value)
