"""Plain NMF of complete data, Frobenius: seconds to where scikit-learn's `cd` stops.

scikit-learn's `cd` (tol=1e-4) sets the target. Every program starts at the same random factors
and is timed over one whole fit to that objective: ours is stopped by its callback, a peer does
the number of iterations that an untimed search found. Writes `results/plain.*`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from common import MissingError, in_turn, load, median, random_start, seconds_of, start_process
from environments import run
from report import Report, within
from sklearn import decomposition
from workers.protocol import objective, timed, trace

from rprnmf import NMF

CASES = (  # data, K, max_iter of scikit-learn, limit
    ("ORL", 40, 200, 0.25),
    ("ORL", 40, 1000, 0.25),
    ("PIE", 68, 200, 0.25),
    ("TDT2", 30, 200, 0.3),
)
PEERS = ("sklearn mu", "nimfa", "tensorly", "pyplanc")
MOST = 2000  # iterations that a program is given to reach the target
LONGEST = 4.0  # times scikit-learn's seconds that a program is followed
QUICK_ROWS, QUICK_ITERATIONS, QUICK_LONGEST = 400, 30, 2.0


class Case:
    """One matrix with its starts and, once scikit-learn has run, its targets.

    The methods that are timed return seconds and the objective that was reached.
    """

    def __init__(self, X: Any, K: int, max_iter: int, repeats: int, most: int, longest: float):
        self.X, self.K, self.max_iter = X, K, max_iter
        self.most, self.longest = most, longest
        self.starts = [random_start(X, K, seed) for seed in range(repeats)]
        self.targets: dict[int, float] = {}
        self.seconds: dict[int, float] = {}
        self.lines: dict[str, tuple[Any, Any]] = {}  # seconds and objectives of the first start
        for solver in ("cd", "mu"):  # warm-up
            self.sklearn(solver, X, *self.starts[0], 1)
        NMF(K, init="custom", max_iter=2, n_jobs=1).fit(X, W=self.starts[0][0], H=self.starts[0][1])

    def sklearn(self, solver: str, X, W, H, n: int, tol: float = 0.0):
        """So many iterations of scikit-learn from a start."""
        model = decomposition.NMF(self.K, init="custom", solver=solver, max_iter=n, tol=tol)
        return model.fit_transform(X, W=W.copy(), H=H.copy()), model.components_

    def sklearn_cd(self, repeat: int) -> tuple[float, float]:
        """scikit-learn's default solver; sets the target."""
        start = self.starts[repeat]
        seconds, factors = seconds_of(
            lambda: self.sklearn("cd", self.X, *start, self.max_iter, tol=1e-4)
        )
        self.seconds[repeat], self.targets[repeat] = seconds, objective(self.X, *factors)
        if repeat == 0:
            self.peer("sklearn cd", 0)
        return seconds, self.targets[repeat]

    def ours(self, repeat: int) -> tuple[float, float]:
        """A whole fit of ours that its callback stops at the target."""
        target, (W, H) = self.targets[repeat], self.starts[repeat]
        model = NMF(self.K, init="custom", max_iter=self.most, tol=0, n_jobs=1)
        most = self.longest * self.seconds[repeat]
        model.set_params(callback=lambda state: state.loss <= 2 * target or state.seconds > most)
        seconds, _ = seconds_of(lambda: model.fit(self.X, W=W, H=H))
        if repeat == 0:
            history = model.history_
            self.lines["rprnmf"] = history["seconds"], history["loss"] / 2
        return seconds, objective(self.X, model.embedding_, model.components_)

    def peer(self, name: str, repeat: int) -> tuple[float, float]:
        """A peer with as many iterations as reach the target, found by a trace before."""
        limits = self.targets[repeat], self.most, self.longest * self.seconds[repeat]
        if name.startswith("sklearn"):

            def fit(*args):
                return self.sklearn(name.split()[1], *args)

            found = trace(fit, self.X, *self.starts[repeat], *limits)
        else:
            found = self.call(name, repeat, "trace", *limits)
        if repeat == 0:
            self.lines[name] = found["seconds"], found["values"]
        if not found["n"]:
            return float(found["seconds"][-1]), float(found["values"][-1])
        if name.startswith("sklearn"):
            done = timed(fit, self.X, *self.starts[repeat], int(found["n"]))
        else:
            done = self.call(name, repeat, "timed", n=found["n"])
        return float(done["seconds"]), float(done["values"])

    def call(self, name: str, repeat: int, task: str, target=0.0, most=0, budget=0.0, n=0):
        """One task for a peer in its own environment."""
        if name == "tensorly" and not isinstance(self.X, np.ndarray):
            raise MissingError("tensorly takes dense matrices only")
        inputs = {"target": target, "most": most, "budget": budget, "n": n}
        W, H = self.starts[repeat]
        return run(name, task=task, X=self.X, W=W, H=H, **inputs)


def measure(case: Case, repeats: int) -> dict[str, Any]:
    """Results of all programs in turn; for a peer that cannot run, the reason."""
    failed: dict[str, str] = {}

    def turn(name: str):
        def once(repeat: int):
            if name in failed or repeat:  # peers take minutes: one start
                return None
            try:
                seconds, value = case.peer(name, repeat)
            except MissingError as error:
                failed[name] = str(error)
                return None
            return seconds, value

        return once

    programs: dict[str, Any] = {"sklearn cd": case.sklearn_cd, "rprnmf": case.ours}
    programs |= {name: turn(name) for name in PEERS}
    results = in_turn(programs, repeats)
    return {
        name: failed[name] if name in failed and None in runs[:1] else [r for r in runs if r]
        for name, runs in results.items()
    }


def add_rows(report: Report, case: Case, results: dict[str, Any], names: dict, limit: float):
    """A row for each program: medians, ratio to scikit-learn's cd, limit of ours."""
    for name, runs in results.items():
        if isinstance(runs, str):
            report.note(f"{names['data']}: {runs}.")
            continue
        over = [value / case.targets[i] for i, (_, value) in enumerate(runs)]
        there = [share <= 1 + 1e-9 for share in over]
        ratios = [s / case.seconds[i] if there[i] else np.inf for i, (s, _) in enumerate(runs)]
        ratio = median(ratios)
        row = {"program": name, "seconds": median(s for s, _ in runs), "ratio": ratio}
        row |= {"limit": limit if name == "rprnmf" else None}
        row |= {"within": within(ratio, limit) if name == "rprnmf" else None}
        row |= {"objective / target": f"{median(over):.6f}"}
        row |= {"reached": f"{sum(there)} of {len(runs)}"}
        report.add(**names, **row)


def main() -> None:
    quick, folder = start_process("plain")
    repeats, longest = (2, QUICK_LONGEST) if quick else (5, LONGEST)
    measured = (
        "Wall seconds of whole fits, one thread, to the objective 0.5 ||X - W H||^2 at which "
        "scikit-learn's `cd` stops (tol=1e-4, the given max_iter), all from the same factors "
        f'(its init="random"); medians over {repeats} starts, programs in turn; ratio: to '
        "scikit-learn's `cd` at the same start. A run that does not reach the target within "
        f"{MOST} iterations or {longest:.0f} times the seconds of `cd` has an infinite ratio. "
        "Peers other than scikit-learn's `cd` are run from the first start only."
    )
    report = Report(folder, "plain", "Plain NMF of complete data", measured)
    panels: dict[str, Any] = {}
    marks: dict[str, float] = {}
    for data, K, max_iter, limit in CASES:
        if quick and max_iter > 200:
            continue
        try:
            X, _ = load(data)
        except MissingError as error:
            report.note(f"{data}: {error}.")
            continue
        if quick and data != "ORL":
            X, max_iter = X[:: X.shape[0] // QUICK_ROWS], QUICK_ITERATIONS
            X = X[:, np.asarray(X.sum(axis=0)).ravel() > 0]
        case = Case(X, K, max_iter, repeats, 5 * max_iter if quick else MOST, longest)
        names = {"data": data, "shape": "x".join(map(str, X.shape)), "K": K, "max_iter": max_iter}
        add_rows(report, case, measure(case, repeats), names, limit)
        title = f"{data}, K = {K}, max_iter = {max_iter}"
        panels[title], marks[title] = case.lines, case.targets[0]
        report.plot(panels, "seconds", "0.5 ||X - W H||²", log="xy", mark=marks)


if __name__ == "__main__":
    main()
