"""kill -9 of workers during fits on a cluster: python benchmarks/dask_kill.py [--quick].

In each run one of two workers is killed at a random moment of the fit. The fit goes on from what
was saved last and must end at the objective of a fit that nobody disturbed.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import dask.array as da
import numpy as np
from common import start_process
from distributed import Client, LocalCluster
from report import Report

from rprnmf import RPRNMF

RUNS, SAME = 10, 1e-6


def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Ratings with holes, and comparisons of users."""
    rng = np.random.default_rng(0)
    X = rng.gamma(2.0, 1.0, (n, 5)) @ rng.gamma(2.0, 1.0, (5, 300))
    X[rng.random(X.shape) < 0.7] = np.nan
    return X, np.array([rng.choice(n, 3, replace=False) for _ in range(40)])


def kill_later(client: Client, seconds: float, rng: Any) -> threading.Thread:
    """Kill one of the workers after some seconds."""
    pids = list(client.run(os.getpid).values())

    def kill() -> None:
        time.sleep(seconds)
        os.kill(int(rng.choice(pids)), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def main() -> None:
    quick, folder = start_process("dask_kill")
    n, runs = (2_000, 2) if quick else (20_000, RUNS)
    X, triplets = data(n)
    report = Report(
        folder,
        "dask_kill",
        "Workers killed during fits",
        f"{n:,} x 300 with 70 % missing, default settings, {len(triplets)} comparisons of rows, "
        "two workers; one is killed with SIGKILL in each run.",
    )
    rng = np.random.default_rng(1)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        D = da.from_array(X, chunks=(n // 6, X.shape[1]))

        def fit() -> tuple[float, float, int]:
            began = time.perf_counter()
            model = RPRNMF(6, missing="nan", max_iter=60, tol=0, random_state=0)
            model.fit(D, row_triplets=triplets)
            seconds = time.perf_counter() - began
            return float(model.history_["objective"][-1]), seconds, model.n_iter_

        fit()  # compiles
        expected, usual, _ = fit()
        wrong = 0
        for _ in range(runs):
            client.wait_for_workers(2)
            moment = rng.uniform(0.0, 0.95) * usual
            killer = kill_later(client, moment, rng)
            found, seconds, n_iter = fit()
            killer.join()
            apart = abs(found / expected - 1)
            wrong += not apart <= SAME
            report.add(
                **{
                    "killed after s": moment,
                    "fit s": seconds,
                    "undisturbed s": usual,
                    "iterations": n_iter,
                    "objective apart": apart,
                }
            )
            time.sleep(3.0)  # the nanny starts a new worker
    report.note(f"{runs - wrong} of {runs} fits ended at the same objective ({SAME:g}).")
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
