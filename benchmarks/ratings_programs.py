"""The programs that `ratings` compares: ours and the peers, with the settings of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import MissingError, data_file
from environments import run
from workers.ratings_protocol import Fold, inner, timed

from rprnmf import NMF

K, GOAL = 20, 0.860
BUDGET = 60.0  # seconds of fits in which a peer's setting is followed
WEIGHTS = (0.03, 0.045, 0.06, 0.08)
FEW = (1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 29, 38, 50)  # iterations tried: alternating programs
MANY = (5, 10, 20, 35, 60, 100)  # and those of small steps
PLAIN = [{"regularisation": weight} for weight in WEIGHTS]
BIASED = [
    {"regularisation": weight, "biased": biased} for weight in (0.06,) for biased in (False, True)
]
OURS: dict[str, tuple[list[dict], int]] = {  # settings and the most iterations
    "rprnmf float32": (PLAIN, 60),
    "rprnmf float64": (PLAIN, 60),
    "rprnmf paper": ([{}], 100),
}
PEERS: dict[str, tuple[str, list[dict], tuple[int, ...], dict]] = {
    "cmfrec float32": ("cmfrec", PLAIN, FEW, {"single": True}),
    "cmfrec float64": ("cmfrec", PLAIN, FEW, {"single": False}),
    "Surprise NMF": ("surprise", BIASED, MANY, {"svdpp": False}),
    "cornac NMF": ("cornac", BIASED, MANY, {}),
    "wNMF": ("wnmf", [{}], (10, 30, 100), {}),
    "Surprise SVD++": (
        *("surprise", [{"regularisation": 0.02, "biased": True}], (20,)),
        {"svdpp": True},
    ),
}
ONCE = ("Surprise SVD++",)  # minutes a run: one fold, the number of epochs it has by default


def split(fold: int) -> Fold:
    """A tenth of the ratings held out, at random with a fixed seed."""
    data = data_file("movielens_1m.npz")
    rows = data["user_id"].astype(np.int32) - 1
    columns = np.unique(data["movie_id"], return_inverse=True)[1].astype(np.int32)
    values = data["rating"].astype(float)
    part = np.random.default_rng(0).permutation(len(values)) % 10
    train, test = part != fold, part == fold
    shape = int(rows.max()) + 1, int(columns.max()) + 1
    matrix = sp.coo_matrix((values[train], (rows[train], columns[train])), shape=shape)
    return Fold(matrix, rows[test], columns[test], values[test])


def model(name: str, n: int, regularisation: float = 0.0) -> NMF:
    """One of ours."""
    solver = {"solver": "paper"} if name == "rprnmf paper" else {"alpha_W": regularisation}
    solver |= {"row_prior": None, "column_prior": None}
    return NMF(K, missing="zero", tol=0, max_iter=n, n_jobs=1, random_state=0, **solver)


def our_fit(name: str) -> Callable:
    """`fit(train, n, **setting)` as the workers have it."""
    dtype = np.float32 if name == "rprnmf float32" else np.float64

    def fit(train, n, **setting):
        done = model(name, n, **setting).fit(train.tocsr().astype(dtype))
        return inner(done.embedding_, done.components_.T)

    return fit


def our_trace(name: str, fold: Fold, most: int, setting: dict) -> dict[str, Any]:
    """What `follow` finds for a peer, by one fit with a callback."""
    values: list[float] = []
    fitted = model(name, most, **setting)
    # once the RMSE has risen ten times it will not fall again
    fitted.set_params(
        callback=lambda state: (
            values.append(fold.rmse(inner(state.W, state.H.T)))
            or len(values) - np.argmin(values) > 10
        )
    )
    dtype = np.float32 if name == "rprnmf float32" else np.float64
    fitted.fit(fold.train.astype(dtype))
    there = [i + 1 for i, value in enumerate(values) if value <= GOAL]
    one, five = (timed(our_fit(name), fold, n, setting)["seconds"] for n in (1, 5))
    seconds = [one + i * (five - one) / 4 for i in range(len(values))]  # without a callback
    return {"seconds": seconds, "values": values, "n": there[0] if there else 0}


class Program:
    """A program with the setting that is chosen on the first fold."""

    def __init__(self, name: str, quick: bool):
        self.name, self.quick = name, quick
        self.failed, self.best, self.line = "", np.inf, ([], [])
        settings = OURS[name][0] if name in OURS else PEERS[name][1]
        self.settings = (
            [s for s in settings if s.get("regularisation", 0.06) == 0.06] if quick else settings
        )
        self.setting: dict | None = None

    def task(
        self, fold: Fold, task: str, setting: dict, n: int = 0, stop: bool = False
    ) -> dict[str, Any]:
        """Follow the program (`stop`: to the goal only), or time it with n iterations."""
        if self.name in OURS:
            if task == "follow":
                most = OURS[self.name][1] // (5 if self.quick else 1)
                return our_trace(self.name, fold, most, setting)
            return timed(our_fit(self.name), fold, n, setting)
        environment, _, counts, more = PEERS[self.name]
        train = fold.train
        inputs = {"rows": train.row, "columns": train.col, "values": train.data}
        inputs |= {"shape": train.shape, "test_rows": fold.rows, "test_columns": fold.columns}
        inputs |= {"test_values": fold.values, "goal": GOAL, "counts": counts, "n": n, "K": K}
        inputs |= {"budget": BUDGET / 10 if self.quick else BUDGET, "task": task, "stop": stop}
        return run(environment, **inputs, **more, **setting)

    def choose(self, fold: Fold) -> None:
        """The setting that gets to the goal first or, if none does, gets nearest to it."""
        found = []
        for setting in self.settings:
            done = self.task(fold, "follow", setting)
            self.best = min(self.best, float(np.min(done["values"])))
            n = int(done["n"])
            reached = [s for s, v in zip(done["seconds"], done["values"], strict=True) if v <= GOAL]
            order = (0, reached[0]) if n else (1, float(np.min(done["values"])))
            found.append((order, setting, done))
        _, self.setting, done = min(found, key=lambda item: item[0])
        self.line = done["seconds"], done["values"]
        self.first = done

    def once(self, repeat: int) -> dict[str, Any] | None:
        """Find the iterations on this fold, then time one whole fit with them."""
        if self.failed or (repeat and self.name in ONCE):
            return None
        fold = split(repeat)
        try:
            if repeat == 0:
                self.choose(fold)
            found = self.first
            if repeat:
                found = self.task(fold, "follow", self.setting, stop=True)
            n = int(found["n"])
            if not n:
                self.failed = "does not get there"
                last = int(np.argmin(found["values"]))
                return {"seconds": float(found["seconds"][last]), "n": 0, "rmse": self.best}
            if self.name in ONCE:
                n = int(found["counts"][-1])
                done = {"seconds": found["seconds"][-1], "values": found["values"][-1]}
            else:
                done = self.task(fold, "timed", self.setting, n)
            return {"seconds": float(done["seconds"]), "n": n, "rmse": float(done["values"])}
        except MissingError as error:
            self.failed = str(error)
            return None
