"""Ways to break a call; each must end in a ValueError or TypeError that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from tests.fuzz.draw import Call

Damage = Callable[[np.random.Generator, Call], bool]  # False: this call has nothing to break


def entry(value: float) -> Damage:
    """One bad entry in X."""

    def damage(rng: np.random.Generator, call: Call) -> bool:
        X = sp.csr_array(call.X).copy() if sp.issparse(call.X) else np.array(call.X, dtype=float)
        target = X.data if sp.issparse(X) else X
        if np.isnan(value) and call.model.missing == "nan":
            return False
        if target.size == 0:
            return False
        target.flat[rng.integers(target.size)] = value
        call.X = X
        return True

    return damage


def other_X(make: Callable[[np.ndarray], Any]) -> Damage:
    """Something that is no matrix of numbers."""

    def damage(rng: np.random.Generator, call: Call) -> bool:
        call.X = make(call.values)
        return True

    return damage


def index_out_of_range(rng: np.random.Generator, call: Call) -> bool:
    """A sparse matrix that lies."""
    X = sp.csr_array(call.values)
    if X.nnz == 0 or call.model.missing == "nan":
        return False
    X.indices[rng.integers(X.nnz)] = rng.choice([-1, X.shape[1], 10**6])
    call.X = X
    return True


def triplets(bad: Callable[[int], Any]) -> Damage:
    """Triplets that mean nothing; ``bad`` is given the number of points."""

    def damage(rng: np.random.Generator, call: Call) -> bool:
        names = [name for name in ("row_triplets", "column_triplets") if name in call.arguments]
        if not names:
            return False
        name = names[rng.integers(len(names))]
        call.arguments[name] = bad(call.values.shape[name == "column_triplets"])
        return True

    return damage


def labels(bad: Callable[[int], Any]) -> Damage:
    """Labels that are none."""

    def damage(rng: np.random.Generator, call: Call) -> bool:
        if "y" not in call.arguments:
            return False
        call.arguments["y"] = bad(len(call.values))
        return True

    return damage


def graph(bad: Callable[[int], Any]) -> Damage:
    """Weights that are none."""

    def damage(rng: np.random.Generator, call: Call) -> bool:
        if "row_graph" not in call.model.get_params() or len(call.values) < 2:
            return False
        call.model.set_params(row_graph=bad(len(call.values)))
        return True

    return damage


def parameter(*values: Any) -> Damage:
    """A value that no parameter has a use for, for one that is checked."""

    def damage(rng: np.random.Generator, call: Call) -> bool:
        free = {"callback", "random_state", "verbose", "row_graph", "column_graph"}
        names = sorted(set(call.model.get_params()) - free)
        call.model.set_params(
            **{names[rng.integers(len(names))]: values[rng.integers(len(values))]}
        )
        return True

    return damage


def start(bad: Callable[[np.ndarray], Any]) -> Damage:
    """Start factors that cannot be used."""

    def damage(rng: np.random.Generator, call: Call) -> bool:
        if call.model.init != "custom" or "W" not in call.arguments:
            return False
        name = "H" if "update_H" in call.arguments or rng.random() < 0.5 else "W"
        call.arguments[name] = bad(call.arguments[name])
        return True

    return damage


DAMAGES: dict[str, Damage] = {
    "negative entry": entry(-1.0),
    "infinite entry": entry(np.inf),
    "NaN": entry(np.nan),
    "three dimensions": other_X(lambda X: X[None]),
    "one dimension": other_X(lambda X: X[0]),
    "no rows": other_X(lambda X: X[:0]),
    "no columns": other_X(lambda X: X[:, :0]),
    "names for numbers": other_X(lambda X: np.full(X.shape, "a")),
    "complex": other_X(lambda X: X + 1j),
    "nothing": other_X(lambda X: None),
    "ragged": other_X(lambda X: [[1.0, 2.0], [3.0]]),
    "index out of range": index_out_of_range,
    "triplet out of range": triplets(lambda n: [[0, 1, n]]),
    "negative triplet": triplets(lambda n: [[0, 1, -1]]),
    "repeated item": triplets(lambda n: [[0, 1, 1]]),
    "pairs for triplets": triplets(lambda n: [[0, 1]]),
    "ragged triplets": triplets(lambda n: [[0, 1, 2], [0, 1]]),
    "floats for triplets": triplets(lambda n: [[0.0, 1.0, 2.0]]),
    "names without names": triplets(lambda n: [["a", "b", "c"]]),
    "a number for triplets": triplets(lambda n: 3),
    "too few labels": labels(lambda n: np.zeros(n + 1, dtype=int)),
    "fractions for labels": labels(lambda n: np.full(n, 0.5)),
    "table of labels": labels(lambda n: np.zeros((n, 2), dtype=int)),
    "graph of another size": graph(lambda n: np.ones((n + 1, n + 1))),
    "negative graph": graph(lambda n: -np.ones((n, n))),
    "NaN in a graph": graph(lambda n: np.full((n, n), np.nan)),
    "no graph of that name": graph(lambda n: "neighbours"),
    "lopsided graph": graph(lambda n: np.triu(np.ones((n, n)), 1)),
    "strange parameter": parameter("strange", [], {}, object()),
    "start of another shape": start(lambda F: F[:, :-1]),
    "negative start": start(lambda F: F - 2.0),
    "NaN in a start": start(lambda F: np.full_like(F, np.nan)),
    "no start": start(lambda F: None),
}


def break_call(call: Call) -> Call:
    """Break a call in a way that its seed decides."""
    rng = np.random.default_rng([call.seed, 1])
    names = list(DAMAGES)
    for place in rng.permutation(len(names)):
        if DAMAGES[names[place]](rng, call):
            call.broken = names[place]
            return call
    raise AssertionError("nothing could be broken")
