"""NMF of sparse counts, Kullback-Leibler: seconds and memory to scikit-learn's `mu`.

scikit-learn's `mu` (tol=1e-4, max_iter=200) sets the target on TDT2. Each fit is a process of
its own, so that its memory is its own. Writes `results/divergence.*`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import (
    MissingError,
    environment,
    in_turn,
    load,
    median,
    peak_mb,
    random_start,
    reset_peak,
    seconds_of,
    start_process,
)
from report import Report, text, within
from sklearn import decomposition

from rprnmf import NMF

K, MOST = 30, 2000
TIME_LIMIT, MEMORY_LIMIT = 0.03, 1.0
KL = {"beta_loss": "kullback-leibler", "init": "custom"}


def divergence(X: sp.csr_matrix, W: np.ndarray, H: np.ndarray) -> float:
    """The generalised Kullback-Leibler divergence of X from W H."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    model = np.empty(X.nnz)
    for start in range(0, X.nnz, 100_000):
        part = slice(start, start + 100_000)
        model[part] = np.einsum("ik,ki->i", W[rows[part]], H[:, X.indices[part]])
    fit = float(np.sum(X.data * np.log(X.data / model)))
    return fit - float(X.data.sum()) + float(W.sum(axis=0) @ H.sum(axis=1))


def matrix(quick: bool) -> sp.csr_matrix:
    """TDT2; quick: a sample of its documents and the terms that occur in them."""
    X, _ = load("TDT2")
    if not quick:
        return X
    X = X[::16]
    return sp.csr_matrix(X[:, np.asarray(X.sum(axis=0)).ravel() > 0])


def one(program: str, seed: int, target: float, n: int, quick: bool) -> dict[str, Any]:
    """One fit in this process: seconds, objective, and the memory it adds at most, in MB.

    Ours ends at the target or, where n is not 0, after n iterations and without a callback.
    """
    X = matrix(quick)
    W, H = random_start(X, K, seed)
    sample = X[:50]
    if program == "rprnmf":
        model = NMF(K, **KL, tol=0, n_jobs=1, max_iter=n or MOST)
        NMF(K, **KL, max_iter=2, n_jobs=1).fit(sample, W=W[:50], H=H)  # warm-up
        if not n:
            model.set_params(callback=lambda state: state.loss <= target)
    else:
        model = decomposition.NMF(K, **KL, solver="mu", max_iter=20 if quick else 200)
        decomposition.NMF(K, **KL, solver="mu", max_iter=2).fit_transform(
            sample, W=W[:50].copy(), H=H.copy()
        )
    start = {"W": W.copy(), "H": H.copy()}
    reset_peak()
    before = peak_mb()
    seconds, W = seconds_of(lambda: model.fit_transform(X, **start))
    answer = {"seconds": seconds, "mb": peak_mb() - before, "iterations": int(model.n_iter_)}
    answer["objective"] = divergence(X, W, model.components_)
    if program == "rprnmf":
        answer["trace"] = [model.history_[name].tolist() for name in ("seconds", "loss")]
    return answer


def in_process(*arguments: Any) -> dict[str, Any]:
    """`one` in a process of its own."""
    command = [sys.executable, __file__, "--one", *map(str, arguments)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    quick, folder = start_process("divergence")
    repeats = 2 if quick else 5
    measured = (
        f"TDT2, K = {K}: wall seconds of whole fits, one thread, to the divergence at which "
        "scikit-learn's `mu` ends (tol=1e-4, max_iter=200; quick: a sample and 20), and the "
        'memory that the fit adds at most; same init="random" factors, a process for each fit, '
        f"programs in turn; medians over {repeats} starts, ratio at the same start."
    )
    report = Report(folder, "divergence", "Kullback-Leibler NMF of sparse counts", measured)
    try:
        X = matrix(quick)
    except MissingError as error:
        report.note(f"{error}.")
        return
    theirs: dict[int, dict] = {}

    def sklearn(seed: int) -> dict:
        theirs[seed] = in_process("sklearn mu", seed, 0.0, 0, quick)
        return theirs[seed]

    def ours(seed: int) -> dict:
        done = in_process("rprnmf", seed, theirs[seed]["objective"], 0, quick)
        alone = in_process("rprnmf", seed, 0.0, done["iterations"], quick)
        return done | {"mb": alone["mb"]}  # a callback is handed copies

    results = in_turn({"sklearn mu": sklearn, "rprnmf": ours}, repeats)
    shape = f"{X.shape[0]}x{X.shape[1]}, {X.nnz} non-zeros"
    for name, runs in results.items():
        there = [r["objective"] <= theirs[i]["objective"] * (1 + 1e-9) for i, r in enumerate(runs)]
        ratio = median(
            run["seconds"] / theirs[i]["seconds"] if there[i] else np.inf
            for i, run in enumerate(runs)
        )
        memory = median(run["mb"] / theirs[i]["mb"] for i, run in enumerate(runs))
        row = {"data": shape, "program": name, "seconds": median(r["seconds"] for r in runs)}
        row |= {"ratio": ratio, "limit": None, "within": None, "MB": median(r["mb"] for r in runs)}
        row |= {"MB ratio": memory, "MB limit": None, "MB within": None}
        if name == "rprnmf":
            row |= {"limit": TIME_LIMIT, "within": within(ratio, TIME_LIMIT)}
            row |= {"MB limit": MEMORY_LIMIT, "MB within": within(memory, MEMORY_LIMIT)}
        row |= {"iterations": median(run["iterations"] for run in runs)}
        report.add(**row, reached=f"{sum(there)} of {len(runs)}")
    report.note("Targets: " + ", ".join(text(theirs[i]["objective"]) for i in theirs) + ".")
    lines = {"rprnmf": results["rprnmf"][0]["trace"]}
    end = theirs[0]["seconds"], theirs[0]["objective"]
    lines["sklearn mu, its end"] = [end[0]], [end[1]]
    report.plot({"TDT2": lines}, "seconds", "divergence", log="xy", mark={"TDT2": end[1]})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        program, seed, target, n, quick = sys.argv[2:]
        print(json.dumps(one(program, int(seed), float(target), int(n), quick == "True")))
    else:
        main()
