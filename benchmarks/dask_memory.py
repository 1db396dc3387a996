"""A matrix larger than all memory of a cluster: python benchmarks/dask_memory.py [--quick].

6 GB of dense numbers lie on disk in chunks; two workers have 1 GB each. Blocks are then read anew
in each pass. What is looked at: no worker was restarted, none spilled, and the objective fell.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from common import start_process
from distributed import Client, LocalCluster
from report import Report

from rprnmf import NMF

N, M, BLOCKS, K, ITERATIONS = 75_000, 10_000, 75, 10, 4
LIMIT = "1GB"


def write(folder: Path, number: int, n: int, m: int) -> None:
    """A block of a matrix of rank K and noise."""
    rng = np.random.default_rng(number)
    parts = np.random.default_rng(10_000).random((K, m))
    np.save(folder / f"{number}.npy", rng.random((n, K)) @ parts + rng.random((n, m)))


def read(path: str) -> np.ndarray:
    """A block from disk."""
    return np.load(path)


def peak() -> float:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def spilled(dask_worker: Any) -> int:
    """Bytes that a worker wrote to disk for want of memory."""
    return int(sum(getattr(dask_worker.data, "spilled_total", (0, 0))))


def main() -> None:
    quick, folder = start_process("dask_memory")
    n, m = (6_000, 10_000) if quick else (N, M)
    blocks = 6 if quick else BLOCKS
    report = Report(
        folder,
        "dask_memory",
        "A matrix larger than memory",
        f"{n:,} x {m:,} float64 numbers, {n * m * 8 / 1e9:.2g} GB in {blocks} files; two workers "
        f"with {LIMIT} each, K = {K}, {ITERATIONS} iterations.",
    )
    with tempfile.TemporaryDirectory() as place:
        for number in range(blocks):
            write(Path(place), number, n // blocks, m)
        load = dask.delayed(read, pure=True)
        X = da.concatenate(
            [
                da.from_delayed(load(f"{place}/{number}.npy"), (n // blocks, m), float)
                for number in range(blocks)
            ]
        )
        with (
            LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                memory_limit=LIMIT,
                dashboard_address=None,
                silence_logs=40,
            ) as cluster,
            Client(cluster) as client,
        ):
            before = sorted(client.run(os.getpid).values())
            began = time.perf_counter()
            model = NMF(K, init="random", max_iter=ITERATIONS, tol=0, random_state=0).fit(X)
            seconds = time.perf_counter() - began
            after = sorted(client.run(os.getpid).values())
            report.add(
                **{
                    "seconds": seconds,
                    "seconds per iteration": float(np.diff(model.history_["seconds"]).mean()),
                    "largest worker MB": max(client.run(peak).values()),
                    "driver MB": peak(),
                    "spilled bytes": sum(client.run(spilled).values()),
                    "workers restarted": len(set(before) - set(after)),
                    "objective fell": bool((np.diff(model.history_["objective"]) <= 0).all()),
                }
            )


if __name__ == "__main__":
    main()
