"""25 million ratings on a Dask cluster of processes: python benchmarks/dask_scaling.py [--quick].

One iteration on two worker processes beside one, and beside a control that needs no messages at
all: every block is factorised by itself, by the same compiled loops. Memory is the peak of each
process; the driver is the process that calls ``fit``, the scheduler in it.
"""

from __future__ import annotations

import resource
import time
import warnings
from statistics import median
from typing import Any

import dask.array as da
import numpy as np
import scipy.sparse as sp
from common import start_process
from distributed import Client, LocalCluster, wait
from report import Report

from rprnmf import NMF

N, M, PER_ROW, BLOCKS, K = 200_000, 20_000, 125, 4, 20
ITERATIONS, REPEATS = 10, 3


def ratings(number: int, n: int, m: int, per_row: int) -> sp.csr_matrix:
    """A block of generated ratings from 1 to 5, popular items more often."""
    rng = np.random.default_rng(number)
    indices = np.sort((m * rng.random((n, per_row), dtype=np.float32) ** 2).astype(np.int32))
    values = rng.integers(1, 6, n * per_row).astype(np.float32)
    X = sp.csr_matrix(
        (values, indices.ravel(), np.arange(0, n * per_row + 1, per_row)), shape=(n, m)
    )
    X.sum_duplicates()
    return X


def model(n_iter: int, n_jobs: int = 1) -> NMF:
    """The fit, without a search for the weights of priors, which would be timed too.

    ``n_jobs`` are threads of the driver, which works while the workers wait.
    """
    return NMF(
        K,
        missing="zero",
        max_iter=n_iter,
        tol=0,
        random_state=0,
        n_jobs=n_jobs,
        row_prior=None,
        column_prior=None,
        alpha_W=0.01,
    )


def alone(X: sp.csr_matrix) -> float:
    """The control: a block factorised by itself."""
    warnings.simplefilter("ignore")
    model(2).fit(X)
    return 0.0


def peak() -> float:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(n_workers: int, sizes: tuple[int, int, int], n_iter: int) -> dict[str, Any]:
    """Seconds of an iteration and of the control, and memory."""
    n, m, per_row = sizes
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=None, silence_logs=40
        ) as cluster,
        Client(cluster) as client,
    ):
        blocks = client.map(ratings, range(BLOCKS), n=n // BLOCKS, m=m, per_row=per_row, pure=False)
        wait(blocks)
        client.submit(alone, blocks[0]).result()  # compiles
        wait(
            [
                client.submit(alone, ratings(0, 50, m, per_row), workers=[w], pure=False)
                for w in client.scheduler_info()["workers"]
            ]
        )
        control = []
        for _ in range(REPEATS):
            began = time.perf_counter()
            wait(client.map(alone, blocks, pure=False))
            control.append(time.perf_counter() - began)
        del blocks
        X = da.concatenate(
            [
                da.from_delayed(
                    dask_delayed(number, n // BLOCKS, m, per_row),
                    (n // BLOCKS, m),
                    np.float32,
                    meta=sp.csr_matrix((0, 0), dtype=np.float32),
                )
                for number in range(BLOCKS)
            ]
        )
        fitted = model(n_iter, n_jobs=2).fit(X)
        seconds = np.diff(fitted.history_["seconds"])[1:]
        workers = sorted(client.run(peak).values())
    return {
        "workers": n_workers,
        "seconds per iteration": float(median(seconds)),
        "control seconds": float(median(control)),
        "largest worker MB": workers[-1],
        "its share of X and of its transpose MB": 2 * n * per_row * 8 / n_workers / 2**20,
        "driver MB": peak(),
        "objective": float(fitted.history_["objective"][-1]),
    }


def dask_delayed(*arguments: int) -> Any:
    """One block, to be made where it is needed."""
    import dask

    return dask.delayed(ratings, pure=False)(*arguments)


def main() -> None:
    quick, folder = start_process("dask_scaling")
    sizes = (20_000, 2_000, 50) if quick else (N, M, PER_ROW)
    report = Report(
        folder,
        "dask_scaling",
        "Ratings on a Dask cluster of processes",
        f"{sizes[0]:,} users x {sizes[1]:,} items, {sizes[0] * sizes[2]:,} generated ratings in "
        f"{BLOCKS} blocks, float32, K = {K}; one thread in each process.",
    )
    one, two = (measured(count, sizes, ITERATIONS) for count in (1, 2))
    report.add(**one)
    report.add(**two)
    gain = one["seconds per iteration"] / two["seconds per iteration"]
    control = one["control seconds"] / two["control seconds"]
    report.note(
        f"Two workers: {gain:.2f} times as fast as one; the control {control:.2f} times. Ratio "
        f"{gain / control:.2f}, limit 0.8: {'met' if gain >= 0.8 * control else 'not met'}."
    )
    met = two["driver MB"] <= 500
    report.note(f"Driver: {two['driver MB']:.0f} MB, limit 500: {'met' if met else 'not met'}.")


if __name__ == "__main__":
    main()
